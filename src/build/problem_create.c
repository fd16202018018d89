/* SPDX-License-Identifier: MIT */
#include "build/problem_create.h"

#include "base/threads.h"
#include "build/build.h"

#include "cli/option_text.h"
#include "stage/gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether the input is a result of another layer, whose settings do not apply to this one. */
static bool is_of_other_layer(const struct build *build)
{
    char number[24];
    if (build->layer == NULL || build->inputs == NULL || !build->inputs->is_result)
        return false;
    const char *recorded = input_file_setting(build->inputs, "layer");
    snprintf(number, sizeof number, "%zu", build->layer->module->layer);
    return recorded != NULL && strcmp(recorded, number) != 0;
}

/* Rejects input settings that choose a module's tensors, which attn has read before. A result may name another layer,
 * but not another adapter, of which its numbers would not tell. */
static enum status check_late_settings(const struct build *build)
{
    static const enum option_id LATE[] = {OPTION_LAYER,    OPTION_MODULE,  OPTION_FAMILY, OPTION_HEADS,
                                          OPTION_KV_HEADS, OPTION_PACKING, OPTION_ADAPTER};
    for (size_t i = 0; i < sizeof LATE / sizeof LATE[0]; i++)
        if (build->layer != NULL && build->options->origin[LATE[i]] == ORIGIN_FILE &&
            (LATE[i] == OPTION_ADAPTER || !build->inputs->is_result))
            return error_usage(build->error,
                               "%s: settings: %s decides which tensors attn reads, so a file cannot set it; type --%s",
                               build->inputs->source, OPTIONS[LATE[i]].name, OPTIONS[LATE[i]].name);
    return STATUS_OK;
}

static enum status apply_settings(const struct build *build)
{
    const struct input_file *inputs = build->inputs;
    const bool of_other = is_of_other_layer(build);
    for (size_t i = 0; inputs != NULL && i < inputs->setting_count; i++)
        if (!(of_other && layer_says(inputs->settings[i].name)) &&
            options_setting(build->options, &inputs->settings[i], false, inputs->source, build->error))
            return build->error->status;
    if (inputs == NULL || inputs->is_result || build->options->origin[OPTION_RANDOM] != ORIGIN_FILE)
        return STATUS_OK;
    return error_usage(build->error,
                       "%s: settings: random: the file has its own inputs; type --random SHAPE instead of a file",
                       inputs->source);
}

/* Copies the module, with facts replaced by the input's settings. */
static enum status take_facts(const struct build *build)
{
    if (build->layer == NULL)
        return STATUS_OK;
    struct layer *own = arena_allocate(build->arena, 1, sizeof *own, build->error);
    if (own == NULL)
        return build->error->status;
    *own = *build->layer;
    build->problem->layer = own;
    for (size_t i = 0; i < own->facts.count; i++) {
        struct layer_fact *fact = &own->facts.facts[i];
        char text[OPTION_TEXT_BYTES];
        const enum option_id id = options_find(fact->setting, strlen(fact->setting));
        if (id == OPTION_COUNT || build->options->origin[id] != ORIGIN_FILE)
            continue;
        const char *said = option_text(build->options, id, text);
        fact->text = arena_copy(build->arena, said, build->error);
        fact->source = FACT_OPTION;
        fact->key = "settings of the input";
        if (fact->text == NULL)
            return build->error->status;
    }
    return STATUS_OK;
}

/* Applies the facts about a checkpoint's module, unless options or settings overrule them. */
static enum status apply_facts(const struct build *build)
{
    const struct layer *layer = build->layer;
    const char *source = layer != NULL && layer->config != NULL ? layer->config
                         : layer != NULL                        ? layer->weights.source
                                                                : "";
    for (size_t i = 0; layer != NULL && i < layer->facts.count; i++)
        if (layer_says(layer->facts.facts[i].setting) &&
            options_fact(build->options, layer->facts.facts[i].setting, layer->facts.facts[i].text, source,
                         build->error) != STATUS_OK)
            return build->error->status;
    if (check_late_settings(build) || take_facts(build))
        return build->error->status;
    const char *asked = build->options->family;
    const struct family_row *family = layer != NULL ? layer->family : NULL;
    if (family == NULL && asked != NULL)
        family = family_find(asked);
    build->problem->rounding.family = family;
    if (asked != NULL && family == NULL)
        return error_usage(build->error, "unknown --family '%s'; attn help families lists them", asked);
    if (build->options->rounding != ROUNDING_TRANSFORMERS || (family != NULL && !family->by_hand))
        return STATUS_OK;
    return error_usage(
        build->error, "--rounding transformers needs a model family; add --family TYPE; attn help families lists them");
}

/* A result's query and key are already rotated and scaled: drops its settings of these steps. */
static enum status forget_steps(const struct build *build)
{
    static const enum option_id STEPS[] = {OPTION_ROPE,         OPTION_ROPE_THETA,  OPTION_ROPE_COLUMNS,
                                           OPTION_ROPE_SCALING, OPTION_ROPE_AXES,   OPTION_POSITIONS,
                                           OPTION_SCALE_ON,     OPTION_QUERY_GROWTH};
    struct options *options = build->options;
    const struct input_file *inputs = build->inputs;
    if (problem_projects(build->problem) || !inputs->is_result || input_file_has_layout(inputs, INPUT_FILE_GIVEN))
        return STATUS_OK;
    const bool scaled = options->origin[OPTION_SCALE_ON] == ORIGIN_FILE && options->scale_on == SCALE_ON_QUERY;
    const bool rotated = options->origin[OPTION_ROPE] == ORIGIN_FILE ||
                         (input_file_setting(inputs, "rope") != NULL && options->rope != ROPE_NONE) ||
                         input_file_setting(inputs, "query_growth") != NULL;
    for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0] && rotated; i++)
        if (options->origin[STEPS[i]] == ORIGIN_COMMAND_LINE)
            return error_usage(build->error,
                               "--%s: query and key of %s are already rotated or scaled; give them as they were before",
                               OPTIONS[STEPS[i]].name, inputs->source);
    for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++)
        if (options->origin[STEPS[i]] == ORIGIN_FILE)
            options->origin[STEPS[i]] = ORIGIN_DEFAULT;
    if (rotated) {
        options->rope = ROPE_NONE;
        options->query_growth.by = 0;
    }
    if (!scaled)
        return STATUS_OK;
    options->scale_on = SCALE_ON_SCORES;
    if (options->origin[OPTION_SCALE] != ORIGIN_COMMAND_LINE)
        options->scale = 1;
    if (options->origin[OPTION_TEMPERATURE] != ORIGIN_COMMAND_LINE)
        options->temperature = 1;
    options->origin[OPTION_SCALE] = ORIGIN_FILE;
    return STATUS_OK;
}

/* --- inputs and tokens ------------------------------------------------------------------------------------------- */

static enum status take_inputs(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    if (build->inputs == NULL) {
        problem->given.source = "--d-in";
        problem->size.d_in = problem->size.d_key_in = (size_t)options->d_in;
        return STATUS_OK;
    }
    const struct file_tensor *found = input_file_find(build->inputs, "inputs");
    if (found == NULL)
        return error_usage(build->error, "%s: no \"inputs\"; expected an array of rows, one for each token%s",
                           build->inputs->source,
                           options->command == COMMAND_INIT     ? "; or type --d-in N in place of the file"
                           : build->inputs->words.texts != NULL ? ", or a text of its words"
                                                                : "");
    const struct tensor *inputs = &found->tensor;
    if (inputs->rank < 2 || inputs->rank > 3)
        return error_usage(build->error, "%s: inputs is %s%s, expected T x d_in or B x T x d_in%s",
                           build->inputs->source, inputs->rank == 1 ? "a list of " : "", SHAPE_TEXT(inputs),
                           inputs->rank == 1 ? "; one token alone is [[...]]" : "");
    const size_t *axes = inputs->shape + inputs->rank - 2;
    problem->size.has_batch = inputs->rank == 3;
    problem->size.items = problem->size.has_batch ? inputs->shape[0] : 1;
    problem->size.queries = problem->size.keys = axes[0];
    problem->size.d_in = problem->size.d_key_in = axes[1];
    if (build_take_dtype(build, found) != STATUS_OK)
        return build->error->status;
    return tensor_convert(inputs, problem->rounding.dtype, build->inputs->source, "inputs", NULL,
                          &problem->given.inputs, build->arena, build->error);
}

/* Checks that the labels of `rows` are `count` many. */
static enum status check_labels(const struct build *build, const char *source, const char *name,
                                const struct token_labels *labels, size_t count, const char *rows)
{
    const struct problem *problem = build->problem;
    if (labels->texts == NULL)
        return STATUS_OK;
    if (labels->nested && !problem->size.has_batch)
        return error_usage(build->error, "%s: %s is a list of lists, but inputs is not a batch; give a plain list",
                           source, name);
    if (labels->nested && labels->lists != problem->size.items)
        return error_usage(build->error,
                           "%s: %s has %zu lists, expected %zu (as the items of inputs) or one plain list", source,
                           name, labels->lists, problem->size.items);
    if (labels->count != count)
        return error_usage(build->error, "%s: %s has %zu name%s, expected %zu (as the rows of %s)", source, name,
                           labels->count, labels->count == 1 ? "" : "s", count, rows);
    return STATUS_OK;
}

static enum status take_both(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct input_file *inputs = build->inputs, *keys = build->keys;
    const bool given = !problem_projects(problem);
    problem->labels.queries_differ = true;
    problem->labels.queries = inputs->tokens;
    problem->labels.keys = keys != NULL ? keys->tokens : inputs->key_tokens;
    return check_labels(build, inputs->source, "tokens", &inputs->tokens, problem->size.queries,
                        given ? "query" : "inputs") ||
                   check_labels(build, keys != NULL ? keys->source : inputs->source,
                                keys != NULL ? "tokens" : "key_tokens", &problem->labels.keys, problem->size.keys,
                                given          ? "key, with the past"
                                : keys != NULL ? "inputs"
                                               : "key_inputs")
               ? build->error->status
               : STATUS_OK;
}

static enum status take_tokens(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct input_file *inputs = build->inputs;
    const bool key_tokens = inputs != NULL && inputs->key_tokens.texts != NULL;
    if (inputs == NULL)
        return STATUS_OK;
    problem->labels.comment = inputs->comment;
    if (key_tokens && problem_projects(problem) && !problem->given.is_cross)
        return error_usage(build->error, "%s: key_tokens without key_inputs; give both, or tokens alone",
                           inputs->source);
    if (problem->given.is_cross || key_tokens)
        return take_both(build);
    problem->labels.keys = inputs->tokens;
    return check_labels(build, inputs->source, "tokens", &inputs->tokens, problem->size.keys,
                        problem_projects(problem) ? "inputs" : "key, with the past");
}

/* They come with the parameters, where these have any. */
static enum status take_head_names(const struct build *build)
{
    const bool own = build->weights != NULL && build->weights->head_names.texts != NULL;
    const struct input_file *file = own ? build->weights : build->inputs;
    const size_t heads = build->problem->size.heads;
    if (file == NULL || file->head_names.texts == NULL)
        return STATUS_OK;
    build->problem->labels.heads = file->head_names;
    if (!file->head_names.nested && file->head_names.count == heads)
        return STATUS_OK;
    return error_usage(build->error, "%s: head_names: expected a list of %zu name%s, one for each head; got %zu%s",
                       file->source, heads, heads == 1 ? "" : "s", file->head_names.count,
                       file->head_names.nested ? " in a list of lists" : "");
}

/* Queries are the same tokens as the keys, or the last of them; else they have no labels (SIZE_MAX). */
static size_t first_query(const struct problem *problem)
{
    const struct mask *mask = &problem->mask;
    if (problem->labels.queries_differ || mask_sequences_differ(mask))
        return SIZE_MAX;
    if (problem->size.queries == problem->size.keys)
        return 0;
    const bool last = mask->lengths == NULL && mask->offset > 0 &&
                      (uint64_t)mask->offset + problem->size.queries == problem->size.keys;
    return last ? (size_t)mask->offset : SIZE_MAX;
}

static enum status check_length(const struct build *build)
{
    const struct options *options = build->options;
    const size_t tokens = memory_larger(build->problem->size.queries, build->problem->size.keys);
    if (options->context_length == 0 || tokens <= options->context_length)
        return STATUS_OK;
    return error_usage(build->error, "%s: %s has %zu tokens, more than %s %llu", build->inputs->source,
                       tokens > build->problem->size.queries ? "key_inputs" : "inputs", tokens,
                       BUILD_PLACE(build, OPTION_CONTEXT_LENGTH), (unsigned long long)options->context_length);
}

bool problem_asks_causal(const struct options *options, bool is_cross)
{
    const enum causality causality = MECHANISMS[options->mechanism].causality;
    if (causality == CAUSALITY_NEVER || causality == CAUSALITY_ALWAYS || !options_said(options, OPTION_CAUSAL))
        return causality == CAUSALITY_ALWAYS || (causality == CAUSALITY_UNLESS_SAID && !is_cross);
    return options->causal;
}

/* Rejects other tensors in the file of --key-inputs, which attn would ignore. */
static enum status check_keys_file(const struct build *build)
{
    const struct input_file *keys = build->keys;
    for (size_t i = 0; i < keys->passed_count && !keys->is_result; i++)
        if ((input_file_kind(keys->passed[i]) & (INPUT_FILE_IGNORED | INPUT_FILE_SETTINGS)) == 0)
            return error_usage(build->error, "%s: %s does not belong here: --key-inputs takes only inputs and tokens",
                               keys->source, keys->passed[i]);
    return STATUS_OK;
}

static enum status check_key_inputs(const struct build *build, const char *source, const char *name,
                                    const struct tensor *keys)
{
    const struct problem *problem = build->problem;
    const struct tensor *inputs = &problem->given.inputs;
    const size_t last = inputs->rank - 1;
    const bool may_differ =
        build->weights != NULL || parameters_present(build->inputs); /* W_key has the columns of key inputs */
    if (keys->rank == inputs->rank && (may_differ || keys->shape[last] == inputs->shape[last]) &&
        (inputs->rank == 2 || keys->shape[0] == inputs->shape[0]))
        return STATUS_OK;
    return error_usage(build->error, "%s: %s is %s, but inputs of %s is %s; expected the same %scolumns", source, name,
                       SHAPE_TEXT(keys), problem->given.source, SHAPE_TEXT(inputs),
                       inputs->rank > 2 ? "items and " : "axes and ");
}

/* Takes the source of key and value: the inputs, those of --key-inputs, or key_inputs of the file. */
static enum status take_key_inputs(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct input_file *file = build->keys != NULL ? build->keys : build->inputs;
    const char *name = build->keys != NULL ? "inputs" : "key_inputs";
    const struct file_tensor *found = file != NULL ? input_file_find(file, name) : NULL;
    problem->given.key_inputs = problem->given.inputs;
    if (found == NULL && build->layer != NULL && build->layer->module->cross)
        return error_usage(
            build->error,
            "%s is cross-attention, whose keys and values come from another model's states; add --key-inputs FILE",
            build->layer->module->path);
    if (found == NULL && build->keys != NULL)
        return error_usage(build->error, "%s: no \"inputs\"; expected an array of rows, one for each token",
                           file->source);
    if (found == NULL)
        return STATUS_OK;
    if (MECHANISMS[problem->mechanism].causality == CAUSALITY_ALWAYS)
        return error_usage(build->error,
                           "%s: key_inputs does not belong here: the keys of causal attention are its own tokens; type "
                           "attn self or multihead",
                           file->source);
    if ((build->keys != NULL && check_keys_file(build) != STATUS_OK) ||
        check_key_inputs(build, file->source, name, &found->tensor) ||
        tensor_convert(&found->tensor, problem->rounding.dtype, file->source, name, NULL, &problem->given.key_inputs,
                       build->arena, build->error))
        return build->error->status;
    if (build->layer != NULL && !build->layer->module->cross)
        return error_usage(build->error,
                           "%s: %s is not cross-attention: its keys are its own tokens; leave out the key inputs, or "
                           "type another --module",
                           file->source, build->layer->module->path);
    problem->given.is_cross = true;
    problem->size.keys = found->tensor.shape[found->tensor.rank - 2];
    problem->size.d_key_in = found->tensor.shape[found->tensor.rank - 1];
    problem->mask.causal = problem_asks_causal(build->options, true);
    if (build->options->align == ALIGN_BOTTOM_RIGHT)
        problem->mask.offset = (int64_t)problem->size.keys - (int64_t)problem->size.queries;
    return STATUS_OK;
}

/* Sets the fields that need no sizes. */
static void start_problem(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    problem->rounding.dtype = options->dtype;
    problem->rounding.when = options->rounding;
    problem->scaling.softcap = options->softcap;
    problem->given.residual = options->residual;
    problem->given.clip = options->clip;
    problem->drop.share = options->dropout;
    problem->given.source = build->inputs != NULL ? build->inputs->source : "--d-in";
    problem->mask.causal = problem_asks_causal(options, false);
    torch_random_seed(&problem->drop.generator, options->rng, options->seed);
    torch_random_skip(&problem->drop.generator, options->skip);
}

static enum status set_scale(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    const double scale = options_said(options, OPTION_SCALE) ? options->scale : 1 / sqrt((double)problem->size.d_head);
    problem->scaling.temperature = options->temperature;
    problem->scaling.factor = scale / options->temperature;
    problem->scaling.on_query = options->scale_on == SCALE_ON_QUERY;
    problem->scaling.query_factor = problem->scaling.on_query ? problem->scaling.factor : 1;
    if (problem->scaling.on_query)
        problem->scaling.factor = 1;
    if (isfinite(problem->scaling.factor * problem->scaling.query_factor))
        return STATUS_OK;
    return error_usage(build->error, "%s %g: the scale %g divided by it is not finite; type a larger one",
                       BUILD_PLACE(build, OPTION_TEMPERATURE), options->temperature, scale);
}

static enum status leave_heads_out(const struct build *build)
{
    const struct build_tokens heads = {.lists = 1, .count = build->problem->size.heads, .what = "heads"};
    const bool names = build->options->without_heads != NULL;
    bool *out = names ? arena_allocate(build->arena, heads.count, sizeof *out, build->error) : NULL;
    if (out != NULL && build_list(build, BUILD_PLACE(build, OPTION_WITHOUT_HEADS), build->options->without_heads,
                                  &heads, out) == STATUS_OK)
        build->problem->given.heads_out = out;
    return build->error->status;
}

static enum status choose_head(const struct build *build)
{
    const struct options *options = build->options;
    struct problem *problem = build->problem;
    if (!options_said(options, OPTION_HEAD))
        return STATUS_OK;
    if (options->head > problem->size.heads)
        return error_usage(build->error, "%s %zu is out of range; expected heads 1..%zu",
                           BUILD_PLACE(build, OPTION_HEAD), (size_t)options->head, problem->size.heads);
    problem->chosen.head = (size_t)options->head;
    problem->chosen.cuts_heads = problem->size.has_heads && options->command != COMMAND_WHY &&
                                 !problem->chosen.explains && !options_format(options)->computes;
    return STATUS_OK;
}

static enum status finish_problem(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    if (set_scale(build) != STATUS_OK || leave_heads_out(build) != STATUS_OK)
        return build->error->status;
    if (problem->rounding.when == ROUNDING_TRANSFORMERS &&
        dtype_storage(problem->rounding.dtype) == problem->rounding.dtype)
        problem->rounding.when = ROUNDING_STAGES; /* no rounding within stages */
    if (problem->rounding.when == ROUNDING_OPERATIONS && problem->scaling.factor < 0)
        return error_usage(
            build->error,
            "--rounding operations gives the root of the scale to query and to key; type a --scale from 0 on");
    if (options_format(options)->one_table && problem->given.other_count > 0 && options->stages[0] == STAGE_INPUTS)
        return error_usage(build->error, "a .npy holds one table, but the input also has %s; write .safetensors",
                           problem->given.others[problem->given.other_count - 1].name);
    if (options_format(options)->one_table && problem->given.is_cross && options->stages[0] == STAGE_INPUTS)
        return error_usage(build->error, "a .npy holds one table, but there are also key_inputs; write .safetensors");
    problem->rounding.softmax_dtype = options_said(options, OPTION_SOFTMAX_DTYPE)
                                          ? options->softmax_dtype
                                          : problem_stage_dtype(problem, STAGE_MASKED);
    problem->drop.seeded = options_said(options, OPTION_DROPOUT_SEED);
    if (problem->drop.seeded)
        torch_random_seed(&problem->drop.generator, options->rng, options->dropout_seed);
    problem->labels.first_query = first_query(problem);
    problem->chosen.explains_config = options->cell != NULL && strcmp(options->cell, "config") == 0;
    problem->chosen.explains = options_said(options, OPTION_EXPLAIN) && !problem->chosen.explains_config;
    problem->chosen.has_cell = problem->chosen.explains && options->cell != NULL;
    problem->chosen.explains &= !options->animate; /* the picture walks to the cell */
    if (problem->chosen.explains_config && problem->layer == NULL)
        return error_usage(build->error,
                           "--explain config explains a checkpoint's config; type attn layer with --weights MODEL");
    if (choose_head(build) != STATUS_OK)
        return build->error->status;
    if (!problem->parameters_only &&
        (take_tokens(build) || take_head_names(build) || build_sequence_labels(build) || build_queries(build)))
        return build->error->status;
    if (problem->chosen.explains && problem->rounding.when == ROUNDING_OPERATIONS)
        return error_usage(build->error, "--explain needs stages that are rounded once; type --rounding stages");
    problem->path.threads = options->threads > 0 ? (unsigned)options->threads : threads_available();
    if ((!problem->parameters_only && gate_make(problem, gate_sigmoid, build->arena, build->error)) ||
        build_grad(build) || (problem->chosen.has_cell && build_cell(build) != STATUS_OK))
        return build->error->status;
    if (build_mistakes(build) || build_check_dtype(build) || build_stages(build) || build_mistaken_gradients(build) ||
        (!problem->parameters_only && (build_page(build) || build_path(build))))
        return build->error->status;
    return build_settings(build) || build_warnings(build) ? build->error->status : STATUS_OK;
}

/* Adds the removed tokens of a result to those of --without, for the settings. */
static enum status name_all(const struct build *build, struct options *merged)
{
    char all[BUILD_PLACE_BYTES];
    const char *before = build->inputs->is_result ? input_file_setting(build->inputs, "without") : NULL;
    if (before == NULL)
        return STATUS_OK;
    struct text text = text_begin(all, sizeof all);
    text_add(&text, "%.200s, then %.200s", before, merged->without);
    merged->without = arena_text(build->arena, all, text.length, build->error);
    return merged->without == NULL ? build->error->status : STATUS_OK;
}

enum status problem_create(struct problem *problem, const struct options *options, const struct job_files *files,
                           struct arena *arena, struct error *error)
{
    struct options merged = *options;
    const bool init = options->command == COMMAND_INIT;
    *problem = (struct problem){.mechanism = options->mechanism, .parameters_only = init};
    struct build build = {problem,     &merged,      files->inputs, files->weights, files->keys,
                          files->grad, files->layer, arena,         error};
    struct input_file rest, read;
    struct parameters_words words = {0};
    if (apply_settings(&build) || apply_facts(&build) || forget_steps(&build))
        return error->status;
    if (problem_projects(problem) && !init && !MECHANISMS[problem->mechanism].opens) {
        if (build_text(&build, &read) != STATUS_OK)
            return error->status;
        build.inputs = &read;
    }
    /* A result's setting names tokens that its inputs already lack. */
    const bool done = merged.origin[OPTION_WITHOUT] == ORIGIN_FILE && build.inputs->is_result;
    if (merged.without != NULL && !done) {
        if (build_without(&build, &rest) != STATUS_OK)
            return error->status;
        build.inputs = &rest;
        if (name_all(&build, &merged) != STATUS_OK)
            return error->status;
    }
    if (build_draws(&build) != STATUS_OK)
        return error->status;
    start_problem(&build);
    if (!problem_projects(problem)) {
        if (build_operands(&build) || build_names(&build))
            return error->status;
    } else {
        if (build_names(&build) || take_inputs(&build) || take_key_inputs(&build) ||
            (!init && (check_length(&build) || build_words(&build, &words))) || build_parameters(&build))
            return error->status;
        problem->parameters.words = words;
        if (build_unembedding(&build) != STATUS_OK)
            return error->status;
    }
    if (!init && (build_buffers(&build) || build_mask(&build) || build_rope(&build) || build_indexer(&build)))
        return error->status;
    return finish_problem(&build);
}
