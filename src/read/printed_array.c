/* SPDX-License-Identifier: MIT */
#include "read/printed_table.h"

/* The separator of two elements; the first one decides. */
enum gap { GAP_UNKNOWN, GAP_COMMA, GAP_BLANK };

/* The brackets that are open. */
struct levels {
    struct printed_reader *reader;
    struct printed_table *table;
    size_t depth;
    size_t count[TENSOR_RANK]; /* (depth) elements of each level so far, */
    size_t lead[TENSOR_RANK];  /* and of these before a '...'; 0: there is none */
    enum gap gap;
    bool semicolons; /* [1 2; 3 4]: one pair of brackets for all rows */
};

static bool begin_level(struct levels *levels)
{
    levels->lead[levels->depth] = 0;
    levels->count[levels->depth++] = 0;
    levels->reader->at++;
    printed_skip(levels->reader, levels->table);
    return true;
}

static bool open_level(struct levels *levels)
{
    struct printed_reader *reader = levels->reader;
    if (levels->depth == TENSOR_RANK)
        return printed_fail(reader, reader->at, "expected at most 4 nested brackets: item, head, row and column");
    if (levels->table->rank > 0 && levels->depth == levels->table->rank)
        return printed_fail_expected(reader, reader->at, "a number, as in the first row");
    return begin_level(levels);
}

static bool take_number(struct levels *levels)
{
    struct printed_table *table = levels->table;
    if (table->rank > 0 && levels->depth < table->rank)
        return printed_fail_expected(levels->reader, levels->reader->at, "'[', as before the first number");
    if (!printed_take(levels->reader, table, table->rank == 0 ? "a number or '['" : "a number"))
        return false;
    table->rank = levels->depth;
    levels->count[levels->depth - 1]++;
    return true;
}

/* Reads '...', where the print leaves elements out. */
static bool take_elision(struct levels *levels)
{
    const size_t level = levels->depth - 1;
    if (levels->count[level] == 0 || levels->lead[level] > 0)
        return printed_fail(levels->reader, levels->reader->at, "expected a number%s, got '...'",
                            levels->count[level] == 0 ? " before what is left out" : ", as '...' came before");
    levels->lead[level] = levels->count[level];
    levels->reader->at += 3;
    return true;
}

static bool fail_ragged(const struct levels *levels, size_t level)
{
    const struct printed_table *table = levels->table;
    const size_t zeros[TENSOR_RANK] = {0}, count = levels->count[level], expected = table->shape[level];
    char place[TENSOR_PLACE_BYTES], first[TENSOR_PLACE_BYTES];
    tensor_place_text(table->rank, levels->count, level, place);
    tensor_place_text(table->rank, zeros, level, first);
    return printed_fail(levels->reader, levels->reader->at, "%s has %zu %s%s, expected %zu (as %s)", place, count,
                        level + 1 < table->rank ? "row" : "number", count == 1 ? "" : "s", expected, first);
}

static bool end_level(struct levels *levels)
{
    struct printed_table *table = levels->table;
    const size_t level = levels->depth - 1;
    if (levels->count[level] == 0)
        return printed_fail(levels->reader, levels->reader->at, "the table is empty here; expected numbers");
    if (table->shape[level] == 0) {
        table->shape[level] = levels->count[level];
        table->part.lead[level] = levels->lead[level];
    }
    if (table->shape[level] != levels->count[level])
        return fail_ragged(levels, level);
    if (table->part.lead[level] != levels->lead[level])
        return printed_fail(levels->reader, levels->reader->at, "'...' leaves out other numbers here than before");
    levels->depth--;
    if (level > 0)
        levels->count[level - 1]++;
    table->rows += level + 1 == table->rank;
    table->row_end = level + 1 == table->rank ? levels->reader->at : table->row_end;
    return true;
}

/* Ends a row of [1 2; 3 4]; the first one began as a list. */
static bool end_row(struct levels *levels)
{
    struct printed_reader *reader = levels->reader;
    if (!levels->semicolons && (levels->depth > 1 || levels->table->rank > 1))
        return printed_fail_expected(reader, reader->at, "',' or ']'");
    if (!levels->semicolons) {
        levels->semicolons = true;
        levels->table->rank = levels->depth = 2;
        levels->count[1] = levels->count[0];
        levels->lead[1] = levels->lead[0];
        levels->lead[0] = 0;
        levels->count[0] = 0;
    }
    return end_level(levels) && begin_level(levels);
}

static bool close_level(struct levels *levels)
{
    if (levels->semicolons && levels->count[1] > 0 && !end_level(levels))
        return false;
    levels->depth = levels->semicolons ? 1 : levels->depth;
    if (!end_level(levels))
        return false;
    levels->reader->at++;
    return true;
}

/* Skips from the end of an element to the next one, or to the bracket that closes the level. */
static bool take_gap(struct levels *levels)
{
    struct printed_reader *reader = levels->reader;
    const char *end = reader->at;
    printed_skip(reader, levels->table);
    const char next = *reader->at;
    if (next == ']')
        return true;
    if (next == ';')
        return end_row(levels);
    const enum gap gap = next == ',' ? GAP_COMMA : GAP_BLANK;
    if (levels->gap == GAP_COMMA && gap == GAP_BLANK)
        return printed_fail_expected(reader, reader->at, "',' or ']'");
    if (levels->gap == GAP_BLANK && gap == GAP_COMMA)
        return printed_fail(reader, reader->at,
                            "expected a blank, as between the numbers before, got ','; is it a decimal comma?");
    if (gap == GAP_BLANK && (reader->at == end || reader->at == reader->in.end))
        return printed_fail_expected(reader, reader->at, "a blank, ',' or ']'");
    levels->gap = gap;
    reader->at += gap == GAP_COMMA;
    printed_skip(reader, levels->table);
    return true;
}

bool printed_array(struct printed_reader *reader, struct printed_table *table)
{
    struct levels levels = {.reader = reader, .table = table, .count = {0}};
    *table = (struct printed_table){.first = reader->count};
    bool read = open_level(&levels);
    while (read && levels.depth > 0)
        if (*reader->at == '[')
            read = open_level(&levels);
        else
            read = (*reader->at == ']'                                            ? close_level(&levels)
                    : reader->takes_parts && printed_number_is_elided(reader->at) ? take_elision(&levels)
                                                                                  : take_number(&levels)) &&
                   (levels.depth == 0 || take_gap(&levels));
    return read;
}
