/* SPDX-License-Identifier: MIT */
/* The valid word that a misspelt one most likely meant. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The candidate at the fewest edits from the word. An edit adds, drops or changes a letter, or swaps two neighbours;
 * case does not count. Among equals the first that shares the word's first letter wins, else the first. NULL where that
 * takes more edits than a third of the word's letters (one for two letters). Skips candidates that are NULL. */
const char *suggest_word(const char *word, const char *const *candidates, size_t count);

/* "; did you mean 'prefixX'?" or "" where none is near, into text (size bytes); returns text. */
const char *suggest_hint(char *text, size_t size, const char *prefix, const char *word, const char *const *candidates,
                         size_t count);

/* Whether the word's letters and digits, in lower case, are one of `known`, a list separated by blanks or NULL. So
 * "numheads" matches num_heads, Num-Heads and numHeads. */
bool suggest_knows(const char *known, const char *word);
