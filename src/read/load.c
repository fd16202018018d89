/* SPDX-License-Identifier: MIT */
#include "read/load.h"

#include "base/mapped_file.h"
#include "base/system.h"
#include "base/text.h"
#include "read/archive.h"
#include "read/json.h"
#include "read/npy.h"
#include "read/printed.h"
#include "read/safetensors.h"
#include "read/zip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_BYTES = 1 << 16,
    PIECE_BYTES = 1 << 20, /* full pages */
};

/* A file's bytes, mapped or read. */
struct content {
    char *bytes;
    size_t length;
    size_t mapped; /* the length of the mapping; 0: read into memory, with a NUL after them */
};

/* Formats whose tensors may stay in the file, detected by their first bytes. */
static const struct {
    bool (*begins)(const unsigned char *bytes, size_t length);
    binary_reader *read;
} BINARY[] = {{npy_begins, npy_read}, {safetensors_begins, safetensors_read}, {zip_begins, archive_read}};

/* The reader of the file; NULL for text or an unknown format. */
static binary_reader *find_reader(const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof BINARY / sizeof BINARY[0]; i++)
        if (BINARY[i].begins(bytes, length))
            return BINARY[i].read;
    /* A file with that first byte and no other format is a wrong .npy. */
    return length > 0 && bytes[0] == NPY_FIRST_BYTE ? npy_read : NULL;
}

#define UNPACK "; unpack it first, as in "
#define EXPECTED "; expected JSON, CSV or another table of numbers, .npy, .npz, .pt or .safetensors"

/* Files that attn recognizes by their first bytes, and rejects. Longer beginnings come before shorter ones. */
static const struct {
    size_t at; /* offset of the bytes */
    const char *bytes;
    size_t count;
    const char *message;
} KINDS[] = {
    {0, "\x1f\x8b", 2, "a gzip file" UNPACK "gunzip -c FILE | attn ..."},
    {0, "BZh", 3, "a bzip2 file" UNPACK "bunzip2 -c FILE | attn ..."},
    {0, "\3757zXZ", 5, "an xz file" UNPACK "xz -dc FILE | attn ..."},
    {0, "\x28\xb5\x2f\xfd", 4, "a zstd file" UNPACK "zstd -dc FILE | attn ..."},
    {0, "\xff\xfe", 2, "text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8"},
    {0, "\xfe\xff", 2, "text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8"},
    {0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15,
     "a .pt of PyTorch before 1.6; save it again: torch.save(torch.load('old.pt'), 'new.pt')"},
    {0, "\x80\x02", 2, "a pickle, which is a program; attn runs no programs" EXPECTED},
    {0, "\x80\x03", 2, "a pickle, which is a program; attn runs no programs" EXPECTED},
    {0, "\x80\x04", 2, "a pickle, which is a program; attn runs no programs" EXPECTED},
    {0, "\x80\x05", 2, "a pickle, which is a program; attn runs no programs" EXPECTED},
    {257, "ustar", 5, "a tar archive; unpack it: tar -xf FILE"},
    {0, "\x89HDF\r\n\x1a\n", 8, "an HDF5 file, as Keras writes it; save its arrays with numpy.savez"},
    {0, "GGUF", 4,
     "a GGUF file, which holds a model; name it with --weights: attn layer HIDDEN -w FILE.gguf --layer 0"},
    {0, "MATLAB 5.0 MAT-file", 19, "a MATLAB file; convert its arrays with scipy.io.loadmat and numpy.savez"},
    {0, "PAR1", 4, "a Parquet file" EXPECTED},
    {0, "\x89PNG\r\n\x1a\n", 8, "a picture, PNG" EXPECTED},
    {0, "\xff\xd8\xff", 3, "a picture, JPEG" EXPECTED},
    {0, "GIF8", 4, "a picture, GIF" EXPECTED},
    {0, "version https://git-lfs.github.com/spec/", 40, "a pointer of Git LFS, not the file; fetch it: git lfs pull"},
    {0, "%PDF-", 5, "a PDF document" EXPECTED},
};

enum status load_check_other(const char *source, const unsigned char *bytes, size_t length, struct error *error)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
        if (length >= KINDS[i].at + KINDS[i].count && memcmp(bytes + KINDS[i].at, KINDS[i].bytes, KINDS[i].count) == 0)
            return error_usage(error, "%s: %s", source, KINDS[i].message);
    return STATUS_OK;
}

/* Whether no format begins with the bytes so far, so that the message needs no more of them. */
static bool cannot_be_input(const struct content *content)
{
    const unsigned char *bytes = (const unsigned char *)content->bytes;
    if (find_reader(bytes, content->length) != NULL)
        return false;
    if (printed_begins(bytes, content->length))
        return printed_cannot_be_input(bytes, content->length);
    const size_t blanks = text_blanks(bytes, content->length);
    return blanks < content->length && bytes[blanks] != '{';
}

/* Doubles the room, up to half of the available memory. */
static enum status grow(const char *source, struct content *content, size_t *room, struct error *error)
{
    const double most = memory_there() / 2;
    if ((double)content->length >= most)
        return error_system(error, 0,
                            "%s: %.1f GB and no end, more than half of the memory there is; expected a shorter input",
                            source, (double)content->length / 1e9);
    char *larger = *room <= SIZE_MAX / 2 ? realloc(content->bytes, *room * 2) : NULL;
    if (larger == NULL)
        return error_system(error, 0, "%s: not enough memory to read it", source);
    content->bytes = larger;
    *room *= 2;
    return STATUS_OK;
}

/* Reads all bytes of the file, and adds a NUL. */
static enum status read_all(int file, const char *source, struct content *content, struct error *error)
{
    struct stat there;
    const bool sized = fstat(file, &there) == 0 && S_ISREG(there.st_mode) && there.st_size > 0 &&
                       (uintmax_t)there.st_size < SIZE_MAX / 2;
    /* one byte more than the file, so that reading finds its end without growing, and the NUL */
    size_t room = sized ? (size_t)there.st_size + 2 : FIRST_BYTES;
    bool ended = false;
    content->bytes = malloc(room);
    if (content->bytes == NULL)
        return error_system(error, 0, "%s: not enough memory to read it", source);
    while (!ended) {
        const ssize_t bytes = system_read(file, content->bytes + content->length, room - content->length - 1);
        if (bytes < 0)
            return error_system(error, errno, "%s", source);
        content->length += (size_t)bytes;
        const bool full = room - content->length <= 1;
        ended = bytes == 0 || (full && cannot_be_input(content));
        if (full && !ended && grow(source, content, &room, error) != STATUS_OK)
            return error->status;
    }
    content->bytes[content->length] = '\0';
    return STATUS_OK;
}

static void release(struct content *content)
{
    if (content->mapped > 0)
        munmap(content->bytes, content->mapped);
    else
        free(content->bytes);
    *content = (struct content){0};
}

/* Turns a mapping into text that may be changed, with a NUL after it. Moves it piece by piece, so that memory never
 * holds it twice. */
static enum status make_text(const char *source, struct content *content, struct error *error)
{
    if (content->mapped == 0)
        return STATUS_OK;
    char *text = malloc(content->length + 1);
    if (text == NULL)
        return error_system(error, 0, "%s: not enough memory to read it", source);
    for (size_t at = 0; at < content->length; at += PIECE_BYTES) {
        const size_t bytes = memory_smaller(PIECE_BYTES, content->length - at);
        memcpy(text + at, content->bytes + at, bytes);
        munmap(content->bytes + at, bytes);
    }
    text[content->length] = '\0';
    content->bytes = text;
    content->mapped = 0;
    return STATUS_OK;
}

/* Gives the bytes of a binary file to the arena, since tensors stay in them. */
static enum status read_content(const char *source, struct content *content, unsigned kinds, struct arena *arena,
                                struct input_file *input, struct error *error)
{
    const unsigned char *bytes = (const unsigned char *)content->bytes;
    const size_t length = content->length;
    binary_reader *read = find_reader(bytes, length);
    if (read != NULL) {
        enum status status = arena_keep(arena, content->bytes, content->mapped, error);
        *content = (struct content){0};
        return status == STATUS_OK ? named_tensors_read(read, source, bytes, length, kinds, arena, input, error)
                                   : status;
    }
    if (text_blanks(bytes, length) == length)
        return error_usage(error,
                           "%s: the input is empty; expected JSON, a table of numbers, or another format that attn "
                           "reads; attn example prints one",
                           source);
    if (load_check_other(source, bytes, length, error) != STATUS_OK)
        return error->status;
    const bool printed = printed_begins(bytes, length);
    if (make_text(source, content, error) != STATUS_OK)
        return error->status;
    return printed ? printed_read(source, content->bytes, length, kinds, arena, input, error)
                   : json_read(source, content->bytes, length, kinds, arena, input, error);
}

/* Opens the bytes of the file, which the caller releases; *source is its path as messages show it. */
static enum status open_content(const char *path, struct arena *arena, const char **source, struct content *content,
                                struct error *error)
{
    const bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : SHOWN_PATH(path);
    *source = arena_copy(arena, name, error);
    if (*source == NULL)
        return STATUS_SYSTEM;
    int file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return error_system(error, errno, "%s", *source);
    enum status status = STATUS_OK;
    if (mapped_file_create(file, *source, &content->bytes, &content->mapped))
        content->length = content->mapped;
    else
        status = read_all(file, *source, content, error);
    if (!standard)
        close(file);
    return status;
}

enum status load_file(const char *path, unsigned kinds, struct arena *arena, struct input_file *input,
                      struct error *error)
{
    struct content content = {0};
    const char *source;
    enum status status = open_content(path, arena, &source, &content, error);
    if (status == STATUS_OK)
        status = read_content(source, &content, kinds, arena, input, error);
    if (status == STATUS_OK)
        status = input_file_name_stages(input, arena, error);
    release(&content);
    return status;
}

enum status load_bytes(const char *path, struct arena *arena, struct loaded *loaded, struct error *error)
{
    struct content content = {0};
    *loaded = (struct loaded){0};
    if (open_content(path, arena, &loaded->source, &content, error) != STATUS_OK) {
        release(&content);
        return error->status;
    }
    loaded->bytes = (const unsigned char *)content.bytes;
    loaded->length = content.length;
    return arena_keep(arena, content.bytes, content.mapped, error);
}
