/* SPDX-License-Identifier: MIT */
/* What all failing results have and no passing one: features, sizes, the name of the result, up to three together. */
#include "cases/verdict.h"

#include "base/text.h"

#include <string.h>

enum { MOST_ATOMS = 192, ATOM_BYTES = 64, MOST_TERMS = 3, MOST_ALTERNATIVES = 3 };

/* The least score of a set of terms that the verdict reports; what each term more must add to it; and the share of
 * failing results above which those that pass say little. */
static const double LEAST_SCORE = 0.4, OF_A_TERM = 0.02, NEARLY_ALL = 0.85;

/* A property that a result has or not. */
struct atom {
    char text[ATOM_BYTES];
    bool *holds; /* (results) */
};

struct atoms {
    const struct cases_report *report;
    const struct case_told **told; /* (results) */
    const struct case_checked **of;
    size_t results, failing;
    struct atom *items;
    size_t count;
    struct arena *arena;
    struct error *error;
};

typedef bool atom_test(const struct case_checked *checked, const struct case_told *told, size_t number);

#define ATOM(name, condition)                                                                         \
    static bool name(const struct case_checked *checked, const struct case_told *told, size_t number) \
    {                                                                                                 \
        const struct case_sizes *sizes = &checked->sizes;                                             \
        (void)sizes;                                                                                  \
        (void)told;                                                                                   \
        (void)number;                                                                                 \
        return condition;                                                                             \
    }
ATOM(has_feature, checked->row->features >> number & 1)
ATOM(lacks_feature, !(checked->row->features >> number & 1))
ATOM(is_result, stage_find(told->result, strlen(told->result)) == (enum stage)number)
ATOM(has_scores, checked->row->scores != NULL)
ATOM(has_empty_rows, checked->has_empty_rows)
ATOM(keys_are, sizes->keys == number)
ATOM(queries_are, sizes->queries == number)
ATOM(keys_exceed, sizes->keys > number)
ATOM(queries_exceed, sizes->queries > number)
ATOM(keys_within, sizes->keys <= number)
ATOM(keys_are_ragged, sizes->keys % number != 0)
ATOM(queries_are_ragged, sizes->queries % number != 0)
ATOM(keys_are_even, sizes->keys % number == 0)
ATOM(fewer_queries, sizes->queries < sizes->keys)
ATOM(more_queries, sizes->queries > sizes->keys)
ATOM(as_many, sizes->queries == sizes->keys)

static bool next_size(size_t *number, size_t from, size_t to)
{
    *number = *number == 0 ? from : 2 * *number;
    return *number <= to;
}

/* The sizes, with their numbers from .. to by factors of 2; the likeliest first. */
static const struct {
    const char *text;
    size_t from, to;
    atom_test *test;
} SIZES[] = {{"rows without an allowed key", 1, 1, has_empty_rows},
             {"T_k = %zu", 1, 1, keys_are},
             {"T_q = %zu", 1, 1, queries_are},
             {"T_k not a multiple of %zu", 16, 128, keys_are_ragged},
             {"T_k more than %zu", 16, 2048, keys_exceed},
             {"T_k at most %zu", 16, 2048, keys_within},
             {"T_q not a multiple of %zu", 16, 128, queries_are_ragged},
             {"T_q < T_k", 1, 1, fewer_queries},
             {"T_q > T_k", 1, 1, more_queries},
             {"T_q = T_k", 1, 1, as_many},
             {"T_k a multiple of %zu", 16, 128, keys_are_even},
             {"T_k more than %zu", 1, 8, keys_exceed},
             {"T_q more than %zu", 1, 1024, queries_exceed},
             {"scores set by the case", 1, 1, has_scores}};

/* Adds one that some failing results have, but not all results. */
static bool add_atom(struct atoms *atoms, atom_test *test, size_t number, const char *before, const char *text)
{
    struct atom *atom = &atoms->items[atoms->count];
    size_t held = 0, failing = 0;
    if (atoms->count == MOST_ATOMS)
        return true;
    *atom = (struct atom){.holds = arena_allocate(atoms->arena, atoms->results, sizeof *atom->holds, atoms->error)};
    if (atom->holds == NULL)
        return false;
    snprintf(atom->text, sizeof atom->text, "%s%s", before, text);
    for (size_t i = 0; i < atoms->results; i++) {
        atom->holds[i] = test(atoms->of[i], atoms->told[i], number);
        held += atom->holds[i];
        failing += atom->holds[i] && atoms->told[i]->is_wrong;
    }
    atoms->count += failing > 0 && held < atoms->results;
    return true;
}

static bool list_atoms(struct atoms *atoms)
{
    bool added = true;
    for (size_t i = 0; i < CASE_FEATURE_COUNT && added; i++)
        added = add_atom(atoms, has_feature, i, "", CASE_FEATURE_NAMES[i].name);
    for (size_t i = 0; i < STAGE_COUNT && added; i++)
        added = add_atom(atoms, is_result, i, "", stage_name((enum stage)i));
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++)
        for (size_t number = 0; added && next_size(&number, SIZES[i].from, SIZES[i].to);) {
            char text[ATOM_BYTES];
            snprintf(text, sizeof text, SIZES[i].text, number);
            added = add_atom(atoms, SIZES[i].test, number, "", text);
        }
    for (size_t i = 0; i < CASE_FEATURE_COUNT && added; i++)
        added = add_atom(atoms, lacks_feature, i, "no ", CASE_FEATURE_NAMES[i].name);
    return added;
}

/* Atoms that hold together: how many failing and passing results have all of them, and how well that separates them
 * (van Rijsbergen's F; 1: exactly). */
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
    for (size_t i = first; i < atoms->count && left > 0 && both != NULL; i++) {
        terms->at[terms->count++] = i;
        terms->failing = terms->passing = 0;
        for (size_t k = 0; k < atoms->results; k++) {
            both[k] = has[k] && atoms->items[i].holds[k];
            terms->failing += both[k] && atoms->told[k]->is_wrong;
            terms->passing += both[k] && !atoms->told[k]->is_wrong;
        }
        terms->score = 2 * (double)terms->failing / (double)(terms->failing + terms->passing + atoms->failing) -
                       OF_A_TERM * (double)terms->count;
        if (*best_count == 0 || terms->score > best[0].score)
            *best_count = 0;
        if (*best_count == 0 || (terms->score == best[0].score && *best_count < MOST_ALTERNATIVES))
            best[(*best_count)++] = *terms;
        if (2 * (double)terms->failing / (double)(terms->failing + atoms->failing) > best[0].score) /* may get better */
            search(atoms, both, terms, i + 1, left - 1, best, best_count);
        terms->count--;
    }
}

/* Whether all failing results have them, and no passing one. */
static bool is_exact(const struct atoms *atoms, const struct terms *terms)
{
    return terms->failing == atoms->failing && terms->passing == 0;
}

static void say_terms(const struct atoms *atoms, const struct terms *terms, const char *between, struct text *text)
{
    for (size_t i = 0; i < terms->count; i++)
        text_add(text, "%s%s", i > 0 ? between : "", atoms->items[terms->at[i]].text);
}

static void say(const struct atoms *atoms, const struct terms *best, size_t count, struct text *text)
{
    const size_t passing = atoms->results - atoms->failing;
    const bool exact = is_exact(atoms, &best[0]);
    text_add(text, "%s", exact ? "what fails has " : "");
    for (size_t i = 0; i < count; i++) {
        text_add(text, "%s", i > 0 ? ", or equally " : "");
        say_terms(atoms, &best[i], " with ", text);
    }
    if (!exact)
        text_add(text, ": of %zu of the %zu results that fail, and of %zu of the %zu that pass", best[0].failing,
                 atoms->failing, best[0].passing, passing);
    else
        text_add(text, "; none of the %zu results that pass has%s", passing,
                 best[0].count == 1   ? ""
                 : best[0].count == 2 ? " both, and each alone passes"
                                      : " all three");
}

/* Lists the results that were compared. */
static bool list_results(struct atoms *atoms)
{
    const struct cases_report *report = atoms->report;
    atoms->told = arena_allocate(atoms->arena, report->count * CASES_MOST_RESULTS, sizeof(void *), atoms->error);
    atoms->of = arena_allocate(atoms->arena, report->count * CASES_MOST_RESULTS, sizeof(void *), atoms->error);
    atoms->items = arena_allocate(atoms->arena, MOST_ATOMS, sizeof atoms->items[0], atoms->error);
    for (size_t i = 0; i < report->count && atoms->error->status == STATUS_OK; i++)
        for (size_t k = 0; k < report->checked[i].told_count; k++) {
            atoms->of[atoms->results] = &report->checked[i];
            atoms->told[atoms->results++] = &report->checked[i].told[k];
            atoms->failing += report->checked[i].told[k].is_wrong;
        }
    return atoms->error->status == STATUS_OK;
}

/* Names the cases that fail, if they are few. */
static bool say_cases(const struct cases_report *report, struct text *text)
{
    enum { FEW = 4 };
    const size_t failing = report->of[CASE_FAILED];
    size_t told = 0;
    text_add(text, "%s", failing <= FEW ? "what fails is " : "");
    for (size_t i = 0; i < report->count && failing <= FEW; i++)
        if (report->checked[i].verdict == CASE_FAILED) {
            text_add(text, "%s%s", told++ > 0 ? ", " : "", report->checked[i].row->name);
            if (failing == 1)
                text_add(text, ": %s", report->checked[i].row->purpose);
        }
    return failing <= FEW;
}

enum status verdict_features(const struct cases_report *report, struct text *text, struct arena *arena,
                             struct error *error)
{
    struct atoms atoms = {.report = report, .arena = arena, .error = error};
    struct terms best[MOST_ALTERNATIVES] = {{.count = 0}}, terms = {.count = 0};
    size_t count = 0;
    if (!list_results(&atoms) || atoms.failing == 0)
        return error->status;
    if (atoms.failing == atoms.results)
        text_add(text, "every result fails");
    bool *all = arena_allocate(arena, atoms.results, sizeof *all, error);
    if (atoms.failing == atoms.results || all == NULL || !list_atoms(&atoms))
        return error->status;
    memset(all, true, atoms.results * sizeof *all);
    search(&atoms, all, &terms, 0, MOST_TERMS, best, &count);
    if (!is_exact(&atoms, &best[0]) && NEARLY_ALL * (double)atoms.results < (double)atoms.failing) {
        text_add(text, "nearly every result fails: %zu of %zu", atoms.failing, atoms.results);
        return error->status;
    }
    if (count > 0 && (best[0].count < MOST_TERMS || !say_cases(report, text)) && best[0].score >= LEAST_SCORE)
        say(&atoms, best, count, text);
    return error->status;
}
