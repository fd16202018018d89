/* SPDX-License-Identifier: MIT */
/* Every case of tests/grad: its gradients by attn, in float64 and in float32, by the reference and by the fused path,
 * against those of torch.autograd; and differences of the reference itself: numbers of all that is given are moved, and
 * the loss with them. With ATTN_QUICK each case in one of the four ways, and one in eight by differences.
 * tests/grad/README.md says what the files are. */
#include "check.h"
#include "model/stage_id.h"
#include "read/checkpoint.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CASES = 463,
    GRADIENTS = 6699,
    NOT_FUSED = 186,
    ROOM = 1 << 12,
    NAME_BYTES = 64,
    LINE_BYTES = 2048,
    PATH_BYTES = 500
};

static const char CASES_PATH[] = "tests/grad/cases.jsonl", GRADIENTS_PATH[] = "tests/grad/gradients.safetensors";

/* Of the largest number of a table. */
static const double NEAR_DIFFERENCES = 1e-7;

/* What differences leave of a table that is small beside the largest number of all. */
static const double SMALL = 1e-4;

static struct checkpoint frozen;

struct grad_case {
    size_t number;     /* from 1 */
    cJSON *tree;       /* line, input, grad */
    const char *last;  /* the stage that the loss is taken of */
    double scale;      /* the largest number of all its gradients */
    size_t first, end; /* its names in `frozen`; none where it is for differences alone */
};

static char folder[PATH_BYTES], input_path[PATH_BYTES + 16], grad_path[PATH_BYTES + 16];

/* Whether it has gradients of autograd. */
static bool has_frozen(const struct grad_case *of)
{
    return of->first < of->end;
}

static const cJSON *field(const struct grad_case *of, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(of->tree, name);
}

static void write_json(const char *path, const cJSON *item)
{
    FILE *file = fopen(path, "w");
    cJSON_InitHooks(NULL);
    char *text = cJSON_PrintUnformatted(item);
    if (file == NULL || text == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    free(text);
}

/* --- tables ------------------------------------------------------------------------------------------------------ */

static double largest_of(const double *numbers, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(numbers[i]));
    return largest;
}

/* The same but for axes of one: a batch of one, one head. */
static bool same_shape(const struct result_table *table, const struct tensor *expected)
{
    size_t a = 0, b = 0;
    while (a < table->rank || b < expected->rank)
        if (a < table->rank && table->shape[a] == 1)
            a++;
        else if (b < expected->rank && expected->shape[b] == 1)
            b++;
        else if (a == table->rank || b == expected->rank || table->shape[a++] != expected->shape[b++])
            return false;
    return true;
}

/* The table of that name, all of it; 0 where there is none, or another shape than expected (NULL: any). */
static size_t load(struct made *made, const char *name, const struct tensor *expected, double *numbers)
{
    char text[TENSOR_SHAPE_BYTES];
    const struct result_table *table = support_table(made, name);
    if (!CHECK(table != NULL, "expected a table '%s', got none", name) ||
        (expected != NULL && !CHECK(same_shape(table, expected), "%s: expected %s, got another shape", name,
                                    tensor_shape_text(expected, text))))
        return 0;
    const size_t count = support_table_numbers(made, table, numbers, ROOM);
    return CHECK(count > 0 && count <= ROOM, "%s: expected up to %d numbers, got %zu", name, (int)ROOM, count) ? count
                                                                                                               : 0;
}

/* --- against autograd -------------------------------------------------------------------------------------------- */

static bool is_parameter(const char *gradient)
{
    return strchr(gradient, '.') != NULL || strncmp(gradient, "grad_W_", 7) == 0;
}

/* The name of a gradient in the result: behind the number. */
static const char *gradient_name(size_t at)
{
    return strchr(frozen.names[at].text, ' ') + 1;
}

/* How a case is computed, and how near it comes: of the largest number of a table, and of all tables of the case. */
struct way {
    const char *dtype, *kernel;
    double near, near_all;
};

/* The fused path rounds as test_fused_backward.c says, and sums of parameters may cancel. */
static const struct way WAYS[] = {{"f64", "auto", 1e-12, 1e-15},
                                  {"f32", "auto", 1e-6, 1e-15},
                                  {"f64", "fused", 1e-12, 1e-14},
                                  {"f32", "fused", 0, 4e-6}};

static bool is_fused(const struct way *way)
{
    return strcmp(way->kernel, "fused") == 0;
}

/* What the fused path never forms, nor sums over it. */
static bool is_left_out(const char *gradient, const struct way *way)
{
    const enum stage stage = stage_find(gradient, strlen(gradient));
    return is_fused(way) && stage_exists(stage) &&
           (stage_is_square(stage) || stage == STAGE_GRAD_ATTN_MASK || stage == STAGE_GRAD_ALIBI_SLOPES);
}

/* What is compared; where autograd has nothing, what is given. */
static void add_stages(const struct grad_case *of, const struct way *way, struct text *line)
{
    static const char *const GIVEN[] = {"inputs", "key_inputs", "sinks", "alibi_slopes", "attn_mask"};
    const cJSON *input = field(of, "input");
    text_add(line, " --stages=%s", cJSON_HasObjectItem(input, "inputs") ? "grad_parameters," : "");
    for (size_t i = 0; i < sizeof GIVEN / sizeof GIVEN[0] && !has_frozen(of); i++)
        if (cJSON_HasObjectItem(input, GIVEN[i]))
            text_add(line, "grad_%s,", GIVEN[i]);
    for (size_t at = of->first; at < of->end; at++)
        if (!is_parameter(gradient_name(at)) && !is_left_out(gradient_name(at), way))
            text_add(line, "%s,", gradient_name(at));
    line->bytes[--line->length] = '\0';
}

/* What is frozen was rotated by float32 angles, as transformers does in any dtype. */
static const char *rotated_as(const struct grad_case *of)
{
    const bool rotates = strstr(field(of, "line")->valuestring, "--rope ") != NULL;
    return has_frozen(of) && rotates ? " --rounding=transformers --family=llama" : "";
}

/* The case with its gradients, by the program's own way. */
static enum status run(const struct grad_case *of, const struct way *way, struct made *made)
{
    char line[LINE_BYTES];
    struct text text = text_begin(line, sizeof line);
    const cJSON *grad = field(of, "grad");
    write_json(input_path, field(of, "input"));
    if (!cJSON_IsString(grad))
        write_json(grad_path, grad);
    text_add(&text, "%s%s %s --grad=%s --dtype=%s --kernel=%s", field(of, "line")->valuestring, rotated_as(of),
             input_path, cJSON_IsString(grad) ? grad->valuestring : grad_path, way->dtype, way->kernel);
    add_stages(of, way, &text);
    return support_run(made, line);
}

static void check_gradient(const struct grad_case *of, size_t at, const struct way *way, struct made *made)
{
    static double wanted[ROOM], got[ROOM];
    struct tensor expected;
    if (!CHECK(checkpoint_take(&frozen, frozen.names[at].text, &expected, &made->error) == STATUS_OK, "%s",
               made->error.message))
        return;
    const size_t count = load(made, gradient_name(at), &expected, got);
    double away = 0;
    tensor_load(&expected, 0, count, wanted);
    for (size_t i = 0; i < count; i++)
        away = isnan(got[i]) ? INFINITY : fmax(away, fabs(got[i] - wanted[i]));
    const double largest = largest_of(wanted, count);
    CHECK(away <= fmax(way->near * largest, way->near_all * of->scale),
          "%s: %.2g away, expected at most %.0g of the largest, %.3g, or %.0g of %.3g", gradient_name(at), away,
          way->near, largest, way->near_all, of->scale);
}

/* Returns false where the fused path says that it does not do this. */
static bool check_autograd(const struct grad_case *of, const struct way *way)
{
    static const char REFUSED[] = "--kernel fused: ";
    struct made made;
    check_begin("case %zu in %s, %s: %s", of->number, way->dtype, way->kernel, field(of, "line")->valuestring);
    const enum status status = run(of, way, &made);
    const bool refused = is_fused(way) && strncmp(made.error.message, REFUSED, sizeof REFUSED - 1) == 0;
    if (!refused && CHECK(status == STATUS_OK, "expected a result, got: %s", made.error.message))
        for (size_t at = of->first; at < of->end; at++)
            if (!is_left_out(gradient_name(at), way))
                check_gradient(of, at, way, &made);
    printf("%s\n", made.error.message);
    arena_free(&made.arena);
    return !refused;
}

/* --- differences of the reference -------------------------------------------------------------------------------- */

/* What is given and moves nothing that has a gradient, and the gradients of what is given by several names. */
static bool has_gradient(const cJSON *given)
{
    return strcmp(given->string, "kv_lengths") != 0 && strcmp(given->string, "settings") != 0;
}

/* The loss: the last stage times what comes from above, summed. NaN, and a failed check, where there is none. */
static double loss(void *context)
{
    const struct grad_case *of = context;
    static double numbers[ROOM], above[ROOM];
    char line[LINE_BYTES];
    struct made made;
    const cJSON *grad = field(of, "grad");
    double sum = NAN;
    cJSON_InitHooks(NULL);
    char *text = cJSON_PrintUnformatted(field(of, "input"));
    snprintf(line, sizeof line, "%s%s --dtype=f64 --stages=%s", field(of, "line")->valuestring, rotated_as(of),
             of->last);
    if (CHECK(support_make(&made, line, text) == STATUS_OK, "expected a result, got: %s", made.error.message)) {
        const size_t count = load(&made, of->last, NULL, numbers);
        const bool ones = cJSON_IsString(grad);
        if (ones || CHECK(support_numbers(grad->child, above, ROOM) == count, "expected %zu numbers in grad", count))
            sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += numbers[i] * (ones ? 1 : above[i]);
    }
    free(text);
    arena_free(&made.arena);
    return sum;
}

/* What a tree has at its ends, in order, behind the `count` that are listed: numbers, booleans and null. */
static size_t list_leaves(cJSON *item, cJSON **leaves, size_t count)
{
    if (!cJSON_IsArray(item)) {
        leaves[count] = item;
        return count + 1;
    }
    for (cJSON *child = item->child; child != NULL && count < ROOM; child = child->next)
        count = list_leaves(child, leaves, count);
    return count;
}

/* Gradients whose numbers, one behind the other, are those of what is given; where it is an operand with a past, the
 * rows of it are some of them. */
struct found {
    double numbers[3 * ROOM];
    size_t count, rows, columns; /* of a matrix of the last one */
};

/* Adds that of autograd, or attn's own where there is none; false where there is neither. */
static bool find(const struct grad_case *of, struct made *made, const char *name, struct found *found)
{
    const struct result_table *table = support_table(made, name);
    struct tensor tensor;
    char frozen_name[NAME_BYTES];
    snprintf(frozen_name, sizeof frozen_name, "%zu %s", of->number, name);
    if (found->count > 2 * ROOM || (has_frozen(of) ? !checkpoint_has(&frozen, frozen_name) : table == NULL))
        return false;
    if (!has_frozen(of)) {
        found->count += load(made, name, NULL, found->numbers + found->count);
        found->rows = result_rows(table);
        found->columns = result_columns(table);
    } else if (checkpoint_take(&frozen, frozen_name, &tensor, &made->error) == STATUS_OK) {
        tensor_load(&tensor, 0, tensor_count(&tensor), found->numbers + found->count);
        found->count += tensor_count(&tensor);
        found->rows = tensor.rank > 1 ? tensor.shape[tensor.rank - 2] : 1;
        found->columns = tensor.shape[tensor.rank - 1];
    }
    return true;
}

/* The gradient of what is given by that name. An operand's is that of what it was before its norm and rotation. */
static bool find_gradient(const struct grad_case *of, struct made *made, const char *given, struct found *found)
{
    const char *const past = "past_", *const name =
                                          strncmp(given, past, strlen(past)) == 0 ? given + strlen(past) : given;
    char text[NAME_BYTES];
    found->count = 0;
    if (strncmp(given, "in_proj_", 8) == 0) {
        const char *const end = strcmp(given, "in_proj_bias") == 0 ? "bias" : "weight";
        for (size_t i = 0; i < 3; i++) {
            snprintf(text, sizeof text, "grad_W_%s.%s", (const char *const[]){"query", "key", "value"}[i], end);
            if (!find(of, made, text, found))
                return false;
        }
        return true;
    }
    snprintf(text, sizeof text, "grad_projected_%s", name);
    if (find(of, made, text, found))
        return true;
    snprintf(text, sizeof text, "grad_%s", name);
    return find(of, made, text, found);
}

static bool is_operand(const char *given)
{
    static const char *const NAMES[] = {"query", "key", "value", "past_key", "past_value"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (strcmp(given, NAMES[i]) == 0)
            return true;
    return false;
}

/* Where number `at` of an operand stands in its table, a matrix a head, the rows of the past first. What is given may
 * have all heads of an item side by side. */
static size_t place_of(const struct grad_case *of, const cJSON *given, size_t at, const struct found *found)
{
    const cJSON *past = cJSON_GetObjectItemCaseSensitive(field(of, "input"), "past_key");
    const bool before = strncmp(given->string, "past_", 5) == 0;
    const cJSON *row = given->child;
    if (!is_operand(given->string))
        return at;
    while (cJSON_IsArray(row->child))
        row = row->child;
    const bool has_past = past != NULL && strcmp(given->string, "query") != 0;
    const size_t first = has_past ? (size_t)cJSON_GetArraySize(past->child->child) : 0;
    const size_t width = (size_t)cJSON_GetArraySize(row), heads = width / found->columns;
    const size_t rows = before ? first : found->rows - first;
    const size_t item = at / (rows * width), i = at / width % rows + (before ? 0 : first);
    const size_t head = at % width / found->columns, column = at % found->columns;
    return ((item * heads + head) * found->rows + i) * found->columns + column;
}

/* Every `stride`-th number of what is given. */
static void check_given(struct grad_case *of, struct made *made, cJSON *given, size_t stride)
{
    static struct found found;
    static cJSON *leaves[ROOM + 1];
    const size_t count = list_leaves(given, leaves, 0);
    if (!cJSON_IsNumber(leaves[0]) && !cJSON_IsNull(leaves[0]))
        return; /* a boolean mask */
    if (!CHECK(find_gradient(of, made, given->string, &found), "expected a gradient of %s, got none", given->string))
        return;
    const double largest = fmax(largest_of(found.numbers, found.count), SMALL * of->scale);
    for (size_t i = of->number * 7 % (stride < count ? stride : count); i < count; i += stride) {
        const size_t at = place_of(of, given, i, &found);
        const double expected = cJSON_IsNull(leaves[i]) ? 0 : support_slope(loss, of, &leaves[i]->valuedouble);
        if (CHECK(at < found.count, "%s[%zu]: expected a gradient, got %zu numbers", given->string, i, found.count))
            CHECK(fabs(found.numbers[at] - expected) <= NEAR_DIFFERENCES * largest,
                  "%s[%zu]: expected %.12g by differences, got %.12g (the largest is %.3g)", given->string, i, expected,
                  found.numbers[at], largest);
    }
}

/* The largest number of all gradients. */
static double largest_of_all(struct made *made)
{
    static double numbers[ROOM];
    double largest = 0;
    for (size_t i = 0; i < made->result.table_count; i++)
        if (strncmp(made->result.tables[i].name, "grad_", 5) == 0)
            largest =
                fmax(largest, largest_of(numbers, support_table_numbers(made, &made->result.tables[i], numbers, ROOM)));
    return largest;
}

static void check_differences(struct grad_case *of, size_t stride)
{
    struct made made = {0};
    cJSON *given;
    check_begin("case %zu by differences: %s", of->number, field(of, "line")->valuestring);
    if (has_frozen(of) ||
        CHECK(run(of, &WAYS[0], &made) == STATUS_OK, "expected a result, got: %s", made.error.message)) {
        of->scale = has_frozen(of) ? of->scale : largest_of_all(&made);
        cJSON_ArrayForEach(given, field(of, "input")) if (has_gradient(given)) check_given(of, &made, given, stride);
    }
    arena_free(&made.arena);
}

/* ----------------------------------------------------------------------------------------------------------------- */

/* Its gradients in the file, and the largest number of them all. */
static void find_frozen(struct grad_case *of)
{
    static double numbers[ROOM];
    struct tensor tensor;
    struct error error;
    char prefix[NAME_BYTES];
    snprintf(prefix, sizeof prefix, "%zu ", of->number);
    for (size_t at = 0; at < frozen.count; at++)
        if (strncmp(frozen.names[at].text, prefix, strlen(prefix)) == 0 &&
            checkpoint_take(&frozen, frozen.names[at].text, &tensor, &error) == STATUS_OK) {
            of->first = of->end == 0 ? at : of->first;
            of->end = at + 1;
            const size_t count = tensor_count(&tensor) < ROOM ? tensor_count(&tensor) : ROOM;
            tensor_load(&tensor, 0, count, numbers);
            of->scale = fmax(of->scale, largest_of(numbers, count));
        }
}

int main(void)
{
    struct arena arena = {0};
    struct error error = {0};
    size_t gradients = 0, number = 0, not_fused = 0;
    const size_t stride = getenv("ATTN_ALL") != NULL ? 1 : ROOM;
    const bool quick = getenv("ATTN_QUICK") != NULL;
    if (quick)
        puts("ATTN_QUICK: each case in one of the four ways, one in eight by differences");
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/attn-grad-XXXXXX", temporary != NULL ? temporary : "/tmp");
    check_begin("%s can be read", GRADIENTS_PATH);
    if (!CHECK(checkpoint_open(GRADIENTS_PATH, &arena, &frozen, &error) == STATUS_OK && mkdtemp(folder) != NULL,
               "expected a file, got: %s", error.message))
        return check_end();
    snprintf(input_path, sizeof input_path, "%s/input.json", folder);
    snprintf(grad_path, sizeof grad_path, "%s/grad.json", folder);
    char *text = support_read(CASES_PATH), *rest = text;
    for (char *line; (line = strtok_r(rest, "\n", &rest)) != NULL;) {
        cJSON_InitHooks(NULL);
        struct grad_case of = {.number = ++number, .tree = cJSON_Parse(line), .last = "context"};
        if (strncmp(field(&of, "line")->valuestring, "multihead", 9) == 0)
            of.last = "output";
        find_frozen(&of);
        gradients += of.end - of.first;
        for (size_t i = 0; i < sizeof WAYS / sizeof WAYS[0] && has_frozen(&of); i++)
            if (!quick || (number + i) % 4 == 0)
                not_fused += !check_autograd(&of, &WAYS[i]);
        if (!quick || number % 8 == 0 || !has_frozen(&of))
            check_differences(&of, stride);
        cJSON_InitHooks(NULL);
        cJSON_Delete(of.tree);
    }
    free(text);
    unlink(input_path);
    unlink(grad_path);
    rmdir(folder);
    check_begin("all cases were tried");
    CHECK(number == CASES && gradients == GRADIENTS, "expected %d cases and %d gradients, got %zu and %zu", CASES,
          GRADIENTS, number, gradients);
    check_begin("cases that are not for the fused path");
    if (quick)
        check_skip("ATTN_QUICK: each is tried in one way");
    else
        CHECK(not_fused == NOT_FUSED, "expected %d, got %zu", NOT_FUSED, not_fused);
    arena_free(&arena);
    return check_end();
}
