/* SPDX-License-Identifier: MIT */
/* Where an element of a table is, in words: which item, head, query, key or column, and its token. */
#ifndef ATTN_DIFF_PLACE_H
#define ATTN_DIFF_PLACE_H

#include "diff/pair.h"

/* What an axis counts: items of a batch, heads, tokens, queries, keys, columns; or what nothing tells. */
enum diff_axis {
    DIFF_ITEM,
    DIFF_HEAD,
    DIFF_TOKEN,
    DIFF_QUERY,
    DIFF_KEY,
    DIFF_COLUMN,
    DIFF_ROW,    /* queries that are not all of them, or unknown rows */
    DIFF_MATRIX, /* items or heads */
    DIFF_NUMBER, /* of a tensor with this axis alone */
    DIFF_AXES,
};

/* One step on the way to an element: the axis, its name, the position on it from 1, the token there or NULL. */
struct diff_step {
    enum diff_axis axis;
    const char *name;
    size_t position;
    const char *token;
    bool alone; /* the token tells the place by itself: no other one is the same, and it is no number */
};

/* Where an element is (an index into both tensors), in steps (TENSOR_RANK); returns how many. An axis has the name that
 * the mechanism gives it: item, head, query, key, column; "matrix" and "row" where the files do not tell. */
size_t diff_place(const struct diff *diff, const struct diff_stage *stage, size_t element, struct diff_step *steps);

#endif
