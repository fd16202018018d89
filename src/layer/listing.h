/* SPDX-License-Identifier: MIT */
/* Lists the attention modules of a checkpoint, with one row for all layers that are alike. */
#pragma once

#include "layer/layer.h"

/* Layers of one stack whose modules are alike. */
struct listed_row {
    const char *path; /* of its modules, with N for the layer's number: "model.layers.N.self_attn" */
    size_t *layers;   /* (count) ascending; MODULE_NO_LAYER for a module of no layer */
    size_t count;
    bool cross;
    const struct family_row *family;
    size_t heads, kv_heads, columns; /* of a query head; 0 where unknown */
    size_t d_in;                     /* columns of its inputs; 0 where unknown */
    double bytes;                    /* bytes to read for one module */
    struct layer_facts facts;        /* of the first; the others have the same */
    char why[160];                   /* the error of a module that attn cannot compute, up to the first ';'; else "" */
};

struct listing {
    const char *source, *config; /* config may be NULL */
    struct listed_row *rows;
    size_t count;
    struct layer_warnings warnings;
};

/* Whether a listing depends on the option. */
bool listing_takes(enum option_id id);

/* Lists the checkpoint that --weights names, with --config, --family and --module where these are given. Reads only
 * headers, of the shards with attention modules. The arena owns the result. STATUS_SYSTEM and STATUS_USAGE as
 * layer_read; STATUS_USAGE also where the checkpoint has no attention module. */
enum status listing_read(struct listing *listing, const struct options *options, struct arena *arena,
                         struct error *error);
