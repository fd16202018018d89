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
    bool is_given; /* --grad: there is a loss, */
    struct tensor
        gradient; /* and this its gradient with respect to the last stage, laid out as that; rank 0: all ones */
    double noise; /* how far each term of the softmax's gradient is moved, as a share of it: 0 but in why/noise.h */
};

/* What follows from mistakes is in the problem itself, and here. */
struct problem_mistake {
    struct mistake_choice choices[MISTAKE_SLOT_COUNT]; /* --mistake, in the order of the slots */
    size_t count;
    /* How they make a stage, where its own formula does not tell, from the name of the stage before on where it begins
     * with a comma; else NULL. */
    const char *formulas[STAGE_COUNT];
    uint64_t wrong;              /* the stages that are made otherwise than their own files say */
    const struct recipe *recipe; /* where it takes more than a problem says, by mistake/plain.h; else NULL */
    bool mask_made;              /* attn_mask stands for the whole mask, as a mistake makes it */
    const struct backward_mistake *backward; /* stage/backward_mistake.h; NULL: it is right */
    const struct problem *right;             /* the problem as it was before them; NULL: there are none */
};

#endif
