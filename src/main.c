#include "compute/join.h"
#include "diff/diff.h"
#include "problem/problem_create.h"
#include "read/load.h"
#include "write/format/write.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* A standard stream that is closed must not become the next file that is opened: it becomes one that refuses. */
static bool open_standard_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return false;
    return true;
}

static enum status run(int argc, char **argv, struct arena *arena, struct error *error)
{
    struct options options;
    struct load load;
    struct problem problem;
    struct result result;
    struct progress progress;
    struct diff diff;
    if (options_parse(&options, argc, argv, error) != STATUS_OK)
        return error->status;
    if (options.command == COMMAND_VERSION || (options.command == COMMAND_HELP && options.help))
        return write_help(&options, arena, error);
    if (options.command == COMMAND_HELP || (load_wants_input(&options) && isatty(STDIN_FILENO)))
        return write_usage(&options, error);
    progress_start(&progress, options.progress != WHEN_NEVER, options.progress == WHEN_ALWAYS);
    if (options.command == COMMAND_DIFF && diff_results(&diff, &options, arena, error) == STATUS_OK)
        return write_diff(&options, &diff, arena, error);
    if (options.command == COMMAND_JOIN && join_parts(&result, &problem, &options, arena, error) == STATUS_OK)
        return write_open(&options, arena, error) ? error->status : write_result(&options, &result, arena, error);
    if (error->status != STATUS_OK || write_check(&options, error) || load_files(&load, &options, arena, error) ||
        problem_create(&problem, &options, load.inputs, load.weights, &progress, arena, error))
        return error->status;
    for (size_t i = 0; i < problem.warning_count; i++)
        error_warn(problem.warnings[i], stderr);
    if (write_open(&options, arena, error) != STATUS_OK)
        return error->status;
    if (result_create(&result, &problem, write_elides(&options, &problem), arena, error) != STATUS_OK)
        return write_abandon();
    return write_result(&options, &result, arena, error);
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct error error = {0};
    if (!open_standard_streams())
        return STATUS_SYSTEM;
    signal(SIGPIPE, SIG_IGN); /* a reader that has gone is an error of write */
    enum status status = run(argc, argv, &arena, &error);
    if (status != STATUS_OK)
        error_print(&error, stderr);
    arena_free(&arena);
    return (int)status;
}
