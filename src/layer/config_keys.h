/* The keys of a config, each held to its type, and facts made of them: what the files of config.h share. */
#ifndef ATTN_LAYER_CONFIG_KEYS_H
#define ATTN_LAYER_CONFIG_KEYS_H

#include "layer/config.h"

#include <cjson/cJSON.h>

enum { CONFIG_KEY_BYTES = 128 };

/* A question to a config, on its way through the settings. */
struct config_reading {
    const struct config *config;
    const struct family_row *family;
    const struct config_module *module;
    const cJSON *section;          /* the object of the module's part, or NULL: there is no config */
    char prefix[CONFIG_KEY_BYTES]; /* its place: "text_config.", or "" */
    struct arena *arena;
    struct layer_facts *facts;
    struct error *error;
};

/* A value, and its place as messages have it. */
struct config_value {
    const cJSON *item; /* NULL: there is none, or no config */
    char key[CONFIG_KEY_BYTES];
};

/* Sets section and prefix, where config, family and module are set: the module's part of the config, or nothing where
 * options are to say everything. */
enum status config_begin(struct config_reading *reading);

/* The first of the keys, a list that NULL ends, that the section has; a dot leads into an object: "attn_config.alibi".
 * A value of null counts as one. */
struct config_value config_find(const struct config_reading *reading, const char *const *keys);
#define CONFIG_KEYS(...)  \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

/* The member of an object's value; the same rules. */
struct config_value config_member(const struct config_value *object, const char *key);

/* Whether there is one that is not null. */
bool config_is_set(const struct config_value *value);

/* Each stores the value, which must be set. STATUS_USAGE "config.json: key is text, expected a whole number". */
enum status config_whole(const struct config_reading *reading, const struct config_value *value, size_t *number);
enum status config_real(const struct config_reading *reading, const struct config_value *value, double *number);
enum status config_truth(const struct config_reading *reading, const struct config_value *value, bool *truth);
enum status config_text(const struct config_reading *reading, const struct config_value *value, const char **text);

/* Those of the first of the keys that is set, else what they hold already. */
enum status config_real_of(const struct config_reading *reading, const char *const *keys, double *number);
enum status config_truth_of(const struct config_reading *reading, const char *const *keys, bool *truth);

/* Not as it was expected: STATUS_USAGE "config.json: key is an array, expected WHAT". */
enum status config_wrong(const struct config_reading *reading, const struct config_value *value, const char *expected);

/* Whether an option says the setting, so that the config is not asked. */
bool config_is_told(const struct config_reading *reading, const char *setting);

/* Adds a fact: from the config where the value has an item, else from the row, whose name is its key. */
enum status config_fact(const struct config_reading *reading, const char *setting, const struct config_value *value,
                        const char *text);
enum status config_fact_number(const struct config_reading *reading, const char *setting,
                               const struct config_value *value, double number);

/* The rotation: rope, rope_theta, rope_columns, rope_scaling; `slides`: whether this layer does. */
enum status config_rope(const struct config_reading *reading, bool slides);

/* Whether no_rope_layers, or else no_rope_layer_interval, lets the layer rotate, and the key that says so. */
enum status config_listed(const struct config_reading *reading, struct config_value *value, bool *rotates);

/* The parameters of the rotation of such a layer: an object that may stand for all layers, or for those of its kind. */
enum status config_rope_object(const struct config_reading *reading, bool slides, struct config_value *object);

#endif
