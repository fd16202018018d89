/* SPDX-License-Identifier: MIT */
#include "layer/config_keys.h"
#include "layer/quantised.h"

#include "base/decimal.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what is not understood -------------------------------------------------------------------------------------- */

static bool is_harmless(const struct config_refused *refused, const cJSON *item)
{
    if (item == NULL || cJSON_IsNull(item))
        return true;
    if (cJSON_IsBool(item))
        return cJSON_IsTrue(item) == refused->truth;
    if (cJSON_IsNumber(item))
        return item->valuedouble == refused->number;
    return cJSON_IsString(item) && refused->text != NULL && strcmp(item->valuestring, refused->text) == 0;
}

static void check_refused(const struct config_reading *reading)
{
    for (size_t i = 0; i < CONFIG_REFUSED_COUNT; i++) {
        const struct config_value value = config_find_name(reading, CONFIG_REFUSED[i].key);
        const bool read = CONFIG_REFUSED[i].growing && reading->family->growth == FAMILY_GROWTH_FLOOR;
        if (!read && !is_harmless(&CONFIG_REFUSED[i], value.item))
            CONFIG_REFUSE(reading,
                          "%s: %s changes attention in a way that attn does not support; use a model without it",
                          reading->config->path, value.key);
    }
}

/* Checks that the config's positions, rotated or not, are those of the family. */
static void check_positions(const struct config_reading *reading)
{
    const struct config_value value = config_find(reading, CONFIG_POSITION_TYPE);
    const char *text = config_text(reading, &value, "absolute");
    const bool rotates = reading->family->rope != ROPE_NONE;
    if (reading->family->rotating != FAMILY_ROTATING_ASKED && strcmp(text, "absolute") != 0 &&
        !(rotates && (strcmp(text, "rope") == 0 || strcmp(text, "rotary") == 0)))
        config_wrong(reading, &value, rotates ? "\"rope\", \"rotary\" or \"absolute\"" : "\"absolute\"");
}

/* Rejects a norm of query and key that the family's row lacks, since attn would omit it. */
static void check_qk_norm(const struct config_reading *reading)
{
    const struct config_value value = config_find(reading, CONFIG_QK_NORM_UNKNOWN);
    if (reading->family->qk_norm == NULL && cJSON_IsTrue(value.item))
        CONFIG_REFUSE(
            reading,
            "%s: %s is true, but attn knows no query and key norms in family %s; use --family none with --qk-norm",
            reading->config->path, value.key, reading->family->name);
}

/* Checks the config's columns of a head against the tensors: others mean other heads, or another model. With a latent
 * the config gives the rotated columns. */
static void check_columns(const struct config_reading *reading)
{
    char expected[96];
    const struct config_value value = config_find(reading, CONFIG_HEAD_COLUMNS);
    if (reading->family->latent || reading->family->kv_by_tensors || config_is_told(reading, "heads"))
        return;
    snprintf(expected, sizeof expected, "%zu, the columns of each head in the query weight", reading->module->columns);
    if (config_whole(reading, &value, reading->module->columns) != reading->module->columns)
        config_wrong(reading, &value, expected);
    const struct config_value all = config_find(reading, CONFIG_WIDTH);
    const struct layer_fact *heads = layer_facts_find(reading->facts, "heads");
    const size_t width = heads != NULL ? strtoul(heads->text, NULL, 10) * reading->module->columns : 0;
    snprintf(expected, sizeof expected, "%zu, the rows of the query weight: is this file one of several parts?", width);
    if (reading->family->heads_fill_width && !config_is_set(&value) && config_whole(reading, &all, width) != width)
        config_wrong(reading, &all, expected);
}

/* Rejects layers whose keys and values are those of an earlier layer, and a weight for key and value that the config
 * does not know. */
static void check_shared(const struct config_reading *reading)
{
    const struct config_value value = config_find(reading, CONFIG_SHARED_LAYERS),
                              layers = config_find(reading, CONFIG_LAYERS);
    const size_t all = config_whole(reading, &layers, 0), shared = config_whole(reading, &value, 0);
    if (shared > 0 && reading->module->layer + shared >= all)
        CONFIG_REFUSE(reading,
                      "%s: layer %zu takes its keys and values from an earlier layer, which attn does not compute: %s "
                      "is %zu of %zu layers",
                      reading->config->path, reading->module->layer, value.key, shared, all);
    if (reading->module->key_is_value && !config_truth_of(reading, CONFIG_KEY_IS_VALUE, false))
        CONFIG_REFUSE(reading, "this module has no weight for value, and no config says that key and value share one");
}

static bool names_attention(const cJSON *list)
{
    for (const cJSON *item = cJSON_IsArray(list) ? list->child : NULL; item != NULL; item = item->next)
        if (cJSON_IsString(item) && strstr(item->valuestring, "attn") != NULL)
            return true;
    return false;
}

/* Rejects forms of quantisation that attn does not read: even weights stored as they are may be rounded when a model
 * loads them. Some exclude attention, and say so. */
static void check_quantised(const struct config_reading *reading)
{
    static const char *const LEFT[] = {"modules_to_not_convert", "ignored_layers", "ignore", "llm_int8_skip_modules"};
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(reading->config->root, "quantization_config");
    bool left = item == NULL || config_failed(reading);
    for (size_t i = 0; i < sizeof LEFT / sizeof LEFT[0]; i++)
        left = left || names_attention(cJSON_GetObjectItemCaseSensitive(item, LEFT[i]));
    if (!left)
        quantised_check(reading->config, reading->error);
}

/* --- causal and window ------------------------------------------------------------------------------------------- */

/* Whether the family is causal. */
static bool ask_family(const struct config_reading *reading, struct config_value *value)
{
    const struct family_row *family = reading->family;
    const enum module_part part = reading->module->part;
    if (family->causal == FAMILY_CAUSAL_DECODER) {
        if (part != PART_DECODER && part != PART_ENCODER && !config_is_told(reading, "causal"))
            CONFIG_REFUSE(reading,
                          "family %s: the module's name does not say whether it is in an encoder or a decoder; set "
                          "--causal or --no-causal",
                          family->name);
        return part == PART_DECODER;
    }
    if (family->causal == FAMILY_CAUSAL_CONFIG) {
        *value = config_find(reading, CONFIG_IS_DECODER);
        return config_truth(reading, value, false);
    }
    const struct config_value ways = config_find(reading, CONFIG_BOTH_WAYS);
    const bool within = cJSON_IsString(ways.item) && strcmp(ways.item->valuestring, "vision") == 0;
    if (within || !config_truth(reading, &ways, false)) /* Gemma 4: within an image */
        return family->causal == FAMILY_CAUSAL_ALWAYS;
    if (!family->both_ways)
        config_wrong(reading, &ways, "false, or --no-causal and --window");
    *value = ways;
    return false;
}

/* transformers 5 builds masks by is_causal; for a module that is not causal, only one of its paths does. */
static bool ask_causal(const struct config_reading *reading, struct config_value *value)
{
    const struct family_row *family = reading->family;
    if (reading->module->cross)
        return false;
    const bool causal = ask_family(reading, value);
    if (config_is_told(reading, "causal"))
        return causal;
    const struct config_value key = config_find(reading, CONFIG_IS_CAUSAL);
    const bool asked = config_truth(reading, &key, causal);
    if (asked == causal || (causal && family->is_causal == FAMILY_IS_CAUSAL_IGNORED))
        return causal;
    if (asked || family->is_causal == FAMILY_IS_CAUSAL_REFUSED)
        config_wrong(reading, &key,
                     asked ? "false as in the rest of the family, or --causal or --no-causal"
                           : "true as in the rest of the family, or --causal or --no-causal");
    *value = key;
    return asked;
}

/* This layer's word in layer_types, or the family's own for the last layer; NULL without that list. */
static const char *layer_type(const struct config_reading *reading, struct config_value *value)
{
    const struct config_value list = config_find(reading, CONFIG_LAYER_TYPES);
    const bool chunks = reading->family->sliding == FAMILY_SLIDING_CHUNKS;
    if (!config_is_set(&list))
        return NULL;
    config_entry(reading, CONFIG_LAYER_TYPES, value);
    const char *word = cJSON_IsString(value->item) ? value->item->valuestring : "";
    if (value->item == NULL)
        config_wrong(reading, &list, "an array with one word per layer");
    else if (!cJSON_IsString(value->item))
        config_wrong(reading, value, "a string");
    else if (strcmp(word, chunks ? "chunked_attention" : "sliding_attention") != 0 &&
             strcmp(word, reading->family->indexer != ROPE_NONE ? "indexed_attention" : "full_attention") != 0)
        config_wrong(reading, value,
                     chunks ? "\"full_attention\" or \"chunked_attention\""
                            : "\"full_attention\" or \"sliding_attention\"");
    const bool last = reading->module->layer + 1 == (size_t)cJSON_GetArraySize(list.item);
    return last && reading->family->last_full ? "full_attention" : word;
}

/* The keys for sliding layers: the window, and the number of a rule that counts without a list; and whether there is a
 * switch. */
static const struct {
    enum config_key window, rule;
    bool switched;
} SLIDING[] = {
    [FAMILY_SLIDING_NONE] = {CONFIG_WINDOW, 0, false},
    [FAMILY_SLIDING_ALL] = {CONFIG_WINDOW, 0, false},
    [FAMILY_SLIDING_ASKED] = {CONFIG_WINDOW, 0, true},
    [FAMILY_SLIDING_BUT] = {CONFIG_WINDOW, CONFIG_WINDOW_PATTERN, false},
    [FAMILY_SLIDING_FROM] = {CONFIG_WINDOW, CONFIG_WINDOW_LAYERS, true},
    [FAMILY_SLIDING_UNTIL] = {CONFIG_WINDOW, CONFIG_WINDOW_LAYERS, true},
    [FAMILY_SLIDING_STILL] = {CONFIG_WINDOW, 0, false},
    [FAMILY_SLIDING_AFTER] = {CONFIG_WINDOW, CONFIG_WINDOW_LAYERS, false},
    [FAMILY_SLIDING_LOCAL] = {CONFIG_WINDOW_OF_LOCAL, 0, false},
    [FAMILY_SLIDING_BETWEEN] = {CONFIG_WINDOW_BETWEEN, CONFIG_GLOBAL_EVERY, false},
    [FAMILY_SLIDING_LISTED] = {CONFIG_WINDOW, 0, false},
    [FAMILY_SLIDING_CHUNKS] = {CONFIG_WINDOW, 0, false},
};

/* Whether the layer slides by the rule, without a list. */
static bool ask_rule(const struct config_reading *reading, struct config_value *value)
{
    const enum family_sliding sliding = reading->family->sliding;
    if (!reading->family->pattern_fixed)
        *value = config_find(reading, SLIDING[sliding].rule);
    const struct config_value layers = config_find(reading, CONFIG_LAYERS);
    const size_t layer = reading->module->layer, n = config_whole(reading, value, reading->family->pattern);
    if ((reading->family->first_full && layer == 0) ||
        (reading->family->last_full && layer + 1 == config_whole(reading, &layers, 0)))
        return false;
    if (SLIDING[sliding].rule == CONFIG_WINDOW_LAYERS)
        return sliding == FAMILY_SLIDING_UNTIL ? layer < n && layer % 2 == 0 : layer >= n;
    return sliding == FAMILY_SLIDING_BETWEEN ? n > 0 && layer % n != 0 : n == 0 || (layer + 1) % n != 0;
}

/* The kind of a layer, from lists of kinds that each repeat a number of times; NULL where they have none for it. */
static const cJSON *find_kind(const cJSON *types, size_t layer)
{
    for (const cJSON *item = types->child; item != NULL; item = item->next) {
        const cJSON *kinds = cJSON_GetArrayItem(item, 0), *turns = cJSON_GetArrayItem(item, 1);
        if (!cJSON_IsArray(kinds) || !cJSON_IsNumber(turns))
            return NULL;
        const double size = cJSON_GetArraySize(kinds), count = size * turns->valuedouble;
        if (!(count >= 0 && turns->valuedouble == floor(turns->valuedouble)))
            return NULL;
        if ((double)layer < count)
            return cJSON_GetArrayItem(kinds, (int)(layer % (size_t)size));
        layer -= (size_t)count;
    }
    return NULL;
}

/* GPT-Neo: without a key every other layer. */
static bool ask_local(const struct config_reading *reading, struct config_value *value)
{
    const size_t layer = reading->module->layer;
    *value = config_find(reading, CONFIG_LAYERS_BY_KIND);
    const cJSON *item = cJSON_IsArray(value->item) ? cJSON_GetArrayItem(value->item, (int)layer) : NULL;
    if (!config_is_set(value)) {
        *value = config_find(reading, CONFIG_KINDS_IN_TURN);
        item = config_is_set(value) ? find_kind(value->item, layer) : NULL;
    }
    if (!config_is_set(value))
        return layer % 2 == 1;
    const char *word = item != NULL && cJSON_IsString(item) ? item->valuestring : "";
    if (strcmp(word, "local") != 0 && strcmp(word, "global") != 0)
        config_wrong(reading, value, "\"global\" or \"local\" for each layer");
    return strcmp(word, "local") == 0;
}

/* SmolLM3: with use_sliding_window the layers that do not rotate; a list counts without it. */
static bool ask_still(const struct config_reading *reading, struct config_value *value, bool listed, bool slides)
{
    const struct config_value window = config_find(reading, CONFIG_WINDOW);
    if (listed) {
        if (slides && !config_is_set(&window) && !config_is_told(reading, "window"))
            config_wrong(reading, value, "\"full_attention\", because sliding_window is not set");
        return slides;
    }
    *value = config_find(reading, CONFIG_WINDOW_USED);
    return config_truth(reading, value, false) && !config_listed(reading, value);
}

static bool ask_slides(const struct config_reading *reading, struct config_value *value)
{
    const enum family_sliding sliding = reading->family->sliding;
    struct config_value type = {0};
    const char *word = layer_type(reading, &type);
    const bool listed = word != NULL, slides = listed && strcmp(word, "sliding_attention") == 0;
    bool used = sliding != FAMILY_SLIDING_NONE && sliding != FAMILY_SLIDING_CHUNKS && !reading->module->cross;
    if (SLIDING[sliding].switched) {
        *value = config_find(reading, CONFIG_WINDOW_USED);
        used = config_truth(reading, value, false);
        /* With the switch off, transformers has no window for "sliding_attention" in a list. */
        if (!used && slides && sliding != FAMILY_SLIDING_ASKED && !reading->module->cross &&
            !config_is_told(reading, "window"))
            config_wrong(reading, &type, "\"full_attention\", or use_sliding_window true");
    }
    if (!used || sliding == FAMILY_SLIDING_ALL || sliding == FAMILY_SLIDING_ASKED)
        return used;
    if (sliding == FAMILY_SLIDING_LOCAL)
        return ask_local(reading, value);
    if (listed)
        *value = type;
    if (sliding == FAMILY_SLIDING_STILL)
        return ask_still(reading, value, listed, slides);
    if (sliding == FAMILY_SLIDING_LISTED && !listed && reading->section != NULL)
        CONFIG_REFUSE(reading, "%s: %slayer_types is missing, which says whether this layer has a window; set --window",
                      reading->config->path, reading->prefix);
    if (sliding == FAMILY_SLIDING_LISTED)
        return slides;
    return listed ? slides : ask_rule(reading, value);
}

/* How many keys on either side a bidirectional mask allows: n / 2 for a window of n, n in Ultrabert. With is_causal
 * false, transformers takes n, or n / 2 + 1 with use_bidirectional_attention. */
static size_t reach_of(const struct config_reading *reading, size_t window)
{
    const struct config_value causal = config_find(reading, CONFIG_IS_CAUSAL),
                              ways = config_find(reading, CONFIG_BOTH_WAYS);
    if (reading->family->causal == FAMILY_CAUSAL_NEVER && reading->family->sliding == FAMILY_SLIDING_LISTED)
        return window;
    if (reading->family->causal == FAMILY_CAUSAL_NEVER || !cJSON_IsFalse(causal.item))
        return window / 2;
    return cJSON_IsTrue(ways.item) ? window / 2 + 1 : window;
}

/* Adds the window: W keys up to the query's position, or some on either side. */
static void add_window(const struct config_reading *reading, const struct config_value *why, bool slides, bool causal)
{
    const struct config_value past = config_find(reading, CONFIG_WINDOW_PAST);
    const size_t more = reading->family->window_past && config_is_set(&past) ? 1 : 0;
    const struct config_value value = more ? past : config_find(reading, SLIDING[reading->family->sliding].window);
    const bool null = value.item != NULL && !config_is_set(&value);
    const size_t window = config_whole(reading, &value, slides && null ? 0 : reading->family->window) + more;
    const struct config_value half = config_find(reading, CONFIG_WINDOW);
    char text[64];
    if (SLIDING[reading->family->sliding].window == CONFIG_WINDOW_BETWEEN &&
        config_whole(reading, &half, window / 2) != window / 2)
        config_wrong(reading, &half, "local_attention / 2");
    if (slides && causal && window == 0 && config_is_set(&value))
        config_wrong(reading, &value, "null, or at least 1");
    if (!slides || (window == 0 && !config_is_set(&value))) {
        if (why->item != NULL || value.item != NULL)
            config_fact(reading, "window", why->item != NULL ? why : &value, "-1,-1");
        return;
    }
    if (causal)
        snprintf(text, sizeof text, "%zu,0", window - 1);
    else
        snprintf(text, sizeof text, "%zu,%zu", reach_of(reading, window), reach_of(reading, window));
    config_fact(reading, "window", &value, text);
}

/* Llama 4: layers whose keys are those of a query's own chunk. */
static void add_chunk(const struct config_reading *reading)
{
    const struct config_value chunk = config_find(reading, CONFIG_CHUNK);
    const size_t size = config_whole(reading, &chunk, 0);
    struct config_value value = {0};
    const char *word = layer_type(reading, &value);
    if (reading->family->sliding != FAMILY_SLIDING_CHUNKS || config_is_told(reading, "attention_chunk"))
        return;
    if (word != NULL ? strcmp(word, "chunked_attention") == 0 : config_listed(reading, &value))
        config_fact_number(reading, "attention_chunk", &chunk, (double)size);
}

/* Returns whether the layer slides. */
static bool add_masks(const struct config_reading *reading)
{
    struct config_value value = {0}, why = {0};
    const bool causal = ask_causal(reading, &value), slides = ask_slides(reading, &why);
    if (!config_is_told(reading, "causal"))
        config_fact(reading, "causal", &value, causal ? "true" : "false");
    if (!config_is_told(reading, "window"))
        add_window(reading, &why, slides, causal);
    add_chunk(reading);
    return slides;
}

/* --- scale ------------------------------------------------------------------------------------------------------- */

static double scale_scalar(const struct config_reading *reading, struct config_value *value, double scale)
{
    const double scalar = config_real(reading, value, reading->family->scalar);
    if (!(scalar > 0))
        config_wrong(reading, value, "a number above 0");
    return scalar > 0 ? 1 / sqrt(scalar) : scale;
}

static double scale_flags(const struct config_reading *reading, struct config_value *value, double scale)
{
    const struct config_value by_layer = config_find(reading, CONFIG_SCALED_BY_LAYER);
    const bool scaled = config_truth(reading, value, true),
               divides = config_truth(reading, &by_layer, false) && reading->family->scale == FAMILY_SCALE_FLAGS;
    if (divides)
        *value = by_layer;
    else if (scaled)
        value->item = NULL;
    return (scaled ? scale : 1) / (divides ? (double)(reading->module->layer + 1) : 1);
}

/* `value`: the object of the rotation's parameters. */
static double scale_mscale(const struct config_reading *reading, struct config_value *value, double scale)
{
    const struct config_value type = config_rope_type(value), mscale = config_member(value, "mscale_all_dim"),
                              factor = config_member(value, "factor");
    value->item = NULL;
    if (!cJSON_IsString(type.item) || strcmp(type.item->valuestring, "default") == 0 || !config_is_set(&mscale))
        return scale;
    const double all = config_real(reading, &mscale, 0), by = config_real(reading, &factor, 1);
    const double wider = all != 0 && by > 1 ? 0.1 * all * log(by) + 1 : 1;
    *value = mscale;
    return scale * (wider * wider);
}

/* The scale: from a key if set, perhaps by a function, else 1 / sqrt(d), else 1. */
static const struct {
    bool root;
    enum config_key key;
    double (*make)(const struct config_reading *reading, struct config_value *value, double scale);
} SCALES[] = {
    [FAMILY_SCALE_ROOT] = {true, CONFIG_KEY_COUNT, NULL},
    [FAMILY_SCALE_ONE] = {false, CONFIG_KEY_COUNT, NULL},
    [FAMILY_SCALE_SCALAR] = {false, CONFIG_SCALAR, scale_scalar},
    [FAMILY_SCALE_MULTIPLIER] = {false, CONFIG_MULTIPLIER, NULL},
    [FAMILY_SCALE_FLAGS] = {true, CONFIG_SCALED, scale_flags},
    [FAMILY_SCALE_FLAG] = {true, CONFIG_SCALED, scale_flags},
    [FAMILY_SCALE_MULTIPLIER_OR_ROOT] = {true, CONFIG_MULTIPLIER, NULL},
    [FAMILY_SCALE_SOFTMAX] = {true, CONFIG_SOFTMAX_SCALE, NULL},
    [FAMILY_SCALE_MSCALE] = {true, CONFIG_KEY_COUNT, scale_mscale},
};

static void add_scale(const struct config_reading *reading, bool slides)
{
    const enum family_scale kind = reading->family->scale;
    struct config_value value = {0};
    if (reading->family->scale_on_query && !config_is_told(reading, "scale_on"))
        config_fact(reading, "scale_on", NULL, "query");
    if (config_is_told(reading, "scale"))
        return;
    if (kind == FAMILY_SCALE_MSCALE)
        value = config_rope_object(reading, slides);
    else if (SCALES[kind].key != CONFIG_KEY_COUNT)
        value = config_find(reading, SCALES[kind].key);
    if (kind == FAMILY_SCALE_MULTIPLIER && cJSON_IsNull(value.item))
        config_wrong(reading, &value, "a number");
    double scale = SCALES[kind].root ? 1 / sqrt((double)reading->module->columns) : 1;
    scale = SCALES[kind].make != NULL ? SCALES[kind].make(reading, &value, scale) : config_real(reading, &value, scale);
    config_fact_number(reading, "scale", config_is_set(&value) ? &value : NULL, scale);
}

static void add_softcap(const struct config_reading *reading)
{
    const struct config_value value = config_find(reading, CONFIG_SOFTCAP);
    if (reading->family->softcap != 0)
        config_fact_number(reading, "softcap", &value,
                           cJSON_IsNull(value.item) ? 0 : config_real(reading, &value, reading->family->softcap));
}

static void add_alibi(const struct config_reading *reading)
{
    const struct config_value value = config_find(reading, CONFIG_ALIBI),
                              causal = config_find(reading, CONFIG_IS_CAUSAL);
    if (reading->family->alibi == FAMILY_ALIBI_KEY && config_truth(reading, &value, false) &&
        cJSON_IsFalse(causal.item) && !config_is_told(reading, "causal"))
        config_wrong(reading, &causal, "true with alibi, which counts from the first key, or --no-causal");
    if (reading->family->alibi == FAMILY_ALIBI_ALWAYS)
        config_fact(reading, "alibi", NULL, "slopes");
    else if (reading->family->alibi == FAMILY_ALIBI_KEY && config_truth(reading, &value, false))
        config_fact(reading, "alibi", &value, "scaled");
}

static void add_clip(const struct config_reading *reading)
{
    const bool nested = reading->family->scale == FAMILY_SCALE_SOFTMAX;
    const struct config_value value = config_find(reading, nested ? CONFIG_CLIP_NESTED : CONFIG_CLIP);
    const double clip = config_real(reading, &value, 0);
    if (config_is_set(&value) && reading->family->clip)
        config_fact_number(reading, "clip", &value, clip);
    else if (clip != 0)
        config_wrong(reading, &value, "null, because the family does not clip, or --clip");
}

/* Adds the norm of query and key; without a config only the tensors tell whether there is one. */
static void add_qk_norm(const struct config_reading *reading)
{
    const enum family_normed where = reading->family->normed;
    struct config_value value = {0};
    bool normed = where == FAMILY_NORMED_CROSS ? reading->module->cross : where != FAMILY_NORMED_ASKED;
    if (reading->family->qk_norm == NULL)
        return;
    if (where != FAMILY_NORMED_ALL && where != FAMILY_NORMED_CROSS) {
        value = config_find(reading, CONFIG_QK_NORM);
        normed = config_truth(reading, &value, normed || reading->section == NULL);
    }
    if (where == FAMILY_NORMED_ROTATED)
        normed = normed && config_listed(reading, &(struct config_value){0});
    config_fact(reading, "qk_norm", &value, normed ? reading->family->qk_norm : "none");
    if (reading->family->value_norm != NULL && !config_is_told(reading, "value_norm"))
        config_fact(reading, "value_norm", NULL, reading->family->value_norm);
}

/* Adds the layer's norm, which comes before attention, or after it by norm_key. */
static void add_norm(const struct config_reading *reading)
{
    const struct family_row *family = reading->family;
    struct config_value value = {0};
    bool before = true;
    if (family->norm_key != NULL) {
        value = config_find_name(reading, family->norm_key);
        before = config_truth(reading, &value, family->norm_before);
    }
    if (family->norm != NULL && !config_is_told(reading, "norm"))
        config_fact(reading, "norm", &value, before ? family->norm : "none");
}

static void add_eps(const struct config_reading *reading)
{
    const struct family_row *family = reading->family;
    struct config_value value = {0};
    if (!family->eps_fixed)
        value = config_find(reading, CONFIG_NORM_EPS);
    const double eps = config_real(reading, &value, family->norm_eps);
    const bool own = family->qk_norm_eps > 0;
    if (!(eps >= 0))
        config_wrong(reading, &value, "a number of 0 or more");
    if (!config_is_told(reading, "norm_eps"))
        config_fact_number(reading, "norm_eps", &value, eps);
    if (family->qk_norm != NULL && !config_is_told(reading, "qk_norm_eps"))
        config_fact_number(reading, "qk_norm_eps", own ? NULL : &value, own ? family->qk_norm_eps : eps);
}

static void add_distance(const struct config_reading *reading)
{
    const struct config_value value = config_find(reading, CONFIG_DISTANCE);
    if (reading->family->distance != 0)
        config_fact_number(reading, "relative_distance", config_is_set(&value) ? &value : NULL,
                           (double)config_whole(reading, &value, reading->family->distance));
}

static void add_packing(const struct config_reading *reading)
{
    if (reading->family->packing != NULL)
        config_fact(reading, "packing", NULL, reading->family->packing);
}

/* How queries grow with their position: "0.1,8192", or "0.1,8192,1" where positions count from 1. */
static void add_growth(const struct config_reading *reading)
{
    const bool floors = reading->family->growth == FAMILY_GROWTH_FLOOR;
    struct config_value by = config_find(reading, CONFIG_GROWTH), every = config_find(reading, CONFIG_GROWTH_STEP);
    char text[2 * DECIMAL_BYTES], number[DECIMAL_BYTES];
    if (reading->family->growth == FAMILY_GROWTH_NONE || (floors && !config_truth_of(reading, CONFIG_GROWS, true)) ||
        (floors && config_listed(reading, &(struct config_value){0})))
        return;
    if (!floors) {
        const struct config_value object = config_rope_object(reading, false);
        by = config_member(&object, "llama_4_scaling_beta");
        every = config_member(&object, "original_max_position_embeddings");
        if (object.item == NULL && reading->section != NULL)
            CONFIG_REFUSE(reading, "%s: %srope_parameters is missing, which says how queries grow with their position",
                          reading->config->path, reading->prefix);
    }
    const size_t positions = config_whole(reading, &every, floors ? 8192 : 0);
    decimal_from_double(config_real(reading, &by, floors ? 0.1 : 0), number);
    if (strcmp(number, "0") == 0)
        return;
    if (positions == 0)
        config_wrong(reading, &every, "a whole number from 1 on, the positions after which queries grow");
    snprintf(text, sizeof text, "%s,%zu%s", number, positions, floors ? ",1" : "");
    config_fact(reading, "query_growth", floors ? &every : &by, text);
}

/* Whether the layer takes the choice of an earlier one, whose inputs attn does not have: GLM-5. */
static bool shares_choice(const struct config_reading *reading)
{
    const struct config_value every = config_find(reading, CONFIG_INDEX_EVERY),
                              first = config_find(reading, CONFIG_INDEX_FIRST);
    const size_t step = config_whole(reading, &every, 1), start = config_whole(reading, &first, 2),
                 layer = reading->module->layer;
    struct config_value kind, pattern = config_find(reading, CONFIG_INDEX_PATTERN);
    if (config_entry(reading, CONFIG_INDEX_KINDS, &kind) || config_entry(reading, CONFIG_INDEX_PATTERN, &kind))
        return strcmp(config_text(reading, &kind, ""), "shared") == 0;
    if (config_is_set(&pattern))
        return layer < strlen(config_text(reading, &pattern, "")) && pattern.item->valuestring[layer] == 'S';
    return step > 1 && layer + 1 > start && (layer + 1 - start) % step != 0;
}

/* How many keys the indexer keeps. */
static void add_indexer(const struct config_reading *reading)
{
    const struct config_value value = config_find(reading, CONFIG_INDEX_KEYS);
    const size_t most = config_whole(reading, &value, 2048);
    if (most == 0)
        config_wrong(reading, &value, "a whole number from 1 on");
    if (reading->family->indexer != ROPE_NONE)
        config_fact_number(reading, "index_topk", &value, (double)most);
    if (reading->family->indexer == ROPE_PAIRS_TO_HALVES && shares_choice(reading))
        config_fact(reading, "index_shared", NULL, "true");
}

/* Factors of key and value, which attn puts into their weights. */
static void add_factors(const struct config_reading *reading)
{
    const char *const keys[] = {reading->family->key_factor, reading->family->value_factor};
    static const char *const SETTINGS[] = {"key_factor", "value_factor"};
    for (size_t i = 0; i < 2; i++) {
        const struct config_value value =
            keys[i] != NULL ? config_find_name(reading, keys[i]) : (struct config_value){0};
        if (config_real(reading, &value, 1) != 1)
            config_fact_number(reading, SETTINGS[i], &value, config_real(reading, &value, 1));
    }
}

/* Adds the family, with the config as its source if the row has its model_type. */
static void add_family(const struct config_reading *reading)
{
    const struct config_value type = config_find(reading, CONFIG_MODEL_TYPE);
    const bool own = cJSON_IsString(type.item) && family_find(type.item->valuestring) == reading->family;
    config_fact(reading, "family", own ? &type : NULL, reading->family->name);
}

/* The functions that add settings, each unless an option sets it; NULL: a function asks itself, since a key gives two
 * settings, or since it checks. */
static const struct {
    const char *setting;
    void (*add)(const struct config_reading *reading);
} REST[] = {{"softcap", add_softcap},
            {"alibi", add_alibi},
            {"clip", add_clip},
            {NULL, add_norm},
            {"qk_norm", add_qk_norm},
            {NULL, add_eps},
            {"relative_distance", add_distance},
            {"packing", add_packing},
            {"query_growth", add_growth},
            {NULL, add_indexer},
            {NULL, add_factors}};

enum status config_facts(const struct config *config, const struct family_row *family,
                         const struct config_module *module, struct arena *arena, struct layer_facts *facts,
                         struct error *error)
{
    struct config_reading reading = {
        .config = config, .family = family, .module = module, .arena = arena, .facts = facts, .error = error};
    if (family->by_hand)
        return STATUS_OK;
    config_begin(&reading);
    check_refused(&reading);
    check_positions(&reading);
    check_qk_norm(&reading);
    check_columns(&reading);
    check_shared(&reading);
    check_quantised(&reading);
    if (!config_is_told(&reading, "family"))
        add_family(&reading);
    const bool slides = add_masks(&reading);
    add_scale(&reading, slides);
    config_rope(&reading, slides);
    for (size_t i = 0; i < sizeof REST / sizeof REST[0]; i++)
        if (REST[i].setting == NULL || !config_is_told(&reading, REST[i].setting))
            REST[i].add(&reading);
    return error->status;
}
