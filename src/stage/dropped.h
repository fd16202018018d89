/* The share of the weights that dropout keeps, in words. */
#ifndef ATTN_STAGE_DROPPED_H
#define ATTN_STAGE_DROPPED_H

#include "explain/explanation.h"

/* 1 - dropout with as many decimals as dropout has, into text (size bytes); and "1 - 0.2 = 0.8". */
void dropped_share(double dropout, char *text, size_t size);
void dropped_say_share(double dropout, char *text, size_t size);

/* The rest of a key's line: number / share = made, or that it is dropped. */
struct dropped_line {
    int from, to; /* kinds of both numbers */
    double number, made;
    const char *share;
    bool kept;
};
void dropped_write(struct explanation *e, const struct dropped_line *line);

#endif
