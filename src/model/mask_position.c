/* SPDX-License-Identifier: MIT */
/* The rules of position: causal, window and blocks; and the images and the prefix whose keys they do not mask. */
#include "model/mask.h"

static const struct mask_reach NONE = {INT64_MAX, INT64_MIN};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool causal_applies(const struct mask *mask)
{
    return mask->causal;
}

static struct mask_reach causal_reach(const struct mask *mask, const struct mask_query *query)
{
    (void)mask;
    return (struct mask_reach){INT64_MIN, larger(query->position + 1, query->lifted.end)};
}

static void causal_rule(const struct mask *mask, const struct mask_words *words, struct text *text)
{
    (void)mask;
    text_add(text, "key > %s%s", words->query, words->unless_after);
}

static void causal_reason(const struct mask *mask, const struct mask_query *query, size_t key, const char *who,
                          struct text *text)
{
    (void)mask;
    text_add(text, "key %zu > %s %lld", key + 1, who, (long long)query->position + 1);
}

const struct mask_functions mask_causal = {
    .applies = causal_applies, .reach = causal_reach, .rule = causal_rule, .reason = causal_reason};

static bool right_applies(const struct mask *mask)
{
    return mask->right >= 0;
}

static struct mask_reach right_reach(const struct mask *mask, const struct mask_query *query)
{
    return (struct mask_reach){INT64_MIN, larger(query->position + mask->right + 1, query->lifted.end)};
}

/* A causal mask already says so. */
static void right_rule(const struct mask *mask, const struct mask_words *words, struct text *text)
{
    if (!mask->causal && mask->right > 0)
        text_add(text, "key > %s + %lld%s", words->query, (long long)mask->right, words->unless_after);
    else if (!mask->causal)
        causal_rule(mask, words, text);
}

static void right_reason(const struct mask *mask, const struct mask_query *query, size_t key, const char *who,
                         struct text *text)
{
    text_add(text, "key %zu > %s %lld + %lld, outside the window", key + 1, who, (long long)query->position + 1,
             (long long)mask->right);
}

const struct mask_functions mask_right = {
    .applies = right_applies, .reach = right_reach, .rule = right_rule, .reason = right_reason};

static bool left_applies(const struct mask *mask)
{
    return mask->left >= 0;
}

static struct mask_reach left_reach(const struct mask *mask, const struct mask_query *query)
{
    const int64_t first = query->position - mask->left;
    return (struct mask_reach){first < query->lifted.first ? first : query->lifted.first, INT64_MAX};
}

static void left_rule(const struct mask *mask, const struct mask_words *words, struct text *text)
{
    text_add(text, "key < %s", words->query);
    if (mask->left > 0)
        text_add(text, " - %lld", (long long)mask->left);
    text_add(text, "%s", words->unless_before);
}

static void left_reason(const struct mask *mask, const struct mask_query *query, size_t key, const char *who,
                        struct text *text)
{
    text_add(text, "key %zu < %s %lld - %lld, outside the window", key + 1, who, (long long)query->position + 1,
             (long long)mask->left);
}

const struct mask_functions mask_left = {
    .applies = left_applies, .reach = left_reach, .rule = left_rule, .reason = left_reason};

static bool image_applies(const struct mask *mask)
{
    return mask->images != NULL;
}

static struct mask_reach image_lift(const struct mask *mask, const struct mask_query *query)
{
    if (query->position < 0 || (uint64_t)query->position >= mask->keys)
        return NONE;
    const struct span image = mask->images[query->position];
    return image.first < image.end ? (struct mask_reach){(int64_t)image.first, (int64_t)image.end} : NONE;
}

const struct mask_functions mask_image = {
    .applies = image_applies, .lift = image_lift, .unless = " and not in its image"};

/* The causal rule masks them from no query: a prefix language model, Raffel et al. 2020, section 3.2.1. A window still
 * masks keys before the query. */
static bool prefix_applies(const struct mask *mask)
{
    return mask->given[MASK_PREFIX].number > 0;
}

static struct mask_reach prefix_lift(const struct mask *mask, const struct mask_query *query)
{
    const int64_t first = (int64_t)mask_sequence(mask, query->query).first;
    return (struct mask_reach){INT64_MAX, first + mask->given[MASK_PREFIX].number};
}

const struct mask_functions mask_prefix = {
    .applies = prefix_applies, .lift = prefix_lift, .unless = " and not in the prefix", .after_alone = true};

/* The mask allows only keys of the query's block, as in Llama 4's local layers. */
static int64_t chunk_size(const struct mask *mask)
{
    return mask->given[MASK_CHUNK].number;
}

static bool chunk_applies(const struct mask *mask)
{
    return chunk_size(mask) > 0;
}

/* Counts blocks from the first key of the query's sequence. */
static struct mask_reach chunk_reach(const struct mask *mask, const struct mask_query *query)
{
    const int64_t start = (int64_t)mask_sequence(mask, query->query).first, at = query->position - start;
    const int64_t block = at >= 0 ? at / chunk_size(mask) : -((chunk_size(mask) - 1 - at) / chunk_size(mask));
    return (struct mask_reach){start + block * chunk_size(mask), start + (block + 1) * chunk_size(mask)};
}

static void chunk_rule(const struct mask *mask, const struct mask_words *words, struct text *text)
{
    (void)words;
    text_add(text, "key is in another block of %lld", (long long)chunk_size(mask));
}

static void chunk_reason(const struct mask *mask, const struct mask_query *query, size_t key, const char *who,
                         struct text *text)
{
    text_add(text, "key %zu is in another block of %lld than %s %lld", key + 1, (long long)chunk_size(mask), who,
             (long long)query->position + 1);
}

const struct mask_functions mask_chunk = {
    .applies = chunk_applies, .reach = chunk_reach, .rule = chunk_rule, .reason = chunk_reason};
