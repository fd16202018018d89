/* SPDX-License-Identifier: MIT */
/* .safetensors: what the safetensors package writes is read, number for number; a header that lies is refused. */
#include "check.h"
#include "read/safetensors.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 2048 };

/* --- goldens ----------------------------------------------------------------------------------------------------- */

/* What tests/golden/binary/make_binary.py says of a tensor's numbers. */
static double golden_number(enum dtype dtype, size_t k)
{
    if (dtype == DTYPE_BOOL)
        return k % 3 == 0;
    return dtype == DTYPE_I64 ? (double)k - 5 : ((double)k - 5) / 2;
}

static void check_tensor(const struct input_file *input, const char *name, enum dtype dtype, size_t count)
{
    double numbers[12];
    const struct file_tensor *found = input_file_find(input, name);
    check_begin("dtypes.safetensors: %s", name);
    if (!CHECK(found != NULL, "expected a tensor"))
        return;
    CHECK(found->tensor.dtype == dtype, "expected %s, got %s", dtype_name(dtype), dtype_name(found->tensor.dtype));
    if (!CHECK(tensor_count(&found->tensor) == count, "expected %zu numbers, got %zu", count,
               tensor_count(&found->tensor)))
        return;
    tensor_load(&found->tensor, 0, count, numbers);
    for (size_t k = 0; k < count; k++)
        CHECK(numbers[k] == golden_number(dtype, k), "number %zu: expected %g, got %g", k, golden_number(dtype, k),
              numbers[k]);
}

static void check_metadata(const struct input_file *input)
{
    check_begin("dtypes.safetensors: tokens and settings");
    if (CHECK(input->tokens.count == 3 && input->tokens.lists == 1 && !input->tokens.nested,
              "expected one list of 3 tokens, got %zu of %zu", input->tokens.lists, input->tokens.count)) {
        CHECK_TEXT("a", input->tokens.texts[0]);
        CHECK_TEXT("\xc3\xa9", input->tokens.texts[1]);
        CHECK_TEXT("c", input->tokens.texts[2]);
    }
    if (CHECK(input->setting_count == 2, "expected 2 settings, got %zu", input->setting_count)) {
        CHECK_TEXT("seed", input->settings[0].name);
        CHECK_TEXT("7", input->settings[0].text);
        CHECK_TEXT("causal", input->settings[1].name);
        CHECK_TEXT("false", input->settings[1].text);
    }
}

static void check_golden(void)
{
    size_t length;
    struct arena arena = {0};
    struct input_file input;
    struct error error = {0};
    const unsigned kinds = INPUT_FILE_INPUTS | INPUT_FILE_PARAMETER | INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS;
    unsigned char *bytes = (unsigned char *)support_bytes("tests/golden/binary/dtypes.safetensors", &length);
    check_begin("dtypes.safetensors");
    enum status status = named_tensors_read(safetensors_read, "dtypes", bytes, length, kinds, &arena, &input, &error);
    if (CHECK(status == STATUS_OK, "expected tensors, got: %s", error.message)) {
        CHECK(input.tensor_count == 7 && !input.is_text, "expected 7 tensors, got %zu", input.tensor_count);
        check_tensor(&input, "inputs", DTYPE_F64, 12);
        check_tensor(&input, "W_query", DTYPE_F32, 8);
        check_tensor(&input, "W_key", DTYPE_F16, 8);
        check_tensor(&input, "W_value", DTYPE_BF16, 8);
        check_tensor(&input, "W_query.bias", DTYPE_I64, 2);
        check_tensor(&input, "W_key.bias", DTYPE_BOOL, 2);
        check_tensor(&input, "W_value.bias", DTYPE_BOOL, 2);
        check_metadata(&input);
    }
    arena_free(&arena);
    check_begin("dtypes.safetensors: the parameters alone");
    status =
        named_tensors_read(safetensors_read, "dtypes", bytes, length, INPUT_FILE_PARAMETER, &arena, &input, &error);
    CHECK(status == STATUS_OK && input.tensor_count == 6 && input.tokens.texts == NULL && input.setting_count == 0,
          "expected 6 tensors and nothing else, got %zu, %zu tokens, %zu settings", input.tensor_count,
          input.tokens.count, input.setting_count);
    arena_free(&arena);
    free(bytes);
}

/* --- headers ----------------------------------------------------------------------------------------------------- */

#define INPUTS "\"inputs\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]}"
#define MEMBERS "; expected dtype, shape and data_offsets"

static const struct {
    const char *header;
    size_t bytes;        /* of zeros behind it */
    const char *message; /* without "file: "; NULL: it is read */
} HEADERS[] = {
    {"{" INPUTS "}", 8, NULL},
    {"{}", 0, NULL},
    {"{ " INPUTS " }    ", 8, NULL},
    {"{\"__metadata__\":{}," INPUTS "}", 8, NULL},
    {"{\"__metadata__\":{\"format\":\"pt\",\"seed\":\"x\"}," INPUTS "}", 8, NULL},
    {"{\"__metadata__\":{\"tokens\":\"[\\\"a\\\"]\",\"settings\":\"{}\"}," INPUTS "}", 8, NULL},
    {"{" INPUTS ",\"W_key\":{\"data_offsets\":[8,10],\"dtype\":\"BOOL\",\"shape\":[1,2]}}", 10, NULL},
    {"{\"W_key\":{\"data_offsets\":[8,10],\"dtype\":\"F16\",\"shape\":[1]}," INPUTS "}", 10, NULL},
    /* what is ignored may be anything, but lies where it says */
    {"{\"mask\":{\"dtype\":\"F8_E8M0\",\"shape\":[2,1],\"data_offsets\":[0,2]}}", 2, NULL},
    {"{\"mask\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4, NULL},
    {"{\"context\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, NULL},
    {"{\"mask\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}," INPUTS "}", 8, NULL},
    {"{\"mask\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4,
     "mask: data_offsets: 0 to 4 are 4 bytes, but shape and dtype need 8"},
    {"{\"mask\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,9]}}", 8,
     "mask: data_offsets: 0 to 9, but the data are 8 bytes; the file is cut short or its header wrong"},
    /* the grammar */
    {"{" INPUTS ",}", 8, "header:1:62: expected a key in double quotes after ',', got '}'"},
    {"{" INPUTS, 8, "header:1:61: expected ',' or '}', got end of input"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[02,1],\"data_offsets\":[0,8]}}", 8,
     "header:1:36: expected no digit after a leading 0, got '2'"},
    {"{" INPUTS "," INPUTS "}", 8, "key 'inputs' is given twice; leave one out"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "key '__metadata__' is given twice; leave one out"},
    /* __metadata__ */
    {"{\"__metadata__\":[]," INPUTS "}", 8, "__metadata__: expected an object, got an array"},
    {"{\"__metadata__\":{\"format\":1}," INPUTS "}", 8, "__metadata__: format: expected a string, got a number"},
    {"{\"__metadata__\":{\"settings\":{}}," INPUTS "}", 8, "__metadata__: settings: expected a string, got an object"},
    {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}," INPUTS "}", 8,
     "__metadata__: key 'a' is given twice; leave one out"},
    {"{\"__metadata__\":{\"settings\":\"{\"}," INPUTS "}", 8,
     "__metadata__: settings:1:2: expected a key in double quotes or '}', got end of input"},
    {"{\"__metadata__\":{\"settings\":\"\"}," INPUTS "}", 8,
     "__metadata__: settings: the input is empty; expected a JSON object"},
    {"{\"__metadata__\":{\"settings\":\"3\"}," INPUTS "}", 8, "settings: expected an object, got a number"},
    {"{\"__metadata__\":{\"tokens\":\"[1]\"}," INPUTS "}", 8, "tokens: token 1: expected a string, got a number"},
    {"{\"__metadata__\":{\"tokens\":\"[]\"}," INPUTS "}", 8,
     "tokens is empty; expected a string for each row of inputs"},
    /* names */
    {"{\"W_qeury\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     "unknown key 'W_qeury'; did you mean 'W_query'?"},
    {"{\"tokens\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     "tokens is a tensor; write it as JSON text in __metadata__"},
    {"{\"settings\":{}}", 0, "settings is a tensor; write it as JSON text in __metadata__"},
    /* a tensor's description */
    {"{\"inputs\":[[1,2]]}", 0, "inputs: expected an object with dtype, shape and data_offsets, got an array"},
    {"{\"inputs\":null}", 0, "inputs: expected an object with dtype, shape and data_offsets, got null"},
    {"{\"inputs\":{}}", 0, "inputs: no dtype" MEMBERS},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1]}}", 0, "inputs: no data_offsets" MEMBERS},
    {"{\"inputs\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 0, "inputs: a second 'dtype'" MEMBERS ", once each"},
    {"{\"inputs\":{\"strides\":[1]}}", 0, "inputs: unknown key 'strides'" MEMBERS ", once each"},
    {"{\"inputs\":{\"dtype\":32}}", 0, "inputs: dtype: expected a string, got a number"},
    {"{\"inputs\":{\"shape\":1}}", 0, "inputs: shape: expected an array, got a number"},
    {"{\"inputs\":{\"data_offsets\":{}}}", 0, "inputs: data_offsets: expected an array, got an object"},
    {"{\"inputs\":{\"dtype\":\"F8_E8M0\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4,
     "inputs: attn does not read dtype 'F8_E8M0'; expected F32, F64, F16, BF16, F8_E4M3, F8_E5M2, I32, I64 or "
     "BOOL"},
    {"{\"inputs\":{\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     "inputs: attn does not read dtype 'f32'; expected F32, F64, F16, BF16, F8_E4M3, F8_E5M2, I32, I64 or BOOL"},
    /* shapes */
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4,
     "inputs is a single number; expected a list or more"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
     "inputs has 5 axes, expected at most 4"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[0,0]}}", 0, "inputs is empty; expected numbers"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[-1,3],\"data_offsets\":[0,4]}}", 4,
     "inputs: shape: -1 is not a size; expected a whole number from 0 to 2^53"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,4]}}", 4,
     "inputs: shape: 1.5 is not a size; expected a whole number from 0 to 2^53"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1e300],\"data_offsets\":[0,4]}}", 4,
     "inputs: shape: 1e+300 is not a size; expected a whole number from 0 to 2^53"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1e999],\"data_offsets\":[0,4]}}", 4,
     "inputs: shape: inf is not a size; expected a whole number from 0 to 2^53"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[\"1\"],\"data_offsets\":[0,4]}}", 4,
     "inputs: shape: expected whole numbers, got a string"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]}}", 4,
     SUPPORT_BITS("inputs: its shape is larger than any memory",
                  "inputs: shape: 4294967296 is larger than any memory")},
    {"{\"inputs\":{\"dtype\":\"F64\",\"shape\":[4294967296,1073741824],\"data_offsets\":[0,8]}}", 8,
     SUPPORT_BITS("inputs: data_offsets: 0 to 8 are 8 bytes, but shape and dtype need more than 18446744073709551615",
                  "inputs: shape: 4294967296 is larger than any memory")},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[0,8]}}", 8,
     "inputs: data_offsets: 0 to 8 are 8 bytes, but shape and dtype need 4"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[3,1],\"data_offsets\":[0,8]}}", 8,
     "inputs: data_offsets: 0 to 8 are 8 bytes, but shape and dtype need 12"},
    /* places */
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[]}}", 4,
     "inputs: data_offsets: expected whole numbers, got too few"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4,
     "inputs: data_offsets: expected whole numbers, got too few"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,4]}}", 4,
     "inputs: data_offsets: expected 2 numbers, got 3"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4,
     "inputs: data_offsets: 4 to 0 runs backwards"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", 4,
     "inputs: data_offsets: -4 is not a size; expected a whole number from 0 to 2^53"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[1,5]}}", 4,
     "inputs: data_offsets: 1 to 5, but the data are 4 bytes; the file is cut short or its header wrong"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[18446744073709551612,18446744073709551616]}}", 4,
     "inputs: data_offsets: 1.844674407370955e+19 is not a size; expected a whole number from 0 to 2^53"},
    {"{\"inputs\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8,
     "bytes 0 to 4 belong to no tensor, before inputs; expected no gap"},
    {"{" INPUTS "}", 9, "the data are 9 bytes, but from 8 on they belong to no tensor"},
    {"{}", 1, "the data are 1 bytes, but from 0 on they belong to no tensor"},
    {"{" INPUTS ",\"W_key\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8,
     "W_key overlaps inputs: it begins at 4, the other one ends at 8"},
    {"{" INPUTS ",\"W_key\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[7,11]}}", 11,
     "W_key overlaps inputs: it begins at 7, the other one ends at 8"},
    {"{" INPUTS ",\"W_key\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
     "inputs overlaps W_key: it begins at 0, the other one ends at 8"},
    {"{" INPUTS ",\"W_key\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[12,16]}}", 16,
     "bytes 8 to 12 belong to no tensor, before W_key; expected no gap"},
};

static size_t make_file(const char *header, size_t data, unsigned char *bytes)
{
    const size_t length = strlen(header);
    memset(bytes, 0, FILE_BYTES);
    bytes[0] = (unsigned char)(length & 255);
    bytes[1] = (unsigned char)(length >> 8);
    memcpy(bytes + 8, header, length);
    return 8 + length + data;
}

static void check_message(const char *message, const unsigned char *bytes, size_t length)
{
    char expected[512];
    struct error error;
    support_binary(safetensors_read, bytes, length, &error);
    snprintf(expected, sizeof expected, "%s%s", message ? "file: " : "", message ? message : "");
    CHECK_TEXT(expected, error.message);
}

static void check_headers(void)
{
    unsigned char bytes[FILE_BYTES];
    for (size_t i = 0; i < sizeof HEADERS / sizeof HEADERS[0]; i++) {
        check_begin("%s and %zu bytes", HEADERS[i].header, HEADERS[i].bytes);
        const size_t length = make_file(HEADERS[i].header, HEADERS[i].bytes, bytes);
        check_message(HEADERS[i].message, bytes, length);
    }
}

static void check_lengths(void)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } LENGTHS[] = {
        {"\2\0\0\0\0", 5, "begins like a .safetensors, but is cut short"},
        {"\2\0\0\0\0\0\0\0", 8, "a header of 2 bytes, but only 0 follow; the file is cut short"},
        {"\3\0\0\0\0\0\0\0{}", 10, "a header of 3 bytes, but only 2 follow; the file is cut short"},
        {"\0\0\0\0\0\0\0\0{}", 10, "header: the input is empty; expected a JSON object"},
        {"\1\0\0\0\0\0\0\0{}", 10, "header:1:2: expected a key in double quotes or '}', got end of input"},
        {"\2\0\0\0\0\0\0\0[]", 10, "header: expected an object, got an array"},
        {"\0\xe1\xf5\5\0\0\0\0{}", 10, "a header of 100000000 bytes, but only 2 follow; the file is cut short"},
        {"\1\xe1\xf5\5\0\0\0\0{}", 10, "a header of 100000001 bytes; expected at most 100000000"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10,
         "a header of 18446744073709551615 bytes; expected at most 100000000"},
        {"\4\0\0\0\0\0\0\0{}\0 ", 12,
         "header:1:3: expected end of input, got text after the value: control character 0x00"},
    };
    for (size_t i = 0; i < sizeof LENGTHS / sizeof LENGTHS[0]; i++) {
        check_begin("length %zu", i);
        check_message(LENGTHS[i].message, (const unsigned char *)LENGTHS[i].bytes, LENGTHS[i].length);
    }
}

/* --- told apart from JSON ---------------------------------------------------------------------------------------- */

static void check_begins(void)
{
    static const struct {
        const char *bytes;
        size_t length;
        bool expected;
    } FILES[] = {
        {"\x48\0\0\0\0\0\0\0{\"in", 12, true},
        {"\x7b\0\0\0\0\0\0\0{\"in", 12, true},
        {"\x20\0\0\0\0\0\0\0{\"in", 12, true},
        {"\xff\xff\xff\xff\xff\xff\xff\xff{", 9, true},
        {"\x48\0\0\0\0\0", 6, true},
        {"\x48\0\0\0\0\0\0\0 {", 10, false},
        {"        {\"inputs\": [[1]]}", 25, false},
        {"\n\n\n\n\n\n\n\n{}", 10, false},
        {"{\"x\": [{}]}", 11, false},
        {"{\"abc\":\t{}}", 11, false},
        {"", 0, false},
        {"{}\0", 3, false},
    };
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        check_begin("told apart: %zu", i);
        const bool got = safetensors_begins((const unsigned char *)FILES[i].bytes, FILES[i].length);
        CHECK(got == FILES[i].expected, "expected %d, got %d", FILES[i].expected, got);
    }
}

int main(void)
{
    check_golden();
    check_headers();
    check_lengths();
    check_begins();
    support_distort(safetensors_read, "tests/golden/binary/small.safetensors", true);
    support_distort(safetensors_read, "tests/golden/binary/dtypes.safetensors", false);
    return check_end();
}
