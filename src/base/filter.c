/* SPDX-License-Identifier: MIT */
#include "base/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127, CHUNK = 1 << 14 };

extern char **environ;

/* A file without a name that holds the bytes, at its beginning: a pipe could block both programs. NULL: errno says
 * why. */
static FILE *make_input(const char *bytes, size_t length)
{
    FILE *file = tmpfile();
    if (file == NULL)
        return NULL;
    if (fwrite(bytes, 1, length, file) == length && fflush(file) == 0 && lseek(fileno(file), 0, SEEK_SET) == 0)
        return file;
    const int code = errno;
    fclose(file);
    errno = code;
    return NULL;
}

/* Starts the program between two descriptors. Returns 0, or an errno. */
static int start(const char *const *words, int input, int output, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (code == 0) /* it takes no words that it may not change, and changes none */
        code = posix_spawnp(child, words[0], &actions, NULL, (char *const *)(uintptr_t)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Everything that the program writes. Returns 0, or an errno. */
static int take_all(int stream, struct output *output, size_t *taken)
{
    char chunk[CHUNK];
    ssize_t length;
    while ((length = read(stream, chunk, sizeof chunk)) != 0) {
        if (length > 0) {
            output_write(output, chunk, (size_t)length);
            *taken += (size_t)length;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static enum status judge(const char *name, int ended, size_t taken, const char *missing, struct error *error)
{
    if (WIFSIGNALED(ended))
        return error_system(error, 0, "signal %d ended %s", WTERMSIG(ended), name);
    if (WEXITSTATUS(ended) == NOT_FOUND)
        return error_system(error, 0, "%s", missing);
    if (WEXITSTATUS(ended) != 0)
        return error_system(error, 0, "%s failed with exit status %d", name, WEXITSTATUS(ended));
    return taken > 0 ? STATUS_OK : error_system(error, 0, "%s wrote nothing", name);
}

enum status filter_run(const char *const *words, const char *bytes, size_t length, const char *missing,
                       struct output *output, struct error *error)
{
    int ends[2], ended = 0, code;
    size_t taken = 0;
    pid_t child;
    FILE *input = make_input(bytes, length);
    if (input == NULL)
        return error_system(error, errno, "cannot make a temporary file for %s", words[0]);
    if (pipe(ends) != 0) {
        code = errno;
        fclose(input);
        return error_system(error, code, "cannot make a pipe from %s", words[0]);
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    code = start(words, fileno(input), ends[1], &child);
    fclose(input);
    close(ends[1]);
    if (code != 0) {
        close(ends[0]);
        return code == ENOENT ? error_system(error, 0, "%s", missing)
                              : error_system(error, code, "cannot start %s", words[0]);
    }
    code = take_all(ends[0], output, &taken);
    close(ends[0]);
    while (waitpid(child, &ended, 0) < 0)
        if (errno != EINTR)
            return error_system(error, errno, "cannot wait for %s", words[0]);
    if (code != 0)
        return error_system(error, code, "cannot read from %s", words[0]);
    return judge(words[0], ended, taken, missing, error);
}
