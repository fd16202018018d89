/* SPDX-License-Identifier: MIT */
/* A binary file's tensors -> struct input_file: which tensors attn reads, which names it accepts, and which shapes and
 * dtypes it can compute with. .safetensors, .npz and .pt share these rules; each format finds its own bytes. */
#pragma once

#include "read/input_file.h"
#include "tensor/tensor_bytes.h"

struct block_type;

/* How attn uses a tensor. */
enum named_use {
    NAMED_READ, /* in the input; */
    NAMED_NAME, /* only its name, which is foreign and not the only one; */
    NAMED_PASS, /* only its name, which is known but not of the kinds to read; */
    NAMED_DROP, /* not at all: a past of no tokens; */
    NAMED_LIST, /* in the list, unchecked. */
};

/* Descriptions of tensors of any name and dtype. Starts as {0}. */
struct named_list {
    struct named_tensor *tensors;
    size_t count;
    const char *settings;    /* of a .pt: JSON of the settings that its program saved with the model; else NULL */
    const struct gguf *gguf; /* the metadata of a GGUF; else NULL */
};

/* A file being read; its reader sets `sole`, `code` and `texts`. */
struct named_tensors {
    const char *source;
    unsigned kinds;                  /* bits of enum input_file_kind to read */
    bool sole;                       /* the file has one tensor */
    const char *(*code)(enum dtype); /* the format's name for a dtype */
    const char *texts;               /* which formats hold tokens and settings, for messages; NULL: JSON or
                                        .safetensors */
    struct input_file *input;
    struct named_list *list; /* if not NULL, gets every tensor in place of the input */
    struct arena *arena;
    struct error *error;
};

/* The reader of a format: sets `sole`, `code` and `texts`, and puts each tensor into the input or the list. Data may
 * stay in bytes[0 .. length), which must live as long as the arena. STATUS_USAGE "source: ..." where any byte of the
 * file is wrong, a name is unknown or repeated, or attn cannot compute with a tensor that it uses. */
typedef enum status binary_reader(struct named_tensors *file, const unsigned char *bytes, size_t length);

/* Reads the `kinds`, bits of enum input_file_kind, from a file into the input. */
enum status named_tensors_read(binary_reader *read, const char *source, const unsigned char *bytes, size_t length,
                               unsigned kinds, struct arena *arena, struct input_file *input, struct error *error);

/* One of its tensors. */
struct named_tensor {
    const char *name;
    const char *source;             /* of one in a list: its file, as messages show it */
    struct tensor_bytes bytes;      /* only the first sizes of a rank above TENSOR_RANK; DTYPE_COUNT: a dtype that attn
                                  lacks */
    const char *dtype;              /* the file's word */
    const struct block_type *block; /* which that word names; or NULL */
    size_t size;                    /* of a GGUF or .safetensors: its bytes; 0 for a type that attn lacks in a GGUF */
    bool is_byte;                   /* integers of a byte, which a causal buffer may have instead of truth values */
    size_t count;                   /* the product of all sizes */
    unsigned kind;                  /* named_tensors_use sets it, and the next one */
    enum named_use use;
};

/* Allocates room for `count` tensors in the input or the list. STATUS_SYSTEM where memory is short. */
enum status named_tensors_begin(const struct named_tensors *file, size_t count);

/* The same for a file of one tensor without a name (input_file_nameless), which becomes "inputs". */
enum status named_tensors_nameless(const struct named_tensors *file, const char *expected, struct named_tensor *tensor);

/* Sets the use of a tensor by its name. STATUS_USAGE where attn does not know the name, or it names no tensor. */
enum status named_tensors_use(const struct named_tensors *file, struct named_tensor *tensor);

/* Checks that attn can compute with a tensor that it reads, by dtype, rank and count; drops a past of no tokens.
 * STATUS_USAGE "source: name ...". */
enum status named_tensors_check(const struct named_tensors *file, struct named_tensor *tensor);

/* Whether attn can compute with it. */
bool named_tensor_is_usable(const struct named_tensor *tensor);

/* Puts it into the input or the list, by its use; its data may stay in the bytes. The caller sorts the input at the
 * end. */
enum status named_tensors_put(const struct named_tensors *file, const struct named_tensor *tensor);
