/* SPDX-License-Identifier: MIT */
/* data/module.json, kernel-causal.json and kernel-plain.json: on one of them at least each mistake shows, by so much
 * that attn why names it from a table printed with one decimal.
 *
 *   build/test_stress            checks them; with ATTN_QUICK, one in sixteen of what attn why is asked
 *   build/test_stress NAME [SEED]
 *                                finds the input again, in a second at most, and writes it to standard output */
#include "build/job_files.h"
#include "check.h"
#include "stress/measure.h"
#include "stress/runs.h"
#include "stress/search.h"
#include "why/why.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct input {
    const char *name, *mechanism, *path;
};

static const struct input INPUTS[] = {
    {"module", "multihead", "data/module.json"},
    {"kernel-causal", "sdpa", "data/kernel-causal.json"},
    {"kernel-plain", "sdpa", "data/kernel-plain.json"},
};
enum { INPUT_COUNT = sizeof INPUTS / sizeof INPUTS[0] };

static bool seen[MISTAKE_COUNT]; /* on one of the inputs, in one of its forms */

static bool measure(struct measure *measured, const char *command_line, const char *json)
{
    return CHECK(measure_create(measured, command_line, json) == STATUS_OK, "%s: expected its tables, got: %s",
                 command_line, measured->made.error.message);
}

/* --- what the tables show ---------------------------------------------------------------------------------------- */

/* How far a mistake moves the table, and what is said of it. */
static void check_shown(const struct input *input, const struct measure *measured, const struct measured *mistake)
{
    const struct stress_unseen *unseen = stress_unseen(input->name, mistake->name);
    const double distance = measure_distance(measured, measured->right, mistake->numbers);
    if (unseen != NULL)
        CHECK(distance < STRESS_APART, "%s: expected nothing to see, as %s; got a difference of %g", mistake->name,
              unseen->reason, distance);
    else if (CHECK(distance > STRESS_APART, "%s: expected a difference of more than %g, got %g", mistake->name,
                   STRESS_APART, distance))
        seen[mistake->choice.id] = true;
}

/* Every two of them are apart, or the same computation, which is then said. */
static void check_apart(const struct input *input, const struct measure *measured, size_t at)
{
    const struct measured *a = &measured->mistakes[at];
    for (size_t i = 0; i < at && stress_unseen(input->name, a->name) == NULL; i++) {
        const struct measured *b = &measured->mistakes[i];
        const double distance = measure_distance(measured, a->numbers, b->numbers);
        if (a->choice.id == b->choice.id || stress_unseen(input->name, b->name) != NULL)
            continue;
        if (stress_same(input->name, a->name, b->name) != NULL)
            CHECK(measure_is_same(measured, distance), "%s and %s: expected the same, got a difference of %g", b->name,
                  a->name, distance);
        else
            CHECK(distance > STRESS_APART, "%s and %s: expected a difference of more than %g, got %g", b->name, a->name,
                  STRESS_APART, distance);
    }
}

/* Whether two mistakes that are the same there can be made. */
static bool has_same(const struct input *input, const struct measure *measured, const struct stress_same *same)
{
    for (size_t a = 0; a < measured->count; a++)
        for (size_t b = 0; b < a; b++)
            if (stress_same(input->name, measured->mistakes[a].name, measured->mistakes[b].name) == same)
                return true;
    return false;
}

/* What is said of an input is said of something that can be made on it. */
static void check_reasons(const struct input *input, const struct measure *measured)
{
    for (size_t row = 0; row < STRESS_UNSEEN_COUNT; row++) {
        size_t i = 0;
        while (i < measured->count && stress_unseen(input->name, measured->mistakes[i].name) != &STRESS_UNSEEN[row])
            i++;
        CHECK(strcmp(STRESS_UNSEEN[row].input, input->name) != 0 || i < measured->count,
              "%s cannot be made: expected no reason for it", STRESS_UNSEEN[row].mistake);
    }
    for (size_t row = 0; row < STRESS_SAME_COUNT; row++)
        CHECK(strcmp(STRESS_SAME[row].input, input->name) != 0 || has_same(input, measured, &STRESS_SAME[row]),
              "%s and %s cannot be made: expected no reason for them", STRESS_SAME[row].mistakes[0],
              STRESS_SAME[row].mistakes[1]);
}

/* --- what attn why makes of them --------------------------------------------------------------------------------- */

static char printed[4096];

/* The table as PyTorch prints it with one decimal. */
static void print(const struct measure *measured, const double *numbers)
{
    const struct result *result = &measured->made.result;
    const struct result_table *table = &result->tables[result->table_count - 1];
    FILE *file = fopen(printed, "w");
    if (!CHECK(file != NULL, "%s: cannot write", printed))
        return;
    fputs("tensor(", file);
    for (size_t i = 0; i < measured->numbers; i++)
        fprintf(file, "%s%.*s%.1f%.*s", i > 0 ? ", " : "", (int)measure_lists(table->shape, table->rank, i),
                MEASURE_OPEN, numbers[i], (int)measure_lists(table->shape, table->rank, i + 1), MEASURE_CLOSE);
    fputs(")\n", file);
    fclose(file);
}

/* Whether the first answer is the mistake, or the same computation by another name. */
static bool names(const struct why *why, enum mistake id)
{
    for (size_t i = 0; i < why->count; i++)
        if (why->explanations[i].same_as == 0 && why->explanations[i].guess.count == 1 &&
            why->explanations[i].guess.choices[0].id == id)
            return true;
    return false;
}

static const char *answer(const struct why *why)
{
    if (why->count == 0)
        return "nothing";
    const struct trial_guess *guess = &why->explanations[0].guess;
    return guess->count == 0 ? "that nothing is wrong" : MISTAKES[guess->choices[0].id].name;
}

static void ask(const struct input *input, const char *json, const struct measured *mistake)
{
    static struct why why;
    struct made made;
    char line[sizeof printed + SUPPORT_LINE_BYTES];
    const bool joined = strcmp(mistake->name, "out-missing") == 0; /* which is the right context, heads side by side */
    snprintf(line, sizeof line, "why %s --mine %s%s", input->mechanism, printed, joined ? " --stages output" : "");
    if (CHECK(support_make(&made, line, json) == STATUS_OK, "%s: %s", line, made.error.message)) {
        const struct job_files files = {.inputs = &made.inputs};
        CHECK(why_search(&why, &made.options, &files, &made.problem, NULL, NULL, &made.progress, &made.arena,
                         &made.error) == STATUS_OK,
              "%s: %s", mistake->name, made.error.message);
        const bool blank = tensor_blank(&why.mine.file.tensors[0].tensor) != NULL; /* 0.0 everywhere proves nothing */
        CHECK(blank ? why.count == 0 : names(&why, mistake->choice.id), "%s: expected %s from one decimal; got %s",
              mistake->name, blank ? "nothing" : "it to be named", answer(&why));
    }
    arena_free(&made.arena);
}

static void check_named(const struct input *input, const struct measure *measured, const char *json)
{
    const size_t step = getenv("ATTN_QUICK") != NULL ? 16 : 1;
    const char *folder = getenv("TMPDIR");
    snprintf(printed, sizeof printed, "%s/attn-stress-XXXXXX", folder != NULL ? folder : "/tmp");
    const int file = mkstemp(printed);
    if (!CHECK(file >= 0, "%s: cannot make a file", printed))
        return;
    close(file);
    for (size_t i = 0; i < measured->count; i += step)
        if (stress_unseen(input->name, measured->mistakes[i].name) == NULL) {
            print(measured, measured->mistakes[i].numbers);
            ask(input, json, &measured->mistakes[i]);
        }
    unlink(printed);
}

static void check_input(const struct input *input)
{
    char *json = support_read(input->path);
    struct measure measured;
    check_begin("%s: each mistake is seen, and told from each other", input->path);
    if (measure(&measured, input->mechanism, json)) {
        for (size_t i = 0; i < measured.count; i++) {
            check_shown(input, &measured, &measured.mistakes[i]);
            check_apart(input, &measured, i);
        }
        check_reasons(input, &measured);
        check_begin("%s: attn why names each from one decimal", input->path);
        check_named(input, &measured, json);
    }
    arena_free(&measured.made.arena);
    free(json);
}

static void check_found(const struct input *input)
{
    static char text[SEARCH_TEXT_BYTES];
    char *json = support_read(input->path);
    size_t steps;
    check_begin("%s: the search finds it again", input->path);
    CHECK(search_input(input->name, SEARCH_SEED, text, &steps), "expected it, got nothing in %zu steps", steps);
    CHECK_TEXT(json, text);
    free(json);
}

/* --- what takes more than the three inputs ----------------------------------------------------------------------- */

/* The input without some names, and with those of an object; freed by the caller. */
static char *change(const char *path, const char *without, const char *with)
{
    cJSON *tree = support_json(path), *added = cJSON_Parse(with);
    for (const char *name = without; name != NULL; name = strchr(name, ' '), name = name != NULL ? name + 1 : NULL) {
        char one[64];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(name, " "), name);
        cJSON_DeleteItemFromObjectCaseSensitive(tree, one);
    }
    for (cJSON *item = added->child; item != NULL; item = added->child) {
        cJSON_DeleteItemFromObjectCaseSensitive(tree, item->string);
        cJSON_AddItemToObject(tree, item->string, cJSON_DetachItemViaPointer(added, item));
    }
    char *text = cJSON_PrintUnformatted(tree);
    cJSON_Delete(tree);
    cJSON_Delete(added);
    return text;
}

static bool is_shown(const struct stress_more *more, enum mistake id)
{
    for (size_t i = 0; i < STRESS_SHOWN && more->shown[i] != NULL; i++)
        if (strcmp(MISTAKES[id].name, more->shown[i]) == 0)
            return true;
    return false;
}

static void check_more(const struct stress_more *more)
{
    bool there[MISTAKE_COUNT] = {false};
    struct measure measured;
    char path[64];
    snprintf(path, sizeof path, "data/%s.json", more->input);
    check_begin("%s, %s: it shows what the inputs as they are do not", path, more->what);
    char *json = change(path, more->without, more->with);
    if (!measure(&measured, more->command_line, json))
        measured.count = 0;
    for (size_t i = 0; i < measured.count; i++)
        there[measured.mistakes[i].choice.id] =
            there[measured.mistakes[i].choice.id] ||
            measure_distance(&measured, measured.right, measured.mistakes[i].numbers) > STRESS_APART;
    for (int id = 0; id < MISTAKE_COUNT; id++)
        if (is_shown(more, (enum mistake)id)) {
            CHECK(there[id], "%s: expected a difference of more than %g", MISTAKES[id].name, STRESS_APART);
            CHECK(!seen[id], "%s: expected it to take this, but it is seen without", MISTAKES[id].name);
            seen[id] = true;
        }
    arena_free(&measured.made.arena);
    free(json);
}

/* Draws are settings, a dtype is no mistake; the backward pass, sequences and pages have inputs of their own, those of
 * build/test_why_tables; so have words, those of tests/words. */
static bool is_of_them(enum mistake id)
{
    const enum mistake_slot slot = MISTAKES[id].slot;
    return slot != MISTAKE_SLOT_DRAW && slot != MISTAKE_SLOT_GRAD && slot != MISTAKE_SLOT_SEQUENCES &&
           slot != MISTAKE_SLOT_PAGES && slot != MISTAKE_SLOT_POSITIONS && slot != MISTAKE_SLOT_RESIDUAL &&
           slot != MISTAKE_SLOT_UNEMBEDDING && mistake_dtype(id) == DTYPE_COUNT && !stress_is_later(MISTAKES[id].name);
}

static void check_all(void)
{
    check_begin("each mistake is seen on one of them, but for those that nothing can show");
    for (int id = 0; id < MISTAKE_COUNT; id++)
        if (is_of_them((enum mistake)id))
            CHECK(seen[id] == (id != MISTAKE_BIAS_KEY_MISSING), "%s: expected it to be %s", MISTAKES[id].name,
                  seen[id] ? "hidden by nature" : "seen");
}

static int find(const char *name, uint64_t seed)
{
    static char text[SEARCH_TEXT_BYTES];
    size_t steps = 0;
    const bool found = search_input(name, seed, text, &steps);
    fprintf(stderr, "%s after %zu changes\n", found ? "found" : "nothing", steps);
    fputs(found ? text : "", stdout);
    return found ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return find(argv[1], argc > 2 ? strtoull(argv[2], NULL, 10) : SEARCH_SEED);
    for (size_t i = 0; i < INPUT_COUNT; i++) {
        check_found(&INPUTS[i]);
        check_input(&INPUTS[i]);
    }
    for (size_t i = 0; i < STRESS_MORE_COUNT; i++)
        check_more(&STRESS_MORE[i]);
    check_all();
    return check_end();
}
