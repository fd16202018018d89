/* SPDX-License-Identifier: MIT */
/* GGUF, the files of llama.cpp: metadata, descriptions of tensors, and their data.
 *
 * attn reads versions 2 and 3, least significant byte first. It checks the whole header: counts, lengths of texts,
 * types, repeated names, and that the tensors lie in the file, aligned and apart. Data are read when they are used. A
 * type of tensor that attn lacks is an error only then. */
#pragma once

#include "read/named_tensors.h"

/* Types of a value: what its bits are, and its bytes; of the others those follow a number of 8 bytes. */
#define GGUF_TYPES(ROW)   \
    ROW(U8, WHOLE, 1)     \
    ROW(I8, SIGNED, 1)    \
    ROW(U16, WHOLE, 2)    \
    ROW(I16, SIGNED, 2)   \
    ROW(U32, WHOLE, 4)    \
    ROW(I32, SIGNED, 4)   \
    ROW(F32, SINGLE, 4)   \
    ROW(BOOL, WHOLE, 1)   \
    ROW(STRING, OTHER, 8) \
    ROW(ARRAY, OTHER, 8)  \
    ROW(U64, WHOLE, 8)    \
    ROW(I64, SIGNED, 8)   \
    ROW(F64, DOUBLE, 8)

#define GGUF_ID(id, ...) GGUF_##id,
enum gguf_type { GGUF_TYPES(GGUF_ID) GGUF_TYPE_COUNT };

/* A value of the metadata. */
struct gguf_value {
    const char *name;    /* "llama.attention.head_count" */
    enum gguf_type type; /* of an array: of its elements */
    bool is_array;
    size_t count;               /* of elements; 1 where it is no array */
    const unsigned char *bytes; /* of the first one */
};

struct gguf {
    struct gguf_value *values; /* sorted by name */
    size_t count;
};

bool gguf_begins(const unsigned char *bytes, size_t length);

/* The reader of the format; it also sets file->list->gguf. */
binary_reader gguf_read;

/* The value of that name, or NULL. */
const struct gguf_value *gguf_find(const struct gguf *gguf, const char *name);

/* Whether there is a value, and it is a single number or truth value. */
bool gguf_is_number(const struct gguf_value *value);

/* Element i of a value that is no text, as a number. Of a float32 it is the number with the fewest decimals that rounds
 * to it, since a converter has read it from a decimal: 1e-5, not 9.99999975e-6. */
double gguf_number(const struct gguf_value *value, size_t i);

/* A text, in the arena; NULL where memory is short. */
const char *gguf_text(const struct gguf_value *value, struct arena *arena, struct error *error);
