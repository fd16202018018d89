/* The mistakes that people make in attention code, a row each: what it is called, what is done wrong, and how it is put
 * right. Those of a slot are other ways to get one thing wrong, so that only one of them can be made at a time; the
 * most common slots come first, and in a slot the most common mistakes.
 *
 *     ROW(identifier, function, slot, fields of struct mistake_row)
 *
 * What a mistake changes is said by the function of that name in src/mistake/, in the file of its slot. */
#ifndef ATTN_MODEL_MISTAKE_ROWS_H
#define ATTN_MODEL_MISTAKE_ROWS_H

#include <stddef.h>

/* A slot, what it is called, and the first stage that its mistakes can change. */
/* clang-format off */
#define MISTAKE_SLOTS(ROW) \
    ROW(SCALE, "scale", SCALED) \
    ROW(SOFTMAX, "softmax", WEIGHTS) \
    ROW(MASK, "mask", MASKED) \
    ROW(FILL, "fill", MASKED) \
    ROW(WINDOW, "window", MASKED) \
    ROW(LENGTHS, "lengths", MASKED) \
    ROW(SEQUENCES, "sequences", MASKED) \
    ROW(PAGES, "pages", KEY) \
    ROW(ATTN_MASK, "attn_mask", MASKED) \
    ROW(EMPTY, "empty", WEIGHTS) \
    ROW(KEYS, "keys", SCORES) \
    ROW(ROLES, "roles", QUERY) \
    ROW(WEIGHTS, "weights", CONTEXT) \
    ROW(MATRIX, "matrix", QUERY) \
    ROW(BIAS, "bias", QUERY) \
    ROW(CLIP, "clip", QUERY) \
    ROW(SPLIT, "split", QUERY) \
    ROW(MERGE, "merge", OUTPUT) \
    ROW(OUT, "out", OUTPUT) \
    ROW(GROUPS, "groups", SCORES) \
    ROW(PACKING, "packing", QUERY) \
    ROW(NORM, "norm", NORMED) \
    ROW(QK_NORM, "qk_norm", QUERY) \
    ROW(ROPE, "rope", QUERY) \
    ROW(SOFTCAP, "softcap", CAPPED) \
    ROW(ALIBI, "alibi", MASKED) \
    ROW(RELATIVE, "relative", MASKED) \
    ROW(SINKS, "sinks", WEIGHTS) \
    ROW(LSE, "lse", LSE) \
    ROW(DROPOUT, "dropout", DROPPED) \
    ROW(DRAW, "draw", QUERY) \
    ROW(TILES, "tiles", CONTEXT) \
    ROW(BITS, "bits", QUERY) \
    ROW(DTYPE, "dtype", QUERY) \
    ROW(GRAD, "grad", GRAD_VALUE)

/* The words of forms, with their end. */
#define MISTAKE_FORMS(...) (const char *const[]){__VA_ARGS__, NULL}

#define MISTAKE_ROWS(ROW) \
    ROW(SCALE_MISSING, scale_missing, SCALE, .name = "scale-missing", \
        .sentence = "the scores are not divided by sqrt(d_head)", \
        .pytorch = "torch.softmax(attn_scores / keys.shape[-1]**0.5, dim=-1)", \
        .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])", \
        .c = "s[i][j] = dot(q[i], k[j], d) / sqrt(d)", \
        .section = "attn: Why the square root", .unseen = "the scale is 1") \
    ROW(SCALE_TWICE, scale_twice, SCALE, .name = "scale-twice", \
        .sentence = "the scores are divided by sqrt(d_head) twice, or by d_head without the root", \
        .pytorch = "attn_scores / keys.shape[-1]**0.5, once, and with **0.5", \
        .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # q is not divided", \
        .c = "s[i][j] is divided by sqrt(d), not by d; and q[i] not at all", \
        .section = "attn: Why the square root", .unseen = "the scale is 1") \
    ROW(SCALE_INVERTED, scale_inverted, SCALE, .name = "scale-inverted", \
        .sentence = "the scores are multiplied by sqrt(d_head), not divided by it", \
        .pytorch = "attn_scores / keys.shape[-1]**0.5, not attn_scores * keys.shape[-1]**0.5", \
        .numpy = "s = q @ k.swapaxes(-1, -2) * k.shape[-1]**-0.5", \
        .c = "s[i][j] /= sqrt(d), not s[i][j] *= sqrt(d)", \
        .section = "attn: Why the square root", .unseen = "the scale is 1") \
    ROW(SCALE_D_MODEL, scale_d_model, SCALE, .name = "scale-d-model", \
        .sentence = "the scores are divided by sqrt(heads * d_head), not by sqrt(d_head)", \
        .pytorch = "attn_scores / head_dim**0.5, with head_dim = d_out // num_heads", \
        .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # k is (H, T, d)", \
        .c = "s[i][j] /= sqrt(d), where d is d_model / H", \
        .section = "attn: Several heads, split", .unseen = "there is one head") \
    ROW(SCALE_1_OVER_D_MODEL, scale_1_over_d_model, SCALE, .name = "scale-1-over-d-model", \
        .sentence = "the scores are divided by heads * d_head, not by sqrt(d_head)", \
        .pytorch = "attn_scores / head_dim**0.5, with head_dim = d_out // num_heads", \
        .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # k is (H, T, d)", \
        .c = "s[i][j] /= sqrt(d), where d is d_model / H", \
        .section = "attn: Several heads, split", .unseen = "d_model is 1") \
    ROW(SCALE_D_IN, scale_d_in, SCALE, .name = "scale-d-in", \
        .sentence = "the scores are divided by sqrt(d_in), not by sqrt(d_head)", \
        .pytorch = "attn_scores / keys.shape[-1]**0.5, not x.shape[-1]**0.5", \
        .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # not x.shape[-1]", \
        .c = "s[i][j] /= sqrt(d), where d is the columns of a key, not of an input", \
        .section = "attn: Why the square root", .unseen = "a head has as many columns as an input") \
    ROW(SCALE_USUAL, scale_usual, SCALE, .name = "scale-usual", \
        .sentence = "the scores are divided by sqrt(d_head), where the model has its own scale", \
        .pytorch = "attn_scores * self.scaling, as the config says: query_pre_attn_scalar**-0.5", \
        .numpy = "s = q @ k.swapaxes(-1, -2) * scale  # of the config, not 1 / np.sqrt(d)", \
        .c = "s[i][j] = dot(q[i], k[j], d) * scale, where scale is the one of the model", \
        .section = "attn: The mechanism", .unseen = "the scale is 1 / sqrt(d_head)") \
    ROW(SCALE_TOKENS, scale_tokens, SCALE, .name = "scale-tokens", \
        .sentence = "the scores are divided by sqrt(tokens), not by sqrt(d_head)", \
        .pytorch = "attn_scores / keys.shape[-1]**0.5, not keys.shape[-2]**0.5", \
        .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # not k.shape[-2]", \
        .c = "s[i][j] /= sqrt(d), not sqrt(T)", \
        .section = "attn: Why the square root", .unseen = "a head has as many columns as there are tokens") \
    ROW(SCALE_HEADS, scale_heads, SCALE, .name = "scale-heads", \
        .sentence = "the scores are divided by sqrt(heads), not by sqrt(d_head)", \
        .pytorch = "attn_scores / head_dim**0.5, not num_heads**0.5", \
        .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # not k.shape[0]", \
        .c = "s[i][j] /= sqrt(d), not sqrt(H)", \
        .section = "attn: Why the square root", .unseen = "a head has as many columns as there are heads") \
    ROW(SCALE_FOURTH_ROOT, scale_fourth_root, SCALE, .name = "scale-fourth-root", \
        .sentence = "the scores are divided by the fourth root of d_head, not the square root", \
        .pytorch = "attn_scores / head_dim**0.5; or both queries and keys / head_dim**0.25", \
        .numpy = "s = (q / d**0.25) @ (k / d**0.25).swapaxes(-1, -2)  # both, not q alone", \
        .c = "s[i][j] /= sqrt(d); or both q[i] and k[j] are divided by sqrt(sqrt(d))", \
        .section = "attn: Why the square root", .unseen = "the scale is 1") \
    ROW(SCALE_AFTER_SOFTMAX, scale_after_softmax, SCALE, .name = "scale-after-softmax", \
        .sentence = "the weights are divided by sqrt(d_head) after softmax, not the scores before", \
        .pytorch = "torch.softmax(attn_scores / keys.shape[-1]**0.5, dim=-1): inside the brackets", \
        .numpy = "e = np.exp((s - s.max(-1, keepdims=True)) / np.sqrt(d))  # inside exp", \
        .c = "w[i][j] = exp((s[i][j] - max) / sqrt(d)) / sum", \
        .section = "attn: Why the square root", .unseen = "the scale is 1") \
    ROW(SOFTMAX_QUERIES, softmax_queries, SOFTMAX, .name = "softmax-queries", \
        .sentence = "softmax runs over the queries, not over the keys of a row", \
        .pytorch = "torch.softmax(scaled, dim=-1), not dim=0, dim=1 of (b, T, T), or dim=-2", \
        .numpy = "e = np.exp(s - s.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True)", \
        .c = "for each i, max and sum run over j of s[i][j]", \
        .section = "attn: Softmax goes along the rows") \
    ROW(SOFTMAX_HEADS, softmax_heads, SOFTMAX, .name = "softmax-heads", \
        .sentence = "softmax runs over the heads, not over the keys of a row", \
        .pytorch = "torch.softmax(scaled, dim=-1), not dim=1 of (b, num_heads, T, T)", \
        .numpy = "e = np.exp(s - s.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True)", \
        .c = "for each h and i, max and sum run over j of s[h][i][j]", \
        .section = "attn: Softmax goes along the rows") \
    ROW(SOFTMAX_ITEMS, softmax_items, SOFTMAX, .name = "softmax-items", \
        .sentence = "softmax runs over the items of the batch, not over the keys of a row", \
        .pytorch = "torch.softmax(scaled, dim=-1), not dim=0 of (b, num_heads, T, T)", \
        .numpy = "e = np.exp(s - s.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True)", \
        .c = "for each item b and each i, max and sum run over j of s[b][i][j]", \
        .section = "attn: Softmax goes along the rows") \
    ROW(SOFTMAX_ALL, softmax_all, SOFTMAX, .name = "softmax-all", \
        .sentence = "one softmax runs over the whole table of scores, not one over each row", \
        .pytorch = "torch.softmax(scaled, dim=-1), not of scaled.flatten()", \
        .numpy = "e = np.exp(s - s.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True)", \
        .c = "max and sum start anew for each i", \
        .section = "attn: Softmax goes along the rows", .unseen = "each table has one row") \
    ROW(SOFTMAX_BASE_2, softmax_base_2, SOFTMAX, .name = "softmax-base-2", \
        .sentence = "softmax takes powers of 2, not of e", \
        .pytorch = "torch.exp(x), or torch.exp2(x * math.log2(math.e)), not torch.exp2(x)", \
        .numpy = "e = np.exp2((s - s.max(-1, keepdims=True)) * np.log2(np.e))  # or np.exp", \
        .c = "expf(x), or exp2f(x * 1.44269504f), not exp2f(x)", \
        .section = "attn: Softmax") \
    ROW(SOFTMAX_OVERFLOW, softmax_overflow, SOFTMAX, .name = "softmax-overflow", \
        .sentence = "softmax does not subtract the largest score of a row, so exp overflows", \
        .pytorch = "torch.softmax(attn_scores, dim=-1) subtracts it; torch.exp alone does not", \
        .numpy = "e = np.exp(s - s.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True)", \
        .c = "w[i][j] = exp(s[i][j] - max), where max is the largest of row i", \
        .section = "attn: Softmax", .unseen = "no score is above 88") \
    ROW(SOFTMAX_MISSING, softmax_missing, SOFTMAX, .name = "softmax-missing", \
        .sentence = "there is no softmax: the scores are used as the weights", \
        .pytorch = "torch.softmax(attn_scores / keys.shape[-1]**0.5, dim=-1) @ values", \
        .numpy = "e = np.exp(s - s.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True)", \
        .c = "w[i][j] = exp(s[i][j] - max) / sum", \
        .section = "attn: Softmax") \
    ROW(SOFTMAX_SUM_OF_SCORES, softmax_sum_of_scores, SOFTMAX, .name = "softmax-sum-of-scores", \
        .sentence = "each score is divided by the sum of its row, without exp", \
        .pytorch = "torch.softmax(scaled, dim=-1), not scaled / its sum", \
        .numpy = "e = np.exp(s - s.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True)", \
        .c = "w[i][j] = exp(s[i][j] - max) / sum, where sum adds up these exp", \
        .section = "attn: Softmax") \
    ROW(MASK_MISSING, mask_missing, MASK, .name = "mask-missing", \
        .sentence = "the causal mask is missing: queries see the keys after them", \
        .pytorch = "attn_scores.masked_fill_(mask.bool(), -torch.inf), with its last underscore", \
        .numpy = "s = np.where(np.tri(T, dtype=bool), s, -np.inf)", \
        .c = "for query i, j runs from 0 to i: no key after it is read", \
        .section = "attn: The causal mask", .unseen = "no query could see a key after its own") \
    ROW(MASK_ONE_AHEAD, mask_one_ahead, MASK, .name = "mask-one-ahead", \
        .sentence = "each query also sees the key after its own", \
        .pytorch = "hide torch.triu(torch.ones(T, T), diagonal=1), not diagonal=2", \
        .numpy = "s = np.where(np.tri(T, dtype=bool), s, -np.inf)  # not k=1", \
        .c = "key j is seen where j <= i, not j <= i + 1", \
        .section = "attn: The causal mask", .unseen = "no query could see a key after its own") \
    ROW(MASK_HIDES_OWN, mask_hides_own, MASK, .name = "mask-hides-own", \
        .sentence = "each query sees only the keys before it, not its own", \
        .pytorch = "hide torch.triu(torch.ones(T, T), diagonal=1), not diagonal=0", \
        .numpy = "s = np.where(np.tri(T, dtype=bool), s, -np.inf)  # not k=-1", \
        .c = "key j is seen where j <= i, not j < i", \
        .section = "attn: The causal mask") \
    ROW(MASK_INVERTED, mask_inverted, MASK, .name = "mask-inverted", \
        .sentence = "the causal mask is inverted: queries see only the keys after their own", \
        .pytorch = "masked_fill_ hides where mask is True: torch.triu(..., diagonal=1), not tril", \
        .numpy = "s = np.where(np.tri(T, dtype=bool), s, -np.inf)  # seen where True", \
        .c = "key j is seen where j <= i, not j > i", \
        .section = "attn: The causal mask") \
    ROW(MASK_INVERTED_OWN_SEEN, mask_inverted_own_seen, MASK, .name = "mask-inverted-own-seen", \
        .sentence = "the causal mask is inverted: queries see their own key and those after it", \
        .pytorch = "attn_mask=torch.ones(T, T).tril().bool(): True is seen, so not .triu()", \
        .numpy = "s = np.where(np.tri(T, dtype=bool), s, -np.inf)  # not np.tri(T).T", \
        .c = "key j is seen where j <= i, not j >= i", \
        .section = "attn: The causal mask") \
    ROW(MASK_MIRRORED, mask_mirrored, MASK, .name = "mask-mirrored", \
        .sentence = "the mask is upside down: the first query sees all keys, the last only one", \
        .pytorch = "hide torch.triu(torch.ones(T, T), diagonal=1), with no .flip(0)", \
        .numpy = "s = np.where(np.tri(T, dtype=bool), s, -np.inf)  # not [::-1]", \
        .c = "key j is seen where j <= i, not j <= T - 1 - i", \
        .section = "attn: The causal mask") \
    ROW(MASK_CORNER, mask_corner, MASK, .name = "mask-corner", \
        .sentence = "with fewer queries than keys, the mask starts in the wrong corner", \
        .pytorch = "queries first: torch.ones(Tq, Tk).tril().bool(); queries last: .tril(Tk - Tq)", \
        .numpy = "seen = np.tri(Tq, Tk, Tk - Tq, dtype=bool)  # 0 where queries come first", \
        .c = "queries that come first see j <= i, those that come last j <= i + Tk - Tq", \
        .section = "attn-sdpa: Which keys are seen", .unseen = "there are as many queries as keys") \
    ROW(MASK_OFFSET_MISSING, mask_offset_missing, MASK, .name = "mask-offset-missing", \
        .sentence = "a query's place does not count the keys that come before the queries", \
        .pytorch = "torch.ones(Tq, Tk).tril(past).bool(): key j is seen where j <= past + i", \
        .numpy = "seen = np.arange(Tk) <= past + np.arange(Tq)[:, None]", \
        .c = "key j is seen where j <= past + i; with lengths, past is length - Tq", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "no key comes before the queries") \
    ROW(MASK_OFFSET_PLUS_1, mask_offset_plus_1, MASK, .name = "mask-offset-plus-1", \
        .sentence = "each query's place among the keys is one too high, so it sees one too many", \
        .pytorch = "torch.ones(Tq, Tk).tril(past).bool(), not .tril(past + 1)", \
        .numpy = "seen = np.arange(Tk) <= past + np.arange(Tq)[:, None]  # not past + 1", \
        .c = "key j is seen where j <= past + i; with lengths, past is length - Tq", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "nothing depends on the place of a query") \
    ROW(MASK_OFFSET_MINUS_1, mask_offset_minus_1, MASK, .name = "mask-offset-minus-1", \
        .sentence = "each query's place among the keys is one too low, so its own key is hidden", \
        .pytorch = "torch.ones(Tq, Tk).tril(past).bool(), not .tril(past - 1)", \
        .numpy = "seen = np.arange(Tk) <= past + np.arange(Tq)[:, None]  # not past - 1", \
        .c = "key j is seen where j <= past + i; with lengths, past is length - Tq", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "nothing depends on the place of a query") \
    ROW(MASK_CAUSAL, mask_causal, MASK, .name = "mask-causal", \
        .sentence = "a causal mask is applied, though none was asked for", \
        .pytorch = "no masked_fill_; F.scaled_dot_product_attention(..., is_causal=False)", \
        .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # and no np.tri", \
        .c = "j runs over all keys, from 0 to Tk - 1, not only up to i", \
        .section = "attn: The mechanism") \
    ROW(FILL_ZERO, fill_zero, FILL, .name = "fill-zero", \
        .sentence = "hidden scores become 0, or nearly, not minus infinity: these keys get weight", \
        .pytorch = "attn_scores.masked_fill_(mask.bool(), -torch.inf), not 0, nor -1e-9", \
        .numpy = "s = np.where(seen, s, -np.inf)  # not 0, not s * seen", \
        .c = "s[i][j] = -INFINITY where key j is hidden, not 0", \
        .section = "attn: What stands in for a hidden score", .unseen = "no score is hidden") \
    ROW(FILL_SMALL, fill_small, FILL, .name = "fill-small", \
        .sentence = "hidden scores become a number such as -9, not minus infinity", \
        .pytorch = "attn_scores.masked_fill_(mask.bool(), -torch.inf), not a number", \
        .numpy = "s = np.where(seen, s, -np.inf)  # not a number", \
        .c = "s[i][j] = -INFINITY where key j is hidden, not a number", \
        .section = "attn: What stands in for a hidden score", .unseen = "no score is hidden", \
        .number = "what stands for minus infinity", .from = -10000, .to = 10000, .usual = -9) \
    ROW(FILL_AFTER_SOFTMAX, fill_after_softmax, FILL, .name = "fill-after-softmax", \
        .sentence = "weights are set to 0 after softmax, and not divided by their new sum", \
        .pytorch = "attn_weights / attn_weights.sum(dim=-1, keepdim=True), once some are 0", \
        .numpy = "w = w * seen; w = w / w.sum(-1, keepdims=True)", \
        .c = "sum the exp of the keys that are seen, and divide by that", \
        .section = "attn: What stands in for a hidden score", .unseen = "no score is hidden") \
    ROW(WINDOW_LEFT_PLUS_1, window_left_plus_1, WINDOW, .name = "window-left-plus-1", \
        .sentence = "the window reaches back by one key too many", \
        .pytorch = "i - j <= L, with i = torch.arange(T)[:, None] and j = torch.arange(T)", \
        .numpy = "seen = np.arange(T)[:, None] - np.arange(T) <= L  # not L + 1", \
        .c = "the first j is i - L, or 0 where that is below 0; not i - L - 1", \
        .section = "attn-sdpa: Which keys are seen", .unseen = "no query could see a key at that edge") \
    ROW(WINDOW_LEFT_MINUS_1, window_left_minus_1, WINDOW, .name = "window-left-minus-1", \
        .sentence = "the window reaches back by one key too few", \
        .pytorch = "i - j <= L, not < L: L keys before the query's own, L + 1 with it", \
        .numpy = "seen = np.arange(T)[:, None] - np.arange(T) <= L  # not < L", \
        .c = "the first j is i - L, or 0 where that is below 0; not i - L + 1", \
        .section = "attn-sdpa: Which keys are seen", .unseen = "no query could see a key at that edge") \
    ROW(WINDOW_RIGHT_PLUS_1, window_right_plus_1, WINDOW, .name = "window-right-plus-1", \
        .sentence = "the window reaches ahead by one key too many", \
        .pytorch = "j - i <= R, with i = torch.arange(T)[:, None] and j = torch.arange(T)", \
        .numpy = "seen = np.arange(T) - np.arange(T)[:, None] <= R  # not R + 1", \
        .c = "the last j is i + R, or T - 1 where that is less; not i + R + 1", \
        .section = "attn-sdpa: Which keys are seen", .unseen = "no query could see a key at that edge") \
    ROW(WINDOW_RIGHT_MINUS_1, window_right_minus_1, WINDOW, .name = "window-right-minus-1", \
        .sentence = "the window reaches ahead by one key too few", \
        .pytorch = "j - i <= R, not < R: R keys after the query's own", \
        .numpy = "seen = np.arange(T) - np.arange(T)[:, None] <= R  # not < R", \
        .c = "the last j is i + R, or T - 1 where that is less; not i + R - 1", \
        .section = "attn-sdpa: Which keys are seen", .unseen = "no query could see a key at that edge") \
    ROW(WINDOW_MISSING, window_missing, WINDOW, .name = "window-missing", \
        .sentence = "the window is left out: queries see keys that are too far away", \
        .pytorch = "seen = (i - j <= L) & (j - i <= R), i = torch.arange(T)[:, None], j = i.T", \
        .numpy = "i = np.arange(T)[:, None]; seen = (i - i.T <= L) & (i.T - i <= R)", \
        .c = "j runs from i - L to i + R, within the keys; a side of -1 has no limit", \
        .section = "attn-sdpa: Which keys are seen", .unseen = "the window holds every key that a query could see") \
    ROW(LENGTHS_PLUS_1, lengths_plus_1, LENGTHS, .name = "lengths-plus-1", \
        .sentence = "kv_lengths are one too large, and the queries stand one place later", \
        .pytorch = "seen = j < lengths, not <=; a causal query i stands at lengths - Tq + i", \
        .numpy = "seen = j < lengths  # not <=; causal: & (j <= lengths - Tq + i)", \
        .c = "j < length, and query i stands at length - Tq + i; not length + 1", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "all keys count already") \
    ROW(LENGTHS_MINUS_1, lengths_minus_1, LENGTHS, .name = "lengths-minus-1", \
        .sentence = "kv_lengths are one too small, and the queries stand one place earlier", \
        .pytorch = "seen = j < lengths, not lengths - 1; causal: & (j <= lengths - Tq + i)", \
        .numpy = "seen = j < lengths  # not lengths - 1; causal: & (j <= lengths - Tq + i)", \
        .c = "j < length, and query i stands at length - Tq + i; not length - 1", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE") \
    ROW(LENGTHS_PLUS_1_PLACE_KEPT, lengths_plus_1_place_kept, LENGTHS, .name = "lengths-plus-1-place-kept", \
        .sentence = "kv_lengths are one too large, but the queries stand where they should", \
        .pytorch = "seen = torch.arange(Tk) < lengths[:, None, None, None], not <=", \
        .numpy = "seen = np.arange(Tk) < lengths[:, None, None, None]  # not <=", \
        .c = "j < length, not j <= length", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "no query could see a key behind an item's length") \
    ROW(LENGTHS_MINUS_1_PLACE_KEPT, lengths_minus_1_place_kept, LENGTHS, .name = "lengths-minus-1-place-kept", \
        .sentence = "kv_lengths are one too small, but the queries stand where they should", \
        .pytorch = "seen = torch.arange(Tk) < lengths[:, None, None, None], not lengths - 1", \
        .numpy = "seen = np.arange(Tk) < lengths[:, None, None, None]  # not lengths - 1", \
        .c = "j < length, not j < length - 1", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE") \
    ROW(LENGTHS_MISSING, lengths_missing, LENGTHS, .name = "lengths-missing", \
        .sentence = "kv_lengths are not used: keys behind an item's length count, too", \
        .pytorch = "seen = torch.arange(Tk) < lengths[:, None, None, None]; hide the others", \
        .numpy = "s = np.where(np.arange(Tk) < lengths[:, None, None, None], s, -np.inf)", \
        .c = "j < length of the item, not j < Tk", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "no query could see a key behind an item's length", \
        .forms = MISTAKE_FORMS("place-kept", "queries-last", "queries-first")) \
    ROW(PAST_NOT_COUNTED, past_not_counted, LENGTHS, .name = "past-not-counted", \
        .sentence = "the length of the keys leaves out the past: the last keys are not read", \
        .pytorch = "keys = torch.cat([past_keys, keys], dim=-2); the length is keys.shape[-2]", \
        .numpy = "k = np.concatenate([past_k, k], -2); length = k.shape[-2]", \
        .c = "j < past + T, not j < T, where T keys are new", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "no query sees the last keys", \
        .forms = MISTAKE_FORMS("queries-moved", "place-kept")) \
    ROW(SEQUENCES_MISSING, sequences_missing, SEQUENCES, .name = "sequences-missing", \
        .sentence = "packed sequences are attended to as if they were one", \
        .pytorch = "flash_attn_varlen_func with cu_seqlens, or a block diagonal attn_mask", \
        .numpy = "hidden = sequence[:, None] != sequence[None, :]", \
        .c = "for (j = cu[s]; j < cu[s + 1]; j++), not from 0 to the total", \
        .section = "attn-files: THE INPUT") \
    ROW(SEQUENCES_BEFORE_SEEN, sequences_before_seen, SEQUENCES, .name = "sequences-before-seen", \
        .sentence = "a query sees all packed sequences before its own, too", \
        .pytorch = "flash_attn_varlen_func with cu_seqlens, or a block diagonal attn_mask", \
        .numpy = "hidden = sequence[:, None] != sequence[None, :]  # not only <", \
        .c = "for (j = cu[s]; j < cu[s + 1]; j++), not from 0 on", \
        .section = "attn-files: THE INPUT") \
    ROW(SEQUENCES_LEAK_BEFORE, sequences_leak_before, SEQUENCES, .name = "sequences-leak-before", \
        .sentence = "the last keys of the sequence before are seen, too", \
        .pytorch = "keys[cu[s]:cu[s + 1]]", \
        .numpy = "k[cu[s]:cu[s + 1]]  # not from cu[s] - 1", \
        .c = "for (j = cu[s]; j < cu[s + 1]; j++), not from cu[s] - 1", \
        .section = "attn-files: THE INPUT", \
        .number = "so many of them", .from = 1, .to = 1048576, .usual = 1, .whole = true) \
    ROW(SEQUENCES_LEAK_BEHIND, sequences_leak_behind, SEQUENCES, .name = "sequences-leak-behind", \
        .sentence = "the first keys of the sequence behind are seen, too", \
        .pytorch = "keys[cu[s]:cu[s + 1]]", \
        .numpy = "k[cu[s]:cu[s + 1]]  # not up to cu[s + 1] + 1", \
        .c = "for (j = cu[s]; j < cu[s + 1]; j++), not <= cu[s + 1]", \
        .section = "attn-files: THE INPUT", .unseen = "it is causal", \
        .number = "so many of them", .from = 1, .to = 1048576, .usual = 1, .whole = true) \
    ROW(SEQUENCES_START_PLUS_1, sequences_start_plus_1, SEQUENCES, .name = "sequences-start-plus-1", \
        .sentence = "a sequence begins one token too late: a cumulative length is one too large", \
        .pytorch = "cu_seqlens = F.pad(lengths.cumsum(0), (1, 0)), of int32", \
        .numpy = "cu = np.concatenate([[0], np.cumsum(lengths)])", \
        .c = "cu[0] = 0; cu[s + 1] = cu[s] + length[s]", \
        .section = "attn-files: THE INPUT", \
        .number = "the number of cu_seqlens, from 1; 0: all between 0 and the end", .to = 1048576, .whole = true) \
    ROW(SEQUENCES_START_MINUS_1, sequences_start_minus_1, SEQUENCES, .name = "sequences-start-minus-1", \
        .sentence = "a sequence begins one token too early: a cumulative length is one too small", \
        .pytorch = "cu_seqlens = F.pad(lengths.cumsum(0), (1, 0)), of int32", \
        .numpy = "cu = np.concatenate([[0], np.cumsum(lengths)])", \
        .c = "cu[0] = 0; cu[s + 1] = cu[s] + length[s]", \
        .section = "attn-files: THE INPUT", \
        .number = "the number of cu_seqlens, from 1; 0: all between 0 and the end", .to = 1048576, .whole = true) \
    ROW(SEQUENCES_KEYS_PLUS_1, sequences_keys_plus_1, SEQUENCES, .name = "sequences-keys-plus-1", \
        .sentence = "the keys of a sequence begin one too late: cu_seqlens_k is one too large", \
        .pytorch = "cu_seqlens = F.pad(lengths.cumsum(0), (1, 0)), of int32", \
        .numpy = "cu = np.concatenate([[0], np.cumsum(lengths)])", \
        .c = "cu[0] = 0; cu[s + 1] = cu[s] + length[s]", \
        .section = "attn-files: THE INPUT", \
        .number = "the number of cu_seqlens, from 1; 0: all between 0 and the end", .to = 1048576, .whole = true) \
    ROW(SEQUENCES_KEYS_MINUS_1, sequences_keys_minus_1, SEQUENCES, .name = "sequences-keys-minus-1", \
        .sentence = "the keys of a sequence begin one too early: cu_seqlens_k is one too small", \
        .pytorch = "cu_seqlens = F.pad(lengths.cumsum(0), (1, 0)), of int32", \
        .numpy = "cu = np.concatenate([[0], np.cumsum(lengths)])", \
        .c = "cu[0] = 0; cu[s + 1] = cu[s] + length[s]", \
        .section = "attn-files: THE INPUT", \
        .number = "the number of cu_seqlens, from 1; 0: all between 0 and the end", .to = 1048576, .whole = true) \
    ROW(SEQUENCES_QUERIES_PLUS_1, sequences_queries_plus_1, SEQUENCES, .name = "sequences-queries-plus-1", \
        .sentence = "the queries of a sequence begin one too late: cu_seqlens_q is too large", \
        .pytorch = "cu_seqlens = F.pad(lengths.cumsum(0), (1, 0)), of int32", \
        .numpy = "cu = np.concatenate([[0], np.cumsum(lengths)])", \
        .c = "cu[0] = 0; cu[s + 1] = cu[s] + length[s]", \
        .section = "attn-files: THE INPUT", \
        .number = "the number of cu_seqlens, from 1; 0: all between 0 and the end", .to = 1048576, .whole = true) \
    ROW(SEQUENCES_QUERIES_MINUS_1, sequences_queries_minus_1, SEQUENCES, .name = "sequences-queries-minus-1", \
        .sentence = "the queries of a sequence begin one too early: cu_seqlens_q is too small", \
        .pytorch = "cu_seqlens = F.pad(lengths.cumsum(0), (1, 0)), of int32", \
        .numpy = "cu = np.concatenate([[0], np.cumsum(lengths)])", \
        .c = "cu[0] = 0; cu[s + 1] = cu[s] + length[s]", \
        .section = "attn-files: THE INPUT", \
        .number = "the number of cu_seqlens, from 1; 0: all between 0 and the end", .to = 1048576, .whole = true) \
    ROW(PAGES_STALE, pages_stale, PAGES, .name = "pages-stale", \
        .sentence = "a stale entry of block_table names another page", \
        .pytorch = "fill block_table anew whenever a page is given away", \
        .numpy = "key_cache[block_table[b, token // size], token % size]", \
        .c = "page = table[b * per_item + token / size], after the table was filled", \
        .section = "attn-files: THE INPUT", \
        .number = "its entry, from 0, x the pages of the caches + the page that it names", \
        .to = 9007199254740991.0, .whole = true) \
    ROW(PAGES_TAIL_COUNTED, pages_tail_counted, PAGES, .name = "pages-tail-counted", \
        .sentence = "the tail of the last page is counted: the length is that of whole pages", \
        .pytorch = "cache_seqlens is the number of tokens, not page size x pages", \
        .numpy = "k = k[:kv_length]  # not pages * size", \
        .c = "for (j = 0; j < kv_length[b]; j++), not up to pages * size", \
        .section = "attn-files: THE INPUT", .unseen = "every page is full, or the tail comes after the queries", \
        .forms = MISTAKE_FORMS("queries-last", "place-kept")) \
    ROW(PAGES_LAST_MISSING, pages_last_missing, PAGES, .name = "pages-last-missing", \
        .sentence = "a last page that is not full is left out", \
        .pytorch = "(kv_length + size - 1) // size pages, not kv_length // size", \
        .numpy = "pages = -(-kv_length // size)  # rounded up", \
        .c = "pages = (kv_length + size - 1) / size", \
        .section = "attn-files: THE INPUT", .unseen = "every page is full") \
    ROW(PAGES_IN_ORDER, pages_in_order, PAGES, .name = "pages-in-order", \
        .sentence = "pages are read in the order of the batch, not as block_table says", \
        .pytorch = "key_cache[block_table[b]], not key_cache.view(b, -1, heads, d)", \
        .numpy = "key_cache[block_table[b]]  # not key_cache.reshape(b, -1, heads, d)", \
        .c = "page = table[b * per_item + token / size], not b * per_item + token / size", \
        .section = "attn-files: THE INPUT", .unseen = "they lie in that order", \
        .forms = MISTAKE_FORMS("as-many-each", "as-used")) \
    ROW(PAGES_SORTED, pages_sorted, PAGES, .name = "pages-sorted", \
        .sentence = "the pages of an item are read in the order in which they lie", \
        .pytorch = "key_cache[block_table[b]], not key_cache[block_table[b].sort()[0]]", \
        .numpy = "key_cache[block_table[b]]  # not np.sort, nor a boolean index", \
        .c = "page = table[b * per_item + token / size], in the order of the table", \
        .section = "attn-files: THE INPUT", .unseen = "they lie in that order") \
    ROW(PAGES_OTHER_ITEM, pages_other_item, PAGES, .name = "pages-other-item", \
        .sentence = "an item reads the pages of another one of the batch", \
        .pytorch = "reorder block_table whenever the batch is: block_table[order]", \
        .numpy = "block_table = block_table[order]  # as query and kv_lengths", \
        .c = "page = table[b * per_item + token / size], with b the place in this batch", \
        .section = "attn-files: THE INPUT", \
        .number = "so many rows of block_table further on, round", .from = 1, .to = 1048576, .usual = 1, \
        .whole = true) \
    ROW(ATTN_MASK_MISSING, attn_mask_missing, ATTN_MASK, .name = "attn-mask-missing", \
        .sentence = "attn_mask is not used", \
        .pytorch = "attn_scores.masked_fill_(~attn_mask, -torch.inf); of numbers: + attn_mask", \
        .numpy = "s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask", \
        .c = "if (!mask[i][j]) s[i][j] = -INFINITY; of numbers: s[i][j] += mask[i][j]", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "attn_mask changes nothing") \
    ROW(ATTN_MASK_INVERTED, attn_mask_inverted, ATTN_MASK, .name = "attn-mask-inverted", \
        .sentence = "attn_mask is inverted: True and False are taken for each other", \
        .pytorch = "F.scaled_dot_product_attention: True is seen; nn.MultiheadAttention: hidden", \
        .numpy = "s = np.where(mask, s, -np.inf)  # True is seen; ~mask where True hides", \
        .c = "if (!mask[i][j]) s[i][j] = -INFINITY, where true is a key that is seen", \
        .section = "attn-sdpa: Which keys are seen") \
    ROW(ATTN_MASK_TRANSPOSED, attn_mask_transposed, ATTN_MASK, .name = "attn-mask-transposed", \
        .sentence = "attn_mask is read with queries and keys swapped", \
        .pytorch = "attn_mask is (..., queries, keys): use it without .transpose(-2, -1)", \
        .numpy = "s = np.where(mask, s, -np.inf)  # mask is (Tq, Tk), not mask.T", \
        .c = "mask[i][j], not mask[j][i], for query i and key j", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "attn_mask is symmetric") \
    ROW(ATTN_MASK_ALONG_QUERIES, attn_mask_along_queries, ATTN_MASK, .name = "attn-mask-along-queries", \
        .sentence = "a padding mask hides rows of queries, not columns of keys", \
        .pytorch = "padding[:, None, None, :] of (b, num_tokens), not padding[:, None, :, None]", \
        .numpy = "s = np.where(mask[:, None, None, :], s, -np.inf)  # mask of (B, T)", \
        .c = "mask[b][j] hides key j from each query i, not mask[b][i]", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE") \
    ROW(ATTN_MASK_ADDED, attn_mask_added, ATTN_MASK, .name = "attn-mask-added", \
        .sentence = "True and False of attn_mask are added to the scores as 1 and 0", \
        .pytorch = "attn_scores.masked_fill_(~attn_mask, -torch.inf), not += attn_mask", \
        .numpy = "s = np.where(mask, s, -np.inf)  # not s + mask", \
        .c = "if (!mask[i][j]) s[i][j] = -INFINITY, not s[i][j] += mask[i][j]", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE") \
    ROW(ATTN_MASK_ITEMS_FOR_HEADS, attn_mask_items_for_heads, ATTN_MASK, .name = "attn-mask-items-for-heads", \
        .sentence = "item 1's mask goes to head 1 of every item, item 2's to head 2, and so on", \
        .pytorch = "attn_mask[:, None], so that (b, T, T) becomes (b, 1, T, T)", \
        .numpy = "s = np.where(mask[:, None], s, -np.inf)  # (B, T, T) to (B, 1, T, T)", \
        .c = "mask[b][i][j] for all heads of item b, not mask[h][i][j]", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "all items have the same mask") \
    ROW(EMPTY_ZERO, empty_zero, EMPTY, .name = "empty-zero", \
        .sentence = "a query that sees no key gets zeros, where NaN or the mean was asked for", \
        .pytorch = "torch.softmax of a row of -torch.inf is NaN: leave it, or fill in 1 / Tk", \
        .numpy = "w = np.where(seen.any(-1, keepdims=True), w, np.nan)  # the mean: 1 / Tk", \
        .c = "where no key is seen, w[i][j] = NAN; for the mean, 1.0 / Tk", \
        .section = "attn-sdpa: Which keys are seen", .unseen = "no row is empty") \
    ROW(EMPTY_NAN, empty_nan, EMPTY, .name = "empty-nan", \
        .sentence = "a query that sees no key gets NaN, where zeros or the mean was asked for", \
        .pytorch = "attn_weights.masked_fill_(~seen.any(dim=-1, keepdim=True), 0.0)", \
        .numpy = "w = np.where(seen.any(-1, keepdims=True), w, 0)  # the mean: 1 / Tk", \
        .c = "where no key is seen, w[i][j] = 0; -INFINITY - -INFINITY is NaN", \
        .section = "attn-sdpa: Which keys are seen", .unseen = "no row is empty") \
    ROW(EMPTY_MEAN, empty_mean, EMPTY, .name = "empty-mean", \
        .sentence = "a query that sees no key gets the mean, where zeros or NaN was asked for", \
        .pytorch = "hide with -torch.inf, not -1e9: then such a row is NaN; set it to 0 for zeros", \
        .numpy = "w = np.where(seen.any(-1, keepdims=True), w, 0)  # -np.inf, not -1e9", \
        .c = "hide with -INFINITY, not -1e9; where no key is seen, w[i][j] = 0", \
        .section = "attn-sdpa: Which keys are seen", .unseen = "no row is empty") \
    ROW(KEYS_LAST_MISSING, keys_last_missing, KEYS, .name = "keys-last-missing", \
        .sentence = "the last key is left out", \
        .pytorch = "queries @ keys.transpose(-2, -1), not keys[..., :-1, :]", \
        .numpy = "s = q @ k.swapaxes(-1, -2)  # not k[..., :-1, :]", \
        .c = "for (j = 0; j < T; j++), not j < T - 1", \
        .section = "attn: The scores of one token", .unseen = "no query sees the last key") \
    ROW(KEYS_FIRST_MISSING, keys_first_missing, KEYS, .name = "keys-first-missing", \
        .sentence = "the first key is left out", \
        .pytorch = "queries @ keys.transpose(-2, -1), not keys[..., 1:, :]", \
        .numpy = "s = q @ k.swapaxes(-1, -2)  # not k[..., 1:, :]", \
        .c = "for (j = 0; j < T; j++), not j = 1", \
        .section = "attn: The scores of one token", .unseen = "no query sees the first key") \
    ROW(KEYS_AS_QUERIES, keys_as_queries, KEYS, .name = "keys-as-queries", \
        .sentence = "only as many keys are read as there are queries", \
        .pytorch = "attn_scores has keys.shape[-2] columns, not queries.shape[-2]", \
        .numpy = "s = q @ k.swapaxes(-1, -2)  # not k[..., :q.shape[-2], :]", \
        .c = "for (j = 0; j < Tk; j++), not j < Tq", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "no query sees a key beyond the number of queries") \
    ROW(KEYS_PADDING_COUNTED, keys_padding_counted, KEYS, .name = "keys-padding-counted", \
        .sentence = "zeros that fill the last tile of keys take a share of the softmax", \
        .pytorch = "attn_scores[..., num_tokens:] = -torch.inf, before softmax", \
        .numpy = "s[..., T:] = -np.inf  # before softmax", \
        .c = "s[i][j] = -INFINITY for each j >= T of the last tile, not 0", \
        .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "no query could see a padded key", \
        .number = "keys of a tile", .from = 2, .to = 4096, .usual = 64, .whole = true) \
    ROW(VALUES_SHIFTED, values_shifted, KEYS, .name = "values-shifted", \
        .sentence = "each weight meets the value of the key beside its own", \
        .pytorch = "context_vec = attn_weights @ values, not values.roll(-1, dims=-2)", \
        .numpy = "context = w @ v  # not np.roll(v, -1, axis=-2)", \
        .c = "context[i] += w[i][j] * v[j], not v[j + 1] or v[j - 1]", \
        .section = "attn: The context", \
        .forms = MISTAKE_FORMS("next", "previous", "next-round", "previous-round")) \
    ROW(ROLES_QUERY_KEY_SWAPPED, roles_query_key_swapped, ROLES, .name = "roles-query-key-swapped", \
        .sentence = "queries and keys are swapped", \
        .pytorch = "queries @ keys.transpose(-2, -1), not keys @ queries.transpose(-2, -1)", \
        .numpy = "s = q @ k.swapaxes(-1, -2)  # not k @ q.swapaxes(-1, -2)", \
        .c = "s[i][j] = dot(q[i], k[j], d), not dot(k[i], q[j], d)", \
        .section = "attn: Query, key and value") \
    ROW(ROLES_KEY_VALUE_SWAPPED, roles_key_value_swapped, ROLES, .name = "roles-key-value-swapped", \
        .sentence = "keys and values are swapped", \
        .pytorch = "keys = self.W_key(x); values = self.W_value(x); attn_weights @ values", \
        .numpy = "k = x @ W_key; v = x @ W_value  # then w @ v, where w is made of q and k", \
        .c = "s[i][j] = dot(q[i], k[j], d); then context[i] += w[i][j] * v[j]", \
        .section = "attn: Query, key and value") \
    ROW(ROLES_QUERY_VALUE_SWAPPED, roles_query_value_swapped, ROLES, .name = "roles-query-value-swapped", \
        .sentence = "queries and values are swapped", \
        .pytorch = "queries = self.W_query(x); values = self.W_value(x); attn_weights @ values", \
        .numpy = "q = x @ W_query; v = x @ W_value  # then w @ v, where w is made of q and k", \
        .c = "s[i][j] = dot(q[i], k[j], d); then context[i] += w[i][j] * v[j]", \
        .section = "attn: Query, key and value") \
    ROW(ROLES_KEY_FOR_VALUE, roles_key_for_value, ROLES, .name = "roles-key-for-value", \
        .sentence = "the weighted sum is made of the keys, not of the values", \
        .pytorch = "attn_weights @ values, with values = self.W_value(x), not self.W_key(x)", \
        .numpy = "context = w @ v  # v = x @ W_value, not x @ W_key", \
        .c = "context[i] += w[i][j] * v[j], not k[j]", \
        .section = "attn: The context") \
    ROW(ROLES_QUERY_FOR_KEY, roles_query_for_key, ROLES, .name = "roles-query-for-key", \
        .sentence = "the scores are made of queries and queries, not of queries and keys", \
        .pytorch = "queries @ keys.transpose(-2, -1), with keys = self.W_key(x)", \
        .numpy = "s = q @ k.swapaxes(-1, -2)  # not q @ q.swapaxes(-1, -2)", \
        .c = "s[i][j] = dot(q[i], k[j], d), not dot(q[i], q[j], d)", \
        .section = "attn: The scores of one token") \
    ROW(ROLES_KEY_FOR_QUERY, roles_key_for_query, ROLES, .name = "roles-key-for-query", \
        .sentence = "the scores are made of keys and keys, not of queries and keys", \
        .pytorch = "queries @ keys.transpose(-2, -1), with queries = self.W_query(x)", \
        .numpy = "s = q @ k.swapaxes(-1, -2)  # not k @ k.swapaxes(-1, -2)", \
        .c = "s[i][j] = dot(q[i], k[j], d), not dot(k[i], k[j], d)", \
        .section = "attn: The scores of one token") \
    ROW(ROLES_QUERY_FOR_VALUE, roles_query_for_value, ROLES, .name = "roles-query-for-value", \
        .sentence = "the weighted sum is made of the queries, not of the values", \
        .pytorch = "attn_weights @ values, with values = self.W_value(x), not self.W_query(x)", \
        .numpy = "context = w @ v  # v = x @ W_value, not x @ W_query", \
        .c = "context[i] += w[i][j] * v[j], not q[j]", \
        .section = "attn: The context") \
    ROW(ROLES_INPUTS_FOR_VALUE, roles_inputs_for_value, ROLES, .name = "roles-inputs-for-value", \
        .sentence = "the weighted sum is made of the inputs, not of the values", \
        .pytorch = "attn_weights @ values, with values = self.W_value(x), not x", \
        .numpy = "context = w @ v  # v = x @ W_value, not x", \
        .c = "context[i] += w[i][j] * v[j], not x[j]", \
        .section = "attn: The context") \
    ROW(WEIGHTS_TRANSPOSED, weights_transposed, WEIGHTS, .name = "weights-transposed", \
        .sentence = "the weights are transposed before they meet the values", \
        .pytorch = "attn_weights @ values, not attn_weights.transpose(-2, -1) @ values", \
        .numpy = "context = w @ v  # not w.swapaxes(-1, -2) @ v", \
        .c = "context[i] += w[i][j] * v[j], not w[j][i] * v[j]", \
        .section = "attn: The context") \
    ROW(MATRIX_TRANSPOSED, matrix_transposed, MATRIX, .name = "matrix-transposed", \
        .sentence = "W_query, W_key and W_value are all used transposed", \
        .pytorch = "x @ W_query for (d_in, d_out); x @ W_query.weight.T for an nn.Linear", \
        .numpy = "q = x @ W_query  # W_query is (d_in, d_out); nn.Linear stores its .T", \
        .c = "q[i][c] sums x[i][r] * W[r][c] over r; with an nn.Linear's weight, W[c][r]", \
        .section = "attn: torch.rand and nn.Linear", .unseen = "the matrix is symmetric") \
    ROW(MATRIX_QUERY_TRANSPOSED, matrix_query_transposed, MATRIX, .name = "matrix-query-transposed", \
        .sentence = "W_query is used transposed", \
        .pytorch = "x @ W_query for (d_in, d_out); x @ W_query.weight.T for an nn.Linear", \
        .numpy = "q = x @ W_query  # W_query is (d_in, d_out); nn.Linear stores its .T", \
        .c = "q[i][c] sums x[i][r] * W[r][c] over r; with an nn.Linear's weight, W[c][r]", \
        .section = "attn: torch.rand and nn.Linear", .unseen = "the matrix is symmetric") \
    ROW(MATRIX_KEY_TRANSPOSED, matrix_key_transposed, MATRIX, .name = "matrix-key-transposed", \
        .sentence = "W_key is used transposed", \
        .pytorch = "x @ W_key for (d_in, d_out); x @ W_key.weight.T for an nn.Linear", \
        .numpy = "k = x @ W_key  # W_key is (d_in, d_out); nn.Linear stores its .T", \
        .c = "k[j][c] sums x[j][r] * W[r][c] over r; with an nn.Linear's weight, W[c][r]", \
        .section = "attn: torch.rand and nn.Linear", .unseen = "the matrix is symmetric") \
    ROW(MATRIX_VALUE_TRANSPOSED, matrix_value_transposed, MATRIX, .name = "matrix-value-transposed", \
        .sentence = "W_value is used transposed", \
        .pytorch = "x @ W_value for (d_in, d_out); x @ W_value.weight.T for an nn.Linear", \
        .numpy = "v = x @ W_value  # W_value is (d_in, d_out); nn.Linear stores its .T", \
        .c = "v[j][c] sums x[j][r] * W[r][c] over r; with an nn.Linear's weight, W[c][r]", \
        .section = "attn: torch.rand and nn.Linear", .unseen = "the matrix is symmetric") \
    ROW(BIAS_MISSING, bias_missing, BIAS, .name = "bias-missing", \
        .sentence = "the biases of queries, keys and values are not added", \
        .pytorch = "x @ W_query.weight.T + W_query.bias, as self.W_query(x) does; the others alike", \
        .numpy = "q, k, v = x @ W_query + b_query, x @ W_key + b_key, x @ W_value + b_value", \
        .c = "q[i][c] starts at b_query[c], not at 0; k and v alike", \
        .section = "attn: STAGES", .unseen = "queries and values have biases of 0") \
    ROW(BIAS_QUERY_MISSING, bias_query_missing, BIAS, .name = "bias-query-missing", \
        .sentence = "the bias of the queries is not added", \
        .pytorch = "queries = x @ W_query.weight.T + W_query.bias, as self.W_query(x) does", \
        .numpy = "q = x @ W_query + b_query", \
        .c = "q[i][c] starts at b_query[c], not at 0", \
        .section = "attn: STAGES", .unseen = "the queries' bias is 0") \
    ROW(BIAS_KEY_MISSING, bias_key_missing, BIAS, .name = "bias-key-missing", \
        .sentence = "the bias of the keys is not added", \
        .pytorch = "keys = x @ W_key.weight.T + W_key.bias, as self.W_key(x) does", \
        .numpy = "k = x @ W_key + b_key", \
        .c = "k[j][c] starts at b_key[c], not at 0", \
        .section = "attn: STAGES", .unseen = "it adds the same to all scores of a row, so that no weight changes") \
    ROW(BIAS_VALUE_MISSING, bias_value_missing, BIAS, .name = "bias-value-missing", \
        .sentence = "the bias of the values is not added", \
        .pytorch = "values = x @ W_value.weight.T + W_value.bias, as self.W_value(x) does", \
        .numpy = "v = x @ W_value + b_value", \
        .c = "v[j][c] starts at b_value[c], not at 0", \
        .section = "attn: STAGES", .unseen = "the values' bias is 0") \
    ROW(CLIP_MISSING, clip_missing, CLIP, .name = "clip-missing", \
        .sentence = "query, key and value are not clipped, though the model clips them", \
        .pytorch = "qkv.clamp_(min=-clip_qkv, max=clip_qkv), right after the projection", \
        .numpy = "q, k, v = (np.clip(x, -C, C) for x in (q, k, v))", \
        .c = "q[i][c] = fmax(-C, fmin(C, q[i][c])); k and v alike", \
        .section = "attn-layer: Positions and norms", .unseen = "no number of query, key and value is beyond it") \
    ROW(SPLIT_VIEW, split_view, SPLIT, .name = "split-view", \
        .sentence = "heads are split by .view(b, num_heads, num_tokens, d_head): tokens mix", \
        .pytorch = "keys.view(b, num_tokens, num_heads, head_dim).transpose(1, 2)", \
        .numpy = "k = k.reshape(T, H, d).swapaxes(0, 1)  # not k.reshape(H, T, d)", \
        .c = "column c of key j in head h is k[j * H * d + h * d + c]", \
        .section = "attn: Several heads, split") \
    ROW(SPLIT_INTERLEAVED, split_interleaved, SPLIT, .name = "split-interleaved", \
        .sentence = "columns are dealt to the heads in turn, not d_head neighbours to each head", \
        .pytorch = "keys.view(b, num_tokens, num_heads, head_dim), not (..., head_dim, num_heads)", \
        .numpy = "k = k.reshape(T, H, d).swapaxes(0, 1)  # not k.reshape(T, d, H)", \
        .c = "column c of head h is column h * d + c, not c * H + h", \
        .section = "attn: Several heads, split", .unseen = "a head has one column") \
    ROW(SPLIT_PACKED_BY_HEAD, split_packed_by_head, SPLIT, .name = "split-packed-by-head", \
        .sentence = "packed query, key, value are read as heads x 3 x d, not as 3 x heads x d", \
        .pytorch = "qkv.view(b, T, 3, num_heads, head_dim), not (b, T, num_heads, 3, head_dim)", \
        .numpy = "q, k, v = np.moveaxis(qkv.reshape(T, 3, H, d), 1, 0)  # not (T, H, 3, d)", \
        .c = "the key of head h has columns (H + h) * d + c, not (3 * h + 1) * d + c", \
        .section = "attn-files: THE INPUT") \
    ROW(SPLIT_PACKED_BY_COLUMN, split_packed_by_column, SPLIT, .name = "split-packed-by-column", \
        .sentence = "packed query, key, value are read as heads x d x 3, not as 3 x heads x d", \
        .pytorch = "qkv.view(b, T, 3, num_heads, head_dim), not (b, T, num_heads, head_dim, 3)", \
        .numpy = "q, k, v = np.moveaxis(qkv.reshape(T, 3, H, d), 1, 0)  # not (T, H, d, 3)", \
        .c = "the key of head h has columns (H + h) * d + c, not (h * d + c) * 3 + 1", \
        .section = "attn-files: THE INPUT") \
    ROW(SPLIT_MISSING, split_missing, SPLIT, .name = "split-missing", \
        .sentence = "the heads are never split: one large head, scaled by its d_out or by d_head", \
        .pytorch = "keys.view(b, num_tokens, num_heads, head_dim).transpose(1, 2), before scores", \
        .numpy = "k = k.reshape(T, H, d).swapaxes(0, 1)  # q and v alike, before the scores", \
        .c = "for each h, the dot product runs over d columns from h * d on, not all H * d", \
        .section = "attn: Several heads, split", \
        .forms = MISTAKE_FORMS("by-d-out", "by-d-head")) \
    ROW(MERGE_VIEW, merge_view, MERGE, .name = "merge-view", \
        .sentence = "heads are put together by .view alone, without .transpose: tokens are mixed", \
        .pytorch = "context_vec.transpose(1, 2).contiguous().view(b, num_tokens, d_out)", \
        .numpy = "context = context.swapaxes(0, 1).reshape(T, H * d)  # from (H, T, d)", \
        .c = "out[i][h * d + c] = context[h][i][c]", \
        .section = "attn: Heads side by side again") \
    ROW(MERGE_INTERLEAVED, merge_interleaved, MERGE, .name = "merge-interleaved", \
        .sentence = "the heads' columns take turns in the output, not head after head", \
        .pytorch = "context_vec.transpose(1, 2), then view; not context_vec.permute(0, 2, 3, 1)", \
        .numpy = "context = context.swapaxes(0, 1).reshape(T, H * d)  # not transpose(1, 2, 0)", \
        .c = "out[i][h * d + c] = context[h][i][c], not out[i][c * H + h]", \
        .section = "attn: Heads side by side again", .unseen = "a head has one column") \
    ROW(MERGE_REVERSED, merge_reversed, MERGE, .name = "merge-reversed", \
        .sentence = "the heads are put side by side in reverse order, the last one first", \
        .pytorch = "torch.cat([head(x) for head in self.heads], dim=-1), in that order", \
        .numpy = "context = context.swapaxes(0, 1).reshape(T, H * d)  # not context[::-1]", \
        .c = "out[i][h * d + c] = context[h][i][c], not context[H - 1 - h][i][c]", \
        .section = "attn: Heads side by side again") \
    ROW(OUT_MISSING, out_missing, OUT, .name = "out-missing", \
        .sentence = "out_proj is left out: the heads side by side are the output", \
        .pytorch = "context_vec = self.out_proj(context_vec)", \
        .numpy = "output = context @ W_out.T + b_out", \
        .c = "output[i][r] = b_out[r] + the sum of context[i][c] * W_out[r][c] over c", \
        .section = "attn: out_proj and the whole class") \
    ROW(OUT_TRANSPOSED, out_transposed, OUT, .name = "out-transposed", \
        .sentence = "the weight of out_proj is used transposed", \
        .pytorch = "context_vec @ out_proj.weight.T + out_proj.bias, as out_proj(context_vec) does", \
        .numpy = "output = context @ W_out.T + b_out  # W_out as nn.Linear stores it", \
        .c = "output[i][r] sums context[i][c] * W_out[r][c] over c, not W_out[c][r]", \
        .section = "attn: out_proj and the whole class", .unseen = "out_proj.weight is symmetric") \
    ROW(OUT_BIAS_MISSING, out_bias_missing, OUT, .name = "out-bias-missing", \
        .sentence = "the bias of out_proj is not added", \
        .pytorch = "context_vec @ out_proj.weight.T + out_proj.bias, as out_proj(context_vec) does", \
        .numpy = "output = context @ W_out.T + b_out", \
        .c = "output[i][r] starts at b_out[r], not at 0", \
        .section = "attn: out_proj and the whole class", .unseen = "out_proj.bias is 0") \
    ROW(OUT_TWICE, out_twice, OUT, .name = "out-twice", \
        .sentence = "out_proj is applied twice", \
        .pytorch = "self.out_proj(context_vec) once: in forward, not in what calls it, too", \
        .numpy = "output = context @ W_out.T + b_out  # once", \
        .c = "the product with W_out is made once, from context into output", \
        .section = "attn: out_proj and the whole class") \
    ROW(GROUPS_TILED, groups_tiled, GROUPS, .name = "groups-tiled", \
        .sentence = "query head h reads key head h mod kv_heads, not the one of its group", \
        .pytorch = "keys.repeat_interleave(num_heads // kv_heads, 1), not .repeat; values alike", \
        .numpy = "k, v = (np.repeat(x, H // H_kv, axis=0) for x in (k, v))  # not np.tile", \
        .c = "head h reads k[h / (H / H_kv)], not k[h % H_kv]; v alike", \
        .section = "attn-sdpa: HEADS THAT SHARE", .unseen = "there is one head of key and value") \
    ROW(GROUPS_FIRST, groups_first, GROUPS, .name = "groups-first", \
        .sentence = "all query heads read the first head of key and value", \
        .pytorch = "keys.repeat_interleave(num_heads // kv_heads, 1), not [:, :1]; values alike", \
        .numpy = "k, v = (np.repeat(x, H // H_kv, axis=0) for x in (k, v))  # not k[:1]", \
        .c = "head h reads k[h / (H / H_kv)], not k[0]; v alike", \
        .section = "attn-sdpa: HEADS THAT SHARE", .unseen = "there is one head of key and value") \
    ROW(PACKING_GROUPS, packing_groups, PACKING, .name = "packing-groups", \
        .sentence = "a packed weight is read in groups, though it has all queries before all keys", \
        .pytorch = "q, k, v = qkv.split([H * d, H_kv * d, H_kv * d], dim=-1), and then .view", \
        .numpy = "q, k, v = np.split(qkv, [H * d, (H + H_kv) * d], axis=-1)  # blocks", \
        .c = "key head h begins at row (H + h) * d, value head h at (H + H_kv + h) * d", \
        .section = "attn-layer: A checkpoint") \
    ROW(PACKING_BLOCKS, packing_blocks, PACKING, .name = "packing-blocks", \
        .sentence = "a packed weight is read as three blocks, though it lies in groups", \
        .pytorch = "qkv.view(b, T, H_kv, H // H_kv + 2, d): [..., :-2, :] is q, [..., -2, :] is k", \
        .numpy = "x = qkv.reshape(T, H_kv, -1, d); k, v = x[:, :, -2], x[:, :, -1]", \
        .c = "key head h begins at row (h * (G + 2) + G) * d, where G is H / H_kv", \
        .section = "attn-layer: A checkpoint", .unseen = "there is one group") \
    ROW(NORM_MISSING, norm_missing, NORM, .name = "norm-missing", \
        .sentence = "the layer's norm is forgotten: attention sees the residual stream", \
        .pytorch = "self.self_attn(self.input_layernorm(hidden_states)), not (hidden_states)", \
        .numpy = "x = norm(x)  # before q = x @ W_query", \
        .c = "normed[i] = norm(x[i]) first; q, k and v are made of normed", \
        .section = "attn-layer: Positions and norms") \
    ROW(NORM_TWICE, norm_twice, NORM, .name = "norm-twice", \
        .sentence = "the layer's norm is applied, though these states are normed already", \
        .pytorch = "q_proj(hidden_states) of normed states; or ask attn for the norm: --residual", \
        .numpy = "q = x @ W_query  # not norm(x) @ W_query, where x is normed", \
        .c = "q is made of x as it is; only the residual stream is normed first", \
        .section = "attn-layer: Positions and norms") \
    ROW(NORM_WEIGHT_MISSING, norm_weight_missing, NORM, .name = "norm-weight-missing", \
        .sentence = "the norm's weight is not multiplied in", \
        .pytorch = "hidden_states * torch.rsqrt(variance + eps) * self.weight", \
        .numpy = "x = x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * weight", \
        .c = "y[c] = x[c] / sqrt(mean_square + eps) * weight[c]", \
        .section = "attn-layer: Positions and norms", .unseen = "its weight is 1") \
    ROW(NORM_BIAS_MISSING, norm_bias_missing, NORM, .name = "norm-bias-missing", \
        .sentence = "the norm's bias is not added", \
        .pytorch = "(x - mean) / torch.sqrt(variance + eps) * self.weight + self.bias", \
        .numpy = "x = (x - mean) / np.sqrt(variance + eps) * weight + bias", \
        .c = "y[c] = (x[c] - mean) / sqrt(variance + eps) * weight[c] + bias[c]", \
        .section = "attn-layer: Positions and norms", .unseen = "its bias is 0") \
    ROW(NORM_PLUS_1, norm_plus_1, NORM, .name = "norm-plus-1", \
        .sentence = "the norm multiplies with 1 + weight, where the weight alone is right", \
        .pytorch = "hidden_states * self.weight; 1 + weight is for Gemma", \
        .numpy = "y = normed * weight  # not (1 + weight)", \
        .c = "y[c] = normed[c] * weight[c], not * (1 + weight[c])", \
        .section = "attn-layer: Positions and norms") \
    ROW(NORM_PLUS_1_MISSING, norm_plus_1_missing, NORM, .name = "norm-plus-1-missing", \
        .sentence = "the norm multiplies with the weight alone, where 1 + weight is right", \
        .pytorch = "output * (1.0 + self.weight.float()), as Gemma has it", \
        .numpy = "y = normed * (1 + weight)", \
        .c = "y[c] = normed[c] * (1 + weight[c])", \
        .section = "attn-layer: Positions and norms") \
    ROW(NORM_MEAN_KEPT, norm_mean_kept, NORM, .name = "norm-mean-kept", \
        .sentence = "the norm does not take the mean off: RMSNorm where LayerNorm is right", \
        .pytorch = "nn.LayerNorm(d_model), not nn.RMSNorm(d_model)", \
        .numpy = "x = x - x.mean(-1, keepdims=True)  # before it is divided", \
        .c = "y[c] = (x[c] - mean) / sqrt(variance + eps) * weight[c]", \
        .section = "attn-layer: Positions and norms", .unseen = "the mean of each row is 0") \
    ROW(NORM_MEAN_SUBTRACTED, norm_mean_subtracted, NORM, .name = "norm-mean-subtracted", \
        .sentence = "the norm takes the mean off: LayerNorm where RMSNorm is right", \
        .pytorch = "nn.RMSNorm(d_model), not nn.LayerNorm(d_model)", \
        .numpy = "x = x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)  # no mean", \
        .c = "y[c] = x[c] / sqrt(mean_square + eps) * weight[c]", \
        .section = "attn-layer: Positions and norms", .unseen = "the mean of each row is 0") \
    ROW(NORM_EPS, norm_eps, NORM, .name = "norm-eps", \
        .sentence = "the norm has another eps", \
        .pytorch = "nn.RMSNorm(d_model, eps=config.rms_norm_eps), as the model's config has it", \
        .numpy = "x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)  # eps of the config", \
        .c = "sqrt(mean_square + eps), with the eps of the config", \
        .section = "attn-layer: Positions and norms", .unseen = "the rows are long beside it", \
        .number = "the eps", .from = 0, .to = 1, .usual = 1e-5) \
    ROW(QK_NORM_MISSING, qk_norm_missing, QK_NORM, .name = "qk-norm-missing", \
        .sentence = "query and key are not normed", \
        .pytorch = "query_states = self.q_norm(query_states); key_states = self.k_norm(key_states)", \
        .numpy = "q, k = norm(q, q_weight), norm(k, k_weight)  # each head, before they turn", \
        .c = "q[h][i] = norm(q[h][i]), k[h][i] = norm(k[h][i]), before they are turned", \
        .section = "attn-layer: Positions and norms") \
    ROW(QK_NORM_AFTER_ROPE, qk_norm_after_rope, QK_NORM, .name = "qk-norm-after-rope", \
        .sentence = "query and key are turned by position first, and normed then", \
        .pytorch = "q_norm and k_norm first, apply_rotary_pos_emb after them", \
        .numpy = "q, k = turn(norm(q)), turn(norm(k))  # not norm(turn(q))", \
        .c = "norm(q[h][i]) first, turn it then; k alike", \
        .section = "attn-layer: Positions and norms", .unseen = "all weights of the norm are alike") \
    ROW(QK_NORM_ALL_HEADS, qk_norm_all_heads, QK_NORM, .name = "qk-norm-all-heads", \
        .sentence = "one norm goes over all heads of a token, not one over each head", \
        .pytorch = "q_norm(q.view(b, T, num_heads, head_dim)): split first, norm then", \
        .numpy = "q = norm(q.reshape(T, H, d))  # over d, not over H * d", \
        .c = "mean_square of head h is over its own d columns, not over H * d", \
        .section = "attn-layer: Positions and norms") \
    ROW(QK_NORM_EACH_HEAD, qk_norm_each_head, QK_NORM, .name = "qk-norm-each-head", \
        .sentence = "each head is normed by itself, where one norm goes over all of them", \
        .pytorch = "q_norm(self.q_proj(x)).view(b, T, num_heads, head_dim): norm first, split then", \
        .numpy = "q = norm(x @ W_query).reshape(T, H, d)  # over H * d", \
        .c = "mean_square of a token is over all H * d columns", \
        .section = "attn-layer: Positions and norms") \
    ROW(QK_NORM_WEIGHT_MISSING, qk_norm_weight_missing, QK_NORM, .name = "qk-norm-weight-missing", \
        .sentence = "the norms of query and key are not multiplied with their weights", \
        .pytorch = "query_states * torch.rsqrt(variance + eps) * self.q_norm.weight; key alike", \
        .numpy = "q = q / np.sqrt((q**2).mean(-1, keepdims=True) + eps) * q_weight", \
        .c = "q[c] = q[c] / sqrt(mean_square + eps) * weight[c]", \
        .section = "attn-layer: Positions and norms", .unseen = "the weights are 1") \
    ROW(QK_NORM_PLUS_1, qk_norm_plus_1, QK_NORM, .name = "qk-norm-plus-1", \
        .sentence = "the norms of query and key multiply with 1 + weight, not with weight", \
        .pytorch = "query_states * self.q_norm.weight; 1 + weight is for Gemma", \
        .numpy = "q = normed * q_weight  # not (1 + q_weight)", \
        .c = "q[c] = normed[c] * weight[c], not * (1 + weight[c])", \
        .section = "attn-layer: Positions and norms") \
    ROW(QK_NORM_PLUS_1_MISSING, qk_norm_plus_1_missing, QK_NORM, .name = "qk-norm-plus-1-missing", \
        .sentence = "the norms of query and key multiply with weight, not with 1 + weight", \
        .pytorch = "output * (1.0 + self.q_norm.weight.float()), as Gemma has it", \
        .numpy = "q = normed * (1 + q_weight)", \
        .c = "q[c] = normed[c] * (1 + weight[c])", \
        .section = "attn-layer: Positions and norms") \
    ROW(QK_NORM_EPS, qk_norm_eps, QK_NORM, .name = "qk-norm-eps", \
        .sentence = "the norms of query and key have another eps", \
        .pytorch = "RMSNorm(head_dim, eps=config.rms_norm_eps), as the model's config has it", \
        .numpy = "q / np.sqrt((q**2).mean(-1, keepdims=True) + eps)  # eps of the config", \
        .c = "sqrt(mean_square + eps), with the eps of the config", \
        .section = "attn-layer: Positions and norms", .unseen = "query and key are long beside it", \
        .number = "the eps", .from = 0, .to = 1, .usual = 1e-5) \
    ROW(QK_NORM_LATENT_MISSING, qk_norm_latent_missing, QK_NORM, .name = "qk-norm-latent-missing", \
        .sentence = "the latent rows that query, key and value come from are not normed", \
        .pytorch = "self.kv_b_proj(self.kv_a_layernorm(compressed_kv)); the query alike", \
        .numpy = "k_v = norm(latent) @ W_b.T  # not latent @ W_b.T", \
        .c = "norm(latent[i]) first, and W_key_value_b then", \
        .section = "attn-layer: Positions and norms") \
    ROW(ROPE_HALVES, rope_halves, ROPE, .name = "rope-halves", \
        .sentence = "columns are turned in halves, i and i + n/2, not in pairs, 2i and 2i + 1", \
        .pytorch = "x1, x2 = x[..., ::2], x[..., 1::2]; not rotate_half, which takes the halves", \
        .numpy = "a, b = x[..., ::2], x[..., 1::2]  # not x[..., :n//2], x[..., n//2:]", \
        .c = "pair i is x[2 * i] and x[2 * i + 1], not x[i] and x[i + n / 2]", \
        .section = "attn-layer: Positions and norms", .unseen = "there is one pair") \
    ROW(ROPE_PAIRS, rope_pairs, ROPE, .name = "rope-pairs", \
        .sentence = "columns are turned in pairs, 2i and 2i + 1, not in halves, i and i + n/2", \
        .pytorch = "x * cos + rotate_half(x) * sin; or permute the rows of q_proj and k_proj", \
        .numpy = "a, b = x[..., :n//2], x[..., n//2:]  # not x[..., ::2], x[..., 1::2]", \
        .c = "pair i is x[i] and x[i + n / 2], not x[2 * i] and x[2 * i + 1]", \
        .section = "attn-layer: Positions and norms", .unseen = "there is one pair") \
    ROW(ROPE_MISSING, rope_missing, ROPE, .name = "rope-missing", \
        .sentence = "query and key are not turned by their positions", \
        .pytorch = "q, k = apply_rotary_pos_emb(q, k, cos, sin), before the scores", \
        .numpy = "q, k = turn(q, positions), turn(k, positions)  # before q @ k.T", \
        .c = "turn(q[h][i], i) and turn(k[h][j], j), before their product", \
        .section = "attn-layer: Positions and norms", .unseen = "query and key stand at position 0") \
    ROW(ROPE_QUERY_MISSING, rope_query_missing, ROPE, .name = "rope-query-missing", \
        .sentence = "query is not turned by its position, key alone is", \
        .pytorch = "q, k = apply_rotary_pos_emb(q, k, cos, sin): both", \
        .numpy = "q = turn(q, positions)  # as k", \
        .c = "turn(q[h][i], i), as turn(k[h][j], j)", \
        .section = "attn-layer: Positions and norms", .unseen = "the queries stand at position 0") \
    ROW(ROPE_KEY_MISSING, rope_key_missing, ROPE, .name = "rope-key-missing", \
        .sentence = "key is not turned by its position, query alone is", \
        .pytorch = "q, k = apply_rotary_pos_emb(q, k, cos, sin): both; a cache keeps turned keys", \
        .numpy = "k = turn(k, positions)  # as q", \
        .c = "turn(k[h][j], j), as turn(q[h][i], i)", \
        .section = "attn-layer: Positions and norms", .unseen = "the keys stand at position 0") \
    ROW(ROPE_THETA, rope_theta, ROPE, .name = "rope-theta", \
        .sentence = "the rotation has another theta", \
        .pytorch = "1.0 / config.rope_theta ** (torch.arange(0, n, 2) / n), not 10000.0", \
        .numpy = "frequencies = theta ** (-np.arange(0, n, 2) / n)  # theta of the config", \
        .c = "pow(theta, -2.0 * i / n), with the theta of the config", \
        .section = "attn-layer: Positions and norms", .unseen = "there is one pair, or all stands at position 0", \
        .number = "the theta", .from = 1, .to = 1e12, .usual = 10000) \
    ROW(ROPE_SCALING_MISSING, rope_scaling_missing, ROPE, .name = "rope-scaling-missing", \
        .sentence = "the scaling of the frequencies for long texts is left out", \
        .pytorch = "inv_freq as config.rope_scaling says: ROPE_INIT_FUNCTIONS[rope_type]", \
        .numpy = "frequencies = scaled(theta ** (-np.arange(0, n, 2) / n))", \
        .c = "each frequency is changed by the rope_scaling of the config", \
        .section = "attn-layer: Positions and norms", .unseen = "it changes no frequency here") \
    ROW(ROPE_SCALING_LINEAR, rope_scaling_linear, ROPE, .name = "rope-scaling-linear", \
        .sentence = "all frequencies are divided by the factor: the scaling is taken for linear", \
        .pytorch = "rope_type of the config: llama3 and yarn keep the fast pairs as they are", \
        .numpy = "divide the slow pairs, keep the fast ones, mix those between them", \
        .c = "the factor divides slow pairs alone: those of few turns", \
        .section = "attn-layer: Positions and norms", .unseen = "all frequencies are divided anyway") \
    ROW(ROPE_ATTENTION_MISSING, rope_attention_missing, ROPE, .name = "rope-attention-missing", \
        .sentence = "cosines and sines lack the scaling's own factor", \
        .pytorch = "cos = emb.cos() * self.attention_scaling; sin = emb.sin() * attention_scaling", \
        .numpy = "cos, sin = np.cos(angle) * factor, np.sin(angle) * factor", \
        .c = "cosine *= factor and sine *= factor: 0.1 * log(s) + 1 for yarn", \
        .section = "attn-layer: Positions and norms") \
    ROW(ROPE_ALL_COLUMNS, rope_all_columns, ROPE, .name = "rope-all-columns", \
        .sentence = "all columns of a head are turned, where some of them are right", \
        .pytorch = "q_rot, q_pass = q[..., :n], q[..., n:]; turn q_rot, then torch.cat both", \
        .numpy = "q[..., :n] = turn(q[..., :n])  # n of d columns", \
        .c = "turn x[0] to x[n - 1]; the other d - n stay as they are", \
        .section = "attn-layer: Positions and norms", .unseen = "all columns are turned") \
    ROW(ROPE_OTHER_END, rope_other_end, ROPE, .name = "rope-other-end", \
        .sentence = "the columns at the other end of a head are turned", \
        .pytorch = "q_nope, q_pe = q.split([d - n, n], -1) for MLA; others turn q[..., :n]", \
        .numpy = "q[..., :n] = turn(q[..., :n])  # or the last n, as MLA has them", \
        .c = "x[0] to x[n - 1] are turned; of MLA the last n", \
        .section = "attn-layer: Positions and norms", .unseen = "all columns are turned") \
    ROW(ROPE_EXPONENT_OF_HEAD, rope_exponent_of_head, ROPE, .name = "rope-exponent-of-head", \
        .sentence = "the frequencies are those of a whole head, where some columns are turned", \
        .pytorch = "torch.arange(0, n, 2) / n: n is rotary_dim, not head_dim", \
        .numpy = "frequencies = theta ** (-np.arange(0, n, 2) / n)  # n, not d", \
        .c = "pow(theta, -2.0 * i / n), not / d", \
        .section = "attn-layer: Positions and norms", .unseen = "all columns are turned") \
    ROW(ROPE_BACKWARDS, rope_backwards, ROPE, .name = "rope-backwards", \
        .sentence = "query and key are turned the other way: the sine has the wrong sign", \
        .pytorch = "rotate_half(x) is cat((-x2, x1)), not cat((x2, -x1))", \
        .numpy = "a, b = a * cos - b * sin, b * cos + a * sin  # not a * cos + b * sin", \
        .c = "y[0] = a * cosine - b * sine; y[1] = b * cosine + a * sine", \
        .section = "attn-layer: Positions and norms") \
    ROW(ROPE_TWICE, rope_twice, ROPE, .name = "rope-twice", \
        .sentence = "query and key are turned by their positions twice", \
        .pytorch = "apply_rotary_pos_emb once: a cache keeps keys that are turned already", \
        .numpy = "q, k = turn(q, positions), turn(k, positions)  # once", \
        .c = "turn(q[h][i], i) and turn(k[h][j], j), once", \
        .section = "attn-layer: Positions and norms") \
    ROW(ROPE_QUERY_PLUS_1, rope_query_plus_1, ROPE, .name = "rope-query-plus-1", \
        .sentence = "queries are turned by a position that is one too high", \
        .pytorch = "position_ids[i] = past + i for query i, not past + i + 1", \
        .numpy = "q = turn(q, past + np.arange(Tq))  # not + 1", \
        .c = "turn(q[h][i], past + i), not past + i + 1", \
        .section = "attn-layer: Positions and norms") \
    ROW(ROPE_QUERY_MINUS_1, rope_query_minus_1, ROPE, .name = "rope-query-minus-1", \
        .sentence = "queries are turned by a position that is one too low", \
        .pytorch = "position_ids[i] = past + i for query i, not past + i - 1", \
        .numpy = "q = turn(q, past + np.arange(Tq))  # not - 1", \
        .c = "turn(q[h][i], past + i), not past + i - 1", \
        .section = "attn-layer: Positions and norms") \
    ROW(ROPE_KEY_PLUS_1, rope_key_plus_1, ROPE, .name = "rope-key-plus-1", \
        .sentence = "keys are turned by a position that is one too high", \
        .pytorch = "key j is turned by j, from 0 on, as query j", \
        .numpy = "k = turn(k, np.arange(Tk))  # from 0 on", \
        .c = "turn(k[h][j], j), not j + 1", \
        .section = "attn-layer: Positions and norms") \
    ROW(ROPE_KEY_MINUS_1, rope_key_minus_1, ROPE, .name = "rope-key-minus-1", \
        .sentence = "keys are turned by a position that is one too low", \
        .pytorch = "key j is turned by j, as query j; new ones of a cache by past + j", \
        .numpy = "k = turn(k, past + np.arange(T))  # not - 1", \
        .c = "turn(k[h][past + j], past + j), not - 1", \
        .section = "attn-layer: Positions and norms") \
    ROW(ROPE_POSITIONS_FROM, rope_positions_from, ROPE, .name = "rope-positions-from", \
        .sentence = "positions do not begin at 0", \
        .pytorch = "position_ids = torch.arange(T)[None], from 0 on", \
        .numpy = "positions = np.arange(T)  # from 0 on", \
        .c = "turn(q[h][i], i), where i begins at 0", \
        .section = "attn-layer: Positions and norms", .unseen = "scores depend on distances alone", \
        .number = "what is added to each position", .from = 1, .to = 1000000, .usual = 1, .whole = true) \
    ROW(ROPE_PAST_MISSING, rope_past_missing, ROPE, .name = "rope-past-missing", \
        .sentence = "positions of new tokens begin at 0, though there is a past", \
        .pytorch = "position_ids = torch.arange(past, past + T)[None]", \
        .numpy = "positions = past + np.arange(T)", \
        .c = "turn(q[h][i], past + i); k alike", \
        .section = "attn-layer: Positions and norms") \
    ROW(ROPE_ON_VALUES, rope_on_values, ROPE, .name = "rope-on-values", \
        .sentence = "values are turned by their positions, too", \
        .pytorch = "q, k = apply_rotary_pos_emb(q, k, cos, sin): value_states stay as they are", \
        .numpy = "context = w @ v  # not w @ turn(v, positions)", \
        .c = "v[h][j] is not turned", \
        .section = "attn-layer: Positions and norms", .unseen = "the keys stand at position 0") \
    ROW(SOFTCAP_AFTER_MASK, softcap_after_mask, SOFTCAP, .name = "softcap-after-mask", \
        .sentence = "the softcap comes after the mask, so hidden keys get a finite score", \
        .pytorch = "softcap * torch.tanh(attn_scores / softcap) first, masked_fill after it", \
        .numpy = "s = np.where(seen, softcap * np.tanh(s / softcap), -np.inf)", \
        .c = "s = softcap * tanh(s / softcap), and then -INFINITY where key j is hidden", \
        .section = "attn-sdpa: The scores", .unseen = "no score is hidden") \
    ROW(SOFTCAP_BEFORE_SCALE, softcap_before_scale, SOFTCAP, .name = "softcap-before-scale", \
        .sentence = "the softcap comes before the scale, not after it", \
        .pytorch = "softcap * torch.tanh(attn_scores / head_dim**0.5 / softcap)", \
        .numpy = "s = softcap * np.tanh(q @ k.swapaxes(-1, -2) / np.sqrt(d) / softcap)", \
        .c = "s[i][j] = softcap * tanh(dot(q[i], k[j], d) / sqrt(d) / softcap)", \
        .section = "attn-sdpa: The scores", .unseen = "the scale is 1") \
    ROW(SOFTCAP_MISSING, softcap_missing, SOFTCAP, .name = "softcap-missing", \
        .sentence = "the softcap is left out", \
        .pytorch = "softcap * torch.tanh(attn_scores / softcap), after the scale", \
        .numpy = "s = softcap * np.tanh(s / softcap)", \
        .c = "s[i][j] = softcap * tanh(s[i][j] / softcap)", \
        .section = "attn-sdpa: The scores", .unseen = "all scores are small beside the softcap") \
    ROW(SOFTCAP_NOT_MULTIPLIED, softcap_not_multiplied, SOFTCAP, .name = "softcap-not-multiplied", \
        .sentence = "tanh(score / softcap) is not multiplied by the softcap", \
        .pytorch = "softcap * torch.tanh(attn_scores / softcap), not torch.tanh alone", \
        .numpy = "s = softcap * np.tanh(s / softcap)", \
        .c = "s[i][j] = softcap * tanh(s[i][j] / softcap)", \
        .section = "attn-sdpa: The scores", .unseen = "the softcap is 1") \
    ROW(ALIBI_SIGN, alibi_sign, ALIBI, .name = "alibi-sign", \
        .sentence = "ALiBi raises the scores of distant keys, where it should lower them", \
        .pytorch = "attn_scores - slopes[:, None, None] * (i - j).abs(), not +", \
        .numpy = "i = np.arange(T); s = s - slopes[:, None, None] * abs(i[:, None] - i)", \
        .c = "s[h][i][j] -= slope[h] * abs(i - j), not +=", \
        .section = "attn-files: THE INPUT") \
    ROW(ALIBI_MISSING, alibi_missing, ALIBI, .name = "alibi-missing", \
        .sentence = "the ALiBi bias is left out", \
        .pytorch = "attn_scores - slopes[:, None, None] * (i - j).abs(), of query i and key j", \
        .numpy = "i = np.arange(T); s = s - slopes[:, None, None] * abs(i[:, None] - i)", \
        .c = "s[h][i][j] -= slope[h] * abs(i - j)", \
        .section = "attn-files: THE INPUT") \
    ROW(ALIBI_DOUBLED, alibi_doubled, ALIBI, .name = "alibi-doubled", \
        .sentence = "the ALiBi bias is twice as large as it should be", \
        .pytorch = "attn_scores - slopes[:, None, None] * (i - j).abs(), once", \
        .numpy = "i = np.arange(T); s = s - slopes[:, None, None] * abs(i[:, None] - i)", \
        .c = "s[h][i][j] -= slope[h] * abs(i - j), once", \
        .section = "attn-files: THE INPUT") \
    ROW(ALIBI_HALVED, alibi_halved, ALIBI, .name = "alibi-halved", \
        .sentence = "the ALiBi bias is half as large as it should be", \
        .pytorch = "attn_scores - slopes[:, None, None] * (i - j).abs(), not half of that", \
        .numpy = "i = np.arange(T); s = s - slopes[:, None, None] * abs(i[:, None] - i)", \
        .c = "s[h][i][j] -= slope[h] * abs(i - j), not half of that", \
        .section = "attn-files: THE INPUT") \
    ROW(ALIBI_REVERSED, alibi_reversed, ALIBI, .name = "alibi-reversed", \
        .sentence = "the ALiBi slopes are given to the heads in reverse order", \
        .pytorch = "slopes[h] for head h, not slopes.flip(0)", \
        .numpy = "s = s - slopes[:, None, None] * distance  # not slopes[::-1]", \
        .c = "slope[h] for head h, not slope[H - 1 - h]", \
        .section = "attn-files: THE INPUT", .unseen = "the slopes are the same from either end") \
    ROW(ALIBI_ONE_HEAD_OFF, alibi_one_head_off, ALIBI, .name = "alibi-one-head-off", \
        .sentence = "each head uses the ALiBi slope of the head after or before it", \
        .pytorch = "slopes[h] for head h; 2.0 ** (-8 * h / num_heads) counts heads from 1", \
        .numpy = "s = s - slopes[:, None, None] * distance  # 2.0 ** (-8 * h / H): h from 1", \
        .c = "slope[h], not slope[h + 1]; pow(2, -8.0 * (h + 1) / H) where h begins at 0", \
        .section = "attn-files: THE INPUT", \
        .forms = MISTAKE_FORMS("later", "earlier")) \
    ROW(ALIBI_SCALED, alibi_scaled, ALIBI, .name = "alibi-scaled", \
        .sentence = "the ALiBi bias is added before the scaling, so it is scaled, too", \
        .pytorch = "attn_scores / head_dim**0.5 + bias, not (attn_scores + bias) / head_dim**0.5", \
        .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(d) + bias  # bias is not divided", \
        .c = "s[h][i][j] = dot(q[i], k[j], d) / sqrt(d) - slope[h] * abs(i - j)", \
        .section = "attn-files: THE INPUT", .unseen = "the scale is 1") \
    ROW(ALIBI_ONE_SERIES, alibi_one_series, ALIBI, .name = "alibi-one-series", \
        .sentence = "the ALiBi slopes are one series, 2^(-8 h / H), where H is no power of two", \
        .pytorch = "slopes = r[1::2] + r[::2], r of the next power of two of heads; then [:H]", \
        .numpy = "r = 2.0 ** (-8 * np.arange(1, P + 1) / P); np.r_[r[1::2], r[::2]][:H]", \
        .c = "pow(2, -8.0 * i / P), P the next power of two: even i first, then odd", \
        .section = "attn-layer: Positions and norms", .unseen = "the heads are a power of two") \
    ROW(ALIBI_NOT_SCALED, alibi_not_scaled, ALIBI, .name = "alibi-not-scaled", \
        .sentence = "the ALiBi slopes are not divided by sqrt(d_head), as this model has them", \
        .pytorch = "(attn_scores + alibi) * inv_norm_factor, as Falcon has it", \
        .numpy = "s = (q @ k.swapaxes(-1, -2) + bias) / np.sqrt(d)  # both are divided", \
        .c = "s[h][i][j] = (dot(q[i], k[j], d) + bias[h][j]) / sqrt(d)", \
        .section = "attn-layer: Positions and norms") \
    ROW(RELATIVE_MISSING, relative_missing, RELATIVE, .name = "relative-missing", \
        .sentence = "the relative bias is left out", \
        .pytorch = "scores += position_bias, from the first layer on", \
        .numpy = "s = s + table[bucket(j - i)].transpose(2, 0, 1)  # table (buckets, H)", \
        .c = "s[h][i][j] += table[bucket(j - i)][h]", \
        .section = "attn-layer: Positions and norms") \
    ROW(RELATIVE_ONE_WAY, relative_one_way, RELATIVE, .name = "relative-one-way", \
        .sentence = "keys after a query have no buckets of their own: those of a decoder", \
        .pytorch = "bidirectional=(not self.is_decoder): True in an encoder", \
        .numpy = "bucket(j - i, both_ways=True)  # half of the buckets each", \
        .c = "keys after the query have the second half of the buckets", \
        .section = "attn-layer: Positions and norms", .unseen = "no query sees a key after its own") \
    ROW(RELATIVE_BOTH_WAYS, relative_both_ways, RELATIVE, .name = "relative-both-ways", \
        .sentence = "half of the buckets are kept for keys after a query: those of an encoder", \
        .pytorch = "bidirectional=(not self.is_decoder): False in a decoder", \
        .numpy = "bucket(j - i, both_ways=False)  # all of them for keys before", \
        .c = "all buckets are for the keys up to the query", \
        .section = "attn-layer: Positions and norms", .unseen = "all keys are near") \
    ROW(RELATIVE_TURNED, relative_turned, RELATIVE, .name = "relative-turned", \
        .sentence = "the relative bias takes keys before a query for those after it", \
        .pytorch = "memory_position - context_position: key minus query", \
        .numpy = "bucket(j - i)  # key minus query, not i - j", \
        .c = "bucket(j - i), not bucket(i - j)", \
        .section = "attn-layer: Positions and norms", .unseen = "the table is the same for both sides") \
    ROW(SINKS_MISSING, sinks_missing, SINKS, .name = "sinks-missing", \
        .sentence = "the sinks are left out of the softmax's sum", \
        .pytorch = "torch.softmax(torch.cat([scaled, sinks_as_column], dim=-1), dim=-1)[..., :-1]", \
        .numpy = "s = np.concatenate([s, sinks], -1)  # sinks (H, T, 1); then w[..., :-1]", \
        .c = "sum += exp(sink[h] - max), where max counts sink[h], too", \
        .section = "attn-files: THE INPUT", .unseen = "the sinks are too low to take any weight") \
    ROW(LSE_BASE_2, lse_base_2, LSE, .name = "lse-base-2", \
        .sentence = "the logarithm in lse is to base 2, not to base e", \
        .pytorch = "torch.logsumexp(scaled, dim=-1), not torch.log2", \
        .numpy = "m = s.max(-1); lse = m + np.log(np.exp(s - m[..., None]).sum(-1))", \
        .c = "lse[i] = max + log(sum), not log2", \
        .section = "attn: STAGES", .unseen = "lse is not among the stages") \
    ROW(LSE_MAXIMUM_MISSING, lse_maximum_missing, LSE, .name = "lse-maximum-missing", \
        .sentence = "the largest score, subtracted for softmax, is not added back to the lse", \
        .pytorch = "torch.logsumexp(scaled, dim=-1) adds it itself", \
        .numpy = "m = s.max(-1); lse = m + np.log(np.exp(s - m[..., None]).sum(-1))", \
        .c = "lse[i] = max + log(sum), not log(sum)", \
        .section = "attn: STAGES", .unseen = "lse is not among the stages") \
    ROW(LSE_BEFORE_SCALE, lse_before_scale, LSE, .name = "lse-before-scale", \
        .sentence = "the lse is made of the scores before they are scaled", \
        .pytorch = "torch.logsumexp(attn_scores / head_dim**0.5, dim=-1)", \
        .numpy = "lse = np.logaddexp.reduce(s / np.sqrt(d), axis=-1)", \
        .c = "max and sum are of dot(q[i], k[j], d) / sqrt(d)", \
        .section = "attn: STAGES", .unseen = "lse is not among the stages, or the scale is 1") \
    ROW(DROPOUT_NOT_RESCALED, dropout_not_rescaled, DROPOUT, .name = "dropout-not-rescaled", \
        .sentence = "the weights that dropout keeps are not divided by 1 - p", \
        .pytorch = "nn.Dropout(p) divides; by hand: attn_weights * kept / (1 - p)", \
        .numpy = "w = w * (rng.random(w.shape) >= p) / (1 - p)", \
        .c = "w[i][j] = kept ? w[i][j] / (1 - p) : 0", \
        .section = "attn: Dropout") \
    ROW(DROPOUT_DIVIDED_BY_P, dropout_divided_by_p, DROPOUT, .name = "dropout-divided-by-p", \
        .sentence = "the weights that dropout keeps are divided by p, not by 1 - p", \
        .pytorch = "nn.Dropout(p) divides; by hand: attn_weights * kept / (1 - p)", \
        .numpy = "w = w * kept / (1 - p)  # p is the share that is dropped", \
        .c = "w[i][j] = kept ? w[i][j] / (1 - p) : 0, where p is the share that is dropped", \
        .section = "attn: Dropout", .unseen = "p and 1 - p are both 0.5") \
    ROW(DROPOUT_BEFORE_SOFTMAX, dropout_before_softmax, DROPOUT, .name = "dropout-before-softmax", \
        .sentence = "dropout sets scores to 0 before softmax, not weights after it", \
        .pytorch = "attn_weights = self.dropout(torch.softmax(scaled, dim=-1))", \
        .numpy = "w = w * kept / (1 - p)  # w after softmax, not s before it", \
        .c = "w[i][j] is dropped, after it was divided by the sum; not s[i][j]", \
        .section = "attn: Dropout") \
    ROW(DROPOUT_MISSING, dropout_missing, DROPOUT, .name = "dropout-missing", \
        .sentence = "dropout is left out, though it was asked for", \
        .pytorch = "attn_weights = self.dropout(attn_weights), and model.train(), not model.eval()", \
        .numpy = "w = w * kept / (1 - p)", \
        .c = "w[i][j] = kept ? w[i][j] / (1 - p) : 0", \
        .section = "attn: Dropout") \
    ROW(DROPOUT_ON, dropout_on, DROPOUT, .name = "dropout-on", \
        .sentence = "dropout is on, though none was asked for", \
        .pytorch = "model.eval(); F.scaled_dot_product_attention needs dropout_p=0.0 besides", \
        .numpy = "context = w @ v  # w as softmax makes it", \
        .c = "p = 0, unless the model is in training", \
        .section = "attn: Dropout", \
        .number = "the share that is dropped", .from = 0.001, .to = 0.999, .usual = 0.1) \
    ROW(DRAW_RAND, draw_rand, DRAW, .name = "draw-rand", \
        .sentence = "the matrices are drawn by torch.rand, attn was asked for another way", \
        .pytorch = "nn.Linear(d_in, d_out, bias=False); or ask attn for it: --init rand", \
        .section = "attn: torch.rand and nn.Linear", .unseen = "it is what was asked for") \
    ROW(DRAW_LINEAR, draw_linear, DRAW, .name = "draw-linear", \
        .sentence = "the matrices are drawn by nn.Linear, attn was asked for another way", \
        .pytorch = "torch.rand(d_in, d_out); or ask attn for it: --init linear", \
        .numpy = "np.random.RandomState(SEED).randint(2**24, size=n) / 2**24  # torch.rand(n)", \
        .section = "attn: torch.rand and nn.Linear", .unseen = "it is what was asked for") \
    ROW(DRAW_RANDN, draw_randn, DRAW, .name = "draw-randn", \
        .sentence = "the matrices are drawn by torch.randn, attn was asked for another way", \
        .pytorch = "nn.Linear(d_in, d_out, bias=False); or ask attn for it: --init randn", \
        .section = "attn: Parameters", .unseen = "it is what was asked for") \
    ROW(DRAW_ORDER, draw_order, DRAW, .name = "draw-order", \
        .sentence = "the matrices of query, key and value are drawn in another order", \
        .pytorch = "in __init__: self.W_query first, then self.W_key, then self.W_value", \
        .section = "attn: Seeds and skipped draws", \
        .forms = MISTAKE_FORMS("kqv", "vkq", "vqk", "kvq", "qvk")) \
    ROW(DRAW_SEED, draw_seed, DRAW, .name = "draw-seed", \
        .sentence = "the random numbers come from another seed", \
        .pytorch = "torch.manual_seed(SEED), with the seed asked for, right before the module", \
        .section = "attn: Seeds and skipped draws", \
        .number = "the seed", .to = 4294967295.0, .usual = 42, .whole = true) \
    ROW(DRAW_SKIP, draw_skip, DRAW, .name = "draw-skip", \
        .sentence = "other numbers are drawn between the seed and the module", \
        .pytorch = "torch.manual_seed(SEED) right before the module, not once for all modules", \
        .section = "attn: Seeds and skipped draws", \
        .number = "the draws before", .to = 4294967295.0, .usual = 18, .whole = true) \
    ROW(DRAW_D_OUT, draw_d_out, DRAW, .name = "draw-d-out", \
        .sentence = "the projections have another number of columns, d_out", \
        .pytorch = "nn.Linear(d_in, d_out); or ask attn for it: --d-out", \
        .section = "attn: Several heads, split", .unseen = "the columns are as many", \
        .number = "the columns", .from = 1, .to = 1048576, .usual = 2, .whole = true) \
    ROW(DRAW_LAYER, draw_layer, DRAW, .name = "draw-layer", \
        .sentence = "the parameters are those of another layer", \
        .pytorch = "model.model.layers[N].self_attn, N from 0; its states are hidden_states[N]", \
        .section = "attn-layer: A checkpoint", \
        .number = "the layer", .from = 0, .to = 10000, .usual = 1, .whole = true) \
    ROW(DRAW_SPLIT, draw_split, DRAW, .name = "draw-split", \
        .sentence = "the matrices are drawn as for split heads, where stacked ones were asked for", \
        .pytorch = "MultiHeadAttentionWrapper, with a module for each head, not MultiHeadAttention", \
        .section = "attn: Seeds and skipped draws", .unseen = "the heads are drawn so, or there is one") \
    ROW(DRAW_STACKED, draw_stacked, DRAW, .name = "draw-stacked", \
        .sentence = "the matrices are drawn as for stacked heads, where split ones were asked for", \
        .pytorch = "MultiHeadAttention, with large matrices, not MultiHeadAttentionWrapper", \
        .section = "attn: Seeds and skipped draws", .unseen = "the heads are drawn so, or there is one") \
    ROW(DRAW_MKL, draw_mkl, DRAW, .name = "draw-mkl", \
        .sentence = "dropout is drawn by Intel's MKL: no mistake, but another build of PyTorch", \
        .pytorch = "nothing to mend; attn --rng torch-mkl draws as this build of PyTorch does", \
        .section = "attn: Dropout", .unseen = "there is no dropout") \
    ROW(TILES_CONTEXT_NOT_RESCALED, tiles_context_not_rescaled, TILES, .name = "tiles-context-not-rescaled", \
        .sentence = "the context so far is not rescaled when a tile raises the maximum", \
        .pytorch = "context_vec *= torch.exp(old_max - new_max), then += e @ values[..., tile, :]", \
        .numpy = "context = context * np.exp(old_max - new_max) + e @ v[..., tile, :]", \
        .c = "context[c] *= exp(old_max - new_max), before the tile is added", \
        .section = "attn-numbers: TWO PATHS", .unseen = "no row has its largest score behind its first tile", \
        .number = "keys of a tile", .from = 1, .to = 4096, .usual = 2, .whole = true) \
    ROW(TILES_CONTEXT_DIVIDED, tiles_context_divided, TILES, .name = "tiles-context-divided", \
        .sentence = "the context is divided by the running sum in each tile, not once at the end", \
        .pytorch = "context_vec = context_vec / total, once, after the last tile", \
        .numpy = "context = context / total  # once, after the last tile", \
        .c = "context[c] /= sum, once, after the last tile", \
        .section = "attn-numbers: TWO PATHS", .unseen = "there are fewer keys than a tile", \
        .number = "keys of a tile", .from = 1, .to = 4096, .usual = 2, .whole = true) \
    ROW(TILES_SUM_NOT_RESCALED, tiles_sum_not_rescaled, TILES, .name = "tiles-sum-not-rescaled", \
        .sentence = "the sum so far is not rescaled when a tile raises the maximum", \
        .pytorch = "total = total * torch.exp(old_max - new_max) + e.sum(dim=-1, keepdim=True)", \
        .numpy = "total = total * np.exp(old_max - new_max) + e.sum(-1, keepdims=True)", \
        .c = "sum *= exp(old_max - new_max), before the tile is added", \
        .section = "attn-numbers: TWO PATHS", .unseen = "no row has its largest score behind its first tile", \
        .number = "keys of a tile", .from = 1, .to = 4096, .usual = 2, .whole = true) \
    ROW(TILES_LAST_ALONE, tiles_last_alone, TILES, .name = "tiles-last-alone", \
        .sentence = "the last tile replaces what the tiles before it have summed", \
        .pytorch = "context_vec and total are 0 before the loop over tiles, not in it; then +=", \
        .numpy = "context = total = 0  # before the loop over tiles, not in it; then +=", \
        .c = "set context[c] and sum to 0 before the first tile, not before each", \
        .section = "attn-numbers: TWO PATHS", .unseen = "there are fewer keys than a tile", \
        .number = "keys of a tile", .from = 1, .to = 4096, .usual = 2, .whole = true) \
    ROW(BITS_BF16, bits_bf16, BITS, .name = "bits-bf16", \
        .sentence = "the bits of float16 query, key and value are read as bfloat16", \
        .pytorch = "torch.frombuffer(data, dtype=torch.float16), not torch.bfloat16", \
        .numpy = "x = np.frombuffer(data, np.float16)  # NumPy has no bfloat16", \
        .c = "float16: 5 bits of exponent, 10 of fraction; bfloat16: 8 bits and 7", \
        .section = "attn-files: BINARY FILES") \
    ROW(BITS_QUERY_BF16, bits_query_bf16, BITS, .name = "bits-query-bf16", \
        .sentence = "the bits of a float16 query are read as bfloat16", \
        .pytorch = "queries.to(torch.bfloat16) converts; queries.view(torch.bfloat16) does not", \
        .numpy = "q = np.frombuffer(data, np.float16)  # NumPy has no bfloat16", \
        .c = "float16: 5 bits of exponent, 10 of fraction; bfloat16: 8 bits and 7", \
        .section = "attn-files: BINARY FILES") \
    ROW(BITS_KEY_BF16, bits_key_bf16, BITS, .name = "bits-key-bf16", \
        .sentence = "the bits of a float16 key are read as bfloat16", \
        .pytorch = "keys.to(torch.bfloat16) converts; keys.view(torch.bfloat16) does not", \
        .numpy = "k = np.frombuffer(data, np.float16)  # NumPy has no bfloat16", \
        .c = "float16: 5 bits of exponent, 10 of fraction; bfloat16: 8 bits and 7", \
        .section = "attn-files: BINARY FILES") \
    ROW(BITS_VALUE_BF16, bits_value_bf16, BITS, .name = "bits-value-bf16", \
        .sentence = "the bits of a float16 value are read as bfloat16", \
        .pytorch = "values.to(torch.bfloat16) converts; values.view(torch.bfloat16) does not", \
        .numpy = "v = np.frombuffer(data, np.float16)  # NumPy has no bfloat16", \
        .c = "float16: 5 bits of exponent, 10 of fraction; bfloat16: 8 bits and 7", \
        .section = "attn-files: BINARY FILES") \
    ROW(BITS_SWAPPED, bits_swapped, BITS, .name = "bits-swapped", \
        .sentence = "the bytes of each number are read in the wrong order", \
        .pytorch = "torch.from_numpy(x.byteswap()), where x was read in the other order", \
        .numpy = "x = x.view(x.dtype.newbyteorder())  # '<f4' is little-endian, '>f4' big", \
        .c = "little-endian: the lowest byte first; big-endian: the highest", \
        .section = "attn-files: BINARY FILES") \
    ROW(DTYPE_BF16, dtype_bf16, DTYPE, .name = "dtype-bf16", \
        .sentence = "all is computed in bfloat16: no mistake, but low precision", \
        .pytorch = "queries.float(), keys.float(), values.float(); .bfloat16() at the very end", \
        .numpy = "q, k, v = (x.astype(np.float32) for x in (q, k, v))", \
        .c = "float sum = 0; sum += (float)q[i][c] * (float)k[j][c]: sums are float", \
        .section = "attn-numbers: OPTIONS") \
    ROW(DTYPE_F16, dtype_f16, DTYPE, .name = "dtype-f16", \
        .sentence = "all is computed in float16: no mistake, but low precision", \
        .pytorch = "queries.float(), keys.float(), values.float(); .half() at the very end", \
        .numpy = "q, k, v = (x.astype(np.float32) for x in (q, k, v))", \
        .c = "float sum = 0; sum += (float)q[i][c] * (float)k[j][c]: sums are float", \
        .section = "attn-numbers: OPTIONS") \
    ROW(OVERFLOW_F16, overflow_f16, DTYPE, .name = "overflow-f16", \
        .sentence = "the scores are kept in float16, where those above 65504 are infinite", \
        .pytorch = "(queries / head_dim**0.5) @ keys.transpose(-2, -1), or .float() before", \
        .numpy = "s = (q / np.sqrt(d)) @ k.swapaxes(-1, -2)  # or .astype(np.float32) before", \
        .c = "s[i][j] is a float, or q[i] is divided by sqrt(d) before the product", \
        .section = "attn-numbers: OPTIONS", .unseen = "no score is above 65504") \
    ROW(GRAD_DELTA_MISSING, grad_delta_missing, GRAD, .name = "grad-delta-missing", \
        .sentence = "delta, the row's sum of weights x their gradients, is not subtracted", \
        .pytorch = "ds = p * (dp - delta), delta = (grad_out * out).sum(-1, keepdim=True)", \
        .numpy = "ds = p * (dp - (p * dp).sum(-1, keepdims=True))", \
        .c = "ds[j] = p[j] * (dp[j] - delta), delta the sum of p[j] * dp[j] over j", \
        .section = "attn: STAGES", .unseen = "every delta is 0") \
    ROW(GRAD_SCALE_MISSING, grad_scale_missing, GRAD, .name = "grad-scale-missing", \
        .sentence = "the gradient by the scores is not multiplied by the scale", \
        .pytorch = "grad_query = (ds @ key) * scale; grad_key = (ds.mT @ query) * scale", \
        .numpy = "ds = ds * scale; dq = ds @ k; dk = ds.swapaxes(-1, -2) @ q", \
        .c = "dq[i] += scale * ds[i][j] * k[j]; dk[j] += scale * ds[i][j] * q[i]", \
        .section = "attn: STAGES", .unseen = "the scale is 1") \
    ROW(GRAD_SCALE_TWICE, grad_scale_twice, GRAD, .name = "grad-scale-twice", \
        .sentence = "the gradient by the scores is multiplied by the scale twice", \
        .pytorch = "grad_query = (ds @ key) * scale, once; ds itself is not scaled", \
        .numpy = "ds = ds * scale  # here, or behind the products with k and q, not both", \
        .c = "dq[i] += scale * ds[i][j] * k[j], where ds is not scaled yet", \
        .section = "attn: STAGES", .unseen = "the scale is 1") \
    ROW(GRAD_KEY_FROM_SCALED_QUERY, grad_key_from_scaled_query, GRAD, .name = "grad-key-from-scaled-query", \
        .sentence = "the gradient by key is made of a query that the scale is in already", \
        .pytorch = "grad_key = (ds.mT @ query) * scale, with query as it was given", \
        .numpy = "dk = ds.swapaxes(-1, -2) @ q * scale  # q, not q * scale", \
        .c = "dk[j] += ds[i][j] * q_scaled[i], and no scale behind it", \
        .section = "attn: STAGES", .unseen = "the scale is 1") \
    ROW(GRAD_DROPOUT_MISSING, grad_dropout_missing, GRAD, .name = "grad-dropout-missing", \
        .sentence = "dropout is left out on the way back", \
        .pytorch = "dp = (grad_out @ v.mT) * kept / (1 - p); grad_value = dropped.mT @ grad_out", \
        .numpy = "dp = dp * kept / (1 - p); dv = (w * kept / (1 - p)).swapaxes(-1, -2) @ do", \
        .c = "dp[j] = kept[j] ? dp[j] / (1 - p) : 0; dv[j] += dropped[i][j] * dout[i]", \
        .section = "attn: Dropout", .forms = MISTAKE_FORMS("everywhere", "for-weights", "for-value", "everywhere-delta-kept", \
            "for-weights-delta-kept")) \
    ROW(GRAD_GROUPS_NOT_SUMMED, grad_groups_not_summed, GRAD, .name = "grad-groups-not-summed", \
        .sentence = "the gradients by a shared key and value are not summed over its heads", \
        .pytorch = "grad_key.view(b, kv_heads, group, t, d).sum(2); the same for grad_value", \
        .numpy = "dk = dk.reshape(b, kv_heads, group, t, d).sum(2)", \
        .c = "dk[h / group][j] += ..., not = ...; zeros before the first head", \
        .section = "attn: STAGES", .forms = MISTAKE_FORMS("last", "first", "mean")) \
    ROW(GRAD_MASK_MISSING, grad_mask_missing, GRAD, .name = "grad-mask-missing", \
        .sentence = "the weights are made again from lse, without the mask", \
        .pytorch = "p = torch.exp(scaled - lse[..., None]).masked_fill(hidden, 0)", \
        .numpy = "p = np.where(hidden, 0, np.exp(s - lse[..., None]))", \
        .c = "p = hidden(i, j) ? 0 : exp(s[i][j] - lse[i])", \
        .section = "attn: STAGES", .unseen = "nothing is hidden", \
        .forms = MISTAKE_FORMS("delta-of-context", "delta-of-weights")) \
    ROW(GRAD_SOFTCAP_MISSING, grad_softcap_missing, GRAD, .name = "grad-softcap-missing", \
        .sentence = "the slope of the softcap, 1 - tanh^2, is left out on the way back", \
        .pytorch = "ds = ds * (1 - (capped / softcap)**2)", \
        .numpy = "ds = ds * (1 - np.tanh(s / softcap)**2)", \
        .c = "ds[j] *= 1 - t * t, where t = tanh(s[j] / softcap)", \
        .section = "attn: STAGES") \
    ROW(GRAD_SOFTMAX_DIAGONAL, grad_softmax_diagonal, GRAD, .name = "grad-softmax-diagonal", \
        .sentence = "a score moves its own weight alone, by w (1 - w), not the others of its row", \
        .pytorch = "ds = p * (dp - (p * dp).sum(-1, keepdim=True)), not p * (1 - p) * dp", \
        .numpy = "ds = p * (dp - (p * dp).sum(-1, keepdims=True))  # not p * (1 - p) * dp", \
        .c = "ds[j] = p[j] * (dp[j] - delta), not p[j] * (1 - p[j]) * dp[j]", \
        .section = "attn: What a score learns") \
    ROW(GRAD_MAXIMUM_FOR_LSE, grad_maximum_for_lse, GRAD, .name = "grad-maximum-for-lse", \
        .sentence = "the weights are made again from the row's maximum in the place of lse", \
        .pytorch = "p = torch.exp(scaled - lse[..., None]), where lse = maximum + log(sum)", \
        .numpy = "p = np.exp(s - lse[..., None])  # lse = m + np.log(l), not m", \
        .c = "p = exp(s[i][j] - lse[i]), where lse[i] = m[i] + log(l[i])", \
        .section = "attn: STAGES", .unseen = "each row sees one key", \
        .forms = MISTAKE_FORMS("delta-of-context", "delta-of-weights")) \
    ROW(GRAD_TRANSPOSE_MISSING, grad_transpose_missing, GRAD, .name = "grad-transpose-missing", \
        .sentence = "the weights are not transposed for grad_value, nor grad_scores for grad_key", \
        .pytorch = "grad_value = p.mT @ grad_out; grad_key = ds.mT @ query", \
        .numpy = "dv = p.swapaxes(-1, -2) @ do; dk = ds.swapaxes(-1, -2) @ q", \
        .c = "dv[j] += p[i][j] * dout[i]; dk[j] += ds[i][j] * q[i]", \
        .section = "attn: STAGES") \
    ROW(GRAD_QUERY_LAST_TILE, grad_query_last_tile, GRAD, .name = "grad-query-last-tile", \
        .sentence = "the last tile of keys replaces what those before it gave to grad_query", \
        .pytorch = "grad_query = 0 before the loop over tiles of keys, not in it; then +=", \
        .numpy = "dq = 0  # before the loop over tiles of keys, not in it; then +=", \
        .c = "set dq[i] to 0 before the first tile of keys, not before each", \
        .section = "attn-numbers: TWO PATHS", .unseen = "there are fewer keys than a tile", \
        .number = "keys of a tile", .from = 1, .to = 4096, .usual = 2, .whole = true) \
    ROW(GRAD_KEY_LAST_TILE, grad_key_last_tile, GRAD, .name = "grad-key-last-tile", \
        .sentence = "the last tile of queries replaces what was summed in grad_key, grad_value", \
        .pytorch = "grad_key = grad_value = 0 before the loop over tiles of queries; then +=", \
        .numpy = "dk = dv = 0  # before the loop over tiles of queries, not in it; then +=", \
        .c = "set dk[j] and dv[j] to 0 before the first tile of queries, not before each", \
        .section = "attn-numbers: TWO PATHS", .unseen = "there are fewer queries than a tile", \
        .number = "queries of a tile", .from = 1, .to = 4096, .usual = 2, .whole = true) \
    ROW(GRAD_ROPE_MISSING, grad_rope_missing, GRAD, .name = "grad-rope-missing", \
        .sentence = "the gradients by query and key are not turned back", \
        .pytorch = "grad_q = grad_q * cos - rotate_half(grad_q) * sin, the same for grad_k", \
        .numpy = "dq = dq * cos - rotate_half(dq) * sin; dk = dk * cos - rotate_half(dk) * sin", \
        .c = "a = da * cos + db * sin; b = db * cos - da * sin, for each pair", \
        .section = "attn: STAGES") \
    ROW(GRAD_ROPE_FORWARDS, grad_rope_forwards, GRAD, .name = "grad-rope-forwards", \
        .sentence = "the gradients by query and key are turned once more, and not back", \
        .pytorch = "grad_q = grad_q * cos - rotate_half(grad_q) * sin: minus, on the way back", \
        .numpy = "dq = dq * cos - rotate_half(dq) * sin  # minus, on the way back", \
        .c = "a = da * cos + db * sin; b = db * cos - da * sin, for each pair", \
        .section = "attn: STAGES")
/* clang-format on */

#endif
