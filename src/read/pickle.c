#include "read/pickle.h"

#include <string.h>

enum { LATEST_PROTOCOL = 5, WHOLE_BYTES = sizeof(int64_t), FIRST_ROOM = 16 };

static const struct pickle_value MARK = {.kind = PICKLE_MARK};

struct machine {
    const char *source;
    const unsigned char *bytes;
    size_t length, at; /* at: behind the opcode and its operand */
    size_t opcode;     /* where the present one stands */
    bool stopped;
    struct pickle_items stack, memo;
    size_t room; /* of the stack */
    struct pickle *pickle;
    struct arena *arena;
    struct error *error;
};

/* What stands behind an opcode: a number, or bytes and how many. */
struct operand {
    uint64_t number;
    const unsigned char *bytes;
};

/* Its form. */
enum form {
    FORM_NONE,
    FORM_1, /* a number of so many bytes, the least significant first; */
    FORM_2,
    FORM_4,
    FORM_8,
    FORM_BYTES_1, /* that, then so many bytes; */
    FORM_BYTES_4,
    FORM_BYTES_8,
    FORM_LINES, /* two lines */
};

static const struct {
    size_t size;
    bool bytes;
} FORMS[] = {[FORM_NONE] = {0, false},   [FORM_1] = {1, false},      [FORM_2] = {2, false},
             [FORM_4] = {4, false},      [FORM_8] = {8, false},      [FORM_BYTES_1] = {1, true},
             [FORM_BYTES_4] = {4, true}, [FORM_BYTES_8] = {8, true}, [FORM_LINES] = {0, false}};

struct opcode {
    enum status (*run)(struct machine *machine, const struct opcode *opcode, const struct operand *operand);
    enum form form;
    enum pickle_kind kind; /* of the value that it makes */
    size_t count;          /* of the values that it takes */
};

const char *pickle_kind_name(const struct pickle_value *value)
{
    static const char *const NAMES[] = {
        [PICKLE_MARK] = "a mark",       [PICKLE_NONE] = "None",           [PICKLE_TRUTH] = "a boolean",
        [PICKLE_NUMBER] = "a number",   [PICKLE_WHOLE] = "a number",      [PICKLE_TEXT] = "a string",
        [PICKLE_BYTES] = "bytes",       [PICKLE_TUPLE] = "a tuple",       [PICKLE_LIST] = "a list",
        [PICKLE_DICT] = "a dict",       [PICKLE_FUNCTION] = "a function", [PICKLE_NAME] = "a name",
        [PICKLE_STORAGE] = "a storage", [PICKLE_TENSOR] = "a tensor",
    };
    return NAMES[value->kind];
}

static bool text_is(const struct pickle_text *found, const char *text)
{
    return found->length == strlen(text) && memcmp(found->bytes, text, found->length) == 0;
}

bool pickle_is(const struct pickle_value *value, const char *text)
{
    return (value->kind == PICKLE_TEXT || value->kind == PICKLE_NAME) && text_is(&value->text, text);
}

/* --- the stack --------------------------------------------------------------------------------------------------- */

static enum status wrong(const struct machine *machine, const char *what)
{
    return error_usage(machine->error, "%s: byte %zu of the pickle: %s", machine->source, machine->opcode + 1, what);
}

/* Room for so many values, those that there are moved into it. */
static enum status make_room(const struct machine *machine, struct pickle_items *items, size_t room)
{
    const size_t size = sizeof(struct pickle_value *);
    const struct pickle_value **larger = arena_allocate(machine->arena, room, size, machine->error);
    if (larger == NULL)
        return machine->error->status;
    if (items->count > 0)
        memcpy(larger, items->items, items->count * size);
    items->items = larger;
    return STATUS_OK;
}

/* To what only grows: its room is the next power of two. */
static enum status append(const struct machine *machine, struct pickle_items *items, const struct pickle_value *value)
{
    const bool full = (items->count & (items->count - 1)) == 0;
    if (full && make_room(machine, items, items->count > 0 ? 2 * items->count : 1) != STATUS_OK)
        return machine->error->status;
    items->items[items->count++] = value;
    return STATUS_OK;
}

static enum status push(struct machine *machine, const struct pickle_value *value)
{
    struct pickle_items *stack = &machine->stack;
    if (stack->count == machine->room) {
        const size_t room = machine->room > 0 ? 2 * machine->room : FIRST_ROOM;
        if (make_room(machine, stack, room) != STATUS_OK)
            return machine->error->status;
        machine->room = room;
    }
    stack->items[stack->count++] = value;
    return STATUS_OK;
}

/* A value of that kind on the stack; NULL where memory is short. */
static struct pickle_value *push_new(struct machine *machine, enum pickle_kind kind)
{
    struct pickle_value *value = arena_allocate(machine->arena, 1, sizeof *value, machine->error);
    if (value == NULL)
        return NULL;
    *value = (struct pickle_value){.kind = kind};
    return push(machine, value) == STATUS_OK ? value : NULL;
}

/* The last `count` values, which leave the stack but stay where they are until the next one comes; NULL where a mark is
 * among them, or the stack has fewer. */
static const struct pickle_value **pop(struct machine *machine, size_t count)
{
    struct pickle_items *stack = &machine->stack;
    const struct pickle_value **items = stack->items;
    bool whole = stack->count >= count;
    for (size_t i = 0; whole && i < count; i++)
        whole = items[stack->count - 1 - i]->kind != PICKLE_MARK;
    if (!whole) {
        wrong(machine, "needs a value that is not there");
        return NULL;
    }
    stack->count -= count;
    return items + stack->count;
}

/* The values since the last mark, which leaves the stack with them; *count of them. */
static const struct pickle_value **pop_to_mark(struct machine *machine, size_t *count)
{
    struct pickle_items *stack = &machine->stack;
    size_t first = stack->count;
    while (first > 0 && stack->items[first - 1]->kind != PICKLE_MARK)
        first--;
    if (first == 0) {
        wrong(machine, "needs a mark that is not there");
        return NULL;
    }
    *count = stack->count - first;
    stack->count = first - 1;
    return stack->items + first;
}

/* The last value, which stays; NULL where it is not of that kind. What fills a container changes it. */
static struct pickle_value *top(struct machine *machine, enum pickle_kind kind)
{
    const struct pickle_items *stack = &machine->stack;
    if (stack->count > 0 && stack->items[stack->count - 1]->kind == kind)
        return (struct pickle_value *)(uintptr_t)stack->items[stack->count - 1];
    wrong(machine, kind == PICKLE_DICT ? "needs a dict" : "needs a list");
    return NULL;
}

/* --- values ------------------------------------------------------------------------------------------------------ */

static enum status run_mark(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)opcode, (void)operand;
    return push(machine, &MARK);
}

/* Of these nothing is ever asked but what they are. */
static enum status run_plain(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)operand;
    return push_new(machine, opcode->kind) != NULL ? STATUS_OK : machine->error->status;
}

static enum status push_whole(struct machine *machine, int64_t whole)
{
    struct pickle_value *value = push_new(machine, PICKLE_WHOLE);
    if (value == NULL)
        return machine->error->status;
    value->whole = whole;
    return STATUS_OK;
}

static enum status run_whole(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)opcode;
    return push_whole(machine, (int64_t)operand->number);
}

static enum status run_signed(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)opcode;
    return push_whole(machine, (int32_t)(uint32_t)operand->number);
}

/* So many bytes of a whole number, the sign in the highest bit. */
static enum status run_long(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    const size_t size = (size_t)operand->number;
    uint64_t bits = size > 0 && operand->bytes[size - 1] & 0x80 ? UINT64_MAX : 0;
    if (size > WHOLE_BYTES)
        return run_plain(machine, opcode, operand);
    for (size_t i = size; i-- > 0;)
        bits = bits << 8 | operand->bytes[i];
    return push_whole(machine, (int64_t)bits);
}

static enum status run_text(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    struct pickle_value *value = push_new(machine, opcode->kind);
    if (value == NULL)
        return machine->error->status;
    value->text = (struct pickle_text){(const char *)operand->bytes, (size_t)operand->number};
    return STATUS_OK;
}

/* --- containers -------------------------------------------------------------------------------------------------- */

static enum status push_dict(struct machine *machine, bool ordered)
{
    struct pickle_value *value = push_new(machine, PICKLE_DICT);
    if (value == NULL)
        return machine->error->status;
    value->ordered = ordered;
    value->next = machine->pickle->dicts;
    machine->pickle->dicts = value;
    return STATUS_OK;
}

static enum status run_dict(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)opcode, (void)operand;
    return push_dict(machine, false);
}

static enum status append_all(struct machine *machine, struct pickle_value *container,
                              const struct pickle_value **values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (append(machine, &container->items, values[i]) != STATUS_OK)
            return machine->error->status;
    return STATUS_OK;
}

/* A tuple of these values, which have left the stack. */
static enum status push_tuple(struct machine *machine, const struct pickle_value **values, size_t count)
{
    struct pickle_value *tuple = arena_allocate(machine->arena, 1, sizeof *tuple, machine->error);
    if (values == NULL || tuple == NULL)
        return machine->error->status;
    *tuple = (struct pickle_value){.kind = PICKLE_TUPLE, .items = {values, count}};
    return make_room(machine, &tuple->items, count) || push(machine, tuple) ? machine->error->status : STATUS_OK;
}

static enum status run_tuple(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)operand;
    return push_tuple(machine, pop(machine, opcode->count), opcode->count);
}

static enum status run_tuple_to_mark(struct machine *machine, const struct opcode *opcode,
                                     const struct operand *operand)
{
    size_t count = 0;
    (void)opcode, (void)operand;
    const struct pickle_value **values = pop_to_mark(machine, &count);
    return push_tuple(machine, values, count);
}

/* Puts the values into the container below them. */
static enum status fill(struct machine *machine, enum pickle_kind kind, const struct pickle_value **values,
                        size_t count)
{
    struct pickle_value *container = values != NULL ? top(machine, kind) : NULL;
    if (container == NULL)
        return machine->error->status;
    if (kind == PICKLE_DICT && count % 2 != 0)
        return wrong(machine, "has a key without a value");
    return append_all(machine, container, values, count);
}

static enum status run_append(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)operand;
    return fill(machine, opcode->kind, pop(machine, opcode->count), opcode->count);
}

static enum status run_append_to_mark(struct machine *machine, const struct opcode *opcode,
                                      const struct operand *operand)
{
    size_t count = 0;
    (void)operand;
    const struct pickle_value **values = pop_to_mark(machine, &count);
    return fill(machine, opcode->kind, values, count);
}

/* --- the memo ---------------------------------------------------------------------------------------------------- */

/* The last value once more, under the next number, or an earlier one. */
static enum status put(struct machine *machine, uint64_t number)
{
    const struct pickle_value **last = pop(machine, 1);
    if (last == NULL)
        return machine->error->status;
    machine->stack.count++;
    if (number > machine->memo.count)
        return wrong(machine, "numbers a value out of turn");
    if (number == machine->memo.count)
        return append(machine, &machine->memo, *last);
    machine->memo.items[number] = *last;
    return STATUS_OK;
}

static enum status run_put(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)opcode;
    return put(machine, operand->number);
}

static enum status run_memoize(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)opcode, (void)operand;
    return put(machine, machine->memo.count);
}

static enum status run_get(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)opcode;
    if (operand->number >= machine->memo.count)
        return wrong(machine, "asks for a value that has no such number");
    return push(machine, machine->memo.items[operand->number]);
}

/* --- names and what is made by them ------------------------------------------------------------------------------ */

static enum status make_ordered(struct machine *machine, const struct pickle_value *arguments)
{
    (void)arguments;
    return push_dict(machine, true);
}

static enum status make_tensor(struct machine *machine, const struct pickle_value *arguments)
{
    struct pickle_value *value = push_new(machine, PICKLE_TENSOR);
    if (value == NULL)
        return machine->error->status;
    value->tuple = arguments;
    machine->pickle->tensor_count++;
    return STATUS_OK;
}

static enum status make_parameter(struct machine *machine, const struct pickle_value *arguments)
{
    const struct pickle_value *tensor = arguments->items.items[0];
    return tensor->kind == PICKLE_TENSOR ? push(machine, tensor) : wrong(machine, "a parameter that is no tensor");
}

/* The functions that may be named, and the numbers of their arguments. */
static const struct function {
    const char *module, *name;
    size_t least, most;
    enum status (*make)(struct machine *machine, const struct pickle_value *arguments);
    struct pickle_value value; /* what stands for it on the stack */
} FUNCTIONS[] = {
    {"collections", "OrderedDict", 0, 0, make_ordered, {.kind = PICKLE_FUNCTION}},
    {"torch._utils", "_rebuild_tensor_v2", 6, 7, make_tensor, {.kind = PICKLE_FUNCTION}},
    {"torch._utils", "_rebuild_tensor_v3", 7, 8, make_tensor, {.kind = PICKLE_FUNCTION}},
    {"torch._utils", "_rebuild_parameter", 3, 3, make_parameter, {.kind = PICKLE_FUNCTION}},
};

enum { FUNCTION_COUNT = sizeof FUNCTIONS / sizeof FUNCTIONS[0] };

static enum status unknown(const struct machine *machine, const struct pickle_text *module,
                           const struct pickle_text *name)
{
    return error_usage(
        machine->error,
        "%s: holds '%.*s.%.*s', an object of Python's, as in a whole module; attn runs nothing that is in a "
        "file; expected tensors by name: torch.save(model.state_dict(), ...)",
        machine->source, (int)memory_smaller(module->length, 80), module->bytes, (int)memory_smaller(name->length, 80),
        name->bytes);
}

static enum status push_name(struct machine *machine, const struct pickle_text *module, const struct pickle_text *name)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (text_is(module, FUNCTIONS[i].module) && text_is(name, FUNCTIONS[i].name))
            return push(machine, &FUNCTIONS[i].value);
    if (!text_is(module, "torch"))
        return unknown(machine, module, name);
    struct pickle_value *value = push_new(machine, PICKLE_NAME);
    if (value == NULL)
        return machine->error->status;
    value->text = *name;
    return STATUS_OK;
}

/* Two lines: the module and the name. */
static enum status run_lines(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    struct pickle_text lines[2];
    (void)opcode, (void)operand;
    for (int i = 0; i < 2; i++) {
        const unsigned char *line = machine->bytes + machine->at;
        const unsigned char *end = memchr(line, '\n', machine->length - machine->at);
        if (end == NULL)
            return wrong(machine, "a name without an end");
        lines[i] = (struct pickle_text){(const char *)line, (size_t)(end - line)};
        machine->at += lines[i].length + 1;
    }
    return push_name(machine, &lines[0], &lines[1]);
}

static enum status run_stack_name(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)operand;
    const struct pickle_value **texts = pop(machine, opcode->count);
    if (texts == NULL)
        return machine->error->status;
    if (texts[0]->kind != PICKLE_TEXT || texts[1]->kind != PICKLE_TEXT)
        return wrong(machine, "a name that is no string");
    const struct pickle_text module = texts[0]->text, name = texts[1]->text;
    return push_name(machine, &module, &name);
}

static enum status run_reduce(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)operand;
    const struct pickle_value **values = pop(machine, opcode->count);
    if (values == NULL)
        return machine->error->status;
    const struct pickle_value *called = values[0], *arguments = values[1];
    size_t i = 0;
    while (i < FUNCTION_COUNT && called != &FUNCTIONS[i].value)
        i++;
    if (i == FUNCTION_COUNT && called->kind == PICKLE_NAME)
        return unknown(machine, &(struct pickle_text){"torch", 5}, &called->text);
    if (i == FUNCTION_COUNT || arguments->kind != PICKLE_TUPLE || arguments->items.count < FUNCTIONS[i].least ||
        arguments->items.count > FUNCTIONS[i].most)
        return wrong(machine, "a call that torch.save does not write");
    return FUNCTIONS[i].make(machine, arguments);
}

static enum status run_storage(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)operand;
    const struct pickle_value **last = pop(machine, 1);
    if (last == NULL)
        return machine->error->status;
    const struct pickle_value *tuple = *last;
    if (tuple->kind != PICKLE_TUPLE)
        return wrong(machine, "a persistent id that is no tuple");
    struct pickle_value *value = push_new(machine, opcode->kind);
    if (value == NULL)
        return machine->error->status;
    value->tuple = tuple;
    return STATUS_OK;
}

/* The state of an OrderedDict, the versions of modules, is left out. */
static enum status run_build(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)operand;
    const struct pickle_value **state = pop(machine, opcode->count);
    const struct pickle_value *dict = state != NULL ? top(machine, PICKLE_DICT) : NULL;
    if (dict == NULL)
        return machine->error->status;
    return dict->ordered && (*state)->kind == PICKLE_DICT ? STATUS_OK : wrong(machine, "a state of no OrderedDict");
}

/* --- the program ------------------------------------------------------------------------------------------------- */

static enum status run_protocol(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)opcode;
    return operand->number <= LATEST_PROTOCOL ? STATUS_OK : wrong(machine, "a protocol of a later Python");
}

static enum status run_frame(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)opcode;
    return operand->number <= machine->length - machine->at ? STATUS_OK : wrong(machine, "a frame beyond the end");
}

static enum status run_stop(struct machine *machine, const struct opcode *opcode, const struct operand *operand)
{
    (void)operand;
    const struct pickle_value **last = pop(machine, opcode->count);
    if (last == NULL)
        return machine->error->status;
    if (machine->stack.count > 0)
        return wrong(machine, "ends with more than one value");
    machine->pickle->root = *last;
    machine->stopped = true;
    return STATUS_OK;
}

static const struct opcode OPCODES[256] = {
    [0x80] = {run_protocol, FORM_1, PICKLE_NONE, 0},         /* PROTO */
    [0x95] = {run_frame, FORM_8, PICKLE_NONE, 0},            /* FRAME */
    ['.'] = {run_stop, FORM_NONE, PICKLE_NONE, 1},           /* STOP */
    ['('] = {run_mark, FORM_NONE, PICKLE_MARK, 0},           /* MARK */
    ['N'] = {run_plain, FORM_NONE, PICKLE_NONE, 0},          /* NONE */
    [0x88] = {run_plain, FORM_NONE, PICKLE_TRUTH, 0},        /* NEWTRUE */
    [0x89] = {run_plain, FORM_NONE, PICKLE_TRUTH, 0},        /* NEWFALSE */
    ['G'] = {run_plain, FORM_8, PICKLE_NUMBER, 0},           /* BINFLOAT */
    ['K'] = {run_whole, FORM_1, PICKLE_WHOLE, 0},            /* BININT1 */
    ['M'] = {run_whole, FORM_2, PICKLE_WHOLE, 0},            /* BININT2 */
    ['J'] = {run_signed, FORM_4, PICKLE_WHOLE, 0},           /* BININT */
    [0x8a] = {run_long, FORM_BYTES_1, PICKLE_NUMBER, 0},     /* LONG1 */
    [0x8b] = {run_long, FORM_BYTES_4, PICKLE_NUMBER, 0},     /* LONG4 */
    [0x8c] = {run_text, FORM_BYTES_1, PICKLE_TEXT, 0},       /* SHORT_BINUNICODE */
    ['X'] = {run_text, FORM_BYTES_4, PICKLE_TEXT, 0},        /* BINUNICODE */
    [0x8d] = {run_text, FORM_BYTES_8, PICKLE_TEXT, 0},       /* BINUNICODE8 */
    ['U'] = {run_text, FORM_BYTES_1, PICKLE_TEXT, 0},        /* SHORT_BINSTRING */
    ['T'] = {run_text, FORM_BYTES_4, PICKLE_TEXT, 0},        /* BINSTRING */
    ['C'] = {run_plain, FORM_BYTES_1, PICKLE_BYTES, 0},      /* SHORT_BINBYTES */
    ['B'] = {run_plain, FORM_BYTES_4, PICKLE_BYTES, 0},      /* BINBYTES */
    [0x8e] = {run_plain, FORM_BYTES_8, PICKLE_BYTES, 0},     /* BINBYTES8 */
    [')'] = {run_plain, FORM_NONE, PICKLE_TUPLE, 0},         /* EMPTY_TUPLE */
    [0x85] = {run_tuple, FORM_NONE, PICKLE_TUPLE, 1},        /* TUPLE1 */
    [0x86] = {run_tuple, FORM_NONE, PICKLE_TUPLE, 2},        /* TUPLE2 */
    [0x87] = {run_tuple, FORM_NONE, PICKLE_TUPLE, 3},        /* TUPLE3 */
    ['t'] = {run_tuple_to_mark, FORM_NONE, PICKLE_TUPLE, 0}, /* TUPLE */
    [']'] = {run_plain, FORM_NONE, PICKLE_LIST, 0},          /* EMPTY_LIST */
    ['a'] = {run_append, FORM_NONE, PICKLE_LIST, 1},         /* APPEND */
    ['e'] = {run_append_to_mark, FORM_NONE, PICKLE_LIST, 0}, /* APPENDS */
    ['}'] = {run_dict, FORM_NONE, PICKLE_DICT, 0},           /* EMPTY_DICT */
    ['s'] = {run_append, FORM_NONE, PICKLE_DICT, 2},         /* SETITEM */
    ['u'] = {run_append_to_mark, FORM_NONE, PICKLE_DICT, 0}, /* SETITEMS */
    ['q'] = {run_put, FORM_1, PICKLE_NONE, 0},               /* BINPUT */
    ['r'] = {run_put, FORM_4, PICKLE_NONE, 0},               /* LONG_BINPUT */
    [0x94] = {run_memoize, FORM_NONE, PICKLE_NONE, 0},       /* MEMOIZE */
    ['h'] = {run_get, FORM_1, PICKLE_NONE, 0},               /* BINGET */
    ['j'] = {run_get, FORM_4, PICKLE_NONE, 0},               /* LONG_BINGET */
    ['c'] = {run_lines, FORM_LINES, PICKLE_NAME, 0},         /* GLOBAL */
    [0x93] = {run_stack_name, FORM_NONE, PICKLE_NAME, 2},    /* STACK_GLOBAL */
    ['R'] = {run_reduce, FORM_NONE, PICKLE_NONE, 2},         /* REDUCE */
    ['b'] = {run_build, FORM_NONE, PICKLE_NONE, 1},          /* BUILD */
    ['Q'] = {run_storage, FORM_NONE, PICKLE_STORAGE, 1},     /* BINPERSID */
};

static enum status take_operand(struct machine *machine, enum form form, struct operand *operand)
{
    const size_t size = FORMS[form].size, left = machine->length - machine->at;
    *operand = (struct operand){0};
    if (size > left)
        return wrong(machine, "the pickle ends within it");
    for (size_t i = size; i-- > 0;)
        operand->number = operand->number << 8 | machine->bytes[machine->at + i];
    machine->at += size;
    operand->bytes = machine->bytes + machine->at;
    if (!FORMS[form].bytes)
        return STATUS_OK;
    if (operand->number > left - size)
        return wrong(machine, "the pickle ends within it");
    machine->at += (size_t)operand->number;
    return STATUS_OK;
}

static enum status step(struct machine *machine)
{
    struct operand operand;
    machine->opcode = machine->at;
    if (machine->at == machine->length)
        return wrong(machine, "the pickle ends without a STOP");
    const unsigned char code = machine->bytes[machine->at++];
    const struct opcode *opcode = &OPCODES[code];
    if (opcode->run == NULL)
        return error_usage(machine->error, "%s: byte %zu of the pickle: opcode 0x%02x, which torch.save does not write",
                           machine->source, machine->opcode + 1, code);
    return take_operand(machine, opcode->form, &operand) ? machine->error->status
                                                         : opcode->run(machine, opcode, &operand);
}

enum status pickle_read(const char *source, const unsigned char *bytes, size_t length, struct arena *arena,
                        struct pickle *pickle, struct error *error)
{
    struct machine machine = {
        .source = source, .bytes = bytes, .length = length, .pickle = pickle, .arena = arena, .error = error};
    *pickle = (struct pickle){0};
    while (!machine.stopped)
        if (step(&machine) != STATUS_OK)
            return error->status;
    if (machine.at == length)
        return STATUS_OK;
    return error_usage(error, "%s: the pickle has %zu bytes behind its end", source, length - machine.at);
}
