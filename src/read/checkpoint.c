/* SPDX-License-Identifier: MIT */
#include "read/checkpoint.h"

#include "base/folder.h"
#include "base/output.h"
#include "base/text.h"
#include "read/archive.h"
#include "read/gguf.h"
#include "read/json_tree.h"
#include "read/load.h"
#include "read/safetensors.h"
#include "read/zip.h"
#include "tensor/block.h"
#include "tensor/block_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const size_t LARGEST_INDEX = (size_t)64 << 20;

#define EXPECTED "expected a .safetensors, a .gguf, a .pt or .bin of torch.save, a .npz, or the index of shards"

/* A file of tensors, which may not have been opened yet. */
struct checkpoint_file {
    const char *path, *source;
    const char *index; /* the index that names it, or NULL */
    bool is_open;
    struct named_list tensors; /* sorted by name */
};

/* --- one file of tensors ----------------------------------------------------------------------------------------- */

static const struct {
    bool (*begins)(const unsigned char *bytes, size_t length);
    binary_reader *read;
} FORMATS[] = {{safetensors_begins, safetensors_read}, {zip_begins, archive_read}, {gguf_begins, gguf_read}};

static enum status list_tensors(const struct loaded *loaded, struct arena *arena, struct named_list *list,
                                struct error *error)
{
    size_t format = 0;
    while (format < sizeof FORMATS / sizeof FORMATS[0] && !FORMATS[format].begins(loaded->bytes, loaded->length))
        format++;
    if (format == sizeof FORMATS / sizeof FORMATS[0])
        return load_check_other(loaded->source, loaded->bytes, loaded->length, error) != STATUS_OK
                   ? error->status
                   : error_usage(error, "%s: not a file of tensors; " EXPECTED, loaded->source);
    struct input_file none = {.source = loaded->source};
    struct named_tensors file = {.source = loaded->source,
                                 .kinds = INPUT_FILE_FOREIGN,
                                 .input = &none,
                                 .list = list,
                                 .arena = arena,
                                 .error = error};
    if (FORMATS[format].read(&file, loaded->bytes, loaded->length) != STATUS_OK)
        return error->status;
    text_sort(list->tensors, list->count, sizeof list->tensors[0]);
    return STATUS_OK;
}

/* Opens the shard that is to have that tensor. */
static enum status open_shard(const struct checkpoint *checkpoint, struct checkpoint_file *file, const char *name,
                              struct error *error)
{
    struct loaded loaded;
    struct stat there;
    if (file->is_open)
        return STATUS_OK;
    if (stat(file->path, &there) != 0)
        return error_system(error, errno, "%s, which has %.200s by %s", file->source, name, file->index);
    if (folder_check_file(file->path, error) || load_bytes(file->path, checkpoint->arena, &loaded, error) ||
        list_tensors(&loaded, checkpoint->arena, &file->tensors, error))
        return error->status;
    file->is_open = true;
    return STATUS_OK;
}

/* --- the index --------------------------------------------------------------------------------------------------- */

static struct checkpoint_file *add_file(const struct checkpoint *checkpoint, const char *name, const char *index,
                                        struct error *error)
{
    struct arena *arena = checkpoint->arena;
    const size_t folder = strlen(checkpoint->folder), length = strlen(name);
    struct checkpoint_file *file = arena_allocate(arena, 1, sizeof *file, error);
    char *path = arena_allocate(arena, folder + length + 1, 1, error);
    if (file == NULL || path == NULL)
        return NULL;
    memcpy(path, checkpoint->folder, folder);
    memcpy(path + folder, name, length + 1);
    const char *shown = SHOWN_PATH(path);
    *file = (struct checkpoint_file){.path = path, .source = arena_copy(arena, shown, error), .index = index};
    return file->source != NULL ? file : NULL;
}

/* A plain name: neither a path nor a folder. */
static bool is_plain(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int by_file(const void *a, const void *b)
{
    return strcmp((*(const cJSON *const *)a)->valuestring, (*(const cJSON *const *)b)->valuestring);
}

/* The names by their files, so that each file is made once; then by themselves. */
static enum status take_names(const struct json_reader *reader, const cJSON **items, size_t count,
                              struct checkpoint *checkpoint)
{
    struct checkpoint_file *file = NULL;
    checkpoint->names = arena_allocate(checkpoint->arena, count, sizeof checkpoint->names[0], reader->error);
    if (checkpoint->names == NULL)
        return reader->error->status;
    qsort(items, count, sizeof *items, by_file);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(items[i - 1]->valuestring, items[i]->valuestring) != 0)
            file = add_file(checkpoint, items[i]->valuestring, reader->source, reader->error);
        checkpoint->names[i].file = file;
        checkpoint->names[i].text = arena_copy(checkpoint->arena, items[i]->string, reader->error);
        if (file == NULL || checkpoint->names[i].text == NULL)
            return reader->error->status;
    }
    checkpoint->count = count;
    text_sort(checkpoint->names, count, sizeof checkpoint->names[0]);
    return STATUS_OK;
}

static enum status take_map(const struct json_reader *reader, const cJSON *map, struct checkpoint *checkpoint)
{
    const size_t count = json_count(map);
    const cJSON **items = arena_allocate(reader->scratch, count, sizeof *items, reader->error);
    size_t at = 0;
    if (items == NULL || json_check_repeated(reader, map, "weight_map: ") != STATUS_OK)
        return reader->error->status;
    if (count == 0)
        return error_usage(reader->error, "%s: weight_map is empty; expected tensors and their files", reader->source);
    for (const cJSON *item = map->child; item != NULL; item = item->next) {
        if (!cJSON_IsString(item))
            return error_usage(reader->error, "%s: weight_map: %.200s: expected the name of a file, got %s",
                               reader->source, item->string, json_kind_name(item));
        if (!is_plain(item->valuestring))
            return error_usage(reader->error,
                               "%s: weight_map: %.200s: '%.200s' is not a plain name; expected the name of a "
                               "file in the folder of the index",
                               reader->source, item->string, item->valuestring);
        items[at++] = item;
    }
    return take_names(reader, items, count, checkpoint);
}

static enum status take_index(const struct json_reader *reader, const cJSON *root, struct checkpoint *checkpoint)
{
    if (!cJSON_IsObject(root))
        return error_usage(reader->error, "%s: expected an object with weight_map, got %s", reader->source,
                           json_kind_name(root));
    if (json_check_repeated(reader, root, "") != STATUS_OK)
        return reader->error->status;
    const cJSON *map = cJSON_GetObjectItemCaseSensitive(root, "weight_map");
    if (map == NULL)
        return error_usage(reader->error,
                           "%s: no weight_map; expected an index of shards, which names the file of "
                           "each tensor",
                           reader->source);
    if (!cJSON_IsObject(map))
        return error_usage(reader->error, "%s: weight_map: expected an object of tensors and their files, got %s",
                           reader->source, json_kind_name(map));
    return take_map(reader, map, checkpoint);
}

static enum status read_index(const struct loaded *loaded, struct checkpoint *checkpoint, struct error *error)
{
    struct arena scratch = {0};
    const struct json_reader reader = {
        .source = loaded->source, .arena = checkpoint->arena, .scratch = &scratch, .error = error};
    if (loaded->length > LARGEST_INDEX)
        return error_usage(error, "%s: %zu bytes of JSON; expected an index of at most %zu", loaded->source,
                           loaded->length, LARGEST_INDEX);
    char *text = arena_text(&scratch, (const char *)loaded->bytes, loaded->length, error);
    cJSON *root = text != NULL ? json_parse(&reader, loaded->source, text, loaded->length) : NULL;
    const enum status status = root != NULL ? take_index(&reader, root, checkpoint) : error->status;
    cJSON_Delete(root);
    arena_free(&scratch);
    return status;
}

/* --- which file -------------------------------------------------------------------------------------------------- */

/* Takes the tensors of open files as all of the checkpoint's. */
static enum status take_files(struct checkpoint *checkpoint, struct checkpoint_file *const *files, size_t count,
                              struct error *error)
{
    size_t names = 0;
    for (size_t i = 0; i < count; i++)
        names += files[i]->tensors.count;
    checkpoint->names = arena_allocate(checkpoint->arena, names, sizeof checkpoint->names[0], error);
    if (checkpoint->names == NULL)
        return error->status;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < files[i]->tensors.count; k++)
            checkpoint->names[checkpoint->count++] =
                (struct checkpoint_name){files[i]->tensors.tensors[k].name, files[i]};
    checkpoint->settings = files[0]->tensors.settings;
    checkpoint->gguf = files[0]->tensors.gguf;
    if (count > 1)
        text_sort(checkpoint->names, names, sizeof checkpoint->names[0]);
    for (size_t i = 1; i < names; i++)
        if (strcmp(checkpoint->names[i - 1].text, checkpoint->names[i].text) == 0)
            return error_usage(error, "%s and %s both have %.200s; expected it once",
                               checkpoint->names[i - 1].file->source, checkpoint->names[i].file->source,
                               checkpoint->names[i].text);
    return STATUS_OK;
}

/* A whole number of the metadata; 0 where there is none. */
static size_t gguf_size(const struct gguf *gguf, const char *name)
{
    const struct gguf_value *value = gguf != NULL ? gguf_find(gguf, name) : NULL;
    const double number = gguf_is_number(value) ? gguf_number(value, 0) : 0;
    return number >= 0 && number < UINT16_MAX ? (size_t)number : 0;
}

/* Opens all parts of a GGUF, of which `one` is any: NAME-00001-of-00003.gguf has the metadata. */
static enum status read_parts(const struct checkpoint_file *one, size_t count, struct checkpoint *checkpoint,
                              struct error *error)
{
    char name[512], part[64], end[64];
    const char *base = folder_base(checkpoint->opened);
    struct checkpoint_file **files = arena_allocate(checkpoint->arena, count, sizeof *files, error);
    snprintf(end, sizeof end, "-%05zu-of-%05zu.gguf", gguf_size(one->tensors.gguf, "split.no") + 1, count);
    if (files == NULL || !text_ends_in(base, end))
        return files == NULL ? error->status
                             : error_usage(error, "%s: one of %zu parts of a model; expected a name that ends in %s",
                                           one->source, count, end);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%.*s-%05zu-of-%05zu.gguf", (int)(strlen(base) - strlen(end)), base, i + 1, count);
        snprintf(part, sizeof part, "part %zu of %zu", i + 1, count);
        files[i] = add_file(checkpoint, name, one->source, error);
        if (files[i] == NULL || open_shard(checkpoint, files[i], part, error) != STATUS_OK)
            return error->status;
        const struct gguf *gguf = files[i]->tensors.gguf;
        if (gguf_size(gguf, "split.no") != i || gguf_size(gguf, "split.count") != count)
            return error_usage(error, "%s: expected %s by its metadata; the file is of another model", files[i]->source,
                               part);
    }
    return take_files(checkpoint, files, count, error);
}

/* Reads a file of tensors, and the other parts if it is one of several. */
static enum status read_single(const struct loaded *loaded, struct checkpoint *checkpoint, struct error *error)
{
    struct checkpoint_file *file = arena_allocate(checkpoint->arena, 1, sizeof *file, error);
    if (file == NULL)
        return error->status;
    *file = (struct checkpoint_file){.source = loaded->source, .is_open = true};
    if (list_tensors(loaded, checkpoint->arena, &file->tensors, error) != STATUS_OK)
        return error->status;
    const size_t parts = gguf_size(file->tensors.gguf, "split.count");
    return parts > 1 ? read_parts(file, parts, checkpoint, error) : take_files(checkpoint, &file, 1, error);
}

static enum status open_file(const char *path, struct checkpoint *checkpoint, struct error *error)
{
    struct loaded loaded;
    checkpoint->opened = path;
    if (load_bytes(path, checkpoint->arena, &loaded, error) != STATUS_OK)
        return error->status;
    const size_t blanks = text_blanks(loaded.bytes, loaded.length);
    return !safetensors_begins(loaded.bytes, loaded.length) && blanks < loaded.length && loaded.bytes[blanks] == '{'
               ? read_index(&loaded, checkpoint, error)
               : read_single(&loaded, checkpoint, error);
}

static enum status open_found(const struct checkpoint_file *file, struct checkpoint *checkpoint, struct error *error)
{
    return folder_check_file(file->path, error) ? error->status : open_file(file->path, checkpoint, error);
}

/* Whether a name is that of a GGUF's second or later part. */
static bool is_later_part(const char *name)
{
    static const char FIRST[] = "00001-of-00003.gguf";
    const char *end = name + memory_left(strlen(name), sizeof FIRST - 1);
    return text_ends_in(name, ".gguf") && strncmp(end + 5, FIRST + 5, 4) == 0 && strncmp(end, FIRST, 5) != 0;
}

static enum status choose_one(const struct checkpoint *checkpoint, const char **name, struct error *error)
{
    static const char *const ENDS[] = {".safetensors", ".bin", ".pt", ".pth", ".npz", ".gguf"};
    const char **names;
    size_t count;
    if (folder_list(checkpoint->folder, &names, &count, checkpoint->arena, error) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
        size_t found = 0;
        for (size_t k = 0; k < count; k++)
            if (names[k][0] != '.' && text_ends_in(names[k], ENDS[i]) && !is_later_part(names[k]) && found++ == 0)
                *name = names[k];
        if (found > 1)
            return error_usage(error,
                               "%s: %zu files end in %s, and no index says what is in them; name the one to "
                               "read, or model.safetensors.index.json",
                               checkpoint->source, found, ENDS[i]);
        if (found == 1)
            return STATUS_OK;
    }
    return error_usage(error,
                       "%s: a folder without a checkpoint; expected model.safetensors, pytorch_model.bin, or "
                       "the index of shards",
                       checkpoint->source);
}

static enum status open_folder(struct checkpoint *checkpoint, struct error *error)
{
    static const char *const NAMES[] = {"model.safetensors.index.json", "model.safetensors",
                                        "pytorch_model.bin.index.json", "pytorch_model.bin"};
    const char *chosen = NULL;
    struct stat there;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const struct checkpoint_file *file = add_file(checkpoint, NAMES[i], NULL, error);
        if (file == NULL)
            return error->status;
        if (stat(file->path, &there) == 0)
            return open_found(file, checkpoint, error);
    }
    if (choose_one(checkpoint, &chosen, error) != STATUS_OK)
        return error->status;
    const struct checkpoint_file *file = add_file(checkpoint, chosen, NULL, error);
    return file != NULL ? open_found(file, checkpoint, error) : error->status;
}

enum status checkpoint_open(const char *path, struct arena *arena, struct checkpoint *checkpoint, struct error *error)
{
    struct stat there;
    const bool is_folder = stat(path, &there) == 0 && S_ISDIR(there.st_mode);
    const char *slash = strrchr(path, '/');
    const size_t length = is_folder ? strlen(path) : slash != NULL ? (size_t)(slash - path) + 1 : 0;
    const bool open_ended = is_folder && (slash == NULL || slash[1] != '\0');
    char *folder = arena_allocate(arena, length + 2, 1, error);
    const char *shown = SHOWN_PATH(path);
    *checkpoint = (struct checkpoint){.arena = arena, .source = arena_copy(arena, shown, error)};
    if (folder == NULL || checkpoint->source == NULL)
        return error->status;
    memcpy(folder, path, length);
    memcpy(folder + length, "/", open_ended ? 2 : 1);
    folder[length + open_ended] = '\0';
    checkpoint->folder = folder;
    return is_folder ? open_folder(checkpoint, error) : open_file(path, checkpoint, error);
}

enum status checkpoint_replaced(const struct checkpoint *checkpoint, const char *path, const char **replaced,
                                struct error *error)
{
    const char *file = checkpoint->opened;
    bool replaces = false;
    enum status status = output_replaces(path, file, &replaces, error);
    for (size_t i = 0; i < checkpoint->count && status == STATUS_OK && !replaces; i++) {
        const bool again = i > 0 && checkpoint->names[i].file == checkpoint->names[i - 1].file;
        file = checkpoint->names[i].file->path;
        if (!again && file != NULL)
            status = output_replaces(path, file, &replaces, error);
    }
    *replaced = replaces ? file : NULL;
    return status;
}

/* --- what is in it ----------------------------------------------------------------------------------------------- */

static const struct checkpoint_name *find_name(const struct checkpoint *checkpoint, const char *name)
{
    return text_find(name, checkpoint->names, checkpoint->count, sizeof checkpoint->names[0]);
}

bool checkpoint_has(const struct checkpoint *checkpoint, const char *name)
{
    return find_name(checkpoint, name) != NULL;
}

enum status checkpoint_look(const struct checkpoint *checkpoint, const char *name, const struct named_tensor **tensor,
                            struct error *error)
{
    const struct checkpoint_name *listed = find_name(checkpoint, name);
    if (listed == NULL)
        return error_usage(error, "%s: has no tensor %.200s", checkpoint->source, name);
    const enum status opened = open_shard(checkpoint, listed->file, name, error);
    if (opened != STATUS_OK)
        return opened;
    const struct named_list *list = &listed->file->tensors;
    *tensor = text_find(name, list->tensors, list->count, sizeof list->tensors[0]);
    if (*tensor == NULL)
        return error_usage(error, "%s: has no tensor %.200s, which is in it by %s", listed->file->source, name,
                           listed->file->index);
    return STATUS_OK;
}

/* ", Q4_0, Q4_1": all block types. */
#define BLOCK_LISTED(id, name, ...) ", " name
static const char BLOCK_NAMES[] = BLOCK_ROWS(BLOCK_LISTED);

static enum status load_blocks(const struct named_tensor *from, struct tensor *tensor, struct arena *arena,
                               struct error *error)
{
    if (tensor_create(tensor, DTYPE_F32, from->bytes.rank, from->bytes.shape, arena, error) != STATUS_OK)
        return error->status;
    from->block->load(from->bytes.bytes, from->count / from->block->numbers, tensor->data);
    return STATUS_OK;
}

enum status checkpoint_take(const struct checkpoint *checkpoint, const char *name, struct tensor *tensor,
                            struct error *error)
{
    const struct named_tensor *found;
    if (checkpoint_look(checkpoint, name, &found, error) != STATUS_OK)
        return error->status;
    const struct tensor_bytes *bytes = &found->bytes;
    if (found->block != NULL && named_tensor_is_usable(found))
        return load_blocks(found, tensor, checkpoint->arena, error);
    if (bytes->dtype == DTYPE_COUNT && checkpoint->gguf != NULL)
        return error_usage(error,
                           "%s: %s: attn does not read type '%.40s'; expected F32, F16, BF16%s; requantize the file: "
                           "llama-quantize --allow-requantize FILE.gguf NEW.gguf Q8_0",
                           found->source, name, found->dtype, BLOCK_NAMES);
    if (bytes->dtype == DTYPE_COUNT)
        return error_usage(error,
                           "%s: %s: attn does not read dtype '%.40s'; expected %s; dequantize them first: "
                           "load the model in bfloat16 and save it by save_pretrained",
                           found->source, name, found->dtype, DTYPE_LIST(dtype_safetensors));
    if (!named_tensor_is_usable(found))
        return error_usage(error, "%s: %s: %s; expected numbers in 1 to %d axes", found->source, name,
                           found->count == 0  ? "empty"
                           : bytes->rank == 0 ? "a single number"
                                              : "more axes than attn has",
                           TENSOR_RANK);
    return tensor_bytes_tensor(bytes, tensor, checkpoint->arena, error);
}
