/* SPDX-License-Identifier: MIT */
/* A command line and its files from a hostile hand: all that main does, but for the terminal.
 *
 * The first line of the bytes is the command line, words parted by blanks. What follows is the first file, and behind a
 * byte 0x1e the second one; where nothing follows, a small input stands in. --in is the first file, --weights the
 * second; join and diff read both in turn; the result goes to /dev/null. What would take long is left out. */
#include "build/problem_create.h"
#include "fuzz.h"

#include "build/job_files.h"
#include "cli/completion.h"
#include "compute/join.h"
#include "diff/diff.h"
#include "write/format/format.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORDS = 64, FILES = 2, SEPARATOR = 0x1e, MOST_DRAWS = 1 << 14 };

static const double MOST_WORK = 1 << 16;

static const char DEFAULT[] = "{\"tokens\": [\"a\", \"b\", \"c\"], \"inputs\": [[1, 2], [3, 4], [5, 6]],"
                              " \"query\": [[1, 2], [3, 4], [5, 6]], \"key\": [[1, 0], [0, 1], [1, 1]],"
                              " \"value\": [[1], [2], [3]], \"weights\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}";

/* The files, as paths that can be opened. */
static char paths[FILES][32];
static int files[FILES];

static void make_files(void)
{
    for (int i = 0; i < FILES && paths[i][0] == '\0'; i++) {
        files[i] = memfd_create("fuzz", MFD_CLOEXEC);
        if (files[i] < 0)
            abort();
        snprintf(paths[i], sizeof paths[i], "/proc/self/fd/%d", files[i]);
    }
}

static void fill_file(int file, const void *bytes, size_t length)
{
    if (ftruncate(file, 0) != 0 || pwrite(file, bytes, length, 0) != (ssize_t)length)
        abort();
}

static void fill_files(const uint8_t *bytes, size_t length)
{
    const uint8_t *separator = length > 0 ? memchr(bytes, SEPARATOR, length) : NULL;
    const size_t first = separator != NULL ? (size_t)(separator - bytes) : length;
    if (first > 0)
        fill_file(files[0], bytes, first);
    else
        fill_file(files[0], DEFAULT, sizeof DEFAULT - 1);
    if (separator != NULL)
        fill_file(files[1], separator + 1, length - first - 1);
    else
        fill_file(files[1], DEFAULT, sizeof DEFAULT - 1);
}

/* The words of the line, from `words[1]` on; returns how many there are with the program's name. */
static int split(char *line, char **words)
{
    int count = 0;
    words[count++] = (char *)(uintptr_t) "attn";
    for (char *word = strtok(line, " "); word != NULL && count < WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    return count;
}

/* getopt keeps its place within "-pq" from one command line to the next, unless it is told. */
static void forget_words(void)
{
    char *nothing[] = {(char *)(uintptr_t) "attn", NULL};
    optind = 0;
    getopt_long(1, nothing, "", (const struct option[]){{0}}, NULL);
}

/* Nothing is opened but the two files, nothing is written, one thread is enough. */
static void point_to_files(struct options *options)
{
    options->in = options->in != NULL || job_files_want_input(options) ? paths[0] : NULL;
    options->weights = options->weights != NULL ? paths[1] : NULL;
    options->out = "/dev/null";
    options->threads = 1;
    for (size_t i = 0; i < options->file_count; i++)
        options->files[i] = paths[i % FILES];
}

/* Whether drawing the parameters would take long, with what the files' settings add. */
static bool draws_long(const struct options *options, const struct job_files *load)
{
    struct options all = *options;
    struct error ignored = {0};
    uint64_t d_in = all.d_in;
    const struct file_tensor *inputs = load->inputs != NULL ? input_file_find(load->inputs, "inputs") : NULL;
    for (size_t i = 0; load->inputs != NULL && i < load->inputs->setting_count; i++)
        options_setting(&all, &load->inputs->settings[i], i % 2 != 0, "file", &ignored);
    if (inputs != NULL)
        d_in = inputs->tensor.shape[inputs->tensor.rank - 1];
    const double d_out = all.d_out > 0 ? (double)all.d_out : (double)d_in;
    const double drawn = ((double)d_in + d_out) * d_out * (double)(all.stacked && all.heads > 0 ? all.heads : 1);
    return drawn > MOST_DRAWS;
}

static enum status compute(const struct options *options, struct output *output, struct arena *arena,
                           struct error *error)
{
    struct job_files load;
    struct problem problem;
    struct result result;
    struct progress progress = {0};
    if (job_files_read(&load, options, arena, error) != STATUS_OK)
        return error->status;
    if (draws_long(options, &load))
        return STATUS_OK;
    if (problem_create(&problem, options, &load, arena, error) != STATUS_OK)
        return error->status;
    if (problem_work(&problem) > MOST_WORK || problem.size.heads > 64 || problem.size.items > 64)
        return STATUS_OK;
    if (output_open(output, options->out, arena, error) != STATUS_OK)
        return error->status;
    if (result_create(&result, &problem, &progress, write_elides(options, &problem), arena, error) != STATUS_OK) {
        output_abandon(output);
        return output_close(output);
    }
    return write_result(options, &result, output, arena, error);
}

static enum status run(int count, char **words, struct arena *arena, struct error *error)
{
    struct options options;
    struct problem problem;
    struct result result;
    struct diff diff;
    struct output *output = arena_allocate(arena, 1, sizeof *output, error);
    forget_words();
    if (output == NULL || options_parse(&options, count, words, error) != STATUS_OK)
        return error->status;
    if (options.command == COMMAND_COMPLETE) {
        if (output_open(output, "/dev/null", arena, error) != STATUS_OK)
            return error->status;
        completion_answer(options.files, options.file_count, output);
        return output_close(output);
    }
    if (options.command == COMMAND_VERSION || options.command == COMMAND_HELP || options.command == COMMAND_EXAMPLE)
        return STATUS_OK;
    point_to_files(&options);
    if (options.command == COMMAND_DIFF)
        return diff_results(&diff, &options, arena, error) || output_open(output, options.out, arena, error)
                   ? error->status
                   : write_diff(&options, &diff, output, error);
    if (options.command == COMMAND_JOIN)
        return join_parts(&result, &problem, options.files, options.file_count, options.format == FORMAT_NPY, arena,
                          error) ||
                       output_open(output, options.out, arena, error)
                   ? error->status
                   : write_result(&options, &result, output, arena, error);
    if (options.mechanism == MECHANISM_COUNT) /* a lesson, which waits for a person; cases, which write a folder */
        return STATUS_OK;
    return compute(&options, output, arena, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct error error = {0};
    const uint8_t *newline = length > 0 ? memchr(bytes, '\n', length) : NULL;
    const size_t line_length = newline != NULL ? (size_t)(newline - bytes) : length;
    char *words[WORDS + 1], *line = malloc(line_length + 1);
    if (line == NULL)
        return 0;
    memcpy(line, bytes, line_length);
    line[line_length] = '\0';
    make_files();
    fill_files(newline != NULL ? newline + 1 : NULL, newline != NULL ? length - line_length - 1 : 0);
    const enum status status = run(split(line, words), words, &arena, &error);
    const bool told = error.message[0] != '\0' || error.quiet;
    if (status != STATUS_OK && (error.status != status || !told))
        abort();
    arena_free(&arena);
    free(line);
    return 0;
}
