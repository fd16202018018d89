/* SPDX-License-Identifier: MIT */
/* A word of a command line, as it is typed in a shell. */
#ifndef ATTN_BASE_SHELL_WORD_H
#define ATTN_BASE_SHELL_WORD_H

#include "base/text.h"

/* Adds the word: as it is where no character of it means anything to a shell, else in single quotes; where some of it
 * would act on a terminal, or is no text, as $'...' of POSIX.1-2024, with these bytes in octal. */
void shell_word(struct text *text, const char *word);

/* Whether a line is words as they are added, and blanks: a shell that reads it runs its first word and nothing else. */
bool shell_line_is_words(const char *line);

#endif
