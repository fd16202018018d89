/* Options and bundles -> one validated attention problem. Every shape is checked here, or in parameters.c where it is a
 * parameter's; what comes after relies on it.
 *
 * B items of a batch, H heads, T tokens, Tq queries asked for, d_in columns of the inputs, d_head columns of a head. */
#ifndef ATTN_PROBLEM_H
#define ATTN_PROBLEM_H

#include "kernel.h"
#include "options.h"
#include "parameters.h"
#include "progress.h"

struct problem {
    enum command mechanism;                    /* COMMAND_SELF, _CAUSAL or _MULTIHEAD */
    bool parameters_only;                      /* attn init: no inputs, no stages */
    bool has_batch;                            /* the input had a batch axis; else B = 1 */
    bool has_heads;                            /* multihead; else H = 1 */
    size_t items, heads, tokens, d_in, d_head; /* B, H, T, d_in, d_head */
    bool causal;
    double scale; /* 1 / sqrt(d_head) */
    double dropout;
    enum dtype dtype;     /* the working dtype: F32 or F64 */
    const char *source;   /* where the inputs came from */
    struct tensor inputs; /* (B, T, d_in) */
    const char **labels;  /* (label_lists, T) token labels; NULL where the input has no tokens */
    size_t label_lists;   /* 1: for every item; else B */
    bool labels_nested;   /* the input has a list of lists */
    struct parameters_plan plan;
    struct parameters parameters;
    struct generator generator; /* where dropout begins */
    size_t *rows;               /* (Tq) the queries asked for, from 0, ascending */
    size_t row_count;           /* Tq */
    size_t part, parts;         /* these rows are part K of N, K from 1; 0 and 0: the whole */
    size_t whole_count;         /* Tq of the whole */
    unsigned threads;
    const struct kernel *kernel;    /* what the processor has, or ATTN_ISA names */
    struct progress *progress;      /* where work tells how far it is */
    bool fused;                     /* context and output by the fused path */
    bool fast_projections;          /* projections by the float32 kernels */
    enum stage stages[STAGE_NAMES]; /* what is to be shown, in order */
    size_t stage_count;
    bool stages_asked;                     /* by --stages; else all of the mechanism */
    struct setting settings[OPTION_COUNT]; /* what changes the numbers, as it came out */
    size_t setting_count;
};

/* Options, with the settings of `inputs` taken into them, the inputs' bundle (NULL: init with --d-in) and that of
 * --weights (or NULL) become a problem. It points into the bundles and into the arena.
 * STATUS_USAGE where something does not fit, STATUS_SYSTEM where memory is short. */
enum status problem_create(struct problem *problem, struct options *options, const struct bundle *inputs,
                           const struct bundle *weights, struct progress *progress, struct arena *arena,
                           struct error *error);

/* The label of a token (from 0) of an item, or NULL where the input has no tokens. */
const char *problem_label(const struct problem *problem, size_t item, size_t token);

#endif
