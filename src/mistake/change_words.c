/* SPDX-License-Identifier: MIT */
/* Mistakes of slots positions, residual and unembedding: a model of words around the heads. */
#include "mistake/recipe.h"

static const char NO_POSITIONS[] = "nothing is added to the inputs";
static const char NO_UNEMBEDDING[] = "there is no unembedding";

/* Other inputs, which the residual adds, too. */
static const char *change_inputs(struct recipe *recipe, struct tensor inputs, const char *formula)
{
    struct problem *problem = &recipe->problem;
    problem->given.inputs = problem->given.key_inputs = inputs;
    problem->mistake.wrong |= STAGE_BIT(STAGE_EMBEDDED);
    recipe->changed_projections = OF_ALL;
    return recipe_tells(recipe, STAGE_EMBEDDED, formula);
}

CHANGE_WHERE(POSITIONS_MISSING, problem->given.positions.rank > 0, NO_POSITIONS,
             change_inputs(recipe, problem->given.bare, "inputs alone"))

CHANGE_BY(POSITIONS_TWICE)
{
    const struct problem *problem = &recipe->problem;
    const struct tensor *right = &problem->given.inputs, *positions = &problem->given.positions;
    struct tensor twice;
    if (positions->rank == 0)
        return NO_POSITIONS;
    if (tensor_create(&twice, right->dtype, right->rank, right->shape, recipe->arena, recipe->error) != STATUS_OK)
        return NULL;
    for (size_t i = 0; i < tensor_count(right); i++) {
        double number, added;
        tensor_load(right, i, 1, &number);
        tensor_load(positions, i % (problem->size.queries * problem->size.d_in), 1, &added);
        number = stage_rounded(problem->rounding.dtype, number + added);
        tensor_store(&twice, i, 1, &number);
    }
    return change_inputs(recipe, twice, "inputs + positions + positions");
}

CHANGE_BY(RESIDUAL_MISSING)
{
    recipe->leaves_residual = true;
    recipe_makes(recipe, STAGE_RESIDUAL, ", inputs not added");
    return recipe->problem.size.words > 0 ? NULL : NO_UNEMBEDDING;
}

CHANGE_BY(RESIDUAL_WITHOUT_POSITIONS)
{
    recipe->bare_residual = true;
    recipe_makes(recipe, STAGE_RESIDUAL, ", plus inputs without positions");
    return recipe->problem.size.words == 0             ? NO_UNEMBEDDING
           : recipe->problem.given.positions.rank == 0 ? NO_POSITIONS
                                                       : NULL;
}

CHANGE_BY(UNEMBEDDING_TRANSPOSED)
{
    struct projection *unembedding = &recipe->problem.parameters.words.unembedding;
    if (recipe->problem.size.words == 0)
        return NO_UNEMBEDDING;
    if (recipe->problem.size.words != recipe->problem.size.d_in)
        return "the unembedding is not square";
    unembedding->transposed = !unembedding->transposed;
    return recipe_tells(recipe, STAGE_LOGITS, "residual . unembedding^T");
}

CHANGE_BY(UNEMBEDDING_BIAS_MISSING)
{
    struct projection *unembedding = &recipe->problem.parameters.words.unembedding;
    if (unembedding->bias.rank == 0)
        return "there is no unembedding_bias";
    unembedding->bias.rank = 0;
    return recipe_tells(recipe, STAGE_LOGITS, "residual . unembedding");
}
