/* SPDX-License-Identifier: MIT */
#include "problem/problem.h"
#include "model/stages.h"

bool problem_projects(const struct problem *problem)
{
    return MECHANISMS[problem->mechanism].projects && problem->given.operands[PROJECTION_QUERY].rank == 0;
}

const char **problem_key_labels(const struct problem *problem, size_t item)
{
    if (problem->labels.keys.texts == NULL)
        return NULL;
    return problem->labels.keys.texts + (problem->labels.keys.lists > 1 ? item * problem->size.keys : 0);
}

const struct problem *problem_right(const struct problem *problem)
{
    return problem->mistake.right != NULL ? problem->mistake.right : problem;
}

const struct family_rounding *problem_rounding(const struct problem *problem)
{
    static const struct family_rounding ONCE = {.rope = ROPE_ROUNDING_ONCE};
    const bool follows = problem->rounding.when == ROUNDING_TRANSFORMERS &&
                         dtype_storage(problem->rounding.dtype) != problem->rounding.dtype;
    return follows ? &problem->rounding.family->rounding : &ONCE;
}

enum dtype problem_stage_dtype(const struct problem *problem, enum stage stage)
{
    const struct family_rounding *rounding = problem_rounding(problem);
    const uint64_t wide = rounding->wide | (problem->mask.alibi_slopes != NULL ? rounding->wide_with_slopes : 0);
    const bool no_room = STAGES[stage].infinite && !dtype_has_infinity(problem->rounding.dtype);
    return no_room || (stage_exists(stage) && wide & STAGE_BIT(stage)) ? dtype_storage(problem->rounding.dtype)
                                                                       : problem->rounding.dtype;
}

enum stage problem_source(const struct problem *problem, enum stage stage)
{
    if (problem->given.is_cross && stage_is_of_keys(stage))
        return STAGE_KEY_INPUTS;
    const bool normed = problem->given.residual && problem->parameters.norms[NORM_INPUTS].kind != NORM_NONE;
    if (normed && !stage_is_of_inputs(stage))
        return STAGE_NORMED;
    const bool embedded = stage != STAGE_EMBEDDED && stage_follows(stage, STAGE_EMBEDDED);
    return embedded && problem->given.positions.rank > 0 ? STAGE_EMBEDDED : STAGE_INPUTS;
}

const char **problem_query_labels(const struct problem *problem, size_t item)
{
    const struct token_labels *own = &problem->labels.queries;
    if (problem->labels.queries_differ)
        return own->texts != NULL ? own->texts + (own->lists > 1 ? item * own->count : 0) : NULL;
    const char **labels = problem_key_labels(problem, item);
    return labels == NULL || problem->labels.first_query == SIZE_MAX ? NULL : labels + problem->labels.first_query;
}

const struct token_labels *problem_tokens(const struct problem *problem)
{
    return problem->labels.queries_differ ? &problem->labels.queries : &problem->labels.keys;
}

const char *problem_label(const struct problem *problem, bool of_keys, size_t item, size_t index, size_t *position)
{
    const size_t token = of_keys ? index : problem->chosen.rows[index];
    const char **labels = of_keys ? problem_key_labels(problem, item) : problem_query_labels(problem, item);
    *position = token + 1;
    return labels != NULL ? labels[token] : NULL;
}

const char *problem_head_text(const struct token_labels *names, size_t head, char *text)
{
    char shown[PROBLEM_HEAD_BYTES];
    struct text to = text_begin(text, PROBLEM_HEAD_BYTES);
    text_add(&to, "head %zu", head + 1);
    if (names->texts == NULL)
        return text;
    text_shown(names->texts[head], PROBLEM_HEAD_COLUMNS, shown, sizeof shown);
    text_add(&to, " (%s)", shown);
    return text;
}

bool problem_leaves_out(const struct problem *problem, size_t head)
{
    return problem->given.heads_out != NULL && problem->given.heads_out[head];
}

double problem_gate(const struct problem *problem, size_t token, size_t column)
{
    const size_t d = problem->size.d_value, queries = problem->size.queries;
    const size_t matrix = token / queries * problem->size.heads + column / d;
    double gate = 1;
    if (problem->given.gate.rank > 0)
        tensor_load(&problem->given.gate, (matrix * queries + token % queries) * d + column % d, 1, &gate);
    return gate;
}

void problem_gate_heads(const struct problem *problem, size_t token, double *contexts)
{
    const size_t d = problem->size.d_value, heads = problem->size.heads;
    for (size_t i = 0; i < heads * d && problem->given.gate.rank > 0; i++)
        contexts[i] *= problem_gate(problem, token, i);
    if (problem->given.gate.rank > 0)
        dtype_round(problem->rounding.dtype, contexts, heads * d);
    for (size_t head = 0; head < problem->size.heads; head++)
        for (size_t i = 0; i < d && problem_leaves_out(problem, head); i++)
            contexts[head * d + i] = 0;
}

bool problem_is_side_by_side(const struct problem *problem, enum stage stage)
{
    return STAGES[stage].joins_heads || problem_made_as(problem, stage) != stage;
}

enum stage problem_last_stage(const struct problem *problem)
{
    return MECHANISMS[problem->mechanism].splits ? STAGE_OUTPUT : STAGE_CONTEXT;
}

enum stage problem_grad_stage(const struct problem *problem)
{
    return problem->size.words > 0 ? STAGE_GRAD_LOGITS : mechanism_grad_stage(problem->mechanism);
}

enum stage problem_made_as(const struct problem *problem, enum stage stage)
{
    return problem->size.heads_packed ? stage_packed(stage) : stage;
}

size_t problem_columns_of_head(const struct problem *problem, enum stage stage)
{
    switch (STAGES[stage].columns) {
    case STAGE_COLUMNS_KEYS:
        return problem->size.keys;
    case STAGE_COLUMNS_D:
        return problem->size.d_head;
    case STAGE_COLUMNS_D_VALUE:
        return problem->size.d_value;
    case STAGE_COLUMNS_OUTPUT:
        return problem->plan.has_out ? problem->plan.d_output : problem->size.heads * problem->size.d_value;
    case STAGE_COLUMNS_D_KEY_IN:
        return problem->size.d_key_in;
    case STAGE_COLUMNS_WORDS:
        return problem->size.words;
    case STAGE_COLUMNS_D_IN:
    case STAGE_COLUMNS_PARAMETERS:
    case STAGE_COLUMNS_OTHER:
        return problem->size.d_in;
    default:
        return 1;
    }
}

size_t problem_columns(const struct problem *problem, enum stage stage)
{
    const bool packed = problem_is_side_by_side(problem, stage) && !STAGES[stage].joins_heads;
    return (packed ? problem->size.heads : 1) * problem_columns_of_head(problem, stage);
}

bool problem_shows_stage(const struct problem *problem, enum stage stage)
{
    for (size_t i = 0; i < problem->chosen.stage_count; i++)
        if (problem->chosen.stages[i] == stage)
            return true;
    return false;
}

double problem_work(const struct problem *problem)
{
    const double rows = (double)problem->size.items * (double)problem->size.queries,
                 heads = (double)problem->size.heads;
    const double width = heads * (double)problem->size.d_head,
                 kv_width = (double)problem->size.kv_heads * (double)problem->size.d_head;
    double work = rows * (double)problem->size.keys * heads * (double)(problem->size.d_head + problem->size.d_value);
    if (!problem_projects(problem))
        return work;
    work += rows * (double)problem->size.d_in * (width + 2 * kv_width);
    if (problem->plan.has_out)
        work += rows * width * (double)problem->plan.d_output;
    return work;
}
