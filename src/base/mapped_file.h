/* SPDX-License-Identifier: MIT */
/* Regular files mapped for reading. Where one of them is cut short while the program reads it, there is nothing to go
 * on with: the program ends with STATUS_SYSTEM and a message that names the file. */
#ifndef ATTN_BASE_MAPPED_FILE_H
#define ATTN_BASE_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Maps all of the file, which must stand at its beginning; false where it is no regular file, is empty, or the system
 * does not map it. `source` names it in the message. munmap releases the `length` bytes. */
bool mapped_file_create(int file, const char *source, char **bytes, size_t *length);

#endif
