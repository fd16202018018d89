/* The stages of attention, in the order in which they come, and what each is made from.
 *
 * Dimensions: B items of a batch, H heads, T tokens, d columns of one head. T x T is Tq x Tk where queries and keys are
 * not the same tokens. */
#ifndef ATTN_MODEL_STAGES_H
#define ATTN_MODEL_STAGES_H

#include <stdbool.h>
#include <stddef.h>

enum stage {
    STAGE_QUERY,
    STAGE_KEY,
    STAGE_VALUE,
    STAGE_SCORES,
    STAGE_SCALED,
    STAGE_CAPPED,
    STAGE_MASKED,
    STAGE_WEIGHTS,
    STAGE_DROPPED,
    STAGE_CONTEXT,
    STAGE_OUTPUT,
    STAGE_LSE,         /* (B, H, Tq) the logarithm of each row's sum of exponentials */
    STAGE_PRESENT_KEY, /* (B, H_kv, Tk, d) the past and then the given key; so for value */
    STAGE_PRESENT_VALUE,
    STAGE_COUNT,
    /* No stages of their own, but names that --stages takes beside them. */
    STAGE_INPUTS = STAGE_COUNT,
    STAGE_PARAMETERS,
    STAGE_NAMES,
};

/* A set of stages: bit `stage` is 1u << stage. */
#define STAGE_BIT(stage) (1u << (stage))

/* The name, also for inputs and parameters. */
const char *stage_name(enum stage stage);

/* The stage of that name among all STAGE_NAMES, or STAGE_NAMES where there is none. */
enum stage stage_find(const char *name, size_t length);

/* The stages that it is computed from; query, key and value come from no stage. */
unsigned stage_sources(enum stage stage);

/* Every stage that these need, themselves included. */
unsigned stage_closure(unsigned stages);

/* Whether its rows are those of key and value, never cut by a choice of queries. */
bool stage_is_of_keys(enum stage stage);

/* Whether it is T x T. */
bool stage_is_square(enum stage stage);

/* Whether its numbers are shares of a row: from 0 on, not around it. */
bool stage_is_shares(enum stage stage);

#endif
