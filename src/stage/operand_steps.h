/* SPDX-License-Identifier: MIT */
/* What becomes of query and key between their projection and the scores: norm, rotation, scale.
 *
 *     projected -> normed -> rotated by its position -> times the scale
 *
 * H heads of query or of key, d columns of each. */
#ifndef ATTN_STAGE_OPERAND_STEPS_H
#define ATTN_STAGE_OPERAND_STEPS_H

#include "problem/problem.h"

/* The heads of query, or of key and value. */
size_t operand_heads(const struct problem *problem, enum projection_id id);

/* A token's heads, of a tensor (B, H, count, d): numbers (H, d) read, or written; nothing where there is no tensor. */
void operand_load_heads(const struct tensor *operand, size_t item, size_t row, double *numbers);
void operand_store_heads(const struct tensor *operand, size_t item, size_t row, const double *numbers);

/* Columns of a projection within the bounds of --clip; NaN stays NaN, as torch.clamp has it. */
void operand_clip(const struct problem *problem, double *columns, size_t count);

/* Which of the steps query or key take; value takes none. */
bool operand_is_normed(const struct problem *problem, enum projection_id id);
bool operand_is_rotated(const struct problem *problem, enum projection_id id);
bool operand_is_scaled(const struct problem *problem, enum projection_id id);
bool operand_has_steps(const struct problem *problem, enum projection_id id);

/* Whether its norm is told in numbers: another step follows. */
bool operand_shows_norm(const struct problem *problem, enum projection_id id);

/* These of query, or of key, as struct stage_functions has it. */
bool operand_query_has_steps(const struct problem *problem);
bool operand_key_has_steps(const struct problem *problem);
bool operand_query_shows_norm(const struct problem *problem);
bool operand_key_shows_norm(const struct problem *problem);

/* Whether its last step, the rotation or the scale, is told in numbers, and the stage that is made from: a projection,
 * or its norm. */
bool operand_has_last_step(const struct problem *problem, enum projection_id id);
enum stage operand_before_last_step(const struct problem *problem, enum projection_id id);

/* Whether that norm goes over all heads of a token, before they are cut. */
bool operand_norm_is_of_all(const struct problem *problem, enum projection_id id);

/* The first weight of the norm that head `head` uses. */
size_t operand_norm_first(const struct problem *problem, enum projection_id id, size_t head);

/* The position of row `row` of an item: of query, or of key, of which those of a past have none and stay as they are:
 * SIZE_MAX. */
size_t operand_position(const struct problem *problem, enum projection_id id, size_t item, size_t row);

/* By what a pair is rotated at a position, rounded as the problem does. */
struct rope_turn operand_turn(const struct problem *problem, size_t position, size_t pair);

/* The heads of a token through the steps, rounded to the working dtype after each.
 *   projected  (H, d)
 *   normed     (H, d) written, as projected where there is no norm
 *   made       (H, d) written
 *   turns      (d) room for cosines and sines
 *   position   operand_position */
void operand_steps(const struct problem *problem, enum projection_id id, size_t position, const double *projected,
                   double *normed, double *made, double *turns);

#endif
