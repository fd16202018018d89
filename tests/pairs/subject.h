/* SPDX-License-Identifier: MIT */
/* The command that is tried now, and rows of its design as command lines. */
#ifndef ATTN_PAIRS_SUBJECT_H
#define ATTN_PAIRS_SUBJECT_H

#include "design.h"
#include "program.h"
#include "values.h"

enum { SUBJECT_FILES = 40, SUBJECT_LINE_BYTES = 1024 };

/* A command with what it is given beside its options: the first file is also standard input. */
struct subject_row {
    const char *words[3]; /* end in NULL */
    enum command command;
    const char *base[5];  /* words that stand before those of a row */
    const char *folder;   /* NULL: no more files */
    const char *files[4]; /* before those of the folder */
};

struct subject {
    const struct subject_row *row;
    struct values values;
    struct design design;
    char *files[SUBJECT_FILES + 1];
    char line[SUBJECT_LINE_BYTES],
        message[SUBJECT_LINE_BYTES]; /* of the present row: as it would be typed, what came */
};

extern struct subject subject;

/* The value of an option in a row, or NULL; "in" is the file. */
const struct value *subject_value(const struct design_row *row, const char *option);
const char *subject_format(const struct design_row *row);

/* COLUMNS of the present row: from 30 to 100. */
size_t subject_columns(void);

/* Words of a command line. */
struct command_words {
    size_t count;
    const char *list[4 * DESIGN_FACTORS];
    char rooms[DESIGN_FACTORS][VALUE_WORD_BYTES];
};

void words_add(struct command_words *words, const char *word);

/* A row, in another format where that is said, and without an option where one is. */
void words_make(struct command_words *words, const struct design_row *row, const char *format, const char *without);

/* A gradient stage is there with --grad alone: what it needs is added where the row has it not, so that it is tried with
 * a third option, too. */
void words_add_grad(struct command_words *words, const struct design_row *row);

/* Adds those of the row's options that are among the names, which end in NULL. */
void words_keep(struct command_words *words, const struct design_row *row, const char *const *names);

/* The words of the row as they would be typed, into subject.line. */
void words_type(const struct command_words *words, const struct design_row *row);

void words_run(const struct command_words *words, bool to_file, struct program_run *run);

/* The row in another format, without an option, through standard output; checks that it is accepted. */
bool subject_run_as(const struct design_row *row, const char *format, const char *without, struct program_run *run);

#endif
