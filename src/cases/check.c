/* SPDX-License-Identifier: MIT */
#include "cases/cases.h"

#include "base/output.h"
#include "base/shell_word.h"
#include "build/problem_create.h"
#include "cases/answer.h"
#include "cli/option_line.h"
#include "model/stage_id.h"
#include "why/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The budget of a search for each case, in billions of multiply-adds: single mistakes, and some pairs. */
#define BUDGET 1.0

enum { HEAD_WORDS = 32 };

/* --- the index ---------------------------------------------------------------------------------------------------- */

static enum status no_index(const char *path, struct error *error)
{
    char shown[TEXT_PATH_BYTES];
    return error_usage(error,
                       "%s: line 1 is not the one that this version of attn writes, \"" CASES_HEAD
                       "--heads 4 ...\"; write the folder again with attn cases DIR",
                       text_path(path, shown));
}

/* Parses the options in the first line of the index. */
static enum status read_options(struct options *options, const struct loaded *index, const char *path,
                                const char *folder, struct arena *arena, struct error *error)
{
    static const char HEAD[] = CASES_HEAD;
    char *argv[HEAD_WORDS + 1], *rest = NULL;
    int count = 0;
    const unsigned char *end = memchr(index->bytes, '\n', index->length);
    const size_t head = sizeof HEAD - 1, length = end != NULL ? (size_t)(end - index->bytes) : 0;
    if (length <= head || length > CASES_LINE_BYTES || memcmp(index->bytes, HEAD, head) != 0)
        return no_index(path, error);
    char *line = arena_text(arena, (const char *)index->bytes + head, length - head, error);
    char *words = arena_copy(arena, "attn cases", error);
    char *named = arena_copy(arena, folder, error);
    if (line == NULL || words == NULL || named == NULL)
        return error->status;
    argv[count++] = strtok_r(words, " ", &rest);
    argv[count++] = strtok_r(NULL, " ", &rest);
    for (char *word = strtok_r(line, " ", &rest); word != NULL && count < HEAD_WORDS - 2;
         word = strtok_r(NULL, " ", &rest))
        argv[count++] = word;
    argv[count++] = named;
    argv[count] = NULL;
    return options_parse(options, count, argv, error) == STATUS_OK ? STATUS_OK : no_index(path, error);
}

/* Reads the index, and checks that these options and this version write it. */
static enum status read_index(struct cases_report *report, struct arena *arena, struct error *error)
{
    struct loaded index;
    struct case_file made;
    char shown[TEXT_PATH_BYTES];
    const char *path = folder_path(report->folder, CASES_INDEX, arena, error);
    if (path != NULL && access(path, F_OK) != 0 && access(report->folder, F_OK) == 0)
        return error_usage(error, "%s: has no %s; expected a folder that attn cases wrote",
                           text_path(report->folder, shown), CASES_INDEX);
    if (path == NULL || folder_check_file(path, error) || load_bytes(path, arena, &index, error) ||
        read_options(&report->options, &index, path, report->folder, arena, error) ||
        case_list_make(&report->list, &report->options, arena, error) ||
        case_index(&report->list, &report->options, &made, arena, error))
        return error->status;
    size_t same = 0, line = 1;
    while (same < made.length && same < index.length && made.bytes[same] == (char)index.bytes[same])
        line += made.bytes[same++] == '\n';
    return same == made.length && same == index.length
               ? STATUS_OK
               : error_usage(error,
                             "%s: line %zu is not what attn cases wrote; write the folder again with attn cases DIR",
                             text_path(path, shown), line);
}

/* --- files -------------------------------------------------------------------------------------------------------- */

static void note(struct case_checked *checked, const char *text)
{
    if (text == NULL)
        return;
    if (checked->note_count < CASE_NOTES)
        checked->notes[checked->note_count++] = text;
    else
        checked->more_notes++;
}

/* The name of a result from the table of stages: it outlives the arena. */
static const char *lasting_name(const char *result)
{
    return stage_name(stage_find(result, strlen(result)));
}

/* Notes what is no result in files of results, and the names of the results. */
static enum status note_unread(struct case_checked *checked, const struct answers *answers,
                               const struct case_made *made, struct arena *lasting, struct error *error)
{
    struct text expected = text_begin(checked->expected, sizeof checked->expected);
    for (size_t i = 0; i < made->count; i++)
        text_add(&expected, "%s%s", i > 0 ? ", " : "", made->results[i].name);
    for (size_t i = 0; i < answers->unread_count; i++) {
        const struct case_unread *unread = &answers->unread[i];
        const char *file = arena_copy(lasting, unread->file, error);
        const char *name = arena_copy(lasting, unread->name, error);
        if (file == NULL || name == NULL)
            return error->status;
        const char *alone = unread->expected != NULL ? lasting_name(unread->expected) : NULL;
        checked->unread[checked->unread_count++] = (struct case_unread){file, name, alone};
    }
    checked->more_unread = answers->more_unread;
    return STATUS_OK;
}

/* "context.npy: is 4 x 3, expected 3 x 4"; keeps the last of several. */
static void fail(struct case_checked *checked, const char *name, const char *what)
{
    char shown[TEXT_PATH_BYTES];
    struct text reason = text_begin(checked->reason, sizeof checked->reason);
    checked->verdict = CASE_FAILED;
    text_add(&reason, "%s%s%s", name != NULL ? text_path(name, shown) : "", name != NULL ? ": " : "", what);
}

/* Checks that every file of attn cases is unchanged, byte for byte: a kernel may have written over its inputs. */
static enum status check_own(struct case_checked *checked, const struct answers *answers, const struct case_file *files,
                             size_t count, struct arena *arena, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct loaded loaded;
        const char *path = folder_path(answers->folder, files[i].name, arena, error);
        if (path == NULL)
            return error->status;
        enum status status = folder_check_file(path, error);
        if (status == STATUS_OK)
            status = load_bytes(path, arena, &loaded, error);
        if (error->memory)
            return STATUS_SYSTEM;
        if (status != STATUS_OK)
            fail(checked, files[i].name, "cannot be read, but attn cases wrote it");
        else if (loaded.length != files[i].length || memcmp(loaded.bytes, files[i].bytes, files[i].length) != 0)
            fail(checked, files[i].name, "is not what attn cases wrote; a kernel must not change it");
        *error = (struct error){0};
    }
    return STATUS_OK;
}

static bool is_named(const char *name, const struct case_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i].name, name) == 0)
            return true;
    return false;
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

/* The error of a number as a share of its bound; infinite where NaN or an infinity meets a number. */
static double share_of(double right, double theirs, const struct case_result *result)
{
    double rounded = right;
    dtype_round(result->dtype, &rounded, 1);
    if (rounded == theirs || (isnan(rounded) && isnan(theirs)))
        return 0;
    const double share = fabs(right - theirs) / (result->absolute + result->relative * fabs(right));
    return isfinite(share) ? share : (double)INFINITY;
}

/* Where tokens come before heads. */
static bool has_heads_last(const struct case_result *result)
{
    return result->truth.rank > 2 && result->table.axes[result->truth.rank - 2] == AXIS_HEAD;
}

static void tell_place(struct case_checked *checked, const struct case_result *result, size_t at)
{
    const struct tensor *truth = &result->truth;
    size_t index[TENSOR_RANK];
    for (size_t axis = truth->rank; axis-- > 0; at /= truth->shape[axis])
        index[axis] = at % truth->shape[axis];
    if (has_heads_last(result)) {
        const size_t rank = truth->rank, *last = index + rank - 3;
        struct text place = text_begin(checked->place, sizeof checked->place);
        if (rank > 3)
            text_add(&place, "item %zu, ", index[0] + 1);
        text_add(&place, "row %zu, head %zu, column %zu", last[0] + 1, last[1] + 1, last[2] + 1);
    } else {
        tensor_place_text(truth->rank, index, truth->rank, checked->place);
    }
}

/* The layout of a result in a file: as expected, also with the heads of a token in a row; or heads before tokens where
 * tokens before heads are expected, as attn sdpa writes gradients. */
enum layout { LAYOUT_OTHER, LAYOUT_EXPECTED, LAYOUT_HEADS_FIRST };

static enum layout layout_of(const struct tensor *theirs, const struct case_result *result)
{
    const struct tensor *truth = &result->truth;
    struct tensor other = *truth;
    const size_t rank = truth->rank;
    if (tensor_same_shape(theirs, truth))
        return LAYOUT_EXPECTED;
    if (!has_heads_last(result))
        return LAYOUT_OTHER;
    other.rank = rank - 1;
    other.shape[rank - 2] *= truth->shape[rank - 1];
    if (tensor_same_shape(theirs, &other))
        return LAYOUT_EXPECTED;
    other = *truth;
    other.shape[rank - 2] = truth->shape[rank - 3];
    other.shape[rank - 3] = truth->shape[rank - 2];
    return tensor_same_shape(theirs, &other) ? LAYOUT_HEADS_FIRST : LAYOUT_OTHER;
}

/* The index in theirs of number i of what is expected. */
static size_t index_in(const struct tensor *truth, enum layout layout, size_t i)
{
    const size_t *shape = truth->shape + truth->rank - 3, tokens = shape[0], heads = shape[1], columns = shape[2];
    const size_t head = i / columns % heads, token = i / columns / heads % tokens, item = i / columns / heads / tokens;
    return layout == LAYOUT_EXPECTED ? i : ((item * heads + head) * tokens + token) * columns + i % columns;
}

static void compare(struct case_checked *checked, const struct tensor *theirs, enum layout layout,
                    const struct case_result *result)
{
    const struct tensor *truth = &result->truth;
    const double *right = truth->data;
    const size_t count = tensor_count(truth);
    double worst = -1, number;
    size_t outside = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        tensor_load(theirs, index_in(truth, layout, i), 1, &number);
        const double share = share_of(right[i], number, result);
        outside += share > 1;
        if (share > worst) {
            worst = share;
            at = i;
        }
    }
    if (checked->result != NULL && worst <= checked->share) /* another result is worse */
        return;
    tensor_load(theirs, index_in(truth, layout, at), 1, &number);
    checked->result = result->name;
    checked->share = worst;
    checked->right = right[at];
    checked->theirs = number;
    checked->largest = fabs(right[at] - number);
    checked->allowed = result->absolute + result->relative * fabs(right[at]);
    checked->outside = outside;
    checked->of = count;
    tell_place(checked, result, at);
    if (outside > 0)
        checked->verdict = CASE_FAILED;
}

static bool has_finite(const struct tensor *tensor)
{
    double number = NAN;
    for (size_t i = 0; i < tensor_count(tensor) && !isfinite(number); i++)
        tensor_load(tensor, i, 1, &number);
    return isfinite(number);
}

/* Whether NaN stands where a kernel must not read. */
static bool is_poisoned(const struct input_file *file)
{
    double number = 0;
    for (size_t i = 0; i < file->tensor_count; i++)
        for (size_t k = 0; k < tensor_count(&file->tensors[i].tensor) && !isnan(number); k++)
            tensor_load(&file->tensors[i].tensor, k, 1, &number);
    return isnan(number);
}

/* Checks one answer: its shape, its dtype, its numbers. */
static void check_answer(struct case_checked *checked, const struct answer *answer, const struct case_result *result)
{
    const struct tensor *theirs = &answer->tensor;
    const enum dtype dtype = result->dtype;
    const enum layout layout = layout_of(theirs, result);
    char words[CASE_WORDS_BYTES], right[TENSOR_SHAPE_BYTES], wrong[TENSOR_SHAPE_BYTES];
    const bool wide = dtype == DTYPE_BF16 && theirs->dtype == DTYPE_F32;
    if (!answer->is_text && theirs->dtype != dtype && !wide) {
        snprintf(words, sizeof words, "has numbers of %s, expected %s", dtype_name(theirs->dtype), dtype_name(dtype));
        fail(checked, answer->name, words);
    } else if (layout == LAYOUT_OTHER) {
        snprintf(words, sizeof words, "is %s, expected %s", tensor_shape_text(theirs, wrong),
                 tensor_shape_text(&result->truth, right));
        fail(checked, answer->name, words);
    } else {
        compare(checked, theirs, layout, result);
    }
}

/* --- why ---------------------------------------------------------------------------------------------------------- */

/* The first explanation of a result; NULL: there is none. Gradients may have mistakes of their own. */
static const struct why_explanation *explanation_of(const struct why *why, const char *result)
{
    const enum stage stage = stage_find(result, strlen(result));
    for (size_t i = 0; i < why->count; i++)
        if (why->explanations[i].alone == 0 || why->explanations[i].alone & STAGE_BIT(stage))
            return &why->explanations[i];
    return NULL;
}

/* Takes over its mistakes, by name and in words. */
static void tell_why(struct case_checked *checked, const struct why *why, const char *result)
{
    const struct why_explanation *explanation = explanation_of(why, result);
    struct text names = text_begin(checked->mistake, sizeof checked->mistake);
    struct text words = text_begin(checked->sentence, sizeof checked->sentence);
    if (explanation == NULL)
        return;
    const struct trial_guess *guess = &explanation->guess;
    if (why->low_precision) {
        text_add(&words, "right except for precision: these are %s numbers", dtype_name(why->mine.dtype));
        return;
    }
    for (size_t i = 0; i < guess->count; i++) {
        char name[MISTAKE_NAME_BYTES];
        text_add(&names, "%s%s", i > 0 ? "," : "", mistake_text(guess->choices[i], name));
        text_add(&words, "%s%s", i > 0 ? "; and " : "", MISTAKES[guess->choices[i].id].sentence);
    }
    if (guess->count == 0)
        text_add(&words, "right except for precision: the result or an earlier step keeps too few digits");
}

/* "attn why sdpa DIR/edge-16/inputs.safetensors --mine DIR/edge-16/context.npy --stages context", as words and as a
 * line for a shell. STATUS_SYSTEM where memory is short. */
static enum status word_question(struct case_checked *checked, const struct answers *answers,
                                 const struct answer *answer, bool gradients, char *words[CASES_WORDS], int *count,
                                 struct arena *arena, struct error *error)
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
    struct text line = text_begin(checked->command, sizeof checked->command);
    *count = 0;
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        if (!said[i].taken)
            continue;
        words[*count] = said[i].word != NULL ? arena_copy(arena, said[i].word, error) : NULL;
        if (words[(*count)++] == NULL)
            return error->status;
        text_add(&line, "%s", i > 0 ? " " : "");
        shell_word(&line, said[i].word);
    }
    words[*count] = NULL;
    if (line.cut)
        checked->command[0] = '\0';
    return STATUS_OK;
}

/* STATUS_USAGE where why does not take such numbers. */
static enum status ask_why(struct case_checked *checked, const struct answers *answers, const struct answer *answer,
                           bool gradients, struct arena *arena, struct error *error)
{
    struct options options;
    struct job_files files;
    struct problem *problem = arena_allocate(arena, 1, sizeof *problem, error);
    struct why *why = arena_allocate(arena, 1, sizeof *why, error);
    struct progress progress;
    char *words[CASES_WORDS];
    int count;
    if (problem == NULL || why == NULL ||
        word_question(checked, answers, answer, gradients, words, &count, arena, error) != STATUS_OK)
        return error->status;
    progress_start(&progress, false, false);
    if (options_parse(&options, count, words, error) || job_files_read(&files, &options, arena, error) ||
        problem_create(problem, &options, &files, arena, error))
        return error->status;
    options.budget = BUDGET;
    if (why_search(why, &options, &files, problem, NULL, &progress, arena, error) != STATUS_OK)
        return error->status;
    tell_why(checked, why, answer->stage);
    return STATUS_OK;
}

/* --- a case ------------------------------------------------------------------------------------------------------- */

static enum status check_answers(struct case_checked *checked, struct case_made *made, const struct answers *answers,
                                 struct arena *arena, struct error *error)
{
    const struct answer *worst = NULL;
    for (size_t i = 0; i < made->count; i++) {
        const char *before = checked->result;
        const struct answer *answer = &answers->of[i];
        if (answer->path == NULL || answer->older)
            continue;
        checked->written = fmin(checked->written, answer->written);
        if (answer->refused != NULL) {
            fail(checked, NULL, answer->refused);
            continue;
        }
        check_answer(checked, answer, &made->results[i]);
        worst = checked->result != before ? answer : worst;
    }
    if (worst == NULL || checked->share <= 1)
        return STATUS_OK;
    const bool gradients = case_has(made->row, CASE_GRAD);
    if (gradients && !options_takes(COMMAND_WHY, MECHANISM_SDPA, OPTION_GRAD))
        return STATUS_OK;
    if (is_poisoned(&made->files.files[0]) && !has_finite(&worst->tensor)) { /* any guess would fit */
        snprintf(checked->sentence, sizeof checked->sentence, "%s",
                 "NaN fills the entries that must not be read; 0 times NaN is NaN, so skip them");
        return STATUS_OK;
    }
    if (ask_why(checked, answers, worst, gradients, arena, error) == STATUS_SYSTEM)
        return STATUS_SYSTEM;
    *error = (struct error){0}; /* why does not take such numbers */
    const char *blank = tensor_blank(&worst->tensor);
    if (checked->sentence[0] == '\0' && blank != NULL)
        snprintf(checked->sentence, sizeof checked->sentence, "every number is %s: did the kernel write its result?",
                 blank);
    return STATUS_OK;
}

/* Which results are missing: all of them, or some. A result that is older than its case does not count. */
static void check_missing(struct case_checked *checked, const struct case_made *made, const struct answers *answers)
{
    struct text reason = text_begin(checked->reason, sizeof checked->reason);
    for (size_t i = 0; i < made->count; i++)
        if (answers->of[i].path == NULL && !made->results[i].optional) {
            text_add(&reason, "%s%s.npy", checked->verdict == CASE_MISSING ? ", " : "no ", made->results[i].name);
            checked->verdict = CASE_MISSING;
        }
    for (size_t i = 0; i < made->count; i++)
        if (answers->of[i].path != NULL && answers->of[i].older) {
            text_add(&reason, "%s%s is older than its case", checked->verdict == CASE_MISSING ? ", " : "",
                     answers->of[i].name);
            checked->verdict = CASE_MISSING;
        }
}

static enum status check_case(struct case_checked *checked, const struct cases_report *report, struct arena *lasting,
                              struct error *error)
{
    struct arena arena = {0};
    struct case_made *made = arena_allocate(&arena, 1, sizeof *made, error);
    struct answers *answers = arena_allocate(&arena, 1, sizeof *answers, error);
    struct case_file files[CASES_MOST_FILES];
    size_t count = 0;
    enum status status = made == NULL || answers == NULL ? STATUS_SYSTEM : STATUS_OK;
    if (status == STATUS_OK)
        status = case_make(made, checked->row, &report->options, &arena, error);
    if (status == STATUS_OK)
        status = case_files(made, &report->options, files, &count, &arena, error);
    if (status == STATUS_OK)
        status = answers_read(answers, made, report->folder, &arena, error);
    if (status == STATUS_SYSTEM && !error->memory && made != NULL && answers != NULL && answers->names == NULL) {
        fail(checked, NULL, error->message);
        *error = (struct error){0};
        arena_free(&arena);
        return STATUS_OK;
    }
    for (size_t i = 0; status == STATUS_OK && i < answers->name_count; i++)
        if (!answers->taken[i] && !is_named(answers->names[i], files, count))
            note(checked, arena_copy(lasting, answers->names[i], error));
    if (status == STATUS_OK)
        status = note_unread(checked, answers, made, lasting, error);
    if (status == STATUS_OK) {
        check_missing(checked, made, answers);
        status = check_answers(checked, made, answers, &arena, error);
    }
    if (status == STATUS_OK)
        status = check_own(checked, answers, files, count, &arena, error);
    if (checked->result != NULL)
        checked->result = lasting_name(checked->result);
    arena_free(&arena);
    return status;
}

/* Notes what else is in the folder. */
static enum status note_others(struct cases_report *report, struct arena *arena, struct error *error)
{
    const char **names;
    size_t count;
    if (folder_list(report->folder, &names, &count, arena, error) != STATUS_OK)
        return error->status;
    report->notes = names;
    for (size_t i = 0; i < count; i++) {
        bool known = strcmp(names[i], CASES_INDEX) == 0;
        for (size_t k = 0; k < report->count; k++)
            known = known || strcmp(names[i], report->checked[k].row->name) == 0;
        if (!known)
            report->notes[report->note_count++] = names[i];
    }
    return STATUS_OK;
}

enum status cases_check(struct cases_report *report, const char *folder, struct arena *arena, struct error *error)
{
    struct case_sizes sizes;
    if (folder[0] == '\0')
        return error_usage(error, "'' is not a folder; expected one that attn cases wrote");
    /* After "./" no name is an option, here and in the commands that are run and shown. */
    *report = (struct cases_report){.folder = folder[0] == '-' ? folder_path(".", folder, arena, error) : folder};
    if (report->folder == NULL || read_index(report, arena, error) != STATUS_OK)
        return error->status;
    report->checked = arena_allocate(arena, report->list.count, sizeof report->checked[0], error);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
    report->absent = arena_allocate(arena, report->list.count, sizeof report->absent[0], error);
    if (report->checked == NULL || report->absent == NULL)
        return error->status;
    for (size_t i = 0; i < report->list.count; i++) {
        const struct case_row *row = &report->list.rows[i];
        struct case_checked *checked = &report->checked[report->count];
        if (!case_sizes_of(row, &report->options, &sizes))
            continue;
        const char *path = folder_path(report->folder, row->name, arena, error);
        if (path == NULL)
            return error->status;
        if (access(path, F_OK) != 0 && errno == ENOENT) {
            report->absent[report->absent_count++] = row->name;
            continue;
        }
        *checked = (struct case_checked){.row = row, .written = (double)NAN};
        if (check_case(checked, report, arena, error) != STATUS_OK)
            return error->status;
        report->of[checked->verdict]++;
        report->count++;
    }
    if (report->count == 0)
        return error_usage(error, "%s: has none of the cases in its index; write the folder again with attn cases DIR",
                           folder);
    return cases_find_earlier(report, arena, error) || note_others(report, arena, error) ? error->status : STATUS_OK;
}

static enum status compare_folder(const char *folder, const struct stat *its, bool *same, struct error *error)
{
    struct stat there;
    *same = stat(folder, &there) == 0;
    if (!*same && errno != ENOENT && errno != ENOTDIR)
        return error_system(error, errno, "%s", folder);
    *same = *same && its->st_dev == there.st_dev && its->st_ino == there.st_ino;
    return STATUS_OK;
}

enum status cases_check_out(const struct cases_report *report, const char *path, struct arena *arena,
                            struct error *error)
{
    const char *index = folder_path(report->folder, CASES_INDEX, arena, error);
    char *target = path != NULL ? realpath(path, NULL) : NULL, *slash = target != NULL ? strrchr(target, '/') : NULL;
    bool replaced = false;
    struct stat its;
    if (index != NULL)
        output_replaces(path, index, &replaced, error);
    if (slash != NULL)
        slash[slash == target ? 1 : 0] = '\0';
    if (slash != NULL && stat(target, &its) != 0)
        error_system(error, errno, "%s", target);
    for (size_t i = 0; slash != NULL && i < report->count && !replaced && error->status == STATUS_OK; i++) {
        const char *folder = folder_path(report->folder, report->checked[i].row->name, arena, error);
        if (folder != NULL)
            compare_folder(folder, &its, &replaced, error);
    }
    free(target);
    return replaced ? error_usage(error, "--out would replace %.200s, which --check reads; expected another file", path)
                    : error->status;
}
