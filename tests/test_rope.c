/* SPDX-License-Identifier: MIT */
/* Rotary position embedding against transformers (tests/golden/make_rope.py), bit for bit where that is one number on
 * every machine, and against ONNX's node tests (tests/golden/onnx-rotary); what a rotation keeps; what is refused. */
#include "check.h"
#include "model/rope.h"
#include "support.h"
#include "tensor/tensor_bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { WIDTH = 16, MOST_POSITIONS = 8, MOST = 256 };

static const char *const KINDS[] = {ROPE_KINDS(CHOICE_WORD) NULL};
static const char *const ROUNDINGS_OF[] = {"once", "each", "cosine", "float", NULL};

static unsigned find(const char *const *words, const char *word)
{
    unsigned i = 0;
    while (words[i] != NULL && strcmp(words[i], word) != 0)
        i++;
    return i;
}

static const char *text_of(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static double number_of(const cJSON *object, const char *key)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

/* Decimals that stand for float32 numbers. */
static size_t numbers_of(const cJSON *object, const char *key, double *numbers)
{
    const size_t count = support_numbers(cJSON_GetObjectItemCaseSensitive(object, key), numbers, MOST);
    dtype_round(DTYPE_F32, numbers, memory_smaller(count, MOST));
    return count;
}

/* A rotation from settings and the text of a scaling. */
static enum status make(struct rope *rope, struct rope_settings settings, const char *scaling, size_t width,
                        size_t highest, struct arena *arena, struct error *error)
{
    enum status status = rope_scaling_parse("--rope-scaling", scaling, &settings.scaling, error);
    return status != STATUS_OK ? status : rope_create(rope, &settings, width, highest, arena, error);
}

/* --- transformers ------------------------------------------------------------------------------------------------ */

/* The same bits. (Of dynamic beyond `old`, PyTorch has powf, whose numbers are not the nearest float for 3 of 10000;
 * none of them is here.) */
static void check_frequencies(const cJSON *golden)
{
    const char *scaling = text_of(golden, "scaling");
    const size_t columns = (size_t)number_of(golden, "columns"), highest = (size_t)number_of(golden, "highest");
    const struct rope_settings settings = {.kind = ROPE_HALF, .theta = number_of(golden, "theta")};
    struct arena arena = {0};
    struct error error = {0};
    struct rope rope;
    double expected[MOST];
    check_begin("frequencies: %.40s, theta %g, %zu columns, to position %zu", scaling, settings.theta, columns,
                highest);
    if (CHECK(make(&rope, settings, scaling, columns, highest, &arena, &error) == STATUS_OK, "%s", error.message) &&
        CHECK(numbers_of(golden, "frequencies", expected) == columns / 2, "expected %zu numbers", columns / 2)) {
        CHECK(rope.attention == (float)number_of(golden, "attention"), "attention: expected %.9g, got %.9g",
              number_of(golden, "attention"), rope.attention);
        for (size_t i = 0; i < columns / 2; i++)
            CHECK(rope.frequencies[i] == expected[i], "frequency %zu: expected %.9g, got %.9g", i, expected[i],
                  rope.frequencies[i]);
    }
    arena_free(&arena);
}

/* The rows that a family turns: in bfloat16 the same bits; in float32, where cos and sin of 1 in 20 angles are not the
 * nearest float in PyTorch, within 5e-7. */
static void check_rotation(const cJSON *golden, const cJSON *rows)
{
    const enum dtype dtype = dtype_find(dtype_name, text_of(golden, "dtype"));
    const enum rope_rounding rounding = find(ROUNDINGS_OF, text_of(golden, "rounding"));
    const struct rope_settings settings = {
        .kind = find(KINDS, text_of(golden, "kind")),
        .theta = number_of(golden, "theta"),
        .columns = (size_t)number_of(golden, "columns"),
        .last = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(golden, "last")),
    };
    double positions[MOST], x[MOST], expected[MOST], y[WIDTH];
    struct arena arena = {0};
    struct error error = {0};
    struct rope rope;
    check_begin("rotation of %s in %s", text_of(golden, "family"), dtype_name(dtype));
    const size_t count = numbers_of(rows, "positions", positions);
    CHECK(count == MOST_POSITIONS && numbers_of(rows, "x", x) == count * WIDTH &&
              numbers_of(golden, "turned", expected) == count * WIDTH,
          "expected %d rows of %d numbers", MOST_POSITIONS, WIDTH);
    if (CHECK(make(&rope, settings, text_of(golden, "scaling"), WIDTH, (size_t)positions[count - 1], &arena, &error) ==
                  STATUS_OK,
              "%s", error.message))
        for (size_t row = 0; row < count; row++) {
            rope_row(&rope, (size_t)positions[row], rounding, dtype, x + row * WIDTH, y);
            dtype_round(dtype, y, WIDTH);
            for (size_t i = 0; i < WIDTH; i++)
                CHECK(fabs(y[i] - expected[row * WIDTH + i]) <= (dtype == DTYPE_F32 ? 5e-7 : 0),
                      "position %.0f, column %zu: expected %.9g, got %.9g", positions[row], i,
                      expected[row * WIDTH + i], y[i]);
        }
    arena_free(&arena);
}

static void check_transformers(void)
{
    cJSON *golden = support_json("tests/golden/rope/frequencies.json"), *item;
    int cases = 0, families = 0;
    cJSON_ArrayForEach(item, golden)
    {
        check_frequencies(item);
        cases++;
    }
    cJSON_Delete(golden);
    golden = support_json("tests/golden/rope/rotations.json");
    const cJSON *rows = NULL;
    cJSON_ArrayForEach(item, golden)
    {
        if (text_of(item, "family") == NULL)
            rows = item;
        else
            check_rotation(item, rows);
        families += text_of(item, "family") != NULL;
    }
    cJSON_Delete(golden);
    check_begin("every case of transformers");
    CHECK(cases == 30, "expected 30 cases of frequencies, got %d", cases);
    CHECK(families == 22, "expected 11 families in 2 dtypes, got %d", families);
}

/* --- ONNX -------------------------------------------------------------------------------------------------------- */

/* A .safetensors as it is: its names are none that attn reads. */
struct frozen {
    char *bytes;
    const unsigned char *data;
    cJSON *header;
    struct arena arena; /* of the numbers */
};

static void frozen_read(struct frozen *frozen, const char *name, const char *suffix)
{
    char path[160];
    size_t length, header = 0;
    snprintf(path, sizeof path, "tests/golden/onnx-rotary/%s%s", name, suffix);
    frozen->bytes = support_bytes(path, &length);
    for (size_t i = 0; i < 4; i++)
        header |= (size_t)(unsigned char)frozen->bytes[i] << 8 * i;
    frozen->data = (const unsigned char *)frozen->bytes + 8 + header;
    frozen->header = cJSON_ParseWithLengthOpts(frozen->bytes + 8, header, NULL, false);
}

static void frozen_free(struct frozen *frozen)
{
    cJSON_Delete(frozen->header);
    free(frozen->bytes);
    arena_free(&frozen->arena);
}

/* The numbers of a tensor, and its shape; NULL where there is none. */
static double *frozen_numbers(struct frozen *frozen, const char *name, struct tensor *tensor)
{
    const cJSON *entry = cJSON_GetObjectItemCaseSensitive(frozen->header, name);
    double shape[TENSOR_RANK], ends[2];
    struct error error = {0};
    if (entry == NULL)
        return NULL;
    support_numbers(cJSON_GetObjectItemCaseSensitive(entry, "data_offsets"), ends, 2);
    struct tensor_bytes bytes = {
        .bytes = frozen->data + (size_t)ends[0],
        .dtype = dtype_find(dtype_safetensors, text_of(entry, "dtype")),
        .rank = support_numbers(cJSON_GetObjectItemCaseSensitive(entry, "shape"), shape, TENSOR_RANK),
    };
    for (size_t i = 0; i < bytes.rank; i++)
        bytes.shape[i] = (size_t)shape[i];
    CHECK(tensor_bytes_tensor(&bytes, tensor, &frozen->arena, &error) == STATUS_OK, "%s", error.message);
    double *numbers = arena_allocate(&frozen->arena, tensor_count(tensor), sizeof *numbers, NULL);
    tensor_load(tensor, 0, tensor_count(tensor), numbers);
    return numbers;
}

/* A case of tests/golden/onnx-rotary: its tensors, and which columns of a head are turned. */
struct onnx {
    struct rope rope;
    size_t items, heads, tokens;
    bool packed; /* heads lie side by side: (B, T, H d), else (B, H, T, d) */
    double *x, *cosines, *sines, *positions, *expected;
};

static size_t row_of(const struct onnx *onnx, size_t item, size_t head, size_t token)
{
    return onnx->packed ? (item * onnx->tokens + token) * onnx->heads + head
                        : (item * onnx->heads + head) * onnx->tokens + token;
}

/* The caches are drawn: no rotation by an angle, but the same products. They have a row a position, or a row a token of
 * each item. Each product and each sum is float32: the bits of NumPy. */
static void check_onnx_rows(const struct onnx *onnx)
{
    const size_t d = onnx->rope.width, half = onnx->rope.columns / 2;
    double y[WIDTH];
    for (size_t item = 0; item < onnx->items; item++)
        for (size_t head = 0; head < onnx->heads; head++)
            for (size_t token = 0; token < onnx->tokens; token++) {
                const size_t at = item * onnx->tokens + token, row = row_of(onnx, item, head, token) * d;
                const size_t turn = (onnx->positions != NULL ? (size_t)onnx->positions[at] : at) * half;
                rope_rotate(&onnx->rope, onnx->cosines + turn, onnx->sines + turn, ROPE_ROUNDING_EACH, DTYPE_F32,
                            onnx->x + row, y);
                for (size_t i = 0; i < d; i++)
                    CHECK(y[i] == onnx->expected[row + i],
                          "item %zu, head %zu, token %zu, column %zu: expected %.9g, got %.9g", item, head, token, i,
                          onnx->expected[row + i], y[i]);
            }
}

/* "NAME KIND COLUMNS HEADS ...", a line of cases.txt. */
static void check_onnx_case(const char *line)
{
    char name[64] = "", kind[16] = "";
    struct rope_settings settings = {.theta = 10000};
    struct onnx onnx = {0};
    struct frozen given = {0}, expected = {0};
    struct tensor input = {0}, other;
    struct error error = {0};
    const int words = sscanf(line, "%63s %15s %zu %zu", name, kind, &settings.columns, &onnx.heads);
    check_begin("ONNX: %s", name);
    settings.kind = find(KINDS, kind);
    frozen_read(&given, name, ".safetensors");
    frozen_read(&expected, name, ".expected.safetensors");
    onnx.expected = frozen_numbers(&expected, "output", &other);
    onnx.x = frozen_numbers(&given, "input", &input);
    onnx.cosines = frozen_numbers(&given, "cos_cache", &other);
    onnx.sines = frozen_numbers(&given, "sin_cache", &other);
    onnx.positions = frozen_numbers(&given, "position_ids", &other);
    if (CHECK(words == 4 && onnx.expected != NULL && onnx.x != NULL && onnx.cosines != NULL && onnx.sines != NULL,
              "a word or a tensor is missing: %s", line)) {
        onnx.packed = input.rank == 3;
        onnx.items = input.shape[0];
        onnx.tokens = input.shape[onnx.packed ? 1 : 2];
        const size_t width = input.shape[input.rank - 1] / (onnx.packed ? onnx.heads : 1);
        if (CHECK(width <= WIDTH && rope_create(&onnx.rope, &settings, width, 0, &given.arena, &error) == STATUS_OK,
                  "width %zu: %s", width, error.message))
            check_onnx_rows(&onnx);
    }
    frozen_free(&given);
    frozen_free(&expected);
}

static void check_onnx(void)
{
    char *cases = support_read("tests/golden/onnx-rotary/cases.txt");
    int count = 0;
    for (char *line = strtok(cases, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        check_onnx_case(line);
        count++;
    }
    check_begin("every case of ONNX");
    CHECK(count == 8, "expected 8 cases, got %d", count);
    free(cases);
}

/* --- in double --------------------------------------------------------------------------------------------------- */

enum { DOUBLE_COLUMNS = 8, DOUBLE_POSITION = 999983 };

/* Theta 500000: the frequencies, and the cosines times `attention` at DOUBLE_POSITION, by arithmetic of 50 digits. */
static const struct {
    const char *scaling;
    double frequencies[DOUBLE_COLUMNS / 2], cosines[DOUBLE_COLUMNS / 2];
} IN_DOUBLE[] = {
    {"none",
     {1, 0.037606030930863933, 0.001414213562373095, 5.3182958969449883e-05},
     {0.078723032823, 0.864035551406, 0.890284587507, -0.974789588546}},
    {"linear:factor=3",
     {0.33333333333333331, 0.012535343643621312, 0.00047140452079103169, 1.7727652989816629e-05},
     {-0.026265169965, 0.984577324217, 0.987605410424, 0.433697296360}},
    {"dynamic:factor=2,old=2048",
     {1, 0.0037917653324214253, 1.4377484336152962e-05, 5.451604667325687e-08},
     {0.078723032823, -0.979775381698, -0.237773511869, 0.998514418822}},
    {"llama3:factor=8,low=1,high=4,old=8192",
     {1, 0.037606030930863933, 0.00052484616099295468, 6.6478698711812354e-06},
     {0.078723032823, 0.864035551406, -0.981764455761, 0.934276610271}},
    {"llama3:factor=8,low=1,high=4,old=100",
     {1, 0.0047007538663579916, 0.00017677669529663688, 6.6478698711812354e-06},
     {0.078723032823, 0.658973000793, 0.664104069741, 0.934276610271}},
    {"yarn:factor=40,old=4096",
     {1, 0.019273090852067767, 3.5355339059327377e-05, 1.3295739742362472e-06},
     {0.107763010657, -0.842610794466, -0.956440778467, 0.327043365697}},
    {"longrope:old=4096,max=131072,short=1;1;1;1,long=1.1;1.3;2.7;5.9",
     {0.90909090909090906, 0.028927716100664566, 0.00052378280087892414, 9.0140608422796418e-06},
     {0.713053738199, 1.007913499262, -0.765606320023, -1.091178773590}},
};

/* Frequencies within a few last places of a double, cosines within a million times as much, as the angle is that large.
 * In float32 the cosines are off by up to 1e-2. */
static void check_double(void)
{
    const struct rope_settings settings = {.kind = ROPE_HALF, .theta = 500000, .in_double = true};
    for (size_t i = 0; i < COUNT(IN_DOUBLE); i++) {
        struct arena arena = {0};
        struct error error = {0};
        struct rope rope;
        check_begin("in double: %s", IN_DOUBLE[i].scaling);
        const bool made =
            make(&rope, settings, IN_DOUBLE[i].scaling, DOUBLE_COLUMNS, DOUBLE_POSITION, &arena, &error) == STATUS_OK;
        CHECK(made, "%s", error.message);
        for (size_t pair = 0; made && pair < DOUBLE_COLUMNS / 2; pair++) {
            const double frequency = IN_DOUBLE[i].frequencies[pair], cosine = IN_DOUBLE[i].cosines[pair];
            const struct rope_turn turn = rope_turn(&rope, DOUBLE_POSITION, pair, ROPE_ROUNDING_ONCE, DTYPE_F64);
            CHECK(fabs(rope.frequencies[pair] / frequency - 1) < 1e-15, "frequency %zu: expected %.17g, got %.17g",
                  pair, frequency, rope.frequencies[pair]);
            CHECK(fabs(turn.cosine - cosine) < 1e-9, "cosine %zu: expected %.12f, got %.12f", pair, cosine,
                  turn.cosine);
            CHECK(fabs(turn.cosine * turn.cosine + turn.sine * turn.sine - rope.attention * rope.attention) < 1e-15,
                  "pair %zu: cosine %.17g and sine %.17g are not of one angle", pair, turn.cosine, turn.sine);
        }
        arena_free(&arena);
    }
}

/* --- what a rotation keeps --------------------------------------------------------------------------------------- */

/* The same numbers on every machine, between -1 and 1. */
static void draw(double *numbers, size_t count)
{
    static uint32_t state = 14;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        numbers[i] = (double)state * 0x1p-31 - 1;
    }
}

static double dot(const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < WIDTH; i++)
        sum += a[i] * b[i];
    return sum;
}

static void check_kept(const struct rope *rope, const char *name)
{
    static const size_t DISTANCES[] = {0, 1, 5, 300};
    double query[WIDTH], key[WIDTH], a[WIDTH], b[WIDTH], expected = 0;
    draw(query, WIDTH);
    draw(key, WIDTH);
    rope_row(rope, 0, ROPE_ROUNDING_ONCE, DTYPE_F64, query, a);
    for (size_t pair = 0; pair < rope->columns / 2; pair++) {
        const struct rope_pair at = rope_pair(rope, pair);
        for (size_t i = 0; i < 2; i++)
            CHECK(a[at.to[i]] == query[at.from[i]], "%s, position 0, pair %zu: expected %.17g, got %.17g", name, pair,
                  query[at.from[i]], a[at.to[i]]);
    }
    for (size_t position = 1; position <= 100000; position *= 10) {
        rope_row(rope, position, ROPE_ROUNDING_ONCE, DTYPE_F64, query, a);
        CHECK(fabs(dot(a, a) - dot(query, query)) < 1e-6, "%s, position %zu: expected a square of %.9g, got %.9g", name,
              position, dot(query, query), dot(a, a));
    }
    for (size_t i = 0; i < COUNT(DISTANCES); i++)
        for (size_t position = 0; position <= 1000; position += 250) {
            rope_row(rope, position + DISTANCES[i], ROPE_ROUNDING_ONCE, DTYPE_F64, query, a);
            rope_row(rope, position, ROPE_ROUNDING_ONCE, DTYPE_F64, key, b);
            if (position == 0)
                expected = dot(a, b);
            CHECK(fabs(dot(a, b) - expected) < 2e-4,
                  "%s, position %zu, distance %zu: expected a score of %.9g, got %.9g", name, position, DISTANCES[i],
                  expected, dot(a, b));
        }
}

/* Position 0 changes nothing but the place, lengths stay, a score depends on the distance alone: but for the angles,
 * which are float32, 6e-5 off at position 1300. */
static void check_properties(void)
{
    struct arena arena = {0};
    struct error error = {0};
    for (enum rope_kind kind = ROPE_HALF; kind < ROPE_KIND_COUNT; kind++)
        for (size_t columns = 2; columns <= WIDTH; columns += 2)
            for (int last = 0; last < 2; last++) {
                const struct rope_settings settings = {
                    .kind = kind, .theta = 10000, .columns = columns, .last = last != 0};
                struct rope rope;
                check_begin("%s of the %s %zu columns", KINDS[kind], last ? "last" : "first", columns);
                if (CHECK(rope_create(&rope, &settings, WIDTH, 100000, &arena, &error) == STATUS_OK, "%s",
                          error.message))
                    check_kept(&rope, KINDS[kind]);
            }
    arena_free(&arena);
}

/* Which numbers meet: those of pair 1 of 4 columns among 6. */
static void check_pairs(void)
{
    static const struct {
        enum rope_kind kind;
        bool last;
        size_t from[2], to[2];
    } CASES[] = {
        {ROPE_HALF, false, {1, 3}, {1, 3}},
        {ROPE_HALF, true, {3, 5}, {3, 5}},
        {ROPE_PAIRS, false, {2, 3}, {2, 3}},
        {ROPE_PAIRS, true, {4, 5}, {4, 5}},
        {ROPE_PAIRS_TO_HALVES, false, {2, 3}, {1, 3}},
        {ROPE_PAIRS_TO_HALVES, true, {4, 5}, {3, 5}},
    };
    struct arena arena = {0};
    struct error error = {0};
    check_begin("the columns of a pair");
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct rope_settings settings = {
            .kind = CASES[i].kind, .theta = 10000, .columns = 4, .last = CASES[i].last};
        struct rope rope;
        if (!CHECK(rope_create(&rope, &settings, 6, 9, &arena, &error) == STATUS_OK, "%s", error.message))
            continue;
        const struct rope_pair pair = rope_pair(&rope, 1);
        CHECK(memcmp(pair.from, CASES[i].from, sizeof pair.from) == 0 &&
                  memcmp(pair.to, CASES[i].to, sizeof pair.to) == 0,
              "case %zu: expected %zu, %zu -> %zu, %zu; got %zu, %zu -> %zu, %zu", i, CASES[i].from[0],
              CASES[i].from[1], CASES[i].to[0], CASES[i].to[1], pair.from[0], pair.from[1], pair.to[0], pair.to[1]);
    }
    arena_free(&arena);
}

/* The angle is a product of two float32, and cos and sin are those of that number, times `attention`. */
static void check_turns(void)
{
    const struct rope_settings settings = {.kind = ROPE_PAIRS, .theta = 10000};
    double cosines[2], sines[2], cosine, sine;
    struct arena arena = {0};
    struct error error = {0};
    struct rope rope;
    check_begin("turns");
    CHECK(make(&rope, settings, "yarn:factor=1,old=1000000,attention=1.5", 4, 1 << 25, &arena, &error) == STATUS_OK,
          "%s", error.message);
    for (size_t position = 0; position <= 1 << 25; position = position * 7 + 1) {
        rope_turns(&rope, position, ROPE_ROUNDING_EACH, DTYPE_BF16, cosines, sines);
        for (size_t pair = 0; pair < 2; pair++) {
            const struct rope_turn turn = rope_turn(&rope, position, pair, ROPE_ROUNDING_EACH, DTYPE_BF16);
            const float angle = (float)position * (pair == 0 ? 1.0F : 0.01F);
            cosine = (double)((float)cos((double)angle) * 1.5F);
            sine = (double)((float)sin((double)angle) * 1.5F);
            CHECK(turn.angle == (double)angle, "position %zu, pair %zu: expected %.9g, got %.9g", position, pair,
                  (double)angle, turn.angle);
            dtype_round(DTYPE_BF16, &cosine, 1);
            dtype_round(DTYPE_BF16, &sine, 1);
            CHECK(turn.cosine == cosine && turn.sine == sine && cosines[pair] == cosine && sines[pair] == sine,
                  "position %zu, pair %zu: expected %.9g and %.9g, got %.9g and %.9g, and %.9g and %.9g", position,
                  pair, cosine, sine, turn.cosine, turn.sine, cosines[pair], sines[pair]);
        }
    }
    arena_free(&arena);
}

/* Without a rotation a row is copied. */
static void check_none(void)
{
    const struct rope_settings settings = {.kind = ROPE_NONE, .columns = 7};
    struct arena arena = {0};
    struct error error = {0};
    struct rope rope;
    double x[3] = {1, 2, 3}, y[3] = {0};
    check_begin("no rotation");
    CHECK(rope_create(&rope, &settings, 3, 5, &arena, &error) == STATUS_OK, "%s", error.message);
    rope_row(&rope, 5, ROPE_ROUNDING_EACH, DTYPE_BF16, x, y);
    CHECK(memcmp(x, y, sizeof x) == 0, "expected 1, 2, 3; got %g, %g, %g", y[0], y[1], y[2]);
    arena_free(&arena);
}

/* --- what is refused --------------------------------------------------------------------------------------------- */

static const struct {
    const char *scaling, *message;
} TEXTS[] = {
    {"lama3:factor=8", "unknown scaling 'lama3'; did you mean 'llama3'? expected none, linear, dynamic, llama3, yarn, "
                       "longrope or proportional"},
    {"", "unknown scaling ''; expected none, linear, dynamic, llama3, yarn, longrope or proportional"},
    {"linear", "linear lacks factor; expected such as linear:factor=8"},
    {"linear:", "linear: '' is no key=value; expected such as linear:factor=8"},
    {"linear:factor", "linear: 'factor' is no key=value; expected such as linear:factor=8"},
    {"linear:factor=8,", "linear: '' is no key=value; expected such as linear:factor=8"},
    {"linear:factor=8,factor=8", "linear: 'factor' is given twice; expected it once"},
    {"linear:factor=", "factor '' is no number from 1e-30 to 1e30"},
    {"linear:factor=0", "factor '0' is no number from 1e-30 to 1e30"},
    {"linear:factor=9e-31", "factor '9e-31' is no number from 1e-30 to 1e30"},
    {"linear:factor=-2", "factor '-2' is no number from 1e-30 to 1e30"},
    {"linear:factor=nan", "factor 'nan' is no number from 1e-30 to 1e30"},
    {"linear:factor=1e31", "factor '1e31' is no number from 1e-30 to 1e30"},
    {"linear:factor=8;9", "factor '8;9' is no number from 1e-30 to 1e30"},
    {"linear:factor= 8", "factor ' 8' is no number from 1e-30 to 1e30"},
    {"linear:old=8", "linear has no key 'old'; expected factor"},
    {"none:factor=8", "none has no key 'factor'; expected nothing after it"},
    {"llama3:factor=8,low=1,high=4", "llama3 lacks old; expected such as llama3:factor=8,low=1,high=4,old=8192"},
    {"llama3:factor=8,low=4,high=4,old=9", "low is 4 and high 4; expected high to be above low"},
    {"yarn:factor=8,old=9,fst=3",
     "yarn has no key 'fst'; did you mean 'fast'? expected factor, fast, slow, old, attention or truncate"},
    {"yarn:factor=8,old=9,fast=3,slow=4", "fast is 3 and slow 4; expected fast not to be below slow"},
    {"yarn:factor=8,old=9,truncate=maybe", "truncate 'maybe' is neither yes nor no"},
    {"dynamic:factor=8", "dynamic lacks old; expected such as dynamic:factor=2,old=2048"},
    {"longrope:old=9,max=10,short=1;1", "longrope lacks long; expected such as longrope:old=4096,max=131072,"
                                        "short=1;1,long=2;4"},
    {"longrope:old=9,short=1;1,long=1;1", "longrope needs max, or attention; expected such as longrope:old=4096,"
                                          "max=131072,short=1;1,long=2;4"},
    {"longrope:old=1,max=2,short=1;1,long=1;1", "old is 1; expected more than 1 where attention is not given"},
    {"longrope:old=9,max=10,short=1;x,long=1;1",
     "number 2 of short, 'x', is no number from 1e-30 to 1e30; expected such as short=1;1.5;2"},
    {"longrope:old=9,max=10,short=1;,long=1;1",
     "number 2 of short, '', is no number from 1e-30 to 1e30; expected such as short=1;1.5;2"},
    {"longrope:old=9,max=10,short=1;1,long=", "number 1 of long, '', is no number from 1e-30 to 1e30; expected "
                                              "such as long=1;1.5;2"},
    {"longrope:old=9,max=10,short=1;1,long=1;1;1", "long has 3 numbers; expected 2, half of the 4 rotated columns"},
    {"yarn:factor=8,old=9", NULL},
    {"yarn:factor=8,old=9,fast=3,slow=3", NULL},
    {"linear:factor=1e30", NULL},
    {"yarn:factor=8,old=9,attention=1e-30", NULL},
    {"longrope:long=1;1,short=1;1,attention=1,old=1", NULL},
    {"none", NULL},
};

static void check_refused(void)
{
    check_begin("texts of scalings");
    for (size_t i = 0; i < COUNT(TEXTS); i++) {
        struct arena arena = {0};
        struct error error = {0};
        struct rope rope;
        const enum status status =
            make(&rope, (struct rope_settings){.kind = ROPE_HALF, .theta = 2}, TEXTS[i].scaling, 4, 9, &arena, &error);
        char expected[512] = "";
        if (TEXTS[i].message != NULL)
            snprintf(expected, sizeof expected, "--rope-scaling: %s", TEXTS[i].message);
        CHECK(status == (TEXTS[i].message != NULL ? STATUS_USAGE : STATUS_OK), "'%s': status %d", TEXTS[i].scaling,
              status);
        CHECK_TEXT(expected, error.message);
        arena_free(&arena);
    }
}

static void check_limits(void)
{
    static const struct {
        double theta;
        size_t columns, width, highest;
        const char *scaling, *message;
    } CASES[] = {
        {2, 3, 8, 9, "none",
         "--rope rotates pairs of columns, but got 3 of 8 columns; expected an even number of --rope-columns, 2 to 8"},
        {2, 0, 5, 9, "none",
         "--rope rotates pairs of columns, but got 5 of 5 columns; expected an even number of --rope-columns, 2 to 4"},
        {2, 10, 8, 9, "none",
         "--rope rotates pairs of columns, but got 10 of 8 columns; expected an even number of --rope-columns, 2 to 8"},
        {2, 0, 1, 9, "none", "--rope rotates pairs of columns; expected a head of 2 columns or more, got 1"},
        {0, 0, 8, 9, "none", "--rope-theta 0 is out of range; expected a number above 0, up to 1e30"},
        {1, 0, 8, 9, "yarn:factor=2,old=9", "--rope-theta 1 is out of range; expected a number above 1, up to 1e30"},
        {2e30, 0, 8, 9, "none", "--rope-theta 2e+30 is out of range; expected a number above 0, up to 1e30"},
        {1e-38, 0, 64, 100000, "none",
         "--rope: the angle of position 100000 is beyond float32; expected a larger --rope-theta, or larger numbers in "
         "--rope-scaling"},
        {2, 2, 8, 9, "dynamic:factor=2,old=2", "--rope-scaling has no rule for 2 columns; expected 4 or more"},
        {2, 0, 8, (size_t)INT32_MAX + 1, "none", "position 2147483648 is out of range; expected 0..2^31-1"},
    };
    check_begin("limits");
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct rope_settings settings = {
            .kind = ROPE_PAIRS, .theta = CASES[i].theta, .columns = CASES[i].columns};
        struct arena arena = {0};
        struct error error = {0};
        struct rope rope;
        CHECK(make(&rope, settings, CASES[i].scaling, CASES[i].width, CASES[i].highest, &arena, &error) == STATUS_USAGE,
              "case %zu: expected an error", i);
        CHECK_TEXT(CASES[i].message, error.message);
        arena_free(&arena);
    }
}

/* --- several axes ------------------------------------------------------------------------------------------------- */

/* For each pair its axis and frequency: "h0/2 h1/2 w0/2 w1/2" has the exponents 0, 1/2, 0, 1/2. */
static const struct {
    const char *axes, *pairs;
} AXES[] = {
    {"t1,h2,w1", "t0/4 h1/4 h2/4 w3/4"},
    {"w1,h0,t3", "w0/4 t1/4 t2/4 t3/4"},
    {"t24,h1,w24,interleaved", "t0/4 h1/4 w2/4 t3/4"},
    {"t1,h1,w0,interleaved", "t0/4 h1/4 t2/4 t3/4"},
    {"h,w,restarted", "h0/2 h1/2 w0/2 w1/2"},
    {"h1,w3,restarted", "h0/1 w0/3 w1/3 w2/3"},
    {"w,h,restarted,interleaved", "w0/2 h0/2 w1/2 h1/2"},
    {"h,w,strided", "h0/4 h2/4 w1/4 w3/4"},
    {"none", "t0/4 t1/4 t2/4 t3/4"},
};

static void check_axes(void)
{
    check_begin("the axis and frequency of each pair");
    for (size_t i = 0; i < COUNT(AXES); i++) {
        struct error error = {0};
        struct rope_axes axes;
        char got[64] = "";
        CHECK(rope_axes_parse("--rope-axes", AXES[i].axes, &axes, &error) == STATUS_OK &&
                  rope_axes_check(&axes, 4, &error) == STATUS_OK,
              "%s", error.message);
        for (size_t pair = 0; pair < 4; pair++) {
            const struct rope_axis axis = rope_axis(&axes, 4, pair);
            const size_t end = strlen(got);
            snprintf(got + end, sizeof got - end, "%s%c%zu/%zu", pair > 0 ? " " : "", "thw"[axis.axis], axis.index,
                     axis.of);
        }
        CHECK_TEXT(AXES[i].pairs, got);
    }
}

static void check_axes_refused(void)
{
    static const char *const WRONG[] = {"",
                                        "h",
                                        "h,h",
                                        "x,y",
                                        "h1w1",
                                        "h,w,merge",
                                        "h,w,x=1",
                                        "h,w,",
                                        ",h,w",
                                        "h,w,strided2",
                                        "h-1,w1",
                                        "none,h",
                                        "h1,w1,strided",
                                        "h,w,merge=70000",
                                        "h1,w1,restarted,interleaved"};
    static const char *const UNFIT[] = {"h1,w1", "t,h,w", "h3,w2,restarted"};
    check_begin("axes that are none, or do not fit");
    for (size_t i = 0; i < COUNT(WRONG); i++) {
        struct error error = {0};
        struct rope_axes axes;
        CHECK(rope_axes_parse("--rope-axes", WRONG[i], &axes, &error) == STATUS_USAGE, "'%s'", WRONG[i]);
        CHECK(strstr(error.message, "are no axes; expected t, h and w") != NULL, "%s", error.message);
    }
    for (size_t i = 0; i < COUNT(UNFIT); i++) {
        struct arena arena = {0};
        struct error error = {0};
        struct rope rope;
        struct rope_settings settings = {.kind = ROPE_HALF, .theta = 10};
        CHECK(rope_axes_parse("--rope-axes", UNFIT[i], &settings.axes, &error) == STATUS_OK &&
                  make(&rope, settings, "none", 8, 9, &arena, &error) == STATUS_USAGE,
              "'%s'", UNFIT[i]);
        CHECK(strstr(error.message, "pairs of columns together; expected 4, those rotated") != NULL, "%s",
              error.message);
        arena_free(&arena);
    }
}

/* A grid of 4 x 6 patches, each as its row and column; and the groups of the patches of two frames, each run once. */
static const struct {
    const char *axes, *patches, *groups;
} GRIDS[] = {
    {"h,w", "00 01 02 03 04 05 10 11 12 13 14 15 20 21 22 23 24 25 30 31 32 33 34 35", "0x48"},
    {"h,w,merge=2", "00 01 10 11 02 03 12 13 04 05 14 15 20 21 30 31 22 23 32 33 24 25 34 35", "0x48"},
    {"h,w,merge=2,frames-apart", "00 01 10 11 02 03 12 13 04 05 14 15 20 21 30 31 22 23 32 33 24 25 34 35",
     "0x24 1x24"},
    {"h,w,merge=2,window=4", "00 01 10 11 02 03 12 13 20 21 30 31 22 23 32 33 04 05 14 15 24 25 34 35", "0x48"},
    {"h,w,frames-apart,merge=2,window=4,windows-apart",
     "00 01 10 11 02 03 12 13 20 21 30 31 22 23 32 33 04 05 14 15 24 25 34 35", "0x16 1x8 2x16 3x8"},
    {"h,w,window=3,windows-apart", "00 01 02 10 11 12 20 21 22 03 04 05 13 14 15 23 24 25 30 31 32 33 34 35",
     "0x9 1x9 2x3 3x3 4x9 5x9 6x3 7x3"},
    {"h,w,from=1", "11 12 13 14 15 16 21 22 23 24 25 26 31 32 33 34 35 36 41 42 43 44 45 46", "0x48"},
};

static void check_grids(void)
{
    const size_t sizes[ROPE_AXES] = {2, 4, 6};
    double coordinates[2 * 24 * ROPE_AXES];
    int64_t groups[2 * 24];
    struct error error = {0};
    struct rope_axes axes;
    check_begin("the patches of a grid, of two frames");
    for (size_t i = 0; i < COUNT(GRIDS); i++) {
        char got[128] = "";
        CHECK(rope_axes_parse("", GRIDS[i].axes, &axes, &error) == STATUS_OK &&
                  rope_grid(&axes, sizes, false, coordinates, groups, &error) == STATUS_OK,
              "%s", error.message);
        for (size_t patch = 0; patch < 24; patch++) {
            const double *at = coordinates + patch * ROPE_AXES, *later = at + 24L * ROPE_AXES;
            const size_t end = strlen(got);
            snprintf(got + end, sizeof got - end, "%s%.0f%.0f", patch > 0 ? " " : "", at[1], at[2]);
            CHECK(later[0] == at[0] + 1 && later[1] == at[1] && later[2] == at[2], "patch %zu of frame 2", patch);
        }
        CHECK_TEXT(GRIDS[i].patches, got);
        got[0] = '\0';
        for (size_t first = 0, patch = 0; first < COUNT(groups); first = patch) {
            for (; patch < COUNT(groups) && groups[patch] == groups[first];)
                patch++;
            const size_t end = strlen(got);
            snprintf(got + end, sizeof got - end, "%s%lldx%zu", end > 0 ? " " : "", (long long)groups[first],
                     patch - first);
        }
        CHECK_TEXT(GRIDS[i].groups, got);
    }
    CHECK(rope_axes_parse("", "h,w,centred", &axes, &error) == STATUS_OK &&
              rope_grid(&axes, (size_t[]){1, 2, 3}, true, coordinates, groups, &error) == STATUS_OK,
          "%s", error.message);
    const double pi = 3.14159265358979323846;
    CHECK(coordinates[1] == -pi && fabs(coordinates[2] + 4 * pi / 3) < 1e-15 && coordinates[4] == -pi &&
              fabs(coordinates[5]) < 1e-15 && coordinates[16] == pi,
          "centres: got %g, %g", coordinates[1], coordinates[2]);
}

int main(void)
{
    check_axes();
    check_axes_refused();
    check_grids();
    check_transformers();
    check_onnx();
    check_double();
    check_properties();
    check_pairs();
    check_turns();
    check_none();
    check_refused();
    check_limits();
    return check_end();
}
