/* SPDX-License-Identifier: MIT */
#include "kernel/processor.h"

#include "base/system.h"

#ifdef __x86_64__

#include <cpuid.h>
#include <string.h>

enum { AMX_BF16 = 1 << 22 }; /* in EDX of leaf 7 */

bool processor_has_amx(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return system_grants_tiles() && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & (unsigned)AMX_BF16) != 0;
}

bool processor_has_fast_pairs(void)
{
    char name[12];
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0, &a, &b, &c, &d) == 0)
        return false;
    memcpy(name, &b, 4);
    memcpy(name + 4, &d, 4);
    memcpy(name + 8, &c, 4);
    return memcmp(name, "AuthenticAMD", sizeof name) == 0;
}

#else

bool processor_has_amx(void)
{
    return false;
}

bool processor_has_fast_pairs(void)
{
    return false;
}

#endif
