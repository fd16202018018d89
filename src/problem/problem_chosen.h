/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): the rows, part, stages or number to show. */
#ifndef ATTN_PROBLEM_PROBLEM_CHOSEN_H
#define ATTN_PROBLEM_PROBLEM_CHOSEN_H

#include "model/stage_id.h"
#include "problem/parameters.h"

#include <stdbool.h>
#include <stddef.h>

/* The indices of a number in a stage, from 0; SIZE_MAX for an axis that the stage lacks. */
struct cell {
    enum stage stage;
    size_t item, head, row, column;
};

struct problem_chosen {
    size_t head;                    /* of --head, from 1; 0: all */
    bool cuts_heads;                /* tables have that head alone; a page and --explain choose it from all */
    size_t *rows;                   /* (S) the queries asked for, from 0, ascending */
    size_t row_count;               /* S */
    size_t part, parts;             /* part K of N, K from 1; 0 and 0: no part */
    const char *part_line;          /* of a part: the command without --part and --out; NULL: too long */
    size_t whole_count;             /* S of the full job */
    enum stage stages[STAGE_NAMES]; /* to show, in order */
    size_t stage_count;
    bool stages_asked;                 /* --stages was given */
    bool explains_config;              /* --explain config: shows the facts and their sources, no stages */
    bool explains;                     /* --explain; then `stages` also has the sources of the explained ones */
    enum stage explained[STAGE_NAMES]; /* in order */
    size_t explained_count;
    bool has_cell;         /* --explain names one number */
    struct cell cell;      /* that number; in the gradient with respect to a parameter, STAGE_GRAD_PARAMETERS, */
    const char *cell_name; /* the name of its table */
    struct parameter_place cell_place;
};

#endif
