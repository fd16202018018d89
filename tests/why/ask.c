/* SPDX-License-Identifier: MIT */
#include "ask.h"

#include "model/mistake.h"
#include "pairs/program.h"
#include "support.h"
#include "why/without.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int attn_main(int argc, char **argv);

static char inputs[EXERCISE_COUNT][PROGRAM_PATH_BYTES];

static FILE *create(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

void ask_begin(void)
{
    static struct sheet s;
    program_begin();
    for (int id = 0; id < EXERCISE_COUNT; id++) {
        if (EXERCISES[id].file != NULL) {
            snprintf(inputs[id], sizeof inputs[id], "%s", EXERCISES[id].file);
            continue;
        }
        program_path(inputs[id], "exercise-%d.json", id);
        FILE *file = create(inputs[id]);
        sheet_begin(&s, (enum exercise_id)id);
        view_write_exercise(&s, file);
        fclose(file);
    }
}

void ask_end(void)
{
    program_end();
}

/* --- questions --------------------------------------------------------------------------------------------------- */

static void ask_by(int (*start)(int, char **), const char *words, const char *const *more, struct answer *answer)
{
    const char *line[ASK_WORDS];
    size_t count = 0;
    char copy[2048];
    struct program_run run;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, " '"); word != NULL && count < ASK_WORDS; word = strtok(NULL, " '"))
        line[count++] = word;
    for (size_t i = 0; more[i] != NULL && count < ASK_WORDS; i++)
        line[count++] = more[i];
    program_run_by(start, line, count, "/dev/null", false, &run);
    cJSON_InitHooks(NULL);
    *answer = (struct answer){run.status, cJSON_Parse(run.output), run.message};
    free(run.output);
}

void ask(const char *words, const char *const *more, struct answer *answer)
{
    ask_by(attn_main, words, more, answer);
}

void ask_release(struct answer *answer)
{
    cJSON_Delete(answer->json);
    free(answer->message);
}

void ask_exercise(enum exercise_id id, const char *mistake, struct answer *answer)
{
    const char *more[] = {inputs[id], "-f", "json", mistake != NULL ? "--mistake" : NULL, mistake, NULL};
    ask(EXERCISES[id].words, more, answer);
}

void ask_diff(enum exercise_id id, const char *path, const char *stage, struct answer *answer)
{
    char result[PROGRAM_PATH_BYTES];
    const char *out[] = {inputs[id], "-f", "json", "-o", program_path(result, "result.json"), NULL};
    const char *more[] = {result, path, stage != NULL ? "--stages" : NULL, stage, NULL};
    ask(EXERCISES[id].words, out, answer);
    ask_release(answer);
    ask("diff -f json", more, answer);
}

static void ask_why_by(int (*start)(int, char **), enum exercise_id id, const char *path, const char *stages,
                       const char *budget, struct answer *answer)
{
    char words[256];
    const char *more[] = {
        inputs[id], "--mine", path, "--budget", budget, "-f", "json", stages != NULL ? "--stages" : NULL, stages, NULL};
    snprintf(words, sizeof words, "why %s", EXERCISES[id].words);
    ask_by(start, words, more, answer);
}

void ask_why(enum exercise_id id, const char *path, const char *stages, const char *budget, struct answer *answer)
{
    ask_why_by(attn_main, id, path, stages, budget, answer);
}

void ask_why_without(enum exercise_id id, const char *path, const char *stages, const bool *left_out,
                     const char *budget, struct answer *answer)
{
    without_these(left_out);
    ask_why_by(without_main, id, path, stages, budget, answer);
}

/* --- answers ----------------------------------------------------------------------------------------------------- */

static size_t numbers_of(const cJSON *item, double *numbers, size_t room)
{
    size_t count = 0;
    if (!cJSON_IsArray(item)) {
        if (room > 0)
            numbers[0] = cJSON_IsNull(item)     ? -INFINITY
                         : cJSON_IsString(item) ? strtod(item->valuestring, NULL)
                                                : item->valuedouble;
        return 1;
    }
    for (const cJSON *child = item->child; child != NULL; child = child->next)
        count += numbers_of(child, numbers + count, room > count ? room - count : 0);
    return count;
}

size_t ask_numbers(const struct answer *answer, const char *name, enum kind kind, double *numbers, size_t room)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(answer->json, name);
    const size_t count = item != NULL ? numbers_of(item, numbers, room) : 0;
    for (size_t i = 0; i < count && i < room; i++)
        numbers[i] = keep(kind, numbers[i]);
    return count;
}

static double apart(double one, double other)
{
    if (isnan(one) || isnan(other))
        return isnan(one) && isnan(other) ? 0 : INFINITY;
    return one > other ? one - other : one < other ? other - one : 0;
}

double ask_distance(const double *one, const double *other, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, apart(one[i], other[i]));
    return largest;
}

/* The form that a name without one has. */
static bool is_usual(const char *name, size_t length, const char *form)
{
    const enum mistake id = support_mistake(name, length);
    if (id == MISTAKE_COUNT)
        return false;
    const struct mistake_row *row = &MISTAKES[id];
    return row->forms != NULL ? strcmp(row->forms[0], form) == 0 : apart(strtod(form, NULL), row->usual) <= 0;
}

/* A form counts where it is wanted. */
static bool is_same_name(const char *got, const char *wanted)
{
    const size_t length = strcspn(got, ":");
    if (length != strcspn(wanted, ":") || strncmp(got, wanted, length) != 0)
        return false;
    return wanted[length] == '\0' || strcmp(got, wanted) == 0 ||
           (got[length] == '\0' && is_usual(got, length, wanted + length + 1));
}

bool ask_names(const cJSON *names, const char *const *wanted, size_t count, const char *beside)
{
    size_t found = 0;
    for (const cJSON *name = names->child; name != NULL; name = name->next) {
        bool is_wanted = false;
        for (size_t i = 0; i < count; i++)
            is_wanted = is_wanted || is_same_name(name->valuestring, wanted[i]);
        if (!is_wanted && (beside == NULL || strncmp(name->valuestring, beside, strlen(beside)) != 0))
            return false;
        found += is_wanted;
    }
    return cJSON_IsArray(names) && found == count;
}

bool ask_explains(const cJSON *explanation, const char *const *wanted, size_t count, const char *beside)
{
    const cJSON *mistakes = cJSON_GetObjectItemCaseSensitive(explanation, "forms");
    const cJSON *same = cJSON_GetObjectItemCaseSensitive(explanation, "same");
    if (mistakes != NULL && ask_names(mistakes, wanted, count, beside))
        return true;
    for (const cJSON *names = same != NULL ? same->child : NULL; names != NULL; names = names->next)
        if (ask_names(names, wanted, count, beside))
            return true;
    return false;
}

/* --- files for --mine -------------------------------------------------------------------------------------------- */

const char *ask_write(const struct view *view, int decimals, char *path)
{
    program_path(path, decimals == FULL ? "mine.json" : "mine.txt");
    FILE *file = create(path);
    view_write(view, decimals, file);
    fclose(file);
    return path;
}

const char *ask_write_labelled(const struct view *row, const char *label, char *path)
{
    double numbers[VIEW_ROOM];
    const size_t count = view_numbers(row, numbers);
    program_path(path, "mine.txt");
    FILE *file = create(path);
    fputs(label, file);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "  %.9g", numbers[i]);
    fputc('\n', file);
    fclose(file);
    return path;
}

/* The bits of a number that float16 holds. */
static unsigned bits_of(double number)
{
    int exponent;
    const double fraction = frexp(fabs(number), &exponent);
    const unsigned sign = signbit(number) ? 1u << 15 : 0;
    if (isnan(number))
        return 0x7e00;
    if (fabs(number) < ldexp(1, -14))
        return sign | (unsigned)ldexp(fabs(number), 24);
    return sign | (unsigned)(exponent + 14) << 10 | ((unsigned)ldexp(fraction, 11) & 1023);
}

const char *ask_write_half(const struct view *view, char *path)
{
    double numbers[VIEW_ROOM];
    const size_t count = view_numbers(view, numbers);
    char heading[128];
    int length = snprintf(heading, sizeof heading, "{'descr': '<f2', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < view->rank; i++)
        length += snprintf(heading + length, sizeof heading - (size_t)length, "%d,", view->shape[i]);
    snprintf(heading + length, sizeof heading - (size_t)length, "), }");
    program_path(path, "mine.npy");
    FILE *file = create(path);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
    fprintf(file, "%-117s\n", heading);
    for (size_t i = 0; i < count; i++) {
        const unsigned bits = bits_of(keep(FLOAT16, numbers[i]));
        fputc((int)(bits & 255), file);
        fputc((int)(bits >> 8), file);
    }
    fclose(file);
    return path;
}

const char *ask_write_stages(const struct sheet *s, char *path)
{
    const struct exercise *e = s->exercise;
    const struct {
        const char *name;
        bool there;
    } stages[] = {{"query", true},
                  {"key", true},
                  {"value", true},
                  {"scores", true},
                  {"scaled", true},
                  {"capped", e->softcap > 0},
                  {"masked", e->causal || e->windowed || e->slopes || e->entries != NO_ENTRIES || e->lengths[0] > 0},
                  {"weights", true},
                  {"dropped", s->share > 0},
                  {"context", true},
                  {"output", e->d_in > 0 && e->heads > 0}};
    program_path(path, "mine.json");
    FILE *file = create(path);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        const struct view view = view_stage(s, stages[i].name);
        if (!stages[i].there)
            continue;
        fprintf(file, "%s\"%s\": ", i == 0 ? "{" : ",\n ", stages[i].name);
        view_write(&view, FULL, file);
    }
    fputs("}\n", file);
    fclose(file);
    return path;
}
