#include "write/explain/write_explain.h"

#include "base/text.h"
#include "write/explain/explain_stages.h"
#include "write/head_lines.h"

/* "weights = softmax(scaled)" */
static void write_heading(const struct result *result, enum stage stage, struct text_style style, struct output *output)
{
    for (size_t i = 0; i < result->table_count; i++) {
        const struct result_table *table = &result->tables[i];
        if (table->stage == stage)
            output_print(output, "\n%s%s = %s%s\n", style.color ? TEXT_BOLD : "", table->name, table->formula,
                         style.color ? TEXT_PLAIN : "");
    }
}

/* One row of a stage that is computed. */
static void write_row(struct explanation *e, enum stage stage, struct explain_place place)
{
    if (stage <= STAGE_VALUE)
        explain_projection(e, stage, place);
    else if (stage == STAGE_SCORES)
        explain_scores(e, stage, place);
    else if (stage == STAGE_SCALED)
        explain_scaled(e, place);
    else if (stage == STAGE_CAPPED)
        explain_capped(e, place);
    else if (stage == STAGE_MASKED)
        explain_masked(e, place);
    else if (stage == STAGE_WEIGHTS)
        explain_weights(e, place);
    else if (stage == STAGE_DROPPED)
        explain_dropped(e, place);
    else if (stage == STAGE_CONTEXT)
        explain_context(e, place);
    else if (stage == STAGE_OUTPUT)
        explain_output(e, place);
    else
        explain_lse(e, place);
}

/* The rows that are listed, of one item and head. */
static void write_listed(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct explain_range listed = {0, e->row_count};
    for (size_t i = 0, next; i < listed.end; i = next) {
        next = explain_next(e, listed, i);
        place.row = e->rows[i];
        write_row(e, stage, place);
        if (next > i + 1 && !e->lines.measuring)
            output_print(e->lines.output, "  … %zu more %s …\n", next - i - 1,
                         stage_is_of_keys(stage) ? "tokens" : "queries");
    }
}

/* Every row of the stage that is explained, onto the board. */
static void write_rows(struct explanation *explanation, enum stage stage)
{
    const struct explain_range items = explain_items(explanation), heads = explain_heads(explanation, stage);
    struct explain_place place = {0, 0, 0};
    for (place.item = items.first; place.item < items.end; place.item++)
        for (place.head = heads.first; place.head < heads.end; place.head++) {
            explain_list_rows(explanation, stage, place);
            write_listed(explanation, stage, place);
            explain_left_out(explanation, stage, place);
        }
}

static bool is_computed(const struct problem *problem, enum stage stage)
{
    return stage <= STAGE_LSE && (problem_projects(problem) || stage > STAGE_VALUE);
}

enum status write_explain(struct result *result, struct text_style style, struct output *output, struct arena *arena,
                          struct error *error)
{
    const struct problem *problem = result->problem;
    struct explanation explanation;
    if (explain_create(&explanation, result, style.precision, style.full, output, arena, error) != STATUS_OK)
        return error->status;
    head_lines_write(problem, WRAP_COLUMNS, style.color, output);
    for (size_t i = 0; i < problem->explained_count && !output->failed; i++) {
        const enum stage stage = problem->explained[i];
        if (!is_computed(problem, stage)) {
            if (write_text_tables(result, stage, style, output, arena, error) != STATUS_OK)
                return error->status;
            continue;
        }
        worked_line_measure(&explanation.lines);
        write_rows(&explanation, stage);
        worked_line_print(&explanation.lines);
        write_heading(result, stage, style, output);
        write_rows(&explanation, stage);
    }
    return STATUS_OK;
}
