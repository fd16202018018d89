/* What completes a command line in bash, zsh and fish: short scripts that ask attn itself, and attn's answer. */
#ifndef ATTN_CLI_COMPLETION_H
#define ATTN_CLI_COMPLETION_H

#include "base/output.h"
#include "cli/options.h"

/* Writes the script for that shell. */
void completion_write(enum shell shell, struct output *output);

/* Answers `attn --complete WORD...`: the words of a command line behind `attn`, the last of them that at the cursor, as
 * far as it is typed; bash gives --format=js as three words. A line says what may stand there, "words", "list" (words
 * that a comma may follow) or "files"; then a line each the words that go on as it begins, each in whole and with its
 * meaning behind a tab where it has one. They are texts of the tables, whatever was typed. */
void completion_answer(char *const *words, size_t count, struct output *output);

#endif
