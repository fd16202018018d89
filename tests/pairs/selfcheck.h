/* SPDX-License-Identifier: MIT */
/* What the readers must refuse: results of attn with one thing changed. */
#ifndef ATTN_PAIRS_SELFCHECK_H
#define ATTN_PAIRS_SELFCHECK_H

/* A test for each change. */
void selfcheck_readers(void);

#endif
