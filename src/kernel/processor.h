/* SPDX-License-Identifier: MIT */
/* What the C library and the compiler do not say of every processor with __builtin_cpu_supports. */
#ifndef ATTN_KERNEL_PROCESSOR_H
#define ATTN_KERNEL_PROCESSOR_H

#include <stdbool.h>

/* Whether there is AMX with bfloat16, and the system lets this process use it: that is asked for here, once for all
 * threads. */
bool processor_has_amx(void);

/* Whether VDPBF16PS, where it is there, is twice as fast as multiplying floats: on AMD's, from Zen 4 on. On Intel's it
 * is half as fast. */
bool processor_has_fast_pairs(void);

#endif
