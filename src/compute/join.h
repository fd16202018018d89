/* SPDX-License-Identifier: MIT */
/* The parts of a job -> the result of the whole.
 *
 * A part is a .safetensors file that `--part K/N` wrote: it says which part it is, and of which job. Rows of queries
 * lie in the parts one behind the other; inputs, parameters, key and value are whole in each. What a writer makes of
 * the joined result is what it makes of the whole, byte for byte. */
#ifndef ATTN_COMPUTE_JOIN_H
#define ATTN_COMPUTE_JOIN_H

#include "compute/result.h"

/* Reads the files of the parts, in any order. STATUS_USAGE where one is no part, where a part is missing or given
 * twice, where they are of different jobs, or where they hold several tables and the format to be written holds
 * `one_table`. The result points into the problem, which holds what writers ask of it (mechanism, settings, tokens,
 * dtype) and nothing else. */
enum status join_parts(struct result *result, struct problem *problem, char *const *files, size_t count, bool one_table,
                       struct arena *arena, struct error *error);

#endif
