/* SPDX-License-Identifier: MIT */
/* What completes a command line in bash, zsh and fish: short scripts that ask attn itself, and attn's answer. */
#ifndef ATTN_CLI_COMPLETION_H
#define ATTN_CLI_COMPLETION_H

#include "base/output.h"
#include "cli/options.h"

/* Writes the script for that shell. */
void completion_write(enum shell shell, struct output *output);

/* Answers `attn --complete WORD...`: the words of a command line behind `attn`, the last of them that at the cursor, as
 * far as it is typed; bash gives --format=js as three words. Line 1: what may stand there, "words", "list" (words that
 * a comma may follow) or "files". Then one candidate a line: the whole word, and where it has a meaning a tab and that.
 * Candidates begin as the typed word does; they are texts of the tables, whatever was typed. */
void completion_answer(char *const *words, size_t count, struct output *output);

#endif
