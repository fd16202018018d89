/* SPDX-License-Identifier: MIT */
/* Mistakes of slots mask, fill, window, lengths, attn_mask, empty, keys, alibi and relative. */
#include "base/decimal.h"
#include "mistake/recipe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

mistake_change change_SOFTMAX_HEADS, change_SOFTMAX_ITEMS;

static const char OF_ONE_SEQUENCE[] = "it needs a single sequence, and there are several";

/* Adds a rule, over all keys of an item. */
static const char *add_rule(struct recipe *recipe, struct recipe_rule rule, const char *formula)
{
    if (recipe->problem.mask.sequences.count > 0)
        return OF_ONE_SEQUENCE;
    recipe->rules[recipe->rule_count++] = rule;
    return formula != NULL ? recipe_tells(recipe, STAGE_MASKED, formula) : NULL;
}

/* --- mask: the causal rule --------------------------------------------------------------------------------------- */

static const char NOT_CAUSAL[] = "the mask is not causal";

/* Puts another rule in place of the causal one. */
static const char *replace_causal(struct recipe *recipe, struct recipe_rule rule, const char *formula)
{
    if (!recipe->problem.mask.causal)
        return NOT_CAUSAL;
    recipe->problem.mask.causal = false;
    return add_rule(recipe, rule, formula);
}

CHANGE_WHERE(MASK_MISSING, mask->causal, NOT_CAUSAL, mask->causal = false)
CHANGE(MASK_ONE_AHEAD,
       replace_causal(recipe, (struct recipe_rule){.forbidden = {2, INT64_MAX}}, ", -inf where key > query + 1"))
CHANGE(MASK_HIDES_OWN,
       replace_causal(recipe, (struct recipe_rule){.forbidden = {0, INT64_MAX}}, ", -inf where key >= query"))
CHANGE(MASK_INVERTED,
       replace_causal(recipe, (struct recipe_rule){.forbidden = {INT64_MIN, 1}}, ", -inf where key <= query"))
CHANGE(MASK_INVERTED_OWN_SEEN,
       replace_causal(recipe, (struct recipe_rule){.forbidden = {INT64_MIN, 0}}, ", -inf where key < query"))

/* The triangle of the other corner: allows the first query all keys, the last one only the first. */
static bool is_beyond_mirror(const struct recipe_mask *mask, size_t query, size_t key)
{
    return key + query >= mask->mask.keys;
}

CHANGE(MASK_MIRRORED,
       replace_causal(recipe, (struct recipe_rule){.forbids = is_beyond_mirror}, ", -inf where key > keys + 1 - query"))

/* Whether anything depends on a query's position. */
static bool asks_position(const struct mask *mask)
{
    return mask->causal || mask->left >= 0 || mask->right >= 0 || mask->alibi_slopes != NULL;
}

static const char NO_POSITION[] = "nothing depends on the position of a query";

CHANGE_BY(MASK_CORNER)
{
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

static const char *move_queries(struct recipe *recipe, struct recipe_rule rule, const char *formula)
{
    return asks_position(&recipe->problem.mask) ? add_rule(recipe, rule, formula) : NO_POSITION;
}

CHANGE(MASK_OFFSET_MISSING, mask->sequences.count == 0 && mask->lengths == NULL && mask->offset == 0
                                ? "the first query is at the first key"
                                : move_queries(recipe, (struct recipe_rule){.place = place_first},
                                               ", masked as if the first query were at the first key"))
CHANGE(MASK_OFFSET_PLUS_1,
       move_queries(recipe, (struct recipe_rule){.queries_by = 1}, ", masked as if queries were one position later"))
CHANGE(MASK_OFFSET_MINUS_1,
       move_queries(recipe, (struct recipe_rule){.queries_by = -1}, ", masked as if queries were one position earlier"))
CHANGE_WHERE(MASK_CAUSAL, !mask->causal, "the mask is causal", mask->causal = true)

CHANGE_BY(MASK_PACKED_GROUPS)
{
    recipe->packs_groups = true;
    return problem->size.heads == problem->size.kv_heads
               ? "heads do not share keys"
               : move_queries(recipe, (struct recipe_rule){0}, ", masked by the rows of heads in groups");
}

/* The diagonal, but for the only key of a causal first query. */
static bool is_own(const struct recipe_mask *mask, size_t query, size_t key)
{
    return (int64_t)key == (int64_t)query + mask->mask.offset && (key > 0 || !mask->mask.causal);
}

CHANGE(MASK_DIAGONAL,
       add_rule(recipe, (struct recipe_rule){.forbids = is_own}, ", -inf where key = query, but for the first"))

/* --- fill -------------------------------------------------------------------------------------------------------- */

/* Lets all keys take part from here on; later stages are made as usual. */
static const char *fill(struct recipe *recipe, const char *masked)
{
    if (!recipe->problem.masks)
        return "there is no mask";
    return recipe_makes(recipe, STAGE_MASKED, masked);
}

CHANGE_BY(FILL_ZERO)
{
    recipe->fill = 0;
    return fill(recipe, ", 0 where masked");
}

CHANGE_BY(FILL_SMALL)
{
    char formula[DECIMAL_BYTES + sizeof ",  where masked"], number[DECIMAL_BYTES];
    decimal_from_double(form, number);
    const int length = snprintf(formula, sizeof formula, ", %s where masked", number);
    recipe->fill = form;
    return fill(recipe, arena_text(recipe->arena, formula, (size_t)length, recipe->error));
}

CHANGE_BY(FILL_ADDED)
{
    recipe->added = form;
    return form == 0 ? "0 changes nothing" : fill(recipe, ", a number added where masked");
}

static const char *fill_weights(struct recipe *recipe, const char *formula)
{
    recipe->fills_weights = true;
    if ((recipe->problem.mistake.wrong & STAGE_BIT(STAGE_WEIGHTS)) == 0)
        recipe_makes(recipe, STAGE_WEIGHTS, formula);
    return fill(recipe, ", not yet masked");
}

CHANGE(FILL_AFTER_SOFTMAX, fill_weights(recipe, "softmax of all keys, then 0 where masked"))

/* 1e9 + score, in float32, is the same number for every score. */
CHANGE_BY(FILL_LARGE)
{
    recipe->fill = form == 0 ? 1e9 : INFINITY;
    return fill(recipe, form == 0 ? ", 1e9 where masked" : ", infinity where masked");
}

CHANGE_BY(FILL_ACROSS)
{
    const bool items = (int)form % 2 == 1;
    const char *reason = (items ? change_SOFTMAX_ITEMS : change_SOFTMAX_HEADS)(recipe, problem, mask, form);
    recipe->fill = form < 2 ? -1e9 : NAN;
    return reason != NULL ? reason : fill(recipe, form < 2 ? ", -1e9 where masked" : ", NaN after it where masked");
}

CHANGE_BY(FILL_NO_KEEPDIM)
{
    const char *reason = recipe_mix_rows(recipe, true, false);
    return reason != NULL ? reason : fill_weights(recipe, "softmax of all keys, 0 where masked, over the sum of row j");
}

/* --- window ------------------------------------------------------------------------------------------------------ */

/* Moves one side of the window, which may close but not become unbounded. */
static const char *move_window(struct recipe *recipe, bool left, int64_t by)
{
    struct mask *mask = &recipe->problem.mask;
    int64_t *side = left ? &mask->left : &mask->right;
    if (*side < 0)
        return "there is no window on that side";
    if (*side + by < 0)
        return "the window cannot be narrower";
    *side += by;
    return NULL;
}

CHANGE(WINDOW_LEFT_PLUS_1, move_window(recipe, true, 1))
CHANGE(WINDOW_LEFT_MINUS_1, move_window(recipe, true, -1))
CHANGE(WINDOW_RIGHT_PLUS_1, move_window(recipe, false, 1))
CHANGE(WINDOW_RIGHT_MINUS_1, move_window(recipe, false, -1))
CHANGE_WHERE(WINDOW_LEFT_MISSING, mask->left >= 0 && mask->right >= 0 && !mask->causal, "the window has one side",
             mask->left = -1)
CHANGE_WHERE(WINDOW_RIGHT_MISSING, mask->left >= 0 && mask->right >= 0 && !mask->causal, "the window has one side",
             mask->right = -1)
CHANGE_WHERE(WINDOW_MISSING, mask->left >= 0 || mask->right >= 0, "there is no window", mask->left = mask->right = -1)

/* --- lengths ----------------------------------------------------------------------------------------------------- */

static const char NO_LENGTHS[] = "there are no lengths";

/* Gives the changed problem its own lengths, each `by` more, from 0 to `most`; NULL if out of memory. */
static int64_t *copy_lengths(struct recipe *recipe, int64_t by, int64_t most)
{
    int64_t *lengths = arena_allocate(recipe->arena, recipe->problem.size.items, sizeof *lengths, recipe->error);
    for (size_t item = 0; item < recipe->problem.size.items && lengths != NULL; item++) {
        const int64_t length = recipe->problem.mask.lengths[item] + by;
        lengths[item] = length < 0 ? 0 : length > most ? most : length;
    }
    return lengths;
}

static const char *change_lengths(struct recipe *recipe, int64_t by)
{
    struct mask *mask = &recipe->problem.mask;
    if (mask->lengths == NULL)
        return NO_LENGTHS;
    const int64_t *lengths =
        copy_lengths(recipe, by, (int64_t)mask->keys + (recipe->problem.given.pages != NULL ? by : 0));
    const char *reason = recipe_read_pages(recipe, lengths);
    mask->lengths = lengths;
    return reason;
}

CHANGE(LENGTHS_PLUS_1, change_lengths(recipe, 1))
CHANGE(LENGTHS_MINUS_1, change_lengths(recipe, -1))

static void end_nowhere(struct recipe_mask *mask)
{
    mask->limit = mask->mask.keys;
}

/* Reads the pages one token further. */
CHANGE_BY(LENGTHS_PLUS_1_PLACE_KEPT)
{
    if (mask->lengths == NULL)
        return NO_LENGTHS;
    const char *reason = recipe_read_pages(recipe, copy_lengths(recipe, 1, INT64_MAX));
    return reason != NULL ? reason
                          : add_rule(recipe, (struct recipe_rule){.end_by = 1}, ", -inf where key > length + 1");
}

CHANGE(LENGTHS_MINUS_1_PLACE_KEPT,
       mask->lengths == NULL ? NO_LENGTHS
                             : add_rule(recipe, (struct recipe_rule){.end_by = -1}, ", -inf where key >= length"))

/* The forms: queries keep their positions, are the last ones, or the first. */
CHANGE_BY(LENGTHS_MISSING)
{
    if (mask->lengths == NULL)
        return NO_LENGTHS;
    if (problem->given.pages != NULL)
        return "pages have no keys after the lengths, except for pages-tail-counted";
    if (form == 0)
        return add_rule(recipe, (struct recipe_rule){.place = end_nowhere}, ", masked, but not by the lengths");
    mask->lengths = NULL;
    mask->offset = form == 1 ? (int64_t)mask->keys - (int64_t)mask->queries : 0;
    return NULL;
}

static void end_without_past(struct recipe_mask *mask)
{
    mask->limit -= memory_smaller(mask->past, mask->limit);
}

/* The forms: queries move with the end, or keep their positions. */
CHANGE_BY(PAST_NOT_COUNTED)
{
    if (problem->rotation.past == 0)
        return "there is no past";
    if (form == 1)
        return add_rule(recipe, (struct recipe_rule){.place = end_without_past},
                        ", masked, and -inf where key > keys - past");
    int64_t *lengths = arena_allocate(recipe->arena, problem->size.items, sizeof *lengths, recipe->error);
    for (size_t item = 0; item < problem->size.items && lengths != NULL; item++)
        lengths[item] = (int64_t)(mask->keys - recipe->past);
    mask->lengths = lengths;
    return NULL;
}

/* --- attn_mask --------------------------------------------------------------------------------------------------- */

static const char NO_ATTN_MASK[] = "there is no attn_mask", ADDS_NUMBERS[] = "attn_mask adds numbers";

/* Exchanges strides of attn_mask, as the kernels' scans do not expect. */
static const char *read_along(struct recipe *recipe, bool allowed, const char *otherwise, int from, int to)
{
    struct mask *mask = &recipe->problem.mask;
    const size_t stride = mask->strides[from];
    if (mask->attn_mask.rank == 0)
        return NO_ATTN_MASK;
    if (!allowed)
        return otherwise;
    mask->strides[from] = mask->strides[to];
    mask->strides[to] = stride;
    recipe->plain = true;
    return NULL;
}

static bool is_as_long(const struct mask *mask)
{
    return mask->queries == mask->keys && mask->masked_keys == mask->keys && mask->strides[3] > 0;
}

CHANGE_WHERE(ATTN_MASK_MISSING, mask->attn_mask.rank > 0, NO_ATTN_MASK,
             (mask->attn_mask.rank = 0, mask->masked_keys = mask->keys))

CHANGE_BY(ATTN_MASK_INVERTED)
{
    const size_t count = mask->attn_mask.rank > 0 ? tensor_count(&mask->attn_mask) : 0;
    struct tensor inverted;
    if (count == 0)
        return NO_ATTN_MASK;
    if (dtype_is_boolean(mask->attn_mask.dtype)) {
        mask->true_drops = !mask->true_drops;
        return NULL;
    }
    if (tensor_create(&inverted, DTYPE_BOOL, mask->attn_mask.rank, mask->attn_mask.shape, recipe->arena, recipe->error))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        double number;
        tensor_load(&mask->attn_mask, i, 1, &number);
        if (number != 0 && number != -INFINITY)
            return ADDS_NUMBERS;
        ((uint8_t *)inverted.data)[i] = number == -INFINITY;
    }
    mask->attn_mask = inverted;
    mask->true_drops = false;
    recipe->plain = true;
    return NULL;
}

CHANGE(ATTN_MASK_TRANSPOSED,
       read_along(recipe, is_as_long(mask) && mask->strides[2] > 0, "attn_mask is not square", 2, 3))
CHANGE(ATTN_MASK_ALONG_QUERIES,
       read_along(recipe, is_as_long(mask) && mask->strides[2] == 0, "attn_mask is not the same for all queries", 2, 3))
CHANGE(ATTN_MASK_ITEMS_FOR_HEADS,
       read_along(recipe, mask->strides[0] > 0 && mask->strides[1] == 0 && problem->size.items == problem->size.heads,
                  "attn_mask does not differ by item, or there are not as many items as heads", 0, 1))

CHANGE_WHERE(ATTN_MASK_FIRST_ITEM, mask->attn_mask.rank > 0 && mask->strides[0] > 0,
             "attn_mask does not differ by item", (mask->strides[0] = 0, recipe->plain = true))
CHANGE_WHERE(ATTN_MASK_FIRST_HEAD, mask->attn_mask.rank > 0 && mask->strides[1] > 0,
             "attn_mask does not differ by head", (mask->strides[1] = 0, recipe->plain = true))

CHANGE_BY(ATTN_MASK_ADDED)
{
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
    recipe->plain = true;
    return NULL;
}

/* --- empty ------------------------------------------------------------------------------------------------------- */

static const char *fill_empty(struct recipe *recipe, enum empty_row empty_row)
{
    if (!recipe->problem.masks)
        return "there is no mask";
    if (recipe->problem.mask.empty_row == empty_row)
        return "--empty-row already does this";
    recipe->problem.mask.empty_row = empty_row;
    return NULL;
}

CHANGE(EMPTY_ZERO, fill_empty(recipe, EMPTY_ROW_ZERO))
CHANGE(EMPTY_NAN, fill_empty(recipe, EMPTY_ROW_NAN))
CHANGE(EMPTY_MEAN, mask->sequences.count > 0 ? OF_ONE_SEQUENCE : fill_empty(recipe, EMPTY_ROW_MEAN))

/* --- keys -------------------------------------------------------------------------------------------------------- */

static const char *leave_out_key(struct recipe *recipe, struct recipe_rule rule, const char *formula)
{
    return recipe->mixes_sums || recipe->mixes_maxima ? "there are as many keys as queries where keepdim is missing"
                                                      : add_rule(recipe, rule, formula);
}

CHANGE(KEYS_LAST_MISSING,
       leave_out_key(recipe, (struct recipe_rule){.end_by = -1}, ", masked, and -inf for the last key"))

static bool is_first(const struct recipe_mask *mask, size_t query, size_t key)
{
    (void)mask;
    (void)query;
    return key == 0;
}

CHANGE(KEYS_FIRST_MISSING,
       leave_out_key(recipe, (struct recipe_rule){.forbids = is_first}, ", masked, and -inf for the first key"))

static bool is_beyond_queries(const struct recipe_mask *mask, size_t query, size_t key)
{
    (void)query;
    return key >= mask->mask.queries;
}

CHANGE(KEYS_AS_QUERIES, problem->size.keys <= problem->size.queries
                            ? "there are no more keys than queries"
                            : add_rule(recipe, (struct recipe_rule){.forbids = is_beyond_queries},
                                       ", masked, and -inf for more keys than queries"))

CHANGE_BY(KEYS_PADDING_COUNTED)
{
    const double keys = (double)problem->size.keys;
    recipe->padding = ceil(keys / form) * form - keys;
    if (problem->mask.causal || problem->mask.right >= 0 || problem->mask.lengths != NULL)
        return "the mask covers keys after the last one";
    if (problem->mask.sequences.count > 0)
        return OF_ONE_SEQUENCE;
    if (recipe->padding == 0)
        return "the number of keys is a multiple of it";
    if ((problem->mistake.wrong & STAGE_BIT(STAGE_WEIGHTS)) == 0)
        recipe_makes(recipe, STAGE_WEIGHTS, "softmax, with keys of zeros in the sum");
    return NULL;
}

/* The forms: the next value or the one before; at the ends zeros, or those of the other end. */
static size_t next_value(const struct recipe *recipe, size_t item, size_t head, size_t key)
{
    const size_t keys = recipe->problem.size.keys, by = recipe->source_form % 2 == 0 ? 1 : keys - 1;
    const bool beyond = by == 1 ? key + 1 == keys : key == 0;
    return beyond && recipe->source_form < 2 ? SIZE_MAX
                                             : (item * recipe->problem.size.kv_heads + head) * keys + (key + by) % keys;
}

CHANGE_BY(VALUES_SHIFTED)
{
    recipe->source_form = (size_t)form;
    return problem->size.keys == 1 ? "there is one key"
                                   : recipe_reads(recipe, PROJECTION_VALUE, next_value,
                                                  "weights . value, each weight with a value next to its own");
}

/* The forms: strides of rows, (B, Tk, H_kv), or of items, (B, H_kv, Tk); beyond the end zeros. */
static size_t by_query_heads(const struct recipe *recipe, size_t item, size_t head, size_t key)
{
    const size_t heads = recipe->problem.size.heads, kv_heads = recipe->problem.size.kv_heads,
                 keys = recipe->problem.size.keys, rows = recipe->problem.size.items * kv_heads * keys;
    const bool of_items = recipe->source_form >= 3;
    const size_t at = of_items ? (item * heads + head) * keys + key : (item * keys + key) * heads + head;
    const size_t row = at / kv_heads; /* of (B, Tk) */
    return at >= rows ? SIZE_MAX : of_items ? at : (row / keys * kv_heads + at % kv_heads) * keys + row % keys;
}

CHANGE_BY(KEYS_STRIDES)
{
    const char *reason = problem->size.heads == problem->size.kv_heads ? "heads do not share key and value" : NULL;
    recipe->source_form = (size_t)form;
    if (reason == NULL && recipe->source_form % 3 != 2)
        reason = recipe_reads(recipe, PROJECTION_KEY, by_query_heads, "query . key^T, with strides of query");
    if (reason == NULL && recipe->source_form % 3 != 1)
        reason = recipe_reads(recipe, PROJECTION_VALUE, by_query_heads, "weights . value, with strides of query");
    return reason;
}

/* --- alibi ------------------------------------------------------------------------------------------------------- */

/* Gives the changed problem its own slopes, each times a factor; NULL: no slopes, or out of memory. */
static double *copy_slopes(struct recipe *recipe, double factor)
{
    struct mask *mask = &recipe->problem.mask;
    if (mask->alibi_slopes == NULL)
        return NULL;
    double *slopes = arena_allocate(recipe->arena, recipe->problem.size.heads, sizeof *slopes, recipe->error);
    for (size_t head = 0; head < recipe->problem.size.heads && slopes != NULL; head++)
        slopes[head] = mask->alibi_slopes[head] * factor;
    mask->alibi_slopes = slopes;
    return slopes;
}

static const char NO_ALIBI[] = "there are no ALiBi slopes";

static const char *change_slopes(struct recipe *recipe, double factor)
{
    return copy_slopes(recipe, factor) == NULL ? NO_ALIBI : NULL;
}

CHANGE(ALIBI_SIGN, change_slopes(recipe, -1))
CHANGE_WHERE(ALIBI_MISSING, mask->alibi_slopes != NULL, NO_ALIBI, mask->alibi_slopes = NULL)
CHANGE(ALIBI_DOUBLED, change_slopes(recipe, 2))
CHANGE(ALIBI_HALVED, change_slopes(recipe, 0.5))

CHANGE_BY(ALIBI_REVERSED)
{
    const double *slopes = mask->alibi_slopes;
    const size_t heads = problem->size.heads;
    double *reversed = copy_slopes(recipe, 1);
    for (size_t head = 0; head < heads && reversed != NULL; head++)
        reversed[head] = slopes[heads - 1 - head];
    return reversed == NULL ? NO_ALIBI : NULL;
}

/* The forms: the slope of the next head, or of the one before; the series goes on beyond the ends by the ratio of its
 * last two. */
CHANGE_BY(ALIBI_ONE_HEAD_OFF)
{
    const double *slopes = mask->alibi_slopes;
    const size_t last = problem->size.heads - 1;
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

CHANGE(ALIBI_SCALED, change_slopes(recipe, problem->scaling.factor))

/* Uses 2^(-8 i / H) for all heads, where H is no power of two. */
CHANGE_BY(ALIBI_ONE_SERIES)
{
    const size_t heads = problem->size.heads;
    if (mask->alibi_slopes == NULL)
        return NO_ALIBI;
    if ((heads & (heads - 1)) == 0)
        return "the number of heads is a power of two";
    double *slopes = copy_slopes(recipe, 1);
    for (size_t head = 0; head < heads && slopes != NULL; head++)
        slopes[head] = exp2(-8.0 * (double)(head + 1) / (double)heads);
    return NULL;
}

CHANGE_BY(ALIBI_PER_KEY_HEAD)
{
    const double *slopes = mask->alibi_slopes;
    const size_t heads = problem->size.heads, group = heads / problem->size.kv_heads;
    double *shared = copy_slopes(recipe, 1);
    for (size_t head = 0; head < heads && shared != NULL; head++)
        shared[head] = slopes[head / group];
    return shared == NULL ? NO_ALIBI : group == 1 ? "heads do not share keys" : NULL;
}

CHANGE_WHERE(ALIBI_NOT_SCALED, mask->alibi_slopes != NULL && mask->places.root != 1, "the slopes are not divided",
             mask->places.root = 1)

/* --- relative ---------------------------------------------------------------------------------------------------- */

static const char NO_RELATIVE[] = "there is no relative bias";

CHANGE_WHERE(RELATIVE_MISSING, mask->relative != NULL, NO_RELATIVE, mask->relative = NULL)

/* Changes the directions of buckets. Distances with a bucket of their own must end before the farthest. */
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
    mask_list_buckets(mask, recipe->arena, recipe->error); /* recipe_create checks the error */
    return NULL;
}

CHANGE(RELATIVE_ONE_WAY, look_ways(recipe, false, "keys after a query have no buckets"))
CHANGE(RELATIVE_BOTH_WAYS, look_ways(recipe, true, "keys after a query have buckets already"))

/* Exchanges the halves of the buckets for keys before and after a query; its own key keeps the first. */
CHANGE_BY(RELATIVE_TURNED)
{
    const size_t half = mask->buckets / 2;
    if (mask->relative == NULL)
        return NO_RELATIVE;
    if (!mask->both_ways)
        return "keys after a query have no buckets";
    double *swapped = arena_allocate(recipe->arena, mask->buckets * mask->heads, sizeof *swapped, recipe->error);
    for (size_t bucket = 0; bucket < mask->buckets && swapped != NULL; bucket++) {
        const size_t from = bucket == 0 || bucket >= 2 * half ? bucket : (bucket + half) % (2 * half);
        memcpy(swapped + bucket * mask->heads, mask->relative + (from == 0 ? bucket : from) * mask->heads,
               mask->heads * sizeof *swapped);
    }
    mask->relative = swapped;
    return NULL;
}
