/* SPDX-License-Identifier: MIT */
/* One validated attention problem, which the room `build` makes from options and input files, and questions about it.
 *
 * B items of a batch, H heads, H_kv heads of key and value, Tq queries, Tk keys (both T, the tokens of the inputs,
 * but for sdpa), S queries asked for, d_in columns of the inputs, d and d_v columns of a head of query and key, of
 * value. */
#ifndef ATTN_PROBLEM_PROBLEM_H
#define ATTN_PROBLEM_PROBLEM_H

#include "layer/layer.h"
#include "model/mask.h"
#include "model/mechanism.h"
#include "problem/parameters.h"
#include "problem/problem_chosen.h"
#include "problem/problem_given.h"
#include "problem/problem_labels.h"
#include "problem/problem_mistake.h"
#include "problem/problem_path.h"
#include "problem/problem_record.h"
#include "problem/problem_rotation.h"
#include "problem/problem_rounding.h"
#include "problem/problem_scores.h"
#include "problem/problem_sizes.h"

struct problem {
    enum mechanism mechanism;
    bool parameters_only; /* attn init: no inputs, no stages */
    struct problem_sizes size;
    struct problem_given given;
    const struct layer *layer; /* the module of a checkpoint that it is; or NULL */
    struct parameters_plan plan;
    struct parameters parameters;
    struct problem_labels labels;
    struct problem_rotation rotation;
    struct problem_scaling scaling;
    struct mask mask;
    bool masks; /* the mask may forbid a key or add to a score */
    struct problem_dropout drop;
    struct problem_rounding rounding;
    struct problem_loss loss;
    struct problem_mistake mistake;
    struct problem_chosen chosen;
    struct problem_path path;
    struct problem_record record;
};

/* Whether query, key and value are made of inputs, by parameters; else they are given. */
bool problem_projects(const struct problem *problem);

/* The problem without its mistakes: what was asked for, which settings and parameters of a result tell. */
const struct problem *problem_right(const struct problem *problem);

/* When its numbers are rounded beside once a stage: as its family has it with --rounding transformers in 16 bits; else
 * never. And the dtype to which the rows of a stage are rounded. */
const struct family_rounding *problem_rounding(const struct problem *problem);
enum dtype problem_stage_dtype(const struct problem *problem, enum stage stage);

/* What a projection is made of: STAGE_INPUTS, or normed, STAGE_NORMED; of key and value STAGE_KEY_INPUTS where they
 * are of other inputs. */
enum stage problem_source(const struct problem *problem, enum stage stage);

/* The labels of an item's keys, (Tk), and of its queries, (Tq); NULL where they have none. */
const char **problem_key_labels(const struct problem *problem, size_t item);
const char **problem_query_labels(const struct problem *problem, size_t item);

/* What a result calls "tokens": the labels of the queries where they have their own, else those of the keys. */
const struct token_labels *problem_tokens(const struct problem *problem);

/* The token, or NULL where it has none, and the position from 1 of key `index`, or of the query that is the `index`-th
 * of those asked for. */
const char *problem_label(const struct problem *problem, bool of_keys, size_t item, size_t index, size_t *position);

/* Whether a stage's rows are those of all heads, one behind the other: output, and the context of packed heads. */
bool problem_is_side_by_side(const struct problem *problem, enum stage stage);

/* The last stage, of which --grad takes the gradient: output or context. And the one that holds what is given. */
enum stage problem_last_stage(const struct problem *problem);
enum stage problem_grad_stage(const struct problem *problem);

/* The stage as which it is made: the context of packed heads as output, and so its gradient; any other as itself. */
enum stage problem_made_as(const struct problem *problem, enum stage stage);

/* Columns of a stage, those of all heads where they lie side by side; 1 for lse, which has no such axis. And those of
 * one head, as each is computed. */
size_t problem_columns(const struct problem *problem, enum stage stage);
size_t problem_columns_of_head(const struct problem *problem, enum stage stage);

/* Whether the stage is one of problem->stages. */
bool problem_shows_stage(const struct problem *problem, enum stage stage);

/* Multiply-adds of the whole job, whatever rows and stages are asked for. */
double problem_work(const struct problem *problem);

#endif
