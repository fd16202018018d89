/* SPDX-License-Identifier: MIT */
/* A binary file's tensors -> struct input_file: which tensors attn reads, which names it accepts, and which shapes and
 * dtypes it can compute with. .safetensors, .npz and .pt share these rules; each format finds its own bytes. */
#ifndef ATTN_READ_NAMED_TENSORS_H
#define ATTN_READ_NAMED_TENSORS_H

#include "read/input_file.h"
#include "tensor/tensor_bytes.h"

/* What becomes of a tensor. */
enum named_use {
    NAMED_READ, /* it goes into the input; */
    NAMED_NAME, /* its name alone, which is foreign and not the only one; */
    NAMED_PASS, /* its name alone, which is known and of another kind than those asked for; */
    NAMED_DROP, /* nothing: a past of no tokens; */
    NAMED_LIST, /* it goes into the list as it is. */
};

/* Tensors of any names and dtypes, where they are in the file. Starts as {0}. */
struct named_list {
    struct named_tensor *tensors;
    size_t count;
};

/* A file as it is read; `sole` and the next two are set by its reader. */
struct named_tensors {
    const char *source;
    unsigned kinds;                  /* bits of enum input_file_kind: what is read */
    bool sole;                       /* the file has one tensor */
    const char *(*code)(enum dtype); /* what the format calls a dtype */
    const char *texts;               /* where tokens and settings are expected; NULL: in JSON or .safetensors */
    struct input_file *input;
    struct named_list *list; /* not NULL: every tensor goes there, and none into the input */
    struct arena *arena;
    struct error *error;
};

/* A reader of a format: sets what the format calls things, and puts each tensor into the input or the list. Data may
 * stay in bytes[0 .. length), which must live as long as the arena. STATUS_USAGE "source: ..." where the file is not
 * right to the last byte, a name is unknown or given twice, or a tensor that counts cannot be computed with. */
typedef enum status binary_reader(struct named_tensors *file, const unsigned char *bytes, size_t length);

/* Reads a file that has such a reader: what is of the `kinds`, bits of enum input_file_kind, goes into the input. */
enum status named_tensors_read(binary_reader *read, const char *source, const unsigned char *bytes, size_t length,
                               unsigned kinds, struct arena *arena, struct input_file *input, struct error *error);

/* One of its tensors. */
struct named_tensor {
    const char *name;
    const char *source;        /* of one in a list: its file, as messages have it */
    struct tensor_bytes bytes; /* of a rank above TENSOR_RANK the first sizes alone; DTYPE_COUNT: a dtype that attn has
                                  not */
    const char *dtype;         /* as the file has it */
    bool is_byte;              /* whole numbers of a byte, which a causal buffer may have instead of truth values */
    size_t count;              /* the product of all sizes */
    unsigned kind;             /* set by named_tensors_use, as is the next one */
    enum named_use use;
};

/* Room for so many tensors. STATUS_SYSTEM where memory is short. */
enum status named_tensors_begin(const struct named_tensors *file, size_t count);

/* The same for a file of one tensor without a name (input_file_nameless), which becomes "inputs" and is read. */
enum status named_tensors_nameless(const struct named_tensors *file, const char *expected, struct named_tensor *tensor);

/* What becomes of the tensor of that name. STATUS_USAGE where attn does not know it, or knows it as another thing. */
enum status named_tensors_use(const struct named_tensors *file, struct named_tensor *tensor);

/* Whether a tensor that is read can be computed with: its dtype, its rank and its count; a past of no tokens is
 * dropped. STATUS_USAGE "source: name ...". */
enum status named_tensors_check(const struct named_tensors *file, struct named_tensor *tensor);

/* Whether it can be computed with. */
bool named_tensor_is_usable(const struct named_tensor *tensor);

/* Puts it into the input, by its use; its data may stay in the bytes. The caller sorts the input at the end. */
enum status named_tensors_put(const struct named_tensors *file, const struct named_tensor *tensor);

#endif
