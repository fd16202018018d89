/* SPDX-License-Identifier: MIT */
/* Tables that PyTorch made with one thing done wrong, on the way back, among packed sequences or in pages, and what attn
 * why says of them: tests/why/make_tables.py says what a line of tables.jsonl holds.
 *
 *   build/test_why_tables [N]   all of them, or the N-th alone; with ATTN_QUICK the first of each mistake */
#include "check.h"
#include "pairs/program.h"
#include "why/ask.h"

#include <stdlib.h>
#include <string.h>

/* Those are not counted of which another name, or another form, gives the same numbers: they are told with it. */
enum { LINE_BYTES = 1 << 20, TABLES = 185, LEAST_FIRST = 150, FIRST_OF_SAMPLE = 70 };

static const cJSON *field(const cJSON *tree, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(tree, name);
}

static void write_json(const char *path, const cJSON *item)
{
    char *text = cJSON_PrintUnformatted(item);
    program_write(path, text, strlen(text));
    cJSON_free(text);
}

/* The stage by its name, or the numbers alone. */
static void write_mine(const char *path, const cJSON *tree)
{
    cJSON *named = cJSON_CreateObject();
    const cJSON *numbers = field(tree, "table");
    cJSON_AddItemReferenceToObject(named, field(tree, "stage")->valuestring, (cJSON *)numbers);
    write_json(path, field(tree, "nameless") != NULL ? numbers : named);
    cJSON_Delete(named);
}

/* Whether names are those that were wanted; `forms`: each to its form. */
static bool are_wanted(const cJSON *names, const cJSON *wanted, bool forms)
{
    bool same = cJSON_GetArraySize(names) == cJSON_GetArraySize(wanted);
    const cJSON *want = wanted->child;
    for (const cJSON *name = names != NULL ? names->child : NULL; name != NULL && want != NULL && same;
         name = name->next, want = want->next) {
        const size_t length = strlen(name->valuestring);
        same = forms ? strcmp(name->valuestring, want->valuestring) == 0
                     : strncmp(name->valuestring, want->valuestring, strcspn(name->valuestring, ":")) == 0 &&
                           strcspn(name->valuestring, ":") == strcspn(want->valuestring, ":") && length > 0;
    }
    return same;
}

/* Whether they are the first answer, or are told beside it, as far as the digits go. */
static bool is_told(const cJSON *explanations, const cJSON *wanted)
{
    const cJSON *answer = explanations->child;
    bool told = answer != NULL && are_wanted(field(answer, "forms"), wanted, false);
    for (const cJSON *same = answer != NULL ? field(answer, "same")->child : NULL; same != NULL; same = same->next)
        told = told || are_wanted(same, wanted, false);
    return told;
}

/* `first` counts those that are the first answer, in the form that was made. */
static void check_answer(const struct answer *answer, const cJSON *wanted, size_t *first)
{
    const cJSON *explanations = field(answer->json, "explanations");
    char *told = explanations != NULL ? cJSON_PrintUnformatted(explanations) : NULL;
    char *want = cJSON_PrintUnformatted(wanted);
    if (cJSON_IsNull(wanted)) {
        CHECK(answer->status == 1 && told != NULL && strcmp(told, "[]") == 0, "expected nothing, got %s", told);
    } else {
        CHECK(answer->status == 0 && told != NULL && is_told(explanations, wanted), "expected %s, got %s: %s", want,
              told != NULL ? told : "no JSON", answer->message);
        *first += told != NULL && explanations->child != NULL &&
                  are_wanted(field(explanations->child, "forms"), wanted, true);
    }
    cJSON_free(told);
    cJSON_free(want);
}

static void test_line(size_t number, const cJSON *tree, size_t *first)
{
    char input[PROGRAM_PATH_BYTES], mine[PROGRAM_PATH_BYTES], grad[PROGRAM_PATH_BYTES];
    const char *words = field(tree, "words")->valuestring;
    char line[512];
    struct answer answer;
    check_begin("%zu: attn why %s: %s", number, words, field(tree, "stage")->valuestring);
    program_path(input, "input.json");
    program_path(mine, "mine.json");
    program_path(grad, "grad.json");
    write_json(input, field(tree, "input"));
    write_mine(mine, tree);
    if (field(tree, "grad") != NULL)
        write_json(grad, field(tree, "grad"));
    snprintf(line, sizeof line, "why %s", words);
    ask(line,
        (const char *const[]){input, "--mine", mine, "-f", "json", field(tree, "grad") != NULL ? "--grad" : NULL, grad,
                              NULL},
        &answer);
    check_answer(&answer, field(tree, "mistakes"), first);
    ask_release(&answer);
}

/* Whether the line before it has other mistakes. */
static bool is_another_mistake(const cJSON *tree)
{
    static char last[256];
    char *mistakes = cJSON_PrintUnformatted(field(tree, "mistakes"));
    const bool another = mistakes == NULL || strcmp(mistakes, last) != 0;
    if (mistakes != NULL)
        snprintf(last, sizeof last, "%s", mistakes);
    cJSON_free(mistakes);
    return another;
}

int main(int argc, char **argv)
{
    const size_t alone = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 0;
    char *line = malloc(LINE_BYTES);
    FILE *file = fopen("tests/why/tables.jsonl", "r");
    size_t number = 0, first = 0;
    const bool quick = getenv("ATTN_QUICK") != NULL;
    const size_t least = quick ? FIRST_OF_SAMPLE : LEAST_FIRST;
    if (file == NULL || line == NULL) {
        perror("tests/why/tables.jsonl");
        return 1;
    }
    if (quick)
        puts("ATTN_QUICK: the first table of each mistake");
    ask_begin();
    while (fgets(line, LINE_BYTES, file) != NULL)
        if (++number == alone || alone == 0) {
            cJSON_InitHooks(NULL);
            cJSON *tree = cJSON_Parse(line);
            if (CHECK(tree != NULL, "line %zu is no JSON", number) && (!quick || is_another_mistake(tree)))
                test_line(number, tree, &first);
            cJSON_Delete(tree);
        }
    check_begin("as many as there were");
    CHECK(alone != 0 || number == TABLES, "expected %d tables, got %zu", (int)TABLES, number);
    CHECK(alone != 0 || first >= least, "expected %zu to be named at once, in that form, got %zu", least, first);
    ask_end();
    free(line);
    fclose(file);
    return check_end();
}
