/* SPDX-License-Identifier: MIT */
/* normed: the layer's own norm, with --residual; and the norms of query and key, per head or over all heads of a token:
 * Henry et al. 2020, "Query-Key Normalization for Transformers", as in later models. model/norm.h has the kinds. */
#include "stage/explained.h"

#include "model/stage_id.h"
#include "stage/norm.h"
#include "stage/operand_steps.h"
#include "stage/projections.h"
#include "stage/stage.h"

#include <math.h>

static bool applies(const struct problem *problem)
{
    return problem->given.residual && problem->parameters.norms[NORM_INPUTS].kind != NORM_NONE;
}

static enum norm_id norm_of(enum stage stage)
{
    return stage_is_of_inputs(stage) ? NORM_INPUTS : projection_norm(projection_of(stage));
}

/* What the square root is of. */
static const char *squares_of(const struct norm *norm)
{
    return norm->of_sum               ? "sum of squares"
           : norm->less_1             ? "squares / (n - 1)"
           : norm->kind == NORM_LAYER ? "variance"
                                      : "mean square";
}

void normed_formula(const struct problem *problem, enum stage stage, const char *from, struct text *text)
{
    static const char *const NAMES[NORM_COUNT] = {"norm", "query_norm", "key_norm", "value_norm"};
    const enum norm_id id = norm_of(stage);
    const struct norm *norm = &problem->parameters.norms[id];
    text_add(text, norm->kind == NORM_LAYER ? "(%s - mean) / %s(%s + %g)" : "%s / %s(%s + %g)", from,
             norm->no_root ? "" : "sqrt", squares_of(norm), norm->eps);
    if (norm->weight.rank > 0 && !norm->last)
        text_add(text, norm->kind == NORM_RMS_PLUS_ONE ? " x (1 + %s.weight)" : " x %s.weight", NAMES[id]);
    if (norm->bias.rank > 0)
        text_add(text, " + %s.bias", NAMES[id]);
    if (id != NORM_INPUTS && operand_norm_is_of_all(problem, projection_of(stage)))
        text_add(text, ", over all heads");
}

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    normed_formula(problem, stage, stage_name(stage_before(problem, stage)), text);
}

/* A norm, and the offset of its weights. */
struct norming {
    const struct norm *norm;
    size_t first;
};

/* Explains the weight and the bias of a column. */
static bool prepare(struct explanation *e, struct explain_lines *line)
{
    const struct norming *norming = line->context;
    const struct norm *norm = norming->norm;
    const size_t i = norming->first + line->index;
    (void)e;
    line->given[4] = explain_value_if(norm->weight.rank > 0 && !norm->last, (int)line->stage, norm_weight(norm, i));
    line->given[5] = explain_value_if(norm->bias.rank > 0, (int)line->stage, norm_bias(norm, i));
    return true;
}

/* "1 / sqrt(mean square 0.3542 + 1e-06) ≈ 1.6803" */
static void say_factor(struct explanation *e, enum stage stage, enum stage from, const struct norm *norm,
                       struct norm_terms terms, char *what, size_t size)
{
    struct text text = text_begin(what, size);
    const double square = fmax(0, 1 / (terms.factor * terms.factor) - norm->eps);
    if (norm->kind == NORM_LAYER)
        text_add(&text, "mean %s, ", explain_number(e, (int)from, terms.mean));
    text_add(&text, "1 / sqrt(%s %s + %g) ≈ ", squares_of(norm), explain_number(e, (int)from, square), norm->eps);
    text_add(&text, "%s", explain_number(e, (int)stage, terms.factor));
}

/* Explains the columns of a row whose norm goes over `all` (count); its weights begin at `first`. `operand` has the
 * row, `made` its norm. */
static void normed_explain(struct explanation *e, enum stage stage, enum stage from, const double *all, size_t count,
                           size_t first, struct explain_place place)
{
    const struct norm *norm = &e->problem->parameters.norms[norm_of(stage)];
    const struct norm_terms terms = norm_terms(norm, all, count);
    char heading[WORKED_LINE_LABEL_BYTES];
    say_factor(e, stage, from, norm, terms, heading, sizeof heading);
    explain_write(e, stage, place, heading,
                  &(struct explain_lines){
                      .over = EXPLAIN_COLUMNS,
                      .terms = "[a - b]a x c x e + f = d",
                      .given = {explain_numbers((int)from, e->operand), explain_value((int)from, terms.mean),
                                explain_value((int)stage, terms.factor), explain_numbers((int)stage, e->made)},
                      .prepare = prepare,
                      .context = &(struct norming){norm, first}});
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const size_t token = explain_by_token(problem, stage) ? place.row : problem->chosen.rows[place.row];
    projection_load_inputs(e, place.item, token);
    norm_row(problem, &problem->parameters.norms[NORM_INPUTS], 0, e->operand, problem->size.d_in, e->made);
    dtype_round(problem->rounding.dtype, e->made, problem->size.d_in);
    normed_explain(e, stage, problem_source(problem, stage), e->operand, e->problem->size.d_in, 0, place);
}

void normed_explain_heads(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const enum projection_id id = projection_of(stage);
    const bool of_keys = stage_is_of_keys(stage), of_all = operand_norm_is_of_all(problem, id);
    const enum stage from = projection_unstepped(id);
    const size_t heads = of_keys ? problem->size.kv_heads : problem->size.heads,
                 group = of_keys ? problem->size.heads / heads : 1;
    const size_t d = operand_columns(problem, id);
    struct explain_place of_query = {place.item, place.head * group, place.row};
    explain_load(e, stage, of_query, e->made);
    for (size_t head = 0; head < heads && of_all; head++)
        explain_load(e, from, (struct explain_place){place.item, head * group, place.row}, e->factor + head * d);
    explain_load(e, from, of_query, e->operand);
    normed_explain(e, stage, from, of_all ? e->factor : e->operand, of_all ? heads * d : d,
                   operand_norm_first(problem, id, place.head), place);
}

const struct stage_functions stage_normed = {.applies = applies,
                                             .lack =
                                                 "there is no 'normed' without --residual and a norm before attention",
                                             .formula = formula,
                                             .explain = explain};
const struct stage_functions stage_normed_query = {
    .applies = operand_query_shows_norm,
    .lack = "there is no 'normed_query' without a norm of query and a rotation after it; expected 'query'",
    .formula = formula,
    .explain = normed_explain_heads};
const struct stage_functions stage_normed_key = {
    .applies = operand_key_shows_norm,
    .lack = "there is no 'normed_key' without a norm of key and a rotation after it; expected 'key'",
    .formula = formula,
    .explain = normed_explain_heads};
