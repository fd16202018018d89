/* JSON from a hostile hand. */
#include "fuzz.h"
#include "json.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct bundle bundle;
    struct error error = {0};
    char *text = malloc(length + 1); /* of its own, so that the sanitizers see a step beyond its end */
    if (text == NULL)
        return 0;
    memcpy(text, bytes, length);
    text[length] = '\0';
    fuzz_check(json_read("file", text, length, FUZZ_KINDS, &arena, &bundle, &error), &bundle, &arena, &error);
    arena_free(&arena);
    free(text);
    return 0;
}
