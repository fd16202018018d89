/* SPDX-License-Identifier: MIT */
/* How well an input tells mistakes apart: its last table with each mistake that can be made on it, and how far these
 * are from each other. */
#ifndef ATTN_STRESS_MEASURE_H
#define ATTN_STRESS_MEASURE_H

#include "../support.h"
#include "model/mistake.h"

/* One mistake, in one of its forms. */
struct measured {
    struct mistake_choice choice;
    char name[MISTAKE_NAME_BYTES]; /* as --mistake takes it */
    double *numbers;               /* (measure.columns) the table with it */
};

struct measure {
    struct made made;
    struct measured *mistakes; /* (count) those that can be made on this input, in the order of the library */
    size_t count;
    double *right; /* (numbers) the table as it should be */
    size_t numbers;
    double largest; /* the largest of them */
};

/* Computes the last of the stages that the command line shows, on the text of an input, with every mistake that attn
 * why guesses. Draws are settings, and a dtype is told by the numbers themselves: neither is among them. The caller
 * frees measure->made.arena, also after a failure, which measure->made.error tells. */
enum status measure_create(struct measure *measure, const char *command_line, const char *json);

/* The largest difference of two tables at one place; infinite where one alone has no number there. */
double measure_distance(const struct measure *measure, const double *a, const double *b);

/* Whether they are the same computation, as attn why has it. */
bool measure_is_same(const struct measure *measure, double distance);

/* How many lists of a tensor begin at number `at`, and end before it; they are written as that many of these. */
size_t measure_lists(const size_t *shape, size_t rank, size_t at);
#define MEASURE_OPEN "[[[["
#define MEASURE_CLOSE "]]]]"

#endif
