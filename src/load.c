#include "load.h"

#include "json.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 16 };

/* Room for a file's size and one more byte, so that its end is seen without growing. */
static size_t first_room(int file)
{
    struct stat there;
    if (fstat(file, &there) == 0 && S_ISREG(there.st_mode) && there.st_size > 0 &&
        (uintmax_t)there.st_size < SIZE_MAX / 2)
        return (size_t)there.st_size + 2;
    return FIRST_BYTES;
}

/* All bytes of the file and a NUL; the caller frees *text, also on failure. */
static enum status read_all(int file, const char *source, char **text, size_t *length, struct error *error)
{
    size_t room = first_room(file);
    *length = 0;
    *text = malloc(room);
    while (*text != NULL) {
        ssize_t bytes = read(file, *text + *length, room - *length - 1);
        if (bytes == 0) {
            (*text)[*length] = '\0';
            return STATUS_OK;
        }
        if (bytes < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = file, .events = POLLIN}, 1, -1);
        else if (bytes < 0 && errno != EINTR)
            return error_system(error, errno, "%s", source);
        *length += bytes > 0 ? (size_t)bytes : 0;
        if (room - *length > 1)
            continue;
        char *larger = room <= SIZE_MAX / 2 ? realloc(*text, room * 2) : NULL;
        if (larger == NULL)
            break;
        *text = larger;
        room *= 2;
    }
    return error_system(error, 0, "%s: not enough memory to read it", source);
}

/* The path as messages have it: its beginning, "..." and its end where it is longer than BUNDLE_SOURCE_BYTES. */
static const char *shorten(const char *path, struct arena *arena, struct error *error)
{
    const size_t length = strlen(path), half = (BUNDLE_SOURCE_BYTES - 4) / 2;
    if (length < BUNDLE_SOURCE_BYTES)
        return arena_text(arena, path, length, error);
    char *text = arena_allocate(arena, BUNDLE_SOURCE_BYTES, 1, error);
    if (text != NULL)
        snprintf(text, BUNDLE_SOURCE_BYTES, "%.*s...%s", (int)half, path, path + length - half);
    return text;
}

/* Reads `path` ("-" is standard input): what is of the `kinds`, bits of enum bundle_kind. */
static enum status load_bundle(const char *path, unsigned kinds, struct arena *arena, struct bundle *bundle,
                               struct error *error)
{
    const bool standard = strcmp(path, "-") == 0;
    const char *source = standard ? "standard input" : shorten(path, arena, error);
    int file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    char *text = NULL;
    size_t length;
    if (source == NULL)
        return error->status;
    if (file < 0)
        return error_system(error, errno, "%s", source);
    enum status status = read_all(file, source, &text, &length, error);
    if (!standard)
        close(file);
    if (status == STATUS_OK)
        status = json_read(source, text, length, kinds, arena, bundle, error);
    free(text);
    return status;
}

static bool reads_inputs(const struct options *options)
{
    return options->command != COMMAND_INIT || options->origin[OPTION_D_IN] == ORIGIN_DEFAULT;
}

bool load_wants_input(const struct options *options)
{
    return options->in == NULL && reads_inputs(options);
}

enum status load_files(struct load *load, const struct options *options, struct arena *arena, struct error *error)
{
    const bool parameters_here = options->weights == NULL && options->command != COMMAND_INIT;
    unsigned kinds = BUNDLE_INPUTS | BUNDLE_TOKENS | BUNDLE_SETTINGS;
    if (parameters_here)
        kinds |= BUNDLE_PARAMETER;
    *load = (struct load){0};
    if (reads_inputs(options)) {
        load->inputs = &load->bundles[0];
        if (load_bundle(options->in != NULL ? options->in : "-", kinds, arena, load->inputs, error) != STATUS_OK)
            return error->status;
    }
    if (options->weights == NULL)
        return STATUS_OK;
    load->weights = &load->bundles[1];
    return load_bundle(options->weights, BUNDLE_PARAMETER, arena, load->weights, error);
}
