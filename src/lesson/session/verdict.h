/* SPDX-License-Identifier: MIT */
/* Compares the reader's numbers, words and outputs with the right ones. */
#ifndef ATTN_LESSON_SESSION_VERDICT_H
#define ATTN_LESSON_SESSION_VERDICT_H

#include "base/text.h"

enum { VERDICT_NUMBER_BYTES = 41 };

/* Whether all of the text is a number, as attn prints them: "0.9374", "-2", "1e-5"; of fewer bytes than
 * VERDICT_NUMBER_BYTES. */
bool verdict_is_number(const char *text);

/* The next number of a sentence or of what was printed: 0.5577 of "0.8819 and 0.5577.". False where there is none of
 * fewer bytes. */
bool verdict_next_number(const char **text, char number[VERDICT_NUMBER_BYTES]);

/* Whether a number that was said is the right one, or is it rounded to two decimals or more. Both are numbers. */
bool verdict_is_right(const char *said, const char *right);

/* Says in a sentence how far the number that was said is from the one that comes out: it, or right as far as it was
 * said, or by how much too low or too high. Both are numbers. */
void verdict_of_number(const char *said, const char *right, struct text *sentence);

/* The same of a word; case does not count. */
void verdict_of_word(const char *said, const char *right, struct text *sentence);

enum verdict {
    VERDICT_RIGHT,     /* all numbers of the answer are there */
    VERDICT_PART,      /* some of its tables are, and those are right */
    VERDICT_DIFFERENT, /* a table has other numbers */
    VERDICT_ELSE,      /* no table of it is there */
};

/* Compares what was printed with what the answer prints, table by table and row by row, without the scale of a heatmap:
 * the answer's rows are to be there, with the same numbers; what else is there does not count. Tables are known by how
 * their first lines begin, rows by their labels; numbers of more decimals than the answer has are
 * rounded to it. Where the answer's tables are not there, as in JSON, their rows are looked for anywhere. The sentence
 * says what differs first; it is empty for VERDICT_RIGHT. */
enum verdict verdict_of_output(const char *printed, const char *answer, struct text *sentence);

/* Whether the output has the number, digit by digit. */
bool verdict_has_number(const char *printed, const char *number);

#endif
