/* SPDX-License-Identifier: MIT */
#include "cli/help.h"
#include "cli/option_value.h"

#include "base/suggest.h"
#include "base/text.h"
#include "lesson/lessons.h"
#include "model/stage_id.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Values that getopt_long returns besides letters: for a word that is no option, and from FIRST_LONG on for long
 * options, then for synonyms. */
enum { PLAIN_WORD = 1, FIRST_LONG = 256, FIRST_SYNONYM = FIRST_LONG + OPTION_COUNT };

/* Each option has at most two long names, its own and an alias. */
enum { LETTERS_BYTES = 2 + 2 * OPTION_COUNT + 1, LONGS = 2 * OPTION_COUNT + OPTION_SYNONYMS + 1 };

/* Whether the command takes the option, with any mechanism that it may name. */
static bool takes(enum command command, enum option_id id)
{
    return options_takes(command, COMMANDS[command].mechanism, id);
}

/* The command or mechanism with that foreign name that may follow the command; or --version after a bare `attn`. */
static const char *meant_word(enum command command, const char *word)
{
    for (enum command meant = 0; meant < COMMAND_COUNT; meant++) {
        if ((command_takes(command, meant) || (command == COMMAND_HELP && meant == COMMAND_VERSION)) &&
            suggest_knows(command_foreign(meant), word))
            return command_name(meant);
    }
    return NULL;
}

/* Adds a hint for a stage, a format or an option typed as a command, or as a page of the help. */
static void hint_of_no_command(const char *word, bool pages, struct text *hint)
{
    const enum stage stage = stage_find(word, strlen(word)), other = stage_meant(word);
    const enum option_id found = options_find(word, strlen(word)), meant = options_meant(word);
    const enum option_id id = found != OPTION_COUNT ? found : meant;
    const enum format format = format_find(word);
    enum command first = 0;
    while (id != OPTION_COUNT && !takes(first, id))
        first++;
    const bool valued = id != OPTION_COUNT && OPTIONS[id].argument != NULL && !OPTIONS[id].optional;
    if (pages && stage_exists(stage))
        text_add(hint, "; it is a stage: type attn help stages");
    else if (pages && id != OPTION_COUNT)
        text_add(hint, "; it is an option: type attn help all");
    else if (stage_exists(stage) || stage_exists(other))
        text_add(hint, "; for that stage type attn self FILE --stages %s",
                 stage_name(stage_exists(stage) ? stage : other));
    else if (format != FORMAT_COUNT)
        text_add(hint, "; for that format type attn self FILE --format %s", FORMATS[format].name);
    else if (id != OPTION_COUNT)
        text_add(hint, "; it is an option: type attn %s FILE --%s%s%s", command_name(first), OPTIONS[id].name,
                 valued ? " " : "", valued ? OPTIONS[id].argument : "");
}

static enum status unknown_word(enum command command, bool pages, const char *word, struct error *error)
{
    struct command_word words[COMMAND_WORDS];
    const char *names[COMMAND_WORDS], *meant = meant_word(command, word);
    const size_t count = command_words(command, pages, words);
    char hint[256];
    struct text text = text_begin(hint, sizeof hint);
    const bool behind = command != COMMAND_HELP || pages;
    for (size_t i = 0; i < count; i++)
        names[i] = words[i].name;
    const char *nearest = suggest_word(word, names, count);
    if (nearest != NULL && (meant == NULL || pages))
        meant = nearest;
    if (command == COMMAND_HELP && !pages && help_page_find(word) != HELP_PAGE_COUNT)
        return error_usage(error, "'%.80s' is a page of the help: type attn help %.80s", word, word);
    const char *line = help_class_line(word);
    if (line != NULL)
        return error_usage(error, "'%.80s' is a class: type %s; attn help classes lists more", word, line);
    if (meant != NULL)
        text_add(&text, "; did you mean 'attn %s%s%s'?", behind ? command_name(command) : "", behind ? " " : "", meant);
    else if (command == COMMAND_HELP)
        hint_of_no_command(word, pages, &text);
    for (size_t i = 0, none = text.length; i < count && none == 0; i++)
        text_add(&text, "%s %s", i == 0 ? "; expected" : ",", names[i]);
    return error_usage(error, "unknown %s '%.80s'%s", command_names_mechanism(command) ? "mechanism" : "command", word,
                       hint);
}

static enum status refuse(const struct options *options, enum option_id id, struct error *error)
{
    return option_refuse(options->command, COMMANDS[options->command].mechanism, id, error);
}

/* Options of other programs that attn lacks, or has in another form: the hint for commands that take an option (all:
 * OPTION_COUNT), and for the others; NULL: none. */
static const struct {
    enum option_id by;
    const char *foreign, *hint, *otherwise;
} NO_OPTIONS[] = {
    {OPTION_SCALE, "noscale noscaling unscaled", "type --scale off", NULL},
    {OPTION_D_OUT, "dim width", "type --d-out N for the width of query, key and value; the inputs have their own",
     NULL},
    {OPTION_D_OUT, "headdim dhead headsize dk dv", "type --d-out N: the columns of all heads together",
     "the head size is the width of query"},
    {OPTION_HEATMAP, "jpg jpeg image picture", "attn draws SVG, PNG and PDF: type --out picture.svg, .png or .pdf",
     "for a picture type attn self FILE --format svg"},
    {OPTION_THREADS, "j", "type --threads N", NULL},
    {OPTION_KERNEL, "flash flashattention flashattn",
     "long jobs take such a kernel by themselves; type --kernel fused for any", NULL},
    {OPTION_QUERY, "n", "type --query N for one token, --random 6x3 for six drawn ones", NULL},
    {OPTION_EXPLAIN, "v", "type --version, or --explain for the arithmetic", NULL},
    {OPTION_COUNT, "batchfirst", "a batch is always B x T x d_in", NULL},
    {OPTION_COUNT, "batchsize batch", "a batch is an input of B x T x d_in: type --random 2x6x3, or give a file of it",
     NULL},
    {OPTION_COUNT, "device cuda gpu", "attn computes on the processor: leave it out, or type --threads N", NULL},
    {OPTION_COUNT, "numlayers nlayers layers", "attn computes one attention module: leave it out", NULL},
    {OPTION_COUNT, "needweights averageattnweights returnattention outputattentions", "type --stages weights", NULL},
    {OPTION_COUNT, "eval train training", "dropout is off unless you type --dropout P", NULL},
    {OPTION_COUNT, "enablegqa", "leave it out: key and value may have fewer heads than query", NULL},
    {OPTION_COUNT, "kvcache usecache pastkeyvalues past",
     "type attn causal FILE --steps, or give attn sdpa \"past_key\" and \"past_value\"", NULL},
    {OPTION_CAUSAL, "attnmask attentionmask keypaddingmask mask",
     "type --causal for the causal mask, or give \"attn_mask\" in the input",
     "type attn causal FILE for the causal mask, or give \"attn_mask\" in the input"},
    {OPTION_COUNT, "embedding embeddings vocab text sentence prompt",
     "the input has the embeddings, a row for each token; attn example prints one", NULL},
};

/* Writes what to type for an unknown option into hint (size bytes), or "". */
static void hint_of_foreign(const struct options *options, const char *name, char *hint, size_t size)
{
    const enum option_id meant = options_meant(name);
    struct text text = text_begin(hint, size);
    if (meant != OPTION_COUNT && takes(options->command, meant))
        text_add(&text, "; did you mean '--%s'?", OPTIONS[meant].name);
    const enum stage found = stage_find(name, strlen(name)), stage = stage_exists(found) ? found : stage_meant(name);
    if (options->mechanism == MECHANISM_SDPA && (stage == STAGE_KEY || stage == STAGE_VALUE))
        text_add(&text, "; give query, key and value by name in one FILE");
    if (text.length == 0 && name[0] != '\0' && name[1] != '\0' && stage_exists(stage) &&
        takes(options->command, OPTION_STAGES))
        text_add(&text, "; for that stage type --stages %s", stage_name(stage));
    for (size_t i = 0; i < sizeof NO_OPTIONS / sizeof NO_OPTIONS[0] && text.length == 0; i++) {
        const bool taken = NO_OPTIONS[i].by == OPTION_COUNT || takes(options->command, NO_OPTIONS[i].by);
        const char *line = taken ? NO_OPTIONS[i].hint : NO_OPTIONS[i].otherwise;
        if (line != NULL && suggest_knows(NO_OPTIONS[i].foreign, name))
            text_add(&text, "; %s", line);
    }
}

static int argument_of(const struct option_row *row)
{
    return row->argument == NULL ? no_argument : row->optional ? optional_argument : required_argument;
}

/* The short string for getopt: "-" keeps the order of words, ":" reports a missing argument by its own code. */
static void describe_letters(char *letters)
{
    *letters++ = '-';
    *letters++ = ':';
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_row *row = &OPTIONS[id];
        if (row->letter != '\0')
            *letters++ = row->letter;
        if (row->letter != '\0' && row->argument != NULL && !row->optional)
            *letters++ = ':';
    }
    *letters = '\0';
}

/* Lists the long names that the command takes, for getopt and abbreviations. */
static void describe_longs(enum command command, struct option *longs)
{
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        const struct option_row *row = &OPTIONS[id];
        if (!takes(command, id))
            continue;
        *longs++ = (struct option){row->name, argument_of(row), NULL, FIRST_LONG + (int)id};
        if (row->alias != NULL)
            *longs++ = (struct option){row->alias, argument_of(row), NULL, FIRST_LONG + (int)id};
    }
    for (int i = 0; i < OPTION_SYNONYMS; i++)
        if (takes(command, SYNONYMS[i].id))
            *longs++ = (struct option){SYNONYMS[i].name, no_argument, NULL, FIRST_SYNONYM + i};
    *longs = (struct option){0};
}

/* The first long name that begins with the word, and in *count how many options do; an exact name counts as one. */
static const struct option *find_long(const struct option *longs, const char *word, size_t *count)
{
    const char *name = word + strlen("--");
    const size_t length = strcspn(name, "=");
    const struct option *first = NULL;
    *count = 0;
    for (; longs->name != NULL; longs++) {
        if (strncmp(longs->name, name, length) != 0)
            continue;
        if (longs->name[length] == '\0') {
            *count = 1;
            return longs;
        }
        *count += first == NULL || longs->val != first->val;
        first = first == NULL ? longs : first;
    }
    return first;
}

/* Whether the command takes a long option, in full or abbreviated. A foreign name is no abbreviation: --mask is not
 * --mask-true; nor is an option of another command: --head is not --heads. */
static bool is_long_option(const struct options *options, const struct option *longs, const char *word)
{
    char hint[160], name[48];
    size_t count;
    const struct option *found = find_long(longs, word, &count);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    if (count != 1 || name[0] == '\0' || strcmp(found->name, name) == 0)
        return count == 1 && name[0] != '\0';
    if (options_find_long(word) != OPTION_COUNT)
        return false;
    hint_of_foreign(options, name, hint, sizeof hint);
    return hint[0] == '\0' || options_meant(name) == (enum option_id)(found->val - FIRST_LONG);
}

/* STATUS_USAGE for an unknown option that resembles an option of another command. */
static enum status refuse_meant(const struct options *options, const char *word, enum option_id meant,
                                struct error *error)
{
    char refusal[sizeof error->message];
    refuse(options, meant, error);
    strcpy(refusal, error->message);
    return error_usage(error, "unknown option '%s'; %s", word, refusal);
}

static enum status unknown_option(const struct options *options, const char *word, struct error *error)
{
    const char *names[OPTION_COUNT];
    char name[80], hint[160];
    struct option longs[LONGS];
    size_t count = 0;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const bool is_long = name[0] == '-' && name[1] == '-' && name[2] != '\0';
    const char *bare = name + strspn(name, "-");
    const enum option_id elsewhere = is_long ? options_find_long(word) : OPTION_COUNT;
    if (elsewhere != OPTION_COUNT)
        return refuse(options, elsewhere, error);
    hint_of_foreign(options, bare, hint, sizeof hint);
    if (hint[0] != '\0')
        return error_usage(error, "unknown option '%s'%s", name, hint);
    if (options_meant(bare) != OPTION_COUNT)
        return refuse_meant(options, name, options_meant(bare), error);
    describe_longs(options->command, longs);
    if (is_long)
        find_long(longs, name, &count);
    char list[512];
    struct text text = text_begin(list, sizeof list);
    for (const struct option *other = longs; count > 1 && other->name != NULL; other++)
        if (strncmp(other->name, bare, strlen(bare)) == 0)
            text_add(&text, "%s--%s", text.length > 0 ? ", " : "", other->name);
    if (count > 1)
        return error_usage(error, "%s is short for several options: type %s", name, list);
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        names[id] = takes(options->command, id) ? OPTIONS[id].name : NULL;
    suggest_hint(hint, sizeof hint, "--", bare, names, OPTION_COUNT);
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        names[id] = OPTIONS[id].name;
    const char *nearest = hint[0] == '\0' ? suggest_word(bare, names, OPTION_COUNT) : NULL;
    if (nearest != NULL)
        return refuse_meant(options, name, options_find(nearest, strlen(nearest)), error);
    if (hint[0] == '\0')
        snprintf(hint, sizeof hint, "; attn %s --help lists the options", command_name(options->command));
    return error_usage(error, "unknown option '%s'%s", name, hint);
}

/* Whether a word in the place of a file is a sentence. */
static bool is_sentence(const char *word)
{
    return strpbrk(word, "./-") == NULL && access(word, F_OK) != 0;
}

static enum status refuse_sentence(const char *word, struct error *error)
{
    return error_usage(
        error, "'%.80s' is not a file; attn reads numbers, a row for each token: attn example shows such a file", word);
}

static enum status two_inputs(const struct options *options, const char *word, struct error *error)
{
    const enum stage stage = stage_find(word, strlen(word));
    char hint[128] = "";
    if (stage != STAGE_NAMES)
        snprintf(hint, sizeof hint, ", and a stage as --stages %s", stage_name(stage));
    else if (suggest_knows("true false yes no on off", word))
        strcpy(hint, ", and a flag without a value");
    else if (options->mine == NULL && takes(options->command, OPTION_MINE))
        snprintf(hint, sizeof hint, ", and your table as --mine %.80s", word);
    else if (is_sentence(options->in) && is_sentence(word))
        return refuse_sentence(options->in, error);
    else if (options->mechanism == MECHANISM_LAYER && options->weights == NULL)
        snprintf(hint, sizeof hint, ", and the checkpoint as --weights %.80s", word);
    else if (options->mechanism == MECHANISM_SDPA)
        strcpy(hint, " that holds query, key and value, as numpy.savez(\"qkv.npz\", query=q, key=k, value=v) writes");
    return error_usage(error, "two inputs, '%.80s' and '%.80s'; give one%s", options->in, word, hint);
}

static enum status take_option(struct options *options, enum option_id id, const char *argument, struct error *error)
{
    const struct option_row *row = &OPTIONS[id];
    char place[48];
    if (!takes(options->command, id))
        return refuse(options, id, error);
    if (id == OPTION_IN && options->in != NULL)
        return two_inputs(options, argument, error);
    if (id == OPTION_IN && strchr(argument, ' ') != NULL && is_sentence(argument))
        return refuse_sentence(argument, error);
    if (id == OPTION_IN && (argument[0] == '[' || argument[0] == '{') && access(argument, F_OK) != 0)
        return error_usage(error, "'%.80s' is not a file; put it into one, or type echo '%.80s' | attn %s", argument,
                           argument, command_name(options->command));
    snprintf(place, sizeof place, "--%s", row->name);
    enum status status = option_store(options, id, place, argument, error);
    options->origin[row->kind == OPTION_NEGATION ? row->negated : id] = ORIGIN_COMMAND_LINE;
    return status;
}

static enum status take_topic(struct options *options, const char *word, struct error *error)
{
    if (options->topic != COMMAND_COUNT || options->page != HELP_PAGE_COUNT)
        return error_usage(error, "unexpected '%.80s'; type one command", word);
    const enum command found = command_find(word);
    options->page = help_page_find(word);
    if (options->page != HELP_PAGE_COUNT)
        return STATUS_OK;
    if (found == COMMAND_COUNT || !command_takes(options->command, found))
        return unknown_word(options->command, true, word, error);
    options->topic = found;
    return STATUS_OK;
}

static enum status take_example(struct options *options, const char *word, struct error *error)
{
    if (options->file_count++ > 0)
        return error_usage(error, "unexpected '%.80s'; type one example", word);
    options->example = example_find(word);
    if (options->example != EXAMPLE_COUNT)
        return STATUS_OK;
    struct text detail = text_begin(error->detail, sizeof error->detail);
    for (size_t example = 0; example < EXAMPLE_COUNT; example++)
        text_add(&detail, "    %-15s%s\n", EXAMPLES[example].name, EXAMPLES[example].sentence);
    return error_usage(error, "unknown example '%.80s'; expected one of these:", word);
}

static enum status take_lesson(struct options *options, const char *word, struct error *error)
{
    char *end;
    struct text detail = text_begin(error->detail, sizeof error->detail);
    if (options->file_count++ > 0)
        return error_usage(error, "unexpected '%.80s'; type one lesson", word);
    const bool number = word[0] >= '1' && word[0] <= '9' && strlen(word) < 4;
    options->lesson = number ? strtoul(word, &end, 10) : 0;
    if (options->lesson > 0 && *end == '\0' && options->lesson <= LESSON_COUNT)
        return STATUS_OK;
    for (size_t i = 1; i <= LESSON_COUNT; i++)
        text_add(&detail, "    %2zu  %s\n", i, LESSONS[i].title);
    return error_usage(error, "there is no lesson '%.80s'; expected one of these, 1 to %zu:", word, LESSON_COUNT);
}

static enum status take_mechanism(struct options *options, const char *word, struct error *error)
{
    const enum command found = command_find(word);
    if (strpbrk(word, "./") != NULL)
        return error_usage(error, "the mechanism comes before the file: type attn %s self %.80s",
                           command_name(options->command), word);
    if (found == COMMAND_COUNT || !command_takes(options->command, found))
        return unknown_word(options->command, false, word, error);
    options->mechanism = COMMANDS[found].mechanism;
    return STATUS_OK;
}

static enum status take_word(struct options *options, char *word, struct error *error)
{
    const enum command found = command_find(word);
    switch (COMMANDS[options->command].words) {
    case WORDS_NONE:
        return error_usage(error, "unexpected '%.80s'; type attn %s alone", word, command_name(options->command));
    case WORDS_EXAMPLE:
        return take_example(options, word, error);
    case WORDS_LESSON:
        return take_lesson(options, word, error);
    case WORDS_TOPIC:
        return take_topic(options, word, error);
    case WORDS_FOLDER:
        if (options->file_count > 0)
            return error_usage(error, "two folders, '%.80s' and '%.80s'; give one", options->files[0], word);
        options->files[options->file_count++] = word;
        return STATUS_OK;
    case WORDS_FILES:
        options->files[options->file_count++] = word;
        return STATUS_OK;
    case WORDS_MECHANISM:
        if (options->mechanism == MECHANISM_COUNT)
            return take_mechanism(options, word, error);
        break;
    case WORDS_PERHAPS:
        if (options->mechanism == MECHANISM_COUNT && options->in == NULL &&
            ((found != COMMAND_COUNT && command_takes(options->command, found)) ||
             (meant_word(options->command, word) != NULL && is_sentence(word))))
            return take_mechanism(options, word, error);
        if (COMMANDS[options->command].several && options->in != NULL) {
            options->files[options->file_count++] = word;
            return STATUS_OK;
        }
        break;
    case WORDS_INPUT:
    case WORDS_AS_THEY_ARE:
        break;
    }
    return take_option(options, OPTION_IN, word, error);
}

/* Rejects a long name after one dash, which getopt would read as letters, or after a typographic dash, which web pages
 * make of two. */
static enum status check_dashes(const char *word, struct error *error)
{
    const bool printed = strncmp(word, "\xe2\x80\x93", 3) == 0 || strncmp(word, "\xe2\x80\x94", 3) == 0;
    const size_t length = strcspn(word, "="), dash = printed ? 3 : 1;
    if (!printed && (word[0] != '-' || word[1] == '-' || length <= 2))
        return STATUS_OK;
    const enum option_id id = options_find(word + dash, length - dash);
    if (id == OPTION_COUNT)
        return STATUS_OK;
    return error_usage(error, "unknown option '%.*s'; a long name has two dashes: --%s", (int)length, word,
                       OPTIONS[id].name);
}

/* Turns _ in an option's name, as in Python, into -, as getopt needs it. */
static void read_underscores(char *word)
{
    if (word[0] != '-' || word[1] != '-' || options_find_long(word) == OPTION_COUNT)
        return;
    for (size_t i = strcspn(word, "="); i > 0; i--)
        if (word[i - 1] == '_')
            word[i - 1] = '-';
}

static enum option_id option_of_letter(int letter)
{
    enum option_id id = 0;
    while (id < OPTION_COUNT && OPTIONS[id].letter != letter)
        id++;
    return id;
}

/* STATUS_USAGE for a word that getopt rejected: an unknown option, or a missing or extra argument. */
static enum status refused(const struct options *options, int code, const char *word, struct error *error)
{
    const bool is_long = word[0] == '-' && word[1] == '-';
    const int id = is_long ? optopt - FIRST_LONG : (int)option_of_letter(optopt);
    if (id < 0 || (!is_long && id == OPTION_COUNT)) {
        char letter[3] = {'-', (char)optopt, '\0'};
        return unknown_option(options, is_long || word[1] == optopt ? word : letter, error);
    }
    if (id >= OPTION_COUNT)
        return error_usage(error, "--%s takes no value", SYNONYMS[optopt - FIRST_SYNONYM].name);
    const struct option_row *row = &OPTIONS[id];
    if (!takes(options->command, (enum option_id)id))
        return refuse(options, (enum option_id)id, error);
    char list[128];
    if (code == ':' && row->kind == OPTION_CHOICE)
        return error_usage(error, "--%s needs a value: %s", row->name, option_choices(row, list, sizeof list));
    if (code == ':')
        return error_usage(error, "--%s needs a value: --%s %s", row->name, row->name, row->argument);
    return error_usage(error, "--%s takes no value: type it alone, or leave it out", row->name);
}

/* Takes one finding of getopt; `word` is its beginning. */
static enum status take(struct options *options, int code, char *word, struct error *error)
{
    if (code == PLAIN_WORD)
        return take_word(options, word, error);
    if (code == '?' || code == ':')
        return refused(options, code, word, error);
    if (code < FIRST_LONG)
        return take_option(options, option_of_letter(code), optarg, error);
    if (code < FIRST_SYNONYM)
        return take_option(options, (enum option_id)(code - FIRST_LONG), optarg, error);
    const struct option_synonym *synonym = &SYNONYMS[code - FIRST_SYNONYM];
    return take_option(options, synonym->id, synonym->value, error);
}

/* Whether the word after an option is its optional argument, not FILE: the "all" of --help, "weights:2,3" or
 * "grad_W_query.weight:1,2"; also "all", "config", and a stage with brackets, for a better message. */
static bool is_argument(const struct option_row *row, const char *word)
{
    if (row->kind == OPTION_FLAG)
        return strcmp(word, row->argument) == 0;
    const size_t letters = strspn(word, "abcdefghijklmnopqrstuvwxyzW_.");
    const bool other = strcmp(word, "all") == 0 || strcmp(word, "config") == 0;
    const bool stage = stage_exists(stage_find(word, letters)) && strchr("[(", word[letters]) != NULL;
    return letters > 0 && (word[letters] == ':' || stage || other);
}

static enum status parse_words(struct options *options, int argc, char **argv, struct error *error)
{
    char letters[LETTERS_BYTES];
    struct option longs[LONGS];
    describe_letters(letters);
    describe_longs(options->command, longs);
    opterr = 0;
    optind = 1;
    options->files = argv; /* words overwrite those already read */
    for (;;) {
        char nothing[] = "", *word = optind < argc ? argv[optind] : nothing;
        read_underscores(word);
        if (check_dashes(word, error) != STATUS_OK)
            return error->status;
        if (word[0] == '-' && word[1] == '-' && word[2] != '\0' && !is_long_option(options, longs, word))
            return unknown_option(options, word, error);
        const bool dash = strcmp(word, "-") == 0; /* musl's getopt would end the options there */
        const int code = dash ? PLAIN_WORD : getopt_long(argc, argv, letters, longs, NULL);
        optind += dash;
        if (code == -1)
            break;
        if (code >= FIRST_LONG && code < FIRST_SYNONYM && OPTIONS[code - FIRST_LONG].optional && optarg == NULL &&
            optind < argc && is_argument(&OPTIONS[code - FIRST_LONG], argv[optind]))
            optarg = argv[optind++];
        if (take(options, code, word, error) != STATUS_OK)
            return error->status;
    }
    for (; optind < argc; optind++)
        if (take_word(options, argv[optind], error) != STATUS_OK)
            return error->status;
    return STATUS_OK;
}

/* Takes a first word that is no command, such as --help, or -V for --version. */
static enum status take_first(struct options *options, const char *word, struct error *error)
{
    static const char HELP_IS[] = "--help=";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        options->help = true;
        return STATUS_OK;
    }
    if (word[0] == '-' && word[1] == OPTIONS[OPTION_VERSION].letter && word[2] == '\0') {
        options->version = true;
        return STATUS_OK;
    }
    if (strncmp(word, HELP_IS, strlen(HELP_IS)) == 0) {
        options->help = true;
        return take_topic(options, word + strlen(HELP_IS), error);
    }
    if (word[0] == '-' && suggest_word(word + strspn(word, "-"), (const char *const[]){"help", "version"}, 2) != NULL)
        return unknown_option(options, word, error);
    if (word[0] == '-' && word[1] != '\0' && !suggest_knows(command_foreign(COMMAND_VERSION), word))
        return error_usage(
            error, "the command comes first: type attn COMMAND %.80s ...; attn --help lists the commands", word);
    if (strchr(word, ' ') != NULL && access(word, F_OK) != 0)
        return refuse_sentence(word, error);
    if (strpbrk(word, "./") != NULL && meant_word(COMMAND_HELP, word) == NULL)
        return error_usage(error, "the command comes first: type attn self %.80s, or attn page %.80s", word, word);
    return unknown_word(COMMAND_HELP, false, word, error);
}

static enum status parse_command(struct options *options, int argc, char **argv, struct error *error)
{
    if (argc < 2)
        return STATUS_OK;
    const enum command found = command_find(argv[1]);
    if (found == COMMAND_COUNT && take_first(options, argv[1], error) != STATUS_OK)
        return error->status;
    if (found != COMMAND_COUNT) {
        options->command = found;
        options->mechanism = COMMANDS[found].mechanism;
        options->help = found == COMMAND_HELP;
    }
    if (COMMANDS[options->command].words != WORDS_AS_THEY_ARE)
        return parse_words(options, argc - 1, argv + 1, error);
    options->files = argv + 2;
    options->file_count = (size_t)argc - 2;
    return STATUS_OK;
}

enum status options_parse(struct options *options, int argc, char **argv, struct error *error)
{
    *options = (struct options){
        .command = COMMAND_HELP, .topic = COMMAND_COUNT, .page = HELP_PAGE_COUNT, .mechanism = MECHANISM_COUNT};
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        if (OPTIONS[id].initial != NULL &&
            option_store(options, id, OPTIONS[id].name, OPTIONS[id].initial, error) != STATUS_OK)
            return error->status;
    enum status status = parse_command(options, argc, argv, error);
    if (status != STATUS_OK)
        return status;
    const bool asks_nothing = options->command == COMMAND_WHY && argc == 2;
    if ((options->help && options->command != COMMAND_HELP) || asks_nothing) {
        options->topic = options->command;
        options->command = COMMAND_HELP;
    } else if (options->version) {
        options->command = COMMAND_VERSION;
    }
    const bool works = command_is_listed(options->command) && options->command != COMMAND_HELP;
    return works ? option_check(options, error) : STATUS_OK;
}
