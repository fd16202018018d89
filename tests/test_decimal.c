/* SPDX-License-Identifier: MIT */
/* The proof of decimal.c: every exponent of float and double, with the significands on the edges and random ones. That
 * of decimal_read.c, at the end: what it reads is what the C library reads.
 *
 * A text is right if it reads back bit for bit, if no decimal of fewer digits does, and if no other one of as many that
 * does is nearer. The oracle is the C library, which rounds correctly: "%.*e" gives the nearest decimal of a length. Of
 * what reads back as a number at least as much lies above it as below (more where it is a power of two). So where any
 * decimal of a length reads back, the nearest one does, or else the next one above that. And a decimal of fewer digits
 * is also one of one digit less, with zeros. That leaves two lengths to look at, instead of all.
 *
 *     ATTN_EXHAUSTIVE=1/2 build/test_decimal &
 *     ATTN_EXHAUSTIVE=2/2 build/test_decimal
 *
 * does the same for every positive float, here in two parts at a time, a quarter of an hour each. */
#include "base/decimal.h"
#include "base/decimal_powers.h"
#include "check.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 64, RANDOM_FLOATS = 2000, RANDOM_DOUBLES = 400, SMALLEST = 2000, INTEGERS = 100000 };
enum { RANDOM_DECIMALS = 200000, RANDOM_MIDDLES = 5000, MANY_ZEROS = 12000 };

/* The one magnitude of a float whose shortest text, read as a double and then rounded, gives another float: the double
 * next to 7.038531e-26 is the very midpoint between this float and the next, which is even. */
enum { DOUBLY_ROUNDED = 0x15ae43fd };

/* The bits of a positive number are its magnitude; they order as the numbers do. */
static float float_of(uint64_t magnitude)
{
    uint32_t bits = (uint32_t)magnitude;
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static uint64_t float_magnitude(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static double double_of(uint64_t magnitude)
{
    double number;
    memcpy(&number, &magnitude, sizeof number);
    return number;
}

static uint64_t double_magnitude(double number)
{
    uint64_t magnitude;
    memcpy(&magnitude, &number, sizeof magnitude);
    return magnitude;
}

static size_t write_float(uint64_t magnitude, bool negative, char *text)
{
    float number = float_of(magnitude);
    return decimal_from_float(negative ? -number : number, text);
}

static size_t write_double(uint64_t magnitude, bool negative, char *text)
{
    double number = double_of(magnitude);
    return decimal_from_double(negative ? -number : number, text);
}

static uint64_t read_float(const char *text)
{
    return float_magnitude(strtof(text, NULL));
}

static uint64_t read_double(const char *text)
{
    return double_magnitude(strtod(text, NULL));
}

static uint64_t read_float_through_double(const char *text)
{
    return float_magnitude((float)strtod(text, NULL));
}

static double value_of_float(uint64_t magnitude)
{
    return (double)float_of(magnitude);
}

/* What differs between the two types. */
struct format {
    const char *name;
    int fraction_bits;
    uint64_t infinity;
    size_t (*write)(uint64_t magnitude, bool negative, char *text);
    uint64_t (*read)(const char *text);
    uint64_t (*read_through_double)(const char *text); /* as the JSON reader does */
    double (*value)(uint64_t magnitude);
};

static const struct format formats[] = {
    {"float", 23, 0x7f800000, write_float, read_float, read_float_through_double, value_of_float},
    {"double", 52, 0x7ff0000000000000, write_double, read_double, read_double, double_of},
};

static const struct format *const float_format = &formats[0], *const double_format = &formats[1];

/* splitmix64, by Sebastiano Vigna. */
static uint64_t next_random(void)
{
    static uint64_t state;
    uint64_t mixed = state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

/* 0.DIGITS * 10^point; no zeros at either end of the digits. */
struct parsed {
    char digits[TEXT_BYTES];
    int count, point;
};

static struct parsed parse(const char *text)
{
    struct parsed parsed = {.count = 0};
    bool after_point = false;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text == '.') {
            after_point = true;
            continue;
        }
        if (parsed.count > 0 || *text != '0')
            parsed.digits[parsed.count++] = *text;
        parsed.point += after_point ? -(parsed.count == 0) : parsed.count > 0;
    }
    while (parsed.count > 0 && parsed.digits[parsed.count - 1] == '0')
        parsed.digits[--parsed.count] = '\0';
    if (*text == 'e')
        parsed.point += atoi(text + 1);
    return parsed;
}

static bool same_decimal(const char *a, const char *b)
{
    struct parsed first = parse(a), second = parse(b);
    return first.point == second.point && strcmp(first.digits, second.digits) == 0;
}

/* Of "d.ddde+dd", the decimal of as many digits that follows. */
static void print_next_above(const char *text, char above[TEXT_BYTES])
{
    uint64_t digits = 0;
    int places = -1;
    for (; *text != 'e'; text++) {
        if (*text == '.')
            continue;
        digits = digits * 10 + (uint64_t)(*text - '0');
        places++;
    }
    snprintf(above, TEXT_BYTES, "%" PRIu64 "e%d", digits + 1, atoi(text + 1) - places);
}

/* Of the decimals of so many digits that read back, the nearest; false where there is none. */
static bool find_decimal(const struct format *format, uint64_t magnitude, int digits, char found[TEXT_BYTES])
{
    char nearest[TEXT_BYTES];
    snprintf(nearest, sizeof nearest, "%.*e", digits - 1, format->value(magnitude));
    strcpy(found, nearest);
    bool power_of_two = (magnitude & (((uint64_t)1 << format->fraction_bits) - 1)) == 0;
    if (power_of_two && format->read(found) != magnitude)
        print_next_above(nearest, found);
    return format->read(found) == magnitude;
}

/* Neither of zero nor of infinity. */
static void check_magnitude(const struct format *format, uint64_t magnitude)
{
    char text[DECIMAL_BYTES], other[TEXT_BYTES];
    size_t length = format->write(magnitude, false, text);
    CHECK(length == strlen(text), "%s %" PRIx64 ": %s is not %zu long", format->name, magnitude, text, length);

    uint64_t back = format->read(text);
    CHECK(back == magnitude, "%s %" PRIx64 ": %s reads back as %" PRIx64, format->name, magnitude, text, back);

    uint64_t through = format->read_through_double(text);
    CHECK(through == magnitude, "%s %" PRIx64 ": %s reads back through double as %" PRIx64, format->name, magnitude,
          text, through);

    struct parsed parsed = parse(text);
    if (format == float_format && magnitude == DOUBLY_ROUNDED)
        return;
    CHECK(parsed.count == 1 || !find_decimal(format, magnitude, parsed.count - 1, other),
          "%s %" PRIx64 ": %s, but %s is shorter", format->name, magnitude, text, other);
    CHECK(find_decimal(format, magnitude, parsed.count, other) && same_decimal(text, other),
          "%s %" PRIx64 ": %s, but the nearest of as many digits is %s", format->name, magnitude, text, other);

    bool plain = parsed.point > -5 && parsed.point <= 16;
    CHECK(plain == (strchr(text, 'e') == NULL), "%s %" PRIx64 ": %s should be %s", format->name, magnitude, text,
          plain ? "plain" : "with an exponent");
}

static void test_known_floats(void)
{
    static const struct {
        float number;
        const char *text;
    } cases[] = {
        {0.0f, "0"},
        {-0.0f, "-0"},
        {1.0f, "1"},
        {-1.5f, "-1.5"},
        {0.1f, "0.1"},
        {0.43f, "0.43"},
        {1.0f / 3, "0.33333334"},
        {120000.0f, "120000"},
        {8388609.0f, "8388609"},
        {16777216.0f, "16777216"},
        {33554432.0f, "33554432"},
        {0x1p-24f, "5.9604645e-8"},
        {1.5e-7f, "1.5e-7"},
        {9.999999e-6f, "9.999999e-6"},
        {1e-5f, "0.00001"},
        {1.2345678e-5f, "0.000012345678"},
        {0x1.1c3792p+53f, "9999999000000000"},
        {1e16f, "1e+16"},
        {1e20f, "1e+20"},
        {FLT_MAX, "3.4028235e+38"},
        {-FLT_MAX, "-3.4028235e+38"},
        {FLT_MIN, "1.1754944e-38"},
        {0x0.fffffep-126f, "1.1754942e-38"},
        {0x1p-149f, "1e-45"},
        {0x7p-149f, "1e-44"},
    };
    check_begin("known floats");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[DECIMAL_BYTES];
        size_t length = decimal_from_float(cases[i].number, text);
        CHECK_TEXT(cases[i].text, text);
        CHECK(length == strlen(cases[i].text), "%s is not %zu long", text, length);
    }
}

static void test_known_doubles(void)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {-2.25, "-2.25"},
        {0.1, "0.1"},
        {4.35, "4.35"},
        {1.0 / 3, "0.3333333333333333"},
        {1e23, "1e+23"},
        {8.41e21, "8.41e+21"},
        {9007199254740991.0, "9007199254740991"},
        {9007199254740993.0, "9007199254740992"},
        {1125899906842624.25, "1125899906842624.2"}, /* as near as ...4.3 */
        {1125899906842624.75, "1125899906842624.8"}, /* as near as ...4.7 */
        {0x1p-44, "5.684341886080802e-14"},          /* ...801e-14 is nearer, but is read as the number below */
        {0x1p+54, "1.8014398509481984e+16"},
        {0x1p+60, "1.152921504606847e+18"},
        {0x1p+977, "1.2773377981022207e+294"},
        {9.999999999999999e-6, "9.999999999999999e-6"},
        {1e-5, "0.00001"},
        {-1.2345678901234568e-5, "-0.000012345678901234568"},
        {9999999999999998.0, "9999999999999998"},
        {1e16, "1e+16"},
        {-1.2345678901234568e+17, "-1.2345678901234568e+17"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {-DBL_MIN, "-2.2250738585072014e-308"},
        {0x0.fffffffffffffp-1022, "2.225073858507201e-308"},
        {0x1p-1074, "5e-324"},
        {0x1p-1073, "1e-323"},
    };
    check_begin("known doubles");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[DECIMAL_BYTES];
        size_t length = decimal_from_double(cases[i].number, text);
        CHECK_TEXT(cases[i].text, text);
        CHECK(length == strlen(cases[i].text), "%s is not %zu long", text, length);
    }
}

static void test_every_exponent(const struct format *format, int random_fractions)
{
    check_begin("%s: every exponent, fractions on the edges and random ones", format->name);
    uint64_t step = (uint64_t)1 << format->fraction_bits;
    for (uint64_t start = 0; start < format->infinity; start += step) {
        for (uint64_t fraction = 0; fraction < 4; fraction++) {
            if (start + fraction > 0)
                check_magnitude(format, start + fraction);
            check_magnitude(format, start + step - 1 - fraction);
        }
        for (uint64_t fraction = 4; fraction < step; fraction *= 2)
            check_magnitude(format, start + fraction);
        for (int i = 0; i < random_fractions; i++)
            check_magnitude(format, start + next_random() % step);
    }
}

/* Where the digits are few and the neighbours need many. */
static void test_short_decimals(const struct format *format)
{
    check_begin("%s: around every decimal of one digit", format->name);
    for (int exponent = -324; exponent <= 308; exponent++)
        for (int digit = 1; digit <= 9; digit++) {
            char text[TEXT_BYTES];
            snprintf(text, sizeof text, "%de%d", digit, exponent);
            uint64_t magnitude = format->read(text);
            for (uint64_t near = magnitude > 3 ? magnitude - 3 : 1; near <= magnitude + 3; near++)
                if (near < format->infinity)
                    check_magnitude(format, near);
        }
}

/* The least distances between 2 c 2^q and a multiple of 10^k, of those on which the bound in decimal.c rests. */
static void test_narrowest_doubles(void)
{
    static const struct {
        uint64_t c;
        int q;
    } cases[] = {
        {5592117679628511, 164},  {2796058839814255, 165},  {2796058839814256, 165},  {2796058839814255, 166},
        {2796058839814256, 166},  {6685530990800801, -866}, {3342765495400400, -865}, {3342765495400401, -865},
        {5789867926332032, 479},  {7237334907915040, 482},  {5654167896808625, 489},  {2827083948404312, 490},
        {2827083948404313, 490},  {3743626360493413, 549},  {7730906791835134, -106}, {7730906791835135, -106},
        {6898586531774200, -548}, {6898586531774201, -548}, {8661224184674796, 98},   {8661224184674797, 98},
    };
    check_begin("double: the narrowest cases");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_magnitude(double_format, double_magnitude(ldexp((double)cases[i].c, cases[i].q)));
}

static void test_smallest(const struct format *format)
{
    check_begin("%s: the %d smallest", format->name, SMALLEST);
    for (uint64_t magnitude = 1; magnitude <= SMALLEST; magnitude++)
        check_magnitude(format, magnitude);
}

static void test_integers(void)
{
    check_begin("integers have neither point nor exponent");
    for (int integer = -INTEGERS; integer <= INTEGERS; integer++) {
        char expected[TEXT_BYTES], text[DECIMAL_BYTES];
        snprintf(expected, sizeof expected, "%d", integer);
        decimal_from_float((float)integer, text);
        CHECK_TEXT(expected, text);
        decimal_from_double((double)integer, text);
        CHECK_TEXT(expected, text);
    }
}

static void test_signs(const struct format *format)
{
    check_begin("%s: the sign changes nothing else", format->name);
    for (int i = 0; i < INTEGERS; i++) {
        char positive[DECIMAL_BYTES], negative[DECIMAL_BYTES];
        uint64_t magnitude = next_random() % format->infinity;
        format->write(magnitude, false, positive);
        size_t length = format->write(magnitude, true, negative);
        CHECK(length == strlen(negative), "%s is not %zu long", negative, length);
        CHECK(negative[0] == '-', "no sign: %s", negative);
        CHECK_TEXT(positive, negative + 1);
    }
}

static void test_doubly_rounded(void)
{
    check_begin("float: the one whose shortest text a reader with doubles takes for another");
    char text[DECIMAL_BYTES];
    write_float(DOUBLY_ROUNDED, false, text);
    CHECK_TEXT("7.0385307e-26", text);
    check_magnitude(float_format, DOUBLY_ROUNDED);
    CHECK(read_float("7.038531e-26") == DOUBLY_ROUNDED, "expected a shorter text for a reader with floats");
    uint64_t through = read_float_through_double("7.038531e-26");
    CHECK(through == DOUBLY_ROUNDED + 1, "expected the next float, got %" PRIx64, through);
}

/* The part is "K/N". */
static void test_all_floats(const char *part)
{
    check_begin("float: all of part %s", part);
    uint64_t k = 0, n = 0;
    bool valid = sscanf(part, "%" SCNu64 "/%" SCNu64, &k, &n) == 2 && 1 <= k && k <= n && n <= 1000;
    if (!CHECK(valid, "ATTN_EXHAUSTIVE is no part such as 1/2: %s", part))
        return;
    uint64_t end = float_format->infinity * k / n;
    for (uint64_t magnitude = float_format->infinity * (k - 1) / n; magnitude < end; magnitude++)
        if (magnitude > 0)
            check_magnitude(float_format, magnitude);
}

/* --- reading, which the C library does as well ------------------------------------------------------------------- */

static void check_read(const char *text)
{
    double number = 0;
    if (CHECK(decimal_to_double(text, strlen(text), &number), "refused: %s", text))
        CHECK(double_magnitude(number) == double_magnitude(strtod(text, NULL)), "%s: expected %a, got %a", text,
              strtod(text, NULL), number);
}

/* Where a digit more or less decides. */
static const char *const EDGES[] = {
    "0",
    "-0",
    "0.0",
    "-0.000",
    "0e999",
    "0e-99999",
    "1",
    "-1",
    "1.",
    ".5",
    "+2",
    "00012",
    "1e5",
    "1E+05",
    "1e-5",
    "9007199254740991",
    "9007199254740993",
    "9007199254740992.9999",
    "9007199254740993.0001",
    "9007199254740995",
    "18446744073709551615",
    "9999999999999999999",
    "0.9999999999999999999",
    "10000000000000000000",
    "18446744073709551616",
    "36893488147419103232",
    "0.00000000000000000000000000000012345678901234567",
    "1.7976931348623157e308",
    "1.7976931348623158e308",
    "1.7976931348623159e308",
    "1e308",
    "1e309",
    "1e9999",
    "1e10000",
    "1e99999999999",
    "2.2250738585072014e-308",
    "2.2250738585072011e-308",
    "4.9406564584124654e-324",
    "2.4703282292062327e-324",
    "2.4703282292062328e-324",
    "1e-400",
    "1e-99999999999",
    "1e23",
    "8.5e22",
    "9.5e-23",
    "5e-324",
    "1e-292",
    "1e-293",
    "123456789e-300",
    "1e324",
    "0.000001e314",
    "6.631236846766476e-316",
    "0.500000000000000166533453693773481063544750213623046875",
    "179769313486231580793e289",
};

static void test_known_decimals(void)
{
    check_begin("read: on the edges");
    for (size_t i = 0; i < sizeof EDGES / sizeof EDGES[0]; i++)
        check_read(EDGES[i]);
    char *zeros = malloc(2 * MANY_ZEROS + 64);
    if (zeros == NULL)
        abort();
    snprintf(zeros, 2 * MANY_ZEROS + 64, "0.%0*de%d", MANY_ZEROS, 12, MANY_ZEROS);
    check_read(zeros);
    snprintf(zeros, 2 * MANY_ZEROS + 64, "12%0*de-%d", MANY_ZEROS, 0, MANY_ZEROS);
    check_read(zeros);
    free(zeros);
    static const char *const OTHERS[] = {"",     "-",   "+",   ".",  "e5", "1e",  "1e+",  "1-",    "1.2.3", "--1",
                                         "0x10", "inf", "nan", "1 ", " 1", "1,5", "1e5.", "1e5e5", "-.",    "1_000"};
    check_begin("read: what is no decimal");
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        double number;
        CHECK(!decimal_to_double(OTHERS[i], strlen(OTHERS[i]), &number), "taken: %s", OTHERS[i]);
    }
}

/* Digits with a point and an exponent anywhere. */
static void test_random_decimals(int count)
{
    check_begin("read: random digits");
    for (int i = 0; i < count; i++) {
        char text[TEXT_BYTES];
        const uint64_t random = next_random();
        const int length = (int)(random % 20) + 1;
        int at = snprintf(text, sizeof text, "%s%0*" PRIu64, random >> 62 == 0 ? "-" : "", length, next_random());
        const int point = (int)((random >> 8) % (uint64_t)at);
        memmove(text + at - point + 1, text + at - point, (size_t)point);
        text[at - point] = '.';
        at++;
        text[at] = '\0';
        if (random >> 32 & 1)
            snprintf(text + at, sizeof text - (size_t)at, "e%d", (int)((random >> 33) % 700) - 350);
        if (strstr(text, "-.") == NULL)
            check_read(text);
    }
}

/* The middle between two doubles, and decimals next to it, as whole numbers; and doubles by their digits. */
static void test_middles(int count)
{
    check_begin("read: middles and their neighbours, and what is written of doubles");
    for (int i = 0; i < count; i++) {
        char text[400];
        const uint64_t random = next_random(), middle = (random >> 10 | (uint64_t)1 << 53 | 1) << (random & 7);
        for (int step = -2; step <= 2; step++) {
            snprintf(text, sizeof text, "%" PRIu64, middle + (uint64_t)(int64_t)step);
            check_read(text);
        }
        const double number = double_of(random % double_format->infinity);
        for (int digits = 1; digits <= 20; digits++) {
            snprintf(text, sizeof text, "%.*e", digits, number);
            check_read(text);
        }
        snprintf(text, sizeof text, "%.*f", (int)(random >> 50 & 31), number);
        check_read(text);
    }
}

/* --- the powers of ten, by long multiplication and division ------------------------------------------------------ */

/* An unsigned integer, the low word first. A power 5^n with n > 0 is made by multiplication, from 2^SMALL_START so that
 * there are always 128 bits to take; 5^-n by division of 2^LARGE_START, which leaves more than 128 bits of even the
 * smallest, 5^-292 > 2^-679. Rounding down after each of n divisions is rounding down once. */
enum { WORDS = 28, SMALL_START = 127, LARGE_START = 32 * WORDS - 1 };

struct integer {
    uint32_t words[WORDS + 1]; /* the last one stays 0: bits_from looks there */
};

static void multiply_by_five(struct integer *integer)
{
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; i++) {
        carry += (uint64_t)integer->words[i] * 5;
        integer->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void divide_by_five(struct integer *integer)
{
    uint64_t remainder = 0;
    for (int i = WORDS - 1; i >= 0; i--) {
        remainder = remainder << 32 | integer->words[i];
        integer->words[i] = (uint32_t)(remainder / 5);
        remainder %= 5;
    }
}

static int bit_length(const struct integer *integer)
{
    int top = WORDS - 1;
    while (integer->words[top] == 0)
        top--;
    int length = 32 * top;
    for (uint32_t word = integer->words[top]; word != 0; word >>= 1)
        length++;
    return length;
}

/* The 32 bits from this one upwards. */
static uint32_t bits_from(const struct integer *integer, int bit)
{
    const uint32_t *word = integer->words + bit / 32;
    return (uint32_t)(((uint64_t)word[1] << 32 | word[0]) >> bit % 32);
}

/* 10^n, and the exponent of its 128 bits. */
static struct decimal_power compute_power(int n, int *exponent)
{
    struct integer five = {{0}};
    int start = n < 0 ? LARGE_START : SMALL_START;
    five.words[start / 32] = (uint32_t)1 << start % 32;
    for (int i = 0; i < n; i++)
        multiply_by_five(&five);
    for (int i = 0; i > n; i--)
        divide_by_five(&five);

    int cut = bit_length(&five) - 128;
    struct decimal_power power = {
        .high = (uint64_t)bits_from(&five, cut + 96) << 32 | bits_from(&five, cut + 64),
        .low = (uint64_t)bits_from(&five, cut + 32) << 32 | bits_from(&five, cut),
    };
    *exponent = n - start + cut;
    power.low++; /* above also where it was exact, so that decimal.c need not tell the two apart */
    power.high += power.low == 0;
    return power;
}

static void check_powers(void)
{
    check_begin("powers of ten");
    for (int n = DECIMAL_LOWEST_POWER; n <= DECIMAL_HIGHEST_POWER; n++) {
        int exponent;
        const struct decimal_power expected = compute_power(n, &exponent),
                                   got = DECIMAL_POWERS[n - DECIMAL_LOWEST_POWER];
        CHECK(got.high == expected.high && got.low == expected.low && decimal_power_exponent(n) == exponent,
              "10^%d: expected %016" PRIx64 " %016" PRIx64 " x 2^%d, got %016" PRIx64 " %016" PRIx64 " x 2^%d", n,
              expected.high, expected.low, exponent, got.high, got.low, decimal_power_exponent(n));
    }
}

int main(void)
{
    test_known_floats();
    test_known_doubles();
    const bool quick = getenv("ATTN_QUICK") != NULL;
    if (quick)
        puts("ATTN_QUICK: every tenth of the random numbers");
    test_every_exponent(float_format, quick ? RANDOM_FLOATS / 10 : RANDOM_FLOATS);
    test_every_exponent(double_format, quick ? RANDOM_DOUBLES / 10 : RANDOM_DOUBLES);
    for (int i = 0; i < 2; i++) {
        test_short_decimals(&formats[i]);
        test_smallest(&formats[i]);
        test_signs(&formats[i]);
    }
    test_narrowest_doubles();
    test_integers();
    test_doubly_rounded();
    test_known_decimals();
    test_random_decimals(quick ? RANDOM_DECIMALS / 10 : RANDOM_DECIMALS);
    test_middles(quick ? RANDOM_MIDDLES / 10 : RANDOM_MIDDLES);
    check_powers();
    if (getenv("ATTN_EXHAUSTIVE") != NULL)
        test_all_floats(getenv("ATTN_EXHAUSTIVE"));
    return check_end();
}
