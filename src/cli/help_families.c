/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "cli/help.h"
#include "model/family.h"

enum { FAMILY_COLUMN = 24, TEXT_BYTES = 512 };

static void add_causal(const struct family_row *row, struct text *text)
{
    static const char *const WORDS[] = {[FAMILY_CAUSAL_NEVER] = "not causal",
                                        [FAMILY_CAUSAL_ALWAYS] = "causal",
                                        [FAMILY_CAUSAL_DECODER] = "causal in the decoder",
                                        [FAMILY_CAUSAL_CONFIG] = "causal where is_decoder"};
    text_add(text, ": %s", WORDS[row->causal]);
}

static void add_rope(const struct family_row *row, struct text *text)
{
    static const char *const ROPES[] = {ROPE_KINDS(CHOICE_WORD)};
    static const char *const WHERE[] = {[FAMILY_ROTATING_ALL] = "",
                                        [FAMILY_ROTATING_SLIDING] = " where a layer slides",
                                        [FAMILY_ROTATING_IF_ANY] = " where a layer slides",
                                        [FAMILY_ROTATING_LISTED] = " as no_rope_layers lists",
                                        [FAMILY_ROTATING_TOLD] = " unless rope_theta is null",
                                        [FAMILY_ROTATING_ASKED] = " where position_embedding_type is rope",
                                        [FAMILY_ROTATING_THETAS] = " by layer_rope_theta",
                                        [FAMILY_ROTATING_PREFIX] = " where a layer slides, or is a dense first one"};
    if (row->rope == ROPE_NONE)
        return;
    text_add(text, "; rope %s%s", ROPES[row->rope], WHERE[row->rotating]);
    if (row->columns > 0)
        text_add(text, ", %s %zu columns", row->columns_last ? "the last" : "the first", row->columns);
    else if (row->share > 0 && row->share < 1)
        text_add(text, ", %g of the columns", row->share);
    text_add(text, ", theta %.10g", row->theta > 0 ? row->theta : 10000);
    if (row->local_theta > 0)
        text_add(text, " (%.10g where it slides)", row->local_theta);
}

static void add_sliding(const struct family_row *row, struct text *text)
{
    static const char *const WORDS[] = {
        [FAMILY_SLIDING_ALL] = "every layer slides",
        [FAMILY_SLIDING_ASKED] = "every layer slides where use_sliding_window",
        [FAMILY_SLIDING_BUT] = "layers slide, but for the last of every",
        [FAMILY_SLIDING_FROM] = "layers slide where use_sliding_window, from number",
        [FAMILY_SLIDING_UNTIL] = "every other layer slides where use_sliding_window, before number",
        [FAMILY_SLIDING_STILL] = "layers that do not rotate slide where use_sliding_window",
        [FAMILY_SLIDING_AFTER] = "layers slide from number",
        [FAMILY_SLIDING_LOCAL] = "layers slide as attention_types says",
        [FAMILY_SLIDING_BETWEEN] = "layers slide both ways, but for the first of every",
        [FAMILY_SLIDING_LISTED] = "layers slide as layer_types says",
        [FAMILY_SLIDING_CHUNKS] = "chunks of attention_chunk_size"};
    if (row->sliding == FAMILY_SLIDING_NONE)
        return;
    text_add(text, "; %s",
             row->pattern > 0 || row->sliding != FAMILY_SLIDING_BUT ? WORDS[row->sliding] : "layers slide");
    if (row->pattern > 0)
        text_add(text, " %zu", row->pattern);
    if (row->window > 0)
        text_add(text, ", window %zu", row->window);
}

static void add_scale(const struct family_row *row, struct text *text)
{
    static const char *const WORDS[] = {[FAMILY_SCALE_ROOT] = NULL,
                                        [FAMILY_SCALE_ONE] = "scale 1",
                                        [FAMILY_SCALE_SCALAR] = "scale 1/sqrt(query_pre_attn_scalar)",
                                        [FAMILY_SCALE_MULTIPLIER] = "scale attention_multiplier",
                                        [FAMILY_SCALE_MULTIPLIER_OR_ROOT] = "scale attention_multiplier, or 1/sqrt(d)",
                                        [FAMILY_SCALE_FLAGS] = "scale 1/sqrt(d), or by scale_attn flags",
                                        [FAMILY_SCALE_FLAG] = "scale 1/sqrt(d) where scale_attn_weights",
                                        [FAMILY_SCALE_SOFTMAX] = "scale 1/sqrt(d), or softmax_scale",
                                        [FAMILY_SCALE_MSCALE] = "scale 1/sqrt(d), times mscale squared"};
    if (WORDS[row->scale] != NULL)
        text_add(text, "; %s", WORDS[row->scale]);
    if (row->scale_on_query)
        text_add(text, "; the query is scaled, not the scores");
    if (row->softcap > 0)
        text_add(text, "; softcap %.10g", row->softcap);
    if (row->clip)
        text_add(text, "; clip_qkv");
    if (row->key_factor != NULL)
        text_add(text, "; key times %s", row->key_factor);
    if (row->value_factor != NULL)
        text_add(text, "; value times %s", row->value_factor);
}

static void add_bias(const struct family_row *row, struct text *text)
{
    static const char *const WORDS[] = {[FAMILY_ALIBI_ALWAYS] = "ALiBi", [FAMILY_ALIBI_KEY] = "or ALiBi, scaled"};
    if (row->alibi != FAMILY_ALIBI_NEVER)
        text_add(text, "; %s", WORDS[row->alibi]);
    if (row->distance > 0)
        text_add(text, "; relative bias up to %zu", row->distance);
}

static void add_norms(const struct family_row *row, struct text *text)
{
    if (row->norm != NULL)
        text_add(text, "; norm %s", row->norm);
    if (row->norm_key != NULL)
        text_add(text, " where %s", row->norm_key);
    if (row->qk_norm != NULL)
        text_add(text, "; qk-norm %s%s", row->qk_norm, row->rounding.norm_last ? " after the rotation" : "");
    if (row->value_norm != NULL)
        text_add(text, "; value-norm %s", row->value_norm);
    if (row->gate != FAMILY_GATE_NONE)
        text_add(text, "; contexts times a gate");
    if (row->packing != NULL)
        text_add(text, "; packed in %s", row->packing);
}

static void write_family(struct output *output, const struct family_row *row)
{
    char told[TEXT_BYTES];
    struct text text = text_begin(told, sizeof told);
    text_add(&text, "%s", row->title);
    if (row->by_hand)
        text_add(&text, ": options say everything, and config.json is not asked");
    else {
        static void (*const ADDERS[])(const struct family_row *row, struct text *text) = {
            add_causal, add_rope, add_sliding, add_scale, add_bias, add_norms};
        for (size_t i = 0; i < sizeof ADDERS / sizeof ADDERS[0]; i++)
            ADDERS[i](row, &text);
    }
    if (row->types != NULL)
        text_add(&text, "; also: %s", row->types);
    help_entry(output, row->name, FAMILY_COLUMN, told);
}

void help_write_families(struct output *output)
{
    help_wrap(output,
              "Families of models, by the model_type of their config.json, and what neither that nor the tensors of a "
              "checkpoint tell. Where the config says a number, its own counts; --family NAME takes another row, and "
              "each option what it says.",
              0, 0);
    output_write(output, "\n", 1);
    for (size_t i = 0; family_at(i) != NULL; i++)
        write_family(output, family_at(i));
}
