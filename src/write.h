/* result -> the format asked for, to where it was asked to go. */
#ifndef ATTN_WRITE_H
#define ATTN_WRITE_H

#include "options.h"
#include "result.h"

/* STATUS_SYSTEM where it cannot be written whole; then nothing is left at --out. */
enum status write_result(const struct options *options, struct result *result, struct arena *arena,
                         struct error *error);

/* The help or the version that was asked for. */
enum status write_help(const struct options *options, struct arena *arena, struct error *error);

/* The help on standard error, as the answer to a command line that asks for nothing: quietly STATUS_USAGE. */
enum status write_usage(const struct options *options, struct error *error);

#endif
