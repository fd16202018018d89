/* SPDX-License-Identifier: MIT */
#include "cases/cases.h"

#include "base/json_writer.h"
#include "base/wrap.h"

#include <string.h>

enum { INDENT = 4 };

static const char *const VERDICTS[CASE_VERDICTS] = {"passed", "failed", "missing"};

/* --- text --------------------------------------------------------------------------------------------------------- */

static const struct case_told *worst_of(const struct case_checked *checked)
{
    return &checked->told[checked->worst];
}

/* "off by 1.2e-07, allowed 3.1e-05 (41%)", or why there are no such numbers. */
static void write_numbers(const struct case_checked *checked, struct output *output)
{
    const struct case_told *told = worst_of(checked);
    if (checked->reason[0] != '\0')
        output_print(output, "%s", checked->reason);
    else if (!isfinite(told->largest))
        output_print(output, "%-10s  not finite; expected a number", told->result);
    else if (told->outside == 0 && told->rows_outside > 0)
        output_print(output, "%-10s  a row is off by %.1e rms, allowed %.1e", told->result, told->rms,
                     told->rms_allowed);
    else
        output_print(output, "%-10s  off by %.1e, allowed %.1e", told->result, told->largest, told->allowed);
    if (checked->verdict == CASE_PASSED)
        output_print(output, " (%.0f%%)", 100 * told->share);
}

static void write_words(const char *before, const char *words, struct output *output)
{
    struct wrap line = {.output = output, .columns = WRAP_COLUMNS, .indent = INDENT, .column = INDENT};
    output_print(output, "%*s", INDENT, "");
    wrap_words(&line, before);
    wrap_words(&line, words);
    output_print(output, "\n");
}

/* The worst number and the right one, with enough digits to tell them apart. */
static void write_worst(const struct case_told *told, struct output *output)
{
    char theirs[32], right[32];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(theirs, sizeof theirs, "%.*g", digits, isnan(told->theirs) ? (double)NAN : told->theirs);
        snprintf(right, sizeof right, "%.*g", digits, told->right);
        if (strcmp(theirs, right) != 0)
            break;
    }
    output_print(output, "%s: %s, expected %s\n", told->place, theirs, right);
}

/* A result that is wrong; `named` where the line before does not name it. */
static void write_wrong(const struct case_told *told, bool named, struct output *output)
{
    const char *name = named ? told->result : "", *colon = named ? ": " : "";
    if (told->outside > 0) {
        output_print(output, "    %s%s%zu of %zu numbers are off\n    ", name, colon, told->outside, told->of);
        write_worst(told, output);
    } else {
        output_print(output, "    %s%s%zu of %zu rows are off; the worst: %s\n", name, colon, told->rows_outside,
                     told->rows, told->place);
    }
}

/* The lines below a case that failed. */
static void write_failure(const struct case_checked *checked, struct output *output)
{
    write_words("for ", checked->row->purpose, output);
    if (checked->told_count > 0 && worst_of(checked)->is_wrong)
        write_wrong(worst_of(checked), checked->reason[0] != '\0', output);
    for (size_t i = 0; i < checked->told_count; i++)
        if (i != checked->worst && checked->told[i].is_wrong)
            write_wrong(&checked->told[i], true, output);
    if (checked->mistake[0] != '\0')
        write_words("", checked->mistake, output);
    else if (checked->sentence[0] != '\0')
        write_words("", checked->sentence, output);
    if (checked->command[0] != '\0')
        output_print(output, "    ask: %s\n", checked->command);
}

/* The name of a file may be any bytes. */
static void write_name(const char *before, const char *name, const char *what, struct output *output)
{
    char shown[TEXT_PATH_BYTES];
    text_shown(name, WRAP_COLUMNS, shown, sizeof shown);
    output_print(output, "%s%s %s\n", before, shown, what);
}

/* "not read of mine.npz: dq, dk; expected grad_query, grad_key, grad_value", for each file. */
static void write_unread(const struct case_checked *checked, struct output *output)
{
    for (size_t i = 0; i < checked->unread_count;) {
        const struct case_unread *first = &checked->unread[i];
        char words[CASE_NOTES * CASE_WORDS_BYTES];
        struct text text = text_begin(words, sizeof words);
        text_add(&text, "not read from %.80s: %.80s", first->file, first->name);
        while (++i < checked->unread_count && strcmp(checked->unread[i].file, first->file) == 0)
            text_add(&text, ", %.80s", checked->unread[i].name);
        if (i == checked->unread_count && checked->more_unread > 0)
            text_add(&text, " and %zu more", checked->more_unread);
        text_add(&text, "; expected %s", first->expected != NULL ? first->expected : checked->expected);
        write_words("", words, output);
    }
}

/* Names of cases, with `what` before the first. */
static void write_cases(const char *what, const char *const *names, size_t count, struct output *output)
{
    struct wrap line = {.output = output, .columns = WRAP_COLUMNS, .indent = INDENT};
    for (size_t i = 0; i < count; i++)
        wrap_add(&line, "%s%s", i == 0 ? what : "", names[i]);
    if (count > 0)
        output_print(output, "\n");
}

static void cases_text(const struct cases_report *report, const struct options *options, struct output *output)
{
    const bool color = options_want_color(options, output);
    char shown[TEXT_PATH_BYTES];
    text_path(report->folder, shown);
    output_print(output, "%zu cases in %s\n  ", report->count, shown);
    case_settings(&report->options, output);
    output_print(output, "\n\n");
    for (size_t i = 0; i < report->count; i++) {
        const struct case_checked *checked = &report->checked[i];
        const bool bold = color && checked->verdict != CASE_PASSED;
        output_print(output, "%s%-7s  %-19s  ", bold ? TEXT_BOLD : "", VERDICTS[checked->verdict], checked->row->name);
        write_numbers(checked, output);
        output_print(output, "%s\n", bold ? TEXT_PLAIN : "");
        if (checked->verdict == CASE_FAILED)
            write_failure(checked, output);
        for (size_t k = 0; k < checked->note_count; k++)
            write_name("    ", checked->notes[k], "is not a result of this case", output);
        if (checked->more_notes > 0)
            output_print(output, "    and %zu more\n", checked->more_notes);
        write_unread(checked, output);
    }
    for (size_t i = 0; i < report->note_count; i++)
        write_name("", report->notes[i], "is not a case", output);
    write_cases("not in the folder, not checked: ", report->absent, report->absent_count, output);
    write_cases("written long before the others, perhaps by an earlier run: ", report->earlier, report->earlier_count,
                output);
    output_print(output, "%s", report->verdict.count > 0 ? "\nVerdict\n" : "");
    for (size_t i = 0; i < report->verdict.count; i++)
        write_words("", report->verdict.lines[i], output);
    output_print(output, "\n%zu passed, %zu failed, %zu missing", report->of[CASE_PASSED], report->of[CASE_FAILED],
                 report->of[CASE_MISSING]);
    if (report->absent_count > 0)
        output_print(output, "; %zu not in the folder", report->absent_count);
    if (report->earlier_count > 0)
        output_print(output, "; %zu perhaps from an earlier run", report->earlier_count);
    output_print(output, "\n");
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void write_list(struct json *json, const char *key, const char *const *texts, size_t count)
{
    json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        json_shown(json, NULL, texts[i]);
    json_close(json);
}

static void write_member(struct json *json, const char *key, const char *text)
{
    if (text[0] == '\0')
        json_text(json, key, NULL);
    else
        json_shown(json, key, text);
}

/* A result's fields, in an open object. */
static void write_told(struct json *json, const struct case_told *told)
{
    json_text(json, "result", told->result);
    json_real(json, "off", told->largest);
    json_real(json, "allowed", told->allowed);
    json_real(json, "rms", told->rms);
    json_real(json, "rms_allowed", told->rms_allowed);
    json_real(json, "share", told->share);
    json_size(json, "outside", told->outside);
    json_size(json, "of", told->of);
    json_size(json, "rows_outside", told->rows_outside);
    json_size(json, "rows", told->rows);
    json_text(json, "place", told->place);
    json_real(json, "theirs", told->theirs);
    json_real(json, "expected", told->right);
}

static void write_json_case(struct json *json, const struct case_checked *checked)
{
    json_line(json, 2);
    json_open(json, NULL, '{');
    json_text(json, "name", checked->row->name);
    json_text(json, "verdict", VERDICTS[checked->verdict]);
    write_member(json, "purpose", checked->row->purpose);
    write_member(json, "reason", checked->reason);
    if (checked->told_count > 0)
        write_told(json, worst_of(checked));
    json_open(json, "results", '[');
    for (size_t i = 0; i < checked->told_count; i++) {
        json_open(json, NULL, '{');
        write_told(json, &checked->told[i]);
        json_close(json);
    }
    json_close(json);
    write_member(json, "mistake", checked->mistake);
    write_member(json, "sentence", checked->sentence);
    write_member(json, "command", checked->command);
    write_list(json, "others", checked->notes, checked->note_count);
    json_open(json, "not_read", '[');
    for (size_t i = 0; i < checked->unread_count; i++) {
        json_open(json, NULL, '{');
        json_shown(json, "file", checked->unread[i].file);
        write_member(json, "name", checked->unread[i].name);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

static void cases_json(const struct cases_report *report, const struct options *options, struct output *output)
{
    (void)options;
    struct json json = {.output = output};
    json_begin(&json);
    json_shown(&json, "folder", report->folder);
    json_key(&json, "options");
    output_print(output, "\"");
    case_settings(&report->options, output);
    output_print(output, "\"");
    json_line(&json, 0);
    for (int verdict = 0; verdict < CASE_VERDICTS; verdict++)
        json_size(&json, VERDICTS[verdict], report->of[verdict]);
    write_list(&json, "others", report->notes, report->note_count);
    write_list(&json, "absent", report->absent, report->absent_count);
    write_list(&json, "earlier", report->earlier, report->earlier_count);
    json_line(&json, 0);
    json_open(&json, "verdict", '{');
    write_member(&json, "mistake", report->verdict.mistake);
    json_open(&json, "lines", '[');
    for (size_t i = 0; i < report->verdict.count; i++)
        json_shown(&json, NULL, report->verdict.lines[i]);
    json_close(&json);
    json_close(&json);
    json_line(&json, 0);
    json_open(&json, "cases", '[');
    for (size_t i = 0; i < report->count; i++)
        write_json_case(&json, &report->checked[i]);
    json_end(&json);
}

/* --- for test runners --------------------------------------------------------------------------------------------- */

enum { TEST_BYTES = 2 * CASE_WORDS_BYTES };

/* Whether a case did not pass; then one line into words (TEST_BYTES): what is wrong, and the mistake. */
static bool say_case(const struct case_checked *checked, char *words)
{
    const struct case_told *told = worst_of(checked);
    struct text text = text_begin(words, TEST_BYTES);
    if (checked->reason[0] != '\0')
        text_add(&text, "%s", checked->reason);
    else if (checked->verdict != CASE_PASSED)
        text_add(&text, "%s: %zu of %zu numbers and %zu of %zu rows are off; %s: %.6g, expected %.6g", told->result,
                 told->outside, told->of, told->rows_outside, told->rows, told->place, told->theirs, told->right);
    if (checked->mistake[0] != '\0')
        text_add(&text, "; %s", checked->mistake);
    return checked->verdict != CASE_PASSED;
}

/* https://testanything.org/tap-version-13-specification.html */
static void cases_tap(const struct cases_report *report, const struct options *options, struct output *output)
{
    (void)options;
    char words[TEST_BYTES], shown[2 * TEST_BYTES];
    output_print(output, "TAP version 13\n1..%zu\n", report->count);
    for (size_t i = 0; i < report->count; i++) {
        const bool wrong = say_case(&report->checked[i], words);
        output_print(output, "%sok %zu - %s\n", wrong ? "not " : "", i + 1, report->checked[i].row->name);
        text_shown(words, sizeof shown - 1, shown, sizeof shown);
        if (wrong)
            output_print(output, "# %s\n", shown);
    }
    for (size_t i = 0; i < report->verdict.count; i++)
        output_print(output, "# verdict: %s\n", report->verdict.lines[i]);
}

/* The text of an attribute. */
static void write_xml(const char *text, struct output *output)
{
    char shown[4 * CASE_WORDS_BYTES];
    for (text_shown(text, sizeof shown - 1, shown, sizeof shown), text = shown; *text != '\0'; text++)
        if (strchr("&<>\"", *text) != NULL)
            output_print(output, "&#%d;", *text);
        else
            output_print(output, "%c", *text);
}

/* As Jenkins and GitLab read it; a missing result is an error. */
static void cases_junit(const struct cases_report *report, const struct options *options, struct output *output)
{
    (void)options;
    char words[TEST_BYTES];
    output_print(output,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<testsuite name=\"attn cases\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
                 report->count, report->of[CASE_FAILED], report->of[CASE_MISSING]);
    for (size_t i = 0; i < report->count; i++) {
        const struct case_checked *checked = &report->checked[i];
        const bool wrong = say_case(checked, words);
        output_print(output, "  <testcase classname=\"attn\" name=\"%s\"%s", checked->row->name, wrong ? "" : "/>\n");
        if (!wrong)
            continue;
        output_print(output, "><%s message=\"", checked->verdict == CASE_FAILED ? "failure" : "error");
        write_xml(words, output);
        output_print(output, "\"/></testcase>\n");
    }
    output_print(output, "  <system-out>");
    for (size_t i = 0; i < report->verdict.count; i++) {
        write_xml(report->verdict.lines[i], output);
        output_print(output, "\n");
    }
    output_print(output, "</system-out>\n</testsuite>\n");
}

/* Of the formats that report (model/format.h): each its writer. */
#define cases_no NULL
#define REPORT(id, name, writer, checker, report, ...) [FORMAT_##id] = cases_##report,
#define JUDGING(id, name, report, ...) [FORMAT_##id] = cases_##report,
static void (*const REPORTS[FORMAT_COUNT])(const struct cases_report *report, const struct options *options,
                                           struct output *output) = {FORMAT_ROWS(REPORT) JUDGING_FORMAT_ROWS(JUDGING)};

enum status cases_report(const struct cases_report *report, const struct options *options, struct output *output,
                         struct error *error)
{
    REPORTS[options->format](report, options, output);
    if (output_close(output) != STATUS_OK)
        return error->status;
    return report->of[CASE_PASSED] == report->count ? STATUS_OK : error_quietly(error, STATUS_DIFFERENT);
}
