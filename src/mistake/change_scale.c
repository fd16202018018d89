/* SPDX-License-Identifier: MIT */
/* Mistakes of slots scale and softcap. */
#include "mistake/recipe.h"
#include "stage/dot_products.h"

#include <math.h>
#include <string.h>

/* --- scale ------------------------------------------------------------------------------------------------------- */

/* Changes the factor of the scores, or of the query, unless it is the same one. */
static const char *scale_by(struct recipe *recipe, double scale)
{
    struct problem *problem = &recipe->problem;
    *(problem->scaling.on_query ? &problem->scaling.query_factor : &problem->scaling.factor) =
        scale / problem->scaling.temperature;
    recipe->changed_steps |= problem->scaling.on_query ? OF_QUERY : 0;
    return NULL;
}

/* The scale without the temperature. */
static double scale_of(const struct problem *problem)
{
    return (problem->scaling.on_query ? problem->scaling.query_factor : problem->scaling.factor) *
           problem->scaling.temperature;
}

/* The columns of all heads together. */
static double d_model(const struct problem *problem)
{
    return (double)(problem->size.heads * problem->size.d_head);
}

static double usual(const struct problem *problem)
{
    return 1 / sqrt((double)problem->size.d_head);
}

CHANGE(SCALE_MISSING, scale_by(recipe, 1))
CHANGE(SCALE_TWICE, scale_by(recipe, scale_of(problem) * scale_of(problem)))
CHANGE(SCALE_INVERTED, scale_of(problem) == 0 ? "the scale is 0" : scale_by(recipe, 1 / scale_of(problem)))
CHANGE(SCALE_D_MODEL, problem->size.heads == 1 ? "there is one head, so that d_head is d_model"
                                               : scale_by(recipe, 1 / sqrt(d_model(problem))))
CHANGE(SCALE_1_OVER_D_MODEL, scale_by(recipe, 1 / d_model(problem)))
CHANGE(SCALE_D_IN,
       problem_projects(problem) ? scale_by(recipe, 1 / sqrt((double)problem->size.d_in)) : "there are no inputs")
CHANGE(SCALE_USUAL, fabs(scale_of(problem) - usual(problem)) <= 1e-6 * usual(problem)
                        ? "the scale is 1 / sqrt(d_head)"
                        : scale_by(recipe, usual(problem)))
CHANGE(SCALE_AND_USUAL, fabs(scale_of(problem) - usual(problem)) <= 1e-6 * usual(problem)
                            ? "the scale is 1 / sqrt(d_head)"
                            : scale_by(recipe, scale_of(problem) * usual(problem)))
CHANGE(SCALE_D_IN_OVER_HEADS,
       !problem_projects(problem)                      ? "there are no inputs"
       : problem->size.heads == 1                      ? "there is one head: scale-d-in does the same"
       : problem->size.d_in % problem->size.heads != 0 ? "the heads cannot share the columns of the inputs"
       : problem->size.d_in / problem->size.heads == problem->size.d_head
           ? "a head has d_in / heads columns"
           : scale_by(recipe, 1 / sqrt((double)problem->size.d_in / (double)problem->size.heads)))
CHANGE(SCALE_TOKENS, scale_by(recipe, 1 / sqrt((double)problem->size.keys)))
CHANGE(SCALE_HEADS,
       problem->size.heads == 1 ? "there is one head" : scale_by(recipe, 1 / sqrt((double)problem->size.heads)))
CHANGE(SCALE_FOURTH_ROOT, scale_by(recipe, 1 / sqrt(sqrt((double)problem->size.d_head))))

CHANGE(SCALE_NEGATIVE, problem->rounding.when == ROUNDING_OPERATIONS
                           ? "--rounding operations takes the root of the scale"
                           : scale_by(recipe, -scale_of(problem)))

CHANGE(SCALE_ZERO, (recipe->not_differentiable = recipe->making, scale_by(recipe, 0)))

CHANGE_BY(SCALE_AFTER_SOFTMAX)
{
    recipe->weights_factor = scale_of(problem) / problem->scaling.temperature;
    recipe_makes(recipe, STAGE_WEIGHTS, "softmax of unscaled scores, then x the scale");
    return scale_by(recipe, 1);
}

/* --- scores ------------------------------------------------------------------------------------------------------ */

/* Column c of key j, of panels of DOT_KEYS keys (stage/head.h). */
static double key_number(const struct attention_row *row, size_t j, size_t c)
{
    return row->key[(j / DOT_KEYS * row->problem->size.d_head + c) * DOT_KEYS + j % DOT_KEYS];
}

/* As F.cosine_similarity, with its least length; without the temperature, which the scale has. */
static void cosine(const struct attention_row *row, const struct recipe *recipe)
{
    static const double LEAST = 1e-8;
    const size_t d = row->problem->size.d_head, keys = row->problem->size.keys;
    const double *query = row->stages[STAGE_QUERY];
    for (size_t j = 0; j < keys; j++) {
        double product = 0, of_query = 0, of_key = 0;
        for (size_t c = 0; c < d; c++) {
            const double key = key_number(row, j, c);
            product += query[c] * key;
            of_query += query[c] * query[c];
            of_key += key * key;
        }
        row->stages[STAGE_SCORES][j] = product / fmax(sqrt(of_query) * sqrt(of_key), LEAST);
    }
    dtype_round(problem_stage_dtype(row->problem, STAGE_SCORES), row->stages[STAGE_SCORES], keys);
    (void)recipe;
}

/* Number c T + j of the keys, row after row, is column c of "key" j. */
static void view_keys(const struct attention_row *row, const struct recipe *recipe)
{
    const size_t d = row->problem->size.d_head, keys = row->problem->size.keys;
    (void)recipe;
    for (size_t j = 0; j < keys; j++) {
        row->stages[STAGE_SCORES][j] = 0;
        for (size_t c = 0; c < d; c++)
            row->stages[STAGE_SCORES][j] +=
                row->stages[STAGE_QUERY][c] * key_number(row, (c * keys + j) / d, (c * keys + j) % d);
    }
    dtype_round(problem_stage_dtype(row->problem, STAGE_SCORES), row->stages[STAGE_SCORES], keys);
}

static void multiply_sums(const struct attention_row *row, const struct recipe *recipe)
{
    const size_t d = row->problem->size.d_head, keys = row->problem->size.keys;
    double of_query = 0;
    (void)recipe;
    for (size_t c = 0; c < d; c++)
        of_query += row->stages[STAGE_QUERY][c];
    for (size_t j = 0; j < keys; j++) {
        double of_key = 0;
        for (size_t c = 0; c < d; c++)
            of_key += key_number(row, j, c);
        row->stages[STAGE_SCORES][j] = of_query * of_key;
    }
    dtype_round(problem_stage_dtype(row->problem, STAGE_SCORES), row->stages[STAGE_SCORES], keys);
}

/* As torch.round, halves to the even digit; in the dtype, before the softcap. */
static void round_scaled(const struct attention_row *row, const struct recipe *recipe)
{
    const double power = pow(10, (double)recipe->digits);
    double *scaled = row->stages[STAGE_SCALED];
    stage_make(row, STAGE_SCALED);
    for (size_t j = 0; j < row->problem->size.keys; j++)
        scaled[j] = rint(scaled[j] * power) / power;
    dtype_round(problem_stage_dtype(row->problem, STAGE_SCALED), scaled, row->problem->size.keys);
}

static const char *score(struct recipe *recipe, enum stage stage, recipe_row *make, const char *formula)
{
    return recipe->problem.rounding.when == ROUNDING_OPERATIONS ? "--rounding operations has no scores"
                                                                : recipe_makes_by(recipe, stage, make, formula);
}

CHANGE_BY(SCORES_COSINE)
{
    if (form == 0)
        scale_by(recipe, problem->scaling.temperature);
    return score(recipe, STAGE_SCORES, cosine, "query . key^T over their lengths");
}

CHANGE(SCORES_KEY_VIEW, score(recipe, STAGE_SCORES, view_keys, "query . key, its numbers read on as d x tokens"))
CHANGE(SCORES_OF_SUMS, score(recipe, STAGE_SCORES, multiply_sums, "the sum of query x the sum of key"))

CHANGE_BY(SCALE_ROUNDED)
{
    recipe->digits = form;
    return problem->scaling.on_query ? "the query has the scale"
                                     : score(recipe, STAGE_SCALED, round_scaled, "scores x scale, rounded");
}

/* --- softcap ----------------------------------------------------------------------------------------------------- */

static const char NO_SOFTCAP[] = "there is no softcap";

static const char *cap(struct recipe *recipe, recipe_row *make, const char *formula)
{
    return recipe->problem.scaling.softcap == 0 ? NO_SOFTCAP : recipe_makes_by(recipe, STAGE_CAPPED, make, formula);
}

static void round_capped(const struct attention_row *row)
{
    dtype_round(problem_stage_dtype(row->problem, STAGE_CAPPED), row->stages[STAGE_CAPPED], row->problem->size.keys);
}

static void cap_scores(const struct attention_row *row, const struct recipe *recipe)
{
    const double softcap = recipe->problem.scaling.softcap, *scores = row->stages[STAGE_SCORES];
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[STAGE_CAPPED][j] = softcap * tanh(scores[j] / softcap) * recipe->problem.scaling.factor;
    round_capped(row);
}

static void cap_to_1(const struct attention_row *row, const struct recipe *recipe)
{
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[STAGE_CAPPED][j] = tanh(row->stages[STAGE_SCALED][j] / recipe->problem.scaling.softcap);
    round_capped(row);
}

static void cap_later(const struct attention_row *row, const struct recipe *recipe)
{
    (void)recipe;
    memcpy(row->stages[STAGE_CAPPED], row->stages[STAGE_SCALED], row->problem->size.keys * sizeof(double));
    round_capped(row);
}

CHANGE(SOFTCAP_BEFORE_SCALE, cap(recipe, cap_scores, "softcap x tanh(scores / softcap) x scale"))
CHANGE_WHERE(SOFTCAP_MISSING, problem->scaling.softcap != 0, NO_SOFTCAP, problem->scaling.softcap = 0)
CHANGE(SOFTCAP_NOT_MULTIPLIED, cap(recipe, cap_to_1, "tanh(scaled / softcap)"))

CHANGE_BY(SOFTCAP_AFTER_MASK)
{
    if (!problem->masks)
        return "there is no mask";
    recipe->caps_masked = true;
    if (problem->scaling.softcap > 0)
        recipe_makes(recipe, STAGE_MASKED, "softcap x tanh(scaled / softcap), -softcap where masked");
    return cap(recipe, cap_later, "scaled, not yet capped");
}
