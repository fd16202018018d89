/* SPDX-License-Identifier: MIT */
#include "why/noise.h"

#include <math.h>
#include <string.h>

struct mover {
    double share;
    uint32_t state;
    struct arena *arena;
    struct error *error;
};

double noise_unit(enum dtype dtype)
{
    return pow(2, 1 - fmin(dtype_precision(dtype), dtype_precision(DTYPE_F32)));
}

/* Whether moving all weights would take longer than the search: then the inputs move twice, which moves x . W as
 * much. */
static bool is_large(const struct problem *problem)
{
    return problem_projects(problem) && problem_work(problem) > 1e9;
}

unsigned noise_runs(const struct problem *problem)
{
    return is_large(problem) ? 4 : 8;
}

/* Moves a number up, down, or twice as often not at all: Marsaglia 2003, "Xorshift RNGs". */
static double move(struct mover *mover, double number)
{
    static const double BY[] = {-1, 0, 0, 1};
    mover->state ^= mover->state << 13;
    mover->state ^= mover->state >> 17;
    mover->state ^= mover->state << 5;
    return isfinite(number) ? number * (1 + mover->share * BY[mover->state >> 30]) : number;
}

static void move_tensor(struct mover *mover, struct tensor *tensor)
{
    enum { AT_ONCE = 256 };
    const struct tensor given = *tensor;
    double numbers[AT_ONCE];
    /* If the share is below its own dtype's precision, moves it in float32. */
    const bool fine = given.rank > 0 && dtype_is_working(given.dtype) && mover->share < noise_unit(given.dtype);
    if (given.rank == 0 || !dtype_is_working(given.dtype) ||
        tensor_create(tensor, fine ? DTYPE_F32 : given.dtype, given.rank, given.shape, mover->arena, mover->error) !=
            STATUS_OK)
        return;
    const size_t count = tensor_count(&given);
    for (size_t first = 0; first < count; first += AT_ONCE) {
        const size_t now = memory_smaller(AT_ONCE, count - first);
        tensor_load(&given, first, now, numbers);
        for (size_t i = 0; i < now; i++)
            numbers[i] = move(mover, numbers[i]);
        tensor_store(tensor, first, now, numbers);
    }
}

/* Moves all; of a large job, not query, key and value of each module. */
static void move_parameters(struct mover *mover, bool large, struct parameters *parameters)
{
    const size_t count = parameters->module_count;
    struct module *modules = arena_allocate(mover->arena, count, sizeof *modules, mover->error);
    if (modules == NULL)
        return;
    memcpy(modules, parameters->modules, count * sizeof *modules);
    parameters->modules = modules;
    for (size_t i = large ? count * PROJECTION_COUNT * 2 : 0; i < parameters_count(parameters); i++)
        move_tensor(mover, parameters_tensor(parameters, i));
}

/* Moves key and value in the pages of the caches, too, which some mistakes read. */
static void move_pages(struct mover *mover, struct problem *moved)
{
    struct problem_pages *pages = arena_allocate(mover->arena, 1, sizeof *pages, mover->error);
    if (pages == NULL)
        return;
    *pages = *moved->given.pages;
    for (int id = 0; id < PROJECTION_COUNT; id++)
        move_tensor(mover, &pages->caches[id]);
    moved->given.pages = pages;
}

static const double *move_numbers(struct mover *mover, const double *numbers, size_t count)
{
    double *moved = arena_allocate(mover->arena, count, sizeof *moved, mover->error);
    for (size_t i = 0; i < count && moved != NULL; i++)
        moved[i] = move(mover, numbers[i]);
    return moved;
}

static void move_inputs(struct mover *mover, bool large, struct tensor *inputs)
{
    for (int times = large ? 2 : 1; times > 0; times--)
        move_tensor(mover, inputs);
}

enum status noise_move(struct problem *moved, const struct problem *problem, double share, unsigned run,
                       struct arena *arena, struct error *error)
{
    struct mover mover = {share, 2463534242U + run * 2654435761U, arena, error};
    const bool large = is_large(problem);
    *moved = *problem;
    moved->loss.noise = share;
    move_inputs(&mover, large, &moved->given.inputs);
    if (problem->given.key_inputs.data == problem->given.inputs.data)
        moved->given.key_inputs.data = moved->given.inputs.data;
    else
        move_inputs(&mover, large, &moved->given.key_inputs);
    for (int id = 0; id < PROJECTION_COUNT; id++)
        move_tensor(&mover, &moved->given.operands[id]);
    move_tensor(&mover, &moved->loss.gradient);
    move_tensor(&mover, &moved->mask.attn_mask);
    move_tensor(&mover, &moved->given.gate);
    if (problem_projects(problem))
        move_parameters(&mover, large, &moved->parameters);
    if (problem->given.pages != NULL)
        move_pages(&mover, moved);
    if (problem->mask.sinks != NULL)
        moved->mask.sinks = move_numbers(&mover, problem->mask.sinks, problem->size.heads);
    if (problem->mask.relative != NULL)
        moved->mask.relative =
            move_numbers(&mover, problem->mask.relative, problem->mask.buckets * problem->size.heads);
    return error->status;
}
