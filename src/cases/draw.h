/* SPDX-License-Identifier: MIT */
/* How to draw and lay out the numbers of a case: the functions that rows name. */
#pragma once

#include "cases/cases.h"

/* A case while it is drawn: all numbers are doubles, rounded to the dtype at the end. */
struct case_drawing {
    const struct case_row *row;
    struct case_sizes sizes;
    struct case_sequences sequences;
    enum dtype dtype;
    bool heads_last; /* B x T x H d */
    bool shapes;     /* only the shapes are wanted, not the numbers */
    struct torch_random generator;
    double *query, *key, *value; /* (B, H, Tq, d), (B, H_kv, Tk, d), (B, H_kv, Tk, d_v) */
    struct input_file *file;
    struct arena *arena;
    struct error *error;
};

/* Of features. */
case_maker make_mask, make_documents, make_lengths, make_sinks, make_splits;

/* Of rows. */
case_maker make_mask_block, make_mask_finite, make_poison_mask, make_poison_behind, make_overflow, make_denormal,
    make_sinks_large, make_alternating, make_splits_apart;
