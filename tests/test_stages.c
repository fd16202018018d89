/* SPDX-License-Identifier: MIT */
/* Each stage of the reference is the stages before it, as they are stored, put through exact arithmetic and rounded once
 * to the working dtype. The arithmetic here is in long double and shares no line with src: its own mask, its own
 * rounding, and of dropout only the draws.
 *
 *   B items, H heads, H_kv heads of key and value, Tq queries, Tk keys of which `past` come first, d and d_v columns. */
#include "check.h"
#include "model/torch_random.h"
#include "support.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 15, TEXT_BYTES = 1 << 20, LINE_BYTES = 320, DROPOUT_SEED = 7, UNBOUNDED = -1 };

/* What is asked for in `options`, said a second time for the test's own arithmetic. */
struct stage_case {
    const char *options;
    size_t items, heads, kv_heads, queries, keys, past, d, d_value; /* Tk with the past; d_in is 9 where it projects */
    bool causal, bottom_right, softmax_differs;
    int left, right; /* the window, beside UNBOUNDED */
    double scale, softcap, dropout;
    enum dtype softmax_dtype;
    bool float_mask, short_mask, boolean_mask, drops_true, alibi, sinks, lengths;
};

enum { D_IN = 9 };

/* clang-format off */
#define PLAIN .left = UNBOUNDED, .right = UNBOUNDED
static const struct stage_case SDPA[] = {
    {"sdpa", 2, 3, 3, 13, 17, 0, 7, 5, PLAIN},
    {"sdpa --causal", 2, 3, 3, 13, 17, 0, 7, 5, PLAIN, .causal = true},
    {"sdpa --causal --align bottom-right", 1, 3, 3, 17, 13, 0, 7, 5, PLAIN, .causal = true, .bottom_right = true},
    {"sdpa --causal --window 4,2", 2, 4, 2, 19, 19, 0, 11, 3, .left = 4, .right = 2, .causal = true},
    {"sdpa --window 0,3", 2, 4, 1, 13, 19, 0, 5, 9, .left = 0, .right = 3},
    {"sdpa --softcap 1.7 --scale 0.6", 2, 6, 2, 13, 17, 0, 7, 5, PLAIN, .softcap = 1.7, .scale = 0.6},
    {"sdpa --scale -0.4", 2, 6, 2, 13, 17, 0, 7, 5, PLAIN, .scale = -0.4},
    {"sdpa --mask-true drop", 2, 3, 3, 13, 17, 0, 7, 5, PLAIN, .boolean_mask = true, .drops_true = true},
    {"sdpa --causal", 2, 6, 3, 17, 23, 0, 7, 5, PLAIN, .causal = true, .float_mask = true},
    {"sdpa --softcap 2.5", 2, 6, 3, 17, 23, 0, 7, 5, PLAIN, .softcap = 2.5, .short_mask = true, .alibi = true},
    {"sdpa --causal", 2, 6, 3, 13, 21, 8, 7, 5, PLAIN, .causal = true, .alibi = true},
    {"sdpa --causal --window 5,-1", 2, 6, 3, 13, 21, 3, 7, 5, .left = 5, .right = UNBOUNDED, .causal = true, .sinks = true},
    {"sdpa", 3, 6, 2, 9, 17, 0, 7, 5, PLAIN, .lengths = true, .alibi = true, .float_mask = true},
    {"sdpa --causal --window 3,1", 3, 6, 2, 9, 17, 0, 7, 5, .left = 3, .right = 1, .causal = true, .lengths = true},
    {"sdpa --dropout 0.3 --dropout-seed 7", 2, 6, 2, 13, 19, 0, 7, 5, PLAIN, .dropout = 0.3},
    {"sdpa --causal --dropout 0.6 --dropout-seed 7", 2, 6, 2, 13, 19, 0, 7, 5, PLAIN, .causal = true, .dropout = 0.6, .sinks = true},
    {"sdpa --softmax-dtype f32", 2, 3, 3, 13, 17, 0, 7, 5, PLAIN, .softmax_differs = true, .softmax_dtype = DTYPE_F32},
    {"sdpa --softmax-dtype f16 --causal", 2, 3, 3, 13, 17, 0, 7, 5, PLAIN, .causal = true, .softmax_differs = true, .softmax_dtype = DTYPE_F16, .sinks = true},
    {"sdpa --softmax-dtype f64", 2, 3, 3, 13, 17, 0, 7, 5, PLAIN, .softmax_differs = true, .softmax_dtype = DTYPE_F64, .alibi = true},
};

/* queries and keys are the tokens, d and d_v the columns of a head. */
static const struct stage_case MODULES[] = {
    {"self --d-out 7", 3, 1, 1, 19, 19, 0, 7, 7, PLAIN},
    {"self --d-out 7 --init rand --window 6,3 --softcap 3", 3, 1, 1, 19, 19, 0, 7, 7, .left = 6, .right = 3, .softcap = 3},
    {"causal --d-out 5 --qkv-bias", 3, 1, 1, 19, 19, 0, 5, 5, PLAIN, .causal = true, .alibi = true, .sinks = true},
    {"causal --d-out 5 --dropout 0.4 --dropout-seed 7", 3, 1, 1, 19, 19, 0, 5, 5, PLAIN, .causal = true, .dropout = 0.4},
    {"multihead --heads 3 --d-out 21", 2, 3, 3, 17, 17, 0, 7, 7, PLAIN, .causal = true},
    {"multihead --heads 6 --kv-heads 2 --d-out 30 --qkv-bias", 2, 6, 2, 17, 17, 0, 5, 5, PLAIN, .causal = true, .alibi = true},
    {"multihead --heads 6 --kv-heads 3 --d-out 18 --no-causal --scale 1.2", 2, 6, 3, 17, 17, 0, 3, 3, PLAIN, .scale = 1.2, .float_mask = true, .sinks = true},
    {"multihead --heads 3 --stacked --d-out 5 --window 4,-1", 2, 3, 3, 17, 17, 0, 5, 5, .left = 4, .right = UNBOUNDED, .causal = true},
    {"multihead --heads 3 --stacked --d-out 5 --qkv-bias --no-causal", 2, 3, 3, 17, 17, 0, 5, 5, PLAIN, .boolean_mask = true},
};
/* clang-format on */

/* --- numbers ----------------------------------------------------------------------------------------------------- */

static const struct {
    int bits, smallest; /* significant bits; the exponent of the least number above 0 */
    long double largest;
} DTYPES[] = {
    [DTYPE_F32] = {24, -149, 0x1.fffffep127L},
    [DTYPE_F64] = {53, -1074, 0x1.fffffffffffffp1023L},
    [DTYPE_F16] = {11, -24, 65504},
    [DTYPE_BF16] = {8, -133, 0x1.fep127L},
};

/* The distance between neighbours at x. */
static long double unit_at(enum dtype dtype, long double x)
{
    int exponent;
    frexpl(x, &exponent);
    const int place = exponent - DTYPES[dtype].bits;
    return ldexpl(1, x == 0 || place < DTYPES[dtype].smallest ? DTYPES[dtype].smallest : place);
}

static long double rounded(enum dtype dtype, long double x)
{
    if (!isfinite(x))
        return x;
    const long double unit = unit_at(dtype, x), nearest = rintl(x / unit) * unit;
    return fabsl(nearest) > DTYPES[dtype].largest ? copysignl(INFINITY, x) : nearest;
}

/* --- the input --------------------------------------------------------------------------------------------------- */

static char text[TEXT_BYTES];
static size_t length;
static struct torch_random source;

/* What the text says of masks, and the tensors of sdpa; rounded to the dtype where the program rounds them. */
static long double given_query[ROOM], given_key[ROOM], given_value[ROOM], attn_mask[ROOM], slopes[64], sinks[64];
static bool allowed[ROOM];
static size_t lengths[8];

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    length += (size_t)vsnprintf(text + length, sizeof text - length, format, arguments);
    va_end(arguments);
}

/* A normal of 53 bits. */
static double draw(void)
{
    float pair[2];
    torch_random_normal(&source, pair, 2);
    return (double)pair[0] + (double)pair[1] * 0x1p-27;
}

static bool chance(double share)
{
    bool kept;
    torch_random_dropout(&source, share, &kept, 1);
    return !kept;
}

/* Adds an array of that shape; numbers (all of them) are what they are as read in the dtype. */
static void add_numbers(const char *name, size_t rank, const size_t *shape, enum dtype dtype, double factor,
                        double forbidden, long double *numbers)
{
    size_t count = 1;
    for (size_t axis = 0; axis < rank; axis++)
        count *= shape[axis];
    add("%s\"%s\": ", length > 1 ? ", " : "", name);
    for (size_t i = 0; i < count; i++) {
        size_t block = count, opens = 0;
        for (size_t axis = 0; axis < rank; block /= shape[axis++])
            opens += i % block == 0;
        add("%s%.*s", i ? ", " : "", (int)opens, "[[[[");
        const double number = factor * draw();
        if (forbidden > 0 && chance(forbidden)) {
            numbers[i] = -INFINITY;
            add("null");
        } else {
            numbers[i] = rounded(dtype, number);
            add("%.17g", number);
        }
        size_t closes = 0;
        block = count;
        for (size_t axis = 0; axis < rank; block /= shape[axis++])
            closes += (i + 1) % block == 0;
        add("%.*s", (int)closes, "]]]]");
    }
}

static void add_boolean_mask(const struct stage_case *test)
{
    const size_t count = test->queries * test->keys;
    add(", \"attn_mask\": [");
    for (size_t i = 0; i < count; i++) {
        const bool truth = chance(0.5);
        allowed[i] = truth != test->drops_true;
        add("%s%s%s",
            i == 0                ? "["
            : i % test->keys == 0 ? "], ["
                                  : ", ",
            truth ? "true" : "false", i + 1 == count ? "]]" : "");
    }
}

/* The columns of attn_mask: two keys are not in the short one. */
static size_t mask_columns(const struct stage_case *test)
{
    return test->keys - (test->short_mask ? 2 : 0);
}

static void add_masking(const struct stage_case *test, enum dtype dtype)
{
    const size_t mask_shape[] = {test->items, 1, test->queries, mask_columns(test)}, heads = test->heads;
    if (test->float_mask || test->short_mask)
        add_numbers("attn_mask", 4, mask_shape, dtype, 1, 0.2, attn_mask);
    if (test->boolean_mask)
        add_boolean_mask(test);
    if (test->alibi)
        add_numbers("alibi_slopes", 1, &heads, dtype, 0.3, 0, slopes);
    if (test->sinks)
        add_numbers("sinks", 1, &heads, dtype, 1, 0, sinks);
    if (!test->lengths)
        return;
    for (size_t item = 0; item < test->items; item++) {
        lengths[item] = item == 0 ? test->keys : item * 5 % test->keys;
        add("%s%zu%s", item ? ", " : ", \"kv_lengths\": [", lengths[item], item + 1 == test->items ? "]" : "");
    }
}

/* The past before the given, in every matrix. */
static void add_cached(const char *name, const char *past_name, const struct stage_case *test, size_t columns,
                       enum dtype dtype, long double *whole)
{
    static long double past[ROOM], present[ROOM];
    const size_t matrices = test->items * test->kv_heads, first = test->past * columns;
    const size_t rest = (test->keys - test->past) * columns;
    const size_t past_shape[] = {test->items, test->kv_heads, test->past, columns};
    const size_t shape[] = {test->items, test->kv_heads, test->keys - test->past, columns};
    if (test->past > 0)
        add_numbers(past_name, 4, past_shape, dtype, 1, 0, past);
    add_numbers(name, 4, shape, dtype, 1, 0, present);
    for (size_t matrix = 0; matrix < matrices; matrix++) {
        memcpy(whole + matrix * (first + rest), past + matrix * first, first * sizeof *whole);
        memcpy(whole + matrix * (first + rest) + first, present + matrix * rest, rest * sizeof *whole);
    }
}

static void write_input(const struct stage_case *test, enum dtype dtype, bool projects, uint64_t seed)
{
    static long double inputs[ROOM];
    const size_t inputs_shape[] = {test->items, test->keys, D_IN};
    const size_t query_shape[] = {test->items, test->heads, test->queries, test->d};
    torch_random_seed(&source, TORCH_RANDOM_VECTOR, seed);
    length = 0;
    add("{");
    if (projects) {
        add_numbers("inputs", 3, inputs_shape, dtype, 1, 0, inputs);
    } else {
        add_numbers("query", 4, query_shape, dtype, 1, 0, given_query);
        add_cached("key", "past_key", test, test->d, dtype, given_key);
        add_cached("value", "past_value", test, test->d_value, dtype, given_value);
    }
    add_masking(test, dtype);
    add("}");
}

/* --- what was stored --------------------------------------------------------------------------------------------- */

struct stored {
    const char *name;
    size_t count;
    double numbers[ROOM];
};

static struct stored query, key, value, scores, scaled, capped, masked, weights, dropped, context, output, lse, entropy;

static bool load(struct made *made, const char *name, struct stored *stored)
{
    const struct result_table *table = support_table(made, name);
    stored->name = name;
    if (!CHECK(table != NULL, "expected a table '%s', got none", name))
        return false;
    stored->count = support_table_numbers(made, table, stored->numbers, ROOM);
    return CHECK(stored->count <= ROOM, "%s: expected at most %d numbers, got %zu", name, ROOM, stored->count);
}

/* --- the comparison ---------------------------------------------------------------------------------------------- */

/* How the numbers of one stage came out. Of what is not finite and of what must be so exactly, none may differ. */
struct tally {
    const struct stored *stored;
    enum dtype dtype;
    size_t count, far, different;
    bool twice; /* a rounding on the way is meant: the bits may differ */
};

static void tally(struct tally *all, size_t at, long double exact)
{
    const long double wanted = rounded(all->dtype, exact), got = all->stored->numbers[at];
    all->count++;
    if (isnan(wanted) || isinf(wanted)) {
        CHECK(isnan(wanted) ? isnan(got) : got == wanted, "%s[%zu]: expected %Lg, got %Lg", all->stored->name, at,
              wanted, got);
        return;
    }
    if (isnan(got) || fabsl(got - wanted) > unit_at(all->dtype, wanted)) {
        all->far++;
        CHECK(!isnan(got) && fabsl(got - wanted) < 1e-3L * (1 + fabsl(wanted)) + 16 * unit_at(all->dtype, wanted),
              "%s[%zu]: expected %.17Lg, got %.17Lg", all->stored->name, at, wanted, got);
    }
    all->different += got != wanted;
}

/* 99.9 % within a unit in the last place; in a dtype that is narrower than the arithmetic, the very bits. */
static void check_tally(const struct tally *all)
{
    CHECK(all->count == all->stored->count, "%s: expected %zu numbers, got %zu", all->stored->name, all->count,
          all->stored->count);
    CHECK((double)all->far <= 0.001 * (double)all->count,
          "%s: expected 99.9 %% within a unit in the last place, got %zu of %zu outside", all->stored->name, all->far,
          all->count);
    if (all->dtype != DTYPE_F64 && !all->twice)
        CHECK((double)all->different <= 0.001 * (double)all->count,
              "%s: expected 99.9 %% rounded once, got %zu of %zu otherwise", all->stored->name, all->different,
              all->count);
}

/* A double has no room to spare: what is summed is near to the sum of the magnitudes, not to each result. */
static void check_sum(struct tally *all, size_t at, long double exact, long double magnitude)
{
    if (all->dtype != DTYPE_F64 || !isfinite(exact)) {
        tally(all, at, exact);
        return;
    }
    const long double got = all->stored->numbers[at];
    all->count++;
    CHECK(fabsl(got - exact) <= 8 * magnitude * 0x1p-53L, "%s[%zu]: expected %.19Lg, got %.19Lg", all->stored->name, at,
          exact, got);
}

/* --- the equations ----------------------------------------------------------------------------------------------- */

static long long position(const struct stage_case *test, size_t item, size_t i)
{
    const long long at = (long long)i, tokens = (long long)test->queries;
    if (test->lengths)
        return at + (long long)lengths[item] - tokens;
    return at + (long long)test->past + (test->bottom_right ? (long long)test->keys - tokens : 0);
}

/* What is added to a score; minus infinity where the key is forbidden. */
static long double bias_of(const struct stage_case *test, size_t item, size_t head, size_t i, size_t j)
{
    const long long p = position(test, item, i), at = (long long)j;
    const size_t columns = mask_columns(test);
    long double bias = 0;
    if ((test->lengths && j >= lengths[item]) || (test->causal && at > p))
        return -INFINITY;
    if ((test->left >= 0 && at < p - test->left) || (test->right >= 0 && at > p + test->right))
        return -INFINITY;
    if (test->boolean_mask && !allowed[i * test->keys + j])
        return -INFINITY;
    if (test->float_mask || test->short_mask)
        bias = j < columns ? attn_mask[(item * test->queries + i) * columns + j] : -INFINITY;
    return test->alibi ? bias - slopes[head] * (long double)llabs(at - p) : bias;
}

static void check_scores(const struct stage_case *test, size_t matrix, size_t kv_matrix, struct tally *all)
{
    for (size_t i = 0; i < test->queries; i++)
        for (size_t j = 0; j < test->keys; j++) {
            long double sum = 0, magnitude = 0;
            for (size_t c = 0; c < test->d; c++) {
                const long double product = (long double)query.numbers[(matrix * test->queries + i) * test->d + c] *
                                            key.numbers[(kv_matrix * test->keys + j) * test->d + c];
                sum += product;
                magnitude += fabsl(product);
            }
            check_sum(all, (matrix * test->queries + i) * test->keys + j, sum, magnitude);
        }
}

struct tallies {
    struct tally scores, scaled, capped, masked, weights, dropped, context, lse, entropy;
};

/* One row from scaled to masked. */
static void check_elements(const struct stage_case *test, size_t item, size_t head, size_t i, struct tallies *all)
{
    const size_t row = ((item * test->heads + head) * test->queries + i) * test->keys;
    const long double scale = test->scale != 0 ? (long double)test->scale : 1 / sqrtl((long double)test->d);
    const long double softcap = test->softcap;
    for (size_t j = 0; j < test->keys; j++) {
        const long double bias = bias_of(test, item, head, i, j), x = scaled.numbers[row + j];
        tally(&all->scaled, row + j, scores.numbers[row + j] * scale);
        check_sum(&all->capped, row + j, softcap > 0 ? softcap * tanhl(x / softcap) : x, fabsl(x));
        check_sum(&all->masked, row + j, bias == -INFINITY ? bias : capped.numbers[row + j] + bias,
                  fabsl(capped.numbers[row + j]) + fabsl(bias) + 1);
        CHECK((bias == -INFINITY) == (masked.numbers[row + j] == -INFINITY), "masked[%zu]: expected %s, got %g",
              row + j, bias == -INFINITY ? "-inf" : "a number", masked.numbers[row + j]);
    }
}

/* Weights, and the statistics, of one row. */
static void check_softmax(const struct stage_case *test, size_t item, size_t head, size_t i, struct tallies *all)
{
    const size_t matrix_row = (item * test->heads + head) * test->queries + i, row = matrix_row * test->keys;
    const enum dtype dtype = all->weights.dtype, inner = test->softmax_differs ? test->softmax_dtype : dtype;
    long double maximum = test->sinks ? sinks[head] : -INFINITY, sum = 0, sum_of_masked = 0;
    for (size_t j = 0; j < test->keys; j++)
        maximum = fmaxl(maximum, rounded(inner, masked.numbers[row + j]));
    for (size_t j = 0; j < test->keys; j++) {
        sum += expl(rounded(inner, masked.numbers[row + j]) - maximum);
        sum_of_masked += expl(masked.numbers[row + j] - maximum);
    }
    if (test->sinks) {
        sum += expl(sinks[head] - maximum);
        sum_of_masked += expl(sinks[head] - maximum);
    }
    for (size_t j = 0; j < test->keys; j++) {
        const bool seen = masked.numbers[row + j] > -INFINITY;
        const long double weight = seen ? expl(rounded(inner, masked.numbers[row + j]) - maximum) / sum : 0;
        check_sum(&all->weights, row + j, rounded(inner, weight), 4 * weight);
        CHECK(seen || weights.numbers[row + j] == 0, "weights[%zu]: expected 0, got %g", row + j,
              weights.numbers[row + j]);
    }
    const long double exact = maximum == -INFINITY ? -INFINITY : maximum + logl(sum_of_masked);
    check_sum(&all->lse, matrix_row, exact, 1 + fabsl(exact));
    long double uncertainty = 0;
    for (size_t j = 0; j < test->keys; j++)
        if (weights.numbers[row + j] != 0)
            uncertainty -= weights.numbers[row + j] * logl(weights.numbers[row + j]);
    check_sum(&all->entropy, matrix_row, uncertainty, uncertainty);
}

/* Dropped and context of one row. `kept` (Tk): what dropout draws for it; NULL: no dropout. */
static void check_context(const struct stage_case *test, size_t matrix, size_t kv_matrix, size_t i, const bool *kept,
                          struct tallies *all)
{
    const size_t row = (matrix * test->queries + i) * test->keys;
    const double *last = kept != NULL ? dropped.numbers : weights.numbers;
    for (size_t j = 0; j < test->keys && kept != NULL; j++)
        tally(&all->dropped, row + j, kept[j] ? weights.numbers[row + j] / (1 - (long double)test->dropout) : 0);
    for (size_t c = 0; c < test->d_value; c++) {
        long double sum = 0, magnitude = 0;
        for (size_t j = 0; j < test->keys; j++) {
            const long double product =
                (long double)last[row + j] * value.numbers[(kv_matrix * test->keys + j) * test->d_value + c];
            sum += product;
            magnitude += fabsl(product);
        }
        check_sum(&all->context, (matrix * test->queries + i) * test->d_value + c, sum, magnitude);
    }
}

static struct tally start(const struct stored *stored, enum dtype dtype, bool twice)
{
    return (struct tally){.stored = stored, .dtype = dtype, .twice = twice};
}

/* From scores to context, and the statistics. Heads of one module are dropped in one draw. */
static void check_stages(const struct stage_case *test, enum dtype dtype)
{
    const bool drops = test->dropout > 0;
    struct tallies all = {start(&scores, dtype, false),  start(&scaled, dtype, false),  start(&capped, dtype, false),
                          start(&masked, dtype, false),  start(&weights, dtype, false), start(&dropped, dtype, true),
                          start(&context, dtype, false), start(&lse, dtype, false),     start(&entropy, dtype, false)};
    struct torch_random generator;
    bool *kept = malloc(test->keys * sizeof *kept);
    torch_random_seed(&generator, TORCH_RANDOM_VECTOR, DROPOUT_SEED);
    for (size_t item = 0; item < test->items; item++)
        for (size_t head = 0; head < test->heads; head++) {
            const size_t matrix = item * test->heads + head;
            const size_t kv_matrix = item * test->kv_heads + head * test->kv_heads / test->heads;
            check_scores(test, matrix, kv_matrix, &all.scores);
            for (size_t i = 0; i < test->queries; i++) {
                check_elements(test, item, head, i, &all);
                check_softmax(test, item, head, i, &all);
                if (drops)
                    torch_random_dropout(&generator, test->dropout, kept, test->keys);
                check_context(test, matrix, kv_matrix, i, drops ? kept : NULL, &all);
            }
        }
    free(kept);
    check_tally(&all.scores);
    check_tally(&all.scaled);
    check_tally(&all.capped);
    check_tally(&all.masked);
    check_tally(&all.weights);
    check_tally(&all.context);
    check_tally(&all.lse);
    check_tally(&all.entropy);
    if (drops)
        check_tally(&all.dropped);
}

/* --- what comes before scores, and after context ----------------------------------------------------------------- */

static void check_given(const struct stored *stored, const long double *given, size_t count)
{
    CHECK(stored->count == count, "%s: expected %zu numbers, got %zu", stored->name, count, stored->count);
    for (size_t i = 0; i < count && i < stored->count; i++)
        CHECK(stored->numbers[i] == given[i], "%s[%zu]: expected %.17Lg, got %.17g", stored->name, i, given[i],
              stored->numbers[i]);
}

static struct stored inputs, weight, bias;

/* Loads the parameters of `name` ("W_key"), or of heads.N; whether the weight is d_out x d_in, as nn.Linear has it. */
static bool load_parameters(struct made *made, const char *prefix, const char *name, bool *transposed)
{
    static char names[2][64];
    snprintf(names[0], sizeof names[0], "%s%s.weight", prefix, name);
    snprintf(names[1], sizeof names[1], "%s%s.bias", prefix, name);
    *transposed = support_table(made, names[0]) != NULL;
    if (!*transposed)
        snprintf(names[0], sizeof names[0], "%s%s", prefix, name);
    bias.count = 0;
    if (support_table(made, names[1]) != NULL && !load(made, names[1], &bias))
        return false;
    return load(made, names[0], &weight);
}

/* One number of x . W + bias. */
static void check_product(struct tally *all, size_t at, const double *x, size_t x_stride, size_t per_stride,
                          size_t width, size_t column, size_t columns, bool transposed)
{
    long double sum = bias.count > 0 ? bias.numbers[column] : 0, magnitude = fabsl(sum);
    for (size_t k = 0; k < width; k++) {
        const double number = transposed ? weight.numbers[column * width + k] : weight.numbers[k * columns + column];
        const long double product = (long double)x[k % per_stride + k / per_stride * x_stride] * number;
        sum += product;
        magnitude += fabsl(product);
    }
    check_sum(all, at, sum, magnitude);
}

/* query, key or value of one module, whose first head is `first` of `all_heads`. */
static void check_module(const struct stage_case *test, struct tally *all, size_t first, size_t heads, size_t all_heads,
                         bool transposed)
{
    const size_t d = test->d, tokens = test->keys;
    for (size_t item = 0; item < test->items; item++)
        for (size_t head = 0; head < heads; head++)
            for (size_t token = 0; token < tokens; token++)
                for (size_t c = 0; c < d; c++)
                    check_product(all, ((item * all_heads + first + head) * tokens + token) * d + c,
                                  inputs.numbers + (item * tokens + token) * D_IN, 0, D_IN, D_IN, head * d + c,
                                  heads * d, transposed);
}

static void check_projections(const struct stage_case *test, enum dtype dtype, struct made *made)
{
    const char *const names[] = {"W_query", "W_key", "W_value"};
    const struct stored *const projected[] = {&query, &key, &value};
    const bool stacked = strstr(test->options, "--stacked") != NULL;
    if (!load(made, "inputs", &inputs))
        return;
    for (size_t p = 0; p < 3; p++) {
        const size_t heads = p == 0 ? test->heads : test->kv_heads, modules = stacked ? heads : 1;
        struct tally all = start(projected[p], dtype, false);
        for (size_t module = 0; module < modules; module++) {
            char prefix[32] = "";
            bool transposed;
            if (stacked)
                snprintf(prefix, sizeof prefix, "heads.%zu.", module);
            if (load_parameters(made, prefix, names[p], &transposed))
                check_module(test, &all, module, heads / modules, heads, transposed);
        }
        check_tally(&all);
    }
}

/* output from the heads' context side by side; of stacked heads it is that. */
static void check_output(const struct stage_case *test, enum dtype dtype, struct made *made)
{
    const size_t d = test->d, tokens = test->queries, width = test->heads * d;
    struct tally all = start(&output, dtype, false);
    bool transposed = false;
    const bool stacked = strstr(test->options, "--stacked") != NULL;
    if (!load(made, "output", &output) || (!stacked && !load_parameters(made, "", "out_proj", &transposed)))
        return;
    for (size_t item = 0; item < test->items; item++)
        for (size_t token = 0; token < tokens; token++) {
            const double *first = context.numbers + (item * test->heads * tokens + token) * d;
            for (size_t column = 0; column < width; column++) {
                const size_t at = (item * tokens + token) * width + column;
                if (stacked)
                    tally(&all, at, first[column % d + column / d * tokens * d]);
                else
                    check_product(&all, at, first, tokens * d, d, width, column, width, transposed);
            }
        }
    check_tally(&all);
}

/* --- cases ------------------------------------------------------------------------------------------------------- */

static bool load_all(struct made *made, bool drops)
{
    return load(made, "query", &query) && load(made, "key", &key) && load(made, "value", &value) &&
           load(made, "scores", &scores) && load(made, "scaled", &scaled) && load(made, "capped", &capped) &&
           load(made, "masked", &masked) && load(made, "weights", &weights) && load(made, "context", &context) &&
           load(made, "lse", &lse) && load(made, "entropy", &entropy) && (!drops || load(made, "dropped", &dropped));
}

static void check_case(const struct stage_case *test, enum dtype dtype, bool projects, uint64_t seed)
{
    struct made made;
    char line[LINE_BYTES];
    const bool has_output = strncmp(test->options, "multihead", 9) == 0, drops = test->dropout > 0;
    snprintf(line, sizeof line,
             "%s --dtype %s --kernel reference --stages "
             "query,key,value,scores,scaled,capped,masked,weights,context,lse,entropy%s%s%s",
             test->options, dtype_name(dtype), drops ? ",dropped" : "", projects ? ",inputs,parameters" : "",
             has_output ? ",output" : "");
    check_begin("%s --dtype %s%s%s%s%s%s: exact arithmetic, rounded once", test->options, dtype_name(dtype),
                test->float_mask || test->short_mask ? ", float mask" : "", test->boolean_mask ? ", mask" : "",
                test->alibi ? ", alibi" : "", test->sinks ? ", sinks" : "", test->lengths ? ", lengths" : "");
    write_input(test, dtype, projects, seed);
    if (CHECK(length < sizeof text - 1, "the input is too long") &&
        CHECK(support_make(&made, line, text) == STATUS_OK, "expected a result, got: %s", made.error.message) &&
        load_all(&made, drops)) {
        if (projects) {
            check_projections(test, dtype, &made);
        } else {
            check_given(&query, given_query, test->items * test->heads * test->queries * test->d);
            check_given(&key, given_key, test->items * test->kv_heads * test->keys * test->d);
            check_given(&value, given_value, test->items * test->kv_heads * test->keys * test->d_value);
        }
        check_stages(test, dtype);
        if (has_output)
            check_output(test, dtype, &made);
    }
    arena_free(&made.arena);
}

/* --- what is decided before ------------------------------------------------------------------------------------- */

/* 2 tokens, d_in 4 and d columns are 2 x 4 x 3 d multiply-adds for the projections and 2 x 2 x 2 d for what follows. */
static void check_path(const char *line, bool fused)
{
    struct made made;
    check_begin("%s: by the %s path", line, fused ? "fused" : "reference");
    CHECK(support_make(&made, line, "{\"inputs\": [[1, 2, 3, 4], [4, 3, 2, 1]]}") == STATUS_OK, "%s",
          made.error.message);
    CHECK(made.problem.path.fused == fused, "expected the other path for %.0f multiply-adds",
          problem_work(&made.problem));
    arena_free(&made.arena);
}

static void check_seed(const char *seed, enum setting_kind kind)
{
    struct made made;
    char line[LINE_BYTES];
    check_begin("seed %s is recorded as a %s", seed, kind == SETTING_NUMBER ? "number" : "string");
    snprintf(line, sizeof line, "self -s %s", seed);
    CHECK(support_make(&made, line, "{\"inputs\": [[1]]}") == STATUS_OK, "%s", made.error.message);
    CHECK_TEXT("seed", made.problem.record.settings[0].name);
    CHECK_TEXT(seed, made.problem.record.settings[0].text);
    CHECK(made.problem.record.settings[0].kind == kind, "expected the other kind");
    arena_free(&made.arena);
}

/* Labels are those of the keys, of which there may be more than queries. */
static void check_labels(void)
{
    struct made made;
    check_begin("each item has its labels");
    CHECK(support_make(&made, "sdpa",
                       "{\"tokens\": [[\"a\", \"b\"], [\"c\", \"d\"]], \"query\": [[[[1]]], [[[1]]]],"
                       "\"key\": [[[[1], [2]]], [[[1], [2]]]], \"value\": [[[[1], [2]]], [[[1], [2]]]]}") == STATUS_OK,
          "%s", made.error.message);
    for (size_t item = 0; item < made.problem.size.items; item++)
        CHECK_TEXT(item == 0 ? "a" : "c", problem_key_labels(&made.problem, item)[0]);
    arena_free(&made.arena);
}

int main(void)
{
    const enum dtype dtypes[] = {DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16};
    for (size_t i = 0; i < 4; i++) {
        for (size_t test = 0; test < sizeof SDPA / sizeof SDPA[0]; test++)
            check_case(&SDPA[test], dtypes[i], false, 100 + test);
        for (size_t test = 0; test < sizeof MODULES / sizeof MODULES[0]; test++)
            check_case(&MODULES[test], dtypes[i], true, 200 + test);
    }
    check_path("self -d 524287 --stages context", false);
    check_path("self -d 524288 --stages context", true);
    check_seed("9007199254740991", SETTING_NUMBER);
    check_seed("9007199254740992", SETTING_TEXT);
    check_labels();
    return check_end();
}
