/* SPDX-License-Identifier: MIT */
#include "mistake/recipe.h"

#include "stage/operand_steps.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define DECLARE(id) mistake_change change_##id;
#define ENTRY(id) [MISTAKE_##id] = change_##id,
MISTAKE_IDS(DECLARE)
static mistake_change *const CHANGES[MISTAKE_COUNT] = {MISTAKE_IDS(ENTRY)};

const char *recipe_makes(struct recipe *recipe, enum stage stage, const char *formula)
{
    recipe->problem.mistake.wrong |= STAGE_BIT(stage);
    recipe->plain = true;
    recipe->not_differentiable = recipe->making;
    return recipe_tells(recipe, stage, formula);
}

const char *recipe_makes_by(struct recipe *recipe, enum stage stage, recipe_row *make, const char *formula)
{
    recipe->rows[stage] = make;
    return recipe_makes(recipe, stage, formula);
}

const char *recipe_tells(struct recipe *recipe, enum stage stage, const char *formula)
{
    recipe->problem.mistake.formulas[stage] = formula;
    return NULL;
}

enum stage recipe_projected(const struct recipe *recipe, enum projection_id id)
{
    return operand_has_steps(&recipe->problem, id) ? projection_unstepped(id) : projection_stage(id);
}

void recipe_tells_projected(struct recipe *recipe, unsigned operands, const char *formula)
{
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++)
        if (operands & 1U << id)
            recipe_tells(recipe, recipe_projected(recipe, id), formula);
}

const char *recipe_reads(struct recipe *recipe, enum projection_id id, recipe_source *source, const char *formula)
{
    if (recipe->sources[id] != NULL)
        return "another mistake reads these rows";
    recipe->sources[id] = source;
    return recipe_makes(recipe, id == PROJECTION_KEY ? STAGE_SCORES : STAGE_CONTEXT, formula);
}

struct module *recipe_copy_modules(struct recipe *recipe)
{
    struct parameters *parameters = &recipe->problem.parameters;
    if (!problem_projects(&recipe->problem))
        return NULL;
    struct module *modules = arena_allocate(recipe->arena, parameters->module_count, sizeof modules[0], recipe->error);
    if (modules != NULL)
        memcpy(modules, parameters->modules, parameters->module_count * sizeof modules[0]);
    parameters->modules = modules != NULL ? modules : parameters->modules;
    return modules;
}

/* --- the mask ---------------------------------------------------------------------------------------------------- */

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

/* Makes an attn_mask of the changed problem from its mask and those of its rules that struct mask lacks. */
static enum status make_mask(struct recipe *recipe)
{
    struct mask *mask = &recipe->problem.mask;
    if (recipe->rule_count > 0 && flatten(recipe) != STATUS_OK)
        return recipe->error->status;
    recipe->problem.masks = mask_has_rules(mask) || mask_has_bias(mask);
    return STATUS_OK;
}

/* --- all mistakes ------------------------------------------------------------------------------------------------ */

/* Makes the choices of slot dtype, or all others, until one fails. */
static enum status make(struct recipe *recipe, const struct mistake_choice *choices, size_t count, bool dtype)
{
    for (size_t i = 0; i < count && recipe->reason == NULL && recipe->error->status == STATUS_OK; i++) {
        const enum mistake_slot slot = MISTAKES[choices[i].id].slot;
        if ((slot == MISTAKE_SLOT_DTYPE) == dtype) {
            recipe->making = MISTAKES[choices[i].id].name;
            recipe->form = choices[i].form;
            recipe->reason =
                slot == MISTAKE_SLOT_GRAD && !recipe->problem.loss.is_given
                    ? "there is no backward pass without --grad"
                    : CHANGES[choices[i].id](recipe, &recipe->problem, &recipe->problem.mask, recipe->form);
        }
    }
    return recipe->error->status;
}

static enum status create(struct recipe *recipe, const struct problem *problem, const struct mistake_choice *choices,
                          size_t count, bool moves, struct arena *arena, struct error *error)
{
    recipe->moves = moves;
    recipe->problem = *problem; /* a search makes millions of recipes: clear only what follows it */
    memset(&recipe->plain, 0, sizeof *recipe - offsetof(struct recipe, plain));
    recipe->fill = -INFINITY;
    recipe->weights_factor = 1;
    recipe->arena = arena;
    recipe->error = error;
    recipe->past = problem->rotation.has_past ? (size_t)problem->mask.offset : 0;
    if (make(recipe, choices, count, true) || make(recipe, choices, count, false))
        return error->status;
    return recipe->reason == NULL ? make_mask(recipe) : STATUS_OK;
}

enum status recipe_create(struct recipe *recipe, const struct problem *problem, const struct mistake_choice *choices,
                          size_t count, bool moves, struct arena *arena, struct error *error)
{
    if (create(recipe, problem, choices, count, moves, arena, error) != STATUS_OK)
        return error->status;
    bool moved = false;
    for (int id = 0; id < PROJECTION_COUNT; id++)
        moved = moved || recipe->moved[id] != NULL;
    return moved && recipe->changed_projections != 0 ? create(recipe, problem, choices, count, false, arena, error)
                                                     : STATUS_OK;
}
