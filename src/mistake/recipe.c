#include "mistake/recipe.h"

#include "stage/operand_steps.h"

#include <math.h>
#include <string.h>

#define ROW(id, function, ...) [MISTAKE_##id] = mistake_##function,
static mistake_change *const CHANGES[MISTAKE_COUNT] = {
#include "model/mistake_rows.h"
};

void recipe_makes(struct recipe *recipe, enum stage stage, const char *formula)
{
    recipe_tells(recipe, stage, formula);
    recipe->problem.wrong |= STAGE_BIT(stage);
    recipe->plain = true;
    recipe->no_way_back = recipe->making;
}

void recipe_tells(struct recipe *recipe, enum stage stage, const char *formula)
{
    recipe->problem.formulas[stage] = formula;
}

enum stage recipe_projected(const struct recipe *recipe, enum projection_id id)
{
    static const enum stage PROJECTED[] = {STAGE_PROJECTED_QUERY, STAGE_PROJECTED_KEY};
    return operand_has_steps(&recipe->problem, id) ? PROJECTED[id] : projection_stage(id);
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

/* Those of slot dtype, or all others, until one is refused. */
static enum status make(struct recipe *recipe, const struct mistake_choice *choices, size_t count, bool dtype,
                        size_t *refused, const char **reason)
{
    for (size_t i = 0; i < count && *reason == NULL && recipe->error->status == STATUS_OK; i++)
        if ((MISTAKES[choices[i].id].slot == MISTAKE_SLOT_DTYPE) == dtype) {
            *refused = i;
            recipe->making = MISTAKES[choices[i].id].name;
            *reason = CHANGES[choices[i].id](recipe, choices[i].form);
        }
    return recipe->error->status;
}

enum status recipe_create(struct recipe *recipe, const struct problem *problem, const struct mistake_choice *choices,
                          size_t count, size_t *refused, const char **reason, struct arena *arena, struct error *error)
{
    *recipe =
        (struct recipe){.problem = *problem, .fill = -INFINITY, .weights_factor = 1, .arena = arena, .error = error};
    recipe->past = problem->has_past ? (size_t)problem->mask.offset : 0;
    *reason = NULL;
    if (make(recipe, choices, count, true, refused, reason) || make(recipe, choices, count, false, refused, reason))
        return error->status;
    return *reason == NULL ? recipe_mask(recipe) : STATUS_OK;
}
