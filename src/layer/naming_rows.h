/* SPDX-License-Identifier: MIT */
/* How models name the tensors of an attention module, a row each. A name is the part between the module's path and
 * ".weight" or ".bias"; in a list, separated by blanks, the first one present counts.
 *   .query .key .value      three weights
 *   .key_value              key and value in one weight
 *   .packed                 all three in one
 *   .joint                  the separator between that name and "weight" or "bias", if it is not a dot
 *   .query_a .query_b       MLA: the down and the up projection, with a norm between them,
 *   .latent_a .latent_b     for the query, and for key and value together
 *   .key_b .value_b         GGUF: the two halves of latent_b for each head, the first one transposed
 *   .out                    the output projection: a row fits only a module that has all its names
 *   .packing                how a packed weight is cut
 *   .conv1d                 weights are stored d_in x d_out
 *   .reordered              neighbouring rows of query and key may be a pair, depending on the family
 *   .config .family         the name of the config next to such weights, and the family if that does not say one
 *   .norm                   the norm before attention, if it is in the module itself or has an unusual name
 *   .passed                 norms after attention, which attn ignores
 *   .own                    GGUF: the layer is the module's path, and only names that begin so are the module's
 * If two rows fit a module, the first counts. */
#pragma once

#define NAMING_OUTS "o_proj out_proj dense proj projection projection_layer Wo c_proj"

#define NAMING_GGUF .out = "attn_output", .own = "attn_", .passed = "attn_output_norm attn_norm"
#define NAMING_GGUF_LATENT \
    .latent_a = "attn_kv_a_mqa", .out = "attn_output", .own = "attn_", .passed = "attn_k_b attn_v_b"

/* clang-format off */
#define NAMING_ROWS(ROW)                                                                                              \
    ROW(.query_a = "q_a_proj", .query_b = "q_b_proj", .latent_a = "kv_a_proj_with_mqa", .latent_b = "kv_b_proj",      \
        .out = "o_proj")                                                                                              \
    ROW(.query_a = "wq_a", .query_b = "wq_b", .latent_a = "wkv_a", .latent_b = "wkv_b", .out = "wo")                  \
    ROW(.query = "wq", .latent_a = "wkv_a", .latent_b = "wkv_b", .out = "wo")                                         \
    ROW(.query = "q_proj", .latent_a = "kv_a_proj_with_mqa", .latent_b = "kv_b_proj", .out = "o_proj")                \
    ROW(.query = "q_proj", .key = "k_proj", .value = "v_proj", .out = NAMING_OUTS)                                    \
    ROW(.query = "q_proj", .key = "k_proj", .value = "v_proj", .out = "output_proj", .reordered = true)               \
    ROW(.query = "q_proj", .key = "k_proj", .value = "k_proj", .out = "o_proj")                                       \
    ROW(.query = "wq", .key = "wk", .value = "wv", .out = "wo", .reordered = true, .config = "params.json",           \
        .family = "meta")                                                                                             \
    ROW(.query = "q", .key = "k", .value = "v", .out = "o proj out_proj", .norm = "layer_norm")                       \
    ROW(.query = "self.query", .key = "self.key", .value = "self.value", .out = "output.dense",                       \
        .norm = "LayerNorm ln self_attn_layer_norm", .passed = "output.LayerNorm")                                    \
    ROW(.query = "attention.query", .key = "attention.key", .value = "attention.value", .out = "output.dense",        \
        .passed = "output.LayerNorm")                                                                                 \
    ROW(.query = "query", .key = "key", .value = "value", .out = "out", .family = "whisper")                          \
    ROW(.query = "query", .key = "key", .value = "value", .out = "dense out_proj proj output", .passed = "LayerNorm") \
    ROW(.query = "query_proj", .key = "key_proj", .value = "value_proj", .out = "out_proj")                           \
    ROW(.query = "q_lin", .key = "k_lin", .value = "v_lin", .out = "out_lin")                                         \
    ROW(.query = "linear_q", .key = "linear_k", .value = "linear_v", .out = "linear_out")                             \
    ROW(.query = "to_q", .key = "to_k", .value = "to_v", .out = "to_out to_out.0")                                    \
    ROW(.query = "to_q", .key_value = "to_kv", .out = "to_out to_out.0", .packing = PACKING_BLOCKS)                   \
    ROW(.query = "Wq", .key = "Wk", .value = "Wv", .out = "dense Wo out_proj")                                        \
    ROW(.query = "project_q", .key = "project_k", .value = "project_v", .out = "attention_out")                       \
    ROW(.query = "q_attn", .key_value = "c_attn", .out = "c_proj", .packing = PACKING_BLOCKS, .conv1d = true)         \
    ROW(.packed = "c_attn", .out = "c_proj", .packing = PACKING_BLOCKS, .conv1d = true, .family = "gpt2")             \
    ROW(.packed = "qkv_proj", .out = "o_proj out_proj", .packing = PACKING_BLOCKS)                                    \
    ROW(.packed = "W_pack", .out = "o_proj", .packing = PACKING_BLOCKS)                                               \
    ROW(.packed = "linear_qkv", .out = "linear_proj", .packing = PACKING_GROUPS, .norm = "linear_qkv.layer_norm")     \
    ROW(.packed = "Wqkv", .out = "Wo out_proj", .packing = PACKING_BLOCKS)                                            \
    ROW(.packed = "wqkv", .out = "wo", .packing = PACKING_GROUPS)                                                     \
    ROW(.packed = "query_key_value", .out = "dense", .packing = PACKING_GROUPS)                                       \
    ROW(.packed = "qkv", .out = "proj projection out_proj", .packing = PACKING_BLOCKS)                                \
    ROW(.packed = "attn", .out = "proj", .packing = PACKING_GROUPS)                                                   \
    ROW(.packed = "attention.qkv", .out = "output.dense", .packing = PACKING_BLOCKS)                                  \
    ROW(.packed = "att_proj", .out = "out_proj", .packing = PACKING_BLOCKS)                                           \
    ROW(.packed = "in_proj", .joint = "_", .out = "out_proj", .packing = PACKING_BLOCKS)                              \
    ROW(.query_a = "attn_q_a", .query_b = "attn_q_b", .latent_b = "attn_kv_b", NAMING_GGUF_LATENT)                    \
    ROW(.query = "attn_q", .latent_b = "attn_kv_b", NAMING_GGUF_LATENT)                                               \
    ROW(.query_a = "attn_q_a", .query_b = "attn_q_b", .key_b = "attn_k_b", .value_b = "attn_v_b", NAMING_GGUF_LATENT) \
    ROW(.query = "attn_q", .key_b = "attn_k_b", .value_b = "attn_v_b", NAMING_GGUF_LATENT)                            \
    ROW(.packed = "attn_qkv", .norm = "attn_norm_2 attn_norm", .packing = PACKING_BLOCKS, NAMING_GGUF)                \
    ROW(.query = "attn_q", .key = "attn_k", .value = "attn_v", NAMING_GGUF)
/* clang-format on */

/* Parts of the names of tensors, or ends before a $, and why attn does not compute a module that has one. */
#define NAMING_STREAMS "attn does not compute the attention of two streams, such as a picture and a text, together"
#define NAMING_NO_CONFIG ", but no config says how; expected quantization_config in config.json"
#define NAMING_QUANTISED "a quantised weight" NAMING_NO_CONFIG
#define NAMING_SCALE "a scale of quantised weights" NAMING_NO_CONFIG
#define NAMING_REFUSED_ROWS(ROW)                                                                                  \
    ROW("img_attn", NAMING_STREAMS)                                                                               \
    ROW("txt_attn", NAMING_STREAMS)                                                                               \
    ROW("joint_blocks.", NAMING_STREAMS)                                                                          \
    ROW("single_blocks.", "attn does not cut a weight that query, key and value share with the MLP")              \
    ROW("add_k_proj.", NAMING_STREAMS)                                                                            \
    ROW("add_kv_proj.", NAMING_STREAMS)                                                                           \
    ROW("/kernel$", "attn does not read the weights of JAX, d_in x heads x columns; save the model with PyTorch") \
    ROW(".kernel$", "attn does not read the weights of JAX, d_in x heads x columns; save the model with PyTorch") \
    ROW("rel_pos_h", "attn does not compute relative positions in two directions")                                \
    ROW("relative_position_bias_table", "attn does not compute a bias by the positions in a window of a picture") \
    ROW("pos_bias_u", "attn does not compute the relative positions of Transformer-XL")                           \
    ROW("gru_rel_pos", "attn does not compute a relative bias with a gate")                                       \
    ROW("bias_mask", "attn does not apply a mask of biases; take the checkpoint of transformers")                 \
    ROW(".lora_", "attn does not merge a LoRA; merge it into the model first")                                    \
    ROW(".qweight$", NAMING_QUANTISED)                                                                            \
    ROW(".weight_packed$", NAMING_QUANTISED)                                                                      \
    ROW(".weight_quantized$", NAMING_QUANTISED)                                                                   \
    ROW("_blocks$", NAMING_QUANTISED)                                                                             \
    ROW("weight_scale$", NAMING_SCALE)                                                                            \
    ROW("_scale_inv$", NAMING_SCALE)

/* Parts of the names of tensors of a layer that mixes tokens without a softmax, and what it has; the first row counts.
 */
#define NAMING_UNSOFT_ROWS(ROW)                          \
    ROW(".mamba.", "a state space of Mamba")                      \
    ROW(".mixer.A_log", "a state space of Mamba")                 \
    ROW(".rg_lru.", "a recurrence")                      \
    ROW(".conv.conv.", "a convolution")                  \
    ROW(".A_log", "linear attention")                    \
    ROW(".self_attn.output_gate.", "linear attention")   \
    ROW(".attention.g_norm.", "linear attention") \
    ROW(".self_attn.q_proj.", "the keys and values of an earlier layer")

/* Names that many rows share. In the module: */
#define NAMING_QUERY_NORMS "q_norm q_layernorm query_layernorm query_norm q_ln norm_q attn_q_norm"
#define NAMING_KEY_NORMS "k_norm k_layernorm key_layernorm key_norm k_ln norm_k attn_k_norm"

/* the gate of the contexts, */
#define NAMING_GATES "gate_proj g_proj"

/* a sink for each head, */
#define NAMING_SINKS "sinks softmax_offset attention_sink_bias attn_sinks.weight"

/* the table of T5's relative bias, unused in a module of cross-attention; */
#define NAMING_RELATIVE_BIAS "relative_attention_bias"

/* next to it, or directly in its layer, the norm before attention, that after attention, and that before
 * cross-attention; */
/* clang-format off */
#define NAMING_NORMS                                                                                                  \
    "input_layernorm input_norm ln_attn ln_1 ln1 norm1 norm_1 layernorm_before self_attn_layer_norm attn_norm "       \
    "layer_norm1 layer_norm_1 layernorm1 attention_norm attention_layernorm pre_attention_layer_norm "                \
    "pre_attention_layernorm operator_norm rms_norm1 pre_sa_norm norm_self_att layernorm_before_attention "           \
    "layer_norm_before attn_ln sa_norm layer_norm norm"
#define NAMING_CROSS_NORMS                                                                                            \
    "encoder_attn_layer_norm cross_attn_layer_norm cross_attention_layer_norm ln_cross_attn pre_ca_norm cross_attn_ln"
/* clang-format on */

/* and buffers that attn does not need: the causal mask, the frequencies of the rotation. */
#define NAMING_BUFFERS                                                                                 \
    "bias masked_bias attention.bias attention.masked_bias rotary_emb.inv_freq rotary_emb.sin_cached " \
    "rotary_emb.cos_cached self.rotary_embeddings.inv_freq embed_positions linear_qkv._extra_state "   \
    "linear_proj._extra_state core_attention._extra_state q_layernorm._extra_state k_layernorm._extra_state"
