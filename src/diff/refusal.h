/* SPDX-License-Identifier: MIT */
/* Two files that cannot be compared: what each of them holds, and what may be meant. */
#ifndef ATTN_DIFF_REFUSAL_H
#define ATTN_DIFF_REFUSAL_H

#include "diff/pair.h"

/* The one tensor of a file that has no other; NULL where there are more. */
const struct file_tensor *diff_sole_tensor(const struct input_file *input);

/* Whether it may be any stage: its one tensor has no name, or one that attn does not know. */
bool diff_is_bare(const struct input_file *input);

/* A name of the file's that is near to the stage's, or NULL. */
const char *diff_misspelt(const struct input_file *input, enum stage stage);

/* STATUS_USAGE: the files have no stage in common; the file lacks a stage that was asked for. */
enum status diff_nothing_in_common(const struct diff *diff, struct error *error);
enum status diff_lacks_stage(const struct input_file *input, enum stage stage, struct error *error);

#endif
