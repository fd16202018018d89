/* SPDX-License-Identifier: MIT */
/* The rows of the stages of STAGE_IDS (stage_id.h), for stages.c alone: the fields of struct stage_row. */
#pragma once

#include "base/libm.h"
#include "model/stages.h"

#define STAGE_GRADIENT(stage) \
    .name = "grad_" stage, .help = "the gradient with respect to " stage ", with --grad", .backward = true

#define STAGE_ROWS(ROW)                                                                                                \
    ROW(POSITIONS, .name = "positions", .help = "what --add-positions adds to each row of the inputs",                 \
        .from = STAGE_BIT(STAGE_INPUTS), .columns = STAGE_COLUMNS_D_IN, .joins_heads = true,                           \
        .hint = "look at the rows of position_embedding, or at sin and cos of position / 10000^(2i / d)")              \
    ROW(EMBEDDED, .name = "embedded", .help = "inputs + positions",                                                    \
        .from = STAGE_BIT(STAGE_INPUTS) | STAGE_BIT(STAGE_POSITIONS), .columns = STAGE_COLUMNS_D_IN,                   \
        .joins_heads = true, .hint = "look at the sum of inputs and positions: which row is added to which")           \
    ROW(NORMED, .name = "normed", .help = "the inputs behind the layer's own norm, with --residual",                   \
        .from = STAGE_FROM_INPUTS, .columns = STAGE_COLUMNS_D_IN, .joins_heads = true,                                 \
        .hint = "look at the layer's norm: its kind, eps and weight")                                                  \
    ROW(PROJECTED_QUERY, .name = "projected_query", .help = "inputs . W_query, before a norm or a rotation",           \
        .from = STAGE_FROM_INPUTS | STAGE_BIT(STAGE_NORMED), .columns = STAGE_COLUMNS_D,                               \
        .hint = "look at the inputs and at W_query: numbers, orientation, bias, packing, heads")                       \
    ROW(NORMED_QUERY, .name = "normed_query", .help = "projected_query behind the norm of query",                      \
        .from = STAGE_BIT(STAGE_PROJECTED_QUERY), .columns = STAGE_COLUMNS_D,                                          \
        .hint = "look at the norm of query: of a head or of all, its weight, 1 + weight")                              \
    ROW(PROJECTED_KEY, .name = "projected_key", .help = "inputs . W_key, before a norm or a rotation",                 \
        .from = STAGE_FROM_KEY_INPUTS | STAGE_BIT(STAGE_NORMED), .columns = STAGE_COLUMNS_D, .of_keys = true,          \
        .hint = "look at W_key: numbers, orientation, bias, packing, heads")                                           \
    ROW(NORMED_KEY, .name = "normed_key", .help = "projected_key behind the norm of key",                              \
        .from = STAGE_BIT(STAGE_PROJECTED_KEY), .columns = STAGE_COLUMNS_D, .of_keys = true,                           \
        .hint = "look at the norm of key: of a head or of all, its weight, 1 + weight")                                \
    ROW(PROJECTED_VALUE, .name = "projected_value", .help = "inputs . W_value, before a norm",                         \
        .from = STAGE_FROM_KEY_INPUTS | STAGE_BIT(STAGE_NORMED), .columns = STAGE_COLUMNS_D_VALUE, .of_keys = true,    \
        .hint = "look at W_value: numbers, orientation, bias, packing, heads")                                         \
    ROW(QUERY, .name = "query", .help = "inputs . W_query: what each token looks for",                                 \
        .foreign = "q qs queryvector queryvectors", .aliases = {"queries"},                                            \
        .from = STAGE_FROM_INPUTS | STAGE_BIT(STAGE_NORMED) | STAGE_BIT(STAGE_PROJECTED_QUERY) |                       \
                STAGE_BIT(STAGE_NORMED_QUERY),                                                                         \
        .columns = STAGE_COLUMNS_D, .operand = true, .on_page = true,                                                  \
        .hint = "look at the inputs and at W_query: numbers, orientation, bias, heads")                                \
    ROW(KEY, .name = "key", .help = "inputs . W_key: what each token offers to be found by",                           \
        .foreign = "k ks keyvector keyvectors", .aliases = {"keys"},                                                   \
        .from = STAGE_FROM_KEY_INPUTS | STAGE_BIT(STAGE_NORMED) | STAGE_BIT(STAGE_PROJECTED_KEY) |                     \
                STAGE_BIT(STAGE_NORMED_KEY),                                                                           \
        .columns = STAGE_COLUMNS_D, .of_keys = true, .operand = true, .on_page = true,                                 \
        .hint = "look at W_key: numbers, orientation, bias, heads")                                                    \
    ROW(VALUE, .name = "value", .help = "inputs . W_value: what each token passes on",                                 \
        .foreign = "v vs valuevector valuevectors", .aliases = {"values"},                                             \
        .from = STAGE_FROM_KEY_INPUTS | STAGE_BIT(STAGE_NORMED) | STAGE_BIT(STAGE_PROJECTED_VALUE),                    \
        .columns = STAGE_COLUMNS_D_VALUE, .of_keys = true, .operand = true, .on_page = true,                           \
        .hint = "look at W_value: numbers, orientation, bias, heads; and at the norm of value, if there is one")       \
    ROW(GATE, .name = "gate", .help = "sigmoid(inputs . W_gate), times context, where a model has it",                 \
        .foreign = "outputgate sigmoidgate", .from = STAGE_FROM_INPUTS | STAGE_BIT(STAGE_NORMED), .libm = LIBM_EXP,    \
        .columns = STAGE_COLUMNS_D_VALUE, .on_page = true, .hint = "look at W_gate, and at its sigmoid")               \
    ROW(SCORES, .name = "scores", .help = "query . key^T: how well each query fits each key",                          \
        .foreign = "score attentionscores qk qkt similarity dotproduct", .aliases = {"attn_scores"},                   \
        .from = STAGE_BIT(STAGE_QUERY) | STAGE_BIT(STAGE_KEY), .columns = STAGE_COLUMNS_KEYS, .on_page = true,         \
        .hint = "look at query . key^T: which axis is summed, which heads are paired")                                 \
    ROW(SCALED, .name = "scaled", .help = "scores / sqrt(d_head), or scores x --scale",                                \
        .foreign = "scaledscores scaledattnscores", .from = STAGE_BIT(STAGE_SCORES), .columns = STAGE_COLUMNS_KEYS,    \
        .on_page = true, .hint = "look at the scale, which is 1/sqrt(d_head) unless given")                            \
    ROW(CAPPED, .name = "capped", .help = "softcap x tanh(scaled / softcap), with --softcap",                          \
        .from = STAGE_BIT(STAGE_SCALED), .libm = LIBM_TANH, .columns = STAGE_COLUMNS_KEYS, .on_page = true,            \
        .hint = "look at softcap x tanh(scaled / softcap)")                                                            \
    ROW(MASKED, .name = "masked", .help = "-inf for masked keys, plus attn_mask and ALiBi",                            \
        .foreign = "maskedscores maskedattnscores", .from = STAGE_BIT(STAGE_CAPPED), .columns = STAGE_COLUMNS_KEYS,    \
        .infinite = true, .on_page = true, .hint = "look at the mask: which keys are allowed")                         \
    ROW(WEIGHTS, .name = "weights", .help = "softmax over the keys: each row sums to 1",                               \
        .foreign = "attention attn attentions softmax attentionweights attentionmatrix attnprobs probs",               \
        .aliases = {"attn_weights"}, .from = STAGE_BIT(STAGE_MASKED), .libm = LIBM_EXP, .columns = STAGE_COLUMNS_KEYS, \
        .shares = true, .on_page = true, .hint = "look at softmax: over the keys of a row, on masked scores")          \
    ROW(DROPPED, .name = "dropped", .help = "weights after dropout, with --dropout",                                   \
        .foreign = "dropout attndropout droppedweights", .from = STAGE_BIT(STAGE_WEIGHTS),                             \
        .columns = STAGE_COLUMNS_KEYS, .shares = true, .on_page = true,                                                \
        .hint = "look at dropout: its draws, and the factor 1/(1 - p)")                                                \
    ROW(CONTEXT, .name = "context", .help = "weights . value: for each query a weighted mean of the values",           \
        .foreign = "contextvector contextvectors ctx z", .aliases = {"context_vec", "context_vecs"},                   \
        .from = STAGE_BIT(STAGE_DROPPED) | STAGE_BIT(STAGE_VALUE), .packed = STAGE_BIT(STAGE_OUTPUT),                  \
        .columns = STAGE_COLUMNS_D_VALUE, .on_page = true,                                                             \
        .hint = "look at weights . value: which axis is summed, which heads are paired")                               \
    ROW(OUTPUT, .name = "output", .help = "the heads side by side, times out_proj", .foreign = "out outputs result",   \
        .from = STAGE_BIT(STAGE_CONTEXT), .columns = STAGE_COLUMNS_OUTPUT, .joins_heads = true,                        \
        .hint = "look at the order of the heads side by side, and at out_proj")                                        \
    ROW(RESIDUAL, .name = "residual", .help = "embedded + output, with an unembedding", .foreign = "residualstream",   \
        .from = STAGE_FROM_INPUTS | STAGE_BIT(STAGE_CONTEXT) | STAGE_BIT(STAGE_OUTPUT),                                \
        .columns = STAGE_COLUMNS_OUTPUT, .joins_heads = true, .of_words = true,                                        \
        .hint = "look at the sum of what the heads read and what they write")                                          \
    ROW(LOGITS, .name = "logits", .help = "residual . unembedding: how well each word fits as the next one",           \
        .foreign = "nextwordlogits wordlogits lmlogits", .from = STAGE_BIT(STAGE_RESIDUAL),                            \
        .columns = STAGE_COLUMNS_WORDS, .joins_heads = true, .of_words = true,                                         \
        .hint = "look at residual . unembedding: which axis is summed, and its bias")                                  \
    ROW(PROBABILITIES, .name = "probabilities", .help = "softmax of logits: the next word",                            \
        .foreign = "nextword nextwordprobabilities prediction predictions", .from = STAGE_BIT(STAGE_LOGITS),           \
        .libm = LIBM_EXP, .columns = STAGE_COLUMNS_WORDS, .joins_heads = true, .of_words = true, .shares = true,       \
        .hint = "look at the softmax: over the words of a row")                                                        \
    ROW(LSE, .name = "lse", .help = "log of the sum of exp(masked), for each query", .foreign = "logsumexp",           \
        .from = STAGE_BIT(STAGE_MASKED), .libm = LIBM_EXP | LIBM_LOG, .columns = STAGE_COLUMNS_NONE, .infinite = true, \
        .on_demand = true)                                                                                             \
    ROW(ENTROPY, .name = "entropy", .help = "how evenly a row of weights is spread, in nats",                          \
        .foreign = "entropies attentionentropy attnentropy", .from = STAGE_BIT(STAGE_WEIGHTS), .libm = LIBM_LOG,       \
        .columns = STAGE_COLUMNS_NONE, .on_demand = true, .on_page = true,                                             \
        .hint = "look at the logarithm, which is natural, and at weights of 0, which add 0")                           \
    ROW(PRESENT_KEY, .name = "present_key", .help = "the keys of the cache, then the new ones",                        \
        .from = STAGE_BIT(STAGE_KEY), .columns = STAGE_COLUMNS_D, .of_keys = true, .repeats = true,                    \
        .whole_shape = true, .on_demand = true)                                                                        \
    ROW(PRESENT_VALUE, .name = "present_value", .help = "the values of the cache, then the new ones",                  \
        .from = STAGE_BIT(STAGE_VALUE), .columns = STAGE_COLUMNS_D_VALUE, .of_keys = true, .repeats = true,            \
        .whole_shape = true, .on_demand = true)                                                                        \
    ROW(GRAD_LOGITS, .name = "grad_logits", .help = "the gradient that --grad gives, with an unembedding",             \
        .columns = STAGE_COLUMNS_WORDS, .joins_heads = true, .backward = true, .hint = "look at the given gradient")   \
    ROW(GRAD_RESIDUAL, STAGE_GRADIENT("residual"), .from = STAGE_BIT(STAGE_GRAD_LOGITS),                               \
        .columns = STAGE_COLUMNS_OUTPUT, .joins_heads = true, .hint = "look at grad_logits . unembedding^T")           \
    ROW(GRAD_OUTPUT, .name = "grad_output", .help = "the gradient that --grad gives",                                  \
        .from = STAGE_BIT(STAGE_GRAD_RESIDUAL), .columns = STAGE_COLUMNS_OUTPUT, .joins_heads = true,                  \
        .backward = true, .hint = "look at the given gradient")                                                        \
    ROW(GRAD_CONTEXT, STAGE_GRADIENT("context"), .from = STAGE_BIT(STAGE_GRAD_OUTPUT),                                 \
        .packed = STAGE_BIT(STAGE_GRAD_OUTPUT), .columns = STAGE_COLUMNS_D_VALUE,                                      \
        .hint = "look at grad_output . out_proj.weight, and which columns belong to which head")                       \
    ROW(GRAD_GATE, STAGE_GRADIENT("gate"), .from = STAGE_BIT(STAGE_GRAD_OUTPUT) | STAGE_BIT(STAGE_CONTEXT),            \
        .columns = STAGE_COLUMNS_D_VALUE, .hint = "look at grad_output . out_proj.weight, times context")              \
    ROW(GRAD_VALUE, STAGE_GRADIENT("value"), .from = STAGE_BIT(STAGE_GRAD_CONTEXT) | STAGE_BIT(STAGE_DROPPED),         \
        .columns = STAGE_COLUMNS_D_VALUE, .of_keys = true,                                                             \
        .hint = "look at weights^T . grad_context: summed over the queries, and over the heads of a group")            \
    ROW(GRAD_DROPPED, STAGE_GRADIENT("dropped"),                                                                       \
        .from = STAGE_BIT(STAGE_GRAD_CONTEXT) | STAGE_BIT(STAGE_VALUE) | STAGE_BIT(STAGE_WEIGHTS),                     \
        .columns = STAGE_COLUMNS_KEYS, .hint = "look at grad_context . value^T")                                       \
    ROW(GRAD_WEIGHTS, STAGE_GRADIENT("weights"), .from = STAGE_BIT(STAGE_GRAD_DROPPED) | STAGE_BIT(STAGE_DROPPED),     \
        .columns = STAGE_COLUMNS_KEYS, .hint = "look at grad_context . value^T, and at dropout's factor 1/(1 - p)")    \
    ROW(GRAD_MASKED, STAGE_GRADIENT("masked"), .from = STAGE_BIT(STAGE_GRAD_WEIGHTS) | STAGE_BIT(STAGE_WEIGHTS),       \
        .columns = STAGE_COLUMNS_KEYS,                                                                                 \
        .hint = "look at weights x (grad_weights - delta), delta the sum of weights x grad_weights")                   \
    ROW(GRAD_CAPPED, STAGE_GRADIENT("capped"), .from = STAGE_BIT(STAGE_GRAD_MASKED), .columns = STAGE_COLUMNS_KEYS,    \
        .hint = "look at weights x (grad_weights - delta), delta the sum of weights x grad_weights")                   \
    ROW(GRAD_SCALED, STAGE_GRADIENT("scaled"), .from = STAGE_BIT(STAGE_GRAD_CAPPED) | STAGE_BIT(STAGE_CAPPED),         \
        .columns = STAGE_COLUMNS_KEYS, .hint = "look at the softmax's gradient, and at 1 - (capped / softcap)^2")      \
    ROW(GRAD_SCORES, STAGE_GRADIENT("scores"), .from = STAGE_BIT(STAGE_GRAD_SCALED), .columns = STAGE_COLUMNS_KEYS,    \
        .hint = "look at the scale, which is 1/sqrt(d_head) unless given")                                             \
    ROW(GRAD_QUERY, STAGE_GRADIENT("query"), .from = STAGE_BIT(STAGE_GRAD_SCORES) | STAGE_BIT(STAGE_KEY),              \
        .columns = STAGE_COLUMNS_D, .hint = "look at grad_scores . key")                                               \
    ROW(GRAD_KEY, STAGE_GRADIENT("key"), .from = STAGE_BIT(STAGE_GRAD_SCORES) | STAGE_BIT(STAGE_QUERY),                \
        .columns = STAGE_COLUMNS_D, .of_keys = true,                                                                   \
        .hint = "look at grad_scores^T . query: summed over the queries, and over the heads of a group")               \
    ROW(GRAD_SINKS, STAGE_GRADIENT("sinks"), .from = STAGE_BIT(STAGE_GRAD_WEIGHTS) | STAGE_BIT(STAGE_LSE),             \
        .columns = STAGE_COLUMNS_HEADS, .hint = "look at minus the sink's weight x delta, summed")                     \
    ROW(GRAD_ALIBI_SLOPES, STAGE_GRADIENT("alibi_slopes"), .from = STAGE_BIT(STAGE_GRAD_MASKED),                       \
        .columns = STAGE_COLUMNS_HEADS, .sums_square = true,                                                           \
        .hint = "look at minus grad_masked x the distance of the key, summed")                                         \
    ROW(GRAD_ATTN_MASK, STAGE_GRADIENT("attn_mask"), .from = STAGE_BIT(STAGE_GRAD_MASKED),                             \
        .columns = STAGE_COLUMNS_MASK, .sums_square = true,                                                            \
        .hint = "look at grad_masked, summed over the axes along which attn_mask is broadcast")                        \
    ROW(GRAD_NORMED_QUERY, STAGE_GRADIENT("normed_query"), .from = STAGE_BIT(STAGE_GRAD_QUERY),                        \
        .columns = STAGE_COLUMNS_D, .hint = "look at the rotation, which must go back")                                \
    ROW(GRAD_NORMED_KEY, STAGE_GRADIENT("normed_key"), .from = STAGE_BIT(STAGE_GRAD_KEY), .columns = STAGE_COLUMNS_D,  \
        .of_keys = true, .hint = "look at the rotation, which must go back")                                           \
    ROW(GRAD_PROJECTED_QUERY, STAGE_GRADIENT("projected_query"),                                                       \
        .from = STAGE_BIT(STAGE_GRAD_QUERY) | STAGE_BIT(STAGE_GRAD_NORMED_QUERY), .columns = STAGE_COLUMNS_D,          \
        .hint = "look at the rotation and the norm of query, and the scale if it is on the query")                     \
    ROW(GRAD_PROJECTED_KEY, STAGE_GRADIENT("projected_key"),                                                           \
        .from = STAGE_BIT(STAGE_GRAD_KEY) | STAGE_BIT(STAGE_GRAD_NORMED_KEY), .columns = STAGE_COLUMNS_D,              \
        .of_keys = true, .hint = "look at the rotation and the norm of key")                                           \
    ROW(GRAD_PROJECTED_VALUE, STAGE_GRADIENT("projected_value"), .from = STAGE_BIT(STAGE_GRAD_VALUE),                  \
        .columns = STAGE_COLUMNS_D_VALUE, .of_keys = true, .hint = "look at the norm of value")                        \
    ROW(GRAD_INPUTS, STAGE_GRADIENT("inputs"),                                                                         \
        .from = STAGE_GRAD_OPERANDS | STAGE_BIT(STAGE_GRAD_GATE) | STAGE_BIT(STAGE_GRAD_RESIDUAL),                     \
        .columns = STAGE_COLUMNS_D_IN, .joins_heads = true, .hint = "look at the sum over query, key and value")       \
    ROW(GRAD_KEY_INPUTS, STAGE_GRADIENT("key_inputs"), .from = STAGE_GRAD_OPERANDS, .columns = STAGE_COLUMNS_D_KEY_IN, \
        .of_keys = true, .joins_heads = true, .hint = "look at the sum over key and value")                            \
    ROW(GRAD_PARAMETERS, .name = "grad_parameters", .help = "the gradient of each parameter",                          \
        .from = STAGE_GRAD_OPERANDS | STAGE_BIT(STAGE_GRAD_OUTPUT) | STAGE_BIT(STAGE_CONTEXT),                         \
        .columns = STAGE_COLUMNS_PARAMETERS, .backward = true,                                                         \
        .hint = "look at the inputs times the gradient of the projection")
