/* SPDX-License-Identifier: MIT */
/* The first N keys, which the causal rule masks from no query: a prefix language model, Raffel et al. 2020, section
 * 3.2.1. A window still masks keys before the query. */
#include "model/mask.h"

static bool applies(const struct mask *mask)
{
    return mask->given[MASK_PREFIX].number > 0;
}

static struct mask_reach lift(const struct mask *mask, const struct mask_query *query)
{
    const int64_t first = (int64_t)mask_sequence(mask, query->query).first;
    return (struct mask_reach){INT64_MAX, first + mask->given[MASK_PREFIX].number};
}

const struct mask_functions mask_prefix = {
    .applies = applies, .lift = lift, .unless = " and not in the prefix", .after_alone = true};
