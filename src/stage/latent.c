/* SPDX-License-Identifier: MIT */
#include "stage/latent.h"

#include "model/stage_id.h"
#include "stage/norm.h"
#include "stage/projections.h"

#include <string.h>

bool latent_makes(const struct problem *problem, enum projection_id id)
{
    const struct latent *latent = &problem->parameters.latent;
    return (id == PROJECTION_QUERY ? latent->query_a : latent->key_value_a).weight.rank > 0;
}

const struct projection *latent_first(const struct latent *latent, enum projection_id id)
{
    return id == PROJECTION_QUERY ? &latent->query_a : &latent->key_value_a;
}

const struct projection *latent_second(const struct latent *latent, enum projection_id id)
{
    return id == PROJECTION_QUERY ? &latent->query_b : &latent->key_value_b;
}

const struct norm *latent_norm(const struct latent *latent, enum projection_id id)
{
    return id == PROJECTION_QUERY ? &latent->query_norm : &latent->key_value_norm;
}

struct latent_widths latent_widths(const struct problem *problem, enum projection_id id)
{
    const struct latent *latent = &problem->parameters.latent;
    const struct tensor *first = &latent_first(latent, id)->weight, *second = &latent_second(latent, id)->weight;
    return (struct latent_widths){first->shape[0], second->shape[0], second->shape[1]};
}

enum status latent_load(const struct problem *problem, enum projection_id id, struct latent_step *step,
                        struct arena *arena, struct error *error)
{
    const struct projection *first = latent_first(&problem->parameters.latent, id);
    const struct projection *second = latent_second(&problem->parameters.latent, id);
    *step = (struct latent_step){0};
    if (projection_weight(first, &step->first, arena, error) ||
        projection_bias(first, &step->first_bias, arena, error) ||
        projection_weight(second, &step->second, arena, error))
        return error->status;
    return projection_bias(second, &step->second_bias, arena, error);
}

size_t latent_scratch(const struct problem *problem, enum projection_id id)
{
    const struct latent *latent = &problem->parameters.latent;
    return latent_first(latent, id)->weight.shape[0] * 2 + latent_second(latent, id)->weight.shape[0];
}

/* Cuts columns head by head: for key its own, then those that all heads share; for value those after its key's. */
static void cut(const struct problem *problem, enum projection_id id, const double *own, const double *shared,
                double *y)
{
    const struct latent *latent = &problem->parameters.latent;
    const size_t width = latent->d_nope + problem->size.d_value;
    for (size_t head = 0; head < problem->size.heads; head++, own += width) {
        if (id == PROJECTION_VALUE) {
            memcpy(y + head * problem->size.d_value, own + latent->d_nope, problem->size.d_value * sizeof *y);
            continue;
        }
        memcpy(y + head * problem->size.d_head, own, latent->d_nope * sizeof *y);
        memcpy(y + head * problem->size.d_head + latent->d_nope, shared, latent->d_rope * sizeof *y);
    }
}

void latent_row(const struct problem *problem, enum projection_id id, const struct latent_step *step, const double *x,
                double *scratch, double *y)
{
    const struct latent *latent = &problem->parameters.latent;
    const struct norm *norm = latent_norm(latent, id);
    const size_t first = latent_first(latent, id)->weight.shape[0], second = latent_second(latent, id)->weight.shape[0];
    const size_t d_in = latent_first(latent, id)->weight.shape[1], rank = latent_second(latent, id)->weight.shape[1];
    double *narrow = scratch, *normed = narrow + first, *own = normed + first;
    projection_row(problem, x, step->first, step->first_bias, narrow, d_in, first);
    dtype_round(problem->rounding.dtype, narrow, first);
    norm_row(problem, norm, 0, narrow, rank, normed);
    dtype_round(problem->rounding.dtype, normed, rank);
    projection_row(problem, normed, step->second, step->second_bias, id == PROJECTION_QUERY ? y : own, rank, second);
    if (id != PROJECTION_QUERY)
        cut(problem, id, own, narrow + rank, y);
}

/* The inverse of cut: sums over the heads what they share. */
static void join(const struct problem *problem, enum projection_id id, const double *above, double *own, double *shared)
{
    const struct latent *latent = &problem->parameters.latent;
    const size_t width = latent->d_nope + problem->size.d_value, d_value = problem->size.d_value;
    memset(own, 0, problem->size.heads * width * sizeof *own);
    memset(shared, 0, latent->d_rope * sizeof *shared);
    for (size_t head = 0; head < problem->size.heads; head++, own += width) {
        if (id == PROJECTION_VALUE) {
            memcpy(own + latent->d_nope, above + head * d_value, d_value * sizeof *own);
            continue;
        }
        memcpy(own, above + head * problem->size.d_head, latent->d_nope * sizeof *own);
        for (size_t i = 0; i < latent->d_rope; i++)
            shared[i] += above[head * problem->size.d_head + latent->d_nope + i];
    }
}

void latent_back(const struct problem *problem, enum projection_id id, const struct latent_step *step,
                 const double *scratch, const double *above, double *own, double *narrow, double *by_weight,
                 double *by_bias)
{
    const struct latent_widths widths = latent_widths(problem, id);
    if (id == PROJECTION_QUERY)
        memcpy(own, above, widths.second * sizeof *own);
    else
        join(problem, id, above, own, narrow + widths.rank);
    memset(narrow, 0, widths.rank * sizeof *narrow);
    projection_back(own, step->second, narrow, widths.rank, widths.second);
    norm_back(latent_norm(&problem->parameters.latent, id), 0, scratch, widths.rank, narrow, by_weight, by_bias);
}

void latent_formula(const struct problem *problem, enum stage stage, struct text *text)
{
    const enum projection_id id = projection_of(stage);
    const char *source = stage_name(problem_source(problem, stage));
    const struct latent *latent = &problem->parameters.latent;
    const char *of_query = latent->query_norm.kind == NORM_NONE ? "" : "norm";
    const char *of_latent = latent->key_value_norm.kind == NORM_NONE ? "latent" : "norm(latent)";
    if (id == PROJECTION_QUERY)
        text_add(text, "%s(%s . W_query_a^T) . W_query_b^T, cut into heads", of_query, source);
    else if (id == PROJECTION_KEY)
        text_add(text, "%s . W_key_value_b^T, then %zu columns of %s . W_key_value_a^T for all heads", of_latent,
                 latent->d_rope, source);
    else
        text_add(text, "%s . W_key_value_b^T, latent = %s . W_key_value_a^T", of_latent, source);
}

/* Loads the normed latent of a row to e->operand (rank), with e->made as scratch. */
static void load_latent(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const enum projection_id id = projection_of(stage);
    const struct latent *latent = &problem->parameters.latent;
    const struct projection *first = latent_first(latent, id);
    const size_t columns = first->weight.shape[0], d_in = first->weight.shape[1];
    const size_t rank = latent_second(latent, id)->weight.shape[1];
    projection_load_source(e, stage, place);
    for (size_t column = 0; column < columns; column++) {
        explain_load_weight(first, column, e->factor);
        e->made[column] = 0;
        for (size_t k = 0; k < d_in; k++)
            e->made[column] += e->operand[k] * e->factor[k];
        e->made[column] += explain_load_bias(first, column);
    }
    dtype_round(problem->rounding.dtype, e->made, columns);
    norm_row(problem, latent_norm(latent, id), 0, e->made, rank, e->operand);
    dtype_round(problem->rounding.dtype, e->operand, rank);
}

/* Explains a column: from the second step, or a column of key that all heads share, whose row it loads at the first of
 * them. */
static bool prepare(struct explanation *e, struct explain_lines *line)
{
    const struct problem *problem = e->problem;
    const enum stage stage = line->stage;
    const enum projection_id id = projection_of(stage);
    const struct latent *latent = &problem->parameters.latent;
    const bool shared = id == PROJECTION_KEY && line->index >= latent->d_nope;
    const struct projection *projection = shared ? &latent->key_value_a : latent_second(latent, id);
    const size_t width = latent->d_nope + problem->size.d_value, head = line->place.head;
    struct explain_projection *by = line->context;
    if (shared && by->projection != projection)
        explain_note(e, "(from %s by W_key_value_a, shared by all heads:)",
                     stage_name(projection_load_source(e, stage, line->place)));
    *by = (struct explain_projection){.projection = projection,
                                      .first = shared                   ? latent->rank - latent->d_nope
                                               : id == PROJECTION_QUERY ? head * problem->size.d_head
                                               : id == PROJECTION_KEY   ? head * width
                                                                        : head * width + latent->d_nope,
                                      .d_in = projection->weight.shape[1],
                                      .weight_kind = EXPLAIN_WEIGHTS + (int)id,
                                      .x_kind = (int)(shared ? problem_source(problem, stage) : stage)};
    return explain_prepare_projected(e, line);
}

void explain_latent(struct explanation *e, enum stage stage, struct explain_place place)
{
    const bool all_shared = projection_of(stage) == PROJECTION_KEY &&
                            explain_columns(e, stage).first >= e->problem->parameters.latent.d_nope;
    load_latent(e, stage, place);
    explain_projected(e, stage, place, all_shared ? "" : "from the normed latent", &(struct explain_projection){0},
                      prepare);
}
