/* SPDX-License-Identifier: MIT */
/* A checkpoint: the tensors of a whole model by their names, in one file or in shards.
 *
 * Read is a folder that holds one (the first that is there: model.safetensors.index.json, model.safetensors,
 * pytorch_model.bin.index.json, pytorch_model.bin, else the one file that ends in .safetensors, .bin, .pt or .pth), or
 * such a file itself: a .safetensors, a .pt of torch.save, or the index of shards, whose "weight_map" says for each
 * name in which file beside it that tensor is.
 *
 * Names alone are read at first; of an index these are its own, and a shard is opened only when one of its tensors is
 * asked for. Files are mapped: of a tensor's bytes nothing is read before somebody does. Its dtype may be one that attn
 * has not, as long as its numbers are not asked for. */
#ifndef ATTN_READ_CHECKPOINT_H
#define ATTN_READ_CHECKPOINT_H

#include "read/named_tensors.h"

struct checkpoint_name {
    const char *text;
    struct checkpoint_file *file; /* which has it, or is to have it */
};

/* It and all that it points to belong to the arena that it was opened into. */
struct checkpoint {
    const char *source;            /* the path, as messages have it */
    const char *folder;            /* of its files, with the slash at the end, or "": config.json is beside them */
    struct checkpoint_name *names; /* sorted */
    size_t count;
    const char *opened; /* the file of tensors, or the index */
    struct arena *arena;
};

/* STATUS_SYSTEM where a file cannot be opened or memory is short. STATUS_USAGE where it is not as said above; where an
 * index is larger than 64 MiB, has no weight_map, gives a name twice, or a file by more than its plain name. */
enum status checkpoint_open(const char *path, struct arena *arena, struct checkpoint *checkpoint, struct error *error);

/* *replaced: the file of the checkpoint that a result written to that path would replace; NULL: none. STATUS_SYSTEM as
 * output_replaces. */
enum status checkpoint_replaced(const struct checkpoint *checkpoint, const char *path, const char **replaced,
                                struct error *error);

/* Whether a tensor of that name is listed. */
bool checkpoint_has(const struct checkpoint *checkpoint, const char *name);

/* What its file says of a listed tensor; its shard is opened where it was not yet. STATUS_SYSTEM where that cannot be,
 * naming the shard and the tensor; STATUS_USAGE where the shard is not whole and right, or has it not. */
enum status checkpoint_look(const struct checkpoint *checkpoint, const char *name, const struct named_tensor **tensor,
                            struct error *error);

/* Its numbers: in the mapped file, or in the arena where they cannot be used as they lie there. STATUS_USAGE where attn
 * has not the dtype, and where the tensor is empty, a single number, or has more than TENSOR_RANK axes. */
enum status checkpoint_take(const struct checkpoint *checkpoint, const char *name, struct tensor *tensor,
                            struct error *error);

#endif
