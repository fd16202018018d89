/* SPDX-License-Identifier: MIT */
/* Compares what the reader found with what comes out: numbers, words, and the output of two commands. */
#ifndef ATTN_LESSON_SESSION_VERDICT_H
#define ATTN_LESSON_SESSION_VERDICT_H

#include "base/text.h"

enum { VERDICT_NUMBER_BYTES = 41 };

/* Whether all of the text is a number, as attn prints it: "0.9374", "-2", "1e-5"; of fewer than VERDICT_NUMBER_BYTES
 * bytes. */
bool verdict_is_number(const char *text);

/* The next number of a sentence or an output: 0.5577 of "0.8819 and 0.5577.". False where there is none of fewer
 * bytes. */
bool verdict_next_number(const char **text, char number[VERDICT_NUMBER_BYTES]);

/* Whether the number said is the right one, or that rounded to two decimals or more. Both are numbers. */
bool verdict_is_right(const char *said, const char *right);

/* Says in a sentence how far the number said is from the right one: equal, right as far as it was said, or by how
 * much too low or too high. Both are numbers. */
void verdict_of_number(const char *said, const char *right, struct text *sentence);

/* The same for a word; case does not count. */
void verdict_of_word(const char *said, const char *right, struct text *sentence);

enum verdict {
    VERDICT_RIGHT,     /* all numbers of the answer are there */
    VERDICT_PART,      /* some of its tables are, and those are right */
    VERDICT_DIFFERENT, /* a table has other numbers */
    VERDICT_ELSE,      /* no table of it is there */
};

/* Compares an output with that of the answer, table by table and row by row, without the scale of a heatmap. Every
 * row of the answer must be there, with the same numbers; more may be there. The beginning of the first line
 * identifies a table, the label a row; numbers with more decimals than the answer are rounded. Where the answer's
 * tables are not there, as in JSON, looks for their rows anywhere. The sentence says what differs first; it is empty
 * for VERDICT_RIGHT. */
enum verdict verdict_of_output(const char *printed, const char *answer, struct text *sentence);

/* Whether the number is in the output, as it is written. */
bool verdict_has_number(const char *printed, const char *number);

#endif
