/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): the mistakes made on purpose, and the loss. */
#ifndef ATTN_PROBLEM_PROBLEM_MISTAKE_H
#define ATTN_PROBLEM_PROBLEM_MISTAKE_H

#include "model/mistake.h"
#include "model/stage_id.h"
#include "tensor/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct problem;

struct problem_loss {
    bool is_given;          /* --grad: there is a loss */
    struct tensor gradient; /* with respect to the last stage, of its shape; rank 0: all ones */
    double noise;           /* relative error of each term of the softmax's gradient; only why/noise.h sets it */
};

/* Mistakes change the problem itself, and set these fields. */
struct problem_mistake {
    struct mistake_choice choices[MISTAKE_SLOT_COUNT]; /* --mistake, in the order of the slots */
    size_t count;
    /* The mistaken formula of a stage, continuing that of the stage before if it begins with a comma; NULL: its own
     * formula. */
    const char *formulas[STAGE_COUNT];
    uint64_t wrong;                          /* stages that mistakes compute, not their files */
    const struct recipe *recipe;             /* for mistakes that mistake/plain.h computes; or NULL */
    bool mask_made;                          /* a mistake made attn_mask, which is the complete mask */
    const struct backward_mistake *backward; /* NULL: the backward pass is right */
    const struct problem *right;             /* the problem before the mistakes; NULL: no mistakes */
};

#endif
