/* PyTorch's random generator on the CPU, draw for draw: mt19937 and what torch.rand, torch.randn and dropout make of
 * its outputs. Each fact below was checked against PyTorch 2.15; the tests hold its streams.
 *
 * The generator itself: M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998), with the seeding by one
 * 32-bit word of 2002. */
#ifndef ATTN_GENERATOR_H
#define ATTN_GENERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which build of PyTorch is reproduced; the values are those of the option --rng. */
enum generator_build {
    GENERATOR_TORCH,        /* AVX2 and AVX-512: a uniform is one fused multiply-add */
    GENERATOR_TORCH_SCALAR, /* without FMA: two roundings */
    GENERATOR_TORCH_MKL,    /* as TORCH; dropout by Intel MKL's generator, as on Intel processors */
};

enum { GENERATOR_WORDS = 624 };

struct generator {
    uint32_t state[GENERATOR_WORDS];
    unsigned next; /* the word to give next; GENERATOR_WORDS where a new block is due */
    enum generator_build build;
    bool has_normal; /* the second normal of a pair waits in `normal` */
    double normal;
    uint32_t mkl; /* MKL's state within a dropout call */
};

/* As torch.manual_seed(seed): PyTorch uses the low 32 bits. */
void generator_seed(struct generator *generator, enum generator_build build, uint64_t seed);

/* Throws away `count` 32-bit outputs, one for each value of torch.rand; some milliseconds, however many they are. */
void generator_skip(struct generator *generator, uint64_t count);

/* values[count] uniform on [from, to): u (to - from) + from in float32, u = (random() mod 2^24) 2^-24. */
void generator_uniform(struct generator *generator, float from, float to, float *values, size_t count);

/* values[count] standard normal, as torch.randn: fewer than 16 are Box-Muller pairs in double, cosine first, the sine
 * kept for the next normal across calls; 16 or more are made from uniforms in blocks of 16. */
void generator_normal(struct generator *generator, float *values, size_t count);

/* A dropout call begins: a build with MKL seeds its own generator here. */
void generator_dropout_begin(struct generator *generator);

/* The next `count` elements of the present dropout call: kept[i] = u < 1 - dropout. */
void generator_dropout(struct generator *generator, double dropout, bool *kept, size_t count);

#endif
