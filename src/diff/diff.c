#include "diff/diff.h"

#include "base/suggest.h"
#include "read/load.h"

#include <string.h>

enum { LIST_BYTES = 320 };

struct diffing {
    struct diff *diff;
    const struct options *options;
    struct error *error;
};

static const char NAMELESS[] = "tensor";

/* --- the two files ----------------------------------------------------------------------------------------------- */

static const char *working_name(enum dtype dtype)
{
    return dtype_is_working(dtype) ? dtype_name(dtype) : NULL;
}

static const char *working_title(enum dtype dtype)
{
    return dtype_is_working(dtype) ? dtype_title(dtype) : NULL;
}

/* The dtype that a JSON result was computed in. */
static enum status read_dtype(struct diff_side *side, struct error *error)
{
    char list[DTYPE_LIST_BYTES];
    const char *text = input_file_setting(&side->input, "dtype");
    side->dtype = DTYPE_F32;
    if (text == NULL || !side->input.is_text)
        return STATUS_OK;
    const enum dtype named = dtype_find(working_name, text);
    const enum dtype found = named != DTYPE_COUNT ? named : dtype_find(working_title, text);
    if (found == DTYPE_COUNT)
        return error_usage(error, "%s: settings: dtype: '%.80s' is unknown; expected %s", side->input.source, text,
                           dtype_list(working_name, list));
    side->dtype = found;
    return STATUS_OK;
}

/* JSON's decimals become numbers of the dtype; one that overflows it would pass for an infinity. */
static enum status round_numbers(struct diff_side *side, struct arena *arena, struct error *error)
{
    struct input_file *input = &side->input;
    bool finite;
    for (size_t i = 0; i < input->tensor_count && input->is_text; i++) {
        struct file_tensor *named = &input->tensors[i];
        if (named->tensor.rank > 0 && !dtype_is_boolean(named->tensor.dtype) &&
            tensor_convert(&named->tensor, side->dtype, input->source, input->nameless ? "the table" : named->name,
                           &finite, &named->tensor, arena, error))
            return error->status;
    }
    return STATUS_OK;
}

static enum status read_side(struct diff_side *side, const char *path, struct arena *arena, struct error *error)
{
    if (load_file(path, INPUT_FILE_OF_DIFF, arena, &side->input, error) != STATUS_OK)
        return error->status;
    if (side->input.tensor_count == 0)
        return error_usage(error, "%s: holds no tensor; expected a result, or one tensor", side->input.source);
    return read_dtype(side, error) || round_numbers(side, arena, error) ? error->status : STATUS_OK;
}

/* The one tensor of a file that has no other; NULL where there are more. */
static const struct file_tensor *sole_tensor(const struct input_file *input)
{
    return input->tensor_count == 1 ? &input->tensors[0] : NULL;
}

/* Whether it may be any stage: its one tensor has no name, or one that attn does not know. */
static bool is_bare(const struct input_file *input)
{
    const struct file_tensor *sole = sole_tensor(input);
    return sole != NULL && (input->nameless || input_file_kind(sole->name) == INPUT_FILE_UNKNOWN);
}

static enum stage sole_stage(const struct input_file *input)
{
    const char *name = input->nameless ? "" : input->tensors[0].name;
    const enum stage stage = stage_find(name, strlen(name));
    return stage_exists(stage) ? stage : STAGE_NAMES;
}

/* --- what they hold, for messages -------------------------------------------------------------------------------- */

static bool is_stage(const char *name)
{
    return stage_exists(stage_find(name, strlen(name)));
}

static bool has_stage(const struct input_file *input)
{
    int stage = 0;
    while (stage < STAGE_COUNT && input_file_find(input, stage_name((enum stage)stage)) == NULL)
        stage++;
    return stage < STAGE_COUNT;
}

/* Adds a name to a list of names, which ends in "..." where it grows long. */
static void add_name(char *text, const char *name, const char *quote)
{
    const size_t length = strlen(text);
    if (length > 2 && strcmp(text + length - 3, "...") == 0)
        return;
    if (length > LIST_BYTES - 64)
        strcpy(text + length, ", ...");
    else
        snprintf(text + length, LIST_BYTES - length, "%s%s%.40s%s", length ? ", " : "", quote, name, quote);
}

/* "query, key, 'contxt'": the stages in their order, then in quotes what is none; into text (LIST_BYTES). */
static const char *list_names(const struct input_file *input, char *text)
{
    text[0] = '\0';
    if (input->nameless)
        return strcpy(text, "one tensor without a name");
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (input_file_find(input, stage_name((enum stage)stage)) != NULL)
            add_name(text, stage_name((enum stage)stage), "");
    for (size_t i = 0; i < input->tensor_count; i++)
        if (!is_stage(input->tensors[i].name))
            add_name(text, input->tensors[i].name, "'");
    return text;
}

/* A name of the file's that is near to the stage's, or NULL. */
static const char *misspelt(const struct input_file *input, enum stage stage)
{
    for (size_t i = 0; i < input->tensor_count && !input->nameless; i++) {
        const char *const names[] = {stage_name(stage)};
        if (!is_stage(input->tensors[i].name) && suggest_word(input->tensors[i].name, names, 1) != NULL)
            return input->tensors[i].name;
    }
    return NULL;
}

/* "; is 'contxt' meant as context?" where a name of the file is near to a stage that the other one has (where that is
 * NULL, to `stage`). */
static const char *misspelt_hint(const struct input_file *input, const struct input_file *other, enum stage stage,
                                 char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < STAGE_COUNT; i++) {
        const char *name = stage_name((enum stage)i);
        const bool sought = other == NULL ? i == (int)stage : input_file_find(other, name) != NULL;
        const char *found = sought ? misspelt(input, (enum stage)i) : NULL;
        if (found == NULL)
            continue;
        snprintf(text, size, "; is '%.40s' in %s meant as %s?", found, input->source, name);
        return text;
    }
    return text;
}

static enum status nothing_in_common(const struct diffing *diffing)
{
    const struct input_file *a = &diffing->diff->a.input, *b = &diffing->diff->b.input;
    char of_a[LIST_BYTES], of_b[LIST_BYTES], hint[256];
    misspelt_hint(b, a, STAGE_COUNT, hint, sizeof hint);
    if (hint[0] == '\0')
        misspelt_hint(a, b, STAGE_COUNT, hint, sizeof hint);
    if (hint[0] == '\0' && !has_stage(a) && !has_stage(b))
        strcpy(hint, "; expected results, which hold stages such as weights and context");
    if (hint[0] == '\0' && is_bare(a) != is_bare(b))
        strcpy(hint, "; expected --stages to say which stage the one tensor is");
    return error_usage(diffing->error, "%s and %s have no stage in common: the first holds %s, the second %s%s",
                       a->source, b->source, list_names(a, of_a), list_names(b, of_b), hint);
}

static enum status lacks_stage(const struct diffing *diffing, const struct input_file *input, enum stage stage)
{
    char list[LIST_BYTES], hint[256];
    misspelt_hint(input, NULL, stage, hint, sizeof hint);
    if (hint[0] == '\0' && sole_tensor(input) != NULL)
        strcpy(hint, "; expected --stages to name the one stage that it is");
    return error_usage(diffing->error, "%s: has no %s; it holds %s%s", input->source, stage_name(stage),
                       list_names(input, list), hint);
}

/* --- one pair ---------------------------------------------------------------------------------------------------- */

/* How many of the leading axes have size 1, of those above the last one. */
static size_t leading_ones(const struct tensor *tensor)
{
    size_t axis = 0;
    while (axis + 1 < tensor->rank && tensor->shape[axis] == 1)
        axis++;
    return axis;
}

static bool same_shape(const struct tensor *a, const struct tensor *b)
{
    const size_t from_a = leading_ones(a), from_b = leading_ones(b);
    return a->rank - from_a == b->rank - from_b &&
           memcmp(a->shape + from_a, b->shape + from_b, (a->rank - from_a) * sizeof a->shape[0]) == 0;
}

static enum status check_comparable(const struct diffing *diffing, const struct diff_stage *stage)
{
    const struct diff *diff = diffing->diff;
    const struct input_file *a = &diff->a.input, *b = &diff->b.input;
    char of_a[TENSOR_SHAPE_BYTES], of_b[TENSOR_SHAPE_BYTES];
    if (a->part != NULL && b->part != NULL && strcmp(a->part, b->part) != 0)
        return error_usage(diffing->error, "%s: is part %.40s, expected %.40s (as %s)", b->source, b->part, a->part,
                           a->source);
    if (same_shape(&stage->a->tensor, &stage->b->tensor))
        return STATUS_OK;
    const bool reordered = tensor_count(&stage->a->tensor) == tensor_count(&stage->b->tensor);
    return error_usage(diffing->error, "%s: %s is %s, expected %s (as in %s)%s", b->source, stage->name,
                       tensor_shape_text(&stage->b->tensor, of_b), tensor_shape_text(&stage->a->tensor, of_a),
                       a->source, reordered ? "; as many numbers, in other axes" : "");
}

static struct compare_tolerance tolerance_of(const struct options *options, enum dtype dtype)
{
    return (struct compare_tolerance){
        .dtype = dtype,
        .absolute = options->origin[OPTION_ATOL] != ORIGIN_DEFAULT ? options->atol : dtype_absolute_tolerance(dtype),
        .relative = options->origin[OPTION_RTOL] != ORIGIN_DEFAULT ? options->rtol : dtype_relative_tolerance(dtype),
        .given = options->origin[OPTION_ATOL] != ORIGIN_DEFAULT || options->origin[OPTION_RTOL] != ORIGIN_DEFAULT,
    };
}

static enum dtype dtype_of(const struct diff_side *side, const struct file_tensor *named)
{
    return side->input.is_text ? side->dtype : named->tensor.dtype;
}

static enum status add_stage(const struct diffing *diffing, enum stage stage, const struct file_tensor *a,
                             const struct file_tensor *b)
{
    struct diff *diff = diffing->diff;
    struct diff_stage *added = &diff->stages[diff->count];
    const enum dtype dtype_a = dtype_of(&diff->a, a), dtype_b = dtype_of(&diff->b, b);
    *added = (struct diff_stage){
        .name = stage_exists(stage) ? stage_name(stage) : NAMELESS,
        .stage = stage,
        .a = a,
        .b = b,
        .dtype_a = dtype_a,
        .dtype_b = dtype_b,
        .tolerance = tolerance_of(diffing->options, compare_coarser(dtype_a, dtype_b)),
    };
    diff->count++;
    return check_comparable(diffing, added);
}

/* --- which stages ------------------------------------------------------------------------------------------------ */

/* The stage by its name; where one stage alone is asked for, also the one tensor of a file whatever its name. */
static const struct file_tensor *find_asked(const struct diffing *diffing, const struct input_file *input,
                                            enum stage stage)
{
    const struct file_tensor *found = input_file_find(input, stage_name(stage));
    return found == NULL && diffing->options->stage_count == 1 ? sole_tensor(input) : found;
}

static enum status add_asked(const struct diffing *diffing)
{
    const struct options *options = diffing->options;
    const struct input_file *file_a = &diffing->diff->a.input, *file_b = &diffing->diff->b.input;
    uint64_t asked = 0;
    for (size_t i = 0; i < options->stage_count; i++)
        asked |= STAGE_BIT(options->stages[i]);
    for (int i = 0; i < STAGE_COUNT; i++) {
        const enum stage stage = (enum stage)i;
        if ((asked & STAGE_BIT(stage)) == 0)
            continue;
        const struct file_tensor *a = find_asked(diffing, file_a, stage);
        const struct file_tensor *b = find_asked(diffing, file_b, stage);
        if (a == NULL || b == NULL)
            return lacks_stage(diffing, a == NULL ? file_a : file_b, stage);
        if (add_stage(diffing, stage, a, b) != STATUS_OK)
            return diffing->error->status;
    }
    return STATUS_OK;
}

/* What either file holds and was not compared. */
static uint64_t left_stages(const struct diff *diff)
{
    uint64_t left = 0;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (input_file_find(&diff->a.input, stage_name((enum stage)stage)) != NULL ||
            input_file_find(&diff->b.input, stage_name((enum stage)stage)) != NULL)
            left |= STAGE_BIT(stage);
    for (size_t i = 0; i < diff->count; i++)
        if (stage_exists(diff->stages[i].stage))
            left &= ~STAGE_BIT(diff->stages[i].stage);
    return left;
}

/* Two files with one tensor each, of which one at most is a stage by its name, and none is known as something else. */
static enum status add_sole(const struct diffing *diffing)
{
    const struct input_file *a = &diffing->diff->a.input, *b = &diffing->diff->b.input;
    if (sole_tensor(a) == NULL || sole_tensor(b) == NULL)
        return nothing_in_common(diffing);
    const enum stage of_a = sole_stage(a), of_b = sole_stage(b);
    const bool known = (of_a == STAGE_NAMES && !is_bare(a)) || (of_b == STAGE_NAMES && !is_bare(b));
    if (known || (of_a != STAGE_NAMES && of_b != STAGE_NAMES))
        return nothing_in_common(diffing);
    return add_stage(diffing, of_a != STAGE_NAMES ? of_a : of_b, sole_tensor(a), sole_tensor(b));
}

/* A stage that one file alone has; the other one may have it under a wrong name. */
static void note_lacking(struct diff *diff, enum stage stage, bool in_a)
{
    const char *near = misspelt(in_a ? &diff->a.input : &diff->b.input, stage);
    *(in_a ? &diff->only_b : &diff->only_a) |= STAGE_BIT(stage);
    if (diff->misspelt != NULL || near == NULL)
        return;
    diff->misspelt = near;
    diff->misspelt_in_a = in_a;
    diff->meant = stage;
}

static enum status add_common(const struct diffing *diffing)
{
    struct diff *diff = diffing->diff;
    for (int i = 0; i < STAGE_COUNT; i++) {
        const enum stage stage = (enum stage)i;
        const struct file_tensor *a = input_file_find(&diff->a.input, stage_name(stage));
        const struct file_tensor *b = input_file_find(&diff->b.input, stage_name(stage));
        if (a != NULL && b != NULL && add_stage(diffing, stage, a, b) != STATUS_OK)
            return diffing->error->status;
        if ((a == NULL) != (b == NULL))
            note_lacking(diff, stage, a == NULL);
    }
    if (diff->count > 0)
        return STATUS_OK;
    diff->only_a = diff->only_b = 0;
    return add_sole(diffing);
}

enum status diff_results(struct diff *diff, const struct options *options, struct arena *arena, struct error *error)
{
    *diff = (struct diff){0};
    const struct diffing diffing = {diff, options, error};
    if (read_side(&diff->a, options->files[0], arena, error) || read_side(&diff->b, options->files[1], arena, error))
        return error->status;
    if ((options->stage_count > 0 ? add_asked(&diffing) : add_common(&diffing)) != STATUS_OK)
        return error->status;
    diff->left = left_stages(diff);
    diff->first = diff->count;
    for (size_t i = diff->count; i-- > 0;) {
        struct diff_stage *stage = &diff->stages[i];
        const struct compare_side a = {&stage->a->tensor, stage->dtype_a, stage->a->last_digit},
                                  b = {&stage->b->tensor, stage->dtype_b, stage->b->last_digit};
        compare_tensors(a, b, stage->tolerance, &stage->comparison);
        stage->departs = compare_departs(&stage->comparison);
        diff->departed += stage->departs;
        diff->first = stage->departs ? i : diff->first;
    }
    return STATUS_OK;
}

bool diff_agrees(const struct diff *diff)
{
    return diff->departed == 0 && diff->only_a == 0;
}

/* --- where the worst element is ---------------------------------------------------------------------------------- */

static const char *const AXIS_NAMES[DIFF_AXES] = {
    [DIFF_ITEM] = "item",     [DIFF_HEAD] = "head", [DIFF_QUERY] = "query",   [DIFF_KEY] = "key",
    [DIFF_COLUMN] = "column", [DIFF_ROW] = "row",   [DIFF_MATRIX] = "matrix", [DIFF_NUMBER] = "number",
};

/* Rows that are a choice of the queries have lost the positions that they had. */
static bool has_all_queries(const struct input_file *input)
{
    return input->part == NULL && input_file_setting(input, "query") == NULL;
}

/* What the last axis but one counts; of a stage without columns the heads stand there. */
static enum diff_axis row_axis(const struct diff *diff, enum stage stage)
{
    const bool all = has_all_queries(&diff->a.input) && has_all_queries(&diff->b.input);
    if (!stage_exists(stage))
        return DIFF_ROW;
    if (!stage_has_columns(stage))
        return DIFF_HEAD;
    return stage_is_of_keys(stage) ? DIFF_KEY : all ? DIFF_QUERY : DIFF_ROW;
}

static enum diff_axis column_axis(enum stage stage)
{
    return !stage_has_columns(stage) ? DIFF_QUERY : stage_is_square(stage) ? DIFF_KEY : DIFF_COLUMN;
}

static bool is_packed(const struct input_file *input)
{
    return input_file_setting(input, "heads") != NULL;
}

/* The one leading axis of three: heads of multihead, whose output alone has none, and of sdpa, whose packed context has
 * none; items of the other mechanisms. */
static enum diff_axis third_axis(const struct diff *diff, enum stage stage)
{
    const char *name = diff->a.input.mechanism != NULL ? diff->a.input.mechanism : diff->b.input.mechanism;
    const enum mechanism mechanism = mechanism_find(name);
    if (mechanism == MECHANISM_COUNT || !stage_exists(stage))
        return DIFF_MATRIX;
    if (MECHANISMS[mechanism].splits)
        return STAGES[stage].joins_heads || !stage_has_columns(stage) ? DIFF_ITEM : DIFF_HEAD;
    const bool packed = is_packed(&diff->a.input) || is_packed(&diff->b.input);
    const bool has_heads =
        !MECHANISMS[mechanism].projects && stage_has_columns(stage) && !(stage == STAGE_CONTEXT && packed);
    return has_heads ? DIFF_HEAD : DIFF_ITEM;
}

static enum diff_axis axis_of(const struct diff *diff, enum stage stage, size_t rank, size_t axis)
{
    if (rank == 1)
        return !stage_has_columns(stage) ? column_axis(stage) : DIFF_NUMBER;
    if (axis + 2 >= rank)
        return axis + 2 == rank ? row_axis(diff, stage) : column_axis(stage);
    if (rank == 3)
        return third_axis(diff, stage);
    return axis == 0 ? DIFF_ITEM : DIFF_HEAD;
}

/* The token at a position (from 0) of an axis of that size, or NULL where the files do not tell. */
static const char *token_at(const struct diff *diff, const struct diff_step *first, size_t size, size_t position)
{
    const struct input_file *input = diff->a.input.tokens.texts != NULL ? &diff->a.input : &diff->b.input;
    const bool by_item = first->axis == DIFF_ITEM;
    const size_t list = input->tokens.lists > 1 && by_item ? first->position - 1 : 0;
    if (input->tokens.texts == NULL || size != input->tokens.count || list >= input->tokens.lists ||
        (input->tokens.lists > 1 && !by_item))
        return NULL;
    return input->tokens.texts[list * size + position];
}

size_t diff_place(const struct diff *diff, const struct diff_stage *stage, struct diff_step *steps)
{
    const struct tensor *a = &stage->a->tensor, *b = &stage->b->tensor, *tensor = a->rank >= b->rank ? a : b;
    const size_t rank = tensor->rank;
    size_t index = stage->comparison.worst;
    for (size_t axis = rank; axis-- > 0; index /= tensor->shape[axis]) {
        const enum diff_axis counts = axis_of(diff, stage->stage, rank, axis);
        steps[axis] = (struct diff_step){counts, AXIS_NAMES[counts], index % tensor->shape[axis] + 1, NULL};
    }
    for (size_t axis = 0; axis < rank; axis++)
        if (steps[axis].axis == DIFF_QUERY || steps[axis].axis == DIFF_KEY)
            steps[axis].token = token_at(diff, &steps[0], tensor->shape[axis], steps[axis].position - 1);
    return rank;
}
