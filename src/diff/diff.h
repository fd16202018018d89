/* SPDX-License-Identifier: MIT */
/* attn diff: two files -> how far each stage of the second is from that of the first, and what differs before it.
 *
 * A is expected, B is checked: B must have every stage that A has, and may have more. Stages are compared by name; a
 * file with only one tensor may give it as the one stage that --stages names.
 *
 * The first line of the text says whether the files agree, and if not, which stage departs first, or that B lacks
 * one. JSON has every number. */
#pragma once

#include "base/output.h"
#include "diff/pair.h"

/* Reads and compares. STATUS_USAGE where a file is wrong, where the files have no stage to compare (the message
 * lists their names) or where shapes differ, unless tokens align them; leading axes of size 1 do not count.
 * STATUS_SYSTEM where the system refuses. */
enum status diff_results(struct diff *diff, const struct options *options, struct arena *arena, struct error *error);

/* Whether no stage departs, and B lacks no stage and no token of A. */
bool diff_agrees(const struct diff *diff);

/* Writes the report to the open output, and closes it: {"agree": ..., "first": ..., "stages": {"query": {...}, ...}}
 * as JSON, with numbers written as in a result; positions of a worst number count from 1, as everywhere outside
 * arrays. Quietly STATUS_DIFFERENT where a stage departs; STATUS_SYSTEM where it cannot be written. */
enum status write_diff(const struct options *options, const struct diff *diff, struct output *output,
                       struct error *error);
