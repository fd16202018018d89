/* SPDX-License-Identifier: MIT */
/* Files that attn recognizes by their first bytes, and rejects. */
#pragma once

#include "base/error.h"

#include <stddef.h>

/* STATUS_USAGE "source: what it is; what to do" where the file is one of them, else STATUS_OK. */
enum status other_file_check(const char *source, const unsigned char *bytes, size_t length, struct error *error);
