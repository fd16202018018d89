/* SPDX-License-Identifier: MIT */
#include "layer/listing.h"

#include "base/hash.h"
#include "base/text.h"
#include "layer/reading.h"

#include <string.h>

/* The path with N for the number of its layer. */
static const char *pattern_of(const struct reading *reading, const struct layer_module *module)
{
    char number[24], pattern[512];
    const size_t length = (size_t)snprintf(number, sizeof number, "%zu", module->layer);
    const size_t prefix = strlen(module->prefix);
    struct text text = text_begin(pattern, sizeof pattern);
    if (module->layer == MODULE_NO_LAYER || prefix < length + 1)
        return module->path;
    text_add(&text, "%.*sN%s", (int)(prefix - length - 1), module->prefix, module->path + prefix - 1);
    return arena_text(reading->arena, pattern, text.length, reading->error);
}

/* The tensor that a module has under one of attn's names; NULL: none. */
static const struct named_tensor *find(const struct module_tensors *tensors, const struct named_tensor *const *stored,
                                       const char *standard)
{
    for (size_t i = 0; i < tensors->count; i++)
        if (strcmp(tensors->tensors[i].standard, standard) == 0)
            return stored[i];
    return NULL;
}

/* The columns of a query head by the shapes of the tensors; 0 where they do not tell. */
static size_t columns_of(const struct module_tensors *tensors, const struct named_tensor *const *stored,
                         const struct unpack_plan *plan, bool transposed)
{
    const size_t kv_heads = plan->kv_heads > 0 ? plan->kv_heads : plan->heads, axis = transposed ? 1 : 0;
    const struct named_tensor *packed = find(tensors, stored, "in_proj.weight"),
                              *query = find(tensors, stored, "W_query.weight");
    if (query == NULL)
        query = find(tensors, stored, "W_query_b.weight");
    if (plan->heads == 0 || (query == NULL && packed == NULL))
        return 0;
    return query != NULL ? query->bytes.shape[axis] / plan->heads / (plan->gated ? 2 : 1)
                         : packed->bytes.shape[axis] / (plan->heads + 2 * kv_heads);
}

/* The columns of the inputs, by the weight of the query; 0 without one. */
static size_t width_of(const struct module_tensors *tensors, const struct named_tensor *const *stored, bool transposed)
{
    static const char *const FIRST[] = {"W_query.weight", "W_query_a.weight", "in_proj.weight"};
    const struct named_tensor *first = NULL;
    for (size_t i = 0; i < sizeof FIRST / sizeof FIRST[0] && first == NULL; i++)
        first = find(tensors, stored, FIRST[i]);
    return first != NULL ? first->bytes.shape[transposed ? 0 : 1] : 0;
}

/* Lists a module that attn cannot compute, with the reason, and continues. */
static bool pass_over(const struct reading *reading, struct listed_row *row)
{
    struct error *error = reading->error;
    if (error->status != STATUS_USAGE)
        return false;
    snprintf(row->why, sizeof row->why, "%.*s", (int)strcspn(error->message, ";"), error->message);
    *error = (struct error){0};
    return true;
}

/* Whether its weights are d_in x d_out. */
static bool is_transposed(const struct layer_module *module, const struct module_tensors *tensors,
                          const struct named_tensor *const *stored)
{
    const bool packed = find(tensors, stored, "in_proj.weight") != NULL;
    const struct named_tensor *weight = find(tensors, stored, packed ? "in_proj.weight" : "key_value_proj.weight"),
                              *bias = find(tensors, stored, packed ? "in_proj.bias" : "key_value_proj.bias");
    return weight != NULL && module_stores_transposed(module, weight->bytes.shape, bias != NULL ? bias->count : 0);
}

/* Fills the row of one module. */
static enum status look(struct reading *reading, const struct layer_module *module, struct listed_row *row)
{
    struct module_tensors tensors;
    const struct named_tensor *stored[MODULE_TENSORS];
    struct unpack_plan plan = {0};
    row->path = pattern_of(reading, module);
    if (row->path == NULL)
        return STATUS_SYSTEM;
    if (module_tensors(&reading->modules, module, reading->arena, &tensors, reading->error) != STATUS_OK ||
        (reading_heads(reading, module, &row->family, &plan, &row->facts) != STATUS_OK && !pass_over(reading, row)))
        return reading->error->status;
    for (size_t i = 0; i < tensors.count; i++) {
        if (quantised_look(&reading->quantised, tensors.tensors[i].name, &stored[i], reading->error) != STATUS_OK)
            return pass_over(reading, row) ? STATUS_OK : reading->error->status;
        const enum dtype dtype = stored[i]->bytes.dtype; /* a number of an unknown dtype takes a byte or less */
        row->bytes += stored[i]->size > 0
                          ? (double)stored[i]->size
                          : (double)stored[i]->count * (double)(dtype == DTYPE_COUNT ? 1 : dtype_size(dtype));
    }
    if (row->why[0] == '\0' && module_check_other(&reading->modules, &tensors, reading->error) != STATUS_OK)
        pass_over(reading, row);
    row->cross = module->cross;
    row->heads = plan.heads;
    row->kv_heads = plan.kv_heads > 0 ? plan.kv_heads : plan.heads;
    const bool transposed = is_transposed(module, &tensors, stored);
    row->d_in = width_of(&tensors, stored, transposed);
    row->columns = columns_of(&tensors, stored, &plan, transposed);
    if (row->columns == 0 || row->why[0] != '\0' ||
        reading_facts(reading, module, row->family, row->columns, &row->facts) == STATUS_OK || pass_over(reading, row))
        return STATUS_OK;
    return reading->error->status;
}

/* Whether they differ only in the layer's number. */
static bool alike(const struct listed_row *a, const struct listed_row *b)
{
    bool same = strcmp(a->path, b->path) == 0 && a->cross == b->cross && a->heads == b->heads &&
                a->kv_heads == b->kv_heads && a->columns == b->columns && a->bytes == b->bytes &&
                a->facts.count == b->facts.count && strcmp(a->why, b->why) == 0;
    for (size_t i = 0; same && i < a->facts.count; i++) {
        const struct layer_fact *of_a = &a->facts.facts[i], *of_b = layer_facts_find(&b->facts, of_a->setting);
        same = of_b != NULL && strcmp(of_a->text, of_b->text) == 0;
    }
    return same;
}

/* Indices of rows, from 1, by the hash of their paths; 0 is free. */
struct row_index {
    size_t *rows, mask;
};

static enum status make_index(const struct reading *reading, struct row_index *index)
{
    size_t count = 2;
    while (count < 2 * reading->modules.count)
        count *= 2;
    *index = (struct row_index){arena_allocate(reading->arena, count, sizeof *index->rows, reading->error), count - 1};
    if (index->rows == NULL)
        return reading->error->status;
    memset(index->rows, 0, count * sizeof *index->rows);
    return STATUS_OK;
}

/* Adds a layer to a row's list, whose room is the next power of two. */
static enum status add_layer(const struct reading *reading, struct listed_row *row, size_t layer)
{
    if ((row->count & (row->count - 1)) == 0) {
        const size_t room = row->count > 0 ? 2 * row->count : 1;
        size_t *larger = arena_allocate(reading->arena, room, sizeof *larger, reading->error);
        if (larger == NULL)
            return reading->error->status;
        if (row->count > 0)
            memcpy(larger, row->layers, row->count * sizeof *larger);
        row->layers = larger;
    }
    row->layers[row->count++] = layer;
    return STATUS_OK;
}

/* Adds the module as a new row, or as a layer of an earlier one. */
static enum status add(const struct reading *reading, struct row_index *index, struct listing *listing,
                       const struct listed_row *row, size_t layer)
{
    size_t at = (size_t)hash_text(HASH_START, row->path) & index->mask;
    while (index->rows[at] != 0 && !alike(&listing->rows[index->rows[at] - 1], row))
        at = (at + 1) & index->mask;
    if (index->rows[at] == 0) {
        listing->rows[listing->count++] = *row;
        index->rows[at] = listing->count;
    }
    return add_layer(reading, &listing->rows[index->rows[at] - 1], layer);
}

static enum status list(struct reading *reading, struct listing *listing)
{
    struct row_index index;
    const char *asked = reading->options->module;
    listing->source = reading->checkpoint.source;
    listing->config = reading->config_path;
    listing->rows = arena_allocate(reading->arena, reading->modules.count, sizeof listing->rows[0], reading->error);
    if (listing->rows == NULL || make_index(reading, &index) != STATUS_OK)
        return reading->error->status;
    for (size_t i = 0; i < reading->modules.count; i++) {
        const struct layer_module *module = &reading->modules.modules[i];
        struct listed_row row = {0};
        if ((asked == NULL || module_begins(module, asked)) &&
            (look(reading, module, &row) || add(reading, &index, listing, &row, module->layer) ||
             (row.why[0] == '\0' && layer_warn(reading, module, row.family, &listing->warnings) != STATUS_OK)))
            return reading->error->status;
    }
    if (listing->count > 0)
        return STATUS_OK;
    return reading->modules.count == 0
               ? module_none(&reading->checkpoint, reading->error)
               : error_usage(reading->error, "%s: no attention module whose name begins with %s", listing->source,
                             asked);
}

bool listing_takes(enum option_id id)
{
    return id == OPTION_MODULE || id == OPTION_FAMILY || id == OPTION_HEADS || id == OPTION_KV_HEADS;
}

enum status listing_read(struct listing *listing, const struct options *options, struct arena *arena,
                         struct error *error)
{
    struct reading reading;
    *listing = (struct listing){0};
    enum status status = reading_begin(&reading, options, arena, error);
    if (status == STATUS_OK)
        status = list(&reading, listing);
    reading_end(&reading);
    return status;
}
