/* SPDX-License-Identifier: MIT */
/* capped = softcap x tanh(scaled / softcap): Gemma Team 2024, "Gemma 2", section 2. */
#include "base/decimal.h"
#include "stage/rounded.h"
#include "stage/stage.h"

#include <math.h>
#include <string.h>

static bool applies(const struct problem *problem)
{
    return problem->scaling.softcap > 0;
}

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    char softcap[DECIMAL_BYTES];
    decimal_from_double(problem->scaling.softcap, softcap);
    if (applies(problem))
        text_add(text, "%s x tanh(scaled / %s)", softcap, softcap);
    else
        text_add(text, "scaled, no softcap");
}

/* The quotient and its tanh are rounded, as the product is. */
static void make_each(const struct attention_row *row)
{
    const enum dtype dtype = row->problem->rounding.dtype;
    const double *scaled = row->stages[STAGE_SCALED], softcap = row->problem->scaling.softcap;
    for (size_t j = row->met.first; j < row->met.end; j++)
        row->stages[STAGE_CAPPED][j] = softcap * rounded(dtype, tanh(rounded(dtype, scaled[j] / softcap)));
}

static void keep(const struct attention_row *row)
{
    const size_t first = row->met.first;
    memcpy(row->stages[STAGE_CAPPED] + first, row->stages[STAGE_SCALED] + first,
           (row->met.end - first) * sizeof(double));
}

static void make(const struct attention_row *row)
{
    const double *scaled = row->stages[STAGE_SCALED], softcap = row->problem->scaling.softcap;
    if (!applies(row->problem)) {
        keep(row);
        return;
    }
    if (problem_rounding(row->problem)->softcap_each) {
        make_each(row);
        return;
    }
    for (size_t j = row->met.first; j < row->met.end; j++)
        row->stages[STAGE_CAPPED][j] = softcap * tanh(scaled[j] / softcap);
}

static void make_rounded(const struct attention_row *row)
{
    const enum dtype dtype = row->problem->rounding.dtype;
    const double *scaled = row->stages[STAGE_SCALED], ceiling = rounded(dtype, row->problem->scaling.softcap);
    if (!applies(row->problem)) {
        keep(row);
        return;
    }
    for (size_t j = row->met.first; j < row->met.end; j++)
        row->stages[STAGE_CAPPED][j] = rounded(dtype, tanh(rounded(dtype, scaled[j] / ceiling))) * ceiling;
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    char softcap[DECIMAL_BYTES];
    decimal_from_double(e->problem->scaling.softcap, softcap);
    if (applies(e->problem))
        explain_write(
            e, stage, place, "",
            &(struct explain_lines){
                .terms = "a x tanh(scaled / a) = a x tanh([scaled / a]made) = a x [tanh(scaled / a)]made = made",
                .given = {explain_text(softcap, e->problem->scaling.softcap)}});
    else
        explain_kept(e, stage, place, "there is no softcap, so as they were");
}

const struct stage_functions stage_capped = {
    .applies = applies, .formula = formula, .make = make, .make_rounded = make_rounded, .explain = explain};
