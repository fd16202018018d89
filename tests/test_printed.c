/* SPDX-License-Identifier: MIT */
/* Printed tables: what is read of them, to the bit and to the last digit shown; texts that are cut short. */
#include "check.h"
#include "read/printed.h"
#include "read/printed_number.h"
#include "support.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, TEXT_BYTES = 512 };

static const unsigned KINDS = INPUT_FILE_INPUTS | INPUT_FILE_PARAMETER | INPUT_FILE_TOKENS | INPUT_FILE_MASKING |
                              INPUT_FILE_OPERAND | INPUT_FILE_SETTINGS;

struct read {
    struct arena arena;
    struct error error;
    struct input_file input;
    enum status status;
};

/* The text in a block of its size and a NUL, so that the sanitizers see a step beyond it. The caller frees the arena. */
static void read_kinds(struct read *read, const char *text, size_t length, unsigned kinds)
{
    char *copy = malloc(length + 1);
    if (copy == NULL)
        abort();
    memcpy(copy, text, length);
    copy[length] = '\0';
    *read = (struct read){0};
    read->status = printed_read("file", copy, length, kinds, &read->arena, &read->input, &read->error);
    free(copy);
}

static void read_text(struct read *read, const char *text, size_t length)
{
    read_kinds(read, text, length, KINDS);
}

/* "2 x 2: 1 2 3 4 | -1 -1 x x | Your step": the tensor of that name, its last digits, the tokens. */
static void describe(const struct input_file *input, const char *name, char *text)
{
    const struct file_tensor *found = input_file_find(input, name);
    char shape[TENSOR_SHAPE_BYTES];
    struct text line = text_begin(text, TEXT_BYTES);
    if (found == NULL) {
        text_add(&line, "no %s", name);
        return;
    }
    text_add(&line, "%s%s:", tensor_shape_text(&found->tensor, shape),
             dtype_is_boolean(found->tensor.dtype) ? " bool" : "");
    for (size_t i = 0; i < tensor_count(&found->tensor); i++) {
        double number;
        tensor_load(&found->tensor, i, 1, &number);
        text_add(&line, " %.17g", number);
    }
    text_add(&line, " |");
    for (size_t i = 0; i < tensor_count(&found->tensor); i++)
        if (found->last_digit[i] == INT16_MIN)
            text_add(&line, " x");
        else
            text_add(&line, " %d", found->last_digit[i]);
    for (size_t i = 0; input->tokens.texts != NULL && i < input->tokens.lists * input->tokens.count; i++)
        text_add(&line, "%s%s", i == 0 ? " | " : " ", input->tokens.texts[i]);
}

static const struct {
    const char *text, *name, *expected;
} texts[] = {
    /* PyTorch */
    {"tensor([[1.5000, 2.0000]])", "inputs", "1 x 2: 1.5 2 | -4 -4"},
    {"tensor([[1.5, 2.0]],\n       device='cuda:0', grad_fn=<MmBackward0>)", "inputs", "1 x 2: 1.5 2 | -1 -1"},
    {"tensor([[1., 2.]], dtype=torch.float64, requires_grad=True,)", "inputs", "1 x 2: 1 2 | x x"},
    {"Parameter containing:\ntensor([[3, 4]])", "inputs", "1 x 2: 3 4 | x x"},
    {"nn.Parameter(torch.tensor([[3, 4]]), requires_grad=False)", "inputs", "1 x 2: 3 4 | x x"},
    {"tensor([[1.5000e-02, 2.0000e+03]])", "inputs", "1 x 2: 0.014999999999999999 2000 | -6 -1"},
    {"tensor([[nan, inf, -inf, 0.5]])", "inputs", "1 x 4: nan inf -inf 0.5 | x x x -1"},
    {"tensor([[ True, False]])", "inputs", "1 x 2 bool: 1 0 | x x"},
    {"torch.tensor([[1, 0]], dtype=torch.bool)", "inputs", "1 x 2 bool: 1 0 | x x"},
    {"tensor([[[[1]]], [[[2]]]])", "inputs", "2 x 1 x 1 x 1: 1 2 | x x"},
    /* NumPy */
    {"[[1.  2.5]\n [3.  4. ]]", "inputs", "2 x 2: 1 2.5 3 4 | -1 -1 -1 -1"},
    {"[0.1 0.2\n 0.3]", "inputs", "3 numbers: 0.10000000000000001 0.20000000000000001 0.29999999999999999 | -1 -1 -1"},
    {"array([[1., 2.]], dtype=float32)", "inputs", "1 x 2: 1 2 | x x"},
    {"np.array([[1, 2]], np.float32)", "inputs", "1 x 2: 1 2 | x x"},
    {"array([[1.e-05, 2.5e+00]])", "inputs", "1 x 2: 1.0000000000000001e-05 2.5 | -6 -1"},
    {"[[1e-05 0.25]]", "inputs", "1 x 2: 1.0000000000000001e-05 0.25 | x -2"},
    {"[[np.inf, -np.inf, float('-inf')]]", "inputs", "1 x 3: inf -inf -inf | x x x"},
    /* JSON */
    {"[[1,0],[0,1]]", "inputs", "2 x 2: 1 0 0 1 | x x x x"},
    {"[[0.5, null, \"NaN\", \"-Infinity\"]]", "inputs", "1 x 4: 0.5 -inf nan -inf | -1 x x x"},
    {" [ [ 1 , 2 , ] , ] ", "inputs", "1 x 2: 1 2 | x x"},
    /* MATLAB */
    {"[1 2; 3 4]", "inputs", "2 x 2: 1 2 3 4 | x x x x"},
    {"[1,5;2,5;];", "inputs", "2 x 2: 1 5 2 5 | x x x x"},
    {"inputs = [0.5; 1]", "inputs", "2 x 1: 0.5 1 | -1 -1"},
    {"inputs =\n\n   0.5000    1.0000\n   2.0000   -3.0000\n\n", "inputs", "2 x 2: 0.5 1 2 -3 | -4 -4 -4 -4"},
    {"W_key =\n\n 1 2\n\nW_query =\n\n 3\n 4\n", "W_query", "2 x 1: 3 4 | x x"},
    /* a cell */
    {"import torch\nfrom torch import nn\ninputs = torch.tensor(\n  [[0.5, 1], # Your  (x^1)\n   [2, 3]] # step "
     "(x^2)\n)",
     "inputs", "2 x 2: 0.5 1 2 3 | -1 -1 -1 -1 | Your step"},
    {"inputs = [[1], # one two\n [2]]# three", "inputs", "2 x 1: 1 2 | x x | one two three"},
    {"inputs = [[1], # one\n [2]]", "inputs", "2 x 1: 1 2 | x x"},
    {"# the batch\ninputs = [[[1], # a\n [2]], # b\n [[3], # c\n [4]]] # d", "inputs",
     "2 x 2 x 1: 1 2 3 4 | x x x x | a b c d"},
    {"W_query = [[1]] # no token\ninputs = [[1]] # token", "inputs", "1 x 1: 1 | x | token"},
    {"query=[[1]]\nkey =[[2]] # k\nvalue= [[3]]", "value", "1 x 1: 3 | x | k"},
    {"heads.0.W_query = [[1]];\nattn_mask = [[True]]", "attn_mask", "1 x 1 bool: 1 | x"},
    /* rows */
    {"1 2\n3 4\n", "inputs", "2 x 2: 1 2 3 4 | x x x x"},
    {"0.5,1\n2,3", "inputs", "2 x 2: 0.5 1 2 3 | -1 -1 -1 -1"},
    {"  0.5 ; 1 \r\n 2;3\r\n\r\n", "inputs", "2 x 2: 0.5 1 2 3 | -1 -1 -1 -1"},
    {"1\t2\n3\t4\n", "inputs", "2 x 2: 1 2 3 4 | x x x x"},
    {"x y\n1 2\n", "inputs", "1 x 2: 1 2 | x x"},
    {"# x y\n1 2 # a\n3 4 # b\n", "inputs", "2 x 2: 1 2 3 4 | x x x x | a b"},
    {"Your 1 2\nstep 3 4\n", "inputs", "2 x 2: 1 2 3 4 | x x x x | Your step"},
    {"x y\n1 1 2\n2 3 4\n", "inputs", "2 x 2: 1 2 3 4 | x x x x"},
    {"\xef\xbb\xbf,0,1\n0,0.5,1\n1,2,3\n", "inputs", "2 x 2: 0.5 1 2 3 | -1 -1 -1 -1"},
    {"token;x\n\"a \"\"b\"\"\";1\n\"3rd; (c)\";2\n", "inputs", "2 x 1: 1 2 | x x | a \"b\" 3rd; (c)"},
    {"\xc3\xa9t\xc3\xa9 1 2\n\"#\" 3 4\n", "inputs", "2 x 2: 1 2 3 4 | x x x x | \xc3\xa9t\xc3\xa9 #"},
    {"from 1 2\nimport 3 4\n", "inputs", "2 x 2: 1 2 3 4 | x x x x | from import"},
    {"True False\nFalse True", "inputs", "2 x 2 bool: 1 0 0 1 | x x x x"},
};

static void check_texts(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct read read;
        char text[TEXT_BYTES];
        check_begin("%s", texts[i].text);
        CHECK(printed_begins((const unsigned char *)texts[i].text, strlen(texts[i].text)), "expected a printed table");
        read_text(&read, texts[i].text, strlen(texts[i].text));
        if (CHECK(read.status == STATUS_OK, "expected it to be read, got: %s", read.error.message)) {
            describe(&read.input, texts[i].name, text);
            CHECK_TEXT(texts[i].expected, text);
        }
        arena_free(&read.arena);
    }
}

/* --- parts of tables ---------------------------------------------------------------------------------------------- */

#define DUMP "ggml_debug: kq_soft_max-3 = (f32) SOFT_MAX(kq-3{8, 1, 1, 1}, }) = {8, 1, 1, 1}\n"

/* The first tensor: its shape, or "facts"; what comes before '...' along each axis; the stated shape; the totals. */
static const struct {
    const char *text, *expected;
} parts[] = {
    {"tensor([1., 2.,  ..., 5., 6., 7.])", "inputs: 5 numbers, lead 2"},
    {"[[1 2 ... 5]\n ...\n [3 4 ... 6]]", "inputs: 2 x 3, lead 1 2"},
    {"[[1 2]\n ...\n [3 4]]", "inputs: 2 x 2, lead 1 0"},
    {"[[1, 2, \xe2\x80\xa6, 5]]", "inputs: 1 x 3, lead 0 2"},
    {"array([[[[1, ..., 2]]]], shape=(1, 1, 1, 9))", "inputs: 1 x 1 x 1 x 2, lead 0 0 0 1"},
    {"torch.Size([1, 4, 9])\ntensor([[[1, ..., 2],\n         ...,\n         [3, ..., 4]]])",
     "inputs: 1 x 2 x 2, lead 0 1 1, of 1 x 4 x 9"},
    {"context (4, 9)\n[[1, ..., 2], ..., [3, ..., 4]]", "context: 2 x 2, lead 1 1, of 4 x 9"},
    {"context: tensor([1., ..., 2.])\nsum: 3.25", "context: 2 numbers, lead 1, sum 3.25 -2"},
    {"[1, ..., 2]\nx.shape = (5,)\nx.std() = 1e-3, x.mean(): tensor(0.5, grad_fn=<MeanBackward0>)",
     "inputs: 2 numbers, lead 1, of 5 numbers, mean 0.5 -1, std 0.001 -3"},
    {"sum=12.3417", "inputs: facts, sum 12.3417 -4"},
    {"norm = np.float32(2.5)", "inputs: facts, norm 2.5 -1"},
    {"weights.sum() = 30", "weights: facts, sum 30 0"},
    {DUMP "[[[1.0, 0.5, ..., 0.25]]]\nsum = 4.000000", "blk.3.weights: 1 x 1 x 3, lead 0 0 2, of 1 x 1 x 8, sum 4 -6"},
    {DUMP "[\n[\n[1.0, 0.5, 0.25, ...],\n],\n]\nsum = 1.750000", "blk.3.weights: 1 x 1 x 3, lead 0 0 3, of 1 x 1 x 8"},
    {DUMP "sum = 8.000000\n", "blk.3.weights: facts, of 1 x 1 x 8, sum 8 -6"},
    {"main: a log\n" DUMP "[[[1, 2, 3, 4, 5, 6, 7, 8]]]\n", "blk.3.weights: 1 x 1 x 8, lead 0 0 0, of 1 x 1 x 8"},
    {"sum 0.5 1.5\nmean 0.25 2\n", "inputs: 2 x 2"}, /* rows of these tokens */
};

static void describe_part(const struct input_file *input, char *text)
{
    const struct file_tensor *first = &input->tensors[0];
    const struct file_part *part = first->part;
    char shape[TENSOR_SHAPE_BYTES];
    struct text line = text_begin(text, TEXT_BYTES);
    struct tensor whole = {.rank = part != NULL ? part->rank : 0};
    text_add(&line, "%s: %s", first->name,
             first->tensor.shape[0] > 0 ? tensor_shape_text(&first->tensor, shape) : "facts");
    for (size_t i = 0; part != NULL && first->tensor.shape[0] > 0 && i < first->tensor.rank; i++)
        text_add(&line, "%s %zu", i == 0 ? ", lead" : "", part->lead[i]);
    memcpy(whole.shape, part != NULL ? part->whole : whole.shape, sizeof whole.shape);
    if (whole.rank > 0)
        text_add(&line, ", of %s", tensor_shape_text(&whole, shape));
    for (int i = 0; part != NULL && i < (int)FILE_TOTALS; i++)
        if (part->has[i])
            text_add(&line, ", %s %g %d", file_total_name((enum file_total)i), part->totals[i], part->last_digit[i]);
}

static void check_parts(void)
{
    const unsigned kinds = INPUT_FILE_OF_DIFF | INPUT_FILE_PARTS;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const size_t length = strlen(parts[i].text);
        struct read read;
        char text[TEXT_BYTES];
        check_begin("a part: %s", parts[i].text);
        read_kinds(&read, parts[i].text, length, kinds);
        if (CHECK(read.status == STATUS_OK, "expected it to be read, got: %s", read.error.message)) {
            describe_part(&read.input, text);
            CHECK_TEXT(parts[i].expected, text);
        }
        arena_free(&read.arena);
        for (size_t end = 0; end < length; end++) {
            read_kinds(&read, parts[i].text, end, kinds);
            CHECK(read.status == STATUS_OK || strncmp(read.error.message, "file:", 5) == 0,
                  "byte %zu: expected an answer or an error with its place, got '%s'", end, read.error.message);
            arena_free(&read.arena);
        }
    }
}

/* Sizes have no sign: what looks like a shape of others is an error. */
static void check_no_shape(void)
{
    static const char TEXT[] = "context.shape = (-6, 2)\n[[1, 2], ..., [3, 4]]";
    struct read read;
    check_begin("no shape: %s", TEXT);
    read_kinds(&read, TEXT, sizeof TEXT - 1, INPUT_FILE_OF_DIFF | INPUT_FILE_PARTS);
    CHECK(read.status == STATUS_USAGE && strncmp(read.error.message, "file:1:17: expected ", 20) == 0,
          "expected an error with its place, got '%s'", read.error.message);
    arena_free(&read.arena);
}

/* Cut short anywhere, and with a NUL anywhere, a text is an answer or an error with a place. */
static void check_cuts(void)
{
    char text[TEXT_BYTES];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const size_t length = strlen(texts[i].text);
        struct read read;
        check_begin("cut short: %s", texts[i].text);
        for (size_t end = 0; end < 2 * length; end++) {
            memcpy(text, texts[i].text, length + 1);
            text[end % length] = '\0';
            read_text(&read, text, end < length ? end : length);
            CHECK(read.status == STATUS_OK || strncmp(read.error.message, "file:", 5) == 0,
                  "byte %zu: expected an answer or an error with its place, got '%s'", end, read.error.message);
            CHECK(end < length || read.status != STATUS_OK || memchr(texts[i].text, '#', length) != NULL,
                  "byte %zu: expected a NUL to be refused", end);
            arena_free(&read.arena);
        }
    }
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* xorshift64: numbers as good as any for texts to try. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void check_number(const char *text)
{
    struct printed_number number;
    const double expected = strtod(text, NULL);
    const size_t length = printed_number_read(text, &number);
    CHECK(length == strlen(text) && memcmp(&expected, &number.value, sizeof expected) == 0,
          "%s: expected %.17g, got %.17g in %zu characters", text, expected, number.value, length);
}

static void check_numbers(void)
{
    uint64_t state = 88172645463325252;
    char text[64];
    check_begin("numbers of any digits are those of the C library");
    for (int i = 0; i < 100000; i++) {
        const int decimals = (int)(next_random(&state) % 20), exponent = (int)(next_random(&state) % 80) - 40;
        const double number = (double)(int64_t)next_random(&state) / 0x1p60;
        snprintf(text, sizeof text, i % 2 ? "%+.*f" : "%.*e", decimals, number * pow(10, exponent % 10));
        check_number(text);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)(next_random(&state) >> (i % 64)), exponent);
        check_number(text);
    }
    static const char *const hard[] = {"9007199254740993",
                                       "9007199254740992.5",
                                       "1e22",
                                       "1e23",
                                       "123456789012345e22",
                                       "999999999999999e-22",
                                       "2.2250738585072011e-308",
                                       "5e-324",
                                       "2e-324",
                                       "1e400",
                                       "-0.0",
                                       "0.000000000000000000000000000001",
                                       "1.7976931348623157e308",
                                       "0e99999999999"};
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++)
        check_number(hard[i]);
}

static void check_no_numbers(void)
{
    static const char *const none[] = {"",      "-",    "+",     ".",     "e5",       "-.",      "--1",         "01",
                                       "-00.5", "nano", "infer", "+True", "-\"NaN\"", "np.info", "\xe2\x88\x92"};
    struct printed_number number;
    check_begin("what is no number");
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        CHECK(printed_number_read(none[i], &number) == 0, "'%s': expected no number", none[i]);
}

/* --- an input without an end ------------------------------------------------------------------------------------- */

static void check_cannot_be_input(void)
{
    enum { LONG = 1 << 16 };
    static const struct {
        const char *piece;
        bool refused;
    } pieces[] = {{"y\n", true},           {"[", true},        {"1 2\n", false},
                  {"0.123456789,", false}, {"x 1\n", false},   {"# none\n", false},
                  {"[1]\n", true},         {"1 2\n1\n", true}, {"self-attention: 6 tokens\n", true}};
    unsigned char *text = malloc(LONG);
    if (text == NULL)
        abort();
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        check_begin("without an end: %s", pieces[i].piece);
        for (size_t at = 0; at < LONG; at++)
            text[at] = (unsigned char)pieces[i].piece[at % strlen(pieces[i].piece)];
        CHECK(printed_cannot_be_input(text, LONG) == pieces[i].refused, "expected it to be %s",
              pieces[i].refused ? "given up" : "read on");
    }
    free(text);
}

int main(void)
{
    check_texts();
    check_cuts();
    check_parts();
    check_no_shape();
    check_numbers();
    check_no_numbers();
    check_cannot_be_input();
    return check_end();
}
