/* Mistakes of slot draw: the job is made with them, in build_draws of build/; nothing is left to change. */
#include "mistake/recipe.h"

static const char *is_drawn(const struct recipe *recipe)
{
    return problem_projects(&recipe->problem) && !recipe->problem.parameters.given ? NULL : "no parameters are drawn";
}

#define MADE_BEFORE(name)                                               \
    const char *mistake_draw_##name(struct recipe *recipe, double form) \
    {                                                                   \
        (void)form;                                                     \
        return is_drawn(recipe);                                        \
    }
MADE_BEFORE(rand)
MADE_BEFORE(linear)
MADE_BEFORE(randn)
MADE_BEFORE(order)
MADE_BEFORE(d_out)
MADE_BEFORE(split)
MADE_BEFORE(stacked)

/* Dropout goes on where the parameters end, whether they were drawn or not. */
static const char *draws_on(const struct recipe *recipe)
{
    const struct problem *problem = &recipe->problem;
    return problem->dropout > 0 && !problem->dropout_seeded ? NULL : is_drawn(recipe);
}

const char *mistake_draw_seed(struct recipe *recipe, double form)
{
    (void)form;
    return draws_on(recipe);
}

const char *mistake_draw_skip(struct recipe *recipe, double form)
{
    (void)form;
    return draws_on(recipe);
}

/* MKL's generator draws for dropout alone. */
const char *mistake_draw_mkl(struct recipe *recipe, double form)
{
    (void)form;
    return recipe->problem.dropout > 0 ? NULL : "there is no dropout";
}

/* job_files_read has opened that layer. */
const char *mistake_draw_layer(struct recipe *recipe, double form)
{
    const struct layer *layer = recipe->problem.layer;
    return layer == NULL                          ? "there is no checkpoint"
           : layer->module->layer != (size_t)form ? "it is another layer that was read"
                                                  : NULL;
}
