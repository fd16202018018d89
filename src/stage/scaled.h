/* SPDX-License-Identifier: MIT */
/* The scale: its root, with which --rounding operations multiplies query and key, and its explanation in the forward
 * and backward pass. */
#pragma once

#include "explain/terms.h"

/* Whether scaled comes from such a query and key; else from scores. */
bool scaled_has_roots(const struct problem *problem);

/* Multiplies numbers of query or key by the root, rounding each. */
void scaled_operand(const struct problem *problem, double *numbers, size_t count);

/* The formula and explanation of scores / sqrt(d), or scores x scale; and of gradients in the backward pass. */
void scaled_formula(const struct problem *problem, enum stage stage, struct text *text);
void scaled_explain(struct explanation *e, enum stage stage, struct explain_place place);
