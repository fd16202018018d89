/* SPDX-License-Identifier: MIT */
#include "observe/observing.h"

#include "model/stages.h"
#include "observe/observe_rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DECLARE(id, ...) observe_test observe_##id;
OBSERVE_ROWS(DECLARE)
#undef DECLARE

#define ID(id, ...) OBSERVE_##id,
enum { OBSERVE_ROWS(ID) OBSERVE_KINDS };
#undef ID

struct kind {
    const char *name;
    observe_test *test;
    unsigned needs;
    uint64_t covers;
};

static const struct kind KINDS[] = {
#define KIND(id, name, needs, covers) {name, observe_##id, needs, covers},
    OBSERVE_ROWS(KIND)
#undef KIND
};

size_t observe_count(const struct observe_table *table)
{
    return table->size[OBSERVE_ITEM] * table->size[OBSERVE_HEAD] * table->size[OBSERVE_ROW] *
           table->size[OBSERVE_COLUMN];
}

/* --- lines ------------------------------------------------------------------------------------------------------- */

/* Whether all wrong numbers are in the part. */
static bool is_all(const struct observing *observing, const struct observe_part *part)
{
    size_t i = 0;
    while (i < observing->count && (part->only[i] || !observing->wrong[i]))
        i++;
    return i == observing->count;
}

static void say(struct observing *observing, const struct observe_part *part, const char *words)
{
    struct observations *list = observing->list;
    char bytes[OBSERVE_TEXT_BYTES];
    struct text text = text_begin(bytes, sizeof bytes);
    if (list->count == OBSERVE_MOST)
        return;
    text_add(&text, "%s%s", words, part->where[0] != '\0' && is_all(observing, part) ? "; all others are right" : "");
    struct observation *line = &list->lines[list->count];
    line->name = KINDS[observing->kind].name;
    line->text = arena_copy(observing->observed->arena, bytes, observing->error);
    line->where = arena_copy(observing->observed->arena, part->where, observing->error);
    list->count += line->text != NULL && line->where != NULL;
}

void observe_say(struct observing *observing, const struct observe_part *part, const char *format, ...)
{
    char words[OBSERVE_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    say(observing, part, words);
}

void observe_tell(struct observing *observing, const struct observe_part *part, const char *format, ...)
{
    char what[OBSERVE_TEXT_BYTES], words[OBSERVE_TEXT_BYTES];
    struct text text = text_begin(words, sizeof words);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    text_add(&text, "%s %s %s", part->where[0] != '\0' ? part->where : "your numbers", part->plural ? "are" : "is",
             what);
    say(observing, part, words);
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

bool observe_is_square(const struct observed *observed)
{
    const enum stage stage = observed->right.stage;
    return stage_exists(stage) && STAGES[stage].columns == STAGE_COLUMNS_KEYS;
}

bool observe_is(double mine, double value, double tolerance)
{
    return isfinite(mine) && isfinite(value) ? fabs(mine - value) <= tolerance
                                             : mine == value || (isnan(mine) && isnan(value));
}

/* The tolerance of number i if it is `made`, which may be larger than the right one. */
double observe_tolerance(const struct observing *observing, size_t i, double made)
{
    const double printed = observing->observed->printed != NULL ? observing->observed->printed[i] : 0;
    const double share = 8 * pow(2, -dtype_precision(observing->observed->dtype));
    const double own = isfinite(made) ? printed + observing->noise + share * fabs(made) : 0;
    return fmax(observing->observed->tolerance[i], own);
}

bool observe_fits(const struct observing *observing, const double *made, const bool *only)
{
    const struct observed *observed = observing->observed;
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < observing->count; i++) {
        if (only != NULL && !only[i])
            continue;
        const double tolerance = observe_tolerance(observing, i, made[i]);
        if (!observe_is(observed->mine[i], made[i], tolerance))
            return false;
        const double error = isfinite(made[i]) && tolerance > 0 ? (observed->mine[i] - made[i]) / tolerance : 0;
        sum += error * error;
        count++;
    }
    return count > 0 && sum <= observed->most_rms * observed->most_rms * (double)count;
}

double observe_bits(const struct observing *observing, const bool *only)
{
    enum { MOST = 20 };
    const struct observed *observed = observing->observed;
    double bits = 0;
    for (size_t i = 0; i < observing->count; i++) {
        if (!observing->wrong[i] || (only != NULL && !only[i]))
            continue;
        const double error = fabs(observed->mine[i] - observed->right.numbers[i]);
        bits +=
            isfinite(error) ? fmin(MOST, log2(1 + error / observe_tolerance(observing, i, observed->mine[i]))) : MOST;
    }
    return bits;
}

/* --- all tests --------------------------------------------------------------------------------------------------- */

/* Finds the wrong numbers. */
static bool *find_wrong(struct observing *observing)
{
    const struct observed *observed = observing->observed;
    bool *wrong = arena_allocate(observing->arena, observing->count, sizeof *wrong, observing->error);
    double sum = 0;
    for (size_t i = 0; i < observing->count && wrong != NULL; i++) {
        const double right = observed->right.numbers[i];
        const double beyond = observed->tolerance[i] - (observed->printed != NULL ? observed->printed[i] : 0);
        wrong[i] = !observe_is(observed->mine[i], right, observed->tolerance[i]) &&
                   !(right == -INFINITY && observed->mine[i] <= PLAIN_MASKED);
        observing->wrong_count += wrong[i];
        observing->largest = isfinite(right) ? fmax(observing->largest, fabs(right)) : observing->largest;
        sum += isfinite(beyond) ? beyond * beyond : 0;
    }
    observing->noise = sqrt(sum / (double)observing->count);
    return wrong;
}

static bool has_needs(const struct observed *observed, unsigned needs)
{
    const enum stage stage = observed->right.stage;
    return ((needs & OBSERVE_NEEDS_JOB) == 0 || observed->problem != NULL) &&
           ((needs & OBSERVE_NEEDS_WEIGHTS) == 0 || stage == STAGE_WEIGHTS || stage == STAGE_DROPPED) &&
           ((needs & OBSERVE_NEEDS_CONTEXT) == 0 || stage == STAGE_CONTEXT);
}

enum status observe(const struct observed *observed, struct observations *observations)
{
    struct arena scratch = {0};
    struct observing observing = {.observed = observed,
                                  .count = observe_count(&observed->right),
                                  .list = observations,
                                  .arena = &scratch,
                                  .error = observed->error};
    uint64_t covered = 0;
    observations->count = 0;
    observing.lines = observing.count / memory_larger(1, observed->right.size[OBSERVE_COLUMN]);
    observing.wrong = find_wrong(&observing);
    if (observing.wrong_count > 0)
        observe_find_part(&observing);
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0] && observing.wrong_count > 0; i++) {
        const size_t before = observations->count;
        observing.kind = (int)i;
        if (covered >> i & 1 || !has_needs(observed, KINDS[i].needs))
            continue;
        if (KINDS[i].test(&observing) != STATUS_OK)
            break;
        covered |= observations->count > before ? KINDS[i].covers : 0;
    }
    arena_free(&scratch);
    return observed->error->status;
}
