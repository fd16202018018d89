/* SPDX-License-Identifier: MIT */
#include "base/folder.h"

#include "base/output.h"
#include "base/signals.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODE_BITS = 07777 };

struct folder_made {
    struct folder_made *older;
    const char *path;
    bool is_folder;
};

/* Whether a signal waits that would end the program; not one that is ignored, as under nohup. */
static bool signal_waits(const struct folder *folder)
{
    sigset_t waiting;
    sigpending(&waiting);
    for (size_t i = 0; i < SIGNALS_COUNT; i++) {
        struct sigaction present;
        const bool ends = sigaction(SIGNALS[i], NULL, &present) == 0 && present.sa_handler != SIG_IGN;
        if (ends && sigismember(&waiting, SIGNALS[i]) == 1 && sigismember(&folder->before, SIGNALS[i]) == 0)
            return true;
    }
    return false;
}

const char *folder_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool folder_is(const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 && S_ISDIR(there.st_mode);
}

char *folder_path(const char *folder, const char *name, struct arena *arena, struct error *error)
{
    const size_t length = strlen(folder), size = length + strlen(name) + 2;
    const bool closed = length > 0 && folder[length - 1] == '/';
    char *path = arena_allocate(arena, size, 1, error);
    if (path != NULL)
        snprintf(path, size, "%s%s%s", folder, closed ? "" : "/", name);
    return path;
}

static enum status refused(const struct folder *folder, int code, const char *what)
{
    return error_system(folder->error, code, "%s: %s", SHOWN_PATH(folder->target), what);
}

/* The target may be missing, or an empty folder, whose permissions are kept. */
static enum status check_target(struct folder *folder)
{
    struct stat there;
    const char **names;
    size_t count;
    if (lstat(folder->target, &there) != 0)
        return errno == ENOENT ? STATUS_OK : error_system(folder->error, errno, "%s", SHOWN_PATH(folder->target));
    if (!S_ISDIR(there.st_mode))
        return error_usage(folder->error, "%s: is there, and no folder; expected a new folder",
                           SHOWN_PATH(folder->target));
    folder->mode = there.st_mode & MODE_BITS;
    if (folder_list(folder->target, &names, &count, folder->arena, folder->error) != STATUS_OK)
        return folder->error->status;
    return count == 0 ? STATUS_OK
                      : error_usage(folder->error, "%s: holds something, such as %.80s; expected a new folder",
                                    SHOWN_PATH(folder->target), names[0]);
}

enum status folder_open(struct folder *folder, const char *target, struct arena *arena, struct error *error)
{
    *folder = (struct folder){.arena = arena, .error = error};
    size_t length = strlen(target);
    while (length > 1 && target[length - 1] == '/')
        length--;
    folder->target = arena_text(arena, target, length, error);
    if (folder->target == NULL)
        return error->status;
    const char *last = folder_base(folder->target);
    if (last[0] == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return error_usage(error, "'%s' is no name for a new folder", target);
    if (check_target(folder) != STATUS_OK)
        return error->status;
    char *beside = arena_text(arena, folder->target, (size_t)(last - folder->target), error);
    if (beside == NULL)
        return error->status;
    folder->made = folder_path(beside[0] != '\0' ? beside : "./", ".attn.XXXXXX", arena, error);
    if (folder->made == NULL)
        return error->status;
    signals_hold(&folder->before);
    const bool made = mkdtemp(folder->made) != NULL;
    const int code = errno;
    if (made)
        return STATUS_OK;
    sigprocmask(SIG_SETMASK, &folder->before, NULL);
    return error_directory(error, code, folder->target);
}

/* Notes a path before the file or folder is created, so that removing it needs no memory. */
static const char *note(struct folder *folder, const char *name, bool is_folder)
{
    struct folder_made *made = arena_allocate(folder->arena, 1, sizeof *made, folder->error);
    const char *path = folder_path(folder->made, name, folder->arena, folder->error);
    if (made == NULL || path == NULL)
        return NULL;
    *made = (struct folder_made){folder->newest, path, is_folder};
    folder->newest = made;
    return path;
}

enum status folder_within(struct folder *folder, const char *name)
{
    const char *path = note(folder, name, true);
    if (path == NULL)
        return folder->error->status;
    return mkdir(path, 0777) == 0 ? STATUS_OK : refused(folder, errno, "cannot make a folder in it");
}

enum status folder_file(struct folder *folder, const char *name, const char *bytes, size_t length)
{
    const char *path = note(folder, name, false);
    if (path == NULL)
        return folder->error->status;
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return refused(folder, errno, "cannot make a file in it");
    int code = output_write_at(file, 0, bytes, length);
    if (close(file) != 0 && code == 0)
        code = errno;
    if (code != 0)
        return refused(folder, code, "cannot write");
    return signal_waits(folder) ? refused(folder, EINTR, "cannot write") : STATUS_OK;
}

void folder_abandon(struct folder *folder)
{
    for (const struct folder_made *made = folder->newest; made != NULL; made = made->older)
        made->is_folder ? rmdir(made->path) : unlink(made->path);
    rmdir(folder->made);
    sigprocmask(SIG_SETMASK, &folder->before, NULL);
}

/* The mode that mkdir would have given it; bits inherited from the parent, such as setgid, are in the present mode. */
static mode_t mode_of_new(const struct folder *folder)
{
    struct stat made;
    const mode_t mask = umask(0);
    umask(mask);
    return (mode_t)(0777 & ~mask) | (stat(folder->made, &made) == 0 ? made.st_mode & (mode_t)(MODE_BITS & ~0777) : 0);
}

enum status folder_close(struct folder *folder)
{
    const mode_t mode = folder->mode != 0 ? folder->mode : mode_of_new(folder);
    if (chmod(folder->made, mode) != 0 || rename(folder->made, folder->target) != 0) {
        refused(folder, errno, "cannot give the folder its name");
        folder_abandon(folder);
        return folder->error->status;
    }
    sigprocmask(SIG_SETMASK, &folder->before, NULL);
    return STATUS_OK;
}

enum status folder_list(const char *path, const char ***names, size_t *count, struct arena *arena, struct error *error)
{
    size_t room = 16;
    DIR *folder = opendir(path);
    *count = 0;
    if (folder == NULL)
        return error_system(error, errno, "%s", SHOWN_PATH(path));
    *names = arena_allocate(arena, room, sizeof **names, error);
    error->status = *names == NULL ? STATUS_SYSTEM : STATUS_OK;
    for (struct dirent *entry; error->status == STATUS_OK && (errno = 0, entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (*count == room) {
            const char **more = arena_allocate(arena, 2 * room, sizeof *more, error);
            if (more == NULL)
                break;
            memcpy(more, *names, room * sizeof *more);
            *names = more;
            room *= 2;
        }
        const char *name = arena_copy(arena, entry->d_name, error);
        if (name == NULL)
            break;
        (*names)[(*count)++] = name;
    }
    if (error->status == STATUS_OK && errno != 0)
        error_system(error, errno, "%s", SHOWN_PATH(path));
    closedir(folder);
    if (error->status == STATUS_OK)
        text_sort(*names, *count, sizeof **names);
    return error->status;
}

enum status folder_check_file(const char *path, struct error *error)
{
    struct stat there;
    if (stat(path, &there) != 0 || S_ISREG(there.st_mode) || S_ISDIR(there.st_mode))
        return STATUS_OK;
    return error_usage(error, "%s: is a %s; expected a regular file", SHOWN_PATH(path),
                       S_ISFIFO(there.st_mode)   ? "named pipe"
                       : S_ISSOCK(there.st_mode) ? "socket"
                                                 : "device");
}
