/* SPDX-License-Identifier: MIT */
/* The metadata of a GGUF as a config, which config.h reads like a model's config.json. */
#pragma once

#include "layer/config.h"
#include "read/checkpoint.h"

/* An architecture: a row of gguf_rows.h. */
struct gguf_row {
    const char *names, *when, *type, *norm, *config;
    double is, blocks;
    bool permuted;
};

/* Makes the config of a checkpoint that is a GGUF. *row: that of its architecture; NULL for one that attn does not
 * know, whose model_type config_family then rejects unless --family names one. config_free releases the config.
 * STATUS_USAGE where the metadata are wrong. */
enum status gguf_config(const struct checkpoint *checkpoint, struct config *config, const struct gguf_row **row,
                        struct error *error);

/* Corrects facts of the family where the converter stores other numbers than the model. */
enum status gguf_facts(const struct gguf_row *row, struct arena *arena, struct layer_facts *facts, struct error *error);
