/* SPDX-License-Identifier: MIT */
/* The keys of a config that attn knows, and the warning about others. */
#include "base/text.h"
#include "layer/config_keys.h"

#include <stdio.h>
#include <string.h>

/* Keys of the families' configs that sound like attention, but change no number beyond the rows of config_keys.h. Words
 * separated by blanks. */
/* clang-format off */
static const char *const KNOWN[] = {
    /* other code asks for these */
    "_sliding_window_pattern norm_before qk_norm_eps rotary",
    /* sizes and biases, which the tensors have */
    "add_cross_attention attention_bias attention_in_bias attention_out_bias cross_attention_hidden_size "
    "global_head_dim num_global_key_value_heads pruned_heads qk_head_dim qk_nope_head_dim qk_rope_head_dim "
    "key_bias query_bias relative_attention_num_buckets use_attention_bias v_head_dim",
    /* dropout, which is off */
    "attention_dropout attention_dropout_prob attention_dropout_rate attention_probs_dropout_prob attn_dropout "
    "attn_pdrop decoder_attention_dropout head_dropout mask_feature_length mask_feature_min_masks mask_feature_prob "
    "mask_ratio mask_time_length mask_time_min_masks mask_time_prob normalize_router_prob_before_dropping pos_embed_rescale",
    /* how it is computed, not what */
    "_attn_implementation _attn_implementation_autoset _attn_implementation_internal apply_query_key_layer_scaling "
    "attention_softmax_in_fp32 attn_impl attn_implementation attn_uses_sequence_id chunk_size_feed_forward "
    "chunk_size_lm_head deterministic_flash_attn flash_attention flash_attn fused_rotary masked_softmax_fusion "
    "output_attentions reorder_and_upcast_attn scale_attention_softmax_in_fp32 use_flash_attention "
    "use_flash_attention_2 use_flash_attn use_memory_efficient_attention",
    /* which layers have attention, and what others do */
    "attn_layer_indices attn_layer_offset attn_layer_period chunk_size cross_attention_frequency "
    "cross_attention_layers full_attn_alpha_factor full_attn_beta_factor full_attn_idxs linear_attn_alpha_factor "
    "linear_attn_beta_factor linear_attn_config linear_head_dim linear_key_head_dim linear_num_heads "
    "linear_num_key_heads linear_num_value_heads linear_value_head_dim mamba_chunk_size mamba_d_head mamba_head_dim "
    "mamba_n_heads mamba_num_heads num_ln_in_parallel_attn parallel_attn",
    /* norms and scales elsewhere, or in the family's row */
    "attention_in_multiplier attention_out_multiplier index_head_dim index_n_heads lm_head_multiplier "
    "mamba_norm_before_gate mamba_rms_norm prediction_head_size route_scale scale_depth scale_emb "
    "_remove_final_layer_norm adapter_layer_norm adapter_reuse_layer_norm apply_layernorm "
    "apply_residual_connection_post_layernorm batch_norm_eps batch_norm_momentum conv_pos_batch_norm "
    "embedding_norm enable_patch_layer_norm feat_extract_norm feat_proj_layer_norm final_norm "
    "layer_norm_elementwise_affine layer_scale_init_value layerscale_value logit_scale logit_scale_init_value "
    "max_logit_scale moe_norm_min norm_bias norm_pix_loss norm_topk_prob norm_type normalize_before "
    "normalize_embedding pool_scales post_norm rescale_prenorm_residual scale_decoder_outputs scale_embedding "
    "scale_embeddings scale_factor use_batch_norm_in_fusion_residual use_normalized_answer_loss use_post_norm",
    /* embeddings, heads of tasks and other parts */
    "adapter_attn_dim attn_resolutions classifier_head head_in_index lm_head_bias mask_token mask_token_id "
    "masked_lm_weight num_query_tokens projector_patch_to_query_dict resampler_head_dim resampler_n_heads "
    "skip_unmasked_multimodal_encoder tie_lm_head tie_weights_and_head_layers use_auxiliary_head use_head "
    "use_mask_token vision_use_head",
};
/* clang-format on */

/* Parts of names of keys about attention. */
static const char *const SMELLS[] = {"attn",  "attention", "rope", "rotary", "head",   "window", "mask",
                                     "scale", "causal",    "norm", "key_",   "query_", "chunk"};

enum { SHOWN_KEYS = 8, SHOWN_BYTES = 64, WARNING_BYTES = 1024 };

/* Whether the word is one of the names, which may be NULL, or a part of one between dots. */
static bool has_name(const char *names, const char *word)
{
    const size_t length = strlen(word);
    for (size_t size; names != NULL && *names != '\0'; names += size + (names[size] != '\0')) {
        size = strcspn(names, " .");
        if (size == length && memcmp(names, word, length) == 0)
            return true;
    }
    return false;
}

/* Whether the family reads a key, attn knows that it changes nothing, or its name is not about attention. */
static bool is_known(const struct config_reading *reading, const char *key)
{
    const struct family_row *family = reading->family;
    bool known = reading->config->of_gguf && strcmp(key, "rotary_dim") == 0,
         smells = false; /* gguf_config.c reads it */
    for (enum config_key id = 0; id < CONFIG_KEY_COUNT; id++)
        known = known || (config_is_read(family, id) && has_name(config_names(id), key));
    for (size_t i = 0; i < CONFIG_REFUSED_COUNT; i++)
        known = known || has_name(CONFIG_REFUSED[i].key, key);
    const char *const own[] = {family->theta_key, family->columns_key, family->norm_key, family->key_factor,
                               family->value_factor};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        known = known || has_name(own[i], key);
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++)
        known = known || text_has_word(KNOWN[i], key);
    for (size_t i = 0; i < sizeof SMELLS / sizeof SMELLS[0]; i++)
        smells = smells || strcasestr(key, SMELLS[i]) != NULL;
    return known || !smells;
}

/* Adds to the list, of *count keys, those of an object that are unknown and have an effect. */
static void list_unknown(const struct config_reading *reading, const cJSON *object, const char *prefix, size_t *count,
                         struct text *text)
{
    for (const cJSON *item = object != NULL ? object->child : NULL; item != NULL; item = item->next)
        if (!cJSON_IsNull(item) && !is_known(reading, item->string)) {
            if (*count < SHOWN_KEYS)
                text_add(text, "%s%s%.*s", *count > 0 ? ", " : "", prefix, SHOWN_BYTES, item->string);
            (*count)++;
        }
}

enum status config_unknown(const struct config *config, const struct family_row *family,
                           const struct config_module *module, struct arena *arena, const char **warning,
                           struct error *error)
{
    struct config_reading reading = {.config = config, .family = family, .module = module, .error = error};
    char bytes[WARNING_BYTES], within[CONFIG_KEY_BYTES + 16];
    struct text text = text_begin(bytes, sizeof bytes);
    size_t count = 0;
    *warning = NULL;
    config_begin(&reading);
    if (config_failed(&reading))
        return error->status;
    snprintf(within, sizeof within, "%sattn_config.", reading.prefix);
    text_add(&text, "%s: ", config->path != NULL ? config->path : "");
    list_unknown(&reading, reading.section, reading.prefix, &count, &text);
    list_unknown(&reading, cJSON_GetObjectItemCaseSensitive(reading.section, "attn_config"), within, &count, &text);
    if (count == 0)
        return STATUS_OK;
    if (count > SHOWN_KEYS)
        text_add(&text, " and %zu more", count - SHOWN_KEYS);
    text_add(&text, " may change attention, but attn does not read %s; check the model's code",
             count == 1 ? "it" : "them");
    *warning = arena_text(arena, text.bytes, text.length, error);
    return *warning == NULL ? error->status : STATUS_OK;
}
