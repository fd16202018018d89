/* SPDX-License-Identifier: MIT */
/* What GGUF's metadata says, as a config.json would say it.
 *
 * GGUF_ROWS: architectures of llama.cpp, separated by blanks, and the model_type whose attention they have; without
 * one, the architecture is the model_type.
 *   .when     only where this key of the metadata is set and not 0, or equals .is; the first row that fits counts.
 *             Sections: the rows of query and key are in halves, whatever the model's order
 *   .permuted the converter reorders the rows of query and key: in each head the two halves alternate
 *   .norm     the kind of the norms as GGUF stores them: the converter adds the 1 of "1 + weight"
 *   .config   members of the config that this architecture implies
 *   .blocks   in a model of so many blocks the scale is 1 / sqrt(embedding / heads)
 *
 * GGUF_KEYS: a key after "ARCHITECTURE.", and the config's key, with a dot into an object. Those of GGUF_NOWHERE are in
 * the tensors, or do not matter. attn warns of other keys about attention.
 *   .idle     this number says nothing
 *   .put      puts it in another way */
#pragma once

/* clang-format off */
#define GGUF_ROWS(ROW) \
    ROW(.names = "glm4", .when = "rope.dimension_sections", .type = "glm_image_text") \
    ROW(.names = "glm4moe", .when = "rope.dimension_sections", .type = "glm4v_moe_text") \
    ROW(.names = "apertus bert bloom cohere2 dots1 ernie4_5 eurobert exaone4 glm4 gpt2 jais2 jamba lfm2 " \
                 "minicpm3 mistral4 mpt olmoe phi3 phimoe qwen2 qwen3 seed_oss stablelm starcoder2") \
    ROW(.names = "arcee granite granitemoe olmo smollm3", .permuted = true) \
    ROW(.names = "chatglm", .type = "glm") \
    ROW(.names = "command-r", .type = "cohere") \
    ROW(.names = "deepseek2", .when = "expert_gating_func", .is = 2, .type = "deepseek_v3") \
    ROW(.names = "deepseek2", .type = "deepseek_v2") \
    ROW(.names = "dream", .type = "qwen2") \
    ROW(.names = "ernie4_5-moe", .type = "ernie4_5_moe") \
    ROW(.names = "exaone", .type = "llama") \
    ROW(.names = "exaone-moe", .type = "exaone_moe") \
    ROW(.names = "falcon", .config = "{\"new_decoder_architecture\":true}") \
    ROW(.names = "gemma", .norm = "rms") \
    ROW(.names = "gemma2", .norm = "rms", .blocks = 46, .config = "{\"sliding_window\":4096}") \
    ROW(.names = "gemma3", .type = "gemma3_text", .norm = "rms", .blocks = 62) \
    ROW(.names = "gemma3n", .type = "gemma3n_text") \
    ROW(.names = "gemma-embedding", .type = "gemma3_text", .norm = "rms", .blocks = 62, \
        .config = "{\"use_bidirectional_attention\":true}") \
    ROW(.names = "glm4moe", .type = "glm4_moe") \
    ROW(.names = "gptneox", .type = "gpt_neox") \
    ROW(.names = "gpt-oss", .type = "gpt_oss", .config = "{\"rope_scaling\":{\"truncate\":false}}") \
    ROW(.names = "lfm2moe", .type = "lfm2_moe") \
    ROW(.names = "granitehybrid", .type = "granitemoehybrid", .permuted = true) \
    ROW(.names = "jina-bert-v3", .type = "jina_embeddings_v3") \
    ROW(.names = "llama4", .when = "expert_count", .is = 128, .type = "llama4_text", \
        .config = "{\"use_qk_norm\":false}") \
    ROW(.names = "llama4", .when = "expert_count", .type = "llama4_text") \
    ROW(.names = "llama", .when = "attention.sliding_window", .type = "mistral", .permuted = true) \
    ROW(.names = "llama deepseek internlm2 llada llama-embed minicpm xverse", .type = "llama", .permuted = true) \
    ROW(.names = "minimax-m2", .type = "minimax_m2") \
    ROW(.names = "mistral3", .when = "attention.temperature_scale", .type = "ministral3", .permuted = true) \
    ROW(.names = "mistral3", .type = "mistral", .permuted = true) \
    ROW(.names = "nemotron", .norm = "layer") \
    ROW(.names = "nomic-bert", .type = "nomic_bert") \
    ROW(.names = "olmo2", .when = "attention.sliding_window", .type = "olmo3") \
    ROW(.names = "olmo2") \
    ROW(.names = "phi2", .type = "phi") \
    ROW(.names = "qwen2moe", .type = "qwen2_moe") \
    ROW(.names = "qwen2vl", .type = "qwen2_vl_text") \
    ROW(.names = "qwen35", .type = "qwen3_5_text", .norm = "rms") \
    ROW(.names = "qwen35moe", .type = "qwen3_5_moe_text", .norm = "rms") \
    ROW(.names = "qwen3moe rnd1", .type = "qwen3_moe") \
    ROW(.names = "qwen3next", .type = "qwen3_next", .norm = "rms") \
    ROW(.names = "qwen3vl", .type = "qwen3_vl_text") \
    ROW(.names = "qwen3vlmoe", .type = "qwen3_vl_moe_text") \
    ROW(.names = "starcoder", .type = "gpt_bigcode", .config = "{\"new_decoder_architecture\":true}")

#define GGUF_NOWHERE \
    "attention.key_length_mla attention.kv_lora_rank attention.q_lora_rank attention.value_length_mla"

#define GGUF_KEYS(ROW) \
    ROW(.name = "block_count", .key = "num_hidden_layers") \
    ROW(.name = "context_length", .key = "max_position_embeddings") \
    ROW(.name = "attn_logit_softcapping", .key = "attn_logit_softcapping") \
    ROW(.name = "attention.causal", .key = "is_causal") \
    ROW(.name = "attention.clamp_kqv", .key = "clip_qkv") \
    ROW(.name = "attention.clamp_kqv", .key = "attn_config.clip_qkv") \
    ROW(.name = "attention.head_count", .key = "num_attention_heads") \
    ROW(.name = "attention.head_count_kv", .key = "num_key_value_heads") \
    ROW(.name = "attention.key_length", .key = "head_dim") \
    ROW(.name = "attention.layer_norm_epsilon", .key = "layer_norm_eps") \
    ROW(.name = "attention.layer_norm_rms_epsilon", .key = "rms_norm_eps") \
    ROW(.name = "attention.max_alibi_bias", .key = "attn_config.alibi_bias_max") \
    ROW(.name = "attention.scale", .key = "attention_multiplier", .put = put_scale) \
    ROW(.name = "attention.shared_kv_layers", .key = "num_kv_shared_layers") \
    ROW(.name = "attention.sliding_window", .key = "sliding_window", .idle = "0") \
    ROW(.name = "attention.sliding_window_pattern", .key = "sliding_window_pattern", .put = put_pattern) \
    ROW(.name = "attention.temperature_length", .key = "attn_temperature_tuning") \
    ROW(.name = "attention.temperature_scale", .key = "rope_scaling.llama_4_scaling_beta") \
    ROW(.name = "attention.value_length", .key = "value_length") \
    ROW(.name = "rope.dimension_count", .key = "rotary_dim", .put = put_columns) \
    ROW(.name = "rope.dimension_sections", .key = "rope_scaling.mrope_section", .put = put_sections) \
    ROW(.name = "rope.freq_base", .key = "rope_theta", .put = put_theta) \
    ROW(.name = "rope.freq_base_swa", .key = "rope_local_base_freq") \
    ROW(.name = "rope.scale_linear", .key = "rope_scaling.factor", .idle = "1") \
    ROW(.name = "rope.scaling.attn_factor", .key = "rope_scaling.attn_factor", .idle = "1") \
    ROW(.name = "rope.scaling.factor", .key = "rope_scaling.factor") \
    ROW(.name = "rope.scaling.finetuned", .key = "position_embedding_type", .put = put_finetuned) \
    ROW(.name = "rope.scaling.original_context_length", .key = "rope_scaling.original_max_position_embeddings") \
    ROW(.name = "rope.scaling.type", .key = "rope_scaling.rope_type") \
    ROW(.name = "rope.scaling.yarn_attn_factor", .key = "rope_scaling.yarn_attn_factor", .idle = "1") \
    ROW(.name = "rope.scaling.yarn_beta_fast", .key = "rope_scaling.beta_fast") \
    ROW(.name = "rope.scaling.yarn_beta_slow", .key = "rope_scaling.beta_slow") \
    ROW(.name = "rope.scaling.yarn_ext_factor", .key = "rope_scaling.yarn_ext_factor", .idle = "1") \
    ROW(.name = "rope.scaling.yarn_log_multiplier", .key = "rope_scaling.mscale_all_dim", .put = put_log_multiplier)
/* clang-format on */
