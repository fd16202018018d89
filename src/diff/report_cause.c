/* SPDX-License-Identifier: MIT */
#include "base/wrap.h"
#include "diff/report.h"
#include "model/stages.h"

#include <string.h>

enum {
    HINTS_TOLD = 2, /* of stages that were not compared */
    LINE_BYTES = 1024,
};

void report_stages(const struct report *report, const char *title, uint64_t stages)
{
    struct wrap line = {.output = report->output, .columns = WRAP_COLUMNS, .indent = strlen(title)};
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (stages & STAGE_BIT(stage))
            wrap_add(&line, "%s%s", line.column == 0 ? title : "", stage_name(stage));
    if (line.column > 0)
        output_print(report->output, "\n");
}

/* --- the first line ---------------------------------------------------------------------------------------------- */

/* "the first stage that departs is masked; in weights they agree" */
static void add_first(struct text *line, const struct diff *diff)
{
    const struct diff_stage *first = &diff->stages[diff->first];
    text_add(line, "the first stage that differs is %s", first->name);
    if (first->undone_by != STAGE_NAMES)
        text_add(line, "; in %s they agree", stage_name(first->undone_by));
}

static size_t count_of(uint64_t stages)
{
    size_t count = 0;
    for (; stages != 0; stages &= stages - 1)
        count++;
    return count;
}

/* "weights and output, all that B has"; how many, where there are many. */
static void add_common(struct text *line, const struct diff *diff)
{
    enum { NAMED = 3 };
    size_t stages = 0; /* without their totals */
    for (size_t i = 0; i < diff->count; i++)
        stages += stage_exists(diff->stages[i].stage);
    if (diff->count > NAMED)
        text_add(line, "%zu stages", stages);
    for (size_t i = 0; i < diff->count && diff->count <= NAMED; i++)
        text_add(line, "%s%s", i == 0 ? "" : i + 1 < diff->count ? ", " : " and ", diff->stages[i].name);
    text_add(line, ", all that %s; ", diff->only_b == 0 ? "B has" : "both have");
}

static void add_lacking(struct text *line, const struct diff *diff)
{
    const struct diff_alignment *queries = diff_tokens_of(diff, false);
    const bool by_query = queries->used_by_stage && queries->whole == queries->a;
    const size_t lacking = count_of(diff->only_a);
    size_t first = 0;
    while (lacking > 0 && (diff->only_a & STAGE_BIT(first)) == 0)
        first++;
    text_add(line, "B lacks ");
    if (lacking == 0)
        report_add_left_out(line, diff_tokens_of(diff, !by_query));
    else if (lacking == 1)
        text_add(line, "%s", stage_name((enum stage)first));
    else
        text_add(line, "%zu stages of A", lacking);
}

static void write_misspelt(const struct report *report)
{
    const struct diff *diff = report->diff;
    char misspelt[DIFF_TOKEN_BYTES];
    if (diff->misspelt == NULL)
        return;
    text_shown(diff->misspelt, DIFF_TOKEN_COLUMNS, misspelt, sizeof misspelt);
    output_print(report->output, "  is '%s' in %s meant to be %s?\n", misspelt, diff->misspelt_in_a ? "A" : "B",
                 stage_name(diff->meant));
}

/* Sources that differ come first. */
static void write_verdict(const struct report *report)
{
    const struct diff *diff = report->diff;
    const char *how = "every number is equal";
    for (size_t i = 0; i < diff->count; i++)
        how = diff->stages[i].comparison.unequal > 0 ? "every number is within the tolerance" : how;
    const bool departs = diff->first < diff->count, by_source = departs && diff->source_count > 0;
    char text[LINE_BYTES];
    struct text line = text_begin(text, sizeof text);
    text_add(&line, "%s",
             diff_agrees(diff)              ? "the same: "
             : departs || diff->only_a == 0 ? "different: "
                                            : "the same in ");
    if (by_source)
        report_add_source(&line, diff, &diff->sources[0]);
    else if (departs)
        add_first(&line, diff);
    else if (diff_agrees(diff))
        text_add(&line, "%s", how);
    else {
        if (diff->only_a != 0)
            add_common(&line, diff);
        add_lacking(&line, diff);
    }
    report_line(report, text, true);
    if (!departs && !diff_agrees(diff))
        output_print(report->output, "  in the %s that both have, %s\n", diff->only_a != 0 ? "stages" : "tokens", how);
    write_misspelt(report);
    report_sources(report, by_source);
    if (!by_source)
        return;
    line = text_begin(text, sizeof text);
    text_add(&line, "  ");
    add_first(&line, diff);
    report_line(report, text, false);
}

/* --- what it hints at -------------------------------------------------------------------------------------------- */

/* Below it, a number is meant as minus infinity. */
static const double LOW = -1000;

/* What the numbers of a departing stage show by themselves. */
static void write_evidence(const struct report *report, const struct diff_stage *stage)
{
    const struct comparison *comparison = &stage->comparison;
    const double factor = diff_factor(comparison);
    char how[UNDONE_BYTES];
    if (comparison->hidden_a + comparison->hidden_b > 0)
        output_print(report->output, "  minus infinity in A alone: %zu, in B alone: %zu\n", comparison->hidden_a,
                     comparison->hidden_b);
    if (factor != 1 && !stage->is_total && comparison->unmatched == 0 && report->diff->observations.count == 0)
        output_print(report->output, "  B is %.6g times A throughout: a factor too many or missing\n", factor);
    const enum undone undone = diff_undone(report->diff, stage, how);
    if (undone == UNDONE_ORDER || (undone == UNDONE_HIDDEN && comparison->most_for_hidden < LOW))
        output_print(report->output, "  %s\n", how);
}

static const char ROTATION[] = "look at the rotation: halves or pairs, theta, scaling, which columns, positions from 0";

/* The stages of a query or key before its norm and rotation. */
static uint64_t steps_before(enum stage stage)
{
    return STAGES[stage].operand ? stage_existing(STAGES[stage].from) & ~STAGE_BIT(STAGE_NORMED) : 0;
}

/* Whether a file has one of these stages, compared or not. */
static bool has_any(const struct diff *diff, uint64_t stages)
{
    uint64_t there = diff->left;
    for (size_t i = 0; i < diff->count; i++)
        if (stage_exists(diff->stages[i].stage))
            there |= STAGE_BIT(diff->stages[i].stage);
    return (there & stages) != 0;
}

/* Whether it is a query or a key whose first row agrees in each head, as a rotation leaves it, and whose other rows
 * depart. */
static bool is_rotated(const struct diff *diff, const struct diff_stage *stage)
{
    enum { FEWEST = 3 };
    const struct tensor *tensor = &stage->a->tensor;
    const size_t columns = tensor->shape[tensor->rank - 1], count = stage->comparison.count;
    const size_t rows = tensor->rank > 1 ? tensor->shape[tensor->rank - 2] : 1;
    if (steps_before(stage->stage) == 0 || diff->source_count > 0 || rows < FEWEST || stage->comparison.outside == 0)
        return false;
    for (size_t first = 0; first < count; first += columns)
        if (diff_differs(stage, first, columns) == (first / columns % rows == 0))
            return false;
    return true;
}

static bool says_rope(const struct input_file *input)
{
    const char *rope = input_file_setting(input, "rope");
    return rope != NULL && strcmp(rope, "none") != 0;
}

static const char *hint_of(const struct diff *diff, enum stage stage)
{
    const bool told = diff->source_count > 0 && (STAGES[stage].from & STAGE_BIT(STAGE_INPUTS)) != 0;
    const uint64_t normed = steps_before(stage) & (STAGE_BIT(STAGE_NORMED_QUERY) | STAGE_BIT(STAGE_NORMED_KEY));
    if (has_any(diff, steps_before(stage))) /* a query or key whose projection is another stage */
        return has_any(diff, normed) || says_rope(&diff->a.input) || says_rope(&diff->b.input)
                   ? ROTATION
                   : "look at what follows the projection: a norm, of a head or of all, a rotation, its positions";
    if (told || STAGES[stage].hint == NULL)
        return NULL;
    if (diff_is_given(diff, stage, false))
        return "look at where it comes from: it is given, not computed";
    return STAGES[stage].operand && !diff_is_projected(diff) ? "look at where it comes from" : STAGES[stage].hint;
}

static void write_stage_hint(const struct report *report, enum stage stage, const char *condition)
{
    const bool fewer = report->diff->fewer_keys && stage_follows(stage, STAGE_WEIGHTS);
    const char *hint =
        fewer ? "the keys differ, so each row of weights is shared among other keys" : hint_of(report->diff, stage);
    char line[LINE_BYTES];
    if (hint == NULL)
        return;
    snprintf(line, sizeof line, "  %s%s", fewer ? "" : condition, hint);
    report_line(report, line, false);
}

/* The stages that these are made from. */
static uint64_t all_before(uint64_t stages)
{
    uint64_t before = 0;
    for (int i = 0; i < STAGE_COUNT; i++)
        if (stages & STAGE_BIT(i))
            before |= stage_closure(STAGE_BIT(i)) & ~STAGE_BIT(i);
    return stage_existing(before);
}

/* The stages that it is made from in every job: only some have norms and rotations. */
static uint64_t always_before(enum stage stage)
{
    uint64_t needed = stage_existing(stage_closure(STAGE_BIT(stage))) & ~STAGE_BIT(stage);
    for (enum stage i = 0; i < STAGE_COUNT; i++)
        if (!STAGES[i].operand && !stage_is_attended(i))
            needed &= ~STAGE_BIT(i);
    return needed;
}

/* Lists the stages before the departing one that agree, by the names of their tables: each parameter's gradient has
 * its own. Returns them. */
static uint64_t write_agreeing(const struct report *report, const struct diff_stage *stage)
{
    static const char TITLE[] = "  earlier stages agree: ";
    struct wrap line = {.output = report->output, .columns = WRAP_COLUMNS, .indent = strlen(TITLE)};
    uint64_t agree = 0;
    for (const struct diff_stage *before = report->diff->stages; before != stage; before++)
        if (!before->departs && stage_exists(before->stage)) {
            agree |= STAGE_BIT(before->stage);
            wrap_add(&line, "%s%s", line.column == 0 ? TITLE : "", before->name);
        }
    if (line.column > 0)
        output_print(report->output, "\n");
    return agree;
}

/* The stages around the departing one, and their hints. */
static void write_hints(const struct report *report, const struct diff_stage *stage)
{
    const struct diff *diff = report->diff;
    char line[LINE_BYTES];
    const uint64_t agree = write_agreeing(report, stage);
    write_evidence(report, stage);
    observe_write_text(&diff->observations, report->output);
    if (!stage_exists(stage->stage))
        return;
    if (is_rotated(diff, stage)) {
        snprintf(line, sizeof line, "  only the first row agrees: %s", ROTATION);
        report_line(report, line, false);
        return;
    }
    const uint64_t needed = stage_existing(stage_closure(STAGE_BIT(stage->stage))) & ~STAGE_BIT(stage->stage),
                   missing = needed & diff->left & ~all_before(agree & needed);
    report_stages(report, "  earlier stages not compared: ", missing);
    const size_t hints = count_of(missing);
    for (enum stage i = 0; i < STAGE_COUNT && hints <= HINTS_TOLD; i++)
        if (missing & STAGE_BIT(i))
            write_stage_hint(report, i, "");
    if (missing == 0 && always_before(stage->stage) != 0 && agree == 0)
        output_print(report->output, "  no earlier stage was compared\n");
    write_stage_hint(report, stage->stage, missing == 0 ? "" : hints == 1 ? "if that agrees, " : "if those agree, ");
}

/* The stages that depart and change nothing in a stage made from them. */
static void write_undone(const struct report *report)
{
    static const char *const WHY[UNDONE_COUNT] = {
        [UNDONE_ORDER] = "  the order of scale and mask does not change %s\n",
        [UNDONE_SHIFT] = "  a number added to a whole row does not change %s\n",
        [UNDONE_HIDDEN] = "  softmax makes 0 of both, which does not change %s\n",
    };
    const struct diff *diff = report->diff;
    char how[UNDONE_BYTES], line[UNDONE_BYTES + 80];
    enum undone reason = UNDONE_UNKNOWN;
    enum stage by = STAGE_NAMES;
    for (size_t i = 0; i < diff->count; i++) {
        const struct diff_stage *stage = &diff->stages[i];
        if (!stage->departs || stage->undone_by == STAGE_NAMES)
            continue;
        const enum undone undone = diff_undone(diff, stage, how);
        snprintf(line, sizeof line, "  %s: %s%sin %s they agree", stage->name, how, how[0] != '\0' ? "; " : "",
                 stage_name(stage->undone_by));
        if (how[0] != '\0' || i != diff->first) /* the first line says that much */
            report_line(report, line, false);
        reason = reason == UNDONE_UNKNOWN ? undone : reason;
        by = stage->undone_by;
    }
    if (WHY[reason] != NULL)
        output_print(report->output, WHY[reason], stage_name(by));
}

void report_cause(const struct report *report)
{
    const struct diff *diff = report->diff;
    write_verdict(report);
    write_undone(report);
    if (diff->cause == diff->count)
        return;
    if (diff->cause != diff->first)
        output_print(report->output, "  the first that no later stage undoes is %s\n", diff->stages[diff->cause].name);
    write_hints(report, &diff->stages[diff->cause]);
}
