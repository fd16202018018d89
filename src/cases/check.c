/* SPDX-License-Identifier: MIT */
#include "cases/cases.h"

#include "base/output.h"
#include "cases/verdict.h"
#include "cli/option_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        checked->unread[checked->unread_count++] = (struct case_unread){file, name, unread->expected};
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

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static void compare(struct case_checked *checked, const double *theirs, const struct case_result *result, size_t which)
{
    const double *right = result->truth.data;
    const struct case_difference found = case_differ(result, theirs);
    struct case_told *told = &checked->told[checked->told_count];
    const bool by_row = found.outside == 0 && found.rows_outside > 0;
    const size_t at = by_row ? found.row * result->columns : found.at;
    *told = (struct case_told){.result = result->name,
                               .stage = result->table.stage,
                               .which = which,
                               .is_wrong = found.outside + found.rows_outside > 0,
                               .share = fmax(found.share, found.share_of_row),
                               .largest = fabs(right[found.at] - theirs[found.at]),
                               .allowed = result->absolute + result->relative * fabs(right[found.at]),
                               .rms = found.rms,
                               .rms_allowed = result->rms[found.row],
                               .outside = found.outside,
                               .of = result->rows * result->columns,
                               .rows_outside = found.rows_outside,
                               .rows = result->rows,
                               .theirs = theirs[found.at],
                               .right = right[found.at]};
    case_place(result, at, result->truth.rank - (by_row && result->columns > 1), told->place);
    if (told->is_wrong)
        checked->verdict = CASE_FAILED;
    if (told->share > checked->told[checked->worst].share)
        checked->worst = checked->told_count;
    checked->told_count++;
}

bool case_has_finite(const struct tensor *tensor)
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
static enum status check_answer(struct case_checked *checked, const struct answer *answer,
                                const struct case_result *result, size_t which, struct arena *arena,
                                struct error *error)
{
    const struct tensor *theirs = &answer->tensor;
    const enum dtype dtype = result->dtype;
    const double *numbers = case_numbers(theirs, result, arena, error);
    char words[CASE_WORDS_BYTES], right[TENSOR_SHAPE_BYTES], wrong[TENSOR_SHAPE_BYTES];
    if (answer->again != NULL) {
        snprintf(words, sizeof words, "differs from %.80s: not deterministic", answer->name);
        fail(checked, answer->again, words);
        checked->varies = true;
    }
    if (!answer->is_text && theirs->dtype != dtype && theirs->dtype != case_npy_dtype(dtype)) {
        snprintf(words, sizeof words, "has numbers of %s, expected %s", dtype_name(theirs->dtype), dtype_name(dtype));
        fail(checked, answer->name, words);
    } else if (numbers == NULL && error->status == STATUS_OK) {
        snprintf(words, sizeof words, "is %s, expected %s", tensor_shape_text(theirs, wrong),
                 tensor_shape_text(&result->truth, right));
        fail(checked, answer->name, words);
    } else if (numbers != NULL) {
        compare(checked, numbers, result, which);
    }
    return error->status;
}

/* Leaves those of report->precisions in which all results but a few would be nearly right, and counts where errors are
 * typical of it: no larger, and about as large in each row. */
static enum status find_precisions(struct cases_report *report, const struct case_checked *checked,
                                   const struct case_made *made, const struct answers *answers, struct arena *arena,
                                   struct error *error)
{
    enum { MOST_MISSED = 4 };
    static const double MOST = 4; /* times the bound, and times the typical row */
    struct case_made coarse = *made;
    for (unsigned i = 0; i < CASE_PRECISION_COUNT; i++) {
        if ((report->precisions >> i & 1) == 0)
            continue;
        bool right = true, even = true;
        if (case_bound(&coarse, CASE_PRECISIONS[i].dtype, CASE_PRECISIONS[i].sums, arena, error) != STATUS_OK)
            return error->status;
        for (size_t k = 0; k < checked->told_count && right; k++) {
            const size_t which = checked->told[k].which;
            if (!checked->told[k].is_wrong)
                continue;
            const double *theirs = case_numbers(&answers->of[which].tensor, &made->results[which], arena, error);
            const struct case_difference found = theirs != NULL ? case_differ(&coarse.results[which], theirs)
                                                                : (struct case_difference){.share = 2 * MOST};
            right = found.share <= MOST && found.share_of_row <= MOST;
            even = even && found.typical <= CASE_PRECISIONS[i].most &&
                   (coarse.results[which].columns == 1 || found.share_of_row <= MOST * found.typical);
        }
        report->missed[i] += !right;
        if (report->missed[i] > MOST_MISSED)
            report->precisions &= ~(1U << i);
        report->even[i] += right && even;
    }
    return error->status;
}

/* --- a case ------------------------------------------------------------------------------------------------------- */

static enum status check_answers(struct cases_report *report, struct case_checked *checked,
                                 const struct case_made *made, const struct answers *answers, struct arena *arena,
                                 struct error *error)
{
    for (size_t i = 0; i < made->count; i++) {
        const struct answer *answer = &answers->of[i];
        if (answer->path == NULL || answer->older)
            continue;
        checked->written = fmin(checked->written, answer->written);
        if (answer->refused != NULL)
            fail(checked, NULL, answer->refused);
        else if (check_answer(checked, answer, &made->results[i], i, arena, error) != STATUS_OK)
            return error->status;
    }
    const struct case_told *worst = &checked->told[checked->worst];
    if (checked->told_count == 0 || !worst->is_wrong)
        return STATUS_OK;
    const struct answer *answer = &answers->of[worst->which];
    const char *blank = tensor_blank(&answer->tensor);
    checked->is_poisoned = is_poisoned(&made->files.files[0]) && !case_has_finite(&answer->tensor);
    if (checked->is_poisoned) /* any guess would fit */
        snprintf(checked->sentence, sizeof checked->sentence, "%s",
                 "NaN fills the entries that must not be read; 0 times NaN is NaN, so skip them");
    else if (blank != NULL)
        snprintf(checked->sentence, sizeof checked->sentence, "every number is %s: did the kernel write its result?",
                 blank);
    char *words[CASES_WORDS];
    int count;
    struct text line = text_begin(checked->command, sizeof checked->command);
    if (!checked->is_poisoned &&
        case_question(answers, answer, case_has(made->row, CASE_GRAD), words, &count, &line, arena, error) != STATUS_OK)
        return error->status;
    if (line.cut)
        checked->command[0] = '\0';
    return find_precisions(report, checked, made, answers, arena, error);
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

static enum status check_case(struct cases_report *report, struct case_checked *checked, struct arena *lasting,
                              struct error *error)
{
    struct remade remade;
    struct case_file files[CASES_MOST_FILES];
    size_t count = 0;
    enum status status = case_remake(&remade, report, checked->row, error);
    const struct case_made *made = remade.made;
    struct answers *answers = remade.answers;
    struct arena *arena = &remade.arena;
    if (status == STATUS_SYSTEM && !error->memory && answers->folder != NULL && answers->names == NULL) {
        fail(checked, NULL, error->message);
        *error = (struct error){0};
        arena_free(arena);
        return STATUS_OK;
    }
    if (status == STATUS_OK)
        status = case_files(made, &report->options, files, &count, arena, error);
    for (size_t i = 0; status == STATUS_OK && i < answers->name_count; i++) {
        bool known = answers->taken[i];
        for (size_t k = 0; k < count; k++)
            known = known || strcmp(files[k].name, answers->names[i]) == 0;
        if (!known)
            note(checked, arena_copy(lasting, answers->names[i], error));
    }
    if (status == STATUS_OK)
        status = note_unread(checked, answers, made, lasting, error);
    if (status == STATUS_OK) {
        check_missing(checked, made, answers);
        checked->sizes = made->sizes;
        checked->has_empty_rows = made->has_empty_rows;
        memcpy(checked->spans, made->spans, sizeof checked->spans);
        checked->span_count = made->span_count;
        status = check_answers(report, checked, made, answers, arena, error);
    }
    if (status == STATUS_OK)
        status = check_own(checked, answers, files, count, arena, error);
    arena_free(arena);
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

/* --- earlier runs ------------------------------------------------------------------------------------------------- */

/* In seconds: nobody fixes a kernel and runs it again in less. */
static const double SHORTEST_PAUSE = 5;

static int by_time(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* When the latest run began: after a pause between results that is longer than all other pauses together. Minus
 * infinity where there is no such pause: all results are of one run. Sorts `times`. */
static double find_begin(double *times, size_t count)
{
    double pause = 0, begin = -INFINITY;
    qsort(times, count, sizeof *times, by_time);
    for (size_t i = 1; i < count; i++)
        if (times[i] - times[i - 1] > pause) {
            pause = times[i] - times[i - 1];
            begin = times[i];
        }
    return pause >= SHORTEST_PAUSE && pause > times[count - 1] - times[0] - pause ? begin : -INFINITY;
}

/* Sets report->earlier. */
static enum status find_earlier(struct cases_report *report, struct arena *arena, struct error *error)
{
    double *times = arena_allocate(arena, report->count, sizeof *times, error);
    size_t count = 0;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
    report->earlier = arena_allocate(arena, report->count, sizeof report->earlier[0], error);
    if (times == NULL || report->earlier == NULL)
        return error->status;
    for (size_t i = 0; i < report->count; i++)
        if (!isnan(report->checked[i].written))
            times[count++] = report->checked[i].written;
    const double begin = count > 0 ? find_begin(times, count) : -INFINITY;
    for (size_t i = 0; i < report->count; i++)
        if (report->checked[i].written < begin)
            report->earlier[report->earlier_count++] = report->checked[i].row->name;
    return STATUS_OK;
}

/* --- all cases ---------------------------------------------------------------------------------------------------- */

enum status cases_open(struct cases_report *report, const struct options *options, struct arena *arena,
                       struct error *error)
{
    const char *folder = options->files[0];
    if (folder[0] == '\0')
        return error_usage(error, "'' is not a folder; expected one that attn cases wrote");
    /* After "./" no name is an option, here and in the commands that are run and shown. */
    *report = (struct cases_report){
        .folder = folder[0] == '-' ? folder_path(".", folder, arena, error) : folder, .arena = arena, .room = 0x1p28};
    if (report->folder == NULL || read_index(report, arena, error) != STATUS_OK)
        return error->status;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
    report->made = arena_allocate(arena, report->list.count, sizeof report->made[0], error);
    for (size_t i = 0; i < report->list.count && report->made != NULL; i++)
        report->made[i] = NULL;
    return error->status;
}

enum status cases_check(struct cases_report *report, const struct options *options, struct arena *arena,
                        struct error *error)
{
    struct case_sizes sizes;
    const struct cases_report opened = *report;
    *report = (struct cases_report){.options = opened.options,
                                    .list = opened.list,
                                    .folder = opened.folder,
                                    .arena = opened.arena,
                                    .made = opened.made,
                                    .room = opened.room};
    report->checked = arena_allocate(arena, report->list.count, sizeof report->checked[0], error);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
    report->absent = arena_allocate(arena, report->list.count, sizeof report->absent[0], error);
    if (report->checked == NULL || report->absent == NULL)
        return error->status;
    for (unsigned i = 0; i < CASE_PRECISION_COUNT; i++)
        if (dtype_precision(CASE_PRECISIONS[i].sums) < dtype_precision(case_sums(report->options.dtype)) ||
            dtype_precision(CASE_PRECISIONS[i].dtype) < dtype_precision(report->options.dtype))
            report->precisions |= 1U << i;
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
        if (check_case(report, checked, arena, error) != STATUS_OK)
            return error->status;
        if (checked->verdict == CASE_FAILED && !checked->told[checked->worst].is_wrong) /* not by its numbers */
            report->precisions = 0;
        report->of[checked->verdict]++;
        report->count++;
    }
    if (report->count == 0)
        return error_usage(error, "%s: has none of the cases in its index; write the folder again with attn cases DIR",
                           options->files[0]);
    return find_earlier(report, arena, error) || note_others(report, arena, error)
               ? error->status
               : cases_find_verdict(report, options, arena, error);
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
