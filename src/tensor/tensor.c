#include "tensor/tensor.h"

#include "base/decimal.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256 };

/* A floating-point number has so many significant bits; the smallest ones are a unit apart. */
static const struct {
    const char *name, *code, *full_name;
    size_t size;
    int bits;
    double unit, largest;
} DTYPES[DTYPE_COUNT] = {
    [DTYPE_F32] = {"f32", "F32", "float32", 4, 24, 0x1p-149, 0x1.fffffep127},
    [DTYPE_F64] = {"f64", "F64", "float64", 8, 53, 0x1p-1074, 0x1.fffffffffffffp1023},
    [DTYPE_F16] = {"f16", "F16", "float16", 2, 11, 0x1p-24, 65504},
    [DTYPE_BF16] = {"bf16", "BF16", "bfloat16", 2, 8, 0x1p-133, 0x1.fep127},
    [DTYPE_I64] = {"i64", "I64", "int64", 8, 0, 0, 0},
    [DTYPE_BOOL] = {"bool", "BOOL", "bool", 1, 0, 0, 0},
};

size_t dtype_size(enum dtype dtype)
{
    return DTYPES[dtype].size;
}

const char *dtype_name(enum dtype dtype)
{
    return DTYPES[dtype].name;
}

const char *dtype_code(enum dtype dtype)
{
    return DTYPES[dtype].code;
}

double dtype_largest(enum dtype dtype)
{
    return DTYPES[dtype].largest;
}

enum dtype dtype_find(const char *code)
{
    int dtype = 0;
    while (dtype < DTYPE_COUNT && strcmp(DTYPES[dtype].code, code) != 0)
        dtype++;
    return (enum dtype)dtype;
}

enum dtype dtype_storage(enum dtype dtype)
{
    return dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
}

size_t tensor_count(const struct tensor *tensor)
{
    size_t count = 1;
    for (size_t axis = 0; axis < tensor->rank; axis++)
        count *= tensor->shape[axis];
    return count;
}

enum status tensor_create(struct tensor *tensor, enum dtype dtype, size_t rank, const size_t *shape,
                          struct arena *arena, struct error *error)
{
    size_t count = 1;
    *tensor = (struct tensor){.rank = rank, .dtype = dtype};
    for (size_t axis = 0; axis < rank; axis++) {
        tensor->shape[axis] = shape[axis];
        if (!memory_multiply(count, shape[axis], &count))
            return error_system(error, 0, "not enough memory: a tensor of too many numbers");
    }
    tensor->data = arena_allocate(arena, count, dtype_size(dtype), error);
    return tensor->data == NULL ? error->status : STATUS_OK;
}

/* IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits. */
static double half_number(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31)
        magnitude = fraction == 0 ? (double)INFINITY : (double)NAN;
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* bfloat16 is the upper half of a float32. */
static double brain_number(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float number;
    memcpy(&number, &wide, sizeof number);
    return number;
}

void tensor_load(const struct tensor *tensor, size_t first, size_t count, double *numbers)
{
    const void *data = tensor->data;
    switch (tensor->dtype) {
    case DTYPE_F32:
        for (size_t i = 0; i < count; i++)
            numbers[i] = ((const float *)data)[first + i];
        break;
    case DTYPE_F64:
        memcpy(numbers, (const double *)data + first, count * sizeof *numbers);
        break;
    case DTYPE_F16:
        for (size_t i = 0; i < count; i++)
            numbers[i] = half_number(((const uint16_t *)data)[first + i]);
        break;
    case DTYPE_BF16:
        for (size_t i = 0; i < count; i++)
            numbers[i] = brain_number(((const uint16_t *)data)[first + i]);
        break;
    case DTYPE_I64:
        for (size_t i = 0; i < count; i++)
            numbers[i] = (double)((const int64_t *)data)[first + i];
        break;
    default:
        for (size_t i = 0; i < count; i++)
            numbers[i] = ((const uint8_t *)data)[first + i] != 0;
    }
}

void tensor_store(const struct tensor *tensor, size_t first, size_t count, const double *numbers)
{
    if (tensor->dtype == DTYPE_F64) {
        memcpy((double *)tensor->data + first, numbers, count * sizeof *numbers);
        return;
    }
    float *data = (float *)tensor->data + first;
    for (size_t i = 0; i < count; i++)
        data[i] = (float)numbers[i];
}

/* To a dtype of fewer bits than a double: half a unit in the last place is added to the bits, or the last bit decides a
 * tie, and what lies below that place is cut off; a carry runs into the exponent, as it must. Among the smallest numbers the sum
 * with a number whose own last place is the unit rounds. */
static double round_number(enum dtype dtype, double number)
{
    const int cut = 53 - DTYPES[dtype].bits;
    if (!isfinite(number))
        return number;
    if (fabs(number) < DTYPES[dtype].unit * (double)(UINT64_C(1) << DTYPES[dtype].bits)) {
        const double magic = 0x1.8p52 * DTYPES[dtype].unit;
        return copysign((fabs(number) + magic) - magic, number);
    }
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits += (UINT64_C(1) << (cut - 1)) - 1 + (bits >> cut & 1);
    bits &= UINT64_MAX << cut;
    memcpy(&number, &bits, sizeof bits);
    return fabs(number) > DTYPES[dtype].largest ? copysign(INFINITY, number) : number;
}

void dtype_round(enum dtype dtype, double *numbers, size_t count)
{
    if (dtype == DTYPE_F32)
        for (size_t i = 0; i < count; i++)
            numbers[i] = (float)numbers[i];
    else if (dtype != DTYPE_F64)
        for (size_t i = 0; i < count; i++)
            numbers[i] = round_number(dtype, numbers[i]);
}

size_t dtype_decimal(enum dtype dtype, double number, char *text)
{
    switch (dtype) {
    case DTYPE_F16:
        return decimal_from_half(dtype_bits(dtype, number), text);
    case DTYPE_BF16:
        return decimal_from_brain(dtype_bits(dtype, number), text);
    case DTYPE_F64:
        return decimal_from_double(number, text);
    default:
        return decimal_from_float((float)number, text);
    }
}

uint16_t dtype_bits(enum dtype dtype, double number)
{
    const int fraction = DTYPES[dtype].bits - 1, infinite = 0x7fff >> fraction << fraction;
    const int sign = signbit(number) ? 0x8000 : 0;
    const double units = fabs(round_number(dtype, number)) / DTYPES[dtype].unit;
    int exponent;
    if (isnan(number))
        return (uint16_t)(infinite | 1 << (fraction - 1));
    if (isinf(units))
        return (uint16_t)(sign | infinite);
    frexp(units, &exponent);
    const int place = exponent > fraction + 1 ? exponent - fraction - 1 : 0;
    return (uint16_t)(sign | ((int)ldexp(units, -place) + (place << fraction)));
}

const char *tensor_shape_text(const struct tensor *tensor, char *shape)
{
    struct text text = text_begin(shape, TENSOR_SHAPE_BYTES);
    for (size_t axis = 0; axis < tensor->rank; axis++)
        text_add(&text, "%s%zu", axis ? " x " : "", tensor->shape[axis]);
    if (tensor->rank == 1)
        text_add(&text, "%s", tensor->shape[0] == 1 ? " number" : " numbers");
    return shape;
}

const char *tensor_place_text(size_t rank, const size_t *index, size_t depth, char *place)
{
    static const char *const NAMES[] = {"item", "head", "row", "column"};
    _Static_assert(sizeof NAMES / sizeof NAMES[0] == TENSOR_RANK, "a name for each axis");
    struct text text = text_begin(place, TENSOR_PLACE_BYTES);
    for (size_t axis = 0; axis < depth; axis++)
        text_add(&text, "%s%s %zu", axis ? ", " : "",
                 rank == 1                ? "number"
                 : rank == 3 && axis == 0 ? "item"
                                          : NAMES[TENSOR_RANK - rank + axis],
                 index[axis] + 1);
    return place;
}

static enum status not_finite(const struct tensor *tensor, size_t index, double number, enum dtype dtype,
                              const char *source, const char *name, struct error *error)
{
    char place[TENSOR_PLACE_BYTES], value[DECIMAL_BYTES], largest[DECIMAL_BYTES];
    size_t indices[TENSOR_RANK];
    for (size_t axis = tensor->rank; axis-- > 0; index /= tensor->shape[axis])
        indices[axis] = index % tensor->shape[axis];
    tensor_place_text(tensor->rank, indices, tensor->rank, place);
    if (!isfinite(number))
        return error_usage(error, "%s: %s: %s: %s is not finite; expected a finite number", source, name, place,
                           isnan(number) ? "NaN"
                           : number > 0  ? "Infinity"
                                         : "-Infinity");
    decimal_from_double(number, value);
    decimal_from_float((float)DTYPES[dtype].largest, largest);
    return error_usage(error, "%s: %s: %s: %s overflows %s; expected at most %s in magnitude", source, name, place,
                       value, DTYPES[dtype].full_name, largest);
}

/* Whole numbers first .. first + count as doubles that round on to a narrower dtype as the numbers themselves would: from
 * 2^53 on, of what a double has no room for, the last bit that is kept says that it was there. */
static void load_wholes(const struct tensor *tensor, size_t first, size_t count, double *numbers)
{
    const uint64_t below = 2047;
    for (size_t i = 0; i < count; i++) {
        const int64_t whole = ((const int64_t *)tensor->data)[first + i];
        uint64_t magnitude = whole < 0 ? -(uint64_t)whole : (uint64_t)whole;
        if (magnitude > UINT64_C(1) << 53 && (magnitude & below) != 0)
            magnitude = (magnitude & ~below) | (below + 1);
        numbers[i] = whole < 0 ? -(double)magnitude : (double)magnitude;
    }
}

enum status tensor_convert(const struct tensor *tensor, enum dtype dtype, const char *source, const char *name,
                           bool *finite, struct tensor *converted, struct arena *arena, struct error *error)
{
    const struct tensor from = *tensor; /* `converted` may be the tensor itself */
    const size_t count = tensor_count(&from);
    const bool kept = from.dtype == dtype && dtype == dtype_storage(dtype);
    double numbers[CHUNK], rounded[CHUNK];
    *converted = from;
    if (!kept && tensor_create(converted, dtype_storage(dtype), from.rank, from.shape, arena, error) != STATUS_OK)
        return error->status;
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t now = memory_smaller(count - first, CHUNK);
        if (from.dtype == DTYPE_I64 && dtype != DTYPE_F64)
            load_wholes(&from, first, now, numbers);
        else
            tensor_load(&from, first, now, numbers);
        memcpy(rounded, numbers, now * sizeof *numbers);
        dtype_round(dtype, rounded, now);
        for (size_t i = 0; i < now; i++) {
            if (isfinite(rounded[i]))
                continue;
            if (finite == NULL || isfinite(numbers[i]))
                return not_finite(&from, first + i, numbers[i], dtype, source, name, error);
            *finite = false;
        }
        if (!kept)
            tensor_store(converted, first, now, rounded);
    }
    return STATUS_OK;
}
