/* SPDX-License-Identifier: MIT */
#include "read/archive.h"

#include "read/npz.h"
#include "read/pt.h"

static enum status is_neither(const struct zip *zip, const char *other, struct error *error)
{
    const char *name = zip->count > 0 ? zip->entries[0].name : "nothing";
    return error_usage(error, "%s: a zip archive with %.80s in it; expected a .pt, as torch.save writes it%s",
                       zip->source, name, other);
}

enum status archive_read(const char *source, const unsigned char *bytes, size_t length, unsigned kinds,
                         struct arena *arena, struct input_file *input, struct error *error)
{
    struct arena scratch = {0};
    struct zip zip;
    *input = (struct input_file){.source = source};
    enum status status = zip_open(source, bytes, length, &scratch, &zip, error);
    if (status == STATUS_OK)
        status = pt_is(&zip)    ? pt_read(&zip, kinds, arena, input, error)
                 : npz_is(&zip) ? npz_read(&zip, kinds, arena, input, error)
                                : is_neither(&zip, ", or a .npz", error);
    arena_free(&scratch);
    return status;
}

enum status archive_list(const char *source, const unsigned char *bytes, size_t length, struct arena *arena,
                         struct named_list *list, struct error *error)
{
    struct arena scratch = {0};
    struct zip zip;
    enum status status = zip_open(source, bytes, length, &scratch, &zip, error);
    if (status == STATUS_OK)
        status = pt_is(&zip) ? pt_list(&zip, arena, list, error) : is_neither(&zip, "", error);
    arena_free(&scratch);
    return status;
}
