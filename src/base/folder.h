/* SPDX-License-Identifier: MIT */
/* A folder of files that appears whole or not at all.
 *
 * It is made beside its target, as .attn.XXXXXX, and gets that name at the end. Until then signals that end a program
 * wait: folder_file sees them, and folder_abandon removes all before they come through. SIGKILL alone leaves something
 * behind. What folder_open has made ends in one folder_close or one folder_abandon. */
#ifndef ATTN_BASE_FOLDER_H
#define ATTN_BASE_FOLDER_H

#include "base/memory.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct folder {
    const char *target;         /* as messages have it */
    char *made;                 /* its name before that */
    struct folder_made *newest; /* what is in it, the last one first */
    mode_t mode;                /* of an empty folder that is there; 0: none is */
    sigset_t before;            /* the signals that waited before */
    struct arena *arena;
    struct error *error;
};

/* Makes it. STATUS_USAGE where the target is there, unless it is an empty folder; STATUS_SYSTEM where the system
 * refuses. */
enum status folder_open(struct folder *folder, const char *target, struct arena *arena, struct error *error);

/* Makes a folder in it. STATUS_SYSTEM where the system refuses. */
enum status folder_within(struct folder *folder, const char *name);

/* Writes a file into it: "edge-16/query.npy". STATUS_SYSTEM where that fails, or a signal waits. */
enum status folder_file(struct folder *folder, const char *name, const char *bytes, size_t length);

/* Gives it its name; where that fails it is removed. */
enum status folder_close(struct folder *folder);

/* Removes it with all that is in it. */
void folder_abandon(struct folder *folder);

/* "DIR/NAME", in the arena; NULL where memory is short. */
char *folder_path(const char *folder, const char *name, struct arena *arena, struct error *error);

/* Whether a file found in a folder ends: opening a pipe that nobody writes to would wait for ever. STATUS_USAGE where
 * it is a pipe, a socket or a device. Opening what is missing or is a folder says so. */
enum status folder_check_file(const char *path, struct error *error);

/* The names in a folder but . and .., in order, into *names (the arena's). STATUS_SYSTEM where it cannot be read. */
enum status folder_list(const char *path, const char ***names, size_t *count, struct arena *arena, struct error *error);

#endif
