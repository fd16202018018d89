/* SPDX-License-Identifier: MIT */
/* result -> CSV (RFC 4180, lines that end in a newline alone): one rectangular table for spreadsheets and scripts.
 *
 * The first line names the columns: stage; item and head where a table has them; row, the position; token, where the
 * input has tokens; 1, 2, ... for the columns of tables such as query; and last, for tables of T x T, the keys' tokens,
 * those that would not be the name of one column alone with their positions: saw.3, saw.10.
 * Each further line is one row of one table, whose other columns are empty; lse has a row for each query. */
#include "write/writing.h"

#include "base/text.h"
#include "write/table_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POSITION_BYTES = 24, /* of ".3" */
    SHOWN_BYTES = 4,     /* that a byte of a token may become */
    SHORTEST = -1,       /* as many decimals as a number needs to be read back */
};

struct layout {
    bool items, heads, tokens;
    size_t features; /* columns 1, 2, ... */
    size_t keys;     /* columns of T x T tables */
};

struct csv {
    struct result *result;
    struct output *output;
    int decimals;
    struct layout layout;
    const char **tokens; /* (keys) the name of each column; NULL: by position alone */
    bool *positioned;    /* (keys) whether the position follows the token */
};

/* --- fields ------------------------------------------------------------------------------------------------------ */

/* Spreadsheets take a text for a formula if it begins with one of these signs, the last four of them double-width,
 * unless it is that sign alone. */
static bool looks_like_formula(const char *text, const char *behind)
{
    static const uint32_t SIGNS[] = {'=', '+', '-', '@', 0xff1d, 0xff0b, 0xff0d, 0xff20};
    const uint32_t first = text[0] != '\0' ? text_next(&text) : 0;
    for (size_t i = 0; i < sizeof SIGNS / sizeof SIGNS[0]; i++)
        if (first == SIGNS[i])
            return text[0] != '\0' || behind[0] != '\0';
    return false;
}

void csv_text_field(const char *text, const char *behind, struct output *output)
{
    const bool quoted = text[strcspn(text, ",\"")] != '\0';
    output_print(output, "%s%s", quoted ? "\"" : "", looks_like_formula(text, behind) ? "'" : "");
    while (*text != '\0') {
        char piece[8], shown[16];
        const char *from = text;
        text_next(&text);
        if (*from == ' ') { /* data, not a label */
            output_write(output, from, 1);
            continue;
        }
        snprintf(piece, sizeof piece, "%.*s", (int)(text - from), from);
        text_shown(piece, sizeof shown, shown, sizeof shown);
        output_print(output, "%s%s", shown[0] == '"' ? "\"" : "", shown);
    }
    output_print(output, "%s%s", behind, quoted ? "\"" : "");
}

static void write_number(const struct csv *csv, enum dtype dtype, double number)
{
    char text[TABLE_TEXT_NUMBER_BYTES];
    if (isnan(number))
        output_write(csv->output, "NaN", 3);
    else if (isinf(number))
        output_print(csv->output, "%s", number > 0 ? "Infinity" : "");
    else if (csv->decimals == SHORTEST)
        output_write(csv->output, text, dtype_decimal(dtype, number, text));
    else
        output_print(csv->output, "%s",
                     table_text_number(dtype, (struct table_text_style){csv->decimals, false}, number, text));
}

static void write_commas(size_t count, struct output *output)
{
    for (size_t i = 0; i < count; i++)
        output_write(output, ",", 1);
}

/* --- the columns ------------------------------------------------------------------------------------------------- */

/* Tables with a column for each query are transposed: a row for each, and one number in it. */
static bool is_transposed(const struct result_table *table)
{
    return result_column_axis(table) == AXIS_QUERY;
}

static void lay_out(struct layout *layout, const struct result_table *table)
{
    const enum axis columns = result_column_axis(table);
    for (size_t axis = 0; axis + 1 < table->rank; axis++) {
        layout->items |= table->axes[axis] == AXIS_ITEM || table->axes[axis] == AXIS_PAGE;
        layout->heads |= table->axes[axis] == AXIS_HEAD;
    }
    if (columns == AXIS_TOKEN)
        layout->keys = result_columns(table);
    else
        layout->features = memory_larger(layout->features, is_transposed(table) ? 1 : result_columns(table));
}

/* --- a name for each key ----------------------------------------------------------------------------------------- */

/* A token as the header shows it. */
struct name {
    char *text;
    size_t key;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* Compares the first name plus its position to the second name alone. With a position it may need an apostrophe that
 * it does not need without. */
static int compare_positioned(const void *a, const void *b)
{
    const struct name *name = a;
    const char *text = ((const struct name *)b)->text;
    const size_t length = strlen(name->text);
    char position[POSITION_BYTES];
    snprintf(position, sizeof position, ".%zu", name->key + 1);
    if (looks_like_formula(name->text, position) && *text++ != '\'')
        return strcmp("'", text - 1);
    const int order = strncmp(name->text, text, length);
    return order != 0 ? order : strcmp(position, text + length);
}

/* Whether a column before those of the keys has that name. */
static bool is_taken(const struct layout *layout, const char *text)
{
    const bool number = text[0] >= '1' && text[0] <= '9' && text[strspn(text, "0123456789")] == '\0';
    return strcmp(text, "stage") == 0 || strcmp(text, "row") == 0 || (layout->items && strcmp(text, "item") == 0) ||
           (layout->heads && strcmp(text, "head") == 0) || (layout->tokens && strcmp(text, "token") == 0) ||
           (number && strtoull(text, NULL, 10) <= layout->features);
}

/* A column for each key, named by its token if no other column has that name, else by token and position. */
static enum status name_keys(struct csv *csv, struct arena *arena, struct error *error)
{
    const size_t keys = csv->layout.keys;
    struct name *names = arena_allocate(arena, keys, sizeof *names, error);
    csv->tokens = arena_allocate(arena, keys, sizeof *csv->tokens, error);
    csv->positioned = arena_allocate(arena, keys, sizeof *csv->positioned, error);
    if (names == NULL || csv->tokens == NULL || csv->positioned == NULL)
        return error->status;
    for (size_t key = 0; key < keys; key++) {
        size_t position;
        const char *token = csv->tokens[key] = result_label(csv->result, AXIS_TOKEN, 0, key, &position);
        const size_t size = SHOWN_BYTES * strlen(token) + SHOWN_BYTES + 1;
        char *text = arena_allocate(arena, size, 1, error);
        if (text == NULL)
            return error->status;
        strcpy(text, looks_like_formula(token, "") ? "'" : "");
        text_shown(token, SIZE_MAX, text + strlen(text), size - 1);
        names[key] = (struct name){text, key};
        csv->positioned[key] = false;
    }
    qsort(names, keys, sizeof *names, compare_names);
    for (size_t i = 0; i < keys; i++)
        if ((i > 0 && compare_names(&names[i], &names[i - 1]) == 0) ||
            (i + 1 < keys && compare_names(&names[i], &names[i + 1]) == 0) || is_taken(&csv->layout, names[i].text))
            /* The token gets its position; so does the token that has exactly this name, and so on. Two names with
             * positions always differ: they end differently. */
            for (const struct name *name = &names[i]; name != NULL && !csv->positioned[name->key];
                 name = bsearch(name, names, keys, sizeof *names, compare_positioned))
                csv->positioned[name->key] = true;
    return STATUS_OK;
}

static void write_header(const struct csv *csv)
{
    const struct layout *layout = &csv->layout;
    output_print(csv->output, "stage%s%s,row%s", layout->items ? ",item" : "", layout->heads ? ",head" : "",
                 layout->tokens ? ",token" : "");
    for (size_t column = 1; column <= layout->features; column++)
        output_print(csv->output, ",%zu", column);
    for (size_t key = 0; key < layout->keys; key++) {
        char position[POSITION_BYTES];
        snprintf(position, sizeof position, ".%zu", key + 1);
        output_write(csv->output, ",", 1);
        if (csv->tokens != NULL)
            csv_text_field(csv->tokens[key], csv->positioned[key] ? position : "", csv->output);
        else
            output_print(csv->output, "key %zu", key + 1);
    }
    output_write(csv->output, "\n", 1);
}

/* --- the rows ---------------------------------------------------------------------------------------------------- */

struct row_origin {
    size_t item, head;
    bool of_item, of_head;
    enum axis axis;
    size_t index;
};

static struct row_origin find_origin(const struct result_table *table, size_t matrix, size_t row)
{
    struct row_origin origin = {.axis = result_row_axis(table), .index = row};
    result_place(table, matrix, &origin.item, &origin.head);
    origin.of_item = result_is_of(table, AXIS_ITEM) || result_is_of(table, AXIS_PAGE);
    origin.of_head = result_is_of(table, AXIS_HEAD);
    if (result_is_of_tokens(table))
        origin = (struct row_origin){.axis = table->axes[table->rank - 3],
                                     .index = origin.head,
                                     .item = origin.item,
                                     .of_item = origin.of_item,
                                     .head = row,
                                     .of_head = true};
    return origin;
}

static void write_index(const struct csv *csv, bool column, bool here, size_t index)
{
    if (column && here)
        output_print(csv->output, ",%zu", index + 1);
    else if (column)
        output_write(csv->output, ",", 1);
}

/* "weights,1,2,3,starts": the fields before the numbers. */
static void write_origin(const struct csv *csv, const struct result_table *table, struct row_origin origin)
{
    size_t position;
    const char *token = result_label(csv->result, origin.axis, origin.item, origin.index, &position);
    csv_text_field(table->name, "", csv->output);
    write_index(csv, csv->layout.items, origin.of_item, origin.item);
    write_index(csv, csv->layout.heads, origin.of_head, origin.head);
    output_print(csv->output, ",%zu%s", position, csv->layout.tokens ? "," : "");
    if (token != NULL)
        csv_text_field(token, "", csv->output);
}

static void write_line(const struct csv *csv, const struct result_table *table, struct row_origin origin,
                       const double *numbers, size_t count)
{
    const bool of_keys = result_column_axis(table) == AXIS_TOKEN;
    write_origin(csv, table, origin);
    if (of_keys)
        write_commas(csv->layout.features, csv->output);
    for (size_t column = 0; column < count; column++) {
        output_write(csv->output, ",", 1);
        write_number(csv, table->dtype, numbers[column]);
    }
    write_commas(of_keys ? 0 : csv->layout.features - count + csv->layout.keys, csv->output);
    output_write(csv->output, "\n", 1);
}

/* Writes a row of numbers over the queries, of one item or head, as a column. */
static void write_transposed(const struct csv *csv, const struct result_table *table, struct row_origin origin,
                             const double *numbers)
{
    if (table->rank > 1 && origin.axis == AXIS_ITEM) {
        origin.item = origin.index;
        origin.of_item = true;
    } else if (table->rank > 1) {
        origin.head = table->head + origin.index;
        origin.of_head = true;
    }
    origin.axis = AXIS_QUERY;
    for (origin.index = 0; origin.index < result_columns(table); origin.index++)
        write_line(csv, table, origin, numbers + origin.index, 1);
}

static void write_table(const struct csv *csv, const struct result_table *table)
{
    double *numbers = csv->result->numbers;
    for (size_t matrix = 0; matrix < result_matrices(table); matrix++)
        for (size_t row = 0; row < result_rows(table) && !csv->output->failed; row++) {
            result_row(csv->result, table, matrix, row, numbers);
            if (is_transposed(table))
                write_transposed(csv, table, find_origin(table, matrix, row), numbers);
            else
                write_line(csv, table, find_origin(table, matrix, row), numbers, result_columns(table));
        }
}

enum status write_csv(const struct writing *writing)
{
    struct result *result = writing->result;
    struct csv csv = {.result = result,
                      .output = writing->output,
                      .decimals = writing->precision_said ? writing->precision : SHORTEST};
    csv.layout.tokens = problem_tokens(result->problem)->texts != NULL || result->problem->labels.keys.texts != NULL;
    for (size_t i = 0; i < result->table_count; i++)
        if (result_is_shown(result, &result->tables[i]))
            lay_out(&csv.layout, &result->tables[i]);
    if (csv.layout.keys > 0 && result->problem->labels.keys.texts != NULL && result->problem->labels.keys.lists == 1 &&
        name_keys(&csv, writing->arena, writing->error) != STATUS_OK)
        return writing->error->status;
    write_header(&csv);
    for (size_t i = 0; i < result->table_count; i++)
        if (result_is_shown(result, &result->tables[i]))
            write_table(&csv, &result->tables[i]);
    return STATUS_OK;
}
