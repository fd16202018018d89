/* SPDX-License-Identifier: MIT */
/* PyTorch's random generator on the CPU, draw for draw: mt19937 and what torch.rand, torch.randn and dropout make of
 * its outputs, as in PyTorch 2.15; the tests hold its streams.
 *
 * The generator itself: M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998), with the seeding by one
 * 32-bit word of 2002. */
#pragma once

#include "base/choice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The build of PyTorch to reproduce, with the words of options: for AVX2 and AVX-512, where a uniform is one fused
 * multiply-add; without FMA, with two roundings; and as the first, but dropout by Intel MKL's generator, as on Intel
 * processors. */
#define TORCH_RANDOM_BUILDS(ROW)             \
    ROW(TORCH_RANDOM_VECTOR, "torch")        \
    ROW(TORCH_RANDOM_SCALAR, "torch-scalar") \
    ROW(TORCH_RANDOM_MKL, "torch-mkl")

enum torch_random_build { TORCH_RANDOM_BUILDS(CHOICE_ID) };

/* How to draw a projection: as nn.Linear does, by torch.rand, torch.randn, torch.rand - 0.5, by nn.init.xavier_uniform_
 * of (d_in, d_out), or of the weights of finished nn.Linear modules, as nn.MultiheadAttention does; by torch.ones,
 * torch.randn times a number, nn.init.normal_ and kaiming_uniform_. trunc_normal_ of 0.02 within +-2 is normal_. */
#define INITS(ROW)                                                                               \
    ROW(INIT_LINEAR, "linear") ROW(INIT_RAND, "rand") ROW(INIT_RANDN, "randn")                   \
    ROW(INIT_RAND_CENTRED, "rand-centred") ROW(INIT_XAVIER, "xavier")                            \
    ROW(INIT_XAVIER_LINEAR, "xavier-linear") ROW(INIT_MHA, "mha") ROW(INIT_ONES, "ones")         \
    ROW(INIT_RANDN_002, "randn-0.02") ROW(INIT_RANDN_001, "randn-0.01")                          \
    ROW(INIT_RANDN_D_IN, "randn-d-in") ROW(INIT_NORMAL_002, "normal-0.02")                       \
    ROW(INIT_NORMAL_001, "normal-0.01") ROW(INIT_NORMAL_D_IN, "normal-d-in")                     \
    ROW(INIT_KAIMING, "kaiming") ROW(INIT_KAIMING_LINEAR, "kaiming-linear")

enum init { INITS(CHOICE_ID) INIT_COUNT };

/* The spread of a way to draw: its gain; that over sqrt(d_in), over the square root of the stored columns, or of the
 * mean of d_in and d_out. */
enum init_unit { INIT_UNIT_ONE, INIT_UNIT_D_IN, INIT_UNIT_COLUMNS, INIT_UNIT_MEAN };

struct init_row {
    bool transposed; /* weights are (d_out, d_in), as nn.Linear stores them */
    bool again;      /* each weight once more, after all modules are made by nn.Linear */
    bool normal;     /* torch.randn's numbers, with the spread as their standard deviation; else uniform: */
    enum init_unit unit;
    double gain, from; /* from `from` to `from` + gain; unless ONE, of that standard deviation around 0 */
};

extern const struct init_row INIT_ROWS[INIT_COUNT];

enum { TORCH_RANDOM_WORDS = 624 };

struct torch_random {
    uint32_t state[TORCH_RANDOM_WORDS];
    unsigned next; /* the next word to return; TORCH_RANDOM_WORDS: make a new block first */
    enum torch_random_build build;
    bool has_normal; /* `normal` holds the second normal of a pair */
    double normal;
    uint32_t mkl; /* MKL's state within a dropout call */
};

/* As torch.manual_seed(seed): PyTorch uses the low 32 bits. */
void torch_random_seed(struct torch_random *generator, enum torch_random_build build, uint64_t seed);

/* Skips `count` 32-bit outputs, one per value of torch.rand, in some milliseconds at most. */
void torch_random_skip(struct torch_random *generator, uint64_t count);

/* values[count] uniform on [from, to): u (to - from) + from in float32, u = (random() mod 2^24) 2^-24. */
void torch_random_uniform(struct torch_random *generator, float from, float to, float *values, size_t count);

/* values[count] standard normal, as torch.randn: fewer than 16 are Box-Muller pairs in double, cosine first, the sine
 * kept for the next normal across calls; 16 or more come from uniforms in blocks of 16. _of: times a standard
 * deviation, as Tensor.normal_. */
void torch_random_normal(struct torch_random *generator, float *values, size_t count);
void torch_random_normal_of(struct torch_random *generator, double deviation, float *values, size_t count);

/* Begins a dropout call: a build with MKL seeds its generator here. */
void torch_random_dropout_begin(struct torch_random *generator);

/* Draws the next `count` elements of the dropout call: kept[i] = u < 1 - dropout. */
void torch_random_dropout(struct torch_random *generator, double dropout, bool *kept, size_t count);
