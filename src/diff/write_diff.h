/* SPDX-License-Identifier: MIT */
/* diff -> text for people, or JSON for pipes.
 *
 * Text says in its first line whether the files agree, and if not, which stage departs first, or that B lacks one. JSON
 * has every number. */
#ifndef ATTN_DIFF_WRITE_DIFF_H
#define ATTN_DIFF_WRITE_DIFF_H

#include "base/output.h"
#include "diff/diff.h"

/* Writes the report to the output that has been opened for it, and closes that: {"agree": ..., "first": ..., "stages":
 * {"query": {...}, ...}} as JSON, where numbers are written as a result's are and a worst place counts from 1, as
 * everywhere outside arrays. Quietly STATUS_DIFFERENT where a stage departs; STATUS_SYSTEM where it cannot be
 * written. */
enum status write_diff(const struct options *options, const struct diff *diff, struct output *output,
                       struct error *error);

#endif
