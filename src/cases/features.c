/* SPDX-License-Identifier: MIT */
/* What all failing results have and no passing one: features, sizes, the name of the result, up to three together. */
#include "cases/verdict.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

enum { MOST_ATOMS = 192, ATOM_BYTES = 64, MOST_TERMS = 3, MOST_ALTERNATIVES = 64, MOST_SAID = 3, FEW_CASES = 4 };

/* The least score of a set of terms that the verdict reports, also where most results fail, or so few that they have
 * names; and what each term more must add to it. */
static const double LEAST_SCORE = 0.4, LEAST_OF_MOST = 0.66, LEAST_OF_NEARLY_ALL = 0.81, LEAST_OF_FEW = 0.7,
                    OF_A_TERM = 0.04;

/* A property that a result has or not. */
struct atom {
    char text[ATOM_BYTES];
    bool *holds; /* (results) */
};

struct atoms {
    const struct cases_report *report;
    const struct case_told **told; /* (results) */
    const struct case_checked **of;
    bool *fails; /* (results) */
    size_t results, failing;
    struct atom *items;
    size_t count, features; /* of these the first are features */
    struct arena *arena;
    struct error *error;
};

/* What an atom asks about: a result, one of the items or sequences of its case that have queries, a number. */
struct subject {
    const struct case_checked *checked;
    const struct case_told *told;
    const struct case_span *span;
    uint64_t number;
};

typedef bool atom_test(const struct subject *of);

#define ATOM(name, condition)                  \
    static bool name(const struct subject *of) \
    {                                          \
        const struct case_span *s = of->span;  \
        const uint64_t n = of->number;         \
        (void)s;                               \
        (void)n;                               \
        return condition;                      \
    }
ATOM(has_any, of->checked->row->features &n)
ATOM(lacks_feature, !(of->checked->row->features >> n & 1))
ATOM(is_result, of->told->stage == (enum stage)n)
ATOM(has_scores, of->checked->row->scores != NULL)
ATOM(has_empty_rows, of->checked->has_empty_rows)
ATOM(keys_are, s->keys == n)
ATOM(queries_are, s->queries == n)
ATOM(keys_exceed, s->reach > n)
ATOM(queries_exceed, s->queries > n)
ATOM(queries_within, s->queries <= n)
ATOM(keys_within, s->reach > 0 && s->keys <= n)
ATOM(keys_are_ragged, s->keys % n != 0)
ATOM(tail_is_attended, s->reach > s->keys - s->keys % n)
ATOM(last_is_attended, s->keys > 0 && s->reach == s->keys)
ATOM(starts_later, s->start >= n)
ATOM(queries_are_ragged, s->queries % n != 0)
ATOM(keys_are_even, s->reach > 0 && s->keys % n == 0 && s->reach + n > s->keys)
ATOM(fewer_queries, s->queries < s->keys)
ATOM(more_queries, s->queries > s->keys)
ATOM(as_many, s->queries == s->keys)

/* Whether that is so in one of the spans. */
static bool is_so(atom_test *test, struct subject of)
{
    for (size_t i = 0; i < of.checked->span_count; i++) {
        of.span = &of.checked->spans[i];
        if (of.span->queries > 0 && test(&of))
            return true;
    }
    return false;
}

/* Kinds of a feature: a kernel often has one function for them. */
static const struct {
    const char *text;
    uint64_t features;
} KINDS[] = {{"gqa or mqa", CASE_BIT(GQA) | CASE_BIT(MQA)},
             {"window or window-both", CASE_BIT(WINDOW) | CASE_BIT(WINDOW_BOTH)},
             {"mask or mask-float", CASE_BIT(MASK) | CASE_BIT(MASK_FLOAT)},
             {"lengths or pages", CASE_BIT(LENGTHS) | CASE_BIT(PAGES)},
             {"offset, lengths or pages", CASE_BIT(OFFSET) | CASE_BIT(LENGTHS) | CASE_BIT(PAGES)},
             {"several items", CASE_BIT(BATCH) | CASE_BIT(LENGTHS) | CASE_BIT(PAGES) | CASE_BIT(MERGE)}};

/* The sizes, with their numbers from .. to by factors of 2; the likeliest first. */
static const struct {
    const char *text;
    size_t from, to;
    atom_test *test;
} SIZES[] = {{"rows without an allowed key", 1, 1, has_empty_rows},
             {"T_k = %zu", 1, 1, keys_are},
             {"T_q = %zu", 1, 1, queries_are},
             {"T_k not a multiple of %zu", 16, 128, keys_are_ragged},
             {"attention to keys after the last multiple of %zu", 16, 128, tail_is_attended},
             {"T_k more than %zu", 16, 2048, keys_exceed},
             {"attention to the last key", 1, 1, last_is_attended},
             {"rows whose first %zu keys are masked", 8, 64, starts_later},
             {"T_k at most %zu", 16, 2048, keys_within},
             {"T_q not a multiple of %zu", 16, 128, queries_are_ragged},
             {"T_q < T_k", 1, 1, fewer_queries},
             {"T_q > T_k", 1, 1, more_queries},
             {"T_q = T_k", 1, 1, as_many},
             {"T_k a multiple of %zu", 16, 128, keys_are_even},
             {"T_k more than %zu", 1, 8, keys_exceed},
             {"T_q more than %zu", 1, 1024, queries_exceed},
             {"T_q at most %zu", 2, 64, queries_within},
             {"scores set by the case", 1, 1, has_scores}};

/* Adds one that some failing results have, but not all results; of sizes and kinds none that has the same results as
 * another. */
static void add_atom(struct atoms *atoms, atom_test *test, uint64_t number, const char *before, const char *text)
{
    struct atom *atom = &atoms->items[atoms->count];
    bool *holds =
        atoms->count < MOST_ATOMS ? arena_allocate(atoms->arena, atoms->results, sizeof *holds, atoms->error) : NULL;
    size_t held = 0, failing = 0;
    if (holds == NULL)
        return;
    for (size_t i = 0; i < atoms->results; i++) {
        holds[i] = is_so(test, (struct subject){atoms->of[i], atoms->told[i], NULL, number});
        held += holds[i];
        failing += holds[i] && atoms->fails[i];
    }
    for (size_t i = 0; i < atoms->count && (test != has_any || (number & (number - 1)) != 0); i++)
        if (memcmp(atoms->items[i].holds, holds, atoms->results * sizeof *holds) == 0)
            return;
    *atom = (struct atom){.holds = holds};
    snprintf(atom->text, sizeof atom->text, "%s%s", before, text);
    atoms->count += failing > 0 && held < atoms->results;
}

static void list_atoms(struct atoms *atoms)
{
    atoms->count = 0;
    for (size_t i = 0; i < CASE_FEATURE_COUNT; i++)
        add_atom(atoms, has_any, UINT64_C(1) << i, "", CASE_FEATURE_NAMES[i].name);
    atoms->features = atoms->count;
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
        add_atom(atoms, has_any, KINDS[i].features, "", KINDS[i].text);
    for (size_t i = 0; i < STAGE_COUNT; i++)
        add_atom(atoms, is_result, i, "", stage_name((enum stage)i));
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++)
        for (size_t number = SIZES[i].from; number <= SIZES[i].to; number *= 2) {
            char text[ATOM_BYTES];
            snprintf(text, sizeof text, SIZES[i].text, number);
            add_atom(atoms, SIZES[i].test, number, "", text);
        }
    for (size_t i = 0; i < CASE_FEATURE_COUNT; i++)
        add_atom(atoms, lacks_feature, i, "no ", CASE_FEATURE_NAMES[i].name);
}

/* Atoms that hold together: how many failing and passing results have all of them, and how well that separates them
 * (van Rijsbergen's F; 1: exactly). Where few results pass, each of them counts as several. */
struct terms {
    size_t at[MOST_TERMS], count, failing, passing;
    double score;
};

/* Takes each set of at most `left` more atoms from `first` on; keeps the best ones. `has`: the results that have those
 * before. */
static void search(const struct atoms *atoms, const bool *has, struct terms *terms, size_t first, size_t left,
                   struct terms *best, size_t *best_count)
{
    bool *both = arena_allocate(atoms->arena, atoms->results, sizeof *both, atoms->error);
    const double failing = (double)atoms->failing, weight = fmax(1, failing / ((double)atoms->results - failing));
    for (size_t i = first; i < atoms->count && left > 0 && both != NULL; i++) {
        terms->at[terms->count++] = i;
        terms->failing = terms->passing = 0;
        for (size_t k = 0; k < atoms->results; k++) {
            both[k] = has[k] && atoms->items[i].holds[k];
            terms->failing += both[k] && atoms->fails[k];
            terms->passing += both[k] && !atoms->fails[k];
        }
        terms->score =
            2 * (double)terms->failing / ((double)terms->failing + weight * (double)terms->passing + failing) -
            OF_A_TERM * (double)terms->count;
        if (*best_count == 0 || terms->score > best[0].score)
            *best_count = 0;
        if (*best_count == 0 || (terms->score == best[0].score && *best_count < MOST_ALTERNATIVES))
            best[(*best_count)++] = *terms;
        if (2 * (double)terms->failing / ((double)terms->failing + failing) > best[0].score) /* may get better */
            search(atoms, both, terms, i + 1, left - 1, best, best_count);
        terms->count--;
    }
}

static void say_terms(const struct atoms *atoms, const struct terms *terms, const char *between, struct text *text)
{
    for (size_t i = 0; i < terms->count; i++)
        text_add(text, "%s%s", i > 0 ? between : "", atoms->items[terms->at[i]].text);
}

/* Names the cases that fail, if they are few. */
static bool say_cases(const struct cases_report *report, struct text *text)
{
    const size_t failing = report->of[CASE_FAILED];
    size_t told = 0;
    text_add(text, "%s", failing <= FEW_CASES ? "what fails is " : "");
    for (size_t i = 0; i < report->count && failing <= FEW_CASES; i++)
        if (report->checked[i].verdict == CASE_FAILED) {
            text_add(text, "%s%s", told++ > 0 ? ", " : "", report->checked[i].row->name);
            if (failing == 1 && strchr(report->checked[i].row->name, '+') == NULL) /* else the name says it */
                text_add(text, ": %s", report->checked[i].row->purpose);
        }
    return failing <= FEW_CASES;
}

/* Adds the features that all failing results have, if they are of several cases. */
static void say_common(const struct atoms *atoms, struct text *text)
{
    const char *before = "; all have ";
    for (size_t i = 0; i < atoms->features && atoms->report->of[CASE_FAILED] > 1; i++) {
        size_t held = 0;
        for (size_t k = 0; k < atoms->results; k++)
            held += atoms->items[i].holds[k] && atoms->fails[k];
        if (held < atoms->failing)
            continue;
        text_add(text, "%s%s", before, atoms->items[i].text);
        before = " with ";
    }
}

/* Keeps the sets of features alone, if there are any; returns how many sets are left. */
static size_t keep_features(const struct atoms *atoms, struct terms *best, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (best[i].at[best[i].count - 1] < atoms->features) /* its largest */
            best[kept++] = best[i];
    return kept > 0 ? kept : count;
}

static void say(const struct atoms *atoms, const struct terms *best, size_t count, struct text *text)
{
    const size_t passing = atoms->results - atoms->failing;
    const bool exact = best[0].failing == atoms->failing && best[0].passing == 0;
    const bool named = exact && count > 1 && say_cases(atoms->report, text);
    const size_t said = named || count < MOST_SAID ? count : MOST_SAID;
    text_add(text, "%s", named ? "; no result that passes has " : exact ? "what fails has " : "");
    for (size_t i = 0; i < said; i++) {
        text_add(text, "%s", i == 0 ? "" : !named ? ", or equally " : i + 1 == said ? " or " : ", ");
        say_terms(atoms, &best[i], " with ", text);
    }
    if (!exact)
        text_add(text, ": of %zu of the %zu results that fail, and of %zu of the %zu that pass", best[0].failing,
                 atoms->failing, best[0].passing, passing);
    else if (!named)
        text_add(text, "; none of the %zu results that pass has%s", passing,
                 best[0].count == 1   ? ""
                 : best[0].count == 2 ? " both, and each alone passes"
                                      : " all three");
}

/* Lists the results that were compared: of those stages of which one fails. */
static bool list_results(struct atoms *atoms, struct text *text)
{
    const struct cases_report *report = atoms->report;
    const size_t most = report->count * CASES_MOST_RESULTS;
    bool fails[STAGE_COUNT] = {false}, others = false;
    size_t said = 0, failing = 0;
    atoms->told = arena_allocate(atoms->arena, most, sizeof(void *), atoms->error);
    atoms->of = arena_allocate(atoms->arena, most, sizeof(void *), atoms->error);
    atoms->fails = arena_allocate(atoms->arena, most, sizeof *atoms->fails, atoms->error);
    atoms->items = arena_allocate(atoms->arena, MOST_ATOMS, sizeof atoms->items[0], atoms->error);
    if (atoms->error->status != STATUS_OK)
        return false;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < report->count; i++)
            for (size_t k = 0; k < report->checked[i].told_count; k++) {
                const struct case_told *told = &report->checked[i].told[k];
                bool *fail = &fails[told->stage];
                *fail = *fail || told->is_wrong;
                others = others || (pass > 0 && !*fail);
                if (pass == 0 || !*fail)
                    continue;
                atoms->of[atoms->results] = &report->checked[i];
                atoms->told[atoms->results] = told;
                atoms->fails[atoms->results++] = told->is_wrong;
                atoms->failing += told->is_wrong;
            }
    for (size_t i = 0; i < STAGE_COUNT; i++)
        failing += fails[i];
    if (others && failing > 2 && !fails[STAGE_CONTEXT] && !fails[STAGE_LSE])
        text_add(text, "only gradients fail: ");
    for (size_t i = 0; i < STAGE_COUNT && others && failing <= 2; i++)
        if (fails[i]) {
            text_add(text, "%s%s", said == 0 ? "only " : " and ", stage_name((enum stage)i));
            said++;
        }
    text_add(text, "%s", said == 0 ? "" : said == 1 ? " fails: " : " fail: ");
    return true;
}

/* The best sets of terms of what fails; false where memory is short. */
static bool find_terms(struct atoms *atoms, struct terms best[MOST_ALTERNATIVES], size_t *count)
{
    struct terms terms = {.count = 0};
    bool *all = arena_allocate(atoms->arena, atoms->results, sizeof *all, atoms->error);
    list_atoms(atoms);
    if (all == NULL)
        return false;
    memset(all, true, atoms->results * sizeof *all);
    *count = 0;
    search(atoms, all, &terms, 0, MOST_TERMS, best, count);
    return atoms->error->status == STATUS_OK;
}

/* Says that most results fail, and what those that pass have. */
static void say_most(struct atoms *atoms, struct text *text)
{
    struct terms best[MOST_ALTERNATIVES] = {{.count = 0}};
    size_t count = 0;
    text_add(text, "most results fail: %zu of %zu", atoms->failing, atoms->results);
    for (size_t i = 0; i < atoms->results; i++)
        atoms->fails[i] = !atoms->fails[i];
    atoms->failing = atoms->results - atoms->failing;
    if (!find_terms(atoms, best, &count) || count == 0 || best[0].score < LEAST_OF_MOST)
        return;
    text_add(text, "; of the %zu that pass %zu have ", atoms->failing, best[0].failing);
    say_terms(atoms, &best[0], " with ", text);
}

enum status verdict_features(const struct cases_report *report, struct text *text, struct arena *arena,
                             struct error *error)
{
    struct atoms atoms = {.report = report, .arena = arena, .error = error};
    struct terms best[MOST_ALTERNATIVES] = {{.count = 0}};
    size_t count = 0;
    if (!list_results(&atoms, text) || atoms.failing == 0)
        return error->status;
    if (atoms.failing == atoms.results)
        text_add(text, "every result fails");
    else if (!find_terms(&atoms, best, &count))
        return error->status;
    else if (count > 0 && 2 * atoms.failing > atoms.results &&
             best[0].score < (10 * atoms.failing > 9 * atoms.results ? LEAST_OF_NEARLY_ALL : LEAST_OF_MOST))
        say_most(&atoms, text);
    else if (count > 0 && (best[0].count == MOST_TERMS || best[0].score < LEAST_OF_FEW) && say_cases(report, text))
        say_common(&atoms, text);
    else if (count > 0 && best[0].score >= LEAST_SCORE)
        say(&atoms, best, keep_features(&atoms, best, count), text);
    return error->status;
}
