/* SPDX-License-Identifier: MIT */
/* Key and value in pages, as in vLLM, FlashInfer and FlashAttention: block_table lists the pages of each item. */
#include "build/build.h"

#include <math.h>
#include <string.h>

bool build_has_pages(const struct build *build)
{
    return input_file_find(build->inputs, "block_table") != NULL;
}

/* --- what goes with them ------------------------------------------------------------------------------------------ */

static enum status check_beside(const struct build *build)
{
    static const char *const OTHERS[] = {"key", "value", "past_key", "past_value"};
    const bool in_sequence = build_has_sequences(build), ends = input_file_find(build->inputs, "cu_seqlens_k") != NULL;
    const char *const needed[] = {"key_cache", "value_cache", in_sequence ? "cu_seqlens_q" : "kv_lengths",
                                  ends ? "cu_seqlens_k" : "kv_lengths"};
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0] && !build->inputs->is_result; i++)
        if (input_file_find(build->inputs, OTHERS[i]) != NULL)
            return error_usage(
                build->error,
                "%s: %s does not go with block_table; put keys and values into key_cache and value_cache alone",
                build->inputs->source, OTHERS[i]);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (input_file_find(build->inputs, needed[i]) == NULL)
            return error_usage(build->error,
                               "%s: no \"%s\"; with block_table, sdpa expects query, key_cache, value_cache and %s",
                               build->inputs->source, needed[i],
                               in_sequence ? "cu_seqlens_q, and kv_lengths or cu_seqlens_k" : "kv_lengths");
    if (ends && input_file_find(build->inputs, "kv_lengths") != NULL)
        return error_usage(build->error,
                           "%s: kv_lengths and cu_seqlens_k both say how many keys a sequence has; leave one out",
                           build->inputs->source);
    if (build->options->empty_row == EMPTY_ROW_MEAN)
        return error_usage(build->error, "%s mean would need values that no page holds; type zero or nan",
                           BUILD_PLACE(build, OPTION_EMPTY_ROW));
    return STATUS_OK;
}

/* The number of keys per item, (B): from kv_lengths, or from the ends of sequences. */
struct lengths {
    const char *name, *item;
    struct tensor numbers;
};

static enum status find_lengths(const struct build *build, bool in_sequence, struct lengths *lengths)
{
    const struct file_tensor *found = input_file_find(build->inputs, "kv_lengths");
    int64_t *starts = NULL;
    size_t count = 0;
    *lengths = (struct lengths){"kv_lengths", in_sequence ? "sequence" : "item", {0}};
    if (found != NULL) {
        lengths->numbers = found->tensor;
        return STATUS_OK;
    }
    lengths->name = "cu_seqlens_k";
    if (build_starts(build, lengths->name, &count, &starts) != STATUS_OK)
        return build->error->status;
    for (size_t i = 0; i < count; i++)
        starts[i] = starts[i + 1] - starts[i];
    lengths->numbers = (struct tensor){.rank = 1, .shape = {count}, .dtype = DTYPE_I64, .data = starts};
    return STATUS_OK;
}

/* Checks block_table (B, pages of an item), lengths (B), and two caches of equal pages and tokens. */
static enum status check_shapes(const struct build *build, size_t items, const struct tensor *table,
                                const struct lengths *of)
{
    const struct tensor *lengths = &of->numbers;
    const struct tensor *key = &input_file_find(build->inputs, "key_cache")->tensor;
    const struct tensor *value = &input_file_find(build->inputs, "value_cache")->tensor;
    const char *source = build->inputs->source;
    if (key->rank != 4)
        return error_usage(build->error, "%s: key_cache is %s; expected pages x tokens of a page x heads x d", source,
                           SHAPE_TEXT(key));
    if (value->rank != 4 || memcmp(key->shape, value->shape, 3 * sizeof key->shape[0]) != 0)
        return error_usage(
            build->error, "%s: value_cache is %s, key_cache is %s; expected the same number of pages, tokens and heads",
            source, SHAPE_TEXT(value), SHAPE_TEXT(key));
    if (dtype_is_boolean(table->dtype) || table->rank != 2 || table->shape[0] != items)
        return error_usage(
            build->error, "%s: block_table is %s%s; expected %zu x pages, whole numbers, a row for each %s of query",
            source, SHAPE_TEXT(table), dtype_is_boolean(table->dtype) ? " booleans" : "", items, of->item);
    if (strcmp(of->name, "kv_lengths") != 0 && lengths->shape[0] != items)
        return error_usage(build->error,
                           "%s: cu_seqlens_q has %zu sequence%s, cu_seqlens_k %zu; expected the same number", source,
                           items, items == 1 ? "" : "s", lengths->shape[0]);
    if (dtype_is_boolean(lengths->dtype) || lengths->rank != 1 || lengths->shape[0] != items)
        return error_usage(build->error, "%s: kv_lengths is %s%s; expected %zu whole numbers, one for each %s of query",
                           source, SHAPE_TEXT(lengths), dtype_is_boolean(lengths->dtype) ? " booleans" : "", items,
                           of->item);
    return STATUS_OK;
}

/* --- which pages are read ----------------------------------------------------------------------------------------- */

/* New numbers of the pages that attn reads, by first use. */
struct numbering {
    size_t *number; /* (pages) from 1; 0: not read */
    size_t *filled; /* (pages) tokens that attn reads, by the new number */
};

static enum status take_length(const struct build *build, const struct lengths *lengths, size_t item,
                               struct build_pages *pages, size_t *length)
{
    const size_t most = pages->per_item * pages->size;
    double number;
    tensor_load(&lengths->numbers, item, 1, &number);
    if (!(number >= 0 && number <= (double)most && number == floor(number)))
        return error_usage(build->error,
                           "%s: %s: the length of %s %zu is %g, and block_table has %zu pages of %zu for it; expected "
                           "a whole number, 0..%zu",
                           build->inputs->source, lengths->name, lengths->item, item + 1, number, pages->per_item,
                           pages->size, most);
    *length = (size_t)number;
    if (!pages->in_sequence)
        pages->keys = memory_larger(pages->keys, *length);
    else
        pages->starts[item + 1] = pages->starts[item] + (int64_t)*length;
    return STATUS_OK;
}

/* Takes one entry of the table: attn reads `count` tokens of the page. */
static enum status take_page(const struct build *build, const struct tensor *table, const char *says, size_t item,
                             size_t at, size_t count, size_t all, struct build_pages *pages,
                             const struct numbering *numbering)
{
    double page;
    tensor_load(table, item * pages->per_item + at, 1, &page);
    if (!(page >= 0 && page < (double)all && page == floor(page)))
        return error_usage(build->error, "%s: block_table[%zu][%zu] is page %g of %zu, and %s uses it; expected 0..%zu",
                           build->inputs->source, item, at, page, all, says, all - 1);
    size_t *number = &numbering->number[(size_t)page];
    if (*number == 0) {
        pages->from[pages->count] = (size_t)page;
        *number = ++pages->count;
    }
    pages->table[item * pages->per_item + at] = (int64_t)*number - 1;
    numbering->filled[*number - 1] = memory_larger(numbering->filled[*number - 1], count);
    return STATUS_OK;
}

static enum status take_item(const struct build *build, const struct tensor *table, const struct lengths *lengths,
                             size_t item, size_t all, struct build_pages *pages, const struct numbering *numbering)
{
    size_t length = 0;
    if (take_length(build, lengths, item, pages, &length) != STATUS_OK)
        return build->error->status;
    pages->lengths[item] = length;
    for (size_t at = 0; at < pages->per_item; at++) {
        const size_t first = at * pages->size;
        pages->table[item * pages->per_item + at] = -1;
        if (first < length &&
            take_page(build, table, lengths->name, item, at, memory_smaller(pages->size, length - first), all, pages,
                      numbering) != STATUS_OK)
            return build->error->status;
    }
    return STATUS_OK;
}

/* Keeps table and caches as in the file, for mistakes. */
static enum status keep_as_given(const struct build *build, const struct tensor *table, const struct build_pages *read)
{
    const size_t entries = tensor_count(table);
    struct problem_pages *kept = arena_allocate(build->arena, 1, sizeof *kept, build->error);
    int64_t *pages = arena_allocate(build->arena, entries, sizeof *pages, build->error);
    if (kept == NULL || pages == NULL)
        return build->error->status;
    *kept = (struct problem_pages){.items = read->items,
                                   .per_item = read->per_item,
                                   .table = pages,
                                   .lengths = read->lengths,
                                   .starts = read->starts};
    kept->caches[PROJECTION_KEY] = input_file_find(build->inputs, "key_cache")->tensor;
    kept->caches[PROJECTION_VALUE] = input_file_find(build->inputs, "value_cache")->tensor;
    kept->count = kept->caches[PROJECTION_KEY].shape[0];
    kept->size = kept->caches[PROJECTION_KEY].shape[1];
    for (size_t i = 0; i < entries; i++) {
        double page;
        tensor_load(table, i, 1, &page);
        pages[i] = page >= 0 && page < (double)kept->count && page == floor(page) ? (int64_t)page : -1;
    }
    build->problem->given.pages = kept;
    return STATUS_OK;
}

/* Copies the tokens of one cache that attn reads; others are 0. */
static enum status copy_pages(const struct build *build, const char *name, const struct build_pages *pages,
                              const size_t *filled, struct tensor *copy)
{
    const struct tensor *cache = &input_file_find(build->inputs, name)->tensor;
    const size_t shape[] = {memory_larger(pages->count, 1), pages->size, cache->shape[2], cache->shape[3]};
    const size_t token = shape[2] * shape[3] * dtype_size(cache->dtype), page = pages->size * token;
    if (tensor_create(copy, cache->dtype, 4, shape, build->arena, build->error) != STATUS_OK)
        return build->error->status;
    memset(copy->data, 0, shape[0] * page);
    for (size_t i = 0; i < pages->count; i++)
        memcpy((char *)copy->data + i * page, (const char *)cache->data + pages->from[i] * page, filled[i] * token);
    return STATUS_OK;
}

/* Concatenates the keys of all sequences. */
static enum status end_sequences(const struct build *build, size_t items, const struct lengths *lengths,
                                 struct build_pages *pages)
{
    pages->keys = (size_t)pages->starts[items];
    if (pages->keys == 0)
        return error_usage(build->error, "%s: %s: no sequence has a key; expected at least one", build->inputs->source,
                           lengths->name);
    if (strcmp(lengths->name, "kv_lengths") != 0)
        return STATUS_OK;
    int64_t *kept = arena_allocate(build->arena, items, sizeof *kept, build->error);
    if (kept == NULL)
        return build->error->status;
    for (size_t item = 0; item < items; item++)
        kept[item] = (int64_t)pages->lengths[item];
    build_keep(build, lengths->name, &(struct tensor){.rank = 1, .shape = {items}, DTYPE_I64, kept});
    return STATUS_OK;
}

static enum status allocate_lists(const struct build *build, size_t items, size_t most, struct build_pages *pages)
{
    struct arena *arena = build->arena;
    pages->from = arena_allocate(arena, most, sizeof *pages->from, build->error);
    pages->lengths = arena_allocate(arena, items, sizeof *pages->lengths, build->error);
    pages->table = arena_allocate(arena, items * pages->per_item, sizeof *pages->table, build->error);
    if (pages->in_sequence)
        pages->starts = arena_allocate(arena, items + 1, sizeof *pages->starts, build->error);
    if (pages->starts != NULL)
        pages->starts[0] = 0;
    return build->error->status;
}

enum status build_pages(const struct build *build, size_t items, struct build_pages *pages)
{
    const bool in_sequence = build_has_sequences(build);
    struct lengths lengths;
    int64_t *queries;
    if (check_beside(build) || find_lengths(build, in_sequence, &lengths) ||
        (in_sequence && build_starts(build, "cu_seqlens_q", &items, &queries)))
        return build->error->status;
    const struct tensor *table = &input_file_find(build->inputs, "block_table")->tensor;
    const struct tensor *cache = &input_file_find(build->inputs, "key_cache")->tensor;
    if (check_shapes(build, items, table, &lengths) != STATUS_OK)
        return build->error->status;
    const bool whole = build->options->mistake_count > 0;
    const size_t all = cache->shape[0], most = whole ? all : memory_smaller(all, items * table->shape[1]);
    *pages = (struct build_pages){
        .per_item = table->shape[1], .size = cache->shape[1], .keys = 1, .in_sequence = in_sequence, .items = items};
    struct numbering numbering = {arena_allocate(build->arena, all, sizeof *numbering.number, build->error), NULL};
    numbering.filled = arena_allocate(build->arena, most, sizeof *numbering.filled, build->error);
    if (allocate_lists(build, items, most, pages) != STATUS_OK)
        return build->error->status;
    memset(numbering.number, 0, all * sizeof *numbering.number);
    memset(numbering.filled, 0, most * sizeof *numbering.filled);
    for (size_t item = 0; item < items; item++)
        if (take_item(build, table, &lengths, item, all, pages, &numbering) != STATUS_OK)
            return build->error->status;
    if (in_sequence && end_sequences(build, items, &lengths, pages) != STATUS_OK)
        return build->error->status;
    if (keep_as_given(build, table, pages) != STATUS_OK)
        return build->error->status;
    if (whole) { /* under their old numbers: a mistake may read any, and a result must be an input again */
        const struct problem_pages *given = build->problem->given.pages;
        for (pages->count = 0; pages->count < given->count; pages->count++) {
            pages->from[pages->count] = pages->count;
            numbering.filled[pages->count] = given->size;
        }
        memcpy(pages->table, given->table, items * given->per_item * sizeof *pages->table);
    }
    build_keep(
        build, "block_table",
        &(struct tensor){.rank = 2, .shape = {items, pages->per_item}, .dtype = DTYPE_I64, .data = pages->table});
    return copy_pages(build, "key_cache", pages, numbering.filled, &pages->key) ||
                   copy_pages(build, "value_cache", pages, numbering.filled, &pages->value)
               ? build->error->status
               : STATUS_OK;
}

enum status build_gather(const struct build *build, const struct build_pages *pages, const struct tensor *cache,
                         struct tensor *given)
{
    const size_t heads = cache->shape[2];
    const size_t shape[] = {pages->in_sequence ? 1 : pages->items, heads, pages->keys, cache->shape[3]};
    const size_t row = shape[3] * dtype_size(cache->dtype);
    if (tensor_create(given, cache->dtype, 4, shape, build->arena, build->error) != STATUS_OK)
        return build->error->status;
    memset(given->data, 0, tensor_count(given) * dtype_size(cache->dtype));
    for (size_t item = 0; item < pages->items; item++)
        for (size_t token = 0; token < pages->lengths[item]; token++) {
            const size_t page = (size_t)pages->table[item * pages->per_item + token / pages->size];
            const size_t from = (page * pages->size + token % pages->size) * heads;
            const size_t first = pages->in_sequence ? (size_t)pages->starts[item] : item * heads * pages->keys;
            for (size_t head = 0; head < heads; head++)
                memcpy((char *)given->data + (first + head * pages->keys + token) * row,
                       (const char *)cache->data + (from + head) * row, row);
        }
    return STATUS_OK;
}
