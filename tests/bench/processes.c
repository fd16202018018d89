/* SPDX-License-Identifier: MIT */
/* Times two commands as whole processes, in turn, and prints the ratio of the best of each:
 *
 *     processes RUNS MOST NAME 'COMMAND A' 'COMMAND B'
 *
 * Each command is words parted by blanks and gets no shell; its standard output is thrown away. Exits 1 where a command
 * fails, or where A takes more than MOST times as long as B; of "-" nothing is asked. */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { WORDS = 32 };

extern char **environ;

static void give_up(const char *what)
{
    fprintf(stderr, "processes: %s failed\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void split(char *line, char **words)
{
    int count = 0;
    for (char *word = strtok(line, " "); word != NULL && count < WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
}

/* Seconds from the start of the process to its end. */
static double run(char **words)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    double start = now();
    if (posix_spawnp(&child, words[0], &actions, NULL, words, environ) != 0 || waitpid(child, &status, 0) != child)
        give_up(words[0]);
    double seconds = now() - start;
    posix_spawn_file_actions_destroy(&actions);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        give_up(words[0]);
    return seconds;
}

int main(int argc, char **argv)
{
    if (argc != 6)
        give_up("the command line");
    const int runs = atoi(argv[1]);
    char *a[WORDS + 1], *b[WORDS + 1];
    split(argv[4], a);
    split(argv[5], b);
    double best_a = run(a), best_b = run(b);
    for (int i = 0; i < runs; i++) {
        double seconds_a = run(a), seconds_b = run(b);
        best_a = seconds_a < best_a ? seconds_a : best_a;
        best_b = seconds_b < best_b ? seconds_b : best_b;
    }
    const double ratio = best_a / best_b;
    const bool asked = strcmp(argv[2], "-") != 0, held = !asked || ratio <= strtod(argv[2], NULL);
    printf("%-46s %9.3f ms %9.3f ms  %5.2f x  ", argv[3], best_a * 1e3, best_b * 1e3, ratio);
    if (asked)
        printf("(at most %s: %s)\n", argv[2], held ? "yes" : "NO");
    else
        printf("(no goal)\n");
    return !held;
}
