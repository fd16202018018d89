/* SPDX-License-Identifier: MIT */
#include "layer/config_keys.h"

#include "base/decimal.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

static const char *const ROPE_WORDS[] = {ROPE_KINDS(CHOICE_WORD)};

/* A scaling: its object, and the text of --rope-scaling made from it. */
struct scaling {
    const struct config_reading *reading;
    struct config_value object;
    const char *kind;
    struct text text;
    bool beyond; /* it has a number that is not finite */
};

enum { SCALING_BYTES = 64 << 10, AXES_BYTES = 256 };

/* --- the object -------------------------------------------------------------------------------------------------- */

/* Keys that transformers writes; attn rejects others. */
static const char AXES[] = "mrope_section mrope_interleaved", GROWTH[] = "llama_4_scaling_beta max_position_embeddings",
                  MSCALES[] = "short_mscale long_mscale";
static const char KNOWN[] =
    "rope_type type rope_theta partial_rotary_factor factor mscale mscale_all_dim original_max_position_embeddings "
    "beta_fast beta_slow attention_factor low_freq_factor high_freq_factor short_factor long_factor truncate";

static void check_known(const struct config_reading *reading, const struct config_value *object)
{
    const cJSON *item = object->item != NULL ? object->item->child : NULL;
    for (; item != NULL; item = item->next)
        if (!cJSON_IsNull(item) && !text_has_word(KNOWN, item->string) &&
            !(reading->family->axes != NULL && text_has_word(AXES, item->string)) &&
            !(reading->family->growth == FAMILY_GROWTH_BETA && text_has_word(GROWTH, item->string)) &&
            !(reading->family->mscales && text_has_word(MSCALES, item->string)) &&
            !(reading->family->theta_alpha && strcmp(item->string, "alpha") == 0))
            CONFIG_REFUSE(reading,
                          "%s: attn does not know %s.%.60s, which may change the rotation; set --rope, --rope-theta, "
                          "--rope-columns and --rope-scaling",
                          reading->config->path, object->key, item->string);
}

/* Whether it has an object for layers that slide, and one for those that do not. */
static bool is_nested(const struct config_value *object)
{
    return cJSON_GetObjectItemCaseSensitive(object->item, "full_attention") != NULL ||
           cJSON_GetObjectItemCaseSensitive(object->item, "sliding_attention") != NULL;
}

/* Whether a value has an effect. */
static bool says(const struct config_value *value)
{
    return config_is_set(value) && (!cJSON_IsObject(value->item) || value->item->child != NULL);
}

static void check_object(const struct config_reading *reading, const struct config_value *object)
{
    if (config_is_set(object) && !cJSON_IsObject(object->item))
        config_wrong(reading, object, "an object");
}

/* For families whose layers rotate in two ways, rejects what transformers ignores in favour of its defaults: one object
 * for both kinds, the older style's "type", and for some families all keys of the older style. */
static void check_kinds(const struct config_reading *reading, const struct config_value *newer,
                        const struct config_value *older)
{
    const struct config_value type = config_member(older, "type"), kind = config_member(older, "rope_type"),
                              theta = config_find(reading, CONFIG_ROPE_THETA),
                              local = config_find(reading, CONFIG_ROPE_THETA_OF_SLIDING),
                              share = config_find(reading, CONFIG_ROPE_SHARE);
    const struct family_row *family = reading->family;
    if (family->local_theta == 0)
        return;
    if (says(newer) && !is_nested(newer))
        config_wrong(reading, newer, "one with full_attention and sliding_attention, as in the rest of the family");
    if (config_is_set(&type) && !config_is_set(&kind) &&
        !(cJSON_IsString(type.item) && strcmp(type.item->valuestring, "default") == 0))
        config_wrong(reading, &type, "the key rope_type instead: transformers does not read type in this family");
    const struct config_value *stray = config_real(reading, &theta, family->theta) != family->theta   ? &theta
                                       : config_real(reading, &share, family->share) != family->share ? &share
                                       : says(&local)                                                 ? &local
                                       : says(older)                                                  ? older
                                                                                                      : NULL;
    if (family->kinds_only && stray != NULL)
        config_wrong(reading, stray, "rope_parameters instead, for each kind of layer");
}

/* Rejects "truncate" within the object of a kind of layers: transformers reads it only next to these objects. */
static void check_truncate(const struct config_reading *reading, const struct config_value *object)
{
    static const char *const PLACES[] = {"truncate", "full_attention.truncate", "sliding_attention.truncate"};
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0] && is_nested(object); i++) {
        const struct config_value value = config_member(object, PLACES[i]);
        if (config_is_set(&value) && !cJSON_IsTrue(value.item))
            config_wrong(reading, &value, "true, or --rope-theta, --rope-columns and --rope-scaling");
    }
}

/* The object: of two the older style's, if it has an effect, as in transformers. */
static struct config_value find_object(const struct config_reading *reading)
{
    const struct config_value older = config_find(reading, CONFIG_ROPE_SCALING),
                              newer = config_find(reading, CONFIG_ROPE_PARAMETERS);
    check_object(reading, &newer);
    check_object(reading, &older);
    check_kinds(reading, &newer, &older);
    check_truncate(reading, &newer);
    if (says(&older) && config_is_set(&newer) && is_nested(&newer))
        CONFIG_REFUSE(reading, "%s: %s and %s are both set; keep one of them", reading->config->path, newer.key,
                      older.key);
    return !config_is_set(&newer) || says(&older) ? older : newer;
}

struct config_value config_rope_object(const struct config_reading *reading, bool slides)
{
    struct config_value object = find_object(reading);
    if (is_nested(&object))
        object = config_member(&object, slides ? "sliding_attention" : "full_attention");
    else if (slides && reading->family->local_theta > 0 && !reading->family->local_scaling)
        object.item = NULL; /* the older style is for layers that do not slide */
    check_object(reading, &object);
    if (!cJSON_IsObject(object.item) || config_failed(reading))
        object.item = NULL;
    check_known(reading, &object);
    return object;
}

struct config_value config_rope_type(const struct config_value *object)
{
    const struct config_value type = config_member(object, "rope_type");
    return config_is_set(&type) ? type : config_member(object, "type");
}

/* --- theta and columns ------------------------------------------------------------------------------------------- */

/* What a family's "dynamic" scaling multiplies theta by, whatever the length; 0 where it is another one. */
static double theta_factor(const struct config_reading *reading, const struct config_value *object)
{
    const struct config_value type = config_rope_type(object), alpha = config_member(object, "alpha");
    const double d = (double)reading->module->columns;
    return reading->family->theta_alpha && strcmp(config_text(reading, &type, ""), "dynamic") == 0
               ? pow(config_real(reading, &alpha, 0), d / (d - 2))
               : 0;
}

static void add_theta(const struct config_reading *reading, const struct config_value *object, bool slides)
{
    const struct family_row *family = reading->family;
    const bool local = slides && family->local_theta > 0;
    struct config_value value = config_member(object, "rope_theta");
    if (!(family->rotating == FAMILY_ROTATING_THETAS && config_entry(reading, CONFIG_ROPE_THETAS, &value)) &&
        !config_is_set(&value))
        value = local                       ? config_find(reading, CONFIG_ROPE_THETA_OF_SLIDING)
                : family->theta_key != NULL ? config_find_name(reading, family->theta_key)
                                            : config_find(reading, CONFIG_ROPE_THETA);
    if (!config_is_set(&value) && family->theta_unless != NULL && config_find_name(reading, family->theta_unless).item)
        CONFIG_REFUSE(reading, "%s: rope_theta is missing, and the releases of such models differ; set --rope-theta",
                      reading->config->path);
    const double usual = local ? family->local_theta : family->theta,
                 theta = config_real(reading, &value, usual > 0 ? usual : 10000);
    if (!(theta > 0))
        config_wrong(reading, &value, "a number above 0");
    if (family->scaling_theta && object->item == NULL && theta != usual)
        config_wrong(reading, &value, "rope_parameters with it, because this family reads it nowhere else");
    const double factor = theta_factor(reading, object);
    config_fact_number(reading, "rope_theta", config_is_set(&value) ? &value : NULL, theta * (factor > 0 ? factor : 1));
}

static bool is_proportional(const struct config_value *object)
{
    const struct config_value type = config_rope_type(object);
    return cJSON_IsString(type.item) && strcmp(type.item->valuestring, "proportional") == 0;
}

/* The share of a head's columns that rotates: the object's, else the older key's. */
static struct config_value find_share(const struct config_reading *reading, const struct config_value *object)
{
    const struct config_value value = config_member(object, "partial_rotary_factor");
    return config_is_set(&value) || reading->family->kinds_only ? value : config_find(reading, CONFIG_ROPE_SHARE);
}

/* Adds rope_columns from a share of a head's columns; only the family tells which columns a share below 1 means. */
static void add_share(const struct config_reading *reading, const struct config_value *object)
{
    const struct family_row *family = reading->family;
    const struct config_value value = find_share(reading, object);
    const bool usual = family->share > 0 && !(family->kinds_only && object->item != NULL);
    const double share = config_real(reading, &value, usual ? family->share : 1);
    if (!(share > 0 && share <= 1))
        config_wrong(reading, &value, "a number above 0 and at most 1");
    if (share < 1 && family->share == 0)
        CONFIG_REFUSE(reading, "%s: %s is %g, but family %s rotates all columns of a head; set --rope-columns",
                      reading->config->path, value.key, share, family->name);
    if (share < 1)
        config_fact_number(reading, "rope_columns", config_is_set(&value) ? &value : NULL,
                           floor((double)reading->module->columns * share));
}

static void add_columns(const struct config_reading *reading, const struct config_value *object)
{
    const struct family_row *family = reading->family;
    const size_t all = reading->module->columns;
    const struct config_value value =
        family->columns_key != NULL ? config_find_name(reading, family->columns_key) : (struct config_value){0};
    const size_t columns = config_whole(reading, &value, family->columns);
    char text[DECIMAL_BYTES], expected[64];
    snprintf(expected, sizeof expected, "a number from 1 to %zu, the columns of a head", all);
    if (value.item != NULL && (!config_is_set(&value) || columns == 0 || columns > all))
        config_wrong(reading, &value, expected);
    const struct config_value head = config_find(reading, CONFIG_HEAD_COLUMNS),
                              share = config_is_set(&head) && family->latent
                                          ? config_member(object, "partial_rotary_factor")
                                          : find_share(reading, object);
    const double wide = family->latent ? config_real(reading, &head, (double)columns) : (double)all,
                 part = config_real(reading, &share, 0), rotated = floor(part * wide);
    if (columns > 0 && config_is_set(&share) && rotated != (double)columns)
        config_wrong(reading, &share,
                     family->latent ? "qk_rope_head_dim / head_dim" : "the share that the number of columns means");
    snprintf(text, sizeof text, "%s%zu", family->columns_last ? "last:" : "", columns);
    if (columns == 0 && !is_proportional(object))
        add_share(reading, object);
    else if (columns > 0)
        config_fact(reading, "rope_columns", &value, text);
}

/* Adds rope_axes: those of the family, with the config's numbers of pairs, blocks and windows. */
static void add_axes(const struct config_reading *reading, const struct config_value *object)
{
    const char *rest = reading->family->axes;
    const struct config_value sections = config_member(object, "mrope_section"),
                              blocks = config_find(reading, CONFIG_MERGE), patch = config_find(reading, CONFIG_PATCH),
                              size = config_find(reading, CONFIG_GRID_WINDOW),
                              all = config_find(reading, CONFIG_GRID_UNMASKED),
                              registers = config_find(reading, CONFIG_REGISTERS);
    const size_t merge = config_whole(reading, &blocks, reading->family->merge),
                 side = reading->family->windows ? merge * config_whole(reading, &patch, 14) : 0,
                 window = side > 0 ? config_whole(reading, &size, 112) / side * merge : 0;
    bool masks = true; /* keys of other windows */
    for (const cJSON *item = all.item != NULL ? all.item->child : NULL; item != NULL; item = item->next)
        masks = masks && !(cJSON_IsNumber(item) && item->valuedouble == (double)reading->module->layer);
    char *bytes = rest != NULL ? arena_allocate(reading->arena, AXES_BYTES, 1, reading->error) : NULL;
    struct rope_axes axes;
    if (bytes == NULL || rope_axes_parse("axes", rest, &axes, reading->error) != STATUS_OK)
        return;
    struct text text = text_begin(bytes, AXES_BYTES);
    const size_t left = axes.restarted && axes.has[0] ? reading->module->columns % (2 * axes.count) : 0;
    if (left > 0 && !config_is_told(reading, "rope_columns")) /* no axis has the columns left */
        config_fact_number(reading, "rope_columns", NULL, (double)(reading->module->columns - left));
    const bool counts = axes.pairs[0] > 0 && config_is_set(&sections);
    for (size_t i = 0; counts && i < axes.count; i++, rest += strcspn(rest, ",") + (i < axes.count)) {
        struct config_value count = sections;
        count.item = cJSON_GetArrayItem(sections.item, (int)i);
        text_add(&text, "%s%c%zu", i > 0 ? "," : "", rest[0], config_whole(reading, &count, 0));
    }
    if (counts && (size_t)cJSON_GetArraySize(sections.item) != axes.count)
        config_wrong(reading, &sections, "a number of pairs for each of time, height and width");
    text_add(&text, "%s", rest);
    if (reading->family->merge > 0)
        text_add(&text, ",merge=%zu", merge);
    if (window > 0)
        text_add(&text, ",window=%zu%s", window, masks ? ",windows-apart" : "");
    else if (reading->family->windows)
        config_wrong(reading, &size, "at least a block of patches");
    if (reading->family->prefix > 0)
        text_add(&text, ",rest-first=%zu", 1 + config_whole(reading, &registers, reading->family->prefix - 1));
    config_fact(reading, "rope_axes", counts ? &sections : NULL, bytes);
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

static double take(const struct scaling *scaling, const char *key, double fallback)
{
    const struct config_value value = config_member(&scaling->object, key);
    return config_real(scaling->reading, &value, fallback);
}

static void need(const struct scaling *scaling, const char *key)
{
    const struct config_value value = config_member(&scaling->object, key);
    if (!config_is_set(&value))
        CONFIG_REFUSE(scaling->reading, "%s: %s is missing; rope scaling '%s' needs it", scaling->reading->config->path,
                      value.key, scaling->kind);
}

/* Writes the number if it is above 0, which means none; a fallback of 0 makes it required. */
static void write_number(struct scaling *scaling, const char *key, const char *name, double fallback)
{
    if (fallback == 0)
        need(scaling, key);
    const double number = take(scaling, key, fallback);
    if (number > 0)
        add_number(scaling, name, number);
}

static double positions(const struct scaling *scaling)
{
    return config_real_of(scaling->reading, CONFIG_POSITIONS, 0);
}

/* The positions of the training: the key next to the object, else inside it, else those of the model. */
static double old_positions(const struct scaling *scaling)
{
    double old = positions(scaling);
    old = take(scaling, config_names(CONFIG_OLD_POSITIONS), old);
    old = config_real_of(scaling->reading, CONFIG_OLD_POSITIONS, old);
    if (!(old > 0))
        CONFIG_REFUSE(scaling->reading,
                      "%s: %s.original_max_position_embeddings is missing; rope scaling '%s' needs it",
                      scaling->reading->config->path, scaling->object.key, scaling->kind);
    return old;
}

static void write_linear(struct scaling *scaling)
{
    write_number(scaling, "factor", "factor", 0);
}

static void write_dynamic(struct scaling *scaling)
{
    write_linear(scaling);
    const double max = positions(scaling);
    if (max == 0)
        CONFIG_REFUSE(scaling->reading, "%s: %smax_position_embeddings is missing; rope scaling 'dynamic' needs it",
                      scaling->reading->config->path, scaling->reading->prefix);
    add_number(scaling, "old", max);
}

static void write_llama3(struct scaling *scaling)
{
    write_linear(scaling);
    write_number(scaling, "low_freq_factor", "low", 0);
    write_number(scaling, "high_freq_factor", "high", 0);
    add_number(scaling, "old", old_positions(scaling));
}

/* The share of the pairs that rotate; for others it is that of the columns, in rope_columns. */
static void write_proportional(struct scaling *scaling)
{
    const double factor = take(scaling, "factor", 1);
    add_number(scaling, "share", take(scaling, "partial_rotary_factor", 1));
    if (factor != 1)
        add_number(scaling, "factor", factor);
}

static double mscale_of(double factor, double mscale)
{
    return factor <= 1 ? 1 : 0.1 * mscale * log(factor) + 1;
}

/* Writes yarn's attention factor if given, or the ratio of the two mscale; else --rope-scaling's default counts. */
static void write_yarn(struct scaling *scaling)
{
    const double old = old_positions(scaling), max = positions(scaling);
    const struct config_value truncate = config_member(&scaling->object, "truncate");
    if (max == 0)
        need(scaling, "factor");
    const double given = take(scaling, "factor", 0), factor = given > 0 ? given : max / old;
    const bool truncates = config_truth(scaling->reading, &truncate, true);
    add_number(scaling, "factor", factor);
    write_number(scaling, "beta_fast", "fast", 32);
    write_number(scaling, "beta_slow", "slow", 1);
    add_number(scaling, "old", old);
    double attention = take(scaling, "attention_factor", 0);
    const double mscale = take(scaling, "mscale", 0), all = take(scaling, "mscale_all_dim", 0);
    if (attention == 0 && mscale != 0 && all != 0)
        attention = mscale_of(factor, mscale) / mscale_of(factor, all);
    if (attention != 0)
        add_number(scaling, "attention", attention);
    if (!truncates)
        text_add(&scaling->text, ",truncate=no");
}

static void write_list(struct scaling *scaling, const char *key, const char *name)
{
    const struct config_value value = config_member(&scaling->object, key);
    const bool lists = cJSON_IsArray(value.item) && value.item->child != NULL;
    char number[DECIMAL_BYTES];
    if (value.item == NULL)
        need(scaling, key);
    else if (!lists)
        config_wrong(scaling->reading, &value, "an array of numbers");
    text_add(&scaling->text, ",%s=", name);
    for (const cJSON *item = lists ? value.item->child : NULL; item != NULL; item = item->next) {
        if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble)) {
            config_wrong(scaling->reading, &value, "an array of numbers");
            return;
        }
        decimal_from_double(item->valuedouble, number);
        text_add(&scaling->text, "%s%s", item == value.item->child ? "" : ";", number);
    }
    if (scaling->text.cut)
        config_wrong(scaling->reading, &value, "fewer numbers");
}

static void write_longrope(struct scaling *scaling)
{
    const double old = old_positions(scaling), max = positions(scaling), given = take(scaling, "factor", 0);
    const double factor = given > 0 ? given : max / old;
    const bool mscales = scaling->reading->family->mscales;
    double attention = take(scaling, "attention_factor", 0);
    if (attention == 0)
        attention = factor <= 1 ? 1 : sqrt(1 + log(factor) / log(old));
    add_number(scaling, "old", old);
    if (max > 0)
        add_number(scaling, "max", max);
    if (!mscales)
        add_number(scaling, "attention", attention);
    else
        write_number(scaling, "short_mscale", "attention", 0);
    if (mscales)
        write_number(scaling, "long_mscale", "beyond", 0);
    write_list(scaling, "short_factor", "short");
    write_list(scaling, mscales ? "short_factor" : "long_factor", "long");
}

static const struct {
    const char *kind;
    void (*write)(struct scaling *scaling);
} WRITERS[] = {{"linear", write_linear}, {"dynamic", write_dynamic},   {"llama3", write_llama3},
               {"yarn", write_yarn},     {"longrope", write_longrope}, {"proportional", write_proportional}};

static void write_scaling(struct scaling *scaling, const struct config_value *type)
{
    for (size_t i = 0; i < sizeof WRITERS / sizeof WRITERS[0]; i++)
        if (strcmp(WRITERS[i].kind, scaling->kind) == 0) {
            text_add(&scaling->text, "%s", scaling->kind);
            WRITERS[i].write(scaling);
            return;
        }
    config_wrong(scaling->reading, type,
                 "default, linear, dynamic, llama3, yarn, longrope or proportional, or --rope-scaling");
}

/* An object without a kind scales nothing. Phi: "su" and "yarn" are older names of longrope. */
static void add_scaling(const struct config_reading *reading, const struct config_value *object, bool slides)
{
    const struct config_value type = config_rope_type(object);
    const char *kind = config_text(reading, &type, "default");
    const struct config_value asked = config_find(reading, CONFIG_ROPE_SCALED);
    if (object->item == NULL && reading->family->scaling != NULL && !(slides && reading->family->local_theta > 0) &&
        (!reading->family->scaling_asked || config_truth(reading, &asked, false)))
        config_fact(reading, "rope_scaling", &asked, reading->family->scaling);
    if (strcmp(kind, "default") == 0 || strcmp(kind, "none") == 0 || theta_factor(reading, object) > 0 ||
        (reading->family->axes != NULL && (strcmp(kind, "mrope") == 0 || strcmp(kind, "axial") == 0)))
        return;
    if (reading->family->long_factors && (strcmp(kind, "su") == 0 || strcmp(kind, "yarn") == 0))
        kind = "longrope";
    char *bytes = arena_allocate(reading->arena, SCALING_BYTES, 1, reading->error);
    if (bytes == NULL)
        return;
    struct scaling scaling = {
        .reading = reading, .object = *object, .kind = kind, .text = text_begin(bytes, SCALING_BYTES)};
    write_scaling(&scaling, &type);
    if (scaling.beyond)
        config_wrong(reading, object, "numbers that give a finite factor, or --rope-scaling");
    config_fact(reading, "rope_scaling", object, bytes);
}

/* --- which layers ------------------------------------------------------------------------------------------------ */

/* By no_rope_layers the layers with a 1 rotate; else all but every n-th. */
bool config_listed(const struct config_reading *reading, struct config_value *value)
{
    const size_t layer = reading->module->layer;
    *value = config_find(reading, CONFIG_ROPE_LAYERS);
    if (!config_is_set(value) || (cJSON_IsArray(value->item) && value->item->child == NULL)) {
        *value = config_find(reading, CONFIG_ROPE_INTERVAL);
        const size_t interval = config_whole(reading, value, 4);
        return interval == 0 || (layer + 1) % interval != 0;
    }
    const struct config_value entry = {.item = cJSON_IsArray(value->item) ? cJSON_GetArrayItem(value->item, (int)layer)
                                                                          : NULL,
                                       .key = "no_rope_layers"};
    if (entry.item == NULL)
        config_wrong(reading, value, "an array with one number per layer");
    else if (cJSON_IsNull(entry.item))
        config_wrong(reading, &entry, "a whole number");
    return config_whole(reading, &entry, 1) != 0;
}

/* Whether the layer rotates; *value: the key that decides, if any. */
static bool ask_rotates(const struct config_reading *reading, bool slides, struct config_value *value)
{
    const struct family_row *family = reading->family;
    const struct config_value window = config_find(reading, CONFIG_WINDOW);
    bool rotates = family->rope != ROPE_NONE;
    if (family->alibi == FAMILY_ALIBI_KEY) {
        *value = config_find(reading, CONFIG_ALIBI);
        rotates = !config_truth(reading, value, false);
    }
    switch (family->rotating) {
    case FAMILY_ROTATING_ALL:
        return rotates;
    case FAMILY_ROTATING_SLIDING:
        return slides;
    case FAMILY_ROTATING_IF_ANY:
        return slides || cJSON_IsNull(window.item);
    case FAMILY_ROTATING_LISTED:
        return config_listed(reading, value);
    case FAMILY_ROTATING_TOLD: { /* a theta of null: no layer rotates; a missing one: its default */
        const struct config_value object = config_rope_object(reading, false);
        *value = config_member(&object, "rope_theta");
        if (value->item == NULL)
            *value = config_find(reading, CONFIG_ROPE_THETA);
        return value->item == NULL || config_is_set(value);
    }
    case FAMILY_ROTATING_ASKED:
    case FAMILY_ROTATING_ROTARY:
        *value = config_find(reading, CONFIG_POSITION_TYPE);
        return strcmp(config_text(reading, value, ""), family->rotating == FAMILY_ROTATING_ASKED ? "rope" : "rotary") ==
               0;
    case FAMILY_ROTATING_THETAS:
        return !config_entry(reading, CONFIG_ROPE_THETAS, value) || config_real(reading, value, 0) != 0;
    case FAMILY_ROTATING_PREFIX: {
        const struct config_value pattern = config_find(reading, CONFIG_PREFIX_PATTERN);
        const bool dense =
            config_entry(reading, CONFIG_MLP_TYPES, value) && strcmp(config_text(reading, value, ""), "dense") == 0;
        return slides || (dense && config_whole(reading, &pattern, 1) == 1);
    }
    }
    return rotates;
}

void config_rope(const struct config_reading *reading, bool slides)
{
    struct config_value value = {0}, object = {0};
    const bool rotates = !reading->module->cross && ask_rotates(reading, slides, &value);
    enum rope_kind kind = rotates ? reading->family->rope : ROPE_NONE;
    const struct config_value interleave = config_find(reading, CONFIG_ROPE_INTERLEAVE);
    if (kind == ROPE_PAIRS_TO_HALVES && !config_truth(reading, &interleave, true)) { /* DeepSeek V3 */
        kind = ROPE_HALF;
        value = interleave;
    }
    const struct layer_fact *told = config_is_told(reading, "rope") ? layer_facts_find(reading->facts, "rope") : NULL;
    if (told == NULL && kind == ROPE_HALF && reading->module->reordered)
        CONFIG_REFUSE(reading, "these tensor names do not say how query and key are stored; expected --rope pairs "
                               "(Llama, Mistral, Gemma) or --rope half (Qwen, Phi)");
    if (told == NULL)
        config_fact(reading, "rope", &value, ROPE_WORDS[kind]);
    if (strcmp(told != NULL ? told->text : ROPE_WORDS[kind], ROPE_WORDS[ROPE_NONE]) == 0)
        return;
    const bool scaled = config_is_told(reading, "rope_scaling"), counted = config_is_told(reading, "rope_columns"),
               based = config_is_told(reading, "rope_theta"),
               shared = reading->family->axes == NULL || config_is_told(reading, "rope_axes");
    if (!(scaled && counted && based && shared))
        object = config_rope_object(reading, slides);
    if (!based)
        add_theta(reading, &object, slides);
    if (!counted)
        add_columns(reading, &object);
    if (!scaled)
        add_scaling(reading, &object, slides);
    if (!shared)
        add_axes(reading, &object);
}
