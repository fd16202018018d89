/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include "cli/option_text.h"
#include "problem/shard.h"

#include <string.h>

static enum status note_line(const struct build *build)
{
    char *bytes = arena_allocate(build->arena, OPTION_LINE_BYTES, 1, build->error);
    if (bytes == NULL)
        return build->error->status;
    struct text line = text_begin(bytes, OPTION_LINE_BYTES);
    options_part_line(build->options, &line);
    build->problem->chosen.part_line = line.cut ? NULL : bytes;
    return STATUS_OK;
}

static enum status select_part(const struct build *build)
{
    struct problem *problem = build->problem;
    const size_t part = build->options->part, parts = build->options->parts;
    if (parts == 0)
        return STATUS_OK;
    if (parts > problem->chosen.row_count)
        return error_usage(build->error, "--part %s: there are only %zu queries; ask for at most that many parts",
                           build->options->part_text, problem->chosen.row_count);
    if (!options_format(build->options)->holds_part)
        return error_usage(build->error, "--part writes .safetensors; type --out PART.safetensors");
    shard_select(problem, part, parts);
    return note_line(build);
}

enum status build_queries(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct token_labels *labels = problem_tokens(problem);
    const struct build_tokens tokens = {problem_query_labels(problem, 0), labels->lists, labels->count,
                                        problem->size.queries, NULL};
    bool *chosen = arena_allocate(build->arena, problem->size.queries, sizeof *chosen, build->error);
    problem->chosen.rows =
        arena_allocate(build->arena, problem->size.queries, sizeof *problem->chosen.rows, build->error);
    if (chosen == NULL || problem->chosen.rows == NULL)
        return build->error->status;
    memset(chosen, true, problem->size.queries);
    const char *place = BUILD_PLACE(build, OPTION_QUERY);
    if (build->options->query != NULL && build_list(build, place, build->options->query, &tokens, chosen) != STATUS_OK)
        return build->error->status;
    for (size_t token = 0; token < problem->size.queries; token++)
        if (chosen[token])
            problem->chosen.rows[problem->chosen.row_count++] = token;
    problem->chosen.whole_count = problem->chosen.row_count;
    return select_part(build);
}
