/* SPDX-License-Identifier: MIT */
/* The pickle of a .pt from a hostile hand, in an archive that is right: its checksum would else refuse what is changed.
 * The storages that it may ask for are there: data/0 of 64 bytes, data/1 of 4. */
#include "../archives.h"
#include "fuzz.h"
#include "read/archive.h"

static void read_kinds(const struct archive *archive, unsigned kinds)
{
    struct arena arena = {0};
    struct input_file input;
    struct error error = {0};
    fuzz_check(named_tensors_read(archive_read, "file", archive->bytes, archive->length, kinds, &arena, &input, &error),
               kinds, &input, &arena, &error);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const float NUMBERS[16] = {1, -2, 3.5F};
    static struct archive archive;
    archive.length = archive.directory_length = archive.count = 0;
    archive_add(&archive, "a/data.pkl", bytes, length);
    archive_add(&archive, "a/data/0", NUMBERS, sizeof NUMBERS);
    archive_add(&archive, "a/data/1", NUMBERS, sizeof NUMBERS[0]);
    archive_end(&archive);
    read_kinds(&archive, FUZZ_KINDS);
    read_kinds(&archive, FUZZ_COMPARED);
    return 0;
}
