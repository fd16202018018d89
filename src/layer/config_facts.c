#include "layer/config_keys.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- what is not understood -------------------------------------------------------------------------------------- */

/* Keys that change attention in a way that no setting says, and the value with which they do not. */
static const struct {
    const char *key;
    bool truth;    /* what a boolean must be */
    double number; /* and a number */
    const char *text;
} REFUSED[] = {
    {.key = "attn_config.alibi", .truth = true},
    {.key = "attn_config.alibi_bias_max", .number = 8},
    {.key = "attn_config.attn_type", .text = "multihead_attention"},
    {.key = "attn_config.prefix_lm"},
    {.key = "attn_config.qk_ln"},
    {.key = "attn_temperature_tuning"},
    {.key = "attention_chunk_size"},
    {.key = "backbone"},
    {.key = "backbone_config"},
    {.key = "mla_use_nope", .truth = true},
    {.key = "rotary_emb_fraction", .number = 1},
    {.key = "rotary_emb_interleaved"},
    {.key = "rotary_scaling_factor", .number = 1},
    {.key = "use_dynamic_ntk"},
    {.key = "use_logn_attn"},
};

static bool is_harmless(size_t i, const cJSON *item)
{
    if (item == NULL || cJSON_IsNull(item))
        return true;
    if (cJSON_IsBool(item))
        return cJSON_IsTrue(item) == REFUSED[i].truth;
    if (cJSON_IsNumber(item))
        return item->valuedouble == REFUSED[i].number;
    return cJSON_IsString(item) && REFUSED[i].text != NULL && strcmp(item->valuestring, REFUSED[i].text) == 0;
}

/* Where positions come from, of a family that rotates or does not. */
static enum status check_positions(const struct config_reading *reading)
{
    const struct config_value value = config_find(reading, CONFIG_KEYS("position_embedding_type"));
    const char *text;
    if (!config_is_set(&value))
        return STATUS_OK;
    if (config_text(reading, &value, &text) != STATUS_OK)
        return reading->error->status;
    const bool rotates = reading->family->rope != ROPE_NONE;
    if (strcmp(text, "absolute") == 0 || (rotates && (strcmp(text, "rope") == 0 || strcmp(text, "rotary") == 0)))
        return STATUS_OK;
    return config_wrong(reading, &value, rotates ? "\"rope\", \"rotary\" or \"absolute\"" : "\"absolute\"");
}

/* Whether a list of modules names attention. */
static bool names_attention(const cJSON *list)
{
    for (const cJSON *item = cJSON_IsArray(list) ? list->child : NULL; item != NULL; item = item->next)
        if (cJSON_IsString(item) && strstr(item->valuestring, "attn") != NULL)
            return true;
    return false;
}

/* Weights that are stored as they are can still be rounded as a model reads them. Some quantizations leave attention
 * alone, and say so. */
static enum status check_quantized(const struct config_reading *reading)
{
    static const char *const LEFT[] = {"modules_to_not_convert", "ignored_layers", "ignore", "llm_int8_skip_modules"};
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(reading->config->root, "quantization_config");
    if (item == NULL || cJSON_IsNull(item))
        return STATUS_OK;
    const cJSON *method = cJSON_GetObjectItemCaseSensitive(item, "quant_method");
    for (size_t i = 0; i < sizeof LEFT / sizeof LEFT[0]; i++)
        if (names_attention(cJSON_GetObjectItemCaseSensitive(item, LEFT[i])))
            return STATUS_OK;
    return error_usage(reading->error,
                       "%s: quantization_config: the weights of attention are quantized%s%.40s; expected a checkpoint "
                       "with plain weights: dequantize it first",
                       reading->config->path, cJSON_IsString(method) ? " by " : "",
                       cJSON_IsString(method) ? method->valuestring : "");
}

/* A norm of query and key that the family's row does not know would be left out. */
static enum status check_qk_norm(const struct config_reading *reading)
{
    bool normed = false;
    const struct config_value value = config_find(reading, CONFIG_KEYS("use_qk_norm", "qk_layernorm", "qk_norm"));
    if (reading->family->qk_norm != NULL || !cJSON_IsBool(value.item))
        return STATUS_OK;
    if (config_truth(reading, &value, &normed) != STATUS_OK)
        return reading->error->status;
    return normed ? error_usage(reading->error, "%s: %s is true, but of family %s attn knows no norm of query and key",
                                reading->config->path, value.key, reading->family->name)
                  : STATUS_OK;
}

/* The tensors decide how many columns a head has. A config that says otherwise is of other heads, or of another model;
 * of a latent it says how many rotate. */
static enum status check_columns(const struct config_reading *reading)
{
    size_t said = 0;
    char expected[96];
    const struct config_value value = config_find(reading, CONFIG_KEYS("head_dim", "d_kv"));
    if (!config_is_set(&value) || reading->family->latent || config_is_told(reading, "heads"))
        return STATUS_OK;
    if (config_whole(reading, &value, &said) != STATUS_OK)
        return reading->error->status;
    snprintf(expected, sizeof expected, "%zu, as the weight of the query has for each head", reading->module->columns);
    return said == reading->module->columns ? STATUS_OK : config_wrong(reading, &value, expected);
}

static enum status check_understood(const struct config_reading *reading)
{
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        const struct config_value value = config_find(reading, CONFIG_KEYS(REFUSED[i].key));
        if (!is_harmless(i, value.item))
            return error_usage(reading->error,
                               "%s: %s changes attention in a way that attn does not know; expected a model without it",
                               reading->config->path, value.key);
    }
    if (check_positions(reading) || check_qk_norm(reading) || check_columns(reading))
        return reading->error->status;
    return check_quantized(reading);
}

/* --- causal and window ------------------------------------------------------------------------------------------- */

static enum status ask_part(const struct config_reading *reading, bool *causal)
{
    const enum module_part part = reading->module->part;
    *causal = part == PART_DECODER;
    if (part == PART_DECODER || part == PART_ENCODER || config_is_told(reading, "causal"))
        return STATUS_OK;
    return error_usage(reading->error,
                       "family %s: whether the module is of an encoder or of a decoder is not told by its name; say it "
                       "by --causal or --no-causal",
                       reading->family->name);
}

/* transformers 5 makes its masks by is_causal; a module that is not causal may become so on one of its paths only. */
static enum status ask_is_causal(const struct config_reading *reading, struct config_value *value, bool *causal)
{
    const struct config_value key = config_find(reading, CONFIG_KEYS("is_causal"));
    bool asked = *causal;
    if (config_is_told(reading, "causal") || !config_is_set(&key))
        return STATUS_OK;
    if (config_truth(reading, &key, &asked) != STATUS_OK)
        return reading->error->status;
    if (asked == *causal || (*causal && reading->family->is_causal == FAMILY_IS_CAUSAL_IGNORED))
        return STATUS_OK;
    if (asked || reading->family->is_causal == FAMILY_IS_CAUSAL_REFUSED)
        return config_wrong(reading, &key,
                            asked ? "false, as the family has it; or say it by --causal or --no-causal"
                                  : "true, as the family has it; or say it by --causal or --no-causal");
    *causal = false;
    *value = key;
    return STATUS_OK;
}

/* As the family has it. */
static enum status ask_family(const struct config_reading *reading, struct config_value *value, bool *causal)
{
    const struct family_row *family = reading->family;
    bool both = false;
    *causal = family->causal == FAMILY_CAUSAL_ALWAYS;
    if (family->causal == FAMILY_CAUSAL_DECODER)
        return ask_part(reading, causal);
    if (family->causal == FAMILY_CAUSAL_CONFIG) {
        *value = config_find(reading, CONFIG_KEYS("is_decoder"));
        return config_is_set(value) ? config_truth(reading, value, causal) : STATUS_OK;
    }
    const struct config_value ways = config_find(reading, CONFIG_KEYS("use_bidirectional_attention"));
    if (config_is_set(&ways) && config_truth(reading, &ways, &both) != STATUS_OK)
        return reading->error->status;
    if (both && !family->both_ways)
        return config_wrong(reading, &ways, "false; or say it by --no-causal and --window");
    if (both) {
        *causal = false;
        *value = ways;
    }
    return STATUS_OK;
}

static enum status ask_causal(const struct config_reading *reading, struct config_value *value, bool *causal)
{
    *causal = false;
    if (reading->module->cross)
        return STATUS_OK;
    return ask_family(reading, value, causal) == STATUS_OK ? ask_is_causal(reading, value, causal)
                                                           : reading->error->status;
}

/* The word of layer_types for this layer; *word is NULL where there is no such list. */
static enum status layer_type(const struct config_reading *reading, struct config_value *value, const char **word)
{
    char place[CONFIG_KEY_BYTES];
    *word = NULL;
    const struct config_value list = config_find(reading, CONFIG_KEYS("layer_types"));
    if (!config_is_set(&list))
        return STATUS_OK;
    const cJSON *item = cJSON_IsArray(list.item) ? cJSON_GetArrayItem(list.item, (int)reading->module->layer) : NULL;
    if (item == NULL)
        return config_wrong(reading, &list, "an array with a word for each layer");
    snprintf(place, sizeof place, "%.90s[%zu]", list.key, reading->module->layer);
    *value = (struct config_value){.item = item};
    memcpy(value->key, place, sizeof place);
    if (config_text(reading, value, word) != STATUS_OK)
        return reading->error->status;
    return strcmp(*word, "sliding_attention") == 0 || strcmp(*word, "full_attention") == 0
               ? STATUS_OK
               : config_wrong(reading, value, "\"full_attention\" or \"sliding_attention\"");
}

/* Whether the layer is of those that slide, where no list says it. */
static enum status ask_rule(const struct config_reading *reading, struct config_value *value, bool *slides)
{
    const struct family_row *family = reading->family;
    const size_t layer = reading->module->layer;
    size_t n = family->pattern;
    const bool until = family->sliding == FAMILY_SLIDING_UNTIL,
               from = until || family->sliding == FAMILY_SLIDING_FROM || family->sliding == FAMILY_SLIDING_AFTER;
    *value = from ? config_find(reading, CONFIG_KEYS("max_window_layers"))
             : family->sliding == FAMILY_SLIDING_BETWEEN
                 ? config_find(reading, CONFIG_KEYS("global_attn_every_n_layers"))
                 : config_find(reading, CONFIG_KEYS("sliding_window_pattern"));
    if (config_is_set(value) && config_whole(reading, value, &n) != STATUS_OK)
        return reading->error->status;
    if (from)
        *slides = until ? layer < n && layer % 2 == 0 : layer >= n;
    else if (family->sliding == FAMILY_SLIDING_BETWEEN)
        *slides = n > 0 && layer % n != 0;
    else
        *slides = n == 0 || (layer + 1) % n != 0;
    return STATUS_OK;
}

/* The kind of a layer, of lists with the kinds of a turn of layers and how many turns there are; NULL where none is. */
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

static bool is_word(const cJSON *item, const char *word)
{
    return item != NULL && cJSON_IsString(item) && strcmp(item->valuestring, word) == 0;
}

/* GPT-Neo: every other layer, where the config says nothing. */
static enum status ask_local(const struct config_reading *reading, struct config_value *value, bool *slides)
{
    const size_t layer = reading->module->layer;
    *value = config_find(reading, CONFIG_KEYS("attention_layers"));
    const cJSON *word = cJSON_IsArray(value->item) ? cJSON_GetArrayItem(value->item, (int)layer) : NULL;
    if (!config_is_set(value)) {
        *value = config_find(reading, CONFIG_KEYS("attention_types"));
        word = config_is_set(value) ? find_kind(value->item, layer) : NULL;
    }
    if (!config_is_set(value)) {
        *slides = layer % 2 == 1;
        return STATUS_OK;
    }
    *slides = is_word(word, "local");
    return *slides || is_word(word, "global") ? STATUS_OK
                                              : config_wrong(reading, value, "\"global\" or \"local\" for each layer");
}

/* SmolLM3: the layers that do not rotate, where use_sliding_window; a list counts without it. */
static enum status ask_still(const struct config_reading *reading, struct config_value *value, const char *word,
                             bool *slides)
{
    const struct config_value window = config_find(reading, CONFIG_KEYS("sliding_window"));
    bool used = false, rotates = true;
    if (word != NULL)
        return *slides && !config_is_set(&window) && !config_is_told(reading, "window")
                   ? config_wrong(reading, value, "\"full_attention\", as there is no sliding_window")
                   : STATUS_OK;
    *value = config_find(reading, CONFIG_KEYS("use_sliding_window"));
    if ((config_is_set(value) && config_truth(reading, value, &used) != STATUS_OK) ||
        (used && config_listed(reading, value, &rotates) != STATUS_OK))
        return reading->error->status;
    *slides = used && !rotates;
    return STATUS_OK;
}

/* Whether a switch for all layers is off. */
static enum status ask_used(const struct config_reading *reading, struct config_value *value, bool *used)
{
    const enum family_sliding sliding = reading->family->sliding;
    *used = sliding != FAMILY_SLIDING_NONE && !reading->module->cross;
    if (sliding != FAMILY_SLIDING_FROM && sliding != FAMILY_SLIDING_UNTIL && sliding != FAMILY_SLIDING_ASKED)
        return STATUS_OK;
    *value = config_find(reading, CONFIG_KEYS("use_sliding_window"));
    *used = false;
    return config_is_set(value) ? config_truth(reading, value, used) : STATUS_OK;
}

/* A list that says "sliding_attention" where the switch is off: transformers has no window for it then. */
static enum status check_unused(const struct config_reading *reading, const struct config_value *type, const char *word)
{
    const enum family_sliding sliding = reading->family->sliding;
    const bool lists = sliding == FAMILY_SLIDING_FROM || sliding == FAMILY_SLIDING_UNTIL;
    return lists && !reading->module->cross && !config_is_told(reading, "window") &&
                   strcmp(word, "sliding_attention") == 0
               ? config_wrong(reading, type, "\"full_attention\", or use_sliding_window true")
               : STATUS_OK;
}

static enum status ask_slides(const struct config_reading *reading, struct config_value *value, bool *slides)
{
    const enum family_sliding sliding = reading->family->sliding;
    struct config_value type = {0};
    const char *word;
    if (layer_type(reading, &type, &word) != STATUS_OK || ask_used(reading, value, slides) != STATUS_OK)
        return reading->error->status;
    if (!*slides && word != NULL)
        return check_unused(reading, &type, word);
    if (!*slides || sliding == FAMILY_SLIDING_ALL || sliding == FAMILY_SLIDING_ASKED)
        return STATUS_OK;
    if (sliding == FAMILY_SLIDING_LOCAL)
        return ask_local(reading, value, slides);
    if (word != NULL) {
        *value = type;
        *slides = strcmp(word, "sliding_attention") == 0;
    }
    if (sliding == FAMILY_SLIDING_STILL)
        return ask_still(reading, value, word, slides);
    return word != NULL ? STATUS_OK : ask_rule(reading, value, slides);
}

/* How many keys on either side a mask that looks both ways allows: n / 2 of a window of n. By is_causal transformers
 * takes n, of which use_bidirectional_attention has made n / 2 + 1. */
static size_t reach_of(const struct config_reading *reading, size_t window)
{
    const struct config_value causal = config_find(reading, CONFIG_KEYS("is_causal")),
                              ways = config_find(reading, CONFIG_KEYS("use_bidirectional_attention"));
    if (reading->family->causal == FAMILY_CAUSAL_NEVER || !cJSON_IsFalse(causal.item))
        return window / 2;
    return cJSON_IsTrue(ways.item) ? window / 2 + 1 : window;
}

/* W keys up to the query's own, or some on either side. */
static enum status add_window(const struct config_reading *reading, const struct config_value *why, bool slides,
                              bool causal)
{
    const bool between = reading->family->sliding == FAMILY_SLIDING_BETWEEN;
    size_t window = reading->family->window;
    char text[64];
    const bool local = reading->family->sliding == FAMILY_SLIDING_LOCAL;
    struct config_value value = config_find(reading, between ? CONFIG_KEYS("local_attention")
                                                     : local ? CONFIG_KEYS("window_size")
                                                             : CONFIG_KEYS("sliding_window"));
    if (config_is_set(&value) && config_whole(reading, &value, &window) != STATUS_OK)
        return reading->error->status;
    if (slides && value.item != NULL && !config_is_set(&value))
        window = 0;
    if (slides && causal && window == 0 && config_is_set(&value))
        return config_wrong(reading, &value, "null, or at least 1");
    if (!slides || (window == 0 && !config_is_set(&value)))
        return why->item != NULL || value.item != NULL
                   ? config_fact(reading, "window", why->item != NULL ? why : &value, "-1,-1")
                   : STATUS_OK;
    if (causal)
        snprintf(text, sizeof text, "%zu,0", window - 1);
    else
        snprintf(text, sizeof text, "%zu,%zu", reach_of(reading, window), reach_of(reading, window));
    return config_fact(reading, "window", &value, text);
}

static enum status add_masks(const struct config_reading *reading, bool *slides)
{
    struct config_value value = {0}, why = {0};
    bool causal = false;
    if (ask_causal(reading, &value, &causal) != STATUS_OK || ask_slides(reading, &why, slides) != STATUS_OK)
        return reading->error->status;
    if (!config_is_told(reading, "causal") &&
        config_fact(reading, "causal", &value, causal ? "true" : "false") != STATUS_OK)
        return reading->error->status;
    return config_is_told(reading, "window") ? STATUS_OK : add_window(reading, &why, *slides, causal);
}

/* --- scale ------------------------------------------------------------------------------------------------------- */

static double root(const struct config_reading *reading)
{
    return 1 / sqrt((double)reading->module->columns);
}

static enum status scale_root(const struct config_reading *reading, bool slides, struct config_value *value,
                              double *scale)
{
    (void)slides, (void)value;
    *scale = root(reading);
    return STATUS_OK;
}

static enum status scale_one(const struct config_reading *reading, bool slides, struct config_value *value,
                             double *scale)
{
    (void)reading, (void)slides, (void)value;
    *scale = 1;
    return STATUS_OK;
}

static enum status scale_scalar(const struct config_reading *reading, bool slides, struct config_value *value,
                                double *scale)
{
    double scalar = reading->family->scalar;
    (void)slides;
    *value = config_find(reading, CONFIG_KEYS("query_pre_attn_scalar"));
    if (config_is_set(value) && config_real(reading, value, &scalar) != STATUS_OK)
        return reading->error->status;
    if (!(scalar > 0))
        return config_wrong(reading, value, "a number above 0");
    *scale = 1 / sqrt(scalar);
    return STATUS_OK;
}

static enum status scale_multiplier(const struct config_reading *reading, bool slides, struct config_value *value,
                                    double *scale)
{
    (void)slides;
    const bool or_root = reading->family->scale == FAMILY_SCALE_MULTIPLIER_OR_ROOT;
    *scale = or_root ? root(reading) : 1;
    *value = config_find(reading, CONFIG_KEYS("attention_multiplier"));
    return config_is_set(value) || (value->item != NULL && !or_root) ? config_real(reading, value, scale) : STATUS_OK;
}

static enum status scale_flags(const struct config_reading *reading, bool slides, struct config_value *value,
                               double *scale)
{
    bool scaled = true, by_layer = false;
    (void)slides;
    if (config_truth_of(reading, CONFIG_KEYS("scale_attn_weights"), &scaled) != STATUS_OK ||
        config_truth_of(reading, CONFIG_KEYS("scale_attn_by_inverse_layer_idx"), &by_layer) != STATUS_OK)
        return reading->error->status;
    by_layer = by_layer && reading->family->scale == FAMILY_SCALE_FLAGS;
    if (!scaled || by_layer)
        *value = by_layer ? config_find(reading, CONFIG_KEYS("scale_attn_by_inverse_layer_idx"))
                          : config_find(reading, CONFIG_KEYS("scale_attn_weights"));
    *scale = (scaled ? root(reading) : 1) / (by_layer ? (double)(reading->module->layer + 1) : 1);
    return STATUS_OK;
}

static enum status scale_softmax(const struct config_reading *reading, bool slides, struct config_value *value,
                                 double *scale)
{
    (void)slides;
    *scale = root(reading);
    *value = config_find(reading, CONFIG_KEYS("attn_config.softmax_scale"));
    return config_is_set(value) ? config_real(reading, value, scale) : STATUS_OK;
}

static enum status scale_mscale(const struct config_reading *reading, bool slides, struct config_value *value,
                                double *scale)
{
    struct config_value object, factor;
    double all = 0, by = 1;
    *scale = root(reading);
    if (config_rope_object(reading, slides, &object) != STATUS_OK)
        return reading->error->status;
    struct config_value type = config_member(&object, "rope_type"), mscale = config_member(&object, "mscale_all_dim");
    if (!config_is_set(&type))
        type = config_member(&object, "type");
    if (!config_is_set(&type) || !cJSON_IsString(type.item) || strcmp(type.item->valuestring, "default") == 0 ||
        !config_is_set(&mscale))
        return STATUS_OK;
    factor = config_member(&object, "factor");
    if (config_real(reading, &mscale, &all) != STATUS_OK ||
        (config_is_set(&factor) && config_real(reading, &factor, &by) != STATUS_OK))
        return reading->error->status;
    const double wider = all != 0 && by > 1 ? 0.1 * all * log(by) + 1 : 1;
    *scale *= wider * wider;
    *value = mscale;
    return STATUS_OK;
}

static enum status add_scale(const struct config_reading *reading, bool slides)
{
    static enum status (*const SCALES[])(const struct config_reading *reading, bool slides, struct config_value *value,
                                         double *scale) = {
        [FAMILY_SCALE_ROOT] = scale_root,
        [FAMILY_SCALE_ONE] = scale_one,
        [FAMILY_SCALE_SCALAR] = scale_scalar,
        [FAMILY_SCALE_MULTIPLIER] = scale_multiplier,
        [FAMILY_SCALE_FLAGS] = scale_flags,
        [FAMILY_SCALE_FLAG] = scale_flags,
        [FAMILY_SCALE_MULTIPLIER_OR_ROOT] = scale_multiplier,
        [FAMILY_SCALE_SOFTMAX] = scale_softmax,
        [FAMILY_SCALE_MSCALE] = scale_mscale,
    };
    struct config_value value = {0};
    double scale;
    if (reading->family->scale_on_query && !config_is_told(reading, "scale_on") &&
        config_fact(reading, "scale_on", NULL, "query") != STATUS_OK)
        return reading->error->status;
    if (config_is_told(reading, "scale"))
        return STATUS_OK;
    return SCALES[reading->family->scale](reading, slides, &value, &scale) == STATUS_OK
               ? config_fact_number(reading, "scale", config_is_set(&value) ? &value : NULL, scale)
               : reading->error->status;
}

/* --- the rest ---------------------------------------------------------------------------------------------------- */

static enum status add_softcap(const struct config_reading *reading)
{
    double softcap = reading->family->softcap;
    const struct config_value value = config_find(reading, CONFIG_KEYS("attn_logit_softcapping"));
    if (softcap == 0 || config_is_told(reading, "softcap"))
        return STATUS_OK;
    if (value.item != NULL && !config_is_set(&value))
        softcap = 0;
    if (config_is_set(&value) && config_real(reading, &value, &softcap) != STATUS_OK)
        return reading->error->status;
    return config_fact_number(reading, "softcap", &value, softcap);
}

static enum status add_clip(const struct config_reading *reading)
{
    double clip = 0;
    const struct config_value value = config_find(reading, CONFIG_KEYS("clip_qkv", "attn_config.clip_qkv"));
    if (!config_is_set(&value) || config_is_told(reading, "clip"))
        return STATUS_OK;
    if (config_real(reading, &value, &clip) != STATUS_OK)
        return reading->error->status;
    if (!reading->family->clip)
        return clip == 0 ? STATUS_OK : config_wrong(reading, &value, "null, as family has no such step; or --clip");
    return config_fact_number(reading, "clip", &value, clip);
}

static enum status add_alibi(const struct config_reading *reading)
{
    const enum family_alibi alibi = reading->family->alibi;
    const struct config_value value = config_find(reading, CONFIG_KEYS("alibi"));
    bool asked = false;
    if (alibi == FAMILY_ALIBI_NEVER || config_is_told(reading, "alibi"))
        return STATUS_OK;
    if (alibi == FAMILY_ALIBI_ALWAYS)
        return config_fact(reading, "alibi", NULL, "slopes");
    if (config_is_set(&value) && config_truth(reading, &value, &asked) != STATUS_OK)
        return reading->error->status;
    return asked ? config_fact(reading, "alibi", &value, "scaled") : STATUS_OK;
}

/* Whether query and key are normed, by the key that says it; without a config the tensors alone tell. */
static enum status ask_normed(const struct config_reading *reading, struct config_value *value, bool *normed)
{
    const enum family_normed where = reading->family->normed;
    *normed = where == FAMILY_NORMED_CROSS ? reading->module->cross : where != FAMILY_NORMED_ASKED;
    if (where == FAMILY_NORMED_ALL || where == FAMILY_NORMED_CROSS)
        return STATUS_OK;
    *normed = *normed || reading->section == NULL;
    *value = config_find(reading, CONFIG_KEYS("use_qk_norm", "qk_layernorm"));
    return config_is_set(value) ? config_truth(reading, value, normed) : STATUS_OK;
}

static enum status add_qk_norm(const struct config_reading *reading)
{
    struct config_value value = {0};
    bool normed = false;
    if (reading->family->qk_norm == NULL || config_is_told(reading, "qk_norm"))
        return STATUS_OK;
    if (ask_normed(reading, &value, &normed) != STATUS_OK)
        return reading->error->status;
    return config_fact(reading, "qk_norm", &value, normed ? reading->family->qk_norm : "none");
}

/* The layer's own norm comes first, or, as norm_key may say, after. */
static enum status add_norm(const struct config_reading *reading)
{
    const struct family_row *family = reading->family;
    struct config_value value = {0};
    bool before = true;
    if (family->norm_key != NULL) {
        before = family->norm_before;
        value = config_find(reading, CONFIG_KEYS(family->norm_key));
        if (config_is_set(&value) && config_truth(reading, &value, &before) != STATUS_OK)
            return reading->error->status;
    }
    return family->norm != NULL && !config_is_told(reading, "norm")
               ? config_fact(reading, "norm", &value, before ? family->norm : "none")
               : STATUS_OK;
}

static enum status add_eps(const struct config_reading *reading)
{
    const struct family_row *family = reading->family;
    double eps = family->norm_eps;
    struct config_value value = {0};
    if (!family->eps_fixed)
        value = config_find(
            reading, CONFIG_KEYS("rms_norm_eps", "layer_norm_epsilon", "norm_eps", "layer_norm_eps", "norm_epsilon"));
    if (config_is_set(&value) && config_real(reading, &value, &eps) != STATUS_OK)
        return reading->error->status;
    if (!(eps >= 0))
        return config_wrong(reading, &value, "a number from 0 on");
    if (!config_is_told(reading, "norm_eps") && config_fact_number(reading, "norm_eps", &value, eps) != STATUS_OK)
        return reading->error->status;
    if (family->qk_norm == NULL || config_is_told(reading, "qk_norm_eps"))
        return STATUS_OK;
    return family->qk_norm_eps > 0 ? config_fact_number(reading, "qk_norm_eps", NULL, family->qk_norm_eps)
                                   : config_fact_number(reading, "qk_norm_eps", &value, eps);
}

static enum status add_distance(const struct config_reading *reading)
{
    size_t distance = reading->family->distance;
    const struct config_value value = config_find(reading, CONFIG_KEYS("relative_attention_max_distance"));
    if (distance == 0 || config_is_told(reading, "relative_distance"))
        return STATUS_OK;
    if (config_is_set(&value) && config_whole(reading, &value, &distance) != STATUS_OK)
        return reading->error->status;
    return config_fact_number(reading, "relative_distance", config_is_set(&value) ? &value : NULL, (double)distance);
}

static enum status add_rest(const struct config_reading *reading)
{
    static enum status (*const ADDERS[])(const struct config_reading *reading) = {
        add_softcap, add_alibi, add_clip, add_norm, add_qk_norm, add_eps, add_distance};
    for (size_t i = 0; i < sizeof ADDERS / sizeof ADDERS[0]; i++)
        if (ADDERS[i](reading) != STATUS_OK)
            return reading->error->status;
    return reading->family->packing != NULL && !config_is_told(reading, "packing")
               ? config_fact(reading, "packing", NULL, reading->family->packing)
               : STATUS_OK;
}

/* From the config where its model_type is one of the row. */
static enum status add_family(const struct config_reading *reading)
{
    const struct config_value type = config_find(reading, CONFIG_KEYS("model_type"));
    const bool own = cJSON_IsString(type.item) && family_find(type.item->valuestring) == reading->family;
    return config_is_told(reading, "family")
               ? STATUS_OK
               : config_fact(reading, "family", own ? &type : NULL, reading->family->name);
}

enum status config_facts(const struct config *config, const struct family_row *family,
                         const struct config_module *module, struct arena *arena, struct layer_facts *facts,
                         struct error *error)
{
    struct config_reading reading = {
        .config = config, .family = family, .module = module, .arena = arena, .facts = facts, .error = error};
    bool slides = false;
    if (family->by_hand)
        return STATUS_OK;
    if (config_begin(&reading) != STATUS_OK || check_understood(&reading) != STATUS_OK ||
        add_family(&reading) != STATUS_OK)
        return error->status;
    if (add_masks(&reading, &slides) != STATUS_OK || add_scale(&reading, slides) != STATUS_OK ||
        config_rope(&reading, slides) != STATUS_OK)
        return error->status;
    return add_rest(&reading);
}
