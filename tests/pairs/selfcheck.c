/* SPDX-License-Identifier: MIT */
#include "selfcheck.h"

#include "batch.h"
#include "check.h"
#include "program.h"
#include "readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHANGES = 8 };

static const char INPUT[] = "data/inputs.json";

/* Of each format what stands in `attn causal data/inputs.json --stages ...` and what is put in its place, once. */
static const struct {
    const char *format, *stages;
    struct {
        const char *from, *to;
    } changes[MOST_CHANGES];
} BROKEN[] = {
    {"text",
     "weights",
     {{"1.000", "1.001"},
      {"1.000", "   -0"},
      {"0.483", "\x01.483"},
      {"0.483", "\xff.483"},
      {"causal attention: 6 tokens, ", "causal attention: 6 tokens, and so on for many a word, and more, "},
      {"\n  step", "\n\n"},
      {"  0.483", " 0.483"}}},
    {"json",
     "scores,weights",
     {{", ", " "},
      {"[[", "[[1, "},
      {"\"weights\"", "\"scores\""},
      {"0.3", "\"0.3\""},
      {"0.3", "00.3"},
      {"\"attn\"", "\"name\""}}},
    {"npy",
     "weights",
     {{"(6, 6)", "(6, 7)"},
      {"(6, 6), }  ", "(6), }     "},
      {"<f4", "<f8"},
      {"False", "True "},
      {" \n", "  "},
      {"\x93NUMPY\x01", "\x93NUMPY\x02"},
      {" \n", " \n "}}},
    {"safetensors",
     "scores,weights",
     {{"[0,144]", "[0,140]"},
      {"[144,288]", "[148,292]"},
      {"\"F32\"", "\"F64\""},
      {"[6,6]", "[6,7]"},
      {"\"weights\"", "\"scores\" "},
      {"\"causal\"", "{\"of\":12}"},
      {"}} ", "}  "}}},
    {"csv",
     "scores,weights",
     {{",journey", ""},
      {",starts", ",journey"},
      {",one", ",=ne"},
      {",0.31108,", ",0.31108x,"},
      {",Your,0", ",\"Your,0"},
      {"\nweights,2", "\nscores,2"}}},
    {"markdown",
     "scores,weights",
     {{"| 0.311", "  0.311"},
      {" 0.348", "0.348"},
      {"|:--", "|xx-"},
      {"0.311", "0.312"},
      {"Your ", "<br> "},
      {"**weights**", "weights"},
      {"0.311", "   -0"}}},
    {"latex",
     "scores,weights",
     {{"& 0.311", "  0.311"},
      {"\\midrule\n", ""},
      {"\\end{center}", ""},
      {"Your", "Yo_r"},
      {"Your", "Yo{r"},
      {"0.311", "0.312"},
      {" \\\\\n\\midrule", "\n\\midrule"},
      {"0.311", " $-0$"}}},
    {"svg",
     "scores,weights",
     {{"</svg>\n", ""},
      {" x=\"", " x=\"nan"},
      {">0.311<", ">-0.00<"},
      {">0.311<", ">\xe2\x88\x92"
                  "0<"},
      {" height=\"", " height=\"\" h=\""}}},
    {"html", "scores,weights", {{"</script>", ""}, {"</html>\n", ""}, {"Attention", "Attent\x01on"}}},
};

static void run(const char *format, const char *stages, const char *precision, struct program_run *run)
{
    const char *words[] = {"causal", INPUT, "--stages", stages, "--format", format, "--precision", precision};
    const bool decimals = strcmp(format, "csv") != 0 && strcmp(format, "json") != 0;
    program_run(words, decimals ? 8 : 6, INPUT, false, run);
}

/* Whether a reader of that format, and for tables that are shown the exact numbers, refuse the bytes. */
static bool is_refused(const char *format, const char *bytes, size_t length, const struct reader_tables *exact)
{
    struct reader_tables tables = {0};
    char complaint[COMPLAINT_BYTES];
    const bool right = reader_find(format)(bytes, length, &tables, complaint) &&
                       reader_shows(format, bytes, exact, false, false, complaint);
    reader_release(&tables);
    return !right;
}

/* The bytes with the first `from` changed; NULL where there is none. The caller frees it. */
static char *change(const struct program_run *result, const char *from, const char *to, size_t *length)
{
    const char *at = memmem(result->output, result->length, from, strlen(from));
    char *changed = malloc(result->length + strlen(to) + 1);
    if (changed == NULL)
        abort();
    const size_t before = at != NULL ? (size_t)(at - result->output) : 0;
    *length = result->length - strlen(from) + strlen(to);
    memcpy(changed, result->output, before);
    memcpy(changed + before, to, strlen(to));
    memcpy(changed + before + strlen(to), result->output + before + strlen(from),
           result->length - before - strlen(from) + 1);
    if (at != NULL)
        return changed;
    free(changed);
    return NULL;
}

static void check_format(size_t format)
{
    const char *name = BROKEN[format].format;
    struct program_run result, numbers;
    struct reader_tables exact = {0};
    char complaint[COMPLAINT_BYTES];
    run(name, BROKEN[format].stages, "3", &result);
    run("safetensors", BROKEN[format].stages, "3", &numbers);
    check_begin("%s is read, and refused with any one thing changed", name);
    CHECK(reader_safetensors(numbers.output, numbers.length, &exact, complaint), "%s", complaint);
    CHECK(!is_refused(name, result.output, result.length, &exact), "expected it to be read");
    for (size_t i = 0; i < MOST_CHANGES && BROKEN[format].changes[i].from != NULL; i++) {
        size_t length;
        char *changed = change(&result, BROKEN[format].changes[i].from, BROKEN[format].changes[i].to, &length);
        CHECK(changed != NULL && is_refused(name, changed, length, &exact),
              "expected it to be refused with '%s' for '%s'", BROKEN[format].changes[i].to,
              BROKEN[format].changes[i].from);
        free(changed);
    }
    reader_release(&exact);
    program_release(&result);
    program_release(&numbers);
}

/* A page with the numbers of another job. */
static void add_wrong_page(void)
{
    struct program_run page, json;
    run("html", "scores,weights", "4", &page);
    run("json", "scores,weights,context", "4", &json);
    char *at = strstr(json.output, "[[0.31108,");
    if (at != NULL)
        at[5] ^= 1;
    batch_add(BATCH_PAGE, "a page of other numbers", page.output, page.length, json.output, json.length, true);
    program_release(&page);
    program_release(&json);
}

void selfcheck_readers(void)
{
    for (size_t i = 0; i < sizeof BROKEN / sizeof BROKEN[0]; i++)
        check_format(i);
    add_wrong_page();
}
