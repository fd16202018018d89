/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include "base/text.h"

#include <errno.h>
#include <string.h>

enum status error_usage(struct error *error, const char *format, ...)
{
    TEXT_FORMAT(error->message, format);
    return error->status = STATUS_USAGE;
}

enum status error_system(struct error *error, int code, const char *format, ...)
{
    TEXT_FORMAT(error->message, format);
    if (code) {
        size_t length = strlen(error->message);
        snprintf(error->message + length, sizeof error->message - length, ": %s", strerror(code));
    }
    return error->status = STATUS_SYSTEM;
}

enum status error_directory(struct error *error, int code, const char *path)
{
    const char *slash = strrchr(path, '/'), *directory = slash != NULL ? path : ".";
    const int length = slash > path ? (int)(slash - path) : 1;
    return code == ENOENT ? error_system(error, 0, "%.*s: no such directory", length, directory)
                          : error_system(error, code, "%.*s: cannot write to this directory", length, directory);
}

enum status error_quietly(struct error *error, enum status status)
{
    error->quiet = true;
    return error->status = status;
}

void error_print(const struct error *error, FILE *stream)
{
    if (error->quiet)
        return;
    char shown[4 * sizeof error->message];
    text_shown(error->message, SIZE_MAX, shown, sizeof shown);
    fprintf(stream, "attn: %s\n%s", shown, error->detail);
}
