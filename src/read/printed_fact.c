/* SPDX-License-Identifier: MIT */
/* What a print says about a table: its shape, its sum and the like. */
#include "read/printed.h"
#include "read/printed_table.h"

#include <stdio.h>
#include <string.h>

/* The words of the totals; then those of the shape. */
static const char *const FACTS[] = {
    [FILE_SUM] = "sum",
    [FILE_MEAN] = "mean",
    [FILE_NORM] = "norm",
    [FILE_DEVIATION] = "std",
    [FILE_TOTALS] = "shape",
    [FILE_TOTALS + 1] = "size",
    [FILE_TOTALS + 2] = "torch.Size",
};

const char *file_total_name(enum file_total total)
{
    return FACTS[total];
}

/* The total of that name, or FILE_TOTALS for a shape; -1: neither. */
static int find_fact(const char *at, size_t length)
{
    for (int i = 0; i < (int)(sizeof FACTS / sizeof FACTS[0]); i++)
        if (strlen(FACTS[i]) == length && memcmp(FACTS[i], at, length) == 0)
            return i < (int)FILE_TOTALS ? i : (int)FILE_TOTALS;
    return -1;
}

const char *printed_size(const char *at, size_t *size)
{
    enum { MOST_DIGITS = 9 };
    const char *first = at + strspn(at, " \t\n\v\f\r"), *end = first;
    size_t read = 0;
    for (; text_is_digit(*end) && end < first + MOST_DIGITS; end++)
        read = 10 * read + (size_t)(*end - '0');
    if (end == first)
        return NULL;
    *size = read;
    return end;
}

size_t printed_sizes(const char *at, size_t *sizes, const char **end)
{
    size_t count = 0;
    for (*end = at; count < TENSOR_RANK && (at = printed_size(at, &sizes[count])) != NULL; at++) {
        count++;
        *end = at;
        if (*at != ',')
            break;
    }
    return count;
}

/* Reads "(1, 64, 4096)", "[64, 64]" or "torch.Size([64, 64])"; NULL for anything else. */
static const char *take_shape(const char *at, struct file_part *part)
{
    at += strncmp(at, "torch.Size", 10) == 0 ? 10 : 0;
    const size_t open = strspn(at, "(["), close = open == 0 ? 0 : strcspn(at, ")]\n");
    const char *end;
    char text[64];
    if (close == 0)
        return NULL;
    snprintf(text, sizeof text, "%.*s", (int)memory_smaller(close - open, sizeof text - 1), at + open);
    part->rank = printed_sizes(text, part->whole, &end);
    if (part->rank == TENSOR_RANK && *end != '\0')
        return NULL;
    for (size_t axis = 0; axis < part->rank; axis++)
        part->rank = part->whole[axis] > 0 ? part->rank : 0;
    at += close + strspn(at + close, ")]");
    return part->rank > 0 ? at : NULL;
}

/* Reads a number, alone or as in tensor(12.3, grad_fn=<SumBackward0>); NULL for anything else. */
static const char *take_total(const char *at, int total, struct file_part *part)
{
    struct printed_number number;
    const size_t word = printed_name_length(at);
    const bool called = word > 0 && at[word] == '(';
    at += called ? word + 1 : 0;
    const size_t length = printed_number_read(at, &number);
    if (length == 0 || number.kind == PRINTED_TRUTH || !printed_number_ends(at[length]))
        return NULL;
    part->has[total] = true;
    part->totals[total] = number.value;
    part->last_digit[total] = (int16_t)(number.kind == PRINTED_SPECIAL ? INT16_MIN : number.exponent - number.decimals);
    at += length;
    if (called)
        at += strcspn(at, ")\n");
    return !called ? at : *at == ')' ? at + 1 : NULL;
}

bool printed_fact(struct printed_reader *reader, struct printed_piece *name, struct file_part *part)
{
    static const char BETWEEN[] = " \t:=";
    const char *at = reader->at, *fact = at;
    size_t length = printed_word_length(at);
    int kind = *at == '(' ? (int)FILE_TOTALS : find_fact(at, length);
    *name = (struct printed_piece){at, 0, false};
    if (kind < 0 && length > 0) { /* a name first: "context.sum", "context sum", "context (6, 2)" */
        size_t dot = length;      /* behind the last one; 0: none */
        while (dot > 0 && at[dot - 1] != '.')
            dot--;
        name->length = dot > 0 ? dot - 1 : length;
        fact = at + (dot > 0 ? dot : length + strspn(at + length, BETWEEN));
        length = printed_word_length(fact);
        kind = *fact == '(' && fact > at + name->length ? (int)FILE_TOTALS : find_fact(fact, length);
    }
    if (kind < 0 || (*at == '(' && !text_is_digit(at[1])))
        return false;
    if (*fact != '(' && strncmp(fact, "torch.Size", 10) != 0) {
        fact += length + (fact[length] == '(' && fact[length + 1] == ')' ? 2 : 0);
        fact += strspn(fact, BETWEEN);
    }
    struct file_part read = *part;
    const char *end = kind < (int)FILE_TOTALS ? take_total(fact, kind, &read) : take_shape(fact, &read);
    const char *behind = end != NULL ? end + strspn(end, " \t\r") : NULL;
    if (behind == NULL || (kind < (int)FILE_TOTALS && strchr(",#\n", *behind) == NULL)) /* such as a row of numbers */
        return false;
    *part = read;
    reader->at = behind + (*behind == ',');
    return true;
}

bool printed_is_fact(const char *text)
{
    struct printed_reader reader = {.at = text};
    struct printed_piece name;
    return printed_fact(&reader, &name, &(struct file_part){.rank = 0});
}
