/* SPDX-License-Identifier: MIT */
/* How parameters_take.c and its parameters_blocks.c take a module's parameters from a file: what they share. */
#ifndef ATTN_PROBLEM_TAKING_H
#define ATTN_PROBLEM_TAKING_H

#include "problem/parameters.h"

/* The parameters being taken: what has been found so far. */
struct taking {
    struct parameters *parameters;
    struct parameters_plan *plan;
    const struct input_file *input;
    const char *inputs_source;
    bool *taken;                      /* of each tensor of the file, whether it has found its place */
    char first[PARAMETER_NAME_BYTES]; /* the weight that set d_out */
    bool has_bias;
    struct arena *arena;
    struct error *error;
};

/* The file's tensor of that name, which has found its place; or NULL. */
const struct tensor *taking_find(struct taking *taking, const char *name);

/* Keeps a tensor of the right shape, whose numbers the working dtype holds. */
enum status taking_keep(const struct taking *taking, const char *name, const struct tensor *tensor,
                        struct tensor *parameter);

/* STATUS_USAGE; columns 0: a list of `rows` numbers was expected. */
enum status taking_wrong_shape(const struct taking *taking, const char *name, const struct tensor *tensor, size_t rows,
                               size_t columns, const char *why);

/* Whether a latent makes what this projection would make. */
bool taking_has_latent(const struct taking *taking, enum projection_id id);

/* The latent, which sets d_out, d_value and d_key_in's columns where no projection does; the norms that there are; and
 * T5's table. Each is left as it is where the file has none. */
enum status taking_latent(struct taking *taking);
enum status taking_norms(struct taking *taking);
enum status taking_relative_bias(struct taking *taking);

#endif
