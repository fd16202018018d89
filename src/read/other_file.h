/* SPDX-License-Identifier: MIT */
/* Files that attn does not read, but knows by their first bytes. */
#ifndef ATTN_READ_OTHER_FILE_H
#define ATTN_READ_OTHER_FILE_H

#include "base/error.h"

#include <stddef.h>

/* STATUS_USAGE "source: what it is; what to do" where the file begins like one of them, else STATUS_OK. */
enum status other_file_check(const char *source, const unsigned char *bytes, size_t length, struct error *error);

#endif
