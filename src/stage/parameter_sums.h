/* The gradient by a number of a projection, explained: a sum over all tokens of what the number meets, times the
 * gradient by what it makes. */
#ifndef ATTN_STAGE_PARAMETER_SUMS_H
#define ATTN_STAGE_PARAMETER_SUMS_H

#include "explain/terms.h"

/* Whether neither a norm nor --clip lies between the inputs and their projections. */
bool parameter_sums_are_straight(const struct problem *problem);

/* Whether that of the cell is explained. */
bool parameter_sums_are_explained(const struct problem *problem, enum stage stage);

/* The gradient that the way back has by what a projection makes: before the steps of query and key. */
enum stage parameter_sums_above(const struct problem *problem, enum projection_id id);

/* "sum(grad_query x inputs) over the tokens" */
void parameter_sums_formula(const struct problem *problem, struct text *text);

void parameter_sums_explain(struct explanation *e, enum stage stage, struct explain_place place);

#endif
