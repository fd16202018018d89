/* SPDX-License-Identifier: MIT */
/* Dtypes by their rows: what the program says of each, and every code of those of eight bits, decoded here and by
 * PyTorch. */
#include "tensor/dtype.c" /* for what only it knows of a row */

#include "check.h"
#include "read/checkpoint.h"
#include "support.h"

#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* What the code means, by the exponent's field and its bias. */
static double meaning(const struct row *row, int bias, unsigned code)
{
    const int fraction = (int)(code & ((1U << row->fraction) - 1)), field = (int)(code & 0x7f) >> row->fraction;
    const int top = 0x7f >> row->fraction, one = 1 << row->fraction;
    double magnitude =
        field == 0 ? ldexp(fraction, 1 - bias - row->fraction) : ldexp(one + fraction, field - bias - row->fraction);
    if (row->infinite && field == top)
        magnitude = fraction == 0 ? (double)INFINITY : (double)NAN;
    if (!row->infinite && (code & 0x7f) == 0x7f)
        magnitude = (double)NAN;
    return code & 0x80 ? -magnitude : magnitude;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

static void check_codes(const struct row *row, int bias)
{
    check_begin("%s: what each code means, and back", row->name);
    for (unsigned code = 0; code < 256; code++) {
        const unsigned char byte = (unsigned char)code;
        const double expected = meaning(row, bias, code);
        double number;
        unsigned char back;
        row->codec->load(row, &byte, 1, &number);
        row->codec->encode(row, &expected, 1, &back);
        CHECK(same(expected, number), "code 0x%02x: expected %g, got %g", code, expected, number);
        CHECK(isnan(expected) ? isnan(meaning(row, bias, back)) : back == code, "%g: expected code 0x%02x, got 0x%02x",
              expected, code, (unsigned)back);
    }
    CHECK(meaning(row, bias, 1) == row->smallest, "expected the smallest number %g", meaning(row, bias, 1));
}

/* Every sixteenth of a step: it goes to the nearest, in the middle to the even one. */
static void check_rounding(const struct row *row, int bias)
{
    check_begin("%s: what lies between two numbers", row->name);
    for (unsigned code = 0; meaning(row, bias, code) < row->largest; code++)
        for (int part = 0; part <= 16; part++) {
            const double low = meaning(row, bias, code), high = meaning(row, bias, code + 1);
            const double given = low + (high - low) * part / 16;
            const double expected = part < 8 || (part == 8 && code % 2 == 0) ? low : high;
            double numbers[] = {given, -given};
            row->codec->round(row, numbers, 2);
            CHECK(same(expected, numbers[0]) && same(-expected, numbers[1]), "%g: expected %g, got %g and %g", given,
                  expected, numbers[0], numbers[1]);
        }
}

/* `first` is the first number that is nearer to what follows the largest one. */
static void check_ends(const struct row *row, double first)
{
    double numbers[] = {first, nextafter(first, 0), -1e300, INFINITY, -(double)INFINITY};
    const unsigned beyond = row->infinite ? 0x7c : 0x7e, below = row->infinite ? beyond - 1 : beyond, sign = 0x80;
    const unsigned expected[] = {beyond, below, beyond | sign, beyond, beyond | sign};
    unsigned char codes[COUNT(numbers)];
    check_begin("%s: from %.17g on", row->name, first);
    row->codec->encode(row, numbers, COUNT(numbers), codes);
    row->codec->round(row, numbers, 3);
    for (size_t i = 0; i < COUNT(numbers); i++)
        CHECK(codes[i] == expected[i], "number %zu: expected 0x%02x, got 0x%02x", i, expected[i], (unsigned)codes[i]);
    CHECK(numbers[1] == row->largest, "just below %g: expected %g, got %g", first, row->largest, numbers[1]);
    const double last = row->infinite ? (double)INFINITY : row->largest;
    CHECK(numbers[0] == last && numbers[2] == -last, "got %g and %g", numbers[0], numbers[2]);
}

/* The numbers that a row gives of a dtype fit each other. */
static void check_row(enum dtype dtype)
{
    const struct row *row = &ROWS[dtype];
    check_begin("%s: its row", dtype_name(dtype));
    CHECK(dtype_find(dtype_name, row->name) == dtype, "expected to find the name");
    CHECK(dtype_find(dtype_safetensors, row->safetensors) == dtype, "expected to find the code %s", row->safetensors);
    CHECK(row->npy == NULL || dtype_find(dtype_npy, row->npy) == dtype, "expected to find the type %s", row->npy);
    CHECK(row->working + row->whole + row->boolean == 1, "expected one kind of numbers");
    if (!row->working)
        return;
    CHECK_TEXT(row->name, DTYPE_NAMES[dtype]);
    CHECK(dtype_bits(dtype, row->smallest) == 1, "%g is not the smallest", row->smallest);
    CHECK(dtype_bits(dtype, row->largest) + row->infinite == dtype_bits(dtype, INFINITY), "%g is not the largest",
          row->largest);
    CHECK(row->title != NULL && row->safetensors != NULL && row->absolute > 0 && row->relative > 0 && row->size > 0 &&
              row->codec != NULL && dtype_is_working(row->storage),
          "expected all that a row says");
    CHECK(dtype_bits(dtype, 1) == dtype_bits(dtype, 1 + ldexp(0.5, -row->fraction)) &&
              dtype_bits(dtype, 1) + 1 == dtype_bits(dtype, 1 + ldexp(1, -row->fraction)),
          "1 and the next number are not 2^-%d apart", row->fraction);
}

static void check_files(void)
{
    const double numbers[] = {1, -0.0, (double)NAN, -(double)INFINITY};
    static const struct {
        enum dtype dtype;
        uint64_t bits[4];
    } FILES[] = {
        {DTYPE_F64, {0x3ff0000000000000, 0x8000000000000000, 0x7ff8000000000000, 0xfff0000000000000}},
        {DTYPE_F32, {0x3f800000, 0x80000000, 0x7fc00000, 0xff800000}},
        {DTYPE_F16, {0x3c00, 0x8000, 0x7e00, 0xfc00}},
        {DTYPE_BF16, {0x3f80, 0x8000, 0x7fc0, 0xff80}},
        {DTYPE_F8E4M3, {0x38, 0x80, 0x7f, 0xfe}},
        {DTYPE_F8E5M2, {0x3c, 0x80, 0x7f, 0xfc}},
    };
    for (size_t i = 0; i < COUNT(FILES); i++) {
        const size_t size = dtype_size(FILES[i].dtype);
        unsigned char bytes[32];
        check_begin("%s: as bytes of a file", dtype_name(FILES[i].dtype));
        dtype_encode(FILES[i].dtype, numbers, 4, bytes);
        for (size_t k = 0; k < 4; k++) {
            uint64_t bits = 0;
            for (size_t byte = size; byte-- > 0;)
                bits = bits << 8 | bytes[k * size + byte];
            CHECK(bits == FILES[i].bits[k], "%g: expected 0x%llx, got 0x%llx", numbers[k],
                  (unsigned long long)FILES[i].bits[k], (unsigned long long)bits);
        }
    }
}

static double *take_golden(const struct checkpoint *golden, enum dtype dtype, const char *word, struct tensor *tensor)
{
    struct error error = {0};
    char name[40];
    snprintf(name, sizeof name, "%s.%s", dtype_safetensors(dtype), word);
    if (!CHECK(checkpoint_take(golden, name, tensor, &error) == STATUS_OK, "%s", error.message))
        return NULL;
    double *numbers = malloc(tensor_count(tensor) * sizeof *numbers);
    tensor_load(tensor, 0, tensor_count(tensor), numbers);
    return numbers;
}

static bool is_nan_code(enum dtype dtype, unsigned char code)
{
    double number;
    dtype_load(dtype, &code, 1, &number);
    return isnan(number);
}

/* As tests/golden/make_float8.py has it of PyTorch. NaN has one sign here, and there that of what it was made from. */
static void check_torch(enum dtype dtype)
{
    struct arena arena = {0};
    struct checkpoint golden;
    struct error error = {0};
    struct tensor codes, meant, given, rounded;
    check_begin("%s: as PyTorch has it", dtype_name(dtype));
    if (!CHECK(checkpoint_open("tests/golden/float8.safetensors", &arena, &golden, &error) == STATUS_OK, "%s",
               error.message))
        return;
    double *loaded = take_golden(&golden, dtype, "codes", &codes),
           *means = take_golden(&golden, dtype, "meant", &meant),
           *numbers = take_golden(&golden, dtype, "given", &given),
           *made = take_golden(&golden, dtype, "rounded", &rounded);
    const size_t count = tensor_count(&given);
    unsigned char *bytes = malloc(count), *stored = malloc(count);
    float floats[256];
    dtype_load_floats(dtype, codes.data, 256, floats);
    for (size_t code = 0; code < 256; code++)
        CHECK(same(means[code], loaded[code]) && same(means[code], (double)floats[code]),
              "code 0x%02zx: expected %g, got %g and %g", code, means[code], loaded[code], (double)floats[code]);
    dtype_encode(dtype, numbers, count, bytes);
    dtype_store(dtype, numbers, count, stored);
    for (size_t i = 0; i < count; i++) {
        const unsigned char expected = ((const unsigned char *)rounded.data)[i];
        double number = numbers[i];
        dtype_round(dtype, &number, 1);
        CHECK(isnan(made[i]) ? is_nan_code(dtype, bytes[i]) : bytes[i] == expected, "%.9g: expected 0x%02x, got 0x%02x",
              numbers[i], expected, bytes[i]);
        CHECK(bytes[i] == stored[i], "%.9g: 0x%02x in files and 0x%02x in memory", numbers[i], bytes[i], stored[i]);
        uint64_t place;
        dtype_places(dtype, &numbers[i], 1, &place);
        CHECK(!isfinite(numbers[i]) || place == (expected & 0x7f), "%.9g: place %llu", numbers[i],
              (unsigned long long)place);
        CHECK(same(isinf(numbers[i]) ? numbers[i] : made[i], number), "%.9g: expected %g, got %g", numbers[i], made[i],
              number);
    }
    for (size_t code = 0; code < 256; code++) {
        const unsigned char byte = (unsigned char)code;
        CHECK(dtype_finite(dtype, &byte, 1) == isfinite(means[code]), "code 0x%02zx: expected to know", code);
    }
    free(loaded), free(means), free(numbers), free(made), free(bytes), free(stored);
    arena_free(&arena);
}

static void check_lists(void)
{
    char text[DTYPE_LIST_BYTES], number[DECIMAL_BYTES];
    check_begin("lists");
    CHECK_TEXT("f32, f64, f16, bf16, f8e4m3, f8e5m2, i32, i64 or bool", dtype_list(dtype_name, text));
    CHECK_TEXT("f4, f8, f2, i4, i8 or b1", dtype_list(dtype_npy, text));
    CHECK(dtype_find(dtype_npy, "f3") == DTYPE_COUNT, "expected no dtype f3");
    check_begin("decimals of what is not working");
    dtype_decimal(DTYPE_I64, -9007199254740991, number);
    CHECK_TEXT("-9007199254740991", number);
    dtype_decimal(DTYPE_BOOL, 1, number);
    CHECK_TEXT("true", number);
}

int main(void)
{
    const struct row *e5m2 = &ROWS[DTYPE_F8E5M2], *e4m3 = &ROWS[DTYPE_F8E4M3];
    check_codes(e5m2, 15);
    check_codes(e4m3, 7);
    check_rounding(e5m2, 15);
    check_rounding(e4m3, 7);
    check_ends(e5m2, 61440);
    check_ends(e4m3, nextafter(464, INFINITY));
    check_torch(DTYPE_F8E4M3);
    check_torch(DTYPE_F8E5M2);
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
        check_row((enum dtype)dtype);
    check_files();
    check_lists();
    check_begin("a dtype that attn lacks is of no kind");
    CHECK(!dtype_is_working(DTYPE_COUNT) && !dtype_is_whole(DTYPE_COUNT) && !dtype_is_boolean(DTYPE_COUNT) &&
              dtype_size(DTYPE_COUNT) == 0,
          "expected no kind and size 0");
    return check_end();
}
