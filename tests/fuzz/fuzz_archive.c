/* SPDX-License-Identifier: MIT */
/* .pt and .npz from a hostile hand: a zip archive, whatever it holds. */
#include "fuzz.h"
#include "read/archive.h"

static void read_kinds(const uint8_t *bytes, size_t length, unsigned kinds)
{
    struct arena arena = {0};
    struct input_file input;
    struct error error = {0};
    fuzz_check(named_tensors_read(archive_read, "file", bytes, length, kinds, &arena, &input, &error), kinds, &input,
               &arena, &error);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    read_kinds(bytes, length, FUZZ_KINDS);
    read_kinds(bytes, length, FUZZ_COMPARED);
    return 0;
}
