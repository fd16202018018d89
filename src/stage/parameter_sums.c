#include "stage/parameter_sums.h"

#include "model/stage_id.h"
#include "stage/gradient.h"
#include "stage/operand_steps.h"

#include <stdio.h>

bool parameter_sums_are_straight(const struct problem *problem)
{
    return !problem->residual && problem->clip == 0;
}

bool parameter_sums_are_explained(const struct problem *problem, enum stage stage)
{
    (void)stage;
    const bool of_out = problem->cell_place.id == PROJECTION_COUNT;
    return problem->has_cell && problem->cell.stage == STAGE_GRAD_PARAMETERS && problem->cell_name != NULL &&
           (of_out || parameter_sums_are_straight(problem));
}

enum stage parameter_sums_above(const struct problem *problem, enum projection_id id)
{
    static const enum stage ABOVE[PROJECTION_COUNT][2] = {{STAGE_GRAD_QUERY, STAGE_GRAD_PROJECTED_QUERY},
                                                          {STAGE_GRAD_KEY, STAGE_GRAD_PROJECTED_KEY},
                                                          {STAGE_GRAD_VALUE, STAGE_GRAD_VALUE}};
    return id == PROJECTION_COUNT ? STAGE_GRAD_OUTPUT : ABOVE[id][operand_has_steps(problem, id)];
}

/* What the projection meets. */
static enum stage source_of(const struct problem *problem, enum projection_id id)
{
    if (id == PROJECTION_COUNT)
        return STAGE_CONTEXT;
    return problem->crosses && id != PROJECTION_QUERY ? STAGE_KEY_INPUTS : STAGE_INPUTS;
}

void parameter_sums_formula(const struct problem *problem, struct text *text)
{
    const struct parameter_place *of = &problem->cell_place;
    text_add(text, "sum(%s", stage_name(parameter_sums_above(problem, of->id)));
    if (!of->bias)
        text_add(text, " x %s", stage_name(source_of(problem, of->id)));
    text_add(text, ") over the tokens");
}

/* Column `column` of what the projection makes, all heads of a module side by side. */
static double load_above(struct explanation *e, struct explain_place place, size_t column)
{
    const struct problem *problem = e->problem;
    const struct parameter_place *of = &problem->cell_place;
    const enum stage stage = parameter_sums_above(problem, of->id);
    const size_t d = problem_columns_of_head(problem, stage), group = problem->heads / problem->kv_heads;
    const size_t heads = stage_is_of_keys(stage) ? problem->kv_heads : problem->heads;
    if (of->id == PROJECTION_COUNT) {
        explain_load(e, stage, place, e->factor);
        return e->factor[column];
    }
    place.head = of->module * (heads / problem->parameters.module_count) + column / d;
    place.head *= stage_is_of_keys(stage) ? group : 1;
    explain_load(e, stage, place, e->factor);
    return e->factor[column % d];
}

/* Column `column` of what it meets. */
static double load_source(struct explanation *e, struct explain_place place, size_t column)
{
    const struct problem *problem = e->problem;
    const enum stage stage = source_of(problem, problem->cell_place.id);
    const struct tensor *inputs = stage == STAGE_INPUTS ? &problem->inputs : &problem->key_inputs;
    double number;
    if (stage == STAGE_CONTEXT) {
        place.head = column / problem->d_value;
        explain_load(e, stage, place, e->factor);
        return e->factor[column % problem->d_value];
    }
    const size_t rows = inputs->shape[inputs->rank - 2], columns = inputs->shape[inputs->rank - 1];
    tensor_load(inputs, (place.item * rows + place.row) * columns + column, 1, &number);
    return number;
}

static double made_of_term(struct explanation *e, const struct gradient_sum *sum, size_t term, size_t column)
{
    (void)sum;
    (void)column;
    return e->made[term];
}

void parameter_sums_explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const struct parameter_place *of = &problem->cell_place;
    const struct cell *cell = &problem->cell;
    const enum stage above = parameter_sums_above(problem, of->id), source = source_of(problem, of->id);
    const bool turned = of->bias || of->projection->transposed;
    const size_t made = of->bias || !turned ? cell->column : cell->row, met = turned ? cell->column : cell->row;
    struct gradient_sum sum = {.stage = stage,
                               .over_items = true,
                               .of_keys = stage_is_of_keys(above),
                               .kinds = {(int)above, (int)source, (int)stage}};
    char what[96];
    place.row = of->bias ? 0 : cell->row;
    explain_load_made(e, stage, place, e->made);
    sum.result = e->made[cell->column];
    e->seen_count = problem->items * (sum.of_keys ? problem->keys : problem->row_count);
    for (size_t term = 0; term < e->seen_count; term++) {
        e->seen[term] = term;
        e->operand[term] = load_above(e, gradient_place(e, &sum, term), made);
        e->made[term] = of->bias ? 1 : load_source(e, gradient_place(e, &sum, term), met);
    }
    if (of->bias)
        snprintf(what, sizeof what, "column %zu", cell->column + 1);
    else
        snprintf(what, sizeof what, "row %zu, column %zu", cell->row + 1, cell->column + 1);
    explain_heading(e, stage, place, what);
    gradient_write_sum(e, &sum, of->bias ? NULL : made_of_term, 0);
}
