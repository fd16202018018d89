/* SPDX-License-Identifier: MIT */
/* Exact decimals against sums and products worked out by hand, and against whole numbers that a machine word holds. */
#include "base/decimal_exact.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

static struct decimal_exact read(const char *text)
{
    struct decimal_exact number = {0};
    CHECK(decimal_exact_read(text, &number), "expected '%s' to be read", text);
    return number;
}

static void check_sum(const char *a, const char *b, const char *sum, bool equal)
{
    struct decimal_exact left = read(a), right = read(sum);
    const struct decimal_exact number = read(b);
    check_begin("%s + %s, %s", a, b, sum);
    decimal_exact_add(&left, &number, 1);
    CHECK(decimal_exact_equal(&left, &right) == equal, "expected %s", equal ? "equal" : "not equal");
    decimal_exact_add(&left, &number, -1);
    right = read(a);
    CHECK(decimal_exact_equal(&left, &right), "expected %s again", a);
}

static void check_product(const char *a, const char *b, const char *expected, bool equal)
{
    const struct decimal_exact left = read(a), right = read(b), number = read(expected);
    struct decimal_exact product;
    check_begin("%s x %s, %s", a, b, expected);
    decimal_exact_multiply(&left, &right, &product);
    CHECK(decimal_exact_equal(&product, &number) == equal, "expected %s", equal ? "equal" : "not equal");
}

/* Sums of products of numbers with four decimals, as whole numbers of 1e-8. */
static void check_random(void)
{
    check_begin("dot products of random decimals");
    srand(5);
    for (int round = 0; round < 500; round++) {
        struct decimal_exact sum = {0}, product;
        long long expected = 0;
        char text[64];
        for (int i = 0; i < 20; i++) {
            const int a = rand() % 2000001 - 1000000, b = rand() % 20001 - 10000;
            snprintf(text, sizeof text, "%.4f", a / 1e4);
            const struct decimal_exact left = read(text);
            snprintf(text, sizeof text, "%.4e", b / 1e4);
            const struct decimal_exact right = read(text);
            decimal_exact_multiply(&left, &right, &product);
            decimal_exact_add(&sum, &product, 1);
            expected += (long long)a * b;
        }
        snprintf(text, sizeof text, "%s%lld.%08lld", expected < 0 ? "-" : "", llabs(expected) / 100000000,
                 llabs(expected) % 100000000);
        const struct decimal_exact right = read(text);
        CHECK(decimal_exact_equal(&sum, &right), "expected %s", text);
    }
}

/* A number with digits beyond those that are kept equals nothing, itself included, and so does what is made of it. */
static void check_lost(const struct decimal_exact *number)
{
    const struct decimal_exact zero = read("0"), one = read("1");
    struct decimal_exact sum = read("1"), product;
    CHECK(!decimal_exact_equal(number, number), "expected it to equal nothing");
    CHECK(!decimal_exact_equal(number, &zero) && !decimal_exact_equal(&zero, number), "expected it not to be 0");
    decimal_exact_add(&sum, number, -1);
    CHECK(!decimal_exact_equal(&sum, &one), "expected a sum with it to equal nothing");
    decimal_exact_multiply(&one, number, &product);
    CHECK(!decimal_exact_equal(&product, &product), "expected a product of it to equal nothing");
}

/* At the ends of the digits that are kept, and beyond. */
static void check_ends(void)
{
    static const char *const FAR[] = {"1e-685", "1e+684", "-1.5e-684", "1e-999999999", "1e+999999999999999999999"};
    const struct decimal_exact least = read("1e-684"), most = read("9e+683"), zero = read("0.000000");
    struct decimal_exact product, sum = read("8e+683");
    check_product("1e-342", "1e-342", "1e-684", true);
    check_product("1e-684", "1.000000000000000", "1e-684", true);
    check_product("1e-684", "0.0000000000000000", "0", true);
    check_sum("8e+683", "1e+683", "9e+683", true);
    check_begin("0 times the least number is 0");
    decimal_exact_multiply(&zero, &least, &product);
    CHECK(decimal_exact_equal(&product, &zero), "expected 0");
    check_begin("a product below the last digit");
    decimal_exact_multiply(&least, &least, &product);
    check_lost(&product);
    check_begin("a product above the first digit");
    decimal_exact_multiply(&most, &most, &product);
    check_lost(&product);
    check_begin("a sum above the first digit");
    decimal_exact_add(&sum, &most, 1);
    check_lost(&sum);
    for (size_t i = 0; i < sizeof FAR / sizeof FAR[0]; i++) {
        check_begin("%s", FAR[i]);
        const struct decimal_exact number = read(FAR[i]);
        check_lost(&number);
    }
}

int main(void)
{
    static const char *const NONE[] = {"", "nan", "inf", "-inf", "-", "1.5x"};
    check_sum("0.1", "0.2", "0.3", true);
    check_sum("0.1", "0.2", "0.3000000000000000444", false);
    check_sum("-1", "0.0001", "-0.9999", true);
    check_sum("999999999", "1", "1e+09", true);
    check_sum("1e+308", "1e-323", "1e+308", false);
    check_sum("1.0000", "-1", "-0.0000", true);
    check_product("0.5500", "0.2961", "0.162855", true);
    check_product("0.5500", "0.2961", "0.1629", false);
    check_product("-1.5e-07", "2e+03", "-0.0003", true);
    check_product("4.94065645841246544e-324", "4.94065645841246544e-324", "0", false);
    check_product("1.79769313486231571e+308", "10", "1.79769313486231571e+309", true);
    check_product("123456789.123456789", "987654321.987654321", "121932631356500531.347203169112635269", true);
    check_product("0.0000", "-3", "0", true);
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++) {
        struct decimal_exact number;
        check_begin("'%s' is no decimal", NONE[i]);
        CHECK(!decimal_exact_read(NONE[i], &number), "expected it to be refused");
    }
    check_random();
    check_ends();
    return check_end();
}
