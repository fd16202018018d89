/* result -> the format asked for, to where it was asked to go. */
#ifndef ATTN_WRITE_FORMAT_WRITE_H
#define ATTN_WRITE_FORMAT_WRITE_H

#include "cli/options.h"
#include "compute/result.h"
#include "diff/diff.h"

/* Before the work: STATUS_USAGE where a binary format would go to a terminal. */
enum status write_check(const struct options *options, struct error *error);

/* Whether only the rows at both ends of long tables will be shown. */
bool write_elides(const struct options *options, const struct problem *problem);

/* Opens what --out names, before the work that would be lost if it could not be. STATUS_SYSTEM. Either write_result or
 * write_abandon follows. */
enum status write_open(const struct options *options, struct arena *arena, struct error *error);

/* There is no result, and the error says why: nothing is left at --out. Returns the error's status. */
enum status write_abandon(void);

/* STATUS_SYSTEM where it cannot be written whole; then nothing is left at --out. STATUS_USAGE as write_check, for a
 * terminal that --out names. */
enum status write_result(const struct options *options, struct result *result, struct arena *arena,
                         struct error *error);

/* The report of a comparison. Quietly STATUS_DIFFERENT where the files do not agree; STATUS_SYSTEM as write_result. */
enum status write_diff(const struct options *options, const struct diff *diff, struct arena *arena,
                       struct error *error);

/* The help, the completion of a shell or the version that was asked for. */
enum status write_help(const struct options *options, struct arena *arena, struct error *error);

/* The help on standard error, as the answer to a command line that asks for nothing: quietly STATUS_USAGE. */
enum status write_usage(const struct options *options, struct error *error);

#endif
