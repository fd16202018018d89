/* SPDX-License-Identifier: MIT */
/* Mistakes of slots softmax, sinks, lse, dropout and tiles, and those of slot keys about tiles. */
#include "mistake/recipe.h"

#include <math.h>
#include <string.h>

/* --- softmax ----------------------------------------------------------------------------------------------------- */

static const char *change_axis(struct recipe *recipe, enum recipe_axis axis, const char *formula)
{
    recipe->axis = axis;
    recipe->across = recipe->across || axis == RECIPE_AXIS_QUERIES || axis == RECIPE_AXIS_ALL;
    return recipe_makes(recipe, STAGE_WEIGHTS, formula);
}

CHANGE(SOFTMAX_QUERIES, change_axis(recipe, RECIPE_AXIS_QUERIES, "softmax over the queries, down each column"))
CHANGE(SOFTMAX_HEADS, problem->size.heads == 1 ? "there is one head"
                                               : change_axis(recipe, RECIPE_AXIS_HEADS, "softmax over the heads"))
CHANGE(SOFTMAX_ITEMS, problem->size.items == 1
                          ? "there is one item"
                          : change_axis(recipe, RECIPE_AXIS_ITEMS, "softmax over the items of the batch"))
CHANGE(SOFTMAX_ALL, change_axis(recipe, RECIPE_AXIS_ALL, "softmax over keys and queries together"))

/* Makes 2^(x - largest) over their sum. */
static void base_2(const struct attention_row *row, const struct recipe *recipe)
{
    const double padding = recipe->padding;
    const double *scores = row->stages[STAGE_MASKED];
    double *weights = row->stages[STAGE_WEIGHTS];
    double largest = row->sink != NULL ? *row->sink : -INFINITY, sum = 0;
    if (padding > 0)
        largest = fmax(largest, 0);
    for (size_t j = 0; j < row->problem->size.keys; j++)
        if (row->bias[j] > -INFINITY)
            largest = fmax(largest, scores[j]);
    for (size_t j = 0; j < row->problem->size.keys; j++) {
        weights[j] = row->bias[j] > -INFINITY ? exp2(scores[j] - largest) : 0;
        sum += weights[j];
    }
    sum += row->sink != NULL ? exp2(*row->sink - largest) : 0;
    sum += padding > 0 ? padding * exp2(-largest) : 0;
    for (size_t j = 0; j < row->problem->size.keys; j++)
        weights[j] = weights[j] / sum;
}

CHANGE(SOFTMAX_BASE_2, recipe_makes_by(recipe, STAGE_WEIGHTS, base_2, "powers of 2 over their sum"))

/* Makes exp(x - maximum) over their sum, each in the dtype, where it may overflow or become 0. */
static void make_shifted(const struct attention_row *row, const struct recipe *recipe, double maximum)
{
    const enum dtype dtype = row->problem->rounding.dtype;
    double *weights = row->stages[STAGE_WEIGHTS];
    double sum = recipe->padding * exp(-maximum) + (row->sink != NULL ? exp(*row->sink - maximum) : 0);
    dtype_round(dtype, &sum, 1);
    for (size_t j = 0; j < row->problem->size.keys; j++) {
        weights[j] = row->bias[j] > -INFINITY ? exp(row->stages[STAGE_MASKED][j] - maximum) : 0;
        dtype_round(dtype, &weights[j], 1);
        sum += weights[j];
    }
    dtype_round(dtype, &sum, 1);
    for (size_t j = 0; j < row->problem->size.keys; j++)
        weights[j] = row->bias[j] > -INFINITY ? weights[j] / sum : 0;
}

static void unshifted(const struct attention_row *row, const struct recipe *recipe)
{
    make_shifted(row, recipe, 0);
}

/* The largest of the row's allowed numbers; minus infinity: none. */
static double largest_of(const struct attention_row *row, const double *numbers, size_t first, size_t end)
{
    double largest = -INFINITY;
    for (size_t j = first; j < end; j++)
        if (row->bias[j] > -INFINITY)
            largest = fmax(largest, numbers[j]);
    return largest;
}

static void shifted_from_0(const struct attention_row *row, const struct recipe *recipe)
{
    make_shifted(row, recipe, fmax(0, largest_of(row, row->stages[STAGE_MASKED], 0, row->problem->size.keys)));
}

CHANGE(SOFTMAX_MAXIMUM_FROM_0,
       recipe_makes_by(recipe, STAGE_WEIGHTS, shifted_from_0, "exp over the sum, the largest at least 0"))
CHANGE(SOFTMAX_OVERFLOW,
       recipe_makes_by(recipe, STAGE_WEIGHTS, unshifted, "exp over the sum, without subtracting the largest"))

static void keep_scores(const struct attention_row *row, const struct recipe *recipe)
{
    (void)recipe;
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[STAGE_WEIGHTS][j] = row->bias[j] > -INFINITY ? row->stages[STAGE_MASKED][j] : 0;
}

CHANGE(SOFTMAX_MISSING, recipe_makes_by(recipe, STAGE_WEIGHTS, keep_scores, "the scores themselves, 0 where masked"))

static void share_scores(const struct attention_row *row, const struct recipe *recipe)
{
    double *weights = row->stages[STAGE_WEIGHTS], sum = 0;
    keep_scores(row, recipe);
    for (size_t j = 0; j < row->problem->size.keys; j++)
        sum += weights[j];
    for (size_t j = 0; j < row->problem->size.keys; j++)
        weights[j] /= sum;
}

CHANGE(SOFTMAX_SUM_OF_SCORES,
       recipe_makes_by(recipe, STAGE_WEIGHTS, share_scores, "each score over the sum of its row"))

/* --- sinks, lse -------------------------------------------------------------------------------------------------- */

static const char NO_SINKS[] = "there are no sinks";

CHANGE_WHERE(SINKS_MISSING, mask->sinks != NULL, NO_SINKS, mask->sinks = NULL)

/* Gives the changed problem its own sinks: of the first of `share` heads (0: reversed), times a factor, and more. */
static const char *change_sinks(struct recipe *recipe, size_t share, double factor, double more)
{
    struct mask *mask = &recipe->problem.mask;
    if (mask->sinks == NULL)
        return NO_SINKS;
    double *sinks = arena_allocate(recipe->arena, recipe->problem.size.heads, sizeof *sinks, recipe->error);
    for (size_t head = 0; head < recipe->problem.size.heads && sinks != NULL; head++)
        sinks[head] = mask->sinks[share > 0 ? head / share : recipe->problem.size.heads - 1 - head] * factor + more;
    mask->sinks = sinks;
    return NULL;
}

CHANGE(SINKS_REPEATED, change_sinks(recipe, 1, 1, log(form)))
CHANGE(SINKS_BASE_2, change_sinks(recipe, 1, log(2), 0))
CHANGE(SINKS_OTHER_HEAD, change_sinks(recipe, form == 0 ? problem->size.heads : 0, 1, 0))
CHANGE(SINKS_NEGATIVE, change_sinks(recipe, 1, -1, 0))
CHANGE(SINKS_ZERO, change_sinks(recipe, 1, 0, 0))
CHANGE(SINKS_SCALED, change_sinks(recipe, 1, problem->scaling.factor * problem->scaling.query_factor, 0))
CHANGE(SINKS_PER_KEY_HEAD, problem->size.heads == problem->size.kv_heads
                               ? "heads do not share keys"
                               : change_sinks(recipe, problem->size.heads / problem->size.kv_heads, 1, 0))

static void unshifted_sink(const struct attention_row *row, const struct recipe *recipe)
{
    const double largest = largest_of(row, row->stages[STAGE_MASKED], 0, row->problem->size.keys);
    const double sink = *row->sink + largest;
    struct attention_row raised = *row;
    raised.sink = &sink;
    (void)recipe;
    stage_make(&raised, STAGE_WEIGHTS);
}

CHANGE(SINKS_MAXIMUM_MISSING, mask->sinks == NULL
                                  ? NO_SINKS
                                  : recipe_makes_by(recipe, STAGE_WEIGHTS, unshifted_sink,
                                                    "softmax, its maximum not subtracted from the sink"))

static void base_2_lse(const struct attention_row *row, const struct recipe *recipe)
{
    double *lse = row->stages[STAGE_LSE];
    stage_make(row, STAGE_LSE);
    *lse /= log(2);
    dtype_round(recipe->problem.rounding.dtype, lse, 1);
}

static void shifted_lse(const struct attention_row *row, const struct recipe *recipe)
{
    const double largest = largest_of(row, row->stages[STAGE_MASKED], 0, row->problem->size.keys);
    double *lse = row->stages[STAGE_LSE];
    stage_make(row, STAGE_LSE);
    *lse -= largest > -INFINITY ? largest : 0;
    dtype_round(recipe->problem.rounding.dtype, lse, 1);
}

static void unscaled_lse(const struct attention_row *row, const struct recipe *recipe)
{
    const double *scores = row->stages[STAGE_SCORES];
    const double largest = largest_of(row, scores, 0, row->problem->size.keys);
    double sum = 0;
    for (size_t j = 0; j < row->problem->size.keys; j++)
        sum += row->bias[j] > -INFINITY ? exp(scores[j] - largest) : 0;
    *row->stages[STAGE_LSE] = sum > 0 ? largest + log(sum) : -INFINITY;
    dtype_round(recipe->problem.rounding.dtype, row->stages[STAGE_LSE], 1);
}

CHANGE(LSE_BASE_2, recipe_makes_by(recipe, STAGE_LSE, base_2_lse, "log2 in place of log"))
CHANGE(LSE_MAXIMUM_MISSING, recipe_makes_by(recipe, STAGE_LSE, shifted_lse, "log(sum), the largest not added back"))
CHANGE(LSE_BEFORE_SCALE, recipe_makes_by(recipe, STAGE_LSE, unscaled_lse, "log(sum(exp(scores)))"))

/* --- softmax by hand --------------------------------------------------------------------------------------------- */

static void softmax_again(const struct attention_row *row, const struct recipe *recipe)
{
    double *weights = row->stages[STAGE_WEIGHTS], sum = 0;
    (void)recipe;
    stage_make(row, STAGE_WEIGHTS);
    for (size_t j = 0; j < row->problem->size.keys; j++)
        sum += weights[j] = exp(weights[j]); /* of at most 1 */
    for (size_t j = 0; j < row->problem->size.keys; j++)
        weights[j] /= sum;
}

static void log_weights(const struct attention_row *row, const struct recipe *recipe)
{
    const double *masked = row->stages[STAGE_MASKED];
    double sum = 0, largest = largest_of(row, masked, 0, row->problem->size.keys);
    (void)recipe;
    for (size_t j = 0; j < row->problem->size.keys; j++)
        sum += row->bias[j] > -INFINITY ? exp(masked[j] - largest) : 0;
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[STAGE_WEIGHTS][j] = row->bias[j] > -INFINITY ? masked[j] - largest - log(sum) : -INFINITY;
}

static void sigmoid(const struct attention_row *row, const struct recipe *recipe)
{
    (void)recipe;
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[STAGE_WEIGHTS][j] = row->bias[j] > -INFINITY ? 1 / (1 + exp(-row->stages[STAGE_MASKED][j])) : 0;
}

/* Masked keys take part from the weights on. */
static const char *unmask(struct recipe *recipe, recipe_row *make, const char *formula)
{
    recipe->unmasks = recipe->problem.masks;
    if (recipe->problem.masks) /* no key is shown as masked */
        recipe->problem.mistake.wrong |= STAGE_BIT(STAGE_MASKED);
    return recipe_makes_by(recipe, STAGE_WEIGHTS, make, formula);
}

CHANGE(SOFTMAX_TWICE, unmask(recipe, softmax_again, "softmax of softmax, of all keys"))
CHANGE(SOFTMAX_LOG, unmask(recipe, log_weights, "log of softmax"))
CHANGE(SOFTMAX_SIGMOID, recipe_makes_by(recipe, STAGE_WEIGHTS, sigmoid, "1 / (1 + exp(-score))"))

static void exp_less(const struct attention_row *row, double less)
{
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[STAGE_WEIGHTS][j] = row->bias[j] > -INFINITY ? exp(row->stages[STAGE_MASKED][j] - less) : 0;
}

static void exp_only(const struct attention_row *row, const struct recipe *recipe)
{
    (void)recipe;
    exp_less(row, 0);
}

static void exp_shifted(const struct attention_row *row, const struct recipe *recipe)
{
    (void)recipe;
    exp_less(row, largest_of(row, row->stages[STAGE_MASKED], 0, row->problem->size.keys));
}

const char *recipe_mix_rows(struct recipe *recipe, bool sums, bool maxima)
{
    const struct problem *problem = &recipe->problem;
    if (problem->size.queries != problem->size.keys)
        return "there are not as many queries as keys";
    for (size_t i = 0; i < problem->size.items * problem->size.heads * problem->size.queries; i++)
        if (mask_is_empty(&problem->mask, i / problem->size.queries / problem->size.heads,
                          i / problem->size.queries % problem->size.heads, i % problem->size.queries))
            return "a row is empty";
    recipe->across = true;
    recipe->mixes_sums = sums;
    recipe->mixes_maxima = maxima;
    return NULL;
}

CHANGE_BY(SOFTMAX_NO_KEEPDIM)
{
    const char *reason = recipe_mix_rows(recipe, form != 2, form >= 2);
    return reason != NULL ? reason
                          : recipe_makes_by(recipe, STAGE_WEIGHTS, form == 1 ? exp_shifted : exp_only,
                                            "exp over the sum or maximum of row j");
}

/* --- dropout ----------------------------------------------------------------------------------------------------- */

static const char NO_DROPOUT[] = "there is no dropout";

static void drop_by_factor(const struct attention_row *row, const struct recipe *recipe)
{
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[STAGE_DROPPED][j] = row->kept[j] ? row->stages[STAGE_WEIGHTS][j] * recipe->kept_factor : 0;
    dtype_round(row->problem->rounding.dtype, row->stages[STAGE_DROPPED], row->problem->size.keys);
}

/* Copies the weights: dropout came before. */
static void drop_nothing(const struct attention_row *row, const struct recipe *recipe)
{
    (void)recipe;
    memcpy(row->stages[STAGE_DROPPED], row->stages[STAGE_WEIGHTS], row->problem->size.keys * sizeof(double));
    dtype_round(row->problem->rounding.dtype, row->stages[STAGE_DROPPED], row->problem->size.keys);
}

static const char *drop(struct recipe *recipe, double factor, const char *formula)
{
    recipe->kept_factor = factor;
    return recipe->problem.drop.share == 0 ? NO_DROPOUT
                                           : recipe_makes_by(recipe, STAGE_DROPPED, drop_by_factor, formula);
}

CHANGE(DROPOUT_NOT_RESCALED, drop(recipe, 1, "weights where kept, else 0"))
CHANGE(DROPOUT_DIVIDED_BY_P, drop(recipe, 1 / problem->drop.share, "weights / p where kept, else 0"))

CHANGE_BY(DROPOUT_BEFORE_SOFTMAX)
{
    if (problem->drop.share == 0)
        return NO_DROPOUT;
    recipe->drops_scores = true;
    if ((problem->mistake.wrong & STAGE_BIT(STAGE_WEIGHTS)) == 0)
        recipe_makes(recipe, STAGE_WEIGHTS, "softmax of scores, some of them dropped");
    return recipe_makes_by(recipe, STAGE_DROPPED, drop_nothing, "weights");
}

CHANGE_WHERE(DROPOUT_MISSING, problem->drop.share != 0, NO_DROPOUT,
             (problem->drop.share = 0, recipe_tells(recipe, STAGE_DROPPED, "weights, nothing dropped")))

/* The generator is past the parameters, drawn or not; it has not moved if they are given and nothing was dropped. */
CHANGE_BY(DROPOUT_ON)
{
    if (problem->drop.share > 0)
        return "there is dropout";
    problem->drop.share = form;
    if (problem->parameters.given && !problem->drop.seeded)
        parameters_pass(&problem->plan, &problem->drop.generator, recipe->error);
    return NULL;
}

/* --- tiles ------------------------------------------------------------------------------------------------------- */

/* A row of a running softmax over tiles of keys, as in fused kernels: Dao et al. 2022, "FlashAttention", algorithm 1,
 * with some step wrong. */
struct tiles {
    struct recipe_tiles how;
    const struct attention_row *row;
    double *context;
    size_t d;
    double largest, sum;
    size_t back;  /* the row that many before rescales the context; 0: this one */
    double other; /* its running maximum */
};

static void multiply(struct tiles *tiles, double factor)
{
    for (size_t c = 0; c < tiles->d; c++)
        tiles->context[c] *= factor;
}

/* The factor of the row that rescales the context; 1 before its first allowed key. */
static double other_factor(struct tiles *tiles, size_t first, size_t end)
{
    const size_t by = tiles->back * tiles->row->problem->size.keys;
    struct attention_row other = *tiles->row;
    other.bias -= by;
    const double before = tiles->other;
    tiles->other = fmax(before, largest_of(&other, tiles->row->stages[STAGE_MASKED] - by, first, end));
    return tiles->other == -INFINITY ? 1 : exp(before - tiles->other);
}

static double power_of(const struct tiles *tiles, size_t j)
{
    return tiles->row->bias[j] > -INFINITY ? exp(tiles->row->stages[STAGE_MASKED][j] - tiles->largest) : 0;
}

/* The sum of a tile, by which its context is divided; 1 if it is divided in the end. */
static double sum_of_tile(const struct tiles *tiles, size_t first, size_t end)
{
    if (!tiles->how.means)
        return 1;
    double sum = tiles->row->sink != NULL ? exp(*tiles->row->sink - tiles->largest) : 0;
    for (size_t j = first; j < end; j++)
        sum += power_of(tiles, j);
    return sum;
}

static void add_tile(struct tiles *tiles, size_t first, size_t end)
{
    const struct attention_row *row = tiles->row;
    const double largest = largest_of(row, row->stages[STAGE_MASKED], first, end), before = tiles->largest;
    double of_context = tiles->back > 0 ? other_factor(tiles, first, end) : 1;
    if (largest > -INFINITY) {
        tiles->largest = tiles->how.forgets || tiles->how.apart ? largest : fmax(before, largest);
        const double factor = tiles->how.forgets ? 0 : exp(before - tiles->largest);
        tiles->sum *= tiles->how.keeps_sum ? 1 : factor;
        of_context = tiles->how.keeps_context ? 1 : tiles->back > 0 ? of_context : factor;
    }
    multiply(tiles, of_context);
    if (largest == -INFINITY)
        return;
    const double whole = sum_of_tile(tiles, first, end), factor = 1 / (1 - row->problem->drop.share);
    if (tiles->how.means)
        tiles->sum++;
    else if (tiles->how.adds_sinks && row->sink != NULL)
        tiles->sum += exp(*row->sink - tiles->largest);
    for (size_t j = first; j < end; j++) {
        const double power = power_of(tiles, j) / whole;
        const double share = row->kept == NULL ? power : row->kept[j] ? power * factor : 0;
        tiles->sum += tiles->how.means ? 0 : power;
        for (size_t c = 0; c < tiles->d && power != 0; c++)
            tiles->context[c] += share * row->value[j * tiles->d + c];
    }
    if (tiles->how.divides)
        multiply(tiles, 1 / tiles->sum);
}

static void make_tiles(const struct attention_row *row, const struct recipe *recipe)
{
    const size_t tile = recipe->tile, keys = row->problem->size.keys;
    const struct recipe_tiles how = recipe->tiles;
    const bool begins_with_sink = row->sink != NULL && !how.adds_sinks && !how.means;
    size_t allowed[2] = {SIZE_MAX, SIZE_MAX}; /* the first and the last tile with an allowed key */
    struct tiles tiles = {.how = how,
                          .row = row,
                          .context = row->stages[STAGE_CONTEXT],
                          .d = row->problem->size.d_value,
                          .largest = begins_with_sink ? *row->sink : -INFINITY,
                          .sum = begins_with_sink ? 1 : 0,
                          .back = how.by_first_row ? row->at % tile : how.by_row_before && row->at % tile > 0,
                          .other = -INFINITY};
    for (size_t j = 0; j < keys; j++)
        if (row->bias[j] > -INFINITY) {
            allowed[0] = allowed[0] == SIZE_MAX ? j / tile : allowed[0];
            allowed[1] = j / tile;
        }
    memset(tiles.context, 0, tiles.d * sizeof *tiles.context);
    for (size_t i = 0; i * tile < keys; i++) {
        const bool skips = (how.skips_last && (i + 1) * tile >= keys) || (how.skips_own && i == allowed[1]);
        const bool twice = (how.first_twice && i == allowed[0]) || (how.last_twice && i == allowed[1]);
        for (int times = skips ? 0 : twice ? 2 : 1; times > 0; times--)
            add_tile(&tiles, i * tile, memory_smaller((i + 1) * tile, keys));
    }
    const bool nothing = tiles.sum == 0 && row->problem->mask.empty_row != EMPTY_ROW_NAN;
    if (!how.divides && !nothing)
        multiply(&tiles, 1 / tiles.sum);
    dtype_round(row->problem->rounding.dtype, tiles.context, tiles.d);
}

static const char *use_tiles(struct recipe *recipe, struct recipe_tiles how, const char *formula)
{
    recipe->tile = (size_t)recipe->form;
    recipe->tiles = how;
    recipe->across = recipe->across || how.by_first_row || how.by_row_before;
    recipe_makes_by(recipe, STAGE_CONTEXT, make_tiles, formula);
    return recipe->tile < recipe->problem.size.keys ? NULL : "one tile holds all keys";
}

#define TILES(id, how, formula) CHANGE(TILES_##id, use_tiles(recipe, how, "by tiles, " formula))
#define HOW(...) ((struct recipe_tiles){__VA_ARGS__})

TILES(CONTEXT_NOT_RESCALED, HOW(.keeps_context = true), "the running context not rescaled")
TILES(CONTEXT_DIVIDED, HOW(.divides = true), "each divided by the running sum")
TILES(SUM_NOT_RESCALED, HOW(.keeps_sum = true), "the running sum not rescaled")
TILES(LAST_ALONE, HOW(.forgets = true), "the last one alone")
TILES(NOT_RESCALED, HOW(.keeps_sum = true, .keeps_context = true), "nothing rescaled")
TILES(MERGED_BY_MEAN, HOW(.keeps_sum = true, .keeps_context = true, .apart = true, .means = true), "their mean")
TILES(MERGED_NOT_RESCALED, HOW(.keeps_sum = true, .keeps_context = true, .apart = true, .adds_sinks = true),
      "each with its own maximum")
TILES(LAST_TWICE, HOW(.last_twice = true), "the last one twice")
TILES(FIRST_TWICE, HOW(.first_twice = true), "the first one twice")
TILES(LAST_SKIPPED, HOW(.skips_last = true), "without the last one")
TILES(OWN_SKIPPED, HOW(.skips_own = true), "without the last one of each row")
TILES(FIRST_ROW_RESCALES, HOW(.by_first_row = true), "rescaled as the first row")
TILES(ROW_BEFORE_RESCALES, HOW(.by_row_before = true), "rescaled as the row before")

CHANGE(SINKS_PER_TILE, mask->sinks == NULL
                           ? NO_SINKS
                           : use_tiles(recipe, (struct recipe_tiles){.adds_sinks = true}, "by tiles, a sink in each"))

/* The row of the tile before; of the first tile its own. */
static size_t row_before(const struct recipe *recipe, size_t item, size_t head, size_t key)
{
    const size_t row = (item * recipe->problem.size.kv_heads + head) * recipe->problem.size.keys + key;
    return key < recipe->tile ? row : row - recipe->tile;
}

static const char *read_stale(struct recipe *recipe, enum projection_id id, const char *formula)
{
    recipe->tile = (size_t)recipe->form;
    return recipe->tile < recipe->problem.size.keys ? recipe_reads(recipe, id, row_before, formula)
                                                    : "one tile holds all keys";
}

CHANGE(KEYS_STALE, read_stale(recipe, PROJECTION_KEY, "query . key^T, by tiles, of the keys before"))
CHANGE(VALUES_STALE, read_stale(recipe, PROJECTION_VALUE, "weights . value, by tiles, of the values before"))
