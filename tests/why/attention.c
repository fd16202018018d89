/* SPDX-License-Identifier: MIT */
#include "attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- numbers ----------------------------------------------------------------------------------------------------- */

static double round_to(double number, int bits, int lowest)
{
    int exponent;
    frexp(number, &exponent);
    const int unit = exponent - bits > lowest ? exponent - bits : lowest;
    return ldexp(nearbyint(ldexp(number, -unit)), unit);
}

double keep(enum kind kind, double number)
{
    /* The bits of a fraction, the power of two of the smallest number, the largest one, and what is beyond it. */
    static const struct {
        int bits, lowest;
        double largest, beyond;
    } KINDS[] = {[FLOAT16] = {11, -24, 65504, (double)INFINITY},
                 [BFLOAT16] = {8, -133, 0x1.fep127, (double)INFINITY},
                 [FLOAT8_E4M3] = {4, -9, 448, 448},
                 [FLOAT8_E5M2] = {3, -16, 57344, (double)INFINITY}};
    if (kind == FLOAT32 || !isfinite(number))
        return (float)number;
    const double rounded = round_to(number, KINDS[kind].bits, KINDS[kind].lowest);
    return fabs(rounded) > KINDS[kind].largest ? copysign(KINDS[kind].beyond, number) : rounded;
}

static void keep_all(const struct sheet *s, double *numbers, size_t size)
{
    for (size_t i = 0; i < size / sizeof *numbers; i++)
        numbers[i] = keep(s->kind, numbers[i]);
}

/* --- parameters -------------------------------------------------------------------------------------------------- */

static void seed(struct sheet *s)
{
    torch_random_seed(&s->random, TORCH_RANDOM_VECTOR, s->exercise->seed);
}

static void draw_uniform(struct sheet *s, double bound, double *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        float number;
        torch_random_uniform(&s->random, (float)-bound, (float)bound, &number, 1);
        numbers[i] = number;
    }
}

void draw_linear(struct sheet *s, double (*weight)[WIDTH], double *bias, int in, int out)
{
    const double bound = sqrt(3) * (sqrt(2 / (1 + 5.0)) / sqrt(in));
    for (int row = 0; row < out; row++)
        draw_uniform(s, bound, weight[row], in);
    if (bias != NULL)
        draw_uniform(s, 1 / sqrt(in), bias, out);
}

void draw_rand(struct sheet *s, double (*weight)[WIDTH], int in, int out)
{
    for (int row = 0; row < in; row++)
        for (int column = 0; column < out; column++) {
            float number;
            torch_random_uniform(&s->random, 0, 1, &number, 1);
            weight[column][row] = number;
        }
}

/* Heads of a wrapper are drawn one after another, each with its own query, key and value. */
static void draw(struct sheet *s)
{
    const struct exercise *e = s->exercise;
    const int modules = e->splits ? 1 : s->H, out = s->D / modules;
    if (!e->draws)
        return;
    for (int module = 0; module < modules; module++)
        for (int role = 0; role < ROLES; role++)
            if (e->by_rand)
                draw_rand(s, s->weight[role] + module * out, s->d_in, out);
            else
                draw_linear(s, s->weight[role] + module * out, e->has_biases ? s->bias[role] : NULL, s->d_in, out);
    if (e->splits)
        draw_linear(s, s->out_weight, s->out_bias, s->D, s->D);
}

/* --- projections and heads --------------------------------------------------------------------------------------- */

static double dot(const double *x, const double *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static void project(struct sheet *s)
{
    for (int role = 0; role < ROLES && s->d_in > 0; role++)
        for (int b = 0; b < s->B; b++)
            for (int t = 0; t < s->Tq; t++)
                for (int c = 0; c < s->D; c++)
                    s->flat[role][b][t][c] = dot(s->inputs[b][t], s->weight[role][c], s->d_in) + s->bias[role][c];
}

/* view(B, T, H, d).transpose(1, 2) */
void split(struct sheet *s)
{
    for (int role = 0; role < ROLES && s->d_in > 0; role++)
        for (int b = 0; b < s->B; b++)
            for (int h = 0; h < s->H; h++)
                for (int t = 0; t < s->Tq; t++)
                    memcpy(s->part[role][b][h][t], s->flat[role][b][t] + h * s->d, (size_t)s->d * sizeof(double));
}

static void merge(struct sheet *s)
{
    for (int b = 0; b < s->B; b++)
        for (int h = 0; h < s->H && s->d_in > 0; h++)
            for (int t = 0; t < s->Tq; t++)
                memcpy(s->merged[b][t] + h * s->d, s->context[b][h][t], (size_t)s->d * sizeof(double));
}

void out_proj(struct sheet *s)
{
    if (!s->exercise->splits) {
        memcpy(s->output, s->merged, sizeof s->output);
        return;
    }
    for (int b = 0; b < s->B; b++)
        for (int t = 0; t < s->Tq; t++)
            for (int c = 0; c < s->D; c++)
                s->output[b][t][c] = dot(s->merged[b][t], s->out_weight[c], s->D) + s->out_bias[c];
}

static void group(struct sheet *s)
{
    for (int h = 0; h < s->H; h++)
        s->group[h] = h / (s->H / s->G);
}

void use(struct sheet *s)
{
    memcpy(s->used, s->part, sizeof s->used);
}

/* --- what is seen ------------------------------------------------------------------------------------------------ */

void place(struct sheet *s)
{
    const struct exercise *e = s->exercise;
    for (int b = 0; b < s->B; b++) {
        s->length[b] = e->lengths[b] > 0 ? e->lengths[b] : s->Tk;
        s->offset[b] = e->past > 0 ? e->past : e->last || e->lengths[b] > 0 ? s->length[b] - s->Tq : 0;
    }
}

void all_keys(struct sheet *s)
{
    s->first = 0;
    s->end = s->Tk;
}

bool always(const struct sheet *s, struct place at)
{
    (void)s;
    (void)at;
    return true;
}

static bool sees_causal(const struct sheet *s, struct place at)
{
    return !s->exercise->causal || at.j <= at.i + s->offset[at.b];
}

static bool sees_sides(const struct sheet *s, struct place at)
{
    const struct exercise *e = s->exercise;
    const int distance = at.j - (at.i + s->offset[at.b]);
    if (!e->windowed)
        return true;
    return (e->left < 0 || distance >= -e->left) && (e->right < 0 || distance <= e->right);
}

static bool sees_length(const struct sheet *s, struct place at)
{
    return at.j < s->length[at.b];
}

static bool sees_entry(const struct sheet *s, struct place at)
{
    return s->exercise->entries == NO_ENTRIES || s->entries[at.b][at.h][at.i][at.j] != 0;
}

static void look(struct sheet *s, const struct way *way)
{
    struct place at;
    for (at.b = 0; at.b < s->B; at.b++)
        for (at.h = 0; at.h < s->H; at.h++)
            for (at.i = 0; at.i < s->Tq; at.i++)
                for (at.j = 0; at.j < s->Tk; at.j++) {
                    bool seen = true;
                    for (int rule = 0; rule < RULES; rule++)
                        seen = way->rules[rule](s, at) && seen;
                    s->hidden[at.b][at.h][at.i][at.j] = !seen;
                }
}

/* --- a head ------------------------------------------------------------------------------------------------------ */

void nothing(struct sheet *s)
{
    (void)s;
}

void leave(struct sheet *s, int b, int h)
{
    (void)s;
    (void)b;
    (void)h;
}

static void score(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->scores[b][h][i][j] = dot(s->used[QUERY][b][h][i], s->used[KEY][b][s->group[h]][j], s->d);
}

void multiply(struct sheet *s, int b, int h, double by)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->scaled[b][h][i][j] = s->scores[b][h][i][j] * by;
}

void scale(struct sheet *s, int b, int h)
{
    multiply(s, b, h, 1 / sqrt(s->columns));
}

static void cap(struct sheet *s, int b, int h)
{
    const double c = s->exercise->softcap;
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->capped[b][h][i][j] = c > 0 ? c * tanh(s->scaled[b][h][i][j] / c) : s->scaled[b][h][i][j];
}

static void distance(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->biased[b][h][i][j] = s->capped[b][h][i][j] - s->slopes[1 + h] * abs(i + s->offset[b] - j);
}

void hide(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->masked[b][h][i][j] = s->hidden[b][h][i][j] ? -INFINITY : s->biased[b][h][i][j];
}

static double largest_of(const struct sheet *s, int b, int h, int i)
{
    double largest = s->exercise->sinks ? s->sinks[h] : -INFINITY;
    for (int j = s->first; j < s->end; j++)
        largest = fmax(largest, s->masked[b][h][i][j]);
    return s->zeros > 0 ? fmax(largest, 0) : largest;
}

/* A row of which every key is hidden keeps zeros. */
void softmax_by(struct sheet *s, int b, int h, double (*power)(double))
{
    for (int i = 0; i < s->Tq; i++) {
        const double largest = largest_of(s, b, h, i);
        double sum = s->exercise->sinks ? power(s->sinks[h] - largest) : 0;
        sum += s->zeros > 0 ? s->zeros * power(0 - largest) : 0;
        for (int j = s->first; j < s->end; j++)
            sum += s->weights[b][h][i][j] = power(s->masked[b][h][i][j] - largest);
        for (int j = s->first; j < s->end; j++)
            s->weights[b][h][i][j] = largest > -INFINITY ? s->weights[b][h][i][j] / sum : 0;
    }
}

void softmax(struct sheet *s, int b, int h)
{
    softmax_by(s, b, h, exp);
}

void normalise(double *x, int n)
{
    double largest = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, x[i]);
    for (int i = 0; i < n; i++)
        sum += x[i] = exp(x[i] - largest);
    for (int i = 0; i < n; i++)
        x[i] /= sum;
}

static void fill_empty(struct sheet *s, int b, int h)
{
    const char *how = s->exercise->empty_row;
    for (int i = 0; i < s->Tq && how != NULL; i++)
        for (int j = 0; j < s->Tk && !(largest_of(s, b, h, i) > -INFINITY); j++)
            s->weights[b][h][i][j] = strcmp(how, "mean") == 0 ? 1.0 / s->Tk : NAN;
}

/* PyTorch draws for each number of the whole table, hidden ones too. */
void drop(struct sheet *s, int b, int h)
{
    bool kept[TOKENS];
    memcpy(s->dropped[b][h], s->weights[b][h], sizeof s->dropped[b][h]);
    for (int i = 0; i < s->Tq && s->share > 0; i++) {
        torch_random_dropout(&s->random, s->share, kept, (size_t)s->Tk);
        for (int j = 0; j < s->Tk; j++)
            s->dropped[b][h][i][j] = kept[j] ? s->weights[b][h][i][j] * (float)(1 / (1 - s->share)) : 0;
    }
}

static void weighted_sum(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int c = 0; c < s->d; c++) {
            double sum = 0;
            for (int j = s->first; j < s->end; j++)
                sum += s->dropped[b][h][i][j] * s->used[VALUE][b][s->group[h]][j][c];
            s->context[b][h][i][c] = sum;
        }
}

static void log_sum(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++) {
        const double largest = largest_of(s, b, h, i);
        double sum = s->exercise->sinks ? exp(s->sinks[h] - largest) : 0;
        for (int j = s->first; j < s->end; j++)
            sum += exp(s->masked[b][h][i][j] - largest);
        s->lse[b][h][i] = largest + log(sum);
    }
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static const struct way RIGHT = {
    .whole = {[SEED] = seed,
              [DRAW] = draw,
              [MATRIX] = nothing,
              [BIAS] = nothing,
              [PROJECT] = project,
              [SPLIT] = split,
              [BITS] = nothing,
              [ROLE] = use,
              [GROUP] = group,
              [PLACE] = place,
              [KEYS] = all_keys,
              [MEET] = nothing,
              [MERGE] = merge,
              [OUT] = out_proj},
    .head = {[SCORE] = score,
             [BEFORE_SCALE] = leave,
             [SCALE] = scale,
             [CAP] = cap,
             [DISTANCE] = distance,
             [ADD] = leave,
             [HIDE] = hide,
             [SOFTMAX] = softmax,
             [FILL_EMPTY] = fill_empty,
             [AFTER] = leave,
             [DROPOUT] = drop,
             [CONTEXT] = weighted_sum,
             [LSE] = log_sum},
    .rules = {[CAUSAL] = sees_causal, [SIDES] = sees_sides, [LENGTH] = sees_length, [ENTRY] = sees_entry},
};

/* What a step of the heads has made, to be rounded. */
static void keep_made(struct sheet *s, enum head_step step)
{
    table *made[HEAD_STEPS] = {
        [SCORE] = &s->scores,       [SCALE] = &s->scaled,    [CAP] = &s->capped,     [HIDE] = &s->masked,
        [FILL_EMPTY] = &s->weights, [DROPOUT] = &s->dropped, [CONTEXT] = &s->context};
    if (made[step] != NULL)
        keep_all(s, (double *)made[step], sizeof *made[step]);
    if (step == LSE)
        keep_all(s, (double *)s->lse, sizeof s->lse);
}

static void attend_heads(struct sheet *s, const struct way *way)
{
    look(s, way);
    for (int step = 0; step < HEAD_STEPS; step++) {
        for (int b = 0; b < s->B; b++)
            for (int h = 0; h < s->H; h++)
                way->head[step](s, b, h);
        keep_made(s, (enum head_step)step);
    }
}

bool way_join(struct way *both, const struct way *one, const struct way *other)
{
    bool apart = true;
    *both = *one;
    for (int i = 0; i < WHOLE_STEPS; i++) {
        apart = apart && (one->whole[i] == NULL || other->whole[i] == NULL);
        both->whole[i] = one->whole[i] != NULL ? one->whole[i] : other->whole[i];
    }
    for (int i = 0; i < HEAD_STEPS; i++) {
        apart = apart && (one->head[i] == NULL || other->head[i] == NULL);
        both->head[i] = one->head[i] != NULL ? one->head[i] : other->head[i];
    }
    for (int i = 0; i < RULES; i++) {
        apart = apart && (one->rules[i] == NULL || other->rules[i] == NULL);
        both->rules[i] = one->rules[i] != NULL ? one->rules[i] : other->rules[i];
    }
    return apart;
}

void attend(struct sheet *s, const struct way *wrong)
{
    struct way way;
    way_join(&way, wrong, &RIGHT);
    for (int step = 0; step < WHOLE_STEPS; step++) {
        if (step == MERGE)
            attend_heads(s, &way);
        way.whole[step](s);
        if (step == PROJECT)
            keep_all(s, (double *)s->flat, sizeof s->flat);
    }
    keep_all(s, (double *)s->output, sizeof s->output);
}
