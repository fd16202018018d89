/* SPDX-License-Identifier: MIT */
/* The least that a process can do: print one line. What attn on six tokens is measured against. */
#include <stdio.h>

int main(void)
{
    return puts("one line") < 0;
}
