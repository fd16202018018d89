/* The mistakes that people make in attention code, a row each: what it is called, what is done wrong, and how it is put
 * right. Those of a slot are other ways to get one thing wrong, so that only one of them can be made at a time; the
 * most common slots come first, and in a slot the most common mistakes.
 *
 *     ROW(identifier, function, slot, fields of struct mistake_row)
 *
 * What a mistake changes is said by the function of that name in src/mistake/, in the file of its slot. */
#ifndef ATTN_MODEL_MISTAKE_ROWS_H
#define ATTN_MODEL_MISTAKE_ROWS_H

#include <stddef.h>

/* clang-format off */
#define MISTAKE_SLOTS(ROW) \
    ROW(SCALE, "scale") \
    ROW(SOFTMAX, "softmax") \
    ROW(MASK, "mask") \
    ROW(FILL, "fill") \
    ROW(WINDOW, "window") \
    ROW(LENGTHS, "lengths") \
    ROW(ATTN_MASK, "attn_mask") \
    ROW(EMPTY, "empty") \
    ROW(KEYS, "keys") \
    ROW(ROLES, "roles") \
    ROW(WEIGHTS, "weights") \
    ROW(MATRIX, "matrix") \
    ROW(BIAS, "bias") \
    ROW(SPLIT, "split") \
    ROW(MERGE, "merge") \
    ROW(OUT, "out") \
    ROW(GROUPS, "groups") \
    ROW(SOFTCAP, "softcap") \
    ROW(ALIBI, "alibi") \
    ROW(SINKS, "sinks") \
    ROW(LSE, "lse") \
    ROW(DROPOUT, "dropout") \
    ROW(DRAW, "draw") \
    ROW(TILES, "tiles") \
    ROW(BITS, "bits") \
    ROW(DTYPE, "dtype")

/* The words of forms, with their end. */
#define MISTAKE_FORMS(...) (const char *const[]){__VA_ARGS__, NULL}

#define MISTAKE_ROWS(ROW) \
    ROW(SCALE_MISSING, scale_missing, SCALE, .name = "scale-missing", \
        .sentence = "TODO") \
    ROW(SCALE_TWICE, scale_twice, SCALE, .name = "scale-twice", \
        .sentence = "TODO") \
    ROW(SCALE_INVERTED, scale_inverted, SCALE, .name = "scale-inverted", \
        .sentence = "TODO") \
    ROW(SCALE_D_MODEL, scale_d_model, SCALE, .name = "scale-d-model", \
        .sentence = "TODO") \
    ROW(SCALE_1_OVER_D_MODEL, scale_1_over_d_model, SCALE, .name = "scale-1-over-d-model", \
        .sentence = "TODO") \
    ROW(SCALE_D_IN, scale_d_in, SCALE, .name = "scale-d-in", \
        .sentence = "TODO") \
    ROW(SCALE_TOKENS, scale_tokens, SCALE, .name = "scale-tokens", \
        .sentence = "TODO") \
    ROW(SCALE_HEADS, scale_heads, SCALE, .name = "scale-heads", \
        .sentence = "TODO") \
    ROW(SCALE_FOURTH_ROOT, scale_fourth_root, SCALE, .name = "scale-fourth-root", \
        .sentence = "TODO") \
    ROW(SCALE_AFTER_SOFTMAX, scale_after_softmax, SCALE, .name = "scale-after-softmax", \
        .sentence = "TODO") \
    ROW(SOFTMAX_QUERIES, softmax_queries, SOFTMAX, .name = "softmax-queries", \
        .sentence = "TODO") \
    ROW(SOFTMAX_HEADS, softmax_heads, SOFTMAX, .name = "softmax-heads", \
        .sentence = "TODO") \
    ROW(SOFTMAX_ITEMS, softmax_items, SOFTMAX, .name = "softmax-items", \
        .sentence = "TODO") \
    ROW(SOFTMAX_ALL, softmax_all, SOFTMAX, .name = "softmax-all", \
        .sentence = "TODO") \
    ROW(SOFTMAX_BASE_2, softmax_base_2, SOFTMAX, .name = "softmax-base-2", \
        .sentence = "TODO") \
    ROW(SOFTMAX_OVERFLOW, softmax_overflow, SOFTMAX, .name = "softmax-overflow", \
        .sentence = "TODO") \
    ROW(SOFTMAX_MISSING, softmax_missing, SOFTMAX, .name = "softmax-missing", \
        .sentence = "TODO") \
    ROW(SOFTMAX_SUM_OF_SCORES, softmax_sum_of_scores, SOFTMAX, .name = "softmax-sum-of-scores", \
        .sentence = "TODO") \
    ROW(MASK_MISSING, mask_missing, MASK, .name = "mask-missing", \
        .sentence = "TODO") \
    ROW(MASK_ONE_AHEAD, mask_one_ahead, MASK, .name = "mask-one-ahead", \
        .sentence = "TODO") \
    ROW(MASK_HIDES_OWN, mask_hides_own, MASK, .name = "mask-hides-own", \
        .sentence = "TODO") \
    ROW(MASK_INVERTED, mask_inverted, MASK, .name = "mask-inverted", \
        .sentence = "TODO") \
    ROW(MASK_INVERTED_OWN_SEEN, mask_inverted_own_seen, MASK, .name = "mask-inverted-own-seen", \
        .sentence = "TODO") \
    ROW(MASK_MIRRORED, mask_mirrored, MASK, .name = "mask-mirrored", \
        .sentence = "TODO") \
    ROW(MASK_CORNER, mask_corner, MASK, .name = "mask-corner", \
        .sentence = "TODO") \
    ROW(MASK_OFFSET_MISSING, mask_offset_missing, MASK, .name = "mask-offset-missing", \
        .sentence = "TODO") \
    ROW(MASK_OFFSET_PLUS_1, mask_offset_plus_1, MASK, .name = "mask-offset-plus-1", \
        .sentence = "TODO") \
    ROW(MASK_OFFSET_MINUS_1, mask_offset_minus_1, MASK, .name = "mask-offset-minus-1", \
        .sentence = "TODO") \
    ROW(MASK_CAUSAL, mask_causal, MASK, .name = "mask-causal", \
        .sentence = "TODO") \
    ROW(FILL_ZERO, fill_zero, FILL, .name = "fill-zero", \
        .sentence = "TODO") \
    ROW(FILL_SMALL, fill_small, FILL, .name = "fill-small", \
        .sentence = "TODO", \
        .number = "what stands for minus infinity", .from = -10000, .to = 10000, .usual = -9) \
    ROW(FILL_AFTER_SOFTMAX, fill_after_softmax, FILL, .name = "fill-after-softmax", \
        .sentence = "TODO") \
    ROW(WINDOW_LEFT_PLUS_1, window_left_plus_1, WINDOW, .name = "window-left-plus-1", \
        .sentence = "TODO") \
    ROW(WINDOW_LEFT_MINUS_1, window_left_minus_1, WINDOW, .name = "window-left-minus-1", \
        .sentence = "TODO") \
    ROW(WINDOW_RIGHT_PLUS_1, window_right_plus_1, WINDOW, .name = "window-right-plus-1", \
        .sentence = "TODO") \
    ROW(WINDOW_RIGHT_MINUS_1, window_right_minus_1, WINDOW, .name = "window-right-minus-1", \
        .sentence = "TODO") \
    ROW(WINDOW_MISSING, window_missing, WINDOW, .name = "window-missing", \
        .sentence = "TODO") \
    ROW(LENGTHS_PLUS_1, lengths_plus_1, LENGTHS, .name = "lengths-plus-1", \
        .sentence = "TODO") \
    ROW(LENGTHS_MINUS_1, lengths_minus_1, LENGTHS, .name = "lengths-minus-1", \
        .sentence = "TODO") \
    ROW(LENGTHS_PLUS_1_PLACE_KEPT, lengths_plus_1_place_kept, LENGTHS, .name = "lengths-plus-1-place-kept", \
        .sentence = "TODO") \
    ROW(LENGTHS_MINUS_1_PLACE_KEPT, lengths_minus_1_place_kept, LENGTHS, .name = "lengths-minus-1-place-kept", \
        .sentence = "TODO") \
    ROW(LENGTHS_MISSING, lengths_missing, LENGTHS, .name = "lengths-missing", \
        .sentence = "TODO", \
        .forms = MISTAKE_FORMS("place-kept", "queries-last", "queries-first")) \
    ROW(PAST_NOT_COUNTED, past_not_counted, LENGTHS, .name = "past-not-counted", \
        .sentence = "TODO") \
    ROW(ATTN_MASK_MISSING, attn_mask_missing, ATTN_MASK, .name = "attn-mask-missing", \
        .sentence = "TODO") \
    ROW(ATTN_MASK_INVERTED, attn_mask_inverted, ATTN_MASK, .name = "attn-mask-inverted", \
        .sentence = "TODO") \
    ROW(ATTN_MASK_TRANSPOSED, attn_mask_transposed, ATTN_MASK, .name = "attn-mask-transposed", \
        .sentence = "TODO") \
    ROW(ATTN_MASK_ALONG_QUERIES, attn_mask_along_queries, ATTN_MASK, .name = "attn-mask-along-queries", \
        .sentence = "TODO") \
    ROW(ATTN_MASK_ADDED, attn_mask_added, ATTN_MASK, .name = "attn-mask-added", \
        .sentence = "TODO") \
    ROW(ATTN_MASK_ITEMS_FOR_HEADS, attn_mask_items_for_heads, ATTN_MASK, .name = "attn-mask-items-for-heads", \
        .sentence = "TODO") \
    ROW(EMPTY_ZERO, empty_zero, EMPTY, .name = "empty-zero", \
        .sentence = "TODO") \
    ROW(EMPTY_NAN, empty_nan, EMPTY, .name = "empty-nan", \
        .sentence = "TODO") \
    ROW(EMPTY_MEAN, empty_mean, EMPTY, .name = "empty-mean", \
        .sentence = "TODO") \
    ROW(KEYS_LAST_MISSING, keys_last_missing, KEYS, .name = "keys-last-missing", \
        .sentence = "TODO") \
    ROW(KEYS_FIRST_MISSING, keys_first_missing, KEYS, .name = "keys-first-missing", \
        .sentence = "TODO") \
    ROW(KEYS_AS_QUERIES, keys_as_queries, KEYS, .name = "keys-as-queries", \
        .sentence = "TODO") \
    ROW(KEYS_PADDING_COUNTED, keys_padding_counted, KEYS, .name = "keys-padding-counted", \
        .sentence = "TODO", \
        .number = "keys, up to a multiple of which", .from = 2, .to = 4096, .usual = 64, .whole = true) \
    ROW(VALUES_SHIFTED, values_shifted, KEYS, .name = "values-shifted", \
        .sentence = "TODO", \
        .forms = MISTAKE_FORMS("next", "previous", "next-round", "previous-round")) \
    ROW(ROLES_QUERY_KEY_SWAPPED, roles_query_key_swapped, ROLES, .name = "roles-query-key-swapped", \
        .sentence = "TODO") \
    ROW(ROLES_KEY_VALUE_SWAPPED, roles_key_value_swapped, ROLES, .name = "roles-key-value-swapped", \
        .sentence = "TODO") \
    ROW(ROLES_QUERY_VALUE_SWAPPED, roles_query_value_swapped, ROLES, .name = "roles-query-value-swapped", \
        .sentence = "TODO") \
    ROW(ROLES_KEY_FOR_VALUE, roles_key_for_value, ROLES, .name = "roles-key-for-value", \
        .sentence = "TODO") \
    ROW(ROLES_QUERY_FOR_KEY, roles_query_for_key, ROLES, .name = "roles-query-for-key", \
        .sentence = "TODO") \
    ROW(ROLES_KEY_FOR_QUERY, roles_key_for_query, ROLES, .name = "roles-key-for-query", \
        .sentence = "TODO") \
    ROW(ROLES_QUERY_FOR_VALUE, roles_query_for_value, ROLES, .name = "roles-query-for-value", \
        .sentence = "TODO") \
    ROW(ROLES_INPUTS_FOR_VALUE, roles_inputs_for_value, ROLES, .name = "roles-inputs-for-value", \
        .sentence = "TODO") \
    ROW(WEIGHTS_TRANSPOSED, weights_transposed, WEIGHTS, .name = "weights-transposed", \
        .sentence = "TODO") \
    ROW(MATRIX_TRANSPOSED, matrix_transposed, MATRIX, .name = "matrix-transposed", \
        .sentence = "TODO") \
    ROW(MATRIX_QUERY_TRANSPOSED, matrix_query_transposed, MATRIX, .name = "matrix-query-transposed", \
        .sentence = "TODO") \
    ROW(MATRIX_KEY_TRANSPOSED, matrix_key_transposed, MATRIX, .name = "matrix-key-transposed", \
        .sentence = "TODO") \
    ROW(MATRIX_VALUE_TRANSPOSED, matrix_value_transposed, MATRIX, .name = "matrix-value-transposed", \
        .sentence = "TODO") \
    ROW(BIAS_MISSING, bias_missing, BIAS, .name = "bias-missing", \
        .sentence = "TODO") \
    ROW(BIAS_QUERY_MISSING, bias_query_missing, BIAS, .name = "bias-query-missing", \
        .sentence = "TODO") \
    ROW(BIAS_KEY_MISSING, bias_key_missing, BIAS, .name = "bias-key-missing", \
        .sentence = "TODO") \
    ROW(BIAS_VALUE_MISSING, bias_value_missing, BIAS, .name = "bias-value-missing", \
        .sentence = "TODO") \
    ROW(SPLIT_VIEW, split_view, SPLIT, .name = "split-view", \
        .sentence = "TODO") \
    ROW(SPLIT_INTERLEAVED, split_interleaved, SPLIT, .name = "split-interleaved", \
        .sentence = "TODO") \
    ROW(SPLIT_PACKED_BY_HEAD, split_packed_by_head, SPLIT, .name = "split-packed-by-head", \
        .sentence = "TODO") \
    ROW(SPLIT_PACKED_BY_COLUMN, split_packed_by_column, SPLIT, .name = "split-packed-by-column", \
        .sentence = "TODO") \
    ROW(SPLIT_MISSING, split_missing, SPLIT, .name = "split-missing", \
        .sentence = "TODO", \
        .forms = MISTAKE_FORMS("by-d-out", "by-d-head")) \
    ROW(MERGE_VIEW, merge_view, MERGE, .name = "merge-view", \
        .sentence = "TODO") \
    ROW(MERGE_INTERLEAVED, merge_interleaved, MERGE, .name = "merge-interleaved", \
        .sentence = "TODO") \
    ROW(MERGE_REVERSED, merge_reversed, MERGE, .name = "merge-reversed", \
        .sentence = "TODO") \
    ROW(OUT_MISSING, out_missing, OUT, .name = "out-missing", \
        .sentence = "TODO") \
    ROW(OUT_TRANSPOSED, out_transposed, OUT, .name = "out-transposed", \
        .sentence = "TODO") \
    ROW(OUT_BIAS_MISSING, out_bias_missing, OUT, .name = "out-bias-missing", \
        .sentence = "TODO") \
    ROW(OUT_TWICE, out_twice, OUT, .name = "out-twice", \
        .sentence = "TODO") \
    ROW(GROUPS_TILED, groups_tiled, GROUPS, .name = "groups-tiled", \
        .sentence = "TODO") \
    ROW(GROUPS_FIRST, groups_first, GROUPS, .name = "groups-first", \
        .sentence = "TODO") \
    ROW(SOFTCAP_AFTER_MASK, softcap_after_mask, SOFTCAP, .name = "softcap-after-mask", \
        .sentence = "TODO") \
    ROW(SOFTCAP_BEFORE_SCALE, softcap_before_scale, SOFTCAP, .name = "softcap-before-scale", \
        .sentence = "TODO") \
    ROW(SOFTCAP_MISSING, softcap_missing, SOFTCAP, .name = "softcap-missing", \
        .sentence = "TODO") \
    ROW(SOFTCAP_NOT_MULTIPLIED, softcap_not_multiplied, SOFTCAP, .name = "softcap-not-multiplied", \
        .sentence = "TODO") \
    ROW(ALIBI_SIGN, alibi_sign, ALIBI, .name = "alibi-sign", \
        .sentence = "TODO") \
    ROW(ALIBI_MISSING, alibi_missing, ALIBI, .name = "alibi-missing", \
        .sentence = "TODO") \
    ROW(ALIBI_DOUBLED, alibi_doubled, ALIBI, .name = "alibi-doubled", \
        .sentence = "TODO") \
    ROW(ALIBI_HALVED, alibi_halved, ALIBI, .name = "alibi-halved", \
        .sentence = "TODO") \
    ROW(ALIBI_REVERSED, alibi_reversed, ALIBI, .name = "alibi-reversed", \
        .sentence = "TODO") \
    ROW(ALIBI_ONE_HEAD_OFF, alibi_one_head_off, ALIBI, .name = "alibi-one-head-off", \
        .sentence = "TODO", \
        .forms = MISTAKE_FORMS("later", "earlier")) \
    ROW(ALIBI_SCALED, alibi_scaled, ALIBI, .name = "alibi-scaled", \
        .sentence = "TODO") \
    ROW(SINKS_MISSING, sinks_missing, SINKS, .name = "sinks-missing", \
        .sentence = "TODO") \
    ROW(LSE_BASE_2, lse_base_2, LSE, .name = "lse-base-2", \
        .sentence = "TODO") \
    ROW(LSE_MAXIMUM_MISSING, lse_maximum_missing, LSE, .name = "lse-maximum-missing", \
        .sentence = "TODO") \
    ROW(LSE_BEFORE_SCALE, lse_before_scale, LSE, .name = "lse-before-scale", \
        .sentence = "TODO") \
    ROW(DROPOUT_NOT_RESCALED, dropout_not_rescaled, DROPOUT, .name = "dropout-not-rescaled", \
        .sentence = "TODO") \
    ROW(DROPOUT_DIVIDED_BY_P, dropout_divided_by_p, DROPOUT, .name = "dropout-divided-by-p", \
        .sentence = "TODO") \
    ROW(DROPOUT_BEFORE_SOFTMAX, dropout_before_softmax, DROPOUT, .name = "dropout-before-softmax", \
        .sentence = "TODO") \
    ROW(DROPOUT_MISSING, dropout_missing, DROPOUT, .name = "dropout-missing", \
        .sentence = "TODO") \
    ROW(DROPOUT_ON, dropout_on, DROPOUT, .name = "dropout-on", \
        .sentence = "TODO", \
        .number = "the share that is dropped", .from = 0.001, .to = 0.999, .usual = 0.1) \
    ROW(DRAW_RAND, draw_rand, DRAW, .name = "draw-rand", \
        .sentence = "TODO") \
    ROW(DRAW_LINEAR, draw_linear, DRAW, .name = "draw-linear", \
        .sentence = "TODO") \
    ROW(DRAW_RANDN, draw_randn, DRAW, .name = "draw-randn", \
        .sentence = "TODO") \
    ROW(DRAW_ORDER, draw_order, DRAW, .name = "draw-order", \
        .sentence = "TODO", \
        .forms = MISTAKE_FORMS("kqv", "vkq", "vqk", "kvq", "qvk")) \
    ROW(DRAW_SEED, draw_seed, DRAW, .name = "draw-seed", \
        .sentence = "TODO", \
        .number = "the seed", .to = 4294967295.0, .usual = 42, .whole = true) \
    ROW(DRAW_SKIP, draw_skip, DRAW, .name = "draw-skip", \
        .sentence = "TODO", \
        .number = "the draws before", .to = 4294967295.0, .usual = 18, .whole = true) \
    ROW(DRAW_SPLIT, draw_split, DRAW, .name = "draw-split", \
        .sentence = "TODO") \
    ROW(DRAW_STACKED, draw_stacked, DRAW, .name = "draw-stacked", \
        .sentence = "TODO") \
    ROW(DRAW_MKL, draw_mkl, DRAW, .name = "draw-mkl", \
        .sentence = "TODO") \
    ROW(TILES_CONTEXT_NOT_RESCALED, tiles_context_not_rescaled, TILES, .name = "tiles-context-not-rescaled", \
        .sentence = "TODO", \
        .number = "keys of a tile", .from = 1, .to = 4096, .usual = 2, .whole = true) \
    ROW(TILES_CONTEXT_DIVIDED, tiles_context_divided, TILES, .name = "tiles-context-divided", \
        .sentence = "TODO", \
        .number = "keys of a tile", .from = 1, .to = 4096, .usual = 2, .whole = true) \
    ROW(TILES_SUM_NOT_RESCALED, tiles_sum_not_rescaled, TILES, .name = "tiles-sum-not-rescaled", \
        .sentence = "TODO", \
        .number = "keys of a tile", .from = 1, .to = 4096, .usual = 2, .whole = true) \
    ROW(TILES_LAST_ALONE, tiles_last_alone, TILES, .name = "tiles-last-alone", \
        .sentence = "TODO", \
        .number = "keys of a tile", .from = 1, .to = 4096, .usual = 2, .whole = true) \
    ROW(BITS_BF16, bits_bf16, BITS, .name = "bits-bf16", \
        .sentence = "TODO") \
    ROW(BITS_QUERY_BF16, bits_query_bf16, BITS, .name = "bits-query-bf16", \
        .sentence = "TODO") \
    ROW(BITS_KEY_BF16, bits_key_bf16, BITS, .name = "bits-key-bf16", \
        .sentence = "TODO") \
    ROW(BITS_VALUE_BF16, bits_value_bf16, BITS, .name = "bits-value-bf16", \
        .sentence = "TODO") \
    ROW(BITS_SWAPPED, bits_swapped, BITS, .name = "bits-swapped", \
        .sentence = "TODO") \
    ROW(DTYPE_BF16, dtype_bf16, DTYPE, .name = "dtype-bf16", \
        .sentence = "TODO") \
    ROW(DTYPE_F16, dtype_f16, DTYPE, .name = "dtype-f16", \
        .sentence = "TODO") \
    ROW(OVERFLOW_F16, overflow_f16, DTYPE, .name = "overflow-f16", \
        .sentence = "TODO")
/* clang-format on */

#endif
