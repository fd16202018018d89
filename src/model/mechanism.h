/* The mechanisms: each is a command, and what a result says made it. */
#ifndef ATTN_MODEL_MECHANISM_H
#define ATTN_MODEL_MECHANISM_H

#include <stdbool.h>

/* Which tokens a query sees, before any other rule of a mask. */
enum causality {
    CAUSALITY_NEVER,       /* all */
    CAUSALITY_ALWAYS,      /* itself and those before it */
    CAUSALITY_UNLESS_SAID, /* so, unless --no-causal says otherwise */
    CAUSALITY_IF_SAID,     /* all, unless --causal says otherwise */
};

struct mechanism_row {
    const char *name;    /* the command, and "mechanism" in a result */
    const char *title;   /* how a sentence begins */
    const char *summary; /* what it does, in a line */
    bool projects;       /* query, key and value are made of inputs; else they are given */
    bool splits;         /* the inputs' columns are cut into heads, which `output` puts together again */
    enum causality causality;
};

/* A row a mechanism: its identifier, and the fields of struct mechanism_row. */
#define MECHANISM_ROWS(ROW)                                                                                   \
    ROW(SELF, .name = "self", .title = "self-attention", .summary = "one head, every token sees every token", \
        .projects = true, .causality = CAUSALITY_NEVER)                                                       \
    ROW(CAUSAL, .name = "causal", .title = "causal attention",                                                \
        .summary = "one head, each token sees itself and the tokens before it", .projects = true,             \
        .causality = CAUSALITY_ALWAYS)                                                                        \
    ROW(MULTIHEAD, .name = "multihead", .title = "multi-head attention",                                      \
        .summary = "several heads, causal unless --no-causal", .projects = true, .splits = true,              \
        .causality = CAUSALITY_UNLESS_SAID)                                                                   \
    ROW(SDPA, .name = "sdpa", .title = "scaled dot-product attention",                                        \
        .summary = "attention on a given query, key and value", .causality = CAUSALITY_IF_SAID)

#define MECHANISM_ID(id, ...) MECHANISM_##id,
enum mechanism { MECHANISM_ROWS(MECHANISM_ID) MECHANISM_COUNT };
#undef MECHANISM_ID

extern const struct mechanism_row MECHANISMS[MECHANISM_COUNT];

/* The mechanism of that name, or MECHANISM_COUNT; NULL has none. */
enum mechanism mechanism_find(const char *name);

#endif
