#include "bundle.h"

#include "nearest.h"
#include "stages.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned kind;
} NAMES[] = {
    {"tokens", BUNDLE_TOKENS},
    {"inputs", BUNDLE_INPUTS},
    {"settings", BUNDLE_SETTINGS},
    {"comment", BUNDLE_IGNORED},
    {"attn", BUNDLE_IGNORED},
    {"mechanism", BUNDLE_IGNORED},
    {"layout", BUNDLE_IGNORED},
    {"lacks", BUNDLE_IGNORED},
    {"mask", BUNDLE_BUFFER},
    {"query", BUNDLE_OPERAND},
    {"key", BUNDLE_OPERAND},
    {"value", BUNDLE_OPERAND},
    {"past_key", BUNDLE_CACHE},
    {"past_value", BUNDLE_CACHE},
    {"kv_lengths", BUNDLE_CACHE},
    {"attn_mask", BUNDLE_MASKING},
    {"alibi_slopes", BUNDLE_MASKING},
    {"sinks", BUNDLE_MASKING},
    {"W_query", BUNDLE_PARAMETER},
    {"W_key", BUNDLE_PARAMETER},
    {"W_value", BUNDLE_PARAMETER},
    {"W_query.weight", BUNDLE_PARAMETER},
    {"W_key.weight", BUNDLE_PARAMETER},
    {"W_value.weight", BUNDLE_PARAMETER},
    {"W_query.bias", BUNDLE_PARAMETER},
    {"W_key.bias", BUNDLE_PARAMETER},
    {"W_value.bias", BUNDLE_PARAMETER},
    {"in_proj_weight", BUNDLE_PARAMETER},
    {"in_proj_bias", BUNDLE_PARAMETER},
    {"out_proj.weight", BUNDLE_PARAMETER},
    {"out_proj.bias", BUNDLE_PARAMETER},
};

enum { NAME_COUNT = sizeof NAMES / sizeof NAMES[0] };

/* What follows "heads.N." in a name of one head's, or NULL. */
static const char *after_head(const char *name)
{
    if (strncmp(name, "heads.", 6) != 0 || !isdigit((unsigned char)name[6]))
        return NULL;
    const char *end = name + 6;
    if (end[0] == '0' && end[1] != '.') /* heads.00 would be another name of heads.0 */
        return NULL;
    while (isdigit((unsigned char)*end))
        end++;
    return *end == '.' ? end + 1 : NULL;
}

static bool belongs_to_a_head(const char *name)
{
    return strncmp(name, "W_", 2) == 0 || strcmp(name, "mask") == 0;
}

unsigned bundle_kind(const char *name)
{
    const char *of_head = after_head(name);
    if (of_head != NULL && !belongs_to_a_head(of_head))
        return BUNDLE_UNKNOWN;
    const char *plain = of_head != NULL ? of_head : name;
    unsigned kind = of_head == NULL && stage_find(name, strlen(name)) < STAGE_COUNT ? BUNDLE_STAGE : BUNDLE_UNKNOWN;
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (strcmp(NAMES[i].name, plain) == 0)
            kind |= NAMES[i].kind;
    return kind;
}

unsigned bundle_kind_among(const char *name, unsigned kinds)
{
    const unsigned kind = bundle_kind(name), kept = kind & (BUNDLE_STAGE | BUNDLE_TOKENS | BUNDLE_SETTINGS);
    if ((kinds & BUNDLE_FOREIGN) == 0)
        return kind;
    return kept != 0 ? kept : BUNDLE_FOREIGN;
}

bool bundle_head(const char *name, size_t *head)
{
    if (after_head(name) == NULL)
        return false;
    errno = 0;
    const unsigned long long number = strtoull(name + 6, NULL, 10);
    *head = errno == 0 && number < SIZE_MAX ? (size_t)number : SIZE_MAX;
    return true;
}

enum status bundle_pass(struct bundle *bundle, const char *name, struct arena *arena, struct error *error)
{
    const char *kept = arena_text(arena, name, strlen(name), error);
    bundle->passed[bundle->passed_count++] = kept;
    return kept == NULL ? error->status : STATUS_OK;
}

const char *bundle_setting(const struct bundle *bundle, const char *name)
{
    for (size_t i = 0; i < bundle->setting_count; i++)
        if (strcmp(bundle->settings[i].name, name) == 0)
            return bundle->settings[i].text;
    return NULL;
}

enum status bundle_unknown(const char *source, const char *name, struct error *error)
{
    const char *candidates[NAME_COUNT];
    const char *of_head = after_head(name);
    const char *plain = of_head != NULL ? of_head : name;
    char prefix[64] = "", hint[256];
    for (size_t i = 0; i < NAME_COUNT; i++)
        candidates[i] = of_head == NULL || belongs_to_a_head(NAMES[i].name) ? NAMES[i].name : NULL;
    if (of_head != NULL)
        snprintf(prefix, sizeof prefix, "%.*s", (int)(of_head - name), name);
    nearest_hint(hint, sizeof hint, prefix, plain, candidates, NAME_COUNT);
    if (hint[0] == '\0')
        snprintf(hint, sizeof hint, "; free text goes under \"comment\"");
    return error_usage(error, "%s: unknown key '%.80s'%s", source, name, hint);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct bundle_tensor *)a)->name, ((const struct bundle_tensor *)b)->name);
}

void bundle_sort(struct bundle *bundle)
{
    for (size_t i = 0; i < bundle->tensor_count; i++)
        bundle->tensors[i].order = i;
    if (bundle->tensor_count > 0)
        qsort(bundle->tensors, bundle->tensor_count, sizeof bundle->tensors[0], by_name);
}

const struct bundle_tensor *bundle_find(const struct bundle *bundle, const char *name)
{
    if (bundle->tensor_count == 0)
        return NULL;
    struct bundle_tensor sought = {.name = name};
    return bsearch(&sought, bundle->tensors, bundle->tensor_count, sizeof bundle->tensors[0], by_name);
}
