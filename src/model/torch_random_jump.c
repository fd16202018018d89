/* SPDX-License-Identifier: MIT */
#include "model/torch_random_jump.h"

#include <string.h>

/* PRODUCT_WORDS: of a product of two residues, and a last word that add_word may write 0 to. */
enum { PRODUCT_WORDS = 2 * TORCH_RANDOM_JUMP_WORDS + 1, TERMS = 135 };

bool torch_random_jump_has(const uint64_t *jump, size_t i)
{
    return (jump[i / 64] >> i % 64 & 1) != 0;
}

/* Adds 64 coefficients from x^place on. */
static void add_word(uint64_t *polynomial, size_t place, uint64_t word)
{
    polynomial[place / 64] ^= word << place % 64;
    if (place % 64 > 0)
        polynomial[place / 64 + 1] ^= word >> (64 - place % 64);
}

static uint64_t word_at(const uint64_t *polynomial, size_t place)
{
    const uint64_t low = polynomial[place / 64] >> place % 64;
    return place % 64 > 0 ? low | polynomial[place / 64 + 1] << (64 - place % 64) : low;
}

/* Multiplies the polynomial by x^first + x^second (x^first alone where they are equal). */
static void multiply(uint64_t *polynomial, size_t first, size_t second)
{
    uint64_t product[PRODUCT_WORDS] = {0};
    for (size_t i = 0; i < TORCH_RANDOM_JUMP_WORDS; i++) {
        add_word(product, 64 * i + first, polynomial[i]);
        if (second != first)
            add_word(product, 64 * i + second, polynomial[i]);
    }
    memcpy(polynomial, product, TORCH_RANDOM_JUMP_WORDS * sizeof *polynomial);
}

/* The exponents of the characteristic polynomial, ascending: x (u^32 + sum of a_i u^(31 - i), i = 0 .. 30) + a_31, with
 * u = x^623 + x^396 and the bits a_i of the twist's constant (Matsumoto and Nishimura 1998). */
static void list_terms(size_t terms[TERMS])
{
    const uint32_t twist = 0x9908b0df;
    uint64_t polynomial[TORCH_RANDOM_JUMP_WORDS] = {1};
    size_t count = 0;
    for (unsigned i = 0; i < 31; i++) {
        multiply(polynomial, 623, 396);
        polynomial[0] ^= twist >> i & 1;
    }
    multiply(polynomial, 623, 396);
    multiply(polynomial, 1, 1);
    polynomial[0] ^= twist >> 31;
    for (size_t i = 0; i <= TORCH_RANDOM_JUMP_DEGREE; i++)
        if (torch_random_jump_has(polynomial, i))
            terms[count++] = i;
}

/* Reduces the product modulo the characteristic polynomial, a word at a time from the highest down. This works since
 * the polynomial's second term is more than a word below its first. */
static void reduce(uint64_t *product, const size_t terms[TERMS])
{
    for (size_t above = TORCH_RANDOM_JUMP_WORDS; above-- > 0;) {
        const uint64_t word = word_at(product, TORCH_RANDOM_JUMP_DEGREE + 64 * above);
        for (size_t i = 0; word != 0 && i < TERMS; i++)
            add_word(product, terms[i] + 64 * above, word);
    }
}

/* The lower half of the bits, with a 0 after each. */
static uint64_t spread(uint64_t bits)
{
    bits &= 0xffffffff;
    bits = (bits | bits << 16) & UINT64_C(0x0000ffff0000ffff);
    bits = (bits | bits << 8) & UINT64_C(0x00ff00ff00ff00ff);
    bits = (bits | bits << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    bits = (bits | bits << 2) & UINT64_C(0x3333333333333333);
    return (bits | bits << 1) & UINT64_C(0x5555555555555555);
}

/* Writes the square of the polynomial, whose exponents double, times x^shift. */
static void square(uint64_t *product, const uint64_t *polynomial, size_t shift)
{
    memset(product, 0, PRODUCT_WORDS * sizeof *product);
    for (size_t i = 0; i < TORCH_RANDOM_JUMP_WORDS; i++) {
        add_word(product, 128 * i + shift, spread(polynomial[i]));
        add_word(product, 128 * i + 64 + shift, spread(polynomial[i] >> 32));
    }
}

void torch_random_jump_polynomial(uint64_t count, uint64_t *jump)
{
    uint64_t product[PRODUCT_WORDS];
    size_t terms[TERMS];
    list_terms(terms);
    memset(jump, 0, TORCH_RANDOM_JUMP_WORDS * sizeof *jump);
    jump[0] = 1;
    for (int bit = 63; bit >= 0; bit--) {
        square(product, jump, count >> bit & 1);
        reduce(product, terms);
        memcpy(jump, product, TORCH_RANDOM_JUMP_WORDS * sizeof *jump);
    }
}
