/* SPDX-License-Identifier: MIT */
/* The gradients that are sums over queries: with respect to key, value, sinks and attn_mask. compute/backward.c makes
 * them. */
#include "stage/softmax.h"

#include <string.h>

static const char *of_group(const struct problem *problem)
{
    return problem->size.heads > problem->size.kv_heads ? ", summed over the heads of a group" : "";
}

static void formula_value(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    text_add(text, "%s^T . grad_context%s", problem->drop.share > 0 ? "dropped" : "weights", of_group(problem));
}

static void formula_key(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    text_add(text, "grad_scores^T . query%s", of_group(problem));
}

/* --- inputs of the mask ------------------------------------------------------------------------------------------- */

static bool has_sinks(const struct problem *problem)
{
    return problem->mask.sinks != NULL;
}

/* False for slopes that --alibi makes, which are no input. */
static bool has_slopes(const struct problem *problem)
{
    size_t i = 0;
    while (i < problem->given.other_count && strcmp(problem->given.others[i].name, "alibi_slopes") != 0)
        i++;
    return i < problem->given.other_count;
}

static void formula_slopes(const struct problem *problem, enum stage stage, struct text *text)
{
    static const char *const PLACES[] = {[MASK_FROM_QUERY] = "- sum(grad_masked x |key - query|)",
                                         [MASK_FROM_FIRST] = "sum(grad_masked x (key - 1))",
                                         [MASK_FROM_LAST] = "- sum(grad_masked x (keys - key))"};
    (void)stage;
    text_add(text, "%s", PLACES[problem->mask.places.from]);
}

static bool has_numbers(const struct problem *problem)
{
    return problem->mask.attn_mask.rank > 0 && !problem->mistake.mask_made &&
           problem->mask.attn_mask.dtype != DTYPE_BOOL;
}

/* --- by key and value --------------------------------------------------------------------------------------------- */

/* The terms of the place's key: the queries of the heads that share its key head. */
static struct explain_lines lines_of_key(const struct explanation *e, enum stage stage, struct explain_place place)
{
    const enum stage left = stage == STAGE_GRAD_KEY      ? STAGE_GRAD_SCORES
                            : e->problem->drop.share > 0 ? STAGE_DROPPED
                                                         : STAGE_WEIGHTS;
    const size_t group = e->problem->size.heads / e->problem->size.kv_heads;
    return (struct explain_lines){.over = EXPLAIN_TERMS,
                                  .terms = stage == STAGE_GRAD_KEY ? "a x query = [a x query]made"
                                                                   : "a x grad_context = [a x grad_context]made",
                                  .given = {explain_numbers((int)left, e->operand)},
                                  .of_heads = group > 1,
                                  .place = {place.item, place.head * group, 0}};
}

/* Explains one column, over the queries in e->listed. */
static void explain_column_of(struct explanation *e, enum stage stage, struct explain_place place, size_t column,
                              const char *heading)
{
    const size_t blind =
        e->problem->size.heads / e->problem->size.kv_heads * e->problem->chosen.row_count - e->listed_count;
    struct explain_lines lines = lines_of_key(e, stage, place);
    const struct explain_place of_query = {place.item, lines.place.head, place.row};
    lines.column = column;
    explain_heading(e, stage, place, heading);
    if (e->listed_count > 0)
        explain_write_sum(e, stage, lines.place, NULL, &lines, explain_row(e, stage, of_query, true)[column]);
    if (blind > 0)
        explain_note(e, "(%zu quer%s %s not attend to it: 0%s)", blind, blind == 1 ? "y" : "ies",
                     blind == 1 ? "does" : "do", lines.of_heads ? ", counted over the heads" : "");
}

/* Explains a token of key or value, after loading each query's number for it to e->operand. */
static void explain_of_keys(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct explain_lines lines = lines_of_key(e, stage, place);
    const size_t count = e->problem->size.heads / e->problem->size.kv_heads * e->problem->chosen.row_count;
    e->listed_count = 0;
    for (size_t term = 0; term < count; term++) {
        const struct explain_place at = explain_term_place(e, &lines, term);
        if (!explain_adds(e, stage, at, place.row))
            continue;
        e->operand[term] = explain_row(e, (enum stage)lines.given[0].kind, at, false)[place.row];
        e->listed[e->listed_count++] = term;
    }
    explain_each_column(e, stage, place, explain_column_of);
}

/* --- by sinks ----------------------------------------------------------------------------------------------------- */

/* Loads minus delta of each row with an allowed key to e->operand, by term. */
static void load_deltas(struct explanation *e, const struct explain_lines *sum, size_t count)
{
    e->listed_count = 0;
    for (size_t term = 0; term < count; term++) {
        const struct explain_place place = explain_term_place(e, sum, term);
        double delta = 0;
        bool empty = true;
        explain_load(e, STAGE_WEIGHTS, place, e->factor);
        explain_load(e, STAGE_GRAD_WEIGHTS, place, e->made);
        for (size_t key = 0; key < e->problem->size.keys; key++)
            if (explain_rule(e, place, key) == MASK_ALLOWS) {
                delta += e->factor[key] * e->made[key];
                empty = false;
            }
        e->operand[term] = 0 - delta;
        if (!empty)
            e->listed[e->listed_count++] = term;
    }
}

/* Computes the sink's share of a row. */
static bool prepare_sink(struct explanation *e, struct explain_lines *line)
{
    explain_load(e, STAGE_MASKED, line->at, e->factor);
    const struct softmax softmax = softmax_of_scores(e->problem, line->at.head, e->factor, e->factor);
    line->given[1] = explain_value(STAGE_WEIGHTS, softmax_of_sink(e->problem, &softmax) / softmax.sum);
    return true;
}

static void explain_sinks(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct explain_lines sum = {.over = EXPLAIN_TERMS,
                                      .terms = "a x b = [a x b]made",
                                      .given = {explain_numbers(STAGE_GRAD_WEIGHTS, e->operand)},
                                      .of_items = true,
                                      .prepare = prepare_sink,
                                      .place = {0, place.head, 0}};
    load_deltas(e, &sum, e->problem->size.items * e->problem->chosen.row_count);
    explain_heading(e, stage, place, "minus delta x the weight of the sink");
    if (e->listed_count == 0) {
        explain_note(e, "no query has an allowed key: 0");
        return;
    }
    explain_write_sum(e, stage, sum.place, NULL, &sum, explain_row(e, stage, place, true)[place.head]);
    explain_note(e, "(grad_masked shows how delta is computed)");
}

/* --- by slopes ---------------------------------------------------------------------------------------------------- */

/* What a row adds: the sum of grad_masked x position over its allowed keys; the factors go to e->operand and e->factor.
 * False: no key is allowed. */
static bool prepare_places(struct explanation *e, struct explain_lines *line)
{
    const struct mask *mask = &e->problem->mask;
    const struct explain_place at = line->at;
    explain_load(e, STAGE_GRAD_MASKED, at, e->operand);
    for (size_t key = 0; key < e->problem->size.keys; key++) {
        if (explain_rule(e, at, key) != MASK_ALLOWS)
            continue;
        e->operand[line->count] = e->operand[key];
        e->factor[line->count++] =
            (0 - mask_place(mask, at.item, e->problem->chosen.rows[at.row], key)) / mask->places.root;
    }
    return line->count > 0;
}

static void explain_slopes(struct explanation *e, enum stage stage, struct explain_place place)
{
    explain_list_first(e, e->problem->size.items * e->problem->chosen.row_count);
    explain_write_sum(e, stage, (struct explain_place){0, place.head, 0}, "gradient x the factor of the slope",
                      &(struct explain_lines){.over = EXPLAIN_TERMS,
                                              .terms = EXPLAIN_DOT("a", "b", "[{a x b}made]made"),
                                              .given = {explain_numbers(STAGE_GRAD_MASKED, e->operand),
                                                        explain_numbers(STAGE_MASKED, e->factor)},
                                              .of_items = true,
                                              .prepare = prepare_places},
                      explain_row(e, stage, place, true)[place.head]);
}

/* --- by attn_mask ------------------------------------------------------------------------------------------------- */

/* A number of attn_mask, by its axes; 0 along broadcast ones. */
struct entry {
    size_t axes[4]; /* item, head, query, key */
};

static bool is_used(const struct mask *mask, const struct entry *entry, struct explain_place place)
{
    const size_t at[] = {place.item, place.head, place.row};
    for (size_t axis = 0; axis < 3; axis++)
        if (mask->strides[axis] != 0 && at[axis] != entry->axes[axis])
            return false;
    return true;
}

/* What a row adds: grad_masked of the key, or of all keys that share the number. False: the row has no allowed key. */
static bool load_share(struct explanation *e, struct explain_place place, const struct entry *entry, double *share)
{
    const struct mask *mask = &e->problem->mask;
    const size_t first = mask->strides[3] == 0 ? 0 : entry->axes[3];
    const size_t end = mask->strides[3] == 0 ? memory_smaller(mask->masked_keys, e->problem->size.keys) : first + 1;
    bool sees = false;
    *share = 0;
    explain_load(e, STAGE_GRAD_MASKED, place, e->factor);
    for (size_t key = first; key < end; key++) {
        *share += e->factor[key];
        sees = sees || explain_rule(e, place, key) == MASK_ALLOWS;
    }
    return sees;
}

/* Lists the rows that use it and have an allowed key; returns how many have none. */
static size_t load_shares(struct explanation *e, const struct explain_lines *sum, const struct entry *entry)
{
    const struct problem *problem = e->problem;
    size_t blind = 0;
    e->listed_count = 0;
    for (size_t term = 0; term < problem->size.items * problem->size.heads * problem->chosen.row_count; term++) {
        const struct explain_place place = explain_term_place(e, sum, term);
        if (!is_used(&problem->mask, entry, place))
            continue;
        if (load_share(e, place, entry, &e->operand[term]))
            e->listed[e->listed_count++] = term;
        else
            blind++;
    }
    return blind;
}

/* Writes "head 2, query journey, key 3", without broadcast axes. */
static void say_entry(const struct explanation *e, const struct entry *entry, char *what, size_t size)
{
    static const char *const NAMES[] = {"item", "head", "query", "key"};
    const struct mask *mask = &e->problem->mask;
    struct text text = text_begin(what, size);
    for (size_t axis = 0; axis < 4; axis++)
        if (mask->strides[axis] != 0)
            text_add(&text, "%s%s %zu", text.length > 0 ? ", " : "", NAMES[axis], entry->axes[axis] + 1);
    if (text.length == 0)
        text_add(&text, "the number");
    if (mask->strides[3] == 0)
        text_add(&text, ": for all keys of a row");
}

static void write_entry(struct explanation *e, struct explain_place place, size_t column)
{
    const struct problem *problem = e->problem;
    const struct tensor *mask = &problem->mask.attn_mask;
    const size_t heads = mask->rank > 2 ? mask->shape[mask->rank - 3] : 1;
    const struct entry entry = {{place.item / heads, place.item % heads, place.row, column}};
    const struct explain_lines sum = {.over = EXPLAIN_TERMS,
                                      .terms = "a",
                                      .given = {explain_numbers(STAGE_GRAD_MASKED, e->operand)},
                                      .of_items = true,
                                      .of_heads = problem->size.has_heads};
    char what[96];
    const size_t blind = load_shares(e, &sum, &entry);
    say_entry(e, &entry, what, sizeof what);
    explain_heading(e, STAGE_GRAD_ATTN_MASK, place, what);
    if (e->listed_count > 0)
        explain_write_sum(e, STAGE_GRAD_ATTN_MASK, sum.place, NULL, &sum,
                          explain_row(e, STAGE_GRAD_ATTN_MASK, place, true)[column]);
    if (blind > 0)
        explain_note(e, "(%zu row%s of scores %s no allowed key of it: 0)", blind, blind == 1 ? "" : "s",
                     blind == 1 ? "has" : "have");
}

/* Explains all numbers of attn_mask, or the cell's. */
static void explain_attn_mask(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const struct tensor *mask = &problem->mask.attn_mask;
    const struct cell *cell = &problem->chosen.cell;
    const size_t columns = mask->shape[mask->rank - 1], rows = mask->rank > 1 ? mask->shape[mask->rank - 2] : 1;
    const size_t heads = mask->rank > 2 ? mask->shape[mask->rank - 3] : 1;
    const struct explain_range all = {0, tensor_count(mask) / columns, false}, of_row = {0, columns, false};
    (void)stage;
    if (problem->chosen.has_cell) {
        place.item = (cell->item == SIZE_MAX ? 0 : cell->item) * heads + (cell->head == SIZE_MAX ? 0 : cell->head);
        place.row = cell->row == SIZE_MAX ? 0 : cell->row;
        write_entry(e, place, cell->column);
        return;
    }
    for (size_t row = 0; row < all.end; row = explain_next(e, all, row)) {
        place.item = row / rows;
        place.row = row % rows;
        for (size_t column = 0; column < columns; column = explain_next(e, of_row, column))
            write_entry(e, place, column);
        if (explain_next(e, all, row) > row + 1)
            explain_note(e, "… %zu more rows …", explain_next(e, all, row) - row - 1);
    }
}

const struct stage_functions stage_grad_value = {.formula = formula_value, .explain = explain_of_keys};
const struct stage_functions stage_grad_key = {.formula = formula_key, .explain = explain_of_keys};
const struct stage_functions stage_grad_sinks = {
    .applies = has_sinks,
    .lack = "there are no sinks; expected \"sinks\" in the input",
    .formula_words = "- sum(exp(sink - lse) x delta) over the queries, delta = sum(weights x grad_weights)",
    .explain = explain_sinks};
const struct stage_functions stage_grad_alibi_slopes = {
    .applies = has_slopes,
    .lack = "no slopes were given; expected \"alibi_slopes\" in the input",
    .formula = formula_slopes,
    .explain = explain_slopes};
const struct stage_functions stage_grad_attn_mask = {
    .applies = has_numbers,
    .lack = "there is no attn_mask of numbers; a boolean one has no gradient",
    .formula_words = "grad_masked, summed over the axes along which attn_mask is broadcast",
    .explain = explain_attn_mask};
