/* SPDX-License-Identifier: MIT */
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Where files may be larger than the machine's words, the headers call these functions by other names. */
#ifdef __USE_FILE_OFFSET64
#define __real_open __real_open64
#define __wrap_open __wrap_open64
#define __real_stat __real_stat64
#define __wrap_stat __wrap_stat64
#define __real_fstat __real_fstat64
#define __wrap_fstat __wrap_fstat64
#define __real_lseek __real_lseek64
#define __wrap_lseek __wrap_lseek64
#define __real_mmap __real_mmap64
#define __wrap_mmap __wrap_mmap64
#define __real_mkstemp __real_mkstemp64
#define __wrap_mkstemp __wrap_mkstemp64
#define __real_fopen __real_fopen64
#define __wrap_fopen __wrap_fopen64
#define __real_getrlimit __real_getrlimit64
#define __wrap_getrlimit __wrap_getrlimit64
#define __real_pwrite __real_pwrite64
#define __wrap_pwrite __wrap_pwrite64
#define __real_fallocate __real_fallocate64
#define __wrap_fallocate __wrap_fallocate64
#define __real_fstatvfs __real_fstatvfs64
#define __wrap_fstatvfs __wrap_fstatvfs64
#endif

const char *const FAULT_CALLS[CALL_COUNT] = {"malloc",
                                             "open",
                                             "stat",
                                             "fstat",
                                             "lseek",
                                             "mmap",
                                             "read",
                                             "write",
                                             "pwrite",
                                             "lseek of the result",
                                             "close",
                                             "close of the result",
                                             "access",
                                             "readlink",
                                             "mkstemp",
                                             "fchmod",
                                             "fchown",
                                             "open of an unnamed file",
                                             "linkat",
                                             "rename",
                                             "pthread_create",
                                             "newlocale",
                                             "fopen",
                                             "sysconf",
                                             "fallocate or fstatvfs"};

static struct faults no_plan;
struct faults *faults = &no_plan;

/* Whether the plan's time has come at this call, which is counted. */
static bool is_due(enum fault_call call)
{
    if (!faults->armed)
        return false;
    long count = ++faults->counts[call];
    if (call != CALL_ALLOCATE && faults->call == CALL_SYSTEM)
        count = ++faults->counts[CALL_SYSTEM];
    else if (call != CALL_ALLOCATE)
        faults->counts[CALL_SYSTEM]++;
    if (faults->kind == FAULT_NONE || (faults->call != call && (faults->call != CALL_SYSTEM || call == CALL_ALLOCATE)))
        return false;
    if (faults->onwards ? count < faults->at : count != faults->at)
        return false;
    faults->injected++;
    return true;
}

/* What the plan has for this call; signals that come before it, and cuts, have then happened. */
static enum fault_kind begin(enum fault_call call)
{
    if (!is_due(call))
        return FAULT_NONE;
    if (faults->kind == FAULT_BEFORE)
        raise(faults->code);
    if (faults->kind == FAULT_CUT && truncate(faults->path, 0) != 0)
        faults->injected--;
    if (faults->kind == FAULT_FAIL)
        errno = faults->code;
    return faults->kind;
}

/* Behind the call: its errno stays. */
static void end(enum fault_kind kind)
{
    const int code = errno;
    if (kind == FAULT_AFTER)
        raise(faults->code);
    errno = code;
}

static void add(atomic_long *there, long count)
{
    if (faults->armed)
        *there += count;
}

/* type __wrap_NAME PARAMETERS: fails with `failure`, or calls __real_NAME ARGUMENTS; then `after` with its result. */
#define WRAP(call, failure, type, name, parameters, arguments, after) \
    type __real_##name parameters;                                    \
    type __wrap_##name parameters;                                    \
    type __wrap_##name parameters                                     \
    {                                                                 \
        const enum fault_kind kind = begin(call);                     \
        if (kind == FAULT_FAIL)                                       \
            return failure;                                           \
        type result = __real_##name arguments;                        \
        after;                                                        \
        end(kind);                                                    \
        return result;                                                \
    }

WRAP(CALL_ALLOCATE, NULL, void *, malloc, (size_t size), (size), add(&faults->blocks, result != NULL))
WRAP(CALL_ALLOCATE, NULL, void *, calloc, (size_t count, size_t size), (count, size),
     add(&faults->blocks, result != NULL))
WRAP(CALL_ALLOCATE, NULL, void *, realloc, (void *memory, size_t size), (memory, size),
     add(&faults->blocks, memory == NULL && result != NULL))
WRAP(CALL_STAT, -1, int, stat, (const char *path, struct stat *there), (path, there), )
WRAP(CALL_FSTAT, -1, int, fstat, (int file, struct stat *there), (file, there), )
WRAP(whence == SEEK_CUR && offset > 0 ? CALL_SKIP : CALL_LSEEK, -1, off_t, lseek, (int file, off_t offset, int whence),
     (file, offset, whence), )
WRAP(CALL_ACCESS, -1, int, access, (const char *path, int mode), (path, mode), )
WRAP(CALL_READLINK, -1, ssize_t, readlink, (const char *path, char *link, size_t size), (path, link, size), )
WRAP(CALL_READLINK, -1, ssize_t, __readlink_chk, (const char *path, char *link, size_t size, size_t room),
     (path, link, size, room), )
WRAP(CALL_MKSTEMP, -1, int, mkstemp, (char *name), (name), add(&faults->files, result >= 0))
WRAP(CALL_FCHMOD, -1, int, fchmod, (int file, mode_t mode), (file, mode), )
WRAP(CALL_FCHOWN, -1, int, fchown, (int file, uid_t user, gid_t group), (file, user, group), )
WRAP(CALL_LINK, -1, int, linkat, (int from_folder, const char *from, int to_folder, const char *to, int flags),
     (from_folder, from, to_folder, to, flags), )
WRAP(CALL_ROOM, -1, int, fallocate, (int file, int mode, off_t from, off_t length), (file, mode, from, length), )
WRAP(CALL_ROOM, -1, int, fstatvfs, (int file, struct statvfs *volume), (file, volume), )
WRAP(CALL_RENAME, -1, int, rename, (const char *from, const char *to), (from, to), )
WRAP(CALL_THREAD, EAGAIN, int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
     (thread, attributes, run, argument), )
WRAP(CALL_LOCALE, (locale_t)0, locale_t, newlocale, (int mask, const char *name, locale_t base), (mask, name, base), )
WRAP(CALL_FOPEN, NULL, FILE *, fopen, (const char *path, const char *mode), (path, mode), )
WRAP(CALL_LIMITS, -1, long, sysconf, (int name), (name), )
WRAP(CALL_LIMITS, -1, int, getrlimit, (__rlimit_resource_t resource, struct rlimit *limit), (resource, limit), )
WRAP(CALL_LIMITS, -1, int, sched_getaffinity, (pid_t process, size_t size, cpu_set_t *set), (process, size, set), )

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
    add(&faults->blocks, memory != NULL ? -1 : 0);
    __real_free(memory);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    const mode_t mode = unnamed || (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    const enum fault_kind kind = begin(unnamed || (flags & O_PATH) != 0 ? CALL_UNNAMED : CALL_OPEN);
    if (unnamed && faults->armed && faults->named) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (kind == FAULT_FAIL)
        return -1;
    const int file = __real_open(path, flags, mode);
    add(&faults->files, file >= 0);
    end(kind);
    return file;
}

/* A descriptor is gone whatever close says. */
int __real_close(int file);
int __wrap_close(int file);
int __wrap_close(int file)
{
    const bool written = (fcntl(file, F_GETFL) & O_ACCMODE) != O_RDONLY;
    const enum fault_kind kind = begin(written ? CALL_FINISH : CALL_CLOSE);
    int result = __real_close(file);
    add(&faults->files, file > STDERR_FILENO ? -1 : 0); /* those are not attn's own */
    if (kind == FAULT_FAIL) {
        errno = faults->code;
        result = -1;
    }
    end(kind);
    return result;
}

void *__real_mmap(void *at, size_t length, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t length, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t length, int protection, int flags, int file, off_t offset)
{
    const enum fault_kind kind = begin(CALL_MMAP);
    if (kind == FAULT_FAIL || (faults->armed && faults->unmapped)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *const memory = __real_mmap(at, length, protection, flags, file, offset);
    add(&faults->maps, memory != MAP_FAILED);
    end(kind);
    return memory;
}

int __real_munmap(void *memory, size_t length);
int __wrap_munmap(void *memory, size_t length);
int __wrap_munmap(void *memory, size_t length)
{
    add(&faults->maps, -1);
    return __real_munmap(memory, length);
}

/* What is left of a read or a write of `length` bytes. */
static size_t shorten(enum fault_kind kind, size_t length)
{
    return kind == FAULT_SHORT && length > 1 ? 1 : length;
}

ssize_t __real_read(int file, void *bytes, size_t length);
ssize_t __wrap_read(int file, void *bytes, size_t length);
ssize_t __wrap_read(int file, void *bytes, size_t length)
{
    const enum fault_kind kind = begin(CALL_READ);
    if (kind == FAULT_FAIL || kind == FAULT_NOTHING)
        return kind == FAULT_FAIL ? -1 : 0;
    const ssize_t result = __real_read(file, bytes, shorten(kind, length));
    end(kind);
    return result;
}

ssize_t __real_write(int file, const void *bytes, size_t length);
ssize_t __wrap_write(int file, const void *bytes, size_t length);
ssize_t __wrap_write(int file, const void *bytes, size_t length)
{
    const enum fault_kind kind = begin(CALL_WRITE);
    if (kind == FAULT_FAIL || kind == FAULT_NOTHING)
        return kind == FAULT_FAIL ? -1 : 0;
    const ssize_t result = __real_write(file, bytes, shorten(kind, length));
    end(kind);
    return result;
}

ssize_t __real_pwrite(int file, const void *bytes, size_t length, off_t offset);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t length, off_t offset);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t length, off_t offset)
{
    const enum fault_kind kind = begin(CALL_PART);
    if (kind == FAULT_FAIL || kind == FAULT_NOTHING)
        return kind == FAULT_FAIL ? -1 : 0;
    const ssize_t result = __real_pwrite(file, bytes, shorten(kind, length), offset);
    end(kind);
    return result;
}

/* What _FORTIFY_SOURCE calls for read. */
ssize_t __wrap___read_chk(int file, void *bytes, size_t length, size_t room);
ssize_t __wrap___read_chk(int file, void *bytes, size_t length, size_t room)
{
    return __wrap_read(file, bytes, length < room ? length : room);
}
