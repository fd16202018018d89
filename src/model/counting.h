/* SPDX-License-Identifier: MIT */
/* Formats of a layer's number, from 0 as checkpoints count, and of a head's, from 1, each for a size_t. */
#ifndef ATTN_MODEL_COUNTING_H
#define ATTN_MODEL_COUNTING_H

#define COUNTING_FROM_0 "%zu (from 0)"
#define COUNTING_LAYER "layer " COUNTING_FROM_0
#define COUNTING_HEAD "head %zu (from 1)"

#endif
