/* SPDX-License-Identifier: MIT */
/* Time and memory in proportion to what is read: the peak memory of a process that reads JSON, a pickle, a printed table
 * or the names of a checkpoint, of the shapes that cost most, which the man page gives in LIMITS, and the processor's
 * time for eight times as much. */
#include "check.h"
#include "layer/listing.h"
#include "read/pickle.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SIZE = 1 << 21,           /* bytes of a text whose memory is measured */
    MOST_MEMORY = 48,         /* times its size */
    MOST_MEMORY_OF_ONE = 3,   /* of one long string or number */
    MOST_MEMORY_OF_TABLE = 4, /* of numbers with eight decimals */
    MOST_MEMORY_OF_PICKLE = 80,
    FEW = 10000, /* members of a text whose time is measured; then so many times as many: */
    MORE = 8,
    MOST_TIME = 4 * MORE, /* times as long: n log n and some noise pass, n x n does not */
    MARGIN = 3,           /* times as long, of what should take the same time */
    TRIES = 5,            /* of what is timed */
};
static const double LEAST_SECONDS = 0.004; /* what is shorter is noise */

/* What stands for a command line where the text is the pickle of a .pt. */
static const char PICKLE[] = "a pickle";

/* Where it is the header of a .safetensors, of which attn layer lists the modules. */
static const char CHECKPOINT[] = "a checkpoint";
#define EMPTY ":{\"dtype\":\"F32\",\"shape\":[0,4],\"data_offsets\":[0,0]}"
#define MODULE(path)                                                                                            \
    ",\"" path ".q_proj.weight\"" EMPTY ",\"" path ".k_proj.weight\"" EMPTY ",\"" path ".v_proj.weight\"" EMPTY \
    ",\"" path ".o_proj.weight\"" EMPTY

/* The text is before, the piece over and over, after; pieces may have a %d, which counts them. */
static const struct shape {
    const char *name, *line, *before, *piece, *after;
    bool refused;
} shapes[] = {
    {"an array of digits, ignored", "self", "{\"inputs\": [[1]], \"comment\": [0", ",0", "]}", false},
    {"an array of digits in an object, ignored", "self", "{\"inputs\": [[1]], \"comment\": {\"a\": [0", ",0", "]}}",
     false},
    {"an array of empty arrays, ignored", "self", "{\"inputs\": [[1]], \"comment\": [0", ",[]", "]}", false},
    {"an array of empty objects, ignored", "self", "{\"inputs\": [[1]], \"comment\": [0", ",{}", "]}", false},
    {"an array of empty strings, ignored", "self", "{\"inputs\": [[1]], \"comment\": [0", ",\"\"", "]}", false},
    {"an object of empty keys, ignored", "self", "{\"inputs\": [[1]], \"comment\": {\"\":0", ",\"\":0", "}}", false},
    {"a row of digits", "self -d 1 --stages query", "{\"inputs\": [[0", ",0", "]]}", false},
    {"rows of a digit", "self --stages query", "{\"inputs\": [[0]", ",[0]", "]}", false},
    {"items of a digit", "self --stages query", "{\"inputs\": [[[0]]", ",[[0]]", "]}", false},
    {"other keys in the top object", "self", "{\"inputs\": [[1]]", ",\"k%d\":0", "}", true},
    {"other names in the settings", "self", "{\"inputs\": [[1]], \"settings\": {\"seed\":1", ",\"k%d\":0", "}}", true},
    {"tokens without inputs for them", "self", "{\"inputs\": [[1]], \"tokens\": [\"\"", ",\"\"", "]}", true},
    {"lists of tokens without inputs for them", "self", "{\"inputs\": [[1]], \"tokens\": [[\"\"]", ",[\"\"]", "]}",
     true},
    {"heads that nobody asked for", "self", "{\"inputs\": [[1]]", ",\"heads.%d.W_query\":[[0]]", "}", true},
    {"a long string", "self", "{\"inputs\": [[1]], \"comment\": \"", "\\u0000", "\"}", false},
    {"a table of numbers", "self --stages inputs", "{\"inputs\": [[0.5]", ",[-0.12345678]", "]}", false},
    {"a long number", "self", "{\"inputs\": [[0.", "1", "]]}", false},
    {"blanks", "self", "{\"inputs\": [[1]]", " ", "}", false},
    {"a fault at the end of a long line", "self", "{\"inputs\": [[1", ",1", "x]]}", true},
    {"a fault at the end of many lines", "self", "{\"inputs\": [[1", "\n,1", "x]]}", true},
    {"arrays that do not end", "self", "", "[", "", true},
    {"lists", PICKLE, "](", "]", "e.", false},
    {"dicts", PICKLE, "](", "}", "e.", false},
    {"lists of one", PICKLE, "](", "]Na", "e.", false},
    {"tuples within tuples", PICKLE, ")", "\x85", ".", false},
    {"one list, appended to", PICKLE, "]", "Na", ".", false},
    {"one value under many numbers", PICKLE, "]", "\x94", ".", false},
    {"marks that nothing ends", PICKLE, "", "(", ".", true},
    {"levels, ignored", "self", "{\"inputs\": [[1]], \"comment\": [0",
     ",[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", "]}", false},
    {"a printed row of digits", "self -d 1 --stages query", "", "0 ", "0\n", false},
    {"printed rows of a digit", "self --stages query", "", "0\n", "", false},
    {"printed rows with labels", "self --stages query", "", "a 0\n", "", false},
    {"printed rows with comments", "self --stages query", "", "0 #a\n", "", false},
    {"printed items of a digit", "self --stages query", "[[[0]]", ",[[0]]", "]", false},
    {"names without an end", "self", "inputs=[[0]]\n", "heads.%d.W_query=[0]\n", "", true},
    {"tables of rows under names", "self", "inputs=[[0]]\n", "heads.%d.W_query =\n1 2\n\n", "", true},
    {"tables of rows with a head line and labels", "self", "inputs=[[0]]\n", "heads.%d.W_query =\n,x\na,1\n\n", "",
     true},
    {"tables in one line", "self", "inputs=[[0]]", ";heads.%d.W_query=[0]", "", true},
    {"one name over and over", "self", "", "inputs=[[0]]\n", "", true},
    {"comments without a row", "self", "inputs=[[0]]", "#\n", "", false},
    {"lines of import", "self", "", "import a\n", "inputs=[[0]]", false},
    {"a printed number that does not end", "self", "[[0.", "1", "]]", false},
    {"blanks before a row", "self", "", " ", "1 2", false},
    {"a text in quotes that does not end", "self", "", "\"", "", true},
    {"a fault at the end of many rows", "self", "", "1 2\n", "x", true},
    {"layers of a checkpoint", CHECKPOINT, "{\"a\"" EMPTY, MODULE("layers.%1$d.self_attn"), "}", false},
    {"cross-attention of a checkpoint", CHECKPOINT, "{\"a\"" EMPTY, MODULE("layers.%1$d.encoder_attn"), "}", false},
    {"modules with names of their own", CHECKPOINT, "{\"a\"" EMPTY, MODULE("m%1$d.self_attn"), "}", false},
    {"tensors of no module", CHECKPOINT, "{\"a\"" EMPTY, ",\"layers.%d.mlp.weight\"" EMPTY, "}", true},
};

/* The text with `count` pieces, or of SIZE bytes where count is 0; the caller frees it. */
static char *make_text(const struct shape *shape, size_t count, size_t *length)
{
    const size_t room = (count > 0 ? count * (strlen(shape->piece) + 24) : SIZE) + 1024;
    char *text = malloc(room);
    if (text == NULL)
        abort();
    *length = (size_t)snprintf(text, room, "%s", shape->before);
    for (int i = 0; count > 0 ? (size_t)i < count : *length < SIZE; i++)
        *length += (size_t)snprintf(text + *length, room - *length, shape->piece, i);
    *length += (size_t)snprintf(text + *length, room - *length, "%s", shape->after);
    return text;
}

/* What a process took that reads the text and makes the result of it, or only holds the text (line NULL). */
static bool quick;

struct cost {
    double bytes, seconds;
    enum status status;
};

/* Lists the modules of a .safetensors that has this header and no data. */
static enum status list(const char *header, size_t length)
{
    char path[] = "/tmp/attn_limits.XXXXXX", *argv[] = {"attn", "layer", "-w", path, NULL};
    struct options options;
    struct listing listing;
    struct arena arena = {0};
    struct error error;
    FILE *file = fdopen(mkstemp(path), "wb");
    for (size_t i = 0; file != NULL && i < 8; i++)
        fputc((int)((uint64_t)length >> 8 * i & 255), file);
    if (file == NULL || fwrite(header, 1, length, file) != length || fclose(file) != 0)
        return STATUS_SYSTEM;
    const enum status status =
        options_parse(&options, 4, argv, &error) || listing_read(&listing, &options, &arena, &error) ? error.status
                                                                                                     : STATUS_OK;
    unlink(path);
    return status;
}

static enum status run(const char *line, const char *text, size_t length)
{
    struct made made;
    struct pickle pickle;
    struct error error;
    struct arena arena = {0};
    if (line == CHECKPOINT)
        return list(text, length);
    return line == PICKLE ? pickle_read("file", (const unsigned char *)text, length, &arena, &pickle, &error)
                          : support_make_bytes(&made, line, text, length);
}

static struct cost measure(const char *line, const char *text, size_t length)
{
    struct rusage usage;
    int status;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        _exit(line != NULL ? (int)run(line, text, length) : 0);
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status))
        return (struct cost){.status = STATUS_SYSTEM};
    return (struct cost){(double)usage.ru_maxrss * 1024,
                         (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                             (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6,
                         (enum status)WEXITSTATUS(status)};
}

static void check_status(const struct shape *shape, enum status status)
{
    CHECK(status == (shape->refused ? STATUS_USAGE : STATUS_OK), "expected %s, got status %d",
          shape->refused ? "it to be refused" : "a result", (int)status);
}

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = true };
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
enum { SANITIZED = true };
#else
enum { SANITIZED = false };
#endif
#else
enum { SANITIZED = false };
#endif

static int most_memory(const struct shape *shape)
{
    return shape->line == PICKLE                            ? MOST_MEMORY_OF_PICKLE
           : strncmp(shape->name, "a long ", 7) == 0        ? MOST_MEMORY_OF_ONE
           : strcmp(shape->name, "a table of numbers") == 0 ? MOST_MEMORY_OF_TABLE
                                                            : MOST_MEMORY;
}

static void check_memory(const struct shape *shape)
{
    size_t length;
    check_begin("memory: %s", shape->name);
    char *text = make_text(shape, 0, &length);
    const struct cost base = measure(NULL, text, length), cost = measure(shape->line, text, length);
    const double factor = (cost.bytes - base.bytes) / (double)length;
    check_status(shape, cost.status);
    if (SANITIZED)
        check_skip("the sanitizers take memory of their own");
    else if (getenv("ATTN_PORT") != NULL)
        check_skip("an emulator takes memory of its own");
    else
        CHECK(factor <= most_memory(shape), "expected at most %d bytes for each of the text, got %.1f",
              most_memory(shape), factor);
    free(text);
}

/* --- time -------------------------------------------------------------------------------------------------------- */

/* `count` tokens and as many names, or ranges over all tokens, in the query of the settings. */
static char *make_query(bool names, size_t count, size_t *length)
{
    char *text = malloc(count * 48 + 256);
    if (text == NULL)
        abort();
    *length = (size_t)sprintf(text, "{\"inputs\": [[0]");
    for (size_t i = 1; i < count; i++)
        *length += (size_t)sprintf(text + *length, ",[%zu]", i % 10);
    *length += (size_t)sprintf(text + *length, "], \"tokens\": [\"t0\"");
    for (size_t i = 1; i < count; i++)
        *length += (size_t)sprintf(text + *length, ",\"t%zu\"", i);
    *length += (size_t)sprintf(text + *length, "], \"settings\": {\"query\": \"1");
    for (size_t i = 1; i < count; i++)
        *length += (size_t)sprintf(text + *length, names ? ",t%zu" : ",1-%zu", names ? i : count);
    *length += (size_t)sprintf(text + *length, "\"}}");
    return text;
}

/* MORE times as much may take MOST_TIME times as long; other work on the machine makes the first tries longer. */
static void check_time(const char *line, char *few, size_t few_length, char *more, size_t more_length)
{
    const struct cost base = measure(NULL, few, few_length), less = measure(line, few, few_length);
    const double least = fmax(less.seconds - base.seconds, LEAST_SECONDS);
    double seconds = INFINITY;
    for (int try = 0; try < TRIES && seconds > MOST_TIME * least; try++) {
        const struct cost cost = measure(line, more, more_length);
        CHECK(cost.status == less.status && cost.status != STATUS_SYSTEM, "expected one status, got %d and %d",
              (int)less.status, (int)cost.status);
        seconds = fmin(seconds, cost.seconds - base.seconds);
    }
    CHECK(seconds <= MOST_TIME * least, "expected at most %d times %g s for %d times as much, got %g s", MOST_TIME,
          least, MORE, seconds);
    free(few);
    free(more);
}

static void check_times(void)
{
    size_t few_length, more_length;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i += quick ? 4 : 1) {
        check_begin("time: %s", shapes[i].name);
        const size_t count = shapes[i].line == CHECKPOINT ? FEW / 8 : FEW;
        char *few = make_text(&shapes[i], count, &few_length),
             *more = make_text(&shapes[i], count * MORE, &more_length);
        check_time(shapes[i].line, few, few_length, more, more_length);
    }
    for (int names = 0; names <= 1; names++) {
        check_begin("time: --query with as many %s as tokens", names ? "names" : "ranges");
        char *few = make_query(names, FEW, &few_length), *more = make_query(names, FEW * MORE, &more_length);
        check_time("self --stages query", few, few_length, more, more_length);
    }
}

/* 1024 x 768 numbers of eight decimals, as JSON or as PyTorch prints them; the caller frees it. */
static char *make_numbers(bool json, size_t *length)
{
    enum { ROWS = 1024, COLUMNS = 768, LONGEST = 16 };
    char *text = malloc((size_t)ROWS * COLUMNS * LONGEST);
    if (text == NULL)
        abort();
    *length = (size_t)sprintf(text, json ? "{\"inputs\": [" : "tensor([");
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
        *length += (size_t)sprintf(text + *length, "%s%.8f",
                                   i % COLUMNS > 0 ? ", "
                                   : i > 0         ? "],\n["
                                                   : "[",
                                   sin((double)i));
    *length += (size_t)sprintf(text + *length, json ? "]]}" : "]])");
    return text;
}

struct timed {
    const char *line, *bytes;
    size_t length;
};

static double seconds_to_read(const struct timed *text)
{
    const struct cost cost = measure(text->line, text->bytes, text->length);
    CHECK(cost.status == STATUS_OK, "expected a result, got status %d", (int)cost.status);
    return cost.seconds;
}

/* The least of some tries in turn: other work on the machine makes some of them longer. */
static void check_as_fast(const struct timed *text, const struct timed *other)
{
    double seconds = INFINITY, of_other = INFINITY;
    for (int try = 0; try < TRIES; try++) {
        of_other = fmin(of_other, seconds_to_read(other));
        seconds = fmin(seconds, seconds_to_read(text));
    }
    CHECK(seconds <= MARGIN * of_other, "expected at most %d times %g s, got %g s", MARGIN, of_other, seconds);
}

static void check_printed_against_json(void)
{
    static const char LINE[] = "self -d 1 --stages query --query 1";
    size_t json_length, printed_length;
    check_begin("a printed table is read as fast as JSON");
    if (SANITIZED) {
        check_skip("the sanitizers do not see cJSON");
        return;
    }
    char *json = make_numbers(true, &json_length), *printed = make_numbers(false, &printed_length);
    check_as_fast(&(struct timed){LINE, printed, printed_length}, &(struct timed){LINE, json, json_length});
    free(json);
    free(printed);
}

/* --- the largest ------------------------------------------------------------------------------------------------- */

/* Each of these sizes is taken, and one more is refused where the option has a bound. */
static void check_line(const char *line, const char *json, enum status expected)
{
    check_begin("%s", line);
    const struct cost cost = measure(line, json, json != NULL ? strlen(json) : 0);
    CHECK(cost.status == expected, "expected status %d, got %d", (int)expected, (int)cost.status);
}

/* A few bytes that ask for the farthest place of the generator, which is reached by a jump, as one that is near is. */
static void check_far_skip(void)
{
    static const char FAR[] = "{\"inputs\": [[1]], \"settings\": {\"skip\": 4294967295}}";
    static const char NEAR[] = "{\"inputs\": [[1]], \"settings\": {\"skip\": 10000000}}";
    check_begin("%s", FAR);
    check_as_fast(&(struct timed){"self", FAR, sizeof FAR - 1}, &(struct timed){"self", NEAR, sizeof NEAR - 1});
}

/* A name, a token, a comment and a path of a megabyte. */
static void check_long_words(void)
{
    enum { LONG = 1 << 20 };
    static const struct {
        const char *before, *after;
        enum status status;
    } places[] = {
        {"{\"inputs\": [[1]], \"tokens\": [\"", "\"]}", STATUS_OK},
        {"{\"inputs\": [[1]], \"comment\": \"", "\"}", STATUS_OK},
        {"{\"inputs\": [[1]], \"", "\": 1}", STATUS_USAGE},
        {"{\"inputs\": [[1]], \"settings\": {\"", "\": 1}}", STATUS_USAGE},
        {"{\"inputs\": [[1]], \"settings\": {\"seed\": \"", "\"}}", STATUS_USAGE},
        {"{\"inputs\": [[1]], \"settings\": {\"query\": \"", "\"}}", STATUS_USAGE},
    };
    char *text = malloc(LONG + 256);
    if (text == NULL)
        abort();
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        check_begin("a word of a megabyte: %s...%s", places[i].before, places[i].after);
        size_t length = (size_t)sprintf(text, "%s", places[i].before);
        memset(text + length, 'x', LONG);
        length += LONG;
        length += (size_t)sprintf(text + length, "%s", places[i].after);
        const struct cost cost = measure("self", text, length);
        CHECK(cost.status == places[i].status, "expected status %d, got %d", (int)places[i].status, (int)cost.status);
    }
    free(text);
}

static void check_largest(void)
{
    const char *one = "{\"inputs\": [[1]]}";
    check_line("init self --d-in 1048576 -d 1", NULL, STATUS_OK);
    check_line("init self --d-in 1048577 -d 1", NULL, STATUS_USAGE);
    check_line("self -d 1048576 --stages query", one, STATUS_OK);
    check_line("self -d 1048577", one, STATUS_USAGE);
    check_line("multihead -H 65536 -d 1 --stacked", one, STATUS_OK);
    check_line("multihead -H 65537 -d 65537", one, STATUS_USAGE);
    check_line("self --window 2147483647,2147483647", one, STATUS_OK);
    check_line("self --window 2147483648,0", one, STATUS_USAGE);
    check_line("self --threads 1024", one, STATUS_OK);
    check_line("self --context-length 2147483647", one, STATUS_OK);
    check_line("self --seed 18446744073709551615 --dropout-seed 18446744073709551615", one, STATUS_OK);
    check_far_skip();
    check_long_words();
}

int main(void)
{
    quick = getenv("ATTN_QUICK") != NULL;
    if (quick)
        puts("ATTN_QUICK: the memory of a quarter of the texts, the time of another");
    for (size_t i = quick; i < sizeof shapes / sizeof shapes[0]; i += quick ? 4 : 1)
        check_memory(&shapes[i]);
    check_times();
    check_printed_against_json();
    check_largest();
    return check_end();
}
