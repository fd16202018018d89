/* SPDX-License-Identifier: MIT */
/* Regular files mapped for reading. If another program truncates one while attn reads it, attn ends with STATUS_SYSTEM
 * and a message that names the file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Maps all of the file, whose offset must be 0; false where it is no regular file, is empty, or the system does not map
 * it. `source` names it in the message. The caller releases the `length` bytes with munmap. */
bool mapped_file_create(int file, const char *source, char **bytes, size_t *length);
