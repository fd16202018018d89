#include "making.h"

#include "decimal.h"

#include <string.h>

static enum status add_setting(const struct making *making, enum option_id id, enum setting_kind kind, const char *text)
{
    struct problem *problem = making->problem;
    char name[MAKING_PLACE_BYTES];
    options_setting_name(id, name, sizeof name);
    struct setting setting = {arena_text(making->arena, name, strlen(name), making->error), kind,
                              arena_text(making->arena, text, strlen(text), making->error)};
    problem->settings[problem->setting_count++] = setting;
    return setting.name == NULL || setting.text == NULL ? making->error->status : STATUS_OK;
}

/* A whole number from 2^53 on is written as a string: a JSON reader's double would not hold it. */
static enum status add_whole(const struct making *making, enum option_id id, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return add_setting(making, id, value >= UINT64_C(1) << 53 ? SETTING_TEXT : SETTING_NUMBER, text);
}

static enum status add_truth(const struct making *making, enum option_id id, bool value)
{
    return add_setting(making, id, SETTING_TRUTH, value ? "true" : "false");
}

static enum status add_real(const struct making *making, enum option_id id, double value)
{
    char text[DECIMAL_BYTES];
    decimal_from_double(value, text);
    return add_setting(making, id, SETTING_NUMBER, text);
}

/* What the option holds, said or not; the others above record what became of one. */
static enum status add_option(const struct making *making, enum option_id id)
{
    const struct option_row *row = &OPTION_ROWS[id];
    const void *field = (const char *)making->options + row->offset;
    switch (row->kind) {
    case OPTION_FLAG:
        return add_truth(making, id, *(const bool *)field);
    case OPTION_WHOLE:
        return add_whole(making, id, *(const uint64_t *)field);
    case OPTION_PROBABILITY:
    case OPTION_REAL:
        return add_real(making, id, *(const double *)field);
    case OPTION_CHOICE:
        return add_setting(making, id, SETTING_TEXT, row->choices[*(const int *)field]);
    case OPTION_TEXT:
        return add_setting(making, id, SETTING_TEXT, *(const char *const *)field);
    }
    return STATUS_OK;
}

/* What few jobs ask for is recorded where it was asked for; the queries last. */
static enum status record_asked(const struct making *making)
{
    for (int id = 0; id < OPTION_COUNT; id++)
        if (OPTION_ROWS[id].asked != NULL && making_said(making, (enum option_id)id) &&
            add_option(making, (enum option_id)id) != STATUS_OK)
            return making->error->status;
    return making->options->query != NULL ? add_option(making, OPTION_QUERY) : STATUS_OK;
}

static enum status record_heads(const struct making *making)
{
    const struct problem *problem = making->problem;
    if (add_whole(making, OPTION_HEADS, problem->heads))
        return making->error->status;
    if (making_said(making, OPTION_KV_HEADS) && add_whole(making, OPTION_KV_HEADS, problem->kv_heads))
        return making->error->status;
    return add_truth(making, OPTION_STACKED, problem->plan.stacked);
}

/* What draws the parameters, or what those that are given have. */
static enum status record_parameters(const struct making *making)
{
    const struct problem *problem = making->problem;
    if (add_option(making, OPTION_SEED) || add_option(making, OPTION_SKIP) || add_option(making, OPTION_INIT) ||
        add_option(making, OPTION_RNG) || add_whole(making, OPTION_D_OUT, problem->plan.d_out) ||
        (problem->has_heads && record_heads(making)) || add_truth(making, OPTION_QKV_BIAS, problem->plan.qkv_bias))
        return making->error->status;
    return add_setting(making, OPTION_DTYPE, SETTING_TEXT, dtype_name(problem->dtype));
}

static enum status record_computation(const struct making *making)
{
    const struct problem *problem = making->problem;
    if (add_option(making, OPTION_DROPOUT) ||
        (making_said(making, OPTION_DROPOUT_SEED) && add_option(making, OPTION_DROPOUT_SEED)) ||
        (problem->has_heads && add_truth(making, OPTION_CAUSAL, problem->mask.causal)) ||
        (making->options->context_length != 0 && add_option(making, OPTION_CONTEXT_LENGTH)))
        return making->error->status;
    return record_asked(making);
}

static enum status record_dropout(const struct making *making)
{
    if (add_option(making, OPTION_SEED) || add_option(making, OPTION_SKIP) || add_option(making, OPTION_RNG) ||
        add_option(making, OPTION_DROPOUT))
        return making->error->status;
    return making_said(making, OPTION_DROPOUT_SEED) ? add_option(making, OPTION_DROPOUT_SEED) : STATUS_OK;
}

/* Those of sdpa: what draws matters for dropout alone, heads where query, key and value are packed. */
static enum status record_sdpa(const struct making *making)
{
    const struct problem *problem = making->problem;
    if (problem->dropout > 0 && record_dropout(making))
        return making->error->status;
    if (problem->packed &&
        (add_whole(making, OPTION_HEADS, problem->heads) || add_whole(making, OPTION_KV_HEADS, problem->kv_heads)))
        return making->error->status;
    if (add_truth(making, OPTION_CAUSAL, problem->mask.causal) ||
        add_setting(making, OPTION_DTYPE, SETTING_TEXT, dtype_name(problem->dtype)))
        return making->error->status;
    return record_asked(making);
}

enum status making_settings(const struct making *making)
{
    if (making->problem->mechanism == COMMAND_SDPA)
        return record_sdpa(making);
    if (record_parameters(making) != STATUS_OK)
        return making->error->status;
    return making->problem->parameters_only ? STATUS_OK : record_computation(making);
}
