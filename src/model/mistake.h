/* SPDX-License-Identifier: MIT */
/* The mistakes that people make: names, sentences and fixes. src/mistake/ has what each changes. */
#pragma once

#include "model/stage_id.h"
#include "tensor/dtype.h"

#include <stdbool.h>
#include <stddef.h>

/* A slot, its name, the first stage that its mistakes can change, and the page and section of the manual on most of
 * them. */
/* clang-format off */
#define MISTAKE_SLOTS(ROW) \
    ROW(SCALE, "scale", SCALED, "attn-lessons: Why the square root") \
    ROW(SOFTMAX, "softmax", WEIGHTS, "attn-lessons: Softmax goes along the rows") \
    ROW(MASK, "mask", MASKED, "attn-lessons: The causal mask") \
    ROW(FILL, "fill", MASKED, "attn-lessons: What replaces a masked score") \
    ROW(WINDOW, "window", MASKED, "attn-sdpa: Allowed keys") \
    ROW(LENGTHS, "lengths", MASKED, "attn-sdpa: QUERY, KEY AND VALUE") \
    ROW(SEQUENCES, "sequences", MASKED, "attn-files: THE INPUT") \
    ROW(PAGES, "pages", KEY, "attn-files: THE INPUT") \
    ROW(ATTN_MASK, "attn_mask", MASKED, "attn-sdpa: QUERY, KEY AND VALUE") \
    ROW(EMPTY, "empty", WEIGHTS, "attn-sdpa: Allowed keys") \
    ROW(KEYS, "keys", SCORES, "attn-lessons: The scores of one token") \
    ROW(SCORES, "scores", SCORES, "attn-lessons: The scores of one token") \
    ROW(ROLES, "roles", QUERY, "attn-lessons: Query, key and value") \
    ROW(WEIGHTS, "weights", CONTEXT, "attn-lessons: The context") \
    ROW(MATRIX, "matrix", QUERY, "attn-lessons: torch.rand and nn.Linear") \
    ROW(BIAS, "bias", QUERY, "attn: STAGES") \
    ROW(CLIP, "clip", QUERY, "attn-layer: Positions and norms") \
    ROW(GROWTH, "growth", QUERY, "attn-layer: Positions and norms") \
    ROW(SPLIT, "split", QUERY, "attn-lessons: Several heads, split") \
    ROW(MERGE, "merge", OUTPUT, "attn-lessons: Heads side by side again") \
    ROW(OUT, "out", OUTPUT, "attn-lessons: The output projection") \
    ROW(POSITIONS, "positions", EMBEDDED, "attn-files: THE INPUT") \
    ROW(RESIDUAL, "residual", RESIDUAL, "attn-files: THE INPUT") \
    ROW(UNEMBEDDING, "unembedding", LOGITS, "attn-files: THE INPUT") \
    ROW(GROUPS, "groups", SCORES, "attn-sdpa: HEADS THAT SHARE") \
    ROW(PACKING, "packing", QUERY, "attn-layer: A checkpoint") \
    ROW(NORM, "norm", NORMED, "attn-layer: Positions and norms") \
    ROW(QK_NORM, "qk_norm", QUERY, "attn-layer: Positions and norms") \
    ROW(VALUE_NORM, "value_norm", VALUE, "attn-layer: Positions and norms") \
    ROW(GATE, "gate", GATE, "attn: STAGES") \
    ROW(ROPE_THETA, "rope_theta", QUERY, "attn-layer: Positions and norms") \
    ROW(ROPE_SCALING, "rope_scaling", QUERY, "attn-layer: Positions and norms") \
    ROW(ROPE, "rope", QUERY, "attn-layer: Positions and norms") \
    ROW(ROWS, "rows", QUERY, "attn-layer: A checkpoint") \
    ROW(SOFTCAP, "softcap", CAPPED, "attn-sdpa: The scores") \
    ROW(ALIBI, "alibi", MASKED, "attn-files: THE INPUT") \
    ROW(RELATIVE, "relative", MASKED, "attn-layer: Positions and norms") \
    ROW(SINKS, "sinks", WEIGHTS, "attn-files: THE INPUT") \
    ROW(LSE, "lse", LSE, "attn: STAGES") \
    ROW(DROPOUT, "dropout", DROPPED, "attn-lessons: Dropout") \
    ROW(LAYER, "layer", NORMED, "attn-layer: A checkpoint") \
    ROW(DRAW, "draw", QUERY, "attn-lessons: Seeds and skipped draws") \
    ROW(TILES, "tiles", CONTEXT, "attn-numbers: TWO PATHS") \
    ROW(BITS, "bits", QUERY, "attn-files: BINARY FILES") \
    ROW(DTYPE, "dtype", QUERY, "attn-numbers: OPTIONS") \
    ROW(GRAD, "grad", GRAD_VALUE, "attn: STAGES")
/* clang-format on */

#define MISTAKE_SLOT_ID(id, ...) MISTAKE_SLOT_##id,
enum mistake_slot { MISTAKE_SLOTS(MISTAKE_SLOT_ID) MISTAKE_SLOT_COUNT };

/* The mistakes, most common slots first, and most common mistakes first in a slot. */
#define ROW(id, ...) MISTAKE_##id,
enum mistake {
#include "model/mistake_rows.h"
    MISTAKE_COUNT
};

struct mistake_row {
    const char *name; /* "scale-missing" */
    enum mistake_slot slot;
    const char *sentence; /* what is done wrong, as a clause: "the scores are not divided by sqrt(d_head)" */
    /* The fix in one line each, without a full stop; NULL: none. */
    const char *pytorch, *numpy, *c;
    const char *section; /* of the manual; NULL: that of its slot */
    const char *unseen;  /* why an input may hide it: "no score is above 88"; or NULL */

    /* Of a mistake with several forms, such as tiles of N keys, "tiles-last-alone:4": */
    const char *number;       /* what the number counts: "keys of a tile"; NULL: no forms, or `forms` has them */
    double from, to;          /* its range, both included, */
    double usual;             /* the default, for the name alone, */
    bool whole;               /* and whether it is an integer */
    const char *const *forms; /* words instead of a number, NULL after the last; the first is the default */

    /* For attn why: */
    bool of_kernels; /* guesses it only of given query, key and value, and in no pair */
    bool alone;      /* guesses it in no pair */
    bool any_seed;   /* guesses it with all seeds: each row of context stays a mean of values, as why/screen.h needs */
    bool only_nan;   /* may give NaN for all numbers, and so explains no table of NaN */
};

extern const struct mistake_row MISTAKES[MISTAKE_COUNT];

/* A mistake and its form: its number, or the index of its word; 0 where it has only one. */
struct mistake_choice {
    enum mistake id;
    double form;
};

/* The mistake's page and section of the manual: "attn: Softmax", shown as "man attn: Softmax". */
const char *mistake_section(enum mistake mistake);

/* The name of a slot: "softmax". */
const char *mistake_slot_name(enum mistake_slot slot);

/* The first stage that the slot's mistakes can change; those of `keys`, for example, change no query. */
enum stage mistake_slot_stage(enum mistake_slot slot);

/* The mistake of computing all in a dtype, and the dtype of such a mistake; MISTAKE_COUNT, DTYPE_COUNT: none. */
enum mistake mistake_of_dtype(enum dtype dtype);
enum dtype mistake_dtype(enum mistake mistake);

enum { MISTAKE_NAME_BYTES = 64 };

/* Writes "scale-missing" or "tiles-last-alone:4", as --mistake takes it, into text (MISTAKE_NAME_BYTES); returns
 * text. */
const char *mistake_text(struct mistake_choice choice, char *text);
