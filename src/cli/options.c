#include "cli/options.h"

#include "base/suggest.h"
#include "base/text.h"
#include "cli/format_check.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROJECTING (COMMAND_BIT(COMMAND_SELF) | COMMAND_BIT(COMMAND_CAUSAL) | COMMAND_BIT(COMMAND_MULTIHEAD))
#define COMPUTING (PROJECTING | COMMAND_BIT(COMMAND_SDPA))
#define DRAWING (PROJECTING | COMMAND_BIT(COMMAND_INIT))
#define SEEDED (DRAWING | COMMAND_BIT(COMMAND_SDPA))
#define MODULES (COMMAND_BIT(COMMAND_MULTIHEAD) | COMMAND_BIT(COMMAND_INIT))
#define CHOOSING (COMMAND_BIT(COMMAND_MULTIHEAD) | COMMAND_BIT(COMMAND_SDPA))
#define HEADED (MODULES | COMMAND_BIT(COMMAND_SDPA))
#define DIFF COMMAND_BIT(COMMAND_DIFF)
#define EVERY (COMMAND_BIT(COMMAND_COUNT) - 1)
#define FIELD(name) offsetof(struct options, name)

/* What getopt_long returns beside letters: a word that is no option, and from FIRST_LONG on the long options. */
enum { PLAIN_WORD = 1, FIRST_LONG = 256 };

enum { LETTERS_BYTES = 2 + 2 * OPTION_COUNT + 1, SETTING_BYTES = 24 };

static const char *const INIT_WORDS[] = {INITS(CHOICE_WORD) NULL};
static const char *const BUILD_WORDS[] = {TORCH_RANDOM_BUILDS(CHOICE_WORD) NULL};
static const char *const ORIENTATIONS[] = {"linear", "matrix", NULL};
static const char *const ALIGNMENTS[] = {"top-left", "bottom-right", NULL};
static const char *const TRUTHS[] = {"keep", "drop", NULL};
static const char *const EMPTY_ROW_WORDS[] = {EMPTY_ROWS(CHOICE_WORD) NULL};
static const char *const ROUNDING_WORDS[] = {ROUNDINGS(CHOICE_WORD) NULL};
static const char *const PATHS[] = {"auto", "reference", "fused", NULL};
static const char *const SHELLS[] = {"bash", "zsh", "fish", NULL};
static const char *const WHENS[] = {"auto", "always", "never", NULL};

/* Of each working dtype ", f32 1e-5", its tolerance in attn diff. */
#define ABSOLUTE(id, name, absolute, ...) ", " name " " #absolute
#define RELATIVE(id, name, absolute, relative, ...) ", " name " " #relative
#define NOTHING(...)

/* clang-format off */
const struct option_row OPTION_ROWS[OPTION_COUNT] = {
    [OPTION_IN] = {"in", 'i', "FILE", OPTION_TEXT, FIELD(in), .commands = SEEDED,
        .fallback = "standard input", .help = "tokens, inputs and parameters: JSON, .npy or .safetensors; - is standard input; also FILE alone"},
    [OPTION_WEIGHTS] = {"weights", 'w', "FILE", OPTION_TEXT, FIELD(weights), .commands = PROJECTING,
        .fallback = "those in --in, else drawn", .help = "take the parameters, and nothing else, from this file"},
    [OPTION_OUT] = {"out", 'o', "FILE", OPTION_TEXT, FIELD(out), .commands = EVERY,
        .fallback = "standard output", .help = "where the result goes"},
    [OPTION_FORMAT] = {"format", 'f', "FORMAT", OPTION_CHOICE, FIELD(format), .choices = FORMAT_NAMES, .commands = EVERY,
        .fallback = "by the suffix of --out, else text; init: json", .help = "how the result is written"},
    [OPTION_SEED] = {"seed", 's', "N", OPTION_WHOLE, FIELD(seed), 0, UINT64_MAX, .setting = true, .commands = SEEDED,
        .fallback = "123", .help = "seed of the generator, as torch.manual_seed"},
    [OPTION_SKIP] = {"skip", 0, "N", OPTION_WHOLE, FIELD(skip), 0, UINT32_MAX, .setting = true, .commands = SEEDED,
        .fallback = "0", .help = "draws thrown away after seeding"},
    [OPTION_INIT] = {"init", 0, "HOW", OPTION_CHOICE, FIELD(init), .choices = INIT_WORDS, .setting = true, .commands = DRAWING,
        .fallback = "linear", .help = "draw projections as nn.Linear, torch.rand or torch.randn"},
    [OPTION_RNG] = {"rng", 0, "BUILD", OPTION_CHOICE, FIELD(rng), .choices = BUILD_WORDS, .setting = true, .commands = SEEDED,
        .fallback = "torch", .help = "which build of PyTorch to reproduce"},
    [OPTION_D_OUT] = {"d-out", 'd', "N", OPTION_WHOLE, FIELD(d_out), 1, 1 << 20, .setting = true, .commands = DRAWING,
        .fallback = "the width of the inputs, or what the parameters have",
        .help = "columns of query, key and value, all heads together; of one head with --stacked"},
    [OPTION_D_IN] = {"d-in", 0, "N", OPTION_WHOLE, FIELD(d_in), 1, 1 << 20, .commands = COMMAND_BIT(COMMAND_INIT),
        .fallback = "the width of the inputs", .help = "columns of the inputs; then no input is read"},
    [OPTION_AS] = {"as", 0, "NAMES", OPTION_CHOICE, FIELD(as), .choices = ORIENTATIONS,
        .commands = COMMAND_BIT(COMMAND_INIT), .fallback = "linear with --init linear, else matrix",
        .help = "name parameters W_query.weight, d_out x d_in, or W_query, d_in x d_out"},
    [OPTION_HEADS] = {"heads", 'H', "N", OPTION_WHOLE, FIELD(heads), 1, 65536, .setting = true, .commands = HEADED,
        .fallback = "multihead needs it, here or in the settings", .help = "number of heads; sdpa: query, key and value are packed, B x T x heads d"},
    [OPTION_KV_HEADS] = {"kv-heads", 0, "N", OPTION_WHOLE, FIELD(kv_heads), 1, 65536, .setting = true, .commands = HEADED,
        .fallback = "as many as --heads", .help = "heads of key and value: each serves heads / N heads of query"},
    [OPTION_STACKED] = {"stacked", 0, NULL, OPTION_FLAG, FIELD(stacked), .truth = true, .setting = true, .commands = MODULES,
        .help = "separate heads side by side, each with d_out columns, no output projection"},
    [OPTION_QKV_BIAS] = {"qkv-bias", 0, NULL, OPTION_FLAG, FIELD(qkv_bias), .truth = true, .setting = true,
        .commands = DRAWING, .help = "draw a bias for each of the three projections; with --init linear alone"},
    [OPTION_DROPOUT] = {"dropout", 0, "P", OPTION_PROBABILITY, FIELD(dropout), .setting = true, .commands = COMPUTING,
        .fallback = "0", .help = "drop this share of the weights, as nn.Dropout in training"},
    [OPTION_DROPOUT_SEED] = {"dropout-seed", 0, "N", OPTION_WHOLE, FIELD(dropout_seed), 0, UINT64_MAX, .setting = true,
        .commands = COMPUTING, .fallback = "dropout draws on where the parameters end",
        .help = "seed again before dropout"},
    [OPTION_CONTEXT_LENGTH] = {"context-length", 0, "N", OPTION_WHOLE, FIELD(context_length), 1, INT32_MAX,
        .setting = true, .commands = PROJECTING, .fallback = "no limit", .help = "refuse more tokens than this"},
    [OPTION_CAUSAL] = {"causal", 0, NULL, OPTION_FLAG, FIELD(causal), .truth = true, .setting = true,
        .commands = CHOOSING, .help = "each token sees itself and the tokens before it (the default of multihead)"},
    [OPTION_NO_CAUSAL] = {"no-causal", 0, NULL, OPTION_FLAG, FIELD(causal), .truth = false,
        .commands = CHOOSING, .help = "every token sees every token (the default of sdpa)"},
    [OPTION_ALIGN] = {"align", 0, "CORNER", OPTION_CHOICE, FIELD(align), .choices = ALIGNMENTS, .setting = true,
        .asked = "align", .commands = COMPUTING, .fallback = "top-left",
        .help = "where fewer queries than keys stand: first or last; without past_key and kv_lengths"},
    [OPTION_WINDOW] = {"window", 0, "L,R", OPTION_TEXT, FIELD(window), .setting = true, .commands = COMPUTING,
        .asked = "window", .fallback = "-1,-1", .help = "a query sees L keys before its position to R behind it; -1 is unbounded"},
    [OPTION_SCALE] = {"scale", 0, "S", OPTION_REAL, FIELD(scale), .setting = true, .commands = COMPUTING,
        .asked = "scale", .fallback = "1 / sqrt(d_head)", .help = "scaled is scores x S"},
    [OPTION_SOFTCAP] = {"softcap", 0, "C", OPTION_REAL, FIELD(softcap), .bounded = true, .setting = true, .commands = COMPUTING,
        .asked = "softcap", .fallback = "0, none", .help = "capped is C x tanh(scaled / C)"},
    [OPTION_MASK_TRUE] = {"mask-true", 0, "MEANING", OPTION_CHOICE, FIELD(mask_true), .choices = TRUTHS, .setting = true,
        .asked = "true means", .commands = COMPUTING, .fallback = "keep", .help = "what true means in a boolean attn_mask: the key is seen, or not"},
    [OPTION_EMPTY_ROW] = {"empty-row", 0, "WEIGHTS", OPTION_CHOICE, FIELD(empty_row), .choices = EMPTY_ROW_WORDS, .setting = true,
        .asked = "empty row", .commands = COMPUTING, .fallback = "zero", .help = "the weights of a query that may see no key; mean: 1 / keys"},
    [OPTION_QUERY] = {"query", 'q', "LIST", OPTION_TEXT, FIELD(query), .setting = true, .commands = COMPUTING,
        .fallback = "all", .help = "only these tokens' rows: 2, journey, 2-4 or 1,4-6; the first token is 1"},
    [OPTION_STAGES] = {"stages", 0, "LIST", OPTION_TEXT, FIELD(stages_text), .commands = COMPUTING | DIFF,
        .fallback = "all of the mechanism", .help = "only these stages, in this order; inputs and parameters are names too; diff: stages alone"},
    [OPTION_ATOL] = {"atol", 0, "ATOL", OPTION_REAL, FIELD(atol), .bounded = true, .commands = DIFF,
        .fallback = "by dtype" DTYPE_ROWS(ABSOLUTE, NOTHING), .help = "|a - b| may be ATOL + RTOL |a|"},
    [OPTION_RTOL] = {"rtol", 0, "RTOL", OPTION_REAL, FIELD(rtol), .bounded = true, .commands = DIFF,
        .fallback = "by dtype" DTYPE_ROWS(RELATIVE, NOTHING), .help = "the share of |a| in that"},
    [OPTION_EXPLAIN] = {"explain", 0, "CELL", OPTION_TEXT, FIELD(cell), .optional = true, .commands = COMPUTING,
        .help = "text: every number with its arithmetic; CELL, such as weights:2,3: one number, back to the inputs"},
    [OPTION_PRECISION] = {"precision", 'p', "N", OPTION_WHOLE, FIELD(precision), 0, 17, .commands = EVERY,
        .fallback = "4; in pictures 2; diff: 1; csv: as many as a number needs", .help = "decimals in text, tables, pictures and pages"},
    [OPTION_FULL] = {"full", 0, NULL, OPTION_FLAG, FIELD(full), .truth = true, .commands = EVERY,
        .help = "text, markdown, latex: tables whole; else the first and last 6 of more than 12 rows or columns"},
    [OPTION_HEATMAP] = {"heatmap", 0, NULL, OPTION_FLAG, FIELD(heatmap), .truth = true, .commands = COMPUTING,
        .help = "text: draw tables of T x T as coloured cells; without --stages those alone"},
    [OPTION_COLOR] = {"color", 0, "WHEN", OPTION_CHOICE, FIELD(color), .choices = WHENS, .commands = EVERY,
        .fallback = "auto: on a terminal, unless NO_COLOR is set", .help = "text: bold headings, dimmed masked entries, a heatmap in colours"},
    [OPTION_DTYPE] = {"dtype", 0, "DTYPE", OPTION_CHOICE, FIELD(dtype), .choices = DTYPE_NAMES, .setting = true,
        .commands = SEEDED, .fallback = "that of inputs (sdpa: query); JSON: f32", .help = "working dtype: each stage is rounded to it"},
    [OPTION_SOFTMAX_DTYPE] = {"softmax-dtype", 0, "DTYPE", OPTION_CHOICE, FIELD(softmax_dtype), .choices = DTYPE_NAMES, .setting = true,
        .asked = "softmax in", .commands = COMPUTING, .fallback = "that of --dtype", .help = "the scores are rounded to it before softmax, the weights in it and then back"},
    [OPTION_ROUNDING] = {"rounding", 0, "WHEN", OPTION_CHOICE, FIELD(rounding), .choices = ROUNDING_WORDS, .setting = true,
        .asked = "rounding", .commands = COMPUTING, .fallback = "stages", .help = "round to the dtype once a stage, or after every operation, as ONNX's reference does"},
    [OPTION_PART] = {"part", 0, "K/N", OPTION_TEXT, FIELD(part_text), .commands = COMPUTING, .fallback = "the whole",
        .help = "the K-th of N parts of the queries, of equal work; into a .safetensors file for attn join"},
    [OPTION_THREADS] = {"threads", 't', "N", OPTION_WHOLE, FIELD(threads), 1, 1024, .commands = COMPUTING,
        .fallback = "the processors available", .help = "threads; the result is the same bits for any number"},
    [OPTION_KERNEL] = {"kernel", 0, "PATH", OPTION_CHOICE, FIELD(kernel), .choices = PATHS, .commands = COMPUTING,
        .fallback = "auto: by the size of the job and by what is asked", .help = "which path computes"},
    [OPTION_PROGRESS] = {"progress", 0, "WHEN", OPTION_CHOICE, FIELD(progress), .choices = WHENS, .commands = COMPUTING,
        .fallback = "auto: on a terminal, after a second", .help = "a bar on standard error"},
    [OPTION_COMPLETION] = {"completion", 0, "SHELL", OPTION_CHOICE, FIELD(completion), .choices = SHELLS,
        .commands = COMMAND_BIT(COMMAND_HELP), .help = "write what completes the command lines of attn in that shell"},
    [OPTION_HELP] = {"help", 'h', NULL, OPTION_FLAG, FIELD(help), .truth = true, .commands = EVERY,
        .help = "this help, or that of the command"},
    [OPTION_VERSION] = {"version", 0, NULL, OPTION_FLAG, FIELD(version), .truth = true, .commands = EVERY,
        .help = "the version"},
};
/* clang-format on */

static const struct {
    const char *name, *summary;
} COMMANDS[COMMAND_COUNT] = {
    [COMMAND_INIT] = {"init", "the parameters that a seed draws"},
    [COMMAND_DIFF] = {"diff", "compare two results stage by stage"},
    [COMMAND_JOIN] = {"join", "put the parts of a job together again"},
    [COMMAND_HELP] = {"help", "this help, or that of a command"},
    [COMMAND_VERSION] = {"--version", NULL},
};

/* COMMAND_SELF and on are the mechanisms, in their order. */
static const struct mechanism_row *mechanism_of(enum command command)
{
    return (int)command < MECHANISM_COUNT ? &MECHANISMS[command] : NULL;
}

const char *command_name(enum command command)
{
    const struct mechanism_row *mechanism = mechanism_of(command);
    return mechanism != NULL ? mechanism->name : COMMANDS[command].name;
}

const char *command_summary(enum command command)
{
    const struct mechanism_row *mechanism = mechanism_of(command);
    return mechanism != NULL ? mechanism->summary : COMMANDS[command].summary;
}

bool options_lists(enum command command, enum option_id id)
{
    const unsigned commands = OPTION_ROWS[id].commands;
    return command == COMMAND_HELP ? commands == COMMAND_BIT(COMMAND_HELP) : (commands & COMMAND_BIT(command)) != 0;
}

static enum command find_command(const char *word)
{
    int command = 0;
    while (command < COMMAND_COUNT && strcmp(command_name((enum command)command), word) != 0)
        command++;
    return (enum command)command;
}

static enum status unknown_command(const char *what, const char *word, unsigned commands, struct error *error)
{
    const char *names[COMMAND_COUNT];
    char hint[128];
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands & COMMAND_BIT(i) ? command_name((enum command)i) : NULL;
    suggest_hint(hint, sizeof hint, "", word, names, COMMAND_COUNT);
    if (hint[0] == '\0') {
        strcpy(hint, "; expected");
        for (int i = 0, first = 1; i < COMMAND_COUNT; i++)
            if (names[i] != NULL) {
                snprintf(hint + strlen(hint), sizeof hint - strlen(hint), "%s %s", first ? "" : ",", names[i]);
                first = 0;
            }
    }
    return error_usage(error, "unknown %s '%.80s'%s", what, word, hint);
}

/* --- values ------------------------------------------------------------------------------------------------------ */

const char *options_bound(uint64_t bound, char *text)
{
    for (unsigned bits = 20; bits <= 64; bits++) {
        uint64_t below = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        if (bound == below)
            snprintf(text, OPTION_BOUND_BYTES, "2^%u-1", bits);
        else if (bound == below + 1 && bits < 64)
            snprintf(text, OPTION_BOUND_BYTES, "2^%u", bits);
        else
            continue;
        return text;
    }
    snprintf(text, OPTION_BOUND_BYTES, "%llu", (unsigned long long)bound);
    return text;
}

static bool all_digits(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

static enum status parse_whole(const struct option_row *row, const char *place, const char *text, uint64_t *value,
                               struct error *error)
{
    char maximum[OPTION_BOUND_BYTES];
    const bool negative = text[0] == '-' && all_digits(text + 1);
    if (!all_digits(text) && !negative)
        return error_usage(error, "%s '%.80s' is not a whole number; expected %llu..%s", place, text,
                           (unsigned long long)row->minimum, options_bound(row->maximum, maximum));
    errno = 0;
    *value = strtoull(text, NULL, 10);
    if (negative || errno == ERANGE || *value < row->minimum || *value > row->maximum)
        return error_usage(error, "%s %.80s is out of range; expected %llu..%s", place, text,
                           (unsigned long long)row->minimum, options_bound(row->maximum, maximum));
    return STATUS_OK;
}

static enum status parse_probability(const char *place, const char *text, double *value, struct error *error)
{
    char *end;
    const bool decimal = text[0] != '\0' && strspn(text, "0123456789.eE+-") == strlen(text);
    *value = decimal ? strtod(text, &end) : 0;
    if (!decimal || end == text || *end != '\0')
        return error_usage(error, "%s '%.80s' is not a number; expected 0 <= P < 1", place, text);
    if (!(*value >= 0 && *value < 1))
        return error_usage(error, "%s %.80s is out of range; expected 0 <= P < 1", place, text);
    *value += 0.0; /* -0 is 0 */
    return STATUS_OK;
}

static enum status parse_real(const struct option_row *row, const char *place, const char *text, double *value,
                              struct error *error)
{
    char *end;
    const char *expected = row->bounded ? "a finite number from 0 on" : "a finite number";
    const bool decimal = text[0] != '\0' && strspn(text, "0123456789.eE+-") == strlen(text);
    *value = decimal ? strtod(text, &end) : 0;
    if (!decimal || end == text || *end != '\0')
        return error_usage(error, "%s '%.80s' is not a number; expected %s", place, text, expected);
    if (!isfinite(*value) || (row->bounded && *value < 0))
        return error_usage(error, "%s %.80s is out of range; expected %s", place, text, expected);
    *value += 0.0;
    return STATUS_OK;
}

/* "L,R": two whole numbers from -1 on. */
static enum status parse_window(struct options *options, const char *place, const char *text, struct error *error)
{
    char *end = NULL;
    const bool plain = text[strspn(text, "0123456789,-")] == '\0';
    const long long left = plain ? strtoll(text, &end, 10) : 0;
    const char *second = end != NULL && end != text && *end == ',' ? end + 1 : NULL;
    const long long right = second != NULL ? strtoll(second, &end, 10) : 0;
    if (second == NULL || end == second || *end != '\0')
        return error_usage(error, "%s '%.80s' is not L,R; expected two whole numbers, -1 for unbounded, as in 3,0",
                           place, text);
    if (left < -1 || right < -1 || left > INT32_MAX || right > INT32_MAX)
        return error_usage(error, "%s %.80s is out of range; expected -1..2^31-1 for each", place, text);
    options->window_left = left;
    options->window_right = right;
    options->window = text;
    return STATUS_OK;
}

static enum status parse_choice(const struct option_row *row, const char *place, const char *text, int *value,
                                struct error *error)
{
    char list[128] = "", hint[128];
    size_t count = 0;
    for (; row->choices[count] != NULL; count++) {
        if (strcmp(row->choices[count], text) == 0) {
            *value = (int)count;
            return STATUS_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", count ? ", " : "", row->choices[count]);
    }
    return error_usage(error, "%s '%.80s' is unknown; expected one of %s%s", place, text, list,
                       suggest_hint(hint, sizeof hint, "", text, row->choices, count));
}

/* Stores the value of one option; `place` names it in messages: "--heads" or "inputs.json: settings: heads". */
static enum status store(struct options *options, enum option_id id, const char *place, const char *text,
                         struct error *error)
{
    const struct option_row *row = &OPTION_ROWS[id];
    void *field = (char *)options + row->offset;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = text != NULL ? strcmp(text, "true") == 0 : row->truth;
        return STATUS_OK;
    case OPTION_WHOLE:
        return parse_whole(row, place, text, field, error);
    case OPTION_PROBABILITY:
        return parse_probability(place, text, field, error);
    case OPTION_REAL:
        return parse_real(row, place, text, field, error);
    case OPTION_CHOICE:
        return parse_choice(row, place, text, field, error);
    case OPTION_TEXT:
        if (text != NULL && text[0] == '\0')
            return error_usage(error, "%s is empty; expected %s", place, row->argument);
        *(const char **)field = text;
        return id == OPTION_WINDOW ? parse_window(options, place, text, error) : STATUS_OK;
    }
    return STATUS_OK;
}

/* --no-causal says what --causal says, the other way round. */
static enum option_id origin_of(enum option_id id)
{
    return id == OPTION_NO_CAUSAL ? OPTION_CAUSAL : id;
}

/* --- the command line -------------------------------------------------------------------------------------------- */

/* The one name that begins with the word; NULL where none does, or several. */
static const char *completed(const char *word, const char *const *names)
{
    const char *found = NULL;
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (names[id] == NULL || strlen(word) < 2 || strncmp(names[id], word, strlen(word)) != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = names[id];
    }
    return found;
}

static enum status unknown_option(const struct options *options, const char *word, struct error *error)
{
    const char *names[OPTION_COUNT];
    char name[80], hint[128];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    for (int id = 0; id < OPTION_COUNT; id++)
        names[id] = OPTION_ROWS[id].commands & COMMAND_BIT(options->command) ? OPTION_ROWS[id].name : NULL;
    const bool known = completed(name + strspn(name, "-"), names) != NULL ||
                       suggest_word(name + strspn(name, "-"), names, OPTION_COUNT) != NULL;
    for (int id = 0; id < OPTION_COUNT && !known; id++) /* near to no option of this command: of any */
        names[id] = OPTION_ROWS[id].name;
    const char *bare = name + strspn(name, "-");
    const char *whole = completed(bare, names);
    if (whole != NULL)
        snprintf(hint, sizeof hint, "; did you mean '--%s'?", whole);
    else
        suggest_hint(hint, sizeof hint, "--", bare, names, OPTION_COUNT);
    return error_usage(error, "unknown option '%s'%s", name, hint[0] ? hint : "; attn --help lists the options");
}

static enum status foreign_option(const struct options *options, enum option_id id, struct error *error)
{
    char list[64] = "";
    for (int command = 0; command <= COMMAND_HELP; command++)
        if (OPTION_ROWS[id].commands & COMMAND_BIT(command))
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[0] ? ", " : "",
                     command_name((enum command)command));
    return error_usage(error, "--%s is not an option of %s; it belongs to: %s", OPTION_ROWS[id].name,
                       command_name(options->command), list);
}

static enum status take_option(struct options *options, enum option_id id, const char *argument, struct error *error)
{
    char place[48];
    if ((OPTION_ROWS[id].commands & COMMAND_BIT(options->command)) == 0)
        return foreign_option(options, id, error);
    if (id == OPTION_IN && options->origin[OPTION_IN] == ORIGIN_COMMAND_LINE)
        return error_usage(error, "two inputs, '%.80s' and '%.80s'; expected one", options->in, argument);
    snprintf(place, sizeof place, "--%s", OPTION_ROWS[id].name);
    enum status status = store(options, id, place, argument, error);
    options->origin[origin_of(id)] = ORIGIN_COMMAND_LINE;
    return status;
}

/* A word that is no option: the mechanism of init, the topic of help, else FILE. */
static enum status take_word(struct options *options, char *word, struct error *error)
{
    const unsigned topics = options->command == COMMAND_INIT ? PROJECTING : EVERY & ~COMMAND_BIT(COMMAND_VERSION);
    if (options->command == COMMAND_JOIN || options->command == COMMAND_DIFF) {
        options->files[options->file_count++] = word;
        return STATUS_OK;
    }
    if (options->command == COMMAND_VERSION)
        return error_usage(error, "unexpected '%.80s'; expected attn --version alone", word);
    const bool init = options->command == COMMAND_INIT;
    if (options->command != COMMAND_HELP && (!init || options->mechanism != MECHANISM_COUNT))
        return take_option(options, OPTION_IN, word, error);
    if (options->topic != COMMAND_COUNT)
        return error_usage(error, "unexpected '%.80s'; expected one command", word);
    const enum command found = find_command(word);
    if (found == COMMAND_COUNT || (topics & COMMAND_BIT(found)) == 0)
        return unknown_command(init ? "mechanism" : "command", word, topics, error);
    if (init)
        options->mechanism = mechanism_find(word);
    else
        options->topic = found;
    return STATUS_OK;
}

static int argument_of(const struct option_row *row)
{
    return row->argument == NULL ? no_argument : row->optional ? optional_argument : required_argument;
}

/* The short string for getopt: "-" keeps every word in its place, ":" tells a missing argument apart. */
static void describe_options(char *letters, struct option *longs)
{
    *letters++ = '-';
    *letters++ = ':';
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_row *row = &OPTION_ROWS[id];
        longs[id] = (struct option){row->name, argument_of(row), NULL, FIRST_LONG + id};
        if (row->letter != '\0')
            *letters++ = row->letter;
        if (row->letter != '\0' && row->argument != NULL)
            *letters++ = ':';
    }
    *letters = '\0';
    longs[OPTION_COUNT] = (struct option){0};
}

static enum option_id option_of_letter(int letter)
{
    int id = 0;
    while (id < OPTION_COUNT && OPTION_ROWS[id].letter != letter)
        id++;
    return (enum option_id)id;
}

/* getopt refused the word: no such option, or no argument, or one too many. */
static enum status refused(const struct options *options, int code, const char *word, struct error *error)
{
    const bool is_long = word[0] == '-' && word[1] == '-';
    int id = is_long ? optopt - FIRST_LONG : (int)option_of_letter(optopt);
    if (id < 0 || id >= OPTION_COUNT) {
        char letter[3] = {'-', (char)optopt, '\0'};
        return unknown_option(options, is_long ? word : letter, error);
    }
    const struct option_row *row = &OPTION_ROWS[id];
    if (strlen(row->name) != strcspn(word + 2, "=") && is_long)
        return unknown_option(options, word, error);
    if ((row->commands & COMMAND_BIT(options->command)) == 0)
        return foreign_option(options, (enum option_id)id, error);
    if (code == ':')
        return error_usage(error, "--%s needs a value: --%s %s", row->name, row->name, row->argument);
    return error_usage(error, "--%s takes no value", row->name);
}

/* One thing that getopt found; `word` is where it began. */
static enum status take(struct options *options, int code, const char *word, struct error *error)
{
    if (code == PLAIN_WORD)
        return take_word(options, optarg, error);
    if (code == '?' || code == ':')
        return refused(options, code, word, error);
    if (code < FIRST_LONG)
        return take_option(options, option_of_letter(code), optarg, error);
    if (strcspn(word + 2, "=") != strlen(OPTION_ROWS[code - FIRST_LONG].name)) /* getopt completes abbreviations */
        return unknown_option(options, word, error);
    return take_option(options, (enum option_id)(code - FIRST_LONG), optarg, error);
}

/* "weights:2,3", so that it is told from a FILE behind an option whose argument may be missing. */
static bool looks_like_cell(const char *word)
{
    const size_t letters = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
    return letters > 0 && word[letters] == ':';
}

static enum status parse_words(struct options *options, int argc, char **argv, struct error *error)
{
    char letters[LETTERS_BYTES];
    struct option longs[OPTION_COUNT + 1];
    describe_options(letters, longs);
    opterr = 0;
    optind = 1;
    options->files = argv; /* words take the places of those that are already read */
    for (;;) {
        const char *word = optind < argc ? argv[optind] : "";
        int code = getopt_long(argc, argv, letters, longs, NULL);
        if (code == -1)
            break;
        if (code >= FIRST_LONG && OPTION_ROWS[code - FIRST_LONG].optional && optarg == NULL && optind < argc &&
            looks_like_cell(argv[optind]))
            optarg = argv[optind++];
        if (take(options, code, word, error) != STATUS_OK)
            return error->status;
    }
    for (; optind < argc; optind++)
        if (take_word(options, argv[optind], error) != STATUS_OK)
            return error->status;
    return STATUS_OK;
}

static enum status parse_stages(struct options *options, struct error *error)
{
    uint64_t seen = 0;
    for (const char *name = options->stages_text; name != NULL;) {
        size_t length = strcspn(name, ",");
        enum stage stage = stage_find(name, length);
        if (stage == STAGE_NAMES) {
            const char *names[STAGE_NAMES];
            char word[80], hint[128];
            for (int i = 0; i < STAGE_NAMES; i++)
                names[i] = stage_name((enum stage)i);
            snprintf(word, sizeof word, "%.*s", (int)length, name);
            suggest_hint(hint, sizeof hint, "", word, names, STAGE_NAMES);
            return error_usage(error, "--stages: unknown stage '%s'%s", word,
                               hint[0] ? hint : "; expected names such as scores,weights");
        }
        if (seen & STAGE_BIT(stage))
            return error_usage(error, "--stages: '%s' is given twice; expected it once", stage_name(stage));
        seen |= STAGE_BIT(stage);
        options->stages[options->stage_count++] = stage;
        name = name[length] == ',' ? name + length + 1 : NULL;
    }
    return STATUS_OK;
}

/* "K/N" */
static enum status parse_part(struct options *options, struct error *error)
{
    const char *text = options->part_text;
    if (text == NULL)
        return STATUS_OK;
    char *slash, *end;
    errno = 0;
    const bool digits = text[strspn(text, "0123456789/")] == '\0' && text[0] != '/';
    unsigned long long part = strtoull(text, &slash, 10);
    unsigned long long parts = digits && *slash == '/' ? strtoull(slash + 1, &end, 10) : 0;
    if (!digits || *slash != '/' || end == slash + 1 || *end != '\0')
        return error_usage(error, "--part '%.80s' is not K/N; expected a part and how many there are, such as 2/3",
                           text);
    if (errno == ERANGE || part < 1 || part > parts || parts > UINT32_MAX)
        return error_usage(error, "--part %.80s is out of range; expected K in 1..N", text);
    options->part = (size_t)part;
    options->parts = (size_t)parts;
    return STATUS_OK;
}

/* A and B; the report is for people or for a pipe. */
static enum status check_diff(struct options *options, struct error *error)
{
    char **files = options->files;
    if (options->file_count != 2)
        return error_usage(error, "diff needs two files, got %zu: attn diff A B, where A is what is expected",
                           options->file_count);
    if (strcmp(files[0], "-") == 0 && strcmp(files[1], "-") == 0)
        return error_usage(error, "A and B are both standard input; expected one of them to be a file");
    for (size_t i = 0; i < options->stage_count; i++)
        if (!stage_exists(options->stages[i]))
            return error_usage(error, "--stages: '%s' is no stage; diff compares stages such as scores,weights",
                               stage_name(options->stages[i]));
    if (!options_format(options)->reports)
        return error_usage(error, "diff writes text or json, not %s", options_format(options)->name);
    if (options->origin[OPTION_PRECISION] == ORIGIN_DEFAULT)
        options->precision = 1;
    return STATUS_OK;
}

bool options_want_color(const struct options *options, const struct output *output)
{
    return options->color == WHEN_AUTO ? output_takes_color(output) : options->color == WHEN_ALWAYS;
}

/* What the options say of each other. */
static enum status check_together(struct options *options, struct error *error)
{
    if (options->command == COMMAND_INIT && options->mechanism == MECHANISM_COUNT)
        return error_usage(error, "init needs a mechanism: attn init self, causal or multihead");
    const bool in_standard = options->in == NULL || strcmp(options->in, "-") == 0;
    if (in_standard && options->weights != NULL && strcmp(options->weights, "-") == 0)
        return error_usage(error, "--in and --weights are both standard input; expected one of them to be a file");
    if (options->origin[OPTION_D_IN] != ORIGIN_DEFAULT && options->in != NULL)
        return error_usage(error, "--d-in and %.80s both give the width of the inputs; expected one of them",
                           options->in);
    if (options->command == COMMAND_INIT && !MECHANISMS[options->mechanism].splits) {
        const enum option_id headed[] = {OPTION_HEADS, OPTION_KV_HEADS, OPTION_STACKED};
        for (size_t i = 0; i < 3; i++)
            if (options->origin[headed[i]] == ORIGIN_COMMAND_LINE)
                return error_usage(error, "--%s is not an option of init %s; it belongs to: multihead, init multihead",
                                   OPTION_ROWS[headed[i]].name, MECHANISMS[options->mechanism].name);
    }
    if (options->command == COMMAND_JOIN && options->file_count == 0)
        return error_usage(error, "join needs the parts: attn join PART... --out FILE");
    if (parse_stages(options, error) || parse_part(options, error) || format_choose(options, error))
        return error->status;
    return options->command == COMMAND_DIFF ? check_diff(options, error) : format_check(options, error);
}

/* The first word is the command; --help and --version may stand in its place. */
static enum status parse_command(struct options *options, int argc, char **argv, struct error *error)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    if (word == NULL)
        return STATUS_OK;
    if (strcmp(word, "--version") == 0)
        options->command = COMMAND_VERSION;
    else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        options->help = true;
    else if (word[0] == '-' &&
             suggest_word(word + strspn(word, "-"), (const char *const[]){"help", "version"}, 2) != NULL)
        return unknown_option(options, word, error);
    else if (word[0] == '-' && word[1] != '\0')
        return error_usage(error, "the command comes first: attn COMMAND %.80s ...; attn --help lists the commands",
                           word);
    else
        options->command = find_command(word);
    options->mechanism = mechanism_find(word);
    if (options->command == COMMAND_COUNT)
        return unknown_command("command", word, EVERY & ~COMMAND_BIT(COMMAND_VERSION), error);
    if (options->command == COMMAND_HELP)
        options->help = true;
    return parse_words(options, argc - 1, argv + 1, error);
}

enum status options_parse(struct options *options, int argc, char **argv, struct error *error)
{
    *options = (struct options){
        .command = COMMAND_HELP,
        .topic = COMMAND_COUNT,
        .mechanism = MECHANISM_COUNT,
        .seed = 123,
        .precision = 4,
        .causal = true,
        .window_left = -1,
        .window_right = -1,
    };
    enum status status = parse_command(options, argc, argv, error);
    if (status != STATUS_OK)
        return status;
    if (options->help && options->command != COMMAND_HELP) {
        options->topic = options->command;
        options->command = COMMAND_HELP;
    } else if (options->version) {
        options->command = COMMAND_VERSION;
    }
    if (options->command == COMMAND_HELP || options->command == COMMAND_VERSION)
        return STATUS_OK;
    return check_together(options, error);
}

/* --- a file's settings ------------------------------------------------------------------------------------------- */

const char *options_setting_name(enum option_id id, char *text, size_t size)
{
    snprintf(text, size, "%s", OPTION_ROWS[id].name);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '-')
            *c = '_';
    return text;
}

static enum option_id find_setting(const char *name)
{
    char text[SETTING_BYTES];
    int id = 0;
    while (id < OPTION_COUNT &&
           !(OPTION_ROWS[id].setting && strcmp(options_setting_name((enum option_id)id, text, sizeof text), name) == 0))
        id++;
    return (enum option_id)id;
}

bool options_takes_setting(enum command command, const char *name)
{
    const enum option_id id = find_setting(name);
    return id < OPTION_COUNT && (OPTION_ROWS[id].commands & COMMAND_BIT(command)) != 0;
}

static enum status unknown_setting(const char *source, const char *name, struct error *error)
{
    char texts[OPTION_COUNT][SETTING_BYTES], hint[128];
    const char *names[OPTION_COUNT];
    for (int id = 0; id < OPTION_COUNT; id++)
        names[id] =
            OPTION_ROWS[id].setting ? options_setting_name((enum option_id)id, texts[id], sizeof texts[id]) : NULL;
    suggest_hint(hint, sizeof hint, "", name, names, OPTION_COUNT);
    return error_usage(error, "%s: settings: unknown name '%.80s'%s", source, name,
                       hint[0] ? hint : "; settings are the options that change numbers");
}

/* What a setting of that option may be; a whole number may also be a string of digits. */
static bool kind_fits(const struct option_row *row, enum setting_kind kind)
{
    switch (row->kind) {
    case OPTION_FLAG:
        return kind == SETTING_TRUTH;
    case OPTION_CHOICE:
        return kind == SETTING_TEXT;
    case OPTION_PROBABILITY:
    case OPTION_REAL:
        return kind == SETTING_NUMBER || kind == SETTING_INEXACT;
    default:
        return kind == SETTING_NUMBER || kind == SETTING_TEXT;
    }
}

static enum status wrong_kind(const struct option_row *row, const struct setting *setting, const char *place,
                              struct error *error)
{
    static const char *const EXPECTED[] = {
        [OPTION_FLAG] = "true or false", [OPTION_WHOLE] = "a whole number", [OPTION_PROBABILITY] = "a number",
        [OPTION_REAL] = "a number",      [OPTION_CHOICE] = "a string",      [OPTION_TEXT] = "a string or a number",
    };
    static const char *const GOT[] = {
        [SETTING_NUMBER] = "a number", [SETTING_TEXT] = "a string", [SETTING_TRUTH] = "a boolean"};
    if (setting->kind == SETTING_INEXACT && row->kind == OPTION_WHOLE)
        return error_usage(error, "%s: a number from 2^53 on loses digits in JSON; expected a string of digits", place);
    return error_usage(error, "%s: expected %s, got %s", place, EXPECTED[row->kind],
                       setting->kind <= SETTING_TRUTH ? GOT[setting->kind] : setting->text);
}

enum status options_setting(struct options *options, const struct setting *setting, const char *source,
                            struct error *error)
{
    char place[TEXT_PATH_BYTES + 64];
    const enum option_id id = find_setting(setting->name);
    if (id == OPTION_COUNT)
        return unknown_setting(source, setting->name, error);
    const struct option_row *row = &OPTION_ROWS[id];
    const bool taken = row->commands & COMMAND_BIT(options->command) && row->commands & COMMAND_BIT(options->mechanism);
    if (!taken || options->origin[id] == ORIGIN_COMMAND_LINE)
        return STATUS_OK;
    snprintf(place, sizeof place, "%s: settings: %s", source, setting->name);
    if (!kind_fits(row, setting->kind))
        return wrong_kind(row, setting, place, error);
    enum status status = store(options, id, place, setting->text, error);
    options->origin[id] = ORIGIN_FILE;
    return status;
}
