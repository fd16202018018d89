/* SPDX-License-Identifier: MIT */
#pragma once

#define ATTN_VERSION "0.2.0"

/* The format of the JSON that attn writes: attn-files(5) says which change raises it. */
#define ATTN_FORMAT 1
