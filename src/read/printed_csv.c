/* SPDX-License-Identifier: MIT */
#include "model/stages.h"
#include "read/printed_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One line: the indices of a row, from 1, or 0 where it has none, and its numbers. */
struct line {
    struct printed_piece name, token;
    size_t item, head, row;
    const char *numbers; /* its first field of a number */
    size_t used;         /* fields from there to the last that is not empty */
    const char *next;    /* the next line, or the end */
};

/* The order of a table's rows. */
struct order {
    size_t lines, items, heads, rows; /* 1 where it has no such axis */
    size_t of_item, run;              /* lines of the first item; leading lines of one head, or of one row */
    bool of_items, of_heads, heads_last;
    size_t columns;
    bool begins_empty; /* a row has no first number */
    bool is_truth;     /* the first field is true or false */
};

/* --- fields ------------------------------------------------------------------------------------------------------ */

static bool ends_field(const char *at)
{
    return *at == ',' || printed_ends_line(*at) || (*at == '\r' && printed_ends_line(at[1]));
}

/* Reads a field; moves *at to its comma or the end of the line. */
static struct printed_piece take_field(const char **at)
{
    const char *first = *at, *end = *first == '"' ? printed_end_of_quotes(first) : NULL;
    if (end != NULL && ends_field(end + 1)) {
        *at = end + 1;
        return (struct printed_piece){first + 1, (size_t)(end - first - 1), true};
    }
    while (!ends_field(*at))
        ++*at;
    return (struct printed_piece){first, (size_t)(*at - first), false};
}

static bool says(struct printed_piece field, const char *text)
{
    return field.length == strlen(text) && memcmp(field.text, text, field.length) == 0;
}

static bool take_word(const char **at, const char *word)
{
    const char *behind = *at;
    if (!says(take_field(&behind), word))
        return false;
    *at = behind + (*behind == ',');
    return true;
}

/* The next line that is not empty. */
static const char *behind_line(const char *at)
{
    while (*at == '\n' || (*at == '\r' && at[1] == '\n'))
        at++;
    return at + (*at == '\r' && at[1] == '\0');
}

/* --- the head line ----------------------------------------------------------------------------------------------- */

/* Skips "stage,item,head,row,token,", and notes which of these are there; false for another beginning. */
static bool take_places(const char **at, struct printed_csv *csv)
{
    *csv = (struct printed_csv){0};
    if (!take_word(at, "stage"))
        return false;
    csv->has_items = take_word(at, "item");
    csv->has_heads = take_word(at, "head");
    if (!take_word(at, "row"))
        return false;
    csv->has_tokens = take_word(at, "token");
    return true;
}

bool printed_csv_begins(const char *text)
{
    struct printed_csv csv;
    return take_places(&text, &csv);
}

bool printed_csv_head(struct printed_reader *reader, struct printed_csv *csv)
{
    const char *at = reader->at;
    char number[24];
    take_places(&at, csv);
    csv->tokens_first = strstr(at, "\ncu_seqlens_q,") != NULL || strstr(at, "\nblock_table,") != NULL;
    for (bool more = !ends_field(at) || *at == ','; more; more = *at == ',', at += more) {
        const struct printed_piece field = take_field(&at);
        snprintf(number, sizeof number, "%zu", csv->features + 1);
        if (csv->keys == 0 && says(field, number))
            csv->features++;
        else
            csv->keys++;
    }
    reader->at = at;
    if (csv->features + csv->keys == 0)
        return printed_fail_expected(reader, at, "columns of numbers after 'row'");
    reader->at = behind_line(at);
    return true;
}

/* --- lines ------------------------------------------------------------------------------------------------------- */

/* Reads an index from 1; an empty field is 0. */
static bool take_place(struct printed_reader *reader, const char **at, bool there, bool needed, size_t *place)
{
    *place = 0;
    if (!there)
        return true;
    const char *first = *at;
    const struct printed_piece field = take_field(at);
    const unsigned long long number = strtoull(first, NULL, 10);
    *place = (size_t)number;
    if (strspn(first, "0123456789") != field.length || field.length > 18 || *place != number ||
        (*place == 0 && (needed || field.length > 0)))
        return printed_fail_expected(reader, first, "a position from 1 on");
    *at += **at == ',';
    return true;
}

static bool read_line(struct printed_reader *reader, const struct printed_csv *csv, const char *at, struct line *line)
{
    const size_t expected = csv->features + csv->keys;
    size_t fields = 0;
    *line = (struct line){.numbers = at, .next = reader->in.end};
    line->name = take_field(&at);
    at += *at == ',';
    if (!take_place(reader, &at, csv->has_items, false, &line->item) ||
        !take_place(reader, &at, csv->has_heads, false, &line->head) ||
        !take_place(reader, &at, true, true, &line->row))
        return false;
    if (csv->has_tokens) {
        line->token = take_field(&at);
        at += *at == ',';
    }
    line->numbers = at;
    for (bool more = true; more; more = *at == ',', at += more) {
        fields++;
        line->used = take_field(&at).length > 0 ? fields : line->used;
    }
    if (fields != expected)
        return printed_fail(reader, at, "expected %zu fields of numbers, as the header has columns, got %zu", expected,
                            fields);
    line->next = behind_line(at);
    return true;
}

/* --- a table ----------------------------------------------------------------------------------------------------- */

static void note_line(struct order *order, const struct line *first, const struct line *line, const struct line *last)
{
    if (order->lines == 1)
        order->heads_last = line->row == first->row && line->item == first->item && line->head != first->head;
    order->items += line->item != last->item;
    order->of_item += order->items == 1;
    const bool goes_on = order->heads_last ? line->row == first->row : line->head == first->head;
    order->run += goes_on && order->run == order->lines && order->items == 1;
    order->columns = line->used > order->columns ? line->used : order->columns;
    order->begins_empty = order->begins_empty || ends_field(line->numbers);
    order->lines++;
}

/* Counts the lines of the table, and infers its axes. */
static bool find_order(struct printed_reader *reader, const struct printed_csv *csv, struct order *order)
{
    struct line first, line, last;
    if (!read_line(reader, csv, reader->at, &first))
        return false;
    *order = (struct order){.lines = 1,
                            .items = 1,
                            .of_item = 1,
                            .run = 1,
                            .columns = first.used,
                            .of_items = first.item > 0,
                            .of_heads = first.head > 0,
                            .begins_empty = ends_field(first.numbers),
                            .is_truth = *first.numbers == 't' || *first.numbers == 'f'};
    for (last = first; last.next < reader->in.end; last = line) {
        if (!read_line(reader, csv, last.next, &line))
            return false;
        if (!printed_is_same(&line.name, &first.name))
            break;
        note_line(order, &first, &line, &last);
    }
    order->heads = order->heads_last ? order->run : order->of_item / order->run;
    order->rows = order->heads_last ? order->of_item / order->run : order->run;
    if (order->lines != order->items * order->of_item || order->of_item % order->run != 0)
        return printed_fail(reader, last.next - (last.next[-1] == '\n'),
                            "'%.*s' ends within an item or a head; expected whole tables",
                            (int)memory_smaller(first.name.length, 40), first.name.text);
    return true;
}

/* Checks that line i of the table has the indices of that order; `rows`, the row numbers of the first matrix, are
 * filled on the way. */
static bool check_order(struct printed_reader *reader, const struct order *order, const struct line *line, size_t i,
                        const char *at, size_t *rows)
{
    const size_t matrix = order->heads * order->rows, item = i / matrix, within = i % matrix;
    const size_t head = order->heads_last ? within % order->heads : within / order->rows;
    const size_t row = order->heads_last ? within / order->heads : within % order->rows;
    if (line->item != (order->of_items ? item + 1 : 0) || line->head != (order->of_heads ? head + 1 : 0))
        return printed_fail(reader, at, "expected items and heads in their order, each with as many rows");
    if (item + head == 0 && row > 0 && line->row <= rows[row - 1])
        return printed_fail(reader, at, "row %zu comes after row %zu; write the rows in order, each once", line->row,
                            rows[row - 1]);
    if (item + head > 0 && line->row != rows[row])
        return printed_fail(reader, at, "expected row %zu, as the first item and head have it, got row %zu", rows[row],
                            line->row);
    rows[row] = line->row;
    return true;
}

/* Reads the numbers of one line, from field `first` on. */
static bool take_numbers(struct printed_reader *reader, struct printed_table *table, const struct line *line,
                         size_t first, size_t count)
{
    reader->at = line->numbers;
    for (size_t field = 0; field < first + count; field++) {
        const bool empty = ends_field(reader->at);
        if (field >= first && !empty && !printed_take(reader, table, "a number"))
            return false;
        if (field >= first && empty) {
            table->truth_failed = table->truth_failed == NULL ? reader->at : table->truth_failed;
            reader->digits[reader->count] = INT16_MIN;
            reader->numbers[reader->count++] = -INFINITY;
        } else if (!ends_field(reader->at)) {
            return printed_fail_expected(reader, reader->at, field < first ? "an empty field before the keys" : "','");
        }
        reader->at += *reader->at == ',';
    }
    return true;
}

/* Whether a single row under that name is a list, not a matrix of one row. */
static bool is_list(struct printed_piece name)
{
    static const char *const ENDS[] = {"bias",       "norm.weight",  "sinks",       "alibi_slopes",
                                       "kv_lengths", "cu_seqlens_q", "cu_seqlens_k"};
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
        const size_t length = strlen(ENDS[i]);
        if (name.length >= length && memcmp(name.text + name.length - length, ENDS[i], length) == 0)
            return true;
    }
    return false;
}

static void set_shape(struct printed_table *table, const struct order *order, bool has_rows, bool has_columns)
{
    const struct {
        bool there;
        size_t size;
    } AXES[] = {{order->of_items, order->items},
                {order->of_heads && !order->heads_last, order->heads},
                {has_rows, order->rows},
                {order->of_heads && order->heads_last, order->heads},
                {has_columns, order->columns}};
    for (size_t i = 0; i < sizeof AXES / sizeof AXES[0]; i++)
        if (AXES[i].there)
            table->shape[table->rank++] = AXES[i].size;
}

/* Finds the fields with the table's numbers. Fails rather than guesses. */
static bool find_columns(struct printed_reader *reader, const struct printed_csv *csv, struct printed_piece name,
                         struct order *order, size_t *first)
{
    const enum stage stage = stage_find(name.text, name.length);
    const bool of_keys = stage_exists(stage) && stage_is_square(stage), named = of_keys && csv->keys > 0;
    const bool ends_before = order->columns < csv->features;
    *first = named ? csv->features : 0;
    if (of_keys && !named && order->begins_empty)
        return printed_fail(reader, reader->at,
                            "keys are called 1, 2, ..., as columns are: which are they? Write other tokens, or "
                            "a result in JSON");
    if (!of_keys && order->columns > csv->features)
        return printed_fail(reader, reader->at, "numbers in the columns of keys; put them into columns 1, 2, ...");
    if (says(name, "attn_mask") && ends_before && !order->is_truth)
        return printed_fail(reader, reader->at,
                            "attn_mask has fewer columns than others, or ends in minus infinity: which? Give a "
                            "result in JSON");
    order->columns = named ? csv->keys : of_keys ? csv->features : order->columns > 0 ? order->columns : 1;
    return true;
}

bool printed_csv_table(struct printed_reader *reader, const struct printed_csv *csv, struct printed_piece *name,
                       struct printed_table *table)
{
    struct order order = {0};
    struct line line;
    size_t first;
    *table = (struct printed_table){.first = reader->count};
    const char *at = reader->at;
    *name = take_field(&at);
    const enum stage stage = stage_find(name->text, name->length);
    const bool labelled = csv->has_tokens && (says(*name, "inputs") || says(*name, "key_inputs"));
    if (!find_order(reader, csv, &order) || !find_columns(reader, csv, *name, &order, &first))
        return false;
    /* With one row or one head both orders look the same: the name decides which axis comes first. */
    if (order.heads == 1 || order.rows == 1)
        order.heads_last = says(*name, "key_cache") || says(*name, "value_cache") ||
                           (stage_exists(stage) && STAGES[stage].operand && csv->tokens_first);
    size_t *rows = arena_allocate(reader->arena, order.rows, sizeof *rows, reader->error);
    if (rows == NULL)
        return false;
    at = reader->at;
    for (size_t i = 0; i < order.lines; i++, at = line.next) {
        if (!read_line(reader, csv, at, &line) || !check_order(reader, &order, &line, i, at, rows) ||
            !take_numbers(reader, table, &line, first, order.columns))
            return false;
        table->rows++;
        if (labelled)
            reader->labels[table->labels++] = line.token;
    }
    table->row_numbers = rows;
    table->row_count = order.rows;
    set_shape(table, &order, order.lines > 1 || !is_list(*name),
              !stage_exists(stage) || stage_has_columns(stage) || order.columns > 1);
    reader->at = at;
    return true;
}
