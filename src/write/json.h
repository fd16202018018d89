/* result -> JSON for pipes: one object, each table a key of its own, a row a line.
 *
 * A number is the shortest decimal that reads back to the same number in the working dtype; minus infinity is null, NaN
 * and plus infinity are the strings "NaN" and "Infinity". */
#ifndef ATTN_WRITE_JSON_H
#define ATTN_WRITE_JSON_H

#include "base/output.h"
#include "compute/result.h"

/* The shortest decimal that reads back to the same number in the dtype; null, "NaN" or "Infinity" for what is not
 * finite. */
void write_json_number(double number, enum dtype dtype, struct output *output);

/* The parts that other formats carry as JSON too: a text in quotes, and the values of "settings" and "tokens" (of a
 * problem that has labels). */
void write_json_string(const char *text, struct output *output);
void write_json_settings(const struct problem *problem, struct output *output);
void write_json_tokens(const struct problem *problem, struct output *output);
void write_json_key_tokens(const struct problem *problem, struct output *output);

#endif
