#include "stage/gradient.h"

#include "stage/masked.h"

#include <stdio.h>

/* A cell of a key that the row does not see. */
static void say_masked(struct explanation *e, struct explain_place place)
{
    const size_t key = explain_keys(e).first;
    char rule[WORKED_LINE_CELL_BYTES / 2], words[WORKED_LINE_CELL_BYTES];
    masked_rule(e, place, key, rule, sizeof rule);
    snprintf(words, sizeof words, "masked: 0, since %s", rule);
    explain_key_line(e, EXPLAIN_LINES, place.item, key);
    worked_line_words(&e->lines, words);
    worked_line_end(&e->lines);
}

bool gradient_begin(struct explanation *e, enum stage stage, struct explain_place place, const char *what)
{
    explain_list_seen(e, place);
    if (e->seen_count == 0) {
        explain_heading(e, stage, place, "every key is masked: 0, no weight can move");
        return false;
    }
    if (!explain_one_key(e) || explain_rule(e, place, explain_keys(e).first) == MASK_ALLOWS) {
        explain_heading(e, stage, place, what);
        return true;
    }
    explain_heading(e, stage, place, "");
    say_masked(e, place);
    return false;
}

struct explain_range gradient_keys(struct explanation *e)
{
    if (explain_one_key(e)) {
        e->seen[0] = explain_keys(e).first;
        e->seen_count = 1;
    }
    return (struct explain_range){0, e->seen_count, false};
}

void gradient_end(struct explanation *e)
{
    if (!explain_one_key(e))
        explain_note_masked(e, "0");
}

void gradient_kept(struct explanation *e, enum stage stage, struct explain_place place, const char *why)
{
    if (!gradient_begin(e, stage, place, why))
        return;
    const struct explain_range keys = gradient_keys(e);
    explain_load_made(e, stage, place, e->made);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        explain_key_line(e, EXPLAIN_LINES, place.item, e->seen[i]);
        worked_line_term(&e->lines, explain_number(e, (int)stage, e->made[e->seen[i]]));
        worked_line_end(&e->lines);
        explain_gap(e, keys, i, "keys", NULL);
    }
    gradient_end(e);
}

void gradient_write_term(struct explanation *e, const struct gradient_term *term, double left, double right)
{
    worked_line_term(&e->lines, explain_number(e, term->left_kind, left));
    worked_line_times(&e->lines, explain_number(e, term->right_kind, right));
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, term->kind, left * right));
    worked_line_end(&e->lines);
}

void gradient_load_row(const struct projection *projection, size_t row, size_t columns, double *numbers)
{
    const struct tensor *weight = &projection->weight;
    if (!projection->transposed) {
        tensor_load(weight, row * columns, columns, numbers);
        return;
    }
    for (size_t column = 0; column < columns; column++)
        tensor_load(weight, column * weight->shape[1] + row, 1, numbers + column);
}

struct explain_place gradient_place(const struct explanation *e, const struct gradient_sum *sum, size_t term)
{
    const size_t rows = sum->of_keys ? e->problem->keys : e->problem->row_count;
    struct explain_place place = sum->first;
    if (sum->over_items && sum->heads) {
        place.item = term / rows / e->problem->heads;
        place.head = term / rows % e->problem->heads;
    } else {
        *(sum->over_items ? &place.item : &place.head) += term / rows;
    }
    place.row = term % rows;
    return place;
}

static void write_line_of(struct explanation *e, const struct gradient_sum *sum, size_t term, gradient_right *right,
                          size_t column)
{
    explain_row_line(e, EXPLAIN_LINES, gradient_place(e, sum, term),
                     (struct explain_row){sum->of_keys, sum->over_items && e->problem->has_batch, sum->heads});
    if (right != NULL) {
        gradient_write_term(e, &sum->kinds, e->operand[term], right(e, sum, term, column));
        return;
    }
    worked_line_term(&e->lines, explain_number(e, sum->kinds.left_kind, e->operand[term]));
    worked_line_end(&e->lines);
}

void gradient_write_sum(struct explanation *e, const struct gradient_sum *sum, gradient_right *right, size_t column)
{
    const struct explain_range terms = {0, e->seen_count, false};
    worked_line_begin_sum(&e->lines);
    for (size_t i = 0; i < terms.end; i = explain_next(e, terms, i)) {
        double subtotal = 0;
        write_line_of(e, sum, e->seen[i], right, column);
        for (size_t j = i + 1; j < explain_next(e, terms, i); j++)
            subtotal += e->operand[e->seen[j]] * (right != NULL ? right(e, sum, e->seen[j], column) : 1);
        explain_gap(e, terms, i, "terms", explain_number(e, (int)sum->stage, subtotal));
    }
    worked_line_end_sum(&e->lines, EXPLAIN_LINES, explain_number(e, (int)sum->stage, sum->result));
}
