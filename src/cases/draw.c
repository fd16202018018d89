/* SPDX-License-Identifier: MIT */
#include "cases/draw.h"

#include <math.h>
#include <string.h>

enum { MOST_TENSORS = 12, TILE = 64, PAGE = 16, PAGES = 12 };

/* --- sizes -------------------------------------------------------------------------------------------------------- */

/* How many heads of key and value there are: as many as of query, the largest part of them that is not 1, or one; 0
 * where there is no such number. */
static size_t shared_heads(size_t heads, const struct case_row *row)
{
    size_t part = 2;
    while (part < heads && heads % part != 0)
        part++;
    if (case_has(row, CASE_MQA))
        return heads > 1 ? 1 : 0;
    return !case_has(row, CASE_GQA) ? heads : part < heads ? heads / part : 0;
}

/* The tokens of a row whose longest side is cut to --max-tokens: the others keep their share. */
static size_t cut(size_t tokens, size_t longest, size_t most)
{
    return longest <= most ? tokens : memory_larger(tokens * most / longest, 1);
}

bool case_sizes_of(const struct case_row *row, const struct options *options, struct case_sizes *sizes)
{
    const size_t most = (size_t)options->max_tokens, keys = row->keys > 0 ? row->keys : most;
    const size_t queries = row->queries > 0 ? row->queries : keys, longest = memory_larger(queries, keys);
    const size_t given = (size_t)options->heads, d_head = case_has(row, CASE_MERGE) ? 1 : (size_t)options->d_head;
    const bool even = row->odd_heads && (given & (given - 1)) == 0;
    const size_t heads = !even ? given : given > 1 ? given / 2 * 3 : 3;
    const size_t most_items = 8, items = case_has(row, CASE_MASK_ITEMS) && heads <= most_items ? heads : row->items;
    const bool shares = options->kv_heads > 0 && !case_has(row, CASE_MERGE);
    *sizes = (struct case_sizes){.items = items > 0 ? items : 1,
                                 .heads = heads,
                                 .kv_heads = shares ? (size_t)options->kv_heads : shared_heads(heads, row),
                                 .queries = cut(queries, longest, most),
                                 .keys = cut(keys, longest, most),
                                 .d_head = d_head,
                                 .d_value = options->d_value > 0 ? (size_t)options->d_value
                                            : case_has(row, CASE_D_VALUE)
                                                ? (case_has(row, CASE_CAUSAL) ? d_head + 5 : d_head / 2 + 3)
                                                : (size_t)options->d_head};
    if (sizes->kv_heads > 0 && heads % sizes->kv_heads != 0)
        sizes->kv_heads = 0;
    return sizes->kv_heads > 0 && most >= (row->exact ? longest : row->least > 0 ? row->least : 2);
}

bool case_heads_last(const struct case_row *row, const struct options *options)
{
    return case_has(row, CASE_PACKED) || case_has(row, CASE_PAGES) ||
           (options->layout == CASE_LAYOUT_BTHD && !case_has(row, CASE_MERGE));
}

/* --- sequences ---------------------------------------------------------------------------------------------------- */

/* From the lengths of their keys, which repeat; each item has all queries. */
static struct case_sequences of_lengths(const size_t *lengths, size_t count, size_t queries)
{
    struct case_sequences sequences = {.count = count};
    for (size_t i = 0; i < count; i++) {
        sequences.queries[i + 1] = sequences.queries[i] + queries;
        sequences.keys[i + 1] = sequences.keys[i] + lengths[i % 4];
    }
    return sequences;
}

struct case_sequences case_sequences_of(const struct case_row *row, const struct case_sizes *sizes)
{
    /* of as many queries as keys, of fewer, and of fewer where some have none */
    static const struct case_sequences PACKED[] = {{5, {0, 1, 17, 17, 34, 39}, {0, 1, 17, 17, 34, 39}},
                                                   {5, {0, 1, 9, 9, 26, 31}, {0, 3, 12, 14, 33, 39}},
                                                   {5, {0, 1, 17, 17, 26, 31}, {0, 3, 12, 20, 20, 39}}};
    static const size_t PAGED[] = {16, 3, 33, 32}, PAGED_EMPTY[] = {17, 1, 33, 0};
    const bool empty = case_has(row, CASE_EMPTY);
    const size_t keys = sizes->keys, some = keys > 17 ? 17 : keys / 2, least = memory_smaller(keys, sizes->queries);
    if (case_has(row, CASE_PAGES))
        return of_lengths(empty ? PAGED_EMPTY : PAGED, 4, sizes->queries / (case_has(row, CASE_PACKED) ? 4 : 1));
    if (case_has(row, CASE_PACKED) && !row->one_sequence) {
        struct case_sequences packed = PACKED[sizes->queries == sizes->keys ? 0 : empty ? 2 : 1];
        for (size_t i = 0; i <= packed.count; i++) {
            packed.queries[i] *= keys / CASE_PACKED_KEYS;
            packed.keys[i] *= keys / CASE_PACKED_KEYS;
        }
        return packed;
    }
    if (case_has(row, CASE_LENGTHS) && empty)
        return of_lengths((const size_t[]){0, 1, some, keys}, sizes->items, sizes->queries);
    if (case_has(row, CASE_LENGTHS))
        return of_lengths((const size_t[]){least, keys, memory_larger(some, least), memory_larger(keys - 1, least)},
                          sizes->items, sizes->queries);
    return of_lengths((const size_t[]){keys}, 1, sizes->queries);
}

/* Whether the key is at the position of the query, in one of the items. */
static bool is_own(const struct case_drawing *drawing, size_t row, size_t key)
{
    const struct case_sequences *sequences = &drawing->sequences;
    const bool packed = case_has(drawing->row, CASE_PACKED);
    for (size_t i = 0; i < sequences->count; i++) {
        const size_t queries = sequences->queries[i + 1] - sequences->queries[i];
        const size_t keys = sequences->keys[i + 1] - sequences->keys[i];
        const size_t first = packed ? sequences->queries[i] : 0, start = packed ? sequences->keys[i] : 0;
        if (row >= first && row < first + queries &&
            key + (case_has(drawing->row, CASE_TOP_LEFT) ? keys : queries) == start + keys + row - first)
            return true;
    }
    return false;
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

/* Adds a tensor of that dtype with zeros; NULL where memory is short. */
static void *add_of(struct case_drawing *drawing, const char *name, enum dtype dtype, size_t rank, const size_t *shape)
{
    struct file_tensor *added = &drawing->file->tensors[drawing->file->tensor_count];
    *added = (struct file_tensor){.name = name, .order = drawing->file->tensor_count};
    if (tensor_create(&added->tensor, dtype, rank, shape, drawing->arena, drawing->error) != STATUS_OK)
        return NULL;
    drawing->file->tensor_count++;
    memset(added->tensor.data, 0, tensor_count(&added->tensor) * dtype_size(dtype));
    return added->tensor.data;
}

static double *add(struct case_drawing *drawing, const char *name, size_t rank, const size_t *shape)
{
    return add_of(drawing, name, DTYPE_F64, rank, shape);
}

/* Numbers as torch.randn draws them; a second draw gives the digits that float32 lacks. */
static enum status draw_normal(struct case_drawing *drawing, double *numbers, size_t count)
{
    if (drawing->shapes)
        return STATUS_OK;
    float *drawn = arena_allocate(drawing->arena, count, 2 * sizeof *drawn, drawing->error);
    if (drawn == NULL)
        return STATUS_SYSTEM;
    torch_random_normal(&drawing->generator, drawn, 2 * count);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (double)drawn[i] + 0x1p-28 * (double)drawn[count + i];
    return STATUS_OK;
}

/* Key `token` of each head, or its value where `columns` is d_v. */
static double *row_of(double *numbers, const struct case_sizes *sizes, size_t head, size_t token, size_t columns)
{
    return numbers + (head * sizes->keys + token) * columns;
}

/* Sets the first column of all queries to 4, and that of key j by its scores, so that scaled is their product over
 * sqrt(d), plus what the other columns add. */
static void set_scores(struct case_drawing *drawing, const struct case_scores *scores)
{
    const struct case_sizes *sizes = &drawing->sizes;
    const size_t d = sizes->d_head, keys = sizes->keys;
    for (size_t i = 0; i < sizes->items * sizes->heads * sizes->queries; i++)
        drawing->query[i * d] = 4;
    for (size_t i = 0; i < sizes->items * sizes->kv_heads * keys; i++) {
        const size_t key = i % keys;
        const double two = key == keys / 3 || key + 1 == keys ? scores->two : 0;
        const double ends = key == 0 ? scores->first : key + 1 == keys ? scores->last : 0;
        for (size_t column = 0; column < d; column++)
            drawing->key[i * d + column] *= scores->others;
        drawing->key[i * d] =
            (scores->all + scores->rising * (double)key / (double)keys + two + ends) * sqrt((double)d) / 4;
    }
}

/* All products have the sign of the key, and add up to more than 65504. */
enum status make_overflow(struct case_drawing *drawing)
{
    const struct case_sizes *sizes = &drawing->sizes;
    const size_t d = sizes->d_head, queries = sizes->items * sizes->heads * sizes->queries;
    const size_t keys = sizes->items * sizes->kv_heads * sizes->keys;
    const double size = ceil(sqrt(70000 / (double)d));
    for (size_t i = 0; i < queries * d; i++)
        drawing->query[i] = size;
    for (size_t i = 0; i < keys; i++)
        for (size_t column = 0; column < d; column++)
            drawing->key[i * d + column] = i % 7 == 3 ? size : i % 2 == 0 ? size / 2 : -size;
    return STATUS_OK;
}

/* An eighth of the smallest normal number: flushing it to 0 shows, one more rounding does not. */
enum status make_denormal(struct case_drawing *drawing)
{
    const struct case_sizes *sizes = &drawing->sizes;
    const double factor = ldexp(dtype_smallest(drawing->dtype), dtype_precision(drawing->dtype) - 4);
    for (size_t i = 0; i < sizes->items * sizes->kv_heads * sizes->keys * sizes->d_value; i++)
        drawing->value[i] *= factor;
    return STATUS_OK;
}

/* Large enough that a context of about a quarter stays above the rounding error of each value. */
enum status make_alternating(struct case_drawing *drawing)
{
    const struct case_sizes *sizes = &drawing->sizes;
    const double size = fmin(100, ldexp(1, dtype_precision(drawing->dtype)) / 64);
    for (size_t head = 0; head < sizes->items * sizes->kv_heads; head++)
        for (size_t key = 0; key < sizes->keys; key++)
            for (size_t column = 0; column < sizes->d_value; column++) {
                double *value = row_of(drawing->value, sizes, head, key, sizes->d_value) + column;
                *value = (key % 2 == 0 ? size : -size) + (double)(key % 5) / 8;
            }
    return STATUS_OK;
}

/* --- masks -------------------------------------------------------------------------------------------------------- */

/* Whether a key is masked: a third of them, but none at the query's own position, so that no row is empty by chance; of
 * a padding those behind a length; of empty rows all in the first row, the last, and one between. */
static bool is_masked(const struct case_drawing *drawing, size_t matrix, size_t row, size_t key)
{
    const size_t queries = drawing->sizes.queries, keys = drawing->sizes.keys;
    if (case_has(drawing->row, CASE_MASK_PADDING))
        return key >= keys - matrix % 3 * (keys / 4);
    if (case_has(drawing->row, CASE_EMPTY) && (row == 0 || row + 1 == queries || row == queries / 2))
        return true;
    return (row + key + matrix) % 3 == 0 && !is_own(drawing, row, key);
}

/* Its leading axes are those of the features: items, heads, none. */
enum status make_mask(struct case_drawing *drawing)
{
    const struct case_row *row = drawing->row;
    const struct case_sizes *sizes = &drawing->sizes;
    const bool padding = case_has(row, CASE_MASK_PADDING), by_item = padding || case_has(row, CASE_MASK_ITEMS);
    const bool by_head = case_has(row, CASE_MASK_HEADS), adds = case_has(row, CASE_MASK_FLOAT);
    const size_t shape[] = {by_item ? sizes->items : 1, by_head ? sizes->heads : 1, padding ? 1 : sizes->queries,
                            sizes->keys};
    const size_t leading = by_item ? 0 : by_head ? 1 : 2, count = shape[0] * shape[1] * shape[2] * shape[3];
    void *mask = add_of(drawing, "attn_mask", adds ? DTYPE_F64 : DTYPE_BOOL, 4 - leading, shape + leading);
    if (mask == NULL || (adds && draw_normal(drawing, mask, count) != STATUS_OK))
        return drawing->error->status;
    for (size_t i = 0; i < count; i++) {
        const bool masked = is_masked(drawing, i / shape[3] / shape[2], i / shape[3] % shape[2], i % shape[3]);
        if (!adds)
            ((bool *)mask)[i] = !masked;
        else if (masked)
            ((double *)mask)[i] = -INFINITY;
    }
    return STATUS_OK;
}

/* The tensor that was added last. */
static void *last_of(const struct case_drawing *drawing)
{
    return drawing->file->tensors[drawing->file->tensor_count - 1].tensor.data;
}

/* Masks keys at the start for every query, and no others. */
enum status make_mask_block(struct case_drawing *drawing)
{
    const size_t queries = drawing->sizes.queries, keys = drawing->sizes.keys;
    bool *mask = last_of(drawing);
    for (size_t i = 0; i < queries * keys; i++)
        mask[i] = i % keys >= memory_smaller(TILE, keys / 2);
    return STATUS_OK;
}

/* Puts numbers in place of -inf. */
enum status make_mask_finite(struct case_drawing *drawing)
{
    const size_t count = drawing->sizes.queries * drawing->sizes.keys;
    double *mask = last_of(drawing);
    for (size_t i = 0; i < count; i++)
        mask[i] = isfinite(mask[i]) ? mask[i] : (double)(i % 7) / 2 - 1;
    return STATUS_OK;
}

/* Three documents, in runs of seven keys. */
enum status make_documents(struct case_drawing *drawing)
{
    int32_t *ids = add_of(drawing, "document_ids", DTYPE_I32, 1, &drawing->sizes.keys);
    for (size_t key = 0; key < drawing->sizes.keys && ids != NULL; key++)
        ids[key] = (int32_t)(key / 7 % 3);
    return ids != NULL ? STATUS_OK : drawing->error->status;
}

/* NaN in the key and the value of a token, of all heads of an item; in every second column of the value -inf. */
static void poison(struct case_drawing *drawing, size_t item, size_t token)
{
    const struct case_sizes *sizes = &drawing->sizes;
    for (size_t head = item * sizes->kv_heads; head < (item + 1) * sizes->kv_heads; head++) {
        for (size_t column = 0; column < sizes->d_head; column++)
            row_of(drawing->key, sizes, head, token, sizes->d_head)[column] = NAN;
        for (size_t column = 0; column < sizes->d_value; column++)
            row_of(drawing->value, sizes, head, token, sizes->d_value)[column] = column % 2 ? (double)-INFINITY : NAN;
    }
}

enum status make_poison_mask(struct case_drawing *drawing)
{
    const size_t queries = drawing->sizes.queries, keys = drawing->sizes.keys;
    bool *mask = last_of(drawing);
    for (size_t key = 2; key < keys; key += 5) {
        poison(drawing, 0, key);
        for (size_t row = 0; row < queries; row++)
            mask[row * keys + key] = false;
    }
    return STATUS_OK;
}

enum status make_poison_behind(struct case_drawing *drawing)
{
    for (size_t key = drawing->sizes.queries; key < drawing->sizes.keys; key++)
        poison(drawing, 0, key);
    return STATUS_OK;
}

/* What lies after a length is as drawn, or NaN. */
enum status make_lengths(struct case_drawing *drawing)
{
    const struct case_sizes *sizes = &drawing->sizes;
    const size_t *keys = drawing->sequences.keys;
    int32_t *lengths = add_of(drawing, "kv_lengths", DTYPE_I32, 1, &sizes->items);
    for (size_t item = 0; item < sizes->items && lengths != NULL; item++) {
        lengths[item] = (int32_t)(keys[item + 1] - keys[item]);
        for (size_t key = (size_t)lengths[item]; key < sizes->keys && case_has(drawing->row, CASE_POISON); key++)
            poison(drawing, item, key);
    }
    return lengths != NULL ? STATUS_OK : drawing->error->status;
}

enum status make_sinks(struct case_drawing *drawing)
{
    double *sinks = add(drawing, "sinks", 1, &drawing->sizes.heads);
    for (size_t head = 0; head < drawing->sizes.heads && sinks != NULL; head++)
        sinks[head] = 2 - (double)(head % 4);
    return sinks != NULL ? STATUS_OK : drawing->error->status;
}

enum status make_sinks_large(struct case_drawing *drawing)
{
    double *sinks = last_of(drawing);
    for (size_t head = 0; head < drawing->sizes.heads; head++)
        sinks[head] = 8 + (double)(head % 4);
    return STATUS_OK;
}

/* Splits to merge are attention: a query of zeros, the lse of each split as its score by attn_mask, and its context as
 * the value. Of more than two splits some had no key, and in the last item none of the first head. */
enum status make_splits(struct case_drawing *drawing)
{
    const struct case_sizes *sizes = &drawing->sizes;
    const size_t heads = sizes->items * sizes->heads, splits = sizes->keys;
    double *lses = add(drawing, "attn_mask", 4, (const size_t[]){sizes->items, sizes->heads, 1, splits});
    if (lses == NULL || draw_normal(drawing, lses, heads * splits) != STATUS_OK)
        return drawing->error->status;
    memset(drawing->query, 0, heads * sizeof *drawing->query);
    memset(drawing->key, 0, heads * splits * sizeof *drawing->key);
    for (size_t i = 0; i < heads * splits; i++) {
        const size_t head = i / splits, split = i % splits;
        lses[i] = 3 + 2 * lses[i];
        if (splits < 6 || ((head + split) % 3 != 0 && head != heads - sizes->heads))
            continue;
        lses[i] = -INFINITY;
        memset(row_of(drawing->value, sizes, head, split, sizes->d_value), 0, sizes->d_value * sizeof *lses);
    }
    return STATUS_OK;
}

enum status make_splits_apart(struct case_drawing *drawing)
{
    const size_t splits = drawing->sizes.keys, count = drawing->sizes.items * drawing->sizes.heads * splits;
    double *lses = last_of(drawing);
    for (size_t i = 0; i < count; i++)
        lses[i] += (i / splits + i % splits) % 3 == 0 ? -1000 : i / splits % 2 == 0 ? 1000 : 996;
    return STATUS_OK;
}

/* --- layouts ------------------------------------------------------------------------------------------------------ */

/* Tokens first .. first + count of B x H x T x columns, or as B x T x H x columns. */
static void lay(const double *from, double *to, const size_t shape[4], bool heads_last, size_t first, size_t count)
{
    const size_t items = shape[0], heads = shape[1], tokens = shape[2], columns = shape[3];
    for (size_t row = 0; row < items * heads * count; row++) {
        const size_t head = row / count % heads, item = row / count / heads, token = row % count;
        memcpy(to + (heads_last ? (item * count + token) * heads + head : row) * columns,
               from + ((item * heads + head) * tokens + first + token) * columns, columns * sizeof *to);
    }
}

/* Adds tokens first .. first + count of an operand, B x H x T x columns; packed as T x H x columns; with pages as
 * B x T x H x columns; else with heads last as B x T x H columns. */
static enum status add_operand(struct case_drawing *drawing, const char *name, const double *drawn,
                               const size_t shape[4], size_t first, size_t count)
{
    const bool last = drawing->heads_last, packed = case_has(drawing->row, CASE_PACKED);
    const bool joins = last && !packed && !case_has(drawing->row, CASE_PAGES);
    const size_t apart[] = {shape[0], shape[1], count, shape[3]}, of_tokens[] = {shape[0], count, shape[1], shape[3]};
    const size_t joined[] = {shape[0], count, shape[1] * shape[3]};
    double *laid = add(drawing, name, packed || joins ? 3 : 4, joins ? joined : last ? of_tokens + packed : apart);
    if (laid == NULL)
        return drawing->error->status;
    lay(drawn, laid, shape, last, first, count);
    return STATUS_OK;
}

/* Adds the starts of the sequences. */
static enum status add_starts(struct case_drawing *drawing, const char *name, const size_t *starts)
{
    const size_t count = drawing->sequences.count + 1;
    int32_t *added = add_of(drawing, name, DTYPE_I32, 1, &count);
    for (size_t i = 0; i < count && added != NULL; i++)
        added[i] = (int32_t)starts[i];
    return added != NULL ? STATUS_OK : drawing->error->status;
}

/* The pages of each item. Those that it does not need are of an earlier item, and so are pages 3, 7 and 8 of the cache;
 * with NaN there are none, and pages from 9 on and the tails of pages are NaN. */
static const size_t TABLE[][3] = {{5, 2, 7}, {4, 8, 3}, {0, 6, 1}, {10, 3, 8}};

/* Puts the keys or values of all items into a cache of pages. */
static enum status add_cache(struct case_drawing *drawing, const char *name, double *drawn, size_t columns)
{
    const struct case_sequences *sequences = &drawing->sequences;
    const struct case_sizes *sizes = &drawing->sizes;
    const size_t heads = sizes->kv_heads, shape[] = {PAGES, PAGE, heads, columns}, numbers = PAGE * heads * columns;
    const bool packed = case_has(drawing->row, CASE_PACKED);
    double *cache = add(drawing, name, 4, shape);
    if (cache == NULL || draw_normal(drawing, cache, PAGES * numbers) != STATUS_OK)
        return drawing->error->status;
    for (size_t i = 0; i < PAGES * numbers && case_has(drawing->row, CASE_POISON); i++)
        if (i / numbers != 3 && i / numbers != 7 && i / numbers != 8)
            cache[i] = NAN;
    for (size_t item = 0; item < sequences->count; item++)
        for (size_t token = sequences->keys[item]; token < sequences->keys[item + 1]; token++)
            for (size_t head = 0; head < heads; head++) {
                const size_t at = token - sequences->keys[item];
                const size_t to = (TABLE[item][at / PAGE] * PAGE + at % PAGE) * heads + head;
                memcpy(cache + to * columns,
                       packed ? row_of(drawn, sizes, head, token, columns)
                              : row_of(drawn, sizes, item * heads + head, at, columns),
                       columns * sizeof *cache);
            }
    return STATUS_OK;
}

static enum status add_pages(struct case_drawing *drawing)
{
    const size_t count = drawing->sequences.count, shape[] = {count, 3}, *keys = drawing->sequences.keys;
    int32_t *table = add_of(drawing, "block_table", DTYPE_I32, 2, shape);
    int32_t *lengths = add_of(drawing, "kv_lengths", DTYPE_I32, 1, &count);
    if (table == NULL || lengths == NULL || add_cache(drawing, "key_cache", drawing->key, drawing->sizes.d_head) ||
        add_cache(drawing, "value_cache", drawing->value, drawing->sizes.d_value))
        return drawing->error->status;
    for (size_t i = 0; i < count * 3; i++) {
        const size_t length = keys[i / 3 + 1] - keys[i / 3];
        lengths[i / 3] = (int32_t)length;
        table[i] = i % 3 * PAGE >= length && case_has(drawing->row, CASE_POISON) ? -1 : (int32_t)TABLE[i / 3][i % 3];
    }
    return STATUS_OK;
}

/* Adds query, key and value, and what says where they lie. */
static enum status add_operands(struct case_drawing *drawing)
{
    const struct case_row *row = drawing->row;
    const struct case_sizes *sizes = &drawing->sizes;
    const size_t query[] = {sizes->items, sizes->heads, sizes->queries, sizes->d_head};
    const size_t key[] = {sizes->items, sizes->kv_heads, sizes->keys, sizes->d_head};
    const size_t value[] = {sizes->items, sizes->kv_heads, sizes->keys, sizes->d_value};
    const size_t past = case_has(row, CASE_PAST) ? sizes->keys - sizes->queries : 0, now = sizes->keys - past;
    if (add_operand(drawing, "query", drawing->query, query, 0, sizes->queries) ||
        (case_has(row, CASE_PACKED) && add_starts(drawing, "cu_seqlens_q", drawing->sequences.queries)))
        return drawing->error->status;
    if (case_has(row, CASE_PAGES))
        return add_pages(drawing);
    if (past > 0 && (add_operand(drawing, "past_key", drawing->key, key, 0, past) ||
                     add_operand(drawing, "past_value", drawing->value, value, 0, past)))
        return drawing->error->status;
    if (case_has(row, CASE_PACKED) && add_starts(drawing, "cu_seqlens_k", drawing->sequences.keys) != STATUS_OK)
        return drawing->error->status;
    return add_operand(drawing, "key", drawing->key, key, past, now) ||
                   add_operand(drawing, "value", drawing->value, value, past, now)
               ? drawing->error->status
               : STATUS_OK;
}

/* --- a case ------------------------------------------------------------------------------------------------------- */

/* Draws query, key and value as torch.randn does. */
static enum status draw_operands(struct case_drawing *drawing)
{
    const struct case_sizes *sizes = &drawing->sizes;
    const size_t shapes[][4] = {{sizes->items, sizes->heads, sizes->queries, sizes->d_head},
                                {sizes->items, sizes->kv_heads, sizes->keys, sizes->d_head},
                                {sizes->items, sizes->kv_heads, sizes->keys, sizes->d_value}};
    double **drawn[] = {&drawing->query, &drawing->key, &drawing->value};
    for (size_t i = 0; i < 3; i++) {
        size_t count = 1;
        for (size_t axis = 0; axis < 4; axis++)
            count = memory_product(count, shapes[i][axis]);
        *drawn[i] = arena_allocate(drawing->arena, count, sizeof **drawn[i], drawing->error);
        if (*drawn[i] == NULL || draw_normal(drawing, *drawn[i], count) != STATUS_OK)
            return STATUS_SYSTEM;
    }
    return STATUS_OK;
}

static void round_all(struct input_file *file, enum dtype dtype)
{
    for (size_t i = 0; i < file->tensor_count; i++)
        if (file->tensors[i].tensor.dtype == DTYPE_F64)
            dtype_round(dtype, file->tensors[i].tensor.data, tensor_count(&file->tensors[i].tensor));
    input_file_sort(file);
}

/* The gradient with respect to the context, in a separate file: laid out like the context. */
static enum status draw_gradient(struct case_drawing *drawing, struct input_file *file)
{
    const struct case_sizes *sizes = &drawing->sizes;
    const bool packed = case_has(drawing->row, CASE_PACKED);
    const size_t plain[] = {sizes->items, sizes->heads, sizes->queries, sizes->d_value};
    const size_t of_tokens[] = {sizes->items, sizes->queries, sizes->heads, sizes->d_value};
    drawing->file = file;
    double *gradient = add(drawing, "grad_context", packed ? 3 : 4, drawing->heads_last ? of_tokens + packed : plain);
    if (gradient == NULL)
        return drawing->error->status;
    return draw_normal(drawing, gradient, plain[0] * plain[1] * plain[2] * plain[3]);
}

/* The features' tensors, then what the row changes. */
static enum status make_all(struct case_drawing *drawing)
{
    const struct case_row *row = drawing->row;
    for (enum case_feature id = 0; id < CASE_FEATURE_COUNT; id++) {
        case_maker *make = case_has(row, id) ? CASE_FEATURE_ROWS[id].make : NULL;
        if (make != NULL && make(drawing) != STATUS_OK)
            return drawing->error->status;
    }
    return row->make != NULL ? row->make(drawing) : STATUS_OK;
}

/* A seed for each name, so that a case is the same whatever others there are. */
static uint64_t seed_of(const char *name)
{
    uint64_t seed = 0;
    for (; *name != '\0'; name++)
        seed = seed * 31 + (unsigned char)*name;
    return seed;
}

enum status case_draw(const struct case_row *row, const struct options *options, const struct case_sizes *sizes,
                      bool shapes, struct job_files *files, struct arena *arena, struct error *error)
{
    const bool grad = case_has(row, CASE_GRAD);
    *files = (struct job_files){.inputs = &files->files[0], .grad = grad ? &files->files[3] : NULL};
    for (size_t i = 0; i < 4; i += 3) {
        files->files[i] = (struct input_file){
            .source = row->name,
            .tensors = arena_allocate(arena, MOST_TENSORS, sizeof files->files[i].tensors[0], error)};
        if (files->files[i].tensors == NULL)
            return error->status;
    }
    struct case_drawing drawing = {.row = row,
                                   .sizes = *sizes,
                                   .sequences = case_sequences_of(row, sizes),
                                   .dtype = options->dtype,
                                   .heads_last = case_heads_last(row, options),
                                   .shapes = shapes,
                                   .file = &files->files[0],
                                   .arena = arena,
                                   .error = error};
    torch_random_seed(&drawing.generator, TORCH_RANDOM_VECTOR, options->seed + seed_of(row->name));
    if (draw_operands(&drawing) != STATUS_OK)
        return error->status;
    if (row->scores != NULL)
        set_scores(&drawing, row->scores);
    if (make_all(&drawing) || add_operands(&drawing) || (grad && draw_gradient(&drawing, &files->files[3])))
        return error->status;
    round_all(&files->files[0], options->dtype);
    round_all(&files->files[3], options->dtype);
    return STATUS_OK;
}
