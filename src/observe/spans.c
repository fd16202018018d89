/* SPDX-License-Identifier: MIT */
/* Rows that are right for fewer keys than the mask allows, for more, or if some count twice. */
#include "observe/observing.h"

#include "model/stages.h"

#include <math.h>
#include <string.h>

/* The keys of one row: the mask allows `first` to below `end`, of `count`. sums[j] is that of the exponentials of the
 * keys before j, made[j] (columns) that of their values times these. */
struct keys_row {
    size_t first, end, count, columns;
    double *sums, *made;
};

/* Where a change begins or ends, by its amount: a number of keys, or a tile. */
enum place {
    ZERO,
    FIRST,
    AFTER_FIRST,
    BEFORE_FIRST,
    BEFORE_END,
    END,
    AFTER_END,
    COUNT,
    REST,      /* after tiles of that size, from the first key on */
    NEXT_TILE, /* after END */
    TILE,
    TILE_END,
    PLACES
};

/* Leaves keys out (-1), or adds some, maybe a second time (1). The words take an amount by count as "3 " or nothing for
 * 1, by size as a number, by tile as its first and last key. */
enum by { BY_NOTHING, BY_COUNT, BY_SIZE, BY_TILE };

static const struct change {
    int sign;
    enum by by;
    enum place from, to;
    const char *words;
} CHANGES[] = {
    {-1, BY_SIZE, REST, END, "for the keys of whole tiles of %zu, without the rest"},
    {-1, BY_COUNT, BEFORE_END, END, "without the last %sof their keys"},
    {-1, BY_COUNT, AFTER_FIRST, END, "for the first %sof their keys alone"},
    {-1, BY_COUNT, FIRST, AFTER_FIRST, "without the first %sof their keys"},
    {-1, BY_COUNT, FIRST, BEFORE_END, "for the last %sof their keys alone"},
    {-1, BY_TILE, TILE, TILE_END, "without keys %zu to %zu"},
    {1, BY_SIZE, END, NEXT_TILE, "with all later keys to the end of a tile of %zu"},
    {1, BY_COUNT, END, AFTER_END, "with the first %sof the later keys"},
    {1, BY_COUNT, BEFORE_FIRST, FIRST, "with the last %sof the earlier keys"},
    {1, BY_NOTHING, END, COUNT, "with all later keys"},
    {1, BY_NOTHING, ZERO, FIRST, "with all earlier keys"},
    {1, BY_SIZE, REST, END, "if the keys after whole tiles of %zu count twice"},
    {1, BY_TILE, TILE, TILE_END, "if keys %zu to %zu count twice"},
};
enum { CHANGE_COUNT = sizeof CHANGES / sizeof CHANGES[0], LEAST_TILE = 8, MOST_TILE = 256 };

/* A change by some amount, which may leave the sum as it is. */
struct candidate {
    const struct change *change;
    size_t size, tile; /* a number of keys, or the size of a tile and its index */
    bool keeps_sum;
    size_t fits; /* rows that it changes and leaves a key */
};

struct spans {
    struct observing *observing;
    const double *logits;              /* (lines, keys) */
    const struct observe_table *value; /* NULL: the table is of weights */
    bool knows_all;                    /* also logits of masked keys */
    struct keys_row row;
    double *bias; /* (keys) */
    struct candidate *candidates;
    size_t count;
};

/* Loads a row; false unless its allowed keys are one span. */
static bool load_row(struct spans *spans, size_t line)
{
    struct keys_row *row = &spans->row;
    const size_t start = line * row->columns;
    const double *logits = spans->logits + line * row->count,
                 *bias = observe_bias(spans->observing, start, spans->bias);
    const double *values = spans->value != NULL ? observe_values(spans->observing, spans->value, start) : NULL;
    double most = -INFINITY;
    row->first = row->end = 0;
    for (size_t j = 0; j < row->count; j++) {
        most = fmax(most, logits[j]);
        if (bias[j] == -INFINITY)
            continue;
        if (row->end > 0 && row->end != j)
            return false;
        row->first = row->end == 0 ? j : row->first;
        row->end = j + 1;
    }
    for (size_t j = 0; j < row->count; j++) {
        const double number = exp(logits[j] - most), *before = row->made + j * row->columns;
        row->sums[j + 1] = row->sums[j] + number;
        for (size_t c = 0; c < row->columns; c++)
            row->made[(j + 1) * row->columns + c] =
                before[c] + number * (values != NULL ? values[j * row->columns + c] : (double)(c == j));
    }
    return row->end > 0;
}

/* Whether a candidate gives a wrong row, or leaves it without a key. */
static bool test_row(const struct spans *spans, size_t line, struct candidate *candidate)
{
    const struct keys_row *row = &spans->row;
    const struct change *change = candidate->change;
    const size_t size = candidate->size, tile = candidate->tile * size, length = row->end - row->first;
    const size_t places[PLACES] = {0,
                                   row->first,
                                   row->first + size,
                                   memory_left(row->first, size),
                                   memory_left(row->end, size),
                                   row->end,
                                   row->end + size,
                                   row->count,
                                   row->first + length / size * size,
                                   (row->end + size - 1) / size * size,
                                   tile,
                                   memory_smaller(tile + size, row->end)};
    const bool within = change->sign < 0 || change->by == BY_TILE;
    const size_t from = memory_larger(places[change->from], within ? row->first : 0);
    const size_t to = memory_smaller(places[change->to], within ? row->end : row->count);
    if (from >= to || (!spans->knows_all && (from < row->first || to > row->end)))
        return false;
    const double kept = row->sums[row->end] - row->sums[row->first];
    const double sum = kept + change->sign * (row->sums[to] - row->sums[from]);
    if (sum <= 1e-12 * kept)
        return true;
    for (size_t c = 0; c < row->columns; c++) {
        const double *made = row->made + c;
        const double number = (made[row->end * row->columns] - made[row->first * row->columns] +
                               change->sign * (made[to * row->columns] - made[from * row->columns])) /
                              (candidate->keeps_sum ? kept : sum);
        const size_t i = line * row->columns + c;
        if (!observe_is(spans->observing->observed->mine[i], number, observe_tolerance(spans->observing, i, number, 1)))
            return false;
    }
    candidate->fits += from != row->first || to != row->end; /* all twice is a factor */
    return true;
}

/* Lists all changes by all amounts. */
static bool list_candidates(struct spans *spans)
{
    const size_t keys = spans->row.count;
    spans->candidates = observe_zeros(spans->observing, CHANGE_COUNT * (2 * keys + 32), sizeof *spans->candidates);
    for (size_t i = 0; i < CHANGE_COUNT && spans->candidates != NULL; i++) {
        const bool tiles = CHANGES[i].by >= BY_SIZE;
        const size_t end = tiles ? memory_smaller(2 * keys, MOST_TILE + 1) : CHANGES[i].by == BY_COUNT ? keys : 2;
        for (size_t size = tiles ? LEAST_TILE : 1; size < end; size = tiles ? 2 * size : size + 1)
            for (size_t at = 0; at == 0 || (CHANGES[i].by == BY_TILE && at * size < keys); at++)
                for (int keeps = 0; keeps < 2; keeps++)
                    spans->candidates[spans->count++] = (struct candidate){&CHANGES[i], size, at, keeps, 0};
    }
    return spans->candidates != NULL;
}

static void tell_candidate(struct observing *observing, const struct candidate *candidate)
{
    const struct change *change = candidate->change;
    const size_t size = candidate->size, start = candidate->tile * size;
    const size_t end = memory_smaller(start + size, observing->observed->problem->size.keys);
    char words[100], amount[32] = "";
    struct text text = text_begin(words, sizeof words), amount_text = text_begin(amount, sizeof amount);
    if (size > 1)
        text_add(&amount_text, "%zu ", size);
    if (change->by == BY_TILE)
        text_add(&text, change->words, start + 1, end);
    else if (change->by == BY_SIZE)
        text_add(&text, change->words, size);
    else
        text_add(&text, change->words, amount);
    observe_tell(observing, &observing->part, "right %s%s", words,
                 candidate->keeps_sum ? ", divided by the sum of the right keys" : "");
}

/* The logits of all keys, if the mask adds nothing to them; else those of the weights, for allowed keys alone. NULL:
 * unknown. */
static const double *find_logits(struct spans *spans)
{
    struct observing *observing = spans->observing;
    const struct problem *problem = observing->observed->problem;
    spans->knows_all = !mask_has_bias(&problem->mask) && problem->mask.sinks == NULL;
    const struct observe_table *from =
        observe_other(observing, spans->knows_all ? stage_before(problem, STAGE_MASKED) : STAGE_WEIGHTS);
    if (from == NULL || spans->knows_all)
        return from != NULL ? from->numbers : NULL;
    double *logs = observe_zeros(observing, observe_count(from), sizeof *logs);
    for (size_t i = 0; i < observe_count(from) && logs != NULL; i++)
        logs[i] = log(from->numbers[i]);
    return logs;
}

void observe_keys(struct observing *observing)
{
    const struct observed *observed = observing->observed;
    const bool is_context = observed->right.stage == STAGE_CONTEXT;
    struct spans spans = {.observing = observing};
    struct keys_row *row = &spans.row;
    if (observing->keys == NULL || observed->problem->drop.share > 0)
        return;
    spans.logits = find_logits(&spans);
    spans.value = is_context ? observe_other(observing, STAGE_VALUE) : NULL;
    row->count = observed->problem->size.keys;
    row->columns = observed->right.size[OBSERVE_COLUMN];
    row->sums = observe_zeros(observing, row->count + 1, sizeof *row->sums);
    row->made = observe_zeros(observing, (row->count + 1) * row->columns, sizeof *row->made);
    spans.bias = observe_zeros(observing, row->count, sizeof *spans.bias);
    if (spans.logits == NULL || (is_context && spans.value == NULL) || row->sums == NULL || row->made == NULL ||
        spans.bias == NULL || !list_candidates(&spans) ||
        observe_bits(observing, observing->part.only) < OBSERVE_BITS + log2(2 * (double)spans.count))
        return;
    size_t rows = 0;
    for (size_t line = observing->lines; line-- > 0 && spans.count > 0;) { /* a causal mask allows the last most keys */
        size_t left = 0;
        if (!observing->part.lines[line] || !load_row(&spans, line))
            continue;
        rows++;
        for (size_t i = 0; i < spans.count; i++) {
            spans.candidates[left] = spans.candidates[i];
            left += test_row(&spans, line, &spans.candidates[left]);
        }
        spans.count = left;
    }
    for (size_t i = 0; i < spans.count && rows > 0; i++)
        if (2 * spans.candidates[i].fits >= rows) {
            tell_candidate(observing, &spans.candidates[i]);
            return;
        }
}
