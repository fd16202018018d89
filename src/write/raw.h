/* SPDX-License-Identifier: MIT */
/* A table -> the bytes of its numbers, as .npy and .safetensors store them: little-endian, row-major, in the working
 * dtype. */
#pragma once

#include "base/output.h"
#include "compute/result.h"
#include "write/writing.h"

/* The bytes of the table, or SIZE_MAX. */
size_t write_raw_size(const struct result_table *table);

/* Reserves room in the file for all tables and a header of so many bytes: before the work, and of a part once more,
 * whose header is not known then. Reserves to the last byte: else a file that is replaced would wait for the disk.
 * STATUS_SYSTEM where there is no room. A long context is then written while it is computed, after that header. */
enum status write_raw_expect(const struct writing *writing, size_t header);

/* Room for some rows of any of its tables, twice; NULL where memory is short. */
unsigned char *write_raw_room(const struct result *result, struct arena *arena, struct error *error);

/* Writes the table, some rows at a time; never holds more than that room. */
void write_raw(struct result *result, const struct result_table *table, unsigned char *room, struct output *output);
