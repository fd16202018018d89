/* SPDX-License-Identifier: MIT */
#include "layer/unpack.h"

#include "base/text.h"
#include "layer/adapter.h"
#include "layer/naming.h"
#include "layer/quantised.h"

#include <string.h>

struct unpacking {
    const struct module_list *list;
    const struct module_tensors *tensors;
    const struct layer_module *module;
    struct unpack_plan *plan;
    size_t columns, value_columns; /* of a head */
    size_t width;                  /* columns of the query's weight */
    bool stored_across;            /* weights are d_in x d_out */
    struct arena *arena;
    struct input_file *input;
    struct error *error;
};

struct taken {
    const char *name, *file;
    struct tensor tensor; /* rank 0 where there is none */
};

/* --- taking ------------------------------------------------------------------------------------------------------ */

/* Takes the tensor if the module has it. */
static enum status take(const struct unpacking *unpacking, const char *standard, struct taken *taken)
{
    const struct module_tensors *tensors = unpacking->tensors;
    *taken = (struct taken){0};
    for (size_t i = 0; i < tensors->count && taken->name == NULL; i++)
        if (strcmp(tensors->tensors[i].standard, standard) == 0)
            taken->name = tensors->tensors[i].name;
    if (taken->name == NULL)
        return STATUS_OK;
    if (quantised_take(unpacking->list->quantised, taken->name, &taken->tensor, &taken->file, unpacking->error) ||
        adapter_replace(unpacking->list->adapter, taken->name, &taken->tensor))
        return unpacking->error->status;
    return dtype_is_working(taken->tensor.dtype)
               ? STATUS_OK
               : error_usage(unpacking->error, "%s: %.200s holds numbers of %s; expected floats", taken->file,
                             taken->name, dtype_safetensors(taken->tensor.dtype));
}

/* "FILE: NAME: 48 x 32; expected ..."; if the heads do not fit, with their sources: ", by --heads and n_head_kv". */
static enum status __attribute__((format(printf, 4, 5)))
contradicts(const struct unpacking *unpacking, const struct taken *taken, bool of_heads, const char *format, ...)
{
    const char *heads = of_heads ? unpacking->plan->heads_said : NULL,
               *kv_heads = of_heads ? unpacking->plan->kv_heads_said : NULL;
    char expected[160];
    TEXT_FORMAT(expected, format);
    return error_usage(unpacking->error, "%s: %.200s: %s; expected %s%s%s%s%s", taken->file, taken->name,
                       SHAPE_TEXT(&taken->tensor), expected, heads != NULL || kv_heads != NULL ? ", as set by " : "",
                       heads != NULL ? heads : "", heads != NULL && kv_heads != NULL ? " and " : "",
                       kv_heads != NULL ? kv_heads : "");
}

static enum status check_rank(const struct unpacking *unpacking, const struct taken *taken, size_t rank)
{
    if (taken->tensor.rank == rank)
        return STATUS_OK;
    return contradicts(unpacking, taken, false,
                       rank == 3   ? "a matrix for each head"
                       : rank == 2 ? "a matrix"
                                   : "a list of numbers");
}

static enum status check_length(const struct unpacking *unpacking, const struct taken *taken, size_t length,
                                const char *why)
{
    if (taken->tensor.rank == 0 || (taken->tensor.rank == 1 && taken->tensor.shape[0] == length))
        return STATUS_OK;
    return contradicts(unpacking, taken, false, "%zu numbers, %s", length, why);
}

/* Puts rows first .. first + count of a matrix or a list into the input, in place. */
static void put_rows(const struct unpacking *unpacking, const struct taken *taken, const char *standard, size_t first,
                     size_t count)
{
    struct input_file *input = unpacking->input;
    struct file_tensor *put = &input->tensors[input->tensor_count++];
    *put = (struct file_tensor){.name = standard,
                                .origin = taken->name,
                                .file = taken->file,
                                .tensor = tensor_rows(&taken->tensor, first, count)};
}

/* Takes a tensor and puts it into the input unchanged. */
static enum status pass_on(const struct unpacking *unpacking, const char *standard, struct taken *taken)
{
    if (take(unpacking, standard, taken) != STATUS_OK)
        return unpacking->error->status;
    if (taken->tensor.rank > 0)
        put_rows(unpacking, taken, standard, 0, taken->tensor.shape[0]);
    return STATUS_OK;
}

/* --- copies ------------------------------------------------------------------------------------------------------ */

static enum status transpose(const struct unpacking *unpacking, struct taken *taken)
{
    const struct tensor from = taken->tensor;
    const size_t rows = from.shape[0], columns = from.shape[1], size = dtype_size(from.dtype);
    const unsigned char *numbers = from.data;
    if (tensor_create(&taken->tensor, from.dtype, 2, (const size_t[]){columns, rows}, unpacking->arena,
                      unpacking->error) != STATUS_OK)
        return unpacking->error->status;
    unsigned char *to = taken->tensor.data;
    for (size_t column = 0; column < columns; column++)
        for (size_t row = 0; row < rows; row++, to += size)
            memcpy(to, numbers + (row * columns + column) * size, size);
    return STATUS_OK;
}

/* Where piece i of a tensor goes, whose pieces belong together in groups of `each`. */
typedef size_t place(const struct unpacking *unpacking, size_t each, size_t i);

/* For each key head its queries, its key, its value -> all queries, all keys, all values. */
static size_t ungroup(const struct unpacking *unpacking, size_t each, size_t i)
{
    const size_t heads = unpacking->plan->heads, queries = each - 2, group = i / each, at = i % each;
    return at < queries    ? group * queries + at
           : at == queries ? heads + group
                           : heads + unpacking->plan->kv_heads + group;
}

/* In each group pieces 0, 2, 4, ... are the first half, and the others the second. */
static size_t to_halves(const struct unpacking *unpacking, size_t each, size_t i)
{
    (void)unpacking;
    return i / each * each + i % each / 2 + i % 2 * (each / 2);
}

/* Puts each of `count` equal pieces of a tensor, if there is one, in its place. */
static enum status rearrange(const struct unpacking *unpacking, struct taken *taken, size_t count, size_t each,
                             place *to)
{
    const struct tensor from = taken->tensor;
    if (from.rank == 0 || tensor_create(&taken->tensor, from.dtype, from.rank, from.shape, unpacking->arena,
                                        unpacking->error) != STATUS_OK)
        return unpacking->error->status;
    const size_t size = tensor_count(&from) / count * dtype_size(from.dtype);
    for (size_t i = 0; i < count; i++)
        memcpy((unsigned char *)taken->tensor.data + to(unpacking, each, i) * size,
               (const unsigned char *)from.data + i * size, size);
    return STATUS_OK;
}

/* llama.cpp stores side by side, in each head, what a rotation of halves pairs. */
static enum status put_halves_back(const struct unpacking *unpacking, struct taken *taken, size_t heads)
{
    const size_t rows = taken->tensor.shape[0];
    if (!unpacking->plan->permuted || taken->tensor.rank == 0)
        return STATUS_OK;
    if (rows / heads % 2 != 0)
        return contradicts(unpacking, taken, true, "an even number of rows in each of %zu heads", heads);
    return rearrange(unpacking, taken, rows, rows / heads, to_halves);
}

/* --- projections ------------------------------------------------------------------------------------------------- */

/* A projection's weight, its rows one for each column of its result, and its bias. */
struct weights {
    struct taken weight, bias;
};

static enum status take_weights(struct unpacking *unpacking, enum naming_role role, struct weights *weights)
{
    char weight[48], bias[48];
    snprintf(weight, sizeof weight, "%s.weight", naming_standard(role));
    snprintf(bias, sizeof bias, "%s.bias", naming_standard(role));
    if (take(unpacking, weight, &weights->weight) || take(unpacking, bias, &weights->bias))
        return unpacking->error->status;
    if (weights->weight.tensor.data == NULL)
        return error_usage(unpacking->error, "%s: %.200s has no %s", unpacking->list->checkpoint->source,
                           unpacking->module->path, weight);
    if (check_rank(unpacking, &weights->weight, 2) != STATUS_OK)
        return unpacking->error->status;
    /* An output projection may be square: it has the orientation of the packed weight before it. */
    if (role != ROLE_OUT && role != ROLE_QUERY)
        unpacking->stored_across =
            module_stores_transposed(unpacking->module, weights->weight.tensor.shape,
                                     weights->bias.tensor.rank == 1 ? weights->bias.tensor.shape[0] : 0);
    if ((unpacking->stored_across && transpose(unpacking, &weights->weight) != STATUS_OK) ||
        adapter_add(unpacking->list->adapter, weights->weight.name, &weights->weight.tensor) ||
        adapter_add(unpacking->list->adapter, weights->bias.name, &weights->bias.tensor))
        return unpacking->error->status;
    return check_length(unpacking, &weights->bias, weights->weight.tensor.shape[0], "one for each row of its weight");
}

/* Puts rows first .. first + count of weight and bias into the input. */
static void put_weights(const struct unpacking *unpacking, const struct weights *weights, enum naming_role role,
                        size_t first, size_t count)
{
#define NAMES_OF(id, field, standard) [ROLE_##id] = {standard ".weight", standard ".bias"},
    static const char *const NAMES[][2] = {NAMING_ROLES(NAMES_OF)};
    put_rows(unpacking, &weights->weight, NAMES[role][0], first, count);
    if (weights->bias.tensor.rank > 0)
        put_rows(unpacking, &weights->bias, NAMES[role][1], first, count);
}

static void put_all(const struct unpacking *unpacking, const struct weights *weights, enum naming_role role)
{
    put_weights(unpacking, weights, role, 0, weights->weight.tensor.shape[0]);
}

/* Checks that the rows of a weight are `heads` times *columns. */
static enum status divide_rows(const struct unpacking *unpacking, const struct taken *weight, size_t heads,
                               const char *of, size_t *columns)
{
    *columns = weight->tensor.shape[0] / heads;
    if (weight->tensor.shape[0] % heads == 0)
        return STATUS_OK;
    return contradicts(unpacking, weight, true, "rows that divide into %zu heads%s", heads, of);
}

/* Infers the key heads, if unknown, from the rows of the key's weight and the columns of a query head. */
static enum status count_kv_heads(const struct unpacking *unpacking, const struct taken *key)
{
    const size_t rows = key->tensor.shape[0], columns = unpacking->columns, heads = unpacking->plan->heads;
    size_t *kv_heads = &unpacking->plan->kv_heads;
    if (*kv_heads == 0)
        *kv_heads = memory_larger(rows / columns, 1);
    if (rows == *kv_heads * columns && heads % *kv_heads == 0)
        return STATUS_OK;
    return contradicts(unpacking, key, true, "%zu rows: kv_heads %zu x %zu columns, to go with heads %zu",
                       *kv_heads * columns, *kv_heads, columns, heads);
}

static enum status check_width(const struct unpacking *unpacking, const struct taken *weight, size_t width,
                               const char *why)
{
    if (weight->tensor.shape[1] == width)
        return STATUS_OK;
    return contradicts(unpacking, weight, false, "%zu columns, %s", width, why);
}

static enum status unpack_query(struct unpacking *unpacking)
{
    struct weights query = {0};
    const size_t parts = unpacking->plan->gated ? 2 : 1, heads = unpacking->plan->heads;
    if (take_weights(unpacking, ROLE_QUERY, &query) ||
        divide_rows(unpacking, &query.weight, heads * parts, unpacking->plan->gated ? " and their gates" : "",
                    &unpacking->columns) ||
        /* each head has its query, then its gate */
        (unpacking->plan->gated && (rearrange(unpacking, &query.weight, 2 * heads, 2 * heads, to_halves) ||
                                    rearrange(unpacking, &query.bias, 2 * heads, 2 * heads, to_halves))) ||
        put_halves_back(unpacking, &query.weight, heads) || put_halves_back(unpacking, &query.bias, heads))
        return unpacking->error->status;
    unpacking->width = query.weight.tensor.shape[1];
    put_weights(unpacking, &query, ROLE_QUERY, 0, heads * unpacking->columns);
    if (unpacking->plan->gated) {
        put_rows(unpacking, &query.weight, "W_gate.weight", heads * unpacking->columns, heads * unpacking->columns);
        if (query.bias.tensor.rank > 0)
            put_rows(unpacking, &query.bias, "W_gate.bias", heads * unpacking->columns, heads * unpacking->columns);
    }
    return STATUS_OK;
}

static enum status unpack_separate(struct unpacking *unpacking)
{
    struct weights key = {0}, value = {0};
    if (unpack_query(unpacking) || take_weights(unpacking, ROLE_KEY, &key) ||
        take_weights(unpacking, ROLE_VALUE, &value) || count_kv_heads(unpacking, &key.weight) ||
        divide_rows(unpacking, &value.weight, unpacking->plan->kv_heads, " of values", &unpacking->value_columns) ||
        check_width(unpacking, &value.weight, key.weight.tensor.shape[1], "as many as in the key's weight") ||
        put_halves_back(unpacking, &key.weight, unpacking->plan->kv_heads) ||
        put_halves_back(unpacking, &key.bias, unpacking->plan->kv_heads))
        return unpacking->error->status;
    put_all(unpacking, &key, ROLE_KEY);
    put_all(unpacking, &value, ROLE_VALUE);
    return STATUS_OK;
}

/* Key and value in one weight, query in another. */
static enum status unpack_key_value(struct unpacking *unpacking)
{
    struct weights both = {0};
    struct unpack_plan *plan = unpacking->plan;
    size_t *columns = &unpacking->value_columns;
    plan->kv_heads = plan->kv_heads > 0 ? plan->kv_heads : plan->heads;
    if (take_weights(unpacking, ROLE_KEY_VALUE, &both) ||
        divide_rows(unpacking, &both.weight, 2 * plan->kv_heads, " of keys and values", columns) ||
        unpack_query(unpacking))
        return unpacking->error->status;
    if (*columns != unpacking->columns)
        return contradicts(unpacking, &both.weight, false, "as many rows per key head as per query head");
    put_weights(unpacking, &both, ROLE_KEY, 0, plan->kv_heads * *columns);
    put_weights(unpacking, &both, ROLE_VALUE, plan->kv_heads * *columns, plan->kv_heads * *columns);
    return STATUS_OK;
}

static enum status unpack_packed(struct unpacking *unpacking)
{
    struct weights all = {0};
    struct unpack_plan *plan = unpacking->plan;
    plan->kv_heads = plan->kv_heads > 0 ? plan->kv_heads : plan->heads;
    const size_t heads = plan->heads + 2 * plan->kv_heads;
    if (take_weights(unpacking, ROLE_PACKED, &all) != STATUS_OK)
        return unpacking->error->status;
    if (plan->heads % plan->kv_heads != 0)
        return contradicts(unpacking, &all.weight, true, "key heads that divide %zu query heads evenly, got %zu",
                           plan->heads, plan->kv_heads);
    if (divide_rows(unpacking, &all.weight, heads, " of queries, keys and values", &unpacking->columns) ||
        (plan->packing == PACKING_GROUPS &&
         (rearrange(unpacking, &all.weight, heads, heads / plan->kv_heads, ungroup) ||
          rearrange(unpacking, &all.bias, heads, heads / plan->kv_heads, ungroup))))
        return unpacking->error->status;
    const size_t queries = plan->heads * unpacking->columns, keys = plan->kv_heads * unpacking->columns;
    unpacking->value_columns = unpacking->columns;
    unpacking->width = all.weight.tensor.shape[1];
    put_weights(unpacking, &all, ROLE_QUERY, 0, queries);
    put_weights(unpacking, &all, ROLE_KEY, queries, keys);
    put_weights(unpacking, &all, ROLE_VALUE, queries + keys, keys);
    return STATUS_OK;
}

/* --- MLA --------------------------------------------------------------------------------------------------------- */

/* Puts the norm between down and up projection. */
static enum status unpack_inner_norm(const struct unpacking *unpacking, const char *standard, size_t rank)
{
    struct taken norm;
    return pass_on(unpacking, standard, &norm) ||
                   check_length(unpacking, &norm, rank, "one for each column of the latent")
               ? unpacking->error->status
               : STATUS_OK;
}

static enum status unpack_latent_query(struct unpacking *unpacking)
{
    struct weights down = {0}, up = {0};
    if (unpacking->module->naming->query != NULL)
        return unpack_query(unpacking);
    if (take_weights(unpacking, ROLE_QUERY_A, &down) || take_weights(unpacking, ROLE_QUERY_B, &up) ||
        check_width(unpacking, &up.weight, down.weight.tensor.shape[0], "one for each row of the weight before it") ||
        divide_rows(unpacking, &up.weight, unpacking->plan->heads, "", &unpacking->columns) ||
        unpack_inner_norm(unpacking, "query_a_norm.weight", down.weight.tensor.shape[0]))
        return unpacking->error->status;
    unpacking->width = down.weight.tensor.shape[1];
    put_all(unpacking, &down, ROLE_QUERY_A);
    put_all(unpacking, &up, ROLE_QUERY_B);
    return STATUS_OK;
}

/* Joins the halves of the up projection: of each head the columns of its key, which are stored as rows, and the rows of
 * its value. */
static enum status join_up(const struct unpacking *unpacking, const struct tensor *key, const struct tensor *value,
                           struct tensor *joined)
{
    const size_t heads = key->shape[0], rank = key->shape[1], columns = key->shape[2], of_value = value->shape[1],
                 all = (columns + of_value) * rank;
    const bool wide = key->dtype == DTYPE_F64 || value->dtype == DTYPE_F64;
    double *head = arena_allocate(unpacking->arena, memory_larger(all, columns), sizeof *head, unpacking->error),
           *row = arena_allocate(unpacking->arena, columns, sizeof *row, unpacking->error);
    if (head == NULL || row == NULL ||
        tensor_create(joined, wide ? DTYPE_F64 : DTYPE_F32, 2, (const size_t[]){heads * (columns + of_value), rank},
                      unpacking->arena, unpacking->error) != STATUS_OK)
        return unpacking->error->status;
    for (size_t i = 0; i < heads; i++) {
        for (size_t r = 0; r < rank; r++) {
            tensor_load(key, (i * rank + r) * columns, columns, row);
            for (size_t column = 0; column < columns; column++)
                head[column * rank + r] = row[column];
        }
        tensor_load(value, i * of_value * rank, of_value * rank, head + columns * rank);
        dtype_store(joined->dtype, head, all, (unsigned char *)joined->data + i * all * dtype_size(joined->dtype));
    }
    return STATUS_OK;
}

/* Takes the up projection, which a GGUF may have in two halves. */
static enum status take_up(struct unpacking *unpacking, struct weights *up)
{
    struct taken key, value;
    if (unpacking->module->naming->latent_b != NULL)
        return take_weights(unpacking, ROLE_LATENT_B, up);
    if (take(unpacking, "W_key_b.weight", &key) || take(unpacking, "W_value_b.weight", &value) ||
        adapter_add(unpacking->list->adapter, key.name, &key.tensor) ||
        adapter_add(unpacking->list->adapter, value.name, &value.tensor) || check_rank(unpacking, &key, 3) ||
        check_rank(unpacking, &value, 3))
        return unpacking->error->status;
    if (value.tensor.shape[0] != key.tensor.shape[0] || value.tensor.shape[2] != key.tensor.shape[1])
        return contradicts(unpacking, &value, false, "%zu heads of %zu columns, to go with %.80s", key.tensor.shape[0],
                           key.tensor.shape[1], key.name);
    up->weight = value;
    return join_up(unpacking, &key.tensor, &value.tensor, &up->weight.tensor);
}

/* In each head of the up projection the first columns are its key without the rotated ones, the rest its value. */
static enum status unpack_latent(struct unpacking *unpacking)
{
    struct weights down = {0}, up = {0};
    size_t both;
    unpacking->plan->kv_heads = unpacking->plan->heads;
    if (unpack_latent_query(unpacking) || take_weights(unpacking, ROLE_LATENT_A, &down) || take_up(unpacking, &up) ||
        divide_rows(unpacking, &up.weight, unpacking->plan->heads, " of keys and values", &both))
        return unpacking->error->status;
    const size_t rank = up.weight.tensor.shape[1], rows = down.weight.tensor.shape[0];
    const size_t rotated = rows > rank ? rows - rank : 0, columns = unpacking->columns;
    if (rotated == 0 || rotated > columns)
        return contradicts(unpacking, &down.weight, false, "rows for the rank and the rotated columns of a head");
    if (both <= columns - rotated)
        return contradicts(unpacking, &up.weight, false, "rows for the key and the value of each head");
    unpacking->value_columns = both - (columns - rotated);
    put_all(unpacking, &down, ROLE_LATENT_A);
    put_all(unpacking, &up, ROLE_LATENT_B);
    for (size_t i = 0; i < unpacking->tensors->count; i++)
        if (strncmp(unpacking->tensors->tensors[i].standard, "index_", 6) == 0 &&
            pass_on(unpacking, unpacking->tensors->tensors[i].standard, &(struct taken){0}) != STATUS_OK)
            return unpacking->error->status;
    return unpack_inner_norm(unpacking, "key_value_a_norm.weight", rank);
}

static enum status unpack_out(struct unpacking *unpacking)
{
    struct weights out = {0};
    if (take_weights(unpacking, ROLE_OUT, &out) ||
        check_width(unpacking, &out.weight, unpacking->plan->heads * unpacking->value_columns,
                    "one for each value column of all heads"))
        return unpacking->error->status;
    put_all(unpacking, &out, ROLE_OUT);
    return STATUS_OK;
}

/* Checks a norm over a head, over all heads, or with weights for each head. */
static enum status check_head_norm(const struct unpacking *unpacking, const struct taken *norm, size_t heads)
{
    const struct tensor *tensor = &norm->tensor;
    const size_t columns = unpacking->columns;
    if (tensor->rank == 0 ||
        (tensor->rank == 1 && (tensor->shape[0] == columns || tensor->shape[0] == heads * columns)) ||
        (tensor->rank == 2 && tensor->shape[0] == heads && tensor->shape[1] == columns))
        return STATUS_OK;
    return contradicts(unpacking, norm, false,
                       "%zu numbers, one for each column of a head, or as many for each of %zu heads", columns, heads);
}

static enum status unpack_norms(const struct unpacking *unpacking)
{
    static const char *const NORMS[] = {"norm.weight",     "norm.bias",       "query_norm.weight",
                                        "query_norm.bias", "key_norm.weight", "key_norm.bias"};
    const size_t heads[] = {0, unpacking->plan->heads, unpacking->plan->kv_heads};
    struct taken norm;
    for (size_t i = 0; i < sizeof NORMS / sizeof NORMS[0]; i++)
        if (pass_on(unpacking, NORMS[i], &norm) ||
            (i / 2 > 0 ? check_head_norm(unpacking, &norm, heads[i / 2])
                       : check_length(unpacking, &norm, unpacking->width, "one for each column of the query's weight")))
            return unpacking->error->status;
    return STATUS_OK;
}

/* Puts the table of the relative bias, with a column per head, and the sinks. */
static enum status unpack_of_heads(const struct unpacking *unpacking)
{
    struct taken bias, sinks, gate;
    const size_t heads = unpacking->plan->heads;
    if (pass_on(unpacking, "relative_bias.weight", &bias) || pass_on(unpacking, "sinks", &sinks) ||
        check_length(unpacking, &sinks, heads, "one for each head") || pass_on(unpacking, "W_gate.weight", &gate) ||
        pass_on(unpacking, "W_gate.bias", &gate))
        return unpacking->error->status;
    if (bias.tensor.rank == 0)
        return STATUS_OK;
    return check_rank(unpacking, &bias, 2) || check_width(unpacking, &bias, heads, "one for each head")
               ? unpacking->error->status
               : STATUS_OK;
}

static enum status check_packing(const struct unpacking *unpacking)
{
    const struct naming_row *naming = unpacking->module->naming;
    const enum packing packing = unpacking->plan->packing;
    const char *path = unpacking->module->path, *source = unpacking->list->checkpoint->source;
    if (naming->packed == NULL && packing != naming->packing)
        return error_usage(
            unpacking->error,
            "%s: %.200s has separate weights for query, key and value; expected --packing separate, or no --packing",
            source, path);
    if (naming->packed != NULL && packing == PACKING_SEPARATE)
        return error_usage(unpacking->error,
                           "%s: %.200s has query, key and value in one weight; expected --packing blocks or groups",
                           source, path);
    return STATUS_OK;
}

static enum status unpack(struct unpacking *unpacking)
{
    const struct naming_row *naming = unpacking->module->naming;
    enum status (*const projections)(struct unpacking *) = naming->latent_a != NULL    ? unpack_latent
                                                           : naming->packed != NULL    ? unpack_packed
                                                           : naming->key_value != NULL ? unpack_key_value
                                                                                       : unpack_separate;
    return check_packing(unpacking) || projections(unpacking) || unpack_out(unpacking) || unpack_norms(unpacking) ||
                   unpack_of_heads(unpacking)
               ? unpacking->error->status
               : STATUS_OK;
}

enum status module_unpack(const struct module_list *list, const struct layer_module *module, struct unpack_plan *plan,
                          struct arena *arena, struct input_file *input, struct error *error)
{
    struct module_tensors tensors;
    struct unpacking unpacking = {.list = list,
                                  .tensors = &tensors,
                                  .module = module,
                                  .plan = plan,
                                  .arena = arena,
                                  .input = input,
                                  .error = error};
    *input = (struct input_file){.source = list->checkpoint->source};
    input->tensors = arena_allocate(arena, MODULE_TENSORS, sizeof input->tensors[0], error);
    if (input->tensors == NULL || module_tensors(list, module, arena, &tensors, error) || unpack(&unpacking) ||
        module_check_other(list, &tensors, error))
        return error->status;
    input_file_sort(input);
    return STATUS_OK;
}
