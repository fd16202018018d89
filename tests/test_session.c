/* SPDX-License-Identifier: MIT */
/* A person does the lessons of the manual at a terminal of 80 columns: predicts, runs, types every answer; and leaves them
 * in every way that a program can catch, behind which the terminal is as it was and no folder stays. */
#include "check.h"
#include "lesson/lessons.h"
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORDS = 8, SEEN_BYTES = 1 << 20, SECONDS = 200, LONG_LINE = 40000 };

static char program[4096], scratch[4096];
static unsigned short window_rows = 200;

/* attn, at a terminal, or at two pipes. */
struct seat {
    pid_t attn;
    int to, from; /* both the terminal, or what it reads, and what it writes */
    struct termios modes;
    char *seen; /* (SEEN_BYTES) all that came */
    size_t length;
};

/* Those who start the tests may ignore signals, as nohup does, and shells for what runs behind. */
static _Noreturn void become_attn(char *const *words, int input, int output, bool terminal)
{
    static const int OWN[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
    for (size_t i = 0; i < sizeof OWN / sizeof OWN[0]; i++)
        signal(OWN[i], SIG_DFL);
    if (terminal && (setsid() < 0 || ioctl(input, TIOCSCTTY, 0) != 0))
        _exit(126);
    if (chdir(scratch) == 0 && dup2(input, 0) == 0 && dup2(output, 1) == 1 && dup2(output, 2) == 2)
        execv(program, words);
    _exit(127);
}

static bool open_terminal(int ends[2], struct termios *modes)
{
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[0] < 0 || grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0)
        return false;
    ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    return ends[1] >= 0 && tcgetattr(ends[1], modes) == 0 &&
           ioctl(ends[1], TIOCSWINSZ, &(struct winsize){.ws_row = window_rows, .ws_col = 80}) == 0;
}

/* "lesson 3": words parted by single blanks. False where there is no terminal. */
static bool sit_down(struct seat *seat, const char *line, bool terminal)
{
    char text[256], *words[MOST_WORDS] = {program};
    int ends[2], back[2] = {-1, -1};
    *seat = (struct seat){.seen = calloc(SEEN_BYTES, 1)};
    snprintf(text, sizeof text, "%s", line);
    size_t count = 1;
    for (char *rest = NULL, *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    if (seat->seen == NULL ||
        (terminal ? !open_terminal(ends, &seat->modes) : pipe2(ends, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0))
        return false;
    seat->attn = fork();
    if (seat->attn == 0)
        become_attn(words, terminal ? ends[1] : ends[0], terminal ? ends[1] : back[1], terminal);
    close(terminal ? ends[1] : ends[0]);
    if (!terminal)
        close(back[1]);
    seat->to = terminal ? ends[0] : ends[1];
    seat->from = terminal ? ends[0] : back[0];
    return true;
}

/* Reads more, for a tenth of a second; false at the end. Lines end as they were written. */
static bool read_more(struct seat *seat)
{
    char bytes[4096];
    struct pollfd ready = {.fd = seat->from, .events = POLLIN};
    if (poll(&ready, 1, 100) <= 0)
        return true;
    const ssize_t count = read(seat->from, bytes, sizeof bytes);
    for (ssize_t i = 0; i < count && seat->length < SEEN_BYTES - 1; i++)
        if (bytes[i] != '\r')
            seat->seen[seat->length++] = bytes[i];
    seat->seen[seat->length] = '\0';
    return count > 0 || (count < 0 && errno == EINTR);
}

/* Whether what came since `from` ends so, sooner or later. */
static bool comes(struct seat *seat, size_t from, const char *end)
{
    const time_t deadline = time(NULL) + SECONDS;
    const size_t length = strlen(end);
    while (seat->length < from + length || strcmp(seat->seen + seat->length - length, end) != 0)
        if (!read_more(seat) || time(NULL) > deadline)
            return false;
    return true;
}

/* What came since `from`, once it ends in that text. */
static const char *await_end(struct seat *seat, size_t from, const char *end)
{
    CHECK(comes(seat, from, end), "expected '%s' at the end, got: %s", end, seat->seen + from);
    return seat->seen + from;
}

/* Sends text, and waits for what follows it to end so. */
static const char *say(struct seat *seat, const char *text, const char *end)
{
    const size_t from = seat->length;
    if (write(seat->to, text, strlen(text)) < 0)
        return "";
    return await_end(seat, from, end);
}

/* Reads to the end, and leaves; returns the status that wait gives. */
static int stand_up(struct seat *seat)
{
    int status = -1;
    const time_t deadline = time(NULL) + SECONDS;
    if (seat->to != seat->from)
        close(seat->to);
    while (read_more(seat) && waitpid(seat->attn, &status, WNOHANG) == 0)
        if (time(NULL) > deadline)
            kill(seat->attn, SIGKILL);
    while (poll(&(struct pollfd){.fd = seat->from, .events = POLLIN}, 1, 0) > 0 && read_more(seat))
        continue;
    waitpid(seat->attn, &status, 0);
    close(seat->from);
    free(seat->seen);
    return status;
}

static size_t files_in(const char *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    if (directory != NULL)
        closedir(directory);
    return count;
}

static const char *temporary(void)
{
    static char path[sizeof scratch + 8];
    snprintf(path, sizeof path, "%s/tmp", scratch);
    return path;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void check_nothing_left(void)
{
    CHECK(files_in(temporary()) == 0, "expected no folder to be left");
}

static void check_modes(const struct seat *seat)
{
    struct termios now;
    memset(&now, 0, sizeof now);
    CHECK(tcgetattr(seat->to, &now) == 0, "expected modes");
    CHECK(now.c_iflag == seat->modes.c_iflag && now.c_oflag == seat->modes.c_oflag &&
              now.c_cflag == seat->modes.c_cflag && now.c_lflag == seat->modes.c_lflag &&
              memcmp(now.c_cc, seat->modes.c_cc, sizeof now.c_cc) == 0,
          "expected the terminal's modes as they were before");
}

/* --- every lesson, with every prediction and every answer --------------------------------------------------------- */

/* Predictions and exercises come in the order of the source. */
struct learner {
    struct seat seat;
    size_t lesson, part; /* behind the last question */
    const struct lesson *answer;
    size_t command;   /* of the answer, that is typed next */
    const char *line; /* of a command, that is typed next; NULL: none is begun */
    size_t screen;    /* the most lines that came at once, but for what a command prints by itself */
};

static const struct lesson_part NO_QUESTION = {.predicted = ""};

static const struct lesson_part *next_question(struct learner *learner, bool exercise)
{
    for (; learner->lesson <= LESSON_COUNT; learner->lesson++, learner->part = 0)
        while (learner->part < LESSONS[learner->lesson].count) {
            const struct lesson_part *part = &LESSONS[learner->lesson].parts[learner->part++];
            if (exercise ? part->answer != NULL : part->predicted != NULL)
                return part;
        }
    return &NO_QUESTION;
}

/* The line of the answer's commands that comes next; "" where there is no more. */
static void next_line(struct learner *learner, char *text, size_t size)
{
    while (learner->line == NULL && learner->answer != NULL && learner->command < learner->answer->count) {
        const struct lesson_part *part = &learner->answer->parts[learner->command++];
        learner->line = part->kind == LESSON_COMMAND ? part->text : NULL;
    }
    const char *line = learner->line != NULL ? learner->line : "";
    const size_t length = strcspn(line, "\n");
    snprintf(text, size, "%.*s", (int)length, line);
    learner->line = line[length] == '\n' ? line + length + 1 : NULL;
}

/* What is typed behind what came: a prediction that is right, an answer line by line, else Enter. */
static void reply(struct learner *learner, const char *output, char *text, size_t size)
{
    const char *newline = strrchr(output, '\n'), *prompt = newline != NULL ? newline + 1 : output;
    const bool answers = strncmp(prompt, "Your number", 11) == 0 || strncmp(prompt, "Your command", 12) == 0;
    text[0] = '\0';
    if (strstr(output, "\nRight: ") != NULL)
        learner->answer = NULL;
    if (strncmp(prompt, "Your prediction", 15) == 0)
        snprintf(text, size, "%s", next_question(learner, false)->predicted);
    if (answers && learner->answer == NULL) {
        learner->answer = next_question(learner, true)->answer;
        learner->command = 0;
        learner->line = NULL;
    }
    if (answers || strcmp(prompt, "> ") == 0)
        next_line(learner, text, size);
    if (answers && text[0] == '\0')
        learner->answer = NULL; /* it was not right */
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    while ((text = strstr(text, part)) != NULL) {
        count++;
        text += strlen(part);
    }
    return count;
}

/* The outputs of the manual are there, in their order. */
static void check_printed(size_t first, size_t last, const char *seen)
{
    for (size_t i = first; i <= last; i++)
        for (size_t j = 0; j < LESSONS[i].count; j++) {
            const struct lesson_part *part = &LESSONS[i].parts[j];
            const char *found = part->kind == LESSON_COMMAND ? strstr(seen, part->printed) : seen;
            CHECK(found != NULL, "expected to see what the command prints: %s", part->text);
            seen = found != NULL ? found : seen;
        }
}

/* What came from there on; alone where a command printed it. Whether the next that comes is what a command prints. */
static bool measure(struct learner *learner, const char *output, bool printed)
{
    const char *prompt = strrchr(output, '\n');
    const size_t lines = occurrences(output, "\n") + 1;
    const bool waits = prompt != NULL && strcmp(prompt, "\nEnter goes on > ") == 0;
    if (!(printed && waits) && lines > learner->screen)
        learner->screen = lines;
    return !waits;
}

/* Types all that is asked for, from a lesson on: to the end of that one, or of all. */
static bool learn(struct learner *learner, bool alone)
{
    struct seat *seat = &learner->seat;
    char line[64], text[1024];
    snprintf(line, sizeof line, "lesson %zu --color never", learner->lesson);
    if (!sit_down(seat, line, true)) {
        check_skip("there is no pseudo-terminal");
        return false;
    }
    bool printed = false;
    for (size_t from = 0; comes(seat, from, "> ");) {
        printed = measure(learner, seat->seen + from, printed);
        reply(learner, seat->seen + from, text, sizeof text - 1);
        const bool ends = alone && strstr(seat->seen + from, "\nEnter goes on with lesson") != NULL;
        strcat(text, ends ? "q\n" : "\n");
        from = seat->length;
        if (write(seat->to, text, strlen(text)) < 0)
            break;
    }
    return true;
}

static void check_learned(struct learner *learner, size_t first, size_t last)
{
    struct seat *seat = &learner->seat;
    const size_t exercises = 2 * (last - first + 1), right = occurrences(seat->seen, "\nRight: ");
    const size_t predicted = occurrences(seat->seen, ", and it is: well done.");
    CHECK(right == exercises, "expected %zu exercises to be right, got %zu: %s", exercises, right, seat->seen);
    CHECK(predicted >= last - first + 1, "expected %zu predictions to be right, got %zu", last - first + 1, predicted);
    check_printed(first, last, seat->seen);
    CHECK(stand_up(seat) == 0, "expected exit status 0");
    check_nothing_left();
}

/* All of them one after another, and each alone. */
static void test_all(void)
{
    check_begin("every lesson: each prediction and each answer is right");
    window_rows = 24;
    struct learner all = {.lesson = 1};
    if (learn(&all, false)) {
        CHECK(strstr(all.seat.seen, "This was the last of") != NULL, "expected the last lesson to end");
        CHECK(strstr(all.seat.seen, "\nEnter goes on > ") != NULL, "expected it to wait in a window of 24 lines");
        CHECK(all.screen <= 24, "expected 24 lines or fewer at once, got %zu", all.screen);
        check_learned(&all, 1, LESSON_COUNT);
    }
    window_rows = 200;
    const bool quick = getenv("ATTN_QUICK") != NULL;
    if (quick)
        puts("ATTN_QUICK: one lesson in eight alone");
    for (size_t i = 1; i <= LESSON_COUNT; i += quick ? 8 : 1) {
        check_begin("lesson %zu alone", i);
        struct learner one = {.lesson = i};
        if (learn(&one, true))
            check_learned(&one, i, i);
    }
}

/* --- leaving, and what is run ------------------------------------------------------------------------------------- */

static const char RUNS[] = "Enter runs it > ", PREDICTS[] = "Your prediction > ";

static void check_contains(const char *text, const char *part)
{
    CHECK(strstr(text, part) != NULL, "expected '%s' in: %s", part, text);
}

/* Lesson 1 up to its first command. */
static bool begin_lesson(struct seat *seat)
{
    if (!sit_down(seat, "lesson 1 --color never", true)) {
        check_skip("there is no pseudo-terminal");
        return false;
    }
    return CHECK(comes(seat, 0, RUNS), "expected the first command, got: %s", seat->seen);
}

/* The number after "PID ", which a command printed. */
static pid_t printed_process(const char *output)
{
    const char *told = strstr(output, "\nPID ");
    return told != NULL ? (pid_t)strtol(told + strlen("\nPID "), NULL, 10) : -1;
}

static void check_gone(pid_t process)
{
    bool gone = false;
    for (const time_t deadline = time(NULL) + SECONDS; process > 0 && !gone && time(NULL) < deadline;) {
        char path[64];
        FILE *file;
        snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)process);
        file = fopen(path, "r");
        gone = file == NULL || fgetc(file) == EOF; /* a zombie has none */
        if (file != NULL)
            fclose(file);
        if (!gone)
            nap();
    }
    CHECK(gone, "expected that process %ld has ended", (long)process);
}

/* How it ends: by a signal, at a prompt or in a command. */
static void check_leaving(const char *how, const char *command, const char *keys, int signal_number)
{
    struct seat seat;
    pid_t running = -1;
    check_begin("left by %s", how);
    if (!begin_lesson(&seat))
        return;
    if (command[0] != '\0') {
        running = printed_process(say(&seat, command, "here\n"));
        CHECK(running > 0, "expected the command to run, got: %s", seat.seen);
    }
    if (keys[0] != '\0')
        CHECK(write(seat.to, keys, strlen(keys)) > 0, "expected to type");
    else
        kill(seat.attn, signal_number);
    int status = -1;
    waitpid(seat.attn, &status, 0);
    CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == signal_number : signal_number == 0 && status == 0,
          "expected it to end by signal %d, got status %d", signal_number, status);
    check_modes(&seat);
    stand_up(&seat);
    check_nothing_left();
    if (running > 0)
        check_gone(running);
}

static void test_leaving(void)
{
    static const char BUSY[] = "$ stty raw -echo; echo PID $$; echo here; exec sleep 1000\n";
    static const char STUBBORN[] = "$ trap '' TERM HUP INT; echo PID $$; echo here; while :; do sleep 1; done\n";
    check_leaving("Ctrl-C", "", "abc\003", SIGINT);
    check_leaving("Ctrl-D", "", "\004", 0);
    check_leaving("q", "", "q\n", 0);
    check_leaving("SIGTERM", "", "", SIGTERM);
    check_leaving("SIGHUP", "", "", SIGHUP);
    check_leaving("SIGTERM while a command runs that has changed the terminal", BUSY, "", SIGTERM);
    check_leaving("SIGTERM while a command runs that does not want to end", STUBBORN, "", SIGTERM);
    check_leaving("SIGHUP while a command runs", STUBBORN, "", SIGHUP);
    struct seat seat;
    check_begin("left by a terminal that is closed");
    if (begin_lesson(&seat)) {
        close(seat.to);
        seat.to = seat.from = open("/dev/null", O_RDWR | O_CLOEXEC);
        const int status = stand_up(&seat);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP, "expected SIGHUP, got %d", status);
        check_nothing_left();
    }
}

static void test_commands(void)
{
    struct seat seat;
    check_begin("commands of the reader's own");
    if (!begin_lesson(&seat))
        return;
    check_contains(say(&seat, "$ echo $((6 * 7)); pwd\n", RUNS), "\n42\n");
    check_contains(seat.seen, temporary());
    check_contains(say(&seat, "attn example nothing\n", RUNS), "(exit status 2)\n");
    check_contains(say(&seat, "$ no-such-command\n", RUNS), "(exit status 127)\n");
    check_contains(say(&seat, "$ kill -9 $$\n", RUNS), "(ended by signal 9)\n");
    check_contains(say(&seat, "$ true\n", RUNS), "true\nEnter");
    check_contains(say(&seat, "cat <<END \\\n  | tr a-z A-Z\nEND\n", RUNS), "> ");
    check_contains(say(&seat, "cat <<END\n  one\ntwo\nEND\n", RUNS), "\n  one\ntwo\n");
    check_contains(say(&seat, "$ stty raw -echo; echo raw\n", RUNS), "raw\n");
    check_modes(&seat);
    check_contains(say(&seat, "?\n", RUNS), "b      goes back");
    check_contains(say(&seat, "$ rm -r $PWD\n", RUNS), "$PWD\n");
    check_contains(say(&seat, "$ echo lost\n", RUNS), "attn: cannot run a command in ");
    check_contains(say(&seat, "$ true\n", RUNS), "/lesson: No such file or directory\n(exit status 127)\n");
    CHECK(write(seat.to, "q\n", 2) == 2 && stand_up(&seat) == 0, "expected exit status 0");
    check_nothing_left();
    if (!begin_lesson(&seat))
        return;
    check_begin("a command without an end is ended by Ctrl-C, and the lesson goes on");
    const pid_t running = printed_process(say(&seat, "$ echo PID $$; echo here; sleep 1000 | cat\n", "here\n"));
    check_contains(say(&seat, "\003", RUNS), "Enter");
    check_gone(running);
    CHECK(write(seat.to, "q\n", 2) == 2, "expected to type");
    CHECK(stand_up(&seat) == 0, "expected exit status 0");
    check_nothing_left();
}

static char *in_scratch(const char *name, char path[sizeof scratch + 64])
{
    snprintf(path, sizeof scratch + 64, "%s/%s", scratch, name);
    return path;
}

/* A shell at the terminal, and attn as a job of it, with a command that ends when it is told to. */
static void test_background(void)
{
    static const char SHELL[] = "/bin/sh", ASKS[] = "sh: ";
    char attn[sizeof program], start[sizeof program + 16], path[sizeof scratch + 64];
    struct seat seat;
    check_begin("a command that is stopped goes on behind, and leaves the terminal to the shell");
    strcpy(attn, program);
    strcpy(program, SHELL);
    setenv("PS1", ASKS, 1);
    const bool there = sit_down(&seat, "-i", true);
    strcpy(program, attn);
    if (!there) {
        check_skip("there is no pseudo-terminal");
        return;
    }
    const int end = mkfifo(in_scratch("end", path), 0600) == 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
    snprintf(start, sizeof start, "%s lesson 1\n", attn);
    await_end(&seat, 0, ASKS);
    say(&seat, start, RUNS);
    /* exec: where Ctrl-Z stops a child of dash before it is another program, dash itself waits and cannot be stopped */
    say(&seat, "$ echo started; exec head -c 1 ../../../end\n", "\nstarted\n");
    say(&seat, "\032", ASKS);
    say(&seat, "bg\n", ASKS);
    check_contains(say(&seat, "echo $((6 * 7))\n", ASKS), "\n42\n");
    const size_t from = seat.length;
    CHECK(write(end, "\n", 1) == 1, "expected to tell the command to end");
    await_end(&seat, from, RUNS);
    close(end);
    unlink(path);
    say(&seat, "kill %1; fg\n", ASKS);
    CHECK(write(seat.to, "exit\n", 5) == 5, "expected to type");
    stand_up(&seat);
    check_nothing_left();
}

static void test_own_files(void)
{
    static const char KEEPS[] = "y keeps all, a name keeps that file, Enter ends > ";
    char path[sizeof scratch + 64];
    struct seat seat;
    check_begin("the reader's files are not written over, and kept where they are asked for");
    if (!begin_lesson(&seat))
        return;
    FILE *there = fopen(in_scratch("own.txt", path), "w");
    CHECK(there != NULL && fputs("old\n", there) >= 0 && fclose(there) == 0, "expected a file");
    say(&seat, "$ echo new > own.txt; echo mine > inputs.json\n", RUNS);
    check_contains(say(&seat, "\n", RUNS), "It overwrites your inputs.json.");
    check_contains(say(&seat, "cat inputs.json\n", RUNS), "\nmine\n");
    say(&seat, "s\n", " > ");
    while (strcmp(seat.seen + seat.length - strlen(RUNS), RUNS) == 0)
        say(&seat, "s\n", " > ");
    say(&seat, "1\n", RUNS);
    check_contains(say(&seat, "\n", " > "), "You said 1. Your inputs.json is not the lesson's: see the output above.");
    check_contains(say(&seat, "q\n", KEEPS), "inputs.json");
    check_contains(say(&seat, "other\n", KEEPS), "None of these files has that name.");
    check_contains(say(&seat, "own.txt\n", KEEPS), "Kept: own-2.txt");
    check_contains(say(&seat, "inputs.json\n", KEEPS), "Kept: inputs.json");
    CHECK(write(seat.to, "\n", 1) == 1, "expected to type");
    CHECK(stand_up(&seat) == 0, "expected exit status 0");
    check_nothing_left();
    static const char *const FILES[][2] = {{"own.txt", "old\n"}, {"own-2.txt", "new\n"}, {"inputs.json", "mine\n"}};
    for (size_t i = 0; i < 3; i++) {
        char *text = support_read(in_scratch(FILES[i][0], path));
        CHECK_TEXT(FILES[i][1], text);
        free(text);
        unlink(path);
    }
}

/* What is said of wrong predictions and answers, and the way back. */
static void test_wrong(void)
{
    struct seat seat;
    check_begin("predictions and answers that are not right");
    if (!begin_lesson(&seat))
        return;
    while (strcmp(seat.seen + seat.length - strlen(RUNS), RUNS) == 0)
        say(&seat, "\n", " > ");
    check_contains(say(&seat, "abc\n", PREDICTS), "Expected one number");
    check_contains(say(&seat, "b\n", RUNS), "$ ");
    say(&seat, "$ echo >in\n", RUNS); /* the command that comes names inputs.json, which is another file */
    say(&seat, "s\n", PREDICTS);
    say(&seat, "-1000\n", RUNS);
    check_contains(say(&seat, "\n", " > "), "You said -1000; it is ");
    check_contains(seat.seen, " too low.\n");
    check_contains(say(&seat, "attn self --random 2x2 --stages value\n", " > "), "Not yet: ");
    check_contains(say(&seat, "?\n", " > "), "$ attn ");
    check_contains(say(&seat, "12345\n", " > "), "It is not 12345.");
    check_contains(say(&seat, "\n", " > "), "Exercise 1.2");
    check_contains(say(&seat, "\n", " > "), "This was lesson 1 of ");
    check_contains(say(&seat, "\n", " > "), "Lesson 2 of ");
    CHECK(write(seat.to, "\003", 1) == 1, "expected to type");
    stand_up(&seat);
    check_nothing_left();
}

/* --- without a terminal -------------------------------------------------------------------------------------------- */

/* All that comes where that is the input, which a pipe holds; the caller frees it. */
static char *piped(const char *line, const char *input, size_t length, int *status)
{
    struct seat seat;
    const time_t deadline = time(NULL) + SECONDS;
    if (!CHECK(sit_down(&seat, line, false), "expected pipes"))
        return NULL;
    const bool written = write(seat.to, input, length) == (ssize_t)length;
    close(seat.to);
    seat.to = open("/dev/null", O_WRONLY | O_CLOEXEC);
    while (read_more(&seat) && time(NULL) < deadline)
        continue;
    char *seen = strdup(seat.seen);
    *status = stand_up(&seat);
    CHECK(written, "expected the input to be taken");
    check_nothing_left();
    return seen;
}

/* What is no command is not run, and numbers are found in a sentence. */
static void test_prose(void)
{
    static const char *const PROSE[] = {"5 tokens", "I don't know", "yes", "attnself", "cat", "milk > cat", "$"};
    char line[64];
    struct seat seat;
    check_begin("prose is not run");
    if (!begin_lesson(&seat))
        return;
    for (size_t i = 0; i < sizeof PROSE / sizeof PROSE[0]; i++) {
        snprintf(line, sizeof line, "%s\n", PROSE[i]);
        check_contains(say(&seat, line, RUNS), "Not run: expected a command that begins with attn, cat, cp,");
    }
    CHECK(strstr(seat.seen, "sh: ") == NULL && strstr(seat.seen, "exit status") == NULL, "expected nothing to be run");
    check_contains(say(&seat, "help\n", RUNS), "b      goes back");
    check_contains(say(&seat, "$ echo $((6 * 7))\n", RUNS), "\n42\n");
    check_contains(say(&seat, "attn>own.txt; cat own.txt\n", RUNS), "attn self");
    CHECK(write(seat.to, "exit\n\n", 6) == 6 && stand_up(&seat) == 0, "expected exit status 0");
    check_nothing_left();
    check_begin("numbers in sentences");
    int status;
    static const char ANSWERS[] = "about 2.5, I guess.\n\n0.1 and 0.2\nfive tokens?\n6 tokens\n0.8819 and 0.1\n"
                                  "0.5577 and 0.5\nThey are 0.5577 and 0.88.\n";
    char *seen = piped("lesson 6", ANSWERS, sizeof ANSWERS - 1, &status);
    check_contains(seen, "You said 2.5; it is 1.8524: 0.6476 too high.\n");
    check_contains(seen, "0.1 and 0.2\nIt is not 0.1. Try again;");
    check_contains(seen, "five tokens?\nExpected a number, such as 0.5, or a command that begins with attn.");
    check_contains(seen, "6 tokens\nIt is not 6. ");
    check_contains(seen, "0.8819 and 0.1\nIt is not 0.1. ");
    check_contains(seen, "0.5577 and 0.5\nIt is not 0.5. ");
    check_contains(seen, "They are 0.5577 and 0.88.\nRight: it is 0.8819.\n");
    free(seen);
    seen = piped("lesson 6", "0.1 and 0.2\n", 12, &status);
    check_contains(seen, "0.1 and 0.2\nExpected one number, such as 0.5; Enter goes on without.\n");
    free(seen);
}

/* All text between two questions fits a window of 24 lines. */
static void test_window(void)
{
    struct seat seat;
    check_begin("the introduction fits a window");
    window_rows = 24;
    const bool there = sit_down(&seat, "lesson --color never", true);
    window_rows = 200;
    if (!there) {
        check_skip("there is no pseudo-terminal");
        return;
    }
    const char *seen = await_end(&seat, 0, " > ");
    CHECK(strstr(seen, "Lesson 1 of ") == NULL, "expected no title without its lesson, got: %s", seen);
    CHECK(occurrences(seen, "\n") < 24, "expected fewer than 24 lines, got: %s", seen);
    seen = say(&seat, "\n", RUNS);
    check_contains(seen, "Lesson 1 of ");
    CHECK(occurrences(seen, "\n") < 24, "expected fewer than 24 lines, got: %s", seen);
    CHECK(write(seat.to, "q\n", 2) == 2 && stand_up(&seat) == 0, "expected exit status 0");
    check_nothing_left();
}

static void test_pipes(void)
{
    int status;
    check_begin("without input a lesson is shown to its end");
    char *seen = piped("lesson 3", "", 0, &status);
    check_printed(3, 3, seen);
    CHECK(status == 0 && strstr(seen, "Enter runs it") == NULL && strchr(seen, '\033') == NULL, "expected text alone");
    check_contains(seen, "Exercise 3.2");
    free(seen);
    check_begin("lines are read from a script");
    static const char LINES[] = "\n$ echo typed | tee own.txt\nb\n\0nul\n\n";
    seen = piped("lesson 1", LINES, sizeof LINES - 1, &status);
    check_contains(seen, "Enter runs it > $ echo typed | tee own.txt\ntyped\n");
    check_contains(seen, "a NUL byte: it is ignored.");
    check_contains(seen, "You made or changed: own.txt. attn deletes these files now");
    check_contains(seen, "Exercise 1.2");
    CHECK(status == 0, "expected exit status 0, got %d", status);
    free(seen);
    check_begin("a line that is too long is passed over");
    char *line = malloc(LONG_LINE);
    memset(line, 'x', LONG_LINE);
    line[LONG_LINE - 1] = '\n';
    seen = piped("lesson 1", line, LONG_LINE, &status);
    check_contains(seen, "is longer than 16383 bytes");
    CHECK(status == 0 && strstr(seen, "not found") == NULL, "expected that none of it is run");
    free(seen);
    free(line);
    check_begin("without a number the lessons are listed");
    seen = piped("lesson", "", 0, &status);
    check_contains(seen, LESSONS[LESSON_COUNT].title);
    CHECK(status == 0 && occurrences(seen, "\n") == LESSON_COUNT, "expected a line each");
    free(seen);
    check_begin("a reader that goes ends it");
    struct seat seat;
    if (sit_down(&seat, "lesson 5", false)) {
        close(seat.from);
        seat.from = open("/dev/null", O_RDONLY | O_CLOEXEC);
        status = stand_up(&seat);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SYSTEM, "expected status 3, got %d", status);
        check_nothing_left();
    }
}

static void test_temporary(void)
{
    int status;
    char path[sizeof scratch + 64];
    check_begin("a folder for temporary files that is not there");
    setenv("TMPDIR", "/no/such/folder", 1);
    char *seen = piped("lesson 1", "", 0, &status);
    CHECK_TEXT("attn: cannot make a folder for the lesson in /no/such/folder: No such file or directory\n", seen);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SYSTEM, "expected status 3, got %d", status);
    free(seen);
    check_begin("one that is a file");
    setenv("TMPDIR", program, 1);
    seen = piped("lesson 1", "", 0, &status);
    check_contains(seen, "cannot make a folder for the lesson in ");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SYSTEM, "expected status 3, got %d", status);
    free(seen);
    check_begin("one that is named from here, with a blank");
    mkdir(in_scratch("a b", path), 0777);
    setenv("TMPDIR", "a b", 1);
    seen = piped("lesson 1", "$ pwd\n", 6, &status);
    check_contains(seen, "/a b/attn-lesson.");
    CHECK(status == 0 && files_in(path) == 0, "expected status 0 and no folder, got %d", status);
    check_contains(seen, "0.5800");
    free(seen);
    rmdir(path);
    check_begin("one with a colon");
    mkdir(in_scratch("a:b", path), 0777);
    setenv("TMPDIR", path, 1);
#if defined(__linux__) && !defined(PORTABLE)
    static const char asks[] = "$ pwd; cd /; command -v attn\n";
#else
    static const char asks[] = "$ pwd; command -v attn\n"; /* POSIX has no entry of PATH for it but a relative one */
#endif
    seen = piped("lesson 1", asks, sizeof asks - 1, &status);
    check_contains(seen, "/a:b/attn-lesson.");
    check_contains(seen, "/attn\n");
    check_contains(seen, "0.5800");
    CHECK(status == 0 && files_in(path) == 0, "expected status 0 and no folder, got %d", status);
    free(seen);
    rmdir(path);
    check_begin("none that is named, and no PATH");
    unsetenv("TMPDIR");
    char *before = strdup(getenv("PATH"));
    unsetenv("PATH");
    seen = piped("lesson 1", "$ pwd\n", 6, &status);
    check_contains(seen, "/tmp/attn-lesson.");
    check_contains(seen, "0.5800");
    free(seen);
    setenv("PATH", before, 1);
    setenv("TMPDIR", temporary(), 1);
    free(before);
}

int main(void)
{
    const char *bin = getenv("ATTN_BIN"), *port = getenv("ATTN_PORT");
    const char *folder = getenv("TMPDIR");
    char name[4000];
    snprintf(name, sizeof name, "%s/attn-session.XXXXXX", folder != NULL ? folder : "/tmp");
    signal(SIGPIPE, SIG_IGN);
    setenv("NO_COLOR", "1", 1);
    if (port != NULL || realpath(bin != NULL ? bin : "build", program) == NULL) {
        check_begin("lessons at a terminal");
        check_skip("a script starts the programs of a port");
        return check_end();
    }
    strcat(program, "/attn");
    if (mkdtemp(name) == NULL || realpath(name, scratch) == NULL || mkdir(temporary(), 0777) != 0 ||
        setenv("TMPDIR", temporary(), 1) != 0)
        return 2;
    test_all();
    test_wrong();
    test_prose();
    test_window();
    test_commands();
    test_background();
    test_own_files();
    test_leaving();
    test_pipes();
    test_temporary();
    rmdir(temporary());
    rmdir(scratch);
    return check_end();
}
