/* SPDX-License-Identifier: MIT */
/* The gradients of attention modules of checkpoints, every case of tests/layers, against differences of the reference
 * in float64: numbers of the hidden states and of all parameters are moved, and the loss with them: one of
 * each tensor, twenty with ATTN_ALL. With ATTN_QUICK every third module. */
#include "build/problem_create.h"
#include "check.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 2048, NAME_BYTES = 96, ROOM = 1 << 15, CASES = 145 };

static const char FOLDER[] = "tests/layers";
static const double NEAR = 1e-7;  /* of the largest number of a table, */
static const double SMALL = 1e-4; /* or of this share of the largest number of all */

static char grad_path[500];

struct layer_case {
    char name[NAME_BYTES], module[NAME_BYTES], kind[8], line[LINE_BYTES / 2];
    int layer;
    struct made forward, backward;
    double above[ROOM]; /* what comes from above, as the file has it */
    double scale;       /* the largest number of all gradients */
};

/* --- what is run ------------------------------------------------------------------------------------------------- */

static bool is_there(const struct layer_case *tried, const char *input)
{
    char path[LINE_BYTES];
    snprintf(path, sizeof path, "%s/%s/%s.npy", FOLDER, tried->name, input);
    return access(path, R_OK) == 0;
}

static void write_line(struct layer_case *tried)
{
    const bool residual = is_there(tried, "residual");
    struct text text = text_begin(tried->line, sizeof tried->line);
    text_add(&text, "layer %s/%s/%s.npy --weights=%s/%s --layer=%d --module=%s --dtype=f64%s", FOLDER, tried->name,
             residual ? "residual" : "hidden", FOLDER, tried->name, tried->layer, tried->module,
             residual ? " --residual" : "");
    if (strcmp(tried->kind, "cross") == 0)
        text_add(&text, " --key-inputs=%s/%s/encoder.npy", FOLDER, tried->name);
    char path[LINE_BYTES];
    snprintf(path, sizeof path, "%s/%s/case.json", FOLDER, tried->name);
    cJSON *all = support_json(path);
    const cJSON *positions = cJSON_GetObjectItemCaseSensitive(all, "positions");
    if (positions != NULL)
        text_add(&text, " --positions=%s", positions->valuestring);
    cJSON_Delete(all);
}

/* Numbers of the output's shape, without a pattern of its own, into a file and into `above`. */
static void write_above(struct layer_case *tried)
{
    const struct result_table *output = support_table(&tried->forward, "output");
    const size_t columns = result_columns(output), rows = result_rows(output), matrices = result_matrices(output);
    FILE *file = fopen(grad_path, "w");
    if (file == NULL || matrices * rows * columns > ROOM)
        abort();
    fprintf(file, "{\"grad_output\": %s", output->rank > 2 ? "[" : "");
    for (size_t i = 0; i < matrices * rows * columns; i++) {
        tried->above[i] = ((double)(i * 7 % 31) - 15) / 8;
        fprintf(file, "%s%g%s",
                i % (rows * columns) == 0 ? (i > 0 ? ", [[" : "[[")
                : i % columns == 0        ? ", ["
                                          : ", ",
                tried->above[i],
                (i + 1) % (rows * columns) == 0 ? "]]"
                : (i + 1) % columns == 0        ? "]"
                                                : "");
    }
    fprintf(file, "%s}", output->rank > 2 ? "]" : "");
    fclose(file);
}

/* The reference on what its files hold now. */
static double loss(void *context)
{
    static double numbers[ROOM];
    struct layer_case *tried = context;
    struct made *forward = &tried->forward;
    struct made again = {.options = forward->options};
    double sum = NAN;
    if (CHECK(problem_create(&again.problem, &again.options, &forward->files, &again.arena, &again.error) ==
                      STATUS_OK &&
                  result_create(&again.result, &again.problem, &again.progress, false, &again.arena, &again.error) ==
                      STATUS_OK,
              "expected a result, got: %s", again.error.message)) {
        const size_t count = support_table_numbers(&again, support_table(&again, "output"), numbers, ROOM);
        sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += numbers[i] * tried->above[i];
    }
    arena_free(&again.arena);
    return sum;
}

static bool begin(struct layer_case *tried)
{
    char line[LINE_BYTES];
    write_line(tried);
    snprintf(line, sizeof line, "%s --stages=output", tried->line);
    if (!CHECK(support_run(&tried->forward, line) == STATUS_OK, "expected a result, got: %s",
               tried->forward.error.message))
        return false;
    write_above(tried);
    const bool sinks = input_file_find(&tried->forward.files.opened.weights, "sinks") != NULL;
    snprintf(line, sizeof line, "%s --grad=%s --stages=grad_inputs,%s%sgrad_parameters", tried->line, grad_path,
             strcmp(tried->kind, "cross") == 0 ? "grad_key_inputs," : "", sinks ? "grad_sinks," : "");
    return CHECK(support_run(&tried->backward, line) == STATUS_OK, "expected a result, got: %s",
                 tried->backward.error.message);
}

/* --- what is compared -------------------------------------------------------------------------------------------- */

static size_t load(struct layer_case *tried, const struct result_table *table, double *numbers, double *largest)
{
    const size_t count = support_table_numbers(&tried->backward, table, numbers, ROOM);
    *largest = 0;
    for (size_t i = 0; i < count && i < ROOM; i++)
        *largest = fmax(*largest, fabs(numbers[i]));
    return CHECK(count > 0 && count <= ROOM, "%s: expected up to %d numbers, got %zu", table->name, (int)ROOM, count)
               ? count
               : 0;
}

static void find_scale(struct layer_case *tried)
{
    static double numbers[ROOM];
    const struct result *result = &tried->backward.result;
    double largest;
    tried->scale = 0;
    for (size_t i = 0; i < result->table_count; i++)
        if (load(tried, &result->tables[i], numbers, &largest) > 0)
            tried->scale = fmax(tried->scale, largest);
}

/* Some numbers of a tensor, which is made one of doubles to move them. */
static void check_tensor(struct layer_case *tried, const char *name, struct tensor *tensor, size_t tries)
{
    static double numbers[ROOM];
    char gradient[NAME_BYTES];
    double largest;
    struct error error;
    snprintf(gradient, sizeof gradient, "grad_%s", name);
    const struct result_table *table = support_table(&tried->backward, gradient);
    const struct tensor given = *tensor;
    if (!CHECK(table != NULL, "expected a table '%s', got none", gradient) ||
        tensor_create(tensor, DTYPE_F64, given.rank, given.shape, &tried->forward.arena, &error) != STATUS_OK)
        return;
    const size_t count = load(tried, table, numbers, &largest);
    tensor_load(&given, 0, tensor_count(&given), tensor->data);
    CHECK(count == tensor_count(&given), "%s: expected %zu numbers, got %zu", gradient, tensor_count(&given), count);
    for (size_t i = 0; i < tries && i < count; i++) {
        const size_t at = (i * 7919 + strlen(tried->name) * 31) % count;
        const double expected = support_slope(loss, tried, (double *)tensor->data + at);
        CHECK(fabs(numbers[at] - expected) <= NEAR * fmax(largest, SMALL * tried->scale),
              "%s[%zu]: expected %.12g by differences, got %.12g (the largest is %.3g)", gradient, at, expected,
              numbers[at], largest);
    }
}

static void check_file(struct layer_case *tried, struct input_file *file, const char *instead, size_t tries)
{
    for (size_t i = 0; i < file->tensor_count; i++)
        if (strncmp(file->tensors[i].name, "index_", 6) != 0) /* an indexer's choice of keys has no gradient */
            check_tensor(tried, instead != NULL ? instead : file->tensors[i].name, &file->tensors[i].tensor, tries);
}

static void check_case(struct layer_case *tried, size_t tries)
{
    check_begin("%s by differences", tried->name);
    if (begin(tried)) {
        struct job_files *files = &tried->forward.files;
        find_scale(tried);
        check_file(tried, &files->files[0], "inputs", tries);
        check_file(tried, &files->opened.weights, NULL, tries);
        for (size_t i = 1; i < 3; i++)
            if (files->keys == &files->files[i])
                check_file(tried, &files->files[i], "key_inputs", tries);
    }
    arena_free(&tried->forward.arena);
    arena_free(&tried->backward.arena);
}

int main(void)
{
    static struct layer_case tried;
    char text[LINE_BYTES];
    size_t cases = 0;
    const size_t tries = getenv("ATTN_ALL") != NULL ? 20 : 1;
    const bool quick = getenv("ATTN_QUICK") != NULL;
    if (quick)
        puts("ATTN_QUICK: every third module");
    FILE *list = fopen("tests/layers/cases.txt", "r");
    const char *temporary = getenv("TMPDIR");
    snprintf(grad_path, sizeof grad_path, "%s/attn-grad-XXXXXX", temporary != NULL ? temporary : "/tmp");
    const int place = mkstemp(grad_path);
    check_begin("tests/layers/cases.txt can be read");
    if (!CHECK(list != NULL && place >= 0, "expected a file"))
        return check_end();
    for (; fgets(text, sizeof text, list) != NULL; cases++)
        if (CHECK(sscanf(text, "%95s %d %95s %7s", tried.name, &tried.layer, tried.module, tried.kind) == 4,
                  "expected a name, a layer, a module and a kind, got: %s", text) &&
            (!quick || cases % 3 == 0))
            check_case(&tried, tries);
    fclose(list);
    close(place);
    unlink(grad_path);
    check_begin("all cases were tried");
    CHECK(cases == CASES, "expected %d cases, got %zu", CASES, cases);
    return check_end();
}
