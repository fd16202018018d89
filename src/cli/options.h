/* What the user asked for, and the one table that says what can be asked.
 *
 * The table drives the parser, the range errors, the help, the completion of shells and the tests of the man page. */
#ifndef ATTN_CLI_OPTIONS_H
#define ATTN_CLI_OPTIONS_H

#include "base/output.h"
#include "base/setting.h"
#include "model/format.h"
#include "model/mask.h"
#include "model/mechanism.h"
#include "model/rounding.h"
#include "model/stages.h"
#include "model/torch_random.h"

#include <stdint.h>

/* Each mechanism is a command, COMMAND_SELF and on; then the others. */
#define COMMAND_ID(id, ...) COMMAND_##id,
enum command {
    MECHANISM_ROWS(COMMAND_ID) COMMAND_INIT,
    COMMAND_DIFF,
    COMMAND_JOIN,
    COMMAND_HELP,
    COMMAND_VERSION,
    COMMAND_COUNT,
};
#undef COMMAND_ID

#define COMMAND_BIT(command) (1u << (command))

enum orientation { ORIENTATION_LINEAR, ORIENTATION_MATRIX };
enum align { ALIGN_TOP_LEFT, ALIGN_BOTTOM_RIGHT };
enum mask_true { MASK_TRUE_KEEP, MASK_TRUE_DROP };
/* The values of --dtype and --softmax-dtype are the working ones of enum dtype, of --empty-row those of enum empty_row. */
enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };
enum path { PATH_AUTO, PATH_REFERENCE, PATH_FUSED };
enum shell { SHELL_BASH, SHELL_ZSH, SHELL_FISH };

enum option_id {
    OPTION_IN,
    OPTION_WEIGHTS,
    OPTION_OUT,
    OPTION_FORMAT,
    OPTION_SEED,
    OPTION_SKIP,
    OPTION_INIT,
    OPTION_RNG,
    OPTION_D_OUT,
    OPTION_D_IN,
    OPTION_AS,
    OPTION_HEADS,
    OPTION_KV_HEADS,
    OPTION_STACKED,
    OPTION_QKV_BIAS,
    OPTION_DROPOUT,
    OPTION_DROPOUT_SEED,
    OPTION_CONTEXT_LENGTH,
    OPTION_CAUSAL,
    OPTION_NO_CAUSAL,
    OPTION_ALIGN,
    OPTION_WINDOW,
    OPTION_SCALE,
    OPTION_SOFTCAP,
    OPTION_MASK_TRUE,
    OPTION_EMPTY_ROW,
    OPTION_QUERY,
    OPTION_STAGES,
    OPTION_ATOL,
    OPTION_RTOL,
    OPTION_EXPLAIN,
    OPTION_PRECISION,
    OPTION_FULL,
    OPTION_HEATMAP,
    OPTION_COLOR,
    OPTION_DTYPE,
    OPTION_SOFTMAX_DTYPE,
    OPTION_ROUNDING,
    OPTION_PART,
    OPTION_THREADS,
    OPTION_KERNEL,
    OPTION_PROGRESS,
    OPTION_COMPLETION,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_COUNT,
};

enum option_kind {
    OPTION_FLAG,        /* bool: the row's `truth` is stored */
    OPTION_WHOLE,       /* uint64_t within minimum .. maximum */
    OPTION_PROBABILITY, /* double, 0 <= P < 1 */
    OPTION_REAL,        /* double, finite, at least 0 where the row is `bounded` */
    OPTION_CHOICE,      /* int: the index among choices */
    OPTION_TEXT,        /* const char * */
};

struct option_row {
    const char *name;     /* without the dashes */
    char letter;          /* '\0' where there is no short form */
    const char *argument; /* its name in the help; NULL for a flag */
    enum option_kind kind;
    size_t offset; /* of the value in struct options */
    uint64_t minimum, maximum;
    const char *const *choices; /* ends in NULL */
    bool truth;
    bool bounded;
    bool optional;     /* the argument may be missing; the next word is it where it looks like STAGE:... */
    bool setting;      /* what changes numbers: may stand in a file's "settings" */
    const char *asked; /* a setting that a result records only where it was asked for, as its text calls it; or NULL */
    unsigned commands; /* bits of the commands that take it */
    const char *fallback; /* the default in words, or NULL */
    const char *help;
};

enum origin { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_COMMAND_LINE };

struct options {
    enum command command;
    enum command topic;       /* help: which command's, or COMMAND_COUNT */
    enum mechanism mechanism; /* that of the command; init: whose parameters are drawn; else MECHANISM_COUNT */
    const char *in, *weights, *out;
    int format, init, rng, as, color, dtype, kernel, progress; /* enum format, init, generator_build, orientation,
                                                                 when, dtype, path, when */
    int completion;                                            /* enum shell, where it was given */
    int align, mask_true, empty_row, softmax_dtype, rounding;  /* enum align, mask_true, empty_row, dtype, rounding */
    uint64_t seed, skip, d_out, d_in, heads, kv_heads, dropout_seed, context_length, precision;
    double dropout, scale, softcap;
    double atol, rtol;                 /* where they were given */
    int64_t window_left, window_right; /* -1: unbounded */
    bool stacked, qkv_bias, causal, full, heatmap, help, version;
    uint64_t threads; /* 0: the processors available */
    const char *query, *stages_text, *part_text, *window;
    const char *cell;   /* what --explain follows back, "weights:2,3"; NULL: all that is shown */
    size_t part, parts; /* --part K/N: K from 1; 0 and 0: the whole */
    char **files;       /* join: the parts that were named; diff: A and B */
    size_t file_count;
    enum stage stages[STAGE_NAMES]; /* what --stages asked for, in order */
    size_t stage_count;             /* 0: all */
    enum origin origin[OPTION_COUNT];
};

extern const struct option_row OPTION_ROWS[OPTION_COUNT];

/* The command's name as it is typed, and what it does in one line. */
const char *command_name(enum command command);
const char *command_summary(enum command command);

/* Whether the option is one that the help and the completion of that command list. COMMAND_HELP takes those of all
 * commands, since `attn help` may stand before any words, and lists its own alone. */
bool options_lists(enum command command, enum option_id id);

enum { OPTION_BOUND_BYTES = 32 };

/* A bound as a person writes it, "65536" or "2^64-1", into text (OPTION_BOUND_BYTES); returns text. */
const char *options_bound(uint64_t bound, char *text);

/* The option's name among a file's settings, with _ for -, into text (size bytes); returns text. */
const char *options_setting_name(enum option_id id, char *text, size_t size);

/* Reads the command line; argv's strings are kept. STATUS_USAGE with the nearest valid word where one is misspelt.
 * A bare `attn` gives COMMAND_HELP with `help` false. */
enum status options_parse(struct options *options, int argc, char **argv, struct error *error);

/* Whether the output is to be coloured: as --color says, else as the output and the environment do. */
bool options_want_color(const struct options *options, const struct output *output);

/* The row of --format, of the suffix of --out, or of the command. */
const struct format_row *options_format(const struct options *options);

/* Whether the result is a picture: T x T tables matter most then. */
bool options_are_of_picture(const struct options *options);

/* Whether the command takes a setting of that name. */
bool options_takes_setting(enum command command, const char *name);

/* Takes one row of a file's settings, unless the command line gave that option or the command does not take it.
 * STATUS_USAGE "source: settings: name: ..." for an unknown name or a value out of range. */
enum status options_setting(struct options *options, const struct setting *setting, const char *source,
                            struct error *error);

#endif
