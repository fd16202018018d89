/* SPDX-License-Identifier: MIT */
/* The attention module of a checkpoint: which tensors are found to be one, in which layer and tower, and which rows of
 * them become query, key and value. */
#include "check.h"
#include "layer/quantised.h"
#include "layer/unpack.h"
#include "model/safetensors_form.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 600, TEXT_BYTES = 2000 };

static char path[PATH_BYTES];

/* A .safetensors of "NAME 4x3, NAME 4, ...": number k of a tensor of C columns is 100 x its row + its column. */
static void write_tensors(const char *list)
{
    static char header[TEXT_BYTES * 4];
    static unsigned char data[1 << 16];
    struct text text = text_begin(header, sizeof header);
    size_t end = 0;
    text_add(&text, "{");
    for (const char *at = list; *at != '\0'; at += strcspn(at, ","), at += strspn(at, ", ")) {
        size_t rows, columns;
        const int name = (int)strcspn(at, " ");
        const char *shape = at + name + 1;
        const bool matrix = sscanf(shape, "%zux%zu", &rows, &columns) == 2;
        const bool eighth = shape[strcspn(shape, ",?")] == '?'; /* of a dtype that attn has not */
        const size_t begin = end;
        columns = matrix ? columns : 1;
        for (size_t i = 0; i < rows * columns; i++, end += eighth ? 1 : 2)
            dtype_encode(DTYPE_F16, &(double){(double)(100 * (i / columns) + i % columns)}, 1, data + end);
        text_add(&text, "%s\"%.*s\":{\"dtype\":\"%s\",\"shape\":[%zu", begin > 0 ? "," : "", name, at,
                 eighth ? "F8_E8M0" : "F16", rows);
        if (matrix)
            text_add(&text, ",%zu", columns);
        text_add(&text, "],\"data_offsets\":[%zu,%zu]}", begin, end);
    }
    text_add(&text, "}%*s", (int)((8 - (text.length + 1) % 8) % 8), ""); /* data are aligned */
    FILE *file = fopen(path, "wb");
    if (file == NULL || text.cut) {
        perror(path);
        exit(1);
    }
    for (size_t i = 0; i < SAFETENSORS_LENGTH_BYTES; i++)
        fputc(i < 4 ? (int)(text.length >> 8 * i & 255) : 0, file);
    fwrite(header, 1, text.length, file);
    fwrite(data, 1, end, file);
    fclose(file);
}

static enum status open_list(const char *tensors, struct arena *arena, struct checkpoint *checkpoint,
                             struct module_list *list, struct error *error)
{
    static const struct config NONE;
    static struct quantised plain;
    write_tensors(tensors);
    if (checkpoint_open(path, arena, checkpoint, error) || modules_find(checkpoint, arena, list, error) ||
        quantised_begin(&plain, checkpoint, &NONE, error))
        return error->status;
    list->quantised = &plain;
    return STATUS_OK;
}

static void check_told(const char *expected, const struct error *error)
{
    CHECK(expected != NULL && strstr(error->message, expected) != NULL, "expected: %s\n     got: %s",
          expected != NULL ? expected : "no error", error->message);
}

/* --- which modules there are ------------------------------------------------------------------------------------- */

/* clang-format off */
#define LLAMA(layer) layer "self_attn.q_proj.weight 4x3, " layer "self_attn.k_proj.weight 4x3, " layer "self_attn.v_proj.weight 4x3, " layer "self_attn.o_proj.weight 3x4, "
#define BERT(layer) layer "attention.self.query.weight 4x3, " layer "attention.self.key.weight 4x3, " layer "attention.self.value.weight 4x3, " layer "attention.output.dense.weight 3x4, "
#define T5(module) module ".q.weight 4x3, " module ".k.weight 4x3, " module ".v.weight 4x3, " module ".o.weight 3x4, "
#define WHISPER(module) module ".q_proj.weight 4x3, " module ".k_proj.weight 4x3, " module ".v_proj.weight 4x3, " module ".out_proj.weight 3x4, "

/* "PATH layer part", in order; -1 is no layer. */
static const struct {
    const char *title, *tensors, *modules;
} FOUND[] = {
    {"layers in the order of their numbers", LLAMA("model.layers.10.") LLAMA("model.layers.9."), "model.layers.9.self_attn 9 only|model.layers.10.self_attn 10 only|"},
    {"no prefix", LLAMA(""), "self_attn -1 only|"},
    {"no path at all", "q_proj.weight 4x3, k_proj.weight 4x3, v_proj.weight 4x3, o_proj.weight 3x4", " -1 only|"},
    {"BERT", BERT("bert.encoder.layer.1."), "bert.encoder.layer.1.attention 1 encoder|"},
    {"a decoder that holds an encoder", BERT("decoder.bert.encoder.layer.1.") BERT("encoder.encoder.layer.1."), "decoder.bert.encoder.layer.1.attention 1 decoder|encoder.encoder.layer.1.attention 1 encoder|"},
    {"T5: the block is the layer", T5("decoder.block.2.layer.0.SelfAttention") T5("decoder.block.2.layer.1.EncDecAttention") T5("encoder.block.2.layer.0.SelfAttention"), "decoder.block.2.layer.0.SelfAttention 2 decoder|decoder.block.2.layer.1.EncDecAttention 2 decoder cross|encoder.block.2.layer.0.SelfAttention 2 encoder|"},
    {"Whisper", WHISPER("model.decoder.layers.0.encoder_attn") WHISPER("model.decoder.layers.0.self_attn") WHISPER("model.encoder.layers.0.self_attn"), "model.decoder.layers.0.encoder_attn 0 decoder cross|model.decoder.layers.0.self_attn 0 decoder|model.encoder.layers.0.self_attn 0 encoder|"},
    {"text beside vision", WHISPER("vision_model.encoder.layers.0.self_attn") WHISPER("text_model.encoder.layers.0.self_attn"), "text_model.encoder.layers.0.self_attn 0 text|vision_model.encoder.layers.0.self_attn 0 vision|"},
    {"a tower without a name beside vision is the text", LLAMA("model.layers.0.") "visual.blocks.0.attn.qkv.weight 12x3, visual.blocks.0.attn.proj.weight 3x4", "model.layers.0.self_attn 0 text|visual.blocks.0.attn 0 vision|"},
    {"a stage and a block: the last number", BERT("encoder.layers.1.blocks.0."), "encoder.layers.1.blocks.0.attention 0 encoder|"},
    {"a hybrid", LLAMA("model.layers.3.") "model.layers.0.linear_attn.in_proj.weight 4x3, model.layers.0.linear_attn.out_proj.weight 3x4", "model.layers.3.self_attn 3 only|"},
    {"an MLP is none", "h.0.mlp.c_proj.weight 3x4, h.0.mlp.c_fc.weight 4x3", ""},
    {"no output projection, no module", "a.q_proj.weight 4x3, a.k_proj.weight 4x3, a.v_proj.weight 4x3", ""},
    {"nn.MultiheadAttention", "layers.0.self_attn.in_proj_weight 12x4, layers.0.self_attn.in_proj_bias 12, layers.0.self_attn.out_proj.weight 4x4", "layers.0.self_attn 0 only|"},
};
/* clang-format on */

static void check_found(size_t at)
{
    static const char *const PARTS[] = {[PART_ONLY] = "only", [PART_ENCODER] = "encoder", [PART_DECODER] = "decoder",
                                        [PART_TEXT] = "text", [PART_VISION] = "vision",   [PART_AUDIO] = "audio"};
    char modules[TEXT_BYTES];
    struct text text = text_begin(modules, sizeof modules);
    struct arena arena = {0};
    struct checkpoint checkpoint;
    struct module_list list;
    struct error error = {0};
    check_begin("found: %s", FOUND[at].title);
    if (CHECK(open_list(FOUND[at].tensors, &arena, &checkpoint, &list, &error) == STATUS_OK,
              "expected modules, got: %s", error.message))
        for (size_t i = 0; i < list.count; i++) {
            const struct layer_module *module = &list.modules[i];
            text_add(&text, "%s %d %s%s|", module->path, module->layer == MODULE_NO_LAYER ? -1 : (int)module->layer,
                     PARTS[module->part], module->cross ? " cross" : "");
        }
    CHECK_TEXT(FOUND[at].modules, modules);
    arena_free(&arena);
}

/* --- which of them is meant -------------------------------------------------------------------------------------- */

#define NO_LAYER MODULE_NO_LAYER
#define TOWERS                                     \
    WHISPER("model.decoder.layers.0.encoder_attn") \
    WHISPER("model.decoder.layers.0.self_attn") WHISPER("model.encoder.layers.0.self_attn")
#define HYBRID LLAMA("layers.3.") LLAMA("layers.4.") LLAMA("layers.5.") LLAMA("layers.9.")

/* clang-format off */
static const struct {
    const char *title, *tensors;
    size_t layer;
    const char *module, *path, *told;
} CHOSEN[] = {
    {"a layer", HYBRID, 4, NULL, "layers.4.self_attn", NULL},
    {"the only one", LLAMA("model."), NO_LAYER, NULL, "model.self_attn", NULL},
    {"a tower", TOWERS, 0, "model.encoder", "model.encoder.layers.0.self_attn", NULL},
    {"a path", TOWERS, NO_LAYER, "model.decoder.layers.0.encoder_attn", "model.decoder.layers.0.encoder_attn", NULL},
    {"a path that ends in a dot", TOWERS, 0, "model.encoder.", "model.encoder.layers.0.self_attn", NULL},
    {"components from within", TOWERS, 0, "encoder_attn", "model.decoder.layers.0.encoder_attn", NULL},
    {"layers.1 is not layers.10", LLAMA("layers.1.") LLAMA("layers.10."), NO_LAYER, "layers.1", "layers.1.self_attn", NULL},
    {"several", TOWERS, 0, NULL, NULL, "3 attention modules of layer 0: model.decoder.layers.0.encoder_attn, model.decoder.layers.0.self_attn, model.encoder.layers.0.self_attn; choose one with --module, such as --module model.decoder.layers.0.encoder_attn"},
    {"several without a layer", TOWERS, NO_LAYER, NULL, NULL, "3 attention modules: model.decoder"},
    {"several of a tower", TOWERS, 0, "model.decoder", NULL, "2 attention modules of layer 0: model.decoder.layers.0.encoder_attn, model.decoder.layers.0.self_attn; choose"},
    {"no such layer", HYBRID, 40, NULL, NULL, "no attention in layer 40; expected one of 3 to 5, 9"},
    {"a layer of linear attention", HYBRID "layers.0.linear_attn.A_log 4", 0, NULL, NULL, "layer 0 has linear attention (layers.0.linear_attn.A_log), which attn does not compute; expected one of 3 to 5, 9, with softmax attention"},
    {"linear attention with names like those of softmax attention", HYBRID LLAMA("layers.2.") "layers.2.self_attn.A_log 4", 2, NULL, NULL, "layer 2 has linear attention (layers.2.self_attn.A_log), which attn does not compute"},
    {"linear attention of MiniMax", HYBRID "layers.1.self_attn.qkv_proj.weight 12x4, layers.1.self_attn.out_proj.weight 4x4, layers.1.self_attn.output_gate.weight 4x4", 1, NULL, NULL, "layer 1 has linear attention (layers.1.self_attn.output_gate.weight)"},
    {"Mamba", HYBRID "layers.6.mamba.A_log 4, layers.6.mamba.D 4", 6, NULL, NULL, "layer 6 has a state space of Mamba (layers.6.mamba.A_log)"},
    {"no such layer of a tower", TOWERS, 7, "model.encoder", NULL, "no attention in layer 7; expected one of 0"},
    {"no layers", LLAMA("model."), 3, NULL, NULL, "its attention modules have no layer number; leave out --layer"},
    {"no such module", TOWERS, 0, "vision", NULL, "no attention module 'vision'; expected one of model.decoder.layers.0.encoder_attn, model.decoder.layers.0.self_attn, model.encoder.layers.0.self_attn"},
    {"no module at all", "a.weight 2x2", 0, NULL, NULL, "no attention module among its 1 tensors, such as a.weight; expected names that end like self_attn.q_proj.weight"},
    {"quantized", "layers.0.self_attn.k_proj.qweight 2x2, layers.0.self_attn.k_proj.scales 2", 0, NULL, NULL, "layers.0.self_attn.k_proj.qweight: a quantised weight, but no config says how"},
    {"JAX", "Transformer/encoderblock_0/MultiHeadDotProductAttention_1/query/kernel 4x4", 0, NULL, NULL, "query/kernel: attn does not read the weights of JAX, d_in x heads x columns; save the model with PyTorch"},
    {"an MLP that is in blocks, with a gate", "transformer_blocks.0.gate.weight 4x4", 0, NULL, NULL, "no attention module among its 1 tensors, such as transformer_blocks.0.gate.weight"},
    {"Flux, one stream", "single_blocks.0.linear1.weight 4x4", 0, NULL, NULL, "single_blocks.0.linear1.weight: attn does not cut a weight that query, key and value share with the MLP"},
};
/* clang-format on */

static void check_chosen(size_t at)
{
    struct arena arena = {0};
    struct checkpoint checkpoint;
    struct module_list list;
    const struct layer_module *module;
    struct error error = {0};
    check_begin("chosen: %s", CHOSEN[at].title);
    if (!CHECK(open_list(CHOSEN[at].tensors, &arena, &checkpoint, &list, &error) == STATUS_OK, "%s", error.message))
        return;
    if (module_choose(&list, CHOSEN[at].layer, CHOSEN[at].module, &module, &error) != STATUS_OK)
        check_told(CHOSEN[at].told, &error);
    else
        CHECK_TEXT(CHOSEN[at].path, module->path);
    arena_free(&arena);
}

/* --- what becomes of its tensors --------------------------------------------------------------------------------- */

/* clang-format off */
#define MLA(layer) layer "kv_a_proj_with_mqa.weight 4x5, " layer "kv_a_layernorm.weight 3, " layer "kv_b_proj.weight 10x3, " layer "o_proj.weight 5x6, "

/* "NAME first second ...": of each tensor the first numbers of its rows, then the last number of all. */
static const struct {
    const char *title, *tensors;
    size_t heads, kv_heads;
    enum packing packing;
    const char *unpacked, *told;
} UNPACKED[] = {
    {"separate", LLAMA("") "self_attn.q_proj.bias 4, input_layernorm.weight 3", 2, 2, PACKING_SEPARATE, "W_key.weight 0 100 200 300 302|W_query.bias 0 100 200 300 300|W_query.weight 0 100 200 300 302|W_value.weight 0 100 200 300 302|norm.weight 0 100 200 200|out_proj.weight 0 100 200 203|", NULL},
    {"fewer keys, counted", "q_proj.weight 4x3, k_proj.weight 2x3, v_proj.weight 3x3, o_proj.weight 2x12", 4, 0, PACKING_SEPARATE, NULL, "v_proj.weight: 3 x 3; expected rows that divide into 2 heads of values"},
    {"values of other columns", "q_proj.weight 4x3, k_proj.weight 2x3, v_proj.weight 6x3, o_proj.weight 2x12", 4, 0, PACKING_SEPARATE, "W_key.weight 0 100 102|W_query.weight 0 100 200 300 302|W_value.weight 0 100 200 300 400 500 502|out_proj.weight 0 100 111|", NULL},
    {"blocks", "a.qkv_proj.weight 8x3, a.qkv_proj.bias 8, a.o_proj.weight 3x4", 2, 1, PACKING_BLOCKS, "W_key.bias 400 500 500|W_key.weight 400 500 502|W_query.bias 0 100 200 300 300|W_query.weight 0 100 200 300 302|W_value.bias 600 700 700|W_value.weight 600 700 702|out_proj.weight 0 100 200 203|", NULL},
    {"groups", "a.query_key_value.weight 8x3, a.query_key_value.bias 8, a.dense.weight 3x4", 4, 2, PACKING_GROUPS, "W_key.bias 200 600 600|W_key.weight 200 600 602|W_query.bias 0 100 400 500 500|W_query.weight 0 100 400 500 502|W_value.bias 300 700 700|W_value.weight 300 700 702|out_proj.weight 0 100 200 203|", NULL},
    {"groups of one head", "a.query_key_value.weight 6x1, a.dense.weight 1x2", 2, 0, PACKING_GROUPS, "W_key.weight 100 400 400|W_query.weight 0 300 300|W_value.weight 200 500 500|out_proj.weight 0 1|", NULL},
    {"groups that lie in blocks", "a.query_key_value.weight 6x1, a.dense.weight 1x2", 2, 0, PACKING_BLOCKS, "W_key.weight 200 300 300|W_query.weight 0 100 100|W_value.weight 400 500 500|out_proj.weight 0 1|", NULL},
    {"Conv1D", "h.0.attn.c_attn.weight 2x6, h.0.attn.c_attn.bias 6, h.0.attn.c_proj.weight 2x2, h.0.attn.bias 8x8", 2, 2, PACKING_BLOCKS, "W_key.bias 200 300 300|W_key.weight 2 3 103|W_query.bias 0 100 100|W_query.weight 0 1 101|W_value.bias 400 500 500|W_value.weight 4 5 105|out_proj.weight 0 1 101|", NULL},
    {"its name, stored as others", "h.0.attn.c_attn.weight 4x2, h.0.attn.c_attn.bias 4, h.0.attn.c_proj.weight 2x2", 2, 1, PACKING_BLOCKS, "W_key.bias 200 200|W_key.weight 200 201|W_query.bias 0 100 100|W_query.weight 0 100 101|W_value.bias 300 300|W_value.weight 300 301|out_proj.weight 0 100 101|", NULL},
    {"GPT-2's cross-attention", "h.0.crossattention.c_attn.weight 2x4, h.0.crossattention.c_attn.bias 4, h.0.crossattention.q_attn.weight 2x2, h.0.crossattention.c_proj.weight 2x2, h.0.ln_cross_attn.weight 2, h.0.ln_1.weight 2", 2, 2, PACKING_BLOCKS, "W_key.bias 0 100 100|W_key.weight 0 1 101|W_query.weight 0 1 101|W_value.bias 200 300 300|W_value.weight 2 3 103|norm.weight 0 100 100|out_proj.weight 0 1 101|", NULL},
    {"nn.MultiheadAttention", "a.in_proj_weight 6x2, a.in_proj_bias 6, a.out_proj.weight 2x2", 2, 2, PACKING_BLOCKS, "W_key.bias 200 300 300|W_key.weight 200 300 301|W_query.bias 0 100 100|W_query.weight 0 100 101|W_value.bias 400 500 500|W_value.weight 400 500 501|out_proj.weight 0 100 101|", NULL},
    {"norms of query and key, sinks", "a.q_proj.weight 4x3, a.k_proj.weight 2x3, a.v_proj.weight 2x3, a.o_proj.weight 3x4, a.q_norm.weight 2, a.k_layernorm.weight 2, a.sinks 2", 2, 1, PACKING_SEPARATE, "W_key.weight 0 100 102|W_query.weight 0 100 200 300 302|W_value.weight 0 100 102|key_norm.weight 0 100 100|out_proj.weight 0 100 200 203|query_norm.weight 0 100 100|sinks 0 100 100|", NULL},
    {"norms of all heads, and of each", "a.q_proj.weight 4x1, a.k_proj.weight 4x1, a.v_proj.weight 4x1, a.o_proj.weight 1x4, a.q_norm.weight 4, a.k_norm.weight 2x2", 2, 2, PACKING_SEPARATE, "W_key.weight 0 100 200 300 300|W_query.weight 0 100 200 300 300|W_value.weight 0 100 200 300 300|key_norm.weight 0 100 101|out_proj.weight 0 3|query_norm.weight 0 100 200 300 300|", NULL},
    {"the relative bias of block 0", T5("encoder.block.1.layer.0.SelfAttention") "encoder.block.1.layer.0.layer_norm.weight 3, encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight 2x2", 2, 2, PACKING_SEPARATE, "W_key.weight 0 100 200 300 302|W_query.weight 0 100 200 300 302|W_value.weight 0 100 200 300 302|norm.weight 0 100 200 200|out_proj.weight 0 100 200 203|relative_bias.weight 0 100 101|", NULL},
    {"cross-attention has none, though one is there", T5("decoder.block.0.layer.1.EncDecAttention") "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight 2x2", 2, 2, PACKING_SEPARATE, "W_key.weight 0 100 200 300 302|W_query.weight 0 100 200 300 302|W_value.weight 0 100 200 300 302|out_proj.weight 0 100 200 203|", NULL},
    {"a norm after attention is passed over", BERT("l.0.") "l.0.attention.output.LayerNorm.weight 3, l.0.attention.output.LayerNorm.gamma 3", 2, 2, PACKING_SEPARATE, "W_key.weight 0 100 200 300 302|W_query.weight 0 100 200 300 302|W_value.weight 0 100 200 300 302|out_proj.weight 0 100 200 203|", NULL},
    {"a norm of the layer without words", WHISPER("l.0.attention") "l.0.layer_norm.weight 3", 2, 2, PACKING_SEPARATE, "W_key.weight 0 100 200 300 302|W_query.weight 0 100 200 300 302|W_value.weight 0 100 200 300 302|norm.weight 0 100 200 200|out_proj.weight 0 100 200 203|", NULL},
    {"a norm within the module", BERT("l.0.") "l.0.attention.LayerNorm.weight 3", 2, 2, PACKING_SEPARATE, "W_key.weight 0 100 200 300 302|W_query.weight 0 100 200 300 302|W_value.weight 0 100 200 300 302|norm.weight 0 100 200 200|out_proj.weight 0 100 200 203|", NULL},
    {"MLA", MLA("a.") "a.q_proj.weight 6x5", 2, 0, PACKING_SEPARATE, "W_key_value_a.weight 0 100 200 300 304|W_key_value_b.weight 0 100 200 300 400 500 600 700 800 900 902|W_query.weight 0 100 200 300 400 500 504|key_value_a_norm.weight 0 100 200 200|out_proj.weight 0 100 200 300 400 405|", NULL},
    {"MLA with a rank of the query", MLA("a.") "a.q_a_proj.weight 2x5, a.q_a_layernorm.weight 2, a.q_b_proj.weight 6x2", 2, 2, PACKING_SEPARATE, "W_key_value_a.weight 0 100 200 300 304|W_key_value_b.weight 0 100 200 300 400 500 600 700 800 900 902|W_query_a.weight 0 100 104|W_query_b.weight 0 100 200 300 400 500 501|key_value_a_norm.weight 0 100 200 200|out_proj.weight 0 100 200 300 400 405|query_a_norm.weight 0 100 100|", NULL},
    /* what contradicts */
    {"heads that do not divide", LLAMA(""), 3, 0, PACKING_SEPARATE, NULL, "self_attn.q_proj.weight: 4 x 3; expected rows that divide into 3 heads"},
    {"heads of keys that are not there", LLAMA(""), 4, 2, PACKING_SEPARATE, NULL, "self_attn.k_proj.weight: 4 x 3; expected 2 rows: kv_heads 2 x 1 columns, to go with heads 4"},
    {"blocks that do not divide", "a.qkv_proj.weight 9x3, a.o_proj.weight 3x4", 2, 1, PACKING_BLOCKS, NULL, "a.qkv_proj.weight: 9 x 3; expected rows that divide into 4 heads of queries, keys and values"},
    {"groups that do not divide", "a.query_key_value.weight 7x3, a.dense.weight 3x4", 3, 2, PACKING_GROUPS, NULL, "expected key heads that divide 3 query heads evenly, got 2"},
    {"an output of other columns", "q_proj.weight 4x3, k_proj.weight 4x3, v_proj.weight 4x3, o_proj.weight 3x5", 2, 2, PACKING_SEPARATE, NULL, "o_proj.weight: 3 x 5; expected 4 columns, one for each value column of all heads"},
    {"a bias too long", LLAMA("") "self_attn.k_proj.bias 5", 2, 2, PACKING_SEPARATE, NULL, "self_attn.k_proj.bias: 5 numbers; expected 4 numbers, one for each row of its weight"},
    {"a norm too short", LLAMA("a.") "a.input_layernorm.weight 2", 2, 2, PACKING_SEPARATE, NULL, "a.input_layernorm.weight: 2 numbers; expected 3 numbers, one for each column of the query's weight"},
    {"a norm of query too long", LLAMA("") "self_attn.q_norm.weight 3", 2, 2, PACKING_SEPARATE, NULL, "self_attn.q_norm.weight: 3 numbers; expected 2 numbers, one for each column of a head, or as many for each of 2 heads"},
    {"sinks too many", LLAMA("") "self_attn.sinks 3", 2, 2, PACKING_SEPARATE, NULL, "self_attn.sinks: 3 numbers; expected 2 numbers, one for each head"},
    {"a relative bias of other heads", T5("a.SelfAttention") "a.SelfAttention.relative_attention_bias.weight 2x3", 2, 2, PACKING_SEPARATE, NULL, "a.SelfAttention.relative_attention_bias.weight: 2 x 3; expected 2 columns, one for each head"},
    {"MLA without rotated columns", "a.kv_a_proj_with_mqa.weight 3x5, a.kv_b_proj.weight 10x3, a.o_proj.weight 5x6, a.q_proj.weight 6x5", 2, 0, PACKING_SEPARATE, NULL, "a.kv_a_proj_with_mqa.weight: 3 x 5; expected rows for the rank and the rotated columns of a head"},
    {"MLA without values", "a.kv_a_proj_with_mqa.weight 4x5, a.kv_b_proj.weight 4x3, a.o_proj.weight 5x6, a.q_proj.weight 6x5", 2, 0, PACKING_SEPARATE, NULL, "a.kv_b_proj.weight: 4 x 3; expected rows for the key and the value of each head"},
    {"a list for a weight", "q_proj.weight 4, k_proj.weight 4x3, v_proj.weight 4x3, o_proj.weight 3x4", 2, 2, PACKING_SEPARATE, NULL, "q_proj.weight: 4 numbers; expected a matrix"},
    {"a packing of separate weights", LLAMA("a."), 2, 2, PACKING_GROUPS, NULL, "a.self_attn has separate weights for query, key and value; expected --packing separate, or no --packing"},
    {"one weight said to be separate", "a.qkv_proj.weight 6x3, a.o_proj.weight 3x2", 2, 2, PACKING_SEPARATE, NULL, "a has query, key and value in one weight; expected --packing blocks or groups"},
    {"a gate", LLAMA("a.") "a.self_attn.g_proj.weight 2x3", 2, 2, PACKING_SEPARATE, "W_gate.weight 0 100 102|W_key.weight 0 100 200 300 302|W_query.weight 0 100 200 300 302|W_value.weight 0 100 200 300 302|out_proj.weight 0 100 200 203|", NULL},
    {"a weight that nobody knows", LLAMA("a.") "a.self_attn.h_proj.weight 4x3", 2, 2, PACKING_SEPARATE, NULL, "a.self_attn.h_proj.weight: attn does not know what the module does with this tensor"},
    {"Flux, two streams", "double_blocks.0.img_attn.qkv.weight 12x4, double_blocks.0.img_attn.proj.weight 4x4, double_blocks.0.img_attn.norm.query_norm.scale 2", 2, 2, PACKING_BLOCKS, NULL, "img_attn.qkv.weight: attn does not compute the attention of two streams, such as a picture and a text, together"},
    {"Megatron: the norm is in the projection", "a.linear_qkv.weight 8x3, a.linear_qkv.layer_norm_weight 3, a.linear_qkv.layer_norm_bias 3, a.linear_proj.weight 3x4, a.linear_qkv._extra_state 1?", 4, 2, PACKING_GROUPS, "W_key.weight 200 600 602|W_query.weight 0 100 400 500 502|W_value.weight 300 700 702|norm.bias 0 100 200 200|norm.weight 0 100 200 200|out_proj.weight 0 100 200 203|", NULL},
    {"nanoGPT: stored as others, without a bias", "h.0.attn.c_attn.weight 6x2, h.0.attn.c_proj.weight 2x2", 2, 2, PACKING_BLOCKS, "W_key.weight 200 300 301|W_query.weight 0 100 101|W_value.weight 400 500 501|out_proj.weight 0 100 101|", NULL},
    {"F8 where it is needed", "a.q_proj.weight 4x3, a.k_proj.weight 4x3?, a.v_proj.weight 4x3, a.o_proj.weight 3x4", 2, 2, PACKING_SEPARATE, NULL, "a.k_proj.weight: attn does not read dtype 'F8_E8M0'; expected F32"},
    {"F8 where it is not", LLAMA("a.") "a.mlp.weight 2x2?", 4, 4, PACKING_SEPARATE, "W_key.weight 0 100 200 300 302|W_query.weight 0 100 200 300 302|W_value.weight 0 100 200 300 302|out_proj.weight 0 100 200 203|", NULL},
};
/* clang-format on */

static void add_numbers(struct text *text, const struct file_tensor *named)
{
    const struct tensor *tensor = &named->tensor;
    const size_t count = tensor_count(tensor), columns = count / tensor->shape[0];
    double number;
    text_add(text, "%s", named->name);
    for (size_t row = 0; row <= tensor->shape[0]; row++) {
        tensor_load(tensor, row < tensor->shape[0] ? row * columns : count - 1, 1, &number);
        text_add(text, " %g", number);
    }
    text_add(text, "|");
    CHECK(named->origin != NULL && strcmp(named->file, path) == 0, "expected an origin of %s", named->name);
}

static void check_unpacked(size_t at)
{
    char unpacked[TEXT_BYTES];
    struct text text = text_begin(unpacked, sizeof unpacked);
    struct arena arena = {0};
    struct checkpoint checkpoint;
    struct module_list list;
    const struct layer_module *module;
    struct input_file input;
    struct error error = {0};
    struct unpack_plan plan = {
        .heads = UNPACKED[at].heads, .kv_heads = UNPACKED[at].kv_heads, .packing = UNPACKED[at].packing};
    check_begin("unpacked: %s", UNPACKED[at].title);
    if (!CHECK(open_list(UNPACKED[at].tensors, &arena, &checkpoint, &list, &error) == STATUS_OK &&
                   module_choose(&list, NO_LAYER, NULL, &module, &error) == STATUS_OK,
               "expected a module, got: %s", error.message))
        return;
    if (module_unpack(&list, module, &plan, &arena, &input, &error) != STATUS_OK)
        check_told(UNPACKED[at].told, &error);
    else {
        for (size_t i = 0; i < input.tensor_count; i++)
            add_numbers(&text, &input.tensors[i]);
        CHECK_TEXT(UNPACKED[at].unpacked, unpacked);
    }
    arena_free(&arena);
}

/* Where rows lie one behind another nothing is copied. */
static void check_views(void)
{
    struct arena arena = {0};
    struct checkpoint checkpoint;
    struct module_list list;
    const struct layer_module *module;
    struct input_file input;
    const struct named_tensor *look;
    struct error error = {0};
    struct unpack_plan plan = {.heads = 2, .kv_heads = 2, .packing = PACKING_BLOCKS};
    check_begin("blocks are views of the file");
    if (CHECK(open_list("a.qkv_proj.weight 6x2, a.o_proj.weight 2x2", &arena, &checkpoint, &list, &error) ==
                      STATUS_OK &&
                  module_choose(&list, NO_LAYER, NULL, &module, &error) == STATUS_OK &&
                  checkpoint_look(&checkpoint, "a.qkv_proj.weight", &look, &error) == STATUS_OK &&
                  module_unpack(&list, module, &plan, &arena, &input, &error) == STATUS_OK,
              "expected tensors, got: %s", error.message)) {
        const struct file_tensor *key = input_file_find(&input, "W_key.weight");
        CHECK((const unsigned char *)key->tensor.data == look->bytes.bytes + (size_t)2 * 2 * 2,
              "expected the key's rows in place");
    }
    arena_free(&arena);
}

int main(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.500s/attn-module-XXXXXX", temporary != NULL ? temporary : "/tmp");
    const int file = mkstemp(path);
    if (file < 0) {
        perror(path);
        return 1;
    }
    close(file);
    for (size_t i = 0; i < sizeof FOUND / sizeof FOUND[0]; i++)
        check_found(i);
    for (size_t i = 0; i < sizeof CHOSEN / sizeof CHOSEN[0]; i++)
        check_chosen(i);
    for (size_t i = 0; i < sizeof UNPACKED / sizeof UNPACKED[0]; i++)
        check_unpacked(i);
    check_views();
    unlink(path);
    return check_end();
}
