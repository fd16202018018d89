#include "mistake/recipe.h"

#include <math.h>

#define MISTAKE_FUNCTION(id, function, ...) [MISTAKE_##id] = mistake_##function,
static mistake_change *const CHANGES[MISTAKE_COUNT] = {MISTAKE_ROWS(MISTAKE_FUNCTION)};

void recipe_makes(struct recipe *recipe, enum stage stage, const char *formula)
{
    recipe_tells(recipe, stage, formula);
    recipe->problem.wrong |= STAGE_BIT(stage);
    recipe->plain = true;
}

void recipe_tells(struct recipe *recipe, enum stage stage, const char *formula)
{
    recipe->problem.formulas[stage] = formula;
}

enum status recipe_create(struct recipe *recipe, const struct problem *problem, const struct mistake_choice *choices,
                          size_t count, size_t *refused, const char **reason, struct arena *arena, struct error *error)
{
    *recipe =
        (struct recipe){.problem = *problem, .fill = -INFINITY, .weights_factor = 1, .arena = arena, .error = error};
    *reason = NULL;
    for (*refused = 0; *refused < count && *reason == NULL; ++*refused) {
        *reason = CHANGES[choices[*refused].id](recipe, choices[*refused].form);
        if (error->status != STATUS_OK)
            return error->status;
    }
    if (*reason != NULL) {
        --*refused;
        return STATUS_OK;
    }
    return recipe_mask(recipe);
}
