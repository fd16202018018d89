/* SPDX-License-Identifier: MIT */
/* The scale: its root, which --rounding operations shares out to query and key, and how it is explained, in the forward
 * and the backward pass. */
#ifndef ATTN_STAGE_SCALED_H
#define ATTN_STAGE_SCALED_H

#include "explain/terms.h"

/* Whether scaled is made of such a query and key; else of scores. */
bool scaled_has_roots(const struct problem *problem);

/* Numbers of query or key x root, each rounded. */
void scaled_operand(const struct problem *problem, double *numbers, size_t count);

/* The division of scores by the root of d, or their product with the scale, as a formula and as it is explained; and of
 * gradients, in the backward pass. */
void scaled_formula(const struct problem *problem, enum stage stage, struct text *text);
void scaled_explain(struct explanation *e, enum stage stage, struct explain_place place);

#endif
