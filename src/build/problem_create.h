/* Options and bundles -> one validated attention problem. Every shape is checked on the way, in build_*.c, or in
 * parameters.c where it is a parameter's; what comes after relies on it. */
#ifndef ATTN_BUILD_PROBLEM_CREATE_H
#define ATTN_BUILD_PROBLEM_CREATE_H

#include "cli/options.h"
#include "problem/problem.h"

/* Options, with the settings of `inputs` taken into them, the inputs' bundle (NULL: init with --d-in) and that of
 * --weights (or NULL) become a problem. It points into the bundles and into the arena.
 * STATUS_USAGE where something does not fit, STATUS_SYSTEM where memory is short. */
enum status problem_create(struct problem *problem, const struct options *options, const struct input_file *inputs,
                           const struct input_file *weights, struct arena *arena, struct error *error);

#endif
