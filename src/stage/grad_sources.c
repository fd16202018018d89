/* SPDX-License-Identifier: MIT */
/* The gradients with respect to inputs and parameters, back through scale, rotation, norm and projections.
 * compute/backward_operands.c makes them. */
#include "model/stage_id.h"
#include "stage/explained.h"
#include "stage/latent.h"
#include "stage/operand_steps.h"
#include "stage/words.h"

#include <stdio.h>
#include <string.h>

/* --- query and key before their steps ----------------------------------------------------------------------------- */

static void formula_steps(const struct problem *problem, enum stage stage, struct text *text)
{
    const bool projected = stage != STAGE_GRAD_NORMED_QUERY && stage != STAGE_GRAD_NORMED_KEY;
    const enum projection_id id = stage == STAGE_GRAD_PROJECTED_VALUE ? PROJECTION_VALUE
                                  : stage_is_of_keys(stage)           ? PROJECTION_KEY
                                                                      : PROJECTION_QUERY;
    const bool norms = operand_is_normed(problem, id), last = operand_has_last_step(problem, id);
    text_add(text, "%s", stage_name(stage_before(problem, stage)));
    if (operand_is_scaled(problem, id) && !(projected && norms))
        text_add(text, operand_norm_is_last(problem, id) ? " x weight of the norm" : " x scale");
    if (operand_is_rotated(problem, id) && !(projected && norms))
        text_add(text, ", rotated back");
    if (projected && norms)
        text_add(text, ", through the norm%s", last ? "" : " of the projection");
}

const struct stage_functions stage_grad_projected_query = {
    .applies = operand_query_has_steps,
    .lack = "there is no 'grad_projected_query' without a norm, a rotation or a scale of query; expected grad_query",
    .formula = formula_steps,
    .explain = rotated_explain,
    .explains = rotated_back_is_all};
const struct stage_functions stage_grad_projected_key = {
    .applies = operand_key_has_steps,
    .lack = "there is no 'grad_projected_key' without a norm or a rotation of key; expected grad_key",
    .formula = formula_steps,
    .explain = rotated_explain,
    .explains = rotated_back_is_all};
const struct stage_functions stage_grad_projected_value = {
    .applies = operand_value_has_steps,
    .lack = "there is no 'grad_projected_value' without a norm of value; expected grad_value",
    .formula = formula_steps};
const struct stage_functions stage_grad_normed_query = {
    .applies = operand_query_shows_norm,
    .lack = "there is no 'grad_normed_query' without a norm of query and a rotation after it",
    .formula = formula_steps,
    .explain = rotated_explain,
    .explains = rotated_back_is_all};
const struct stage_functions stage_grad_normed_key = {
    .applies = operand_key_shows_norm,
    .lack = "there is no 'grad_normed_key' without a norm of key and a rotation after it",
    .formula = formula_steps,
    .explain = rotated_explain,
    .explains = rotated_back_is_all};

/* --- inputs and parameters ---------------------------------------------------------------------------------------- */

static bool crosses(const struct problem *problem)
{
    return problem_projects(problem) && problem->given.is_cross;
}

/* Adds "grad_key . W_key^T", or the form for a latent. */
static void add_way(const struct problem *problem, enum projection_id id, struct text *text)
{
    const char *of_query = problem->parameters.latent.query_norm.kind == NORM_NONE ? "" : ", through its norm";
    const char *of_latent = problem->parameters.latent.key_value_norm.kind == NORM_NONE ? "" : ", through its norm";
    if (!latent_makes(problem, id))
        text_add(text, "grad_%s . W_%s^T", stage_name(projection_stage(id)), stage_name(projection_stage(id)));
    else if (id == PROJECTION_QUERY)
        text_add(text, "grad_query . W_query_b%s, . W_query_a", of_query);
    else if (id == PROJECTION_KEY)
        text_add(text, "(grad_key, grad_value) . W_key_value_b%s, . W_key_value_a", of_latent);
}

static void formula_inputs(const struct problem *problem, enum stage stage, struct text *text)
{
    const bool of_keys = stage == STAGE_GRAD_KEY_INPUTS, alone = problem->given.is_cross && !of_keys;
    if (words_follow(problem))
        text_add(text, "grad_residual + ");
    if (!of_keys)
        add_way(problem, PROJECTION_QUERY, text);
    text_add(text, "%s", of_keys || alone ? "" : " + ");
    for (int id = PROJECTION_KEY; id < PROJECTION_COUNT && !alone; id++) {
        text_add(text, "%s", id == PROJECTION_VALUE && !latent_makes(problem, PROJECTION_VALUE) ? " + " : "");
        add_way(problem, (enum projection_id)id, text);
    }
    if (problem->parameters.gate.weight.rank > 0 && !of_keys)
        text_add(text, " + (grad_gate x gate x (1 - gate)) . W_gate");
    if (problem->given.residual && !of_keys)
        text_add(text, ", through the norm");
}

/* --- the gradient with respect to a number of a projection: a sum over all tokens --------------------------------- */

static bool explains_parameters(const struct problem *problem, enum stage stage)
{
    (void)stage;
    return problem->chosen.has_cell && problem->chosen.cell.stage == STAGE_GRAD_PARAMETERS &&
           problem->chosen.cell_name != NULL &&
           (problem->chosen.cell_place.id >= PARAMETER_OUT || problem->given.clip == 0);
}

/* The gradient with respect to what a projection makes: before the steps of query and key. */
static enum stage stage_above(const struct problem *problem, int id)
{
    static const enum stage ABOVE[PROJECTION_COUNT][2] = {{STAGE_GRAD_QUERY, STAGE_GRAD_PROJECTED_QUERY},
                                                          {STAGE_GRAD_KEY, STAGE_GRAD_PROJECTED_KEY},
                                                          {STAGE_GRAD_VALUE, STAGE_GRAD_PROJECTED_VALUE}};
    return id == PARAMETER_GATE  ? STAGE_GRAD_GATE
           : id == PARAMETER_OUT ? STAGE_GRAD_OUTPUT
                                 : ABOVE[id][operand_has_steps(problem, (enum projection_id)id)];
}

/* The projection's input: inputs, key inputs or normed. */
static enum stage source_of(const struct problem *problem, int id)
{
    if (id == PARAMETER_OUT)
        return STAGE_CONTEXT;
    if (problem->given.is_cross && id != PROJECTION_QUERY && id != PARAMETER_GATE)
        return STAGE_KEY_INPUTS;
    return problem->given.residual ? STAGE_NORMED : STAGE_INPUTS;
}

/* Loads the gradient with respect to what goes into the sigmoid of the gate, of the place's token; returns how many. */
static size_t load_gate(struct explanation *e, struct explain_place place, double *numbers)
{
    const struct problem *problem = e->problem;
    const size_t token = place.item * problem->size.queries + problem->chosen.rows[place.row];
    const size_t d = problem->size.d_value, columns = problem->size.heads * d;
    const size_t width = problem->parameters.gate.weight.shape[0];
    memset(numbers, 0, width * sizeof *numbers);
    for (size_t i = 0; i < columns; i++) {
        const double gate = problem_gate(problem, token, i);
        place.head = i / d;
        numbers[i / (columns / width)] += explain_row(e, STAGE_GRAD_GATE, place, false)[i % d] * gate * (1 - gate);
    }
    return width;
}

/* "sum(grad_query x inputs) over the tokens" */
static void formula_of_number(const struct problem *problem, struct text *text)
{
    const struct parameter_place *of = &problem->chosen.cell_place;
    text_add(text, "sum(%s%s", stage_name(stage_above(problem, of->id)),
             of->id == PARAMETER_GATE ? " x gate x (1 - gate)" : "");
    if (!of->bias)
        text_add(text, " x %s%s", stage_name(source_of(problem, of->id)),
                 of->id == PARAMETER_OUT && problem->given.gate.rank > 0 ? " x gate" : "");
    text_add(text, ") over the tokens");
}

/* The gradient of column `column` of the projection, all heads of a module side by side. */
static double load_above(struct explanation *e, struct explain_place place, size_t column)
{
    const struct problem *problem = e->problem;
    const struct parameter_place *of = &problem->chosen.cell_place;
    const enum stage stage = stage_above(problem, of->id);
    const size_t d = problem_columns_of_head(problem, stage), group = problem->size.heads / problem->size.kv_heads;
    const size_t heads = stage_is_of_keys(stage) ? problem->size.kv_heads : problem->size.heads;
    if (of->id == PARAMETER_OUT)
        explain_load(e, stage, place, e->factor);
    else if (of->id == PARAMETER_GATE)
        load_gate(e, place, e->factor);
    if (of->id >= PARAMETER_OUT)
        return e->factor[column];
    place.head = of->module * (heads / problem->parameters.module_count) + column / d;
    place.head *= stage_is_of_keys(stage) ? group : 1;
    explain_load(e, stage, place, e->factor);
    return e->factor[column % d];
}

static double load_source(struct explanation *e, struct explain_place place, size_t column)
{
    const struct problem *problem = e->problem;
    const enum stage stage = source_of(problem, problem->chosen.cell_place.id);
    const struct tensor *inputs = stage == STAGE_INPUTS ? &problem->given.inputs : &problem->given.key_inputs;
    double number;
    if (stage == STAGE_CONTEXT) {
        place.head = column / problem->size.d_value;
        if (problem_leaves_out(problem, place.head))
            return 0;
        explain_load(e, stage, place, e->factor);
        return e->factor[column % problem->size.d_value] *
               problem_gate(problem, place.item * problem->size.queries + problem->chosen.rows[place.row], column);
    }
    if (stage == STAGE_NORMED) {
        explain_load(e, stage, place, e->factor);
        return e->factor[column];
    }
    const size_t rows = inputs->shape[inputs->rank - 2], columns = inputs->shape[inputs->rank - 1];
    tensor_load(inputs, (place.item * rows + place.row) * columns + column, 1, &number);
    return number;
}

static void explain_parameters(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const struct parameter_place *of = &problem->chosen.cell_place;
    const struct cell *cell = &problem->chosen.cell;
    const enum stage above = stage_above(problem, of->id), source = source_of(problem, of->id);
    const bool transposed = of->bias || of->projection->transposed;
    const size_t made = of->bias || !transposed ? cell->column : cell->row, met = transposed ? cell->column : cell->row;
    const struct explain_lines sum = {
        .over = EXPLAIN_TERMS,
        .terms = of->bias ? "a" : "a x b = [a x b]made",
        .given = {explain_numbers((int)above, e->operand), explain_numbers((int)source, e->made)},
        .of_items = true,
        .of_keys = stage_is_of_keys(above)};
    char heading[96];
    place.row = of->bias ? 0 : cell->row;
    const double made_sum = explain_row(e, stage, place, true)[cell->column];
    explain_list_first(e, problem->size.items * (sum.of_keys ? problem->size.keys : problem->chosen.row_count));
    for (size_t term = 0; term < e->listed_count; term++) {
        e->operand[term] = load_above(e, explain_term_place(e, &sum, term), made);
        e->made[term] = of->bias ? 1 : load_source(e, explain_term_place(e, &sum, term), met);
    }
    if (of->bias)
        snprintf(heading, sizeof heading, "column %zu", cell->column + 1);
    else
        snprintf(heading, sizeof heading, "row %zu, column %zu", cell->row + 1, cell->column + 1);
    explain_write_sum(e, stage, sum.place, heading, &sum, made_sum);
}

/* --- the stages -------------------------------------------------------------------------------------------------- */

static void formula_parameters(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    if (problem->chosen.cell_name != NULL)
        formula_of_number(problem, text);
    else
        text_add(text, "its input times the gradient of its output");
}

/* --- explained --------------------------------------------------------------------------------------------------- */

/* Whether neither a norm, --clip nor a latent comes between inputs and projections. */
static bool is_straight(const struct problem *problem, enum stage stage)
{
    (void)stage;
    return !latent_makes(problem, PROJECTION_QUERY) && !latent_makes(problem, PROJECTION_KEY) &&
           !problem->given.residual && problem->given.clip == 0;
}

/* What leads from inputs to the loss: the projections, the gate, and the residual, to which inputs are added. */
enum { WAY_GATE = PROJECTION_COUNT, WAY_RESIDUAL, WAYS };

static bool leads(const struct problem *problem, bool from_keys, size_t way)
{
    if (way == PROJECTION_KEY || way == PROJECTION_VALUE)
        return from_keys || !problem->given.is_cross;
    return !from_keys && (way != WAY_GATE || problem->given.gate.rank > 0) &&
           (way != WAY_RESIDUAL || words_follow(problem));
}

/* Loads the gradient with respect to a projection, of all heads of the place's token, to e->operand; returns its
 * stage. */
static enum stage load_made(struct explanation *e, int id, struct explain_place place, size_t *width)
{
    const struct problem *problem = e->problem;
    const enum stage stage = stage_above(problem, id);
    const bool of_keys = stage_is_of_keys(stage);
    const size_t d = problem_columns_of_head(problem, stage), group = problem->size.heads / problem->size.kv_heads;
    const size_t heads = of_keys ? problem->size.kv_heads : problem->size.heads;
    for (size_t head = 0; head < heads; head++) {
        place.head = of_keys ? head * group : head;
        explain_load(e, stage, place, e->operand + head * d);
    }
    *width = heads * d;
    return stage;
}

/* That gradient . a row of the projection: the share of one way in a column of the inputs. */
static bool prepare(struct explanation *e, struct explain_lines *line)
{
    static const char *const NAMES[WAYS] = {"query", "key", "value", "gate", "residual"};
    const struct parameters *parameters = &e->problem->parameters;
    const int id = (int)line->index;
    const bool of_gate = line->index == WAY_GATE;
    enum stage above = STAGE_GRAD_GATE;
    snprintf(line->label, sizeof line->label, "via %s", NAMES[line->index]);
    if (!leads(e->problem, stage_is_of_keys(line->stage), line->index))
        return false;
    if (line->index == WAY_RESIDUAL) { /* the last one */
        line->terms = "a";
        line->given[0] = explain_value(STAGE_GRAD_RESIDUAL,
                                       explain_row(e, STAGE_GRAD_RESIDUAL, line->place, false)[line->column]);
        return true;
    }
    if (of_gate)
        line->count = load_gate(e, line->place, e->operand);
    else
        above = load_made(e, id, line->place, &line->count);
    const size_t columns = line->count / parameters->module_count;
    for (size_t module = 0; module < parameters->module_count; module++)
        gradient_load_row(of_gate ? &parameters->gate : &parameters->modules[module].projections[id], line->column,
                          columns, e->factor + module * columns);
    line->given[0] = explain_numbers((int)above, e->operand);
    line->given[1] = explain_numbers(EXPLAIN_WEIGHTS + id, e->factor);
    return true;
}

/* Explains a column of the inputs: what each way from it adds. */
static void explain_column_of(struct explanation *e, enum stage stage, struct explain_place place, size_t column,
                              const char *heading)
{
    explain_write_sum(e, stage, place, heading,
                      &(struct explain_lines){.over = EXPLAIN_RANGE,
                                              .range = {0, WAYS, false},
                                              .terms = EXPLAIN_DOT("a", "b", "[{a x b}made]made"),
                                              .column = column,
                                              .prepare = prepare},
                      explain_row(e, stage, place, true)[column]);
    if (leads(e->problem, stage_is_of_keys(stage), WAY_GATE))
        explain_note(e, "(via gate: grad_gate x gate x (1 - gate), times W_gate)");
}

#define NO_SOURCES "sdpa has no parameters and no inputs before query, key and value; expected their gradients"
const struct stage_functions stage_grad_inputs = {.applies = problem_projects,
                                                  .lack = NO_SOURCES,
                                                  .formula = formula_inputs,
                                                  .explain_column = explain_column_of,
                                                  .explains = is_straight};
const struct stage_functions stage_grad_key_inputs = {
    .applies = crosses,
    .lack = "there is no 'grad_key_inputs' without key_inputs; expected grad_inputs",
    .formula = formula_inputs,
    .explain_column = explain_column_of,
    .explains = is_straight};
const struct stage_functions stage_grad_parameters = {.applies = problem_projects,
                                                      .lack = NO_SOURCES,
                                                      .formula = formula_parameters,
                                                      .explain = explain_parameters,
                                                      .explains = explains_parameters};
