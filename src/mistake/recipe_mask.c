/* SPDX-License-Identifier: MIT */
/* The mask of a recipe whose rules struct mask lacks, as an attn_mask of numbers. */
#include "mistake/recipe.h"

#include <math.h>

/* The rules of one item, as the recipe moves them. */
static struct recipe_mask place(const struct recipe *recipe, size_t item)
{
    const struct mask *mask = &recipe->problem.mask;
    struct recipe_mask placed = {
        .mask = *mask, .item = item, .limit = mask->lengths != NULL ? (size_t)mask->lengths[item] : mask->keys};
    placed.mask.offset = mask_offset(mask, item, 0);
    placed.mask.lengths = NULL;
    placed.past = recipe->past;
    placed.page = recipe->problem.given.pages != NULL ? recipe->problem.given.pages->size : 0;
    for (const struct recipe_rule *rule = recipe->rules; rule < recipe->rules + recipe->rule_count; rule++) {
        placed.mask.offset += rule->queries_by;
        const int64_t limit = (int64_t)placed.limit + rule->end_by;
        placed.limit = limit > 0 ? (size_t)limit : 0;
        if (rule->place != NULL)
            rule->place(&placed);
    }
    return placed;
}

static bool forbids(const struct recipe *recipe, const struct recipe_mask *placed, size_t query, size_t key)
{
    const int64_t behind = (int64_t)key - (int64_t)query - placed->mask.offset;
    bool forbidden = key >= placed->limit;
    for (const struct recipe_rule *rule = recipe->rules; rule < recipe->rules + recipe->rule_count; rule++)
        forbidden = forbidden || (behind >= rule->forbidden[0] && behind < rule->forbidden[1]) ||
                    (rule->forbids != NULL && rule->forbids(placed, query, key));
    return forbidden;
}

static void fill_row(const struct recipe *recipe, const struct recipe_mask *placed, size_t head, size_t query,
                     double *bias)
{
    const size_t group = recipe->problem.size.heads / recipe->problem.size.kv_heads;
    struct mask mask = placed->mask;
    if (recipe->packs_groups)
        mask.offset += (int64_t)(query * group + head % group) - (int64_t)query;
    mask_row(&mask, placed->item, head, query, bias);
    for (size_t key = 0; key < placed->mask.keys; key++)
        if (forbids(recipe, placed, query, key))
            bias[key] = -INFINITY;
}

/* Converts the mask to booleans if it adds nothing to any score. */
static enum status to_truth(struct recipe *recipe, struct tensor *mask)
{
    const double *numbers = mask->data;
    const size_t count = tensor_count(mask);
    struct tensor truths;
    for (size_t i = 0; i < count; i++)
        if (numbers[i] != 0 && numbers[i] != -INFINITY)
            return STATUS_OK;
    if (tensor_create(&truths, DTYPE_BOOL, mask->rank, mask->shape, recipe->arena, recipe->error) != STATUS_OK)
        return recipe->error->status;
    for (size_t i = 0; i < count; i++)
        ((uint8_t *)truths.data)[i] = numbers[i] == 0;
    *mask = truths;
    return STATUS_OK;
}

/* Replaces the mask with one attn_mask, for all heads unless heads differ. */
static enum status flatten(struct recipe *recipe)
{
    const struct problem *problem = &recipe->problem;
    const struct mask *mask = &problem->mask;
    const bool by_head = recipe->packs_groups || mask->alibi_slopes != NULL || mask->relative != NULL ||
                         (mask->attn_mask.rank > 0 && mask->strides[1] > 0);
    const size_t heads = by_head ? problem->size.heads : 1, queries = mask->queries, keys = mask->keys;
    const size_t shape[] = {problem->size.items, heads, queries, keys};
    struct tensor flat;
    if (tensor_create(&flat, DTYPE_F64, MASK_RANK, shape, recipe->arena, recipe->error) != STATUS_OK)
        return recipe->error->status;
    for (size_t item = 0; item < problem->size.items; item++) {
        const struct recipe_mask placed = place(recipe, item);
        for (size_t i = 0; i < heads * queries; i++)
            fill_row(recipe, &placed, i / queries, i % queries,
                     (double *)flat.data + (item * heads * queries + i) * keys);
    }
    if (to_truth(recipe, &flat) != STATUS_OK)
        return recipe->error->status;
    recipe->problem.mask = (struct mask){.queries = queries,
                                         .keys = keys,
                                         .left = -1,
                                         .right = -1,
                                         .attn_mask = flat,
                                         .strides = {heads * queries * keys, by_head ? queries * keys : 0, keys, 1},
                                         .masked_keys = keys,
                                         .sinks = mask->sinks,
                                         .empty_row = mask->empty_row};
    recipe->problem.mistake.mask_made = true;
    recipe->plain = true;
    return STATUS_OK;
}

enum status recipe_mask(struct recipe *recipe)
{
    struct mask *mask = &recipe->problem.mask;
    if (recipe->rule_count > 0 && flatten(recipe) != STATUS_OK)
        return recipe->error->status;
    recipe->problem.masks = mask_has_rules(mask) || mask_has_bias(mask);
    return STATUS_OK;
}
