/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include <math.h>
#include <string.h>

/* Takes a list of H finite numbers, or NULL where the file has none of that name. */
static enum status take_list(const struct build *build, const char *name, const double **list)
{
    const struct problem *problem = build->problem;
    const struct input_file *file = build->inputs;
    const struct file_tensor *found = input_file_find(file, name);
    if (found == NULL && build->weights != NULL) { /* a checkpoint has sinks among its parameters */
        file = build->weights;
        found = input_file_find(file, name);
    }
    if (found == NULL)
        return STATUS_OK;
    const char *source = file->source;
    struct tensor numbers;
    if (found->tensor.rank != 1 || found->tensor.shape[0] != problem->size.heads)
        return error_usage(build->error, "%s: %s is %s, expected %zu, one for each head", source, name,
                           SHAPE_TEXT(&found->tensor), problem->size.heads);
    if (dtype_is_boolean(found->tensor.dtype))
        return error_usage(build->error, "%s: %s is boolean; expected numbers", source, name);
    double *values = arena_allocate(build->arena, problem->size.heads, sizeof *values, build->error);
    if (values == NULL || tensor_convert(&found->tensor, problem->rounding.dtype, source, name, NULL, &numbers,
                                         build->arena, build->error))
        return build->error->status;
    tensor_load(&numbers, 0, problem->size.heads, values);
    *list = values;
    build_keep(build, name, &numbers);
    return STATUS_OK;
}

/* Sets the strides that broadcast attn_mask to (B, H, Tq, Tk). */
static enum status broadcast(const struct build *build, const struct tensor *tensor)
{
    const struct problem *problem = build->problem;
    struct mask *mask = &build->problem->mask;
    const size_t wanted[MASK_RANK] = {problem->size.items, problem->size.heads, problem->size.queries,
                                      problem->size.keys};
    const struct tensor whole = {.rank = MASK_RANK, .shape = {wanted[0], wanted[1], wanted[2], wanted[3]}};
    size_t stride = 1;
    for (size_t i = 0; i < tensor->rank; i++) {
        const size_t axis = MASK_RANK - 1 - i, size = tensor->shape[tensor->rank - 1 - i];
        if (size != 1 && size != wanted[axis] && !(axis == MASK_RANK - 1 && size < wanted[axis]))
            return error_usage(build->error,
                               "%s: attn_mask is %s, which does not broadcast to %s, items, heads, queries and keys",
                               build->inputs->source, SHAPE_TEXT(tensor), SHAPE_TEXT(&whole));
        mask->strides[axis] = size == 1 ? 0 : stride;
        if (axis == MASK_RANK - 1 && size > 1)
            mask->masked_keys = size;
        stride *= size;
    }
    return STATUS_OK;
}

/* Checks that a float mask is finite except for minus infinity, which masks a key. */
static enum status check_numbers(const struct build *build, const struct tensor *tensor)
{
    enum { AT_ONCE = 1024 };
    char place[TENSOR_PLACE_BYTES];
    double numbers[AT_ONCE];
    const size_t count = tensor_count(tensor);
    for (size_t i = 0; i < count; i++) {
        if (i % AT_ONCE == 0)
            tensor_load(tensor, i, memory_smaller(AT_ONCE, count - i), numbers);
        if (isfinite(numbers[i % AT_ONCE]) || numbers[i % AT_ONCE] == -INFINITY)
            continue;
        return error_usage(
            build->error, "%s: attn_mask: %s: %s; expected a finite number, or minus infinity for a masked key",
            build->inputs->source, tensor_place_of(tensor, i, place), isnan(numbers[i % AT_ONCE]) ? "NaN" : "Infinity");
    }
    return STATUS_OK;
}

/* Rejects a mask of only 0 and 1 in JSON, which may mean numbers or booleans. In a result of attn they are numbers,
 * from another format. */
static enum status check_meaning(const struct build *build, const struct tensor *tensor)
{
    bool one = false;
    double number;
    if (!build->inputs->is_text || build->inputs->is_result || tensor->dtype == DTYPE_BOOL)
        return STATUS_OK;
    for (size_t i = 0; i < tensor_count(tensor); i++) {
        tensor_load(tensor, i, 1, &number);
        if (fabs(number - 0.5) != 0.5)
            return STATUS_OK;
        one = one || number == 1;
    }
    if (!one)
        return STATUS_OK;
    return error_usage(build->error,
                       "%s: attn_mask holds only 0 and 1: booleans, or numbers to add? Write true for an allowed key "
                       "and false for a masked key, or 0 and null",
                       build->inputs->source);
}

static enum status take_attn_mask(const struct build *build)
{
    struct mask *mask = &build->problem->mask;
    const struct file_tensor *found = input_file_find(build->inputs, "attn_mask");
    if (found == NULL)
        return STATUS_OK;
    const char *source = build->inputs->source;
    bool finite = true;
    if (dtype_is_whole(found->tensor.dtype))
        return error_usage(build->error,
                           "%s: attn_mask holds whole numbers (%s); expected booleans, or floats that "
                           "are added to the scores",
                           source, dtype_safetensors(found->tensor.dtype));
    if (check_meaning(build, &found->tensor) || broadcast(build, &found->tensor))
        return build->error->status;
    mask->attn_mask = found->tensor;
    if (!dtype_is_boolean(found->tensor.dtype) &&
        tensor_convert(&found->tensor, build->problem->rounding.dtype, source, "attn_mask", &finite, &mask->attn_mask,
                       build->arena, build->error))
        return build->error->status;
    build_keep(build, "attn_mask", &mask->attn_mask);
    return finite ? STATUS_OK : check_numbers(build, &mask->attn_mask);
}

/* The slopes of the heads, Press et al. 2022, section 3: 2^(-8 i / P) for P the power of two not below the heads; of
 * more than the heads, every second comes first. */
static enum status make_slopes(const struct build *build)
{
    const struct problem *problem = build->problem;
    const size_t heads = problem->size.heads;
    size_t power = 1, at = 0;
    if (build->options->alibi == ALIBI_OFF)
        return STATUS_OK;
    if (problem->mask.alibi_slopes != NULL)
        return error_usage(build->error, "%s: alibi_slopes and %s both set the slopes; leave one out",
                           build->inputs->source, BUILD_PLACE(build, OPTION_ALIBI));
    double *slopes = arena_allocate(build->arena, heads, sizeof *slopes, build->error);
    if (slopes == NULL)
        return build->error->status;
    while (power < heads)
        power *= 2;
    for (size_t i = power > heads ? 2 : 1, step = i; at < heads; i += step) {
        if (i > power) {
            i = 1;
            step = 2;
        }
        slopes[at++] = exp2(-8.0 * (double)i / (double)power);
    }
    if (build->options->alibi == ALIBI_SCALED)
        dtype_round(DTYPE_BF16, slopes, heads);
    build->problem->mask.alibi_slopes = slopes;
    return STATUS_OK;
}

/* Sets the position 0 of ALiBi, and the rounding of slope x position. Scaled slopes are Falcon's, whose code rounds
 * them and their products to bfloat16 in any dtype, before it divides by sqrt(d). */
static void set_places(const struct build *build)
{
    const struct problem *problem = build->problem;
    const struct family_rounding *rounding = problem_rounding(problem);
    const bool scaled = build->options->alibi == ALIBI_SCALED;
    build->problem->mask.places = (struct mask_places){
        .from = scaled ? MASK_FROM_FIRST : rounding->places,
        .rounds = scaled || rounding->places_rounded,
        .product = scaled ? DTYPE_BF16 : problem->rounding.dtype,
        .quotient = problem->rounding.dtype,
        .root = scaled ? sqrt((double)problem->size.d_head) : 1,
    };
}

/* Takes T5's table from the parameters. */
static enum status take_relative(const struct build *build)
{
    struct problem *problem = build->problem;
    struct mask *mask = &problem->mask;
    const struct tensor *table = &problem->parameters.relative_bias;
    const struct family_row *family = problem->rounding.family;
    if (table->rank == 0)
        return STATUS_OK;
    double *numbers = arena_allocate(build->arena, tensor_count(table), sizeof *numbers, build->error);
    if (numbers == NULL)
        return build->error->status;
    tensor_load(table, 0, tensor_count(table), numbers);
    mask->relative = numbers;
    mask->buckets =
        family != NULL && family->buckets > 0 ? memory_smaller(family->buckets, table->shape[0]) : table->shape[0];
    mask->heads = table->shape[1];
    mask->relative_distance = (int64_t)build->options->relative_distance;
    mask->both_ways = !mask->causal;
    if ((double)mask->relative_distance > (double)mask->buckets / (mask->both_ways ? 4 : 2))
        return mask_list_buckets(mask, build->arena, build->error);
    return error_usage(build->error,
                       "--relative-distance %lld is too small: the first buckets hold one distance each; expected more "
                       "than %zu",
                       (long long)mask->relative_distance, mask->buckets / (mask->both_ways ? 4 : 2));
}

/* --- rules ------------------------------------------------------------------------------------------------------- */

enum status build_ids(const struct build *build, enum mask_rule rule, const struct tensor *ids)
{
    struct mask_given *given = &build->problem->mask.given[rule];
    given->lists = ids->rank == 2 ? ids->shape[0] : 1;
    given->count = ids->shape[ids->rank - 1];
    given->ids = ids->data;
    build_keep(build, MASKS[rule].tensor, ids);
    return mask_list_runs(given, build->arena, build->error);
}

/* Takes the tensor of a rule: a number for each key, shared by all items or for each. */
static enum status take_ids(const struct build *build, enum mask_rule rule)
{
    const struct problem *problem = build->problem;
    const char *name = MASKS[rule].tensor, *source = build->inputs->source;
    const struct file_tensor *found = input_file_find(build->inputs, name);
    if (found == NULL)
        return STATUS_OK;
    const struct tensor *tensor = &found->tensor;
    if (tensor->rank > 2 || tensor->shape[tensor->rank - 1] != problem->size.keys ||
        (tensor->rank == 2 && tensor->shape[0] != 1 && tensor->shape[0] != problem->size.items))
        return error_usage(build->error, "%s: %s is %s, expected %zu, one for each key, or %zu x %zu", source, name,
                           SHAPE_TEXT(tensor), problem->size.keys, problem->size.items, problem->size.keys);
    if (dtype_is_boolean(tensor->dtype))
        return error_usage(build->error, "%s: %s holds booleans; expected whole numbers", source, name);
    int64_t *ids = arena_allocate(build->arena, tensor_count(tensor), sizeof *ids, build->error);
    for (size_t i = 0; i < tensor_count(tensor) && ids != NULL; i++) {
        double number;
        tensor_load(tensor, i, 1, &number);
        if (!(fabs(number) <= 0x1p53 && number == floor(number)))
            return error_usage(build->error, "%s: %s: number %zu is %g; expected a whole number", source, name, i + 1,
                               number);
        ids[i] = (int64_t)number;
    }
    struct tensor kept = {.rank = tensor->rank, .dtype = DTYPE_I64, .data = ids};
    memcpy(kept.shape, tensor->shape, sizeof kept.shape);
    return ids == NULL ? build->error->status : build_ids(build, rule, &kept);
}

static enum status take_given(const struct build *build)
{
    struct mask *mask = &build->problem->mask;
    for (enum mask_rule rule = 0; rule < MASK_RULE_COUNT; rule++) {
        const struct mask_row *row = &MASKS[rule];
        if (row->tensor != NULL && take_ids(build, rule) != STATUS_OK)
            return build->error->status;
        if (row->option == NULL)
            continue;
        const enum option_id id = options_find(row->option, strlen(row->option));
        mask->given[rule].number = (int64_t) * (const uint64_t *)((const char *)build->options + OPTIONS[id].offset);
        if (mask->given[rule].number > 0 && row->causal && !mask->causal)
            return error_usage(build->error, "%s needs a causal mask; add --causal", BUILD_PLACE(build, id));
    }
    return STATUS_OK;
}

/* Whether the rule has an option or a tensor, or is the causal rule where such a rule lifts it. */
static bool is_given_to(const struct mask *mask, enum mask_rule rule)
{
    const bool of_position = rule == MASK_CAUSAL || rule == MASK_RIGHT;
    return rule < MASK_RULE_COUNT && (MASKS[rule].option != NULL || MASKS[rule].tensor != NULL ||
                                      (of_position && mask_lifting(mask) != MASK_RULE_COUNT));
}

enum status build_mask_entries(const struct build *build)
{
    struct problem *problem = build->problem;
    struct mask *mask = &problem->mask;
    const bool numbers = mask->attn_mask.rank > 0 && !dtype_is_boolean(mask->attn_mask.dtype);
    const size_t heads = mask->strides[1] > 0 ? problem->size.heads : 1, queries = mask->queries, keys = mask->keys;
    const size_t shape[] = {problem->size.items, heads, queries, keys};
    struct mask rules = *mask, entries = *mask;
    struct tensor made;
    rules.attn_mask.rank = 0;
    rules.alibi_slopes = rules.relative = entries.alibi_slopes = entries.relative = NULL;
    if (tensor_create(&made, numbers ? mask->attn_mask.dtype : DTYPE_BOOL, MASK_RANK, shape, build->arena,
                      build->error) != STATUS_OK)
        return build->error->status;
    for (size_t i = 0; i < tensor_count(&made); i++) {
        const size_t key = i % keys, query = i / keys % queries, head = i / keys / queries % heads,
                     item = i / keys / queries / heads;
        double entry;
        mask_bias(&entries, item, head, query, key, 1, &entry);
        if (is_given_to(mask, mask_rule_of(&rules, item, head, query, key)))
            entry = -INFINITY;
        if (numbers)
            tensor_store(&made, i, 1, &entry);
        else
            ((uint8_t *)made.data)[i] = (entry != -INFINITY) != mask->true_drops;
    }
    if (mask_lifting(mask) != MASK_RULE_COUNT) {
        mask->causal = false;
        mask->right = -1;
    }
    memset(mask->given, 0, sizeof mask->given);
    mask->attn_mask = made;
    mask->masked_keys = keys;
    const size_t strides[MASK_RANK] = {heads * queries * keys, heads > 1 ? queries * keys : 0, keys, 1};
    memcpy(mask->strides, strides, sizeof strides);
    return STATUS_OK;
}

enum status build_mask(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    struct mask *mask = &problem->mask;
    mask->queries = problem->size.queries;
    mask->keys = mask->masked_keys = problem->size.keys;
    mask->left = options->window_left;
    mask->right = options->window_right;
    mask->true_drops = options->mask_true == MASK_TRUE_DROP;
    mask->empty_row = options->empty_row;
    if (build_images(build) || take_given(build) || take_attn_mask(build) ||
        take_list(build, "alibi_slopes", &mask->alibi_slopes) || take_list(build, "sinks", &mask->sinks) ||
        make_slopes(build) || take_relative(build))
        return build->error->status;
    set_places(build);
    problem->masks = mask_has_rules(mask) || mask_has_bias(mask);
    return STATUS_OK;
}
