/* SPDX-License-Identifier: MIT */
/* The stages of attention in order: the identifier of each, the name of its functions (src/stage/), and queries on the
 * table of stages.h. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define STAGE_IDS(STAGE) \
    STAGE(POSITIONS, positions) \
    STAGE(EMBEDDED, embedded) \
    STAGE(NORMED, normed) \
    STAGE(PROJECTED_QUERY, projected_query) \
    STAGE(NORMED_QUERY, normed_query) \
    STAGE(PROJECTED_KEY, projected_key) \
    STAGE(NORMED_KEY, normed_key) \
    STAGE(PROJECTED_VALUE, projected_value) \
    STAGE(QUERY, query) \
    STAGE(KEY, key) \
    STAGE(VALUE, value) \
    STAGE(GATE, gate) \
    STAGE(SCORES, scores) \
    STAGE(SCALED, scaled) \
    STAGE(CAPPED, capped) \
    STAGE(MASKED, masked) \
    STAGE(WEIGHTS, weights) \
    STAGE(DROPPED, dropped) \
    STAGE(CONTEXT, context) \
    STAGE(OUTPUT, output) \
    STAGE(RESIDUAL, residual) \
    STAGE(LOGITS, logits) \
    STAGE(PROBABILITIES, probabilities) \
    STAGE(LSE, lse) \
    STAGE(ENTROPY, entropy) \
    STAGE(PRESENT_KEY, present_key) \
    STAGE(PRESENT_VALUE, present_value) \
    STAGE(GRAD_LOGITS, grad_logits) \
    STAGE(GRAD_RESIDUAL, grad_residual) \
    STAGE(GRAD_OUTPUT, grad_output) \
    STAGE(GRAD_CONTEXT, grad_context) \
    STAGE(GRAD_GATE, grad_gate) \
    STAGE(GRAD_VALUE, grad_value) \
    STAGE(GRAD_DROPPED, grad_dropped) \
    STAGE(GRAD_WEIGHTS, grad_weights) \
    STAGE(GRAD_MASKED, grad_masked) \
    STAGE(GRAD_CAPPED, grad_capped) \
    STAGE(GRAD_SCALED, grad_scaled) \
    STAGE(GRAD_SCORES, grad_scores) \
    STAGE(GRAD_QUERY, grad_query) \
    STAGE(GRAD_KEY, grad_key) \
    STAGE(GRAD_SINKS, grad_sinks) \
    STAGE(GRAD_ALIBI_SLOPES, grad_alibi_slopes) \
    STAGE(GRAD_ATTN_MASK, grad_attn_mask) \
    STAGE(GRAD_NORMED_QUERY, grad_normed_query) \
    STAGE(GRAD_NORMED_KEY, grad_normed_key) \
    STAGE(GRAD_PROJECTED_QUERY, grad_projected_query) \
    STAGE(GRAD_PROJECTED_KEY, grad_projected_key) \
    STAGE(GRAD_PROJECTED_VALUE, grad_projected_value) \
    STAGE(GRAD_INPUTS, grad_inputs) \
    STAGE(GRAD_KEY_INPUTS, grad_key_inputs) \
    STAGE(GRAD_PARAMETERS, grad_parameters)
/* clang-format on */

#define STAGE_ID(id, functions) STAGE_##id,
enum stage {
    STAGE_IDS(STAGE_ID) STAGE_COUNT,
    /* Names of --stages that are no stages. */
    STAGE_INPUTS = STAGE_COUNT,
    STAGE_KEY_INPUTS,
    STAGE_PARAMETERS,
    STAGE_NAMES,
};

/* The gradients at which the backward pass to inputs and parameters begins. */
#define STAGE_GRAD_OPERANDS (STAGE_BIT(STAGE_GRAD_QUERY) | STAGE_BIT(STAGE_GRAD_KEY) | STAGE_BIT(STAGE_GRAD_VALUE))

#define STAGE_FROM_INPUTS (STAGE_BIT(STAGE_INPUTS) | STAGE_BIT(STAGE_EMBEDDED))
#define STAGE_FROM_KEY_INPUTS (STAGE_FROM_INPUTS | STAGE_BIT(STAGE_KEY_INPUTS))

/* A set of stages is a uint64_t; this one holds that stage alone. */
#define STAGE_BIT(stage) (UINT64_C(1) << (stage))
static_assert(STAGE_NAMES < 64, "a set of stages is a uint64_t");

/* The name, also for inputs, key inputs and parameters. */
const char *stage_name(enum stage stage);

/* The stage of that name or alias among all STAGE_NAMES, or STAGE_NAMES where there is none. */
enum stage stage_find(const char *name, size_t length);

/* The stage that other people call by that name, or STAGE_NAMES. */
enum stage stage_meant(const char *name);

/* Whether it is a stage, and none of the other names. */
bool stage_exists(enum stage stage);

/* The set without the names that are no stages. */
uint64_t stage_existing(uint64_t names);

/* These stages and every stage that they need, inputs included. */
uint64_t stage_closure(uint64_t stages);

/* Whether the stage is the other one or made from it. */
bool stage_follows(enum stage stage, enum stage other);

/* Whether it depends on both queries and keys; else on the tokens of one side alone. */
bool stage_is_attended(enum stage stage);

/* Whether its rows are those of key and value: --query does not select among them. */
bool stage_is_of_keys(enum stage stage);

/* Whether its numbers are shares of a row, at least 0. */
bool stage_is_shares(enum stage stage);

/* The stage whose table it becomes where sdpa has packed heads, or itself. */
enum stage stage_packed(enum stage stage);

/* Whether its axes are those of a mask's input: attn_mask, or a list of heads. */
bool stage_is_of_mask(enum stage stage);

/* Whether it is a form of the inputs, before projections: normed. */
bool stage_is_of_inputs(enum stage stage);

/* Whether attn makes its row from that of the stage before alone: residual, logits, probabilities. */
bool stage_is_of_words(enum stage stage);

/* Whether it is T x T. */
bool stage_is_square(enum stage stage);

/* The row statistics of the set. */
uint64_t stage_statistics(uint64_t stages);

/* Whether it has an axis of columns. */
bool stage_has_columns(enum stage stage);

/* Whether a picture can show it, inputs and parameters included: it has rows and columns. */
bool stage_is_drawn(enum stage stage);

/* The stage whose numbers it repeats, or itself. */
enum stage stage_of_numbers(enum stage stage);
