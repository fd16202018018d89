/* dropped = weights / (1 - p) where kept, else 0: Srivastava et al. 2014, "Dropout", section 10 (inverted), as
 * torch.nn.functional.dropout has it. */
#include "stage/dropped.h"

#include "base/decimal.h"
#include "model/stage_id.h"
#include "stage/stage.h"

#include <stdio.h>
#include <string.h>

static bool applies(const struct problem *problem)
{
    return problem->dropout > 0;
}

static enum status check(const struct problem *problem, const char *place, struct error *error)
{
    return problem_right(problem)->dropout > 0
               ? STATUS_OK
               : error_usage(error, "%s: there is no 'dropped' without dropout; expected --dropout above 0", place);
}

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    char dropout[DECIMAL_BYTES];
    decimal_from_double(problem->dropout, dropout);
    text_add(text, "weights / (1 - %s) where kept, else 0", dropout);
}

/* In float32 PyTorch multiplies by the rounded factor. */
static void make(const struct attention_row *row)
{
    const struct problem *problem = row->problem;
    const double *weights = row->stages[STAGE_WEIGHTS];
    double *dropped = row->stages[STAGE_DROPPED], factor = 1 / (1 - problem->dropout);
    if (row->kept == NULL) {
        memcpy(dropped, weights, problem->keys * sizeof *dropped);
        return;
    }
    dtype_round(dtype_storage(problem->dtype), &factor, 1);
    for (size_t j = 0; j < problem->keys; j++)
        dropped[j] = weights[j] * (row->kept[j] ? factor : 0);
}

/* --- explained --------------------------------------------------------------------------------------------------- */

void dropped_share(double dropout, char *text, size_t size)
{
    char shortest[DECIMAL_BYTES];
    decimal_from_double(dropout, shortest);
    const char *point = strchr(shortest, '.');
    const bool plain = point != NULL && strchr(shortest, 'e') == NULL;
    snprintf(text, size, plain ? "%.*f" : "%.*g", plain ? (int)strlen(point + 1) : 17, 1 - dropout);
}

void dropped_say_share(double dropout, char *text, size_t size)
{
    char share[DECIMAL_BYTES], shortest[DECIMAL_BYTES];
    dropped_share(dropout, share, sizeof share);
    decimal_from_double(dropout, shortest);
    snprintf(text, size, "1 - %s = %s", shortest, share);
}

void dropped_write(struct explanation *e, const struct dropped_line *line)
{
    if (!line->kept) {
        worked_line_words(&e->lines, "dropped: 0");
        worked_line_end(&e->lines);
        return;
    }
    worked_line_term(&e->lines, explain_number(e, line->from, line->number));
    worked_line_over(&e->lines, line->share);
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, line->to, line->made));
    worked_line_end(&e->lines);
}

static void write_key(struct explanation *e, struct explain_place place, size_t key, const char *share)
{
    explain_key_line(e, EXPLAIN_LINES, place.item, key);
    dropped_write(e, &(struct dropped_line){STAGE_WEIGHTS, STAGE_DROPPED, e->operand[key], e->made[key], share,
                                            e->source.kept(e->source.context, place.row)[key]});
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const bool one = problem->has_cell && stage_is_square(problem->cell.stage);
    char share[DECIMAL_BYTES], what[WORKED_LINE_LABEL_BYTES];
    if (!applies(problem)) {
        explain_kept(e, stage, place, "nothing is dropped, so as they were");
        return;
    }
    explain_list_weighed(e, place);
    dropped_share(problem->dropout, share, sizeof share);
    explain_load(e, STAGE_WEIGHTS, place, e->operand);
    explain_load(e, stage, place, e->made); /* last, so that `kept` is this row's */
    dropped_say_share(problem->dropout, what, sizeof what);
    explain_heading(e, stage, place, what);
    const struct explain_range keys = {0, one ? 0 : e->seen_count, false};
    if (one)
        write_key(e, place, problem->cell.column, share);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        write_key(e, place, e->seen[i], share);
        explain_gap(e, keys, i, "keys", NULL);
    }
    if (!one)
        explain_note_masked(e, "weight 0");
}

const struct stage_functions stage_dropped = {
    .applies = applies, .check = check, .formula = formula, .make = make, .explain = explain};
