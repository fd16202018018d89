/* SPDX-License-Identifier: MIT */
/* Mistakes on purpose (src/mistake/), in a grid of small jobs: the plain implementation without a mistake against the
 * reference, bit for bit, and each mistake in each job: refused with a reason, or numbers of which the stages before the
 * slot's are those of the right job. */
#include "check.h"
#include "mistake/plain.h"
#include "model/stages.h"
#include "stage/stage.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_BYTES = 1 << 16, LINE_BYTES = 512, MOST_NUMBERS = 1 << 12, MOST_FORMS = 16 };

/* --- jobs -------------------------------------------------------------------------------------------------------- */

struct job {
    const char *name, *line; /* what is asked for */
    size_t heads, kv_heads;  /* of sdpa; 0: there are inputs */
    size_t items, queries, keys, d;
    size_t d_value;    /* of sdpa; of inputs 0 */
    const char *extra; /* what else the JSON holds: ", \"sinks\": [...]", or "", or all of it */
};

/* Of sdpa most stages are shown only where they are asked for. */
#define ALL " --stages query,key,value,scores,scaled,capped,masked,weights,context,lse"

/* And the way back. */
#define BACK ",grad_value,grad_weights,grad_masked,grad_scaled,grad_scores,grad_query,grad_key --grad ones"

/* Of a module whose query has so many columns, key and value so many; 4 of the inputs and of the output. */
#define PROJECTED(query, key)                                                                             \
    "W_query.weight " #query " 4, W_key.weight " #key " 4, W_value.weight " #key " 4, W_value.bias " #key \
    ", out_proj.weight 4 " #query

static const struct job JOBS[] = {
    {"self", "self" ALL, 0, 0, 1, 5, 5, 3, 0, ""},
    {"square", "self --init rand", 0, 0, 1, 4, 4, 4, 0, ""},
    {"causal", "causal -d 2 -s 789", 0, 0, 1, 6, 6, 3, 0, ""},
    {"dropout", "causal --dropout 0.5", 0, 0, 1, 6, 6, 3, 0, ""},
    {"dropout of a batch", "multihead -H 2 --stacked --dropout 0.3 --dropout-seed 5", 0, 0, 2, 5, 5, 4, 0, ""},
    {"split", "multihead -H 2 -d 4 --qkv-bias", 0, 0, 1, 5, 5, 4, 0, ""},
    {"stacked", "multihead -H 3 -d 2 --stacked --no-causal", 0, 0, 1, 5, 5, 3, 0, ""},
    {"words", "multihead -H 2 -d 4 --add-positions sinusoidal", 0, 0, 1, 4, 4, 4, 0,
     ", \"unembedding\": [[1, 0.5, -1, 0.25], [2, -0.5, 0, 1], [-1, 1.5, 0.75, 0], [0.125, 1, 2, -1]], "
     "\"unembedding_bias\": [0.5, -0.25, 1, 0]"},
    {"positions of a table", "multihead -H 2 -d 4", 0, 0, 2, 4, 4, 4, 0, PROJECTED(4, 4) ", position_embedding 5 4"},
    {"groups", "multihead -H 4 --kv-heads 2 -d 8", 0, 0, 1, 6, 6, 5, 0, ""},
    {"batch", "multihead -H 2 -d 6 --softcap 1.5", 0, 0, 2, 4, 4, 6, 0, ""},
    {"mkl", "multihead -H 2 -d 6 --dropout 0.5 --rng torch-mkl", 0, 0, 2, 4, 4, 6, 0, ""},
    {"float16", "multihead -H 2 -d 4 --dtype f16", 0, 0, 1, 5, 5, 4, 0, ""},
    {"bfloat16, softmax in float32", "causal --dtype bf16 --softmax-dtype f32 --window 2,-1", 0, 0, 1, 6, 6, 3, 0, ""},
    {"float64", "self --dtype f64 --window 1,2 --temperature 0.5", 0, 0, 1, 6, 6, 3, 0, ""},
    {"some queries", "causal -q 2,4-5", 0, 0, 1, 6, 6, 3, 0, ""},
    {"some queries with dropout", "multihead -H 2 -d 4 --dropout 0.3 -q 1,5", 0, 0, 2, 5, 5, 4, 0, ""},
    {"one token", "causal", 0, 0, 1, 1, 1, 3, 0, ""},
    {"kernel", "sdpa --causal --window 2,-1 --softcap 2" ALL, 4, 2, 2, 5, 5, 3, 2,
     ", \"alibi_slopes\": [0.5, 0.25, 0.125, 0.0625], \"sinks\": [0.5, -1, 0, 2]"},
    {"rectangular", "sdpa --causal --align bottom-right" ALL, 2, 2, 1, 3, 5, 4, 4, ""},
    {"mask", "sdpa" ALL, 2, 1, 1, 3, 5, 4, 4,
     ", \"attn_mask\": [[true, false, true, true, true], [true, true, false, true, true], [true, true, true, true, "
     "true]]"},
    {"numbers added", "sdpa --softcap 1" ALL, 2, 2, 2, 3, 3, 2, 2,
     ", \"attn_mask\": [[0, -1, null], [0.5, 0, 1], [null, 0, 0]]"},
    {"padding", "sdpa" ALL, 2, 2, 2, 4, 4, 3, 3,
     ", \"attn_mask\": [[[[true, true, true, false]]], [[[true, true, false, false]]]]"},
    {"empty rows", "sdpa --empty-row mean" ALL, 1, 1, 1, 3, 3, 2, 2,
     ", \"attn_mask\": [[false, false, false], [true, false, true], [true, true, true]]"},
    {"empty rows that are zero", "sdpa --dropout 0.5" ALL ",dropped", 1, 1, 1, 3, 3, 2, 2,
     ", \"attn_mask\": [[false, false, false], [true, false, true], [true, true, true]]"},
    {"lengths", "sdpa --causal --window 2,0" ALL, 2, 1, 2, 2, 5, 3, 3, ", \"kv_lengths\": [4, 3]"},
    {"lengths alone", "sdpa" ALL, 2, 1, 2, 2, 5, 3, 3, ", \"kv_lengths\": [4, 3]"},
    {"past", "sdpa --causal" ALL, 1, 1, 1, 2, 2, 1, 1,
     ", \"past_key\": [[[[1], [2], [-1]]]], \"past_value\": [[[[3], [2], [1]]]]"},
    {"operands in float16", "sdpa --dtype f16" ALL, 2, 2, 1, 4, 4, 3, 3, ""},
    {"rounded operations",
     "sdpa --rounding operations --causal --softcap 3"
     " --stages query,key,value,scaled,capped,masked,weights,context",
     2, 1, 1, 4, 4, 3, 2, ""},
    {"halves of some columns, by a scaling",
     "multihead -H 2 -d 16 --rope half --rope-columns 4 --rope-theta 100 --rope-scaling yarn:factor=4,old=8 "
     "--positions 1-5",
     0, 0, 1, 5, 5, 4, 0, ""},
    {"scaled as Llama 3 does",
     "causal -d 8 --rope half --rope-theta 100 --rope-scaling llama3:factor=4,low=1,high=4,old=16", 0, 0, 1, 5, 5, 3, 0,
     ""},
    {"scaled as YaRN does",
     "causal -d 8 --rope half --rope-theta 100 --rope-scaling yarn:factor=4,old=64,fast=4,slow=1", 0, 0, 1, 5, 5, 3, 0,
     ""},
    {"scaled by lists",
     "multihead -H 1 --rope half --rope-theta 100 --rope-scaling longrope:old=4,max=16,short=1;1.5;2;3,long=2;3;4;5", 0,
     0, 1, 5, 5, 4, 0, PROJECTED(8, 8)},
    {"pairs", "multihead -H 2 -d 8 --qkv-bias --rope pairs --qk-norm rms --scale-on query", 0, 0, 2, 4, 4, 3, 0, ""},
    {"queries that grow", "multihead -H 2 -d 8 --rope pairs --qk-norm rms --query-growth 0.5,2", 0, 0, 2, 4, 4, 3, 0,
     ""},
    {"a quarter of the columns, heads by LayerNorm",
     "multihead -H 2 -d 16 --rope pairs --rope-columns 2 --qk-norm layer", 0, 0, 1, 5, 5, 4, 0, ""},
    {"three axes in blocks",
     "multihead -H 1 --rope half --rope-theta 100 --rope-axes t2,h3,w3 "
     "--positions 0-1,2,2,2,2,4;0-1,2,2,3,3,4;0-1,2,3,2,3,4",
     0, 0, 1, 7, 7, 4, 0, PROJECTED(16, 16)},
    {"three axes in turn",
     "causal -d 16 --rope half --rope-theta 100 --rope-axes t4,h2,w2,interleaved "
     "--positions 0-1,2,2,2,2,4;0-1,2,2,3,3,4;0-1,2,3,2,3,4",
     0, 0, 1, 7, 7, 3, 0, ""},
    {"pairs of a batch, some queries", "causal -d 4 --rope pairs -q 2,4", 0, 0, 2, 4, 4, 3, 0, ""},
    {"turned behind a past", "sdpa --causal --rope half" ALL, 1, 1, 1, 2, 2, 4, 4,
     ", \"past_key\": [[[[1, 2, 0, 3]]]], \"past_value\": [[[[3, 2, 0, 1]]]]"},
    {"norms of a layer and of heads",
     "multihead -H 2 --residual --norm layer --qk-norm rms --clip 1 --scale 0.3 --rope half", 0, 0, 1, 4, 4, 4, 0,
     PROJECTED(8, 8) ", norm.weight 4, norm.bias 4, query_norm.weight 4, key_norm.weight 4"},
    {"a norm of all heads, slopes of three",
     "multihead -H 3 --residual --norm rms --qk-norm rms-plus-one --alibi scaled --rope half --dtype f64", 0, 0, 1, 4,
     4, 4, 0, PROJECTED(12, 12) ", norm.weight 4, query_norm.weight 12, key_norm.weight 12"},
    {"a relative bias both ways, one head of key for two",
     "multihead -H 4 --kv-heads 2 --residual --norm rms-plus-one --no-causal --relative-distance 12", 0, 0, 1, 5, 5, 4,
     0, PROJECTED(8, 4) ", norm.weight 4, relative_bias.weight 16 4"},
    {"a relative bias one way", "multihead -H 2 --norm rms --relative-distance 5", 0, 0, 1, 6, 6, 4, 0,
     PROJECTED(4, 4) ", norm.weight 4, relative_bias.weight 8 2"},
    {"by way of a latent", "multihead -H 2 --rope pairs-to-halves --rope-columns last:2 --qk-norm rms", 0, 0, 1, 4, 4,
     4, 0,
     "W_query.weight 8 4, W_key_value_a.weight 5 4, key_value_a_norm.weight 3, W_key_value_b.weight 8 3, "
     "out_proj.weight 4 4"},
    {"by way of two latents", "multihead -H 2 --rope pairs-to-halves --rope-columns last:2 --qk-norm rms", 0, 0, 1, 4,
     4, 4, 0,
     "W_query_a.weight 3 4, query_a_norm.weight 3, W_query_b.weight 8 3, W_key_value_a.weight 5 4, "
     "key_value_a_norm.weight 3, W_key_value_b.weight 8 3, out_proj.weight 4 4"},
    {"a gate, and a norm of value", "multihead -H 2 --residual --norm rms --qk-norm rms --value-norm rms", 0, 0, 2, 4,
     4, 4, 0, PROJECTED(4, 4) ", norm.weight 4, query_norm.weight 2, key_norm.weight 2, W_gate.weight 4 4"},
    {"a mask of each head", "sdpa" ALL, 2, 2, 1, 3, 3, 2, 2,
     ", \"attn_mask\": [[[[true, false, true], [true, true, false], [true, true, true]], [[false, true, true], [true, "
     "true, true], [true, true, false]]]]"},
    {"gradients", "multihead -H 4 --kv-heads 2 -d 8 --dropout 0.3 --softcap 1.5 --grad ones", 0, 0, 2, 5, 5, 4, 0, ""},
    {"gradients of what is turned", "multihead -H 2 -d 8 --rope half --qk-norm rms --grad ones", 0, 0, 2, 5, 5, 4, 0,
     ""},
    {"gradients of sdpa", "sdpa --causal --window 2,0" ALL BACK, 4, 2, 1, 4, 4, 3, 2, ", \"sinks\": [0.5, -1, 0, 2]"},
    {"sequences", "sdpa --causal" ALL, 0, 0, 1, 7, 9, 2, 2,
     "{\"cu_seqlens_q\": [0, 3, 5, 7], \"cu_seqlens_k\": [0, 3, 6, 9], \"query\": [[[-1.75, 0.625], [-1.5, "
     "-0.875]], [[-1.125, 1.375], [-0.625, 0.125]], [[0, -1], [0.75, 1.625]], [[1.625, 0.75], [-1, 0]], [[0.125, "
     "-0.625], [1.375, -1.125]], [[-0.875, -1.5], [0.625, -1.75]], [[-1.375, 1.75], [0.375, 1.75]]], \"key\": "
     "[[[-1.75, 0.625]], [[-1.5, -0.875]], [[-1.125, 1.375]], [[-0.625, 0.125]], [[0, -1]], [[0.75, 1.625]], "
     "[[1.625, 0.75]], [[-1, 0]], [[0.125, -0.625]]], \"value\": [[[-1.75, 0.625]], [[-1.5, -0.875]], [[-1.125, "
     "1.375]], [[-0.625, 0.125]], [[0, -1]], [[0.75, 1.625]], [[1.625, 0.75]], [[-1, 0]], [[0.125, -0.625]]]}"},
    {"sequences, not causal, and gradients", "sdpa" ALL BACK, 0, 0, 1, 7, 9, 2, 2,
     "{\"cu_seqlens_q\": [0, 3, 5, 7], \"cu_seqlens_k\": [0, 3, 6, 9], \"query\": [[[-1.75, 0.625], [-1.5, "
     "-0.875]], [[-1.125, 1.375], [-0.625, 0.125]], [[0, -1], [0.75, 1.625]], [[1.625, 0.75], [-1, 0]], [[0.125, "
     "-0.625], [1.375, -1.125]], [[-0.875, -1.5], [0.625, -1.75]], [[-1.375, 1.75], [0.375, 1.75]]], \"key\": "
     "[[[-1.75, 0.625]], [[-1.5, -0.875]], [[-1.125, 1.375]], [[-0.625, 0.125]], [[0, -1]], [[0.75, 1.625]], "
     "[[1.625, 0.75]], [[-1, 0]], [[0.125, -0.625]]], \"value\": [[[-1.75, 0.625]], [[-1.5, -0.875]], [[-1.125, "
     "1.375]], [[-0.625, 0.125]], [[0, -1]], [[0.75, 1.625]], [[1.625, 0.75]], [[-1, 0]], [[0.125, -0.625]]]}"},
    {"pages", "sdpa --causal" ALL, 0, 0, 2, 2, 3, 2, 2,
     "{\"block_table\": [[4, 1], [3, 0]], \"kv_lengths\": [3, 3], \"query\": [[[[-1.75, 0.625], [-1.5, -0.875]], "
     "[[-1.125, 1.375], [-0.625, 0.125]]], [[[0, -1], [0.75, 1.625]], [[1.625, 0.75], [-1, 0]]]], \"key_cache\": "
     "[[[[-1.75, 0.625]], [[-1.5, -0.875]]], [[[-1.125, 1.375]], [[-0.625, 0.125]]], [[[0, -1]], [[0.75, "
     "1.625]]], [[[1.625, 0.75]], [[-1, 0]]], [[[0.125, -0.625]], [[1.375, -1.125]]]], \"value_cache\": "
     "[[[[-1.75, 0.625]], [[-1.5, -0.875]]], [[[-1.125, 1.375]], [[-0.625, 0.125]]], [[[0, -1]], [[0.75, "
     "1.625]]], [[[1.625, 0.75]], [[-1, 0]]], [[[0.125, -0.625]], [[1.375, -1.125]]]]}"},
    {"pages, not causal", "sdpa" ALL, 0, 0, 2, 2, 3, 2, 2,
     "{\"block_table\": [[4, 1], [3, 0]], \"kv_lengths\": [3, 3], \"query\": [[[[-1.75, 0.625], [-1.5, -0.875]], "
     "[[-1.125, 1.375], [-0.625, 0.125]]], [[[0, -1], [0.75, 1.625]], [[1.625, 0.75], [-1, 0]]]], \"key_cache\": "
     "[[[[-1.75, 0.625]], [[-1.5, -0.875]]], [[[-1.125, 1.375]], [[-0.625, 0.125]]], [[[0, -1]], [[0.75, "
     "1.625]]], [[[1.625, 0.75]], [[-1, 0]]], [[[0.125, -0.625]], [[1.375, -1.125]]]], \"value_cache\": "
     "[[[[-1.75, 0.625]], [[-1.5, -0.875]]], [[[-1.125, 1.375]], [[-0.625, 0.125]]], [[[0, -1]], [[0.75, "
     "1.625]]], [[[1.625, 0.75]], [[-1, 0]]], [[[0.125, -0.625]], [[1.375, -1.125]]]]}"},
};

/* Numbers that look drawn, exact in every dtype: sevenths of a turn, in eighths. */
static double number(size_t i)
{
    return (double)((int)((i * 37 + i * i * 11) % 29) - 14) / 8;
}

static void add_tensor(struct text *text, const char *name, const size_t *shape, size_t rank, size_t seed)
{
    size_t count = 1, inner;
    for (size_t axis = 0; axis < rank; axis++)
        count *= shape[axis];
    text_add(text, "\"%s\": ", name);
    for (size_t i = 0; i < count; i++) {
        inner = 1;
        for (size_t axis = rank; axis-- > 0; inner *= shape[axis])
            text_add(text, "%s", i % (inner * shape[axis]) == 0 ? "[" : "");
        text_add(text, "%g", number(i + seed));
        inner = 1;
        for (size_t axis = rank; axis-- > 0; inner *= shape[axis])
            text_add(text, "%s", (i + 1) % (inner * shape[axis]) == 0 ? "]" : "");
        text_add(text, "%s", i + 1 < count ? ", " : "");
    }
}

static bool has_parameters(const struct job *job)
{
    return job->extra[0] != '\0' && job->extra[0] != ',' && job->extra[0] != '{';
}

static void add_parameters(struct text *text, const char *parameters)
{
    const char *rest = parameters;
    for (size_t seed = 3; rest != NULL; seed += 5) {
        char name[64];
        size_t shape[2];
        const int read = sscanf(rest, "%63[^ ] %zu %zu", name, &shape[0], &shape[1]);
        text_add(text, ", ");
        add_tensor(text, name, shape, (size_t)read - 1, seed);
        rest = strchr(rest, ',');
        rest = rest != NULL ? rest + 2 : NULL;
    }
}

static void write_input(const struct job *job, char *json)
{
    struct text text = text_begin(json, JSON_BYTES);
    const size_t inputs[] = {job->items, job->queries, job->d},
                 query[] = {job->items, job->heads, job->queries, job->d};
    const size_t key[] = {job->items, job->kv_heads, job->keys, job->d},
                 value[] = {job->items, job->kv_heads, job->keys, job->d_value};
    if (job->extra[0] == '{') {
        text_add(&text, "%s", job->extra);
        return;
    }
    text_add(&text, "{");
    if (job->heads == 0) {
        add_tensor(&text, "inputs", inputs + (job->items == 1), job->items == 1 ? 2 : 3, 1);
    } else {
        add_tensor(&text, "query", query, 4, 1);
        text_add(&text, ", ");
        add_tensor(&text, "key", key, 4, 5);
        text_add(&text, ", ");
        add_tensor(&text, "value", value, 4, 9);
    }
    if (has_parameters(job))
        add_parameters(&text, job->extra);
    text_add(&text, "%s}", has_parameters(job) ? "" : job->extra);
}

static enum status make(struct made *made, const struct job *job, const char *mistake)
{
    static char json[JSON_BYTES];
    char line[LINE_BYTES];
    write_input(job, json);
    snprintf(line, sizeof line, "%s%s%s", job->line, mistake != NULL ? " --mistake " : "",
             mistake != NULL ? mistake : "");
    return support_make(made, line, json);
}

/* --- without a mistake -------------------------------------------------------------------------------------------- */

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* A stage of the plain run, as a table has it: operands in their dtype, the rest in double. */
static size_t load_stage(const struct plain *plain, enum stage stage, double *numbers)
{
    const enum stage as = problem_made_as(plain->problem, stage); /* the context of packed heads as output */
    const size_t count = plain_count(plain->problem, as, plain->row_count);
    if (plain->stages[as] != NULL) {
        memcpy(numbers, plain->stages[as], count * sizeof *numbers);
        return count;
    }
    const struct tensor *operand = plain_tensor(plain, stage);
    const bool of_query = projection_of(stage) == PROJECTION_QUERY || stage == STAGE_GATE;
    const size_t rows = of_query ? plain->row_count : operand->shape[2], columns = operand->shape[3];
    for (size_t i = 0; i < operand->shape[0] * operand->shape[1] * rows; i++) {
        const size_t row = of_query ? plain->rows[i % rows] : i % rows;
        tensor_load(operand, (i / rows * operand->shape[2] + row) * columns, columns, numbers + i * columns);
    }
    return operand->shape[0] * operand->shape[1] * rows * columns;
}

static void compare_stage(struct made *made, const struct plain *plain, const struct result_table *table)
{
    static double expected[MOST_NUMBERS], got[MOST_NUMBERS];
    const size_t count = support_table_numbers(made, table, expected, MOST_NUMBERS);
    CHECK(count <= MOST_NUMBERS && load_stage(plain, table->stage, got) == count, "%s: another count than %zu",
          table->name, count);
    for (size_t i = 0; i < count; i++)
        if (!CHECK(same_bits(expected[i], got[i]), "%s, number %zu: the reference has %.17g, got %.17g", table->name, i,
                   expected[i], got[i]))
            return;
}

static void test_reference(const struct job *job)
{
    struct made made;
    struct recipe recipe;
    struct plain plain = {.wants_normed = has_parameters(job)};
    uint64_t stages = 0;
    check_begin("without a mistake: %s", job->name);
    if (CHECK(make(&made, job, NULL) == STATUS_OK, "expected a result, got: %s", made.error.message)) {
        for (size_t i = 0; i < made.result.table_count; i++)
            if (stage_exists(made.result.tables[i].stage) && !STAGES[made.result.tables[i].stage].backward)
                stages |= STAGE_BIT(problem_made_as(&made.problem, made.result.tables[i].stage));
        CHECK(recipe_create(&recipe, &made.problem, NULL, 0, false, &made.arena, &made.error) == STATUS_OK &&
                  plain_run(&plain, &recipe, made.problem.chosen.rows, made.problem.chosen.row_count,
                            stage_closure(stages), NULL, NULL, &made.arena, &made.error) == STATUS_OK,
              "expected a run, got: %s", made.error.message);
        for (size_t i = 0; i < made.result.table_count; i++)
            if (stage_exists(made.result.tables[i].stage) && !STAGES[made.result.tables[i].stage].backward)
                compare_stage(&made, &plain, &made.result.tables[i]);
    }
    arena_free(&made.arena);
}

/* --- with each mistake -------------------------------------------------------------------------------------------- */

/* The stages that a mistake of a slot may be the first to change. */
#define BIT(id) STAGE_BIT(STAGE_##id)
#define PROJECTED_STAGES \
    (BIT(PROJECTED_QUERY) | BIT(PROJECTED_KEY) | BIT(PROJECTED_VALUE) | BIT(QUERY) | BIT(KEY) | BIT(VALUE))
static const uint64_t FIRST[MISTAKE_SLOT_COUNT] = {
    [MISTAKE_SLOT_SCALE] = BIT(SCALED) | BIT(QUERY), /* where the scale is on query */
    [MISTAKE_SLOT_SOFTMAX] = BIT(WEIGHTS),
    [MISTAKE_SLOT_MASK] = BIT(MASKED),
    [MISTAKE_SLOT_FILL] = BIT(MASKED) | BIT(WEIGHTS),
    [MISTAKE_SLOT_WINDOW] = BIT(MASKED),
    [MISTAKE_SLOT_LENGTHS] = BIT(MASKED) | BIT(KEY), /* of pages, which then hold more keys */
    [MISTAKE_SLOT_SEQUENCES] = BIT(MASKED),
    [MISTAKE_SLOT_PAGES] = BIT(KEY) | BIT(MASKED),
    [MISTAKE_SLOT_ATTN_MASK] = BIT(MASKED),
    [MISTAKE_SLOT_EMPTY] = BIT(WEIGHTS),
    [MISTAKE_SLOT_SCORES] = BIT(SCORES) | BIT(QUERY), /* the same */
    [MISTAKE_SLOT_KEYS] = BIT(SCORES) | BIT(SCALED) | BIT(MASKED) | BIT(WEIGHTS) | BIT(CONTEXT),
    [MISTAKE_SLOT_ROLES] = BIT(SCORES) | BIT(CONTEXT),
    [MISTAKE_SLOT_WEIGHTS] = BIT(CONTEXT),
    [MISTAKE_SLOT_MATRIX] = PROJECTED_STAGES,
    [MISTAKE_SLOT_BIAS] = PROJECTED_STAGES,
    [MISTAKE_SLOT_CLIP] = PROJECTED_STAGES,
    [MISTAKE_SLOT_GROWTH] = BIT(QUERY),
    [MISTAKE_SLOT_PACKING] = PROJECTED_STAGES,
    [MISTAKE_SLOT_NORM] = BIT(NORMED) | PROJECTED_STAGES,
    [MISTAKE_SLOT_QK_NORM] = BIT(NORMED_QUERY) | BIT(NORMED_KEY) | PROJECTED_STAGES,
    [MISTAKE_SLOT_VALUE_NORM] = BIT(VALUE),
    [MISTAKE_SLOT_GATE] = BIT(GATE),
    [MISTAKE_SLOT_ROWS] = PROJECTED_STAGES,
    [MISTAKE_SLOT_ROPE_THETA] = BIT(QUERY) | BIT(KEY),
    [MISTAKE_SLOT_ROPE_SCALING] = BIT(QUERY) | BIT(KEY),
    [MISTAKE_SLOT_ROPE] = BIT(QUERY) | BIT(KEY) | BIT(VALUE),
    [MISTAKE_SLOT_RELATIVE] = BIT(MASKED),
    [MISTAKE_SLOT_SPLIT] = PROJECTED_STAGES | BIT(SCORES) | BIT(CONTEXT), /* of heads that attend to each other */
    [MISTAKE_SLOT_MERGE] = BIT(OUTPUT) | BIT(CONTEXT),                    /* of packed heads */
    [MISTAKE_SLOT_OUT] = BIT(OUTPUT) | BIT(CONTEXT), /* of one head, to which the inputs are added */
    [MISTAKE_SLOT_POSITIONS] = BIT(EMBEDDED),
    [MISTAKE_SLOT_RESIDUAL] = BIT(RESIDUAL),
    [MISTAKE_SLOT_UNEMBEDDING] = BIT(LOGITS),
    [MISTAKE_SLOT_GROUPS] = BIT(SCORES) | BIT(CONTEXT),
    [MISTAKE_SLOT_SOFTCAP] = BIT(CAPPED),
    [MISTAKE_SLOT_ALIBI] = BIT(MASKED),
    [MISTAKE_SLOT_SINKS] = BIT(WEIGHTS) | BIT(CONTEXT),
    [MISTAKE_SLOT_LSE] = BIT(LSE),
    [MISTAKE_SLOT_DROPOUT] = BIT(WEIGHTS) | BIT(DROPPED) | BIT(CONTEXT), /* where `dropped` is not shown */
    [MISTAKE_SLOT_DRAW] = PROJECTED_STAGES | BIT(DROPPED) | BIT(OUTPUT),
    [MISTAKE_SLOT_TILES] = BIT(CONTEXT),
    [MISTAKE_SLOT_BITS] = PROJECTED_STAGES,
    [MISTAKE_SLOT_GRAD] = BIT(GRAD_VALUE) | BIT(GRAD_WEIGHTS) | BIT(GRAD_DROPPED) | BIT(GRAD_MASKED) |
                          BIT(GRAD_SCALED) | BIT(GRAD_SCORES) | BIT(GRAD_KEY) | BIT(GRAD_QUERY) |
                          BIT(GRAD_PROJECTED_QUERY) | BIT(GRAD_NORMED_QUERY),
    [MISTAKE_SLOT_DTYPE] = BIT(NORMED) | BIT(POSITIONS) | BIT(EMBEDDED) | PROJECTED_STAGES | BIT(SCORES) | BIT(SCALED) |
                           BIT(MASKED) | BIT(WEIGHTS),
};

/* Those whose numbers may be infinite or none. */
static bool may_overflow(enum mistake id)
{
    return id == MISTAKE_EMPTY_NAN || id == MISTAKE_SOFTMAX_LOG || id == MISTAKE_FILL_LARGE ||
           id == MISTAKE_FILL_ACROSS || id == MISTAKE_SOFTMAX_OVERFLOW || id == MISTAKE_OVERFLOW_F16 ||
           MISTAKES[id].slot == MISTAKE_SLOT_BITS;
}

static bool is_finite(enum stage stage, double number)
{
    return isfinite(number) || (number == -INFINITY && (stage == STAGE_MASKED || stage == STAGE_LSE));
}

/* The first stage that both do not have alike; STAGE_COUNT: all are the same. */
static enum stage first_changed(struct made *right, struct made *wrong)
{
    static double expected[MOST_NUMBERS], got[MOST_NUMBERS];
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        const struct result_table *a = result_table_of(&right->result, (enum stage)stage),
                                  *b = result_table_of(&wrong->result, (enum stage)stage);
        const size_t count = a != NULL ? support_table_numbers(right, a, expected, MOST_NUMBERS) : 0;
        if ((b != NULL ? support_table_numbers(wrong, b, got, MOST_NUMBERS) : 0) != count)
            return (enum stage)stage;
        for (size_t i = 0; i < count; i++)
            if (!same_bits(expected[i], got[i]))
                return (enum stage)stage;
    }
    return STAGE_COUNT;
}

static void check_finite(struct made *made, const char *mistake)
{
    static double numbers[MOST_NUMBERS];
    for (size_t i = 0; i < made->result.table_count; i++) {
        const struct result_table *table = &made->result.tables[i];
        const size_t count = support_table_numbers(made, table, numbers, MOST_NUMBERS);
        for (size_t n = 0; n < count; n++)
            if (stage_exists(table->stage) && !CHECK(is_finite(table->stage, numbers[n]), "%s: %s, number %zu, is %g",
                                                     mistake, table->name, n, numbers[n]))
                return;
    }
}

/* What is shown as hidden by the mask has no number that takes part. */
static void check_hidden(struct made *made, const char *mistake)
{
    struct result *result = &made->result;
    for (size_t i = 0; i < result->table_count; i++) {
        const struct result_table *table = &result->tables[i];
        for (size_t row = 0; row < result_matrices(table) * result_rows(table) && table->hides; row++) {
            const size_t matrix = row / result_rows(table), line = row % result_rows(table);
            const struct result_mask mask = result_mask_of(result, table, matrix, line);
            result_row(result, table, matrix, line, result->numbers);
            for (size_t key = 0; key < result_columns(table); key++)
                if (result_masks(&mask, key) &&
                    !CHECK(result->numbers[key] == (table->stage == STAGE_MASKED ? -INFINITY : 0),
                           "%s: %s is hidden at matrix %zu, row %zu, key %zu, where it is %g", mistake, table->name,
                           matrix, line, key, result->numbers[key]))
                    return;
        }
    }
}

/* How often it was refused, and how often it changed something. */
struct tried {
    size_t refused, changed;
};

static void try_mistake(struct made *right, const struct job *job, struct mistake_choice choice, struct tried *tried)
{
    char mistake[MISTAKE_NAME_BYTES], reason[LINE_BYTES];
    struct made wrong;
    mistake_text(choice, mistake);
    const enum status status = make(&wrong, job, mistake);
    snprintf(reason, sizeof reason, "--mistake: %s cannot be made here: ", MISTAKES[choice.id].name);
    if (status != STATUS_OK) {
        CHECK(status == STATUS_USAGE && strncmp(wrong.error.message, reason, strlen(reason)) == 0 &&
                  strlen(wrong.error.message) > strlen(reason),
              "%s: expected '%s...', got '%s'", mistake, reason, wrong.error.message);
        tried->refused++;
        arena_free(&wrong.arena);
        return;
    }
    const enum stage first = first_changed(right, &wrong);
    CHECK(first == STAGE_COUNT || FIRST[MISTAKES[choice.id].slot] & STAGE_BIT(first), "%s changes %s first", mistake,
          stage_name(first));
    tried->changed += first != STAGE_COUNT;
    check_hidden(&wrong, mistake);
    if (!may_overflow(choice.id))
        check_finite(&wrong, mistake);
    arena_free(&wrong.arena);
}

static size_t count_forms(enum mistake id)
{
    size_t count = 0;
    while (MISTAKES[id].forms != NULL && MISTAKES[id].forms[count] != NULL)
        count++;
    return count > 0 ? count : 1;
}

/* Small enough for the jobs here. */
static double usual(enum mistake id)
{
    return id == MISTAKE_KEYS_PADDING_COUNTED ? 4 : MISTAKES[id].usual;
}

/* ATTN_QUICK: each mistake in the jobs up to the third that it changes. */
static bool quick;
enum { ENOUGH = 3 };

static void test_mistakes(const struct job *job, struct tried tried[MISTAKE_COUNT][MOST_FORMS])
{
    struct made right;
    check_begin("with each mistake: %s", job->name);
    if (CHECK(make(&right, job, NULL) == STATUS_OK, "expected a result, got: %s", right.error.message))
        for (int id = 0; id < MISTAKE_COUNT; id++)
            for (size_t form = 0; form < count_forms((enum mistake)id); form++) {
                if (quick && tried[id][form].changed >= ENOUGH)
                    continue;
                const double number_of = MISTAKES[id].forms != NULL ? (double)form : usual((enum mistake)id);
                try_mistake(&right, job, (struct mistake_choice){(enum mistake)id, number_of}, &tried[id][form]);
            }
    arena_free(&right.arena);
}

static bool takes_checkpoint(enum mistake id)
{
    return id == MISTAKE_DRAW_LAYER || MISTAKES[id].slot == MISTAKE_SLOT_LAYER || id == MISTAKE_QK_NORM_BEFORE_ROPE;
}

/* Each can be made in some job, where it changes something; another layer takes a checkpoint: check_porters.sh. */
static void test_all_made(struct tried tried[MISTAKE_COUNT][MOST_FORMS])
{
    check_begin("each mistake changes something somewhere");
    for (int id = 0; id < MISTAKE_COUNT; id++)
        for (size_t form = 0; form < count_forms((enum mistake)id) && !takes_checkpoint((enum mistake)id); form++)
            CHECK(tried[id][form].changed > 0, "%s, form %zu: changed nothing, refused %zu times", MISTAKES[id].name,
                  form, tried[id][form].refused);
}

int main(void)
{
    static struct tried tried[MISTAKE_COUNT][MOST_FORMS];
    quick = getenv("ATTN_QUICK") != NULL;
    if (quick)
        puts("ATTN_QUICK: each mistake in the jobs up to the third that it changes");
    for (size_t i = 0; i < sizeof JOBS / sizeof JOBS[0]; i++)
        test_reference(&JOBS[i]);
    for (size_t i = 0; i < sizeof JOBS / sizeof JOBS[0]; i++)
        test_mistakes(&JOBS[i], tried);
    test_all_made(tried);
    return check_end();
}
