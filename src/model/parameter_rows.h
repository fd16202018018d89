/* SPDX-License-Identifier: MIT */
/* The parameters of an attention module by their names in attn's files, in the order of results.
 *
 *     ROW(stem)         of query, key or value: STEM (d_in, d_out) or STEM.weight (d_out, d_in), and STEM.bias; where
 *                       each head has a module of its own "heads.N." comes before it
 *     ROW(name, field)  any other parameter, and its tensor in struct parameters */
#pragma once

#define PARAMETER_PROJECTION_ROWS(ROW) ROW("W_query") ROW("W_key") ROW("W_value")

#define PARAMETER_LATENT_ROWS(ROW)                               \
    ROW("W_query_a.weight", latent.query_a.weight)               \
    ROW("W_query_a.bias", latent.query_a.bias)                   \
    ROW("query_a_norm.weight", latent.query_norm.weight)         \
    ROW("W_query_b.weight", latent.query_b.weight)               \
    ROW("W_query_b.bias", latent.query_b.bias)                   \
    ROW("W_key_value_a.weight", latent.key_value_a.weight)       \
    ROW("W_key_value_a.bias", latent.key_value_a.bias)           \
    ROW("key_value_a_norm.weight", latent.key_value_norm.weight) \
    ROW("W_key_value_b.weight", latent.key_value_b.weight)       \
    ROW("W_key_value_b.bias", latent.key_value_b.bias)

#define PARAMETER_BLOCK_ROWS(ROW)                      \
    ROW("out_proj.weight", out.weight)                 \
    ROW("out_proj.bias", out.bias)                     \
    ROW("norm.weight", norms[NORM_INPUTS].weight)      \
    ROW("norm.bias", norms[NORM_INPUTS].bias)          \
    ROW("query_norm.weight", norms[NORM_QUERY].weight) \
    ROW("query_norm.bias", norms[NORM_QUERY].bias)     \
    ROW("key_norm.weight", norms[NORM_KEY].weight)     \
    ROW("key_norm.bias", norms[NORM_KEY].bias)         \
    ROW("relative_bias.weight", relative_bias)         \
    ROW("W_gate.weight", gate.weight)                  \
    ROW("W_gate.bias", gate.bias)

/* Of a model of words. */
#define PARAMETER_WORD_ROWS(ROW)                 \
    ROW("embedding", words.embedding)            \
    ROW("position_embedding", words.positions)   \
    ROW("unembedding", words.unembedding.weight) \
    ROW("unembedding_bias", words.unembedding.bias)
