/* SPDX-License-Identifier: MIT */
#include "read/json.h"

#include "base/decimal.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/version.h"
#include "read/json_syntax.h"
#include "read/json_tree.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

const char *json_kind_name(const cJSON *item)
{
    if (cJSON_IsNull(item))
        return "null";
    if (cJSON_IsBool(item))
        return "a boolean";
    if (cJSON_IsNumber(item))
        return "a number";
    if (cJSON_IsString(item))
        return "a string";
    return cJSON_IsArray(item) ? "an array" : "an object";
}

enum status json_wrong(const struct json_reader *reader, const char *format, ...)
{
    char what[sizeof reader->error->message];
    TEXT_FORMAT(what, format);
    return error_usage(reader->error, "%s: %s: %s", reader->source, reader->key, what);
}

size_t json_count(const cJSON *item)
{
    size_t count = 0;
    for (const cJSON *child = item->child; child != NULL; child = child->next)
        count++;
    return count;
}

/* Reads a number that is not finite, as a result writes it: null, "NaN", "Infinity". False for anything else. */
static bool read_special(const cJSON *item, double *number)
{
    static const struct {
        const char *text;
        double number;
    } SPECIALS[] = {{"NaN", (double)NAN}, {"Infinity", (double)INFINITY}, {"-Infinity", -(double)INFINITY}};
    *number = -INFINITY;
    for (size_t i = 0; i < 3 && cJSON_IsString(item); i++)
        if (strcmp(item->valuestring, SPECIALS[i].text) == 0) {
            *number = SPECIALS[i].number;
            return true;
        }
    return cJSON_IsNull(item);
}

static enum status not_a_number(const struct json_reader *reader, const char *place, const cJSON *item)
{
    double number;
    if (cJSON_IsString(item) && read_special(item, &number))
        return json_wrong(reader, "%s: \"%s\" is not finite; expected a finite number", place, item->valuestring);
    return json_wrong(reader, "%s: expected a %s, got %s", place,
                      reader->boolean ? "boolean, as the first one is" : "number", json_kind_name(item));
}

static enum status read_number(const struct json_reader *reader, const cJSON *item, const struct tensor *tensor,
                               const size_t *index, double *number)
{
    char place[TENSOR_PLACE_BYTES];
    *number = reader->boolean ? cJSON_IsTrue(item) : item->valuedouble;
    if (reader->boolean ? cJSON_IsBool(item) : cJSON_IsNumber(item) && isfinite(*number))
        return STATUS_OK;
    if (!reader->boolean && reader->special && read_special(item, number))
        return STATUS_OK;
    tensor_place_text(tensor->rank, index, tensor->rank, place);
    if (reader->boolean || !cJSON_IsNumber(item))
        return not_a_number(reader, place, item);
    return json_wrong(reader, "%s: a number above 1.8e308 overflows; expected at most 3.4028235e+38 in magnitude",
                      place);
}

/* The first element at any depth; NULL where an array is empty. */
static const cJSON *first_element(const cJSON *item)
{
    while (cJSON_IsArray(item))
        item = item->child;
    return item;
}

/* Takes the shape from the first elements; read_array checks the others. */
static enum status measure(const struct json_reader *reader, const cJSON *item, size_t *rank, size_t *shape)
{
    *rank = 0;
    while (cJSON_IsArray(item)) {
        if (item->child == NULL)
            return error_usage(reader->error, "%s: %s is empty; expected numbers", reader->source, reader->key);
        if (*rank == TENSOR_RANK)
            return error_usage(reader->error, "%s: %s has more than four levels: item, head, row and column",
                               reader->source, reader->key);
        shape[(*rank)++] = json_count(item);
        item = item->child;
    }
    if (*rank == 0)
        return json_wrong(reader, "expected an array of numbers, got %s", json_kind_name(item));
    return STATUS_OK;
}

/* STATUS_USAGE: the array at index[0 .. depth), depth above 0, has another size than the first at that depth. */
static enum status ragged(const struct json_reader *reader, const cJSON *item, const struct tensor *tensor,
                          const size_t *index, size_t depth)
{
    char place[TENSOR_PLACE_BYTES], first[TENSOR_PLACE_BYTES];
    const size_t zeros[TENSOR_RANK] = {0};
    const size_t expected = tensor->shape[depth];
    const char *what = depth + 1 < tensor->rank ? "row" : "number";
    tensor_place_text(tensor->rank, index, depth, place);
    if (!cJSON_IsArray(item))
        return json_wrong(reader, "%s: expected an array of %zu %s%s, got %s", place, expected, what,
                          expected == 1 ? "" : "s", json_kind_name(item));
    size_t count = json_count(item);
    if (count == 0)
        return json_wrong(reader, "%s is empty; expected %zu %s%s", place, expected, what, expected == 1 ? "" : "s");
    tensor_place_text(tensor->rank, zeros, depth, first);
    return json_wrong(reader, "%s has %zu %s%s, expected %zu (as %s)", place, count, what, count == 1 ? "" : "s",
                      expected, first);
}

/* Reads the array at index[0 .. depth) into the tensor from *number on, and advances that. */
static enum status read_array(const struct json_reader *reader, const cJSON *array, const struct tensor *tensor,
                              size_t *index, size_t depth, double **number)
{
    const size_t expected = tensor->shape[depth];
    const bool innermost = depth + 1 == tensor->rank || depth + 1 == TENSOR_RANK;
    const cJSON *child = cJSON_IsArray(array) ? array->child : NULL;
    for (size_t i = 0; i < expected; i++, child = child->next) {
        if (child == NULL)
            return ragged(reader, array, tensor, index, depth);
        index[depth] = i;
        enum status status = innermost ? read_number(reader, child, tensor, index, (*number)++)
                                       : read_array(reader, child, tensor, index, depth + 1, number);
        if (status != STATUS_OK)
            return status;
    }
    return child == NULL ? STATUS_OK : ragged(reader, array, tensor, index, depth);
}

/* `kind` decides whether the tensor may be boolean, or have numbers that are not finite. */
static enum status read_tensor(struct json_reader *reader, const cJSON *item, unsigned kind, struct tensor *tensor)
{
    size_t rank, shape[TENSOR_RANK], index[TENSOR_RANK] = {0};
    if (reader->taken != NULL) {
        struct json_array *array = reader->taken;
        *tensor = (struct tensor){.rank = array->rank, .dtype = DTYPE_F64, .data = array->numbers};
        memcpy(tensor->shape, array->shape, sizeof tensor->shape);
        array->numbers = NULL;
        return arena_keep(reader->arena, tensor->data, 0, reader->error);
    }
    enum status status = measure(reader, item, &rank, shape);
    if (status == STATUS_OK)
        status = tensor_create(tensor, DTYPE_F64, rank, shape, reader->arena, reader->error);
    if (status != STATUS_OK)
        return status;
    const cJSON *first = first_element(item);
    reader->boolean = (kind & (INPUT_FILE_MASKING | INPUT_FILE_BUFFER)) != 0 && cJSON_IsBool(first);
    reader->special = (kind & (INPUT_FILE_MASKING | INPUT_FILE_BUFFER | INPUT_FILE_OPERAND | INPUT_FILE_CACHE |
                               INPUT_FILE_STAGE | INPUT_FILE_FOREIGN)) != 0;
    double *number = tensor->data;
    status = read_array(reader, item, tensor, index, 0, &number);
    return status == STATUS_OK && reader->boolean ? tensor_to_boolean(tensor, reader->arena, reader->error) : status;
}

/* `list_number` counts from 1; 0: a single list. */
static enum status read_token_list(const struct json_reader *reader, const cJSON *list, const char *name,
                                   size_t list_number, size_t expected, const char **tokens)
{
    char place[32] = "";
    const cJSON *item = list->child;
    if (list_number > 0)
        snprintf(place, sizeof place, "list %zu, ", list_number);
    for (size_t i = 0; i < expected; i++, item = item->next) {
        if (!cJSON_IsString(item))
            return error_usage(reader->error, "%s: %s: %stoken %zu: expected a string, got %s", reader->source, name,
                               place, i + 1, json_kind_name(item));
        tokens[i] = arena_copy(reader->arena, item->valuestring, reader->error);
        if (tokens[i] == NULL)
            return reader->error->status;
    }
    return STATUS_OK;
}

static enum status read_token_lists(const struct json_reader *reader, const cJSON *lists, const char *name,
                                    const struct token_labels *labels)
{
    const cJSON *list = lists->child;
    for (size_t i = 0; i < labels->lists; i++, list = list->next) {
        const size_t length = json_count(list);
        if (!cJSON_IsArray(list))
            return error_usage(reader->error, "%s: %s: list %zu: expected an array, got %s", reader->source, name,
                               i + 1, json_kind_name(list));
        if (length != labels->count)
            return error_usage(reader->error, "%s: %s: list %zu has %zu token%s, expected %zu (as list 1)",
                               reader->source, name, i + 1, length, length == 1 ? "" : "s", labels->count);
        enum status status = read_token_list(reader, list, name, i + 1, length, labels->texts + i * length);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

enum status json_read_tokens(const struct json_reader *reader, const cJSON *item, const char *name,
                             struct token_labels *labels)
{
    if (!cJSON_IsArray(item))
        return error_usage(reader->error, "%s: %s: expected an array of strings, got %s", reader->source, name,
                           json_kind_name(item));
    if (item->child == NULL)
        return error_usage(reader->error, "%s: %s is empty; expected a string for each row of inputs", reader->source,
                           name);
    labels->nested = cJSON_IsArray(item->child);
    labels->lists = labels->nested ? json_count(item) : 1;
    labels->count = json_count(labels->nested ? item->child : item);
    const size_t count = memory_product(labels->lists, labels->count);
    labels->texts = arena_allocate(reader->arena, count, sizeof labels->texts[0], reader->error);
    if (labels->texts == NULL)
        return reader->error->status;
    return labels->nested ? read_token_lists(reader, item, name, labels)
                          : read_token_list(reader, item, name, 0, count, labels->texts);
}

/* The value as text, as on the command line; the option checks it. */
static enum status setting_text(const struct json_reader *reader, const cJSON *item, struct setting *setting)
{
    char number[DECIMAL_BYTES];
    const char *text = number;
    if (cJSON_IsBool(item)) {
        setting->kind = SETTING_TRUTH;
        text = cJSON_IsTrue(item) ? "true" : "false";
    } else if (cJSON_IsNumber(item) && isfinite(item->valuedouble)) {
        setting->kind = fabs(item->valuedouble) < 0x1p53 ? SETTING_NUMBER : SETTING_INEXACT;
        if (setting->kind == SETTING_NUMBER && item->valuedouble == floor(item->valuedouble))
            snprintf(number, sizeof number, "%.0f", item->valuedouble);
        else
            decimal_from_double(item->valuedouble, number);
    } else if (cJSON_IsString(item)) {
        setting->kind = SETTING_TEXT;
        text = item->valuestring;
    } else {
        setting->kind = SETTING_OTHER;
        text = cJSON_IsNumber(item) ? "a number above 1.8e308" : json_kind_name(item);
    }
    setting->words = NULL;
    setting->name = arena_copy(reader->arena, item->string, reader->error);
    setting->text = arena_copy(reader->arena, text, reader->error);
    return setting->name == NULL || setting->text == NULL ? reader->error->status : STATUS_OK;
}

enum status json_check_repeated(const struct json_reader *reader, const cJSON *object, const char *where)
{
    size_t count = json_count(object), i = 0;
    const char **keys = arena_allocate(reader->scratch, count, sizeof keys[0], reader->error);
    if (keys == NULL)
        return reader->error->status;
    for (const cJSON *item = object->child; item != NULL; item = item->next)
        keys[i++] = item->string;
    return input_file_check_repeated(reader->source, where, keys, count, reader->error);
}

enum status json_read_settings(const struct json_reader *reader, const cJSON *object, const char *name,
                               struct setting **settings, size_t *count)
{
    char where[16];
    if (!cJSON_IsObject(object))
        return error_usage(reader->error, "%s: %s: expected an object, got %s", reader->source, name,
                           json_kind_name(object));
    snprintf(where, sizeof where, "%s: ", name);
    if (json_check_repeated(reader, object, where) != STATUS_OK)
        return reader->error->status;
    *settings = arena_allocate(reader->arena, json_count(object), sizeof **settings, reader->error);
    if (*settings == NULL)
        return reader->error->status;
    for (const cJSON *item = object->child; item != NULL; item = item->next)
        if (setting_text(reader, item, &(*settings)[(*count)++]) != STATUS_OK)
            return reader->error->status;
    return STATUS_OK;
}

/* Whether it is meant as a tensor: its first element is a number, a text or null for one, or a boolean in a mask. */
static bool is_tensor(const cJSON *item, unsigned kind)
{
    const cJSON *first = first_element(item);
    double number;
    return cJSON_IsArray(item) && first != NULL &&
           (cJSON_IsNumber(first) || read_special(first, &number) ||
            ((kind & INPUT_FILE_MASKING) != 0 && cJSON_IsBool(first)));
}

/* Where attn reads foreign names, "tokens" of numbers and "settings" of another type are another program's. */
static unsigned kind_of(const cJSON *item, unsigned kinds)
{
    const unsigned kind = input_file_kind_among(item->string, kinds);
    const bool other = (kind == INPUT_FILE_TOKENS && !cJSON_IsString(first_element(item))) ||
                       (kind == INPUT_FILE_SETTINGS && !cJSON_IsObject(item));
    return other && (kinds & INPUT_FILE_FOREIGN) != 0 ? INPUT_FILE_FOREIGN : kind;
}

static enum status add_tensor(struct json_reader *reader, const cJSON *item, unsigned kind, struct input_file *input)
{
    struct file_tensor *named = &input->tensors[input->tensor_count++];
    *named = (struct file_tensor){0};
    named->name = arena_copy(reader->arena, item->string, reader->error);
    if (named->name == NULL)
        return reader->error->status;
    reader->key = named->name;
    return kind == INPUT_FILE_FOREIGN && !reader->sole ? STATUS_OK : read_tensor(reader, item, kind, &named->tensor);
}

/* Notes what a result says about itself, in strings, and passes over "reordered": true; where attn reads foreign names,
 * other types are another program's. */
static enum status note_origin(const struct json_reader *reader, const cJSON *item, unsigned kind, unsigned kinds,
                               struct input_file *input)
{
    const bool foreign = (kinds & INPUT_FILE_FOREIGN) != 0;
    if ((foreign && !cJSON_IsString(item)) || text_has_word("comment format reordered", item->string) ||
        (foreign ? input_file_kind(item->string) : kind) != INPUT_FILE_IGNORED)
        return STATUS_OK;
    if (!cJSON_IsString(item))
        return error_usage(reader->error, "%s: %s: expected a string, as a result has it, got %s", reader->source,
                           item->string, json_kind_name(item));
    return input_file_note(input, item->string, item->valuestring, reader->arena, reader->error);
}

enum status json_read_vocabulary(struct json_reader *reader, const cJSON *object, bool tensors,
                                 struct input_file *input)
{
    static const char *const NAMES[] = {"words", "embedding", "position_embedding"};
    char hint[64];
    if (!cJSON_IsObject(object))
        return error_usage(reader->error, "%s: vocabulary: expected an object with words and embedding, got %s",
                           reader->source, json_kind_name(object));
    if (json_check_repeated(reader, object, "vocabulary: ") != STATUS_OK)
        return reader->error->status;
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        const bool tensor = strcmp(item->string, NAMES[1]) == 0 || strcmp(item->string, NAMES[2]) == 0;
        if (strcmp(item->string, NAMES[0]) == 0 ? json_read_tokens(reader, item, "vocabulary: words", &input->words)
            : tensor && tensors
                ? add_tensor(reader, item, INPUT_FILE_WORDS, input)
                : error_usage(reader->error, "%s: vocabulary: unknown key '%.80s'%s", reader->source, item->string,
                              suggest_hint(hint, sizeof hint, "", item->string, NAMES, 3)))
            return reader->error->status;
    }
    return STATUS_OK;
}

static enum status read_comment(const struct json_reader *reader, const cJSON *item, struct input_file *input)
{
    enum { SHOWN_BYTES = 1000 }; /* a page has no room for more, and a file of one long string is not held twice */
    if (strnlen(item->valuestring, SHOWN_BYTES) == SHOWN_BYTES)
        return STATUS_OK;
    input->comment = arena_copy(reader->arena, item->valuestring, reader->error);
    return input->comment == NULL ? reader->error->status : STATUS_OK;
}

static enum status read_member(struct json_reader *reader, const cJSON *item, unsigned kinds, struct input_file *input)
{
    const unsigned kind = kind_of(item, kinds);
    if ((kinds & INPUT_FILE_OPTIONS) != 0 && strcmp(item->string, "options") == 0)
        return json_read_settings(reader, item, item->string, &input->options, &input->option_count);
    if (kind == INPUT_FILE_UNKNOWN)
        return input_file_unknown(reader->source, item->string, reader->error);
    if (note_origin(reader, item, kind, kinds, input) != STATUS_OK)
        return reader->error->status;
    if (kind == INPUT_FILE_IGNORED && strcmp(item->string, "comment") == 0 && cJSON_IsString(item))
        return read_comment(reader, item, input);
    if ((kind & kinds) == 0)
        return input_file_pass(input, item->string, reader->arena, reader->error);
    /* "past_key": [[[]]] is a past of no tokens. */
    if (input_file_is_past(item->string) && cJSON_IsArray(item) && first_element(item) == NULL) {
        input->empty_past = true;
        return STATUS_OK;
    }
    if (kind == INPUT_FILE_TOKENS)
        return json_read_tokens(reader, item, item->string, input_file_labels(input, item->string));
    if (kind == INPUT_FILE_SETTINGS)
        return json_read_settings(reader, item, item->string, &input->settings, &input->setting_count);
    if (kind == INPUT_FILE_WORDS && strcmp(item->string, "vocabulary") == 0)
        return json_read_vocabulary(reader, item, true, input);
    if (kind == INPUT_FILE_WORDS && strcmp(item->string, "text") == 0) {
        if (!cJSON_IsString(item))
            return error_usage(reader->error, "%s: text: expected a string of words, got %s", reader->source,
                               json_kind_name(item));
        input->text = arena_copy(reader->arena, item->valuestring, reader->error);
        return input->text == NULL ? reader->error->status : STATUS_OK;
    }
    return kind & INPUT_FILE_FOREIGN && !is_tensor(item, kind) ? STATUS_OK : add_tensor(reader, item, kind, input);
}

/* "queries", the positions of a result's rows, is no tensor. */
static bool is_positions(const cJSON *item, const cJSON *root)
{
    return strcmp(item->string, "queries") == 0 && cJSON_IsString(cJSON_GetObjectItemCaseSensitive(root, "attn"));
}

/* Older results have no format. */
static enum status check_format(const struct json_reader *reader, const cJSON *root)
{
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(root, "format");
    if (!cJSON_IsNumber(format) || format->valuedouble <= ATTN_FORMAT ||
        !cJSON_IsString(cJSON_GetObjectItemCaseSensitive(root, "attn")))
        return STATUS_OK;
    return error_usage(reader->error,
                       "%s: a result of format %g, and attn " ATTN_VERSION
                       " reads formats up to %d; read it with the attn that wrote it",
                       reader->source, format->valuedouble, ATTN_FORMAT);
}

static bool has_one_tensor(const cJSON *root, unsigned kinds)
{
    size_t count = 0;
    for (const cJSON *item = root->child; item != NULL; item = item->next) {
        const unsigned kind = kind_of(item, kinds);
        count +=
            !is_positions(item, root) && (kind & (INPUT_FILE_STAGE | INPUT_FILE_FOREIGN)) != 0 && is_tensor(item, kind);
    }
    return count == 1;
}

static enum status read_tree(struct json_reader *reader, const cJSON *root, unsigned kinds, struct input_file *input)
{
    size_t member = 0, next = 0; /* of root, and of the arrays that are not in the tree */
    if (!cJSON_IsObject(root))
        return error_usage(reader->error, "%s: expected an object, got %s", reader->source, json_kind_name(root));
    if (json_check_repeated(reader, root, "") != STATUS_OK || check_format(reader, root) != STATUS_OK)
        return reader->error->status;
    input->passed = arena_allocate(reader->arena, json_count(root), sizeof input->passed[0], reader->error);
    input->tensors = arena_allocate(reader->arena, json_count(root) + 2, sizeof input->tensors[0], reader->error);
    if (input->passed == NULL || input->tensors == NULL)
        return reader->error->status;
    reader->sole = has_one_tensor(root, kinds);
    for (const cJSON *item = root->child; item != NULL; item = item->next, member++) {
        const bool taken = next < reader->arrays->count && reader->arrays->found[next].member == member;
        reader->taken = taken ? &reader->arrays->found[next++] : NULL;
        enum status status = is_positions(item, root) ? STATUS_OK : read_member(reader, item, kinds, input);
        if (status != STATUS_OK)
            return status;
    }
    input_file_sort(input);
    return STATUS_OK;
}

cJSON *json_parse(const struct json_reader *reader, const char *source, char *text, size_t length)
{
    if (json_syntax(source, text, length, reader->arrays, reader->error) != STATUS_OK)
        return NULL;
    if (reader->arrays != NULL)
        length = json_arrays_cut(reader->arrays, text, length);
    /* cJSON notes the place of an error, which attn does not read, for all threads in one variable. */
    static pthread_mutex_t parsing = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&parsing);
    cJSON *root = cJSON_ParseWithLengthOpts(text, length, NULL, 0);
    pthread_mutex_unlock(&parsing);
    if (root == NULL) /* the grammar is right, so memory is short */
        error_system(reader->error, 0, "%s: not enough memory to read it", reader->source);
    return root;
}

enum status json_read(const char *source, char *text, size_t length, unsigned kinds, struct arena *arena,
                      struct input_file *input, struct error *error)
{
    struct arena scratch = {0};
    struct json_arrays arrays = {0};
    struct json_reader reader = {
        .source = source, .arena = arena, .scratch = &scratch, .error = error, .arrays = &arrays};
    *input = (struct input_file){.source = source, .is_text = true};
    cJSON *root = json_parse(&reader, source, text, length);
    enum status status = root != NULL ? read_tree(&reader, root, kinds, input) : error->status;
    cJSON_Delete(root);
    json_arrays_free(&arrays);
    arena_free(&scratch);
    return status;
}
