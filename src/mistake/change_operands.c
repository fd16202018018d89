/* SPDX-License-Identifier: MIT */
/* Mistakes of slots roles, weights, matrix, bias, clip, split, merge, out, gate, groups, bits and dtype. */
#include "kernel/kernel.h"
#include "mistake/recipe.h"

#include <math.h>
#include <string.h>

static const char NOT_PROJECTED[] = "query, key and value are given";

/* --- roles ------------------------------------------------------------------------------------------------------- */

static const char OTHER_SHAPES[] = "their shapes differ";

/* Replaces query, key and value; scores and context are the changed formulas. The replacements must have as many rows
 * and heads, and value as many columns. */
static const char *exchange(struct recipe *recipe, enum recipe_role query, enum recipe_role key, enum recipe_role value,
                            const char *scores, const char *context)
{
    const struct problem *problem = &recipe->problem;
    const bool rows_alike =
        problem->size.queries == problem->size.keys && problem->size.heads == problem->size.kv_heads;
    const bool columns_alike = problem->size.d_head == problem->size.d_value;
    const enum recipe_role roles[] = {query, key, value};
    for (int own = 0; own < PROJECTION_COUNT; own++) {
        const int taken = (int)roles[own] - (int)RECIPE_ROLE_QUERY;
        if (roles[own] != RECIPE_ROLE_OWN &&
            (((own == PROJECTION_QUERY) != (taken == PROJECTION_QUERY) && !rows_alike) ||
             ((own == PROJECTION_VALUE) != (taken == PROJECTION_VALUE) && !columns_alike)))
            return OTHER_SHAPES;
    }
    memcpy(recipe->roles, roles, sizeof roles);
    if (scores != NULL)
        recipe_makes(recipe, STAGE_SCORES, scores);
    if (context != NULL)
        recipe_makes(recipe, STAGE_CONTEXT, context);
    return NULL;
}

static const enum recipe_role OWN = RECIPE_ROLE_OWN, QUERY = RECIPE_ROLE_QUERY, KEY = RECIPE_ROLE_KEY,
                              VALUE = RECIPE_ROLE_VALUE;

CHANGE(ROLES_QUERY_KEY_SWAPPED, exchange(recipe, KEY, QUERY, OWN, "key . query^T", NULL))
CHANGE(ROLES_KEY_VALUE_SWAPPED, exchange(recipe, OWN, VALUE, KEY, "query . value^T", "weights . key"))
CHANGE(ROLES_QUERY_VALUE_SWAPPED, exchange(recipe, VALUE, OWN, QUERY, "value . key^T", "weights . query"))
CHANGE(ROLES_KEY_FOR_VALUE, exchange(recipe, OWN, OWN, KEY, NULL, "weights . key"))
CHANGE(ROLES_QUERY_FOR_KEY, exchange(recipe, OWN, QUERY, OWN, "query . query^T", NULL))
CHANGE(ROLES_KEY_FOR_QUERY, exchange(recipe, KEY, OWN, OWN, "key . key^T", NULL))
CHANGE(ROLES_QUERY_FOR_VALUE, exchange(recipe, OWN, OWN, QUERY, NULL, "weights . query"))

/* Inputs in every role need one head as wide as they are. */
CHANGE_BY(ROLES_ONE_FOR_ALL)
{
    const enum recipe_role role = (enum recipe_role)((int)RECIPE_ROLE_QUERY + (int)form);
    if (!problem_projects(problem))
        return NOT_PROJECTED;
    if (role == RECIPE_ROLE_INPUTS &&
        (problem->size.heads > 1 || problem->given.is_cross || problem->size.d_in != problem->size.d_head ||
         problem->size.d_in != problem->size.d_value))
        return OTHER_SHAPES;
    return exchange(recipe, role, role, role, "query . key^T, both the same", "weights . value, which is the same");
}

CHANGE_BY(ROLES_INPUTS_FOR_VALUE)
{
    if (!problem_projects(problem))
        return NOT_PROJECTED;
    if (problem->size.d_in != problem->size.d_value &&
        problem->size.d_in != problem->size.kv_heads * problem->size.d_value)
        return OTHER_SHAPES;
    recipe->roles[PROJECTION_VALUE] = RECIPE_ROLE_INPUTS;
    return recipe_makes(recipe, STAGE_CONTEXT, "weights . inputs");
}

CHANGE_BY(WEIGHTS_TRANSPOSED)
{
    if (problem->size.queries != problem->size.keys)
        return "there are not as many queries as keys";
    recipe->weights_transposed = recipe->across = true;
    return recipe_makes(recipe, STAGE_CONTEXT, "weights^T . value");
}

/* --- matrix, bias: parameters of their own for the changed problem ------------------------------------------------ */

/* Transposes the matrices of a set of projections. */
static const char *turn(struct recipe *recipe, unsigned ids)
{
    struct module *modules = recipe_copy_modules(recipe);
    for (size_t i = 0; modules != NULL && i < recipe->problem.parameters.module_count; i++)
        for (int id = 0; id < PROJECTION_COUNT; id++) {
            struct projection *projection = &modules[i].projections[id];
            if ((ids & 1U << id) == 0)
                continue;
            const struct tensor *weight = &projection->weight;
            if (weight->rank != 2 || weight->shape[0] != weight->shape[1])
                return "the matrix is not square";
            projection->transposed = !projection->transposed;
        }
    recipe->changed_projections |= ids;
    recipe_tells_projected(recipe, ids, "inputs . the transpose of the matrix");
    return modules == NULL ? NOT_PROJECTED : NULL;
}

CHANGE(MATRIX_TRANSPOSED, turn(recipe, OF_ALL))
CHANGE(MATRIX_QUERY_TRANSPOSED, turn(recipe, OF_QUERY))
CHANGE(MATRIX_KEY_TRANSPOSED, turn(recipe, OF_KEY))
CHANGE(MATRIX_VALUE_TRANSPOSED, turn(recipe, OF_VALUE))

/* Exchanges two projections, with their biases. */
static const char *swap(struct recipe *recipe, enum projection_id a, enum projection_id b)
{
    struct module *modules = recipe_copy_modules(recipe);
    if (modules == NULL || recipe->problem.parameters.latent.rank > 0)
        return NOT_PROJECTED;
    if (!recipe->problem.parameters.given)
        return "parameters are drawn: draw-order does the same";
    for (size_t i = 0; i < recipe->problem.parameters.module_count; i++) {
        struct projection *projections = modules[i].projections;
        const struct projection own = projections[a];
        if (memcmp(own.weight.shape, projections[b].weight.shape, 2 * sizeof own.weight.shape[0]) != 0)
            return OTHER_SHAPES;
        projections[a] = projections[b];
        projections[b] = own;
    }
    recipe->changed_projections |= 1U << a | 1U << b;
    recipe_tells_projected(recipe, 1U << a | 1U << b, "inputs . the other one's matrix");
    return NULL;
}

CHANGE(MATRIX_KEY_VALUE_SWAPPED, swap(recipe, PROJECTION_KEY, PROJECTION_VALUE))
CHANGE(MATRIX_QUERY_KEY_SWAPPED, swap(recipe, PROJECTION_QUERY, PROJECTION_KEY))

/* Gives projection `id` of a module `other` bias times a number, 0: none; `first` is its first column of all. */
static const char *replace_bias(struct recipe *recipe, enum projection_id id, struct projection *projection,
                                const struct tensor *other, double times, size_t first)
{
    const size_t count = tensor_count(&projection->bias);
    const struct tensor own = projection->bias;
    double *addends = recipe->addends[id], number, another;
    if (tensor_count(other) != count)
        return OTHER_SHAPES;
    if (tensor_create(&projection->bias, own.dtype, 1, &count, recipe->arena, recipe->error) != STATUS_OK)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        tensor_load(&own, i, 1, &number);
        tensor_load(other, i, 1, &another);
        another *= times;
        tensor_store(&projection->bias, i, 1, &another);
        addends[first + i] = another - number;
    }
    projection->bias.rank = times != 0;
    return NULL;
}

/* Replaces the biases of a set of projections by those of `from`, times a number. */
static const char *change_bias(struct recipe *recipe, unsigned ids, const enum projection_id from[PROJECTION_COUNT],
                               double times, const char *formula)
{
    const struct problem *problem = &recipe->problem;
    const struct module *right = problem->parameters.modules;
    const char *reason = "the projections have no bias";
    if (!problem_projects(problem) || !problem->plan.qkv_bias)
        return reason;
    struct module *modules = recipe_copy_modules(recipe);
    for (enum projection_id id = 0; id < PROJECTION_COUNT && modules != NULL; id++) {
        const size_t count = problem->parameters.module_count, width = tensor_count(&right[0].projections[id].bias);
        if ((ids & 1U << id) == 0 || right[0].projections[id].bias.rank == 0 ||
            right[0].projections[from[id]].bias.rank == 0)
            continue;
        recipe->addends[id] = arena_allocate(recipe->arena, count * width, sizeof(double), recipe->error);
        recipe->changed_steps |= 1U << id;
        for (size_t i = 0; i < count && recipe->error->status == STATUS_OK; i++)
            if ((reason = replace_bias(recipe, id, &modules[i].projections[id], &right[i].projections[from[id]].bias,
                                       times, i * width)) != NULL)
                return reason;
        recipe_tells_projected(recipe, 1U << id, formula);
        reason = NULL;
    }
    return reason;
}

static const enum projection_id SAME[] = {PROJECTION_QUERY, PROJECTION_KEY, PROJECTION_VALUE};
static const char NO_BIAS[] = "inputs . the matrix, no bias added";

CHANGE(BIAS_MISSING, change_bias(recipe, OF_ALL, SAME, 0, NO_BIAS))
CHANGE(BIAS_QUERY_MISSING, change_bias(recipe, OF_QUERY, SAME, 0, NO_BIAS))
CHANGE(BIAS_KEY_MISSING, change_bias(recipe, OF_KEY, SAME, 0, NO_BIAS))
CHANGE(BIAS_VALUE_MISSING, change_bias(recipe, OF_VALUE, SAME, 0, NO_BIAS))

/* The forms: whose. */
CHANGE(BIAS_TWICE, change_bias(recipe, form == 0 ? OF_ALL : 1U << ((unsigned)form - 1), SAME, 2,
                               "inputs . the matrix + twice the bias"))

/* The forms: those of key and value, query and key, query and value. */
CHANGE_BY(BIAS_SWAPPED)
{
    static const enum projection_id FROM[][PROJECTION_COUNT] = {{PROJECTION_QUERY, PROJECTION_VALUE, PROJECTION_KEY},
                                                                {PROJECTION_KEY, PROJECTION_QUERY, PROJECTION_VALUE},
                                                                {PROJECTION_VALUE, PROJECTION_KEY, PROJECTION_QUERY}};
    static const unsigned SETS[] = {OF_KEY | OF_VALUE, OF_QUERY | OF_KEY, OF_QUERY | OF_VALUE};
    return change_bias(recipe, SETS[(size_t)form], FROM[(size_t)form], 1, "inputs . the matrix + the other one's bias");
}

/* --- growth and clip --------------------------------------------------------------------------------------------- */

CHANGE_WHERE(GROWTH_MISSING, problem->scaling.growth.by != 0, "no query grows",
             (problem->scaling.growth.by = 0, recipe->changed_steps |= OF_QUERY))

CHANGE_WHERE(CLIP_MISSING, problem->given.clip != 0, "nothing is clipped",
             (problem->given.clip = 0, recipe->changed_steps = OF_ALL))

/* --- split ------------------------------------------------------------------------------------------------------- */

static const char *split(struct recipe *recipe, enum recipe_split kind, const char *formula)
{
    const struct problem *problem = &recipe->problem;
    if (!problem_projects(problem) || problem->plan.stacked || problem->size.heads == 1)
        return "nothing is split into heads";
    recipe->split = kind;
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++)
        recipe_makes(recipe, recipe_projected(recipe, id), formula);
    return NULL;
}

CHANGE(SPLIT_VIEW, split(recipe, RECIPE_SPLIT_VIEW, "the projection, its rows read on from head to head"))
CHANGE(SPLIT_INTERLEAVED, split(recipe, RECIPE_SPLIT_INTERLEAVED, "the projection, columns given to the heads in turn"))

static const char NO_SCORES[] = "--rounding operations has no scores";

/* Uses one head, whose scores are the sum of those of all. The forms: the root in the scale. */
CHANGE_BY(SPLIT_MISSING)
{
    if (problem->size.heads == 1 || problem->size.heads != problem->size.kv_heads || problem->plan.stacked)
        return "nothing is split into heads";
    if (problem->rounding.when == ROUNDING_OPERATIONS)
        return NO_SCORES;
    if (recipe->axis == RECIPE_AXIS_HEADS)
        return "there is one head";
    recipe->split = RECIPE_SPLIT_NONE;
    recipe_makes(recipe, STAGE_SCORES, "query . key^T of all columns, as one head");
    if (form == 0)
        problem->scaling.factor /= sqrt((double)problem->size.heads);
    return NULL;
}

CHANGE_BY(SPLIT_NOT_TRANSPOSED)
{
    if (problem->size.heads == 1 || problem->size.heads != problem->size.kv_heads || problem->plan.stacked)
        return "nothing is split into heads";
    if (problem->drop.share > 0)
        return "there is dropout";
    recipe->attends_heads = true;
    return recipe_makes(recipe, STAGE_CONTEXT, "of each token, whose heads attend to each other");
}

/* --- merge, out -------------------------------------------------------------------------------------------------- */

static const char *merge(struct recipe *recipe, enum recipe_merge kind, const char *formula)
{
    const struct problem *problem = &recipe->problem;
    if (problem->size.heads == 1 || !(problem->size.heads_packed || problem_projects(problem)))
        return "heads are not joined";
    recipe->merge = kind;
    return recipe_makes(recipe, problem->size.heads_packed ? STAGE_CONTEXT : STAGE_OUTPUT, formula);
}

CHANGE_BY(MERGE_VIEW)
{
    recipe->across = true;
    return merge(recipe, RECIPE_MERGE_VIEW, "contexts read on from head to head, as if side by side");
}

CHANGE(MERGE_INTERLEAVED, merge(recipe, RECIPE_MERGE_INTERLEAVED, "columns of the heads in turn"))
CHANGE(MERGE_REVERSED, merge(recipe, RECIPE_MERGE_REVERSED, "heads side by side, the last one first"))

CHANGE(MERGE_ADDED, form == 0 ? merge(recipe, RECIPE_MERGE_MEAN, "the mean of the heads, for each head")
                              : merge(recipe, RECIPE_MERGE_SUM, "the sum of the heads, for each head"))

static const char NO_OUT[] = "there is no out_proj";

/* NULL if out_proj has as many inputs as outputs. */
static const char *no_square_out(const struct problem *problem)
{
    return !problem->plan.has_out                                                  ? NO_OUT
           : problem->plan.d_output != problem->size.heads * problem->size.d_value ? "out_proj is not square"
                                                                                   : NULL;
}

CHANGE_WHERE(OUT_MISSING, problem->plan.has_out, NO_OUT,
             (problem->plan.has_out = false, recipe_makes(recipe, STAGE_OUTPUT, "heads side by side")))

CHANGE_BY(OUT_TRANSPOSED)
{
    struct projection *out = &problem->parameters.out;
    recipe->output_changed = true;
    out->transposed = !out->transposed;
    recipe_tells(recipe, STAGE_OUTPUT, "heads . out_proj.weight");
    return no_square_out(problem);
}

CHANGE_BY(OUT_BIAS_MISSING)
{
    if (!problem->plan.has_out)
        return NO_OUT;
    if (problem->parameters.out.bias.rank == 0)
        return "out_proj has no bias";
    recipe->output_changed = true;
    problem->parameters.out.bias.rank = 0;
    return NULL;
}

CHANGE_BY(OUT_BIAS_TWICE)
{
    struct tensor *bias = &problem->parameters.out.bias;
    const struct tensor own = *bias;
    const size_t count = tensor_count(&own);
    if (!problem->plan.has_out || own.rank == 0)
        return problem->plan.has_out ? "out_proj has no bias" : NO_OUT;
    recipe->output_changed = true;
    if (tensor_create(bias, own.dtype, 1, &count, recipe->arena, recipe->error) != STATUS_OK)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        double number;
        tensor_load(&own, i, 1, &number);
        number *= 2;
        tensor_store(bias, i, 1, &number);
    }
    return recipe_tells(recipe, STAGE_OUTPUT, "heads . out_proj.weight^T + twice its bias");
}

CHANGE_BY(OUT_TWICE)
{
    recipe->out_twice = true;
    recipe_makes(recipe, STAGE_OUTPUT, "heads through out_proj twice");
    return no_square_out(problem);
}

CHANGE_BY(OUT_RESIDUAL)
{
    const enum stage last = problem_last_stage(problem);
    if (!problem_projects(problem))
        return NOT_PROJECTED;
    if (problem_columns(problem, last) != problem->size.d_in)
        return "the result is not as wide as the inputs";
    recipe->adds_inputs = true;
    return recipe_makes(recipe, last, ", plus inputs");
}

CHANGE_BY(OUT_NORMED_ADDED)
{
    const char *reason = change_OUT_RESIDUAL(recipe, problem, mask, form);
    recipe->adds_normed = true;
    if (!stage_applies(problem, STAGE_NORMED))
        return "the inputs are not normed here";
    return reason != NULL ? reason : recipe_makes(recipe, problem_last_stage(problem), ", plus normed");
}

CHANGE_BY(OUT_NORMED)
{
    if (!problem_projects(problem))
        return NOT_PROJECTED;
    recipe->result_norm = (struct norm){.kind = form < 2 ? NORM_LAYER : NORM_RMS, .eps = RECIPE_NORM_EPS};
    return (int)form % 2 == 1 ? change_OUT_RESIDUAL(recipe, problem, mask, form)
                              : recipe_makes(recipe, problem_last_stage(problem), ", normed");
}

/* --- gate -------------------------------------------------------------------------------------------------------- */

static const char NO_GATE[] = "there is no gate";

const char *recipe_make_gate(struct recipe *recipe, gate_function *function, const char *formula)
{
    struct problem *problem = &recipe->problem;
    const unsigned threads = problem->path.threads;
    problem->path.threads = 1; /* a trial has one */
    gate_make(problem, function, recipe->arena, recipe->error);
    problem->path.threads = threads;
    if (formula != NULL)
        recipe_tells(recipe, STAGE_GATE, formula);
    if (function != gate_sigmoid)
        recipe->not_differentiable = recipe->making;
    return recipe->problem.given.gate.rank == 0 && formula != NULL ? NO_GATE : NULL;
}

static double one(double x)
{
    (void)x;
    return 1;
}

static double same(double x)
{
    return x;
}

static double silu(double x)
{
    return x * gate_sigmoid(x);
}

static double sigmoid_twice(double x)
{
    return gate_sigmoid(gate_sigmoid(x));
}

CHANGE(GATE_MISSING, recipe_make_gate(recipe, one, "1, no gate"))

CHANGE_BY(GATE_FUNCTION)
{
    static const struct {
        gate_function *function;
        const char *formula;
    } FORMS[] = {{same, "x . W_gate, without sigmoid"},
                 {silu, "silu(x . W_gate)"},
                 {tanh, "tanh(x . W_gate)"},
                 {sigmoid_twice, "sigmoid(sigmoid(x . W_gate))"}};
    return recipe_make_gate(recipe, FORMS[(size_t)form].function, FORMS[(size_t)form].formula);
}

CHANGE_BY(GATE_VIEW)
{
    const struct problem_sizes *size = &problem->size;
    const struct tensor own = problem->given.gate;
    struct tensor *gate = &problem->given.gate;
    const size_t d = size->d_value, heads = size->heads, rows = size->queries;
    double *numbers = arena_allocate(recipe->arena, d, sizeof *numbers, recipe->error);
    if (own.rank == 0)
        return NO_GATE;
    if (heads == 1)
        return "there is one head";
    if (numbers == NULL ||
        tensor_create(gate, own.dtype, own.rank, own.shape, recipe->arena, recipe->error) != STATUS_OK)
        return NULL;
    for (size_t i = 0; i < size->items * heads * rows; i++) { /* row i as (T, H) is read as (H, T) */
        const size_t item = i / (heads * rows), at = i % (heads * rows);
        tensor_load(&own, (item * heads * rows + at % heads * rows + at / heads) * d, d, numbers);
        tensor_store(gate, i * d, d, numbers);
    }
    recipe->not_differentiable = recipe->making;
    return recipe_tells(recipe, STAGE_GATE, "the gate, its rows read on from head to head");
}

/* --- groups ------------------------------------------------------------------------------------------------------ */

/* Key or value are grouped right where they have no formula. */
static const char *group(struct recipe *recipe, enum recipe_groups kind, const char *scores, const char *context)
{
    const struct problem *problem = &recipe->problem;
    if (problem->size.kv_heads == 1 ||
        (problem->size.kv_heads == problem->size.heads && (kind != RECIPE_GROUPS_FIRST || recipe->attends_heads)))
        return "heads do not share key and value";
    if (scores != NULL) {
        recipe->groups[PROJECTION_KEY] = kind;
        recipe_makes(recipe, STAGE_SCORES, scores);
    }
    if (context != NULL) {
        recipe->groups[PROJECTION_VALUE] = kind;
        recipe_makes(recipe, STAGE_CONTEXT, context);
    }
    return NULL;
}

static const char TILED_KEY[] = "query . key^T of head modulo heads of key",
                  TILED_VALUE[] = "weights . value of head modulo heads of value";

CHANGE(GROUPS_TILED, group(recipe, RECIPE_GROUPS_TILED, TILED_KEY, TILED_VALUE))
CHANGE(GROUPS_KEY_TILED, group(recipe, RECIPE_GROUPS_TILED, TILED_KEY, NULL))
CHANGE(GROUPS_VALUE_TILED, group(recipe, RECIPE_GROUPS_TILED, NULL, TILED_VALUE))
CHANGE(GROUPS_FIRST, group(recipe, RECIPE_GROUPS_FIRST, "query . key^T of the first head of key",
                           "weights . value of the first head of value"))
CHANGE(GROUPS_VALUE_FIRST, group(recipe, RECIPE_GROUPS_FIRST, NULL, "weights . value of the first head of value"))

/* --- bits -------------------------------------------------------------------------------------------------------- */

static const char *misread(struct recipe *recipe, unsigned ids, enum recipe_bits bits)
{
    if (problem_projects(&recipe->problem))
        return "query, key and value are not given";
    if (bits == RECIPE_BITS_BF16 && recipe->problem.rounding.dtype != DTYPE_F16)
        return "nothing is float16";
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++)
        if (ids & 1U << id) {
            recipe->bits[id] = bits;
            recipe_makes(recipe, recipe_projected(recipe, id),
                         bits == RECIPE_BITS_BF16 ? "given in float16, its bits read as bfloat16"
                                                  : "given, its bytes read in the wrong order");
        }
    return NULL;
}

CHANGE(BITS_BF16, misread(recipe, OF_ALL, RECIPE_BITS_BF16))
CHANGE(BITS_QUERY_BF16, misread(recipe, OF_QUERY, RECIPE_BITS_BF16))
CHANGE(BITS_KEY_BF16, misread(recipe, OF_KEY, RECIPE_BITS_BF16))
CHANGE(BITS_VALUE_BF16, misread(recipe, OF_VALUE, RECIPE_BITS_BF16))
CHANGE(BITS_SWAPPED, misread(recipe, OF_ALL, RECIPE_BITS_SWAPPED))

/* --- dtype ------------------------------------------------------------------------------------------------------- */

/* Converts a tensor, unless of rank 0, to the problem's new dtype with `make`. Sets recipe->too_large if a number does
 * not fit. */
static void convert_as(struct recipe *recipe, struct tensor *tensor, tensor_conversion *make)
{
    struct error error = {0};
    bool finite = true;
    if (tensor->rank == 0 || !dtype_is_working(tensor->dtype))
        return;
    make(tensor, recipe->problem.rounding.dtype, "", "", &finite, tensor, recipe->arena, &error);
    recipe->too_large = recipe->too_large || error.status == STATUS_USAGE;
    if (error.status == STATUS_SYSTEM)
        *recipe->error = error;
}

static void convert(struct recipe *recipe, struct tensor *tensor)
{
    convert_as(recipe, tensor, tensor_convert);
}

/* Converts slopes or sinks, as a list of the changed problem's own. */
static void convert_list(struct recipe *recipe, const double **list)
{
    const size_t heads = recipe->problem.size.heads;
    if (*list == NULL)
        return;
    double *rounded = arena_allocate(recipe->arena, heads, sizeof *rounded, recipe->error);
    if (rounded == NULL)
        return;
    memcpy(rounded, *list, heads * sizeof *rounded);
    dtype_round(recipe->problem.rounding.dtype, rounded, heads);
    for (size_t head = 0; head < heads; head++)
        recipe->too_large = recipe->too_large || (isfinite((*list)[head]) && !isfinite(rounded[head]));
    *list = rounded;
}

static const char *change_dtype(struct recipe *recipe, enum dtype dtype)
{
    struct problem *problem = &recipe->problem;
    if (problem->rounding.dtype == dtype)
        return "the job has this dtype already";
    problem->rounding.softmax_dtype =
        problem->rounding.softmax_dtype == problem->rounding.dtype ? dtype : problem->rounding.softmax_dtype;
    problem->rounding.dtype = dtype;
    convert(recipe, &problem->given.inputs);
    convert(recipe, &problem->given.key_inputs);
    for (size_t i = 0; i < PROJECTION_COUNT; i++)
        convert_as(recipe, &problem->given.operands[i], kernel_takes(dtype) ? tensor_round : tensor_convert);
    recipe_copy_modules(recipe);
    recipe->changed_projections = OF_ALL;
    recipe->output_changed = true;
    for (size_t i = 0; recipe->error->status == STATUS_OK && i < parameters_count(&problem->parameters); i++)
        convert(recipe, parameters_tensor(&problem->parameters, i));
    convert(recipe, &problem->mask.attn_mask);
    convert_list(recipe, &problem->mask.alibi_slopes);
    convert_list(recipe, &problem->mask.sinks);
    return recipe->too_large ? "it cannot hold numbers this large" : NULL;
}

CHANGE(DTYPE_BF16, change_dtype(recipe, DTYPE_BF16))
CHANGE(DTYPE_F16, change_dtype(recipe, DTYPE_F16))
CHANGE(DTYPE_F8E4M3, change_dtype(recipe, DTYPE_F8E4M3))
CHANGE(DTYPE_F8E5M2, change_dtype(recipe, DTYPE_F8E5M2))

CHANGE_WHERE(OVERFLOW_F16, problem->rounding.when != ROUNDING_OPERATIONS, NO_SCORES,
             (recipe->overflows = true,
              recipe_makes(recipe, STAGE_SCORES, "query . key^T in float16, infinite above 65504")))
