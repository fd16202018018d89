/* SPDX-License-Identifier: MIT */
/* Shared by problem_create.c and build_*.c, which make a problem; for this room only.
 *
 * B items of a batch, H heads of query and H_kv of key and value, Tq queries, Tk keys, d and d_v columns of a head. */
#pragma once

#include "cli/options.h"
#include "layer/layer.h"
#include "stage/stage.h"

struct build {
    struct problem *problem;
    struct options *options;                          /* with the file's settings where the command line sets none */
    const struct input_file *inputs, *weights, *keys; /* each may be NULL; keys: the file of --key-inputs */
    const struct input_file *grad;                    /* the file of --grad; or NULL */
    const struct layer *layer;                        /* the checkpoint's layer with the weights; or NULL */
    struct arena *arena;
    struct error *error;
};

enum { BUILD_PLACE_BYTES = TEXT_PATH_BYTES + 64 };

/* "--heads", or "inputs.json: settings: heads" for a value from the file: the origin of an option's value for messages,
 * into place (size bytes); returns place. BUILD_PLACE brings its own buffer, valid to the end of the block. */
const char *build_place(const struct build *build, enum option_id id, char *place, size_t size);
#define BUILD_PLACE(build, id) build_place((build), (id), (char[BUILD_PLACE_BYTES]){0}, BUILD_PLACE_BYTES)

/* Keeps a tensor of the input, so that a result can be an input again. */
void build_keep(const struct build *build, const char *name, const struct tensor *tensor);

/* The inputs without the tokens that --without names: rows of inputs, or of query, key and value, rows and columns of
 * attn_mask, labels. `rest` shares unchanged data. STATUS_USAGE where no token has that name, where none remains, or
 * where a token is not query and key at once. */
enum status build_without(const struct build *build, struct input_file *rest);

/* A model of words. build_text makes inputs and tokens from the text, or the tokens, by the vocabulary, in `rest`,
 * which shares the other data; it changes nothing where the input has inputs and --text is not given. build_words takes
 * embeddings and unembedding into `words`, draws positions, and adds them to the inputs; needs the inputs.
 * build_unembedding checks the unembedding against the sizes. STATUS_USAGE where a word is unknown, or shapes do not
 * fit. */
enum status build_text(const struct build *build, struct input_file *rest);
enum status build_words(const struct build *build, struct parameters_words *words);
enum status build_unembedding(const struct build *build);

/* build_take_dtype sets the working dtype, unless asked for, to that of the tensor, or the one a printed tensor states.
 * build_check_dtype checks, before any conversion, that the format has it; STATUS_USAGE where it lacks it. */
enum status build_take_dtype(const struct build *build, const struct file_tensor *tensor);
enum status build_check_dtype(const struct build *build);

/* Checks each name in the files. From a result the mechanism takes what it needs, since it recomputes stages; from the
 * file of --weights the parameters. STATUS_USAGE names an unexpected tensor, and the expected ones. */
enum status build_names(const struct build *build);

/* Takes sdpa's query, key and value with layouts, past and lengths. Sets the problem's sizes, `given`, and the mask's
 * fields about lengths. STATUS_USAGE where shapes do not fit. */
enum status build_operands(const struct build *build);

/* Whether the input has cu_seqlens_q or cu_seqlens_k; then query, key and value are (T, H, d). build_starts reads one
 * of these lists, (*count + 1) from 0; without it, *starts is unchanged. */
bool build_has_sequences(const struct build *build);
enum status build_starts(const struct build *build, const char *name, size_t *count, int64_t **starts);

/* Labels tokens without labels: "2.3" is the third token of the second sequence. Does nothing without sequences. */
enum status build_sequence_labels(const struct build *build);

/* The pages of key and value that block_table names. attn copies the tokens that it reads; it never reads beyond an
 * item's length. */
struct build_pages {
    size_t items;             /* B */
    size_t size, per_item;    /* tokens of a page, pages of an item */
    bool in_sequence;         /* items are sequences, with cu_seqlens_q: their keys are concatenated */
    size_t keys;              /* Tk: of the longest item, at least 1; in sequence of all items */
    size_t count;             /* pages that attn reads, renumbered by first use */
    size_t *from;             /* (count) their numbers in the caches */
    size_t *lengths;          /* (B) */
    int64_t *starts;          /* (B + 1) in sequence: where the keys of each begin, and the end; else NULL */
    int64_t *table;           /* (B, per_item) new numbers; -1: none */
    struct tensor key, value; /* (count, size, H_kv, d), (count, size, H_kv, d_v) in the dtype of the file */
};

/* build_has_pages: whether the input has pages. build_pages takes those of `items` items, or sequences, and keeps a
 * block_table with the new numbers. build_gather copies a cache of any dtype to (B, H_kv, Tk, d), 0 beyond the lengths,
 * or in sequence to (1, H_kv, Tk, d). STATUS_USAGE where shapes do not fit. */
bool build_has_pages(const struct build *build);
enum status build_pages(const struct build *build, size_t items, struct build_pages *pages);
enum status build_gather(const struct build *build, const struct build_pages *pages, const struct tensor *cache,
                         struct tensor *given);

/* Sets the mask's sequences, after query and key; `pages`: those of the keys, or NULL. STATUS_USAGE where they do not
 * fit. */
enum status build_sequences(const struct build *build, const struct build_pages *pages);

/* Checks that `mask` or `heads.N.mask`, buffers of causal modules, have the command's causal rule for at least as many
 * tokens. STATUS_USAGE for anything else, which attn would ignore. Needs the parameters. */
enum status build_buffers(const struct build *build);

/* Sets the mask from the options' rules and the file's attn_mask, alibi_slopes and sinks. Needs the sizes. */
enum status build_mask(const struct build *build);

/* Gives a rule of the mask its ids, (Tk) or (B, Tk) of I64. */
enum status build_ids(const struct build *build, enum mask_rule rule, const struct tensor *ids);

/* Turns rules of an option or a tensor into entries of attn_mask, which are T x T, for code without such rules. */
enum status build_mask_entries(const struct build *build);

/* Finds images among the tokens, by --token-types. Needs the mask's causality. STATUS_USAGE unless there is one type
 * per token. */
enum status build_images(const struct build *build);

/* Sets the rotation of query and key, and the positions of tokens. Needs mask and heads. */
enum status build_rope(const struct build *build);

/* Masks the keys that the layer's indexer does not choose. STATUS_USAGE where attn cannot compute its choice. */
enum status build_indexer(const struct build *build);

/* An index of the tokens in one list of labels, or of none. */
struct build_names {
    const char *const *labels; /* (count) or NULL */
    size_t count;
    struct build_name *sorted; /* (count) */
};

/* Sorts the labels. The arena owns the index. STATUS_SYSTEM where memory is short. */
enum status build_index(const struct build *build, const char *const *labels, size_t count, struct build_names *names);

/* Finds the position (from 0) of a token by its name. `place` begins a message. STATUS_USAGE where there is none, with
 * the nearest, or several. */
enum status build_token(const struct build *build, const char *place, const char *word, const struct build_names *names,
                        size_t *position);

/* The tokens that a list chooses from: `count` of them; labels of two lists are `stride` apart. */
struct build_tokens {
    const char **labels; /* NULL: no labels */
    size_t lists, stride, count;
    const char *what; /* "heads" where they are no tokens */
};

/* Sets chosen (count) to the tokens that a list such as "2,journey,4-6" names. A name must have one position in all
 * lists. `place` begins a message. STATUS_USAGE where a word names no token or several, or a position is out of
 * range. */
enum status build_list(const struct build *build, const char *place, const char *text,
                       const struct build_tokens *tokens, bool *chosen);

/* Reads a number for each of `tokens` tokens from the items of the list `text`; `take` turns an item into one or more
 * numbers. STATUS_USAGE for too few; messages call a number `what`. */
typedef enum status build_item(const struct build *build, const char *place, const char *item, size_t length,
                               size_t *numbers, size_t tokens, size_t *count);
enum status build_numbers(const struct build *build, enum option_id id, const char *text, const char *what,
                          build_item *take, size_t *numbers, size_t tokens);

/* Takes the gradient of --grad. Needs sizes and queries. STATUS_USAGE where it lacks the shape of the last stage, or
 * the options include something without gradients. */
enum status build_grad(const struct build *build);

/* STATUS_USAGE, with the reason, if this job has no such stage; `place` is the option that asks. */
enum status build_check_stage(const struct build *build, const char *place, enum stage stage);

/* Sets the cell that --explain names, and its query as the only row. */
enum status build_cell(const struct build *build);

/* Sets the rows that --query and --part ask for. */
enum status build_queries(const struct build *build);

/* Takes or draws the parameters, and sets the sizes of heads from them. Moves the generator to where dropout starts.
 * STATUS_USAGE where they do not fit each other or the options. */
enum status build_parameters(const struct build *build);

/* Sets the stages to show; with --explain also those to explain, and all their sources. Needs the cell. */
enum status build_stages(const struct build *build);

/* Chooses path, kernel and threads. Needs the stages. STATUS_USAGE where --kernel fused is impossible. */
enum status build_path(const struct build *build);

/* Whether parameters or dropout depend on one of --seed, --skip, --init and --rng. */
bool build_changes_draws(const struct build *build, enum option_id id);

/* build_draws applies the mistakes of slot draw to the options, before anything is drawn; STATUS_USAGE where nothing
 * would change. build_draw_order: the mistaken order of drawing query, key and value, "kqv"; NULL: the right one. */
enum status build_draws(const struct build *build);
const char *build_draw_order(const struct build *build);

/* Makes the mistakes, once the problem is complete. STATUS_USAGE for a mistake that this job cannot have. */
enum status build_mistakes(const struct build *build);

/* After build_stages: rejects gradients with respect to slopes or weights that a mistake replaces. */
enum status build_mistaken_gradients(const struct build *build);

/* Records the settings that change the numbers, with the values used, once the problem is complete. */
enum status build_settings(const struct build *build);

/* Warns of command line options that do nothing here, once the problem is complete. It does not warn of a file's
 * settings, which may be for another command, nor of an option that asks for the default. */
enum status build_warnings(const struct build *build);

/* build_page_stages adds the stages that a page needs to those asked for; build_page checks that it can be drawn. */
enum status build_page_stages(const struct build *build);
enum status build_page(const struct build *build);
