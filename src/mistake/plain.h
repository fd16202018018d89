/* SPDX-License-Identifier: MIT */
/* A recipe -> whole stages, in double, each rounded once to the working dtype as it is stored. For small jobs: T x T
 * is held. Without mistakes the numbers are those of the reference, bit for bit. */
#ifndef ATTN_MISTAKE_PLAIN_H
#define ATTN_MISTAKE_PLAIN_H

#include "mistake/recipe.h"

/* What projections make, which trials of one problem share: x . W + bias of query, key and value, (B, T, columns). */
struct plain_columns {
    double *made[PROJECTION_COUNT];           /* NULL: not yet */
    struct tensor operands[PROJECTION_COUNT]; /* the same cut into heads, with its steps; rank 0: not yet */
    struct tensor projected[PROJECTION_COUNT], normed[PROJECTION_COUNT]; /* and before these */
    double *out_weight, *out_bias; /* of the output projection, as y = x . W; NULL: not yet, or none */
};

/* Scores from here down stand for minus infinity where somebody masks with a large number. */
#define PLAIN_MASKED (-1e4)

struct plain {
    const struct recipe *recipe;
    const struct problem *problem;            /* the recipe's */
    const size_t *rows;                       /* (S) the queries that are computed, from 0, ascending */
    size_t row_count;                         /* S */
    struct tensor operands[PROJECTION_COUNT]; /* query (B, H, Tq, d), key (B, H_kv, Tk, d), value (B, H_kv, Tk, d_v) */
    /* Of query and key as they were before norm and rotation, and before rotation; rank 0 where there are none. */
    struct tensor projected[PROJECTION_COUNT], normed[PROJECTION_COUNT];
    double *stages[STAGE_COUNT]; /* those that were asked for and what they are made from: T x T (B, H, S, Tk), context
                                      (B, H, S, d_v), lse (B, H, S), output (B, S, columns); else NULL */
    bool wants_normed;           /* `stages` has normed, too, (B, S, d_in) */
    struct plain_columns *columns; /* what trials share, and */
    struct arena *lasting;         /* where it lives; or NULL */
    bool *kept;                    /* (B, H, S, Tk) what dropout keeps; NULL without dropout */
    double *bias;                  /* (B, H, S, Tk) what the mask adds; minus infinity: the key takes no part */
    bool *empty;                   /* (B, H, S) the mask forbids all keys */
    /* Somebody's own stages, to go on from in place of what would be made: as `operands` and `stages`; else NULL. */
    const double *own[STAGE_COUNT];
    struct arena *arena;
    struct error *error;
};

/* Computes the stages, a set closed under stage_closure, of those rows; where recipe->across all queries must be among
 * them. `plain` begins as {0}, or with `own` and `wants_normed`.
 * `columns` is used and filled where the recipe leaves the projections as
 * they are; it lives in `lasting`. NULL: nothing is shared. STATUS_SYSTEM where memory is short. */
enum status plain_run(struct plain *plain, const struct recipe *recipe, const size_t *rows, size_t row_count,
                      uint64_t stages, struct plain_columns *columns, struct arena *lasting, struct arena *arena,
                      struct error *error);

/* The queries that a recipe computes where `rows` (*count) are asked for: these, or where queries meet all of them.
 * NULL where memory is short. */
const size_t *plain_rows(const struct recipe *recipe, const size_t *rows, size_t *count, struct arena *arena,
                         struct error *error);

/* Bytes that a run needs, about. */
double plain_bytes(const struct problem *problem, size_t row_count);

/* How many numbers a stage has, for S rows. */
size_t plain_count(const struct problem *problem, enum stage stage, size_t row_count);

/* In plain_operands.c: query, key and value. */
enum status plain_operands(struct plain *plain);

/* Inputs as they are normed, (B, S, d_in), of those rows. */
void plain_make_normed(const struct plain *plain, double *normed);

/* What stands in the place of an operand where it is used: of another role, in (B, heads, T, columns). */
const struct tensor *plain_operand(struct plain *plain, enum projection_id id, struct tensor *room);

/* In plain_weights.c: masked after a dropout that comes too early, 0 where a score is dropped; the softmax where it is
 * not over the keys of a row; and what becomes of weights behind it. */
enum status plain_drop_scores(struct plain *plain, double **scores);
enum status plain_softmax(struct plain *plain, const double *scores);
void plain_finish_weights(const struct plain *plain);

/* In plain_output.c. */
enum status plain_output(struct plain *plain);

/* Row `row` of those of item and head; where it begins in a stage. */
static inline size_t plain_row(const struct plain *plain, size_t item, size_t head, size_t row)
{
    return (item * plain->problem->size.heads + head) * plain->row_count + row;
}

#endif
