/* SPDX-License-Identifier: MIT */
/* A quick test of drawn parameters, for many seeds and skips: it reads a few numbers of the generator's stream, and
 * rejects nearly all that do not give the table.
 *
 * A context is a weighted mean of values, so each of its columns lies between the smallest and the largest value of
 * its keys; output is the sum of such means. Only parameters that pass for each column need an attention row. Tables of
 * scores or weights have no such bounds: there one row decides. */
#pragma once

#include "why/trial.h"

/* Numbers of one projection in the stream of a module. */
struct screen_place {
    size_t start, columns, bias; /* of the weight and of the bias; bias SIZE_MAX: none */
    size_t column_step, input_step;
    double from, width, bias_bound; /* a weight is from + width u, a bias between +-bias_bound */
};

/* What passes: what is right; a wrong scale or mask, too; or whatever mistake keeps each row a mean of the values. */
enum screen_kind { SCREEN_RIGHT, SCREEN_ROW, SCREEN_VALUES };

struct screen {
    const struct problem *problem;
    struct screen_place places[PROJECTION_COUNT], out;
    enum projection_id id;    /* of the table's columns */
    bool is_operand;          /* the table is query, key or value: no means */
    enum stage of_keys;       /* scores, scaled or weights: a row decides alone; STAGE_COUNT: none of them */
    size_t module_numbers;    /* numbers that a module draws, */
    size_t numbers;           /* and all parameters */
    size_t columns;           /* of the table's stage, all heads */
    size_t tokens, d_in;      /* of the item's inputs */
    double *inputs;           /* (tokens, d_in) of the item */
    double *lowest, *highest; /* (columns, tokens) bounds of the rows whose last allowed key is this; infinite: none */
    const double *row;        /* (columns) a row of the table to compute; NaN where unknown; NULL: none */
    double *row_tolerance;    /* (columns) */
    size_t query;             /* its token */
    double *bias;             /* (H, tokens) what the mask adds to its scores */
    enum screen_kind kind;
    bool is_normal; /* the projections draw torch.randn's numbers */
    bool is_sharp;  /* few wrong parameters pass */
    bool joins;     /* the columns are those of out_proj */
    size_t scratch; /* numbers of scratch */
};

/* Prepares the test of a job's tables; false if it cannot judge such a job, or out of memory. */
bool screen_create(struct screen *screen, const struct problem *problem, const struct mine *mine, enum screen_kind kind,
                   struct arena *arena, struct error *error);

/* Multiply-adds of a test that ends at the first column. */
double screen_work(const struct screen *screen);

/* With `is_normal`: draws the numbers of a stream, whose parameters begin here, and moves the generator by one. */
void screen_draw(const struct screen *screen, struct torch_random *generator, float *u);

/* Streams of torch.rand's numbers that are tested together, each of which begins one number later; a test of fewer may
 * read the numbers of all. */
enum { SCREEN_LANES = 64 };

/* Whether the parameters that the numbers `u` (numbers) draw may give the table: a bit for each of so many streams;
 * scratch (screen->scratch). */
uint64_t screen_passes(const struct screen *screen, const float *u, size_t streams, double *scratch);
