/* SPDX-License-Identifier: MIT */
/* result -> one HTML page that needs no network: tokens, settings, inputs and parameters, and a script that computes
 * from them what a reader points at, by the equations of src/stage/.
 *
 * Text from outside reaches the page through base/json_writer.h, and there is no '<' in it: it can close no element,
 * and what is hidden is seen. */
#include "write/html/page_data.h"

#include <string.h>

/* Writes the page up to the mark; returns the rest. */
static const char *write_page_until(const char *page, const char *mark, struct output *output)
{
    const char *at = strstr(page, mark);
    output_write(output, page, (size_t)(at - page));
    return at + strlen(mark);
}

enum status write_html(const struct writing *writing)
{
    struct output *output = writing->output;
    const char *page = write_page_until((const char *)page_bytes, "@theme@", output);
    static const char *const WORDS[] = {THEMES(CHOICE_WORD)};
    output_print(output, "%s", WORDS[writing->theme]);
    page = write_page_until(page, "@data@\n", output);
    page_write_job(writing->result, writing->precision, output);
    if (page_write_numbers(writing) != STATUS_OK)
        return writing->error->status;
    output_write(output, page, strlen(page));
    return STATUS_OK;
}
