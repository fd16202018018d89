/* SPDX-License-Identifier: MIT */
#ifndef ATTN_BASE_VERSION_H
#define ATTN_BASE_VERSION_H

#define ATTN_VERSION "0.2.0"

/* The format of the JSON that attn writes: attn-files(5) says which change raises it. */
#define ATTN_FORMAT 1

#endif
