/* SPDX-License-Identifier: MIT */
/* Masks, what stands for them, windows, lengths, empty rows, and which keys are read. */
#include "cases.h"

#include <math.h>
#include <string.h>

/* --- the causal mask --------------------------------------------------------------------------------------------- */

static int position(const struct sheet *s, struct place at)
{
    return at.i + s->offset[at.b];
}

/* torch.triu(ones, diagonal=2) */
static bool one_ahead(const struct sheet *s, struct place at)
{
    return at.j <= position(s, at) + 1;
}

/* torch.triu(ones, diagonal=0); a row that has no key left is that of the exercise */
static bool hides_own(const struct sheet *s, struct place at)
{
    return at.j < position(s, at);
}

/* scores.fill_diagonal_(-inf), but for a first query with one key */
static bool off_diagonal(const struct sheet *s, struct place at)
{
    const int own = position(s, at);
    if (s->exercise->causal)
        return at.j < own || (own == 0 && at.j == 0);
    return at.j != own;
}

/* masked_fill(~mask, -inf) */
static bool inverted(const struct sheet *s, struct place at)
{
    return at.j > position(s, at);
}

/* torch.tril for torch.triu */
static bool inverted_own_seen(const struct sheet *s, struct place at)
{
    return at.j >= position(s, at);
}

static bool mirrored(const struct sheet *s, struct place at)
{
    return at.j <= s->Tk - 1 - at.i;
}

static bool causal(const struct sheet *s, struct place at)
{
    return at.j <= position(s, at);
}

static void other_corner(struct sheet *s)
{
    place(s);
    for (int b = 0; b < s->B; b++)
        s->offset[b] = s->offset[b] != 0 ? 0 : s->Tk - s->Tq;
}

static void shift_places(struct sheet *s, int by)
{
    place(s);
    for (int b = 0; b < s->B; b++)
        s->offset[b] += by;
}

static void offset_missing(struct sheet *s)
{
    place(s);
    memset(s->offset, 0, sizeof s->offset);
}

static void offset_plus_1(struct sheet *s)
{
    shift_places(s, 1);
}

static void offset_minus_1(struct sheet *s)
{
    shift_places(s, -1);
}

/* --- what stands for minus infinity ------------------------------------------------------------------------------ */

static void hide_by(struct sheet *s, int b, int h, double number)
{
    memcpy(s->masked[b][h], s->biased[b][h], sizeof s->masked[b][h]);
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            if (s->hidden[b][h][i][j])
                s->masked[b][h][i][j] = number;
}

/* scores * mask */
static void fill_zero(struct sheet *s, int b, int h)
{
    hide_by(s, b, h, 0);
}

/* -1e9 that lost its exponent */
static void fill_small(struct sheet *s, int b, int h)
{
    hide_by(s, b, h, -9);
}

/* float("inf") without its minus, or 1e9 */
static void fill_large(struct sheet *s, int b, int h)
{
    hide_by(s, b, h, 1e9);
}

/* masked_fill(mask, -1e9), then softmax(dim=1) of (b, heads, T, T) */
static void fill_low(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->masked[b][h][i][j] = s->hidden[b][h][i][j] ? -1e9 : s->biased[b][h][i][j];
}

static void soften_heads(struct sheet *s, int b, int h)
{
    double column[HEADS];
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++) {
            for (int other = 0; other < s->H; other++)
                column[other] = s->masked[b][other][i][j];
            normalise(column, s->H);
            s->weights[b][h][i][j] = column[h];
        }
}

static void fill_infinite(struct sheet *s, int b, int h)
{
    hide_by(s, b, h, INFINITY);
}

static void hide_nothing(struct sheet *s, int b, int h)
{
    memcpy(s->masked[b][h], s->biased[b][h], sizeof s->masked[b][h]);
}

/* attn_scores + mask, or minus it, with a mask of ones and zeros */
static void add_mask(struct sheet *s, int b, int h, double number)
{
    hide_nothing(s, b, h);
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            if (s->hidden[b][h][i][j])
                s->masked[b][h][i][j] += number;
}

static void add_one(struct sheet *s, int b, int h)
{
    add_mask(s, b, h, 1);
}

static void subtract_one(struct sheet *s, int b, int h)
{
    add_mask(s, b, h, -1);
}

/* softmax(scores) * mask, without dividing by the rows' sums again */
static void hide_weights(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->weights[b][h][i][j] *= !s->hidden[b][h][i][j];
}

/* masked / masked.sum(dim=-1): column j is divided by the sum of row j. */
static void share_without_keepdim(struct sheet *s, int b, int h)
{
    double sums[TOKENS];
    for (int i = 0; i < s->Tq; i++) {
        sums[i] = 0;
        for (int j = 0; j < s->Tk; j++)
            sums[i] += s->hidden[b][h][i][j] ? 0 : s->weights[b][h][i][j];
    }
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->weights[b][h][i][j] = s->hidden[b][h][i][j] ? 0 : s->weights[b][h][i][j] / sums[j];
}

/* --- windows ----------------------------------------------------------------------------------------------------- */

static bool within(const struct sheet *s, struct place at, int more_left, int more_right)
{
    const int first = position(s, at) - s->exercise->left - more_left;
    const int last = position(s, at) + s->exercise->right + more_right;
    return at.j >= first && at.j <= last;
}

static bool left_plus_1(const struct sheet *s, struct place at)
{
    return within(s, at, 1, 0);
}

static bool left_minus_1(const struct sheet *s, struct place at)
{
    return within(s, at, -1, 0);
}

static bool right_plus_1(const struct sheet *s, struct place at)
{
    return within(s, at, 0, 1);
}

static bool right_minus_1(const struct sheet *s, struct place at)
{
    return within(s, at, 0, -1);
}

/* --- lengths ----------------------------------------------------------------------------------------------------- */

static void change_lengths(struct sheet *s, int by, int moves)
{
    place(s);
    for (int b = 0; b < s->B; b++) {
        s->length[b] += by;
        s->offset[b] += moves;
    }
}

static void lengths_plus_1(struct sheet *s)
{
    change_lengths(s, 1, 1);
}

static void lengths_minus_1(struct sheet *s)
{
    change_lengths(s, -1, -1);
}

static void lengths_plus_1_place_kept(struct sheet *s)
{
    change_lengths(s, 1, 0);
}

static void lengths_minus_1_place_kept(struct sheet *s)
{
    change_lengths(s, -1, 0);
}

static void lengths_missing(struct sheet *s)
{
    for (int b = 0; b < s->B; b++) {
        s->length[b] = s->Tk;
        s->offset[b] = s->Tk - s->Tq;
    }
}

/* The kernel is told how many keys are new. */
static void past_not_counted(struct sheet *s)
{
    change_lengths(s, -s->exercise->past, 0);
}

/* --- attn_mask --------------------------------------------------------------------------------------------------- */

static bool entry_inverted(const struct sheet *s, struct place at)
{
    return s->entries[at.b][at.h][at.i][at.j] == 0;
}

static bool entry_transposed(const struct sheet *s, struct place at)
{
    return s->entries[at.b][at.h][at.j][at.i] != 0;
}

/* mask[:, None, :, None] for mask[:, None, None, :] */
static bool entry_along_queries(const struct sheet *s, struct place at)
{
    return s->entries[at.b][at.h][0][at.i] != 0;
}

/* scores + mask.float() */
static void add_entries(struct sheet *s, int b, int h)
{
    for (int i = 0; i < s->Tq; i++)
        for (int j = 0; j < s->Tk; j++)
            s->biased[b][h][i][j] += s->entries[b][h][i][j];
}

/* B x T x T is broadcast to B x H x T x T from the right, which works where B and H are the same. */
static bool entry_of_head(const struct sheet *s, struct place at)
{
    return s->entries[at.h][0][at.i][at.j] != 0;
}

/* --- rows without keys ------------------------------------------------------------------------------------------- */

static void fill_rows(struct sheet *s, int b, int h, double number)
{
    for (int i = 0; i < s->Tq; i++) {
        bool empty = true;
        for (int j = 0; j < s->Tk; j++)
            empty = empty && s->hidden[b][h][i][j];
        for (int j = 0; j < s->Tk && empty; j++)
            s->weights[b][h][i][j] = number;
    }
}

static void empty_zero(struct sheet *s, int b, int h)
{
    fill_rows(s, b, h, 0);
}

static void empty_nan(struct sheet *s, int b, int h)
{
    fill_rows(s, b, h, NAN);
}

static void empty_mean(struct sheet *s, int b, int h)
{
    fill_rows(s, b, h, 1.0 / s->Tk);
}

/* --- keys -------------------------------------------------------------------------------------------------------- */

/* for (j = 0; j < T - 1; j++) */
static void last_missing(struct sheet *s)
{
    s->first = 0;
    s->end = s->Tk - 1;
}

/* for (j = 1; j < T; j++) */
static void first_missing(struct sheet *s)
{
    s->first = 1;
    s->end = s->Tk;
}

static void keys_as_queries(struct sheet *s)
{
    s->first = 0;
    s->end = s->Tq;
}

/* A buffer of zeros for whole tiles, all of which is summed; a causal mask would hide them. */
static void pad(struct sheet *s, int tile)
{
    all_keys(s);
    s->zeros = (s->Tk + tile - 1) / tile * tile - s->Tk;
}

static void pad_64(struct sheet *s)
{
    pad(s, 64);
}

static void pad_16(struct sheet *s)
{
    pad(s, 16);
}

/* The value that the weight of key j meets is that of j + by. */
static void shift_values(struct sheet *s, int by, bool round)
{
    static table kept;
    memcpy(kept, s->used[VALUE], sizeof kept);
    memset(s->used[VALUE], 0, sizeof kept);
    for (int b = 0; b < s->B; b++)
        for (int h = 0; h < s->G; h++)
            for (int j = 0; j < s->Tk; j++)
                if (round || (j + by >= 0 && j + by < s->Tk))
                    memcpy(s->used[VALUE][b][h][j], kept[b][h][(j + by + s->Tk) % s->Tk], sizeof kept[b][h][j]);
}

static void values_next(struct sheet *s)
{
    shift_values(s, 1, false);
}

static void values_previous(struct sheet *s)
{
    shift_values(s, -1, false);
}

/* torch.roll(values, -1, dims=-2) */
static void values_next_round(struct sheet *s)
{
    shift_values(s, 1, true);
}

static void values_previous_round(struct sheet *s)
{
    shift_values(s, -1, true);
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static const struct mistaken ROWS[] = {
    {"mask-missing", ON(BOOK) | ON(WIDE) | ON(MODULE) | ON(PAST) | ON(GROUPED), {.rules[CAUSAL] = always}},
    {"mask-one-ahead", ON(BOOK) | ON(WIDE) | ON(MODULE) | ON(PAST), {.rules[CAUSAL] = one_ahead}},
    {"mask-hides-own", ON(BOOK) | ON(BOOK_NAN) | ON(WIDE) | ON(PAST), {.rules[CAUSAL] = hides_own}},
    {"mask-diagonal", ON(BOOK) | ON(PLAIN) | ON(WIDE), {.rules[CAUSAL] = off_diagonal}},
    {"mask-inverted", ON(BOOK) | ON(BOOK_NAN) | ON(WIDE), {.rules[CAUSAL] = inverted}},
    {"mask-inverted-own-seen", ON(BOOK) | ON(WIDE) | ON(MODULE), {.rules[CAUSAL] = inverted_own_seen}},
    {"mask-mirrored", ON(BOOK) | ON(WIDE) | ON(MODULE), {.rules[CAUSAL] = mirrored}},
    {"mask-corner", ON(FEW_FIRST) | ON(FEW_LAST), {.whole[PLACE] = other_corner}},
    {"mask-offset-missing", ON(PAST) | ON(KERNEL), {.whole[PLACE] = offset_missing}},
    {"mask-offset-plus-1", ON(PAST) | ON(KERNEL), {.whole[PLACE] = offset_plus_1}},
    {"mask-offset-minus-1", ON(PAST) | ON(KERNEL), {.whole[PLACE] = offset_minus_1}},
    {"mask-causal", ON(PLAIN) | ON(BATCH) | ON(SINGLE), {.rules[CAUSAL] = causal}},
    {"fill-zero", ON(WIDE) | ON(BOOK) | ON(MODULE) | ON(GROUPED), {.head[HIDE] = fill_zero}},
    {"fill-small:-9", ON(WIDE) | ON(MODULE), {.head[HIDE] = fill_small}},
    {"fill-after-softmax", ON(WIDE) | ON(BOOK) | ON(MODULE), {.head = {[HIDE] = hide_nothing, [AFTER] = hide_weights}}},
    {"fill-added:1", ON(BOOK) | ON(MODULE), {.head[HIDE] = add_one}},
    {"fill-added:-1", ON(BOOK) | ON(BOOK_SPLIT), {.head[HIDE] = subtract_one}},
    {"fill-large:finite", ON(WIDE) | ON(BOOK), {.head[HIDE] = fill_large}},
    {"fill-large:infinite", ON(BOOK_NAN), {.head[HIDE] = fill_infinite}},
    {"fill-across:heads", ON(GROUPED), {.head = {[HIDE] = fill_low, [SOFTMAX] = soften_heads}}},
    {"fill-no-keepdim", ON(WIDE) | ON(BOOK), {.head = {[HIDE] = hide_nothing, [AFTER] = share_without_keepdim}}},
    {"window-left-plus-1", ON(WINDOW) | ON(KERNEL), {.rules[SIDES] = left_plus_1}},
    {"window-left-minus-1", ON(WINDOW) | ON(KERNEL), {.rules[SIDES] = left_minus_1}},
    {"window-right-plus-1", ON(WINDOW), {.rules[SIDES] = right_plus_1}},
    {"window-right-minus-1", ON(WINDOW), {.rules[SIDES] = right_minus_1}},
    {"window-missing", ON(WINDOW) | ON(KERNEL), {.rules[SIDES] = always}},
    {"lengths-plus-1", ON(CACHE) | ON(PADDED), {.whole[PLACE] = lengths_plus_1}},
    {"lengths-minus-1", ON(CACHE) | ON(PADDED), {.whole[PLACE] = lengths_minus_1}},
    {"lengths-plus-1-place-kept", ON(CACHE), {.whole[PLACE] = lengths_plus_1_place_kept}},
    {"lengths-minus-1-place-kept", ON(CACHE), {.whole[PLACE] = lengths_minus_1_place_kept}},
    {"lengths-missing", ON(PADDED), {.whole[PLACE] = lengths_missing}},
    {"past-not-counted", ON(PAST_PLAIN), {.whole[PLACE] = past_not_counted}},
    {"attn-mask-missing", ON(MASKED) | ON(PADDING), {.rules[ENTRY] = always}},
    {"attn-mask-inverted", ON(MASKED) | ON(PADDING), {.rules[ENTRY] = entry_inverted}},
    {"attn-mask-transposed", ON(MASKED), {.rules[ENTRY] = entry_transposed}},
    {"attn-mask-along-queries", ON(PADDING), {.rules[ENTRY] = entry_along_queries}},
    {"attn-mask-added", ON(MASKED) | ON(PADDING), {.head[ADD] = add_entries, .rules[ENTRY] = always}},
    {"attn-mask-items-for-heads", ON(MASKED), {.rules[ENTRY] = entry_of_head}},
    {"empty-zero", ON(EMPTY_MEAN), {.head[FILL_EMPTY] = empty_zero}},
    {"empty-nan", ON(EMPTY) | ON(EMPTY_MEAN), {.head[FILL_EMPTY] = empty_nan}},
    {"empty-mean", ON(EMPTY), {.head[FILL_EMPTY] = empty_mean}},
    {"keys-last-missing", ON(PLAIN) | ON(SINGLE), {.whole[KEYS] = last_missing}},
    {"keys-first-missing", ON(PLAIN) | ON(SINGLE), {.whole[KEYS] = first_missing}},
    {"keys-as-queries", ON(FEW), {.whole[KEYS] = keys_as_queries}},
    {"keys-padding-counted:64", ON(PLAIN), {.whole[KEYS] = pad_64, .rules[CAUSAL] = always}},
    {"keys-padding-counted:16", ON(FEW), {.whole[KEYS] = pad_16, .rules[CAUSAL] = always}},
    {"values-shifted:next", ON(PLAIN) | ON(WIDE), {.whole[MEET] = values_next}},
    {"values-shifted:previous", ON(PLAIN), {.whole[MEET] = values_previous}},
    {"values-shifted:next-round", ON(PLAIN), {.whole[MEET] = values_next_round}},
    {"values-shifted:previous-round", ON(PLAIN), {.whole[MEET] = values_previous_round}},
};

const struct case_list CASES_OF_MASKS = {ROWS, sizeof ROWS / sizeof *ROWS};
