/* SPDX-License-Identifier: MIT */
#include "base/output.h"

#include "base/signals.h"
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PRINT_BYTES = 4096,
    LINKS = 40,
    USUAL_COLUMNS = 80,
    FEWEST_COLUMNS = 30,
    MOST_COLUMNS = 1000,
    LETTERS = 6, /* that end the temporary name */
    NAMES_TRIED = 1000,
};

/* The unfinished file, for the signal handler alone; set while the signals are blocked. */
static const char *volatile unfinished;
static struct sigaction cut_short; /* the previous action of SIGBUS */

/* When this returns, the signal is raised again with its previous action. The SIGBUS of a mapping recurs by itself. */
static void remove_unfinished(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    if (unfinished != NULL)
        unlink(unfinished);
    if (signal_number == SIGBUS)
        sigaction(SIGBUS, &cut_short, NULL);
    if (signal_number != SIGBUS || info->si_code <= 0)
        raise(signal_number);
}

/* A signal that was ignored at the start, as under nohup, stays ignored. */
static void watch_signals(void)
{
    struct sigaction action = {.sa_sigaction = remove_unfinished, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS_COUNT; i++) {
        struct sigaction present;
        if (sigaction(SIGNALS[i], NULL, &present) == 0 && present.sa_handler == SIG_DFL)
            sigaction(SIGNALS[i], &action, NULL);
    }
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, &cut_short);
}

static enum status open_failed(struct output *output)
{
    return error_system(output->error, errno, "%s", output->name);
}

static void fail(struct output *output, int code)
{
    output->failed = true;
    output->error->quiet = code == EPIPE;
    error_system(output->error, code, "%s: cannot write", output->name);
}

/* The open descriptor that the path names, or that its links lead to: /dev/stdout, /dev/fd/3; -1 where it is a file.
 * attn writes to the descriptor itself: opened again, the file would start at offset 0. */
static int descriptor_of(const char *path)
{
    static const char *const NAMES[][2] = {{"/dev/stdout", "1"}, {"/dev/stderr", "2"}};
    static const char *const FOLDERS[] = {"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"};
    const char *digits = NULL;
    for (size_t i = 0; i < 2; i++)
        if (strcmp(path, NAMES[i][0]) == 0)
            digits = NAMES[i][1];
    for (size_t i = 0; i < 3; i++)
        if (strncmp(path, FOLDERS[i], strlen(FOLDERS[i])) == 0)
            digits = path + strlen(FOLDERS[i]);
    if (digits == NULL || digits[0] == '\0' || strlen(digits) > 6 || digits[strspn(digits, "0123456789")] != '\0')
        return -1;
    return (int)strtol(digits, NULL, 10);
}

/* The path that the links lead to, whether or not it exists. */
static const char *follow_links(struct output *output, const char *path, struct arena *arena)
{
    char link[PATH_MAX];
    for (int i = 0; i < LINKS; i++) {
        ssize_t length = descriptor_of(path) < 0 ? readlink(path, link, sizeof link) : 0;
        if (length == 0 || (length < 0 && (errno == EINVAL || errno == ENOENT))) /* no link, or nothing yet */
            return path;
        if (length < 0) {
            open_failed(output);
            return NULL;
        }
        const char *slash = link[0] == '/' ? NULL : strrchr(path, '/');
        size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
        char *next = arena_allocate(arena, folder + (size_t)length + 1, 1, output->error);
        if (next == NULL)
            return NULL;
        memcpy(next, path, folder);
        memcpy(next + folder, link, (size_t)length);
        next[folder + (size_t)length] = '\0';
        path = next;
    }
    error_system(output->error, ELOOP, "%s", output->name);
    return NULL;
}

static mode_t usual_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return (mode_t)(0666 & ~mask);
}

/* Gives the new file the owner, the group and the permissions of the one that it replaces. Where the system refuses the
 * group, the new group gets no more rights than everybody. */
static bool take_permissions(int file, const struct stat *replaced)
{
    mode_t mode = replaced->st_mode & 0777;
    if (fchown(file, (uid_t)-1, replaced->st_gid) != 0)
        mode &= (mode_t)(0707 | (mode & 7) << 3);
    if (fchown(file, replaced->st_uid, (gid_t)-1) != 0)
        errno = 0; /* only the superuser gives files away */
    return fchmod(file, mode) == 0;
}

static enum status open_named(struct output *output)
{
    sigset_t before;
    signals_hold(&before);
    output->file = mkstemp(output->temporary);
    int code = errno;
    if (output->file >= 0) {
        unfinished = output->temporary;
        watch_signals();
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (output->file >= 0)
        return STATUS_OK;
    return error_directory(output->error, code, output->target);
}

/* Creates the file next to its target, with the permissions of the one that it replaces, if any. */
static enum status open_beside(struct output *output, const struct stat *replaced, struct arena *arena)
{
    static const char NAME[] = ".attn.XXXXXX";
    const char *slash = strrchr(output->target, '/');
    const size_t length = slash != NULL ? (size_t)(slash - output->target) + 1 : 0;
    const char *folder = arena_text(arena, length > 0 ? output->target : ".", length > 0 ? length : 1, output->error);
    output->temporary = arena_allocate(arena, length + sizeof NAME, 1, output->error);
    if (folder == NULL || output->temporary == NULL)
        return output->error->status;
    memcpy(output->temporary, output->target, length);
    memcpy(output->temporary + length, NAME, sizeof NAME);
    output->file = system_open_unnamed(folder, &output->unnamed);
    if (output->file < 0 && open_named(output) != STATUS_OK)
        return output->error->status;
    if (replaced != NULL ? take_permissions(output->file, replaced) : fchmod(output->file, usual_mode()) == 0)
        return STATUS_OK;
    fail(output, errno);
    return output_close(output);
}

void output_open_stream(struct output *output, int stream, const char *name, struct error *error)
{
    output->file = stream;
    text_path(name, output->name);
    output->target = NULL;
    output->temporary = NULL;
    output->unnamed = -1;
    output->used = 0;
    output->arena = NULL;
    output->ascii = output->one_line = false;
    output->failed = false;
    output->error = error;
}

bool output_is_terminal(const struct output *output)
{
    return isatty(output->file);
}

bool output_takes_color(const struct output *output)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return output_is_terminal(output) && (no_color == NULL || no_color[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

size_t output_columns(const struct output *output)
{
    struct winsize size;
    const char *said = getenv("COLUMNS");
    unsigned long columns = USUAL_COLUMNS;
    if (ioctl(output->file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;
    else if (said != NULL && said[0] >= '1' && said[0] <= '9')
        columns = strtoul(said, NULL, 10);
    return columns < FEWEST_COLUMNS ? FEWEST_COLUMNS : columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
}

enum status output_open(struct output *output, const char *path, struct arena *arena, struct error *error)
{
    struct stat there;
    output_open_stream(output, STDOUT_FILENO, "standard output", error);
    if (path == NULL || strcmp(path, "-") == 0)
        return STATUS_OK;
    text_path(path, output->name);
    output->target = follow_links(output, path, arena);
    if (output->target == NULL)
        return error->status;
    const int descriptor = descriptor_of(output->target);
    if (descriptor >= 0) {
        output_open_stream(output, descriptor, path, error);
        return fcntl(descriptor, F_GETFD) < 0 ? open_failed(output) : STATUS_OK;
    }
    bool exists = stat(path, &there) == 0;
    if (!exists && errno != ENOENT)
        return open_failed(output);
    if (exists && S_ISDIR(there.st_mode))
        return error_system(error, EISDIR, "%s", path);
    if (exists && !S_ISREG(there.st_mode)) {
        output->target = NULL;
        output->file = open(path, O_WRONLY | O_CLOEXEC);
        return output->file < 0 ? open_failed(output) : STATUS_OK;
    }
    if (exists && access(path, W_OK) != 0)
        return open_failed(output);
    return open_beside(output, exists ? &there : NULL, arena);
}

/* *there describes the file at the path, or standard input for "-"; *exists is false where there is none. */
static enum status look_at(const char *path, struct stat *there, bool *exists, struct error *error)
{
    const bool is_input = strcmp(path, "-") == 0;
    *exists = (is_input ? fstat(STDIN_FILENO, there) : stat(path, there)) == 0;
    return *exists || errno == ENOENT || errno == ENOTDIR
               ? STATUS_OK
               : error_system(error, errno, "%s", is_input ? "standard input" : SHOWN_PATH(path));
}

enum status output_replaces(const char *path, const char *file, bool *replaces, struct error *error)
{
    struct stat target, there;
    *replaces = false;
    if (path == NULL || strcmp(path, "-") == 0)
        return STATUS_OK;
    if (look_at(path, &target, replaces, error) != STATUS_OK || !*replaces)
        return error->status;
    *replaces = S_ISREG(target.st_mode);
    if (!*replaces || look_at(file, &there, replaces, error) != STATUS_OK || !*replaces)
        return error->status;
    *replaces = target.st_dev == there.st_dev && target.st_ino == there.st_ino;
    return STATUS_OK;
}

/* Moves the buffer into the text, which always has room for a NUL. */
static void collect(struct output *output)
{
    const size_t needed = output->length + output->used + 1;
    if (needed > output->room) {
        output->room = needed * 2;
        char *larger = arena_allocate(output->arena, output->room, 1, output->error);
        output->failed = larger == NULL;
        if (larger != NULL && output->length > 0)
            memcpy(larger, output->text, output->length);
        output->text = larger;
    }
    if (!output->failed) {
        memcpy(output->text + output->length, output->buffer, output->used);
        output->length += output->used;
    }
    output->used = 0;
}

static void write_file(struct output *output, const char *bytes, size_t length)
{
    while (length > 0 && !output->failed) {
        const ssize_t written = write(output->file, bytes, length);
        if (written >= 0) {
            bytes += written;
            length -= (size_t)written;
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){.fd = output->file, .events = POLLOUT}, 1, -1);
        } else if (errno != EINTR) {
            fail(output, errno);
        }
    }
}

void output_flush(struct output *output)
{
    if (output->arena == NULL)
        write_file(output, output->buffer, output->used);
    else if (!output->failed)
        collect(output);
    output->used = 0;
}

void output_expect(struct output *output, size_t length)
{
    const off_t most = INT64_MAX;
    if (output->target == NULL || output->failed || length > (uintmax_t)most)
        return;
    if (system_reserve(output->file, (off_t)length) != 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
        fail(output, errno);
}

/* The ASCII text that replaces the next *taken bytes; NULL where they stay. It is as wide as the mark, except for an
 * ellipsis between words. */
static const char *in_ascii(const char *bytes, size_t length, bool begins_word, size_t *taken)
{
    static const struct {
        const char *mark, *ascii;
    } MARKS[] = {{"\xe2\x89\x88", "~"}, {"\xc2\xb7", "-"},     {"\xe2\x96\x91", "."},
                 {"\xe2\x96\x92", ":"}, {"\xe2\x96\x93", "+"}, {"\xe2\x96\x88", "#"},
                 {TEXT_BLANK, "_"},     {"\xe2\x80\xa2", "*"}, {"\xe2\x80\xa6", "~"}};
    const size_t last = sizeof MARKS / sizeof MARKS[0] - 1;
    for (size_t i = 0; i <= last; i++) {
        *taken = strlen(MARKS[i].mark);
        if (*taken <= length && memcmp(bytes, MARKS[i].mark, *taken) == 0)
            return i == last && begins_word ? "..." : MARKS[i].ascii;
    }
    return NULL;
}

static void write_ascii(struct output *output, const char *bytes, size_t length)
{
    size_t plain = 0, taken;
    output->ascii = false;
    for (size_t i = 0; i < length; i++) {
        const bool begins_word = i == 0 || bytes[i - 1] == ' ';
        const char *ascii = (bytes[i] & 0x80) != 0 ? in_ascii(bytes + i, length - i, begins_word, &taken) : NULL;
        if (ascii == NULL)
            continue;
        output_write(output, bytes + plain, i - plain);
        output_write(output, ascii, strlen(ascii));
        plain = i + taken;
        i = plain - 1;
    }
    output_write(output, bytes + plain, length - plain);
    output->ascii = true;
}

void output_write(struct output *output, const char *bytes, size_t length)
{
    if (output->ascii) {
        write_ascii(output, bytes, length);
        return;
    }
    if (length >= OUTPUT_BUFFER_BYTES && output->arena == NULL) {
        output_flush(output);
        write_file(output, bytes, length);
        return;
    }
    while (length > 0) {
        size_t room = OUTPUT_BUFFER_BYTES - output->used;
        size_t now = memory_smaller(length, room);
        memcpy(output->buffer + output->used, bytes, now);
        output->used += now;
        bytes += now;
        length -= now;
        if (output->used == OUTPUT_BUFFER_BYTES)
            output_flush(output);
    }
}

int output_write_at(int file, uint64_t offset, const char *bytes, size_t length)
{
    while (length > 0) {
        const ssize_t written = pwrite(file, bytes, length, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        bytes += written;
        offset += (uint64_t)written;
        length -= (size_t)written;
    }
    return 0;
}

void output_skip(struct output *output, size_t length, int code)
{
    output_flush(output);
    if (!output->failed && (code != 0 || lseek(output->file, (off_t)length, SEEK_CUR) < 0))
        fail(output, code != 0 ? code : errno);
}

void output_print(struct output *output, const char *format, ...)
{
    char text[PRINT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        output_write(output, text, length < PRINT_BYTES ? (size_t)length : PRINT_BYTES - 1);
}

void output_open_text(struct output *output, struct arena *arena, struct error *error)
{
    output_open_stream(output, -1, "memory", error);
    output->arena = arena;
    output->text = NULL;
    output->length = output->room = 0;
}

struct output *output_of_text(struct arena *arena, struct error *error)
{
    struct output *output = arena_allocate(arena, 1, sizeof *output, error);
    if (output != NULL)
        output_open_text(output, arena, error);
    return output;
}

char *output_close_text(struct output *output, size_t *length)
{
    output_flush(output);
    if (output->failed)
        return NULL;
    *length = output->length;
    output->text[*length] = '\0';
    return output->text;
}

void output_abandon(struct output *output)
{
    output->failed = true;
}

/* Gives the unnamed file the name of its target if nothing is there. If something is, it gets the temporary name,
 * since no link replaces a file. Returns whether it has the temporary name. */
static bool name_file(struct output *output)
{
    if (system_name(output->unnamed, output->target) == 0)
        return false;
    for (uint32_t i = 0; errno == EEXIST && i < NAMES_TRIED; i++) {
        uint32_t number = (uint32_t)getpid() * NAMES_TRIED + i;
        for (char *end = output->temporary + strlen(output->temporary), *at = end - LETTERS; at < end; number /= 26)
            *at++ = (char)('a' + number % 26);
        if (system_name(output->unnamed, output->temporary) == 0)
            return true;
    }
    fail(output, errno);
    return false;
}

static void put_in_place(struct output *output)
{
    sigset_t before;
    signals_hold(&before);
    const bool temporary = output->unnamed < 0 || (!output->failed && name_file(output));
    if (output->unnamed >= 0)
        close(output->unnamed);
    if (temporary && !output->failed && rename(output->temporary, output->target) != 0)
        fail(output, errno);
    if (temporary && output->failed)
        unlink(output->temporary);
    unfinished = NULL;
    sigprocmask(SIG_SETMASK, &before, NULL);
}

enum status output_close(struct output *output)
{
    output_flush(output);
    if (output->arena != NULL)
        return output->failed ? output->error->status : STATUS_OK;
    if (close(output->file) != 0 && !output->failed)
        fail(output, errno);
    if (output->target != NULL)
        put_in_place(output);
    return output->failed ? output->error->status : STATUS_OK;
}
