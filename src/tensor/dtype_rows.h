/* SPDX-License-Identifier: MIT */
/* The dtypes, a row each. dtype.h makes the enum of them, dtype.c the table, the options the values of --dtype.
 *
 *   WORKING(ID, name, absolute, relative, ...)  floating point: stages are rounded to it. To attn diff, a and b agree
 *                                               where |a - b| <= absolute + relative |a|
 *   OTHER(ID, name, ...)                        only in files; stages are never rounded to it
 *
 *   .title         the name in words
 *   .safetensors   its code in the header of a .safetensors
 *   .npy           its type in the header of a .npy; none: .npy has no such numbers
 *   .torch         the storage of its numbers in a .pt, none in new ones; there it also goes by its title
 *   .size          bytes of a number
 *   .codec         how its numbers are loaded, rounded and stored: DOUBLES and FLOATS by the machine, CODED by what
 *                  follows, WHOLES and TRUTHS
 *   .whole         whole numbers
 *   .boolean       truth values
 *   .storage       the dtype in memory of numbers rounded to it
 *   .fraction      bits after the point
 *   .smallest      above 0; two neighbours are at least so far apart
 *   .largest       that is finite
 *   .infinite      infinity and NaN follow the largest; else NaN alone, and what is too large becomes the largest
 *   .nan           the code of NaN in files; 0: the first bit of the fraction
 *   .rounds_sums   ONNX's reference rounds each addition of a softmax, not their sum alone
 *
 * The working ones come first, so that their index is that among the values of --dtype; the first of all is the
 * default. */
#pragma once

/* clang-format off */
#define DTYPE_ROWS(WORKING, OTHER)                                                                                    \
    WORKING(F32, "f32", 1e-5, 1.3e-6, .title = "float32", .safetensors = "F32", .npy = "f4", .size = 4,               \
            .torch = "FloatStorage", .codec = &FLOATS, .storage = DTYPE_F32,                                          \
            .fraction = 23, .smallest = 0x1p-149, .largest = 0x1.fffffep127, .infinite = true)                        \
    WORKING(F64, "f64", 1e-7, 1e-7, .title = "float64", .safetensors = "F64", .npy = "f8", .size = 8,                 \
            .torch = "DoubleStorage", .codec = &DOUBLES, .storage = DTYPE_F64,                                        \
            .fraction = 52, .smallest = 0x1p-1074, .largest = 0x1.fffffffffffffp1023, .infinite = true)               \
    WORKING(F16, "f16", 1e-5, 1e-3, .title = "float16", .safetensors = "F16", .npy = "f2", .size = 2,                 \
            .torch = "HalfStorage", .codec = &CODED, .storage = DTYPE_F32,                                            \
            .fraction = 10, .smallest = 0x1p-24, .largest = 65504, .infinite = true)                                  \
    WORKING(BF16, "bf16", 1e-5, 1.6e-2, .title = "bfloat16", .safetensors = "BF16", .size = 2,                        \
            .torch = "BFloat16Storage", .codec = &CODED, .storage = DTYPE_F32,                                        \
            .fraction = 7, .smallest = 0x1p-133, .largest = 0x1.fep127, .infinite = true, .rounds_sums = true)        \
    WORKING(F8E4M3, "f8e4m3", 2e-3, 0.125, .title = "float8_e4m3fn", .safetensors = "F8_E4M3", .size = 1,             \
            .codec = &CODED, .storage = DTYPE_F32, .fraction = 3, .smallest = 0x1p-9, .largest = 448)                 \
    WORKING(F8E5M2, "f8e5m2", 2e-5, 0.25, .title = "float8_e5m2", .safetensors = "F8_E5M2", .size = 1,                \
            .codec = &CODED, .storage = DTYPE_F32, .fraction = 2, .smallest = 0x1p-16, .largest = 57344,              \
            .infinite = true, .nan = 0x7f)                                                                            \
    OTHER(I32, "i32", .title = "int32", .safetensors = "I32", .npy = "i4", .size = 4,                                 \
          .torch = "IntStorage", .codec = &SHORT_WHOLES, .whole = true)                                               \
    OTHER(I64, "i64", .title = "int64", .safetensors = "I64", .npy = "i8", .size = 8,                                 \
          .torch = "LongStorage", .codec = &WHOLES, .whole = true)                                                    \
    OTHER(BOOL, "bool", .title = "bool", .safetensors = "BOOL", .npy = "b1", .size = 1,                               \
          .torch = "BoolStorage", .codec = &TRUTHS, .boolean = true)
/* clang-format on */
