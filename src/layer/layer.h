/* SPDX-License-Identifier: MIT */
/* One attention module of a checkpoint, ready to be computed: its tensors under attn's names, and its settings. */
#ifndef ATTN_LAYER_LAYER_H
#define ATTN_LAYER_LAYER_H

#include "cli/options.h"
#include "layer/facts.h"
#include "layer/module.h"
#include "model/family.h"
#include "read/input_file.h"

enum { LAYER_WARNINGS = 8 };

/* Sentences for standard error. Starts as {0}. */
struct layer_warnings {
    const char *texts[LAYER_WARNINGS];
    size_t count;
    unsigned parts; /* of the config that were searched: bit PART_ENCODER, ... */
};

struct layer {
    const struct layer_module *module;
    const struct family_row *family; /* "none" where neither config nor option name one */
    const char *config;              /* the config's path, as messages have it; NULL where there is none */
    struct layer_facts facts;        /* all settings, and who says each */
    struct input_file weights;       /* unpack.h says which names there are */
    struct layer_warnings warnings;
    const char
        *images_of; /* the model_type where tokens of one image see each other in spite of a causal mask; or NULL */
};

/* Whether a setting of that name is one of a module's, which its checkpoint says: rope_theta, window, ... */
bool layer_says(const char *setting);

/* The module that --weights, --layer and --module name, with --config, --family, --packing, --heads and --kv-heads
 * where these are given. It lives in the arena, its numbers in the mapped files. STATUS_SYSTEM where a file cannot be
 * read; STATUS_USAGE where there is no such module or more than one, where its tensors and the config contradict each
 * other, or where the family is unknown. */
enum status layer_read(struct layer *layer, const struct options *options, struct arena *arena, struct error *error);

/* Asks for layer `number` in the place of `layer`: --layer, and --module where that has the number of the layer in its
 * path. STATUS_SYSTEM where memory is short. */
enum status layer_ask(struct options *options, const struct layer *layer, size_t number, struct arena *arena,
                      struct error *error);

#endif
