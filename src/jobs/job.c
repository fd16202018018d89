/* SPDX-License-Identifier: MIT */
#include "jobs/job.h"

#include "steps/steps.h"
#include "write/format/format.h"

static enum status abandon(struct output *output)
{
    output_abandon(output);
    return output_close(output);
}

enum status job_check(const struct options *options, const struct problem *problem, struct error *error)
{
    return options->steps ? steps_check(options, problem, error) : STATUS_OK;
}

static enum status run_steps(const struct options *options, const struct problem *problem, struct progress *progress,
                             struct output *output, struct arena *arena, struct error *error)
{
    struct steps steps;
    if (steps_make(&steps, options, problem, progress, arena, error) != STATUS_OK)
        return abandon(output);
    progress_end(progress);
    return steps_write(&steps, options, output, arena, error);
}

enum status job_run(const struct options *options, struct problem *problem, struct output *output, struct arena *arena,
                    struct error *error)
{
    struct result result;
    struct progress progress;
    progress_start(&progress, options->progress != WHEN_NEVER, options->progress == WHEN_ALWAYS);
    if (options->steps)
        return run_steps(options, problem, &progress, output, arena, error);
    if (result_list(&result, problem, &progress, write_elides(options, problem), arena, error) ||
        write_check_result(options, &result, output, arena, error) || result_compute(&result, arena, error))
        return abandon(output);
    if (problem->chosen.explains || output_is_terminal(output)) /* an explanation reads rows in any order */
        progress_stop(&progress);
    enum status status = write_result(options, &result, output, arena, error);
    progress_end(&progress);
    return status;
}
