/* SPDX-License-Identifier: MIT */
/* .npz, NumPy's archive of arrays: numpy.savez writes an entry NAME.npy for each. NumPy calls arrays without a name
 * arr_0, arr_1, ...; a single arr_0 is a tensor without a name, "inputs". */
#include "read/archive.h"
#include "read/npy.h"

#include <string.h>

static const char SUFFIX[] = ".npy", NAMELESS[] = "arr_";

enum { NAMELESS_LENGTH = sizeof NAMELESS - 1 };

/* The length of the array's name; 0 where the entry is no array. */
static size_t name_length(const struct zip_entry *entry)
{
    return text_ends_in(entry->name, SUFFIX) ? strlen(entry->name) - strlen(SUFFIX) : 0;
}

bool npz_is(const struct zip *zip)
{
    for (size_t i = 0; i < zip->count; i++)
        if (name_length(&zip->entries[i]) > 0)
            return true;
    return false;
}

static enum status no_array(const struct named_tensors *file, const struct zip_entry *entry)
{
    return error_usage(file->error, "%s: '%.80s' in the zip archive is not an array; write the file with numpy.savez",
                       file->source, entry->name);
}

static enum status read_array(const struct named_tensors *file, const struct zip_entry *entry, struct arena *scratch,
                              struct named_tensor *tensor)
{
    char text[TEXT_PATH_BYTES + 96];
    struct npy_array array;
    if (entry->length == 0 || !npy_begins(entry->bytes, entry->length))
        return no_array(file, entry);
    snprintf(text, sizeof text, "%s: %.80s", file->source, tensor->name);
    return npy_header(text, "entry", entry->bytes, entry->length, scratch, &array, file->error) ||
                   npy_tensor(file, text, &array, scratch, tensor)
               ? file->error->status
               : STATUS_OK;
}

static enum status read_entry(const struct named_tensors *file, const struct zip_entry *entry, struct arena *scratch)
{
    struct named_tensor tensor = {0};
    const size_t length = name_length(entry);
    if (length == 0)
        return no_array(file, entry);
    tensor.name = arena_text(scratch, entry->name, length, file->error);
    if (tensor.name == NULL)
        return file->error->status;
    if (strncmp(tensor.name, NAMELESS, NAMELESS_LENGTH) == 0 && (file->kinds & INPUT_FILE_FOREIGN) == 0 &&
        strspn(tensor.name + NAMELESS_LENGTH, "0123456789") == strlen(tensor.name + NAMELESS_LENGTH))
        return error_usage(file->error,
                           "%s: %s is one of several tensors without names; name them: "
                           "numpy.savez(file, inputs=x, W_query=w)",
                           file->source, tensor.name);
    return named_tensors_use(file, &tensor) ||
                   ((tensor.use == NAMED_READ || tensor.use == NAMED_LIST) &&
                    read_array(file, entry, scratch, &tensor)) ||
                   named_tensors_put(file, &tensor)
               ? file->error->status
               : STATUS_OK;
}

static enum status read_entries(const struct named_tensors *file, const struct zip *zip, struct arena *scratch)
{
    struct named_tensor alone;
    if (zip->count == 1 && strcmp(zip->entries[0].name, "arr_0.npy") == 0)
        return named_tensors_nameless(file, "numpy.savez(file, NAME=array, ...)", &alone) ||
                       read_array(file, &zip->entries[0], scratch, &alone) || named_tensors_put(file, &alone)
                   ? file->error->status
                   : STATUS_OK;
    if (named_tensors_begin(file, zip->count) != STATUS_OK)
        return file->error->status;
    for (size_t i = 0; i < zip->count; i++)
        if (read_entry(file, &zip->entries[i], scratch) != STATUS_OK)
            return file->error->status;
    input_file_sort(file->input);
    return STATUS_OK;
}

enum status npz_read(struct named_tensors *file, const struct zip *zip)
{
    struct arena scratch = {0};
    file->sole = zip->count == 1;
    file->code = dtype_npy;
    enum status status = read_entries(file, zip, &scratch);
    arena_free(&scratch);
    return status;
}
