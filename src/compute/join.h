/* SPDX-License-Identifier: MIT */
/* The parts of a job -> the result of the full job.
 *
 * A part is a .safetensors file that `--part K/N` wrote: it records which part of which job it is. Parts divide the
 * rows of queries in order; each has all inputs, parameters, keys and values. Writers make the same bytes of the joined
 * result as of the full job. */
#pragma once

#include "compute/result.h"

/* Reads the files of the parts, in any order. STATUS_USAGE: a file is no part, a part is missing or given twice, parts
 * are of different jobs, or they hold several tables and the output format only `one_table`. The result points into the
 * problem, which holds only what writers need (mechanism, settings, tokens, dtype). */
enum status join_parts(struct result *result, struct problem *problem, char *const *files, size_t count, bool one_table,
                       struct arena *arena, struct error *error);
