/* SPDX-License-Identifier: MIT */
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

static unsigned processors_online(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online <= 1024 ? (unsigned)online : 1;
}

ssize_t system_read(int file, void *bytes, size_t room)
{
    ssize_t count;
    while ((count = read(file, bytes, room)) < 0 && (errno == EINTR || errno == EAGAIN))
        if (errno == EAGAIN)
            poll(&(struct pollfd){.fd = file, .events = POLLIN}, 1, -1);
    return count;
}

struct timespec system_written(const struct stat *file)
{
#ifdef __APPLE__
    return file->st_mtimespec;
#else
    return file->st_mtim;
#endif
}

double system_memory_limit(void)
{
    double limit = INFINITY;
    char text[32], *end;
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "re");
    if (file == NULL)
        return limit;
    if (fgets(text, sizeof text, file) != NULL) {
        const double bytes = strtod(text, &end);
        limit = end != text ? bytes : INFINITY; /* "max" */
    }
    fclose(file);
    return limit;
}

bool system_grants_tiles(void)
{
#if defined(__linux__) && defined(__x86_64__) && !defined(PORTABLE)
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 }; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return false;
#endif
}

#if defined(__linux__) && !defined(PORTABLE)

enum { DESCRIPTOR_BYTES = 32 }; /* of "/proc/self/fd/3" */

static const char *descriptor_path(int descriptor, char path[DESCRIPTOR_BYTES])
{
    snprintf(path, DESCRIPTOR_BYTES, "/proc/self/fd/%d", descriptor);
    return path;
}

int system_open_unnamed(const char *folder, int *named)
{
    char path[DESCRIPTOR_BYTES];
    const int file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
    *named = file >= 0 ? open(descriptor_path(file, path), O_PATH | O_CLOEXEC) : -1;
    if (file < 0 || *named >= 0)
        return file;
    close(file);
    return -1;
}

int system_name(int named, const char *path)
{
    char there[DESCRIPTOR_BYTES];
    return linkat(AT_FDCWD, descriptor_path(named, there), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int system_reserve(int file, off_t length)
{
    return fallocate(file, FALLOC_FL_KEEP_SIZE, 0, length);
}

int system_open_scratch(const char *folder)
{
    (void)folder;
    return memfd_create("attn-lesson", MFD_CLOEXEC);
}

bool system_path_by_descriptor(const char *folder, char path[PATH_MAX])
{
    const int there = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(path, PATH_MAX, "/proc/%ld/fd/%d", (long)getpid(), there);
    return there >= 0;
}

bool system_program(const char *called, char path[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    (void)called;
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

void system_prefer_large_pages(void *memory, size_t bytes)
{
    madvise(memory, bytes, MADV_HUGEPAGE);
}

unsigned system_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    return processors_online(); /* more than a cpu_set_t holds */
}

#else

int system_open_unnamed(const char *folder, int *named)
{
    (void)folder;
    *named = -1;
    return -1;
}

int system_name(int named, const char *path)
{
    (void)named;
    (void)path;
    errno = ENOSYS;
    return -1;
}

int system_reserve(int file, off_t length)
{
    struct statvfs volume;
    if (fstatvfs(file, &volume) != 0)
        return -1;
    if (sizeof volume.f_bavail < sizeof length || volume.f_blocks == 0 || volume.f_frsize == 0 ||
        (uintmax_t)length / volume.f_frsize < volume.f_bavail)
        return 0;
    errno = ENOSPC;
    return -1;
}

int system_open_scratch(const char *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/output.XXXXXX", folder);
    const int file = mkstemp(path);
    if (file < 0)
        return -1;
    unlink(path);
    fcntl(file, F_SETFD, FD_CLOEXEC);
    return file;
}

bool system_path_by_descriptor(const char *folder, char path[PATH_MAX])
{
    (void)folder;
    path[0] = '\0';
    return false;
}

bool system_program(const char *called, char path[PATH_MAX])
{
    char there[PATH_MAX];
    const char *folder = getenv("PATH");
    if (strchr(called, '/') != NULL)
        return realpath(called, path) != NULL;
    while (folder != NULL) {
        const size_t length = strcspn(folder, ":");
        snprintf(there, sizeof there, "%.*s%s%s", (int)length, folder, length > 0 ? "/" : "", called);
        if (access(there, X_OK) == 0)
            return realpath(there, path) != NULL;
        folder = folder[length] == ':' ? folder + length + 1 : NULL;
    }
    return false;
}

void system_prefer_large_pages(void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
}

unsigned system_processors(void)
{
    return processors_online();
}

#endif
