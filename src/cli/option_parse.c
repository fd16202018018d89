/* SPDX-License-Identifier: MIT */
#include "cli/help_lines.h"
#include "cli/option_check.h"
#include "cli/option_value.h"

#include "base/suggest.h"
#include "base/text.h"
#include "lesson/lessons.h"
#include "model/stage_id.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* What getopt_long returns beside letters: a word that is no option, and from FIRST_LONG on the long options. */
enum { PLAIN_WORD = 1, FIRST_LONG = 256 };

/* Each option has two long names at most, its own and an alias. */
enum { LETTERS_BYTES = 2 + 2 * OPTION_COUNT + 1, LONGS = 2 * OPTION_COUNT + 1 };

/* Whether the command takes the option, with any mechanism that it may name. */
static bool takes(enum command command, enum option_id id)
{
    return options_takes(command, COMMANDS[command].mechanism, id);
}

/* The command or mechanism that others call so, of those that may stand there; `attn` alone also takes --version. */
static const char *meant_word(enum command command, const char *word)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        const enum command meant = (enum command)i;
        if ((command_takes(command, meant) || (command == COMMAND_HELP && meant == COMMAND_VERSION)) &&
            suggest_knows(command_foreign(meant), word))
            return command_name(meant);
    }
    return NULL;
}

/* A stage or an option in the place of the command, or of a page of the help. */
static void hint_of_no_command(const char *word, bool pages, struct text *hint)
{
    const enum stage stage = stage_find(word, strlen(word));
    const enum option_id found = options_find(word, strlen(word)), meant = options_meant(word);
    const enum option_id id = found != OPTION_COUNT ? found : meant;
    if (pages && (stage_exists(stage) || id != OPTION_COUNT))
        text_add(hint, "; options are in attn help all, stages in man attn");
    else if (stage_exists(stage))
        text_add(hint, "; it is a stage: attn COMMAND --stages %s", stage_name(stage));
    else if (id != OPTION_COUNT)
        text_add(hint, "; it is an option: attn COMMAND --%s", OPTIONS[id].name);
}

/* A word that is none of those that may stand behind the command. */
static enum status unknown_word(enum command command, bool pages, const char *word, struct error *error)
{
    struct command_word words[COMMAND_WORDS];
    const char *names[COMMAND_WORDS], *meant = meant_word(command, word);
    const size_t count = command_words(command, pages, words);
    char hint[256];
    struct text text = text_begin(hint, sizeof hint);
    for (size_t i = 0; i < count; i++)
        names[i] = words[i].name;
    if (meant == NULL)
        meant = suggest_word(word, names, count);
    if (command == COMMAND_HELP && !pages && help_page_find(word) != HELP_PAGE_COUNT)
        return error_usage(error, "'%.80s' is a page of the help: attn help %.80s", word, word);
    const char *line = help_class_line(word);
    if (line != NULL)
        return error_usage(error, "'%.80s' is a class: %s; attn help classes has them all", word, line);
    if (meant != NULL)
        text_add(&text, "; did you mean '%s'?", meant);
    else if (command == COMMAND_HELP)
        hint_of_no_command(word, pages, &text);
    for (size_t i = 0, none = text.length; i < count && none == 0; i++)
        text_add(&text, "%s %s", i == 0 ? "; expected" : ",", names[i]);
    return error_usage(error, "unknown %s '%.80s'%s",
                       COMMANDS[command].words == WORDS_MECHANISM ? "mechanism" : "command", word, hint);
}

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

static enum status refuse(const struct options *options, enum option_id id, struct error *error)
{
    return option_refuse(options->command, COMMANDS[options->command].mechanism, id, error);
}

/* What others have an option for, and attn none. */
static const struct {
    const char *foreign, *hint;
} NO_OPTIONS[] = {
    {"headdim dhead headsize dk dv", "a head has d_out / heads columns: --d-out and --heads say it"},
    {"png jpg jpeg pdf gif", "the computing commands draw SVG: --format svg"},
    {"batchfirst", "a batch is always B x T x d_in"},
    {"batchsize batch", "a batch is inputs of B x T x d_in"},
    {"device cuda gpu", "it computes on the processor"},
    {"numlayers nlayers layers", "it computes one attention module"},
    {"needweights averageattnweights returnattention outputattentions", "--stages weights shows them"},
    {"eval train training", "dropout is off unless --dropout turns it on"},
    {"enablegqa", "key and value may have fewer heads than query"},
    {"kvcache usecache pastkeyvalues past", "a cache is \"past_key\" and \"past_value\" in the input of attn sdpa"},
    {"attnmask attentionmask keypaddingmask mask", "a mask is \"attn_mask\" in the input"},
};

/* What others call so is done by an option with a certain value, or is not quite what that does. */
static const struct {
    enum option_id by;
    const char *foreign, *hint;
} OTHERWISE[] = {
    {OPTION_PROGRESS, "quiet silent", "use --progress never"},
    {OPTION_D_OUT, "dim", "the inputs say how wide they are, --d-out how wide query, key and value are"},
};

/* What to tell of an option that is none, into the hint (size bytes): which one of the command others call so, or that
 * there is none for it. */
static void hint_of_foreign(const struct options *options, const char *name, char *hint, size_t size)
{
    const enum option_id meant = options_meant(name);
    const enum format format = format_find(name);
    struct text text = text_begin(hint, size);
    if (format != FORMAT_COUNT && takes(options->command, OPTION_FORMAT))
        text_add(&text, "; did you mean '--format %s'?", FORMATS[format].name);
    else if (meant != OPTION_COUNT && takes(options->command, meant))
        text_add(&text, "; did you mean '--%s'?", OPTIONS[meant].name);
    for (size_t i = 0; i < sizeof OTHERWISE / sizeof OTHERWISE[0] && text.length == 0; i++)
        if (takes(options->command, OTHERWISE[i].by) && suggest_knows(OTHERWISE[i].foreign, name))
            text_add(&text, "; %s", OTHERWISE[i].hint);
    for (size_t i = 0; i < sizeof NO_OPTIONS / sizeof NO_OPTIONS[0] && text.length == 0; i++)
        if (suggest_knows(NO_OPTIONS[i].foreign, name))
            text_add(&text, "; %s", NO_OPTIONS[i].hint);
}

static enum status unknown_option(const struct options *options, const char *word, struct error *error)
{
    const char *names[OPTION_COUNT];
    char name[80], hint[128];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    hint_of_foreign(options, name + strspn(name, "-"), hint, sizeof hint);
    if (hint[0] != '\0')
        return error_usage(error, "unknown option '%s'%s", name, hint);
    if (options_meant(name) != OPTION_COUNT)
        return refuse(options, options_meant(name), error);
    for (int id = 0; id < OPTION_COUNT; id++)
        names[id] = takes(options->command, (enum option_id)id) ? OPTIONS[id].name : NULL;
    const bool known = completed(name + strspn(name, "-"), names) != NULL ||
                       suggest_word(name + strspn(name, "-"), names, OPTION_COUNT) != NULL;
    for (int id = 0; id < OPTION_COUNT && !known; id++) /* near to no option of this command: of any */
        names[id] = OPTIONS[id].name;
    const char *bare = name + strspn(name, "-");
    const char *whole = completed(bare, names);
    if (whole != NULL)
        snprintf(hint, sizeof hint, "; did you mean '--%s'?", whole);
    else
        suggest_hint(hint, sizeof hint, "--", bare, names, OPTION_COUNT);
    return error_usage(error, "unknown option '%s'%s", name, hint[0] ? hint : "; attn --help lists the options");
}

static enum status two_inputs(const struct options *options, const char *word, struct error *error)
{
    const enum stage stage = stage_find(word, strlen(word));
    char hint[64] = "";
    if (stage != STAGE_NAMES)
        snprintf(hint, sizeof hint, ", and a stage as --stages %s", stage_name(stage));
    else if (suggest_knows("true false yes no on off", word))
        strcpy(hint, ", and no value behind a flag");
    return error_usage(error, "two inputs, '%.80s' and '%.80s'; expected one%s", options->in, word, hint);
}

static enum status take_option(struct options *options, enum option_id id, const char *argument, struct error *error)
{
    const struct option_row *row = &OPTIONS[id];
    char place[48];
    if (!takes(options->command, id))
        return refuse(options, id, error);
    if (id == OPTION_IN && options->origin[OPTION_IN] == ORIGIN_COMMAND_LINE)
        return two_inputs(options, argument, error);
    snprintf(place, sizeof place, "--%s", row->name);
    enum status status = option_store(options, id, place, argument, error);
    options->origin[row->kind == OPTION_NEGATION ? row->negated : id] = ORIGIN_COMMAND_LINE;
    return status;
}

static enum status take_topic(struct options *options, const char *word, struct error *error)
{
    if (options->topic != COMMAND_COUNT || options->page != HELP_PAGE_COUNT)
        return error_usage(error, "unexpected '%.80s'; expected one command", word);
    const enum command found = command_find(word);
    options->page = help_page_find(word);
    if (options->page != HELP_PAGE_COUNT)
        return STATUS_OK;
    if (found == COMMAND_COUNT || !command_takes(options->command, found))
        return unknown_word(options->command, true, word, error);
    options->topic = found;
    return STATUS_OK;
}

/* All of them are told, a line each. */
static enum status take_example(struct options *options, const char *word, struct error *error)
{
    if (options->file_count++ > 0)
        return error_usage(error, "unexpected '%.80s'; expected one example", word);
    options->example = example_find(word);
    if (options->example != EXAMPLE_COUNT)
        return STATUS_OK;
    struct text detail = text_begin(error->detail, sizeof error->detail);
    for (size_t example = 0; example < EXAMPLE_COUNT; example++)
        text_add(&detail, "    %-15s%s\n", EXAMPLES[example].name, EXAMPLES[example].sentence);
    return error_usage(error, "unknown example '%.80s'; expected one of these:", word);
}

/* All of them are told, as an example is. */
static enum status take_lesson(struct options *options, const char *word, struct error *error)
{
    char *end;
    struct text detail = text_begin(error->detail, sizeof error->detail);
    if (options->file_count++ > 0)
        return error_usage(error, "unexpected '%.80s'; expected one lesson", word);
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
    if (found == COMMAND_COUNT || !command_takes(options->command, found))
        return unknown_word(options->command, false, word, error);
    options->mechanism = COMMANDS[found].mechanism;
    return STATUS_OK;
}

/* A word that is no option. */
static enum status take_word(struct options *options, char *word, struct error *error)
{
    switch (COMMANDS[options->command].words) {
    case WORDS_NONE:
        return error_usage(error, "unexpected '%.80s'; expected attn %s alone", word, command_name(options->command));
    case WORDS_EXAMPLE:
        return take_example(options, word, error);
    case WORDS_LESSON:
        return take_lesson(options, word, error);
    case WORDS_TOPIC:
        return take_topic(options, word, error);
    case WORDS_FOLDER:
        if (options->file_count > 0)
            return error_usage(error, "two folders, '%.80s' and '%.80s'; expected one", options->files[0], word);
        options->files[options->file_count++] = word;
        return STATUS_OK;
    case WORDS_FILES:
        options->files[options->file_count++] = word;
        return STATUS_OK;
    case WORDS_MECHANISM:
        if (options->mechanism == MECHANISM_COUNT)
            return take_mechanism(options, word, error);
        break;
    case WORDS_INPUT:
    case WORDS_AS_THEY_ARE:
        break;
    }
    return take_option(options, OPTION_IN, word, error);
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
        const struct option_row *row = &OPTIONS[id];
        *longs++ = (struct option){row->name, argument_of(row), NULL, FIRST_LONG + id};
        if (row->alias != NULL)
            *longs++ = (struct option){row->alias, argument_of(row), NULL, FIRST_LONG + id};
        if (row->letter != '\0')
            *letters++ = row->letter;
        if (row->letter != '\0' && row->argument != NULL)
            *letters++ = ':';
    }
    *letters = '\0';
    *longs = (struct option){0};
}

/* A long name behind one dash, which getopt would take for letters. */
static enum status check_dashes(const char *word, struct error *error)
{
    const size_t length = strcspn(word, "=");
    if (word[0] != '-' || word[1] == '-' || length <= 2)
        return STATUS_OK;
    const enum option_id id = options_find(word + 1, length - 1);
    if (id == OPTION_COUNT)
        return STATUS_OK;
    return error_usage(error, "unknown option '%.*s'; a long name has two dashes: --%s", (int)length, word,
                       OPTIONS[id].name);
}

/* Names in Python have _ where options have -: of a word that is an option with one, the argument as getopt knows
 * it. */
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
    int id = 0;
    while (id < OPTION_COUNT && OPTIONS[id].letter != letter)
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
        return unknown_option(options, is_long || word[1] == optopt ? word : letter, error);
    }
    const struct option_row *row = &OPTIONS[id];
    if (is_long && options_find_long(word) != (enum option_id)id)
        return unknown_option(options, word, error);
    if (!takes(options->command, (enum option_id)id))
        return refuse(options, (enum option_id)id, error);
    if (code == ':')
        return error_usage(error, "--%s needs a value: --%s %s", row->name, row->name, row->argument);
    return error_usage(error, "--%s takes no value; it is given or left out", row->name);
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
    if (options_find_long(word) != (enum option_id)(code - FIRST_LONG)) /* getopt completes abbreviations */
        return unknown_option(options, word, error);
    return take_option(options, (enum option_id)(code - FIRST_LONG), optarg, error);
}

/* "weights:2,3", or "grad_W_query.weight:1,2", so that it is told from a FILE behind an option whose argument may be
 * missing; or a stage alone, which is no cell, and told so. */
static bool looks_like_cell(const char *word)
{
    const size_t letters = strspn(word, "abcdefghijklmnopqrstuvwxyzW_.");
    const bool other = strcmp(word, "all") == 0 || strcmp(word, "config") == 0;
    const bool stage = stage_exists(stage_find(word, strlen(word))) || other;
    return letters > 0 && (word[letters] == ':' || stage);
}

static enum status parse_words(struct options *options, int argc, char **argv, struct error *error)
{
    char letters[LETTERS_BYTES];
    struct option longs[LONGS];
    describe_options(letters, longs);
    opterr = 0;
    optind = 1;
    options->files = argv; /* words take the places of those that are already read */
    for (;;) {
        char nothing[] = "", *word = optind < argc ? argv[optind] : nothing;
        read_underscores(word);
        if (check_dashes(word, error) != STATUS_OK)
            return error->status;
        int code = getopt_long(argc, argv, letters, longs, NULL);
        if (code == -1)
            break;
        if (code >= FIRST_LONG && OPTIONS[code - FIRST_LONG].optional && optarg == NULL && optind < argc &&
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

/* A first word that is no command; --help may stand in its place. */
static enum status take_first(struct options *options, const char *word, struct error *error)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        options->help = true;
        return STATUS_OK;
    }
    if (word[0] == '-' && suggest_word(word + strspn(word, "-"), (const char *const[]){"help", "version"}, 2) != NULL)
        return unknown_option(options, word, error);
    if (word[0] == '-' && word[1] != '\0' && !suggest_knows(command_foreign(COMMAND_VERSION), word))
        return error_usage(error, "the command comes first: attn COMMAND %.80s ...; attn --help lists the commands",
                           word);
    if (strpbrk(word, "./") != NULL && meant_word(COMMAND_HELP, word) == NULL)
        return error_usage(error, "the command comes first: attn COMMAND %.80s; attn --help lists the commands", word);
    return unknown_word(COMMAND_HELP, false, word, error);
}

/* The first word is the command, --version among them. */
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

static enum status store_defaults(struct options *options, struct error *error)
{
    for (int id = 0; id < OPTION_COUNT; id++)
        if (OPTIONS[id].initial != NULL &&
            option_store(options, (enum option_id)id, OPTIONS[id].name, OPTIONS[id].initial, error) != STATUS_OK)
            return error->status;
    return STATUS_OK;
}

enum status options_parse(struct options *options, int argc, char **argv, struct error *error)
{
    *options = (struct options){
        .command = COMMAND_HELP, .topic = COMMAND_COUNT, .page = HELP_PAGE_COUNT, .mechanism = MECHANISM_COUNT};
    if (store_defaults(options, error) != STATUS_OK)
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
