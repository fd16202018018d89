#include "board.h"

#include <stdio.h>
#include <string.h>

/* The first BOARD_KINDS are numbers. */
enum kind { CELL_TERM, CELL_ARGUMENT, CELL_FACTOR, CELL_SIGN, CELL_WORDS, CELL_OPERATOR, CELL_RELATION };

struct board_cell {
    enum kind kind;
    size_t side;
    size_t width; /* columns of its text */
    bool breaks;  /* a line begins with it */
    char text[BOARD_CELL_BYTES];
};

enum { INDENT = 4, GAP = 2, GUTTER = 2, CELLS_PER_TERM = 6, CELLS_BESIDE = 48 };

static const char *const FUNCTIONS[] = {[BOARD_EXP] = "exp(", [BOARD_LOG] = "log(", [BOARD_TANH] = "tanh("};

enum status board_create(struct board *board, struct output *output, size_t terms, struct arena *arena,
                         struct error *error)
{
    size_t cells;
    *board = (struct board){.output = output};
    if (!memory_multiply(terms, CELLS_PER_TERM, &cells))
        return error_system(error, 0, "not enough memory: too many terms to explain");
    board->room = cells + CELLS_BESIDE;
    board->cells = arena_allocate(arena, board->room, sizeof board->cells[0], error);
    return board->cells == NULL ? error->status : STATUS_OK;
}

void board_measure(struct board *board)
{
    board->measuring = true;
    memset(board->groups, 0, sizeof board->groups);
}

void board_print(struct board *board)
{
    board->measuring = false;
}

/* --- what the sides come to -------------------------------------------------------------------------------------- */

static void begin_side(struct board_side *side)
{
    exact_clear(&side->sum);
    exact_clear(&side->term);
    side->divides = side->unknown = false;
    side->finite = true;
    side->function = BOARD_NO_FUNCTION;
}

static void read_whole(struct exact *number, int whole)
{
    char text[16];
    snprintf(text, sizeof text, "%d", whole);
    exact_read(text, number);
}

static void add_term(struct board_side *side, const char *number, int sign)
{
    struct exact value;
    side->finite = exact_read(number, &value) && side->finite;
    exact_add(&side->sum, &side->term, 1);
    exact_clear(&side->term);
    exact_add(&side->term, &value, sign);
}

static void multiply_term(struct board_side *side, const struct exact *value)
{
    const struct exact term = side->term;
    exact_multiply(&term, value, &side->term);
}

/* Where a function of a number that is printed is exact itself: exp(0), log(1), tanh(0). */
static bool known_value(enum board_function function, const struct board_side *argument, int *value)
{
    struct exact point;
    read_whole(&point, function == BOARD_LOG);
    *value = function == BOARD_EXP;
    return exact_equal(&argument->sum, &point);
}

/* a / x = b / y, where x and y are there. */
static bool equal_quotients(const struct board_side *a, const struct board_side *b)
{
    struct exact left = a->sum, right = b->sum;
    if (b->divides)
        exact_multiply(&a->sum, &b->divisor, &left);
    if (a->divides)
        exact_multiply(&b->sum, &a->divisor, &right);
    return exact_equal(&left, &right);
}

static bool equal_sides(const struct board_side *a, const struct board_side *b)
{
    if (!a->finite || !b->finite)
        return !a->finite && !b->finite;
    return a->unknown == b->unknown && a->function == b->function && equal_quotients(a, b);
}

/* The side that is being written has all its terms. */
static void finish_side(struct board_side *side)
{
    exact_add(&side->sum, &side->term, 1);
    exact_clear(&side->term);
}

/* --- cells ------------------------------------------------------------------------------------------------------- */

/* Continuation bytes of UTF-8 take no column; nothing wide is written on a board but labels. */
static size_t columns_of(const char *text)
{
    size_t columns = 0;
    for (; *text != '\0'; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

static struct board_cell *add_cell(struct board *board, enum kind kind, const char *text)
{
    if (board->count == board->room)
        return &board->cells[board->room - 1];
    struct board_cell *cell = &board->cells[board->count++];
    *cell = (struct board_cell){.kind = kind, .side = board->side};
    snprintf(cell->text, sizeof cell->text, "%s", text);
    cell->width = columns_of(cell->text);
    return cell;
}

static void begin_operand(struct board *board)
{
    begin_side(&board->last);
    board->starts = true;
}

void board_line(struct board *board, size_t group, const char *label, size_t width)
{
    board->group = &board->groups[group];
    board->count = board->side = 0;
    board->label_width = width;
    snprintf(board->label, sizeof board->label, "%s", label);
    begin_operand(board);
}

/* Its sign, as an operator between two terms and as itself before the first one, then the digits. */
void board_term(struct board *board, const char *number)
{
    const bool negative = number[0] == '-';
    if (board->starts)
        add_cell(board, CELL_SIGN, negative ? "-" : "");
    else
        add_cell(board, CELL_OPERATOR, negative ? " - " : " + ");
    add_cell(board, board->last.function != BOARD_NO_FUNCTION ? CELL_ARGUMENT : CELL_TERM, number + negative);
    add_term(&board->last, number, 1);
    board->starts = false;
}

static void add_factor(struct board *board, const char *operator, const char * number)
{
    char text[BOARD_CELL_BYTES];
    snprintf(text, sizeof text, number[0] == '-' ? "(%s)" : "%s", number);
    add_cell(board, CELL_WORDS, operator);
    add_cell(board, CELL_FACTOR, text);
}

void board_minus(struct board *board, const char *number)
{
    add_factor(board, " - ", number);
    add_term(&board->last, number, -1);
}

void board_times(struct board *board, const char *number)
{
    struct exact value;
    add_factor(board, " x ", number);
    board->last.finite = exact_read(number, &value) && board->last.finite;
    multiply_term(&board->last, &value);
}

void board_over(struct board *board, const char *number)
{
    add_factor(board, " / ", number);
    board->last.finite = exact_read(number, &board->last.divisor) && board->last.finite;
    board->last.divides = true;
}

void board_open(struct board *board, enum board_function function, bool times)
{
    if (times)
        add_cell(board, CELL_WORDS, " x ");
    else if (!board->starts)
        add_cell(board, CELL_OPERATOR, " + ");
    add_cell(board, CELL_WORDS, FUNCTIONS[function]);
    board->outer = board->last;
    if (!times)
        finish_side(&board->outer);
    begin_operand(board);
    board->last.function = function;
}

void board_close(struct board *board)
{
    const enum board_function function = board->last.function;
    struct exact value;
    int known;
    add_cell(board, CELL_WORDS, ")");
    finish_side(&board->last);
    if (!known_value(function, &board->last, &known)) {
        board->last.unknown = true;
        return;
    }
    const bool times = board->outer.term.first < board->outer.term.end;
    board->last = board->outer;
    read_whole(&value, known);
    if (times)
        multiply_term(&board->last, &value);
    else
        exact_add(&board->last.term, &value, 1);
}

void board_more(struct board *board, size_t count, const char *subtotal)
{
    char text[BOARD_CELL_BYTES];
    snprintf(text, sizeof text, "… %zu more terms: %.48s …", count, subtotal);
    add_cell(board, CELL_OPERATOR, " + ")->breaks = true;
    add_cell(board, CELL_WORDS, text);
    add_term(&board->last, subtotal, 1);
    board->group->broken = true;
}

static const char *relation_between(const struct board_side *left, const struct board_side *right)
{
    return equal_sides(left, right) ? " = " : " ≈ ";
}

/* Which relation stands before the side that has come to its end. */
static void choose_relation(struct board *board)
{
    finish_side(&board->last);
    if (board->side == 0 || board->measuring)
        return;
    strcpy(board->cells[board->relation].text, relation_between(&board->left, &board->last));
}

void board_relation(struct board *board)
{
    choose_relation(board);
    board->left = board->last;
    board->side = memory_smaller(board->side + 1, BOARD_SIDES - 1);
    board->relation = board->count;
    add_cell(board, CELL_RELATION, " = ");
    begin_operand(board);
}

void board_words(struct board *board, const char *words)
{
    add_cell(board, CELL_WORDS, words);
}

/* --- a line is laid out ------------------------------------------------------------------------------------------ */

static bool is_number(const struct board_cell *cell)
{
    return (size_t)cell->kind < BOARD_KINDS;
}

static bool ends_in_parenthesis(const struct board_cell *cell)
{
    return cell->kind == CELL_FACTOR && cell->text[cell->width - 1] == ')';
}

static void measure_line(struct board *board)
{
    struct board_group *group = board->group;
    size_t numbers[BOARD_SIDES][BOARD_KINDS] = {{0}}, words = 0;
    group->label = memory_larger(group->label, board->label_width);
    group->sides = memory_larger(group->sides, board->side + 1);
    for (size_t i = 0; i < board->count; i++) {
        const struct board_cell *cell = &board->cells[i];
        const bool parenthesis = ends_in_parenthesis(cell);
        if (cell->kind == CELL_SIGN) {
            group->sign[cell->side] = memory_larger(group->sign[cell->side], cell->width);
        } else if (is_number(cell)) {
            size_t *width = &group->width[cell->side][cell->kind];
            *width = memory_larger(*width, cell->width - parenthesis);
            group->parenthesis[cell->side] |= parenthesis;
            numbers[cell->side][cell->kind]++;
        } else {
            words += cell->width;
        }
    }
    for (size_t side = 0; side <= board->side; side++)
        for (size_t kind = 0; kind < BOARD_KINDS; kind++)
            group->most[side][kind] = memory_larger(group->most[side][kind], numbers[side][kind]);
    group->words = memory_larger(group->words, words);
}

/* The columns that a cell takes in its group. */
static size_t cell_columns(const struct board_group *group, const struct board_cell *cell)
{
    if (cell->kind == CELL_SIGN)
        return group->sign[cell->side];
    if (!is_number(cell))
        return cell->width;
    return group->width[cell->side][cell->kind] + (cell->kind == CELL_FACTOR ? group->parenthesis[cell->side] : 0);
}

/* Of the longest line, without its label. */
static size_t group_columns(const struct board_group *group)
{
    size_t columns = group->words;
    for (size_t side = 0; side < group->sides; side++) {
        columns += group->sign[side] + group->most[side][CELL_FACTOR] * group->parenthesis[side];
        for (size_t kind = 0; kind < BOARD_KINDS; kind++)
            columns += group->most[side][kind] * group->width[side][kind];
    }
    return columns;
}

static size_t first_column(const struct board_group *group)
{
    return INDENT + group->label + GAP;
}

static bool is_broken(const struct board_group *group)
{
    return group->broken || first_column(group) + group_columns(group) > BOARD_COLUMNS;
}

static void write_blanks(struct output *output, size_t count)
{
    output_print(output, "%*s", (int)count, "");
}

/* What is left of the columns that were measured; none where a number has grown since then. */
static size_t left_of(size_t columns, size_t taken)
{
    return columns > taken ? columns - taken : 0;
}

/* Where the pen is, and the blanks that are due before the next word. */
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

/* A number with the sign that came before it, right before its digits; NULL: none. */
static void write_cell(const struct board_group *group, const struct board_cell *cell, const struct board_cell *sign,
                       struct pen *pen)
{
    const size_t blanks = left_of(cell_columns(group, cell), cell->width);
    size_t after = 0;
    if (cell->kind == CELL_FACTOR && !ends_in_parenthesis(cell))
        after = group->parenthesis[cell->side];
    pen->due += left_of(blanks, after);
    if (sign != NULL && sign->width > 0)
        write_piece(pen, sign->text, sign->width);
    if (cell->width > 0)
        write_piece(pen, cell->text, cell->width);
    pen->column += blanks;
    pen->due += after;
}

/* The sign waits for its number, with the blanks before it. */
static const struct board_cell *hold_sign(const struct board_group *group, const struct board_cell *cell,
                                          struct pen *pen)
{
    const size_t blanks = left_of(group->sign[cell->side], cell->width);
    pen->due += blanks;
    pen->column += blanks;
    return cell;
}

/* Columns from a cell up to the next one that a line may begin with: an operator, or with `whole` a relation. */
static size_t stretch(const struct board *board, size_t from, bool whole)
{
    size_t columns = cell_columns(board->group, &board->cells[from]);
    for (size_t i = from + 1; i < board->count; i++) {
        const enum kind kind = board->cells[i].kind;
        if (kind == CELL_RELATION || (!whole && kind == CELL_OPERATOR))
            break;
        columns += cell_columns(board->group, &board->cells[i]);
    }
    return columns;
}

/* Whether the cell begins a new line: a side goes where it fits whole, and else on its own line or lines. */
static bool begins_line(const struct board *board, size_t i, size_t column)
{
    const struct board_cell *cell = &board->cells[i];
    const bool relation = cell->kind == CELL_RELATION;
    if (i == 0 || (!relation && cell->kind != CELL_OPERATOR))
        return false;
    const bool behind_gap = i >= 2 && board->cells[i - 2].breaks;
    return cell->breaks || behind_gap || (relation && cell->side == 1) ||
           column + stretch(board, i, relation) > BOARD_COLUMNS;
}

static void write_label(struct board *board, bool broken)
{
    write_blanks(board->output, INDENT);
    output_write(board->output, board->label, strlen(board->label));
    if (board->count > 0)
        write_blanks(board->output, board->group->label - board->label_width + GAP + (broken ? GUTTER : 0));
}

static void print_line(struct board *board)
{
    const struct board_group *group = board->group;
    const bool broken = is_broken(group);
    const size_t first = first_column(group);
    const struct board_cell *sign = NULL;
    struct pen pen = {board->output, first + (broken ? GUTTER : 0), 0};
    write_label(board, broken);
    for (size_t i = 0; i < board->count; i++) {
        const struct board_cell *cell = &board->cells[i];
        if (cell->kind == CELL_SIGN) {
            sign = hold_sign(group, cell, &pen);
            continue;
        }
        if (!broken || !begins_line(board, i, pen.column)) {
            write_cell(group, cell, sign, &pen);
            sign = NULL;
            continue;
        }
        output_print(board->output, "\n");
        write_blanks(board->output, first);
        pen.column = first;
        pen.due = 0;
        write_piece(&pen, cell->text + 1, cell->width - 1);
    }
    output_print(board->output, "\n");
}

void board_end(struct board *board)
{
    choose_relation(board);
    if (board->measuring) {
        measure_line(board);
        return;
    }
    board->total_finite = board->total_finite && board->last.finite && !board->last.unknown;
    exact_add(&board->total, &board->last.sum, 1);
    print_line(board);
}

/* --- lines that add up ------------------------------------------------------------------------------------------- */

void board_begin_sum(struct board *board)
{
    exact_clear(&board->total);
    board->total_finite = true;
}

void board_left_out(struct board *board, size_t count, const char *what, const char *subtotal)
{
    struct exact value;
    if (board->measuring)
        return;
    write_blanks(board->output, INDENT);
    if (subtotal == NULL) {
        output_print(board->output, "… %zu more %s …\n", count, what);
        return;
    }
    output_print(board->output, "… %zu more terms: %s …\n", count, subtotal);
    board->total_finite = exact_read(subtotal, &value) && board->total_finite;
    exact_add(&board->total, &value, 1);
}

/* Beneath the last side of the lines that it adds up. */
void board_end_sum(struct board *board, size_t group_index, const char *number)
{
    static const char LABEL[] = "sum";
    board_line(board, group_index, LABEL, strlen(LABEL));
    struct board_group *group = board->group;
    const size_t last = board->side = group->sides > 0 ? group->sides - 1 : 0;
    board_term(board, number);
    finish_side(&board->last);
    if (board->measuring) {
        measure_line(board);
        return;
    }
    const bool broken = is_broken(group);
    begin_side(&board->left);
    board->left.sum = board->total;
    board->left.finite = board->total_finite;
    const char *relation = relation_between(&board->left, &board->last);
    write_label(board, false);
    struct pen pen = {board->output, 0, 0};
    if (!broken)
        pen.due = left_of(group_columns(group), strlen(" = ") + group->sign[last] + group->width[last][CELL_TERM]);
    write_piece(&pen, relation + broken, 0);
    const struct board_cell *sign = NULL;
    for (size_t i = 0; i < board->count; i++) {
        const struct board_cell *cell = &board->cells[i];
        if (cell->kind == CELL_SIGN) {
            sign = hold_sign(group, cell, &pen);
            continue;
        }
        write_cell(group, cell, sign, &pen);
        sign = NULL;
    }
    output_print(board->output, "\n");
}
