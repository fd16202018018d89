/* SPDX-License-Identifier: MIT */
/* A validated attention problem, which the room `build` makes from options and input files.
 *
 * B items of a batch, H heads, H_kv heads of key and value, Tq queries, Tk keys (both T, the tokens of the inputs,
 * except in sdpa), S queries asked for, d_in columns of the inputs, d and d_v columns of a head of query and key, of
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
    const struct layer *layer; /* its module in a checkpoint; or NULL */
    struct parameters_plan plan;
    struct parameters parameters;
    struct problem_labels labels;
    struct problem_rotation rotation;
    struct problem_scaling scaling;
    struct mask mask;
    bool masks; /* the mask may mask a key or add to a score */
    struct problem_dropout drop;
    struct problem_rounding rounding;
    struct problem_loss loss;
    struct problem_mistake mistake;
    struct problem_chosen chosen;
    struct problem_path path;
    struct problem_record record;
};

/* Whether parameters make query, key and value from inputs; else they are given. */
bool problem_projects(const struct problem *problem);

/* The problem without its mistakes, to which a result's settings and parameters belong. */
const struct problem *problem_right(const struct problem *problem);

/* The roundings within stages: the family's, for --rounding transformers in 16 bits; else none. problem_stage_dtype:
 * the dtype to which attn rounds a stage. */
const struct family_rounding *problem_rounding(const struct problem *problem);
enum dtype problem_stage_dtype(const struct problem *problem, enum stage stage);

/* The input of a projection: STAGE_INPUTS, STAGE_EMBEDDED with positions, or STAGE_NORMED after a norm; in
 * cross-attention STAGE_KEY_INPUTS for key and value. */
enum stage problem_source(const struct problem *problem, enum stage stage);

/* The labels of an item's keys, (Tk), and of its queries, (Tq); or NULL. */
const char **problem_key_labels(const struct problem *problem, size_t item);
const char **problem_query_labels(const struct problem *problem, size_t item);

/* The "tokens" of a result: the labels of the queries if they differ, else those of the keys. */
const struct token_labels *problem_tokens(const struct problem *problem);

/* The label, or NULL, and *position, from 1, of key `index`, or of query `index` among those asked for. */
const char *problem_label(const struct problem *problem, bool of_keys, size_t item, size_t index, size_t *position);

/* Whether --without-heads names the head. */
bool problem_leaves_out(const struct problem *problem, size_t head);

/* The gate of a column of the heads side by side, of a token (item x Tq + query); 1 without a gate. */
double problem_gate(const struct problem *problem, size_t token, size_t column);

/* Multiplies the contexts of a token (item x Tq + query), a row of all heads side by side (H d_v), by their gate, and
 * sets those of the heads that --without-heads names to 0. */
void problem_gate_heads(const struct problem *problem, size_t token, double *contexts);

/* Whether a row of the stage concatenates all heads: output, and the context of packed heads. */
bool problem_is_side_by_side(const struct problem *problem, enum stage stage);

/* The last stage, output or context; and the gradient that --grad gives: its own, or that of logits. */
enum stage problem_last_stage(const struct problem *problem);
enum stage problem_grad_stage(const struct problem *problem);

/* The stage that attn computes for it: output for the context of packed heads, and so for its gradient; else itself. */
enum stage problem_made_as(const struct problem *problem, enum stage stage);

/* Columns of a stage, for all heads if these are concatenated; 1 for a row statistic. And columns of one head. */
size_t problem_columns(const struct problem *problem, enum stage stage);
size_t problem_columns_of_head(const struct problem *problem, enum stage stage);

bool problem_shows_stage(const struct problem *problem, enum stage stage);

/* Multiply-adds of the full job, whatever rows and stages it shows. */
double problem_work(const struct problem *problem);

#endif
