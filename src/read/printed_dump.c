/* SPDX-License-Identifier: MIT */
/* Tensors as ggml's programs print them, llama-eval-callback above all:
 *
 *     ggml_debug:  kq_soft_max-0 = (f32) SOFT_MAX(kq-0{8, 5, 4, 1}, }) = {8, 5, 4, 1}
 *         [
 *             [
 *                 [  0.5000,  0.5000,  0.0000,  ...,  0.0000,  0.0000,  0.0000  ],
 *             ],
 *         ]
 *         sum = 20.000000
 *
 * The sizes in braces begin with the columns. */
#include "read/printed_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 512, NAME_BYTES = 64, AXES = 3 };

/* The stages by the names that models give them in ggml, and by the operations that make them; NULL: any. */
static const struct {
    const char *stage, *names, *ops;
} ROWS[] = {
    {"normed", "attn_norm", NULL},
    {"projected_query", "Qcur", "MUL_MAT ADD RESHAPE CONT"},
    {"projected_key", "Kcur", "MUL_MAT ADD RESHAPE CONT"},
    {"normed_query", "Qcur_normed", NULL},
    {"normed_key", "Kcur_normed", NULL},
    {"query", "Qcur", "ROPE"},
    {"key", "Kcur", "ROPE"},
    {"value", "Vcur", NULL},
    {"scores", "kq", NULL},
    {"capped", "kq_scaled_2", NULL},
    {"weights", "kq_soft_max kq_soft_max_ext", NULL},
    {"context", "kqv kqv_merged kqv_merged_cont __fattn__", NULL},
    {"context", "kqv_out", "CONT RESHAPE PERMUTE"},
    {"output", "kqv_out", "MUL_MAT ADD"},
    {"output", "attn_out", NULL},
};

/* A tensor's line, "NAME-LAYER = (type) OP(operands) = {columns, rows, heads, 1}". */
struct header {
    char name[NAME_BYTES], op[NAME_BYTES];
    size_t layer, sizes[AXES], more;
};

static bool read_header(const char *line, size_t length, struct header *header)
{
    char text[LINE_BYTES], *type, *sizes, *name, *out;
    size_t read[TENSOR_RANK];
    const char *end;
    int dash = 0;
    snprintf(text, sizeof text, "%.*s", (int)memory_smaller(length, sizeof text - 1), line);
    if ((type = strstr(text, " = (")) == NULL || (sizes = strstr(type, " = {")) == NULL ||
        printed_sizes(sizes + strlen(" = {"), read, &end) != TENSOR_RANK ||
        sscanf(type, " = (%*[a-z0-9_]) %63[A-Z_0-9]", header->op) != 1)
        return false;
    for (size_t axis = 0; axis < AXES; axis++)
        header->sizes[axis] = read[AXES - 1 - axis];
    header->more = read[AXES];
    *type = '\0';
    name = strrchr(text, ' ') != NULL ? strrchr(text, ' ') + 1 : text;
    if (sscanf(name, "%63[A-Za-z0-9_]-%n", header->name, &dash) == 1 && dash > 0 &&
        printed_size(name + dash, &header->layer) != NULL)
        return true;
    out = strstr(type + 1, "blk."); /* the output without a name: the product with its matrix */
    snprintf(header->name, sizeof header->name, "attn_out");
    return out != NULL && text_has_word("MUL_MAT ADD", header->op) && strstr(out, ".attn_output.") != NULL &&
           printed_size(out + strlen("blk."), &header->layer) != NULL;
}

static const char *stage_of(const struct header *header)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0] && header->more == 1; i++)
        if (text_has_word(ROWS[i].names, header->name) &&
            (ROWS[i].ops == NULL || text_has_word(ROWS[i].ops, header->op)))
            return ROWS[i].stage;
    return NULL;
}

/* The next line of a tensor, or NULL. */
static const char *find_header(const char *line, struct header *header)
{
    for (; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n')
        if (read_header(line, strcspn(line, "\n"), header))
            return line;
    return NULL;
}

bool printed_is_dump(const char *text)
{
    struct header header;
    return find_header(text, &header) != NULL;
}

/* Until 2025 the sum was only that of the numbers shown. */
static bool is_sum_of_shown(const struct printed_reader *reader, size_t first, double total)
{
    static const double SHARE = 1e-4;
    double sum = 0, sizes = 1;
    for (size_t i = first; i < reader->count; i++) {
        sum += reader->numbers[i];
        sizes += fabs(reader->numbers[i]);
    }
    return first < reader->count && !(fabs(sum - total) > SHARE * sizes);
}

static bool take_numbers(struct printed_reader *reader, const struct header *header, struct printed_table *table)
{
    struct printed_piece name;
    struct file_part *part = &table->part;
    const size_t first = reader->count;
    *table = (struct printed_table){.rank = 1, .first = first};
    printed_skip(reader, table);
    const char *at = reader->at;
    if (*at == '[' && !printed_array(reader, table))
        return false;
    part->rank = AXES;
    part->of_ggml = true;
    memcpy(part->whole, header->sizes, sizeof header->sizes);
    for (size_t axis = 0; axis < AXES && reader->count > first; axis++)
        if (table->rank != AXES || table->shape[axis] > part->whole[axis] ||
            (table->shape[axis] < part->whole[axis]) != (part->lead[axis] > 0))
            return printed_fail(reader, at, "these numbers do not fit the sizes in braces");
    printed_skip(reader, table);
    printed_fact(reader, &name, part);
    part->has[FILE_SUM] = part->has[FILE_SUM] && !is_sum_of_shown(reader, first, part->totals[FILE_SUM]);
    return true;
}

bool printed_dump(struct printed_reader *reader, struct printed_dump *dump, struct printed_table *table, bool *found)
{
    struct header header;
    *found = false;
    for (const char *line; !*found && (line = find_header(reader->at, &header)) != NULL;) {
        const struct printed_piece whole = {line, strcspn(line, "\n"), false};
        const char *stage = stage_of(&header);
        reader->at = line + whole.length;
        if (strcmp(header.name, "Qcur") == 0 && strcmp(header.op, "SCALE") == 0) /* then kq is scaled, too */
            dump->scaled = header.layer + 1;
        if (stage == NULL)
            continue;
        if (dump->first.length > 0 && printed_is_same(&dump->first, &whole)) /* the next pass begins */
            break;
        dump->first = dump->first.length > 0 ? dump->first : whole;
        const bool scaled = strcmp(stage, "scores") == 0 && dump->scaled == header.layer + 1;
        snprintf(dump->name, sizeof dump->name, "blk.%zu.%s", header.layer, scaled ? "scaled" : stage);
        if (!take_numbers(reader, &header, table))
            return false;
        *found = table->shape[0] > 0 || table->part.has[FILE_SUM];
    }
    return true;
}
