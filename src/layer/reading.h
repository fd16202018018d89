/* SPDX-License-Identifier: MIT */
/* A checkpoint with its config, open for reading: shared by layer.c and listing.c. */
#pragma once

#include "layer/adapter.h"
#include "layer/config.h"
#include "layer/gguf_config.h"
#include "layer/layer.h"
#include "layer/quantised.h"
#include "layer/unpack.h"

struct reading {
    const struct options *options;
    struct checkpoint checkpoint;
    struct quantised quantised; /* its weights */
    struct module_list modules;
    struct config config;
    struct adapter adapter;      /* with --adapter */
    const char *config_path;     /* or NULL */
    bool config_is_own;          /* it goes with the names of the modules' tensors, or is in the checkpoint's file */
    const struct gguf_row *gguf; /* the architecture of a GGUF; or NULL */
    struct arena *arena;
    struct error *error;
};

/* Opens the checkpoint and config that the options name. The caller always calls reading_end, which releases the
 * config. STATUS_SYSTEM and STATUS_USAGE as layer_read. */
enum status reading_begin(struct reading *reading, const struct options *options, struct arena *arena,
                          struct error *error);
void reading_end(struct reading *reading);

/* The family of a module's part, and its heads; 0 query heads where unknown. */
enum status reading_heads(const struct reading *reading, const struct layer_module *module,
                          const struct family_row **family, struct unpack_plan *plan, struct layer_facts *facts);

/* All other facts of a module whose query heads have `columns` columns. */
enum status reading_facts(const struct reading *reading, const struct layer_module *module,
                          const struct family_row *family, size_t columns, struct layer_facts *facts);

/* Adds the warnings about a module whose family is known, each once, in the arena. Searches each part of the config
 * once, and the folder once. */
enum status layer_warn(const struct reading *reading, const struct layer_module *module,
                       const struct family_row *family, struct layer_warnings *warnings);
