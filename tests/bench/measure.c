/* Runs a command some times and prints the seconds of the fastest and the largest memory, in KB, of any:
 *
 *     measure RUNS COMMAND [ARG ...]
 *
 * Its standard output is thrown away. Exits 1 where the command fails. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Seconds of one run; *memory grows to its peak. */
static double run(char **words, long *memory)
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
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "measure: %s failed\n", words[0]);
        exit(1);
    }
    *memory = usage.ru_maxrss > *memory ? usage.ru_maxrss : *memory;
    return now() - start;
}

int main(int argc, char **argv)
{
    long memory = 0;
    const int runs = argc > 2 ? atoi(argv[1]) : 0;
    if (runs < 1) {
        fprintf(stderr, "usage: measure RUNS COMMAND [ARG ...]\n");
        return 1;
    }
    double best = run(argv + 2, &memory);
    for (int i = 1; i < runs; i++) {
        const double seconds = run(argv + 2, &memory);
        best = seconds < best ? seconds : best;
    }
    printf("%.4f %ld\n", best, memory);
    return 0;
}
