/* SPDX-License-Identifier: MIT */
/* .pt, PyTorch's file of a state_dict.
 *
 * torch.save has written it so since PyTorch 1.6 (torch/serialization.py, caffe2/serialize/inline_container.h): a zip
 * archive of stored entries in one folder. data.pkl is the pickle of the object, in which a tensor is a view of a
 * storage: its first number, sizes and strides; data/KEY are the bytes of a storage, which tensors may share; byteorder
 * says which byte comes first, the least significant one where it is missing. attn ignores other entries.
 *
 * attn reads a file with tensors in one place: a dict of names and tensors at any depth, or one tensor, which becomes
 * "inputs". It skips other numbers, strings and containers, but not tensors. A checkpoint of a training run may also
 * have the state of its optimizer: attn takes the model, and the settings that are saved with it. */
#include "base/decimal.h"
#include "read/archive.h"
#include "read/pickle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of copies beyond the size of the file: a view may repeat a number. */
static const size_t MOST_REPEATED = (size_t)64 << 20;

/* The arguments of _rebuild_tensor_v2, and of _v3, which has a dtype before the metadata. */
enum { ARGUMENT_STORAGE, ARGUMENT_OFFSET, ARGUMENT_SIZES, ARGUMENT_STRIDES, ARGUMENT_DTYPE = 6 };

enum {
    MOST_AXES = 64,        /* of a tensor; many tensors may share a longer tuple */
    LONGEST_TYPE = 64,     /* name of a storage or a dtype */
    LONGEST_ENTRY = 65535, /* name of an entry in a zip archive */
};

/* The parts of a persistent id. */
enum { STORAGE_WORD, STORAGE_TYPE, STORAGE_KEY, STORAGE_PLACE, STORAGE_NUMBERS, STORAGE_PARTS };

struct reading {
    const struct zip *zip;
    struct named_tensors tensors;
    struct pickle pickle;
    bool big_endian;
    size_t copied; /* bytes of tensors that do not stay in the file */
    char *path;    /* of the last entry searched; NULL before the first */
    struct arena scratch;
};

/* A tensor in the pickle. */
struct view {
    const struct zip_entry *storage;
    size_t numbers;        /* of the storage; bytes where it has no type */
    bool untyped;          /* the storage has no type */
    size_t offset, beyond; /* the first number, and the end after the last; 0 for an empty tensor */
};

/* --- entries ----------------------------------------------------------------------------------------------------- */

/* The length of the archive's folder name, without the slash. */
static size_t folder_length(const struct zip *zip)
{
    return zip->first != NULL ? strcspn(zip->first, "/") : 0;
}

bool pt_is(const struct zip *zip)
{
    const size_t folder = folder_length(zip);
    for (size_t i = 0; i < zip->count; i++)
        if (strncmp(zip->entries[i].name, zip->first, folder) == 0 &&
            strcmp(zip->entries[i].name + folder, "/data.pkl") == 0)
            return true;
    return false;
}

/* FOLDER/PREFIXname; NULL where there is none. STATUS_SYSTEM where memory is short. */
static enum status find_entry(struct reading *reading, const char *prefix, const struct pickle_text *name,
                              const struct zip_entry **entry)
{
    const struct zip *zip = reading->zip;
    const size_t folder = folder_length(zip), before = folder + 1 + strlen(prefix);
    *entry = NULL;
    if (before + name->length > LONGEST_ENTRY)
        return STATUS_OK;
    if (reading->path == NULL)
        reading->path = arena_allocate(&reading->scratch, LONGEST_ENTRY + 1, 1, reading->tensors.error);
    char *path = reading->path;
    if (path == NULL)
        return STATUS_SYSTEM;
    memcpy(path, zip->first, folder);
    path[folder] = '/';
    memcpy(path + folder + 1, prefix, before - folder - 1);
    memcpy(path + before, name->bytes, name->length);
    path[before + name->length] = '\0';
    *entry = strlen(path) == before + name->length ? text_find(path, zip->entries, zip->count, sizeof zip->entries[0])
                                                   : NULL;
    return STATUS_OK;
}

static enum status read_byte_order(struct reading *reading)
{
    static const struct pickle_text NAME = {"byteorder", 9};
    const struct zip_entry *entry;
    char order[8] = "";
    if (find_entry(reading, "", &NAME, &entry) != STATUS_OK)
        return STATUS_SYSTEM;
    if (entry == NULL)
        return STATUS_OK;
    memcpy(order, entry->bytes, memory_smaller(entry->length, sizeof order - 1));
    reading->big_endian = strcmp(order, "big") == 0;
    if (reading->big_endian || strcmp(order, "little") == 0)
        return STATUS_OK;
    return error_usage(reading->tensors.error, "%s: byteorder is '%s'; expected little or big", reading->zip->source,
                       order);
}

/* Checks and parses a copy, since another program may change the file meanwhile. */
static enum status read_pickle(struct reading *reading)
{
    static const struct pickle_text NAME = {"data.pkl", 8};
    struct error *error = reading->tensors.error;
    const struct zip_entry *entry;
    if (find_entry(reading, "", &NAME, &entry) != STATUS_OK)
        return STATUS_SYSTEM;
    if (entry == NULL)
        return error_usage(error, "%s: the zip archive has no data.pkl", reading->zip->source);
    const char *copy = arena_text(&reading->scratch, (const char *)entry->bytes, entry->length, error);
    const unsigned char *bytes = (const unsigned char *)copy;
    if (copy == NULL || zip_check(reading->zip, entry, bytes, error) != STATUS_OK)
        return error->status;
    return pickle_read(reading->zip->source, bytes, entry->length, &reading->scratch, &reading->pickle, error);
}

/* --- one tensor -------------------------------------------------------------------------------------------------- */

static enum status wrong(const struct reading *reading, const struct named_tensor *tensor, const char *what)
{
    return error_usage(reading->tensors.error, "%s: %s: %s", reading->zip->source, tensor->name, what);
}

static bool take_size(const struct pickle_value *value, size_t *size)
{
    if (value->kind != PICKLE_WHOLE || value->whole < 0 || (uint64_t)value->whole > SIZE_MAX / 2)
        return false;
    *size = (size_t)value->whole;
    return true;
}

/* ('storage', torch.FloatStorage, '0', 'cpu', 18) */
static enum status take_storage(struct reading *reading, const struct pickle_value *storage,
                                struct named_tensor *tensor, struct view *view)
{
    struct error *error = reading->tensors.error;
    const struct pickle_value *const *parts = storage->kind == PICKLE_STORAGE ? storage->tuple->items.items : NULL;
    if (parts == NULL || storage->tuple->items.count != STORAGE_PARTS || !pickle_is(parts[STORAGE_WORD], "storage") ||
        parts[STORAGE_TYPE]->kind != PICKLE_NAME || parts[STORAGE_KEY]->kind != PICKLE_TEXT ||
        !take_size(parts[STORAGE_NUMBERS], &view->numbers))
        return wrong(reading, tensor, "a storage that torch.save does not write");
    const struct pickle_text *type = &parts[STORAGE_TYPE]->text, *key = &parts[STORAGE_KEY]->text;
    if (type->length > LONGEST_TYPE)
        return wrong(reading, tensor, "a storage that torch.save does not write");
    view->untyped = pickle_is(parts[STORAGE_TYPE], "UntypedStorage");
    tensor->dtype = arena_text(&reading->scratch, type->bytes, type->length, error);
    if (tensor->dtype == NULL || find_entry(reading, "data/", key, &view->storage) != STATUS_OK)
        return STATUS_SYSTEM;
    if (view->storage == NULL)
        return error_usage(error, "%s: %s: the zip archive has no data/%.*s", reading->zip->source, tensor->name,
                           (int)memory_smaller(key->length, 40), key->bytes);
    return STATUS_OK;
}

/* Reads start, end, shape and strides of its numbers; keeps only the first TENSOR_RANK axes. */
static enum status take_axes(const struct reading *reading, const struct pickle_value *const *arguments,
                             struct named_tensor *tensor, struct view *view)
{
    const struct pickle_value *sizes = arguments[ARGUMENT_SIZES], *strides = arguments[ARGUMENT_STRIDES];
    struct tensor_bytes *bytes = &tensor->bytes;
    size_t last = 0;
    bool fits = true;
    if (sizes->kind != PICKLE_TUPLE || strides->kind != PICKLE_TUPLE || sizes->items.count != strides->items.count ||
        sizes->items.count > MOST_AXES || !take_size(arguments[ARGUMENT_OFFSET], &view->offset))
        return wrong(reading, tensor, "a view that torch.save does not write");
    tensor->count = 1;
    bytes->strided = true;
    bytes->rank = sizes->items.count;
    for (size_t axis = 0; axis < bytes->rank; axis++) {
        size_t size, stride;
        if (!take_size(sizes->items.items[axis], &size) || !take_size(strides->items.items[axis], &stride))
            return wrong(reading, tensor, "a size or a stride is no whole number from 0 on");
        tensor->count = memory_product(tensor->count, size);
        if (tensor->count == SIZE_MAX)
            return wrong(reading, tensor, "its shape is larger than any memory");
        const size_t reach = size > 0 ? memory_product(size - 1, stride) : 0;
        fits = fits && reach <= SIZE_MAX / 2 - last;
        last += fits ? reach : 0;
        if (axis < TENSOR_RANK) {
            bytes->shape[axis] = size;
            bytes->strides[axis] = stride;
        }
    }
    view->beyond = tensor->count == 0 ? 0 : fits ? view->offset + last + 1 : SIZE_MAX;
    return STATUS_OK;
}

static enum status take_tensor(struct reading *reading, const struct pickle_value *value, struct named_tensor *tensor,
                               struct view *view)
{
    const struct pickle_items *given = &value->tuple->items;
    const struct pickle_value *const *arguments = given->items;
    const bool has_dtype = given->count > ARGUMENT_DTYPE && arguments[ARGUMENT_DTYPE]->kind == PICKLE_NAME;
    const struct pickle_value *metadata =
        given->count > ARGUMENT_DTYPE + (size_t)has_dtype ? arguments[ARGUMENT_DTYPE + has_dtype] : NULL;
    const enum status status = take_storage(reading, arguments[ARGUMENT_STORAGE], tensor, view);
    if (status != STATUS_OK)
        return status;
    if (metadata != NULL && metadata->kind != PICKLE_NONE &&
        (metadata->kind != PICKLE_DICT || metadata->items.count > 0))
        return wrong(reading, tensor,
                     "a view of conjugate or negative numbers; expected .resolve_conj().resolve_neg()");
    if (has_dtype) {
        const struct pickle_text *name = &arguments[ARGUMENT_DTYPE]->text;
        if (name->length > LONGEST_TYPE)
            return wrong(reading, tensor, "a dtype that torch.save does not write");
        tensor->dtype = arena_text(&reading->scratch, name->bytes, name->length, reading->tensors.error);
        if (tensor->dtype == NULL)
            return STATUS_SYSTEM;
    }
    if (has_dtype != view->untyped)
        return wrong(reading, tensor, "a storage and a dtype that torch.save does not write together");
    tensor->bytes.dtype = dtype_find(has_dtype ? dtype_title : dtype_torch, tensor->dtype);
    tensor->is_byte = strcmp(tensor->dtype, "ByteStorage") == 0;
    return take_axes(reading, arguments, tensor, view);
}

/* Checks that the storage has the stated length and contains the view. */
static enum status check_place(const struct reading *reading, struct named_tensor *tensor, const struct view *view)
{
    const char *source = reading->zip->source, *name = tensor->name;
    if (tensor->bytes.dtype == DTYPE_COUNT)
        return STATUS_OK; /* attn does not read it, and does not know the size of its numbers */
    const size_t there = view->storage->length, one = dtype_size(tensor->bytes.dtype);
    if (memory_product(view->numbers, view->untyped ? 1 : one) != there)
        return error_usage(reading->tensors.error, "%s: %s: a storage of %zu %s, but '%s' has %zu bytes", source, name,
                           view->numbers, view->untyped ? "bytes" : dtype_name(tensor->bytes.dtype),
                           view->storage->name, there);
    if (view->beyond > there / one)
        return error_usage(reading->tensors.error, "%s: %s: its sizes and strides reach beyond the %zu numbers of '%s'",
                           source, name, there / one, view->storage->name);
    tensor->bytes.bytes = view->storage->bytes + (tensor->count > 0 ? view->offset * one : 0);
    tensor->bytes.big_endian = reading->big_endian;
    return STATUS_OK;
}

/* Limits copies: a view may repeat a number, and many views may share a storage. */
static enum status check_copy(struct reading *reading, const struct named_tensor *tensor)
{
    const size_t room = reading->zip->length + MOST_REPEATED - reading->copied;
    const size_t size = memory_product(tensor->count, dtype_size(tensor->bytes.dtype));
    if ((tensor->use != NAMED_READ && tensor->use != NAMED_LIST) || !named_tensor_is_usable(tensor) ||
        tensor_bytes_stay(&tensor->bytes))
        return STATUS_OK;
    if (size > room)
        return wrong(reading, tensor,
                     "its numbers are repeated or reordered views of more than the file holds; "
                     "expected .contiguous() before torch.save");
    reading->copied += size;
    return STATUS_OK;
}

static enum status read_view(struct reading *reading, const struct pickle_value *value, struct named_tensor *tensor)
{
    struct view view = {0};
    return take_tensor(reading, value, tensor, &view) || named_tensors_check(&reading->tensors, tensor) ||
                   check_place(reading, tensor, &view) || check_copy(reading, tensor)
               ? reading->tensors.error->status
               : STATUS_OK;
}

/* --- which tensors ----------------------------------------------------------------------------------------------- */

/* The index of the first tensor from `from` on among the dict's items, or their count. */
static size_t next_tensor(const struct pickle_value *dict, size_t from)
{
    while (from < dict->items.count && dict->items.items[from + 1]->kind != PICKLE_TENSOR)
        from += 2;
    return from;
}

/* A key for a message. */
static const char *key_text(const struct pickle_value *key, char text[48])
{
    const bool named = key->kind == PICKLE_TEXT;
    snprintf(text, 48, named ? "'%.*s'" : "%.*s", named ? (int)memory_smaller(key->text.length, 40) : 40,
             named ? key->text.bytes : pickle_kind_name(key));
    return text;
}

static enum status in_two_places(const struct reading *reading, const struct pickle_value *a,
                                 const struct pickle_value *b)
{
    char first[48], second[48];
    return error_usage(reading->tensors.error,
                       "%s: holds tensors in more than one dict, such as %s in one and %s in another; save one of "
                       "them: torch.save(checkpoint['model'], ...)",
                       reading->zip->source, key_text(a->items.items[next_tensor(a, 0)], first),
                       key_text(b->items.items[next_tensor(b, 0)], second));
}

static int by_address(const void *a, const void *b)
{
    const uintptr_t left = (uintptr_t) * (const void *const *)a, right = (uintptr_t) * (const void *const *)b;
    return left < right ? -1 : left > right;
}

/* The dict's tensors, or with `behind` 0 their keys, in the order of their addresses; NULL where memory is short. */
static const struct pickle_value **sorted(struct reading *reading, const struct pickle_value *dict, size_t behind,
                                          size_t *count)
{
    const struct pickle_items *items = &dict->items;
    const struct pickle_value **values =
        arena_allocate(&reading->scratch, items->count, sizeof *values, reading->tensors.error);
    *count = 0;
    for (size_t at = next_tensor(dict, 0); values != NULL && at < items->count; at = next_tensor(dict, at + 2))
        values[(*count)++] = items->items[at + behind];
    if (values != NULL)
        qsort(values, *count, sizeof *values, by_address);
    return values;
}

/* Checks that there are no other tensors: the pickle made as many as the dict has, each counted once. */
static enum status check_all(struct reading *reading, const struct pickle_value *dict)
{
    size_t count, different = 0;
    const struct pickle_value **tensors = sorted(reading, dict, 1, &count);
    if (tensors == NULL)
        return reading->tensors.error->status;
    for (size_t i = 0; i < count; i++)
        different += i == 0 || tensors[i - 1] != tensors[i];
    if (different == reading->pickle.tensor_count)
        return STATUS_OK;
    return error_usage(
        reading->tensors.error,
        "%s: holds %zu tensors, of which %zu have no name in the dict of tensors; save all of them in it",
        reading->zip->source, reading->pickle.tensor_count, reading->pickle.tensor_count - different);
}

/* The dict under the first of the words that the file's outermost dict has; NULL where there is none. */
static const struct pickle_value *find_within(const struct reading *reading, const char *const *words, size_t count)
{
    const struct pickle_value *root = reading->pickle.root;
    for (size_t word = 0; word < count && root->kind == PICKLE_DICT; word++)
        for (size_t at = 0; at < root->items.count; at += 2)
            if (pickle_is(root->items.items[at], words[word]) && root->items.items[at + 1]->kind == PICKLE_DICT)
                return root->items.items[at + 1];
    return NULL;
}

/* Finds the one dict with tensors; in a checkpoint the model's. */
static enum status find_dict(struct reading *reading, const struct pickle_value **dict)
{
    static const char *const MODELS[] = {"model", "model_state_dict", "state_dict"};
    *dict = reading->tensors.list != NULL ? find_within(reading, MODELS, sizeof MODELS / sizeof MODELS[0]) : NULL;
    if (*dict != NULL && next_tensor(*dict, 0) < (*dict)->items.count)
        return STATUS_OK;
    *dict = NULL;
    for (const struct pickle_value *one = reading->pickle.dicts; one != NULL; one = one->next) {
        if (next_tensor(one, 0) == one->items.count)
            continue;
        if (*dict != NULL)
            return in_two_places(reading, one, *dict);
        *dict = one;
    }
    if (*dict != NULL)
        return check_all(reading, *dict);
    return error_usage(reading->tensors.error,
                       reading->pickle.tensor_count > 0
                           ? "%s: its tensors have no names; save a dict: torch.save({'inputs': x}, ...)"
                           : "%s: holds no tensor; save a state_dict: torch.save(model.state_dict(), ...)",
                       reading->zip->source);
}

/* Rejects a value that is no tensor under a name that attn reads. */
static enum status check_others(const struct reading *reading, const struct pickle_value *dict,
                                const struct pickle_value *taken)
{
    const unsigned kinds = reading->tensors.kinds;
    for (size_t at = 0; at < dict->items.count && (kinds & INPUT_FILE_FOREIGN) == 0; at += 2) {
        const struct pickle_value *key = dict->items.items[at], *value = dict->items.items[at + 1];
        char name[48];
        if (key->kind != PICKLE_TEXT || value->kind == PICKLE_TENSOR || value == taken)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)memory_smaller(key->text.length, sizeof name - 1), key->text.bytes);
        if ((input_file_kind(name) & kinds) != 0)
            return error_usage(reading->tensors.error,
                               "%s: %s is %s, and attn reads only tensors from a .pt; give a tensor, or JSON",
                               reading->zip->source, name, pickle_kind_name(value));
    }
    return STATUS_OK;
}

/* Rejects a key value that occurs twice: a short pickle could repeat it, and its name would be copied, very often. */
static enum status check_keys(struct reading *reading, const struct pickle_value *dict)
{
    char text[48];
    size_t count;
    const struct pickle_value **keys = sorted(reading, dict, 0, &count);
    if (keys == NULL)
        return reading->tensors.error->status;
    for (size_t i = 1; i < count; i++)
        if (keys[i - 1] == keys[i])
            return error_usage(reading->tensors.error, "%s: key %s is given twice; leave one out", reading->zip->source,
                               key_text(keys[i], text));
    return STATUS_OK;
}

static enum status take_name(struct reading *reading, const struct pickle_value *key, const char **name)
{
    struct error *error = reading->tensors.error;
    if (key->kind != PICKLE_TEXT || memchr(key->text.bytes, '\0', key->text.length) != NULL)
        return error_usage(error, "%s: a tensor has %s as its name; expected text", reading->zip->source,
                           key->kind == PICKLE_TEXT ? "a name with a NUL byte" : pickle_kind_name(key));
    *name = arena_text(&reading->scratch, key->text.bytes, key->text.length, error);
    return *name == NULL ? error->status : STATUS_OK;
}

static enum status read_tensors(struct reading *reading, const struct pickle_value *dict)
{
    const struct named_tensors *file = &reading->tensors;
    const struct pickle_items *items = &dict->items;
    size_t count = 0;
    const char **names = arena_allocate(&reading->scratch, items->count, sizeof *names, file->error);
    if (names == NULL || named_tensors_begin(file, items->count) != STATUS_OK)
        return file->error->status;
    for (size_t at = next_tensor(dict, 0); at < items->count; at = next_tensor(dict, at + 2), count++) {
        struct named_tensor tensor = {0};
        if (take_name(reading, items->items[at], &names[count]) != STATUS_OK)
            return file->error->status;
        tensor.name = names[count];
        if (named_tensors_use(file, &tensor) || read_view(reading, items->items[at + 1], &tensor) ||
            named_tensors_put(file, &tensor))
            return file->error->status;
    }
    input_file_sort(file->input);
    return input_file_check_repeated(file->source, "", names, count, file->error);
}

/* Adds a setting; a value of another kind is its name, which no key expects. */
static void add_setting(struct text *text, const struct pickle_text *key, const struct pickle_value *value)
{
    char number[DECIMAL_BYTES];
    if (value->kind == PICKLE_WHOLE)
        snprintf(number, sizeof number, "%lld", (long long)value->whole);
    else if (value->kind == PICKLE_NUMBER && isfinite(value->number))
        decimal_from_double(value->number, number);
    else if (value->kind == PICKLE_TRUTH)
        snprintf(number, sizeof number, "%s", value->whole != 0 ? "true" : "false");
    else if (value->kind == PICKLE_NONE)
        snprintf(number, sizeof number, "null");
    else
        snprintf(number, sizeof number, "\"%s\"", pickle_kind_name(value));
    text_add(text, "%s\"%.*s\": %s", text->length > 1 ? ", " : "", (int)key->length, key->bytes, number);
}

/* Notes the settings with plain names, unless they are very many. */
static enum status note_settings(struct reading *reading)
{
    enum { MOST_BYTES = 8192, LONGEST_KEY = 64 };
    static const char *const NAMES[] = {"model_args", "dims"};
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const struct pickle_value *dict = find_within(reading, NAMES, sizeof NAMES / sizeof NAMES[0]);
    char bytes[MOST_BYTES];
    struct text text = text_begin(bytes, sizeof bytes);
    text_add(&text, "{");
    for (size_t at = 0; dict != NULL && at < dict->items.count && !text.cut; at += 2) {
        const struct pickle_text *key = &dict->items.items[at]->text;
        size_t plain = 0;
        if (dict->items.items[at]->kind != PICKLE_TEXT || key->length > LONGEST_KEY)
            continue;
        while (plain < key->length && memchr(PLAIN, key->bytes[plain], sizeof PLAIN - 1) != NULL)
            plain++;
        if (plain == key->length)
            add_setting(&text, key, dict->items.items[at + 1]);
    }
    text_add(&text, "}");
    if (dict == NULL || text.cut)
        return STATUS_OK;
    reading->tensors.list->settings =
        arena_text(reading->tensors.arena, text.bytes, text.length, reading->tensors.error);
    return reading->tensors.list->settings == NULL ? reading->tensors.error->status : STATUS_OK;
}

static enum status read_dict(struct reading *reading)
{
    const struct pickle_value *dict, *root = reading->pickle.root;
    if (find_dict(reading, &dict) || check_keys(reading, dict) || check_others(reading, dict, dict) ||
        (root->kind == PICKLE_DICT && check_others(reading, root, dict)))
        return reading->tensors.error->status;
    if (reading->tensors.list != NULL && note_settings(reading) != STATUS_OK)
        return reading->tensors.error->status;
    reading->tensors.sole = next_tensor(dict, next_tensor(dict, 0) + 2) == dict->items.count;
    return read_tensors(reading, dict);
}

/* torch.save(x, ...) of a tensor */
static enum status read_alone(struct reading *reading)
{
    const struct named_tensors *file = &reading->tensors;
    struct named_tensor tensor;
    if (reading->pickle.tensor_count > 1)
        return error_usage(file->error, "%s: holds a tensor and others outside it", file->source);
    return named_tensors_nameless(file, "torch.save({'NAME': tensor, ...}, file)", &tensor) ||
                   read_view(reading, reading->pickle.root, &tensor) || named_tensors_put(file, &tensor)
               ? file->error->status
               : STATUS_OK;
}

enum status pt_read(struct named_tensors *file, const struct zip *zip)
{
    struct reading reading = {.zip = zip, .tensors = *file};
    reading.tensors.code = dtype_title;
    enum status status = read_byte_order(&reading) || read_pickle(&reading) ? file->error->status
                         : reading.pickle.root->kind == PICKLE_TENSOR       ? read_alone(&reading)
                                                                            : read_dict(&reading);
    arena_free(&reading.scratch);
    return status;
}
