/* SPDX-License-Identifier: MIT */
/* Relations of a table to the right one, or to another stage: a factor, a sum, an order of axes, a rounding. */
#include "observe/observing.h"

#include "model/stages.h"
#include "stage/norm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- one number for each group: mine = base + number x along ------------------------------------------------------ */

/* Groups are made by a set of axes: none, all numbers are one group. */
struct relation {
    const double *base;  /* (count) or NULL: 0 */
    const double *along; /* (count) or NULL: 1 */
    unsigned axes;       /* 1 << OBSERVE_HEAD: a group for each head */
    double tried;        /* log2 of such relations */
    double number;       /* found, of the first group, */
    double error;        /* and its error */
    size_t groups;       /* that have one, */
    double least, most;  /* of these */
};

static size_t group_of(const struct observing *observing, unsigned axes, size_t i)
{
    size_t group = 0;
    for (int axis = 0; axis < OBSERVE_AXES; axis++)
        if (axes & 1U << axis)
            group = group * observing->observed->right.size[axis] + observe_place(observing, i, axis);
    return group;
}

/* Bounds the number of each group by what the digits and the noise of each of its numbers allow; false: by nothing. */
static bool bound(struct observing *observing, const struct relation *relation, double *low, double *high)
{
    static const double MORE = 1.01; /* rounding decides at a bound */
    const double *mine = observing->observed->mine;
    for (size_t i = 0; i < observing->count; i++) {
        low[i] = -INFINITY;
        high[i] = INFINITY;
    }
    for (size_t i = 0; i < observing->count; i++) {
        const double along = relation->along != NULL ? relation->along[i] : 1;
        const double number = (mine[i] - (relation->base != NULL ? relation->base[i] : 0)) / along;
        const size_t group = group_of(observing, relation->axes, i);
        if (!observing->part.only[i] || !isfinite(along) || !isfinite(number))
            continue;
        const double off = MORE * observe_tolerance(observing, i, mine[i], fabs(number)) / fabs(along);
        low[group] = fmax(low[group], number - off);
        high[group] = fmin(high[group], number + off);
        if (low[group] > high[group])
            return false;
    }
    return true;
}

/* Whether some numbers give the part, and more than it took to find them: the middle of these bounds. */
static bool holds(struct observing *observing, struct relation *relation)
{
    double *low = observing->rooms[0], *high = observing->rooms[1], *made = low;
    if (!bound(observing, relation, low, high))
        return false;
    relation->groups = 0;
    relation->least = INFINITY;
    relation->most = -INFINITY;
    relation->error = (high[0] - low[0]) / 2;
    for (size_t group = 0; group < observing->count; group++) {
        high[group] = low[group] > -INFINITY ? (low[group] + high[group]) / 2 : 0;
        if (!(low[group] > -INFINITY))
            continue;
        relation->least = fmin(relation->least, high[group]);
        relation->most = fmax(relation->most, high[group]);
        relation->groups++;
    }
    relation->number = high[0];
    relation->error = fmax(relation->error, 1e-7 * fabs(high[0]));
    for (size_t i = 0; i < observing->count; i++) {
        const double along = relation->along != NULL ? relation->along[i] : 1;
        const double base = relation->base != NULL ? relation->base[i] : 0;
        made[i] = isfinite(along) && isfinite(base) ? base + high[group_of(observing, relation->axes, i)] * along
                                                    : observing->observed->right.numbers[i];
    }
    const double wrong = (double)observe_wrong(observing, observing->part.only), groups = (double)relation->groups;
    return groups > 0 && wrong > groups &&
           observe_fits(observing, made, observing->part.only, fmax(fabs(relation->least), fabs(relation->most))) &&
           observe_bits(observing, observing->part.only) * (1 - groups / wrong) >= OBSERVE_BITS + relation->tried;
}

/* Adds "2", "1/8", "0.353553 (1/sqrt(d_head))": a number found with some error. */
static void add_number(const struct observing *observing, double number, double error, struct text *text)
{
    const struct problem *problem = observing->observed->problem;
    const double d = problem != NULL ? (double)problem->size.d_head : 0,
                 drop = problem != NULL ? problem->drop.share : 0;
    const struct {
        const char *name;
        double value;
    } NAMES[] = {{"1/sqrt(d_head)", 1 / sqrt(d)},
                 {"sqrt(d_head)", sqrt(d)},
                 {"ln 2", log(2)},
                 {"1/ln 2", 1 / log(2)},
                 {"1 - p", 1 - drop},
                 {"1/(1 - p)", 1 / (1 - drop)},
                 {"d_head^(-1/4)", 1 / sqrt(sqrt(d))}};
    const double off = fmax(fabs(error), 1e-9 * fabs(number));
    if (fabs(number - round(number)) <= off && fabs(number) >= 0.5) {
        text_add(text, "%.0f", number);
        return;
    }
    if (fabs(1 / number - round(1 / number)) <= off / number / number && fabs(number) > 1e-4) {
        text_add(text, "%s1/%.0f", number < 0 ? "-" : "", fabs(1 / number));
        return;
    }
    text_add(text, "%.*g", (int)fmin(6, fmax(2, floor(log10(fabs(number) / off)))), number);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (isfinite(NAMES[i].value) && NAMES[i].value != 1 && fabs(number - NAMES[i].value) <= off) {
            text_add(text, " (%s)", NAMES[i].name);
            return;
        }
}

/* --- factor and offset ------------------------------------------------------------------------------------------- */

/* Says that the part is the right numbers plus or minus a number, or as many times others. */
static void tell_sum(struct observing *observing, const struct relation *relation, const char *others)
{
    char words[64];
    struct text text = text_begin(words, sizeof words);
    add_number(observing, fabs(relation->number), relation->error, &text);
    const bool once = others != NULL && strcmp(words, "1") == 0;
    observe_tell(observing, &observing->part, "the right numbers %s %s%s%s", relation->number < 0 ? "minus" : "plus",
                 once ? "" : words, once || others == NULL ? "" : " times ", others != NULL ? others : "");
}

/* A factor, or (other_form) an offset. */
void observe_number(struct observing *observing)
{
    const double *right = observing->observed->right.numbers;
    struct relation relation = {.base = observing->other_form ? right : NULL,
                                .along = observing->other_form ? NULL : right};
    char words[64];
    struct text text = text_begin(words, sizeof words);
    if (!holds(observing, &relation))
        return;
    add_number(observing, relation.number, relation.error, &text);
    if (observing->other_form)
        tell_sum(observing, &relation, NULL);
    else if (fabs(relation.number + 1) <= relation.error)
        observe_tell(observing, &observing->part, "minus the right numbers");
    else if (fabs(relation.number - 1) > relation.error) /* else it says nothing */
        observe_tell(observing, &observing->part, "%s times the right numbers", words);
}

/* The groups that have a number each, few groups first. */
enum {
    OF_ITEM = 1 << OBSERVE_ITEM,
    OF_HEAD = 1 << OBSERVE_HEAD,
    OF_ROW = 1 << OBSERVE_ROW,
    OF_COLUMN = 1 << OBSERVE_COLUMN
};

static const struct grouping {
    unsigned axes;
    const char *each;
} GROUPS[] = {{OF_ITEM, "item"},
              {OF_HEAD, "head"},
              {OF_ITEM | OF_HEAD, "head of each item"},
              {OF_COLUMN, "column"},
              {OF_ROW, "row"},
              {OF_HEAD | OF_COLUMN, "column of each head"},
              {OF_ITEM | OF_HEAD | OF_ROW, "row"}};

/* Each group has its own factor, or (other_form) offset. */
void observe_groups(struct observing *observing)
{
    const bool factor = !observing->other_form;
    const enum stage stage = observing->observed->right.stage;
    const double *right = observing->observed->right.numbers;
    for (size_t g = 0; g < sizeof GROUPS / sizeof GROUPS[0]; g++) {
        struct relation relation = {
            .base = factor ? NULL : right, .along = factor ? right : NULL, .axes = GROUPS[g].axes};
        if (!holds(observing, &relation) || relation.groups < 2)
            continue;
        const bool sums = factor && GROUPS[g].axes & OF_ROW && relation.least > 0 &&
                          (stage == STAGE_WEIGHTS || stage == STAGE_DROPPED || stage == STAGE_CONTEXT);
        observe_tell(observing, &observing->part, "the right numbers, each %s %s its own number, from %.4g to %.4g%s",
                     GROUPS[g].each, factor ? "times" : "plus", relation.least, relation.most,
                     sums ? ": the rows are not divided by their own sums" : "");
        return;
    }
}

/* --- a norm behind the stage ------------------------------------------------------------------------------------- */

/* The norm of rows, without a weight. */
static double *norm_rows(const struct observing *observing, const double *rows, struct norm norm)
{
    const size_t columns = observing->observed->right.size[OBSERVE_COLUMN];
    double *normed = observing->rooms[2];
    for (size_t first = 0; first < observing->count; first += columns) {
        const struct norm_terms terms = norm_terms(&norm, rows + first, columns);
        for (size_t i = first; i < first + columns; i++)
            normed[i] = (rows[i] - terms.mean) * terms.factor;
    }
    return normed;
}

/* The table is `plus` and these rows, normed; each column may have a weight, and a bias, which the last row shows. */
static bool find_norm(struct observing *observing, const double *rows, const double *plus, const char *words)
{
    enum { LEAST = 4 }; /* fewer columns or rows are any numbers with weights and biases */
    static const double EPS[] = {0, 1e-6, 1e-5};
    const size_t columns = observing->observed->right.size[OBSERVE_COLUMN], last = observing->count - columns;
    const double *mine = observing->observed->mine;
    double *base = observe_zeros(observing, observing->count, sizeof *base);
    const int ways = columns < LEAST || base == NULL ? 0 : observing->lines < LEAST ? 12 : 18;
    for (int way = 0; way < ways; way++) {
        const struct norm norm = {.kind = way / 3 % 2 == 1 ? NORM_LAYER : NORM_RMS, .eps = EPS[way % 3]};
        double *normed = norm_rows(observing, rows, norm);
        struct relation relation = {.base = base, .along = normed, .axes = way < 6 ? 0 : OF_COLUMN, .tried = 6};
        size_t still = 0; /* numbers that are a bias alone */
        for (size_t i = 0; i < observing->count; i++) {
            const size_t biased = way < 12 ? i : last + i % columns;
            base[i] = plus[i] + (way < 12 ? 0 : mine[biased] - plus[biased]);
            normed[i] -= way < 12 ? 0 : normed[biased];
            still += observe_is(mine[i], base[i], observe_tolerance(observing, i, mine[i], 1));
        }
        if (!holds(observing, &relation) || (way < 6 && fabs(relation.number - 1) > 1e-3) ||
            (way >= 12 && (relation.groups < columns || still > observing->count / 2)))
            continue;
        observe_tell(observing, &observing->part, "%s after %s", words,
                     norm.kind == NORM_LAYER ? "a LayerNorm" : "an RMSNorm");
        return true;
    }
    return false;
}

/* --- another stage ----------------------------------------------------------------------------------------------- */

/* The numbers of another stage at the items, heads, rows and columns of the observed table: (count); NULL if it has
 * other columns, or lacks some of these. A head of the queries has the key and value of its group. */
static const double *aligned(struct observing *observing, const struct observe_table *other)
{
    const struct observe_table *right = &observing->observed->right;
    double *numbers = observing->rooms[2];
    size_t *from[OBSERVE_AXES];
    if (other->size[OBSERVE_COLUMN] != right->size[OBSERVE_COLUMN])
        return NULL;
    const size_t group = memory_larger(1, right->size[OBSERVE_HEAD] / other->size[OBSERVE_HEAD]);
    for (int axis = 0; axis < OBSERVE_AXES; axis++) {
        from[axis] = observe_zeros(observing, right->size[axis], sizeof *from[axis]);
        for (size_t i = 0; i < right->size[axis] && from[axis] != NULL; i++) {
            const size_t index = observe_index(right, axis, i) / (axis == OBSERVE_HEAD ? group : 1);
            size_t *place = &from[axis][i];
            while (*place < other->size[axis] && observe_index(other, axis, *place) != index)
                (*place)++;
            if (*place == other->size[axis])
                return NULL;
        }
        if (from[axis] == NULL)
            return NULL;
    }
    for (size_t i = 0; i < observing->count; i++) {
        size_t k = 0;
        for (int axis = 0; axis < OBSERVE_AXES; axis++)
            k = k * other->size[axis] + from[axis][observe_place(observing, i, axis)];
        numbers[i] = other->numbers[k];
    }
    return numbers;
}

/* As a norm after attention makes it, of the output or of its sum with the inputs, which may also come after it. */
void observe_normed(struct observing *observing)
{
    const double *right = observing->observed->right.numbers, *inputs = NULL;
    double *zeros = observe_zeros(observing, observing->count, sizeof *zeros),
           *plus = observe_zeros(observing, observing->count, sizeof *plus);
    if (zeros == NULL || plus == NULL || find_norm(observing, right, zeros, "the right numbers"))
        return;
    const struct observe_table *table = observing->is_whole ? observe_other(observing, STAGE_INPUTS) : NULL;
    if (table == NULL || (inputs = aligned(observing, table)) == NULL)
        return;
    memcpy(plus, inputs, observing->count * sizeof *plus);
    if (find_norm(observing, right, plus, "inputs plus the right numbers"))
        return;
    for (size_t i = 0; i < observing->count; i++)
        plus[i] += right[i];
    find_norm(observing, plus, zeros, "the right numbers plus inputs,");
}

/* The table is another stage, or (other_form) the right numbers plus c x that. */
void observe_stage(struct observing *observing)
{
    const struct observe_table *right = &observing->observed->right;
    const double *base = observing->other_form ? right->numbers : NULL;
    const struct problem *problem = observing->observed->problem;
    for (enum stage stage = 0; stage <= STAGE_INPUTS && observing->is_whole; stage++) {
        if (stage == right->stage ||
            (problem != NULL && problem_columns(problem, stage) != right->size[OBSERVE_COLUMN]))
            continue;
        const struct observe_table *other = observe_other(observing, stage);
        struct relation relation = {.base = base, .along = other != NULL ? aligned(observing, other) : NULL};
        if (relation.along == NULL || !holds(observing, &relation) ||
            (base == NULL && fabs(relation.number - 1) > relation.error)) /* attn why has its factor as a mistake */
            continue;
        if (base == NULL)
            observe_tell(observing, &observing->part, "the right numbers of %s", stage_name(stage));
        else
            tell_sum(observing, &relation, stage_name(stage));
        return;
    }
}

/* The right numbers `by` places before on an axis, or (0) of all places before; 0 where there is none. */
static const double *before(const struct observing *observing, enum observe_axis axis, long long by)
{
    const double *right = observing->observed->right.numbers;
    const long long stride = (long long)observe_stride(observing, axis),
                    size = (long long)observing->observed->right.size[axis];
    double *numbers = observing->rooms[2];
    for (long long i = 0; i < (long long)observing->count; i++) {
        const long long place = i / stride % size, from = place - (by != 0 ? by : 1);
        numbers[i] = from >= 0 && from < size ? right[i + (from - place) * stride] : 0;
        numbers[i] += by == 0 && place > 0 ? numbers[i - stride] : 0;
    }
    return numbers;
}

/* Says that these are added, if so. */
static bool add_before(struct observing *observing, enum observe_axis axis, long long by)
{
    const char *name = observe_axis_name(observing, axis), *way = by < 0 ? "after" : "before";
    struct relation relation = {
        .base = observing->observed->right.numbers, .along = before(observing, axis, by), .tried = 8};
    char words[64];
    struct text text = text_begin(words, sizeof words);
    if (!holds(observing, &relation))
        return false;
    if (by == 0)
        text_add(&text, "those of all %ss before", name);
    else if (llabs(by) == 1)
        text_add(&text, "those of the %s %s", name, way);
    else
        text_add(&text, "those %lld %ss %s", llabs(by), name, way);
    tell_sum(observing, &relation, words);
    return true;
}

/* Another part's right numbers are added, as by an accumulator that nobody clears. */
void observe_place_before(struct observing *observing)
{
    enum { NEAR = 4 };
    for (enum observe_axis axis = OBSERVE_ITEM; axis < OBSERVE_AXES && observing->is_whole; axis++) {
        const long long size = (long long)observing->observed->right.size[axis];
        for (long long by = 1; by < size; by = by < NEAR ? by + 1 : 2 * by)
            if (add_before(observing, axis, by) || add_before(observing, axis, -by))
                return;
        if (size > 1 && add_before(observing, axis, 0))
            return;
    }
}

/* --- the order of axes ------------------------------------------------------------------------------------------- */

/* Adds "row, head, column", without axes of one place, and those before the first in which another order differs. */
static void add_order(const struct observing *observing, const int order[OBSERVE_AXES], const int other[OBSERVE_AXES],
                      struct text *text)
{
    bool differs = false;
    for (int axis = 0; axis < OBSERVE_AXES; axis++) {
        const bool has = observing->observed->right.size[order[axis]] > 1;
        differs = differs || (has && order[axis] != other[axis]);
        if (has && differs)
            text_add(text, "%s%s", text->length > 0 ? ", " : "", observe_axis_name(observing, order[axis]));
    }
}

/* Whether these are the right numbers written in the order `wrote` and read in the order `read`. */
static bool is_order(const struct observing *observing, const bool *only, const int wrote[OBSERVE_AXES],
                     const int read[OBSERVE_AXES])
{
    const size_t *size = observing->observed->right.size;
    for (size_t i = 0; i < observing->count; i++) {
        size_t at[OBSERVE_AXES], k = 0, from = 0;
        if (!only[i])
            continue;
        for (int axis = 0; axis < OBSERVE_AXES; axis++)
            k = k * size[read[axis]] + observe_place(observing, i, read[axis]);
        for (int axis = OBSERVE_AXES; axis-- > 0; k /= size[wrote[axis]])
            at[wrote[axis]] = k % size[wrote[axis]];
        for (int axis = 0; axis < OBSERVE_AXES; axis++)
            from = from * size[axis] + at[axis];
        if (!observe_is_copy(observing, i, from))
            return false;
    }
    return true;
}

/* Says so, if it holds for whole heads or items. */
static bool tell_order(struct observing *observing, const int wrote[OBSERVE_AXES], const int read[OBSERVE_AXES])
{
    const size_t *size = observing->observed->right.size;
    const bool heads_move = read[1] != OBSERVE_HEAD || wrote[1] != OBSERVE_HEAD;
    const size_t block = size[OBSERVE_ROW] * size[OBSERVE_COLUMN] * (heads_move ? size[OBSERVE_HEAD] : 1);
    bool *only = observe_zeros(observing, observing->count, sizeof *only);
    char words[2][64];
    struct text written = text_begin(words[0], sizeof words[0]), as = text_begin(words[1], sizeof words[1]);
    struct observe_part part;
    for (size_t i = 0; i < observing->count && only != NULL; i++)
        if (observing->part.only[i])
            memset(only + i / block * block, true, block);
    add_order(observing, wrote, read, &written);
    add_order(observing, read, wrote, &as);
    if (only == NULL || written.length == 0 || !is_order(observing, only, wrote, read) ||
        !observe_part(observing, only, OBSERVE_NO_AXIS, &part))
        return false;
    if (!heads_move && size[OBSERVE_ROW] == size[OBSERVE_COLUMN])
        observe_tell(observing, &part, "transposed: rows and %ss are exchanged",
                     observe_axis_name(observing, OBSERVE_COLUMN));
    else
        observe_tell(observing, &part, "right, but written in the order %s and read in the order %s", words[0],
                     words[1]);
    return true;
}

void observe_order(struct observing *observing)
{
    static const int READ[][OBSERVE_AXES] = {{0, 1, 2, 3}, {0, 2, 1, 3}}; /* as stages have it; heads after rows */
    if (observe_bits(observing, observing->part.only) < OBSERVE_BITS + 6)
        return;
    for (int code = 0; code < 2 * 256; code++) {
        const int wrote[] = {code >> 6 & 3, code >> 4 & 3, code >> 2 & 3, code & 3}, *read = READ[code >> 8];
        if ((1 << wrote[0] | 1 << wrote[1] | 1 << wrote[2] | 1 << wrote[3]) == 15 &&
            is_order(observing, observing->part.only, wrote, read) && tell_order(observing, wrote, read))
            return;
    }
}

/* --- rounding ---------------------------------------------------------------------------------------------------- */

/* A way to round: to decimals, to significant digits, or to bits with a least step. */
struct observe_rounding {
    const char *words;
    int from, to;
    double (*round)(double number, int digits);
};

static double to_decimals(double number, int digits)
{
    const double unit = pow(10, digits);
    return round(number * unit) / unit;
}

static double to_digits(double number, int digits)
{
    return number == 0 || !isfinite(number) ? number
                                            : to_decimals(number, digits - 1 - (int)floor(log10(fabs(number))));
}

static double cut_decimals(double number, int digits)
{
    const double unit = pow(10, digits);
    return trunc(number * unit * (1 + 0x1p-22)) / unit; /* 0.12 in float32 may be below */
}

static double to_dtype(double number, int dtype)
{
    dtype_round((enum dtype)dtype, &number, 1);
    return number;
}

static double to_bits(double number, int bits)
{
    int exponent;
    const double fraction = frexp(number, &exponent);
    return isfinite(number) ? ldexp(nearbyint(ldexp(fraction, bits)), exponent - bits) : number;
}

/* To float16 where TF32, with as many bits, gives the same number; else NaN. */
static double to_either(double number, int bits)
{
    const double half = to_dtype(number, DTYPE_F16);
    return half == to_bits(number, bits) ? half : (double)NAN;
}

static const struct observe_rounding ROUNDINGS[] = {
    {"rounded to %d decimals", 0, 6, to_decimals},
    {"cut to %d decimals, not rounded", 0, 6, cut_decimals},
    {"rounded to %d significant digits", 1, 6, to_digits},
    {"rounded to float16 or TF32, which are the same here", 11, 11, to_either},
    {"rounded to float16", DTYPE_F16, DTYPE_F16, to_dtype},
    {"rounded to bfloat16", DTYPE_BF16, DTYPE_BF16, to_dtype},
    {"rounded to float8_e4m3fn", DTYPE_F8E4M3, DTYPE_F8E4M3, to_dtype},
    {"rounded to float8_e5m2", DTYPE_F8E5M2, DTYPE_F8E5M2, to_dtype},
    {"rounded to the bits of TF32", 11, 11, to_bits},
};

/* Whether each number is a right one so rounded, the right one known to its tolerance. */
static bool is_rounded(const struct observing *observing, const bool *only, const struct observe_rounding *rounding,
                       int digits)
{
    enum { LEAST = 4 };
    const struct observed *observed = observing->observed;
    size_t telling = 0; /* numbers that the right one decides */
    for (size_t i = 0; i < observing->count; i++) {
        const double right = observed->right.numbers[i], mine = observed->mine[i], off = observed->tolerance[i];
        const double own = observing->share / 8 * fabs(mine); /* of the dtype that keeps it */
        const double low = rounding->round(right - off, digits), high = rounding->round(right + off, digits);
        if ((only != NULL && !only[i]) || (observe_is(mine, right, 0) && !isfinite(mine)))
            continue;
        if (!(mine >= low - own && mine <= high + own) ||
            (observing->wrong[i] && !(fabs(rounding->round(mine, digits) - mine) <= own)))
            return false;
        telling += observing->wrong[i] && low == high;
    }
    return telling >= LEAST && observe_bits(observing, only) >= OBSERVE_BITS;
}

void observe_rounded(struct observing *observing)
{
    for (size_t i = 0; i < sizeof ROUNDINGS / sizeof ROUNDINGS[0] && observing->is_whole; i++)
        for (int digits = ROUNDINGS[i].from; digits <= ROUNDINGS[i].to; digits++) {
            if (!is_rounded(observing, observing->part.only, &ROUNDINGS[i], digits))
                continue;
            struct observe_part part = observing->part;
            if (is_rounded(observing, NULL, &ROUNDINGS[i], digits))
                part = (struct observe_part){.only = part.only, .lines = part.lines, .plural = true};
            char words[80];
            struct text text = text_begin(words, sizeof words);
            text_add(&text, ROUNDINGS[i].words, digits);
            observe_tell(observing, &part, "right, but %s", words);
            return;
        }
}
