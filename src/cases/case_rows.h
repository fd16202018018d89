/* SPDX-License-Identifier: MIT */
/* A row describes a case: its purpose, its features, its sizes, and how to draw its numbers. rows.c has the rows made
 * by hand; list.c makes more, in which any two features that can meet do. */
#pragma once

#include "base/memory.h"
#include "cli/case_features.h"
#include "cli/options.h"

#include <stdbool.h>
#include <stddef.h>

struct case_drawing;
typedef enum status case_maker(struct case_drawing *drawing);

/* The scaled score of each key, the same for every query, and what the other columns add to it. */
struct case_scores {
    double others;           /* times what was drawn in the other columns */
    double all, rising;      /* of every key, and from the first one to behind the last */
    double first, last, two; /* more of the first key, the last, and of the last and another */
};

struct case_row {
    const char *name, *purpose;
    uint64_t features;                /* CASE_BIT(CAUSAL) | ... */
    const char *options;              /* of attn sdpa, with blanks between them; each instead of that of a feature */
    size_t queries, keys;             /* 0: as the features say, else as many queries as keys, and --max-tokens keys */
    bool exact;                       /* so many tokens or none; else no more than --max-tokens, */
    size_t least;                     /* which is so large at least, or there is nothing to see; 0: 2 */
    size_t items;                     /* 0: as the features say, else 1 */
    bool odd_heads;                   /* the number of heads is no power of two */
    bool one_sequence;                /* packed by --layout: all tokens are one sequence */
    const struct case_scores *scores; /* NULL: as they were drawn */
    case_maker *make;                 /* changes the numbers that were drawn, after those of the features; or NULL */
};

/* A feature of cli/case_features.h: what it does to a row. */
struct case_feature_row {
    const char *options;         /* of attn sdpa; or NULL */
    const char *tensor;          /* its name in the index; or NULL */
    uint64_t needs, any;         /* features that go with it: all of these, one of those */
    uint64_t excludes;           /* that do not; it is enough if one of two says so */
    size_t items, queries, keys; /* 0: others say */
    bool exact;                  /* no fewer keys */
    case_maker *make;            /* adds its tensors, or changes numbers; or NULL */
};

/* Tokens of packed sequences, or a whole multiple of them; queries if there are fewer than keys; and keys in pages,
 * also if some have none. */
enum { CASE_PACKED_KEYS = 39, CASE_APART_QUERIES = 31, CASE_PAGED_KEYS = 84, CASE_PAGED_KEYS_EMPTY = 51 };

extern const struct case_feature_row CASE_FEATURE_ROWS[CASE_FEATURE_COUNT];

static inline bool case_has(const struct case_row *row, enum case_feature feature)
{
    return row->features >> feature & 1;
}

/* In list.c: the set with that feature and all that go with it, of those allowed; 0: it does not fit. */
uint64_t case_features_add(uint64_t set, enum case_feature feature, uint64_t allowed);

struct case_list {
    const struct case_row *rows;
    size_t count;
};

/* In rows.c: the cases of these options: of --can, --only, --layout. Those that --heads and --max-tokens do not allow
 * are in it, too (case_sizes_of). STATUS_USAGE where --only names no case, STATUS_SYSTEM where memory is short. */
enum status case_list_make(struct case_list *list, const struct options *options, struct arena *arena,
                           struct error *error);
