/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "cli/help.h"
#include "model/mistake.h"

enum { MISTAKE_COLUMN = 32, TEXT_BYTES = 256 };

/* " (N: keys of a tile, 1..4096; default: 2)", " (FORM: later or earlier; default: later)", or nothing. */
static void add_forms(const struct mistake_row *row, struct text *text)
{
    char words[TEXT_BYTES];
    size_t count = 0;
    if (row->number != NULL)
        text_add(text, " (N: %s, %.10g..%.10g; default: %.10g)", row->number, row->from, row->to, row->usual);
    while (row->forms != NULL && row->forms[count] != NULL)
        count++;
    if (row->forms != NULL)
        text_add(text, " (FORM: %s; default: %s)", text_alternatives(row->forms, count, words, sizeof words),
                 row->forms[0]);
}

static void write_mistake(struct output *output, const struct mistake_row *row)
{
    char head[MISTAKE_NAME_BYTES], told[TEXT_BYTES];
    struct text name = text_begin(head, sizeof head), text = text_begin(told, sizeof told);
    text_add(&name, "%s%s", row->name, row->number != NULL ? ":N" : row->forms != NULL ? ":FORM" : "");
    text_add(&text, "%s", row->sentence);
    add_forms(row, &text);
    help_entry(output, head, MISTAKE_COLUMN, told);
}

void help_write_mistakes(struct output *output)
{
    help_wrap(output,
              "Mistakes that people make in attention code, by slot. --mistake NAME[,NAME] computes with them, at most "
              "one per slot; attn why finds those behind a wrong table.",
              0, 0);
    for (enum mistake_slot slot = 0; slot < MISTAKE_SLOT_COUNT; slot++) {
        output_print(output, "\n%s:\n", mistake_slot_name(slot));
        for (int id = 0; id < MISTAKE_COUNT; id++)
            if (MISTAKES[id].slot == slot)
                write_mistake(output, &MISTAKES[id]);
    }
    output_write(output, "\n", 1);
    help_wrap(output, "attn why also says how to fix one, in PyTorch, NumPy and C, for example:", 0, 0);
    output_print(output, "  $ attn causal inputs.json --mistake mask-missing -o wrong.json\n"
                         "  $ attn why causal inputs.json --mine wrong.json\n");
}
