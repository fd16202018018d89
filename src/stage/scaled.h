/* The scale: its root, which --rounding operations shares out to query and key, and how it is explained, on the way
 * forward and back. */
#ifndef ATTN_STAGE_SCALED_H
#define ATTN_STAGE_SCALED_H

#include "base/decimal.h"
#include "explain/explanation.h"

/* Whether scaled is made of such a query and key; else of scores. */
bool scaled_has_roots(const struct problem *problem);

/* Numbers of query or key x root, each rounded. */
void scaled_operand(const struct problem *problem, double *numbers, size_t count);

/* The scale as lines have it: divided by the root of d, or multiplied with. */
struct scaled_scale {
    bool divides;
    char number[DECIMAL_BYTES];
};

/* And "sqrt(2) ≈ 1.4142" into words; "" where it is not that root. */
struct scaled_scale scaled_say(const struct explanation *e, char *words, size_t size);

/* The rest of a key's line: number / root = made. */
struct scaled_line {
    int from, to; /* kinds of both numbers */
    double number, made;
};
void scaled_write(struct explanation *e, const struct scaled_scale *scale, const struct scaled_line *line);

#endif
