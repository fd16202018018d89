/* SPDX-License-Identifier: MIT */
#include "build/job_files.h"

#include "base/folder.h"
#include "base/text.h"
#include "model/torch_random.h"
#include "read/load.h"

#include <string.h>

bool job_files_want_input(const struct options *options)
{
    const bool says = options->sentence != NULL && options->weights != NULL; /* by the vocabulary there */
    return options->in == NULL && options->random == NULL && !says && options_read_inputs(options);
}

/* --random: draws the tensors in order from one generator, in float32. */
static enum status draw_inputs(struct input_file *input, const struct options *options, struct arena *arena,
                               struct error *error)
{
    static const char *const NAMES[] = {"inputs", "query", "key", "value"};
    const bool projects = MECHANISMS[options->mechanism].projects;
    const size_t first = projects ? 0 : 1, count = projects ? 1 : 3;
    struct torch_random generator;
    char source[TEXT_PATH_BYTES];
    const size_t length = (size_t)snprintf(source, sizeof source, "--random %.80s", options->random);
    *input = (struct input_file){.source = arena_text(arena, source, length, error),
                                 .tensors = arena_allocate(arena, count, sizeof input->tensors[0], error)};
    if (input->source == NULL || input->tensors == NULL)
        return error->status;
    torch_random_seed(&generator, options->rng, options->random_seed);
    for (size_t i = 0; i < count; i++) {
        struct file_tensor *drawn = &input->tensors[input->tensor_count++];
        *drawn = (struct file_tensor){.name = NAMES[first + i]};
        if (tensor_create(&drawn->tensor, DTYPE_F32, options->random_rank, options->random_shape, arena, error))
            return error->status;
        torch_random_normal(&generator, drawn->tensor.data, tensor_count(&drawn->tensor));
    }
    input_file_sort(input);
    return STATUS_OK;
}

/* STATUS_USAGE for missing inputs; for layer first for a missing checkpoint. */
static enum status refuse_inputs(const struct options *options, struct error *error)
{
    if (!MECHANISMS[options->mechanism].opens || error->memory)
        return error->status;
    if (options->weights == NULL && options->in == NULL)
        return error_usage(error, JOB_FILES_NO_CHECKPOINT);
    if (options->in == NULL || !folder_is(options->in))
        return error->status;
    return error_usage(error, "%s: a folder; give hidden states here, and the checkpoint with --weights", options->in);
}

unsigned job_files_kinds(const struct options *options)
{
    const bool init = options->command == COMMAND_INIT, given = !init && !MECHANISMS[options->mechanism].projects;
    unsigned kinds = INPUT_FILE_SETTINGS;
    kinds |= given ? INPUT_FILE_OPERAND : INPUT_FILE_INPUTS;
    if (!init)
        kinds |= INPUT_FILE_TOKENS | INPUT_FILE_MASKING | INPUT_FILE_BUFFER | (given ? INPUT_FILE_CACHE : 0);
    if (!init && !given && !MECHANISMS[options->mechanism].opens)
        kinds |= INPUT_FILE_WORDS;
    if (!init && !given && options->weights == NULL)
        kinds |= INPUT_FILE_PARAMETER;
    if (!init && !given && options->key_inputs == NULL)
        kinds |= INPUT_FILE_KEYS;
    return kinds;
}

enum status job_files_read(struct job_files *job, const struct options *options, struct arena *arena,
                           struct error *error)
{
    *job = (struct job_files){0};
    return job_files_add(job, options, arena, error);
}

enum status job_files_add(struct job_files *job, const struct options *options, struct arena *arena,
                          struct error *error)
{
    if (job->inputs == NULL && options_read_inputs(options)) {
        job->inputs = &job->files[0];
        const char *in = options->in != NULL ? options->in : "-";
        job->files[0] = (struct input_file){.source = "--text"};
        if (options->random != NULL ? draw_inputs(&job->files[0], options, arena, error)
            : options->in != NULL || job_files_want_input(options)
                ? load_file(in, job_files_kinds(options), arena, &job->files[0], error)
                : STATUS_OK)
            return refuse_inputs(options, error);
    }
    if (options->key_inputs != NULL && job->keys == NULL) {
        job->keys = &job->files[2];
        if (load_file(options->key_inputs, INPUT_FILE_INPUTS | INPUT_FILE_TOKENS, arena, &job->files[2], error) !=
            STATUS_OK)
            return error->status;
    }
    if (options->grad != NULL && strcmp(options->grad, "ones") != 0 && job->grad == NULL) {
        job->grad = &job->files[3];
        if (load_file(options->grad, INPUT_FILE_STAGE | INPUT_FILE_FOREIGN, arena, &job->files[3], error) != STATUS_OK)
            return error->status;
    }
    if (options->weights == NULL || job->weights != NULL)
        return STATUS_OK;
    if (MECHANISMS[options->mechanism].opens) {
        job->layer = &job->opened;
        job->weights = &job->opened.weights;
        return layer_read(&job->opened, options, arena, error);
    }
    job->weights = &job->files[1];
    const unsigned kinds = INPUT_FILE_PARAMETER | INPUT_FILE_BUFFER | INPUT_FILE_WORDS | INPUT_FILE_TOKENS;
    const enum status status = load_file(options->weights, kinds, arena, &job->files[1], error);
    if (status == STATUS_OK || !folder_is(options->weights))
        return status;
    return error_usage(error, "%s: a folder; give a file of parameters, or type attn layer for a checkpoint",
                       options->weights);
}
