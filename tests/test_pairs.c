/* SPDX-License-Identifier: MIT */
/* Each option with each other option and with each format: pairs of values in rows of several, for every command that
 * computes. What comes out is read as its reader would read it, and compared with what the other formats have; what is
 * refused says why.
 *
 *   ATTN_PAIRS=triples  every three values, in ten minutes
 *   ATTN_PAIRS=SEED     the pairs in other rows, for any number
 *
 * Values come from the table of options and from the files of tests/pairs/inputs, operands and weights: what is added there
 * is tried. */
#include "check.h"
#include "pairs/agreement.h"
#include "pairs/batch.h"
#include "pairs/selfcheck.h"
#include "pairs/subject.h"
#include "pairs/times.h"
#include "support.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 11,          /* values of a row */
    ROWS_OF_A_PART = 90, /* of a command */
    ROWS_IF_SLOW = 60,   /* where processes are slow to start */
    MOST_SEEN = 512,
    MOST_WAITING = 1000, /* files for the readers that take many at once */
    PATH_BYTES = 512,
};

static const struct subject_row SUBJECTS[] = {
    {{"self"},
     COMMAND_SELF,
     {NULL},
     "tests/pairs/inputs",
     {"data/inputs.json", "tests/golden/binary/big-f2.npy", "--random=5x3"}},
    {{"causal"},
     COMMAND_CAUSAL,
     {NULL},
     "tests/pairs/inputs",
     {"data/inputs.json", "tests/golden/binary/batch.npy", "--random=2x5x3"}},
    {{"multihead"}, COMMAND_MULTIHEAD, {"-H", "2"}, "tests/pairs/inputs", {"data/inputs.json"}},
    {{"sdpa"},
     COMMAND_SDPA,
     {NULL},
     "tests/pairs/operands",
     {"data/grouped.json", "tests/golden/sdpa/bf16-bool-mask.safetensors", "--random=2x2x5x4"}},
    {{"layer"},
     COMMAND_LAYER,
     {"-w", "tests/layers/qwen3", "--layer", "1"},
     NULL,
     {"tests/layers/qwen3/hidden.npy", "tests/layers/qwen3/residual.npy"}},
    {{"init", "multihead"}, COMMAND_INIT, {"-H", "2"}, NULL, {"data/inputs.json", "tests/pairs/inputs/settings.json"}},
};
enum { SUBJECT_ROWS = sizeof SUBJECTS / sizeof SUBJECTS[0] };

/* Every value that some command has accepted, as "--name text". */
static struct {
    size_t count;
    char texts[MOST_SEEN][128];
    bool accepted[MOST_SEEN];
    bool refused[MOST_SEEN][MOST_SEEN]; /* two values, by a command before */
    size_t of[VALUES_MOST];             /* where each value of the present command stands here */
} seen;

static bool is_sample(void)
{
    return getenv("ATTN_WHOLE") == NULL;
}

/* --- what was never accepted ------------------------------------------------------------------------------------- */

static size_t seen_as(const struct value *value)
{
    char text[128];
    snprintf(text, sizeof text, "--%s %s", value->option->name, value->text != NULL ? value->text : "");
    size_t i = 0;
    while (i < seen.count && strcmp(seen.texts[i], text) != 0)
        i++;
    if (i == MOST_SEEN)
        abort();
    if (i == seen.count)
        strcpy(seen.texts[seen.count++], text);
    return i;
}

static void check_seen(void)
{
    for (size_t i = 0; i < seen.count; i++) {
        check_begin("%s is accepted somewhere", seen.texts[i]);
        if (!seen.accepted[i] && is_sample())
            check_skip("not with the values of this sample");
        else
            CHECK(seen.accepted[i], "no command line with it was accepted: what it is tried with must be more");
    }
}

/* --- what a row gives -------------------------------------------------------------------------------------------- */

/* Pages take node longest: without ATTN_WHOLE it reads one in three. */
static bool is_left(int kind)
{
    enum { READ_ONE_IN = 16 };
    static size_t pages;
    return kind == BATCH_PAGE && is_sample() && pages++ % READ_ONE_IN != 0;
}

/* Keeps what a program of the machine reads. */
static void check_by_others(const struct design_row *row, const char *format, const struct program_run *run)
{
    static const char *const READ_BY_OTHERS[BATCH_KINDS] = {"json", "svg", "html", "latex"};
    for (int kind = 0; kind < BATCH_KINDS; kind++) {
        struct program_run json = {0};
        if (strcmp(format, READ_BY_OTHERS[kind]) != 0 || is_left(kind))
            continue;
        if (kind != BATCH_PAGE || subject_run_as(row, "json", NULL, &json))
            batch_add((enum batch_kind)kind, subject.line, run->output, run->length, json.output, json.length, false);
        program_release(&json);
    }
}

static void check_other_formats(const struct design_row *row, const char *format, const struct program_run *run,
                                const struct reader_tables *tables)
{
    check_by_others(row, format, run);
    if (strcmp(format, "json") == 0) {
        agreement_of_numbers(row, tables);
        agreement_of_settings(row, run);
    }
    if (strcmp(format, "json") == 0 || strcmp(format, "safetensors") == 0) {
        if (subject.row->command == COMMAND_INIT)
            agreement_of_drawn(row, run, tables);
        else if (subject_value(row, "part") != NULL)
            agreement_of_parts(row);
        else
            agreement_again(row, format, run, tables);
    }
    if (strcmp(format, "npy") == 0)
        agreement_of_npy(row, tables);
    if (strcmp(format, "text") == 0 || strcmp(format, "latex") == 0 || strcmp(format, "markdown") == 0)
        agreement_of_shown(row, format, run);
}

/* Of a result nothing is said but warnings. */
static bool is_quiet(const char *message)
{
    for (; *message != '\0'; message = strchr(message, '\n') + 1)
        if (strncmp(message, "attn: warning:", 14) != 0 || strchr(message, '\n') == NULL)
            return false;
    return true;
}

/* Whether the rows of steps may have other bits: a step knows the length so far alone. */
static bool may_differ(const struct design_row *row)
{
    const struct value *empty = subject_value(row, "empty-row"), *scaling = subject_value(row, "rope-scaling");
    return (empty != NULL && strcmp(empty->text, "mean") == 0) ||
           (scaling != NULL &&
            (strncmp(scaling->text, "dynamic", 7) == 0 || strncmp(scaling->text, "longrope", 8) == 0));
}

static double number_of(const cJSON *object, const char *key)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, key);
    return CHECK(cJSON_IsNumber(number), "expected a number %s", key) ? number->valuedouble : 0;
}

/* Steps as JSON: their rows add up to all rows, which have the same bits. */
static void check_steps_json(const struct design_row *row, const char *json, int status)
{
    cJSON *tree = cJSON_Parse(json);
    double rows = 0, read = 0;
    const cJSON *step;
    cJSON_ArrayForEach(step, cJSON_GetObjectItemCaseSensitive(tree, "steps"))
    {
        rows += number_of(step, "rows");
        read += number_of(step, "numbers_read");
    }
    CHECK(rows > 0 && rows == number_of(tree, "rows") && read == number_of(tree, "numbers_read"),
          "%g rows and %g numbers do not add up", rows, read);
    CHECK((rows == number_of(tree, "same_rows")) == (status == 0), "status %d with %g of %g rows the same", status,
          number_of(tree, "same_rows"), rows);
    CHECK(status == 0 || may_differ(row), "rows have other bits than in the whole pass");
    cJSON_Delete(tree);
}

/* Steps have a table of their own; and the same as JSON. */
static void check_steps(const struct design_row *row, const struct program_run *run, bool to_file)
{
    const struct value *progress = subject_value(row, "progress");
    const char *format = subject_format(row);
    struct program_run json = {0};
    const bool shows = progress != NULL && strcmp(progress->text, "always") == 0;
    CHECK(shows || is_quiet(run->message), "standard error: %s", run->message);
    CHECK(run->there == to_file && run->left == 0, "%zu files beside the result", run->left);
    CHECK(strcmp(format, "text") != 0 || strstr(run->output, "\nstep  queries ") != NULL, "expected a table of steps");
    if (strcmp(format, "svg") == 0)
        batch_add(BATCH_SVG, subject.line, run->output, run->length, NULL, 0, false);
    if (strcmp(format, "json") == 0) {
        batch_add(BATCH_JSON, subject.line, run->output, run->length, NULL, 0, false);
        check_steps_json(row, run->output, run->status);
    } else if (may_differ(row) ? run->status < 2 : CHECK(run->status == 0, "status %d", run->status)) {
        struct command_words words;
        words_make(&words, row, "json", NULL);
        words_run(&words, false, &json);
        check_steps_json(row, json.output, json.status);
        program_release(&json);
    }
}

static void check_result(const struct design_row *row, const struct program_run *run, bool to_file)
{
    const char *format = subject_format(row);
    const struct value *progress = subject_value(row, "progress"), *stages = subject_value(row, "stages");
    struct reader_tables tables = {0};
    char complaint[COMPLAINT_BYTES];
    const bool shows = progress != NULL && strcmp(progress->text, "always") == 0;
    CHECK(shows || is_quiet(run->message), "standard error: %s", run->message);
    CHECK(run->there == to_file && run->left == 0, "the result %s, %zu files beside it",
          run->there ? "is there" : "is not there", run->left);
    if (subject_value(row, "heatmap") != NULL && (stages == NULL || strcmp(stages->text, "weights") == 0))
        CHECK(reader_width(run->output) <= subject_columns(), "%zu columns, expected at most %zu",
              reader_width(run->output), subject_columns());
    if (CHECK(reader_find(format)(run->output, run->length, &tables, complaint), "no %s: %s", format, complaint))
        check_other_formats(row, format, run, &tables);
    reader_release(&tables);
}

/* Whether the message has an option, or a word of the row: a file's name, a value. */
static bool names_something(const struct design_row *row, const char *message)
{
    char name[64];
    for (int id = 0; id < OPTION_COUNT; id++) {
        snprintf(name, sizeof name, "--%s", OPTIONS[id].name);
        if (strstr(message, name) != NULL)
            return true;
    }
    for (size_t i = 0; i < row->count; i++) {
        const char *text = subject.values.list[row->values[i]].text;
        if (text != NULL && strlen(text) > 2 && strstr(message, text) != NULL)
            return true;
    }
    return strstr(message, subject.files[0]) != NULL || strstr(message, "standard input") != NULL;
}

/* Of progress there may be something before it. */
static void check_refusal(const struct design_row *row, const struct program_run *run)
{
    const char *error = strstr(run->message, "attn: ");
    const bool begins = error != NULL && (error == run->message || subject_value(row, "progress") != NULL);
    CHECK(run->length == 0 && !run->there && run->left == 0, "%zu bytes of a result, %zu files", run->length,
          run->left);
    CHECK(begins && run->message[run->message_length - 1] == '\n' && names_something(row, error),
          "expected an error that names an option or a file, got: %s", run->message);
}

static bool accepts(const struct design_row *row)
{
    char columns[24];
    struct command_words words;
    struct program_run run;
    const bool to_file = subject.design.rows % 2 == 0;
    words_make(&words, row, NULL, NULL);
    words_type(&words, row);
    check_begin("%s", subject.line);
    snprintf(columns, sizeof columns, "%zu", subject_columns());
    setenv("COLUMNS", columns, 1);
    words_run(&words, to_file, &run);
    const bool steps = subject_value(row, "steps") != NULL, accepted = run.status == 0 || (steps && run.status == 1);
    if (accepted && steps)
        check_steps(row, &run, to_file);
    else if (accepted)
        check_result(row, &run, to_file);
    else if (CHECK(run.status == 2, "status %d, signal %d: %s", run.status, run.signal, run.message))
        check_refusal(row, &run);
    snprintf(subject.message, sizeof subject.message, "%s", run.message);
    for (size_t i = 0; i < row->count; i++)
        seen.accepted[seen.of[row->values[i]]] |= accepted;
    program_release(&run);
    return accepted;
}

/* Whether the last message has the option of that factor. */
static bool blames(int factor)
{
    char name[64];
    int value = 0;
    while (subject.values.list[value].factor != factor)
        value++;
    snprintf(name, sizeof name, "--%s", subject.values.list[value].option->name);
    const char *at = strstr(subject.message, name);
    while (at != NULL && strchr(" ,;:'\n", at[strlen(name)]) == NULL)
        at = strstr(at + 1, name);
    return at != NULL;
}

/* --- the commands ------------------------------------------------------------------------------------------------ */

static int is_json(const struct dirent *entry)
{
    const char *suffix = strrchr(entry->d_name, '.');
    return suffix != NULL && strcmp(suffix, ".json") == 0;
}

/* The paths of a folder's files behind those that are there, NULL behind them. */
static void add_folder(char **files, size_t count, const char *folder)
{
    struct dirent **names;
    const int found = scandir(folder, &names, is_json, alphasort);
    for (int i = 0; i < found; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (count == SUBJECT_FILES)
            abort();
        files[count++] = strdup(path);
        free(names[i]);
    }
    if (found <= 0) {
        perror(folder);
        exit(1);
    }
    free(names);
    files[count] = NULL;
}

static void release_files(char **files)
{
    for (size_t i = 0; files[i] != NULL; i++)
        free(files[i]);
}

/* Without ATTN_WHOLE one value of each option but --format, and three of --stages; each command has others. */
static void take_sample(struct values *values, size_t command)
{
    int kept = 0;
    for (int first = 0, next; first < values->count; first = next) {
        const int factor = values->list[first].factor;
        for (next = first; next < values->count && values->list[next].factor == factor; next++) {
        }
        const int of_option = next - first, most = values->list[first].option == &OPTIONS[OPTION_STAGES] ? 3 : 1;
        const bool all = factor == VALUE_FILE || factor == VALUE_FORMAT || of_option <= most;
        for (int i = 0; i < of_option; i++)
            if (all || (i + of_option * (int)SUBJECT_ROWS - most * (int)command) % of_option < most)
                values->list[kept++] = values->list[first + i];
    }
    values->count = kept;
}

static void prepare(const struct subject_row *tried, char **weights)
{
    size_t count = 0;
    subject.row = tried;
    for (; tried->files[count] != NULL; count++)
        subject.files[count] = strdup(tried->files[count]);
    subject.files[count++] = strdup("");
    subject.files[count] = NULL;
    if (tried->folder != NULL)
        add_folder(subject.files, count, tried->folder);
    values_make(&subject.values, tried->command, (const char *const *)subject.files, (const char *const *)weights);
    if (is_sample())
        take_sample(&subject.values, (size_t)(tried - SUBJECTS));
    subject.design.count = subject.values.count;
    subject.design.factor_count = subject.values.factor_count;
    subject.design.always = VALUE_FORMAT + 1;
    subject.design.width = WIDTH;
    subject.design.accepts = accepts;
    subject.design.blames = blames;
    for (int i = 0; i < subject.values.count; i++) {
        subject.design.factors[i] = subject.values.list[i].factor;
        seen.of[i] = seen_as(&subject.values.list[i]);
    }
    design_begin(&subject.design);
    for (int a = 0; a < subject.values.count; a++)
        for (int b = 0; b < subject.values.count; b++)
            subject.design.suspects[a][b] = seen.refused[seen.of[a]][seen.of[b]];
}

/* The values in another order, by a generator of Knuth's. */
static void shuffle(int *order, int count, unsigned long long seed)
{
    for (int i = count - 1; i > 0; i--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const int other = (int)((seed >> 33) % (unsigned)(i + 1)), value = order[i];
        order[i] = order[other];
        order[other] = value;
    }
}

static void try_triples(void)
{
    for (int value = 0; value < subject.design.count; value++) {
        subject.design.fixed = value;
        design_run(&subject.design);
        batch_read(MOST_WAITING);
    }
}

static bool is_part(void)
{
    return getenv("ATTN_SLOW") != NULL || getenv("ATTN_QUICK") != NULL;
}

static void tell(void)
{
    printf("%s: %d values, %zu pairs in results, %zu refused; %ld rows\n", subject.row->words[0], subject.design.count,
           design_pairs(&subject.design, DESIGN_COVERED), design_pairs(&subject.design, DESIGN_REFUSED),
           subject.design.rows);
}

/* What this command refuses, the next one is likely to refuse, too. */
static void remember_refused(void)
{
    const struct design *design = &subject.design;
    for (int a = 0; a < design->count; a++)
        for (int b = 0; b < design->count; b++)
            seen.refused[seen.of[a]][seen.of[b]] |= design->refused[a][b] && !design->dead[a] && !design->dead[b];
}

/* `how`: what ATTN_PAIRS says, or NULL. */
static void try_command(const struct subject_row *tried, const char *how)
{
    char *weights[SUBJECT_FILES + 1];
    const bool triples = how != NULL && strcmp(how, "triples") == 0;
    add_folder(weights, 0, "tests/pairs/weights");
    prepare(tried, weights);
    check_begin("values for the options of %s", tried->words[0]);
    CHECK(subject.values.lacking == NULL, "tests/pairs/values.c has none for --%s", subject.values.lacking);
    subject.design.most_rows = getenv("ATTN_SLOW") != NULL ? ROWS_IF_SLOW : is_part() ? ROWS_OF_A_PART : LONG_MAX;
    if (how != NULL && !triples)
        shuffle(subject.design.order, subject.design.count, strtoull(how, NULL, 10));
    design_run(&subject.design);
    check_begin("all pairs of %s", tried->words[0]);
    if (is_part())
        check_skip("ATTN_SLOW or ATTN_QUICK: the first rows alone");
    else
        CHECK(design_pairs(&subject.design, DESIGN_OPEN) == 0, "%zu are left",
              design_pairs(&subject.design, DESIGN_OPEN));
    if (how != NULL)
        tell();
    if (triples)
        try_triples();
    remember_refused();
    batch_read(MOST_WAITING);
    release_files(subject.files);
    release_files(weights);
}

int main(void)
{
    setenv("TERM", "xterm-256color", 1);
    unsetenv("NO_COLOR");
    program_begin();
    selfcheck_readers();
    if (getenv("ATTN_SLOW") == NULL)
        times_check(is_sample());
    for (size_t i = 0; i < SUBJECT_ROWS; i++)
        try_command(&SUBJECTS[i], getenv("ATTN_PAIRS"));
    batch_read(0);
    if (!program_may_write("png")) {
        check_begin("PNG and PDF");
        check_skip("rsvg-convert is not installed");
    }
    program_end();
    if (is_sample()) {
        check_begin("all pages read by node");
        check_skip("one in sixteen; with ATTN_WHOLE, as in release-check, all of them");
        check_begin("all values of all options");
        check_skip(
            "one of each in each command, in pairs with all others; with ATTN_WHOLE, as in release-check, all of them");
    }
    if (!is_part())
        check_seen();
    return check_end();
}
