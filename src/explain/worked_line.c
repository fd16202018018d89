/* SPDX-License-Identifier: MIT */
#include "explain/worked_line.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* The first WORKED_LINE_KINDS are numbers. */
enum kind { CELL_TERM, CELL_ARGUMENT, CELL_FACTOR, CELL_SIGN, CELL_WORDS, CELL_OPERATOR, CELL_RELATION };

struct worked_line_cell {
    enum kind kind;
    size_t side;
    size_t width; /* columns of its text */
    bool breaks;  /* a line begins with it */
    char text[WORKED_LINE_CELL_BYTES];
};

enum { INDENT = 4, GAP = 2, GUTTER = 2, CELLS_PER_TERM = 6, CELLS_BESIDE = 48 };

const char *const WORKED_LINE_FUNCTIONS[WORKED_LINE_FUNCTION_COUNT] = {
    [WORKED_LINE_SUM] = "(", [WORKED_LINE_EXP] = "exp(", [WORKED_LINE_LOG] = "log(", [WORKED_LINE_TANH] = "tanh("};

enum status worked_line_create(struct worked_line *lines, struct output *output, size_t terms, struct arena *arena,
                               struct error *error)
{
    *lines = (struct worked_line){.output = output};
    lines->room = memory_sum(memory_product(terms, CELLS_PER_TERM), CELLS_BESIDE);
    lines->cells = arena_allocate(arena, lines->room, sizeof lines->cells[0], error);
    return lines->cells == NULL ? error->status : STATUS_OK;
}

void worked_line_measure(struct worked_line *lines)
{
    lines->measuring = true;
    memset(lines->groups, 0, sizeof lines->groups);
}

void worked_line_print(struct worked_line *lines)
{
    lines->measuring = false;
}

/* --- values of sides --------------------------------------------------------------------------------------------- */

static void begin_side(struct worked_line_side *side)
{
    decimal_exact_clear(&side->sum);
    decimal_exact_clear(&side->term);
    side->divides = side->unknown = false;
    side->finite = true;
    side->function = WORKED_LINE_NO_FUNCTION;
}

static void read_whole(struct decimal_exact *number, int whole)
{
    char text[16];
    snprintf(text, sizeof text, "%d", whole);
    decimal_exact_read(text, number);
}

static void add_term(struct worked_line_side *side, const char *number, int sign)
{
    struct decimal_exact value;
    side->finite = decimal_exact_read(number, &value) && side->finite;
    decimal_exact_add(&side->sum, &side->term, 1);
    decimal_exact_clear(&side->term);
    decimal_exact_add(&side->term, &value, sign);
}

static void multiply_term(struct worked_line_side *side, const struct decimal_exact *value)
{
    const struct decimal_exact term = side->term;
    decimal_exact_multiply(&term, value, &side->term);
}

/* Whether a function of the printed number is exact: exp(0), log(1), tanh(0). */
static bool known_value(enum worked_line_function function, const struct worked_line_side *argument, int *value)
{
    struct decimal_exact point;
    read_whole(&point, function == WORKED_LINE_LOG);
    *value = function == WORKED_LINE_EXP;
    return decimal_exact_equal(&argument->sum, &point);
}

/* Whether a / x = b / y; x and y may be absent. */
static bool equal_sides(const struct worked_line_side *a, const struct worked_line_side *b)
{
    struct decimal_exact left = a->sum, right = b->sum;
    if (!a->finite || !b->finite)
        return !a->finite && !b->finite;
    if (a->unknown != b->unknown || a->function != b->function)
        return false;
    if (b->divides)
        decimal_exact_multiply(&a->sum, &b->divisor, &left);
    if (a->divides)
        decimal_exact_multiply(&b->sum, &a->divisor, &right);
    return decimal_exact_equal(&left, &right);
}

static void finish_side(struct worked_line_side *side)
{
    decimal_exact_add(&side->sum, &side->term, 1);
    decimal_exact_clear(&side->term);
}

/* --- cells ------------------------------------------------------------------------------------------------------- */

static struct worked_line_cell *add_cell(struct worked_line *lines, enum kind kind, const char *text)
{
    if (lines->count == lines->room)
        return &lines->cells[lines->room - 1];
    struct worked_line_cell *cell = &lines->cells[lines->count++];
    *cell = (struct worked_line_cell){.kind = kind, .side = lines->side};
    snprintf(cell->text, sizeof cell->text, "%s", text);
    cell->width = text_columns(cell->text);
    return cell;
}

static void begin_operand(struct worked_line *lines)
{
    begin_side(&lines->last);
    lines->starts = true;
}

void worked_line_line(struct worked_line *lines, size_t group, const char *label, size_t width)
{
    lines->group = &lines->groups[group];
    lines->count = lines->side = 0;
    lines->label_width = width;
    snprintf(lines->label, sizeof lines->label, "%s", label);
    begin_operand(lines);
}

/* Writes the number's sign, then its digits. Between two terms the sign is the operator. */
static void write_term(struct worked_line *lines, const char *number)
{
    const bool negative = number[0] == '-';
    if (lines->starts)
        add_cell(lines, CELL_SIGN, negative ? "-" : "");
    else
        add_cell(lines, CELL_OPERATOR, negative ? " - " : " + ");
    add_cell(lines, lines->last.function != WORKED_LINE_NO_FUNCTION ? CELL_ARGUMENT : CELL_TERM, number + negative);
    add_term(&lines->last, number, 1);
    lines->starts = false;
}

void worked_line_number(struct worked_line *lines, char joint, const char *number)
{
    const char words[] = {' ', joint, ' ', '\0'};
    char text[WORKED_LINE_CELL_BYTES];
    struct decimal_exact value;
    if (joint == '+') {
        write_term(lines, number);
        return;
    }
    snprintf(text, sizeof text, number[0] == '-' ? "(%s)" : "%s", number);
    add_cell(lines, CELL_WORDS, words);
    add_cell(lines, CELL_FACTOR, text);
    if (joint == '-') {
        add_term(&lines->last, number, -1);
        return;
    }
    lines->last.finite = decimal_exact_read(number, &value) && lines->last.finite;
    if (joint == 'x')
        multiply_term(&lines->last, &value);
    else
        lines->last.divisor = value;
    lines->last.divides = lines->last.divides || joint == '/';
}

void worked_line_open(struct worked_line *lines, enum worked_line_function function, bool times)
{
    if (times)
        add_cell(lines, CELL_WORDS, " x ");
    else if (!lines->starts)
        add_cell(lines, CELL_OPERATOR, " + ");
    add_cell(lines, CELL_WORDS, WORKED_LINE_FUNCTIONS[function]);
    lines->outer = lines->last;
    lines->times = times;
    if (!times)
        finish_side(&lines->outer);
    begin_operand(lines);
    lines->last.function = function;
}

void worked_line_close(struct worked_line *lines)
{
    const enum worked_line_function function = lines->last.function;
    const bool finite = lines->last.finite;
    struct decimal_exact value;
    int known;
    add_cell(lines, CELL_WORDS, ")");
    finish_side(&lines->last);
    value = lines->last.sum;
    if (function != WORKED_LINE_SUM) {
        if (!known_value(function, &lines->last, &known)) {
            lines->last.unknown = true;
            return;
        }
        read_whole(&value, known);
    }
    lines->last = lines->outer;
    lines->last.finite = lines->last.finite && finite;
    if (lines->times)
        multiply_term(&lines->last, &value);
    else
        decimal_exact_add(&lines->last.term, &value, 1);
}

void worked_line_more(struct worked_line *lines, size_t count, const char *subtotal)
{
    char text[WORKED_LINE_CELL_BYTES];
    snprintf(text, sizeof text, "… %zu more terms: %.48s …", count, subtotal);
    add_cell(lines, CELL_OPERATOR, " + ")->breaks = true;
    add_cell(lines, CELL_WORDS, text);
    add_term(&lines->last, subtotal, 1);
    lines->group->broken = true;
}

static const char *relation_between(const struct worked_line_side *left, const struct worked_line_side *right)
{
    return equal_sides(left, right) ? " = " : " ≈ ";
}

/* Chooses "=" or "≈" before the finished side. */
static void choose_relation(struct worked_line *lines)
{
    finish_side(&lines->last);
    if (lines->side == 0 || lines->measuring)
        return;
    strcpy(lines->cells[lines->relation].text, relation_between(&lines->left, &lines->last));
}

void worked_line_relation(struct worked_line *lines)
{
    choose_relation(lines);
    lines->left = lines->last;
    lines->side = memory_smaller(lines->side + 1, WORKED_LINE_SIDES - 1);
    lines->relation = lines->count;
    add_cell(lines, CELL_RELATION, " = ");
    begin_operand(lines);
}

void worked_line_words(struct worked_line *lines, const char *words)
{
    add_cell(lines, CELL_WORDS, words);
}

/* --- a line is laid out ------------------------------------------------------------------------------------------ */

static bool is_number(const struct worked_line_cell *cell)
{
    return (size_t)cell->kind < WORKED_LINE_KINDS;
}

static bool ends_in_parenthesis(const struct worked_line_cell *cell)
{
    return cell->kind == CELL_FACTOR && cell->text[cell->width - 1] == ')';
}

static void measure_line(struct worked_line *lines)
{
    struct worked_line_group *group = lines->group;
    size_t numbers[WORKED_LINE_SIDES][WORKED_LINE_KINDS] = {{0}}, signs[WORKED_LINE_SIDES] = {0}, words = 0;
    group->label = memory_larger(group->label, lines->label_width);
    group->sides = memory_larger(group->sides, lines->side + 1);
    for (size_t i = 0; i < lines->count; i++) {
        const struct worked_line_cell *cell = &lines->cells[i];
        const bool parenthesis = ends_in_parenthesis(cell);
        if (cell->kind == CELL_SIGN) {
            group->sign[cell->side] = memory_larger(group->sign[cell->side], cell->width);
            group->signs[cell->side] = memory_larger(group->signs[cell->side], ++signs[cell->side]);
        } else if (is_number(cell)) {
            size_t *width = &group->width[cell->side][cell->kind];
            *width = memory_larger(*width, cell->width - parenthesis);
            group->parenthesis[cell->side] |= parenthesis;
            numbers[cell->side][cell->kind]++;
        } else {
            words += cell->width;
        }
    }
    for (size_t side = 0; side <= lines->side; side++)
        for (size_t kind = 0; kind < WORKED_LINE_KINDS; kind++)
            group->most[side][kind] = memory_larger(group->most[side][kind], numbers[side][kind]);
    group->words = memory_larger(group->words, words);
}

static size_t cell_columns(const struct worked_line_group *group, const struct worked_line_cell *cell)
{
    if (cell->kind == CELL_SIGN)
        return group->sign[cell->side];
    if (!is_number(cell))
        return cell->width;
    return group->width[cell->side][cell->kind] + (cell->kind == CELL_FACTOR ? group->parenthesis[cell->side] : 0);
}

/* Columns of the longest line of the group, without the label. */
static size_t group_columns(const struct worked_line_group *group)
{
    size_t columns = group->words;
    for (size_t side = 0; side < group->sides; side++) {
        columns += group->sign[side] * group->signs[side] + group->most[side][CELL_FACTOR] * group->parenthesis[side];
        for (size_t kind = 0; kind < WORKED_LINE_KINDS; kind++)
            columns += group->most[side][kind] * group->width[side][kind];
    }
    return columns;
}

static size_t first_column(const struct worked_line_group *group)
{
    return INDENT + group->label + GAP;
}

static bool is_broken(const struct worked_line_group *group)
{
    return group->broken || first_column(group) + group_columns(group) > WORKED_LINE_COLUMNS;
}

static void write_blanks(struct output *output, size_t count)
{
    output_print(output, "%*s", (int)count, "");
}

/* The current column, and the blanks due before the next word. */
struct pen {
    struct output *output;
    size_t column, due;
};

static void write_piece(struct pen *pen, const char *text, size_t columns)
{
    write_blanks(pen->output, pen->due);
    output_write(pen->output, text, strlen(text));
    pen->column += columns;
    pen->due = 0;
}

/* Writes a number, with the held sign (or NULL) right before its digits. */
static void write_cell(const struct worked_line_group *group, const struct worked_line_cell *cell,
                       const struct worked_line_cell *sign, struct pen *pen)
{
    const size_t blanks = memory_left(cell_columns(group, cell), cell->width);
    size_t after = 0;
    if (cell->kind == CELL_FACTOR && !ends_in_parenthesis(cell))
        after = group->parenthesis[cell->side];
    pen->due += memory_left(blanks, after);
    if (sign != NULL && sign->width > 0)
        write_piece(pen, sign->text, sign->width);
    if (cell->width > 0)
        write_piece(pen, cell->text, cell->width);
    pen->column += blanks;
    pen->due += after;
}

/* Holds a sign until its number, with the blanks before it. */
static const struct worked_line_cell *hold_sign(const struct worked_line_group *group,
                                                const struct worked_line_cell *cell, struct pen *pen)
{
    const size_t blanks = memory_left(group->sign[cell->side], cell->width);
    pen->due += blanks;
    pen->column += blanks;
    return cell;
}

/* Columns from a cell to the next that may begin a line: an operator, or with `whole` a relation. */
static size_t stretch(const struct worked_line *lines, size_t from, bool whole)
{
    size_t columns = cell_columns(lines->group, &lines->cells[from]);
    for (size_t i = from + 1; i < lines->count; i++) {
        const enum kind kind = lines->cells[i].kind;
        if (kind == CELL_RELATION || (!whole && kind == CELL_OPERATOR))
            break;
        columns += cell_columns(lines->group, &lines->cells[i]);
    }
    return columns;
}

/* Whether the cell begins a new line. A side that fits stays in the line; else it begins one, and breaks only if longer
 * than a line. */
static bool begins_line(const struct worked_line *lines, size_t i, size_t column)
{
    const struct worked_line_cell *cell = &lines->cells[i];
    const bool relation = cell->kind == CELL_RELATION;
    if (i == 0 || (!relation && cell->kind != CELL_OPERATOR))
        return false;
    const bool behind_gap = i >= 2 && lines->cells[i - 2].breaks;
    return cell->breaks || behind_gap || (relation && cell->side == 1) ||
           column + stretch(lines, i, relation) > WORKED_LINE_COLUMNS;
}

static void write_label(struct worked_line *lines, bool broken)
{
    write_blanks(lines->output, INDENT);
    output_write(lines->output, lines->label, strlen(lines->label));
    if (lines->count > 0)
        write_blanks(lines->output, memory_left(lines->group->label, lines->label_width) + GAP + (broken ? GUTTER : 0));
}

static void print_line(struct worked_line *lines)
{
    const struct worked_line_group *group = lines->group;
    const bool broken = is_broken(group);
    const size_t first = first_column(group);
    const struct worked_line_cell *sign = NULL;
    struct pen pen = {lines->output, first + (broken ? GUTTER : 0), 0};
    write_label(lines, broken);
    for (size_t i = 0; i < lines->count; i++) {
        const struct worked_line_cell *cell = &lines->cells[i];
        if (cell->kind == CELL_SIGN) {
            sign = hold_sign(group, cell, &pen);
            continue;
        }
        if (!broken || !begins_line(lines, i, pen.column)) {
            write_cell(group, cell, sign, &pen);
            sign = NULL;
            continue;
        }
        output_print(lines->output, "\n");
        write_blanks(lines->output, first);
        pen.column = first;
        pen.due = 0;
        write_piece(&pen, cell->text + 1, cell->width - 1);
    }
    output_print(lines->output, "\n");
}

void worked_line_end(struct worked_line *lines)
{
    choose_relation(lines);
    if (lines->measuring) {
        measure_line(lines);
        return;
    }
    lines->total_finite = lines->total_finite && lines->last.finite && !lines->last.unknown;
    decimal_exact_add(&lines->total, &lines->last.sum, 1);
    print_line(lines);
}

/* --- lines that add up ------------------------------------------------------------------------------------------- */

void worked_line_begin_sum(struct worked_line *lines)
{
    decimal_exact_clear(&lines->total);
    lines->total_finite = true;
}

void worked_line_left_out(struct worked_line *lines, size_t count, const char *what, const char *subtotal)
{
    struct decimal_exact value;
    if (lines->measuring)
        return;
    write_blanks(lines->output, INDENT);
    if (subtotal == NULL) {
        output_print(lines->output, "… %zu more %s …\n", count, what);
        return;
    }
    output_print(lines->output, "… %zu more terms: %s …\n", count, subtotal);
    lines->total_finite = decimal_exact_read(subtotal, &value) && lines->total_finite;
    decimal_exact_add(&lines->total, &value, 1);
}

/* Aligns the sum below the last side of the lines that it adds up. */
void worked_line_end_sum(struct worked_line *lines, size_t group_index, const char *number)
{
    static const char LABEL[] = "sum";
    worked_line_line(lines, group_index, LABEL, strlen(LABEL));
    struct worked_line_group *group = lines->group;
    const size_t last = lines->side = group->sides > 0 ? group->sides - 1 : 0;
    write_term(lines, number);
    finish_side(&lines->last);
    if (lines->measuring) {
        measure_line(lines);
        return;
    }
    const bool broken = is_broken(group);
    begin_side(&lines->left);
    lines->left.sum = lines->total;
    lines->left.finite = lines->total_finite;
    const char *relation = relation_between(&lines->left, &lines->last);
    write_label(lines, false);
    struct pen pen = {lines->output, 0, 0};
    if (!broken)
        pen.due = memory_left(group_columns(group), strlen(" = ") + group->sign[last] + group->width[last][CELL_TERM]);
    write_piece(&pen, relation + broken, 0);
    write_cell(group, &lines->cells[1], hold_sign(group, &lines->cells[0], &pen), &pen);
    output_print(lines->output, "\n");
}
