/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): positions of tokens, and the rotation of query and key. */
#ifndef ATTN_PROBLEM_PROBLEM_ROTATION_H
#define ATTN_PROBLEM_PROBLEM_ROTATION_H

#include "model/rope.h"

#include <stdbool.h>
#include <stddef.h>

struct problem_rotation {
    struct rope rope;              /* of query and key; ROPE_NONE: none */
    struct rope_settings settings; /* of `rope` */
    size_t highest;                /* the highest position of `rope` */
    /* (B, Tq), (B, Tk - past) with a rotation; SIZE_MAX: a mistake leaves the row unrotated */
    const size_t *positions, *key_positions;
    bool has_past; /* key and value begin with a past, perhaps of no tokens */
    size_t past;   /* tokens of the past, whose keys are already rotated */
};

#endif
