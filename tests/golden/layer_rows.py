# SPDX-License-Identifier: MIT
"""What make_layers.py makes: a row a family, and the cases.

A row of FAMILIES: `model`, the class; `attention`, `out` and `norm`, where its module, its output projection and the
norm before it stand in that class, {} for the layer; `config`, as published checkpoints have it; `says`, what the
module does as options of attn; `names`, what makes of save_pretrained's names those of published checkpoints; `module`,
the end of the module's path among those names; `buffers`, what old checkpoints hold beside parameters.
A case names its family; `change` goes into the config (... takes a key out), `says` into the settings; `written` goes
into the file alone, after transformers has read the rest. What else a case says stands in the place of the row's.
"""

import math

import torch


def buffers(prefix, *kinds):
    """Masks and frequencies that transformers once wrote for every layer."""
    made = {
        "bias": lambda row: torch.ones(1, 1, row["tokens"], row["tokens"]).tril(),
        "bool bias": lambda row: torch.ones(1, 1, row["tokens"], row["tokens"], dtype=torch.bool).tril(),
        "masked_bias": lambda row: torch.tensor(-1e9),
        "rotary_emb.inv_freq": lambda row: 1 / 10000 ** (torch.arange(0, row["rotated"], 2) / row["rotated"]),
    }
    return lambda row: {
        f"{prefix.format(layer)}.{kind.split()[-1]}": made[kind](row)
        for layer in range(row["layers"])
        for kind in kinds
    }


TINY = dict(
    head_dim=8, hidden_size=24, intermediate_size=8, max_position_embeddings=64, num_attention_heads=4,
    num_hidden_layers=2, num_key_value_heads=2, tie_word_embeddings=False, vocab_size=16, bos_token_id=3, eos_token_id=4,
    pad_token_id=0,
)

# Vision blocks: patches without a batch; heads that turn by height and width
PATCHES = dict(attention="blocks.{}.attn", out="proj", input="patches", pixels="hidden_states", flat=True)
GRID = dict(
    heads=2, causal=False, norm_eps=1e-6, rope="half", rope_theta=10000, rope_axes="h,w,restarted,merge=2",
)

INDEXED = dict(
    model_type="deepseek_v32", hidden_size=24, intermediate_size=8, kv_lora_rank=10, moe_intermediate_size=8,
    max_position_embeddings=64, first_k_dense_replace=2, n_group=1, n_routed_experts=2, n_shared_experts=1, topk_group=1,
    num_attention_heads=3, num_experts_per_tok=1, num_hidden_layers=2, num_key_value_heads=3, q_lora_rank=12,
    qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=8, rms_norm_eps=1e-6, vocab_size=16, bos_token_id=0, eos_token_id=1,
    rope_parameters=dict(rope_type="default", rope_theta=10000.0), index_topk=4, index_n_heads=8, index_head_dim=6,
)

FAMILIES = {
    "gpt2": dict(
        model="GPT2LMHeadModel",
        attention="transformer.h.{}.attn",
        module="h.{}.attn",
        out="c_proj",
        norm="transformer.h.{}.ln_1",
        names=[("^transformer.", "")],
        config=dict(
            model_type="gpt2", activation_function="gelu_new", attn_pdrop=0.1, embd_pdrop=0.1, resid_pdrop=0.1,
            layer_norm_epsilon=1e-5, n_ctx=24, n_embd=24, n_head=3, n_inner=8, n_layer=3, n_positions=24,
            vocab_size=16,
            bos_token_id=1, eos_token_id=1,
        ),
        says=dict(heads=3, causal=True, norm="layer", norm_eps=1e-5, packing="blocks"),
    ),
    "gpt_neox": dict(
        model="GPTNeoXForCausalLM",
        attention="gpt_neox.layers.{}.attention",
        out="dense",
        norm="gpt_neox.layers.{}.input_layernorm",
        config=dict(
            model_type="gpt_neox", hidden_act="gelu", hidden_size=32, intermediate_size=8, layer_norm_eps=1e-5,
            max_position_embeddings=64, num_attention_heads=2, num_hidden_layers=2, rotary_emb_base=10000,
            rotary_pct=0.25,
            tie_word_embeddings=False, use_parallel_residual=True, vocab_size=16, bos_token_id=0, eos_token_id=0,
        ),
        says=dict(
            heads=2, causal=True, norm="layer", norm_eps=1e-5, packing="groups", rope="half", rope_theta=10000,
            rope_columns="4",
        ),
    ),
    "gptj": dict(
        model="GPTJForCausalLM",
        attention="transformer.h.{}.attn",
        out="out_proj",
        norm="transformer.h.{}.ln_1",
        config=dict(
            model_type="gptj", activation_function="gelu_new", attn_pdrop=0.0, embd_pdrop=0.0,
            layer_norm_epsilon=1e-5,
            n_embd=24, n_head=2, n_inner=8, n_layer=2, n_positions=64, resid_pdrop=0.0, rotary=True, rotary_dim=8,
            scale_attn_weights=True, tie_word_embeddings=False, vocab_size=16, bos_token_id=1, eos_token_id=1,
        ),
        says=dict(heads=2, causal=True, norm="layer", norm_eps=1e-5, rope="pairs", rope_theta=10000, rope_columns="8"),
    ),
    "opt": dict(
        model="OPTForCausalLM",
        attention="model.decoder.layers.{}.self_attn",
        module="decoder.layers.{}.self_attn",
        out="out_proj",
        norm="model.decoder.layers.{}.self_attn_layer_norm",
        config=dict(
            model_type="opt", activation_function="relu", attention_dropout=0.0, do_layer_norm_before=True,
            dropout=0.1,
            ffn_dim=8, hidden_size=24, max_position_embeddings=64, num_attention_heads=3, num_hidden_layers=2,
            vocab_size=16, word_embed_proj_dim=24, bos_token_id=2, eos_token_id=2, pad_token_id=1,
        ),
        says=dict(heads=3, causal=True, norm="layer", norm_eps=1e-5, scale_on="query"),
    ),
    "bloom": dict(
        model="BloomForCausalLM",
        attention="transformer.h.{}.self_attention",
        module="h.{}.self_attention",
        out="dense",
        norm="transformer.h.{}.input_layernorm",
        names=[("^transformer.", "")],
        config=dict(
            model_type="bloom", apply_residual_connection_post_layernorm=False, attention_dropout=0.0,
            attention_softmax_in_fp32=True, hidden_dropout=0.0, layer_norm_epsilon=1e-5, masked_softmax_fusion=True,
            n_embed=16, n_layer=2, num_attention_heads=4, pretraining_tp=1, slow_but_exact=False, vocab_size=16,
            bos_token_id=1, eos_token_id=2, pad_token_id=3,
        ),
        says=dict(heads=4, causal=True, norm="layer", norm_eps=1e-5, packing="groups", alibi="slopes"),
    ),
    "mpt": dict(
        model="MptForCausalLM",
        attention="transformer.blocks.{}.attn",
        out="out_proj",
        norm="transformer.blocks.{}.norm_1",
        config=dict(
            model_type="mpt", d_model=16, n_heads=4, n_layers=2, expansion_ratio=1, max_seq_len=32, vocab_size=16,
            no_bias=True, norm_type="low_precision_layernorm", learned_pos_emb=True, emb_pdrop=0, resid_pdrop=0,
            attn_config=dict(
                alibi=True, alibi_bias_max=8, attn_impl="torch", attn_pdrop=0, attn_type="multihead_attention",
                attn_uses_sequence_id=False, clip_qkv=None, prefix_lm=False, qk_ln=False, softmax_scale=None,
            ),
        ),
        says=dict(heads=4, causal=True, norm="layer", norm_eps=1e-5, packing="blocks", alibi="slopes"),
    ),
    "falcon": dict(
        model="FalconForCausalLM",
        attention="transformer.h.{}.self_attention",
        out="dense",
        norm="transformer.h.{}.input_layernorm",
        config=dict(
            model_type="falcon", alibi=False, attention_dropout=0.0, bias=False, hidden_dropout=0.0, hidden_size=24,
            ffn_hidden_size=8, layer_norm_epsilon=1e-5, multi_query=True, new_decoder_architecture=False,
            num_attention_heads=3, num_hidden_layers=2, parallel_attn=True, vocab_size=16, bos_token_id=11,
            eos_token_id=11,
        ),
        says=dict(
            heads=3, kv_heads=1, causal=True, norm="layer", norm_eps=1e-5, packing="groups", rope="half",
            rope_theta=10000
        ),
    ),
    "llama": dict(
        model="LlamaForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            model_type="llama", hidden_act="silu", hidden_size=24, intermediate_size=8, max_position_embeddings=64,
            num_attention_heads=4, num_hidden_layers=2, num_key_value_heads=4, pretraining_tp=1, rms_norm_eps=1e-5,
            rope_scaling=None, tie_word_embeddings=False, vocab_size=16, bos_token_id=1, eos_token_id=2,
        ),
        says=dict(heads=4, causal=True, norm="rms", norm_eps=1e-5, rope="half", rope_theta=10000),
    ),
    "mistral": dict(
        model="MistralForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            model_type="mistral", hidden_act="silu", hidden_size=24, intermediate_size=8, max_position_embeddings=64,
            num_attention_heads=4, num_hidden_layers=2, num_key_value_heads=2, rms_norm_eps=1e-5, rope_theta=10000.0,
            sliding_window=None, tie_word_embeddings=False, vocab_size=16, bos_token_id=1, eos_token_id=2,
        ),
        says=dict(heads=4, kv_heads=2, causal=True, norm="rms", norm_eps=1e-5, rope="half", rope_theta=10000),
    ),
    "qwen2": dict(
        model="Qwen2ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            model_type="qwen2", attention_dropout=0.0, hidden_act="silu", hidden_size=24, intermediate_size=8,
            max_position_embeddings=64, max_window_layers=2, num_attention_heads=4, num_hidden_layers=3,
            num_key_value_heads=2, rms_norm_eps=1e-6, rope_theta=1000000.0, sliding_window=5,
            tie_word_embeddings=True,
            use_sliding_window=False, vocab_size=16, bos_token_id=3, eos_token_id=4,
        ),
        says=dict(heads=4, kv_heads=2, causal=True, norm="rms", norm_eps=1e-6, rope="half", rope_theta=1000000),
    ),
    "qwen3": dict(
        model="Qwen3ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            model_type="qwen3", attention_bias=False, attention_dropout=0.0, head_dim=8, hidden_act="silu",
            hidden_size=20,
            intermediate_size=8, max_position_embeddings=64, max_window_layers=2, num_attention_heads=4,
            num_hidden_layers=2,
            num_key_value_heads=2, rms_norm_eps=1e-6, rope_scaling=None, rope_theta=1000000, sliding_window=None,
            tie_word_embeddings=True, use_sliding_window=False, vocab_size=16, bos_token_id=3, eos_token_id=4,
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms", norm_eps=1e-6, qk_norm="rms", qk_norm_eps=1e-6, rope="half",
            rope_theta=1000000,
        ),
    ),
    "qwen2_vl": dict(
        model="Qwen2VLForConditionalGeneration",
        attention="model.language_model.layers.{}.self_attn",
        out="o_proj",
        norm="model.language_model.layers.{}.input_layernorm",
        config=dict(
            model_type="qwen2_vl", image_token_id=13, video_token_id=14, vision_start_token_id=11, vision_end_token_id=12,
            text_config=dict(
                model_type="qwen2_vl_text", hidden_size=24, intermediate_size=8, num_attention_heads=3,
                num_hidden_layers=2, num_key_value_heads=1, max_position_embeddings=64, rms_norm_eps=1e-6,
                rope_parameters=dict(rope_type="default", rope_theta=1000000.0, mrope_section=[2, 1, 1]), vocab_size=16,
                bos_token_id=3, eos_token_id=4,
            ),
            vision_config=dict(
                model_type="qwen2_vl_vision", depth=1, embed_dim=8, hidden_size=24, num_heads=2, patch_size=4,
                spatial_merge_size=1, temporal_patch_size=1, mlp_ratio=1,
            ),
        ),
        says=dict(
            heads=3, kv_heads=1, causal=True, norm="rms", norm_eps=1e-6, rope="half", rope_theta=1000000,
        ),
    ),
    "qwen3_vl": dict(
        model="Qwen3VLTextModel",
        attention="layers.{}.self_attn",
        out="o_proj",
        norm="layers.{}.input_layernorm",
        config=dict(
            TINY, model_type="qwen3_vl_text", rms_norm_eps=1e-6,
            rope_parameters=dict(rope_type="default", rope_theta=500000.0, mrope_section=[2, 1, 1]),
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms", norm_eps=1e-6, qk_norm="rms", qk_norm_eps=1e-6, rope="half",
            rope_theta=500000, rope_axes="t2,h1,w1,interleaved",
        ),
    ),
    "qwen2_vl_vision": dict(
        PATCHES, model="Qwen2VisionTransformerPretrainedModel", package="models.qwen2_vl.modeling_qwen2_vl",
        norm="blocks.{}.norm1", says=dict(GRID, norm="layer", packing="blocks"),
        config=dict(
            model_type="qwen2_vl_vision", depth=2, embed_dim=16, hidden_size=8, num_heads=2, patch_size=4,
            spatial_merge_size=2, temporal_patch_size=1, mlp_ratio=1,
        ),
    ),
    "qwen2_5_vl_vision": dict(
        PATCHES, model="Qwen2_5_VisionTransformerPretrainedModel", norm="blocks.{}.norm1",
        says=dict(GRID, norm="rms", packing="blocks", rope_axes="h,w,restarted,merge=2,window=4"),
        config=dict(
            model_type="qwen2_5_vl_vision", depth=2, hidden_size=16, intermediate_size=8, out_hidden_size=8,
            num_heads=2, patch_size=4, spatial_merge_size=2, temporal_patch_size=1, window_size=16, fullatt_block_indexes=[1],
        ),
    ),
    "glm4v_vision": dict(
        PATCHES, model="Glm4vVisionModel", norm="blocks.{}.norm1",
        says=dict(GRID, norm="rms", norm_eps=1e-5, packing="blocks"),
        config=dict(
            model_type="glm4v_vision", depth=2, hidden_size=16, intermediate_size=8, out_hidden_size=8, num_heads=2,
            patch_size=4, spatial_merge_size=2, temporal_patch_size=1, image_size=16, rms_norm_eps=1e-5,
        ),
    ),
    "kimi_k25_vision": dict(
        PATCHES, model="Kimi_K25VisionModel", attention="layers.{}.attn", norm="layers.{}.norm1", pixels="pixel_values",
        says=dict(GRID, norm="layer", norm_eps=1e-5, rope_axes="w,h,restarted,interleaved"),
        config=dict(
            model_type="kimi_k25_vision", num_hidden_layers=2, hidden_size=16, intermediate_size=8,
            num_attention_heads=2, patch_size=4, pos_emb_height=4, pos_emb_width=4,
        ),
    ),
    "minimax_m3_vl_vision": dict(
        PATCHES, model="MiniMaxM3VLVisionModel", package="models.minimax_m3_vl.modeling_minimax_m3_vl",
        attention="layers.{}.self_attn", norm="layers.{}.layer_norm1", out="out_proj", pixels="pixel_values",
        says=dict(GRID, norm="layer", norm_eps=1e-5, rope_axes="t,h,w,restarted,merge=2", rope_columns="12"),
        config=dict(
            model_type="minimax_m3_vl_vision", num_hidden_layers=2, hidden_size=28, intermediate_size=8,
            num_attention_heads=2, patch_size=4, temporal_patch_size=1, spatial_merge_size=2,
        ),
    ),
    "hunyuan_vl_vision": dict(
        PATCHES, model="HunYuanVLVisionTransformer", package="models.hunyuan_vl.modeling_hunyuan_vl", flat=False,
        attention="layers.{}.self_attn", norm="layers.{}.layer_norm1", out="o_proj", pixels="pixel_values",
        says=dict(heads=2, causal=False, norm="layer", norm_eps=1e-5), config=dict(
            model_type="hunyuan_vl_vision", num_hidden_layers=2, hidden_size=16, intermediate_size=8,
            num_attention_heads=2, patch_size=4, spatial_merge_size=1, out_hidden_size=8, text_hidden_size=8,
            max_image_size=16,
        ),
    ),
    "hunyuan_v1_dense": dict(
        model="HunYuanDenseV1ForCausalLM", attention="model.layers.{}.self_attn", out="o_proj",
        norm="model.layers.{}.input_layernorm",
        says=dict(heads=4, kv_heads=2, causal=True, norm="rms", norm_eps=1e-5, qk_norm="rms", qk_norm_eps=1e-5,
                  rope="half", rope_theta=10000, norm_last=True),
        config=dict(TINY, model_type="hunyuan_v1_dense", attention_bias=False, rms_norm_eps=1e-5, rope_theta=10000.0),
    ),
    "pixtral": dict(
        model="PixtralVisionModel", attention="transformer.layers.{}.attention", out="o_proj", input="picture",
        norm="transformer.layers.{}.attention_norm",
        says=dict(GRID, norm="rms", norm_eps=1e-5, rope_axes="h,w,strided"),
        config=dict(
            model_type="pixtral", hidden_size=16, intermediate_size=8, num_attention_heads=2, num_hidden_layers=2,
            patch_size=4, image_size=24,
        ),
    ),
    "dinov3_vit": dict(
        model="DINOv3ViTModel", attention="model.layer.{}.attention", module="layer.{}.attention",
        out="o_proj", input="picture",
        norm="model.layer.{}.norm1",
        says=dict(GRID, norm="layer", norm_eps=1e-5, rope_theta=100, rope_axes="h,w,restarted,centred,rest-first=3"),
        config=dict(
            model_type="dinov3_vit", hidden_size=16, intermediate_size=8, num_attention_heads=2, num_hidden_layers=2,
            patch_size=4, image_size=16, num_register_tokens=2, layer_norm_eps=1e-5, rope_theta=100.0,
        ),
    ),
    "llama4_vision": dict(
        model="Llama4VisionModel", attention="model.layers.{}.self_attn", module="layers.{}.self_attn",
        out="o_proj", input="picture",
        norm="model.layers.{}.input_layernorm",
        says=dict(GRID, norm="layer", norm_eps=1e-5, rope="pairs", rope_axes="w,h,restarted,from=1,rest-last=1"),
        config=dict(
            model_type="llama4_vision_model", hidden_size=16, intermediate_size=64, num_attention_heads=2,
            num_hidden_layers=2, patch_size=4, image_size=16, vision_output_dim=8, projector_input_dim=8,
            projector_output_dim=8,
        ),
    ),
    "qwen3_next": dict(
        model="Qwen3NextForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            TINY, model_type="qwen3_next", rms_norm_eps=1e-6, layer_types=["linear_attention", "full_attention"],
            linear_key_head_dim=4, linear_value_head_dim=4, linear_num_key_heads=2, linear_num_value_heads=2,
            num_experts=2, num_experts_per_tok=1, moe_intermediate_size=8, shared_expert_intermediate_size=8,
            rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.25),
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms-plus-one", norm_eps=1e-6, qk_norm="rms-plus-one", qk_norm_eps=1e-6,
            rope="half", rope_theta=10000, rope_columns="2", gate="query",
        ),
    ),
    "qwen3_5_text": dict(
        model="Qwen3_5ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            TINY, model_type="qwen3_5_text", rms_norm_eps=1e-6, layer_types=["linear_attention", "full_attention"],
            linear_key_head_dim=4, linear_value_head_dim=4, linear_num_key_heads=2, linear_num_value_heads=2,
            rope_parameters=dict(
                rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5, mrope_section=[1, 1, 0],
            ),
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms-plus-one", norm_eps=1e-6, qk_norm="rms-plus-one", qk_norm_eps=1e-6,
            rope="half", rope_theta=10000, rope_columns="4", gate="query",
        ),
    ),
    "gemma3n_text": dict(
        model="Gemma3nForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            TINY, model_type="gemma3n_text", rms_norm_eps=1e-6, layer_types=["full_attention", "sliding_attention"] * 2,
            num_hidden_layers=4, num_kv_shared_layers=2, sliding_window=5, rope_theta=1000000.0,
            rope_local_base_freq=500.0, activation_sparsity_pattern=[0.0] * 4, intermediate_size=[8] * 4, laurel_rank=4,
            hidden_size_per_layer_input=4, vocab_size_per_layer_input=16, altup_num_inputs=2, tie_word_embeddings=True,
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms", norm_eps=1e-6, qk_norm="rms", qk_norm_eps=1e-6,
            value_norm="rms", rope="half", scale=1,
        ),
    ),
    "gemma4_text": dict(
        model="Gemma4ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            TINY, model_type="gemma4_text", rms_norm_eps=1e-6, layer_types=["sliding_attention", "full_attention"],
            sliding_window=5, global_head_dim=16, num_global_key_value_heads=1, attention_k_eq_v=True,
            hidden_size_per_layer_input=4, vocab_size_per_layer_input=16, tie_word_embeddings=True,
            use_bidirectional_attention="vision",
            rope_parameters=dict(
                sliding_attention=dict(rope_type="default", rope_theta=500.0),
                full_attention=dict(rope_type="proportional", rope_theta=1000000.0, partial_rotary_factor=0.25),
            ),
        ),
        says=dict(
            heads=4, causal=True, norm="rms", norm_eps=1e-6, qk_norm="rms", qk_norm_eps=1e-6, value_norm="rms",
            rope="half", scale=1,
        ),
    ),
    "afmoe": dict(
        model="AfmoeForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            TINY, model_type="afmoe", rms_norm_eps=1e-5, layer_types=["full_attention", "sliding_attention"],
            sliding_window=5, num_experts=2, num_experts_per_tok=1, moe_intermediate_size=8, num_dense_layers=2,
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms", norm_eps=1e-5, qk_norm="rms", qk_norm_eps=1e-5, rope="half",
            rope_theta=10000, window="4,0", gate="own",
        ),
    ),
    "llama4_text": dict(
        model="Llama4ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            TINY, model_type="llama4_text", rms_norm_eps=1e-5, attention_chunk_size=5, no_rope_layers=[1, 0],
            layer_types=["chunked_attention", "full_attention"], intermediate_size_mlp=8, num_local_experts=2,
            num_experts_per_tok=1, use_qk_norm=True, rope_parameters=dict(rope_type="default", rope_theta=10000.0),
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms", norm_eps=1e-5, rope="pairs", rope_theta=10000, qk_norm="rms",
            qk_norm_eps=1e-5, bare_norm=True, attention_chunk=5,
        ),
    ),
    "ministral3": dict(
        model="Ministral3ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            TINY, model_type="ministral3", rms_norm_eps=1e-5, sliding_window=None, rope_parameters=dict(
                rope_type="yarn", rope_theta=1000.0, factor=4.0, original_max_position_embeddings=64, beta_fast=32.0,
                beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.1, max_position_embeddings=256,
            ),
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms", norm_eps=1e-5, rope="half", rope_theta=1000,
            rope_scaling="yarn:factor=4,fast=32,slow=1,old=64,attention=1",
        ),
    ),
    "cohere2_moe": dict(
        model="Cohere2MoeForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            TINY, model_type="cohere2_moe", layer_norm_eps=1e-5, layer_types=["full_attention", "sliding_attention"], sliding_window=5,
            mlp_layer_types=["dense", "sparse"], num_experts=2, num_experts_per_tok=1,
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="layer", norm_eps=1e-5, rope="pairs", rope_theta=10000,
        ),
    ),
    "granitemoehybrid": dict(
        model="GraniteMoeHybridForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            TINY, model_type="granitemoehybrid", rms_norm_eps=1e-6, layer_types=["linear_attention", "full_attention"],
            position_embedding_type="rope", attention_multiplier=0.3, mamba_n_heads=4, mamba_d_head=12, mamba_d_state=4,
            shared_intermediate_size=8, num_local_experts=2, num_experts_per_tok=1,
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms", norm_eps=1e-6, rope="half", rope_theta=10000, scale=0.3,
        ),
    ),
    "falcon_h1": dict(
        model="FalconH1ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            TINY, model_type="falcon_h1", rms_norm_eps=1e-5, key_multiplier=0.5, mamba_n_heads=4, mamba_d_head=12, mamba_d_ssm=48,
            mamba_d_state=4,
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, rope="half", rope_theta=10000, key_factor=0.5,
        ),
    ),
    "cwm": dict(
        model="CwmForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            TINY, model_type="cwm", rms_norm_eps=1e-5, layer_types=["full_attention", "sliding_attention"], sliding_window=5,
            rope_parameters=dict(rope_type="default", rope_theta=10000.0),
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms", norm_eps=1e-5, rope="half", rope_theta=10000, window="4,0",
        ),
    ),
    "gemma2": dict(
        model="Gemma2ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            model_type="gemma2", attention_bias=False, attention_dropout=0.0, attn_logit_softcapping=2.0,
            cache_implementation="hybrid", final_logit_softcapping=30.0, head_dim=8, hidden_act="gelu_pytorch_tanh",
            hidden_activation="gelu_pytorch_tanh", hidden_size=24, intermediate_size=8, max_position_embeddings=64,
            num_attention_heads=4, num_hidden_layers=2, num_key_value_heads=2, query_pre_attn_scalar=24,
            rms_norm_eps=1e-6,
            rope_theta=10000.0, sliding_window=6, vocab_size=16, bos_token_id=2, eos_token_id=1, pad_token_id=0,
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms-plus-one", norm_eps=1e-6, rope="half", rope_theta=10000,
            softcap=2.0,
            scale=24**-0.5,
        ),
    ),
    "gemma3_text": dict(
        model="Gemma3ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            model_type="gemma3_text", attention_bias=False, attention_dropout=0.0, attn_logit_softcapping=None,
            final_logit_softcapping=None, head_dim=8, hidden_activation="gelu_pytorch_tanh", hidden_size=20,
            intermediate_size=8, max_position_embeddings=64, num_attention_heads=4, num_hidden_layers=3,
            num_key_value_heads=2, query_pre_attn_scalar=16, rms_norm_eps=1e-6, rope_local_base_freq=10000,
            rope_scaling=None, rope_theta=1000000, sliding_window=5, sliding_window_pattern=2, vocab_size=16,
            bos_token_id=2, eos_token_id=1, pad_token_id=0,
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms-plus-one", norm_eps=1e-6, qk_norm="rms-plus-one",
            qk_norm_eps=1e-6,
            rope="half", scale=0.25,
        ),
    ),
    "gemma3": dict(
        model="Gemma3ForConditionalGeneration",
        attention="model.language_model.layers.{}.self_attn",
        module="language_model.model.layers.{}.self_attn",
        names=[("^vision_tower.", "vision_tower.vision_model.")],
        out="o_proj",
        norm="model.language_model.layers.{}.input_layernorm",
        config=dict(
            model_type="gemma3", boi_token_index=12, eoi_token_index=13, image_token_index=14, mm_tokens_per_image=4,
            text_config=dict(
                model_type="gemma3_text", head_dim=8, hidden_size=16, intermediate_size=8, num_attention_heads=4,
                num_hidden_layers=6, num_key_value_heads=2, query_pre_attn_scalar=12, sliding_window=4, vocab_size=16,
                rope_scaling=dict(factor=8.0, rope_type="linear"),
            ),
            vision_config=dict(
                model_type="siglip_vision_model", hidden_size=16, image_size=12, intermediate_size=8,
                num_attention_heads=2,
                num_hidden_layers=2, patch_size=4, vision_use_head=False,
            ),
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms-plus-one", norm_eps=1e-6, qk_norm="rms-plus-one",
            qk_norm_eps=1e-6,
            rope="half", scale=12**-0.5,
        ),
    ),
    "phi3": dict(
        model="Phi3ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            model_type="phi3", attention_bias=False, attention_dropout=0.0, embd_pdrop=0.0, hidden_act="silu",
            hidden_size=24,
            intermediate_size=8, max_position_embeddings=64, num_attention_heads=3, num_hidden_layers=2,
            num_key_value_heads=3, original_max_position_embeddings=64, resid_pdrop=0.0, rms_norm_eps=1e-5,
            rope_scaling=None, rope_theta=10000.0, sliding_window=6, tie_word_embeddings=False, vocab_size=16,
            bos_token_id=1, eos_token_id=2, pad_token_id=2,
        ),
        says=dict(heads=3, causal=True, norm="rms", norm_eps=1e-5, packing="blocks", rope="half", rope_theta=10000),
    ),
    "phimoe": dict(
        model="PhimoeForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            TINY, model_type="phimoe", rms_norm_eps=1e-5, attention_bias=True, num_local_experts=2, num_experts_per_tok=1,
            sliding_window=None, max_position_embeddings=256, head_dim=...,
            rope_parameters=dict(
                rope_type="longrope", rope_theta=1000.0, original_max_position_embeddings=64, short_mscale=1.2,
                long_mscale=1.5, short_factor=[1.0, 1.1, 1.3], long_factor=[1.5, 2.0, 4.0],
            ),
        ),
        says=dict(heads=4, kv_heads=2, causal=True, norm="layer", norm_eps=1e-5, rope="half", rope_theta=1000),
    ),
    "gpt_oss": dict(
        model="GptOssForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            model_type="gpt_oss", attention_bias=True, attention_dropout=0.0, experts_per_token=2, head_dim=8,
            hidden_act="silu", hidden_size=24, initial_context_length=64, intermediate_size=8,
            layer_types=["sliding_attention", "full_attention"], max_position_embeddings=2048, num_attention_heads=4,
            num_experts_per_tok=2, num_hidden_layers=2, num_key_value_heads=2, num_local_experts=2, rms_norm_eps=1e-5,
            rope_scaling=dict(
                beta_fast=32.0, beta_slow=1.0, factor=32.0, original_max_position_embeddings=64, rope_type="yarn",
                truncate=False,
            ),
            rope_theta=1500, sliding_window=5, swiglu_limit=7.0, tie_word_embeddings=False, vocab_size=16,
            eos_token_id=2, pad_token_id=1,
        ),
        says=dict(
            heads=4, kv_heads=2, causal=True, norm="rms", norm_eps=1e-5, rope="half", rope_theta=1500,
            rope_scaling="yarn:factor=32,fast=32,slow=1,old=64,truncate=no",
        ),
    ),
    "deepseek_v2": dict(
        model="DeepseekV2ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            model_type="deepseek_v2", attention_bias=False, attention_dropout=0.0, first_k_dense_replace=2,
            hidden_act="silu",
            hidden_size=24, intermediate_size=8, kv_lora_rank=10, max_position_embeddings=512,
            moe_intermediate_size=8,
            n_routed_experts=2, n_shared_experts=1, num_attention_heads=3, num_experts_per_tok=1, num_hidden_layers=2,
            num_key_value_heads=3, q_lora_rank=None, qk_nope_head_dim=6, qk_rope_head_dim=4, rms_norm_eps=1e-6,
            rope_scaling=dict(
                beta_fast=32, beta_slow=1, factor=40, mscale=0.707, mscale_all_dim=0.707,
                original_max_position_embeddings=64, type="yarn",
            ),
            rope_theta=10000, tie_word_embeddings=False, v_head_dim=5, vocab_size=16, bos_token_id=1, eos_token_id=2,
        ),
        says=dict(
            heads=3, causal=True, norm="rms", norm_eps=1e-6, qk_norm="rms", qk_norm_eps=1e-6, rope="pairs",
            rope_theta=10000,
            rope_columns="last:4",
        ),
    ),
    "deepseek_v3": dict(
        model="DeepseekV3ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            model_type="deepseek_v3", attention_bias=False, attention_dropout=0.0, first_k_dense_replace=2,
            hidden_act="silu",
            hidden_size=24, intermediate_size=8, kv_lora_rank=10, max_position_embeddings=512,
            moe_intermediate_size=8,
            n_group=1, n_routed_experts=2, n_shared_experts=1, num_attention_heads=3, num_experts_per_tok=1,
            num_hidden_layers=2, num_key_value_heads=3, q_lora_rank=12, qk_nope_head_dim=6, qk_rope_head_dim=4,
            rms_norm_eps=1e-6, rope_scaling=dict(
                beta_fast=32, beta_slow=1, factor=40, mscale=1.0, mscale_all_dim=1.0,
                original_max_position_embeddings=64,
                type="yarn",
            ),
            rope_theta=10000, tie_word_embeddings=False, topk_group=1, v_head_dim=8, vocab_size=16, bos_token_id=0,
            eos_token_id=1,
        ),
        says=dict(
            heads=3, causal=True, norm="rms", norm_eps=1e-6, qk_norm="rms", qk_norm_eps=1e-6, rope="pairs-to-halves",
            rope_theta=10000, rope_columns="last:4",
        ),
    ),
    "deepseek_v32": dict(
        model="DeepseekV32ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=INDEXED,
        says=dict(
            heads=3, causal=True, norm="rms", norm_eps=1e-6, qk_norm="rms", qk_norm_eps=1e-6, rope="pairs-to-halves",
            rope_theta=10000, rope_columns="last:4", index_topk=4, index_rope="half",
        ),
    ),
    "glm_moe_dsa": dict(
        model="GlmMoeDsaForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(INDEXED, model_type="glm_moe_dsa", index_topk=5, rms_norm_eps=1e-5, indexer_types=["full", "shared"]),
        says=dict(
            heads=3, causal=True, norm="rms", norm_eps=1e-5, qk_norm="rms", qk_norm_eps=1e-6, rope="pairs-to-halves",
            rope_theta=10000, rope_columns="last:4", index_topk=5, index_rope="pairs-to-halves",
        ),
    ),
    "mistral4": dict(
        model="Mistral4ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            model_type="mistral4", hidden_size=24, intermediate_size=8, kv_lora_rank=10, moe_intermediate_size=8,
            max_position_embeddings=40, first_k_dense_replace=2, n_group=1, n_routed_experts=2, n_shared_experts=1,
            num_attention_heads=3, num_experts_per_tok=1, num_hidden_layers=2, num_key_value_heads=3, q_lora_rank=12,
            qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=8, rms_norm_eps=1e-6, topk_group=1, vocab_size=16,
            bos_token_id=0, eos_token_id=1, rope_parameters=dict(
                rope_type="yarn", rope_theta=10000.0, factor=8.0, original_max_position_embeddings=5, beta_fast=32.0,
                beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.4, max_position_embeddings=40,
            ),
        ),
        says=dict(
            heads=3, causal=True, norm="rms", norm_eps=1e-6, qk_norm="rms", qk_norm_eps=1e-6, rope="pairs-to-halves",
            rope_theta=10000, rope_columns="last:4",
        ),
    ),
    "olmo2": dict(
        model="Olmo2ForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        width=24,
        config=dict(
            model_type="olmo2", attention_bias=False, attention_dropout=0.0, hidden_act="silu", hidden_size=24,
            intermediate_size=8, max_position_embeddings=64, num_attention_heads=4, num_hidden_layers=2,
            num_key_value_heads=4, rms_norm_eps=1e-6, rope_scaling=None, rope_theta=500000, tie_word_embeddings=False,
            vocab_size=16, eos_token_id=2, pad_token_id=1,
        ),
        says=dict(heads=4, causal=True, norm="none", qk_norm="rms", qk_norm_eps=1e-6, rope="half", rope_theta=500000),
    ),
    "cohere": dict(
        model="CohereForCausalLM",
        attention="model.layers.{}.self_attn",
        out="o_proj",
        norm="model.layers.{}.input_layernorm",
        config=dict(
            model_type="cohere", attention_bias=False, attention_dropout=0.0, hidden_act="silu", hidden_size=24,
            intermediate_size=8, layer_norm_eps=1e-5, logit_scale=0.0625, max_position_embeddings=64,
            num_attention_heads=4,
            num_hidden_layers=2, num_key_value_heads=4, rope_theta=8000000.0, use_qk_norm=False, vocab_size=16,
            bos_token_id=5, eos_token_id=6, pad_token_id=0,
        ),
        says=dict(heads=4, causal=True, norm="layer", norm_eps=1e-5, rope="pairs", rope_theta=8000000),
    ),
    "bert": dict(
        model="BertForMaskedLM",
        attention="bert.encoder.layer.{}.attention.self",
        module="encoder.layer.{}.attention",
        out="bert.encoder.layer.{}.attention.output.dense",
        width=24,
        config=dict(
            model_type="bert", attention_probs_dropout_prob=0.1, hidden_act="gelu", hidden_dropout_prob=0.1,
            hidden_size=24,
            intermediate_size=8, layer_norm_eps=1e-12, max_position_embeddings=24, num_attention_heads=3,
            num_hidden_layers=2, pad_token_id=0, type_vocab_size=2, vocab_size=16,
        ),
        says=dict(heads=3, causal=False, norm="none"),
    ),
    "roberta": dict(
        model="RobertaForMaskedLM",
        attention="roberta.encoder.layer.{}.attention.self",
        module="encoder.layer.{}.attention",
        out="roberta.encoder.layer.{}.attention.output.dense",
        width=24,
        config=dict(
            model_type="roberta", attention_probs_dropout_prob=0.1, hidden_act="gelu", hidden_dropout_prob=0.1,
            hidden_size=24, intermediate_size=8, layer_norm_eps=1e-5, max_position_embeddings=26,
            num_attention_heads=3,
            num_hidden_layers=2, pad_token_id=1, type_vocab_size=1, vocab_size=16, bos_token_id=0, eos_token_id=2,
        ),
        says=dict(heads=3, causal=False, norm="none"),
    ),
    "mpnet": dict(
        model="MPNetModel", attention="encoder.layer.{}.attention.attn", out="o", width=16,
        config=dict(
            model_type="mpnet", attention_probs_dropout_prob=0.1, hidden_act="gelu", hidden_dropout_prob=0.1,
            hidden_size=16, intermediate_size=8, layer_norm_eps=1e-5, max_position_embeddings=26, num_attention_heads=4,
            num_hidden_layers=2, pad_token_id=1, vocab_size=16, bos_token_id=0, eos_token_id=2,
            relative_attention_num_buckets=32,
        ),
        says=dict(heads=4, causal=False, norm="none", relative_distance=128),
    ),
    "vit": dict(
        model="ViTForImageClassification",
        attention="vit.layers.{}.attention",
        module="encoder.layer.{}.attention",
        out="o_proj",
        norm="vit.layers.{}.layernorm_before",
        input="pixels",
        pixels=12,
        tokens=10,
        config=dict(
            model_type="vit", attention_probs_dropout_prob=0.0, encoder_stride=4, hidden_act="gelu",
            hidden_dropout_prob=0.0,
            hidden_size=24, image_size=12, intermediate_size=8, layer_norm_eps=1e-12, num_attention_heads=3,
            num_channels=3,
            num_hidden_layers=2, patch_size=4, qkv_bias=True,
        ),
        says=dict(heads=3, causal=False, norm="layer", norm_eps=1e-12),
    ),
    "clip": dict(
        model="CLIPModel",
        attention="text_model.encoder.layers.{}.self_attn",
        out="out_proj",
        norm="text_model.encoder.layers.{}.layer_norm1",
        input="text and pixels",
        pixels=12,
        config=dict(
            model_type="clip", logit_scale_init_value=2.6592, projection_dim=8,
            text_config=dict(
                model_type="clip_text_model", attention_dropout=0.0, hidden_act="quick_gelu", hidden_size=16,
                intermediate_size=8, layer_norm_eps=1e-5, max_position_embeddings=24, num_attention_heads=2,
                num_hidden_layers=2, vocab_size=16, bos_token_id=0, eos_token_id=2, projection_dim=8,
            ),
            vision_config=dict(
                model_type="clip_vision_model", attention_dropout=0.0, hidden_act="quick_gelu", hidden_size=16,
                image_size=12, intermediate_size=8, layer_norm_eps=1e-5, num_attention_heads=4, num_hidden_layers=2,
                patch_size=4, projection_dim=8,
            ),
        ),
        says=dict(heads=2, causal=True, norm="layer", norm_eps=1e-5),
    ),
    "t5": dict(
        model="T5ForConditionalGeneration",
        attention="encoder.block.{}.layer.0.SelfAttention",
        out="o",
        norm="encoder.block.{}.layer.0.layer_norm",
        input="both",
        encoder_tokens=7,
        gain=0.75,
        config=dict(
            model_type="t5", d_ff=8, d_kv=6, d_model=16, decoder_start_token_id=0, dropout_rate=0.1, eos_token_id=1,
            feed_forward_proj="relu", initializer_factor=1.0, is_encoder_decoder=True, layer_norm_epsilon=1e-6,
            num_heads=4,
            num_layers=2, pad_token_id=0, relative_attention_num_buckets=32, vocab_size=16, tie_word_embeddings=True,
        ),
        says=dict(heads=4, causal=False, norm="rms", norm_eps=1e-6, scale=1.0, relative_distance=128),
    ),
    "whisper": dict(
        model="WhisperForConditionalGeneration",
        attention="model.encoder.layers.{}.self_attn",
        out="out_proj",
        norm="model.encoder.layers.{}.self_attn_layer_norm",
        input="sound",
        frames=12,
        config=dict(
            model_type="whisper", activation_dropout=0.0, activation_function="gelu", attention_dropout=0.0,
            d_model=16,
            decoder_attention_heads=2, decoder_ffn_dim=8, decoder_layers=2, decoder_start_token_id=3, dropout=0.0,
            encoder_attention_heads=2, encoder_ffn_dim=8, encoder_layers=2, is_encoder_decoder=True,
            max_source_positions=12, max_target_positions=16, num_hidden_layers=2, num_mel_bins=4,
            scale_embedding=False,
            vocab_size=16, bos_token_id=1, eos_token_id=1, pad_token_id=1, begin_suppress_tokens=[4, 1],
        ),
        says=dict(heads=2, causal=False, norm="layer", norm_eps=1e-5, scale_on="query"),
    ),
    "modernbert": dict(
        model="ModernBertForMaskedLM",
        attention="model.layers.{}.attn",
        out="Wo",
        norm="model.layers.{}.attn_norm",
        width=24,
        config=dict(
            model_type="modernbert", attention_bias=False, attention_dropout=0.0, classifier_pooling="mean",
            decoder_bias=True, embedding_dropout=0.0, global_attn_every_n_layers=3, global_rope_theta=160000.0,
            hidden_activation="gelu", hidden_size=24, intermediate_size=8, layer_norm_eps=1e-5, local_attention=6,
            local_rope_theta=10000.0, max_position_embeddings=64, mlp_bias=False, mlp_dropout=0.0, norm_bias=False,
            norm_eps=1e-5, num_attention_heads=3, num_hidden_layers=4, vocab_size=16, bos_token_id=2, cls_token_id=2,
            eos_token_id=3, pad_token_id=0, sep_token_id=3,
        ),
        says=dict(heads=3, causal=False, norm="layer", norm_eps=1e-5, packing="blocks", rope="half"),
    ),
}

MPT = FAMILIES["mpt"]["config"]["attn_config"]
FALCON_40B = dict(multi_query=True, new_decoder_architecture=True, num_kv_heads=2, num_attention_heads=6,
                  hidden_size=36)
FALCON_RW = dict(alibi=True, bias=True, multi_query=False, parallel_attn=False, num_attention_heads=4, hidden_size=24)
ALIBI_ONCE = "eager Falcon adds ALiBi twice: the numbers are those of its sdpa path, weights by the formula in float32"
LLAMA_3 = dict(
    num_key_value_heads=2, rope_theta=500000.0, hidden_size=32, max_position_embeddings=131072,
    rope_scaling=dict(
        factor=8.0, high_freq_factor=4.0, low_freq_factor=1.0, original_max_position_embeddings=64, rope_type="llama3"
    ),
)
PHI_LONG = dict(
    original_max_position_embeddings=8, max_position_embeddings=128,
    rope_scaling=dict(long_factor=[1.1, 2.5, 7.0, 11.5], short_factor=[1.0, 1.25, 1.5, 2.0], type="longrope"),
)
PHI_LONG_SAID = "longrope:old=8,max=128,short=1.0;1.25;1.5;2.0,long=1.1;2.5;7.0;11.5"
PHI_4 = dict(
    original_max_position_embeddings=8, max_position_embeddings=64, partial_rotary_factor=0.75, num_key_value_heads=1,
    sliding_window=None,
    rope_scaling=dict(long_factor=[1.0, 3.5, 9.0], short_factor=[1.0, 1.0, 1.0], type="longrope"),
)
PHI_4_SAID = "longrope:old=8,max=64,short=1.0;1.0;1.0,long=1.0;3.5;9.0"
YARN_40 = "yarn:factor=40,fast=32,slow=1,old=64"
CLIP_VISION = dict(
    attention="vision_model.encoder.layers.{}.self_attn", norm="vision_model.encoder.layers.{}.layer_norm1",
    token_count=5, says=dict(heads=4, causal=False),
)
T5_DECODER = dict(
    attention="decoder.block.{}.layer.0.SelfAttention", norm="decoder.block.{}.layer.0.layer_norm",
    says=dict(causal=True),
)
OLD_BIAS = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
T5_CROSS = dict(
    attention="decoder.block.{}.layer.1.EncDecAttention", norm="decoder.block.{}.layer.1.layer_norm", cross=True,
    says=dict(relative_distance=None),
)
WHISPER_DECODER = dict(
    attention="model.decoder.layers.{}.self_attn", norm="model.decoder.layers.{}.self_attn_layer_norm",
    says=dict(causal=True),
)
WHISPER_CROSS = dict(
    attention="model.decoder.layers.{}.encoder_attn", norm="model.decoder.layers.{}.encoder_attn_layer_norm",
    cross=True,
)

CASES = {
    # GPT-2: packed by Conv1D, the scale's two flags
    "gpt2": dict(family="gpt2", layer=1, tokens=10, layers=3, buffers=buffers("h.{}.attn", "bias", "masked_bias")),
    "gpt2-inverse-layer": dict(
        family="gpt2", layer=2, tokens=8, batch=2, files="state dict",
        change=dict(scale_attn_by_inverse_layer_idx=True, n_head=4, n_embd=16),
        says=dict(heads=4, scale=1 / 2 / 3), gain=1.8,
    ),
    "gpt2-no-scale": dict(
        family="gpt2", layer=0, tokens=12, style="transformers", module="transformer.h.{}.attn", rank=2,
        change=dict(scale_attn_weights=False, n_head=2, n_embd=16), says=dict(heads=2, scale=1.0), gain=0.9,
    ),
    # GPT-NeoX, Pythia
    "neox": dict(
        family="gpt_neox", layer=1, tokens=12, layers=2, rotated=4,
        buffers=buffers("gpt_neox.layers.{}.attention", "bool bias", "masked_bias", "rotary_emb.inv_freq"),
    ),
    "neox-half-rotated": dict(
        family="gpt_neox", layer=0, tokens=9, batch=2, files="shards",
        change=dict(
            rotary_pct=0.5, rotary_emb_base=25000, num_attention_heads=3, hidden_size=24, use_parallel_residual=False
        ),
        says=dict(heads=3, rope_theta=25000),
    ),
    "neox-no-bias": dict(
        family="gpt_neox", layer=1, tokens=10, style="transformers",
        change=dict(attention_bias=False, rotary_pct=1.0, num_attention_heads=4, hidden_size=24),
        says=dict(heads=4, rope_columns="6"),
    ),
    # GPT-J: pairs
    "gptj": dict(
        family="gptj", layer=1, tokens=12, layers=2,
        buffers=buffers("transformer.h.{}.attn", "bool bias", "masked_bias"),
    ),
    "gptj-four-heads": dict(
        family="gptj", layer=0, tokens=8, batch=2, change=dict(n_head=4, rotary_dim=4),
        says=dict(heads=4, rope_columns="4")
    ),
    "gptj-all-rotated": dict(
        family="gptj", layer=1, tokens=10, style="transformers", rank=2, change=dict(rotary_dim=12),
        says=dict(rope_columns="12"),
    ),
    # OPT: the scale is on the query
    "opt": dict(family="opt", layer=1, tokens=10, names=[("^model.", "")]),
    "opt-norm-after": dict(
        family="opt", layer=0, tokens=8, batch=2, norm=None, width=24, files="state dict",
        change=dict(do_layer_norm_before=False), says=dict(norm="none", norm_eps=None),
    ),
    "opt-no-bias": dict(
        family="opt", layer=1, tokens=12, style="transformers", rank=2,
        change=dict(enable_bias=False, num_attention_heads=2, layer_norm_elementwise_affine=True), says=dict(heads=2),
    ),
    # BLOOM: ALiBi
    "bloom": dict(family="bloom", layer=1, tokens=12),
    "bloom-six-heads": dict(
        family="bloom", layer=0, tokens=9, batch=2, change=dict(num_attention_heads=6, n_embed=24), says=dict(heads=6)
    ),
    "bloom-three-heads": dict(
        family="bloom", layer=1, tokens=10, style="transformers", module="transformer.h.{}.self_attention",
        change=dict(num_attention_heads=..., n_head=3, n_embed=..., hidden_size=24), says=dict(heads=3),
        files="shards",
    ),
    # MPT: ALiBi, clipped projections
    "mpt": dict(family="mpt", layer=1, tokens=12),
    "mpt-clip": dict(
        family="mpt", layer=0, tokens=10, batch=2, change=dict(attn_config=dict(MPT, clip_qkv=1.5)),
        says=dict(clip=1.5)
    ),
    "mpt-six-heads-scale": dict(
        family="mpt", layer=1, tokens=9, style="transformers",
        change=dict(n_heads=6, d_model=24, attn_config=dict(MPT, softmax_scale=0.8, clip_qkv=2.5)),
        says=dict(heads=6, scale=0.8, clip=2.5),
    ),
    # Falcon: 7B, 40B, RW
    "falcon-7b": dict(family="falcon", layer=1, tokens=12),
    "falcon-40b": dict(
        family="falcon", layer=0, tokens=10, batch=2, norm="transformer.h.{}.ln_attn", change=FALCON_40B,
        says=dict(heads=6, kv_heads=2),
    ),
    "falcon-11b": dict(
        family="falcon", layer=1, tokens=9, style="transformers",
        change=dict(FALCON_40B, num_ln_in_parallel_attn=1, rope_theta=500042.0, bias=True, num_attention_heads=4,
                    hidden_size=24),
        says=dict(heads=4, kv_heads=2, rope_theta=500042),
    ),
    "falcon-rw": dict(
        family="falcon", layer=1, tokens=12, implementation="sdpa", notes=ALIBI_ONCE, change=FALCON_RW,
        files="shards",
        says=dict(heads=4, kv_heads=4, rope=None, rope_theta=None, alibi="scaled"),
    ),
    "falcon-rw-six-heads": dict(
        family="falcon", layer=0, tokens=8, batch=2, implementation="sdpa", notes=ALIBI_ONCE, style="transformers",
        change=dict(FALCON_RW, num_attention_heads=6, hidden_size=24),
        says=dict(heads=6, kv_heads=6, rope=None, rope_theta=None, alibi="scaled"),
    ),
    "falcon-rw-sixteen-heads": dict(
        family="falcon", layer=1, tokens=14, implementation="sdpa", rank=2,
        notes=ALIBI_ONCE + "; its slopes and their products are bfloat16 in any dtype, which eight heads do not show",
        change=dict(FALCON_RW, num_attention_heads=16, hidden_size=32),
        says=dict(heads=16, kv_heads=16, rope=None, rope_theta=None, alibi="scaled"),
    ),
    # Llama 2, 3; a head wider than its share; biases
    "llama-2": dict(
        family="llama", layer=1, tokens=12, layers=2, rotated=6,
        buffers=buffers("model.layers.{}.self_attn", "rotary_emb.inv_freq"),
    ),
    "llama-3": dict(
        family="llama", layer=1, tokens=16, change=LLAMA_3, files="shards",
        says=dict(kv_heads=2, rope_theta=500000, rope_scaling="llama3:factor=8,low=1,high=4,old=64"),
    ),
    "llama-3-transformers": dict(
        family="llama", layer=0, tokens=10, batch=2, style="transformers",
        change=dict(LLAMA_3, attention_bias=True, num_attention_heads=2, head_dim=16, hidden_size=24),
        says=dict(
            heads=2, kv_heads=2, rope_theta=500000, rope_scaling="llama3:factor=8,low=1,high=4,old=64"
        ),
    ),
    "llama-linear": dict(
        family="llama", layer=0, tokens=12, rank=2, change=dict(rope_scaling=dict(type="linear", factor=4.0)),
        says=dict(rope_scaling="linear:factor=4"), files="state dict",
    ),
    "llama-dynamic": dict(
        family="llama", layer=1, tokens=12, change=dict(
            rope_scaling=dict(type="dynamic", factor=2.0), max_position_embeddings=8, num_key_value_heads=1
        ),
        says=dict(kv_heads=1, rope_scaling="dynamic:factor=2,old=8"),
    ),
    "llama-yarn": dict(
        family="llama", layer=1, tokens=12, change=dict(
            rope_scaling=dict(type="yarn", factor=16.0, original_max_position_embeddings=32),
            max_position_embeddings=512,
            num_attention_heads=2, num_key_value_heads=2,
        ),
        says=dict(heads=2, rope_scaling="yarn:factor=16,fast=32,slow=1,old=32"),
    ),
    # Mistral: Nemo is not square; windows
    "mistral-window": dict(
        family="mistral", layer=1, tokens=12, change=dict(sliding_window=5), says=dict(window="4,0")
    ),
    "mistral-nemo": dict(
        family="mistral", layer=0, tokens=10, batch=2, files="shards",
        change=dict(head_dim=4, hidden_size=24, rope_theta=1000000.0), says=dict(rope_theta=1000000),
    ),
    "mistral-transformers": dict(
        family="mistral", layer=1, tokens=12, style="transformers", rank=2,
        change=dict(head_dim=10, num_key_value_heads=1, sliding_window=7), says=dict(kv_heads=1, window="6,0"),
    ),
    # Qwen2: a window that is off, and on from a layer on
    "qwen2": dict(family="qwen2", layer=2, tokens=12),
    "qwen2-window": dict(
        family="qwen2", layer=2, tokens=12, change=dict(use_sliding_window=True), says=dict(window="4,0"), batch=2
    ),
    "qwen2-before-the-window": dict(
        family="qwen2", layer=1, tokens=12, change=dict(use_sliding_window=True), rank=2, files="state dict"
    ),
    "qwen2-transformers": dict(
        family="qwen2", layer=1, tokens=9, style="transformers",
        change=dict(use_sliding_window=True, max_window_layers=1, sliding_window=3, num_key_value_heads=1,
                    rope_theta=5000.0),
        says=dict(window="2,0", kv_heads=1, rope_theta=5000),
    ),
    # Qwen3: a head's norm
    "qwen3": dict(family="qwen3", layer=1, tokens=12),
    "qwen3-bias": dict(
        family="qwen3", layer=0, tokens=8, batch=2, files="shards",
        change=dict(attention_bias=True, num_key_value_heads=4, head_dim=4), says=dict(kv_heads=4),
    ),
    "qwen3-transformers": dict(
        family="qwen3", layer=1, tokens=11, style="transformers", rank=2,
        change=dict(
            num_key_value_heads=1, use_sliding_window=True, sliding_window=4, max_window_layers=1, rope_theta=1000.0,
            rope_scaling=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=8),
        ),
        says=dict(kv_heads=1, window="3,0", rope_theta=1000, rope_scaling="yarn:factor=4,fast=32,slow=1,old=8"),
    ),
    # Gemma 2: 1 + weight, softcap, a scale of its own; layers 0, 2, ... slide
    "gemma-2": dict(family="gemma2", layer=1, tokens=12, files="shards"),
    "gemma-2-sliding": dict(
        family="gemma2", layer=0, tokens=12, batch=2,
        change=dict(query_pre_attn_scalar=8, attn_logit_softcapping=3.0),
        says=dict(window="5,0", scale=8**-0.5, softcap=3.0),
    ),
    "gemma-2-transformers": dict(
        family="gemma2", layer=0, tokens=10, style="transformers", rank=2,
        change=dict(attn_logit_softcapping=None, num_key_value_heads=1, head_dim=6, sliding_window=4, rope_theta=500.0),
        says=dict(kv_heads=1, softcap=None, window="3,0", rope_theta=500),
    ),
    # Gemma 3: a head's norm by 1 + weight, two thetas
    "gemma-3-full": dict(
        family="gemma3_text", layer=1, tokens=12, change=dict(rope_scaling=dict(factor=8.0, rope_type="linear")),
        says=dict(rope_theta=1000000, rope_scaling="linear:factor=8"),
    ),
    "gemma-3-sliding": dict(
        family="gemma3_text", layer=2, tokens=12, batch=2,
        change=dict(rope_scaling=dict(factor=8.0, rope_type="linear"), rope_local_base_freq=500.0),
        says=dict(rope_theta=500, window="4,0"),
    ),
    "gemma-3-transformers": dict(
        family="gemma3_text", layer=1, tokens=10, style="transformers", rank=2,
        change=dict(num_key_value_heads=1, rope_theta=2000.0, query_pre_attn_scalar=40),
        says=dict(kv_heads=1, rope_theta=2000, scale=40**-0.5),
    ),
    "gemma-3-multimodal-sliding": dict(
        family="gemma3", layer=1, tokens=10, says=dict(rope_theta=10000, window="3,0"),
    ),
    "gemma-3-multimodal-full": dict(
        family="gemma3", layer=5, tokens=9, style="transformers", files="shards", shard="24KB",
        says=dict(rope_theta=1000000, rope_scaling="linear:factor=8"),
    ),
    "gemma-3-vision": dict(
        family="gemma3", layer=1, tokens=9, input="tower", pixels=12,
        attention="model.vision_tower.encoder.layers.{}.self_attn",
        module="vision_tower.vision_model.encoder.layers.{}.self_attn", out="out_proj",
        norm="model.vision_tower.encoder.layers.{}.layer_norm1",
        says=dict(
            heads=2, kv_heads=None, causal=False, norm="layer", norm_eps=1e-6, qk_norm=None, qk_norm_eps=None,
            rope=None,
            scale=8**-0.5,
        ),
    ),
    # Phi-3, Phi-4: blocks, longrope on both sides of `old`, a part rotated
    "phi-3-window": dict(family="phi3", layer=1, tokens=12, says=dict(window="5,0")),
    "phi-3-long": dict(
        family="phi3", layer=0, tokens=12, change=dict(PHI_LONG, sliding_window=None),
        says=dict(rope_scaling=PHI_LONG_SAID), files="shards",
    ),
    "phi-3-short": dict(
        family="phi3", layer=1, tokens=8, batch=2, change=dict(PHI_LONG, sliding_window=262144),
        says=dict(rope_scaling=PHI_LONG_SAID, window="262143,0"),
    ),
    "phi-3-su": dict(
        family="phi3", layer=1, tokens=11, rank=2, files="state dict",
        change=dict(PHI_LONG, num_key_value_heads=1, sliding_window=None),
        written=dict(rope_scaling=dict(PHI_LONG["rope_scaling"], type="su")),
        says=dict(rope_scaling=PHI_LONG_SAID, kv_heads=1), notes="su is longrope by an older name",
    ),
    "phi-4": dict(
        family="phi3", layer=1, tokens=12, change=PHI_4,
        says=dict(kv_heads=1, rope_columns="6", rope_scaling=PHI_4_SAID),
    ),
    "phi-4-transformers": dict(
        family="phi3", layer=0, tokens=10, batch=2, style="transformers", change=dict(PHI_4, num_key_value_heads=3),
        says=dict(rope_columns="6", rope_scaling=PHI_4_SAID),
    ),
    # gpt-oss: sinks, windows, yarn that is not truncated
    "gpt-oss-sliding": dict(
        family="gpt_oss", layer=0, tokens=12, says=dict(window="4,0"), after="blocks",
        written=dict(quantization_config=dict(
            quant_method="mxfp4", modules_to_not_convert=["model.layers.*.self_attn", "lm_head"]
        )),
    ),
    "gpt-oss-full": dict(family="gpt_oss", layer=1, tokens=10, batch=2, files="shards"),
    "gpt-oss-transformers": dict(
        family="gpt_oss", layer=0, tokens=9, style="transformers", rank=2,
        change=dict(layer_types=None, num_key_value_heads=1, sliding_window=3, attention_bias=False,
                    rope_theta=150000),
        says=dict(window="2,0", kv_heads=1, rope_theta=150000),
    ),
    # DeepSeek V2, V3: latent keys and values
    "deepseek-v2-lite": dict(
        family="deepseek_v2", layer=1, tokens=12,
        says=dict(scale=10**-0.5 * (0.0707 * math.log(40) + 1) ** 2, rope_scaling=YARN_40 + ",attention=1"),
    ),
    "deepseek-v2": dict(
        family="deepseek_v2", layer=0, tokens=10, batch=2, files="shards",
        change=dict(q_lora_rank=12, rope_scaling=None, v_head_dim=8), says=dict(),
    ),
    "deepseek-v2-transformers": dict(
        family="deepseek_v2", layer=1, tokens=9, style="transformers", rank=2,
        change=dict(q_lora_rank=8, attention_bias=True, rope_scaling=dict(
            beta_fast=32, beta_slow=1, factor=8, mscale=1.0, mscale_all_dim=0.5, original_max_position_embeddings=16,
            rope_type="yarn",
        )),
        says=dict(
            scale=10**-0.5 * (0.05 * math.log(8) + 1) ** 2,
            rope_scaling="yarn:factor=8,fast=32,slow=1,old=16,"
            f"attention={(0.1 * math.log(8) + 1) / (0.05 * math.log(8) + 1):.17g}",
        ),
    ),
    "deepseek-v3": dict(
        family="deepseek_v3", layer=1, tokens=12,
        says=dict(scale=10**-0.5 * (0.1 * math.log(40) + 1) ** 2, rope_scaling=YARN_40 + ",attention=1"),
    ),
    "deepseek-v3-no-query-rank": dict(
        family="deepseek_v3", layer=0, tokens=10, batch=2, files="shards",
        change=dict(q_lora_rank=None, qk_rope_head_dim=6, qk_nope_head_dim=4, rope_scaling=None, rope_theta=500),
        says=dict(rope_columns="last:6", rope_theta=500),
    ),
    "deepseek-v3-transformers": dict(
        family="deepseek_v3", layer=1, tokens=9, style="transformers", rank=2,
        change=dict(rope_interleave=False, num_attention_heads=2, num_key_value_heads=2, attention_bias=True),
        says=dict(
            heads=2, rope="half", scale=10**-0.5 * (0.1 * math.log(40) + 1) ** 2,
            rope_scaling=YARN_40 + ",attention=1"
        ),
        notes="rope_interleave is false: halves",
    ),
    # OLMo 2: a norm over all heads, none before
    "olmo-2": dict(family="olmo2", layer=1, tokens=12),
    "olmo-2-groups": dict(
        family="olmo2", layer=0, tokens=9, batch=2, files="shards", change=dict(num_key_value_heads=2),
        says=dict(kv_heads=2),
    ),
    "olmo-2-transformers": dict(
        family="olmo2", layer=1, tokens=10, style="transformers", rank=2,
        change=dict(attention_bias=True, rope_theta=100.0, num_attention_heads=2, num_key_value_heads=1),
        says=dict(heads=2, kv_heads=1, rope_theta=100),
    ),
    # Cohere: pairs, a LayerNorm without bias, norms with weights for each head
    "cohere": dict(family="cohere", layer=1, tokens=12),
    "cohere-norms": dict(
        family="cohere", layer=0, tokens=10, batch=2, change=dict(use_qk_norm=True, num_key_value_heads=2),
        says=dict(kv_heads=2, qk_norm="layer", qk_norm_eps=1e-5),
    ),
    "cohere-transformers": dict(
        family="cohere", layer=1, tokens=9, style="transformers", rank=2,
        change=dict(use_qk_norm=True, rope_theta=..., attention_bias=True, layer_norm_eps=1e-3),
        says=dict(qk_norm="layer", qk_norm_eps=1e-3, norm_eps=1e-3, rope_theta=500000),
    ),
    # BERT, RoBERTa
    "bert": dict(
        family="bert", layer=1, tokens=12,
        names=[("LayerNorm.weight", "LayerNorm.gamma"), ("LayerNorm.bias", "LayerNorm.beta")],
    ),
    "bert-no-prefix": dict(
        family="bert", layer=0, tokens=9, batch=2, model="BertModel", attention="encoder.layer.{}.attention.self",
        out="encoder.layer.{}.attention.output.dense", change=dict(num_attention_heads=4), says=dict(heads=4),
        files="state dict",
    ),
    "bert-transformers": dict(
        family="bert", layer=1, tokens=8, style="transformers", rank=2, change=dict(num_attention_heads=2),
        says=dict(heads=2)
    ),
    "roberta": dict(family="roberta", layer=1, tokens=12),
    "roberta-four-heads": dict(
        family="roberta", layer=0, tokens=9, batch=2, change=dict(num_attention_heads=4), says=dict(heads=4),
        files="shards"
    ),
    "roberta-transformers": dict(
        family="roberta", layer=1, tokens=8, style="transformers", rank=2, change=dict(num_attention_heads=2),
        says=dict(heads=2),
    ),
    # MPNet: T5's table, next to the blocks, for scaled scores
    "mpnet": dict(family="mpnet", layer=1, tokens=20),
    "mpnet-transformers": dict(
        family="mpnet", layer=0, tokens=14, batch=2, style="transformers", rank=2, files="state dict",
        change=dict(num_attention_heads=1, relative_attention_num_buckets=40), says=dict(heads=1, buckets=32),
    ),
    # ViT, CLIP
    "vit": dict(family="vit", layer=1),
    "vit-no-bias": dict(
        family="vit", layer=0, batch=2, change=dict(qkv_bias=False, num_attention_heads=2), says=dict(heads=2),
        files="shards"
    ),
    "vit-transformers": dict(
        family="vit", layer=1, style="transformers", files="state dict", own_names=True,
        module="vit.layers.{}.attention", change=dict(num_attention_heads=4), says=dict(heads=4), rank=2
    ),
    "clip-text": dict(family="clip", layer=1, tokens=9),
    "clip-vision": dict(family="clip", layer=1, tokens=10, **CLIP_VISION),
    "clip-text-transformers": dict(family="clip", layer=0, tokens=8, batch=2, style="transformers"),
    "clip-vision-transformers": dict(
        family="clip", layer=0, tokens=10, batch=2, style="transformers", files="shards", shard="24KB", **CLIP_VISION
    ),
    # T5: a table of distances, no scale, cross-attention
    "t5-encoder": dict(family="t5", layer=1, tokens=12, encoder_tokens=12),
    "t5-decoder": dict(family="t5", layer=1, tokens=16, **T5_DECODER),
    "t5-cross": dict(
        family="t5", layer=1, tokens=6, encoder_tokens=9,
        buffers=lambda row: {OLD_BIAS: torch.randn(32, 4).bfloat16()},
        notes="as published checkpoints: a table of distances of cross-attention that nothing uses", **T5_CROSS,
    ),
    "t5-encoder-transformers": dict(
        family="t5", layer=0, tokens=14, encoder_tokens=14, style="transformers", rank=2,
        change=dict(relative_attention_num_buckets=8, relative_attention_max_distance=10, num_heads=3, d_kv=8,
                    feed_forward_proj="gated-gelu", tie_word_embeddings=False),
        says=dict(heads=3, relative_distance=10),
    ),
    "t5-decoder-transformers": dict(
        family="t5", layer=0, tokens=14, batch=2, style="transformers", files="shards",
        change=dict(relative_attention_num_buckets=8, relative_attention_max_distance=9, num_decoder_layers=1),
        **dict(T5_DECODER, says=dict(causal=True, relative_distance=9)),
    ),
    "t5-cross-transformers": dict(
        family="t5", layer=0, tokens=5, batch=2, encoder_tokens=8, style="transformers", **T5_CROSS
    ),
    # Whisper: the key has no bias
    "whisper-encoder": dict(family="whisper", layer=1, tokens=12, token_count=4),
    "whisper-decoder": dict(family="whisper", layer=1, tokens=10, **WHISPER_DECODER),
    "whisper-cross": dict(family="whisper", layer=1, tokens=7, encoder_tokens=12, **WHISPER_CROSS),
    "whisper-encoder-transformers": dict(
        family="whisper", layer=0, tokens=12, batch=2, token_count=4, style="transformers",
        change=dict(encoder_attention_heads=4, encoder_layers=1), says=dict(heads=4),
    ),
    "whisper-decoder-transformers": dict(
        family="whisper", layer=0, tokens=9, style="transformers", rank=2, files="shards",
        change=dict(decoder_attention_heads=4), **dict(WHISPER_DECODER, says=dict(causal=True, heads=4)),
    ),
    "whisper-cross-transformers": dict(
        family="whisper", layer=0, tokens=6, batch=2, encoder_tokens=12, style="transformers",
        change=dict(decoder_attention_heads=4), **dict(WHISPER_CROSS, says=dict(heads=4)),
    ),
    # ModernBERT: global and local layers; layer 0 has no norm
    "modernbert-global": dict(family="modernbert", layer=3, tokens=12, says=dict(rope_theta=160000)),
    "modernbert-local": dict(
        family="modernbert", layer=1, tokens=12, batch=2, says=dict(rope_theta=10000, window="3,3"),
    ),
    "modernbert-first": dict(
        family="modernbert", layer=0, tokens=9, norm=None, rank=2,
        change=dict(num_hidden_layers=2, attention_bias=True),
        says=dict(norm="none", norm_eps=None, rope_theta=160000), files="state dict",
    ),
    "modernbert-transformers": dict(
        family="modernbert", layer=1, tokens=10, style="transformers",
        change=dict(
            num_hidden_layers=2, local_rope_theta=300.0, local_attention=4, num_attention_heads=4, norm_bias=True
        ),
        says=dict(heads=4, rope_theta=300, window="2,2"),
    ),
    # Output gates; chunks; positions of three axes; a factor of key
    "qwen2-vl": dict(
        family="qwen2_vl", layer=1, tokens=10, style="transformers", module="layers.{}.self_attn",
    ),
    "qwen2-vl-image": dict(
        family="qwen2_vl", layer=0, tokens=10, batch=2, style="transformers", module="layers.{}.self_attn",
        positions="0-2,3,3,3,3,3,3,6-7;0-2,3,3,3,4,4,4,6-7;0-2,3,4,5,3,4,5,6-7",
        says=dict(rope_axes="t2,h1,w1"),
    ),
    "qwen3-vl-image": dict(
        family="qwen3_vl", layer=1, tokens=10, positions="0-1,2,2,2,2,2,2,5-6;0-1,2,2,3,3,4,4,5-6;0-1,2,3,2,3,2,3,5-6",
    ),
    "qwen2-vl-vision": dict(family="qwen2_vl_vision", layer=1, tokens=24, positions="grid:4x6"),
    "qwen2.5-vl-vision": dict(
        family="qwen2_5_vl_vision", layer=1, tokens=36, positions="grid:6x6", style="transformers",
    ),
    "qwen2.5-vl-vision-window": dict(
        family="qwen2_5_vl_vision", layer=0, tokens=16, positions="grid:4x4",
        says=dict(rope_axes="h,w,restarted,merge=2,window=4,windows-apart"),
    ),
    # Windows, and frames of a video, mask each other's keys; in Kimi K2.5 and MiniMax M3 frames do not
    "qwen2.5-vl-vision-windows": dict(
        family="qwen2_5_vl_vision", layer=0, tokens=48, positions="grid:6x8", style="transformers",
        says=dict(rope_axes="h,w,restarted,merge=2,window=4,windows-apart"),
    ),
    "qwen2.5-vl-vision-video": dict(
        family="qwen2_5_vl_vision", layer=0, tokens=48, positions="grid:2x4x6",
        says=dict(rope_axes="h,w,restarted,merge=2,window=4,windows-apart"),
    ),
    "qwen2.5-vl-vision-frames": dict(
        family="qwen2_5_vl_vision", layer=1, tokens=48, positions="grid:2x6x4",
        says=dict(rope_axes="h,w,restarted,frames-apart,merge=2,window=4"),
    ),
    "qwen2-vl-vision-frames": dict(
        family="qwen2_vl_vision", layer=0, tokens=24, positions="grid:3x2x4", style="transformers",
        says=dict(rope_axes="h,w,restarted,frames-apart,merge=2"),
    ),
    "kimi-k2.5-vision-frames": dict(
        family="kimi_k25_vision", layer=1, tokens=16, positions="grid:2x4x2", style="transformers",
        says=dict(rope_axes="w,h,restarted,interleaved,frames-joint"),
    ),
    "minimax-m3-vision": dict(family="minimax_m3_vl_vision", layer=1, tokens=16, positions="grid:2x2x4"),
    "hunyuan-vl-vision": dict(family="hunyuan_vl_vision", layer=0, tokens=12, positions="grid:4x3"),
    # Norms of query and key after their rotation
    "hunyuan-v1": dict(family="hunyuan_v1_dense", layer=1, tokens=12),
    "hunyuan-v1-stretched": dict(
        family="hunyuan_v1_dense", layer=0, tokens=10, batch=2, style="transformers",
        change=dict(rope_scaling=dict(type="dynamic", alpha=1000.0, factor=1.0, beta_fast=32, beta_slow=1, mscale=1.0,
                                      mscale_all_dim=0.0), num_key_value_heads=1),
        says=dict(kv_heads=1, rope_theta=10000 * 1000 ** (8 / 6)),
    ),
    "hunyuan-v1-moe": dict(
        family="hunyuan_v1_dense", layer=1, tokens=11, model="HunYuanMoEV1ForCausalLM",
        change=dict(model_type="hunyuan_v1_moe", num_experts=2, moe_topk=1, attention_bias=True),
    ),
    "glm-4v-vision": dict(family="glm4v_vision", layer=1, tokens=24, positions="grid:6x4"),
    "kimi-k2.5-vision": dict(family="kimi_k25_vision", layer=0, tokens=12, positions="grid:2x6"),
    "pixtral": dict(family="pixtral", layer=1, tokens=15, positions="grid:3x5"),
    "dinov3": dict(family="dinov3_vit", layer=1, tokens=15, positions="grid:3x4"),
    "llama-4-vision": dict(family="llama4_vision", layer=0, tokens=17, positions="grid:4x4"),
    "qwen3-next": dict(family="qwen3_next", layer=1, tokens=12),
    "qwen3.5": dict(family="qwen3_5_text", layer=1, tokens=10, batch=2),
    "afmoe": dict(family="afmoe", layer=1, tokens=12),
    "llama-4": dict(family="llama4_text", layer=0, tokens=12),
    "llama-4-no-rope": dict(
        family="llama4_text", layer=1, tokens=10,
        says=dict(rope=None, rope_theta=None, qk_norm=None, qk_norm_eps=None, bare_norm=None, attention_chunk=None),
    ),
    "ministral-3": dict(family="ministral3", layer=1, tokens=12),
    # Keys that an indexer chooses
    "deepseek-v3.2-chosen": dict(family="deepseek_v32", layer=1, tokens=10, batch=2),
    "deepseek-v3.2-few": dict(
        family="deepseek_v32", layer=0, tokens=9, style="transformers", change=dict(index_topk=9),
        says=dict(index_topk=9),
    ),
    "glm-5": dict(family="glm_moe_dsa", layer=0, tokens=12),
    # Two factors of cosine and sine
    "phi-3.5-moe": dict(family="phimoe", layer=1, tokens=10, batch=2, says=dict(
        rope_scaling="longrope:old=64,max=256,attention=1.2,beyond=1.5,short=1;1.1;1.3,long=1;1.1;1.3",
    )),
    "phi-3.5-moe-long": dict(
        family="phimoe", layer=0, tokens=12, style="transformers", change=dict(
            max_position_embeddings=64, rope_parameters=dict(
                rope_type="longrope", rope_theta=1000.0, original_max_position_embeddings=8, short_mscale=1.2,
                long_mscale=0.6, short_factor=[1.0, 1.1, 1.3], long_factor=[1.5, 2.0, 4.0],
            ),
        ),
        says=dict(rope_scaling="longrope:old=8,max=64,attention=1.2,beyond=0.6,short=1;1.1;1.3,long=1;1.1;1.3"),
    ),
    # Queries that grow with their position
    "llama-4-growing": dict(
        family="llama4_text", layer=1, tokens=11, batch=2, change=dict(floor_scale=3, attn_scale=0.5, num_key_value_heads=1),
        says=dict(
            kv_heads=1, rope=None, rope_theta=None, qk_norm=None, qk_norm_eps=None, bare_norm=None, attention_chunk=None,
            query_growth="0.5,3,1",
        ),
    ),
    "ministral-3-growing": dict(
        family="ministral3", layer=0, tokens=13, batch=2, change=dict(rope_parameters=dict(
            rope_type="yarn", rope_theta=1000.0, factor=4.0, original_max_position_embeddings=4, beta_fast=32.0,
            beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.3, max_position_embeddings=16,
        )),
        says=dict(rope_scaling="yarn:factor=4,fast=32,slow=1,old=4,attention=1", query_growth="0.3,4"),
    ),
    "mistral-4-growing": dict(family="mistral4", layer=1, tokens=12, says=dict(
        rope_scaling="yarn:factor=8,fast=32,slow=1,old=5,attention=1",
        scale=10**-0.5 * (0.1 * math.log(8) + 1) ** 2, query_growth="0.4,5",
    )),
    "cohere2-moe": dict(family="cohere2_moe", layer=0, tokens=12),
    "granite-4": dict(family="granitemoehybrid", layer=1, tokens=12),
    "falcon-h1": dict(family="falcon_h1", layer=1, tokens=12, norm=None, width=24),
    "cwm": dict(family="cwm", layer=1, tokens=12),
    "gemma-3n": dict(family="gemma3n_text", layer=0, tokens=12, gain=0.7, says=dict(rope_theta=1000000)),
    "gemma-3n-sliding": dict(
        family="gemma3n_text", layer=1, tokens=10, batch=2, gain=0.7, style="transformers",
        says=dict(rope_theta=500, window="4,0"),
    ),
    "gemma-4": dict(
        family="gemma4_text", layer=1, tokens=12, gain=0.7,
        says=dict(kv_heads=1, rope_theta=1000000, rope_scaling="proportional:share=0.25"),
    ),
    "gemma-4-last": dict(  # a window by layer_types, and none because it is the last layer
        family="gemma4_text", layer=1, tokens=12, gain=0.7, change=dict(layer_types=["sliding_attention"] * 2),
        says=dict(kv_heads=1, rope_theta=1000000, rope_scaling="proportional:share=0.25"),
    ),
    "gemma-4-sliding": dict(
        family="gemma4_text", layer=0, tokens=12, gain=0.7, style="transformers",
        says=dict(kv_heads=2, rope_theta=500, window="4,0"),
    ),
}
