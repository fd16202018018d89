#include "read/printed_table.h"

/* What stands between two elements; the first gap decides. */
enum gap { GAP_UNKNOWN, GAP_COMMA, GAP_BLANK };

/* The brackets that are open. */
struct levels {
    struct printed_reader *reader;
    struct printed_table *table;
    size_t depth;
    size_t count[TENSOR_RANK]; /* (depth) elements of each so far */
    enum gap gap;
    bool semicolons; /* [1 2; 3 4]: the rows have no brackets of their own */
};

static enum status open_level(struct levels *levels)
{
    struct printed_reader *reader = levels->reader;
    if (levels->depth == TENSOR_RANK)
        return printed_fail(reader, reader->at,
                            "expected at most 4 brackets in each other: item, head, row and column");
    if (levels->table->rank > 0 && levels->depth == levels->table->rank)
        return printed_fail_expected(reader, reader->at, "a number, as in the first row");
    levels->count[levels->depth++] = 0;
    reader->at++;
    return STATUS_OK;
}

static enum status take_number(struct levels *levels)
{
    struct printed_table *table = levels->table;
    if (table->rank > 0 && levels->depth < table->rank)
        return printed_fail_expected(levels->reader, levels->reader->at, "'[', as before the first number");
    if (printed_take(levels->reader, table, table->rank == 0 ? "a number or '['" : "a number") != STATUS_OK)
        return levels->reader->error->status;
    table->rank = levels->depth;
    levels->count[levels->depth - 1]++;
    return STATUS_OK;
}

static enum status fail_ragged(const struct levels *levels, size_t level)
{
    const struct printed_table *table = levels->table;
    const size_t zeros[TENSOR_RANK] = {0}, count = levels->count[level], expected = table->shape[level];
    char place[TENSOR_PLACE_BYTES], first[TENSOR_PLACE_BYTES];
    tensor_place_text(table->rank, levels->count, level, place);
    tensor_place_text(table->rank, zeros, level, first);
    return printed_fail(levels->reader, levels->reader->at, "%s has %zu %s%s, expected %zu (as %s)", place, count,
                        level + 1 < table->rank ? "row" : "number", count == 1 ? "" : "s", expected, first);
}

/* The innermost level has all its elements. */
static enum status end_level(struct levels *levels)
{
    struct printed_table *table = levels->table;
    const size_t level = levels->depth - 1;
    if (levels->count[level] == 0)
        return printed_fail(levels->reader, levels->reader->at, "the table is empty here; expected numbers");
    if (table->shape[level] == 0)
        table->shape[level] = levels->count[level];
    if (table->shape[level] != levels->count[level])
        return fail_ragged(levels, level);
    levels->depth--;
    if (level > 0)
        levels->count[level - 1]++;
    table->rows += level + 1 == table->rank;
    table->row_end = level + 1 == table->rank ? levels->reader->at : table->row_end;
    return STATUS_OK;
}

/* A row of [1 2; 3 4] ends; the first one has been read as a list. */
static enum status end_row(struct levels *levels)
{
    struct printed_reader *reader = levels->reader;
    if (!levels->semicolons && (levels->depth > 1 || levels->table->rank > 1))
        return printed_fail_expected(reader, reader->at, "',' or ']'");
    if (!levels->semicolons) {
        levels->semicolons = true;
        levels->table->rank = levels->depth = 2;
        levels->count[1] = levels->count[0];
        levels->count[0] = 0;
    }
    if (end_level(levels) != STATUS_OK)
        return reader->error->status;
    levels->count[levels->depth++] = 0;
    reader->at++;
    return printed_skip(reader, levels->table);
}

static enum status close_level(struct levels *levels)
{
    const bool row_is_open = levels->semicolons && levels->count[1] > 0;
    if (row_is_open && end_level(levels) != STATUS_OK)
        return levels->reader->error->status;
    levels->depth = levels->semicolons ? 1 : levels->depth;
    if (end_level(levels) != STATUS_OK)
        return levels->reader->error->status;
    levels->reader->at++;
    return STATUS_OK;
}

/* From behind an element to the next one, or to the bracket that closes the level. */
static enum status take_gap(struct levels *levels)
{
    struct printed_reader *reader = levels->reader;
    const char *end = reader->at;
    if (printed_skip(reader, levels->table) != STATUS_OK)
        return reader->error->status;
    const char next = *reader->at;
    if (next == ']')
        return STATUS_OK;
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
    return printed_skip(reader, levels->table);
}

static enum status take_element(struct levels *levels)
{
    struct printed_reader *reader = levels->reader;
    if (*reader->at == ']')
        return close_level(levels);
    if (*reader->at != '[')
        return take_number(levels);
    return open_level(levels) || printed_skip(reader, levels->table) ? reader->error->status : STATUS_OK;
}

enum status printed_array(struct printed_reader *reader, struct printed_table *table)
{
    struct levels levels = {.reader = reader, .table = table, .count = {0}};
    *table = (struct printed_table){.first = reader->count};
    if (open_level(&levels) || printed_skip(reader, table))
        return reader->error->status;
    while (levels.depth > 0) {
        const bool opens = *reader->at == '[';
        if (take_element(&levels) || (!opens && levels.depth > 0 && take_gap(&levels)))
            return reader->error->status;
    }
    return STATUS_OK;
}
