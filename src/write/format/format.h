/* SPDX-License-Identifier: MIT */
/* result -> the format and the output that the options ask for. */
#pragma once

#include "base/output.h"
#include "cli/options.h"
#include "compute/result.h"

/* Before the work: STATUS_USAGE where a binary format would go to a terminal. */
enum status write_check(const struct options *options, struct error *error);

/* Once the tables are listed and the output is open: STATUS_USAGE where the format cannot hold the result, or is
 * binary and --out names a terminal. */
enum status write_check_result(const struct options *options, struct result *result, struct output *output,
                               struct arena *arena, struct error *error);

/* Whether only the rows at both ends of long tables will be shown. */
bool write_elides(const struct options *options, const struct problem *problem);

/* Writes the result to the open output, and closes it. STATUS_SYSTEM where it cannot write all of it; then it leaves
 * nothing at --out. STATUS_USAGE as write_check_result. */
enum status write_result(const struct options *options, struct result *result, struct output *output,
                         struct arena *arena, struct error *error);
