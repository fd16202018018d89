/* SPDX-License-Identifier: MIT */
/* The help of a command, before its options. */
#pragma once

enum { MANUAL_EXAMPLES = 3 };

struct manual_example {
    const char *command, *what;
};

struct manual {
    const char *summary;     /* in a line, among the commands */
    const char *usage;       /* "attn self [options] [FILE]"; MECHANISM: all that the command may name */
    const char *description; /* in a sentence or two */
    struct manual_example examples[MANUAL_EXAMPLES];
    const char *stages; /* of a mechanism: its stages in order, and which options add others; or NULL */
    const char *page;   /* of the manual, besides attn(1); or NULL */
};
