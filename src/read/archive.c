#include "read/archive.h"

#include "read/npz.h"
#include "read/pt.h"

static enum status is_neither(const struct zip *zip, struct error *error)
{
    const char *name = zip->count > 0 ? zip->entries[0].name : "nothing";
    return error_usage(error, "%s: a zip archive that holds %.80s; expected a .pt, as torch.save writes it, or a .npz",
                       zip->source, name);
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
                                : is_neither(&zip, error);
    arena_free(&scratch);
    return status;
}
