/* SPDX-License-Identifier: MIT */
#include "layer/config_keys.h"

#include "base/decimal.h"
#include "base/text.h"
#include "read/json_tree.h"

#include <math.h>
#include <string.h>

/* The member of that name, of a path of names with dots; NULL where one of them is missing. */
static const cJSON *descend(const cJSON *item, const char *path)
{
    char name[CONFIG_KEY_BYTES];
    while (item != NULL && *path != '\0') {
        const size_t length = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        item = cJSON_IsObject(item) ? cJSON_GetObjectItemCaseSensitive(item, name) : NULL;
        path += length + (path[length] == '.');
    }
    return item;
}

const char *config_names(enum config_key key)
{
#define NAMES(id, names, read) [CONFIG_##id] = (names),
    static const char *const NAMES_OF[] = {CONFIG_KEY_ROWS(NAMES)};
    return NAMES_OF[key];
}

bool config_is_read(const struct family_row *f, enum config_key key)
{
#define READ(id, names, read) [CONFIG_##id] = (read),
    const bool reads[] = {CONFIG_KEY_ROWS(READ)};
    return reads[key];
}

#define ROW(...) {__VA_ARGS__},
const struct config_refused CONFIG_REFUSED[] = {CONFIG_REFUSED_ROWS(ROW)};
const size_t CONFIG_REFUSED_COUNT = sizeof CONFIG_REFUSED / sizeof CONFIG_REFUSED[0];

struct config_value config_find_name(const struct config_reading *reading, const char *names)
{
    struct config_value value = {0};
    for (size_t length; *names != '\0' && value.item == NULL; names += length + (names[length] == ' ')) {
        length = strcspn(names, " ");
        struct text key = text_begin(value.key, sizeof value.key);
        text_add(&key, "%s%.*s", reading->prefix, (int)length, names);
        value.item = descend(reading->section, value.key + strlen(reading->prefix));
    }
    return value;
}

struct config_value config_find(const struct config_reading *reading, enum config_key key)
{
    return config_find_name(reading, config_names(key));
}

struct config_value config_member(const struct config_value *object, const char *key)
{
    struct config_value value = {.item = descend(object->item, key)};
    snprintf(value.key, sizeof value.key, "%.80s.%.40s", object->key, key);
    return value;
}

bool config_entry(const struct config_reading *reading, enum config_key list, struct config_value *entry)
{
    *entry = config_find(reading, list);
    const bool is_list = cJSON_IsArray(entry->item);
    const size_t length = strlen(entry->key);
    snprintf(entry->key + length, sizeof entry->key - length, "[%zu]", reading->module->layer);
    entry->item = is_list ? cJSON_GetArrayItem(entry->item, (int)reading->module->layer) : NULL;
    return entry->item != NULL;
}

bool config_is_set(const struct config_value *value)
{
    return value->item != NULL && !cJSON_IsNull(value->item);
}

bool config_failed(const struct config_reading *reading)
{
    return reading->error->status != STATUS_OK;
}

void config_wrong(const struct config_reading *reading, const struct config_value *value, const char *expected)
{
    const cJSON *item = value->item;
    char got[DECIMAL_BYTES + 96] = "";
    if (cJSON_IsNumber(item) && isfinite(item->valuedouble))
        decimal_from_double(item->valuedouble, got);
    else if (cJSON_IsString(item))
        snprintf(got, sizeof got, "\"%.80s\"", item->valuestring);
    else
        snprintf(got, sizeof got, "%s",
                 cJSON_IsTrue(item)    ? "true"
                 : cJSON_IsFalse(item) ? "false"
                                       : json_kind_name(item));
    CONFIG_REFUSE(reading, "%s: %s is %s, expected %s", reading->config->path, value->key, got, expected);
}

size_t config_whole(const struct config_reading *reading, const struct config_value *value, size_t fallback)
{
    const cJSON *item = value->item;
    if (reading->config->of_gguf && cJSON_IsArray(item))
        item = cJSON_GetArrayItem(item, (int)reading->module->layer);
    const double given = cJSON_IsNumber(item) ? item->valuedouble : -1;
    const bool whole = given >= 0 && given <= 0x1p31 && given == floor(given);
    if (config_is_set(value) && !whole)
        config_wrong(reading, value, "a whole number");
    return whole ? (size_t)given : fallback;
}

double config_real(const struct config_reading *reading, const struct config_value *value, double fallback)
{
    const bool real = cJSON_IsNumber(value->item) && isfinite(value->item->valuedouble);
    if (config_is_set(value) && !real)
        config_wrong(reading, value, "a number");
    return real ? value->item->valuedouble : fallback;
}

bool config_truth(const struct config_reading *reading, const struct config_value *value, bool fallback)
{
    if (config_is_set(value) && !cJSON_IsBool(value->item))
        config_wrong(reading, value, "true or false");
    return cJSON_IsBool(value->item) ? cJSON_IsTrue(value->item) : fallback;
}

const char *config_text(const struct config_reading *reading, const struct config_value *value, const char *fallback)
{
    if (config_is_set(value) && !cJSON_IsString(value->item))
        config_wrong(reading, value, "a string");
    return cJSON_IsString(value->item) ? value->item->valuestring : fallback;
}

double config_real_of(const struct config_reading *reading, enum config_key key, double fallback)
{
    const struct config_value value = config_find(reading, key);
    return config_real(reading, &value, fallback);
}

bool config_truth_of(const struct config_reading *reading, enum config_key key, bool fallback)
{
    const struct config_value value = config_find(reading, key);
    return config_truth(reading, &value, fallback);
}

bool config_is_told(const struct config_reading *reading, const char *setting)
{
    const struct layer_fact *fact = layer_facts_find(reading->facts, setting);
    return fact != NULL && fact->source == FACT_OPTION;
}

void config_fact(const struct config_reading *reading, const char *setting, const struct config_value *value,
                 const char *text)
{
    const bool said = value != NULL && value->item != NULL;
    const struct layer_fact fact = {.setting = setting,
                                    .text = text,
                                    .source = said ? FACT_CONFIG : FACT_ROW,
                                    .key = said ? value->key : reading->family->name};
    if (!config_failed(reading))
        layer_facts_add(reading->facts, &fact, reading->arena, reading->error);
}

void config_fact_number(const struct config_reading *reading, const char *setting, const struct config_value *value,
                        double number)
{
    char text[DECIMAL_BYTES] = "";
    if (isfinite(number))
        decimal_from_double(number, text);
    else
        CONFIG_REFUSE(reading, "%s: %s gives a %s that is not finite",
                      reading->config->path != NULL ? reading->config->path : "no config",
                      value != NULL && value->item != NULL ? value->key : reading->family->name, setting);
    config_fact(reading, setting, value, text);
}
