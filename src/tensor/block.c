/* SPDX-License-Identifier: MIT */
#include "tensor/block.h"

#include "tensor/block_rows.h"
#include "tensor/dtype.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Bits of consecutive numbers: bytes[0 .. stride) hold the first `stride` of them in their lowest bits, the next in the
 * bits above; then the next `stride` bytes. */
struct field {
    size_t at, stride;
    unsigned bits;
};

struct layout {
    size_t scale, minimum, group, groups;
    struct field low, high;
    unsigned two;
    int offset;
    const signed char *codes;
    bool exponent;
    void (*scales)(const unsigned char *bytes, size_t group, int *scale, int *minimum);
};

const signed char BLOCK_E2M1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

#define INLINE static inline __attribute__((always_inline))

/* --- the scales of a group --------------------------------------------------------------------------------------- */

INLINE void scales_added(const unsigned char *bytes, size_t group, int *scale, int *minimum)
{
    (void)bytes, (void)group;
    *scale = 1;
    *minimum = -1;
}

INLINE void scales_4(const unsigned char *bytes, size_t group, int *scale, int *minimum)
{
    *scale = bytes[group] & 15;
    *minimum = bytes[group] >> 4;
}

INLINE void scales_8(const unsigned char *bytes, size_t group, int *scale, int *minimum)
{
    *scale = (bytes[group] ^ 128) - 128;
    *minimum = 0;
}

/* Four bits in the first 8 bytes, two in the last 4. */
INLINE void scales_6_signed(const unsigned char *bytes, size_t group, int *scale, int *minimum)
{
    const int low = bytes[group % 8] >> group / 8 * 4 & 15, high = bytes[8 + group % 4] >> group / 4 * 2 & 3;
    *scale = (low | high << 4) - 32;
    *minimum = 0;
}

/* The first four scales are whole in bytes 0 to 3, their minima in 4 to 7. Of the others, bytes 8 to 11 have four bits
 * of both, and the two bits above those of the first have the rest. */
INLINE void scales_6(const unsigned char *bytes, size_t group, int *scale, int *minimum)
{
    const unsigned char *first = bytes + group % 4;
    *scale = group < 4 ? first[0] & 63 : (first[8] & 15) | (first[0] >> 6) << 4;
    *minimum = group < 4 ? first[4] & 63 : first[8] >> 4 | (first[4] >> 6) << 4;
}

/* --- a block ----------------------------------------------------------------------------------------------------- */

static float load_half(const unsigned char *bytes)
{
    const uint16_t bits = (uint16_t)(bytes[0] | bytes[1] << 8);
    float number;
    dtype_load_floats(DTYPE_F16, &bits, 1, &number);
    return number;
}

INLINE unsigned load_bits(const unsigned char *bytes, struct field field, size_t i)
{
    const size_t shifts = 8 / field.bits;
    return bytes[field.at + i / field.stride / shifts * field.stride + i % field.stride] >>
               i / field.stride % shifts * field.bits &
           ((1U << field.bits) - 1);
}

INLINE void load_block(const struct layout *layout, size_t count, const unsigned char *bytes, float *numbers)
{
    const float d = layout->exponent ? ldexpf(1, bytes[layout->scale] - 128) : load_half(bytes + layout->scale);
    const float m = layout->minimum > 0 ? load_half(bytes + layout->minimum) : 0;
    const size_t group = layout->group > 0 ? layout->group : count;
    for (size_t first = 0; first < count; first += group) {
        int scale = 1, minimum = 0;
        if (layout->scales != NULL)
            layout->scales(bytes + layout->groups, first / group, &scale, &minimum);
        const float factor = d * (float)scale, less = m * (float)minimum;
        for (size_t i = first; i < first + group; i++) {
            unsigned bits = load_bits(bytes, layout->low, i);
            if (layout->high.bits > 0)
                bits |= load_bits(bytes, layout->high, i) << layout->low.bits;
            const int q = layout->codes != NULL ? layout->codes[bits] : (int)(bits ^ layout->two) - layout->offset;
            numbers[i] = factor * (float)q - less;
        }
    }
}

/* --- the types --------------------------------------------------------------------------------------------------- */

/* A function a type, with its layout as a constant: so that the compiler makes its divisions shifts. */
#define LOADER(id, name, numbers, bytes, ...)                                    \
    static void load_##id(const unsigned char *block, size_t blocks, float *to)  \
    {                                                                            \
        for (; blocks > 0; blocks--, block += (bytes), to += (numbers))          \
            load_block(&(const struct layout){__VA_ARGS__}, numbers, block, to); \
    }
BLOCK_ROWS(LOADER)
#undef LOADER

#define ROW(id, name, numbers, bytes, ...) {name, numbers, bytes, load_##id},
const struct block_type BLOCK_TYPES[] = {BLOCK_ROWS(ROW){0}};
#undef ROW

const struct block_type *block_find(const char *name)
{
    const struct block_type *block = BLOCK_TYPES;
    while (block->name != NULL && strcmp(block->name, name) != 0)
        block++;
    return block->name != NULL ? block : NULL;
}
