/* SPDX-License-Identifier: MIT */
/* .npy: what NumPy writes is read, number for number; what it would not write is refused with a reason. */
#include "check.h"
#include "read/npy.h"
#include "support.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_BYTES = 512 };

/* --- goldens ----------------------------------------------------------------------------------------------------- */

/* What tests/golden/binary/make_binary.py says of an array's numbers. */
static double golden_number(enum dtype dtype, size_t k)
{
    if (dtype == DTYPE_BOOL)
        return k % 3 == 0;
    return dtype == DTYPE_I64 ? (double)k - 5 : ((double)k - 5) / 2;
}

static void check_golden(const char *name, enum dtype dtype, size_t rank)
{
    static const size_t SHAPES[2][3] = {{3, 4}, {2, 3, 2}};
    char path[128];
    size_t length;
    double numbers[12];
    struct arena arena = {0};
    struct input_file input;
    struct error error = {0};
    snprintf(path, sizeof path, "tests/golden/binary/%s.npy", name);
    check_begin("%s", path);
    unsigned char *bytes = (unsigned char *)support_bytes(path, &length);
    enum status status = named_tensors_read(npy_read, path, bytes, length, INPUT_FILE_INPUTS, &arena, &input, &error);
    if (CHECK(status == STATUS_OK, "expected an array, got: %s", error.message) &&
        CHECK(input.tensor_count == 1 && !input.is_text, "expected one tensor, got %zu", input.tensor_count)) {
        const struct tensor *tensor = &input.tensors[0].tensor;
        CHECK_TEXT("inputs", input.tensors[0].name);
        CHECK(tensor->dtype == dtype, "expected %s, got %s", dtype_name(dtype), dtype_name(tensor->dtype));
        CHECK(tensor->rank == rank && memcmp(tensor->shape, SHAPES[rank - 2], rank * sizeof(size_t)) == 0,
              "expected %zu axes of the shape written, got %zu", rank, tensor->rank);
        tensor_load(tensor, 0, 12, numbers);
        for (size_t k = 0; k < 12; k++)
            CHECK(numbers[k] == golden_number(dtype, k), "number %zu: expected %g, got %g", k, golden_number(dtype, k),
                  numbers[k]);
    }
    arena_free(&arena);
    free(bytes);
}

static void check_goldens(void)
{
    static const struct {
        const char *name;
        enum dtype dtype;
        size_t rank;
    } FILES[] = {
        {"little-f4", DTYPE_F32, 2}, {"little-f4-fortran", DTYPE_F32, 2},
        {"big-f4", DTYPE_F32, 2},    {"big-f4-fortran", DTYPE_F32, 2},
        {"little-f8", DTYPE_F64, 2}, {"little-f8-fortran", DTYPE_F64, 2},
        {"big-f8", DTYPE_F64, 2},    {"big-f8-fortran", DTYPE_F64, 2},
        {"little-f2", DTYPE_F16, 2}, {"little-f2-fortran", DTYPE_F16, 2},
        {"big-f2", DTYPE_F16, 2},    {"big-f2-fortran", DTYPE_F16, 2},
        {"little-i8", DTYPE_I64, 2}, {"little-i8-fortran", DTYPE_I64, 2},
        {"big-i8", DTYPE_I64, 2},    {"big-i8-fortran", DTYPE_I64, 2},
        {"b1", DTYPE_BOOL, 2},       {"b1-fortran", DTYPE_BOOL, 2},
        {"batch", DTYPE_F32, 3},     {"batch-fortran", DTYPE_F64, 3},
        {"version-2", DTYPE_F32, 2}, {"version-3", DTYPE_F32, 2},
    };
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++)
        check_golden(FILES[i].name, FILES[i].dtype, FILES[i].rank);
}

/* --- headers ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *dict;    /* the header, as it is */
    size_t bytes;        /* of zeros behind it */
    const char *message; /* without "file: "; NULL: it is read */
} HEADERS[] = {
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24, NULL},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", 24, NULL},
    {"{'shape':(2,3),'fortran_order':True,'descr':'>f8'}", 48, NULL},
    {"  { \"shape\" : ( 2 , 3 , ) ,\"descr\" : \"|b1\" , 'fortran_order' :False,}  \n", 6, NULL},
    {"{'descr': '=i8', 'fortran_order': False, 'shape': (7,)}", 56, NULL},
    {"{'descr': '|f2', 'fortran_order': False, 'shape': (1, 1, 1, 1)}", 2, NULL},
    /* the literal */
    {"", 0, "byte 1 of the header: expected '{', got its end"},
    {"{", 0, "byte 2 of the header: expected a string, got its end"},
    {"[]", 0, "byte 1 of the header: expected '{', got '['"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)", 24,
     "byte 57 of the header: expected '}', got its end"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x", 24,
     "byte 59 of the header: expected nothing after the dict, got 'x'"},
    {"{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3)}", 24, "byte 17 of the header: expected '}', got '''"},
    {"{'descr': '<f4',, 'fortran_order': False, 'shape': (2, 3)}", 24,
     "byte 17 of the header: expected a string, got ','"},
    {"{'descr' '<f4'}", 0, "byte 10 of the header: expected ':', got '''"},
    {"{'descr': '<f4", 0, "byte 15 of the header: expected the end of a string, got its end"},
    {"{'descr': '<f\\x34'}", 0, "byte 14 of the header: expected the end of a string, got '\\'"},
    {"{'descr\n': '<f4'}", 0, "byte 8 of the header: expected the end of a string, got byte 0x0a"},
    {"{'descr\": '<f4'}", 0, "header: unknown key 'descr\": '; expected descr, fortran_order and shape, once each"},
    {"{'descr': <f4}", 0, "byte 11 of the header: expected a string, got '<'"},
    {"{'descr': [('a', '<f4'), ('b', '<i8')], 'fortran_order': False, 'shape': (2,)}", 24,
     "the array has a record for each element; expected numbers: f4, f8, f2, i4, i8 or b1"},
    {"{'fortran_order': false}", 0, "byte 19 of the header: expected True or False, got 'f'"},
    {"{'fortran_order': 0}", 0, "byte 19 of the header: expected True or False, got '0'"},
    {"{'fortran_order': Fal", 0, "byte 19 of the header: expected True or False, got 'F'"},
    {"{'shape': 6}", 0, "byte 11 of the header: expected '(', got '6'"},
    {"{'shape': [2, 3]}", 0, "byte 11 of the header: expected '(', got '['"},
    {"{'shape': (6)}", 0, "byte 13 of the header: expected ',', got ')'"},
    {"{'shape': (,)}", 0, "byte 12 of the header: expected a size without a leading 0, got ','"},
    {"{'shape': (2, 03)}", 0, "byte 15 of the header: expected a size without a leading 0, got '0'"},
    {"{'shape': (-2, 3)}", 0, "byte 12 of the header: expected a size without a leading 0, got '-'"},
    {"{'shape': (2.0, 3)}", 0, "byte 13 of the header: expected ',', got '.'"},
    {"{'shape': (2L, 3)}", 0, "byte 13 of the header: expected ',', got 'L'"},
    {"{'shape': (2, 3", 0, "byte 16 of the header: expected ')', got its end"},
    {"{'shape': (99999999999999999999, 3)}", 0, "the shape is larger than any memory"},
    {"{'shape': (18446744073709551616, 3)}", 0, "the shape is larger than any memory"},
    /* the keys */
    {"{}", 0, "header: no 'descr'; expected descr, fortran_order and shape"},
    {"{'descr': '<f4', 'shape': (2, 3)}", 24, "header: no 'fortran_order'; expected descr, fortran_order and shape"},
    {"{'descr': '<f4', 'fortran_order': False}", 24, "header: no 'shape'; expected descr, fortran_order and shape"},
    {"{'descr': '<f4', 'descr': '<f4'}", 24,
     "header: a second 'descr'; expected descr, fortran_order and shape, once each"},
    {"{'order': True}", 0, "header: unknown key 'order'; expected descr, fortran_order and shape, once each"},
    {"{'a key that is longer than any of those expected': 1}", 0,
     "header: unknown key 'a key that is longer than any o'; expected descr, fortran_order and shape, once each"},
    /* what they say */
    {"{'descr': '<f16', 'fortran_order': False, 'shape': (2, 3)}", 96,
     "inputs: attn does not read dtype '<f16'; expected f4, f8, f2, i4, i8 or b1"},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (2, 3)}", 48,
     "inputs: attn does not read dtype '<c8'; expected f4, f8, f2, i4, i8 or b1"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}", 48,
     "inputs: attn does not read dtype '|O'; expected f4, f8, f2, i4, i8 or b1"},
    {"{'descr': 'f4', 'fortran_order': False, 'shape': (2, 3)}", 24,
     "inputs: attn does not read dtype 'f4'; expected f4, f8, f2, i4, i8 or b1"},
    {"{'descr': '', 'fortran_order': False, 'shape': (2, 3)}", 24,
     "inputs: attn does not read dtype ''; expected f4, f8, f2, i4, i8 or b1"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, "inputs is a single number; expected a list or more"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1)}", 4, "inputs has 5 axes, expected at most 4"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3)}", 0, "inputs is empty; expected numbers"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9999999999999, 9999999999999)}", 0,
     SUPPORT_BITS("inputs is empty; expected numbers", "the shape is larger than any memory")},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", 23,
     "23 bytes of numbers, expected 24: 2 x 3 of f32; the file is cut short"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", 25, "25 bytes of numbers, expected 24: 2 x 3 of f32"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 0,
     "0 bytes of numbers, expected 8: 2 numbers of f32; the file is cut short"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 0,
     SUPPORT_BITS("4294967296 x 4294967296 of f32 are larger than any memory", "the shape is larger than any memory")},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 536870912)}", 0,
     SUPPORT_BITS("4294967296 x 536870912 of f64 are larger than any memory", "the shape is larger than any memory")},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693953,)}", 8,
     SUPPORT_BITS("2305843009213693953 numbers of f64 are larger than any memory",
                  "the shape is larger than any memory")},
};

static void check_message(const char *message, const unsigned char *bytes, size_t length)
{
    char expected[256];
    struct error error;
    support_binary(npy_read, bytes, length, &error);
    snprintf(expected, sizeof expected, "%s%s", message ? "file: " : "", message ? message : "");
    CHECK_TEXT(expected, error.message);
}

/* A file of that header in each version, wherever its numbers come to lie. */
static void check_headers(void)
{
    for (size_t i = 0; i < sizeof HEADERS / sizeof HEADERS[0]; i++)
        for (int version = 1; version <= 3; version++) {
            const size_t prefix = version == 1 ? 10 : 12, length = strlen(HEADERS[i].dict);
            unsigned char bytes[FILE_BYTES] = "\x93NUMPY";
            check_begin("version %d, %s and %zu bytes", version, HEADERS[i].dict, HEADERS[i].bytes);
            bytes[6] = (unsigned char)version;
            bytes[8] = (unsigned char)length;
            memcpy(bytes + prefix, HEADERS[i].dict, length);
            check_message(HEADERS[i].message, bytes, prefix + length + HEADERS[i].bytes);
        }
}

static void check_prefixes(void)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } PREFIXES[] = {
        {"\x93", 1, "begins like a .npy, but is cut short"},
        {"\x93NUMPY\1\0\0", 9, "begins like a .npy, but is cut short"},
        {"\x93NUMPY\2\0\0\0\0", 11, "begins like a .npy, but is cut short"},
        {"\x93NUMPX\1\0\0\0", 10, "begins like a .npy, but not with \"\\x93NUMPY\""},
        {"\x93NUMPY\0\0\0\0", 10, "version 0.0 of .npy is unknown; expected 1.0, 2.0 or 3.0"},
        {"\x93NUMPY\1\1\0\0", 10, "version 1.1 of .npy is unknown; expected 1.0, 2.0 or 3.0"},
        {"\x93NUMPY\4\0\0\0\0\0", 12, "version 4.0 of .npy is unknown; expected 1.0, 2.0 or 3.0"},
        {"\x93NUMPY\1\0\xff\xff{}", 12, "a header of 65535 bytes, but only 2 follow; the file is cut short"},
        {"\x93NUMPY\2\0\xff\xff\xff\xff{}", 14,
         "a header of 4294967295 bytes, but only 2 follow; the file is cut short"},
        {"\x93NUMPY\1\0\0\0{}", 12, "byte 1 of the header: expected '{', got its end"},
    };
    for (size_t i = 0; i < sizeof PREFIXES / sizeof PREFIXES[0]; i++) {
        check_begin("prefix %zu", i);
        check_message(PREFIXES[i].message, (const unsigned char *)PREFIXES[i].bytes, PREFIXES[i].length);
    }
}

static void check_numbers(void)
{
    static const char HEADER[] = "\x93NUMPY\1\0\x36\0{'descr':'>f8','fortran_order':True,'shape':(1,2)}   \n";
    unsigned char bytes[sizeof HEADER - 1 + 16];
    memcpy(bytes, HEADER, sizeof HEADER - 1);
    check_begin("a number that is not finite");
    memcpy(bytes + sizeof HEADER - 1, "\0\0\0\0\0\0\0\0\x7f\xf0\0\0\0\0\0\0", 16);
    check_message("inputs: row 1, column 2: Infinity is not finite; expected a finite number", bytes, sizeof bytes);
    check_begin("a number that overflows float32");
    memcpy(bytes + sizeof HEADER - 1, "\0\0\0\0\0\0\0\0\x7f\xe0\0\0\0\0\0\0", 16);
    check_message("inputs: row 1, column 2: 8.98846567431158e+307 overflows float32; expected at most 3.4028235e+38 in "
                  "magnitude",
                  bytes, sizeof bytes);
}

/* Where nothing needs to be changed, the tensor lies in the file. */
static void check_zero_copy(void)
{
    size_t length;
    struct arena arena = {0};
    struct input_file input;
    struct error error = {0};
    unsigned char *bytes = (unsigned char *)support_bytes("tests/golden/binary/little-f4.npy", &length);
    check_begin("numbers stay in the file");
    named_tensors_read(npy_read, "file", bytes, length, INPUT_FILE_INPUTS, &arena, &input, &error);
    const unsigned short one = 1;
    if (*(const unsigned char *)&one == 1)
        CHECK(input.tensors[0].tensor.data == bytes + 128, "expected the tensor at byte 128 of the file");
    arena_free(&arena);
    free(bytes);
}

/* --- a file that another program changes ------------------------------------------------------------------------- */

/* A byte that is asked for and one that is not, in turn; the process ends when it is told to, or by itself after a while. */
static void change_byte(volatile unsigned char *byte)
{
    alarm(60);
    for (;;) {
        *byte = 'x';
        *byte = '(';
    }
}

/* What is told of a header is what was found in it. */
static void check_changing_header(void)
{
    static const char FILE_TEXT[] = "\x93NUMPY\1\0\x36\0{'descr':'<f4','fortran_order':False,'shape':(1,1)}  \n1234";
    enum { MOST_RUNS = 500000, SAMPLE = 100000, TURNS = 20000, LENGTH = sizeof FILE_TEXT - 1, PLACE = 55 };
    check_begin("a header that changes while it is read");
    unsigned char *bytes = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(bytes != MAP_FAILED, "expected shared memory"))
        return;
    memcpy(bytes, FILE_TEXT, LENGTH);
    CHECK(bytes[PLACE] == '(', "expected the shape at byte %d, got '%c'", PLACE, bytes[PLACE]);
    const pid_t other = fork();
    if (other == 0)
        change_byte(&bytes[PLACE]);
    CHECK(other > 0, "expected another process");
    enum status before = STATUS_OK;
    const int most = getenv("ATTN_QUICK") != NULL ? SAMPLE : MOST_RUNS;
    for (int i = 0, turns = 0; i < most && turns < TURNS; i++) {
        struct arena arena = {0};
        struct input_file input;
        struct error error = {0};
        const enum status status =
            named_tensors_read(npy_read, "file", bytes, LENGTH, INPUT_FILE_INPUTS, &arena, &input, &error);
        turns += status != before;
        before = status;
        if (status != STATUS_OK && !CHECK_TEXT("file: byte 46 of the header: expected '(', got 'x'", error.message))
            turns = TURNS;
        arena_free(&arena);
    }
    if (other > 0) {
        kill(other, SIGKILL);
        waitpid(other, NULL, 0);
    }
    munmap(bytes, LENGTH);
}

int main(void)
{
    check_goldens();
    check_headers();
    check_prefixes();
    check_numbers();
    check_zero_copy();
    check_changing_header();
    support_distort(npy_read, "tests/golden/binary/little-f4.npy", true);
    support_distort(npy_read, "tests/golden/binary/big-f2-fortran.npy", true);
    support_distort(npy_read, "tests/golden/binary/batch-fortran.npy", false);
    support_distort(npy_read, "tests/golden/binary/version-3.npy", true);
    return check_end();
}
