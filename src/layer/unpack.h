/* SPDX-License-Identifier: MIT */
/* The tensors of a module -> a file as attn has it, under its standard names:
 *
 *   W_query.weight (H d, d_in), W_key.weight (Hkv d, d_key_in), W_value.weight (Hkv d_v, d_key_in), with .bias or not;
 *   out_proj.weight (d_out, H d_v), out_proj.bias; norm.weight, norm.bias (d_in), that of the layer before attention;
 *   query_norm.weight, .bias, key_norm.weight, .bias: (d), or (H d) and (Hkv d), or (H, d) and (Hkv, d);
 *   relative_bias.weight (buckets, H); sinks (H);
 *   of MLA W_query_a.weight, query_a_norm.weight, W_query_b.weight in place of W_query; W_key_value_a.weight,
 *   key_value_a_norm.weight, W_key_value_b.weight in place of W_key and W_value.
 *
 * Numbers stay in the mapped file wherever their rows lie one behind another; what is stored d_in x d_out (Conv1D) or
 * packed in groups is copied in its dtype. Whether all numbers are finite is seen where they are taken. */
#ifndef ATTN_LAYER_UNPACK_H
#define ATTN_LAYER_UNPACK_H

#include "layer/module.h"
#include "read/input_file.h"

struct unpack_plan {
    size_t heads;         /* of queries, at least 1 */
    size_t kv_heads;      /* of keys and values; 0: as the separate weights have it, `heads` of packed ones */
    enum packing packing; /* of a packed weight; module_packing */
    const char *heads_said, *kv_heads_said; /* who says so: "--heads", "num_attention_heads"; or NULL */
};

/* `input` has each tensor under its standard name, sorted, and in .origin and .file what the checkpoint calls it;
 * plan->kv_heads is set where it was 0. STATUS_USAGE where a dtype is not read, and where a shape contradicts the
 * heads: the message names tensor and shape, and what was expected. */
enum status module_unpack(const struct module_list *list, const struct layer_module *module, struct unpack_plan *plan,
                          struct arena *arena, struct input_file *input, struct error *error);

#endif
