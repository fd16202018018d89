/* SPDX-License-Identifier: MIT */
/* The exponentials of a row and their sum, which no stage holds: weights and lse are made of them. */
#ifndef ATTN_STAGE_SOFTMAX_H
#define ATTN_STAGE_SOFTMAX_H

#include "stage/stage.h"

/* What a softmax divides by: the sum of exp(masked_j - largest) over the allowed keys, and the sink's where the
 * head has one. NaN among the scores becomes the largest. */
struct softmax {
    double largest, sum;
    const double *sink; /* NULL: none */
};

/* The largest of a row of masked, (Tk), over the allowed keys, and its sink; minus infinity: there is none. NaN
 * is larger than all. */
double softmax_largest(const struct attention_row *row, const double *masked);

/* Of that row of masked, (Tk); the exponentials themselves, (Tk) written, are 0 where a key is forbidden. They may lie
 * in the same place. */
struct softmax softmax_exponentials(const struct attention_row *row, const double *masked, double *exponentials);

/* The same of all scores (Tk) of a row of a head, minus infinity where they are masked. */
struct softmax softmax_of_scores(const struct problem *problem, size_t head, const double *scores,
                                 double *exponentials);

/* The exponential of its sink, 0 where there is none. */
double softmax_of_sink(const struct problem *problem, const struct softmax *softmax);

/* The same of a row that is explained: the scores as the softmax reads them in operand, the exponentials in factor. */
struct softmax softmax_explained(struct explanation *e, struct explain_place place);

/* These as worked lines, a line for each allowed key, and their sum. */
void softmax_explain_exponentials(struct explanation *e, struct explain_place place, const struct softmax *softmax);

#endif
