/* SPDX-License-Identifier: MIT */
/* Every call that can fail fails in turn, but for fcntl, which only asks, and poll, which only waits; and every signal comes
 * at every moment: the program ends with the status of the contract and a message, the old file or the new one is there,
 * whole, nothing lies beside it, and what was taken has been given back. Each fault is injected into a process of its own.
 * FAULTS_STRIDE=N takes every N-th of them alone, where processes are slow to start; a test whose faults are all left out
 * does not begin. */
#include "check.h"
#include "faults.h"
#include "support.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 32, SECONDS = 600, NOBODY = 65534, LONG_TOKENS = 1600, LONG_COLUMNS = 8 };

int attn_main(int argc, char **argv);

static const char INPUT[] = "{\"tokens\": [\"a\", \"b\", \"c\", \"d\"], \"settings\": {\"seed\": 7},\n"
                            "\"inputs\": [[1, 2, 3], [-1, 0.5, 2], [0, 0, 1], [2, -2, 0.25]]}\n";
static const char OPERANDS[] =
    "{\"query\": [[[1, 2], [3, 4], [5, 6]]], \"key\": [[[1, 0], [0, 1], [1, 1]]],\n"
    "\"value\": [[[1, 2], [3, 4], [5, 6]]], \"attn_mask\": [[0, null, 1], [1, 0, 1], [0, 0, 0]]}\n";
static const char JOBS[] = "{\"inputs\": [[1, 2], [3, 4]]}\n{\"inputs\": [[1], [2]], \"options\": {\"seed\": 7}}\n";
static const char CELL[] = "import torch\ninputs = torch.tensor([[1, 0.5], # a\n [2, 3]]) # b\n";
static const char ARRAY[] = "[0, 1, 2, null]\n";
static const char OLD[] = "the old file\n";

/* A command line, and what it reads and writes. */
struct line {
    const char *words;
    const char *out;      /* the file that it writes; NULL: standard output */
    const char *piped;    /* comes through a pipe to standard input, or NULL */
    const char *original; /* what `out` holds before; NULL: OLD, "": nothing */
    const char *cut;      /* the input that is cut short, or NULL */
    bool speaks;          /* on standard error, too */
    bool once;            /* too long for every allocation, and every signal */
    bool by_line;         /* a fault may fail one line of the output alone */
};

static const struct line LINES[] = {
    {.words = "self in.json", .cut = "in.json"},
    {.words = "self wide.json --stages weights,context"},
    {.words = "causal in.json -o out.json", .out = "out.json", .cut = "in.json"},
    {.words = "causal in.json -o new.json", .out = "new.json", .original = ""},
    {.words = "lesson"},
    {.words = "causal - -f json -q 2-3", .piped = "in.json"},
    {.words = "multihead x.npy -H 2 -d 4 -w w.safetensors -o out.safetensors",
     .out = "out.safetensors",
     .cut = "x.npy"},
    {.words = "self x.npy --stages context -o out.npy", .out = "out.npy", .cut = "x.npy"},
    {.words = "causal -f json --kernel fused --stages context", .piped = "x.npy"},
    {.words = "self --stages weights", .piped = "x.safetensors"},
    {.words = "causal x.npy -w w.pt -o out.json", .out = "out.json", .cut = "w.pt"},
    {.words = "causal --stages context", .piped = "views.pt"},
    {.words = "causal arrays.npz -f json", .cut = "arrays.npz"},
    {.words = "sdpa qkv.json -f json --stages weights,context,lse"},
    {.words = "sdpa qkv.safetensors -o out.safetensors", .out = "out.safetensors", .cut = "qkv.safetensors"},
    {.words = "sdpa qkv.safetensors --kernel fused -t 2 -f json", .cut = "qkv.safetensors"},
    {.words = "diff a.json a.npy --stages scaled"},
    {.words = "diff a.json array.json --stages lse"},
    {.words = "self cell.txt -o out.json", .out = "out.json", .cut = "cell.txt"},
    {.words = "diff a.json other.safetensors -f json -o out.json", .out = "out.json", .cut = "other.safetensors"},
    {.words = "join p1.safetensors p2.safetensors -o out.npy", .out = "out.npy", .cut = "p2.safetensors"},
    {.words = "causal in.json --explain weights:2,1"},
    {.words = "causal in.json --heatmap --stages weights --color always"},
    {.words = "causal x.safetensors -o out.svg", .out = "out.svg", .cut = "x.safetensors"},
    {.words = "causal in.json -o out.csv --dropout 0.5", .out = "out.csv"},
    {.words = "causal in.json -f latex"},
    {.words = "causal in.json -f markdown --stages scores,context"},
    {.words = "init causal --d-in 3 -d 2 -o out.json", .out = "out.json"},
    {.words = "worksheet causal --variants 2 --stages query -o out.tex", .out = "out.tex"},
    {.words = "worksheet self in.json -f markdown", .cut = "in.json"},
    {.words = "self both.json -o both.json", .out = "both.json", .original = "in.json", .cut = "both.json"},
    {.words = "self both.safetensors -o both.safetensors",
     .out = "both.safetensors",
     .original = "x.safetensors",
     .cut = "both.safetensors"},
    {.words = "causal in.json -f json -o link.json", .out = "target.json"},
    {.words = "causal in.json -f json -o /dev/stdout"},
    {.words = "self in.json --progress always -o out.txt", .out = "out.txt", .speaks = true},
    {.words = "causal long.npy -d 16 --kernel fused -t 3 --stages context -o out.npy",
     .out = "out.npy",
     .cut = "long.npy",
     .once = true},
    {.words = "causal long.npy --stages lse -t 3", .once = true},
    {.words = "self in.json -o /dev/null"},
    {.words = "multihead x.npy -H 2 -w w.safetensors --seed 4 --dropout-seed 5 --stages output", .speaks = true},
    {.words = "causal in.json --steps --chunk 2 -o out.svg", .out = "out.svg"},
    {.words = "self jobs.jsonl --jsonl -t 1", .by_line = true},
    {.words = "help sdpa"},
    {.words = "--version"},
    {.words = "help --completion zsh"},
};
enum { LINE_COUNT = sizeof LINES / sizeof LINES[0] };

enum answer { ANSWERS, REFUSES, MAY_REFUSE, CUT_SHORT, MAY_DIFFER };

static const struct {
    enum fault_call call;
    enum fault_kind kind;
    int code;
    bool onwards;
    enum answer answer;
} CASES[] = {
    {CALL_ALLOCATE, FAULT_FAIL, ENOMEM, false, MAY_REFUSE}, /* without a worker's memory the work goes on */
    {CALL_ALLOCATE, FAULT_FAIL, ENOMEM, true, MAY_REFUSE},
    {CALL_OPEN, FAULT_FAIL, EMFILE, false, REFUSES},
    {CALL_OPEN, FAULT_FAIL, EACCES, false, REFUSES},
    {CALL_STAT, FAULT_FAIL, EIO, false, REFUSES},
    {CALL_STAT, FAULT_FAIL, EIO, true, REFUSES},
    {CALL_FSTAT, FAULT_FAIL, EIO, false, ANSWERS},
    {CALL_LSEEK, FAULT_FAIL, ESPIPE, false, ANSWERS},
    {CALL_MMAP, FAULT_FAIL, ENOMEM, false, ANSWERS},
    {CALL_READ, FAULT_FAIL, EIO, false, REFUSES},
    {CALL_READ, FAULT_FAIL, EINTR, false, ANSWERS},
    {CALL_READ, FAULT_FAIL, EAGAIN, false, ANSWERS},
    {CALL_READ, FAULT_SHORT, 0, false, ANSWERS},
    {CALL_READ, FAULT_SHORT, 0, true, ANSWERS},
    {CALL_READ, FAULT_NOTHING, 0, false, CUT_SHORT},
    {CALL_WRITE, FAULT_FAIL, ENOSPC, false, REFUSES},
    {CALL_WRITE, FAULT_FAIL, EIO, false, REFUSES},
    {CALL_WRITE, FAULT_FAIL, EPIPE, false, REFUSES},
    {CALL_WRITE, FAULT_FAIL, EINTR, false, ANSWERS},
    {CALL_WRITE, FAULT_FAIL, EAGAIN, false, ANSWERS},
    {CALL_WRITE, FAULT_SHORT, 0, false, ANSWERS},
    {CALL_WRITE, FAULT_SHORT, 0, true, ANSWERS},
    {CALL_WRITE, FAULT_NOTHING, 0, false, ANSWERS},
    {CALL_PART, FAULT_FAIL, ENOSPC, false, REFUSES},
    {CALL_PART, FAULT_FAIL, EIO, true, REFUSES},
    {CALL_PART, FAULT_FAIL, EINTR, false, ANSWERS},
    {CALL_PART, FAULT_SHORT, 0, false, ANSWERS},
    {CALL_PART, FAULT_SHORT, 0, true, ANSWERS},
    {CALL_PART, FAULT_NOTHING, 0, false, REFUSES},
    {CALL_SKIP, FAULT_FAIL, EIO, false, REFUSES},
    {CALL_CLOSE, FAULT_FAIL, EIO, false, ANSWERS},
    {CALL_FINISH, FAULT_FAIL, EIO, false, REFUSES},
    {CALL_FINISH, FAULT_FAIL, ENOSPC, false, REFUSES},
    {CALL_ACCESS, FAULT_FAIL, EACCES, false, REFUSES},
    {CALL_READLINK, FAULT_FAIL, EIO, false, REFUSES},
    {CALL_MKSTEMP, FAULT_FAIL, ENOSPC, false, REFUSES},
    {CALL_MKSTEMP, FAULT_FAIL, EACCES, false, REFUSES},
    {CALL_FCHMOD, FAULT_FAIL, EPERM, false, REFUSES},
    {CALL_FCHOWN, FAULT_FAIL, EPERM, false, ANSWERS},
    {CALL_UNNAMED, FAULT_FAIL, EOPNOTSUPP, false, ANSWERS},
    {CALL_UNNAMED, FAULT_FAIL, EMFILE, true, ANSWERS},
    {CALL_LINK, FAULT_FAIL, EIO, false, REFUSES},
    {CALL_LINK, FAULT_FAIL, ENOSPC, false, REFUSES},
    {CALL_LINK, FAULT_FAIL, EEXIST, false, ANSWERS},
    {CALL_LINK, FAULT_FAIL, EEXIST, true, REFUSES},
    {CALL_ROOM, FAULT_FAIL, ENOSPC, false, REFUSES},
    {CALL_ROOM, FAULT_FAIL, EDQUOT, false, REFUSES},
    {CALL_ROOM, FAULT_FAIL, EOPNOTSUPP, true, ANSWERS},
    {CALL_RENAME, FAULT_FAIL, EIO, false, REFUSES},
    {CALL_RENAME, FAULT_FAIL, ENOSPC, false, REFUSES},
    {CALL_THREAD, FAULT_FAIL, EAGAIN, false, ANSWERS},
    {CALL_THREAD, FAULT_FAIL, EAGAIN, true, ANSWERS},
    {CALL_LOCALE, FAULT_FAIL, ENOMEM, true, MAY_DIFFER}, /* every character is one column wide */
    {CALL_FOPEN, FAULT_FAIL, ENOMEM, false, ANSWERS},
    {CALL_LIMITS, FAULT_FAIL, EINVAL, false, ANSWERS},
};
enum { CASE_COUNT = sizeof CASES / sizeof CASES[0] };

/* How files are read and written in a run. */
enum way { MAPPED, UNMAPPED, NAMED, WAYS };

/* What a run without a fault gives: every other one is held to it. */
struct expected {
    int status;
    char *result;
    size_t length;
    long counts[CALL_COUNT + 1];
};

/* How a run ended. */
struct ended {
    int status, signal; /* signal: 0 where it ended by itself */
    char *result, *message;
    size_t length;
    bool there; /* the file that it writes */
    bool beside;
};

static struct {
    long failed[CALL_COUNT], calls, signals, cuts, recovered, refused, ended;
} injected;

static long stride = 1;

/* Whether the file system has files without a name. */
static bool unnamed;

/* Whether only Linux's ways make the call: base/system.h. */
static bool is_of_linux(int call)
{
#ifdef PORTABLE
    return call == CALL_UNNAMED || call == CALL_LINK;
#else
    (void)call;
    return false;
#endif
}

/* Whether this one is among those that the stride leaves out. */
static bool is_left_out(void)
{
    static long tickets;
    return ++tickets % stride != 0;
}

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static void write_file(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
        give_up(path);
}

static void copy_file(const char *from, const char *to)
{
    size_t length;
    char *bytes = support_bytes(from, &length);
    write_file(to, bytes, length);
    free(bytes);
}

/* What a child said; nothing where it ended, by a signal or for lack of memory, before it could. */
static char *read_message(size_t *length)
{
    if (access("stderr", F_OK) != 0)
        write_file("stderr", "", 0);
    return support_bytes("stderr", length);
}

/* Standard input, output and error of a child. */
static void redirect(const struct line *line)
{
    int ends[2];
    int in = open("/dev/null", O_RDONLY);
    if (line->piped != NULL) {
        size_t length;
        char *bytes = support_bytes(line->piped, &length);
        if (pipe(ends) != 0 || write(ends[1], bytes, length) != (ssize_t)length)
            _exit(99);
        close(ends[1]);
        free(bytes);
        in = ends[0];
    }
    const int out = open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int error = open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (in < 0 || out < 0 || error < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(error, 2) < 0)
        _exit(99);
    close(in);
    close(out);
    close(error);
}

/* The child's life: it ends without what a process does at its end, so that nothing of the parent's is written twice. */
static _Noreturn void live(const char *words)
{
    static const int OWN[] = {SIGINT, SIGTERM, SIGHUP, SIGBUS, SIGPIPE};
    static char text[512], *arguments[MOST_WORDS + 1] = {"attn"};
    int count = 1;
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok(text, " "); word != NULL && count < MOST_WORDS; word = strtok(NULL, " "))
        arguments[count++] = word;
    for (size_t i = 0; i < sizeof OWN / sizeof OWN[0]; i++)
        signal(OWN[i], SIG_DFL);
    alarm(SECONDS);
    cJSON_InitHooks(&(cJSON_Hooks){malloc, free}); /* those of this program, which can be made to fail */
    faults->armed = true;
    const int status = attn_main(count, arguments);
    faults->armed = false;
    _exit(status);
}

static pid_t start(const struct line *line)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0)
        give_up("fork");
    if (child > 0)
        return child;
    redirect(line);
    live(line->words);
}

static bool is_left_over(const char *folder)
{
    struct dirent **names;
    bool found = false;
    const int count = scandir(folder, &names, NULL, NULL);
    for (int i = 0; i < count; i++) {
        found |= strncmp(names[i]->d_name, ".attn.", 6) == 0;
        if (strncmp(names[i]->d_name, ".attn.", 6) == 0)
            unlink(names[i]->d_name);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return found;
}

static void finish(const struct line *line, pid_t child, struct ended *ended)
{
    int status;
    size_t length;
    const char *path = line->out != NULL ? line->out : "stdout";
    if (waitpid(child, &status, 0) != child)
        give_up("waitpid");
    faults->armed = false; /* where a signal ended it */
    *ended = (struct ended){.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                            .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                            .there = access(path, F_OK) == 0};
    ended->message = read_message(&length);
    if (ended->there)
        ended->result = support_bytes(path, &ended->length);
    ended->beside = is_left_over(".");
}

/* The files as they are before a run. */
static void prepare(const struct line *line)
{
    if (line->cut != NULL && line->original == NULL)
        copy_file("kept", line->cut);
    if (line->out == NULL)
        return;
    if (line->original == NULL)
        write_file(line->out, OLD, sizeof OLD - 1);
    else if (line->original[0] != '\0')
        copy_file(line->original, line->out);
    else
        unlink(line->out);
}

static void set_plan(enum fault_call call, enum fault_kind kind, long at, bool onwards, int code)
{
    memset(faults, 0, sizeof *faults);
    faults->call = call;
    faults->kind = kind;
    faults->at = at;
    faults->onwards = onwards;
    faults->code = code;
}

static void run(const struct line *line, struct ended *ended)
{
    prepare(line);
    finish(line, start(line), ended);
}

static void release(struct ended *ended)
{
    free(ended->result);
    free(ended->message);
}

static bool is_new(const struct ended *ended, const struct expected *expected)
{
    return ended->there && ended->length == expected->length &&
           memcmp(ended->result, expected->result, ended->length) == 0;
}

/* The file that was there, or the file that was not there; of standard output, the beginning of what is expected. */
static bool is_old(const struct line *line, const struct ended *ended, const struct expected *expected)
{
    if (line->out == NULL)
        return ended->length <= expected->length && memcmp(ended->result, expected->result, ended->length) == 0;
    if (line->original != NULL && line->original[0] == '\0')
        return !ended->there;
    size_t length = sizeof OLD - 1;
    char *original = line->original != NULL ? support_bytes(line->original, &length) : NULL;
    const bool same = ended->there && ended->length == length &&
                      memcmp(ended->result, original != NULL ? original : OLD, length) == 0;
    free(original);
    return same;
}

/* Whether each line of the output is as expected, or says that its own job failed for lack of something; a stream that
 * ends early may lack the last lines. */
static bool failed_by_line(const struct ended *ended, const struct expected *expected, enum answer answer)
{
    const char *line = ended->result, *right = expected->result;
    const char *end = line + ended->length, *right_end = right + expected->length;
    while (line < end && right < right_end) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        const char *right_next = memchr(right, '\n', (size_t)(right_end - right));
        if (next == NULL || right_next == NULL)
            return false;
        static const char ERROR[] = ",\"error\":{\"status\":3,";
        const bool same = next - line == right_next - right && memcmp(line, right, (size_t)(next - line)) == 0;
        if (!same && strncmp(line, "{\"line\":", 8) != 0)
            return false;
        if (!same && strncmp(line + 9, ERROR, sizeof ERROR - 1) != 0)
            return false;
        line = next + 1;
        right = right_next + 1;
    }
    return line == end && (right == right_end || answer == CUT_SHORT);
}

static void check_nothing_kept(const char *what, long at)
{
    CHECK(faults->blocks == 0 && faults->maps == 0 && faults->files == 0,
          "%s %ld: expected all given back, %ld blocks, %ld mappings and %ld files are not", what, at,
          (long)faults->blocks, (long)faults->maps, (long)faults->files);
}

/* A run that ended by itself. */
static void check_answer(const struct line *line, const struct ended *ended, const struct expected *expected,
                         enum answer answer, bool quiet, const char *what, long at)
{
    const bool some_lines =
        line->by_line && ended->status == (answer == CUT_SHORT ? 0 : 1) && failed_by_line(ended, expected, answer);
    const bool same =
        !some_lines && ended->status == expected->status && (answer == MAY_DIFFER || is_new(ended, expected));
    const bool refused = ended->status == (answer == CUT_SHORT ? 2 : 3);
    CHECK(ended->signal == 0, "%s %ld: expected an exit, got signal %d", what, at, ended->signal);
    CHECK(!ended->beside, "%s %ld: expected nothing beside the file", what, at);
    CHECK(some_lines || (answer != REFUSES && same) || (answer != ANSWERS && answer != MAY_DIFFER && refused),
          "%s %ld: expected %s, got status %d with %zu bytes: %s", what, at,
          answer == REFUSES   ? "status 3"
          : answer == ANSWERS ? "the result"
                              : "an error or the result",
          ended->status, ended->length, ended->message);
    if (refused) {
        CHECK(is_old(line, ended, expected) || (line->by_line && failed_by_line(ended, expected, CUT_SHORT)),
              "%s %ld: expected the file as it was", what, at);
        CHECK(quiet || strstr(ended->message, "attn: ") != NULL, "%s %ld: expected a message, got '%s'", what, at,
              ended->message);
    } else if (some_lines && answer != CUT_SHORT) {
        CHECK(strstr(ended->message, "attn: ") != NULL, "%s %ld: expected a message, got '%s'", what, at,
              ended->message);
    } else {
        CHECK(line->speaks || ended->message[0] == '\0', "%s %ld: expected no message, got '%s'", what, at,
              ended->message);
    }
    check_nothing_kept(what, at);
    injected.refused += refused;
    injected.recovered += !refused;
}

static void set_way(enum way way)
{
    faults->unmapped = way == UNMAPPED;
    faults->named = way == NAMED;
}

/* The way in which a call is made at all: files that are mapped are not read, and those without a name are not made by
 * mkstemp. */
static enum way way_of(enum fault_call call)
{
    return call == CALL_READ ? UNMAPPED : call == CALL_MKSTEMP ? NAMED : MAPPED;
}

static void run_case(const struct line *line, const struct expected *expected, size_t index, enum way way, long at)
{
    struct ended ended;
    char what[80];
    set_plan(CASES[index].call, CASES[index].kind, at, CASES[index].onwards, CASES[index].code);
    set_way(way);
    snprintf(what, sizeof what, "%s %s%s, call", FAULT_CALLS[CASES[index].call],
             CASES[index].kind == FAULT_SHORT     ? "short"
             : CASES[index].kind == FAULT_NOTHING ? "of nothing"
                                                  : strerrorname_np(CASES[index].code),
             CASES[index].onwards ? " onwards" : "");
    run(line, &ended);
    CHECK(faults->injected > 0, "%s %ld: expected the fault to happen", what, at);
    check_answer(line, &ended, expected, CASES[index].answer, CASES[index].code == EPIPE, what, at);
    injected.failed[CASES[index].call]++;
    injected.calls += CASES[index].call != CALL_ALLOCATE;
    release(&ended);
}

/* Every case that concerns a way; what is written by a name comes to its end otherwise. */
static void run_cases(const struct line *line, const struct expected *expected, enum way way)
{
    for (size_t i = 0; i < CASE_COUNT; i++) {
        const enum fault_call call = CASES[i].call;
        const bool concerns = way_of(call) == way || (way == NAMED && (call == CALL_RENAME || call == CALL_FINISH));
        const long count = concerns ? expected->counts[call] : 0;
        const long step = call == CALL_ALLOCATE && line->once ? 16 : 1;
        bool begun = false;
        for (long at = 1; at <= count; at += step) {
            if (is_left_out())
                continue;
            if (!begun)
                check_begin("%s: %s", line->words, FAULT_CALLS[call]);
            begun = true;
            run_case(line, expected, i, way, at);
        }
    }
}

/* A run that a signal ends, or that ends before it comes. */
static void check_ended(const struct line *line, const struct ended *ended, const struct expected *expected,
                        int signal_number, const char *what, long at)
{
    /* Only between two calls has a file that is to replace another one a name of its own, unless all files have one. */
    const bool named = faults->counts[CALL_LINK] > 1 || expected->counts[CALL_MKSTEMP] > 0;
    CHECK(!ended->beside || (signal_number == SIGKILL && named), "%s %ld: expected nothing beside the file", what, at);
    CHECK(ended->signal == signal_number || (ended->signal == 0 && ended->status == expected->status),
          "%s %ld: expected signal %d, got signal %d, status %d: %s", what, at, signal_number, ended->signal,
          ended->status, ended->message);
    CHECK(is_new(ended, expected) || is_old(line, ended, expected),
          "%s %ld: expected the old file or the new one, whole", what, at);
    injected.ended += ended->signal != 0;
}

static void run_signals(const struct line *line, const struct expected *expected, enum way way)
{
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGKILL};
    const long count = expected->counts[CALL_SYSTEM], step = line->once ? 4 : 1;
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        bool begun = false;
        for (long at = 1; at <= 2 * count; at += step) {
            struct ended ended;
            if (is_left_out() || (way == NAMED && SIGNALS[i] == SIGKILL))
                continue;
            if (!begun)
                check_begin("%s: SIG%s at every call%s", line->words, sigabbrev_np(SIGNALS[i]),
                            way == NAMED ? ", with a file that has a name" : "");
            begun = true;
            set_plan(CALL_SYSTEM, at % 2 ? FAULT_BEFORE : FAULT_AFTER, (at + 1) / 2, false, SIGNALS[i]);
            set_way(way);
            run(line, &ended);
            const bool happened = faults->injected > 0;
            CHECK(happened || line->once, "call %ld: expected the signal to come", at);
            if (SIGNALS[i] == SIGPIPE)
                check_answer(line, &ended, expected, ANSWERS, false, "SIGPIPE is ignored, call", at);
            else
                check_ended(line, &ended, expected, SIGNALS[i], "call", at);
            injected.signals += happened;
            release(&ended);
        }
    }
}

/* The input becomes empty while it is read: what is mapped ends the program with status 3 and its name. qemu-s390x gives a
 * handler the address of the fault with its halves exchanged, by which no file is found. */
static void run_cuts(const struct line *line, const struct expected *expected)
{
    bool missed = false, begun = false;
    const char *port = getenv("ATTN_PORT");
    if (port != NULL && strcmp(port, "s390x") == 0) {
        check_begin("%s: %s cut short", line->words, line->cut);
        check_skip("the emulator does not say where");
        return;
    }
    for (long at = 1; at <= expected->counts[CALL_SYSTEM]; at++) {
        struct ended ended;
        if (is_left_out())
            continue;
        if (!begun)
            check_begin("%s: %s cut short at every call", line->words, line->cut);
        begun = true;
        set_plan(CALL_SYSTEM, FAULT_CUT, at, false, 0);
        faults->path = line->cut;
        run(line, &ended);
        const bool emptied = line->original != NULL && ended.there && ended.length == 0;
        CHECK(!ended.beside, "call %ld: expected nothing beside the file", at);
        const bool cut = ended.status == 3 && strstr(ended.message, ": was cut short while it was read\n") != NULL;
        CHECK(ended.signal == 0 && (cut || ended.status == 2 || ended.status == expected->status),
              "call %ld: expected an error or the result, got signal %d, status %d: %s", at, ended.signal, ended.status,
              ended.message);
        CHECK(is_new(&ended, expected) || (ended.status >= 2 && (emptied || is_old(line, &ended, expected))),
              "call %ld: expected the old file or the new one, whole", at);
        missed |= cut;
        injected.cuts++;
        release(&ended);
    }
    CHECK(missed || stride > 1, "expected bytes that are missed at one of the calls");
}

/* A run as it should be. */
static void run_whole(const struct line *line, enum way way, struct expected *expected)
{
    struct ended ended;
    set_plan(CALL_SYSTEM, FAULT_NONE, 0, false, 0);
    set_way(way);
    run(line, &ended);
    CHECK(ended.signal == 0 && ended.status <= 1 && ended.there, "expected a result, got signal %d, status %d: %s",
          ended.signal, ended.status, ended.message);
    CHECK(line->speaks || ended.message[0] == '\0', "expected no message, got: %s", ended.message);
    check_nothing_kept("no fault", 0);
    expected->status = ended.status;
    expected->result = ended.result;
    expected->length = ended.length;
    for (int i = 0; i <= CALL_COUNT; i++)
        expected->counts[i] = faults->counts[i];
    unnamed |= expected->counts[CALL_LINK] > 0;
    free(ended.message);
}

static void run_line(const struct line *line)
{
    struct expected expected[WAYS];
    if (line->cut != NULL && line->original == NULL)
        copy_file(line->cut, "kept");
    check_begin("%s", line->words);
    for (int way = 0; way < WAYS; way++) {
        run_whole(line, (enum way)way, &expected[way]);
        CHECK(expected[way].length == expected[MAPPED].length &&
                  memcmp(expected[way].result, expected[MAPPED].result, expected[way].length) == 0,
              "expected the same bytes whether files are mapped or read, have a name or none");
    }
    for (int way = 0; way < WAYS; way++)
        run_cases(line, &expected[way], (enum way)way);
    run_signals(line, &expected[MAPPED], MAPPED);
    if (expected[NAMED].counts[CALL_MKSTEMP] > 0)
        run_signals(line, &expected[NAMED], NAMED);
    if (line->cut != NULL) {
        run_cuts(line, &expected[MAPPED]);
        if (line->original == NULL)
            copy_file("kept", line->cut);
    }
    for (int way = 0; way < WAYS; way++)
        free(expected[way].result);
}

/* Signals from outside, later and later. */
static void run_delays(const struct line *line)
{
    struct expected expected;
    if (line->cut != NULL)
        copy_file(line->cut, "kept");
    check_begin("%s: SIGTERM, SIGINT and SIGKILL after growing delays", line->words);
    run_whole(line, MAPPED, &expected);
    for (int i = 0; i < 60; i++) {
        struct ended ended;
        const int number = i % 3 == 0 ? SIGKILL : i % 3 == 1 ? SIGTERM : SIGINT;
        if (is_left_out())
            continue;
        set_plan(CALL_SYSTEM, FAULT_NONE, 0, false, 0);
        prepare(line);
        const pid_t child = start(line);
        usleep((useconds_t)(i * 150));
        kill(child, number);
        finish(line, child, &ended);
        /* It may come before the child has files or a command line of its own. */
        if (ended.length > 0 || faults->counts[CALL_SYSTEM] > 0)
            check_ended(line, &ended, &expected, number, "delay", i);
        injected.signals++;
        release(&ended);
    }
    free(expected.result);
}

/* Two command lines that write one file, four processes of each, at the same time. */
static void run_at_once(void)
{
    static const struct line BOTH[] = {{.words = "causal in.json -o out.json", .out = "out.json"},
                                       {.words = "self x.safetensors -o out.json", .out = "out.json"}};
    struct expected expected[2];
    check_begin("eight runs write the same file");
    for (int i = 0; i < 2; i++)
        run_whole(&BOTH[i], MAPPED, &expected[i]);
    for (int round = 0; round < 10; round++) {
        pid_t children[8];
        if (is_left_out())
            continue;
        set_plan(CALL_SYSTEM, FAULT_NONE, 0, false, 0);
        for (int i = 0; i < 8; i++)
            children[i] = start(&BOTH[i % 2]);
        for (int i = 0; i < 8; i++) {
            int status;
            CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0, "round %d: expected success", round);
        }
        struct ended ended = {.there = true, .result = support_bytes("out.json", &ended.length)};
        CHECK(is_new(&ended, &expected[0]) || is_new(&ended, &expected[1]), "round %d: expected one of them, whole",
              round);
        CHECK(!is_left_over("."), "round %d: expected nothing beside it", round);
        free(ended.result);
    }
    free(expected[0].result);
    free(expected[1].result);
}

/* In a process of its own: `change` makes the surroundings, in which the command line must end with status 3 and leave
 * the old file as it is. The test is skipped where `change` says that it may not. */
static void surround(const char *words, const char *out, bool (*change)(void), const char *says)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const struct line line = {.words = words, .out = out};
        redirect(&line);
        if (!change())
            _exit(77);
        set_plan(CALL_SYSTEM, FAULT_NONE, 0, false, 0);
        live(words);
    }
    int status = 0;
    size_t length;
    if (child < 0 || waitpid(child, &status, 0) != child)
        give_up("fork");
    faults->armed = false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        check_skip("this user may not make such surroundings here");
        return;
    }
    char *message = read_message(&length);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3, "expected status 3, got %d", status);
    CHECK(strstr(message, says) != NULL, "expected '%s', got '%s'", says, message);
    check_nothing_kept("it", 1);
    free(message);
}

static bool become_nobody(void)
{
    return geteuid() != 0 || (setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
}

static bool put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    return file != NULL && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* A space of its own to mount in; in that of a user who is not root, the only one there is has to be named. */
static bool enter_space(void)
{
    const unsigned user = geteuid(), group = getegid();
    char users[32], groups[32];
    snprintf(users, sizeof users, "%u %u 1", user, user);
    snprintf(groups, sizeof groups, "%u %u 1", group, group);
    if (user == 0)
        return unshare(CLONE_NEWNS) == 0;
    return unshare(CLONE_NEWNS | CLONE_NEWUSER) == 0 && put("/proc/self/setgroups", "deny") &&
           put("/proc/self/uid_map", users) && put("/proc/self/gid_map", groups);
}

/* A disk of one page, which the old file has. */
static bool fill_disk(void)
{
    if (!enter_space() || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "full", "tmpfs", 0, "size=4096,mode=777") != 0)
        return false;
    write_file("full/out.json", OLD, sizeof OLD - 1);
    return true;
}

static bool fill_nothing(void)
{
    return true;
}

static void check_old(const char *path)
{
    char *text = support_read(path);
    CHECK_TEXT(OLD, text);
    free(text);
}

static void run_surroundings(void)
{
    check_begin("a folder without permission");
    if (mkdir("locked", 0755) != 0 || mkdir("full", 0755) != 0)
        give_up("mkdir");
    write_file("locked/out.json", OLD, sizeof OLD - 1);
    chmod("locked/out.json", 0666);
    chmod("locked", 0555);
    surround("self in.json -o locked/out.json", "locked/out.json", become_nobody,
             "locked: cannot write to this directory");
    check_old("locked/out.json");
    check_begin("a new file in a folder without permission");
    surround("self in.json -o locked/new.json", "locked/new.json", become_nobody,
             "locked: cannot write to this directory");
    CHECK(access("locked/new.json", F_OK) != 0, "expected no file");
    check_begin("a file without permission");
    write_file("kept.json", OLD, sizeof OLD - 1);
    chmod("kept.json", 0444);
    surround("self in.json -o kept.json", "kept.json", become_nobody, "kept.json: Permission denied");
    check_old("kept.json");
    check_begin("an input without permission");
    write_file("secret.json", INPUT, sizeof INPUT - 1);
    chmod("secret.json", 0);
    surround("self secret.json -o kept.json", "kept.json", become_nobody, "secret.json: Permission denied");
    chmod("locked", 0755);
    check_begin("a full disk of one page");
    surround("self in.json -o full/out.json", "full/out.json", fill_disk, "No space left on device");
    check_begin("a full device");
    surround("self in.json -o /dev/full", "/dev/full", fill_nothing, "No space left on device");
}

/* A command line that makes a file that others read. */
static void make(const char *words, const char *out)
{
    struct ended ended;
    const struct line line = {.words = words, .out = out, .original = ""};
    set_plan(CALL_SYSTEM, FAULT_NONE, 0, false, 0);
    run(&line, &ended);
    CHECK(ended.status == 0, "expected %s, got: %s", out, ended.message);
    release(&ended);
}

static void make_long(void)
{
    FILE *file = fopen("long.json", "w");
    if (file == NULL)
        give_up("long.json");
    fputs("{\"inputs\": [", file);
    for (int i = 0; i < LONG_TOKENS; i++) {
        fprintf(file, "%s[", i > 0 ? ", " : "");
        for (int j = 0; j < LONG_COLUMNS; j++)
            fprintf(file, "%s%d", j > 0 ? ", " : "", (i * 7 + j * 5) % 13 - 6);
        fputs("]", file);
    }
    fputs("]}\n", file);
    fclose(file);
    make("self long.json --stages inputs -o long.npy", "long.npy");
}

/* A query, a key and a value of 2 x 2 in float32: 1 and 2, in little-endian order on every machine. */
static void make_operands(void)
{
    static const unsigned char NUMBERS[16] = {0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 0, 64, 0, 0, 128, 63};
    static const char HEADER[] = "{\"query\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
                                 "\"key\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[16,32]},"
                                 "\"value\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[32,48]}}";
    unsigned char file[8 + sizeof HEADER - 1 + 48] = {sizeof HEADER - 1};
    memcpy(file + 8, HEADER, sizeof HEADER - 1);
    for (size_t i = 0; i < 3; i++)
        memcpy(file + 8 + sizeof HEADER - 1 + i * sizeof NUMBERS, NUMBERS, sizeof NUMBERS);
    write_file("qkv.safetensors", (const char *)file, sizeof file);
}

/* Files that others made, read before this program goes to its folder. */
static struct {
    const char *path, *name;
    char *bytes;
    size_t length;
} given[] = {
    {"tests/golden/archive/parameters.pt", "w.pt", NULL, 0},
    {"tests/golden/archive/views.pt", "views.pt", NULL, 0},
    {"tests/golden/archive/arrays.npz", "arrays.npz", NULL, 0},
};
enum { GIVEN_COUNT = sizeof given / sizeof given[0] };

static void read_given(void)
{
    for (size_t i = 0; i < GIVEN_COUNT; i++)
        given[i].bytes = support_bytes(given[i].path, &given[i].length);
}

static void make_given(void)
{
    for (size_t i = 0; i < GIVEN_COUNT; i++) {
        write_file(given[i].name, given[i].bytes, given[i].length);
        free(given[i].bytes);
    }
}

static void make_files(void)
{
    static const char WIDE[] =
        "{\"tokens\": [\"\346\227\245\346\234\254\", \"\303\251\"], \"inputs\": [[1, 2], [3, 4]]}\n";
    check_begin("the files");
    write_file("in.json", INPUT, sizeof INPUT - 1);
    write_file("jobs.jsonl", JOBS, sizeof JOBS - 1);
    write_file("wide.json", WIDE, sizeof WIDE - 1);
    write_file("array.json", ARRAY, sizeof ARRAY - 1);
    write_file("cell.txt", CELL, sizeof CELL - 1);
    write_file("qkv.json", OPERANDS, sizeof OPERANDS - 1);
    make("self in.json --stages inputs -o x.npy", "x.npy");
    make("causal in.json -o x.safetensors", "x.safetensors");
    make("init multihead in.json -H 2 -d 4 -o w.safetensors", "w.safetensors");
    make_operands();
    make_given();
    make("causal in.json --stages query,scores,scaled,lse -o a.json", "a.json");
    make("causal in.json --stages scores -o a.npy", "a.npy");
    make("causal in.json -s 8 -o other.safetensors", "other.safetensors");
    make("causal in.json --stages context --part 1/2 -o p1.safetensors", "p1.safetensors");
    make("causal in.json --stages context --part 2/2 -o p2.safetensors", "p2.safetensors");
    make_long();
    if (symlink("target.json", "link.json") != 0)
        give_up("link.json");
}

/* In memory, where there is such a place: a disk would be waited for at every rename. */
static char folder[] = "/dev/shm/attn-faults.XXXXXX";
static pid_t test;

static const int ENDS[] = {SIGINT, SIGTERM, SIGHUP};
enum { END_COUNT = sizeof ENDS / sizeof ENDS[0] };

/* Who ends the test leaves no folder. A child that it has just started may still listen: it ends as it would. */
static void leave(int number)
{
    if (getpid() != test) {
        raise(number);
        return;
    }
    for (int i = 0; i < END_COUNT; i++)
        signal(ENDS[i], SIG_IGN); /* what comes twice does not end rm */
    execl("/bin/sh", "sh", "-c", "rm -rf \"$0\"; exit 1", folder, (char *)NULL);
    _exit(1);
}

static void listen_for_ends(void)
{
    const struct sigaction leaving = {.sa_handler = leave, .sa_flags = (int)SA_RESETHAND};
    test = getpid();
    for (int i = 0; i < END_COUNT; i++)
        sigaction(ENDS[i], &leaving, NULL);
}

int main(void)
{
    char command[sizeof folder + 16];
    if (getenv("FAULTS_STRIDE") != NULL && atol(getenv("FAULTS_STRIDE")) > 0)
        stride = atol(getenv("FAULTS_STRIDE"));
    if (stride > 1)
        printf("FAULTS_STRIDE: one in %ld of the faults\n", stride);
    faults = mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (access("/dev/shm", W_OK) != 0)
        strcpy(folder, "/tmp/attn-faults.XXXXXX");
    read_given();
    if (faults == MAP_FAILED || mkdtemp(folder) == NULL || chdir(folder) != 0 || chmod(folder, 0777) != 0)
        give_up(folder);
    listen_for_ends();
    umask(022);
    make_files();
    for (size_t i = 0; i < LINE_COUNT; i++)
        run_line(&LINES[i]);
    run_delays(&LINES[2]);
    run_delays(&LINES[LINE_COUNT - 5]);
    if (stride == 1)
        check_begin("every kind of call failed");
    for (int i = 0; i < CALL_COUNT; i++)
        CHECK(injected.failed[i] > 0 || stride > 1 || (i == CALL_LINK && !unnamed) || is_of_linux(i),
              "expected %s to fail somewhere; is it called by another name here?", FAULT_CALLS[i]);
    run_at_once();
    run_surroundings();
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (chdir("/") != 0 || system(command) != 0)
        give_up(folder);
    printf("faults: %ld allocations, %ld other calls, %ld signals, %ld cuts; %ld recovered, %ld refused, %ld ended by "
           "the signal\n",
           injected.failed[CALL_ALLOCATE], injected.calls, injected.signals, injected.cuts, injected.recovered,
           injected.refused, injected.ended);
    return check_end();
}
