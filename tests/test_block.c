/* SPDX-License-Identifier: MIT */
/* Blocks of quantised weights, to the bit of the gguf package's dequantize. */
#include "tensor/block.h"

#include "check.h"
#include "read/checkpoint.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { BLOCKS = 10, NUMBERS = 256 };

static const struct named_tensor *find(const struct checkpoint *golden, const struct block_type *block, const char *key)
{
    char name[32];
    const struct named_tensor *tensor = NULL;
    struct error error = {0};
    snprintf(name, sizeof name, "%s.%s", block->name, key);
    CHECK(checkpoint_look(golden, name, &tensor, &error) == STATUS_OK, "%s", error.message);
    return tensor;
}

/* NaN is NaN, whatever its bits. */
static void check_numbers(const float *expected, const float *got, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(isnan(expected[i]) && isnan(got[i])) &&
            !CHECK(memcmp(&expected[i], &got[i], sizeof *got) == 0, "number %zu: expected %a, got %a", i,
                   (double)expected[i], (double)got[i]))
            return;
}

int main(void)
{
    struct arena arena = {0};
    struct error error = {0};
    struct checkpoint golden;
    check_begin("blocks.safetensors");
    if (!CHECK(checkpoint_open("tests/golden/blocks.safetensors", &arena, &golden, &error) == STATUS_OK, "%s",
               error.message))
        return check_end();
    size_t types = 0;
    for (const struct block_type *block = BLOCK_TYPES; block->name != NULL; block++, types++) {
        const struct named_tensor *bytes = find(&golden, block, "bytes"), *numbers = find(&golden, block, "numbers");
        unsigned char odd[BLOCKS * NUMBERS + 1];
        float expected[BLOCKS * NUMBERS], got[BLOCKS * NUMBERS] = {0};
        const size_t count = BLOCKS * block->numbers, size = BLOCKS * block->bytes;
        check_begin("%s: each number, to the bit", block->name);
        if (bytes == NULL || numbers == NULL || !CHECK(bytes->count == size, "%zu bytes", bytes->count) ||
            !CHECK(numbers->count == count, "%zu numbers", numbers->count))
            continue;
        memcpy(odd + 1, bytes->bytes.bytes, size);
        memcpy(expected, numbers->bytes.bytes, count * sizeof *expected);
        block->load(odd + 1, BLOCKS, got);
        check_numbers(expected, got, count);
        CHECK(block_find(block->name) == block, "its name finds another");
    }
    check_begin("all types");
    CHECK(golden.count == 2 * types, "expected %zu tensors, got %zu", 2 * types, golden.count);
    CHECK(block_find("Q4") == NULL, "Q4 is a type");
    arena_free(&arena);
    return check_end();
}
