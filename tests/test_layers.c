/* SPDX-License-Identifier: MIT */
/* Every case of tests/layers: the attention module of a checkpoint, against what transformers makes of it, in float32 from
 * hidden.npy and from residual.npy; the same without its config, by the settings of case.json as options; in bfloat16
 * number for number. And what happens where a feature is taken away: the output moves.
 *
 * A line of cases.txt is "NAME LAYER MODULE KIND", KIND self or cross. */
#include "build/job_files.h"
#include "build/problem_create.h"
#include "check.h"
#include "read/load.h"
#include "support.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 512, NAME_BYTES = 96, WORD_BYTES = 160, MOST_WORDS = 64, CASES = 145, RESIDUALS = 131 };

static const char FOLDER[] = "tests/layers";
static const double NEAR = 1e-5, MOVED = 1e-2; /* of the largest number */

struct layer_case {
    char name[NAME_BYTES], module[NAME_BYTES], kind[8];
    int layer;
};

/* A command line of its own words. */
struct line {
    int count;
    char *words[MOST_WORDS + 1], texts[MOST_WORDS][WORD_BYTES];
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    va_list values;
    if (line->count == MOST_WORDS)
        abort();
    va_start(values, format);
    vsnprintf(line->texts[line->count], WORD_BYTES, format, values);
    va_end(values);
    line->words[line->count] = line->texts[line->count];
    line->words[++line->count] = NULL;
}

/* --- one run ----------------------------------------------------------------------------------------------------- */

/* A case's module on one of its inputs: hidden, hidden-bf16 or residual. */
static void begin(struct line *line, const struct layer_case *tried, const char *input)
{
    line->count = 0;
    add(line, "attn");
    add(line, "layer");
    add(line, "%s/%s/%s.npy", FOLDER, tried->name, input);
    add(line, "--weights=%s/%s", FOLDER, tried->name);
    add(line, "--layer=%d", tried->layer);
    add(line, "--module=%s", tried->module);
    if (strcmp(tried->kind, "cross") == 0)
        add(line, "--key-inputs=%s/%s/encoder.npy", FOLDER, tried->name);
    char path[LINE_BYTES];
    snprintf(path, sizeof path, "%s/%s/case.json", FOLDER, tried->name);
    cJSON *all = support_json(path);
    const cJSON *positions = cJSON_GetObjectItemCaseSensitive(all, "positions");
    if (positions != NULL)
        add(line, "--positions=%s", positions->valuestring);
    cJSON_Delete(all);
}

/* Takes tensors out whose name ends so. */
static void take_out(struct input_file *weights, const char *end)
{
    size_t count = 0;
    for (size_t i = 0; i < weights->tensor_count; i++) {
        const char *name = weights->tensors[i].name;
        if (strlen(name) < strlen(end) || strcmp(name + strlen(name) - strlen(end), end) != 0)
            weights->tensors[count++] = weights->tensors[i];
    }
    CHECK(count < weights->tensor_count, "expected a tensor that ends in '%s'", end);
    weights->tensor_count = count;
}

/* The program's own way, all but main; without the tensors that end in `out`, if that is not NULL. */
static bool run(struct made *made, struct job_files *files, struct line *line, const char *out)
{
    *made = (struct made){0};
    if (options_parse(&made->options, line->count, line->words, &made->error) == STATUS_OK &&
        job_files_read(files, &made->options, &made->arena, &made->error) == STATUS_OK) {
        if (out != NULL)
            take_out(&files->opened.weights, out);
        if (problem_create(&made->problem, &made->options, files, &made->arena, &made->error) == STATUS_OK &&
            result_create(&made->result, &made->problem, &made->progress, false, &made->arena, &made->error) ==
                STATUS_OK)
            return true;
    }
    return CHECK(false, "expected a result, got: %s", made->error.message);
}

static bool expect(const struct layer_case *tried, const char *dtype, struct made *made, struct input_file *expected)
{
    char path[LINE_BYTES];
    snprintf(path, sizeof path, "%s/%s/expected%s.safetensors", FOLDER, tried->name, dtype);
    return CHECK(load_file(path, INPUT_FILE_OF_RESULT, &made->arena, expected, &made->error) == STATUS_OK, "%s",
                 made->error.message) &&
           CHECK(expected->tensor_count >= 6, "%s: expected the stages, got %zu", path, expected->tensor_count);
}

/* --- two tables -------------------------------------------------------------------------------------------------- */

struct distance {
    size_t count, equal;
    double largest, away; /* the largest expected, and the largest difference */
};

/* The same but for axes of one in front: a batch of one. */
static bool same_shape(const struct result_table *table, const struct tensor *expected)
{
    size_t a = 0, b = 0;
    while (a < table->rank && table->shape[a] == 1)
        a++;
    while (b < expected->rank && expected->shape[b] == 1)
        b++;
    char text[TENSOR_SHAPE_BYTES];
    return CHECK(table->rank - a == expected->rank - b &&
                     memcmp(table->shape + a, expected->shape + b, (table->rank - a) * sizeof table->shape[0]) == 0,
                 "%s: expected %s, got another shape", table->name, tensor_shape_text(expected, text));
}

static bool measure(struct made *made, const char *name, const struct tensor *expected, struct distance *distance)
{
    const struct result_table *table = support_table(made, name);
    const size_t count = tensor_count(expected);
    *distance = (struct distance){.count = count};
    if (!CHECK(table != NULL, "expected a table '%s', got none", name) || !same_shape(table, expected))
        return false;
    double *wanted = malloc(count * sizeof *wanted), *got = malloc(count * sizeof *got);
    const size_t came = support_table_numbers(made, table, got, count);
    tensor_load(expected, 0, count, wanted);
    for (size_t i = 0; i < count; i++) {
        const double off = fabs(got[i] - wanted[i]);
        distance->equal += got[i] == wanted[i];
        distance->largest = fmax(distance->largest, fabs(wanted[i]));
        distance->away = isnan(off) ? INFINITY : fmax(distance->away, off);
    }
    free(wanted);
    free(got);
    return CHECK(came == count && count > 0, "%s: expected %zu numbers, got %zu", name, count, came);
}

static void check_near(struct made *made, const char *name, const struct tensor *expected)
{
    struct distance distance;
    if (measure(made, name, expected, &distance))
        CHECK(distance.away <= NEAR * distance.largest, "%s: %.2g of the largest away, expected at most %.0g", name,
              distance.away / distance.largest, NEAR);
}

/* --- float32 ----------------------------------------------------------------------------------------------------- */

static void check_stages(const struct layer_case *tried, struct line *line, bool residual)
{
    struct made made;
    struct job_files files;
    struct input_file expected = {0};
    if (residual)
        add(line, "--residual");
    add(line, "--stages=%squery,key,value,weights,context,output", residual ? "normed," : "");
    if (run(&made, &files, line, NULL) && expect(tried, "", &made, &expected))
        for (size_t i = 0; i < expected.tensor_count; i++)
            if (residual || strcmp(expected.tensors[i].name, "normed") != 0)
                check_near(&made, expected.tensors[i].name, &expected.tensors[i].tensor);
    arena_free(&made.arena);
}

/* Whether the family's row says something that no option does: a setting of that name, or with NULL any. */
static bool is_unsaid(const struct layer_case *tried, const char *name)
{
    char path[LINE_BYTES];
    snprintf(path, sizeof path, "%s/%s/case.json", FOLDER, tried->name);
    cJSON *all = support_json(path);
    const cJSON *unsaid = cJSON_GetObjectItemCaseSensitive(all, "unsaid");
    const bool is = name != NULL ? cJSON_HasObjectItem(unsaid, name) : unsaid != NULL && unsaid->child != NULL;
    cJSON_Delete(all);
    return is;
}

/* Whether the module has a table of distances, scaled slopes or a gate, which the fused path lacks. */
static bool is_left_to_reference(const struct layer_case *tried)
{
    return is_unsaid(tried, "gate") || (strncmp(tried->name, "t5-", 3) == 0 && strcmp(tried->kind, "self") == 0) ||
           strncmp(tried->name, "falcon-rw", 9) == 0;
}

/* The fused path has context and output alone. */
static void check_fused(const struct layer_case *tried)
{
    if (is_left_to_reference(tried))
        return;
    struct line line;
    struct made made;
    struct job_files files;
    struct input_file expected = {0};
    begin(&line, tried, "hidden");
    add(&line, "--kernel=fused");
    add(&line, "--stages=context,output");
    check_begin("%s by the fused path", tried->name);
    if (run(&made, &files, &line, NULL) && expect(tried, "", &made, &expected)) {
        check_near(&made, "context", &input_file_find(&expected, "context")->tensor);
        check_near(&made, "output", &input_file_find(&expected, "output")->tensor);
    }
    arena_free(&made.arena);
}

/* A setting as an option. */
static void add_setting(struct line *line, const cJSON *setting)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s", setting->string);
    for (char *at = name; *at != '\0'; at++)
        *at = *at == '_' ? '-' : *at;
    if (cJSON_IsBool(setting))
        add(line, "--%s%s", cJSON_IsTrue(setting) ? "" : "no-", name);
    else if (cJSON_IsNumber(setting))
        add(line, "--%s=%.17g", name, setting->valuedouble);
    else
        add(line, "--%s=%s", name, setting->valuestring);
}

/* No family, no config: what case.json says. */
static void add_by_hand(struct line *line, const struct layer_case *tried)
{
    char path[LINE_BYTES];
    const cJSON *setting;
    snprintf(path, sizeof path, "%s/%s/case.json", FOLDER, tried->name);
    cJSON *all = support_json(path);
    add(line, "--family=none");
    cJSON_ArrayForEach(setting, cJSON_GetObjectItemCaseSensitive(all, "settings")) add_setting(line, setting);
    cJSON_Delete(all);
}

static bool has_residual(const struct layer_case *tried)
{
    char path[LINE_BYTES];
    snprintf(path, sizeof path, "%s/%s/residual.npy", FOLDER, tried->name);
    FILE *file = fopen(path, "rb");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

static void check_case(const struct layer_case *tried, bool residual)
{
    struct line line;
    const char *input = residual ? "residual" : "hidden";
    check_begin("%s from %s.npy", tried->name, input);
    begin(&line, tried, input);
    check_stages(tried, &line, residual);
    if (is_unsaid(tried, NULL))
        return;
    check_begin("%s from %s.npy, by options alone", tried->name, input);
    begin(&line, tried, input);
    add_by_hand(&line, tried);
    check_stages(tried, &line, residual);
}

/* --- bfloat16 ---------------------------------------------------------------------------------------------------- */

/* How many are not transformers': of one norm a number, 1e-9 of the largest, that is what float32 leaves of two. */
static size_t left_of_sums(const char *name, const char *stage)
{
    return strcmp(name, "clip-vision-transformers") == 0 && strcmp(stage, "normed") == 0;
}

static void check_equal(struct made *made, const char *name, const char *stage, const struct tensor *expected)
{
    struct distance distance;
    if (measure(made, stage, expected, &distance))
        CHECK(distance.equal == distance.count - left_of_sums(name, stage),
              "%s: %zu of %zu numbers are equal, %.2g of the largest away", stage, distance.equal, distance.count,
              distance.away / distance.largest);
}

static void check_bfloat16(const struct layer_case *tried, bool residual)
{
    struct line line;
    struct made made;
    struct job_files files;
    struct input_file expected = {0};
    char path[LINE_BYTES];
    snprintf(path, sizeof path, "%s/%s/hidden-bf16.npy", FOLDER, tried->name);
    FILE *own = fopen(path, "rb");
    check_begin("%s in bfloat16%s", tried->name, residual ? ", from residual.npy" : "");
    begin(&line, tried, residual ? "residual" : own != NULL ? "hidden-bf16" : "hidden");
    add(&line, "--dtype=bf16");
    add(&line, "--rounding=transformers");
    if (residual)
        add(&line, "--residual");
    add(&line, "--stages=%squery,key,value,weights,context,output", residual ? "normed," : "");
    if (own != NULL)
        fclose(own);
    if (run(&made, &files, &line, NULL) && expect(tried, "-bf16", &made, &expected))
        for (size_t i = 0; i < expected.tensor_count; i++)
            if (residual || strcmp(expected.tensors[i].name, "normed") != 0)
                check_equal(&made, tried->name, expected.tensors[i].name, &expected.tensors[i].tensor);
    arena_free(&made.arena);
}

/* --- features ---------------------------------------------------------------------------------------------------- */

/* What is taken away of a case: by options, or by tensors that end so. */
static const struct {
    const char *feature, *name, *input, *options, *out;
} FEATURES[] = {
    {"the residual stream", "llama-2", "residual", "", NULL},
    {"the layer's norm", "llama-2", "residual", "--residual --norm=none", NULL},
    {"its kind", "llama-2", "residual", "--residual --norm=layer", NULL},
    {"its eps", "llama-2", "residual", "--residual --norm-eps=0.5", NULL},
    {"1 + weight", "gemma-2", "residual", "--residual --norm=rms", NULL},
    {"1 + weight of query and key", "gemma-3-sliding", "hidden", "--qk-norm=rms", NULL},
    {"the norm of query and key", "qwen3", "hidden", "--qk-norm=none", NULL},
    {"the norm of the key alone", "qwen3", "hidden", "", "key_norm.weight"},
    {"the norms of a latent", "deepseek-v2", "hidden", "--qk-norm=none", NULL},
    {"biases of query, key and value", "qwen2", "hidden", "", ".bias"},
    {"the bias of the output", "gpt2", "hidden", "", "out_proj.bias"},
    {"the rotation", "llama-2", "hidden", "--rope=none", NULL},
    {"halves", "llama-2", "hidden", "--rope=pairs", NULL},
    {"pairs", "gptj", "hidden", "--rope=half", NULL},
    {"pairs into halves", "deepseek-v3", "hidden", "--rope=half", NULL},
    {"columns that are not rotated", "neox", "hidden", "--rope-columns=16", NULL},
    {"the last columns", "deepseek-v2", "hidden", "--rope-columns=4", NULL},
    {"theta", "qwen3", "hidden", "--rope-theta=100", NULL},
    {"linear scaling", "llama-linear", "hidden", "--rope-scaling=none", NULL},
    {"dynamic scaling", "llama-dynamic", "hidden", "--rope-scaling=none", NULL},
    {"Llama 3's scaling", "llama-3", "hidden", "--rope-scaling=none", NULL},
    {"yarn", "llama-yarn", "hidden", "--rope-scaling=none", NULL},
    {"longrope, long", "phi-3-long", "hidden", "--rope-scaling=none", NULL},
    {"longrope, short", "phi-3-short", "hidden", "--rope-scaling=none", NULL},
    {"the growth of queries", "ministral-3-growing", "hidden", "--query-growth=0,1", NULL},
    {"its position, from 1", "llama-4-growing", "hidden", "--query-growth=0.5,3", NULL},
    {"no window of the last layer", "gemma-4-last", "hidden", "--window=4,0", NULL},
    {"proportional scaling", "gemma-4", "hidden", "--rope-scaling=none", NULL},
    {"axes in turn", "qwen3-vl-image", "hidden", "--rope-axes=t2,h1,w1", NULL},
    {"axes in their order", "qwen2-vl-image", "hidden", "--rope-axes=w2,h1,t1", NULL},
    {"frequencies that begin again", "qwen2-vl-vision", "hidden", "--rope-axes=h,w,merge=2", NULL},
    {"blocks of patches", "qwen2-vl-vision", "hidden", "--rope-axes=h,w,restarted", NULL},
    {"windows of patches", "qwen2.5-vl-vision", "hidden", "--rope-axes=h,w,restarted,merge=2", NULL},
    {"every other frequency", "pixtral", "hidden", "--rope-axes=h,w,restarted", NULL},
    {"coordinates of a centre", "dinov3", "hidden", "--rope-axes=h,w,restarted,rest-first=3", NULL},
    {"masks of other windows", "qwen2.5-vl-vision-windows", "hidden", "--rope-axes=h,w,restarted,merge=2,window=4",
     NULL},
    {"masks of other frames", "qwen2-vl-vision-frames", "hidden", "--rope-axes=h,w,restarted,frames-joint,merge=2",
     NULL},
    {"the norm of value", "gemma-4", "hidden", "--value-norm=none", NULL},
    {"causality", "llama-2", "hidden", "--no-causal", NULL},
    {"the window", "mistral-window", "hidden", "--window=-1,-1", NULL},
    {"a window on both sides", "modernbert-local", "hidden", "--window=-1,-1", NULL},
    {"the softcap", "gemma-2", "hidden", "--softcap=0", NULL},
    {"the sinks", "gpt-oss-full", "hidden", "", "sinks"},
    {"the table of distances", "t5-encoder", "hidden", "", "relative_bias.weight"},
    {"its farthest distance", "t5-encoder", "hidden", "--relative-distance=20", NULL},
    {"slopes", "bloom", "hidden", "--alibi=off", NULL},
    {"slopes that are scaled", "falcon-rw", "hidden", "--alibi=slopes", NULL},
    {"the clip", "mpt-clip", "hidden", "--clip=0", NULL},
    {"the scale", "gpt2-no-scale", "hidden", "--scale=0.35", NULL},
    {"groups of a packed weight", "neox", "hidden", "--packing=blocks", NULL},
    {"blocks of a packed weight", "gpt2", "hidden", "--packing=groups", NULL},
};

static void find_case(const char *name, struct layer_case *found)
{
    char path[LINE_BYTES], line[LINE_BYTES];
    snprintf(path, sizeof path, "%s/cases.txt", FOLDER);
    FILE *list = fopen(path, "r");
    found->name[0] = '\0';
    while (list != NULL && strcmp(found->name, name) != 0 && fgets(line, sizeof line, list) != NULL)
        sscanf(line, "%95s %d %95s %7s", found->name, &found->layer, found->module, found->kind);
    if (list != NULL)
        fclose(list);
    CHECK_TEXT(name, found->name);
}

static void check_feature(size_t at)
{
    struct layer_case tried;
    struct line line;
    struct made made;
    struct job_files files;
    struct input_file expected = {0};
    struct distance distance;
    char options[LINE_BYTES];
    check_begin("without %s the output of %s moves", FEATURES[at].feature, FEATURES[at].name);
    find_case(FEATURES[at].name, &tried);
    begin(&line, &tried, FEATURES[at].input);
    snprintf(options, sizeof options, "%s", FEATURES[at].options);
    for (char *rest = options, *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
        add(&line, "%s", word);
    add(&line, "--stages=output");
    if (run(&made, &files, &line, FEATURES[at].out) && expect(&tried, "", &made, &expected) &&
        measure(&made, "output", &input_file_find(&expected, "output")->tensor, &distance))
        CHECK(distance.away > MOVED * distance.largest, "by %.2g of the largest, expected more than %.0g",
              distance.away / distance.largest, MOVED);
    arena_free(&made.arena);
}

/* ----------------------------------------------------------------------------------------------------------------- */

int main(void)
{
    char path[LINE_BYTES], text[LINE_BYTES];
    struct layer_case tried;
    size_t cases = 0, residuals = 0;
    snprintf(path, sizeof path, "%s/cases.txt", FOLDER);
    FILE *list = fopen(path, "r");
    check_begin("%s can be read", path);
    if (!CHECK(list != NULL, "expected a file"))
        return check_end();
    for (; fgets(text, sizeof text, list) != NULL; cases++) {
        check_begin("line %zu of %s", cases + 1, path);
        if (!CHECK(sscanf(text, "%95s %d %95s %7s", tried.name, &tried.layer, tried.module, tried.kind) == 4,
                   "expected a name, a layer, a module and a kind, got: %s", text))
            continue;
        check_case(&tried, false);
        check_fused(&tried);
        if (has_residual(&tried)) {
            check_case(&tried, true);
            check_bfloat16(&tried, true);
            residuals++;
        }
        check_bfloat16(&tried, false);
    }
    fclose(list);
    check_begin("all cases were tried");
    CHECK(cases == CASES && residuals == RESIDUALS, "expected %d cases, %d of them from residual.npy, got %zu and %zu",
          CASES, RESIDUALS, cases, residuals);
    for (size_t i = 0; i < sizeof FEATURES / sizeof FEATURES[0]; i++)
        check_feature(i);
    return check_end();
}
