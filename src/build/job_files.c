#include "build/job_files.h"

#include "read/load.h"

static bool reads_inputs(const struct options *options)
{
    return options->mechanism != MECHANISM_COUNT &&
           (options->command != COMMAND_INIT || options->origin[OPTION_D_IN] == ORIGIN_DEFAULT);
}

bool job_files_want_input(const struct options *options)
{
    return options->in == NULL && reads_inputs(options);
}

enum status job_files_read(struct job_files *job, const struct options *options, struct arena *arena,
                           struct error *error)
{
    const bool init = options->command == COMMAND_INIT, given = !init && !MECHANISMS[options->mechanism].projects;
    unsigned kinds = INPUT_FILE_SETTINGS;
    kinds |= given ? INPUT_FILE_OPERAND : INPUT_FILE_INPUTS;
    if (!init)
        kinds |= INPUT_FILE_TOKENS | INPUT_FILE_MASKING | INPUT_FILE_BUFFER | (given ? INPUT_FILE_CACHE : 0);
    if (!init && !given && options->weights == NULL)
        kinds |= INPUT_FILE_PARAMETER;
    *job = (struct job_files){0};
    if (reads_inputs(options)) {
        job->inputs = &job->files[0];
        if (load_file(options->in != NULL ? options->in : "-", kinds, arena, job->inputs, error) != STATUS_OK)
            return error->status;
    }
    if (options->weights == NULL)
        return STATUS_OK;
    job->weights = &job->files[1];
    return load_file(options->weights, INPUT_FILE_PARAMETER | INPUT_FILE_BUFFER, arena, job->weights, error);
}
