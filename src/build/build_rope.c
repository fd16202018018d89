/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include <stdlib.h>

/* --- positions ---------------------------------------------------------------------------------------------------- */

/* Adds one item of the list, "4" or "4-9", to the positions, of which there are *count. */
static enum status parse_item(const struct build *build, const char *place, const char *item, size_t length,
                              size_t *positions, size_t most, size_t *count)
{
    char *end;
    const bool digit = text_is_digit(item[0]);
    const unsigned long long first = digit ? strtoull(item, &end, 10) : 0;
    const bool range = digit && *end == '-' && text_is_digit(end[1]);
    const unsigned long long last = range ? strtoull(end + 1, &end, 10) : first;
    if (!digit || end != item + length || last > ROPE_POSITION_LIMIT)
        return error_usage(build->error,
                           "%s: '%.*s' is not a position; expected whole numbers from 0 on, as in 0,1,4-9", place,
                           (int)memory_smaller(length, 40), item);
    if (last < first)
        return error_usage(build->error, "%s: %.*s runs backwards; expected %llu-%llu", place,
                           (int)memory_smaller(length, 40), item, last, first);
    for (unsigned long long position = first; position <= last; position++) {
        if (*count == most)
            return error_usage(build->error, "%s gives more than %zu positions; expected one for each token", place,
                               most);
        positions[(*count)++] = (size_t)position;
    }
    return STATUS_OK;
}

/* Keys have the positions 0, 1, ..., new ones after the past; queries those that the mask gives them. */
static void count_positions(const struct problem *problem, size_t *queries, size_t *keys)
{
    const size_t fresh = problem->size.keys - problem->rotation.past;
    for (size_t item = 0; item < problem->size.items; item++) {
        for (size_t i = 0; i < problem->size.queries; i++) {
            const int64_t offset = problem->given.is_cross ? 0 : mask_offset(&problem->mask, item, i);
            queries[item * problem->size.queries + i] = (int64_t)i + offset > 0 ? (size_t)((int64_t)i + offset) : 0;
        }
        for (size_t i = 0; i < fresh; i++)
            keys[item * fresh + i] = problem->rotation.past + i;
    }
}

/* Counts from 0 in each sequence. */
static void restart_positions(const struct mask *mask, size_t *queries, size_t *keys)
{
    const struct mask_sequences *sequences = &mask->sequences;
    for (size_t i = 0; i < mask->queries && sequences->count > 0; i++) {
        const size_t first = mask_sequence(mask, i).first;
        queries[i] = queries[i] > first ? queries[i] - first : 0;
    }
    for (size_t i = 0; i < sequences->count; i++)
        for (int64_t key = sequences->key_starts[i]; key < sequences->key_starts[i + 1]; key++)
            keys[key] = (size_t)(key - sequences->key_starts[i]);
}

/* Sets the positions of new keys by --positions, and of queries by the keys at their positions. */
static enum status list_positions(const struct build *build, size_t *queries, size_t *keys)
{
    const struct problem *problem = build->problem;
    const size_t fresh = problem->size.keys - problem->rotation.past;
    size_t *listed = arena_allocate(build->arena, fresh, sizeof *listed, build->error);
    if (listed == NULL || build_numbers(build, OPTION_POSITIONS, build->options->positions, "position", parse_item,
                                        listed, fresh) != STATUS_OK)
        return build->error->status;
    for (size_t i = 0; i < problem->size.items * problem->size.queries; i++) {
        const size_t at = queries[i] - problem->rotation.past;
        if (queries[i] < problem->rotation.past || at >= fresh ||
            queries[i] < mask_sequence(&problem->mask, i % problem->size.queries).first)
            return error_usage(build->error, "--positions: query %zu has the position of none of the %zu new keys",
                               i % problem->size.queries + 1, fresh);
        queries[i] = listed[at];
    }
    for (size_t i = 0; i < problem->size.items * fresh; i++)
        keys[i] = listed[i % fresh];
    return STATUS_OK;
}

static size_t highest_of(const size_t *positions, size_t count)
{
    size_t highest = 0;
    for (size_t i = 0; i < count; i++)
        highest = memory_larger(highest, positions[i]);
    return highest;
}

/* --- the rotation ------------------------------------------------------------------------------------------------- */

/* Rejects options of RoPE without RoPE, which attn would ignore. */
static enum status check_alone(const struct build *build)
{
    static const enum option_id IDS[] = {OPTION_ROPE_THETA, OPTION_ROPE_COLUMNS, OPTION_ROPE_SCALING, OPTION_POSITIONS};
    for (size_t i = 0; i < sizeof IDS / sizeof IDS[0]; i++) {
        const enum origin origin = build->options->origin[IDS[i]];
        if (origin == ORIGIN_COMMAND_LINE || (origin == ORIGIN_FILE && !build->inputs->is_result))
            return error_usage(build->error, "%s needs a rotation; add --rope half or pairs",
                               BUILD_PLACE(build, IDS[i]));
    }
    return STATUS_OK;
}

enum status build_rope(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    const struct rope_settings settings = {.kind = options->rope,
                                           .theta = options->rope_theta,
                                           .columns = options->rope_columns,
                                           .last = options->rope_last,
                                           .in_double = problem->rounding.dtype == DTYPE_F64 &&
                                                        options->rounding != ROUNDING_TRANSFORMERS,
                                           .scaling = options->rope_scaling};
    if (settings.kind == ROPE_NONE && (options->query_growth.by == 0 || check_alone(build) != STATUS_OK))
        return check_alone(build);
    const size_t queries = problem->size.items * problem->size.queries,
                 keys = problem->size.items * (problem->size.keys - problem->rotation.past);
    size_t *of_queries = arena_allocate(build->arena, queries, sizeof *of_queries, build->error);
    size_t *of_keys = arena_allocate(build->arena, keys, sizeof *of_keys, build->error);
    if (of_queries == NULL || of_keys == NULL)
        return build->error->status;
    count_positions(problem, of_queries, of_keys);
    if (options->positions == NULL)
        restart_positions(&problem->mask, of_queries, of_keys);
    else if (list_positions(build, of_queries, of_keys) != STATUS_OK)
        return build->error->status;
    problem->rotation.positions = of_queries;
    problem->rotation.key_positions = of_keys;
    problem->rotation.settings = settings;
    problem->rotation.highest = memory_larger(highest_of(of_queries, queries), highest_of(of_keys, keys));
    if (highest_of(of_queries, queries) + options->query_growth.ahead >= options->query_growth.every)
        problem->scaling.growth = options->query_growth;
    return rope_create(&problem->rotation.rope, &settings, problem->size.d_head, problem->rotation.highest,
                       build->arena, build->error);
}
