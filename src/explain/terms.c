#include "explain/terms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The terms of a line, on the way from their beginning to their end. */
struct walk {
    struct explanation *e;
    const struct explain_lines *line;
    const char *at; /* what follows */
    bool prints;    /* else they are only evaluated */
    bool braced;    /* letters stand for entry `entry` of their rows */
    size_t entry;
    char before; /* the next number: + - x / */
};

static bool take(struct walk *walk, const char *word)
{
    const size_t length = strlen(word);
    const bool here = strncmp(walk->at, word, length) == 0;
    walk->at += here ? length : 0;
    return here;
}

static const struct explain_operand *take_letter(struct walk *walk)
{
    return &walk->line->operands[*walk->at++ - 'a'];
}

static double number_of(const struct walk *walk, const struct explain_operand *operand)
{
    const size_t index = walk->braced                  ? walk->entry
                         : operand->from == EXPLAIN_AT ? walk->line->column
                                                       : walk->line->index;
    return operand->numbers != NULL ? operand->numbers[index] : operand->value;
}

static void write_number(struct walk *walk, const char *number)
{
    struct worked_line *lines = &walk->e->lines;
    if (walk->before == 'x')
        worked_line_times(lines, number);
    else if (walk->before == '/')
        worked_line_over(lines, number);
    else if (walk->before == '-')
        worked_line_minus(lines, number);
    else
        worked_line_term(lines, number);
}

static double walk_sum(struct walk *walk);

/* What the terms come to that follow, and nothing of them is written. */
static double evaluate(struct walk *walk)
{
    struct walk inner = *walk;
    inner.prints = false;
    const double value = walk_sum(&inner);
    walk->at = inner.at;
    return value;
}

static double walk_brackets(struct walk *walk)
{
    const double value = evaluate(walk);
    walk->at++;
    const int kind = take_letter(walk)->kind;
    if (walk->prints)
        write_number(walk, explain_number(walk->e, kind, value));
    return value;
}

static double walk_letter(struct walk *walk)
{
    const double sign = take(walk, "-") ? -1 : 1;
    const struct explain_operand *operand = take_letter(walk);
    if (operand->from == EXPLAIN_ABSENT)
        return walk->before == 'x';
    const double value = sign * number_of(walk, operand);
    if (walk->prints)
        write_number(walk, operand->text != NULL ? operand->text : explain_number(walk->e, operand->kind, value));
    return value;
}

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

/* Entries `entry` .. end of what stands in braces; how they are written lies with the walk. */
static double walk_entries(struct walk *walk, size_t entry, size_t end)
{
    const char *begin = walk->at;
    double sum = 0;
    for (walk->entry = entry; walk->entry < end; walk->entry++) {
        walk->at = begin;
        walk->before = '+';
        sum += walk_sum(walk);
    }
    walk->at = begin;
    return sum;
}

static double walk_braces(struct walk *walk)
{
    const struct explain_range range = {0, walk->line->count, false};
    const char *end = strchr(walk->at, '}');
    const int kind = walk->line->operands[end[1] - 'a'].kind;
    struct walk inner = *walk;
    inner.braced = true;
    for (size_t next, i = 0; i < range.end && walk->prints; i = next) {
        next = explain_next(walk->e, range, i);
        inner.prints = true;
        walk_entries(&inner, i, i + 1);
        inner.prints = false;
        const char *subtotal = explain_number(walk->e, kind, walk_entries(&inner, i + 1, next));
        if (next > i + 1 && walk->at[0] == '[')
            worked_line_term(&walk->e->lines, subtotal);
        else if (next > i + 1)
            worked_line_more(&walk->e->lines, next - i - 1, subtotal);
    }
    inner.prints = false;
    walk->at = end + 2;
    return walk_entries(&inner, 0, range.end);
}

static double walk_factor(struct walk *walk)
{
    if (take(walk, "["))
        return walk_brackets(walk);
    if (take(walk, "{"))
        return walk_braces(walk);
    if (take(walk, "("))
        return walk_function(walk, WORKED_LINE_SUM);
    if (take(walk, "exp("))
        return walk_function(walk, WORKED_LINE_EXP);
    if (take(walk, "log("))
        return walk_function(walk, WORKED_LINE_LOG);
    if (take(walk, "tanh("))
        return walk_function(walk, WORKED_LINE_TANH);
    return walk_letter(walk);
}

static double walk_product(struct walk *walk)
{
    double product = walk_factor(walk);
    for (;;) {
        walk->before = walk->at[0] != '\0' ? walk->at[1] : '\0';
        if (take(walk, " x "))
            product *= walk_factor(walk);
        else if (take(walk, " / "))
            product /= walk_factor(walk);
        else
            return product;
    }
}

static double walk_sum(struct walk *walk)
{
    double sum = walk_product(walk);
    for (;;) {
        if (take(walk, " + "))
            sum += walk_product(walk);
        else if (take(walk, " - "))
            sum -= walk_product(walk);
        else
            return sum;
    }
}

/* --- a line ------------------------------------------------------------------------------------------------------- */

/* Its last side. */
static double value_of(struct explanation *e, const struct explain_lines *line)
{
    struct walk walk = {.e = e, .line = line, .at = line->terms, .before = '+'};
    for (const char *relation = line->terms; (relation = strstr(relation, " = ")) != NULL;)
        walk.at = relation += strlen(" = ");
    return walk_sum(&walk);
}

static void begin_line(struct explanation *e, const struct explain_lines *line)
{
    if (line->over == EXPLAIN_RANGE)
        explain_line(e, line->group, "%s", line->label);
    else if (line->over == EXPLAIN_COLUMNS)
        explain_line(e, line->group, "column %zu", line->index + 1);
    else if (line->over == EXPLAIN_TERMS)
        explain_row_line(e, line->group, line->at,
                         (struct explain_row){line->of_keys, line->of_items && e->problem->has_batch, line->of_heads});
    else
        explain_key_line(e, line->group, line->place.item, line->index);
}

static void write_line(struct explanation *e, const struct explain_lines *line)
{
    struct walk walk = {.e = e, .line = line, .at = line->terms, .prints = true};
    const bool single = line->count == 1 && line->operands[3].from == EXPLAIN_ABSENT;
    begin_line(e, line);
    while (*walk.at != '\0') {
        walk.before = '+';
        walk_sum(&walk);
        if (single && strncmp(walk.at, " = {[", strlen(" = {[")) == 0)
            walk.at = strstr(walk.at + 1, " = ");
        if (take(&walk, " = "))
            worked_line_relation(&e->lines);
    }
    if (line->words[0] != '\0')
        worked_line_words(&e->lines, line->words);
    worked_line_end(&e->lines);
}

/* The i-th of the lines. Returns what it adds to their sum. */
static double walk_line(struct explanation *e, const struct explain_lines *lines, size_t i, bool prints)
{
    double *const rows[] = {e->operand, e->factor, e->made};
    struct explain_lines line = *lines;
    line.index = line.over == EXPLAIN_SEEN || line.over == EXPLAIN_TERMS ? e->seen[i] : i;
    line.at = (struct explain_place){line.place.item, line.place.head, line.index};
    if (line.over == EXPLAIN_TERMS)
        line.at = explain_term_place(e, lines, line.index);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if (line.operands[k].from == EXPLAIN_AT) {
            explain_load(e, (enum stage)line.operands[k].kind, line.at, rows[k]);
            line.operands[k].numbers = rows[k];
        }
    if (line.prepare != NULL && !line.prepare(e, &line))
        return 0;
    if (prints)
        write_line(e, &line);
    return lines->sums ? value_of(e, &line) : 0;
}

/* --- the lines of a row ------------------------------------------------------------------------------------------- */

static void load_rows(struct explanation *e, enum stage stage, struct explain_lines *lines)
{
    double *const rows[] = {e->operand, e->factor, e->made};
    struct explain_place place = lines->place;
    if (stage_is_of_keys(stage)) /* its head is one of key and value */
        place.head *= e->problem->heads / e->problem->kv_heads;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        struct explain_operand *operand = &lines->operands[k];
        if (operand->from != EXPLAIN_ROW && operand->from != EXPLAIN_MADE)
            continue;
        (operand->from == EXPLAIN_ROW ? explain_load : explain_load_made)(e, (enum stage)operand->kind, place, rows[k]);
        operand->numbers = rows[k];
    }
}

static struct explain_range range_of(const struct explanation *e, enum stage stage, const struct explain_lines *lines)
{
    return lines->over == EXPLAIN_RANGE     ? lines->range
           : lines->over == EXPLAIN_KEYS    ? explain_keys(e)
           : lines->over == EXPLAIN_COLUMNS ? explain_columns(e, stage)
                                            : (struct explain_range){0, e->seen_count, false};
}

double explain_write(struct explanation *e, enum stage stage, struct explain_place place,
                     const struct explain_lines *lines)
{
    static const char *const WHAT[] = {
        [EXPLAIN_KEYS] = "keys", [EXPLAIN_SEEN] = "keys", [EXPLAIN_COLUMNS] = "columns", [EXPLAIN_TERMS] = "terms"};
    const struct explain_range range = range_of(e, stage, lines);
    struct explain_lines loaded = *lines;
    double total = 0;
    loaded.place = place;
    load_rows(e, stage, &loaded);
    if (lines->heading != NULL)
        explain_heading(e, stage, place, lines->heading);
    if (lines->sums)
        worked_line_begin_sum(&e->lines);
    for (size_t next, i = range.first; i < range.end; i = next) {
        double subtotal = 0;
        next = explain_next(e, range, i);
        total += walk_line(e, &loaded, i, true);
        for (size_t j = i + 1; j < next && lines->sums; j++) {
            const double value = walk_line(e, &loaded, j, false);
            subtotal += value;
            total += value;
        }
        if (next > i + 1 && !range.ends)
            worked_line_left_out(&e->lines, next - i - 1, lines->what != NULL ? lines->what : WHAT[lines->over],
                                 lines->sums ? explain_number(e, lines->kind, subtotal) : NULL);
    }
    return total;
}

void explain_kept(struct explanation *e, enum stage stage, struct explain_place place, const char *heading)
{
    explain_write(
        e, stage, place,
        &(struct explain_lines){.heading = heading, .terms = "a", .operands = {{EXPLAIN_MADE, .kind = (int)stage}}});
}

void explain_sum(struct explanation *e, size_t group, int kind, double number)
{
    worked_line_end_sum(&e->lines, group, explain_number(e, kind, number));
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
    const size_t rows = lines->of_keys ? e->problem->keys : e->problem->row_count;
    struct explain_place place = lines->place;
    if (lines->of_items && lines->of_heads) {
        place.item = term / rows / e->problem->heads;
        place.head = term / rows % e->problem->heads;
    } else {
        *(lines->of_items ? &place.item : &place.head) += term / rows;
    }
    place.row = term % rows;
    return place;
}

/* --- a projection ------------------------------------------------------------------------------------------------- */

/* The sum of a projection that --clip has brought within its bounds: it is what the products come to, not the number
 * that became of it. */
static void say_clipped(struct explanation *e, struct explain_lines *line)
{
    const struct problem *problem = e->problem;
    struct explain_operand *made = &line->operands[2];
    double sum = line->operands[3].value;
    for (size_t i = 0; i < line->count; i++)
        sum += e->operand[i] * e->factor[i];
    if (fabs(sum) <= problem->clip)
        return;
    snprintf(line->words, sizeof line->words, ", clipped to %s",
             explain_number(e, made->kind, made->numbers[line->index]));
    *made = (struct explain_operand){EXPLAIN_GIVEN, made->kind, sum, NULL, NULL};
}

bool explain_prepare_projected(struct explanation *e, struct explain_lines *line)
{
    const struct explain_projection *by = line->context;
    const size_t column = by->first + line->index;
    line->count = by->d_in;
    line->operands[0].kind = by->x_kind;
    line->operands[1].kind = by->weight_kind;
    explain_load_weight(by->projection, column, e->factor);
    if (by->projection->bias.rank > 0)
        line->operands[3] = (struct explain_operand){EXPLAIN_GIVEN, by->weight_kind,
                                                     explain_load_bias(by->projection, column), NULL, NULL};
    if (e->problem->clip > 0 && projection_of((enum stage)line->operands[2].kind) != PROJECTION_COUNT)
        say_clipped(e, line);
    return true;
}

void explain_projected(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                       struct explain_projection *by,
                       bool (*prepare)(struct explanation *e, struct explain_lines *line))
{
    explain_write(e, stage, place,
                  &(struct explain_lines){.heading = heading,
                                          .over = EXPLAIN_COLUMNS,
                                          .terms = EXPLAIN_DOT,
                                          .operands = {{EXPLAIN_GIVEN, .numbers = e->operand},
                                                       {EXPLAIN_GIVEN, .numbers = e->factor},
                                                       {EXPLAIN_MADE, .kind = (int)stage}},
                                          .prepare = prepare != NULL ? prepare : explain_prepare_projected,
                                          .context = by});
}
