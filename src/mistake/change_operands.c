/* Mistakes of slots roles, weights, matrix, bias, clip, split, merge, out, groups, bits and dtype. */
#include "kernel/kernel.h"
#include "mistake/recipe.h"

#include <math.h>
#include <string.h>

static const char NOT_PROJECTED[] = "query, key and value are given";

/* --- roles ------------------------------------------------------------------------------------------------------- */

static const char OTHER_SHAPES[] = "they have other shapes";

/* Whether query and key, or query and value, are as many rows of as many heads. */
static bool has_rows_alike(const struct problem *problem)
{
    return problem->queries == problem->keys && problem->heads == problem->kv_heads;
}

static bool has_columns_alike(const struct problem *problem)
{
    return problem->d_head == problem->d_value;
}

static const char *take(struct recipe *recipe, enum projection_id id, enum recipe_role role)
{
    recipe->roles[id] = role;
    if (id == PROJECTION_VALUE)
        recipe_makes(recipe, STAGE_CONTEXT, "weights . what stands for value");
    else
        recipe_makes(recipe, STAGE_SCORES, "what stands for query . what stands for key^T");
    return NULL;
}

const char *mistake_roles_query_key_swapped(struct recipe *recipe, double form)
{
    (void)form;
    if (!has_rows_alike(&recipe->problem))
        return OTHER_SHAPES;
    take(recipe, PROJECTION_QUERY, RECIPE_ROLE_KEY);
    take(recipe, PROJECTION_KEY, RECIPE_ROLE_QUERY);
    recipe_tells(recipe, STAGE_SCORES, "key . query^T");
    return NULL;
}

const char *mistake_roles_key_value_swapped(struct recipe *recipe, double form)
{
    (void)form;
    if (!has_columns_alike(&recipe->problem))
        return OTHER_SHAPES;
    take(recipe, PROJECTION_KEY, RECIPE_ROLE_VALUE);
    take(recipe, PROJECTION_VALUE, RECIPE_ROLE_KEY);
    recipe_tells(recipe, STAGE_SCORES, "query . value^T");
    recipe_tells(recipe, STAGE_CONTEXT, "weights . key");
    return NULL;
}

const char *mistake_roles_query_value_swapped(struct recipe *recipe, double form)
{
    (void)form;
    if (!has_rows_alike(&recipe->problem) || !has_columns_alike(&recipe->problem))
        return OTHER_SHAPES;
    take(recipe, PROJECTION_QUERY, RECIPE_ROLE_VALUE);
    take(recipe, PROJECTION_VALUE, RECIPE_ROLE_QUERY);
    recipe_tells(recipe, STAGE_SCORES, "value . key^T");
    recipe_tells(recipe, STAGE_CONTEXT, "weights . query");
    return NULL;
}

const char *mistake_roles_key_for_value(struct recipe *recipe, double form)
{
    (void)form;
    if (!has_columns_alike(&recipe->problem))
        return OTHER_SHAPES;
    take(recipe, PROJECTION_VALUE, RECIPE_ROLE_KEY);
    recipe_tells(recipe, STAGE_CONTEXT, "weights . key");
    return NULL;
}

const char *mistake_roles_query_for_key(struct recipe *recipe, double form)
{
    (void)form;
    if (!has_rows_alike(&recipe->problem))
        return OTHER_SHAPES;
    take(recipe, PROJECTION_KEY, RECIPE_ROLE_QUERY);
    recipe_tells(recipe, STAGE_SCORES, "query . query^T");
    return NULL;
}

const char *mistake_roles_key_for_query(struct recipe *recipe, double form)
{
    (void)form;
    if (!has_rows_alike(&recipe->problem))
        return OTHER_SHAPES;
    take(recipe, PROJECTION_QUERY, RECIPE_ROLE_KEY);
    recipe_tells(recipe, STAGE_SCORES, "key . key^T");
    return NULL;
}

const char *mistake_roles_query_for_value(struct recipe *recipe, double form)
{
    (void)form;
    if (!has_rows_alike(&recipe->problem) || !has_columns_alike(&recipe->problem))
        return OTHER_SHAPES;
    take(recipe, PROJECTION_VALUE, RECIPE_ROLE_QUERY);
    recipe_tells(recipe, STAGE_CONTEXT, "weights . query");
    return NULL;
}

const char *mistake_roles_inputs_for_value(struct recipe *recipe, double form)
{
    (void)form;
    const struct problem *problem = &recipe->problem;
    if (!problem_projects(problem))
        return NOT_PROJECTED;
    if (problem->d_in != problem->d_value && problem->d_in != problem->kv_heads * problem->d_value)
        return OTHER_SHAPES;
    take(recipe, PROJECTION_VALUE, RECIPE_ROLE_INPUTS);
    recipe_tells(recipe, STAGE_CONTEXT, "weights . inputs");
    return NULL;
}

const char *mistake_weights_transposed(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.queries != recipe->problem.keys)
        return "there are not as many queries as keys";
    recipe->weights_transposed = recipe->across = true;
    recipe_makes(recipe, STAGE_CONTEXT, "weights^T . value");
    return NULL;
}

/* --- matrix, bias: parameters of their own for the changed problem ------------------------------------------------ */

static bool is_square(const struct projection *projection)
{
    return projection->weight.rank == 2 && projection->weight.shape[0] == projection->weight.shape[1];
}

/* The matrices of a set of projections, read the other way round. */
static const char *turn(struct recipe *recipe, unsigned ids)
{
    struct module *modules = recipe_copy_modules(recipe);
    for (size_t i = 0; modules != NULL && i < recipe->problem.parameters.module_count; i++)
        for (int id = 0; id < PROJECTION_COUNT; id++) {
            struct projection *projection = &modules[i].projections[id];
            if ((ids & 1U << id) == 0)
                continue;
            if (!is_square(projection))
                return "the matrix is not square";
            projection->transposed = !projection->transposed;
            recipe->projects_anew[id] = true;
            recipe_tells(recipe, recipe_projected(recipe, (enum projection_id)id),
                         "inputs . the transpose of the matrix");
        }
    return modules == NULL ? NOT_PROJECTED : NULL;
}

const char *mistake_matrix_transposed(struct recipe *recipe, double form)
{
    (void)form;
    return turn(recipe, 1U << PROJECTION_QUERY | 1U << PROJECTION_KEY | 1U << PROJECTION_VALUE);
}

const char *mistake_matrix_query_transposed(struct recipe *recipe, double form)
{
    (void)form;
    return turn(recipe, 1U << PROJECTION_QUERY);
}

const char *mistake_matrix_key_transposed(struct recipe *recipe, double form)
{
    (void)form;
    return turn(recipe, 1U << PROJECTION_KEY);
}

const char *mistake_matrix_value_transposed(struct recipe *recipe, double form)
{
    (void)form;
    return turn(recipe, 1U << PROJECTION_VALUE);
}

/* A set of projections without their biases. */
static const char *leave_bias(struct recipe *recipe, unsigned ids)
{
    const char *reason = "the projections have no bias";
    if (!problem_projects(&recipe->problem) || !recipe->problem.plan.qkv_bias)
        return reason;
    struct module *modules = recipe_copy_modules(recipe);
    for (size_t i = 0; modules != NULL && i < recipe->problem.parameters.module_count; i++)
        for (int id = 0; id < PROJECTION_COUNT; id++)
            if (ids & 1U << id && modules[i].projections[id].bias.rank > 0) {
                modules[i].projections[id].bias.rank = 0;
                recipe->projects_anew[id] = true;
                recipe_tells(recipe, recipe_projected(recipe, (enum projection_id)id),
                             "inputs . the matrix, no bias added");
                reason = NULL;
            }
    return reason;
}

const char *mistake_bias_missing(struct recipe *recipe, double form)
{
    (void)form;
    return leave_bias(recipe, 1U << PROJECTION_QUERY | 1U << PROJECTION_KEY | 1U << PROJECTION_VALUE);
}

const char *mistake_bias_query_missing(struct recipe *recipe, double form)
{
    (void)form;
    return leave_bias(recipe, 1U << PROJECTION_QUERY);
}

const char *mistake_bias_key_missing(struct recipe *recipe, double form)
{
    (void)form;
    return leave_bias(recipe, 1U << PROJECTION_KEY);
}

const char *mistake_bias_value_missing(struct recipe *recipe, double form)
{
    (void)form;
    return leave_bias(recipe, 1U << PROJECTION_VALUE);
}

/* --- clip -------------------------------------------------------------------------------------------------------- */

const char *mistake_clip_missing(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.clip == 0)
        return "nothing is clipped";
    recipe->problem.clip = 0;
    for (int id = 0; id < PROJECTION_COUNT; id++)
        recipe->steps_anew[id] = true;
    return NULL;
}

/* --- split ------------------------------------------------------------------------------------------------------- */

static const char *split(struct recipe *recipe, enum recipe_split kind, const char *formula)
{
    const struct problem *problem = &recipe->problem;
    if (!problem_projects(problem) || problem->plan.stacked || problem->heads == 1)
        return "nothing is split into heads";
    recipe->split = kind;
    for (int id = 0; id < PROJECTION_COUNT; id++)
        recipe_makes(recipe, recipe_projected(recipe, (enum projection_id)id), formula);
    return NULL;
}

const char *mistake_split_view(struct recipe *recipe, double form)
{
    (void)form;
    return split(recipe, RECIPE_SPLIT_VIEW, "the projection, its rows read on from head to head");
}

const char *mistake_split_interleaved(struct recipe *recipe, double form)
{
    (void)form;
    return split(recipe, RECIPE_SPLIT_INTERLEAVED, "the projection, columns dealt out to the heads in turn");
}

/* Query, key and value side by side have as many columns of the same tokens. */
static const char *split_packed(struct recipe *recipe, enum recipe_split kind, const char *formula)
{
    const struct problem *problem = &recipe->problem;
    const bool alike = problem->heads == problem->kv_heads && problem->d_head == problem->d_value && !problem->crosses;
    return alike ? split(recipe, kind, formula) : OTHER_SHAPES;
}

const char *mistake_split_packed_by_head(struct recipe *recipe, double form)
{
    (void)form;
    return split_packed(recipe, RECIPE_SPLIT_BY_HEAD, "query, key, value side by side, read as heads x 3 x d");
}

const char *mistake_split_packed_by_column(struct recipe *recipe, double form)
{
    (void)form;
    return split_packed(recipe, RECIPE_SPLIT_BY_COLUMN, "query, key, value side by side, read as heads x d x 3");
}

static const char NO_SCORES[] = "--rounding operations has no scores";

/* The scores of one head are the sum of those of all. The forms: which root the scale has. */
const char *mistake_split_missing(struct recipe *recipe, double form)
{
    struct problem *problem = &recipe->problem;
    if (problem->heads == 1 || problem->heads != problem->kv_heads || problem->plan.stacked)
        return "nothing is split into heads";
    if (problem->rounding == ROUNDING_OPERATIONS)
        return NO_SCORES;
    recipe->split = RECIPE_SPLIT_NONE;
    recipe_makes(recipe, STAGE_SCORES, "query . key^T of all columns, as one head");
    if (form == 0)
        problem->scale /= sqrt((double)problem->heads);
    return NULL;
}

/* --- merge, out -------------------------------------------------------------------------------------------------- */

static const char *merge(struct recipe *recipe, enum recipe_merge kind, const char *formula)
{
    const struct problem *problem = &recipe->problem;
    if (problem->heads == 1 || !(problem->packed || problem_projects(problem)))
        return "heads are not put side by side";
    recipe->merge = kind;
    recipe_makes(recipe, problem->packed ? STAGE_CONTEXT : STAGE_OUTPUT, formula);
    return NULL;
}

const char *mistake_merge_view(struct recipe *recipe, double form)
{
    (void)form;
    recipe->across = true;
    return merge(recipe, RECIPE_MERGE_VIEW, "contexts read on from head to head, as if side by side");
}

const char *mistake_merge_interleaved(struct recipe *recipe, double form)
{
    (void)form;
    return merge(recipe, RECIPE_MERGE_INTERLEAVED, "columns of the heads in turn");
}

const char *mistake_merge_reversed(struct recipe *recipe, double form)
{
    (void)form;
    return merge(recipe, RECIPE_MERGE_REVERSED, "heads side by side, the last one first");
}

static const char NO_OUT[] = "there is no out_proj", NOT_SQUARE[] = "out_proj is not square";

const char *mistake_out_missing(struct recipe *recipe, double form)
{
    (void)form;
    if (!recipe->problem.plan.has_out)
        return NO_OUT;
    recipe->problem.plan.has_out = false;
    recipe_makes(recipe, STAGE_OUTPUT, "heads side by side");
    return NULL;
}

const char *mistake_out_transposed(struct recipe *recipe, double form)
{
    (void)form;
    struct problem *problem = &recipe->problem;
    if (!problem->plan.has_out)
        return NO_OUT;
    if (problem->plan.d_output != problem->heads * problem->d_value)
        return NOT_SQUARE;
    recipe->out_anew = true;
    problem->parameters.out.transposed = !problem->parameters.out.transposed;
    recipe_tells(recipe, STAGE_OUTPUT, "heads . out_proj.weight");
    return NULL;
}

const char *mistake_out_bias_missing(struct recipe *recipe, double form)
{
    (void)form;
    if (!recipe->problem.plan.has_out)
        return NO_OUT;
    if (recipe->problem.parameters.out.bias.rank == 0)
        return "out_proj has no bias";
    recipe->out_anew = true;
    recipe->problem.parameters.out.bias.rank = 0;
    return NULL;
}

const char *mistake_out_twice(struct recipe *recipe, double form)
{
    (void)form;
    if (!recipe->problem.plan.has_out)
        return NO_OUT;
    if (recipe->problem.plan.d_output != recipe->problem.heads * recipe->problem.d_value)
        return NOT_SQUARE;
    recipe->out_twice = true;
    recipe_makes(recipe, STAGE_OUTPUT, "heads through out_proj, and once more");
    return NULL;
}

/* --- groups ------------------------------------------------------------------------------------------------------ */

static const char *group(struct recipe *recipe, enum recipe_groups kind, const char *scores, const char *context)
{
    const struct problem *problem = &recipe->problem;
    if (problem->kv_heads == 1 || problem->kv_heads == problem->heads)
        return "heads of key and value are not shared in groups";
    recipe->groups = kind;
    recipe_makes(recipe, STAGE_SCORES, scores);
    recipe_makes(recipe, STAGE_CONTEXT, context);
    return NULL;
}

const char *mistake_groups_tiled(struct recipe *recipe, double form)
{
    (void)form;
    return group(recipe, RECIPE_GROUPS_TILED, "query . key^T of head modulo heads of key",
                 "weights . value of head modulo heads of value");
}

const char *mistake_groups_first(struct recipe *recipe, double form)
{
    (void)form;
    return group(recipe, RECIPE_GROUPS_FIRST, "query . key^T of the first head of key",
                 "weights . value of the first head of value");
}

/* --- bits -------------------------------------------------------------------------------------------------------- */

static const char *misread(struct recipe *recipe, unsigned ids, enum recipe_bits bits)
{
    if (problem_projects(&recipe->problem))
        return "query, key and value are not given";
    if (bits == RECIPE_BITS_BF16 && recipe->problem.dtype != DTYPE_F16)
        return "nothing is float16";
    for (int id = 0; id < PROJECTION_COUNT; id++)
        if (ids & 1U << id) {
            recipe->bits[id] = bits;
            recipe_makes(recipe, recipe_projected(recipe, (enum projection_id)id),
                         bits == RECIPE_BITS_BF16 ? "given in float16, its bits read as bfloat16"
                                                  : "given, its bytes read in the other order");
        }
    return NULL;
}

enum { ALL_OPERANDS = 1U << PROJECTION_QUERY | 1U << PROJECTION_KEY | 1U << PROJECTION_VALUE };

const char *mistake_bits_bf16(struct recipe *recipe, double form)
{
    (void)form;
    return misread(recipe, ALL_OPERANDS, RECIPE_BITS_BF16);
}

const char *mistake_bits_query_bf16(struct recipe *recipe, double form)
{
    (void)form;
    return misread(recipe, 1U << PROJECTION_QUERY, RECIPE_BITS_BF16);
}

const char *mistake_bits_key_bf16(struct recipe *recipe, double form)
{
    (void)form;
    return misread(recipe, 1U << PROJECTION_KEY, RECIPE_BITS_BF16);
}

const char *mistake_bits_value_bf16(struct recipe *recipe, double form)
{
    (void)form;
    return misread(recipe, 1U << PROJECTION_VALUE, RECIPE_BITS_BF16);
}

const char *mistake_bits_swapped(struct recipe *recipe, double form)
{
    (void)form;
    return misread(recipe, ALL_OPERANDS, RECIPE_BITS_SWAPPED);
}

/* --- dtype ------------------------------------------------------------------------------------------------------- */

/* Whether a number is finite only as long as it is not in that dtype. */
static bool overflows(const struct tensor *tensor, enum dtype dtype)
{
    for (size_t i = 0; i < tensor_count(tensor); i++) {
        double number;
        tensor_load(tensor, i, 1, &number);
        const bool finite = isfinite(number);
        dtype_round(dtype, &number, 1);
        if (finite && !isfinite(number))
            return true;
    }
    return false;
}

/* A tensor in the problem's new dtype, as `make` has it; what is not there stays so. recipe->too_large tells of numbers
 * that it does not hold. */
static void convert_as(struct recipe *recipe, struct tensor *tensor, tensor_conversion *make)
{
    bool finite = true;
    if (tensor->rank == 0 || !dtype_is_working(tensor->dtype))
        return;
    if (overflows(tensor, recipe->problem.dtype))
        recipe->too_large = true;
    else
        make(tensor, recipe->problem.dtype, "", "", &finite, tensor, recipe->arena, recipe->error);
}

static void convert(struct recipe *recipe, struct tensor *tensor)
{
    convert_as(recipe, tensor, tensor_convert);
}

static void convert_norm(struct recipe *recipe, struct norm *norm)
{
    convert(recipe, &norm->weight);
    convert(recipe, &norm->bias);
}

static void convert_projection(struct recipe *recipe, struct projection *projection)
{
    convert(recipe, &projection->weight);
    convert(recipe, &projection->bias);
}

static void convert_latent(struct recipe *recipe, struct latent *latent)
{
    convert_projection(recipe, &latent->query_a);
    convert_projection(recipe, &latent->query_b);
    convert_projection(recipe, &latent->key_value_a);
    convert_projection(recipe, &latent->key_value_b);
    convert_norm(recipe, &latent->query_norm);
    convert_norm(recipe, &latent->key_value_norm);
}

/* Slopes or sinks of their own for the changed problem. */
static void convert_list(struct recipe *recipe, const double **list)
{
    const size_t heads = recipe->problem.heads;
    if (*list == NULL)
        return;
    double *rounded = arena_allocate(recipe->arena, heads, sizeof *rounded, recipe->error);
    if (rounded == NULL)
        return;
    memcpy(rounded, *list, heads * sizeof *rounded);
    dtype_round(recipe->problem.dtype, rounded, heads);
    for (size_t head = 0; head < heads; head++)
        recipe->too_large = recipe->too_large || (isfinite((*list)[head]) && !isfinite(rounded[head]));
    *list = rounded;
}

static const char *change_dtype(struct recipe *recipe, enum dtype dtype)
{
    struct problem *problem = &recipe->problem;
    if (problem->dtype == dtype)
        return "it is the dtype of the job";
    problem->softmax_dtype = problem->softmax_dtype == problem->dtype ? dtype : problem->softmax_dtype;
    problem->dtype = dtype;
    convert(recipe, &problem->inputs);
    convert(recipe, &problem->key_inputs);
    for (size_t i = 0; i < PROJECTION_COUNT; i++)
        convert_as(recipe, &problem->given[i], kernel_takes(dtype) ? tensor_round : tensor_convert);
    struct module *modules = recipe_copy_modules(recipe);
    for (size_t i = 0; modules != NULL && i < problem->parameters.module_count; i++)
        for (int id = 0; id < PROJECTION_COUNT; id++)
            convert_projection(recipe, &modules[i].projections[id]);
    for (int id = 0; id < PROJECTION_COUNT; id++)
        recipe->projects_anew[id] = true;
    recipe->out_anew = true;
    convert_projection(recipe, &problem->parameters.out);
    for (size_t i = 0; i < NORM_COUNT; i++)
        convert_norm(recipe, &problem->parameters.norms[i]);
    convert_latent(recipe, &problem->parameters.latent);
    convert(recipe, &problem->mask.attn_mask);
    convert_list(recipe, &problem->mask.alibi_slopes);
    convert_list(recipe, &problem->mask.sinks);
    return recipe->too_large ? "it does not hold numbers as large as there are" : NULL;
}

const char *mistake_dtype_bf16(struct recipe *recipe, double form)
{
    (void)form;
    return change_dtype(recipe, DTYPE_BF16);
}

const char *mistake_dtype_f16(struct recipe *recipe, double form)
{
    (void)form;
    return change_dtype(recipe, DTYPE_F16);
}

const char *mistake_dtype_f8e4m3(struct recipe *recipe, double form)
{
    (void)form;
    return change_dtype(recipe, DTYPE_F8E4M3);
}

const char *mistake_dtype_f8e5m2(struct recipe *recipe, double form)
{
    (void)form;
    return change_dtype(recipe, DTYPE_F8E5M2);
}

const char *mistake_overflow_f16(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.rounding == ROUNDING_OPERATIONS)
        return NO_SCORES;
    recipe->overflows = true;
    recipe_makes(recipe, STAGE_SCORES, "query . key^T in float16, infinite above 65504");
    return NULL;
}
