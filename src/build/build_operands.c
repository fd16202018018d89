/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include "kernel/kernel.h"

#include <math.h>
#include <string.h>

static const char *const NAMES[] = {"query", "key", "value"}, *const IN_PAGES[] = {"query", "key_cache", "value_cache"};

/* A tensor of the file, of any layout, viewed as (B, H, T, d). */
struct operand {
    const char *name;
    const struct tensor *tensor;     /* of the file */
    size_t shape[4];                 /* B, H, T, d */
    const struct build_pages *pages; /* the pages, of which `tensor` is the part in use; or NULL */
    bool packed;                     /* (B, T, H d), or (T, H, d) with sequences */
};

static enum status check_floats(const struct build *build, const char *name, const struct tensor *tensor)
{
    if (dtype_is_boolean(tensor->dtype))
        return error_usage(build->error, "%s: %s holds booleans; expected floats", build->inputs->source, name);
    if (dtype_is_whole(tensor->dtype))
        return error_usage(build->error, "%s: %s holds whole numbers (%s); expected floats", build->inputs->source,
                           name, dtype_safetensors(tensor->dtype));
    return STATUS_OK;
}

static enum status find_operands(const struct build *build, struct operand operands[3])
{
    const struct input_file *inputs = build->inputs;
    if (!build_has_pages(build) &&
        (input_file_find(inputs, "key_cache") != NULL || input_file_find(inputs, "value_cache") != NULL))
        return error_usage(build->error,
                           "%s: no \"block_table\"; key_cache and value_cache need it to find the keys of an item",
                           inputs->source);
    if (inputs->part != NULL)
        return error_usage(build->error, "%s: is part %.80s of a result; put the parts together with attn join",
                           inputs->source, inputs->part);
    if (inputs->lacks != NULL)
        return error_usage(build->error, "%s: is a result without %.80s; make one with --stages inputs", inputs->source,
                           inputs->lacks);
    for (size_t i = 0; i < 3; i++) {
        const char *name = (build_has_pages(build) ? IN_PAGES : NAMES)[i];
        const struct file_tensor *found = input_file_find(inputs, name);
        if (found == NULL)
            return error_usage(build->error, "%s: no \"%s\"; sdpa expects query, %s", inputs->source, name,
                               build_has_pages(build) ? "key_cache and value_cache with block_table" : "key and value");
        enum status status = check_floats(build, name, &found->tensor);
        if (status != STATUS_OK)
            return status;
        operands[i] = (struct operand){.name = name, .tensor = &found->tensor};
    }
    return STATUS_OK;
}

/* Cuts (T, H d) or (B, T, H d) into heads. */
static enum status unpack_shape(const struct build *build, struct operand *operand, size_t heads)
{
    const struct tensor *tensor = operand->tensor;
    const size_t width = tensor->shape[tensor->rank - 1];
    if (width % heads != 0)
        return error_usage(build->error, "%s: %s is %s, whose %zu columns are not a multiple of %zu heads",
                           build->inputs->source, operand->name, SHAPE_TEXT(tensor), width, heads);
    operand->packed = true;
    operand->shape[0] = tensor->rank == 3 ? tensor->shape[0] : 1;
    operand->shape[1] = heads;
    operand->shape[2] = tensor->shape[tensor->rank - 2];
    operand->shape[3] = width / heads;
    return STATUS_OK;
}

/* (T, H, d) with cu_seqlens_q: packed heads too, with an axis. */
static enum status take_sequences(const struct build *build, struct operand *operand, size_t heads, enum option_id id)
{
    const struct tensor *tensor = operand->tensor;
    if (tensor->rank != 3)
        return error_usage(build->error,
                           "%s: %s is %s; expected T x H x d, all tokens of all sequences, with cu_seqlens_q",
                           build->inputs->source, operand->name, SHAPE_TEXT(tensor));
    if (heads > 0 && heads != tensor->shape[1])
        return error_usage(build->error, "%s: %s is %s, T x H x d with cu_seqlens_q: it does not agree with %s %zu",
                           build->inputs->source, operand->name, SHAPE_TEXT(tensor), BUILD_PLACE(build, id), heads);
    operand->packed = true;
    operand->shape[0] = 1;
    operand->shape[1] = tensor->shape[1];
    operand->shape[2] = tensor->shape[0];
    operand->shape[3] = tensor->shape[2];
    return STATUS_OK;
}

/* (B, Tq, H, d) with block_table. */
static enum status take_paged_query(const struct build *build, struct operand *operand, size_t heads)
{
    const struct tensor *query = operand->tensor;
    if (query->rank != 4)
        return error_usage(build->error, "%s: query is %s; expected B x T x H x d with block_table",
                           build->inputs->source, SHAPE_TEXT(query));
    if (heads > 0 && heads != query->shape[2])
        return error_usage(build->error,
                           "%s: query is %s, B x T x H x d with block_table: it does not agree with %s %zu",
                           build->inputs->source, SHAPE_TEXT(query), BUILD_PLACE(build, OPTION_HEADS), heads);
    operand->packed = true;
    memcpy(operand->shape, (size_t[]){query->shape[0], query->shape[2], query->shape[1], query->shape[3]},
           sizeof operand->shape);
    return STATUS_OK;
}

static enum status take_pages(const struct build *build, struct operand operands[3], size_t heads, size_t kv_given,
                              struct build_pages *pages)
{
    const size_t *query = operands[0].shape;
    if ((build_has_sequences(build) ? take_sequences(build, &operands[0], heads, OPTION_HEADS)
                                    : take_paged_query(build, &operands[0], heads)) ||
        build_pages(build, query[0], pages))
        return build->error->status;
    if (kv_given > 0 && kv_given != pages->key.shape[2])
        return error_usage(build->error,
                           "%s: key_cache is %s, pages x page size x H_kv x d: it does not agree with %s %zu",
                           build->inputs->source, SHAPE_TEXT(&input_file_find(build->inputs, "key_cache")->tensor),
                           BUILD_PLACE(build, OPTION_KV_HEADS), kv_given);
    for (size_t i = 1; i < 3; i++) {
        const struct tensor *cache = i == 1 ? &pages->key : &pages->value;
        operands[i].tensor = cache;
        operands[i].pages = pages;
        memcpy(operands[i].shape, (size_t[]){query[0], cache->shape[2], pages->keys, cache->shape[3]},
               sizeof operands[i].shape);
    }
    return STATUS_OK;
}

/* `heads`: by the option; 0: not set. */
static enum status take_shape(const struct build *build, struct operand *operand, size_t heads, enum option_id id)
{
    const struct tensor *tensor = operand->tensor;
    const size_t rank = tensor->rank;
    if (build_has_sequences(build))
        return take_sequences(build, operand, heads, id);
    if (rank < 2)
        return error_usage(build->error,
                           "%s: %s is %s; expected B x H x T x d, H x T x d or T x d, or B x T x H d with --heads",
                           build->inputs->source, operand->name, SHAPE_TEXT(tensor));
    if (heads > 0 && rank < 4)
        return unpack_shape(build, operand, heads);
    for (size_t axis = 0; axis < 4; axis++)
        operand->shape[axis] = axis + rank < 4 ? 1 : tensor->shape[axis + rank - 4];
    if (heads > 0 && heads != operand->shape[1])
        return error_usage(build->error, "%s: %s is %s, B x H x T x d: it does not agree with %s %zu",
                           build->inputs->source, operand->name, SHAPE_TEXT(tensor), BUILD_PLACE(build, id), heads);
    return STATUS_OK;
}

static enum status misfit(const struct build *build, const struct operand *a, const struct operand *b,
                          const char *expected)
{
    return error_usage(build->error, "%s: %s is %s, %s is %s; expected %s%s", build->inputs->source, a->name,
                       SHAPE_TEXT(a->tensor), b->name, SHAPE_TEXT(b->tensor), expected,
                       !a->packed || a->tensor->rank > 3 || build_has_sequences(build) ? ""
                       : a->tensor->rank == 3                                          ? ", B x T x H d as --heads says"
                                                                                       : ", T x H d as --heads says");
}

static enum status check_shapes(const struct build *build, const struct operand *operands)
{
    const struct operand *query = &operands[0], *key = &operands[1], *value = &operands[2];
    if (key->pages == NULL && key->tensor->rank != query->tensor->rank)
        return misfit(build, query, key, "the same number of axes");
    if (value->pages == NULL && value->tensor->rank != query->tensor->rank)
        return misfit(build, query, value, "the same number of axes");
    if (key->shape[0] != query->shape[0])
        return misfit(build, query, key, "the same batch");
    if (value->shape[0] != query->shape[0])
        return misfit(build, query, value, "the same batch");
    if (key->shape[3] != query->shape[3])
        return misfit(build, query, key, "the same number of columns in each head");
    if (value->shape[1] != key->shape[1])
        return misfit(build, key, value, "the same number of heads");
    if (value->shape[2] != key->shape[2])
        return misfit(build, key, value, "the same number of tokens");
    if (key->shape[1] == 0 || query->shape[1] % key->shape[1] != 0)
        return error_usage(build->error,
                           "%s: query has %zu head%s, key and value have %zu; expected a multiple of that: each key "
                           "head serves the same number of query heads",
                           build->inputs->source, query->shape[1], query->shape[1] == 1 ? "" : "s", key->shape[1]);
    return STATUS_OK;
}

/* Copies (B, T, H d) or (B, H, T, d) into (B, H, rows, d) from row `first` on. */
static void copy_heads(const struct operand *operand, const struct tensor *from, const struct tensor *to, size_t first)
{
    const size_t heads = operand->shape[1], tokens = operand->shape[2], d = operand->shape[3], rows = to->shape[2];
    const size_t size = dtype_size(from->dtype);
    for (size_t matrix = 0; matrix < operand->shape[0] * heads; matrix++)
        for (size_t token = 0; token < tokens; token++) {
            const size_t packed = ((matrix / heads * tokens + token) * heads + matrix % heads) * d;
            const size_t at = operand->packed ? packed : (matrix * tokens + token) * d;
            memcpy((char *)to->data + (matrix * rows + first + token) * d * size, (const char *)from->data + at * size,
                   d * size);
        }
}

/* *past: the past of key or value, (B, H_kv, T_past, d), which must fit the operand; NULL where the file has none. */
static enum status find_past(const struct build *build, const struct operand *operand, const char *name,
                             const struct tensor **past)
{
    const struct file_tensor *found = input_file_find(build->inputs, name);
    *past = found != NULL ? &found->tensor : NULL;
    if (found == NULL)
        return STATUS_OK;
    if (check_floats(build, name, &found->tensor) != STATUS_OK)
        return build->error->status;
    const size_t *axes = found->tensor.shape;
    if (found->tensor.rank == 4 && axes[0] == operand->shape[0] && axes[1] == operand->shape[1] &&
        axes[3] == operand->shape[3])
        return STATUS_OK;
    return error_usage(build->error,
                       "%s: %s is %s, expected %zu x %zu x T x %zu, items, heads, tokens and columns of %s",
                       build->inputs->source, name, SHAPE_TEXT(&found->tensor), operand->shape[0], operand->shape[1],
                       operand->shape[3], operand->name);
}

/* Converts a tensor to the kernels' form of the working dtype; *finite becomes false where the result is not. */
static enum status take_tensor(const struct build *build, const char *name, const struct tensor *tensor, bool *finite,
                               struct tensor *taken)
{
    const enum dtype dtype = build->problem->rounding.dtype;
    tensor_conversion *take = kernel_takes(dtype) ? tensor_round : tensor_convert;
    return take(tensor, dtype, build->inputs->source, name, finite, taken, build->arena, build->error);
}

/* Makes one operand in the working dtype, with an axis of heads, after its past. */
static enum status take_operand(const struct build *build, const struct operand *operand, const struct tensor *past,
                                const char *past_name, struct tensor *given)
{
    struct problem *problem = build->problem;
    struct tensor present, before;
    bool finite = true;
    if (take_tensor(build, operand->name, operand->tensor, &finite, &present) ||
        (past != NULL && take_tensor(build, past_name, past, &finite, &before)))
        return build->error->status;
    if (!finite && problem->given.not_finite == NULL)
        problem->given.not_finite = operand->name;
    build_keep(build, operand->name, &present);
    if (past != NULL)
        build_keep(build, past_name, &before);
    if (operand->pages != NULL)
        return build_gather(build, operand->pages, &present, given);
    const size_t past_tokens = past != NULL ? past->shape[2] : 0;
    const size_t shape[] = {operand->shape[0], operand->shape[1], past_tokens + operand->shape[2], operand->shape[3]};
    *given = present;
    given->rank = 4;
    memcpy(given->shape, shape, sizeof shape);
    if (past == NULL && !operand->packed)
        return STATUS_OK;
    if (tensor_create(given, present.dtype, 4, shape, build->arena, build->error) != STATUS_OK)
        return build->error->status;
    copy_heads(operand, &present, given, past_tokens);
    if (past != NULL) {
        const struct operand of_past = {.shape = {shape[0], shape[1], past_tokens, shape[3]}};
        copy_heads(&of_past, &before, given, 0);
    }
    return STATUS_OK;
}

/* Takes kv_lengths, (B) whole numbers from 0 to Tk. */
static enum status take_lengths(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct file_tensor *found = input_file_find(build->inputs, "kv_lengths");
    const char *source = build->inputs->source;
    if (found == NULL)
        return STATUS_OK;
    if (dtype_is_boolean(found->tensor.dtype))
        return error_usage(build->error, "%s: kv_lengths holds booleans; expected whole numbers", source);
    if (found->tensor.rank != 1 || found->tensor.shape[0] != problem->size.items)
        return error_usage(build->error, "%s: kv_lengths is %s, expected %zu, one for each item", source,
                           SHAPE_TEXT(&found->tensor), problem->size.items);
    int64_t *lengths = arena_allocate(build->arena, problem->size.items, sizeof *lengths, build->error);
    if (lengths == NULL)
        return build->error->status;
    for (size_t item = 0; item < problem->size.items; item++) {
        double length;
        tensor_load(&found->tensor, item, 1, &length);
        if (!(length >= 0 && length <= (double)problem->size.keys && length == floor(length)))
            return error_usage(build->error,
                               "%s: kv_lengths: the length of item %zu is %g; expected a whole number, 0..%zu", source,
                               item + 1, length, problem->size.keys);
        lengths[item] = (int64_t)length;
    }
    problem->mask.lengths = lengths;
    build_keep(build, "kv_lengths", &(struct tensor){.rank = 1, .shape = {problem->size.items}, DTYPE_I64, lengths});
    return STATUS_OK;
}

static enum status take_all(const struct build *build, const struct operand *operands)
{
    struct problem *problem = build->problem;
    const struct tensor *past_key, *past_value;
    if (find_past(build, &operands[1], "past_key", &past_key) ||
        find_past(build, &operands[2], "past_value", &past_value))
        return build->error->status;
    const struct operand past_operands[] = {{.name = "past_key", .tensor = past_key},
                                            {.name = "past_value", .tensor = past_value}};
    if ((past_key == NULL) != (past_value == NULL))
        return error_usage(build->error, "%s: past_key and past_value go together; give both or none",
                           build->inputs->source);
    if (past_key != NULL && past_key->shape[2] != past_value->shape[2])
        return misfit(build, &past_operands[0], &past_operands[1], "the same number of tokens");
    const bool has_past = past_key != NULL || build->inputs->empty_past;
    if (has_past && input_file_find(build->inputs, "kv_lengths") != NULL)
        return error_usage(
            build->error,
            "%s: past_key and kv_lengths exclude each other; leave one out: lengths say how much of a cache counts",
            build->inputs->source);
    if (take_operand(build, &operands[0], NULL, NULL, &problem->given.operands[0]) ||
        take_operand(build, &operands[1], past_key, "past_key", &problem->given.operands[1]) ||
        take_operand(build, &operands[2], past_value, "past_value", &problem->given.operands[2]))
        return build->error->status;
    problem->size.keys = problem->given.operands[1].shape[2];
    problem->rotation.has_past = has_past;
    problem->rotation.past = past_key != NULL ? past_key->shape[2] : 0;
    if (has_past) /* with lengths each item has its own */
        problem->mask.offset = (int64_t)problem->rotation.past;
    else if (build->options->align == ALIGN_BOTTOM_RIGHT)
        problem->mask.offset = (int64_t)problem->size.keys - (int64_t)problem->size.queries;
    if ((operands[1].pages == NULL || !operands[1].pages->in_sequence) && take_lengths(build) != STATUS_OK)
        return build->error->status;
    return build_sequences(build, operands[1].pages);
}

/* How many heads are packed in query, key and value, by the option; 0 where they have an axis of heads. In a result
 * `heads` is about the module that made it, and heads have an axis, unless its `layout` says that it holds the query,
 * key and value given to sdpa. */
static size_t packed_heads(const struct build *build, enum option_id id, uint64_t heads)
{
    const bool of_result = build->inputs->is_result && !input_file_has_layout(build->inputs, INPUT_FILE_GIVEN) &&
                           build->options->origin[id] == ORIGIN_FILE;
    return of_result ? 0 : (size_t)heads;
}

enum status build_operands(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    const size_t heads = packed_heads(build, OPTION_HEADS, options->heads);
    const size_t kv_given = packed_heads(build, OPTION_KV_HEADS, options->kv_heads);
    const size_t kv_heads = kv_given > 0 ? kv_given : heads;
    struct operand operands[3];
    struct build_pages pages;
    if (find_operands(build, operands) != STATUS_OK)
        return build->error->status;
    if (heads == 0 && kv_heads > 0 && operands[1].tensor->rank < 4 && !build_has_sequences(build))
        return error_usage(build->error, "%s %zu without --heads: packed heads need both; add --heads, or leave it out",
                           BUILD_PLACE(build, OPTION_KV_HEADS), kv_heads);
    if (build_has_pages(build) && take_pages(build, operands, heads, kv_given, &pages) != STATUS_OK)
        return build->error->status;
    for (size_t i = 0; i < 3 && !build_has_pages(build); i++) {
        const size_t given = operands[i].tensor->rank < 4 ? kv_heads : kv_given;
        if (take_shape(build, &operands[i], i == 0 ? heads : given, i == 0 ? OPTION_HEADS : OPTION_KV_HEADS))
            return build->error->status;
    }
    if (check_shapes(build, operands) != STATUS_OK)
        return build->error->status;
    const size_t *query = operands[0].shape, rank = operands[0].tensor->rank;
    problem->size.heads_packed = operands[0].packed;
    problem->size.has_batch = (rank == 4 || (problem->size.heads_packed && rank == 3)) && !build_has_sequences(build);
    problem->size.has_heads = rank > 2 || problem->size.heads_packed;
    problem->size.items = query[0];
    problem->size.heads = query[1];
    problem->size.kv_heads = operands[1].shape[1];
    problem->size.queries = query[2];
    problem->size.d_head = query[3];
    problem->size.d_value = operands[2].shape[3];
    return build_take_dtype(build, input_file_find(build->inputs, "query")) ? build->error->status
                                                                            : take_all(build, operands);
}
