/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

enum { GROUP = 3, CHUNK = 3 * 256 };

static void encode(const unsigned char *bytes, char *letters)
{
    static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    letters[0] = LETTERS[bytes[0] >> 2];
    letters[1] = LETTERS[(bytes[0] & 3) << 4 | bytes[1] >> 4];
    letters[2] = LETTERS[(bytes[1] & 15) << 2 | bytes[2] >> 6];
    letters[3] = LETTERS[bytes[2] & 63];
}

/* Bytes that do not fill a group of three are left out. */
static void write_groups(struct output *output, const unsigned char *bytes, size_t length)
{
    char letters[CHUNK / GROUP * 4];
    for (size_t first = 0; first < length; first += CHUNK) {
        const size_t count = memory_smaller(length - first, CHUNK);
        for (size_t i = 0; i < count; i += GROUP)
            encode(bytes + first + i, letters + i / GROUP * 4);
        output_write(output, letters, count / GROUP * 4);
    }
}

/* Adds one byte; the third one completes a group. */
static void take(struct base64 *base64, unsigned char byte)
{
    base64->waiting[base64->count] = byte;
    base64->count = (base64->count + 1) % GROUP;
    if (base64->count == 0)
        write_groups(base64->output, base64->waiting, GROUP);
}

void base64_add(struct base64 *base64, const unsigned char *bytes, size_t length)
{
    size_t taken = 0;
    while (taken < length && base64->count > 0)
        take(base64, bytes[taken++]);
    const size_t whole = (length - taken) / GROUP * GROUP;
    write_groups(base64->output, bytes + taken, whole);
    for (taken += whole; taken < length; taken++)
        take(base64, bytes[taken]);
}

void base64_end(struct base64 *base64)
{
    char letters[4];
    if (base64->count == 0)
        return;
    for (size_t i = base64->count; i < GROUP; i++)
        base64->waiting[i] = 0;
    encode(base64->waiting, letters);
    for (size_t i = base64->count + 1; i < sizeof letters; i++)
        letters[i] = '=';
    output_write(base64->output, letters, sizeof letters);
    base64->count = 0;
}
