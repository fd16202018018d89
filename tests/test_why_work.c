/* SPDX-License-Identifier: MIT */
/* How much attn why computes before it answers, counted and not timed; and that text which begins before the search ends
 * is the text of a search that ends first. */
#include "build/job_files.h"
#include "check.h"
#include "support.h"
#include "why/why.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Contexts of the chapter's class: without the scale, with one wrong number, and with noise. */
static const char *const UNSCALED = "[[-0.4519, 0.2216], [-0.5893, 0.0029], [-0.6316, -0.0656], [-0.5685, -0.0853], "
                                    "[-0.5540, -0.0984], [-0.5308, -0.1089]]",
                         *const SLIP = "[[-0.4519, 0.2216], [-0.5874, 0.0058], [-0.6300, -0.0623], [-0.5675, -0.0843], "
                                       "[-0.5526, -0.0981], [-0.5299, -0.1081]]",
                         *const NOISE = "[[-0.4481, 0.0773], [-0.5059, -0.1170], [-0.6533, -0.1103], [-0.4712, "
                                        "-0.0907], [-0.6106, -0.1414], [-0.5588, -0.0814]]";

struct asked {
    struct made made;
    struct job_files files;
    struct why why;
};

/* Searches for the table; `early`: begins the text in it. */
static bool ask(struct asked *asked, const char *table, bool wants_early, struct output **early)
{
    char path[] = "/tmp/attn-why-work-XXXXXX", line[SUPPORT_LINE_BYTES];
    char *json = support_read("data/inputs.json");
    const int file = mkstemp(path);
    if (!CHECK(file >= 0 && write(file, table, strlen(table)) == (ssize_t)strlen(table), "cannot write %s", path))
        return false;
    close(file);
    snprintf(line, sizeof line, "why causal --budget 0.1 --mine %s", path);
    bool searched = support_make(&asked->made, line, json) == STATUS_OK;
    *early = searched ? output_of_text(&asked->made.arena, &asked->made.error) : NULL;
    asked->files = (struct job_files){.inputs = &asked->made.inputs};
    searched = *early != NULL && why_search(&asked->why, &asked->made.options, &asked->files, &asked->made.problem,
                                            NULL, wants_early ? *early : NULL, &asked->made.progress,
                                            &asked->made.arena, &asked->made.error) == STATUS_OK;
    unlink(path);
    free(json);
    return CHECK(searched, "expected a search, got: %s", asked->made.error.message);
}

/* The text, without the name of the table's file. */
static const char *text_of(struct asked *asked, struct output *output)
{
    size_t length;
    why_write_text(&asked->why, output);
    char *text = output_close_text(output, &length);
    return text != NULL ? strstr(text, " is a printed table") : NULL;
}

static void check_early(void)
{
    static struct asked first, late;
    struct output *begun, *ended;
    check_begin("the first answer is written when it is certain, and the text is the same");
    if (ask(&first, UNSCALED, true, &begun) && ask(&late, UNSCALED, false, &ended)) {
        CHECK(first.why.begun && !late.why.begun, "expected text from the first search alone");
        const char *text = text_of(&first, begun);
        CHECK(text != NULL && strstr(text, "(scale-missing)") != NULL, "expected scale-missing, got %s", text);
        CHECK_TEXT(text_of(&late, ended), text);
    }
    arena_free(&first.made.arena);
    arena_free(&late.made.arena);
}

static void check_slip(const struct why *why)
{
    const struct why_budget *budget = &why->budget;
    CHECK(why_is_nearly_right(why), "expected one wrong number");
    CHECK(budget->settings < 100 && budget->both == 0, "expected only near settings, got %zu and %zu", budget->settings,
          budget->both);
    CHECK(budget->left == 0, "expected nothing to be left out, got %g", budget->left);
}

/* Of six rows. Some guesses mix rows, or change none of the last. */
static void check_rows(const struct why *why)
{
    const double guesses = (double)(why->budget.singles + why->budget.pairs);
    CHECK(why->count == 0 && guesses > 1000, "expected many guesses, got %g", guesses);
    CHECK((double)why->budget.rows < 2 * guesses, "expected less than two rows for each of %g guesses, got %zu",
          guesses, why->budget.rows);
}

static void check_search(const char *title, const char *table, void check(const struct why *why))
{
    static struct asked asked;
    struct output *output;
    check_begin("%s", title);
    if (ask(&asked, table, false, &output))
        check(&asked.why);
    arena_free(&asked.made.arena);
}

int main(void)
{
    check_early();
    check_search("a slip in one number ends the search before other seeds", SLIP, check_slip);
    check_search("a guess that departs in the last row makes no other row", NOISE, check_rows);
    return check_end();
}
