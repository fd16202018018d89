/* SPDX-License-Identifier: MIT */
/* The exponentials of a row and their sum, which no stage holds: weights and lse come from them. */
#pragma once

#include "stage/stage.h"

/* What a softmax divides by: the sum of exp(masked_j - largest) over the allowed keys and the head's sink. Any NaN
 * among the scores becomes the largest. */
struct softmax {
    double largest, sum;
    const double *sink; /* NULL: none */
};

/* The largest of a row of masked, (Tk), over the allowed keys and the sink; minus infinity: none. NaN exceeds all. */
double softmax_largest(const struct attention_row *row, const double *masked);

/* The softmax of a row of masked, (Tk); writes exponentials (Tk), 0 for a forbidden key. The two arrays may be the
 * same. */
struct softmax softmax_exponentials(const struct attention_row *row, const double *masked, double *exponentials);

/* The same for the scores (Tk) of a row of a head, minus infinity where masked. */
struct softmax softmax_of_scores(const struct problem *problem, size_t head, const double *scores,
                                 double *exponentials);

/* The exponential of its sink; 0: none. */
double softmax_of_sink(const struct problem *problem, const struct softmax *softmax);

/* The same for an explained row: scores as the softmax reads them in e->operand, exponentials in e->factor. */
struct softmax softmax_explained(struct explanation *e, struct explain_place place);

/* Writes these as worked lines, one per allowed key, and their sum. */
void softmax_explain_exponentials(struct explanation *e, struct explain_place place, const struct softmax *softmax);
