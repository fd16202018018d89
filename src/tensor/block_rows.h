/* SPDX-License-Identifier: MIT */
/* The block types of quantised weights, a row each: ROW(ID, name, numbers of a block, its bytes, how it is read).
 *
 * A number is d s q - m t: d and m are the block's float16s, s and t are small integers of the number's group, and q is
 * the number's own integer, whose bits may lie in two fields. All products and differences are float32.
 *
 *   .scale         where d is
 *   .minimum       where m is; 0: none. d is always somewhere else
 *   .low, .high    the fields of q: {where they begin, bytes from one shift to the next, bits}
 *   .offset        q is so much less than its bits say
 *   .two           bits of q to flip: those of a signed byte, for offset 128; of a bit that is stored inverted
 *   .group         numbers of a group; 0: the block has none, and s is 1
 *   .scales        reads s and t of a group, at .groups
 *   .codes         q is the value of this code
 *   .exponent      d is a power of two, 2^(byte - 128)
 *
 * The layout is that of ggml. */
#pragma once

/* clang-format off */
#define BLOCK_ROWS(ROW)                                                                                               \
    ROW(Q4_0, "Q4_0", 32, 18, .low = {2, 16, 4}, .offset = 8)                                                         \
    ROW(Q4_1, "Q4_1", 32, 20, .minimum = 2, .low = {4, 16, 4}, .scales = scales_added)                                \
    ROW(Q5_0, "Q5_0", 32, 22, .low = {6, 16, 4}, .high = {2, 1, 1}, .offset = 16)                                     \
    ROW(Q5_1, "Q5_1", 32, 24, .minimum = 2, .low = {8, 16, 4}, .high = {4, 1, 1}, .scales = scales_added)             \
    ROW(Q8_0, "Q8_0", 32, 34, .low = {2, 1, 8}, .two = 128, .offset = 128)                                            \
    ROW(Q2_K, "Q2_K", 256, 84, .scale = 80, .minimum = 82, .low = {16, 32, 2}, .group = 16, .scales = scales_4)       \
    ROW(Q3_K, "Q3_K", 256, 110, .scale = 108, .low = {32, 32, 2}, .high = {0, 32, 1}, .offset = 4, .group = 16,       \
        .scales = scales_6_signed, .groups = 96)                                                                      \
    ROW(Q4_K, "Q4_K", 256, 144, .minimum = 2, .low = {16, 32, 4}, .group = 32, .scales = scales_6, .groups = 4)       \
    ROW(Q5_K, "Q5_K", 256, 176, .minimum = 2, .low = {48, 32, 4}, .high = {16, 32, 1}, .group = 32,                   \
        .scales = scales_6, .groups = 4)                                                                              \
    ROW(Q6_K, "Q6_K", 256, 210, .scale = 208, .low = {0, 64, 4}, .high = {128, 32, 2}, .offset = 32, .group = 16,     \
        .scales = scales_8, .groups = 192)                                                                            \
    ROW(MXFP4, "MXFP4", 32, 17, .low = {1, 16, 4}, .codes = BLOCK_E2M1, .exponent = true)
/* clang-format on */
