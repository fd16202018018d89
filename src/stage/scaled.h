/* The root of the scale, which --rounding operations shares out to query and key. */
#ifndef ATTN_STAGE_SCALED_H
#define ATTN_STAGE_SCALED_H

#include "problem/problem.h"

/* Whether scaled is made of such a query and key; else of scores. */
bool scaled_has_roots(const struct problem *problem);

/* Numbers of query or key x root, each rounded. */
void scaled_operand(const struct problem *problem, double *numbers, size_t count);

#endif
