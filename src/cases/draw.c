/* SPDX-License-Identifier: MIT */
#include "cases/draw.h"

#include <math.h>
#include <string.h>

enum { MOST_TENSORS = 12, TILE = 64, PAGE = 16 };

/* --- sizes -------------------------------------------------------------------------------------------------------- */

/* The largest number of key and value heads that each serve several query heads; 0 where there is none between one
 * and all. */
static size_t shared_heads(size_t heads, enum case_sharing sharing)
{
    size_t part = 2;
    while (part < heads && heads % part != 0)
        part++;
    return sharing == CASE_EACH ? heads : heads == 1 ? 0 : sharing == CASE_ONE ? 1 : part < heads ? heads / part : 0;
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
    const size_t heads = (size_t)options->heads, d_head = (size_t)options->d_head;
    *sizes = (struct case_sizes){.items = row->items > 0 ? row->items : 1,
                                 .heads = heads,
                                 .kv_heads = shared_heads(heads, row->sharing),
                                 .queries = cut(queries, longest, most),
                                 .keys = cut(keys, longest, most),
                                 .d_head = d_head,
                                 .d_value = row->other_value ? d_head / 2 + 3 : d_head};
    return sizes->kv_heads > 0 && most >= (row->exact ? longest : row->least > 0 ? row->least : 2);
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

static bool *add_mask(struct case_drawing *drawing)
{
    const size_t shape[] = {drawing->sizes.queries, drawing->sizes.keys};
    bool *mask = add_of(drawing, "attn_mask", DTYPE_BOOL, 2, shape);
    if (mask != NULL)
        memset(mask, true, shape[0] * shape[1]);
    return mask;
}

static double *add_float_mask(struct case_drawing *drawing)
{
    const size_t shape[] = {drawing->sizes.queries, drawing->sizes.keys};
    double *mask = add(drawing, "attn_mask", 2, shape);
    const bool drawn = mask != NULL && draw_normal(drawing, mask, shape[0] * shape[1]) == STATUS_OK;
    return drawn ? mask : NULL;
}

enum status make_mask_rows(struct case_drawing *drawing)
{
    const size_t queries = drawing->sizes.queries, keys = drawing->sizes.keys;
    bool *mask = add_mask(drawing);
    if (mask == NULL)
        return drawing->error->status;
    for (size_t row = 0; row < queries; row++)
        for (size_t key = 0; key < keys; key++)
            mask[row * keys + key] = row > 0 && row + 1 < queries && row != queries / 2 && (row + key) % 3 > 0;
    return STATUS_OK;
}

/* Masks keys at the start for every query. */
enum status make_mask_block(struct case_drawing *drawing)
{
    const size_t queries = drawing->sizes.queries, keys = drawing->sizes.keys;
    bool *mask = add_mask(drawing);
    for (size_t row = 0; row < queries && mask != NULL; row++)
        memset(mask + row * keys, false, memory_smaller(TILE, keys / 2));
    return mask != NULL ? STATUS_OK : drawing->error->status;
}

enum status make_mask_float(struct case_drawing *drawing)
{
    return add_float_mask(drawing) != NULL ? STATUS_OK : drawing->error->status;
}

enum status make_mask_infinite(struct case_drawing *drawing)
{
    const size_t count = drawing->sizes.queries * drawing->sizes.keys;
    double *mask = add_float_mask(drawing);
    for (size_t i = 0; i < count && mask != NULL; i++)
        if (i % 5 < 2)
            mask[i] = -INFINITY;
    return mask != NULL ? STATUS_OK : drawing->error->status;
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
    bool *mask = add_mask(drawing);
    for (size_t key = 2; key < keys && mask != NULL; key += 5) {
        poison(drawing, 0, key);
        for (size_t row = 0; row < queries; row++)
            mask[row * keys + key] = false;
    }
    return mask != NULL ? STATUS_OK : drawing->error->status;
}

enum status make_poison_behind(struct case_drawing *drawing)
{
    for (size_t key = drawing->sizes.queries; key < drawing->sizes.keys; key++)
        poison(drawing, 0, key);
    return STATUS_OK;
}

enum status make_lengths(struct case_drawing *drawing)
{
    const struct case_sizes *sizes = &drawing->sizes;
    const size_t some = sizes->keys > 17 ? 17 : sizes->keys / 2, lengths[] = {0, 1, some, sizes->keys};
    int64_t *added = add_of(drawing, "kv_lengths", DTYPE_I64, 1, &sizes->items);
    for (size_t item = 0; item < sizes->items && added != NULL; item++) {
        added[item] = (int64_t)lengths[item % 4];
        for (size_t key = (size_t)added[item]; key < sizes->keys; key++)
            poison(drawing, item, key);
    }
    return added != NULL ? STATUS_OK : drawing->error->status;
}

static enum status add_sinks(struct case_drawing *drawing, double base, double step)
{
    double *sinks = add(drawing, "sinks", 1, &drawing->sizes.heads);
    for (size_t head = 0; head < drawing->sizes.heads && sinks != NULL; head++)
        sinks[head] = base + step * (double)(head % 4);
    return sinks != NULL ? STATUS_OK : drawing->error->status;
}

enum status make_sinks(struct case_drawing *drawing)
{
    return add_sinks(drawing, 2, -1);
}

enum status make_sinks_large(struct case_drawing *drawing)
{
    return add_sinks(drawing, 8, 1);
}

/* --- layouts ------------------------------------------------------------------------------------------------------ */

/* Tokens of B x H x T x columns, as B x T x H x columns. */
static void transpose(const double *from, double *to, size_t items, size_t heads, size_t tokens, size_t columns)
{
    for (size_t item = 0; item < items; item++)
        for (size_t head = 0; head < heads; head++)
            for (size_t token = 0; token < tokens; token++)
                memcpy(to + ((item * tokens + token) * heads + head) * columns,
                       from + ((item * heads + head) * tokens + token) * columns, columns * sizeof *to);
}

/* Lays out query, key and value: as drawn, or of packed sequences as T x H x columns. */
static enum status lay_operands(struct case_drawing *drawing, bool packed)
{
    static const char *const NAMES[] = {"query", "key", "value"};
    const struct case_sizes *sizes = &drawing->sizes;
    const double *const drawn[] = {drawing->query, drawing->key, drawing->value};
    for (size_t i = 0; i < 3; i++) {
        const size_t heads = i == 0 ? sizes->heads : sizes->kv_heads, tokens = i == 0 ? sizes->queries : sizes->keys;
        const size_t columns = i == 2 ? sizes->d_value : sizes->d_head;
        const size_t apart[] = {sizes->items, heads, tokens, columns}, of_tokens[] = {tokens, heads, columns};
        double *laid = add(drawing, NAMES[i], packed ? 3 : 4, packed ? of_tokens : apart);
        if (laid == NULL)
            return drawing->error->status;
        if (packed)
            transpose(drawn[i], laid, 1, heads, tokens, columns);
        else
            memcpy(laid, drawn[i], sizes->items * heads * tokens * columns * sizeof *laid);
    }
    return STATUS_OK;
}

enum { STARTS = 6 };

/* Packed sequences, and where they start. */
static enum status lay_sequences(struct case_drawing *drawing, const int64_t of_queries[STARTS],
                                 const int64_t of_keys[STARTS])
{
    const size_t count = STARTS;
    if (lay_operands(drawing, true) != STATUS_OK)
        return drawing->error->status;
    int64_t *query_starts = add_of(drawing, "cu_seqlens_q", DTYPE_I64, 1, &count);
    int64_t *key_starts = add_of(drawing, "cu_seqlens_k", DTYPE_I64, 1, &count);
    if (query_starts == NULL || key_starts == NULL)
        return drawing->error->status;
    memcpy(query_starts, of_queries, STARTS * sizeof *query_starts);
    memcpy(key_starts, of_keys, STARTS * sizeof *key_starts);
    return STATUS_OK;
}

enum status lay_packed(struct case_drawing *drawing)
{
    static const int64_t BOTH[STARTS] = {0, 1, 17, 17, 34, 39};
    return lay_sequences(drawing, BOTH, BOTH);
}

enum status lay_packed_apart(struct case_drawing *drawing)
{
    static const int64_t QUERIES[STARTS] = {0, 1, 17, 17, 26, 31}, KEYS[STARTS] = {0, 3, 12, 20, 20, 39};
    return lay_sequences(drawing, QUERIES, KEYS);
}

/* Fills one page of a cache with NaN. */
static void poison_page(double *cache, size_t page, size_t numbers)
{
    for (size_t i = 0; i < numbers; i++)
        cache[page * numbers + i] = NAN;
}

/* Items of 17, 1, 33 and 0 tokens in 12 pages. The tails of their pages are NaN, and pages from 9 on. The other
 * unused pages hold numbers, as if of an earlier item: a kernel that ignores the table reads those. */
enum status lay_pages(struct case_drawing *drawing)
{
    static const int64_t LENGTHS[] = {17, 1, 33, 0}, TABLE[][3] = {{5, 2, -1}, {4, -1, -1}, {0, 6, 1}, {-1, -1, -1}};
    const struct case_sizes *sizes = &drawing->sizes;
    const size_t pages = 12, heads = sizes->kv_heads, table_shape[] = {sizes->items, 3};
    const size_t query[] = {sizes->items, sizes->queries, sizes->heads, sizes->d_head};
    const size_t key[] = {pages, PAGE, heads, sizes->d_head}, value[] = {pages, PAGE, heads, sizes->d_value};
    double *laid = add(drawing, "query", 4, query), *keys = add(drawing, "key_cache", 4, key);
    double *values = add(drawing, "value_cache", 4, value);
    int64_t *table = add_of(drawing, "block_table", DTYPE_I64, 2, table_shape);
    int64_t *lengths = add_of(drawing, "kv_lengths", DTYPE_I64, 1, &sizes->items);
    if (laid == NULL || keys == NULL || values == NULL || table == NULL || lengths == NULL)
        return drawing->error->status;
    memcpy(lengths, LENGTHS, sizeof LENGTHS);
    memcpy(table, TABLE, sizeof TABLE);
    transpose(drawing->query, laid, sizes->items, sizes->heads, sizes->queries, sizes->d_head);
    if (draw_normal(drawing, keys, pages * PAGE * heads * sizes->d_head) != STATUS_OK ||
        draw_normal(drawing, values, pages * PAGE * heads * sizes->d_value) != STATUS_OK)
        return STATUS_SYSTEM;
    for (size_t page = 0; page < pages; page++)
        if (page != 3 && page != 7 && page != 8) {
            poison_page(keys, page, PAGE * heads * sizes->d_head);
            poison_page(values, page, PAGE * heads * sizes->d_value);
        }
    for (size_t item = 0; item < sizes->items; item++)
        for (size_t token = 0; token < (size_t)LENGTHS[item]; token++)
            for (size_t head = 0; head < heads; head++) {
                const size_t to = ((size_t)TABLE[item][token / PAGE] * PAGE + token % PAGE) * heads + head;
                memcpy(keys + to * sizes->d_head,
                       row_of(drawing->key, sizes, item * heads + head, token, sizes->d_head),
                       sizes->d_head * sizeof *keys);
                memcpy(values + to * sizes->d_value,
                       row_of(drawing->value, sizes, item * heads + head, token, sizes->d_value),
                       sizes->d_value * sizeof *values);
            }
    return STATUS_OK;
}

bool case_is_packed(const struct case_row *row)
{
    return row->lay == lay_packed || row->lay == lay_packed_apart;
}

bool case_has_sinks(const struct case_row *row)
{
    return row->make == make_sinks || row->make == make_sinks_large;
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
            if (!memory_multiply(count, shapes[i][axis], &count))
                count = SIZE_MAX; /* which no memory has */
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

/* The gradient with respect to the context, in a separate file: laid out like the context, T x H x d_v for packed
 * sequences. */
static enum status draw_gradient(struct case_drawing *drawing, struct input_file *file, bool packed)
{
    const struct case_sizes *sizes = &drawing->sizes;
    const size_t plain[] = {sizes->items, sizes->heads, sizes->queries, sizes->d_value};
    const size_t of_tokens[] = {sizes->queries, sizes->heads, sizes->d_value};
    drawing->file = file;
    double *gradient = packed ? add(drawing, "grad_context", 3, of_tokens) : add(drawing, "grad_context", 4, plain);
    if (gradient == NULL)
        return drawing->error->status;
    return draw_normal(drawing, gradient, plain[0] * plain[1] * plain[2] * plain[3]);
}

enum status case_draw(const struct case_row *row, const struct options *options, const struct case_sizes *sizes,
                      struct job_files *files, struct arena *arena, struct error *error)
{
    *files = (struct job_files){.inputs = &files->files[0], .grad = row->gradients ? &files->files[3] : NULL};
    for (size_t i = 0; i < 4; i += 3) {
        files->files[i] = (struct input_file){
            .source = row->name,
            .tensors = arena_allocate(arena, MOST_TENSORS, sizeof files->files[i].tensors[0], error)};
        if (files->files[i].tensors == NULL)
            return error->status;
    }
    struct case_drawing drawing = {
        .sizes = *sizes, .dtype = options->dtype, .file = &files->files[0], .arena = arena, .error = error};
    torch_random_seed(&drawing.generator, TORCH_RANDOM_VECTOR, options->seed + 1000003 * (uint64_t)(row - CASES));
    if (draw_operands(&drawing) != STATUS_OK)
        return error->status;
    if (row->scores != NULL)
        set_scores(&drawing, row->scores);
    if ((row->make != NULL && row->make(&drawing)) ||
        (row->lay != NULL ? row->lay(&drawing) : lay_operands(&drawing, false)) ||
        (row->gradients && draw_gradient(&drawing, &files->files[3], case_is_packed(row))))
        return error->status;
    round_all(&files->files[0], options->dtype);
    round_all(&files->files[3], options->dtype);
    return STATUS_OK;
}
