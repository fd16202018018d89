/* SPDX-License-Identifier: MIT */
#include "diff/pair.h"
#include "model/stage_id.h"

#include <string.h>

/* --- which tokens both have -------------------------------------------------------------------------------------- */

/* A token that occurs twice, or NULL; NULL, too, with the error set where memory is short. */
static const char *find_repeated(const struct diff *diff, const char *const *tokens, size_t count)
{
    const char **sorted = arena_allocate(diff->arena, count, sizeof sorted[0], diff->error);
    if (sorted == NULL)
        return NULL;
    memcpy(sorted, tokens, count * sizeof tokens[0]);
    text_sort(sorted, count, sizeof sorted[0]);
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return sorted[i];
    return NULL;
}

/* The positions of the few among the whole's, from 0 and rising; returns how many were found before one was not. */
static size_t find_kept(const char *const *whole, size_t whole_count, const char *const *few, size_t count,
                        size_t *kept)
{
    size_t found = 0;
    for (size_t i = 0; i < whole_count && found < count; i++)
        if (strcmp(whole[i], few[found]) == 0)
            kept[found++] = i;
    return found;
}

static bool has_token(const char *const *tokens, size_t count, const char *token)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(tokens[i], token) == 0)
            return true;
    return false;
}

/* Why not: "; tokens cannot align them: 'the' appears twice in a.json". */
static void refuse(struct diff_alignment *alignment, const char *token, const char *what,
                   const struct input_file *input)
{
    char shown[DIFF_TOKEN_BYTES];
    text_shown(token, DIFF_TOKEN_COLUMNS, shown, sizeof shown);
    snprintf(alignment->refusal, sizeof alignment->refusal, "; tokens cannot align them: '%s' %s %s", shown, what,
             input->source);
}

/* Aligns one list of tokens, that of the whole in `input`: STATUS_OK with a refusal where it cannot. */
static enum status meet_list(const struct diff *diff, struct diff_alignment *alignment, size_t list,
                             const struct input_file *input, size_t *kept)
{
    const size_t all = alignment->whole->count, some = alignment->few->count;
    const char *const *whole = alignment->whole->texts + list * all, *const *few = alignment->few->texts + list * some;
    const char *repeated = find_repeated(diff, whole, all);
    if (diff->error->status != STATUS_OK)
        return diff->error->status;
    const size_t found = find_kept(whole, all, few, some, kept);
    if (repeated != NULL)
        refuse(alignment, repeated, "appears twice in", input);
    else if (found < some && has_token(whole, all, few[found]))
        refuse(alignment, few[found], "is at another position in", input);
    else if (found < some)
        refuse(alignment, few[found], "is not a token of", input);
    return STATUS_OK;
}

/* Aligns all lists, which must agree. */
static enum status meet(const struct diff *diff, struct diff_alignment *alignment, const struct input_file *input)
{
    const size_t some = alignment->few->count;
    size_t *others = arena_allocate(diff->arena, some, sizeof *others, diff->error);
    alignment->kept = arena_allocate(diff->arena, some, sizeof alignment->kept[0], diff->error);
    if (alignment->kept == NULL || others == NULL)
        return diff->error->status;
    for (size_t list = 0; list < alignment->whole->lists && alignment->refusal[0] == '\0'; list++) {
        if (meet_list(diff, alignment, list, input, list == 0 ? alignment->kept : others) != STATUS_OK)
            return diff->error->status;
        if (list > 0 && alignment->refusal[0] == '\0' && memcmp(alignment->kept, others, some * sizeof *others) != 0)
            snprintf(alignment->refusal, sizeof alignment->refusal,
                     "; tokens cannot align them: items 1 and %zu lack different tokens", list + 1);
    }
    if (alignment->refusal[0] != '\0')
        alignment->whole = alignment->few = NULL;
    return STATUS_OK;
}

static enum status align(const struct diff *diff, struct diff_alignment *alignment)
{
    const struct token_labels *a = alignment->a, *b = alignment->b;
    const struct input_file *file_a = &diff->a.input, *file_b = &diff->b.input;
    if (a->texts == NULL || b->texts == NULL) {
        snprintf(alignment->refusal, sizeof alignment->refusal, "; tokens cannot align them: %s has no tokens",
                 a->texts == NULL ? file_a->source : file_b->source);
        return STATUS_OK;
    }
    if (a->lists != b->lists) {
        snprintf(alignment->refusal, sizeof alignment->refusal,
                 "; tokens cannot align them: only %s has tokens for each item",
                 a->lists > b->lists ? file_a->source : file_b->source);
        return STATUS_OK;
    }
    if (a->count == b->count)
        return STATUS_OK;
    alignment->whole = a->count > b->count ? a : b;
    alignment->few = a->count > b->count ? b : a;
    return meet(diff, alignment, a->count > b->count ? file_a : file_b);
}

/* The tokens of its keys, where the keys are not made of the inputs. */
static const struct token_labels *key_labels(const struct input_file *input)
{
    const bool crosses = input_file_has_layout(input, INPUT_FILE_CROSS) || input->key_tokens.texts != NULL ||
                         input_file_find(input, "key_inputs") != NULL;
    return crosses ? &input->key_tokens : &input->tokens;
}

static bool shows_some(const struct input_file *input)
{
    return input_file_setting(input, "query") != NULL || input->part != NULL;
}

/* With other tokens, a row among those asked for would be compared with another token's row. */
static enum status check_rows(const struct diff *diff)
{
    const struct input_file *a = &diff->a.input, *b = &diff->b.input;
    if (a->tokens.texts == NULL || b->tokens.texts == NULL || a->tokens.count == b->tokens.count || !a->is_result ||
        !b->is_result || (!shows_some(a) && !shows_some(b)))
        return STATUS_OK;
    return error_usage(diff->error,
                       "%s holds only some queries, and the other file has other tokens; expected all rows "
                       "(without --query and --part), or the same tokens",
                       shows_some(a) ? a->source : b->source);
}

enum status diff_align_tokens(struct diff *diff)
{
    if (check_rows(diff) != STATUS_OK)
        return diff->error->status;
    struct diff_alignment *queries = &diff->alignments[DIFF_OF_QUERIES], *keys = &diff->alignments[DIFF_OF_KEYS];
    queries->a = &diff->a.input.tokens;
    queries->b = &diff->b.input.tokens;
    keys->a = key_labels(&diff->a.input);
    keys->b = key_labels(&diff->b.input);
    return align(diff, queries) || align(diff, keys) ? diff->error->status : STATUS_OK;
}

/* Which tokens an axis of keys, or another axis, counts. */
static enum diff_tokens which(const struct diff *diff, bool keys)
{
    const struct diff_alignment *one = &diff->alignments[DIFF_OF_QUERIES], *other = &diff->alignments[DIFF_OF_KEYS];
    return keys && (other->a != one->a || other->b != one->b) ? DIFF_OF_KEYS : DIFF_OF_QUERIES;
}

const struct diff_alignment *diff_tokens_of(const struct diff *diff, bool keys)
{
    return &diff->alignments[which(diff, keys)];
}

bool diff_lacks_token(const struct diff *diff)
{
    for (int i = 0; i < DIFF_TOKENS; i++)
        if (diff->alignments[i].used_by_stage && diff->alignments[i].whole == diff->alignments[i].a)
            return true;
    return false;
}

/* --- one pair ---------------------------------------------------------------------------------------------------- */

/* The tokens that an axis, counted from the last, counts; NULL: it counts none. */
static struct diff_alignment *tokens_of_axis(struct diff *diff, const struct diff_stage *pair, size_t axis)
{
    const bool mask = strcmp(pair->name, "attn_mask") == 0, stage = stage_exists(pair->stage);
    if (axis == 0 && (mask || (stage && (stage_is_square(pair->stage) || !stage_has_columns(pair->stage)))))
        return &diff->alignments[which(diff, mask || stage_is_square(pair->stage))];
    if (axis == 1 && (mask || pair->stage == STAGE_INPUTS || (stage && stage_has_columns(pair->stage))))
        return &diff->alignments[which(diff,
                                       stage ? stage_is_of_keys(pair->stage) : strcmp(pair->name, "key_inputs") == 0)];
    return NULL;
}

/* Whether the shapes differ in axes of tokens alone; and the alignment of each axis from the last on, NULL where
 * sizes agree. */
static bool differs_in_tokens(struct diff *diff, const struct diff_stage *pair, struct diff_alignment **alignments)
{
    bool differs = false;
    for (size_t axis = 0; axis < TENSOR_RANK; axis++) {
        const bool same = diff_size_from_end(&pair->a->tensor, axis) == diff_size_from_end(&pair->b->tensor, axis);
        alignments[axis] = same ? NULL : tokens_of_axis(diff, pair, axis);
        if (!same && alignments[axis] == NULL)
            return false;
        differs = differs || !same;
    }
    return differs;
}

/* Cuts a table along the axes where its file has more tokens. */
static enum status cut_side(const struct diff *diff, const struct file_tensor **named, bool of_a,
                            struct diff_alignment *const *alignments)
{
    const struct tensor *tensor = &(*named)->tensor;
    struct diff_axes axes = diff_axes_of(tensor);
    size_t cuts = 0;
    for (size_t axis = 0; axis < axes.rank; axis++) {
        const struct diff_alignment *alignment = alignments[axes.rank - 1 - axis];
        const bool cut = alignment != NULL && alignment->whole == (of_a ? alignment->a : alignment->b);
        axes.kept[axis] = cut ? alignment->kept : NULL;
        axes.shape[axis] = cut ? alignment->few->count : axes.shape[axis];
        cuts += cut;
    }
    return cuts > 0 ? diff_rearrange(diff, named, &axes) : STATUS_OK;
}

enum status diff_align(struct diff *diff, struct diff_stage *pair)
{
    struct diff_alignment *alignments[TENSOR_RANK];
    if (!differs_in_tokens(diff, pair, alignments))
        return STATUS_OK;
    for (size_t axis = 0; axis < TENSOR_RANK; axis++) {
        const struct diff_alignment *alignment = alignments[axis];
        if (alignment != NULL &&
            (alignment->whole == NULL || diff_size_from_end(&pair->a->tensor, axis) != alignment->a->count ||
             diff_size_from_end(&pair->b->tensor, axis) != alignment->b->count))
            return STATUS_OK;
    }
    for (size_t axis = 0; axis < TENSOR_RANK; axis++)
        if (alignments[axis] != NULL) {
            alignments[axis]->used = true;
            alignments[axis]->used_by_stage = alignments[axis]->used_by_stage || stage_exists(pair->stage);
            diff->fewer_keys =
                diff->fewer_keys || (stage_exists(pair->stage) &&
                                     (axis == 0 ? stage_is_square(pair->stage) : stage_is_of_keys(pair->stage)));
        }
    return cut_side(diff, &pair->a, true, alignments) || cut_side(diff, &pair->b, false, alignments)
               ? diff->error->status
               : STATUS_OK;
}

const char *diff_align_refusal(struct diff *diff, const struct diff_stage *pair)
{
    struct diff_alignment *alignments[TENSOR_RANK];
    if (!differs_in_tokens(diff, pair, alignments))
        return "";
    for (size_t axis = 0; axis < TENSOR_RANK; axis++)
        if (alignments[axis] != NULL && alignments[axis]->refusal[0] != '\0')
            return alignments[axis]->refusal;
    return "";
}
