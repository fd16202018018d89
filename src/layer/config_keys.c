#include "layer/config_keys.h"

#include "base/decimal.h"
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

struct config_value config_find(const struct config_reading *reading, const char *const *keys)
{
    struct config_value value = {0};
    for (; *keys != NULL && value.item == NULL; keys++) {
        value.item = descend(reading->section, *keys);
        snprintf(value.key, sizeof value.key, "%s%s", reading->prefix, *keys);
    }
    return value;
}

struct config_value config_member(const struct config_value *object, const char *key)
{
    struct config_value value = {.item = descend(object->item, key)};
    snprintf(value.key, sizeof value.key, "%.90s.%.30s", object->key, key);
    return value;
}

bool config_is_set(const struct config_value *value)
{
    return value->item != NULL && !cJSON_IsNull(value->item);
}

enum status config_wrong(const struct config_reading *reading, const struct config_value *value, const char *expected)
{
    const cJSON *item = value->item;
    char number[DECIMAL_BYTES] = "";
    if (cJSON_IsNumber(item) && isfinite(item->valuedouble))
        decimal_from_double(item->valuedouble, number);
    if (number[0] != '\0')
        return error_usage(reading->error, "%s: %s is %s, expected %s", reading->config->path, value->key, number,
                           expected);
    if (cJSON_IsString(item))
        return error_usage(reading->error, "%s: %s is \"%.80s\", expected %s", reading->config->path, value->key,
                           item->valuestring, expected);
    return error_usage(reading->error, "%s: %s is %s, expected %s", reading->config->path, value->key,
                       cJSON_IsTrue(item)    ? "true"
                       : cJSON_IsFalse(item) ? "false"
                                             : json_kind_name(item),
                       expected);
}

enum status config_whole(const struct config_reading *reading, const struct config_value *value, size_t *number)
{
    const double given = cJSON_IsNumber(value->item) ? value->item->valuedouble : -1;
    if (!(given >= 0 && given <= 0x1p31 && given == floor(given)))
        return config_wrong(reading, value, "a whole number");
    *number = (size_t)given;
    return STATUS_OK;
}

enum status config_real(const struct config_reading *reading, const struct config_value *value, double *number)
{
    if (!cJSON_IsNumber(value->item) || !isfinite(value->item->valuedouble))
        return config_wrong(reading, value, "a number");
    *number = value->item->valuedouble;
    return STATUS_OK;
}

enum status config_truth(const struct config_reading *reading, const struct config_value *value, bool *truth)
{
    if (!cJSON_IsBool(value->item))
        return config_wrong(reading, value, "true or false");
    *truth = cJSON_IsTrue(value->item);
    return STATUS_OK;
}

enum status config_text(const struct config_reading *reading, const struct config_value *value, const char **text)
{
    if (!cJSON_IsString(value->item))
        return config_wrong(reading, value, "a text");
    *text = value->item->valuestring;
    return STATUS_OK;
}

enum status config_real_of(const struct config_reading *reading, const char *const *keys, double *number)
{
    const struct config_value value = config_find(reading, keys);
    return config_is_set(&value) ? config_real(reading, &value, number) : STATUS_OK;
}

enum status config_truth_of(const struct config_reading *reading, const char *const *keys, bool *truth)
{
    const struct config_value value = config_find(reading, keys);
    return config_is_set(&value) ? config_truth(reading, &value, truth) : STATUS_OK;
}

bool config_is_told(const struct config_reading *reading, const char *setting)
{
    const struct layer_fact *fact = layer_facts_find(reading->facts, setting);
    return fact != NULL && fact->source == FACT_OPTION;
}

enum status config_fact(const struct config_reading *reading, const char *setting, const struct config_value *value,
                        const char *text)
{
    const bool said = value != NULL && value->item != NULL;
    const struct layer_fact fact = {.setting = setting,
                                    .text = text,
                                    .source = said ? FACT_CONFIG : FACT_ROW,
                                    .key = said ? value->key : reading->family->name};
    return layer_facts_add(reading->facts, &fact, reading->arena, reading->error);
}

enum status config_fact_number(const struct config_reading *reading, const char *setting,
                               const struct config_value *value, double number)
{
    char text[DECIMAL_BYTES];
    if (!isfinite(number))
        return error_usage(reading->error, "%s: %s makes no finite %s",
                           reading->config->path != NULL ? reading->config->path : "no config",
                           value != NULL && value->item != NULL ? value->key : reading->family->name, setting);
    decimal_from_double(number, text);
    return config_fact(reading, setting, value, text);
}
