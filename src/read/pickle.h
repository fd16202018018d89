/* SPDX-License-Identifier: MIT */
/* The part of Python's pickle that torch.save writes -> values. NOTHING IN A FILE IS EVER RUN: a pickle is a program
 * for a small machine, and this machine can only put values into containers.
 *
 * Protocols 2 to 5 (the opcodes are those of pickletools): None, booleans, numbers, strings, bytes; lists, tuples,
 * dicts; collections.OrderedDict, a dict whose state attn ignores; a tensor, which is the arguments of
 * torch._utils._rebuild_tensor_v2 or _v3, in a _rebuild_parameter or not; a storage, which is a persistent id; the
 * names of the module torch. Any other name or opcode is an error.
 *
 * Nothing is recursive. Each byte makes at most one value and one entry of the stack, so memory and time are in
 * proportion to the length. A container may contain itself, and several may share a value: a caller that walks them
 * must allow for that, or use the list of dicts. */
#pragma once

#include "base/memory.h"

#include <stdint.h>

enum pickle_kind {
    PICKLE_MARK, /* on the stack only */
    PICKLE_NONE,
    PICKLE_TRUTH,
    PICKLE_NUMBER, /* a float, or an integer of more than 64 bits */
    PICKLE_WHOLE,
    PICKLE_TEXT,
    PICKLE_BYTES,
    PICKLE_TUPLE,
    PICKLE_LIST,
    PICKLE_DICT,
    PICKLE_FUNCTION, /* one of those that may be called */
    PICKLE_NAME,     /* of the module torch */
    PICKLE_STORAGE,  /* a persistent id */
    PICKLE_TENSOR,   /* the arguments of the function */
};

struct pickle_items {
    const struct pickle_value **items;
    size_t count;
};

struct pickle_value {
    enum pickle_kind kind;
    bool ordered; /* of a dict: an OrderedDict, which may have a state */
    union {
        int64_t whole; /* of a truth 0 or 1 */
        double number; /* 0 for an integer of more than 64 bits */
        struct pickle_text {
            const char *bytes; /* not ended by a NUL */
            size_t length;
        } text;                           /* of a text and a name, without "torch." */
        struct pickle_items items;        /* of a tuple and a list; of a dict keys and values in turn */
        const struct pickle_value *tuple; /* of a storage and a tensor */
    };
    const struct pickle_value *next; /* of a dict: the one made before it, or NULL */
};

struct pickle {
    const struct pickle_value *root;
    const struct pickle_value *dicts; /* the last one made */
    size_t tensor_count;
};

/* Reads bytes[0 .. length); texts stay there. STATUS_USAGE "source: ..." where that is no complete pickle, or contains
 * anything not listed above; STATUS_SYSTEM where memory is short. */
enum status pickle_read(const char *source, const unsigned char *bytes, size_t length, struct arena *arena,
                        struct pickle *pickle, struct error *error);

/* "a list", "a number". */
const char *pickle_kind_name(const struct pickle_value *value);

/* Whether a text or a name equals `text`. */
bool pickle_is(const struct pickle_value *value, const char *text);
