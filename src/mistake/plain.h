/* SPDX-License-Identifier: MIT */
/* A recipe -> complete stages, in double, each rounded once to the working dtype when stored. For small jobs: it holds
 * T x T. Without mistakes the numbers are those of the reference, bit for bit. */
#pragma once

#include "mistake/recipe.h"

/* Projections that trials of one problem share: x . W + bias of query, key and value, (B, T, columns). */
struct plain_columns {
    double *made[PROJECTION_COUNT];           /* NULL: not yet */
    struct tensor operands[PROJECTION_COUNT]; /* the same cut into heads, after its steps; rank 0: not yet */
    struct tensor projected[PROJECTION_COUNT], normed[PROJECTION_COUNT]; /* and before these steps */
    const void *given[PROJECTION_COUNT]; /* the data of the given operand that it is made from */
    size_t out_columns;                  /* columns of the output projection to share; 0: all */
    double *out_weight, *out_bias;       /* these, as y = x . W; NULL: not yet, or none */
};

/* Masked scores at or below this mean minus infinity: some people mask with a large negative number. */
#define PLAIN_MASKED (-1e4)

struct plain {
    const struct recipe *recipe;
    const struct problem *problem;            /* the recipe's */
    const size_t *rows;                       /* (S) the computed queries, from 0, ascending */
    size_t row_count;                         /* S */
    struct tensor operands[PROJECTION_COUNT]; /* query (B, H, Tq, d), key (B, H_kv, Tk, d), value (B, H_kv, Tk, d_v) */
    /* query and key before norm and rotation, and before rotation; rank 0: no such step. */
    struct tensor projected[PROJECTION_COUNT], normed[PROJECTION_COUNT];
    double *stages[STAGE_COUNT]; /* the requested ones and those they are made from: T x T (B, H, S, Tk), context (B, H,
                                    S, d_v), lse (B, H, S), output (B, S, columns); else NULL */
    bool wants_normed;           /* makes normed, too, (B, S, d_in) */
    size_t few_columns;          /* not 0: makes query for `rows` alone, and of out_proj only the first so many columns,
                                    where the recipe allows that */
    bool has_only;               /* recipe->across: context and output are made for the query `only` alone */
    size_t only;
    struct plain_columns *columns; /* shared by trials, and */
    struct arena *lasting;         /* its arena; or NULL */
    bool *kept;                    /* (B, H, S, Tk) what dropout keeps; NULL without dropout */
    double *bias;                  /* (B, H, S, Tk) what the mask adds; minus infinity: forbids the key */
    bool *empty;                   /* (B, H, S) the mask forbids all keys */
    /* Somebody's own stages, to use in place of computed ones: laid out as `operands` and `stages`; else NULL. */
    const double *own[STAGE_COUNT];
    struct arena *arena;
    struct error *error;
};

/* Computes the stages, a set closed under stage_closure, of those rows; recipe->across requires all queries. `plain`
 * begins as {0}, or with `own`, `wants_normed`, `few_columns` and `only`. It reads and fills `columns`, which lives in
 * `lasting`, if the recipe leaves the projections unchanged; NULL: shares nothing. STATUS_SYSTEM: out of memory. */
enum status plain_run(struct plain *plain, const struct recipe *recipe, const size_t *rows, size_t row_count,
                      uint64_t stages, struct plain_columns *columns, struct arena *lasting, struct arena *arena,
                      struct error *error);

/* The queries that a recipe computes for `rows` (*count): these, or with recipe->across all. NULL: out of memory. */
const size_t *plain_rows(const struct recipe *recipe, const size_t *rows, size_t *count, struct arena *arena,
                         struct error *error);

/* Bytes that a run needs, approximately. */
double plain_bytes(const struct problem *problem, size_t row_count);

/* The numbers of a stage, for S rows. */
size_t plain_count(const struct problem *problem, enum stage stage, size_t row_count);

/* Query, key or value as computed, and the earlier forms of the first two; NULL for other stages. */
const struct tensor *plain_tensor(const struct plain *plain, enum stage stage);

/* A number of a computed stage; `row` is a key, or one of the computed queries. */
double plain_number(const struct plain *plain, enum stage stage, size_t item, size_t head, size_t row, size_t column);

/* In plain_operands.c: makes query, key and value. */
enum status plain_operands(struct plain *plain);

/* Projects rows by the first columns of a projection, a few at a time, which fit in the cache: y (rows, y_stride), not
 * rounded. STATUS_SYSTEM: out of memory. */
enum status plain_project(const struct plain *plain, const struct projection *projection, const double *x, size_t rows,
                          size_t d_in, size_t columns, double *y, size_t y_stride);

/* Makes normed, (B, S, d_in), of those rows. */
void plain_make_normed(const struct plain *plain, double *normed);

/* The same of positions, or embedded. */
void plain_make_embedded(const struct plain *plain, enum stage stage, double *made);

/* The operand to use, maybe that of another role, (B, heads, T, columns). */
const struct tensor *plain_operand(struct plain *plain, enum projection_id id, struct tensor *room);

/* In plain_weights.c: masked after a dropout that comes too early, 0 for a dropped score; a softmax over another axis
 * than keys; and changes of weights after it. */
enum status plain_drop_scores(struct plain *plain, double **scores);
enum status plain_softmax(struct plain *plain, const double *scores);
void plain_finish_weights(const struct plain *plain);

/* In plain_output.c. plain_words: a stage from the output to the next word. plain_finish_result: adds inputs to the
 * rows of the last stage, and norms them. plain_attend_heads: makes context from query, key and value, in which each
 * token's heads attend to each other. */
enum status plain_output(struct plain *plain);
enum status plain_words(const struct plain *plain, enum stage stage);
void plain_finish_result(const struct plain *plain, double *numbers);
enum status plain_attend_heads(const struct plain *plain, const struct tensor operands[PROJECTION_COUNT]);

/* The index of row `row` of an item and head in a stage. */
static inline size_t plain_row(const struct plain *plain, size_t item, size_t head, size_t row)
{
    return (item * plain->problem->size.heads + head) * plain->row_count + row;
}
