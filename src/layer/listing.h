/* SPDX-License-Identifier: MIT */
/* The attention modules of a checkpoint: one row for all layers that are alike. */
#ifndef ATTN_LAYER_LISTING_H
#define ATTN_LAYER_LISTING_H

#include "layer/layer.h"

/* Layers of one stack whose modules are alike. */
struct listed_row {
    const char *path; /* of its modules, N where the layer's number stands: "model.layers.N.self_attn" */
    size_t *layers;   /* (count) ascending; MODULE_NO_LAYER where the module is of no layer */
    size_t count;
    bool cross;
    const struct family_row *family;
    size_t heads, kv_heads, columns; /* of a head of query; 0 where nobody says it */
    size_t d_in;                     /* columns of its inputs; 0 where the tensors do not tell */
    double bytes;                    /* that are read for one */
    struct layer_facts facts;        /* of the first; the others say the same */
    char why[160];                   /* the error of a module that attn cannot compute, up to the first ';'; else "" */
};

struct listing {
    const char *source, *config; /* config: NULL where there is none */
    struct listed_row *rows;
    size_t count;
    struct layer_warnings warnings;
};

/* Whether a list depends on the option. */
bool listing_takes(enum option_id id);

/* Lists the checkpoint that --weights names, with --config, --family and --module where these are given. Of the tensors
 * only the headers are read, those of the shards that hold attention modules. It lives in the arena. STATUS_SYSTEM and
 * STATUS_USAGE as layer_read, and where the checkpoint has no attention module. */
enum status listing_read(struct listing *listing, const struct options *options, struct arena *arena,
                         struct error *error);

#endif
