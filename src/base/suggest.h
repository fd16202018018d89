/* SPDX-License-Identifier: MIT */
/* The valid word that a misspelt one most likely meant. */
#ifndef ATTN_BASE_SUGGEST_H
#define ATTN_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* The candidate that the fewest edits make of the word. An edit is one letter more, less or another, or two neighbours
 * swapped; case does not count. Of equals it is the first that begins with the word's letter, or else the first. NULL
 * where the fewest are more than a third of the word's letters (of two letters: one). Candidates that are NULL are
 * passed over. */
const char *suggest_word(const char *word, const char *const *candidates, size_t count);

/* "; did you mean 'prefixX'?" or "" where none is near, into text (size bytes); returns text. */
const char *suggest_hint(char *text, size_t size, const char *prefix, const char *word, const char *const *candidates,
                         size_t count);

/* Whether a word is one that others say for something: its letters and digits, in lower case, are one of `known`, a
 * list of such with a blank between two; NULL knows none. So "numheads" stands for num_heads, Num-Heads and
 * numHeads. */
bool suggest_knows(const char *known, const char *word);

#endif
