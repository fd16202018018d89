/* SPDX-License-Identifier: MIT */
/* Finds the inputs of data/ that tell mistakes apart: whole numbers, changed at random, a few at a time, where that
 * leaves the mistakes no nearer to the right table, and to each other, than they were. A seed finds the same again. */
#ifndef ATTN_STRESS_SEARCH_H
#define ATTN_STRESS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEARCH_TEXT_BYTES = 1 << 13 };

/* The seed that has found data/: no row of a tensor is there twice, or zero. */
#define SEARCH_SEED 38

/* Finds the input of that name, as JSON into text (SEARCH_TEXT_BYTES); *steps is how many changes were tried. Whether
 * there is one, and it was found. */
bool search_input(const char *name, uint64_t seed, char *text, size_t *steps);

#endif
