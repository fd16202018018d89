/* SPDX-License-Identifier: MIT */
/* config.json -> facts: the facts about one attention module from a checkpoint's config and the row of its family. */
#pragma once

#include "layer/facts.h"
#include "layer/module.h"
#include "model/family.h"

struct cJSON;

/* Starts as {0}, no config: then only a row gives facts. */
struct config {
    const char *path;   /* as messages show it */
    struct cJSON *root; /* an object, or NULL where there is no config */
    bool of_gguf;       /* made from the metadata of a GGUF, where an array has a number for each layer */
};

/* The module to describe. */
struct config_module {
    enum module_part part;
    bool cross;        /* cross-attention */
    size_t layer;      /* its number, from 0 */
    size_t columns;    /* of a query head, by the tensors, above 0; config_heads does not use it */
    bool key_is_value; /* one weight makes both, by the names */
    bool reordered;    /* its names do not tell whether RoPE pairs neighbouring rows of query and key, or halves */
};

/* Reads the JSON of a config. STATUS_SYSTEM where the file cannot be read; STATUS_USAGE where it is larger than 16 MiB,
 * no JSON, no object, or has a key twice. `path` must outlive the config, which config_free releases. config_read_text
 * reads JSON that was in `path`, and changes it. */
enum status config_read(const char *path, struct config *config, struct error *error);
enum status config_read_text(const char *path, char *text, struct config *config, struct error *error);
void config_free(struct config *config);

/* The row for a module of that part: by `asked`, the text of --family, else by the part's model_type; FAMILY_NONE
 * without text and config. STATUS_USAGE for an unknown name; the message lists the known ones. */
enum status config_family(const struct config *config, enum module_part part, const char *asked,
                          const struct family_row **family, struct error *error);

/* Adds "heads" and "kv_heads", each unless an option sets it. STATUS_USAGE where kv_heads does not divide heads, or
 * "config.json: num_attention_heads is 4.5, expected a whole number". */
enum status config_heads(const struct config *config, const struct family_row *family,
                         const struct config_module *module, struct arena *arena, struct layer_facts *facts,
                         struct error *error);

/* Adds the other facts that have an effect: family, causal, window, scale, scale_on, softcap, rope, rope_theta,
 * rope_columns, rope_scaling, alibi, clip, norm, norm_eps, qk_norm, qk_norm_eps, relative_distance, packing. The
 * tensors tell whether there is a norm, a relative bias or a packed weight; these facts give its kind. "qk_norm" is
 * "none" where config or row say that this module has none. There is no "norm" where attn lacks the kind of the layer's
 * norm.
 *
 * Does not ask the config for a fact that an option sets. STATUS_USAGE, which names the key, for anything unknown that
 * changes attention (a kind of rope scaling, quantized weights). */
enum status config_facts(const struct config *config, const struct family_row *family,
                         const struct config_module *module, struct arena *arena, struct layer_facts *facts,
                         struct error *error);

/* *warning, in the arena, lists keys that attn does not know and that may matter; NULL: none. */
enum status config_unknown(const struct config *config, const struct family_row *family,
                           const struct config_module *module, struct arena *arena, const char **warning,
                           struct error *error);

/* *type: the model_type of the full model, in the arena, if the family says that its mask allows the tokens of one
 * image to each other; else NULL. STATUS_SYSTEM where memory is short. */
enum status config_images(const struct config *config, const struct family_row *family, struct arena *arena,
                          const char **type, struct error *error);
