/* SPDX-License-Identifier: MIT */
#include "read/archive.h"

static enum status is_neither(const struct named_tensors *file, const struct zip *zip)
{
    const char *name = zip->count > 0 ? zip->entries[0].name : "nothing";
    return error_usage(file->error,
                       "%s: a zip archive with %.80s in it; expected a .pt, as torch.save writes it, or a .npz",
                       file->source, name);
}

enum status archive_read(struct named_tensors *file, const unsigned char *bytes, size_t length)
{
    struct arena scratch = {0};
    struct zip zip;
    enum status status = zip_open(file->source, bytes, length, &scratch, &zip, file->error);
    if (status == STATUS_OK)
        status = pt_is(&zip) ? pt_read(file, &zip) : npz_is(&zip) ? npz_read(file, &zip) : is_neither(file, &zip);
    arena_free(&scratch);
    return status;
}
