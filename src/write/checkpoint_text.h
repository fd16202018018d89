/* SPDX-License-Identifier: MIT */
/* What is known of a checkpoint, before anything is computed: its modules, and where each setting of one is from. */
#ifndef ATTN_WRITE_CHECKPOINT_TEXT_H
#define ATTN_WRITE_CHECKPOINT_TEXT_H

#include "base/output.h"
#include "layer/listing.h"
#include "model/format.h"

/* The modules of a checkpoint, in a format that reports. */
void write_listing(const struct listing *listing, enum format format, struct output *output);

/* --explain config: the settings of a module, each with who says it and where; also in a format that reports. */
void write_config(const struct layer *layer, enum format format, struct output *output);

#endif
