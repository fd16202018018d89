/* SPDX-License-Identifier: MIT */
#include "program.h"

#include "support.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 160, NAME_BYTES = 256 };

int attn_main(int argc, char **argv);

static char scratch[] = "/tmp/attn-pairs-XXXXXX";

static struct {
    char folder[PROGRAM_PATH_BYTES], result[PROGRAM_PATH_BYTES], output[PROGRAM_PATH_BYTES],
        message[PROGRAM_PATH_BYTES];
} paths;

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

/* --- files ------------------------------------------------------------------------------------------------------- */

const char *program_scratch(void)
{
    return scratch;
}

char *program_path(char *path, const char *format, ...)
{
    const int length = snprintf(path, PROGRAM_PATH_BYTES, "%s/", scratch);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path + length, (size_t)(PROGRAM_PATH_BYTES - length), format, arguments);
    va_end(arguments);
    return path;
}

void program_write(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
        give_up(path);
}

void program_begin(void)
{
    if (mkdtemp(scratch) == NULL)
        give_up(scratch);
    program_path(paths.folder, "results");
    program_path(paths.result, "results/result");
    program_path(paths.output, "output");
    program_path(paths.message, "message");
    if (mkdir(paths.folder, 0755) != 0)
        give_up(paths.folder);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void program_end(void)
{
    if (nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        give_up(scratch);
}

/* --- processes --------------------------------------------------------------------------------------------------- */

static void put_at(int stream, const char *path, int flags)
{
    const int file = open(path, flags, 0644);
    if (file < 0 || dup2(file, stream) < 0)
        _exit(99);
    close(file);
}

/* The child's life: `start`, which is faster than a program that is loaded first; or NULL: another program, which the
 * alarm outlives. */
static _Noreturn void live(int (*start)(int, char **), char **words, const char *input, const char *message,
                           unsigned seconds)
{
    put_at(STDIN_FILENO, input, O_RDONLY);
    put_at(STDOUT_FILENO, paths.output, O_WRONLY | O_CREAT | O_TRUNC);
    put_at(STDERR_FILENO, message, O_WRONLY | O_CREAT | (start != NULL ? O_TRUNC : O_APPEND));
    alarm(seconds);
    if (start != NULL) {
        int count = 0;
        while (words[count] != NULL)
            count++;
        _exit(start(count, words));
    }
    execvp(words[0], words);
    _exit(98);
}

static int run_words(int (*start)(int, char **), const char *const *words, const char *input, const char *message,
                     unsigned seconds)
{
    int status;
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0)
        give_up("fork");
    if (child == 0)
        live(start, (char **)words, input, message, seconds);
    if (waitpid(child, &status, 0) != child)
        give_up("waitpid");
    return status;
}

/* Counts what lies in the folder of results, takes the result and leaves the folder empty. */
static void collect(struct program_run *run)
{
    struct dirent **names;
    const int count = scandir(paths.folder, &names, NULL, NULL);
    for (int i = 0; i < count; i++) {
        char path[PROGRAM_PATH_BYTES];
        program_path(path, "results/%.*s", NAME_BYTES, names[i]->d_name);
        if (strcmp(names[i]->d_name, "result") == 0)
            run->there = true;
        else if (strcmp(names[i]->d_name, ".") != 0 && strcmp(names[i]->d_name, "..") != 0) {
            run->left++;
            unlink(path);
        }
        free(names[i]);
    }
    if (count < 0)
        give_up(paths.folder);
    free(names);
}

void program_run_by(int (*start)(int, char **), const char *const *words, size_t count, const char *input, bool to_file,
                    struct program_run *run)
{
    const char *line[MOST_WORDS + 1] = {"attn"};
    if (count + 3 > MOST_WORDS)
        abort();
    memcpy(line + 1, words, count * sizeof *line);
    if (to_file) {
        line[count + 1] = "--out";
        line[count + 2] = paths.result;
    }
    const int status = run_words(start, line, input, paths.message, PROGRAM_SECONDS);
    *run = (struct program_run){.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                                .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
    collect(run);
    run->output = support_bytes(run->there ? paths.result : paths.output, &run->length);
    run->message = support_bytes(paths.message, &run->message_length);
    if (run->there)
        unlink(paths.result);
}

void program_run(const char *const *words, size_t count, const char *input, bool to_file, struct program_run *run)
{
    program_run_by(attn_main, words, count, input, to_file, run);
}

void program_release(struct program_run *run)
{
    free(run->output);
    free(run->message);
}

int program_command(const char *const *words, unsigned seconds, char **output)
{
    size_t length;
    const int status = run_words(NULL, words, "/dev/null", paths.output, seconds);
    *output = support_bytes(paths.output, &length);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool program_is_installed(const char *name)
{
    char line[256], *output;
    snprintf(line, sizeof line, "command -v %s", name);
    const int status = program_command((const char *[]){"/bin/sh", "-c", line, NULL}, PROGRAM_SECONDS, &output);
    free(output);
    return status == 0;
}

bool program_may_write(const char *format)
{
    return (strcmp(format, "png") != 0 && strcmp(format, "pdf") != 0) || program_is_installed("rsvg-convert");
}
