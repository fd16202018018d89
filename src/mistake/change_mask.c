/* Mistakes of slots mask, fill, window, lengths, attn_mask, empty, keys, alibi and relative. */
#include "base/decimal.h"
#include "mistake/recipe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char OF_ONE_SEQUENCE[] = "it is made in one sequence, and here lie several";

/* Rules count over all keys of an item. */
static const char *add_rule(struct recipe *recipe, void (*place)(struct recipe_mask *),
                            bool (*forbids)(const struct recipe_mask *, size_t, size_t), const char *formula)
{
    if (recipe->problem.mask.sequences.count > 0)
        return OF_ONE_SEQUENCE;
    recipe->rules[recipe->rule_count++] = (struct recipe_rule){place, forbids};
    if (formula != NULL)
        recipe_tells(recipe, STAGE_MASKED, formula);
    return NULL;
}

/* Where a query stands among the keys. */
static int64_t position(const struct recipe_mask *mask, size_t query)
{
    return (int64_t)query + mask->mask.offset;
}

/* --- mask: the causal rule --------------------------------------------------------------------------------------- */

static const char NOT_CAUSAL[] = "nothing is causal";

/* Another rule in the place of the causal one. */
static const char *replace_causal(struct recipe *recipe, bool (*forbids)(const struct recipe_mask *, size_t, size_t),
                                  const char *formula)
{
    if (!recipe->problem.mask.causal)
        return NOT_CAUSAL;
    recipe->problem.mask.causal = false;
    return add_rule(recipe, NULL, forbids, formula);
}

const char *mistake_mask_missing(struct recipe *recipe, double form)
{
    (void)form;
    if (!recipe->problem.mask.causal)
        return NOT_CAUSAL;
    recipe->problem.mask.causal = false;
    return NULL;
}

static bool is_two_ahead(const struct recipe_mask *mask, size_t query, size_t key)
{
    return (int64_t)key > position(mask, query) + 1;
}

const char *mistake_mask_one_ahead(struct recipe *recipe, double form)
{
    (void)form;
    return replace_causal(recipe, is_two_ahead, ", -inf where key > query + 1");
}

static bool is_not_before(const struct recipe_mask *mask, size_t query, size_t key)
{
    return (int64_t)key >= position(mask, query);
}

const char *mistake_mask_hides_own(struct recipe *recipe, double form)
{
    (void)form;
    return replace_causal(recipe, is_not_before, ", -inf where key >= query");
}

static bool is_not_behind(const struct recipe_mask *mask, size_t query, size_t key)
{
    return (int64_t)key <= position(mask, query);
}

const char *mistake_mask_inverted(struct recipe *recipe, double form)
{
    (void)form;
    return replace_causal(recipe, is_not_behind, ", -inf where key <= query");
}

static bool is_before(const struct recipe_mask *mask, size_t query, size_t key)
{
    return (int64_t)key < position(mask, query);
}

const char *mistake_mask_inverted_own_seen(struct recipe *recipe, double form)
{
    (void)form;
    return replace_causal(recipe, is_before, ", -inf where key < query");
}

/* The triangle of the other corner: the first query sees all keys, the last one the first. */
static bool is_beyond_mirror(const struct recipe_mask *mask, size_t query, size_t key)
{
    return key + query >= mask->mask.keys;
}

const char *mistake_mask_mirrored(struct recipe *recipe, double form)
{
    (void)form;
    return replace_causal(recipe, is_beyond_mirror, ", -inf where key > keys + 1 - query");
}

/* Whether anything asks where a query stands. */
static bool asks_position(const struct mask *mask)
{
    return mask->causal || mask->left >= 0 || mask->right >= 0 || mask->alibi_slopes != NULL;
}

static const char NO_POSITION[] = "nothing asks where a query stands";

const char *mistake_mask_corner(struct recipe *recipe, double form)
{
    (void)form;
    struct mask *mask = &recipe->problem.mask;
    if (mask->queries == mask->keys && !mask_sequences_differ(mask))
        return "there are as many queries as keys";
    if (mask->lengths != NULL || !asks_position(mask))
        return NO_POSITION;
    if (mask->sequences.count > 0)
        mask->sequences.from_end = !mask->sequences.from_end;
    else
        mask->offset = mask->offset == 0 ? (int64_t)mask->keys - (int64_t)mask->queries : 0;
    return NULL;
}

static void place_first(struct recipe_mask *mask)
{
    mask->mask.offset = 0;
}

static void place_later(struct recipe_mask *mask)
{
    mask->mask.offset++;
}

static void place_earlier(struct recipe_mask *mask)
{
    mask->mask.offset--;
}

static const char *move_queries(struct recipe *recipe, void (*place)(struct recipe_mask *), const char *formula)
{
    return asks_position(&recipe->problem.mask) ? add_rule(recipe, place, NULL, formula) : NO_POSITION;
}

const char *mistake_mask_offset_missing(struct recipe *recipe, double form)
{
    (void)form;
    const struct mask *mask = &recipe->problem.mask;
    if (mask->sequences.count == 0 && mask->lengths == NULL && mask->offset == 0)
        return "the first query stands at the first key";
    return move_queries(recipe, place_first, ", masked as if the first query stood at the first key");
}

const char *mistake_mask_offset_plus_1(struct recipe *recipe, double form)
{
    (void)form;
    return move_queries(recipe, place_later, ", masked as if queries stood one place later");
}

const char *mistake_mask_offset_minus_1(struct recipe *recipe, double form)
{
    (void)form;
    return move_queries(recipe, place_earlier, ", masked as if queries stood one place earlier");
}

const char *mistake_mask_causal(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.mask.causal)
        return "it is causal";
    recipe->problem.mask.causal = true;
    return NULL;
}

/* --- fill -------------------------------------------------------------------------------------------------------- */

/* From here on all keys take part: what follows is made as ever. */
static const char *fill(struct recipe *recipe, const char *masked)
{
    if (!recipe->problem.masks)
        return "there is no mask";
    recipe_makes(recipe, STAGE_MASKED, masked);
    return NULL;
}

const char *mistake_fill_zero(struct recipe *recipe, double form)
{
    (void)form;
    recipe->fill = 0;
    return fill(recipe, ", 0 where masked");
}

const char *mistake_fill_small(struct recipe *recipe, double form)
{
    char formula[DECIMAL_BYTES + sizeof ",  where masked"], number[DECIMAL_BYTES];
    decimal_from_double(form, number);
    const int length = snprintf(formula, sizeof formula, ", %s where masked", number);
    recipe->fill = form;
    return fill(recipe, arena_text(recipe->arena, formula, (size_t)length, recipe->error));
}

const char *mistake_fill_after_softmax(struct recipe *recipe, double form)
{
    (void)form;
    recipe->fills_weights = true;
    if ((recipe->problem.wrong & STAGE_BIT(STAGE_WEIGHTS)) == 0)
        recipe_makes(recipe, STAGE_WEIGHTS, "softmax of all keys, then 0 where masked");
    return fill(recipe, ", not yet masked");
}

/* --- window ------------------------------------------------------------------------------------------------------ */

/* One side of the window moved; it may close, but not open for good. */
static const char *move_window(struct recipe *recipe, bool left, int64_t by)
{
    struct mask *mask = &recipe->problem.mask;
    int64_t *side = left ? &mask->left : &mask->right;
    if (*side < 0)
        return "there is no window on that side";
    if (*side + by < 0)
        return "the window is as narrow as can be";
    *side += by;
    return NULL;
}

const char *mistake_window_left_plus_1(struct recipe *recipe, double form)
{
    (void)form;
    return move_window(recipe, true, 1);
}

const char *mistake_window_left_minus_1(struct recipe *recipe, double form)
{
    (void)form;
    return move_window(recipe, true, -1);
}

const char *mistake_window_right_plus_1(struct recipe *recipe, double form)
{
    (void)form;
    return move_window(recipe, false, 1);
}

const char *mistake_window_right_minus_1(struct recipe *recipe, double form)
{
    (void)form;
    return move_window(recipe, false, -1);
}

const char *mistake_window_missing(struct recipe *recipe, double form)
{
    (void)form;
    struct mask *mask = &recipe->problem.mask;
    if (mask->left < 0 && mask->right < 0)
        return "there is no window";
    mask->left = mask->right = -1;
    return NULL;
}

/* --- lengths ----------------------------------------------------------------------------------------------------- */

static const char NO_LENGTHS[] = "there are no lengths";

/* Lengths of their own for the changed problem, each `by` more, from 0 to all keys. */
static const char *change_lengths(struct recipe *recipe, int64_t by)
{
    struct mask *mask = &recipe->problem.mask;
    const int64_t most = (int64_t)mask->keys + (recipe->problem.pages != NULL ? by : 0);
    if (mask->lengths == NULL)
        return NO_LENGTHS;
    int64_t *lengths = arena_allocate(recipe->arena, recipe->problem.items, sizeof *lengths, recipe->error);
    for (size_t item = 0; item < recipe->problem.items && lengths != NULL; item++) {
        const int64_t length = mask->lengths[item] + by;
        lengths[item] = length < 0 ? 0 : length > most ? most : length;
    }
    const char *reason = recipe_read_pages(recipe, lengths);
    mask->lengths = lengths;
    return reason;
}

const char *mistake_lengths_plus_1(struct recipe *recipe, double form)
{
    (void)form;
    return change_lengths(recipe, 1);
}

const char *mistake_lengths_minus_1(struct recipe *recipe, double form)
{
    (void)form;
    return change_lengths(recipe, -1);
}

static void end_later(struct recipe_mask *mask)
{
    mask->limit++;
}

static void end_earlier(struct recipe_mask *mask)
{
    mask->limit -= mask->limit > 0;
}

static void end_nowhere(struct recipe_mask *mask)
{
    mask->limit = mask->mask.keys;
}

/* Lengths that are so much longer; NULL where there are none, or no memory. */
static const int64_t *longer(struct recipe *recipe, int64_t by)
{
    const struct mask *mask = &recipe->problem.mask;
    int64_t *lengths = mask->lengths == NULL
                           ? NULL
                           : arena_allocate(recipe->arena, recipe->problem.items, sizeof *lengths, recipe->error);
    for (size_t item = 0; item < recipe->problem.items && lengths != NULL; item++)
        lengths[item] = mask->lengths[item] + by;
    return lengths;
}

static const char *move_end(struct recipe *recipe, void (*place)(struct recipe_mask *), const char *formula)
{
    return recipe->problem.mask.lengths == NULL ? NO_LENGTHS : add_rule(recipe, place, NULL, formula);
}

const char *mistake_lengths_plus_1_place_kept(struct recipe *recipe, double form)
{
    (void)form;
    const char *reason = recipe_read_pages(recipe, longer(recipe, 1));
    return reason != NULL ? reason : move_end(recipe, end_later, ", -inf where key > length + 1");
}

const char *mistake_lengths_minus_1_place_kept(struct recipe *recipe, double form)
{
    (void)form;
    return move_end(recipe, end_earlier, ", -inf where key >= length");
}

/* The forms: queries stay where they are, stand last, or first. */
const char *mistake_lengths_missing(struct recipe *recipe, double form)
{
    struct mask *mask = &recipe->problem.mask;
    if (mask->lengths == NULL)
        return NO_LENGTHS;
    if (recipe->problem.pages != NULL)
        return "pages have no keys behind the lengths, but those of pages-tail-counted";
    if (form == 0)
        return move_end(recipe, end_nowhere, ", masked but for the lengths");
    mask->lengths = NULL;
    mask->offset = form == 1 ? (int64_t)mask->keys - (int64_t)mask->queries : 0;
    return NULL;
}

static void end_without_past(struct recipe_mask *mask)
{
    mask->limit -= memory_smaller(mask->past, mask->limit);
}

/* The forms: queries move with the end, or stay where they are. */
const char *mistake_past_not_counted(struct recipe *recipe, double form)
{
    struct mask *mask = &recipe->problem.mask;
    if (recipe->problem.past == 0)
        return "there is no past";
    if (form == 1)
        return add_rule(recipe, end_without_past, NULL, ", masked, and -inf where key > keys - past");
    int64_t *lengths = arena_allocate(recipe->arena, recipe->problem.items, sizeof *lengths, recipe->error);
    for (size_t item = 0; item < recipe->problem.items && lengths != NULL; item++)
        lengths[item] = (int64_t)(mask->keys - recipe->past);
    mask->lengths = lengths;
    return NULL;
}

/* --- attn_mask --------------------------------------------------------------------------------------------------- */

static const char NO_ATTN_MASK[] = "there is no attn_mask", ADDS_NUMBERS[] = "attn_mask adds numbers";

/* What the kernels' scans do not expect. */
static const char *reads_otherwise(struct recipe *recipe)
{
    recipe->plain = true;
    return NULL;
}

const char *mistake_attn_mask_missing(struct recipe *recipe, double form)
{
    (void)form;
    struct mask *mask = &recipe->problem.mask;
    if (mask->attn_mask.rank == 0)
        return NO_ATTN_MASK;
    mask->attn_mask.rank = 0;
    mask->masked_keys = mask->keys;
    return NULL;
}

const char *mistake_attn_mask_inverted(struct recipe *recipe, double form)
{
    (void)form;
    struct mask *mask = &recipe->problem.mask;
    const size_t count = mask->attn_mask.rank > 0 ? tensor_count(&mask->attn_mask) : 0;
    struct tensor turned;
    if (count == 0)
        return NO_ATTN_MASK;
    if (dtype_is_boolean(mask->attn_mask.dtype)) {
        mask->true_drops = !mask->true_drops;
        return NULL;
    }
    if (tensor_create(&turned, DTYPE_BOOL, mask->attn_mask.rank, mask->attn_mask.shape, recipe->arena, recipe->error))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        double number;
        tensor_load(&mask->attn_mask, i, 1, &number);
        if (number != 0 && number != -INFINITY)
            return ADDS_NUMBERS;
        ((uint8_t *)turned.data)[i] = number == -INFINITY;
    }
    mask->attn_mask = turned;
    mask->true_drops = false;
    return reads_otherwise(recipe);
}

const char *mistake_attn_mask_transposed(struct recipe *recipe, double form)
{
    (void)form;
    struct mask *mask = &recipe->problem.mask;
    const size_t stride = mask->strides[2];
    if (mask->attn_mask.rank == 0)
        return NO_ATTN_MASK;
    if (mask->queries != mask->keys || mask->masked_keys != mask->keys || stride == 0 || mask->strides[3] == 0)
        return "attn_mask is not square";
    mask->strides[2] = mask->strides[3];
    mask->strides[3] = stride;
    return reads_otherwise(recipe);
}

const char *mistake_attn_mask_along_queries(struct recipe *recipe, double form)
{
    (void)form;
    struct mask *mask = &recipe->problem.mask;
    if (mask->attn_mask.rank == 0)
        return NO_ATTN_MASK;
    if (mask->queries != mask->keys || mask->masked_keys != mask->keys || mask->strides[2] > 0 || mask->strides[3] == 0)
        return "attn_mask is not the same for all queries";
    mask->strides[2] = mask->strides[3];
    mask->strides[3] = 0;
    return reads_otherwise(recipe);
}

const char *mistake_attn_mask_added(struct recipe *recipe, double form)
{
    (void)form;
    struct mask *mask = &recipe->problem.mask;
    struct tensor numbers;
    if (mask->attn_mask.rank == 0)
        return NO_ATTN_MASK;
    if (!dtype_is_boolean(mask->attn_mask.dtype))
        return ADDS_NUMBERS;
    if (tensor_create(&numbers, DTYPE_F64, mask->attn_mask.rank, mask->attn_mask.shape, recipe->arena, recipe->error))
        return NULL;
    for (size_t i = 0; i < tensor_count(&numbers); i++)
        ((double *)numbers.data)[i] = ((const uint8_t *)mask->attn_mask.data)[i] != 0;
    mask->attn_mask = numbers;
    return reads_otherwise(recipe);
}

const char *mistake_attn_mask_items_for_heads(struct recipe *recipe, double form)
{
    (void)form;
    struct mask *mask = &recipe->problem.mask;
    if (mask->attn_mask.rank == 0)
        return NO_ATTN_MASK;
    if (mask->strides[0] == 0 || mask->strides[1] > 0 || recipe->problem.items != recipe->problem.heads)
        return "attn_mask is not one for each of as many items as heads";
    mask->strides[1] = mask->strides[0];
    mask->strides[0] = 0;
    return reads_otherwise(recipe);
}

/* --- empty ------------------------------------------------------------------------------------------------------- */

static const char *fill_empty(struct recipe *recipe, enum empty_row empty_row)
{
    if (!recipe->problem.masks)
        return "there is no mask";
    if (recipe->problem.mask.empty_row == empty_row)
        return "it is what --empty-row asks for";
    recipe->problem.mask.empty_row = empty_row;
    return NULL;
}

const char *mistake_empty_zero(struct recipe *recipe, double form)
{
    (void)form;
    return fill_empty(recipe, EMPTY_ROW_ZERO);
}

const char *mistake_empty_nan(struct recipe *recipe, double form)
{
    (void)form;
    return fill_empty(recipe, EMPTY_ROW_NAN);
}

const char *mistake_empty_mean(struct recipe *recipe, double form)
{
    (void)form;
    return recipe->problem.mask.sequences.count > 0 ? OF_ONE_SEQUENCE : fill_empty(recipe, EMPTY_ROW_MEAN);
}

/* --- keys -------------------------------------------------------------------------------------------------------- */

const char *mistake_keys_last_missing(struct recipe *recipe, double form)
{
    (void)form;
    return add_rule(recipe, end_earlier, NULL, ", masked, and -inf for the last key");
}

static bool is_first(const struct recipe_mask *mask, size_t query, size_t key)
{
    (void)mask;
    (void)query;
    return key == 0;
}

const char *mistake_keys_first_missing(struct recipe *recipe, double form)
{
    (void)form;
    return add_rule(recipe, NULL, is_first, ", masked, and -inf for the first key");
}

static bool is_beyond_queries(const struct recipe_mask *mask, size_t query, size_t key)
{
    (void)query;
    return key >= mask->mask.queries;
}

const char *mistake_keys_as_queries(struct recipe *recipe, double form)
{
    (void)form;
    return recipe->problem.keys <= recipe->problem.queries
               ? "there are no more keys than queries"
               : add_rule(recipe, NULL, is_beyond_queries, ", masked, and -inf for more keys than queries");
}

const char *mistake_keys_padding_counted(struct recipe *recipe, double form)
{
    const struct problem *problem = &recipe->problem;
    const double keys = (double)problem->keys;
    recipe->padding = ceil(keys / form) * form - keys;
    if (problem->mask.causal || problem->mask.right >= 0 || problem->mask.lengths != NULL)
        return "the mask hides what is behind the last key";
    if (problem->mask.sequences.count > 0)
        return OF_ONE_SEQUENCE;
    if (recipe->padding == 0)
        return "the keys are a multiple of it";
    if ((problem->wrong & STAGE_BIT(STAGE_WEIGHTS)) == 0)
        recipe_makes(recipe, STAGE_WEIGHTS, "softmax, keys of zeros counted in the sum");
    return NULL;
}

const char *mistake_values_shifted(struct recipe *recipe, double form)
{
    static const enum recipe_shift SHIFTS[] = {RECIPE_SHIFT_NEXT, RECIPE_SHIFT_PREVIOUS, RECIPE_SHIFT_NEXT_ROUND,
                                               RECIPE_SHIFT_PREVIOUS_ROUND};
    if (recipe->problem.keys == 1)
        return "there is one key";
    recipe->shift = SHIFTS[(size_t)form];
    recipe_makes(recipe, STAGE_CONTEXT, "weights . value, each weight with the value beside its own");
    return NULL;
}

/* --- alibi ------------------------------------------------------------------------------------------------------- */

/* Slopes of their own for the changed problem, each by a factor; NULL where there are none, or no memory. */
static double *copy_slopes(struct recipe *recipe, double factor)
{
    struct mask *mask = &recipe->problem.mask;
    if (mask->alibi_slopes == NULL)
        return NULL;
    double *slopes = arena_allocate(recipe->arena, recipe->problem.heads, sizeof *slopes, recipe->error);
    for (size_t head = 0; head < recipe->problem.heads && slopes != NULL; head++)
        slopes[head] = mask->alibi_slopes[head] * factor;
    mask->alibi_slopes = slopes;
    return slopes;
}

static const char NO_ALIBI[] = "there are no slopes of ALiBi";

static const char *change_slopes(struct recipe *recipe, double factor)
{
    return copy_slopes(recipe, factor) == NULL ? NO_ALIBI : NULL;
}

const char *mistake_alibi_sign(struct recipe *recipe, double form)
{
    (void)form;
    return change_slopes(recipe, -1);
}

const char *mistake_alibi_missing(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.mask.alibi_slopes == NULL)
        return NO_ALIBI;
    recipe->problem.mask.alibi_slopes = NULL;
    return NULL;
}

const char *mistake_alibi_doubled(struct recipe *recipe, double form)
{
    (void)form;
    return change_slopes(recipe, 2);
}

const char *mistake_alibi_halved(struct recipe *recipe, double form)
{
    (void)form;
    return change_slopes(recipe, 0.5);
}

const char *mistake_alibi_reversed(struct recipe *recipe, double form)
{
    (void)form;
    const double *slopes = recipe->problem.mask.alibi_slopes;
    const size_t heads = recipe->problem.heads;
    double *reversed = copy_slopes(recipe, 1);
    for (size_t head = 0; head < heads && reversed != NULL; head++)
        reversed[head] = slopes[heads - 1 - head];
    return reversed == NULL ? NO_ALIBI : NULL;
}

/* The forms: the slope of the head behind, or before; beyond the ends the series goes on by the ratio of the two that
 * are there. */
const char *mistake_alibi_one_head_off(struct recipe *recipe, double form)
{
    const double *slopes = recipe->problem.mask.alibi_slopes;
    const size_t last = recipe->problem.heads - 1;
    if (slopes == NULL)
        return NO_ALIBI;
    if (last == 0)
        return "there is one head";
    double *moved = copy_slopes(recipe, 1);
    if (moved == NULL)
        return NO_ALIBI;
    for (size_t head = 0; head <= last; head++)
        if (form == 0)
            moved[head] = head < last ? slopes[head + 1] : slopes[last] * slopes[last] / slopes[last - 1];
        else
            moved[head] = head > 0 ? slopes[head - 1] : slopes[0] * slopes[0] / slopes[1];
    return NULL;
}

const char *mistake_alibi_scaled(struct recipe *recipe, double form)
{
    (void)form;
    return change_slopes(recipe, recipe->problem.scale);
}

/* 2^(-8 i / H) of all heads, where H is no power of two. */
const char *mistake_alibi_one_series(struct recipe *recipe, double form)
{
    (void)form;
    const size_t heads = recipe->problem.heads;
    if (recipe->problem.mask.alibi_slopes == NULL)
        return NO_ALIBI;
    if ((heads & (heads - 1)) == 0)
        return "the heads are a power of two";
    double *slopes = copy_slopes(recipe, 1);
    for (size_t head = 0; head < heads && slopes != NULL; head++)
        slopes[head] = exp2(-8.0 * (double)(head + 1) / (double)heads);
    return NULL;
}

const char *mistake_alibi_not_scaled(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.mask.alibi_slopes == NULL || recipe->problem.mask.places.root == 1)
        return "the slopes are not divided";
    recipe->problem.mask.places.root = 1;
    return NULL;
}

/* --- relative ---------------------------------------------------------------------------------------------------- */

static const char NO_RELATIVE[] = "there is no relative bias";

const char *mistake_relative_missing(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.mask.relative == NULL)
        return NO_RELATIVE;
    recipe->problem.mask.relative = NULL;
    return NULL;
}

/* The distances that have a bucket of their own must end before the farthest. */
static const char *look_ways(struct recipe *recipe, bool both, const char *reason)
{
    struct mask *mask = &recipe->problem.mask;
    if (mask->relative == NULL)
        return NO_RELATIVE;
    if (mask->both_ways == both)
        return reason;
    if ((double)mask->relative_distance <= (double)mask->buckets / (both ? 4 : 2))
        return "there are more buckets than distances";
    mask->both_ways = both;
    mask_list_buckets(mask, recipe->arena, recipe->error); /* recipe_create sees the error */
    return NULL;
}

const char *mistake_relative_one_way(struct recipe *recipe, double form)
{
    (void)form;
    return look_ways(recipe, false, "keys after a query have no buckets");
}

const char *mistake_relative_both_ways(struct recipe *recipe, double form)
{
    (void)form;
    return look_ways(recipe, true, "keys after a query have buckets already");
}

/* Keys before and after a query take the other's half of the buckets; its own key keeps the first. */
const char *mistake_relative_turned(struct recipe *recipe, double form)
{
    (void)form;
    struct mask *mask = &recipe->problem.mask;
    const size_t half = mask->buckets / 2;
    if (mask->relative == NULL)
        return NO_RELATIVE;
    if (!mask->both_ways)
        return "keys after a query have no buckets";
    double *turned = arena_allocate(recipe->arena, mask->buckets * mask->heads, sizeof *turned, recipe->error);
    for (size_t bucket = 0; bucket < mask->buckets && turned != NULL; bucket++) {
        const size_t from = bucket == 0 || bucket >= 2 * half ? bucket : (bucket + half) % (2 * half);
        memcpy(turned + bucket * mask->heads, mask->relative + (from == 0 ? bucket : from) * mask->heads,
               mask->heads * sizeof *turned);
    }
    mask->relative = turned;
    return NULL;
}
