/* SPDX-License-Identifier: MIT */
/* Calls that differ between systems. Most have two versions in system.c: one for Linux, and one in POSIX for all
 * others. -DPORTABLE compiles the POSIX version on Linux, to test it there. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

/* Reads up to `room` bytes, and waits for them if a signal interrupts it or the descriptor does not block. Returns how
 * many, 0 at the end, or -1 and errno. */
ssize_t system_read(int file, void *bytes, size_t room);

/* Opens a file without a name in the folder, for writing, and *named, a second descriptor, by which it gets a name once
 * the first is closed. -1 where the system, or the file system, has no such files: POSIX has none. */
int system_open_unnamed(const char *folder, int *named);

/* Gives it a name that nothing has. Returns 0, or -1 and errno. */
int system_name(int named, const char *path);

/* Reserves room for `length` bytes of the file. POSIX would change its length: attn then only asks whether the volume
 * has them. Returns 0, or -1 and errno. */
int system_reserve(int file, off_t length);

/* Opens a file for what a command writes; in memory, or without a name in the folder. -1 and errno where there is
 * none. */
int system_open_scratch(const char *folder);

/* Writes a path of the folder without its name, through a descriptor that stays open. False where there is none, as in
 * POSIX. */
bool system_path_by_descriptor(const char *folder, char path[PATH_MAX]);

/* Writes the path of this program, which was called by the name argv[0]; POSIX searches PATH. False where it is not
 * found. */
bool system_program(const char *called, char path[PATH_MAX]);

struct timespec system_written(const struct stat *file);

/* Asks for large pages. POSIX has none to ask for. */
void system_prefer_large_pages(void *memory, size_t bytes);

/* The limit of the process's control group in bytes; infinite where there is none, as outside Linux. */
double system_memory_limit(void);

/* The processors that this process may use; POSIX counts those of the machine. */
unsigned system_processors(void);

/* Asks for the tiles of AMX. False on processors without them, on Linux before 5.16 and on other systems. */
bool system_grants_tiles(void);
