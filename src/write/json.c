#include "write/json.h"

#include "base/decimal.h"
#include "base/text.h"
#include "base/version.h"
#include "write/writing.h"

#include <math.h>
#include <string.h>

/* What would act on a terminal or is not seen, as one or two code units. */
static void write_escape(uint32_t point, struct output *output)
{
    if (point == '\n' || point == '\t')
        output_write(output, point == '\n' ? "\\n" : "\\t", 2);
    else if (point < 0x10000)
        output_print(output, "\\u%04x", (unsigned)point);
    else
        output_print(output, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (point >> 10)),
                     (unsigned)(0xdc00 + (point & 0x3ff)));
}

void write_json_string(const char *text, struct output *output)
{
    output_write(output, "\"", 1);
    while (*text != '\0') {
        const char *from = text;
        const uint32_t point = text_next(&text);
        if (point == '"' || point == '\\')
            output_print(output, "\\%c", (char)point);
        else if (text_is_hidden(point))
            write_escape(point, output);
        else
            output_write(output, from, (size_t)(text - from));
    }
    output_write(output, "\"", 1);
}

void write_json_number(double number, enum dtype dtype, struct output *output)
{
    char text[DECIMAL_BYTES];
    if (isfinite(number))
        output_write(output, text, dtype_decimal(dtype, number, text));
    else if (isnan(number))
        output_write(output, "\"NaN\"", 5);
    else if (number > 0)
        output_write(output, "\"Infinity\"", 10);
    else
        output_write(output, "null", 4);
}

static void write_key(const char *name, struct output *output)
{
    output_write(output, ",\n", 2);
    write_json_string(name, output);
    output_write(output, ": ", 2);
}

void write_json_settings(const struct problem *problem, struct output *output)
{
    for (size_t i = 0; i < problem->setting_count; i++) {
        const struct setting *setting = &problem->settings[i];
        output_print(output, "%s", i ? ", " : "{");
        write_json_string(setting->name, output);
        output_print(output, ": ");
        if (setting->kind == SETTING_TEXT)
            write_json_string(setting->text, output);
        else
            output_print(output, "%s", setting->text);
    }
    output_write(output, "}", 1);
}

static void write_labels(const struct token_labels *labels, struct output *output)
{
    output_print(output, "%s", labels->nested ? "[" : "");
    for (size_t list = 0; list < labels->lists; list++) {
        output_print(output, "%s[", list ? ",\n  " : "");
        for (size_t token = 0; token < labels->count; token++) {
            output_print(output, "%s", token ? ", " : "");
            write_json_string(labels->texts[list * labels->count + token], output);
        }
        output_write(output, "]", 1);
    }
    output_print(output, "%s", labels->nested ? "]" : "");
}

void write_json_tokens(const struct problem *problem, struct output *output)
{
    write_labels(problem_tokens(problem), output);
}

void write_json_key_tokens(const struct problem *problem, struct output *output)
{
    write_labels(&problem->labels, output);
}

static void write_row(const double *numbers, size_t columns, enum dtype dtype, struct output *output)
{
    output_write(output, "[", 1);
    for (size_t column = 0; column < columns; column++) {
        if (column > 0)
            output_write(output, ", ", 2);
        write_json_number(numbers[column], dtype, output);
    }
    output_write(output, "]", 1);
}

/* Of the leading axes of a matrix, those that begin with it (it is the first along them and all further ones). */
static size_t axes_begun(const struct result_table *table, size_t matrix)
{
    size_t begun = 0;
    for (size_t axis = table->rank < 2 ? 0 : table->rank - 2; axis-- > 0; begun++) {
        if (matrix % table->shape[axis] != 0)
            break;
        matrix /= table->shape[axis];
    }
    return begun;
}

static void write_brackets(char bracket, size_t count, struct output *output)
{
    while (count-- > 0)
        output_write(output, &bracket, 1);
}

static void write_matrix(struct result *result, const struct result_table *table, size_t matrix, struct output *output)
{
    const size_t rows = result_rows(table), columns = result_columns(table);
    for (size_t row = 0; row < rows && !output->failed; row++) {
        if (row > 0)
            output_write(output, ",\n  ", 4);
        result_row(result, table, matrix, row, result->numbers);
        write_row(result->numbers, columns, table->dtype, output);
    }
}

static void write_table(struct result *result, const struct result_table *table, struct output *output)
{
    const size_t matrices = result_matrices(table);
    const size_t nested = table->rank > 1;
    write_key(table->name, output);
    for (size_t matrix = 0; matrix < matrices; matrix++) {
        if (matrix > 0)
            output_write(output, ",\n  ", 4);
        write_brackets('[', axes_begun(table, matrix) + nested, output);
        write_matrix(result, table, matrix, output);
        write_brackets(']', axes_begun(table, matrix + 1) + nested, output);
    }
}

/* Positions of the rows of queries, where not all were computed. */
static void write_queries(const struct problem *problem, struct output *output)
{
    if (problem->row_count == 0 || problem->row_count == problem->queries)
        return;
    write_key("queries", output);
    for (size_t row = 0; row < problem->row_count; row++)
        output_print(output, "%s%zu", row ? ", " : "[", problem->rows[row] + 1);
    output_write(output, "]", 1);
}

/* What a reader of the result as an input must know. */
static void write_given(const struct result *result, struct output *output)
{
    const char *layout = result_layout(result);
    if (layout != NULL) {
        write_key("layout", output);
        write_json_string(layout, output);
    }
    if (result->lacks[0] != '\0') {
        write_key("lacks", output);
        write_json_string(result->lacks, output);
    }
}

enum status write_json(const struct writing *writing)
{
    struct result *result = writing->result;
    struct output *output = writing->output;
    const struct problem *problem = result->problem;
    output_print(output, "{\"attn\": \"" ATTN_VERSION "\"");
    write_key("mechanism", output);
    write_json_string(MECHANISMS[problem->mechanism].name, output);
    write_key("settings", output);
    write_json_settings(problem, output);
    if (problem_tokens(problem)->texts != NULL) {
        write_key("tokens", output);
        write_json_tokens(problem, output);
    }
    if (problem->apart && problem->labels.texts != NULL) {
        write_key("key_tokens", output);
        write_json_key_tokens(problem, output);
    }
    write_queries(problem, output);
    write_given(result, output);
    for (size_t i = 0; i < result->table_count; i++)
        write_table(result, &result->tables[i], output);
    output_write(output, "}\n", 2);
    return STATUS_OK;
}
