/* SPDX-License-Identifier: MIT */
#include "read/pickle.h"

#include <string.h>

enum { LATEST_PROTOCOL = 5, WHOLE_BYTES = sizeof(int64_t), FIRST_ROOM = 16, TO_MARK = 4 };

struct machine {
    const char *source;
    const unsigned char *bytes;
    size_t length, at;           /* at: after the opcode and its operand */
    size_t place;                /* of the present opcode */
    const struct opcode *opcode; /* the present opcode, */
    uint64_t number;             /* its operand, */
    const unsigned char *text;   /* or the bytes of the operand, */
    struct pickle_items values;  /* and the values that it takes from the stack, valid until the next push */
    bool stopped;
    struct pickle_items stack, memo;
    size_t room; /* of the stack */
    struct pickle *pickle;
    struct arena *arena;
    struct error *error;
};

/* The form of an operand: a number of so many bytes, the least significant first; FORM_BYTES is followed by as many
 * bytes as the number says. */
enum form {
    FORM_NONE = 0,
    FORM_1 = 1,
    FORM_2 = 2,
    FORM_4 = 4,
    FORM_8 = 8,
    FORM_BYTES = 16,
    FORM_BYTES_1 = FORM_BYTES | 1,
    FORM_BYTES_4 = FORM_BYTES | 4,
    FORM_BYTES_8 = FORM_BYTES | 8,
};

struct opcode {
    bool (*run)(struct machine *machine); /* false: sets the error */
    enum form form;
    enum pickle_kind kind; /* of the value that it makes or fills */
    size_t count;          /* values that it takes from the stack; TO_MARK: those since the last mark */
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

static bool wrong(const struct machine *machine, const char *what)
{
    error_usage(machine->error, "%s: byte %zu of the pickle: %s", machine->source, machine->place + 1, what);
    return false;
}

/* Allocates room for so many values, and copies the present ones. */
static bool enlarge(const struct machine *machine, struct pickle_items *items, size_t room)
{
    const size_t size = sizeof(struct pickle_value *);
    const struct pickle_value **larger = arena_allocate(machine->arena, room, size, machine->error);
    if (larger != NULL && items->count > 0)
        memcpy(larger, items->items, items->count * size);
    items->items = larger != NULL ? larger : items->items;
    return larger != NULL;
}

/* Appends to a list that only grows: its room is the next power of two. */
static bool append(const struct machine *machine, struct pickle_items *items, const struct pickle_value *value)
{
    const bool full = (items->count & (items->count - 1)) == 0;
    if (full && !enlarge(machine, items, items->count > 0 ? 2 * items->count : 1))
        return false;
    items->items[items->count++] = value;
    return true;
}

static bool push(struct machine *machine, const struct pickle_value *value)
{
    struct pickle_items *stack = &machine->stack;
    if (stack->count == machine->room) {
        const size_t room = machine->room > 0 ? 2 * machine->room : FIRST_ROOM;
        if (!enlarge(machine, stack, room))
            return false;
        machine->room = room;
    }
    stack->items[stack->count++] = value;
    return true;
}

static bool push_new(struct machine *machine, struct pickle_value value)
{
    struct pickle_value *kept = arena_allocate(machine->arena, 1, sizeof *kept, machine->error);
    if (kept == NULL)
        return false;
    *kept = value;
    if (value.kind == PICKLE_DICT) {
        kept->next = machine->pickle->dicts;
        machine->pickle->dicts = kept;
    }
    return push(machine, kept);
}

/* Pops the values that the opcode needs: `count` of them, none a mark; or those since the last mark, and the mark. */
static bool take_values(struct machine *machine)
{
    struct pickle_items *stack = &machine->stack;
    const bool to_mark = machine->opcode->count == TO_MARK;
    size_t first = stack->count;
    while (first > 0 && (to_mark || stack->count - first < machine->opcode->count) &&
           stack->items[first - 1]->kind != PICKLE_MARK)
        first--;
    if (to_mark && first == 0)
        return wrong(machine, "needs a mark that is not there");
    if (!to_mark && stack->count - first < machine->opcode->count)
        return wrong(machine, "needs a value that is not there");
    machine->values = (struct pickle_items){0};
    if (stack->count > first)
        machine->values = (struct pickle_items){stack->items + first, stack->count - first};
    stack->count = first - to_mark;
    return true;
}

/* The last value, which stays; NULL where it is of another kind. Not const, as callers fill a container. */
static struct pickle_value *top(struct machine *machine, enum pickle_kind kind)
{
    const struct pickle_items *stack = &machine->stack;
    if (stack->count > 0 && stack->items[stack->count - 1]->kind == kind)
        return (struct pickle_value *)(uintptr_t)stack->items[stack->count - 1];
    wrong(machine, kind == PICKLE_DICT ? "needs a dict" : "needs a list");
    return NULL;
}

/* --- values ------------------------------------------------------------------------------------------------------ */

/* Pushes a value whose kind is all that matters. */
static bool run_plain(struct machine *machine)
{
    return push_new(machine, (struct pickle_value){.kind = machine->opcode->kind});
}

static bool run_true(struct machine *machine)
{
    return push_new(machine, (struct pickle_value){.kind = PICKLE_TRUTH, .whole = 1});
}

/* A double whose first byte is the most significant one. */
static bool run_float(struct machine *machine)
{
    struct pickle_value value = {.kind = PICKLE_NUMBER};
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof bits; i++)
        bits = bits << 8 | (machine->number >> 8 * i & 255);
    memcpy(&value.number, &bits, sizeof bits);
    return push_new(machine, value);
}

/* Of four bytes it has a sign. */
static bool run_whole(struct machine *machine)
{
    const int64_t whole = (int64_t)machine->number, with_sign = (int32_t)(uint32_t)machine->number;
    const bool has_sign = machine->opcode->form == FORM_4;
    return push_new(machine, (struct pickle_value){.kind = PICKLE_WHOLE, .whole = has_sign ? with_sign : whole});
}

/* An integer of so many bytes, in two's complement. */
static bool run_long(struct machine *machine)
{
    const size_t size = (size_t)machine->number;
    uint64_t bits = size > 0 && machine->text[size - 1] & 0x80 ? UINT64_MAX : 0;
    if (size > WHOLE_BYTES)
        return run_plain(machine);
    for (size_t i = size; i-- > 0;)
        bits = bits << 8 | machine->text[i];
    return push_new(machine, (struct pickle_value){.kind = PICKLE_WHOLE, .whole = (int64_t)bits});
}

static bool run_text(struct machine *machine)
{
    const struct pickle_text text = {(const char *)machine->text, (size_t)machine->number};
    return push_new(machine, (struct pickle_value){.kind = PICKLE_TEXT, .text = text});
}

/* --- containers -------------------------------------------------------------------------------------------------- */

static bool run_tuple(struct machine *machine)
{
    struct pickle_value tuple = {.kind = PICKLE_TUPLE, .items = machine->values};
    return enlarge(machine, &tuple.items, tuple.items.count) && push_new(machine, tuple);
}

/* Puts the values into the container below them. */
static bool run_append(struct machine *machine)
{
    struct pickle_value *container = top(machine, machine->opcode->kind);
    bool appended = container != NULL;
    if (appended && container->kind == PICKLE_DICT && machine->values.count % 2 != 0)
        return wrong(machine, "has a key without a value");
    for (size_t i = 0; appended && i < machine->values.count; i++)
        appended = append(machine, &container->items, machine->values.items[i]);
    return appended;
}

/* --- the memo ---------------------------------------------------------------------------------------------------- */

/* Stores the last value, which stays, under the next number or an earlier one. */
static bool run_put(struct machine *machine)
{
    const struct pickle_value *last = machine->values.items[0];
    const uint64_t number = machine->opcode->form == FORM_NONE ? machine->memo.count : machine->number;
    machine->stack.count++;
    if (number > machine->memo.count)
        return wrong(machine, "numbers a value out of turn");
    if (number == machine->memo.count)
        return append(machine, &machine->memo, last);
    machine->memo.items[number] = last;
    return true;
}

static bool run_get(struct machine *machine)
{
    if (machine->number >= machine->memo.count)
        return wrong(machine, "asks for a value that has no such number");
    return push(machine, machine->memo.items[machine->number]);
}

/* --- names and what is made by them ------------------------------------------------------------------------------ */

static bool make_ordered(struct machine *machine, const struct pickle_value *arguments)
{
    (void)arguments;
    return push_new(machine, (struct pickle_value){.kind = PICKLE_DICT, .ordered = true});
}

static bool make_tensor(struct machine *machine, const struct pickle_value *arguments)
{
    machine->pickle->tensor_count++;
    return push_new(machine, (struct pickle_value){.kind = PICKLE_TENSOR, .tuple = arguments});
}

static bool make_parameter(struct machine *machine, const struct pickle_value *arguments)
{
    const struct pickle_value *tensor = arguments->items.items[0];
    return tensor->kind == PICKLE_TENSOR ? push(machine, tensor) : wrong(machine, "a parameter that is no tensor");
}

/* The functions that a pickle may name, and the numbers of their arguments. */
static const struct function {
    const char *module, *name;
    size_t least, most;
    bool (*make)(struct machine *machine, const struct pickle_value *arguments);
    struct pickle_value value; /* its value on the stack */
} FUNCTIONS[] = {
    {"collections", "OrderedDict", 0, 0, make_ordered, {.kind = PICKLE_FUNCTION}},
    {"torch._utils", "_rebuild_tensor_v2", 6, 7, make_tensor, {.kind = PICKLE_FUNCTION}},
    {"torch._utils", "_rebuild_tensor_v3", 7, 8, make_tensor, {.kind = PICKLE_FUNCTION}},
    {"torch._utils", "_rebuild_parameter", 3, 3, make_parameter, {.kind = PICKLE_FUNCTION}},
};

enum { FUNCTION_COUNT = sizeof FUNCTIONS / sizeof FUNCTIONS[0] };

static bool unknown(const struct machine *machine, const struct pickle_text *module, const struct pickle_text *name)
{
    error_usage(machine->error,
                "%s: holds '%.*s.%.*s', a Python object such as a module; attn runs nothing from a "
                "file; save named tensors: torch.save(model.state_dict(), ...)",
                machine->source, (int)memory_smaller(module->length, 80), module->bytes,
                (int)memory_smaller(name->length, 80), name->bytes);
    return false;
}

static bool push_name(struct machine *machine, const struct pickle_text *module, const struct pickle_text *name)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (text_is(module, FUNCTIONS[i].module) && text_is(name, FUNCTIONS[i].name))
            return push(machine, &FUNCTIONS[i].value);
    if (!text_is(module, "torch"))
        return unknown(machine, module, name);
    return push_new(machine, (struct pickle_value){.kind = PICKLE_NAME, .text = *name});
}

/* Two lines: the module and the name. */
static bool run_lines(struct machine *machine)
{
    struct pickle_text lines[2];
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

static bool run_stack_name(struct machine *machine)
{
    const struct pickle_value *module = machine->values.items[0], *name = machine->values.items[1];
    if (module->kind != PICKLE_TEXT || name->kind != PICKLE_TEXT)
        return wrong(machine, "a name that is no string");
    return push_name(machine, &module->text, &name->text);
}

static bool run_reduce(struct machine *machine)
{
    const struct pickle_value *called = machine->values.items[0], *arguments = machine->values.items[1];
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

static bool run_storage(struct machine *machine)
{
    const struct pickle_value *tuple = machine->values.items[0];
    if (tuple->kind != PICKLE_TUPLE)
        return wrong(machine, "a persistent id that is no tuple");
    return push_new(machine, (struct pickle_value){.kind = PICKLE_STORAGE, .tuple = tuple});
}

/* Ignores the state of an OrderedDict, the versions of modules. */
static bool run_build(struct machine *machine)
{
    const struct pickle_value *state = machine->values.items[0], *dict = top(machine, PICKLE_DICT);
    return dict != NULL &&
           ((dict->ordered && state->kind == PICKLE_DICT) || wrong(machine, "a state of no OrderedDict"));
}

/* --- the program ------------------------------------------------------------------------------------------------- */

static bool run_protocol(struct machine *machine)
{
    return machine->number <= LATEST_PROTOCOL || wrong(machine, "a protocol of a later Python");
}

static bool run_frame(struct machine *machine)
{
    return machine->number <= machine->length - machine->at || wrong(machine, "a frame beyond the end");
}

static bool run_stop(struct machine *machine)
{
    if (machine->stack.count > 0)
        return wrong(machine, "ends with more than one value");
    machine->pickle->root = machine->values.items[0];
    machine->stopped = true;
    return true;
}

static const struct opcode OPCODES[256] = {
    [0x80] = {run_protocol, FORM_1, PICKLE_NONE, 0},       /* PROTO */
    [0x95] = {run_frame, FORM_8, PICKLE_NONE, 0},          /* FRAME */
    ['.'] = {run_stop, FORM_NONE, PICKLE_NONE, 1},         /* STOP */
    ['('] = {run_plain, FORM_NONE, PICKLE_MARK, 0},        /* MARK */
    ['N'] = {run_plain, FORM_NONE, PICKLE_NONE, 0},        /* NONE */
    [0x88] = {run_true, FORM_NONE, PICKLE_TRUTH, 0},       /* NEWTRUE */
    [0x89] = {run_plain, FORM_NONE, PICKLE_TRUTH, 0},      /* NEWFALSE */
    ['G'] = {run_float, FORM_8, PICKLE_NUMBER, 0},         /* BINFLOAT */
    ['K'] = {run_whole, FORM_1, PICKLE_WHOLE, 0},          /* BININT1 */
    ['M'] = {run_whole, FORM_2, PICKLE_WHOLE, 0},          /* BININT2 */
    ['J'] = {run_whole, FORM_4, PICKLE_WHOLE, 0},          /* BININT */
    [0x8a] = {run_long, FORM_BYTES_1, PICKLE_NUMBER, 0},   /* LONG1 */
    [0x8b] = {run_long, FORM_BYTES_4, PICKLE_NUMBER, 0},   /* LONG4 */
    [0x8c] = {run_text, FORM_BYTES_1, PICKLE_TEXT, 0},     /* SHORT_BINUNICODE */
    ['X'] = {run_text, FORM_BYTES_4, PICKLE_TEXT, 0},      /* BINUNICODE */
    [0x8d] = {run_text, FORM_BYTES_8, PICKLE_TEXT, 0},     /* BINUNICODE8 */
    ['U'] = {run_text, FORM_BYTES_1, PICKLE_TEXT, 0},      /* SHORT_BINSTRING */
    ['T'] = {run_text, FORM_BYTES_4, PICKLE_TEXT, 0},      /* BINSTRING */
    ['C'] = {run_plain, FORM_BYTES_1, PICKLE_BYTES, 0},    /* SHORT_BINBYTES */
    ['B'] = {run_plain, FORM_BYTES_4, PICKLE_BYTES, 0},    /* BINBYTES */
    [0x8e] = {run_plain, FORM_BYTES_8, PICKLE_BYTES, 0},   /* BINBYTES8 */
    [')'] = {run_plain, FORM_NONE, PICKLE_TUPLE, 0},       /* EMPTY_TUPLE */
    [0x85] = {run_tuple, FORM_NONE, PICKLE_TUPLE, 1},      /* TUPLE1 */
    [0x86] = {run_tuple, FORM_NONE, PICKLE_TUPLE, 2},      /* TUPLE2 */
    [0x87] = {run_tuple, FORM_NONE, PICKLE_TUPLE, 3},      /* TUPLE3 */
    ['t'] = {run_tuple, FORM_NONE, PICKLE_TUPLE, TO_MARK}, /* TUPLE */
    [']'] = {run_plain, FORM_NONE, PICKLE_LIST, 0},        /* EMPTY_LIST */
    ['a'] = {run_append, FORM_NONE, PICKLE_LIST, 1},       /* APPEND */
    ['e'] = {run_append, FORM_NONE, PICKLE_LIST, TO_MARK}, /* APPENDS */
    ['}'] = {run_plain, FORM_NONE, PICKLE_DICT, 0},        /* EMPTY_DICT */
    ['s'] = {run_append, FORM_NONE, PICKLE_DICT, 2},       /* SETITEM */
    ['u'] = {run_append, FORM_NONE, PICKLE_DICT, TO_MARK}, /* SETITEMS */
    ['q'] = {run_put, FORM_1, PICKLE_NONE, 1},             /* BINPUT */
    ['r'] = {run_put, FORM_4, PICKLE_NONE, 1},             /* LONG_BINPUT */
    [0x94] = {run_put, FORM_NONE, PICKLE_NONE, 1},         /* MEMOIZE */
    ['h'] = {run_get, FORM_1, PICKLE_NONE, 0},             /* BINGET */
    ['j'] = {run_get, FORM_4, PICKLE_NONE, 0},             /* LONG_BINGET */
    ['c'] = {run_lines, FORM_NONE, PICKLE_NAME, 0},        /* GLOBAL */
    [0x93] = {run_stack_name, FORM_NONE, PICKLE_NAME, 2},  /* STACK_GLOBAL */
    ['R'] = {run_reduce, FORM_NONE, PICKLE_NONE, 2},       /* REDUCE */
    ['b'] = {run_build, FORM_NONE, PICKLE_NONE, 1},        /* BUILD */
    ['Q'] = {run_storage, FORM_NONE, PICKLE_STORAGE, 1},   /* BINPERSID */
};

static bool take_operand(struct machine *machine, enum form form)
{
    const size_t size = form & ~(unsigned)FORM_BYTES, left = machine->length - machine->at;
    if (size > left)
        return wrong(machine, "the pickle ends within it");
    machine->number = memory_number(machine->bytes + machine->at, size);
    machine->at += size;
    machine->text = machine->bytes + machine->at;
    if ((form & FORM_BYTES) == 0)
        return true;
    if (machine->number > left - size)
        return wrong(machine, "the pickle ends within it");
    machine->at += (size_t)machine->number;
    return true;
}

static bool step(struct machine *machine)
{
    machine->place = machine->at;
    if (machine->at == machine->length)
        return wrong(machine, "the pickle ends without a STOP");
    const unsigned char code = machine->bytes[machine->at++];
    machine->opcode = &OPCODES[code];
    if (machine->opcode->run != NULL)
        return take_operand(machine, machine->opcode->form) && take_values(machine) && machine->opcode->run(machine);
    error_usage(machine->error, "%s: byte %zu of the pickle: opcode 0x%02x, which torch.save does not write",
                machine->source, machine->place + 1, code);
    return false;
}

enum status pickle_read(const char *source, const unsigned char *bytes, size_t length, struct arena *arena,
                        struct pickle *pickle, struct error *error)
{
    struct machine machine = {
        .source = source, .bytes = bytes, .length = length, .pickle = pickle, .arena = arena, .error = error};
    *pickle = (struct pickle){0};
    while (!machine.stopped)
        if (!step(&machine))
            return error->status;
    if (machine.at == length)
        return STATUS_OK;
    return error_usage(error, "%s: the pickle has %zu bytes after its end", source, length - machine.at);
}
