#include "cases/answer.h"

#include <string.h>

/* One table a file, or a file of all that is named `mine`. */
static const char *const ENDINGS[] = {".npy", ".safetensors", ".npz", ".pt", ".json", ".txt"};
enum { ENDING_COUNT = sizeof ENDINGS / sizeof ENDINGS[0] };
#define TOGETHER "mine"

/* Whether the name is `stem` with one of the endings. */
static bool is_called(const char *name, const char *stem)
{
    const size_t length = strlen(stem);
    for (size_t i = 0; strncmp(name, stem, length) == 0 && i < ENDING_COUNT; i++)
        if (strcmp(name + length, ENDINGS[i]) == 0)
            return true;
    return false;
}

static const char *tell(struct arena *arena, const char *text)
{
    return arena_text(arena, text, strlen(text), NULL);
}

/* The file's one table, or the one of that name. */
static void take(struct answer *answer, const struct input_file *input, bool together)
{
    const struct file_tensor *found = input_file_find(input, answer->stage);
    if (found == NULL && input->tensor_count == 1 && !together)
        found = &input->tensors[0];
    if (found == NULL)
        return;
    answer->tensor = found->tensor;
    answer->is_text = input->is_text;
    answer->alone = input->nameless || strcmp(found->name, answer->stage) != 0;
}

static enum status read_file(struct answers *answers, size_t which, size_t result, bool together, struct arena *arena,
                             struct error *error)
{
    struct answer *answer = &answers->of[result];
    struct input_file input;
    const char *path = folder_path(answers->folder, answers->names[which], arena, error);
    struct answer found = {.stage = answer->stage, .path = path, .name = answers->names[which]};
    char words[CASE_WORDS_BYTES];
    if (path == NULL)
        return error->status;
    if (load_file(path, INPUT_FILE_OF_DIFF, arena, &input, error) != STATUS_OK) {
        if (error->memory)
            return STATUS_SYSTEM;
        found.refused = tell(arena, error->message);
        *error = (struct error){0};
    } else {
        take(&found, &input, together);
        if (found.tensor.rank == 0 && together) /* it may hold another result */
            return STATUS_OK;
        if (found.tensor.rank == 0) {
            snprintf(words, sizeof words, "%.80s: holds no %s", found.name, answer->stage);
            found.refused = tell(arena, words);
        }
    }
    answers->taken[which] = true;
    if (answer->path != NULL) {
        snprintf(words, sizeof words, "%.80s: %s is in %.80s, too; expected it once", found.name, answer->stage,
                 answer->name);
        found.refused = tell(arena, words);
    }
    *answer = found;
    return STATUS_OK;
}

enum status answers_read(struct answers *answers, const struct case_made *made, const char *folder, struct arena *arena,
                         struct error *error)
{
    *answers = (struct answers){.folder = folder_path(folder, made->row->name, arena, error)};
    if (answers->folder == NULL ||
        folder_list(answers->folder, &answers->names, &answers->name_count, arena, error) != STATUS_OK)
        return error->status;
    answers->taken = arena_allocate(arena, answers->name_count, sizeof *answers->taken, error);
    if (answers->taken == NULL)
        return error->status;
    memset(answers->taken, 0, answers->name_count * sizeof *answers->taken);
    for (size_t result = 0; result < made->count; result++) {
        answers->of[result] = (struct answer){.stage = made->results[result].name};
        for (size_t i = 0; i < answers->name_count; i++) {
            const bool together = is_called(answers->names[i], TOGETHER);
            if ((together || is_called(answers->names[i], made->results[result].name)) &&
                read_file(answers, i, result, together, arena, error) != STATUS_OK)
                return error->status;
        }
    }
    return STATUS_OK;
}
