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

/* A number of keys, or the size of a tile and its index. */
struct amount {
    size_t size, tile;
};

#define PLACE(name, place)                                               \
    static size_t name(const struct keys_row *row, struct amount amount) \
    {                                                                    \
        (void)row;                                                       \
        (void)amount;                                                    \
        return place;                                                    \
    }

PLACE(zero, 0)
PLACE(first, row->first)
PLACE(after_first, row->first + amount.size)
PLACE(before_first, memory_left(row->first, amount.size))
PLACE(before_end, memory_left(row->end, amount.size))
PLACE(end, row->end)
PLACE(after_end, row->end + amount.size)
PLACE(count, row->count)
PLACE(rest, row->first + (row->end - row->first) / amount.size * amount.size)
PLACE(next_tile, (row->end + amount.size - 1) / amount.size * amount.size)
PLACE(tile, amount.tile *amount.size)
PLACE(tile_end, memory_smaller((amount.tile + 1) * amount.size, row->end))

/* Leaves keys out (-1), or adds some, maybe a second time (1). The words take an amount by count as "3 " or nothing for
 * 1, by size as a number, by tile as its first and last key. */
enum by { BY_NOTHING, BY_COUNT, BY_SIZE, BY_TILE };

typedef size_t keys_place(const struct keys_row *row, struct amount amount);

static const struct change {
    int sign;
    enum by by;
    keys_place *from, *to;
    const char *words;
} CHANGES[] = {
    {-1, BY_SIZE, rest, end, "for the keys of whole tiles of %zu, without the rest"},
    {-1, BY_COUNT, before_end, end, "without the last %sof their keys"},
    {-1, BY_COUNT, after_first, end, "for the first %sof their keys alone"},
    {-1, BY_COUNT, first, after_first, "without the first %sof their keys"},
    {-1, BY_COUNT, first, before_end, "for the last %sof their keys alone"},
    {-1, BY_TILE, tile, tile_end, "without keys %zu to %zu"},
    {1, BY_SIZE, end, next_tile, "with all later keys to the end of a tile of %zu"},
    {1, BY_COUNT, end, after_end, "with the first %sof the later keys"},
    {1, BY_COUNT, before_first, first, "with the last %sof the earlier keys"},
    {1, BY_NOTHING, end, count, "with all later keys"},
    {1, BY_NOTHING, zero, first, "with all earlier keys"},
    {1, BY_SIZE, rest, end, "if the keys after whole tiles of %zu count twice"},
    {1, BY_TILE, tile, tile_end, "if keys %zu to %zu count twice"},
};
enum { CHANGE_COUNT = sizeof CHANGES / sizeof CHANGES[0], LEAST_TILE = 8, MOST_TILE = 256 };

/* A change by some amount, which may leave the sum as it is. */
struct candidate {
    const struct change *change;
    struct amount amount;
    bool keeps_sum;
    size_t fits; /* rows that it changes and leaves a key */
};

struct spans {
    struct observing *observing;
    const double *logits;              /* (lines, keys) */
    const struct observe_table *value; /* NULL: the table is of weights */
    bool knows_all;                    /* also logits of masked keys */
    struct keys_row row;
    struct candidate *candidates;
    size_t count;
};

/* Loads a row; false unless its allowed keys are one span. */
static bool load_row(const struct spans *spans, size_t line, struct keys_row *row)
{
    const struct problem *problem = spans->observing->observed->problem;
    const size_t start = line * row->columns, item = observe_index_of(spans->observing, start, OBSERVE_ITEM);
    const size_t head = observe_index_of(spans->observing, start, OBSERVE_HEAD);
    const size_t query = observe_index_of(spans->observing, start, OBSERVE_ROW);
    const double *logits = spans->logits + line * row->count;
    const double *values = spans->value != NULL ? observe_values(spans->observing, spans->value, start) : NULL;
    double most = -INFINITY;
    row->first = row->end = 0;
    for (size_t j = 0; j < row->count; j++) {
        most = fmax(most, logits[j]);
        if (mask_forbids(&problem->mask, item, head, query, j))
            continue;
        if (row->end > 0 && row->end != j)
            return false;
        row->first = row->end == 0 ? j : row->first;
        row->end = j + 1;
    }
    row->sums[0] = 0;
    memset(row->made, 0, row->columns * sizeof *row->made);
    for (size_t j = 0; j < row->count; j++) {
        const double number = exp(logits[j] - most);
        row->sums[j + 1] = row->sums[j] + number;
        for (size_t c = 0; c < row->columns; c++)
            row->made[(j + 1) * row->columns + c] =
                row->made[j * row->columns + c] +
                number * (values != NULL ? values[j * row->columns + c] : (double)(c == j));
    }
    return row->end > 0;
}

/* Whether a candidate gives a wrong row, or leaves it without a key. */
static bool test_row(const struct spans *spans, const struct keys_row *row, size_t line, struct candidate *candidate)
{
    const struct observed *observed = spans->observing->observed;
    const struct change *change = candidate->change;
    const bool within = change->sign < 0 || change->by == BY_TILE;
    const size_t from = memory_larger(change->from(row, candidate->amount), within ? row->first : 0);
    const size_t to = memory_smaller(change->to(row, candidate->amount), within ? row->end : row->count);
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
        if (!observe_is(observed->mine[i], number, observe_tolerance(spans->observing, i, number)))
            return false;
    }
    candidate->fits += from != row->first || to != row->end; /* all twice is a factor */
    return true;
}

static void add_candidate(struct spans *spans, const struct change *change, size_t size, size_t tile_index)
{
    for (int keeps = 0; keeps < 2; keeps++)
        spans->candidates[spans->count++] = (struct candidate){change, {size, tile_index}, keeps, 0};
}

/* Lists all changes by all amounts. */
static enum status list_candidates(struct spans *spans)
{
    const size_t keys = spans->row.count;
    spans->candidates = arena_allocate(spans->observing->arena, CHANGE_COUNT * (2 * keys + 32),
                                       sizeof *spans->candidates, spans->observing->error);
    for (size_t i = 0; i < CHANGE_COUNT && spans->candidates != NULL; i++) {
        const struct change *change = &CHANGES[i];
        for (size_t size = 1; size < keys && (change->by == BY_COUNT || (change->by == BY_NOTHING && size == 1));
             size++)
            add_candidate(spans, change, size, 0);
        for (size_t size = LEAST_TILE; size <= MOST_TILE && size < 2 * keys && change->by >= BY_SIZE; size *= 2)
            for (size_t at = 0; at == 0 || (change->by == BY_TILE && at * size < keys); at++)
                add_candidate(spans, change, size, at);
    }
    return spans->observing->error->status;
}

static void tell_candidate(struct observing *observing, const struct candidate *candidate)
{
    const struct change *change = candidate->change;
    const size_t size = candidate->amount.size, start = candidate->amount.tile * size;
    char words[100], amount[32] = "";
    if (size > 1)
        snprintf(amount, sizeof amount, "%zu ", size);
    if (change->by == BY_TILE)
        snprintf(words, sizeof words, change->words, start + 1,
                 memory_smaller(start + size, observing->observed->problem->size.keys));
    else if (change->by == BY_SIZE)
        snprintf(words, sizeof words, change->words, size);
    else
        snprintf(words, sizeof words, change->words, amount);
    observe_tell(observing, &observing->part, "right %s%s", words,
                 candidate->keeps_sum ? ", divided by the sum of the right keys" : "");
}

/* The logits of all keys, if the mask adds nothing to them; else those of the weights, for allowed keys alone. */
static enum status find_logits(struct spans *spans)
{
    struct observing *observing = spans->observing;
    const struct problem *problem = observing->observed->problem;
    spans->knows_all = !mask_has_bias(&problem->mask) && problem->mask.sinks == NULL;
    const struct observe_table *from =
        observe_other(observing, spans->knows_all ? stage_before(problem, STAGE_MASKED) : STAGE_WEIGHTS);
    const size_t count = from != NULL && !spans->knows_all ? observe_count(from) : 0;
    double *logs = count > 0 ? arena_allocate(observing->arena, count, sizeof *logs, observing->error) : NULL;
    for (size_t i = 0; i < count && logs != NULL; i++)
        logs[i] = log(from->numbers[i]);
    spans->logits = logs != NULL ? logs : from != NULL ? from->numbers : NULL;
    return from != NULL ? observing->error->status : STATUS_DIFFERENT;
}

enum status observe_keys(struct observing *observing)
{
    const struct observed *observed = observing->observed;
    const bool is_context = observed->right.stage == STAGE_CONTEXT;
    struct spans spans = {.observing = observing};
    struct keys_row *row = &spans.row;
    if (observing->keys == NULL || observed->problem->drop.share > 0 || find_logits(&spans) != STATUS_OK)
        return observing->error->status;
    spans.value = is_context ? observe_other(observing, STAGE_VALUE) : NULL;
    row->count = observed->problem->size.keys;
    row->columns = observed->right.size[OBSERVE_COLUMN];
    row->sums = arena_allocate(observing->arena, row->count + 1, sizeof *row->sums, observing->error);
    row->made = arena_allocate(observing->arena, (row->count + 1) * row->columns, sizeof *row->made, observing->error);
    if ((is_context && spans.value == NULL) || row->sums == NULL || row->made == NULL ||
        list_candidates(&spans) != STATUS_OK)
        return observing->error->status;
    if (observe_bits(observing, observing->part.only) < OBSERVE_BITS + log2(2 * (double)spans.count))
        return STATUS_OK;
    size_t rows = 0;
    for (size_t line = observing->lines; line-- > 0 && spans.count > 0;) { /* a causal mask allows the last most keys */
        size_t left = 0;
        if (!observing->part.lines[line] || !load_row(&spans, line, row))
            continue;
        rows++;
        for (size_t i = 0; i < spans.count; i++) {
            spans.candidates[left] = spans.candidates[i];
            left += test_row(&spans, row, line, &spans.candidates[left]);
        }
        spans.count = left;
    }
    for (size_t i = 0; i < spans.count && rows > 0; i++)
        if (2 * spans.candidates[i].fits >= rows) {
            tell_candidate(observing, &spans.candidates[i]);
            break;
        }
    return observing->error->status;
}
