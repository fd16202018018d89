/* SPDX-License-Identifier: MIT */
/* The numbers of a result against what is right. */
#include "cases/cases.h"

#include "base/text.h"

#include <string.h>

/* The error of a number as a share of its bound; infinite where NaN or an infinity meets a number. */
static double share_of(double right, double theirs, const struct case_result *result)
{
    double rounded = right;
    dtype_round(result->dtype, &rounded, 1);
    if (rounded == theirs || (isnan(rounded) && isnan(theirs)))
        return 0;
    const double share = fabs(right - theirs) / (result->absolute + result->relative * fabs(right));
    return isfinite(share) ? share : (double)INFINITY;
}

struct case_difference case_differ(const struct case_result *right, const double *theirs)
{
    const double *numbers = right->truth.data;
    struct case_difference found = {.share = -1};
    double squares = 0;
    for (size_t row = 0; row < right->rows; row++) {
        double square = 0;
        const size_t first = row * right->columns;
        for (size_t i = first; i < first + right->columns; i++) {
            const double share = share_of(numbers[i], theirs[i], right);
            square += share > 0 && isfinite(share) ? (numbers[i] - theirs[i]) * (numbers[i] - theirs[i]) : 0;
            found.outside += share > 1;
            if (share > found.share) {
                found.share = share;
                found.at = i;
            }
        }
        const double rms = sqrt(square / (double)right->columns), share = rms > 0 ? rms / right->rms[row] : 0;
        found.rows_outside += share > 1;
        squares += share * share;
        if (share > found.share_of_row) {
            found.share_of_row = share;
            found.row = row;
            found.rms = rms;
        }
    }
    found.typical = sqrt(squares / (double)right->rows);
    return found;
}

/* The layout of a result in a file: as expected, also with the heads of a token in a row; or heads before tokens where
 * tokens before heads are expected, as attn sdpa writes gradients. */
enum layout { LAYOUT_OTHER, LAYOUT_EXPECTED, LAYOUT_HEADS_FIRST };

static enum layout layout_of(const struct tensor *theirs, const struct case_result *result)
{
    const struct tensor *truth = &result->truth;
    struct tensor other = *truth;
    const size_t rank = truth->rank;
    if (tensor_same_shape(theirs, truth))
        return LAYOUT_EXPECTED;
    if (!case_has_heads_last(result))
        return LAYOUT_OTHER;
    other.rank = rank - 1;
    other.shape[rank - 2] *= truth->shape[rank - 1];
    if (tensor_same_shape(theirs, &other))
        return LAYOUT_EXPECTED;
    other = *truth;
    other.shape[rank - 2] = truth->shape[rank - 3];
    other.shape[rank - 3] = truth->shape[rank - 2];
    return tensor_same_shape(theirs, &other) ? LAYOUT_HEADS_FIRST : LAYOUT_OTHER;
}

const double *case_numbers(const struct tensor *theirs, const struct case_result *result, struct arena *arena,
                           struct error *error)
{
    const enum layout layout = layout_of(theirs, result);
    const size_t count = tensor_count(&result->truth), *shape = result->truth.shape + result->truth.rank - 3;
    double *numbers = arena_allocate(arena, count, sizeof *numbers, error);
    if (layout == LAYOUT_OTHER || numbers == NULL)
        return NULL;
    tensor_load(theirs, 0, count, numbers);
    for (size_t i = 0; layout == LAYOUT_HEADS_FIRST && i < count; i++) {
        const size_t tokens = shape[0], heads = shape[1], columns = shape[2], head = i / columns % heads;
        const size_t token = i / columns / heads % tokens, item = i / columns / heads / tokens;
        tensor_load(theirs, ((item * heads + head) * tokens + token) * columns + i % columns, 1, &numbers[i]);
    }
    return numbers;
}

size_t case_axis(const struct case_result *result, enum axis axis)
{
    size_t size = 1;
    for (size_t i = 0; i < result->truth.rank; i++) {
        const enum axis own = result->table.axes[i];
        if (result->truth.rank == 1
                ? axis == AXIS_HEAD
                : own == axis || (axis == AXIS_TOKEN && own != AXIS_ITEM && own != AXIS_HEAD && own != AXIS_COLUMN))
            size *= result->truth.shape[i];
    }
    return size;
}

size_t case_row_at(const struct case_result *result, size_t item, size_t head, size_t row)
{
    size_t at = result->truth.rank == 1 ? head : 0; /* of a gradient with respect to sinks */
    for (size_t i = 0; i < result->truth.rank; i++) {
        const enum axis own = result->table.axes[i];
        if (own != AXIS_COLUMN)
            at = at * result->truth.shape[i] + (own == AXIS_ITEM ? item : own == AXIS_HEAD ? head : row);
    }
    return at;
}

void case_place(const struct case_result *result, size_t at, size_t depth, char *place)
{
    static const char *const NAMES[] = {[AXIS_ITEM] = "item", [AXIS_HEAD] = "head", [AXIS_COLUMN] = "column"};
    const struct tensor *truth = &result->truth;
    struct text text = text_begin(place, TENSOR_PLACE_BYTES);
    size_t index[TENSOR_RANK] = {0};
    for (size_t axis = truth->rank; axis-- > 0; at /= truth->shape[axis])
        index[axis] = at % truth->shape[axis];
    for (size_t axis = 0; axis < depth; axis++) {
        const enum axis own = result->table.axes[axis];
        const char *name = own < sizeof NAMES / sizeof NAMES[0] ? NAMES[own] : NULL;
        text_add(&text, "%s%s %zu", axis > 0 ? ", " : "",
                 truth->rank == 1 ? "head"
                 : name != NULL   ? name
                                  : "row",
                 index[axis] + 1);
    }
}
