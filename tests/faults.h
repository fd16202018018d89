/* SPDX-License-Identifier: MIT */
/* Planned faults: the linker puts these wrappers between the program and the system (-Wl,--wrap=NAME for each of
 * FAULT_NAMES in the Makefile), so the program needs no hook. A plan names the call that fails, from which time on, and
 * how. */
#ifndef ATTN_FAULTS_H
#define ATTN_FAULTS_H

#include <stdatomic.h>
#include <stdbool.h>

/* Calls counted together. */
enum fault_call {
    CALL_ALLOCATE, /* malloc, calloc, realloc */
    CALL_OPEN,
    CALL_STAT,
    CALL_FSTAT,
    CALL_LSEEK,
    CALL_MMAP,
    CALL_READ,
    CALL_WRITE,
    CALL_PART,   /* pwrite */
    CALL_SKIP,   /* lseek beyond what pwrite wrote */
    CALL_CLOSE,  /* close of a file that was read */
    CALL_FINISH, /* close of a file that was written */
    CALL_ACCESS,
    CALL_READLINK,
    CALL_MKSTEMP,
    CALL_FCHMOD,
    CALL_FCHOWN,
    CALL_UNNAMED, /* open of a file without a name, and of the descriptor that names it */
    CALL_LINK,
    CALL_RENAME,
    CALL_THREAD,
    CALL_LOCALE,
    CALL_FOPEN,
    CALL_LIMITS, /* sysconf, getrlimit, sched_getaffinity */
    CALL_ROOM,   /* fallocate, fstatvfs */
    CALL_COUNT,
    CALL_SYSTEM = CALL_COUNT /* as a plan's call: any but CALL_ALLOCATE */
};

extern const char *const FAULT_CALLS[CALL_COUNT];

enum fault_kind {
    FAULT_NONE,
    FAULT_FAIL,    /* the call fails with errno `code` */
    FAULT_SHORT,   /* read and write: only one byte */
    FAULT_NOTHING, /* read and write: 0 */
    FAULT_BEFORE,  /* the signal `code` comes before the call */
    FAULT_AFTER,   /* the signal `code` comes after the call */
    FAULT_CUT      /* before the call, the file `path` becomes empty */
};

/* In memory that parent and child share. */
struct faults {
    atomic_bool armed; /* calls count, and the plan holds */
    enum fault_call call;
    enum fault_kind kind;
    long at; /* the first is 1 */
    bool onwards;
    bool unmapped; /* every mmap fails */
    bool named;    /* no file may be without a name */
    int code;
    const char *path;
    atomic_long counts[CALL_COUNT + 1]; /* the last one is CALL_SYSTEM's */
    atomic_long injected;
    atomic_long blocks, maps, files; /* held and not yet released */
};

extern struct faults *faults;

#endif
