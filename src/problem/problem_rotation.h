/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): positions of tokens, and the rotation of query and key. */
#ifndef ATTN_PROBLEM_PROBLEM_ROTATION_H
#define ATTN_PROBLEM_PROBLEM_ROTATION_H

#include "model/rope.h"

#include <stdbool.h>
#include <stddef.h>

struct problem_rotation {
    struct rope rope;              /* of query and key; ROPE_NONE: neither is rotated */
    struct rope_settings settings; /* that it is made from, */
    size_t highest;                /* up to this position */
    /* (B, Tq), (B, Tk - past) where there is a rotation; SIZE_MAX: the row is not rotated, as a mistake has it */
    const size_t *positions, *key_positions;
    bool has_past; /* key and value begin with one, of no tokens, maybe; */
    size_t past;   /* of so many tokens, whose keys are rotated already */
};

#endif
