/* SPDX-License-Identifier: MIT */
/* A validated attention problem, which the room `build` makes from options and input files.
 *
 * B items of a batch, H heads, H_kv heads of key and value, Tq queries, Tk keys (both T, the tokens of the inputs,
 * except in sdpa), S queries asked for, d_in columns of the inputs, d and d_v columns of a head of query and key, of
 * value. */
#pragma once

#include "cli/options.h"
#include "kernel/kernel.h"
#include "layer/layer.h"
#include "model/family.h"
#include "model/mechanism.h"
#include "model/rope.h"
#include "problem/parameters.h"

struct problem_sizes {
    bool has_batch;    /* the input had a batch axis; else B = 1 */
    bool has_heads;    /* multihead, or sdpa with an axis of heads; else H = 1 */
    bool heads_packed; /* sdpa: the heads are packed in query, (B, Tq, H d), and in context */
    size_t items, heads, kv_heads, queries, keys; /* B, H, H_kv, Tq, Tk; H_kv divides H */
    size_t d_in, d_head, d_value;                 /* d_in (not for sdpa), d, d_v */
    size_t d_key_in;                              /* columns of key_inputs */
    size_t words;                                 /* columns of the unembedding; 0: none */
};

/* Tensors of an input except `inputs`: attn_mask, alibi_slopes, sinks; for sdpa query, key, value, past_key,
 * past_value, kv_lengths, cu_seqlens_q, cu_seqlens_k, block_table, key_cache, value_cache. */
enum { INPUT_TENSORS = 14 };

struct input_tensor {
    const char *name;
    struct tensor tensor; /* rounded to the working dtype, unless boolean or whole */
};

/* Key and value in pages, as in the file, for mistakes. */
struct problem_pages {
    size_t count, size, per_item; /* pages of a cache, tokens of a page, pages of an item */
    size_t items;                 /* rows of the table: B, or the sequences */
    const int64_t *table;         /* (items, per_item) pages of the caches; -1: no such page */
    const size_t *lengths;        /* (items) tokens that attn reads */
    const int64_t *starts;        /* (items + 1) where sequences begin among the keys; NULL: none */
    struct tensor caches[3];      /* by enum projection_id, (count, size, H_kv, columns); not for query */
};

/* The inputs of projections, or a given query, key and value. */
struct problem_given {
    const char *source;       /* the origin of the inputs */
    struct tensor inputs;     /* (B, Tq, d_in) with the positions added; rank 0 for sdpa */
    struct tensor bare;       /* the same before they are added: "inputs" of a result */
    struct tensor positions;  /* (Tq, d_in) what is added; rank 0: nothing */
    bool learns_positions;    /* these are rows of position_embedding, given or drawn; else sines */
    struct tensor key_inputs; /* (B, Tk, d_key_in): the inputs, */
    bool is_cross;            /* or those of cross-attention */
    bool residual;            /* the inputs are the residual stream: a norm comes first */
    const bool *heads_out;    /* (H) those that --without-heads leaves out of the output; or NULL */
    struct tensor gate;       /* (B, H, Tq, d_v) by which it multiplies the contexts; rank 0: none */
    double clip;              /* limits query, key and value to +-clip; 0: no limit */
    /* sdpa, and steps of other mechanisms: query (B, H, Tq, d), key (B, H_kv, Tk, d), value (B, H_kv, Tk, d_v), with
     * the past, in the working dtype itself */
    struct tensor operands[3];
    const struct problem_pages *pages;         /* of key and value; or NULL */
    const char *not_finite;                    /* a known one with NaN or infinity; or NULL */
    struct input_tensor others[INPUT_TENSORS]; /* so that a result can be an input again */
    size_t other_count;
};

struct problem_labels {
    struct token_labels keys;    /* 1 list or B */
    size_t first_query;          /* the label of query 0 among them; SIZE_MAX: none */
    bool queries_differ;         /* queries have their own labels: */
    struct token_labels queries; /* 1 list or B */
    struct token_labels words;   /* of the vocabulary; or none */
    struct token_labels heads;   /* their names, one for each; or none */
    const char *comment;         /* what the input says about itself, or NULL */
};

struct problem_rotation {
    struct rope rope;              /* of query and key; ROPE_NONE: none */
    struct rope_settings settings; /* of `rope` */
    size_t highest;                /* the highest position of `rope` */
    /* (B, Tq), (B, Tk - past) with a rotation; SIZE_MAX: a mistake leaves the row unrotated */
    const size_t *positions, *key_positions;
    bool has_past; /* key and value begin with a past, perhaps of no tokens */
    size_t past;   /* tokens of the past, whose keys are already rotated */
};

struct problem_scaling {
    double factor; /* 1 / sqrt(d) or the given scale, divided by the temperature */
    double temperature;
    double softcap;      /* 0: none */
    bool on_query;       /* the scale multiplies the query: */
    double query_factor; /* by this; `factor` is then 1 */
    struct query_growth growth;
};

struct problem_dropout {
    double share;                  /* share of the weights that become 0 */
    struct torch_random generator; /* its start */
    bool seeded;                   /* --dropout-seed sets the start */
};

struct problem_rounding {
    enum dtype dtype;         /* the working dtype */
    enum dtype softmax_dtype; /* of the softmax; usually the same */
    enum rounding when;
    const struct family_row *family; /* of the model, or NULL */
};

struct problem_loss {
    bool is_given;          /* --grad: there is a loss */
    struct tensor gradient; /* with respect to the last stage, of its shape; rank 0: all ones */
    double noise;           /* relative error of each term of the softmax's gradient; only why/noise.h sets it */
};

/* Mistakes change the problem itself, and set these fields. */
struct problem_mistake {
    struct mistake_choice choices[MISTAKE_SLOT_COUNT]; /* --mistake, in the order of the slots */
    size_t count;
    /* The mistaken formula of a stage, continuing that of the stage before if it begins with a comma; NULL: its own
     * formula. */
    const char *formulas[STAGE_COUNT];
    uint64_t wrong;                          /* stages that mistakes compute, not their files */
    const struct recipe *recipe;             /* for mistakes that mistake/plain.h computes; or NULL */
    bool mask_made;                          /* a mistake made attn_mask, which is the complete mask */
    const struct backward_mistake *backward; /* NULL: the backward pass is right */
    const struct problem *right;             /* the problem before the mistakes; NULL: no mistakes */
};

/* The indices of a number in a stage, from 0; SIZE_MAX for an axis that the stage lacks. */
struct cell {
    enum stage stage;
    size_t item, head, row, column;
};

/* What to show. */
struct problem_chosen {
    size_t head;                    /* of --head, from 1; 0: all */
    bool cuts_heads;                /* tables have that head alone; a page and --explain choose it from all */
    size_t *rows;                   /* (S) the queries asked for, from 0, ascending */
    size_t row_count;               /* S */
    size_t part, parts;             /* part K of N, K from 1; 0 and 0: no part */
    const char *part_line;          /* of a part: the command without --part and --out; NULL: too long */
    size_t whole_count;             /* S of the full job */
    enum stage stages[STAGE_NAMES]; /* to show, in order */
    size_t stage_count;
    bool stages_asked;                 /* --stages was given */
    bool explains_config;              /* --explain config: shows the facts and their sources, no stages */
    bool explains;                     /* --explain; then `stages` also has the sources of the explained ones */
    enum stage explained[STAGE_NAMES]; /* in order */
    size_t explained_count;
    bool has_cell;         /* --explain names one number */
    struct cell cell;      /* that number; in the gradient with respect to a parameter, STAGE_GRAD_PARAMETERS, */
    const char *cell_name; /* the name of its table */
    struct parameter_place cell_place;
};

/* How attn computes it. */
struct problem_path {
    unsigned threads;
    const struct kernel *kernel;    /* of attention, for query, key and value as stored: the processor's best, */
    const struct kernel *projector; /* of projections; both by ATTN_ISA if set */
    bool fused;                     /* the fused path makes context, output and lse, if key and value are finite */
    bool fused_backward;            /* and grad_query, grad_key and grad_value, if grad_context is finite too */
    const char *forced;      /* the word of --kernel that forces the fused path, where overflow is an error; or NULL */
    bool kernel_projections; /* kernels compute the projections */
};

/* What a result says about the job besides its numbers. */
struct problem_record {
    struct setting *settings; /* that change the numbers, with the values used */
    size_t setting_count;
    const char *warnings[OPTION_COUNT + 1]; /* at most one per option, "--seed does nothing: ...", and one of images */
    size_t warning_count;
};

struct problem {
    enum mechanism mechanism;
    bool parameters_only; /* attn init: no inputs, no stages */
    struct problem_sizes size;
    struct problem_given given;
    const struct layer *layer; /* its module in a checkpoint; or NULL */
    struct parameters_plan plan;
    struct parameters parameters;
    struct problem_labels labels;
    struct problem_rotation rotation;
    struct problem_scaling scaling;
    struct mask mask;
    bool masks; /* the mask may mask a key or add to a score */
    struct problem_dropout drop;
    struct problem_rounding rounding;
    struct problem_loss loss;
    struct problem_mistake mistake;
    struct problem_chosen chosen;
    struct problem_path path;
    struct problem_record record;
};

/* Whether parameters make query, key and value from inputs; else they are given. */
bool problem_projects(const struct problem *problem);

/* The problem without its mistakes, to which a result's settings and parameters belong. */
const struct problem *problem_right(const struct problem *problem);

/* The roundings within stages: the family's, for --rounding transformers in 16 bits; else none. problem_stage_dtype:
 * the dtype to which attn rounds a stage. */
const struct family_rounding *problem_rounding(const struct problem *problem);
enum dtype problem_stage_dtype(const struct problem *problem, enum stage stage);

/* The input of a projection: STAGE_INPUTS, STAGE_EMBEDDED with positions, or STAGE_NORMED after a norm; in
 * cross-attention STAGE_KEY_INPUTS for key and value. */
enum stage problem_source(const struct problem *problem, enum stage stage);

/* The labels of an item's keys, (Tk), and of its queries, (Tq); or NULL. */
const char **problem_key_labels(const struct problem *problem, size_t item);
const char **problem_query_labels(const struct problem *problem, size_t item);

/* The "tokens" of a result: the labels of the queries if they differ, else those of the keys. */
const struct token_labels *problem_tokens(const struct problem *problem);

/* The label, or NULL, and *position, from 1, of key `index`, or of query `index` among those asked for. */
const char *problem_label(const struct problem *problem, bool of_keys, size_t item, size_t index, size_t *position);

enum { PROBLEM_HEAD_COLUMNS = 16, PROBLEM_HEAD_BYTES = 4 * PROBLEM_HEAD_COLUMNS + 32 };

/* "head 2", or with its name, perhaps cut, "head 2 (subject)", into text (PROBLEM_HEAD_BYTES). Returns text. */
const char *problem_head_text(const struct token_labels *names, size_t head, char *text);

/* Whether --without-heads names the head. */
bool problem_leaves_out(const struct problem *problem, size_t head);

/* The gate of a column of the heads side by side, of a token (item x Tq + query); 1 without a gate. */
double problem_gate(const struct problem *problem, size_t token, size_t column);

/* Multiplies the contexts of a token (item x Tq + query), a row of all heads side by side (H d_v), by their gate, and
 * sets those of the heads that --without-heads names to 0. */
void problem_gate_heads(const struct problem *problem, size_t token, double *contexts);

/* Whether a row of the stage concatenates all heads: output, and the context of packed heads. */
bool problem_is_side_by_side(const struct problem *problem, enum stage stage);

/* The last stage, output or context; and the gradient that --grad gives: its own, or that of logits. */
enum stage problem_last_stage(const struct problem *problem);
enum stage problem_grad_stage(const struct problem *problem);

/* The stage that attn computes for it: output for the context of packed heads, and so for its gradient; else itself. */
enum stage problem_made_as(const struct problem *problem, enum stage stage);

/* Columns of a stage, for all heads if these are concatenated; 1 for a row statistic. And columns of one head. */
size_t problem_columns(const struct problem *problem, enum stage stage);
size_t problem_columns_of_head(const struct problem *problem, enum stage stage);

bool problem_shows_stage(const struct problem *problem, enum stage stage);

/* Multiply-adds of the full job, whatever rows and stages it shows. */
double problem_work(const struct problem *problem);
