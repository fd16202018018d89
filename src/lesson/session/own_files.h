/* SPDX-License-Identifier: MIT */
/* The files in the folder of a lesson that the reader made or changed, apart from those of its commands. */
#ifndef ATTN_LESSON_SESSION_OWN_FILES_H
#define ATTN_LESSON_SESSION_OWN_FILES_H

#include "base/memory.h"

#include <stdbool.h>
#include <sys/stat.h>

struct own_file {
    char *name;
    struct stat seen; /* at the last look */
    bool own;         /* the reader made it, or changed it last */
    struct own_file *next;
};

/* Looks at the regular files of the folder, and adds them to the list: whose changes since the last look are the
 * reader's if `own`, else the lesson's. STATUS_SYSTEM where memory is short, or the folder cannot be read. */
enum status own_files_look(struct own_file **files, const char *folder, bool own, struct arena *arena,
                           struct error *error);

/* Whether it is still there. */
bool own_files_are_there(const char *folder, const struct own_file *file);

/* The reader's file that the command names; or NULL. */
const char *own_files_named(const struct own_file *files, const char *command);

/* The reader's file that the command would write over, by > or -o; or NULL. */
const char *own_files_lost(const struct own_file *files, const char *command);

/* Copies a file of the folder to a new one. STATUS_SYSTEM where it cannot be made; `there`: because one of that name is
 * there already. */
enum status own_files_keep(const char *folder, const char *name, const char *target, bool *there, struct error *error);

#endif
