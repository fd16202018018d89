/* SPDX-License-Identifier: MIT */
/* A LoRA adapter, as PEFT saves it: adapter_config.json, and adapter_model.safetensors or adapter_model.bin.
 *
 *   base_model.model.PATH.lora_A.weight (r, d_in), .lora_B.weight (d_out, r): PATH.weight + scale x B A
 *   base_model.model.PATH.lora_B.bias (d_out): PATH.bias + scale x it, with lora_bias
 *   base_model.model.PATH.weight, PATH.bias, or PATH.base_layer.bias: in place of the checkpoint's, with
 *   modules_to_save and bias
 *
 * scale is lora_alpha / r, or with use_rslora lora_alpha / sqrt(r), by alpha_pattern and rank_pattern. B A is rounded
 * to float32, and the sum to the dtype of the weight, as merge_and_unload does. attn rejects all else that a config may
 * ask for. */
#pragma once

#include "layer/config.h"

struct adapter {
    struct config config;
    struct checkpoint tensors;
    struct adapter_change *changes; /* (tensors.count) */
    size_t mistake;                 /* the form of layer-adapter to make, plus 1; 0: right */
    struct arena *arena;
    struct error *error;
};

/* The folder's adapter for that checkpoint. STATUS_SYSTEM where a file cannot be read; STATUS_USAGE for an adapter of
 * another kind, and for a tensor that changes none of the checkpoint. adapter_close releases the config, always. */
enum status adapter_open(struct adapter *adapter, const char *folder, const struct checkpoint *base,
                         struct arena *arena, struct error *error);
void adapter_close(struct adapter *adapter);

/* Replaces the checkpoint's tensor of that name, as it is stored, if there is an adapter, not NULL, that has another.
 * STATUS_USAGE for another shape. */
enum status adapter_replace(const struct adapter *adapter, const char *name, struct tensor *tensor);

/* Adds to it, in a copy: a weight is d_out x d_in, however it is stored. STATUS_USAGE where shapes, or the rank of the
 * config, contradict each other. */
enum status adapter_add(const struct adapter *adapter, const char *name, struct tensor *tensor);
