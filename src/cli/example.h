/* SPDX-License-Identifier: MIT */
/* The built-in inputs: files of data/, which the Makefile compiles into the program. */
#pragma once

#include <stddef.h>

/* The examples, a row each: name, file data/FILE.json ("_" for "-"), and a sentence. The first is the default. */
#define EXAMPLE_ROWS(ROW)                                                                                       \
    ROW("six", inputs, "six tokens, each with an embedding of three numbers; for self, causal and multihead")   \
    ROW("batch", batch, "two sentences that begin alike, as a batch; for self, causal and multihead")           \
    ROW("patterns", patterns, "twelve tokens and three heads made by hand, each with a purpose; for multihead") \
    ROW("trained", trained, "four trained heads, each with a job, and a vocabulary; for multihead")             \
    ROW("induction", induction, "a trained head that continues a repeated word; for causal")                    \
    ROW("grouped", grouped, "four heads of query that share two heads of key and value; for sdpa")              \
    ROW("packed", packed, "two sequences one after the other, as in a packed batch; for sdpa")                  \
    ROW("paged", paged, "the same two, with keys and values in pages, as a server keeps them; for sdpa")        \
    ROW("module", module, "a batch of whole numbers, on which mistakes in a module show; for multihead")        \
    ROW("kernel-causal", kernel_causal, "whole numbers, on which mistakes in a causal kernel show; for sdpa")   \
    ROW("kernel-plain", kernel_plain, "whole numbers, on which mistakes in a kernel without a mask show; for sdpa")

#define EXAMPLE_BYTES(name, file, sentence) extern const unsigned char example_##file##_bytes[];
#define EXAMPLE_LENGTH(name, file, sentence) extern const size_t example_##file##_length;
EXAMPLE_ROWS(EXAMPLE_BYTES)
EXAMPLE_ROWS(EXAMPLE_LENGTH)

#define EXAMPLE_ONE(...) +1
enum { EXAMPLE_COUNT = 0 EXAMPLE_ROWS(EXAMPLE_ONE) };

struct example_row {
    const char *name, *sentence;
    const unsigned char *bytes; /* (*length) */
    const size_t *length;
};

extern const struct example_row EXAMPLES[EXAMPLE_COUNT];

/* The example of that name, or EXAMPLE_COUNT. */
size_t example_find(const char *name);
