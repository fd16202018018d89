/* SPDX-License-Identifier: MIT */
/* The kinds of observations, the most specific first. A row: its identifier, its test (observe_TEST), its name in JSON,
 * what it needs, the stages that it describes (0: any), and the kinds that say nothing more once it has said a line. */
#pragma once

/* What a test needs: */
enum {
    OBSERVE_NEEDS_JOB = 1,  /* a problem, to make other tables of it */
    OBSERVE_OF_PART = 2,    /* tried again with the wrong numbers of each head and of each item, if no kind like it fits
                              all wrong numbers; one line of these kinds is enough for a part */
    OBSERVE_OTHER_FORM = 4, /* the second of two kinds that share a test */
    OBSERVE_OF_ROWS = 8,    /* complete rows, which a print may elide */
};

/* Stages, not those whose rows join heads: */
#define OBSERVE_WEIGHTS (STAGE_BIT(STAGE_WEIGHTS) | STAGE_BIT(STAGE_DROPPED))
#define OBSERVE_CONTEXT STAGE_BIT(STAGE_CONTEXT)
#define OBSERVE_ATTENDED \
    (STAGE_BIT(STAGE_SCORES) | STAGE_BIT(STAGE_SCALED) | STAGE_BIT(STAGE_MASKED) | OBSERVE_WEIGHTS | OBSERVE_CONTEXT)

#define OBSERVE_BIT(id) (UINT64_C(1) << OBSERVE_##id)

#define OBSERVE_PROPERTIES \
    (OBSERVE_BIT(hull) | OBSERVE_BIT(implied) | OBSERVE_BIT(sums) | OBSERVE_BIT(negative) | OBSERVE_BIT(masked))
#define OBSERVE_PARTS_ALONE                                                                                   \
    (OBSERVE_BIT(some_setting) | OBSERVE_BIT(some_value) | OBSERVE_BIT(some_copy) | OBSERVE_BIT(part_alone) | \
     OBSERVE_BIT(exp) | OBSERVE_BIT(rounding) | OBSERVE_BIT(near))
#define OBSERVE_PARTS (OBSERVE_PARTS_ALONE | OBSERVE_PROPERTIES)

/* clang-format off */
#define OBSERVE_ROWS(ROW) \
    ROW(setting, setting, "setting", OBSERVE_NEEDS_JOB, 0, ~OBSERVE_BIT(keys)) \
    ROW(value, value, "value", OBSERVE_OF_PART, 0, OBSERVE_PARTS) \
    ROW(order, order, "order", OBSERVE_OF_PART | OBSERVE_OF_ROWS, 0, OBSERVE_PARTS) \
    ROW(copy, copy, "copy", OBSERVE_OF_PART, 0, OBSERVE_PARTS) \
    ROW(stage, stage, "stage", OBSERVE_OF_PART, 0, OBSERVE_PARTS) \
    ROW(rounded, rounded, "rounded", OBSERVE_OF_PART, 0, OBSERVE_PARTS) \
    ROW(factor, number, "factor", OBSERVE_OF_PART, 0, OBSERVE_PARTS) \
    ROW(offset, number, "offset", OBSERVE_OF_PART | OBSERVE_OTHER_FORM, 0, OBSERVE_PARTS) \
    ROW(plus, stage, "plus", OBSERVE_OF_PART | OBSERVE_OTHER_FORM, 0, OBSERVE_PARTS) \
    ROW(plus_place, place_before, "plus", OBSERVE_OF_PART, 0, OBSERVE_PARTS) \
    ROW(keys, keys, "keys", OBSERVE_OF_PART | OBSERVE_NEEDS_JOB | OBSERVE_OF_ROWS, STAGE_BIT(STAGE_WEIGHTS) | OBSERVE_CONTEXT, \
        OBSERVE_PARTS) \
    ROW(heads, heads, "heads", OBSERVE_OF_PART | OBSERVE_NEEDS_JOB | OBSERVE_OF_ROWS, OBSERVE_ATTENDED, OBSERVE_PARTS) \
    ROW(columns, columns, "columns", OBSERVE_OF_PART | OBSERVE_NEEDS_JOB | OBSERVE_OF_ROWS, OBSERVE_ATTENDED, OBSERVE_PARTS) \
    ROW(normed, normed, "normed", OBSERVE_OF_PART | OBSERVE_OF_ROWS, 0, OBSERVE_PARTS) \
    ROW(own_factor, groups, "own_factor", OBSERVE_OF_PART, 0, OBSERVE_PARTS) \
    ROW(own_offset, groups, "own_offset", OBSERVE_OF_PART | OBSERVE_OTHER_FORM, 0, OBSERVE_PARTS_ALONE) \
    ROW(some_setting, setting, "setting", OBSERVE_NEEDS_JOB | OBSERVE_OTHER_FORM, 0, OBSERVE_PARTS) \
    ROW(some_value, value, "value", OBSERVE_OTHER_FORM, 0, OBSERVE_BIT(some_copy)) \
    ROW(some_copy, copy, "copy", OBSERVE_OTHER_FORM, 0, 0) \
    ROW(exp, exp, "exp", OBSERVE_OF_ROWS, OBSERVE_WEIGHTS, OBSERVE_PARTS & ~OBSERVE_BIT(sums)) \
    ROW(rounding, rounding, "rounding", OBSERVE_NEEDS_JOB, 0, OBSERVE_PARTS) \
    ROW(uniform, uniform, "uniform", OBSERVE_NEEDS_JOB | OBSERVE_OF_ROWS, 0, OBSERVE_BIT(alike)) \
    ROW(alike, alike, "alike", 0, 0, 0) \
    ROW(symmetric, symmetric, "symmetric", 0, 0, 0) \
    ROW(part_alone, part_alone, "part", 0, 0, 0) \
    ROW(sums, sums, "sums", OBSERVE_OF_ROWS, STAGE_BIT(STAGE_WEIGHTS), 0) \
    ROW(negative, weights, "negative", 0, OBSERVE_WEIGHTS, 0) \
    ROW(masked, weights, "masked", OBSERVE_NEEDS_JOB | OBSERVE_OTHER_FORM, OBSERVE_WEIGHTS, 0) \
    ROW(near, near, "near", 0, 0, 0) \
    ROW(hull, hull, "hull", OBSERVE_NEEDS_JOB | OBSERVE_OF_ROWS, OBSERVE_CONTEXT, 0) \
    ROW(implied, implied, "implied", OBSERVE_NEEDS_JOB | OBSERVE_OF_ROWS, OBSERVE_CONTEXT, 0)
/* clang-format on */
