/* SPDX-License-Identifier: MIT */
/* A printed table from a hostile hand. */
#include "fuzz.h"
#include "read/printed.h"

#include <string.h>

static void read_kinds(const char *text, size_t length, unsigned kinds)
{
    struct arena arena = {0};
    struct input_file input;
    struct error error = {0};
    fuzz_check(printed_read("file", text, length, kinds, &arena, &input, &error), kinds, &input, &arena, &error);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char *text = malloc(length + 1);
    if (text == NULL)
        abort();
    if (length > 0)
        memcpy(text, bytes, length);
    text[length] = '\0';
    printed_begins(bytes, length);
    printed_cannot_be_input(bytes, length);
    read_kinds(text, length, FUZZ_KINDS);
    read_kinds(text, length, FUZZ_COMPARED);
    read_kinds(text, length, FUZZ_COMPARED | INPUT_FILE_PARTS);
    free(text);
    return 0;
}
