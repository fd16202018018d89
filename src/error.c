#include "error.h"

#include <stdarg.h>
#include <string.h>

enum status error_usage(struct error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return error->status = STATUS_USAGE;
}

enum status error_system(struct error *error, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    if (code) {
        size_t length = strlen(error->message);
        snprintf(error->message + length, sizeof error->message - length, ": %s", strerror(code));
    }
    return error->status = STATUS_SYSTEM;
}

void error_print(const struct error *error, FILE *stream)
{
    if (error->quiet)
        return;
    fputs("attn: ", stream);
    for (const char *c = error->message; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte < 0x20 || byte == 0x7f)
            fprintf(stream, "\\x%02x", byte);
        else
            fputc(byte, stream);
    }
    fputc('\n', stream);
    fputs(error->detail, stream);
}
