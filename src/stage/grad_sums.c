/* The gradients that are sums over queries: by key and value, sinks and attn_mask. compute/backward.c makes them. */
#include "stage/gradient.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *of_group(const struct problem *problem)
{
    return problem->heads > problem->kv_heads ? ", summed over the heads of a group" : "";
}

static void formula_value(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    text_add(text, "%s^T . grad_context%s", problem->dropout > 0 ? "dropped" : "weights", of_group(problem));
}

static void formula_key(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    text_add(text, "grad_scores^T . query%s", of_group(problem));
}

/* --- what the mask has of its own --------------------------------------------------------------------------------- */

static bool has_sinks(const struct problem *problem)
{
    return problem->mask.sinks != NULL;
}

static enum status check_sinks(const struct problem *problem, const char *place, struct error *error)
{
    return has_sinks(problem) ? STATUS_OK
                              : error_usage(error, "%s: there are no sinks; expected \"sinks\" in the input", place);
}

static void formula_sinks(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)problem;
    (void)stage;
    text_add(text, "- sum(exp(sink - lse) x delta) over the queries, delta = sum(weights x grad_weights)");
}

/* Those that --alibi makes are no input. */
static bool has_slopes(const struct problem *problem)
{
    size_t i = 0;
    while (i < problem->beside_count && strcmp(problem->beside[i].name, "alibi_slopes") != 0)
        i++;
    return i < problem->beside_count;
}

static enum status check_slopes(const struct problem *problem, const char *place, struct error *error)
{
    return has_slopes(problem)
               ? STATUS_OK
               : error_usage(error, "%s: there are no slopes that were given; expected \"alibi_slopes\" in the input",
                             place);
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
    return problem->mask.attn_mask.rank > 0 && !problem->mask_made && problem->mask.attn_mask.dtype != DTYPE_BOOL;
}

static enum status check_attn_mask(const struct problem *problem, const char *place, struct error *error)
{
    return has_numbers(problem)
               ? STATUS_OK
               : error_usage(error, "%s: there is no attn_mask of numbers, and no other has a gradient", place);
}

static void formula_attn_mask(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)problem;
    (void)stage;
    text_add(text, "grad_masked, summed over the axes along which attn_mask is broadcast");
}

/* --- explained ---------------------------------------------------------------------------------------------------- */

/* --- by key and value --------------------------------------------------------------------------------------------- */

/* A number of the row of query, or of grad_context. */
static double number_of_row(struct explanation *e, const struct gradient_sum *sum, size_t term, size_t column)
{
    explain_load(e, (enum stage)sum->kinds.right_kind, gradient_place(e, sum, term), e->factor);
    return e->factor[column];
}

/* The queries of the heads that share this one of key and value and have a part in it, into e->seen; and by term their
 * grad_scores, or dropped, of the place's key, into e->operand. Returns how many have none. */
static size_t load_terms(struct explanation *e, const struct gradient_sum *sum, size_t key)
{
    const struct problem *problem = e->problem;
    const size_t count = problem->heads / problem->kv_heads * problem->row_count;
    e->seen_count = 0;
    for (size_t term = 0; term < count; term++) {
        const struct explain_place place = gradient_place(e, sum, term);
        if (!explain_adds(e, sum->stage, place, key))
            continue;
        explain_load(e, (enum stage)sum->kinds.left_kind, place, e->factor);
        e->operand[term] = e->factor[key];
        e->seen[e->seen_count++] = term;
    }
    return count - e->seen_count;
}

static void note_blind(struct explanation *e, const struct gradient_sum *sum, size_t blind)
{
    if (blind > 0)
        explain_note(e, "(%zu quer%s %s not see it: 0%s)", blind, blind == 1 ? "y" : "ies", blind == 1 ? "does" : "do",
                     sum->heads ? ", counted over the heads" : "");
}

/* Column by column; the place's head is one of key and value. */
static void explain_of_keys(struct explanation *e, enum stage stage, struct explain_place place,
                            const struct gradient_term *kinds)
{
    const size_t group = e->problem->heads / e->problem->kv_heads;
    const struct explain_range columns = explain_columns(e, stage);
    struct gradient_sum sum = {
        .stage = stage, .heads = group > 1, .kinds = *kinds, .first = {place.item, place.head * group, 0}};
    const struct explain_place of_query = {place.item, place.head * group, place.row};
    const size_t blind = load_terms(e, &sum, place.row);
    char what[64];
    explain_load_made(e, stage, of_query, e->made);
    for (size_t column = columns.first; column < columns.end; column = explain_next(e, columns, column)) {
        snprintf(what, sizeof what, "column %zu", column + 1);
        explain_heading(e, stage, place, what);
        sum.result = e->made[column];
        if (e->seen_count > 0)
            gradient_write_sum(e, &sum, number_of_row, column);
        note_blind(e, &sum, blind);
        if (explain_next(e, columns, column) > column + 1)
            explain_note(e, "… %zu more columns …", explain_next(e, columns, column) - column - 1);
    }
}

static void explain_value(struct explanation *e, enum stage stage, struct explain_place place)
{
    const int weights = e->problem->dropout > 0 ? STAGE_DROPPED : STAGE_WEIGHTS;
    explain_of_keys(e, stage, place, &(struct gradient_term){weights, STAGE_GRAD_CONTEXT, STAGE_GRAD_VALUE});
}

static void explain_key(struct explanation *e, enum stage stage, struct explain_place place)
{
    static const struct gradient_term KINDS = {STAGE_GRAD_SCORES, STAGE_QUERY, STAGE_GRAD_KEY};
    explain_of_keys(e, stage, place, &KINDS);
}

/* --- by sinks ----------------------------------------------------------------------------------------------------- */

/* The share of a row that its sink takes: exp(sink - largest) over the sum of all exponentials. */
static double sink_weight(struct explanation *e, struct explain_place place)
{
    const double sink = e->problem->mask.sinks[place.head];
    double largest = sink, sum = 0;
    explain_load(e, STAGE_MASKED, place, e->factor);
    for (size_t i = 0; i < e->problem->keys; i++)
        largest = e->factor[i] > largest ? e->factor[i] : largest;
    for (size_t i = 0; i < e->problem->keys; i++)
        sum += exp(e->factor[i] - largest);
    return exp(sink - largest) / (sum + exp(sink - largest));
}

static double weight_of_row(struct explanation *e, const struct gradient_sum *sum, size_t term, size_t column)
{
    (void)column;
    return sink_weight(e, gradient_place(e, sum, term));
}

/* minus delta of each row that sees a key, by term, into e->operand. */
static void load_deltas(struct explanation *e, const struct gradient_sum *sum, size_t count)
{
    const size_t keys = e->problem->keys;
    e->seen_count = 0;
    for (size_t term = 0; term < count; term++) {
        const struct explain_place place = gradient_place(e, sum, term);
        double delta = 0;
        bool empty = true;
        explain_load(e, STAGE_WEIGHTS, place, e->factor);
        explain_load(e, STAGE_GRAD_WEIGHTS, place, e->made);
        for (size_t key = 0; key < keys; key++)
            if (explain_rule(e, place, key) == MASK_ALLOWS) {
                delta += e->factor[key] * e->made[key];
                empty = false;
            }
        e->operand[term] = 0 - delta;
        if (!empty)
            e->seen[e->seen_count++] = term;
    }
}

static void explain_sinks(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    struct gradient_sum sum = {.stage = stage,
                               .over_items = true,
                               .kinds = {STAGE_GRAD_WEIGHTS, STAGE_WEIGHTS, STAGE_GRAD_SINKS},
                               .first = {0, place.head, 0}};
    load_deltas(e, &sum, problem->items * problem->row_count);
    explain_load_made(e, stage, place, e->made);
    sum.result = e->made[place.head];
    explain_heading(e, stage, place, "minus delta x the share that the sink takes");
    if (e->seen_count > 0)
        gradient_write_sum(e, &sum, weight_of_row, 0);
    if (e->seen_count > 0)
        explain_note(e, "(grad_masked shows how delta comes about)");
    else
        explain_note(e, "no query sees a key: 0");
}

/* --- by slopes ---------------------------------------------------------------------------------------------------- */

/* What a row adds: grad_masked of each key that it sees . its place, which a slope is multiplied with; the factors go
 * to e->operand and e->factor. */
static double load_places(struct explanation *e, struct explain_place place, struct explain_dot *dot)
{
    const struct mask *mask = &e->problem->mask;
    dot->count = 0;
    dot->result = 0;
    explain_load(e, STAGE_GRAD_MASKED, place, e->operand);
    for (size_t key = 0; key < e->problem->keys; key++) {
        if (explain_rule(e, place, key) != MASK_ALLOWS)
            continue;
        e->operand[dot->count] = e->operand[key];
        e->factor[dot->count] =
            (0 - mask_place(mask, place.item, e->problem->rows[place.row], key)) / mask->places.root;
        dot->result += e->operand[dot->count] * e->factor[dot->count];
        dot->count++;
    }
    return dot->result;
}

static void explain_slopes(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const size_t queries = problem->row_count, count = problem->items * queries;
    const struct explain_range all = {0, count, false};
    struct explain_dot dot = {.left = e->operand,
                              .right = e->factor,
                              .left_kind = STAGE_GRAD_MASKED,
                              .right_kind = STAGE_MASKED,
                              .kind = (int)stage};
    const struct gradient_sum sum = {.stage = stage, .over_items = true, .first = {0, place.head, 0}};
    explain_heading(e, stage, place, "gradient x what the slope is multiplied with");
    worked_line_begin_sum(&e->lines);
    for (size_t term = 0; term < count; term = explain_next(e, all, term)) {
        const struct explain_place at = gradient_place(e, &sum, term);
        double subtotal = 0;
        load_places(e, at, &dot);
        if (dot.count > 0) {
            explain_row_line(e, EXPLAIN_LINES, at, (struct explain_row){false, problem->has_batch, false});
            explain_dot(e, &dot);
        }
        for (size_t next = term + 1; next < explain_next(e, all, term); next++)
            subtotal += load_places(e, gradient_place(e, &sum, next), &dot);
        explain_gap(e, all, term, "terms", explain_number(e, (int)stage, subtotal));
    }
    explain_load_made(e, stage, place, e->made);
    worked_line_end_sum(&e->lines, EXPLAIN_LINES, explain_number(e, (int)stage, e->made[place.head]));
}

/* --- by attn_mask ------------------------------------------------------------------------------------------------- */

/* Which number of attn_mask: its own axes, each 0 where it is broadcast. */
struct entry {
    size_t axes[4]; /* item, head, query, key */
};

static struct entry entry_of(const struct mask *mask, size_t matrix, size_t row, size_t column)
{
    const struct tensor *tensor = &mask->attn_mask;
    const size_t heads = tensor->rank > 2 ? tensor->shape[tensor->rank - 3] : 1;
    return (struct entry){{matrix / heads, matrix % heads, row, column}};
}

/* Whether the number is used there. */
static bool is_used(const struct mask *mask, const struct entry *entry, struct explain_place place)
{
    const size_t at[] = {place.item, place.head, place.row};
    for (size_t axis = 0; axis < 3; axis++)
        if (mask->strides[axis] != 0 && at[axis] != entry->axes[axis])
            return false;
    return true;
}

/* What a row adds: grad_masked of the key, or of all keys that share the number. False where the row sees none. */
static bool load_share(struct explanation *e, struct explain_place place, const struct entry *entry, double *share)
{
    const struct mask *mask = &e->problem->mask;
    const size_t first = mask->strides[3] == 0 ? 0 : entry->axes[3];
    const size_t end = mask->strides[3] == 0 ? memory_smaller(mask->masked_keys, e->problem->keys) : first + 1;
    bool sees = false;
    *share = 0;
    explain_load(e, STAGE_GRAD_MASKED, place, e->factor);
    for (size_t key = first; key < end; key++) {
        *share += e->factor[key];
        sees = sees || explain_rule(e, place, key) == MASK_ALLOWS;
    }
    return sees;
}

/* Lists the rows that use it and see a key; returns how many see none. */
static size_t load_shares(struct explanation *e, const struct gradient_sum *sum, const struct entry *entry)
{
    const struct problem *problem = e->problem;
    size_t blind = 0;
    e->seen_count = 0;
    for (size_t term = 0; term < problem->items * problem->heads * problem->row_count; term++) {
        const struct explain_place place = gradient_place(e, sum, term);
        if (!is_used(&problem->mask, entry, place))
            continue;
        if (load_share(e, place, entry, &e->operand[term]))
            e->seen[e->seen_count++] = term;
        else
            blind++;
    }
    return blind;
}

/* "head 2, query journey, key 3": those of its axes that are not broadcast. */
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
        text_add(&text, ": of all keys of a row");
}

static void write_entry(struct explanation *e, struct explain_place place, size_t column)
{
    const struct problem *problem = e->problem;
    const struct entry entry = entry_of(&problem->mask, place.item, place.row, column);
    struct gradient_sum sum = {.stage = STAGE_GRAD_ATTN_MASK,
                               .over_items = true,
                               .heads = problem->has_heads,
                               .kinds = {STAGE_GRAD_MASKED, STAGE_GRAD_MASKED, STAGE_GRAD_ATTN_MASK}};
    char what[96];
    const size_t blind = load_shares(e, &sum, &entry);
    explain_load_made(e, STAGE_GRAD_ATTN_MASK, place, e->made);
    sum.result = e->made[column];
    say_entry(e, &entry, what, sizeof what);
    explain_heading(e, STAGE_GRAD_ATTN_MASK, place, what);
    if (e->seen_count > 0)
        gradient_write_sum(e, &sum, NULL, 0);
    if (blind > 0)
        explain_note(e, "(%zu row%s of scores see%s no key of it: 0)", blind, blind == 1 ? "" : "s",
                     blind == 1 ? "s" : "");
}

/* All numbers of attn_mask, or a cell's. */
static void explain_attn_mask(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const struct tensor *mask = &problem->mask.attn_mask;
    const struct cell *cell = &problem->cell;
    const size_t columns = mask->shape[mask->rank - 1], rows = mask->rank > 1 ? mask->shape[mask->rank - 2] : 1;
    const size_t heads = mask->rank > 2 ? mask->shape[mask->rank - 3] : 1;
    const struct explain_range all = {0, tensor_count(mask) / columns, false}, of_row = {0, columns, false};
    (void)stage;
    if (problem->has_cell) {
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

const struct stage_functions stage_grad_value = {.formula = formula_value, .explain = explain_value};
const struct stage_functions stage_grad_key = {.formula = formula_key, .explain = explain_key};
const struct stage_functions stage_grad_sinks = {
    .applies = has_sinks, .check = check_sinks, .formula = formula_sinks, .explain = explain_sinks};
const struct stage_functions stage_grad_alibi_slopes = {
    .applies = has_slopes, .check = check_slopes, .formula = formula_slopes, .explain = explain_slopes};
const struct stage_functions stage_grad_attn_mask = {
    .applies = has_numbers, .check = check_attn_mask, .formula = formula_attn_mask, .explain = explain_attn_mask};
