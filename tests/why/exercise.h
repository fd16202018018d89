/* SPDX-License-Identifier: MIT */
/* The problems on which people's mistakes are made: what each is, as a command line of attn and as plain sizes. */
#ifndef ATTN_WHY_EXERCISE_H
#define ATTN_WHY_EXERCISE_H

#include <stdbool.h>

enum { ITEMS = 2, HEADS = 4, TOKENS = 8, WIDTH = 8 }; /* the most of each */

enum exercise_id {
    BOOK,      /* the chapter's six tokens, causal, drawn as nn.Linear */
    BOOK_NAN,  /* the same, a row without keys is NaN, as in PyTorch */
    BOOK_BIAS, /* the same, with a bias for each projection */
    BOOK_RAND, /* all see all, drawn by torch.rand */
    BOOK_SPLIT,
    BOOK_WRAPPER,
    BOOK_DROPOUT,
    SINGLE, /* one head, as many columns as the inputs have */
    MODULE, /* split heads, biases, an output projection; as many columns as the inputs have */
    WIDE,   /* split heads, another number of columns */
    BATCH,
    PLAIN, /* query, key and value, nothing else */
    PLAIN_LSE,
    LOUD,      /* a score above 88, another above 65504 */
    FEW,       /* fewer queries than keys */
    FEW_FIRST, /* and causal, from the first key */
    FEW_LAST,
    PAST,
    PAST_PLAIN,
    WINDOW,
    PADDED,
    CACHE, /* lengths and a window */
    MASKED,
    PADDING,
    EMPTY,
    EMPTY_MEAN,
    GROUPED,
    CAPPED,
    ALIBI,
    SINKS,
    KERNEL, /* groups, a past, a window, ALiBi, sinks and a softcap together */
    HALF,   /* float16, numbers that are tame in other types, too */
    EXERCISE_COUNT
};

enum entries { NO_ENTRIES, OF_ITEMS, OF_KEYS, EMPTY_ROW };

/* How numbers are kept: each stage is rounded to it. */
enum kind { FLOAT32, FLOAT16, BFLOAT16, FLOAT8_E4M3, FLOAT8_E5M2 };

struct exercise {
    const char *name, *words; /* "sdpa --causal" */
    const char *file;         /* of inputs, or NULL: it is written */
    const char *stage;        /* the last one */
    int items, heads;         /* 0: there is no such axis */
    int kv_heads;             /* 0: as many as heads */
    int queries, keys;        /* keys 0: as many as queries */
    int d, d_in;              /* columns of a head; of the inputs, 0 where query, key and value are given */
    bool draws, by_rand, splits, has_biases;
    unsigned seed;
    double dropout;
    bool causal, last, windowed;
    int left, right; /* below 0: unbounded */
    int past;
    int lengths[ITEMS]; /* 0: there are none */
    enum entries entries;
    const char *empty_row; /* NULL: "zero" */
    double softcap;
    bool slopes, sinks, loud;
    enum kind kind;
};

extern const struct exercise EXERCISES[EXERCISE_COUNT];

#endif
