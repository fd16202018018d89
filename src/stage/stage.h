/* SPDX-License-Identifier: MIT */
/* The functions of a stage: when it applies, its formula, the arithmetic of one row, and the explanation of that. Each
 * stage has a file here with its struct stage_functions at the end, and a row in model/stages.h with its facts.
 *
 *   B items of a batch, H heads, H_kv heads of key and value, Tk keys, d columns of one head of query and key, d_v of
 *   value. */
#pragma once

#include "explain/terms.h"
#include "kernel/fused.h"

/* One query of one head on its way through the stages: inputs and outputs of each. */
struct attention_row {
    const struct problem *problem;
    const double *key, *prescaled_key, *value; /* of the head, as doubles: stage/head.h */
    /* By stage, its row: T x T (Tk), query (d), context (d_v), lse (1). Rows of earlier stages are rounded to the
     * working dtype; the caller rounds the one made. */
    double *const *stages;
    size_t at;           /* the query, from 0; only of mistakes */
    struct span own;     /* the keys of its sequence; all without sequences */
    struct span allowed; /* outside it the mask forbids every key */
    struct span
        computed; /* all keys; or the allowed ones, if nobody reads scores and the row is not empty: stages before the
                     mask skip the others, later ones set them to minus infinity or 0 */
    const double *bias; /* (Tk) what the mask adds; minus infinity: forbids the key */
    bool empty;         /* the mask forbids all keys */
    const double *sink; /* the head's, or NULL */
    const bool *kept;   /* (Tk) which weights dropout keeps; NULL: all, unscaled */
    double *query;      /* (2 d) scratch: query, each number twice */
    double *cast;       /* (Tk) scratch: masked in the dtype of the softmax */
};

/* The entropy of a row of weights, in nats: entropy.c. */
double stage_row_entropy(const double *weights, size_t count);

/* Rounds one operation of --rounding operations. */
static inline double stage_rounded(enum dtype dtype, double number)
{
    dtype_round(dtype, &number, 1);
    return number;
}

struct stage_functions {
    /* Whether it does something in this problem, and so is shown by default; NULL: always. */
    bool (*applies)(const struct problem *problem);
    /* The message if it does not apply; a leading blank puts the mechanism's name first. NULL: --stages may name it
     * anyway. */
    const char *lack;
    /* "query . key^T", or a function that adds it to the text. */
    const char *formula_words;
    void (*formula)(const struct problem *problem, enum stage stage, struct text *text);
    /* Writes its row, in double, to row->stages[stage] (problem_columns_of_head); --rounding operations rounds each
     * operation, as ONNX's reference does. NULL: not made row by row. */
    void (*make)(const struct attention_row *row);
    /* A row statistic from the fused path's sums, and whether it needs fused_sums.logs; NULL: that path cannot make
     * it. */
    double (*of_sums)(const struct fused_sums *sums);
    bool takes_logs;
    /* Writes the arithmetic of one row as worked lines; called twice, for its two passes. It recomputes what no stage
     * holds, such as the exponentials of a softmax. NULL: no arithmetic. */
    void (*explain)(struct explanation *e, enum stage stage, struct explain_place place);
    explain_column *explain_column; /* the same, column by column, or NULL */
    /* Whether it explains in this problem; NULL: in every one. */
    bool (*explains)(const struct problem *problem, enum stage stage);
};

#define STAGE_DECLARE(id, functions) extern const struct stage_functions stage_##functions;
STAGE_IDS(STAGE_DECLARE)

/* Whether it is shown by default; also for inputs and parameters. */
bool stage_applies(const struct problem *problem, enum stage stage);

/* STATUS_USAGE if the option `place` cannot name the stage. */
enum status stage_check(const struct problem *problem, enum stage stage, const char *place, struct error *error);

/* Writes its formula, "query . key^T", to formula (size bytes), truncated; "" if it is no stage. */
void stage_formula(const struct problem *problem, enum stage stage, char *formula, size_t size);

/* The last stage that it is made from, skipping those that do nothing here: for the softmax masked, capped or
 * scaled. */
enum stage stage_before(const struct problem *problem, enum stage stage);

/* Whether its rows are made one by one, by stage_make. */
bool stage_is_made_by_row(enum stage stage);

/* A row statistic for the fused path; its `number` is NULL if that path cannot make it. */
struct fused_statistic stage_statistic(enum stage stage);

/* The first of the set that no code makes, or STAGE_NAMES: it has a row in stages.h but no `make`, and nothing else
 * makes it. */
enum stage stage_unmade(uint64_t stages);

/* Makes one row, and rounds it to the working dtype. */
void stage_make(const struct attention_row *row, enum stage stage);

/* Whether it has arithmetic to explain: in this problem, or in any. */
bool stage_is_explained(const struct problem *problem, enum stage stage);
bool stage_can_be_explained(enum stage stage);

/* Explains one row of a stage for which stage_is_explained. */
void stage_explain(struct explanation *e, enum stage stage, struct explain_place place);
