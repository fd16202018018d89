/* SPDX-License-Identifier: MIT */
#include "cases/verdict.h"

#include "base/shell_word.h"
#include "build/problem_create.h"
#include "observe/observe.h"
#include "why/why.h"

#include <string.h>

/* The default of --budget, in billions of multiply-adds: single mistakes, and some pairs. */
#define BUDGET 1.0

/* Questions: of the smallest case that fails, and of one that the answer does not explain. */
enum { MOST_QUESTIONS = 2, MOST_CANDIDATES = 128, MOST_CHOICES = 3, MOST_OBSERVED = 12 };

/* Failing gradients that a mistake must give, where it gives no failing context. */
enum { LEAST_CASES = 3 };

/* Queries of a case that one can ask about, and of one that tells parts of rows apart: more than a tile of 16. */
enum { LEAST_ROWS = 8, WIDE_ROWS = 18 };

/* Mistakes made together, and how that fits the cases. */
struct candidate {
    struct mistake_choice choices[MOST_CHOICES];
    size_t count;
    bool refuted;            /* by a case that passes, */
    size_t contradicted;     /* cases that fail otherwise */
    size_t explained;        /* cases */
    size_t left, first_left; /* failing ones that it does not explain; the smallest */
    bool *explains;          /* (cases) */
};

/* A kernel has a function for each, or a line; what the failing cases are of. LSE: those whose contexts are right. */
enum pass { FORWARD, LSE, BACKWARD, MERGE, PASSES };
static const char *const PASS_RESULTS[PASSES] = {"contexts", "lse", "gradients", "merges"};

struct search {
    struct cases_report *report;
    const struct options *options;
    size_t *order;        /* (count) of the cases, the smallest first */
    bool asked;           /* there was a case to ask about */
    enum pass pass;       /* only its cases */
    size_t failing, wide; /* cases; those of so many queries that one can tell rows apart */
    struct candidate candidates[MOST_CANDIDATES], likely; /* which explains the pass before; count 0: none does */
    size_t count;
    struct arena *arena;
    struct error *error;
};

/* Whether its failure is one of numbers that a mistake may give. */
static bool is_wrong(const struct case_checked *checked)
{
    return checked->verdict == CASE_FAILED && checked->reason[0] == '\0' && !checked->is_poisoned;
}

/* Whether more than its lse is wrong. */
static bool has_wrong_contexts(const struct case_checked *checked)
{
    bool wrong = false;
    for (size_t i = 0; i < checked->told_count; i++)
        wrong = wrong || (checked->told[i].is_wrong && checked->told[i].stage != STAGE_LSE);
    return wrong;
}

/* --- the question ------------------------------------------------------------------------------------------------- */

enum status case_question(const struct answers *answers, const struct answer *answer, bool gradients,
                          char *words[CASES_WORDS], int *count, struct text *line, struct arena *arena,
                          struct error *error)
{
    const char *inputs = folder_path(answers->folder, "inputs.safetensors", arena, error);
    const char *gradient = folder_path(answers->folder, "grad_context.npy", arena, error);
    const struct {
        const char *word;
        bool taken;
    } said[] = {{"attn", true},
                {"why", true},
                {"sdpa", true},
                {inputs, true},
                {"--mine", true},
                {answer->path, true},
                {"--stages", answer->alone},
                {answer->stage, answer->alone},
                {"--grad", gradients},
                {gradient, gradients}};
    *count = 0;
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        if (!said[i].taken)
            continue;
        words[*count] = said[i].word != NULL ? arena_copy(arena, said[i].word, error) : NULL;
        if (words[(*count)++] == NULL)
            return error->status;
        text_add(line, "%s", i > 0 ? " " : "");
        shell_word(line, said[i].word);
    }
    words[*count] = NULL;
    return STATUS_OK;
}

/* Whether it is a case of the pass that the search is about. */
static bool is_of_pass(const struct search *search, const struct case_checked *checked)
{
    const enum pass pass = case_has(checked->row, CASE_GRAD)    ? BACKWARD
                           : case_has(checked->row, CASE_MERGE) ? MERGE
                                                                : FORWARD;
    return search->pass == pass || (search->pass == LSE && pass == FORWARD && !has_wrong_contexts(checked));
}

/* Whether it fails in that pass. */
static bool is_failing(const struct search *search, const struct case_checked *checked)
{
    return is_wrong(checked) && (search->pass != FORWARD || has_wrong_contexts(checked));
}

/* Whether a mistake depends on where tiles begin: over all packed keys in attn, in each sequence in a kernel. */
static bool is_of_tiles(const struct candidate *candidate)
{
    bool found = false;
    for (size_t i = 0; i < candidate->count; i++) {
        const enum mistake_slot slot = MISTAKES[candidate->choices[i].id].slot;
        found = found || slot == MISTAKE_SLOT_TILES || slot == MISTAKE_SLOT_KEYS;
    }
    return found;
}

/* --- candidates --------------------------------------------------------------------------------------------------- */

static enum status add_candidate(struct search *search, const struct candidate *added)
{
    struct candidate *candidate = &search->candidates[search->count];
    for (size_t i = 0; i < search->count; i++)
        if (search->candidates[i].count == added->count &&
            memcmp(search->candidates[i].choices, added->choices, added->count * sizeof added->choices[0]) == 0)
            return STATUS_OK;
    if (search->count == MOST_CANDIDATES)
        return STATUS_OK;
    *candidate = *added;
    candidate->refuted = false;
    candidate->contradicted = candidate->explained = candidate->left = 0;
    candidate->explains =
        arena_allocate(search->arena, search->report->count, sizeof *candidate->explains, search->error);
    if (candidate->explains == NULL)
        return STATUS_SYSTEM;
    memset(candidate->explains, 0, search->report->count * sizeof *candidate->explains);
    search->count++;
    return STATUS_OK;
}

/* Adds the mistakes of an explanation, alone and together with those of `before`. A form that is a whole number is also
 * tried as each power of 2: in a small case several of them are the same. */
static enum status add_explanation(struct search *search, const struct trial_guess *guess,
                                   const struct candidate *before)
{
    struct candidate added = {.count = 0};
    if (before != NULL && add_explanation(search, guess, NULL) != STATUS_OK)
        return search->error->status;
    if (before != NULL)
        added = *before;
    if (guess->count == 0 || added.count + guess->count > MOST_CHOICES)
        return STATUS_OK;
    for (size_t i = 0; i < guess->count; i++) {
        for (size_t k = 0; k < added.count; k++)
            if (MISTAKES[added.choices[k].id].slot == MISTAKES[guess->choices[i].id].slot)
                return STATUS_OK;
        added.choices[added.count++] = guess->choices[i];
    }
    struct mistake_choice *first = &added.choices[added.count - guess->count];
    const struct mistake_row *row = &MISTAKES[first->id];
    if (add_candidate(search, &added) != STATUS_OK)
        return search->error->status;
    for (int form = 4; row->number != NULL && row->whole && row->forms == NULL && form <= fmin(row->to, 128);
         form *= 2) {
        first->form = form;
        if (add_candidate(search, &added) != STATUS_OK)
            return search->error->status;
    }
    return STATUS_OK;
}

/* Adds the answers of why: its explanations, and of several tables the mistakes of each step. */
static void add_answers(struct search *search, const struct why *why, enum stage stage, const struct candidate *before)
{
    for (size_t i = 0; i < why->count && !why->low_precision; i++)
        if (why->explanations[i].alone == 0 || why->explanations[i].alone & STAGE_BIT(stage))
            add_explanation(search, &why->explanations[i].guess, before);
    for (size_t i = 0; i < why->step_count; i++)
        for (size_t k = 0; k < why->steps[i].guess_count && why->steps[i].departs; k++)
            add_explanation(search, &why->steps[i].guesses[k], before);
}

/* Asks why of the largest wrong result of a case, and adds the answers; none where why does not take such numbers. */
static enum status ask(struct search *search, size_t at, const struct candidate *before)
{
    const struct case_checked *checked = &search->report->checked[at];
    struct remade remade;
    struct options options;
    struct job_files files;
    struct progress progress;
    char *words[CASES_WORDS], line[CASE_COMMAND_BYTES];
    struct text text = text_begin(line, sizeof line);
    int count;
    progress_start(&progress, false, false);
    if (case_remake(&remade, search->report, checked->row, search->error) == STATUS_OK) {
        struct problem *problem = arena_allocate(&remade.arena, 1, sizeof *problem, search->error);
        struct why *why = arena_allocate(&remade.arena, 1, sizeof *why, search->error);
        size_t largest = checked->worst;
        for (size_t i = 0; i < checked->told_count; i++)
            if (checked->told[i].is_wrong && checked->told[i].of > checked->told[largest].of)
                largest = i;
        const struct answer *answer = &remade.answers->of[checked->told[largest].which];
        const enum stage stage = checked->told[largest].stage;
        if (problem != NULL && why != NULL &&
            case_question(remade.answers, answer, case_has(checked->row, CASE_GRAD), words, &count, &text,
                          &remade.arena, search->error) == STATUS_OK &&
            options_parse(&options, count, words, search->error) == STATUS_OK) {
            options.budget =
                search->options->origin[OPTION_BUDGET] != ORIGIN_DEFAULT ? search->options->budget : BUDGET;
            if (job_files_read(&files, &options, &remade.arena, search->error) == STATUS_OK &&
                problem_create(problem, &options, &files, &remade.arena, search->error) == STATUS_OK &&
                why_search(why, &options, &files, problem, NULL, NULL, &progress, &remade.arena, search->error) ==
                    STATUS_OK)
                add_answers(search, why, stage, before);
        }
    }
    arena_free(&remade.arena);
    if (search->error->status == STATUS_SYSTEM)
        return STATUS_SYSTEM;
    *search->error = (struct error){0};
    return STATUS_OK;
}

/* --- a candidate on a case ---------------------------------------------------------------------------------------- */

/* Names as --mistake takes them. */
static void say_names(const struct candidate *candidate, struct text *text)
{
    char name[MISTAKE_NAME_BYTES];
    for (size_t i = 0; i < candidate->count; i++)
        text_add(text, "%s%s", i > 0 ? "," : "", mistake_text(candidate->choices[i], name));
}

/* Makes the case with those of the mistakes that can be made in it; false where there are none. STATUS_SYSTEM goes to
 * the search's error. */
static bool make_mistaken(const struct search *search, const struct candidate *candidate, const struct case_made *made,
                          enum dtype sums, struct case_made *mistaken, struct arena *arena)
{
    struct candidate possible = *candidate;
    char names[CASE_WORDS_BYTES];
    struct error error = {0};
    for (size_t i = possible.count; i-- > 0 && candidate->count > 1;) {
        struct candidate alone = {{candidate->choices[i]}, .count = 1};
        struct arena scratch = {0};
        struct text text = text_begin(names, sizeof names);
        say_names(&alone, &text);
        if (case_make_mistaken(mistaken, made, names, sums, &scratch, &error) == STATUS_USAGE) {
            possible.count--;
            memmove(&possible.choices[i], &possible.choices[i + 1], (possible.count - i) * sizeof possible.choices[0]);
        }
        arena_free(&scratch);
        error = (struct error){0};
    }
    struct text text = text_begin(names, sizeof names);
    say_names(&possible, &text);
    if (possible.count == 0)
        return false;
    const enum status status = case_make_mistaken(mistaken, made, names, sums, arena, &error);
    if (status == STATUS_SYSTEM)
        *search->error = error;
    return status == STATUS_OK && mistaken->count == made->count;
}

/* Whether the results that the kernel wrote are changed by the mistakes beyond their bounds. lse has its own pass: each
 * kernel makes it of its wrong sums differently. */
static bool is_changed(const struct search *search, const struct case_checked *checked, const struct case_made *made,
                       const struct case_made *mistaken)
{
    bool changed = false;
    for (size_t i = 0; i < checked->told_count; i++) {
        const size_t which = checked->told[i].which;
        if (made->results[which].optional && search->pass == FORWARD)
            continue;
        const struct case_difference found = case_differ(&made->results[which], mistaken->results[which].truth.data);
        changed = changed || found.share > 1 || found.share_of_row > 1;
    }
    return changed;
}

/* Whether the kernel's results are those with the mistakes; by the larger bound of the two. */
static bool gives(const struct case_checked *checked, const struct remade *remade, struct case_made *mistaken,
                  struct error *error)
{
    static const double MORE = 4; /* times the bound: a wrong softmax may have larger sums on the way */
    struct arena arena = {0};
    bool same = true;
    for (size_t i = 0; i < mistaken->count && same; i++) {
        struct case_result *result = &mistaken->results[i];
        const struct case_result *right = &remade->made->results[i];
        const struct answer *answer = &remade->answers->of[i];
        const double *theirs = answer->path != NULL && answer->refused == NULL
                                   ? case_numbers(&answer->tensor, right, &arena, error)
                                   : NULL;
        result->absolute = fmax(result->absolute, right->absolute);
        for (size_t row = 0; row < result->rows && row < right->rows; row++)
            result->rms[row] = fmax(result->rms[row], right->rms[row]);
        if (right->optional && has_wrong_contexts(checked))
            continue;
        if (theirs == NULL || !tensor_same_shape(&result->truth, &right->truth)) {
            same = answer->path == NULL;
            continue;
        }
        const struct case_difference found = case_differ(result, theirs);
        same = found.share <= MORE && found.share_of_row <= MORE;
    }
    arena_free(&arena);
    return same;
}

/* In float32, and where that does not fit, in float64: a kernel's sums may be larger than float32 holds. */
static void try_candidate(const struct search *search, struct candidate *candidate, size_t at,
                          const struct remade *remade)
{
    static const enum dtype SUMS[] = {DTYPE_F32, DTYPE_F64};
    const struct case_checked *checked = &search->report->checked[at];
    bool changed = true, same = false, lost = false;
    for (size_t i = remade->made->given_options.dtype == DTYPE_F64; i < 2 && changed && !same; i++) {
        struct arena arena = {0};
        struct case_made *mistaken = arena_allocate(&arena, 1, sizeof *mistaken, search->error);
        changed = mistaken != NULL && make_mistaken(search, candidate, remade->made, SUMS[i], mistaken, &arena) &&
                  is_changed(search, checked, remade->made, mistaken);
        lost = changed && !case_has_finite(&mistaken->results[0].truth);
        same = changed && is_failing(search, checked) && gives(checked, remade, mistaken, search->error);
        arena_free(&arena);
    }
    if (!is_failing(search, checked)) {
        candidate->refuted = candidate->refuted || changed;
        return;
    }
    candidate->explains[at] = same;
    candidate->explained += same;
    if (same)
        return;
    candidate->contradicted += changed && !lost;
    if (candidate->left++ == 0)
        candidate->first_left = at;
}

/* Tries the candidates from `first` on, on all cases; the smallest cases refute most of them. */
static enum status try_candidates(struct search *search, size_t first)
{
    for (size_t i = 0; i < search->report->count; i++) {
        const size_t at = search->order[i];
        const struct case_checked *checked = &search->report->checked[at];
        struct remade remade;
        bool wanted = false;
        for (size_t k = first; k < search->count; k++)
            wanted = wanted || !search->candidates[k].refuted;
        if (!wanted || !is_of_pass(search, checked) || (checked->verdict != CASE_PASSED && !is_wrong(checked)))
            continue;
        if (case_remake(&remade, search->report, checked->row, search->error) == STATUS_OK)
            for (size_t k = first; k < search->count; k++)
                if (!search->candidates[k].refuted &&
                    !(case_has(checked->row, CASE_PACKED) && is_of_tiles(&search->candidates[k])))
                    try_candidate(search, &search->candidates[k], at, &remade);
        arena_free(&remade.arena);
        if (search->error->status != STATUS_OK)
            return search->error->status;
    }
    return STATUS_OK;
}

/* The candidate that explains most and is not refuted; unless `open`, it gives nearly all cases that fail. NULL: none.
 */
static struct candidate *best_of(struct search *search, bool open)
{
    struct candidate *best = NULL;
    for (size_t i = 0; i < search->count; i++) {
        struct candidate *candidate = &search->candidates[i];
        const bool nearly_all =
            candidate->contradicted <= candidate->explained / 16 && candidate->left <= candidate->explained / 4;
        if (candidate->refuted || candidate->explained == 0 || (!nearly_all && !open))
            continue;
        if (best == NULL || candidate->explained > best->explained)
            best = candidate;
    }
    return best;
}

static enum status find_mistake(struct search *search)
{
    size_t at = SIZE_MAX;
    search->failing = search->count = 0;
    for (size_t i = search->report->count; i-- > 0;) {
        const struct case_checked *checked = &search->report->checked[search->order[i]];
        if (!is_failing(search, checked) || !is_of_pass(search, checked))
            continue;
        search->failing++;
        if (at == SIZE_MAX || checked->sizes.queries >= LEAST_ROWS)
            at = search->order[i];
    }
    const bool asks = search->pass != MERGE; /* its lse are a mask in attn, which no kernel has */
    search->asked = search->asked || (asks && at != SIZE_MAX);
    if (at == SIZE_MAX || (search->likely.count > 0 && add_candidate(search, &search->likely)) ||
        (asks && ask(search, at, NULL)) || try_candidates(search, 0))
        return search->error->status;
    for (size_t questions = 1; asks && questions < MOST_QUESTIONS; questions++) {
        struct candidate *open = best_of(search, true);
        const size_t first = search->count;
        if (open == NULL || open->left == 0)
            break;
        const struct candidate before = *open;
        if (ask(search, before.first_left, &before) || try_candidates(search, first))
            return search->error->status;
    }
    return STATUS_OK;
}

/* --- words -------------------------------------------------------------------------------------------------------- */

static struct text next_line(struct cases_report *report)
{
    struct case_verdict_lines *verdict = &report->verdict;
    return text_begin(verdict->lines[verdict->count], sizeof verdict->lines[0]);
}

static void take_line(struct cases_report *report)
{
    struct case_verdict_lines *verdict = &report->verdict;
    if (verdict->count < CASE_VERDICT_LINES && verdict->lines[verdict->count][0] != '\0')
        verdict->count++;
}

static void say_mistake(struct search *search, const struct candidate *found)
{
    struct cases_report *report = search->report;
    char name[CASE_WORDS_BYTES];
    struct text names = text_begin(name, sizeof name), line = next_line(report);
    say_names(found, &names);
    text_add(&line, "%s: ", name);
    for (size_t i = 0; i < found->count; i++)
        text_add(&line, "%s%s", i > 0 ? "; and " : "", MISTAKES[found->choices[i].id].sentence);
    text_add(&line, "; this gives %zu of %zu failing cases of %s, and changes no passing one", found->explained,
             search->failing, PASS_RESULTS[search->pass]);
    take_line(report);
    for (size_t i = 0; i < report->count; i++)
        if (found->explains[i])
            snprintf(report->checked[i].mistake, sizeof report->checked[i].mistake, "%s", name);
    if (report->verdict.mistake[0] == '\0')
        snprintf(report->verdict.mistake, sizeof report->verdict.mistake, "%s", name);
}

/* The observations of a result that is wrong. */
static enum status observe_result(const struct search *search, const struct remade *remade, size_t which,
                                  struct observations *observations, struct arena *arena)
{
    static const double MOST = 4; /* times what is allowed of a row */
    const struct case_result *result = &remade->made->results[which];
    const double *theirs = case_numbers(&remade->answers->of[which].tensor, result, arena, search->error);
    const size_t count = result->rows * result->columns;
    double *right = arena_allocate(arena, count, sizeof *right, search->error);
    double *mine = arena_allocate(arena, count, sizeof *mine, search->error);
    double *tolerance = arena_allocate(arena, count, sizeof *tolerance, search->error);
    struct observed observed = {.right = {.stage = result->table.stage,
                                          .size = {case_axis(result, AXIS_ITEM), case_axis(result, AXIS_HEAD),
                                                   case_axis(result, AXIS_TOKEN), result->columns}},
                                .most_rms = 1 / MOST,
                                .dtype = result->dtype,
                                .problem = case_has(remade->made->row, CASE_MERGE) ? NULL : &remade->made->truth_job,
                                .arena = arena,
                                .error = search->error};
    if (theirs == NULL || right == NULL || mine == NULL || tolerance == NULL)
        return search->error->status;
    for (size_t i = 0; i < count; i++) {
        const size_t row = i / result->columns, *size = observed.right.size;
        const size_t at = case_row_at(result, row / size[OBSERVE_ROW] / size[OBSERVE_HEAD],
                                      row / size[OBSERVE_ROW] % size[OBSERVE_HEAD], row % size[OBSERVE_ROW]);
        const size_t from = at * result->columns + i % result->columns;
        right[i] = ((const double *)result->truth.data)[from];
        mine[i] = theirs[from];
        tolerance[i] = fmin(result->absolute + result->relative * fabs(right[i]), MOST * result->rms[at]);
    }
    observed.right.numbers = right;
    observed.mine = mine;
    observed.tolerance = tolerance;
    return observe(&observed, observations);
}

/* An observation of a kind of result, in which case it was made, and of how many results. */
struct shared {
    const char *name, *in;
    enum stage stage;
    char text[CASE_WORDS_BYTES];
    size_t count, same; /* of its kind, and with these words */
};

enum { MOST_SHARED = OBSERVE_MOST * CASES_MOST_RESULTS };

/* Counts an observation, or adds it. */
static void count_observation(struct shared *shared, size_t *count, const struct observation *made, const char *in,
                              enum stage stage)
{
    size_t at = 0;
    while (at < *count && (shared[at].stage != stage || strcmp(shared[at].name, made->name) != 0))
        at++;
    if (at == MOST_SHARED)
        return;
    if (at == *count) {
        shared[(*count)++] = (struct shared){.name = made->name, .in = in, .stage = stage};
        snprintf(shared[at].text, sizeof shared[at].text, "%s", made->text);
    }
    shared[at].count++;
    shared[at].same += strcmp(shared[at].text, made->text) == 0;
}

/* Says the observations that most of the smallest failing results of a kind share: the words of the first, and where
 * others have the same kind with other words, of which case they are. */
static enum status say_observations(struct search *search)
{
    struct cases_report *report = search->report;
    struct shared shared[MOST_SHARED];
    size_t count = 0, looked[STAGE_COUNT] = {0}, cases = 0, kinds = 0;
    for (size_t i = 0; i < report->count && cases < MOST_OBSERVED; i++) {
        const struct case_checked *checked = &report->checked[search->order[i]];
        struct remade remade;
        if (!is_wrong(checked) || (checked->sizes.queries < WIDE_ROWS && search->wide > 0))
            continue;
        cases++;
        if (case_remake(&remade, report, checked->row, search->error) == STATUS_OK)
            for (size_t k = 0; k < checked->told_count; k++) {
                struct observations made = {.count = 0};
                const enum stage stage = remade.made->results[checked->told[k].which].table.stage;
                if (!checked->told[k].is_wrong ||
                    observe_result(search, &remade, checked->told[k].which, &made, &remade.arena))
                    continue;
                for (size_t o = 0; o < made.count; o++)
                    count_observation(shared, &count, &made.lines[o], checked->row->name, stage);
                kinds += looked[stage]++ == 0;
            }
        arena_free(&remade.arena);
        if (search->error->status != STATUS_OK)
            return search->error->status;
    }
    for (size_t i = 0; i < count; i++) {
        struct text line = next_line(report);
        const size_t of = looked[shared[i].stage];
        bool said = 4 * shared[i].count < 3 * of;
        for (size_t k = 0; k < i && !said; k++) /* of another kind of result */
            said = strcmp(shared[k].text, shared[i].text) == 0 && 4 * shared[k].count >= 3 * looked[shared[k].stage];
        if (said)
            continue;
        text_add(&line, "%s%s%s", kinds > 1 ? stage_name(shared[i].stage) : "", kinds > 1 ? ": " : "", shared[i].text);
        if (shared[i].same < of)
            text_add(&line, " (in %s; %s results that fail are alike)", shared[i].in,
                     shared[i].count < of ? "most other" : "the other");
        take_line(report);
    }
    return STATUS_OK;
}

/* Whether the errors of a case show in which precision it was computed: random numbers, several keys. */
static bool shows_precision(const struct case_checked *checked)
{
    const struct case_row *row = checked->row;
    return row->scores == NULL && row->make == NULL && (row->features & ~(CASE_BIT(CAUSAL) | CASE_BIT(GRAD))) == 0 &&
           checked->sizes.keys >= LEAST_ROWS && checked->sizes.queries >= LEAST_ROWS;
}

/* Whether no case shows that precision, or one passes that it would fail, of a pass in which others fail. */
static bool is_refuted(const struct cases_report *report, const struct case_precision *precision)
{
    static const double COARSER = 32;
    bool fails[2] = {false}, passes[2] = {false};
    for (size_t i = 0; i < report->count; i++)
        if (shows_precision(&report->checked[i]) && report->checked[i].told_count > 0) {
            const bool backward = case_has(report->checked[i].row, CASE_GRAD);
            fails[backward] = fails[backward] || report->checked[i].verdict == CASE_FAILED;
            passes[backward] = passes[backward] || report->checked[i].verdict == CASE_PASSED;
        }
    const bool one_passes = (fails[false] && passes[false]) || (fails[true] && passes[true]);
    return (!fails[false] && !fails[true]) ||
           (one_passes && fmax(case_unit(precision->dtype), case_unit(precision->sums)) >=
                              COARSER * case_unit(report->options.dtype));
}

/* Says in which dtype all failing results would be right; false: in none. */
static bool say_precision(const struct search *search)
{
    struct cases_report *report = search->report;
    size_t i = 0;
    while (i < CASE_PRECISION_COUNT &&
           ((report->precisions >> i & 1) == 0 || 4 * report->even[i] < 3 * report->of[CASE_FAILED] ||
            is_refuted(report, &CASE_PRECISIONS[i])))
        i++;
    if (i == CASE_PRECISION_COUNT)
        return false;
    struct text line = next_line(report);
    text_add(&line, "right except for precision: all errors are as large as those of %s", CASE_PRECISIONS[i].words);
    take_line(report);
    return true;
}

/* Says where most of what fails is not even such a table: a mistake would explain the others alone. */
static bool say_unreadable(const struct search *search)
{
    struct cases_report *report = search->report;
    const char *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < report->count; i++)
        if (report->checked[i].verdict == CASE_FAILED && report->checked[i].reason[0] != '\0') {
            first = count == 0 ? report->checked[i].reason : first;
            count++;
        }
    if (2 * count <= report->of[CASE_FAILED])
        return false;
    struct text line = next_line(report);
    text_add(&line, "%s; %zu of %zu failing results cannot be compared", first, count, report->of[CASE_FAILED]);
    take_line(report);
    return true;
}

/* --- the verdict -------------------------------------------------------------------------------------------------- */

static double work_of(const struct case_checked *checked)
{
    const struct case_sizes *sizes = &checked->sizes;
    return (double)(sizes->items * sizes->heads * sizes->queries * sizes->keys) *
           (double)(sizes->d_head + sizes->d_value);
}

/* Sorts the cases by work. */
static enum status sort_cases(struct search *search)
{
    const struct cases_report *report = search->report;
    search->order = arena_allocate(search->arena, report->count, sizeof *search->order, search->error);
    for (size_t i = 0; i < report->count && search->order != NULL; i++) {
        size_t at = i;
        for (; at > 0 && work_of(&report->checked[search->order[at - 1]]) > work_of(&report->checked[i]); at--)
            search->order[at] = search->order[at - 1];
        search->order[at] = i;
        search->wide += is_wrong(&report->checked[i]) && report->checked[i].sizes.queries >= WIDE_ROWS;
    }
    return search->error->status;
}

enum status cases_find_verdict(struct cases_report *report, const struct options *options, struct arena *arena,
                               struct error *error)
{
    struct search *search = arena_allocate(arena, 1, sizeof *search, error);
    if (search == NULL)
        return error->status;
    *search = (struct search){.report = report, .options = options, .arena = arena, .error = error};
    bool explained = true, open = false;
    size_t varying = 0;
    if (report->of[CASE_FAILED] == 0 || sort_cases(search) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < report->count; i++)
        varying += report->checked[i].varies;
    if (varying > 0) {
        struct text line = next_line(report);
        text_add(&line, "not deterministic: two runs give different numbers in %zu of %zu cases", varying,
                 report->count);
        take_line(report);
    }
    if (varying == 0 && say_unreadable(search))
        return STATUS_OK;
    for (search->pass = FORWARD; search->pass < PASSES && !options->no_why; search->pass++) {
        if (find_mistake(search) != STATUS_OK)
            return error->status;
        const struct candidate *found = best_of(search, false);
        const bool weak = found != NULL && search->pass == BACKWARD && open && found->explained < LEAST_CASES;
        const bool is_few = search->pass == LSE && search->failing <= search->likely.explained / 4;
        explained = explained && (search->failing == 0 || is_few || (found != NULL && found->left == 0));
        open = open || (search->failing > 0 && found == NULL && !is_few);
        if (found != NULL && !weak)
            say_mistake(search, found);
        if (found != NULL && !weak && search->pass != LSE)
            search->likely = *found;
    }
    if ((explained && !options->no_why && (varying > 0 || report->verdict.mistake[0] != '\0')) || say_precision(search))
        return STATUS_OK;
    struct text line = next_line(report);
    if (search->asked && report->verdict.mistake[0] == '\0')
        text_add(&line, "no mistake that attn knows gives all that fails and nothing that passes");
    take_line(report);
    line = next_line(report);
    if (verdict_features(report, &line, arena, error) != STATUS_OK)
        return error->status;
    take_line(report);
    return options->no_why ? STATUS_OK : say_observations(search);
}
