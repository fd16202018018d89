/* SPDX-License-Identifier: MIT */
/* From the output to the next word: residual, logits, probabilities. Each row is made from that of the stage before. */
#pragma once

#include "problem/problem.h"

/* Whether these stages follow the output: there is an unembedding. */
bool words_follow(const struct problem *problem);

/* The way of one token. */
struct words_row {
    const struct problem *problem;
    const struct tensor *inputs; /* what the residual adds: given.inputs; or NULL */
    size_t token;                /* over items and queries */
    const double *unembedding;   /* (d_in, V) */
    const double *bias;          /* (V); or NULL */
};

/* Makes the row, (columns of the stage), from that of the stage before, and rounds it to the working dtype. */
void words_row_make(const struct words_row *words, enum stage stage, const double *before, double *row);
