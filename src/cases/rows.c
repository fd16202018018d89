/* SPDX-License-Identifier: MIT */
#include "cases/draw.h"

/* clang-format off */

/* A length just before, at or behind the end of a tile, without and with the causal rule. */
#define EDGE(tokens, what) \
    {.name = "edge-" #tokens, .purpose = #what, .keys = (tokens), .exact = true}, \
    {.name = "causal-" #tokens, .purpose = #what ", causal: tiles on the diagonal", .options = "--causal", \
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
    {.name = "longest-causal", .least = 1, .purpose = "T = --max-tokens, causal", .options = "--causal"},
    {.name = "one-token", .least = 1, .purpose = "T = 1: the context is the value itself", .keys = 1},
    {.name = "one-key", .purpose = "one key for all queries: all contexts are its value", .queries = 17, .keys = 1},
    {.name = "one-query", .purpose = "a decoding step: one query, all keys allowed", .queries = 1, .keys = 100},
    {.name = "batch", .purpose = "3 items: strides of a batch", .keys = 37, .items = 3},
    {.name = "few-queries", .least = 3, .purpose = "Tq < Tk, causal from the first key on: keys after Tq are always masked",
        .options = "--causal", .queries = 23, .keys = 60},
    {.name = "last-queries", .least = 3, .purpose = "Tq < Tk, causal: the queries are the last tokens, as with a cache",
        .options = "--causal --align bottom-right", .queries = 23, .keys = 60},
    {.name = "more-queries", .least = 3, .purpose = "Tq > Tk, the last tokens: the first queries have no allowed key, so their contexts are 0",
        .options = "--causal --align bottom-right", .queries = 40, .keys = 23},
    {.name = "lengths", .least = 4, .purpose = "items with no key, one, some and all; NaN fills all that lies after a length",
        .keys = 40, .items = 4, .needs = "kv_lengths", .make = make_lengths},
    {.name = "empty-rows", .least = 3, .purpose = "rows of attn_mask that allow no key: the first, the last, one between; their contexts are 0",
        .keys = 50, .needs = "attn_mask", .make = make_mask_rows},
    {.name = "first-block-masked", .purpose = "the first 64 keys, or half of them, are masked for every query: a running maximum of -inf",
        .keys = 100, .needs = "attn_mask", .make = make_mask_block},
    {.name = "mask-float", .purpose = "attn_mask of numbers, added to the scores", .keys = 50, .needs = "attn_mask", .make = make_mask_float},
    {.name = "mask-minus-infinity", .purpose = "attn_mask with -inf in it: those keys take no part", .keys = 50, .needs = "attn_mask", .make = make_mask_infinite},
    {.name = "nan-masked", .purpose = "keys and values that are NaN or -inf where attn_mask masks them for every query",
        .keys = 50, .needs = "attn_mask", .make = make_poison_mask},
    {.name = "nan-behind", .least = 3, .purpose = "keys and values that are NaN where the causal mask masks them for every query",
        .options = "--causal", .queries = 20, .keys = 50, .make = make_poison_behind},
    {.name = "largest-last", .purpose = "the largest score of each row is the last: all before it is rescaled", .keys = 129, .scores = SCORES(.others = 0.5, .last = 5)},
    {.name = "largest-first", .purpose = "the largest score of each row is the first", .keys = 129, .scores = SCORES(.others = 0.5, .first = 5)},
    {.name = "rising", .purpose = "scores rise from key to key: the running maximum moves in every tile", .keys = 129, .scores = SCORES(.others = 0.5, .rising = 20)},
    {.name = "apart-90", .purpose = "scores of a row differ by 90: exp(90) overflows float32", .keys = 70, .scores = SCORES(.others = 0.5, .two = 90)},
    {.name = "apart-1000", .purpose = "scores of a row differ by 1000: all but the largest vanish", .keys = 70, .scores = SCORES(.others = 0.5, .two = 1000)},
    {.name = "all-equal", .purpose = "all scores are equal: the context is the mean of the values", .keys = 70, .scores = SCORES(.all = 0.5)},
    {.name = "all-low", .purpose = "all scores are near -1000: without subtracting the maximum, 0 / 0", .keys = 70, .scores = SCORES(.others = 0.5, .all = -1000)},
    {.name = "overflow-f16", .purpose = "query . key exceeds 65504, the largest float16, before it is scaled", .keys = 70, .make = make_overflow},
    {.name = "denormal", .purpose = "values, and so contexts, are below the smallest normal number of the dtype", .keys = 70, .make = make_denormal},
    {.name = "alternating", .purpose = "values alternate in sign and nearly cancel: sums need precision", .keys = 128, .scores = SCORES(.all = 0.5), .make = make_alternating},
    {.name = "groups", .purpose = "fewer heads of key and value: each serves a run of query heads",
        .keys = 50, .sharing = CASE_GROUPS},
    {.name = "groups-causal", .purpose = "fewer heads of key and value, causal", .options = "--causal", .keys = 50, .sharing = CASE_GROUPS},
    {.name = "one-kv-head", .purpose = "one head of key and value serves all", .keys = 50, .sharing = CASE_ONE},
    {.name = "window", .least = 18, .purpose = "causal, with a window of 16 keys before the query's own", .options = "--causal --window 16,0", .keys = 100},
    {.name = "window-both", .least = 11, .purpose = "a window of 7 keys before and 9 after", .options = "--window 7,9", .keys = 100},
    {.name = "window-itself", .purpose = "a window of only the query's own key", .options = "--causal --window 0,0", .keys = 40},
    {.name = "sinks", .purpose = "a logit per head in the maximum and the sum, without a value", .keys = 50, .needs = "sinks", .make = make_sinks},
    {.name = "sinks-large", .purpose = "sinks above all scores: weights sum to far less than 1", .keys = 50, .needs = "sinks", .make = make_sinks_large},
    {.name = "d-value", .purpose = "d_v is not d", .keys = 50, .other_value = true},
    {.name = "scale", .purpose = "a given scale: 0.3", .options = "--scale 0.3", .keys = 50},
    {.name = "softcap", .purpose = "scores are capped, 5 tanh(s / 5)", .options = "--softcap 5", .keys = 50},
    {.name = "alibi", .purpose = "scores fall with the distance, by the usual slopes", .options = "--causal --alibi slopes", .keys = 50},
    {.name = "packed", .purpose = "sequences of 1, 16, 0, 17 and 5 tokens end to end: none attends to another", .keys = 39, .exact = true, .needs = "cu_seqlens", .lay = lay_packed},
    {.name = "packed-causal", .purpose = "sequences of 1, 16, 0, 17 and 5 tokens end to end, causal within each", .options = "--causal", .keys = 39, .exact = true, .needs = "cu_seqlens", .lay = lay_packed},
    {.name = "packed-apart", .purpose = "sequences whose query and key lengths differ, some 0; causal, aligned at the last key",
        .options = "--causal", .queries = 31, .keys = 39, .exact = true, .needs = "cu_seqlens", .lay = lay_packed_apart},
    {.name = "pages", .purpose = "a cache in pages of 16, in random order; NaN fills all that lies after a length",
        .queries = 1, .keys = 33, .exact = true, .items = 4, .needs = "block_table", .lay = lay_pages},
    {.name = "pages-causal", .purpose = "a cache in pages, and 3 queries, the last tokens of each item", .options = "--causal",
        .queries = 3, .keys = 33, .exact = true, .items = 4, .needs = "block_table", .lay = lay_pages},
    {.name = "grad", .purpose = "gradients with respect to query, key and value", .keys = 33, .gradients = true},
    {.name = "grad-causal", .purpose = "gradients with respect to query, key and value, causal", .options = "--causal", .keys = 65, .gradients = true},
    {.name = "grad-few-queries", .least = 3, .purpose = "Tq < Tk, the last tokens", .options = "--causal --align bottom-right", .queries = 17, .keys = 50, .gradients = true},
    {.name = "grad-groups", .purpose = "the gradients of a shared head are sums over the query heads that it serves",
        .options = "--causal", .keys = 33, .sharing = CASE_GROUPS, .gradients = true},
    {.name = "grad-window", .least = 10, .purpose = "gradients through a window", .options = "--causal --window 8,0", .keys = 50, .gradients = true},
    {.name = "grad-empty-rows", .least = 3, .purpose = "queries with no allowed key: their gradients are 0", .keys = 33, .gradients = true, .needs = "attn_mask", .make = make_mask_rows},
    {.name = "grad-d-value", .purpose = "d_v is not d, and the scale is given", .options = "--scale 0.3", .keys = 33, .other_value = true, .gradients = true},
    {.name = "grad-softcap", .purpose = "through tanh", .options = "--softcap 5", .keys = 33, .gradients = true},
    {.name = "grad-one-token", .least = 1, .purpose = "T = 1: the gradients of query and key are 0", .keys = 1, .gradients = true},
    {.name = "grad-largest-last", .purpose = "the largest score of each row is the last, and so are its gradients",
        .keys = 65, .gradients = true, .scores = SCORES(.others = 0.5, .last = 5)},
    {.name = "grad-lengths", .least = 4, .purpose = "items with no key, one, some and all: NaN fills all after a length, with gradients of 0",
        .keys = 40, .items = 4, .gradients = true, .needs = "kv_lengths", .make = make_lengths},
    {.name = "grad-sinks", .purpose = "a logit per head in the maximum and the sum: it has a gradient, but no value",
        .keys = 50, .gradients = true, .needs = "sinks", .make = make_sinks},
    {.name = "grad-packed", .purpose = "sequences of 1, 16, 0, 17 and 5 tokens end to end: no gradient crosses sequences", .keys = 39, .exact = true,
        .gradients = true, .needs = "cu_seqlens", .lay = lay_packed},
    {.name = "grad-packed-groups", .purpose = "packed sequences, causal, and gradients of a shared head: sums stay within a sequence",
        .options = "--causal", .keys = 39, .exact = true, .sharing = CASE_GROUPS, .gradients = true, .needs = "cu_seqlens", .lay = lay_packed},
    {.name = "grad-packed-apart", .purpose = "packed sequences whose query and key lengths differ, causal: without the other side, gradients are 0",
        .options = "--causal", .queries = 31, .keys = 39, .exact = true, .gradients = true, .needs = "cu_seqlens", .lay = lay_packed_apart},
};
/* clang-format on */

const size_t CASES_COUNT = sizeof CASES / sizeof CASES[0];
