/* SPDX-License-Identifier: MIT */
/* The indexer of DeepSeek-V3.2 and GLM-5: of the keys that the mask allows, each query keeps those with the largest
 *
 *     index score = sum of w_h relu(q_h . k) over the indexer's H heads of d columns
 *
 * q_h comes from the query's normed latent, k is one key of each token, through a LayerNorm, w_h comes from the inputs;
 * the first columns of q_h and k are rotated. As transformers computes it, without FP8; factors that all scores share
 * are left out. */
#include "build/build.h"

#include "stage/latent.h"
#include "stage/norm.h"
#include "stage/projections.h"
#include "stage/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum part { QUERY, KEY, WEIGHTS, NORM_WEIGHT, NORM_BIAS, PARTS };

/* Rows of a token, and of all keys. */
enum row { INPUT, SCRATCH, MADE, QUERIES, WEIGHT, TURNS, KEYS, SCORES, SORTED, ROWS };

struct indexer {
    size_t heads, d;
    double *matrices[NORM_WEIGHT]; /* (rank, H d), (d_in, d), (d_in, H) */
    struct norm norm;
    struct rope rope;
    struct latent_step step;
    double *rows[ROWS];
};

static int compare_down(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Rounds heads of the row MADE, and writes them rotated to y. */
static void rotate(const struct problem *problem, const struct indexer *indexer, size_t heads, size_t position,
                   double *y)
{
    const enum rope_rounding rounding = problem_rounding(problem)->rope;
    const enum dtype dtype = problem->rounding.dtype;
    double *made = indexer->rows[MADE], *turns = indexer->rows[TURNS], *sines = turns + indexer->rope.columns / 2;
    dtype_round(dtype, made, heads * indexer->d);
    rope_turns(&indexer->rope, position, rounding, dtype, turns, sines);
    for (size_t at = 0; at < heads * indexer->d; at += indexer->d)
        rope_rotate(&indexer->rope, turns, sines, rounding, dtype, made + at, y + at);
    dtype_round(dtype, y, heads * indexer->d);
}

/* Makes the query and key of a token, and its scores of the keys up to its own. */
static void score(const struct problem *problem, const struct indexer *indexer, size_t item, size_t token)
{
    const size_t d_in = problem->size.d_in, d = indexer->d, at = item * problem->size.keys + token;
    const size_t position = problem->rotation.positions[at];
    const struct latent_widths widths = latent_widths(problem, PROJECTION_QUERY);
    double *const *rows = indexer->rows, *const *matrices = indexer->matrices;
    tensor_load(&problem->given.inputs, at * d_in, d_in, rows[INPUT]);
    if (stage_applies(problem, STAGE_NORMED))
        norm_input_row(problem, rows[INPUT]);
    projection_row(problem, rows[INPUT], matrices[KEY], NULL, rows[MADE], d_in, d);
    dtype_round(problem->rounding.dtype, rows[MADE], d);
    norm_row(problem, &indexer->norm, 0, rows[MADE], d, rows[MADE]);
    rotate(problem, indexer, 1, position, rows[KEYS] + token * d);
    projection_row(problem, rows[INPUT], matrices[WEIGHTS], NULL, rows[WEIGHT], d_in, indexer->heads);
    latent_row(problem, PROJECTION_QUERY, &indexer->step, rows[INPUT], rows[SCRATCH], rows[MADE]);
    projection_row(problem, rows[SCRATCH] + widths.first, matrices[QUERY], NULL, rows[MADE], widths.rank,
                   indexer->heads * d);
    rotate(problem, indexer, indexer->heads, position, rows[QUERIES]);
    mask_row(&problem->mask, item, 0, token, rows[SCORES]);
    for (size_t i = 0; i < indexer->heads * problem->size.keys; i++) {
        const size_t head = i % indexer->heads, key = i / indexer->heads;
        double dot = 0;
        for (size_t column = 0; column < d && rows[SCORES][key] != -INFINITY; column++)
            dot += rows[QUERIES][head * d + column] * rows[KEYS][key * d + column];
        rows[SCORES][key] += dot > 0 ? rows[WEIGHT][head] * dot : 0;
    }
}

/* Loads the weights; STATUS_USAGE where the layer has none, or others. */
static enum status start(const struct build *build, size_t most, struct indexer *indexer)
{
    static const char *const NAMES[PARTS] = {"index_query.weight", "index_key.weight", "index_weights.weight",
                                             "index_key_norm.weight", "index_key_norm.bias"};
    const struct problem *problem = build->problem;
    const struct latent *latent = &problem->parameters.latent;
    struct tensor parts[PARTS] = {0};
    const bool shares = layer_facts_find(&build->layer->facts, "index_shared") != NULL;
    bool fits = !shares && problem->mask.causal && problem->rotation.rope.kind != ROPE_NONE &&
                !problem->rotation.has_past && !problem->given.is_cross && problem->mask.attn_mask.rank == 0 &&
                latent->query_a.weight.rank > 0;
    for (size_t i = 0; i < PARTS && fits; i++) {
        const struct file_tensor *found = input_file_find(&build->layer->weights, NAMES[i]);
        parts[i] = found != NULL ? found->tensor : (struct tensor){0};
        fits = parts[i].rank == (i < NORM_WEIGHT ? 2U : 1U);
    }
    const size_t d_in = problem->size.d_in, tokens = problem->size.keys, d = parts[KEY].shape[0],
                 heads = parts[WEIGHTS].shape[0],
                 wide = memory_larger(heads * d, problem->size.heads * problem->size.d_head);
    fits = fits && d >= latent->d_rope && parts[QUERY].shape[0] == heads * d && parts[KEY].shape[1] == d_in &&
           parts[QUERY].shape[1] == latent->query_b.weight.shape[1] && parts[WEIGHTS].shape[1] == d_in &&
           parts[NORM_WEIGHT].shape[0] == d && parts[NORM_BIAS].shape[0] == d;
    if (!fits)
        return error_usage(build->error,
                           "%s: index_topk: beyond %zu tokens each query keeps the keys that an indexer %s; expected "
                           "at most %zu tokens",
                           build->layer->weights.source, most,
                           shares ? "chose in an earlier layer, whose inputs attn does not have"
                                  : "chooses, which attn computes of the inputs and weights of one causal layer",
                           most);
    const size_t sizes[ROWS] = {
        d_in, latent_scratch(problem, PROJECTION_QUERY), wide, wide, heads, d, tokens * d, tokens, tokens};
    for (size_t i = 0; i < ROWS; i++)
        indexer->rows[i] = arena_allocate(build->arena, sizes[i], sizeof(double), build->error);
    for (size_t i = QUERY; i <= WEIGHTS && build->error->status == STATUS_OK; i++)
        projection_weight(&(struct projection){.weight = parts[i], .transposed = true}, &indexer->matrices[i],
                          build->arena, build->error);
    indexer->heads = heads;
    indexer->d = d;
    indexer->norm =
        (struct norm){.kind = NORM_LAYER, .eps = 1e-6, .weight = parts[NORM_WEIGHT], .bias = parts[NORM_BIAS]};
    struct rope_settings settings = problem->rotation.settings;
    settings.kind = build->layer->family->indexer;
    settings.columns = latent->d_rope;
    settings.last = false;
    return build->error->status != STATUS_OK ||
                   latent_load(problem, PROJECTION_QUERY, &indexer->step, build->arena, build->error) != STATUS_OK
               ? build->error->status
               : rope_create(&indexer->rope, &settings, d, problem->rotation.highest, build->arena, build->error);
}

enum status build_indexer(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct layer_fact *fact = build->layer != NULL ? layer_facts_find(&build->layer->facts, "index_topk") : NULL;
    const size_t tokens = problem->size.keys, most = fact != NULL ? strtoul(fact->text, NULL, 10) : tokens;
    const size_t shape[] = {problem->size.items, 1, tokens, tokens};
    struct indexer indexer;
    struct tensor made;
    if (fact == NULL && build->layer != NULL && input_file_find(&build->layer->weights, "index_key.weight") != NULL)
        return error_usage(build->error, "%s: the module has an indexer, but no config says how many keys it keeps",
                           build->layer->weights.source);
    if (tokens <= most)
        return STATUS_OK;
    if (start(build, most, &indexer) || tensor_create(&made, DTYPE_BOOL, 4, shape, build->arena, build->error))
        return build->error->status;
    const double *scores = indexer.rows[SCORES], *last = indexer.rows[SORTED] + most - 1;
    for (size_t row = 0; row < problem->size.items * tokens; row++) {
        score(problem, &indexer, row / tokens, row % tokens);
        memcpy(indexer.rows[SORTED], scores, tokens * sizeof *scores);
        qsort(indexer.rows[SORTED], tokens, sizeof *scores, compare_down);
        if (last[0] == last[1] && last[0] != -INFINITY)
            return error_usage(build->error,
                               "%s: two keys of query %zu have the same index score, and the model keeps one of them; "
                               "expected other inputs, or at most %zu tokens",
                               build->inputs->source, row % tokens + 1, most);
        for (size_t key = 0; key < tokens; key++)
            ((uint8_t *)made.data)[row * tokens + key] = (scores[key] >= last[0]) != problem->mask.true_drops;
    }
    memcpy(problem->mask.strides, (const size_t[]){tokens * tokens, 0, tokens, 1}, sizeof problem->mask.strides);
    problem->mask.attn_mask = made;
    problem->masks = true;
    build_keep(build, "attn_mask", &problem->mask.attn_mask);
    return STATUS_OK;
}
