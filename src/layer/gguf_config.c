/* SPDX-License-Identifier: MIT */
#include "layer/gguf_config.h"

#include "base/text.h"
#include "layer/gguf_rows.h"
#include "read/gguf.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 256 };

#define ROW(...) {__VA_ARGS__},
static const struct gguf_row ROWS[] = {GGUF_ROWS(ROW)};

struct building {
    const struct checkpoint *checkpoint;
    const char *architecture, *type;
    const struct gguf_row *row;      /* or NULL */
    const struct family_row *family; /* of the row; or NULL */
    cJSON *root;
    struct error *error;
};

/* --- values ------------------------------------------------------------------------------------------------------ */

static const struct gguf_value *find(const struct building *building, const char *key)
{
    char name[KEY_BYTES];
    snprintf(name, sizeof name, "%.120s.%.100s", building->architecture, key);
    return gguf_find(building->checkpoint->gguf, name);
}

/* The number at a key; 0 where there is none. */
static double number_of(const struct building *building, const char *key)
{
    const struct gguf_value *value = find(building, key);
    return gguf_is_number(value) ? gguf_number(value, 0) : 0;
}

static cJSON *make_scalar(const struct building *building, const struct gguf_value *value, size_t i)
{
    if (value->type == GGUF_BOOL)
        return cJSON_CreateBool(gguf_number(value, i) != 0);
    if (value->type != GGUF_STRING)
        return cJSON_CreateNumber(gguf_number(value, i));
    const char *text = gguf_text(value, building->checkpoint->arena, building->error);
    return text != NULL ? cJSON_CreateString(text) : NULL;
}

/* An array of texts is never a setting; it becomes null. */
static cJSON *make_item(const struct building *building, const struct gguf_value *value)
{
    if (!value->is_array)
        return make_scalar(building, value, 0);
    if (value->type == GGUF_STRING)
        return cJSON_CreateNull();
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; array != NULL && i < value->count; i++)
        cJSON_AddItemToArray(array, make_scalar(building, value, i));
    return array;
}

/* Puts an item at a key, "rope_scaling.factor", in place of an older one; makes the object if need be. */
static void put(const struct building *building, const char *path, cJSON *item)
{
    const char *dot = strchr(path, '.'), *key = dot != NULL ? dot + 1 : path;
    char name[KEY_BYTES];
    cJSON *object = building->root;
    if (dot != NULL) {
        snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
        object = cJSON_GetObjectItemCaseSensitive(building->root, name);
        object = object != NULL ? object : cJSON_AddObjectToObject(building->root, name);
    }
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    if (building->error->status == STATUS_OK && item != NULL && cJSON_AddItemToObject(object, key, item))
        return;
    cJSON_Delete(item);
    if (building->error->status == STATUS_OK)
        error_system(building->error, 0, "%s: not enough memory for its metadata", building->checkpoint->source);
}

static void put_number(const struct building *building, const char *key, double number)
{
    put(building, key, cJSON_CreateNumber(number));
}

/* --- keys -------------------------------------------------------------------------------------------------------- */

typedef void putter(const struct building *building, const char *key, const struct gguf_value *value);

/* The factor of the scores, which only some families take from a key; in others config_facts refuses it. */
static void put_scale(const struct building *building, const char *key, const struct gguf_value *value)
{
    const enum family_scale scale = building->family != NULL ? building->family->scale : FAMILY_SCALE_ROOT;
    const bool is_known = scale == FAMILY_SCALE_MULTIPLIER || scale == FAMILY_SCALE_MULTIPLIER_OR_ROOT;
    put(building, is_known ? key : "attention_scale", make_item(building, value));
}

/* A truth value for each layer, or the number of layers of which one is full. */
static void put_pattern(const struct building *building, const char *key, const struct gguf_value *value)
{
    cJSON *types = value->is_array ? cJSON_CreateArray() : NULL;
    for (size_t i = 0; i < value->count && types != NULL && value->type != GGUF_STRING; i++)
        cJSON_AddItemToArray(types,
                             cJSON_CreateString(gguf_number(value, i) != 0 ? "sliding_attention" : "full_attention"));
    if (value->is_array)
        put(building, "layer_types", types);
    else
        put(building, key, make_item(building, value));
}

/* The columns of a head; 0 where the metadata do not say them. */
static double head_columns(const struct building *building)
{
    const double length = number_of(building, "attention.key_length"),
                 heads = number_of(building, "attention.head_count");
    return length > 0 ? length : heads > 0 ? number_of(building, "embedding_length") / heads : 0;
}

/* The rotated columns, under the names of the families: as a number, and as a share of a head's columns. */
static void put_columns(const struct building *building, const char *key, const struct gguf_value *value)
{
    const double all = head_columns(building), columns = number_of(building, "rope.dimension_count");
    if (building->family == NULL || building->family->columns_key != NULL)
        put(building, key, make_item(building, value));
    put(building, "qk_rope_head_dim", make_item(building, value));
    if (columns > 0 && all > 0) /* a little more, so that the product is not below the whole number */
        put_number(building, "partial_rotary_factor", columns < all ? (columns + 0x1p-10) / all : 1);
}

/* Whether Granite's hybrids rotate; in other models it says nothing. */
static void put_finetuned(const struct building *building, const char *key, const struct gguf_value *value)
{
    if (building->family != NULL && building->family->rotating == FAMILY_ROTATING_ASKED)
        put(building, key, cJSON_CreateString(!gguf_is_number(value) || gguf_number(value, 0) != 0 ? "rope" : "nope"));
}

static void put_theta(const struct building *building, const char *key, const struct gguf_value *value)
{
    const char *own = building->family != NULL ? building->family->theta_key : NULL;
    put(building, own != NULL ? own : key, make_item(building, value));
}

/* How many pairs each axis has; llama.cpp adds a fourth axis. */
static void put_sections(const struct building *building, const char *key, const struct gguf_value *value)
{
    cJSON *sections = cJSON_CreateArray();
    for (size_t i = 0; i < value->count && i < 3 && value->type != GGUF_STRING; i++)
        cJSON_AddItemToArray(sections, cJSON_CreateNumber(gguf_number(value, i)));
    put(building, key, sections);
}

/* mscale_all_dim, of which DeepSeek's converter writes a tenth; llama.cpp takes mscale to be the same. */
static void put_log_multiplier(const struct building *building, const char *key, const struct gguf_value *value)
{
    const bool latent = building->family != NULL && building->family->latent,
               grows = building->family != NULL && building->family->growth == FAMILY_GROWTH_BETA;
    const double all = gguf_is_number(value) ? gguf_number(value, 0) / (latent ? 0.1 : 1) : NAN;
    put_number(building, latent || grows ? key : "rope_scaling.yarn_log_multiplier", all);
    put_number(building, "rope_scaling.mscale", all);
}

#define KEY(...) {__VA_ARGS__},
static const struct {
    const char *name, *key, *idle;
    putter *put;
} KEYS[] = {GGUF_KEYS(KEY)};

enum { KEY_COUNT = sizeof KEYS / sizeof KEYS[0] };

static void put_value(const struct building *building, const struct gguf_value *value)
{
    const size_t length = strlen(building->architecture);
    const char *name = value->name + length + 1;
    bool known = false;
    if (strncmp(value->name, building->architecture, length) != 0 || value->name[length] != '.')
        return;
    for (size_t row = 0; row < KEY_COUNT; row++) {
        if (strcmp(KEYS[row].name, name) != 0)
            continue;
        known = true;
        if (KEYS[row].put != NULL)
            KEYS[row].put(building, KEYS[row].key, value);
        else if (KEYS[row].idle == NULL || !gguf_is_number(value) ||
                 gguf_number(value, 0) != strtod(KEYS[row].idle, NULL))
            put(building, KEYS[row].key, make_item(building, value));
    }
    if (!known && (strncmp(name, "att", 3) == 0 || strncmp(name, "rope", 4) == 0) && !text_has_word(GGUF_NOWHERE, name))
        cJSON_AddTrueToObject(building->root, name); /* attn warns of it, whatever it is */
}

/* --- factors of the rotation ------------------------------------------------------------------------------------- */

/* The numbers of a tensor as an array; NULL where there is none. */
static cJSON *make_list(const struct building *building, const char *name)
{
    struct tensor tensor;
    if (!checkpoint_has(building->checkpoint, name) || building->error->status != STATUS_OK ||
        checkpoint_take(building->checkpoint, name, &tensor, building->error) != STATUS_OK)
        return NULL;
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < tensor_count(&tensor) && list != NULL; i++) {
        double number;
        tensor_load(&tensor, i, 1, &number);
        cJSON_AddItemToArray(list, cJSON_CreateNumber(number));
    }
    return list;
}

/* Whether these are the factors that Llama 3's scaling gives with the numbers that all its models have. */
static bool is_llama3(const struct building *building, const cJSON *list, double factor)
{
    const double low = 1, high = 4, old = 8192;
    const double base = number_of(building, "rope.freq_base"), columns = 2.0 * cJSON_GetArraySize(list);
    size_t pair = 0;
    for (const cJSON *item = list->child; item != NULL; item = item->next, pair++) {
        const double wave = 2 * acos(-1) * pow(base > 0 ? base : 10000, 2 * (double)pair / columns),
                     smooth = fmin(fmax((old / wave - low) / (high - low), 0), 1);
        if (!(fabs(item->valuedouble * ((1 - smooth) / factor + smooth) - 1) < 1e-5))
            return false;
    }
    return factor > 1;
}

/* rope_freqs.weight: the divisors of the frequencies, at any length. */
static void put_frequencies(const struct building *building, cJSON *list)
{
    const double context = number_of(building, "context_length");
    const cJSON *last = cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1);
    const bool llama3 = last != NULL && is_llama3(building, list, last->valuedouble);
    put(building, "rope_scaling.rope_type", cJSON_CreateString(llama3 ? "llama3" : "longrope"));
    put_number(building, "rope_scaling.original_max_position_embeddings", llama3 ? 8192 : context > 0 ? context : 1);
    if (llama3) {
        put_number(building, "rope_scaling.factor", last->valuedouble);
        put_number(building, "rope_scaling.low_freq_factor", 1);
        put_number(building, "rope_scaling.high_freq_factor", 4);
        cJSON_Delete(list);
        return;
    }
    put_number(building, "rope_scaling.attention_factor", 1);
    put(building, "rope_scaling.short_factor", cJSON_Duplicate(list, true));
    put(building, "rope_scaling.long_factor", list);
}

/* The factors of long texts, in tensors. */
static void put_factors(const struct building *building)
{
    const cJSON *scaling = cJSON_GetObjectItemCaseSensitive(building->root, "rope_scaling");
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(scaling, "rope_type"));
    const bool both = type != NULL && strcmp(type, "none") != 0;
    cJSON *all = make_list(building, "rope_freqs.weight"), *list = make_list(building, "rope_factors_long.weight");
    if (all != NULL)
        put_frequencies(building, all);
    if (all != NULL && both)
        put(building, "rope_scaling.rope_type", cJSON_CreateString("rope_freqs.weight and rope.scaling.type"));
    if (list == NULL)
        return;
    const double factor = number_of(building, "rope.scaling.attn_factor");
    put_number(building, "rope_scaling.attention_factor", factor > 0 ? factor : 1);
    put(building, "rope_scaling.long_factor", list);
    put(building, "rope_scaling.short_factor", make_list(building, "rope_factors_short.weight"));
    put(building, "rope_scaling.rope_type", cJSON_CreateString("longrope"));
    cJSON_DeleteItemFromObject(cJSON_GetObjectItem(building->root, "rope_scaling"), "attn_factor");
}

/* --- the config -------------------------------------------------------------------------------------------------- */

/* Whether a tensor of that name is in some block. */
static bool has_in_blocks(const struct checkpoint *checkpoint, const char *end)
{
    for (size_t i = 0; i < checkpoint->count; i++)
        if (text_ends_in(checkpoint->names[i].text, end))
            return true;
    return false;
}

/* Members that a config.json has and the metadata lack. Where the metadata are silent, llama.cpp's defaults count, not
 * those of the family. */
static void put_implied(const struct building *building)
{
    const struct family_row *family = building->family;
    const double columns = head_columns(building);
    const cJSON *scaling = cJSON_GetObjectItemCaseSensitive(building->root, "rope_scaling");
    if (cJSON_HasObjectItem(scaling, "factor") && !cJSON_HasObjectItem(scaling, "rope_type"))
        put(building, "rope_scaling.rope_type", cJSON_CreateString("linear"));
    if (family->normed == FAMILY_NORMED_ASKED || family->normed == FAMILY_NORMED_UNLESS)
        put(building, "use_qk_norm", cJSON_CreateBool(has_in_blocks(building->checkpoint, ".attn_q_norm.weight")));
    if (find(building, "rope.scaling.finetuned") == NULL)
        put_finetuned(building, "position_embedding_type", NULL);
    if (family->sliding != FAMILY_SLIDING_NONE && !cJSON_HasObjectItem(building->root, "sliding_window")) {
        put(building, "sliding_window", cJSON_CreateNull());
        put_number(building, "sliding_window_pattern", 1);
    }
    if (find(building, "rope.freq_base") == NULL && family->theta > 0)
        put_number(building, family->theta_key != NULL ? family->theta_key : "rope_theta", 10000);
    if (find(building, "rope.dimension_count") == NULL && family->share > 0)
        put_number(building, "partial_rotary_factor", 1);
    if (!cJSON_HasObjectItem(building->root, "rope_scaling") && family->scaling != NULL)
        put(building, "rope_scaling.rope_type", cJSON_CreateString("none"));
    if (!cJSON_HasObjectItem(building->root, "attention_multiplier") && family->scale == FAMILY_SCALE_MULTIPLIER &&
        columns > 0)
        put_number(building, "attention_multiplier", 1 / sqrt(columns));
    if (building->row->blocks > 0)
        put_number(building, "query_pre_attn_scalar",
                   number_of(building, "block_count") == building->row->blocks
                       ? number_of(building, "embedding_length") / number_of(building, "attention.head_count")
                       : columns);
}

static const struct gguf_row *find_row(const struct building *building)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct gguf_value *value = ROWS[i].when != NULL ? find(building, ROWS[i].when) : NULL;
        const double number =
            ROWS[i].when == NULL || (value != NULL && value->is_array) ? 1 : number_of(building, ROWS[i].when);
        if (text_has_word(ROWS[i].names, building->architecture) &&
            (ROWS[i].is != 0 ? number == ROWS[i].is : number != 0))
            return &ROWS[i];
    }
    return NULL;
}

enum status gguf_config(const struct checkpoint *checkpoint, struct config *config, const struct gguf_row **row,
                        struct error *error)
{
    struct building building = {.checkpoint = checkpoint, .error = error};
    char unknown[80];
    const struct gguf_value *name = gguf_find(checkpoint->gguf, "general.architecture");
    if (name == NULL || name->is_array || name->type != GGUF_STRING)
        return error_usage(error, "%s: general.architecture is missing or no text; the file is damaged",
                           checkpoint->source);
    building.architecture = gguf_text(name, checkpoint->arena, error);
    if (building.architecture == NULL)
        return error->status;
    *row = building.row = find_row(&building);
    building.type = *row == NULL || (*row)->type == NULL ? building.architecture : (*row)->type;
    building.family = *row != NULL ? family_find(building.type) : NULL;
    building.root = *row != NULL && (*row)->config != NULL ? cJSON_Parse((*row)->config) : cJSON_CreateObject();
    if (building.root == NULL)
        return error_system(error, 0, "%s: not enough memory for its metadata", checkpoint->source);
    *config = (struct config){.path = checkpoint->source, .root = building.root, .of_gguf = true};
    error->status = STATUS_OK;
    snprintf(unknown, sizeof unknown, "%.60s (GGUF)", building.architecture); /* a family may have that name */
    put(&building, "model_type", cJSON_CreateString(*row != NULL ? building.type : unknown));
    for (size_t i = 0; i < checkpoint->gguf->count; i++)
        put_value(&building, &checkpoint->gguf->values[i]);
    put_factors(&building);
    if (building.family != NULL)
        put_implied(&building);
    return error->status;
}

enum status gguf_facts(const struct gguf_row *row, struct arena *arena, struct layer_facts *facts, struct error *error)
{
    const char *key = "general.architecture";
    const struct layer_fact *qk_norm = layer_facts_find(facts, "qk_norm");
    const bool normed = qk_norm != NULL && strcmp(qk_norm->text, "none") != 0;
    if ((row->norm != NULL &&
         (layer_facts_add(facts, &(struct layer_fact){"norm", row->norm, FACT_CONFIG, key}, arena, error) ||
          (normed &&
           layer_facts_add(facts, &(struct layer_fact){"qk_norm", row->norm, FACT_CONFIG, key}, arena, error)))) ||
        (layer_facts_find(facts, "packing") != NULL &&
         layer_facts_add(facts, &(struct layer_fact){"packing", "blocks", FACT_CONFIG, key}, arena, error)))
        return error->status;
    return STATUS_OK;
}
