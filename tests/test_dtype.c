/* Dtypes by their rows: what the program says of those that it has, and the numbers of others that a row could describe,
 * whose every code is decoded here on its own. */
#include "tensor/dtype.c" /* for rows that the program does not have */

#include "check.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Of eight bits: E5M2 is a float16 cut short, E4M3 has numbers where others have infinity. */
static const struct row E5M2 = {
    .name = "e5m2", .size = 1, .codec = &CODED, .fraction = 2, .smallest = 0x1p-16, .largest = 57344, .infinite = true};
static const struct row E4M3 = {
    .name = "e4m3", .size = 1, .codec = &CODED, .fraction = 3, .smallest = 0x1p-9, .largest = 448};

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

static void check_lists(void)
{
    char text[DTYPE_LIST_BYTES], number[DECIMAL_BYTES];
    check_begin("lists");
    CHECK_TEXT("f32, f64, f16, bf16, i32, i64 or bool", dtype_list(dtype_name, text));
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
    check_codes(&E5M2, 15);
    check_codes(&E4M3, 7);
    check_rounding(&E5M2, 15);
    check_rounding(&E4M3, 7);
    check_ends(&E5M2, 61440);
    check_ends(&E4M3, nextafter(464, INFINITY));
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
        check_row((enum dtype)dtype);
    check_files();
    check_lists();
    return check_end();
}
