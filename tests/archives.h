/* SPDX-License-Identifier: MIT */
/* Makes zip archives and pickles for the tests, with right checksums whatever else is wrong. */
#ifndef ATTN_ARCHIVES_H
#define ATTN_ARCHIVES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ARCHIVE_BYTES = 1 << 16, ARCHIVE_ENTRIES = 16 };

/* An archive being made; starts as {0}. Entries that do not fit are left out. */
struct archive {
    unsigned char bytes[ARCHIVE_BYTES], directory[ARCHIVE_BYTES];
    size_t length, directory_length, count;
};

static inline size_t archive_number(unsigned char *at, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (unsigned char)(number >> 8 * i & 255);
    return size;
}

static inline uint32_t archive_checksum(const void *bytes, size_t length)
{
    uint32_t rest = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        rest ^= ((const unsigned char *)bytes)[i];
        for (int bit = 0; bit < 8; bit++)
            rest = rest >> 1 ^ (rest & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~rest;
}

/* Adds a stored entry. */
static inline void archive_add(struct archive *archive, const char *name, const void *data, size_t length)
{
    const size_t named = strlen(name), begin = archive->length;
    if (begin + 30 + named + length > ARCHIVE_BYTES || archive->directory_length + 46 + named > ARCHIVE_BYTES)
        return;
    unsigned char *local = archive->bytes + begin, *listed = archive->directory + archive->directory_length;
    memset(local, 0, 30);
    memset(listed, 0, 46);
    memcpy(local, "PK\3\4", 4);
    memcpy(listed, "PK\1\2", 4);
    archive_number(local + 14, archive_checksum(data, length), 4);
    archive_number(local + 18, length, 4);
    archive_number(local + 22, length, 4);
    archive_number(local + 26, named, 2);
    memcpy(listed + 16, local + 14, 14);
    archive_number(listed + 42, begin, 4);
    memcpy(local + 30, name, named);
    memcpy(listed + 46, name, named);
    if (length > 0)
        memcpy(local + 30 + named, data, length);
    archive->length += 30 + named + length;
    archive->directory_length += 46 + named;
    archive->count++;
}

/* Adds the directory and the end; call it last. */
static inline void archive_end(struct archive *archive)
{
    if (archive->length + archive->directory_length + 22 > ARCHIVE_BYTES)
        archive->directory_length = 0;
    unsigned char *end = archive->bytes + archive->length + archive->directory_length;
    memcpy(archive->bytes + archive->length, archive->directory, archive->directory_length);
    memset(end, 0, 22);
    memcpy(end, "PK\5\6", 4);
    archive_number(end + 8, archive->count, 2);
    archive_number(end + 10, archive->count, 2);
    archive_number(end + 12, archive->directory_length, 4);
    archive_number(end + 16, archive->length, 4);
    archive->length += archive->directory_length + 22;
}

#endif
