/* SPDX-License-Identifier: MIT */
/* A word of a command line, quoted for a shell. */
#pragma once

#include "base/text.h"

/* Adds the word: unquoted if no character is special to a shell, else in single quotes; as $'...' of POSIX.1-2024, with
 * bytes in octal, if it contains bytes that act on a terminal or are no UTF-8. */
void shell_word(struct text *text, const char *word);

/* Whether a line has only words as shell_word quotes them, and blanks: a shell runs its first word and nothing else. */
bool shell_line_is_words(const char *line);
