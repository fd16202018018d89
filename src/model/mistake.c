/* SPDX-License-Identifier: MIT */
#include "model/mistake.h"

#include "base/decimal.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
#define MISTAKE_FORMS(...) (const char *const[]){__VA_ARGS__, NULL}
/* clang-format on */
#define ROW(id, of_slot, ...) [MISTAKE_##id] = {.slot = MISTAKE_SLOT_##of_slot, __VA_ARGS__},
const struct mistake_row MISTAKES[MISTAKE_COUNT] = {
#include "model/mistake_rows.h"
};

#define ROW(id, ...) ROW_OF_##id,
enum {
#include "model/mistake_rows.h"
    ROWS
};
_Static_assert((int)ROWS == (int)MISTAKE_COUNT, "each id of mistake.h has a row");

struct slot_row {
    const char *name;
    enum stage first;
    const char *section;
};

#define SLOT_ENTRY(id, name, first, section) [MISTAKE_SLOT_##id] = {name, STAGE_##first, section},
static const struct slot_row SLOTS[MISTAKE_SLOT_COUNT] = {MISTAKE_SLOTS(SLOT_ENTRY)};

const char *mistake_section(enum mistake mistake)
{
    return MISTAKES[mistake].section != NULL ? MISTAKES[mistake].section : SLOTS[MISTAKES[mistake].slot].section;
}

const char *mistake_slot_name(enum mistake_slot slot)
{
    return SLOTS[slot].name;
}

enum stage mistake_slot_stage(enum mistake_slot slot)
{
    return SLOTS[slot].first;
}

enum mistake mistake_of_dtype(enum dtype dtype)
{
    enum mistake id = 0;
    while (id < MISTAKE_COUNT && (dtype == DTYPE_COUNT || mistake_dtype(id) != dtype))
        id++;
    return id;
}

enum dtype mistake_dtype(enum mistake mistake)
{
    static const char BEFORE[] = "dtype-";
    const char *name = MISTAKES[mistake].name;
    return strncmp(name, BEFORE, sizeof BEFORE - 1) == 0 ? dtype_find(dtype_name, name + sizeof BEFORE - 1)
                                                         : DTYPE_COUNT;
}

const char *mistake_text(struct mistake_choice choice, char *text)
{
    const struct mistake_row *row = &MISTAKES[choice.id];
    char number[DECIMAL_BYTES];
    decimal_from_double(choice.form, number);
    if (row->forms != NULL)
        snprintf(text, MISTAKE_NAME_BYTES, "%s:%s", row->name, row->forms[(size_t)choice.form]);
    else if (row->number != NULL)
        snprintf(text, MISTAKE_NAME_BYTES, "%s:%s", row->name, number);
    else
        snprintf(text, MISTAKE_NAME_BYTES, "%s", row->name);
    return text;
}
