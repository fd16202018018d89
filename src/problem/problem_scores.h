/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): scale and softcap of the scores, and dropout. */
#ifndef ATTN_PROBLEM_PROBLEM_SCORES_H
#define ATTN_PROBLEM_PROBLEM_SCORES_H

#include "model/rope.h"
#include "model/torch_random.h"

#include <stdbool.h>

struct problem_scaling {
    double factor; /* 1 / sqrt(d) or the given scale, divided by the temperature */
    double temperature;
    double softcap;      /* 0: none */
    bool on_query;       /* the scale multiplies the query: */
    double query_factor; /* by this; `factor` is then 1 */
    struct query_growth growth;
};

struct problem_dropout {
    double share;                  /* share of the weights that become 0 */
    struct torch_random generator; /* its start */
    bool seeded;                   /* --dropout-seed sets the start */
};

#endif
