/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include "base/suggest.h"
#include "base/text.h"
#include "model/stages.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 4, PLACE_BYTES = 128, EXPECTED_BYTES = 96, GRADIENTS_BYTES = 320 };

/* Whether an index counts tokens, and may be a token's name. */
enum tokens { TOKENS_NONE, TOKENS_OF_QUERIES, TOKENS_OF_KEYS, TOKENS_ARE_WORDS };

/* One index of a cell: its axis, its count, and its target. */
struct index {
    const char *name;
    enum tokens tokens;
    size_t count;
    const char **labels; /* (count) or NULL */
    size_t *position;
};

static size_t list_axes_of_parameter(struct problem *problem, struct index axes[MOST_AXES])
{
    const struct parameter_place *place = &problem->chosen.cell_place;
    const struct tensor *tensor = place->bias ? &place->projection->bias : &place->projection->weight;
    size_t count = 0;
    if (!place->bias)
        axes[count++] = (struct index){"ROW", TOKENS_NONE, tensor->shape[0], NULL, &problem->chosen.cell.row};
    axes[count++] =
        (struct index){"COLUMN", TOKENS_NONE, tensor->shape[tensor->rank - 1], NULL, &problem->chosen.cell.column};
    return count;
}

/* The axes of attn_mask; a broadcast one has a single index. */
static size_t list_axes_of_mask(struct problem *problem, struct index axes[MOST_AXES])
{
    const struct tensor *mask = &problem->mask.attn_mask;
    struct cell *cell = &problem->chosen.cell;
    const struct index all[MOST_AXES] = {{"ITEM", TOKENS_NONE, 0, NULL, &cell->item},
                                         {"HEAD", TOKENS_NONE, 0, NULL, &cell->head},
                                         {"QUERY", TOKENS_NONE, 0, NULL, &cell->row},
                                         {"KEY", TOKENS_NONE, 0, NULL, &cell->column}};
    for (size_t axis = 0; axis < mask->rank; axis++) {
        axes[axis] = all[MOST_AXES - mask->rank + axis];
        axes[axis].count = mask->shape[axis];
    }
    return mask->rank;
}

/* The axes of a stage as a cell names them: [ITEM,][HEAD,]ROW[,COLUMN]. Labels of rows and columns depend on the item:
 * read_indices sets them. */
static size_t list_axes(struct problem *problem, enum stage stage, struct index axes[MOST_AXES])
{
    struct cell *cell = &problem->chosen.cell;
    const bool of_keys = stage_is_of_keys(stage);
    size_t count = 0;
    if (problem->chosen.cell_name != NULL)
        return list_axes_of_parameter(problem, axes);
    if (STAGES[stage].columns == STAGE_COLUMNS_MASK)
        return list_axes_of_mask(problem, axes);
    if (STAGES[stage].columns == STAGE_COLUMNS_HEADS) {
        axes[count++] = (struct index){"HEAD", TOKENS_NONE, problem->size.heads, NULL, &cell->column};
        return count;
    }
    if (problem->size.has_batch)
        axes[count++] = (struct index){"ITEM", TOKENS_NONE, problem->size.items, NULL, &cell->item};
    if (problem->size.has_heads && !problem_is_side_by_side(problem, stage))
        axes[count++] = (struct index){"HEAD", TOKENS_NONE, of_keys ? problem->size.kv_heads : problem->size.heads,
                                       NULL, &cell->head};
    axes[count++] = of_keys ? (struct index){"TOKEN", TOKENS_OF_KEYS, problem->size.keys, NULL, &cell->row}
                            : (struct index){"QUERY", TOKENS_OF_QUERIES, problem->size.queries, NULL, &cell->row};
    if (STAGES[stage].columns == STAGE_COLUMNS_WORDS)
        axes[count++] =
            (struct index){"WORD", TOKENS_ARE_WORDS, problem->size.words, problem->labels.words.texts, &cell->column};
    else if (stage_has_columns(stage))
        axes[count++] =
            stage_is_square(stage)
                ? (struct index){"KEY", TOKENS_OF_KEYS, problem->size.keys, NULL, &cell->column}
                : (struct index){"COLUMN", TOKENS_NONE, problem_columns(problem, stage), NULL, &cell->column};
    return count;
}

static const char *list_gradients(const struct problem *problem, char *names, size_t size)
{
    struct text text = text_begin(names, size);
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (STAGES[stage].backward && stage_applies(problem, stage) && stage_is_explained(problem, stage))
            text_add(&text, "%s%s", text.length > 0 ? ", " : "", stage_name(stage));
    if (problem_projects(problem))
        text_add(&text, ", or grad_ before the name of a projection's weight or bias");
    return names;
}

static enum status refuse_gradient(const struct build *build, const char *name, const char *why)
{
    char names[GRADIENTS_BYTES];
    return error_usage(build->error, "--explain: '%s' is %s; expected one of %s", name, why,
                       list_gradients(build->problem, names, sizeof names));
}

static enum status unknown_stage(const struct build *build, const char *text)
{
    const char *names[STAGE_COUNT];
    size_t count = 0;
    char word[80], hint[128];
    const size_t length = strcspn(text, ":");
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    if (text[length] == '\0')
        return error_usage(build->error,
                           "--explain '%s' is not a cell; expected STAGE:ROW,COLUMN such as weights:2,3, or for a "
                           "whole stage --stages weights --explain",
                           word);
    if (build->problem->loss.is_given && strncmp(word, "grad_", 5) == 0)
        return refuse_gradient(build, word, "no gradient that is explained");
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (stage_can_be_explained(stage))
            names[count++] = stage_name(stage);
    const enum stage meant = stage_meant(word);
    suggest_hint(hint, sizeof hint, "", meant != STAGE_NAMES ? stage_name(meant) : word, names, count);
    return error_usage(build->error, "--explain: unknown stage '%s'%s", word,
                       hint[0] ? hint : "; expected STAGE:ROW,COLUMN such as weights:2,3");
}

/* Whether the text names the gradient with respect to a weight or bias; then sets the cell's. */
static bool names_parameter(const struct build *build, const char *text, size_t length)
{
    static const char PREFIX[] = "grad_";
    struct problem *problem = build->problem;
    char name[PARAMETER_NAME_BYTES + sizeof PREFIX];
    if (length >= sizeof name || text[length] != ':' || strncmp(text, PREFIX, sizeof PREFIX - 1) != 0 ||
        !problem_projects(problem))
        return false;
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    if (parameters_find(&problem->parameters, problem->plan.stacked, name + sizeof PREFIX - 1,
                        &problem->chosen.cell_place))
        problem->chosen.cell_name = arena_text(build->arena, name, length, build->error);
    return problem->chosen.cell_name != NULL;
}

static enum status check_gradient(const struct build *build, enum stage stage)
{
    if (build_check_stage(build, "--explain", stage) != STATUS_OK)
        return build->error->status;
    if (stage_is_explained(build->problem, stage))
        return STATUS_OK;
    if (STAGES[stage].columns == STAGE_COLUMNS_PARAMETERS && build->problem->chosen.cell_name == NULL)
        return refuse_gradient(build, stage_name(stage), "several tables");
    return refuse_gradient(
        build, build->problem->chosen.cell_name != NULL ? build->problem->chosen.cell_name : stage_name(stage),
        stage == problem_grad_stage(build->problem) ? "given, not computed" : "shown, not explained");
}

/* Reads the cell's stage. Rejects given stages, which have nothing to explain. */
static enum status find_stage(const struct build *build, const char *text)
{
    struct problem *problem = build->problem;
    const size_t length = strcspn(text, ":");
    enum stage stage = text[length] == ':' ? stage_find(text, length) : STAGE_NAMES;
    if (problem->loss.is_given && names_parameter(build, text, length))
        stage = STAGE_GRAD_PARAMETERS;
    if (stage == STAGE_NAMES)
        return unknown_stage(build, text);
    problem->chosen.cell = (struct cell){stage, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
    if (STAGES[stage].backward)
        return check_gradient(build, stage);
    if (!stage_is_explained(problem, stage))
        return error_usage(build->error, "--explain: '%s' is given, not computed; type a stage such as weights",
                           stage_name(stage));
    if (problem->loss.is_given)
        return error_usage(
            build->error,
            "--grad does not go with --explain %.80s, which has no gradient; expected one, such as grad_scaled:2,3",
            text);
    return build_check_stage(build, "--explain", stage);
}

static enum status wrong_count(const struct build *build, size_t got, const struct index *axes, size_t count)
{
    const struct problem *problem = build->problem;
    const char *name =
        problem->chosen.cell_name != NULL ? problem->chosen.cell_name : stage_name(problem->chosen.cell.stage);
    char expected[EXPECTED_BYTES];
    struct text text = text_begin(expected, sizeof expected);
    text_add(&text, "%s", name);
    for (size_t axis = 0; axis < count; axis++)
        text_add(&text, "%c%s", axis == 0 ? ':' : ',', axes[axis].name);
    return error_usage(build->error, "--explain %.80s has %zu ind%s; expected %s", build->options->cell, got,
                       got == 1 ? "ex" : "ices", expected);
}

static enum status read_index(const struct build *build, const char *word, const struct index *axis)
{
    const bool names = axis->tokens != TOKENS_NONE;
    const bool digits = word[0] != '\0' && word[strspn(word, "0123456789")] == '\0';
    char place[PLACE_BYTES], name[8] = "";
    snprintf(place, sizeof place, "--explain %.80s", build->options->cell);
    if (names && !digits && word[0] != '\0') {
        struct build_names tokens;
        return build_index(build, axis->labels, axis->count, &tokens) ||
                       build_token(build, place, word, &tokens, axis->position)
                   ? build->error->status
                   : STATUS_OK;
    }
    const unsigned long long position = digits ? strtoull(word, NULL, 10) : 0;
    for (size_t i = 0; axis->name[i] != '\0'; i++)
        name[i] = (char)(axis->name[i] | 0x20);
    if (position < 1 || position > axis->count)
        return error_usage(build->error, "%s: %s '%.80s' is %s; expected 1..%zu%s", place, name, word,
                           digits ? "out of range" : "no number", axis->count, names ? " or a token" : "");
    *axis->position = (size_t)position - 1;
    return STATUS_OK;
}

static enum status read_indices(const struct build *build, const char *text)
{
    struct problem *problem = build->problem;
    struct index axes[MOST_AXES];
    const size_t count = list_axes(problem, problem->chosen.cell.stage, axes);
    size_t words = 1;
    for (const char *c = text; *c != '\0'; c++)
        words += *c == ',';
    const bool has_head = problem->chosen.head > 0 && words + 1 == count;
    if (words != count && !has_head)
        return wrong_count(build, words, axes, count);
    for (size_t axis = 0; axis < count; axis++) {
        if (has_head && axes[axis].position == &problem->chosen.cell.head) {
            *axes[axis].position = (problem->chosen.head - 1) / (problem->size.heads / axes[axis].count);
            continue;
        }
        const size_t length = strcspn(text, ","), item = problem->size.has_batch ? problem->chosen.cell.item : 0;
        char *word = arena_text(build->arena, text, length, build->error);
        if (axes[axis].tokens == TOKENS_OF_QUERIES)
            axes[axis].labels = problem_query_labels(problem, item);
        else if (axes[axis].tokens == TOKENS_OF_KEYS)
            axes[axis].labels = problem_key_labels(problem, item);
        if (word == NULL || read_index(build, word, &axes[axis]) != STATUS_OK)
            return build->error->status;
        text += length + (text[length] == ',');
    }
    return STATUS_OK;
}

enum status build_cell(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    if (options->query != NULL && options->origin[OPTION_QUERY] == ORIGIN_COMMAND_LINE)
        return error_usage(build->error, "--explain %.80s names a row; leave out --query", options->cell);
    if (find_stage(build, options->cell) || read_indices(build, options->cell + strcspn(options->cell, ":") + 1))
        return build->error->status;
    if (options->animate && stage_is_of_keys(problem->chosen.cell.stage))
        return error_usage(build->error,
                           "--animate walks a query, and %.80s names none; expected one, such as weights:2,3",
                           options->cell);
    if (STAGES[problem->chosen.cell.stage].backward) /* gradients need all rows */
        return STATUS_OK;
    problem->chosen.rows[0] = stage_is_of_keys(problem->chosen.cell.stage) ? 0 : problem->chosen.cell.row;
    problem->chosen.row_count = problem->chosen.whole_count = 1;
    return STATUS_OK;
}
