#include "build/build.h"

#include "cli/option_text.h"

#include <string.h>

/* Each option has one place among the settings. */
static bool is_recorded(const struct problem *problem, const char *name)
{
    for (size_t i = 0; i < problem->setting_count; i++)
        if (strcmp(problem->settings[i].name, name) == 0)
            return true;
    return false;
}

/* Whether the option is about what is drawn, and nothing that is depends on it. */
static bool is_idle(const struct build *build, enum option_id id)
{
    const bool drawing = id == OPTION_SEED || id == OPTION_SKIP || id == OPTION_INIT || id == OPTION_RNG;
    return drawing && !build_changes_draws(build, id);
}

/* Those alone that the mechanism takes: a layer draws nothing. */
static enum status add_setting(const struct build *build, enum option_id id, enum setting_kind kind, const char *text)
{
    struct problem *problem = build->problem;
    char name[BUILD_PLACE_BYTES];
    if (is_recorded(problem, options_setting_name(id, name, sizeof name)) ||
        !options_takes_setting(problem->mechanism, name))
        return STATUS_OK;
    struct setting setting = {arena_text(build->arena, name, strlen(name), build->error), kind,
                              arena_text(build->arena, text, strlen(text), build->error), OPTIONS[id].asked,
                              is_idle(build, id)};
    problem->settings[problem->setting_count++] = setting;
    return setting.name == NULL || setting.text == NULL ? build->error->status : STATUS_OK;
}

/* A whole number from 2^53 on is written as a string: a JSON reader's double would not hold it. */
static enum status add_whole(const struct build *build, enum option_id id, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return add_setting(build, id, value >= UINT64_C(1) << 53 ? SETTING_TEXT : SETTING_NUMBER, text);
}

static enum status add_truth(const struct build *build, enum option_id id, bool value)
{
    return add_setting(build, id, SETTING_TRUTH, value ? "true" : "false");
}

/* Records what the option holds, whether it was given or is a default. Those above record what came of it. */
static enum status add_option(const struct build *build, enum option_id id)
{
    static const enum setting_kind AS[OPTION_KINDS] = {[OPTION_FLAG] = SETTING_TRUTH,
                                                       [OPTION_NEGATION] = SETTING_TRUTH,
                                                       [OPTION_REAL] = SETTING_NUMBER,
                                                       [OPTION_CHOICE] = SETTING_TEXT,
                                                       [OPTION_TEXT] = SETTING_TEXT};
    const struct option_row *row = &OPTIONS[id];
    char text[OPTION_TEXT_BYTES];
    if (row->kind == OPTION_WHOLE)
        return add_whole(build, id, *(const uint64_t *)((const char *)build->options + row->offset));
    return add_setting(build, id, AS[row->kind], option_text(build->options, id, text));
}

/* A seed of inputs that were drawn, whether it was given or not, and of no others. Beside a past of no tokens, which is
 * not recorded, --align is none: it does nothing here, and would where that past is no longer seen. */
static bool is_asked(const struct build *build, enum option_id id)
{
    if (id == OPTION_ALIGN && build->inputs != NULL && build->inputs->empty_past)
        return false;
    return OPTIONS[id].asked != NULL && build_said(build, id == OPTION_RANDOM_SEED ? OPTION_RANDOM : id);
}

/* Options that few jobs use are recorded only where they were given; the queries come last. */
static enum status record_asked(const struct build *build)
{
    for (int id = 0; id < OPTION_COUNT; id++)
        if (is_asked(build, (enum option_id)id) && add_option(build, (enum option_id)id) != STATUS_OK)
            return build->error->status;
    const bool listed = build->options->query != NULL && !build->problem->has_cell; /* a cell names its own query */
    return listed ? add_option(build, OPTION_QUERY) : STATUS_OK;
}

static enum status record_heads(const struct build *build)
{
    const struct problem *problem = build->problem;
    if (add_whole(build, OPTION_HEADS, problem->heads))
        return build->error->status;
    if (build_said(build, OPTION_KV_HEADS) && add_whole(build, OPTION_KV_HEADS, problem->kv_heads))
        return build->error->status;
    return add_truth(build, OPTION_STACKED, problem->plan.stacked);
}

/* What draws the parameters, or what those that are given have. */
static enum status record_parameters(const struct build *build)
{
    const struct problem *problem = build->problem;
    if (add_option(build, OPTION_SEED) || add_option(build, OPTION_SKIP) || add_option(build, OPTION_INIT) ||
        add_option(build, OPTION_RNG) || add_whole(build, OPTION_D_OUT, problem->plan.d_out) ||
        (problem->has_heads && record_heads(build)) || add_truth(build, OPTION_QKV_BIAS, problem->plan.qkv_bias))
        return build->error->status;
    return add_setting(build, OPTION_DTYPE, SETTING_TEXT, dtype_name(problem->dtype));
}

static enum status record_computation(const struct build *build)
{
    const struct problem *problem = build->problem;
    if (add_option(build, OPTION_DROPOUT) ||
        (build_said(build, OPTION_DROPOUT_SEED) && add_option(build, OPTION_DROPOUT_SEED)) ||
        (problem->has_heads && add_truth(build, OPTION_CAUSAL, problem_right(problem)->mask.causal)) ||
        (build->options->context_length != 0 && add_option(build, OPTION_CONTEXT_LENGTH)))
        return build->error->status;
    return record_asked(build);
}

static enum status record_dropout(const struct build *build)
{
    if (add_option(build, OPTION_SEED) || add_option(build, OPTION_SKIP) || add_option(build, OPTION_RNG) ||
        add_option(build, OPTION_DROPOUT))
        return build->error->status;
    return build_said(build, OPTION_DROPOUT_SEED) ? add_option(build, OPTION_DROPOUT_SEED) : STATUS_OK;
}

/* The settings of sdpa. Those of the generator matter only with dropout, those of heads only where query, key and
 * value are packed. */
static enum status record_sdpa(const struct build *build)
{
    const struct problem *problem = build->problem;
    const bool drops = problem->dropout > 0 || problem_right(problem)->dropout > 0;
    if (drops && record_dropout(build))
        return build->error->status;
    if (problem->packed &&
        (add_whole(build, OPTION_HEADS, problem->heads) || add_whole(build, OPTION_KV_HEADS, problem->kv_heads)))
        return build->error->status;
    if (add_truth(build, OPTION_CAUSAL, problem_right(problem)->mask.causal) ||
        add_setting(build, OPTION_DTYPE, SETTING_TEXT, dtype_name(problem->dtype)))
        return build->error->status;
    return record_asked(build);
}

enum status build_settings(const struct build *build)
{
    struct problem *problem = build->problem;
    problem->settings = arena_allocate(build->arena, OPTION_COUNT, sizeof problem->settings[0], build->error);
    if (problem->settings == NULL)
        return build->error->status;
    if (!problem_projects(problem))
        return record_sdpa(build);
    if (record_parameters(build) != STATUS_OK)
        return build->error->status;
    return problem->parameters_only ? STATUS_OK : record_computation(build);
}
