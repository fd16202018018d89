/* SPDX-License-Identifier: MIT */
#include "diff/pair.h"

#include "base/threads.h"
#include "model/stage_id.h"

#include <math.h>

enum { CHUNK = 1024 };

/* Above the first, a cosine shows that b is a times a factor; the factor counts where it is further from 1 than the
 * second. */
static const double PROPORTIONAL = 0.999999, FACTOR = 0.01;

static size_t hidden(const struct comparison *comparison)
{
    return comparison->hidden_a + comparison->hidden_b;
}

double diff_factor(const struct comparison *comparison)
{
    const bool is_factor = comparison->unmatched == hidden(comparison) && fabs(comparison->cosine) > PROPORTIONAL &&
                           fabs(comparison->ratio - 1) > FACTOR;
    return is_factor ? comparison->ratio : 1;
}

/* scaled / scores of a file; NaN where it does not hold both. */
static double scale_of(const struct diff_side *side)
{
    const struct file_tensor *scores = input_file_find(&side->input, stage_name(STAGE_SCORES)),
                             *scaled = input_file_find(&side->input, stage_name(STAGE_SCALED));
    struct comparison comparison;
    if (side->input.nameless || scores == NULL || scaled == NULL || !diff_same_shape(&scores->tensor, &scaled->tensor))
        return (double)NAN;
    const struct compare_side a = {.tensor = &scores->tensor, .dtype = DTYPE_F64};
    const struct compare_side b = {.tensor = &scaled->tensor, .dtype = DTYPE_F64};
    compare_tensors(a, b, (struct compare_tolerance){.dtype = DTYPE_F64}, threads_available(), &comparison);
    return diff_factor(&comparison);
}

/* Whether the stage comes before softmax, so that the order of scale and mask does not matter to the weights. */
static bool comes_before_softmax(const struct diff_stage *stage)
{
    return stage_exists(stage->stage) && stage->stage != STAGE_WEIGHTS && stage_follows(STAGE_WEIGHTS, stage->stage);
}

static bool is_near(double factor, double expected)
{
    return fabs(factor - expected) <= FACTOR * fabs(expected);
}

static enum undone tell_factor(const struct diff *diff, const struct diff_stage *stage, double factor,
                               struct text *text)
{
    const double of_a = scale_of(&diff->a), scale = isnan(of_a) ? scale_of(&diff->b) : of_a;
    if (comes_before_softmax(stage) && (is_near(factor, scale) || is_near(factor, 1 / scale))) {
        const bool b_is_scaled = is_near(factor, scale);
        text_add(text, "%s's are scaled, %s's are not", b_is_scaled ? "B" : "A", b_is_scaled ? "A" : "B");
        return UNDONE_ORDER;
    }
    text_add(text, "B is %.6g times A throughout", factor);
    return UNDONE_FACTOR;
}

/* Minus infinity before the stage masked comes from a mask that was applied earlier. */
static enum undone tell_hidden(const struct diff_stage *stage, struct text *text)
{
    const struct comparison *comparison = &stage->comparison;
    const bool in_a = comparison->hidden_a > 0;
    const char *comma = text->length > 0 ? ", and " : "";
    if (!comes_before_softmax(stage) || !stage_is_square(stage->stage))
        return UNDONE_UNKNOWN;
    if (!stage_follows(stage->stage, STAGE_MASKED)) {
        text_add(text, "%s%s's are masked, %s's are not", comma, in_a ? "A" : "B", in_a ? "B" : "A");
        return UNDONE_ORDER;
    }
    text_add(text, "%swhere %s has minus infinity, %s has %.6g%s", comma, in_a ? "A" : "B", in_a ? "B" : "A",
             comparison->most_for_hidden, hidden(comparison) > 1 ? " or less" : "");
    return UNDONE_HIDDEN;
}

/* Whether all finite numbers of a row differ by the same number, within the tolerance. */
static bool is_shifted(const struct diff_stage *stage)
{
    const struct tensor *tensor = &stage->a->tensor;
    const size_t columns = tensor->shape[tensor->rank - 1], count = stage->comparison.count;
    double a[CHUNK], b[CHUNK], shift = (double)NAN;
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t now = memory_smaller(count - first, CHUNK);
        diff_numbers(stage, first, now, a, b);
        for (size_t i = 0; i < now; i++) {
            if ((first + i) % columns == 0)
                shift = (double)NAN;
            if (!isfinite(a[i]))
                continue;
            shift = isnan(shift) ? b[i] - a[i] : shift;
            if (fabs(b[i] - a[i] - shift) >
                stage->tolerance.absolute + stage->tolerance.relative * fmax(fabs(a[i]), fabs(b[i])))
                return false;
        }
    }
    return true;
}

enum undone diff_undone(const struct diff *diff, const struct diff_stage *stage, char *text)
{
    const struct comparison *comparison = &stage->comparison;
    const double factor = diff_factor(comparison);
    const size_t count = hidden(comparison);
    struct text told = text_begin(text, UNDONE_BYTES);
    if (factor == 1 && comparison->unmatched == 0 && comes_before_softmax(stage) && stage_is_square(stage->stage) &&
        is_shifted(stage)) {
        text_add(&told, "each row of B is A's row plus one number");
        return UNDONE_SHIFT;
    }
    if ((comparison->hidden_a > 0 && comparison->hidden_b > 0) || (factor == 1 && comparison->outside != count))
        return UNDONE_UNKNOWN;
    const enum undone by_factor = factor != 1 ? tell_factor(diff, stage, factor, &told) : UNDONE_UNKNOWN;
    const enum undone by_hidden = count > 0 ? tell_hidden(stage, &told) : UNDONE_UNKNOWN;
    return by_factor != UNDONE_UNKNOWN ? by_factor : by_hidden;
}
