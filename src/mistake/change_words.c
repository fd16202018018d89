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

/* Adds to each row of `rows` the position of its place + by, at least 0, or of the first. */
static const char *add_positions(struct recipe *recipe, struct tensor rows, int by, bool first, const char *formula)
{
    const struct problem *problem = &recipe->problem;
    const struct tensor *all = &problem->parameters.words.positions;
    const struct tensor *positions = by > 0 ? all : &problem->given.positions;
    const size_t d_in = problem->size.d_in, queries = problem->size.queries;
    struct tensor made;
    if (problem->given.positions.rank == 0)
        return NO_POSITIONS;
    if (by > 0 && (!problem->given.learns_positions || all->rank == 0 || all->shape[0] < queries + (size_t)by))
        return "position_embedding has no more rows";
    if (tensor_create(&made, rows.dtype, rows.rank, rows.shape, recipe->arena, recipe->error) != STATUS_OK)
        return NULL;
    for (size_t i = 0; i < tensor_count(&rows); i++) {
        const size_t row = first ? 0 : i / d_in % queries, at = by < 0 ? memory_left(row, 1) : row + (size_t)by;
        double number, added;
        tensor_load(&rows, i, 1, &number);
        tensor_load(positions, at * d_in + i % d_in, 1, &added);
        number = stage_rounded(problem->rounding.dtype, number + added);
        tensor_store(&made, i, 1, &number);
    }
    return change_inputs(recipe, made, formula);
}

CHANGE(POSITIONS_TWICE, add_positions(recipe, problem->given.inputs, 0, false, "inputs + positions + positions"))

/* The forms: next, previous, first. */
CHANGE(POSITIONS_OTHER, add_positions(recipe, problem->given.bare,
                                      form == 0   ? 1
                                      : form == 1 ? -1
                                                  : 0,
                                      form == 2, "inputs + positions of other tokens"))

CHANGE_BY(RESIDUAL_MISSING)
{
    recipe->leaves_residual = true;
    recipe_makes(recipe, STAGE_RESIDUAL, ", inputs not added");
    return problem->size.words > 0 ? NULL : NO_UNEMBEDDING;
}

CHANGE_BY(RESIDUAL_WITHOUT_POSITIONS)
{
    recipe->bare_residual = true;
    recipe_makes(recipe, STAGE_RESIDUAL, ", plus inputs without positions");
    return problem->size.words == 0 ? NO_UNEMBEDDING : problem->given.positions.rank == 0 ? NO_POSITIONS : NULL;
}

CHANGE_BY(UNEMBEDDING_TRANSPOSED)
{
    struct projection *unembedding = &problem->parameters.words.unembedding;
    if (problem->size.words == 0)
        return NO_UNEMBEDDING;
    if (problem->size.words != problem->size.d_in)
        return "the unembedding is not square";
    unembedding->transposed = !unembedding->transposed;
    return recipe_tells(recipe, STAGE_LOGITS, "residual . unembedding^T");
}

CHANGE_WHERE(UNEMBEDDING_BIAS_MISSING, problem->parameters.words.unembedding.bias.rank > 0,
             "there is no unembedding_bias",
             (problem->parameters.words.unembedding.bias.rank = 0,
              recipe_tells(recipe, STAGE_LOGITS, "residual . unembedding")))
