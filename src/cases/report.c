/* SPDX-License-Identifier: MIT */
#include "cases/cases.h"

#include "base/json_writer.h"
#include "base/wrap.h"

#include <string.h>

enum { INDENT = 4 };

static const char *const VERDICTS[CASE_VERDICTS] = {"passed", "failed", "missing"};

/* --- text --------------------------------------------------------------------------------------------------------- */

/* "off by 1.2e-07 of 3.1e-05", or why there is no such number. */
static void write_numbers(const struct case_checked *checked, struct output *output)
{
    if (checked->reason[0] != '\0')
        output_print(output, "%s", checked->reason);
    else if (!isfinite(checked->largest))
        output_print(output, "%-10s  not finite; expected a number", checked->result);
    else
        output_print(output, "%-10s  off by %.1e of %.1e", checked->result, checked->largest, checked->allowed);
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
static void write_worst(const struct case_checked *checked, struct output *output)
{
    char theirs[32], right[32];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(theirs, sizeof theirs, "%.*g", digits, isnan(checked->theirs) ? (double)NAN : checked->theirs);
        snprintf(right, sizeof right, "%.*g", digits, checked->right);
        if (strcmp(theirs, right) != 0)
            break;
    }
    output_print(output, "    %s: %s, expected %s\n", checked->place, theirs, right);
}

/* The lines below a case that failed. */
static void write_failure(const struct case_checked *checked, struct output *output)
{
    char name[CASE_WORDS_BYTES + 8];
    write_words("for ", checked->row->purpose, output);
    if (checked->outside > 0) {
        const bool named = checked->reason[0] != '\0'; /* the first line does not name it */
        output_print(output, "    %s%s%zu of %zu numbers are off\n", named ? checked->result : "", named ? ": " : "",
                     checked->outside, checked->of);
        write_worst(checked, output);
    }
    snprintf(name, sizeof name, "%s%s", checked->mistake, checked->mistake[0] != '\0' ? ": " : "");
    if (checked->sentence[0] != '\0')
        write_words(name, checked->sentence, output);
    else if (checked->command[0] != '\0')
        write_words("", "none of the mistakes tried gives these numbers", output);
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

static void write_json_case(struct json *json, const struct case_checked *checked)
{
    json_line(json, 2);
    json_open(json, NULL, '{');
    json_text(json, "name", checked->row->name);
    json_text(json, "verdict", VERDICTS[checked->verdict]);
    write_member(json, "purpose", checked->row->purpose);
    write_member(json, "reason", checked->reason);
    if (checked->result != NULL) {
        write_member(json, "result", checked->result);
        json_real(json, "off", checked->largest);
        json_real(json, "allowed", checked->allowed);
        json_size(json, "outside", checked->outside);
        json_size(json, "of", checked->of);
        write_member(json, "place", checked->place);
        json_real(json, "theirs", checked->theirs);
        json_real(json, "expected", checked->right);
    }
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
    json_open(&json, "cases", '[');
    for (size_t i = 0; i < report->count; i++)
        write_json_case(&json, &report->checked[i]);
    json_end(&json);
}

/* Of the formats that report (model/format.h): each its writer. */
#define cases_no NULL
#define REPORT(id, name, writer, checker, report, ...) [FORMAT_##id] = cases_##report,
static void (*const REPORTS[FORMAT_COUNT])(const struct cases_report *report, const struct options *options,
                                           struct output *output) = {FORMAT_ROWS(REPORT)};

enum status cases_report(const struct cases_report *report, const struct options *options, struct output *output,
                         struct error *error)
{
    REPORTS[options->format](report, options, output);
    if (output_close(output) != STATUS_OK)
        return error->status;
    return report->of[CASE_PASSED] == report->count ? STATUS_OK : error_quietly(error, STATUS_DIFFERENT);
}
