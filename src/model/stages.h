/* The stages of attention: a row for each, in the order in which they come. What a row says holds for every problem;
 * when a stage applies, its formula and its arithmetic are in src/stage/, a file for each.
 *
 * Dimensions: B items of a batch, H heads of query, H_kv of key and value, Tq queries, Tk keys, d columns of a head of
 * query and key, d_v of value. T x T is Tq x Tk where queries and keys are not the same tokens. */
#ifndef ATTN_MODEL_STAGES_H
#define ATTN_MODEL_STAGES_H

#include "base/libm.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STAGE_ALIASES = 2 };

/* What a stage has columns of. */
enum stage_columns {
    STAGE_COLUMNS_D,          /* (…, d) */
    STAGE_COLUMNS_D_VALUE,    /* (…, d_v) */
    STAGE_COLUMNS_KEYS,       /* (…, Tk): it is T x T */
    STAGE_COLUMNS_D_IN,       /* (…, d_in) */
    STAGE_COLUMNS_D_KEY_IN,   /* (…, d_key_in) */
    STAGE_COLUMNS_OUTPUT,     /* those of all heads side by side, or of the output projection */
    STAGE_COLUMNS_MASK,       /* those of attn_mask, as its other axes */
    STAGE_COLUMNS_HEADS,      /* one for each head, and no other axis: as sinks and slopes */
    STAGE_COLUMNS_PARAMETERS, /* it is as many tables as there are parameters, by their names */
    STAGE_COLUMNS_OTHER,      /* of no stage */
    STAGE_COLUMNS_NONE,       /* one number for each query of each head: a row statistic */
};

struct stage_row {
    const char *name;
    const char *aliases[STAGE_ALIASES]; /* other names that are read, never written; NULL where there are fewer */
    const char *foreign;                /* what others call it: suggest_knows; or NULL */
    uint64_t from;                      /* what it is made from, inputs and key inputs included */
    enum stage_columns columns;
    unsigned libm; /* the functions of base/libm.h that its numbers go through, beside those of what it is made from */
    uint64_t packed;  /* sdpa: the stage whose table it has where the heads lie side by side, as a set; or none */
    bool of_keys;     /* its rows are those of key and value, (B, H_kv, Tk, …); else (B, H, Tq, …) */
    bool joins_heads; /* its rows are those of all heads, (B, Tq, …) */
    bool operand;     /* scaled dot-product attention takes it, so `sdpa` is given it */
    bool repeats;     /* its numbers are those of the stage that it is made from */
    bool whole_shape; /* it has the axes of items and heads even where the problem has one of them */
    bool shares;      /* its numbers are shares of a row: from 0 on, not around it */
    bool on_demand;   /* shown only where --stages names it */
    bool infinite;    /* minus infinity says that a key is forbidden */
    bool sums_square; /* it is summed over gradients that are T x T, which the fused path never forms */
    bool backward;    /* it is a gradient by what it is named after: of --grad */
    bool on_page;     /* the page's script (src/write/html/page) has its equation */
    const char *hint; /* what to look at where it departs and those before it agree; or NULL */
};

/* A row a stage: its identifier, the name of its functions (src/stage/), and the fields of struct stage_row. */
#define STAGE_ROWS(ROW)                                                                                                \
    ROW(NORMED, normed, .name = "normed", .from = STAGE_BIT(STAGE_INPUTS), .columns = STAGE_COLUMNS_D_IN,              \
        .joins_heads = true, .hint = "look at the layer's norm: its kind, eps and weight")                             \
    ROW(PROJECTED_QUERY, projected_query, .name = "projected_query",                                                   \
        .from = STAGE_BIT(STAGE_INPUTS) | STAGE_BIT(STAGE_NORMED), .columns = STAGE_COLUMNS_D,                         \
        .hint = "look at the inputs and at W_query: numbers, orientation, bias, packing, heads")                       \
    ROW(NORMED_QUERY, normed_query, .name = "normed_query", .from = STAGE_BIT(STAGE_PROJECTED_QUERY),                  \
        .columns = STAGE_COLUMNS_D, .hint = "look at the norm of query: of a head or of all, its weight, 1 + weight")  \
    ROW(PROJECTED_KEY, projected_key, .name = "projected_key",                                                         \
        .from = STAGE_FROM_KEY_INPUTS | STAGE_BIT(STAGE_NORMED), .columns = STAGE_COLUMNS_D, .of_keys = true,          \
        .hint = "look at W_key: numbers, orientation, bias, packing, heads")                                           \
    ROW(NORMED_KEY, normed_key, .name = "normed_key", .from = STAGE_BIT(STAGE_PROJECTED_KEY),                          \
        .columns = STAGE_COLUMNS_D, .of_keys = true,                                                                   \
        .hint = "look at the norm of key: of a head or of all, its weight, 1 + weight")                                \
    ROW(QUERY, query, .name = "query", .foreign = "q qs queryvector queryvectors", .aliases = {"queries"},             \
        .from = STAGE_BIT(STAGE_INPUTS) | STAGE_BIT(STAGE_NORMED) | STAGE_BIT(STAGE_PROJECTED_QUERY) |                 \
                STAGE_BIT(STAGE_NORMED_QUERY),                                                                         \
        .columns = STAGE_COLUMNS_D, .operand = true, .on_page = true,                                                  \
        .hint = "look at the inputs and at W_query: numbers, orientation, bias, heads")                                \
    ROW(KEY, key, .name = "key", .foreign = "k ks keyvector keyvectors", .aliases = {"keys"},                          \
        .from = STAGE_FROM_KEY_INPUTS | STAGE_BIT(STAGE_NORMED) | STAGE_BIT(STAGE_PROJECTED_KEY) |                     \
                STAGE_BIT(STAGE_NORMED_KEY),                                                                           \
        .columns = STAGE_COLUMNS_D, .of_keys = true, .operand = true, .on_page = true,                                 \
        .hint = "look at W_key: numbers, orientation, bias, heads")                                                    \
    ROW(VALUE, value, .name = "value", .foreign = "v vs valuevector valuevectors", .aliases = {"values"},              \
        .from = STAGE_FROM_KEY_INPUTS | STAGE_BIT(STAGE_NORMED), .columns = STAGE_COLUMNS_D_VALUE, .of_keys = true,    \
        .operand = true, .on_page = true, .hint = "look at W_value: numbers, orientation, bias, heads")                \
    ROW(SCORES, scores, .name = "scores", .foreign = "score attentionscores logits qk qkt similarity dotproduct",      \
        .aliases = {"attn_scores"}, .from = STAGE_BIT(STAGE_QUERY) | STAGE_BIT(STAGE_KEY),                             \
        .columns = STAGE_COLUMNS_KEYS, .on_page = true,                                                                \
        .hint = "look at query . key^T: which axis is summed, which head meets which")                                 \
    ROW(SCALED, scaled, .name = "scaled", .foreign = "scaledscores scaledattnscores", .from = STAGE_BIT(STAGE_SCORES), \
        .columns = STAGE_COLUMNS_KEYS, .on_page = true,                                                                \
        .hint = "look at the scale, which is 1/sqrt(d_head) unless given")                                             \
    ROW(CAPPED, capped, .name = "capped", .from = STAGE_BIT(STAGE_SCALED), .libm = LIBM_TANH,                          \
        .columns = STAGE_COLUMNS_KEYS, .on_page = true, .hint = "look at softcap x tanh(scaled / softcap)")            \
    ROW(MASKED, masked, .name = "masked", .foreign = "maskedscores maskedattnscores", .from = STAGE_BIT(STAGE_CAPPED), \
        .columns = STAGE_COLUMNS_KEYS, .infinite = true, .on_page = true,                                              \
        .hint = "look at the mask: which keys a query may see")                                                        \
    ROW(WEIGHTS, weights, .name = "weights",                                                                           \
        .foreign = "attention attn attentions softmax attentionweights attentionmatrix attnprobs probs probabilities", \
        .aliases = {"attn_weights"}, .from = STAGE_BIT(STAGE_MASKED), .libm = LIBM_EXP, .columns = STAGE_COLUMNS_KEYS, \
        .shares = true, .on_page = true, .hint = "look at softmax: over the keys of a row, on masked scores")          \
    ROW(DROPPED, dropped, .name = "dropped", .foreign = "dropout attndropout droppedweights",                          \
        .from = STAGE_BIT(STAGE_WEIGHTS), .columns = STAGE_COLUMNS_KEYS, .shares = true, .on_page = true,              \
        .hint = "look at dropout: its draws, and the factor 1/(1 - p)")                                                \
    ROW(CONTEXT, context, .name = "context", .foreign = "contextvector contextvectors ctx z",                          \
        .aliases = {"context_vec", "context_vecs"}, .from = STAGE_BIT(STAGE_DROPPED) | STAGE_BIT(STAGE_VALUE),         \
        .packed = STAGE_BIT(STAGE_OUTPUT), .columns = STAGE_COLUMNS_D_VALUE, .on_page = true,                          \
        .hint = "look at weights . value: which axis is summed, which head meets which")                               \
    ROW(OUTPUT, output, .name = "output", .foreign = "out outputs result", .from = STAGE_BIT(STAGE_CONTEXT),           \
        .columns = STAGE_COLUMNS_OUTPUT, .joins_heads = true,                                                          \
        .hint = "look at the order of the heads side by side, and at out_proj")                                        \
    ROW(LSE, lse, .name = "lse", .foreign = "logsumexp", .from = STAGE_BIT(STAGE_MASKED), .libm = LIBM_EXP | LIBM_LOG, \
        .columns = STAGE_COLUMNS_NONE, .infinite = true, .on_demand = true)                                            \
    ROW(ENTROPY, entropy, .name = "entropy", .foreign = "entropies attentionentropy attnentropy",                      \
        .from = STAGE_BIT(STAGE_WEIGHTS), .libm = LIBM_LOG, .columns = STAGE_COLUMNS_NONE, .on_demand = true,          \
        .hint = "look at the logarithm, which is natural, and at weights of 0, which add 0")                           \
    ROW(PRESENT_KEY, present_key, .name = "present_key", .from = STAGE_BIT(STAGE_KEY), .columns = STAGE_COLUMNS_D,     \
        .of_keys = true, .repeats = true, .whole_shape = true, .on_demand = true)                                      \
    ROW(PRESENT_VALUE, present_value, .name = "present_value", .from = STAGE_BIT(STAGE_VALUE),                         \
        .columns = STAGE_COLUMNS_D_VALUE, .of_keys = true, .repeats = true, .whole_shape = true, .on_demand = true)    \
    ROW(GRAD_OUTPUT, grad_output, .name = "grad_output", .columns = STAGE_COLUMNS_OUTPUT, .joins_heads = true,         \
        .backward = true, .hint = "look at the gradient that is given")                                                \
    ROW(GRAD_CONTEXT, grad_context, .name = "grad_context", .from = STAGE_BIT(STAGE_GRAD_OUTPUT),                      \
        .packed = STAGE_BIT(STAGE_GRAD_OUTPUT), .columns = STAGE_COLUMNS_D_VALUE, .backward = true,                    \
        .hint = "look at grad_output . out_proj.weight, and which columns are whose head")                             \
    ROW(GRAD_VALUE, grad_value, .name = "grad_value",                                                                  \
        .from = STAGE_BIT(STAGE_GRAD_CONTEXT) | STAGE_BIT(STAGE_DROPPED), .columns = STAGE_COLUMNS_D_VALUE,            \
        .of_keys = true, .backward = true,                                                                             \
        .hint = "look at weights^T . grad_context: summed over the queries, and over the heads of a group")            \
    ROW(GRAD_DROPPED, grad_dropped, .name = "grad_dropped",                                                            \
        .from = STAGE_BIT(STAGE_GRAD_CONTEXT) | STAGE_BIT(STAGE_VALUE) | STAGE_BIT(STAGE_WEIGHTS),                     \
        .columns = STAGE_COLUMNS_KEYS, .backward = true, .hint = "look at grad_context . value^T")                     \
    ROW(GRAD_WEIGHTS, grad_weights, .name = "grad_weights",                                                            \
        .from = STAGE_BIT(STAGE_GRAD_DROPPED) | STAGE_BIT(STAGE_DROPPED), .columns = STAGE_COLUMNS_KEYS,               \
        .backward = true, .hint = "look at grad_context . value^T, and at dropout's factor 1/(1 - p)")                 \
    ROW(GRAD_MASKED, grad_masked, .name = "grad_masked",                                                               \
        .from = STAGE_BIT(STAGE_GRAD_WEIGHTS) | STAGE_BIT(STAGE_WEIGHTS), .columns = STAGE_COLUMNS_KEYS,               \
        .backward = true, .hint = "look at weights x (grad_weights - delta), delta the sum of weights x grad_weights") \
    ROW(GRAD_CAPPED, grad_capped, .name = "grad_capped", .from = STAGE_BIT(STAGE_GRAD_MASKED),                         \
        .columns = STAGE_COLUMNS_KEYS, .backward = true,                                                               \
        .hint = "look at weights x (grad_weights - delta), delta the sum of weights x grad_weights")                   \
    ROW(GRAD_SCALED, grad_scaled, .name = "grad_scaled",                                                               \
        .from = STAGE_BIT(STAGE_GRAD_CAPPED) | STAGE_BIT(STAGE_CAPPED), .columns = STAGE_COLUMNS_KEYS,                 \
        .backward = true, .hint = "look at the softmax's gradient, and at 1 - (capped / softcap)^2")                   \
    ROW(GRAD_SCORES, grad_scores, .name = "grad_scores", .from = STAGE_BIT(STAGE_GRAD_SCALED),                         \
        .columns = STAGE_COLUMNS_KEYS, .backward = true,                                                               \
        .hint = "look at the scale, which is 1/sqrt(d_head) unless given")                                             \
    ROW(GRAD_QUERY, grad_query, .name = "grad_query", .from = STAGE_BIT(STAGE_GRAD_SCORES) | STAGE_BIT(STAGE_KEY),     \
        .columns = STAGE_COLUMNS_D, .backward = true, .hint = "look at grad_scores . key")                             \
    ROW(GRAD_KEY, grad_key, .name = "grad_key", .from = STAGE_BIT(STAGE_GRAD_SCORES) | STAGE_BIT(STAGE_QUERY),         \
        .columns = STAGE_COLUMNS_D, .of_keys = true, .backward = true,                                                 \
        .hint = "look at grad_scores^T . query: summed over the queries, and over the heads of a group")               \
    ROW(GRAD_SINKS, grad_sinks, .name = "grad_sinks", .from = STAGE_BIT(STAGE_GRAD_WEIGHTS) | STAGE_BIT(STAGE_LSE),    \
        .columns = STAGE_COLUMNS_HEADS, .backward = true, .hint = "look at minus the sink's weight x delta, summed")   \
    ROW(GRAD_ALIBI_SLOPES, grad_alibi_slopes, .name = "grad_alibi_slopes", .from = STAGE_BIT(STAGE_GRAD_MASKED),       \
        .columns = STAGE_COLUMNS_HEADS, .sums_square = true, .backward = true,                                         \
        .hint = "look at minus grad_masked x the distance of the key, summed")                                         \
    ROW(GRAD_ATTN_MASK, grad_attn_mask, .name = "grad_attn_mask", .from = STAGE_BIT(STAGE_GRAD_MASKED),                \
        .columns = STAGE_COLUMNS_MASK, .sums_square = true, .backward = true,                                          \
        .hint = "look at grad_masked, summed over the axes along which attn_mask is broadcast")                        \
    ROW(GRAD_NORMED_QUERY, grad_normed_query, .name = "grad_normed_query", .from = STAGE_BIT(STAGE_GRAD_QUERY),        \
        .columns = STAGE_COLUMNS_D, .backward = true, .hint = "look at the rotation, turned back")                     \
    ROW(GRAD_NORMED_KEY, grad_normed_key, .name = "grad_normed_key", .from = STAGE_BIT(STAGE_GRAD_KEY),                \
        .columns = STAGE_COLUMNS_D, .of_keys = true, .backward = true, .hint = "look at the rotation, turned back")    \
    ROW(GRAD_PROJECTED_QUERY, grad_projected_query, .name = "grad_projected_query",                                    \
        .from = STAGE_BIT(STAGE_GRAD_QUERY) | STAGE_BIT(STAGE_GRAD_NORMED_QUERY), .columns = STAGE_COLUMNS_D,          \
        .backward = true, .hint = "look at the rotation and the norm of query, and the scale if it is on the query")   \
    ROW(GRAD_PROJECTED_KEY, grad_projected_key, .name = "grad_projected_key",                                          \
        .from = STAGE_BIT(STAGE_GRAD_KEY) | STAGE_BIT(STAGE_GRAD_NORMED_KEY), .columns = STAGE_COLUMNS_D,              \
        .of_keys = true, .backward = true, .hint = "look at the rotation and the norm of key")                         \
    ROW(GRAD_INPUTS, grad_inputs, .name = "grad_inputs", .from = STAGE_GRAD_OPERANDS, .columns = STAGE_COLUMNS_D_IN,   \
        .joins_heads = true, .backward = true, .hint = "look at the sum over query, key and value")                    \
    ROW(GRAD_KEY_INPUTS, grad_key_inputs, .name = "grad_key_inputs", .from = STAGE_GRAD_OPERANDS,                      \
        .columns = STAGE_COLUMNS_D_KEY_IN, .of_keys = true, .joins_heads = true, .backward = true,                     \
        .hint = "look at the sum over key and value")                                                                  \
    ROW(GRAD_PARAMETERS, grad_parameters, .name = "grad_parameters",                                                   \
        .from = STAGE_GRAD_OPERANDS | STAGE_BIT(STAGE_GRAD_OUTPUT) | STAGE_BIT(STAGE_CONTEXT),                         \
        .columns = STAGE_COLUMNS_PARAMETERS, .backward = true,                                                         \
        .hint = "look at what a weight met: the inputs, times the gradient by what it made")

#define STAGE_ID(id, functions, ...) STAGE_##id,
enum stage {
    STAGE_ROWS(STAGE_ID) STAGE_COUNT,
    /* No stages, but names that --stages takes beside them. */
    STAGE_INPUTS = STAGE_COUNT,
    STAGE_KEY_INPUTS,
    STAGE_PARAMETERS,
    STAGE_NAMES,
};
#undef STAGE_ID

/* The gradients of what meets, which the way back to inputs and parameters begins at. */
#define STAGE_GRAD_OPERANDS (STAGE_BIT(STAGE_GRAD_QUERY) | STAGE_BIT(STAGE_GRAD_KEY) | STAGE_BIT(STAGE_GRAD_VALUE))

#define STAGE_FROM_KEY_INPUTS (STAGE_BIT(STAGE_INPUTS) | STAGE_BIT(STAGE_KEY_INPUTS))

/* A set of stages is a uint64_t; this is the one that holds that stage alone. */
#define STAGE_BIT(stage) (UINT64_C(1) << (stage))
static_assert(STAGE_NAMES < 64, "a set of stages is a uint64_t");

/* With a row for the other names of --stages, and one for none of them, STAGE_NAMES. */
extern const struct stage_row STAGES[STAGE_NAMES + 1];

/* The name, also for inputs, key inputs and parameters. */
const char *stage_name(enum stage stage);

/* The stage of that name or alias among all STAGE_NAMES, or STAGE_NAMES where there is none. */
enum stage stage_find(const char *name, size_t length);

/* The stage that others call so, or STAGE_NAMES. */
enum stage stage_meant(const char *name);

/* Whether it is a stage, and none of the other names. */
bool stage_exists(enum stage stage);

/* The set without its names that are no stages. */
uint64_t stage_existing(uint64_t names);

/* Every stage that these need, themselves included; the inputs among them where they need them. */
uint64_t stage_closure(uint64_t stages);

/* Whether the stage is the other one or made from it. */
bool stage_follows(enum stage stage, enum stage other);

/* Whether it is made of queries and keys that have met; else of the tokens of one side alone. */
bool stage_is_attended(enum stage stage);

/* Whether its rows are those of key and value, never cut by a choice of queries. */
bool stage_is_of_keys(enum stage stage);

/* Whether its numbers are shares of a row: from 0 on, not around it. */
bool stage_is_shares(enum stage stage);

/* The stage whose table it has where the heads lie side by side in sdpa, or itself. */
enum stage stage_packed(enum stage stage);

/* Whether its axes are those of what the mask is given as: attn_mask, or a list of heads. */
bool stage_is_of_mask(enum stage stage);

/* Whether it is the inputs once more, before anything is projected: normed. */
bool stage_is_of_inputs(enum stage stage);

/* Whether it is T x T. */
bool stage_is_square(enum stage stage);

/* Those of the set that are row statistics. */
uint64_t stage_statistics(uint64_t stages);

/* Whether it has an axis of columns. */
bool stage_has_columns(enum stage stage);

/* Whether a picture can show it, inputs and parameters included: it has rows and columns of its own. */
bool stage_is_drawn(enum stage stage);

/* The stage whose numbers it has: itself, but for one that repeats another. */
enum stage stage_of_numbers(enum stage stage);

#endif
