/* SPDX-License-Identifier: MIT */
/* What attn knows of a checkpoint before it computes anything: its modules, and where each setting comes from. */
#pragma once

#include "base/output.h"
#include "layer/listing.h"
#include "model/format.h"

/* Lists the modules of a checkpoint, in a format that reports. */
void write_listing(const struct listing *listing, enum format format, struct output *output);

/* --explain config: lists the settings of a module, each with its source; also in a format that reports. */
void write_config(const struct layer *layer, enum format format, struct output *output);
