/* SPDX-License-Identifier: MIT */
/* The jobs of attn heads: one, or one for each layer whose hidden states are given. */
#include "heads/heads.h"

#include "base/folder.h"
#include "build/problem_create.h"
#include "layer/listing.h"
#include "read/load.h"
#include "write/head_lines.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* The layer in the name of a file: "hidden-1.npy". */
static bool layer_of_file(const char *path, size_t *layer)
{
    const char *base = folder_base(path), *suffix = strrchr(base, '.');
    char stem[256];
    snprintf(stem, sizeof stem, "%.*s", suffix != NULL ? (int)(suffix - base) : 255, base);
    return input_file_hidden(stem, layer) || input_file_hidden(base, layer);
}

/* Takes the file as the inputs of a layer, by that tensor, or as it is where `tensor` is NULL. */
static enum status take_layer(struct heads *heads, const struct input_file *file, const struct file_tensor *tensor,
                              size_t layer, struct arena *arena, struct error *error)
{
    if (layer >= HEADS_LAYERS)
        return error_usage(error, "%s: layer %zu; expected numbers below %d", file->source, layer, HEADS_LAYERS);
    struct input_file *input = &heads->layers[layer].file;
    if (input->source != NULL)
        return error_usage(error, "%s and %s both have the hidden states of layer %zu; give one of them", input->source,
                           file->source, layer);
    *input = *file;
    /* transformers calls the residual stream so */
    const char *name = tensor != NULL ? tensor->name : file->source;
    heads->layers[layer].residual = strstr(folder_base(name), "hidden_states") != NULL;
    heads->given++;
    if (tensor == NULL)
        return STATUS_OK;
    input->tensors = arena_allocate(arena, file->tensor_count, sizeof *file->tensors, error);
    if (input->tensors == NULL)
        return error->status;
    memcpy(input->tensors, file->tensors, file->tensor_count * sizeof *file->tensors);
    input->tensors[tensor - file->tensors].name = "inputs";
    input_file_sort(input);
    return STATUS_OK;
}

/* Takes the hidden states of a file: hidden_states.N, or its inputs, those of the layer in its name or of --layer;
 * nothing where --layer is another. */
static enum status take_file(struct heads *heads, const char *path, struct arena *arena, struct error *error)
{
    const struct options *options = &heads->options;
    const bool asked = options_said(options, OPTION_LAYER);
    struct input_file file;
    bool found = false;
    size_t layer;
    if (load_file(path, job_files_kinds(options) | INPUT_FILE_HIDDEN, arena, &file, error) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < file.tensor_count; i++)
        if (input_file_hidden(file.tensors[i].name, &layer)) {
            found = true;
            if ((!asked || layer == options->layer) &&
                take_layer(heads, &file, &file.tensors[i], layer, arena, error) != STATUS_OK)
                return error->status;
        }
    if (found)
        return STATUS_OK;
    if (!layer_of_file(path, &layer)) {
        if (!asked)
            return error_usage(
                error, "%s: of which layer? Type --layer N, or name the file hidden-N or its tensors hidden_states.N",
                file.source);
        layer = (size_t)options->layer;
    }
    return asked && layer != options->layer ? STATUS_OK : take_layer(heads, &file, NULL, layer, arena, error);
}

/* Takes a file, or those files of a folder whose names have a layer. */
static enum status take_path(struct heads *heads, const char *path, struct arena *arena, struct error *error)
{
    const char **names;
    size_t count, layer;
    if (!folder_is(path))
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

/* Whether attn computes attention of the layer, and if not, why, where that is known; *last: the last layer. */
static bool computes_layer(const struct listing *listing, size_t layer, size_t *last, const char **why)
{
    bool computes = false;
    for (size_t i = 0; i < listing->count; i++)
        for (size_t k = 0; k < listing->rows[i].count; k++) {
            const size_t listed = listing->rows[i].layers[k];
            *last = listed != MODULE_NO_LAYER ? memory_larger(*last, listed) : *last;
            *why = listed == layer ? listing->rows[i].why : *why;
            computes = computes || (listed == layer && listing->rows[i].why[0] == '\0');
        }
    return computes;
}

/* Takes the hidden states of layers; leaves out those of layers that attn does not compute, as after the last one. */
static enum status read_layers(struct heads *heads, struct listing *listing, struct arena *arena, struct error *error)
{
    const struct options *options = &heads->options;
    heads->layers = arena_allocate(arena, HEADS_LAYERS, sizeof *heads->layers, error);
    if (heads->layers == NULL || (listing->count == 0 && listing_read(listing, options, arena, error) != STATUS_OK))
        return error->status;
    memset(heads->layers, 0, HEADS_LAYERS * sizeof *heads->layers);
    if (options->in == NULL)
        return error_usage(error, "no hidden states: type attn heads HIDDEN... -w %.80s", options->weights);
    for (size_t i = 0; i <= options->file_count; i++)
        if (take_path(heads, i == 0 ? options->in : options->files[i - 1], arena, error) != STATUS_OK)
            return error->status;
    const char *why = "", *source = options->in;
    for (size_t layer = 0, last = 0; layer < HEADS_LAYERS; layer++) {
        struct input_file *file = &heads->layers[layer].file;
        if (file->source == NULL || computes_layer(listing, layer, &last, &why))
            continue;
        if (layer > last + 1)
            return error_usage(error, "%s: hidden states of layer %zu, and the last layer of %s is %zu", file->source,
                               layer, listing->source, last);
        source = file->source;
        file->source = NULL;
        heads->given--;
    }
    if (heads->given == 0 && why[0] == '\0' && options_said(options, OPTION_LAYER))
        return error_usage(error, "%.80s: no hidden states of layer %zu", source, (size_t)options->layer);
    if (heads->given == 0)
        return error_usage(error, "%.80s: no hidden states of a layer that attn computes%s%s", source,
                           why[0] != '\0' ? ": " : "; name them hidden_states.N or hidden-N", why);
    return STATUS_OK;
}

/* The tokens of a file: its labels, or an array of ids. */
static enum status read_token_file(const char *path, struct token_labels *labels, struct arena *arena,
                                   struct error *error)
{
    struct input_file file;
    if (load_file(path, INPUT_FILE_TOKENS | INPUT_FILE_INPUTS, arena, &file, error) != STATUS_OK)
        return error->status;
    const struct file_tensor *found = input_file_find(&file, "inputs");
    const struct tensor *ids = found != NULL ? &found->tensor : NULL;
    *labels = file.tokens;
    if (labels->texts != NULL)
        return STATUS_OK;
    if (ids == NULL || ids->rank > 2)
        return error_usage(error, "--tokens %.80s: expected tokens, or ids of T or B x T", path);
    *labels = (struct token_labels){.lists = tensor_count(ids) / ids->shape[ids->rank - 1],
                                    .count = ids->shape[ids->rank - 1]};
    labels->nested = labels->lists > 1;
    labels->texts = arena_allocate(arena, tensor_count(ids), sizeof labels->texts[0], error);
    for (size_t i = 0; i < tensor_count(ids) && error->status == STATUS_OK; i++) {
        char text[32];
        double id;
        tensor_load(ids, i, 1, &id);
        if (!(fabs(id) < 0x1p53) || id != floor(id))
            return error_usage(error, "--tokens %.80s: %g is no id; expected whole numbers", path, id);
        snprintf(text, sizeof text, "%.0f", id);
        labels->texts[i] = arena_copy(arena, text, error);
    }
    return error->status;
}

/* --tokens: a file, or names with commas between them. */
static enum status read_tokens(const char *asked, struct token_labels *labels, struct arena *arena, struct error *error)
{
    if (strchr(asked, ',') == NULL || access(asked, F_OK) == 0)
        return read_token_file(asked, labels, arena, error);
    char *words = arena_copy(arena, asked, error);
    labels->lists = 1;
    labels->texts = arena_allocate(arena, strlen(asked) + 1, sizeof labels->texts[0], error);
    while (words != NULL && labels->texts != NULL)
        labels->texts[labels->count++] = strsep(&words, ",");
    return error->status;
}

/* Whether --weights is a checkpoint, not a file of attn's parameters; lists a file's modules. */
static bool opens_checkpoint(const struct options *options, struct listing *listing, struct arena *arena)
{
    struct options of_layer = *options;
    struct error quiet = {0};
    of_layer.mechanism = MECHANISM_LAYER;
    return options->weights != NULL &&
           (folder_is(options->weights) || listing_read(listing, &of_layer, arena, &quiet) == STATUS_OK);
}

enum status heads_read(struct heads *heads, const struct options *options, struct arena *arena, struct error *error)
{
    *heads = (struct heads){.options = *options};
    struct options *own = &heads->options;
    struct listing listing = {0};
    if (options->tokens != NULL && read_tokens(options->tokens, &heads->tokens, arena, error) != STATUS_OK)
        return error->status;
    own->origin[OPTION_TOKENS] = ORIGIN_DEFAULT; /* no option of the job */
    if (own->mechanism == MECHANISM_COUNT && opens_checkpoint(own, &listing, arena))
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
    return opens ? read_layers(heads, &listing, arena, error) : job_files_add(&heads->files, own, arena, error);
}

/* --- the work ----------------------------------------------------------------------------------------------------- */

/* What was computed: the head lines of the only job, or the checkpoint. */
static enum status describe(struct heads *heads, const struct problem *problem, struct arena *arena,
                            struct error *error)
{
    char bytes[1024], source[TEXT_PATH_BYTES];
    struct text text = text_begin(bytes, sizeof bytes);
    if (heads->layers == NULL && head_lines_add(problem, &text, arena, error) != STATUS_OK)
        return error->status;
    if (heads->layers != NULL) {
        text_shown(problem->layer->weights.source, SIZE_MAX, source, sizeof source);
        text_add(&text, "%s (%s): %zu layer%s, %zu heads, %zu tokens, from %s", source, problem->layer->family->title,
                 heads->given, heads->given == 1 ? "" : "s", problem->size.heads, problem->size.keys,
                 problem->given.residual ? "the residual stream" : "the inputs of the modules");
    }
    heads->words = arena_copy(arena, bytes, error);
    return error->status;
}

/* Adds the lines of a layer behind the others: all of its heads, or that of --head. */
static struct head_line *add_lines(struct heads *heads, const struct problem *problem, size_t layer,
                                   struct arena *arena, struct error *error)
{
    const size_t chosen = problem->chosen.head, count = chosen > 0 ? 1 : problem->size.heads;
    struct head_line *lines = arena_allocate(arena, count, sizeof *lines, error);
    for (size_t i = 0; lines != NULL && i < count; i++) {
        lines[i] = (struct head_line){.layer = heads->layers != NULL ? layer : MODULE_NO_LAYER,
                                      .head = (chosen > 0 ? chosen : 1) + i};
        *heads->end = &lines[i];
        heads->end = &lines[i].next;
    }
    return lines;
}

static enum status run_job(struct heads *heads, size_t layer, heads_warner *warn, const void *context,
                           struct progress *progress, struct arena *arena, struct arena *own, struct error *error)
{
    struct options options = heads->options;
    struct job_files files = heads->files;
    struct input_file input = heads->layers != NULL ? heads->layers[layer].file : *files.inputs;
    struct problem problem;
    struct result result;
    if (heads->tokens.texts != NULL)
        input.tokens = heads->tokens;
    files.inputs = &input;
    if (heads->layers != NULL) {
        options.layer = layer;
        options.origin[OPTION_LAYER] = ORIGIN_COMMAND_LINE;
        options.residual |= heads->layers[layer].residual;
    }
    if (job_files_add(&files, &options, own, error) || problem_create(&problem, &options, &files, own, error))
        return error->status;
    if (problem.mistake.recipe != NULL)
        return error_usage(error, "%s: settings: attn heads makes no mistake; leave it out", input.source);
    if (heads->lines == NULL) {
        warn(context, &problem);
        if (describe(heads, &problem, arena, error) != STATUS_OK)
            return error->status;
    }
    struct head_line *lines = add_lines(heads, &problem, layer, arena, error);
    return lines == NULL || result_create(&result, &problem, progress, false, own, error)
               ? error->status
               : heads_measure(lines, &result, arena, error);
}

enum status heads_make(struct heads *heads, heads_warner *warn, const void *context, struct progress *progress,
                       struct arena *arena, struct error *error)
{
    heads->end = &heads->lines;
    for (size_t layer = 0; layer < (heads->layers != NULL ? HEADS_LAYERS : 1) && error->status == STATUS_OK; layer++) {
        struct arena own = {0};
        if (heads->layers == NULL || heads->layers[layer].file.source != NULL)
            run_job(heads, layer, warn, context, progress, arena, &own, error);
        arena_free(&own);
    }
    for (const struct head_line *line = heads->lines; line != NULL; line = line->next)
        for (int measure = 0; measure < HEAD_ENTROPY; measure++) {
            const struct head_line **best = &heads->best[measure];
            const struct head_mean *mean = &line->means[measure];
            if (mean->mean > mean->uniform && (*best == NULL || mean->mean > (*best)->means[measure].mean))
                *best = line;
        }
    return error->status;
}
