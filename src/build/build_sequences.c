/* SPDX-License-Identifier: MIT */
/* Concatenated sequences, as in FlashAttention's varlen interface: cu_seqlens_q and cu_seqlens_k have the start of
 * each. */
#include "build/build.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

bool build_has_sequences(const struct build *build)
{
    return input_file_find(build->inputs, "cu_seqlens_q") != NULL ||
           input_file_find(build->inputs, "cu_seqlens_k") != NULL;
}

/* Reads number `at` of the list, which starts at 0 and never decreases. */
static enum status take_start(const struct build *build, const char *name, const struct tensor *tensor, size_t at,
                              int64_t *starts)
{
    const char *source = build->inputs->source;
    double start;
    tensor_load(tensor, at, 1, &start);
    if (!(start >= 0 && start <= 0x1p53 && start == floor(start)))
        return error_usage(build->error, "%s: %s: number %zu is %g; expected a whole number from 0 on", source, name,
                           at + 1, start);
    if (at == 0 && start != 0)
        return error_usage(build->error, "%s: %s begins with %.0f; expected 0, where the first sequence begins", source,
                           name, start);
    if (at > 0 && start < (double)starts[at - 1])
        return error_usage(build->error,
                           "%s: %s: number %zu is %.0f, less than the %lld before it; expected where the next sequence "
                           "begins",
                           source, name, at + 1, start, (long long)starts[at - 1]);
    starts[at] = (int64_t)start;
    return STATUS_OK;
}

enum status build_starts(const struct build *build, const char *name, size_t *count, int64_t **starts)
{
    const struct file_tensor *found = input_file_find(build->inputs, name);
    const char *source = build->inputs->source;
    if (found == NULL)
        return STATUS_OK;
    const struct tensor *tensor = &found->tensor;
    if (dtype_is_boolean(tensor->dtype))
        return error_usage(build->error, "%s: %s holds booleans; expected whole numbers", source, name);
    if (tensor->rank != 1 || tensor->shape[0] < 2)
        return error_usage(build->error, "%s: %s is %s; expected a list: 0, and where each sequence ends", source, name,
                           SHAPE_TEXT(tensor));
    *starts = arena_allocate(build->arena, tensor->shape[0], sizeof **starts, build->error);
    for (size_t i = 0; i < tensor->shape[0]; i++)
        if (*starts == NULL || take_start(build, name, tensor, i, *starts) != STATUS_OK)
            return build->error->status;
    *count = tensor->shape[0] - 1;
    return STATUS_OK;
}

/* Reads one of the lists, which must end at `total`, the rows of `rows`. *starts is NULL where the file has none. */
static enum status take_starts(const struct build *build, const char *name, size_t total, const char *rows,
                               size_t *sequences, int64_t **starts)
{
    if (build_starts(build, name, sequences, starts) != STATUS_OK)
        return build->error->status;
    if (*starts == NULL)
        return STATUS_OK;
    if ((*starts)[*sequences] != (int64_t)total)
        return error_usage(build->error, "%s: %s ends at %lld; expected %zu, the rows of %s", build->inputs->source,
                           name, (long long)(*starts)[*sequences], total, rows);
    build_keep(build, name, &(struct tensor){.rank = 1, .shape = {*sequences + 1}, DTYPE_I64, *starts});
    return STATUS_OK;
}

/* Rejects other inputs about positions, and what spans all sequences: --empty-row mean, and a page. */
static enum status check_alone(const struct build *build)
{
    static const char *const OTHERS[] = {"past_key", "past_value", "kv_lengths"};
    const bool in_pages = build_has_pages(build); /* which may have lengths */
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
        if (input_file_find(build->inputs, OTHERS[i]) != NULL && !(in_pages && strcmp(OTHERS[i], "kv_lengths") == 0))
            return error_usage(build->error, "%s: %s and cu_seqlens_q exclude each other; leave one out",
                               build->inputs->source, OTHERS[i]);
    if (build->options->empty_row == EMPTY_ROW_MEAN)
        return error_usage(build->error, "%s mean would need values of other sequences; type zero or nan",
                           BUILD_PLACE(build, OPTION_EMPTY_ROW));
    if (options_format(build->options)->computes)
        return error_usage(build->error, "%s: a page draws one sequence; type attn sdpa with another --format",
                           build->inputs->source);
    return STATUS_OK;
}

/* Sets the keys of each sequence, by default like the queries. */
static enum status take_keys(const struct build *build, const struct build_pages *pages, size_t count,
                             const int64_t *queries, const int64_t **keys)
{
    const struct problem *problem = build->problem;
    size_t of_keys = count;
    int64_t *own = NULL;
    if (take_starts(build, "cu_seqlens_k", problem->size.keys, pages != NULL ? "the pages" : "key", &of_keys, &own))
        return build->error->status;
    if (queries == NULL)
        return error_usage(build->error, "%s: cu_seqlens_k without cu_seqlens_q; give both, or cu_seqlens_q alone",
                           build->inputs->source);
    *keys = pages != NULL ? pages->starts : own != NULL ? own : queries;
    if (*keys == queries && problem->size.keys != problem->size.queries)
        return error_usage(
            build->error,
            "%s: query has %zu tokens, key has %zu; give the same number, or add cu_seqlens_k to cu_seqlens_q",
            build->inputs->source, problem->size.queries, problem->size.keys);
    if (of_keys != count)
        return error_usage(build->error,
                           "%s: cu_seqlens_q has %zu sequence%s, cu_seqlens_k %zu; expected the same number",
                           build->inputs->source, count, count == 1 ? "" : "s", of_keys);
    return STATUS_OK;
}

enum status build_sequences(const struct build *build, const struct build_pages *pages)
{
    struct problem *problem = build->problem;
    struct mask_sequences *sequences = &problem->mask.sequences;
    const int64_t *keys = NULL;
    int64_t *queries = NULL;
    size_t count = 0;
    if (!build_has_sequences(build))
        return STATUS_OK;
    if (check_alone(build) || take_starts(build, "cu_seqlens_q", problem->size.queries, "query", &count, &queries) ||
        take_keys(build, pages, count, queries, &keys))
        return build->error->status;
    size_t *of_query = arena_allocate(build->arena, problem->size.queries, sizeof *of_query, build->error);
    if (of_query == NULL)
        return build->error->status;
    for (size_t i = 0; i < count; i++)
        for (int64_t query = queries[i]; query < queries[i + 1]; query++)
            of_query[query] = i;
    const bool from_end = !options_said(build->options, OPTION_ALIGN) || build->options->align == ALIGN_BOTTOM_RIGHT;
    *sequences = (struct mask_sequences){count, queries, keys, of_query, from_end};
    problem->mask.offset = 0;
    return STATUS_OK;
}

static enum status make_labels(const struct build *build, const int64_t *starts, size_t sequences,
                               struct token_labels *labels)
{
    const size_t count = (size_t)starts[sequences];
    char text[48];
    *labels = (struct token_labels){.lists = 1, .count = count};
    labels->texts = arena_allocate(build->arena, count, sizeof labels->texts[0], build->error);
    for (size_t i = 0; i < sequences && labels->texts != NULL; i++)
        for (int64_t token = starts[i]; token < starts[i + 1]; token++) {
            const int length = snprintf(text, sizeof text, "%zu.%" PRId64, i + 1, token - starts[i] + 1);
            labels->texts[token] = arena_text(build->arena, text, (size_t)length, build->error);
            if (labels->texts[token] == NULL)
                return build->error->status;
        }
    return labels->texts == NULL ? build->error->status : STATUS_OK;
}

enum status build_sequence_labels(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct mask_sequences *sequences = &problem->mask.sequences;
    if (sequences->count == 0 || problem->labels.keys.texts != NULL || problem->labels.queries.texts != NULL)
        return STATUS_OK;
    problem->labels.queries_differ = mask_sequences_differ(&problem->mask);
    if (make_labels(build, sequences->key_starts, sequences->count, &problem->labels.keys) != STATUS_OK)
        return build->error->status;
    return problem->labels.queries_differ
               ? make_labels(build, sequences->query_starts, sequences->count, &problem->labels.queries)
               : STATUS_OK;
}
