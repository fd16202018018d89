/* SPDX-License-Identifier: MIT */
/* Rows and columns of results that were computed of other tokens: they meet by label.
 *
 * Where the tokens of one file, each of them once, are some of the other one's in their order, a table of the latter is
 * cut to those that both have. */
#ifndef ATTN_DIFF_ALIGN_H
#define ATTN_DIFF_ALIGN_H

#include "diff/pair.h"

/* Sets diff->alignments by the tokens of both files. STATUS_SYSTEM where memory is short. */
enum status diff_align_tokens(struct diff *diff, struct arena *arena, struct error *error);

/* The tokens of an axis of keys, or of another one. */
const struct diff_alignment *diff_tokens_of(const struct diff *diff, bool keys);

/* Whether rows of A were left out in a stage, since B lacks their tokens. */
bool diff_lacks_token(const struct diff *diff);

/* Cuts the tables of the pair to the tokens that both have, where they differ in axes of tokens alone, and notes that
 * the alignment is used. Where it does not apply, nothing changes. STATUS_SYSTEM where memory is short. */
enum status diff_align(struct diff *diff, struct diff_stage *pair, struct arena *arena, struct error *error);

/* Why tokens do not align tables that differ in axes of tokens alone, to follow a message: "; ..." or "". */
const char *diff_align_refusal(struct diff *diff, const struct diff_stage *pair);

#endif
