/* SPDX-License-Identifier: MIT */
/* The attention modules of a checkpoint, found by how names end: their beginnings differ from model to model, but many
 * models share the last words (naming_rows.h has a row for each way of naming). */
#ifndef ATTN_LAYER_MODULE_H
#define ATTN_LAYER_MODULE_H

#include "model/packing.h"
#include "read/checkpoint.h"

struct naming_row;

/* Which tower of a checkpoint a module stands in; a model of one tower has one part alone. */
enum module_part { PART_ONLY, PART_ENCODER, PART_DECODER, PART_TEXT, PART_VISION, PART_AUDIO, PART_COUNT };

/* A module of no layer of its own. */
#define MODULE_NO_LAYER SIZE_MAX

struct layer_module {
    const char *path;   /* "model.layers.3.self_attn"; "" where the names have nothing before them */
    const char *prefix; /* of its layer: "model.layers.3."; "" */
    size_t layer;       /* 3, or MODULE_NO_LAYER */
    enum module_part part;
    bool cross; /* its keys and values come from elsewhere, by the words of its path */
    const struct naming_row *naming;
};

/* Sorted by what stands before the number, then by layer, then by path. All belong to the arena. */
struct module_list {
    const struct checkpoint *checkpoint;
    const struct layer_module *modules;
    const char **prefixes; /* (count) theirs, sorted */
    size_t count;
};

/* All modules. A checkpoint without one is no error here. STATUS_SYSTEM where memory is short. */
enum status modules_find(const struct checkpoint *checkpoint, struct arena *arena, struct module_list *list,
                         struct error *error);

/* The module of that layer (MODULE_NO_LAYER: any), whose path is or begins with `prefix`, at a dot, if that is not
 * NULL. STATUS_USAGE where there is none, or more than one: the message lists them and says what to type. */
enum status module_choose(const struct module_list *list, size_t layer, const char *prefix,
                          const struct layer_module **module, struct error *error);

/* How its query, key and value lie in the weights by their names; an option or a family may say otherwise. */
enum packing module_packing(const struct layer_module *module);

/* Whether its weights are stored d_in x d_out. */
bool module_stores_transposed(const struct layer_module *module);

/* The names of the module's tensors in the checkpoint, and what each is called in a file of attn's ("W_query.weight",
 * "norm.weight"; of a packed one "in_proj.weight", "in_proj.bias"). */
struct module_tensor {
    const char *name, *standard;
};
enum { MODULE_TENSORS = 32 };
struct module_tensors {
    struct module_tensor tensors[MODULE_TENSORS];
    size_t count;
    const char *other; /* the first in the module that attn does not know, or NULL: a gate, a bias of positions */
};

/* STATUS_SYSTEM where memory is short. */
enum status module_tensors(const struct module_list *list, const struct layer_module *module, struct arena *arena,
                           struct module_tensors *tensors, struct error *error);

#endif
