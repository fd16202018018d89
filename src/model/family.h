/* SPDX-License-Identifier: MIT */
/* Families of models: facts about attention that neither a checkpoint's tensors nor its config.json hold. */
#pragma once

#include "model/mask.h"
#include "model/rope.h"
#include "model/stage_id.h"

#include <stdbool.h>
#include <stddef.h>

/* Which modules hide the keys after a query; cross-attention never does. DECODER: those of a decoder. CONFIG: all where
 * the config's "is_decoder" is true. */
enum family_causal { FAMILY_CAUSAL_NEVER, FAMILY_CAUSAL_ALWAYS, FAMILY_CAUSAL_DECODER, FAMILY_CAUSAL_CONFIG };

/* What "is_causal": false of a config does to a module that hides the keys after a query. OBEYED: it hides none.
 * REFUSED: the paths of transformers disagree, or other code computes the family. */
enum family_is_causal { FAMILY_IS_CAUSAL_OBEYED, FAMILY_IS_CAUSAL_IGNORED, FAMILY_IS_CAUSAL_REFUSED };

/* The factor of the scores. */
enum family_scale {
    FAMILY_SCALE_ROOT,               /* 1 / sqrt(d) */
    FAMILY_SCALE_ONE,                /* 1: T5 */
    FAMILY_SCALE_SCALAR,             /* 1 / sqrt(query_pre_attn_scalar): Gemma 2 */
    FAMILY_SCALE_MULTIPLIER,         /* attention_multiplier, else 1: Granite */
    FAMILY_SCALE_MULTIPLIER_OR_ROOT, /* attention_multiplier, else 1 / sqrt(d): HyperCLOVA X */
    FAMILY_SCALE_FLAGS,   /* 1 / sqrt(d) where scale_attn_weights, by layer + 1 where scale_attn_by_inverse_layer_idx */
    FAMILY_SCALE_FLAG,    /* 1 / sqrt(d) where scale_attn_weights */
    FAMILY_SCALE_SOFTMAX, /* attn_config.softmax_scale, else 1 / sqrt(d): MPT */
    FAMILY_SCALE_MSCALE,  /* 1 / sqrt(d), by (0.1 mscale_all_dim ln factor + 1)^2 where rope is scaled: DeepSeek */
};

/* ALiBi. KEY: where the config's "alibi" is true, in place of a rotation, and divided by sqrt(d) as the scores are:
 * Falcon. */
enum family_alibi { FAMILY_ALIBI_NEVER, FAMILY_ALIBI_ALWAYS, FAMILY_ALIBI_KEY };

/* Which layers have a sliding window. */
enum family_sliding {
    FAMILY_SLIDING_NONE,    /* none, whatever the config says */
    FAMILY_SLIDING_ALL,     /* all, where sliding_window is a number: Mistral */
    FAMILY_SLIDING_ASKED,   /* all, where use_sliding_window: Qwen3 of experts */
    FAMILY_SLIDING_BUT,     /* as layer_types says, else all but every n-th, sliding_window_pattern: Gemma 3 */
    FAMILY_SLIDING_FROM,    /* where use_sliding_window: as layer_types says, else from max_window_layers on: Qwen2 */
    FAMILY_SLIDING_UNTIL,   /* where use_sliding_window: as layer_types says, else 0, 2, 4, ... before
                               max_window_layers: Qwen2 of experts */
    FAMILY_SLIDING_STILL,   /* as layer_types says, else where use_sliding_window: layers without rotation: SmolLM3 */
    FAMILY_SLIDING_AFTER,   /* as layer_types says, else from max_window_layers on: dots.llm1 */
    FAMILY_SLIDING_LOCAL,   /* those that attention_layers or attention_types call "local": GPT-Neo */
    FAMILY_SLIDING_BETWEEN, /* as layer_types says, else all but 0, n, 2n, ...; both ways: ModernBERT */
    FAMILY_SLIDING_LISTED,  /* as layer_types says, which the config must have */
    FAMILY_SLIDING_CHUNKS,  /* none; chunks of attention_chunk_size where layer_types says so, else where a layer
                               rotates: Llama 4 */
};

/* Which layers rotate query and key. SLIDING: those with a window. IF_ANY: the same, but all where sliding_window is
 * null. LISTED: those with a 1 in no_rope_layers, else all but every no_rope_layer_interval-th. TOLD: all, but none
 * where the config's rope_theta is null. ASKED, ROTARY: all, where position_embedding_type is "rope", "rotary".
 * THETAS: those whose entry in layer_rope_theta is not 0, by that theta. PREFIX: SLIDING, and dense layers with
 * prefix_dense_sliding_window_pattern 1. */
enum family_rotating {
    FAMILY_ROTATING_ALL,
    FAMILY_ROTATING_SLIDING,
    FAMILY_ROTATING_IF_ANY,
    FAMILY_ROTATING_LISTED,
    FAMILY_ROTATING_TOLD,
    FAMILY_ROTATING_ASKED,
    FAMILY_ROTATING_ROTARY,
    FAMILY_ROTATING_THETAS,
    FAMILY_ROTATING_PREFIX,
};

/* Which modules normalise query and key. ASKED: where use_qk_norm or qk_layernorm is true; UNLESS: but where it is
 * false. CROSS: those of cross-attention. ROTATED: those that rotate, UNLESS use_qk_norm is false. */
enum family_normed {
    FAMILY_NORMED_ALL,
    FAMILY_NORMED_ASKED,
    FAMILY_NORMED_UNLESS,
    FAMILY_NORMED_CROSS,
    FAMILY_NORMED_ROTATED,
};

/* Whose sigmoid multiplies the contexts before they are joined. IN_QUERY: the second half of each head of the query's
 * weight. OWN: a weight gate_proj or g_proj, for each column or each head. */
enum family_gate { FAMILY_GATE_NONE, FAMILY_GATE_IN_QUERY, FAMILY_GATE_OWN };

/* How queries grow with their position (model/rope.h). FLOOR: those of layers without rotation, by attn_scale every
 * floor_scale positions. BETA: by llama_4_scaling_beta every original_max_position_embeddings positions. */
enum family_growth { FAMILY_GROWTH_NONE, FAMILY_GROWTH_FLOOR, FAMILY_GROWTH_BETA };

/* When numbers are rounded to bfloat16 or float16, as --rounding transformers does; all 0: once a stage. */
struct family_rounding {
    enum rope_rounding rope;
    bool norm_last;     /* query and key are normed after their rotation (struct norm) */
    bool norm_cast;     /* RMS: normed, rounded, times the weight, rounded; else once */
    bool softcap_each;  /* the quotient, its tanh and the product are rounded each: Gemma 2 */
    bool softmax_each;  /* the score less the largest is rounded, as is the sink less it: gpt-oss */
    bool growth;        /* the growth of a query is rounded before it multiplies: Ministral 3 */
    bool product_first; /* a projection's product is rounded before its bias is added: Falcon */
    uint64_t wide;      /* the stages that stay in float32: GPT-J's up to the weights */
    /* With ALiBi: further such stages; where the positions of keys count from; whether slope x position is rounded;
     * whether the sum of the exponentials divides the context instead of them: Falcon, whose correct path is PyTorch's
     * fused one. */
    uint64_t wide_with_slopes;
    enum mask_from places;
    bool places_rounded, sum_last;
};

struct family_row {
    const char *name;   /* its first model_type: "llama" */
    const char *types;  /* other model_types of the row, sorted, a blank between two; or NULL */
    const char *title;  /* "Llama 2 and 3" */
    const char *images; /* models (as types) whose masks allow the keys of a query's own image; or NULL */
    bool by_hand;       /* no family: options say everything, the config nothing */

    /* What holds where the config is silent. */
    size_t heads, kv_heads; /* heads 0: the config must say; kv_heads 0: as many as heads */
    size_t decoder_heads;   /* of a decoder's modules, by decoder_num_attention_heads; 0: as the others: ViT-MAE */
    size_t window;          /* sliding_window; 0: none */
    size_t pattern;         /* of enum family_sliding: n, or the first layer with a window */
    double theta;           /* of the rotation; 0: 10000 */
    double scalar;          /* query_pre_attn_scalar */
    double softcap;         /* attn_logit_softcapping; 0: none, and the config's is ignored */
    double norm_eps;        /* 0: the config must say */
    double share;           /* of a head's columns that rotates; 0: all, and the config's must be 1 */
    size_t columns;         /* the same as a number, by columns_key */
    const char *scaling;    /* of the rotation, as --rope-scaling has it; or NULL */

    size_t distance; /* relative_attention_max_distance; 0: a relative bias is not expected */
    size_t buckets;  /* of a relative bias, the first rows of its table; 0: all */

    enum family_causal causal;
    enum family_is_causal is_causal;
    bool both_ways; /* not where the config's use_bidirectional_attention is true */
    enum rope_kind rope;
    enum family_rotating rotating;
    double local_theta;       /* of layers with a window, by another key; 0: as the others */
    bool local_scaling;       /* these layers have the scaling, too */
    bool kinds_only;          /* only rope_parameters counts, by kind of layer; older keys do not */
    const char *theta_unless; /* a key with which theta has no default: Mistral's releases disagree */
    const char *theta_key;    /* the older key of theta; NULL: rope_theta */
    const char *columns_key;  /* the key that holds the number of rotated columns */
    const char *axes;         /* as --rope-axes has them; mrope_section has their numbers; NULL: one */
    size_t merge;             /* a picture's tokens come in blocks of spatial_merge_size x spatial_merge_size; 0: not */
    bool windows;          /* and in windows of window_size pixels; layers not in fullatt_block_indexes mask others */
    size_t prefix;         /* unrotated tokens before a grid: 1 and num_register_tokens; 0: none */
    bool columns_last;     /* the rotated columns are the last ones */
    bool scaling_theta;    /* without an object of parameters theta is the row's, as `scaling` is */
    bool scaling_asked;    /* `scaling` only where use_scaled_rope is true */
    bool heads_fill_width; /* without head_dim the heads' columns are "dim" together */
    bool theta_alpha;      /* a "dynamic" scaling with an alpha stretches theta by it, at any length: Hunyuan */
    bool long_factors;     /* "su" and "yarn" mean longrope: Phi */
    bool mscales; /* longrope: short_factor for all lengths, short_mscale and long_mscale: Phi-3.5 of experts */

    enum family_scale scale;
    bool scale_on_query; /* the scale multiplies the query, not the scores */
    enum family_growth growth;
    enum family_gate gate;
    const char *key_factor, *value_factor; /* config keys of a factor of key, of value; NULL: none */
    bool multi_query;       /* one head of keys, or as many as of queries, by its own config keys: Falcon */
    bool kv_by_tensors;     /* heads of keys and columns of a head differ among layers: only the tensors count */
    bool clip;              /* the config's clip_qkv counts */
    enum rope_kind indexer; /* how the indexer of its keys rotates: DeepSeek-V3.2; ROPE_NONE: it has none */
    bool latent;            /* keys and values go through a low rank: as many heads of them as of queries */
    enum family_alibi alibi;
    enum family_sliding sliding;
    bool pattern_fixed; /* without layer_types `pattern` counts, whatever sliding_window_pattern says */
    bool window_past;   /* sliding_window_size counts the keys before a query, in place of sliding_window: MiMo */
    bool last_full;     /* the last layer has no window, whatever layer_types says: Gemma 4 */
    bool first_full;    /* without layer_types the first layer has no window: MiMo */

    const char *norm;     /* kind of the norm before attention, as --norm has it: "none": it comes after; NULL: a kind
                             attn lacks */
    const char *norm_key; /* config key: true if that norm comes before; default norm_before */
    bool norm_before;
    const char *qk_norm;       /* the kind of the norm of query and key; NULL: none */
    const char *value_norm;    /* the kind of the norm of value, without weights; NULL: none */
    enum family_normed normed; /* which modules have that norm */
    bool bare_norm;            /* it has no weights */
    double qk_norm_eps;        /* its eps, whatever the config says; 0: that of the layer's norm */
    bool eps_fixed;            /* norm_eps holds, whatever the config says */
    bool first_without_norm;   /* the first layer has none before attention: ModernBERT */
    const char *packing;       /* of a packed weight whose name does not show it: "blocks", "groups" */

    struct family_rounding rounding;
};

/* The name with which options say everything. */
#define FAMILY_NONE "none"

/* The row that serves a model_type, or NULL. */
const struct family_row *family_find(const char *model_type);

/* What a model_type without a row does that attn does not compute: "windows of a picture that shift"; NULL: unknown. */
const char *family_lacks(const char *model_type);

/* Row i, sorted by name; NULL after the last one. */
const struct family_row *family_at(size_t i);

/* The name of row i, "llama"; NULL after the last one. */
const char *family_word(size_t i);

/* The model_type of one part of a model whose part's config does not say it: "clip", "text_config" ->
 * "clip_text_model". NULL: unknown. */
const char *family_of_part(const char *model_type, const char *part);

/* Whether a model of that type has parts, each masked as it would be alone. */
bool family_has_parts(const char *model_type);
