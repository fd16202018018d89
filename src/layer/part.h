/* SPDX-License-Identifier: MIT */
/* Which tower of a checkpoint a module stands in; a model of one tower has one part alone. */
#ifndef ATTN_LAYER_PART_H
#define ATTN_LAYER_PART_H

enum module_part { PART_ONLY, PART_ENCODER, PART_DECODER, PART_TEXT, PART_VISION, PART_AUDIO, PART_COUNT };

#endif
