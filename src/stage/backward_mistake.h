/* SPDX-License-Identifier: MIT */
/* The hooks of the backward pass for mistakes: each mistake of slot grad is one of these, in src/mistake/change_grad.c.
 * Without them the gradients are right. */
#pragma once

#include "stage/stage.h"

/* The share of a query of a head in the sums over queries. */
struct backward_addition {
    const struct problem *problem;
    size_t item, head, query;
    double *const *rows;       /* by stage, as of struct attention_row */
    const double *bias;        /* (Tk) */
    const struct tensor *held; /* by stage; the code adds to those that are sums */
    double *dropped, *scores;  /* (Tk) factors of grad_context in grad_value, of query in grad_key */
    double *sink;              /* its part of grad_sinks; NULL: none */
};

/* Makes a row in place of the stage's own file. */
typedef void backward_make(const struct attention_row *row, enum stage stage);
/* Changes what a query adds. Threads call it for queries of one head at a time. */
typedef void backward_add(const struct backward_addition *addition);
/* Changes the sines that rotate a row back; false: no rotation. */
typedef bool backward_rotate(double *sines, size_t count);

struct backward_mistake {
    uint64_t makes; /* stages whose rows `make` makes, */
    uint64_t from;  /* and what they need besides what their files need */
    backward_make *make;
    backward_add *add;            /* or NULL */
    backward_rotate *rotate_back; /* or NULL */
    bool shows_masked;            /* gives masked cells numbers */
    size_t form;                  /* of its row in model/mistake_rows.h */
};
