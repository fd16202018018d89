/* SPDX-License-Identifier: MIT */
#include "read/printed_table.h"

#include <string.h>

enum { LONGEST_CELL = 24 }; /* bytes of a cell in a message */

/* Tracks whether numbers are 0, 1, 2 ... or 1, 2, 3 ..., without a point. */
struct counting {
    size_t count;
    double first;
    bool fails;
};

/* A table without brackets: a line for each row. */
struct rows {
    struct printed_reader *reader;
    struct printed_table *table;
    char separator;     /* ' ' (any number of blanks), ',', ';' or a tab: the same throughout */
    size_t heads;       /* cells of the head line; 0 where there is none */
    bool headed_labels; /* its first cell is empty: the cells below are labels */
    bool counted_heads; /* the others count: it may be a row without its first number */
    bool from_one;      /* they count from 1, as a row may; those of pandas from 0 */
    bool labelled;      /* the first column is labels */
    bool word_labels;   /* one of them is no number */
    struct counting label_counting, row_counting, column_counting; /* of the labels, the first row, the first column */
    const char *counts_row;                                        /* the beginning of the first row */
    bool names_rows;    /* the head line calls the first column "id" or the like */
    bool decimal_first; /* the first column has other than whole numbers */
};

static void count_on(struct counting *counting, bool is_plain, double value)
{
    counting->first = counting->count == 0 ? value : counting->first;
    counting->fails = counting->fails || !is_plain || (counting->first != 0 && counting->first != 1) ||
                      value != counting->first + (double)counting->count;
    counting->count++;
}

static const char *skip_spaces(const char *at, char separator)
{
    return at + strspn(at, separator == '\t' ? " \r" : " \t\r");
}

/* --- cells of words ---------------------------------------------------------------------------------------------- */

static bool ends_cell(const struct rows *rows, char c)
{
    return printed_ends_line(c) || (rows->separator == ' ' ? c == ' ' || c == '\t' || c == '\r' : c == rows->separator);
}

/* Reads cell `index` of its line, up to the next separator or the end of the line. */
static bool take_cell(struct rows *rows, size_t index, struct printed_piece *cell)
{
    struct printed_reader *reader = rows->reader;
    reader->at += index > 0 && rows->separator != ' ';
    const char *first = skip_spaces(reader->at, rows->separator), *end = first;
    const bool quoted = *first == '"';
    if (quoted && (end = printed_end_of_quotes(first)) == NULL)
        return printed_fail(reader, first, "expected '\"' at the end of the text in quotes, got the end of the line");
    while (!quoted && !ends_cell(rows, *end))
        end++;
    reader->at = skip_spaces(end + quoted, rows->separator);
    if (quoted && !ends_cell(rows, *reader->at) && rows->separator != ' ')
        return printed_fail_expected(reader, reader->at, "a separator after the text in quotes");
    while (!quoted && end > first && strchr(" \t\r", end[-1]) != NULL)
        end--;
    first += quoted;
    *cell = (struct printed_piece){first, (size_t)(end - first), quoted};
    return true;
}

static bool is_number(const struct printed_piece *cell, struct printed_number *number)
{
    return !cell->quoted && cell->length > 0 && printed_number_read(cell->text, number) == cell->length;
}

/* Whether an unquoted text begins like a number but is none: "0,43", "1_000", "3rd". */
static bool is_misprint(const struct printed_piece *cell)
{
    struct printed_number number;
    const char *first = cell->text, *digit = first + (*first == '-' || *first == '+');
    const bool begins =
        text_is_digit(*digit) || (*digit == '.' && text_is_digit(digit[1])) || strncmp(first, "\xe2\x88\x92", 3) == 0;
    return !cell->quoted && cell->length > 0 && begins && !is_number(cell, &number);
}

static bool fail_misprint(struct rows *rows, const struct printed_piece *cell)
{
    const char *at = cell->text, *hint = printed_number_hint(at);
    if (hint[0] == '\0')
        hint = "; put a label that begins like a number into double quotes";
    if (memchr(at, ' ', cell->length) != NULL)
        hint = "; use one separator in the table";
    if (memchr(at, ',', cell->length) != NULL)
        hint = "; is it a decimal comma? write a point";
    return printed_fail(rows->reader, at, "expected a number, got '%.*s'%s",
                        (int)memory_smaller(cell->length, LONGEST_CELL), at, hint);
}

/* Whether a cell is a number as a spreadsheet writes it: "1,234.5" in quotes, or '0.43. */
static bool is_dressed_number(const struct printed_piece *cell)
{
    const size_t mark = cell->length > 0 && *cell->text == '\'';
    const char *text = cell->text + mark;
    const size_t length = cell->length - mark;
    size_t digits = 0, others = 0;
    for (size_t i = 0; i < length; i++) {
        digits += text_is_digit(text[i]);
        others += strchr(".,", text[i]) != NULL;
        if (strchr("0123456789.,+-eE", text[i]) == NULL)
            return false;
    }
    return digits > 0 && (others > 0 || mark > 0) && text[0] != 'e' && text[0] != 'E';
}

static bool is_missing(const struct printed_piece *cell)
{
    static const char *const WORDS[] = {"", "-", "--", "NA", "N/A", "None"};
    return printed_is_one_of(cell, WORDS, sizeof WORDS / sizeof WORDS[0]);
}

/* Labels are tokens: UTF-8 without control characters. */
static bool check_label(struct rows *rows, const struct printed_piece *cell)
{
    const char *at = cell->text, *end = at + cell->length;
    if (at == end && !rows->headed_labels)
        return printed_fail_expected(rows->reader, at, "a label");
    if (is_misprint(cell) && !rows->headed_labels)
        return fail_misprint(rows, cell);
    for (; at < end; at += text_character(at))
        if (text_character(at) == 0 || ((unsigned char)*at < 0x20 && *at != '\t'))
            return printed_fail_expected(rows->reader, at, "a label in UTF-8");
    return true;
}

/* --- the first line ---------------------------------------------------------------------------------------------- */

/* The line's separator: a tab, else a semicolon, else a comma outside quotes, else blanks. */
static char find_separator(const char *at)
{
    static const char ORDER[] = "\t;,";
    const char *found = ORDER + 3; /* its NUL */
    for (; !printed_ends_line(*at) && *at != '#'; at++) {
        const char *end = *at == '"' ? printed_end_of_quotes(at) : NULL;
        at = end != NULL ? end : at;
        if (*at == '[') /* R's [,1] */
            at += strcspn(at, "]\n") - (at[strcspn(at, "]\n")] != ']');
        const char *separator = *at != '\0' ? strchr(ORDER, *at) : NULL;
        found = separator != NULL && separator < found ? separator : found;
    }
    if (*found == '\0')
        return ' ';
    return *found;
}

/* Whether a column of that name numbers the rows. */
static bool names_rows(const struct printed_piece *cell)
{
    static const char *const NAMES[] = {"id", "index", "idx", "pos", "position", "nr",
                                        "no", "token", "row", "n",   "#",        "Unnamed: 0"};
    return printed_is_one_of(cell, NAMES, sizeof NAMES / sizeof NAMES[0]);
}

/* Whether the line is pandas' head line of columns 0, 1, 2 ...: it begins with a blank, and the next line is row 0 with
 * a cell more. */
static bool is_pandas(const char *at, size_t cells)
{
    static const char BLANKS[] = " \t\r";
    size_t beneath = 0;
    const char *first = at + strspn(at, BLANKS);
    if (*at != ' ' || first[0] != '0' || strchr(BLANKS, first[1]) == NULL)
        return false;
    at += strcspn(at, "\n");
    at += *at == '\n';
    if (at[0] != '0' || at[1] != ' ')
        return false;
    for (; !printed_ends_line(*at); at += strspn(at, BLANKS), beneath++)
        at += strcspn(at, " \t\r\n");
    return beneath == cells + 1;
}

/* Detects a head line: no cell is a number, or the first is empty and the others count. With blanks as separators, the
 * first is empty if the next line has one cell more, as in pandas. Does not move the reader. */
static bool find_heads(struct rows *rows)
{
    struct printed_reader *reader = rows->reader;
    const char *line = reader->at;
    struct printed_piece cell, first = {0};
    struct printed_number number;
    size_t cells = 0, numbers = 0, missing = 0, dressed = 0;
    bool counts = true, from_zero = true, from_one = true, empty_first = false, misprints = false;
    do {
        if (!take_cell(rows, cells, &cell))
            return false;
        first = cells == 0 ? cell : first;
        empty_first = empty_first || (cells == 0 && cell.length == 0);
        misprints = misprints || is_misprint(&cell);
        missing += is_missing(&cell);
        dressed += is_dressed_number(&cell);
        if (is_number(&cell, &number)) {
            counts = counts && (number.value == (double)numbers || number.value == (double)numbers + 1);
            from_zero = from_zero && number.value == (double)numbers;
            from_one = from_one && number.value == (double)numbers + 1;
            numbers++;
        }
        cells++;
    } while (!printed_ends_line(*reader->at));
    reader->at = line;
    rows->names_rows = cells > 1 && names_rows(&first);
    if (numbers == 0 && missing + (cells > 1 && !is_missing(&first)) == cells)
        return printed_fail(
            reader, first.text,
            "the first line names no column: is it a row without numbers? Write names of columns, or leave it out");
    if (numbers == 0 && !misprints && dressed > 0 && dressed + empty_first == cells)
        return printed_fail(reader, first.text,
                            "the first line is numbers in quotes: is it a row? Write numbers without quotes and with a "
                            "point, or names of columns");
    empty_first = empty_first || (rows->separator == ' ' && from_zero && numbers == cells && is_pandas(line, cells));
    cells += empty_first && numbers == cells;
    const bool head = (numbers == 0 && !misprints) || (empty_first && counts && numbers + 1 == cells);
    rows->heads = head ? cells : 0;
    rows->headed_labels = head && empty_first;
    rows->counted_heads = rows->headed_labels && numbers > 0;
    rows->from_one = from_one;
    return true;
}

/* Whether the row has a label: its first cell is no number, or it has one cell more than the head line. */
static bool find_labels(struct rows *rows)
{
    struct printed_reader *reader = rows->reader;
    const char *line = reader->at;
    struct printed_piece cell;
    struct printed_number number;
    size_t cells = 1;
    if (!take_cell(rows, 0, &cell))
        return false;
    rows->labelled = rows->headed_labels || !is_number(&cell, &number);
    for (; rows->heads > 0 && !printed_ends_line(*reader->at); cells++)
        if (!take_cell(rows, cells, &cell))
            return false;
    rows->labelled = rows->labelled || (rows->heads > 0 && cells == rows->heads + 1);
    reader->at = line;
    return true;
}

/* --- a row ------------------------------------------------------------------------------------------------------- */

/* Notes a label; after a first line that counts, labels prove that it is a head line. */
static bool note_label(struct rows *rows, const struct printed_piece *label)
{
    struct printed_number number = {0};
    if (rows->counted_heads && label->length == 0)
        return printed_fail(rows->reader, label->text,
                            "this row has no label: is the first line a row of numbers too? Write a label in each row, "
                            "or rows without an empty first cell");
    const bool plain = is_number(label, &number);
    rows->word_labels = rows->word_labels || !plain;
    count_on(&rows->label_counting, plain, number.value);
    return true;
}

static bool take_label(struct rows *rows)
{
    struct printed_reader *reader = rows->reader;
    struct printed_piece cell;
    struct printed_number number;
    if (!take_cell(rows, 0, &cell))
        return false;
    if (!rows->headed_labels && rows->heads == 0 && is_number(&cell, &number))
        return printed_fail(reader, cell.text, "expected a label, as the first row has one, got '%.*s'",
                            (int)memory_smaller(cell.length, LONGEST_CELL), cell.text);
    if (!check_label(rows, &cell) || !note_label(rows, &cell))
        return false;
    reader->labels[rows->table->labels++] = cell;
    if (printed_ends_line(*reader->at))
        return printed_fail_expected(reader, cell.text,
                                     "JSON, [[...]], NAME = ..., or a row of numbers after its label");
    reader->at += rows->separator != ' ';
    return true;
}

static bool fail_separator(struct rows *rows)
{
    struct printed_reader *reader = rows->reader;
    const bool comma = *reader->at == ',';
    const char *name = rows->separator == '\t'  ? "a tab"
                       : rows->separator == ';' ? "';'"
                       : rows->separator == ',' ? "','"
                                                : "a blank";
    if (*reader->at == '*')
        return printed_fail(
            reader, reader->at,
            "expected a number, got '*', a factor of the table; print it after format longG, which has none");
    return printed_fail(reader, reader->at, "expected %s, as between the first cells, got %s%s", name,
                        *reader->at == '\t' ? "a tab" : text_error_describe(&reader->in, reader->at).name,
                        comma ? "; is it a decimal comma? write a point" : "; use one separator in the table");
}

/* Skips from the end of a number to the next one; *more: there is one. */
static bool take_separator(struct rows *rows, bool *more)
{
    struct printed_reader *reader = rows->reader;
    const char *end = reader->at;
    reader->at += strspn(reader->at, rows->separator == ' ' || rows->separator == '\t' ? " \r" : " \t\r");
    *more = !printed_ends_line(*reader->at) && *reader->at != '#';
    if (!*more)
        return reader->at == reader->in.end || *reader->at != '\0' || fail_separator(rows);
    const bool parted =
        rows->separator == ' ' ? reader->at > end && !strchr("\t,;*", *reader->at) : *reader->at == rows->separator;
    if (!parted)
        return fail_separator(rows);
    reader->at += rows->separator != ' ';
    return true;
}

/* Notes, number by number, whether the first row or column only counts. */
static void note_count(struct rows *rows, size_t row, size_t column)
{
    const struct printed_number *number = &rows->reader->last;
    const bool plain = number->kind == PRINTED_FIXED && number->decimals == 0;
    if (row == 0)
        count_on(&rows->row_counting, plain, number->value);
    if (column == 0)
        count_on(&rows->column_counting, plain, number->value);
    rows->decimal_first = rows->decimal_first || (column == 0 && !plain);
}

static bool take_row(struct rows *rows)
{
    struct printed_reader *reader = rows->reader;
    struct printed_table *table = rows->table;
    const char *line = reader->at;
    size_t columns = 0;
    if (rows->labelled && !take_label(rows))
        return false;
    for (bool more = true; more; columns++) {
        reader->at = skip_spaces(reader->at, rows->separator);
        if (*reader->at == rows->separator || printed_ends_line(*reader->at))
            return printed_fail(reader, reader->at, "expected a number, got an empty cell");
        if (!printed_take(reader, table, "a number"))
            return false;
        note_count(rows, table->shape[0], columns);
        if (!take_separator(rows, &more))
            return false;
    }
    table->shape[1] = table->shape[0] == 0 ? columns : table->shape[1];
    const bool headed = !rows->row_counting.fails && columns == table->shape[1] + 1;
    if (columns != table->shape[1])
        return printed_fail(reader, line, "row %zu has %zu number%s, expected %zu (as row 1)%s", table->shape[0] + 1,
                            columns, columns == 1 ? "" : "s", table->shape[1],
                            headed ? "; is row 1 a header? Give it names, or leave it out" : "");
    table->row_end = reader->at;
    table->rows = ++table->shape[0];
    printed_skip_in_line(reader, table);
    return true;
}

/* Skips to the next line with content; returns whether an empty line came before it. Skips comments, except after a row
 * with a label, since '#' may be a label. */
static bool next_line(struct rows *rows)
{
    struct printed_reader *reader = rows->reader;
    const bool comments = !rows->labelled || rows->table->rows == 0;
    for (bool empty = false;;) {
        const char *at = reader->at + strspn(reader->at, " \t\r");
        empty = empty || *at == '\n';
        if (*at == '#' && comments)
            at += strcspn(at, "\n");
        if (*at != '\n') {
            reader->at = at == reader->in.end ? at : reader->at;
            return empty;
        }
        reader->at = at + 1;
    }
}

/* Rejects CR as the end of a line: the text would be one long row. */
static bool check_line_ends(struct printed_reader *reader)
{
    if (reader->text_checked)
        return true;
    for (const char *at = reader->at; (at = memchr(at, '\r', (size_t)(reader->in.end - at))) != NULL; at++)
        if (at[1] != '\n' && at + 1 != reader->in.end)
            return printed_fail(reader, at, "expected lines that end in LF or CR LF, got CR alone");
    return true;
}

static bool check_heads(struct rows *rows, const char *line)
{
    const size_t columns = rows->table->shape[1], most = columns + rows->labelled;
    if (rows->heads == 0 || rows->heads == columns || rows->heads == most)
        return true;
    return printed_fail(rows->reader, line, "the header has %zu name%s, expected %zu, one for each column", rows->heads,
                        rows->heads == 1 ? "" : "s", columns);
}

/* Rejects a line of numbers after '#', which may be a row of the token '#' or a comment. The first table checks for
 * all. */
static bool check_hashes(struct rows *rows)
{
    struct printed_number number;
    const struct text_source *in = &rows->reader->in;
    if (rows->reader->text_checked)
        return true;
    for (const char *line = in->text, *end; line < in->end; line = end + 1) {
        end = memchr(line, '\n', (size_t)(in->end - line));
        end = end != NULL ? end : in->end;
        const char *first = line + strspn(line, " \t");
        for (const char *at = first; *first == '#' && !printed_ends_line(*at); at++) {
            const bool begins = at > first && strchr(" \t,;#", at[-1]) != NULL;
            const size_t length = begins ? printed_number_read(at, &number) : 0;
            if (length > 0 && strchr(" \t\r\n,;", at[length]) != NULL)
                return printed_fail(rows->reader, first,
                                    "a line of numbers that begins with '#': a comment, or a token? Leave it out, or "
                                    "put the token in double quotes");
        }
    }
    rows->reader->text_checked = true;
    return true;
}

/* Whether all labels are numbers in quotes, which may be a column of the table. */
static bool labels_are_dressed(const struct rows *rows)
{
    for (size_t i = 0; i < rows->table->labels; i++)
        if (!is_dressed_number(&rows->reader->labels[i]))
            return false;
    return rows->labelled && rows->table->labels > 0;
}

/* 0,43,0,15 may be 0.43 and 0.15: whole numbers, each after a 0. */
static bool may_have_decimal_commas(const struct rows *rows)
{
    const struct printed_table *table = rows->table;
    const size_t columns = table->shape[1];
    const double *numbers = rows->reader->numbers + table->first;
    bool parts = rows->separator == ',' && columns % 2 == 0 && table->decimals == 0 && table->mantissa == 0;
    bool more = false;
    for (size_t i = 0; parts && i < table->shape[0] * columns; i++) {
        parts = i % 2 == 1 || numbers[i] == 0;
        more = more || numbers[i] > 1;
    }
    return parts && more;
}

/* Rejects tables that can be read in two ways. A head line or labels of numbers could be rows or columns; a first line
 * 1, 2, 3 above other numbers could be a head line, or a row without its first number. */
static bool check_doubts(struct rows *rows)
{
    const struct printed_table *table = rows->table;
    const bool decimals = table->decimals > 0 || table->mantissa > 0;
    const bool counts = decimals && table->shape[0] > 1 && table->shape[1] > 1;
    const struct {
        bool is_there;
        const char *at, *what;
    } DOUBTS[] = {
        {counts && !rows->row_counting.fails, rows->counts_row,
         "the first row is just 0, 1, 2 or 1, 2, 3: is it a head line? expected names of columns, or leave it out"},
        {counts && !rows->column_counting.fails, rows->counts_row,
         "the first column is just 0, 1, 2 or 1, 2, 3: are these labels? expected labels that are no numbers, or no "
         "such column"},
        {counts && rows->names_rows && !rows->decimal_first, rows->counts_row,
         "the first column is called like a row's number: are these labels? expected labels that are no numbers, or no "
         "such column"},
        {labels_are_dressed(rows), rows->reader->labels[0].text,
         "the labels are numbers in quotes: are they a column? expected numbers without quotes and with a point, or "
         "labels that are words"},
        {rows->counted_heads && rows->from_one && !rows->word_labels && rows->label_counting.fails, rows->counts_row,
         "the first column is numbers beneath an empty cell: does the first line lack one? expected labels that are no "
         "numbers, or names of columns"},
        {may_have_decimal_commas(rows), rows->counts_row,
         "every second number is 0: are these decimal commas? expected 0.43, or 0.0 for a column of zeros"},
    };
    for (size_t i = 0; i < sizeof DOUBTS / sizeof DOUBTS[0]; i++)
        if (DOUBTS[i].is_there)
            return printed_fail(rows->reader, DOUBTS[i].at, "%s", DOUBTS[i].what);
    return true;
}

/* Rejects a T x T table whose columns have the rows' names in another order. `line` is the head line. */
static bool check_order(struct rows *rows, const char *line)
{
    struct printed_reader *reader = rows->reader;
    const struct printed_table *table = rows->table;
    const size_t cells = rows->heads - (rows->headed_labels && rows->separator == ' '); /* a blank is no empty cell */
    const size_t count = table->shape[0], first = cells - table->shape[1];
    const char *end = reader->at;
    struct printed_piece cell;
    if (rows->heads == 0 || count != table->shape[1] || table->labels != count)
        return true;
    reader->at = line;
    for (size_t i = 0; i < cells; i++) {
        if (!take_cell(rows, i, &cell))
            return false;
        for (size_t row = 0; i >= first && row < count; row++)
            if (row != i - first && printed_is_same(&cell, &reader->labels[row]) &&
                !printed_is_same(&cell, &reader->labels[i - first]))
                return printed_fail(reader, cell.text,
                                    "column %zu has the label of row %zu; write both in the same order", i - first + 1,
                                    row + 1);
    }
    reader->at = end;
    return true;
}

static bool take_rows(struct rows *rows)
{
    struct printed_reader *reader = rows->reader;
    rows->counts_row = reader->at;
    if (!find_labels(rows))
        return false;
    do {
        if (!take_row(rows))
            return false;
        reader->at += *reader->at == '\n';
        const bool empty = next_line(rows);
        if (empty && printed_find_equals(reader->at) != NULL)
            break;
        if (empty && reader->at != reader->in.end)
            return printed_fail(reader, reader->at,
                                "expected one table, got more after an empty line; name them: NAME = [[...]]");
    } while (reader->at != reader->in.end);
    return check_hashes(rows) && check_doubts(rows);
}

bool printed_rows(struct printed_reader *reader, struct printed_table *table)
{
    struct rows rows = {.reader = reader, .table = table};
    *table = (struct printed_table){.first = reader->count};
    if (!check_line_ends(reader))
        return false;
    next_line(&rows);
    if (*skip_spaces(reader->at, ' ') == '|')
        return printed_fail(reader, reader->at, "expected a table of numbers, got Markdown: write it as CSV");
    rows.separator = find_separator(reader->at);
    const char *line = reader->at;
    if (!find_heads(&rows))
        return false;
    if (rows.heads > 0) {
        reader->at += strcspn(reader->at, "\n");
        reader->at += *reader->at == '\n';
        next_line(&rows);
        if (reader->at == reader->in.end)
            return printed_fail_expected(reader, line + strspn(line, " \t\r"),
                                         "JSON, or a table of numbers, an embedding for each token");
    }
    table->rank = 2;
    return take_rows(&rows) && check_heads(&rows, line) && check_order(&rows, line);
}
