/* SPDX-License-Identifier: MIT */
#include "explain/terms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct explain_given explain_value(int kind, double value)
{
    return (struct explain_given){EXPLAIN_VALUE, kind, value, NULL, NULL};
}

struct explain_given explain_text(const char *text, double value)
{
    return (struct explain_given){EXPLAIN_VALUE, 0, value, text, NULL};
}

struct explain_given explain_numbers(int kind, const double *numbers)
{
    return (struct explain_given){EXPLAIN_NUMBERS, kind, 0, NULL, numbers};
}

struct explain_given explain_value_if(bool there, int kind, double value)
{
    return there ? explain_value(kind, value) : (struct explain_given){0};
}

/* --- terms -------------------------------------------------------------------------------------------------------- */

struct walk {
    struct explanation *e;
    const struct explain_lines *line;
    const char *at; /* the rest of the text */
    bool prints;    /* else only evaluates */
    bool braced;    /* names mean entry `entry` of their rows */
    size_t entry;
    char before; /* before the next number: + - x / */
};

static bool take(struct walk *walk, const char *word)
{
    const char *at = walk->at;
    while (*word != '\0' && *at == *word)
        at++, word++;
    walk->at = *word == '\0' ? at : walk->at;
    return *word == '\0';
}

/* The stage of that name; caches the lookup. */
static enum stage find_stage(struct explanation *e, const char *name, size_t length)
{
    for (size_t i = 0; i < EXPLAIN_KNOWN; i++)
        if (e->known[i].name == name)
            return e->known[i].stage;
    struct explain_known *known = &e->known[e->finds++ % EXPLAIN_KNOWN];
    *known = (struct explain_known){name, stage_find(name, length)};
    return known->stage;
}

/* Reads a name: a given number, or NULL and its stage. */
static const struct explain_given *take_name(struct walk *walk, enum stage *stage)
{
    const char *name = walk->at;
    size_t length = 0;
    while (name[length] == '_' || (name[length] >= 'a' && name[length] <= 'z'))
        length++;
    walk->at += length;
    *stage = STAGE_NAMES;
    if (length == 1)
        return &walk->line->given[name[0] - 'a'];
    *stage = strncmp(name, "made", length) == 0     ? walk->line->stage
             : strncmp(name, "before", length) == 0 ? walk->e->before
                                                    : find_stage(walk->e, name, length);
    return NULL;
}

static int take_kind(struct walk *walk)
{
    enum stage stage;
    const struct explain_given *given = take_name(walk, &stage);
    return given != NULL ? given->kind : (int)stage;
}

static double load_number(const struct walk *walk, enum stage stage)
{
    const struct explain_lines *line = walk->line;
    const bool of_term = line->over == EXPLAIN_TERMS;
    const bool of_key = line->over <= EXPLAIN_LISTED && stage_is_of_keys(stage);
    struct explain_place place = of_term || of_key ? line->at : line->place;
    if (line->over == EXPLAIN_COLUMNS && stage_is_of_keys(line->stage)) /* its head is a key head */
        place.head *= walk->e->problem->size.heads / walk->e->problem->size.kv_heads;
    const size_t index = walk->braced ? walk->entry : of_term || of_key ? line->column : line->index;
    return explain_row(walk->e, stage, place, stage == line->stage)[index];
}

static void write_number(const struct walk *walk, int kind, double value, const char *text)
{
    if (walk->prints)
        worked_line_number(&walk->e->lines, walk->before, text != NULL ? text : explain_number(walk->e, kind, value));
}

static double walk_name(struct walk *walk)
{
    const double sign = take(walk, "-") ? -1 : 1;
    enum stage stage;
    const struct explain_given *given = take_name(walk, &stage);
    if (given != NULL && given->is == EXPLAIN_ABSENT)
        return walk->before == 'x';
    const size_t index = walk->braced ? walk->entry : walk->line->index;
    const double value = sign * (given == NULL                  ? load_number(walk, stage)
                                 : given->is == EXPLAIN_NUMBERS ? given->numbers[index]
                                                                : given->value);
    write_number(walk, given != NULL ? given->kind : (int)stage, value, given != NULL ? given->text : NULL);
    return value;
}

static double walk_sum(struct walk *walk);

static double walk_function(struct walk *walk, enum worked_line_function function)
{
    if (walk->prints)
        worked_line_open(&walk->e->lines, function, walk->before == 'x');
    walk->before = '+';
    const double value = walk_sum(walk);
    walk->at++;
    if (walk->prints)
        worked_line_close(&walk->e->lines);
    return function == WORKED_LINE_EXP    ? exp(value)
           : function == WORKED_LINE_LOG  ? log(value)
           : function == WORKED_LINE_TANH ? tanh(value)
                                          : value;
}

/* Walks entries from .. end of the braces. */
static double walk_entries(const struct walk *walk, size_t from, size_t end, bool prints)
{
    double sum = 0;
    for (size_t i = from; i < end; i++) {
        struct walk inner = {walk->e, walk->line, walk->at, prints, true, i, '+'};
        sum += walk_sum(&inner);
    }
    return sum;
}

static size_t count_entries(const struct walk *walk)
{
    struct walk first = *walk;
    enum stage stage;
    take(&first, "[");
    return take_name(&first, &stage) != NULL ? walk->line->count : problem_columns_of_head(walk->e->problem, stage);
}

static double walk_braces(struct walk *walk)
{
    const struct explain_range entries = {0, count_entries(walk), false};
    struct walk end = *walk;
    end.at = strchr(walk->at, '}') + 1;
    const int kind = take_kind(&end);
    for (size_t next, i = 0; i < entries.end && walk->prints; i = next) {
        next = explain_next(walk->e, entries, i);
        walk_entries(walk, i, i + 1, true);
        if (next == i + 1)
            continue;
        const char *subtotal = explain_number(walk->e, kind, walk_entries(walk, i + 1, next, false));
        if (walk->at[0] == '[')
            worked_line_number(&walk->e->lines, '+', subtotal);
        else
            worked_line_more(&walk->e->lines, next - i - 1, subtotal);
    }
    const double sum = walk_entries(walk, 0, entries.end, false);
    walk->at = end.at;
    return sum;
}

static double walk_factor(struct walk *walk)
{
    if (take(walk, "[")) {
        struct walk inner = *walk;
        inner.prints = false;
        const double value = walk_sum(&inner);
        walk->at = inner.at + 1;
        write_number(walk, take_kind(walk), value, NULL);
        return value;
    }
    if (take(walk, "{"))
        return walk_braces(walk);
    for (enum worked_line_function function = WORKED_LINE_SUM; function < WORKED_LINE_FUNCTION_COUNT; function++)
        if (take(walk, WORKED_LINE_FUNCTIONS[function]))
            return walk_function(walk, function);
    return walk_name(walk);
}

/* Takes " + " and the like. */
static bool take_operator(struct walk *walk, const char *operators)
{
    if (walk->at[0] != ' ' || strchr(operators, walk->at[1]) == NULL)
        return false;
    walk->before = walk->at[1];
    walk->at += strlen(" + ");
    return true;
}

static double walk_product(struct walk *walk)
{
    double product = walk_factor(walk);
    while (take_operator(walk, "x/")) {
        const bool divides = walk->before == '/';
        const double factor = walk_factor(walk);
        product = divides ? product / factor : product * factor;
    }
    return product;
}

static double walk_sum(struct walk *walk)
{
    double sum = walk_product(walk);
    while (take_operator(walk, "+-")) {
        const bool subtracts = walk->before == '-';
        const double term = walk_product(walk);
        sum = subtracts ? sum - term : sum + term;
    }
    return sum;
}

/* --- a line ------------------------------------------------------------------------------------------------------- */

static double value_of(struct explanation *e, const struct explain_lines *line)
{
    struct walk walk = {.e = e, .line = line, .at = line->terms};
    for (const char *relation = line->terms; (relation = strchr(relation, '=')) != NULL;)
        walk.at = relation += strlen("= ");
    return walk_sum(&walk);
}

static void begin_line(struct explanation *e, const struct explain_lines *line)
{
    const struct explain_row term = {line->of_keys, line->of_items && e->problem->size.has_batch, line->of_heads};
    const bool of_term = line->over == EXPLAIN_TERMS;
    char label[WORKED_LINE_CELL_BYTES];
    if (line->over == EXPLAIN_RANGE || line->over == EXPLAIN_COLUMNS) {
        snprintf(label, sizeof label, "column %zu", line->index + 1);
        const char *begins = line->over == EXPLAIN_RANGE || line->label[0] != '\0' ? line->label : label;
        worked_line_line(&e->lines, line->group, begins, strlen(begins));
    } else {
        explain_row_line(e, line->group, line->at, of_term ? term : (struct explain_row){.of_keys = true});
    }
}

static void write_line(struct explanation *e, const struct explain_lines *line)
{
    struct walk walk = {.e = e, .line = line, .at = line->terms, .prints = true};
    begin_line(e, line);
    while (walk.at[0] != '\0') {
        walk.before = '+';
        walk_sum(&walk);
        struct walk braces = walk; /* a side that only multiplies out one product */
        if (take(&braces, " = {[") && count_entries(&braces) == 1 && line->given[2].is == EXPLAIN_ABSENT)
            walk.at = strstr(walk.at + 1, " = ");
        if (take(&walk, " = "))
            worked_line_relation(&e->lines);
    }
    if (line->words[0] != '\0')
        worked_line_words(&e->lines, line->words);
    worked_line_end(&e->lines);
}

/* Walks line i; returns what it adds to the sum. */
static double walk_line(struct explanation *e, const struct explain_lines *lines, size_t i, bool prints)
{
    struct explain_lines line = *lines;
    line.index = line.over == EXPLAIN_LISTED || line.over == EXPLAIN_TERMS ? e->listed[i] : i;
    line.at = line.over == EXPLAIN_TERMS ? explain_term_place(e, lines, line.index)
                                         : (struct explain_place){line.place.item, line.place.head, line.index};
    if (line.prepare != NULL && !line.prepare(e, &line))
        return 0;
    if (prints)
        write_line(e, &line);
    return lines->sums ? value_of(e, &line) : 0;
}

/* --- the lines of a row ------------------------------------------------------------------------------------------- */

double explain_write(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                     const struct explain_lines *lines)
{
    static const char *const WHAT[] = {
        [EXPLAIN_KEYS] = "keys", [EXPLAIN_LISTED] = "keys", [EXPLAIN_COLUMNS] = "columns", [EXPLAIN_TERMS] = "terms"};
    const struct explain_range range = lines->over == EXPLAIN_RANGE  ? lines->range
                                       : lines->over == EXPLAIN_KEYS ? explain_keys(e)
                                       : lines->over == EXPLAIN_COLUMNS
                                           ? explain_columns(e, stage)
                                           : (struct explain_range){0, e->listed_count, false};
    const int kind = (int)(lines->to != 0 ? lines->to : stage);
    struct explain_lines placed = *lines;
    double total = 0;
    placed.stage = stage;
    placed.place = place;
    if (heading != NULL)
        explain_heading(e, stage, place, heading);
    if (lines->sums)
        worked_line_begin_sum(&e->lines);
    for (size_t next, i = range.first; i < range.end; i = next) {
        double subtotal = 0;
        next = explain_next(e, range, i);
        total += walk_line(e, &placed, i, true);
        for (size_t j = i + 1; j < next && lines->sums; j++) {
            const double value = walk_line(e, &placed, j, false);
            subtotal += value;
            total += value;
        }
        if (next > i + 1 && !range.ends)
            worked_line_left_out(&e->lines, next - i - 1, lines->what != NULL ? lines->what : WHAT[lines->over],
                                 lines->sums ? explain_number(e, kind, subtotal) : NULL);
    }
    return total;
}

void explain_sum(struct explanation *e, size_t group, enum stage stage, double number)
{
    worked_line_end_sum(&e->lines, group, explain_number(e, (int)stage, number));
}

void explain_write_sum(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                       const struct explain_lines *lines, double number)
{
    struct explain_lines added = *lines;
    added.sums = true;
    explain_write(e, stage, place, heading, &added);
    explain_sum(e, lines->group, stage, number);
}

void explain_kept(struct explanation *e, enum stage stage, struct explain_place place, const char *heading)
{
    explain_write(e, stage, place, heading, &(struct explain_lines){.terms = "made"});
}

void explain_each_column(struct explanation *e, enum stage stage, struct explain_place place, explain_column *write)
{
    const struct explain_range columns = explain_columns(e, stage);
    char heading[64];
    for (size_t next, column = columns.first; column < columns.end; column = next) {
        next = explain_next(e, columns, column);
        snprintf(heading, sizeof heading, "column %zu", column + 1);
        write(e, stage, place, column, heading);
        if (next > column + 1)
            explain_note(e, "… %zu more columns …", next - column - 1);
    }
}

struct explain_place explain_term_place(const struct explanation *e, const struct explain_lines *lines, size_t term)
{
    const size_t rows = lines->of_keys ? e->problem->size.keys : e->problem->chosen.row_count;
    struct explain_place place = lines->place;
    if (lines->of_items && lines->of_heads) {
        place.item = term / rows / e->problem->size.heads;
        place.head = term / rows % e->problem->size.heads;
    } else {
        *(lines->of_items ? &place.item : &place.head) += term / rows;
    }
    place.row = term % rows;
    return place;
}

/* --- a projection ------------------------------------------------------------------------------------------------- */

/* For a projection that --clip changed, shows the sum of the products, and then the clipped number in words. */
static void say_clipped(struct explanation *e, struct explain_lines *line)
{
    double sum = line->given[2].value;
    for (size_t i = 0; i < line->count; i++)
        sum += e->operand[i] * e->factor[i];
    if (fabs(sum) <= e->problem->given.clip)
        return;
    const double made = load_number(&(struct walk){.e = e, .line = line}, line->stage);
    snprintf(line->words, sizeof line->words, ", clipped to %s", explain_number(e, (int)line->stage, made));
    line->given[3] = explain_value((int)line->stage, sum);
    line->terms = EXPLAIN_DOT("a", "b", "d");
}

bool explain_prepare_projected(struct explanation *e, struct explain_lines *line)
{
    const struct explain_projection *by = line->context;
    const size_t column = by->first + line->index;
    line->count = by->d_in;
    line->given[0] = explain_numbers(by->x_kind, e->operand);
    line->given[1] = explain_numbers(by->weight_kind, e->factor);
    line->given[2] =
        explain_value_if(by->projection->bias.rank > 0, by->weight_kind, explain_load_bias(by->projection, column));
    explain_load_weight(by->projection, column, e->factor);
    if (e->problem->given.clip > 0 && projection_of(line->stage) != PROJECTION_COUNT)
        say_clipped(e, line);
    return true;
}

void explain_projected(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                       struct explain_projection *by,
                       bool (*prepare)(struct explanation *e, struct explain_lines *line))
{
    explain_write(
        e, stage, place, heading,
        &(struct explain_lines){
            .over = EXPLAIN_COLUMNS, .terms = EXPLAIN_DOT("a", "b", "made"), .prepare = prepare, .context = by});
}
