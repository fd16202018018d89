/* SPDX-License-Identifier: MIT */
#include "model/torch_random.h"

#include "model/torch_random_jump.h"

#include <math.h>
#include <string.h>

/* FAR: beyond it a jump is faster than steps. */
enum { PERIOD_OFFSET = 397, NORMAL_BLOCK = 16, FAR = 1 << 23 };

static const double TWO_PI = 6.28318530717958647692;
static const uint32_t MKL_MODULUS = 0x7fffffff; /* 2^31 - 1 */
static const uint32_t MKL_MULTIPLIER = 1132489760;

void torch_random_seed(struct torch_random *generator, enum torch_random_build build, uint64_t seed)
{
    *generator = (struct torch_random){.build = build, .next = TORCH_RANDOM_WORDS};
    uint32_t *state = generator->state;
    state[0] = (uint32_t)(seed & 0xffffffff);
    for (uint32_t i = 1; i < TORCH_RANDOM_WORDS; i++)
        state[i] = UINT32_C(1812433253) * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
}

/* The next state word from its own upper bit, the lower bits of its neighbour and the word PERIOD_OFFSET on. */
static uint32_t twist(uint32_t word, uint32_t neighbour, uint32_t far)
{
    uint32_t mixed = (word & 0x80000000) | (neighbour & 0x7fffffff);
    return far ^ (mixed >> 1) ^ (-(neighbour & 1) & 0x9908b0df);
}

static void next_block(struct torch_random *generator)
{
    uint32_t *state = generator->state;
    const size_t n = TORCH_RANDOM_WORDS, m = PERIOD_OFFSET;
    for (size_t i = 0; i < n - m; i++)
        state[i] = twist(state[i], state[i + 1], state[i + m]);
    for (size_t i = n - m; i < n - 1; i++)
        state[i] = twist(state[i], state[i + 1], state[i - (n - m)]);
    state[n - 1] = twist(state[n - 1], state[0], state[m - 1]);
    generator->next = 0;
}

static uint32_t random_32(struct torch_random *generator)
{
    if (generator->next == TORCH_RANDOM_WORDS)
        next_block(generator);
    uint32_t word = generator->state[generator->next++];
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return word ^ (word >> 18);
}

static double uniform_53(struct torch_random *generator)
{
    const uint64_t high = random_32(generator), both = high << 32 | random_32(generator);
    return (double)(both & ((UINT64_C(1) << 53) - 1)) * 0x1p-53;
}

/* Moves to the block that ends right before the output `count` outputs later (at least a block): each word is a sum of
 * words that follow the same index of the current block. */
static void jump(struct torch_random *generator, uint64_t count)
{
    const uint64_t words = generator->next + count - TORCH_RANDOM_WORDS;
    uint64_t polynomial[TORCH_RANDOM_JUMP_WORDS];
    uint32_t blocks[2 * TORCH_RANDOM_WORDS], sum[TORCH_RANDOM_WORDS] = {0};
    torch_random_jump_polynomial(words, polynomial);
    memcpy(blocks + TORCH_RANDOM_WORDS, generator->state, sizeof sum);
    for (size_t i = 0; i < TORCH_RANDOM_JUMP_DEGREE; i++) {
        if (i % TORCH_RANDOM_WORDS == 0) {
            next_block(generator);
            memcpy(blocks, blocks + TORCH_RANDOM_WORDS, sizeof sum);
            memcpy(blocks + TORCH_RANDOM_WORDS, generator->state, sizeof sum);
        }
        for (size_t word = 0; word < TORCH_RANDOM_WORDS && torch_random_jump_has(polynomial, i); word++)
            sum[word] ^= blocks[i % TORCH_RANDOM_WORDS + word];
    }
    memcpy(generator->state, sum, sizeof sum);
    generator->next = TORCH_RANDOM_WORDS;
}

void torch_random_skip(struct torch_random *generator, uint64_t count)
{
    if (count > FAR) {
        jump(generator, count);
        return;
    }
    while (count > TORCH_RANDOM_WORDS - generator->next) {
        count -= TORCH_RANDOM_WORDS - generator->next;
        next_block(generator);
    }
    generator->next += (unsigned)count;
}

void torch_random_uniform(struct torch_random *generator, float from, float to, float *values, size_t count)
{
    const float width = to - from;
    for (size_t i = 0; i < count; i++) {
        float u = (float)(random_32(generator) & 0xffffff) * 0x1p-24f;
        if (generator->build == TORCH_RANDOM_SCALAR || width == 1) /* the product is exact */
            values[i] = u * width + from;
        else
            values[i] = fmaf(u, width, from);
    }
}

static double normal_of_pair(struct torch_random *generator)
{
    if (generator->has_normal) {
        generator->has_normal = false;
        return generator->normal;
    }
    double u1 = uniform_53(generator);
    double u2 = uniform_53(generator);
    double radius = sqrt(-2 * log1p(-u2));
    generator->normal = radius * sin(TWO_PI * u1);
    generator->has_normal = true;
    return radius * cos(TWO_PI * u1);
}

/* Turns NORMAL_BLOCK uniforms into as many normals, in place. */
static void normals_of_block(float *values)
{
    const int half = NORMAL_BLOCK / 2;
    for (int i = 0; i < half; i++) {
        double u1 = 1 - (double)values[i];
        double u2 = values[i + half];
        double radius = sqrt(-2 * log(u1));
        values[i] = (float)(radius * cos(TWO_PI * u2));
        values[i + half] = (float)(radius * sin(TWO_PI * u2));
    }
}

void torch_random_normal(struct torch_random *generator, float *values, size_t count)
{
    torch_random_normal_of(generator, 1, values, count);
}

void torch_random_normal_of(struct torch_random *generator, double deviation, float *values, size_t count)
{
    if (count < NORMAL_BLOCK) {
        for (size_t i = 0; i < count; i++)
            values[i] = (float)(normal_of_pair(generator) * deviation);
        return;
    }
    torch_random_uniform(generator, 0, 1, values, count);
    for (size_t i = 0; i + NORMAL_BLOCK <= count; i += NORMAL_BLOCK)
        normals_of_block(values + i);
    if (count % NORMAL_BLOCK != 0) {
        float *last = values + count - NORMAL_BLOCK;
        torch_random_uniform(generator, 0, 1, last, NORMAL_BLOCK);
        normals_of_block(last);
    }
    for (size_t i = 0; i < count && deviation != 1; i++)
        values[i] *= (float)deviation;
}

void torch_random_dropout_begin(struct torch_random *generator)
{
    if (generator->build != TORCH_RANDOM_MKL)
        return;
    generator->mkl = random_32(generator) % MKL_MODULUS;
    if (generator->mkl == 0)
        generator->mkl = 1;
}

static double uniform_mkl(struct torch_random *generator)
{
    double u = (double)generator->mkl / MKL_MODULUS;
    generator->mkl = (uint32_t)((uint64_t)MKL_MULTIPLIER * generator->mkl % MKL_MODULUS);
    return u;
}

void torch_random_dropout(struct torch_random *generator, double dropout, bool *kept, size_t count)
{
    const bool mkl = generator->build == TORCH_RANDOM_MKL;
    for (size_t i = 0; i < count; i++)
        kept[i] = (mkl ? uniform_mkl(generator) : uniform_53(generator)) < 1 - dropout;
}
