/* SPDX-License-Identifier: MIT */
/* One attention module of a checkpoint: its tensors under attn's names, and its settings. */
#pragma once

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
    unsigned parts; /* of the config already searched: bit PART_ENCODER, ... */
};

struct layer {
    const struct layer_module *module;
    const struct family_row *family; /* FAMILY_NONE where neither config nor option name one */
    const char *config;              /* the config's path, as messages show it; or NULL */
    struct layer_facts facts;        /* all settings and their sources */
    struct input_file weights;       /* under the names of unpack.h */
    struct layer_warnings warnings;
    const char *dequantised; /* the form of its quantised weights: "FP8, blocks of 128 x 128"; or NULL */
    bool config_quantised;   /* by its config, so in a form that mistakes can change */
    bool reordered;          /* a GGUF whose rows of query and key attn has put back */
    const char *images_of;   /* the model_type if its causal mask allows an image's tokens to each other; or NULL */
};

/* Whether a checkpoint gives the setting of that name: rope_theta, window, ... */
bool layer_says(const char *setting);

/* The module that --weights, --layer and --module name, with --config, --family, --packing, --heads and --kv-heads
 * where these are given; a mistake of slot layer takes a part from another layer. The arena owns it and its mapped
 * files, which hold its numbers. STATUS_SYSTEM where a file cannot be read; STATUS_USAGE where there is no such module
 * or more than one, where tensors and config contradict each other, or where the family is unknown. */
enum status layer_read(struct layer *layer, const struct options *options, struct arena *arena, struct error *error);

/* Makes a mistake of slot layer in a copy of a layer that was read with these options. */
enum status layer_change(struct layer *layer, const struct options *options, const struct mistake_choice *choice,
                         struct arena *arena, struct error *error);

/* Whether a mistake takes only settings from another layer, and no tensors. */
bool layer_takes_settings(enum mistake id);

/* Whether it takes the norm after attention, which only the checkpoint has, and no result. */
bool layer_takes_norm_after(enum mistake id);

/* Changes the options to layer `number` instead of `layer`: --layer, and --module where its path has that number.
 * STATUS_SYSTEM where memory is short. */
enum status layer_ask(struct options *options, const struct layer *layer, size_t number, struct arena *arena,
                      struct error *error);
