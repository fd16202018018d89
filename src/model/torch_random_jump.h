/* SPDX-License-Identifier: MIT */
/* Jumps mt19937 far ahead.
 *
 * Its next state word is a sum, in the field of two elements, of bits of earlier ones, so any word of the sequence w is
 * such a sum of 19937 consecutive ones: w[k + count] = sum of w[k + i] over the terms x^i of x^count modulo the
 * characteristic polynomial. H. Haramoto, M. Matsumoto, T. Nishimura, F. Panneton and P. L'Ecuyer, "Efficient Jump
 * Ahead for F2-Linear Random Number Generators", INFORMS Journal on Computing 20 (2008), section 3. Polynomials are
 * bits: x^i is bit i % 64 of word i / 64. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TORCH_RANDOM_JUMP_DEGREE = 19937, TORCH_RANDOM_JUMP_WORDS = TORCH_RANDOM_JUMP_DEGREE / 64 + 1 };

/* Writes x^count modulo the characteristic polynomial to jump (TORCH_RANDOM_JUMP_WORDS), in a few milliseconds. */
void torch_random_jump_polynomial(uint64_t count, uint64_t *jump);

/* Whether the polynomial has the term x^i. */
bool torch_random_jump_has(const uint64_t *jump, size_t i);
