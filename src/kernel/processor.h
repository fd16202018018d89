/* SPDX-License-Identifier: MIT */
/* Processor features that __builtin_cpu_supports does not report everywhere. */
#ifndef ATTN_KERNEL_PROCESSOR_H
#define ATTN_KERNEL_PROCESSOR_H

#include <stdbool.h>

/* Whether the processor has AMX with bfloat16 and the system lets this process use it; requests that permission, once
 * for all threads. */
bool processor_has_amx(void);

/* Whether VDPBF16PS is twice as fast as multiplying floats, as on AMD from Zen 4 on. On Intel it is half as fast. */
bool processor_has_fast_pairs(void);

#endif
