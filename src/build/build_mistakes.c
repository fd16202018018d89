#include "build/build.h"

#include "mistake/recipe.h"

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

void build_draws(const struct build *build)
{
    struct options *options = build->options;
    double form = 0;
    if (has(build, MISTAKE_DRAW_LINEAR, &form))
        options->init = INIT_LINEAR;
    if (has(build, MISTAKE_DRAW_RAND, &form))
        options->init = INIT_RAND;
    if (has(build, MISTAKE_DRAW_RANDN, &form))
        options->init = INIT_RANDN;
    if (has(build, MISTAKE_DRAW_SEED, &form))
        options->seed = (uint64_t)form;
    if (has(build, MISTAKE_DRAW_SKIP, &form))
        options->skip = (uint64_t)form;
    if (has(build, MISTAKE_DRAW_D_OUT, &form))
        options->d_out = (uint64_t)form;
    if (has(build, MISTAKE_DRAW_SPLIT, &form))
        options->stacked = false;
    if (has(build, MISTAKE_DRAW_STACKED, &form))
        options->stacked = true;
    if (has(build, MISTAKE_DRAW_MKL, &form))
        options->rng = TORCH_RANDOM_MKL;
}

const char *build_draw_order(const struct build *build)
{
    double form = 0;
    return has(build, MISTAKE_DRAW_ORDER, &form) ? MISTAKES[MISTAKE_DRAW_ORDER].forms[(size_t)form] : NULL;
}

/* The problem becomes the one with the mistakes in it. */
enum status build_mistakes(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    char place[BUILD_PLACE_BYTES];
    const char *reason;
    size_t refused;
    if (options->mistake_count == 0)
        return STATUS_OK;
    memcpy(problem->mistakes, options->mistakes, sizeof problem->mistakes);
    problem->mistake_count = options->mistake_count;
    struct recipe *recipe = arena_allocate(build->arena, 1, sizeof *recipe, build->error);
    if (recipe == NULL || recipe_create(recipe, problem, options->mistakes, options->mistake_count, &refused, &reason,
                                        build->arena, build->error) != STATUS_OK)
        return build->error->status;
    if (reason != NULL)
        return error_usage(build->error, "%s: %s cannot be made here: %s",
                           build_place(build, OPTION_MISTAKE, place, sizeof place),
                           MISTAKES[options->mistakes[refused].id].name, reason);
    *problem = recipe->problem;
    if (recipe->plain)
        problem->recipe = recipe;
    return STATUS_OK;
}
