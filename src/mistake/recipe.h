/* SPDX-License-Identifier: MIT */
/* A problem with mistakes. A copy of the problem has the changes that it can express; fields here have the others, and
 * plain.h computes those.
 *
 *   B items, H heads of query, H_kv of key and value, Tq queries, Tk keys, d and d_v columns of a head. */
#pragma once

#include "stage/gate.h"
#include "stage/stage.h"

struct recipe;

/* The axis of a softmax. */
enum recipe_axis {
    RECIPE_AXIS_KEYS, /* right: the keys of a row */
    RECIPE_AXIS_QUERIES,
    RECIPE_AXIS_HEADS,
    RECIPE_AXIS_ITEMS,
    RECIPE_AXIS_ALL, /* keys and queries of a head together */
};

/* Makes a row of a stage in place of stage_make, rounded. */
typedef void recipe_row(const struct attention_row *row, const struct recipe *recipe);

/* The source of a row of key or value as used, (B, H_kv, Tk), among all rows of that operand; SIZE_MAX: zeros. */
typedef size_t recipe_source(const struct recipe *recipe, size_t item, size_t head, size_t key);

/* A running softmax over tiles of keys, with mistakes. */
struct recipe_tiles {
    bool keeps_context, keeps_sum;    /* does not rescale them */
    bool divides;                     /* by the running sum, in each tile */
    bool forgets;                     /* the tiles before */
    bool apart, means;                /* each tile has a maximum of its own; its context is divided by its sum */
    bool first_twice, last_twice;     /* of those with an allowed key */
    bool skips_last, skips_own;       /* of all keys; of those with an allowed key */
    bool adds_sinks;                  /* in each tile */
    bool by_first_row, by_row_before; /* rescales the context by the factor of the first of `tile` rows, or of the one
                                          before */
};

/* The source of column c of head h in what the projections make. */
enum recipe_split {
    RECIPE_SPLIT_HEADS,       /* right: column h d + c */
    RECIPE_SPLIT_VIEW,        /* rows and columns of (T, H d) read on as (H, T, d) */
    RECIPE_SPLIT_INTERLEAVED, /* column c H + h */
    RECIPE_SPLIT_NONE,        /* one head of all columns */
};

enum recipe_merge {
    RECIPE_MERGE_HEADS,
    RECIPE_MERGE_VIEW,
    RECIPE_MERGE_INTERLEAVED,
    RECIPE_MERGE_REVERSED,
    RECIPE_MERGE_MEAN,
    RECIPE_MERGE_SUM
};

enum recipe_groups { RECIPE_GROUPS_NEXT, RECIPE_GROUPS_TILED, RECIPE_GROUPS_FIRST };

/* How query and key are rotated. */
enum recipe_turn {
    RECIPE_TURN_RIGHT,
    RECIPE_TURN_MIXED,        /* columns in halves by the angles of pairs, or the reverse */
    RECIPE_TURN_PLUS,         /* (a, b) -> (a cos + b sin, b cos + a sin) */
    RECIPE_TURN_HEADS,        /* by the head's index, not the position */
    RECIPE_TURN_ALL_HEADS,    /* all heads of a token as if they were one */
    RECIPE_TURN_BF16_COSINES, /* cos and sin in bfloat16, */
    RECIPE_TURN_BF16_ANGLES,  /* or the angles */
};

enum recipe_bits { RECIPE_BITS_KEPT, RECIPE_BITS_BF16, RECIPE_BITS_SWAPPED };

/* The row, of d of a head, that becomes row `at` of a projection. */
typedef size_t recipe_order(size_t at, size_t d);

/* Sets of query, key and value. */
enum {
    OF_QUERY = 1U << PROJECTION_QUERY,
    OF_KEY = 1U << PROJECTION_KEY,
    OF_VALUE = 1U << PROJECTION_VALUE,
    OF_ALL = OF_QUERY | OF_KEY | OF_VALUE
};

/* What replaces query, key and value. */
enum recipe_role { RECIPE_ROLE_OWN, RECIPE_ROLE_QUERY, RECIPE_ROLE_KEY, RECIPE_ROLE_VALUE, RECIPE_ROLE_INPUTS };

/* The mask of one item, with its own length and offset. */
struct recipe_mask {
    struct mask mask;   /* lengths NULL, offset that of the item */
    size_t item, limit; /* the item's length: later keys are masked */
    size_t past;        /* keys of the past, before the given ones */
    size_t page;        /* tokens of a page; 0: no pages */
};

/* A rule that struct mask lacks, for one item. */
struct recipe_rule {
    void (*place)(struct recipe_mask *mask); /* moves queries or the end of keys; or NULL */
    int64_t queries_by, end_by;              /* the same by fixed amounts; the end stays above 0 */
    bool (*forbids)(const struct recipe_mask *mask, size_t query, size_t key); /* forbids further keys; or NULL */
    int64_t forbidden[2]; /* keys this far before the query, from the first to below the second */
};

enum { RECIPE_RULES = 4 };

#define RECIPE_NORM_EPS 1e-5 /* of a norm that a mistake adds, as torch.nn.LayerNorm has it */

struct recipe {
    struct problem problem; /* changed */
    bool moves;             /* plain.h moves the columns of right projections where it can: the parameters stay */
    bool plain;             /* a field below is set, so only plain.h can compute it */
    const char *making;     /* the current mistake, */
    double form;            /* and its form */
    const char *reason;     /* why it cannot be made here: "there are no sinks"; NULL: all are made */
    /* The mistake that rules out gradients, since it changes how a stage is made; or NULL. */
    const char *not_differentiable;
    bool across;                  /* queries depend on each other: making one row needs all */
    unsigned changed_projections; /* sets of operands: their parameters changed, */
    /* moves: of each column of x . W, its right one among those of query, key and value side by side; NULL: its own */
    size_t *moved[PROJECTION_COUNT];
    double *addends[PROJECTION_COUNT]; /* or their biases: to add to each column in trials; NULL: none */
    unsigned changed_steps;            /* or only norm, rotation or scale, so trials share x . W */
    bool norms_last;                   /* normalises query and key after the rotation */
    enum recipe_turn turn;
    struct rope all_heads[PROJECTION_COUNT]; /* of query and key, for that turn */
    bool rotates_value;                      /* rotates value as key */
    bool output_changed;                     /* the output projection changed */
    enum recipe_split split;
    enum recipe_bits bits[PROJECTION_COUNT];
    enum recipe_role roles[PROJECTION_COUNT];
    bool roles_early; /* exchanges them when made, so that the stages show it; else where used */
    enum recipe_groups groups[PROJECTION_COUNT]; /* of key and value */
    struct recipe_rule rules[RECIPE_RULES];
    size_t past; /* keys of the past in the original problem */
    size_t rule_count;
    bool overflows;                /* scores overflow in float16 */
    bool too_large;                /* a number of the job does not fit the dtype */
    bool caps_masked;              /* the softcap comes after the mask */
    recipe_row *rows[STAGE_COUNT]; /* NULL: stage_make */
    double digits;                 /* that scaled keeps after the point */
    double fill;                   /* what a forbidden score becomes; minus infinity: right */
    double added;                  /* to a forbidden score, in place of that; 0: nothing */
    bool unmasks;                  /* every key has a weight that counts, whatever the mask says */
    bool mixes_sums, mixes_maxima; /* column j of the weights has the sum, or the maximum, of row j */
    bool attends_heads;            /* each token's heads attend to each other */
    bool adds_inputs, adds_normed; /* to the output, as given or normed */
    struct norm result_norm;       /* after that; NORM_NONE: none */
    bool fills_weights;            /* softmax over all keys, then 0 for the forbidden ones */
    enum recipe_axis axis;
    double padding; /* count of zero keys in the sum, each with a score of 0 */
    double weights_factor;
    bool drops_scores;  /* dropout comes before the softmax */
    double kept_factor; /* of weights that dropout keeps, in a row of dropped */
    bool weights_transposed;
    recipe_source *sources[PROJECTION_COUNT]; /* of key and value; NULL: its own row */
    size_t source_form;                       /* the form of the mistake of slot keys */
    bool packs_groups;                        /* the mask takes i group + h % group for query i of head h */
    size_t tile;                              /* keys of one */
    struct recipe_tiles tiles;
    enum recipe_merge merge;
    bool out_twice;
    bool leaves_residual, bare_residual; /* the residual lacks the inputs, or their positions */
    struct arena *arena;                 /* of the changes */
    struct error *error;
};

/* Makes the recipe of a problem with these mistakes: the dtype first, so that the others apply in it, then those in the
 * order of their slots; recipe->reason says why one cannot be made. `moves`: for trials, which share projections.
 * STATUS_SYSTEM: out of memory. */
enum status recipe_create(struct recipe *recipe, const struct problem *problem, const struct mistake_choice *choices,
                          size_t count, bool moves, struct arena *arena, struct error *error);

/* plain.h makes the stage, not its own file; `formula` says how: a leading comma appends it to the name of the stage
 * before. Returns NULL, as the next ones do, so that a mistake can end with it. */
const char *recipe_makes(struct recipe *recipe, enum stage stage, const char *formula);

/* The same, by a function of its rows. */
const char *recipe_makes_by(struct recipe *recipe, enum stage stage, recipe_row *make, const char *formula);

/* The stage's own file makes it from the changed problem; sets another formula. */
const char *recipe_tells(struct recipe *recipe, enum stage stage, const char *formula);

/* The stage that a projection makes: projected_query where norm, rotation or scale follow, else query. */
enum stage recipe_projected(const struct recipe *recipe, enum projection_id id);

/* Sets another formula for each of a set of operands, in the stage that its projection makes. */
void recipe_tells_projected(struct recipe *recipe, unsigned operands, const char *formula);

/* Gives the problem a copy of its modules and returns it; NULL: no projections, or out of memory. */
struct module *recipe_copy_modules(struct recipe *recipe);

/* Reads rows of key or value from other places; NULL, or why not. */
const char *recipe_reads(struct recipe *recipe, enum projection_id id, recipe_source *source, const char *formula);

/* In change_pages.c: reads key and value from pages, if any, up to other lengths, (B). NULL, or why it cannot. */
const char *recipe_read_pages(struct recipe *recipe, const int64_t *lengths);

/* In change_softmax.c: column j of the weights gets the sum or the maximum of row j. NULL, or why it cannot. */
const char *recipe_mix_rows(struct recipe *recipe, bool sums, bool maxima);

/* In change_operands.c: makes the gate again from the changed problem, if it has one. */
const char *recipe_make_gate(struct recipe *recipe, gate_function *function, const char *formula);

/* Makes a mistake of model/mistake.h, with the problem, mask and form of the recipe: NULL, or why it cannot be made
 * here. recipe->error says out of memory. */
#define RECIPE_CHANGED(unused) \
    unused struct recipe *recipe, unused struct problem *problem, unused struct mask *mask, unused double form
typedef const char *mistake_change(RECIPE_CHANGED());

/* By a function: its body follows. */
#define CHANGE_BY(id)           \
    mistake_change change_##id; \
    const char *change_##id(RECIPE_CHANGED(__attribute__((unused))))

/* By an expression that returns why not; it may use recipe, problem, mask and form. */
#define CHANGE(id, why_not) \
    CHANGE_BY(id)           \
    {                       \
        return why_not;     \
    }

/* The same under a condition; `otherwise` says why not. */
#define CHANGE_WHERE(id, condition, otherwise, what) CHANGE(id, (condition) ? ((void)(what), NULL) : (otherwise))
