/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): what the user asks to see: rows, a part of them, stages, one number. */
#ifndef ATTN_PROBLEM_PROBLEM_CHOSEN_H
#define ATTN_PROBLEM_PROBLEM_CHOSEN_H

#include "model/stage_id.h"
#include "problem/parameters.h"

#include <stdbool.h>
#include <stddef.h>

/* One number of a stage, its indices from 0; SIZE_MAX for an axis that the stage has not. */
struct cell {
    enum stage stage;
    size_t item, head, row, column;
};

struct problem_chosen {
    size_t *rows;                   /* (S) the queries asked for, from 0, ascending */
    size_t row_count;               /* S */
    size_t part, parts;             /* these rows are part K of N, K from 1; 0 and 0: the whole */
    const char *part_line;          /* of a part: the command without --part and --out; NULL where it is too long */
    size_t whole_count;             /* S of the whole */
    enum stage stages[STAGE_NAMES]; /* what is to be shown, in order */
    size_t stage_count;
    bool stages_asked;                 /* by --stages; else all of the mechanism */
    bool explains_config;              /* --explain config: what is known, and who says it, in place of stages */
    bool explains;                     /* --explain; then `stages` also has what the explained ones are made from */
    enum stage explained[STAGE_NAMES]; /* in order */
    size_t explained_count;
    bool has_cell;         /* one number is followed back */
    struct cell cell;      /* that one; of the gradient by a parameter, STAGE_GRAD_PARAMETERS: */
    const char *cell_name; /* the name of its table, and */
    struct parameter_place cell_place;
};

#endif
