/* SPDX-License-Identifier: MIT */
/* The powers of ten that decimal.c and decimal_read.c scale by. (high 2^64 + low) 2^exponent lies above 10^n, by at
 * most one unit of low. The top bit of high is set. tests/test_decimal.c computes all of them again. */
#pragma once

#include <stdint.h>

enum {
    DECIMAL_LOWEST_POWER = -292, /* for the largest double */
    DECIMAL_HIGHEST_POWER = 324, /* for the smallest one */
};

struct decimal_power {
    uint64_t high, low;
};

/* 10^n is at index n - DECIMAL_LOWEST_POWER. */
extern const struct decimal_power DECIMAL_POWERS[DECIMAL_HIGHEST_POWER - DECIMAL_LOWEST_POWER + 1];

/* floor(n log2(10)) - 127, exact for these n. (The shift of a negative number is arithmetic wherever gcc and clang
 * compile.) */
static inline int decimal_power_exponent(int n)
{
    return (n * 217706 >> 16) - 127;
}

/* high 2^64 + low */
struct decimal_product {
    uint64_t high, low;
};

/* a * b, on machines of 32 bits too. */
static inline struct decimal_product decimal_multiply(uint64_t a, uint64_t b)
{
    uint64_t a_high = a >> 32, a_low = (uint32_t)a;
    uint64_t b_high = b >> 32, b_low = (uint32_t)b;
    uint64_t lowest = a_low * b_low;
    uint64_t middle = a_high * b_low + (lowest >> 32);
    uint64_t other_middle = a_low * b_high + (uint32_t)middle;
    return (struct decimal_product){
        .high = a_high * b_high + (middle >> 32) + (other_middle >> 32),
        .low = other_middle << 32 | (uint32_t)lowest,
    };
}
