/* SPDX-License-Identifier: MIT */
#include "compute/backward_operands.h"

#include "base/threads.h"
#include "compute/setup.h"
#include "stage/backward_mistake.h"
#include "stage/latent.h"
#include "stage/norm.h"
#include "stage/operand_steps.h"
#include "stage/projections.h"

#include <math.h>
#include <string.h>

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

static enum status make_parameters(struct parameters *made, const struct parameters *given, struct arena *arena,
                                   struct error *error)
{
    *made = *given;
    made->modules = arena_allocate(arena, given->module_count, sizeof *made->modules, error);
    if (made->modules == NULL)
        return error->status;
    memcpy(made->modules, given->modules, given->module_count * sizeof *made->modules);
    for (size_t i = 0; i < parameters_count(made); i++)
        if (make_like(parameters_tensor(made, i), parameters_tensor(made, i), arena, error) != STATUS_OK)
            return error->status;
    return STATUS_OK;
}

static double count_of(const struct tensor *tensor)
{
    return tensor->rank > 0 ? (double)tensor_count(tensor) : 0;
}

static enum status create_gradients(struct backward_operands *gradients, const struct problem *problem,
                                    const struct tensor made[PROJECTION_COUNT], struct arena *arena,
                                    struct error *error)
{
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++) {
        if (operand_has_steps(problem, id) && make_like(&gradients->projected[id], &made[id], arena, error))
            return error->status;
        if (operand_shows_norm(problem, id) && make_like(&gradients->normed[id], &made[id], arena, error))
            return error->status;
    }
    if (!problem_projects(problem))
        return STATUS_OK;
    if (make_like(&gradients->inputs, &problem->given.inputs, arena, error) ||
        (problem->given.is_cross && make_like(&gradients->key_inputs, &problem->given.key_inputs, arena, error)))
        return error->status;
    return make_parameters(&gradients->parameters, &problem->parameters, arena, error);
}

/* --- a token ------------------------------------------------------------------------------------------------------ */

/* Offsets in the room of a token. */
struct room_layout {
    size_t source, x;                                      /* (d_in) of the inputs, before and after their norm */
    size_t projected, clipped, above;                      /* (heads d) */
    size_t angles, rotated;                                /* (d) */
    size_t below;                                          /* (d_in) */
    size_t by_weight, by_bias;                             /* (heads d) for the norm of query or key */
    size_t source_weight, source_bias;                     /* (d_in) for the norm of the inputs */
    size_t steps, own, narrow, latent_weight, latent_bias; /* of a latent: scratch; (second), (first), (rank) */
    size_t count;
};

/* One projection of every module. */
struct backward_projection {
    struct backward_operands *gradients;
    const struct problem *problem;
    enum projection_id id;
    bool gates;                     /* not that of query, but of the gate, which is from the same inputs */
    const struct tensor *made;      /* the gradient with respect to query, key, value or gate */
    size_t heads, d, d_in, columns; /* of all modules; columns = heads d / modules */
    double **weights, **biases;     /* (modules): (d_in, columns); (columns) or NULL; or */
    struct latent_step step;
    struct room_layout at;
    struct backward_sums sums;
    size_t first; /* first token of these rooms, over all items */
};

static bool is_latent(const struct backward_projection *job)
{
    return !job->gates && latent_makes(job->problem, job->id);
}

static const struct projection *module_projection(const struct backward_projection *job,
                                                  const struct parameters *parameters, size_t module)
{
    return job->gates ? &parameters->gate : &parameters->modules[module].projections[job->id];
}

static const struct norm *norm_of(const struct parameters *parameters, enum projection_id id)
{
    return &parameters->norms[projection_norm(id)];
}

static bool norms_source(const struct backward_projection *job)
{
    return job->problem->given.residual && (job->id == PROJECTION_QUERY || !job->problem->given.is_cross);
}

/* Takes the gradient back through a rotation (a, b) -> (a cos - b sin, b cos + a sin).
 *   above  (d) the gradient with respect to the rotated row; replaced by that with respect to the unrotated
 *   room   (d) */
static void unrotate(const struct rope *rope, const double *cosines, const double *sines, double *above, double *room)
{
    memcpy(room, above, rope->width * sizeof *room);
    for (size_t pair = 0; pair < rope->columns / 2; pair++) {
        const struct rope_pair at = rope_pair(rope, pair);
        above[at.from[0]] = room[at.to[0]] * cosines[pair] + room[at.to[1]] * sines[pair];
        above[at.from[1]] = room[at.to[1]] * cosines[pair] - room[at.to[0]] * sines[pair];
    }
}

/* Writes the projected columns, before and after --clip. */
static void project(const struct backward_projection *job, const struct tensor *source, size_t at, double *room)
{
    const struct problem *problem = job->problem;
    double *x = room + job->at.x, *projected = room + job->at.projected, *clipped = room + job->at.clipped;
    tensor_load(source, at * job->d_in, job->d_in, room + job->at.source);
    memcpy(x, room + job->at.source, job->d_in * sizeof *x);
    if (norms_source(job))
        norm_input_row(problem, x);
    if (job->gates)
        return;
    if (is_latent(job))
        latent_row(problem, job->id, &job->step, x, room + job->at.steps, projected);
    for (size_t module = 0; module < problem->plan.module_count && !is_latent(job); module++)
        projection_row(problem, x, job->weights[module], job->biases[module], projected + module * job->columns,
                       job->d_in, job->columns);
    memcpy(clipped, projected, job->heads * job->d * sizeof *clipped);
    operand_clip(problem, clipped, job->heads * job->d);
}

static void norm_heads_back(const struct backward_projection *job, double *room)
{
    const struct problem *problem = job->problem;
    const bool of_all = operand_norm_is_of_all(problem, job->id);
    const size_t count = of_all ? job->heads * job->d : job->d;
    const struct norm norm = operand_first_norm(problem, job->id);
    const size_t by_weight = operand_norm_is_last(problem, job->id) ? job->at.by_bias : job->at.by_weight;
    for (size_t head = 0; head < (of_all ? 1 : job->heads); head++)
        norm_back(&norm, operand_norm_first(problem, job->id, head), room + job->at.clipped + head * count, count,
                  room + job->at.above + head * count, room + by_weight + head * count,
                  room + job->at.by_bias + head * count);
}

/* The gradient with respect to the weights of a last norm: that of query or key times what they multiply. */
static void last_norm_back(const struct backward_projection *job, size_t position, double *room)
{
    struct problem bare = *job->problem;
    double *rotated = room + job->at.by_weight;
    bare.parameters.norms[projection_norm(job->id)] = operand_first_norm(job->problem, job->id);
    operand_steps(&bare, job->id, position, room + job->at.clipped, room + job->at.by_bias, rotated,
                  room + job->at.angles);
    for (size_t i = 0; i < job->heads * job->d; i++)
        rotated[i] *= room[job->at.above + i];
}

/* Takes the gradient back through the steps of an operand, last to first. */
static void steps_back(const struct backward_projection *job, size_t item, size_t row, double *room)
{
    const struct problem *problem = job->problem;
    const struct rope *rope = &problem->rotation.rope;
    const size_t position = operand_position(problem, job->id, item, row);
    double *above = room + job->at.above, *cosines = room + job->at.angles, *sines = cosines + rope->columns / 2;
    if (problem_projects(problem) && operand_norm_is_last(problem, job->id))
        last_norm_back(job, position, room);
    for (size_t i = 0; i < job->heads * job->d && operand_is_scaled(problem, job->id); i++)
        above[i] *= operand_factor(problem, job->id, position, i);
    if (operand_is_rotated(problem, job->id) && position != SIZE_MAX) {
        const struct backward_mistake *mistake = problem->mistake.backward;
        rope_turns(rope, position, ROPE_ROUNDING_ONCE, DTYPE_F64, cosines, sines);
        const bool rotates =
            mistake == NULL || mistake->rotate_back == NULL || mistake->rotate_back(sines, rope->columns / 2);
        for (size_t head = 0; head < job->heads && rotates; head++)
            unrotate(rope, cosines, sines, above + head * job->d, room + job->at.rotated);
    }
    operand_store_heads(&job->gradients->normed[job->id], item, row, above);
}

/* Writes the gradient with respect to x of all modules to the room's `below`. */
static void modules_back(const struct backward_projection *job, double *room)
{
    const struct problem *problem = job->problem;
    double *below = room + job->at.below;
    memset(below, 0, job->d_in * sizeof *below);
    if (is_latent(job)) {
        latent_back(problem, job->id, &job->step, room + job->at.steps, room + job->at.above, room + job->at.own,
                    room + job->at.narrow, room + job->at.latent_weight, room + job->at.latent_bias);
        projection_back(room + job->at.narrow, job->step.first, below, job->d_in,
                        latent_widths(problem, job->id).first);
        return;
    }
    for (size_t module = 0; module < problem->plan.module_count; module++)
        projection_back(room + job->at.above + module * job->columns, job->weights[module], below, job->d_in,
                        job->columns);
}

static void project_back(const struct backward_projection *job, size_t at, double *room)
{
    const struct backward_operands *gradients = job->gradients;
    const bool crosses = job->problem->given.is_cross && job->id != PROJECTION_QUERY;
    double *sums = crosses ? gradients->key_inputs.data : gradients->inputs.data, *below = room + job->at.below;
    modules_back(job, room);
    if (norms_source(job))
        norm_back(&job->problem->parameters.norms[NORM_INPUTS], 0, room + job->at.source, job->d_in, below,
                  room + job->at.source_weight, room + job->at.source_bias);
    for (size_t k = 0; k < job->d_in; k++)
        sums[at * job->d_in + k] += below[k];
}

/* Through the sigmoid, and summed over the columns that share a gate. */
static void sigmoid_back(const struct backward_projection *job, size_t token, double *above)
{
    const size_t repeats = job->heads * job->d / job->columns;
    for (size_t i = 0; i < job->heads * job->d; i++) {
        const double gate = problem_gate(job->problem, token, i), share = above[i] * gate * (1 - gate);
        above[i / repeats] = i % repeats == 0 ? share : above[i / repeats] + share;
    }
}

static void token_back(void *context, size_t task, unsigned thread)
{
    (void)thread;
    const struct backward_projection *job = context;
    const struct problem *problem = job->problem;
    const size_t at = job->first + task, item = at / job->made->shape[2], row = at % job->made->shape[2];
    const bool reaches = problem_projects(problem);
    double *room = job->sums.rooms + task * job->sums.room;
    operand_load_heads(job->made, item, row, room + job->at.above);
    if (job->gates) {
        sigmoid_back(job, at, room + job->at.above);
        project(job, &problem->given.inputs, at, room);
        project_back(job, at, room);
        return;
    }
    if (reaches)
        project(job, job->id == PROJECTION_QUERY ? &problem->given.inputs : &problem->given.key_inputs, at, room);
    steps_back(job, item, row, room);
    if (reaches && operand_is_normed(problem, job->id))
        norm_heads_back(job, room);
    operand_store_heads(&job->gradients->projected[job->id], item, row, room + job->at.above);
    const double clip = problem->given.clip; /* clipped columns have the gradient 0 */
    for (size_t i = 0; i < job->heads * job->d && reaches && clip > 0; i++)
        if (fabs(room[job->at.projected + i]) > clip)
            room[job->at.above + i] = 0;
    if (reaches)
        project_back(job, at, room);
}

/* --- room of a token ---------------------------------------------------------------------------------------------- */

static size_t take(size_t *count, size_t numbers)
{
    const size_t at = *count;
    *count += numbers;
    return at;
}

static struct room_layout lay_out_room(const struct problem *problem, enum projection_id id, size_t width, size_t d,
                                       size_t d_in)
{
    struct room_layout at = {0};
    at.above = take(&at.count, width);
    at.angles = take(&at.count, d);
    at.rotated = take(&at.count, d);
    if (!problem_projects(problem))
        return at;
    at.source = take(&at.count, d_in);
    at.x = take(&at.count, d_in);
    at.below = take(&at.count, d_in);
    at.source_weight = take(&at.count, d_in);
    at.source_bias = take(&at.count, d_in);
    at.projected = take(&at.count, width);
    at.clipped = take(&at.count, width);
    at.by_weight = take(&at.count, width);
    at.by_bias = take(&at.count, width);
    if (!latent_makes(problem, id))
        return at;
    const struct latent_widths widths = latent_widths(problem, id);
    at.steps = take(&at.count, latent_scratch(problem, id));
    at.own = take(&at.count, widths.second);
    at.narrow = take(&at.count, widths.first);
    at.latent_weight = take(&at.count, widths.rank);
    at.latent_bias = take(&at.count, widths.rank);
    return at;
}

static void add_norm(struct backward_sums *sums, const struct norm *gradient, size_t by_weight, size_t by_bias,
                     size_t count)
{
    sums->norms[sums->norm_count++] = (struct backward_norm){gradient, by_weight, by_bias, count};
}

static enum status list_sums(struct backward_projection *job, struct arena *scratch, struct error *error)
{
    const struct problem *problem = job->problem;
    const struct parameters *gradients = &job->gradients->parameters;
    struct backward_sums *sums = &job->sums;
    const size_t modules = problem->plan.module_count;
    sums->products = arena_allocate(scratch, memory_larger(modules, 2), sizeof *sums->products, error);
    if (sums->products == NULL)
        return error->status;
    if (is_latent(job)) {
        const struct latent_widths widths = latent_widths(problem, job->id);
        sums->products[0] =
            (struct backward_product){latent_first(&gradients->latent, job->id), job->at.x, job->at.narrow};
        sums->products[1] = (struct backward_product){latent_second(&gradients->latent, job->id),
                                                      job->at.steps + widths.first, job->at.own};
        sums->product_count = 2;
        add_norm(sums, latent_norm(&gradients->latent, job->id), job->at.latent_weight, job->at.latent_bias,
                 widths.rank);
    } else
        for (; sums->product_count < modules; sums->product_count++)
            sums->products[sums->product_count] =
                (struct backward_product){module_projection(job, gradients, sums->product_count), job->at.x,
                                          job->at.above + sums->product_count * job->columns};
    if (!job->gates && operand_is_normed(problem, job->id))
        add_norm(sums, norm_of(gradients, job->id), job->at.by_weight, job->at.by_bias, job->heads * job->d);
    if (norms_source(job))
        add_norm(sums, &gradients->norms[NORM_INPUTS], job->at.source_weight, job->at.source_bias, job->d_in);
    return STATUS_OK;
}

static enum status load_matrices(struct backward_projection *job, struct arena *scratch, struct error *error)
{
    const struct problem *problem = job->problem;
    const size_t modules = problem->plan.module_count;
    if (is_latent(job))
        return latent_load(problem, job->id, &job->step, scratch, error);
    job->weights = arena_allocate(scratch, modules, sizeof *job->weights, error);
    job->biases = arena_allocate(scratch, modules, sizeof *job->biases, error);
    for (size_t i = 0; i < modules && job->weights != NULL && job->biases != NULL; i++) {
        const struct projection *projection = module_projection(job, &problem->parameters, i);
        if (projection_weight(projection, &job->weights[i], scratch, error) ||
            projection_bias(projection, &job->biases[i], scratch, error))
            return error->status;
    }
    return job->weights == NULL || job->biases == NULL ? STATUS_SYSTEM : STATUS_OK;
}

static enum status make_job(struct backward_projection *job, size_t tokens, struct arena *scratch, struct error *error)
{
    const struct problem *problem = job->problem;
    const size_t width = job->heads * job->d;
    job->d_in = job->id == PROJECTION_QUERY ? problem->size.d_in : problem->size.d_key_in;
    job->at = lay_out_room(problem, job->id, width, job->d, job->d_in);
    if (backward_sums_create(&job->sums, job->at.count, tokens, scratch, error) != STATUS_OK)
        return STATUS_SYSTEM; /* for an analyser that does not see that error is set */
    if (!problem_projects(problem))
        return STATUS_OK;
    job->columns = job->gates ? problem->parameters.gate.weight.shape[0] : width / problem->plan.module_count;
    return list_sums(job, scratch, error) != STATUS_OK ? error->status : load_matrices(job, scratch, error);
}

/* Runs the backward pass, some tokens at a time. */
static enum status go_back(struct backward_projection *job, struct error *error)
{
    const size_t tokens = job->made->shape[0] * job->made->shape[2];
    struct arena scratch = {0};
    const enum status status = make_job(job, tokens, &scratch, error);
    for (size_t count; status == STATUS_OK && job->first < tokens; job->first += count) {
        count = memory_smaller(job->sums.tokens_at_once, tokens - job->first);
        const double work = (double)count * (double)job->at.count * (double)(job->d_in + job->d);
        threads_run(setup_threads(job->problem, work), count, token_back, job);
        backward_sums_add(&job->sums, job->problem, count);
    }
    arena_free(&scratch);
    return status;
}

double backward_operands_bytes(const struct problem *problem)
{
    double numbers =
               count_of(&problem->given.inputs) + (problem->given.is_cross ? count_of(&problem->given.key_inputs) : 0),
           widest = 0;
    char name[PARAMETER_NAME_BYTES];
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++) {
        const bool of_query = id == PROJECTION_QUERY;
        const size_t tokens = problem->size.items * (of_query ? problem->size.queries : problem->size.keys);
        const size_t d = id == PROJECTION_VALUE ? problem->size.d_value : problem->size.d_head;
        const size_t width = operand_heads(problem, id) * d,
                     d_in = of_query ? problem->size.d_in : problem->size.d_key_in;
        numbers += (operand_has_steps(problem, id) + operand_shows_norm(problem, id)) * (double)tokens * (double)width;
        widest =
            fmax(widest, backward_sums_bytes(lay_out_room(problem, id, width, d, d_in).count, tokens) / sizeof(double));
    }
    if (problem_projects(problem)) /* the gradients, and some weights in double */
        for (size_t i = 0; i < parameters_count(&problem->parameters); i++)
            numbers += 2 * count_of(parameters_named(&problem->parameters, false, i, name));
    return (numbers + widest) * sizeof(double);
}

enum status backward_operands(struct backward_operands *gradients, const struct problem *problem,
                              const struct tensor made[PROJECTION_COUNT], const struct tensor *gate,
                              struct arena *arena, struct error *error)
{
    *gradients = (struct backward_operands){0};
    if (create_gradients(gradients, problem, made, arena, error) != STATUS_OK)
        return error->status;
    for (int i = 0; i < PROJECTION_COUNT + (gate->rank > 0); i++) {
        const bool gates = i == PROJECTION_COUNT;
        struct backward_projection job = {.gradients = gradients,
                                          .problem = problem,
                                          .id = gates ? PROJECTION_QUERY : (enum projection_id)i,
                                          .gates = gates,
                                          .made = gates ? gate : &made[i],
                                          .heads = gates ? gate->shape[1] : made[i].shape[1],
                                          .d = gates ? gate->shape[3] : made[i].shape[3]};
        if (go_back(&job, error) != STATUS_OK)
            return error->status;
    }
    return STATUS_OK;
}
