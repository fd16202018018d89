/* SPDX-License-Identifier: MIT */
/* The mechanisms: each is a command, and "mechanism" in a result. */
#pragma once

#include "base/manual.h"
#include "model/stage_id.h"

#include <stdbool.h>

/* Which keys a query is allowed, before any other rule of the mask. */
enum causality {
    CAUSALITY_NEVER,       /* all */
    CAUSALITY_ALWAYS,      /* its own and those before */
    CAUSALITY_UNLESS_SAID, /* the same, unless --no-causal */
    CAUSALITY_IF_SAID,     /* all, unless --causal */
};

struct mechanism_row {
    const char *name;  /* the command, and "mechanism" in a result */
    const char *title; /* begins a sentence */
    bool projects;     /* projects inputs to query, key and value; else they are given */
    bool opens;        /* reads the parameters from a checkpoint's module; else from a file, or draws them */
    bool splits;       /* splits columns into heads, which `output` joins again */
    enum causality causality;
    const char *example; /* the built-in input to start with, as attn example calls it; NULL: none */
    const char *foreign; /* other people's names for it: suggest_knows */
    struct manual manual;
};

/* One row per mechanism: its identifier, and the fields of struct mechanism_row. */
/* clang-format off */
#define MECHANISM_ROWS(ROW) \
    ROW(SELF, .name = "self", .title = "self-attention", .projects = true, .causality = CAUSALITY_NEVER, \
        .example = "six", .foreign = "selfattention selfattn selfattentionv1 selfattentionv2 attention attn singlehead onehead", \
        .manual = {"one head, every token attends to every token", "attn self [options] [FILE]", \
            "Self-attention with one head: every token attends to every token.", \
            .stages = "query, key, value, scores, scaled, weights, context, and with --stages lse, entropy", \
            .examples = {{"attn self inputs.json", "every stage"}, \
             {"attn self inputs.json --init rand", "with weights of torch.rand instead of nn.Linear"}, \
             {"attn self inputs.json -q 2 --stages scores,weights", "two stages of the second token"}}}) \
    ROW(CAUSAL, .name = "causal", .title = "causal attention", .projects = true, .causality = CAUSALITY_ALWAYS, \
        .example = "six", .foreign = "causalattention causalselfattention causalattn masked maskedattention maskedselfattention decoder", \
        .manual = {"one head, each token attends to itself and those before it", "attn causal [options] [FILE]", \
            "Causal attention with one head: each token attends to itself and the tokens before it.", \
            .stages = "query, key, value, scores, scaled, masked, weights, dropped with --dropout, context, and with --stages lse, entropy", \
            .examples = {{"attn causal inputs.json", "every stage"}, \
             {"attn causal inputs.json --dropout 0.5", "with dropout on the weights"}, \
             {"attn causal inputs.json -o result.json", "as JSON into a file"}}}) \
    ROW(MULTIHEAD, .name = "multihead", .title = "multi-head attention", .projects = true, .splits = true, \
        .causality = CAUSALITY_UNLESS_SAID, \
        .example = "patterns", .foreign = "mha mhsa multiheadattention multiheadattn multiheadselfattention multiheadattentionwrapper " \
            "nnmultiheadattention multiheaded multiplehead multipleheads heads gqa mqa groupedqueryattention", \
        .manual = {"several heads, causal unless --no-causal", "attn multihead --heads N [options] [FILE]", \
            "Several heads, causal unless --no-causal: split heads with an output projection, or --stacked.", \
            .stages = "query, key, value, scores, scaled, masked, weights, dropped with --dropout, context, output, and with --stages lse, entropy", \
            .examples = {{"attn multihead -H 2 inputs.json", "two split heads"}, \
             {"attn multihead -H 2 --stacked inputs.json", "two modules side by side"}, \
             {"attn multihead -H 2 inputs.json -w trained.json", "a trained module's parameters"}}}) \
    ROW(LAYER, .name = "layer", .title = "attention layer", .projects = true, .opens = true, .splits = true, \
        .causality = CAUSALITY_UNLESS_SAID, \
        .foreign = "checkpoint model block attentionlayer selfattnlayer huggingface hf transformers gguf", \
        .manual = {"the attention module of a checkpoint", "attn layer [options] [HIDDEN] -w CHECKPOINT --layer N", \
            "The attention of one layer of a real checkpoint on given hidden states: names, packing, heads, rotations, " \
            "windows and norms as the model has them. Without --layer attn lists the checkpoint.", .page = "attn-layer", \
            .stages = "normed with --residual, those of multihead, and what the model adds before query and key, such as projected_query", \
            .examples = {{"attn layer hidden.npy -w model/ --layer 1", "every stage of layer 1"}, \
             {"attn layer residual.npy -w model/ --layer 1 --residual", "from hidden_states[1], before the norm"}, \
             {"attn layer -w model/", "what is in the checkpoint"}}}) \
    ROW(SDPA, .name = "sdpa", .title = "scaled dot-product attention", .causality = CAUSALITY_IF_SAID, \
        .example = "grouped", .foreign = "scaleddotproductattention scaleddotproduct fscaleddotproductattention dotproduct " \
            "dotproductattention qkv flash flashattention flashattn", \
        .manual = {"attention on a given query, key and value", "attn sdpa [options] [FILE]", \
            "Scaled dot-product attention on the query, key and value of the file, with masks, windows, grouped " \
            "heads and whatever else models add. With --heads they are packed: B x T x heads d.", .page = "attn-sdpa", \
            .stages = "context, and with --stages scores, scaled, capped, masked, weights, dropped, lse, entropy", \
            .examples = {{"attn example grouped | attn sdpa", "the context, in the layout of the query"}, \
             {"attn sdpa qkv.json --causal --window 128,0 --stages weights,lse", "other stages, of a window"}, \
             {"attn sdpa qkv.safetensors -H 8 --kv-heads 2", "of heads that lie side by side"}}})
/* clang-format on */

#define MECHANISM_ID(id, ...) MECHANISM_##id,
enum mechanism { MECHANISM_ROWS(MECHANISM_ID) MECHANISM_COUNT };

extern const struct mechanism_row MECHANISMS[MECHANISM_COUNT];

/* The mechanism of that name, or MECHANISM_COUNT, also for NULL. */
enum mechanism mechanism_find(const char *name);

/* The gradient at which the backward pass begins: with respect to the last stage, output or context. */
enum stage mechanism_grad_stage(enum mechanism mechanism);
