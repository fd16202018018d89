/* SPDX-License-Identifier: MIT */
/* Runs a command some times and prints the seconds of the fastest and the largest memory, in KB, of any:
 *
 *     measure RUNS COMMAND [ARG ...]
 *     measure anonymous COMMAND [ARG ...]    once, and of the memory what is not a file's, as the system says every
 *                                            half a millisecond
 *
 * Its standard output is thrown away. Exits 1 where the command fails. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* KB of anonymous memory that a process has; 0 where the system does not say. */
static long anonymous_memory(pid_t process)
{
    char path[64], line[256];
    long kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)process);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "RssAnon:", 8) == 0)
            kilobytes = strtol(line + 8, NULL, 10);
    if (file != NULL)
        fclose(file);
    return kilobytes;
}

/* Waits for the end of a process; its peak of anonymous memory. */
static long watch(pid_t process)
{
    long peak = 0;
    siginfo_t ended = {0};
    while (waitid(P_PID, (id_t)process, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0) {
        const long kilobytes = anonymous_memory(process);
        peak = kilobytes > peak ? kilobytes : peak;
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
    return peak;
}

/* Seconds of one run; *memory grows to its peak. */
static double run(char **words, bool anonymous, long *memory)
{
    struct rusage usage;
    int status;
    const double start = now();
    const pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
            _exit(127);
        execvp(words[0], words);
        _exit(127);
    }
    const long watched = anonymous && child > 0 ? watch(child) : 0;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "measure: %s failed\n", words[0]);
        exit(1);
    }
    const long peak = anonymous ? watched : usage.ru_maxrss;
    *memory = peak > *memory ? peak : *memory;
    return now() - start;
}

int main(int argc, char **argv)
{
    long memory = 0;
    const bool anonymous = argc > 2 && strcmp(argv[1], "anonymous") == 0;
    const int runs = anonymous ? 1 : argc > 2 ? atoi(argv[1]) : 0;
    if (runs < 1) {
        fprintf(stderr, "usage: measure RUNS|anonymous COMMAND [ARG ...]\n");
        return 1;
    }
    double best = run(argv + 2, anonymous, &memory);
    for (int i = 1; i < runs; i++) {
        const double seconds = run(argv + 2, anonymous, &memory);
        best = seconds < best ? seconds : best;
    }
    printf("%.6f %ld\n", best, memory);
    return 0;
}
