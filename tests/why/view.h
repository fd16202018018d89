/* SPDX-License-Identifier: MIT */
/* A table of a sheet, in the axes that attn gives it, and how it is written. */
#ifndef ATTN_WHY_VIEW_H
#define ATTN_WHY_VIEW_H

#include "attention.h"

#include <stddef.h>
#include <stdio.h>

enum { AXES = 4, VIEW_ROOM = ITEMS * HEADS * TOKENS * WIDTH };

struct view {
    const double *at;
    int rank, shape[AXES], stride[AXES];
};

/* FULL and TRUTH are JSON: as many digits as float32 needs, or true and false. Else decimals, as PyTorch prints. */
enum { FULL = -1, TRUTH = -2 };

/* A stage by its name; rank 0 where there is none. */
struct view view_stage(const struct sheet *s, const char *name);

/* All of it, row-major; returns how many. */
size_t view_numbers(const struct view *view, double *numbers);

/* One place of an axis; the axis is kept, one long, or goes. */
struct view view_pick(const struct view *view, int axis, int place, bool kept);

void view_write(const struct view *view, int decimals, FILE *file);

/* The exercise as JSON, as attn reads it. */
void view_write_exercise(const struct sheet *s, FILE *file);

#endif
