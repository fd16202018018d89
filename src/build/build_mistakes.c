/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include "mistake/recipe.h"
#include "model/stage_id.h"

#include <string.h>

static bool has(const struct build *build, enum mistake id, double *form)
{
    const struct options *options = build->options;
    for (size_t i = 0; i < options->mistake_count; i++)
        if (options->mistakes[i].id == id) {
            *form = options->mistakes[i].form;
            return true;
        }
    return false;
}

/* Whether the mistakes come from a result, whose settings already draw with them. */
static bool is_of_result(const struct build *build)
{
    return build->options->origin[OPTION_MISTAKE] == ORIGIN_FILE && build->inputs->is_result;
}

/* Whether heads of that many columns do not have the pairs to rotate. */
static bool breaks_pairs(const struct options *options)
{
    const uint64_t heads = options->heads > 0 && !options->stacked ? options->heads : 1;
    const uint64_t columns = options->d_out / heads,
                   rotated = options->rope_columns > 0 ? options->rope_columns : columns;
    return options->rope != ROPE_NONE && (rotated % 2 != 0 || rotated > columns || columns < 2);
}

/* Why a mistake of drawing is impossible, or changes nothing; or NULL. */
static const char *why_not_drawn(const struct build *build, const struct options *before)
{
    const struct options *options = build->options;
    const bool given = build->weights != NULL || (build->inputs != NULL && parameters_present(build->inputs));
    if (before->init == options->init && before->seed == options->seed && before->skip == options->skip &&
        before->stacked == options->stacked && before->rng == options->rng && before->d_out == options->d_out &&
        before->qkv_bias == options->qkv_bias && before->heads == options->heads)
        return "it is the layer that you asked for";
    if (given && (before->qkv_bias != options->qkv_bias || before->stacked != options->stacked ||
                  before->d_out != options->d_out))
        return "no parameters are drawn";
    if (before->heads != options->heads && (given || !MECHANISMS[build->problem->mechanism].splits))
        return "no parameters are drawn for several heads";
    if (before->heads != options->heads && options->kv_heads > 0)
        return "heads share key and value";
    if (options->qkv_bias && options->init != INIT_LINEAR &&
        (options->init != before->init || options->qkv_bias != before->qkv_bias))
        return "no other way to draw has biases";
    if (options->stacked && options->kv_heads > 0 && options->kv_heads != options->heads)
        return "each stacked head has its own key and value";
    if (!options->stacked && options->heads > 0 && options->d_out % options->heads > 0)
        return "d_out is not a multiple of the heads";
    if (before->d_out != options->d_out && breaks_pairs(options))
        return "a head has no such pairs of columns to rotate";
    return NULL;
}

/* Checks the one mistake of the slot; the order of drawing is no option, and the layer is already read. */
static enum status check_draws(const struct build *build, const struct options *before)
{
    const struct options *options = build->options;
    const char *why = is_of_result(build) ? NULL : why_not_drawn(build, before);
    for (size_t i = 0; i < options->mistake_count && why != NULL; i++)
        if (MISTAKES[options->mistakes[i].id].slot == MISTAKE_SLOT_DRAW &&
            options->mistakes[i].id != MISTAKE_DRAW_ORDER && options->mistakes[i].id != MISTAKE_DRAW_LAYER)
            return error_usage(build->error, "%s: %s cannot be made here: %s", BUILD_PLACE(build, OPTION_MISTAKE),
                               MISTAKES[options->mistakes[i].id].name, why);
    return STATUS_OK;
}

/* The option that a mistake of drawing changes, and its value, which may be the number of the mistake. */
/* clang-format off */
#define DRAW_ROWS(ROW) \
    ROW(LINEAR, init, INIT_LINEAR) ROW(RAND, init, INIT_RAND) ROW(RANDN, init, INIT_RANDN) \
    ROW(SEED, seed, (uint64_t)form) ROW(SKIP, skip, (uint64_t)form) ROW(D_OUT, d_out, (uint64_t)form) \
    ROW(BIAS, qkv_bias, true) ROW(BIAS_MISSING, qkv_bias, false) ROW(HEADS, heads, (uint64_t)form) \
    ROW(SPLIT, stacked, false) ROW(STACKED, stacked, true) ROW(MKL, rng, TORCH_RANDOM_MKL) \
    ROW(INIT, init, (enum init)(INIT_RAND_CENTRED + (int)form))
/* clang-format on */
#define CHANGE_OPTION(id, option, value)      \
    if (has(build, MISTAKE_DRAW_##id, &form)) \
        options->option = value;

enum status build_draws(const struct build *build)
{
    struct options *options = build->options;
    const struct options before = *options;
    double form = 0;
    DRAW_ROWS(CHANGE_OPTION)
    return check_draws(build, &before);
}

const char *build_draw_order(const struct build *build)
{
    double form = 0;
    return has(build, MISTAKE_DRAW_ORDER, &form) ? MISTAKES[MISTAKE_DRAW_ORDER].forms[(size_t)form] : NULL;
}

/* Whether a result already has the mistake, in its drawn parameters or its dtype. */
static bool is_made_already(const struct build *build, enum mistake id)
{
    const struct problem *problem = build->problem;
    if (!is_of_result(build))
        return false;
    if (MISTAKES[id].slot == MISTAKE_SLOT_DRAW || MISTAKES[id].slot == MISTAKE_SLOT_LAYER)
        return problem->parameters.given && build->weights == NULL && !layer_takes_norm_after(id);
    return mistake_dtype(id) == problem->rounding.dtype;
}

enum status build_mistakes(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    struct mistake_choice changes[MISTAKE_SLOT_COUNT];
    size_t count = 0;
    if (options->mistake_count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < options->mistake_count; i++)
        if (!is_made_already(build, options->mistakes[i].id))
            changes[count++] = options->mistakes[i];
    memcpy(problem->mistake.choices, options->mistakes, sizeof problem->mistake.choices);
    problem->mistake.count = options->mistake_count;
    struct problem *right = arena_allocate(build->arena, 1, sizeof *right, build->error);
    struct recipe *recipe = arena_allocate(build->arena, 1, sizeof *recipe, build->error);
    if (right == NULL || recipe == NULL ||
        recipe_create(recipe, problem, changes, count, false, build->arena, build->error) != STATUS_OK)
        return build->error->status;
    if (recipe->reason != NULL)
        return error_usage(build->error, "%s: %s cannot be made here: %s", BUILD_PLACE(build, OPTION_MISTAKE),
                           recipe->making, recipe->reason);
    if (problem->loss.is_given && recipe->not_differentiable != NULL)
        return error_usage(build->error,
                           "%s: %s cannot be made here: it changes the formula of a stage, and attn has no gradients "
                           "of that; leave out --grad",
                           BUILD_PLACE(build, OPTION_MISTAKE), recipe->not_differentiable);
    *right = *problem;
    *problem = recipe->problem;
    problem->mistake.right = right;
    if (recipe->plain)
        problem->mistake.recipe = recipe;
    return STATUS_OK;
}

/* The gradients would be with respect to the mistake's replacement, not to the given tensor. */
enum status build_mistaken_gradients(const struct build *build)
{
    static const struct {
        enum mistake_slot slot;
        enum stage stage;
        const char *what;
    } REPLACED[] = {{MISTAKE_SLOT_ALIBI, STAGE_GRAD_ALIBI_SLOPES, "slopes"},
                    {MISTAKE_SLOT_PACKING, STAGE_GRAD_PARAMETERS, "weights"}};
    const struct problem *problem = build->problem;
    for (size_t i = 0; i < problem->mistake.count; i++)
        for (size_t k = 0; k < sizeof REPLACED / sizeof REPLACED[0]; k++)
            for (size_t shown = 0; shown < problem->chosen.stage_count; shown++)
                if (MISTAKES[problem->mistake.choices[i].id].slot == REPLACED[k].slot &&
                    problem->chosen.stages[shown] == REPLACED[k].stage)
                    return error_usage(build->error,
                                       "%s: %s cannot be made here: it replaces %s that are given, so attn cannot show "
                                       "%s; leave that out of --stages",
                                       BUILD_PLACE(build, OPTION_MISTAKE),
                                       MISTAKES[problem->mistake.choices[i].id].name, REPLACED[k].what,
                                       stage_name(REPLACED[k].stage));
    return STATUS_OK;
}
