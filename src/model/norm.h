/* SPDX-License-Identifier: MIT */
/* Norms of a row: what a layer does to its inputs before attention, and some to each head's query, key and
 * value.
 *
 *     layer         (x - mean) / sqrt(variance + eps) x weight + bias   Ba et al. 2016, "Layer Normalization"
 *     rms           x / sqrt(mean of squares + eps) x weight            Zhang and Sennrich 2019, "RMSNorm"
 *     rms-plus-one  the same, x (1 + weight): Gemma
 *
 * Without a weight nothing is multiplied. */
#pragma once

#include "base/choice.h"
#include "tensor/tensor.h"

#include <stdbool.h>

#define NORM_KINDS(ROW) \
    ROW(NORM_NONE, "none") ROW(NORM_LAYER, "layer") ROW(NORM_RMS, "rms") ROW(NORM_RMS_PLUS_ONE, "rms-plus-one")

enum norm_kind { NORM_KINDS(CHOICE_ID) NORM_KIND_COUNT };

enum norm_id { NORM_INPUTS, NORM_QUERY, NORM_KEY, NORM_VALUE, NORM_COUNT };

struct norm {
    enum norm_kind kind; /* NORM_NONE: there is none */
    double eps;
    struct tensor weight, bias; /* rank 0: none */
    bool last;                  /* RMS of query or key after its rotation: the same, but the weights come last */
    bool left_out, twice;       /* mistakes: rows stay unchanged, or are normed again; */
    bool of_sum, less_1;        /* squares are summed, or divided by one less than their number; */
    bool no_root;               /* or not the root of their mean divides */
};
