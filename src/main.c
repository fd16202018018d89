/* SPDX-License-Identifier: MIT */
#include "base/version.h"
#include "build/job_files.h"
#include "build/problem_create.h"
#include "cases/cases.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "compute/join.h"
#include "diff/diff.h"
#include "heads/heads.h"
#include "jobs/jsonl.h"
#include "lesson/lessons.h"
#include "lesson/session/session.h"
#include "steps/steps.h"
#include "why/why.h"
#include "worksheet/worksheet.h"
#include "write/checkpoint_text.h"
#include "write/format/format.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct call {
    const char *program; /* argv[0] */
    struct options options;
    struct job_files *files; /* files already read; or NULL */
    size_t line;             /* of --jsonl; then the output is open. Else 0 */
    struct output *output;
    struct arena *arena;
    struct error *error;
};

/* Opens a closed standard stream so that using it fails: else the next opened file would get its number. */
static bool open_standard_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return false;
    return true;
}

/* Files get UTF-8; text on standard output may be ASCII, by the locale. */
static enum status open_output(const struct call *call, const char *path)
{
    if (output_open(call->output, path, call->arena, call->error) != STATUS_OK)
        return call->error->status;
    call->output->ascii =
        call->output->target == NULL && options_format(&call->options)->terminal && text_wants_ascii();
    return STATUS_OK;
}

static enum status open_result(const struct call *call)
{
    return call->line > 0 ? STATUS_OK : open_output(call, call->options.out);
}

/* For output that never goes to --out. */
static enum status open_standard_output(const struct call *call)
{
    return open_output(call, NULL);
}

static enum status run_version(const struct call *call)
{
    const struct kernel *kernel = kernel_choose(getenv("ATTN_ISA"), DTYPE_BF16, false, call->error);
    if (kernel == NULL || open_standard_output(call) != STATUS_OK)
        return call->error->status;
    output_print(call->output, "attn " ATTN_VERSION "\nkernels: %s\n", kernel->name);
    return output_close(call->output);
}

/* Answers the shell's completion. */
static enum status run_complete(const struct call *call)
{
    if (open_standard_output(call) != STATUS_OK)
        return call->error->status;
    completion_answer(call->options.files, call->options.file_count, call->output);
    return output_close(call->output);
}

/* Answers a command line without a task: the help, on standard error. */
static enum status run_usage(const struct call *call)
{
    const struct options *options = &call->options;
    output_open_stream(call->output, STDERR_FILENO, "standard error", call->error);
    help_write(options->command == COMMAND_HELP ? options->topic : options->command, false, call->output);
    if (output_close(call->output) != STATUS_OK)
        return call->error->status;
    return error_quietly(call->error, STATUS_USAGE);
}

/* Rejects a terminal as the input. */
static enum status refuse_terminal(const struct call *call)
{
    const struct options *options = &call->options;
    const struct mechanism_row *mechanism = &MECHANISMS[options->mechanism];
    const char *command = command_name(options->command);
    const bool named = strcmp(mechanism->name, command) != 0;
    if (mechanism->opens && options->weights == NULL)
        return error_usage(call->error, JOB_FILES_NO_CHECKPOINT);
    if (mechanism->example == NULL)
        return error_usage(call->error, "no input: type attn %s HIDDEN -w MODEL --layer N", command);
    return error_usage(call->error, "no input: type attn %s%s%s FILE; to try it: attn example %s > inputs.json",
                       command, named ? " " : "", named ? mechanism->name : "", mechanism->example);
}

/* Prints the help, or a shell's completion script. */
static enum status run_help(const struct call *call)
{
    const struct options *options = &call->options;
    if (!options->help)
        return run_usage(call);
    if (open_standard_output(call) != STATUS_OK)
        return call->error->status;
    if (options_said(options, OPTION_COMPLETION))
        completion_write(options->completion, call->output);
    else if (options->page != HELP_PAGE_COUNT)
        help_write_page(options->page, call->output);
    else
        help_write(options->topic, options->help_all, call->output);
    return output_close(call->output);
}

static enum status run_example(const struct call *call)
{
    const struct example_row *example = &EXAMPLES[call->options.example];
    if (output_open(call->output, call->options.out, call->arena, call->error) != STATUS_OK)
        return call->error->status;
    output_write(call->output, (const char *)example->bytes, *example->length);
    return output_close(call->output);
}

/* Without a number starts at the first lesson on a terminal; else lists the lessons. */
static enum status run_lesson(const struct call *call)
{
    const struct options *options = &call->options;
    if (open_standard_output(call) != STATUS_OK)
        return call->error->status;
    enum status status = STATUS_OK;
    if (options->lesson == 0 && !(isatty(STDIN_FILENO) && output_is_terminal(call->output)))
        for (size_t i = 1; i <= LESSON_COUNT; i++)
            output_print(call->output, "%3zu  %s\n", i, LESSONS[i].title);
    else
        status = session_run(options->lesson, options_want_color(options, call->output), call->program, call->output,
                             call->arena, call->error);
    return status == STATUS_OK ? output_close(call->output) : status;
}

static enum status run_diff(const struct call *call)
{
    struct diff diff;
    if (diff_results(&diff, &call->options, call->arena, call->error) || open_result(call))
        return call->error->status;
    return write_diff(&call->options, &diff, call->output, call->error);
}

static enum status run_join(const struct call *call)
{
    struct result result;
    struct problem problem;
    if (join_parts(&result, &problem, call->options.files, call->options.file_count,
                   options_format(&call->options)->one_table, call->arena, call->error) ||
        open_result(call))
        return call->error->status;
    if (write_check_result(&call->options, &result, call->output, call->arena, call->error) != STATUS_OK)
        output_abandon(call->output);
    return write_result(&call->options, &result, call->output, call->arena, call->error);
}

static void warn_of(const struct call *call, const char *const *warnings, size_t count)
{
    char shown[4 * sizeof call->error->message], place[32] = "";
    if (call->line > 0)
        snprintf(place, sizeof place, "line %zu: ", call->line);
    for (size_t i = 0; i < count; i++) {
        text_shown(warnings[i], SIZE_MAX, shown, sizeof shown);
        fprintf(stderr, "attn: warning: %s%s\n", place, shown);
    }
}

/* Warns of parts of a checkpoint that attn does not compute, and of options that do nothing in this job. */
static void warn(const struct call *call, const struct problem *problem)
{
    if (problem->layer != NULL)
        warn_of(call, problem->layer->warnings.texts, problem->layer->warnings.count);
    warn_of(call, problem->record.warnings, problem->record.warning_count);
}

static enum status run_steps(const struct call *call, const struct problem *problem, struct progress *progress)
{
    struct steps steps;
    if (steps_make(&steps, &call->options, problem, progress, call->arena, call->error) != STATUS_OK) {
        output_abandon(call->output);
        return output_close(call->output);
    }
    progress_end(progress);
    return steps_write(&steps, &call->options, call->output, call->arena, call->error);
}

static jsonl_runner run_line;

/* Opens the output before the work, which an error after it would waste; without a result leaves no file. */
static enum status run_mechanism(const struct call *call)
{
    const struct options *options = &call->options;
    struct job_files none = {0}, *files = call->files != NULL ? call->files : &none;
    struct problem problem;
    struct result result;
    struct progress progress;
    if (files->inputs == NULL && job_files_want_input(options) && isatty(STDIN_FILENO))
        return refuse_terminal(call);
    if (options->jsonl)
        return open_result(call) ? call->error->status
                                 : jsonl_run(options, run_line, call->output, call->arena, call->error);
    if (write_check(options, call->error) || job_files_add(files, options, call->arena, call->error) ||
        problem_create(&problem, options, files, call->arena, call->error) ||
        (options->steps && steps_check(options, &problem, call->error)))
        return call->error->status;
    warn(call, &problem);
    if (open_result(call) != STATUS_OK)
        return call->error->status;
    if (problem.chosen.explains_config) {
        write_config(problem.layer, options->format, call->output);
        return output_close(call->output);
    }
    progress_start(&progress, options->progress != WHEN_NEVER, options->progress == WHEN_ALWAYS);
    if (options->steps)
        return run_steps(call, &problem, &progress);
    if (result_list(&result, &problem, &progress, write_elides(options, &problem), call->arena, call->error) ||
        write_check_result(options, &result, call->output, call->arena, call->error) ||
        result_compute(&result, call->arena, call->error)) {
        output_abandon(call->output);
        return output_close(call->output);
    }
    if (problem.chosen.explains || output_is_terminal(call->output)) /* an explanation reads rows in any order */
        progress_stop(&progress);
    enum status status = write_result(options, &result, call->output, call->arena, call->error);
    progress_end(&progress);
    return status;
}

static enum status run_line(struct jsonl_job *job)
{
    const struct call call = {.options = job->options,
                              .files = &job->files,
                              .line = job->line,
                              .output = &job->output,
                              .arena = &job->arena,
                              .error = &job->error};
    return run_mechanism(&call);
}

/* --explain config needs no hidden states. */
static enum status run_config(const struct call *call)
{
    struct layer layer;
    if (layer_read(&layer, &call->options, call->arena, call->error) || open_result(call))
        return call->error->status;
    warn_of(call, layer.warnings.texts, layer.warnings.count);
    write_config(&layer, call->options.format, call->output);
    return output_close(call->output);
}

/* Lists a checkpoint without hidden states and without a layer. */
static enum status run_layer(const struct call *call)
{
    const struct options *options = &call->options;
    struct listing listing;
    const bool alone = options->weights != NULL && options->in == NULL && options->random == NULL && !options->jsonl;
    if (alone && options->cell != NULL && strcmp(options->cell, "config") == 0)
        return run_config(call);
    if (!alone || options_said(options, OPTION_LAYER))
        return run_mechanism(call);
    if (!options_format(options)->reports)
        return error_usage(call->error, "a checkpoint is listed as text or json; expected hidden states and --layer N "
                                        "for another format");
    for (int id = 0; id < OPTION_COUNT; id++)
        if (options->origin[id] == ORIGIN_COMMAND_LINE && OPTIONS[id].setting && !listing_takes((enum option_id)id))
            return error_usage(call->error, "--%s does nothing in a list; expected hidden states and --layer N with it",
                               OPTIONS[id].name);
    if (listing_read(&listing, options, call->arena, call->error) || open_result(call))
        return call->error->status;
    warn_of(call, listing.warnings.texts, listing.warnings.count);
    write_listing(&listing, options->format, call->output);
    return output_close(call->output);
}

static enum status run_why(const struct call *call)
{
    const struct options *options = &call->options;
    struct job_files files;
    struct problem problem;
    struct progress progress;
    struct why *why = arena_allocate(call->arena, 1, sizeof *why, call->error);
    if (why == NULL)
        return call->error->status;
    if (job_files_want_input(options) && isatty(STDIN_FILENO))
        return refuse_terminal(call);
    if (job_files_read(&files, options, call->arena, call->error) ||
        problem_create(&problem, options, &files, call->arena, call->error))
        return call->error->status;
    warn(call, &problem);
    progress_start(&progress, options->progress != WHEN_NEVER, options->progress == WHEN_ALWAYS);
    if (open_result(call) != STATUS_OK)
        return call->error->status;
    if (why_search(why, options, &files, &problem, NULL, call->output, &progress, call->arena, call->error) !=
        STATUS_OK) {
        output_abandon(call->output);
        return output_close(call->output);
    }
    return why_write(why, call->output);
}

static enum status run_worksheet(const struct call *call)
{
    struct worksheet *worksheet = arena_allocate(call->arena, 1, sizeof *worksheet, call->error);
    if (worksheet == NULL || worksheet_create(worksheet, &call->options, call->arena, call->error) != STATUS_OK)
        return call->error->status;
    warn(call, &worksheet->first);
    if (open_result(call) != STATUS_OK)
        return call->error->status;
    return worksheet_write(worksheet, call->output);
}

static enum status run_cases(const struct call *call)
{
    const struct options *options = &call->options;
    struct cases_report report;
    if (options->check && (cases_open(&report, options, call->arena, call->error) ||
                           cases_check(&report, options, call->arena, call->error) ||
                           cases_check_out(&report, options->out, call->arena, call->error)))
        return call->error->status;
    if (open_result(call) != STATUS_OK)
        return call->error->status;
    return options->check ? cases_report(&report, options, call->output, call->error)
                          : cases_write(options, call->output, call->arena, call->error);
}

/* Runs a mechanism: a job, or perhaps the list of a checkpoint. */
static enum status run_computing(const struct call *call)
{
    return MECHANISMS[call->options.mechanism].opens ? run_layer(call) : run_mechanism(call);
}

/* Runs the mechanism's command, and prints the path of the page. */
static enum status run_page(const struct call *call)
{
    struct call page = *call;
    struct job_files files;
    page.files = &files;
    if (job_files_choose(&files, &page.options, call->arena, call->error) || run_computing(&page))
        return call->error->status;
    if (strcmp(page.options.out, "-") == 0)
        return STATUS_OK;
    if (open_standard_output(call) != STATUS_OK)
        return call->error->status;
    output_print(call->output, "%s: %s of %s; open it in a browser\n", page.options.out,
                 MECHANISMS[page.options.mechanism].title, files.inputs->source);
    return output_close(call->output);
}

static void warn_of_heads(const void *context, const struct problem *problem)
{
    warn(context, problem);
}

static enum status run_heads(const struct call *call)
{
    const struct options *options = &call->options;
    struct heads *heads = arena_allocate(call->arena, 1, sizeof *heads, call->error);
    struct progress progress;
    if (heads == NULL)
        return call->error->status;
    if (options->in == NULL && options->random == NULL && options->weights == NULL && isatty(STDIN_FILENO))
        return error_usage(call->error, "no input: type attn heads FILE; to try it: attn example trained | attn heads");
    if (heads_read(heads, options, call->arena, call->error) || open_result(call))
        return call->error->status;
    progress_start(&progress, options->progress != WHEN_NEVER, options->progress == WHEN_ALWAYS);
    if (heads_make(heads, warn_of_heads, call, &progress, call->arena, call->error) != STATUS_OK) {
        output_abandon(call->output);
        return output_close(call->output);
    }
    progress_end(&progress);
    return heads_write(heads, options, call->output);
}

#define RUNS_MECHANISM(id, ...) [COMMAND_##id] = run_computing,
static enum status (*const RUN[COMMAND_COUNT])(const struct call *call) = {
    MECHANISM_ROWS(RUNS_MECHANISM)[COMMAND_INIT] = run_mechanism,
    [COMMAND_DIFF] = run_diff,
    [COMMAND_WHY] = run_why,
    [COMMAND_PAGE] = run_page,
    [COMMAND_HEADS] = run_heads,
    [COMMAND_WORKSHEET] = run_worksheet,
    [COMMAND_JOIN] = run_join,
    [COMMAND_CASES] = run_cases,
    [COMMAND_EXAMPLE] = run_example,
    [COMMAND_LESSON] = run_lesson,
    [COMMAND_HELP] = run_help,
    [COMMAND_VERSION] = run_version,
    [COMMAND_COMPLETE] = run_complete,
};

static enum status run(struct call *call, int argc, char **argv)
{
    const struct options *options = &call->options;
    call->output = arena_allocate(call->arena, 1, sizeof *call->output, call->error);
    if (call->output == NULL || options_parse(&call->options, argc, argv, call->error) != STATUS_OK)
        return call->error->status;
    return RUN[options->command](call);
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct error error = {0};
    struct call call = {.program = argv[0], .arena = &arena, .error = &error};
    if (!open_standard_streams())
        return STATUS_SYSTEM;
    signal(SIGPIPE, SIG_IGN); /* a reader that has gone is an error of write */
    enum status status = run(&call, argc, argv);
    if (status != STATUS_OK)
        error_print(&error, stderr);
    arena_free(&arena);
    return (int)status;
}
