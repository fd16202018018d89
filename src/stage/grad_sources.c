/* The gradients by what query, key and value are made of, which compute/backward_operands.c makes: back through scale,
 * rotation and norm to the projections, and through these to the inputs and the parameters. */
#include "model/stage_id.h"
#include "stage/gradient.h"
#include "stage/latent.h"
#include "stage/operand_steps.h"
#include "stage/parameter_sums.h"
#include "stage/turned_back.h"

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

static enum status refuse(bool applies, const char *name, const char *lack, const char *place, struct error *error)
{
    return applies ? STATUS_OK : error_usage(error, "%s: there is no '%s' without %s", place, name, lack);
}

#define CHECK_OF(name, applies, lack)                                                                      \
    static enum status check_##name(const struct problem *problem, const char *place, struct error *error) \
    {                                                                                                      \
        return refuse(applies(problem), "grad_" #name, lack, place, error);                                \
    }

CHECK_OF(projected_query, steps_query, "a norm, a rotation or a scale of query; expected grad_query")
CHECK_OF(projected_key, steps_key, "a norm or a rotation of key; expected grad_key")
CHECK_OF(normed_query, norms_query, "a norm of query and a rotation behind it")
CHECK_OF(normed_key, norms_key, "a norm of key and a rotation behind it")

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

const struct stage_functions stage_grad_projected_query = {.applies = steps_query,
                                                           .check = check_projected_query,
                                                           .formula = formula_steps,
                                                           .explain = turned_back_explain,
                                                           .explains = turned_back_is_all};
const struct stage_functions stage_grad_projected_key = {.applies = steps_key,
                                                         .check = check_projected_key,
                                                         .formula = formula_steps,
                                                         .explain = turned_back_explain,
                                                         .explains = turned_back_is_all};
const struct stage_functions stage_grad_normed_query = {.applies = norms_query,
                                                        .check = check_normed_query,
                                                        .formula = formula_steps,
                                                        .explain = turned_back_explain,
                                                        .explains = turned_back_is_all};
const struct stage_functions stage_grad_normed_key = {.applies = norms_key,
                                                      .check = check_normed_key,
                                                      .formula = formula_steps,
                                                      .explain = turned_back_explain,
                                                      .explains = turned_back_is_all};

/* --- inputs and parameters ---------------------------------------------------------------------------------------- */

static bool crosses(const struct problem *problem)
{
    return problem_projects(problem) && problem->crosses;
}

static enum status check(const struct problem *problem, const char *place, struct error *error)
{
    if (!problem_projects(problem))
        return error_usage(error,
                           "%s: sdpa has no parameters and no inputs before query, key and value; expected their "
                           "gradients",
                           place);
    return STATUS_OK;
}

static enum status check_keys(const struct problem *problem, const char *place, struct error *error)
{
    return refuse(crosses(problem), "grad_key_inputs", "key_inputs; expected grad_inputs", place, error);
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
static void write_way(struct explanation *e, enum stage stage, enum projection_id id, struct explain_place place,
                      size_t column)
{
    static const char *const NAMES[PROJECTION_COUNT] = {"query", "key", "value"};
    const struct parameters *parameters = &e->problem->parameters;
    struct explain_dot dot = {
        .left = e->operand, .right = e->factor, .right_kind = EXPLAIN_WEIGHTS + (int)id, .kind = (int)stage};
    dot.left_kind = (int)load_made(e, id, place, &dot.count);
    const size_t columns = dot.count / parameters->module_count;
    for (size_t module = 0; module < parameters->module_count; module++)
        gradient_load_row(&parameters->modules[module].projections[id], column, columns, e->factor + module * columns);
    for (size_t i = 0; i < dot.count; i++)
        dot.result += dot.left[i] * dot.right[i];
    explain_line(e, EXPLAIN_LINES, "by %s", NAMES[id]);
    explain_dot(e, &dot);
}

/* A column of the inputs works by way of query, key and value; of two inputs each by its own. */
static void explain_inputs(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct explain_range columns = explain_columns(e, stage);
    const bool of_keys = stage_is_of_keys(stage), crosses_too = e->problem->crosses;
    const enum projection_id first = of_keys ? PROJECTION_KEY : PROJECTION_QUERY;
    const enum projection_id last = crosses_too && !of_keys ? PROJECTION_QUERY : PROJECTION_VALUE;
    char what[64];
    explain_load_made(e, stage, place, e->made);
    for (size_t column = columns.first; column < columns.end; column = explain_next(e, columns, column)) {
        snprintf(what, sizeof what, "column %zu", column + 1);
        explain_heading(e, stage, place, what);
        worked_line_begin_sum(&e->lines);
        for (int id = (int)first; id <= (int)last; id++)
            write_way(e, stage, (enum projection_id)id, place, column);
        worked_line_end_sum(&e->lines, EXPLAIN_LINES, explain_number(e, (int)stage, e->made[column]));
        if (explain_next(e, columns, column) > column + 1)
            explain_note(e, "… %zu more columns …", explain_next(e, columns, column) - column - 1);
    }
}

const struct stage_functions stage_grad_inputs = {.applies = problem_projects,
                                                  .check = check,
                                                  .formula = formula_inputs,
                                                  .explain = explain_inputs,
                                                  .explains = is_straight};
const struct stage_functions stage_grad_key_inputs = {.applies = crosses,
                                                      .check = check_keys,
                                                      .formula = formula_inputs,
                                                      .explain = explain_inputs,
                                                      .explains = is_straight};
const struct stage_functions stage_grad_parameters = {.applies = problem_projects,
                                                      .check = check,
                                                      .formula = formula_parameters,
                                                      .explain = parameter_sums_explain,
                                                      .explains = parameter_sums_are_explained};
