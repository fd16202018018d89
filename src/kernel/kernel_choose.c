#include "kernel/kernel.h"

#include <string.h>

#ifdef __x86_64__
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}
#endif

static bool has_baseline(void)
{
    return true;
}

struct choice {
    const char *name;
    const struct kernel *kernel; /* NULL: not for this kind of processor */
    bool (*present)(void);
};

/* The fastest first. */
static const struct choice choices[] = {
#ifdef __x86_64__
    {"avx512", &kernel_avx512, has_avx512},
    {"avx2", &kernel_avx2, has_avx2},
#else
    {"avx512", NULL, NULL},
    {"avx2", NULL, NULL},
#endif
    {"baseline", &kernel_baseline, has_baseline},
};

static bool usable(const struct choice *choice)
{
    return choice->kernel != NULL && choice->present();
}

const struct kernel *kernel_choose(const char *forced, struct error *error)
{
    const bool free_choice = forced == NULL || forced[0] == '\0';
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        if (free_choice ? usable(&choices[i]) : strcmp(forced, choices[i].name) == 0) {
            if (usable(&choices[i]))
                return choices[i].kernel;
            error_usage(error, "ATTN_ISA: this processor has no %s; leave ATTN_ISA unset to use what it has", forced);
            return NULL;
        }
    }
    error_usage(error, "ATTN_ISA: no instruction set '%.80s', expected baseline, avx2 or avx512", forced);
    return NULL;
}
