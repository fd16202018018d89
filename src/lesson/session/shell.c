/* SPDX-License-Identifier: MIT */
#include "lesson/session/shell.h"
#include "base/folder.h"
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLLECTED_BYTES = 1 << 20, LARGEST_FILE = 1 << 24, NOT_RUN = 127 };

static const int ENDING[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/* For the signal handler alone. */
static struct shell *volatile opened;

/* --- the end ----------------------------------------------------------------------------------------------------- */

/* All of these are safe in a signal handler. */
static int await(pid_t child)
{
    int status = NOT_RUN << 8;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* Removes all of it, with signals blocked. */
static void remove_folder(const char *folder)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "rm -rf \"$0\" 2>/dev/null", folder, (char *)NULL);
        _exit(NOT_RUN);
    }
    await(child);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Only in the foreground: else a shell owns the terminal. */
static void restore_terminal(const struct shell *shell)
{
    if (shell->has_modes && tcgetpgrp(STDIN_FILENO) == getpgrp())
        tcsetattr(STDIN_FILENO, TCSADRAIN, &shell->modes);
}

void shell_close(struct shell *shell)
{
    restore_terminal(shell);
    remove_folder(shell->root);
    opened = NULL;
}

/* When this returns, the signal is raised again with its previous action. */
static void leave(int signal_number)
{
    const pid_t running = opened != NULL ? opened->running : 0;
    if (running > 0)
        kill(running, SIGTERM);
    if (opened != NULL)
        shell_close(opened);
    if (running > 0)
        kill(running, SIGKILL);
    raise(signal_number);
}

/* A signal that was ignored at the start, as under nohup, stays ignored. */
static void watch_signals(void)
{
    struct sigaction present, action = {.sa_handler = leave, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof ENDING / sizeof ENDING[0]; i++)
        sigaddset(&action.sa_mask, ENDING[i]);
    for (size_t i = 0; i < sizeof ENDING / sizeof ENDING[0]; i++)
        if (sigaction(ENDING[i], NULL, &present) == 0 && present.sa_handler == SIG_DFL)
            sigaction(ENDING[i], &action, NULL);
}

/* --- the folder -------------------------------------------------------------------------------------------------- */

/* Resolves TMPDIR, which may be relative, since commands run elsewhere. */
static enum status make_root(struct shell *shell, struct arena *arena, struct error *error)
{
    const char *said = getenv("TMPDIR");
    const char *there = said != NULL && said[0] != '\0' ? said : "/tmp";
    char *whole = realpath(there, NULL);
    if (whole == NULL)
        return error_system(error, errno, "cannot make a folder for the lesson in %.200s", there);
    shell->root = folder_path(whole, "attn-lesson.XXXXXX", arena, error);
    free(whole);
    if (shell->root == NULL)
        return error->status;
    if (mkdtemp(shell->root) == NULL)
        return error_system(error, errno, "cannot make a folder for the lesson in %.200s", there);
    return STATUS_OK;
}

/* The entry of PATH for the folder. A name with a colon would be two: then by a descriptor, or else from lesson/. */
static const char *path_entry(const char *folder, char entry[PATH_MAX])
{
    if (strchr(folder, ':') == NULL)
        return folder;
    return system_path_by_descriptor(folder, entry) ? entry : "../bin";
}

/* Fills the folder, and sets PATH. */
static enum status furnish(struct shell *shell, const char *called, struct arena *arena, struct error *error)
{
    char program[PATH_MAX], entry[PATH_MAX];
    const char *path = getenv("PATH");
    const bool found = system_program(called, program);
    shell->folder = folder_path(shell->root, "lesson", arena, error);
    char *bin = folder_path(shell->root, "bin", arena, error);
    char *link = bin != NULL ? folder_path(bin, "attn", arena, error) : NULL;
    if (shell->folder == NULL || link == NULL)
        return error->status;
    if (!found || mkdir(shell->folder, 0777) != 0 || mkdir(bin, 0777) != 0 || symlink(program, link) != 0)
        return error_system(error, errno, "cannot make a folder for the lesson in %.200s", shell->root);
    if (path == NULL || path[0] == '\0')
        path = "/usr/bin:/bin";
    const char *first = path_entry(bin, entry);
    const size_t size = strlen(first) + strlen(path) + 2;
    char *all = arena_allocate(arena, size, 1, error);
    if (all == NULL)
        return error->status;
    snprintf(all, size, "%s:%s", first, path);
    return setenv("PATH", all, 1) == 0 ? STATUS_OK : error_system(error, errno, "PATH");
}

enum status shell_open(struct shell *shell, const char *called, struct arena *arena, struct error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* so that a signal leaves no folder */
    enum status status = make_root(shell, arena, error);
    if (status == STATUS_OK) {
        shell->has_modes = tcgetattr(STDIN_FILENO, &shell->modes) == 0;
        opened = shell;
        watch_signals();
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (status == STATUS_OK && (status = furnish(shell, called, arena, error)) != STATUS_OK)
        shell_close(shell);
    return status;
}

/* --- commands ---------------------------------------------------------------------------------------------------- */

struct run {
    const char *folder;
    int output; /* a descriptor; -1: no output */
    bool reads; /* standard input */
};

static _Noreturn void become_shell(const struct run *run, const char *command, const sigset_t *signals)
{
    opened = NULL;
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, signals, NULL);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC), output = run->output < 0 ? nothing : run->output;
    if (run->output > STDERR_FILENO) /* collected output: limits its file */
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){LARGEST_FILE, LARGEST_FILE});
    if (chdir(run->folder) == 0 && (run->reads || dup2(nothing, STDIN_FILENO) >= 0) &&
        dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0)
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    dprintf(output, "attn: cannot run a command in %s: %s\n", run->folder, strerror(errno));
    _exit(NOT_RUN);
}

/* Like system(): Ctrl-C and Ctrl-\ end only the command, and Ctrl-Z stops both. */
static int start(struct shell *shell, struct run run, const char *command)
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    struct sigaction interrupted, quit;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    shell->running = fork();
    if (shell->running == 0)
        become_shell(&run, command, &before);
    if (shell->running < 0)
        dprintf(STDERR_FILENO, "attn: cannot run a command: %s\n", strerror(errno));
    sigaction(SIGINT, &ignored, &interrupted);
    sigaction(SIGQUIT, &ignored, &quit);
    sigprocmask(SIG_SETMASK, &before, NULL);
    const int status = shell->running < 0 ? NOT_RUN << 8 : await(shell->running);
    shell->running = 0;
    sigaction(SIGINT, &interrupted, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    restore_terminal(shell);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int shell_run(struct shell *shell, const char *command, bool reads)
{
    return start(shell, (struct run){shell->folder, STDOUT_FILENO, reads}, command);
}

void shell_run_quietly(struct shell *shell, const char *command)
{
    start(shell, (struct run){shell->folder, -1, false}, command);
}

void shell_copy(struct shell *shell, const char *name)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s; cp -R lesson %s", name, name);
    start(shell, (struct run){shell->root, -1, false}, command);
}

static char *read_back(int file, struct arena *arena, struct error *error)
{
    char *text = arena_allocate(arena, COLLECTED_BYTES, 1, error);
    const ssize_t length = text != NULL ? pread(file, text, COLLECTED_BYTES - 1, 0) : 0;
    size_t kept = 0;
    for (ssize_t i = 0; i < length; i++)
        if (text[i] != '\0')
            text[kept++] = text[i];
    if (text != NULL)
        text[kept] = '\0';
    return text;
}

char *shell_collect(struct shell *shell, const char *name, const char *command, struct arena *arena,
                    struct error *error)
{
    char *folder = folder_path(shell->root, name, arena, error);
    if (folder == NULL)
        return NULL;
    const int file = system_open_scratch(shell->root);
    if (file < 0) {
        error_system(error, errno, "a file for what a command prints");
        return NULL;
    }
    start(shell, (struct run){folder, file, false}, command);
    char *text = read_back(file, arena, error);
    close(file);
    return text;
}
