/* SPDX-License-Identifier: MIT */
/* document_ids: the mask allows keys of the query's document, wherever they are. */
#include "model/mask.h"

static const struct mask_given *given(const struct mask *mask)
{
    return &mask->given[MASK_DOCUMENT];
}

static bool applies(const struct mask *mask)
{
    return given(mask)->ids != NULL;
}

/* The index of an item's list of ids. */
static size_t list(const struct mask *mask, size_t item)
{
    return item % given(mask)->lists * given(mask)->count;
}

/* Whether the query's position is before, or after, the keys of its sequence. */
static bool is_before(const struct mask *mask, const struct mask_query *query)
{
    return query->position < (int64_t)mask_sequence(mask, query->query).first;
}

static bool is_behind(const struct mask *mask, const struct mask_query *query)
{
    return query->position >= (int64_t)mask_sequence(mask, query->query).end;
}

/* All keys where documents are scattered, since the ends of a reach never decrease. A query whose position is outside
 * the keys of its sequence has no document. */
static struct mask_reach reach(const struct mask *mask, const struct mask_query *query)
{
    const int64_t count = (int64_t)given(mask)->count;
    if (given(mask)->scattered)
        return (struct mask_reach){0, count};
    if (is_before(mask, query))
        return (struct mask_reach){0, 0};
    if (is_behind(mask, query))
        return (struct mask_reach){count, count};
    const struct span run = given(mask)->runs[list(mask, query->item) + (size_t)query->position];
    return (struct mask_reach){(int64_t)run.first, (int64_t)run.end};
}

static bool forbids(const struct mask *mask, const struct mask_query *query, size_t key)
{
    const int64_t *ids = given(mask)->ids + list(mask, query->item);
    return is_before(mask, query) || is_behind(mask, query) || ids[key] != ids[query->position];
}

static void reason(const struct mask *mask, const struct mask_query *query, size_t key, const char *who,
                   struct text *text)
{
    const int64_t *ids = given(mask)->ids + list(mask, query->item);
    (void)who;
    text_add(text, "key %zu is in document %lld", key + 1, (long long)ids[key]);
}

const struct mask_functions mask_document = {.applies = applies,
                                             .reach = reach,
                                             .forbids = forbids,
                                             .rule_words = "key is in another document",
                                             .reason = reason};
