/* SPDX-License-Identifier: MIT */
#include "tensor/dtype.h"

#include "base/decimal.h"
#include "base/memory.h"
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A row of dtype_rows.h, which describes the fields. */
struct row {
    const char *name, *title, *safetensors, *npy, *torch;
    double absolute, relative;
    size_t size;
    const struct codec *codec;
    double smallest, largest;
    int fraction;
    unsigned nan;
    enum dtype storage;
    bool working, whole, boolean, infinite, rounds_sums;
};

/* Conversions from and to memory and files; NULL where no caller needs one for that kind. */
struct codec {
    void (*load)(const struct row *row, const void *data, size_t count, double *numbers);
    void (*load_floats)(const struct row *row, const void *data, size_t count, float *numbers);
    bool (*finite)(const struct row *row, const void *data, size_t count);
    void (*store)(const struct row *row, const double *numbers, size_t count, void *data);
    void (*round)(const struct row *row, double *numbers, size_t count);
    void (*places)(const struct row *row, const double *numbers, size_t count, uint64_t *places);
    void (*encode)(const struct row *row, const double *numbers, size_t count, unsigned char *bytes);
    size_t (*decimal)(const struct row *row, double number, char *text);
};

/* `size` bytes, the least significant first on any machine. */
static inline void store_bytes(uint64_t bits, size_t size, unsigned char *bytes)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) { /* the order of the machine */
        memcpy(bytes, &bits, size);
        return;
    }
    for (size_t byte = 0; byte < size; byte++)
        bytes[byte] = (unsigned char)(bits >> 8 * byte & 0xff);
}

/* Conversions that are an expression of one `number`: from memory (a type of the machine) to a double; to the bytes of
 * a file (its bits, of so many bytes); and to `text` (its length). */
#define LOADER(function, type, value)                                                            \
    static void function(const struct row *row, const void *data, size_t count, double *numbers) \
    {                                                                                            \
        (void)row;                                                                               \
        for (size_t i = 0; i < count; i++) {                                                     \
            const type number = ((const type *)data)[i];                                         \
            numbers[i] = (double)(value);                                                        \
        }                                                                                        \
    }
#define ENCODER(function, size, bits)                                                                      \
    static void function(const struct row *row, const double *numbers, size_t count, unsigned char *bytes) \
    {                                                                                                      \
        (void)row;                                                                                         \
        for (size_t i = 0; i < count; i++) {                                                               \
            const double number = numbers[i];                                                              \
            store_bytes((bits), (size), bytes + i * (size));                                               \
        }                                                                                                  \
    }
#define DECIMAL(function, length)                                            \
    static size_t function(const struct row *row, double number, char *text) \
    {                                                                        \
        (void)row;                                                           \
        return (size_t)(length);                                             \
    }

/* --- float64, by the machine ------------------------------------------------------------------------------------- */

/* NaN has many encodings, and the processor chooses one; a file gets this one. */
static const uint32_t NAN_F32 = UINT32_C(0x7fc00000);
static const uint64_t NAN_F64 = UINT64_C(0x7ff8000000000000);

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static double number_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static void load_doubles(const struct row *row, const void *data, size_t count, double *numbers)
{
    memcpy(numbers, data, count * row->size);
}

/* By their bits: a comparison of whole numbers, without a branch. */
static bool finite_doubles(const struct row *row, const void *data, size_t count)
{
    (void)row;
    uint64_t beyond = 0;
    for (size_t i = 0; i < count; i++)
        beyond |= (((const uint64_t *)data)[i] & INT64_MAX) + (UINT64_C(1) << 52);
    return beyond >> 63 == 0;
}

static void store_doubles(const struct row *row, const double *numbers, size_t count, void *data)
{
    (void)row;
    memcpy(data, numbers, count * sizeof *numbers);
}

static void round_doubles(const struct row *row, double *numbers, size_t count)
{
    (void)row, (void)numbers, (void)count;
}

static void places_of_doubles(const struct row *row, const double *numbers, size_t count, uint64_t *places)
{
    (void)row;
    for (size_t i = 0; i < count; i++)
        places[i] = bits_of(numbers[i]) & INT64_MAX;
}

ENCODER(encode_doubles, sizeof number, isnan(number) ? NAN_F64 : bits_of(number))

DECIMAL(decimal_of_double, decimal_from_double(number, text))

static const struct codec DOUBLES = {load_doubles,      NULL,           finite_doubles,   store_doubles, round_doubles,
                                     places_of_doubles, encode_doubles, decimal_of_double};

/* --- float32, by the machine ------------------------------------------------------------------------------------- */

LOADER(load_floats, float, number)

static bool finite_floats(const struct row *row, const void *data, size_t count)
{
    (void)row;
    uint32_t beyond = 0;
    for (size_t i = 0; i < count; i++)
        beyond |= (((const uint32_t *)data)[i] & INT32_MAX) + (UINT32_C(1) << 23);
    return beyond >> 31 == 0;
}

static void store_floats(const struct row *row, const double *numbers, size_t count, void *data)
{
    (void)row;
    for (size_t i = 0; i < count; i++)
        ((float *)data)[i] = (float)numbers[i];
}

static void round_floats(const struct row *row, double *numbers, size_t count)
{
    (void)row;
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)numbers[i];
}

static uint32_t bits_of_float(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static void places_of_floats(const struct row *row, const double *numbers, size_t count, uint64_t *places)
{
    (void)row;
    for (size_t i = 0; i < count; i++)
        places[i] = bits_of_float((float)numbers[i]) & INT32_MAX;
}

ENCODER(encode_floats, sizeof(float), isnan(number) ? NAN_F32 : bits_of_float((float)number))

DECIMAL(decimal_of_float, decimal_from_float((float)number, text))

static void copy_floats(const struct row *row, const void *data, size_t count, float *numbers)
{
    memcpy(numbers, data, count * row->size);
}

static const struct codec FLOATS = {load_floats,  copy_floats,      finite_floats, store_floats,
                                    round_floats, places_of_floats, encode_floats, decimal_of_float};

/* --- floating point in fewer bits, by its layout ------------------------------------------------------------------ */

/* The bits are sign, exponent and fraction. Shifted to the position of a double's fraction, the magnitude is that of a
 * double smaller by this factor, a power of two; so it is for the smallest numbers too, which have no leading 1. */
static double factor_of(const struct row *row)
{
    return row->smallest * 0x1p1022 * (double)(UINT64_C(1) << row->fraction);
}

static uint64_t magnitude_of(const struct row *row, double number)
{
    return bits_of(fabs(number) / factor_of(row)) >> (52 - row->fraction);
}

static inline uint32_t code_at(size_t size, const void *data, size_t i)
{
    return size == 1 ? ((const uint8_t *)data)[i] : ((const uint16_t *)data)[i];
}

/* Shifted to the position of a float's fraction, without a branch: a difference of whole numbers below 0 has its
 * highest bit set. */
static void load_coded_floats(const struct row *row, const void *data, size_t count, float *numbers)
{
    const int up = 23 - row->fraction, to_sign = (int)(32 - 8 * row->size);
    const size_t size = row->size;
    const uint32_t sign = UINT32_C(1) << (8 * size - 1), largest = (uint32_t)magnitude_of(row, row->largest);
    const float factor = (float)(row->smallest * 0x1p126 * (double)(UINT64_C(1) << row->fraction));
    if (factor == 1) { /* a float cut short */
        for (size_t i = 0; i < count; i++) {
            const uint32_t code = code_at(size, data, i) << to_sign;
            memcpy(numbers + i, &code, sizeof code);
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = code_at(size, data, i), magnitude = bits & (sign - 1);
        uint32_t code = magnitude << up;
        float number;
        memcpy(&number, &code, sizeof number);
        number *= factor;
        memcpy(&code, &number, sizeof code);
        code |= (bits & sign) << to_sign | (-((largest - magnitude) >> 31) & UINT32_C(0x7f800000));
        memcpy(numbers + i, &code, sizeof code);
    }
}

static void load_coded(const struct row *row, const void *data, size_t count, double *numbers)
{
    enum { RUN = 256 };
    float floats[RUN];
    for (size_t first = 0; first < count; first += RUN) {
        const size_t now = memory_smaller(RUN, count - first);
        load_coded_floats(row, (const char *)data + first * row->size, now, floats);
        for (size_t i = 0; i < now; i++)
            numbers[first + i] = (double)floats[i];
    }
}

static bool finite_coded(const struct row *row, const void *data, size_t count)
{
    const size_t size = row->size;
    const uint16_t sign = (uint16_t)(1U << (8 * size - 1)),
                   step = (uint16_t)(sign - 1 - magnitude_of(row, row->largest));
    uint16_t beyond = 0;
    for (size_t i = 0; i < count; i++)
        beyond |= (uint16_t)((code_at(size, data, i) & (sign - 1U)) + step);
    return (beyond & sign) == 0;
}

/* Adds half a unit in the last place to the bits, where the last bit decides a tie, and cuts off the bits below; a
 * carry runs into the exponent, as it must. The smallest numbers are rounded by adding a number whose last place is the
 * smallest. Computes both cases and selects one, without a branch. */
static inline double round_number(const struct row *row, double number)
{
    const int cut = 52 - row->fraction;
    const double size = fabs(number), magic = 0x1.8p52 * row->smallest, small = (size + magic) - magic;
    uint64_t bits = bits_of(size);
    bits += (UINT64_C(1) << (cut - 1)) - 1 + (bits >> cut & 1);
    double rounded = number_of(bits & UINT64_MAX << cut);
    rounded = size < row->smallest * (double)(UINT64_C(2) << row->fraction) ? small : rounded;
    rounded = rounded > row->largest ? (row->infinite ? (double)INFINITY : row->largest) : rounded;
    return copysign(size <= DBL_MAX ? rounded : size, number);
}

static void round_coded(const struct row *row, double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = round_number(row, numbers[i]);
}

/* The bits of a number that the dtype has, or of NaN; of infinity those of the largest where it has none. */
static inline uint64_t code_of(const struct row *row, double number)
{
    const double size = fabs(number);
    const uint64_t beyond = magnitude_of(row, row->largest) + 1;
    const uint64_t quiet = row->infinite ? UINT64_C(1) << (row->fraction - 1) : 0;
    const uint64_t not_a_number = row->nan != 0 ? row->nan : beyond | quiet;
    uint64_t code = bits_of(size * (1 / factor_of(row))) >> (52 - row->fraction);
    code = size <= DBL_MAX ? code : beyond - !row->infinite;
    code |= bits_of(number) >> 63 << (8 * row->size - 1);
    return size <= (double)INFINITY ? code : not_a_number;
}

/* Rounds as round_number: the bits of a double less the exponents that the dtype lacks. Below its smallest number with
 * a leading 1, counts its steps from 0. */
static void places_of_codes(const struct row *row, const double *numbers, size_t count, uint64_t *places)
{
    const int cut = 52 - row->fraction;
    const double leading = row->smallest * (double)(UINT64_C(1) << row->fraction), magic = 0x1.8p52 * row->smallest;
    const uint64_t below = bits_of(leading) - (UINT64_C(1) << 52), half = (UINT64_C(1) << (cut - 1)) - 1,
                   most = magnitude_of(row, row->largest) + row->infinite;
    for (size_t i = 0; i < count; i++) {
        const double number = fabs(numbers[i]);
        const uint64_t bits = bits_of(number), place = number < leading
                                                           ? bits_of(number + magic) - bits_of(magic)
                                                           : (bits - below + half + (bits >> cut & 1)) >> cut;
        places[i] = place < most ? place : most;
    }
}

static void store_coded(const struct row *row, const double *numbers, size_t count, void *data)
{
    const struct row own = *row; /* a copy that cannot alias the numbers, for the compiler */
    for (size_t i = 0; i < count; i++)
        if (own.size == 1)
            ((uint8_t *)data)[i] = (uint8_t)code_of(&own, round_number(&own, numbers[i]));
        else
            ((uint16_t *)data)[i] = (uint16_t)code_of(&own, round_number(&own, numbers[i]));
}

static void encode_coded(const struct row *row, const double *numbers, size_t count, unsigned char *bytes)
{
    const struct row own = *row; /* a copy that cannot alias the bytes, for the compiler */
    if (own.size == 1)
        for (size_t i = 0; i < count; i++)
            store_bytes(code_of(&own, round_number(&own, numbers[i])), 1, bytes + i);
    else
        for (size_t i = 0; i < count; i++)
            store_bytes(code_of(&own, round_number(&own, numbers[i])), 2, bytes + 2 * i);
}

DECIMAL(decimal_of_code, decimal_from_bits(signbit(number) != 0, magnitude_of(row, round_number(row, number)),
                                           row->fraction, ilogb(row->smallest), text))

static const struct codec CODED = {load_coded,  load_coded_floats, finite_coded, store_coded,
                                   round_coded, places_of_codes,   encode_coded, decimal_of_code};

/* --- whole numbers and truth values ------------------------------------------------------------------------------ */

LOADER(load_wholes, int64_t, number)
ENCODER(encode_wholes, sizeof(int64_t), (uint64_t)(int64_t)number)
DECIMAL(decimal_of_whole, snprintf(text, DECIMAL_BYTES, "%.0f", number))

static const struct codec WHOLES = {load_wholes, NULL, NULL, NULL, NULL, NULL, encode_wholes, decimal_of_whole};

LOADER(load_short_wholes, int32_t, number)
ENCODER(encode_short_wholes, sizeof(int32_t), (uint32_t)(int32_t)number)

static const struct codec SHORT_WHOLES = {load_short_wholes, NULL, NULL, NULL, NULL, NULL, encode_short_wholes,
                                          decimal_of_whole};

LOADER(load_truths, uint8_t, number != 0)
ENCODER(encode_truths, 1, number != 0)
DECIMAL(decimal_of_truth, snprintf(text, DECIMAL_BYTES, number != 0 ? "true" : "false"))

static const struct codec TRUTHS = {load_truths, NULL, NULL, NULL, NULL, NULL, encode_truths, decimal_of_truth};

/* --- the table --------------------------------------------------------------------------------------------------- */

#define NOTHING(...)
#define WORKING_ROW(id, label, atol, rtol, ...) \
    [DTYPE_##id] = {.name = label, .working = true, .absolute = atol, .relative = rtol, __VA_ARGS__},
#define OTHER_ROW(id, label, ...) [DTYPE_##id] = {.name = label, __VA_ARGS__},
#define WORKING_NAME(id, label, ...) [DTYPE_##id] = label,
#define PLACE(id, ...) PLACE_##id,
#define IN_PLACE(id, ...) \
    _Static_assert((int)DTYPE_##id >= (int)WORKING_COUNT, #id " must come after the working dtypes");

/* The last one is for DTYPE_COUNT, a dtype that attn lacks: it is of no kind, and its size is 0. */
static const struct row ROWS[DTYPE_COUNT + 1] = {DTYPE_ROWS(WORKING_ROW, OTHER_ROW)};

enum { DTYPE_ROWS(PLACE, NOTHING) WORKING_COUNT };
DTYPE_ROWS(NOTHING, IN_PLACE)

const char *const DTYPE_NAMES[WORKING_COUNT + 1] = {DTYPE_ROWS(WORKING_NAME, NOTHING)};

/* Functions that return a field of the row. */
#define SAYS(type, function, field) \
    type function(enum dtype dtype) \
    {                               \
        return ROWS[dtype].field;   \
    }
/* clang-format off */
SAYS(const char *, dtype_name, name)
SAYS(const char *, dtype_title, title)
SAYS(const char *, dtype_safetensors, safetensors)
SAYS(const char *, dtype_torch, torch)
SAYS(const char *, dtype_npy, npy)
SAYS(bool, dtype_is_working, working)
SAYS(bool, dtype_is_whole, whole)
SAYS(bool, dtype_is_boolean, boolean)
SAYS(size_t, dtype_size, size)
SAYS(enum dtype, dtype_storage, storage)
SAYS(int, dtype_precision, fraction + 1)
SAYS(double, dtype_smallest, smallest)
SAYS(double, dtype_largest, largest)
SAYS(bool, dtype_has_infinity, infinite)
SAYS(bool, dtype_rounds_sums, rounds_sums)
SAYS(double, dtype_absolute_tolerance, absolute)
SAYS(double, dtype_relative_tolerance, relative)
/* clang-format on */

enum dtype dtype_find(const char *(*name)(enum dtype), const char *text)
{
    enum dtype dtype = 0;
    while (dtype < DTYPE_COUNT && (name(dtype) == NULL || strcmp(name(dtype), text) != 0))
        dtype++;
    return dtype;
}

const char *dtype_list(const char *(*name)(enum dtype), char *text)
{
    const char *names[DTYPE_COUNT];
    for (enum dtype dtype = 0; dtype < DTYPE_COUNT; dtype++)
        names[dtype] = name(dtype);
    return text_alternatives(names, DTYPE_COUNT, text, DTYPE_LIST_BYTES);
}

bool dtype_holds(enum dtype dtype, enum dtype other)
{
    const struct row *own = &ROWS[dtype], *row = &ROWS[other];
    return dtype_is_working(other) && row->fraction <= own->fraction && row->smallest >= own->smallest &&
           row->largest <= own->largest;
}

bool dtype_is_coarse(enum dtype dtype)
{
    return dtype_precision(dtype) < dtype_precision(DTYPE_F32);
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

void dtype_load(enum dtype dtype, const void *data, size_t count, double *numbers)
{
    ROWS[dtype].codec->load(&ROWS[dtype], data, count, numbers);
}

void dtype_load_floats(enum dtype dtype, const void *data, size_t count, float *numbers)
{
    ROWS[dtype].codec->load_floats(&ROWS[dtype], data, count, numbers);
}

bool dtype_finite(enum dtype dtype, const void *data, size_t count)
{
    return ROWS[dtype].codec->finite(&ROWS[dtype], data, count);
}

void dtype_store(enum dtype dtype, const double *numbers, size_t count, void *data)
{
    ROWS[dtype].codec->store(&ROWS[dtype], numbers, count, data);
}

void dtype_round(enum dtype dtype, double *numbers, size_t count)
{
    ROWS[dtype].codec->round(&ROWS[dtype], numbers, count);
}

void dtype_encode(enum dtype dtype, const double *numbers, size_t count, unsigned char *bytes)
{
    ROWS[dtype].codec->encode(&ROWS[dtype], numbers, count, bytes);
}

void dtype_encode_all(enum dtype dtype, enum dtype from, const void *numbers, size_t count,
                      bool (*put)(void *context, const void *bytes, size_t length), void *context)
{
    enum { CHUNK = 1024, PIECE = 1 << 18 }; /* numbers rounded at once, and handed to put at once */
    const size_t size = dtype_size(from);
    /* The bytes in memory are those of the file, except NaN, which has many encodings. */
    const bool same = from == dtype && dtype_is_working(dtype) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const char *data = numbers;
    double chunk[CHUNK];
    unsigned char bytes[CHUNK * sizeof(double)];
    bool wanted = true;
    for (size_t done = 0, piece; done < count && wanted; done += piece) {
        piece = memory_smaller(count - done, PIECE);
        if (same && dtype_finite(dtype, data + done * size, piece)) {
            wanted = put(context, data + done * size, piece * size);
            continue;
        }
        for (size_t first = done, end = done + piece, now; first < end && wanted; first += now) {
            now = memory_smaller(end - first, CHUNK);
            dtype_load(from, data + first * size, now, chunk);
            dtype_encode(dtype, chunk, now, bytes);
            wanted = put(context, bytes, now * dtype_size(dtype));
        }
    }
}

uint64_t dtype_bits(enum dtype dtype, double number)
{
    dtype_round(dtype, &number, 1);
    return code_of(&ROWS[dtype], number);
}

void dtype_places(enum dtype dtype, const double *numbers, size_t count, uint64_t *places)
{
    ROWS[dtype].codec->places(&ROWS[dtype], numbers, count, places);
}

size_t dtype_decimal(enum dtype dtype, double number, char *text)
{
    return ROWS[dtype].codec->decimal(&ROWS[dtype], number, text);
}
