/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include "cli/option_text.h"

#include <string.h>

/* Each option is recorded once. */
static bool is_recorded(const struct problem *problem, const char *name)
{
    for (size_t i = 0; i < problem->record.setting_count; i++)
        if (strcmp(problem->record.settings[i].name, name) == 0)
            return true;
    return false;
}

/* Adds a setting if the mechanism takes it. */
static enum status add_setting(const struct build *build, enum option_id id, enum setting_kind kind, const char *text)
{
    struct problem *problem = build->problem;
    const bool drawing = id == OPTION_SEED || id == OPTION_SKIP || id == OPTION_INIT || id == OPTION_RNG;
    char name[BUILD_PLACE_BYTES];
    if (is_recorded(problem, options_setting_name(id, name, sizeof name)) ||
        !options_takes_setting(problem->mechanism, name))
        return STATUS_OK;
    struct setting setting = {arena_copy(build->arena, name, build->error), kind,
                              arena_copy(build->arena, text, build->error), OPTIONS[id].asked,
                              drawing && !build_changes_draws(build, id)};
    problem->record.settings[problem->record.setting_count++] = setting;
    return setting.name == NULL || setting.text == NULL ? build->error->status : STATUS_OK;
}

/* Adds a whole number; from 2^53 on as a string, since doubles of JSON readers would round it. */
static enum status add_whole(const struct build *build, enum option_id id, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return add_setting(build, id, value >= UINT64_C(1) << 53 ? SETTING_TEXT : SETTING_NUMBER, text);
}

/* Records the option's value, given or default; the functions above record the value that was used. */
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

/* Whether to record an option only on request: the seed of drawn inputs always. Not --align with a past of no tokens:
 * the result omits that past, and without it --align would have an effect. */
static bool is_asked(const struct build *build, enum option_id id)
{
    if (id == OPTION_ALIGN && build->inputs != NULL && build->inputs->empty_past)
        return false;
    return OPTIONS[id].asked != NULL && options_said(build->options, id == OPTION_RANDOM_SEED ? OPTION_RANDOM : id);
}

/* What to record of an option: its value, or the one used. */
struct record {
    enum option_id id;
    bool when;
    enum { AS_HELD, AS_WHOLE, AS_TRUTH, AS_DTYPE } as;
    uint64_t value;
};

static enum status record(const struct build *build, const struct record *one)
{
    if (!one->when)
        return STATUS_OK;
    if (one->as == AS_HELD)
        return add_option(build, one->id);
    if (one->as == AS_WHOLE)
        return add_whole(build, one->id, one->value);
    return one->as == AS_TRUTH ? add_setting(build, one->id, SETTING_TRUTH, one->value ? "true" : "false")
                               : add_setting(build, one->id, SETTING_TEXT, dtype_name((enum dtype)one->value));
}

/* First the settings that draw the parameters, or describe given ones, then those that compute. sdpa records the
 * generator only with dropout, and heads only where query, key and value are packed. */
enum status build_settings(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct problem *right = problem_right(problem);
    const struct parameters_plan *plan = &problem->plan;
    const bool projects = problem_projects(problem), computes = projects && !problem->parameters_only;
    const bool drops = !projects && (problem->drop.share > 0 || right->drop.share > 0),
               packed = !projects && problem->size.heads_packed;
    const bool split = projects && problem->size.has_heads, seeded = options_said(build->options, OPTION_DROPOUT_SEED);
    const struct record records[] = {
        {OPTION_SEED, projects || drops, AS_HELD, 0},
        {OPTION_SKIP, projects || drops, AS_HELD, 0},
        {OPTION_INIT, projects, AS_HELD, 0},
        {OPTION_RNG, projects || drops, AS_HELD, 0},
        {OPTION_D_OUT, projects, AS_WHOLE, plan->d_out},
        {OPTION_DROPOUT, drops, AS_HELD, 0},
        {OPTION_DROPOUT_SEED, drops && seeded, AS_HELD, 0},
        {OPTION_HEADS, split || packed, AS_WHOLE, problem->size.heads},
        {OPTION_KV_HEADS, (split && options_said(build->options, OPTION_KV_HEADS)) || packed, AS_WHOLE,
         problem->size.kv_heads},
        {OPTION_STACKED, split, AS_TRUTH, plan->stacked},
        {OPTION_QKV_BIAS, projects, AS_TRUTH, plan->qkv_bias},
        {OPTION_CAUSAL, !projects, AS_TRUTH, right->mask.causal},
        {OPTION_DTYPE, true, AS_DTYPE, problem->rounding.dtype},
        {OPTION_DROPOUT, computes, AS_HELD, 0},
        {OPTION_DROPOUT_SEED, computes && seeded, AS_HELD, 0},
        {OPTION_CAUSAL, computes && problem->size.has_heads, AS_TRUTH, right->mask.causal},
        {OPTION_CONTEXT_LENGTH, computes && build->options->context_length != 0, AS_HELD, 0},
    };
    problem->record.settings =
        arena_allocate(build->arena, OPTION_COUNT, sizeof problem->record.settings[0], build->error);
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        if (problem->record.settings == NULL || record(build, &records[i]) != STATUS_OK)
            return build->error->status;
    /* Those that few jobs use, if given; the queries come last, unless a cell names its query. */
    for (enum option_id id = 0; id < OPTION_COUNT && !problem->parameters_only; id++)
        if (is_asked(build, id) && add_option(build, id) != STATUS_OK)
            return build->error->status;
    const bool listed = build->options->query != NULL && !problem->chosen.has_cell && !problem->parameters_only;
    return listed ? add_option(build, OPTION_QUERY) : STATUS_OK;
}
