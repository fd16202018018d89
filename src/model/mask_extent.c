/* SPDX-License-Identifier: MIT */
/* The rules that bound the keys of a query: its sequence, and the length of its item. */
#include "model/mask.h"

static bool sequence_applies(const struct mask *mask)
{
    return mask->sequences.count > 0;
}

static struct mask_reach sequence_reach(const struct mask *mask, const struct mask_query *query)
{
    const int64_t *starts = mask->sequences.key_starts + mask->sequences.of_query[query->query];
    return (struct mask_reach){starts[0], starts[1]};
}

static void sequence_reason(const struct mask *mask, const struct mask_query *query, size_t key, const char *who,
                            struct text *text)
{
    (void)mask, (void)query, (void)key, (void)who;
    text_add(text, "the key is in another sequence");
}

const struct mask_functions mask_sequence_rule = {.applies = sequence_applies,
                                                  .reach = sequence_reach,
                                                  .rule_words = "key is in another sequence",
                                                  .reason = sequence_reason};

static bool length_applies(const struct mask *mask)
{
    return mask->lengths != NULL;
}

static struct mask_reach length_reach(const struct mask *mask, const struct mask_query *query)
{
    return (struct mask_reach){INT64_MIN, mask->lengths[query->item]};
}

static void length_reason(const struct mask *mask, const struct mask_query *query, size_t key, const char *who,
                          struct text *text)
{
    (void)who;
    text_add(text, "key %zu > length %lld", key + 1, (long long)mask->lengths[query->item]);
}

const struct mask_functions mask_length = {
    .applies = length_applies, .reach = length_reach, .rule_words = "key > length", .reason = length_reason};
