/* SPDX-License-Identifier: MIT */
/* The pages of the help that are about no command. */
#ifndef ATTN_CLI_HELP_PAGES_H
#define ATTN_CLI_HELP_PAGES_H

/* A row a page: its identifier, its name behind `attn help`, what it tells, and the function that writes it,
 * of help.c or a file of its own. */
#define HELP_PAGE_ROWS(ROW)                                                                           \
    ROW(COMMANDS, "commands", "the commands, and how each is called", help_write_commands)            \
    ROW(CLASSES, "classes", "the command line for each class of PyTorch", help_write_classes)         \
    ROW(MISTAKES, "mistakes", "the mistakes that people make in attention code", help_write_mistakes) \
    ROW(FAMILIES, "families", "the models whose attention is known", help_write_families)             \
    ROW(SCHEMA, "schema", "the JSON Schema of what attn writes as JSON", help_write_schema)            \
    ROW(ALL, "all", "all options of all commands", help_write_all)

#define HELP_PAGE_ID(id, ...) HELP_PAGE_##id,
enum help_page { HELP_PAGE_ROWS(HELP_PAGE_ID) HELP_PAGE_COUNT };
#undef HELP_PAGE_ID

#endif
