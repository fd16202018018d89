/* SPDX-License-Identifier: MIT */
/* JSON from a hostile hand. */
#include "fuzz.h"
#include "read/json.h"

#include <string.h>

static void read_kinds(const uint8_t *bytes, size_t length, unsigned kinds)
{
    struct arena arena = {0};
    struct input_file input;
    struct error error = {0};
    char *text = malloc(length + 1); /* of its own, so that the sanitizers see a step beyond its end */
    if (text == NULL)
        return;
    memcpy(text, bytes, length);
    text[length] = '\0';
    fuzz_check(json_read("file", text, length, kinds, &arena, &input, &error), kinds, &input, &arena, &error);
    arena_free(&arena);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    read_kinds(bytes, length, FUZZ_KINDS);
    read_kinds(bytes, length, FUZZ_COMPARED);
    return 0;
}
