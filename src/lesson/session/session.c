/* SPDX-License-Identifier: MIT */
#include "lesson/session/session.h"

#include "lesson/session/ask.h"
#include "lesson/session/verdict.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    SENTENCE_BYTES = 1024,
    SAID_COLUMNS = 60, /* of a shown prediction */
    MARGIN = 4,        /* lines of a window that a prompt may take */
    TITLE_LINES = 2,
    CLOSING_LINES = 5, /* of the text after a lesson */
    MOST_NAMES = 100,
};

struct lesson_position {
    size_t lesson; /* from 1 */
    size_t part;
    size_t prepared; /* lessons whose files exist */
};

/* --- predictions and commands ------------------------------------------------------------------------------------ */

static bool take_prediction(void *context)
{
    struct session *session = context;
    char number[VERDICT_NUMBER_BYTES], second[VERDICT_NUMBER_BYTES];
    const char *line = session->line;
    if (!session->predicts_word && !(verdict_next_number(&line, number) && !verdict_next_number(&line, second))) {
        show_print(&session->show, "Expected one number, such as 0.5; Enter goes on without.");
        return false;
    }
    text_shown(session->predicts_word ? session->line : number, SAID_COLUMNS, session->prediction,
               sizeof session->prediction);
    return true;
}

static enum move predict(struct session *session, const struct lesson_part *part)
{
    session->predicted = part->predicted;
    session->predicts_word = part->predicts_word;
    session->prediction[0] = '\0';
    ask_apart(session);
    return ask_until(session, "Your prediction", take_prediction, NULL, session);
}

/* Says how far off the prediction was, unless the command reads a file of the reader's. */
static void judge_prediction(struct session *session, const struct lesson_part *part)
{
    const char *own = own_files_named(session->files, part->text, false);
    char words[SENTENCE_BYTES];
    struct text sentence = text_begin(words, sizeof words);
    if (session->predicted != NULL && session->prediction[0] != '\0') {
        if (own != NULL)
            text_add(&sentence, "You said %s. Your %s is not the lesson's: see the output above.", session->prediction,
                     own);
        else
            (session->predicts_word ? verdict_of_word : verdict_of_number)(session->prediction, session->predicted,
                                                                           &sentence);
        output_print(session->show.output, "\n");
        show_print(&session->show, "%s", words);
        session->shown += 2;
    }
    session->predicted = NULL;
}

/* Runs the command of the lesson; false if the reader interrupted it. */
static bool run_shown(struct session *session, const struct lesson_part *part)
{
    const int status = ask_run(session, part->text, false);
    if (ask_was_interrupted(status) && !session->reading)
        raise(SIGINT);
    if (ask_was_interrupted(status)) {
        output_print(session->show.output, "\n");
        show_print(&session->show, "Interrupted. Enter runs it again, s skips it.");
        return false;
    }
    session->shown += show_printed_lines(part->printed);
    if (part->printed[0] != '\0')
        judge_prediction(session, part);
    return true;
}

/* Lets the reader run the command, or others before it. */
static enum move run_part(struct session *session, const struct lesson_part *part)
{
    bool warned = false;
    while (session->reading && ask_reader(session, "Enter runs it")) {
        const enum key key = ask_key(session);
        const char *lost = key == KEY_ENTER && !warned ? own_files_named(session->files, part->text, true) : NULL;
        warned = lost != NULL;
        if (lost != NULL)
            show_print(&session->show, "It overwrites your %s. Enter runs it anyway, s keeps your file.", lost);
        else if (key == KEY_ENTER && run_shown(session, part))
            return MOVE_ON;
        else if (key == KEY_BACK || key == KEY_QUIT)
            return key == KEY_BACK ? MOVE_BACK : MOVE_QUIT;
        else if (key == KEY_HELP)
            ask_help(session);
        else if (key == KEY_NONE)
            ask_run_or_refuse(session);
        if (key == KEY_SKIP) {
            session->predicted = NULL;
            return MOVE_ON;
        }
    }
    if (session->live)
        return MOVE_QUIT;
    run_shown(session, part);
    return MOVE_ON;
}

/* --- through a lesson -------------------------------------------------------------------------------------------- */

/* The exercise to ask after this part, since parts may follow its text; NULL: none. */
static const struct lesson_part *exercise_behind(const struct lesson *lesson, size_t part)
{
    if (part + 1 < lesson->count && lesson->parts[part + 1].answer == NULL)
        return NULL;
    while (part > 0 && lesson->parts[part].answer == NULL)
        part--;
    return lesson->parts[part].answer != NULL ? &lesson->parts[part] : NULL;
}

static bool asks(const struct lesson *lesson, size_t part)
{
    return lesson->parts[part].kind == LESSON_COMMAND || lesson->parts[part].predicted != NULL ||
           exercise_behind(lesson, part) != NULL;
}

/* Waits if so many lines would push unread text out of the window. */
static enum move pause_before(struct session *session, size_t lines)
{
    struct winsize window;
    const bool known = session->live && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > MARGIN;
    if (!known || session->shown == 0 || session->shown + lines <= (size_t)window.ws_row - MARGIN)
        return MOVE_ON;
    output_print(session->show.output, "\n");
    return ask_to_go_on(session, "Enter goes on");
}

static enum move pause_before_part(struct session *session, const struct lesson_part *part)
{
    return pause_before(session, show_part_lines(&session->show, part));
}

static void show_next(struct session *session, const struct lesson_part *part)
{
    show_part(&session->show, part);
    session->shown += show_part_lines(&session->show, part);
}

static enum move do_part(struct session *session, const struct lesson *lesson, size_t part)
{
    const struct lesson_part *shown = &lesson->parts[part], *exercise = exercise_behind(lesson, part);
    enum move move = pause_before_part(session, shown);
    if (move != MOVE_ON)
        return move;
    show_next(session, shown);
    if (shown->kind == LESSON_COMMAND)
        move = run_part(session, shown);
    else if (shown->predicted != NULL)
        move = predict(session, shown);
    return move == MOVE_ON && exercise != NULL ? exercise_do(session, exercise) : move;
}

/* Goes back to the text before the previous question; from the first question to the start of the lesson, and from
 * there to the previous lesson. */
static void go_back(struct lesson_position *at)
{
    const struct lesson *lesson = &LESSONS[at->lesson];
    size_t questions = 0, part = at->part;
    while (part > 0 && questions < 2)
        questions += asks(lesson, --part);
    if (questions == 0 && at->lesson > 1)
        at->lesson--;
    at->part = part + (questions == 2);
}

/* Shows the title, with the first part in the same window. */
static enum move show_title(struct session *session, size_t number)
{
    char title[SENTENCE_BYTES];
    const struct lesson *lesson = &LESSONS[number];
    if (pause_before(session, TITLE_LINES + show_part_lines(&session->show, lesson->parts)) == MOVE_QUIT)
        return MOVE_QUIT;
    output_print(session->show.output, "\n");
    snprintf(title, sizeof title, "Lesson %zu of %zu: %s", number, LESSON_COUNT, lesson->title);
    show_bold(&session->show, title);
    session->shown += TITLE_LINES;
    return MOVE_ON;
}

/* Makes the files of earlier lessons, except those that the reader made or changed. */
static void prepare(struct session *session, struct lesson_position *at)
{
    struct error ignored = {0};
    own_files_look(&session->files, session->shell.folder, true, session->arena, &ignored);
    for (; at->prepared + 1 < at->lesson; at->prepared++) {
        const struct lesson *lesson = &LESSONS[at->prepared + 1];
        for (size_t i = 0; i < lesson->count; i++)
            if (lesson->parts[i].kind == LESSON_COMMAND &&
                own_files_named(session->files, lesson->parts[i].text, true) == NULL)
                shell_run_quietly(&session->shell, lesson->parts[i].text);
    }
    own_files_look(&session->files, session->shell.folder, false, session->arena, &ignored);
    if (at->prepared < at->lesson)
        at->prepared = at->lesson;
}

/* After a lesson: the next one, 0 for none. */
static size_t ask_next(struct session *session, size_t lesson)
{
    char prompt[SENTENCE_BYTES];
    if (pause_before(session, CLOSING_LINES) == MOVE_QUIT)
        return 0;
    output_print(session->show.output, "\n");
    if (lesson == LESSON_COUNT) {
        show_print(&session->show, "This was the last of %zu lessons. man attn is the reference.", LESSON_COUNT);
        return 0;
    }
    show_print(&session->show, "This was lesson %zu of %zu. Next: %s.", lesson, LESSON_COUNT,
               LESSONS[lesson + 1].title);
    snprintf(prompt, sizeof prompt, "Enter goes on with lesson %zu, q ends", lesson + 1);
    const enum move move = ask_to_go_on(session, prompt);
    return move == MOVE_ON ? lesson + 1 : move == MOVE_BACK ? lesson : 0;
}

/* Continues from the position until the reader leaves. */
static void go_through(struct session *session, struct lesson_position at)
{
    while (at.lesson > 0 && !session->show.output->failed) {
        const struct lesson *lesson = &LESSONS[at.lesson];
        if (at.part == 0) {
            prepare(session, &at);
            session->predicted = NULL;
            if (show_title(session, at.lesson) == MOVE_QUIT)
                return;
        }
        enum move move = MOVE_ON;
        for (; at.part < lesson->count && move == MOVE_ON && !session->show.output->failed; at.part++)
            move = do_part(session, lesson, at.part);
        if (move == MOVE_QUIT)
            return;
        if (move == MOVE_BACK) {
            at.part--;
            go_back(&at);
        } else {
            at = (struct lesson_position){.lesson = session->reading ? ask_next(session, at.lesson) : 0,
                                          .prepared = at.prepared};
        }
    }
}

/* --- the end ----------------------------------------------------------------------------------------------------- */

/* Keeps a file in the present folder, as mine-2.json if mine.json exists. */
static void keep(struct session *session, const struct own_file *file)
{
    const char *dot = strrchr(file->name, '.');
    const int length = dot != NULL && dot > file->name ? (int)(dot - file->name) : (int)strlen(file->name);
    char name[TEXT_PATH_BYTES], target[NAME_MAX + 16];
    bool there = true;
    enum status status = STATUS_OK;
    snprintf(target, sizeof target, "%s", file->name);
    for (int i = 2; there && i <= MOST_NAMES; i++) {
        status = own_files_keep(session->shell.folder, file->name, target, &there, session->error);
        if (there)
            snprintf(target, sizeof target, "%.*s-%d%s", length, file->name, i, file->name + length);
    }
    if (status == STATUS_OK)
        show_print(&session->show, "Kept: %s", text_path(target, name));
    else
        show_print(&session->show, "Not kept: %s", session->error->message);
}

/* "mine.json, own.txt"; returns how many. */
static size_t list_own(const struct session *session, struct text *list)
{
    char name[TEXT_PATH_BYTES];
    size_t count = 0;
    for (const struct own_file *file = session->files; file != NULL; file = file->next)
        if (file->own && own_files_are_there(session->shell.folder, file))
            text_add(list, "%s%s", count++ > 0 ? ", " : "", text_path(file->name, name));
    return count;
}

/* Offers to keep the reader's files in the present folder, since attn removes the lesson's. */
static void offer_files(struct session *session)
{
    char list[SENTENCE_BYTES], here[TEXT_PATH_BYTES], folder[PATH_MAX];
    struct error ignored = {0};
    struct text names = text_begin(list, sizeof list);
    own_files_look(&session->files, session->shell.folder, true, session->arena, &ignored);
    session->reading = session->reading || session->live;
    if (list_own(session, &names) == 0)
        return;
    if (getcwd(folder, sizeof folder) == NULL)
        strcpy(folder, ".");
    output_print(session->show.output, "\n");
    show_print(&session->show,
               session->reading ? "You made or changed: %s. attn deletes these files now, unless you keep them in %s."
                                : "You made or changed: %s. attn deletes these files now; it keeps none in %s.",
               list, text_path(folder, here));
    while (session->reading && ask_reader(session, "y keeps all, a name keeps that file, Enter ends") &&
           ask_key(session) != KEY_ENTER) {
        const bool all = strcmp(session->line, "y") == 0;
        bool found = false;
        for (const struct own_file *file = session->files; file != NULL; file = file->next)
            if (file->own && (all || strcmp(session->line, file->name) == 0)) {
                keep(session, file);
                found = true;
            }
        if (all || ask_key(session) == KEY_QUIT || strcmp(session->line, "n") == 0)
            return;
        if (!found)
            show_print(&session->show, "None of these files has that name.");
    }
}

/* Shows the introduction before the first lesson, and the keys; false if the reader quits. */
static bool begin(struct session *session, size_t first)
{
    static const struct lesson_part KEYS = {.text = "Enter runs the command that is shown, or goes on. You may also "
                                                    "type commands that begin with attn. ? says more, q ends."};
    enum move move = MOVE_ON;
    for (size_t i = 0; i < LESSONS[0].count && first == 0 && move != MOVE_QUIT; i++)
        if ((move = pause_before_part(session, &LESSONS[0].parts[i])) != MOVE_QUIT)
            show_next(session, &LESSONS[0].parts[i]);
    if (session->live && move != MOVE_QUIT && (move = pause_before_part(session, &KEYS)) != MOVE_QUIT)
        show_next(session, &KEYS);
    return move != MOVE_QUIT;
}

enum status session_run(size_t first, bool color, const char *called, struct output *output, struct arena *arena,
                        struct error *error)
{
    struct session *session = arena_allocate(arena, 1, sizeof *session, error);
    if (session == NULL)
        return error->status;
    *session = (struct session){.show = {output, color}, .arena = arena, .error = error};
    session->live = isatty(STDIN_FILENO) && output_is_terminal(output);
    session->reading = session->live || !isatty(STDIN_FILENO);
    if (shell_open(&session->shell, called, arena, error) != STATUS_OK)
        return error->status;
    if (begin(session, first))
        go_through(session, (struct lesson_position){.lesson = first > 0 ? first : 1});
    offer_files(session);
    shell_close(&session->shell);
    *error = output->failed ? *error : (struct error){0};
    return output->failed ? error->status : STATUS_OK;
}
