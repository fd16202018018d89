/* SPDX-License-Identifier: MIT */
/* How to draw and lay out the numbers of a case: the functions that rows name. */
#ifndef ATTN_CASES_DRAW_H
#define ATTN_CASES_DRAW_H

#include "cases/cases.h"

/* A case while it is drawn: all numbers are doubles, rounded to the dtype at the end. */
struct case_drawing {
    struct case_sizes sizes;
    enum dtype dtype;
    struct torch_random generator;
    double *query, *key, *value; /* (B, H, Tq, d), (B, H_kv, Tk, d), (B, H_kv, Tk, d_v) */
    struct input_file *file;
    struct arena *arena;
    struct error *error;
};

/* Makers. */
case_maker make_mask_rows, make_mask_block, make_mask_float, make_mask_infinite, make_poison_mask, make_poison_behind,
    make_lengths, make_overflow, make_denormal, make_sinks, make_sinks_large, make_alternating;

/* Layouts. */
case_maker lay_packed, lay_packed_apart, lay_pages;

#endif
