/* SPDX-License-Identifier: MIT */
/* What GGUF's metadata says, as a config.json would say it.
 *
 * GGUF_ROWS: an architecture of llama.cpp and the model_type whose attention it is, a row each.
 *   .when     only where this key of the metadata is set and not 0, or equals .is; the first row that fits counts
 *   .permuted the converter reorders the rows of query and key: in each head the two halves alternate
 *   .norm     the kind of the norms as GGUF stores them: the converter adds the 1 of "1 + weight"
 *   .config   members of the config that this architecture implies
 *   .blocks   in a model of so many blocks the scale is 1 / sqrt(embedding / heads)
 *
 * GGUF_KEYS: a key after "ARCHITECTURE." and the config's key, or NULL where the tensors say it or it does not matter.
 * Other keys about attention keep their name, so that attn warns of them. */
#ifndef ATTN_LAYER_GGUF_ROWS_H
#define ATTN_LAYER_GGUF_ROWS_H

/* clang-format off */
#define GGUF_ROWS(ROW) \
    ROW(.name = "apertus", .type = "apertus") \
    ROW(.name = "arcee", .type = "arcee", .permuted = true) \
    ROW(.name = "bloom", .type = "bloom") \
    ROW(.name = "command-r", .type = "cohere") \
    ROW(.name = "cohere2", .type = "cohere2") \
    ROW(.name = "deepseek", .type = "llama", .permuted = true) \
    ROW(.name = "deepseek2", .when = "expert_gating_func", .is = 2, .type = "deepseek_v3") \
    ROW(.name = "deepseek2", .type = "deepseek_v2") \
    ROW(.name = "dots1", .type = "dots1") \
    ROW(.name = "ernie4_5", .type = "ernie4_5") \
    ROW(.name = "ernie4_5-moe", .type = "ernie4_5_moe") \
    ROW(.name = "exaone", .type = "llama") \
    ROW(.name = "exaone4", .type = "exaone4") \
    ROW(.name = "exaone-moe", .type = "exaone_moe") \
    ROW(.name = "falcon", .type = "falcon", .config = "{\"new_decoder_architecture\":true}") \
    ROW(.name = "gemma", .type = "gemma", .norm = "rms") \
    ROW(.name = "gemma2", .type = "gemma2", .norm = "rms", .blocks = 46) \
    ROW(.name = "gemma3", .type = "gemma3_text", .norm = "rms", .blocks = 62) \
    ROW(.name = "glm4", .type = "glm4") \
    ROW(.name = "glm4moe", .type = "glm4_moe") \
    ROW(.name = "gpt2", .type = "gpt2") \
    ROW(.name = "gptneox", .type = "gpt_neox") \
    ROW(.name = "gpt-oss", .type = "gpt_oss", .config = "{\"rope_scaling\":{\"truncate\":false}}") \
    ROW(.name = "granite", .type = "granite", .permuted = true) \
    ROW(.name = "granitemoe", .type = "granitemoe", .permuted = true) \
    ROW(.name = "internlm2", .type = "llama", .permuted = true) \
    ROW(.name = "jamba", .type = "jamba") \
    ROW(.name = "lfm2", .type = "lfm2") \
    ROW(.name = "lfm2moe", .type = "lfm2_moe") \
    ROW(.name = "llama", .when = "attention.sliding_window", .type = "mistral", .permuted = true) \
    ROW(.name = "llama", .type = "llama", .permuted = true) \
    ROW(.name = "minicpm", .type = "llama", .permuted = true) \
    ROW(.name = "minimax-m2", .type = "minimax_m2") \
    ROW(.name = "mistral3", .when = "attention.temperature_scale", .type = "ministral3", .permuted = true) \
    ROW(.name = "mistral3", .type = "mistral", .permuted = true) \
    ROW(.name = "mpt", .type = "mpt") \
    ROW(.name = "nemotron", .type = "nemotron", .norm = "layer") \
    ROW(.name = "olmo", .type = "olmo", .permuted = true) \
    ROW(.name = "olmo2", .when = "attention.sliding_window", .type = "olmo3") \
    ROW(.name = "olmo2", .type = "olmo2") \
    ROW(.name = "olmoe", .type = "olmoe") \
    ROW(.name = "phi2", .type = "phi") \
    ROW(.name = "phi3", .type = "phi3") \
    ROW(.name = "phimoe", .type = "phimoe") \
    ROW(.name = "qwen2", .type = "qwen2") \
    ROW(.name = "qwen2moe", .type = "qwen2_moe") \
    ROW(.name = "qwen2vl", .type = "qwen2_vl_text") \
    ROW(.name = "qwen3", .type = "qwen3") \
    ROW(.name = "qwen3moe", .type = "qwen3_moe") \
    ROW(.name = "qwen3vl", .type = "qwen3_vl_text") \
    ROW(.name = "qwen3vlmoe", .type = "qwen3_vl_moe_text") \
    ROW(.name = "seed_oss", .type = "seed_oss") \
    ROW(.name = "smollm3", .type = "smollm3", .permuted = true) \
    ROW(.name = "stablelm", .type = "stablelm") \
    ROW(.name = "starcoder", .type = "gpt_bigcode", .config = "{\"new_decoder_architecture\":true}") \
    ROW(.name = "starcoder2", .type = "starcoder2") \
    ROW(.name = "xverse", .type = "llama", .permuted = true)

#define GGUF_KEYS(ROW) \
    ROW("context_length", "max_position_embeddings", NULL) \
    ROW("attn_logit_softcapping", "attn_logit_softcapping", NULL) \
    ROW("attention.causal", "is_causal", NULL) \
    ROW("attention.clamp_kqv", "clip_qkv", NULL) \
    ROW("attention.head_count", "num_attention_heads", NULL) \
    ROW("attention.head_count_kv", "num_key_value_heads", NULL) \
    ROW("attention.key_length", "head_dim", NULL) \
    ROW("attention.key_length_mla", NULL, NULL) \
    ROW("attention.kv_lora_rank", NULL, NULL) \
    ROW("attention.layer_norm_epsilon", "layer_norm_eps", NULL) \
    ROW("attention.layer_norm_rms_epsilon", "rms_norm_eps", NULL) \
    ROW("attention.max_alibi_bias", "alibi_bias_max", put_bias) \
    ROW("attention.q_lora_rank", NULL, NULL) \
    ROW("attention.scale", "attention_multiplier", put_scale) \
    ROW("attention.sliding_window", "sliding_window", put_unless_zero) \
    ROW("attention.sliding_window_pattern", "sliding_window_pattern", put_pattern) \
    ROW("attention.temperature_length", "attn_temperature_tuning", NULL) \
    ROW("attention.temperature_scale", "llama_4_scaling_beta", put_scaling) \
    ROW("attention.value_length", NULL, NULL) \
    ROW("attention.value_length_mla", NULL, NULL) \
    ROW("rope.dimension_count", "rotary_dim", put_columns) \
    ROW("rope.dimension_sections", "mrope_section", put_sections) \
    ROW("rope.freq_base", "rope_theta", put_theta) \
    ROW("rope.freq_base_swa", "rope_local_base_freq", NULL) \
    ROW("rope.scale_linear", "scale_linear", put_unless_one) \
    ROW("rope.scaling.attn_factor", "attn_factor", put_unless_one) \
    ROW("rope.scaling.factor", "factor", put_scaling) \
    ROW("rope.scaling.finetuned", NULL, NULL) \
    ROW("rope.scaling.original_context_length", "original_max_position_embeddings", put_scaling) \
    ROW("rope.scaling.type", "rope_type", put_scaling) \
    ROW("rope.scaling.yarn_attn_factor", "yarn_attn_factor", put_unless_one) \
    ROW("rope.scaling.yarn_ext_factor", "yarn_ext_factor", put_unless_one) \
    ROW("rope.scaling.yarn_beta_fast", "beta_fast", put_scaling) \
    ROW("rope.scaling.yarn_beta_slow", "beta_slow", put_scaling) \
    ROW("rope.scaling.yarn_log_multiplier", "mscale_all_dim", put_log_multiplier)
/* clang-format on */

#endif
