/* SPDX-License-Identifier: MIT */
#include "jobs/jsonl.h"

#include "base/json_writer.h"
#include "base/system.h"
#include "base/threads.h"
#include "read/json.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 16 };

struct stream {
    const char *source; /* for messages */
    int file;
    struct options options; /* of every job */
    struct job_files files;
    jsonl_runner *run;
    struct jsonl_job *jobs; /* (threads) */
    unsigned threads;
    pthread_mutex_t reading; /* of the next six */
    char *bytes;             /* read, and not taken from `begin` on; from malloc */
    size_t begin, end, room;
    size_t lines, taken;
    struct error trouble;
    pthread_mutex_t writing; /* of the output and the next two */
    pthread_cond_t next;
    size_t failed, first_failed;
    struct output *output;
    atomic_size_t written;
    atomic_bool stopped; /* the output takes no more */
};

/* Reads more bytes; false at the end, and where reading fails or a line takes half of the memory there is. */
static bool read_more(struct stream *stream)
{
    const size_t length = stream->end - stream->begin, room = 2 * length + READ_BYTES;
    if (stream->begin > 0)
        memmove(stream->bytes, stream->bytes + stream->begin, length);
    stream->begin = 0;
    stream->end = length;
    char *larger = (double)length < memory_there() / 2 ? realloc(stream->bytes, room) : NULL;
    if (larger == NULL)
        return error_system(&stream->trouble, 0, "%s: not enough memory for line %zu", stream->source,
                            stream->lines + 1) == STATUS_OK;
    stream->bytes = larger;
    const ssize_t bytes = system_read(stream->file, larger + length, room - length);
    if (bytes < 0)
        error_system(&stream->trouble, errno, "%s", stream->source);
    stream->end += bytes > 0 ? (size_t)bytes : 0;
    return bytes > 0;
}

/* Copies the next line into the job's arena, with a NUL after it; NULL after the last. */
static char *read_line(struct stream *stream, struct jsonl_job *job, size_t *length)
{
    const char *newline = NULL;
    for (size_t looked = 0; newline == NULL;) {
        const size_t there = stream->end - stream->begin;
        if (there > looked)
            newline = memchr(stream->bytes + stream->begin + looked, '\n', there - looked);
        looked = there;
        if (newline == NULL && !read_more(stream))
            break;
    }
    const size_t left = stream->end - stream->begin;
    *length = newline != NULL ? (size_t)(newline - stream->bytes) - stream->begin : left;
    if (stream->trouble.status != STATUS_OK || left == 0)
        return NULL;
    job->line = ++stream->lines;
    char *line = arena_text(&job->arena, stream->bytes + stream->begin, *length, &stream->trouble);
    stream->begin += *length + (newline != NULL);
    return line;
}

/* The line's inputs, and its options in place of those of the command line. */
static enum status take_line(const struct stream *stream, struct jsonl_job *job, char *line, size_t length)
{
    struct options *options = &job->options;
    struct error *error = &job->error;
    struct input_file *input = &job->files.files[0];
    const unsigned kinds = job_files_kinds(options) | INPUT_FILE_OPTIONS;
    if (json_read(stream->source, line, length, kinds, &job->arena, input, error) ||
        input_file_name_stages(input, &job->arena, error))
        return error->status;
    if (input->option_count > 0 && MECHANISMS[options->mechanism].opens)
        return error_usage(error, "%s: options: %s reads its checkpoint once for all lines; type --%s", stream->source,
                           command_name(options->command), input->options[0].name);
    for (size_t i = 0; i < input->option_count; i++)
        if (options_setting(options, &input->options[i], true, stream->source, error) != STATUS_OK)
            return error->status;
    if (options->random == NULL)
        job->files.inputs = input;
    else if (input->tensor_count > 0 || input->setting_count > 0 || input->tokens.texts != NULL)
        return error_usage(error, "%s: --random gives the inputs; leave out all but options", stream->source);
    return option_check(options, error);
}

static void write_error(const struct stream *stream, const struct jsonl_job *job)
{
    struct json json = {.output = stream->output, .compact = true};
    const char *message = job->error.message;
    char place[sizeof job->error.message];
    const size_t source = strlen(stream->source);
    if (strncmp(message, stream->source, source) == 0 && strncmp(message + source, ":1:", 3) == 0) {
        snprintf(place, sizeof place, "%s:%zu:%s", stream->source, job->line, message + source + 3);
        message = place;
    }
    json_open(&json, NULL, '{');
    json_size(&json, "line", job->line);
    json_open(&json, "error", '{');
    json_size(&json, "status", job->error.status);
    json_shown(&json, "message", message);
    if (job->error.detail[0] != '\0')
        json_text(&json, "detail", job->error.detail);
    json_end(&json);
}

/* Writes the job's result, or its error, when its turn has come. */
static void write_job(struct stream *stream, struct jsonl_job *job, size_t turn, enum status status)
{
    size_t length;
    const char *text = status < STATUS_USAGE ? output_close_text(&job->output, &length) : NULL;
    pthread_mutex_lock(&stream->writing);
    while (atomic_load(&stream->written) != turn)
        pthread_cond_wait(&stream->next, &stream->writing);
    if (text != NULL)
        output_write(stream->output, text, length);
    else
        write_error(stream, job);
    output_flush(stream->output);
    if (status != STATUS_OK && stream->failed++ == 0)
        stream->first_failed = job->line;
    atomic_store(&stream->stopped, stream->output->failed);
    atomic_store(&stream->written, turn + 1);
    pthread_cond_broadcast(&stream->next);
    pthread_mutex_unlock(&stream->writing);
}

/* Runs the next job; false after the last. Jobs that run at once share the threads. */
static bool run_job(struct stream *stream, struct jsonl_job *job)
{
    size_t length, turn = 0;
    job->options = stream->options;
    job->files = stream->files;
    job->arena = (struct arena){0};
    job->error = (struct error){0};
    pthread_mutex_lock(&stream->reading);
    char *line = read_line(stream, job, &length);
    const bool blank = line != NULL && strspn(line, " \t\r") == length;
    if (line != NULL && !blank)
        turn = stream->taken++;
    pthread_mutex_unlock(&stream->reading);
    if (line != NULL && !blank) {
        const size_t running = turn + 1 - atomic_load(&stream->written);
        job->options.threads = running < stream->threads ? stream->threads / running : 1;
        output_open_text(&job->output, &job->arena, &job->error);
        job->output.one_line = true;
        enum status status = take_line(stream, job, line, length);
        write_job(stream, job, turn, status == STATUS_OK ? stream->run(job) : status);
    }
    arena_free(&job->arena);
    return line != NULL;
}

static void run_jobs(void *context, size_t task, unsigned thread)
{
    (void)thread;
    struct stream *stream = context;
    while (!atomic_load(&stream->stopped) && run_job(stream, &stream->jobs[task]))
        continue;
}

enum status jsonl_run(const struct options *options, jsonl_runner *run, struct output *output, struct arena *arena,
                      struct error *error)
{
    static const struct input_file NONE;
    const bool standard = options->in == NULL || strcmp(options->in, "-") == 0;
    struct stream stream = {.source = standard ? "standard input" : arena_copy(arena, SHOWN_PATH(options->in), error),
                            .file = standard ? STDIN_FILENO : open(options->in, O_RDONLY | O_CLOEXEC),
                            .options = *options,
                            .files = {.inputs = &NONE},
                            .run = run,
                            .threads = options->threads > 0 ? (unsigned)options->threads : threads_available(),
                            .reading = PTHREAD_MUTEX_INITIALIZER,
                            .writing = PTHREAD_MUTEX_INITIALIZER,
                            .next = PTHREAD_COND_INITIALIZER,
                            .output = output};
    if (stream.file < 0)
        error_system(error, errno, "%s", stream.source);
    stream.jobs = arena_allocate(arena, stream.threads, sizeof stream.jobs[0], error);
    if (error->status == STATUS_OK && job_files_add(&stream.files, options, arena, error) == STATUS_OK) {
        stream.files.inputs = NULL;
        stream.options.in = stream.options.out = NULL;
        stream.options.jsonl = false;
        stream.options.progress = WHEN_NEVER;
        threads_run(stream.threads, stream.threads, run_jobs, &stream);
    }
    free(stream.bytes);
    if (!standard && stream.file >= 0)
        close(stream.file);
    if (stream.trouble.status != STATUS_OK && !output->failed)
        *error = stream.trouble;
    if (error->status != STATUS_OK)
        output_abandon(output);
    if (output_close(output) != STATUS_OK || stream.failed == 0)
        return error->status;
    error_usage(error, "%zu of %zu lines failed; the first is line %zu", stream.failed, stream.taken,
                stream.first_failed);
    return error->status = STATUS_DIFFERENT;
}
