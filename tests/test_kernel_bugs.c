/* SPDX-License-Identifier: MIT */
/* attn cases against a kernel with one bug at a time, of which more than half are no mistake of attn's list: each is
 * seen, the verdict names its place or its mistake, and never another mistake. Right kernels of several kinds pass, and
 * use at most 0.55 of what is allowed.
 *
 *     build/test_kernel_bugs              a sample; with ATTN_QUICK a smaller one
 *     ATTN_ALL=1 build/test_kernel_bugs   all bugs, in float32 and bfloat16
 *     build/test_kernel_bugs N [DTYPE]    one bug, with attn's report */
#include "base/folder.h"
#include "cases/cases.h"
#include "cases/kernel.h"
#include "cases/kernel_bugs.h"
#include "check.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 300, WORDS = 16, MOST_CASES = 256, HEADER_BYTES = 128, REPORT_BYTES = 1 << 20 };
enum { BUG_COUNT = sizeof KERNEL_BUGS / sizeof KERNEL_BUGS[0] };

/* A case as the kernel reads it. */
struct vector {
    const char *name;
    struct tiled kernel;
    struct {
        const char *name;
        struct tensor shape;
        enum dtype dtype;
        char header[HEADER_BYTES];
        struct kernel_rows *rows; /* of `kernel`, or */
        float **numbers;          /* its gradient of sinks */
    } results[CASES_MOST_RESULTS];
    size_t result_count;
};

static char folder[] = "/tmp/attn_bugs.XXXXXX";
static struct vector vectors[MOST_CASES];
static size_t vector_count;
static struct arena lasting;
static struct options written, checking;
static struct cases_report opened; /* the folder: its cases are made once */
static bool quick;

/* --- reading a case ----------------------------------------------------------------------------------------------- */

static float *floats_of(const struct tensor *tensor)
{
    const size_t count = tensor_count(tensor);
    double number;
    struct error error = {0};
    float *numbers = arena_allocate(&lasting, count + 1, sizeof *numbers, &error);
    for (size_t i = 0; i < count && numbers != NULL; i++) {
        tensor_load(tensor, i, 1, &number);
        numbers[i] = (float)number;
    }
    return numbers;
}

static int64_t *wholes_of(const struct input_file *file, const char *name, size_t *count)
{
    const struct file_tensor *found = input_file_find(file, name);
    struct error error = {0};
    int64_t *wholes =
        found != NULL ? arena_allocate(&lasting, tensor_count(&found->tensor), sizeof *wholes, &error) : NULL;
    for (size_t i = 0; wholes != NULL && i < tensor_count(&found->tensor); i++) {
        double number;
        tensor_load(&found->tensor, i, 1, &number);
        wholes[i] = (int64_t)number;
    }
    if (found != NULL && count != NULL)
        *count = tensor_count(&found->tensor);
    return wholes;
}

/* The strides of B x H x T x columns, B x T x H x columns or T x H x columns, by the shape. */
static struct kernel_rows lay(float *numbers, const struct tensor *tensor, size_t heads, size_t tokens, bool cached)
{
    const size_t *shape = tensor->shape, rank = tensor->rank, columns = shape[rank - 1];
    struct kernel_rows rows = {.numbers = numbers, .count = tensor_count(tensor)};
    const bool before = !cached && shape[rank - 3] == heads && shape[rank - 2] == tokens;
    rows.row = before ? columns : heads * columns;
    rows.head = before ? tokens * columns : columns;
    rows.item = rank == 4 && !cached ? tokens * heads * columns : 0;
    return rows;
}

static void read_operands(struct tiled *kernel, const struct input_file *file)
{
    const struct file_tensor *query = input_file_find(file, "query"), *key = input_file_find(file, "key");
    const struct file_tensor *value = input_file_find(file, "value");
    const bool cached = key == NULL;
    if (cached) {
        key = input_file_find(file, "key_cache");
        value = input_file_find(file, "value_cache");
        kernel->page = key->tensor.shape[1];
    }
    kernel->query = lay(floats_of(&query->tensor), &query->tensor, kernel->heads, kernel->queries, false);
    kernel->key = lay(floats_of(&key->tensor), &key->tensor, kernel->kv_heads, kernel->keys, cached);
    kernel->value = lay(floats_of(&value->tensor), &value->tensor, kernel->kv_heads, kernel->keys, cached);
}

static void read_mask(struct tiled *kernel, const struct input_file *file)
{
    const struct file_tensor *mask = input_file_find(file, "attn_mask");
    if (mask == NULL)
        return;
    const struct tensor *tensor = &mask->tensor;
    const size_t rank = tensor->rank, *last = tensor->shape + rank - 2, one = last[0] * last[1];
    const size_t heads = rank > 2 ? tensor->shape[rank - 3] : 1, items = rank > 3 ? tensor->shape[0] : 1;
    float *numbers = floats_of(tensor);
    kernel->mask_is_boolean = dtype_is_boolean(tensor->dtype);
    for (size_t i = 0; i < tensor_count(tensor) && kernel->mask_is_boolean; i++)
        numbers[i] = numbers[i] != 0 ? 0 : -INFINITY;
    kernel->mask = numbers;
    kernel->mask_count = tensor_count(tensor);
    kernel->mask_row = last[0] > 1 ? last[1] : 0;
    kernel->mask_head = heads > 1 ? one : 0;
    kernel->mask_item = items > 1 ? heads * one : 0;
}

static void read_slopes(struct tiled *kernel, const struct input_file *file, const struct options *options)
{
    const struct file_tensor *given = input_file_find(file, "alibi_slopes");
    struct error error = {0};
    float *slopes = arena_allocate(&lasting, kernel->heads, sizeof *slopes, &error);
    size_t series = 1;
    while (2 * series <= kernel->heads)
        series *= 2;
    for (size_t head = 0; head < kernel->heads; head++)
        slopes[head] = head < series ? powf(2, -8.0F * (float)(head + 1) / (float)series)
                                     : powf(2, -4.0F * (float)(2 * (head - series) + 1) / (float)series);
    if (given != NULL)
        kernel->slopes = floats_of(&given->tensor);
    else if (options_said(options, OPTION_ALIBI))
        kernel->slopes = slopes;
}

/* What the kernel does not do. */
static bool is_for_kernel(const struct case_row *row, const struct input_file *file)
{
    return !case_has(row, CASE_CHUNK) && !case_has(row, CASE_PREFIX) && !case_has(row, CASE_DOCUMENTS) &&
           !case_has(row, CASE_PAST) && !case_has(row, CASE_MERGE) &&
           (input_file_find(file, "cu_seqlens_q") == NULL || input_file_find(file, "cu_seqlens_k") != NULL);
}

/* Where the numbers of a result go. */
static bool read_result(struct vector *vector, const struct case_result *result, size_t at)
{
    struct tiled *kernel = &vector->kernel;
    const struct {
        const char *name;
        struct kernel_rows *rows;
        size_t heads, tokens;
    } known[] = {{"context", &kernel->context, kernel->heads, kernel->queries},
                 {"lse", &kernel->lse, kernel->heads, kernel->queries},
                 {"grad_query", &kernel->grad_query, kernel->heads, kernel->queries},
                 {"grad_key", &kernel->grad_key, kernel->kv_heads, kernel->keys},
                 {"grad_value", &kernel->grad_value, kernel->kv_heads, kernel->keys}};
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/v/%s/expected_%s.npy", folder, vector->name, result->name);
    FILE *file = fopen(path, "rb");
    const bool read = file != NULL && fread(vector->results[at].header, 1, HEADER_BYTES, file) == HEADER_BYTES;
    if (file != NULL)
        fclose(file);
    struct tensor *shape = &vector->results[at].shape;
    *shape = result->truth;
    vector->results[at].dtype = result->dtype;
    vector->results[at].name = result->name;
    vector->results[at].rows = NULL;
    vector->results[at].numbers = &kernel->grad_sinks;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, result->name) == 0) {
            struct tensor rows = *shape;
            if (strcmp(result->name, "lse") == 0)
                rows.shape[rows.rank++] = 1;
            *known[i].rows = lay(NULL, &rows, known[i].heads, known[i].tokens, false);
            vector->results[at].rows = known[i].rows;
        }
    return read;
}

static void read_vector(const struct case_row *row)
{
    struct vector *vector = &vectors[vector_count];
    struct arena arena = {0};
    struct error error = {0};
    struct case_made *made = arena_allocate(&lasting, 1, sizeof *made, &error);
    struct tiled *kernel = &vector->kernel;
    if (!CHECK(case_make(made, row, &written, &lasting, &error) == STATUS_OK, "%s: %s", row->name, error.message))
        return;
    const struct options *options = &made->truth_options;
    const struct input_file *file = made->files.inputs;
    if (!is_for_kernel(row, file))
        return;
    vector_count++;
    *vector = (struct vector){.name = row->name};
    *kernel =
        (struct tiled){.items = made->sizes.items,
                       .heads = made->sizes.heads,
                       .kv_heads = made->sizes.kv_heads,
                       .queries = made->sizes.queries,
                       .keys = made->sizes.keys,
                       .d = made->sizes.d_head,
                       .d_value = made->sizes.d_value,
                       .causal = options->causal,
                       .bottom_right = options->align == ALIGN_BOTTOM_RIGHT,
                       .top_left = options_said(options, OPTION_ALIGN) && options->align == ALIGN_TOP_LEFT,
                       .left = (long)options->window_left,
                       .right = (long)options->window_right,
                       .scale = (float)(options->scale > 0 ? options->scale : 1 / sqrt((double)made->sizes.d_head)),
                       .softcap = (float)options->softcap};
    read_operands(kernel, file);
    read_mask(kernel, file);
    read_slopes(kernel, file, options);
    kernel->sinks = input_file_find(file, "sinks") != NULL ? floats_of(&input_file_find(file, "sinks")->tensor) : NULL;
    kernel->lengths = wholes_of(file, "kv_lengths", NULL);
    kernel->query_starts = wholes_of(file, "cu_seqlens_q", &kernel->sequences);
    kernel->key_starts = wholes_of(file, "cu_seqlens_k", &kernel->sequences);
    kernel->sequences -= kernel->key_starts != NULL;
    kernel->table = wholes_of(file, "block_table", &kernel->per_item);
    kernel->per_item /= kernel->items;
    if (made->files.grad != NULL) {
        const struct tensor *gradient = &made->files.grad->tensors[0].tensor;
        kernel->gradient = lay(floats_of(gradient), gradient, kernel->heads, kernel->queries, false);
    }
    for (size_t i = 0; i < made->count; i++)
        CHECK(read_result(vector, &made->results[i], vector->result_count++), "%s/%s", row->name,
              made->results[i].name);
    arena_free(&arena);
}

/* --- writing its results ------------------------------------------------------------------------------------------ */

static void write_result(const struct vector *vector, size_t at, const float *numbers)
{
    const struct tensor *shape = &vector->results[at].shape;
    const size_t count = tensor_count(shape);
    const enum dtype own = vector->results[at].dtype, dtype = dtype_npy(own) != NULL ? own : DTYPE_F32;
    char path[PATH_BYTES];
    unsigned char *bytes = malloc(count * sizeof(double));
    double *wide = malloc(count * sizeof *wide);
    for (size_t i = 0; i < count; i++)
        wide[i] = (double)numbers[i];
    dtype_round(own, wide, count);
    dtype_encode(dtype, wide, count, bytes);
    snprintf(path, sizeof path, "%s/v/%s/%s.npy", folder, vector->name, vector->results[at].name);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(vector->results[at].header, 1, HEADER_BYTES, file) == HEADER_BYTES &&
              fwrite(bytes, dtype_size(dtype), count, file) == count && fclose(file) == 0,
          "cannot write %s", path);
    free(bytes);
    free(wide);
}

static void run_vector(struct vector *vector, const struct tiled *style)
{
    struct tiled *kernel = &vector->kernel;
    float *numbers[CASES_MOST_RESULTS];
    kernel->bug = style->bug;
    kernel->tile_keys = style->tile_keys;
    kernel->tile_rows = style->tile_rows;
    kernel->split = style->split;
    kernel->base_2 = style->base_2;
    kernel->rounds_weights = style->rounds_weights;
    kernel->bits = style->bits;
    for (size_t i = 0; i < vector->result_count; i++) {
        const size_t count = tensor_count(&vector->results[i].shape);
        /* what was there before the kernel */
        const float before = kernel->gradient.numbers != NULL ? 0 : style->bug == 0 ? (float)NAN : 0.25F;
        numbers[i] = malloc(count * sizeof *numbers[i] + 1);
        for (size_t k = 0; k < count; k++)
            numbers[i][k] = before;
        if (vector->results[i].rows != NULL) {
            vector->results[i].rows->numbers = numbers[i];
            vector->results[i].rows->count = count;
        } else {
            *vector->results[i].numbers = numbers[i];
        }
    }
    kernel_run(kernel);
    for (size_t i = 0; i < vector->result_count; i++) {
        write_result(vector, i, numbers[i]);
        free(numbers[i]);
    }
}

/* --- folders ------------------------------------------------------------------------------------------------------ */

static void write_folder(const char *dtype, const char *tokens)
{
    static char path[PATH_BYTES];
    char line[PATH_BYTES], *argv[WORDS] = {0};
    struct arena arena = {0};
    struct error error = {0};
    struct output output;
    struct case_sizes sizes;
    struct case_list list;
    int count = 0;
    snprintf(line, sizeof line, "attn cases --heads 4 --d-head 18 --max-tokens %s --dtype %s", tokens, dtype);
    for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " "))
        argv[count++] = word;
    snprintf(path, sizeof path, "%s/v", folder);
    argv[count++] = path;
    CHECK(options_parse(&written, count, argv, &error) == STATUS_OK, "%s", error.message);
    CHECK(output_open(&output, "/dev/null", &arena, &error) == STATUS_OK, "%s", error.message);
    CHECK(cases_write(&written, &output, &arena, &error) == STATUS_OK, "%s", error.message);
    char *check[] = {"attn", "cases", "--check", path, NULL};
    CHECK(options_parse(&checking, 4, check, &error) == STATUS_OK &&
              cases_open(&opened, &checking, &lasting, &error) == STATUS_OK,
          "%s", error.message);
    vector_count = 0;
    CHECK(case_list_make(&list, &written, &lasting, &error) == STATUS_OK, "%s", error.message);
    for (size_t i = 0; i < list.count && vector_count < MOST_CASES; i++)
        if (case_sizes_of(&list.rows[i], &written, &sizes))
            read_vector(&list.rows[i]);
    arena_free(&arena);
}

static void remove_folder(void)
{
    char command[PATH_BYTES];
    snprintf(command, sizeof command, "rm -rf %s/v", folder);
    CHECK(system(command) == 0, "cannot remove %s/v", folder);
    arena_free(&lasting);
    lasting = (struct arena){0};
}

/* Runs the kernel on all cases; the report as text. */
static size_t run_kernel(const struct tiled *style, char *text, struct cases_report *report, struct arena *arena)
{
    char path[PATH_BYTES];
    struct error error = {0};
    struct output output;
    for (size_t i = 0; i < vector_count; i++)
        run_vector(&vectors[i], style);
    text[0] = '\0';
    *report = opened;
    if (!CHECK(cases_check(report, &checking, arena, &error) == STATUS_OK, "%s", error.message))
        return 0;
    opened.room = report->room;
    snprintf(path, sizeof path, "%s/report", folder);
    CHECK(output_open(&output, path, arena, &error) == STATUS_OK, "%s", error.message);
    cases_report(report, &checking, &output, &error);
    FILE *file = fopen(path, "r");
    const size_t length = file != NULL ? fread(text, 1, REPORT_BYTES - 1, file) : 0;
    text[length] = '\0';
    if (file != NULL)
        fclose(file);
    return report->of[CASE_FAILED];
}

/* --- right kernels ------------------------------------------------------------------------------------------------ */

static const struct tiled RIGHT[] = {
    {.tile_keys = 16, .tile_rows = 16, .split = 64},
    {.tile_keys = 64, .tile_rows = 64, .rounds_weights = true},
    {.tile_keys = 32, .tile_rows = 16, .split = 32, .base_2 = true, .rounds_weights = true},
    {.tile_keys = 1, .tile_rows = 1},
};

static int bits_of(void)
{
    return dtype_precision(written.dtype);
}

static void check_right(const char *dtype)
{
    static char text[REPORT_BYTES];
    for (size_t i = quick ? 2 : 0; i < (quick ? 3 : sizeof RIGHT / sizeof RIGHT[0]); i++) {
        struct tiled style = RIGHT[i];
        struct arena arena = {0};
        struct cases_report report;
        double most = 0;
        const char *where = "", *result = "";
        bool shown = false;
        style.bits = bits_of();
        check_begin("a right kernel in %s: tiles of %zu x %zu%s%s", dtype, style.tile_rows, style.tile_keys,
                    style.split > 0 ? ", split" : "", style.rounds_weights ? ", weights rounded" : "");
        run_kernel(&style, text, &report, &arena);
        for (size_t k = 0; k < report.count; k++) {
            const struct case_checked *checked = &report.checked[k];
            if (checked->verdict == CASE_FAILED)
                shown = CHECK(shown, "%s fails\n%s", checked->row->name, text);
            if (checked->told_count > 0 && checked->told[checked->worst].share > most) {
                most = checked->told[checked->worst].share;
                where = checked->row->name;
                result = checked->told[checked->worst].result;
            }
        }
        printf("%s, kernel %zu: uses %.2f of what is allowed, in %s, %s\n", dtype, i + 1, most, where, result);
        CHECK(most <= 0.55, "uses %.2f of what is allowed, in %s", most, where);
        arena_free(&arena);
    }
}

/* --- wrong ones --------------------------------------------------------------------------------------------------- */

struct counts {
    size_t bugs, seen, placed, false_names;
};

static bool is_listed(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names; at != NULL && *at != '\0'; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, name, strcspn(at, " :")) == 0 && length >= strcspn(at, " :") &&
            (name[strcspn(at, " :")] == '\0' || name[strcspn(at, " :")] == ':'))
            return true;
    return false;
}

/* Whether the verdict has a name that is not right for the bug. */
static bool is_false(const struct cases_report *report, const struct kernel_bug *bug)
{
    char names[CASE_WORDS_BYTES], *rest = NULL;
    snprintf(names, sizeof names, "%s", report->verdict.mistake);
    for (char *name = strtok_r(names, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
        if (!is_listed(bug->mistakes, name))
            return true;
    return false;
}

static bool is_placed(const struct cases_report *report, const struct kernel_bug *bug, const char *text)
{
    regex_t words;
    char names[CASE_WORDS_BYTES], *rest = NULL;
    const char *verdict = strstr(text, "\nVerdict");
    snprintf(names, sizeof names, "%s", report->verdict.mistake);
    for (char *name = strtok_r(names, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
        if (is_listed(bug->mistakes, name))
            return true;
    if (verdict == NULL || bug->words == NULL || regcomp(&words, bug->words, REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0)
        return false;
    char flat[4096] = "";
    size_t length = 0;
    for (const char *at = verdict + 8; *at != '\0' && length + 1 < sizeof flat; at++) /* a wrapped line is indented */
        if (strchr(" \n", *at) == NULL || flat[length - (length > 0)] != ' ')
            flat[length++] = *at == '\n' ? ' ' : *at;
    flat[length] = '\0';
    const bool found = regexec(&words, flat, 0, NULL, 0) == 0;
    regfree(&words);
    return found;
}

static void check_bug(const struct kernel_bug *bug, const char *dtype, struct counts *counts, bool shown)
{
    static char text[REPORT_BYTES];
    struct tiled style = {.bug = bug->bug, .tile_keys = 16, .tile_rows = 16, .bits = bits_of()};
    struct arena arena = {0};
    struct cases_report report;
    style.split = bug->splits ? 64 : 0;
    const bool seen = run_kernel(&style, text, &report, &arena) > 0;
    const bool wrong = is_false(&report, bug), placed = seen && !wrong && is_placed(&report, bug, text);
    counts->bugs++;
    counts->seen += seen;
    counts->placed += placed;
    counts->false_names += wrong;
    const char *verdict = strstr(text, "\nVerdict");
    if (shown)
        fputs(text, stdout);
    if (!placed || wrong)
        printf("%s %d, %s: %s\n%s\n", dtype, bug->bug, bug->what,
               !seen   ? "not seen"
               : wrong ? "FALSELY NAMED"
                       : "seen, but not placed",
               verdict != NULL ? verdict + 1 : "(no verdict)");
    fflush(stdout);
    arena_free(&arena);
}

/* One bug in 16, of which `make check` has a third; all with ATTN_ALL. */
static void check_bugs(const char *dtype)
{
    struct counts counts = {0};
    const bool all = getenv("ATTN_ALL") != NULL;
    check_begin("a kernel with bugs, in %s", dtype);
    for (size_t i = 0; i < BUG_COUNT; i++)
        if (all || i % (quick ? 48 : 16) == (quick ? 24 : 8))
            check_bug(&KERNEL_BUGS[i], dtype, &counts, false);
    printf("%s: %zu bugs, %zu seen, %zu placed or named, %zu falsely named\n", dtype, counts.bugs, counts.seen,
           counts.placed, counts.false_names);
    CHECK(counts.false_names == 0, "%zu have a false name", counts.false_names);
    CHECK(100 * counts.seen >= 98 * counts.bugs, "%zu of %zu are seen", counts.seen, counts.bugs);
    CHECK(100 * counts.placed >= 90 * counts.bugs, "%zu of %zu are placed", counts.placed, counts.bugs);
}

int main(int argc, char **argv)
{
    static const char *const DTYPES[] = {"f32", "bf16", "f16"};
    const bool all = getenv("ATTN_ALL") != NULL;
    quick = !all && getenv("ATTN_QUICK") != NULL;
    if (quick)
        puts("ATTN_QUICK: one right kernel and three bugs, in float32, on at most 65 tokens instead of 129");
    check_begin("a folder");
    CHECK(mkdtemp(folder) != NULL, "cannot make %s", folder);
    if (argc > 1) {
        struct counts counts = {0};
        const char *dtype = argc > 2 ? argv[2] : "f32";
        write_folder(dtype, "129");
        if (strcmp(argv[1], "right") == 0)
            check_right(dtype);
        if (strcmp(argv[1], "all") == 0)
            check_bugs(dtype);
        for (size_t i = 0; i < BUG_COUNT; i++)
            if (KERNEL_BUGS[i].bug == atoi(argv[1]))
                check_bug(&KERNEL_BUGS[i], dtype, &counts, true);
        remove_folder();
    }
    for (size_t i = 0; i < (quick ? 1 : sizeof DTYPES / sizeof DTYPES[0]) && argc == 1; i++) {
        write_folder(DTYPES[i], quick ? "65" : "129");
        check_right(DTYPES[i]);
        if (i == 0 || (all && i == 1))
            check_bugs(DTYPES[i]);
        remove_folder();
    }
    rmdir(folder);
    return check_end();
}
