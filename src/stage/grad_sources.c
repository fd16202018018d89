/* The gradients by what query, key and value are made of, which compute/backward_operands.c makes: back through scale,
 * rotation and norm to the projections, and through these to the inputs and the parameters. */
#include "stage/operand_steps.h"
#include "stage/stage.h"

/* --- query and key before their steps ----------------------------------------------------------------------------- */

/* A latent has no way back yet. */
static bool reaches(const struct problem *problem)
{
    const struct latent *latent = &problem->parameters.latent;
    return problem_projects(problem) && latent->query_a.weight.rank == 0 && latent->key_value_a.weight.rank == 0;
}

/* The way back through a norm needs what was normed. */
static bool steps(const struct problem *problem, enum projection_id id)
{
    return operand_has_steps(problem, id) && (!operand_is_normed(problem, id) || reaches(problem));
}

static bool steps_query(const struct problem *problem)
{
    return steps(problem, PROJECTION_QUERY);
}

static bool steps_key(const struct problem *problem)
{
    return steps(problem, PROJECTION_KEY);
}

static bool norms_query(const struct problem *problem)
{
    return operand_is_normed(problem, PROJECTION_QUERY) && operand_has_last_step(problem, PROJECTION_QUERY);
}

static bool norms_key(const struct problem *problem)
{
    return operand_is_normed(problem, PROJECTION_KEY) && operand_has_last_step(problem, PROJECTION_KEY);
}

static enum status refuse(bool applies, const char *name, const char *lack, const char *place, struct error *error)
{
    return applies ? STATUS_OK : error_usage(error, "%s: there is no '%s' without %s", place, name, lack);
}

#define CHECK_OF(name, applies, lack)                                                                      \
    static enum status check_##name(const struct problem *problem, const char *place, struct error *error) \
    {                                                                                                      \
        return refuse(applies(problem), "grad_" #name, lack, place, error);                                \
    }

CHECK_OF(projected_query, steps_query,
         "a norm, a rotation or a scale of query, nor behind a norm by way of a latent; expected grad_query")
CHECK_OF(projected_key, steps_key,
         "a norm or a rotation of key, nor behind a norm by way of a latent; expected grad_key")
CHECK_OF(normed_query, norms_query, "a norm of query and a rotation behind it")
CHECK_OF(normed_key, norms_key, "a norm of key and a rotation behind it")

static void formula_steps(const struct problem *problem, enum stage stage, struct text *text)
{
    const enum projection_id id =
        stage == STAGE_GRAD_NORMED_QUERY || stage == STAGE_GRAD_PROJECTED_QUERY ? PROJECTION_QUERY : PROJECTION_KEY;
    const bool projected = stage == STAGE_GRAD_PROJECTED_QUERY || stage == STAGE_GRAD_PROJECTED_KEY;
    const bool norms = operand_is_normed(problem, id), last = operand_has_last_step(problem, id);
    text_add(text, "%s", stage_name(stage_before(problem, stage)));
    if (operand_is_scaled(problem, id) && !(projected && norms))
        text_add(text, " x scale");
    if (operand_is_turned(problem, id) && !(projected && norms))
        text_add(text, ", turned back");
    if (projected && norms)
        text_add(text, ", through the norm%s", last ? "" : " of the projection");
}

const struct stage_functions stage_grad_projected_query = {
    .applies = steps_query, .check = check_projected_query, .formula = formula_steps};
const struct stage_functions stage_grad_projected_key = {
    .applies = steps_key, .check = check_projected_key, .formula = formula_steps};
const struct stage_functions stage_grad_normed_query = {
    .applies = norms_query, .check = check_normed_query, .formula = formula_steps};
const struct stage_functions stage_grad_normed_key = {
    .applies = norms_key, .check = check_normed_key, .formula = formula_steps};

/* --- inputs and parameters ---------------------------------------------------------------------------------------- */

static bool crosses(const struct problem *problem)
{
    return reaches(problem) && problem->crosses;
}

static enum status check(const struct problem *problem, const char *place, struct error *error)
{
    if (!problem_projects(problem))
        return error_usage(error,
                           "%s: sdpa has no parameters and no inputs before query, key and value; expected their "
                           "gradients",
                           place);
    return refuse(reaches(problem), "grad_inputs or grad_parameters",
                  "the projections of query, key and value: by way "
                  "of a latent they are not made",
                  place, error);
}

static enum status check_keys(const struct problem *problem, const char *place, struct error *error)
{
    return refuse(crosses(problem), "grad_key_inputs", "key_inputs; expected grad_inputs", place, error);
}

static void formula_inputs(const struct problem *problem, enum stage stage, struct text *text)
{
    const bool of_keys = stage == STAGE_GRAD_KEY_INPUTS, alone = problem->crosses && !of_keys;
    text_add(text, "%s", of_keys ? "" : "grad_query . W_query^T");
    if (!alone)
        text_add(text, "%sgrad_key . W_key^T + grad_value . W_value^T", of_keys ? "" : " + ");
    if (problem->residual && !of_keys)
        text_add(text, ", through the norm");
}

static void formula_parameters(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)problem;
    (void)stage;
    text_add(text, "what it meets, times the gradient by what it makes");
}

const struct stage_functions stage_grad_inputs = {.applies = reaches, .check = check, .formula = formula_inputs};
const struct stage_functions stage_grad_key_inputs = {
    .applies = crosses, .check = check_keys, .formula = formula_inputs};
const struct stage_functions stage_grad_parameters = {
    .applies = reaches, .check = check, .formula = formula_parameters};
