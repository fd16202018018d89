/* SPDX-License-Identifier: MIT */
#include "layer/quantised.h"

#include "base/text.h"
#include "layer/config_keys.h"
#include "layer/quantised_rows.h"
#include "read/json_tree.h"
#include "tensor/block.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

enum part { CODES, SCALES, ZEROS, GROUPS, SHAPE, DIVISOR, PART_KINDS };

struct weight;

struct row {
    const char *method, *key, *format, *title, *part[PART_KINDS], *rounded;
    void (*scheme)(struct weight *weight);
    size_t bits, word, block[2];
    bool usual, down, zeros_down, of_rows, zeros_of_rows, interleaved, across, e2m1, centred, asks_zeros, zero_added;
};

/* One of a weight's tensors. */
struct stored {
    const struct named_tensor *look; /* NULL: there is none */
    size_t rows, columns;            /* a list is a column, a number a list of one */
    struct tensor tensor;            /* its numbers; of a dtype that attn lacks, bytes without a dtype */
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
    const struct quantised *quantised;
    const struct row *row;
    struct config_reading reading;
    struct config_value how; /* the object that has bits and blocks */
    const char *name;
    size_t bits, block[2];
    bool any_block, asks_groups, whole; /* no block is said; groups must be there; codes are integers */
    struct stored part[PART_KINDS];
    struct codes codes, zeros;
    size_t rows, columns, down, across; /* of numbers; of blocks */
    double *scales;
    enum dtype rounded;
    struct error *error;
};

/* --- the config -------------------------------------------------------------------------------------------------- */

/* The words of the config, or ""; a word of another type is none. */
static const char *word_of(const struct config_value *object, const char *names)
{
    for (size_t length; *names != '\0'; names += length + (names[length] == ' ')) {
        char name[32];
        length = strcspn(names, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        const struct config_value value = config_member(object, name);
        if (cJSON_IsString(value.item))
            return value.item->valuestring;
    }
    return "";
}

static struct config_value how_of(const struct config *config)
{
    const struct config_reading reading = {.config = config, .section = config->root};
    return config_find_name(&reading, "quantization_config compression_config text_config.quantization_config "
                                      "language_config.quantization_config llm_config.quantization_config "
                                      "thinker_config.text_config.quantization_config");
}

/* Its bits, and its groups of columns in a row; -1: a row is one group. */
static void scheme_of_bits(struct weight *weight)
{
    const struct config_reading *reading = &weight->reading;
    const struct config_value bits = config_member(&weight->how, "bits"),
                              group = config_member(&weight->how, "group_size"),
                              order = config_member(&weight->how, "desc_act");
    weight->bits = config_whole(reading, &bits, 4);
    weight->asks_groups = weight->row->part[GROUPS] != NULL && config_truth(reading, &order, false);
    const double size = config_real(reading, &group, 128);
    if (weight->bits < 2 || weight->bits > 8 ||
        strchr(weight->row->interleaved ? "48" : "2348", '0' + (int)weight->bits) == NULL)
        config_wrong(reading, &bits, weight->row->interleaved ? "4 or 8" : "2, 3, 4 or 8");
    if (size != -1 && !(size >= 1 && size <= 0x1p31 && size == floor(size)))
        config_wrong(reading, &group, "a whole number above 0, or -1");
    weight->block[0] = 1;
    weight->block[1] = size == -1 ? 0 : (size_t)size;
}

/* [128, 128], in a config that may not have it. */
static void take_block(struct weight *weight, const char *key)
{
    const struct config_value value = config_member(&weight->how, key);
    weight->any_block = !config_is_set(&value);
    for (int i = 0; i < 2 && !weight->any_block; i++) {
        const cJSON *item = json_count(value.item) == 2 ? cJSON_GetArrayItem(value.item, i) : NULL;
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 1 && item->valuedouble <= 0x1p31) ||
            item->valuedouble != floor(item->valuedouble))
            config_wrong(&weight->reading, &value, "two whole numbers above 0");
        else
            weight->block[i] = (size_t)item->valuedouble;
    }
}

static void scheme_of_blocks(struct weight *weight)
{
    take_block(weight, "weight_block_size");
}

/* Of a group of compressed-tensors, whose "weights" are weight->how. */
static void scheme_of_group(struct weight *weight)
{
    const struct config_reading *reading = &weight->reading;
    const struct config_value bits = config_member(&weight->how, "num_bits"),
                              group = config_member(&weight->how, "group_size"),
                              strategy = config_member(&weight->how, "strategy");
    const char *by = config_text(reading, &strategy, "");
    weight->whole = strcasecmp(word_of(&weight->how, "type"), "float") != 0;
    weight->bits = config_whole(reading, &bits, 8);
    if (weight->bits < 1 || weight->bits > 8 ||
        (weight->row->word != 32 && weight->bits != (weight->row->e2m1 ? 4 : 8)))
        config_wrong(reading, &bits, weight->row->word == 32 ? "1 to 8" : weight->row->e2m1 ? "4" : "8");
    const double size = config_real(reading, &group, -1);
    weight->block[0] = strcmp(by, "tensor") == 0 ? 0 : 1;
    if (strcmp(by, "block") == 0) {
        take_block(weight, "block_structure");
    } else if (strcmp(by, "group") == 0 || strcmp(by, "tensor_group") == 0 || (*by == '\0' && size > 0)) {
        if (!(size >= 1 && size <= 0x1p31 && size == floor(size)))
            config_wrong(reading, &group, "a whole number above 0");
        else
            weight->block[1] = (size_t)size;
    } else if (strcmp(by, "tensor") != 0 && strcmp(by, "channel") != 0) {
        config_wrong(reading, &strategy, "tensor, channel, group, tensor_group or block");
    }
}

#define ROW(method, key, format, title, ...) {method, key, format, title, __VA_ARGS__},
static const struct row ROWS[] = {QUANTISED_ROWS(ROW)};
#undef ROW
enum { ROW_COUNT = sizeof ROWS / sizeof ROWS[0] };

/* Whether the row is that of the method and of the format in this object. */
static bool is_row_of(const struct row *row, const char *method, const struct config_value *object)
{
    const char *format = word_of(object, row->key);
    return strcmp(row->method, method) == 0 &&
           (strcasecmp(format, row->format) == 0 || (row->usual && *format == '\0'));
}

bool quantised_is_read(const struct config *config, char *name)
{
    const struct config_value how = how_of(config);
    const char *method = word_of(&how, "quant_method");
    bool grouped = false;
    snprintf(name, QUANTISED_NAME, "%.80s", method);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (is_row_of(&ROWS[i], method, &how))
            return true;
        grouped = grouped || (strcmp(ROWS[i].method, method) == 0 && ROWS[i].scheme == scheme_of_group);
        if (strcmp(ROWS[i].method, method) == 0)
            snprintf(name, QUANTISED_NAME, "%.40s %.40s", method, word_of(&how, ROWS[i].key));
    }
    /* a group may have its own format */
    return grouped && (*word_of(&how, "format") == '\0' || strcmp(word_of(&how, "format"), "mixed-precision") == 0);
}

/* --- names ------------------------------------------------------------------------------------------------------- */

/* The name of a part of the weight "X.weight", in the arena. NULL where memory is short. */
static const char *part_name(const struct checkpoint *checkpoint, const char *weight, const char *part,
                             struct error *error)
{
    const size_t stem = strlen(weight) - strlen("weight"), size = stem + strlen(part) + 1;
    char *name = arena_allocate(checkpoint->arena, size, 1, error);
    if (name != NULL)
        snprintf(name, size, "%.*s%s", (int)stem, weight, part);
    return name;
}

/* Whether the checkpoint has that part of the weight. */
static bool has_part(const struct checkpoint *checkpoint, const char *weight, const char *part)
{
    const char *name = part != NULL ? part_name(checkpoint, weight, part, NULL) : NULL;
    return name != NULL && checkpoint_has(checkpoint, name);
}

/* *shown: the name as it would be without quantisation; NULL for a tensor that would not be there. */
static enum status show(const struct checkpoint *checkpoint, const char *method, const char *name, const char **shown,
                        struct error *error)
{
    const char *dot = strrchr(name, '.'), *leaf = dot != NULL ? dot + 1 : name;
    const size_t stem = (size_t)(leaf - name), size = stem + sizeof "weight";
    *shown = name;
    if (text_has_word(QUANTISED_LEFT, leaf))
        *shown = NULL;
    for (size_t i = 0; i < ROW_COUNT && *shown == name; i++)
        for (enum part part = 0; part < PART_KINDS && strcmp(ROWS[i].method, method) == 0; part++) {
            if (ROWS[i].part[part] == NULL || strcmp(ROWS[i].part[part], leaf) != 0)
                continue;
            char *weight = arena_allocate(checkpoint->arena, size, 1, error);
            if (weight == NULL)
                return error->status;
            snprintf(weight, size, "%.*sweight", (int)stem, name);
            if (part == CODES)
                *shown = strcmp(leaf, "weight") == 0 ? name : weight;
            else if (has_part(checkpoint, weight, ROWS[i].part[CODES]))
                *shown = NULL;
            break;
        }
    return STATUS_OK;
}

enum status quantised_begin(struct quantised *quantised, const struct checkpoint *checkpoint,
                            const struct config *config, struct error *error)
{
    const struct config_value how = how_of(config);
    const char *method = word_of(&how, "quant_method");
    struct checkpoint *shown = &quantised->shown;
    *quantised = (struct quantised){.stored = checkpoint, .shown = *checkpoint, .config = config};
    if (*method == '\0')
        return STATUS_OK;
    shown->names = arena_allocate(checkpoint->arena, checkpoint->count, sizeof shown->names[0], error);
    shown->count = 0;
    for (size_t i = 0; i < checkpoint->count && shown->names != NULL; i++) {
        const char *name;
        if (show(checkpoint, method, checkpoint->names[i].text, &name, error) != STATUS_OK)
            return error->status;
        if (name != NULL)
            shown->names[shown->count++] = (struct checkpoint_name){name, checkpoint->names[i].file};
    }
    if (shown->names != NULL)
        text_sort(shown->names, shown->count, sizeof shown->names[0]);
    return shown->names != NULL ? STATUS_OK : error->status;
}

/* --- the tensors of a weight ------------------------------------------------------------------------------------- */

static enum status __attribute__((format(printf, 3, 4)))
contradicts(const struct weight *weight, enum part part, const char *format, ...)
{
    const struct named_tensor *look = weight->part[part].look;
    char expected[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(expected, sizeof expected, format, arguments);
    va_end(arguments);
    return error_usage(weight->error, "%s: %.200s: %s %zu x %zu; expected %s", look->source, look->name, look->dtype,
                       weight->part[part].rows, weight->part[part].columns, expected);
}

/* Finds a part, if the checkpoint has it. */
static enum status find_part(struct weight *weight, enum part part)
{
    const struct checkpoint *checkpoint = weight->quantised->stored;
    struct stored *stored = &weight->part[part];
    const char *leaf = weight->row->part[part];
    const bool asked = part == CODES || part == SCALES || part == DIVISOR ||
                       (part == ZEROS && weight->row->asks_zeros) || (part == GROUPS && weight->asks_groups);
    const char *name = leaf != NULL ? part_name(checkpoint, weight->name, leaf, weight->error) : NULL;
    if (leaf == NULL || (name != NULL && !asked && !checkpoint_has(checkpoint, name)))
        return STATUS_OK;
    if (name == NULL || checkpoint_look(checkpoint, name, &stored->look, weight->error) != STATUS_OK)
        return weight->error->status;
    const struct tensor_bytes *bytes = &stored->look->bytes;
    stored->rows = bytes->rank > 0 ? bytes->shape[0] : 1;
    stored->columns = stored->rows > 0 ? stored->look->count / stored->rows : 0;
    if (stored->look->count == 0 || bytes->rank > (weight->row->word == 8 && part == CODES ? 3 : 2))
        return contradicts(weight, part, "a matrix");
    return STATUS_OK;
}

/* Takes its numbers, or bytes. */
static enum status take_part(struct weight *weight, enum part part)
{
    static const char *const BYTES[] = {"U8", "I8", "F8_E8M0"};
    struct stored *stored = &weight->part[part];
    struct tensor_bytes bytes = stored->look->bytes;
    bytes.rank = 2;
    bytes.shape[0] = stored->rows;
    bytes.shape[1] = stored->columns;
    if (bytes.dtype != DTYPE_COUNT && !bytes.strided)
        return tensor_bytes_tensor(&bytes, &stored->tensor, weight->quantised->stored->arena, weight->error);
    for (size_t i = 0; i < sizeof BYTES / sizeof BYTES[0]; i++)
        if (!bytes.strided && strcmp(stored->look->dtype, BYTES[i]) == 0) {
            stored->tensor = (struct tensor){.rank = 2, .dtype = DTYPE_COUNT, .data = (void *)(uintptr_t)bytes.bytes};
            return STATUS_OK;
        }
    return contradicts(weight, part, "a dtype that attn reads");
}

/* What each byte means: an integer with or without sign, a power of two, or a number of 8 bits. */
static bool load_table(const struct stored *stored, bool exponents, double *table)
{
    unsigned char bytes[256];
    const bool with_sign = strcmp(stored->look->dtype, "I8") == 0;
    for (int i = 0; i < 256; i++) {
        bytes[i] = (unsigned char)i;
        table[i] = with_sign ? (i ^ 128) - 128 : exponents ? i < 255 ? ldexp(1, i - 127) : (double)NAN : i;
    }
    if (stored->tensor.dtype == DTYPE_COUNT)
        return true;
    if (dtype_size(stored->tensor.dtype) != 1 || !dtype_is_working(stored->tensor.dtype))
        return false;
    dtype_load(stored->tensor.dtype, bytes, 256, table);
    return true;
}

/* Checks that a part has a number for each block. */
static enum status check_blocks(const struct weight *weight, enum part part)
{
    const struct stored *stored = &weight->part[part];
    const size_t down = weight->row->across ? weight->across : weight->down,
                 across = weight->row->across ? weight->down : weight->across;
    if (stored->look->count == down * across && (down == 1 || across == 1 || stored->rows == down))
        return STATUS_OK;
    return contradicts(weight, part, "%zu x %zu, one for each block of the weight", down, across);
}

static enum status load_scales(struct weight *weight)
{
    const struct stored *stored = &weight->part[SCALES], *divisor = &weight->part[DIVISOR];
    const char *rounded = weight->row->rounded;
    const enum dtype dtype = stored->tensor.dtype;
    const size_t count = stored->look->count;
    const unsigned char *bytes = stored->tensor.data;
    double table[256], by = 1;
    const bool coded = load_table(stored, true, table);
    weight->scales = arena_allocate(weight->quantised->stored->arena, count, sizeof *weight->scales, weight->error);
    if (weight->scales == NULL || check_blocks(weight, SCALES) != STATUS_OK)
        return weight->error->status;
    if (coded ? rounded == NULL : !dtype_is_working(dtype) || dtype == DTYPE_F64)
        return contradicts(weight, SCALES, "numbers of float32, float16 or bfloat16");
    if (divisor->look != NULL && (divisor->look->count != 1 || divisor->tensor.dtype != DTYPE_F32))
        return contradicts(weight, DIVISOR, "one number of float32");
    if (divisor->look != NULL)
        dtype_load(DTYPE_F32, divisor->tensor.data, 1, &by);
    if (!coded)
        dtype_load(dtype, bytes, count, weight->scales);
    for (size_t i = 0; i < count; i++)
        weight->scales[i] = (float)((coded ? table[bytes[i]] : weight->scales[i]) / by);
    weight->rounded = rounded != NULL ? dtype_find(dtype_name, rounded) : dtype;
    return STATUS_OK;
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
    uint32_t low = 0, high = 0;
    at += (word * step + (codes->down ? other : other * columns)) * bytes;
    if (bytes == 1)
        low = *at;
    else
        memcpy(&low, at, sizeof low);
    if (shift + codes->bits > codes->word)
        memcpy(&high, at + step * bytes, sizeof high);
    return codes->table[((uint64_t)high << 32 | low) >> shift & ((1U << codes->bits) - 1)];
}

/* Sets what the codes of a part mean. */
static enum status set_codes(struct weight *weight, enum part part, struct codes *codes)
{
    const struct row *row = weight->row;
    const struct stored *stored = &weight->part[part];
    const bool zeros = part == ZEROS, packed = row->word > 0 && (!zeros || stored->tensor.dtype == DTYPE_I32);
    const bool whole = strcmp(stored->look->dtype, "I8") == 0;
    *codes = (struct codes){.stored = stored, .bits = packed ? weight->bits : 8, .word = packed ? row->word : 8};
    if (!packed && load_table(stored, false, codes->table) && whole == (weight->whole || row->word > 0) &&
        (whole || stored->tensor.dtype != DTYPE_COUNT))
        return STATUS_OK;
    if (!packed)
        return contradicts(weight, part, "dtype %s", weight->whole || row->word > 0 ? "I8" : "F8_E4M3 or F8_E5M2");
    if (strcmp(stored->look->dtype, row->word == 32 ? "I32" : "U8") != 0)
        return contradicts(weight, part, "dtype %s", row->word == 32 ? "I32" : "U8");
    codes->down = zeros ? row->zeros_down : row->down;
    codes->of_rows = zeros ? row->zeros_of_rows : row->of_rows;
    codes->interleaved = row->interleaved;
    for (unsigned i = 0, mask = (1U << codes->bits) - 1; i <= mask; i++)
        codes->table[i] = row->e2m1 ? BLOCK_E2M1[i] / 2.0 : zeros && row->zero_added ? (i + 1) & mask : i;
    return STATUS_OK;
}

/* Words for so many codes. */
static size_t words_for(const struct codes *codes, size_t numbers)
{
    return (numbers * codes->bits + codes->word - 1) / codes->word;
}

/* Finds the rows and columns of the weight, and its blocks. */
static enum status measure(struct weight *weight)
{
    const struct codes *codes = &weight->codes;
    const struct stored *stored = codes->stored, *shape = &weight->part[SHAPE];
    const size_t words = codes->down ? stored->rows : stored->columns,
                 others = codes->down ? stored->columns : stored->rows;
    size_t numbers = words * codes->word / codes->bits; /* no more than bits in the file */
    if (shape->look != NULL) {
        double sizes[2] = {0, 0};
        if (shape->look->count == 2 && shape->tensor.dtype != DTYPE_COUNT)
            dtype_load(shape->tensor.dtype, shape->tensor.data, 2, sizes);
        if (sizes[0] != (double)others || !(sizes[1] >= 1 && sizes[1] <= (double)numbers))
            return contradicts(weight, SHAPE, "rows and columns of %.200s", stored->look->name);
        numbers = (size_t)sizes[1];
    }
    if (words_for(codes, numbers) != words)
        return contradicts(weight, CODES, "words full of codes of %zu bits", codes->bits);
    weight->rows = codes->of_rows ? numbers : others;
    weight->columns = codes->of_rows ? others : numbers;
    if (weight->any_block && weight->part[SCALES].look->count > 1)
        weight->block[0] = 1;
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
    if (set_codes(weight, ZEROS, &weight->zeros) != STATUS_OK)
        return weight->error->status;
    if (!codes->of_rows)
        return check_blocks(weight, ZEROS);
    const size_t words = words_for(codes, weight->rows), rows = codes->down ? words : weight->across,
                 columns = codes->down ? weight->across : words;
    if (stored->rows == rows && stored->columns == columns && weight->down == weight->rows)
        return STATUS_OK;
    return contradicts(weight, ZEROS, "%zu x %zu, for the zero points of %zu rows and %zu groups", rows, columns,
                       weight->rows, weight->across);
}

/* *groups: the group of each column, in the arena; NULL: they follow each other. */
static enum status load_groups(struct weight *weight, size_t **groups)
{
    const struct stored *stored = &weight->part[GROUPS];
    double number = 0;
    size_t none = 0;
    *groups = NULL;
    if (stored->look == NULL)
        return STATUS_OK;
    if (stored->look->count != weight->columns || !dtype_is_whole(stored->tensor.dtype))
        return contradicts(weight, GROUPS, "%zu whole numbers, the group of each column", weight->columns);
    *groups = arena_allocate(weight->quantised->stored->arena, weight->columns, sizeof **groups, weight->error);
    for (size_t i = 0; i < weight->columns && *groups != NULL; i++) {
        tensor_load(&stored->tensor, i, 1, &number);
        none += number == -1;
        if (!(number >= 0 && number < (double)weight->across) && none != i + 1)
            return contradicts(weight, GROUPS, "groups below %zu; that of column %zu is %.0f", weight->across, i + 1,
                               number);
        (*groups)[i] = number >= 0 ? (size_t)number : 0;
    }
    if (*groups != NULL && none > 0) /* compressed-tensors has -1 where they follow each other */
        *groups = NULL;
    return *groups != NULL || none > 0 ? STATUS_OK : weight->error->status;
}

/* Reads the tensors of a weight by a row, whose place in the config is set. */
static enum status read_parts(struct weight *weight, bool take)
{
    if (weight->row->scheme != NULL)
        weight->row->scheme(weight);
    if (weight->error->status != STATUS_OK)
        return weight->error->status;
    for (enum part part = 0; part < PART_KINDS; part++)
        if (find_part(weight, part) != STATUS_OK ||
            (weight->part[part].look != NULL && take_part(weight, part) != STATUS_OK))
            return weight->error->status;
    return set_codes(weight, CODES, &weight->codes) || measure(weight) || (take && load_scales(weight) != STATUS_OK) ||
                   check_zeros(weight)
               ? weight->error->status
               : STATUS_OK;
}

/* Dequantises a row; `zeros` has room for the zero points of its groups. */
static void load_row(const struct weight *weight, const size_t *groups, size_t row, double *zeros, double *numbers)
{
    const size_t down = weight->block[0] > 0 ? row / weight->block[0] : 0;
    const size_t next = weight->row->across ? weight->down : 1,
                 first = weight->row->across ? down : down * weight->across;
    for (size_t block = 0; block < weight->across; block++) {
        const struct stored *stored = weight->zeros.stored;
        zeros[block] =
            weight->row->centred && (stored == NULL || !weight->zeros.of_rows) ? 1U << (weight->bits - 1) : 0;
        if (stored != NULL)
            zeros[block] +=
                weight->zeros.of_rows
                    ? number_at(&weight->zeros, row, block)
                    : weight->zeros.table[((const unsigned char *)stored->tensor.data)[first + block * next]];
    }
    for (size_t i = 0; i < weight->columns; i++) {
        const size_t block = groups != NULL ? groups[i] : weight->block[1] > 0 ? i / weight->block[1] : 0;
        numbers[i] = (float)((number_at(&weight->codes, row, i) - zeros[block]) * weight->scales[first + block * next]);
    }
}

/* Whether any tensors stand for the weight, or its numbers are codes. */
static enum status is_quantised(const struct quantised *quantised, const char *name, bool *is, struct error *error)
{
    const struct config_value how = how_of(quantised->config);
    const char *method = word_of(&how, "quant_method");
    *is = false;
    for (size_t i = 0; i < ROW_COUNT && text_ends_in(name, ".weight"); i++)
        *is = *is ||
              (strcmp(ROWS[i].method, method) == 0 && has_part(quantised->stored, name, ROWS[i].part[CODES]) &&
               (strcmp(ROWS[i].part[CODES], "weight") != 0 || has_part(quantised->stored, name, ROWS[i].part[SCALES])));
    if (*is || *method == '\0' || !checkpoint_has(quantised->stored, name))
        return STATUS_OK;
    const struct named_tensor *look;
    if (checkpoint_look(quantised->stored, name, &look, error) != STATUS_OK)
        return error->status;
    *is = !(dtype_is_working(look->bytes.dtype) && dtype_size(look->bytes.dtype) > 1);
    return STATUS_OK;
}

/* Reads the tensors of the weight by the first row, and group of the config, that fits them; the error is that of the
 * first one tried. */
static enum status read_weight(const struct quantised *quantised, const char *name, bool take, struct weight *weight,
                               struct error *error)
{
    const struct config_value how = how_of(quantised->config), groups = config_member(&how, "config_groups");
    const char *method = word_of(&how, "quant_method");
    struct error first = {0};
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const bool grouped = ROWS[i].scheme == scheme_of_group;
        const cJSON *group = grouped && groups.item != NULL ? groups.item->child : NULL;
        for (bool more = !grouped || group != NULL; more; more = group != NULL) {
            struct config_value said = how;
            if (grouped) {
                said.item = group;
                snprintf(said.key, sizeof said.key, "%.60s.%.40s", groups.key, group->string);
                group = group->next;
            }
            const struct config_value *format = *word_of(&said, ROWS[i].key) != '\0' ? &said : &how;
            if (!is_row_of(&ROWS[i], method, format))
                continue;
            *error = (struct error){0};
            *weight = (struct weight){
                .quantised = quantised,
                .row = &ROWS[i],
                .name = name,
                .how = grouped ? config_member(&said, "weights") : said,
                .bits = ROWS[i].bits,
                .block = {ROWS[i].block[0], ROWS[i].block[1]},
                .reading = {.config = quantised->config, .error = error},
                .error = error,
            };
            if (read_parts(weight, take) != STATUS_USAGE)
                return error->status;
            first = first.status == STATUS_OK ? *error : first;
        }
    }
    char named[QUANTISED_NAME];
    quantised_is_read(quantised->config, named);
    if (first.status == STATUS_OK)
        error_usage(&first, "%s: quantization_config: attn does not read weights quantised by %s, such as %.200s",
                    quantised->config->path, named, name);
    *error = first;
    return error->status;
}

enum status quantised_look(struct quantised *quantised, const char *name, const struct named_tensor **tensor,
                           struct error *error)
{
    struct weight weight;
    bool is;
    if (is_quantised(quantised, name, &is, error) != STATUS_OK)
        return error->status;
    if (!is)
        return checkpoint_look(quantised->stored, name, tensor, error);
    struct named_tensor *shown = arena_allocate(quantised->stored->arena, 1, sizeof *shown, error);
    if (shown == NULL || read_weight(quantised, name, false, &weight, error) != STATUS_OK)
        return error->status;
    *shown = *weight.part[CODES].look;
    *tensor = shown;
    shown->name = name;
    shown->bytes = (struct tensor_bytes){.dtype = DTYPE_COUNT, .rank = 2, .shape = {weight.rows, weight.columns}};
    shown->count = 0;
    for (enum part part = 0; part < PART_KINDS; part++)
        if (weight.part[part].look != NULL) {
            const enum dtype dtype = weight.part[part].look->bytes.dtype;
            shown->count += weight.part[part].look->count * (dtype == DTYPE_COUNT ? 1 : dtype_size(dtype));
        }
    return STATUS_OK;
}

/* "FP8, blocks of 128 x 128", added to those of other weights. */
static void describe(const struct weight *weight, struct quantised *quantised)
{
    char text[96];
    const size_t down = weight->block[0], across = weight->block[1];
    struct text said = text_begin(text, sizeof text), all = text_begin(quantised->from, sizeof quantised->from);
    if (weight->row->title != NULL)
        text_add(&said, "%s", weight->row->title);
    else
        text_add(&said, "%s%zu", weight->whole ? "int" : "FP", weight->bits);
    if (weight->row->scheme == scheme_of_bits)
        text_add(&said, ", %zu bits", weight->bits);
    if (down == 1)
        text_add(&said, across == 0 ? ", a scale per row" : ", groups of %zu", across);
    else
        text_add(&said, down == 0 && across == 0 ? ", one scale" : ", blocks of %zu x %zu", down, across);
    if (weight->rounded != DTYPE_F32)
        text_add(&said, ", rounded to %s", dtype_title(weight->rounded));
    all.length = strlen(all.bytes);
    if (strstr(all.bytes, text) == NULL)
        text_add(&all, "%s%s", all.length > 0 ? "; " : "", text);
}

enum status quantised_take(struct quantised *quantised, const char *name, struct tensor *tensor, const char **file,
                           struct error *error)
{
    struct arena *arena = quantised->stored->arena;
    const struct named_tensor *look;
    struct weight weight;
    size_t *groups;
    bool is;
    if (is_quantised(quantised, name, &is, error) != STATUS_OK)
        return error->status;
    if (!is && checkpoint_look(quantised->stored, name, &look, error) == STATUS_OK)
        *file = look->source;
    if (!is)
        return error->status != STATUS_OK ? error->status : checkpoint_take(quantised->stored, name, tensor, error);
    if (read_weight(quantised, name, true, &weight, error) != STATUS_OK)
        return error->status;
    weight.error = error;
    *file = weight.part[CODES].look->source;
    double *row = arena_allocate(arena, weight.columns, sizeof *row, error);
    double *zeros = arena_allocate(arena, weight.across, sizeof *zeros, error);
    if (row == NULL || zeros == NULL || load_groups(&weight, &groups) ||
        tensor_create(tensor, weight.rounded, 2, (const size_t[]){weight.rows, weight.columns}, arena, error))
        return error->status;
    describe(&weight, quantised);
    for (size_t i = 0; i < weight.rows; i++) {
        load_row(&weight, groups, i, zeros, row);
        tensor_store(tensor, i * weight.columns, weight.columns, row);
    }
    return STATUS_OK;
}
