/* SPDX-License-Identifier: MIT */
/* Completion in bash, zsh and fish: short scripts that ask attn, and attn's answer. */
#pragma once

#include "base/output.h"
#include "cli/options.h"

/* The scripts, data/completion/attn.SHELL, which the Makefile compiles into the program. */
extern const unsigned char completion_bash_bytes[], completion_zsh_bytes[], completion_fish_bytes[];
extern const size_t completion_bash_length, completion_zsh_length, completion_fish_length;

void completion_write(enum shell shell, struct output *output);

/* Answers `attn --complete WORD...`: the words after `attn`, the last one as typed up to the cursor; bash gives
 * --format=js as three words. Line 1 is "words", "list" (a comma may follow a word) or "files". Then each line has a
 * candidate: the full word, perhaps with a tab and its meaning. Candidates begin with the typed word; they are texts of
 * the tables, whatever was typed. */
void completion_answer(char *const *words, size_t count, struct output *output);
