/* SPDX-License-Identifier: MIT */
/* steps -> JSON for pipes: one object, a step a line. Queries and keys count from 1. */
#include "model/stage_id.h"
#include "steps/steps.h"
#include "write/json.h"

static void write_numbers(struct json *json, const struct steps *steps, const struct step *step)
{
    json_size(json, "numbers_read", step->read);
    json_real(json, "bytes_read", steps_bytes(steps, step->read));
    json_size(json, "numbers_kept", step->kept);
    json_real(json, "bytes_kept", steps_bytes(steps, step->kept));
    json_size(json, "rows", step->rows);
    json_size(json, "same_rows", step->same);
    json_real(json, "largest_difference", step->largest);
}

static void write_step(struct json *json, const struct steps *steps, size_t i)
{
    const struct step *step = &steps->steps[i];
    json_line(json, 2);
    json_open(json, NULL, '{');
    json_size(json, "step", i + 1);
    json_size(json, "first_query", step->first + 1);
    json_size(json, "last_query", step->end);
    json_size(json, "cached_keys", step->cached);
    json_size(json, "new_keys", step->made);
    write_numbers(json, steps, step);
    json_close(json);
}

static void write_sizes(struct json *json, const struct problem *problem)
{
    json_size(json, "items", problem->size.items);
    json_size(json, "queries", problem->size.queries);
    json_size(json, "keys", problem->size.keys);
    json_size(json, "heads", problem->size.heads);
    json_size(json, "kv_heads", problem->size.kv_heads);
    json_size(json, "d", problem->size.d_head);
    json_size(json, "d_v", problem->size.d_value);
}

enum status steps_json(const struct steps *steps, const struct options *options, struct output *output,
                       struct arena *arena, struct error *error)
{
    (void)options, (void)arena, (void)error;
    const struct problem *problem = steps->problem;
    struct json json = {.output = output};
    json_begin(&json);
    json_line(&json, 0);
    json_text(&json, "mechanism", MECHANISMS[problem->mechanism].name);
    json_line(&json, 0);
    write_json_settings(&json, "settings", problem);
    json_line(&json, 0);
    json_text(&json, "compared", stage_name(steps->stage));
    json_text(&json, "path", steps->fused ? "fused" : "reference");
    json_text(&json, "dtype", dtype_name(problem->rounding.dtype));
    json_line(&json, 0);
    write_sizes(&json, problem);
    json_line(&json, 0);
    json_size(&json, "keys_made", steps->made);
    json_size(&json, "keys_made_without_cache", steps->remade);
    json_size(&json, "fewest_keys_made_without_cache", steps->remade_least);
    json_line(&json, 0);
    write_numbers(&json, steps, &steps->total);
    json_line(&json, 0);
    json_open(&json, "steps", '[');
    for (size_t i = 0; i < steps->count; i++)
        write_step(&json, steps, i);
    json_end(&json);
    return STATUS_OK;
}
