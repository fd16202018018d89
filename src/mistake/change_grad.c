/* SPDX-License-Identifier: MIT */
/* Mistakes of slot grad, in the backward pass. The forward pass is right. */
#include "mistake/recipe.h"
#include "stage/backward_mistake.h"
#include "stage/explained.h"
#include "stage/operand_steps.h"

#include <math.h>
#include <string.h>

/* Records that it changes a stage, and its formula. */
static void tell(struct recipe *recipe, enum stage stage, const char *formula)
{
    recipe->problem.mistake.wrong |= STAGE_BIT(stage);
    recipe_tells(recipe, stage, formula);
}

/* `make` makes rows of these stages, and `add` changes what they add to sums; either may be NULL. Returns NULL if out
 * of memory. */
static struct backward_mistake *set(struct recipe *recipe, uint64_t makes, backward_make *make, backward_add *add)
{
    struct backward_mistake *mistake = arena_allocate(recipe->arena, 1, sizeof *mistake, recipe->error);
    if (mistake != NULL)
        *mistake = (struct backward_mistake){.makes = makes, .make = make, .add = add, .form = (size_t)recipe->form};
    recipe->problem.mistake.backward = mistake;
    return mistake;
}

static const char *change(struct recipe *recipe, uint64_t makes, backward_make *make, backward_add *add)
{
    set(recipe, makes, make, add);
    return NULL;
}

static size_t form_of(const struct problem *problem)
{
    return problem->mistake.backward->form;
}

/* --- the softmax ------------------------------------------------------------------------------------------------- */

/* Records a formula for the first stage after the softmax in the backward pass. */
static void tell_softmax(struct recipe *recipe, const char *formula)
{
    const struct problem *problem = &recipe->problem;
    tell(recipe,
         problem->masks                 ? STAGE_GRAD_MASKED
         : problem->scaling.softcap > 0 ? STAGE_GRAD_CAPPED
                                        : STAGE_GRAD_SCALED,
         formula);
}

/* Makes weights x factor x (grad_weights - delta). */
static void make_softmax(const struct attention_row *row, double factor, double delta)
{
    const double *weights = row->stages[STAGE_WEIGHTS], *above = row->stages[STAGE_GRAD_WEIGHTS];
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[STAGE_GRAD_MASKED][j] =
            row->empty || row->bias[j] == -INFINITY ? 0 : factor * weights[j] * (above[j] - delta);
    gradient_add_noise(row);
}

/* The sum of weights x gradients of a row, over the keys that `bias` (keys) allows; NULL: all. */
static double delta_of(double *const *rows, size_t keys, const double *bias, bool of_dropped, bool skips_zeros)
{
    const double *weights = rows[of_dropped ? STAGE_DROPPED : STAGE_WEIGHTS];
    const double *above = rows[of_dropped ? STAGE_GRAD_DROPPED : STAGE_GRAD_WEIGHTS];
    double delta = 0;
    for (size_t j = 0; j < keys; j++)
        if ((bias == NULL || bias[j] > -INFINITY) && !(skips_zeros && above[j] == 0))
            delta += weights[j] * above[j];
    return delta;
}

/* Sets a query's part of grad_sinks. */
static void set_sink(const struct backward_addition *addition, double factor, double delta)
{
    const double *sinks = addition->problem->mask.sinks;
    if (addition->sink != NULL)
        *addition->sink = delta != 0 ? -factor * exp(sinks[addition->head] - addition->rows[STAGE_LSE][0]) * delta : 0;
}

static void add_no_sink(const struct backward_addition *addition)
{
    set_sink(addition, 1, 0);
}

static void make_without_delta(const struct attention_row *row, enum stage stage)
{
    (void)stage;
    make_softmax(row, 1, 0);
}

/* Sets a mistake of the softmax and of grad_sinks. */
static const char *change_softmax(struct recipe *recipe, backward_make *make, backward_add *add, const char *formula)
{
    recipe->problem.mistake.wrong |= STAGE_BIT(STAGE_GRAD_SINKS);
    tell_softmax(recipe, formula);
    return change(recipe, STAGE_BIT(STAGE_GRAD_MASKED), make, add);
}

CHANGE(GRAD_DELTA_MISSING,
       change_softmax(recipe, make_without_delta, add_no_sink, "weights x grad_weights, delta not subtracted"))

static void make_diagonal(const struct attention_row *row, enum stage stage)
{
    const double *weights = row->stages[STAGE_WEIGHTS], *above = row->stages[STAGE_GRAD_WEIGHTS];
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[stage][j] = row->empty || row->bias[j] == -INFINITY ? 0 : weights[j] * (1 - weights[j]) * above[j];
}

CHANGE(GRAD_SOFTMAX_DIAGONAL,
       change_softmax(recipe, make_diagonal, add_no_sink, "weights x (1 - weights) x grad_weights"))

/* The factor by which exp(score - maximum) exceeds exp(score - lse): it makes the largest weight, the sink's included,
 * 1. weights (keys) are the right ones. */
static double excess_of(const struct problem *problem, const double *weights)
{
    double largest = 0, sum = 0;
    for (size_t j = 0; j < problem->size.keys; j++) {
        largest = fmax(largest, weights[j]);
        sum += weights[j];
    }
    if (problem->mask.sinks != NULL) /* the sink has the rest of the row */
        largest = fmax(largest, 1 - sum);
    return largest > 0 ? 1 / largest : 1;
}

/* The forms of this and of the missing mask: delta from the context, or from the recomputed weights. */
enum { DELTA_OF_CONTEXT, DELTA_OF_WEIGHTS };

static void make_of_maximum(const struct attention_row *row, enum stage stage)
{
    (void)stage;
    const double excess = excess_of(row->problem, row->stages[STAGE_WEIGHTS]);
    const double delta = delta_of(row->stages, row->problem->size.keys, row->bias, false, false);
    make_softmax(row, excess, form_of(row->problem) == DELTA_OF_WEIGHTS ? delta * excess : delta);
}

static void add_of_maximum(const struct backward_addition *addition)
{
    const double excess = excess_of(addition->problem, addition->rows[STAGE_WEIGHTS]);
    const double delta = delta_of(addition->rows, addition->problem->size.keys, NULL, false, true);
    for (size_t j = 0; j < addition->problem->size.keys; j++)
        addition->dropped[j] *= excess;
    set_sink(addition, excess, form_of(addition->problem) == DELTA_OF_WEIGHTS ? delta * excess : delta);
}

CHANGE_BY(GRAD_MAXIMUM_FOR_LSE)
{
    tell(recipe, STAGE_GRAD_VALUE, "exp(scores - maximum)^T . grad_context");
    return change_softmax(recipe, make_of_maximum, add_of_maximum, "exp(scores - maximum) x (grad_weights - delta)");
}

/* --- scale, softcap, dropout ------------------------------------------------------------------------------------- */

static const char NO_SCALE[] = "the scale is on the query, not on the scores";

/* A skipped stage: copies the gradient that it is made from. */
static void make_kept(const struct attention_row *row, enum stage stage)
{
    const enum stage from = stage == STAGE_GRAD_WEIGHTS  ? STAGE_GRAD_DROPPED
                            : stage == STAGE_GRAD_SCALED ? STAGE_GRAD_CAPPED
                                                         : STAGE_GRAD_SCALED;
    memcpy(row->stages[stage], row->stages[from], row->problem->size.keys * sizeof(double));
}

static void make_scaled_twice(const struct attention_row *row, enum stage stage)
{
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[stage][j] =
            row->stages[STAGE_GRAD_SCALED][j] * (row->problem->scaling.factor * row->problem->scaling.factor);
}

static void add_of_scaled_query(const struct backward_addition *addition)
{
    for (size_t j = 0; j < addition->problem->size.keys; j++)
        addition->scores[j] *= addition->problem->scaling.factor;
}

static const char *change_scale(struct recipe *recipe, backward_make *make, const char *formula)
{
    tell(recipe, STAGE_GRAD_SCORES, formula);
    return recipe->problem.scaling.on_query ? NO_SCALE : change(recipe, STAGE_BIT(STAGE_GRAD_SCORES), make, NULL);
}

CHANGE(GRAD_SCALE_MISSING, change_scale(recipe, make_kept, "grad_scaled, not scaled"))
CHANGE(GRAD_SCALE_TWICE, change_scale(recipe, make_scaled_twice, "grad_scaled x scale x scale"))

CHANGE_BY(GRAD_KEY_FROM_SCALED_QUERY)
{
    tell(recipe, STAGE_GRAD_KEY, "grad_scores^T . (query x scale)");
    return problem->scaling.on_query ? NO_SCALE : change(recipe, 0, NULL, add_of_scaled_query);
}

CHANGE_BY(GRAD_SOFTCAP_MISSING)
{
    tell(recipe, STAGE_GRAD_SCALED, "grad_capped, without the slope of the softcap");
    return problem->scaling.softcap == 0 ? "there is no softcap"
                                         : change(recipe, STAGE_BIT(STAGE_GRAD_SCALED), make_kept, NULL);
}

/* The forms; a kept delta is that of the forward pass. */
enum { EVERYWHERE, FOR_WEIGHTS, FOR_VALUE, EVERYWHERE_DELTA_KEPT, FOR_WEIGHTS_DELTA_KEPT };

static void make_undropped(const struct attention_row *row, enum stage stage)
{
    if (stage == STAGE_GRAD_WEIGHTS)
        make_kept(row, stage);
    else
        make_softmax(row, 1, delta_of(row->stages, row->problem->size.keys, row->bias, true, false));
}

static void add_undropped(const struct backward_addition *addition)
{
    const size_t form = form_of(addition->problem);
    if (form != FOR_WEIGHTS && form != FOR_WEIGHTS_DELTA_KEPT)
        memcpy(addition->dropped, addition->rows[STAGE_WEIGHTS], addition->problem->size.keys * sizeof(double));
    if (form >= EVERYWHERE_DELTA_KEPT)
        set_sink(addition, 1, delta_of(addition->rows, addition->problem->size.keys, NULL, true, true));
}

CHANGE_BY(GRAD_DROPOUT_MISSING)
{
    const size_t place = (size_t)form;
    uint64_t makes = 0;
    if (problem->drop.share == 0)
        return "there is no dropout";
    if (place >= EVERYWHERE_DELTA_KEPT) {
        makes |= STAGE_BIT(STAGE_GRAD_MASKED);
        tell_softmax(recipe, "weights x (grad_weights - delta), delta the sum of dropped x grad_dropped");
    }
    if (place != FOR_WEIGHTS && place != FOR_WEIGHTS_DELTA_KEPT)
        tell(recipe, STAGE_GRAD_VALUE, "weights^T . grad_context, dropped weights included");
    if (place != FOR_VALUE) {
        makes |= STAGE_BIT(STAGE_GRAD_WEIGHTS);
        tell(recipe, STAGE_GRAD_WEIGHTS, "grad_dropped, dropped weights included");
    }
    return change(recipe, makes, make_undropped, add_undropped);
}

/* --- the mask ---------------------------------------------------------------------------------------------------- */

/* Recomputes weights from the scores and lse, as a kernel does. They replace the right ones in all that follows. */
static void recompute(const struct attention_row *row)
{
    double *weights = row->stages[STAGE_WEIGHTS], *dropped = row->stages[STAGE_DROPPED];
    const double factor = 1 / (1 - row->problem->drop.share);
    for (size_t j = 0; j < row->problem->size.keys && !row->empty; j++)
        if (row->bias[j] == -INFINITY) {
            weights[j] = exp(row->stages[STAGE_CAPPED][j] - row->stages[STAGE_LSE][0]);
            dropped[j] = row->kept == NULL ? weights[j] : row->kept[j] ? weights[j] * factor : 0;
        }
}

/* The bias whose allowed keys delta sums over. */
static const double *delta_bias(const struct problem *problem, const double *bias)
{
    return form_of(problem) == DELTA_OF_WEIGHTS ? NULL : bias;
}

static void make_unmasked(const struct attention_row *row, enum stage stage)
{
    struct attention_row all = *row;
    memset(row->cast, 0, row->problem->size.keys * sizeof(double));
    all.bias = row->cast;
    if (stage == STAGE_GRAD_MASKED) {
        make_softmax(&all, 1,
                     delta_of(row->stages, row->problem->size.keys, delta_bias(row->problem, row->bias), false, false));
        return;
    }
    recompute(row);
    stage_grad_dropped.make(&all);
}

static void add_unmasked(const struct backward_addition *addition)
{
    const struct problem *problem = addition->problem;
    set_sink(addition, 1,
             delta_of(addition->rows, problem->size.keys, delta_bias(problem, addition->bias), false, true));
}

CHANGE_BY(GRAD_MASK_MISSING)
{
    if (!problem->masks)
        return "there is no mask";
    if (mask->alibi_slopes != NULL || mask->relative != NULL ||
        (mask->attn_mask.rank > 0 && mask->attn_mask.dtype != DTYPE_BOOL))
        return "the mask adds numbers to the scores";
    problem->mistake.wrong |= STAGE_BIT(STAGE_GRAD_SCALED) | STAGE_BIT(STAGE_GRAD_SCORES) |
                              STAGE_BIT(STAGE_GRAD_QUERY) | STAGE_BIT(STAGE_GRAD_KEY) | STAGE_BIT(STAGE_GRAD_SINKS) |
                              STAGE_BIT(STAGE_GRAD_WEIGHTS) |
                              STAGE_BIT(STAGE_GRAD_CAPPED); /* masked keys have a share of them */
    tell(recipe, STAGE_GRAD_VALUE, "weights^T . grad_context, masked keys included");
    tell(recipe, problem->drop.share > 0 ? STAGE_GRAD_DROPPED : STAGE_GRAD_WEIGHTS,
         "grad_context . value^T, masked keys included");
    tell(recipe, STAGE_GRAD_MASKED, "exp(capped - lse) x (grad_weights - delta), masked keys included");
    struct backward_mistake *mistake =
        set(recipe, STAGE_BIT(STAGE_GRAD_DROPPED) | STAGE_BIT(STAGE_GRAD_MASKED), make_unmasked, add_unmasked);
    if (mistake != NULL) {
        mistake->from = STAGE_BIT(STAGE_LSE) | STAGE_BIT(STAGE_CAPPED);
        mistake->shows_masked = true;
    }
    return NULL;
}

/* --- sums -------------------------------------------------------------------------------------------------------- */

/* Sets a mistake of the sums over queries. */
static const char *change_sums(struct recipe *recipe, backward_add *add, const char *value, const char *key)
{
    tell(recipe, STAGE_GRAD_VALUE, value);
    tell(recipe, STAGE_GRAD_KEY, key);
    return change(recipe, 0, NULL, add);
}

/* Counts the last head of a group, or the first, or the mean of all. */
static void add_of_group(const struct backward_addition *addition)
{
    const size_t group = addition->problem->size.heads / addition->problem->size.kv_heads,
                 form = form_of(addition->problem);
    const double factor = form == 2 ? 1 / (double)group : addition->head % group == (form == 0 ? group - 1 : 0);
    for (size_t j = 0; j < addition->problem->size.keys; j++) {
        addition->dropped[j] *= factor;
        addition->scores[j] *= factor;
    }
}

CHANGE_BY(GRAD_GROUPS_NOT_SUMMED)
{
    static const char *const KEY[] = {"grad_scores^T . query of the last head of a group",
                                      "grad_scores^T . query of the first head of a group",
                                      "the mean of grad_scores^T . query over the heads of a group"};
    static const char *const VALUE[] = {"weights^T . grad_context of the last head of a group",
                                        "weights^T . grad_context of the first head of a group",
                                        "the mean of weights^T . grad_context over the heads of a group"};
    return problem->size.heads == problem->size.kv_heads
               ? "every query head has its own key and value"
               : change_sums(recipe, add_of_group, VALUE[(size_t)form], KEY[(size_t)form]);
}

/* Adds the factors (Tk) of a query x its row of a matrix (Tq, d) to `sums` (Tk, d). */
static void add_row(const struct backward_addition *addition, double *factors, enum stage from, size_t d, double *sums)
{
    const struct problem *problem = addition->problem;
    const size_t matrix = addition->item * problem->size.heads + addition->head,
                 group = problem->size.heads / problem->size.kv_heads;
    double *sum = sums + (matrix / group * problem->size.keys + addition->query) * d;
    for (size_t j = 0; j < problem->size.keys; j++)
        for (size_t c = 0; c < d && factors[j] != 0; c++) {
            double number;
            tensor_load(&addition->held[from], (matrix * problem->size.queries + j) * d + c, 1, &number);
            sum[c] += factors[j] * number;
        }
    memset(factors, 0, problem->size.keys * sizeof *factors); /* clears the right share */
}

static void add_untransposed(const struct backward_addition *addition)
{
    const struct tensor *held = addition->held;
    add_row(addition, addition->scores, STAGE_QUERY, addition->problem->size.d_head, held[STAGE_GRAD_KEY].data);
    add_row(addition, addition->dropped, STAGE_GRAD_CONTEXT, addition->problem->size.d_value,
            held[STAGE_GRAD_VALUE].data);
}

CHANGE(GRAD_TRANSPOSE_MISSING, problem->size.queries != problem->size.keys
                                   ? "queries and keys differ in number, so the product is undefined"
                                   : change_sums(recipe, add_untransposed, "weights . grad_context, not transposed",
                                                 "grad_scores . query, not transposed"))

/* The start of the last tile of `count`. */
static size_t last_tile(const struct problem *problem, size_t count)
{
    return count > 0 ? (count - 1) / form_of(problem) * form_of(problem) : 0;
}

/* Drops the tiles of keys before the last. */
static void make_of_last_tile(const struct attention_row *row, enum stage stage)
{
    double *stages[STAGE_COUNT];
    struct attention_row tile = *row;
    memcpy(stages, row->stages, sizeof stages);
    memcpy(row->cast, row->stages[STAGE_GRAD_SCORES], row->problem->size.keys * sizeof(double));
    memset(row->cast, 0, last_tile(row->problem, row->problem->size.keys) * sizeof(double));
    stages[STAGE_GRAD_SCORES] = row->cast;
    tile.stages = stages;
    (void)stage;
    stage_grad_query.make(&tile);
}

CHANGE_BY(GRAD_QUERY_LAST_TILE)
{
    tell(recipe, STAGE_GRAD_QUERY, "grad_scores . key, of the last tile of keys");
    return change(recipe, STAGE_BIT(STAGE_GRAD_QUERY), make_of_last_tile, NULL);
}

static void add_of_last_tile(const struct backward_addition *addition)
{
    const bool counts = addition->query >= last_tile(addition->problem, addition->problem->size.queries);
    memset(addition->dropped, 0, counts ? 0 : addition->problem->size.keys * sizeof(double));
    memset(addition->scores, 0, counts ? 0 : addition->problem->size.keys * sizeof(double));
}

CHANGE(GRAD_KEY_LAST_TILE,
       change_sums(recipe, add_of_last_tile, "weights^T . grad_context, of the last tile of queries",
                   "grad_scores^T . query, of the last tile of queries"))

/* --- the rotation ------------------------------------------------------------------------------------------------ */

/* The gradient with respect to the unrotated row. */
static enum stage before_rotation(const struct problem *problem, enum projection_id id)
{
    switch (operand_before_last_step(problem, id)) {
    case STAGE_NORMED_QUERY:
        return STAGE_GRAD_NORMED_QUERY;
    case STAGE_NORMED_KEY:
        return STAGE_GRAD_NORMED_KEY;
    default:
        return id == PROJECTION_QUERY ? STAGE_GRAD_PROJECTED_QUERY : STAGE_GRAD_PROJECTED_KEY;
    }
}

static const char *change_rope(struct recipe *recipe, backward_rotate *rotate_back, const char *formula)
{
    if (recipe->problem.rotation.rope.kind == ROPE_NONE)
        return "query and key are not rotated";
    struct backward_mistake *mistake = set(recipe, 0, NULL, NULL);
    if (mistake != NULL)
        mistake->rotate_back = rotate_back;
    tell(recipe, before_rotation(&recipe->problem, PROJECTION_QUERY), formula);
    tell(recipe, before_rotation(&recipe->problem, PROJECTION_KEY), formula);
    return NULL;
}

static bool leave(double *sines, size_t count)
{
    (void)sines;
    (void)count;
    return false;
}

static bool rotate_on(double *sines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sines[i] = -sines[i];
    return true;
}

CHANGE(GRAD_ROPE_MISSING, change_rope(recipe, leave, "not rotated back"))
CHANGE(GRAD_ROPE_FORWARDS, change_rope(recipe, rotate_on, "rotated forward again, not back"))
