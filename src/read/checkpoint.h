/* SPDX-License-Identifier: MIT */
/* A checkpoint: the tensors of a model by their names, in one file or in shards.
 *
 * It is a .safetensors, a .gguf or one of its parts, a .pt of torch.save, or an index of shards, whose "weight_map"
 * names the file of each tensor in the same folder. Or it is a folder, in which attn takes the first of
 * model.safetensors.index.json, model.safetensors, pytorch_model.bin.index.json and pytorch_model.bin, else the only
 * file, or the first part, that ends in .safetensors, .bin, .pt, .pth, .npz or .gguf.
 *
 * Opening reads only names. A shard is opened when one of its tensors is asked for. Files are mapped, so a tensor's
 * bytes are read when they are used. A dtype that attn lacks is an error only when the numbers are asked for. */
#pragma once

#include "read/named_tensors.h"

struct checkpoint_name {
    const char *text;
    struct checkpoint_file *file; /* which has it, or should */
};

/* It and all that it points to belong to the arena that it was opened into. */
struct checkpoint {
    const char *source;            /* the path, as messages show it */
    const char *folder;            /* of its files and config.json, ending in a slash, or "" */
    struct checkpoint_name *names; /* sorted */
    size_t count;
    const struct gguf *gguf; /* the metadata of a GGUF; else NULL */
    const char *settings;    /* of the only file, as named_list has it; or NULL */
    const char *opened;      /* the opened file of tensors or index */
    struct arena *arena;
};

/* STATUS_SYSTEM where a file cannot be opened or memory is short. STATUS_USAGE for any other file; for an index larger
 * than 64 MiB, without weight_map, or with a repeated name or a path in place of a plain file name. */
enum status checkpoint_open(const char *path, struct arena *arena, struct checkpoint *checkpoint, struct error *error);

/* *replaced: the file of the checkpoint that a result written to `path` would replace; NULL: none. Fails as
 * output_replaces. */
enum status checkpoint_replaced(const struct checkpoint *checkpoint, const char *path, const char **replaced,
                                struct error *error);

/* Whether a tensor of that name is listed. */
bool checkpoint_has(const struct checkpoint *checkpoint, const char *name);

/* The description of a listed tensor; opens its shard if need be. STATUS_SYSTEM, naming shard and tensor, where that
 * fails; STATUS_USAGE where the shard is damaged or lacks the tensor. */
enum status checkpoint_look(const struct checkpoint *checkpoint, const char *name, const struct named_tensor **tensor,
                            struct error *error);

/* The numbers of a listed tensor: in the mapped file, or a copy in the arena where attn cannot use these bytes.
 * STATUS_USAGE for a dtype that attn lacks, and for a tensor that is empty, a single number, or has more than
 * TENSOR_RANK axes. */
enum status checkpoint_take(const struct checkpoint *checkpoint, const char *name, struct tensor *tensor,
                            struct error *error);
