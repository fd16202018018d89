/* SPDX-License-Identifier: MIT */
/* What a kernel writer gets wrong: tiles, bits, and what 16 bits hold. */
#include "cases.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* --- a running softmax over tiles of keys ------------------------------------------------------------------------ */

/* A row: the largest so far, the sum of exponentials below it, and the context that belongs to them. */
struct running {
    double largest, sum, context[WIDTH];
};

static double largest_of_tile(const double *masked, int first, int end, double largest)
{
    for (int j = first; j < end; j++)
        largest = fmax(largest, masked[j]);
    return largest;
}

static void add_tile(struct running *row, const double *masked, double (*value)[WIDTH], int first, int end)
{
    for (int j = first; j < end; j++) {
        const double power = exp(masked[j] - row->largest);
        row->sum += power;
        for (int c = 0; c < WIDTH; c++)
            row->context[c] += power * value[j][c];
    }
}

static void multiply_context(struct running *row, double by)
{
    for (int c = 0; c < WIDTH; c++)
        row->context[c] *= by;
}

typedef void add(struct running *row, const double *masked, double (*value)[WIDTH], int first, int end);

/* Each row of the head, tile by tile; `divides`: by its sum in the end. */
static void in_tiles(struct sheet *s, int b, int h, int tile, add *add_one, bool divides)
{
    for (int i = 0; i < s->Tq; i++) {
        struct running row = {.largest = -INFINITY};
        const double *masked = s->masked[b][h][i];
        for (int first = 0; first < s->Tk; first += tile) {
            const int end = first + tile < s->Tk ? first + tile : s->Tk;
            if (largest_of_tile(masked, first, end, -INFINITY) > -INFINITY)
                add_one(&row, masked, s->used[VALUE][b][s->group[h]], first, end);
        }
        multiply_context(&row, divides ? 1 / row.sum : 1);
        memcpy(s->context[b][h][i], row.context, sizeof row.context);
    }
}

static void sum_rescaled_alone(struct running *row, const double *masked, double (*value)[WIDTH], int first, int end)
{
    const double before = row->largest;
    row->largest = largest_of_tile(masked, first, end, before);
    row->sum *= exp(before - row->largest);
    add_tile(row, masked, value, first, end);
}

static void context_rescaled_alone(struct running *row, const double *masked, double (*value)[WIDTH], int first,
                                   int end)
{
    const double before = row->largest;
    row->largest = largest_of_tile(masked, first, end, before);
    multiply_context(row, exp(before - row->largest));
    add_tile(row, masked, value, first, end);
}

static void divided_each_time(struct running *row, const double *masked, double (*value)[WIDTH], int first, int end)
{
    const double before = row->largest;
    row->largest = largest_of_tile(masked, first, end, before);
    row->sum *= exp(before - row->largest);
    multiply_context(row, exp(before - row->largest));
    add_tile(row, masked, value, first, end);
    multiply_context(row, 1 / row->sum);
}

static void begun_again(struct running *row, const double *masked, double (*value)[WIDTH], int first, int end)
{
    *row = (struct running){.largest = largest_of_tile(masked, first, end, -INFINITY)};
    add_tile(row, masked, value, first, end);
}

static void context_not_rescaled_2(struct sheet *s, int b, int h)
{
    in_tiles(s, b, h, 2, sum_rescaled_alone, true);
}

static void context_not_rescaled_4(struct sheet *s, int b, int h)
{
    in_tiles(s, b, h, 4, sum_rescaled_alone, true);
}

static void sum_not_rescaled_2(struct sheet *s, int b, int h)
{
    in_tiles(s, b, h, 2, context_rescaled_alone, true);
}

static void context_divided_2(struct sheet *s, int b, int h)
{
    in_tiles(s, b, h, 2, divided_each_time, false);
}

static void context_divided_4(struct sheet *s, int b, int h)
{
    in_tiles(s, b, h, 4, divided_each_time, false);
}

static void last_alone_4(struct sheet *s, int b, int h)
{
    in_tiles(s, b, h, 4, begun_again, true);
}

/* --- bits -------------------------------------------------------------------------------------------------------- */

static unsigned bits_of_half(double number)
{
    int exponent;
    const double fraction = frexp(fabs(number), &exponent);
    return (number < 0 ? 1u << 15 : 0) | (unsigned)(exponent + 14) << 10 | ((unsigned)ldexp(fraction, 11) & 1023);
}

static double half_of_bits(unsigned bits)
{
    const double number = ldexp(1024 + (bits & 1023), (int)(bits >> 10 & 31) - 25);
    return bits >> 15 ? -number : number;
}

/* __nv_bfloat16 for __half */
static double as_bfloat16(double number)
{
    const uint32_t bits = bits_of_half(number) << 16;
    float read;
    memcpy(&read, &bits, sizeof read);
    return read;
}

/* Another byte order. */
static double as_swapped(double number)
{
    const unsigned bits = bits_of_half(number);
    return half_of_bits((bits & 255) << 8 | bits >> 8);
}

static void read_as(struct sheet *s, int role, double (*read)(double))
{
    for (int b = 0; b < s->B; b++)
        for (int h = 0; h < s->G; h++)
            for (int t = 0; t < s->Tk; t++)
                for (int c = 0; c < s->d; c++)
                    s->part[role][b][h][t][c] = read(s->part[role][b][h][t][c]);
}

static void bits_query(struct sheet *s)
{
    read_as(s, QUERY, as_bfloat16);
}

static void bits_key(struct sheet *s)
{
    read_as(s, KEY, as_bfloat16);
}

static void bits_value(struct sheet *s)
{
    read_as(s, VALUE, as_bfloat16);
}

static void bits_all(struct sheet *s)
{
    for (int role = 0; role < ROLES; role++)
        read_as(s, role, as_bfloat16);
}

static void bits_swapped(struct sheet *s)
{
    for (int role = 0; role < ROLES; role++)
        read_as(s, role, as_swapped);
}

/* --- 16 bits ----------------------------------------------------------------------------------------------------- */

static void keep_all(double *numbers, size_t size, enum kind kind)
{
    for (size_t i = 0; i < size / sizeof *numbers; i++)
        numbers[i] = keep(kind, numbers[i]);
}

/* What is given, and from here on each stage. */
static void compute_in(struct sheet *s, enum kind kind)
{
    s->kind = kind;
    keep_all((double *)s->part, sizeof s->part, kind);
    keep_all((double *)s->inputs, sizeof s->inputs, kind);
    keep_all((double *)s->weight, sizeof s->weight, kind);
    keep_all((double *)s->out_weight, sizeof s->out_weight, kind);
}

static void in_bfloat16(struct sheet *s)
{
    compute_in(s, BFLOAT16);
}

static void in_float16(struct sheet *s)
{
    compute_in(s, FLOAT16);
}

static void in_float8_e4m3(struct sheet *s)
{
    compute_in(s, FLOAT8_E4M3);
}

static void in_float8_e5m2(struct sheet *s)
{
    compute_in(s, FLOAT8_E5M2);
}

/* The scores alone are __half; what follows is float. */
static void scores_in_float16(struct sheet *s, int b, int h)
{
    keep_all(s->scores[b][h][0], sizeof s->scores[b][h], FLOAT16);
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

/* The context is made of masked; what lies between is not looked at. */
#define TILED(function)                                                        \
    {                                                                          \
        .head = { [SOFTMAX] = leave, [DROPOUT] = leave, [CONTEXT] = function } \
    }

static const struct mistaken ROWS[] = {
    {"tiles-context-not-rescaled:2", ON(PLAIN) | ON(GROUPED), TILED(context_not_rescaled_2)},
    {"tiles-context-not-rescaled:4", ON(PLAIN), TILED(context_not_rescaled_4)},
    {"tiles-context-divided:2", ON(PLAIN) | ON(GROUPED), TILED(context_divided_2)},
    {"tiles-context-divided:4", ON(PLAIN), TILED(context_divided_4)},
    {"tiles-sum-not-rescaled:2", ON(PLAIN) | ON(GROUPED), TILED(sum_not_rescaled_2)},
    {"tiles-last-alone:4", ON(PLAIN) | ON(GROUPED), TILED(last_alone_4)},
    {"bits-bf16", ON(HALF), {.whole[BITS] = bits_all}},
    {"bits-query-bf16", ON(HALF), {.whole[BITS] = bits_query}},
    {"bits-key-bf16", ON(HALF), {.whole[BITS] = bits_key}},
    {"bits-value-bf16", ON(HALF), {.whole[BITS] = bits_value}},
    {"bits-swapped", ON(HALF), {.whole[BITS] = bits_swapped}},
    {"dtype-bf16", ON(PLAIN) | ON(WIDE), {.whole[SEED] = in_bfloat16}},
    {"dtype-f16", ON(PLAIN), {.whole[SEED] = in_float16}},
    {"dtype-f8e4m3", ON(PLAIN), {.whole[SEED] = in_float8_e4m3}},
    {"dtype-f8e5m2", ON(PLAIN), {.whole[SEED] = in_float8_e5m2}},
    {"overflow-f16", ON(LOUD), {.head[BEFORE_SCALE] = scores_in_float16}},
};

const struct case_list CASES_OF_KERNELS = {ROWS, sizeof ROWS / sizeof *ROWS};
