/* SPDX-License-Identifier: MIT */
/* How to write a sheet: one walk over it, and a dialect for each format for paper. */
#pragma once

#include "worksheet/sheet.h"

struct table_markup_escapes;

/* Where to write a sheet; `bold` headings where a terminal shows them. */
struct page {
    const struct sheet_dialect *dialect;
    struct output *output;
    bool bold;
};

typedef void page_writer(const struct page *page, const char *text);

/* A sign of a formula in letters, and as the format writes it. */
struct sign {
    const char *plain, *set;
};

/* What a format writes around each piece: in pairs, before and after it; NULL: nothing. */
struct sheet_dialect {
    const char *begin, *turn, *end;             /* of the document; between two sheets */
    const char *marks[SHEET_MARKS];             /* by the byte of each */
    const struct table_markup_escapes *escapes; /* NULL: text stays as it is */
    const struct sign *signs;                   /* of formulas; they end in {NULL} */
    const char *minus, *infinity[2];            /* a minus; plus and minus infinity; */
    const char *exponent[3];                    /* before an exponent of ten, its minus, and behind it; or NULL */
    const char *worked_minus;                   /* in the arithmetic, as wide as a digit */

    const char *head[3], *foot;       /* of a sheet or its answers: before the title, before and behind the name */
    const char *given[3];             /* before what is given, and behind it where tasks are open or filled in */
    const char *rule[2], *no_rule;    /* how to round; where there is nothing to say */
    const char *found[2], *worked[2]; /* in the answers: the mistake, the arithmetic */
    const char *key[2], *parted;      /* around the answers of several sheets; between two of them */
    const char *span[3], *first_cell; /* around how many numbers are below a title, and behind it; the first of these */
    size_t key_columns, key_lines;    /* what of these a page has room for, as text */
    bool breaks_titles;               /* the titles of their columns fold */

    const char *group[2], *answered;            /* tasks whose tables stand side by side; behind their answers */
    bool tables_by_task;                        /* they do not */
    const char *task[2], *formula_end;          /* around the number of a task, and behind its formula */
    const char *frame[2], *last_frame, *framed; /* a line of the way of working; behind the last, and all of them */
    const char *tasks_end;

    const char *tables[2], *title[2], *corner[2], *column[2], *ruled, *rule_column, *row[2], *cell[2], *row_end,
        *table_end;
    const char *blank;    /* a cell to fill in */
    bool labels_are_text; /* also those that are numbers */

    /* What strings cannot say. */
    void (*write_character)(const struct page *page, const char *character, size_t length); /* beyond ASCII */
    void (*begin_table)(const struct page *page, const struct sheet_table *table, bool open);
    page_writer *write_words;  /* the mistake, and how to round; NULL: page_escaped */
    page_writer *write_worked; /* the arithmetic */

    /* In place of the strings: a head, some tables, the formula of a task, and a whole task. */
    void (*write_head)(const struct page *page, const struct sheet *sheet, bool answers);
    void (*write_tables)(const struct page *page, const struct sheet_table *tables, size_t count, bool open);
    void (*write_formula)(const struct page *page, const struct sheet_task *task);
    void (*write_task)(const struct page *page, const struct sheet_task *task, size_t number);
};

/* In write_NAME.c. */
extern const struct sheet_dialect sheet_as_text, sheet_as_markdown, sheet_as_latex, sheet_as_html;

void sheet_write(const struct page *page, const struct sheet *sheet, bool answers);

/* The heading of answers, before the name of the sheet. */
#define ANSWERS_BEFORE "Answers: "

/* Writes a text as it is, or nothing for NULL; escaped; escaped and with its marks;
 * arithmetic, escaped. page_escape: so much of a text,
 * escaped. */
page_writer page_put, page_escaped, page_marked, page_arithmetic;
void page_escape(const struct page *page, const char *text, size_t length);

/* In write_text.c: the columns that a text with its marks takes in text. */
size_t sheet_text_columns(const char *text);

void page_formula(const struct page *page, const struct sheet_task *task);
