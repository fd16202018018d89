/* steps -> JSON for pipes: one object, a step a line. Queries and keys count from 1. */
#include "base/version.h"
#include "model/stage_id.h"
#include "steps/writers.h"
#include "write/json.h"

static void write_numbers(const struct steps *steps, const struct step *step, struct output *output)
{
    output_print(output, "\"numbers_read\": %zu, \"bytes_read\": %.0f, \"numbers_kept\": %zu, \"bytes_kept\": %.0f",
                 step->read, steps_bytes(steps, step->read), step->kept, steps_bytes(steps, step->kept));
    output_print(output, ", \"rows\": %zu, \"same_rows\": %zu, \"largest_difference\": ", step->rows, step->same);
    write_json_number(step->largest, DTYPE_F64, output);
}

static void write_step(const struct steps *steps, size_t i, struct output *output)
{
    const struct step *step = &steps->steps[i];
    output_print(output, "%s\n  {\"step\": %zu, \"first_query\": %zu, \"last_query\": %zu, ", i > 0 ? "," : "", i + 1,
                 step->first + 1, step->end);
    output_print(output, "\"cached_keys\": %zu, \"new_keys\": %zu, ", step->cached, step->made);
    write_numbers(steps, step, output);
    output_print(output, "}");
}

enum status steps_json(const struct steps *steps, const struct options *options, struct output *output,
                       struct arena *arena, struct error *error)
{
    (void)options, (void)arena, (void)error;
    const struct problem *problem = steps->problem;
    output_print(output, "{\"attn\": \"" ATTN_VERSION "\",\n\"mechanism\": ");
    write_json_string(MECHANISMS[problem->mechanism].name, output);
    output_print(output, ",\n\"settings\": ");
    write_json_settings(problem, output);
    output_print(output, ",\n\"compared\": \"%s\", \"path\": \"%s\", \"dtype\": \"%s\"", stage_name(steps->stage),
                 steps->fused ? "fused" : "reference", dtype_name(problem->dtype));
    output_print(output,
                 ",\n\"items\": %zu, \"queries\": %zu, \"keys\": %zu, \"heads\": %zu, \"kv_heads\": %zu, \"d\": %zu, "
                 "\"d_v\": %zu",
                 problem->items, problem->queries, problem->keys, problem->heads, problem->kv_heads, problem->d_head,
                 problem->d_value);
    output_print(output,
                 ",\n\"keys_made\": %zu, \"keys_made_without_cache\": %zu, \"fewest_keys_made_without_cache\": %zu,\n",
                 steps->made, steps->remade, steps->remade_least);
    write_numbers(steps, &steps->total, output);
    output_print(output, ",\n\"steps\": [");
    for (size_t i = 0; i < steps->count; i++)
        write_step(steps, i, output);
    output_print(output, "]}\n");
    return STATUS_OK;
}
