/* SPDX-License-Identifier: MIT */
#include "agreement.h"

#include "check.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 16 }; /* of a number, whose double has them all; else it is a string */

static bool agree(double a, double b, double unit, double least)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= unit * fabs(b) + least;
}

static void check_table(const struct reader_table *json, const struct reader_table *other, const char *format)
{
    if (!CHECK(other != NULL && other->count == json->count, "%s: %zu numbers in JSON, %zu as %s", json->name,
               json->count, other != NULL ? other->count : 0, format))
        return;
    for (size_t i = 0; i < json->count; i++)
        if (!CHECK(agree(json->numbers[i], other->numbers[i], other->unit, other->least),
                   "%s: number %zu is %.17g in JSON, %.17g as %s", json->name, i + 1, json->numbers[i],
                   other->numbers[i], format))
            return;
}

/* The fields of a CSV are columns of features and then of keys; a table has numbers in either, and nothing in the others. */
static void check_fields(const struct reader_table *json, const struct reader_table *csv)
{
    if (!CHECK(csv != NULL && csv->shape[0] > 0 && json->count % csv->shape[0] == 0,
               "%s: %zu numbers in JSON, %zu rows as CSV", json->name, json->count, csv != NULL ? csv->shape[0] : 0))
        return;
    const size_t columns = json->count / csv->shape[0], width = csv->shape[1], features = csv->shape[2];
    for (size_t row = 0; row < csv->shape[0]; row++) {
        const double *fields = csv->numbers + row * width;
        bool of_keys = false;
        for (size_t i = features; i < width; i++)
            of_keys |= fields[i] != -INFINITY;
        const size_t first = of_keys ? features : 0;
        for (size_t i = 0; i < width; i++) {
            const bool inside = i >= first && i - first < columns;
            const double expected = inside ? json->numbers[row * columns + i - first] : -INFINITY;
            const bool right = agree(expected, fields[i], 0, 0) || (!of_keys && inside && i >= features);
            if (!CHECK(right, "%s, row %zu, field %zu: %.17g in JSON, %.17g as CSV", json->name, row + 1, i + 1,
                       expected, fields[i]))
                return;
        }
    }
}

/* JSON has the inputs and the parameters unasked; CSV does not. */
static void check_tables(const struct design_row *row, const struct reader_tables *json,
                         const struct reader_tables *other, const char *format)
{
    const bool is_csv = strcmp(format, "csv") == 0;
    size_t found = 0;
    for (size_t i = 0; i < json->count; i++) {
        const struct reader_table *table = reader_table(other, json->tables[i].name);
        found += table != NULL;
        if (is_csv && table != NULL)
            check_fields(&json->tables[i], table);
        else if (!is_csv)
            check_table(&json->tables[i], table, format);
    }
    const bool less = is_csv && subject_value(row, "stages") == NULL && other->count < json->count;
    CHECK(found == other->count && (less || found == json->count),
          "%zu tables in JSON, %zu as %s, of which %zu are the same", json->count, other->count, format, found);
}

void agreement_of_numbers(const struct design_row *row, const struct reader_tables *json)
{
    static const char *const OTHERS[] = {"safetensors", "csv"};
    for (size_t i = 0; i < 2; i++) {
        struct program_run run;
        struct reader_tables tables = {0};
        char complaint[COMPLAINT_BYTES];
        if (subject_run_as(row, OTHERS[i], "precision", &run) &&
            CHECK(reader_find(OTHERS[i])(run.output, run.length, &tables, complaint), "as %s: %s", OTHERS[i],
                  complaint)) {
            check_tables(row, json, &tables, OTHERS[i]);
        }
        reader_release(&tables);
        program_release(&run);
    }
}

void agreement_of_npy(const struct design_row *row, const struct reader_tables *npy)
{
    struct program_run run;
    struct reader_tables tables = {0};
    char complaint[COMPLAINT_BYTES];
    if (subject_run_as(row, "safetensors", NULL, &run) &&
        CHECK(reader_safetensors(run.output, run.length, &tables, complaint), "as safetensors: %s", complaint) &&
        CHECK(tables.count >= 1, "no table as safetensors"))
        check_table(&tables.tables[0], &npy->tables[0], "npy");
    reader_release(&tables);
    program_release(&run);
}

void agreement_of_parts(const struct design_row *row)
{
    static const char *const PARTS[] = {"1/2", "2/2"};
    char paths[2][PROGRAM_PATH_BYTES];
    struct command_words join = {.count = 1, .list = {"join"}};
    struct program_run whole, joined;
    for (size_t part = 0; part < 2; part++) {
        struct command_words words;
        struct program_run run;
        program_path(paths[part], "part-%zu.safetensors", part);
        words_make(&words, row, NULL, "part");
        words_add(&words, "--part");
        words_add(&words, PARTS[part]);
        words_run(&words, false, &run);
        CHECK(run.status == 0, "--part %s: status %d: %s", PARTS[part], run.status, run.message);
        program_write(paths[part], run.output, run.length);
        words_add(&join, paths[part]);
        program_release(&run);
    }
    words_add(&join, "--format");
    words_add(&join, "safetensors");
    words_run(&join, false, &joined);
    if (CHECK(joined.status == 0, "join: status %d: %s", joined.status, joined.message) &&
        subject_run_as(row, "safetensors", "part", &whole)) {
        CHECK(joined.length == whole.length && memcmp(joined.output, whole.output, whole.length) == 0,
              "joined it has other bytes");
        program_release(&whole);
    }
    program_release(&joined);
}

void agreement_of_drawn(const struct design_row *row, const struct program_run *first,
                        const struct reader_tables *drawn)
{
    static const char *const KEPT[] = {"heads", "kv-heads", "stacked", "dtype", NULL};
    char path[PROGRAM_PATH_BYTES], complaint[COMPLAINT_BYTES];
    struct program_run run;
    struct reader_tables tables = {0};
    if (subject_value(row, "d-in") != NULL)
        return;
    program_path(path, "drawn");
    program_write(path, first->output, first->length);
    const char *in = subject_value(row, "in") != NULL ? subject_value(row, "in")->text : "";
    if (in[0] == '\0')
        in = subject.files[0];
    struct command_words words = {.count = 8,
                                  .list = {subject.row->words[1], in, "-w", path, "--stages", "parameters", "--format",
                                           strchr(subject_format(row), 'j') != NULL ? "json" : "safetensors"}};
    for (size_t i = 0; subject.row->base[i] != NULL; i++)
        words_add(&words, subject.row->base[i]);
    words_keep(&words, row, KEPT);
    words_run(&words, false, &run);
    if (CHECK(run.status == 0, "as parameters: status %d: %s", run.status, run.message) &&
        CHECK(reader_find(subject_format(row))(run.output, run.length, &tables, complaint), "as parameters: %s",
              complaint))
        for (size_t i = 0; i < drawn->count; i++)
            check_table(&drawn->tables[i], reader_table(&tables, drawn->tables[i].name), "parameters");
    reader_release(&tables);
    program_release(&run);
}

void agreement_of_shown(const struct design_row *row, const char *format, const struct program_run *first)
{
    struct program_run run;
    struct reader_tables tables = {0};
    char complaint[COMPLAINT_BYTES];
    if (subject_value(row, "explain") != NULL || subject_value(row, "heatmap") != NULL)
        return;
    if (subject_run_as(row, "safetensors", NULL, &run) &&
        CHECK(reader_safetensors(run.output, run.length, &tables, complaint), "as safetensors: %s", complaint))
        CHECK(reader_shows(format, first->output, &tables, subject_value(row, "full") != NULL,
                           subject_value(row, "entropy") != NULL, complaint),
              "%s", complaint);
    reader_release(&tables);
    program_release(&run);
}

/* "name": value, as JSON has it. */
static void print_setting(FILE *file, const struct value *value, bool first)
{
    const struct option_row *option = value->option;
    const enum option_id id = option->kind == OPTION_NEGATION ? option->negated : (enum option_id)(option - OPTIONS);
    const bool is_number = option->kind == OPTION_REAL || option->kind == OPTION_WHOLE;
    char name[VALUE_WORD_BYTES];
    fprintf(file, "%s\"%s\": ", first ? "" : ", ", options_setting_name(id, name, sizeof name));
    if (value->text == NULL)
        fprintf(file, "%s", option->kind == OPTION_NEGATION ? "false" : "true");
    else if (is_number && strlen(value->text) < MOST_DIGITS && strchr(value->text, '/') == NULL)
        fprintf(file, "%s", value->text);
    else
        fprintf(file, "\"%s\"", value->text);
}

static bool is_setting(const struct value *value)
{
    return value->option->setting || value->option->kind == OPTION_NEGATION;
}

/* The input with the row's options among its settings, and the other words of the row; false where it has settings. */
static bool move_settings(const struct design_row *row, const char *in, const char *path, struct command_words *words)
{
    char *text = support_read(in), *end = strrchr(text, '}');
    FILE *file = end != NULL && strstr(text, "\"settings\"") == NULL ? fopen(path, "w") : NULL;
    bool first = true;
    if (file != NULL)
        fprintf(file, "%.*s, \"settings\": {", (int)(end - text), text);
    for (size_t i = 0; i < row->count && file != NULL; i++) {
        const struct value *value = &subject.values.list[row->values[i]];
        if (is_setting(value)) {
            print_setting(file, value, first);
            first = false;
        } else if (value->factor != VALUE_FILE) {
            words->count += value_words(value, words->list + words->count, words->rooms[i]);
        }
    }
    free(text);
    if (file == NULL)
        return false;
    words_add_grad(words, row);
    fprintf(file, "}}\n");
    fclose(file);
    return true;
}

void agreement_of_settings(const struct design_row *row, const struct program_run *first)
{
    const struct value *value = subject_value(row, "in");
    const char *in = value != NULL && value->text[0] != '\0' ? value->text : subject.files[0];
    const char *suffix = strrchr(in, '.');
    const bool twice = subject_value(row, "causal") != NULL && subject_value(row, "no-causal") != NULL;
    char path[PROGRAM_PATH_BYTES];
    struct program_run run;
    struct command_words words = {0};
    for (size_t i = 0; subject.row->words[i] != NULL; i++)
        words_add(&words, subject.row->words[i]);
    for (size_t i = 0; subject.row->base[i] != NULL && subject_value(row, "heads") == NULL; i++)
        words_add(&words, subject.row->base[i]);
    words_add(&words, program_path(path, "settings.json"));
    if (suffix == NULL || strcmp(suffix, ".json") != 0 || twice || subject_value(row, "d-in") != NULL ||
        !move_settings(row, in, path, &words))
        return;
    words_run(&words, false, &run);
    if (CHECK(run.status == 0, "with settings: status %d: %s", run.status, run.message))
        CHECK(run.length == first->length && memcmp(run.output, first->output, run.length) == 0,
              "with settings in place of options there are other bytes");
    program_release(&run);
}

void agreement_again(const struct design_row *row, const char *format, const struct program_run *first,
                     const struct reader_tables *tables)
{
    static const char *const KEPT[] = {"stages", "kernel", "grad", NULL};
    char path[PROGRAM_PATH_BYTES];
    const bool whole = subject.row->command == COMMAND_SDPA
                           ? memmem(first->output, first->length, "layout", 6) != NULL
                           : reader_table(tables, "inputs") != NULL && tables->count > 3;
    const char *parameters = subject.row->command == COMMAND_SDPA ? "value" : "W_value";
    bool given = false;
    for (size_t i = 0; i < tables->count; i++)
        given |=
            strncmp(tables->tables[i].name, "grad_", 5) != 0 &&
            (strstr(tables->tables[i].name, parameters) != NULL || strstr(tables->tables[i].name, "in_proj") != NULL);
    if (!whole || !given)
        return;
    program_path(path, "again");
    program_write(path, first->output, first->length);
    struct command_words words = {0};
    words_add(&words, subject.row->words[0]);
    words_add(&words, path);
    words_add(&words, "--format");
    words_add(&words, format);
    words_keep(&words, row, KEPT);
    struct program_run again;
    words_run(&words, false, &again);
    if (CHECK(again.status == 0, "read again: status %d: %s", again.status, again.message))
        CHECK(again.length == first->length && memcmp(again.output, first->output, first->length) == 0,
              "read again it gives other bytes");
    program_release(&again);
}
