/* SPDX-License-Identifier: MIT */
#include "steps/steps.h"

#include "compute/result.h"
#include "stage/gate.h"

#include <math.h>
#include <string.h>

/* --- what cannot be done in steps --------------------------------------------------------------------------------- */

/* A step adds the keys of its tokens: query i of an item is at key offset + i, which must exist. */
static enum status check_keys(const struct problem *problem, struct error *error)
{
    const char *const hint = problem->mask.lengths != NULL ? "kv_lengths that count the new tokens too"
                                                           : "a key for each query, as with past_key";
    for (size_t item = 0; item < problem->size.items; item++) {
        const int64_t offset = mask_offset(&problem->mask, item, 0);
        if (offset < 0 || (uint64_t)offset + problem->size.queries > problem->size.keys)
            return error_usage(error, "--steps: item %zu has %zu queries, but no key for query %zu; expected %s",
                               item + 1, problem->size.queries, offset < 0 ? (size_t)1 : problem->size.queries, hint);
    }
    return STATUS_OK;
}

enum { MOST_DRAWN = 256 };

static enum status check_sizes(const struct options *options, const struct problem *problem, struct error *error)
{
    const size_t chunk = (size_t)options->chunk, prefill = options->prefill > 0 ? (size_t)options->prefill : chunk;
    const size_t left = problem->size.queries > prefill ? problem->size.queries - prefill : 0;
    if (options_format(options)->pictures && left / chunk >= MOST_DRAWN)
        return error_usage(error, "--format svg draws up to %d steps, but there are %zu; expected a larger --chunk",
                           (int)MOST_DRAWN, 1 + (left + chunk - 1) / chunk);
    if (options->prefill > problem->size.queries)
        return error_usage(error, "--prefill %llu: there are only %zu tokens; expected that many or fewer",
                           (unsigned long long)options->prefill, problem->size.queries);
    return check_keys(problem, error);
}

enum status steps_check(const struct options *options, const struct problem *problem, struct error *error)
{
    const char *name = MECHANISMS[problem->mechanism].name;
    if (problem->mistake.count > 0)
        return error_usage(error, "--steps compares with the correct result; leave out --mistake");
    if (problem->given.is_cross)
        return error_usage(
            error, "--steps: all key inputs are there from the start, so no cache grows; leave out the key inputs");
    if (problem->mask.sequences.count > 0)
        return error_usage(error, "--steps takes one sequence; use an input without cu_seqlens_q");
    if (!problem->mask.causal)
        return error_usage(error,
                           "--steps: this %s is not causal: a token attends to later tokens, which a step does not "
                           "have yet; add --causal",
                           name);
    if (problem->mask.images != NULL)
        return error_usage(error, "--steps: a token of an image attends to later tokens, which a step does not have "
                                  "yet; leave out --token-types");
    const enum mask_rule lifting = mask_lifting(&problem->mask);
    if (lifting != MASK_RULE_COUNT)
        return error_usage(
            error, "--steps: a token attends to some later tokens, which a step does not have yet; leave out --%s",
            MASKS[lifting].option);
    if (problem->chosen.whole_count != problem->size.queries)
        return error_usage(error, "--steps takes all tokens; remove query from the settings");
    if (problem->drop.share > 0)
        return error_usage(error, "--steps: dropout draws for the full table at once, and a model that generates text "
                                  "uses none; type --dropout 0");
    return check_sizes(options, problem, error);
}

/* --- what is allowed and kept ------------------------------------------------------------------------------------- */

struct span steps_allowed(const struct problem *problem, size_t item, size_t first, size_t end)
{
    struct span allowed = mask_span(&problem->mask, item, first);
    allowed.end = mask_span(&problem->mask, item, end - 1).end;
    return allowed;
}

size_t steps_needed(const struct problem *problem, size_t item, size_t query)
{
    const int64_t position = (int64_t)query + mask_offset(&problem->mask, item, 0);
    return problem->mask.left < 0 || position <= problem->mask.left ? 0 : (size_t)(position - problem->mask.left);
}

double steps_bytes(const struct steps *steps, size_t numbers)
{
    return (double)numbers * (double)dtype_size(steps->problem->rounding.dtype);
}

/* Counts cached, made, read and kept of a step whose queries are known. */
static void count_step(const struct problem *problem, struct step *step)
{
    const size_t numbers = problem->size.kv_heads * (problem->size.d_head + problem->size.d_value);
    for (size_t item = 0; item < problem->size.items; item++) {
        const size_t offset = (size_t)mask_offset(&problem->mask, item, 0), start = offset + step->first;
        const struct span allowed = steps_allowed(problem, item, step->first, step->end);
        const size_t cached = allowed.first < start ? memory_smaller(allowed.end, start) - allowed.first : 0;
        step->cached = memory_larger(step->cached, cached);
        step->made = memory_larger(step->made, allowed.end - allowed.first - cached);
        step->read += cached * numbers;
        step->kept += (offset + step->end - steps_needed(problem, item, step->end)) * numbers;
    }
}

/* --- one step ----------------------------------------------------------------------------------------------------- */

struct run {
    const struct problem *problem;
    struct result whole;
    double *rows;               /* (matrices, T, columns) of the whole pass */
    struct tensor keys, values; /* the cache: for each item and head a ring of slots, (B, H_kv, slots, d) */
};

/* Where a row of an item's head lies, of (B, H_kv, rows, d). */
static char *row_of(const struct tensor *tensor, size_t item, size_t head, size_t row)
{
    const size_t *shape = tensor->shape;
    return (char *)tensor->data +
           ((item * shape[1] + head) * shape[2] + row % shape[2]) * shape[3] * dtype_size(tensor->dtype);
}

void steps_copy_rows(const struct tensor *from, size_t from_row, const struct tensor *to, size_t to_row, size_t count,
                     size_t item)
{
    for (size_t head = 0; head < from->shape[1]; head++)
        for (size_t i = 0; i < count; i++)
            memcpy(row_of(to, item, head, to_row + i), row_of(from, item, head, from_row + i),
                   from->shape[3] * dtype_size(from->dtype));
}

/* Copies rows first .. first + count of a tensor whose last axes are rows and columns; of keys, from the offset of
 * the item on. Rank 0 stays so. */
static enum status slice(const struct problem *problem, const struct tensor *tensor, bool of_keys, size_t first,
                         size_t count, struct tensor *sliced, struct arena *arena, struct error *error)
{
    size_t shape[TENSOR_RANK];
    *sliced = *tensor;
    if (tensor->rank == 0)
        return STATUS_OK;
    memcpy(shape, tensor->shape, sizeof shape);
    shape[tensor->rank - 2] = count;
    if (tensor_create(sliced, tensor->dtype, tensor->rank, shape, arena, error) != STATUS_OK)
        return error->status;
    const size_t row = shape[tensor->rank - 1] * dtype_size(tensor->dtype), rows = tensor->shape[tensor->rank - 2];
    const size_t matrices = tensor_count(sliced) / count / shape[tensor->rank - 1];
    for (size_t matrix = 0; matrix < matrices; matrix++) {
        const size_t item = matrix / (matrices / problem->size.items);
        const size_t from = first + (of_keys ? (size_t)mask_offset(&problem->mask, item, 0) : 0);
        memcpy((char *)sliced->data + matrix * count * row, (const char *)tensor->data + (matrix * rows + from) * row,
               count * row);
    }
    return STATUS_OK;
}

/* The positions of the step's tokens, (B, count), from those of all, (B, rows); of keys, from the offset of the item
 * on. */
static const size_t *slice_positions(const struct problem *problem, const size_t *positions, size_t rows, bool of_keys,
                                     const struct step *step, struct arena *arena, struct error *error)
{
    const size_t count = step->end - step->first;
    size_t *sliced = arena_allocate(arena, problem->size.items, count * sizeof *sliced, error);
    for (size_t item = 0; item < problem->size.items && sliced != NULL; item++) {
        const size_t from = of_keys ? (size_t)mask_offset(&problem->mask, item, 0) - problem->rotation.past : 0;
        memcpy(sliced + item * count, positions + item * rows + from + step->first, count * sizeof *sliced);
    }
    return sliced;
}

/* The rotation for the positions so far: some scalings change as a text grows. */
static enum status turn_so_far(struct problem *fresh, const struct problem *problem, const struct step *step,
                               struct arena *arena, struct error *error)
{
    if (problem->rotation.positions == NULL)
        return STATUS_OK;
    fresh->rotation.positions =
        slice_positions(problem, problem->rotation.positions, problem->size.queries, false, step, arena, error);
    fresh->rotation.key_positions =
        slice_positions(problem, problem->rotation.key_positions, problem->size.keys - problem->rotation.past, true,
                        step, arena, error);
    if (fresh->rotation.positions == NULL || fresh->rotation.key_positions == NULL)
        return error->status;
    fresh->rotation.highest = 0;
    for (size_t item = 0; item < problem->size.items; item++)
        fresh->rotation.highest =
            rope_highest(&problem->rotation.settings, problem->rotation.positions + item * problem->size.queries,
                         step->end, fresh->rotation.highest);
    return rope_create(&fresh->rotation.rope, &problem->rotation.settings, problem->size.d_head,
                       fresh->rotation.highest, arena, error);
}

/* What all jobs of some of the tokens share. */
static struct problem part_of(const struct run *run, const struct step *step, size_t keys)
{
    struct problem part = *run->problem;
    part.size.queries = part.chosen.row_count = part.chosen.whole_count = part.mask.queries = step->end - step->first;
    part.size.keys = part.mask.keys = keys;
    part.rotation.has_past = false;
    part.rotation.past = part.given.other_count = 0;
    part.path.fused = run->whole.attention.fused;
    part.path.forced = NULL;
    return part;
}

/* The job of query, key and value of the new tokens alone. */
static enum status make_fresh(const struct run *run, const struct step *step, struct problem *fresh,
                              struct arena *arena, struct error *error)
{
    const struct problem *problem = run->problem;
    const size_t first = step->first, count = step->end - first;
    *fresh = part_of(run, step, count);
    fresh->mask = (struct mask){.queries = count, .keys = count, .masked_keys = count, .left = -1, .right = -1};
    fresh->chosen.stage_count = 0;
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++) {
        fresh->chosen.stages[fresh->chosen.stage_count++] = projection_stage(id);
        if (slice(problem, &problem->given.operands[id], id != PROJECTION_QUERY, first, count,
                  &fresh->given.operands[id], arena, error))
            return error->status;
    }
    if (slice(problem, &problem->given.inputs, false, first, count, &fresh->given.inputs, arena, error) != STATUS_OK)
        return error->status;
    fresh->given.key_inputs = fresh->given.inputs;
    if (gate_make(fresh, gate_sigmoid, arena, error) != STATUS_OK)
        return error->status;
    return turn_so_far(fresh, problem, step, arena, error);
}

/* The mask of these queries, on so many keys. */
static enum status cut_mask(const struct run *run, const struct step *step, struct mask *mask, struct arena *arena,
                            struct error *error)
{
    const struct mask *whole = &run->problem->mask;
    mask->offset = whole->offset + (int64_t)step->first;
    mask->masked_keys = memory_smaller(whole->masked_keys, mask->keys);
    if (whole->attn_mask.rank > 0)
        mask->attn_mask.data =
            (char *)whole->attn_mask.data + step->first * whole->strides[2] * dtype_size(whole->attn_mask.dtype);
    if (whole->lengths == NULL)
        return STATUS_OK;
    int64_t *lengths = arena_allocate(arena, run->problem->size.items, sizeof *lengths, error);
    for (size_t item = 0; item < run->problem->size.items && lengths != NULL; item++)
        lengths[item] = mask_offset(whole, item, 0) + (int64_t)step->end;
    mask->lengths = lengths;
    return lengths == NULL ? error->status : STATUS_OK;
}

/* Keys of the shortest item and of the longest. */
struct extent {
    size_t least, most;
};

/* Keys of an item when all queries before `end` are done. */
static struct extent keys_at(const struct problem *problem, size_t end)
{
    struct extent keys = {SIZE_MAX, 0};
    for (size_t item = 0; item < problem->size.items; item++) {
        const size_t of_item = (size_t)mask_offset(&problem->mask, item, 0) + end;
        keys.least = memory_smaller(keys.least, of_item);
        keys.most = memory_larger(keys.most, of_item);
    }
    return keys;
}

/* The cached keys that the step may see, (B, H_kv, keys, d); zeros in the other places. */
static enum status take(const struct run *run, const struct step *step, const struct tensor *cache, size_t keys,
                        struct tensor *taken, struct arena *arena, struct error *error)
{
    const size_t shape[] = {cache->shape[0], cache->shape[1], keys, cache->shape[3]};
    if (tensor_create(taken, cache->dtype, 4, shape, arena, error) != STATUS_OK)
        return error->status;
    memset(taken->data, 0, tensor_count(taken) * dtype_size(taken->dtype));
    for (size_t item = 0; item < run->problem->size.items; item++) {
        const size_t first = steps_needed(run->problem, item, step->first);
        const size_t end = (size_t)mask_offset(&run->problem->mask, item, 0) + step->end;
        steps_copy_rows(cache, first, taken, first, end - first, item);
    }
    return STATUS_OK;
}

/* The job of the rows, from the new queries and the cache; norm, rotation and scale are already done. */
static enum status make_attending(const struct run *run, const struct step *step, const struct result *fresh,
                                  struct problem *attending, struct arena *arena, struct error *error)
{
    const size_t keys = keys_at(run->problem, step->end).most;
    *attending = part_of(run, step, keys);
    attending->given.gate = fresh->problem->given.gate;
    attending->given.inputs.rank = attending->given.key_inputs.rank = 0;
    attending->given.residual = attending->scaling.on_query = false;
    attending->scaling.growth.by = 0;
    attending->rotation.rope.kind = ROPE_NONE;
    for (int id = NORM_QUERY; id < NORM_COUNT; id++)
        attending->parameters.norms[id].kind = NORM_NONE;
    attending->given.operands[PROJECTION_QUERY] = fresh->attention.held[STAGE_QUERY];
    if (take(run, step, &run->keys, keys, &attending->given.operands[PROJECTION_KEY], arena, error) ||
        take(run, step, &run->values, keys, &attending->given.operands[PROJECTION_VALUE], arena, error))
        return error->status;
    return cut_mask(run, step, &attending->mask, arena, error);
}

/* Compares bits; any NaN equals any other. */
static void compare_row(const double *whole, const double *row, size_t columns, struct step *step)
{
    bool same = true;
    for (size_t i = 0; i < columns; i++) {
        if (isnan(whole[i]) ? isnan(row[i]) : whole[i] == row[i] && !signbit(whole[i]) == !signbit(row[i]))
            continue;
        const double apart = fabs(whole[i] - row[i]);
        same = false;
        if (!isnan(step->largest) && !(apart <= step->largest))
            step->largest = apart;
    }
    step->rows++;
    step->same += same;
}

static void compare_rows(const struct run *run, struct result *result, struct step *step)
{
    const struct result_table *table = &result->tables[0];
    const size_t columns = result_columns(table), queries = run->problem->size.queries;
    for (size_t matrix = 0; matrix < result_matrices(table); matrix++)
        for (size_t row = step->first; row < step->end; row++) {
            result_row(result, table, matrix, row - step->first, result->numbers);
            compare_row(run->rows + (matrix * queries + row) * columns, result->numbers, columns, step);
        }
}

static void keep(const struct run *run, const struct step *step, const struct result *fresh)
{
    const size_t count = step->end - step->first;
    for (size_t item = 0; item < run->problem->size.items; item++) {
        const size_t start = (size_t)mask_offset(&run->problem->mask, item, 0) + step->first;
        steps_copy_rows(&fresh->attention.held[STAGE_KEY], 0, &run->keys, start, count, item);
        steps_copy_rows(&fresh->attention.held[STAGE_VALUE], 0, &run->values, start, count, item);
    }
}

static enum status run_step(const struct run *run, struct step *step, struct error *error)
{
    struct arena arena = {0};
    struct progress none = {0};
    struct problem problems[2];
    struct result results[2];
    if (make_fresh(run, step, &problems[0], &arena, error) == STATUS_OK &&
        result_create(&results[0], &problems[0], &none, false, &arena, error) == STATUS_OK) {
        keep(run, step, &results[0]);
        if (make_attending(run, step, &results[0], &problems[1], &arena, error) == STATUS_OK &&
            result_create(&results[1], &problems[1], &none, false, &arena, error) == STATUS_OK)
            compare_rows(run, &results[1], step);
    }
    arena_free(&arena);
    count_step(run->problem, step);
    return error->status;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

/* The slots of the cache: of a window, what the largest step is allowed of it. */
static size_t count_slots(const struct steps *steps)
{
    const struct problem *problem = steps->problem;
    size_t largest = 0;
    for (size_t i = 0; i < steps->count; i++)
        largest = memory_larger(largest, steps->steps[i].end - steps->steps[i].first);
    const bool all = problem->mask.left < 0 || (uint64_t)problem->mask.left + largest >= problem->size.keys;
    return all ? problem->size.keys : (size_t)problem->mask.left + largest;
}

/* The rows of the whole pass, and a cache with the keys before the first query that it may see. */
static enum status start(struct run *run, const struct steps *steps, struct progress *progress, struct arena *arena,
                         struct error *error)
{
    const struct problem *problem = run->problem;
    const size_t slots = count_slots(steps);
    if (result_create(&run->whole, problem, progress, false, arena, error) != STATUS_OK)
        return error->status;
    const struct result_table *table = &run->whole.tables[0];
    const struct tensor *held = run->whole.attention.held;
    const size_t columns = result_columns(table), rows = result_matrices(table) * problem->size.queries;
    run->rows = arena_allocate(arena, rows, columns * sizeof *run->rows, error);
    for (size_t row = 0; row < rows && run->rows != NULL; row++)
        result_row(&run->whole, table, row / problem->size.queries, row % problem->size.queries,
                   run->rows + row * columns);
    const struct step before = {.first = 0, .end = 0};
    if (run->rows == NULL || take(run, &before, &held[STAGE_KEY], slots, &run->keys, arena, error) ||
        take(run, &before, &held[STAGE_VALUE], slots, &run->values, arena, error))
        return error->status;
    return STATUS_OK;
}

static enum status cut(struct steps *steps, const struct options *options, struct arena *arena, struct error *error)
{
    const size_t queries = steps->problem->size.queries, chunk = (size_t)options->chunk;
    const size_t prefill = options->prefill > 0 ? (size_t)options->prefill : memory_smaller(chunk, queries);
    steps->steps = arena_allocate(arena, queries, sizeof *steps->steps, error);
    for (size_t first = 0, end = prefill; first < queries && steps->steps != NULL;
         first = end, end += memory_smaller(chunk, queries - first))
        steps->steps[steps->count++] = (struct step){.first = first, .end = end};
    return steps->steps == NULL ? error->status : STATUS_OK;
}

static void add_up(struct steps *steps)
{
    struct step *total = &steps->total;
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->steps[i];
        total->read += step->read;
        total->rows += step->rows;
        total->same += step->same;
        total->largest = isnan(step->largest) || step->largest > total->largest ? step->largest : total->largest;
        total->kept = step->kept;
        const struct extent keys = keys_at(steps->problem, step->end);
        steps->remade += keys.most;
        steps->remade_least += keys.least;
    }
    steps->made = steps->problem->size.queries;
}

enum status steps_make(struct steps *steps, const struct options *options, const struct problem *problem,
                       struct progress *progress, struct arena *arena, struct error *error)
{
    struct run run = {.problem = problem};
    *steps = (struct steps){.problem = problem, .stage = problem->chosen.stages[0]};
    if (cut(steps, options, arena, error) || start(&run, steps, progress, arena, error))
        return error->status;
    steps->fused = run.whole.attention.fused;
    progress_begin(progress, "steps", (double)steps->count);
    for (size_t i = 0; i < steps->count; i++) {
        if (run_step(&run, &steps->steps[i], error) != STATUS_OK)
            return error->status;
        progress_update(progress, (double)(i + 1));
    }
    progress_end(progress);
    add_up(steps);
    return STATUS_OK;
}

/* Of the formats that take steps (model/format.h): each its writer. */
#define steps_no NULL
#define STEPS_WRITER(id, name, writer, checker, report, steps, ...) [FORMAT_##id] = steps_##steps,
static steps_writer *const WRITERS[FORMAT_COUNT] = {FORMAT_ROWS(STEPS_WRITER)};

enum status steps_write(const struct steps *steps, const struct options *options, struct output *output,
                        struct arena *arena, struct error *error)
{
    if (WRITERS[options->format](steps, options, output, arena, error) != STATUS_OK)
        output_abandon(output);
    if (output_close(output) != STATUS_OK || steps->total.same == steps->total.rows)
        return error->status;
    return error_quietly(error, STATUS_DIFFERENT);
}
