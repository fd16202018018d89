/* .safetensors from a hostile hand. */
#include "fuzz.h"
#include "safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct bundle bundle;
    struct error error = {0};
    fuzz_check(safetensors_read("file", bytes, length, FUZZ_KINDS, &arena, &bundle, &error), &bundle, &arena, &error);
    arena_free(&arena);
    return 0;
}
