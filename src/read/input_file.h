/* SPDX-License-Identifier: MIT */
/* What a file holds, whatever its format: named tensors, tokens, settings.
 *
 * It and all that it points to belong to the arena that it was read into. */
#ifndef ATTN_READ_INPUT_FILE_H
#define ATTN_READ_INPUT_FILE_H

#include "base/setting.h"
#include "base/text.h"
#include "tensor/tensor.h"

#include <stdint.h>

struct file_tensor {
    const char *name;
    const char *origin, *file; /* the tensor of a checkpoint that it was made of, and its file; else NULL */
    size_t order;              /* which of the file's tensors it was, from 0 */
    struct tensor tensor;      /* rank 0: not read, as the name is foreign and not the only one of the file */
    enum dtype stated;         /* of text: what it says its numbers are; else DTYPE_F32 */
    const int16_t *last_digit; /* of a printed table, else NULL: the last digit shown of number i counts
                                  10^last_digit[i]; INT16_MIN where number i is exact */
    const size_t *rows;        /* (row_count) of CSV: which rows of the stage those of each matrix are, from 1 on;
                                  else NULL */
    size_t row_count;
};

/* What tokens are called: one list for every item of a batch, or one list an item. */
struct token_labels {
    const char **texts; /* (lists, count); NULL where they have no labels */
    size_t lists, count;
    bool nested; /* the file has a list of lists */
};

struct input_file {
    const char *source; /* the file's name as messages have it: what is longer than fits is left out in the middle */
    bool is_text;       /* JSON or a printed table: its numbers are decimals, which have no dtype of their own */
    bool is_result; /* attn wrote it: its stages are recorded, and its query, key and value each head's own matrix */
    struct file_tensor *tensors; /* sorted by name */
    size_t tensor_count;
    const char **passed; /* known names at the top of the file that were not read, in its order */
    size_t passed_count;
    struct token_labels tokens, key_tokens; /* those of inputs; those of key_inputs */
    struct setting *settings;
    size_t setting_count;
    const char *mechanism;            /* what a result says of itself, or NULL */
    const char *part, *job, *library; /* the same, in .safetensors alone */
    const char *command;              /* of a part: the line that makes the others, but for --part and --out */
    const char *layout;               /* of a result: INPUT_FILE_GIVEN, INPUT_FILE_CROSS or NULL */
    const char *lacks; /* what a result does not hold of what it was made from, a list of names; or NULL */
    bool nameless;     /* its one tensor has no name of its own */
    bool empty_past;   /* past_key and past_value of no tokens were there, and were left out */
};

/* A result of sdpa, whose query, key and value are its input; one whose queries and keys are of different inputs. */
#define INPUT_FILE_GIVEN "given"
#define INPUT_FILE_CROSS "cross"

/* What a name at the top of a file stands for; query, key and value are operands of sdpa and stages. */
enum input_file_kind {
    INPUT_FILE_UNKNOWN = 0,
    INPUT_FILE_IGNORED = 1, /* a comment, and what a result says of itself */
    INPUT_FILE_INPUTS = 2,
    INPUT_FILE_PARAMETER = 4,
    INPUT_FILE_TOKENS = 8,
    INPUT_FILE_SETTINGS = 16,
    INPUT_FILE_STAGE = 32,    /* a recorded stage, which join and diff alone read */
    INPUT_FILE_MASKING = 64,  /* attn_mask, alibi_slopes, sinks */
    INPUT_FILE_OPERAND = 128, /* what sdpa computes on: query, key, value */
    INPUT_FILE_BUFFER = 256,  /* a module's causal buffer */
    INPUT_FILE_FOREIGN = 512, /* diff: all but stages, tokens and settings, whatever its name */
    INPUT_FILE_CACHE = 1024,  /* what sdpa alone takes beside them: past_key, past_value, kv_lengths,
                               * cu_seqlens_q, cu_seqlens_k, block_table, key_cache, value_cache */
    INPUT_FILE_KEYS = 2048,   /* what key and value are made of where that is not inputs: key_inputs */
    /* What stages are made from. */
    INPUT_FILE_SOURCE =
        INPUT_FILE_INPUTS | INPUT_FILE_KEYS | INPUT_FILE_PARAMETER | INPUT_FILE_MASKING | INPUT_FILE_CACHE,
};

enum {
    /* A result whole, with its recorded stages; */
    INPUT_FILE_OF_RESULT = INPUT_FILE_INPUTS | INPUT_FILE_KEYS | INPUT_FILE_PARAMETER | INPUT_FILE_MASKING |
                           INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS | INPUT_FILE_STAGE,
    /* one side of diff: what else it holds by name, too; of a file with one tensor that, whatever its name. */
    INPUT_FILE_OF_DIFF =
        INPUT_FILE_SOURCE | INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS | INPUT_FILE_STAGE | INPUT_FILE_FOREIGN,
};

/* Bits of enum input_file_kind. */
unsigned input_file_kind(const char *name);

/* The same for a reader of those `kinds`: with INPUT_FILE_FOREIGN among them, all but stages, tokens and settings is
 * foreign, and of the sources that are among them besides: a program may keep anything under such a name. */
unsigned input_file_kind_among(const char *name, unsigned kinds);

/* Notes a known name that is not read; the input has room for it. STATUS_SYSTEM where memory is short. */
enum status input_file_pass(struct input_file *input, const char *name, struct arena *arena, struct error *error);

/* Whether the name is that of a past, which may be empty: before the first token. */
bool input_file_is_past(const char *name);

/* Whether what has that name are whole numbers: lengths, numbers of pages, and where sequences begin. */
bool input_file_is_whole(const char *name);

/* A file whose one tensor has no name of its own: it stands for `inputs`, or for what diff compares. STATUS_USAGE where
 * `kinds` have neither, as parameters and operands need their names; `expected` says what has them. */
enum status input_file_nameless(struct input_file *input, unsigned kinds, const char *expected, struct error *error);

/* Whether the name is one of a head's; of "heads.1.mask" *head is 1. SIZE_MAX stands for a number larger than any. */
bool input_file_head(const char *name, size_t *head);

/* Where the labels go that stand under "tokens" or "key_tokens". */
struct token_labels *input_file_labels(struct input_file *input, const char *name);

/* Keeps what a result says of itself by that name, "attn" or "layout"; other names say nothing. STATUS_SYSTEM where
 * memory is short. */
enum status input_file_note(struct input_file *input, const char *name, const char *text, struct arena *arena,
                            struct error *error);

/* Whether a result says that of its layout. */
bool input_file_has_layout(const struct input_file *input, const char *layout);

/* The text of a setting of that name, or NULL. */
const char *input_file_setting(const struct input_file *input, const char *name);

/* "; did you mean 'inputs'?": the known name that is nearest to an unknown one, or "" where none is near, into hint
 * (size bytes); returns hint. */
const char *input_file_hint(const char *name, char *hint, size_t size);

/* An unknown name: STATUS_USAGE, with the nearest name that is known. */
enum status input_file_unknown(const char *source, const char *name, struct error *error);

/* Puts the names in order. STATUS_USAGE "source: WHEREkey 'name' is given twice; expected it once". */
enum status input_file_check_repeated(const char *source, const char *where, const char **names, size_t count,
                                      struct error *error);

/* Puts the tensors in order; input_file_find works from then on. */
void input_file_sort(struct input_file *input);

/* The name of the stage that has this alias, "grad_query" of "query.grad", or the name as it is. NULL where memory is
 * short. */
const char *input_file_stage_name(const char *name, struct arena *arena, struct error *error);

/* Gives tensors under the alias of a stage its name, in their order. STATUS_USAGE where two then have the same. */
enum status input_file_name_stages(struct input_file *input, struct arena *arena, struct error *error);

/* The tensor of that name, or NULL. */
const struct file_tensor *input_file_find(const struct input_file *input, const char *name);

#endif
