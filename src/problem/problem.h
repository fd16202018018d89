/* One validated attention problem, as the room `build` makes it of options and input files, and what can be asked of
 * it.
 *
 * B items of a batch, H heads, H_kv heads of key and value, Tq queries, Tk keys (both T, the tokens of the inputs,
 * but for sdpa), S queries asked for, d_in columns of the inputs, d and d_v columns of a head of query and key, of
 * value. */
#ifndef ATTN_PROBLEM_PROBLEM_H
#define ATTN_PROBLEM_PROBLEM_H

#include "base/setting.h"
#include "cli/options.h"
#include "kernel/kernel.h"
#include "layer/layer.h"
#include "model/family.h"
#include "model/mask.h"
#include "model/mechanism.h"
#include "model/mistake.h"
#include "model/rounding.h"
#include "model/stage_id.h"
#include "problem/parameters.h"

/* What an input has beside `inputs`: attn_mask, alibi_slopes, sinks; and all that sdpa is given: query, key, value,
 * past_key, past_value, kv_lengths, cu_seqlens_q, cu_seqlens_k, block_table, key_cache, value_cache. */
enum { INPUT_TENSORS = 14 };

struct input_tensor {
    const char *name;
    struct tensor tensor; /* rounded to the working dtype; boolean and whole numbers as they are */
};

/* One number of a stage, its indices from 0; SIZE_MAX for an axis that the stage has not. */
struct cell {
    enum stage stage;
    size_t item, head, row, column;
};

/* Key and value in pages, as the file has them: what a mistake may read otherwise. */
struct problem_pages {
    size_t count, size, per_item; /* pages of the caches, tokens of a page, pages of an item */
    size_t items;                 /* rows of the table: B, or the sequences */
    const int64_t *table;         /* (items, per_item) pages of the caches; -1: none that there is */
    const size_t *lengths;        /* (items) tokens that are read */
    const int64_t *starts;        /* (items + 1) where sequences begin among the keys; NULL: there are none */
    struct tensor caches[3];      /* by enum projection_id, (count, size, H_kv, columns); none of query */
};

struct problem {
    enum mechanism mechanism;
    bool parameters_only; /* attn init: no inputs, no stages */
    bool has_batch;       /* the input had a batch axis; else B = 1 */
    bool has_heads;       /* multihead, or sdpa with an axis of heads; else H = 1 */
    bool packed;          /* sdpa: the heads lie side by side in query, (B, Tq, H d), and so they do in context */
    size_t items, heads, kv_heads, queries, keys; /* B, H, H_kv, Tq, Tk; H_kv divides H */
    size_t d_in, d_head, d_value;                 /* d_in (not for sdpa), d, d_v */
    size_t d_key_in;                              /* columns of key_inputs */
    struct mask mask;
    struct input_tensor beside[INPUT_TENSORS]; /* for a result to be an input again */
    size_t beside_count;
    bool has_grad;      /* --grad: there is a loss, and this its gradient by the last stage */
    struct tensor grad; /* laid out as that stage; rank 0: all ones */
    const struct backward_mistake *backward_mistake; /* stage/backward_mistake.h; NULL: it is right */
    double noise; /* how far each term of the softmax's gradient is moved, as a share of it: 0 but in why/noise.h */
    bool masks;   /* the mask may forbid a key or add to a score */
    double scale; /* 1 / sqrt(d) unless given, over the temperature */
    double temperature;
    double softcap; /* 0: none */
    double dropout;
    enum dtype dtype;         /* the working dtype */
    enum dtype softmax_dtype; /* that of the softmax; usually the same */
    enum rounding rounding;
    const char *source;       /* where the inputs came from */
    struct tensor inputs;     /* (B, Tq, d_in); rank 0 for sdpa */
    struct tensor key_inputs; /* (B, Tk, d_key_in): the inputs, or */
    bool crosses;             /* others, for cross-attention */
    /* sdpa, and a step of others: query (B, H, Tq, d), key (B, H_kv, Tk, d), value (B, H_kv, Tk, d_v), past included;
     * in the working dtype itself, as they lie in a file of that dtype */
    struct tensor given[3];
    const struct problem_pages *pages;  /* that key and value lie in; or NULL */
    bool has_past;                      /* key and value begin with one, of no tokens, maybe; */
    size_t past;                        /* of so many tokens, whose keys are turned already */
    bool residual;                      /* the inputs are the residual stream: their norm comes first */
    double clip;                        /* query, key and value lie within +-clip; 0: as they are */
    bool scales_query;                  /* the query is multiplied with the scale, */
    double query_scale;                 /* this one; `scale` is then 1 */
    struct rope rope;                   /* of query and key; ROPE_NONE: neither is turned */
    struct rope_settings rope_settings; /* that it is made from, */
    size_t rope_highest;                /* up to this position */
    /* (B, Tq), (B, Tk - past) where there is a rotation; SIZE_MAX: the row is not turned, as a mistake has it */
    const size_t *positions, *key_positions;
    const struct layer *layer;        /* the module of a checkpoint that it is; or NULL */
    const struct family_row *family;  /* of a model, for its rounding; NULL: none */
    const char *not_finite;           /* which of them holds NaN or infinity, as far as is known; NULL: none */
    struct token_labels labels;       /* of the keys: of 1 list or B */
    size_t first_query;               /* the label of query 0 among them; SIZE_MAX where it is not there */
    bool apart;                       /* the labels of queries are no labels of keys, but */
    struct token_labels query_labels; /* of 1 list or B */
    struct parameters_plan plan;
    struct parameters parameters;
    struct torch_random generator; /* where dropout begins */
    bool dropout_seeded;           /* which --dropout-seed says */
    size_t *rows;                  /* (S) the queries asked for, from 0, ascending */
    size_t row_count;              /* S */
    size_t part, parts;            /* these rows are part K of N, K from 1; 0 and 0: the whole */
    const char *part_line;         /* of a part: the command without --part and --out; NULL where it is too long */
    size_t whole_count;            /* S of the whole */
    unsigned threads;
    const struct kernel *kernel;    /* of attention, on query, key and value as they lie: what the processor has, */
    const struct kernel *projector; /* and of projections; or what ATTN_ISA names */
    bool fused;                     /* the fused path makes context, output and lse, if key and value are finite */
    bool fused_backward;            /* and grad_query, grad_key and grad_value, if grad_context is, too */
    const char *forced;      /* --kernel's word where it asked for the fused path: an overflow is then an error */
    bool kernel_projections; /* projections by the kernels */
    enum stage stages[STAGE_NAMES]; /* what is to be shown, in order */
    size_t stage_count;
    bool stages_asked;                 /* by --stages; else all of the mechanism */
    bool explains_config;              /* --explain config: what is known, and who says it, in place of stages */
    bool explains;                     /* --explain; then `stages` also has what the explained ones are made from */
    enum stage explained[STAGE_NAMES]; /* in order */
    size_t explained_count;
    bool has_cell;         /* one number is followed back */
    struct cell cell;      /* that one; of the gradient by a parameter, STAGE_GRAD_PARAMETERS: */
    const char *cell_name; /* the name of its table, and */
    struct parameter_place cell_place;
    /* --mistake, in the order of the slots; then what follows from them is in the problem itself, and: */
    struct mistake_choice mistakes[MISTAKE_SLOT_COUNT];
    size_t mistake_count;
    /* How they make a stage, where its own formula does not tell, from the name of the stage before on where it begins
     * with a comma; else NULL. */
    const char *formulas[STAGE_COUNT];
    uint64_t wrong;              /* the stages that are made otherwise than their own files say */
    const struct recipe *recipe; /* where it takes more than a problem says, by mistake/plain.h; else NULL */
    bool mask_made;              /* attn_mask stands for the whole mask, as a mistake makes it */
    const struct problem *right; /* as it was before them; NULL: there are none */
    struct setting *settings;    /* what changes the numbers, as it came out */
    size_t setting_count;
    /* What a person is told before the work starts, of an option once at most: "--seed does nothing: ..." */
    const char *warnings[OPTION_COUNT + 1]; /* and one of images */
    size_t warning_count;
};

/* Whether query, key and value are made of inputs, by parameters; else they are given. */
bool problem_projects(const struct problem *problem);

/* The problem without its mistakes: what was asked for, which settings and parameters of a result tell. */
const struct problem *problem_right(const struct problem *problem);

/* When its numbers are rounded beside once a stage: as its family has it with --rounding transformers in 16 bits; else
 * never. And the dtype to which the rows of a stage are rounded. */
const struct family_rounding *problem_rounding(const struct problem *problem);
enum dtype problem_stage_dtype(const struct problem *problem, enum stage stage);

/* What a projection is made of: STAGE_INPUTS, or normed, STAGE_NORMED; of key and value STAGE_KEY_INPUTS where they
 * are of other inputs. */
enum stage problem_source(const struct problem *problem, enum stage stage);

/* The labels of an item's keys, (Tk), and of its queries, (Tq); NULL where they have none. */
const char **problem_key_labels(const struct problem *problem, size_t item);
const char **problem_query_labels(const struct problem *problem, size_t item);

/* What a result calls "tokens": the labels of the queries where they have their own, else those of the keys. */
const struct token_labels *problem_tokens(const struct problem *problem);

/* The token, or NULL where it has none, and the position from 1 of key `index`, or of the query that is the `index`-th
 * of those asked for. */
const char *problem_label(const struct problem *problem, bool of_keys, size_t item, size_t index, size_t *position);

/* Whether a stage's rows are those of all heads, one behind the other: output, and the context of packed heads. */
bool problem_is_side_by_side(const struct problem *problem, enum stage stage);

/* The last stage, of which --grad takes the gradient: output or context. And the one that holds what is given. */
enum stage problem_last_stage(const struct problem *problem);
enum stage problem_grad_stage(const struct problem *problem);

/* The stage as which it is made: the context of packed heads as output, and so its gradient; any other as itself. */
enum stage problem_made_as(const struct problem *problem, enum stage stage);

/* Columns of a stage, those of all heads where they lie side by side; 1 for lse, which has no such axis. And those of
 * one head, as each is computed. */
size_t problem_columns(const struct problem *problem, enum stage stage);
size_t problem_columns_of_head(const struct problem *problem, enum stage stage);

/* Whether the stage is one of problem->stages. */
bool problem_shows_stage(const struct problem *problem, enum stage stage);

/* Multiply-adds of the whole job, whatever rows and stages are asked for. */
double problem_work(const struct problem *problem);

#endif
