/* How a sheet is written, a writer for each format that is for paper. */
#ifndef ATTN_WORKSHEET_WRITERS_H
#define ATTN_WORKSHEET_WRITERS_H

#include "worksheet/sheet.h"

/* What a writer writes to; `bold` headings where a terminal shows them. */
struct page {
    struct output *output;
    bool bold;
};

/* A step is NULL where a format has nothing to say there. */
struct sheet_writer {
    void (*begin)(const struct page *page);                                          /* of the document */
    void (*turn)(const struct page *page);                                           /* between two sheets */
    void (*write)(const struct page *page, const struct sheet *sheet, bool answers); /* a sheet, or its answers */
    void (*end)(const struct page *page);
};

/* In write_NAME.c. */
extern const struct sheet_writer sheet_as_text, sheet_as_markdown, sheet_as_latex, sheet_as_html;

/* How answers are headed, before the name of the sheet. */
#define ANSWERS_BEFORE "Answers: "

/* A table as it is given, with blanks, or filled in. */
enum look { LOOK_GIVEN, LOOK_BLANK, LOOK_FILLED };

/* Writes a piece of a text, escaped. */
typedef void escape_function(struct output *output, const char *piece, size_t length);

/* Writes a text with its marks as `marks` has them, by the byte of each, and the pieces between them by `escape`. */
void marks_write(struct output *output, const char *text, const char *const marks[SHEET_MARKS],
                 escape_function *escape);

/* What a formula says in letters, and a format says better. */
struct sign {
    const char *plain, *set;
};

/* Writes a formula with such signs; the list ends in {NULL}. */
void signs_write(struct output *output, const char *formula, const struct sign *signs, escape_function *escape);

#endif
