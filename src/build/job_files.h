/* SPDX-License-Identifier: MIT */
/* Which files a job reads or, with --random, draws, and what counts of each. */
#ifndef ATTN_BUILD_JOB_FILES_H
#define ATTN_BUILD_JOB_FILES_H

#include "cli/options.h"
#include "layer/layer.h"
#include "read/input_file.h"

#define JOB_FILES_NO_CHECKPOINT "layer needs a checkpoint: --weights MODEL and --layer N"

struct job_files {
    const struct input_file *inputs;  /* NULL where there are none: init with --d-in */
    const struct input_file *weights; /* that of --weights, or NULL */
    const struct input_file *keys;    /* that of --key-inputs, or NULL */
    const struct input_file *grad;    /* that of --grad, or NULL */
    const struct layer *layer;        /* whose parameters these are, where --weights is a checkpoint; or NULL */
    struct input_file files[4];
    struct layer opened;
};

/* Whether standard input is to be read for lack of a file. */
bool job_files_want_input(const struct options *options);

/* Reads what the options name, and draws the inputs with --random. A file gives only what counts: with --weights, that
 * file the parameters and nothing else; with --key-inputs, that one its inputs and their tokens; the first one
 * everything but them. The files belong to the arena. STATUS_SYSTEM where one cannot be read, STATUS_USAGE where it is
 * wrong. */
enum status job_files_read(struct job_files *job, const struct options *options, struct arena *arena,
                           struct error *error);

/* The same where the first file may be there already: of what kinds it is then, bits of enum input_file_kind. */
enum status job_files_add(struct job_files *job, const struct options *options, struct arena *arena,
                          struct error *error);
unsigned job_files_kinds(const struct options *options);

/* attn page: the mechanism that takes the options and the input, which is read, or without a file a built-in one. The
 * options become those of the mechanism's own command. */
enum status job_files_choose(struct job_files *job, struct options *options, struct arena *arena, struct error *error);

#endif
