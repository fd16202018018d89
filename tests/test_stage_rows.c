/* SPDX-License-Identifier: MIT */
/* What the table of stages promises to those who walk it, whatever rows it has. */
#include "check.h"
#include "model/stages.h"
#include "read/foreign_name.h"
#include "stage/stage.h"

#include <string.h>

#define FUNCTIONS_OF(id, functions) [STAGE_##id] = &stage_##functions,
static const struct stage_functions *const FUNCTIONS[STAGE_COUNT] = {STAGE_IDS(FUNCTIONS_OF)};

/* In how many ways the row says that it is made: row by row; as operands and what they were before, by
 * compute/operands.c; as another; from heads side by side; from the row of the stage before; summed over rows on the
 * way back. */
static int ways(enum stage stage)
{
    const bool by_row = stage_is_made_by_row(stage), repeats = STAGES[stage].repeats, back = STAGES[stage].backward;
    return by_row + (!stage_is_attended(stage) && !repeats && !back) + repeats + (stage == STAGE_OUTPUT) +
           stage_is_of_words(stage) + (back && !by_row);
}

static void check_functions(enum stage stage)
{
    const struct stage_functions *functions = FUNCTIONS[stage];
    check_begin("%s: its functions", stage_name(stage));
    CHECK(stage_unmade(STAGE_BIT(stage)) == STAGE_NAMES, "expected code that makes it");
    CHECK(ways(stage) == 1, "expected one way in which it is made, got %d", ways(stage));
    CHECK(functions->formula != NULL || functions->formula_words != NULL, "expected a formula");
    CHECK(functions->of_sums == NULL || !stage_has_columns(stage), "expected a row statistic");
    CHECK(!functions->takes_logs || functions->of_sums != NULL, "expected something that takes the logs");
}

static void check_row(enum stage stage)
{
    const char *name = stage_name(stage);
    const uint64_t from = stage_existing(STAGES[stage].from), closure = stage_closure(STAGE_BIT(stage));
    const bool given = stage == STAGE_GRAD_LOGITS || stage == STAGE_GRAD_RESIDUAL || stage == STAGE_GRAD_OUTPUT ||
                       stage == STAGE_GRAD_CONTEXT; /* where the way back begins */
    check_begin("%s: its row", name);
    CHECK(stage_find(name, strlen(name)) == stage, "expected a name of its own");
    CHECK(given || STAGES[stage].from != 0, "expected it to be made from something");
    CHECK(from < STAGE_BIT(stage), "expected it to be made from stages before it");
    CHECK(given || (closure & STAGE_BIT(STAGE_INPUTS)) != 0, "expected it to come from the inputs in the end");
    CHECK(STAGES[stage].columns != STAGE_COLUMNS_OTHER, "expected it to say what its columns are");
    CHECK(!STAGES[stage].operand || (!stage_is_attended(stage) && !stage_is_made_by_row(stage)),
          "expected an operand to be made before queries meet keys, and whole");
    CHECK(!STAGES[stage].repeats || stage_of_numbers(stage) != stage, "expected the stage whose numbers it has");
    CHECK(!stage_is_square(stage) || stage_is_made_by_row(stage), "expected T x T to be made row by row");
}

static void check_order(void)
{
    check_begin("what is made from what");
    CHECK(stage_follows(STAGE_MASKED, STAGE_MASKED) && stage_follows(STAGE_OUTPUT, STAGE_MASKED) &&
              !stage_follows(STAGE_CAPPED, STAGE_MASKED),
          "expected masked, output and not capped to follow masked");
    CHECK(stage_is_attended(STAGE_LSE) && !stage_is_attended(STAGE_PRESENT_KEY), "expected lse, not present_key");
    CHECK(!stage_exists(STAGE_INPUTS) && !stage_exists(STAGE_PARAMETERS) && !stage_exists(STAGE_NAMES) &&
              stage_exists(STAGE_PRESENT_VALUE),
          "expected inputs, parameters and no name to be no stages");
    CHECK(stage_is_drawn(STAGE_INPUTS) && stage_is_drawn(STAGE_OUTPUT) && !stage_is_drawn(STAGE_LSE) &&
              !stage_is_drawn(STAGE_PRESENT_KEY) && stage_is_drawn(STAGE_PARAMETERS),
          "expected inputs and output in a picture, not lse, present_key, parameters");
}

/* What others call stages, and attn; each is a stage here. */
static void check_names(void)
{
    static const char *const NAMES[][2] = {
        {"q", "query"},           {"K", "key"},
        {"v", "value"},           {"logits", "scores"},
        {"probs", "weights"},     {"softmax_lse", "lse"},
        {"out", "output"},        {"context_vec", "context"},
        {"dq", "grad_query"},     {"grad_k", "grad_key"},
        {"v.grad", "grad_value"}, {"ds", "grad_scores"},
        {"dP", "grad_weights"},   {"dout", "grad_context"},
        {"dsinks", "grad_sinks"}, {"dbias", "grad_attn_mask"},
    };
    check_begin("what others call stages");
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *name = foreign_name_stage(NAMES[i][0], "output");
        CHECK(name != NULL && strcmp(name, NAMES[i][1]) == 0, "%s stands for %s, expected %s", NAMES[i][0],
              name != NULL ? name : "nothing", NAMES[i][1]);
        CHECK(stage_exists(stage_find(NAMES[i][1], strlen(NAMES[i][1]))), "%s is no stage", NAMES[i][1]);
    }
    CHECK(foreign_name_stage("foo", "output") == NULL, "expected foo to stand for nothing");
}

int main(void)
{
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        check_row((enum stage)stage);
        check_functions((enum stage)stage);
    }
    check_order();
    check_names();
    return check_end();
}
