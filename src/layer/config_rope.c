#include "layer/config_keys.h"

#include "base/decimal.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

static const char *const ROPE_WORDS[] = {ROPE_KINDS(CHOICE_WORD)};

/* What a scaling is made from: its object, and what it turned out to be. */
struct scaling {
    struct config_value object;
    const char *kind;
    struct text text;
    bool beyond; /* a number of it is not finite */
};

enum { SCALING_BYTES = 64 << 10 };

/* --- the object -------------------------------------------------------------------------------------------------- */

/* What transformers may leave in one; another key is none that attn understands. */
static const char *const KNOWN[] = {
    "rope_type",        "type",         "rope_theta",       "partial_rotary_factor",
    "factor",           "mscale",       "mscale_all_dim",   "original_max_position_embeddings",
    "beta_fast",        "beta_slow",    "attention_factor", "low_freq_factor",
    "high_freq_factor", "short_factor", "long_factor",      "truncate"};

static enum status check_known(const struct config_reading *reading, const struct config_value *object)
{
    const cJSON *item = object->item != NULL ? object->item->child : NULL;
    for (; item != NULL; item = item->next) {
        bool known = cJSON_IsNull(item);
        for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++)
            known = known || strcmp(KNOWN[i], item->string) == 0;
        if (!known)
            return error_usage(reading->error,
                               "%s: %s.%.60s is not understood, so that the rotation is not known; say it by --rope, "
                               "--rope-theta, --rope-columns and --rope-scaling",
                               reading->config->path, object->key, item->string);
    }
    return STATUS_OK;
}

/* One for layers that slide, and one for those that do not. */
static bool is_nested(const struct config_value *object)
{
    return cJSON_GetObjectItemCaseSensitive(object->item, "full_attention") != NULL ||
           cJSON_GetObjectItemCaseSensitive(object->item, "sliding_attention") != NULL;
}

/* Whether a value says something. */
static bool says(const struct config_value *value)
{
    return config_is_set(value) && (!cJSON_IsObject(value->item) || value->item->child != NULL);
}

/* Of families whose layers rotate in two ways: one object for both kinds, a kind by the older style's "type", and, of
 * some, the older style's keys are not read by transformers, which then takes its defaults. */
static enum status check_kinds(const struct config_reading *reading, const struct config_value *newer,
                               const struct config_value *older)
{
    static const char *const OLDER[] = {"rope_theta", "rope_scaling"};
    const struct config_value type = config_member(older, "type"), kind = config_member(older, "rope_type");
    if (reading->family->local_theta == 0)
        return STATUS_OK;
    if (says(newer) && !is_nested(newer))
        return config_wrong(reading, newer, "one with full_attention and sliding_attention, as the family has it");
    if (config_is_set(&type) && !config_is_set(&kind) &&
        !(cJSON_IsString(type.item) && strcmp(type.item->valuestring, "default") == 0))
        return config_wrong(reading, &type, "rope_type in its place: of this family transformers reads no type");
    for (size_t i = 0; i < sizeof OLDER / sizeof OLDER[0] && reading->family->kinds_only; i++) {
        const struct config_value value = config_find(reading, CONFIG_KEYS(OLDER[i]));
        if (says(&value))
            return config_wrong(reading, &value, "rope_parameters in its place, of each kind of layers");
    }
    return STATUS_OK;
}

/* Of yarn of one kind of layers transformers reads no "truncate"; beside the kinds it would. */
static enum status check_truncate(const struct config_reading *reading, const struct config_value *object)
{
    static const char *const PLACES[] = {"truncate", "full_attention.truncate", "sliding_attention.truncate"};
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0] && is_nested(object); i++) {
        const struct config_value value = config_member(object, PLACES[i]);
        if (config_is_set(&value) && !cJSON_IsTrue(value.item))
            return config_wrong(reading, &value, "true; or say it by --rope-theta, --rope-columns and --rope-scaling");
    }
    return STATUS_OK;
}

/* Of two the older style's, where it says something, as in transformers. *object has no item where there is none. */
static enum status find_object(const struct config_reading *reading, struct config_value *object)
{
    const struct config_value older = config_find(reading, CONFIG_KEYS("rope_scaling"));
    *object = config_find(reading, CONFIG_KEYS("rope_parameters"));
    if (config_is_set(object) && !cJSON_IsObject(object->item))
        return config_wrong(reading, object, "an object");
    if (config_is_set(&older) && !cJSON_IsObject(older.item))
        return config_wrong(reading, &older, "an object");
    if (check_kinds(reading, object, &older) != STATUS_OK || check_truncate(reading, object) != STATUS_OK)
        return reading->error->status;
    if (config_is_set(&older) && older.item->child != NULL && config_is_set(object) && is_nested(object))
        return error_usage(reading->error, "%s: %s and %s are both there; expected one of them", reading->config->path,
                           object->key, older.key);
    if (!config_is_set(object) || (config_is_set(&older) && older.item->child != NULL))
        *object = older;
    if (!config_is_set(object))
        object->item = NULL;
    return STATUS_OK;
}

enum status config_rope_object(const struct config_reading *reading, bool slides, struct config_value *object)
{
    if (find_object(reading, object) != STATUS_OK || object->item == NULL)
        return reading->error->status;
    const struct config_value full = config_member(object, "full_attention"),
                              sliding = config_member(object, "sliding_attention");
    if (is_nested(object))
        *object = slides ? sliding : full;
    else if (slides && reading->family->local_theta > 0 && !reading->family->local_scaling)
        object->item = NULL; /* the older style means layers that do not slide */
    if (!config_is_set(object)) {
        object->item = NULL;
        return STATUS_OK;
    }
    if (!cJSON_IsObject(object->item))
        return config_wrong(reading, object, "an object");
    return check_known(reading, object);
}

/* --- theta and columns ------------------------------------------------------------------------------------------- */

static enum status add_theta(const struct config_reading *reading, const struct config_value *object, bool slides)
{
    const bool local = slides && reading->family->local_theta > 0;
    double theta = local ? reading->family->local_theta : reading->family->theta;
    struct config_value value = config_member(object, "rope_theta");
    if (!config_is_set(&value))
        value = config_find(reading, local ? CONFIG_KEYS("rope_local_base_freq", "local_rope_theta")
                                           : CONFIG_KEYS(reading->family->theta_key != NULL ? reading->family->theta_key
                                                                                            : "rope_theta"));
    theta = theta > 0 ? theta : 10000;
    if (config_is_set(&value) && config_real(reading, &value, &theta) != STATUS_OK)
        return reading->error->status;
    if (!(theta > 0))
        return config_wrong(reading, &value, "a number above 0");
    return config_fact_number(reading, "rope_theta", config_is_set(&value) ? &value : NULL, theta);
}

/* A share of the columns of a head that is not all of them says so by its family alone. */
static enum status add_share(const struct config_reading *reading, const struct config_value *object)
{
    const size_t columns = reading->module->columns;
    double share = reading->family->share > 0 ? reading->family->share : 1;
    struct config_value value = config_member(object, "partial_rotary_factor");
    if (!config_is_set(&value))
        value = config_find(reading, CONFIG_KEYS("partial_rotary_factor", "rotary_pct"));
    if (config_is_set(&value) && config_real(reading, &value, &share) != STATUS_OK)
        return reading->error->status;
    if (!(share > 0 && share <= 1))
        return config_wrong(reading, &value, "a share above 0, at most 1");
    if (share < 1 && reading->family->share == 0)
        return error_usage(reading->error,
                           "%s: %s is %g, but family %s rotates all columns of a head; say which by --rope-columns",
                           reading->config->path, value.key, share, reading->family->name);
    return share < 1 ? config_fact_number(reading, "rope_columns", config_is_set(&value) ? &value : NULL,
                                          floor((double)columns * share))
                     : STATUS_OK;
}

static enum status add_columns(const struct config_reading *reading, const struct config_value *object)
{
    const struct family_row *family = reading->family;
    const struct config_value value =
        family->columns_key != NULL ? config_find(reading, CONFIG_KEYS(family->columns_key)) : (struct config_value){0};
    size_t columns = family->columns;
    char text[DECIMAL_BYTES];
    if (config_is_set(&value) && config_whole(reading, &value, &columns) != STATUS_OK)
        return reading->error->status;
    if (value.item != NULL && (!config_is_set(&value) || columns == 0 || columns > reading->module->columns))
        return error_usage(reading->error, "%s: %s is %s, expected at most the %zu columns of a head, and more than 0",
                           reading->config->path, value.key, config_is_set(&value) ? "another number" : "null",
                           reading->module->columns);
    if (columns == 0)
        return add_share(reading, object);
    snprintf(text, sizeof text, "%s%zu", family->columns_last ? "last:" : "", columns);
    return config_fact(reading, "rope_columns", &value, text);
}

/* --- scaling ----------------------------------------------------------------------------------------------------- */

static void add_number(struct scaling *scaling, const char *name, double number)
{
    char text[DECIMAL_BYTES] = "";
    if (isfinite(number))
        decimal_from_double(number, text);
    scaling->beyond = scaling->beyond || !isfinite(number);
    text_add(&scaling->text, "%s%s=%s", strchr(scaling->text.bytes, ':') == NULL ? ":" : ",", name, text);
}

/* A number of the object. Where it has none, *number stays as it is, unless it is needed. */
static enum status take(const struct config_reading *reading, const struct scaling *scaling, const char *key,
                        bool needed, double *number)
{
    const struct config_value value = config_member(&scaling->object, key);
    if (config_is_set(&value))
        return config_real(reading, &value, number);
    return needed ? error_usage(reading->error, "%s: %s is missing; rope scaling '%s' needs it", reading->config->path,
                                value.key, scaling->kind)
                  : STATUS_OK;
}

/* The same, written; not where it is 0, which stands for none. */
static enum status write_number(const struct config_reading *reading, struct scaling *scaling, const char *key,
                                const char *name, bool needed, double fallback)
{
    double number = fallback;
    if (take(reading, scaling, key, needed, &number) != STATUS_OK)
        return reading->error->status;
    if (number > 0)
        add_number(scaling, name, number);
    return STATUS_OK;
}

/* The positions of the training: beside the object before inside it, else those of the model. */
static enum status take_old(const struct config_reading *reading, const struct scaling *scaling, double *old,
                            double *max)
{
    *old = *max = 0;
    if (config_real_of(reading, CONFIG_KEYS("max_position_embeddings", "n_positions"), max) != STATUS_OK)
        return reading->error->status;
    *old = *max;
    if (take(reading, scaling, "original_max_position_embeddings", false, old) != STATUS_OK ||
        config_real_of(reading, CONFIG_KEYS("original_max_position_embeddings"), old) != STATUS_OK)
        return reading->error->status;
    return *old > 0 ? STATUS_OK
                    : error_usage(reading->error,
                                  "%s: %s.original_max_position_embeddings is missing; rope scaling "
                                  "'%s' needs it",
                                  reading->config->path, scaling->object.key, scaling->kind);
}

static enum status write_linear(const struct config_reading *reading, struct scaling *scaling)
{
    return write_number(reading, scaling, "factor", "factor", true, 0);
}

static enum status write_dynamic(const struct config_reading *reading, struct scaling *scaling)
{
    double max = 0;
    if (write_linear(reading, scaling) != STATUS_OK ||
        config_real_of(reading, CONFIG_KEYS("max_position_embeddings", "n_positions"), &max) != STATUS_OK)
        return reading->error->status;
    if (max == 0)
        return error_usage(reading->error, "%s: %smax_position_embeddings is missing; rope scaling 'dynamic' needs it",
                           reading->config->path, reading->prefix);
    add_number(scaling, "old", max);
    return STATUS_OK;
}

static enum status write_llama3(const struct config_reading *reading, struct scaling *scaling)
{
    double old, max;
    if (write_linear(reading, scaling) != STATUS_OK ||
        write_number(reading, scaling, "low_freq_factor", "low", true, 0) != STATUS_OK ||
        write_number(reading, scaling, "high_freq_factor", "high", true, 0) != STATUS_OK ||
        take_old(reading, scaling, &old, &max) != STATUS_OK)
        return reading->error->status;
    add_number(scaling, "old", old);
    return STATUS_OK;
}

static double mscale_of(double factor, double mscale)
{
    return factor <= 1 ? 1 : 0.1 * mscale * log(factor) + 1;
}

/* The given one, or the ratio of the two mscale where both are there; else that of --rope-scaling stays. */
static enum status write_yarn_attention(const struct config_reading *reading, struct scaling *scaling, double factor)
{
    double attention = 0, mscale = 0, all = 0;
    if (take(reading, scaling, "attention_factor", false, &attention) != STATUS_OK ||
        take(reading, scaling, "mscale", false, &mscale) != STATUS_OK ||
        take(reading, scaling, "mscale_all_dim", false, &all) != STATUS_OK)
        return reading->error->status;
    if (attention == 0 && mscale != 0 && all != 0)
        attention = mscale_of(factor, mscale) / mscale_of(factor, all);
    if (attention != 0)
        add_number(scaling, "attention", attention);
    return STATUS_OK;
}

static enum status write_yarn(const struct config_reading *reading, struct scaling *scaling)
{
    double old, max, factor = 0;
    bool truncate = true;
    const struct config_value value = config_member(&scaling->object, "truncate");
    if (take_old(reading, scaling, &old, &max) != STATUS_OK ||
        take(reading, scaling, "factor", max == 0, &factor) != STATUS_OK ||
        (config_is_set(&value) && config_truth(reading, &value, &truncate) != STATUS_OK))
        return reading->error->status;
    factor = factor > 0 ? factor : max / old;
    add_number(scaling, "factor", factor);
    if (write_number(reading, scaling, "beta_fast", "fast", false, 32) != STATUS_OK ||
        write_number(reading, scaling, "beta_slow", "slow", false, 1) != STATUS_OK)
        return reading->error->status;
    add_number(scaling, "old", old);
    if (write_yarn_attention(reading, scaling, factor) != STATUS_OK)
        return reading->error->status;
    if (!truncate)
        text_add(&scaling->text, ",truncate=no");
    return STATUS_OK;
}

static enum status write_list(const struct config_reading *reading, struct scaling *scaling, const char *key,
                              const char *name)
{
    const struct config_value value = config_member(&scaling->object, key);
    char number[DECIMAL_BYTES];
    if (!cJSON_IsArray(value.item) || value.item->child == NULL)
        return value.item != NULL ? config_wrong(reading, &value, "an array of numbers")
                                  : take(reading, scaling, key, true, NULL);
    text_add(&scaling->text, ",%s=", name);
    for (const cJSON *item = value.item->child; item != NULL; item = item->next) {
        if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
            return config_wrong(reading, &value, "an array of numbers");
        decimal_from_double(item->valuedouble, number);
        text_add(&scaling->text, "%s%s", item == value.item->child ? "" : ";", number);
    }
    return scaling->text.cut ? config_wrong(reading, &value, "fewer numbers") : STATUS_OK;
}

static enum status write_longrope(const struct config_reading *reading, struct scaling *scaling)
{
    double old, max, factor = 0, attention = 0;
    if (take_old(reading, scaling, &old, &max) != STATUS_OK ||
        take(reading, scaling, "factor", false, &factor) != STATUS_OK ||
        take(reading, scaling, "attention_factor", false, &attention) != STATUS_OK)
        return reading->error->status;
    factor = factor > 0 ? factor : max / old;
    if (attention == 0)
        attention = factor <= 1 ? 1 : sqrt(1 + log(factor) / log(old));
    add_number(scaling, "old", old);
    if (max > 0)
        add_number(scaling, "max", max);
    add_number(scaling, "attention", attention);
    return write_list(reading, scaling, "short_factor", "short") == STATUS_OK
               ? write_list(reading, scaling, "long_factor", "long")
               : reading->error->status;
}

static const struct {
    const char *kind;
    enum status (*write)(const struct config_reading *reading, struct scaling *scaling);
} WRITERS[] = {{"linear", write_linear},
               {"dynamic", write_dynamic},
               {"llama3", write_llama3},
               {"yarn", write_yarn},
               {"longrope", write_longrope}};

/* Phi: "su" and "yarn" are older names of longrope. */
static const char *plain_kind(const struct config_reading *reading, const char *kind)
{
    if (strcmp(kind, "none") == 0)
        return "default";
    return reading->family->long_factors && (strcmp(kind, "su") == 0 || strcmp(kind, "yarn") == 0) ? "longrope" : kind;
}

static enum status write_scaling(const struct config_reading *reading, struct scaling *scaling,
                                 const struct config_value *type)
{
    for (size_t i = 0; i < sizeof WRITERS / sizeof WRITERS[0]; i++)
        if (strcmp(WRITERS[i].kind, scaling->kind) == 0) {
            text_add(&scaling->text, "%s", scaling->kind);
            return WRITERS[i].write(reading, scaling);
        }
    return config_wrong(reading, type,
                        "default, linear, dynamic, llama3, yarn or longrope; or say it by --rope-scaling");
}

/* Of an object without a kind nothing is scaled. */
static enum status add_scaling(const struct config_reading *reading, const struct config_value *object)
{
    struct config_value type = config_member(object, "rope_type");
    struct scaling scaling = {.object = *object, .kind = "default"};
    if (!config_is_set(&type))
        type = config_member(object, "type");
    if (object->item == NULL)
        return reading->family->scaling != NULL ? config_fact(reading, "rope_scaling", NULL, reading->family->scaling)
                                                : STATUS_OK;
    if (config_is_set(&type) && config_text(reading, &type, &scaling.kind) != STATUS_OK)
        return reading->error->status;
    scaling.kind = plain_kind(reading, scaling.kind);
    if (strcmp(scaling.kind, "default") == 0)
        return STATUS_OK;
    char *bytes = arena_allocate(reading->arena, SCALING_BYTES, 1, reading->error);
    if (bytes == NULL)
        return reading->error->status;
    scaling.text = text_begin(bytes, SCALING_BYTES);
    if (write_scaling(reading, &scaling, &type) != STATUS_OK)
        return reading->error->status;
    return scaling.beyond ? config_wrong(reading, object, "numbers that make a factor")
                          : config_fact(reading, "rope_scaling", object, scaling.text.bytes);
}

/* --- which layers ------------------------------------------------------------------------------------------------ */

/* Whether no_rope_layers has a 1 for the layer; else all but every n-th rotate. */
enum status config_listed(const struct config_reading *reading, struct config_value *value, bool *rotates)
{
    const size_t layer = reading->module->layer;
    size_t interval = 4, number = 1;
    *value = config_find(reading, CONFIG_KEYS("no_rope_layers"));
    if (!config_is_set(value)) {
        *value = config_find(reading, CONFIG_KEYS("no_rope_layer_interval"));
        if (config_is_set(value) && config_whole(reading, value, &interval) != STATUS_OK)
            return reading->error->status;
        *rotates = interval == 0 || (layer + 1) % interval != 0;
        return STATUS_OK;
    }
    const cJSON *item = cJSON_IsArray(value->item) ? cJSON_GetArrayItem(value->item, (int)layer) : NULL;
    if (item == NULL)
        return config_wrong(reading, value, "an array with a number for each layer");
    const struct config_value entry = {.item = item, .key = "no_rope_layers"};
    if (config_whole(reading, &entry, &number) != STATUS_OK)
        return reading->error->status;
    *rotates = number != 0;
    return STATUS_OK;
}

/* A theta of null says that no layer rotates; without one it has its default. */
static enum status ask_told(const struct config_reading *reading, struct config_value *value, bool *rotates)
{
    struct config_value object;
    if (config_rope_object(reading, false, &object) != STATUS_OK)
        return reading->error->status;
    *value = config_member(&object, "rope_theta");
    if (value->item == NULL)
        *value = config_find(reading, CONFIG_KEYS("rope_theta"));
    *rotates = value->item == NULL || config_is_set(value);
    return STATUS_OK;
}

/* The key that says so goes into *value, where one does. */
static enum status ask_rotates(const struct config_reading *reading, bool slides, struct config_value *value,
                               bool *rotates)
{
    const struct family_row *family = reading->family;
    const struct config_value window = config_find(reading, CONFIG_KEYS("sliding_window"));
    bool alibi = false;
    *rotates = family->rope != ROPE_NONE;
    if (family->alibi == FAMILY_ALIBI_KEY) {
        *value = config_find(reading, CONFIG_KEYS("alibi"));
        if (config_is_set(value) && config_truth(reading, value, &alibi) != STATUS_OK)
            return reading->error->status;
        *rotates = !alibi;
    }
    if (family->rotating == FAMILY_ROTATING_SLIDING)
        *rotates = slides;
    if (family->rotating == FAMILY_ROTATING_IF_ANY)
        *rotates = slides || (window.item != NULL && !config_is_set(&window));
    if (family->rotating == FAMILY_ROTATING_TOLD)
        return ask_told(reading, value, rotates);
    return family->rotating == FAMILY_ROTATING_LISTED ? config_listed(reading, value, rotates) : STATUS_OK;
}

/* DeepSeek V3: pairs are read, unless rope_interleave is false. */
static enum status ask_kind(const struct config_reading *reading, struct config_value *value, enum rope_kind *kind)
{
    bool interleave = true;
    if (*kind != ROPE_PAIRS_TO_HALVES)
        return STATUS_OK;
    const struct config_value key = config_find(reading, CONFIG_KEYS("rope_interleave"));
    if (config_is_set(&key) && config_truth(reading, &key, &interleave) != STATUS_OK)
        return reading->error->status;
    if (!interleave) {
        *kind = ROPE_HALF;
        *value = key;
    }
    return STATUS_OK;
}

enum status config_rope(const struct config_reading *reading, bool slides)
{
    struct config_value value = {0}, object;
    enum rope_kind kind = reading->family->rope;
    bool rotates = false;
    if (!reading->module->cross && ask_rotates(reading, slides, &value, &rotates) != STATUS_OK)
        return reading->error->status;
    kind = rotates ? kind : ROPE_NONE;
    if (ask_kind(reading, &value, &kind) != STATUS_OK)
        return reading->error->status;
    const struct layer_fact *told = config_is_told(reading, "rope") ? layer_facts_find(reading->facts, "rope") : NULL;
    if (told == NULL && kind == ROPE_HALF && reading->module->reordered)
        return error_usage(
            reading->error,
            "the names are torchtune's, which do not say how query and key are stored; expected --rope pairs (Llama, "
            "Mistral, Gemma) or --rope half (Qwen, Phi)");
    if (told == NULL && config_fact(reading, "rope", &value, ROPE_WORDS[kind]) != STATUS_OK)
        return reading->error->status;
    if (strcmp(told != NULL ? told->text : ROPE_WORDS[kind], ROPE_WORDS[ROPE_NONE]) == 0)
        return STATUS_OK;
    const bool scaled = config_is_told(reading, "rope_scaling"), counted = config_is_told(reading, "rope_columns"),
               based = config_is_told(reading, "rope_theta");
    object = (struct config_value){0};
    if (!(scaled && counted && based) && config_rope_object(reading, slides, &object) != STATUS_OK)
        return reading->error->status;
    if ((!based && add_theta(reading, &object, slides) != STATUS_OK) ||
        (!counted && add_columns(reading, &object) != STATUS_OK))
        return reading->error->status;
    return scaled ? STATUS_OK : add_scaling(reading, &object);
}
