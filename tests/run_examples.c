/* SPDX-License-Identifier: MIT */
/* Runs the examples that stand in files of tests and documentation, and compares byte for byte.
 *
 *     run_examples FILE...             each example is a test
 *     run_examples --update FILE...    writes what the commands print into the files
 *
 * FILE.test holds blocks, with an empty line between two of them:
 *
 *     # what it is about                (any number; the first one names the test)
 *     skip-without PROGRAM              the test is skipped where PROGRAM is not in PATH
 *     skip-without pseudo-terminal      or where none can be opened
 *     skip-without check-whole          or in a sample, where ATTN_QUICK is set: it takes long
 *     $ command
 *     > a further line of the command
 *     < a line of standard input        (none: standard input is /dev/null)
 *     | a line of standard output       |~ or: text that standard output contains
 *     ! a line of standard error        !~ or: text that standard error contains
 *     \ no newline                      the | or ! line before it is a last line without newline
 *     ? 2                               the exit status (none: 0)
 *
 * A line "skip-without check-whole" between two empty lines holds for all examples that follow it in the file.
 *
 * FILE.md: in a ``` fence, `$ attn ...` and `$ ./attn ...` are commands, and any `$ ...` where the
 * fence is ```console. FILE.1, FILE.5 and FILE.7: in mdoc's .Bd -literal, any `$ ...`, written with roff's escapes;
 * readers do not see one in a comment, .\" $ ...
 * In both, a command that ends in a backslash goes on in the next line, one with <<END to the line
 * END, and the lines up to the next `$ ` or the end of the fence are what it prints, both streams
 * together, empty lines at the end aside. One that runs jq is skipped where jq is not in PATH. The exit status is 0, or another one where a
 * line of the output starts with "attn: ", but for "attn: warning: ", or with "different: ", the verdict of attn diff.
 * In a page, .\" skip-without check-whole before .Bd leaves the examples up to .Ed to check-whole.
 *
 * A command runs by /bin/sh, or where it is attn and plain words as it is, in the directory where this program was started, with $ATTN_BIN (".")
 * first in PATH and a scratch directory $T, one for each file, in which later examples find what
 * earlier ones left. One of a page of a manual runs in $T: it is read in any directory. A command
 * that runs for ten minutes, or for ATTN_LIMIT seconds, hangs, and fails. */
#include "check.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char TERMINALS[] = "pseudo-terminal", WHOLE[] = "check-whole";

enum { OUT, ERR, STREAMS };
enum { SHOWN_LINES = 40, LONGEST_OUTPUT = 1 << 24 };

static volatile sig_atomic_t stop_signal;

/* Examples that take long, in a sample. */
static size_t left_to_whole;

/* ---- text that grows ------------------------------------------------------------------------ */

/* Bytes with a NUL after them, NUL bytes among them allowed; all zeros is the empty text. */
struct text {
    char *bytes;
    size_t size, room;
};

static _Noreturn void fatal(const char *what)
{
    fprintf(stderr, "run_examples: %s: %s\n", what, strerror(errno));
    fflush(NULL);
    _exit(2); /* what is still allocated is no leak */
}

static void text_append(struct text *text, const char *bytes, size_t size)
{
    if (text->room - text->size <= size) {
        size_t room = 2 * text->room + size + 64;
        char *moved = realloc(text->bytes, room);
        if (!moved)
            fatal("memory");
        text->bytes = moved;
        text->room = room;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

static void text_print(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void text_print(struct text *text, const char *format, ...)
{
    char *printed = NULL;
    va_list arguments;
    va_start(arguments, format);
    int size = vasprintf(&printed, format, arguments);
    va_end(arguments);
    if (size < 0)
        fatal("memory");
    text_append(text, printed, (size_t)size);
    free(printed);
}

static void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

static void text_copy(struct text *to, const struct text *from)
{
    text_free(to);
    if (from->size > 0)
        text_append(to, from->bytes, from->size);
}

static const char *text_string(const struct text *text)
{
    return text->bytes ? text->bytes : "";
}

static bool text_equal(const struct text *a, const struct text *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

static bool text_has_nul(const struct text *text)
{
    return text->size > 0 && memchr(text->bytes, '\0', text->size) != NULL;
}

/* Where the line that starts at `start` ends: at its newline, or where the text ends. */
static size_t text_line_end(const struct text *text, size_t start)
{
    while (start < text->size && text->bytes[start] != '\n')
        start++;
    return start;
}

/* ---- a file of examples --------------------------------------------------------------------- */

struct source {
    const char *path;
    bool update;
    struct text bytes;   /* the file, its newlines made NULs */
    const char **lines;  /* into bytes */
    size_t count;        /* of lines; in this program lines count from 0, in messages from 1 */
    struct text updated; /* the file as it will be, as far as line `copied` of the old one */
    size_t copied;
    int changes;
};

static void source_split(struct source *source)
{
    struct text *bytes = &source->bytes;
    for (size_t start = 0; start < bytes->size;) {
        if ((source->count & (source->count + 1)) == 0) {
            size_t room = 2 * source->count + 2;
            const char **moved = realloc(source->lines, room * sizeof *moved);
            if (!moved)
                fatal("memory");
            source->lines = moved;
        }
        source->lines[source->count++] = bytes->bytes + start;
        start = text_line_end(bytes, start);
        bytes->bytes[start++] = '\0';
    }
}

/* Returns what is wrong with the file, or NULL. */
static const char *source_read(struct source *source)
{
    FILE *file = fopen(source->path, "rb");
    if (!file)
        return strerror(errno);
    char part[1 << 14];
    for (size_t size; (size = fread(part, 1, sizeof part, file)) > 0;)
        text_append(&source->bytes, part, size);
    const char *complaint = ferror(file) ? strerror(errno) : NULL;
    fclose(file);
    if (!complaint && text_has_nul(&source->bytes))
        complaint = "there is a NUL byte in it";
    if (!complaint)
        source_split(source);
    return complaint;
}

static void source_copy_until(struct source *source, size_t line)
{
    for (; source->copied < line; source->copied++)
        text_print(&source->updated, "%s\n", source->lines[source->copied]);
}

/* Lines begin..end-1 become `replacement`; called from the top of the file to its end. */
static void source_replace(struct source *source, size_t begin, size_t end, const struct text *replacement)
{
    source_copy_until(source, begin);
    text_print(&source->updated, "%s", text_string(replacement));
    source->copied = end;
    source->changes++;
}

static bool write_all(int file, const struct text *text)
{
    for (size_t done = 0; done < text->size;) {
        ssize_t size = write(file, text->bytes + done, text->size - done);
        if (size < 0 && errno != EINTR)
            return false;
        done += size > 0 ? (size_t)size : 0;
    }
    return true;
}

/* The new file is written beside the old one and renamed, so that nobody meets half a file; a
 * symbolic link stays one. Returns whether that went well. */
static bool source_write(struct source *source)
{
    source_copy_until(source, source->count);
    char *target = realpath(source->path, NULL);
    struct stat old;
    if (!target || stat(target, &old) != 0) {
        free(target);
        return false;
    }
    struct text beside = {0};
    text_print(&beside, "%s.XXXXXX", target);
    int file = mkstemp(beside.bytes);
    bool written = file >= 0 && write_all(file, &source->updated) && fchmod(file, old.st_mode & 07777) == 0;
    if (file >= 0)
        written = close(file) == 0 && written;
    written = written && rename(beside.bytes, target) == 0;
    if (!written && file >= 0)
        unlink(beside.bytes);
    text_free(&beside);
    free(target);
    return written;
}

static void source_free(struct source *source)
{
    text_free(&source->bytes);
    text_free(&source->updated);
    free(source->lines);
}

/* What is no proper example fails as a test of its own. */
static void complain(const struct source *source, size_t line, const char *complaint)
{
    check_begin("%s:%zu: %s", source->path, line + 1, source->lines[line]);
    check_that(false, source->path, (int)line + 1, "%s", complaint);
}

/* ---- running a command ---------------------------------------------------------------------- */

struct outcome {
    struct text output[STREAMS];
    int status;             /* as the shell counts: 128 + N for signal N */
    const char *broken_off; /* why the command was killed, or NULL */
};

static void outcome_free(struct outcome *outcome)
{
    text_free(&outcome->output[OUT]);
    text_free(&outcome->output[ERR]);
}

static long long milliseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static long long time_limit(void)
{
    const char *seconds = getenv("ATTN_LIMIT");
    return 1000 * (seconds ? strtoll(seconds, NULL, 10) : 600);
}

enum { MOST_WORDS = 64 };

/* A shell would add nothing to a line of plain words that begins with attn: it becomes the words, which end in NULL. */
static bool split_plain(char *command, char *words[MOST_WORDS + 1])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,.:/_+%@-=";
    size_t count = 0;
    if (strncmp(command, "attn ", strlen("attn ")) != 0 || command[strspn(command, plain)] != '\0')
        return false;
    char *rest = command;
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL && count < MOST_WORDS;)
        words[count++] = word;
    words[count] = NULL;
    return count < MOST_WORDS;
}

/* A command must not depend on how the runner was started: `make &` and some CI systems ignore
 * signals. After setsid it has no terminal, and can be killed with all that it started. */
static _Noreturn void become_shell(const char *command, int input, int output, int error)
{
    char *words[MOST_WORDS + 1];
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    setsid();
    char *copy = strdup(command);
    if (dup2(input, 0) == 0 && dup2(output, 1) == 1 && dup2(error, 2) == 2) {
        if (copy != NULL && split_plain(copy, words))
            execvp(words[0], words);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    }
    _exit(127);
}

/* A file open for reading that holds the text; NULL: /dev/null. */
static int open_input(const struct text *input)
{
    if (!input)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    FILE *scratch = tmpfile();
    if (!scratch)
        return -1;
    int file = write_all(fileno(scratch), input) ? fcntl(fileno(scratch), F_DUPFD_CLOEXEC, 3) : -1;
    fclose(scratch);
    if (file >= 0)
        lseek(file, 0, SEEK_SET);
    return file;
}

/* Reads what is there; at the end, closes the pipe and takes it out of the poll. */
static void read_pipe(struct pollfd *pipe_end, struct text *output)
{
    char part[1 << 16];
    ssize_t size = read(pipe_end->fd, part, sizeof part);
    if (size > 0) {
        text_append(output, part, (size_t)size);
    } else if (size == 0 || errno != EINTR) {
        close(pipe_end->fd);
        pipe_end->fd = -1;
    }
}

static const char *reason_to_stop(const struct outcome *outcome, long long deadline)
{
    if (stop_signal)
        return "interrupted";
    if (milliseconds_now() >= deadline)
        return "timed out";
    for (int stream = OUT; stream < STREAMS; stream++)
        if (outcome->output[stream].size > LONGEST_OUTPUT)
            return "printed without end";
    return NULL;
}

/* Both pipes at once, until both are at their end: a command that fills one never waits for us. */
static void read_output(struct pollfd pipes[STREAMS], struct outcome *outcome, long long deadline)
{
    while (!outcome->broken_off && (pipes[OUT].fd >= 0 || pipes[ERR].fd >= 0)) {
        /* Short naps: a signal that comes between the question and the poll does not wake it. */
        if (poll(pipes, STREAMS, 100) > 0)
            for (int stream = OUT; stream < STREAMS; stream++)
                if (pipes[stream].fd >= 0 && pipes[stream].revents)
                    read_pipe(&pipes[stream], &outcome->output[stream]);
        outcome->broken_off = reason_to_stop(outcome, deadline);
    }
    for (int stream = OUT; stream < STREAMS; stream++)
        if (pipes[stream].fd >= 0)
            close(pipes[stream].fd);
}

/* The output can be closed long before the shell ends. What the shell leaves running is killed
 * while the shell is not yet reaped, as its process group is still ours for certain. */
static void await_shell(pid_t shell, struct outcome *outcome, long long deadline)
{
    siginfo_t ended = {0};
    long nap = 20000; /* nanoseconds: it ends soon, or only after long */
    while (!outcome->broken_off) {
        waitid(P_PID, (id_t)shell, &ended, WEXITED | WNOHANG | WNOWAIT);
        if (ended.si_pid == shell)
            break;
        nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
        nap = nap < 1000000 ? 2 * nap : nap;
        outcome->broken_off = reason_to_stop(outcome, deadline);
    }
    kill(-shell, SIGKILL);
    kill(shell, SIGKILL);
    int status = 0;
    while (waitpid(shell, &status, 0) < 0 && errno == EINTR)
        continue;
    outcome->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* `merged`: standard error goes where standard output goes. `input` may be NULL. */
static void run_command(const char *command, const struct text *input, bool merged, struct outcome *outcome)
{
    int ends[STREAMS][2];
    int input_file = open_input(input);
    if (input_file < 0 || pipe2(ends[OUT], O_CLOEXEC) != 0 || pipe2(ends[ERR], O_CLOEXEC) != 0)
        fatal("cannot prepare a command");
    *outcome = (struct outcome){0};
    long long deadline = milliseconds_now() + time_limit();
    pid_t shell = fork();
    if (shell < 0)
        fatal("fork");
    if (shell == 0)
        become_shell(command, input_file, ends[OUT][1], ends[merged ? OUT : ERR][1]);
    close(input_file);
    close(ends[OUT][1]);
    close(ends[ERR][1]);
    struct pollfd pipes[STREAMS] = {{.fd = ends[OUT][0], .events = POLLIN}, {.fd = ends[ERR][0], .events = POLLIN}};
    read_output(pipes, outcome, deadline);
    await_shell(shell, outcome, deadline);
}

/* ---- an example, and whether it holds ------------------------------------------------------- */

struct example {
    size_t line;       /* of the command */
    const char *title; /* the first comment, or NULL */
    struct text command, input;
    bool has_input;
    bool documented; /* .md or a page of a manual: both streams are one, and the output tells the status */
    bool anywhere;   /* it runs in the scratch directory */
    struct text expected[STREAMS];
    enum { NOTHING, EXACT, CONTAINS } rule[STREAMS]; /* CONTAINS: expected holds a text a line */
    int status;
    bool has_status;
    const char *missing; /* the program without which it is skipped, or NULL */
    char before;         /* while a block is read: how the line before begins */
};

static void example_free(struct example *example)
{
    text_free(&example->command);
    text_free(&example->input);
    text_free(&example->expected[OUT]);
    text_free(&example->expected[ERR]);
}

static void example_begin(const struct source *source, const struct example *example)
{
    const char *command = text_string(&example->command);
    check_begin("%s:%zu: %.*s%s%s", source->path, example->line + 1, (int)strcspn(command, "\n"), command,
                example->title ? "  # " : "", example->title ? example->title : "");
}

static void run_example(const struct example *example, struct outcome *outcome)
{
    struct text command = {0};
    text_print(&command, "%s%s", example->anywhere ? "cd \"$T\" || exit\n" : "", text_string(&example->command));
    run_command(command.bytes, example->has_input ? &example->input : NULL, example->documented, outcome);
    text_free(&command);
}

/* Control bytes would spoil the terminal and hide the difference. */
static void append_visible(struct text *report, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if ((byte < ' ' && byte != '\t') || byte == 0x7f)
            text_print(report, "\\x%02x", byte);
        else
            text_append(report, &bytes[i], 1);
    }
}

/* Appends the line of the text that begins at start; returns where the next one begins. */
static size_t append_line(struct text *report, const char *label, const struct text *text, size_t start)
{
    size_t end = text_line_end(text, start);
    text_print(report, "\n    %s", label);
    if (start == text->size) {
        text_print(report, "(nothing more)");
        return start;
    }
    append_visible(report, text->bytes + start, end - start);
    if (end == text->size)
        text_print(report, "  (no newline)");
    return end < text->size ? end + 1 : end;
}

static void append_first_lines(struct text *report, const char *label, const struct text *text)
{
    text_print(report, "\n  %s:", label);
    size_t start = 0;
    for (int shown = 0; start < text->size && shown < SHOWN_LINES; shown++)
        start = append_line(report, "", text, start);
    if (start < text->size)
        text_print(report, "\n    ... (%zu bytes more)", text->size - start);
    if (text->size == 0)
        text_print(report, " nothing");
}

static void append_difference(struct text *report, const char *what, const struct text *expected,
                              const struct text *got)
{
    size_t same = 0, line = 1, start = 0;
    for (; same < expected->size && same < got->size; same++) {
        if (expected->bytes[same] != got->bytes[same])
            break;
        if (expected->bytes[same] == '\n') {
            line++;
            start = same + 1;
        }
    }
    text_print(report, "\n  %s differs first in its line %zu, at byte %zu:", what, line, same - start + 1);
    append_line(report, "expected: ", expected, start);
    append_line(report, "got:      ", got, start);
    append_first_lines(report, "all that was expected", expected);
    append_first_lines(report, "all that came", got);
}

static void append_not_contained(struct text *report, const char *what, const struct text *texts,
                                 const struct text *got)
{
    bool complete = true;
    for (size_t start = 0; start < texts->size;) {
        size_t end = text_line_end(texts, start);
        if (!got->bytes || !memmem(got->bytes, got->size, texts->bytes + start, end - start)) {
            text_print(report, "\n  %s does not contain:", what);
            append_line(report, "", texts, start);
            complete = false;
        }
        start = end + 1;
    }
    if (!complete)
        append_first_lines(report, "all that came", got);
}

static void append_wrong_stream(struct text *report, const struct example *example, int stream, const struct text *got)
{
    const char *what = example->documented ? "the output" : stream == OUT ? "standard output" : "standard error";
    const struct text *expected = &example->expected[stream];
    if (example->rule[stream] == CONTAINS)
        append_not_contained(report, what, expected, got);
    else if (!text_equal(expected, got))
        append_difference(report, what, expected, got);
}

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool shows_an_error(const struct text *output)
{
    for (size_t start = 0; start < output->size; start = text_line_end(output, start) + 1) {
        const char *line = output->bytes + start;
        if ((begins_with(line, "attn: ") && !begins_with(line, "attn: warning: ")) || begins_with(line, "different: "))
            return true;
    }
    return false;
}

static void append_wrong_status(struct text *report, const struct example *example, int status)
{
    bool error = shows_an_error(&example->expected[OUT]);
    if (!example->documented && status != example->status)
        text_print(report, "\n  exit status: expected %d, got %d", example->status, status);
    if (example->documented && error && status == 0)
        text_print(report, "\n  exit status: expected a failure after \"attn: \", got 0");
    if (example->documented && !error && status != 0)
        text_print(report, "\n  exit status: expected 0 without \"attn: \", got %d", status);
}

/* Checks the present test; `obstacle` says why an update could not write the output down. */
static void check_outcome(const struct source *source, const struct example *example, const struct outcome *outcome,
                          const char *obstacle)
{
    struct text report = {0};
    if (outcome->broken_off)
        text_print(&report, "\n  %s", outcome->broken_off);
    if (obstacle)
        text_print(&report, "\n  not updated: %s", obstacle);
    for (int stream = OUT; stream < STREAMS; stream++)
        append_wrong_stream(&report, example, stream, &outcome->output[stream]);
    if (!outcome->broken_off)
        append_wrong_status(&report, example, outcome->status);
    check_that(report.size == 0, source->path, (int)example->line + 1, "$ %s%s", text_string(&example->command),
               text_string(&report));
    text_free(&report);
}

/* ---- .test ---------------------------------------------------------------------------------- */

/* Each take_ function takes what follows a line's prefix and returns what is wrong, or NULL. */

static const char *take_comment(struct example *example, const char *rest, int stream)
{
    (void)stream;
    if (!example->title)
        example->title = rest;
    return NULL;
}

static bool in_path(const char *program)
{
    bool found = false;
    struct text candidate = {0};
    for (const char *path = getenv("PATH"); path && !found;) {
        size_t size = strcspn(path, ":");
        struct stat status;
        candidate.size = 0;
        text_print(&candidate, "%.*s/%s", size ? (int)size : 1, size ? path : ".", program);
        found = access(candidate.bytes, X_OK) == 0 && stat(candidate.bytes, &status) == 0 && S_ISREG(status.st_mode);
        path = path[size] ? path + size + 1 : NULL;
    }
    text_free(&candidate);
    return found;
}

static bool has_terminals(void)
{
    const int file = posix_openpt(O_RDWR | O_NOCTTY);
    const char *name = file >= 0 && grantpt(file) == 0 && unlockpt(file) == 0 ? ptsname(file) : NULL;
    const bool there = name != NULL && access(name, R_OK | W_OK) == 0;
    if (file >= 0)
        close(file);
    return there;
}

static bool is_there(const char *program)
{
    if (strcmp(program, WHOLE) == 0)
        return getenv("ATTN_QUICK") == NULL;
    return strcmp(program, TERMINALS) == 0 ? has_terminals() : in_path(program);
}

static const char *take_requirement(struct example *example, const char *rest, int stream)
{
    (void)stream;
    if (rest[0] == '\0' || strpbrk(rest, " \t/"))
        return "skip-without takes the name of one program";
    if (!example->missing && !is_there(rest))
        example->missing = rest;
    return NULL;
}

static const char *take_command(struct example *example, const char *rest, int stream)
{
    (void)stream;
    if (example->command.size > 0)
        return "a second command in one block; an empty line separates two blocks";
    if (rest[strspn(rest, " \t")] == '\0')
        return "an empty command";
    text_print(&example->command, "%s", rest);
    return NULL;
}

static const char *take_continuation(struct example *example, const char *rest, int stream)
{
    (void)stream;
    if (example->before != '$' && example->before != '>')
        return "a > line follows a $ line or another > line";
    text_print(&example->command, "\n%s", rest);
    return NULL;
}

static const char *take_input(struct example *example, const char *rest, int stream)
{
    (void)stream;
    text_print(&example->input, "%s\n", rest);
    example->has_input = true;
    return NULL;
}

static const char *take_expected(struct example *example, const char *rest, int stream)
{
    struct text *expected = &example->expected[stream];
    if (example->rule[stream] == CONTAINS)
        return "a stream is either written out or searched with ~";
    if (expected->size > 0 && expected->bytes[expected->size - 1] != '\n')
        return "a line after the one without newline";
    example->rule[stream] = EXACT;
    text_print(expected, "%s\n", rest);
    return NULL;
}

static const char *take_contained(struct example *example, const char *rest, int stream)
{
    if (example->rule[stream] == EXACT)
        return "a stream is either written out or searched with ~";
    if (rest[0] == '\0')
        return "text to search for is missing";
    example->rule[stream] = CONTAINS;
    text_print(&example->expected[stream], "%s\n", rest);
    return NULL;
}

static const char *take_no_newline(struct example *example, const char *rest, int stream)
{
    (void)stream;
    if (strcmp(rest, "no newline") != 0)
        return "expected \"\\ no newline\"";
    if (example->before != '|' && example->before != '!')
        return "\"\\ no newline\" follows a | or ! line";
    struct text *expected = &example->expected[example->before == '|' ? OUT : ERR];
    expected->bytes[--expected->size] = '\0';
    return NULL;
}

static const char *take_status(struct example *example, const char *rest, int stream)
{
    (void)stream;
    size_t digits = strspn(rest, "0123456789");
    long status = strtol(rest, NULL, 10);
    if (digits == 0 || rest[digits] != '\0' || status > 255)
        return "an exit status is a number from 0 to 255";
    if (example->has_status)
        return "a second exit status in one block";
    example->has_status = true;
    example->status = (int)status;
    return NULL;
}

/* What follows the prefix and a blank; "" where nothing follows; NULL for another line. */
static const char *after_prefix(const char *line, const char *prefix)
{
    size_t size = strlen(prefix);
    if (strncmp(line, prefix, size) != 0)
        return NULL;
    if (line[size] == '\0')
        return line + size;
    return line[size] == ' ' ? line + size + 1 : NULL;
}

static const struct line_kind {
    const char *prefix;
    bool before_command; /* may stand above the command */
    int stream;
    const char *(*take)(struct example *example, const char *rest, int stream);
} line_kinds[] = {
    {"#", true, OUT, take_comment},     {"skip-without", true, OUT, take_requirement},
    {"$", true, OUT, take_command},     {">", false, OUT, take_continuation},
    {"<", false, OUT, take_input},      {"|", false, OUT, take_expected},
    {"!", false, ERR, take_expected},   {"|~", false, OUT, take_contained},
    {"!~", false, ERR, take_contained}, {"\\", false, OUT, take_no_newline},
    {"?", false, OUT, take_status},
};

static const char *take_line(struct example *example, const char *line)
{
    for (size_t i = 0; i < sizeof line_kinds / sizeof *line_kinds; i++) {
        const struct line_kind *kind = &line_kinds[i];
        const char *rest = after_prefix(line, kind->prefix);
        if (!rest)
            continue;
        if (!kind->before_command && example->command.size == 0)
            return "this needs a $ line above it";
        const char *complaint = kind->take(example, rest, kind->stream);
        /* What comes after a ~ line is not what comes after an exact one. */
        example->before = kind->prefix[1] ? '~' : kind->prefix[0];
        return complaint;
    }
    return "no line of an example begins like this";
}

/* Returns whether there is an example to run; complains where the block is malformed. */
static bool read_block(const struct source *source, size_t begin, size_t end, struct example *example)
{
    bool comments_only = true;
    for (size_t line = begin; line < end; line++) {
        const char *complaint = take_line(example, source->lines[line]);
        if (complaint) {
            complain(source, line, complaint);
            return false;
        }
        if (example->before == '$')
            example->line = line;
        comments_only = comments_only && example->before == '#';
    }
    if (example->command.size == 0 && !comments_only)
        complain(source, begin, "a block without a command");
    return example->command.size > 0;
}

static void append_stream(struct text *block, char prefix, const struct text *output)
{
    for (size_t start = 0; start < output->size;) {
        size_t end = text_line_end(output, start);
        text_print(block, "%c%s%.*s\n", prefix, end > start ? " " : "", (int)(end - start), output->bytes + start);
        if (end == output->size)
            text_print(block, "\\ no newline\n");
        start = end + 1;
    }
}

/* Writes the block anew: first what stays, then what came. */
static void rewrite_block(struct source *source, size_t begin, size_t end, const struct example *example,
                          const struct outcome *outcome)
{
    struct text block = {0};
    for (size_t i = begin; i < end; i++) {
        const char *line = source->lines[i];
        bool is_exact = after_prefix(line, "|") || after_prefix(line, "!");
        if (!is_exact && line[0] != '?' && line[0] != '\\')
            text_print(&block, "%s\n", line);
    }
    if (example->rule[OUT] != CONTAINS)
        append_stream(&block, '|', &outcome->output[OUT]);
    if (example->rule[ERR] != CONTAINS)
        append_stream(&block, '!', &outcome->output[ERR]);
    if (outcome->status != 0)
        text_print(&block, "? %d\n", outcome->status);
    source_replace(source, begin, end, &block);
    text_free(&block);
}

/* Makes the outcome what is expected. Returns why that cannot be, or NULL. */
static const char *update_block(struct source *source, size_t begin, size_t end, struct example *example,
                                const struct outcome *outcome)
{
    bool holds = example->status == outcome->status;
    for (int stream = OUT; stream < STREAMS; stream++) {
        if (example->rule[stream] == CONTAINS)
            continue;
        if (text_has_nul(&outcome->output[stream]))
            return "a NUL byte in the output";
        holds = holds && text_equal(&example->expected[stream], &outcome->output[stream]);
    }
    if (holds)
        return NULL;
    rewrite_block(source, begin, end, example, outcome);
    for (int stream = OUT; stream < STREAMS; stream++)
        if (example->rule[stream] != CONTAINS)
            text_copy(&example->expected[stream], &outcome->output[stream]);
    example->status = outcome->status;
    return NULL;
}

static void skip_without(const char *program)
{
    struct text reason = {0};
    text_print(&reason, strcmp(program, TERMINALS) == 0 ? "no %s" : "no %s in PATH", program);
    check_skip(reason.bytes);
    text_free(&reason);
}

static void run_block(struct source *source, size_t begin, size_t end)
{
    struct example example = {0};
    if (read_block(source, begin, end, &example)) {
        if (example.missing && strcmp(example.missing, WHOLE) == 0) {
            left_to_whole++;
        } else if (example.missing) {
            example_begin(source, &example);
            skip_without(example.missing);
        } else {
            example_begin(source, &example);
            struct outcome outcome;
            run_example(&example, &outcome);
            const char *obstacle = NULL;
            if (source->update && !outcome.broken_off)
                obstacle = update_block(source, begin, end, &example, &outcome);
            check_outcome(source, &example, &outcome, obstacle);
            outcome_free(&outcome);
        }
    }
    example_free(&example);
}

/* Whether the block is that line alone, which leaves what follows to check-whole. */
static bool leaves_the_rest(const struct source *source, size_t begin, size_t end)
{
    const char *required = end == begin + 1 ? after_prefix(source->lines[begin], "skip-without") : NULL;
    return required != NULL && strcmp(required, WHOLE) == 0 && end < source->count;
}

static void run_test_file(struct source *source)
{
    for (size_t begin = 0; begin < source->count && !stop_signal;) {
        size_t end = begin;
        while (end < source->count && source->lines[end][0] != '\0')
            end++;
        if (leaves_the_rest(source, begin, end)) {
            for (; !is_there(WHOLE) && end < source->count; end++)
                left_to_whole += after_prefix(source->lines[end], "$") != NULL;
        } else if (end > begin) {
            run_block(source, begin, end);
        }
        begin = end + 1;
    }
}

/* ---- .md ------------------------------------------------------------------------------------ */

/* What tells one kind of document from another. Examples stand in displays: an opening line, the
 * lines within, a closing line. */
struct markup {
    bool (*opens)(const char *line);
    bool (*closes)(const char *line, const char *opening);
    bool (*is_command)(const char *line, const char *opening);
    /* Both append a line without newline, and return why they cannot, or NULL. */
    const char *(*decode)(const char *line, struct text *plain);
    const char *(*encode)(const char *plain, const char *opening, struct text *line);
    bool anywhere;     /* its examples run in the scratch directory */
    const char *stray; /* the complaint about an example that is in no display */
};

static bool starts_word(const char *text, const char *word)
{
    size_t size = strlen(word);
    return strncmp(text, word, size) == 0 && !isalnum((unsigned char)text[size]) &&
           (text[size] == '\0' || !strchr("_-.", text[size]));
}

/* The bytes before a command, 0 for another line. */
static size_t prompt_size(const char *line)
{
    static const char *const prompts[] = {"$ ", ".\\\" $ "};
    for (size_t i = 0; i < 2; i++)
        if (strncmp(line, prompts[i], strlen(prompts[i])) == 0)
            return strlen(prompts[i]);
    return 0;
}

static bool is_prompt(const char *line)
{
    return prompt_size(line) > 0;
}

static bool is_prompt_for_attn(const char *line)
{
    return starts_word(line, "$ attn") || starts_word(line, "$ ./attn");
}

/* Splits a line into the number of its backticks and what follows them. */
static size_t count_ticks(const char *line, const char **rest)
{
    size_t indent = strspn(line, " ");
    size_t ticks = indent <= 3 ? strspn(line + indent, "`") : 0;
    *rest = line + indent + ticks;
    *rest += strspn(*rest, " \t");
    return ticks;
}

static bool fence_opens(const char *line)
{
    const char *information;
    return count_ticks(line, &information) >= 3 && !strchr(information, '`');
}

static bool fence_closes(const char *line, const char *opening)
{
    const char *rest, *information;
    size_t needed = count_ticks(opening, &information);
    return count_ticks(line, &rest) >= needed && *rest == '\0';
}

static bool fence_is_command(const char *line, const char *opening)
{
    const char *information;
    count_ticks(opening, &information);
    return is_prompt_for_attn(line) || (is_prompt(line) && starts_word(information, "console"));
}

static const char *fence_decode(const char *line, struct text *plain)
{
    text_print(plain, "%s", line);
    return NULL;
}

static const char *fence_encode(const char *plain, const char *opening, struct text *line)
{
    if (is_prompt(plain) || fence_closes(plain, opening))
        return "a line of the output would be read as a command or as the end of the fence";
    text_print(line, "%s", plain);
    return NULL;
}

static const struct markup markdown = {
    fence_opens,
    fence_closes,
    fence_is_command,
    fence_decode,
    fence_encode,
    false,
    "an example stands in a ``` fence and begins its line, else nobody runs it",
};

/* ---- pages of a manual ---------------------------------------------------------------------- */

static bool literal_opens(const char *line)
{
    if (strncmp(line, ".Bd ", 4) != 0)
        return false;
    const char *flag = strstr(line, " -literal");
    return flag && (flag[9] == '\0' || flag[9] == ' ');
}

static bool literal_closes(const char *line, const char *opening)
{
    (void)opening;
    return after_prefix(line, ".Ed") != NULL;
}

static bool literal_is_command(const char *line, const char *opening)
{
    (void)opening;
    return is_prompt(line);
}

static void append_utf8(struct text *text, unsigned long code)
{
    char bytes[4];
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    static const unsigned char leads[] = {0x00, 0xc0, 0xe0, 0xf0};
    bytes[0] = (char)(leads[size - 1] | code);
    text_append(text, bytes, size);
}

/* \[uXXXX] or \[uXXXXX]: its size, 0 for anything else. */
static size_t decode_code_point(const char *escape, struct text *plain)
{
    if (strncmp(escape, "\\[u", 3) != 0)
        return 0;
    size_t digits = strspn(escape + 3, "0123456789ABCDEFabcdef");
    unsigned long code = strtoul(escape + 3, NULL, 16);
    bool is_character = code > 0 && (code < 0xd800 || code > 0xdfff);
    if ((digits != 4 && digits != 5) || escape[3 + digits] != ']' || !is_character)
        return 0;
    append_utf8(plain, code);
    return digits + 4;
}

/* The size of the escape at which the text begins, 0 for an unknown one. */
static size_t decode_escape(const char *escape, struct text *plain)
{
    static const struct {
        const char *roff, *plain;
    } escapes[] = {
        {"\\-", "-"},   {"\\e", "\\"},  {"\\(rs", "\\"}, {"\\&", ""},    {"\\(aq", "'"}, {"\\(dq", "\""},
        {"\\(ga", "`"}, {"\\(ha", "^"}, {"\\(a^", "^"},  {"\\(ti", "~"}, {"\\ ", " "},
    };
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        size_t size = strlen(escapes[i].roff);
        if (strncmp(escape, escapes[i].roff, size) == 0) {
            text_print(plain, "%s", escapes[i].plain);
            return size;
        }
    }
    return decode_code_point(escape, plain);
}

static const char *literal_decode(const char *line, struct text *plain)
{
    if (line[0] == '.' || line[0] == '\'')
        return "roff takes this line for a request; write \\& before it";
    while (*line) {
        size_t size = strcspn(line, "\\");
        text_append(plain, line, size);
        line += size;
        if (*line == '\0')
            break;
        size = decode_escape(line, plain);
        if (size == 0)
            return "an escape that is none of \\- \\e \\& \\(rs \\(aq \\(dq \\(ga \\(ha \\(a^ \\(ti "
                   "\\[uXXXX] and backslash blank";
        line += size;
    }
    return NULL;
}

static const char *literal_encode(const char *plain, const char *opening, struct text *line)
{
    (void)opening;
    if (plain[0] == '.' || plain[0] == '\'' || is_prompt(plain))
        text_print(line, "\\&");
    for (; *plain; plain++) {
        switch (*plain) {
        case '\\':
            text_print(line, "\\e");
            break;
        case '-':
            text_print(line, "\\-");
            break;
        case '\'':
            text_print(line, "\\(aq");
            break;
        case '`':
            text_print(line, "\\(ga");
            break;
        case '^':
            text_print(line, "\\(ha");
            break;
        case '~':
            text_print(line, "\\(ti");
            break;
        default:
            text_append(line, plain, 1);
        }
    }
    return NULL;
}

static const struct markup mdoc = {
    literal_opens,
    literal_closes,
    literal_is_command,
    literal_decode,
    literal_encode,
    true,
    "an example stands in .Bd -literal and begins its line, else nobody runs it",
};

/* ---- both documents ------------------------------------------------------------------------- */

/* The part of a document in which an example can stand. */
struct display {
    const struct markup *markup;
    const char *opening;
    size_t end; /* the closing line */
};

/* An example that nobody runs would look tested. */
static void check_stray(const struct source *source, const struct markup *markup, size_t line)
{
    const char *text = source->lines[line];
    const char *macro = after_prefix(text, ".Dl");
    text = macro ? macro : text;
    if (is_prompt_for_attn(text + strspn(text, " \t")))
        complain(source, line, markup->stray);
}

/* Whether a here-document has begun and not ended. */
static bool is_document_open(const struct text *command)
{
    static const char end[] = "\nEND";
    const size_t size = sizeof end - 1;
    return strstr(text_string(command), "<<END") &&
           (command->size < size || memcmp(command->bytes + command->size - size, end, size) != 0);
}

static bool goes_on(const struct text *command)
{
    if (is_document_open(command))
        return true;
    size_t backslashes = 0;
    while (backslashes < command->size && command->bytes[command->size - 1 - backslashes] == '\\')
        backslashes++;
    return backslashes % 2 == 1;
}

/* Readers type ./attn where they built it; here the program is where ATTN_BIN says. */
static void find_attn_in_path(struct text *command)
{
    struct text found = {0};
    bool begins = true;
    for (const char *rest = text_string(command); *rest; rest++) {
        if (begins && starts_word(rest, "./attn"))
            rest += strlen("./");
        begins = *rest == '|' || (begins && strchr(" \\\n", *rest));
        text_append(&found, rest, 1);
    }
    text_free(command);
    *command = found;
}

/* Reads the command at *line and leaves *line behind it. Returns what is wrong, or NULL. */
static const char *read_documented_command(const struct source *source, const struct display *display, size_t *line,
                                           struct example *example)
{
    example->line = *line;
    example->documented = true;
    example->anywhere = display->markup->anywhere;
    const char *complaint =
        display->markup->decode(source->lines[*line] + prompt_size(source->lines[*line]), &example->command);
    while (!complaint && goes_on(&example->command)) {
        ++*line;
        if (*line == display->end)
            return is_document_open(&example->command) ? "the here-document has no END"
                                                       : "the command ends in a backslash, and nothing follows";
        text_print(&example->command, "\n");
        complaint = display->markup->decode(source->lines[*line], &example->command);
    }
    if (!complaint)
        ++*line;
    find_attn_in_path(&example->command);
    return complaint;
}

static void drop_empty_lines_at_end(struct text *output)
{
    while (output->size > 0 && output->bytes[output->size - 1] == '\n' &&
           (output->size == 1 || output->bytes[output->size - 2] == '\n'))
        output->bytes[--output->size] = '\0';
}

/* Reads the expected output from *line to the next prompt and leaves *line behind its last line
 * that is not empty. Returns what is wrong with line *line, or NULL. */
static const char *read_documented_output(const struct source *source, const struct display *display, size_t *line,
                                          struct example *example)
{
    size_t begin = *line, end = *line;
    while (end < display->end && !is_prompt(source->lines[end]))
        end++;
    while (end > begin && source->lines[end - 1][0] == '\0')
        end--;
    for (; *line < end; ++*line) {
        const char *complaint = display->markup->decode(source->lines[*line], &example->expected[OUT]);
        if (complaint)
            return complaint;
        text_print(&example->expected[OUT], "\n");
    }
    drop_empty_lines_at_end(&example->expected[OUT]);
    return NULL;
}

/* Makes the output what is expected in lines begin..end-1. Returns why that cannot be, or NULL. */
static const char *update_documented(struct source *source, const struct display *display, size_t begin, size_t end,
                                     struct example *example, const struct text *output)
{
    if (text_equal(&example->expected[OUT], output))
        return NULL;
    if (text_has_nul(output))
        return "a NUL byte in the output";
    if (output->size > 0 && output->bytes[output->size - 1] != '\n')
        return "the output does not end in a newline";
    struct text encoded = {0};
    const char *obstacle = NULL;
    for (size_t start = 0; start < output->size && !obstacle;) {
        size_t size = text_line_end(output, start) - start;
        struct text plain = {0};
        text_append(&plain, output->bytes + start, size);
        obstacle = display->markup->encode(plain.bytes, display->opening, &encoded);
        text_print(&encoded, "\n");
        text_free(&plain);
        start += size + 1;
    }
    if (!obstacle) {
        source_replace(source, begin, end, &encoded);
        text_copy(&example->expected[OUT], output);
    }
    text_free(&encoded);
    return obstacle;
}

static bool runs_jq(const char *command)
{
    return strncmp(command, "jq ", 3) == 0 || strstr(command, " jq ") != NULL;
}

/* Runs the example whose command is at `line`; returns the first line behind it. */
static size_t run_documented(struct source *source, const struct display *display, size_t line)
{
    struct example example = {0};
    const char *complaint = read_documented_command(source, display, &line, &example);
    size_t output_line = line;
    if (!complaint)
        complaint = read_documented_output(source, display, &line, &example);
    if (complaint) {
        size_t last = line < display->end ? line : line - 1;
        complain(source, last, complaint);
        line = last + 1;
    } else if (runs_jq(example.command.bytes) && !in_path("jq")) {
        example_begin(source, &example);
        skip_without("jq");
    } else {
        struct outcome outcome;
        example_begin(source, &example);
        run_example(&example, &outcome);
        drop_empty_lines_at_end(&outcome.output[OUT]);
        const char *obstacle = NULL;
        if (source->update && !outcome.broken_off)
            obstacle = update_documented(source, display, output_line, line, &example, &outcome.output[OUT]);
        check_outcome(source, &example, &outcome, obstacle);
        outcome_free(&outcome);
    }
    example_free(&example);
    return line;
}

/* Runs the examples of the display that opens at `line`; returns the first line behind it. */
static size_t run_display(struct source *source, const struct markup *markup, size_t line)
{
    size_t opening = line;
    struct display display = {markup, source->lines[opening], opening + 1};
    while (display.end < source->count && !markup->closes(source->lines[display.end], display.opening))
        display.end++;
    if (display.end == source->count)
        complain(source, opening, "what opens here is never closed");
    bool after_example = false;
    for (line = opening + 1; line < display.end && !stop_signal;) {
        const char *text = source->lines[line];
        if (markup->is_command(text, display.opening)) {
            line = run_documented(source, &display, line);
            after_example = true;
            continue;
        }
        if (!after_example)
            check_stray(source, markup, line);
        line++;
    }
    return display.end + 1;
}

/* Leaves its examples to check-whole; returns the first line behind it. */
static size_t leave_display(const struct source *source, const struct markup *markup, size_t line)
{
    const char *opening = source->lines[line];
    while (++line < source->count && !markup->closes(source->lines[line], opening))
        left_to_whole += markup->is_command(source->lines[line], opening);
    return line + 1;
}

static void run_document(struct source *source, const struct markup *markup)
{
    static const char leaves[] = ".\\\" skip-without check-whole";
    for (size_t line = 0; line < source->count && !stop_signal;) {
        if (markup->opens(source->lines[line])) {
            const bool left = line > 0 && strcmp(source->lines[line - 1], leaves) == 0 && !is_there(WHOLE);
            line = left ? leave_display(source, markup, line) : run_display(source, markup, line);
        } else {
            check_stray(source, markup, line);
            line++;
        }
    }
}

/* ---- all files ------------------------------------------------------------------------------ */

static bool ends_with(const char *text, const char *suffix)
{
    size_t text_size = strlen(text), suffix_size = strlen(suffix);
    return text_size > suffix_size && strcmp(text + text_size - suffix_size, suffix) == 0;
}

static bool is_page(const char *path)
{
    return ends_with(path, ".1") || ends_with(path, ".5") || ends_with(path, ".7");
}

static void run_source(struct source *source)
{
    const char *complaint = source_read(source);
    bool is_test = ends_with(source->path, ".test"), is_man = is_page(source->path);
    if (!complaint && !is_test && !is_man && !ends_with(source->path, ".md"))
        complaint = "a file of examples is a .test, .md, .1, .5 or .7";
    if (complaint) {
        check_begin("%s", source->path);
        check_that(false, source->path, 1, "%s", complaint);
        return;
    }
    if (is_test)
        run_test_file(source);
    else
        run_document(source, is_man ? &mdoc : &markdown);
    if (source->changes > 0) {
        check_begin("%s: update", source->path);
        bool written = source_write(source);
        check_that(written, source->path, 1, "cannot write it: %s", strerror(errno));
        if (written)
            printf("updated: %s (%d changed)\n", source->path, source->changes);
    }
}

/* Also what an example made unreadable goes. Even after a signal: that is why it is forgotten
 * for the time being. */
static void remove_scratch(const char *path)
{
    sig_atomic_t caught = stop_signal;
    stop_signal = 0;
    struct outcome outcome;
    run_command("chmod -R u+rwx \"$T\"; rm -rf \"$T\"", NULL, true, &outcome);
    if (outcome.broken_off || outcome.status != 0) {
        check_begin("%s: scratch directory", path);
        check_that(false, path, 1, "cannot remove %s:\n%s", getenv("T"), text_string(&outcome.output[OUT]));
    }
    outcome_free(&outcome);
    if (caught)
        stop_signal = caught;
}

static void run_file(const char *path, bool update, const char *scratch_parent)
{
    struct text scratch = {0};
    text_print(&scratch, "%s/attn-examples-XXXXXX", scratch_parent);
    if (!mkdtemp(scratch.bytes))
        fatal(scratch_parent);
    if (setenv("T", scratch.bytes, 1) != 0 || setenv("TMPDIR", scratch.bytes, 1) != 0)
        fatal("setenv");
    struct source source = {.path = path, .update = update};
    run_source(&source);
    source_free(&source);
    remove_scratch(path);
    text_free(&scratch);
}

/* What the user's environment says must not change what the examples print. */
static void prepare_environment(void)
{
    static const char *const disturbing[] = {"LC_ALL",  "LC_CTYPE",  "LC_COLLATE", "LC_MESSAGES", "LC_NUMERIC",
                                             "LC_TIME", "LANGUAGE",  "LANG",       "NO_COLOR",    "COLUMNS",
                                             "TERM",    "COLORTERM", "COLORFGBG"};
    for (size_t i = 0; i < sizeof disturbing / sizeof *disturbing; i++)
        unsetenv(disturbing[i]);
    const char *directory = getenv("ATTN_BIN"), *old_path = getenv("PATH");
    char *absolute = realpath(directory ? directory : ".", NULL);
    if (!absolute)
        fatal("ATTN_BIN");
    struct text path = {0};
    text_print(&path, "%s/attn", absolute);
    /* Else an attn that is installed on this machine would be tested in its place. */
    if (access(path.bytes, X_OK) != 0)
        fatal(path.bytes);
    path.size = 0;
    text_print(&path, "%s:%s", absolute, old_path ? old_path : "/usr/bin:/bin");
    if (setenv("PATH", path.bytes, 1) != 0)
        fatal("setenv");
    text_free(&path);
    free(absolute);
}

static void note_signal(int number)
{
    stop_signal = number;
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction note = {.sa_handler = note_signal};
    sigemptyset(&note.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &note, NULL);
}

int main(int argc, char **argv)
{
    bool update = argc > 1 && strcmp(argv[1], "--update") == 0;
    int first = update ? 2 : 1;
    if (argc <= first) {
        fprintf(stderr, "usage: run_examples [--update] FILE...\n");
        return 2;
    }
    const char *parent = getenv("TMPDIR");
    char *scratch_parent = realpath(parent && *parent ? parent : "/tmp", NULL);
    if (!scratch_parent)
        fatal("TMPDIR");
    prepare_environment();
    catch_signals();
    for (int i = first; i < argc && !stop_signal; i++)
        run_file(argv[i], update, scratch_parent);
    free(scratch_parent);
    if (left_to_whole > 0)
        printf("%zu examples take long: make %s runs them\n", left_to_whole, WHOLE);
    int status = check_end();
    if (stop_signal) {
        fflush(stdout);
        signal(stop_signal, SIG_DFL);
        raise(stop_signal);
    }
    return status;
}
