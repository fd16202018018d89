/* SPDX-License-Identifier: MIT */
#include "base/mapped_file.h"

#include "base/error.h"
#include "base/text.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REMEMBERED = 64, MESSAGE_BYTES = 4 * TEXT_PATH_BYTES + 64 };

/* The latest mappings, for the signal handler alone; `count` counts all there ever were. */
static struct {
    const char *bytes;
    size_t length;
    char message[MESSAGE_BYTES];
} mappings[REMEMBERED];
static volatile size_t count;

/* The message of the latest mapping that holds the address; NULL where none does. */
static const char *find_message(const char *address)
{
    for (size_t i = count; i > 0 && i + REMEMBERED > count; i--) {
        const size_t at = (i - 1) % REMEMBERED;
        if (address >= mappings[at].bytes && address < mappings[at].bytes + mappings[at].length)
            return mappings[at].message;
    }
    return NULL;
}

/* Bytes of a mapping that the file no longer has. Any other SIGBUS gets its default action. */
static void tell(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    const char *message = info->si_code > 0 ? find_message(info->si_addr) : NULL;
    if (message != NULL && write(STDERR_FILENO, message, strlen(message)) >= 0)
        _exit(STATUS_SYSTEM);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void remember(const char *source, const char *bytes, size_t length)
{
    char shown[4 * TEXT_PATH_BYTES];
    const size_t at = count % REMEMBERED;
    text_shown(source, SIZE_MAX, shown, sizeof shown);
    mappings[at].bytes = bytes;
    mappings[at].length = length;
    snprintf(mappings[at].message, MESSAGE_BYTES, "attn: %s: was cut short while it was read\n", shown);
    if (count++ > 0)
        return;
    struct sigaction action = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO}, present;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, NULL, &present) == 0 && present.sa_handler == SIG_DFL)
        sigaction(SIGBUS, &action, NULL);
}

bool mapped_file_create(int file, const char *source, char **bytes, size_t *length)
{
    struct stat there;
    if (fstat(file, &there) != 0 || !S_ISREG(there.st_mode) || there.st_size <= 0 ||
        (uintmax_t)there.st_size >= SIZE_MAX / 2 || lseek(file, 0, SEEK_CUR) != 0)
        return false;
    void *mapped = mmap(NULL, (size_t)there.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED)
        return false;
    *bytes = mapped;
    *length = (size_t)there.st_size;
    remember(source, mapped, *length);
    return true;
}
