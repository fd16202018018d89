/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "kernel/kernel.h"
#include "kernel/processor.h"

#include <string.h>

/* A part of a row that only that machine compiles, and its replacement elsewhere. */
#define ANY(here, elsewhere) here
#ifdef __x86_64__
#define X86_64(here, elsewhere) here
#else
#define X86_64(here, elsewhere) elsewhere
#endif

/* Files that the Makefile leaves out for an old compiler. */
#define NOWHERE(here, elsewhere) elsewhere
#ifdef WITHOUT_avx512bf16
#define AVX512BF16 NOWHERE
#else
#define AVX512BF16 X86_64
#endif
#ifdef WITHOUT_amx
#define AMX NOWHERE
#else
#define AMX X86_64
#endif

/* The kernels of a file: one row per dtype. Those of kernel_body.h have all. */
#define VECTOR(ROW, name) ROW(name##_f32) ROW(name##_f64) ROW(name##_f16) ROW(name##_bf16)
#define PAIRS(ROW, name) ROW(name##_bf16) ROW(name##_bf16_one_part)
#define PARTS(ROW, name) PAIRS(ROW, name) ROW(name##_f16)

#define HAS_AVX512                                                                                    \
    (PROCESSOR_HAS(AVX2, "avx2") && PROCESSOR_HAS(FMA, "fma") && PROCESSOR_HAS(AVX512F, "avx512f") && \
     PROCESSOR_HAS(AVX512VL, "avx512vl") && PROCESSOR_HAS(AVX512BW, "avx512bw") &&                    \
     PROCESSOR_HAS(AVX512DQ, "avx512dq"))

/* One row per file isa_NAME.c, the slowest first: NAME, its kernels, the machine, whether this processor has it, and
 * whether to choose it unforced. */
/* clang-format off */
#define INSTRUCTION_SETS(ROW)                                                                                         \
    ROW(baseline, VECTOR, ANY, true, true)                                                                            \
    ROW(avx2, VECTOR, X86_64, PROCESSOR_HAS(AVX2, "avx2") && PROCESSOR_HAS(FMA, "fma"), true)                                             \
    ROW(avx512, VECTOR, X86_64, HAS_AVX512, true)                                                                     \
    ROW(avx512bf16, PAIRS, AVX512BF16, HAS_AVX512 && PROCESSOR_HAS(AVX512_BF16, "avx512bf16"), processor_has_fast_pairs())      \
    ROW(amx, PARTS, AMX, HAS_AVX512 && processor_has_amx(), true)
/* clang-format on */

#define DECLARED_KERNEL(name) extern const struct kernel kernel_##name;
#define DECLARED(name, kernels, machine, present, fast)         \
    kernels(DECLARED_KERNEL, name) static bool has_##name(void) \
    {                                                           \
        return machine(present, false);                         \
    }                                                           \
    static bool wants_##name(void)                              \
    {                                                           \
        return machine(fast, false);                            \
    }

INSTRUCTION_SETS(DECLARED)

enum { MOST_KERNELS = 5, LIST_BYTES = 160 };

#define ADDRESS(name) &kernel_##name,
#define CHOICE(name, kernels, machine, present, fast) \
    {#name, has_##name, wants_##name, {machine(kernels(ADDRESS, name), ) NULL}},

static const struct choice {
    const char *name;
    bool (*present)(void);
    bool (*wanted)(void);
    const struct kernel *kernels[MOST_KERNELS + 1]; /* then NULL; empty on other machines */
} CHOICES[] = {INSTRUCTION_SETS(CHOICE)};

enum { CHOICE_COUNT = sizeof CHOICES / sizeof CHOICES[0] };

const char *kernel_isa(size_t index)
{
    return index < CHOICE_COUNT ? CHOICES[index].name : NULL;
}

const struct kernel *kernel_row(size_t index)
{
    for (size_t i = 0; i < CHOICE_COUNT; i++)
        for (size_t k = 0; CHOICES[i].kernels[k] != NULL; k++)
            if (index-- == 0)
                return CHOICES[i].kernels[k];
    return NULL;
}

/* The index of the name; CHOICE_COUNT: unknown. */
static size_t find(const char *name)
{
    size_t i = 0;
    while (i < CHOICE_COUNT && strcmp(name, CHOICES[i].name) != 0)
        i++;
    return i;
}

bool kernel_present(const struct kernel *kernel)
{
    return CHOICES[find(kernel->name)].present();
}

/* Writes "baseline, avx2 or avx512": all sets, or those of this processor. */
static const char *list(bool all, char text[LIST_BYTES])
{
    const char *names[CHOICE_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < CHOICE_COUNT; i++)
        if (all || CHOICES[i].present())
            names[count++] = CHOICES[i].name;
    return text_alternatives(names, count, text, LIST_BYTES);
}

static bool is_free(const char *forced)
{
    return forced == NULL || forced[0] == '\0';
}

enum status kernel_check(const char *forced, struct error *error)
{
    const size_t i = is_free(forced) ? 0 : find(forced);
    char text[LIST_BYTES];
    if (i == CHOICE_COUNT)
        return error_usage(error, "ATTN_ISA: unknown instruction set '%.80s'; expected %s", forced, list(false, text));
    if (!CHOICES[i].present())
        return error_usage(error, "ATTN_ISA: this processor has no %s; expected %s, or ATTN_ISA unset", forced,
                           list(false, text));
    return STATUS_OK;
}

static const struct kernel *kernel_of(const struct choice *choice, enum dtype dtype, bool one_part)
{
    for (size_t i = 0; choice->kernels[i] != NULL; i++)
        if (choice->kernels[i]->dtype == dtype && choice->kernels[i]->one_part == one_part)
            return choice->kernels[i];
    return one_part ? kernel_of(choice, dtype, false) : NULL;
}

bool kernel_takes(enum dtype dtype)
{
    return kernel_of(&CHOICES[0], dtype, false) != NULL;
}

const struct kernel *kernel_choose(const char *forced, enum dtype dtype, bool one_part, struct error *error)
{
    if (kernel_check(forced, error) != STATUS_OK)
        return NULL;
    const size_t most = is_free(forced) ? CHOICE_COUNT - 1 : find(forced);
    const struct kernel *kernel = NULL;
    for (size_t i = 0; i <= most; i++) {
        const struct kernel *own = kernel_of(&CHOICES[i], dtype, one_part);
        const bool asked = i == most && !is_free(forced);
        if (own != NULL && CHOICES[i].present() && (asked || CHOICES[i].wanted()))
            kernel = own;
    }
    if (kernel == NULL)
        (void)error_usage(error, "no kernel computes in %s", dtype_name(dtype));
    return kernel;
}
