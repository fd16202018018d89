/* SPDX-License-Identifier: MIT */
#include "layer/adapter.h"

#include "base/folder.h"
#include "base/text.h"
#include "read/json_tree.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* What a tensor of the adapter does to one of the checkpoint. */
struct adapter_change {
    const char *base;           /* the name of that one: */
    const char *path, *of_base; /* of the module, as the adapter names it; and its end */
    enum change_kind { CHANGE_REPLACES, CHANGE_A, CHANGE_B, CHANGE_NONE } kind;
};

static const char BASE_MODEL[] = "base_model.model.";

/* The ends of an adapter's names, and of the checkpoint's tensor. */
static const struct {
    const char *end, *of_base;
    enum change_kind kind;
} ENDS[] = {
    {".lora_A.weight", ".weight", CHANGE_A},
    {".lora_B.weight", ".weight", CHANGE_B},
    {".lora_B.bias", ".bias", CHANGE_B},
    {".lora_embedding_A", ".weight", CHANGE_NONE},
    {".lora_embedding_B", ".weight", CHANGE_NONE},
    {".base_layer.weight", ".weight", CHANGE_REPLACES},
    {".base_layer.bias", ".bias", CHANGE_REPLACES},
    {".weight", ".weight", CHANGE_REPLACES},
    {".bias", ".bias", CHANGE_REPLACES},
};

/* --- the config -------------------------------------------------------------------------------------------------- */

/* Keys that change nothing, or that the rest of this file reads. */
static const char KNOWN[] =
    "alpha_pattern auto_mapping base_model_name_or_path bias corda_config ensure_weight_tying eva_config "
    "exclude_modules fan_in_fan_out inference_mode init_lora_weights layers_pattern layers_to_transform loftq_config "
    "lora_alpha lora_bias lora_dropout lora_ga_config megatron_config megatron_core modules_to_save peft_type "
    "peft_version qalora_group_size r rank_pattern revision runtime_config target_modules task_type use_rslora";

/* Ways to draw A and B that leave the checkpoint's weights as they are. */
static const char INITIAL[] = "gaussian eva orthogonal";

/* Whether a key asks for nothing: null, false, {} or []. */
static bool is_off(const cJSON *item)
{
    return item == NULL || cJSON_IsNull(item) || cJSON_IsFalse(item) ||
           ((cJSON_IsObject(item) || cJSON_IsArray(item)) && item->child == NULL);
}

static const cJSON *key_of(const struct adapter *adapter, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(adapter->config.root, key);
}

static enum status check_config(const struct adapter *adapter)
{
    const cJSON *type = key_of(adapter, "peft_type"), *initial = key_of(adapter, "init_lora_weights");
    const char *path = adapter->config.path;
    if (!cJSON_IsString(type) || strcmp(type->valuestring, "LORA") != 0)
        return error_usage(adapter->error, "%s: peft_type is %.40s; attn applies LORA alone", path,
                           cJSON_IsString(type) ? type->valuestring : "missing");
    if (!is_off(initial) && !cJSON_IsTrue(initial) &&
        !(cJSON_IsString(initial) && text_has_word(INITIAL, initial->valuestring)))
        return error_usage(adapter->error,
                           "%s: init_lora_weights %.40s changes the weights of the checkpoint, too; save the adapter "
                           "with path_initial_model_for_weight_conversion",
                           path, cJSON_IsString(initial) ? initial->valuestring : json_kind_name(initial));
    for (const cJSON *item = adapter->config.root->child; item != NULL; item = item->next)
        if (!is_off(item) && !text_has_word(KNOWN, item->string))
            return error_usage(adapter->error, "%s: attn does not apply %.60s; merge the adapter into the model first",
                               path, item->string);
    return STATUS_OK;
}

/* The number of a module: that of the first pattern that is its path, or the end of it; else that of the key. A pattern
 * of PEFT is a regular expression; attn reads those that are names, or ^ and a path. */
static enum status number_of(const struct adapter *adapter, const char *path, const char *patterns, const char *key,
                             double *number)
{
    const cJSON *pattern = key_of(adapter, patterns), *found = NULL;
    if (!is_off(pattern) && !cJSON_IsObject(pattern))
        return error_usage(adapter->error, "%s: %s is %s; expected an object", adapter->config.path, patterns,
                           json_kind_name(pattern));
    for (const cJSON *item = is_off(pattern) ? NULL : pattern->child; item != NULL; item = item->next) {
        const bool all = item->string[0] == '^';
        const char *name = item->string + all;
        const size_t before = memory_left(strlen(path), strlen(name));
        if (strpbrk(name, "^$*+?()[]{}|\\") != NULL || !cJSON_IsNumber(item))
            return error_usage(adapter->error, "%s: %s: '%.80s': expected the name of a module and a number",
                               adapter->config.path, patterns, item->string);
        if (found == NULL && strcmp(path + before, name) == 0 && (before == 0 || (!all && path[before - 1] == '.')))
            found = item;
    }
    found = found != NULL ? found : key_of(adapter, key);
    *number = cJSON_IsNumber(found) ? found->valuedouble : NAN;
    return STATUS_OK;
}

/* --- names ------------------------------------------------------------------------------------------------------- */

enum { NAME_BYTES = 2048 };

/* How the names of the adapter begin, and those of the checkpoint; the rest is the same. */
struct prefixes {
    const char *own, *base;
    int own_length, base_length;
};

/* The checkpoint's name of the tensor that is changed, into text (NAME_BYTES); "" where the path begins otherwise or
 * the name does not fit. */
static const char *base_name(const struct adapter_change *change, struct prefixes prefixes, char *text)
{
    int length = NAME_BYTES;
    if (change->path != NULL && strncmp(change->path, prefixes.own, (size_t)prefixes.own_length) == 0)
        length = snprintf(text, NAME_BYTES, "%.*s%s%s", prefixes.base_length, prefixes.base,
                          change->path + prefixes.own_length, change->of_base);
    return length < NAME_BYTES ? text : "";
}

/* Finds the prefixes by one change: "transformer.h.0" may be "h.0" in the checkpoint, or the other way round. None
 * where several would do. */
static struct prefixes find_prefixes(const struct adapter_change *change, const struct checkpoint *base)
{
    struct prefixes prefixes = {"", "", 0, 0};
    char text[NAME_BYTES];
    const char *own = base_name(change, prefixes, text);
    for (size_t i = 0, found = 0; i < base->count && !checkpoint_has(base, own); i++) {
        const char *name = base->names[i].text;
        const size_t more = memory_left(strlen(name), strlen(own)), less = memory_left(strlen(own), strlen(name));
        if (strcmp(name + more, own + less) != 0 || (more > 0 && name[more - 1] != '.') ||
            (less > 0 && own[less - 1] != '.'))
            continue;
        if (found++ > 0)
            return (struct prefixes){"", "", 0, 0};
        prefixes = (struct prefixes){change->path, name, (int)less, (int)more};
    }
    return prefixes;
}

/* Splits a name into path and end; the path of another name is NULL. */
static enum status split_name(const struct adapter *adapter, const char *name, struct adapter_change *change)
{
    const size_t begin = sizeof BASE_MODEL - 1;
    *change = (struct adapter_change){.kind = CHANGE_NONE};
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0] && change->of_base == NULL; i++)
        if (strncmp(name, BASE_MODEL, begin) == 0 && text_ends_in(name + begin, ENDS[i].end)) {
            const size_t length = strlen(name) - begin - strlen(ENDS[i].end);
            change->kind = ENDS[i].kind;
            change->of_base = ENDS[i].of_base;
            change->path = arena_text(adapter->arena, name + begin, length, adapter->error);
        }
    return adapter->error->status;
}

/* Finds what each tensor changes. */
static enum status read_names(struct adapter *adapter, const struct checkpoint *base)
{
    const struct checkpoint *own = &adapter->tensors;
    const struct adapter_change *known = NULL;
    struct prefixes prefixes = {"", "", 0, 0};
    char text[NAME_BYTES];
    adapter->changes = arena_allocate(adapter->arena, own->count, sizeof *adapter->changes, adapter->error);
    if (adapter->changes == NULL)
        return adapter->error->status;
    for (size_t i = 0; i < own->count; i++) {
        if (split_name(adapter, own->names[i].text, &adapter->changes[i]) != STATUS_OK)
            return adapter->error->status;
        if (known == NULL && adapter->changes[i].kind == CHANGE_A)
            prefixes = find_prefixes(known = &adapter->changes[i], base);
    }
    for (size_t i = 0; i < own->count; i++) {
        const char *name = own->names[i].text, *changed = base_name(&adapter->changes[i], prefixes, text);
        if (strstr(name, ".lora_magnitude_vector") != NULL)
            return error_usage(adapter->error,
                               "%s: %.200s: attn does not apply DoRA; merge the adapter into the model first",
                               own->source, name);
        if (!checkpoint_has(base, changed))
            return error_usage(adapter->error, "%s: %.200s changes no tensor of %s; expected an adapter of this model",
                               own->source, name, base->source);
        if ((adapter->changes[i].base = arena_copy(adapter->arena, changed, adapter->error)) == NULL)
            return adapter->error->status;
    }
    return own->count > 0 ? STATUS_OK : error_usage(adapter->error, "%s: holds no tensor", own->source);
}

enum status adapter_open(struct adapter *adapter, const char *folder, const struct checkpoint *base,
                         struct arena *arena, struct error *error)
{
    const char *config = folder_path(folder, "adapter_config.json", arena, error);
    const char *tensors = folder_path(folder, "adapter_model.safetensors", arena, error);
    *adapter = (struct adapter){.arena = arena, .error = error};
    if (tensors != NULL && access(tensors, F_OK) != 0)
        tensors = folder_path(folder, "adapter_model.bin", arena, error);
    if (error->status != STATUS_OK || config_read(config, &adapter->config, error) || check_config(adapter) ||
        checkpoint_open(tensors, arena, &adapter->tensors, error))
        return error->status;
    return read_names(adapter, base);
}

void adapter_close(struct adapter *adapter)
{
    config_free(&adapter->config);
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* Takes the tensor that changes the checkpoint's of that name so, and returns the path of its module; NULL and rank 0
 * where there is none. */
static const char *take(const struct adapter *adapter, const char *name, enum change_kind kind, struct tensor *tensor)
{
    *tensor = (struct tensor){.rank = 0};
    for (size_t i = 0; i < adapter->tensors.count; i++)
        if (adapter->changes[i].kind == kind && strcmp(adapter->changes[i].base, name) == 0) {
            checkpoint_take(&adapter->tensors, adapter->tensors.names[i].text, tensor, adapter->error);
            return adapter->changes[i].path;
        }
    return NULL;
}

static double *load(const struct adapter *adapter, const struct tensor *tensor)
{
    double *numbers = arena_allocate(adapter->arena, tensor_count(tensor), sizeof *numbers, adapter->error);
    if (numbers != NULL)
        tensor_load(tensor, 0, tensor_count(tensor), numbers);
    return numbers;
}

/* Adds scale x left . right, (rows, r) and (r, columns), to a copy of the tensor. */
static enum status add_product(const struct adapter *adapter, const struct tensor *left, const struct tensor *right,
                               double scale, struct tensor *tensor)
{
    const struct tensor from = *tensor;
    const size_t rank = right->shape[0], rows = from.shape[0], columns = from.rank > 1 ? from.shape[1] : 1;
    const double *a = load(adapter, left), *b = load(adapter, right);
    double *sums = arena_allocate(adapter->arena, columns, 2 * sizeof *sums, adapter->error);
    if (a == NULL || b == NULL || sums == NULL ||
        tensor_create(tensor, from.dtype, from.rank, from.shape, adapter->arena, adapter->error) != STATUS_OK)
        return adapter->error->status;
    for (size_t row = 0; row < rows; row++) {
        double *numbers = sums + columns;
        memset(sums, 0, columns * sizeof *sums);
        for (size_t k = 0; k < rank; k++)
            for (size_t column = 0; column < columns; column++)
                sums[column] += a[row * rank + k] * b[k * columns + column];
        tensor_load(&from, row * columns, columns, numbers);
        for (size_t column = 0; column < columns; column++) {
            numbers[column] += (float)(sums[column] * scale);
            numbers[column] = from.dtype == DTYPE_F64 ? numbers[column] : (float)numbers[column];
        }
        tensor_store(tensor, row * columns, columns, numbers);
    }
    return STATUS_OK;
}

static enum status check_shape(const struct adapter *adapter, const char *path, const char *what,
                               const struct tensor *got, const struct tensor *base)
{
    return tensor_same_shape(got, base)
               ? STATUS_OK
               : error_usage(adapter->error, "%s: %.200s: %s is %s, which does not fit the checkpoint's %s",
                             adapter->tensors.source, path, what, SHAPE_TEXT(got), SHAPE_TEXT(base));
}

enum status adapter_replace(const struct adapter *adapter, const char *name, struct tensor *tensor)
{
    struct tensor saved;
    const char *path = adapter != NULL ? take(adapter, name, CHANGE_REPLACES, &saved) : NULL;
    if (path == NULL)
        return STATUS_OK;
    if (adapter->error->status != STATUS_OK || check_shape(adapter, path, strrchr(name, '.') + 1, &saved, tensor))
        return adapter->error->status;
    *tensor = saved;
    return STATUS_OK;
}

enum { MISSING = 1, TWICE, UNSCALED, BY_ALPHA, OTHER_ROOT }; /* forms of layer-adapter */

enum status adapter_add(const struct adapter *adapter, const char *name, struct tensor *tensor)
{
    double one = 1, rank, alpha;
    struct tensor a, b;
    if (adapter == NULL || tensor->rank == 0 || !dtype_is_working(tensor->dtype))
        return STATUS_OK;
    const char *path = take(adapter, name, CHANGE_B, &b), *path_a = take(adapter, name, CHANGE_A, &a);
    const bool bias = path != NULL && text_ends_in(name, ".bias");
    path = path != NULL ? path : path_a;
    if (path == NULL || adapter->error->status != STATUS_OK || number_of(adapter, path, "rank_pattern", "r", &rank) ||
        number_of(adapter, path, "alpha_pattern", "lora_alpha", &alpha))
        return adapter->error->status;
    const size_t mistake = adapter->mistake;
    const bool root = cJSON_IsTrue(key_of(adapter, "use_rslora")) != (mistake == OTHER_ROOT);
    const double scale = mistake == UNSCALED ? 1 : mistake == BY_ALPHA ? alpha : alpha / (root ? sqrt(rank) : rank);
    if (!(rank >= 1) || !isfinite(scale))
        return error_usage(adapter->error, "%s: expected numbers r, from 1 on, and lora_alpha", adapter->config.path);
    if (bias) /* one column, of no A */
        a = (struct tensor){.rank = 2, .shape = {1, 1}, .dtype = DTYPE_F64, .data = &one};
    else if (a.rank != 2 || b.rank != 2 || b.shape[1] != a.shape[0])
        return error_usage(adapter->error, "%s: %.200s: expected lora_A.weight and lora_B.weight of the same rank",
                           adapter->tensors.source, path);
    else if ((double)a.shape[0] != rank)
        return error_usage(adapter->error, "%s: %.200s has rank %zu, but %s says %g", adapter->tensors.source, path,
                           a.shape[0], adapter->config.path, rank);
    const struct tensor product = {.rank = bias ? b.rank : 2, .shape = {b.shape[0], bias ? 1 : a.shape[1]}};
    if (check_shape(adapter, path, bias ? "lora_B.bias" : "lora_B . lora_A", &product, tensor) ||
        (mistake != MISSING && add_product(adapter, &b, &a, scale, tensor)) ||
        (mistake == TWICE && add_product(adapter, &b, &a, scale, tensor)))
        return adapter->error->status;
    return STATUS_OK;
}
