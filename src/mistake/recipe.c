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
    for (int id = 0; id < PROJECTION_COUNT; id++)
        if (operands & 1U << id)
            recipe_tells(recipe, recipe_projected(recipe, (enum projection_id)id), formula);
}

void recipe_derives(struct recipe *recipe, enum projection_id id, double *addends)
{
    recipe->changed_steps |= 1U << id;
    recipe->addends[id] = addends;
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
    return recipe->reason == NULL ? recipe_mask(recipe) : STATUS_OK;
}

enum status recipe_create(struct recipe *recipe, const struct problem *problem, const struct mistake_choice *choices,
                          size_t count, struct arena *arena, struct error *error)
{
    return create(recipe, problem, choices, count, false, arena, error);
}

enum status recipe_create_moving(struct recipe *recipe, const struct problem *problem,
                                 const struct mistake_choice *choices, size_t count, struct arena *arena,
                                 struct error *error)
{
    if (create(recipe, problem, choices, count, true, arena, error) != STATUS_OK)
        return error->status;
    bool moved = false;
    for (int id = 0; id < PROJECTION_COUNT; id++)
        moved = moved || recipe->moved[id] != NULL;
    return moved && recipe->changed_projections != 0 ? create(recipe, problem, choices, count, false, arena, error)
                                                     : STATUS_OK;
}
