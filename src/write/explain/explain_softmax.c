#include "write/explain/explain_stages.h"

#include "base/decimal.h"

#include <math.h>
#include <string.h>

/* --- the softmax -------------------------------------------------------------------------------------------------- */

/* exp(score - largest) of the keys that are seen, and their sum. */
struct softmax {
    double largest, sum;
    const double *sink; /* NULL: none */
};

/* The scores as the softmax reads them are in operand, their exponentials in factor. */
static struct softmax take_exponentials(struct explanation *e, struct explain_place place)
{
    const struct problem *problem = e->result->problem;
    const double *sinks = problem->mask.sinks;
    struct softmax softmax = {-INFINITY, 0, sinks != NULL ? sinks + place.head : NULL};
    explain_load(e, explain_before_softmax(problem), place, e->operand);
    dtype_round(problem->softmax_dtype, e->operand, problem->keys);
    explain_list_seen(e, place);
    if (softmax.sink != NULL)
        softmax.largest = *softmax.sink;
    for (size_t i = 0; i < e->seen_count; i++) {
        const double score = e->operand[e->seen[i]];
        softmax.largest = score > softmax.largest || isnan(score) ? score : softmax.largest;
    }
    for (size_t i = 0; i < e->seen_count; i++) {
        const size_t key = e->seen[i];
        e->factor[key] = exp(e->operand[key] - softmax.largest);
        softmax.sum += e->factor[key];
    }
    if (softmax.sink != NULL)
        softmax.sum += exp(*softmax.sink - softmax.largest);
    return softmax;
}

static void write_exponential(struct explanation *e, double score, double largest, double exponential)
{
    const int kind = (int)explain_before_softmax(e->result->problem);
    worked_line_open(&e->lines, WORKED_LINE_EXP, false);
    worked_line_term(&e->lines, explain_number(e, kind, score));
    worked_line_minus(&e->lines, explain_number(e, kind, largest));
    worked_line_close(&e->lines);
    worked_line_relation(&e->lines);
    worked_line_open(&e->lines, WORKED_LINE_EXP, false);
    worked_line_term(&e->lines, explain_number(e, kind, score - largest));
    worked_line_close(&e->lines);
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, STAGE_WEIGHTS, exponential));
    worked_line_end(&e->lines);
}

/* The sum over the seen keys from the i-th to before the next one that is shown, of what `factor` has. */
static double sum_between(const struct explanation *e, size_t i, size_t next, const double *numbers)
{
    double subtotal = 0;
    for (size_t j = i + 1; j < next; j++)
        subtotal += numbers[e->seen[j]];
    return subtotal;
}

static void note_masked(struct explanation *e, const char *what)
{
    const size_t masked = e->result->problem->keys - e->seen_count;
    if (masked > 0)
        explain_note(e, "(%zu key%s masked: %s)", masked, masked == 1 ? " is" : "s are", what);
}

static void write_exponentials(struct explanation *e, struct explain_place place, const struct softmax *softmax)
{
    const struct explain_range keys = {0, e->seen_count};
    const int kind = (int)explain_before_softmax(e->result->problem);
    explain_note(e, "the largest is %s", explain_number(e, kind, softmax->largest));
    worked_line_begin_sum(&e->lines);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        const size_t key = e->seen[i];
        explain_key_line(e, EXPLAIN_LINES, place.item, key);
        write_exponential(e, e->operand[key], softmax->largest, e->factor[key]);
        explain_gap(e, keys, i, "terms",
                    explain_number(e, STAGE_WEIGHTS, sum_between(e, i, explain_next(e, keys, i), e->factor)));
    }
    if (softmax->sink != NULL) {
        explain_line(e, EXPLAIN_LINES, "the sink");
        write_exponential(e, *softmax->sink, softmax->largest, exp(*softmax->sink - softmax->largest));
    }
    worked_line_end_sum(&e->lines, EXPLAIN_LINES, explain_number(e, STAGE_WEIGHTS, softmax->sum));
    note_masked(e, "exp(-inf) = 0");
}

static void write_weight(struct explanation *e, struct explain_place place, size_t key, double sum)
{
    explain_key_line(e, EXPLAIN_QUOTIENTS, place.item, key);
    worked_line_term(&e->lines, explain_number(e, STAGE_WEIGHTS, e->factor[key]));
    worked_line_over(&e->lines, explain_number(e, STAGE_WEIGHTS, sum));
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, STAGE_WEIGHTS, e->made[key]));
    worked_line_end(&e->lines);
}

/* Each exponential over their sum, or that of a cell alone. */
static void write_quotients(struct explanation *e, struct explain_place place, const struct softmax *softmax)
{
    const struct problem *problem = e->result->problem;
    const struct explain_range keys = {0, e->seen_count};
    double total = softmax->sink != NULL ? exp(*softmax->sink - softmax->largest) / softmax->sum : 0;
    if (problem->has_cell && stage_is_square(problem->cell.stage)) {
        if (explain_rule(e, place, problem->cell.column) == MASK_ALLOWS)
            write_weight(e, place, problem->cell.column, softmax->sum);
        else
            explain_note(e, "the key is masked: 0 / %s = 0", explain_number(e, STAGE_WEIGHTS, softmax->sum));
        return;
    }
    worked_line_begin_sum(&e->lines);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        write_weight(e, place, e->seen[i], softmax->sum);
        explain_gap(e, keys, i, "terms",
                    explain_number(e, STAGE_WEIGHTS, sum_between(e, i, explain_next(e, keys, i), e->made)));
    }
    for (size_t i = 0; i < keys.end; i++)
        total += e->made[e->seen[i]];
    if (softmax->sink == NULL)
        worked_line_end_sum(&e->lines, EXPLAIN_QUOTIENTS, explain_number(e, STAGE_WEIGHTS, total));
}

void explain_weights(struct explanation *e, struct explain_place place)
{
    static const char *const EMPTY[] = {"every key is masked: all weights are 0",
                                        "every key is masked: all weights are nan",
                                        "every key is masked: all weights are 1 / keys"};
    const struct softmax softmax = take_exponentials(e, place);
    explain_load(e, STAGE_WEIGHTS, place, e->made);
    if (e->seen_count == 0) {
        explain_heading(e, STAGE_WEIGHTS, place, EMPTY[e->result->problem->mask.empty_row]);
        return;
    }
    explain_heading(e, STAGE_WEIGHTS, place, "exp(score - largest)");
    write_exponentials(e, place, &softmax);
    explain_heading(e, STAGE_WEIGHTS, place, "each over their sum");
    write_quotients(e, place, &softmax);
}

/* lse = largest + log(sum). */
void explain_lse(struct explanation *e, struct explain_place place)
{
    const struct result_table *table = explain_table(e->result, STAGE_LSE);
    const size_t rows = result_rows(table), flat = place.item * e->result->problem->heads + place.head;
    const struct softmax softmax = take_exponentials(e, place);
    if (e->seen_count == 0 && softmax.sink == NULL) {
        explain_heading(e, STAGE_LSE, place, "every key is masked: log(0) = -inf");
        return;
    }
    explain_heading(e, STAGE_LSE, place, "exp(score - largest)");
    write_exponentials(e, place, &softmax);
    explain_heading(e, STAGE_LSE, place, "largest + log(sum)");
    result_row(e->result, table, flat / rows, flat % rows, e->made);
    explain_line(e, EXPLAIN_QUOTIENTS, "lse");
    const int kind = (int)explain_before_softmax(e->result->problem);
    worked_line_term(&e->lines, explain_number(e, kind, softmax.largest));
    worked_line_open(&e->lines, WORKED_LINE_LOG, false);
    worked_line_term(&e->lines, explain_number(e, STAGE_WEIGHTS, softmax.sum));
    worked_line_close(&e->lines);
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, kind, softmax.largest));
    worked_line_term(&e->lines, explain_number(e, STAGE_LSE, log(softmax.sum)));
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, STAGE_LSE, e->made[place.row]));
    worked_line_end(&e->lines);
}

/* --- dropout, context, output ------------------------------------------------------------------------------------- */

/* 1 - dropout with as many decimals as dropout has. */
static void write_share_kept(double dropout, char *text, size_t size)
{
    char shortest[DECIMAL_BYTES];
    decimal_from_double(dropout, shortest);
    const char *point = strchr(shortest, '.');
    const bool plain = point != NULL && strchr(shortest, 'e') == NULL;
    snprintf(text, size, plain ? "%.*f" : "%.*g", plain ? (int)strlen(point + 1) : 17, 1 - dropout);
}

static void write_dropped(struct explanation *e, struct explain_place place, size_t key, const char *share)
{
    explain_key_line(e, EXPLAIN_LINES, place.item, key);
    if (!row_stream_kept(&e->result->rows, place.row)[key]) {
        worked_line_words(&e->lines, "dropped: 0");
        worked_line_end(&e->lines);
        return;
    }
    worked_line_term(&e->lines, explain_number(e, STAGE_WEIGHTS, e->operand[key]));
    worked_line_over(&e->lines, share);
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, STAGE_DROPPED, e->made[key]));
    worked_line_end(&e->lines);
}

void explain_dropped(struct explanation *e, struct explain_place place)
{
    const struct problem *problem = e->result->problem;
    const bool one = problem->has_cell && stage_is_square(problem->cell.stage);
    char share[DECIMAL_BYTES], what[WORKED_LINE_LABEL_BYTES], dropout[DECIMAL_BYTES];
    explain_list_weighed(e, place);
    write_share_kept(problem->dropout, share, sizeof share);
    decimal_from_double(problem->dropout, dropout);
    explain_load(e, STAGE_WEIGHTS, place, e->operand);
    explain_load(e, STAGE_DROPPED, place, e->made); /* last, so that `kept` is this row's */
    snprintf(what, sizeof what, "1 - %s = %s", dropout, share);
    explain_heading(e, STAGE_DROPPED, place, what);
    const struct explain_range keys = {0, one ? 0 : e->seen_count};
    if (one)
        write_dropped(e, place, problem->cell.column, share);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        write_dropped(e, place, e->seen[i], share);
        explain_gap(e, keys, i, "keys", NULL);
    }
    if (!one)
        note_masked(e, "weight 0");
}

/* One column of the context: what each key that is seen gives, beneath each other. */
static void write_shares(struct explanation *e, struct explain_place place, size_t column, enum stage weights)
{
    const struct explain_range keys = {0, e->seen_count};
    double subtotal = 0, result = 0;
    worked_line_begin_sum(&e->lines);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        const size_t key = e->seen[i];
        explain_key_line(e, EXPLAIN_LINES, place.item, key);
        worked_line_term(&e->lines, explain_number(e, (int)weights, e->operand[key]));
        explain_load(e, STAGE_VALUE, (struct explain_place){place.item, place.head, key}, e->factor);
        worked_line_times(&e->lines, explain_number(e, STAGE_VALUE, e->factor[column]));
        worked_line_relation(&e->lines);
        worked_line_term(&e->lines, explain_number(e, STAGE_CONTEXT, e->operand[key] * e->factor[column]));
        worked_line_end(&e->lines);
        subtotal = 0;
        for (size_t j = i + 1; j < explain_next(e, keys, i); j++) {
            explain_load(e, STAGE_VALUE, (struct explain_place){place.item, place.head, e->seen[j]}, e->factor);
            subtotal += e->operand[e->seen[j]] * e->factor[column];
        }
        explain_gap(e, keys, i, "terms", explain_number(e, STAGE_CONTEXT, subtotal));
    }
    result = e->made[e->result->problem->packed ? place.head * e->result->problem->d_value + column : column];
    worked_line_end_sum(&e->lines, EXPLAIN_LINES, explain_number(e, STAGE_CONTEXT, result));
}

/* The columns of one head's context; those of packed heads lie side by side. */
void explain_context(struct explanation *e, struct explain_place place)
{
    const struct problem *problem = e->result->problem;
    const enum stage weights = problem->dropout > 0 ? STAGE_DROPPED : STAGE_WEIGHTS;
    const struct explain_range columns = explain_columns(e, STAGE_CONTEXT);
    char what[64];
    for (size_t column = columns.first; column < columns.end; column = explain_next(e, columns, column)) {
        struct explain_place of_head = place;
        if (problem->packed)
            of_head.head = column / problem->d_value;
        explain_list_weighed(e, of_head);
        explain_load(e, weights, of_head, e->operand);
        explain_load(e, STAGE_CONTEXT, place, e->made);
        snprintf(what, sizeof what, "column %zu", column + 1);
        explain_heading(e, STAGE_CONTEXT, place, what);
        if (e->seen_count == 0)
            explain_note(e, "every key is masked: %s", explain_number(e, STAGE_CONTEXT, e->made[column]));
        else
            write_shares(e, of_head, problem->packed ? column % problem->d_value : column, weights);
        if (column + 1 == columns.end && e->seen_count > 0)
            note_masked(e, "no share");
        if (explain_next(e, columns, column) > column + 1)
            explain_note(e, "… %zu more columns …", explain_next(e, columns, column) - column - 1);
    }
}
