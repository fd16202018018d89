/* SPDX-License-Identifier: MIT */
#include "stress/runs.h"

#include <string.h>

const struct stress_unseen STRESS_UNSEEN[] = {
    {"module", "softmax-overflow", "no score is above 88; kernel-plain has one"},
    {"module", "empty-nan", "no row is empty; kernel-causal has one"},
    {"module", "empty-mean", "no row is empty; kernel-causal has one"},
    {"module", "bias-key-missing", "by nature: it moves all scores of a row alike"},
    {"module", "overflow-f16", "no score is above 65504; kernel-plain has one"},
    {"kernel-causal", "softmax-overflow", "no score is above 88; kernel-plain has one"},
    {"kernel-causal", "lengths-plus-1-place-kept", "the causal mask hides what is behind a length"},
    {"kernel-causal", "lengths-missing:place-kept", "the causal mask hides what is behind a length"},
    {"kernel-causal", "overflow-f16", "no score is above 65504; kernel-plain has one"},
};
const size_t STRESS_UNSEEN_COUNT = sizeof STRESS_UNSEEN / sizeof STRESS_UNSEEN[0];

const struct stress_same STRESS_SAME[] = {
    {"module", {"scale-d-model", "scale-d-in"}, "the matrices are square, so that they can be transposed"},
    {"module", {"mask-one-ahead", "mask-offset-plus-1"}, "by nature: so it is without a window"},
    {"module", {"mask-hides-own", "mask-offset-minus-1"}, "by nature: so it is without a window"},
    {"kernel-causal", {"mask-offset-minus-1", "lengths-minus-1"}, "queries stand last, and see nothing behind them"},
    {"kernel-causal", {"lengths-minus-1-place-kept", "keys-last-missing"}, "the last key is the last of the length"},
};
const size_t STRESS_SAME_COUNT = sizeof STRESS_SAME / sizeof STRESS_SAME[0];

const struct stress_more STRESS_MORE[] = {
    {"module",
     "with dropout, which draws as PyTorch does",
     "multihead --dropout 0.25",
     NULL,
     "{}",
     {"dropout-not-rescaled", "dropout-divided-by-p", "dropout-before-softmax", "dropout-missing"}},
    {"module",
     "with padding, which the chapter's class does not take",
     "multihead",
     NULL,
     "{\"attn_mask\": [[[[false, true, true, true, true]]], [[[true, true, false, true, true]]]]}",
     {"attn-mask-along-queries", "attn-mask-items-for-heads"}},
    {"module",
     "with a square mask, which the chapter's class does not take",
     "multihead",
     NULL,
     "{\"attn_mask\": [[true, true, true, true, true], [false, true, true, true, true], "
     "[true, false, true, true, true], [true, true, true, true, true], [false, true, true, true, true]]}",
     {"attn-mask-transposed"}},
    {"kernel-causal",
     "with a past in place of lengths: there can be but one of them",
     "sdpa",
     "kv_lengths",
     "{\"past_key\": [[[[1, 2, 0]], [[0, 1, 2]]], [[[2, 1, 0]], [[1, 0, 2]]]], "
     "\"past_value\": [[[[9, -9]], [[-9, 9]]], [[[9, -9]], [[-9, 9]]]]}",
     {"mask-corner", "past-not-counted"}},
    {"kernel-causal",
     "with keys behind a query in its window, which no causal mask shows",
     "sdpa --no-causal --window 2,1",
     "attn_mask",
     "{}",
     {"window-right-plus-1", "window-right-minus-1", "lengths-plus-1-place-kept"}},
    {"kernel-causal",
     "with NaN in empty rows, where it is zero that is wrong",
     "sdpa --empty-row nan",
     NULL,
     "{}",
     {"empty-zero"}},
    {"kernel-causal",
     "lse",
     "sdpa --stages lse",
     NULL,
     "{}",
     {"lse-base-2", "lse-maximum-missing", "lse-before-scale"}},
    {"kernel-causal",
     "in float16",
     "sdpa --dtype f16",
     NULL,
     "{}",
     {"bits-bf16", "bits-query-bf16", "bits-key-bf16", "bits-value-bf16"}},
    {"module",
     "turned by positions that are not all 0, some columns of a head of even width, by a scaling",
     "multihead -H 1 --rope half --rope-columns 4 --rope-theta 4 --rope-scaling yarn:factor=4,old=8 --positions 1-5",
     NULL,
     "{}",
     {"rope-pairs", "rope-missing", "rope-query-missing", "rope-key-missing", "rope-theta", "rope-scaling-missing",
      "rope-scaling-linear", "rope-attention-missing", "rope-all-columns", "rope-other-end", "rope-exponent-of-head",
      "rope-backwards", "rope-twice", "rope-query-plus-1", "rope-query-minus-1", "rope-key-plus-1", "rope-key-minus-1",
      "rope-on-values"}},
    {"module", "turned in pairs", "multihead -H 1 --rope pairs", NULL, "{}", {"rope-halves"}},
    {"kernel-causal",
     "turned behind a past, whose keys keep their positions where the others move",
     "sdpa --rope half --rope-columns 2",
     "kv_lengths",
     "{\"past_key\": [[[[1, 2, 0]], [[0, 1, 2]]], [[[2, 1, 0]], [[1, 0, 2]]]], "
     "\"past_value\": [[[[9, -9]], [[-9, 9]]], [[[9, -9]], [[-9, 9]]]]}",
     {"rope-past-missing", "rope-positions-from"}},
    {"module",
     "a norm with a bias before it, a scale of its own, and bounds",
     "multihead --residual --norm layer --norm-eps 0.5 --clip 1 --scale 0.3",
     NULL,
     "{\"norm.weight\": [1, 2, -1, 2, 1, -2], \"norm.bias\": [1, 0, 2, -1, 0, 1]}",
     {"norm-missing", "norm-weight-missing", "norm-bias-missing", "norm-mean-kept", "norm-eps", "clip-missing",
      "scale-usual"}},
    {"module",
     "queries that grow with their position",
     "multihead --query-growth 0.5,2",
     NULL,
     "{}",
     {"growth-missing"}},
    {"module",
     "norms of mean squares, of inputs and of each head, and a rotation behind them",
     "multihead --residual --norm rms --qk-norm rms --qk-norm-eps 0.5 --rope half --rope-columns 2",
     NULL,
     "{\"norm.weight\": [1, 2, -1, 2, 1, -2], \"query_norm.weight\": [2, -1, 3], \"key_norm.weight\": [1, 2, -1]}",
     {"norm-plus-1", "norm-mean-subtracted", "qk-norm-missing", "qk-norm-after-rope", "qk-norm-all-heads",
      "qk-norm-weight-missing", "qk-norm-plus-1", "qk-norm-eps"}},
    {"module",
     "norms by 1 + weight, of inputs and over all heads",
     "multihead --residual --norm rms-plus-one --qk-norm rms-plus-one",
     NULL,
     "{\"norm.weight\": [1, 2, -1, 2, 1, -2], \"query_norm.weight\": [2, -1, 3, 1, 0, 2], "
     "\"key_norm.weight\": [1, 2, -1, 1, 2, 3]}",
     {"norm-plus-1-missing", "qk-norm-each-head", "qk-norm-plus-1-missing"}},
    {"module",
     "a norm that is there, but not asked for",
     "multihead --norm rms",
     NULL,
     "{\"norm.weight\": [1, 2, -1, 2, 1, -2]}",
     {"norm-twice"}},
    {"module",
     "heads of key for three heads of query each",
     "multihead -H 6 --kv-heads 2",
     NULL,
     "{\"W_key.weight\": [[1, 0, -1, 1, 0, 1], [0, 1, 1, -1, 1, 0]], \"W_key.bias\": [1, -1], "
     "\"W_value.weight\": [[2, -1, 0, 1, 2, -2], [-2, 1, 2, 0, -1, 1]], \"W_value.bias\": [0, 1]}",
     {"packing-groups"}},
    {"module",
     "slopes of three heads, divided by sqrt(d_head)",
     "multihead -H 3 --alibi scaled",
     NULL,
     "{}",
     {"alibi-one-series", "alibi-not-scaled"}},
    {"module",
     "a relative bias both ways",
     "multihead --no-causal --relative-distance 5",
     NULL,
     "{\"relative_bias.weight\": [[1, -1], [2, 0], [-3, 2], [0, 3], [5, 1], [-2, 2], [3, -3], [-1, 4]]}",
     {"relative-missing", "relative-one-way", "relative-turned"}},
    {"module",
     "a relative bias one way",
     "multihead --relative-distance 5",
     NULL,
     "{\"relative_bias.weight\": [[1, -1], [2, 0], [-3, 2], [0, 3], [5, 1], [-2, 2], [3, -3], [-1, 4]]}",
     {"relative-both-ways"}},
    {"module",
     "key and value by way of a latent",
     "multihead --rope pairs-to-halves --rope-columns last:2 --qk-norm rms",
     "W_key.weight W_key.bias W_value.weight W_value.bias",
     "{\"W_key_value_a.weight\": [[1, 0, -1, 1, 0, 1], [0, 1, 1, -1, 1, 0], [1, 1, 0, 0, -1, 1], [0, -1, 1, 1, 0, 1]], "
     "\"key_value_a_norm.weight\": [2, -1], \"W_key_value_b.weight\": [[1, 2], [2, -1], [0, 1], [-2, 1], [1, 1], "
     "[3, -2], [1, 0], [-1, 2]]}",
     {"qk-norm-latent-missing", "packing-latent"}},
    {"module",
     "turned by positions of three axes",
     "multihead -H 1 --rope half --rope-theta 4 --rope-axes t1,h1,w1 --rope-columns 6 --positions "
     "0-2,2,2;0-3,3;0-2,3,2",
     NULL,
     "{}",
     {"rope-axes-rows", "rope-axes-pairs"}},
};
const size_t STRESS_MORE_COUNT = sizeof STRESS_MORE / sizeof STRESS_MORE[0];

/* Whether a mistake is the one of a row, whose name may leave its form out. */
static bool is_named(const char *mistake, const char *named)
{
    const size_t length = strlen(named);
    return strncmp(mistake, named, length) == 0 && (mistake[length] == '\0' || mistake[length] == ':');
}

const struct stress_unseen *stress_unseen(const char *input, const char *mistake)
{
    for (size_t i = 0; i < STRESS_UNSEEN_COUNT; i++)
        if (strcmp(STRESS_UNSEEN[i].input, input) == 0 && is_named(mistake, STRESS_UNSEEN[i].mistake))
            return &STRESS_UNSEEN[i];
    return NULL;
}

const struct stress_same *stress_same(const char *input, const char *a, const char *b)
{
    for (size_t i = 0; i < STRESS_SAME_COUNT; i++) {
        const char *const *mistakes = STRESS_SAME[i].mistakes;
        if (strcmp(STRESS_SAME[i].input, input) == 0 && ((is_named(a, mistakes[0]) && is_named(b, mistakes[1])) ||
                                                         (is_named(b, mistakes[0]) && is_named(a, mistakes[1]))))
            return &STRESS_SAME[i];
    }
    return NULL;
}

static const char *const LATER[] = {"softmax-maximum-from-0",
                                    "mask-packed-groups",
                                    "window-left-missing",
                                    "window-right-missing",
                                    "attn-mask-first-item",
                                    "attn-mask-first-head",
                                    "keys-strides",
                                    "matrix-key-value-swapped",
                                    "matrix-query-key-swapped",
                                    "rows-to-pairs",
                                    "rows-to-halves",
                                    "packing-order",
                                    "qk-norm-query-missing",
                                    "qk-norm-key-missing",
                                    "qk-norm-swapped",
                                    "rope-scaling-truncate",
                                    "rope-scaling-old",
                                    "rope-scaling-usual",
                                    "rope-scaling-lists",
                                    "alibi-per-key-head",
                                    "sinks-repeated",
                                    "sinks-base-2",
                                    "sinks-scaled",
                                    "sinks-per-key-head",
                                    "sinks-maximum-missing",
                                    "sinks-per-tile",
                                    "tiles-not-rescaled",
                                    "tiles-merged-by-mean",
                                    "tiles-merged-not-rescaled",
                                    "keys-stale",
                                    "values-stale",
                                    "tiles-last-twice",
                                    "tiles-first-twice",
                                    "tiles-last-skipped",
                                    "tiles-own-skipped",
                                    "tiles-first-row-rescales",
                                    "tiles-row-before-rescales",
                                    "scale-and-usual",
                                    "scale-d-in-over-heads",
                                    "bias-twice",
                                    "bias-swapped",
                                    "out-bias-twice",
                                    "out-normed-added",
                                    "groups-key-tiled",
                                    "groups-value-tiled",
                                    "norm-unbiased",
                                    "norm-of-sum",
                                    "qk-norm-one-for-both",
                                    "qk-norm-mean-kept",
                                    "qk-norm-mean-subtracted",
                                    "qk-norm-unbiased",
                                    "qk-norm-of-sum",
                                    "rope-scaling-attention-alone",
                                    "rope-scaling-swapped",
                                    "rope-columns",
                                    "rope-exponent",
                                    "rope-mixed",
                                    "rope-minus-missing",
                                    "rope-by-heads",
                                    "rope-before-split",
                                    "rope-bf16",
                                    "rope-degrees",
                                    "sinks-negative",
                                    "sinks-zero",
                                    "sinks-other-head",
                                    "packing-gate",
                                    "value-norm-missing",
                                    "value-norm-of-key",
                                    "gate-missing",
                                    "gate-function",
                                    "gate-view",
                                    "scale-rounded",
                                    "mask-diagonal",
                                    "fill-across",
                                    "scale-zero",
                                    "scores-of-sums",
                                    "merge-added",
                                    "groups-key-first",
                                    "groups-value-first",
                                    "norm-root-missing",
                                    "qk-norm-before-rope",
                                    "qk-norm-root-missing"};

bool stress_is_later(const char *mistake)
{
    for (size_t i = 0; i < sizeof LATER / sizeof LATER[0]; i++)
        if (is_named(mistake, LATER[i]))
            return true;
    return strncmp(mistake, "layer-", 6) == 0;
}
