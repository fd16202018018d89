/* SPDX-License-Identifier: MIT */
/* Why a query does not see a key, in words. */
#ifndef ATTN_STAGE_MASKED_H
#define ATTN_STAGE_MASKED_H

#include "explain/terms.h"

/* "key 3 > query 2" of the place's query, which does not see the key, into text (size bytes). */
void masked_rule(const struct explanation *e, struct explain_place place, size_t key, char *text, size_t size);

#endif
