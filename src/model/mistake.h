/* The mistakes that people make: names, sentences and fixes. What each changes is in src/mistake/. */
#ifndef ATTN_MODEL_MISTAKE_H
#define ATTN_MODEL_MISTAKE_H

#include "model/stages.h"
#include "tensor/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A slot, what it is called, and the first stage that its mistakes can change. */
/* clang-format off */
#define MISTAKE_SLOTS(ROW) \
    ROW(SCALE, "scale", SCALED) \
    ROW(SOFTMAX, "softmax", WEIGHTS) \
    ROW(MASK, "mask", MASKED) \
    ROW(FILL, "fill", MASKED) \
    ROW(WINDOW, "window", MASKED) \
    ROW(LENGTHS, "lengths", MASKED) \
    ROW(SEQUENCES, "sequences", MASKED) \
    ROW(PAGES, "pages", KEY) \
    ROW(ATTN_MASK, "attn_mask", MASKED) \
    ROW(EMPTY, "empty", WEIGHTS) \
    ROW(KEYS, "keys", SCORES) \
    ROW(ROLES, "roles", QUERY) \
    ROW(WEIGHTS, "weights", CONTEXT) \
    ROW(MATRIX, "matrix", QUERY) \
    ROW(BIAS, "bias", QUERY) \
    ROW(CLIP, "clip", QUERY) \
    ROW(SPLIT, "split", QUERY) \
    ROW(MERGE, "merge", OUTPUT) \
    ROW(OUT, "out", OUTPUT) \
    ROW(GROUPS, "groups", SCORES) \
    ROW(PACKING, "packing", QUERY) \
    ROW(NORM, "norm", NORMED) \
    ROW(QK_NORM, "qk_norm", QUERY) \
    ROW(ROPE, "rope", QUERY) \
    ROW(SOFTCAP, "softcap", CAPPED) \
    ROW(ALIBI, "alibi", MASKED) \
    ROW(RELATIVE, "relative", MASKED) \
    ROW(SINKS, "sinks", WEIGHTS) \
    ROW(LSE, "lse", LSE) \
    ROW(DROPOUT, "dropout", DROPPED) \
    ROW(DRAW, "draw", QUERY) \
    ROW(TILES, "tiles", CONTEXT) \
    ROW(BITS, "bits", QUERY) \
    ROW(DTYPE, "dtype", QUERY) \
    ROW(GRAD, "grad", GRAD_VALUE)
/* clang-format on */

#define MISTAKE_SLOT_ID(id, ...) MISTAKE_SLOT_##id,
enum mistake_slot { MISTAKE_SLOTS(MISTAKE_SLOT_ID) MISTAKE_SLOT_COUNT };
#undef MISTAKE_SLOT_ID

#define ROW(id, ...) MISTAKE_##id,
enum mistake {
#include "model/mistake_rows.h"
    MISTAKE_COUNT
};

struct mistake_row {
    const char *name; /* "scale-missing" */
    enum mistake_slot slot;
    const char *sentence; /* what is done wrong, as a clause: "the scores are not divided by sqrt(d_head)" */
    /* How it is done right, a line each, without a full stop; NULL where there is nothing to say of it. */
    const char *pytorch, *numpy, *c;
    const char *section; /* of the manual, and its page: "attn: Softmax" is told as "man attn: Softmax" */
    const char *unseen;  /* why an input may not show it: "no score is above 88"; or NULL */

    /* A mistake of several forms, such as tiles of N keys: "tiles-last-alone:4" says which. */
    const char *number;       /* what the number counts: "keys of a tile"; NULL: no forms, or `forms` has them */
    double from, to;          /* its range, both included, */
    double usual;             /* what it is where the name stands alone, */
    bool whole;               /* and whether it is whole */
    const char *const *forms; /* words for forms in place of a number, NULL behind the last; the first is the usual */
};

extern const struct mistake_row MISTAKES[MISTAKE_COUNT];

/* A mistake, and which form of it: its number, or the place of its word; 0 where it has one form alone. */
struct mistake_choice {
    enum mistake id;
    double form;
};

/* The name of a slot: "softmax". */
const char *mistake_slot_name(enum mistake_slot slot);

/* The first stage that its mistakes can change; those of `keys`, for example, change no query. */
enum stage mistake_slot_stage(enum mistake_slot slot);

/* The mistake of that name, or MISTAKE_COUNT. */
enum mistake mistake_find(const char *name, size_t length);

/* That all is computed in a dtype, and which dtype a mistake says so of: MISTAKE_COUNT, DTYPE_COUNT where there is
 * none. */
enum mistake mistake_of_dtype(enum dtype dtype);
enum dtype mistake_dtype(enum mistake mistake);

enum { MISTAKE_NAME_BYTES = 64 };

/* "scale-missing", "tiles-last-alone:4": as --mistake takes it, into text (MISTAKE_NAME_BYTES); returns text. */
const char *mistake_text(struct mistake_choice choice, char *text);

#endif
