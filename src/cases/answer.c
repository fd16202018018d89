/* SPDX-License-Identifier: MIT */
#include "cases/verdict.h"

#include "base/system.h"

#include <string.h>

/* One table for each file, or a file named `mine` with all of them. */
static const char *const ENDINGS[] = {".npy", ".safetensors", ".npz", ".pt", ".json", ".txt"};
enum { ENDING_COUNT = sizeof ENDINGS / sizeof ENDINGS[0] };
#define TOGETHER "mine"

/* The times of a copied folder are new, in any order, and an archive may round them to 2 s. */
static const double EXACT_TIME = 2;

/* Whether the name is `stem` plus one of the endings. */
static bool is_called(const char *name, const char *stem)
{
    const size_t length = strlen(stem);
    for (size_t i = 0; strncmp(name, stem, length) == 0 && i < ENDING_COUNT; i++)
        if (strcmp(name + length, ENDINGS[i]) == 0)
            return true;
    return false;
}

/* Whether it is the same result of another run: context-2.npy. */
static bool is_called_again(const char *name, const char *stem)
{
    const size_t length = strlen(stem);
    if (strncmp(name, stem, length) != 0 || name[length] != '-')
        return false;
    const size_t digits = strspn(name + length + 1, "0123456789");
    return digits > 0 && is_called(name + length + 1 + digits, "");
}

/* The only table of the file, or the one of that name; returns its name there, or NULL. */
static const char *take(struct answer *answer, const struct input_file *input, bool together)
{
    const struct file_tensor *found = input_file_find(input, answer->stage);
    if (found == NULL && input->tensor_count == 1 && !together)
        found = &input->tensors[0];
    if (found == NULL)
        return NULL;
    answer->tensor = found->tensor;
    answer->is_text = input->is_text;
    answer->alone = input->nameless || strcmp(found->name, answer->stage) != 0;
    return found->name;
}

static bool is_result(const struct case_made *made, const char *name)
{
    for (size_t i = 0; i < made->count; i++)
        if (strcmp(made->results[i].name, name) == 0)
            return true;
    return false;
}

/* Notes the tables of a file that are no result of the case. A file that attn wrote holds all of a job. */
static void note_unread(struct answers *answers, size_t which, const struct case_made *made, size_t result,
                        bool together, const struct input_file *input, const char *taken)
{
    const char *expected = together ? NULL : made->results[result].name;
    for (size_t i = 0; i < input->tensor_count && !input->is_result && !input->nameless; i++) {
        const char *name = input->tensors[i].name;
        if ((taken != NULL && strcmp(name, taken) == 0) || (together && is_result(made, name)))
            continue;
        answers->taken[which] = true;
        if (answers->unread_count == CASE_NOTES)
            answers->more_unread++;
        else
            answers->unread[answers->unread_count++] = (struct case_unread){answers->names[which], name, expected};
    }
}

/* When the file was last written, in seconds; NaN where there is none. */
static double written_at(const char *path)
{
    struct stat there;
    if (stat(path, &there) != 0)
        return (double)NAN;
    const struct timespec written = system_written(&there);
    return (double)written.tv_sec + 1e-9 * (double)written.tv_nsec;
}

static enum status read_file(struct answers *answers, size_t which, const struct case_made *made, size_t result,
                             bool together, struct arena *arena, struct error *error)
{
    struct answer *answer = &answers->of[result];
    struct input_file input;
    const char *path = folder_path(answers->folder, answers->names[which], arena, error);
    struct answer found = {.stage = answer->stage, .path = path, .name = answers->names[which]};
    char words[CASE_WORDS_BYTES];
    if (path == NULL)
        return error->status;
    found.written = written_at(path);
    found.older = found.written < answers->written - EXACT_TIME;
    if (folder_check_file(path, error) || load_file(path, INPUT_FILE_OF_DIFF, arena, &input, error) != STATUS_OK) {
        if (error->memory)
            return STATUS_SYSTEM;
        found.refused = arena_copy(arena, error->message, NULL);
        *error = (struct error){0};
    } else {
        const char *taken = take(&found, &input, together);
        if (!together || result == 0) /* else the first result noted them */
            note_unread(answers, which, made, result, together, &input, taken);
        if (found.tensor.rank == 0 && together) /* it may hold another result */
            return STATUS_OK;
        if (found.tensor.rank == 0) {
            snprintf(words, sizeof words, "%.80s: holds no %s", found.name, answer->stage);
            found.refused = arena_copy(arena, words, NULL);
        }
    }
    answers->taken[which] = true;
    if (answer->path != NULL) {
        snprintf(words, sizeof words, "%.80s: %s is also in %.80s; keep one of them", found.name, answer->stage,
                 answer->name);
        found.refused = arena_copy(arena, words, NULL);
    }
    *answer = found;
    return STATUS_OK;
}

/* Reads a result of another run, and notes it where a number is not the same. A file that cannot be read is different,
 * too. */
static enum status read_again(struct answers *answers, size_t which, size_t result, struct arena *arena,
                              struct error *error)
{
    struct answer *answer = &answers->of[result], found = {.stage = answer->stage};
    struct input_file input;
    const char *path = folder_path(answers->folder, answers->names[which], arena, error);
    if (path == NULL)
        return error->status;
    if (folder_check_file(path, error) == STATUS_OK &&
        load_file(path, INPUT_FILE_OF_DIFF, arena, &input, error) == STATUS_OK)
        take(&found, &input, false);
    if (error->memory)
        return STATUS_SYSTEM;
    *error = (struct error){0};
    answers->taken[which] = true;
    bool same = found.tensor.rank > 0 && tensor_same_shape(&found.tensor, &answer->tensor);
    for (size_t i = 0; same && i < tensor_count(&found.tensor); i++) {
        double numbers[2];
        tensor_load(&found.tensor, i, 1, &numbers[0]);
        tensor_load(&answer->tensor, i, 1, &numbers[1]);
        same = numbers[0] == numbers[1] || (isnan(numbers[0]) && isnan(numbers[1]));
    }
    if (!same && answer->again == NULL)
        answer->again = answers->names[which];
    return STATUS_OK;
}

static enum status read_answers(struct answers *answers, const struct case_made *made, const char *folder,
                                struct arena *arena, struct error *error)
{
    answers->folder = folder_path(folder, made->row->name, arena, error);
    if (answers->folder == NULL ||
        folder_list(answers->folder, &answers->names, &answers->name_count, arena, error) != STATUS_OK)
        return error->status;
    const char *made_with = folder_path(answers->folder, "case.json", arena, error);
    if (made_with == NULL)
        return error->status;
    answers->written = written_at(made_with);
    answers->taken = arena_allocate(arena, answers->name_count, sizeof *answers->taken, error);
    if (answers->taken == NULL)
        return error->status;
    memset(answers->taken, 0, answers->name_count * sizeof *answers->taken);
    for (size_t result = 0; result < made->count; result++) {
        answers->of[result] = (struct answer){.stage = made->results[result].name};
        for (size_t i = 0; i < answers->name_count; i++) {
            const bool together = is_called(answers->names[i], TOGETHER);
            if ((together || is_called(answers->names[i], made->results[result].name)) &&
                read_file(answers, i, made, result, together, arena, error) != STATUS_OK)
                return error->status;
        }
        for (size_t i = 0; i < answers->name_count && answers->of[result].tensor.rank > 0; i++)
            if (is_called_again(answers->names[i], made->results[result].name) &&
                read_again(answers, i, result, arena, error) != STATUS_OK)
                return error->status;
    }
    return STATUS_OK;
}

/* What a case takes in memory, roughly. */
static double bytes_of(const struct case_sizes *sizes)
{
    const double numbers = (double)(sizes->items * sizes->heads) * (double)(sizes->queries + 2 * sizes->keys);
    return 10 * sizeof(double) * numbers * (double)(sizes->d_head + sizes->d_value);
}

/* The case of that row, as it was made before, or in the arena of the report if there is room, or else in `arena`; NULL
 * and error as case_make. */
static const struct case_made *make(struct cases_report *report, const struct case_row *row, struct arena *arena,
                                    struct error *error)
{
    const struct case_made **kept = &report->made[row - report->list.rows];
    struct case_sizes sizes;
    if (*kept != NULL)
        return *kept;
    case_sizes_of(row, &report->options, &sizes);
    const bool keeps = bytes_of(&sizes) <= report->room;
    struct arena *own = keeps ? report->arena : arena;
    struct case_made *made = arena_allocate(own, 1, sizeof *made, error);
    if (made == NULL || case_make(made, row, &report->options, own, error) != STATUS_OK)
        return NULL;
    if (keeps) {
        *kept = made;
        report->room -= bytes_of(&sizes);
    }
    return made;
}

enum status case_remake(struct remade *remade, struct cases_report *report, const struct case_row *row,
                        struct error *error)
{
    *remade = (struct remade){.arena = {0}};
    struct arena *arena = &remade->arena;
    remade->answers = arena_allocate(arena, 1, sizeof *remade->answers, error);
    if (remade->answers == NULL)
        return error->status;
    *remade->answers = (struct answers){.folder = NULL};
    remade->made = make(report, row, arena, error);
    return remade->made != NULL ? read_answers(remade->answers, remade->made, report->folder, arena, error)
                                : error->status;
}
