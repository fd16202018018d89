#include "base/text.h"
#include "kernel/kernel.h"

#include <string.h>

/* A part of a row that is compiled on that machine alone, and what stands for it elsewhere. */
#define ANY(here, elsewhere) here
#ifdef __x86_64__
#define X86_64(here, elsewhere) here
#else
#define X86_64(here, elsewhere) elsewhere
#endif

#define HAS(feature) (__builtin_cpu_supports(feature) != 0)

/* A row for each file isa_NAME.c, from the slowest on: NAME, the machine, and whether this processor can. */
#define INSTRUCTION_SETS(ROW)                    \
    ROW(baseline, ANY, true)                     \
    ROW(avx2, X86_64, HAS("avx2") && HAS("fma")) \
    ROW(avx512, X86_64,                          \
        HAS("avx2") && HAS("fma") && HAS("avx512f") && HAS("avx512vl") && HAS("avx512bw") && HAS("avx512dq"))

#define DECLARED(name, machine, present)      \
    extern const struct kernel kernel_##name; \
    static bool has_##name(void)              \
    {                                         \
        return machine(present, false);       \
    }
#define CHOICE(name, machine, present) {#name, machine(&kernel_##name, NULL), has_##name},

INSTRUCTION_SETS(DECLARED)

static const struct choice {
    const char *name;
    const struct kernel *kernel; /* NULL: not for this kind of processor */
    bool (*present)(void);
} CHOICES[] = {INSTRUCTION_SETS(CHOICE)};

enum { CHOICE_COUNT = sizeof CHOICES / sizeof CHOICES[0] };

const char *kernel_isa(size_t index)
{
    return index < CHOICE_COUNT ? CHOICES[index].name : NULL;
}

static enum status unknown(const char *name, struct error *error)
{
    const char *names[CHOICE_COUNT];
    char list[120];
    for (size_t i = 0; i < CHOICE_COUNT; i++)
        names[i] = CHOICES[i].name;
    return error_usage(error, "ATTN_ISA: no instruction set '%.80s', expected %s", name,
                       text_alternatives(names, CHOICE_COUNT, list, sizeof list));
}

const struct kernel *kernel_choose(const char *forced, struct error *error)
{
    const bool free_choice = forced == NULL || forced[0] == '\0';
    const struct choice *choice = NULL;
    for (size_t i = 0; i < CHOICE_COUNT; i++)
        if (free_choice ? CHOICES[i].present() : strcmp(forced, CHOICES[i].name) == 0)
            choice = &CHOICES[i];
    if (choice == NULL)
        unknown(forced, error);
    else if (choice->present())
        return choice->kernel;
    else
        error_usage(error, "ATTN_ISA: this processor has no %s; leave ATTN_ISA unset to use what it has", forced);
    return NULL;
}
