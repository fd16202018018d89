/* SPDX-License-Identifier: MIT */
/* The families of models, one row each, sorted by name: what their code in transformers does and neither tensors nor
 * config of a checkpoint show.
 *
 *     ROW(fields of struct family_row)
 *
 * A row serves every model_type whose attention its columns and their defaults reproduce in every number. A model that
 * does what no column says has no row: windows that shift, values that pass from layer to layer. */
#pragma once

/* What many rows share. */
/* clang-format off */
#define FAMILY_EACH(...) .rounding = {.rope = ROPE_ROUNDING_EACH, __VA_ARGS__}
#define FAMILY_SCORED (STAGE_BIT(STAGE_SCORES) | STAGE_BIT(STAGE_SCALED) | STAGE_BIT(STAGE_CAPPED))
#define FAMILY_BIASED(stages, ...) .rounding = {.wide_with_slopes = (stages), __VA_ARGS__}
#define FAMILY_DECODER_HALF .causal = FAMILY_CAUSAL_ALWAYS, .rope = ROPE_HALF
#define FAMILY_LLAMA FAMILY_DECODER_HALF, .norm = "rms", FAMILY_EACH(.norm_cast = true)
#define FAMILY_QWEN FAMILY_LLAMA, .sliding = FAMILY_SLIDING_FROM, .pattern = 28, .window = 4096
#define FAMILY_QWEN_GATED FAMILY_DECODER_HALF, .norm = "rms-plus-one", .norm_eps = 1e-6, .qk_norm = "rms-plus-one", \
    .share = 0.25, .gate = FAMILY_GATE_IN_QUERY, FAMILY_EACH()
#define FAMILY_QWEN_3_5 FAMILY_QWEN_GATED, .axes = "t11,h11,w10,interleaved", .heads = 16
#define FAMILY_GEMMA FAMILY_DECODER_HALF, .norm = "rms-plus-one", .norm_eps = 1e-6
#define FAMILY_GEMMA_VALUE FAMILY_DECODER_HALF, .norm = "rms", .norm_eps = 1e-6, .qk_norm = "rms", .value_norm = "rms", \
    .scale = FAMILY_SCALE_ONE, .heads = 8, .theta = 1e6, .local_theta = 10000, .sliding = FAMILY_SLIDING_BUT, \
    .pattern_fixed = true, .window = 512, FAMILY_EACH()
#define FAMILY_BERT .norm = "none", .norm_eps = 1e-12, .rounding = {.norm_cast = false}
#define FAMILY_TOWER .norm = "layer", .rounding = {.norm_cast = false}
#define FAMILY_GRID(...) .rope = ROPE_HALF, .axes = "h,w,restarted,frames-apart", .rounding = {.rope = ROPE_ROUNDING_FLOAT, __VA_ARGS__}
#define FAMILY_DINO .norm = "layer", .rope = ROPE_HALF, .theta = 100, .axes = "h,w,restarted,centred", FAMILY_EACH()
#define FAMILY_SEQUENCE .causal = FAMILY_CAUSAL_DECODER, .norm_eps = 1e-5, .eps_fixed = true
#define FAMILY_T5 .causal = FAMILY_CAUSAL_DECODER, .is_causal = FAMILY_IS_CAUSAL_REFUSED, \
    .scale = FAMILY_SCALE_ONE, .norm = "rms", .norm_eps = 1e-6, \
    .distance = 128, .rounding = {.norm_cast = true}
#define FAMILY_LATENT_OF(rotated) .causal = FAMILY_CAUSAL_ALWAYS, .norm = "rms", .qk_norm = "rms", .qk_norm_eps = 1e-6, \
    .scale = FAMILY_SCALE_MSCALE, .columns_key = "qk_rope_head_dim", .columns = (rotated), .columns_last = true, \
    .latent = true
#define FAMILY_LATENT FAMILY_LATENT_OF(64)
#define FAMILY_DEEPSEEK FAMILY_LATENT, .rope = ROPE_PAIRS_TO_HALVES, FAMILY_EACH(.norm_cast = true)
#define FAMILY_ERNIE .causal = FAMILY_CAUSAL_ALWAYS, .rope = ROPE_PAIRS, .theta = 500000, .norm = "rms", .norm_eps = 1e-5, \
    .rounding = {.rope = ROPE_ROUNDING_ONCE, .norm_cast = true}
#define FAMILY_GLM_V .causal = FAMILY_CAUSAL_ALWAYS, .rope = ROPE_PAIRS, .axes = "t8,h12,w12", .share = 1, .norm = "rms", \
    .norm_eps = 1e-5, FAMILY_EACH(.norm_cast = true)
#define FAMILY_QWEN_VL(of) FAMILY_LLAMA, .theta = (of), .axes = "t24,h20,w20,interleaved", .norm_eps = 1e-6, .qk_norm = "rms"

#define FAMILY_ROWS(ROW) \
    ROW(.name = "afmoe", .title = "AFM of experts", FAMILY_DECODER_HALF, .norm = "rms", FAMILY_EACH(), .heads = 16, .norm_eps = 1e-5, .qk_norm = "rms", \
        .gate = FAMILY_GATE_OWN, .sliding = FAMILY_SLIDING_LISTED, .window = 1024, .rotating = FAMILY_ROTATING_SLIDING) \
    ROW(.name = "aimv2_vision_model", .types = "ovis2_vision", .title = "AIMv2 and Ovis2, their pictures", .heads = 8, \
        .norm = "rms", .norm_eps = 1e-5, .rounding = {.norm_cast = true}) \
    ROW(.name = "albert", .title = "ALBERT", FAMILY_BERT, .heads = 64) \
    ROW(.name = "altclip_text_model", .title = "AltCLIP, its text", FAMILY_BERT, .heads = 16) \
    ROW(.name = "apertus", .types = "apertus1p5_text", .title = "Apertus", FAMILY_LLAMA, .heads = 32, .theta = 12e6, .norm_eps = 1e-5, \
        .qk_norm = "rms", .scaling_theta = true, .scaling = "llama3:factor=8,low=1,high=4,old=8192") \
    ROW(.name = "arcee", .title = "Arcee", FAMILY_LLAMA, .heads = 32, .norm_eps = 1e-5) \
    ROW(.name = "bamba", .title = "Bamba", FAMILY_LLAMA, .share = 0.5, .heads = 32, .kv_heads = 8, .norm_eps = 1e-5) \
    ROW(.name = "bart", .types = "blenderbot-small marian", .title = "BART, Marian", FAMILY_SEQUENCE, .norm = "none", .heads = 16) \
    ROW(.name = "bert", .types = "camembert data2vec-text dpr ernie roberta roc_bert xlm-roberta", \
        .title = "BERT, RoBERTa, CamemBERT, ERNIE, XLM-R", FAMILY_BERT, .causal = FAMILY_CAUSAL_CONFIG, .heads = 12) \
    ROW(.name = "bert-generation", .title = "BERT of generation", FAMILY_BERT, .causal = FAMILY_CAUSAL_CONFIG, \
        .heads = 16) \
    ROW(.name = "biogpt", .title = "BioGPT", .causal = FAMILY_CAUSAL_ALWAYS, .heads = 16, .norm = "layer", \
        .norm_eps = 1e-5, .eps_fixed = true) \
    ROW(.name = "blenderbot", .title = "Blenderbot", FAMILY_SEQUENCE, .norm = "layer", .heads = 32) \
    ROW(.name = "blip_2_vision_model", \
        .types = "idefics3_vision instructblip_vision_model instructblipvideo_vision_model janus_vision_model pixio " \
                 "smolvlm_vision", \
        .title = "BLIP-2, Idefics3 and others, their pictures", FAMILY_TOWER, .heads = 16, .norm_eps = 1e-6) \
    ROW(.name = "bloom", .title = "BLOOM", .causal = FAMILY_CAUSAL_ALWAYS, .heads = 8, .alibi = FAMILY_ALIBI_ALWAYS, .is_causal = FAMILY_IS_CAUSAL_REFUSED, \
        .norm = "layer", .norm_eps = 1e-5, .packing = "groups", \
        FAMILY_BIASED(FAMILY_SCORED, .places = MASK_FROM_FIRST, .places_rounded = true)) \
    ROW(.name = "clip_text_model", .types = "clipseg_text_model metaclip_2_text_model owlv2_text_model owlvit_text_model xclip_text_model", \
        .title = "CLIP, OWL-ViT, their text", .is_causal = FAMILY_IS_CAUSAL_REFUSED, FAMILY_TOWER, \
        .causal = FAMILY_CAUSAL_ALWAYS, .heads = 8, .norm_eps = 1e-5) \
    ROW(.name = "clip_vision_model", \
        .types = "altclip_vision_model blip_vision_model chinese_clip_vision_model clipseg_vision_model " \
                 "git_vision_model metaclip_2_vision_model owlv2_vision_model owlvit_vision_model", \
        .title = "CLIP, BLIP, OWL-ViT, their pictures", FAMILY_TOWER, \
        .heads = 12, .norm_eps = 1e-5) \
    ROW(.name = "cohere", .title = "Cohere Command R", .causal = FAMILY_CAUSAL_ALWAYS, .rope = ROPE_PAIRS, \
        .theta = 500000, .heads = 64, .norm = "layer", .qk_norm = "layer", \
        .normed = FAMILY_NORMED_ASKED, .norm_eps = 1e-5, .rounding = {.rope = ROPE_ROUNDING_COSINE}) \
    ROW(.name = "cohere2", .title = "Cohere Command A, R7B", .causal = FAMILY_CAUSAL_ALWAYS, .rope = ROPE_PAIRS, \
        .heads = 64, .norm = "layer", .norm_eps = 1e-5, .sliding = FAMILY_SLIDING_BUT, .pattern = 4, .window = 4096, \
        .rotating = FAMILY_ROTATING_SLIDING, .rounding = {.rope = ROPE_ROUNDING_COSINE}) \
    ROW(.name = "cohere2_moe", .title = "Cohere Command A of experts", .causal = FAMILY_CAUSAL_ALWAYS, \
        .rope = ROPE_PAIRS, .heads = 64, .norm = "layer", .norm_eps = 1e-5, .sliding = FAMILY_SLIDING_LISTED, \
        .window = 4096, .rotating = FAMILY_ROTATING_PREFIX, .rounding = {.rope = ROPE_ROUNDING_COSINE}) \
    ROW(.name = "cosmos3_edge_text", .title = "Cosmos 3 Edge, its text", FAMILY_LLAMA, .heads = 16, .kv_heads = 8, \
        .theta = 1e8, .axes = "t24,h20,w20,interleaved", .norm_eps = 1e-5) \
    ROW(.name = "csm_depth_decoder_model", .title = "CSM, its depth decoder", FAMILY_LLAMA, .heads = 8, .kv_heads = 2, \
        .theta = 500000, .norm_eps = 1e-5) \
    ROW(.name = "ctrl", .title = "CTRL", .causal = FAMILY_CAUSAL_ALWAYS, .heads = 16, .norm = "layer", \
        .norm_eps = 1e-6, .eps_fixed = true) \
    ROW(.name = "cwm", .title = "CWM", FAMILY_LLAMA, .heads = 48, .kv_heads = 8, .theta = 1e6, .norm_eps = 1e-5, \
        .sliding = FAMILY_SLIDING_LISTED, .window = 8192, .scaling_theta = true, .scaling = "llama3:factor=16,low=1,high=4,old=8192") \
    ROW(.name = "deepseek_v2", .title = "DeepSeek V2", FAMILY_LATENT, .heads = 32, .norm_eps = 1e-6, \
        .rope = ROPE_PAIRS, .rounding = {.rope = ROPE_ROUNDING_ONCE, .norm_cast = true}) \
    ROW(.name = "deepseek_v3", .types = "kimi_k2", .title = "DeepSeek V3 and R1", FAMILY_DEEPSEEK, .heads = 128, .norm_eps = 1e-6) \
    ROW(.name = "deepseek_v32", .title = "DeepSeek V3.2", FAMILY_DEEPSEEK, .heads = 128, .norm_eps = 1e-6, \
        .indexer = ROPE_HALF) \
    ROW(.name = "dinov3_vit", .title = "DINOv3", FAMILY_DINO, .prefix = 1, .heads = 6, .norm_eps = 1e-5) \
    ROW(.name = "dots1", .title = "dots.llm1", FAMILY_LLAMA, .heads = 32, .norm_eps = 1e-6, .qk_norm = "rms", \
        .sliding = FAMILY_SLIDING_AFTER, .pattern = 62, .window = 4096) \
    ROW(.name = "electra", .title = "ELECTRA", FAMILY_BERT, .causal = FAMILY_CAUSAL_CONFIG, .heads = 4) \
    ROW(.name = "emu3_text_model", .title = "Emu3, its text", FAMILY_LLAMA, .heads = 32, .kv_heads = 8, \
        .theta = 1e6, .norm_eps = 1e-5) \
    ROW(.name = "eomt_dinov3", .title = "EoMT DINOv3", FAMILY_DINO, .prefix = 5, .heads = 16, .norm_eps = 1e-6) \
    ROW(.name = "ernie4_5", .title = "ERNIE 4.5", FAMILY_ERNIE, .heads = 16, .kv_heads = 2) \
    ROW(.name = "ernie4_5_moe", .title = "ERNIE 4.5 of experts", FAMILY_ERNIE, .heads = 20, .kv_heads = 4) \
    ROW(.name = "ernie4_5_vl_moe_vision", .title = "ERNIE 4.5 VL, its pictures", FAMILY_GRID(), .heads = 16, \
        .norm = "layer", .norm_eps = 1e-6, .merge = 2) \
    ROW(.name = "esm", .title = "ESM-2 and ESM-1b", .causal = FAMILY_CAUSAL_CONFIG, .rope = ROPE_HALF, \
        .rotating = FAMILY_ROTATING_ROTARY, .scale_on_query = true, .heads = 12, .norm = "layer", .norm_eps = 1e-12, \
        FAMILY_EACH()) \
    ROW(.name = "eurobert", .title = "EuroBERT", .rope = ROPE_HALF, .norm = "rms", .heads = 12, .norm_eps = 1e-5, \
        FAMILY_EACH(.norm_cast = true)) \
    ROW(.name = "exaone", .types = "csm evolla", .title = "EXAONE 3.5, CSM, Evolla", FAMILY_LLAMA, .heads = 32, \
        .kv_heads = 8, .theta = 500000, .norm_eps = 1e-5) \
    ROW(.name = "exaone4", .title = "EXAONE 4", FAMILY_DECODER_HALF, .norm = "none", \
        .qk_norm = "rms", .heads = 32, .norm_eps = 1e-5, .sliding = FAMILY_SLIDING_BUT, .pattern = 4, .window = 4096, \
        .rotating = FAMILY_ROTATING_IF_ANY, FAMILY_EACH(.norm_cast = true)) \
    ROW(.name = "exaone_moe", .title = "K-EXAONE", FAMILY_LLAMA, .qk_norm = "rms", .heads = 32, .norm_eps = 1e-5, \
        .sliding = FAMILY_SLIDING_BUT, .pattern = 4, .window = 4096, .rotating = FAMILY_ROTATING_IF_ANY) \
    ROW(.name = "falcon", .title = "Falcon", FAMILY_DECODER_HALF, .heads = 71, .multi_query = true, .alibi = FAMILY_ALIBI_KEY, \
        .norm = "layer", .norm_eps = 1e-5, .packing = "groups", \
        FAMILY_EACH(.product_first = true, .wide_with_slopes = FAMILY_SCORED | STAGE_BIT(STAGE_MASKED), \
                    .sum_last = true)) \
    ROW(.name = "falcon_h1", .title = "Falcon H1", FAMILY_DECODER_HALF, FAMILY_EACH(.norm_cast = true), .heads = 32, .kv_heads = 8, .norm_eps = 1e-5, \
        .key_factor = "key_multiplier") \
    ROW(.name = "flex_olmo", .title = "FlexOlmo", FAMILY_DECODER_HALF, .heads = 32, .theta = 500000, .norm = "none", \
        .qk_norm = "rms", .norm_eps = 1e-6, .rounding = {.rope = ROPE_ROUNDING_ONCE}) \
    ROW(.name = "flint", .title = "Flint", FAMILY_DECODER_HALF, .norm = "rms", FAMILY_EACH(), .heads = 32, .kv_heads = 4, .norm_eps = 1e-6, .qk_norm = "rms", \
        .sliding = FAMILY_SLIDING_LISTED, .window = 513, .rotating = FAMILY_ROTATING_SLIDING) \
    ROW(.name = "gemma", .title = "Gemma", FAMILY_GEMMA, .heads = 16, .kv_heads = 16, FAMILY_EACH()) \
    ROW(.name = "gemma2", .types = "vaultgemma", .title = "Gemma 2", FAMILY_GEMMA, .heads = 8, .kv_heads = 4, \
        .scale = FAMILY_SCALE_SCALAR, .scalar = 256, .softcap = 50, .sliding = FAMILY_SLIDING_BUT, .pattern_fixed = true, .pattern = 2, \
        .window = 4096, FAMILY_EACH(.softcap_each = true)) \
    ROW(.name = "gemma3_text", .title = "Gemma 3", FAMILY_GEMMA, .heads = 8, .kv_heads = 4, .qk_norm = "rms-plus-one", \
        .scale = FAMILY_SCALE_SCALAR, .scalar = 256, .sliding = FAMILY_SLIDING_BUT, .pattern = 6, .window = 4096, \
        .theta = 1e6, .local_theta = 10000, .both_ways = true, .images = "gemma3 shieldgemma2", FAMILY_EACH()) \
    ROW(.name = "gemma3n_text", .title = "Gemma 3n, its text", FAMILY_GEMMA_VALUE, .pattern = 5, .kv_heads = 2) \
    ROW(.name = "gemma4_text", .types = "gemma4_unified_text", .title = "Gemma 4, its text", FAMILY_GEMMA_VALUE, \
        .pattern = 6, .kv_by_tensors = true, .kinds_only = true, .last_full = true, .scaling = "proportional:share=0.25") \
    ROW(.name = "glm", .types = "glm4", .title = "GLM-4", .causal = FAMILY_CAUSAL_ALWAYS, .rope = ROPE_PAIRS, \
        .share = 0.5, .heads = 32, .kv_heads = 2, .norm = "rms", .norm_eps = 1.5625e-7, FAMILY_EACH(.norm_cast = true)) \
    ROW(.name = "glm4_moe", .title = "GLM-4.5 and 4.6", FAMILY_LLAMA, .share = 0.5, .heads = 96, .kv_heads = 8, \
        .norm_eps = 1e-5, .qk_norm = "rms", .normed = FAMILY_NORMED_ASKED) \
    ROW(.name = "glm4_moe_lite", .title = "GLM-4.7 Flash", FAMILY_DEEPSEEK, .heads = 20, .norm_eps = 1e-5) \
    ROW(.name = "glm4v_moe_text", .title = "GLM-4.5V, its text", FAMILY_LLAMA, .axes = "t8,h12,w12", .share = 0.5, \
        .heads = 96, .kv_heads = 8, .norm_eps = 1e-5) \
    ROW(.name = "glm4v_text", .title = "GLM-4.1V, its text", FAMILY_GLM_V, .heads = 32, .kv_heads = 2) \
    ROW(.name = "glm4v_vision", .types = "glm4v_moe_vision", .title = "GLM-4V, its pictures", .heads = 12, .norm = "rms", \
        .norm_eps = 1e-5, FAMILY_GRID(.norm_cast = true), .merge = 2) \
    ROW(.name = "glm_image_text", .title = "GLM-Image, its text", FAMILY_LLAMA, .axes = "t8,h12,w12", .share = 1, \
        .heads = 32, .kv_heads = 2, .norm_eps = 1e-5) \
    ROW(.name = "glm_moe_dsa", .title = "GLM-5", FAMILY_DEEPSEEK, .heads = 64, .norm_eps = 1e-5, \
        .indexer = ROPE_PAIRS_TO_HALVES) \
    ROW(.name = "glm_ocr_text", .title = "GLM-OCR, its text", FAMILY_GLM_V, .heads = 16, .kv_heads = 8) \
    ROW(.name = "gpt2", .title = "GPT-2", .causal = FAMILY_CAUSAL_ALWAYS, .heads = 12, .scale = FAMILY_SCALE_FLAGS, \
        .norm = "layer", .norm_eps = 1e-5, .packing = "blocks") \
    ROW(.name = "gpt_bigcode", .title = "StarCoder, SantaCoder", .causal = FAMILY_CAUSAL_ALWAYS, .heads = 12, \
        .multi_query = true, .scale = FAMILY_SCALE_FLAG, .norm = "layer", .norm_eps = 1e-5, .packing = "groups") \
    ROW(.name = "gpt_neo", .title = "GPT-Neo", .is_causal = FAMILY_IS_CAUSAL_IGNORED, \
        .causal = FAMILY_CAUSAL_ALWAYS, .heads = 16, \
        .scale = FAMILY_SCALE_ONE, .norm = "layer", .norm_eps = 1e-5, .sliding = FAMILY_SLIDING_LOCAL, .window = 256, \
        .rounding = {.wide = FAMILY_SCORED | STAGE_BIT(STAGE_MASKED)}) \
    ROW(.name = "gpt_neox", .title = "GPT-NeoX, Pythia", FAMILY_DECODER_HALF, .share = 0.25, .heads = 64, \
        .theta_key = "rotary_emb_base", .norm = "layer", .norm_eps = 1e-5, .packing = "groups", FAMILY_EACH()) \
    ROW(.name = "gpt_oss", .title = "gpt-oss", FAMILY_DECODER_HALF, .heads = 64, .kv_heads = 8, .theta = 150000, \
        .norm = "rms", .norm_eps = 1e-5, .sliding = FAMILY_SLIDING_BUT, .pattern_fixed = true, .pattern = 2, .window = 128, \
        .scaling = "yarn:factor=32,fast=32,slow=1,old=4096,truncate=no", FAMILY_EACH(.softmax_each = true)) \
    ROW(.name = "gptj", .title = "GPT-J", .causal = FAMILY_CAUSAL_ALWAYS, .rope = ROPE_PAIRS, .heads = 16, \
        .columns_key = "rotary_dim", .columns = 64, .norm = "layer", .norm_eps = 1e-5, \
        FAMILY_EACH(.wide = FAMILY_SCORED | STAGE_BIT(STAGE_MASKED))) \
    ROW(.name = "granite", .types = "granite4_vision_text granitemoe granitemoeshared", .title = "Granite", FAMILY_LLAMA, \
        .scale = FAMILY_SCALE_MULTIPLIER, .heads = 32, .norm_eps = 1e-6) \
    ROW(.name = "granite_docling_text", .title = "Granite Docling, its text", FAMILY_LLAMA, \
        .scale = FAMILY_SCALE_MULTIPLIER, .heads = 16, .kv_heads = 4, .norm_eps = 1e-5) \
    ROW(.name = "granitemoehybrid", .title = "Granite 4, layers of full attention", FAMILY_LLAMA, \
        .scale = FAMILY_SCALE_MULTIPLIER, .heads = 32, .norm_eps = 1e-6, .rotating = FAMILY_ROTATING_ASKED) \
    ROW(.name = "gte", .title = "GTE", .rope = ROPE_HALF, .norm = "none", .heads = 12, .theta = 160000, \
        .norm_eps = 1e-12, FAMILY_EACH()) \
    ROW(.name = "helium", .title = "Helium", .causal = FAMILY_CAUSAL_ALWAYS, .rope = ROPE_PAIRS, .heads = 20, \
        .kv_heads = 20, .theta = 100000, .norm = "rms", .norm_eps = 1e-8, FAMILY_EACH()) \
    ROW(.name = "higgs_audio_v2", .title = "Higgs Audio 2", FAMILY_LLAMA, .heads = 24, .kv_heads = 8, .theta = 500000, \
        .norm_eps = 1e-5, .theta_unless = "rope_parameters rope_scaling", .scaling_theta = true, .scaling = "llama3:factor=32,low=0.125,high=0.5,old=1024") \
    ROW(.name = "hunyuan_v1_dense", .types = "hunyuan_v1_moe", .title = "Hunyuan 1", FAMILY_DECODER_HALF, .heads = 32, \
        .norm = "rms", .norm_eps = 1e-5, .qk_norm = "rms", .theta_alpha = true, \
        FAMILY_EACH(.norm_cast = true, .norm_last = true)) \
    ROW(.name = "hunyuan_vl_vision", .title = "Hunyuan VL, its pictures", FAMILY_TOWER, .heads = 16, .norm_eps = 1e-5) \
    ROW(.name = "hy_v3", .title = "Hunyuan 3", FAMILY_LLAMA, .heads = 64, .kv_heads = 8, .theta = 11158840, \
        .norm_eps = 1e-5, .qk_norm = "rms") \
    ROW(.name = "hyperclovax", .title = "HyperCLOVA X", FAMILY_LLAMA, .scale = FAMILY_SCALE_MULTIPLIER_OR_ROOT, \
        .heads = 32, .norm_eps = 1e-6) \
    ROW(.name = "imagegpt", .title = "ImageGPT", .is_causal = FAMILY_IS_CAUSAL_IGNORED, \
        .causal = FAMILY_CAUSAL_ALWAYS, .heads = 8, \
        .scale = FAMILY_SCALE_FLAGS, .norm_eps = 1e-5, .packing = "blocks") \
    ROW(.name = "internlm3", .title = "InternLM3", .is_causal = FAMILY_IS_CAUSAL_REFUSED, \
        FAMILY_LLAMA, .heads = 32, .kv_heads = 2, .norm_eps = 1e-5) \
    ROW(.name = "internvl_vision", .title = "InternVL, its pictures", .heads = 16, .norm_eps = 1e-6, \
        .qk_norm = "rms", .normed = FAMILY_NORMED_ASKED, .qk_norm_eps = 1e-6, .rounding = {.norm_cast = true}) \
    ROW(.name = "iquestcoder", .title = "IQuest-Coder", .is_causal = FAMILY_IS_CAUSAL_REFUSED, \
        FAMILY_LLAMA, .heads = 40, .kv_heads = 8, .norm_eps = 1e-5) \
    ROW(.name = "jais2", .title = "Jais 2", FAMILY_DECODER_HALF, .heads = 26, .norm = "layer", .norm_eps = 1e-5, \
        FAMILY_EACH()) \
    ROW(.name = "jamba", .title = "Jamba", .causal = FAMILY_CAUSAL_ALWAYS, .heads = 32, .kv_heads = 8, .norm = "rms", \
        .norm_eps = 1e-6, .rounding = {.norm_cast = true}) \
    ROW(.name = "jina_embeddings_v3", .title = "Jina embeddings 3", .rope = ROPE_HALF, .norm = "none", .heads = 16, \
        .theta = 20000, .norm_eps = 1e-5, FAMILY_EACH()) \
    ROW(.name = "kimi_k25_vision", .title = "Kimi K2.5, its pictures", .heads = 16, .norm = "layer", .norm_eps = 1e-5, .eps_fixed = true, \
        .rope = ROPE_HALF, .axes = "w,h,restarted,interleaved,frames-joint", .rounding = {.rope = ROPE_ROUNDING_FLOAT}) \
    ROW(.name = "kimi_linear", .title = "Kimi Linear, layers without a state", .causal = FAMILY_CAUSAL_ALWAYS, \
        .heads = 32, .latent = true, .norm = "rms", .norm_eps = 1e-5, .qk_norm = "rms", .qk_norm_eps = 1e-6, \
        .rounding = {.norm_cast = true}) \
    ROW(.name = "kolibri1", .title = "Kolibri", FAMILY_DECODER_HALF, .norm = "none", .qk_norm = "rms", .heads = 48, \
        .kv_heads = 4, .norm_eps = 1e-6, .sliding = FAMILY_SLIDING_BUT, .pattern_fixed = true, .pattern = 5, .window = 513, \
        .rotating = FAMILY_ROTATING_IF_ANY, FAMILY_EACH(.norm_cast = true)) \
    ROW(.name = "lara_mini", .title = "Lara Mini, layers with a softmax", FAMILY_DECODER_HALF, .norm = "rms", FAMILY_EACH(), .heads = 16, .kv_heads = 4, \
        .norm_eps = 1e-6, .qk_norm = "rms", .sliding = FAMILY_SLIDING_LISTED, .window = 512, \
        .rotating = FAMILY_ROTATING_SLIDING) \
    ROW(.name = "layoutlm", \
        .types = "align_text_model blip_2_qformer chinese_clip_text_model clap_text_model distilbert " \
                 "instructblip_qformer instructblipvideo_qformer markuplm splinter tapas visual_bert", \
        .title = "DistilBERT, LayoutLM, TAPAS and others", \
        FAMILY_BERT, .heads = 12) \
    ROW(.name = "lfm2", .types = "lfm2_moe", .title = "LFM2", FAMILY_LLAMA, .heads = 32, .kv_heads = 8, .theta = 1e6, \
        .norm_eps = 1e-5, .qk_norm = "rms") \
    ROW(.name = "llama", .types = "aria_text", .title = "Llama 2 and 3", FAMILY_LLAMA, .heads = 32, .norm_eps = 1e-6) \
    ROW(.name = "llama4_text", .title = "Llama 4, its text", .causal = FAMILY_CAUSAL_ALWAYS, .rope = ROPE_PAIRS, \
        .heads = 40, .kv_heads = 8, .theta = 500000, .norm = "rms", .norm_eps = 1e-5, .rotating = FAMILY_ROTATING_LISTED, \
        .qk_norm = "rms", .normed = FAMILY_NORMED_ROTATED, .bare_norm = true, .growth = FAMILY_GROWTH_FLOOR, \
        .sliding = FAMILY_SLIDING_CHUNKS, .rounding = {.rope = ROPE_ROUNDING_FLOAT, .norm_cast = true, .norm_last = true}) \
    ROW(.name = "llama4_vision_model", .title = "Llama 4, its pictures", .heads = 16, .norm = "layer", .norm_eps = 1e-5, .eps_fixed = true, \
        .rope = ROPE_PAIRS, .axes = "w,h,restarted,from=1,rest-last=1", .rounding = {.rope = ROPE_ROUNDING_FLOAT}) \
    ROW(.name = "m2m_100", .types = "bigbird_pegasus mbart nllb-moe pegasus seamless_m4t seamless_m4t_v2", .title = "M2M-100, NLLB, mBART, Pegasus", FAMILY_SEQUENCE, \
        .norm = "layer", .heads = 16) \
    ROW(.name = "megatron-bert", .title = "Megatron-BERT", .causal = FAMILY_CAUSAL_CONFIG, .norm = "layer", .heads = 16, \
        .norm_eps = 1e-12) \
    ROW(.name = "mellum", .title = "Mellum", FAMILY_LLAMA, .heads = 32, .kv_heads = 4, .theta = 500000, \
        .local_theta = 10000, .kinds_only = true, .norm_eps = 1e-6, .qk_norm = "rms", \
        .sliding = FAMILY_SLIDING_BUT, .pattern_fixed = true, .pattern = 1, .window = 1024) \
    ROW(.name = "meta", .title = "Llama and Mistral in their own form", .causal = FAMILY_CAUSAL_ALWAYS, \
        .rope = ROPE_PAIRS, .heads = 32, .theta_unless = "head_dim", .scaling = "llama3:factor=8,low=1,high=4,old=8192", \
        .scaling_asked = true, .heads_fill_width = true, .sliding = FAMILY_SLIDING_ALL, .norm = "rms", \
        .norm_eps = 1e-5, .rounding = {.rope = ROPE_ROUNDING_ONCE, .norm_cast = true}) \
    ROW(.name = "mimo_v2_flash", .title = "MiMo V2 Flash", FAMILY_LLAMA, .heads = 64, .kv_heads = 4, .theta = 5e6, \
        .local_theta = 10000, .share = 0.334, .kinds_only = true, .norm_eps = 1e-5, .sliding = FAMILY_SLIDING_BUT, \
        .pattern_fixed = true, .pattern = 6, .first_full = true, .window = 129, .window_past = true, .kv_by_tensors = true, .value_factor = "attention_value_scale") \
    ROW(.name = "minicpm3", .title = "MiniCPM3", FAMILY_LATENT_OF(32), .heads = 40, .norm_eps = 1e-5, .rope = ROPE_HALF, \
        FAMILY_EACH(.norm_cast = true)) \
    ROW(.name = "minimax_m2", .title = "MiniMax M2", FAMILY_LLAMA, .share = 1, .heads = 48, .kv_heads = 8, \
        .theta = 5e6, .columns_key = "rotary_dim", .norm_eps = 1e-6, .qk_norm = "rms") \
    ROW(.name = "minimax_m3_vl_text", .title = "MiniMax M3, layers of full attention", FAMILY_DECODER_HALF, .share = 1, \
        .heads = 64, .kv_heads = 4, .theta = 5e6, .norm = "rms-plus-one", .norm_eps = 1e-6, .qk_norm = "rms-plus-one", \
        FAMILY_EACH()) \
    ROW(.name = "minimax_m3_vl_vision", .title = "MiniMax M3, its pictures", .heads = 16, .norm = "layer", \
        .norm_eps = 1e-5, .rope = ROPE_HALF, .axes = "t,h,w,restarted", .merge = 2, FAMILY_EACH()) \
    ROW(.name = "ministral", .title = "Ministral", FAMILY_LLAMA, .heads = 32, .kv_heads = 8, .norm_eps = 1e-6, \
        .sliding = FAMILY_SLIDING_BUT, .pattern_fixed = true, .window = 4096) \
    ROW(.name = "ministral3", .title = "Ministral 3", FAMILY_DECODER_HALF, .heads = 32, .kv_heads = 8, .theta = 1e6, \
        .norm = "rms", .norm_eps = 1e-5, .sliding = FAMILY_SLIDING_ALL, .growth = FAMILY_GROWTH_BETA, \
        FAMILY_EACH(.norm_cast = true, .growth = true)) \
    ROW(.name = "mistral", .title = "Mistral, Nemo", FAMILY_LLAMA, .heads = 32, .kv_heads = 8, .norm_eps = 1e-6, \
        .sliding = FAMILY_SLIDING_ALL, .window = 4096) \
    ROW(.name = "mistral4", .title = "Mistral 4", FAMILY_LATENT, .heads = 32, .norm_eps = 1e-6, \
        .growth = FAMILY_GROWTH_BETA, .rope = ROPE_PAIRS_TO_HALVES, FAMILY_EACH(.norm_cast = true, .growth = true)) \
    ROW(.name = "mixtral", .types = "minimax", .title = "Mixtral; MiniMax, layers of full attention", FAMILY_LLAMA, \
        .heads = 32, .kv_heads = 8, .theta = 1e6, .norm_eps = 1e-5, .sliding = FAMILY_SLIDING_ALL) \
    ROW(.name = "mllama_text_model", .title = "Llama 3.2 with pictures, its text", FAMILY_LLAMA, .heads = 32, \
        .kv_heads = 8, .theta = 500000, .norm_eps = 1e-5, .qk_norm = "rms", .normed = FAMILY_NORMED_CROSS) \
    ROW(.name = "modernbert", .title = "ModernBERT", .rope = ROPE_HALF, .heads = 12, .theta = 160000, \
        .local_theta = 10000, .local_scaling = true, .theta_key = "global_rope_theta", \
        .sliding = FAMILY_SLIDING_BETWEEN, .pattern = 3, .window = 128, .norm = "layer", .norm_eps = 1e-5, \
        .first_without_norm = true, .rounding = {.rope = ROPE_ROUNDING_COSINE}) \
    ROW(.name = "modernbert-decoder", .title = "ModernBERT, a decoder", FAMILY_DECODER_HALF, .heads = 12, \
        .theta = 160000, .local_theta = 10000, .local_scaling = true, .theta_key = "global_rope_theta", \
        .sliding = FAMILY_SLIDING_LISTED, .window = 64, .norm = "layer", .norm_eps = 1e-5, \
        .first_without_norm = true, .rounding = {.rope = ROPE_ROUNDING_COSINE}) \
    ROW(.name = "mpnet", .title = "MPNet", FAMILY_BERT, .heads = 12, .distance = 128, .buckets = 32) \
    ROW(.name = "mpt", .title = "MPT", .causal = FAMILY_CAUSAL_ALWAYS, .heads = 16, .scale = FAMILY_SCALE_SOFTMAX, \
        .clip = true, .alibi = FAMILY_ALIBI_ALWAYS, .norm = "layer", .norm_eps = 1e-5, .packing = "blocks", \
        FAMILY_BIASED(STAGE_BIT(STAGE_MASKED), .places = MASK_FROM_LAST)) \
    ROW(.name = "mt5", .types = "umt5", .title = "mT5, UMT5", FAMILY_T5, .heads = 6) \
    ROW(.name = "nemotron", .title = "Nemotron, Minitron", FAMILY_DECODER_HALF, .share = 0.5, .heads = 48, \
        .norm_eps = 1e-5, FAMILY_EACH()) \
    ROW(.name = "nemotron_h", .title = "Nemotron-H", .causal = FAMILY_CAUSAL_ALWAYS, .heads = 32, .kv_heads = 8, \
        .norm = "rms", .norm_eps = 1e-5) \
    ROW(.name = "nomic_bert", .title = "Nomic BERT", .rope = ROPE_HALF, .norm = "none", .heads = 12, .theta = 1000, \
        .norm_eps = 1e-12, FAMILY_EACH()) \
    ROW(.name = "none", .title = "no family", .by_hand = true) \
    ROW(.name = "olmo", .title = "OLMo", FAMILY_DECODER_HALF, .heads = 32, .clip = true, .norm_eps = 1e-5, \
        .rounding = {.rope = ROPE_ROUNDING_ONCE}) \
    ROW(.name = "olmo2", .title = "OLMo 2", FAMILY_DECODER_HALF, .heads = 32, .norm = "none", .qk_norm = "rms", \
        .norm_eps = 1e-5, .rounding = {.rope = ROPE_ROUNDING_ONCE}) \
    ROW(.name = "olmo3", .title = "OLMo 3", FAMILY_DECODER_HALF, .heads = 32, .theta = 500000, .local_theta = 500000, \
        .norm = "none", .qk_norm = "rms", .norm_eps = 1e-5, .sliding = FAMILY_SLIDING_BUT, .pattern_fixed = true, .pattern = 4, \
        .window = 4096, .rounding = {.rope = ROPE_ROUNDING_ONCE}) \
    ROW(.name = "olmo_hybrid", .title = "OLMo Hybrid, layers of full attention", FAMILY_DECODER_HALF, .heads = 30, \
        .norm = "none", .qk_norm = "rms", .norm_eps = 1e-6, .rotating = FAMILY_ROTATING_TOLD, \
        .rounding = {.rope = ROPE_ROUNDING_ONCE}) \
    ROW(.name = "olmoe", .title = "OLMoE", FAMILY_LLAMA, .heads = 16, .norm_eps = 1e-5, .qk_norm = "rms") \
    ROW(.name = "openai-gpt", .title = "GPT-1", .is_causal = FAMILY_IS_CAUSAL_IGNORED, \
        .causal = FAMILY_CAUSAL_ALWAYS, .heads = 12, .norm = "none", \
        .norm_eps = 1e-5, .packing = "blocks") \
    ROW(.name = "opt", .title = "OPT", .causal = FAMILY_CAUSAL_ALWAYS, .heads = 12, .scale_on_query = true, \
        .norm = "layer", .norm_key = "do_layer_norm_before", .norm_before = true, .norm_eps = 1e-5, .eps_fixed = true) \
    ROW(.name = "paddleocr_vl_text", .title = "PaddleOCR VL, its text", FAMILY_LLAMA, .axes = "t16,h24,w24", \
        .heads = 16, .kv_heads = 2, .theta = 500000, .norm_eps = 1e-5) \
    ROW(.name = "paddleocr_vl_vision", .title = "PaddleOCR VL, its pictures", FAMILY_GRID(), .heads = 16, .norm = "layer", .norm_eps = 1e-6) \
    ROW(.name = "persimmon", .title = "Persimmon", FAMILY_DECODER_HALF, .share = 0.5, .heads = 64, .norm = "layer", \
        .qk_norm = "layer", .normed = FAMILY_NORMED_UNLESS, .norm_eps = 1e-5, .packing = "groups", FAMILY_EACH()) \
    ROW(.name = "phi", .title = "Phi-1 and 2", FAMILY_DECODER_HALF, .share = 0.5, .heads = 32, .norm = "layer", \
        .qk_norm = "layer", .normed = FAMILY_NORMED_ASKED, .norm_eps = 1e-5, FAMILY_EACH()) \
    ROW(.name = "phi3", .title = "Phi-3 and Phi-4", FAMILY_LLAMA, .share = 1, .heads = 32, .norm_eps = 1e-5, \
        .sliding = FAMILY_SLIDING_ALL, .long_factors = true, .packing = "blocks") \
    ROW(.name = "phi4_multimodal", .title = "Phi-4 with pictures", FAMILY_LLAMA, .share = 1, .heads = 32, \
        .kv_heads = 8, .norm_eps = 1e-5, .sliding = FAMILY_SLIDING_ALL, .long_factors = true, .packing = "blocks") \
    ROW(.name = "phimoe", .title = "Phi-3.5 of experts", FAMILY_DECODER_HALF, .heads = 32, .kv_heads = 8, \
        .theta = 1e6, .mscales = true, .norm = "layer", .norm_eps = 1e-5, .sliding = FAMILY_SLIDING_ALL, FAMILY_EACH()) \
    ROW(.name = "pixtral", .title = "Pixtral, its pictures", .heads = 16, .norm = "rms", .norm_eps = 1e-5, \
        .eps_fixed = true, .rope = ROPE_HALF, .axes = "h,w,strided", FAMILY_EACH(.norm_cast = true)) \
    ROW(.name = "plbart", .title = "PLBART", FAMILY_SEQUENCE, .norm = "none", .heads = 12) \
    ROW(.name = "pocket_tts", .title = "Pocket TTS", FAMILY_DECODER_HALF, .heads = 16, .norm = "layer", \
        .norm_eps = 1e-5, FAMILY_EACH()) \
    ROW(.name = "qwen2", .title = "Qwen2 and Qwen2.5", FAMILY_QWEN, .heads = 32, .kv_heads = 32, .norm_eps = 1e-6) \
    ROW(.name = "qwen2_5_omni_text", .types = "qwen2_5_omni_talker", .title = "Qwen2.5-Omni, its text", FAMILY_QWEN, \
        .axes = "t16,h24,w24", .theta = 1e6, .heads = 28, .kv_heads = 4, .norm_eps = 1e-6) \
    ROW(.name = "qwen2_5_vl_vision", .types = "qwen2_5_omni_vision_encoder", .title = "Qwen2.5-VL, its pictures", .heads = 16, \
        .norm = "rms", .norm_eps = 1e-6, .eps_fixed = true, FAMILY_GRID(.norm_cast = true), .merge = 2, .windows = true) \
    ROW(.name = "qwen2_audio_encoder", .types = "moss_transcribe_diarize_audio voxtral_encoder", \
        .title = "Qwen2-Audio, Voxtral, their sound", .heads = 20, .norm = "layer", .norm_eps = 1e-5, .eps_fixed = true, \
        .scale_on_query = true) \
    ROW(.name = "qwen2_moe", .title = "Qwen2 of experts", FAMILY_LLAMA, .heads = 16, .kv_heads = 16, \
        .norm_eps = 1e-6, .sliding = FAMILY_SLIDING_UNTIL, .pattern = 28, .window = 4096) \
    ROW(.name = "qwen2_vl_text", .types = "qwen2_5_vl qwen2_5_vl_text qwen2_vl", .title = "Qwen2-VL and 2.5-VL, their text", \
        FAMILY_LLAMA, .axes = "t16,h24,w24", .theta = 1e6, .heads = 64, .kv_heads = 8, .norm_eps = 1e-5, \
        .sliding = FAMILY_SLIDING_FROM, .pattern = 80, .window = 4096) \
    ROW(.name = "qwen2_vl_vision", .types = "qwen3_5_moe_vision qwen3_5_vision qwen3_omni_moe_vision_encoder " \
        "qwen3_vl_moe_vision qwen3_vl_vision", .title = "Qwen2-VL and Qwen3-VL, their pictures", .heads = 16, .norm = "layer", \
        .norm_eps = 1e-6, .eps_fixed = true, FAMILY_GRID(), .merge = 2) \
    ROW(.name = "qwen3", .title = "Qwen3", FAMILY_QWEN, .heads = 32, .kv_heads = 32, .norm_eps = 1e-6, \
        .qk_norm = "rms") \
    ROW(.name = "qwen3_5_moe_text", .title = "Qwen3.5 of experts, layers with a softmax", FAMILY_QWEN_3_5, .kv_heads = 2) \
    ROW(.name = "qwen3_5_text", .title = "Qwen3.5, layers with a softmax", FAMILY_QWEN_3_5, .kv_heads = 4) \
    ROW(.name = "qwen3_moe", .title = "Qwen3 of experts", FAMILY_LLAMA, .heads = 32, .kv_heads = 4, .norm_eps = 1e-6, \
        .qk_norm = "rms", .sliding = FAMILY_SLIDING_ASKED, .window = 4096) \
    ROW(.name = "qwen3_next", .title = "Qwen3-Next, layers with a softmax", FAMILY_QWEN_GATED, .heads = 16, .kv_heads = 2) \
    ROW(.name = "qwen3_omni_moe_text", .title = "Qwen3-Omni, its text", FAMILY_QWEN_VL(1e6), .heads = 28, .kv_heads = 4) \
    ROW(.name = "qwen3_vl_moe_text", .title = "Qwen3-VL of experts, its text", FAMILY_QWEN_VL(500000), .heads = 16, \
        .kv_heads = 16) \
    ROW(.name = "qwen3_vl_text", .title = "Qwen3-VL, its text", FAMILY_QWEN_VL(500000), .heads = 32, .kv_heads = 32) \
    ROW(.name = "rembert", .title = "RemBERT", FAMILY_BERT, .causal = FAMILY_CAUSAL_CONFIG, .heads = 18) \
    ROW(.name = "roberta-prelayernorm", .title = "RoBERTa-PreLayerNorm", .causal = FAMILY_CAUSAL_CONFIG, .heads = 12, \
        .norm = "layer", .norm_eps = 1e-12) \
    ROW(.name = "sarvam_mla", .types = "axk1", .title = "Sarvam, with a latent; A.X K1", FAMILY_DEEPSEEK, \
        .heads = 64, .norm_eps = 1e-6) \
    ROW(.name = "sarvam_moe", .title = "Sarvam of experts", FAMILY_LLAMA, .share = 1, .heads = 64, .kv_heads = 4, \
        .theta = 8e6, .norm_eps = 1e-6, .qk_norm = "rms", .normed = FAMILY_NORMED_ASKED, .packing = "blocks") \
    ROW(.name = "seed_oss", .title = "Seed-OSS", FAMILY_LLAMA, .heads = 80, .kv_heads = 8, .norm_eps = 1e-6) \
    ROW(.name = "siglip_vision_model", .types = "dinov2 dinov2_with_registers granite_docling_vision idefics2_vision " \
        "siglip2_text_model siglip2_vision_model siglip_text_model vit_msn vivit", .title = "SigLIP, DINOv2, ViViT", FAMILY_TOWER, \
        .heads = 12, .norm_eps = 1e-6) \
    ROW(.name = "smollm3", .title = "SmolLM3", FAMILY_LLAMA, .heads = 16, .kv_heads = 4, .theta = 2e6, \
        .norm_eps = 1e-6, .sliding = FAMILY_SLIDING_STILL, .rotating = FAMILY_ROTATING_LISTED) \
    ROW(.name = "solar_open", .title = "Solar Open", FAMILY_LLAMA, .share = 1, .heads = 64, .kv_heads = 8, \
        .theta = 1e6, .norm_eps = 1e-5) \
    ROW(.name = "speech_to_text", .title = "Speech2Text", FAMILY_SEQUENCE, .norm = "layer", .heads = 4) \
    ROW(.name = "stablelm", .title = "StableLM", FAMILY_DECODER_HALF, .share = 0.25, .heads = 32, .kv_heads = 32, \
        .norm = "layer", .norm_eps = 1e-5, .qk_norm = "layer", .normed = FAMILY_NORMED_ASKED, FAMILY_EACH()) \
    ROW(.name = "starcoder2", .title = "StarCoder2", FAMILY_DECODER_HALF, .heads = 24, .kv_heads = 2, \
        .norm = "layer", .norm_eps = 1e-5, .sliding = FAMILY_SLIDING_ALL, FAMILY_EACH()) \
    ROW(.name = "switch_transformers", .title = "Switch Transformers", FAMILY_T5, .heads = 12) \
    ROW(.name = "t5", .types = "pop2piano", .title = "T5", FAMILY_T5, .heads = 8) \
    ROW(.name = "trocr", .title = "TrOCR, its decoder", FAMILY_SEQUENCE, .norm = "none", .scale_on_query = true, \
        .heads = 16) \
    ROW(.name = "ultrabert", .title = "Ultrabert", .rope = ROPE_HALF, .norm = "rms", .heads = 32, .theta = 2560000, \
        .local_theta = 10000, .norm_eps = 1e-6, .sliding = FAMILY_SLIDING_LISTED, .window = 128, \
        FAMILY_EACH(.norm_cast = true)) \
    ROW(.name = "vit", .types = "audio-spectrogram-transformer deit dpt flava_image_model flava_text_model ijepa vilt yolos", \
        .title = "ViT, DeiT, DPT, I-JEPA, audio spectrograms", FAMILY_TOWER, .heads = 12, .norm_eps = 1e-12) \
    ROW(.name = "vit_mae", .title = "ViT-MAE", FAMILY_TOWER, .heads = 12, .decoder_heads = 16, .norm_eps = 1e-12) \
    ROW(.name = "wav2vec2", .types = "data2vec-audio hubert sew unispeech unispeech-sat", \
        .title = "wav2vec 2.0, HuBERT, UniSpeech", \
        .heads = 12, .norm = "layer", .norm_key = "do_stable_layer_norm", .norm_eps = 1e-5) \
    ROW(.name = "whisper", .title = "Whisper", FAMILY_SEQUENCE, .heads = 6, .norm = "layer", .scale_on_query = true) \
    ROW(.name = "xglm", .title = "XGLM", .causal = FAMILY_CAUSAL_ALWAYS, .heads = 16, .norm = "layer", \
        .norm_eps = 1e-5, .eps_fixed = true, .scale_on_query = true) \
    ROW(.name = "xlm-roberta-xl", .title = "XLM-R XL", .causal = FAMILY_CAUSAL_CONFIG, .heads = 32, .norm = "layer", \
        .norm_eps = 1e-5) \
    ROW(.name = "xmod", .title = "X-MOD", .causal = FAMILY_CAUSAL_CONFIG, .heads = 12, .norm = "layer", \
        .norm_key = "pre_norm", .norm_eps = 1e-12) \
    ROW(.name = "youtu", .title = "Youtu-LLM", FAMILY_DEEPSEEK, .heads = 16, .norm_eps = 1e-6)

/* Model types without a row, and what they do that no column says. */
#define FAMILY_LACKED(ROW) \
    ROW("clap_audio_model donut-swin maskformer-swin swin swin2sr swinv2", "windows of a picture that shift") \
    ROW("deberta deberta-v2 sew-d", "scores of content with positions") \
    ROW("video_llama_3_vision", "pictures whose tokens come in blocks of a size that the config does not have") \
    ROW("beit data2vec-vision layoutlmv3", "a bias by the positions in a picture") \
    ROW("hiera sam sam2 sam_vision_model vitdet", "relative positions in two directions, or pooled keys") \
    ROW("speecht5 wav2vec2-bert wav2vec2-conformer xlnet", "scores of queries with relative positions") \
    ROW("wavlm", "a relative bias with a gate") \
    ROW("big_bird led longformer", "windows with global tokens") \
    ROW("hunyuan_vl_text", "pairs of columns that turn by two axes") \
    ROW("mlcd_vision_model", "an angle of the class token that the model learns") \
    ROW("reformer", "keys that are chosen by hashes")

/* Models of several parts: the key of a part's config, its model_type where that config does not say it, and the models
 * that have it, but for parts named after their model: "gemma3_text". Other models may mix or mask their parts in other
 * ways. */
#define FAMILY_PARTS(ROW) \
    ROW("encoder", "", "encoder-decoder vision-encoder-decoder") \
    ROW("text_config", "bart", "florence2") \
    ROW("text_config", "bert", "vision-text-dual-encoder") \
    ROW("text_config", "cohere2", "aya_vision cohere2_vision") \
    ROW("text_config", "deepseek_v3", "kimi_k25") \
    ROW("text_config", "exaone4", "exaone4_5") \
    ROW("text_config", "gemma3_text", "shieldgemma2") \
    ROW("text_config", "glm4v_text", "glm46v") \
    ROW("text_config", "granite", "granite_speech granite_speech_plus") \
    ROW("text_config", "hyperclovax", "hyperclovax_vision_v2") \
    ROW("text_config", "lfm2", "lfm2_vl") \
    ROW("text_config", "llama", "deepseek_vl deepseek_vl_hybrid glmasr idefics3 janus llava llava_next " \
                                "llava_next_video omniasr perception_lm smolvlm video_llava vipllava voxtral") \
    ROW("text_config", "mistral", "idefics2 mistral3") \
    ROW("text_config", "modernbert", "colmodernvbert modernvbert") \
    ROW("text_config", "opt", "blip-2 instructblip instructblipvideo") \
    ROW("text_config", "persimmon", "fuyu") \
    ROW("text_config", "qwen2", "audioflamingo3 got_ocr2 internvl llava_onevision musicflamingo ovis2 " \
                                "pp_chart2table qwen2_audio vibevoice video_llama_3") \
    ROW("text_config", "qwen2_5_omni_text", "qwen2_5_omni_thinker") \
    ROW("text_config", "qwen3", "lighton_ocr moss_transcribe_diarize qianfan_ocr qwen3_asr") \
    ROW("text_config", "qwen3_5_text", "minicpm_ocr minicpmv4_6 minicpmv4_7") \
    ROW("text_config", "qwen3_omni_moe_text", "qwen3_omni_moe_thinker") \
    ROW("text_config", "qwen3_vl_text", "cosmos3_omni") \
    ROW("text_config", "ultrabert", "ultravbert") \
    ROW("vision_config", "blip_2_vision_model", "blip-2") \
    ROW("vision_config", "clip_vision_model", "llava llava_next llava_next_video video_llava vipllava") \
    ROW("vision_config", "siglip2_vision_model", "lfm2_vl") \
    ROW("vision_config", "siglip_vision_model", "aya_vision cohere2_vision deepseek_vl gemma3 llava_onevision " \
                                                "modernvbert shieldgemma2") \
    ROW("vision_config", "vit", "vision-text-dual-encoder")
/* clang-format on */
