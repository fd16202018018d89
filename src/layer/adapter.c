/* SPDX-License-Identifier: MIT */
#include "layer/adapter.h"

#include "base/text.h"
#include "read/json_tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_BYTES = 1024 };

static const char BASE_MODEL[] = "base_model.model.";

/* The ends of an adapter's names, and of the checkpoint's tensor that it changes. */
static const struct {
    const char *end, *of_base;
} ENDS[] = {
    {".lora_A.weight", ".weight"},    {".lora_B.weight", ".weight"},    {".lora_B.bias", ".bias"},
    {".lora_embedding_A", ".weight"}, {".lora_embedding_B", ".weight"}, {".base_layer.weight", ".weight"},
    {".base_layer.bias", ".bias"},    {".weight", ".weight"},           {".bias", ".bias"},
};

/* --- the config -------------------------------------------------------------------------------------------------- */

/* Keys that change nothing, or that the rest of this file reads. */
static const char KNOWN[] =
    " alpha_pattern auto_mapping base_model_name_or_path bias corda_config ensure_weight_tying eva_config "
    "exclude_modules fan_in_fan_out inference_mode init_lora_weights layers_pattern layers_to_transform loftq_config "
    "lora_alpha lora_bias lora_dropout lora_ga_config megatron_config megatron_core modules_to_save peft_type "
    "peft_version qalora_group_size r rank_pattern revision runtime_config target_modules task_type use_rslora ";

/* Ways to draw A and B that leave the checkpoint's weights as they are. */
static const char INITIAL[] = " gaussian eva orthogonal ";

static bool is_among(const char *words, const char *word)
{
    char wanted[128];
    const int length = snprintf(wanted, sizeof wanted, " %s ", word);
    return length > 0 && (size_t)length < sizeof wanted && strchr(word, ' ') == NULL && strstr(words, wanted) != NULL;
}

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

/* A pattern of PEFT is a regular expression; attn reads those that are names. */
static enum status check_patterns(const struct adapter *adapter, const char *key)
{
    const cJSON *pattern = key_of(adapter, key);
    if (!is_off(pattern) && !cJSON_IsObject(pattern))
        return error_usage(adapter->error, "%s: %s is %s; expected an object", adapter->config.path, key,
                           json_kind_name(pattern));
    for (const cJSON *item = is_off(pattern) ? NULL : pattern->child; item != NULL; item = item->next)
        if (strpbrk(item->string, "^$*+?()[]{}|\\") != NULL || !cJSON_IsNumber(item))
            return error_usage(adapter->error, "%s: %s: '%.80s': expected the name of a module and a number",
                               adapter->config.path, key, item->string);
    return STATUS_OK;
}

static enum status check_config(const struct adapter *adapter)
{
    const cJSON *type = key_of(adapter, "peft_type"), *initial = key_of(adapter, "init_lora_weights");
    const char *path = adapter->config.path;
    if (!cJSON_IsString(type) || strcmp(type->valuestring, "LORA") != 0)
        return error_usage(adapter->error, "%s: peft_type is %.40s; attn applies LORA alone", path,
                           cJSON_IsString(type) ? type->valuestring : "missing");
    if (!is_off(initial) && !cJSON_IsTrue(initial) &&
        !(cJSON_IsString(initial) && is_among(INITIAL, initial->valuestring)))
        return error_usage(adapter->error,
                           "%s: init_lora_weights %.40s changes the weights of the checkpoint, too; save the adapter "
                           "with path_initial_model_for_weight_conversion",
                           path, cJSON_IsString(initial) ? initial->valuestring : json_kind_name(initial));
    for (const cJSON *item = adapter->config.root->child; item != NULL; item = item->next)
        if (!is_off(item) && !is_among(KNOWN, item->string))
            return error_usage(adapter->error, "%s: attn does not apply %.60s; merge the adapter into the model first",
                               path, item->string);
    return check_patterns(adapter, "rank_pattern") || check_patterns(adapter, "alpha_pattern") ? adapter->error->status
                                                                                               : STATUS_OK;
}

/* The number of a module: that of the first pattern that is its path, or the end of it; else that of the key. */
static double number_of(const struct adapter *adapter, const char *module, const char *patterns, const char *key)
{
    const cJSON *pattern = key_of(adapter, patterns), *number = key_of(adapter, key);
    for (const cJSON *item = is_off(pattern) ? NULL : pattern->child; item != NULL; item = item->next) {
        const size_t length = strlen(module), own = strlen(item->string);
        if (own > 0 && own <= length && strcmp(module + length - own, item->string) == 0 &&
            (own == length || module[length - own - 1] == '.')) {
            number = item;
            break;
        }
    }
    return cJSON_IsNumber(number) ? number->valuedouble : NAN;
}

/* --- names ------------------------------------------------------------------------------------------------------- */

/* "PATH" of a name, into path (NAME_BYTES), and the end of the checkpoint's name; NULL: it is none of an adapter. */
static const char *split_name(const char *name, char *path)
{
    const size_t begin = sizeof BASE_MODEL - 1, length = strlen(name);
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++)
        if (strncmp(name, BASE_MODEL, begin) == 0 && text_ends_in(name, ENDS[i].end) &&
            length > begin + strlen(ENDS[i].end) && length < NAME_BYTES) {
            snprintf(path, NAME_BYTES, "%.*s", (int)(length - begin - strlen(ENDS[i].end)), name + begin);
            return ENDS[i].of_base;
        }
    return NULL;
}

static bool has_base(const struct checkpoint *base, const char *head, const char *rest, const char *end)
{
    char name[2 * NAME_BYTES];
    const int length = snprintf(name, sizeof name, "%s%s%s", head, rest, end);
    return length > 0 && (size_t)length < sizeof name && checkpoint_has(base, name);
}

/* Finds by one module how the names of all begin here and in the checkpoint: "transformer.h.0" may be "h.0" there, or
 * the other way round. Sets none where several would do. */
static enum status find_heads(struct adapter *adapter, const char *path, const struct checkpoint *base)
{
    char end[NAME_BYTES + 16];
    for (const char *rest = path; rest != NULL; rest = strchr(rest, '.') != NULL ? strchr(rest, '.') + 1 : NULL)
        if (has_base(base, "", rest, ".weight")) {
            adapter->head = arena_text(adapter->arena, path, (size_t)(rest - path), adapter->error);
            adapter->base_head = "";
            return adapter->error->status;
        }
    snprintf(end, sizeof end, ".%s.weight", path);
    const char *found = NULL;
    for (size_t i = 0; i < base->count; i++)
        if (text_ends_in(base->names[i].text, end)) {
            if (found != NULL)
                return STATUS_OK;
            found = base->names[i].text;
        }
    if (found == NULL)
        return STATUS_OK;
    adapter->head = "";
    adapter->base_head = arena_text(adapter->arena, found, strlen(found) - strlen(end) + 1, adapter->error);
    return adapter->error->status;
}

/* Checks that each tensor changes one of the checkpoint. */
static enum status check_names(struct adapter *adapter, const struct checkpoint *base)
{
    enum { SEARCHED = 64 }; /* modules that are tried: each may look at all names */
    const struct checkpoint *own = &adapter->tensors;
    char path[NAME_BYTES];
    for (size_t i = 0, tried = 0; i < own->count && adapter->head == NULL && tried < SEARCHED; i++)
        if (text_ends_in(own->names[i].text, ".lora_A.weight") && split_name(own->names[i].text, path) != NULL) {
            if (find_heads(adapter, path, base) != STATUS_OK)
                return adapter->error->status;
            tried++;
        }
    for (size_t i = 0; i < own->count; i++) {
        const char *end = split_name(own->names[i].text, path);
        const size_t head = adapter->head != NULL ? strlen(adapter->head) : 0;
        if (strstr(own->names[i].text, ".lora_magnitude_vector") != NULL)
            return error_usage(adapter->error,
                               "%s: %.200s: attn does not apply DoRA; merge the adapter into the model "
                               "first",
                               own->source, own->names[i].text);
        if (end == NULL || adapter->head == NULL || strncmp(path, adapter->head, head) != 0 ||
            !has_base(base, adapter->base_head, path + head, end))
            return error_usage(adapter->error, "%s: %.200s changes no tensor of %s; expected an adapter of this model",
                               own->source, own->names[i].text, base->source);
    }
    return own->count > 0 ? STATUS_OK : error_usage(adapter->error, "%s: holds no tensor", own->source);
}

enum status adapter_open(struct adapter *adapter, const char *folder, const struct checkpoint *base,
                         struct arena *arena, struct error *error)
{
    static const char *const FILES[] = {"adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"};
    char *paths[3], path[4096];
    struct stat there;
    *adapter = (struct adapter){.folder = folder, .arena = arena, .error = error};
    for (size_t i = 0; i < 3; i++) {
        const int length = snprintf(path, sizeof path, "%s/%s", folder, FILES[i]);
        if (length < 0 || (size_t)length >= sizeof path)
            return error_usage(error, "--adapter: the path is too long");
        if ((paths[i] = arena_copy(arena, path, error)) == NULL)
            return error->status;
    }
    if (config_read(paths[0], &adapter->config, error) || check_config(adapter) ||
        checkpoint_open(paths[stat(paths[1], &there) == 0 ? 1 : 2], arena, &adapter->tensors, error))
        return error->status;
    return check_names(adapter, base);
}

void adapter_close(struct adapter *adapter)
{
    config_free(&adapter->config);
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* Takes the tensor of a module; rank 0 where there is none. */
static enum status take(const struct adapter *adapter, const char *module, const char *end, struct tensor *tensor)
{
    char name[3 * NAME_BYTES];
    *tensor = (struct tensor){.rank = 0};
    snprintf(name, sizeof name, "%s%s%s", BASE_MODEL, module, end);
    return checkpoint_has(&adapter->tensors, name) ? checkpoint_take(&adapter->tensors, name, tensor, adapter->error)
                                                   : STATUS_OK;
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

static enum status refuse_shape(const struct adapter *adapter, const char *module, const char *what,
                                const struct tensor *got, const struct tensor *base)
{
    return error_usage(adapter->error, "%s: %.200s: %s is %s, which does not fit the checkpoint's %s",
                       adapter->tensors.source, module, what, SHAPE_TEXT(got), SHAPE_TEXT(base));
}

static enum status add_weight(const struct adapter *adapter, const char *module, double scale, double rank,
                              struct tensor *tensor)
{
    struct tensor a, b;
    if (take(adapter, module, ".lora_A.weight", &a) || take(adapter, module, ".lora_B.weight", &b))
        return adapter->error->status;
    if (a.rank == 0 && b.rank == 0)
        return STATUS_OK;
    if (a.rank != 2 || b.rank != 2 || b.shape[1] != a.shape[0])
        return error_usage(adapter->error, "%s: %.200s: expected lora_A.weight and lora_B.weight of the same rank",
                           adapter->tensors.source, module);
    if ((double)a.shape[0] != rank)
        return error_usage(adapter->error, "%s: %.200s has rank %zu, but %s says %g", adapter->tensors.source, module,
                           a.shape[0], adapter->config.path, rank);
    const struct tensor product = {.rank = 2, .shape = {b.shape[0], a.shape[1]}};
    if (tensor->rank != 2 || tensor->shape[0] != b.shape[0] || tensor->shape[1] != a.shape[1])
        return refuse_shape(adapter, module, "lora_B . lora_A", &product, tensor);
    return add_product(adapter, &b, &a, scale, tensor);
}

static enum status add_bias(const struct adapter *adapter, const char *module, double scale, struct tensor *tensor)
{
    double one = 1;
    const struct tensor unit = {.rank = 2, .shape = {1, 1}, .dtype = DTYPE_F64, .data = &one};
    struct tensor bias;
    if (take(adapter, module, ".lora_B.bias", &bias) != STATUS_OK)
        return adapter->error->status;
    if (bias.rank == 0)
        return STATUS_OK;
    if (bias.rank != 1 || tensor->rank != 1 || bias.shape[0] != tensor->shape[0])
        return refuse_shape(adapter, module, "lora_B.bias", &bias, tensor);
    return add_product(adapter, &bias, &unit, scale, tensor);
}

/* The path of the adapter's module that has a tensor of the checkpoint, into module (2 * NAME_BYTES); returns the end
 * of its name, or NULL: the adapter cannot have it. */
static const char *module_of(const struct adapter *adapter, const char *name, char *module)
{
    const size_t head = strlen(adapter->base_head), length = strlen(name);
    const char *end = text_ends_in(name, ".weight") ? ".weight" : ".bias";
    if (length >= NAME_BYTES || strncmp(name, adapter->base_head, head) != 0 || !text_ends_in(name, end))
        return NULL;
    snprintf(module, 2 * (size_t)NAME_BYTES, "%s%.*s", adapter->head, (int)(length - head - strlen(end)), name + head);
    return end;
}

enum status adapter_replace(const struct adapter *adapter, const char *name, struct tensor *tensor)
{
    char module[2 * NAME_BYTES], inner[32];
    const char *end = module_of(adapter, name, module);
    struct tensor saved;
    if (end == NULL)
        return STATUS_OK;
    snprintf(inner, sizeof inner, ".base_layer%s", end);
    if (take(adapter, module, end, &saved) || (saved.rank == 0 && take(adapter, module, inner, &saved) != STATUS_OK))
        return adapter->error->status;
    if (saved.rank == 0)
        return STATUS_OK;
    if (saved.rank != tensor->rank || memcmp(saved.shape, tensor->shape, saved.rank * sizeof saved.shape[0]) != 0)
        return refuse_shape(adapter, module, end + 1, &saved, tensor);
    *tensor = saved;
    return STATUS_OK;
}

enum status adapter_add(const struct adapter *adapter, const char *name, struct tensor *tensor)
{
    char module[2 * NAME_BYTES];
    const char *end = module_of(adapter, name, module);
    if (end == NULL || !dtype_is_working(tensor->dtype))
        return STATUS_OK;
    const double rank = number_of(adapter, module, "rank_pattern", "r"),
                 alpha = number_of(adapter, module, "alpha_pattern", "lora_alpha");
    const double scale = alpha / (cJSON_IsTrue(key_of(adapter, "use_rslora")) ? sqrt(rank) : rank);
    if (!(rank >= 1) || !isfinite(scale))
        return error_usage(adapter->error, "%s: expected numbers r, from 1 on, and lora_alpha", adapter->config.path);
    return strcmp(end, ".weight") == 0 ? add_weight(adapter, module, scale, rank, tensor)
                                       : add_bias(adapter, module, scale, tensor);
}
