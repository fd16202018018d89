/* SPDX-License-Identifier: MIT */
/* Finds the attention modules of a checkpoint by the ends of names: beginnings differ from model to model, but many
 * models share the last words (naming_rows.h has a row for each way of naming). */
#pragma once

#include "model/packing.h"
#include "read/checkpoint.h"

struct naming_row;
struct adapter;
struct quantised;

/* The tower of a module; a model of one tower has only PART_ONLY. */
enum module_part { PART_ONLY, PART_ENCODER, PART_DECODER, PART_TEXT, PART_VISION, PART_AUDIO, PART_COUNT };

/* The layer of a module that is part of none. */
#define MODULE_NO_LAYER SIZE_MAX

struct layer_module {
    const char *path;   /* "model.layers.3.self_attn"; "" where names have no prefix */
    const char *prefix; /* of its layer: "model.layers.3."; "" */
    size_t layer;       /* 3, or MODULE_NO_LAYER */
    enum module_part part;
    bool cross; /* cross-attention, by the words of its path */
    const struct naming_row *naming;
};

/* Sorted by the path up to the number, then by layer, then by path. All belong to the arena. */
struct module_list {
    const struct checkpoint *checkpoint;
    const struct adapter *adapter; /* whose changes module_unpack makes, or NULL */
    struct quantised *quantised; /* of these tensors, set by the caller; module_unpack needs it */
    const struct layer_module *modules;
    const char **prefixes; /* (count) of the modules, sorted */
    size_t count;
};

/* Finds all modules, or none. STATUS_SYSTEM where memory is short. */
enum status modules_find(const struct checkpoint *checkpoint, struct arena *arena, struct module_list *list,
                         struct error *error);

/* Whether its path begins with that prefix, up to a dot. */
bool module_begins(const struct layer_module *module, const char *prefix);

/* STATUS_USAGE for a checkpoint without a module, with the reason if a name tells it. */
enum status module_none(const struct checkpoint *checkpoint, struct error *error);

/* Chooses the module of that layer (MODULE_NO_LAYER: any) whose path is `prefix`, or begins with it up to a dot, if
 * that is not NULL. STATUS_USAGE where there is none, or more than one: the message lists them and says what to
 * type. */
enum status module_choose(const struct module_list *list, size_t layer, const char *prefix,
                          const struct layer_module **module, struct error *error);

/* Whether the checkpoint stores its weights as d_in x d_out, as Conv1D does, by the shape of a weight and the count of
 * its biases, or 0. GPT BigCode and nanoGPT use the same names, but store d_out x d_in. */
bool module_stores_transposed(const struct layer_module *module, const size_t *shape, size_t biases);

/* The names of a module's tensor in the checkpoint and in attn's files ("W_query.weight", "norm.weight"; of a packed
 * one "in_proj.weight", "in_proj.bias"). */
struct module_tensor {
    const char *name, *standard;
};
enum { MODULE_TENSORS = 32 };
struct module_tensors {
    struct module_tensor tensors[MODULE_TENSORS];
    size_t count;
    const char *other; /* the first tensor that attn does not know, such as a gate; or NULL */
};

/* STATUS_SYSTEM where memory is short. */
enum status module_tensors(const struct module_list *list, const struct layer_module *module, struct arena *arena,
                           struct module_tensors *tensors, struct error *error);

/* STATUS_USAGE where there is a tensor that attn does not know, which it would silently omit, or the module's path says
 * that attn does not compute it. */
enum status module_check_other(const struct module_list *list, const struct module_tensors *tensors,
                               struct error *error);
