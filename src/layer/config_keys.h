/* SPDX-License-Identifier: MIT */
/* Reads keys of a config with a check of their types, and adds facts: shared by the files of config.h.
 *
 * The first error goes into reading->error, and later calls change nothing. So these functions return no status; a
 * caller that asks for many settings returns that of the error at the end. */
#pragma once

#include "layer/config.h"

#include <cjson/cJSON.h>

enum { CONFIG_KEY_BYTES = 128 };

/* The keys that attn asks for: models' names for each, separated by blanks, of which the first one present counts; a
 * dot leads into an object. The third column: which families f read it; others are warned about it. */
/* clang-format off */
#define CONFIG_KEY_ROWS(ROW)                                                                                           \
    ROW(MODEL_TYPE, "model_type", true)                                                                                \
    ROW(HEADS, "num_attention_heads n_head n_heads num_heads attention_heads encoder_attention_heads", true)           \
    ROW(HEADS_OF_ENCODER, "encoder_attention_heads num_attention_heads n_head n_heads num_heads n_audio_head", true)   \
    ROW(HEADS_OF_DECODER, "decoder_attention_heads num_attention_heads n_head n_heads num_heads n_text_head", true)    \
    ROW(HEADS_OF_DECODER_ALONE, "decoder_num_attention_heads", true)                                                   \
    ROW(HEAD_COLUMNS, "head_dim d_kv", true)                                                                           \
    ROW(WIDTH, "dim", true)                                                                                            \
    ROW(KV_HEADS, "num_key_value_heads num_kv_heads n_head_kv n_kv_heads", true)                                       \
    ROW(MULTI_QUERY, "multi_query", f->multi_query)                                                                    \
    ROW(NEW_DECODER, "new_decoder_architecture", f->multi_query)                                                       \
    ROW(POSITION_TYPE, "position_embedding_type", true)                                                                \
    ROW(POSITIONS, "max_position_embeddings n_positions", true)                                                        \
    ROW(OLD_POSITIONS, "original_max_position_embeddings", true)                                                       \
    ROW(MLP_TYPES, "mlp_layer_types", f->rotating == FAMILY_ROTATING_PREFIX)                                           \
    ROW(PREFIX_PATTERN, "prefix_dense_sliding_window_pattern", f->rotating == FAMILY_ROTATING_PREFIX)                  \
    ROW(LAYERS, "num_hidden_layers", true)                                                                             \
    ROW(SHARED_LAYERS, "num_kv_shared_layers", true)                                                                 \
    ROW(KEY_IS_VALUE, "attention_k_eq_v", f->value_norm != NULL)                                                     \
    ROW(INDEX_KEYS, "index_topk", f->indexer != ROPE_NONE)                                                             \
    ROW(INDEX_KINDS, "indexer_types", f->indexer != ROPE_NONE)                                                         \
    ROW(INDEX_PATTERN, "index_topk_pattern", f->indexer != ROPE_NONE)                                                  \
    ROW(INDEX_EVERY, "index_topk_freq", f->indexer != ROPE_NONE)                                                       \
    ROW(INDEX_FIRST, "index_skip_topk_offset", f->indexer != ROPE_NONE)                                                \
    ROW(CHUNK, "attention_chunk_size", true)                                                                           \
    ROW(GROWS, "attn_temperature_tuning", true)                                                                        \
    ROW(GROWTH_STEP, "floor_scale", f->growth == FAMILY_GROWTH_FLOOR)                                                  \
    ROW(GROWTH, "attn_scale", f->growth == FAMILY_GROWTH_FLOOR)                                                        \
    ROW(IS_CAUSAL, "is_causal", true)                                                                                  \
    ROW(IS_DECODER, "is_decoder", true)                                                                                \
    ROW(BOTH_WAYS, "use_bidirectional_attention", true)                                                                \
    ROW(LAYER_TYPES, "layer_types", true)                                                                              \
    ROW(LAYERS_BY_KIND, "attention_layers", f->sliding == FAMILY_SLIDING_LOCAL)                                        \
    ROW(KINDS_IN_TURN, "attention_types", f->sliding == FAMILY_SLIDING_LOCAL)                                          \
    ROW(WINDOW, "sliding_window", true)                                                                                \
    ROW(WINDOW_PAST, "sliding_window_size", f->window_past)                                                            \
    ROW(WINDOW_OF_LOCAL, "window_size", f->sliding == FAMILY_SLIDING_LOCAL)                                            \
    ROW(WINDOW_BETWEEN, "local_attention", f->sliding == FAMILY_SLIDING_BETWEEN)                                       \
    ROW(WINDOW_USED, "use_sliding_window", true)                                                                       \
    ROW(WINDOW_LAYERS, "max_window_layers", true)                                                                      \
    ROW(WINDOW_PATTERN, "sliding_window_pattern", !f->pattern_fixed)                                                   \
    ROW(GLOBAL_EVERY, "global_attn_every_n_layers",                                                                    \
        f->sliding == FAMILY_SLIDING_BETWEEN || f->sliding == FAMILY_SLIDING_LISTED)                                   \
    ROW(SCALAR, "query_pre_attn_scalar", f->scale == FAMILY_SCALE_SCALAR)                                              \
    ROW(MULTIPLIER, "attention_multiplier",                                                                            \
        f->scale == FAMILY_SCALE_MULTIPLIER || f->scale == FAMILY_SCALE_MULTIPLIER_OR_ROOT)                            \
    ROW(SOFTMAX_SCALE, "attn_config.softmax_scale", f->scale == FAMILY_SCALE_SOFTMAX)                                  \
    ROW(SCALED, "scale_attn_weights", true)                                                                            \
    ROW(SCALED_BY_LAYER, "scale_attn_by_inverse_layer_idx", f->scale == FAMILY_SCALE_FLAGS)                            \
    ROW(SOFTCAP, "attn_logit_softcapping", f->softcap != 0)                                                            \
    ROW(ALIBI, "alibi", f->alibi == FAMILY_ALIBI_KEY)                                                                  \
    ROW(CLIP, "clip_qkv", f->scale != FAMILY_SCALE_SOFTMAX)                                                            \
    ROW(CLIP_NESTED, "attn_config.clip_qkv", f->scale == FAMILY_SCALE_SOFTMAX)                                         \
    ROW(NORM_EPS, "rms_norm_eps layer_norm_epsilon norm_eps layer_norm_eps norm_epsilon", true)                        \
    ROW(QK_NORM, "use_qk_norm qk_layernorm", true)                                                                     \
    ROW(QK_NORM_UNKNOWN, "use_qk_norm qk_layernorm qk_norm", true)                                                     \
    ROW(DISTANCE, "relative_attention_max_distance", f->distance != 0)                                                 \
    ROW(ROPE_PARAMETERS, "rope_parameters", true)                                                                      \
    ROW(ROPE_SCALING, "rope_scaling", true)                                                                            \
    ROW(ROPE_THETA, "rope_theta", true)                                                                                \
    ROW(ROPE_THETA_OF_SLIDING, "rope_local_base_freq local_rope_theta", f->local_theta != 0)                           \
    ROW(MERGE, "spatial_merge_size", f->merge != 0)                                                                    \
    ROW(GRID_WINDOW, "window_size", f->windows)                                                                        \
    ROW(GRID_UNMASKED, "fullatt_block_indexes", f->windows)                                                            \
    ROW(REGISTERS, "num_register_tokens", f->prefix != 0)                                                              \
    ROW(PATCH, "patch_size", f->windows)                                                                               \
    ROW(ROPE_SCALED, "use_scaled_rope", f->scaling_asked)                                                              \
    ROW(ROPE_SHARE, "partial_rotary_factor rotary_pct", true)                                                          \
    ROW(ROPE_INTERLEAVE, "rope_interleave", f->rope == ROPE_PAIRS_TO_HALVES)                                           \
    ROW(ROPE_LAYERS, "no_rope_layers", true)                                                                           \
    ROW(ROPE_INTERVAL, "no_rope_layer_interval", true)                                                                 \
    ROW(ROPE_THETAS, "layer_rope_theta", f->rotating == FAMILY_ROTATING_THETAS)

/* Keys that change attention in a way that no setting covers, with the value that changes nothing: a boolean, a number,
 * a text. */
#define CONFIG_REFUSED_ROWS(ROW)                                                                                       \
    ROW(.key = "attn_config.alibi", .truth = true)                                                                     \
    ROW(.key = "attn_config.alibi_bias_max", .number = 8)                                                              \
    ROW(.key = "attn_config.attn_type", .text = "multihead_attention")                                                 \
    ROW(.key = "attn_config.prefix_lm")                                                                                \
    ROW(.key = "attn_config.qk_ln")                                                                                    \
    ROW(.key = "attn_temperature_tuning", .growing = true)                                                             \
    ROW(.key = "attention_scale")                                                                                      \
    ROW(.key = "attention_chunk_size", .growing = true)                                                                \
    ROW(.key = "_sliding_window")                                                                                      \
    ROW(.key = "backbone")                                                                                             \
    ROW(.key = "backbone_config")                                                                                      \
    ROW(.key = "llama_4_scaling")                                                                                      \
    ROW(.key = "mla_use_nope", .truth = true)                                                                          \
    ROW(.key = "rotary_emb_fraction", .number = 1)                                                                     \
    ROW(.key = "rotary_emb_interleaved")                                                                               \
    ROW(.key = "rotary_scaling_factor", .number = 1)                                                                   \
    ROW(.key = "nope_layer_interval")                                                                                  \
    ROW(.key = "rope_scaling_factor")                                                                                  \
    ROW(.key = "use_dynamic_ntk")                                                                                      \
    ROW(.key = "use_logn_attn")                                                                                        \
    ROW(.key = "yarn")
/* clang-format on */

#define CONFIG_KEY_ID(id, names, read) CONFIG_##id,
enum config_key { CONFIG_KEY_ROWS(CONFIG_KEY_ID) CONFIG_KEY_COUNT };

/* `growing`: families whose row has a growth read it. */
struct config_refused {
    const char *key, *text;
    bool truth, growing;
    double number;
};
extern const struct config_refused CONFIG_REFUSED[];
extern const size_t CONFIG_REFUSED_COUNT;

/* A config being read. */
struct config_reading {
    const struct config *config;
    const struct family_row *family;
    const struct config_module *module;
    const cJSON *section;          /* the object of the module's part; NULL: no config */
    char prefix[CONFIG_KEY_BYTES]; /* its key: "text_config.", or "" */
    struct arena *arena;
    struct layer_facts *facts;
    struct error *error;
};

/* A value, and its key as messages show it. */
struct config_value {
    const cJSON *item; /* NULL: no value, or no config */
    char key[CONFIG_KEY_BYTES];
};

/* Sets section and prefix from config, family and module, which the caller has set: the module's part of the config, or
 * nothing without one. Clears the error. */
void config_begin(struct config_reading *reading);

/* The names of a key, and whether the family reads it. */
const char *config_names(enum config_key key);
bool config_is_read(const struct family_row *family, enum config_key key);

/* The value of the first of the key's names, or of `names`, that the section has; null counts as a value. */
struct config_value config_find(const struct config_reading *reading, enum config_key key);
struct config_value config_find_name(const struct config_reading *reading, const char *names);

/* A member of an object, by the same rules. */
struct config_value config_member(const struct config_value *object, const char *key);

/* Whether there is a value that is not null. */
bool config_is_set(const struct config_value *value);

/* The value, or the fallback where it is not set. The error of another type: "config.json: key is text, expected a
 * whole number". */
size_t config_whole(const struct config_reading *reading, const struct config_value *value, size_t fallback);
double config_real(const struct config_reading *reading, const struct config_value *value, double fallback);
bool config_truth(const struct config_reading *reading, const struct config_value *value, bool fallback);
const char *config_text(const struct config_reading *reading, const struct config_value *value, const char *fallback);

/* The same for a key. */
double config_real_of(const struct config_reading *reading, enum config_key key, double fallback);
bool config_truth_of(const struct config_reading *reading, enum config_key key, bool fallback);

/* Whether there was an error; sets an error unless there was one; sets the error "config.json: key is an array,
 * expected WHAT" unless there was one. */
bool config_failed(const struct config_reading *reading);
#define CONFIG_REFUSE(reading, ...) \
    (config_failed(reading) ? (reading)->error->status : error_usage((reading)->error, __VA_ARGS__))
void config_wrong(const struct config_reading *reading, const struct config_value *value, const char *expected);

/* Whether an option sets it, so that attn does not ask the config. */
bool config_is_told(const struct config_reading *reading, const char *setting);

/* Adds a fact: from the config if the value has an item, else from the row, with the family's name as key. */
void config_fact(const struct config_reading *reading, const char *setting, const struct config_value *value,
                 const char *text);
void config_fact_number(const struct config_reading *reading, const char *setting, const struct config_value *value,
                        double number);

/* Adds rope, rope_theta, rope_columns and rope_scaling; `slides`: this layer has a sliding window. */
void config_rope(const struct config_reading *reading, bool slides);

/* Whether a layer in that list of the config has an entry; *entry: it. */
bool config_entry(const struct config_reading *reading, enum config_key list, struct config_value *entry);

/* Whether the layer rotates by no_rope_layers, else by no_rope_layer_interval; *value: the value of that key. */
bool config_listed(const struct config_reading *reading, struct config_value *value);

/* The rotation's parameters: an object for all layers, or for those that slide, or not; no item where there is none. */
struct config_value config_rope_object(const struct config_reading *reading, bool slides);

/* Its "rope_type", or "type" in the older style. */
struct config_value config_rope_type(const struct config_value *object);
