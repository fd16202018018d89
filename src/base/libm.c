/* SPDX-License-Identifier: MIT */
#include "base/libm.h"

#include "base/hash.h"

#include <math.h>
#include <stddef.h>

enum { POINTS = 16 };

/* As a rotation takes it. */
static double power(double exponent)
{
    return pow(10000, exponent);
}

/* Arguments numerators[i] / denominator. Of exp, log and tanh they are some of those at which the variants of glibc
 * 2.36 with FMA and without differ: the result lies so near to the middle between two doubles that each implementation
 * rounds it its own way. Those of the others are n / 65536 whose result lies nearest to such a middle. */
static const struct row {
    unsigned bit;
    double (*function)(double);
    double denominator;
    int numerators[POINTS];
} ROWS[] = {
    {LIBM_EXP,
     exp,
     4096,
     {-67614, -66049, -60216, -57310, -53496, -49470, -44744, -41797, -39867, -35925, -29849, -23012, -17022, -10284,
      -4334, -962}},
    {LIBM_EXP2,
     exp2,
     65536,
     {-18759, 46777, -28220, 37316, 6021, -59515, 40770, -24766, -7191, 58345, -23833, 41703, -53307, 12229, -16142,
      49394}},
    {LIBM_LOG,
     log,
     64,
     {58182, 164476, 386398, 464972, 603942, 747698, 1249429, 1470248, 1483644, 1842661, 1916348, 2000149, 2517352,
      2984142, 3274358, 3934372}},
    {LIBM_TANH,
     tanh,
     65536,
     {1421, 3196, 5048, 5200, 6465, 7228, 8203, 9595, 10427, 11277, 13164, 15175, 17884, 30447, 56473, 126563}},
    {LIBM_POW,
     power,
     65536,
     {26827, 4039, 47042, 27905, 59442, 2757, 54642, 53657, 56639, 41085, 11317, 13179, 6767, 20853, 10623, 43598}},
    {LIBM_COS,
     cos,
     65536,
     {69619, 265104, 281843, 236961, 307963, 280685, 177680, 197542, 351587, 105158, 44735, 333083, 258858, 134880,
      65405, 207880}},
    {LIBM_SIN,
     sin,
     65536,
     {31042, 259462, 34818, 28805, 50756, 236940, 258466, 54288, 152729, 89695, 328751, 147722, 330843, 133390, 199861,
      6600}},
};

uint64_t libm_fingerprint(unsigned functions)
{
    uint64_t hash = functions == 0 ? 0 : HASH_START;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        for (size_t point = 0; point < POINTS && (functions & ROWS[i].bit) != 0; point++) {
            const double result = ROWS[i].function(ROWS[i].numerators[point] / ROWS[i].denominator);
            hash = hash_bytes(hash, &result, sizeof result);
        }
    return hash;
}
