#include "making.h"

#include "decimal.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From here on a job goes to the float32 kernels: 2^24 multiply-adds. */
static const double FUSED_WORK = 0x1p24;

const char *making_place(const struct making *making, enum option_id id, char *text, size_t size)
{
    if (making->options->origin[id] != ORIGIN_FILE) {
        snprintf(text, size, "--%s", OPTION_ROWS[id].name);
        return text;
    }
    int length = snprintf(text, size, "%s: settings: ", making->inputs->source);
    options_setting_name(id, text + length, size - (size_t)length);
    return text;
}

static enum status apply_settings(const struct making *making)
{
    const struct bundle *inputs = making->inputs;
    for (size_t i = 0; inputs != NULL && i < inputs->setting_count; i++)
        if (options_setting(making->options, &inputs->settings[i], inputs->source, making->error) != STATUS_OK)
            return making->error->status;
    return STATUS_OK;
}

/* --- inputs and tokens ------------------------------------------------------------------------------------------- */

static enum status take_inputs(const struct making *making)
{
    struct problem *problem = making->problem;
    const struct options *options = making->options;
    char shape[TENSOR_SHAPE_BYTES];
    if (making->inputs == NULL) {
        problem->source = "--d-in";
        problem->d_in = (size_t)options->d_in;
        return STATUS_OK;
    }
    const struct bundle_tensor *found = bundle_find(making->inputs, "inputs");
    if (found == NULL)
        return error_usage(making->error, "%s: no \"inputs\"; expected an array of rows, one for each token",
                           making->inputs->source);
    const struct tensor *inputs = &found->tensor;
    if (inputs->rank < 2 || inputs->rank > 3)
        return error_usage(making->error, "%s: inputs is %s%s, expected T x d_in or B x T x d_in",
                           making->inputs->source, inputs->rank == 1 ? "a list of " : "",
                           tensor_shape_text(inputs, shape));
    const size_t *axes = inputs->shape + inputs->rank - 2;
    problem->has_batch = inputs->rank == 3;
    problem->items = problem->has_batch ? inputs->shape[0] : 1;
    problem->queries = problem->keys = axes[0];
    problem->d_in = axes[1];
    if (options->origin[OPTION_DTYPE] == ORIGIN_DEFAULT && !making->inputs->is_text && inputs->dtype < DTYPE_I64)
        problem->dtype = inputs->dtype;
    return tensor_convert(inputs, problem->dtype, making->inputs->source, "inputs", NULL, &problem->inputs,
                          making->arena, making->error);
}

/* A past and lengths are sdpa's: what was read of them would be left out silently. */
static enum status refuse_cache(const struct making *making)
{
    static const char *const NAMES[] = {"past_key", "past_value", "kv_lengths"};
    for (size_t i = 0; making->inputs != NULL && i < 3; i++)
        if (bundle_find(making->inputs, NAMES[i]) != NULL)
            return error_usage(making->error, "%s: %s belongs to attn sdpa; %s makes key and value of its inputs",
                               making->inputs->source, NAMES[i], command_name(making->problem->mechanism));
    return STATUS_OK;
}

static enum status take_tokens(const struct making *making)
{
    struct problem *problem = making->problem;
    const struct bundle *inputs = making->inputs;
    if (inputs == NULL || inputs->tokens == NULL)
        return STATUS_OK;
    if (inputs->tokens_nested && !problem->has_batch)
        return error_usage(making->error,
                           "%s: tokens is a list of lists, but inputs is no batch; expected a plain list",
                           inputs->source);
    if (inputs->tokens_nested && inputs->token_lists != problem->items)
        return error_usage(making->error,
                           "%s: tokens has %zu lists, expected %zu (as the items of inputs) or one plain "
                           "list",
                           inputs->source, inputs->token_lists, problem->items);
    if (inputs->tokens_per_list != problem->keys)
        return error_usage(making->error, "%s: tokens has %zu label%s, expected %zu (as the rows of %s)",
                           inputs->source, inputs->tokens_per_list, inputs->tokens_per_list == 1 ? "" : "s",
                           problem->keys, problem->mechanism == COMMAND_SDPA ? "key, with the past" : "inputs");
    problem->labels = inputs->tokens;
    problem->label_lists = inputs->token_lists;
    problem->labels_nested = inputs->tokens_nested;
    return STATUS_OK;
}

const char **problem_key_labels(const struct problem *problem, size_t item)
{
    if (problem->labels == NULL)
        return NULL;
    return problem->labels + (problem->label_lists > 1 ? item * problem->keys : 0);
}

const char **problem_query_labels(const struct problem *problem, size_t item)
{
    const char **labels = problem_key_labels(problem, item);
    return labels == NULL || problem->first_query == SIZE_MAX ? NULL : labels + problem->first_query;
}

bool problem_is_side_by_side(const struct problem *problem, enum stage stage)
{
    return stage == STAGE_OUTPUT || (stage == STAGE_CONTEXT && problem->packed);
}

size_t problem_columns(const struct problem *problem, enum stage stage)
{
    if (stage == STAGE_LSE)
        return 1;
    if (stage_is_square(stage))
        return problem->keys;
    if (stage == STAGE_OUTPUT && problem->plan.has_out)
        return problem->plan.d_out;
    if (problem_is_side_by_side(problem, stage))
        return problem->heads * problem->d_value;
    return stage == STAGE_VALUE || stage == STAGE_PRESENT_VALUE || stage == STAGE_CONTEXT ? problem->d_value
                                                                                          : problem->d_head;
}

/* Queries are the same tokens as the keys, or the last of them; else they have no labels. */
static size_t first_query(const struct problem *problem)
{
    const struct mask *mask = &problem->mask;
    if (problem->queries == problem->keys)
        return 0;
    const bool last =
        mask->lengths == NULL && mask->offset > 0 && (uint64_t)mask->offset + problem->queries == problem->keys;
    return last ? (size_t)mask->offset : SIZE_MAX;
}

static enum status check_length(const struct making *making)
{
    const struct options *options = making->options;
    char place[MAKING_PLACE_BYTES];
    if (options->context_length == 0 || making->problem->keys <= options->context_length)
        return STATUS_OK;
    return error_usage(making->error, "%s: inputs has %zu tokens, more than %s %llu", making->inputs->source,
                       making->problem->keys, making_place(making, OPTION_CONTEXT_LENGTH, place, sizeof place),
                       (unsigned long long)options->context_length);
}

/* --- parameters -------------------------------------------------------------------------------------------------- */

/* An option or a setting that says otherwise than the parameters given. A setting in the inputs' file says nothing of
 * parameters from --weights: the command line wins. */
static bool contradicts(const struct making *making, enum option_id id, bool differs)
{
    const enum origin origin = making->options->origin[id];
    return differs && (origin == ORIGIN_COMMAND_LINE || (origin == ORIGIN_FILE && making->weights == NULL));
}

static enum status take_parameters(const struct making *making, const struct bundle *bundle)
{
    struct problem *problem = making->problem;
    struct parameters_plan *plan = &problem->plan;
    const struct options *options = making->options;
    char place[MAKING_PLACE_BYTES];
    if (parameters_take(&problem->parameters, plan, bundle, problem->source, making->arena, making->error) != STATUS_OK)
        return making->error->status;
    if (contradicts(making, OPTION_D_OUT, options->d_out != plan->d_out))
        return error_usage(making->error,
                           "%s %llu does not fit the parameters in %s, whose projections make %zu column%s",
                           making_place(making, OPTION_D_OUT, place, sizeof place), (unsigned long long)options->d_out,
                           bundle->source, plan->d_out, plan->d_out == 1 ? "" : "s");
    if (contradicts(making, OPTION_QKV_BIAS, options->qkv_bias != plan->qkv_bias))
        return error_usage(making->error, "%s does not fit the parameters in %s, whose projections have %s",
                           making_place(making, OPTION_QKV_BIAS, place, sizeof place), bundle->source,
                           plan->qkv_bias ? "biases" : "no biases");
    return STATUS_OK;
}

/* Split heads share the columns of one projection. */
static enum status check_division(const struct making *making)
{
    const struct problem *problem = making->problem;
    const size_t d_out = problem->plan.d_out, heads = problem->heads;
    const enum origin origin = making->options->origin[OPTION_D_OUT];
    char advice[96], what[MAKING_PLACE_BYTES + 64], place[MAKING_PLACE_BYTES];
    if (problem->plan.stacked || d_out % heads == 0)
        return STATUS_OK;
    size_t below = d_out / heads * heads;
    if (below == 0)
        snprintf(advice, sizeof advice, "--d-out %zu, or --stacked", heads);
    else
        snprintf(advice, sizeof advice, "--d-out %zu or %zu, or --stacked", below, below + heads);
    if (problem->parameters.given)
        snprintf(what, sizeof what, "d_out %zu of the parameters in %s", d_out, problem->parameters.source);
    else if (origin == ORIGIN_DEFAULT)
        snprintf(what, sizeof what, "d_out %zu (the width of the inputs)", d_out);
    else
        snprintf(what, sizeof what, "%s %zu", making_place(making, OPTION_D_OUT, place, sizeof place), d_out);
    return error_usage(making->error, "%s is not divisible by %s %zu: split heads share d_out; try %s", what,
                       making_place(making, OPTION_HEADS, place, sizeof place), heads,
                       problem->parameters.given ? "other --heads" : advice);
}

/* Each head of key and value serves equally many of query; stacked heads have their own. */
static enum status check_groups(const struct making *making)
{
    const struct problem *problem = making->problem;
    char place[MAKING_PLACE_BYTES], kv_place[MAKING_PLACE_BYTES];
    making_place(making, OPTION_KV_HEADS, kv_place, sizeof kv_place);
    if (making->options->stacked && problem->kv_heads != problem->heads)
        return error_usage(making->error, "%s %zu does not go with --stacked, whose heads have a key and value each",
                           kv_place, problem->kv_heads);
    if (problem->heads % problem->kv_heads == 0)
        return STATUS_OK;
    return error_usage(
        making->error, "%s %zu is not divisible by %s %zu: each head of key serves equally many of query",
        making_place(making, OPTION_HEADS, place, sizeof place), problem->heads, kv_place, problem->kv_heads);
}

static enum status plan_parameters(const struct making *making)
{
    struct problem *problem = making->problem;
    const struct options *options = making->options;
    const bool multihead = problem->mechanism == COMMAND_MULTIHEAD;
    if (multihead && options->heads == 0)
        return error_usage(making->error,
                           "multihead needs the number of heads: --heads N, or \"heads\" in the settings");
    problem->has_heads = multihead;
    problem->heads = multihead ? (size_t)options->heads : 1;
    problem->kv_heads = multihead && options->kv_heads > 0 ? (size_t)options->kv_heads : problem->heads;
    if (check_groups(making) != STATUS_OK)
        return making->error->status;
    problem->plan = (struct parameters_plan){
        .d_in = problem->d_in,
        .d_out = options->d_out != 0 ? (size_t)options->d_out : problem->d_in,
        .groups = problem->heads / problem->kv_heads,
        .module_count = options->stacked ? problem->heads : 1,
        .stacked = options->stacked,
        .has_out = multihead && !options->stacked,
        .qkv_bias = options->qkv_bias,
        .init = options->init,
        .dtype = problem->dtype,
        .as_matrix = problem->parameters_only && options->origin[OPTION_AS] != ORIGIN_DEFAULT
                         ? options->as == ORIENTATION_MATRIX
                         : options->init != INIT_LINEAR,
    };
    return STATUS_OK;
}

/* The draws that the parameters would have taken, for dropout to go on after them. */
static enum status draw_past(const struct making *making)
{
    struct problem *problem = making->problem;
    struct arena scratch = {0};
    struct parameters drawn;
    enum status status = parameters_draw(&drawn, &problem->plan, &problem->generator, &scratch, making->error);
    arena_free(&scratch);
    return status;
}

static enum status make_parameters(const struct making *making)
{
    struct problem *problem = making->problem;
    const struct options *options = making->options;
    const struct bundle *bundle = making->weights != NULL ? making->weights : making->inputs;
    const bool given = bundle != NULL && !problem->parameters_only && parameters_present(bundle);
    char place[MAKING_PLACE_BYTES];
    if (making->weights != NULL && !given)
        return error_usage(making->error, "%s: no parameters; expected W_query, W_key and W_value", bundle->source);
    if (plan_parameters(making) != STATUS_OK || (given && take_parameters(making, bundle) != STATUS_OK))
        return making->error->status;
    if (!given && options->qkv_bias && options->init != INIT_LINEAR)
        return error_usage(making->error, "%s goes with --init linear alone: torch.rand and torch.randn draw no bias",
                           making_place(making, OPTION_QKV_BIAS, place, sizeof place));
    if (check_division(making) != STATUS_OK)
        return making->error->status;
    problem->d_head = problem->plan.stacked ? problem->plan.d_out : problem->plan.d_out / problem->heads;
    problem->d_value = problem->d_head;
    if (!given)
        return parameters_draw(&problem->parameters, &problem->plan, &problem->generator, making->arena, making->error);
    if (options->dropout > 0 && options->origin[OPTION_DROPOUT_SEED] == ORIGIN_DEFAULT)
        return draw_past(making);
    return STATUS_OK;
}

/* --- the path ---------------------------------------------------------------------------------------------------- */

double problem_work(const struct problem *problem)
{
    const double rows = (double)problem->items * (double)problem->queries, heads = (double)problem->heads;
    const double width = heads * (double)problem->d_head,
                 kv_width = (double)problem->kv_heads * (double)problem->d_head;
    double work = rows * (double)problem->keys * heads * (double)(problem->d_head + problem->d_value);
    if (problem->mechanism == COMMAND_SDPA)
        return work;
    work += rows * (double)problem->d_in * (width + 2 * kv_width);
    if (problem->plan.has_out)
        work += rows * width * (double)problem->plan.d_out;
    return work;
}

/* Why the fused path cannot do what is asked, into text; NULL where it can. */
static const char *obstacle(const struct problem *problem, char *text, size_t size)
{
    if (problem->dtype == DTYPE_F64)
        return "it computes in float32; expected --dtype f32, f16 or bf16";
    if (problem->explains)
        return "--explain shows rows of T x T, which it never forms";
    if (problem->dropout > 0)
        return "dropout draws for each of T x T weights, which it never forms";
    if (problem->rounding == ROUNDING_OPERATIONS)
        return "it computes in float32 and rounds its result once; expected --rounding stages";
    if (problem->softmax_dtype != problem->dtype && problem->softmax_dtype != DTYPE_F32)
        return "its softmax is in float32; expected --softmax-dtype f32";
    if (problem->not_finite != NULL) {
        snprintf(text, size,
                 "%s holds NaN or infinity, which the reference alone keeps out of rows that may not see it",
                 problem->not_finite);
        return text;
    }
    for (size_t i = 0; i < problem->stage_count; i++)
        if (stage_is_square(problem->stages[i])) {
            snprintf(text, size, "it never forms '%s', which is T x T; expected --stages without it, such as context",
                     stage_name(problem->stages[i]));
            return text;
        }
    return NULL;
}

/* Those that this process may run on. */
static unsigned processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more than a cpu_set_t holds */
    return online > 0 && online <= 1024 ? (unsigned)online : 1;
}

static enum status choose_path(const struct making *making)
{
    struct problem *problem = making->problem;
    const int path = making->options->kernel;
    const bool large = problem_work(problem) >= FUSED_WORK;
    problem->kernel = kernel_choose(getenv("ATTN_ISA"), making->error);
    if (problem->kernel == NULL)
        return making->error->status;
    problem->threads = making->options->threads > 0 ? (unsigned)making->options->threads : processors();
    char text[160];
    const char *why = obstacle(problem, text, sizeof text);
    if (path == PATH_FUSED && why != NULL)
        return error_usage(making->error, "--kernel fused: %s", why);
    problem->forced = path == PATH_FUSED;
    problem->fused = path == PATH_FUSED || (path == PATH_AUTO && large && why == NULL);
    problem->fast_projections = problem->fused || (path == PATH_AUTO && large && problem->dtype != DTYPE_F64);
    return STATUS_OK;
}

/* --- stages and settings ----------------------------------------------------------------------------------------- */

/* The inputs of sdpa have the names of stages, and are given whole. */
static enum status check_given(const struct making *making, const char *place)
{
    const struct options *options = making->options;
    if (options->format == FORMAT_SVG)
        return error_usage(making->error, "%s: the inputs of sdpa are no one table to draw; expected query,key,value",
                           place);
    if (options->parts > 0)
        return error_usage(making->error, "%s: the inputs of sdpa are in no part; expected --stages without them",
                           place);
    for (size_t i = 0; i < options->stage_count; i++)
        if (options->stages[i] <= STAGE_VALUE)
            return error_usage(making->error, "%s: '%s' is one of the inputs of sdpa; expected one of both", place,
                               stage_name(options->stages[i]));
    return STATUS_OK;
}

enum status making_check_stage(const struct making *making, const char *place, enum stage stage)
{
    const struct problem *problem = making->problem;
    if (stage == STAGE_DROPPED && problem->dropout == 0)
        return error_usage(making->error, "%s: there is no '%s' without dropout; expected --dropout above 0", place,
                           stage_name(stage));
    if (stage == STAGE_OUTPUT && problem->mechanism != COMMAND_MULTIHEAD)
        return error_usage(making->error, "%s: %s has no '%s', it ends at 'context'; multihead has one", place,
                           command_name(problem->mechanism), stage_name(stage));
    if (problem->mechanism == COMMAND_SDPA && stage == STAGE_PARAMETERS)
        return error_usage(making->error, "%s: sdpa has no 'parameters'; what it is given are inputs", place);
    if (problem->mechanism == COMMAND_SDPA && stage == STAGE_INPUTS && check_given(making, place) != STATUS_OK)
        return making->error->status;
    if (stage == STAGE_SCORES && problem->rounding == ROUNDING_OPERATIONS)
        return error_usage(making->error,
                           "%s: there is no 'scores' with --rounding operations, which shares the "
                           "scale out to query and key; expected 'scaled'",
                           place);
    return STATUS_OK;
}

bool problem_has_stage(const struct problem *problem, enum stage stage)
{
    switch (stage) {
    case STAGE_INPUTS:
        return problem->mechanism != COMMAND_SDPA && !problem->parameters_only;
    case STAGE_PARAMETERS:
        return problem->mechanism != COMMAND_SDPA;
    case STAGE_SCORES:
        return problem->rounding != ROUNDING_OPERATIONS && !problem->parameters_only;
    case STAGE_CAPPED:
        return problem->softcap > 0 && !problem->parameters_only;
    case STAGE_MASKED:
        return problem->masks && !problem->parameters_only;
    case STAGE_DROPPED:
        return problem->dropout > 0 && !problem->parameters_only;
    case STAGE_OUTPUT:
        return problem->mechanism == COMMAND_MULTIHEAD && !problem->parameters_only;
    default:
        return stage <= STAGE_CONTEXT && !problem->parameters_only;
    }
}

/* All of the mechanism; of sdpa the context alone. */
static void list_stages(struct problem *problem, const struct options *options)
{
    const bool picture = options_are_of_picture(options);
    if (problem->mechanism == COMMAND_SDPA && !picture) {
        problem->stages[problem->stage_count++] = STAGE_CONTEXT;
        return;
    }
    if (problem_has_stage(problem, STAGE_INPUTS) && !options->heatmap)
        problem->stages[problem->stage_count++] = STAGE_INPUTS;
    if (problem_has_stage(problem, STAGE_PARAMETERS) && !picture)
        problem->stages[problem->stage_count++] = STAGE_PARAMETERS;
    for (int stage = 0; stage <= STAGE_OUTPUT; stage++)
        if (problem_has_stage(problem, (enum stage)stage) && (!options->heatmap || stage_is_square((enum stage)stage)))
            problem->stages[problem->stage_count++] = (enum stage)stage;
}

static enum status choose_stages(const struct making *making)
{
    struct problem *problem = making->problem;
    const struct options *options = making->options;
    problem->stages_asked = options->stage_count > 0;
    for (size_t i = 0; i < options->stage_count; i++) {
        if (making_check_stage(making, "--stages", options->stages[i]) != STATUS_OK)
            return making->error->status;
        problem->stages[problem->stage_count++] = options->stages[i];
    }
    if (!problem->stages_asked)
        list_stages(problem, options);
    return problem->explains ? making_explained(making) : STATUS_OK;
}

static enum status add_setting(const struct making *making, const char *name, enum setting_kind kind, const char *text)
{
    struct problem *problem = making->problem;
    char *copy = arena_text(making->arena, text, strlen(text), making->error);
    problem->settings[problem->setting_count++] = (struct setting){name, kind, copy};
    return copy == NULL ? making->error->status : STATUS_OK;
}

/* A whole number from 2^53 on is written as a string: a JSON reader's double would not hold it. */
static enum status add_whole(const struct making *making, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return add_setting(making, name, value >= UINT64_C(1) << 53 ? SETTING_TEXT : SETTING_NUMBER, text);
}

static enum status add_truth(const struct making *making, const char *name, bool value)
{
    return add_setting(making, name, SETTING_TRUTH, value ? "true" : "false");
}

static enum status add_choice(const struct making *making, enum option_id id, int value)
{
    char text[MAKING_PLACE_BYTES];
    options_setting_name(id, text, sizeof text);
    const char *name = arena_text(making->arena, text, strlen(text), making->error);
    return name == NULL ? making->error->status
                        : add_setting(making, name, SETTING_TEXT, OPTION_ROWS[id].choices[value]);
}

static enum status add_real(const struct making *making, enum option_id id, double value)
{
    char text[DECIMAL_BYTES];
    decimal_from_double(value, text);
    return add_setting(making, OPTION_ROWS[id].name, SETTING_NUMBER, text);
}

static bool said(const struct making *making, enum option_id id)
{
    return making->options->origin[id] != ORIGIN_DEFAULT;
}

/* What few jobs ask for is recorded where it was asked for. */
static enum status record_asked(const struct making *making)
{
    const struct options *options = making->options;
    enum status status = STATUS_OK;
    if (said(making, OPTION_ALIGN))
        status = add_choice(making, OPTION_ALIGN, options->align);
    if (status == STATUS_OK && said(making, OPTION_WINDOW))
        status = add_setting(making, "window", SETTING_TEXT, options->window);
    if (status == STATUS_OK && said(making, OPTION_SCALE))
        status = add_real(making, OPTION_SCALE, options->scale);
    if (status == STATUS_OK && said(making, OPTION_SOFTCAP))
        status = add_real(making, OPTION_SOFTCAP, options->softcap);
    if (status == STATUS_OK && said(making, OPTION_MASK_TRUE))
        status = add_choice(making, OPTION_MASK_TRUE, options->mask_true);
    if (status == STATUS_OK && said(making, OPTION_EMPTY_ROW))
        status = add_choice(making, OPTION_EMPTY_ROW, options->empty_row);
    if (status == STATUS_OK && said(making, OPTION_SOFTMAX_DTYPE))
        status = add_choice(making, OPTION_SOFTMAX_DTYPE, options->softmax_dtype);
    if (status == STATUS_OK && said(making, OPTION_ROUNDING))
        status = add_choice(making, OPTION_ROUNDING, options->rounding);
    if (status == STATUS_OK && options->query != NULL)
        status = add_setting(making, "query", SETTING_TEXT, options->query);
    return status;
}

/* The settings of the computation alone; those of drawing come before them. */
static enum status record_computation(const struct making *making)
{
    const struct problem *problem = making->problem;
    const struct options *options = making->options;
    enum status status = add_real(making, OPTION_DROPOUT, options->dropout);
    if (status == STATUS_OK && said(making, OPTION_DROPOUT_SEED))
        status = add_whole(making, "dropout_seed", options->dropout_seed);
    if (status == STATUS_OK && problem->has_heads)
        status = add_truth(making, "causal", problem->mask.causal);
    if (status == STATUS_OK && options->context_length != 0)
        status = add_whole(making, "context_length", options->context_length);
    return status == STATUS_OK ? record_asked(making) : status;
}

/* Those of sdpa: what draws matters for dropout alone, heads where query, key and value are packed. */
static enum status record_sdpa(const struct making *making)
{
    const struct problem *problem = making->problem;
    const struct options *options = making->options;
    const bool drops = problem->dropout > 0;
    if (drops && (add_whole(making, "seed", options->seed) || add_whole(making, "skip", options->skip) ||
                  add_choice(making, OPTION_RNG, options->rng) || add_real(making, OPTION_DROPOUT, options->dropout)))
        return making->error->status;
    if (drops && said(making, OPTION_DROPOUT_SEED) && add_whole(making, "dropout_seed", options->dropout_seed))
        return making->error->status;
    if (problem->packed &&
        (add_whole(making, "heads", problem->heads) || add_whole(making, "kv_heads", problem->kv_heads)))
        return making->error->status;
    if (add_truth(making, "causal", problem->mask.causal) ||
        add_setting(making, "dtype", SETTING_TEXT, dtype_name(problem->dtype)))
        return making->error->status;
    return record_asked(making);
}

static enum status record_settings(const struct making *making)
{
    const struct problem *problem = making->problem;
    const struct options *options = making->options;
    if (problem->mechanism == COMMAND_SDPA)
        return record_sdpa(making);
    if (add_whole(making, "seed", options->seed) || add_whole(making, "skip", options->skip) ||
        add_choice(making, OPTION_INIT, options->init) || add_choice(making, OPTION_RNG, options->rng) ||
        add_whole(making, "d_out", problem->plan.d_out))
        return making->error->status;
    if (problem->has_heads && add_whole(making, "heads", problem->heads))
        return making->error->status;
    if (said(making, OPTION_KV_HEADS) && problem->has_heads && add_whole(making, "kv_heads", problem->kv_heads))
        return making->error->status;
    if (problem->has_heads && add_truth(making, "stacked", problem->plan.stacked))
        return making->error->status;
    if (add_truth(making, "qkv_bias", problem->plan.qkv_bias) ||
        add_setting(making, "dtype", SETTING_TEXT, dtype_name(problem->dtype)))
        return making->error->status;
    return problem->parameters_only ? STATUS_OK : record_computation(making);
}

/* Where numbers come from, and how they are rounded. */
static void start_problem(const struct making *making)
{
    struct problem *problem = making->problem;
    const struct options *options = making->options;
    problem->dtype = (enum dtype)options->dtype;
    problem->rounding = (enum rounding)options->rounding;
    problem->softcap = options->softcap;
    problem->dropout = options->dropout;
    problem->source = making->inputs != NULL ? making->inputs->source : "--d-in";
    problem->mask.causal = problem->mechanism == COMMAND_CAUSAL ||
                           (problem->mechanism == COMMAND_MULTIHEAD && options->causal) ||
                           (problem->mechanism == COMMAND_SDPA && options->causal && said(making, OPTION_CAUSAL));
    generator_seed(&problem->generator, (enum generator_build)options->rng, options->seed);
    generator_skip(&problem->generator, options->skip);
}

/* What is left once the sizes are known. */
static enum status finish_problem(const struct making *making)
{
    struct problem *problem = making->problem;
    const struct options *options = making->options;
    problem->scale = said(making, OPTION_SCALE) ? options->scale : 1 / sqrt((double)problem->d_head);
    if (problem->rounding == ROUNDING_OPERATIONS && problem->scale < 0)
        return error_usage(making->error, "--rounding operations shares the root of the scale out to query and key; "
                                          "expected --scale from 0 on");
    if (options->format == FORMAT_NPY && problem->beside_count > 0 && options->stages[0] == STAGE_INPUTS)
        return error_usage(making->error, "a .npy holds one table, but the input also has %s; expected .safetensors",
                           problem->beside[problem->beside_count - 1].name);
    if (options->format == FORMAT_NPY && problem->dtype == DTYPE_BF16)
        return error_usage(making->error, "a .npy has no bfloat16; expected .safetensors, or another --dtype");
    problem->softmax_dtype = said(making, OPTION_SOFTMAX_DTYPE) ? (enum dtype)options->softmax_dtype : problem->dtype;
    if (said(making, OPTION_DROPOUT_SEED))
        generator_seed(&problem->generator, (enum generator_build)options->rng, options->dropout_seed);
    problem->first_query = first_query(problem);
    problem->explains = said(making, OPTION_EXPLAIN);
    problem->has_cell = options->cell != NULL;
    if (!problem->parameters_only && (take_tokens(making) || making_queries(making)))
        return making->error->status;
    if (problem->has_cell && making_cell(making) != STATUS_OK)
        return making->error->status;
    if (choose_stages(making) || (!problem->parameters_only && choose_path(making)))
        return making->error->status;
    return record_settings(making);
}

enum status problem_create(struct problem *problem, struct options *options, const struct bundle *inputs,
                           const struct bundle *weights, struct progress *progress, struct arena *arena,
                           struct error *error)
{
    const struct making making = {problem, options, inputs, weights, arena, error};
    const bool init = options->command == COMMAND_INIT;
    *problem = (struct problem){
        .mechanism = init ? options->topic : options->command, .parameters_only = init, .progress = progress};
    if (apply_settings(&making) != STATUS_OK)
        return error->status;
    start_problem(&making);
    if (problem->mechanism == COMMAND_SDPA)
        return making_operands(&making) || making_mask(&making) || finish_problem(&making) ? error->status : STATUS_OK;
    if (take_inputs(&making) || refuse_cache(&making) || (!init && check_length(&making)) || make_parameters(&making) ||
        (!init && making_mask(&making)))
        return error->status;
    return finish_problem(&making);
}
