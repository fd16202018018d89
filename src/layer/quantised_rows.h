/* SPDX-License-Identifier: MIT */
/* The forms of quantised weights in checkpoints, a row each.
 *
 *   ROW(method, key, formats, title, ...)   by "quant_method" of the config (Mistral: "qformat_weight") and one more of
 *                                           its keys
 *
 *   key, formats   the names of that key, and the values of this form; "": the method has one form
 *   title          in "weights dequantised from TITLE"; NULL: the type of the codes
 *   .usual         the form where the config lacks that key
 *   .in_groups     each of the config's "config_groups" has its own settings
 *   .part          the tensors that hold X.weight: X.qweight and so on
 *   .widths        bits of a code that the config may ask for; NULL: .bits
 *   .block         rows and columns of a block with one scale, 0 for all, where .fixed; else the config says
 *   .word          bits of the words that hold the codes, the first code in the lowest bits; 0: each code is a byte
 *   .down          words of the codes, .zeros_down of the zero points, follow each other down a column, not along a row
 *   .of_rows       a word has codes of consecutive rows of the weight, not of columns; .zeros_of_rows so of zero points
 *   .interleaved   it has first those of even rows, then of odd ones
 *   .across        scales and zero points are stored columns x rows
 *   .e2m1          codes are floating point numbers of 4 bits
 *   .centred       without zero points, zero is the middle code
 *   .asks_zeros    zero points must be there, as where the config's "symmetric" is false
 *   .zero_added    a zero point is stored as the code before it
 *   .added         in place of a zero point each block has a number that is added to code x scale, rounded before and
 *                  after that
 *   .rounded       the weights are rounded to this dtype; NULL: to that of the scales
 *
 * A weight is (code - zero) x scale, rounded once. Sources: transformers' integrations/finegrained_fp8.py and mxfp4.py,
 * compressed-tensors' compressors, GPTQModel's dequantize_weight, AutoAWQ's dequantize_gemm, mlx.core.dequantize. */
#pragma once

/* clang-format off */
#define BYTES(scales) .part = {[CODES] = "weight", [SCALES] = scales, [ZEROS] = "weight_zero_point"}
#define COMPRESSED(ROW, formats, title, ...)                                                                          \
    ROW("compressed-tensors", "format", formats, title, .in_groups = true, __VA_ARGS__)
#define GPTQ(ROW, format, ...)                                                                                        \
    ROW("gptq", "checkpoint_format format", format, "GPTQ", .widths = "2, 3, 4 or 8", .word = 32, .down = true,       \
        .part = {[CODES] = "qweight", [SCALES] = "scales", [ZEROS] = "qzeros", [GROUPS] = "g_idx"},                   \
        .zeros_of_rows = true, .across = true, .asks_zeros = true, __VA_ARGS__)
#define QUANTISED_ROWS(ROW)                                                                                           \
    ROW("fp8", "", "", "FP8", BYTES("weight_scale_inv"), .rounded = "f32")                                            \
    ROW("fp8", "", "", "FP8", BYTES("weight_scale"), .rounded = "f32")                                                \
    ROW("fp8", "", "", "FP8", BYTES("scale"), .rounded = "f32")                                                       \
    ROW("fp8_e4m3", "", "", "FP8", BYTES("qscale_weight"), .rounded = "f32")                                          \
    ROW("mxfp8", "", "", "MXFP8", BYTES("weight_scale_inv"), .fixed = true, .block = {1, 32}, .rounded = "f32")       \
    ROW("fbgemm_fp8", "", "", "FP8", BYTES("weight_scale"), .fixed = true, .block = {1, 0})                           \
    ROW("modelopt", "quant_algo", "FP8", "FP8", BYTES("weight_scale"), .fixed = true, .block = {0, 0})                \
    COMPRESSED(ROW, "float-quantized int-quantized naive-quantized", NULL, BYTES("weight_scale"), .widths = "8")      \
    COMPRESSED(ROW, "mxfp8-quantized", "MXFP8", BYTES("weight_scale"), .widths = "8", .rounded = "bf16")              \
    COMPRESSED(ROW, "pack-quantized", NULL, .widths = "1, 2, 3, 4, 5, 6, 7 or 8", .word = 32, .zeros_down = true,     \
               .zeros_of_rows = true, .centred = true,                                                                \
               .part = {[CODES] = "weight_packed", [SCALES] = "weight_scale", [ZEROS] = "weight_zero_point",          \
                        [GROUPS] = "weight_g_idx", [SHAPE] = "weight_shape"})                                         \
    COMPRESSED(ROW, "mxfp4-pack-quantized", "MXFP4", .widths = "4", .word = 8, .e2m1 = true, .rounded = "bf16",       \
               .part = {[CODES] = "weight_packed", [SCALES] = "weight_scale"})                                        \
    COMPRESSED(ROW, "nvfp4-pack-quantized", "NVFP4", .widths = "4", .word = 8, .e2m1 = true, .rounded = "bf16",       \
               .part = {[CODES] = "weight_packed", [SCALES] = "weight_scale", [DIVISOR] = "weight_global_scale"})     \
    GPTQ(ROW, "gptq", .usual = true, .zero_added = true)                                                              \
    GPTQ(ROW, "gptq_v2", .usual = false)                                                                              \
    ROW("awq", "version format", "gemm GEMM", "AWQ", .usual = true, .widths = "4 or 8", .word = 32, .of_rows = true,  \
        .part = {[CODES] = "qweight", [SCALES] = "scales", [ZEROS] = "qzeros"}, .zeros_of_rows = true,                \
        .interleaved = true, .across = true, .asks_zeros = true)                                                      \
    ROW("affine", "", "", "MLX", .widths = "2, 3, 4, 5, 6 or 8", .word = 32, .asks_zeros = true, .added = true,       \
        .part = {[CODES] = "weight", [SCALES] = "scales", [ZEROS] = "biases"})                                        \
    ROW("mxfp4", "", "", "MXFP4", .fixed = true, .bits = 4, .block = {1, 32}, .word = 8, .e2m1 = true,                \
        .rounded = "bf16", .part = {[CODES] = "weight_blocks", [SCALES] = "weight_scales"})

/* What engines quantise besides weights, with scales for it: activations, keys and values. attn does not. */
#define QUANTISED_LEFT                                                                                                \
    "input_scale input_zero_point input_global_scale input_scale_ub output_scale output_zero_point activation_scale "  \
    "q_scale k_scale v_scale kv_scale prob_scale qscale_act"
/* clang-format on */
