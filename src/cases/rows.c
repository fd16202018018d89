/* SPDX-License-Identifier: MIT */
#include "cases/draw.h"

/* clang-format off */
#define B(id) CASE_BIT(id)
#define POSITIONS (B(CAUSAL) | B(WINDOW_BOTH) | B(ALIBI) | B(CHUNK))
#define MASKS (B(MASK) | B(MASK_FLOAT))

const struct case_feature_row CASE_FEATURE_ROWS[CASE_FEATURE_COUNT] = {
    [CASE_CAUSAL] = {.options = "--causal"},
    [CASE_MQA] = {.excludes = B(GQA)},
    [CASE_BATCH] = {.items = 3},
    [CASE_DECODE] = {.any = B(OFFSET) | B(LENGTHS) | B(PAGES) | B(PAST), .excludes = B(CROSS) | B(TOP_LEFT) | B(PACKED) | B(GRAD),
        .queries = 1},
    [CASE_CROSS] = {.queries = 23, .excludes = POSITIONS | B(TOP_LEFT) | B(OFFSET)},
    [CASE_TOP_LEFT] = {.options = "--align top-left", .any = POSITIONS, .excludes = B(OFFSET), .queries = 23},
    [CASE_OFFSET] = {.options = "--align bottom-right", .any = POSITIONS, .queries = 23},
    [CASE_WINDOW] = {.options = "--window 9,0", .needs = B(CAUSAL)},
    [CASE_WINDOW_BOTH] = {.options = "--window 9,4", .excludes = B(CAUSAL) | B(WINDOW)},
    [CASE_CHUNK] = {.options = "--attention-chunk 16", .excludes = B(WINDOW) | B(WINDOW_BOTH)},
    [CASE_PREFIX] = {.options = "--prefix 7", .needs = B(CAUSAL)},
    [CASE_SOFTCAP] = {.options = "--softcap 5"},
    [CASE_SCALE] = {.options = "--scale 0.3"},
    [CASE_ALIBI] = {.options = "--alibi slopes"},
    [CASE_MASK] = {.tensor = "attn_mask", .excludes = B(MASK_FLOAT), .make = make_mask},
    [CASE_MASK_FLOAT] = {.tensor = "attn_mask", .make = make_mask},
    [CASE_MASK_ITEMS] = {.any = MASKS, .needs = B(BATCH), .excludes = B(PACKED)},
    [CASE_MASK_HEADS] = {.any = MASKS},
    [CASE_MASK_PADDING] = {.any = MASKS, .needs = B(BATCH), .excludes = B(MASK_ITEMS) | B(MASK_HEADS) | B(EMPTY) | B(PACKED)},
    [CASE_EMPTY] = {.any = MASKS | B(LENGTHS) | B(PAGES)},
    [CASE_SINKS] = {.tensor = "sinks", .make = make_sinks},
    [CASE_DOCUMENTS] = {.tensor = "document_ids", .excludes = B(PACKED) | B(PAGES) | B(CROSS), .make = make_documents},
    [CASE_LENGTHS] = {.tensor = "kv_lengths", .needs = B(BATCH), .excludes = B(CROSS) | B(TOP_LEFT) | B(OFFSET) | B(PACKED),
        .items = 4, .queries = 5, .make = make_lengths},
    [CASE_PACKED] = {.tensor = "cu_seqlens", .excludes = B(BATCH), .keys = CASE_PACKED_KEYS, .exact = true},
    [CASE_PAGES] = {.tensor = "block_table", .excludes = B(BATCH) | B(CROSS) | B(TOP_LEFT) | B(OFFSET) | B(LENGTHS), .items = 4, .queries = 3,
        .keys = 33, .exact = true},
    [CASE_PAST] = {.tensor = "past_key", .excludes = B(CROSS) | B(TOP_LEFT) | B(OFFSET) | B(LENGTHS) | B(PACKED) | B(PAGES), .queries = 23},
    [CASE_GRAD] = {.tensor = "gradients", .excludes = B(PAGES) | B(PAST)},
    [CASE_POISON] = {.any = B(LENGTHS) | B(PAGES)},
    [CASE_MERGE] = {.tensor = "contexts", .excludes = ~B(MERGE), .items = 3, .queries = 1, .make = make_splits},
};

/* A length just before, at or behind the end of a tile, without and with the causal rule. */
#define EDGE(tokens, what) \
    {.name = "edge-" #tokens, .purpose = #what, .keys = (tokens), .exact = true}, \
    {.name = "causal-" #tokens, .purpose = #what ", causal: tiles on the diagonal", .features = B(CAUSAL), \
        .keys = (tokens), .exact = true},

#define SCORES(...) &(const struct case_scores){__VA_ARGS__}

const struct case_row CASES[] = {
    EDGE(15, one token less than a tile of 16 has)
    EDGE(16, exactly a tile of 16)
    EDGE(17, one token more than a tile of 16 has)
    EDGE(31, one token less than a tile of 32 has)
    EDGE(32, exactly a tile of 32)
    EDGE(33, one token more than a tile of 32 has)
    EDGE(63, one token less than a tile of 64 has)
    EDGE(64, exactly a tile of 64)
    EDGE(65, one token more than a tile of 64 has)
    EDGE(127, one token less than a tile of 128 has)
    EDGE(128, exactly a tile of 128)
    EDGE(129, one token more than a tile of 128 has)
    {.name = "longest", .least = 1, .purpose = "T = --max-tokens, several tiles of any size"},
    {.name = "longest-causal", .least = 1, .purpose = "T = --max-tokens, causal", .features = B(CAUSAL)},
    {.name = "one-token", .least = 1, .purpose = "T = 1: the context is the value itself", .keys = 1},
    {.name = "one-key", .purpose = "one key for all queries: all contexts are its value", .features = B(CROSS), .queries = 17, .keys = 1},
    {.name = "one-query", .purpose = "a decoding step: one query, all keys allowed", .features = B(CROSS), .queries = 1},
    {.name = "decode", .purpose = "a decoding step: one query, the last token, and shared heads",
        .features = B(CAUSAL) | B(GQA) | B(DECODE) | B(OFFSET), .keys = 100},
    {.name = "batch", .purpose = "3 items: strides of a batch", .features = B(BATCH), .keys = 37},
    {.name = "few-queries", .least = 3, .purpose = "Tq < Tk, causal from the first key on: keys after Tq are always masked",
        .features = B(CAUSAL) | B(TOP_LEFT), .queries = 23, .keys = 60},
    {.name = "last-queries", .least = 3, .purpose = "Tq < Tk, causal: the queries are the last tokens, as with a cache",
        .features = B(CAUSAL) | B(OFFSET), .queries = 23, .keys = 60},
    {.name = "more-queries", .least = 3, .purpose = "Tq > Tk, the last tokens: the first queries have no allowed key, so their contexts are 0",
        .features = B(CAUSAL) | B(OFFSET) | B(EMPTY), .queries = 40, .keys = 23},
    {.name = "lengths", .least = 4, .purpose = "items with no key, one, some and all; NaN fills all that lies after a length",
        .features = B(BATCH) | B(LENGTHS) | B(EMPTY) | B(POISON), .queries = 40, .keys = 40},
    {.name = "empty-rows", .least = 3, .purpose = "rows of attn_mask that allow no key: the first, the last, one between; their contexts are 0",
        .features = B(MASK) | B(EMPTY), .keys = 50},
    {.name = "first-block-masked", .purpose = "the first 64 keys, or half of them, are masked for every query: a running maximum of -inf",
        .features = B(MASK), .keys = 100, .make = make_mask_block},
    {.name = "mask-float", .purpose = "attn_mask of numbers, added to the scores", .features = B(MASK_FLOAT), .keys = 50, .make = make_mask_finite},
    {.name = "mask-minus-infinity", .purpose = "attn_mask with -inf in it: those keys take no part", .features = B(MASK_FLOAT), .keys = 50},
    {.name = "nan-masked", .purpose = "keys and values that are NaN or -inf where attn_mask masks them for every query",
        .features = B(MASK) | B(POISON), .keys = 50, .make = make_poison_mask},
    {.name = "nan-behind", .least = 3, .purpose = "keys and values that are NaN where the causal mask masks them for every query",
        .features = B(CAUSAL) | B(TOP_LEFT) | B(POISON), .queries = 20, .keys = 50, .make = make_poison_behind},
    {.name = "largest-last", .purpose = "the largest score of each row is the last: all before it is rescaled", .keys = 129,
        .scores = SCORES(.others = 0.5, .last = 5)},
    {.name = "largest-first", .purpose = "the largest score of each row is the first", .keys = 129, .scores = SCORES(.others = 0.5, .first = 5)},
    {.name = "rising-far", .purpose = "scores rise by 200 from the first key to the last: exp overflows with the maximum of an early tile",
        .keys = 129, .scores = SCORES(.others = 0.5, .rising = 200)},
    {.name = "rising", .purpose = "scores rise from key to key: the running maximum moves in every tile", .keys = 129,
        .scores = SCORES(.others = 0.5, .rising = 20)},
    {.name = "apart-90", .purpose = "scores of a row differ by 90: exp(90) overflows float32", .keys = 70, .scores = SCORES(.others = 0.5,
        .two = 90)},
    {.name = "apart-1000", .purpose = "scores of a row differ by 1000: all but the largest vanish", .keys = 70,
        .scores = SCORES(.others = 0.5, .two = 1000)},
    {.name = "all-equal", .purpose = "all scores are equal: the context is the mean of the values", .keys = 70, .scores = SCORES(.all = 0.5)},
    {.name = "all-low", .purpose = "all scores are near -1000: without subtracting the maximum, 0 / 0", .keys = 70,
        .scores = SCORES(.others = 0.5, .all = -1000)},
    {.name = "overflow-f16", .purpose = "query . key exceeds 65504, the largest float16, before it is scaled", .keys = 70, .make = make_overflow},
    {.name = "denormal", .purpose = "values, and so contexts, are below the smallest normal number of the dtype", .keys = 70, .make = make_denormal},
    {.name = "alternating", .purpose = "values alternate in sign and nearly cancel: sums need precision", .keys = 128,
        .scores = SCORES(.all = 0.5), .make = make_alternating},
    {.name = "groups", .purpose = "fewer heads of key and value: each serves a run of query heads", .features = B(GQA), .keys = 50},
    {.name = "groups-causal", .purpose = "fewer heads of key and value, causal", .features = B(CAUSAL) | B(GQA), .keys = 50},
    {.name = "one-kv-head", .purpose = "one head of key and value serves all", .features = B(MQA), .keys = 50},
    {.name = "window", .least = 18, .purpose = "causal, with a window of 16 keys before the query's own",
        .features = B(CAUSAL) | B(WINDOW), .options = "--window 16,0", .keys = 100},
    {.name = "window-causal", .least = 11, .purpose = "a window of 7 keys before and 9 after, of which the causal rule masks the later",
        .features = B(CAUSAL) | B(WINDOW), .options = "--window 7,9", .keys = 40},
    {.name = "window-both", .least = 11, .purpose = "a window of 7 keys before and 9 after",
        .features = B(WINDOW_BOTH), .options = "--window 7,9", .keys = 100},
    {.name = "window-itself", .purpose = "a window of only the query's own key",
        .features = B(CAUSAL) | B(WINDOW), .options = "--window 0,0", .keys = 40},
    {.name = "sinks", .purpose = "a logit per head in the maximum and the sum, without a value", .features = B(SINKS), .keys = 50},
    {.name = "sinks-large", .purpose = "sinks above all scores: weights sum to far less than 1",
        .features = B(SINKS), .keys = 50, .make = make_sinks_large},
    {.name = "d-value", .purpose = "d_v is not d", .features = B(D_VALUE), .keys = 50},
    {.name = "scale", .purpose = "a given scale: 0.3", .features = B(SCALE), .keys = 50},
    {.name = "softcap", .purpose = "scores are capped, 5 tanh(s / 5), some far above 5", .features = B(SOFTCAP), .keys = 50,
        .scores = SCORES(.others = 1, .all = -9, .rising = 18)},
    {.name = "alibi", .purpose = "scores fall with the distance, by the usual slopes", .features = B(CAUSAL) | B(ALIBI), .keys = 50},
    {.name = "alibi-heads", .purpose = "ALiBi, and the number of heads is no power of two: its slopes are of two series", .features = B(CAUSAL) | B(ALIBI),
        .keys = 50, .odd_heads = true},
    {.name = "packed", .purpose = "sequences of 1, 16, 0, 17 and 5 tokens end to end: none attends to another", .features = B(PACKED)},
    {.name = "packed-causal", .purpose = "sequences of 1, 16, 0, 17 and 5 tokens end to end, causal within each", .features = B(CAUSAL) | B(PACKED)},
    {.name = "packed-long", .purpose = "sequences of 4, 64, 0, 68 and 20 tokens end to end, causal within each", .features = B(CAUSAL) | B(PACKED),
        .keys = (size_t)4 * CASE_PACKED_KEYS},
    {.name = "packed-apart", .purpose = "sequences whose query and key lengths differ, some 0; causal, aligned at the last key",
        .features = B(CAUSAL) | B(OFFSET) | B(PACKED) | B(EMPTY)},
    {.name = "pages", .purpose = "a cache in pages of 16, in random order; NaN fills all that lies after a length",
        .features = B(PAGES) | B(EMPTY) | B(POISON), .queries = 1},
    {.name = "pages-causal", .purpose = "a cache in pages, and 3 queries, the last tokens of each item",
        .features = B(CAUSAL) | B(PAGES) | B(EMPTY) | B(POISON)},
    {.name = "packed-pages", .purpose = "packed queries, and keys in pages, as a server runs them", .features = B(CAUSAL) | B(PACKED) | B(PAGES)},
    {.name = "packed-window-softcap", .purpose = "packed sequences, a window and a softcap", .features = B(CAUSAL) | B(WINDOW) | B(SOFTCAP) | B(PACKED)},
    {.name = "grad", .purpose = "gradients with respect to query, key and value", .features = B(GRAD), .keys = 33},
    {.name = "grad-causal", .purpose = "gradients with respect to query, key and value, causal", .features = B(CAUSAL) | B(GRAD), .keys = 65},
    {.name = "grad-few-queries", .least = 3, .purpose = "Tq < Tk, the last tokens",
        .features = B(CAUSAL) | B(OFFSET) | B(GRAD), .queries = 17, .keys = 50},
    {.name = "grad-groups", .purpose = "the gradients of a shared head are sums over the query heads that it serves",
        .features = B(CAUSAL) | B(GQA) | B(GRAD), .keys = 33},
    {.name = "grad-d-value", .purpose = "d_v is not d, and the scale is given", .features = B(SCALE) | B(D_VALUE) | B(GRAD), .keys = 33},
    {.name = "grad-d-value-more", .purpose = "d_v exceeds d, causal", .features = B(CAUSAL) | B(D_VALUE) | B(GRAD), .keys = 33},
    {.name = "grad-softcap", .purpose = "through tanh, causal", .features = B(CAUSAL) | B(SOFTCAP) | B(GRAD), .keys = 33},
    {.name = "grad-one-token", .least = 1, .purpose = "T = 1: the gradients of query and key are 0", .features = B(GRAD), .keys = 1},
    {.name = "grad-largest-last", .purpose = "the largest score of each row is the last, and so are its gradients",
        .features = B(GRAD), .keys = 65, .scores = SCORES(.others = 0.5, .last = 5)},
    {.name = "grad-lengths", .least = 4, .purpose = "items with no key, one, some and all: NaN fills all after a length, with gradients of 0",
        .features = B(BATCH) | B(LENGTHS) | B(EMPTY) | B(POISON) | B(GRAD), .queries = 40, .keys = 40},
    {.name = "grad-sinks", .purpose = "a logit per head in the maximum and the sum: it has a gradient, but no value",
        .features = B(SINKS) | B(GRAD), .keys = 50},
    {.name = "grad-packed", .purpose = "sequences of 1, 16, 0, 17 and 5 tokens end to end: no gradient crosses sequences",
        .features = B(PACKED) | B(GRAD)},
    {.name = "grad-packed-groups", .purpose = "packed sequences, causal, and gradients of a shared head: sums stay within a sequence",
        .features = B(CAUSAL) | B(GQA) | B(PACKED) | B(GRAD)},
    {.name = "grad-packed-apart", .purpose = "packed sequences whose query and key lengths differ, causal: without the other side, gradients are 0",
        .features = B(CAUSAL) | B(OFFSET) | B(PACKED) | B(EMPTY) | B(GRAD)},
    {.name = "merge-two", .least = 1, .purpose = "two splits of the keys: their contexts and lse, to merge", .features = B(MERGE), .keys = 2},
    {.name = "merge-several", .least = 1, .purpose = "seven splits, some without a key: lse -inf, and a context of 0", .features = B(MERGE), .keys = 7},
    {.name = "merge-apart", .least = 1, .purpose = "splits whose lse are near 1000 and -1000: exp of them overflows", .features = B(MERGE), .keys = 5, .make = make_splits_apart},
};
/* clang-format on */

const size_t CASES_COUNT = sizeof CASES / sizeof CASES[0];
