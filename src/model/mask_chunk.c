/* SPDX-License-Identifier: MIT */
/* Blocks of N positions: the mask allows only keys of the query's block, as in Llama 4's local layers. */
#include "model/mask.h"

static int64_t chunk(const struct mask *mask)
{
    return mask->given[MASK_CHUNK].number;
}

static bool applies(const struct mask *mask)
{
    return chunk(mask) > 0;
}

/* Counts blocks from the first key of the query's sequence. */
static struct mask_reach reach(const struct mask *mask, const struct mask_query *query)
{
    const int64_t start = (int64_t)mask_sequence(mask, query->query).first, at = query->position - start;
    const int64_t block = at >= 0 ? at / chunk(mask) : -((chunk(mask) - 1 - at) / chunk(mask));
    return (struct mask_reach){start + block * chunk(mask), start + (block + 1) * chunk(mask)};
}

static void rule(const struct mask *mask, const struct mask_words *words, struct text *text)
{
    (void)words;
    text_add(text, "key is in another block of %lld", (long long)chunk(mask));
}

static void reason(const struct mask *mask, const struct mask_query *query, size_t key, const char *who,
                   struct text *text)
{
    text_add(text, "key %zu is in another block of %lld than %s %lld", key + 1, (long long)chunk(mask), who,
             (long long)query->position + 1);
}

const struct mask_functions mask_chunk = {.applies = applies, .reach = reach, .rule = rule, .reason = reason};
