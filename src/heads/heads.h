/* SPDX-License-Identifier: MIT */
/* attn heads: for each head, its mean weight on the keys that mark a known kind of head.
 *
 * A query counts for a kind if the mask allows it its own token and a key of that kind. TransformerLens
 * (head_detector.py, error_measure "mul") has the same keys for previous, duplicate and induction, and divides their
 * sum by all queries. */
#pragma once

#include "build/job_files.h"
#include "compute/result.h"

/* Identifier, name, the keys. Entropy is no share. */
#define HEAD_MEASURE_ROWS(ROW)                            \
    ROW(PREVIOUS, "previous", "the token before")         \
    ROW(FIRST, "first", "the first token (sink)")         \
    ROW(DUPLICATE, "duplicate", "earlier same tokens")    \
    ROW(INDUCTION, "induction", "the tokens after those") \
    ROW(OWN, "own", "the query's own token")              \
    ROW(ENTROPY, "entropy", NULL)

#define HEAD_MEASURE_ID(id, ...) HEAD_##id,
enum head_measure { HEAD_MEASURE_ROWS(HEAD_MEASURE_ID) HEAD_MEASURES };

struct head_measure_row {
    const char *name, *keys;
};
extern const struct head_measure_row HEAD_MEASURE[HEAD_MEASURES];

enum { HEADS_LARGEST = 3, HEADS_MAP = 32, HEADS_LAYERS = 1024 };

/* Over the queries that count; `uniform` is that of equal weights on all allowed keys. */
struct head_mean {
    double mean, uniform;
    size_t queries;
};

struct head_key {
    size_t position;   /* from 1; 0: none */
    const char *label; /* or NULL */
    double weight;
};

struct head_line {
    struct head_line *next; /* or NULL */
    size_t layer;           /* from 0; MODULE_NO_LAYER */
    size_t head;            /* from 1 */
    struct head_mean means[HEAD_MEASURES];
    struct head_key query; /* the last query of the first item that has allowed keys, */
    struct head_key largest[HEADS_LARGEST];
    double map[HEADS_MAP][HEADS_MAP]; /* of the first item: the largest weight of each block */
    size_t rows, columns;             /* of the map */
};

/* The inputs of a layer; `file` without a source: not given. */
struct heads_layer {
    struct input_file file;
    bool residual; /* they are hidden_states.N */
};

struct heads {
    struct options options; /* of the jobs */
    struct job_files files;
    struct heads_layer *layers; /* (HEADS_LAYERS); NULL: one job, of files.inputs */
    size_t given;               /* layers that are given */
    struct token_labels tokens; /* of --tokens; or none */
    const char *words;          /* what was computed */
    struct head_line *lines, **end;
    const struct head_line *best[HEAD_MEASURES]; /* with the largest mean, above `uniform`; or NULL */
};

/* Reads the files and chooses the mechanism. Fails as job_files_read and listing_read. */
enum status heads_read(struct heads *heads, const struct options *options, struct arena *arena, struct error *error);

/* Computes the jobs, one after another, and shows the warnings of the first. Holds one job at a time, and no T x T
 * table. */
typedef void heads_warner(const void *context, const struct problem *problem);
enum status heads_make(struct heads *heads, heads_warner *warn, const void *context, struct progress *progress,
                       struct arena *arena, struct error *error);

/* Measures the heads of a result of weights, those of the lines. */
enum status heads_measure(struct head_line *lines, struct result *result, struct arena *arena, struct error *error);

/* Writes the lines in the format of the options, and closes the output. */
enum status heads_write(const struct heads *heads, const struct options *options, struct output *output);

/* The writers; `precision` is that of text and pictures. */
typedef void heads_writer(const struct heads *heads, const struct options *options, int precision,
                          struct output *output);
heads_writer heads_text, heads_json, heads_csv, heads_svg, heads_html;
