/* SPDX-License-Identifier: MIT */
#include "lesson/session/ask.h"

#include "lesson/session/verdict.h"

#include <string.h>

enum { SENTENCE_BYTES = 512, MOST_COMMANDS = 32, VERDICT_LINES = 2 };

struct attempt {
    struct session *session;
    const struct lesson_part *exercise;
    bool met[MOST_COMMANDS]; /* the answer's commands whose numbers the reader has already got */
};

/* Whether it runs attn: other commands cannot be the answer. */
static bool runs_attn(const char *command)
{
    for (const char *found = command; (found = strstr(found, "attn")) != NULL; found += 4) {
        const bool begins = found == command || strchr(" \t;|&(`", found[-1]) != NULL;
        if (begins && strchr(" \t;|&)`", found[4]) != NULL)
            return true;
    }
    return false;
}

/* Shows the manual's answer, and runs its commands in a copy of the folder. */
static void show_answer(void *context)
{
    struct attempt *attempt = context;
    struct session *session = attempt->session;
    struct arena arena = {0};
    shell_copy(&session->shell, "answer");
    for (size_t i = 0; i < attempt->exercise->answer->count; i++) {
        const struct lesson_part *part = &attempt->exercise->answer->parts[i];
        show_part(&session->show, part);
        if (part->kind == LESSON_COMMAND) {
            const char *printed = shell_collect(&session->shell, "answer", part->text, &arena, session->error);
            show_lines(&session->show, printed != NULL ? printed : part->printed, 0);
        }
    }
    arena_free(&arena);
}

/* Compares the output with each command of the answer that prints, run in the same folder. The sentence says what
 * differs from the first that the reader has not got yet. */
static enum verdict compare(struct attempt *attempt, const char *printed, struct arena *arena, struct text *sentence)
{
    struct session *session = attempt->session;
    enum verdict first = VERDICT_RIGHT;
    size_t command = 0;
    bool nearer = false;
    for (size_t i = 0; i < attempt->exercise->answer->count && command < MOST_COMMANDS; i++) {
        const struct lesson_part *part = &attempt->exercise->answer->parts[i];
        if (part->kind != LESSON_COMMAND)
            continue;
        const char *answer = shell_collect(&session->shell, "answer", part->text, arena, session->error);
        if (answer == NULL) {
            text_add(sentence, "%s", session->error->message);
            return VERDICT_ELSE;
        }
        if (part->printed[0] == '\0' || attempt->met[command++])
            continue;
        char differs[SENTENCE_BYTES];
        struct text text = text_begin(differs, sizeof differs);
        const enum verdict verdict = verdict_of_output(printed, answer, &text);
        attempt->met[command - 1] = verdict == VERDICT_RIGHT;
        nearer = nearer || verdict == VERDICT_RIGHT;
        if (verdict != VERDICT_RIGHT && first == VERDICT_RIGHT) {
            first = verdict;
            text_add(sentence, "%s", differs);
        }
    }
    return first != VERDICT_RIGHT && nearer ? VERDICT_PART : first;
}

/* Reports the comparison; returns whether the exercise is done. */
static bool report(const struct attempt *attempt, enum verdict verdict, const char *printed, const char *differs)
{
    const struct show *show = &attempt->session->show;
    const char *expected = attempt->exercise->expected;
    const bool there = expected != NULL && verdict_has_number(printed, expected);
    const char *more = expected != NULL ? "Try again, or type the number; " : "Try again; ";
    output_print(show->output, "\n");
    if (verdict == VERDICT_RIGHT)
        show_print(show, "Right: these are the numbers of the answer.");
    else if (verdict == VERDICT_PART && there)
        show_print(show, "Right: your output has %s.", expected);
    else if (verdict == VERDICT_PART)
        show_print(show, "Right so far; %s. Try again; ? shows the answer, Enter goes on.", differs);
    else
        show_print(show, "Not yet: %s. %s? shows the answer, Enter goes on.", differs, more);
    return verdict == VERDICT_RIGHT || (verdict == VERDICT_PART && there);
}

/* Runs the typed command, and once more in a copy of the folder, to read its output. */
static bool try_command(struct attempt *attempt)
{
    struct session *session = attempt->session;
    struct arena arena = {0};
    char differs[SENTENCE_BYTES];
    struct text sentence = text_begin(differs, sizeof differs);
    const bool compared = runs_attn(session->line);
    bool done = false;
    if (compared) {
        shell_copy(&session->shell, "typed");
        shell_copy(&session->shell, "answer");
    }
    const int status = ask_run_typed(session);
    if (compared && !ask_was_interrupted(status)) {
        const char *printed = shell_collect(&session->shell, "typed", session->command, &arena, session->error);
        if (printed == NULL) {
            show_print(&session->show, "attn cannot compare it: %s", session->error->message);
        } else if (printed[strspn(printed, " \n")] != '\0') { /* else it may have made a file */
            done = report(attempt, compare(attempt, printed, &arena, &sentence), printed, differs);
            session->shown += show_printed_lines(printed) + VERDICT_LINES;
        }
    }
    arena_free(&arena);
    return done;
}

static bool answer_prints(const struct attempt *attempt, const char *number)
{
    struct session *session = attempt->session;
    struct arena arena = {0};
    char found[VERDICT_NUMBER_BYTES];
    bool prints = false;
    shell_copy(&session->shell, "answer");
    for (size_t i = 0; i < attempt->exercise->answer->count && !prints; i++) {
        const struct lesson_part *part = &attempt->exercise->answer->parts[i];
        const char *printed = part->kind == LESSON_COMMAND
                                  ? shell_collect(&session->shell, "answer", part->text, &arena, session->error)
                                  : NULL;
        while (printed != NULL && !prints && verdict_next_number(&printed, found))
            prints = verdict_is_right(number, found);
    }
    arena_free(&arena);
    return prints;
}

/* Reads numbers, perhaps in a sentence; returns whether the right one is among them. The others must be in the answer,
 * except whole numbers, which may count tokens or the like. */
static bool try_numbers(const struct attempt *attempt)
{
    const struct show *show = &attempt->session->show;
    const char *said = attempt->session->line, *expected = attempt->exercise->expected;
    char number[VERDICT_NUMBER_BYTES], wrong[VERDICT_NUMBER_BYTES] = "";
    bool right = false;
    while (wrong[0] == '\0' && verdict_next_number(&said, number))
        if (verdict_is_right(number, expected))
            right = true;
        else if (strchr(number, '.') != NULL && !answer_prints(attempt, number))
            strcpy(wrong, number);
    if (wrong[0] == '\0' && right)
        show_print(show, "Right: it is %s.", expected);
    else
        show_print(show, "It is not %s. Try again; ? shows the answer, Enter goes on.",
                   wrong[0] != '\0' ? wrong : number);
    return wrong[0] == '\0' && right;
}

/* Takes a line that is no key; returns whether the exercise is done. */
static bool try_line(void *context)
{
    struct attempt *attempt = context;
    struct session *session = attempt->session;
    const bool number = attempt->exercise->expected != NULL;
    char first[VERDICT_NUMBER_BYTES];
    const char *line = session->line;
    if (ask_takes_command(session))
        return try_command(attempt);
    if (number && verdict_next_number(&line, first))
        return try_numbers(attempt);
    show_print(&session->show, "Expected %sa command that begins with attn. ? shows the answer, Enter goes on.",
               number ? "a number, such as 0.5, or " : "");
    return false;
}

enum move exercise_do(struct session *session, const struct lesson_part *exercise)
{
    struct attempt attempt = {.session = session, .exercise = exercise};
    const char *prompt = exercise->expected != NULL ? "Your number, or a command" : "Your command";
    ask_apart(session);
    return ask_until(session, prompt, try_line, show_answer, &attempt);
}
