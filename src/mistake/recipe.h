/* SPDX-License-Identifier: MIT */
/* A problem with mistakes in it. What can be said by a problem is changed in a copy of it; the rest is said here, and
 * plain.h computes it.
 *
 *   B items, H heads of query, H_kv of key and value, Tq queries, Tk keys, d and d_v columns of a head. */
#ifndef ATTN_MISTAKE_RECIPE_H
#define ATTN_MISTAKE_RECIPE_H

#include "stage/stage.h"

struct recipe;

/* What a softmax goes over. */
enum recipe_axis {
    RECIPE_AXIS_KEYS, /* as it should be: the keys of a row */
    RECIPE_AXIS_QUERIES,
    RECIPE_AXIS_HEADS,
    RECIPE_AXIS_ITEMS,
    RECIPE_AXIS_ALL, /* keys and queries of a head together */
};

/* Makes a row of a stage in the place of stage_make, rounded. */
typedef void recipe_row(const struct attention_row *row, const struct recipe *recipe);

/* Where column c of head h is taken from in what the projections make. */
enum recipe_split {
    RECIPE_SPLIT_HEADS,       /* as it should be: column h d + c */
    RECIPE_SPLIT_VIEW,        /* rows and columns of (T, H d) read on as (H, T, d) */
    RECIPE_SPLIT_INTERLEAVED, /* column c H + h */
    RECIPE_SPLIT_BY_HEAD,     /* query, key and value side by side, read as (H, 3, d) */
    RECIPE_SPLIT_BY_COLUMN,   /* the same, read as (H, d, 3) */
    RECIPE_SPLIT_NONE,        /* one head of all columns */
};

enum recipe_merge { RECIPE_MERGE_HEADS, RECIPE_MERGE_VIEW, RECIPE_MERGE_INTERLEAVED, RECIPE_MERGE_REVERSED };

enum recipe_groups { RECIPE_GROUPS_NEXT, RECIPE_GROUPS_TILED, RECIPE_GROUPS_FIRST };

enum recipe_bits { RECIPE_BITS_KEPT, RECIPE_BITS_BF16, RECIPE_BITS_SWAPPED };

/* Sets of query, key and value. */
enum {
    OF_QUERY = 1U << PROJECTION_QUERY,
    OF_KEY = 1U << PROJECTION_KEY,
    OF_VALUE = 1U << PROJECTION_VALUE,
    OF_ALL = OF_QUERY | OF_KEY | OF_VALUE
};

/* What stands in the place of query, key and value. */
enum recipe_role { RECIPE_ROLE_OWN, RECIPE_ROLE_QUERY, RECIPE_ROLE_KEY, RECIPE_ROLE_VALUE, RECIPE_ROLE_INPUTS };

/* The mask of one item, its length and the place of its queries said by itself. */
struct recipe_mask {
    struct mask mask;   /* lengths NULL, offset that of the item */
    size_t item, limit; /* keys from here on are beyond the item's length */
    size_t past;        /* keys before the given ones, as the job has them */
    size_t page;        /* tokens of a page; 0: there are none */
};

/* A rule of the mask that struct mask does not have: what it says of one item. */
struct recipe_rule {
    void (*place)(struct recipe_mask *mask); /* moves queries or the end; or NULL */
    int64_t queries_by, end_by;              /* the same by so much; the end stays above 0 */
    bool (*forbids)(const struct recipe_mask *mask, size_t query, size_t key); /* one key more; or NULL */
    int64_t forbidden[2]; /* keys so far behind the query, from the first to before the second */
};

enum { RECIPE_RULES = 4 };

struct recipe {
    struct problem problem; /* changed */
    bool plain;             /* a field below is set, so that plain.h alone can compute it */
    const char *making;     /* the mistake that is made now, */
    double form;            /* and in which form */
    const char *reason;     /* why that one cannot be made here: "there are no sinks"; NULL: all are made */
    /* That which makes a stage otherwise, so that no gradient is that of what is made; or NULL. */
    const char *not_differentiable;
    bool across;                  /* queries meet: no row can be made without all others */
    unsigned changed_projections; /* sets of operands: their parameters are changed, */
    unsigned changed_steps;       /* or their norm, rotation or scale, so that x . W can be shared */
    bool norms_last;              /* query and key are normed after the rotation */
    bool rotates_value;           /* value is rotated as key is */
    bool output_changed;          /* the output projection is changed */
    enum recipe_split split;
    enum recipe_bits bits[PROJECTION_COUNT];
    enum recipe_role roles[PROJECTION_COUNT];
    bool roles_early; /* they are exchanged as they are made, so that the stages show it; else where they are used */
    enum recipe_groups groups;
    struct recipe_rule rules[RECIPE_RULES];
    size_t past; /* of the problem as it was */
    size_t rule_count;
    bool overflows;                /* scores in float16 */
    bool too_large;                /* the dtype asked for does not hold what the job has */
    bool caps_masked;              /* the softcap comes behind the mask */
    recipe_row *rows[STAGE_COUNT]; /* NULL: stage_make */
    double fill;        /* what a forbidden score becomes; minus infinity, as it should be: it takes no part */
    bool fills_weights; /* softmax over all keys, then 0 where they are forbidden */
    enum recipe_axis axis;
    double padding; /* so many keys of zeros are counted in the sum, each with a score of 0 */
    double weights_factor;
    bool drops_scores; /* dropout comes before the softmax */
    bool weights_transposed;
    int shift;        /* a weight meets the value after its own, 1, or before it, -1; behind the ends */
    bool shift_wraps; /* those of the other end, or zeros */
    size_t tile;      /* keys of one */
    enum recipe_merge merge;
    bool out_twice;
    struct arena *arena; /* of what is changed */
    struct error *error;
};

/* Makes the recipe of a problem with these mistakes: the dtype first, so that all else is changed in it, then the
 * others in the order of their slots; recipe->reason says why one of them cannot be made. STATUS_SYSTEM where memory is
 * short. */
enum status recipe_create(struct recipe *recipe, const struct problem *problem, const struct mistake_choice *choices,
                          size_t count, struct arena *arena, struct error *error);

/* A stage is made otherwise than its own file says, by plain.h; how, as a formula: one that begins with a comma goes on
 * from the name of the stage before. Returns NULL, as the next ones do, so that a mistake can end with it. */
const char *recipe_makes(struct recipe *recipe, enum stage stage, const char *formula);

/* The same by a function of its rows. */
const char *recipe_makes_by(struct recipe *recipe, enum stage stage, recipe_row *make, const char *formula);

/* It is made as ever, of a problem that is changed; another formula tells more. */
const char *recipe_tells(struct recipe *recipe, enum stage stage, const char *formula);

/* The stage that a projection makes: projected_query where norm, rotation or scale follow, else query. */
enum stage recipe_projected(const struct recipe *recipe, enum projection_id id);

/* Each of a set of operands has another formula, in the stage that its projection makes. */
void recipe_tells_projected(struct recipe *recipe, unsigned operands, const char *formula);

/* A copy of the modules, which the problem then has; NULL where nothing is projected, or memory is short. */
struct module *recipe_copy_modules(struct recipe *recipe);

/* In change_pages.c: key and value as pages have them up to other lengths, (B), where they are in pages. NULL, or why
 * they cannot be read. */
const char *recipe_read_pages(struct recipe *recipe, const int64_t *lengths);

/* In recipe_mask.c: the mask of the changed problem with the rules, as numbers for each query and key. STATUS_SYSTEM
 * where memory is short. */
enum status recipe_mask(struct recipe *recipe);

/* What a mistake changes, with its id in model/mistake.h: NULL, or why it cannot be made here. Where memory is short,
 * that is in recipe->error. */
typedef const char *mistake_change(struct recipe *recipe);

/* By a function: its body follows. */
#define CHANGE_BY(id)           \
    mistake_change change_##id; \
    const char *change_##id(struct recipe *recipe)

/* By an expression that says why not; it may use recipe, problem, mask and form. */
#define CHANGE(id, why_not)                               \
    CHANGE_BY(id)                                         \
    {                                                     \
        struct problem *const problem = &recipe->problem; \
        struct mask *const mask = &problem->mask;         \
        const double form = recipe->form;                 \
        (void)problem;                                    \
        (void)mask;                                       \
        (void)form;                                       \
        return why_not;                                   \
    }

/* The same where a condition holds; `otherwise` says why not. */
#define CHANGE_WHERE(id, condition, otherwise, what) CHANGE(id, (condition) ? ((void)(what), NULL) : (otherwise))

#endif
