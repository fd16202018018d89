/* SPDX-License-Identifier: MIT */
/* What a learner writes around attention: projections, heads, dropout, and what the generator has drawn. */
#include "cases.h"

#include <math.h>
#include <string.h>

/* --- roles ------------------------------------------------------------------------------------------------------- */

/* What stands where query, key and value should. */
static void use_as(struct sheet *s, int query, int key, int value)
{
    memcpy(s->used[QUERY], s->part[query], sizeof(table));
    memcpy(s->used[KEY], s->part[key], sizeof(table));
    memcpy(s->used[VALUE], s->part[value], sizeof(table));
}

/* keys @ queries.T */
static void query_key_swapped(struct sheet *s)
{
    use_as(s, KEY, QUERY, VALUE);
}

static void key_value_swapped(struct sheet *s)
{
    use_as(s, QUERY, VALUE, KEY);
}

static void query_value_swapped(struct sheet *s)
{
    use_as(s, VALUE, KEY, QUERY);
}

/* weights @ keys */
static void key_for_value(struct sheet *s)
{
    use_as(s, QUERY, KEY, KEY);
}

/* queries @ queries.T */
static void query_for_key(struct sheet *s)
{
    use_as(s, QUERY, QUERY, VALUE);
}

static void key_for_query(struct sheet *s)
{
    use_as(s, KEY, KEY, VALUE);
}

static void query_for_value(struct sheet *s)
{
    use_as(s, QUERY, KEY, QUERY);
}

/* weights @ inputs, as before there were any matrices */
static void inputs_for_value(struct sheet *s)
{
    use(s);
    for (int b = 0; b < s->B; b++)
        memcpy(s->used[VALUE][b][0], s->inputs[b], sizeof s->inputs[b]);
}

static void query_for_all(struct sheet *s)
{
    use_as(s, QUERY, QUERY, QUERY);
}

static void value_for_all(struct sheet *s)
{
    use_as(s, VALUE, VALUE, VALUE);
}

/* The chapter's first section: attention without matrices. */
static void inputs_for_all(struct sheet *s)
{
    for (int role = 0; role < ROLES; role++)
        for (int b = 0; b < s->B; b++)
            memcpy(s->used[role][b][0], s->inputs[b], sizeof s->inputs[b]);
}

/* --- matrices and biases ----------------------------------------------------------------------------------------- */

/* x @ W of a weight that nn.Linear stores the other way round */
static void transpose(struct sheet *s, int role)
{
    double(*weight)[WIDTH] = s->weight[role];
    for (int i = 0; i < s->D; i++)
        for (int j = 0; j < i; j++) {
            const double lower = weight[i][j];
            weight[i][j] = weight[j][i];
            weight[j][i] = lower;
        }
}

static void transpose_query(struct sheet *s)
{
    transpose(s, QUERY);
}

static void transpose_key(struct sheet *s)
{
    transpose(s, KEY);
}

static void transpose_value(struct sheet *s)
{
    transpose(s, VALUE);
}

static void transpose_all(struct sheet *s)
{
    for (int role = 0; role < ROLES; role++)
        transpose(s, role);
}

static void no_query_bias(struct sheet *s)
{
    memset(s->bias[QUERY], 0, sizeof s->bias[QUERY]);
}

static void no_key_bias(struct sheet *s)
{
    memset(s->bias[KEY], 0, sizeof s->bias[KEY]);
}

static void no_value_bias(struct sheet *s)
{
    memset(s->bias[VALUE], 0, sizeof s->bias[VALUE]);
}

static void no_bias(struct sheet *s)
{
    memset(s->bias, 0, sizeof s->bias);
}

static void bias_twice(struct sheet *s, int role)
{
    for (int c = 0; c < s->D; c++)
        s->bias[role][c] += s->bias[role][c];
}

static void value_bias_twice(struct sheet *s)
{
    bias_twice(s, VALUE);
}

static void biases_twice(struct sheet *s)
{
    for (int role = 0; role < ROLES; role++)
        bias_twice(s, role);
}

static void exchange_biases(struct sheet *s, int one, int other)
{
    for (int c = 0; c < s->D; c++) {
        const double kept = s->bias[one][c];
        s->bias[one][c] = s->bias[other][c];
        s->bias[other][c] = kept;
    }
}

static void key_value_biases(struct sheet *s)
{
    exchange_biases(s, KEY, VALUE);
}

static void query_value_biases(struct sheet *s)
{
    exchange_biases(s, QUERY, VALUE);
}

/* --- heads ------------------------------------------------------------------------------------------------------- */

/* Where column c of head h of that role and token comes from: a place in B x T x D, row-major, or in B x T x 3 D. */
typedef int source(const struct sheet *s, int role, int h, int t, int c);

/* Takes the heads out of T x (query, key, value side by side, D columns each). */
static void take_heads(struct sheet *s, source *from)
{
    for (int b = 0; b < s->B; b++)
        for (int role = 0; role < ROLES; role++)
            for (int h = 0; h < s->H; h++)
                for (int t = 0; t < s->Tq; t++)
                    for (int c = 0; c < s->d; c++) {
                        const int place = from(s, role, h, t, c), column = place % (ROLES * s->D);
                        s->part[role][b][h][t][c] = s->flat[column / s->D][b][place / (ROLES * s->D)][column % s->D];
                    }
}

/* The same column of that role's own T x D. */
static int of_role(const struct sheet *s, int role, int place)
{
    return place / s->D * ROLES * s->D + role * s->D + place % s->D;
}

/* queries.view(b, num_heads, num_tokens, head_dim) */
static int from_view(const struct sheet *s, int role, int h, int t, int c)
{
    return of_role(s, role, (h * s->Tq + t) * s->d + c);
}

/* view(b, num_tokens, head_dim, num_heads) */
static int from_interleaved(const struct sheet *s, int role, int h, int t, int c)
{
    return of_role(s, role, t * s->D + c * s->H + h);
}

/* qkv.view(b, num_tokens, num_heads, 3, head_dim) */
static int from_packed_by_head(const struct sheet *s, int role, int h, int t, int c)
{
    return t * ROLES * s->D + (h * ROLES + role) * s->d + c;
}

/* qkv.view(b, num_tokens, num_heads, head_dim, 3) */
static int from_packed_by_column(const struct sheet *s, int role, int h, int t, int c)
{
    return t * ROLES * s->D + (h * s->d + c) * ROLES + role;
}

static void split_view(struct sheet *s)
{
    take_heads(s, from_view);
}

static void split_interleaved(struct sheet *s)
{
    take_heads(s, from_interleaved);
}

static void split_packed_by_head(struct sheet *s)
{
    take_heads(s, from_packed_by_head);
}

static void split_packed_by_column(struct sheet *s)
{
    take_heads(s, from_packed_by_column);
}

/* The heads are never made: keys.shape[-1] ** 0.5 is that of all columns, or self.head_dim ** 0.5 as it should be. */
static void split_missing(struct sheet *s)
{
    s->H = s->G = 1;
    s->d = s->D;
    split(s);
}

static void split_missing_by_all(struct sheet *s)
{
    split_missing(s);
    s->columns = s->D;
}

/* num_heads=4 */
static void split_in_four(struct sheet *s)
{
    s->d = s->D / 4;
    s->H = s->G = 4;
    s->columns = s->d;
    split(s);
}

/* queries and keys stay B x T x H x d: one token's heads meet. */
static void heads_meet(struct sheet *s, int b, int h)
{
    for (int t = 0; t < s->Tq; t++) {
        double weights[HEADS];
        for (int other = 0; other < s->H; other++) {
            weights[other] = 0;
            for (int c = 0; c < s->d; c++)
                weights[other] += s->used[QUERY][b][h][t][c] * s->used[KEY][b][other][t][c] / sqrt(s->d);
        }
        normalise(weights, s->H);
        for (int c = 0; c < s->d; c++) {
            s->context[b][h][t][c] = 0;
            for (int other = 0; other < s->H; other++)
                s->context[b][h][t][c] += weights[other] * s->used[VALUE][b][other][t][c];
        }
    }
}

/* context.contiguous().view(b, num_tokens, d_out) without transpose(1, 2) */
static void merge_view(struct sheet *s)
{
    for (int b = 0; b < s->B; b++)
        for (int place = 0; place < s->Tq * s->D; place++)
            s->merged[b][place / s->D][place % s->D] =
                s->context[b][place / (s->Tq * s->d)][place / s->d % s->Tq][place % s->d];
}

static void merge_interleaved(struct sheet *s)
{
    for (int b = 0; b < s->B; b++)
        for (int t = 0; t < s->Tq; t++)
            for (int column = 0; column < s->D; column++)
                s->merged[b][t][column] = s->context[b][column % s->H][t][column / s->H];
}

static void merge_reversed(struct sheet *s)
{
    for (int b = 0; b < s->B; b++)
        for (int t = 0; t < s->Tq; t++)
            for (int column = 0; column < s->D; column++)
                s->merged[b][t][column] = s->context[b][s->H - 1 - column / s->d][t][column % s->d];
}

/* torch.stack(contexts).mean(0).repeat(1, 1, heads), or the sum. */
static void merge_shared(struct sheet *s, double by)
{
    memset(s->merged, 0, sizeof s->merged);
    for (int b = 0; b < s->B; b++)
        for (int h = 0; h < s->H; h++)
            for (int t = 0; t < s->Tq; t++)
                for (int column = 0; column < s->D; column++)
                    s->merged[b][t][column] += by * s->context[b][h][t][column % s->d];
}

static void merge_mean(struct sheet *s)
{
    merge_shared(s, 1.0 / s->H);
}

static void merge_sum(struct sheet *s)
{
    merge_shared(s, 1);
}

static void out_missing(struct sheet *s)
{
    memcpy(s->output, s->merged, sizeof s->output);
}

/* context_vec @ self.out_proj.weight + self.out_proj.bias */
static void out_transposed(struct sheet *s)
{
    for (int b = 0; b < s->B; b++)
        for (int t = 0; t < s->Tq; t++)
            for (int column = 0; column < s->D; column++) {
                double sum = s->out_bias[column];
                for (int k = 0; k < s->D; k++)
                    sum += s->merged[b][t][k] * s->out_weight[k][column];
                s->output[b][t][column] = sum;
            }
}

static void out_without_bias(struct sheet *s)
{
    memset(s->out_bias, 0, sizeof s->out_bias);
    out_proj(s);
}

/* Both devices add it. */
static void out_bias_twice(struct sheet *s)
{
    for (int c = 0; c < s->D; c++)
        s->out_bias[c] *= 2;
    out_proj(s);
}

/* x + self.attention(x) */
static void out_residual(struct sheet *s)
{
    out_proj(s);
    for (int b = 0; b < s->B; b++)
        for (int t = 0; t < s->Tq; t++)
            for (int c = 0; c < s->d_in; c++)
                s->output[b][t][c] += s->inputs[b][t][c];
}

static void add_inputs(struct sheet *s)
{
    for (int b = 0; b < s->B; b++)
        for (int t = 0; t < s->Tq; t++)
            for (int c = 0; c < s->d_in; c++)
                s->context[b][0][t][c] += s->inputs[b][t][c];
}

/* F.layer_norm(x, x.shape[-1:]), or without the mean */
static void norm_rows(const struct sheet *s, rows numbers[], int width, bool centred)
{
    for (int b = 0; b < s->B; b++)
        for (int t = 0; t < s->Tq; t++) {
            double *x = numbers[0][b][t], mean = 0, squares = 0;
            for (int c = 0; c < width; c++)
                mean += centred ? x[c] / width : 0;
            for (int c = 0; c < width; c++)
                squares += (x[c] - mean) * (x[c] - mean) / width;
            for (int c = 0; c < width; c++)
                x[c] = (x[c] - mean) / sqrt(squares + 1e-5);
        }
}

/* self.norm(self.attention(x)) */
static void out_normed(struct sheet *s)
{
    out_proj(s);
    norm_rows(s, &s->output, s->D, true);
}

static void out_normed_by_rms(struct sheet *s)
{
    out_proj(s);
    norm_rows(s, &s->output, s->D, false);
}

/* self.norm(x + self.attention(x)) */
static void sum_normed(struct sheet *s)
{
    out_residual(s);
    norm_rows(s, &s->output, s->D, true);
}

static void sum_normed_by_rms(struct sheet *s)
{
    out_residual(s);
    norm_rows(s, &s->output, s->D, false);
}

/* self.attention(self.norm(x)) */
static void norm_inputs(struct sheet *s)
{
    norm_rows(s, &s->inputs, s->d_in, true);
}

static void norm_inputs_by_rms(struct sheet *s)
{
    norm_rows(s, &s->inputs, s->d_in, false);
}

static void out_twice(struct sheet *s)
{
    out_proj(s);
    memcpy(s->merged, s->output, sizeof s->merged);
    out_proj(s);
}

/* keys.repeat(1, group, 1, 1) for repeat_interleave */
static void groups_tiled(struct sheet *s)
{
    for (int h = 0; h < s->H; h++)
        s->group[h] = h % s->G;
}

/* One of them by repeat, the other by repeat_interleave. */
static void tile_one(struct sheet *s, int tiled, int other)
{
    for (int b = 0; b < s->B; b++)
        for (int h = 0; h < s->H; h++) {
            memcpy(s->used[tiled][b][h], s->part[tiled][b][h % s->G], sizeof s->used[tiled][b][h]);
            memcpy(s->used[other][b][h], s->part[other][b][h * s->G / s->H], sizeof s->used[other][b][h]);
            s->group[h] = h;
        }
}

static void keys_tiled(struct sheet *s)
{
    tile_one(s, KEY, VALUE);
}

static void values_tiled(struct sheet *s)
{
    tile_one(s, VALUE, KEY);
}

static void groups_first(struct sheet *s)
{
    memset(s->group, 0, sizeof s->group);
}

/* values[:, :1] for every head */
static void values_first(struct sheet *s)
{
    use(s);
    for (int b = 0; b < s->B; b++)
        for (int h = s->G - 1; h >= 0; h--)
            memcpy(s->used[VALUE][b][h], s->used[VALUE][b][0], sizeof s->used[VALUE][b][0]);
}

/* --- dropout ----------------------------------------------------------------------------------------------------- */

/* What is kept is multiplied by that. */
static void drop_and_multiply(struct sheet *s, double (*numbers)[WIDTH], double by)
{
    bool kept[TOKENS];
    for (int i = 0; i < s->Tq; i++) {
        torch_random_dropout(&s->random, s->share, kept, (size_t)s->Tk);
        for (int j = 0; j < s->Tk; j++)
            numbers[i][j] *= kept[j] ? by : 0;
    }
}

static void no_dropout(struct sheet *s, int b, int h)
{
    memcpy(s->dropped[b][h], s->weights[b][h], sizeof s->dropped[b][h]);
}

static void dropout_not_rescaled(struct sheet *s, int b, int h)
{
    no_dropout(s, b, h);
    drop_and_multiply(s, s->dropped[b][h], 1);
}

static void dropout_divided_by_p(struct sheet *s, int b, int h)
{
    no_dropout(s, b, h);
    drop_and_multiply(s, s->dropped[b][h], 1 / s->share);
}

/* softmax(dropout(scores / d ** 0.5).masked_fill(mask, -inf)) */
static void drop_scores(struct sheet *s, int b, int h)
{
    drop_and_multiply(s, s->biased[b][h], 1 / (1 - s->share));
}

/* model.train() is what a module begins with. */
static void dropout_of_half(struct sheet *s, int b, int h)
{
    s->share = 0.5;
    drop(s, b, h);
}

static void dropout_of_a_fifth(struct sheet *s, int b, int h)
{
    s->share = 0.2;
    drop(s, b, h);
}

/* --- what was drawn ---------------------------------------------------------------------------------------------- */

static void seed_42(struct sheet *s)
{
    torch_random_seed(&s->random, TORCH_RANDOM_VECTOR, 42);
}

/* torch.rand(6, 8) stood in the notebook's cell before. */
static void skip_48(struct sheet *s)
{
    torch_random_seed(&s->random, TORCH_RANDOM_VECTOR, s->exercise->seed);
    torch_random_skip(&s->random, 48);
}

static void seed_mkl(struct sheet *s)
{
    torch_random_seed(&s->random, TORCH_RANDOM_MKL, s->exercise->seed);
}

static void drop_by_mkl(struct sheet *s, int b, int h)
{
    torch_random_dropout_begin(&s->random);
    drop(s, b, h);
}

static void draw_rands(struct sheet *s)
{
    for (int role = 0; role < ROLES; role++)
        draw_rand(s, s->weight[role], s->d_in, s->D);
}

static void draw_biases(struct sheet *s)
{
    for (int role = 0; role < ROLES; role++)
        draw_linear(s, s->weight[role], s->bias[role], s->d_in, s->D);
}

static void draw_linears(struct sheet *s)
{
    for (int role = 0; role < ROLES; role++)
        draw_linear(s, s->weight[role], NULL, s->d_in, s->D);
}

static void draw_randns(struct sheet *s)
{
    for (int role = 0; role < ROLES; role++) {
        float numbers[WIDTH * WIDTH];
        torch_random_normal(&s->random, numbers, (size_t)(s->d_in * s->D));
        for (int i = 0; i < s->d_in * s->D; i++)
            s->weight[role][i % s->D][i / s->D] = numbers[i];
    }
}

/* Uniform within +-bound: of (d_in, d_out), or of (d_out, d_in) where transposed. */
static void draw_within(struct sheet *s, float bound, bool transposed)
{
    for (int role = 0; role < ROLES; role++) {
        float numbers[WIDTH * WIDTH];
        torch_random_uniform(&s->random, -bound, bound, numbers, (size_t)(s->d_in * s->D));
        for (int i = 0; i < s->d_in * s->D; i++)
            *(transposed ? &s->weight[role][i / s->d_in][i % s->d_in] : &s->weight[role][i % s->D][i / s->D]) =
                numbers[i];
    }
}

/* torch.rand(d_in, d_out) - 0.5 */
static void draw_centred(struct sheet *s)
{
    draw_within(s, 0.5F, false);
}

static void draw_xavier(struct sheet *s)
{
    draw_within(s, (float)sqrt(6.0 / (s->d_in + s->D)), false);
}

/* After three nn.Linear. */
static void draw_xavier_linear(struct sheet *s)
{
    torch_random_skip(&s->random, (uint64_t)(3 * s->d_in * s->D));
    draw_within(s, (float)sqrt(6.0 / (s->d_in + s->D)), true);
}

static void draw_ones(struct sheet *s)
{
    for (int role = 0; role < ROLES; role++)
        for (int i = 0; i < s->d_in * s->D; i++)
            s->weight[role][i % s->D][i / s->D] = 1;
}

/* torch.randn(d_in, d_out) * d_in**-0.5 */
static void draw_scaled_randns(struct sheet *s)
{
    draw_randns(s);
    for (int role = 0; role < ROLES; role++)
        for (int i = 0; i < s->d_in * s->D; i++)
            s->weight[role][i % s->D][i / s->D] *= (float)(1 / sqrt(s->d_in));
}

/* nn.init.normal_(std=0.02) of three finished nn.Linear. */
static void draw_normals(struct sheet *s)
{
    torch_random_skip(&s->random, (uint64_t)(3 * s->d_in * s->D));
    for (int role = 0; role < ROLES; role++) {
        float numbers[WIDTH * WIDTH];
        torch_random_normal(&s->random, numbers, (size_t)(s->d_in * s->D));
        for (int i = 0; i < s->d_in * s->D; i++)
            s->weight[role][i / s->d_in][i % s->d_in] = numbers[i] * 0.02F;
    }
}

static void draw_kaiming(struct sheet *s)
{
    draw_within(s, (float)sqrt(6.0 / s->D), false);
}

/* self.out_proj stands before the others. */
static void draw_out_first(struct sheet *s)
{
    draw_linear(s, s->out_weight, s->out_bias, s->D, s->D);
    draw_linears(s);
}

/* self.W_key stands before self.W_query. */
static void draw_key_first(struct sheet *s)
{
    draw_linear(s, s->weight[KEY], NULL, s->d_in, s->D);
    draw_linear(s, s->weight[QUERY], NULL, s->d_in, s->D);
    draw_linear(s, s->weight[VALUE], NULL, s->d_in, s->D);
}

static void draw_value_first(struct sheet *s)
{
    draw_linear(s, s->weight[VALUE], NULL, s->d_in, s->D);
    draw_linear(s, s->weight[QUERY], NULL, s->d_in, s->D);
    draw_linear(s, s->weight[KEY], NULL, s->d_in, s->D);
}

/* The heads have so many columns each. */
static void resize(struct sheet *s, int d)
{
    s->d = d;
    s->D = s->H * d;
    s->columns = d;
}

/* The wrapper's heads, each a module of its own. */
static void draw_modules(struct sheet *s)
{
    for (int h = 0; h < s->H; h++)
        for (int role = 0; role < ROLES; role++)
            draw_linear(s, s->weight[role] + h * s->d, NULL, s->d_in, s->d);
}

/* The wrapper, given the same d_out: each head has as many columns. */
static void draw_wrapper(struct sheet *s)
{
    resize(s, s->D);
    draw_modules(s);
}

/* The class that splits, given the same d_out: the heads share them. */
static void draw_split(struct sheet *s)
{
    resize(s, s->d / s->H);
    draw_linears(s);
    draw_linear(s, s->out_weight, s->out_bias, s->D, s->D);
}

static void project_out(struct sheet *s)
{
    for (int b = 0; b < s->B; b++)
        for (int t = 0; t < s->Tq; t++)
            for (int column = 0; column < s->D; column++) {
                double sum = s->out_bias[column];
                for (int k = 0; k < s->D; k++)
                    sum += s->merged[b][t][k] * s->out_weight[column][k];
                s->output[b][t][column] = sum;
            }
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static const struct mistaken ROWS[] = {
    {"roles-query-key-swapped", ON(SINGLE) | ON(WIDE) | ON(BOOK), {.whole[ROLE] = query_key_swapped}},
    {"roles-key-value-swapped", ON(SINGLE) | ON(WIDE) | ON(PLAIN), {.whole[ROLE] = key_value_swapped}},
    {"roles-query-value-swapped", ON(SINGLE) | ON(PLAIN), {.whole[ROLE] = query_value_swapped}},
    {"roles-key-for-value", ON(SINGLE) | ON(WIDE) | ON(BOOK), {.whole[ROLE] = key_for_value}},
    {"roles-query-for-key", ON(SINGLE) | ON(WIDE), {.whole[ROLE] = query_for_key}},
    {"roles-key-for-query", ON(SINGLE) | ON(WIDE), {.whole[ROLE] = key_for_query}},
    {"roles-query-for-value", ON(SINGLE) | ON(WIDE), {.whole[ROLE] = query_for_value}},
    {"roles-inputs-for-value", ON(SINGLE), {.whole[ROLE] = inputs_for_value}},
    {"roles-one-for-all:query", ON(SINGLE) | ON(WIDE), {.whole[ROLE] = query_for_all}},
    {"roles-one-for-all:value", ON(SINGLE) | ON(WIDE) | ON(BOOK), {.whole[ROLE] = value_for_all}},
    {"roles-one-for-all:inputs", ON(SINGLE), {.whole[ROLE] = inputs_for_all}},
    {"matrix-transposed", ON(SINGLE) | ON(MODULE), {.whole[MATRIX] = transpose_all}},
    {"matrix-query-transposed", ON(SINGLE) | ON(MODULE), {.whole[MATRIX] = transpose_query}},
    {"matrix-key-transposed", ON(SINGLE) | ON(MODULE), {.whole[MATRIX] = transpose_key}},
    {"matrix-value-transposed", ON(SINGLE) | ON(MODULE), {.whole[MATRIX] = transpose_value}},
    {"bias-missing", ON(MODULE), {.whole[BIAS] = no_bias}},
    {"bias-query-missing", ON(MODULE), {.whole[BIAS] = no_query_bias}},
    {"bias-key-missing", 0, {.whole[BIAS] = no_key_bias}}, /* adds the same to all scores of a row */
    {"bias-value-missing", ON(MODULE), {.whole[BIAS] = no_value_bias}},
    {"bias-twice:all", ON(MODULE), {.whole[BIAS] = biases_twice}},
    {"bias-twice:value", ON(MODULE), {.whole[BIAS] = value_bias_twice}},
    {"bias-swapped:key-value", ON(MODULE), {.whole[BIAS] = key_value_biases}},
    {"bias-swapped:query-value", ON(MODULE), {.whole[BIAS] = query_value_biases}},
    {"split-view", ON(WIDE) | ON(MODULE) | ON(BATCH), {.whole[SPLIT] = split_view}},
    {"split-interleaved", ON(WIDE) | ON(MODULE) | ON(BATCH), {.whole[SPLIT] = split_interleaved}},
    {"split-packed-by-head", ON(WIDE) | ON(MODULE), {.whole[SPLIT] = split_packed_by_head}},
    {"split-packed-by-column", ON(WIDE) | ON(MODULE), {.whole[SPLIT] = split_packed_by_column}},
    {"split-missing:by-d-out", ON(WIDE) | ON(MODULE), {.whole[SPLIT] = split_missing_by_all, .head[SCALE] = scale}},
    {"split-missing:by-d-head", ON(WIDE) | ON(MODULE), {.whole[SPLIT] = split_missing, .head[SCALE] = scale}},
    {"split-not-transposed", ON(BATCH), {.head[CONTEXT] = heads_meet}},
    {"merge-view", ON(WIDE) | ON(MODULE) | ON(BATCH), {.whole[MERGE] = merge_view}},
    {"merge-interleaved", ON(WIDE) | ON(MODULE) | ON(BATCH), {.whole[MERGE] = merge_interleaved}},
    {"merge-reversed", ON(WIDE) | ON(MODULE) | ON(BATCH), {.whole[MERGE] = merge_reversed}},
    {"merge-added:mean", ON(WIDE) | ON(MODULE) | ON(BATCH), {.whole[MERGE] = merge_mean}},
    {"merge-added:sum", ON(WIDE) | ON(MODULE), {.whole[MERGE] = merge_sum}},
    {"out-missing", ON(WIDE) | ON(MODULE) | ON(BOOK_SPLIT), {.whole[OUT] = out_missing}},
    {"out-transposed", ON(WIDE) | ON(MODULE) | ON(BOOK_SPLIT), {.whole[OUT] = out_transposed}},
    {"out-bias-missing", ON(MODULE) | ON(BOOK_SPLIT), {.whole[OUT] = out_without_bias}},
    {"out-bias-twice", ON(MODULE) | ON(BOOK_SPLIT), {.whole[OUT] = out_bias_twice}},
    {"out-twice", ON(WIDE) | ON(MODULE) | ON(BOOK_SPLIT), {.whole[OUT] = out_twice}},
    {"out-residual", ON(MODULE), {.whole[OUT] = out_residual}},
    {"out-residual", ON(SINGLE), {.whole[MERGE] = add_inputs}},
    {"out-normed:layer", ON(MODULE) | ON(BOOK_SPLIT), {.whole[OUT] = out_normed}},
    {"out-normed:rms", ON(MODULE) | ON(BOOK_SPLIT), {.whole[OUT] = out_normed_by_rms}},
    {"out-normed:layer-of-sum", ON(MODULE), {.whole[OUT] = sum_normed}},
    {"out-normed:rms-of-sum", ON(MODULE), {.whole[OUT] = sum_normed_by_rms}},
    {"norm-added:layer", ON(MODULE) | ON(BOOK), {.whole[MATRIX] = norm_inputs}},
    {"norm-added:rms", ON(MODULE) | ON(BOOK), {.whole[MATRIX] = norm_inputs_by_rms}},
    {"groups-tiled", ON(GROUPED) | ON(KERNEL), {.whole[GROUP] = groups_tiled}},
    {"groups-key-tiled", ON(GROUPED) | ON(KERNEL), {.whole[GROUP] = keys_tiled}},
    {"groups-value-tiled", ON(GROUPED) | ON(KERNEL), {.whole[GROUP] = values_tiled}},
    {"groups-first", ON(GROUPED) | ON(KERNEL) | ON(MODULE), {.whole[GROUP] = groups_first}},
    {"groups-value-first", ON(GROUPED) | ON(WIDE), {.whole[ROLE] = values_first}},
    {"dropout-not-rescaled", ON(BOOK_DROPOUT), {.head[DROPOUT] = dropout_not_rescaled}},
    {"dropout-divided-by-p", ON(BOOK_DROPOUT), {.head[DROPOUT] = dropout_divided_by_p}},
    {"dropout-before-softmax", ON(BOOK_DROPOUT), {.head = {[ADD] = drop_scores, [DROPOUT] = no_dropout}}},
    {"dropout-missing", ON(BOOK_DROPOUT), {.head[DROPOUT] = no_dropout}},
    {"dropout-on:0.5", ON(BOOK), {.head[DROPOUT] = dropout_of_half}},
    {"dropout-on:0.2", ON(BOOK_SPLIT), {.head[DROPOUT] = dropout_of_a_fifth}},
    {"draw-rand", ON(BOOK), {.whole[DRAW] = draw_rands}},
    {"draw-linear", ON(BOOK_RAND), {.whole[DRAW] = draw_linears}},
    {"draw-randn", ON(BOOK) | ON(BOOK_RAND), {.whole[DRAW] = draw_randns}},
    {"draw-init:rand-centred", ON(BOOK), {.whole[DRAW] = draw_centred}},
    {"draw-init:xavier", ON(BOOK), {.whole[DRAW] = draw_xavier}},
    {"draw-init:xavier-linear", ON(BOOK), {.whole[DRAW] = draw_xavier_linear}},
    {"draw-init:ones", ON(BOOK), {.whole[DRAW] = draw_ones}},
    {"draw-init:randn-d-in", ON(BOOK), {.whole[DRAW] = draw_scaled_randns}},
    {"draw-init:normal-0.02", ON(BOOK), {.whole[DRAW] = draw_normals}},
    {"draw-init:kaiming", ON(BOOK), {.whole[DRAW] = draw_kaiming}},
    {"draw-order:oqkv", ON(BOOK_SPLIT), {.whole[DRAW] = draw_out_first}},
    {"draw-order:kqv", ON(BOOK), {.whole[DRAW] = draw_key_first}},
    {"draw-order:vqk", ON(BOOK), {.whole[DRAW] = draw_value_first}},
    {"draw-bias", ON(BOOK), {.whole[DRAW] = draw_biases}},
    {"draw-bias-missing", ON(BOOK_BIAS), {.whole[DRAW] = draw_linears}},
    {"draw-heads:4", ON(BOOK_SPLIT), {.whole[SPLIT] = split_in_four}},
    {"draw-seed:42", ON(BOOK) | ON(BOOK_SPLIT), {.whole[SEED] = seed_42}},
    {"draw-skip:48", ON(BOOK) | ON(BOOK_SPLIT), {.whole[SEED] = skip_48}},
    {"draw-split", ON(BOOK_WRAPPER), {.whole = {[DRAW] = draw_split, [OUT] = project_out}}},
    {"draw-stacked", ON(BOOK_SPLIT), {.whole = {[DRAW] = draw_wrapper, [OUT] = out_missing}}},
    {"draw-mkl", ON(BOOK_DROPOUT), {.whole[SEED] = seed_mkl, .head[DROPOUT] = drop_by_mkl}},
};

const struct case_list CASES_OF_MODULES = {ROWS, sizeof ROWS / sizeof *ROWS};
