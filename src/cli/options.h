/* SPDX-License-Identifier: MIT */
/* The parsed command line. option_rows.h has a row for each option, command.h the commands. */
#pragma once

#include "base/choice.h"
#include "base/output.h"
#include "base/setting.h"
#include "cli/command.h"
#include "model/format.h"
#include "model/mask.h"
#include "model/mistake.h"
#include "model/norm.h"
#include "model/packing.h"
#include "model/rope.h"
#include "model/rounding.h"
#include "model/stage_id.h"
#include "model/torch_random.h"

#include <stdint.h>

#define ORIENTATIONS(ROW) ROW(ORIENTATION_LINEAR, "linear") ROW(ORIENTATION_MATRIX, "matrix")
enum orientation { ORIENTATIONS(CHOICE_ID) };

#define ALIGNS(ROW) ROW(ALIGN_TOP_LEFT, "top-left") ROW(ALIGN_BOTTOM_RIGHT, "bottom-right")
enum align { ALIGNS(CHOICE_ID) };

#define ADD_POSITIONS(ROW) \
    ROW(POSITIONS_OFF, "off") ROW(POSITIONS_SINUSOIDAL, "sinusoidal") ROW(POSITIONS_LEARNED, "learned")
enum add_positions { ADD_POSITIONS(CHOICE_ID) };

#define MASK_TRUES(ROW) ROW(MASK_TRUE_KEEP, "keep") ROW(MASK_TRUE_DROP, "drop")
enum mask_true { MASK_TRUES(CHOICE_ID) };

#define ALIBIS(ROW) ROW(ALIBI_OFF, "off") ROW(ALIBI_SLOPES, "slopes") ROW(ALIBI_SCALED, "scaled")
enum alibi { ALIBIS(CHOICE_ID) };

#define SCALE_ONS(ROW) ROW(SCALE_ON_SCORES, "scores") ROW(SCALE_ON_QUERY, "query")
enum scale_on { SCALE_ONS(CHOICE_ID) };

#define WHENS(ROW) ROW(WHEN_AUTO, "auto") ROW(WHEN_ALWAYS, "always") ROW(WHEN_NEVER, "never")
enum when { WHENS(CHOICE_ID) };

#define PATHS(ROW) \
    ROW(PATH_AUTO, "auto") ROW(PATH_REFERENCE, "reference") ROW(PATH_FUSED, "fused") ROW(PATH_FAST16, "fast16")
enum path { PATHS(CHOICE_ID) };

#define CASE_LAYOUTS(ROW) ROW(CASE_LAYOUT_BHTD, "bhtd") ROW(CASE_LAYOUT_BTHD, "bthd") ROW(CASE_LAYOUT_THD, "thd")
enum case_layout { CASE_LAYOUTS(CHOICE_ID) };

#define SHELLS(ROW) ROW(SHELL_BASH, "bash") ROW(SHELL_ZSH, "zsh") ROW(SHELL_FISH, "fish")
enum shell { SHELLS(CHOICE_ID) };

/* Every option: identifier, and its field in struct options, or the one that NOT negates. */
/* clang-format off */
#define OPTION_FIELDS(FIELD, NOT) \
    FIELD(IN, in, const char *) \
    FIELD(WEIGHTS, weights, const char *) \
    FIELD(RANDOM, random, const char *) \
    FIELD(RANDOM_SEED, random_seed, uint64_t) \
    FIELD(WITHOUT, without, const char *) \
    FIELD(SENTENCE, sentence, const char *) \
    FIELD(TOKENS, tokens, const char *) \
    FIELD(ADD_POSITIONS, add_positions, enum add_positions) \
    FIELD(WITHOUT_HEADS, without_heads, const char *) \
    FIELD(KEY_INPUTS, key_inputs, const char *) \
    FIELD(MINE, mine, const char *) \
    FIELD(BUDGET, budget, double) \
    FIELD(GRAD, grad, const char *) \
    FIELD(OUT, out, const char *) \
    FIELD(FORMAT, format, enum format) \
    FIELD(SEED, seed, uint64_t) \
    FIELD(SKIP, skip, uint64_t) \
    FIELD(INIT, init, enum init) \
    FIELD(RNG, rng, enum torch_random_build) \
    FIELD(D_OUT, d_out, uint64_t) \
    FIELD(D_IN, d_in, uint64_t) \
    FIELD(AS, as, enum orientation) \
    FIELD(HEADS, heads, uint64_t) \
    FIELD(KV_HEADS, kv_heads, uint64_t) \
    FIELD(D_HEAD, d_head, uint64_t) \
    FIELD(D_VALUE, d_value, uint64_t) \
    FIELD(MAX_TOKENS, max_tokens, uint64_t) \
    FIELD(CAN, can, const char *) \
    FIELD(ONLY, only, const char *) \
    FIELD(LAYOUT, layout, enum case_layout) \
    FIELD(CHECK, check, bool) \
    FIELD(NO_WHY, no_why, bool) \
    FIELD(STACKED, stacked, bool) \
    FIELD(QKV_BIAS, qkv_bias, bool) \
    FIELD(DROPOUT, dropout, double) \
    FIELD(DROPOUT_SEED, dropout_seed, uint64_t) \
    FIELD(CONTEXT_LENGTH, context_length, uint64_t) \
    FIELD(CAUSAL, causal, bool) \
    NOT(NO_CAUSAL, causal) \
    FIELD(ALIGN, align, enum align) \
    FIELD(WINDOW, window, const char *) \
    FIELD(PREFIX, prefix, uint64_t) \
    FIELD(ATTENTION_CHUNK, attention_chunk, uint64_t) \
    FIELD(SCALE, scale, double) \
    FIELD(TEMPERATURE, temperature, double) \
    FIELD(SOFTCAP, softcap, double) \
    FIELD(TOKEN_TYPES, token_types, const char *) \
    FIELD(MASK_TRUE, mask_true, enum mask_true) \
    FIELD(EMPTY_ROW, empty_row, enum empty_row) \
    FIELD(ROPE, rope, enum rope_kind) \
    FIELD(ROPE_THETA, rope_theta, double) \
    FIELD(ROPE_COLUMNS, rope_columns_text, const char *) \
    FIELD(ROPE_SCALING, rope_scaling_text, const char *) \
    FIELD(ROPE_AXES, rope_axes_text, const char *) \
    FIELD(POSITIONS, positions, const char *) \
    FIELD(QUERY_GROWTH, query_growth_text, const char *) \
    FIELD(ALIBI, alibi, enum alibi) \
    FIELD(SCALE_ON, scale_on, enum scale_on) \
    FIELD(RESIDUAL, residual, bool) \
    FIELD(NORM, norm, enum norm_kind) \
    FIELD(NORM_EPS, norm_eps, double) \
    FIELD(QK_NORM, qk_norm, enum norm_kind) \
    FIELD(QK_NORM_EPS, qk_norm_eps, double) \
    FIELD(VALUE_NORM, value_norm, enum norm_kind) \
    FIELD(CLIP, clip, double) \
    FIELD(RELATIVE_DISTANCE, relative_distance, uint64_t) \
    FIELD(LAYER, layer, uint64_t) \
    FIELD(MODULE, module, const char *) \
    FIELD(CONFIG, config, const char *) \
    FIELD(ADAPTER, adapter, const char *) \
    FIELD(FAMILY, family, const char *) \
    FIELD(PACKING, packing, enum packing) \
    FIELD(MISTAKE, mistake_names, const char *) \
    FIELD(QUERY, query, const char *) \
    FIELD(HEAD, head, uint64_t) \
    FIELD(STAGES, stages_text, const char *) \
    FIELD(ATOL, atol, double) \
    FIELD(RTOL, rtol, double) \
    FIELD(BLANK, blank_text, const char *) \
    FIELD(VARIANTS, variants, uint64_t) \
    FIELD(ANSWERS, answers, bool) \
    NOT(NO_ANSWERS, answers) \
    FIELD(EXPLAIN, cell, const char *) \
    FIELD(STEPS, steps, bool) \
    FIELD(PREFILL, prefill, uint64_t) \
    FIELD(CHUNK, chunk, uint64_t) \
    FIELD(PRECISION, precision, uint64_t) \
    FIELD(FULL, full, bool) \
    FIELD(HEATMAP, heatmap, bool) \
    FIELD(THEME, theme, enum theme) \
    FIELD(ENTROPY, entropy, bool) \
    FIELD(SHAPE, shape, enum picture_shape) \
    FIELD(POOL, pool, enum pool) \
    FIELD(ANIMATE, animate, bool) \
    FIELD(NO_CAPTION, no_caption, bool) \
    FIELD(COLOR, color, enum when) \
    FIELD(DTYPE, dtype, enum dtype) \
    FIELD(SOFTMAX_DTYPE, softmax_dtype, enum dtype) \
    FIELD(ROUNDING, rounding, enum rounding) \
    FIELD(PART, part_text, const char *) \
    FIELD(THREADS, threads, uint64_t) \
    FIELD(KERNEL, kernel, enum path) \
    FIELD(PROGRESS, progress, enum when) \
    FIELD(JSONL, jsonl, bool) \
    FIELD(COMPLETION, completion, enum shell) \
    FIELD(HELP, help, bool) \
    FIELD(VERSION, version, bool)
/* clang-format on */

#define OPTION_ID(id, ...) OPTION_##id,
enum option_id { OPTION_FIELDS(OPTION_ID, OPTION_ID) OPTION_COUNT };

enum option_kind {
    OPTION_FLAG,     /* bool: stores true */
    OPTION_NEGATION, /* stores false in the field of another flag */
    OPTION_WHOLE,    /* uint64_t within minimum .. maximum */
    OPTION_REAL,     /* double within the range */
    OPTION_CHOICE,   /* an enum: the index among choices */
    OPTION_TEXT,     /* const char * */
};
enum { OPTION_KINDS = OPTION_TEXT + 1 };

/* At least `from`, below `below`, and finite; help shows the words if both are bounds. */
struct real_range {
    double from, below;
    const char *expected;
};

struct options;
typedef enum status option_parser(struct options *options, const char *place, const char *text, struct error *error);
typedef const char *option_teller(const struct options *options, char *text);

struct option_row {
    const char *name;     /* without the dashes */
    const char *alias;    /* another name; or NULL */
    char letter;          /* '\0': no short form */
    const char *argument; /* its name in the help; NULL for a flag */
    enum option_kind kind;
    size_t offset;          /* of the field in struct options */
    enum option_id negated; /* OPTION_NEGATION: the flag */
    uint64_t minimum, maximum;
    bool wraps; /* takes negative numbers from -2^63 on, modulo 2^64, as PyTorch does for seeds */
    struct real_range range;
    const char *const *choices;          /* ends in NULL */
    const char *(*also)(size_t index);   /* another word for a choice; or NULL */
    const char *(*listed)(size_t index); /* the names for a list, NULL after the last; or NULL */
    bool file;                           /* the text names a file */
    bool reads;                          /* attn reads that file */
    bool optional;        /* the argument may be missing; the next word is one if it looks like STAGE:... */
    bool of_run;          /* concerns the whole run: no line of --jsonl has it */
    bool setting;         /* changes numbers: allowed in a file's "settings" */
    const char *asked;    /* name in text of a setting that a result records only if given; or NULL */
    unsigned abilities;   /* bits of enum ability: commands with one of these take it */
    option_parser *parse; /* parser of a text with a grammar; or NULL */
    option_teller *told;  /* for option_text, if a result does not record the typed text; or NULL */
    const char *initial;  /* the default as typed; NULL: none, 0, the first choice */
    const char *fallback; /* the default in words; or NULL */
    const char *help;
    unsigned rare;         /* bits of enum ability: commands with one show it only with --help=all */
    int everyday;          /* its order, from 1, among everyday options; 0: not everyday */
    const char *foreign;   /* foreign names for suggest_knows; or NULL */
    const char *elsewhere; /* message of a command that does not take it; or NULL */
};

#define OPTION_FIELD(id, field, type) type field;
#define OPTION_NO_FIELD(...)

/* CHECKPOINT: a fact about a module. */
enum origin { ORIGIN_DEFAULT, ORIGIN_CHECKPOINT, ORIGIN_FILE, ORIGIN_COMMAND_LINE };

struct options {
    enum command command;
    enum command topic;       /* help: the command, or COMMAND_COUNT */
    enum help_page page;      /* help: the page, or HELP_PAGE_COUNT */
    bool help_all;            /* --help=all */
    size_t example;           /* example: its index in EXAMPLES */
    size_t lesson;            /* lesson: its number, from 1; 0: none */
    enum mechanism mechanism; /* of the command, or named by it, as in init; else MECHANISM_COUNT */
    OPTION_FIELDS(OPTION_FIELD, OPTION_NO_FIELD)
    enum origin origin[OPTION_COUNT];
    int64_t window_left, window_right;                  /* --window; -1: unbounded */
    struct query_growth query_growth;                   /* --query-growth */
    size_t rope_columns;                                /* --rope-columns; 0: all, */
    bool rope_last;                                     /* the last columns of a head, else the first */
    struct rope_scaling rope_scaling;                   /* --rope-scaling */
    struct rope_axes rope_axes;                         /* --rope-axes */
    size_t random_rank, random_shape[TENSOR_RANK];      /* --random; rank 0: attn reads an input */
    struct mistake_choice mistakes[MISTAKE_SLOT_COUNT]; /* --mistake, in the order of the slots */
    size_t mistake_count;
    size_t part, parts;             /* --part K/N: K from 1; 0 and 0: no parts */
    enum stage stages[STAGE_NAMES]; /* --stages, in order */
    size_t stage_count;             /* 0: all */
    bool one_page;                  /* --answers one-page */
    enum stage blanks[STAGE_NAMES]; /* --blank, in order */
    size_t blank_count;             /* 0: all */
    char **files;                   /* join: the parts; diff: A and B; --complete: all words */
    size_t file_count;
};

/* Whether the command line, a file or the checkpoint sets it. */
static inline bool options_said(const struct options *options, enum option_id id)
{
    return options->origin[id] != ORIGIN_DEFAULT;
}

extern const struct option_row OPTIONS[OPTION_COUNT];

/* A long name that means an option with a value: --json is --format json. */
struct option_synonym {
    const char *name;
    enum option_id id;
    const char *value;
};
enum { OPTION_SYNONYMS = 14 };
extern const struct option_synonym SYNONYMS[OPTION_SYNONYMS];

/* In option_table.c: */

/* Whether the command takes the option with that mechanism; MECHANISM_COUNT: with any. */
bool options_takes(enum command command, enum mechanism mechanism, enum option_id id);

/* The option of that name or alias, of `length` bytes, with _ or -; or OPTION_COUNT. */
enum option_id options_find(const char *name, size_t length);

/* The option "--name" or "--name=value", or OPTION_COUNT. */
enum option_id options_find_long(const char *word);

/* The option with that foreign name, or OPTION_COUNT. */
enum option_id options_meant(const char *name);

enum { OPTION_BOUND_BYTES = 32 };

/* Writes the range of a whole number, "0..2^64-1", into text (2 * OPTION_BOUND_BYTES); returns text. */
const char *options_range(const struct option_row *row, char *text);

/* Writes the option's name in settings, with _ for -, into text (size bytes); returns text. */
const char *options_setting_name(enum option_id id, char *text, size_t size);

/* In option_parse.c: */

/* Reads the command line; keeps argv's strings, and turns _ in options' names into -. STATUS_USAGE, with the nearest
 * valid word for a misspelt one. A bare `attn` gives COMMAND_HELP with `help` false, and so does a bare `attn why`,
 * with that topic. */
enum status options_parse(struct options *options, int argc, char **argv, struct error *error);

/* In option_check.c: */

/* Reads --stages, --blank and --part, and chooses the format. STATUS_USAGE where two options, or an option and the
 * command, exclude each other. */
enum status option_check(struct options *options, struct error *error);

/* STATUS_USAGE for an option of other commands, or of the command with other mechanisms (MECHANISM_COUNT: with any). */
enum status option_refuse(enum command command, enum mechanism mechanism, enum option_id id, struct error *error);

/* Whether the command has inputs, from a file, from standard input or drawn. */
bool options_read_inputs(const struct options *options);

/* Whether to colour the output: by --color, else by output_takes_color. */
bool options_want_color(const struct options *options, const struct output *output);

/* In format_check.c: */

/* Without --format, chooses by the suffix of --out, or by the command. STATUS_USAGE for a suffix of no format. */
enum status format_choose(struct options *options, struct error *error);

/* STATUS_USAGE where the format cannot hold the result that the options ask for. */
enum status format_check(const struct options *options, struct error *error);

/* The row of the chosen format. */
const struct format_row *options_format(const struct options *options);

/* Whether the command, or with COMMAND_COUNT any, writes that format. */
bool format_is_written(enum command command, const struct format_row *format);

/* In option_setting.c: */

/* Writes the setting meant by a name, an alias or a foreign name into text (size bytes). NULL for an unknown name. */
const char *options_setting_meant(const char *name, char *text, size_t size);

/* Whether the mechanism takes a setting of that name. */
bool options_takes_setting(enum mechanism mechanism, const char *name);

/* Applies one of a file's settings, unless the command line has that option or the command does not take it.
 * STATUS_USAGE "source: settings: name: ..." for an unknown name or a value out of range. `of_line`: one of "options"
 * of a line of --jsonl, as if on the command line; STATUS_USAGE also for files and what concerns the whole run. */
enum status options_setting(struct options *options, const struct setting *setting, bool of_line, const char *source,
                            struct error *error);

/* Applies a fact about a checkpoint's module, under the name of a setting, unless the command line or the input's file
 * has that option; the text must outlive the options. STATUS_USAGE "source: name: ..." for a value out of range. */
enum status options_fact(struct options *options, const char *name, const char *text, const char *source,
                         struct error *error);
