/* The valid word that a misspelt one most likely meant. */
#ifndef ATTN_BASE_SUGGEST_H
#define ATTN_BASE_SUGGEST_H

#include <stddef.h>

/* The candidate with the fewest edits (a letter more, less or other, two neighbours swapped) from the word, of equals
 * the first that begins with the same letter; NULL where none is near: more than a third of the word's letters (of two: one) would change. Case does not count.
 * Candidates that are NULL are passed over. */
const char *suggest_word(const char *word, const char *const *candidates, size_t count);

/* "; did you mean 'prefixX'?" or "" where none is near, into text (size bytes); returns text. */
const char *suggest_hint(char *text, size_t size, const char *prefix, const char *word, const char *const *candidates,
                         size_t count);

#endif
