/* SPDX-License-Identifier: MIT */
/* The keys of a config, each held to its type, and facts made of them: what the files of config.h share.
 *
 * The first thing that is wrong goes into reading->error, and all that comes after it changes nothing: no function here
 * returns a status, and who asks for many settings returns that of the error at the end. */
#ifndef ATTN_LAYER_CONFIG_KEYS_H
#define ATTN_LAYER_CONFIG_KEYS_H

#include "layer/config.h"

#include <cjson/cJSON.h>

enum { CONFIG_KEY_BYTES = 128 };

/* What a config is asked for: the names that models have for it, with a blank between two, of which the first that is
 * there counts; a dot leads into an object. */
/* clang-format off */
#define CONFIG_KEY_ROWS(ROW)                                                                                           \
    ROW(MODEL_TYPE, "model_type")                                                                                      \
    ROW(HEADS, "num_attention_heads n_head n_heads num_heads attention_heads encoder_attention_heads")                 \
    ROW(HEADS_OF_ENCODER, "encoder_attention_heads num_attention_heads n_head n_heads num_heads")                      \
    ROW(HEADS_OF_DECODER, "decoder_attention_heads num_attention_heads n_head n_heads num_heads")                      \
    ROW(HEADS_OF_DECODER_ALONE, "decoder_num_attention_heads")                                                         \
    ROW(HEAD_COLUMNS, "head_dim d_kv")                                                                                 \
    ROW(KV_HEADS, "num_key_value_heads num_kv_heads n_head_kv")                                                        \
    ROW(MULTI_QUERY, "multi_query")                                                                                    \
    ROW(NEW_DECODER, "new_decoder_architecture")                                                                       \
    ROW(POSITION_TYPE, "position_embedding_type")                                                                      \
    ROW(POSITIONS, "max_position_embeddings n_positions")                                                              \
    ROW(OLD_POSITIONS, "original_max_position_embeddings")                                                             \
    ROW(IS_CAUSAL, "is_causal")                                                                                        \
    ROW(IS_DECODER, "is_decoder")                                                                                      \
    ROW(BOTH_WAYS, "use_bidirectional_attention")                                                                      \
    ROW(LAYER_TYPES, "layer_types")                                                                                    \
    ROW(LAYERS_BY_KIND, "attention_layers")                                                                            \
    ROW(KINDS_IN_TURN, "attention_types")                                                                              \
    ROW(WINDOW, "sliding_window")                                                                                      \
    ROW(WINDOW_OF_LOCAL, "window_size")                                                                                \
    ROW(WINDOW_BETWEEN, "local_attention")                                                                             \
    ROW(WINDOW_USED, "use_sliding_window")                                                                             \
    ROW(WINDOW_LAYERS, "max_window_layers")                                                                            \
    ROW(WINDOW_PATTERN, "sliding_window_pattern")                                                                      \
    ROW(GLOBAL_EVERY, "global_attn_every_n_layers")                                                                    \
    ROW(SCALAR, "query_pre_attn_scalar")                                                                               \
    ROW(MULTIPLIER, "attention_multiplier")                                                                            \
    ROW(SOFTMAX_SCALE, "attn_config.softmax_scale")                                                                    \
    ROW(SCALED, "scale_attn_weights")                                                                                  \
    ROW(SCALED_BY_LAYER, "scale_attn_by_inverse_layer_idx")                                                            \
    ROW(SOFTCAP, "attn_logit_softcapping")                                                                             \
    ROW(ALIBI, "alibi")                                                                                                \
    ROW(CLIP, "clip_qkv attn_config.clip_qkv")                                                                         \
    ROW(NORM_EPS, "rms_norm_eps layer_norm_epsilon norm_eps layer_norm_eps norm_epsilon")                              \
    ROW(QK_NORM, "use_qk_norm qk_layernorm")                                                                           \
    ROW(QK_NORM_UNKNOWN, "use_qk_norm qk_layernorm qk_norm")                                                           \
    ROW(DISTANCE, "relative_attention_max_distance")                                                                   \
    ROW(ROPE_PARAMETERS, "rope_parameters")                                                                            \
    ROW(ROPE_SCALING, "rope_scaling")                                                                                  \
    ROW(ROPE_THETA, "rope_theta")                                                                                      \
    ROW(ROPE_THETA_OF_SLIDING, "rope_local_base_freq local_rope_theta")                                                \
    ROW(ROPE_SHARE, "partial_rotary_factor rotary_pct")                                                                \
    ROW(ROPE_INTERLEAVE, "rope_interleave")                                                                            \
    ROW(ROPE_LAYERS, "no_rope_layers")                                                                                 \
    ROW(ROPE_INTERVAL, "no_rope_layer_interval")

/* Keys that change attention in a way that no setting says, and the value with which they do not: a boolean, a number,
 * a text. */
#define CONFIG_REFUSED_ROWS(ROW)                                                                                       \
    ROW(.key = "attn_config.alibi", .truth = true)                                                                     \
    ROW(.key = "attn_config.alibi_bias_max", .number = 8)                                                              \
    ROW(.key = "attn_config.attn_type", .text = "multihead_attention")                                                 \
    ROW(.key = "attn_config.prefix_lm")                                                                                \
    ROW(.key = "attn_config.qk_ln")                                                                                    \
    ROW(.key = "attn_temperature_tuning")                                                                              \
    ROW(.key = "attention_chunk_size")                                                                                 \
    ROW(.key = "backbone")                                                                                             \
    ROW(.key = "backbone_config")                                                                                      \
    ROW(.key = "mla_use_nope", .truth = true)                                                                          \
    ROW(.key = "rotary_emb_fraction", .number = 1)                                                                     \
    ROW(.key = "rotary_emb_interleaved")                                                                               \
    ROW(.key = "rotary_scaling_factor", .number = 1)                                                                   \
    ROW(.key = "use_dynamic_ntk")                                                                                      \
    ROW(.key = "use_logn_attn")
/* clang-format on */

#define CONFIG_KEY_ID(id, names) CONFIG_##id,
enum config_key { CONFIG_KEY_ROWS(CONFIG_KEY_ID) CONFIG_KEY_COUNT };
#undef CONFIG_KEY_ID

struct config_refused {
    const char *key, *text;
    bool truth;
    double number;
};
extern const struct config_refused CONFIG_REFUSED[];
extern const size_t CONFIG_REFUSED_COUNT;

/* A question to a config, on its way through the settings. */
struct config_reading {
    const struct config *config;
    const struct family_row *family;
    const struct config_module *module;
    const cJSON *section;          /* the object of the module's part, or NULL: there is no config */
    char prefix[CONFIG_KEY_BYTES]; /* its place: "text_config.", or "" */
    struct arena *arena;
    struct layer_facts *facts;
    struct error *error;
};

/* A value, and its place as messages have it. */
struct config_value {
    const cJSON *item; /* NULL: there is none, or no config */
    char key[CONFIG_KEY_BYTES];
};

/* Sets section and prefix, where config, family and module are set: the module's part of the config, or nothing where
 * options are to say everything. The error starts as none. */
void config_begin(struct config_reading *reading);

/* The names of a key. */
const char *config_names(enum config_key key);

/* The first of its names, or of these, that the section has. A value of null counts as one. */
struct config_value config_find(const struct config_reading *reading, enum config_key key);
struct config_value config_find_name(const struct config_reading *reading, const char *names);

/* The member of an object's value; the same rules. */
struct config_value config_member(const struct config_value *object, const char *key);

/* Whether there is one that is not null. */
bool config_is_set(const struct config_value *value);

/* The value, or the fallback where it is not set. Wrong: "config.json: key is text, expected a whole number". */
size_t config_whole(const struct config_reading *reading, const struct config_value *value, size_t fallback);
double config_real(const struct config_reading *reading, const struct config_value *value, double fallback);
bool config_truth(const struct config_reading *reading, const struct config_value *value, bool fallback);
const char *config_text(const struct config_reading *reading, const struct config_value *value, const char *fallback);

/* The same of a key whose place does not matter. */
double config_real_of(const struct config_reading *reading, enum config_key key, double fallback);
bool config_truth_of(const struct config_reading *reading, enum config_key key, bool fallback);

/* Whether something was wrong; a message unless something was; that a value is not as it was expected, "config.json:
 * key is an array, expected WHAT". */
bool config_failed(const struct config_reading *reading);
#define CONFIG_REFUSE(reading, ...) \
    (config_failed(reading) ? (reading)->error->status : error_usage((reading)->error, __VA_ARGS__))
void config_wrong(const struct config_reading *reading, const struct config_value *value, const char *expected);

/* Whether an option says the setting, so that the config is not asked. */
bool config_is_told(const struct config_reading *reading, const char *setting);

/* Adds a fact: from the config where the value has an item, else from the row, whose name is its key. */
void config_fact(const struct config_reading *reading, const char *setting, const struct config_value *value,
                 const char *text);
void config_fact_number(const struct config_reading *reading, const char *setting, const struct config_value *value,
                        double number);

/* The rotation: rope, rope_theta, rope_columns, rope_scaling; `slides`: whether this layer does. */
void config_rope(const struct config_reading *reading, bool slides);

/* Whether no_rope_layers, or else no_rope_layer_interval, lets the layer rotate, and the key that says so. */
bool config_listed(const struct config_reading *reading, struct config_value *value);

/* The parameters of the rotation of such a layer: an object that may stand for all layers, or for those of its kind;
 * no item where there is none. */
struct config_value config_rope_object(const struct config_reading *reading, bool slides);

/* Its kind, or of the older style its "type". */
struct config_value config_rope_type(const struct config_value *object);

#endif
