/* SPDX-License-Identifier: MIT */
/* The rules of position, causal and window, and the images whose tokens they do not mask from each other. */
#include "model/mask.h"

static const struct mask_reach NONE = {INT64_MAX, INT64_MIN};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* --- causal ------------------------------------------------------------------------------------------------------ */

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

/* --- the window after the position ------------------------------------------------------------------------------- */

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

/* --- the window before it ---------------------------------------------------------------------------------------- */

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

/* --- images ------------------------------------------------------------------------------------------------------ */

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
