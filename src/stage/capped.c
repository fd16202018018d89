/* SPDX-License-Identifier: MIT */
/* capped = softcap x tanh(scaled / softcap): Gemma Team 2024, "Gemma 2", section 2. */
#include "base/decimal.h"
#include "stage/stage.h"

#include <math.h>
#include <string.h>

static bool applies(const struct problem *problem)
{
    return problem->scaling.softcap > 0;
}

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    const char *softcap = decimal_text(problem->scaling.softcap, (char[DECIMAL_BYTES]){0});
    (void)stage;
    if (applies(problem))
        text_add(text, "%s x tanh(scaled / %s)", softcap, softcap);
    else
        text_add(text, "scaled, no softcap");
}

/* --rounding operations, and some families, round the quotient and its tanh as well as the product. */
static void make(const struct attention_row *row)
{
    const struct problem *problem = row->problem;
    const enum dtype dtype = problem->rounding.dtype;
    const bool operations = problem->rounding.when == ROUNDING_OPERATIONS;
    const bool each = operations || problem_rounding(problem)->softcap_each;
    const double *scaled = row->stages[STAGE_SCALED];
    const double softcap = operations ? stage_rounded(dtype, problem->scaling.softcap) : problem->scaling.softcap;
    double *capped = row->stages[STAGE_CAPPED];
    if (!applies(problem)) {
        memcpy(capped + row->computed.first, scaled + row->computed.first,
               (row->computed.end - row->computed.first) * sizeof *capped);
        return;
    }
    for (size_t j = row->computed.first; j < row->computed.end; j++)
        capped[j] = softcap * (each ? stage_rounded(dtype, tanh(stage_rounded(dtype, scaled[j] / softcap)))
                                    : tanh(scaled[j] / softcap));
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const double softcap = e->problem->scaling.softcap;
    if (applies(e->problem))
        explain_write(
            e, stage, place, "",
            &(struct explain_lines){
                .terms = "a x tanh(scaled / a) = a x tanh([scaled / a]made) = a x [tanh(scaled / a)]made = made",
                .given = {explain_text(decimal_text(softcap, (char[DECIMAL_BYTES]){0}), softcap)}});
    else
        explain_kept(e, stage, place, "there is no softcap: unchanged");
}

const struct stage_functions stage_capped = {.applies = applies, .formula = formula, .make = make, .explain = explain};
