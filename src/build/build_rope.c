/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include <stdlib.h>
#include <string.h>

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

/* Masks the keys of other windows or frames, as document_ids does; `groups` has the group of each patch. */
static enum status mask_groups(const struct build *build, int64_t *groups, size_t patches)
{
    struct problem *problem = build->problem;
    const struct mask_given *given = &problem->mask.given[MASK_DOCUMENT];
    const bool alone = patches == problem->size.keys, same = given->ids != NULL && given->lists == 1 && alone &&
                                                             memcmp(given->ids, groups, patches * sizeof *groups) == 0;
    if (groups[patches - 1] == 0 || same)
        return STATUS_OK;
    if (!alone || given->ids != NULL)
        return error_usage(build->error, "%s %.40s: the grid masks keys of other windows or frames; expected no %s",
                           BUILD_PLACE(build, OPTION_POSITIONS), build->options->positions,
                           alone ? "document_ids" : "other tokens and no past");
    problem->masks = true;
    return build_ids(build, MASK_DOCUMENT, &(struct tensor){.rank = 1, .shape = {patches}, DTYPE_I64, groups});
}

/* The coordinates of grid:HxW, or grid:TxHxW of frames; other tokens stay unrotated if the axes say so. */
static enum status list_grid(const struct build *build, const struct rope_settings *settings, double *coordinates,
                             size_t *listed, size_t fresh)
{
    const struct rope_axes *axes = &settings->axes;
    const char *place = BUILD_PLACE(build, OPTION_POSITIONS), *text = build->options->positions,
               *next = text + strlen("grid:");
    const size_t rest = axes->rest_first + axes->rest_last;
    char less[40] = "";
    size_t sizes[ROPE_AXES] = {1, 1, 1}, patches = 1, axis = strchr(next, 'x') == strrchr(next, 'x');
    for (char *end; axis < ROPE_AXES && text_is_digit(*next); next = *end == 'x' ? end + 1 : end) {
        const unsigned long long size = strtoull(next, &end, 10);
        sizes[axis++] = size > fresh ? fresh + 1 : (size_t)size;
        patches = memory_smaller(patches * sizes[axis - 1], fresh + 1);
    }
    const bool frames =
        sizes[0] > 1 && !axes->has[0] && axes->frames_apart + axes->frames_joint + axes->windows_apart == 0;
    if (axis < ROPE_AXES || *next != '\0' || next[-1] == 'x' || patches == 0 || frames)
        return error_usage(build->error, "%s '%.40s' is no grid%s; expected grid:HxW, as in grid:4x6", place, text,
                           frames ? " of these axes" : "");
    if (rest > 0)
        snprintf(less, sizeof less, ", less %zu unrotated", rest);
    if (patches + rest != fresh)
        return error_usage(build->error, "%s %.40s has %s positions than the %zu tokens%s; expected one for each",
                           place, text, patches + rest > fresh ? "more" : "fewer", fresh, less);
    int64_t *groups = arena_allocate(build->arena, fresh, sizeof *groups, build->error);
    for (size_t i = 0; i < fresh; i++)
        listed[i] = i >= axes->rest_first && i < axes->rest_first + patches ? i - axes->rest_first : SIZE_MAX;
    return groups == NULL || rope_grid(axes, sizes, settings->in_double, coordinates, groups, build->error) != STATUS_OK
               ? build->error->status
               : mask_groups(build, groups, patches);
}

/* The coordinates of rows of positions, of time, height and width, with ';' between them. */
static enum status list_rows(const struct build *build, const struct rope_axes *axes, double *coordinates,
                             size_t *listed, size_t fresh)
{
    static const char *const NAMES[] = {"time", "height", "width"};
    const bool by_grid = axes->centred || axes->from > 0;
    size_t rows = 0;
    char *row = arena_copy(build->arena, build->options->positions, build->error), *end = row;
    for (size_t axis = 0; axis < ROPE_AXES && end != NULL && !by_grid; axis++) {
        if (!axes->has[axis])
            continue;
        row = rows++ > 0 ? end + 1 : row;
        end = strchr(row, ';');
        if (end != NULL)
            *end = '\0';
        if (build_numbers(build, OPTION_POSITIONS, row, NAMES[axis], parse_item, listed, fresh) != STATUS_OK)
            return build->error->status;
        for (size_t i = 0; i < fresh; i++)
            coordinates[i * ROPE_AXES + axis] = (double)listed[i];
    }
    if (row != NULL && (rows < axes->count || end != NULL))
        return error_usage(build->error, "%s '%.40s': expected grid:HxW%s", BUILD_PLACE(build, OPTION_POSITIONS),
                           build->options->positions, by_grid ? "" : ", or a row for each axis with ';' between them");
    for (size_t i = 0; i < fresh; i++)
        listed[i] = i;
    return build->error->status;
}

/* Lists the position of each new key: a number, or a row of coordinates. */
static enum status read_positions(const struct build *build, struct rope_settings *settings, size_t *listed,
                                  size_t fresh)
{
    const char *text = build->options->positions;
    const bool is_grid = strncmp(text, "grid:", strlen("grid:")) == 0, has_rows = is_grid || strchr(text, ';') != NULL;
    if (settings->axes.count == 0 && has_rows)
        return error_usage(build->error, "%s has several axes, but the rotation has one; set --rope-axes",
                           BUILD_PLACE(build, OPTION_POSITIONS));
    if (!has_rows && (settings->axes.count == 0 || settings->axes.has[0]))
        return build_numbers(build, OPTION_POSITIONS, text, "position", parse_item, listed, fresh);
    double *coordinates = arena_allocate(build->arena, fresh * ROPE_AXES, sizeof *coordinates, build->error);
    if (coordinates == NULL)
        return build->error->status;
    memset(coordinates, 0, fresh * ROPE_AXES * sizeof *coordinates);
    settings->coordinates = coordinates;
    return is_grid ? list_grid(build, settings, coordinates, listed, fresh)
                   : list_rows(build, &settings->axes, coordinates, listed, fresh);
}

/* Sets the positions of new keys by --positions, and of queries by the keys at their positions. */
static enum status list_positions(const struct build *build, struct rope_settings *settings, size_t *queries,
                                  size_t *keys)
{
    const struct problem *problem = build->problem;
    const size_t fresh = problem->size.keys - problem->rotation.past;
    size_t *listed = arena_allocate(build->arena, fresh, sizeof *listed, build->error);
    if (listed == NULL || read_positions(build, settings, listed, fresh) != STATUS_OK)
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

/* --- the rotation ------------------------------------------------------------------------------------------------- */

/* Rejects options of RoPE without RoPE, which attn would ignore. */
static enum status check_alone(const struct build *build)
{
    static const enum option_id IDS[] = {OPTION_ROPE_THETA, OPTION_ROPE_COLUMNS, OPTION_ROPE_SCALING, OPTION_ROPE_AXES,
                                         OPTION_POSITIONS};
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
    struct rope_settings settings = {.kind = options->rope,
                                     .theta = options->rope_theta,
                                     .columns = options->rope_columns,
                                     .last = options->rope_last,
                                     .in_double = problem->rounding.dtype == DTYPE_F64 &&
                                                  options->rounding != ROUNDING_TRANSFORMERS,
                                     .scaling = options->rope_scaling,
                                     .axes = options->rope_axes};
    if (settings.kind == ROPE_NONE && (options->query_growth.by == 0 || check_alone(build) != STATUS_OK))
        return check_alone(build);
    const size_t queries = problem->size.items * problem->size.queries,
                 keys = problem->size.items * (problem->size.keys - problem->rotation.past);
    size_t *of_queries = arena_allocate(build->arena, queries, sizeof *of_queries, build->error);
    size_t *of_keys = arena_allocate(build->arena, keys, sizeof *of_keys, build->error);
    if (of_queries == NULL || of_keys == NULL)
        return build->error->status;
    count_positions(problem, of_queries, of_keys);
    if (options->positions != NULL && list_positions(build, &settings, of_queries, of_keys) != STATUS_OK)
        return build->error->status;
    if (options->positions == NULL && settings.axes.count > 0 && (!settings.axes.has[0] || settings.axes.merge > 0))
        return error_usage(build->error,
                           "the rotation is by row and column of a picture's patches; set --positions grid:HxW");
    if (options->positions == NULL)
        restart_positions(&problem->mask, of_queries, of_keys);
    problem->rotation.positions = of_queries;
    problem->rotation.key_positions = of_keys;
    problem->rotation.settings = settings;
    const size_t highest_query = rope_highest(&settings, of_queries, queries, 0);
    problem->rotation.highest = rope_highest(&settings, of_keys, keys, highest_query);
    if (highest_query + options->query_growth.ahead >= options->query_growth.every)
        problem->scaling.growth = options->query_growth;
    if (rope_create(&problem->rotation.rope, &settings, problem->size.d_head, problem->rotation.highest, build->arena,
                    build->error) != STATUS_OK)
        return build->error->status;
    const enum norm_kind kind = problem->parameters.norms[NORM_QUERY].kind;
    const bool last = problem->rounding.family != NULL && problem->rounding.family->rounding.norm_last;
    return !last || kind == NORM_NONE || (problem->rotation.rope.attention == 1 && kind != NORM_LAYER)
               ? STATUS_OK
               : error_usage(build->error, "the model normalises after the rotation; expected --qk-norm rms, and a "
                                           "--rope-scaling without a factor of cosine and sine");
}
