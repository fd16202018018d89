/* SPDX-License-Identifier: MIT */
/* Quantised weights of a checkpoint, by the "quantization_config" of its config: the tensors of a weight, and
 * its numbers. quantised_rows.h has the forms. */
#pragma once

#include "layer/config.h"

struct quantised {
    const struct checkpoint *stored;
    struct checkpoint shown; /* the same, with the names that it would have without quantisation */
    const struct config *config;
    const char *method; /* "quant_method", or "" */
    bool checked;       /* quantised_check found a form that attn reads */
    size_t mistake;     /* the form of layer-quantised to make, plus 1; 0: right */
    char from[160];     /* of the weights taken so far: "FP8, blocks of 128 x 128"; "" for none */
};

/* STATUS_USAGE where attn does not read the form of quantisation that the config names. */
enum status quantised_check(const struct config *config, struct error *error);

/* Lists the names. Checkpoint and config must outlive it. STATUS_SYSTEM where memory is short. */
enum status quantised_begin(struct quantised *quantised, const struct checkpoint *checkpoint,
                            const struct config *config, struct error *error);

/* As checkpoint_look and checkpoint_take, for a shown name; *file: the file of the tensor, as messages show it. Of a
 * quantised weight the shape is that of its numbers, and the count that of the stored bytes; its numbers are a copy.
 * STATUS_USAGE, naming the tensor, also where a tensor of the weight is missing, or contradicts another one or the
 * config. */
enum status quantised_look(struct quantised *quantised, const char *name, const struct named_tensor **tensor,
                           struct error *error);
enum status quantised_take(struct quantised *quantised, const char *name, struct tensor *tensor, const char **file,
                           struct error *error);
