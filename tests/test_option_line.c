/* SPDX-License-Identifier: MIT */
/* The command line of what was asked for: typed again it asks for the same, and a shell takes it as it stands. */
#include "check.h"
#include "cli/option_text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 40 };

/* The options of a command line whose words have blanks between them, which getopt may change. */
static bool parse(const char *line, char *words, struct options *options)
{
    char *argv[MOST_WORDS + 1] = {NULL};
    struct error error = {0};
    int argc = 0;
    strcpy(words, line);
    for (char *word = strtok(words, " "); word != NULL && argc < MOST_WORDS; word = strtok(NULL, " "))
        argv[argc++] = word;
    return CHECK(options_parse(options, argc, argv, &error) == STATUS_OK, "%s: %s", line, error.message);
}

static void check_line(const struct options *options, const char *expected)
{
    char bytes[OPTION_LINE_BYTES];
    struct text line = text_begin(bytes, sizeof bytes);
    options_command_line(options, &line);
    CHECK_TEXT(expected, bytes);
    CHECK(!line.cut, "expected it to fit");
}

/* What was typed gives that line, and that line itself again. */
static void check_typed(const char *typed, const char *expected)
{
    char words[OPTION_LINE_BYTES];
    struct options options;
    if (parse(typed, words, &options))
        check_line(&options, expected);
    if (parse(expected, words, &options))
        check_line(&options, expected);
}

static void try_lines(void)
{
    check_begin("the mechanism, the input, and what changes numbers, in the order of the table");
    check_typed("attn why causal --init rand -s 789 data/inputs.json --mine mine.json",
                "attn causal data/inputs.json -s 789 --init rand");
    check_begin("not what shows or makes it");
    check_typed("attn why self x.json --mine m -f json -o y.json --color never --progress never -t 2 --stages context "
                "--budget 3",
                "attn self x.json");
    check_typed("attn self x.json --heatmap --full --kernel fused --part 1/2", "attn self x.json");
    check_begin("standard input, named or not, and inputs that are drawn");
    check_typed("attn why self - --mine m", "attn self -");
    check_typed("attn why self --mine m --skip 0", "attn self --skip 0");
    check_typed("attn why sdpa --random_seed 7 --random 2x8x128x64 --mine m",
                "attn sdpa --random 2x8x128x64 --random-seed 7");
    check_begin("files");
    check_typed("attn why multihead -H 2 -i a.json --key-inputs - --weights=b.pt --mine m",
                "attn multihead a.json -w b.pt --key-inputs - -H 2");
    check_typed("attn why self --mine m --in -a.json", "attn self -i -a.json");
    check_begin("a flag, and one that is denied");
    check_typed("attn why multihead x --stacked --num-heads 2 --no-causal --mine m",
                "attn multihead x -H 2 --stacked --no-causal");
    check_typed("attn why multihead x --no-causal --causal --heads 4 --mine m", "attn multihead x -H 4 --causal");
    check_begin("numbers, choices and texts");
    check_typed("attn why causal x --dropout .50 --scale 1/8 --softcap -0 --window -1,0 --query 2,4-6 --dtype float64 "
                "--empty-row mean --seed 18446744073709551615 --mine m",
                "attn causal x -s 18446744073709551615 --dropout 0.5 --window -1,0 --scale 0.125 --softcap 0 "
                "--empty-row mean -q 2,4-6 --dtype f64");
    check_begin("mistakes, by their names");
    check_typed("attn causal x --mistake tiles_last_alone:8,scale_missing",
                "attn causal x --mistake scale-missing,tiles-last-alone:8");
}

/* What somebody else found: fields and origins that were never typed. */
static void try_changes(void)
{
    char words[OPTION_LINE_BYTES];
    struct options options;
    check_begin("options that were changed");
    if (!parse("attn why multihead x.json -H 2 --mine m -s 1", words, &options))
        return;
    options.seed = 789;
    options.skip = 48;
    options.stacked = true;
    options.mistakes[0] = (struct mistake_choice){MISTAKE_SCALE_MISSING, 0};
    options.mistakes[1] = (struct mistake_choice){MISTAKE_DRAW_ORDER, 1};
    options.mistake_count = 2;
    options.origin[OPTION_SKIP] = options.origin[OPTION_STACKED] = options.origin[OPTION_MISTAKE] = ORIGIN_COMMAND_LINE;
    check_line(&options,
               "attn multihead x.json -s 789 --skip 48 -H 2 --stacked --mistake scale-missing,draw-order:vkq");
    check_begin("what a file said is not told");
    options.origin[OPTION_SEED] = ORIGIN_FILE;
    options.origin[OPTION_SKIP] = ORIGIN_DEFAULT;
    check_line(&options, "attn multihead x.json -H 2 --stacked --mistake scale-missing,draw-order:vkq");
}

/* A mistake of each slot, those with the longest names. */
static void try_longest(void)
{
    char list[OPTION_TEXT_BYTES];
    struct options options = {0};
    check_begin("a mistake of each slot has room");
    for (int id = 0; id < MISTAKE_COUNT; id++) {
        struct mistake_choice *there = &options.mistakes[MISTAKES[id].slot];
        char name[MISTAKE_NAME_BYTES], longest[MISTAKE_NAME_BYTES];
        const struct mistake_choice choice = {(enum mistake)id, MISTAKES[id].number != NULL ? MISTAKES[id].to : 0};
        CHECK(strlen(mistake_text(choice, name)) + 2 < MISTAKE_NAME_BYTES, "%s has no room", name);
        if (MISTAKES[there->id].slot != MISTAKES[id].slot || strlen(name) > strlen(mistake_text(*there, longest)))
            *there = choice;
    }
    options.mistake_count = MISTAKE_SLOT_COUNT;
    const char *text = option_text(&options, OPTION_MISTAKE, list);
    const char *last = text != NULL ? strrchr(text, ',') : NULL;
    char name[MISTAKE_NAME_BYTES];
    CHECK_TEXT(mistake_text(options.mistakes[MISTAKE_SLOT_COUNT - 1], name), last != NULL ? last + 1 : "none");
}

/* What means something to a shell, and what would act on a terminal. */
static void try_words(void)
{
    static const struct {
        const char *word, *typed;
    } WORDS[] = {
        {"data/inputs-2_a.json", "data/inputs-2_a.json"},
        {"", "''"},
        {"my inputs.json", "'my inputs.json'"},
        {"it's.json", "'it'\\''s.json'"},
        {"$(touch x)`y`\"*?[a]~!#&;|<>{}\\", "'$(touch x)`y`\"*?[a]~!#&;|<>{}\\'"},
        {"=a", "'=a'"},
        {"~", "'~'"},
        {"na\xc3\xafve", "'na\xc3\xafve'"},
        {"a\nb", "$'a\\012b'"},
        {"\033[2J'\\x\xc3\xaf", "$'\\033[2J\\'\\\\x\xc3\xaf'"},
        {"\xff"
         "8",
         "$'\\3778'"},
        {"\xe2\x80\xae", "$'\\342\\200\\256'"},
    };
    struct options options = {.mechanism = MECHANISM_SELF};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        char expected[OPTION_LINE_BYTES];
        check_begin("the word %s", WORDS[i].typed);
        options.in = WORDS[i].word;
        snprintf(expected, sizeof expected, "attn self %s", WORDS[i].typed);
        check_line(&options, expected);
    }
    check_begin("what does not fit is cut, and said to be");
    char bytes[12];
    struct text line = text_begin(bytes, sizeof bytes);
    options_command_line(&options, &line);
    CHECK(line.cut, "expected no command line, got %s", bytes);
}

int main(void)
{
    try_lines();
    try_changes();
    try_longest();
    try_words();
    return check_end();
}
