/* SPDX-License-Identifier: MIT */
/* The settings, weights and sizes that attn reads off wrong tables (src/observe). Each table is made here, by an
 * attention of its own; the lines are compared. Other wrong tables fit no setting. */
#include "check.h"
#include "observe/observe.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 4, KV_HEADS = 2, TOKENS = 24, COLUMNS = 8, WIDTH = HEADS * COLUMNS, ROOM = HEADS * TOKENS * TOKENS };

/* --- attention, in double ---------------------------------------------------------------------------------------- */

/* A job: sdpa, or a projection of inputs before it and of the context after it. */
struct job {
    const char *name, *command;
    bool projects, causal, rotates;
    double scale, softcap, theta; /* 0: no softcap */
    int left, right, offset;      /* -1: no window */
    const double *slopes, *sinks; /* (HEADS) or NULL */
};

static double inputs[TOKENS][WIDTH], matrices[4][WIDTH][WIDTH]; /* of query, key, value, output: as nn.Linear */
static double query[HEADS][TOKENS][COLUMNS], key[KV_HEADS][TOKENS][COLUMNS], value[KV_HEADS][TOKENS][COLUMNS];

static uint64_t state = 1;

/* About normal, in float32. */
static double draw(void)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(state >> 11) * 0x1p-52 - 1;
    }
    return (double)(float)sum;
}

static void draw_all(void)
{
    double *const tables[] = {inputs[0], matrices[0][0], query[0][0], key[0][0], value[0][0]};
    const size_t counts[] = {sizeof inputs, sizeof matrices, sizeof query, sizeof key, sizeof value};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (size_t i = 0; i < counts[t] / sizeof(double); i++)
            tables[t][i] = (double)(float)(draw() * (t == 1 ? 0.3 : 1));
}

static void rotate(double *x, int position, double theta)
{
    for (int i = 0; i < COLUMNS / 2; i++) {
        const double angle = position * pow(theta, -2.0 * i / COLUMNS), a = x[i], b = x[i + COLUMNS / 2];
        x[i] = a * cos(angle) - b * sin(angle);
        x[i + COLUMNS / 2] = b * cos(angle) + a * sin(angle);
    }
}

/* One row of query, key or value (role 0 to 2) of a head, as the job uses it. */
static void load(const struct job *job, int role, int head, int token, double *x)
{
    const int kv_head = head / (HEADS / KV_HEADS);
    for (int c = 0; c < COLUMNS; c++) {
        x[c] = job->projects ? 0 : role == 0 ? query[head][token][c] : (role == 1 ? key : value)[kv_head][token][c];
        for (int k = 0; k < WIDTH && job->projects; k++)
            x[c] += inputs[token][k] * matrices[role][head * COLUMNS + c][k];
    }
    if (role < 2 && job->rotates)
        rotate(x, token, job->theta);
}

static bool allows(const struct job *job, int i, int j)
{
    const int p = i + job->offset;
    return (!job->causal || j <= p) && (job->left < 0 || j >= p - job->left) && (job->right < 0 || j <= p + job->right);
}

/* What may go wrong in a row of weights, after the softmax. */
typedef void spoil(double *weights, int head, int row);

struct tables {
    double weights[HEADS][TOKENS][TOKENS], context[HEADS][TOKENS][COLUMNS], output[TOKENS][WIDTH];
};

static void attend(const struct job *job, spoil *wrong, struct tables *made)
{
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < TOKENS; i++) {
            double q[COLUMNS], x[COLUMNS], *w = made->weights[h][i], *context = made->context[h][i];
            double sum = job->sinks != NULL ? exp(job->sinks[h]) : 0;
            load(job, 0, h, i, q);
            for (int j = 0; j < TOKENS; j++) {
                double score = 0;
                load(job, 1, h, j, x);
                for (int c = 0; c < COLUMNS; c++)
                    score += q[c] * x[c] * job->scale;
                score = job->softcap > 0 ? job->softcap * tanh(score / job->softcap) : score;
                score -= job->slopes != NULL ? job->slopes[h] * abs(i + job->offset - j) : 0;
                w[j] = allows(job, i, j) ? exp(score) : 0;
                sum += w[j];
            }
            memset(context, 0, sizeof made->context[h][i]);
            for (int j = 0; j < TOKENS; j++)
                w[j] = sum > 0 ? w[j] / sum : 0;
            if (wrong != NULL)
                wrong(w, h, i);
            for (int j = 0; j < TOKENS; j++) {
                load(job, 2, h, j, x);
                for (int c = 0; c < COLUMNS; c++)
                    context[c] += w[j] * x[c];
            }
        }
    for (int i = 0; i < TOKENS; i++)
        for (int c = 0; c < WIDTH; c++) {
            made->output[i][c] = 0;
            for (int k = 0; k < WIDTH; k++)
                made->output[i][c] += made->context[k / COLUMNS][i][k % COLUMNS] * matrices[3][c][k];
        }
}

/* --- attn's job -------------------------------------------------------------------------------------------------- */

/* Adds "name": a table of rows, in `blocks` blocks if that is not 0. */
static char *add_table(char *at, const char *name, const double *numbers, int blocks, int rows, int columns)
{
    const int count = (blocks > 0 ? blocks : 1) * rows * columns;
    at += sprintf(at, ",\"%s\":%s", name, blocks > 0 ? "[" : "");
    for (int i = 0; i < count; i++) {
        const bool begins = i % columns == 0, ends = (i + 1) % columns == 0;
        at += sprintf(at, "%s%s%s%.9g%s%s", i > 0 ? "," : "", i % (rows * columns) == 0 ? "[" : "", begins ? "[" : "",
                      numbers[i], ends ? "]" : "", (i + 1) % (rows * columns) == 0 ? "]" : "");
    }
    return at + sprintf(at, "%s", blocks > 0 ? "]" : "");
}

static char *add_list(char *at, const char *name, const double *numbers)
{
    at += sprintf(at, ",\"%s\":", name);
    for (int i = 0; i < HEADS; i++)
        at += sprintf(at, "%c%.9g", i > 0 ? ',' : '[', numbers[i]);
    return at + sprintf(at, "]");
}

static void make_job(const struct job *job, struct made *made)
{
    static const char *const NAMES[] = {"W_query.weight", "W_key.weight", "W_value.weight", "out_proj.weight"};
    static char json[1 << 17];
    char *at = json + sprintf(json, "{\"comment\":0");
    if (job->projects) {
        at = add_table(at, "inputs", inputs[0], 0, TOKENS, WIDTH);
        for (int i = 0; i < 4; i++)
            at = add_table(at, NAMES[i], matrices[i][0], 0, WIDTH, WIDTH);
    } else {
        at = add_table(at, "query", query[0][0], HEADS, TOKENS, COLUMNS);
        at = add_table(at, "key", key[0][0], KV_HEADS, TOKENS, COLUMNS);
        at = add_table(at, "value", value[0][0], KV_HEADS, TOKENS, COLUMNS);
    }
    if (job->slopes != NULL)
        at = add_list(at, "alibi_slopes", job->slopes);
    if (job->sinks != NULL)
        at = add_list(at, "sinks", job->sinks);
    strcpy(at, "}");
    CHECK(support_make(made, job->command, json) == STATUS_OK, "%s", made->error.message);
}

/* --- lines ------------------------------------------------------------------------------------------------------- */

/* How somebody has the numbers: in double, in float32, with so many decimals. */
enum digits { ALL = -2, FLOATS = -1 };

static double kept(double number, int digits)
{
    const double unit = pow(10, -digits);
    return digits == ALL ? number : digits == FLOATS ? (double)(float)number : round(number / unit) * unit;
}

struct view {
    enum stage stage;
    const double *numbers;
    size_t size[OBSERVE_AXES];
};

static struct view view_of(const struct tables *tables, enum stage stage)
{
    const struct view views[] = {{STAGE_WEIGHTS, tables->weights[0][0], {1, HEADS, TOKENS, TOKENS}},
                                 {STAGE_CONTEXT, tables->context[0][0], {1, HEADS, TOKENS, COLUMNS}},
                                 {STAGE_OUTPUT, tables->output[0], {1, 1, TOKENS, WIDTH}}};
    return views[stage == STAGE_WEIGHTS ? 0 : stage == STAGE_CONTEXT ? 1 : 2];
}

/* Describes the first table, of a job, given as the second; the lines live as long as the job. */
static void describe(struct made *made, const struct view *right, const struct view *mine, int digits,
                     struct observations *lines)
{
    static double numbers[ROOM], list[ROOM], tolerance[ROOM], printed[ROOM];
    struct observed observed = {.right = {.stage = right->stage, .numbers = numbers},
                                .mine = list,
                                .tolerance = tolerance,
                                .most_rms = 0.5,
                                .printed = printed,
                                .dtype = DTYPE_F32,
                                .problem = &made->problem,
                                .arena = &made->arena,
                                .error = &made->error};
    memcpy(observed.right.size, right->size, sizeof right->size);
    for (size_t i = 0; i < observe_count(&observed.right); i++) {
        numbers[i] = right->numbers[i];
        list[i] = kept(mine->numbers[i], digits);
        printed[i] = digits < 0 ? 0 : 0.5 * pow(10, -digits) * (1 + 1e-9);
        tolerance[i] = printed[i] + 4e-6 * (fabs(numbers[i]) + 0.1);
    }
    observed.most_rms = digits < 0 ? 0.5 : 1;
    CHECK(observe(&observed, lines) == STATUS_OK, "%s", made->error.message);
}

/* The text of the first line of a kind; NULL: there is none. */
static const char *line_of(const struct observations *lines, const char *kind)
{
    for (size_t i = 0; i < lines->count; i++)
        if (strcmp(lines->lines[i].name, kind) == 0)
            return lines->lines[i].text;
    return NULL;
}

static struct tables right_tables, wrong_tables;

/* The job's table as another job makes it, or as spoilt, has this line of that kind; NULL: none. */
static void expect(const struct job *job, const struct job *changed, spoil *wrong, enum stage stage, int digits,
                   const char *kind, const char *text)
{
    static struct made made;
    struct observations lines;
    attend(job, NULL, &right_tables);
    attend(changed, wrong, &wrong_tables);
    const struct view right = view_of(&right_tables, stage), mine = view_of(&wrong_tables, stage);
    check_begin("%s, %s, %d digits: %s", job->name, stage_name(stage), digits, text != NULL ? text : "no line");
    make_job(job, &made);
    describe(&made, &right, &mine, digits, &lines);
    CHECK_TEXT(text, line_of(&lines, kind));
    arena_free(&made.arena);
}

/* --- settings ---------------------------------------------------------------------------------------------------- */

#define USUAL .scale = 0.35355339059327373, .left = -1, .right = -1

static const double SLOPES[] = {0.5, 0.25, 0.125, 0.0625}, OTHER_SLOPES[] = {0.5, 0.3, 0.125, 0.0625},
                    SINKS[] = {0.5, -0.25, 1, 2}, OTHER_SINKS[] = {0.5, -0.25, 1.5, 2};

static const struct job PLAIN = {.name = "plain", .command = "sdpa", USUAL},
                        CAUSAL = {.name = "causal", .command = "sdpa --causal", .causal = true, USUAL},
                        CAPPED = {.name = "softcap", .command = "sdpa --softcap 5", .softcap = 5, USUAL},
                        WINDOW = {.name = "window",
                                  .command = "sdpa --causal --window 9,0",
                                  .causal = true,
                                  .scale = 0.35355339059327373,
                                  .left = 9,
                                  .right = -1},
                        ALIBI = {.name = "alibi", .command = "sdpa --causal", .causal = true, USUAL, .slopes = SLOPES},
                        SUNK = {.name = "sinks", .command = "sdpa", USUAL, .sinks = SINKS},
                        ROPE = {.name = "rope",
                                .command = "sdpa --causal --rope half",
                                .causal = true,
                                .rotates = true,
                                .theta = 10000,
                                USUAL},
                        MODULE = {.name = "module",
                                  .command = "multihead -H 4 --rope half",
                                  .projects = true,
                                  .causal = true,
                                  .rotates = true,
                                  .theta = 10000,
                                  USUAL};

static const struct job *const JOBS[] = {&PLAIN, &CAUSAL, &CAPPED, &WINDOW, &ALIBI, &SUNK, &ROPE, &MODULE};

static struct job other;

/* The job with one change; it lives until the next one. */
#define WITH(of, change) (other = (of), other.change, &other)

static void expect_everywhere(const struct job *job, const struct job *changed, const char *text)
{
    static const int DIGITS[] = {ALL, FLOATS, 4};
    for (size_t i = 0; i < 3; i++) {
        expect(job, changed, NULL, job->projects ? STAGE_OUTPUT : STAGE_CONTEXT, DIGITS[i], "setting", text);
        expect(job, changed, NULL, STAGE_WEIGHTS, DIGITS[i], "setting", text);
    }
    expect(job, job, NULL, STAGE_CONTEXT, FLOATS, "setting", NULL);
}

static void test_settings(void)
{
    for (size_t i = 0; i < sizeof JOBS / sizeof JOBS[0]; i++)
        expect_everywhere(JOBS[i], WITH(*JOBS[i], scale = 0.375), "the scale is 0.375, not 0.353553");
    expect(&PLAIN, WITH(PLAIN, scale = 1 / sqrt(12)), NULL, STAGE_CONTEXT, FLOATS, "setting",
           "the scale is 0.288675, 1 / sqrt(12), not 0.353553");
    expect_everywhere(&CAPPED, WITH(CAPPED, softcap = 3), "the softcap is 3, not 5");
    expect_everywhere(&CAUSAL, WITH(CAUSAL, softcap = 4), "the softcap is 4; this job has none");
    expect_everywhere(&ROPE, WITH(ROPE, theta = 500), "the rope theta is 500, not 10000");
    expect_everywhere(&MODULE, WITH(MODULE, theta = 500), "the rope theta is 500, not 10000");
    expect_everywhere(&ALIBI, WITH(ALIBI, slopes = OTHER_SLOPES), "the ALiBi slope of head 2 is 0.3, not 0.25");
    expect_everywhere(&SUNK, WITH(SUNK, sinks = OTHER_SINKS), "the sink of head 3 is 1.5, not 1");
    expect_everywhere(&WINDOW, WITH(WINDOW, left = 6), "the window before a query is 6, not 9");
    expect_everywhere(&CAUSAL, WITH(CAUSAL, left = 6), "the window before a query is 6; this job has none");
    expect_everywhere(&CAUSAL, WITH(CAUSAL, offset = 3), "the offset of the queries is 3, not 0");
    expect_everywhere(&PLAIN, WITH(PLAIN, right = 2), "the window after a query is 2; this job has none");
}

/* --- other bugs -------------------------------------------------------------------------------------------------- */

static void halve(double *w, int head, int row)
{
    for (int j = 0; j < TOKENS; j++)
        w[j] *= head + row > 3 ? 0.5 : 1;
}

static void divide_by_sum(double *w)
{
    double sum = 0;
    for (int j = 0; j < TOKENS; j++)
        sum += w[j];
    for (int j = 0; j < TOKENS; j++)
        w[j] /= sum;
}

static void square(double *w, int head, int row)
{
    for (int j = 0; j < TOKENS; j++)
        w[j] *= row % 2 == head % 2 ? w[j] : 1;
    divide_by_sum(w);
}

static void forget_a_key(double *w, int head, int row)
{
    const double left = 1 - w[2];
    for (int j = 0; j < TOKENS && head == 1 && row == 7; j++)
        w[j] = j == 2 ? 0 : w[j] / left;
}

static void shift(double *w, int head, int row)
{
    const double first = w[0];
    for (int j = 0; j + 1 < TOKENS && head > 0 && row > 1; j++)
        w[j] = w[j + 1];
    w[TOKENS - 1] = head > 0 && row > 1 ? first : w[TOKENS - 1];
}

static void shake(double *w, int head, int row)
{
    for (int j = 0; j < TOKENS; j++)
        w[j] *= 1 + 0.01 * sin(37 * head + 17 * row + 7 * j);
}

static void cut(double *w, int head, int row)
{
    for (int j = row < 12 ? TOKENS : 12; j < TOKENS; j++)
        w[j] = head % 2 ? 0 : w[j];
}

static void erase(double *w, int head, int row)
{
    memset(w, 0, TOKENS * sizeof *w);
    (void)head, (void)row;
}

/* As another scale, 1.5 times the right one. */
static void sharpen(double *w, int head, int row)
{
    for (int j = 0; j < TOKENS; j++)
        w[j] = head == 2 ? pow(w[j], 1.5) : w[j];
    divide_by_sum(w);
    (void)row;
}

static void test_others(bool quick)
{
    static spoil *const BUGS[] = {halve, square, forget_a_key, shift, shake, cut, erase};
    for (size_t j = 0; j < sizeof JOBS / sizeof JOBS[0]; j++)
        for (size_t b = 0; b < sizeof BUGS / sizeof BUGS[0]; b++) {
            const enum stage stage = JOBS[j]->projects ? STAGE_OUTPUT : STAGE_CONTEXT;
            if (quick && (b + j) % 3 != 0)
                continue;
            expect(JOBS[j], JOBS[j], BUGS[b], stage, FLOATS, "setting", NULL);
            expect(JOBS[j], JOBS[j], BUGS[b], STAGE_WEIGHTS, b % 2 ? 4 : FLOATS, "setting", NULL);
            expect(JOBS[j], JOBS[j], BUGS[b], STAGE_WEIGHTS, FLOATS, "alike", NULL);
        }
}

/* --- weights, and sizes ------------------------------------------------------------------------------------------ */

static void look_ahead(double *w, int head, int row)
{
    for (int j = 0; j < TOKENS && head == 2 && row == 8; j++)
        w[j] = 0.75 * w[j] + (j == 11 ? 0.25 : 0);
}

static void alike(double *w, int head, int row)
{
    int count = 0;
    for (int j = 0; j < TOKENS; j++)
        count += w[j] > 0;
    for (int j = 0; j < TOKENS; j++)
        w[j] = w[j] > 0 ? 1.0 / count : 0;
    (void)head, (void)row;
}

static void subtract(double *w, int head, int row)
{
    w[row] -= head == 0 && row == 3 ? 1.5 : 0;
}

static void weigh_one(double *w, int head, int row)
{
    for (int j = 0; j < TOKENS; j++)
        w[j] *= head == 3 && row == 20 ? 1.25 : 1;
}

static double largest_of(const double *w)
{
    double most = 0;
    for (int j = 0; j < TOKENS; j++)
        most = fmax(most, w[j]);
    return most;
}

/* exp as (1 + x / 1024)^1024, whose error grows with the score. */
static void approximate(double *w, int head, int row)
{
    const double most = largest_of(w);
    for (int j = 0; j < TOKENS; j++)
        w[j] = w[j] > 0 ? pow(1 + log(w[j] / most) / 1024, 1024) : 0;
    divide_by_sum(w);
    (void)head, (void)row;
}

static void approximate_unsummed(double *w, int head, int row)
{
    approximate(w, head, row);
    for (int j = 0; j < TOKENS; j++)
        w[j] *= 0.5 + 0.01 * (row + head);
}

/* The same with a parabola for the fraction of each power of 2. */
static void approximate_power(double *w, int head, int row)
{
    const double most = largest_of(w);
    for (int j = 0; j < TOKENS; j++) {
        const double power = log2(w[j] / most), part = power - floor(power);
        w[j] = w[j] > 0 ? ldexp(1 + part * (0.6565 + part * 0.3435), (int)floor(power)) : 0;
    }
    divide_by_sum(w);
    (void)head, (void)row;
}

/* Weights of 8 bits after the point. */
static void coarsen(double *w, int head, int row)
{
    for (int j = 0; j < TOKENS; j++) {
        int power;
        const double part = frexp(w[j], &power);
        w[j] = ldexp(rint(part * 256) / 256, power);
    }
    (void)head, (void)row;
}

static void test_weights(void)
{
    expect(&CAUSAL, &CAUSAL, look_ahead, STAGE_WEIGHTS, FLOATS, "masked",
           "head 3, row 9 gives 0.25 to key 12, which the mask forbids");
    expect(&CAUSAL, &CAUSAL, subtract, STAGE_WEIGHTS, FLOATS, "negative",
           "head 1, row 4 gives -1.464 to key 4, less than 0");
    expect(&CAUSAL, &CAUSAL, weigh_one, STAGE_WEIGHTS, FLOATS, "factor",
           "head 4, row 21 is 1.25 times the right numbers; all others are right");
    expect(&CAUSAL, &CAUSAL, subtract, STAGE_WEIGHTS, FLOATS, "sums",
           "the weights of head 1, row 4 sum to -0.5, not 1");
    expect(&CAUSAL, &CAUSAL, alike, STAGE_CONTEXT, FLOATS, "uniform",
           "each query weighs its allowed keys alike: the scores do not count");
    expect(&MODULE, &MODULE, alike, STAGE_OUTPUT, 4, "uniform",
           "each query weighs its allowed keys alike: the scores do not count");
    expect(
        &PLAIN, &PLAIN, approximate, STAGE_WEIGHTS, FLOATS, "exp",
        "each weight is off by a share, 0.0035 on average, that depends on its score: as by another function than exp");
    expect(&PLAIN, &PLAIN, approximate_unsummed, STAGE_WEIGHTS, FLOATS, "sums",
           "the weights of 96 of 96 rows do not sum to 1, but to 0.5 ... 0.76, from head 1, row 1 on");
    expect(&PLAIN, &PLAIN, approximate_power, STAGE_WEIGHTS, FLOATS, "exp",
           "each weight is off by a share, 0.0019 on average, that depends on the fraction of its power of 2: as by an "
           "approximate exp2");
    expect(&PLAIN, &PLAIN, coarsen, STAGE_CONTEXT, FLOATS, "rounding",
           "the errors are as small as those of bfloat16: their root mean square is 0.00064, and 0.0022 where each "
           "stage is rounded to it");
    expect(&CAUSAL, &CAUSAL, forget_a_key, STAGE_CONTEXT, FLOATS, "implied", NULL); /* more keys than columns */
}

enum { FEW = 6 };

/* Values with more columns than keys determine the weights. */
static void test_implied(spoil *wrong, int digits, const char *text)
{
    static double context[2][FEW][COLUMNS], json_query[FEW];
    static struct made made;
    static char json[4096];
    struct observations lines;
    for (int i = 0; i < FEW; i++) { /* a query of 0 but in its first column, keys of j: the score is that product */
        double w[TOKENS] = {0}, sum = 0;
        json_query[i] = (i % 3 - 1) * 0.5;
        for (int j = 0; j <= i; j++)
            sum += w[j] = exp(json_query[i] * key[0][j][0]);
        for (int spoilt = 0; spoilt < 2; spoilt++) {
            for (int j = 0; j < TOKENS && spoilt == 0; j++)
                w[j] /= sum;
            if (spoilt == 1 && wrong != NULL)
                wrong(w, 0, i);
            for (int c = 0; c < COLUMNS; c++) {
                context[spoilt][i][c] = 0;
                for (int j = 0; j < FEW; j++)
                    context[spoilt][i][c] += w[j] * value[0][j][c];
            }
        }
    }
    char *at = json + sprintf(json, "{\"comment\":0");
    at = add_table(at, "query", json_query, 1, FEW, 1);
    at += sprintf(at, ",\"key\":[[");
    for (int j = 0; j < FEW; j++)
        at += sprintf(at, "%s[%.9g]", j > 0 ? "," : "", key[0][j][0]);
    at = add_table(at + sprintf(at, "]]"), "value", value[0][0], 1, FEW, COLUMNS);
    strcpy(at, "}");
    check_begin("implied, %d digits: %s", digits, text != NULL ? text : "no line");
    CHECK(support_make(&made, "sdpa --causal", json) == STATUS_OK, "%s", made.error.message);
    const struct view right = {STAGE_CONTEXT, context[0][0], {1, 1, FEW, COLUMNS}},
                      mine = {STAGE_CONTEXT, context[1][0], {1, 1, FEW, COLUMNS}};
    describe(&made, &right, &mine, digits, &lines);
    CHECK_TEXT(text, line_of(&lines, "implied"));
    arena_free(&made.arena);
}

static void miss_key_2(double *w, int head, int row)
{
    const double left = 1 - w[1];
    for (int j = 0; j < FEW && row > 1; j++)
        w[j] = j == 1 ? 0 : w[j] / left;
    (void)head;
}

static void see_key_5(double *w, int head, int row)
{
    for (int j = 0; j < FEW && row == 2; j++)
        w[j] = 0.75 * w[j] + (j == 4 ? 0.25 : 0);
    (void)head;
}

static void half_of_each(double *w, int head, int row)
{
    for (int j = 0; j < FEW; j++)
        w[j] *= j % 2 == 1 ? 0.5 : 1;
    (void)head, (void)row;
}

int main(void)
{
    const bool quick = getenv("ATTN_QUICK") != NULL;
    if (quick)
        puts("ATTN_QUICK: one in three of the numbers that no setting gives");
    draw_all();
    test_weights();
    for (int digits = ALL; digits <= 4; digits += digits == FLOATS ? 5 : 1) {
        test_implied(NULL, digits, NULL);
        test_implied(miss_key_2, digits,
                     "row 3 gives nothing to key 2, expected 0.4 (and 3 more such weights, each of key 2)");
        test_implied(see_key_5, digits, "row 3 also gives 0.25 to key 5");
        test_implied(half_of_each, digits, "by its values, the weights of 5 rows sum to 0.75 ... 0.8, not to 1");
    }
    test_settings();
    expect(&PLAIN, &PLAIN, sharpen, STAGE_CONTEXT, FLOATS, "setting",
           "head 3: the scale is 0.53033, not 0.353553; all others are right");
    test_others(quick);
    return check_end();
}
