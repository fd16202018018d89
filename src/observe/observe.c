/* SPDX-License-Identifier: MIT */
#include "observe/observing.h"

#include "base/wrap.h"
#include "model/stages.h"
#include "observe/observe_rows.h"

#include <math.h>
#include <string.h>

#define DECLARE(id, test, ...) observe_test observe_##test;
#define ID(id, ...) OBSERVE_##id,
#define KIND(id, test, name, needs, stages, covers) {name, observe_##test, needs, stages, covers},
OBSERVE_ROWS(DECLARE)
enum { OBSERVE_ROWS(ID) OBSERVE_KINDS };

static const struct kind {
    const char *name;
    observe_test *test;
    unsigned needs;
    uint64_t stages, covers;
} KINDS[] = {OBSERVE_ROWS(KIND)};

size_t observe_count(const struct observe_table *table)
{
    return table->size[OBSERVE_ITEM] * table->size[OBSERVE_HEAD] * table->size[OBSERVE_ROW] *
           table->size[OBSERVE_COLUMN];
}

enum status observe_begin(struct observed *observed)
{
    double **lists[] = {&observed->right.numbers, &observed->mine, &observed->tolerance, &observed->printed};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        *lists[i] = arena_allocate(observed->arena, observe_count(&observed->right), sizeof(double), observed->error);
    return observed->error->status;
}

size_t observe_wrong(const struct observing *observing, const bool *only)
{
    size_t count = 0;
    for (size_t i = 0; i < observing->count; i++)
        count += observing->wrong[i] && (only == NULL || only[i]);
    return count;
}

/* --- lines ------------------------------------------------------------------------------------------------------- */

void observe_say(struct observing *observing, const char *where, const char *format, ...)
{
    struct observations *list = observing->list;
    char words[OBSERVE_TEXT_BYTES];
    TEXT_FORMAT(words, format);
    if (list->count == OBSERVE_MOST)
        return;
    struct observation *line = &list->lines[list->count];
    line->name = KINDS[observing->kind].name;
    line->text = arena_copy(observing->observed->arena, words, observing->error);
    line->where = arena_copy(observing->observed->arena, where, observing->error);
    list->count += line->text != NULL && line->where != NULL;
}

bool observe_rest_is_right(const struct observing *observing, const bool *only)
{
    const double *right = observing->observed->right.numbers;
    bool *rest = observe_zeros(observing, observing->count, sizeof *rest), some = false;
    for (size_t i = 0; i < observing->count && rest != NULL; i++) {
        rest[i] = !only[i] && isfinite(right[i]);
        some = some || rest[i];
    }
    return rest != NULL && observe_wrong(observing, only) == observing->wrong_count &&
           (!some || observe_fits(observing, right, rest, 1));
}

void observe_say_part(struct observing *observing, const struct observe_part *part, const char *sentence)
{
    observe_say(observing, part->where, "%s%s", sentence,
                part->where[0] != '\0' && observe_rest_is_right(observing, part->only) ? "; all others are right" : "");
}

void observe_tell(struct observing *observing, const struct observe_part *part, const char *format, ...)
{
    char what[OBSERVE_TEXT_BYTES], words[OBSERVE_TEXT_BYTES];
    struct text sentence = text_begin(words, sizeof words);
    TEXT_FORMAT(what, format);
    text_add(&sentence, "%s %s %s", part->where[0] != '\0' ? part->where : "all numbers", part->plural ? "are" : "is",
             what);
    observe_say_part(observing, part, words);
}

bool observe_is(double mine, double value, double tolerance)
{
    return isfinite(mine) && isfinite(value) ? fabs(mine - value) <= tolerance
                                             : mine == value || (isnan(mine) && isnan(value));
}

double observe_tolerance(const struct observing *observing, size_t i, double made, double factor)
{
    const double printed = observing->observed->printed != NULL ? observing->observed->printed[i] : 0;
    const double own = isfinite(made) ? observing->noise + observing->share * fabs(made) : 0;
    return printed + fmax(own, fmax(1, factor) * (observing->observed->tolerance[i] - printed));
}

bool observe_is_copy(const struct observing *observing, size_t i, size_t from)
{
    const double right = observing->observed->right.numbers[from];
    const double tolerance = fmax(observing->observed->tolerance[from], observe_tolerance(observing, i, right, 1));
    return observe_is(observing->observed->mine[i], right, tolerance);
}

bool observe_fits(const struct observing *observing, const double *made, const bool *only, double factor)
{
    const struct observed *observed = observing->observed;
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < observing->count; i++) {
        if (only != NULL && !only[i])
            continue;
        const double printed = observed->printed != NULL ? observed->printed[i] : 0;
        const double noise = observe_tolerance(observing, i, made[i], factor) - printed;
        if (!observe_is(observed->mine[i], made[i], printed + noise))
            return false;
        const double beyond = isfinite(made[i]) ? fmax(0, fabs(observed->mine[i] - made[i]) - printed) : 0;
        sum += beyond > 0 ? beyond * beyond / noise / noise : 0;
        count++;
    }
    return count > 0 && sum <= observed->most_rms * observed->most_rms * (double)count;
}

double observe_bits_of(const struct observing *observing, size_t i)
{
    enum { MOST = 20 };
    const double mine = observing->observed->mine[i], error = fabs(mine - observing->observed->right.numbers[i]);
    return isfinite(error) ? fmin(MOST, log2(1 + error / observe_tolerance(observing, i, mine, 1))) : 1;
}

double observe_bits(const struct observing *observing, const bool *only)
{
    double bits = 0;
    for (size_t i = 0; i < observing->count; i++)
        bits += observing->wrong[i] && (only == NULL || only[i]) ? observe_bits_of(observing, i) : 0;
    return bits;
}

/* --- all tests --------------------------------------------------------------------------------------------------- */

/* Finds the wrong numbers. */
static bool *find_wrong(struct observing *observing)
{
    const struct observed *observed = observing->observed;
    bool *wrong = observe_zeros(observing, observing->count, sizeof *wrong);
    double sum = 0;
    for (size_t i = 0; i < observing->count && wrong != NULL; i++) {
        const double right = observed->right.numbers[i];
        const double beyond = observed->tolerance[i] - (observed->printed != NULL ? observed->printed[i] : 0);
        wrong[i] = !observe_is(observed->mine[i], right, observed->tolerance[i]) &&
                   !(right == -INFINITY && observed->mine[i] <= PLAIN_MASKED);
        observing->wrong_count += wrong[i];
        sum += isfinite(beyond) ? beyond * beyond : 0;
    }
    observing->noise = sqrt(sum / (double)observing->count);
    return wrong;
}

static bool describes(const struct observed *observed, const struct kind *kind)
{
    const enum stage stage = observed->right.stage;
    const struct problem *problem = observed->problem;
    return ((kind->needs & OBSERVE_NEEDS_JOB) == 0 || problem != NULL) &&
           ((kind->needs & OBSERVE_OF_ROWS) == 0 || !observed->elided) &&
           (kind->stages == 0 ||
            (kind->stages & STAGE_BIT(stage) && (problem == NULL || !problem_is_side_by_side(problem, stage))));
}

/* Tries the kinds of one sort, of a part or not, from this one to the next of the other sort; returns that. It ends at
 * the first line of a part; *covered adds what the lines cover. */
static int test_kinds(struct observing *observing, int kind, bool of_part, uint64_t *covered)
{
    bool done = false;
    for (; kind < OBSERVE_KINDS && ((KINDS[kind].needs & OBSERVE_OF_PART) != 0) == of_part; kind++) {
        const size_t before = observing->list->count;
        observing->kind = kind;
        observing->other_form = (KINDS[kind].needs & OBSERVE_OTHER_FORM) != 0;
        if (!done && !(*covered >> kind & 1) && describes(observing->observed, &KINDS[kind]) &&
            observing->error->status == STATUS_OK)
            KINDS[kind].test(observing);
        *covered |= observing->list->count > before ? KINDS[kind].covers : 0;
        done = done || (of_part && observing->list->count > before);
    }
    return kind;
}

/* The same with the wrong numbers of each place on an axis. */
static void test_places(struct observing *observing, int kind, int axis, uint64_t *covered)
{
    const struct observe_part whole = observing->part;
    bool *only = observe_zeros(observing, observing->count, sizeof *only);
    const size_t size = observing->observed->right.size[axis];
    observing->is_whole = false;
    for (size_t place = 0; place < size && size > 1 && only != NULL; place++) {
        for (size_t i = 0; i < observing->count; i++)
            only[i] = whole.only[i] && observe_place(observing, i, axis) == place;
        if (observe_wrong(observing, only) > 0 && observe_part(observing, only, OBSERVE_NO_AXIS, &observing->part))
            test_kinds(observing, kind, true, covered);
    }
    observing->is_whole = true;
    observing->part = whole;
}

enum status observe(const struct observed *observed, struct observations *observations)
{
    struct arena scratch = {0};
    struct observing observing = {.observed = observed,
                                  .count = observe_count(&observed->right),
                                  .is_whole = true,
                                  .share =
                                      8 * pow(2, -fmin(dtype_precision(observed->dtype), dtype_precision(DTYPE_F32))),
                                  .list = observations,
                                  .arena = &scratch,
                                  .error = observed->error};
    uint64_t covered = 0;
    observations->count = 0;
    observing.lines = observing.count / memory_larger(1, observed->right.size[OBSERVE_COLUMN]);
    observing.wrong = find_wrong(&observing);
    if (observed->columns != NULL)
        observing.columns = *observed->columns;
    if (observing.wrong_count > 0 && observing.wrong != NULL)
        observe_find_part(&observing);
    if (observing.part.only != NULL) {
        const int of_part = test_kinds(&observing, 0, false, &covered);
        const size_t before = observations->count;
        const int rest = test_kinds(&observing, of_part, true, &covered);
        for (int axis = OBSERVE_HEAD; axis >= OBSERVE_ITEM && observations->count == before; axis--)
            test_places(&observing, of_part, axis, &covered);
        test_kinds(&observing, rest, false, &covered);
    }
    arena_free(&scratch);
    return observed->error->status;
}

/* --- the report -------------------------------------------------------------------------------------------------- */

void observe_write_text(const struct observations *observations, struct output *output)
{
    for (size_t i = 0; i < observations->count; i++) {
        struct wrap line = {.output = output, .columns = WRAP_COLUMNS, .indent = 4, .column = 2};
        output_print(output, "  ");
        wrap_words(&line, observations->lines[i].text);
        output_print(output, "\n");
    }
}

void observe_write_json(const struct observations *observations, struct json *json)
{
    json_open(json, "observations", '[');
    for (size_t i = 0; i < observations->count; i++) {
        json_break(json, 1);
        json_open(json, NULL, '{');
        json_text(json, "name", observations->lines[i].name);
        json_shown(json, "text", observations->lines[i].text);
        json_shown(json, "where", observations->lines[i].where);
        json_close(json);
    }
    json_close(json);
}
