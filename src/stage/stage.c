/* SPDX-License-Identifier: MIT */
#include "stage/stage.h"

#include "model/stages.h"
#include "stage/backward_mistake.h"
#include "stage/operand_steps.h"

#include <stdio.h>

#define STAGE_FUNCTIONS(id, functions) [STAGE_##id] = &stage_##functions,
static const struct stage_functions *const FUNCTIONS[STAGE_COUNT] = {STAGE_IDS(STAGE_FUNCTIONS)};

bool stage_applies(const struct problem *problem, enum stage stage)
{
    if (stage == STAGE_KEY_INPUTS)
        return problem->given.is_cross;
    if (!stage_exists(stage))
        return problem_projects(problem) && (stage == STAGE_PARAMETERS || !problem->parameters_only);
    return !problem->parameters_only && !STAGES[stage].on_demand &&
           (problem->loss.is_given || !STAGES[stage].backward) &&
           (FUNCTIONS[stage]->applies == NULL || FUNCTIONS[stage]->applies(problem));
}

enum status stage_check(const struct problem *problem, enum stage stage, const char *place, struct error *error)
{
    if (STAGES[stage].backward && !problem->loss.is_given)
        return error_usage(error, "%s: '%s' is a gradient; expected --grad ones, or --grad FILE, with it", place,
                           stage_name(stage));
    const char *lack = stage_exists(stage) ? FUNCTIONS[stage]->lack : NULL;
    const struct problem *asked = STAGES[stage].backward ? problem : problem_right(problem);
    if (lack == NULL || FUNCTIONS[stage]->applies(asked))
        return STATUS_OK;
    return error_usage(error, "%s: %s%s", place, lack[0] == ' ' ? MECHANISMS[problem->mechanism].name : "", lack);
}

void stage_formula(const struct problem *problem, enum stage stage, char *formula, size_t size)
{
    struct text text = text_begin(formula, size);
    const char *told = stage_exists(stage) ? problem->mistake.formulas[stage] : NULL;
    if (told != NULL)
        text_add(&text, "%s%s", told[0] == ',' ? stage_name(stage_before(problem, stage)) : "", told);
    else if (stage_exists(stage) && FUNCTIONS[stage]->formula_words != NULL)
        text_add(&text, "%s", FUNCTIONS[stage]->formula_words);
    else if (stage_exists(stage))
        FUNCTIONS[stage]->formula(problem, stage, &text);
}

enum stage stage_before(const struct problem *problem, enum stage stage)
{
    do {
        const uint64_t from = stage_existing(STAGES[stage].from) & ~STAGE_BIT(STAGE_NORMED) &
                              ~STAGE_BIT(STAGE_EMBEDDED); /* problem_source handles these */
        int source = STAGE_COUNT - 1;
        if (from == 0)
            return problem_source(problem, stage);
        while ((from & STAGE_BIT(source)) == 0)
            source--;
        stage = (enum stage)source;
    } while (!stage_applies(problem, stage));
    return stage;
}

bool stage_is_made_by_row(enum stage stage)
{
    return stage_exists(stage) && FUNCTIONS[stage]->make != NULL;
}

/* Others come with query, key and value, repeat a stage, join the heads, or are sums over rows. */
enum stage stage_unmade(uint64_t stages)
{
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (stages & STAGE_BIT(stage) && !stage_is_made_by_row(stage) && stage_is_attended(stage) &&
            !STAGES[stage].repeats && !STAGES[stage].backward && !STAGES[stage].joins_heads)
            return stage;
    return STAGE_NAMES;
}

struct fused_statistic stage_statistic(enum stage stage)
{
    return (struct fused_statistic){.number = FUNCTIONS[stage]->of_sums, .takes_logs = FUNCTIONS[stage]->takes_logs};
}

void stage_make(const struct attention_row *row, enum stage stage)
{
    const struct problem *problem = row->problem;
    const struct backward_mistake *mistake = problem->mistake.backward;
    if (mistake != NULL && mistake->makes & STAGE_BIT(stage))
        mistake->make(row, stage);
    else
        FUNCTIONS[stage]->make(row);
    /* The other keys hold 0, minus infinity or unread numbers. */
    const struct span made =
        stage_is_square(stage) ? row->computed : (struct span){0, problem_columns_of_head(problem, stage)};
    dtype_round(problem_stage_dtype(problem, stage), row->stages[stage] + made.first, made.end - made.first);
}

bool stage_can_be_explained(enum stage stage)
{
    return stage_exists(stage) && (FUNCTIONS[stage]->explain != NULL || FUNCTIONS[stage]->explain_column != NULL);
}

bool stage_is_explained(const struct problem *problem, enum stage stage)
{
    if (!stage_can_be_explained(stage) || (STAGES[stage].backward && stage == problem_grad_stage(problem)) ||
        (FUNCTIONS[stage]->explains != NULL && !FUNCTIONS[stage]->explains(problem, stage)))
        return false;
    if (problem_projects(problem) || stage_is_attended(stage))
        return true;
    return operand_has_steps(problem, projection_of(stage)) && STAGES[stage].operand; /* given operands have no steps
                                                                                         before */
}

/* Explains a number as the mistake changed it, if the stage before has one. */
static bool prepare(struct explanation *e, struct explain_lines *line)
{
    const enum stage stage = line->stage;
    if (line->over == EXPLAIN_RANGE && stage_has_columns(stage))
        snprintf(line->label, sizeof line->label, "head %zu", line->index + 1);
    else if (line->over == EXPLAIN_RANGE)
        snprintf(line->label, sizeof line->label, "%s", stage_name(stage));
    if (line->over != EXPLAIN_KEYS || !stage_is_square(e->before))
        return true;
    const double before = explain_row(e, e->before, line->place, false)[line->index];
    const double made = explain_row(e, stage, line->place, true)[line->index];
    line->terms = "before";
    if (before == made)
        snprintf(line->words, sizeof line->words, ", unchanged");
    else
        snprintf(line->words, sizeof line->words, " becomes %s", explain_number(e, (int)stage, made));
    return true;
}

/* Explains a stage that --mistake changes: only the row before and after, since no line of the right arithmetic would
 * give these numbers. */
static void explain_wrong(struct explanation *e, enum stage stage, struct explain_place place)
{
    const bool of_heads = stage_is_of_mask(stage);
    const size_t index = of_heads ? place.head : place.row;
    explain_write(e, stage, place, "a mistake on purpose",
                  &(struct explain_lines){.over = stage_is_square(stage)                  ? EXPLAIN_KEYS
                                                  : of_heads || !stage_has_columns(stage) ? EXPLAIN_RANGE
                                                                                          : EXPLAIN_COLUMNS,
                                          .range = {index, index + 1, false},
                                          .terms = "made",
                                          .prepare = prepare});
    if (e->problem->chosen.has_cell)
        explain_note(e, "(the mistake may also use rows that are not shown here)");
}

void stage_explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    e->back = STAGES[stage].backward;
    e->before = stage_before(e->problem, stage);
    if (e->problem->mistake.wrong & STAGE_BIT(stage))
        explain_wrong(e, stage, place);
    else if (FUNCTIONS[stage]->explain_column != NULL)
        explain_each_column(e, stage, place, FUNCTIONS[stage]->explain_column);
    else
        FUNCTIONS[stage]->explain(e, stage, place);
}
