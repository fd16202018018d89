/* result -> .safetensors: every table under its name, in the order asked for.
 *
 * safetensors.h says what the format is. __metadata__ has "attn" (the version), "mechanism", "settings" and "tokens" (the
 * JSON texts of json.h), so that the file is an input that gives the same bytes again. The header is padded with
 * blanks so that the data begin at a multiple of 8. */
#ifndef ATTN_WRITE_SAFETENSORS_H
#define ATTN_WRITE_SAFETENSORS_H

#include "base/output.h"
#include "compute/result.h"

/* STATUS_SYSTEM where memory is short, STATUS_USAGE where the tokens make the header longer than readers take it; a
 * failure to write is output_close's to tell. */
enum status write_safetensors(struct result *result, struct output *output, struct arena *arena, struct error *error);

#endif
