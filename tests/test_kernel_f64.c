/* SPDX-License-Identifier: MIT */
/* test_kernel.c once more, in double. */
#define DOUBLES
#include "test_kernel.c"
