/* SPDX-License-Identifier: MIT */
/* What a case of attn cases may ask of a kernel: the names of --can. src/cases/features.c says what each does. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Identifier, name, and what it is, in the order in which a case draws them. */
/* clang-format off */
#define CASE_FEATURES(ROW) \
    ROW(CAUSAL, "causal", "the causal rule") \
    ROW(GQA, "gqa", "heads that share a key and a value") \
    ROW(MQA, "mqa", "one head of key and value for all") \
    ROW(BATCH, "batch", "several items") \
    ROW(DECODE, "decode", "one query, the last token") \
    ROW(CROSS, "cross", "another number of keys than queries") \
    ROW(TOP_LEFT, "top-left", "fewer queries than keys, the first ones") \
    ROW(OFFSET, "offset", "fewer queries than keys, the last ones") \
    ROW(WINDOW, "window", "a window of keys before the query") \
    ROW(WINDOW_BOTH, "window-both", "a window on both sides") \
    ROW(CHUNK, "chunk", "blocks of positions") \
    ROW(PREFIX, "prefix", "a prefix without the causal rule") \
    ROW(SOFTCAP, "softcap", "a softcap") \
    ROW(SCALE, "scale", "a given scale") \
    ROW(ALIBI, "alibi", "ALiBi") \
    ROW(D_VALUE, "d-value", "a d_v that is not d") \
    ROW(MASK, "mask", "a boolean attn_mask") \
    ROW(MASK_FLOAT, "mask-float", "an attn_mask of numbers") \
    ROW(MASK_ITEMS, "mask-items", "an attn_mask for each item") \
    ROW(MASK_HEADS, "mask-heads", "an attn_mask for each head") \
    ROW(MASK_PADDING, "mask-padding", "an attn_mask that pads the keys of each item") \
    ROW(EMPTY, "empty", "queries without an allowed key") \
    ROW(SINKS, "sinks", "sinks") \
    ROW(DOCUMENTS, "documents", "document_ids") \
    ROW(LENGTHS, "lengths", "kv_lengths") \
    ROW(PACKED, "packed", "packed sequences") \
    ROW(PAGES, "pages", "a cache in pages") \
    ROW(PAST, "past", "a past") \
    ROW(GRAD, "grad", "gradients") \
    ROW(POISON, "nan", "NaN where nothing may be read") \
    ROW(MERGE, "merge", "contexts of splits to merge")
/* clang-format on */

#define CASE_FEATURE_ID(id, ...) CASE_##id,
enum case_feature { CASE_FEATURES(CASE_FEATURE_ID) CASE_FEATURE_COUNT };
#define CASE_BIT(id) (UINT64_C(1) << CASE_##id)

extern const struct case_feature_name {
    const char *name, *words;
} CASE_FEATURE_NAMES[CASE_FEATURE_COUNT];

/* The name at that index; NULL after the last. */
const char *case_feature_word(size_t index);
