/* The gradients by what query, key and value are made of, which compute/backward_operands.c makes: back through scale,
 * rotation and norm to the projections, and through these to the inputs and the parameters. */
#include "stage/gradient.h"
#include "stage/latent.h"
#include "stage/operand_steps.h"
#include "stage/parameter_sums.h"
#include "stage/turned.h"

#include <stdio.h>

/* --- query and key before their steps ----------------------------------------------------------------------------- */

static bool steps_query(const struct problem *problem)
{
    return operand_has_steps(problem, PROJECTION_QUERY);
}

static bool steps_key(const struct problem *problem)
{
    return operand_has_steps(problem, PROJECTION_KEY);
}

static bool norms_query(const struct problem *problem)
{
    return operand_is_normed(problem, PROJECTION_QUERY) && operand_has_last_step(problem, PROJECTION_QUERY);
}

static bool norms_key(const struct problem *problem)
{
    return operand_is_normed(problem, PROJECTION_KEY) && operand_has_last_step(problem, PROJECTION_KEY);
}

static void formula_steps(const struct problem *problem, enum stage stage, struct text *text)
{
    const enum projection_id id =
        stage == STAGE_GRAD_NORMED_QUERY || stage == STAGE_GRAD_PROJECTED_QUERY ? PROJECTION_QUERY : PROJECTION_KEY;
    const bool projected = stage == STAGE_GRAD_PROJECTED_QUERY || stage == STAGE_GRAD_PROJECTED_KEY;
    const bool norms = operand_is_normed(problem, id), last = operand_has_last_step(problem, id);
    text_add(text, "%s", stage_name(stage_before(problem, stage)));
    if (operand_is_scaled(problem, id) && !(projected && norms))
        text_add(text, " x scale");
    if (operand_is_turned(problem, id) && !(projected && norms))
        text_add(text, ", turned back");
    if (projected && norms)
        text_add(text, ", through the norm%s", last ? "" : " of the projection");
}

const struct stage_functions stage_grad_projected_query = {
    .applies = steps_query,
    .lack = "there is no 'grad_projected_query' without a norm, a rotation or a scale of query; expected grad_query",
    .formula = formula_steps,
    .explain = turned_explain,
    .explains = turned_back_is_all};
const struct stage_functions stage_grad_projected_key = {
    .applies = steps_key,
    .lack = "there is no 'grad_projected_key' without a norm or a rotation of key; expected grad_key",
    .formula = formula_steps,
    .explain = turned_explain,
    .explains = turned_back_is_all};
const struct stage_functions stage_grad_normed_query = {
    .applies = norms_query,
    .lack = "there is no 'grad_normed_query' without a norm of query and a rotation behind it",
    .formula = formula_steps,
    .explain = turned_explain,
    .explains = turned_back_is_all};
const struct stage_functions stage_grad_normed_key = {
    .applies = norms_key,
    .lack = "there is no 'grad_normed_key' without a norm of key and a rotation behind it",
    .formula = formula_steps,
    .explain = turned_explain,
    .explains = turned_back_is_all};

/* --- inputs and parameters ---------------------------------------------------------------------------------------- */

static bool crosses(const struct problem *problem)
{
    return problem_projects(problem) && problem->crosses;
}

/* "grad_key . W_key^T", or what a latent does of it. */
static void add_way(const struct problem *problem, enum projection_id id, struct text *text)
{
    const char *of_query = problem->parameters.latent.query_norm.kind == NORM_NONE ? "" : ", normed back";
    const char *of_latent = problem->parameters.latent.key_value_norm.kind == NORM_NONE ? "" : ", normed back";
    if (!latent_makes(problem, id))
        text_add(text, "grad_%s . W_%s^T", stage_name(projection_stage(id)), stage_name(projection_stage(id)));
    else if (id == PROJECTION_QUERY)
        text_add(text, "grad_query . W_query_b%s, . W_query_a", of_query);
    else if (id == PROJECTION_KEY)
        text_add(text, "(grad_key, grad_value) . W_key_value_b%s, . W_key_value_a", of_latent);
}

static void formula_inputs(const struct problem *problem, enum stage stage, struct text *text)
{
    const bool of_keys = stage == STAGE_GRAD_KEY_INPUTS, alone = problem->crosses && !of_keys;
    if (!of_keys)
        add_way(problem, PROJECTION_QUERY, text);
    text_add(text, "%s", of_keys || alone ? "" : " + ");
    for (int id = PROJECTION_KEY; id < PROJECTION_COUNT && !alone; id++) {
        text_add(text, "%s", id == PROJECTION_VALUE && !latent_makes(problem, PROJECTION_VALUE) ? " + " : "");
        add_way(problem, (enum projection_id)id, text);
    }
    if (problem->residual && !of_keys)
        text_add(text, ", through the norm");
}

static void formula_parameters(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    if (problem->cell_name != NULL)
        parameter_sums_formula(problem, text);
    else
        text_add(text, "what it meets, times the gradient by what it makes");
}

/* --- explained --------------------------------------------------------------------------------------------------- */

/* Nor does a latent. */
static bool is_straight(const struct problem *problem, enum stage stage)
{
    (void)stage;
    return !latent_makes(problem, PROJECTION_QUERY) && !latent_makes(problem, PROJECTION_KEY) &&
           parameter_sums_are_straight(problem);
}

/* The gradient by what a projection makes, of all heads of the place's token, into e->operand; returns whose it is. */
static enum stage load_made(struct explanation *e, enum projection_id id, struct explain_place place, size_t *width)
{
    const struct problem *problem = e->problem;
    const enum stage stage = parameter_sums_above(problem, id);
    const bool of_keys = stage_is_of_keys(stage);
    const size_t d = problem_columns_of_head(problem, stage), group = problem->heads / problem->kv_heads;
    const size_t heads = of_keys ? problem->kv_heads : problem->heads;
    for (size_t head = 0; head < heads; head++) {
        place.head = of_keys ? head * group : head;
        explain_load(e, stage, place, e->operand + head * d);
    }
    *width = heads * d;
    return stage;
}

/* That of all heads . a row of the projection: what a column of the inputs does by way of it. */
static bool prepare(struct explanation *e, struct explain_lines *line)
{
    static const char *const NAMES[PROJECTION_COUNT] = {"query", "key", "value"};
    const struct parameters *parameters = &e->problem->parameters;
    const enum projection_id id = (enum projection_id)line->index;
    const enum stage above = load_made(e, id, line->place, &line->count);
    const size_t columns = line->count / parameters->module_count;
    for (size_t module = 0; module < parameters->module_count; module++)
        gradient_load_row(&parameters->modules[module].projections[id], line->column, columns,
                          e->factor + module * columns);
    line->given[0] = explain_numbers((int)above, e->operand);
    line->given[1] = explain_numbers(EXPLAIN_WEIGHTS + (int)id, e->factor);
    snprintf(line->label, sizeof line->label, "by %s", NAMES[id]);
    return true;
}

/* A column of the inputs works by way of query, key and value; of two inputs each by its own. */
static void explain_column_of(struct explanation *e, enum stage stage, struct explain_place place, size_t column,
                              const char *heading)
{
    const bool of_keys = stage_is_of_keys(stage), alone = e->problem->crosses && !of_keys;
    explain_write_sum(e, stage, place, heading,
                      &(struct explain_lines){.over = EXPLAIN_RANGE,
                                              .range = {of_keys ? PROJECTION_KEY : PROJECTION_QUERY,
                                                        alone ? PROJECTION_QUERY + 1 : PROJECTION_COUNT, false},
                                              .terms = EXPLAIN_DOT("a", "b", "[{a x b}made]made"),
                                              .column = column,
                                              .prepare = prepare},
                      explain_row(e, stage, place, true)[column]);
}

static void explain_inputs(struct explanation *e, enum stage stage, struct explain_place place)
{
    explain_each_column(e, stage, place, explain_column_of);
}

#define NO_SOURCES "sdpa has no parameters and no inputs before query, key and value; expected their gradients"
const struct stage_functions stage_grad_inputs = {.applies = problem_projects,
                                                  .lack = NO_SOURCES,
                                                  .formula = formula_inputs,
                                                  .explain = explain_inputs,
                                                  .explains = is_straight};
const struct stage_functions stage_grad_key_inputs = {
    .applies = crosses,
    .lack = "there is no 'grad_key_inputs' without key_inputs; expected grad_inputs",
    .formula = formula_inputs,
    .explain = explain_inputs,
    .explains = is_straight};
const struct stage_functions stage_grad_parameters = {.applies = problem_projects,
                                                      .lack = NO_SOURCES,
                                                      .formula = formula_parameters,
                                                      .explain = parameter_sums_explain,
                                                      .explains = parameter_sums_are_explained};
