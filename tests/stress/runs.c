#include "stress/runs.h"

#include <stdbool.h>
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
