/* diff -> text for people, or JSON for pipes.
 *
 * Text says in its first line whether the files agree, and if not, which stage departs first, or that B lacks one. JSON
 * has every number. */
#ifndef ATTN_DIFF_WRITE_DIFF_H
#define ATTN_DIFF_WRITE_DIFF_H

#include "base/output.h"
#include "diff/diff.h"

/* `precision`: decimals of the errors. A failure to write is output_close's to tell. */
void write_diff_text(const struct diff *diff, int precision, bool color, struct output *output);

/* {"agree": ..., "first": ..., "stages": {"query": {...}, ...}}. Numbers are written as a result's are; a worst place
 * counts from 1, as everywhere outside arrays. */
void write_diff_json(const struct diff *diff, struct output *output);

#endif
