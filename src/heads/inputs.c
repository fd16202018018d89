/* SPDX-License-Identifier: MIT */
/* The jobs of attn heads: one, or one for each layer whose hidden states are given. */
#include "heads/heads.h"

#include "base/folder.h"
#include "build/problem_create.h"
#include "layer/listing.h"
#include "read/load.h"
#include "write/head_lines.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LAYERS = 1024 };

static bool is_folder(const char *path)
{
    struct stat what;
    return stat(path, &what) == 0 && S_ISDIR(what.st_mode);
}

/* The layer in the name of a file: "hidden-1.npy". */
static bool layer_of_file(const char *path, size_t *layer)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path, *suffix = strrchr(base, '.');
    char stem[256];
    snprintf(stem, sizeof stem, "%.*s", suffix != NULL ? (int)(suffix - base) : 255, base);
    return input_file_hidden(stem, layer) || input_file_hidden(base, layer);
}

/* Takes a tensor of the file as the inputs of a layer; SIZE_MAX: the file as it is. */
static enum status take_layer(struct heads *heads, const struct input_file *file, size_t tensor, size_t layer,
                              struct arena *arena, struct error *error)
{
    size_t other;
    if (layer >= MOST_LAYERS)
        return error_usage(error, "%s: layer %zu; expected numbers below %d", file->source, layer, MOST_LAYERS);
    struct input_file *input = &heads->inputs[layer];
    if (input->source != NULL)
        return error_usage(error, "%s and %s both have the hidden states of layer %zu; give one of them", input->source,
                           file->source, layer);
    *input = *file;
    heads->residual[layer] = tensor != SIZE_MAX;
    heads->given++;
    if (tensor == SIZE_MAX)
        return STATUS_OK;
    input->tensor_count = 0;
    input->tensors = arena_allocate(arena, file->tensor_count, sizeof *file->tensors, error);
    for (size_t i = 0; input->tensors != NULL && i < file->tensor_count; i++) {
        struct file_tensor taken = file->tensors[i];
        taken.name = i == tensor ? "inputs" : taken.name;
        if (!input_file_hidden(taken.name, &other))
            input->tensors[input->tensor_count++] = taken;
    }
    input_file_sort(input);
    return error->status;
}

/* Takes the hidden states of a file: hidden_states.N, or its inputs, those of the layer in its name or of --layer. */
static enum status take_file(struct heads *heads, const char *path, struct arena *arena, struct error *error)
{
    const struct options *options = &heads->options;
    const bool asked = options->origin[OPTION_LAYER] != ORIGIN_DEFAULT;
    struct input_file file;
    bool found = false;
    size_t layer;
    if (load_file(path, job_files_kinds(options) | INPUT_FILE_HIDDEN, arena, &file, error) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < file.tensor_count; i++)
        if (input_file_hidden(file.tensors[i].name, &layer)) {
            found = true;
            if ((!asked || layer == options->layer) && take_layer(heads, &file, i, layer, arena, error) != STATUS_OK)
                return error->status;
        }
    if (found)
        return STATUS_OK;
    if (!layer_of_file(path, &layer) && !asked)
        return error_usage(error,
                           "%s: of which layer? Type --layer N, or name the file hidden-N or its tensors "
                           "hidden_states.N",
                           file.source);
    return take_layer(heads, &file, SIZE_MAX, asked ? (size_t)options->layer : layer, arena, error);
}

/* Takes a file, or those files of a folder whose names have a layer. */
static enum status take_path(struct heads *heads, const char *path, struct arena *arena, struct error *error)
{
    const char **names;
    size_t count, layer;
    if (!is_folder(path))
        return take_file(heads, path, arena, error);
    if (folder_list(path, &names, &count, arena, error) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < count; i++) {
        const char *file = folder_path(path, names[i], arena, error);
        if (file == NULL ||
            (layer_of_file(file, &layer) && (folder_check_file(file, error) || take_file(heads, file, arena, error))))
            return error->status;
    }
    return STATUS_OK;
}

static bool lists_layer(const struct listing *listing, size_t layer)
{
    for (size_t i = 0; i < listing->count; i++)
        for (size_t k = 0; k < listing->rows[i].count; k++)
            if (listing->rows[i].layers[k] == layer)
                return true;
    return false;
}

/* Takes the hidden states of layers; leaves out those of layers without attention, as after the last one. */
static enum status read_layers(struct heads *heads, struct arena *arena, struct error *error)
{
    const struct options *options = &heads->options;
    struct listing listing;
    heads->layers = MOST_LAYERS;
    heads->inputs = arena_allocate(arena, MOST_LAYERS, sizeof *heads->inputs, error);
    heads->residual = arena_allocate(arena, MOST_LAYERS, sizeof *heads->residual, error);
    if (error->status != STATUS_OK || listing_read(&listing, options, arena, error) != STATUS_OK)
        return error->status;
    memset(heads->inputs, 0, MOST_LAYERS * sizeof *heads->inputs);
    if (options->in == NULL)
        return error_usage(error, "no hidden states: type attn heads HIDDEN... -w %.80s", options->weights);
    for (size_t i = 0; i <= options->file_count; i++)
        if (take_path(heads, i == 0 ? options->in : options->files[i - 1], arena, error) != STATUS_OK)
            return error->status;
    for (size_t layer = 0; layer < MOST_LAYERS; layer++)
        if (heads->inputs[layer].source != NULL && !lists_layer(&listing, layer)) {
            heads->inputs[layer].source = NULL;
            heads->given--;
        }
    if (heads->given == 0)
        return error_usage(error, "%.80s: no hidden states of a layer of %s; name them hidden_states.N or hidden-N",
                           options->in, listing.source);
    return STATUS_OK;
}

/* --tokens: names with commas between them; or a file of tokens, or of an array of ids. */
static enum status read_tokens(const char *asked, struct token_labels *labels, struct arena *arena, struct error *error)
{
    struct input_file file = {0};
    const bool list = access(asked, F_OK) != 0;
    if (!list && load_file(asked, INPUT_FILE_TOKENS | INPUT_FILE_INPUTS, arena, &file, error) != STATUS_OK)
        return error->status;
    *labels = file.tokens;
    if (labels->texts != NULL)
        return STATUS_OK;
    const struct file_tensor *found = input_file_find(&file, "inputs");
    const struct tensor *ids = found != NULL ? &found->tensor : NULL;
    if (!list && (ids == NULL || ids->rank > 2))
        return error_usage(error, "--tokens %.80s: expected tokens, or ids of T or B x T", asked);
    labels->lists = list || ids->rank == 1 ? 1 : ids->shape[0];
    labels->nested = labels->lists > 1;
    labels->count = list ? 1 : ids->shape[ids->rank - 1];
    for (const char *comma = list ? strchr(asked, ',') : NULL; comma != NULL; comma = strchr(comma + 1, ','))
        labels->count++;
    labels->texts = arena_allocate(arena, labels->lists * labels->count, sizeof labels->texts[0], error);
    for (size_t i = 0; error->status == STATUS_OK && i < labels->lists * labels->count; i++) {
        char text[32];
        double id = 0;
        if (!list)
            tensor_load(ids, i, 1, &id);
        if (id != (double)(int64_t)id)
            return error_usage(error, "--tokens %.80s: %g is no id; expected whole numbers", asked, id);
        snprintf(text, sizeof text, "%.0f", id);
        labels->texts[i] = list ? arena_text(arena, asked, strcspn(asked, ","), error) : arena_copy(arena, text, error);
        asked += list ? strcspn(asked, ",") + 1 : 0;
    }
    return error->status;
}

/* Whether --weights is a checkpoint, not a file of attn's parameters. */
static bool opens_checkpoint(const struct options *options, struct arena *arena)
{
    struct options of_layer = *options;
    struct listing listing;
    struct error quiet = {0};
    of_layer.mechanism = MECHANISM_LAYER;
    return options->weights != NULL &&
           (is_folder(options->weights) || listing_read(&listing, &of_layer, arena, &quiet) == STATUS_OK);
}

enum status heads_read(struct heads *heads, const struct options *options, struct arena *arena, struct error *error)
{
    *heads = (struct heads){.options = *options};
    struct options *own = &heads->options;
    if (options->tokens != NULL && read_tokens(options->tokens, &heads->tokens, arena, error) != STATUS_OK)
        return error->status;
    own->origin[OPTION_TOKENS] = ORIGIN_DEFAULT; /* no option of the job */
    if (own->mechanism == MECHANISM_COUNT && opens_checkpoint(own, arena))
        own->mechanism = MECHANISM_LAYER;
    const bool opens = own->mechanism != MECHANISM_COUNT && MECHANISMS[own->mechanism].opens && own->random == NULL;
    if (opens && own->weights == NULL)
        return error_usage(error, JOB_FILES_NO_CHECKPOINT);
    if (!opens && own->file_count > 0)
        return error_usage(error, "several files need a checkpoint; add --weights MODEL");
    if (!opens && own->in == NULL && own->random == NULL)
        own->in = "-";
    if (!opens && job_files_choose(&heads->files, own, arena, error) != STATUS_OK)
        return error->status;
    own->stages[0] = STAGE_WEIGHTS;
    own->stage_count = 1;
    own->format = FORMAT_TEXT;
    own->command = command_of(own->mechanism);
    return opens ? read_layers(heads, arena, error) : job_files_add(&heads->files, own, arena, error);
}

/* --- the work ----------------------------------------------------------------------------------------------------- */

/* What was computed: the head lines of the only job, or the checkpoint. */
static enum status describe(struct heads *heads, const struct problem *problem, struct arena *arena,
                            struct error *error)
{
    char bytes[1024], source[TEXT_PATH_BYTES];
    struct text text = text_begin(bytes, sizeof bytes);
    if (heads->layers == 0 && head_lines_add(problem, &text, arena, error) != STATUS_OK)
        return error->status;
    if (heads->layers > 0)
        text_shown(problem->layer->weights.source, SIZE_MAX, source, sizeof source);
    if (heads->layers > 0)
        text_add(&text, "%s (%s): %zu layer%s, %zu heads, %zu tokens%s", source, problem->layer->family->title,
                 heads->given, heads->given == 1 ? "" : "s", problem->size.heads, problem->size.keys,
                 problem->given.residual ? ", from the residual stream" : "");
    heads->words = arena_copy(arena, bytes, error);
    return error->status;
}

/* Adds the lines of a job. */
static enum status add_lines(struct heads *heads, struct result *result, struct arena *arena, struct error *error)
{
    const struct problem *problem = result->problem;
    const size_t more = problem->size.heads;
    struct head_line *lines = arena_allocate(arena, more, sizeof *lines, error);
    struct head_line **all = arena_allocate(arena, heads->count + more, sizeof(struct head_line *), error);
    if (lines == NULL || all == NULL)
        return error->status;
    memset(lines, 0, more * sizeof *lines);
    if (heads->count > 0)
        memcpy(all, heads->lines, heads->count * sizeof(struct head_line *));
    heads->lines = all;
    for (size_t head = 0; head < more; head++) {
        lines[head].layer = problem->layer != NULL ? problem->layer->module->layer : MODULE_NO_LAYER;
        lines[head].head = head;
        all[heads->count++] = &lines[head];
    }
    return heads_measure(lines, result, arena, error);
}

static enum status run_job(struct heads *heads, size_t layer, heads_warner *warn, const void *context,
                           struct progress *progress, struct arena *arena, struct arena *own, struct error *error)
{
    struct options options = heads->options;
    struct job_files files = heads->files;
    struct input_file input = heads->layers > 0 ? heads->inputs[layer] : *files.inputs;
    struct problem problem;
    struct result result;
    if (heads->tokens.texts != NULL)
        input.tokens = heads->tokens;
    files.inputs = &input;
    if (heads->layers > 0) {
        options.layer = layer;
        options.origin[OPTION_LAYER] = ORIGIN_COMMAND_LINE;
        options.residual |= heads->residual[layer];
    }
    if (job_files_add(&files, &options, own, error) || problem_create(&problem, &options, &files, own, error))
        return error->status;
    if (heads->count == 0)
        warn(context, &problem);
    if ((heads->count == 0 && describe(heads, &problem, arena, error)) ||
        result_create(&result, &problem, progress, false, own, error))
        return error->status;
    return add_lines(heads, &result, arena, error);
}

static void choose_best(struct heads *heads)
{
    for (int measure = 0; measure < HEAD_ENTROPY; measure++)
        for (size_t i = 0; i < heads->count; i++) {
            const struct head_mean *mean = &heads->lines[i]->means[measure];
            const struct head_line **best = &heads->best[measure];
            if (mean->mean > mean->uniform && (*best == NULL || mean->mean > (*best)->means[measure].mean))
                *best = heads->lines[i];
        }
}

enum status heads_make(struct heads *heads, heads_warner *warn, const void *context, struct progress *progress,
                       struct arena *arena, struct error *error)
{
    for (size_t layer = 0; layer < memory_larger(heads->layers, 1) && error->status == STATUS_OK; layer++) {
        struct arena own = {0};
        if (heads->layers == 0 || heads->inputs[layer].source != NULL)
            run_job(heads, layer, warn, context, progress, arena, &own, error);
        arena_free(&own);
    }
    choose_best(heads);
    return error->status;
}
