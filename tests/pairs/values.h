/* SPDX-License-Identifier: MIT */
/* The values that a command is tried with, made from the table of its options: a new option, choice or stage is among them
 * without a word here, but for an option whose argument is text of its own kind. */
#ifndef ATTN_PAIRS_VALUES_H
#define ATTN_PAIRS_VALUES_H

#include "cli/options.h"

enum { VALUES_MOST = 288, VALUE_FILE = 0, VALUE_FORMAT = 1 };

/* One value of an option, or the input file (factor VALUE_FILE). */
struct value {
    const struct option_row *option;
    const char *text; /* NULL: the option alone */
    int factor;
};

struct values {
    int count, factor_count;
    struct value list[VALUES_MOST]; /* by factor: the files, the formats, then the others in the order of the table */
    const char *lacking;            /* an option whose argument nobody could think of, or NULL */
};

/* The values of a command. `files` and `weights` end in NULL; their texts are kept. An empty file name is none. */
void values_make(struct values *values, enum command command, const char *const *files, const char *const *weights);

/* The words of a value, into words (2); returns how many. A word that is made ("--explain=weights:2,1") lives in `room`
 * (VALUE_WORD_BYTES). */
enum { VALUE_WORD_BYTES = 96 };
size_t value_words(const struct value *value, const char **words, char *room);

#endif
