#include "lesson/session/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLLECTED_BYTES = 1 << 20, LARGEST_FILE = 1 << 24, FOLDERS_OPEN = 16, TRIES = 3, NOT_RUN = 127 };

static const int ENDING[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/* For the signal handler alone. */
static struct shell *volatile opened;

/* --- the keeper -------------------------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *entry, int kind, struct FTW *place)
{
    (void)entry;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

/* What still runs may write into the folder while it is removed. */
static void remove_folder(const char *folder)
{
    for (int i = 0; i < TRIES && access(folder, F_OK) == 0; i++)
        nftw(folder, remove_entry, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}

/* All signals are blocked: what the terminal sends to the group is for the commands. */
static _Noreturn void keep(int lifeline, const char *folder)
{
    char byte;
    ssize_t bytes;
    setpgid(0, 0);
    do
        bytes = read(lifeline, &byte, 1);
    while (bytes > 0 || (bytes < 0 && errno == EINTR));
    kill(0, SIGTERM);
    kill(0, SIGCONT);
    remove_folder(folder);
    kill(0, SIGKILL);
    _exit(0);
}

static bool is_in_front(const struct shell *shell)
{
    return shell->terminal >= 0 && tcgetpgrp(shell->terminal) == getpgrp();
}

/* Safe in a signal handler. The terminal is given back only where a command has it. */
static void take_terminal(const struct shell *shell)
{
    const pid_t front = shell->terminal < 0 ? -1 : tcgetpgrp(shell->terminal);
    if (front < 0 || (front != shell->keeper && front != getpgrp()))
        return;
    tcsetpgrp(shell->terminal, getpgrp());
    tcsetattr(shell->terminal, TCSADRAIN, &shell->modes);
}

void shell_close(struct shell *shell)
{
    opened = NULL;
    take_terminal(shell);
    if (shell->terminal >= 0)
        close(shell->terminal);
    close(shell->lifeline);
    while (waitpid(shell->keeper, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* When this returns, the signal comes again and does what it did before. */
static void leave(int signal_number)
{
    if (opened != NULL)
        shell_close(opened);
    raise(signal_number);
}

/* A signal that was ignored from the start, as under nohup, stays ignored. */
static void watch_signals(void)
{
    struct sigaction present, action = {.sa_handler = leave, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof ENDING / sizeof ENDING[0]; i++)
        sigaddset(&action.sa_mask, ENDING[i]);
    for (size_t i = 0; i < sizeof ENDING / sizeof ENDING[0]; i++)
        if (sigaction(ENDING[i], NULL, &present) == 0 && present.sa_handler == SIG_DFL)
            sigaction(ENDING[i], &action, NULL);
    signal(SIGTTOU, SIG_IGN); /* it gives the terminal to others, and takes it back */
}

static enum status start_keeper(struct shell *shell, struct error *error)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_system(error, errno, "a pipe");
    shell->lifeline = ends[1];
    shell->keeper = fork();
    if (shell->keeper == 0) {
        close(ends[1]);
        keep(ends[0], shell->root);
    }
    const int code = errno;
    close(ends[0]);
    if (shell->keeper < 0) {
        close(ends[1]);
        return error_system(error, code, "a process");
    }
    setpgid(shell->keeper, shell->keeper);
    return STATUS_OK;
}

/* --- the folder -------------------------------------------------------------------------------------------------- */

static char *join_path(struct arena *arena, const char *folder, const char *name, struct error *error)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = arena_allocate(arena, size, 1, error);
    if (path != NULL)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* TMPDIR may be a relative path, and the commands run elsewhere. */
static enum status make_root(struct shell *shell, struct arena *arena, struct error *error)
{
    const char *said = getenv("TMPDIR");
    const char *there = said != NULL && said[0] != '\0' ? said : "/tmp";
    char *whole = realpath(there, NULL);
    if (whole == NULL)
        return error_system(error, errno, "cannot make a folder for the lesson in %.200s", there);
    shell->root = join_path(arena, whole, "attn-lesson.XXXXXX", error);
    free(whole);
    if (shell->root == NULL)
        return error->status;
    if (mkdtemp(shell->root) == NULL)
        return error_system(error, errno, "cannot make a folder for the lesson in %.200s", there);
    return STATUS_OK;
}

/* What stands in PATH for the folder: where its name has a colon, an open descriptor of it. */
static const char *path_entry(const char *folder, char entry[PATH_MAX], struct error *error)
{
    const int there = strchr(folder, ':') != NULL ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (strchr(folder, ':') == NULL)
        return folder;
    if (there < 0) {
        error_system(error, errno, "%.200s", folder);
        return NULL;
    }
    snprintf(entry, PATH_MAX, "/proc/%ld/fd/%d", (long)getpid(), there);
    return entry;
}

/* What is in the folder, and PATH. */
static enum status furnish(struct shell *shell, struct arena *arena, struct error *error)
{
    char program[PATH_MAX], entry[PATH_MAX];
    const char *path = getenv("PATH");
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    shell->folder = join_path(arena, shell->root, "lesson", error);
    char *bin = join_path(arena, shell->root, "bin", error);
    char *link = bin != NULL ? join_path(arena, bin, "attn", error) : NULL;
    if (shell->folder == NULL || link == NULL)
        return error->status;
    program[length > 0 ? length : 0] = '\0';
    if (length <= 0 || mkdir(shell->folder, 0777) != 0 || mkdir(bin, 0777) != 0 || symlink(program, link) != 0)
        return error_system(error, errno, "cannot make a folder for the lesson in %.200s", shell->root);
    if (path == NULL || path[0] == '\0')
        path = "/usr/bin:/bin";
    const char *first = path_entry(bin, entry, error);
    const size_t size = first != NULL ? strlen(first) + strlen(path) + 2 : 0;
    char *all = first != NULL ? arena_allocate(arena, size, 1, error) : NULL;
    if (all == NULL)
        return error->status;
    snprintf(all, size, "%s:%s", first, path);
    return setenv("PATH", all, 1) == 0 ? STATUS_OK : error_system(error, errno, "PATH");
}

static void open_terminal(struct shell *shell)
{
    shell->terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (shell->terminal < 0 || (is_in_front(shell) && tcgetattr(shell->terminal, &shell->modes) == 0))
        return;
    close(shell->terminal);
    shell->terminal = -1;
}

enum status shell_open(struct shell *shell, struct arena *arena, struct error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* no folder without its keeper */
    enum status status = make_root(shell, arena, error);
    if (status == STATUS_OK && (status = start_keeper(shell, error)) != STATUS_OK)
        remove_folder(shell->root);
    if (status == STATUS_OK) {
        open_terminal(shell);
        opened = shell;
        watch_signals();
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (status == STATUS_OK && (status = furnish(shell, arena, error)) != STATUS_OK)
        shell_close(shell);
    return status;
}

/* --- commands ---------------------------------------------------------------------------------------------------- */

/* How a command is run. */
struct run {
    const char *folder;
    int output; /* a descriptor; -1: nothing is shown */
    bool reads; /* standard input */
    bool front; /* the terminal is the command's as long as it runs */
};

/* In the child; signals are blocked until they no longer come to this program's handler. */
static _Noreturn void become_shell(const struct shell *shell, const struct run *run, const char *command)
{
    static const int OTHERS[] = {SIGPIPE, SIGTTOU};
    sigset_t none;
    setpgid(0, shell->keeper);
    if (run->front)
        tcsetpgrp(shell->terminal, shell->keeper);
    for (size_t i = 0; i < sizeof ENDING / sizeof ENDING[0]; i++) {
        struct sigaction present;
        if (sigaction(ENDING[i], NULL, &present) == 0 && present.sa_handler == leave)
            signal(ENDING[i], SIG_DFL);
    }
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
        signal(OTHERS[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC), output = run->output < 0 ? nothing : run->output;
    if (run->output > STDERR_FILENO) /* it is kept: what has no end is ended */
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){LARGEST_FILE, LARGEST_FILE});
    if (chdir(run->folder) == 0 && (run->reads || dup2(nothing, STDIN_FILENO) >= 0) &&
        dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0)
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    dprintf(output, "attn: cannot run a command in %s: %s\n", run->folder, strerror(errno));
    _exit(NOT_RUN);
}

/* Waits for its end. Where Ctrl-Z stops it this program stops, too, and both go on together, in front or behind. */
static int await(const struct shell *shell, pid_t child, bool front)
{
    int status = 0;
    for (;;) {
        const pid_t ended = waitpid(child, &status, front ? WUNTRACED : 0);
        if (ended < 0 && errno == EINTR)
            continue;
        if (ended < 0)
            return NOT_RUN;
        if (!WIFSTOPPED(status))
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        take_terminal(shell);
        kill(0, SIGTSTP);
        if (is_in_front(shell))
            tcsetpgrp(shell->terminal, shell->keeper);
        kill(-shell->keeper, SIGCONT);
    }
}

static int start(struct shell *shell, struct run run, const char *command)
{
    sigset_t all, before;
    run.front = is_in_front(shell);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const pid_t child = fork();
    const int code = errno;
    if (child == 0)
        become_shell(shell, &run, command);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child < 0) {
        dprintf(STDERR_FILENO, "attn: cannot run a command: %s\n", strerror(code));
        return NOT_RUN;
    }
    setpgid(child, shell->keeper);
    if (run.front)
        tcsetpgrp(shell->terminal, shell->keeper);
    const int status = await(shell, child, run.front);
    if (run.front)
        take_terminal(shell);
    return status;
}

int shell_run(struct shell *shell, const char *command, bool reads)
{
    return start(shell, (struct run){shell->folder, STDOUT_FILENO, reads, false}, command);
}

void shell_run_quietly(struct shell *shell, const char *command)
{
    start(shell, (struct run){shell->folder, -1, false, false}, command);
}

void shell_copy(struct shell *shell, const char *name)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s; cp -R lesson %s", name, name);
    start(shell, (struct run){shell->root, -1, false, false}, command);
}

/* What was printed into the file. */
static char *read_back(int file, struct arena *arena, struct error *error)
{
    char *text = arena_allocate(arena, COLLECTED_BYTES, 1, error);
    size_t length = 0, kept = 0;
    ssize_t bytes = 1;
    while (text != NULL && bytes > 0 && length < COLLECTED_BYTES - 1) {
        bytes = pread(file, text + length, COLLECTED_BYTES - 1 - length, (off_t)length);
        length += bytes > 0 ? (size_t)bytes : 0;
    }
    for (size_t i = 0; text != NULL && i < length; i++)
        if (text[i] != '\0')
            text[kept++] = text[i];
    if (text != NULL)
        text[kept] = '\0';
    return text;
}

char *shell_collect(struct shell *shell, const char *name, const char *command, struct arena *arena,
                    struct error *error)
{
    char *folder = join_path(arena, shell->root, name, error);
    if (folder == NULL)
        return NULL;
    const int file = memfd_create("attn-lesson", MFD_CLOEXEC);
    if (file < 0) {
        error_system(error, errno, "a file for what a command prints");
        return NULL;
    }
    start(shell, (struct run){folder, file, false, false}, command);
    char *text = read_back(file, arena, error);
    close(file);
    return text;
}
