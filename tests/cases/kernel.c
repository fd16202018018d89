/* SPDX-License-Identifier: MIT */
#include "cases/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUG(n) (k->bug == (n))

enum { MOST_TILE = 64, MOST_COLUMNS = 512 };

/* One head of one item or sequence: its queries and keys, and where they are. */
struct slice {
    const struct tiled *k;
    size_t item, head, kv_head;
    size_t first_query, first_key; /* of a sequence, in the packed rows */
    size_t queries, keys;
    long offset; /* query i has the position i + offset among the keys */
};

/* The sums of the queries of a tile. */
struct sums {
    float maximum[MOST_TILE], sum[MOST_TILE], context[MOST_TILE][MOST_COLUMNS];
};

/* A tile of keys. */
struct tile {
    float key[MOST_TILE][MOST_COLUMNS], value[MOST_TILE][MOST_COLUMNS];
};

static float rounded(float number, int bits)
{
    int exponent;
    if (bits >= 24 || number == 0 || !isfinite(number))
        return number;
    frexpf(number, &exponent);
    return ldexpf(nearbyintf(ldexpf(number, bits - exponent)), exponent - bits);
}

/* Row t, or the last that there is: a wrong index must not read what is not there. */
static float *row_at(const struct kernel_rows *rows, size_t item, size_t head, size_t row)
{
    const size_t at = item * rows->item + head * rows->head + row * rows->row;
    return rows->numbers + (at < rows->count ? at : at % rows->count - at % rows->count % rows->row);
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

static size_t page_of(const struct slice *s, size_t key)
{
    const struct tiled *k = s->k;
    const size_t page = BUG(114) ? 8 : k->page, item = BUG(112) ? 0 : s->item;
    size_t entry = key / page, within = key % page;
    if (BUG(111) && entry > 0)
        within = (within + 1) % page;
    if (BUG(116) && entry == 1)
        entry = 0;
    if (entry >= k->per_item)
        entry = k->per_item - 1;
    const int64_t number = BUG(110) ? (int64_t)(s->item * k->per_item + entry) : k->table[item * k->per_item + entry];
    return (number < 0 ? 0 : (size_t)number) * k->page + within;
}

static const float *key_row(const struct slice *s, size_t key)
{
    const struct tiled *k = s->k;
    size_t head = s->kv_head, item = s->item, at = s->first_key + key;
    if (BUG(19))
        item = 0;
    if (BUG(31))
        at = at % 128;
    if (BUG(103) && k->key_starts != NULL)
        at = s->first_query + key;
    if (k->table != NULL) {
        item = 0;
        at = page_of(s, key);
        if (BUG(115) && k->kv_heads < k->heads)
            head = 0;
    }
    if (BUG(18) && k->table == NULL && k->key_starts == NULL)
        return row_at(&k->key, 0, s->item * k->heads + head, at);
    if (BUG(17) && k->table == NULL)
        return row_at(&k->key, 0, s->item + head, at);
    return row_at(&k->key, item, head, at);
}

static const float *value_row(const struct slice *s, size_t key)
{
    const struct tiled *k = s->k;
    size_t head = s->kv_head, item = s->item, at = s->first_key + key;
    if (BUG(19))
        item = 0;
    if (BUG(20))
        head = 0;
    if (BUG(31))
        at = at % 128;
    if (k->table != NULL) {
        item = 0;
        at = page_of(s, key);
    }
    if (BUG(21) && k->d_value != k->d)
        return k->value.numbers +
               (item * k->value.item + head * k->value.head + at * k->d) % (k->value.count - k->d_value);
    return row_at(&k->value, item, head, at);
}

/* Loads the keys from `first` on; the rest of the tile is zeros. */
static void load(const struct slice *s, size_t first, size_t end, struct tile *tile)
{
    const struct tiled *k = s->k;
    for (size_t j = 0; j < k->tile_keys; j++) {
        const bool there = first + j < end;
        if (!there && BUG(9)) /* stale: of the tile before */
            continue;
        for (size_t c = 0; c < k->d; c++)
            tile->key[j][c] = there ? key_row(s, first + j)[c] : 0;
        if (BUG(13) && first > 0 && j < 4)
            continue;
        for (size_t c = 0; c < k->d_value; c++)
            tile->value[j][c] = there ? value_row(s, first + j)[c] : 0;
    }
}

/* --- scores ------------------------------------------------------------------------------------------------------- */

static bool in_last_tile(const struct slice *s, size_t key)
{
    return s->keys % s->k->tile_keys != 0 && key >= s->keys - s->keys % s->k->tile_keys;
}

/* Whether query i may see key j, by position. */
static bool sees(const struct slice *s, size_t i, size_t j)
{
    const struct tiled *k = s->k;
    const bool groups = k->kv_heads < k->heads, windowed = k->left >= 0 || k->right >= 0;
    long at = (long)i + s->offset, key = (long)j;
    if (BUG(125) && k->gradient.numbers != NULL)
        return true;
    if (BUG(40))
        at = at % 64;
    if (BUG(44))
        at = (long)i;
    if (BUG(45) && s->offset != 0)
        at++;
    if (BUG(48) && s->offset != 0 && j / k->tile_keys == s->keys / k->tile_keys)
        at = (long)i;
    if (BUG(104) && k->key_starts != NULL)
        at += (long)s->first_query - (long)s->first_key;
    long ahead = BUG(41) ? 1 : BUG(42) ? -1 : 0;
    if (BUG(65) && groups)
        ahead = 1;
    const bool diagonal = at >= 0 && (size_t)at / k->tile_keys == j / k->tile_keys;
    if (k->causal && !BUG(43) && !(BUG(46) && diagonal) && key > at + ahead)
        return false;
    if (BUG(47) && k->causal && diagonal && at >= (long)k->tile_keys)
        return false;
    long left = k->left, right = k->right;
    if (BUG(53) && left >= 0)
        left++;
    if (BUG(54) && left > 0)
        left--;
    if (BUG(55) || (BUG(60) && in_last_tile(s, j)) || (BUG(108) && k->key_starts != NULL))
        return true;
    if (BUG(58) && windowed)
        at = (long)i;
    if (BUG(57) && left >= 0 && at > left && key < at - left &&
        (size_t)key / k->tile_keys == (size_t)(at - left) / k->tile_keys)
        return true;
    if (left >= 0 && key < at - left)
        return false;
    if (BUG(56) || (BUG(59) && groups) || right < 0)
        return true;
    return key <= at + right;
}

static float slope_of(const struct slice *s)
{
    const struct tiled *k = s->k;
    const float slope = k->slopes[BUG(66) ? s->kv_head : BUG(71) ? (s->head + 1) % k->heads : s->head];
    return BUG(69) ? -slope : BUG(74) ? slope * k->scale : slope;
}

static float capped(const struct slice *s, float score, size_t j)
{
    const struct tiled *k = s->k;
    if (k->softcap <= 0 || BUG(76) || (BUG(80) && in_last_tile(s, j)) || (BUG(62) && k->left >= 0))
        return score;
    if (BUG(81))
        return fabsf(score) > k->softcap ? copysignf(k->softcap, score) : score;
    return (BUG(78) ? 1 : k->softcap) * tanhf(score / k->softcap);
}

static float mask_at(const struct slice *s, size_t i, size_t j)
{
    const struct tiled *k = s->k;
    const size_t item = BUG(95) ? 0 : s->item, head = BUG(94) ? 0 : s->head;
    i += s->first_query;
    j += s->first_key;
    size_t at = i * k->mask_row + j;
    if (BUG(90) && k->queries == k->keys && k->mask_row > 0)
        at = j * k->mask_row + i;
    if (BUG(92) && k->mask_row > 0)
        at = (i * k->queries + j) % (k->queries * k->keys);
    at += item * k->mask_item + head * k->mask_head;
    return at < k->mask_count ? k->mask[at] : 0; /* what wrong lengths read behind it */
}

/* The score of a key, minus infinity where it is masked. */
static float score_of(const struct slice *s, const float *query, const float *key, size_t i, size_t j)
{
    const struct tiled *k = s->k;
    const size_t columns = BUG(23) ? k->d - 1 : k->d;
    const bool decode = s->queries == 1 && s->keys > 1;
    float score = 0;
    for (size_t c = 0; c < columns; c++) {
        score += query[c] * key[c];
        if (BUG(24))
            score = rounded(score, 8);
        if (BUG(117) && fabsf(score) > 65504)
            score = copysignf(INFINITY, score);
    }
    if (BUG(79))
        score = capped(s, score, j);
    if (!BUG(1) && !(BUG(38) && decode))
        score *= k->scale;
    if (BUG(2))
        score *= k->scale;
    if (BUG(139) && k->d_value != k->d) /* of the wrong width */
        score *= sqrtf((float)k->d / (float)k->d_value);
    if (BUG(75) && k->slopes != NULL)
        score -= slope_of(s) * fabsf((float)((long)i + s->offset - (long)j));
    if (!BUG(79))
        score = capped(s, score, j);
    const bool masked_out = !sees(s, i, j);
    if (masked_out)
        return BUG(77) && k->softcap > 0 ? -k->softcap : -INFINITY;
    if (k->mask != NULL && !BUG(88) && !(BUG(91) && in_last_tile(s, j))) {
        float added = mask_at(s, i, j);
        if (BUG(89) && k->mask_is_boolean)
            added = added == 0 ? -INFINITY : 0;
        if (BUG(96) && k->mask_is_boolean)
            added = added == 0 ? 1 : 0;
        if (BUG(93))
            added *= k->scale;
        if (added == -INFINITY && !(BUG(97) && !k->mask_is_boolean))
            return -INFINITY;
        score += added == -INFINITY ? -9 : added;
    }
    if (k->slopes != NULL && !BUG(70) && !BUG(75)) {
        const long at = (long)i + (BUG(73) ? 0 : s->offset);
        const long by = BUG(72) ? (at % (long)k->tile_rows) - (long)(j % k->tile_keys) : at - (long)j;
        score -= slope_of(s) * fabsf((float)by);
    }
    return score == score ? score : NAN;
}

/* --- one tile ----------------------------------------------------------------------------------------------------- */

static float power(const struct tiled *k, float x)
{
    if (BUG(4))
        return exp2f(x);
    return k->base_2 ? exp2f(x * 1.44269504f) : expf(x);
}

static void take_tile(const struct slice *s, struct sums *sums, const struct tile *tile, size_t row, size_t rows,
                      size_t first, size_t end)
{
    const struct tiled *k = s->k;
    float factors[MOST_TILE];
    for (size_t r = 0; r < rows; r++) {
        const float *query = row_at(&k->query, s->item, s->head, s->first_query + row + r);
        float scores[MOST_TILE], largest = sums->maximum[r];
        if (BUG(16) && k->query_starts == NULL && k->table == NULL)
            query = row_at(&k->query, 0, 0, (s->item * k->heads + s->head) * k->keys + row + r);
        for (size_t j = 0; j < k->tile_keys; j++) {
            const bool padded = first + j >= end;
            scores[j] = padded && !BUG(8) && !BUG(9) ? -INFINITY
                        : padded && BUG(8)           ? 0
                                                     : score_of(s, query, tile->key[j], row + r, first + j);
            if (padded && BUG(9) && first == 0)
                scores[j] = -INFINITY;
            if (BUG(12) && j == 0 && first > 0)
                scores[j] = -INFINITY;
            largest = BUG(3) ? 0 : fmaxf(largest, scores[j]);
        }
        const float before = sums->maximum[r];
        factors[r] = before == -INFINITY || largest == -INFINITY ? 0 : power(k, before - largest);
        const float factor = BUG(29) ? factors[0] : factors[r];
        float sum = 0;
        if (!BUG(6))
            sums->sum[r] *= factors[r];
        for (size_t c = 0; c < k->d_value && !BUG(5) && !(BUG(30) && first + k->tile_keys >= end); c++)
            sums->context[r][c] *= factor;
        for (size_t j = 0; j < k->tile_keys && largest > -INFINITY; j++) {
            float weight = power(k, scores[j] - largest);
            if (isnan(scores[j]))
                weight = NAN;
            sum += weight;
            if (k->rounds_weights)
                weight = rounded(weight, k->bits);
            if (BUG(26))
                weight = rounded(weight, 8);
            if (weight == 0)
                continue;
            for (size_t c = 0; c < k->d_value; c++) {
                sums->context[r][c] += weight * tile->value[j][c];
                if (BUG(140))
                    sums->context[r][c] = rounded(sums->context[r][c], 8);
            }
        }
        sums->sum[r] += sum;
        if (BUG(25))
            for (size_t c = 0; c < k->d_value; c++)
                sums->context[r][c] = rounded(sums->context[r][c], 8);
        if (BUG(141))
            sums->sum[r] = rounded(sums->sum[r], 8);
        if (!(BUG(142) && first > 0 && first + k->tile_keys >= end))
            sums->maximum[r] = largest;
    }
}

/* --- one tile of queries ------------------------------------------------------------------------------------------ */

static void begin(const struct slice *s, struct sums *sums, size_t split)
{
    const struct tiled *k = s->k;
    memset(sums, 0, sizeof *sums);
    for (size_t r = 0; r < k->tile_rows; r++) {
        const float sink = k->sinks != NULL ? k->sinks[BUG(67) ? s->kv_head : BUG(84) ? 0 : s->head] : 0;
        const bool has_sink = k->sinks != NULL && !BUG(82) && (split == 0 || BUG(85));
        sums->maximum[r] = BUG(7) || BUG(3) ? 0 : -INFINITY;
        if (!has_sink)
            continue;
        const float logit = BUG(86) ? sink * k->scale : sink;
        if (!BUG(3))
            sums->maximum[r] = logit;
        sums->sum[r] = BUG(83) ? 0 : BUG(3) ? power(k, logit) : 1;
        if (BUG(61) && k->left >= 0)
            sums->sum[r] = 2;
        if (BUG(143) && k->softcap > 0)
            sums->maximum[r] = k->softcap * tanhf(logit / k->softcap);
    }
}

/* Merges the second split into the first. */
static void merge(const struct slice *s, struct sums *into, const struct sums *other)
{
    const struct tiled *k = s->k;
    for (size_t r = 0; r < k->tile_rows; r++) {
        const float largest = fmaxf(into->maximum[r], other->maximum[r]);
        float a = into->maximum[r] == -INFINITY ? 0 : power(k, into->maximum[r] - largest);
        float b = other->maximum[r] == -INFINITY ? 0 : power(k, other->maximum[r] - largest);
        if (BUG(35)) {
            a = exp2f(into->maximum[r] - largest);
            b = exp2f(other->maximum[r] - largest);
        }
        if (BUG(36) && other->maximum[r] == -INFINITY)
            b = expf(other->maximum[r] - other->maximum[r]); /* NaN: nothing allowed in the split */
        if (largest == -INFINITY && !BUG(36))
            continue;
        for (size_t c = 0; c < k->d_value; c++) {
            const float left = into->context[r][c], right = other->context[r][c];
            if (BUG(33))
                into->context[r][c] = (left / into->sum[r] + right / other->sum[r]) / 2;
            else if (BUG(34))
                into->context[r][c] = (a * left / into->sum[r] + b * right / other->sum[r]) / (a + b);
            else if (BUG(32))
                into->context[r][c] = a * left;
            else
                into->context[r][c] = a * left + b * right;
        }
        into->sum[r] = BUG(33) || BUG(34) ? 1 : BUG(32) ? a * into->sum[r] : a * into->sum[r] + b * other->sum[r];
        into->maximum[r] = largest;
    }
}

/* The mean of the values, for a bug of empty rows. */
static float mean_value(const struct slice *s, size_t column)
{
    float sum = 0;
    for (size_t j = 0; j < s->keys; j++)
        sum += value_row(s, j)[column];
    return sum / (float)s->keys;
}

static void store(const struct slice *s, const struct sums *sums, size_t row, size_t rows)
{
    const struct tiled *k = s->k;
    for (size_t r = 0; r < rows; r++) {
        size_t at = s->first_query + row + r;
        const bool empty = sums->sum[r] == 0 && !BUG(3);
        const float sum = sums->sum[BUG(28) ? 0 : r];
        if ((BUG(14) && rows < k->tile_rows) || (BUG(52) && empty) || (BUG(102) && s->keys == 0))
            continue;
        if (BUG(15) && rows < k->tile_rows && row > 0)
            at -= 1;
        if (BUG(37) && s->queries == 1 && s->keys == 1)
            continue;
        float *out = row_at(&k->context, s->item, s->head, at);
        if (BUG(22) && k->d_value != k->d)
            out = k->context.numbers +
                  (s->item * k->context.item + s->head * k->context.head + at * k->d) % (k->context.count - k->d_value);
        for (size_t c = 0; c < k->d_value; c++) {
            float context = empty ? 0 : sums->context[r][c] / sum;
            if (BUG(27) && s->keys <= k->tile_keys)
                context = sums->context[r][c];
            if (empty && BUG(50))
                context = NAN;
            if (empty && BUG(51))
                context = mean_value(s, c);
            if (BUG(144) && c >= 16 && s->head == k->heads - 1)
                context = 0;
            if (BUG(87) && k->sinks != NULL && sums->maximum[r] == k->sinks[s->head] && sums->context[r][c] == 0)
                context = NAN;
            if (BUG(145) && (at & 31) == 31) /* a race: the last row of 32 has half of its sum */
                context *= 0.5F;
            out[c] = rounded(context, k->bits);
        }
        if (k->lse.numbers != NULL) {
            float lse = empty ? -INFINITY : logf(sums->sum[r]) + sums->maximum[r];
            if (BUG(118))
                lse *= 1.44269504f;
            if (BUG(119))
                lse = logf(sums->sum[r]);
            if (BUG(120))
                lse = log2f(sums->sum[r]) + sums->maximum[r];
            if (BUG(146) && k->sinks != NULL) /* without the sink */
                lse = logf(sums->sum[r] - expf(k->sinks[s->head] - sums->maximum[r])) + sums->maximum[r];
            *row_at(&k->lse, s->item, s->head, at) = lse;
        }
    }
}

/* The keys that a tile of queries visits: all, or those before the diagonal. */
static size_t last_key(const struct slice *s, size_t row, size_t rows)
{
    const struct tiled *k = s->k;
    size_t end = s->keys;
    if (BUG(10))
        end -= end % k->tile_keys;
    if (BUG(11) && end > 0)
        end--;
    if (BUG(113) && k->table != NULL)
        end -= end % k->page;
    if (BUG(39) && s->queries == 1 && end > 64)
        end = 64;
    if (BUG(68) && k->kv_heads < k->heads && s->head % (k->heads / k->kv_heads) != 0)
        end -= end % k->tile_keys;
    if (BUG(49) && k->causal) {
        const long reach = (long)(row + rows) + s->offset;
        const size_t full = reach < 0 ? 0 : (size_t)reach / k->tile_keys * k->tile_keys;
        end = full < end && full > 0 ? full : end;
    }
    return end;
}

static void forward(const struct slice *s)
{
    const struct tiled *k = s->k;
    struct tile *tile = calloc(1, sizeof *tile);
    struct sums *sums = calloc(2, sizeof *sums);
    for (size_t row = 0; row < s->queries; row += k->tile_rows) {
        const size_t rows = s->queries - row < k->tile_rows ? s->queries - row : k->tile_rows;
        const size_t end = last_key(s, row, rows), second = k->split > 0 && s->keys > k->split ? k->split : end;
        begin(s, &sums[0], 0);
        begin(s, &sums[1], 1);
        for (size_t first = 0; first < end; first += k->tile_keys) {
            load(s, first, end, tile);
            if (BUG(147) && first == k->tile_keys && first + k->tile_keys < end) /* the loop begins at 0 and 2 */
                continue;
            if (BUG(148) && first == 2 * k->tile_keys) /* visited twice */
                take_tile(s, &sums[0], tile, row, rows, first, end);
            take_tile(s, &sums[first >= second], tile, row, rows, first, end);
        }
        if (second < end)
            merge(s, &sums[0], &sums[1]);
        store(s, &sums[0], row, rows);
    }
    free(tile);
    free(sums);
}

/* --- backward ----------------------------------------------------------------------------------------------------- */

/* All weights of a row, the maximum and the sum of which include the sink; returns the weight of the sink. */
static float weights_of(const struct slice *s, size_t i, float *weights)
{
    const struct tiled *k = s->k;
    const float *query = row_at(&k->query, s->item, s->head, s->first_query + i);
    const float sink = k->sinks != NULL ? k->sinks[s->head] : -INFINITY;
    float largest = sink, sum = 0;
    for (size_t j = 0; j < s->keys; j++) {
        weights[j] = score_of(s, query, key_row(s, j), i, j);
        largest = fmaxf(largest, weights[j]);
    }
    for (size_t j = 0; j < s->keys && largest > -INFINITY; j++)
        sum += weights[j] = power(k, weights[j] - largest);
    if (k->sinks != NULL)
        sum += power(k, sink - largest);
    for (size_t j = 0; j < s->keys; j++)
        weights[j] = sum > 0 ? weights[j] / sum : 0;
    return k->sinks != NULL ? power(k, sink - largest) / sum : 0;
}

/* Adds one row of one head to the gradients. */
static void add_row(const struct slice *s, size_t i, float *weights, float *grads)
{
    const struct tiled *k = s->k;
    const size_t at = s->first_query + i;
    const float *query = row_at(&k->query, s->item, s->head, at), *out = row_at(&k->gradient, s->item, s->head, at);
    float *grad_query = row_at(&k->grad_query, s->item, s->head, at);
    const float of_sink = weights_of(s, i, weights);
    float delta = 0;
    for (size_t j = 0; j < s->keys; j++) {
        grads[j] = 0;
        if (weights[j] == 0)
            continue;
        for (size_t c = 0; c < k->d_value; c++)
            grads[j] += out[c] * value_row(s, j)[c];
        delta += weights[j] * grads[j];
    }
    if (BUG(121))
        delta = 0;
    if (BUG(134) && i % 2 == 1) /* of the row before: here of no other query than the first of a pair */
        delta *= 0.5F;
    if (k->grad_sinks != NULL && !(BUG(133) && i + 1 == s->queries))
        k->grad_sinks[s->head] += (BUG(132) ? 1 : -1) * of_sink * delta;
    const bool skips_query = BUG(128) && i >= s->queries - s->queries % k->tile_rows;
    const bool skips_key = BUG(129) && i >= s->queries - s->queries % k->tile_rows;
    for (size_t j = 0; j < s->keys; j++) {
        if (weights[j] == 0)
            continue;
        const float *key = key_row(s, j);
        const size_t to = s->first_key + j;
        float score = 0, slope = 1;
        for (size_t c = 0; c < k->d; c++)
            score += query[c] * key[c];
        if (k->softcap > 0 && !BUG(126)) {
            const float part = tanhf(score * k->scale / k->softcap);
            slope = BUG(149) ? 1 - part : 1 - part * part;
        }
        const float grad = weights[j] * (grads[j] - delta) * slope, scale = BUG(122) ? 1 : k->scale;
        const bool shared = k->kv_heads < k->heads && s->head % (k->heads / k->kv_heads) != 0;
        const bool kept = !(BUG(124) && shared) && !skips_key;
        float *grad_key = row_at(&k->grad_key, s->item, s->kv_head, to);
        float *grad_value = row_at(&k->grad_value, s->item, s->kv_head, to);
        for (size_t c = 0; c < k->d; c++) {
            if (!skips_query)
                grad_query[c] += grad * scale * key[c] * (BUG(136) && j / k->tile_keys == 1 ? 2 : 1);
            if (kept)
                grad_key[c] += grad * scale * (BUG(123) ? k->scale : 1) * query[c];
        }
        for (size_t c = 0; c < k->d_value && !(BUG(137) && k->d_value != k->d && c >= k->d / 2); c++)
            if (!(BUG(127) && shared))
                grad_value[c] += (BUG(150) && j == i ? 0 : weights[j]) * out[c];
    }
}

static void backward(const struct slice *s)
{
    float *weights = calloc(2 * (s->keys + 1), sizeof *weights);
    for (size_t i = 0; i < s->queries; i++)
        add_row(s, i, weights, weights + s->keys + 1);
    free(weights);
}

/* --- all slices --------------------------------------------------------------------------------------------------- */

static size_t kv_head_of(const struct tiled *k, size_t head)
{
    const size_t group = k->heads / k->kv_heads;
    if (BUG(63))
        return head % k->kv_heads;
    if (BUG(64))
        return 0;
    return head / group;
}

static void run_slice(struct slice s)
{
    const struct tiled *k = s.k;
    for (s.head = 0; s.head < k->heads; s.head++) {
        s.kv_head = kv_head_of(k, s.head);
        if (k->gradient.numbers != NULL)
            backward(&s);
        else
            forward(&s);
    }
}

static void run_item(const struct tiled *k, size_t item)
{
    struct slice s = {.k = k, .item = item, .queries = k->queries, .keys = k->keys};
    if (k->lengths != NULL && !BUG(98)) {
        s.keys = (size_t)k->lengths[BUG(99) ? 0 : item];
        if (BUG(100) && s.keys % 16 == 1 && k->table == NULL)
            s.keys -= 1;
        if (BUG(151) && s.keys < k->keys && k->table == NULL)
            s.keys += 1;
    }
    if (k->lengths != NULL || k->bottom_right)
        s.offset = (BUG(101) && k->lengths != NULL ? (long)k->keys : (long)s.keys) - (long)k->queries;
    run_slice(s);
}

static void run_sequences(const struct tiled *k)
{
    size_t taken = 0;
    for (size_t i = 0; i < k->sequences; i++) {
        struct slice s = {.k = k,
                          .first_query = (size_t)k->query_starts[i],
                          .first_key = (size_t)k->key_starts[BUG(107) && i > 2 ? i - 1 : i]};
        s.queries = (size_t)k->query_starts[i + 1] - s.first_query;
        s.keys = (size_t)k->key_starts[i + 1] - (size_t)k->key_starts[i];
        if (BUG(105) && s.first_key + s.keys < k->keys)
            s.keys++;
        if (BUG(106) && i + 1 == k->sequences)
            continue;
        if (BUG(109) && s.queries == 1 && taken++ == 0)
            continue;
        s.offset = k->top_left ? 0 : (long)s.keys - (long)s.queries;
        run_slice(s);
    }
}

void kernel_run(struct tiled *kernel)
{
    if (kernel->query_starts != NULL)
        run_sequences(kernel);
    else
        for (size_t item = 0; item < kernel->items; item++)
            run_item(kernel, item);
}
