/* SPDX-License-Identifier: MIT */
#include "jobs/jsonl.h"

#include "base/json_writer.h"
#include "base/threads.h"
#include "build/job_files.h"
#include "cli/option_check.h"
#include "jobs/job.h"
#include "jobs/line_reader.h"
#include "read/json.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line, and what becomes of it. */
struct job {
    size_t line, turn; /* the number of the line; of the job, from 0 */
    char *text;
    size_t length;
    struct options options;
    struct job_files files;
    struct problem problem;
    struct arena arena;
    struct error error;
    struct output output;
};

struct stream {
    const struct options *options;
    struct job_files files; /* of the command line */
    unsigned threads;
    struct job *jobs; /* (threads) */
    struct output *output;
    pthread_mutex_t reading; /* of the next four */
    struct line_reader reader;
    struct error trouble; /* of reading */
    size_t lines, taken;
    pthread_mutex_t writing; /* of the others, and the turn to write */
    pthread_cond_t moved;
    size_t turn, failed, first_failed;
    bool stopped; /* the output takes no more */
};

/* Reads the next line with a job; false at the end. */
static bool take_line(struct stream *stream, struct job *job)
{
    bool taken = false;
    pthread_mutex_lock(&stream->reading);
    while (!taken && stream->trouble.status == STATUS_OK) {
        job->text = line_read(&stream->reader, &job->length, &stream->trouble);
        if (job->text == NULL)
            break;
        job->line = ++stream->lines;
        taken = strspn(job->text, " \t\r") < job->length;
        if (taken)
            job->turn = stream->taken++;
        else
            free(job->text);
    }
    pthread_mutex_unlock(&stream->reading);
    return taken;
}

/* Jobs that run at once share the threads; the result has the same bits for any number. */
static unsigned threads_of(struct stream *stream, const struct job *job)
{
    pthread_mutex_lock(&stream->writing);
    const size_t running = job->turn - stream->turn + 1;
    pthread_mutex_unlock(&stream->writing);
    return running < stream->threads ? stream->threads / (unsigned)running : 1;
}

/* Applies the line's options to those of the command line, and checks them again. */
static enum status set_options(struct job *job, const struct input_file *input)
{
    struct options *options = &job->options;
    if (input->option_count > 0 && MECHANISMS[options->mechanism].opens)
        return error_usage(&job->error, "%s: options: %s reads its checkpoint once for all lines; type --%s",
                           input->source, command_name(options->command), input->options[0].name);
    for (size_t i = 0; i < input->option_count; i++)
        if (options_of_line(options, &input->options[i], input->source, &job->error) != STATUS_OK)
            return job->error.status;
    if (options->random != NULL && (input->tensor_count > 0 || input->tokens.texts != NULL))
        return error_usage(&job->error, "%s: --random and the line both give the inputs; leave one out", input->source);
    return option_check(options, &job->error);
}

/* The problem of the line. */
static enum status make_problem(const struct stream *stream, struct job *job)
{
    struct error *error = &job->error;
    struct input_file *input = arena_allocate(&job->arena, 1, sizeof *input, error);
    const unsigned kinds = job_files_kinds(&job->options) | INPUT_FILE_OPTIONS;
    if (input == NULL ||
        json_read(stream->reader.source, job->text, job->length, kinds, &job->arena, input, error) != STATUS_OK ||
        input_file_name_stages(input, &job->arena, error) || set_options(job, input))
        return error->status;
    job->files.inputs = job->options.random == NULL ? input : NULL;
    if (job_files_add(&job->files, &job->options, &job->arena, error) != STATUS_OK)
        return error->status;
    if (job->files.inputs != input) { /* drawn */
        job->files.files[0].settings = input->settings;
        job->files.files[0].setting_count = input->setting_count;
    }
    return problem_create(&job->problem, &job->options, &job->files, &job->arena, error) ||
                   job_check(&job->options, &job->problem, error)
               ? error->status
               : STATUS_OK;
}

/* "FILE:1:9: ..." of a line's syntax names the line in the file. */
static void number_message(const struct stream *stream, const struct job *job, char *message)
{
    char rest[sizeof job->error.message];
    const size_t source = strlen(stream->reader.source);
    if (strncmp(message, stream->reader.source, source) != 0 || strncmp(message + source, ":1:", 3) != 0)
        return;
    strcpy(rest, message + source + 3);
    snprintf(message + source, sizeof rest - source, ":%zu:%s", job->line, rest);
}

static void write_error(const struct stream *stream, struct job *job)
{
    struct json json = {.output = stream->output, .compact = true};
    number_message(stream, job, job->error.message);
    json_open(&json, NULL, '{');
    json_size(&json, "line", job->line);
    json_open(&json, "error", '{');
    json_size(&json, "status", job->error.status);
    json_shown(&json, "message", job->error.message);
    if (job->error.detail[0] != '\0')
        json_text(&json, "detail", job->error.detail);
    json_end(&json);
}

/* Waits for the job's turn, which is the only one to use the output. */
static void write_job(struct stream *stream, struct job *job, enum status status)
{
    size_t length;
    char warning[sizeof job->error.message];
    const char *text =
        status == STATUS_OK || status == STATUS_DIFFERENT ? output_close_text(&job->output, &length) : NULL;
    pthread_mutex_lock(&stream->writing);
    while (stream->turn != job->turn)
        pthread_cond_wait(&stream->moved, &stream->writing);
    pthread_mutex_unlock(&stream->writing);
    for (size_t i = 0; text != NULL && i < job->problem.record.warning_count; i++) {
        snprintf(warning, sizeof warning, "line %zu: %s", job->line, job->problem.record.warnings[i]);
        error_warn(warning, stderr);
    }
    if (text != NULL)
        output_write(stream->output, text, length);
    else
        write_error(stream, job);
    output_flush(stream->output);
    pthread_mutex_lock(&stream->writing);
    stream->turn++;
    stream->stopped = stream->output->failed;
    stream->first_failed = status != STATUS_OK && stream->failed == 0 ? job->line : stream->first_failed;
    stream->failed += status != STATUS_OK;
    pthread_cond_broadcast(&stream->moved);
    pthread_mutex_unlock(&stream->writing);
}

static bool is_stopped(struct stream *stream)
{
    pthread_mutex_lock(&stream->writing);
    const bool stopped = stream->stopped;
    pthread_mutex_unlock(&stream->writing);
    return stopped;
}

/* A thread: takes lines until there are no more. */
static void run_jobs(void *context, size_t task, unsigned thread)
{
    (void)thread;
    struct stream *stream = context;
    struct job *job = &stream->jobs[task];
    while (!is_stopped(stream) && take_line(stream, job)) {
        job->arena = (struct arena){0};
        job->error = (struct error){0};
        job->options = *stream->options;
        job->options.threads = threads_of(stream, job);
        job->files = stream->files;
        output_open_text(&job->output, &job->arena, &job->error);
        job->output.one_line = true;
        enum status status = make_problem(stream, job);
        free(job->text);
        if (status == STATUS_OK)
            status = job_run(&job->options, &job->problem, &job->output, &job->arena, &job->error);
        write_job(stream, job, status);
        arena_free(&job->arena);
    }
}

/* The options of every job: as if its line were its input, and standard output its result. */
static struct options options_of_jobs(const struct options *options)
{
    struct options jobs = *options;
    jobs.in = jobs.out = NULL;
    jobs.jsonl = false;
    jobs.progress = WHEN_NEVER;
    return jobs;
}

static enum status finish(struct stream *stream, struct error *error)
{
    if (!stream->stopped && stream->trouble.status != STATUS_OK) {
        *error = stream->trouble;
        output_abandon(stream->output);
    }
    if (output_close(stream->output) != STATUS_OK || stream->failed == 0)
        return error->status;
    error_usage(error, "%zu of %zu lines failed; the first is line %zu", stream->failed, stream->taken,
                stream->first_failed);
    return error->status = STATUS_DIFFERENT;
}

enum status jsonl_run(const struct options *options, struct output *output, struct arena *arena, struct error *error)
{
    static const struct input_file NONE;
    const struct options jobs = options_of_jobs(options);
    const bool standard = options->in == NULL || strcmp(options->in, "-") == 0;
    struct stream stream = {.options = &jobs,
                            .files = {.inputs = &NONE},
                            .threads = options->threads > 0 ? (unsigned)options->threads : threads_available(),
                            .output = output,
                            .reading = PTHREAD_MUTEX_INITIALIZER,
                            .writing = PTHREAD_MUTEX_INITIALIZER,
                            .moved = PTHREAD_COND_INITIALIZER};
    stream.reader.source = standard ? "standard input" : arena_copy(arena, SHOWN_PATH(options->in), error);
    stream.reader.file = standard ? STDIN_FILENO : open(options->in, O_RDONLY | O_CLOEXEC);
    stream.jobs = arena_allocate(arena, stream.threads, sizeof stream.jobs[0], error);
    if (stream.reader.source == NULL || stream.jobs == NULL ||
        job_files_add(&stream.files, options, arena, error) != STATUS_OK)
        output_abandon(output);
    else if (stream.reader.file < 0)
        error_system(&stream.trouble, errno, "%s", stream.reader.source);
    else
        threads_run(stream.threads, stream.threads, run_jobs, &stream);
    free(stream.reader.bytes);
    return finish(&stream, error);
}
