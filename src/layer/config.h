/* SPDX-License-Identifier: MIT */
/* config.json -> facts: what a checkpoint's config, and the row of its family, say of one attention module. */
#ifndef ATTN_LAYER_CONFIG_H
#define ATTN_LAYER_CONFIG_H

#include "layer/facts.h"
#include "layer/module.h"
#include "model/family.h"

struct cJSON;

/* Starts as {0}, which is no config: then only a row speaks. */
struct config {
    const char *path;   /* as messages name it */
    struct cJSON *root; /* an object, or NULL where there is no config */
};

/* The module that is asked about. */
struct config_module {
    enum module_part part;
    bool cross;     /* keys and values come from other inputs */
    size_t layer;   /* its number, from 0 */
    size_t columns; /* of a head of the query, as the tensors say, above 0; config_heads does not need it */
    bool reordered; /* its names leave open whether neighbouring rows of query and key are a pair, or halves */
};

/* Reads the JSON of a config. STATUS_SYSTEM where the file cannot be read; STATUS_USAGE where it is larger than 16 MiB,
 * no JSON, no object, or a key of it is given twice. `path` must outlive the config, which config_free releases. */
enum status config_read(const char *path, struct config *config, struct error *error);
void config_free(struct config *config);

/* The row that serves a module of that part: that of `asked`, the text of --family, else that of the part's model_type;
 * the row FAMILY_NONE where there is neither text nor config. STATUS_USAGE where no row has the name; the message says
 * which there are. */
enum status config_family(const struct config *config, enum module_part part, const char *asked,
                          const struct family_row **family, struct error *error);

/* Adds "heads" and "kv_heads", each unless an option has said it. STATUS_USAGE where they do not divide, or
 * "config.json: num_attention_heads is 4.5, expected a whole number". */
enum status config_heads(const struct config *config, const struct family_row *family,
                         const struct config_module *module, struct arena *arena, struct layer_facts *facts,
                         struct error *error);

/* Adds all else, each where it does something: family, causal, window, scale, scale_on, softcap, rope, rope_theta,
 * rope_columns, rope_scaling, alibi, clip, norm, norm_eps, qk_norm, qk_norm_eps, relative_distance, packing. Whether
 * there is a norm, a relative bias or a packed weight is said by the tensors: these facts say of which kind it is if
 * there is one; "qk_norm" is "none" where config or row say that this module has none. No "norm" where attn has not the
 * kind of the layer's own.
 *
 * A fact of an option that is there already is not asked of the config. What changes attention and is not understood
 * (an unknown kind of rope scaling, quantized weights) is STATUS_USAGE, which names its key. */
enum status config_facts(const struct config *config, const struct family_row *family,
                         const struct config_module *module, struct arena *arena, struct layer_facts *facts,
                         struct error *error);

/* Says of which keys it is not known whether they matter: *warning in the arena, or NULL where there is none. */
enum status config_unknown(const struct config *config, const struct family_row *family,
                           const struct config_module *module, struct arena *arena, const char **warning,
                           struct error *error);

/* *type: the model_type of the whole, in the arena, where the family says that tokens of one image see each other in
 * it, else NULL. STATUS_SYSTEM where memory is short. */
enum status config_images(const struct config *config, const struct family_row *family, struct arena *arena,
                          const char **type, struct error *error);

#endif
