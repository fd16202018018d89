/* SPDX-License-Identifier: MIT */
#include "base/system.h"
#include "lesson/session/ask.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static enum status note(struct own_file **files, const char *name, const struct stat *present, bool own,
                        struct arena *arena, struct error *error)
{
    struct own_file *file = *files;
    while (file != NULL && strcmp(file->name, name) != 0)
        file = file->next;
    const struct stat *seen = file != NULL ? &file->seen : NULL;
    const struct timespec now = system_written(present), before = seen != NULL ? system_written(seen) : now;
    const bool changed = seen == NULL || seen->st_ino != present->st_ino || seen->st_size != present->st_size ||
                         before.tv_sec != now.tv_sec || before.tv_nsec != now.tv_nsec;
    if (file == NULL) {
        file = arena_allocate(arena, 1, sizeof *file, error);
        char *kept = file != NULL ? arena_copy(arena, name, error) : NULL;
        if (kept == NULL)
            return error->status;
        *file = (struct own_file){.name = kept, .next = *files};
        *files = file;
    }
    file->seen = *present;
    if (changed)
        file->own = own;
    return STATUS_OK;
}

enum status own_files_look(struct own_file **files, const char *folder, bool own, struct arena *arena,
                           struct error *error)
{
    enum status status = STATUS_OK;
    struct stat present;
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return error_system(error, errno, "%.200s", folder);
    for (struct dirent *entry; status == STATUS_OK && (entry = readdir(directory)) != NULL;)
        if (fstatat(dirfd(directory), entry->d_name, &present, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(present.st_mode))
            status = note(files, entry->d_name, &present, own, arena, error);
    closedir(directory);
    return status;
}

bool own_files_are_there(const char *folder, const struct own_file *file)
{
    struct stat present;
    const int place = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool there = place >= 0 && fstatat(place, file->name, &present, AT_SYMLINK_NOFOLLOW) == 0;
    if (place >= 0)
        close(place);
    return there;
}

static bool is_end(char byte)
{
    return strchr(" \t\n;|&<>", byte) != NULL;
}

/* Whether the name is a word of the command; `written`: after > or -o. */
static bool is_named(const char *command, const char *name, bool written)
{
    const size_t length = strlen(name);
    for (const char *found = command; (found = strstr(found, name)) != NULL; found += length) {
        const char *before = found;
        while (before > command && before[-1] == ' ')
            before--;
        const bool behind = before > command &&
                            (before[-1] == '>' || (before - command >= 2 && before[-1] == 'o' && before[-2] == '-'));
        if ((written ? behind : found == command || is_end(found[-1])) && is_end(found[length]))
            return true;
    }
    return false;
}

const char *own_files_named(const struct own_file *files, const char *command, bool written)
{
    while (files != NULL && !(files->own && is_named(command, files->name, written)))
        files = files->next;
    return files != NULL ? files->name : NULL;
}

static enum status copy(int from, int to, const char *target, struct error *error)
{
    char part[1 << 14];
    for (ssize_t bytes; (bytes = read(from, part, sizeof part)) != 0;) {
        if (bytes < 0)
            return error_system(error, errno, "%.200s", target);
        for (ssize_t done = 0, now; done < bytes; done += now)
            if ((now = write(to, part + done, (size_t)(bytes - done))) < 0)
                return error_system(error, errno, "%.200s", target);
    }
    return STATUS_OK;
}

enum status own_files_keep(const char *folder, const char *name, const char *target, bool *there, struct error *error)
{
    const int place = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int from = place < 0 ? -1 : openat(place, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const int to = from < 0 ? -1 : open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    *there = from >= 0 && to < 0 && errno == EEXIST;
    enum status status = to < 0 ? error_system(error, errno, "%.200s", target) : copy(from, to, target, error);
    if (to >= 0 && close(to) != 0 && status == STATUS_OK)
        status = error_system(error, errno, "%.200s", target);
    if (to >= 0 && status != STATUS_OK)
        unlink(target);
    if (from >= 0)
        close(from);
    if (place >= 0)
        close(place);
    return status;
}
