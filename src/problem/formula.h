/* What each stage is made of, in a line. */
#ifndef ATTN_PROBLEM_FORMULA_H
#define ATTN_PROBLEM_FORMULA_H

#include "problem/problem.h"

/* "query . key^T" into formula (size bytes), cut where it is longer. */
void formula_of_stage(const struct problem *problem, enum stage stage, char *formula, size_t size);

#endif
