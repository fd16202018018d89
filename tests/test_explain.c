/* SPDX-License-Identifier: MIT */
/* The arithmetic that --explain prints of the golden cases, read back from the page and worked out again.
 *
 * Each number is taken as what it may have been before it was rounded: half a unit of its last digit to either side. Two
 * sides of a relation must have a number in common, "=" must hold for the digits as they are, and "≈" must not. */
#include "base/output.h"
#include "check.h"
#include "explain/worked_line.h"
#include "model/stages.h"
#include "support.h"
#include "write/explain/write_explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ATTN_QUICK: every fourth golden case, every third number of the gradients. */
static bool sampled;

enum { LINE_BYTES = 4096, MOST_COLUMNS = 79, LABEL_INDENT = 4, LONGEST = 48 };

/* What float32 takes from a stage as it is stored, relative to it. */
static const long double STORED = 2e-7L;

/* --- a side of a relation ----------------------------------------------------------------------------------------- */

/* A number as it is printed, what it may be, and the smallest step of its digits. */
struct value {
    long double shown, low, high, step;
    char function; /* the first letter of one that was applied to `shown`, which is its argument; or 0 */
};

struct reader {
    const char *at;
    int precision;
    bool wrong;
};

static bool take(struct reader *reader, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    reader->at += strspn(reader->at, " ");
    return true;
}

/* Whole numbers and those with other than `precision` decimals are constants that were given, and exact. */
static struct value read_number(struct reader *reader)
{
    char *end;
    const long double shown = strtold(reader->at, &end);
    const char *point = memchr(reader->at, '.', (size_t)(end - reader->at));
    const size_t decimals = point != NULL ? strspn(point + 1, "0123456789") : 0;
    const char *exponent = memchr(reader->at, 'e', (size_t)(end - reader->at));
    const int power = exponent != NULL ? atoi(exponent + 1) : 0;
    long double half = 0.5L * powl(10, power - (int)decimals);
    if ((int)decimals != reader->precision)
        half = 0;
    reader->wrong = reader->wrong || end == reader->at;
    reader->at = end + strspn(end, " ");
    return (struct value){shown, shown - half, shown + half, powl(10, power - (int)decimals), 0};
}

static struct value from_corners(long double shown, const long double corners[4], long double step)
{
    struct value value = {shown, corners[0], corners[0], step, 0};
    for (int i = 1; i < 4; i++) {
        value.low = fminl(value.low, corners[i]);
        value.high = fmaxl(value.high, corners[i]);
    }
    return value;
}

static struct value multiply(struct value a, struct value b)
{
    const long double corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    return from_corners(a.shown * b.shown, corners, a.step * b.step);
}

static struct value divide(struct value a, struct value b)
{
    const long double corners[] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};
    return from_corners(a.shown / b.shown, corners, a.step * b.step);
}

static struct value add(struct value a, struct value b, int sign)
{
    struct value sum = {a.shown + sign * b.shown, a.low + b.low, a.high + b.high, fminl(a.step, b.step), 0};
    if (sign < 0) {
        sum.low = a.low - b.high;
        sum.high = a.high - b.low;
    }
    return sum;
}

static struct value read_sum(struct reader *reader);

/* exp, log or tanh of a sum: all of them grow with their argument. */
static struct value read_function(struct reader *reader, char name, long double (*function)(long double))
{
    struct value argument = read_sum(reader);
    reader->wrong = reader->wrong || !take(reader, ")");
    return (struct value){argument.shown, function(argument.low), function(argument.high), argument.step, name};
}

/* A number that is negative, or a sum. */
static struct value read_parentheses(struct reader *reader)
{
    const struct value sum = read_sum(reader);
    reader->wrong = reader->wrong || !take(reader, ")");
    return sum;
}

static struct value read_factor(struct reader *reader)
{
    if (take(reader, "("))
        return read_parentheses(reader);
    if (take(reader, "exp("))
        return read_function(reader, 'e', expl);
    if (take(reader, "log("))
        return read_function(reader, 'l', logl);
    if (take(reader, "tanh("))
        return read_function(reader, 't', tanhl);
    return read_number(reader);
}

static struct value read_term(struct reader *reader)
{
    struct value term = read_factor(reader);
    for (;;) {
        struct value factor;
        char function = term.function;
        if (take(reader, "x ")) {
            factor = read_factor(reader);
            function = factor.function != 0 ? factor.function : function;
            const long double argument = factor.function != 0 ? factor.shown : 0;
            term = multiply(term, factor);
            term.shown = factor.function != 0 ? argument : term.shown;
        } else if (take(reader, "/ ")) {
            term = divide(term, read_factor(reader));
        } else {
            return term;
        }
        term.function = function;
    }
}

/* "… 45 more terms: 1.2345 …" */
static struct value read_gap(struct reader *reader)
{
    const char *colon = strchr(reader->at, ':');
    if (colon == NULL) {
        reader->wrong = true;
        return (struct value){0};
    }
    reader->at = colon + 2;
    const struct value subtotal = read_number(reader);
    reader->wrong = reader->wrong || !take(reader, "…");
    return subtotal;
}

static struct value read_sum(struct reader *reader)
{
    struct value sum = read_term(reader);
    for (int sign; !reader->wrong;) {
        if (take(reader, "+ "))
            sign = 1;
        else if (take(reader, "- "))
            sign = -1;
        else
            break;
        const char function = sum.function;
        const struct value term = take(reader, "… ") ? read_gap(reader) : read_term(reader);
        const long double argument = function != 0 ? sum.shown : term.shown;
        sum = add(sum, term, sign);
        sum.function = function != 0 ? function : term.function;
        sum.shown = sum.function != 0 ? argument : sum.shown;
    }
    return sum;
}

/* --- the relations of a line -------------------------------------------------------------------------------------- */

/* Whether the digits on both sides are the same number: a step is the least that two of them can differ by. */
static bool same_digits(struct value left, struct value right)
{
    const bool at_zero = left.function != 0 && right.function == 0 && left.shown == 0;
    if (at_zero)
        return right.shown == (left.function == 'e' ? 1 : 0);
    return left.function == right.function && fabsl(left.shown - right.shown) < 1e-3L * fminl(left.step, right.step);
}

static void check_relation(const char *line, bool equal, struct value left, struct value right)
{
    const long double slack = STORED * (1 + fabsl(right.shown));
    CHECK(left.low <= right.high + slack && right.low <= left.high + slack,
          "%s\n  a side is from %.9Lg to %.9Lg, the next one from %.9Lg to %.9Lg", line, left.low, left.high, right.low,
          right.high);
    CHECK(equal == same_digits(left, right), "%s\n  expected %s", line, equal ? "≈" : "=");
}

/* The lines since the last heading, as they add up. */
struct page {
    int precision;
    struct value total;
    size_t relations, sums;
    size_t widest;                               /* columns of the longest line */
    double results[LONGEST * LONGEST * LONGEST]; /* the last number of each line of a stage that is looked for */
    size_t result_count;
    double last; /* what the last line comes to */
};

/* Reads "a x b ≈ c = d" and leaves what the last side is; *last is where its text begins. */
static struct value read_line(struct page *page, const char *line, const char *arithmetic, struct value side,
                              bool has_side, const char **last)
{
    struct reader reader = {arithmetic, page->precision, false};
    if (!has_side)
        side = read_sum(&reader);
    for (bool equal; (equal = take(&reader, "= ")) || take(&reader, "≈ ");) {
        *last = reader.at;
        const struct value right = read_sum(&reader);
        check_relation(line, equal, side, right);
        page->relations++;
        side = right;
    }
    const bool ends = *reader.at == '\0' || strncmp(reader.at, ", ", 2) == 0;
    CHECK(!reader.wrong && ends, "%s\n  expected arithmetic, got '%s'", line, reader.at);
    return side;
}

static void keep_result(struct page *page, const char *text)
{
    if (page->result_count < sizeof page->results / sizeof page->results[0])
        page->results[page->result_count] = strtod(text, NULL);
    page->result_count++;
}

/* A line and those that continue it. Lines of words have no arithmetic; notes are in parentheses. */
static void check_line(struct page *page, const char *line, bool sums_alone)
{
    const char *text = line + LABEL_INDENT;
    const char *gap = strstr(text, "  ");
    if (strncmp(text, "…", strlen("…")) == 0) {
        struct reader reader = {text, page->precision, false};
        if (strstr(text, "terms") != NULL)
            page->total = add(page->total, read_gap(&reader), 1);
        return;
    }
    if (text[0] == '(' && strstr(text, ": 0") != NULL && isnan(page->last)) /* and nothing else */
        page->last = 0;
    if (text[0] == '(' || gap == NULL)
        return;
    const bool sum = strncmp(text, "sum ", 4) == 0;
    const char *arithmetic = gap + strspn(gap, " "), *last = arithmetic;
    if (strncmp(arithmetic, "dropped: 0", 10) == 0 || strncmp(arithmetic, "masked: 0, since", 16) == 0)
        page->last = 0;
    if (strncmp(arithmetic, "-inf: ", 6) == 0 || strncmp(arithmetic, "dropped", 7) == 0 ||
        strncmp(arithmetic, "masked: ", 8) == 0)
        return;
    const struct value side = read_line(page, line, arithmetic, page->total, sum, &last);
    const char *clipped = strstr(arithmetic, ", clipped to ");
    page->sums += sum;
    page->last = strtod(last, NULL);
    if (sum == sums_alone && strncmp(text, "columns ", 8) != 0) /* which are the angle of a pair */
        keep_result(page, clipped != NULL ? clipped + strlen(", clipped to ") : last);
    page->total = sum ? (struct value){.step = 1} : add(page->total, side, 1);
}

/* "1 / sqrt(mean square 0.3542 + 1e-06) ≈ 1.6803" in the heading of a norm. */
static void check_factor(const struct page *page, const char *line)
{
    const double half = 0.5 * pow(10, -page->precision);
    const char *root = strstr(line, "1 / sqrt(");
    double square, eps, factor;
    if (root == NULL)
        return;
    root += strcspn(root + 1, "0123456789") + 1;
    CHECK(sscanf(root, "%lf + %lf) ≈ %lf", &square, &eps, &factor) == 3, "%s\n  expected a factor", line);
    CHECK(1 / sqrt(square + half + eps) - half <= factor * (1 + 1e-6) &&
              factor * (1 - 1e-6) <= 1 / sqrt(fmax(square - half, 0) + eps) + half,
          "%s\n  expected %g", line, 1 / sqrt(square + eps));
}

/* Whether the line goes on with the one before it. */
static bool continues(const char *line)
{
    const size_t blanks = strspn(line, " ");
    const char *text = line + blanks;
    return blanks > LABEL_INDENT && (strncmp(text, "+ ", 2) == 0 || strncmp(text, "- ", 2) == 0 ||
                                     strncmp(text, "= ", 2) == 0 || strncmp(text, "≈ ", strlen("≈ ")) == 0);
}

static size_t columns_of(const char *line)
{
    size_t columns = 0;
    for (; *line != '\0'; line++)
        columns += ((unsigned char)*line & 0xc0) != 0x80;
    return columns;
}

/* All of a page; results are those of the lines, or of the sums alone. */
static void check_page(struct page *page, char *text, bool sums_alone)
{
    char joined[LINE_BYTES] = "";
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        const size_t columns = columns_of(line);
        CHECK(columns <= MOST_COLUMNS, "%s\n  is longer than %d columns", line, MOST_COLUMNS);
        page->widest = columns > page->widest ? columns : page->widest;
        const size_t length = strlen(joined);
        if (continues(line)) {
            snprintf(joined + length, sizeof joined - length, " %s", line + strspn(line, " "));
            continue;
        }
        if (joined[0] != '\0')
            check_line(page, joined, sums_alone);
        joined[0] = '\0';
        if (strspn(line, " ") >= LABEL_INDENT)
            snprintf(joined, sizeof joined, "%s", line);
        else
            page->total = (struct value){.step = 1};
        check_factor(page, line);
        if (strstr(line, ": every key is masked: 0") != NULL)
            page->last = 0;
    }
    if (joined[0] != '\0')
        check_line(page, joined, sums_alone);
}

/* --- the golden cases --------------------------------------------------------------------------------------------- */

static struct page page;

/* Explains what the line asks for; false where that failed. */
static bool explain(struct made *made, const char *line, const char *json, bool full, bool sums_alone)
{
    static struct output output;
    size_t length;
    if (!CHECK(support_make(made, line, json) == STATUS_OK, "expected a result, got: %s", made->error.message))
        return false;
    const struct writing writing = {.result = &made->result,
                                    .output = &output,
                                    .arena = &made->arena,
                                    .error = &made->error,
                                    .precision = (int)made->options.precision,
                                    .full = full};
    page = (struct page){.precision = writing.precision, .total = {.step = 1}, .last = NAN};
    output_open_text(&output, &made->arena, &made->error);
    const enum status status = write_explanation(&writing, false);
    char *text = output_close_text(&output, &length);
    if (!CHECK(status == STATUS_OK && text != NULL, "expected a text, got: %s", made->error.message))
        return false;
    check_page(&page, text, sums_alone);
    return true;
}

/* Every number of a stage stands at the end of its line, in the order of the table. */
static void check_results(const char *line, const char *json, const char *stage)
{
    static double numbers[LONGEST * LONGEST * LONGEST];
    char words[SUPPORT_LINE_BYTES + 64], text[64];
    struct made made;
    snprintf(words, sizeof words, "%s --explain --stages %s", line, stage);
    if (explain(&made, words, json, true, strcmp(stage, "context") == 0)) {
        const size_t count = support_table_numbers(&made, support_table(&made, stage), numbers, sizeof numbers / 8);
        CHECK(count == page.result_count && count <= sizeof numbers / 8, "%s: expected %zu numbers, got %zu", stage,
              count, page.result_count);
        for (size_t i = 0; i < count && i < page.result_count; i++) {
            snprintf(text, sizeof text, "%.4f", numbers[i]);
            CHECK(fabs(page.results[i] - strtod(text, NULL)) < 1e-9, "%s[%zu]: expected %s, got %.4f", stage, i, text,
                  page.results[i]);
        }
    }
    arena_free(&made.arena);
}

static bool stage_is_there(const char *json, const char *stage)
{
    struct made made;
    const bool there =
        CHECK(support_make(&made, "multihead", json) == STATUS_OK, "expected a result, got: %s", made.error.message) &&
        support_table(&made, stage) != NULL;
    arena_free(&made.arena);
    return there;
}

static void check_case(const cJSON *golden, const char *name)
{
    static const char *const ADDED[] = {"", " -p 6", " --dtype f64 -p 2", " --softcap 0.7 --scale 0.3 --window 2,1"};
    static const char *const NAMES[] = {"query", "key", "value", "scores", "scaled", "context", "output"};
    const cJSON *settings = cJSON_GetObjectItemCaseSensitive(golden, "settings");
    const char *mechanism = cJSON_GetObjectItemCaseSensitive(settings, "mechanism")->valuestring;
    const size_t stages = strcmp(mechanism, "multihead") == 0 ? 7 : 6;
    char line[SUPPORT_LINE_BYTES], words[SUPPORT_LINE_BYTES + 64];
    struct made made;
    support_golden_line(mechanism, settings, line);
    cJSON_InitHooks(NULL);
    char *json = support_golden_input(golden, false);
    for (size_t i = 0; i < sizeof ADDED / sizeof ADDED[0]; i++) {
        check_begin("%s: %s --explain%s", name, line, ADDED[i]);
        snprintf(words, sizeof words, "%s --explain%s", line, ADDED[i]);
        if (explain(&made, words, json, false, false))
            CHECK(page.relations > 0 && page.sums > 0, "expected arithmetic and sums, got %zu and %zu", page.relations,
                  page.sums);
        arena_free(&made.arena);
    }
    check_begin("%s: every number of a stage has its line", name);
    for (size_t i = 0; i < stages; i++)
        check_results(line, json, NAMES[i]);
    free(json);
}

/* Norms, rotation, latents, bounds, T5's table, slopes, a scale on query: tests/blocks and the one of test_pairs. */
static void check_blocks(const char *path)
{
    static const char *const ADDED[] = {
        "",
        " -p 5",
        " --dtype f64 -p 2",
        " --rope pairs --rope-theta 2",
        " --query 2",
        " --explain=weights:%s2,1",
        " --explain=key:%s2,2",
        " --explain=query:%s2,1",
        " --explain=value:%s3,1",
    };
    static const char *const NAMES[] = {"normed",     "projected_query", "normed_query", "projected_key",
                                        "normed_key", "query",           "key",          "value",
                                        "scores",     "scaled",          "masked",       "output"};
    const bool batch = strstr(path, "latent") != NULL, seen = strstr(path, "relative") != NULL;
    char words[SUPPORT_LINE_BYTES], cell[64];
    struct made made;
    char *json = support_read(path);
    for (size_t i = 0; i < sizeof ADDED / sizeof ADDED[0]; i++) {
        snprintf(cell, sizeof cell, ADDED[i], batch ? "2,1," : "1,");
        check_begin("%s:%s", path, cell);
        snprintf(words, sizeof words, "multihead%s%s", strstr(cell, "explain") ? "" : " --explain", cell);
        if (explain(&made, words, json, false, false))
            CHECK(page.relations > 0, "expected arithmetic, got none");
        arena_free(&made.arena);
    }
    check_begin("%s: every number of a stage has its line", path);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (stage_is_there(json, NAMES[i]) && (strcmp(NAMES[i], "masked") != 0 || seen)) /* no line ends with -inf */
            check_results("multihead", json, NAMES[i]);
    free(json);
}

/* The reader of this test must not take for right what is wrong. */
static void check_reader(void)
{
    static const struct {
        const char *line;
        double left_low, right_high;
        bool same;
    } CASES[] = {
        {"0.5000 x 0.3000 = 0.1500", 0.14996, 0.15005, true},
        {"1.0000 - 0.2500 x (-2.0000) ≈ 1.5001", 1.49984, 1.50015, false},
        {"exp(0.5000 - 0.5000) = 1.0000", 0.9999, 1.00005, true},
        {"6 x tanh(0.3000 / 6) = 6 x tanh(0.0500)", 0.2997, 0.30005, true},
        {"0.1000 + … 3 more terms: 0.2000 … + 0.3000 = 0.6000", 0.59984, 0.60005, true},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        check_begin("the reader: %s", CASES[i].line);
        struct reader reader = {CASES[i].line, 4, false};
        const struct value left = read_sum(&reader);
        CHECK(take(&reader, "= ") || take(&reader, "≈ "), "expected a relation, got '%s'", reader.at);
        const struct value right = read_sum(&reader);
        CHECK(!reader.wrong && *reader.at == '\0', "expected the end, got '%s'", reader.at);
        CHECK(fabs((double)left.low - CASES[i].left_low) < 1e-5 &&
                  fabs((double)right.high - CASES[i].right_high) < 1e-5,
              "expected %g and %g, got %Lg and %Lg", CASES[i].left_low, CASES[i].right_high, left.low, right.high);
        CHECK(same_digits(left, right) == CASES[i].same, "expected %s", CASES[i].same ? "=" : "≈");
    }
}

static void check_width(void)
{
    struct made made;
    check_begin("terms go up to the last column");
    if (explain(&made, "self -d 5 -p 8 --explain --stages query", "{\"inputs\": [[1, 2, 3, 4, 5]]}", false, false))
        CHECK(page.widest == MOST_COLUMNS, "expected a line of %d columns, the longest has %zu", MOST_COLUMNS,
              page.widest);
    arena_free(&made.arena);
}

/* One line "x  a x b = c", and beneath it their sum. */
static void write_line(struct worked_line *lines, const char *a, const char *b, const char *c)
{
    worked_line_begin_sum(lines);
    worked_line_line(lines, 0, "x", 1);
    worked_line_number(lines, '+', a);
    worked_line_number(lines, 'x', b);
    worked_line_relation(lines);
    worked_line_number(lines, '+', c);
    worked_line_end(lines);
    worked_line_end_sum(lines, 0, c);
}

/* Numbers of a file that another program changes may be wider when they are written than they were when they were
 * measured: they stand where they come to stand, without blanks for what is missing. */
static void check_changed_numbers(void)
{
    struct worked_line lines;
    struct output output;
    struct arena arena = {0};
    struct error error = {0};
    size_t length;
    check_begin("numbers that have grown since they were measured");
    output_open_text(&output, &arena, &error);
    CHECK(worked_line_create(&lines, &output, 4, &arena, &error) == STATUS_OK, "expected a board, got: %s",
          error.message);
    worked_line_measure(&lines);
    write_line(&lines, "1", "2", "2");
    worked_line_print(&lines);
    write_line(&lines, "-100", "-2000", "200000");
    CHECK_TEXT("    x    -100 x (-2000) = 200000\n    sum        = 200000\n", output_close_text(&output, &length));
    arena_free(&arena);
}

/* --- gradients ---------------------------------------------------------------------------------------------------- */

static const char GRADIENT_INPUTS[] = "{\"tokens\": [\"a\", \"naïve\", \"c\"], \"inputs\": [[0.43, 0.15, 0.89], "
                                      "[0.55, -0.87, 0.66], [-0.57, 0.85, 1.64]]}";

static const char GRADIENT_BATCH[] =
    "{\"inputs\": [[[0.43, 0.15], [0.55, -0.87]], [[-0.57, 0.85], [1, 1]]], \"tokens\": [[\"a\", \"b\"], "
    "[\"c\", \"d\"]]}";

/* Parameters with a gate: of each column of a head, or of a head. */
#define GATED(gate)                                                                                             \
    "{\"inputs\": [[[0.43, 0.15], [0.55, -0.87]], [[-0.57, 0.85], [1, 1]]], \"W_query\": [[1, 0.5, -1, 0.25], " \
    "[0.5, 2, 0, 1]], \"W_key\": [[0.5, 1, 1, -0.25], [-1, 0.5, 2, 1]], \"W_value\": [[1, -0.5, 0.25, 2], "     \
    "[0.5, 1, -1, 0.5]], \"out_proj.weight\": [[1, 0.5, -1, 0.25], [-0.5, 2, 0.75, 1]], \"W_gate.weight\": " gate "}"
static const char GRADIENT_GATE[] = GATED("[[1, 0.5], [-0.5, 2], [0.25, -1], [0, 1.5]]");
static const char GRADIENT_HEAD_GATE[] = GATED("[[1, 0.5], [-0.5, 2]], \"W_gate.bias\": [0.5, -1]");
static const char GRADIENT_CROSS_GATE[] =
    GATED("[[1, 0.5], [-0.5, 2]], \"key_inputs\": [[[1, 0.5], [0.25, -1], [2, 1]], [[0.5, 0.5], [1, -1], [0, 1]]]");
static const char GRADIENT_WORDS[] =
    GATED("[[1, 0.5], [-0.5, 2]], \"unembedding\": [[0.5, -1, 2], [1, 0.25, -0.5]]");

/* Two items; two heads that share one of key and value; a row that sees nothing; numbers that are added; sinks. */
static const char GRADIENT_OPERANDS[] =
    "{\"query\": [[[[1, 0.5], [0.25, -1], [0.5, 2]], [[1, 1.5], [-0.25, 1], [0.5, -2]]], [[[2, 0.5], [1, 1], [0, 2]], "
    "[[1, 0], [0.75, 1], [0.5, -1]]]], \"key\": [[[[0.5, 1], [-1, 0.25], [2, 0.5]]], [[[1, 1], [-1, 2], [0.5, 0]]]], "
    "\"value\": [[[[1, 2], [3, 4], [-1, 0.5]]], [[[0, 2], [1, -1], [2, 1]]]], \"sinks\": [0.5, -0.25], "
    "\"alibi_slopes\": [0.5, 0.25], \"attn_mask\": [[0.5, 0, -1], [null, null, null], "
    "[0.25, null, 0]]}";

/* A number of attn_mask for each row, and one for each key of an item. */
static const char GRADIENT_OF_ROWS[] =
    "{\"query\": [[1, 0.5], [0.25, -1]], \"key\": [[0.5, 1], [-1, 0.25]], "
    "\"value\": [[1, 2], [3, 4]], \"sinks\": [0.5], \"attn_mask\": [[0.25], [-0.5]]}";
static const char GRADIENT_OF_KEYS[] =
    "{\"query\": [[[[1, 0.5], [0.25, -1]]], [[[1, 1], [0.5, -1]]]], \"key\": [[[[0.5, 1], [-1, 0.25]]], "
    "[[[0, 1], [-1, 2]]]], \"value\": [[[[1, 2], [3, 4]]], [[[-1, 2], [0, 4]]]], "
    "\"attn_mask\": [[[[0.25, 1]]], [[[-0.5, null]]]]}";

static const char GRADIENT_SEQUENCES[] =
    "{\"query\": [[[1, 0.5]], [[0.25, -1]], [[0.5, 2]], [[-1, 0.5]]], \"key\": [[[0.5, 1]], [[-1, 0.25]], "
    "[[2, 0.5]], [[1, 1]]], \"value\": [[[1, 2]], [[3, 4]], [[-1, 0.5]], [[0, 1]]], \"cu_seqlens_q\": [0, 1, 4]}";

/* The cell of a table's element: "grad_scaled:2,1,3". */
static void name_cell(const struct result_table *table, size_t element, char *cell, size_t size)
{
    size_t indices[TENSOR_RANK];
    for (size_t axis = table->rank; axis-- > 0;) {
        indices[axis] = element % table->shape[axis] + 1;
        element /= table->shape[axis];
    }
    int length = snprintf(cell, size, "%s", table->name);
    for (size_t axis = 0; axis < table->rank; axis++)
        length += snprintf(cell + length, size - (size_t)length, "%c%zu", axis == 0 ? ':' : ',', indices[axis]);
}

/* Each number of a gradient is what the explanation of its cell comes to, and that of all that it is made of holds. */
static void check_cells(const char *line, const char *json, const struct result_table *table, const double *numbers)
{
    size_t elements = 1;
    char words[SUPPORT_LINE_BYTES + 192], cell[96], text[64];
    struct made made;
    for (size_t axis = 0; axis < table->rank; axis++)
        elements *= table->shape[axis];
    for (size_t element = 0; element < elements; element += sampled ? 3 : 1) {
        name_cell(table, element, cell, sizeof cell);
        check_begin("%s --explain %s", line, cell);
        snprintf(words, sizeof words, "%s --stages %s --explain=%s", line, stage_name(table->stage), cell);
        snprintf(text, sizeof text, "%.4f", numbers[element]);
        if (explain(&made, words, json, true, false))
            CHECK(fabs(page.last - strtod(text, NULL)) < 1e-9, "expected %s, got %.4f", text, page.last);
        arena_free(&made.arena);
        snprintf(words, sizeof words, "%s --explain=%s", line, cell);
        explain(&made, words, json, element % 2 == 0, false);
        arena_free(&made.arena);
    }
}

/* Pages of all gradients of a job, of which the first leaves out what is in the middle. */
static void check_gradient_pages(const char *line, const char *json)
{
    static const char *const ADDED[] = {"", " --full", " -p 6 --dtype f64"};
    char words[SUPPORT_LINE_BYTES + 64];
    struct made made;
    for (size_t i = 0; i < sizeof ADDED / sizeof ADDED[0]; i++) {
        snprintf(words, sizeof words, "%s --explain%s", line, ADDED[i]);
        check_begin("%s", words);
        if (explain(&made, words, json, i > 0, false))
            CHECK(page.relations > 0 && page.sums > 0, "expected arithmetic and sums");
        arena_free(&made.arena);
    }
}

/* All gradients of a job that are explained, cell by cell; tables of others stay out of the pages. */
static void check_gradients(const char *options, const char *json)
{
    static double numbers[LONGEST * LONGEST];
    char line[SUPPORT_LINE_BYTES], words[SUPPORT_LINE_BYTES + 64], pages[SUPPORT_LINE_BYTES];
    size_t length = (size_t)snprintf(pages, sizeof pages, "%s --grad ones --stages ", options);
    struct made made;
    snprintf(line, sizeof line, "%s --grad ones", options);
    snprintf(words, sizeof words, "%s --explain", line);
    check_begin("%s", words);
    if (CHECK(support_make(&made, words, json) == STATUS_OK, "expected a result, got: %s", made.error.message))
        for (size_t i = 0; i < made.result.table_count; i++) {
            const struct result_table *table = &made.result.tables[i];
            const bool explained = STAGES[table->stage].backward && stage_is_explained(&made.problem, table->stage);
            struct parameter_place place;
            if (explained)
                length += (size_t)snprintf(pages + length, sizeof pages - length, "%s,", table->name);
            if (!explained && (table->stage != STAGE_GRAD_PARAMETERS ||
                               !parameters_find(&made.problem.parameters, made.problem.plan.stacked,
                                                table->name + strlen("grad_"), &place)))
                continue;
            support_table_numbers(&made, table, numbers, sizeof numbers / sizeof numbers[0]);
            check_cells(line, json, table, numbers);
        }
    arena_free(&made.arena);
    pages[length - 1] = '\0';
    check_gradient_pages(pages, json);
}

/* More queries, keys and columns than are shown without --full. */
static void check_long_gradients(void)
{
    enum { TOKENS = 15, COLUMNS = 13 };
    static char json[TOKENS * COLUMNS * 16];
    int length = snprintf(json, sizeof json, "{\"inputs\": [");
    for (int row = 0; row < TOKENS; row++)
        for (int column = 0; column < COLUMNS; column++)
            length += snprintf(json + length, sizeof json - (size_t)length, "%s%.3f%s", column == 0 ? "[" : "",
                               sin(row * 1.7 + column * 0.9),
                               column + 1 < COLUMNS ? ", "
                               : row + 1 < TOKENS   ? "], "
                                                    : "]]}");
    check_gradient_pages("causal -d 13 --grad ones --stages grad_value,grad_weights,grad_scaled,grad_query,grad_key",
                         json);
    check_gradient_pages("multihead -H 2 -d 26 --kv-heads 1 --grad ones --stages grad_context,grad_masked,grad_key",
                         json);
}

int main(void)
{
    struct dirent **entries;
    check_reader();
    check_width();
    check_changed_numbers();
    int count = scandir("tests/golden", &entries, support_is_golden, alphasort);
    check_begin("the golden cases are there");
    CHECK(count == 34, "expected 34 cases, got %d", count);
    sampled = getenv("ATTN_QUICK") != NULL;
    if (sampled)
        puts("ATTN_QUICK: every fourth golden case, every third number of the gradients");
    for (int i = 0; i < count; i++) {
        char path[300];
        snprintf(path, sizeof path, "tests/golden/%s", entries[i]->d_name);
        free(entries[i]);
        if (sampled && i % 4 != 0)
            continue;
        cJSON *golden = support_json(path);
        check_case(golden, strrchr(path, '/') + 1);
        cJSON_InitHooks(NULL);
        cJSON_Delete(golden);
    }
    free(entries);
    check_blocks("tests/pairs/inputs/blocks.json");
    check_blocks("tests/blocks/latent.json");
    check_blocks("tests/blocks/relative.json");
    check_blocks("tests/blocks/cross.json");
    check_gradients("causal --init rand", GRADIENT_INPUTS);
    check_gradients("self --softcap 0.3 --dropout 0.4 --dropout-seed 2 --scale 0.7", GRADIENT_INPUTS);
    check_gradients("multihead -H 2 -d 4 --window 1,0 --softcap 2 --dropout 0.3", GRADIENT_INPUTS);
    check_gradients("multihead -H 2 -d 4 --alibi slopes", GRADIENT_INPUTS);
    check_gradients("multihead -H 2 -d 4 --kv-heads 1 --qkv-bias --rope half --qk-norm rms", GRADIENT_INPUTS);
    check_gradients("self --dropout 0", GRADIENT_BATCH);
    check_gradients("self -d 4 --rope pairs-to-halves --scale-on query", GRADIENT_BATCH);
    check_gradients("multihead -H 2 -d 8 --rope half --rope-columns 2", GRADIENT_BATCH);
    check_gradients("self -d 2 --scale-on query", GRADIENT_BATCH);
    check_gradients("self -d 4 --rope pairs --query-growth 0.5,2", GRADIENT_BATCH);
    check_gradients("multihead -H 2 -d 4 --query-growth 0.7,1", GRADIENT_BATCH);
    check_gradients("multihead -H 2 -d 4 --stacked", GRADIENT_BATCH);
    check_gradients("multihead -H 2", GRADIENT_GATE);
    check_gradients("multihead -H 2", GRADIENT_HEAD_GATE);
    check_gradients("multihead -H 2 --no-causal", GRADIENT_CROSS_GATE);
    check_gradients("multihead -H 2", GRADIENT_WORDS);
    char *normed = support_read("tests/pairs/inputs/blocks.json");
    check_gradients("multihead", normed);
    free(normed);
    check_long_gradients();
    check_gradients("sdpa", GRADIENT_OPERANDS);
    check_gradients("sdpa --empty-row mean --softcap 3", GRADIENT_OPERANDS);
    check_gradients("sdpa --causal", GRADIENT_SEQUENCES);
    check_gradients("sdpa", GRADIENT_OF_ROWS);
    check_gradients("sdpa --causal", GRADIENT_OF_KEYS);
    return check_end();
}
