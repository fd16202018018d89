/* SPDX-License-Identifier: MIT */
/* The steps of query and key between projection and scores: norm, rotation, scale; and the norm of value.
 *
 *     projected -> normed -> rotated by position -> times the scale and the growth
 *
 * A norm after the rotation divides by the same root, so its weights alone come after it, with the scale.
 *
 * H heads of query or of key, d columns of each. */
#pragma once

#include "problem/problem.h"

/* The heads of query, or of key and value; and the columns of each. */
size_t operand_heads(const struct problem *problem, enum projection_id id);
size_t operand_columns(const struct problem *problem, enum projection_id id);

/* Loads, or stores, a token's heads (H, d) of a tensor (B, H, count, d); does nothing for rank 0. */
void operand_load_heads(const struct tensor *operand, size_t item, size_t row, double *numbers);
void operand_store_heads(const struct tensor *operand, size_t item, size_t row, const double *numbers);

/* Clips columns of a projection to --clip; NaN stays NaN, as in torch.clamp. */
void operand_clip(const struct problem *problem, double *columns, size_t count);

/* The steps that they take; value has a norm at most. */
bool operand_is_normed(const struct problem *problem, enum projection_id id);
bool operand_is_rotated(const struct problem *problem, enum projection_id id);
bool operand_is_scaled(const struct problem *problem, enum projection_id id);
bool operand_has_steps(const struct problem *problem, enum projection_id id);

/* Whether its norm is a separate stage: another step follows. */
bool operand_shows_norm(const struct problem *problem, enum projection_id id);

/* These for query, or key, with the type of struct stage_functions. */
bool operand_query_has_steps(const struct problem *problem);
bool operand_key_has_steps(const struct problem *problem);
bool operand_value_has_steps(const struct problem *problem);
bool operand_query_shows_norm(const struct problem *problem);
bool operand_key_shows_norm(const struct problem *problem);

/* Whether it has a last step, rotation or scale; and the stage before that: a projection, or its norm. */
bool operand_has_last_step(const struct problem *problem, enum projection_id id);
enum stage operand_before_last_step(const struct problem *problem, enum projection_id id);

/* Whether that norm goes over all heads of a token, before the split. */
bool operand_norm_is_of_all(const struct problem *problem, enum projection_id id);

/* The first weight of the norm that head `head` uses. */
size_t operand_norm_first(const struct problem *problem, enum projection_id id, size_t head);

/* The position of row `row` of an item of query or key; SIZE_MAX: a key of the past, rotated already. */
size_t operand_position(const struct problem *problem, enum projection_id id, size_t item, size_t row);

/* Whether the weights of its norm come after the rotation; and its norm as it comes before, then without weights. */
bool operand_norm_is_last(const struct problem *problem, enum projection_id id);
struct norm operand_first_norm(const struct problem *problem, enum projection_id id);

/* What multiplies column `column` of all heads after the rotation at that position: of query the scale and the growth
 * (model/rope.h), and the weight of a last norm. */
double operand_factor(const struct problem *problem, enum projection_id id, size_t position, size_t column);

/* Multiplies the heads (H, d) by these factors, if the operand is scaled, and rounds them. */
void operand_scale(const struct problem *problem, enum projection_id id, size_t position, double *made);

/* The rotation of a pair at a position, rounded as the problem does. */
struct rope_turn operand_turn(const struct problem *problem, size_t position, size_t pair);

/* Takes the heads of a token through the steps, rounding to the working dtype after each.
 *   projected  (H, d)
 *   normed     (H, d) written; projected if there is no norm
 *   made       (H, d) written
 *   turns      (d) room for cosines and sines
 *   position   operand_position */
void operand_steps(const struct problem *problem, enum projection_id id, size_t position, const double *projected,
                   double *normed, double *made, double *turns);
