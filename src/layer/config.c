/* SPDX-License-Identifier: MIT */
#include "layer/config_keys.h"

#include "base/text.h"
#include "read/json_tree.h"
#include "read/load.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 16 << 20 };

static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* Keys of a part's config in that of the full model; the first one present counts. */
static const char *const PART_KEYS[PART_COUNT] = {
    [PART_ONLY] = "text_config",
    [PART_ENCODER] = "encoder encoder_config",
    [PART_DECODER] = "decoder decoder_config text_config",
    [PART_TEXT] = "text_config language_config llm_config thinker_config.text_config",
    [PART_VISION] = "vision_config thinker_config.vision_config",
    [PART_AUDIO] = "audio_config speech_config encoder_config thinker_config.audio_config",
};

/* --- the file ---------------------------------------------------------------------------------------------------- */

/* Checks every object of the tree, which is at most JSON_TREE_DEPTH deep. */
static enum status check_repeated(const struct json_reader *reader, const cJSON *item)
{
    if (cJSON_IsObject(item) && json_check_repeated(reader, item, "") != STATUS_OK)
        return reader->error->status;
    for (const cJSON *child = item->child; child != NULL; child = child->next)
        if (check_repeated(reader, child) != STATUS_OK)
            return reader->error->status;
    return STATUS_OK;
}

static enum status parse(struct config *config, char *text, size_t length, struct error *error)
{
    struct arena scratch = {0};
    const struct json_reader reader = {.source = config->path, .scratch = &scratch, .error = error};
    config->root = json_parse(&reader, config->path, text, length);
    if (config->root == NULL)
        return error->status;
    const enum status status = cJSON_IsObject(config->root)
                                   ? check_repeated(&reader, config->root)
                                   : error_usage(error, "%s: holds %s; expected an object, like a model's config.json",
                                                 config->path, json_kind_name(config->root));
    arena_free(&scratch);
    return status;
}

static enum status read_text(struct config *config, FILE *file, char *text, struct error *error)
{
    const size_t length = fread(text, 1, (size_t)LARGEST + 1, file);
    if (ferror(file))
        return error_system(error, errno, "%s", config->path);
    if (length > LARGEST)
        return error_usage(error, "%s: larger than 16 MiB; expected a config.json", config->path);
    text[length] = '\0';
    return load_check_other(config->path, (const unsigned char *)text, length, error) != STATUS_OK
               ? error->status
               : parse(config, text, length, error);
}

enum status config_read_text(const char *path, char *text, struct config *config, struct error *error)
{
    *config = (struct config){.path = path};
    return parse(config, text, strlen(text), error);
}

enum status config_read(const char *path, struct config *config, struct error *error)
{
    *config = (struct config){.path = path};
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return error_system(error, errno, "%s", path);
    char *text = malloc((size_t)LARGEST + 2);
    enum status status = text != NULL ? read_text(config, file, text, error)
                                      : error_system(error, 0, "%s: not enough memory to read it", path);
    free(text);
    fclose(file);
    if (status != STATUS_OK)
        config_free(config);
    return status;
}

void config_free(struct config *config)
{
    cJSON_Delete(config->root);
    config->root = NULL;
}

/* --- its family -------------------------------------------------------------------------------------------------- */

/* The text at "model_type", or NULL. */
static const char *type_of(const struct config_reading *reading)
{
    const struct config_value value = config_find(reading, CONFIG_MODEL_TYPE);
    return config_text(reading, &value, NULL);
}

/* Enters the config of the part, if there is one, and returns its type. A known model_type of the full model has no
 * part PART_ONLY. */
static const char *enter_part(struct config_reading *reading, enum module_part part)
{
    const char *whole = type_of(reading);
    const struct config_value value = config_find_name(reading, PART_KEYS[part]);
    if (!cJSON_IsObject(value.item) ||
        (part == PART_ONLY && whole != NULL && family_find(whole) != NULL && !family_has_parts(whole)))
        return whole;
    reading->section = value.item;
    snprintf(reading->prefix, sizeof reading->prefix, "%.120s.", value.key);
    const char *type = type_of(reading);
    if (whole != NULL && !family_has_parts(whole))
        return whole; /* an unknown type */
    if (part == PART_VISION && type != NULL && whole != NULL && strcmp(type, whole) == 0)
        type = NULL; /* older Qwen-VL: the type of the whole, whose row is the text's */
    return type == NULL && whole != NULL ? family_of_part(whole, value.key) : type;
}

/* Whether two names have the same letters and digits, in any case. */
static bool same_letters(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strcspn(a, LETTERS);
        b += strcspn(b, LETTERS);
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (*a == '\0')
            return true;
    }
}

/* STATUS_USAGE for an unknown family, with the options that replace a row. A similar name is another model, with other
 * numbers. */
static enum status unknown(const char *place, const char *type, struct error *error)
{
    char hint[96] = "";
    if (family_lacks(type) != NULL)
        return error_usage(error, "%s: attn does not compute the attention of '%.60s', which has %s", place, type,
                           family_lacks(type));
    for (size_t i = 0; family_word(i) != NULL; i++)
        if (same_letters(family_word(i), type))
            snprintf(hint, sizeof hint, " (did you mean '%s'?)", family_word(i));
    return error_usage(
        error,
        "%s: attn does not know the family '%.60s'%s; choose one of attn help families with --family, or describe the "
        "model: --family none with what it needs of --heads, --kv-heads, --no-causal, --window, --scale, --softcap, "
        "--rope, --rope-theta, --rope-columns, --rope-scaling, --alibi, --clip, --norm, --qk-norm and --packing",
        place, type, hint);
}

enum status config_family(const struct config *config, enum module_part part, const char *asked,
                          const struct family_row **family, struct error *error)
{
    struct config_reading reading = {.config = config, .section = config->root, .error = error};
    const char *type = asked;
    char place[TEXT_PATH_BYTES + CONFIG_KEY_BYTES] = "--family";
    if (asked == NULL) {
        error->status = STATUS_OK;
        type = enter_part(&reading, part);
        if (config_failed(&reading))
            return error->status;
        const cJSON *whole = cJSON_GetObjectItemCaseSensitive(config->root, "model_type");
        const bool of_whole = type != NULL && whole != NULL && type == whole->valuestring;
        snprintf(place, sizeof place, "%s: %s%s", config->path != NULL ? config->path : "config.json",
                 of_whole ? "" : reading.prefix, config->of_gguf ? "general.architecture" : "model_type");
    }
    if (type == NULL && config->root != NULL)
        return error_usage(error, "%s is missing; add it, or name the model's family with --family", place);
    if (type == NULL)
        type = FAMILY_NONE;
    *family = family_find(type);
    return *family != NULL ? STATUS_OK : unknown(place, type, error);
}

void config_begin(struct config_reading *reading)
{
    reading->error->status = STATUS_OK;
    reading->section = reading->family->by_hand ? NULL : reading->config->root;
    reading->prefix[0] = '\0';
    enter_part(reading, reading->module->part);
}

enum status config_images(const struct config *config, const struct family_row *family, struct arena *arena,
                          const char **type, struct error *error)
{
    const cJSON *whole = cJSON_GetObjectItemCaseSensitive(config->root, "model_type");
    *type = NULL;
    if (!cJSON_IsString(whole) || !text_has_word(family->images, whole->valuestring))
        return STATUS_OK;
    *type = arena_copy(arena, whole->valuestring, error);
    return *type == NULL ? error->status : STATUS_OK;
}

/* --- heads ------------------------------------------------------------------------------------------------------- */

static void add_heads(const struct config_reading *reading)
{
    const enum module_part part = reading->module->part;
    const bool own = reading->family->decoder_heads > 0 && part == PART_DECODER;
    const struct config_value value = config_find(reading, own                    ? CONFIG_HEADS_OF_DECODER_ALONE
                                                           : part == PART_ENCODER ? CONFIG_HEADS_OF_ENCODER
                                                           : part == PART_DECODER ? CONFIG_HEADS_OF_DECODER
                                                                                  : CONFIG_HEADS);
    const size_t heads = config_whole(reading, &value, own ? reading->family->decoder_heads : reading->family->heads);
    if (config_is_set(&value) && heads == 0)
        config_wrong(reading, &value, "at least 1");
    if (heads > 0)
        config_fact_number(reading, "heads", config_is_set(&value) ? &value : NULL, (double)heads);
}

/* By the config, else as many as heads. Falcon: one with "multi_query", except with "new_decoder_architecture"; only
 * then the config's number counts. */
static size_t count_kv_heads(const struct config_reading *reading, size_t heads, struct config_value *value)
{
    const struct family_row *family = reading->family;
    const bool grouped = !family->multi_query || config_truth_of(reading, CONFIG_NEW_DECODER, false),
               one = family->multi_query && config_truth_of(reading, CONFIG_MULTI_QUERY, true);
    *value = config_find(reading, grouped ? CONFIG_KV_HEADS : CONFIG_MULTI_QUERY);
    if (!grouped)
        return one ? 1 : heads;
    if (family->latent)
        return heads;
    return config_whole(reading, value, value->item == NULL && family->kv_heads > 0 ? family->kv_heads : heads);
}

static void add_kv_heads(const struct config_reading *reading, size_t heads)
{
    struct config_value value;
    const size_t kv_heads = count_kv_heads(reading, heads, &value);
    if (kv_heads > 0 && heads % kv_heads == 0)
        config_fact_number(reading, "kv_heads", &value, (double)kv_heads);
    else if (value.item == NULL)
        CONFIG_REFUSE(reading, "family %s has kv_heads %zu, but heads %zu is not a multiple of that; set --kv-heads",
                      reading->family->name, kv_heads, heads);
    else
        CONFIG_REFUSE(reading, "%s: %s is %zu, but heads %zu%s is not a multiple of that; set --kv-heads",
                      reading->config->path, value.key, kv_heads, heads,
                      config_is_told(reading, "heads") ? " (--heads)" : "");
}

enum status config_heads(const struct config *config, const struct family_row *family,
                         const struct config_module *module, struct arena *arena, struct layer_facts *facts,
                         struct error *error)
{
    struct config_reading reading = {
        .config = config, .family = family, .module = module, .arena = arena, .facts = facts, .error = error};
    config_begin(&reading);
    if (family->by_hand)
        return error->status;
    if (!config_is_told(&reading, "heads"))
        add_heads(&reading);
    const struct layer_fact *fact = layer_facts_find(facts, "heads");
    const size_t heads = fact != NULL ? strtoul(fact->text, NULL, 10) : 0;
    if (heads > 0 && !family->kv_by_tensors && !config_is_told(&reading, "kv_heads"))
        add_kv_heads(&reading, heads);
    return error->status;
}
