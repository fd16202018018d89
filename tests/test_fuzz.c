/* SPDX-License-Identifier: MIT */
/* The fuzz targets in the ordinary build: on their seeds, on what fuzzing has found, and on samples that are cut short
 * anywhere and have any byte changed to any other. A target ends the program where it gets neither an answer nor an
 * error that says something; what it was given is named then, as it is where a target crashes or does not end. With
 * ATTN_QUICK a part of these. */
#include "check.h"
#include "support.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int fuzz_target(const uint8_t *bytes, size_t length);

fuzz_target fuzz_json, fuzz_printed, fuzz_npy, fuzz_safetensors, fuzz_archive, fuzz_pickle, fuzz_checkpoint,
    fuzz_config, fuzz_command, fuzz_paths, fuzz_gguf;

enum { LONGEST_CUT = 600, LONGEST_CHANGED = 120, LONGEST_RUN = 600, FOLDER_BYTES = 64, PATH_BYTES = 512 };

/* Every byte of a reader's sample becomes every other, of a longer one and of a command line what differs in one bit. */
enum distortion { DISTORT_NOTHING, DISTORT_BITS, DISTORT_BYTES };

static const struct {
    const char *name;
    fuzz_target *run;
    enum distortion distortion;
} targets[] = {
    {"json", fuzz_json, DISTORT_BYTES},
    {"printed", fuzz_printed, DISTORT_BYTES},
    {"npy", fuzz_npy, DISTORT_BYTES},
    {"safetensors", fuzz_safetensors, DISTORT_BYTES},
    {"archive", fuzz_archive, DISTORT_BYTES},
    {"pickle", fuzz_pickle, DISTORT_BYTES},
    {"checkpoint", fuzz_checkpoint, DISTORT_BITS},
    {"gguf", fuzz_gguf, DISTORT_BITS},
    {"config", fuzz_config, DISTORT_BITS},
    {"command", fuzz_command, DISTORT_BITS},
    {"paths", fuzz_paths, DISTORT_NOTHING},
};

/* What a target is being given. */
static char doing[PATH_BYTES + 64];

/* ATTN_QUICK: of what is cut short and changed, one in so many. */
enum { ONE_IN = 13 };
static bool quick;

static bool is_left_out(void)
{
    static size_t turn;
    return quick && turn++ % ONE_IN != 0;
}

static void tell(int signal)
{
    static const char prefix[] = "test_fuzz: this ended it: ";
    if (write(STDERR_FILENO, prefix, sizeof prefix - 1) > 0 && write(STDERR_FILENO, doing, strlen(doing)) > 0 &&
        write(STDERR_FILENO, "\n", 1) > 0)
        _exit(128 + signal);
    _exit(128 + signal);
}

/* For what ends a program; a sanitizer that listens already says more. */
static void listen_for_ends(void)
{
    static const int ENDS[] = {SIGABRT, SIGALRM, SIGSEGV, SIGBUS, SIGFPE};
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
        struct sigaction there;
        if (sigaction(ENDS[i], NULL, &there) == 0 && there.sa_handler == SIG_DFL)
            signal(ENDS[i], tell);
    }
}

/* The bytes in a block of their size, so that the sanitizers see a step beyond it. */
static void give(fuzz_target *run, const char *bytes, size_t length)
{
    uint8_t *copy = malloc(length > 0 ? length : 1);
    if (copy == NULL)
        abort();
    memcpy(copy, bytes, length);
    alarm(LONGEST_RUN);
    run(copy, length);
    alarm(0);
    free(copy);
}

static void cut(fuzz_target *run, const char *path, const char *bytes, size_t length)
{
    for (size_t end = 0; end < length; end++) {
        if (is_left_out())
            continue;
        snprintf(doing, sizeof doing, "%s, its first %zu bytes", path, end);
        give(run, bytes, end);
    }
}

static void change(fuzz_target *run, const char *path, char *bytes, size_t length, bool all)
{
    for (size_t at = 0; at < length; at++)
        for (int bits = 1; bits < 256; bits = all ? bits + 1 : bits * 2) {
            if (is_left_out())
                continue;
            snprintf(doing, sizeof doing, "%s, byte %zu xor %d", path, at, bits);
            bytes[at] = (char)(bytes[at] ^ bits);
            give(run, bytes, length);
            bytes[at] = (char)(bytes[at] ^ bits);
        }
}

static void run_file(fuzz_target *run, const char *path, enum distortion distortion)
{
    size_t length;
    char *bytes = support_bytes(path, &length);
    check_begin("%s", path);
    snprintf(doing, sizeof doing, "%s", path);
    give(run, bytes, length);
    if (distortion != DISTORT_NOTHING && length <= LONGEST_CUT) {
        cut(run, path, bytes, length);
        change(run, path, bytes, length, distortion == DISTORT_BYTES && length <= LONGEST_CHANGED);
    }
    free(bytes);
}

static int is_plain(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Every file of the folder, in order; a folder that is not there has none. Returns how many. */
static size_t run_folder(fuzz_target *run, const char *folder, enum distortion distortion)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, is_plain, alphasort);
    for (int i = 0; i < count; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        run_file(run, path, distortion);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return count > 0 ? (size_t)count : 0;
}

int main(void)
{
    listen_for_ends();
    quick = getenv("ATTN_QUICK") != NULL;
    if (quick)
        printf("ATTN_QUICK: of the samples that are cut short or changed, one in %d\n", ONE_IN);
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        char folder[FOLDER_BYTES];
        snprintf(folder, sizeof folder, "tests/fuzz/seeds/%s", targets[i].name);
        const size_t seeds = run_folder(targets[i].run, folder, targets[i].distortion);
        check_begin("%s: there are seeds", targets[i].name);
        CHECK(seeds > 0, "expected files in %s", folder);
        snprintf(folder, sizeof folder, "tests/fuzz/found/%s", targets[i].name);
        run_folder(targets[i].run, folder, DISTORT_NOTHING);
    }
    return check_end();
}
