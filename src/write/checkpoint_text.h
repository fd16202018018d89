/* What is known of a checkpoint, before anything is computed: its modules, and where each setting of one is from. */
#ifndef ATTN_WRITE_CHECKPOINT_TEXT_H
#define ATTN_WRITE_CHECKPOINT_TEXT_H

#include "base/output.h"
#include "layer/listing.h"

/* The modules of a checkpoint, as text of `columns`, or as JSON. */
void write_listing(const struct listing *listing, bool json, size_t columns, struct output *output);

/* --explain config: the settings of a module, each with who says it and where; as text, or as JSON. */
void write_config(const struct layer *layer, bool json, struct output *output);

#endif
