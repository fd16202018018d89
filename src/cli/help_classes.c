/* SPDX-License-Identifier: MIT */
#include "cli/help.h"

#include <string.h>

/* Classes and functions of Python, and command lines that compute the same; tests/cli/classes.test compares their
 * numbers. */
static const struct {
    const char *call, *line;
} CLASSES[] = {
    {"SelfAttention_v1(d_in, d_out)", "attn self inputs.json --d-out 2 --init rand"},
    {"SelfAttention_v2(d_in, d_out, qkv_bias=False)", "attn self inputs.json --d-out 2"},
    {"CausalAttention(d_in, d_out, context_length, dropout, qkv_bias=False)",
     "attn causal inputs.json --d-out 2 --context-length 6 --dropout 0.5"},
    {"MultiHeadAttentionWrapper(d_in, d_out, context_length, dropout, num_heads, qkv_bias=False)",
     "attn multihead inputs.json --stacked --num-heads 2 --d-out 2"},
    {"MultiHeadAttention(d_in, d_out, context_length, dropout, num_heads, qkv_bias=False)",
     "attn multihead inputs.json --num-heads 2 --d-out 2"},
    {"nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)",
     "attn multihead x.npy -H 4 --no-causal -w model.pt"},
    {"F.scaled_dot_product_attention(query, key, value, is_causal=True)", "attn sdpa qkv.json --causal"},
};

static const struct {
    const char *argument, *told;
} ARGUMENTS[] = {
    {"d_in, embed_dim", "no option: the width of the inputs; init: --d-in N"},
    {"d_out", "-d, --d-out N; else d_in, or as the parameters say"},
    {"context_length", "--context-length N; else no limit"},
    {"dropout, dropout_p", "--dropout P; else 0, as after module.eval()"},
    {"num_heads", "-H, --heads N"},
    {"qkv_bias=True", "--qkv-bias; given parameters say it themselves"},
    {"bias", "no option: the parameters decide"},
    {"batch_first", "no option: a batch is always B x T x d_in"},
    {"attn_mask", "no option: \"attn_mask\" in the input"},
    {"is_causal=True", "--causal; or attn causal"},
    {"scale", "--scale S; else 1 / sqrt(d_head)"},
    {"enable_gqa=True", "no option: key and value may have fewer heads"},
};

enum {
    CLASS_COUNT = sizeof CLASSES / sizeof CLASSES[0],
    ARGUMENT_COUNT = sizeof ARGUMENTS / sizeof ARGUMENTS[0],
    ARGUMENT_COLUMN = 22,
    GOES_ON = 4,
};

const char *help_class_line(const char *name)
{
    const size_t length = strcspn(name, "(");
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        const char *call = CLASSES[i].call, *point = strchr(call, '.');
        const size_t called = strcspn(call, "(");
        const char *last = point != NULL && point < call + called ? point + 1 : call;
        if ((called == length && memcmp(call, name, length) == 0) ||
            ((size_t)(call + called - last) == length && memcmp(last, name, length) == 0))
            return CLASSES[i].line;
    }
    return NULL;
}

void help_write_classes(struct output *output)
{
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        help_wrap(output, CLASSES[i].call, 0, GOES_ON);
        output_print(output, "  $ %s\n\n", CLASSES[i].line);
    }
    help_wrap(output, "Their arguments in attn:", 0, 0);
    for (size_t i = 0; i < ARGUMENT_COUNT; i++)
        help_entry(output, ARGUMENTS[i].argument, ARGUMENT_COLUMN, ARGUMENTS[i].told);
    output_write(output, "\n", 1);
    help_wrap(output, "Parameters are drawn as after torch.manual_seed(123), or as --seed says.", 0, 0);
    help_wrap(output, "nn.MultiheadAttention draws them otherwise: save it, and give it with -w.", 0, 0);
    output_write(output, "\n", 1);
    help_wrap(output, "Attention without weights: lesson 2 of man attn-lessons.", 0, 0);
}
