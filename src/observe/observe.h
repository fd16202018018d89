/* SPDX-License-Identifier: MIT */
/* What a wrong table is: its relation to the right one, the part that is wrong and what that part holds instead, its
 * own properties, and the parameter that would give it.
 *
 * Each line is exact to the tolerance. A right table has none. */
#pragma once

#include "base/json_writer.h"
#include "problem/problem.h"

enum observe_axis { OBSERVE_NO_AXIS = -1, OBSERVE_ITEM, OBSERVE_HEAD, OBSERVE_ROW, OBSERVE_COLUMN, OBSERVE_AXES };

/* Numbers of a stage, laid out item, head, row, column; an axis that the stage lacks has size 1. */
struct observe_table {
    enum stage stage; /* STAGE_NAMES: unknown */
    size_t size[OBSERVE_AXES];
    size_t *index[OBSERVE_AXES]; /* (size) the index of each in the stage, from 0: a row's query, or key */
    double *numbers;             /* (the product of the sizes) */
};

struct observed {
    struct observe_table right;    /* the right numbers; index NULL: all, in order */
    double *mine;                  /* (count) somebody's, laid out as these; not all right */
    double *tolerance;             /* (count) the largest error of a right number, */
    double most_rms;               /* and of all: root mean square of the errors, each divided by its tolerance */
    double *printed;               /* (count) half a unit of the last printed digit, within the tolerance; NULL: none */
    bool elided;                   /* some rows or columns between these are not known */
    enum dtype dtype;              /* of somebody's numbers */
    const char *const *labels;     /* (size[OBSERVE_ROW]) of the rows, NULL where one has none; or NULL */
    const struct problem *problem; /* the job; NULL: unknown, so that no other table can be made */
    const struct plain_columns *columns; /* its projections, if they are made, which outlive it; or NULL */
    const struct observe_table *others;  /* right tables of the same job, if that is known by them */
    size_t other_count;
    struct arena *arena;
    struct error *error;
};

struct observation {
    const char *name;  /* of its kind, in JSON: "factor" */
    const char *text;  /* a sentence without a stop: "head 2 is 0.125 times the right numbers" */
    const char *where; /* the part that it is about: "head 2", "rows 33 to 48"; "" for all */
};

enum { OBSERVE_MOST = 6 };

struct observations {
    struct observation lines[OBSERVE_MOST]; /* the most specific first; their text is in the arena */
    size_t count;
};

/* Allocates its four lists of numbers, of the sizes of the right table. STATUS_SYSTEM: out of memory. */
enum status observe_begin(struct observed *observed);

/* Describes a table. STATUS_SYSTEM: out of memory. */
enum status observe(const struct observed *observed, struct observations *observations);

/* Writes each on an indented line, wrapped; and as "observations": [{"name": ..., "text": ..., "where": ...}]. */
void observe_write_text(const struct observations *observations, struct output *output);
void observe_write_json(const struct observations *observations, struct json *json);

/* How many numbers it has. */
size_t observe_count(const struct observe_table *table);
