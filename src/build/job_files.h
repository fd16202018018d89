/* SPDX-License-Identifier: MIT */
/* The files that a job reads or, with --random, draws. */
#pragma once

#include "cli/options.h"
#include "layer/layer.h"
#include "read/input_file.h"

#define JOB_FILES_NO_CHECKPOINT "layer needs a checkpoint: --weights MODEL and --layer N"

struct job_files {
    const struct input_file *inputs;  /* NULL: none, as in init with --d-in */
    const struct input_file *weights; /* of --weights, or NULL */
    const struct input_file *keys;    /* of --key-inputs, or NULL */
    const struct input_file *grad;    /* of --grad, or NULL */
    const struct layer *layer;        /* of `weights`, where --weights is a checkpoint; or NULL */
    struct input_file files[4];
    struct layer opened;
};

/* Whether the job reads standard input for lack of a file. */
bool job_files_want_input(const struct options *options);

/* Reads the files that the options name, and draws the inputs with --random. From the file of --weights only the
 * parameters count, from that of --key-inputs only inputs and tokens; from the first file all others. The files belong
 * to the arena. STATUS_SYSTEM where one cannot be read, STATUS_USAGE where it is wrong. */
enum status job_files_read(struct job_files *job, const struct options *options, struct arena *arena,
                           struct error *error);

/* The same where some files may be read already; the inputs are of these kinds, bits of enum input_file_kind. */
enum status job_files_add(struct job_files *job, const struct options *options, struct arena *arena,
                          struct error *error);
unsigned job_files_kinds(const struct options *options);

/* attn page: if no mechanism is named, reads the input and chooses the one that fits options and input best; without a
 * file, gives a built-in input. Changes the options to those of the mechanism's command. */
enum status job_files_choose(struct job_files *job, struct options *options, struct arena *arena, struct error *error);
