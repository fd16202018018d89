/* SPDX-License-Identifier: MIT */
/* Scale, softmax, softcap, ALiBi, sinks, lse. */
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- scale ------------------------------------------------------------------------------------------------------- */

static void scale_missing(struct sheet *s, int b, int h)
{
    multiply(s, b, h, 1);
}

/* queries / d ** 0.5, and keys / d ** 0.5, too */
static void scale_twice(struct sheet *s, int b, int h)
{
    multiply(s, b, h, 1 / sqrt(s->d) / sqrt(s->d));
}

/* scores * keys.shape[-1] ** 0.5 */
static void scale_inverted(struct sheet *s, int b, int h)
{
    multiply(s, b, h, sqrt(s->d));
}

/* keys.shape[-1] before the heads are split */
static void scale_d_model(struct sheet *s, int b, int h)
{
    multiply(s, b, h, 1 / sqrt(s->D));
}

static void scale_1_over_d_model(struct sheet *s, int b, int h)
{
    multiply(s, b, h, 1.0 / s->D);
}

/* x.shape[-1] ** 0.5 */
static void scale_d_in(struct sheet *s, int b, int h)
{
    multiply(s, b, h, 1 / sqrt(s->d_in));
}

/* keys.shape[-2] ** 0.5, one axis too far */
static void scale_tokens(struct sheet *s, int b, int h)
{
    multiply(s, b, h, 1 / sqrt(s->Tk));
}

/* keys.shape[1] ** 0.5, which is the heads' axis after transpose(1, 2) */
static void scale_heads(struct sheet *s, int b, int h)
{
    multiply(s, b, h, 1 / sqrt(s->H));
}

/* The root of the root: a scale that both sides should have had, on one side alone. */
static void scale_fourth_root(struct sheet *s, int b, int h)
{
    multiply(s, b, h, 1 / sqrt(sqrt(s->d)));
}

/* softmax(scores) / d ** 0.5 */
static void divide_weights(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->weights[b][h][i][j] /= sqrt(s->d);
}

/* -(queries @ keys.T) */
static void scale_negative(struct sheet *s, int b, int h)
{
    multiply(s, b, h, -1 / sqrt(s->columns));
}

/* --- scores ------------------------------------------------------------------------------------------------------ */

static double length(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).T */
static void normalise_scores(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->scores[b][h][i][j] /=
                length(s->used[QUERY][b][h][i], s->d) * length(s->used[KEY][b][s->group[h]][j], s->d);
}

/* queries @ keys.reshape(d, T): number n of the keys, row after row, is where it is now in rows of T. */
static void reshape_keys(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++) {
            s->scores[b][h][i][j] = 0;
            for (int c = 0; c < s->d; c++) {
                const int n = c * s->Tk + j;
                s->scores[b][h][i][j] += s->used[QUERY][b][h][i][c] * s->used[KEY][b][s->group[h]][n / s->d][n % s->d];
            }
        }
}

static void score_0(struct sheet *s, int b, int h)
{
    memset(s->scores[b][h], 0, sizeof s->scores[b][h]);
}

/* torch.einsum("id,je->ij", queries, keys) */
static void score_sums(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++) {
            s->scores[b][h][i][j] = 0;
            for (int c = 0; c < s->d; c++)
                for (int e = 0; e < s->d; e++)
                    s->scores[b][h][i][j] += s->used[QUERY][b][h][i][c] * s->used[KEY][b][s->group[h]][j][e];
        }
}

/* torch.round(scores / d ** 0.5, decimals=1) */
static void round_scaled(struct sheet *s, int b, int h)
{
    scale(s, b, h);
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->scaled[b][h][i][j] = nearbyint(s->scaled[b][h][i][j] * 10) / 10;
}

/* --- softmax ----------------------------------------------------------------------------------------------------- */

/* softmax(dim=-2): a column at a time. */
static void softmax_queries(struct sheet *s, int b, int h)
{
    double column[TOKENS];
    for (int j = 0; j < s->Tk; j++) {
        for (int i = 0; i < s->Tq; i++)
            column[i] = s->masked[b][h][i][j];
        normalise(column, s->Tq);
        for (int i = 0; i < s->Tq; i++)
            s->weights[b][h][i][j] = column[i];
    }
}

/* softmax(dim=1) of B x H x T x T */
static void softmax_heads(struct sheet *s, int b, int h)
{
    double across[HEADS];
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++) {
            for (int other = 0; other < s->H; other++)
                across[other] = s->masked[b][other][i][j];
            normalise(across, s->H);
            s->weights[b][h][i][j] = across[h];
        }
}

/* softmax(dim=0) */
static void softmax_items(struct sheet *s, int b, int h)
{
    double across[ITEMS];
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++) {
            for (int other = 0; other < s->B; other++)
                across[other] = s->masked[other][h][i][j];
            normalise(across, s->B);
            s->weights[b][h][i][j] = across[b];
        }
}

/* np.exp(x) / np.exp(x).sum(), without an axis, of one head */
static void softmax_all(struct sheet *s, int b, int h)
{
    const int width = s->end - s->first;
    double all[TOKENS * TOKENS];
    for (int i = 0; i < s->Tq; i++)
        memcpy(all + i * width, s->masked[b][h][i] + s->first, (size_t)width * sizeof *all);
    normalise(all, s->Tq * width);
    for (int i = 0; i < s->Tq; i++)
        memcpy(s->weights[b][h][i] + s->first, all + i * width, (size_t)width * sizeof *all);
}

static void softmax_base_2(struct sheet *s, int b, int h)
{
    softmax_by(s, b, h, exp2);
}

/* In float, the largest not taken away. */
static void softmax_overflow(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++) {
        float sum = 0, powers[TOKENS];
        for (int j = s->first; j < s->end; j++)
            sum += powers[j] = expf((float)s->masked[b][h][i][j]);
        for (int j = s->first; j < s->end; j++)
            s->weights[b][h][i][j] = powers[j] / sum;
    }
}

static void softmax_missing(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = s->first; j < s->end; j++)
            s->weights[b][h][i][j] = s->hidden[b][h][i][j] ? 0 : s->masked[b][h][i][j];
}

/* The chapter's first try: attn_scores / attn_scores.sum() */
static void softmax_sum_of_scores(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++) {
        double sum = 0;
        for (int j = s->first; j < s->end; j++)
            sum += s->masked[b][h][i][j];
        for (int j = s->first; j < s->end; j++)
            s->weights[b][h][i][j] = s->masked[b][h][i][j] / sum;
    }
}

/* softmax(softmax(x)): the zeros of hidden keys are numbers like others. */
static void soften_again(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        normalise(s->weights[b][h][i], s->Tk);
}

static void softmax_log(struct sheet *s, int b, int h)
{
    softmax(s, b, h);
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->weights[b][h][i][j] = log(s->weights[b][h][i][j]);
}

static void softmax_sigmoid(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->weights[b][h][i][j] = 1 / (1 + exp(-s->masked[b][h][i][j]));
}

/* x.max(-1) and e.sum(-1) of T x T have the shape (T), so that T x T numbers meet them column by column. */
static void without_keepdim(struct sheet *s, int b, int h, bool sum, bool maximum, bool shifts)
{
    double sums[TOKENS] = {0}, most[TOKENS];
    for (int i = 0; i < s->Tq; i++) {
        most[i] = -INFINITY;
        for (int j = 0; j < s->Tk; j++)
            most[i] = fmax(most[i], s->masked[b][h][i][j]);
    }
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            sums[i] += s->weights[b][h][i][j] = exp(s->masked[b][h][i][j] - (shifts ? most[maximum ? j : i] : 0));
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->weights[b][h][i][j] /= sums[sum ? j : i];
}

static void sum_without_keepdim(struct sheet *s, int b, int h)
{
    without_keepdim(s, b, h, true, false, false);
}

static void shifted_sum_without_keepdim(struct sheet *s, int b, int h)
{
    without_keepdim(s, b, h, true, false, true);
}

static void maximum_without_keepdim(struct sheet *s, int b, int h)
{
    without_keepdim(s, b, h, false, true, true);
}

static void both_without_keepdim(struct sheet *s, int b, int h)
{
    without_keepdim(s, b, h, true, true, true);
}

/* weights.T @ values, of as many queries as keys */
static void weights_transposed(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int c = 0; c < s->d; c++) {
            double sum = 0;
            for (int j = 0; j < s->Tk; j++)
                sum += s->dropped[b][h][j][i] * s->used[VALUE][b][s->group[h]][j][c];
            s->context[b][h][i][c] = sum;
        }
}

/* --- softcap ----------------------------------------------------------------------------------------------------- */

static void not_capped(struct sheet *s, int b, int h)
{
    memcpy(s->capped[b][h], s->scaled[b][h], sizeof s->capped[b][h]);
}

/* tanh(-inf) is -1, so that hidden keys are seen again. */
static void hide_and_cap(struct sheet *s, int b, int h)
{
    const double c = s->exercise->softcap;
    hide(s, b, h);
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->masked[b][h][i][j] = c * tanh(s->masked[b][h][i][j] / c);
}

static void cap_scores(struct sheet *s, int b, int h)
{
    const double c = s->exercise->softcap;
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->scores[b][h][i][j] = c * tanh(s->scores[b][h][i][j] / c);
}

static void cap_not_multiplied(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->capped[b][h][i][j] = tanh(s->scaled[b][h][i][j] / s->exercise->softcap);
}

/* --- ALiBi ------------------------------------------------------------------------------------------------------- */

static void slope_by(struct sheet *s, int b, int h, double slope)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->biased[b][h][i][j] = s->capped[b][h][i][j] - slope * abs(i + s->offset[b] - j);
}

static void alibi_sign(struct sheet *s, int b, int h)
{
    slope_by(s, b, h, -s->slopes[1 + h]);
}

static void alibi_missing(struct sheet *s, int b, int h)
{
    slope_by(s, b, h, 0);
}

static void alibi_doubled(struct sheet *s, int b, int h)
{
    slope_by(s, b, h, 2 * s->slopes[1 + h]);
}

static void alibi_halved(struct sheet *s, int b, int h)
{
    slope_by(s, b, h, s->slopes[1 + h] / 2);
}

static void alibi_reversed(struct sheet *s, int b, int h)
{
    slope_by(s, b, h, s->slopes[s->H - h]);
}

/* 2 ** (-(h + 1)) with h from 1 where it should be from 0 */
static void alibi_later(struct sheet *s, int b, int h)
{
    slope_by(s, b, h, s->slopes[2 + h]);
}

static void alibi_earlier(struct sheet *s, int b, int h)
{
    slope_by(s, b, h, s->slopes[h]);
}

/* (scores + bias) * scale */
static void slope_scores(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->scores[b][h][i][j] -= s->slopes[1 + h] * abs(i + s->offset[b] - j);
}

/* --- sinks, lse -------------------------------------------------------------------------------------------------- */

static void turn_sinks(struct sheet *s)
{
    place(s);
    for (int h = 0; h < s->H; h++)
        s->sinks[h] = -s->sinks[h];
}

static void reverse_sinks(struct sheet *s)
{
    place(s);
    for (int h = 0; h < s->H / 2; h++) {
        const double sink = s->sinks[h];
        s->sinks[h] = s->sinks[s->H - 1 - h];
        s->sinks[s->H - 1 - h] = sink;
    }
}

/* sinks[0] of all heads */
static void share_sink(struct sheet *s)
{
    place(s);
    for (int h = 1; h < s->H; h++)
        s->sinks[h] = s->sinks[0];
}

/* softmax(x) with 1 in the denominator */
static void clear_sinks(struct sheet *s)
{
    place(s);
    memset(s->sinks, 0, sizeof s->sinks);
}

static void softmax_without_sink(struct sheet *s, int b, int h)
{
    s->sinks[h] = -INFINITY;
    softmax(s, b, h);
}

static double sum_of_powers(const double *numbers, int count, double less)
{
    double sum = 0;
    for (int j = 0; j < count; j++)
        sum += exp(numbers[j] - less);
    return sum;
}

static void lse_base_2(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        s->lse[b][h][i] = log2(sum_of_powers(s->masked[b][h][i], s->Tk, 0));
}

static void lse_maximum_missing(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++) {
        double largest = -INFINITY;
        for (int j = 0; j < s->Tk; j++)
            largest = fmax(largest, s->masked[b][h][i][j]);
        s->lse[b][h][i] = log(sum_of_powers(s->masked[b][h][i], s->Tk, largest));
    }
}

static void lse_before_scale(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        s->lse[b][h][i] = log(sum_of_powers(s->scores[b][h][i], s->Tk, 0));
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static const struct mistaken ROWS[] = {
    {"scale-missing", ON(BOOK) | ON(WIDE) | ON(KERNEL) | ON(PLAIN), {.head[SCALE] = scale_missing}},
    {"scale-twice", ON(WIDE) | ON(PLAIN), {.head[SCALE] = scale_twice}},
    {"scale-inverted", ON(WIDE) | ON(BOOK) | ON(GROUPED), {.head[SCALE] = scale_inverted}},
    {"scale-d-model", ON(WIDE) | ON(MODULE) | ON(BATCH), {.head[SCALE] = scale_d_model}},
    {"scale-1-over-d-model", ON(WIDE) | ON(MODULE), {.head[SCALE] = scale_1_over_d_model}},
    {"scale-d-in", ON(WIDE) | ON(BATCH), {.head[SCALE] = scale_d_in}},
    {"scale-tokens", ON(WIDE) | ON(PLAIN), {.head[SCALE] = scale_tokens}},
    {"scale-heads", ON(WIDE) | ON(PLAIN), {.head[SCALE] = scale_heads}},
    {"scale-fourth-root", ON(WIDE) | ON(PLAIN), {.head[SCALE] = scale_fourth_root}},
    {"scale-after-softmax",
     ON(WIDE) | ON(BOOK) | ON(PLAIN),
     {.head = {[SCALE] = scale_missing, [AFTER] = divide_weights}}},
    {"scale-negative", ON(WIDE) | ON(BOOK) | ON(PLAIN), {.head[SCALE] = scale_negative}},
    {"scale-rounded:1", ON(WIDE) | ON(BOOK) | ON(GROUPED), {.head[SCALE] = round_scaled}},
    {"scale-zero", ON(WIDE) | ON(BOOK) | ON(PLAIN) | ON(KERNEL), {.head[SCORE] = score_0}},
    {"scores-of-sums", ON(WIDE) | ON(BOOK) | ON(PLAIN) | ON(GROUPED), {.head[SCORE] = score_sums}},
    {"scores-cosine:unscaled",
     ON(WIDE) | ON(BOOK) | ON(PLAIN) | ON(GROUPED),
     {.head = {[BEFORE_SCALE] = normalise_scores, [SCALE] = scale_missing}}},
    {"scores-cosine:scaled", ON(WIDE) | ON(PLAIN), {.head[BEFORE_SCALE] = normalise_scores}},
    {"scores-key-view", ON(WIDE) | ON(BOOK) | ON(PLAIN), {.head[SCORE] = reshape_keys}},
    {"softmax-twice", ON(WIDE) | ON(BOOK) | ON(PLAIN) | ON(SINGLE), {.head[AFTER] = soften_again}},
    {"softmax-log", ON(PLAIN) | ON(SINGLE), {.head[SOFTMAX] = softmax_log}},
    {"softmax-sigmoid", ON(WIDE) | ON(BOOK) | ON(PLAIN), {.head[SOFTMAX] = softmax_sigmoid}},
    {"softmax-no-keepdim:sum", ON(BOOK) | ON(SINGLE) | ON(PLAIN), {.head[SOFTMAX] = sum_without_keepdim}},
    {"softmax-no-keepdim:sum-shifted",
     ON(BOOK) | ON(SINGLE) | ON(PLAIN),
     {.head[SOFTMAX] = shifted_sum_without_keepdim}},
    {"softmax-no-keepdim:maximum", ON(SINGLE) | ON(PLAIN), {.head[SOFTMAX] = maximum_without_keepdim}},
    {"softmax-no-keepdim:both", ON(SINGLE) | ON(PLAIN), {.head[SOFTMAX] = both_without_keepdim}},
    {"softmax-queries", ON(BOOK) | ON(WIDE) | ON(PLAIN) | ON(FEW), {.head[SOFTMAX] = softmax_queries}},
    {"softmax-heads", ON(BATCH) | ON(PLAIN), {.head[SOFTMAX] = softmax_heads}},
    {"softmax-items", ON(BATCH), {.head[SOFTMAX] = softmax_items}},
    {"softmax-all", ON(PLAIN) | ON(WIDE), {.head[SOFTMAX] = softmax_all}},
    {"softmax-base-2", ON(PLAIN) | ON(KERNEL) | ON(WIDE), {.head[SOFTMAX] = softmax_base_2}},
    {"softmax-overflow", ON(LOUD), {.head[SOFTMAX] = softmax_overflow}},
    {"softmax-missing", ON(WIDE) | ON(BOOK) | ON(PLAIN), {.head[SOFTMAX] = softmax_missing}},
    {"softmax-sum-of-scores", ON(PLAIN) | ON(SINGLE), {.head[SOFTMAX] = softmax_sum_of_scores}},
    {"weights-transposed",
     ON(SINGLE) | ON(WIDE) | ON(PLAIN),
     {.whole[KEYS] = all_keys, .head[CONTEXT] = weights_transposed}},
    {"softcap-after-mask", ON(CAPPED), {.head = {[CAP] = not_capped, [HIDE] = hide_and_cap}}},
    {"softcap-before-scale", ON(CAPPED) | ON(KERNEL), {.head = {[BEFORE_SCALE] = cap_scores, [CAP] = not_capped}}},
    {"softcap-missing", ON(CAPPED) | ON(KERNEL), {.head[CAP] = not_capped}},
    {"softcap-not-multiplied", ON(CAPPED) | ON(KERNEL), {.head[CAP] = cap_not_multiplied}},
    {"alibi-sign", ON(ALIBI) | ON(KERNEL), {.head[DISTANCE] = alibi_sign}},
    {"alibi-missing", ON(ALIBI) | ON(KERNEL), {.head[DISTANCE] = alibi_missing}},
    {"alibi-doubled", ON(ALIBI), {.head[DISTANCE] = alibi_doubled}},
    {"alibi-halved", ON(ALIBI), {.head[DISTANCE] = alibi_halved}},
    {"alibi-reversed", ON(ALIBI) | ON(KERNEL), {.head[DISTANCE] = alibi_reversed}},
    {"alibi-one-head-off:later", ON(ALIBI), {.head[DISTANCE] = alibi_later}},
    {"alibi-one-head-off:earlier", ON(ALIBI), {.head[DISTANCE] = alibi_earlier}},
    {"alibi-scaled", ON(ALIBI), {.head = {[BEFORE_SCALE] = slope_scores, [DISTANCE] = alibi_missing}}},
    {"sinks-negative", ON(SINKS) | ON(KERNEL), {.whole[PLACE] = turn_sinks}},
    {"sinks-zero", ON(SINKS) | ON(KERNEL), {.whole[PLACE] = clear_sinks}},
    {"sinks-other-head:first", ON(SINKS) | ON(KERNEL), {.whole[PLACE] = share_sink}},
    {"sinks-other-head:reversed", ON(KERNEL), {.whole[PLACE] = reverse_sinks}},
    {"sinks-missing", ON(SINKS) | ON(KERNEL), {.head[SOFTMAX] = softmax_without_sink}},
    {"lse-base-2", ON(PLAIN_LSE), {.head[LSE] = lse_base_2}},
    {"lse-maximum-missing", ON(PLAIN_LSE), {.head[LSE] = lse_maximum_missing}},
    {"lse-before-scale", ON(PLAIN_LSE), {.head[LSE] = lse_before_scale}},
};

const struct case_list CASES_OF_SCORES = {ROWS, sizeof ROWS / sizeof *ROWS};
