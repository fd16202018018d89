/* SPDX-License-Identifier: MIT */
/* The numbers of an exercise, by a small generator of its own, of two decimals. */
#include "attention.h"
#include "support.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static uint32_t state;

/* A whole number below `below`: Knuth's multiplier and increment, its upper bits. */
static int next(int below)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (uint32_t)below);
}

static void fill(double *numbers, size_t size, double bound)
{
    for (size_t i = 0; i < size / sizeof *numbers; i++)
        numbers[i] = (float)(bound * (next(201) - 100) / 100);
}

/* Numbers of float16 whose bits, read as bfloat16 or with their bytes swapped, are numbers of the same size. */
static double next_half(void)
{
    static const int HIGH[] = {0x3e, 0x3f, 0x40}, LOW[] = {0x3c, 0x3d, 0x3e, 0x3f, 0x40, 0xbc, 0xbd, 0xbe};
    const int bits = HIGH[next(3)] << 8 | LOW[next(8)];
    const double half = ldexp(1024 + (bits & 1023), (bits >> 10) - 25);
    return next(2) ? half : -half;
}

static void fill_halves(double *numbers, size_t size)
{
    for (size_t i = 0; i < size / sizeof *numbers; i++)
        numbers[i] = next_half();
}

/* Whole numbers, so that all scores but those that are too large are exact in float16. */
static void make_loud(struct sheet *s)
{
    for (int role = 0; role < ROLES; role++)
        for (int t = 0; t < s->Tk; t++)
            for (int c = 0; c < s->d; c++)
                s->part[role][0][0][t][c] = next(5) - 2;
    for (int c = 0; c < s->d; c++) {
        s->part[KEY][0][0][2][c] = c < 3 ? 2 : 1;
        s->part[QUERY][0][0][1][c] *= 32;
        s->part[QUERY][0][0][3][c] = 16384;
    }
    s->part[QUERY][0][0][1][0] = 64;
}

/* A key for every query, and one that it does not see; one row without any. */
static bool sees_entry(const struct exercise *e, int i, int j)
{
    const int tokens = e->queries;
    if (e->entries == EMPTY_ROW)
        return i != 2 && next(4) > 0;
    return i == j || (j != (i + 2) % tokens && next(2) > 0);
}

static void make_entries(struct sheet *s)
{
    const struct exercise *e = s->exercise;
    for (int b = 0; b < s->B; b++)
        for (int i = 0; i < s->Tq; i++)
            for (int j = 0; j < s->Tk; j++) {
                const double seen = e->entries == OF_KEYS ? j < 4 - b : sees_entry(e, i, j);
                for (int h = 0; h < s->H; h++)
                    s->entries[b][h][i][j] = seen;
            }
}

static void make_bias(struct sheet *s)
{
    fill((double *)s->bias, sizeof s->bias, 1);
    fill(s->out_bias, sizeof s->out_bias, 1);
}

static void make_parameters(struct sheet *s)
{
    fill((double *)s->weight, sizeof s->weight, 1);
    fill((double *)s->out_weight, sizeof s->out_weight, 1);
    if (s->exercise->has_biases)
        make_bias(s);
}

/* Those of Press et al. for four heads: 1/4, 1/16, 1/64, 1/256. */
static void make_slopes(struct sheet *s)
{
    for (int h = 0; h < HEADS + 2; h++)
        s->slopes[h] = ldexp(1, -2 * h);
}

static void read_inputs(struct sheet *s)
{
    cJSON *file = support_json(s->exercise->file);
    double numbers[TOKENS * WIDTH];
    support_numbers(cJSON_GetObjectItemCaseSensitive(file, "inputs"), numbers, TOKENS * WIDTH);
    for (int i = 0; i < s->Tq * s->d_in; i++)
        s->inputs[0][i / s->d_in][i % s->d_in] = (float)numbers[i];
    cJSON_Delete(file);
}

static void make_numbers(struct sheet *s)
{
    const struct exercise *e = s->exercise;
    if (e->kind == FLOAT16)
        fill_halves((double *)s->part, sizeof s->part);
    else if (e->loud)
        make_loud(s);
    else if (s->d_in == 0)
        fill((double *)s->part, sizeof s->part, 2);
    if (e->file != NULL)
        read_inputs(s);
    else
        fill((double *)s->inputs, sizeof s->inputs, 2);
    if (s->d_in > 0 && !e->draws)
        make_parameters(s);
    make_entries(s);
    if (e->slopes)
        make_slopes(s);
    if (e->sinks)
        fill(s->sinks, sizeof s->sinks, 2);
}

static int or_else(int given, int other)
{
    return given > 0 ? given : other;
}

void sheet_begin(struct sheet *s, enum exercise_id id)
{
    const struct exercise *e = &EXERCISES[id];
    memset(s, 0, sizeof *s);
    s->exercise = e;
    s->B = or_else(e->items, 1);
    s->H = or_else(e->heads, 1);
    s->G = or_else(e->kv_heads, s->H);
    s->Tq = e->queries;
    s->Tk = or_else(e->keys, e->queries);
    s->d = e->d;
    s->D = s->H * s->d;
    s->d_in = e->d_in;
    s->kind = e->kind;
    s->share = e->dropout;
    s->columns = s->d;
    state = (uint32_t)id * 2654435761u + 12345;
    make_numbers(s);
}
