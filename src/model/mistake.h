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

/* The mistakes, most common slots first, and most common mistakes first in a slot. mistake_rows.h has the rest. */
/* clang-format off */
#define MISTAKE_IDS(ID) \
    ID(SCALE_MISSING) ID(SCALE_TWICE) ID(SCALE_INVERTED) ID(SCALE_D_MODEL) ID(SCALE_1_OVER_D_MODEL) ID(SCALE_D_IN) \
    ID(SCALE_USUAL) ID(SCALE_AND_USUAL) ID(SCALE_D_IN_OVER_HEADS) ID(SCALE_TOKENS) ID(SCALE_HEADS) \
    ID(SCALE_FOURTH_ROOT) ID(SCALE_AFTER_SOFTMAX) ID(SCALE_NEGATIVE) ID(SCALE_ZERO) ID(SCALE_ROUNDED) \
    ID(SOFTMAX_QUERIES) ID(SOFTMAX_HEADS) ID(SOFTMAX_ITEMS) ID(SOFTMAX_ALL) ID(SOFTMAX_BASE_2) ID(SOFTMAX_OVERFLOW) \
    ID(SOFTMAX_MISSING) ID(SOFTMAX_SUM_OF_SCORES) ID(SOFTMAX_TWICE) ID(SOFTMAX_LOG) ID(SOFTMAX_SIGMOID) \
    ID(SOFTMAX_NO_KEEPDIM) ID(SOFTMAX_MAXIMUM_FROM_0) \
    ID(MASK_MISSING) ID(MASK_ONE_AHEAD) ID(MASK_HIDES_OWN) ID(MASK_INVERTED) ID(MASK_INVERTED_OWN_SEEN) \
    ID(MASK_MIRRORED) ID(MASK_CORNER) ID(MASK_OFFSET_MISSING) ID(MASK_OFFSET_PLUS_1) ID(MASK_OFFSET_MINUS_1) \
    ID(MASK_CAUSAL) ID(MASK_PACKED_GROUPS) ID(MASK_DIAGONAL) \
    ID(FILL_ZERO) ID(FILL_SMALL) ID(FILL_AFTER_SOFTMAX) ID(FILL_LARGE) ID(FILL_NO_KEEPDIM) ID(FILL_ADDED) ID(FILL_ACROSS) \
    ID(WINDOW_LEFT_PLUS_1) ID(WINDOW_LEFT_MINUS_1) ID(WINDOW_RIGHT_PLUS_1) ID(WINDOW_RIGHT_MINUS_1) ID(WINDOW_MISSING) \
    ID(WINDOW_LEFT_MISSING) ID(WINDOW_RIGHT_MISSING) \
    ID(LENGTHS_PLUS_1) ID(LENGTHS_MINUS_1) ID(LENGTHS_PLUS_1_PLACE_KEPT) ID(LENGTHS_MINUS_1_PLACE_KEPT) \
    ID(LENGTHS_MISSING) ID(PAST_NOT_COUNTED) \
    ID(SEQUENCES_MISSING) ID(SEQUENCES_BEFORE_SEEN) ID(SEQUENCES_LEAK_BEFORE) ID(SEQUENCES_LEAK_BEHIND) \
    ID(SEQUENCES_START_PLUS_1) ID(SEQUENCES_START_MINUS_1) ID(SEQUENCES_KEYS_PLUS_1) ID(SEQUENCES_KEYS_MINUS_1) \
    ID(SEQUENCES_QUERIES_PLUS_1) ID(SEQUENCES_QUERIES_MINUS_1) \
    ID(PAGES_STALE) ID(PAGES_TAIL_COUNTED) ID(PAGES_LAST_MISSING) ID(PAGES_IN_ORDER) ID(PAGES_SORTED) \
    ID(PAGES_OTHER_ITEM) \
    ID(ATTN_MASK_MISSING) ID(ATTN_MASK_INVERTED) ID(ATTN_MASK_TRANSPOSED) ID(ATTN_MASK_ALONG_QUERIES) \
    ID(ATTN_MASK_ADDED) ID(ATTN_MASK_ITEMS_FOR_HEADS) ID(ATTN_MASK_FIRST_ITEM) ID(ATTN_MASK_FIRST_HEAD) \
    ID(EMPTY_ZERO) ID(EMPTY_NAN) ID(EMPTY_MEAN) \
    ID(KEYS_LAST_MISSING) ID(KEYS_FIRST_MISSING) ID(KEYS_AS_QUERIES) ID(KEYS_PADDING_COUNTED) ID(VALUES_SHIFTED) \
    ID(KEYS_STRIDES) ID(KEYS_STALE) ID(VALUES_STALE) \
    ID(SCORES_COSINE) ID(SCORES_KEY_VIEW) ID(SCORES_OF_SUMS) \
    ID(ROLES_QUERY_KEY_SWAPPED) ID(ROLES_KEY_VALUE_SWAPPED) ID(ROLES_QUERY_VALUE_SWAPPED) ID(ROLES_KEY_FOR_VALUE) \
    ID(ROLES_QUERY_FOR_KEY) ID(ROLES_KEY_FOR_QUERY) ID(ROLES_QUERY_FOR_VALUE) ID(ROLES_INPUTS_FOR_VALUE) \
    ID(ROLES_ONE_FOR_ALL) \
    ID(WEIGHTS_TRANSPOSED) \
    ID(MATRIX_TRANSPOSED) ID(MATRIX_QUERY_TRANSPOSED) ID(MATRIX_KEY_TRANSPOSED) ID(MATRIX_VALUE_TRANSPOSED) \
    ID(MATRIX_KEY_VALUE_SWAPPED) ID(MATRIX_QUERY_KEY_SWAPPED) \
    ID(BIAS_MISSING) ID(BIAS_QUERY_MISSING) ID(BIAS_KEY_MISSING) ID(BIAS_VALUE_MISSING) ID(BIAS_TWICE) \
    ID(BIAS_SWAPPED) \
    ID(CLIP_MISSING) \
    ID(GROWTH_MISSING) \
    ID(SPLIT_VIEW) ID(SPLIT_INTERLEAVED) ID(SPLIT_PACKED_BY_HEAD) ID(SPLIT_PACKED_BY_COLUMN) ID(SPLIT_MISSING) \
    ID(SPLIT_NOT_TRANSPOSED) \
    ID(MERGE_VIEW) ID(MERGE_INTERLEAVED) ID(MERGE_REVERSED) ID(MERGE_ADDED) \
    ID(OUT_MISSING) ID(OUT_TRANSPOSED) ID(OUT_BIAS_MISSING) ID(OUT_BIAS_TWICE) ID(OUT_TWICE) ID(OUT_RESIDUAL) \
    ID(OUT_NORMED_ADDED) ID(OUT_NORMED) \
    ID(POSITIONS_MISSING) ID(POSITIONS_TWICE) ID(POSITIONS_OTHER) \
    ID(RESIDUAL_MISSING) ID(RESIDUAL_WITHOUT_POSITIONS) \
    ID(UNEMBEDDING_TRANSPOSED) ID(UNEMBEDDING_BIAS_MISSING) \
    ID(GROUPS_TILED) ID(GROUPS_KEY_TILED) ID(GROUPS_VALUE_TILED) ID(GROUPS_FIRST) ID(GROUPS_KEY_FIRST) \
    ID(GROUPS_VALUE_FIRST) \
    ID(PACKING_GROUPS) ID(PACKING_BLOCKS) ID(PACKING_ORDER) ID(PACKING_GATE) ID(PACKING_LATENT) \
    ID(NORM_MISSING) ID(NORM_TWICE) ID(NORM_WEIGHT_MISSING) ID(NORM_BIAS_MISSING) ID(NORM_PLUS_1) \
    ID(NORM_PLUS_1_MISSING) ID(NORM_MEAN_KEPT) ID(NORM_MEAN_SUBTRACTED) ID(NORM_EPS) ID(NORM_UNBIASED) ID(NORM_OF_SUM) \
    ID(NORM_ROOT_MISSING) ID(NORM_ADDED) \
    ID(QK_NORM_MISSING) ID(QK_NORM_QUERY_MISSING) ID(QK_NORM_KEY_MISSING) ID(QK_NORM_SWAPPED) ID(QK_NORM_AFTER_ROPE) \
    ID(QK_NORM_BEFORE_ROPE) \
    ID(QK_NORM_ALL_HEADS) ID(QK_NORM_EACH_HEAD) ID(QK_NORM_WEIGHT_MISSING) ID(QK_NORM_ONE_FOR_BOTH) ID(QK_NORM_PLUS_1) \
    ID(QK_NORM_PLUS_1_MISSING) ID(QK_NORM_MEAN_KEPT) ID(QK_NORM_MEAN_SUBTRACTED) ID(QK_NORM_EPS) ID(QK_NORM_UNBIASED) \
    ID(QK_NORM_OF_SUM) ID(QK_NORM_ROOT_MISSING) ID(QK_NORM_LATENT_MISSING) \
    ID(VALUE_NORM_MISSING) ID(VALUE_NORM_OF_KEY) \
    ID(GATE_MISSING) ID(GATE_FUNCTION) ID(GATE_VIEW) \
    ID(ROPE_THETA) \
    ID(ROPE_SCALING_MISSING) ID(ROPE_SCALING_LINEAR) ID(ROPE_ATTENTION_MISSING) ID(ROPE_SCALING_ATTENTION_ALONE) \
    ID(ROPE_SCALING_TRUNCATE) ID(ROPE_SCALING_OLD) ID(ROPE_SCALING_USUAL) ID(ROPE_SCALING_SWAPPED) \
    ID(ROPE_SCALING_LISTS) \
    ID(ROPE_HALVES) ID(ROPE_PAIRS) ID(ROPE_MISSING) ID(ROPE_QUERY_MISSING) ID(ROPE_KEY_MISSING) ID(ROPE_ALL_COLUMNS) \
    ID(ROPE_OTHER_END) ID(ROPE_COLUMNS) ID(ROPE_EXPONENT_OF_HEAD) ID(ROPE_EXPONENT) ID(ROPE_MIXED) \
    ID(ROPE_MINUS_MISSING) ID(ROPE_BY_HEADS) ID(ROPE_BEFORE_SPLIT) ID(ROPE_BF16) ID(ROPE_DEGREES) ID(ROPE_BACKWARDS) \
    ID(ROPE_TWICE) ID(ROPE_QUERY_PLUS_1) ID(ROPE_QUERY_MINUS_1) ID(ROPE_KEY_PLUS_1) ID(ROPE_KEY_MINUS_1) \
    ID(ROPE_POSITIONS_FROM) ID(ROPE_PAST_MISSING) ID(ROPE_ON_VALUES) ID(ROPE_AXES_ROWS) ID(ROPE_AXES_PAIRS) \
    ID(ROWS_TO_PAIRS) ID(ROWS_TO_HALVES) \
    ID(SOFTCAP_AFTER_MASK) ID(SOFTCAP_BEFORE_SCALE) ID(SOFTCAP_MISSING) ID(SOFTCAP_NOT_MULTIPLIED) \
    ID(ALIBI_SIGN) ID(ALIBI_MISSING) ID(ALIBI_DOUBLED) ID(ALIBI_HALVED) ID(ALIBI_REVERSED) ID(ALIBI_ONE_HEAD_OFF) \
    ID(ALIBI_SCALED) ID(ALIBI_ONE_SERIES) ID(ALIBI_NOT_SCALED) ID(ALIBI_PER_KEY_HEAD) \
    ID(RELATIVE_MISSING) ID(RELATIVE_ONE_WAY) ID(RELATIVE_BOTH_WAYS) ID(RELATIVE_TURNED) \
    ID(SINKS_MISSING) ID(SINKS_REPEATED) ID(SINKS_BASE_2) ID(SINKS_SCALED) ID(SINKS_NEGATIVE) ID(SINKS_ZERO) \
    ID(SINKS_PER_KEY_HEAD) ID(SINKS_OTHER_HEAD) ID(SINKS_MAXIMUM_MISSING) ID(SINKS_PER_TILE) \
    ID(LSE_BASE_2) ID(LSE_MAXIMUM_MISSING) ID(LSE_BEFORE_SCALE) \
    ID(DROPOUT_NOT_RESCALED) ID(DROPOUT_DIVIDED_BY_P) ID(DROPOUT_BEFORE_SOFTMAX) ID(DROPOUT_MISSING) ID(DROPOUT_ON) \
    ID(LAYER_QUERY) ID(LAYER_KEY) ID(LAYER_VALUE) ID(LAYER_KEY_VALUE) ID(LAYER_OUT) ID(LAYER_BIAS) ID(LAYER_NORM) \
    ID(LAYER_NORM_AFTER) ID(LAYER_NORM_AFTER_WEIGHT) ID(LAYER_OUT_NORMED) ID(LAYER_QK_NORM) ID(LAYER_SINKS) ID(LAYER_WINDOW) ID(LAYER_ROPE) \
    ID(LAYER_KIND) ID(LAYER_ADAPTER) ID(LAYER_QUANTISED) ID(DRAW_RAND) ID(DRAW_LINEAR) \
    ID(DRAW_RANDN) ID(DRAW_INIT) ID(DRAW_ORDER) ID(DRAW_SEED) ID(DRAW_SKIP) ID(DRAW_D_OUT) \
    ID(DRAW_BIAS) ID(DRAW_BIAS_MISSING) ID(DRAW_HEADS) ID(DRAW_LAYER) ID(DRAW_SPLIT) ID(DRAW_STACKED) ID(DRAW_MKL) \
    ID(TILES_CONTEXT_NOT_RESCALED) ID(TILES_CONTEXT_DIVIDED) ID(TILES_SUM_NOT_RESCALED) ID(TILES_LAST_ALONE) \
    ID(TILES_NOT_RESCALED) ID(TILES_MERGED_BY_MEAN) ID(TILES_MERGED_NOT_RESCALED) ID(TILES_LAST_TWICE) \
    ID(TILES_FIRST_TWICE) ID(TILES_LAST_SKIPPED) ID(TILES_OWN_SKIPPED) ID(TILES_FIRST_ROW_RESCALES) \
    ID(TILES_ROW_BEFORE_RESCALES) \
    ID(BITS_BF16) ID(BITS_QUERY_BF16) ID(BITS_KEY_BF16) ID(BITS_VALUE_BF16) ID(BITS_SWAPPED) \
    ID(DTYPE_BF16) ID(DTYPE_F16) ID(DTYPE_F8E4M3) ID(DTYPE_F8E5M2) ID(OVERFLOW_F16) \
    ID(GRAD_DELTA_MISSING) ID(GRAD_SCALE_MISSING) ID(GRAD_SCALE_TWICE) ID(GRAD_KEY_FROM_SCALED_QUERY) \
    ID(GRAD_DROPOUT_MISSING) ID(GRAD_GROUPS_NOT_SUMMED) ID(GRAD_MASK_MISSING) ID(GRAD_SOFTCAP_MISSING) \
    ID(GRAD_SOFTMAX_DIAGONAL) ID(GRAD_MAXIMUM_FOR_LSE) ID(GRAD_TRANSPOSE_MISSING) ID(GRAD_QUERY_LAST_TILE) \
    ID(GRAD_KEY_LAST_TILE) ID(GRAD_ROPE_MISSING) ID(GRAD_ROPE_FORWARDS)
/* clang-format on */
#define MISTAKE_ID(id) MISTAKE_##id,
enum mistake { MISTAKE_IDS(MISTAKE_ID) MISTAKE_COUNT };
#undef MISTAKE_ID

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
