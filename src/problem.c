#include "problem.h"

#include "decimal.h"
#include "nearest.h"
#include "part.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_BYTES = BUNDLE_SOURCE_BYTES + 64 };

/* From here on a job goes to the float32 kernels: 2^24 multiply-adds. */
static const double FUSED_WORK = 0x1p24;

/* What problem_create works on. */
struct making {
    struct problem *problem;
    struct options *options;
    const struct bundle *inputs, *weights;
    struct arena *arena;
    struct error *error;
};

static enum status apply_settings(const struct making *making)
{
    const struct bundle *inputs = making->inputs;
    for (size_t i = 0; inputs != NULL && i < inputs->setting_count; i++)
        if (options_setting(making->options, &inputs->settings[i], inputs->source, making->error) != STATUS_OK)
            return making->error->status;
    return STATUS_OK;
}

/* "--heads", or "inputs.json: settings: heads" where the file said it: the place of an option's value in messages. */
static const char *place_of(const struct making *making, enum option_id id, char *text, size_t size)
{
    if (making->options->origin[id] != ORIGIN_FILE) {
        snprintf(text, size, "--%s", OPTION_ROWS[id].name);
        return text;
    }
    int length = snprintf(text, size, "%s: settings: ", making->inputs->source);
    options_setting_name(id, text + length, size - (size_t)length);
    return text;
}

/* --- inputs and tokens ------------------------------------------------------------------------------------------- */

static enum status take_inputs(const struct making *making)
{
    struct problem *problem = making->problem;
    const struct options *options = making->options;
    char shape[TENSOR_SHAPE_BYTES];
    problem->dtype = (enum dtype)options->dtype;
    if (making->inputs == NULL) {
        problem->source = "--d-in";
        problem->d_in = options->d_in;
        return STATUS_OK;
    }
    problem->source = making->inputs->source;
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
    problem->tokens = axes[0];
    problem->d_in = axes[1];
    if (options->origin[OPTION_DTYPE] == ORIGIN_DEFAULT && !making->inputs->is_text)
        problem->dtype = inputs->dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    return tensor_convert(inputs, problem->dtype, making->inputs->source, "inputs", NULL, &problem->inputs, making->arena,
                          making->error);
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
    if (inputs->tokens_per_list != problem->tokens)
        return error_usage(making->error, "%s: tokens has %zu label%s, expected %zu (as the rows of inputs)",
                           inputs->source, inputs->tokens_per_list, inputs->tokens_per_list == 1 ? "" : "s",
                           problem->tokens);
    problem->labels = inputs->tokens;
    problem->label_lists = inputs->token_lists;
    problem->labels_nested = inputs->tokens_nested;
    return STATUS_OK;
}

const char *problem_label(const struct problem *problem, size_t item, size_t token)
{
    if (problem->labels == NULL)
        return NULL;
    return problem->labels[(problem->label_lists > 1 ? item * problem->tokens : 0) + token];
}

static enum status check_length(const struct making *making)
{
    const struct options *options = making->options;
    char place[PLACE_BYTES];
    if (options->context_length == 0 || making->problem->tokens <= options->context_length)
        return STATUS_OK;
    return error_usage(making->error, "%s: inputs has %zu tokens, more than %s %llu", making->inputs->source,
                       making->problem->tokens, place_of(making, OPTION_CONTEXT_LENGTH, place, sizeof place),
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
    char place[PLACE_BYTES];
    if (parameters_take(&problem->parameters, plan, bundle, problem->source, making->arena, making->error) != STATUS_OK)
        return making->error->status;
    if (contradicts(making, OPTION_D_OUT, options->d_out != plan->d_out))
        return error_usage(making->error,
                           "%s %llu does not fit the parameters in %s, whose projections make %zu column%s",
                           place_of(making, OPTION_D_OUT, place, sizeof place), (unsigned long long)options->d_out,
                           bundle->source, plan->d_out, plan->d_out == 1 ? "" : "s");
    if (contradicts(making, OPTION_QKV_BIAS, options->qkv_bias != plan->qkv_bias))
        return error_usage(making->error, "%s does not fit the parameters in %s, whose projections have %s",
                           place_of(making, OPTION_QKV_BIAS, place, sizeof place), bundle->source,
                           plan->qkv_bias ? "biases" : "no biases");
    return STATUS_OK;
}

/* Split heads share the columns of one projection. */
static enum status check_division(const struct making *making)
{
    const struct problem *problem = making->problem;
    const size_t d_out = problem->plan.d_out, heads = problem->heads;
    const enum origin origin = making->options->origin[OPTION_D_OUT];
    char advice[96], what[PLACE_BYTES + 64], place[PLACE_BYTES];
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
        snprintf(what, sizeof what, "%s %zu", place_of(making, OPTION_D_OUT, place, sizeof place), d_out);
    return error_usage(making->error, "%s is not divisible by %s %zu: split heads share d_out; try %s", what,
                       place_of(making, OPTION_HEADS, place, sizeof place), heads,
                       problem->parameters.given ? "other --heads" : advice);
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
    problem->heads = multihead ? options->heads : 1;
    problem->plan = (struct parameters_plan){
        .d_in = problem->d_in,
        .d_out = options->d_out != 0 ? options->d_out : problem->d_in,
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
    char place[PLACE_BYTES];
    if (making->weights != NULL && !given)
        return error_usage(making->error, "%s: no parameters; expected W_query, W_key and W_value", bundle->source);
    if (plan_parameters(making) != STATUS_OK || (given && take_parameters(making, bundle) != STATUS_OK))
        return making->error->status;
    if (!given && options->qkv_bias && options->init != INIT_LINEAR)
        return error_usage(making->error, "%s goes with --init linear alone: torch.rand and torch.randn draw no bias",
                           place_of(making, OPTION_QKV_BIAS, place, sizeof place));
    if (check_division(making) != STATUS_OK)
        return making->error->status;
    problem->d_head = problem->plan.stacked ? problem->plan.d_out : problem->plan.d_out / problem->heads;
    problem->scale = 1 / sqrt((double)problem->d_head);
    generator_seed(&problem->generator, (enum generator_build)options->rng, options->seed);
    generator_skip(&problem->generator, options->skip);
    if (!given)
        return parameters_draw(&problem->parameters, &problem->plan, &problem->generator, making->arena, making->error);
    if (options->dropout > 0 && options->origin[OPTION_DROPOUT_SEED] == ORIGIN_DEFAULT)
        return draw_past(making);
    return STATUS_OK;
}

/* --- the queries asked for --------------------------------------------------------------------------------------- */

static enum status unknown_token(const struct making *making, const char *place, const char *word)
{
    const struct problem *problem = making->problem;
    char hint[128] = "";
    if (problem->labels == NULL)
        return error_usage(making->error, "%s '%.80s': the input has no tokens; expected positions 1..%zu", place, word,
                           problem->tokens);
    nearest_hint(hint, sizeof hint, "", word, problem->labels, problem->tokens);
    return error_usage(making->error, "%s: no token is '%.80s'%s", place, word,
                       hint[0] ? hint : "; expected a token or its position");
}

/* The one position (from 0) of the word in one list of labels. */
static enum status find_in_list(const struct making *making, const char *place, const char *word,
                                const char *const *labels, size_t *position)
{
    const size_t tokens = making->problem->tokens;
    *position = tokens;
    for (size_t token = 0; token < tokens; token++) {
        if (strcmp(labels[token], word) != 0)
            continue;
        if (*position < tokens)
            return error_usage(making->error, "%s: '%.80s' names tokens %zu and %zu; expected one, give its position",
                               place, word, *position + 1, token + 1);
        *position = token;
    }
    return *position < tokens ? STATUS_OK : unknown_token(making, place, word);
}

static bool has_label(const struct problem *problem, size_t list, const char *word)
{
    for (size_t token = 0; token < problem->tokens; token++)
        if (strcmp(problem->labels[list * problem->tokens + token], word) == 0)
            return true;
    return false;
}

/* The one position (from 0) that the word names in every item. */
static enum status find_token(const struct making *making, const char *place, const char *word, size_t *position)
{
    const struct problem *problem = making->problem;
    if (problem->labels == NULL)
        return unknown_token(making, place, word);
    for (size_t list = 0; list < problem->label_lists; list++) {
        size_t found;
        if (list > 0 && !has_label(problem, list, word))
            return error_usage(making->error,
                               "%s: '%.80s' is token %zu of item 1, but item %zu has none of that name; "
                               "expected one position in all",
                               place, word, *position + 1, list + 1);
        if (find_in_list(making, place, word, problem->labels + list * problem->tokens, &found) != STATUS_OK)
            return making->error->status;
        if (list > 0 && found != *position)
            return error_usage(making->error,
                               "%s: '%.80s' is token %zu of item 1, but %zu of item %zu; expected one "
                               "position in all",
                               place, word, *position + 1, found + 1, list + 1);
        *position = found;
    }
    return STATUS_OK;
}

/* "2" or "2-4": positions. Sets *first and *last (from 0); *positions is false where the word is a token. */
static enum status parse_positions(const struct making *making, const char *place, const char *word, bool *positions,
                                   size_t *first, size_t *last)
{
    const size_t tokens = making->problem->tokens;
    const size_t digits = strspn(word, "0123456789");
    const char *rest = word + digits;
    *positions = digits > 0 && (*rest == '\0' ||
                                (*rest == '-' && rest[1] != '\0' && rest[1 + strspn(rest + 1, "0123456789")] == '\0'));
    if (!*positions)
        return STATUS_OK;
    unsigned long long low = strtoull(word, NULL, 10), high = *rest == '-' ? strtoull(rest + 1, NULL, 10) : low;
    if (low < 1 || high < 1 || low > tokens || high > tokens)
        return error_usage(making->error, "%s %.80s is out of range; expected positions 1..%zu", place, word, tokens);
    if (low > high)
        return error_usage(making->error, "%s %.80s runs backwards; expected %llu-%llu", place, word, high, low);
    *first = (size_t)low - 1;
    *last = (size_t)high - 1;
    return STATUS_OK;
}

static enum status select_word(const struct making *making, const char *place, const char *word, bool *selected)
{
    size_t first = 0, last = 0;
    bool positions;
    enum status status = parse_positions(making, place, word, &positions, &first, &last);
    if (status == STATUS_OK && !positions) {
        if (word[0] == '\0')
            return error_usage(making->error,
                               "%s '%.80s' has an empty item; expected tokens or positions such as 1,4-6", place,
                               making->options->query);
        status = find_token(making, place, word, &first);
        last = first;
    }
    for (size_t token = first; status == STATUS_OK && token <= last; token++)
        selected[token] = true;
    return status;
}

static enum status select_listed(const struct making *making, bool *selected)
{
    char place[PLACE_BYTES];
    place_of(making, OPTION_QUERY, place, sizeof place);
    for (const char *item = making->options->query; item != NULL;) {
        size_t length = strcspn(item, ",");
        char *word = arena_text(making->arena, item, length, making->error);
        if (word == NULL || select_word(making, place, word, selected) != STATUS_OK)
            return making->error->status;
        item = item[length] == ',' ? item + length + 1 : NULL;
    }
    return STATUS_OK;
}

static enum status select_part(const struct making *making)
{
    struct problem *problem = making->problem;
    const size_t part = making->options->part, parts = making->options->parts;
    if (parts == 0)
        return STATUS_OK;
    if (parts > problem->row_count)
        return error_usage(making->error, "--part %s: there are only %zu queries; expected at most as many parts",
                           making->options->part_text, problem->row_count);
    if (making->options->format != FORMAT_SAFETENSORS)
        return error_usage(making->error, "--part writes .safetensors, which says what it is part of; expected --out "
                                          "PART.safetensors");
    part_select(problem, part, parts);
    return STATUS_OK;
}

static enum status select_queries(const struct making *making)
{
    struct problem *problem = making->problem;
    bool *selected = arena_allocate(making->arena, problem->tokens, sizeof *selected, making->error);
    problem->rows = arena_allocate(making->arena, problem->tokens, sizeof *problem->rows, making->error);
    if (selected == NULL || problem->rows == NULL)
        return making->error->status;
    memset(selected, making->options->query == NULL, problem->tokens * sizeof *selected);
    if (making->options->query != NULL && select_listed(making, selected) != STATUS_OK)
        return making->error->status;
    for (size_t token = 0; token < problem->tokens; token++)
        if (selected[token])
            problem->rows[problem->row_count++] = token;
    problem->whole_count = problem->row_count;
    return select_part(making);
}

/* --- the path ---------------------------------------------------------------------------------------------------- */

/* Multiply-adds of the whole job, whatever rows and stages are asked for. */
static double job_work(const struct problem *problem)
{
    const double items = (double)problem->items, tokens = (double)problem->tokens;
    const double width = (double)problem->heads * (double)problem->d_head;
    double work = items * tokens * (3 * (double)problem->d_in * width + 2 * tokens * width);
    if (problem->plan.has_out)
        work += items * tokens * width * (double)problem->plan.d_out;
    return work;
}

/* Why the fused path cannot do what is asked, into text; NULL where it can. */
static const char *obstacle(const struct problem *problem, char *text, size_t size)
{
    if (problem->dtype != DTYPE_F32)
        return "it computes in float32; expected --dtype f32";
    if (problem->dropout > 0)
        return "dropout draws for each of T x T weights, which it never forms";
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
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

static enum status choose_path(const struct making *making)
{
    struct problem *problem = making->problem;
    const int path = making->options->kernel;
    const bool large = job_work(problem) >= FUSED_WORK;
    problem->kernel = kernel_choose(getenv("ATTN_ISA"), making->error);
    if (problem->kernel == NULL)
        return making->error->status;
    problem->threads = making->options->threads > 0 ? (unsigned)making->options->threads : processors();
    char text[128];
    const char *why = obstacle(problem, text, sizeof text);
    if (path == PATH_FUSED && why != NULL)
        return error_usage(making->error, "--kernel fused: %s", why);
    problem->fused = path == PATH_FUSED || (path == PATH_AUTO && large && why == NULL);
    problem->fast_projections = problem->fused || (path == PATH_AUTO && large && problem->dtype == DTYPE_F32);
    return STATUS_OK;
}

/* --- stages and settings ----------------------------------------------------------------------------------------- */

static enum status check_stage(const struct making *making, enum stage stage)
{
    const struct problem *problem = making->problem;
    if (stage == STAGE_DROPPED && problem->dropout == 0)
        return error_usage(making->error, "--stages: there is no '%s' without dropout; expected --dropout above 0",
                           stage_name(stage));
    if (stage == STAGE_OUTPUT && !problem->has_heads)
        return error_usage(making->error, "--stages: %s has no '%s', it ends at 'context'; multihead has one",
                           command_name(problem->mechanism), stage_name(stage));
    return STATUS_OK;
}

static enum status choose_stages(const struct making *making)
{
    struct problem *problem = making->problem;
    const struct options *options = making->options;
    problem->stages_asked = options->stage_count > 0;
    for (size_t i = 0; i < options->stage_count; i++) {
        if (check_stage(making, options->stages[i]) != STATUS_OK)
            return making->error->status;
        problem->stages[problem->stage_count++] = options->stages[i];
    }
    if (problem->stages_asked)
        return STATUS_OK;
    if (!problem->parameters_only)
        problem->stages[problem->stage_count++] = STAGE_INPUTS;
    problem->stages[problem->stage_count++] = STAGE_PARAMETERS;
    for (int stage = 0; stage < STAGE_COUNT && !problem->parameters_only; stage++) {
        bool absent = stage == STAGE_CAPPED || (stage == STAGE_MASKED && !problem->causal) ||
                      (stage == STAGE_DROPPED && problem->dropout == 0) ||
                      (stage == STAGE_OUTPUT && !problem->has_heads);
        if (!absent)
            problem->stages[problem->stage_count++] = (enum stage)stage;
    }
    return STATUS_OK;
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
    return add_setting(making, OPTION_ROWS[id].name, SETTING_TEXT, OPTION_ROWS[id].choices[value]);
}

/* The settings of the computation alone; those of drawing come before them. */
static enum status record_computation(const struct making *making)
{
    const struct problem *problem = making->problem;
    const struct options *options = making->options;
    char dropout[DECIMAL_BYTES];
    decimal_from_double(options->dropout, dropout);
    enum status status = add_setting(making, "dropout", SETTING_NUMBER, dropout);
    if (status == STATUS_OK && options->origin[OPTION_DROPOUT_SEED] != ORIGIN_DEFAULT)
        status = add_whole(making, "dropout_seed", options->dropout_seed);
    if (status == STATUS_OK && problem->has_heads)
        status = add_truth(making, "causal", problem->causal);
    if (status == STATUS_OK && options->context_length != 0)
        status = add_whole(making, "context_length", options->context_length);
    if (status == STATUS_OK && options->query != NULL)
        status = add_setting(making, "query", SETTING_TEXT, options->query);
    return status;
}

static enum status record_settings(const struct making *making)
{
    const struct problem *problem = making->problem;
    const struct options *options = making->options;
    if (add_whole(making, "seed", options->seed) || add_whole(making, "skip", options->skip) ||
        add_choice(making, OPTION_INIT, options->init) || add_choice(making, OPTION_RNG, options->rng) ||
        add_whole(making, "d_out", problem->plan.d_out))
        return making->error->status;
    if (problem->has_heads &&
        (add_whole(making, "heads", problem->heads) || add_truth(making, "stacked", problem->plan.stacked)))
        return making->error->status;
    if (add_truth(making, "qkv_bias", problem->plan.qkv_bias) ||
        add_setting(making, "dtype", SETTING_TEXT, dtype_name(problem->dtype)))
        return making->error->status;
    return problem->parameters_only ? STATUS_OK : record_computation(making);
}

enum status problem_create(struct problem *problem, struct options *options, const struct bundle *inputs,
                           const struct bundle *weights, struct progress *progress, struct arena *arena,
                           struct error *error)
{
    const struct making making = {problem, options, inputs, weights, arena, error};
    const bool init = options->command == COMMAND_INIT;
    *problem = (struct problem){
        .mechanism = init ? options->topic : options->command, .parameters_only = init, .progress = progress};
    if (apply_settings(&making) || take_inputs(&making))
        return error->status;
    problem->causal =
        problem->mechanism == COMMAND_CAUSAL || (problem->mechanism == COMMAND_MULTIHEAD && options->causal);
    problem->dropout = options->dropout;
    if (!init && (take_tokens(&making) || check_length(&making)))
        return error->status;
    if (make_parameters(&making) || (!init && select_queries(&making)))
        return error->status;
    if (options->origin[OPTION_DROPOUT_SEED] != ORIGIN_DEFAULT)
        generator_seed(&problem->generator, (enum generator_build)options->rng, options->dropout_seed);
    if (choose_stages(&making) || (!init && choose_path(&making)))
        return error->status;
    return record_settings(&making);
}
