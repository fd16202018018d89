#include "lesson/lessons.h"

#include "lesson/mdoc.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_SHARE = 4 }; /* bytes that one of the source may become, with the marks and quotes of a short word */

enum list { LIST_NONE, LIST_TAG, LIST_BULLET, LIST_ENUM };

/* A line of the source, without its newline. */
struct line {
    const char *text, *end;
};

struct reading {
    struct lessons *lessons;
    const char *at, *end; /* what is not read yet */
    size_t number;        /* of the line that was read last */
    struct lesson *section, unseen;
    struct lesson_part *parts; /* room for what comes */
    char *room;                /* for text: what is not taken */
    size_t room_bytes;
    struct lesson_part *part; /* the paragraph that lines are added to, or NULL */
    struct text text;         /* its text, in the room */
    bool close;               /* the next part stands right behind the last */
    enum list list;
    bool compact;
    size_t item, indent;
    const char *predicted, *expected; /* what a comment has said of the paragraph that begins in the next line */
    bool predicts_word;
    struct error *error;
};

static enum status refuse(struct reading *reading, const char *what)
{
    return error_usage(reading->error, "%s", what);
}

static bool next_line(struct reading *reading, struct line *line)
{
    if (reading->at == reading->end)
        return false;
    const char *newline = memchr(reading->at, '\n', (size_t)(reading->end - reading->at));
    *line = (struct line){reading->at, newline != NULL ? newline : reading->end};
    reading->at = newline != NULL ? newline + 1 : reading->end;
    reading->number++;
    return true;
}

/* Whether the line begins so; it then goes on behind that. */
static bool begins(struct line *line, const char *start)
{
    const size_t length = strlen(start);
    if ((size_t)(line->end - line->text) < length || strncmp(line->text, start, length) != 0)
        return false;
    line->text += length;
    return true;
}

static bool is(struct line line, const char *text)
{
    return begins(&line, text) && line.text == line.end;
}

/* --- texts and parts --------------------------------------------------------------------------------------------- */

static void begin_text(struct reading *reading)
{
    reading->text = text_begin(reading->room, reading->room_bytes);
}

/* What was added since begin_text, which keeps its room. */
static const char *end_text(struct reading *reading)
{
    const char *text = reading->text.bytes;
    reading->room += reading->text.length + 1;
    reading->room_bytes -= reading->text.length + 1;
    return text;
}

static void end_paragraph(struct reading *reading)
{
    if (reading->part != NULL)
        reading->part->text = end_text(reading);
    reading->part = NULL;
}

static struct lesson_part *add_part(struct reading *reading, enum lesson_part_kind kind)
{
    end_paragraph(reading);
    struct lesson_part *part = reading->parts++;
    *part = (struct lesson_part){
        .kind = kind, .close = reading->close, .indent = reading->indent, .text = "", .line = reading->number};
    reading->section->count++;
    reading->close = true;
    return part;
}

/* The paragraph that a line is added to; a new one where none is open. */
static struct text *paragraph(struct reading *reading)
{
    if (reading->part == NULL) {
        reading->part = add_part(reading, LESSON_TEXT);
        begin_text(reading);
    }
    return &reading->text;
}

/* --- lines in a block ---------------------------------------------------------------------------------------------*/

static enum status add_line(struct reading *reading, struct line line)
{
    if (line.text < line.end && line.text[0] == '.')
        return refuse(reading, "a macro in a literal block; expected .Ed");
    if (mdoc_add_text(&reading->text, line.text, line.end, reading->error) != STATUS_OK)
        return reading->error->status;
    text_add(&reading->text, "\n");
    return STATUS_OK;
}

/* What ends the command that the text holds so far: "END" where it says <<END; "" for its next line, behind a
 * backslash; NULL where it is whole. */
static const char *command_goes_on(struct reading *reading, char word[16])
{
    const char *command = reading->text.bytes, *here = strstr(command, "<<");
    const size_t length = reading->text.length;
    if (here != NULL && sscanf(here, "<<%15[A-Z]", word) == 1)
        return word;
    return length >= 2 && strcmp(command + length - 2, "\\\n") == 0 ? "" : NULL;
}

/* The lines behind the first that belong to the command. */
static enum status read_command(struct reading *reading)
{
    char word[16];
    for (const char *end; (end = command_goes_on(reading, word)) != NULL;) {
        struct line line;
        do {
            if (!next_line(reading, &line))
                return refuse(reading, "a command without its end");
            if (add_line(reading, line) != STATUS_OK)
                return reading->error->status;
        } while (end[0] != '\0' && !is(line, end));
        if (end[0] != '\0')
            break;
    }
    return STATUS_OK;
}

/* A command, whose first line is given without its "$ "; what it prints is then added to the text. */
static enum status begin_command(struct reading *reading, struct line line)
{
    struct lesson_part *part = add_part(reading, LESSON_COMMAND);
    begin_text(reading);
    if (add_line(reading, line) || read_command(reading))
        return reading->error->status;
    reading->text.bytes[--reading->text.length] = '\0'; /* the last newline */
    part->text = end_text(reading);
    begin_text(reading);
    return STATUS_OK;
}

static void end_block_part(struct reading *reading)
{
    struct lesson_part *part = reading->parts - 1;
    *(part->kind == LESSON_COMMAND ? &part->printed : &part->text) = end_text(reading);
}

/* A block up to .Ed: lines, then commands with what they print. */
static enum status read_block(struct reading *reading)
{
    const struct lesson_part *before = reading->parts;
    struct line line;
    reading->close = false;
    while (next_line(reading, &line)) {
        const bool end = is(line, ".Ed"), command = !end && begins(&line, "$ ");
        if ((end || command) && reading->parts > before)
            end_block_part(reading);
        if (end)
            return STATUS_OK;
        if (!command && reading->parts == before) {
            add_part(reading, LESSON_LITERAL);
            begin_text(reading);
        }
        if ((command ? begin_command(reading, line) : add_line(reading, line)) != STATUS_OK)
            return reading->error->status;
    }
    return refuse(reading, "a literal block without its .Ed");
}

/* --- macros ------------------------------------------------------------------------------------------------------- */

/* "-tag -width value -compact" */
static enum status begin_list(struct reading *reading, struct line line)
{
    static const char *const KINDS[] = {[LIST_TAG] = "-tag", [LIST_BULLET] = "-bullet", [LIST_ENUM] = "-enum"};
    char word[MDOC_WORD_BYTES];
    end_paragraph(reading);
    if (reading->list != LIST_NONE)
        return refuse(reading, "a list in a list");
    reading->compact = false;
    reading->item = 0;
    reading->indent = 4;
    while (mdoc_word(&line.text, line.end, word)) {
        for (enum list list = LIST_TAG; list <= LIST_ENUM; list++)
            if (strcmp(KINDS[list], word) == 0)
                reading->list = list;
        reading->compact = reading->compact || strcmp(word, "-compact") == 0;
        if (strcmp(word, "-width") == 0 && mdoc_word(&line.text, line.end, word))
            reading->indent = 4 + strlen(word);
    }
    return reading->list != LIST_NONE ? STATUS_OK : refuse(reading, "a list that is no -tag, -bullet or -enum");
}

static enum status begin_item(struct reading *reading, struct line line)
{
    if (reading->list == LIST_NONE)
        return refuse(reading, "an item without a list");
    end_paragraph(reading);
    begin_text(reading);
    reading->item++;
    if (reading->list == LIST_TAG && mdoc_add_macro(&reading->text, line.text, line.end, reading->error) != STATUS_OK)
        return reading->error->status;
    if (reading->list == LIST_BULLET)
        text_add(&reading->text, "-");
    if (reading->list == LIST_ENUM)
        text_add(&reading->text, "%zu.", reading->item);
    const char *tag = end_text(reading);
    reading->close = reading->compact;
    paragraph(reading);
    reading->part->tag = tag;
    return STATUS_OK;
}

/* "5.1", a lesson and an exercise of it. */
static bool read_number(struct line line, size_t *lesson, size_t *exercise)
{
    char *point, *end;
    *lesson = strtoul(line.text, &point, 10);
    *exercise = *point == '.' ? strtoul(point + 1, &end, 10) : 0;
    return *lesson > 0 && *exercise > 0;
}

/* "Exercise 5.1 :" and "Predict :", behind .Em */
static enum status take_question(struct reading *reading, struct line line)
{
    size_t lesson, exercise;
    const bool predicts = begins(&line, "Predict");
    if (predicts && reading->predicted == NULL)
        return refuse(reading, "a prediction without a comment before it that says what comes");
    paragraph(reading);
    if (predicts) {
        reading->part->predicted = reading->predicted;
        reading->part->predicts_word = reading->predicts_word;
        reading->predicted = NULL;
    } else if (begins(&line, "Exercise ")) {
        if (!read_number(line, &lesson, &exercise))
            return refuse(reading, "an exercise without a number, such as 5.1");
        reading->part->exercise_lesson = lesson;
        reading->part->exercise = exercise;
        reading->part->expected = reading->expected;
        reading->expected = NULL;
    }
    return STATUS_OK;
}

/* A comment says what comes, of the paragraph that begins in the next line: "predict 0.9374", "predict word one",
 * "expect 5". */
static void take_comment(struct reading *reading, struct line line)
{
    const bool predict = begins(&line, "predict "), expect = !predict && begins(&line, "expect ");
    if (!predict && !expect)
        return;
    end_paragraph(reading);
    reading->predicts_word = begins(&line, "word ");
    begin_text(reading);
    text_add(&reading->text, "%.*s", (int)(line.end - line.text), line.text);
    *(predict ? &reading->predicted : &reading->expected) = end_text(reading);
}

static enum status take_macro(struct reading *reading, struct line line)
{
    struct line rest = line;
    if (is(line, "Pp")) {
        end_paragraph(reading);
        reading->close = false;
        return STATUS_OK;
    }
    if (begins(&rest, "Bd -literal")) {
        end_paragraph(reading);
        return read_block(reading);
    }
    if (begins(&rest, "Bl "))
        return begin_list(reading, rest);
    if (is(line, "It") || begins(&rest, "It "))
        return begin_item(reading, rest);
    if (is(line, "El")) {
        end_paragraph(reading);
        reading->list = LIST_NONE;
        reading->indent = 0;
        return STATUS_OK;
    }
    if (begins(&rest, "Em ") && reading->part == NULL && take_question(reading, rest) != STATUS_OK)
        return reading->error->status;
    return mdoc_add_macro(paragraph(reading), line.text, line.end, reading->error);
}

/* --- sections ---------------------------------------------------------------------------------------------------- */

static enum status begin_lesson(struct reading *reading, struct line line)
{
    struct lessons *lessons = reading->lessons;
    char *title;
    if (!begins(&line, "Lesson ") || strtoul(line.text, &title, 10) != lessons->count + 1 || title[0] != ':')
        return refuse(reading, "a heading that is not the next lesson's, \"Lesson 2: ...\"");
    line.text = title + 1 + (title[1] == ' ');
    begin_text(reading);
    if (mdoc_add_text(&reading->text, line.text, line.end, reading->error) != STATUS_OK)
        return reading->error->status;
    reading->section = &lessons->lessons[lessons->count++];
    *reading->section = (struct lesson){.title = end_text(reading), .number = lessons->count, .parts = reading->parts};
    return STATUS_OK;
}

static enum status begin_answer(struct reading *reading, struct line line)
{
    struct lesson answer = {.title = "", .parts = reading->parts};
    if (!begins(&line, "Answer ") || !read_number(line, &answer.number, &answer.exercise))
        return refuse(reading, "a heading that is no answer's, \"Answer 2.1\"");
    reading->section = &reading->lessons->answers[reading->lessons->answer_count++];
    *reading->section = answer;
    return STATUS_OK;
}

static enum status take_any(struct reading *reading, struct line line, bool answers)
{
    struct line rest = line;
    if (begins(&rest, ".Ss ")) {
        end_paragraph(reading);
        reading->close = false;
        return answers ? begin_answer(reading, rest) : begin_lesson(reading, rest);
    }
    if (begins(&rest, "."))
        return take_macro(reading, rest);
    if (line.text == line.end || line.text[0] == ' ')
        return refuse(reading, "a line that is empty or begins with a blank");
    if (paragraph(reading)->length > 0)
        text_add(&reading->text, " ");
    return mdoc_add_text(&reading->text, line.text, line.end, reading->error);
}

static enum status take_line(struct reading *reading, struct line line, bool answers)
{
    const bool announced = reading->predicted != NULL || reading->expected != NULL;
    if (begins(&line, ".\\\" ") || begins(&line, ".\\\"")) {
        take_comment(reading, line);
        return STATUS_OK;
    }
    if (take_any(reading, line, answers) != STATUS_OK)
        return reading->error->status;
    if (announced && (reading->predicted != NULL || reading->expected != NULL))
        return refuse(reading, "a comment says what comes, and no prediction or exercise follows it");
    return STATUS_OK;
}

/* A section, up to the next .Sh; false where the source ends before it. */
static bool find_section(struct reading *reading, const char *heading)
{
    struct line line;
    while (next_line(reading, &line))
        if (is(line, heading))
            return true;
    return false;
}

static enum status read_section(struct reading *reading, bool answers)
{
    struct line line;
    for (const char *before = reading->at; next_line(reading, &line); before = reading->at) {
        struct line rest = line;
        if (begins(&rest, ".Sh ")) {
            reading->at = before; /* it may be what is looked for next */
            reading->number--;
            break;
        }
        if (take_line(reading, line, answers) != STATUS_OK)
            return reading->error->status;
    }
    end_paragraph(reading);
    return reading->list == LIST_NONE ? STATUS_OK : refuse(reading, "a list without its end");
}

static enum status read_sections(struct reading *reading)
{
    struct lessons *lessons = reading->lessons;
    if (!find_section(reading, ".Sh LESSONS"))
        return refuse(reading, "no section LESSONS");
    lessons->introduction = (struct lesson){.title = "", .parts = reading->parts};
    reading->section = &lessons->introduction;
    if (read_section(reading, false) != STATUS_OK)
        return reading->error->status;
    if (!find_section(reading, ".Sh ANSWERS"))
        return refuse(reading, "no section ANSWERS behind the lessons");
    reading->section = &reading->unseen; /* what stands before the first answer is not shown */
    return read_section(reading, true);
}

enum status lessons_read(struct lessons *lessons, const char *source, size_t length, const char *name,
                         struct arena *arena, struct error *error)
{
    size_t lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += source[i] == '\n';
    struct reading reading = {.lessons = lessons, .at = source, .end = source + length, .error = error};
    *lessons = (struct lessons){.lessons = arena_allocate(arena, lines, sizeof(struct lesson), error),
                                .answers = arena_allocate(arena, lines, sizeof(struct lesson), error)};
    reading.room_bytes = TEXT_SHARE * (length + 1);
    reading.room = arena_allocate(arena, reading.room_bytes, 1, error);
    reading.parts = arena_allocate(arena, lines, sizeof *reading.parts, error);
    if (lessons->lessons == NULL || lessons->answers == NULL || reading.room == NULL || reading.parts == NULL)
        return error->status;
    if (read_sections(&reading) == STATUS_OK)
        return STATUS_OK;
    const struct error found = *error;
    return error_usage(error, "%s:%zu: %.200s", name, reading.number, found.message);
}

const struct lesson *lessons_answer(const struct lessons *lessons, size_t lesson, size_t exercise)
{
    for (size_t i = 0; i < lessons->answer_count; i++)
        if (lessons->answers[i].number == lesson && lessons->answers[i].exercise == exercise)
            return &lessons->answers[i];
    return NULL;
}

bool lesson_title(size_t number, char *title)
{
    char heading[32];
    struct error error = {0};
    snprintf(heading, sizeof heading, "\n.Ss Lesson %zu: ", number);
    const char *found = strstr((const char *)lesson_source_bytes, heading);
    if (found == NULL)
        return false;
    struct text text = text_begin(title, LESSON_TITLE_BYTES);
    found += strlen(heading);
    return mdoc_add_text(&text, found, found + strcspn(found, "\n"), &error) == STATUS_OK;
}
