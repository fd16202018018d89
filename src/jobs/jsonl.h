/* SPDX-License-Identifier: MIT */
/* --jsonl: many jobs in one process, a line of JSON each, a line of JSON for each result.
 *
 * A line is the object of an input file; "options" in it are options by their long names, for this line, before those
 * of the command line. Its result is the compact JSON of the same job alone; of a job that fails, {"line": its number,
 * "error": {...}}. Lines of blanks are none.
 *
 * Each thread reads a line, runs its job and waits for its turn to write, so that results come in order, and memory
 * holds one job per thread. All jobs share the files of the command line, read once. */
#ifndef ATTN_JOBS_JSONL_H
#define ATTN_JOBS_JSONL_H

#include "cli/options.h"

/* Runs a job per line of --in into the open output, and closes it. STATUS_DIFFERENT where a line failed, with the
 * number of the first; STATUS_SYSTEM where reading or writing fails. */
enum status jsonl_run(const struct options *options, struct output *output, struct arena *arena, struct error *error);

#endif
