#include "read/printed_table.h"

#include <string.h>

enum { DEEPEST_CALL = 3 }; /* nn.Parameter(torch.tensor(...)) */

/* What makes a tensor of a literal, and nothing else of it. */
static const char *const CALLS[] = {
    "tensor",   "torch.tensor", "torch.Tensor", "torch.as_tensor", "torch.FloatTensor",  "torch.DoubleTensor", "array",
    "np.array", "numpy.array",  "np.asarray",   "numpy.asarray",   "jnp.array",          "jnp.asarray",        "Array",
    "mx.array", "tf.constant",  "tf.Tensor",    "nn.Parameter",    "torch.nn.Parameter", "Parameter",
};

/* What may stand behind the numbers and does not change them. */
static const char *const PASSED[] = {"device", "requires_grad", "grad_fn", "size",      "layout",    "copy",
                                     "shape",  "order",         "subok",   "weak_type", "pin_memory"};

static const char WORD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

static bool is_one_of(const char *const *words, size_t count, const char *at, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == length && memcmp(words[i], at, length) == 0)
            return true;
    return false;
}

/* --- the dtype --------------------------------------------------------------------------------------------------- */

/* The working dtype that a word such as torch.float64 or 'half' names. */
static enum dtype working_dtype_of(const char *at, size_t length)
{
    static const struct {
        const char *part;
        enum dtype dtype;
    } PARTS[] = {{"half", DTYPE_F16}, {"f2", DTYPE_F16}, {"double", DTYPE_F64}, {"f8", DTYPE_F64}};
    for (int dtype = DTYPE_COUNT - 1; dtype >= 0; dtype--) { /* bfloat16 before float16, which is in it */
        const char *title = dtype_title((enum dtype)dtype);
        if (dtype_is_working((enum dtype)dtype) && memmem(at, length, title, strlen(title)) != NULL)
            return (enum dtype)dtype;
    }
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        if (memmem(at, length, PARTS[i].part, strlen(PARTS[i].part)) != NULL)
            return PARTS[i].dtype;
    return DTYPE_F32;
}

enum printed_dtype { IS_FLOAT, IS_WHOLE, IS_TRUTH, IS_UNKNOWN };

/* What a word such as torch.float64, 'int32' or np.bool_ says of the numbers. */
static enum printed_dtype dtype_of(const char *at, size_t length)
{
    static const struct {
        const char *part;
        enum printed_dtype dtype;
    } PARTS[] = {
        {"complex", IS_UNKNOWN}, {"bool", IS_TRUTH},   {"int", IS_WHOLE},    {"long", IS_WHOLE}, {"short", IS_WHOLE},
        {"float", IS_FLOAT},     {"double", IS_FLOAT}, {"single", IS_FLOAT}, {"half", IS_FLOAT}, {"f2", IS_FLOAT},
        {"f4", IS_FLOAT},        {"f8", IS_FLOAT},     {"i8", IS_WHOLE},
    };
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        if (memmem(at, length, PARTS[i].part, strlen(PARTS[i].part)) != NULL)
            return PARTS[i].dtype;
    return IS_UNKNOWN;
}

static enum status check_dtype(struct printed_reader *reader, struct printed_table *table, const char *at,
                               size_t length)
{
    const enum printed_dtype dtype = dtype_of(at, length);
    const char *failed = dtype == IS_WHOLE ? table->whole_failed : dtype == IS_TRUTH ? table->truth_failed : NULL;
    if (dtype == IS_UNKNOWN)
        return printed_fail(reader, at, "expected floats, whole numbers or bool, got the dtype %.*s",
                            (int)memory_smaller(length, 40), at);
    if (failed != NULL)
        return printed_fail(reader, failed, "expected %s, as the dtype %.*s says",
                            dtype == IS_WHOLE ? "a whole number" : "True or False", (int)memory_smaller(length, 40),
                            at);
    table->boolean = table->boolean || dtype == IS_TRUTH;
    table->stated = working_dtype_of(at, length);
    return STATUS_OK;
}

/* --- what stands behind the numbers ------------------------------------------------------------------------------ */

/* The end of a value: a word, a text in quotes, <MmBackward0> or (0, 3). NULL where it does not end. */
static const char *end_of_value(const char *at)
{
    static const char CLOSING[][2] = {{'\'', '\''}, {'"', '"'}, {'<', '>'}, {'(', ')'}};
    for (size_t i = 0; i < sizeof CLOSING / sizeof CLOSING[0]; i++)
        if (*at == CLOSING[i][0]) {
            const char *end = at + 1 + strcspn(at + 1, (const char[]){CLOSING[i][1], '\n', '\0'});
            return *end == CLOSING[i][1] ? end + 1 : NULL;
        }
    return strspn(at, WORD) > 0 ? at + strspn(at, WORD) : NULL;
}

/* "grad_fn=<MmBackward0>", or a dtype alone. */
static enum status take_argument(struct printed_reader *reader, struct printed_table *table)
{
    const char *name = reader->at;
    const size_t length = strspn(name, WORD);
    const char *value = name + length + strspn(name + length, " ");
    const bool named = length > 0 && *value == '=';
    value = named ? value + 1 + strspn(value + 1, " ") : name;
    const char *end = end_of_value(value);
    const bool is_dtype = !named || is_one_of((const char *const[]){"dtype"}, 1, name, length);
    if (end == NULL || (!named && dtype_of(value, (size_t)(end - value)) == IS_UNKNOWN))
        return printed_fail_expected(reader, named ? value : name, "')', or dtype=... behind the numbers");
    if (!is_dtype && !is_one_of(PASSED, sizeof PASSED / sizeof PASSED[0], name, length))
        return printed_fail_expected(reader, name, "dtype=, device=, grad_fn= and the like");
    reader->at = end;
    return is_dtype ? check_dtype(reader, table, value, (size_t)(end - value)) : STATUS_OK;
}

/* From behind the array to behind the ')' of its call. */
static enum status end_call(struct printed_reader *reader, struct printed_table *table)
{
    for (;;) {
        if (printed_skip(reader, table) != STATUS_OK)
            return reader->error->status;
        if (*reader->at == ')') {
            reader->at++;
            return STATUS_OK;
        }
        if (*reader->at != ',')
            return printed_fail_expected(reader, reader->at, "',' or ')'");
        reader->at++;
        if (printed_skip(reader, table) != STATUS_OK)
            return reader->error->status;
        if (*reader->at != ')' && take_argument(reader, table) != STATUS_OK)
            return reader->error->status;
    }
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static enum status fail_literal(struct printed_reader *reader)
{
    struct printed_number number;
    const size_t length = printed_number_read(reader->at, &number), word = strspn(reader->at, WORD);
    if (length > 0 && printed_number_ends(reader->at[length]))
        return printed_fail(reader, reader->at, "a single number; expected a table, [[...]]");
    if (strncmp(reader->at, "OrderedDict(", 12) == 0)
        return printed_fail(reader, reader->at,
                            "a state_dict as it is printed; expected NAME = tensor(...) for each "
                            "parameter, or the file of torch.save(module.state_dict(), 'model.pt')");
    if (word > 0 && reader->at[word] == '(')
        return printed_fail(reader, reader->at,
                            "expected [[...]], tensor(...) or array(...), got a call of '%.*s'; nothing is run here: "
                            "paste what it prints",
                            (int)memory_smaller(word, 40), reader->at);
    return printed_fail_expected(reader, reader->at, "[[...]], tensor(...) or array(...)");
}

/* The names of calls up to the array; *calls: how many brackets are open. */
static enum status begin_calls(struct printed_reader *reader, struct printed_table *table, size_t *calls)
{
    for (*calls = 0; *reader->at != '[' && *calls < DEEPEST_CALL; ++*calls) {
        const size_t length = strspn(reader->at, WORD);
        if (reader->at[length] != '(' || !is_one_of(CALLS, sizeof CALLS / sizeof CALLS[0], reader->at, length))
            return fail_literal(reader);
        reader->at += length + 1;
        if (printed_skip(reader, table) != STATUS_OK)
            return reader->error->status;
    }
    return *reader->at == '[' ? STATUS_OK : fail_literal(reader);
}

const char *printed_behind_title(const char *at)
{
    static const char PARAMETER[] = "Parameter containing:", TENSOR[] = "<tf.Tensor:", NUMBERS[] = "numpy=";
    if (strncmp(at, PARAMETER, sizeof PARAMETER - 1) == 0)
        return at + sizeof PARAMETER - 1;
    const char *numbers = strncmp(at, TENSOR, sizeof TENSOR - 1) == 0 ? strstr(at, NUMBERS) : NULL;
    return numbers != NULL ? numbers + sizeof NUMBERS - 1 : NULL;
}

enum status printed_literal(struct printed_reader *reader, struct printed_table *table)
{
    size_t calls;
    *table = (struct printed_table){0};
    const char *behind = printed_behind_title(reader->at);
    const bool bracketed = behind != NULL && *reader->at == '<';
    if (behind != NULL) {
        reader->at = behind;
        if (printed_skip(reader, table) != STATUS_OK)
            return reader->error->status;
    }
    if (begin_calls(reader, table, &calls) || printed_array(reader, table))
        return reader->error->status;
    for (; calls > 0; calls--)
        if (end_call(reader, table) != STATUS_OK)
            return reader->error->status;
    if (bracketed && *reader->at != '>')
        return printed_fail_expected(reader, reader->at, "'>', which ends the print");
    reader->at += bracketed;
    return STATUS_OK;
}
