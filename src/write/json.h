/* SPDX-License-Identifier: MIT */
/* result -> JSON for pipes: one object, each table a key of its own, a row a line.
 *
 * A number is the shortest decimal that reads back to the same number in the working dtype; minus infinity is null, NaN
 * and plus infinity are the strings "NaN" and "Infinity". */
#pragma once

#include "base/json_writer.h"
#include "compute/result.h"

/* JSON that other formats carry too. A number as json_real writes it, but of that dtype. */
void write_json_number(struct json *json, const char *key, double number, enum dtype dtype);

/* The names of the stages, in order. */
void write_json_stages(struct json *json, const char *key, uint64_t stages);

/* The values of "settings", "tokens" (of a problem that has labels) and "vocabulary" (of one that has words). */
typedef void write_json_value(struct json *json, const char *key, const struct problem *problem);
write_json_value write_json_settings, write_json_tokens, write_json_key_tokens, write_json_vocabulary,
    write_json_head_names;
