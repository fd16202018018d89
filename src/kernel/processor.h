/* SPDX-License-Identifier: MIT */
/* Features of the processor. */
#pragma once

#include <stdbool.h>

/* Whether processor and system have a feature, by its names in the C library and in the compiler. The library already
 * knows when the program begins; the compiler's code would ask the processor again, in every process, which is slow on
 * a virtual machine. */
#define PROCESSOR_HAS(library, compiler) (__builtin_cpu_supports(compiler) != 0)
#ifdef __has_include
#if __has_include(<sys/platform/x86.h>) /* glibc 2.33 */
#include <sys/platform/x86.h>
#undef PROCESSOR_HAS
#define PROCESSOR_HAS(library, compiler) CPU_FEATURE_ACTIVE(library)
#endif
#endif

/* The rest __builtin_cpu_supports does not report everywhere. */

/* Whether the processor has AMX with bfloat16 and the system lets this process use it; requests that permission, once
 * for all threads. */
bool processor_has_amx(void);

/* Whether VDPBF16PS is twice as fast as multiplying floats, as on AMD from Zen 4 on. On Intel it is half as fast. */
bool processor_has_fast_pairs(void);
