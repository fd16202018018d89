/* SPDX-License-Identifier: MIT */
/* Time in proportion to a table, in every format. */
#ifndef ATTN_PAIRS_TIMES_H
#define ATTN_PAIRS_TIMES_H

#include <stdbool.h>

/* A table of T x T, none of whose queries sees a key, takes no format and no way to show it more than some times what JSON
 * takes, whatever --empty-row says: a test each; a sample has each format with one --empty-row. */
void times_check(bool sample);

#endif
