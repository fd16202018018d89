/* SPDX-License-Identifier: MIT */
/* The pages of the help that are about no command. */
#ifndef ATTN_CLI_HELP_PAGES_H
#define ATTN_CLI_HELP_PAGES_H

/* A row for each page: identifier, name after `attn help`, summary, and function, in help.c or a separate file. */
#define HELP_PAGE_ROWS(ROW)                                                                             \
    ROW(COMMANDS, "commands", "the commands and their arguments", help_write_commands)                  \
    ROW(STAGES, "stages", "the stages: what attn computes on the way to the result", help_write_stages) \
    ROW(CLASSES, "classes", "the command line for each class of PyTorch", help_write_classes)           \
    ROW(MISTAKES, "mistakes", "the mistakes that people make in attention code", help_write_mistakes)   \
    ROW(FAMILIES, "families", "the models whose attention is known", help_write_families)               \
    ROW(SCHEMA, "schema", "the JSON Schema of what attn writes as JSON", help_write_schema)             \
    ROW(ALL, "all", "every option of every command", help_write_all)

#define HELP_PAGE_ID(id, ...) HELP_PAGE_##id,
enum help_page { HELP_PAGE_ROWS(HELP_PAGE_ID) HELP_PAGE_COUNT };
#undef HELP_PAGE_ID

#endif
