/* SPDX-License-Identifier: MIT */
#include "read/printed_table.h"

#include <string.h>

enum { DEEPEST_CALL = 3 }; /* nn.Parameter(torch.tensor(...)) */

/* Functions that only make a tensor of a literal. */
static const char *const CALLS[] = {
    "tensor",   "torch.tensor", "torch.Tensor", "torch.as_tensor", "torch.FloatTensor",  "torch.DoubleTensor", "array",
    "np.array", "numpy.array",  "np.asarray",   "numpy.asarray",   "jnp.array",          "jnp.asarray",        "Array",
    "mx.array", "tf.constant",  "tf.Tensor",    "nn.Parameter",    "torch.nn.Parameter", "Parameter",
};

/* Arguments after the numbers that do not change them. */
static const char *const PASSED[] = {"device", "requires_grad", "grad_fn", "size",      "layout",    "copy",
                                     "shape",  "order",         "subok",   "weak_type", "pin_memory"};

static bool is_one_of(const char *const *words, size_t count, const char *at, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == length && memcmp(words[i], at, length) == 0)
            return true;
    return false;
}

enum printed_dtype { IS_FLOAT, IS_WHOLE, IS_TRUTH, IS_UNKNOWN };

/* The dtype by a word such as torch.float64, 'int32' or np.bool_: the first known part counts, for *working the first
 * with a working dtype. */
static enum printed_dtype dtype_of(const char *at, size_t length, enum dtype *working)
{
    static const struct {
        const char *part;
        enum printed_dtype dtype;
        enum dtype working;
    } PARTS[] = {
        {"complex", IS_UNKNOWN, DTYPE_F32}, {"bool", IS_TRUTH, DTYPE_F32},   {"int", IS_WHOLE, DTYPE_F32},
        {"long", IS_WHOLE, DTYPE_F32},      {"short", IS_WHOLE, DTYPE_F32},  {"bfloat16", IS_FLOAT, DTYPE_BF16},
        {"float16", IS_FLOAT, DTYPE_F16},   {"half", IS_FLOAT, DTYPE_F16},   {"f2", IS_FLOAT, DTYPE_F16},
        {"float64", IS_FLOAT, DTYPE_F64},   {"double", IS_FLOAT, DTYPE_F64}, {"f8", IS_FLOAT, DTYPE_F64},
        {"float", IS_FLOAT, DTYPE_F32},     {"single", IS_FLOAT, DTYPE_F32}, {"f4", IS_FLOAT, DTYPE_F32},
        {"i8", IS_WHOLE, DTYPE_F32},
    };
    enum printed_dtype dtype = IS_UNKNOWN;
    bool found = false;
    *working = DTYPE_F32;
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        if (memmem(at, length, PARTS[i].part, strlen(PARTS[i].part)) != NULL) {
            dtype = found ? dtype : PARTS[i].dtype;
            *working = *working == DTYPE_F32 ? PARTS[i].working : *working;
            found = true;
        }
    return dtype;
}

static bool check_dtype(struct printed_reader *reader, struct printed_table *table, const char *at, size_t length)
{
    const enum printed_dtype dtype = dtype_of(at, length, &table->stated);
    const char *failed = dtype == IS_WHOLE ? table->whole_failed : dtype == IS_TRUTH ? table->truth_failed : NULL;
    if (dtype == IS_UNKNOWN)
        return printed_fail(reader, at, "expected floats, whole numbers or bool, got the dtype %.*s",
                            (int)memory_smaller(length, 40), at);
    if (failed != NULL)
        return printed_fail(reader, failed, "expected %s, as the dtype %.*s says",
                            dtype == IS_WHOLE ? "a whole number" : "True or False", (int)memory_smaller(length, 40),
                            at);
    table->boolean = table->boolean || dtype == IS_TRUTH;
    return true;
}

/* The end of a value: a word, a text in quotes, <MmBackward0> or (0, 3). NULL where its line ends first. */
static const char *end_of_value(const char *at)
{
    static const char CLOSING[][2] = {{'\'', '\''}, {'"', '"'}, {'<', '>'}, {'(', ')'}};
    for (size_t i = 0; i < sizeof CLOSING / sizeof CLOSING[0]; i++)
        if (*at == CLOSING[i][0]) {
            const char *end = at + 1 + strcspn(at + 1, (const char[]){CLOSING[i][1], '\n', '\0'});
            return *end == CLOSING[i][1] ? end + 1 : NULL;
        }
    return printed_word_length(at) > 0 ? at + printed_word_length(at) : NULL;
}

/* Reads "grad_fn=<MmBackward0>", or a dtype without its name. */
static bool take_argument(struct printed_reader *reader, struct printed_table *table)
{
    const char *name = reader->at;
    enum dtype working;
    const size_t length = printed_word_length(name);
    const char *value = name + length + strspn(name + length, " ");
    const bool named = length > 0 && *value == '=';
    value = named ? value + 1 + strspn(value + 1, " ") : name;
    const char *end = end_of_value(value);
    const bool is_dtype = !named || is_one_of((const char *const[]){"dtype"}, 1, name, length);
    if (end == NULL || (!named && dtype_of(value, (size_t)(end - value), &working) == IS_UNKNOWN))
        return printed_fail_expected(reader, named ? value : name, "')', or dtype=... after the numbers");
    if (!is_dtype && !is_one_of(PASSED, sizeof PASSED / sizeof PASSED[0], name, length))
        return printed_fail_expected(reader, name, "dtype=, device=, grad_fn= and the like");
    reader->at = end;
    return !is_dtype || check_dtype(reader, table, value, (size_t)(end - value));
}

/* Skips from the end of the array past the ')' of its call. */
static bool end_call(struct printed_reader *reader, struct printed_table *table)
{
    for (printed_skip(reader, table); *reader->at != ')'; printed_skip(reader, table)) {
        if (*reader->at != ',')
            return printed_fail_expected(reader, reader->at, "',' or ')'");
        reader->at++;
        printed_skip(reader, table);
        if (*reader->at != ')' && !take_argument(reader, table))
            return false;
    }
    reader->at++;
    return true;
}

static bool fail_literal(struct printed_reader *reader)
{
    struct printed_number number;
    const size_t length = printed_number_read(reader->at, &number), word = printed_word_length(reader->at);
    if (length > 0 && printed_number_ends(reader->at[length]))
        return printed_fail(reader, reader->at, "a single number; expected a table, [[...]]");
    if (strncmp(reader->at, "OrderedDict(", 12) == 0)
        return printed_fail(reader, reader->at,
                            "a printed state_dict; write NAME = tensor(...) for each "
                            "parameter, or the file of torch.save(module.state_dict(), 'model.pt')");
    if (word > 0 && reader->at[word] == '(')
        return printed_fail(reader, reader->at,
                            "expected [[...]], tensor(...) or array(...), got a call of '%.*s'; attn runs no code: "
                            "paste what it prints",
                            (int)memory_smaller(word, 40), reader->at);
    return printed_fail_expected(reader, reader->at, "[[...]], tensor(...) or array(...)");
}

/* Skips the names of calls before the array; *calls: how many brackets are open. */
static bool begin_calls(struct printed_reader *reader, struct printed_table *table, size_t *calls)
{
    for (*calls = 0; *reader->at != '[' && *calls < DEEPEST_CALL; ++*calls) {
        const size_t length = printed_word_length(reader->at);
        if (reader->at[length] != '(' || !is_one_of(CALLS, sizeof CALLS / sizeof CALLS[0], reader->at, length))
            return fail_literal(reader);
        reader->at += length + 1;
        printed_skip(reader, table);
    }
    return *reader->at == '[' || fail_literal(reader);
}

const char *printed_behind_title(const char *at)
{
    static const char PARAMETER[] = "Parameter containing:", TENSOR[] = "<tf.Tensor:", NUMBERS[] = "numpy=";
    if (strncmp(at, PARAMETER, sizeof PARAMETER - 1) == 0)
        return at + sizeof PARAMETER - 1;
    const char *numbers = strncmp(at, TENSOR, sizeof TENSOR - 1) == 0 ? strstr(at, NUMBERS) : NULL;
    return numbers != NULL ? numbers + sizeof NUMBERS - 1 : NULL;
}

bool printed_literal(struct printed_reader *reader, struct printed_table *table)
{
    size_t calls;
    *table = (struct printed_table){0};
    const char *behind = printed_behind_title(reader->at);
    const bool bracketed = behind != NULL && *reader->at == '<';
    if (behind != NULL) {
        reader->at = behind;
        printed_skip(reader, table);
    }
    bool read = begin_calls(reader, table, &calls) && printed_array(reader, table);
    for (; read && calls > 0; calls--)
        read = end_call(reader, table);
    if (!read)
        return false;
    if (bracketed && *reader->at != '>')
        return printed_fail_expected(reader, reader->at, "'>', which ends the print");
    reader->at += bracketed;
    return true;
}
