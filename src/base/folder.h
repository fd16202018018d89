/* SPDX-License-Identifier: MIT */
/* A folder of files that appears complete or not at all.
 *
 * folder_open creates it next to its target, as .attn.XXXXXX, and folder_close renames it. Until then signals that end
 * a program wait: folder_file notices them, and folder_abandon removes all files before it lets them through. Only
 * SIGKILL leaves files behind. The caller ends each folder_open with one folder_close or one folder_abandon. */
#pragma once

#include "base/memory.h"

#include <signal.h>
#include <sys/types.h>

struct folder {
    const char *target;         /* as messages show it */
    char *made;                 /* the temporary name */
    struct folder_made *newest; /* its files and folders, the last one first */
    mode_t mode;                /* of an existing empty folder; 0: there is none */
    sigset_t before;            /* the signal mask to restore */
    struct arena *arena;
    struct error *error;
};

/* Creates it. STATUS_USAGE where the target exists, unless it is an empty folder; STATUS_SYSTEM where the system
 * refuses. */
enum status folder_open(struct folder *folder, const char *target, struct arena *arena, struct error *error);

/* Creates a folder in it. STATUS_SYSTEM where the system refuses. */
enum status folder_within(struct folder *folder, const char *name);

/* Writes a file into it: "edge-16/query.npy". STATUS_SYSTEM where that fails, or a signal waits. */
enum status folder_file(struct folder *folder, const char *name, const char *bytes, size_t length);

/* Renames it to its target, or removes it where that fails. */
enum status folder_close(struct folder *folder);

/* Removes it with all that is in it. */
void folder_abandon(struct folder *folder);

/* Whether the path is a folder, or a link to one. */
bool folder_is(const char *path);

/* What follows the last slash of the path, or the path. */
const char *folder_base(const char *path);

/* "DIR/NAME", in the arena; NULL where memory is short. */
char *folder_path(const char *folder, const char *name, struct arena *arena, struct error *error);

/* STATUS_USAGE where a file found in a folder is a pipe, a socket or a device: opening a pipe that nobody writes to
 * would wait for ever. A missing file and a folder pass; opening them reports the error. */
enum status folder_check_file(const char *path, struct error *error);

/* The names in a folder but . and .., in order, into *names (the arena's). STATUS_SYSTEM where it cannot be read. */
enum status folder_list(const char *path, const char ***names, size_t *count, struct arena *arena, struct error *error);
