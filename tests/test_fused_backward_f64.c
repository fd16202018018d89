/* SPDX-License-Identifier: MIT */
/* test_fused_backward.c once more, in double. */
#define DOUBLES
#include "test_fused_backward.c"
