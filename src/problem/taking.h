/* SPDX-License-Identifier: MIT */
/* Shared by parameters_take.c and parameters_blocks.c, which take a module's parameters from a file. */
#pragma once

#include "problem/parameters.h"

struct taking {
    struct parameters *parameters;
    struct parameters_plan *plan;
    const struct input_file *input;
    const char *inputs_source;
    bool *taken;                      /* (tensors of the file) whether it is taken */
    char first[PARAMETER_NAME_BYTES]; /* the name of the weight that set d_out */
    bool has_bias;
    struct arena *arena;
    struct error *error;
};

/* The file's tensor of that name, which it marks as taken; or NULL. */
const struct tensor *taking_find(struct taking *taking, const char *name);

/* Keeps a tensor of the right shape, whose numbers the working dtype holds. */
enum status taking_keep(const struct taking *taking, const char *name, const struct tensor *tensor,
                        struct tensor *parameter);

/* STATUS_USAGE; columns 0: a list of `rows` numbers was expected. */
enum status taking_wrong_shape(const struct taking *taking, const char *name, const struct tensor *tensor, size_t rows,
                               size_t columns, const char *why);

/* Whether a latent replaces this projection. */
bool taking_has_latent(const struct taking *taking, enum projection_id id);

/* Take the latent, which sets d_value, and d_out if it makes the query; the norms; T5's table. Each is unchanged where
 * the file has none. */
enum status taking_latent(struct taking *taking);
enum status taking_norms(struct taking *taking);
enum status taking_relative_bias(struct taking *taking);
