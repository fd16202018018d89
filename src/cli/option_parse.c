#include "cli/option_check.h"
#include "cli/option_value.h"

#include "base/suggest.h"

#include <getopt.h>
#include <string.h>

/* What getopt_long returns beside letters: a word that is no option, and from FIRST_LONG on the long options. */
enum { PLAIN_WORD = 1, FIRST_LONG = 256 };

enum { LETTERS_BYTES = 2 + 2 * OPTION_COUNT + 1 };

/* Whether the command takes the option, with any mechanism that it may name. */
static bool takes(enum command command, enum option_id id)
{
    return options_takes(command, COMMANDS[command].mechanism, id);
}

/* A word that is none of those that the command takes. */
static enum status unknown_word(enum command command, const char *word, struct error *error)
{
    const char *names[COMMAND_COUNT];
    char hint[256];
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = command_takes(command, (enum command)i) ? command_name((enum command)i) : NULL;
    suggest_hint(hint, sizeof hint, "", word, names, COMMAND_COUNT);
    if (hint[0] == '\0') {
        strcpy(hint, "; expected");
        for (int i = 0, first = 1; i < COMMAND_COUNT; i++)
            if (names[i] != NULL) {
                snprintf(hint + strlen(hint), sizeof hint - strlen(hint), "%s %s", first ? "" : ",", names[i]);
                first = 0;
            }
    }
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

static enum status unknown_option(const struct options *options, const char *word, struct error *error)
{
    const char *names[OPTION_COUNT];
    char name[80], hint[128];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
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

static enum status refuse(const struct options *options, enum option_id id, struct error *error)
{
    return option_refuse(options->command, COMMANDS[options->command].mechanism, id, error);
}

static enum status take_option(struct options *options, enum option_id id, const char *argument, struct error *error)
{
    const struct option_row *row = &OPTIONS[id];
    char place[48];
    if (!takes(options->command, id))
        return refuse(options, id, error);
    if (id == OPTION_IN && options->origin[OPTION_IN] == ORIGIN_COMMAND_LINE)
        return error_usage(error, "two inputs, '%.80s' and '%.80s'; expected one", options->in, argument);
    snprintf(place, sizeof place, "--%s", row->name);
    enum status status = option_store(options, id, place, argument, error);
    options->origin[row->kind == OPTION_NEGATION ? row->negated : id] = ORIGIN_COMMAND_LINE;
    return status;
}

static enum status take_topic(struct options *options, const char *word, struct error *error)
{
    if (options->topic != COMMAND_COUNT)
        return error_usage(error, "unexpected '%.80s'; expected one command", word);
    options->topic = command_find(word);
    return options->topic != COMMAND_COUNT && command_takes(options->command, options->topic)
               ? STATUS_OK
               : unknown_word(options->command, word, error);
}

static enum status take_mechanism(struct options *options, const char *word, struct error *error)
{
    const enum command found = command_find(word);
    if (found == COMMAND_COUNT || !command_takes(options->command, found))
        return unknown_word(options->command, word, error);
    options->mechanism = COMMANDS[found].mechanism;
    return STATUS_OK;
}

/* A word that is no option. */
static enum status take_word(struct options *options, char *word, struct error *error)
{
    switch (COMMANDS[options->command].words) {
    case WORDS_NONE:
        return error_usage(error, "unexpected '%.80s'; expected attn %s alone", word, command_name(options->command));
    case WORDS_TOPIC:
        return take_topic(options, word, error);
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
        return unknown_option(options, is_long ? word : letter, error);
    }
    const struct option_row *row = &OPTIONS[id];
    if (strlen(row->name) != strcspn(word + 2, "=") && is_long)
        return unknown_option(options, word, error);
    if (!takes(options->command, (enum option_id)id))
        return refuse(options, (enum option_id)id, error);
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
    if (strcspn(word + 2, "=") != strlen(OPTIONS[code - FIRST_LONG].name)) /* getopt completes abbreviations */
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
    if (word[0] == '-' && word[1] != '\0')
        return error_usage(error, "the command comes first: attn COMMAND %.80s ...; attn --help lists the commands",
                           word);
    return unknown_word(COMMAND_HELP, word, error);
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
    *options = (struct options){.command = COMMAND_HELP, .topic = COMMAND_COUNT, .mechanism = MECHANISM_COUNT};
    if (store_defaults(options, error) != STATUS_OK)
        return error->status;
    enum status status = parse_command(options, argc, argv, error);
    if (status != STATUS_OK)
        return status;
    if (options->help && options->command != COMMAND_HELP) {
        options->topic = options->command;
        options->command = COMMAND_HELP;
    } else if (options->version) {
        options->command = COMMAND_VERSION;
    }
    const bool works = command_is_listed(options->command) && options->command != COMMAND_HELP;
    return works ? option_check(options, error) : STATUS_OK;
}
