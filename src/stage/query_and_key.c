/* SPDX-License-Identifier: MIT */
/* query, key and value as scores and context use them: the projection after norm, rotation and scale, if any.
 * model/rope.h has the rotation's equation and source. */
#include "base/decimal.h"
#include "model/stage_id.h"
#include "stage/explained.h"
#include "stage/operand_steps.h"
#include "stage/projections.h"
#include "stage/stage.h"

static void add_rotation(const struct problem *problem, struct text *text)
{
    const struct rope *rope = &problem->rotation.rope;
    text_add(text, ", rotated by position in %s",
             rope->kind == ROPE_HALF    ? "halves"
             : rope->kind == ROPE_PAIRS ? "pairs"
                                        : "pairs, written as halves");
    if (rope->columns < rope->width)
        text_add(text, ", %s %zu columns", rope->first > 0 ? "the last" : "the first", rope->columns);
}

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    const enum projection_id id = projection_of(stage);
    if (!operand_has_steps(problem, id)) {
        projection_formula(problem, stage, text);
        return;
    }
    if (!operand_has_last_step(problem, id)) {
        normed_formula(problem, stage, stage_name(operand_before_last_step(problem, id)), text);
        return;
    }
    text_add(text, "%s", stage_name(operand_before_last_step(problem, id)));
    if (operand_is_rotated(problem, id))
        add_rotation(problem, text);
    const struct query_growth *growth = &problem->scaling.growth;
    if (operand_norm_is_last(problem, id))
        text_add(text, "%s x %s_norm.weight", operand_is_rotated(problem, id) ? "," : "", stage_name(stage));
    if (id == PROJECTION_QUERY && problem->scaling.on_query)
        text_add(text, "%s x %s", operand_is_rotated(problem, id) ? "," : "",
                 decimal_text(problem->scaling.query_factor, (char[DECIMAL_BYTES]){0}));
    if (id == PROJECTION_QUERY && growth->by != 0)
        text_add(text, "%s x (1 + %g ln(1 + floor(%s / %zu)))", operand_is_rotated(problem, id) ? "," : "", growth->by,
                 growth->ahead > 0 ? "(position + 1)" : "position", growth->every);
    if (problem->rotation.past > 0 && id == PROJECTION_KEY)
        text_add(text, "; the past unchanged");
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const enum projection_id id = projection_of(stage);
    if (!operand_has_steps(e->problem, id))
        projection_explain(e, stage, place);
    else if (operand_has_last_step(e->problem, id))
        rotated_explain(e, stage, place);
    else
        normed_explain_heads(e, stage, place);
}

const struct stage_functions stage_query = {.formula = formula, .explain = explain};
const struct stage_functions stage_key = {.formula = formula, .explain = explain};
const struct stage_functions stage_value = {.formula = formula, .explain = explain};

/* --- present_key and present_value: the past, then the given, as the next call takes them for its past ------------ */

static void formula_present(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)problem;
    text_add(text, "%s", stage_name(stage_of_numbers(stage)));
}

const struct stage_functions stage_present_key = {.formula = formula_present};
const struct stage_functions stage_present_value = {.formula = formula_present};
