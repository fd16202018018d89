#include "stage/latent.h"

#include "stage/norm.h"
#include "stage/projections.h"
#include "stage/stage.h"

#include <string.h>

bool latent_makes(const struct problem *problem, enum projection_id id)
{
    const struct latent *latent = &problem->parameters.latent;
    return (id == PROJECTION_QUERY ? latent->query_a : latent->key_value_a).weight.rank > 0;
}

static const struct projection *first_of(const struct latent *latent, enum projection_id id)
{
    return id == PROJECTION_QUERY ? &latent->query_a : &latent->key_value_a;
}

static const struct projection *second_of(const struct latent *latent, enum projection_id id)
{
    return id == PROJECTION_QUERY ? &latent->query_b : &latent->key_value_b;
}

enum status latent_load(const struct problem *problem, enum projection_id id, struct latent_step *step,
                        struct arena *arena, struct error *error)
{
    const struct projection *first = first_of(&problem->parameters.latent, id);
    const struct projection *second = second_of(&problem->parameters.latent, id);
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
    return first_of(latent, id)->weight.shape[0] * 2 + second_of(latent, id)->weight.shape[0];
}

/* Head by head: of key its own columns, then those that all heads share; of value those behind its key's. */
static void cut(const struct problem *problem, enum projection_id id, const double *own, const double *shared,
                double *y)
{
    const struct latent *latent = &problem->parameters.latent;
    const size_t width = latent->d_nope + problem->d_value;
    for (size_t head = 0; head < problem->heads; head++, own += width) {
        if (id == PROJECTION_VALUE) {
            memcpy(y + head * problem->d_value, own + latent->d_nope, problem->d_value * sizeof *y);
            continue;
        }
        memcpy(y + head * problem->d_head, own, latent->d_nope * sizeof *y);
        memcpy(y + head * problem->d_head + latent->d_nope, shared, latent->d_rope * sizeof *y);
    }
}

void latent_row(const struct problem *problem, enum projection_id id, const struct latent_step *step, const double *x,
                double *scratch, double *y)
{
    const struct latent *latent = &problem->parameters.latent;
    const struct norm *norm = id == PROJECTION_QUERY ? &latent->query_norm : &latent->key_value_norm;
    const size_t first = first_of(latent, id)->weight.shape[0], second = second_of(latent, id)->weight.shape[0];
    const size_t d_in = first_of(latent, id)->weight.shape[1], rank = second_of(latent, id)->weight.shape[1];
    double *narrow = scratch, *normed = narrow + first, *own = normed + first;
    projection_row(x, step->first, step->first_bias, narrow, d_in, first);
    dtype_round(problem->dtype, narrow, first);
    norm_row(problem, norm, 0, narrow, rank, normed);
    dtype_round(problem->dtype, normed, rank);
    projection_row(normed, step->second, step->second_bias, id == PROJECTION_QUERY ? y : own, rank, second);
    if (id != PROJECTION_QUERY)
        cut(problem, id, own, narrow + rank, y);
}

/* --- in words and in numbers -------------------------------------------------------------------------------------- */

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

void explain_latent(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct explain_range columns = explain_columns(e, stage);
    explain_load(e, stage, place, e->made);
    explain_heading(e, stage, place, "by way of the latent");
    for (size_t column = columns.first; column < columns.end; column = explain_next(e, columns, column)) {
        explain_line(e, EXPLAIN_LINES, "column %zu", column + 1);
        worked_line_term(&e->lines, explain_number(e, (int)stage, e->made[column]));
        worked_line_end(&e->lines);
        explain_gap(e, columns, column, "columns", NULL);
    }
}
