/* SPDX-License-Identifier: MIT */
#include "read/zip.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    SIGNATURE_BYTES = 4,
    LOCAL_BYTES = 30, /* the header before an entry's name */
    ENTRY_BYTES = 46, /* of the directory, before an entry's name */
    END_BYTES = 22,
    LONGEST_COMMENT = 0xffff,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20, /* between the two end records */
    FLAG_ENCRYPTED = 1,
    FLAG_DESCRIPTOR = 8,
    FLAG_STRONG = 64,
    WIDE_SIZES = 1, /* the extra field that has sizes of 64 bits */
};

static const unsigned char LOCAL[] = "PK\3\4", ENTRY[] = "PK\1\2", END[] = "PK\5\6", END64[] = "PK\6\6",
                           LOCATOR[] = "PK\6\7";

/* Values that mean: a 64-bit field has the number. */
static const uint64_t ELSEWHERE16 = 0xffff, ELSEWHERE32 = 0xffffffff;

struct reading {
    const char *source;
    const unsigned char *bytes;
    size_t length;
    uint64_t count, begin, size; /* of the directory */
    size_t end;                  /* where it must end */
    struct arena *arena;
    struct zip *zip;
    struct error *error;
};

static bool signed_as(const unsigned char *at, const unsigned char *signature)
{
    return memcmp(at, signature, SIGNATURE_BYTES) == 0;
}

bool zip_begins(const unsigned char *bytes, size_t length)
{
    return length >= SIGNATURE_BYTES && (signed_as(bytes, LOCAL) || signed_as(bytes, END));
}

/* --- the end ----------------------------------------------------------------------------------------------------- */

/* The offset of the last record, whose comment ends the file; SIZE_MAX where there is none. */
static size_t find_end(const struct reading *reading)
{
    const size_t length = reading->length;
    for (size_t after = END_BYTES; after <= length && after <= END_BYTES + LONGEST_COMMENT; after++) {
        const unsigned char *at = reading->bytes + length - after;
        if (signed_as(at, END) && memory_number(at + 20, 2) == after - END_BYTES)
            return length - after;
    }
    return SIZE_MAX;
}

static enum status in_parts(const struct reading *reading)
{
    return error_usage(reading->error, "%s: one part of a split zip archive; give one file", reading->source);
}

/* Reads sizes of 64 bits from a record before the last one, which the locator between them points to. */
static enum status read_wide_end(struct reading *reading, size_t locator)
{
    const unsigned char *at = reading->bytes + locator;
    const uint64_t place = memory_number(at + 8, 8);
    if (memory_number(at + 4, 4) != 0 || memory_number(at + 16, 4) > 1)
        return in_parts(reading);
    const bool fits = locator >= END64_BYTES && place <= locator - END64_BYTES;
    at = reading->bytes + (fits ? place : 0);
    if (!fits || !signed_as(at, END64) || memory_number(at + 4, 8) != locator - place - 12)
        return error_usage(reading->error,
                           "%s: the zip archive's directory does not end at byte %llu, as its header says",
                           reading->source, (unsigned long long)place);
    if (memory_number(at + 16, 4) != 0 || memory_number(at + 20, 4) != 0 ||
        memory_number(at + 24, 8) != memory_number(at + 32, 8))
        return in_parts(reading);
    const uint64_t count = memory_number(at + 32, 8), size = memory_number(at + 40, 8),
                   begin = memory_number(at + 48, 8);
    if ((reading->count != ELSEWHERE16 && reading->count != count) ||
        (reading->size != ELSEWHERE32 && reading->size != size) ||
        (reading->begin != ELSEWHERE32 && reading->begin != begin))
        return error_usage(reading->error, "%s: the zip archive has two ends that disagree", reading->source);
    reading->count = count;
    reading->size = size;
    reading->begin = begin;
    reading->end = (size_t)place;
    return STATUS_OK;
}

static enum status read_end(struct reading *reading)
{
    const size_t place = find_end(reading);
    if (place == SIZE_MAX)
        return error_usage(reading->error,
                           "%s: a zip archive without its end; the file is cut short, or more bytes follow it",
                           reading->source);
    const unsigned char *at = reading->bytes + place;
    reading->count = memory_number(at + 10, 2);
    reading->size = memory_number(at + 12, 4);
    reading->begin = memory_number(at + 16, 4);
    reading->end = place;
    if (place >= LOCATOR_BYTES && signed_as(at - LOCATOR_BYTES, LOCATOR)) {
        if (read_wide_end(reading, place - LOCATOR_BYTES) != STATUS_OK)
            return reading->error->status;
    } else if (memory_number(at + 4, 4) != 0 || memory_number(at + 8, 2) != reading->count) {
        return in_parts(reading);
    }
    if (reading->begin > reading->end || reading->size != reading->end - reading->begin)
        return error_usage(
            reading->error, "%s: the zip archive's directory has %llu bytes from %llu on, expected it to end at %zu",
            reading->source, (unsigned long long)reading->size, (unsigned long long)reading->begin, reading->end);
    if (reading->count > reading->size / ENTRY_BYTES)
        return error_usage(reading->error, "%s: the zip archive has %llu entries, but its directory has %llu bytes",
                           reading->source, (unsigned long long)reading->count, (unsigned long long)reading->size);
    return STATUS_OK;
}

/* --- the entries ------------------------------------------------------------------------------------------------- */

/* An entry in the directory. */
struct listed {
    const unsigned char *at;
    const char *name;
    uint64_t packed, size, begin;
};

static enum status wrong_entry(const struct reading *reading, const char *name, const char *what)
{
    return error_usage(reading->error, "%s: '%.80s' in the zip archive %s", reading->source, name, what);
}

/* attn writes no files, so no name does harm; but an archive with such a name is suspect. */
static enum status check_name(const struct reading *reading, const char *name, size_t length)
{
    if (length == 0 || strlen(name) != length)
        return wrong_entry(reading, name, "has an empty name, or a NUL byte in it");
    if (name[0] == '/' || strchr(name, '\\') != NULL || (length > 1 && name[1] == ':'))
        return wrong_entry(reading, name, "is no relative path; expected names such as data/0");
    size_t end = 0;
    for (const char *part = name; part <= name + length; part += end + 1) {
        end = strcspn(part, "/");
        if (end == 2 && strncmp(part, "..", 2) == 0)
            return wrong_entry(reading, name, "climbs out of it; expected names such as data/0");
    }
    return STATUS_OK;
}

static enum status check_stored(const struct reading *reading, const struct listed *listed)
{
    const uint64_t flags = memory_number(listed->at + 8, 2);
    if (flags & (FLAG_ENCRYPTED | FLAG_STRONG))
        return wrong_entry(reading, listed->name, "is encrypted; expected it as it is");
    if (memory_number(listed->at + 10, 2) != 0)
        return wrong_entry(reading, listed->name,
                           "is compressed; expected it stored: by numpy.savez, not numpy.savez_compressed, or by "
                           "torch.save(torch.load('x.pt'), 'y.pt')");
    if (memory_number(listed->at + 34, 2) != 0)
        return in_parts(reading);
    if (listed->packed != listed->size)
        return wrong_entry(reading, listed->name, "is stored, but in two sizes");
    return STATUS_OK;
}

/* Reads sizes of 64 bits from their extra field, which has those missing in the entry, in this order. */
static enum status read_wide_sizes(const struct reading *reading, struct listed *listed, const unsigned char *extra,
                                   size_t length)
{
    uint64_t *const sizes[] = {&listed->size, &listed->packed, &listed->begin};
    size_t room = 0;
    while (length >= 4) {
        const size_t size = (size_t)memory_number(extra + 2, 2);
        if (size > length - 4)
            break;
        if (memory_number(extra, 2) == WIDE_SIZES) {
            extra += 4;
            room = size;
            break;
        }
        extra += 4 + size;
        length -= 4 + size;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (*sizes[i] != ELSEWHERE32)
            continue;
        if (room < 8)
            return wrong_entry(reading, listed->name, "lacks its size, or where it begins");
        *sizes[i] = memory_number(extra, 8);
        extra += 8;
        room -= 8;
    }
    return STATUS_OK;
}

/* Reads the header before the data, which must agree with the directory. */
static enum status find_data(const struct reading *reading, const struct listed *listed, struct zip_entry *entry)
{
    unsigned char local[LOCAL_BYTES];
    const uint64_t end = reading->begin;
    const size_t name_length = strlen(listed->name);
    if (listed->begin > end || end - listed->begin < LOCAL_BYTES)
        return wrong_entry(reading, listed->name, "lies outside of the file, or in its directory");
    memcpy(local, reading->bytes + listed->begin, LOCAL_BYTES);
    const uint64_t named = listed->begin + LOCAL_BYTES,
                   data = named + memory_number(local + 26, 2) + memory_number(local + 28, 2);
    if (data > end || listed->size > end - data)
        return wrong_entry(reading, listed->name, "lies outside of the file, or in its directory");
    const uint64_t flags = memory_number(local + 6, 2), size = memory_number(local + 22, 4);
    const bool told = flags & FLAG_DESCRIPTOR || size == ELSEWHERE32 || size == listed->size;
    if (!signed_as(local, LOCAL) || memory_number(local + 26, 2) != name_length ||
        memcmp(reading->bytes + named, listed->name, name_length) != 0 || memory_number(local + 8, 2) != 0 ||
        (flags & FLAG_ENCRYPTED) != 0 || !told)
        return wrong_entry(reading, listed->name, "is another thing where it lies than in the directory");
    *entry = (struct zip_entry){
        .name = listed->name,
        .bytes = reading->bytes + data,
        .length = (size_t)listed->size,
        .begin = (size_t)listed->begin,
        .checksum = (uint32_t)memory_number(listed->at + 16, 4),
    };
    return STATUS_OK;
}

/* Reads an entry of the directory, of which `left` bytes remain; *taken: the bytes of the entry. */
static enum status read_entry(struct reading *reading, const unsigned char *at, size_t left, size_t *taken)
{
    struct zip *zip = reading->zip;
    if (left < ENTRY_BYTES || !signed_as(at, ENTRY))
        return error_usage(reading->error, "%s: the zip archive's directory is damaged", reading->source);
    const size_t name = (size_t)memory_number(at + 28, 2), extra = (size_t)memory_number(at + 30, 2);
    *taken = ENTRY_BYTES + name + extra + (size_t)memory_number(at + 32, 2);
    if (*taken > left)
        return error_usage(reading->error, "%s: the zip archive's directory is damaged", reading->source);
    struct listed listed = {
        .at = at,
        .name = arena_text(reading->arena, (const char *)at + ENTRY_BYTES, name, reading->error),
        .packed = memory_number(at + 20, 4),
        .size = memory_number(at + 24, 4),
        .begin = memory_number(at + 42, 4),
    };
    struct zip_entry *entry = &zip->entries[zip->count];
    if (listed.name == NULL || check_name(reading, listed.name, name) ||
        read_wide_sizes(reading, &listed, at + ENTRY_BYTES + name, extra) || check_stored(reading, &listed) ||
        find_data(reading, &listed, entry))
        return reading->error->status;
    if (zip->first == NULL)
        zip->first = entry->name;
    zip->count += entry->name[name - 1] != '/';
    return STATUS_OK;
}

static enum status read_entries(struct reading *reading, const unsigned char *directory)
{
    size_t at = 0, size = (size_t)reading->size;
    for (uint64_t i = 0; i < reading->count; i++) {
        size_t taken = 0;
        if (read_entry(reading, directory + at, size - at, &taken) != STATUS_OK)
            return reading->error->status;
        at += taken;
    }
    if (at == size)
        return STATUS_OK;
    return error_usage(reading->error, "%s: the zip archive's directory has %zu bytes too many", reading->source,
                       size - at);
}

static int by_place(const void *a, const void *b)
{
    const struct zip_entry *left = a, *right = b;
    return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static enum status check_places(const struct reading *reading)
{
    const struct zip *zip = reading->zip;
    qsort(zip->entries, zip->count, sizeof zip->entries[0], by_place);
    for (size_t i = 1; i < zip->count; i++) {
        const struct zip_entry *before = &zip->entries[i - 1], *entry = &zip->entries[i];
        if (reading->bytes + entry->begin < before->bytes + before->length)
            return error_usage(reading->error, "%s: '%.80s' and '%.80s' overlap in the zip archive", reading->source,
                               before->name, entry->name);
    }
    return STATUS_OK;
}

static enum status check_names(const struct reading *reading)
{
    const struct zip *zip = reading->zip;
    text_sort(zip->entries, zip->count, sizeof zip->entries[0]);
    for (size_t i = 1; i < zip->count; i++)
        if (strcmp(zip->entries[i - 1].name, zip->entries[i].name) == 0)
            return wrong_entry(reading, zip->entries[i].name, "is there twice; expected it once");
    return STATUS_OK;
}

/* Copies the directory before it checks it, since another program may change the file meanwhile. */
enum status zip_open(const char *source, const unsigned char *bytes, size_t length, struct arena *arena,
                     struct zip *zip, struct error *error)
{
    struct reading reading = {
        .source = source, .bytes = bytes, .length = length, .arena = arena, .zip = zip, .error = error};
    *zip = (struct zip){.source = source, .length = length};
    if (read_end(&reading) != STATUS_OK)
        return error->status;
    const char *directory = arena_text(arena, (const char *)bytes + reading.begin, (size_t)reading.size, error);
    zip->entries = arena_allocate(arena, (size_t)reading.count, sizeof zip->entries[0], error);
    if (directory == NULL || zip->entries == NULL ||
        read_entries(&reading, (const unsigned char *)directory) != STATUS_OK || zip->count == 0)
        return error->status;
    return check_places(&reading) || check_names(&reading) ? error->status : STATUS_OK;
}

/* CRC-32, the polynomial of IEEE 802.3, by half bytes. */
static uint32_t checksum(const unsigned char *bytes, size_t length)
{
    static const uint32_t HALF[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t rest = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        rest ^= bytes[i];
        rest = rest >> 4 ^ HALF[rest & 15];
        rest = rest >> 4 ^ HALF[rest & 15];
    }
    return ~rest;
}

enum status zip_check(const struct zip *zip, const struct zip_entry *entry, const unsigned char *bytes,
                      struct error *error)
{
    if (entry->checksum == 0 || checksum(bytes, entry->length) == entry->checksum)
        return STATUS_OK;
    return error_usage(error, "%s: '%.80s' in the zip archive is damaged: its checksum is wrong", zip->source,
                       entry->name);
}
