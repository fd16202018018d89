/* SPDX-License-Identifier: MIT */
/* --jsonl: many jobs in one process, a line of JSON each, and a line of JSON for each result.
 *
 * A line is the object of an input file; "options" in it are options by their long names, for this line. Its result is
 * the compact JSON of the same job alone; of a job that fails, {"line": its number, "error": {...}}. Lines of blanks
 * are none.
 *
 * Each thread reads a line, runs its job and waits for its turn to write, so that results come in order, and memory
 * holds one job per thread. All jobs share the files of the command line, read once. */
#pragma once

#include "build/job_files.h"

/* A job, and what it needs to run. Its output is a text; `line` counts from 1. */
struct jsonl_job {
    size_t line;
    struct options options;
    struct job_files files;
    struct arena arena;
    struct error error;
    struct output output;
};
typedef enum status jsonl_runner(struct jsonl_job *job);

/* Runs a job per line of --in into the open output, and closes it. STATUS_DIFFERENT where a line failed; STATUS_SYSTEM
 * where reading or writing fails. */
enum status jsonl_run(const struct options *options, jsonl_runner *run, struct output *output, struct arena *arena,
                      struct error *error);
