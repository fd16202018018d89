#include "compute/backward_operands.h"

#include "stage/norm.h"
#include "stage/operand_steps.h"
#include "stage/projections.h"

#include <math.h>
#include <string.h>

bool backward_reaches_parameters(const struct problem *problem)
{
    const struct latent *latent = &problem->parameters.latent;
    return problem_projects(problem) && latent->query_a.weight.rank == 0 && latent->key_value_a.weight.rank == 0;
}

/* --- room --------------------------------------------------------------------------------------------------------- */

static enum status make_zeros(struct tensor *tensor, size_t rank, const size_t *shape, struct arena *arena,
                              struct error *error)
{
    *tensor = (struct tensor){0};
    if (rank == 0)
        return STATUS_OK;
    if (tensor_create(tensor, DTYPE_F64, rank, shape, arena, error) == STATUS_OK)
        memset(tensor->data, 0, tensor_count(tensor) * sizeof(double));
    return error->status;
}

static enum status make_like(struct tensor *tensor, const struct tensor *given, struct arena *arena,
                             struct error *error)
{
    const struct tensor shaped = *given;
    return make_zeros(tensor, shaped.rank, shaped.shape, arena, error);
}

/* The parameters once more, zeros. */
static enum status make_parameters(struct parameters *made, const struct parameters *given, struct arena *arena,
                                   struct error *error)
{
    *made = *given;
    made->modules = arena_allocate(arena, given->module_count, sizeof *made->modules, error);
    if (made->modules == NULL)
        return error->status;
    for (size_t i = 0; i < given->module_count * PROJECTION_COUNT; i++) {
        const struct projection *projection = &given->modules[i / PROJECTION_COUNT].projections[i % PROJECTION_COUNT];
        struct projection *zeros = &made->modules[i / PROJECTION_COUNT].projections[i % PROJECTION_COUNT];
        zeros->transposed = projection->transposed;
        if (make_like(&zeros->weight, &projection->weight, arena, error) ||
            make_like(&zeros->bias, &projection->bias, arena, error))
            return error->status;
    }
    for (int i = 0; i < NORM_COUNT; i++)
        if (make_like(&made->norms[i].weight, &given->norms[i].weight, arena, error) ||
            make_like(&made->norms[i].bias, &given->norms[i].bias, arena, error))
            return error->status;
    if (make_like(&made->out.weight, &given->out.weight, arena, error) ||
        make_like(&made->out.bias, &given->out.bias, arena, error))
        return error->status;
    return make_like(&made->relative_bias, &given->relative_bias, arena, error);
}

static enum status make_room(struct backward_operands *gradients, const struct problem *problem,
                             const struct tensor made[PROJECTION_COUNT], struct arena *arena, struct error *error)
{
    for (int i = 0; i < PROJECTION_COUNT; i++) {
        const enum projection_id id = (enum projection_id)i;
        const bool norms = operand_is_normed(problem, id) && operand_has_last_step(problem, id);
        if (operand_has_steps(problem, id) && make_like(&gradients->projected[i], &made[i], arena, error))
            return error->status;
        if (norms && make_like(&gradients->normed[i], &made[i], arena, error))
            return error->status;
    }
    if (!backward_reaches_parameters(problem))
        return STATUS_OK;
    if (make_like(&gradients->inputs, &problem->inputs, arena, error) ||
        (problem->crosses && make_like(&gradients->key_inputs, &problem->key_inputs, arena, error)))
        return error->status;
    return make_parameters(&gradients->parameters, &problem->parameters, arena, error);
}

/* --- a step back -------------------------------------------------------------------------------------------------- */

static double *numbers_of(const struct tensor *tensor)
{
    return tensor->rank > 0 ? tensor->data : NULL;
}

/* A norm of a row (count), whose weights begin at `first`: y = (x - mean) x factor, times weight, plus bias.
 *   x      what was normed
 *   above  the gradient by what was made of it; that by x is written in its place */
static void norm_back(const struct norm *norm, const struct norm *gradient, size_t first, const double *x, size_t count,
                      double *above)
{
    double *weight = numbers_of(&gradient->weight), *bias = numbers_of(&gradient->bias);
    double mean = 0, product = 0;
    if (norm->kind == NORM_NONE || norm->left_out)
        return;
    const struct norm_terms terms = norm_terms(norm, x, count);
    for (size_t i = 0; i < count; i++) {
        const double y = (x[i] - terms.mean) * terms.factor;
        if (weight != NULL)
            weight[first + i] += above[i] * y;
        if (bias != NULL)
            bias[first + i] += above[i];
        above[i] *= norm_weight(norm, first + i);
        mean += above[i] / (double)count;
        product += above[i] * y / (double)count;
    }
    for (size_t i = 0; i < count; i++)
        above[i] = terms.factor *
                   (above[i] - (norm->kind == NORM_LAYER ? mean : 0) - (x[i] - terms.mean) * terms.factor * product);
}

/* A pair (a, b) was turned to (a cos - b sin, b cos + a sin).
 *   above  (d) the gradient by what was turned, that by what was not is written in its place
 *   room   (d) */
static void turn_back(const struct rope *rope, const double *cosines, const double *sines, double *above, double *room)
{
    memcpy(room, above, rope->width * sizeof *room);
    for (size_t pair = 0; pair < rope->columns / 2; pair++) {
        const struct rope_pair at = rope_pair(rope, pair);
        above[at.from[0]] = room[at.to[0]] * cosines[pair] + room[at.to[1]] * sines[pair];
        above[at.from[1]] = room[at.to[1]] * cosines[pair] - room[at.to[0]] * sines[pair];
    }
}

/* --- all heads of a token ----------------------------------------------------------------------------------------- */

/* One projection of every module, in double, and room for a token. */
struct way_back {
    struct backward_operands *gradients;
    const struct problem *problem;
    enum projection_id id;
    const struct tensor *made;           /* the gradient by query, key or value */
    size_t heads, d, d_in, columns;      /* of all modules; columns = heads d / modules */
    double **weights, **biases;          /* (modules): (d_in, columns); (columns) or NULL */
    double *source, *x;                  /* (d_in) the row of the inputs, and after its norm */
    double *projected, *clipped, *above; /* (heads d) */
    double *turns, *room, *below;        /* (d), (d), (d_in) */
};

static const struct norm *norm_of(const struct parameters *parameters, enum projection_id id)
{
    return &parameters->norms[id == PROJECTION_QUERY ? NORM_QUERY : NORM_KEY];
}

static bool norms_source(const struct way_back *way)
{
    return way->problem->residual && (way->id == PROJECTION_QUERY || !way->problem->crosses);
}

/* What was projected, without --clip and with it. */
static void project(struct way_back *way, const struct tensor *source, size_t at)
{
    const struct problem *problem = way->problem;
    tensor_load(source, at * way->d_in, way->d_in, way->source);
    memcpy(way->x, way->source, way->d_in * sizeof *way->x);
    if (norms_source(way))
        norm_input_row(problem, way->x);
    for (size_t module = 0; module < problem->plan.module_count; module++)
        projection_row(problem, way->x, way->weights[module], way->biases[module],
                       way->projected + module * way->columns, way->d_in, way->columns);
    memcpy(way->clipped, way->projected, way->heads * way->d * sizeof *way->clipped);
    operand_clip(problem, way->clipped, way->heads * way->d);
}

static void norm_heads_back(struct way_back *way)
{
    const struct problem *problem = way->problem;
    const struct norm *norm = norm_of(&problem->parameters, way->id);
    const struct norm *gradient = norm_of(&way->gradients->parameters, way->id);
    const bool of_all = operand_norm_is_of_all(problem, way->id);
    const size_t count = of_all ? way->heads * way->d : way->d;
    for (size_t head = 0; head < (of_all ? 1 : way->heads); head++)
        norm_back(norm, gradient, operand_norm_first(problem, way->id, head), way->clipped + head * count, count,
                  way->above + head * count);
}

static void turn_heads_back(struct way_back *way, size_t position)
{
    const struct rope *rope = &way->problem->rope;
    double *cosines = way->turns, *sines = cosines + rope->columns / 2;
    rope_turns(rope, position, ROPE_ROUNDING_ONCE, DTYPE_F64, cosines, sines);
    for (size_t head = 0; head < way->heads; head++)
        turn_back(rope, cosines, sines, way->above + head * way->d, way->room);
}

/* The steps of query and key, from the last to the first. */
static void steps_back(struct way_back *way, size_t item, size_t row)
{
    const struct problem *problem = way->problem;
    const size_t position = operand_position(problem, way->id, item, row);
    for (size_t i = 0; i < way->heads * way->d && operand_is_scaled(problem, way->id); i++)
        way->above[i] *= problem->query_scale;
    if (operand_is_turned(problem, way->id) && position != SIZE_MAX)
        turn_heads_back(way, position);
    operand_store_heads(&way->gradients->normed[way->id], item, row, way->above);
}

/* Numbers that --clip has cut off move nothing. */
static void clip_back(struct way_back *way)
{
    for (size_t i = 0; i < way->heads * way->d && way->problem->clip > 0; i++)
        if (fabs(way->projected[i]) > way->problem->clip)
            way->above[i] = 0;
}

/* gradient += x^T . above, as the weight is stored. */
static void add_product(const struct projection *gradient, const double *x, size_t d_in, const double *above,
                        size_t columns)
{
    double *weight = gradient->weight.data, *bias = numbers_of(&gradient->bias);
    for (size_t k = 0; k < d_in; k++)
        for (size_t j = 0; j < columns; j++)
            weight[gradient->transposed ? j * d_in + k : k * columns + j] += x[k] * above[j];
    for (size_t j = 0; j < columns && bias != NULL; j++)
        bias[j] += above[j];
}

static void project_back(struct way_back *way, size_t at)
{
    const struct problem *problem = way->problem;
    struct backward_operands *gradients = way->gradients;
    const bool crosses = problem->crosses && way->id != PROJECTION_QUERY;
    double *sums = crosses ? gradients->key_inputs.data : gradients->inputs.data;
    memset(way->below, 0, way->d_in * sizeof *way->below);
    for (size_t module = 0; module < problem->plan.module_count; module++) {
        const double *above = way->above + module * way->columns, *weight = way->weights[module];
        add_product(&gradients->parameters.modules[module].projections[way->id], way->x, way->d_in, above,
                    way->columns);
        for (size_t k = 0; k < way->d_in; k++)
            for (size_t j = 0; j < way->columns; j++)
                way->below[k] += weight[k * way->columns + j] * above[j];
    }
    if (norms_source(way))
        norm_back(&problem->parameters.norms[NORM_INPUTS], &gradients->parameters.norms[NORM_INPUTS], 0, way->source,
                  way->d_in, way->below);
    for (size_t k = 0; k < way->d_in; k++)
        sums[at * way->d_in + k] += way->below[k];
}

static void token_back(struct way_back *way, size_t item, size_t row)
{
    const struct problem *problem = way->problem;
    const size_t at = item * way->made->shape[2] + row;
    const bool reaches = backward_reaches_parameters(problem);
    operand_load_heads(way->made, item, row, way->above);
    steps_back(way, item, row);
    if (reaches) {
        project(way, way->id == PROJECTION_QUERY ? &problem->inputs : &problem->key_inputs, at);
        if (operand_is_normed(problem, way->id))
            norm_heads_back(way);
    }
    operand_store_heads(&way->gradients->projected[way->id], item, row, way->above);
    if (reaches) {
        clip_back(way);
        project_back(way, at);
    }
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static enum status load_matrices(struct way_back *way, struct arena *scratch, struct error *error)
{
    const struct problem *problem = way->problem;
    const size_t modules = problem->plan.module_count;
    way->weights = arena_allocate(scratch, modules, sizeof *way->weights, error);
    way->biases = arena_allocate(scratch, modules, sizeof *way->biases, error);
    for (size_t i = 0; i < modules && way->weights != NULL && way->biases != NULL; i++) {
        const struct projection *projection = &problem->parameters.modules[i].projections[way->id];
        if (projection_weight(projection, &way->weights[i], scratch, error) ||
            projection_bias(projection, &way->biases[i], scratch, error))
            return error->status;
    }
    return way->weights == NULL || way->biases == NULL ? error->status : STATUS_OK;
}

static enum status make_way(struct way_back *way, struct arena *scratch, struct error *error)
{
    const struct problem *problem = way->problem;
    const size_t width = way->heads * way->d;
    way->d_in = way->id == PROJECTION_QUERY ? problem->d_in : problem->d_key_in;
    double *numbers = arena_allocate(scratch, 3 * width + 2 * way->d + 3 * way->d_in, sizeof *numbers, error);
    if (numbers == NULL)
        return STATUS_SYSTEM;
    way->projected = numbers;
    way->clipped = way->projected + width;
    way->above = way->clipped + width;
    way->turns = way->above + width;
    way->room = way->turns + way->d;
    way->source = way->room + way->d;
    way->x = way->source + way->d_in;
    way->below = way->x + way->d_in;
    if (!backward_reaches_parameters(problem))
        return STATUS_OK;
    way->columns = width / problem->plan.module_count;
    return load_matrices(way, scratch, error);
}

static enum status go_back(struct way_back *way, struct error *error)
{
    struct arena scratch = {0};
    if (make_way(way, &scratch, error) == STATUS_OK)
        for (size_t i = 0; i < way->made->shape[0] * way->made->shape[2]; i++)
            token_back(way, i / way->made->shape[2], i % way->made->shape[2]);
    arena_free(&scratch);
    return error->status;
}

enum status backward_operands(struct backward_operands *gradients, const struct problem *problem,
                              const struct tensor made[PROJECTION_COUNT], struct arena *arena, struct error *error)
{
    *gradients = (struct backward_operands){0};
    if (make_room(gradients, problem, made, arena, error) != STATUS_OK)
        return error->status;
    for (int i = 0; i < PROJECTION_COUNT; i++) {
        struct way_back way = {.gradients = gradients,
                               .problem = problem,
                               .id = (enum projection_id)i,
                               .made = &made[i],
                               .heads = made[i].shape[1],
                               .d = made[i].shape[3]};
        if (go_back(&way, error) != STATUS_OK)
            return error->status;
    }
    return STATUS_OK;
}

void backward_out_proj(struct backward_operands *gradients, const double *contexts, const double *output)
{
    const struct projection *out = &gradients->parameters.out;
    const size_t columns = out->weight.shape[!out->transposed], width = out->weight.shape[out->transposed];
    add_product(out, contexts, width, output, columns);
}
