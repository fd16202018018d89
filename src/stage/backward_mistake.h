/* SPDX-License-Identifier: MIT */
/* Where the backward pass asks for mistakes: each of slot grad is one of these, in src/mistake/change_grad.c. The
 * gradients themselves are right. */
#ifndef ATTN_STAGE_BACKWARD_MISTAKE_H
#define ATTN_STAGE_BACKWARD_MISTAKE_H

#include "stage/stage.h"

/* What a query of a head adds to the sums over queries. */
struct backward_addition {
    const struct problem *problem;
    size_t item, head, query;
    double *const *rows;       /* by stage, as of struct attention_row */
    const double *bias;        /* (Tk) */
    const struct tensor *held; /* by stage; those that are sums are added to */
    double *dropped, *scores;  /* (Tk) factors of its grad_context in grad_value, of its query in grad_key */
    double *sink;              /* its part of grad_sinks; NULL: there are none */
};

/* In the place of a stage's own file. */
typedef void backward_make(const struct attention_row *row, enum stage stage);
/* Changes what a query adds. Threads call it for queries of one head at a time. */
typedef void backward_add(const struct backward_addition *addition);
/* Changes the sines by which a row is rotated back; false: it is not. */
typedef bool backward_rotate(double *sines, size_t count);

struct backward_mistake {
    uint64_t makes; /* stages whose rows `make` makes, */
    uint64_t from;  /* and what they take beside what their files take */
    backward_make *make;
    backward_add *add;            /* or NULL */
    backward_rotate *rotate_back; /* or NULL */
    bool shows_masked;            /* cells that the mask forbids have numbers of their own */
    size_t form;                  /* of its row in model/mistake_rows.h */
};

#endif
