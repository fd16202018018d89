/* SPDX-License-Identifier: MIT */
/* What a stage does, in one place for each: when it applies, its formula, the arithmetic of one row, and how that is
 * explained. The row in model/stages.h says what it is; the file of its name here has its functions, as a struct
 * stage_functions at its end.
 *
 *   B items of a batch, H heads, H_kv heads of key and value, Tk keys, d columns of one head of query and key, d_v of
 *   value. */
#ifndef ATTN_STAGE_STAGE_H
#define ATTN_STAGE_STAGE_H

#include "explain/terms.h"
#include "kernel/fused.h"

/* One query of one head on its way through the stages: what each is made from, and where it goes. */
struct attention_row {
    const struct problem *problem;
    const double *key, *prescaled_key, *value; /* of the head, as doubles: stage/head.h */
    /* By stage, its row: (Tk) where it is T x T; query (d), context (d_v), lse (1). Those before are rounded to the
     * working dtype; the caller rounds what is made. */
    double *const *stages;
    struct span own;     /* the keys of its sequence: all of them where there are none */
    struct span allowed; /* the keys beyond which the mask forbids all */
    struct span
        computed; /* all keys; or those allowed, where scores are not looked at and the row is not empty: up to the
                           mask no others are made, and from there on they are minus infinity or 0 */
    const double *bias; /* (Tk) what the mask adds; minus infinity: the key is forbidden */
    bool empty;         /* it forbids all */
    const double *sink; /* the head's, or NULL */
    const bool *kept;   /* (Tk) which weights dropout keeps; NULL: all, unscaled */
    double *query;      /* room for query, each number twice: (2 d) */
    double *cast;       /* room for masked in the dtype of the softmax: (Tk) */
};

/* One operation, rounded: what --rounding operations is made of. */
static inline double stage_rounded(enum dtype dtype, double number)
{
    dtype_round(dtype, &number, 1);
    return number;
}

struct stage_functions {
    /* Whether it does something here, so that it is shown unless --stages says otherwise; NULL: always. */
    bool (*applies)(const struct problem *problem);
    /* What a message says where it does not, behind the mechanism's name where it begins with a blank; NULL: the stage
     * can be asked for anyway. */
    const char *lack;
    /* "query . key^T", or what adds it to the text. */
    const char *formula_words;
    void (*formula)(const struct problem *problem, enum stage stage, struct text *text);
    /* Its row, in double, into row->stages[stage] (problem_columns_of_head), with --rounding operations each operation
     * rounded, as ONNX's reference does; NULL: it is not made row by row. */
    void (*make)(const struct attention_row *row);
    /* A row statistic from what the fused path sums of the row, and whether it takes fused_sums.logs; NULL: that path
     * cannot make it. */
    double (*of_sums)(const struct fused_sums *sums);
    bool takes_logs;
    /* The arithmetic of one row, as worked lines; called twice, for its two passes. What is not in a stage, such as the
     * exponentials of a softmax, is made there. NULL: no arithmetic makes it. */
    void (*explain)(struct explanation *e, enum stage stage, struct explain_place place);
    explain_column *explain_column; /* the same of one column after another, or NULL */
    /* Whether that is so in this problem; NULL: in every one. */
    bool (*explains)(const struct problem *problem, enum stage stage);
};

#define STAGE_DECLARE(id, functions) extern const struct stage_functions stage_##functions;
STAGE_IDS(STAGE_DECLARE)
#undef STAGE_DECLARE

/* Whether it is among those that are shown unless --stages says otherwise; inputs and parameters, too. */
bool stage_applies(const struct problem *problem, enum stage stage);

/* STATUS_USAGE where a stage cannot be asked for; `place` is the option that asks. */
enum status stage_check(const struct problem *problem, enum stage stage, const char *place, struct error *error);

/* What it is made of, in a line: "query . key^T" into formula (size bytes), cut where it is longer; "" for what is
 * no stage. */
void stage_formula(const struct problem *problem, enum stage stage, char *formula, size_t size);

/* The last stage that it is made from, those passed over that do nothing here: of the softmax masked, capped or
 * scaled. */
enum stage stage_before(const struct problem *problem, enum stage stage);

/* Whether its rows are made one by one, by stage_make. */
bool stage_is_made_by_row(enum stage stage);

/* A row statistic as the fused path makes it; its `number` is NULL where that path cannot. */
struct fused_statistic stage_statistic(enum stage stage);

/* The first of the set that no code makes, or STAGE_NAMES: it has a row in stages.h and no `make`, and is none of those
 * that are made otherwise. */
enum stage stage_unmade(uint64_t stages);

/* Makes one row of it, as the problem rounds operations, and rounds that to the working dtype. */
void stage_make(const struct attention_row *row, enum stage stage);

/* Whether there is arithmetic to explain: in this problem, or in any. */
bool stage_is_explained(const struct problem *problem, enum stage stage);
bool stage_can_be_explained(enum stage stage);

/* The arithmetic of one row of a stage that is explained. */
void stage_explain(struct explanation *e, enum stage stage, struct explain_place place);

#endif
