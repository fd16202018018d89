/* SPDX-License-Identifier: MIT */
/* How to write a sheet: one walk over it, and a dialect for each format for paper. */
#ifndef ATTN_WORKSHEET_WRITERS_H
#define ATTN_WORKSHEET_WRITERS_H

#include "worksheet/sheet.h"

struct table_markup_escapes;

/* Where to write a sheet; `bold` headings where a terminal shows them. */
struct page {
    const struct sheet_dialect *dialect;
    struct output *output;
    bool bold;
};

/* A table with its numbers, with blanks, or filled in. */
enum look { LOOK_GIVEN, LOOK_BLANK, LOOK_FILLED };

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
    const char *minus[2], *infinity[2];         /* around a number below zero; plus and minus infinity */

    const char *head[3], *foot;       /* of a sheet or its answers: before the title, before and behind the name */
    const char *given[3];             /* before what is given, and behind it where tasks are open or filled in */
    const char *rule[2], *no_rule;    /* how to round; where there is nothing to say */
    const char *found[2], *worked[2]; /* in the answers: the mistake, the arithmetic */

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
    void (*begin_table)(const struct page *page, const struct sheet_table *table, enum look look);
    page_writer *write_words;  /* the mistake, and how to round; NULL: page_escaped */
    page_writer *write_worked; /* the arithmetic */

    /* In place of the strings: a head, some tables, the formula of a task, and a whole task. */
    void (*write_head)(const struct page *page, const struct sheet *sheet, bool answers);
    void (*write_tables)(const struct page *page, const struct sheet_table *tables, size_t count, enum look look);
    void (*write_formula)(const struct page *page, const struct sheet_task *task);
    void (*write_task)(const struct page *page, const struct sheet_task *task, size_t number);
};

/* In write_NAME.c. */
extern const struct sheet_dialect sheet_as_text, sheet_as_markdown, sheet_as_latex, sheet_as_html;

/* Writes a sheet, or its answers. */
void sheet_write(const struct page *page, const struct sheet *sheet, bool answers);

/* The heading of answers, before the name of the sheet. */
#define ANSWERS_BEFORE "Answers: "

/* Writes a text as it is, or nothing for NULL; escaped; escaped and with its marks. page_escape: so much of a text,
 * escaped. */
page_writer page_put, page_escaped, page_marked;
void page_escape(const struct page *page, const char *text, size_t length);

void page_formula(const struct page *page, const struct sheet_task *task);

#endif
