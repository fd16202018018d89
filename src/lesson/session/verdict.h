/* SPDX-License-Identifier: MIT */
/* Compares the reader's answers with the right ones: numbers, words, and the output of two commands. */
#pragma once

#include "base/text.h"

enum { VERDICT_NUMBER_BYTES = 41 };

/* The next number of a sentence or an output: 0.5577 of "0.8819 and 0.5577.". False where there is none of fewer
 * bytes. */
bool verdict_next_number(const char **text, char number[VERDICT_NUMBER_BYTES]);

/* Whether `said` is the right number, or that rounded to two decimals or more. Both are numbers. */
bool verdict_is_right(const char *said, const char *right);

/* Writes a sentence about the number `said`: equal, right to its decimals, or by how much too low or too high. Both are
 * numbers. */
void verdict_of_number(const char *said, const char *right, struct text *sentence);

/* The same for a word; case does not count. */
void verdict_of_word(const char *said, const char *right, struct text *sentence);

enum verdict {
    VERDICT_RIGHT,     /* has all numbers of the answer */
    VERDICT_PART,      /* has some of its tables, and these are right */
    VERDICT_DIFFERENT, /* a table has other numbers */
    VERDICT_ELSE,      /* has no table of the answer */
};

/* Compares an output with that of the answer, table by table and row by row, without the scale of a heatmap. It must
 * have every row of the answer, with the same numbers, and may have others. The beginning of the first line identifies
 * a table, the label a row; numbers with more decimals than the answer are rounded. If it lacks the answer's tables, as
 * in JSON, searches for their rows anywhere. The sentence names the first difference; it is empty for VERDICT_RIGHT. */
enum verdict verdict_of_output(const char *printed, const char *answer, struct text *sentence);

/* Whether the number is in the output, literally. */
bool verdict_has_number(const char *printed, const char *number);
