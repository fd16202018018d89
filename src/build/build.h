/* SPDX-License-Identifier: MIT */
/* How problem_create.c and its build_*.c make a problem: what they share, and nothing that others see.
 *
 * B items of a batch, H heads of query and H_kv of key and value, Tq queries, Tk keys, d and d_v columns of a head. */
#ifndef ATTN_BUILD_BUILD_H
#define ATTN_BUILD_BUILD_H

#include "cli/options.h"
#include "layer/layer.h"
#include "stage/stage.h"

/* What problem_create works on. */
struct build {
    struct problem *problem;
    struct options *options; /* with what the file's settings say where the command line says nothing */
    const struct input_file *inputs, *weights, *keys; /* each may be NULL; keys: that of --key-inputs */
    const struct input_file *grad;                    /* that of --grad; or NULL */
    const struct layer *layer;                        /* whose weights they are; or NULL */
    struct arena *arena;
    struct error *error;
};

enum { BUILD_PLACE_BYTES = TEXT_PATH_BYTES + 64 };

/* Whether the command line or the file gives the option. */
bool build_said(const struct build *build, enum option_id id);

/* "--heads", or "inputs.json: settings: heads" where the file said it: the place of an option's value in messages,
 * into place (size bytes); returns place. BUILD_PLACE has room of its own, to the end of the block. */
const char *build_place(const struct build *build, enum option_id id, char *place, size_t size);
#define BUILD_PLACE(build, id) build_place((build), (id), (char[BUILD_PLACE_BYTES]){0}, BUILD_PLACE_BYTES)

/* Keeps a tensor of the input, for a result to be an input again. */
void build_keep(const struct build *build, const char *name, const struct tensor *tensor);

/* The inputs without the tokens that --without names: rows of inputs, or of query, key and value, rows and columns of
 * attn_mask, labels. `rest` shares what stays as it is. STATUS_USAGE where no token is of that name, where none is
 * left, or where a token is not query and key at once. */
enum status build_without(const struct build *build, struct input_file *rest);

/* The working dtype, where nobody asked for one: that of the tensor, or what a printed one says of itself. And whether
 * the format has it, before any number is converted; STATUS_USAGE where it has not. */
enum status build_take_dtype(const struct build *build, const struct file_tensor *tensor);
enum status build_check_dtype(const struct build *build);

/* Whether the mechanism takes what the files hold, name by name. Of a result it takes what it needs, since its stages
 * are computed again; of the file of --weights the parameters. STATUS_USAGE names what else is there, and what was
 * expected. */
enum status build_names(const struct build *build);

/* sdpa's query, key and value: layouts, past and lengths. Sets the problem's sizes, `given` and what of the mask
 * depends on the lengths. STATUS_USAGE where they do not fit each other. */
enum status build_operands(const struct build *build);

/* Whether the input says where sequences begin: cu_seqlens_q, or cu_seqlens_k; then query, key and value are (T, H, d).
 * And one of these lists, (*count + 1) from 0 on, where the file has it; else *starts stays as it is. */
bool build_has_sequences(const struct build *build);
enum status build_starts(const struct build *build, const char *name, size_t *count, int64_t **starts);

/* The labels of tokens that have none of their own: "2.3" is the third token of the second sequence. Nothing where
 * there are no sequences. */
enum status build_sequence_labels(const struct build *build);

/* Key and value as block_table finds them in pages: copies of what is read, since what lies beyond an item's length may
 * be anything and is never looked at. */
struct build_pages {
    size_t items;             /* B */
    size_t size, per_item;    /* tokens of a page, pages of an item */
    bool in_sequence;         /* items are sequences, beside cu_seqlens_q: their keys come one behind the other */
    size_t keys;              /* Tk: the longest item's, at least 1; in sequence those of all items */
    size_t count;             /* pages that are read, numbered anew in the order of their first use */
    size_t *from;             /* (count) which pages of the caches these are */
    size_t *lengths;          /* (B) */
    int64_t *starts;          /* (B + 1) in sequence where the keys of each begin, and their end; else NULL */
    int64_t *table;           /* (B, per_item) by the new numbers; -1: none */
    struct tensor key, value; /* (count, size, H_kv, d), (count, size, H_kv, d_v) in the dtype of the file */
};

/* Whether the input has pages; the pages of as many items as query has, or sequences as cu_seqlens_q, and block_table
 * kept by the new numbers; one of the caches, in whatever dtype, as (B, H_kv, Tk, d), 0 beyond the lengths, or in
 * sequence (1, H_kv, Tk, d). STATUS_USAGE where they do not fit. */
bool build_has_pages(const struct build *build);
enum status build_pages(const struct build *build, size_t items, struct build_pages *pages);
enum status build_gather(const struct build *build, const struct build_pages *pages, const struct tensor *cache,
                         struct tensor *given);

/* The sequences of the mask, once query and key are known; `pages`: that the keys lie in, or NULL. STATUS_USAGE where
 * they do not fit them. */
enum status build_sequences(const struct build *build, const struct build_pages *pages);

/* What a causal module registers as `mask`, or `heads.N.mask`, says what the command says: its causal rule, for as many
 * tokens or more. STATUS_USAGE where it is anything else, which would be ignored. The parameters are known. */
enum status build_buffers(const struct build *build);

/* The mask: the rules of the options, and attn_mask, alibi_slopes and sinks of the inputs' file. The sizes are
 * known. */
enum status build_mask(const struct build *build);

/* What rules of an option or a tensor forbid becomes entries of attn_mask, which are T x T: for who knows no such
 * rule. */
enum status build_mask_entries(const struct build *build);

/* The images among the tokens, by --token-types; whether the mask is causal is known. STATUS_USAGE where there is not
 * one type for each token. */
enum status build_images(const struct build *build);

/* The rotation of query and key, and the positions of tokens. Mask and heads are known. */
enum status build_rope(const struct build *build);

/* The tokens of one list of labels by their names; none where there are no labels. */
struct build_names {
    const char *const *labels; /* (count) or NULL */
    size_t count;
    struct build_name *sorted; /* (count) */
};

/* Puts the labels in order. The index lives in the arena. STATUS_SYSTEM where memory is short. */
enum status build_index(const struct build *build, const char *const *labels, size_t count, struct build_names *names);

/* The one position (from 0) of a token by its name. `place` begins a message. STATUS_USAGE with the nearest where
 * there is none, or several. */
enum status build_token(const struct build *build, const char *place, const char *word, const struct build_names *names,
                        size_t *position);

/* The tokens that a list chooses from: `count` of them, with the labels of each list `stride` apart. */
struct build_tokens {
    const char **labels; /* NULL where they have none */
    size_t lists, stride, count;
};

/* Which tokens a list such as "2,journey,4-6" names: chosen (count). A name stands for one position in all lists.
 * `place` begins a message. STATUS_USAGE where a word names no token or several, or a position is out of range. */
enum status build_list(const struct build *build, const char *place, const char *text,
                       const struct build_tokens *tokens, bool *chosen);

/* A number for each of so many tokens: the items of the list `text`, each of which `take` makes one or more numbers of.
 * STATUS_USAGE where there are fewer; `what` is what messages call a number. */
typedef enum status build_item(const struct build *build, const char *place, const char *item, size_t length,
                               size_t *numbers, size_t tokens, size_t *count);
enum status build_numbers(const struct build *build, enum option_id id, const char *text, const char *what,
                          build_item *take, size_t *numbers, size_t tokens);

/* --grad: the gradient that is given, once the sizes and the queries are known. STATUS_USAGE where it has not the shape
 * of the last stage, or where something else is asked for that has no gradient. */
enum status build_grad(const struct build *build);

/* Whether a stage can be asked for; `place` is the option that asks. STATUS_USAGE says why not. */
enum status build_check_stage(const struct build *build, const char *place, enum stage stage);

/* The cell that --explain names: problem->cell, and its query alone as problem->rows. */
enum status build_cell(const struct build *build);

/* The queries asked for by --query and --part: problem->rows. */
enum status build_queries(const struct build *build);

/* The mechanisms' parameters, taken or drawn, and the sizes of heads that follow from them. Moves the generator to
 * where dropout goes on. STATUS_USAGE where they do not fit each other or the options. */
enum status build_parameters(const struct build *build);

/* problem->stages, the stages to be shown; with --explain also problem->explained, and all stages that these are made
 * from. The cell is known. */
enum status build_stages(const struct build *build);

/* Which path computes, by which kernel and how many threads, once the stages are known. STATUS_USAGE where --kernel
 * fused cannot. */
enum status build_path(const struct build *build);

/* Whether something is drawn that depends on one of --seed, --skip, --init and --rng: parameters, or dropout. */
bool build_changes_draws(const struct build *build, enum option_id id);

/* The mistakes of slot draw, before anything is drawn: options that draw otherwise; STATUS_USAGE where they are so
 * already. And the order in which query, key and value are drawn, "kqv"; NULL: as they should be. */
enum status build_draws(const struct build *build);
const char *build_draw_order(const struct build *build);

/* The problem with the mistakes in it, once all else of it is known. STATUS_USAGE where one cannot be made here. */
enum status build_mistakes(const struct build *build);

/* Behind build_stages: refuses gradients by slopes or weights that a mistake reads otherwise. */
enum status build_mistaken_gradients(const struct build *build);

/* problem->settings, once all else is known: what changes the numbers, with the values that were used. */
enum status build_settings(const struct build *build);

/* problem->warnings: options of the command line that do nothing here, once all else is known. A setting of a file may
 * be meant for another command, and an option that asks for what is so anyway does what it says: they are not among
 * them. */
enum status build_warnings(const struct build *build);

/* A page: the stages that it needs beside those asked for, once problem->stages has these; and whether it can be
 * drawn. */
enum status build_page_stages(const struct build *build);
enum status build_page(const struct build *build);

#endif
