/* SPDX-License-Identifier: MIT */
/* What a printed table takes away from a comparison: the digits that it does not show. */
#ifndef ATTN_DIFF_WRITE_PRINTED_H
#define ATTN_DIFF_WRITE_PRINTED_H

#include "base/output.h"
#include "diff/diff.h"

/* "printed      mine.txt shows 4 decimals: numbers agree within 0.00005": a line where digits added to a tolerance,
 * else nothing. */
void write_printed(const struct diff *diff, struct output *output);

#endif
