/* SPDX-License-Identifier: MIT */
/* test_fused.c once more, in double. */
#define DOUBLES
#include "test_fused.c"
