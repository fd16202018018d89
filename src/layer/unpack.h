/* SPDX-License-Identifier: MIT */
/* The tensors of a module -> an input of attn, under its standard names:
 *
 *   W_query.weight (H d, d_in), W_key.weight (Hkv d, d_key_in), W_value.weight (Hkv d_v, d_key_in), with .bias or not;
 *   out_proj.weight (d_out, H d_v), out_proj.bias; norm.weight, norm.bias (d_in), that of the layer before attention;
 *   query_norm.weight, .bias, key_norm.weight, .bias: (d), or (H d) and (Hkv d), or (H, d) and (Hkv, d);
 *   relative_bias.weight (buckets, H); sinks (H); W_gate.weight (H d_v, d_in) or (H, d_in), W_gate.bias;
 *   of MLA W_query_a.weight, query_a_norm.weight, W_query_b.weight in place of W_query; W_key_value_a.weight,
 *   key_value_a_norm.weight, W_key_value_b.weight in place of W_key and W_value.
 *
 * Numbers stay in the mapped file if their rows are contiguous; weights stored d_in x d_out (Conv1D) or packed in
 * groups are copied in their dtype, as are rows that a
 * GGUF has in another order. problem/parameters.h checks that all numbers are finite. */
#pragma once

#include "layer/module.h"
#include "read/input_file.h"

struct unpack_plan {
    size_t heads;         /* of queries, at least 1 */
    size_t kv_heads;      /* of keys and values; 0: from separate weights, or `heads` in packed ones */
    bool gated;           /* each head of the query's weight is followed by its gate */
    enum packing packing; /* of a packed weight, as the naming has it, if no option or family overrules that */
    bool permuted;        /* GGUF: in each head of query and key, rows of the two halves alternate */
    const char *heads_said, *kv_heads_said; /* their source: "--heads", "num_attention_heads"; or NULL */
};

/* Fills `input` with the tensors under their standard names, sorted, with the checkpoint's names in .origin and .file;
 * sets plan->kv_heads where it was 0. STATUS_USAGE for a dtype that attn does not read, and for a shape that
 * contradicts the heads: the message names the tensor, its shape and the expected one. */
enum status module_unpack(const struct module_list *list, const struct layer_module *module, struct unpack_plan *plan,
                          struct arena *arena, struct input_file *input, struct error *error);
