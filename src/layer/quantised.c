/* SPDX-License-Identifier: MIT */
#include "layer/quantised.h"

#include "base/text.h"
#include "layer/config_keys.h"
#include "layer/quantised_rows.h"
#include "read/json_tree.h"
#include "tensor/block.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum part { CODES, SCALES, ZEROS, GROUPS, SHAPE, DIVISOR, PART_KINDS };

static const struct row {
    const char *method, *key, *formats, *title, *part[PART_KINDS], *widths, *rounded;
    size_t bits, word, block[2];
    bool usual, in_groups, fixed, down, zeros_down, of_rows, zeros_of_rows, interleaved, across, e2m1, centred,
        asks_zeros, zero_added, added;
} ROWS[] = {
#define ROW(method, key, formats, title, ...) {method, key, formats, title, __VA_ARGS__},
    QUANTISED_ROWS(ROW)
#undef ROW
};
static const struct row *const END = ROWS + sizeof ROWS / sizeof ROWS[0];

/* One of a weight's tensors. */
struct stored {
    const struct named_tensor *look; /* NULL: there is none */
    size_t rows, columns;            /* a list is a column, a number a list of one */
    struct tensor tensor;            /* as a matrix; of a dtype that attn lacks, bytes without a dtype */
};

/* Codes in words, and what each means. */
struct codes {
    const struct stored *stored;
    size_t bits, word;
    bool down, of_rows, interleaved;
    double table[256];
};

/* A weight, being read. */
struct weight {
    const struct checkpoint *checkpoint;
    const struct row *row;
    const char *name;
    struct config_reading reading; /* its section: what the config says of this weight */
    struct stored part[PART_KINDS];
    struct codes codes, zeros;
    size_t rows, columns;
    size_t bits, block[2], down, across; /* of a block; blocks */
    bool any_block, whole, ordered;      /* no block is said; codes are integers; each column names its group */
    bool has_zeros;                      /* zero points must be there */
    double *scales, *added;
    enum dtype rounded;
    struct error *error;
};

/* --- the config -------------------------------------------------------------------------------------------------- */

/* The text of the first of these keys, or "". */
static const char *word_of(const cJSON *section, const char *names)
{
    const struct config_reading reading = {.section = section};
    const struct config_value value = config_find_name(&reading, names);
    return cJSON_IsString(value.item) ? value.item->valuestring : "";
}

static struct config_value how_of(const struct config *config)
{
    const struct config_reading reading = {.section = config->root};
    return config_find_name(&reading, "quantization_config compression_config text_config.quantization_config "
                                      "language_config.quantization_config llm_config.quantization_config "
                                      "thinker_config.text_config.quantization_config quantization");
}

/* MLX writes no method, and only new releases its "mode". */
static const char *method_of(const cJSON *how)
{
    const char *method = word_of(how, "quant_method qformat_weight mode");
    return *method == '\0' && cJSON_HasObjectItem(how, "group_size") ? "affine" : method;
}

/* What the config does to inputs or weights besides rounding them, or "". */
static const char *change_of(const cJSON *how)
{
    const struct config_reading reading = {.section = how};
    const char *sparse = word_of(how, "sparsity_config.format");
    if (cJSON_GetArraySize(config_find_name(&reading, "transform_config.config_groups").item) > 0)
        return "with transform_config";
    return strcmp(sparse, "dense") != 0 ? sparse : "";
}

static bool is_row_of(const struct row *row, const char *method, const cJSON *section)
{
    const char *format = word_of(section, row->key);
    return strcmp(row->method, method) == 0 &&
           (*row->key == '\0' || text_has_word(row->formats, format) || (row->usual && *format == '\0'));
}

enum status quantised_check(const struct config *config, struct error *error)
{
    const struct config_value value = how_of(config);
    const cJSON *how = value.item;
    const char *method = method_of(how), *change = change_of(how), *format = change;
    bool is_read = !config_is_set(&value);
    for (const struct row *row = ROWS; row < END && *change == '\0'; row++) {
        if (strcmp(row->method, method) != 0)
            continue;
        format = word_of(how, row->key);
        is_read = is_read || is_row_of(row, method, how) ||
                  (row->in_groups && (*format == '\0' || strcmp(format, "mixed-precision") == 0));
    }
    return is_read ? STATUS_OK
                   : error_usage(error,
                                 "%s: %s: attn does not read weights quantised by %.40s%s%.40s; dequantise them first: "
                                 "load the model in bfloat16 and save it with save_pretrained",
                                 config->path, value.key, *method != '\0' ? method : "an unknown method",
                                 *format != '\0' ? " " : "", format);
}

/* A size from the config; 0 where it has none, or where -1 means all. */
static size_t size_of(const struct config_reading *reading, const struct config_value *value, bool or_all)
{
    const double number = config_real(reading, value, -1);
    const bool whole = number >= 1 && number <= 0x1p31 && number == floor(number);
    if (!whole && config_is_set(value) && !(or_all && number == -1))
        config_wrong(reading, value, "a whole number above 0");
    return whole ? (size_t)number : 0;
}

static enum status read_scheme(struct weight *weight)
{
    const struct row *row = weight->row;
    const struct config_reading *reading = &weight->reading;
    const struct config_value bits = config_find_name(reading, "bits num_bits"),
                              group = config_find_name(reading, "group_size"),
                              block = config_find_name(reading, "weight_block_size block_structure"),
                              strategy = config_find_name(reading, "strategy"),
                              order = config_find_name(reading, "desc_act"),
                              symmetric = config_find_name(reading, "symmetric");
    const char *by = config_text(reading, &strategy, "");
    memcpy(weight->block, row->block, sizeof weight->block);
    weight->bits = row->bits;
    weight->whole = row->title == NULL && strcasecmp(word_of(reading->section, "type"), "float") != 0;
    if (row->fixed)
        return STATUS_OK;
    weight->ordered =
        row->part[GROUPS] != NULL &&
        (config_truth(reading, &order, false) || text_has_word("group dynamic", word_of(reading->section, "actorder")));
    weight->has_zeros = row->asks_zeros || !config_truth(reading, &symmetric, true);
    if (row->widths != NULL) {
        weight->bits = size_of(reading, &bits, false);
        if (weight->bits > 8 || strchr(row->widths, '0' + (int)weight->bits) == NULL)
            CONFIG_REFUSE(reading, "%s: %s: bits are %zu; expected %s", reading->config->path, bits.key, weight->bits,
                          row->widths);
    }
    weight->any_block = *by == '\0' && !config_is_set(&group) && !config_is_set(&block);
    if (config_is_set(&block) && json_count(block.item) != 2)
        config_wrong(reading, &block, "two numbers");
    for (int i = 0; i < 2 && config_is_set(&block); i++) {
        struct config_value size = block;
        size.item = cJSON_GetArrayItem(block.item, i);
        weight->block[i] = size_of(reading, &size, false);
    }
    if (!config_is_set(&block) && strcmp(by, "tensor") != 0) {
        weight->block[0] = 1;
        weight->block[1] = size_of(reading, &group, true);
    }
    if (*by != '\0' && !text_has_word("tensor channel group tensor_group block", by))
        config_wrong(reading, &strategy, "tensor, channel, group, tensor_group or block");
    if (strstr(by, "group") != NULL && weight->block[1] == 0)
        CONFIG_REFUSE(reading, "%s: %s is %s; expected a group_size above 0", reading->config->path, strategy.key, by);
    return reading->error->status;
}

/* --- names ------------------------------------------------------------------------------------------------------- */

/* The name that a tensor has with another last word, in the arena; NULL where memory is short. */
static const char *rename_leaf(const struct checkpoint *checkpoint, const char *name, const char *leaf,
                               struct error *error)
{
    const char *dot = strrchr(name, '.');
    const size_t stem = dot != NULL ? (size_t)(dot - name) + 1 : 0, size = stem + strlen(leaf) + 1;
    char *other = arena_allocate(checkpoint->arena, size, 1, error);
    if (other != NULL)
        snprintf(other, size, "%.*s%s", (int)stem, name, leaf);
    return other;
}

static bool has_part(const struct checkpoint *checkpoint, const char *name, const char *part)
{
    const char *other = part != NULL ? rename_leaf(checkpoint, name, part, NULL) : NULL;
    return other != NULL && checkpoint_has(checkpoint, other);
}

/* The name without quantisation; NULL for a tensor that would not be there, and where memory is short. */
static const char *show(const struct checkpoint *checkpoint, const char *method, const char *name, struct error *error)
{
    const char *dot = strrchr(name, '.'), *leaf = dot != NULL ? dot + 1 : name;
    if (text_has_word(QUANTISED_LEFT, leaf))
        return NULL;
    for (const struct row *row = ROWS; row < END; row++)
        for (enum part part = 0; part < PART_KINDS && strcmp(row->method, method) == 0; part++) {
            if (row->part[part] == NULL || strcmp(row->part[part], leaf) != 0)
                continue;
            if (part == CODES)
                return rename_leaf(checkpoint, name, "weight", error);
            if (has_part(checkpoint, name, row->part[CODES]))
                return NULL;
        }
    return name;
}

enum status quantised_begin(struct quantised *quantised, const struct checkpoint *checkpoint,
                            const struct config *config, struct error *error)
{
    struct checkpoint *shown = &quantised->shown;
    *quantised = (struct quantised){.stored = checkpoint, .shown = *checkpoint, .config = config};
    quantised->method = method_of(how_of(config).item);
    if (*quantised->method == '\0')
        return STATUS_OK;
    shown->names = arena_allocate(checkpoint->arena, checkpoint->count, sizeof shown->names[0], error);
    shown->count = 0;
    for (size_t i = 0; i < checkpoint->count && shown->names != NULL && error->status == STATUS_OK; i++) {
        const char *name = show(checkpoint, quantised->method, checkpoint->names[i].text, error);
        if (name != NULL)
            shown->names[shown->count++] = (struct checkpoint_name){name, checkpoint->names[i].file};
    }
    if (error->status == STATUS_OK)
        text_sort(shown->names, shown->count, sizeof shown->names[0]);
    return error->status;
}

/* --- the tensors of a weight ------------------------------------------------------------------------------------- */

static enum status __attribute__((format(printf, 3, 4)))
contradicts(const struct weight *weight, enum part part, const char *format, ...)
{
    const struct stored *stored = &weight->part[part];
    char expected[160];
    TEXT_FORMAT(expected, format);
    return error_usage(weight->error, "%s: %.200s: %.40s %zu x %zu; expected %s", stored->look->source,
                       stored->look->name, stored->look->dtype, stored->rows, stored->columns, expected);
}

static bool is_of_bytes(const struct stored *stored, const char *words)
{
    return stored->tensor.dtype == DTYPE_COUNT && text_has_word(words, stored->look->dtype);
}

/* Finds a part of the weight, if it has that. */
static enum status read_part(struct weight *weight, enum part part)
{
    const char *leaf = weight->row->part[part];
    const bool asked = part == CODES || part == SCALES || part == DIVISOR || (part == ZEROS && weight->has_zeros) ||
                       (part == GROUPS && weight->ordered);
    struct stored *stored = &weight->part[part];
    if (leaf == NULL || (!asked && !has_part(weight->checkpoint, weight->name, leaf)))
        return STATUS_OK;
    const char *name = rename_leaf(weight->checkpoint, weight->name, leaf, weight->error);
    if (name == NULL || checkpoint_look(weight->checkpoint, name, &stored->look, weight->error) != STATUS_OK)
        return weight->error->status;
    if (part == CODES && strcmp(leaf, "weight") != 0 && checkpoint_has(weight->checkpoint, weight->name))
        return error_usage(weight->error, "%s: both %.200s and %.200s; expected one of them", stored->look->source,
                           name, weight->name);
    struct tensor_bytes bytes = stored->look->bytes;
    const bool in_blocks = bytes.rank == 3 && part == CODES && weight->row->word == 8,
               wide = part == CODES && weight->row->added;
    const size_t width = wide ? sizeof(uint32_t) : 1, size = stored->look->size;
    stored->tensor = (struct tensor){.dtype = bytes.dtype, .data = (void *)(uintptr_t)bytes.bytes};
    stored->rows = bytes.rank > 0 ? bytes.shape[0] : 1;
    stored->columns = stored->rows > 0 ? stored->look->count / stored->rows : 0;
    if (stored->look->count == 0 || (bytes.rank > 2 && !in_blocks) || bytes.strided ||
        (bytes.dtype == DTYPE_COUNT && !is_of_bytes(stored, wide ? "U32" : "U8 I8 F8_E8M0")))
        return contradicts(weight, part, "a matrix of a dtype that attn reads");
    if (bytes.dtype == DTYPE_COUNT && (size / width != stored->look->count || size % width != 0))
        return contradicts(weight, part, "as many numbers as its %zu bytes hold", size);
    bytes.rank = 2;
    bytes.shape[0] = stored->rows;
    bytes.shape[1] = stored->columns;
    return bytes.dtype == DTYPE_COUNT
               ? STATUS_OK
               : tensor_bytes_tensor(&bytes, &stored->tensor, weight->checkpoint->arena, weight->error);
}

/* What each byte means: a whole number, with a sign or not, a power of two, or a number of 8 bits. */
static bool load_table(const struct stored *stored, bool exponents, double *table)
{
    unsigned char bytes[256];
    for (int i = 0; i < 256; i++) {
        bytes[i] = (unsigned char)i;
        table[i] = is_of_bytes(stored, "I8") ? (i ^ 128) - 128
                   : !exponents              ? i
                   : i < 255                 ? ldexp(1, i - 127)
                                             : (double)NAN;
    }
    if (stored->tensor.dtype == DTYPE_COUNT)
        return true;
    const bool is_byte = dtype_is_working(stored->tensor.dtype) && dtype_size(stored->tensor.dtype) == 1;
    if (is_byte)
        dtype_load(stored->tensor.dtype, bytes, 256, table);
    return is_byte;
}

/* Checks that a part has a number for each block. */
static enum status check_blocks(const struct weight *weight, enum part part)
{
    const struct stored *stored = &weight->part[part];
    const size_t down = weight->row->across ? weight->across : weight->down,
                 across = weight->row->across ? weight->down : weight->across;
    if (stored->rows == down && stored->columns == across)
        return STATUS_OK;
    return contradicts(weight, part, "%zu x %zu, one for each block of the weight", down, across);
}

/* The numbers of a part, one for each block, divided by `by`. */
static enum status load_numbers(struct weight *weight, enum part part, double by, double **numbers)
{
    const struct stored *stored = &weight->part[part];
    const enum dtype dtype = stored->tensor.dtype;
    const size_t count = stored->look->count;
    const unsigned char *bytes = stored->tensor.data;
    double table[256];
    const bool coded = load_table(stored, true, table);
    *numbers = arena_allocate(weight->checkpoint->arena, count, sizeof **numbers, weight->error);
    if (*numbers == NULL || check_blocks(weight, part) != STATUS_OK)
        return weight->error->status;
    if (coded ? weight->row->rounded == NULL : !dtype_is_working(dtype) || dtype == DTYPE_F64)
        return contradicts(weight, part, "float32, float16 or bfloat16");
    if (!coded)
        dtype_load(dtype, bytes, count, *numbers);
    for (size_t i = 0; i < count; i++)
        (*numbers)[i] = (float)((coded ? table[bytes[i]] : (*numbers)[i]) / by);
    return STATUS_OK;
}

static enum status load_scales(struct weight *weight)
{
    const struct stored *divisor = &weight->part[DIVISOR];
    const char *rounded = weight->row->rounded;
    double by = 1;
    weight->rounded = rounded != NULL ? dtype_find(dtype_name, rounded) : weight->part[SCALES].tensor.dtype;
    if (divisor->look != NULL && (divisor->look->count != 1 || divisor->tensor.dtype != DTYPE_F32))
        return contradicts(weight, DIVISOR, "one number of float32");
    if (divisor->look != NULL)
        tensor_load(&divisor->tensor, 0, 1, &by);
    return load_numbers(weight, SCALES, by, &weight->scales);
}

/* --- codes ------------------------------------------------------------------------------------------------------- */

static double number_at(const struct codes *codes, size_t row, size_t column)
{
    size_t i = codes->of_rows ? row : column;
    const size_t other = codes->of_rows ? column : row, each = codes->word / codes->bits;
    if (codes->interleaved)
        i += i % each % 2 * (each / 2) + i % each / 2 - i % each;
    const size_t word = i * codes->bits / codes->word, shift = i * codes->bits % codes->word;
    const size_t columns = codes->stored->columns, bytes = codes->word / 8, step = codes->down ? columns : 1;
    const unsigned char *at = codes->stored->tensor.data;
    uint32_t low, high = 0;
    at += (word * step + (codes->down ? other : other * columns)) * bytes;
    if (bytes == 1)
        return codes->table[*at >> shift & ((1U << codes->bits) - 1)];
    memcpy(&low, at, sizeof low);
    if (shift + codes->bits > codes->word)
        memcpy(&high, at + step * bytes, sizeof high);
    return codes->table[((uint64_t)high << 32 | low) >> shift & ((1U << codes->bits) - 1)];
}

static enum status set_codes(struct weight *weight, enum part part, struct codes *codes)
{
    const struct row *row = weight->row;
    const struct stored *stored = &weight->part[part];
    const bool zeros = part == ZEROS, packed = row->word > 0 && (!zeros || stored->tensor.dtype == DTYPE_I32);
    const bool whole = is_of_bytes(stored, "I8"), right = whole == (weight->whole || row->word > 0);
    *codes = (struct codes){.stored = stored, .bits = packed ? weight->bits : 8, .word = packed ? row->word : 8};
    if (!packed)
        return right && load_table(stored, false, codes->table) && (whole || stored->tensor.dtype != DTYPE_COUNT)
                   ? STATUS_OK
                   : contradicts(weight, part, weight->whole || row->word > 0 ? "I8" : "F8_E4M3 or F8_E5M2");
    const char *dtype = row->word == 8 ? "U8" : row->added ? "U32" : "I32";
    if (strcmp(stored->look->dtype, dtype) != 0)
        return contradicts(weight, part, "%s", dtype);
    codes->down = zeros ? row->zeros_down : row->down;
    codes->of_rows = zeros ? row->zeros_of_rows : row->of_rows;
    codes->interleaved = row->interleaved;
    for (unsigned i = 0, mask = (1U << codes->bits) - 1; i <= mask; i++)
        codes->table[i] = row->e2m1 ? BLOCK_E2M1[i] / 2.0 : zeros && row->zero_added ? (i + 1) & mask : i;
    return STATUS_OK;
}

/* Words for so many codes, which are at least one; 0 where their bits overflow. */
static size_t words_for(const struct codes *codes, size_t numbers)
{
    const size_t bits = memory_product(numbers, codes->bits);
    return bits < SIZE_MAX ? (bits - 1) / codes->word + 1 : 0;
}

/* Finds the rows and columns of the weight, and its blocks. */
static enum status measure(struct weight *weight)
{
    const struct codes *codes = &weight->codes;
    const struct stored *stored = codes->stored, *shape = &weight->part[SHAPE];
    const size_t words = codes->down ? stored->rows : stored->columns,
                 others = codes->down ? stored->columns : stored->rows;
    const size_t bits = memory_product(words, codes->word);
    size_t numbers = bits < SIZE_MAX ? bits / codes->bits : 0;
    double sizes[2] = {0, 0};
    if (shape->look != NULL) {
        if (shape->look->count == 2 && dtype_is_whole(shape->tensor.dtype))
            dtype_load(shape->tensor.dtype, shape->tensor.data, 2, sizes);
        if (sizes[0] != (double)others || !(sizes[1] >= 1 && sizes[1] <= (double)numbers))
            return contradicts(weight, SHAPE, "the rows and columns of %.100s", stored->look->name);
        numbers = (size_t)sizes[1];
    }
    if (numbers == 0 || words_for(codes, numbers) != words)
        return contradicts(weight, CODES, "words that are full of codes of %zu bits", codes->bits);
    weight->rows = codes->of_rows ? numbers : others;
    weight->columns = codes->of_rows ? others : numbers;
    if (weight->any_block)
        weight->block[0] = weight->part[SCALES].look->count > 1;
    weight->down = weight->block[0] > 0 ? (weight->rows - 1) / weight->block[0] + 1 : 1;
    weight->across = weight->block[1] > 0 ? (weight->columns - 1) / weight->block[1] + 1 : 1;
    return STATUS_OK;
}

static enum status check_zeros(struct weight *weight)
{
    const struct stored *stored = &weight->part[ZEROS];
    const struct codes *codes = &weight->zeros;
    if (stored->look == NULL)
        return STATUS_OK;
    if (weight->row->added)
        return stored->tensor.dtype == weight->rounded ? load_numbers(weight, ZEROS, 1, &weight->added)
                                                       : contradicts(weight, ZEROS, "the dtype of the scales");
    if (set_codes(weight, ZEROS, &weight->zeros) != STATUS_OK)
        return weight->error->status;
    if (!codes->of_rows)
        return check_blocks(weight, ZEROS);
    const size_t words = words_for(codes, weight->rows), rows = codes->down ? words : weight->across,
                 columns = codes->down ? weight->across : words;
    if (stored->rows == rows && stored->columns == columns && weight->down == weight->rows)
        return STATUS_OK;
    return contradicts(weight, ZEROS, "%zu x %zu, zero points of %zu rows x %zu groups", rows, columns, weight->rows,
                       weight->across);
}

/* *groups: the group of each column, in the arena; NULL: they follow each other. */
static enum status load_groups(struct weight *weight, double **groups)
{
    const struct stored *stored = &weight->part[GROUPS];
    size_t none = 0;
    *groups = NULL;
    if (stored->look == NULL)
        return STATUS_OK;
    if (stored->rows != weight->columns || stored->columns != 1 || !dtype_is_whole(stored->tensor.dtype))
        return contradicts(weight, GROUPS, "%zu whole numbers, the group of each column", weight->columns);
    double *read = arena_allocate(weight->checkpoint->arena, weight->columns, sizeof *read, weight->error);
    if (read == NULL)
        return weight->error->status;
    dtype_load(stored->tensor.dtype, stored->tensor.data, weight->columns, read);
    for (size_t i = 0; i < weight->columns; i++) {
        none += read[i] == -1; /* of each column: compressed-tensors has them where groups follow each other */
        if (!(read[i] >= 0 && read[i] < (double)weight->across) && none != i + 1)
            return contradicts(weight, GROUPS, "groups below %zu, but that of column %zu is %.0f", weight->across,
                               i + 1, read[i]);
    }
    *groups = none == 0 ? read : NULL;
    return none == 0 || none == weight->columns ? STATUS_OK : contradicts(weight, GROUPS, "a group of each column");
}

static enum status read_parts(struct weight *weight)
{
    if (read_scheme(weight) != STATUS_OK)
        return weight->error->status;
    for (enum part part = 0; part < PART_KINDS; part++)
        if (read_part(weight, part) != STATUS_OK)
            return weight->error->status;
    return set_codes(weight, CODES, &weight->codes) || measure(weight) || load_scales(weight) || check_zeros(weight)
               ? weight->error->status
               : STATUS_OK;
}

/* Whether a weight is stored as codes: in tensors of other names, with a scale, or in numbers of one byte. */
static bool has_codes(const struct quantised *quantised, const char *name)
{
    const struct checkpoint *stored = quantised->stored;
    const struct named_tensor *look;
    struct error error = {0};
    if (*quantised->method == '\0' || !text_ends_in(name, ".weight"))
        return false;
    for (const struct row *row = ROWS; row < END; row++)
        if (strcmp(row->method, quantised->method) == 0 && has_part(stored, name, row->part[CODES]) &&
            (strcmp(row->part[CODES], "weight") != 0 || has_part(stored, name, row->part[SCALES])))
            return true;
    return checkpoint_look(stored, name, &look, &error) == STATUS_OK &&
           !(dtype_is_working(look->bytes.dtype) && dtype_size(look->bytes.dtype) > 1);
}

/* The section of the config about a weight: MLX has one for each module of other settings. */
static const cJSON *section_of(const cJSON *how, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%.*s", (int)memory_left(strlen(name), strlen(".weight")), name);
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(how, path);
    return cJSON_IsObject(own) ? own : how;
}

/* Reads the tensors of a weight by the first row, and group of the config, that fits them; the error is that of the
 * first one tried. */
static enum status read_weight(struct quantised *quantised, const char *name, struct weight *weight,
                               struct error *error)
{
    const struct config_value how = how_of(quantised->config);
    const enum status checked = quantised->checked ? STATUS_OK : quantised_check(quantised->config, error);
    if (checked != STATUS_OK)
        return checked;
    quantised->checked = true;
    const cJSON *groups = cJSON_GetObjectItemCaseSensitive(how.item, "config_groups");
    struct error first = {0};
    for (const struct row *row = ROWS; row < END; row++) {
        const cJSON *said =
            row->in_groups ? (cJSON_IsObject(groups) ? groups->child : NULL) : section_of(how.item, name);
        for (; said != NULL; said = row->in_groups ? said->next : NULL) {
            if (!is_row_of(row, quantised->method, *word_of(said, row->key) != '\0' ? said : how.item))
                continue;
            *error = (struct error){0};
            *weight = (struct weight){.checkpoint = quantised->stored, .row = row, .name = name, .error = error};
            weight->reading = (struct config_reading){.config = quantised->config, .section = said, .error = error};
            snprintf(weight->reading.prefix, sizeof weight->reading.prefix, "%.60s.", how.key);
            if (row->in_groups) {
                snprintf(weight->reading.prefix, sizeof weight->reading.prefix, "%.40s.config_groups.%.30s.weights.",
                         how.key, said->string);
                weight->reading.section = cJSON_GetObjectItemCaseSensitive(said, "weights");
            }
            if (read_parts(weight) != STATUS_USAGE)
                return error->status;
            first = first.status == STATUS_OK ? *error : first;
        }
    }
    if (first.status == STATUS_OK)
        return error_usage(error, "%s: %s has no settings for %.200s", quantised->config->path, how.key, name);
    *error = first;
    return first.status;
}

enum status quantised_look(struct quantised *quantised, const char *name, const struct named_tensor **tensor,
                           struct error *error)
{
    struct weight weight;
    if (!has_codes(quantised, name))
        return checkpoint_look(quantised->stored, name, tensor, error);
    struct named_tensor *shown = arena_allocate(quantised->stored->arena, 1, sizeof *shown, error);
    if (shown == NULL || read_weight(quantised, name, &weight, error) != STATUS_OK)
        return error->status;
    *shown = *weight.part[CODES].look;
    shown->bytes = (struct tensor_bytes){.dtype = DTYPE_COUNT, .rank = 2, .shape = {weight.rows, weight.columns}};
    shown->count = shown->size = 0;
    for (enum part part = 0; part < PART_KINDS; part++) {
        const enum dtype dtype = weight.part[part].tensor.dtype;
        if (weight.part[part].look != NULL)
            shown->count += weight.part[part].look->count * (dtype == DTYPE_COUNT ? 1 : dtype_size(dtype));
    }
    *tensor = shown;
    return STATUS_OK;
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* Forms of layer-quantised. The next scale is that of the block after, for the last one of the first. */
enum { SCALE_MISSING = 1, SCALE_INVERTED, SCALE_NEXT, ZERO_MISSING, ZERO_PLUS_1, ZERO_MINUS_1 };

/* The zero point with a mistake. FP8 has no zero point; that of a packed code stays one. */
static double mistaken_zero(const struct weight *weight, size_t mistake, double zero)
{
    const double codes = ldexp(1, (int)weight->bits);
    const int by = (mistake == ZERO_PLUS_1) - (mistake == ZERO_MINUS_1);
    if (by == 0 || (!weight->whole && weight->row->word == 0))
        return mistake == ZERO_MISSING ? 0 : zero;
    return weight->row->word > 0 ? fmod(zero + by + codes, codes) : zero + by;
}

/* Dequantises a row; `zeros` has room for the zero points of its groups. */
static void load_row(const struct weight *weight, size_t mistake, const double *groups, size_t row, double *zeros,
                     double *numbers)
{
    const struct codes *codes = &weight->zeros;
    const size_t down = weight->block[0] > 0 ? row / weight->block[0] : 0;
    const size_t step = weight->row->across ? weight->down : 1,
                 first = weight->row->across ? down : down * weight->across;
    const double middle = weight->row->centred && !codes->of_rows ? 1U << (weight->bits - 1) : 0;
    for (size_t block = 0; block < weight->across; block++) {
        zeros[block] = middle;
        if (codes->of_rows)
            zeros[block] = number_at(codes, row, block);
        else if (codes->stored != NULL)
            zeros[block] += codes->table[((const unsigned char *)codes->stored->tensor.data)[first + block * step]];
        zeros[block] = mistaken_zero(weight, mistake, zeros[block]);
    }
    for (size_t i = 0; i < weight->columns; i++) {
        const size_t block = groups != NULL ? (size_t)groups[i] : weight->block[1] > 0 ? i / weight->block[1] : 0;
        const size_t at = first + block * step, of_scale = mistake == SCALE_NEXT ? (block + 1) % weight->across : block;
        double scale = mistake == SCALE_MISSING ? 1 : weight->scales[first + of_scale * step];
        scale = mistake == SCALE_INVERTED ? 1 / scale : scale;
        numbers[i] = (float)((number_at(&weight->codes, row, i) - zeros[block]) * scale);
        if (weight->added != NULL) {
            dtype_round(weight->rounded, &numbers[i], 1);
            numbers[i] = (float)(numbers[i] + weight->added[at]);
        }
    }
}

/* Adds "FP8, blocks of 128 x 128" to those of other weights. */
static void describe(const struct weight *weight, struct quantised *quantised)
{
    char bytes[96];
    const size_t *block = weight->block;
    struct text text = text_begin(bytes, sizeof bytes), all = {quantised->from, sizeof quantised->from, 0, false};
    if (weight->row->title == NULL)
        text_add(&text, "%s%zu", weight->whole ? "int" : "FP", weight->bits);
    else
        text_add(&text, weight->row->across || weight->row->added ? "%s, %zu bits" : "%s", weight->row->title,
                 weight->bits);
    if (block[0] == 1)
        text_add(&text, block[1] > 0 ? ", groups of %zu" : ", a scale per row", block[1]);
    else
        text_add(&text, block[0] > 0 ? ", blocks of %zu x %zu" : ", one scale", block[0], block[1]);
    if (weight->rounded != DTYPE_F32)
        text_add(&text, ", rounded to %s", dtype_title(weight->rounded));
    all.length = strlen(all.bytes);
    if (strstr(all.bytes, bytes) == NULL)
        text_add(&all, "%s%s", all.length > 0 ? "; " : "", bytes);
}

enum status quantised_take(struct quantised *quantised, const char *name, struct tensor *tensor, const char **file,
                           struct error *error)
{
    struct arena *arena = quantised->stored->arena;
    const struct named_tensor *look;
    struct weight weight;
    double *groups;
    if (!has_codes(quantised, name)) {
        if (checkpoint_look(quantised->stored, name, &look, error) != STATUS_OK)
            return error->status;
        *file = look->source;
        return checkpoint_take(quantised->stored, name, tensor, error);
    }
    if (read_weight(quantised, name, &weight, error) || load_groups(&weight, &groups))
        return error->status;
    double *row = arena_allocate(arena, weight.columns, sizeof *row, error);
    double *zeros = arena_allocate(arena, weight.across, sizeof *zeros, error);
    if (row == NULL || zeros == NULL ||
        tensor_create(tensor, weight.rounded, 2, (const size_t[]){weight.rows, weight.columns}, arena, error))
        return error->status;
    *file = weight.part[CODES].look->source;
    describe(&weight, quantised);
    for (size_t i = 0; i < weight.rows; i++) {
        load_row(&weight, quantised->mistake, groups, i, zeros, row);
        tensor_store(tensor, i * weight.columns, weight.columns, row);
    }
    return STATUS_OK;
}
