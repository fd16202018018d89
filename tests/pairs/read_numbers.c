/* SPDX-License-Identifier: MIT */
#include "readers.h"

#include "read/json_syntax.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- tables ------------------------------------------------------------------------------------------------------ */

static struct reader_table *add_table(struct reader_tables *tables, const char *name)
{
    if (tables->count == READER_TABLES)
        abort();
    struct reader_table *table = &tables->tables[tables->count++];
    *table = (struct reader_table){0};
    snprintf(table->name, sizeof table->name, "%s", name);
    return table;
}

static void add_number(struct reader_table *table, double number)
{
    if ((table->count & (table->count - 1)) == 0) { /* room for a power of two */
        const size_t room = table->count > 0 ? 2 * table->count : 1;
        double *numbers = realloc(table->numbers, room * sizeof *numbers);
        if (numbers == NULL)
            abort();
        table->numbers = numbers;
    }
    table->numbers[table->count++] = number;
}

void reader_release(struct reader_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++)
        free(tables->tables[i].numbers);
    tables->count = 0;
}

const struct reader_table *reader_table(const struct reader_tables *tables, const char *name)
{
    for (size_t i = 0; i < tables->count; i++)
        if (strcmp(tables->tables[i].name, name) == 0)
            return &tables->tables[i];
    return NULL;
}

static size_t product(const struct reader_table *table)
{
    size_t count = 1;
    for (size_t axis = 0; axis < table->rank; axis++)
        count *= table->shape[axis];
    return count;
}

/* --- JSON -------------------------------------------------------------------------------------------------------- */

static bool add_json_number(struct reader_table *table, const cJSON *item, char *complaint)
{
    if (cJSON_IsNumber(item))
        add_number(table, item->valuedouble);
    else if (cJSON_IsNull(item))
        add_number(table, -INFINITY);
    else if (cJSON_IsBool(item))
        add_number(table, cJSON_IsTrue(item));
    else if (cJSON_IsString(item) && strcmp(item->valuestring, "NaN") == 0)
        add_number(table, NAN);
    else if (cJSON_IsString(item) && strcmp(item->valuestring, "Infinity") == 0)
        add_number(table, INFINITY);
    else
        return reader_complain(complaint, "%s holds what is no number", table->name);
    return true;
}

/* Numbers of an array at that depth; all arrays of one depth are as long. */
static bool add_json_array(struct reader_table *table, const cJSON *item, size_t depth, char *complaint)
{
    if (!cJSON_IsArray(item))
        return depth == table->rank ? add_json_number(table, item, complaint)
                                    : reader_complain(complaint, "%s: a number where rows are", table->name);
    const size_t size = (size_t)cJSON_GetArraySize(item);
    if (depth == READER_AXES || size == 0)
        return reader_complain(complaint, "%s has an empty row, or too many axes", table->name);
    if (depth == table->rank && table->count == 0)
        table->shape[table->rank++] = size;
    if (depth >= table->rank || table->shape[depth] != size)
        return reader_complain(complaint, "%s: rows are not as long as each other", table->name);
    for (const cJSON *element = item->child; element != NULL; element = element->next)
        if (!add_json_array(table, element, depth + 1, complaint))
            return false;
    return true;
}

static bool is_no_table(const char *key)
{
    static const char *const OTHERS[] = {"attn",    "mechanism", "settings", "tokens", "key_tokens",
                                         "queries", "layout",    "lacks",    "format"};
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
        if (strcmp(key, OTHERS[i]) == 0)
            return true;
    return false;
}

static bool read_json_tree(const cJSON *tree, struct reader_tables *tables, char *complaint)
{
    if (!cJSON_IsObject(tree) || cJSON_GetObjectItemCaseSensitive(tree, "attn") == NULL)
        return reader_complain(complaint, "no object with the key \"attn\"");
    for (const cJSON *item = tree->child; item != NULL; item = item->next) {
        if (cJSON_GetObjectItemCaseSensitive(tree, item->string) != item)
            return reader_complain(complaint, "the key %s is there twice", item->string);
        if (!is_no_table(item->string) && !add_json_array(add_table(tables, item->string), item, 0, complaint))
            return false;
    }
    return true;
}

/* By the grammar, strictly, and then by cJSON, which is lenient. */
bool reader_json(const char *bytes, size_t length, struct reader_tables *tables, char *complaint)
{
    struct error error = {0};
    char *text = malloc(length + 1);
    if (text == NULL)
        abort();
    memcpy(text, bytes, length + 1);
    bool right = json_syntax("the result", text, length, NULL, &error) == STATUS_OK;
    cJSON *tree = right ? cJSON_ParseWithLengthOpts(bytes, length, NULL, false) : NULL;
    if (tree == NULL)
        right = reader_complain(complaint, "no JSON: %s", error.message);
    else
        right = read_json_tree(tree, tables, complaint) && reader_is_plain(bytes, length, false, complaint);
    cJSON_Delete(tree);
    free(text);
    return right;
}

/* --- binary numbers ---------------------------------------------------------------------------------------------- */

static uint64_t little_endian(const char *bytes, size_t size)
{
    uint64_t number = 0;
    for (size_t i = size; i-- > 0;)
        number = number << 8 | (unsigned char)bytes[i];
    return number;
}

/* A number of `exponent` and `mantissa` bits, as IEEE 754 has it; but where there is no infinity, as in float8_e4m3fn, the
 * last code alone is NaN. */
static double decode(uint64_t bits, int exponent, int mantissa, bool infinite)
{
    const int bias = (1 << (exponent - 1)) - 1, power = (int)(bits >> mantissa) & ((1 << exponent) - 1);
    const double fraction = (double)(bits & ((UINT64_C(1) << mantissa) - 1)), one = (double)(UINT64_C(1) << mantissa);
    double magnitude = ldexp(fraction + (power > 0 ? one : 0), (power > 0 ? power : 1) - bias - mantissa);
    if (!infinite && fraction == one - 1 && power == (1 << exponent) - 1)
        magnitude = (double)NAN;
    else if (infinite && power == (1 << exponent) - 1)
        magnitude = fraction != 0 ? (double)NAN : (double)INFINITY;
    return bits >> (exponent + mantissa) & 1 ? -magnitude : magnitude;
}

/* How a number of a binary file is called, and what it is. */
static const struct number_row {
    const char *safetensors, *npy;
    size_t size;
    int exponent, mantissa; /* 0 and 0: a whole number */
    bool infinite;
} NUMBERS[] = {
    {"F16", "<f2", 2, 5, 10, true},  {"BF16", NULL, 2, 8, 7, true},     {"F32", "<f4", 4, 8, 23, true},
    {"F64", "<f8", 8, 11, 52, true}, {"F8_E4M3", NULL, 1, 4, 3, false}, {"F8_E5M2", NULL, 1, 5, 2, true},
    {"I64", "<i8", 8, 0, 0, false},  {"BOOL", "|b1", 1, 0, 0, false},
};
enum { NUMBER_COUNT = sizeof NUMBERS / sizeof NUMBERS[0] };

static void add_numbers(struct reader_table *table, const struct number_row *row, const char *bytes)
{
    const size_t count = product(table);
    if (row->size < 8 && row->mantissa > 0) {
        table->unit = ldexp(1, -row->mantissa - 1);
        table->least = ldexp(1, 1 - (1 << (row->exponent - 1)) - row->mantissa);
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = little_endian(bytes + i * row->size, row->size);
        add_number(table, row->mantissa > 0 ? decode(bits, row->exponent, row->mantissa, row->infinite)
                                            : (double)(int64_t)bits);
    }
}

/* --- .npy -------------------------------------------------------------------------------------------------------- */

/* "(2, 3)", "(2,)" */
static bool read_npy_shape(struct reader_table *table, const char *text)
{
    char *end;
    if (*text++ != '(')
        return false;
    while (*text != ')' && table->rank < READER_AXES) {
        table->shape[table->rank++] = strtoul(text, &end, 10);
        if (end == text || (*end != ',' && (*end != ')' || table->rank == 1)))
            return false;
        text = end + (*end == ',') + (end[*end == ','] == ' ');
    }
    return *text == ')' && strspn(text + 1, ", }") >= 2;
}

/* What numpy.load asks for: the magic string, version 1.0, a dictionary padded to 64 bytes that ends in a newline, and as
 * many bytes as the shape needs. */
bool reader_npy(const char *bytes, size_t length, struct reader_tables *tables, char *complaint)
{
    static const char BEGIN[] = "{'descr': '", MIDDLE[] = "', 'fortran_order': False, 'shape': ";
    if (length < 10 || memcmp(bytes, "\x93NUMPY\x01\x00", 8) != 0)
        return reader_complain(complaint, "no .npy of version 1.0");
    const size_t header = 10 + (size_t)little_endian(bytes + 8, 2);
    if (header > length || header % 64 != 0 || bytes[header - 1] != '\n')
        return reader_complain(complaint, "the header has %zu bytes", header);
    const char *descr = bytes + 10 + sizeof BEGIN - 1;
    const struct number_row *row = NULL;
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        if (NUMBERS[i].npy != NULL && strncmp(descr, NUMBERS[i].npy, 3) == 0)
            row = &NUMBERS[i];
    if (memcmp(bytes + 10, BEGIN, sizeof BEGIN - 1) != 0 || row == NULL ||
        memcmp(descr + 3, MIDDLE, sizeof MIDDLE - 1) != 0)
        return reader_complain(complaint, "the header is %.60s", bytes + 10);
    struct reader_table *table = add_table(tables, "");
    if (!read_npy_shape(table, descr + 3 + sizeof MIDDLE - 1))
        return reader_complain(complaint, "the shape is in %.90s", bytes + 10);
    if (header + product(table) * row->size != length)
        return reader_complain(complaint, "%zu numbers and %zu bytes", product(table), length - header);
    add_numbers(table, row, bytes + header);
    return true;
}

/* --- .safetensors ------------------------------------------------------------------------------------------------ */

static const struct number_row *find_code(const cJSON *item)
{
    const char *code = cJSON_GetStringValue(item);
    for (size_t i = 0; i < NUMBER_COUNT && code != NULL; i++)
        if (strcmp(code, NUMBERS[i].safetensors) == 0)
            return &NUMBERS[i];
    return NULL;
}

/* One tensor of the header; the tensors lie one behind the other, *from is where this one begins. */
static bool read_tensor(const cJSON *item, const char *data, size_t size, size_t *from, struct reader_tables *tables,
                        char *complaint)
{
    const struct number_row *row = find_code(cJSON_GetObjectItem(item, "dtype"));
    const cJSON *offsets = cJSON_GetObjectItem(item, "data_offsets"), *shape = cJSON_GetObjectItem(item, "shape");
    struct reader_table *table = add_table(tables, item->string);
    for (const cJSON *axis = shape != NULL ? shape->child : NULL; axis != NULL; axis = axis->next) {
        if (table->rank == READER_AXES || !cJSON_IsNumber(axis))
            return reader_complain(complaint, "the shape of %s", item->string);
        table->shape[table->rank++] = (size_t)axis->valuedouble;
    }
    if (row == NULL || cJSON_GetArraySize(item) != 3 || cJSON_GetArraySize(offsets) != 2)
        return reader_complain(complaint, "%s has no dtype, shape and data_offsets", item->string);
    const size_t begin = (size_t)cJSON_GetArrayItem(offsets, 0)->valuedouble;
    const size_t end = (size_t)cJSON_GetArrayItem(offsets, 1)->valuedouble;
    if (begin != *from || end < begin || end > size || end - begin != product(table) * row->size)
        return reader_complain(complaint, "%s is at %zu..%zu of %zu, after %zu, with %zu numbers", item->string, begin,
                               end, size, *from, product(table));
    add_numbers(table, row, data + begin);
    *from = end;
    return true;
}

static bool read_header(const cJSON *header, const char *data, size_t size, struct reader_tables *tables,
                        char *complaint)
{
    size_t from = 0;
    for (const cJSON *item = header->child; item != NULL; item = item->next) {
        if (cJSON_GetObjectItemCaseSensitive(header, item->string) != item)
            return reader_complain(complaint, "%s is there twice", item->string);
        if (strcmp(item->string, "__metadata__") != 0) {
            if (!read_tensor(item, data, size, &from, tables, complaint))
                return false;
            continue;
        }
        for (const cJSON *text = item->child; text != NULL; text = text->next)
            if (!cJSON_IsString(text))
                return reader_complain(complaint, "metadata: %s is no text", text->string);
    }
    return from == size || reader_complain(complaint, "%zu bytes belong to no tensor", size - from);
}

bool reader_safetensors(const char *bytes, size_t length, struct reader_tables *tables, char *complaint)
{
    const uint64_t header = length >= 8 ? little_endian(bytes, 8) : UINT64_MAX;
    struct error error = {0};
    if (header > length - 8 || header % 8 != 0)
        return reader_complain(complaint, "a header of %llu bytes in %zu", (unsigned long long)header, length);
    char *text = strndup(bytes + 8, (size_t)header);
    if (text == NULL)
        abort();
    bool right = bytes[8] == '{' && json_syntax("the header", text, strlen(text), NULL, &error) == STATUS_OK;
    cJSON *tree = cJSON_ParseWithLengthOpts(bytes + 8, (size_t)header, NULL, false);
    right = right && tree != NULL
                ? read_header(tree, bytes + 8 + header, length - 8 - (size_t)header, tables, complaint)
                : reader_complain(complaint, "the header is no JSON object: %s", error.message);
    cJSON_Delete(tree);
    free(text);
    return right;
}

/* --- CSV --------------------------------------------------------------------------------------------------------- */

enum { MOST_FIELDS = 1024 };

struct csv_row {
    size_t count;
    char *fields[MOST_FIELDS];
};

/* The next record, whose fields are unquoted in place; NULL behind the last, or where a quote is wrong. */
static char *read_record(char *text, struct csv_row *row)
{
    row->count = 0;
    while (row->count < MOST_FIELDS) {
        const bool quoted = *text == '"';
        char *to = text += quoted;
        row->fields[row->count++] = to;
        while (quoted ? *text != '\0' && (*text != '"' || text[1] == '"') : strchr(",\n\"", *text) == NULL) {
            text += quoted && *text == '"';
            *to++ = *text++;
        }
        if (quoted && *text++ != '"')
            return NULL;
        const char end = *text;
        *to = '\0';
        if (end == '\n')
            return text + 1;
        if (end != ',')
            return NULL;
        text++;
    }
    return NULL;
}

static bool is_truth(const char *field)
{
    return strcmp(field, "true") == 0 || strcmp(field, "false") == 0;
}

static bool is_number(const char *field)
{
    char *end;
    if (is_truth(field) || strcmp(field, "NaN") == 0 || strcmp(field, "Infinity") == 0)
        return true;
    strtod(field, &end);
    return field[strspn(field, "0123456789+-.e")] == '\0' && end != field && *end == '\0';
}

/* Minus infinity is an empty field. */
static double field_number(const char *field)
{
    if (is_truth(field))
        return strcmp(field, "true") == 0;
    return field[0] != '\0' ? strtod(field, NULL) : -(double)INFINITY;
}

/* What a spreadsheet would compute. */
static bool is_formula(const char *field)
{
    return strchr("=+-@\t\r", field[0]) != NULL && field[0] != '\0' && field[1] != '\0' && !is_number(field);
}

static bool check_names(const struct csv_row *header, char *complaint)
{
    for (size_t i = 0; i < header->count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(header->fields[i], header->fields[j]) == 0)
                return reader_complain(complaint, "columns %zu and %zu are both called '%s'", j + 1, i + 1,
                                       header->fields[i]);
    return true;
}

/* The columns before those of numbers: "stage", then those of places, the last of which is "row" or "token". */
static size_t count_places(const struct csv_row *header)
{
    static const char *const PLACES[] = {"stage", "item", "head", "row", "token"};
    size_t column = 0;
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++)
        column += column < header->count && strcmp(header->fields[column], PLACES[i]) == 0;
    return column;
}

/* How many columns are called 1, 2, 3 ... */
static size_t count_features(const struct csv_row *header, size_t places)
{
    size_t features = 0;
    char name[24];
    while (places + features < header->count) {
        snprintf(name, sizeof name, "%zu", features + 1);
        if (strcmp(header->fields[places + features], name) != 0)
            break;
        features++;
    }
    return features;
}

/* All fields behind those of places, minus infinity where one is empty. */
static bool add_record(struct reader_tables *tables, const struct csv_row *row, size_t places, size_t features,
                       char *complaint)
{
    struct reader_table *table = tables->count > 0 ? &tables->tables[tables->count - 1] : NULL;
    if (table == NULL || strcmp(table->name, row->fields[0]) != 0) {
        if (reader_table(tables, row->fields[0]) != NULL)
            return reader_complain(complaint, "rows of %s in two places", row->fields[0]);
        table = add_table(tables, row->fields[0]);
    }
    table->shape[0]++;
    table->shape[1] = row->count - places;
    table->shape[2] = features;
    for (size_t i = places; i < row->count; i++) {
        if (row->fields[i][0] != '\0' && !is_number(row->fields[i]))
            return reader_complain(complaint, "%s, row %zu: '%s' in column %zu", table->name, table->shape[0],
                                   row->fields[i], i + 1);
        add_number(table, field_number(row->fields[i]));
    }
    return true;
}

static bool read_records(char *text, struct reader_tables *tables, char *complaint)
{
    static struct csv_row header, row;
    char *rest = read_record(text, &header);
    if (rest == NULL || header.count == 0 || !check_names(&header, complaint))
        return rest != NULL ? false : reader_complain(complaint, "the first line is no record");
    const size_t places = count_places(&header), features = count_features(&header, places);
    for (size_t i = 0; i < header.count; i++)
        if (is_formula(header.fields[i]))
            return reader_complain(complaint, "a spreadsheet computes the name '%s'", header.fields[i]);
    for (size_t line = 2; *rest != '\0'; line++) {
        rest = read_record(rest, &row);
        if (rest == NULL || row.count != header.count)
            return reader_complain(complaint, "record %zu has %zu fields, the first one %zu", line, row.count,
                                   header.count);
        for (size_t i = 0; i < places; i++)
            if (is_formula(row.fields[i]))
                return reader_complain(complaint, "a spreadsheet computes '%s'", row.fields[i]);
        if (!add_record(tables, &row, places, features, complaint))
            return false;
    }
    return tables->count > 0 || reader_complain(complaint, "a header alone");
}

bool reader_csv(const char *bytes, size_t length, struct reader_tables *tables, char *complaint)
{
    if (!reader_is_plain(bytes, length, false, complaint))
        return false;
    char *text = strdup(bytes);
    if (text == NULL)
        abort();
    const bool right = read_records(text, tables, complaint);
    free(text);
    return right;
}
