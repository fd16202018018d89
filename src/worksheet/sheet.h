/* SPDX-License-Identifier: MIT */
/* The content of a sheet in any format: the given tables, the tasks with their blanks, and the answers. */
#pragma once

#include "compute/result.h"

/* Marks in texts of a sheet, which each format writes in its way: a blank to fill in, a times sign, the begin and
 * end of a power of e and of a root, a minus, a transposed matrix, infinity,
 * and before the item and head of a table. No token has such bytes: text_shown replaces
 * them. */
#define SHEET_BLANK "\001"
#define SHEET_TIMES "\002"
#define SHEET_POWER "\003"
#define SHEET_POWER_END "\004"
#define SHEET_ROOT "\005"
#define SHEET_ROOT_END "\006"
#define SHEET_MINUS "\007"
#define SHEET_TRANSPOSED "\010"
#define SHEET_INFINITY "\011"
#define SHEET_PLACE "\013"
enum { SHEET_MARKS = 12 };

enum { SHEET_FRAMES = 3, SHEET_LINE_BYTES = 512 };

/* A table with numbers, and the width of a blank in their place. */
struct sheet_table {
    const char *title, *corner; /* above it, and above the labels of its rows */
    size_t rows, columns;
    const char **row_labels, **column_labels; /* (rows), (columns) */
    const char **cells;                       /* (rows, columns) */
    size_t widest, blank;                     /* columns of its widest number, and of a blank; or */
    size_t *widths, *numbers; /* (columns) of each, and its numbers, where a cell has several; or NULL */
    size_t group;             /* rows of each sheet; 0: it is of one */
    bool decimals, rounded;   /* some number has decimals; has more of them than are shown */
};

struct sheet_task {
    enum stage stage;
    const char *formula;              /* "query = inputs . W_query" */
    const char *frames[SHEET_FRAMES]; /* the way of working for one number, with blanks; NULL after the last */
    bool begins;                      /* a group: stages whose tables stand side by side */
    struct sheet_table *tables; /* (count) one for each item and head; of weights, those of the powers before each; */
    size_t count;               /* those of a sheet lie one behind the other */
};

struct sheet {
    const char *title, *name;  /* "Causal attention by hand"; "seed 123, sheet 2" */
    struct sheet_table *given; /* (given_count) the last one e^x for the x that are needed and for others, where */
    size_t given_count;        /* these are few */
    const char *rule;          /* how to round, and what else is to be known; "" where all is whole */
    struct sheet_task *tasks;  /* (task_count) */
    size_t task_count;
    bool filled;        /* its tables are those of somebody's work, in which a mistake is to be found; and */
    const char *found;  /* with the answers which it is; else "" */
    const char *worked; /* the arithmetic: lines of text, of which those that begin in column 0 are headings; or "" */
    bool is_key;        /* its answers are those of several sheets */
};

struct sheet_plan {
    uint64_t shown, blank; /* stages on it, or that these are made from; those to fill in */
    uint64_t given;        /* what is told as a table: stages, and names that are none, such as STAGE_INPUTS */
    int precision;
    bool easy;         /* the numbers were chosen so that rounding on the way shows in the last digit at most */
    const char *name;  /* as the sheet's; it outlives the sheet, */
    const char *found; /* and so does this: as the sheet's */
    size_t mistakes;   /* how many the reader must find; 0: the reader fills it in */
    bool briefly;      /* without the arithmetic */
};

/* All in the arena. STATUS_SYSTEM where memory is short. */
enum status sheet_make(struct sheet *sheet, const struct sheet_plan *plan, struct result *result, struct arena *arena,
                       struct error *error);

struct key_plan {
    const struct sheet *sheets; /* (count) */
    size_t count;
    size_t columns, lines; /* of text that a page has room for */
    bool breaks_titles;    /* a title may take several lines */
};

/* In key.c: the pages of the key (count), which share texts with the sheets, each a sheet to write the answers of.
 * STATUS_SYSTEM where memory is short. */
enum status key_make(const struct key_plan *plan, struct sheet **pages, size_t *count, struct arena *arena,
                     struct error *error);

/* Whether it is the table of powers of e: its columns are numbers, where those of others may be tokens. */
bool sheet_is_powers(const struct sheet_table *table);

/* In frame.c: the way of working for one number of a stage, into frames (SHEET_FRAMES); none for a stage whose
 * formula says enough. `query` and `key` name a query and a token. STATUS_SYSTEM where memory is short. */
enum status frame_make(const struct problem *problem, enum stage stage, const char *query, const char *key,
                       const char **frames, struct arena *arena, struct error *error);
