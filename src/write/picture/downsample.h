/* SPDX-License-Identifier: MIT */
/* A table made small enough for a picture: blocks of its numbers become one number each, their mean or the largest.
 *
 * Rows are asked for one at a time, so a T x T table is never held; what is held is what the picture shows. Keys that
 * the mask forbids take no part in it; a block of nothing else is masked as a whole. */
#pragma once

#include "compute/result.h"

enum { DOWNSAMPLE_WORDS_BYTES = 128, DOWNSAMPLE_RANKS = 4 };

struct downsample {
    const struct result_table *table;
    size_t matrices, rows, columns; /* of the picture: M, R, C */
    enum pool pool;
    size_t row_block, column_block; /* rows and columns of the table that one of the picture stands for */
    double *numbers;                /* (M, R, C); 0 where masked */
    bool *masked;                   /* (M, R, C) */
    size_t *words;                  /* (M, R, C) of a table of words: the word of a number; else NULL */
    bool sharp;                     /* each row has its sum and its entropy behind it */
    double low, high;               /* the finite numbers lie between; 0 and 0 where there are none */
    bool any_masked, any_nan, any_below, any_above; /* below, above: minus and plus infinity that are not masked */
};

/* Reduces all matrices of the table to at most so many rows and columns (each at least 1); of a table of words it takes
 * the largest numbers of each row, the largest first. The arena's.
 * STATUS_SYSTEM where memory is short. */
enum status downsample_create(struct downsample *sample, struct result *result, const struct result_table *table,
                              size_t most_rows, size_t most_columns, enum pool pool, struct arena *arena,
                              struct error *error);

/* Sets `sharp` of a table of T x T shares that is not reduced, where that is asked for. */
void downsample_sharpen(struct downsample *sample, bool asked);

struct sharpness downsample_sharpness(const struct downsample *sample, size_t matrix, size_t row);

/* The heads of an item of a table, 1 where there are none. */
size_t downsample_heads(const struct result_table *table);

bool downsample_is_reduced(const struct downsample *sample);

/* "the mean of 2 x 2 numbers, those masked left out": describes a cell, into text (DOWNSAMPLE_WORDS_BYTES). Returns
 * text. */
const char *downsample_words(const struct downsample *sample, char *text);

/* The step between labels that fit, for rows or columns of that size: 1, 2, 5, 10, 20, 50 ... */
size_t downsample_step(double size, double room);

/* Whether the i-th row or column (from 0) has a label. With a step of 5 or more these are 1, 5, 10, 15 ...; with
 * less, and where each stands for several, the first and every step-th after it. */
bool downsample_is_labelled(size_t i, size_t step, size_t block);

/* The index of a number of the picture in numbers and masked. */
size_t downsample_index(const struct downsample *sample, size_t matrix, size_t row, size_t column);
