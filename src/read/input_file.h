/* SPDX-License-Identifier: MIT */
/* The content of a file of any format: named tensors, tokens, settings.
 *
 * All of it belongs to the arena that it was read into. */
#pragma once

#include "base/setting.h"
#include "base/text.h"
#include "tensor/tensor.h"

#include <stdint.h>

/* Numbers that people print about a whole tensor. The deviation divides by n - 1 or by n, whichever is nearer. */
enum file_total { FILE_SUM, FILE_MEAN, FILE_NORM, FILE_DEVIATION, FILE_TOTALS };

const char *file_total_name(enum file_total total);

/* A print of a part of a tensor: elided, or only totals. */
struct file_part {
    size_t lead[TENSOR_RANK];  /* along each axis, how many of the numbers shown come before the '...'; 0: all shown */
    size_t whole[TENSOR_RANK]; /* (rank) the sizes of the tensor, as stated */
    size_t rank;               /* 0: not stated */
    bool of_ggml;              /* it sums in float32, one by one, and columns after the last key are padding */
    bool has[FILE_TOTALS];
    double totals[FILE_TOTALS];
    int16_t last_digit[FILE_TOTALS]; /* as of file_tensor */
};

struct file_tensor {
    const char *name;
    const char *origin, *file; /* the checkpoint's tensor that it comes from, and its file; else NULL */
    size_t order;              /* its index in the file, from 0 */
    struct tensor tensor;      /* rank 0: not read, since the name is foreign and the file has other tensors */
    enum dtype stated;         /* the dtype that a text states; else DTYPE_F32 */
    const int16_t *last_digit; /* of a printed table: the last digit of number i is worth 10^last_digit[i], or number i
                                  is exact for INT16_MIN; else NULL */
    const size_t *rows;        /* (row_count) of CSV: the numbers, from 1, of the stage's rows that each matrix has;
                                  else NULL */
    size_t row_count;
    const struct file_part *part; /* where only a part is shown; without a number its shape is {0}; else NULL */
};

/* The labels of tokens: one list for all items of a batch, or one for each. */
struct token_labels {
    const char **texts; /* (lists, count); NULL: no labels */
    size_t lists, count;
    bool nested; /* the file has a list of lists */
};

struct input_file {
    const char *source;          /* the file's name as messages show it, shortened in the middle */
    const char *comment;         /* what the file says about itself, or NULL */
    bool is_text;                /* JSON or a printed table, whose decimals have no dtype */
    bool is_result;              /* attn wrote it: it records stages, with a matrix per head for query, key and value */
    struct file_tensor *tensors; /* sorted by name */
    size_t tensor_count;
    const char **passed; /* known names at the top of the file that attn did not read, in order */
    size_t passed_count;
    struct token_labels tokens, key_tokens; /* of inputs; of key_inputs */
    struct token_labels words, head_names;  /* of the vocabulary; of the heads */
    const char *text;                       /* the words of the inputs, with blanks between them; or NULL */
    struct setting *settings;
    size_t setting_count;
    struct setting *options; /* of a line of --jsonl, by their long names */
    size_t option_count;
    const char *mechanism;            /* of a result, or NULL */
    const char *part, *job, *library; /* of a result in .safetensors, or NULL */
    const char *command;              /* of a part: the command line of the job, without --part and --out */
    const char *layout;               /* of a result: INPUT_FILE_GIVEN, INPUT_FILE_CROSS or NULL */
    const char *lacks;                /* of a result: the names of its sources that it does not hold; or NULL */
    bool nameless;                    /* its one tensor has no name */
    bool empty_past;                  /* the file has past_key and past_value of no tokens, which attn left out */
};

/* Layouts: a result of sdpa, whose query, key and value are its input; a result of cross-attention. */
#define INPUT_FILE_GIVEN "given"
#define INPUT_FILE_CROSS "cross"

/* Kinds of names at the top of a file; query, key and value are operands of sdpa and stages. */
enum input_file_kind {
    INPUT_FILE_UNKNOWN = 0,
    INPUT_FILE_IGNORED = 1, /* a comment, or what a result says about itself */
    INPUT_FILE_INPUTS = 2,
    INPUT_FILE_PARAMETER = 4,
    INPUT_FILE_TOKENS = 8,
    INPUT_FILE_SETTINGS = 16,
    INPUT_FILE_STAGE = 32,     /* a recorded stage, which only join and diff read */
    INPUT_FILE_MASKING = 64,   /* attn_mask, alibi_slopes, sinks */
    INPUT_FILE_OPERAND = 128,  /* inputs of sdpa: query, key, value */
    INPUT_FILE_BUFFER = 256,   /* a module's causal buffer */
    INPUT_FILE_FOREIGN = 512,  /* diff: any other name than those of stages, tokens and settings */
    INPUT_FILE_CACHE = 1024,   /* further inputs of sdpa: past_key, past_value, kv_lengths, cu_seqlens_q, cu_seqlens_k,
                                 block_table, key_cache, value_cache */
    INPUT_FILE_KEYS = 2048,    /* key_inputs, from which cross-attention makes key and value */
    INPUT_FILE_PARTS = 4096,   /* elided prints, and totals alone */
    INPUT_FILE_OPTIONS = 8192, /* "options", of a line of --jsonl */
    INPUT_FILE_WORDS = 16384,  /* vocabulary and text; embeddings and unembedding */
    INPUT_FILE_HIDDEN = 32768, /* hidden_states.N, for attn heads */
    /* The sources of stages. */
    INPUT_FILE_SOURCE = INPUT_FILE_INPUTS | INPUT_FILE_KEYS | INPUT_FILE_PARAMETER | INPUT_FILE_MASKING |
                        INPUT_FILE_CACHE | INPUT_FILE_WORDS,
};

enum {
    /* A complete result, with its recorded stages; */
    INPUT_FILE_OF_RESULT = INPUT_FILE_INPUTS | INPUT_FILE_KEYS | INPUT_FILE_PARAMETER | INPUT_FILE_MASKING |
                           INPUT_FILE_WORDS | INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS | INPUT_FILE_STAGE,
    /* one side of diff: also its sources, and the one tensor of a file under any name. */
    INPUT_FILE_OF_DIFF =
        INPUT_FILE_SOURCE | INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS | INPUT_FILE_STAGE | INPUT_FILE_FOREIGN,
};

/* Bits of enum input_file_kind. */
unsigned input_file_kind(const char *name);

/* The same for a reader of those `kinds`. If they include INPUT_FILE_FOREIGN, every name except those of stages, tokens
 * and settings is foreign, and a source only besides: another program may use the name for anything. */
unsigned input_file_kind_among(const char *name, unsigned kinds);

/* Notes a known name that attn does not read; the input has room for it. STATUS_SYSTEM where memory is short. */
enum status input_file_pass(struct input_file *input, const char *name, struct arena *arena, struct error *error);

/* Whether the name is that of a past, which may have no tokens. */
bool input_file_is_past(const char *name);

/* Whether the tensor of that name has whole numbers: lengths, page numbers, starts of sequences. */
bool input_file_is_whole(const char *name);

/* Marks the input as a file whose one tensor has no name: it is `inputs`, or a side of diff. STATUS_USAGE where `kinds`
 * have neither, as parameters and operands need names; `expected` names formats with names. */
enum status input_file_nameless(struct input_file *input, unsigned kinds, const char *expected, struct error *error);

/* Whether the name is that of the hidden states of a layer: "hidden_states.1" or "hidden-1"; *layer is 1. */
bool input_file_hidden(const char *name, size_t *layer);

/* Whether the name belongs to a head: for "heads.1.mask" *head is 1; SIZE_MAX for a number that overflows. */
bool input_file_head(const char *name, size_t *head);

/* The labels of "tokens", "key_tokens" or "head_names". */
struct token_labels *input_file_labels(struct input_file *input, const char *name);

/* Keeps what a result says about itself under a name such as "attn" or "layout"; ignores other names. STATUS_SYSTEM
 * where memory is short. */
enum status input_file_note(struct input_file *input, const char *name, const char *text, struct arena *arena,
                            struct error *error);

/* Whether a result states that layout. */
bool input_file_has_layout(const struct input_file *input, const char *layout);

/* The text of a setting of that name, or NULL. */
const char *input_file_setting(const struct input_file *input, const char *name);

/* "; did you mean 'inputs'?" with the known name nearest to an unknown one, or "" where none is near, into hint (size
 * bytes); returns hint. */
const char *input_file_hint(const char *name, char *hint, size_t size);

/* STATUS_USAGE for an unknown name, with the nearest known one. */
enum status input_file_unknown(const char *source, const char *name, struct error *error);

/* Sorts the names. STATUS_USAGE "source: WHEREkey 'name' is given twice; expected it once". */
enum status input_file_check_repeated(const char *source, const char *where, const char **names, size_t count,
                                      struct error *error);

/* Sorts the tensors, as input_file_find needs them. */
void input_file_sort(struct input_file *input);

/* The stage's name for an alias, "grad_query" for "query.grad"; other names unchanged. NULL where memory is short. */
const char *input_file_stage_name(const char *name, struct arena *arena, struct error *error);

/* Renames tensors whose name is an alias of a stage, and sorts them. STATUS_USAGE where two get the same name. */
enum status input_file_name_stages(struct input_file *input, struct arena *arena, struct error *error);

/* The tensor of that name, or NULL. */
const struct file_tensor *input_file_find(const struct input_file *input, const char *name);
