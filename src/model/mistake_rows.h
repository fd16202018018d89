/* SPDX-License-Identifier: MIT */
/* The mistakes that people make in attention code, one row each: its name, what goes wrong, and the fix. Mistakes of a
 * slot get the same thing wrong in different ways, so a job makes only one of them at a time.
 *
 *     ROW(identifier, slot, fields of struct mistake_row)
 *
 * The first line has the flags and, if they fit, the section and what may hide the mistake; then the sentence and the
 * fixes, a line each.
 * The file of its slot in src/mistake/ has what a mistake changes. Only mistake.c includes the rows, so that a changed
 * sentence recompiles one file; mistake.h has the identifiers. */
/* clang-format off */
ROW(SCALE_MISSING, SCALE, .name = "scale-missing", .any_seed = true, .unseen = "the scale is 1",
    .sentence = "the scores are not divided by sqrt(d_head)",
    .pytorch = "torch.softmax(attn_scores / keys.shape[-1]**0.5, dim=-1)",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])",
    .c = "s[i][j] = dot(q[i], k[j], d) / sqrt(d)")
ROW(SCALE_TWICE, SCALE, .name = "scale-twice", .any_seed = true, .unseen = "the scale is 1",
    .sentence = "the scores are divided by d_head, or by sqrt(d_head) twice",
    .pytorch = "attn_scores / keys.shape[-1]**0.5, once, and with **0.5",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # q is not divided",
    .c = "s[i][j] /= sqrt(d), not /= d; q[i] is not divided")
ROW(SCALE_INVERTED, SCALE, .name = "scale-inverted", .any_seed = true, .unseen = "the scale is 1",
    .sentence = "the scores are multiplied by sqrt(d_head), not divided by it",
    .pytorch = "attn_scores / keys.shape[-1]**0.5, not attn_scores * keys.shape[-1]**0.5",
    .numpy = "s = q @ k.swapaxes(-1, -2) * k.shape[-1]**-0.5",
    .c = "s[i][j] /= sqrt(d), not s[i][j] *= sqrt(d)")
ROW(SCALE_D_MODEL, SCALE, .name = "scale-d-model", .any_seed = true, .section = "attn-lessons: Several heads, split",
    .sentence = "the scores are divided by sqrt(heads * d_head), not by sqrt(d_head)",
    .pytorch = "attn_scores / head_dim**0.5, with head_dim = d_out // num_heads",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # k is (H, T, d)",
    .c = "s[i][j] /= sqrt(d), where d is d_model / H",
    .unseen = "there is one head")
ROW(SCALE_1_OVER_D_MODEL, SCALE, .name = "scale-1-over-d-model", .any_seed = true,
    .sentence = "the scores are divided by heads * d_head, not by sqrt(d_head)",
    .pytorch = "attn_scores / head_dim**0.5, with head_dim = d_out // num_heads",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # k is (H, T, d)",
    .c = "s[i][j] /= sqrt(d), where d is d_model / H",
    .section = "attn-lessons: Several heads, split", .unseen = "d_model is 1")
ROW(SCALE_D_IN, SCALE, .name = "scale-d-in", .any_seed = true, .unseen = "a head has as many columns as an input",
    .sentence = "the scores are divided by sqrt(d_in), not by sqrt(d_head)",
    .pytorch = "attn_scores / keys.shape[-1]**0.5, not x.shape[-1]**0.5",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # not x.shape[-1]",
    .c = "s[i][j] /= sqrt(d), where d counts the columns of a key, not of an input")
ROW(SCALE_USUAL, SCALE, .name = "scale-usual", .any_seed = true, .section = "attn: The mechanism",
    .sentence = "the scores are divided by sqrt(d_head), though the model has its own scale",
    .pytorch = "attn_scores * self.scaling, as the config says: query_pre_attn_scalar**-0.5",
    .numpy = "s = q @ k.swapaxes(-1, -2) * scale  # from the config, not 1 / np.sqrt(d)",
    .c = "s[i][j] = dot(q[i], k[j], d) * scale, with the model's own scale",
    .unseen = "the scale is 1 / sqrt(d_head)")
ROW(SCALE_AND_USUAL, SCALE, .name = "scale-and-usual", .alone = true, .section = "attn: The mechanism",
    .sentence = "the scores are divided by sqrt(d_head), too, besides the model's own scale",
    .pytorch = "F.scaled_dot_product_attention(q, k, v, scale=scaling), with q as it is",
    .numpy = "s = q @ k.swapaxes(-1, -2) * scale  # scale alone, not / np.sqrt(d)",
    .c = "s[i][j] = dot(q[i], k[j], d) * scale, not / sqrt(d)")
ROW(SCALE_D_IN_OVER_HEADS, SCALE, .name = "scale-d-in-over-heads", .section = "attn-lessons: Several heads, split",
    .sentence = "the scores are divided by sqrt(d_in / heads), which is not sqrt(d_head)",
    .pytorch = "attn_scores * config.head_dim**-0.5, not (hidden_size // num_heads)**-0.5",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # not d_in / H",
    .c = "s[i][j] /= sqrt(d), where d is the config's head_dim")
ROW(SCALE_TOKENS, SCALE, .name = "scale-tokens", .any_seed = true,
    .sentence = "the scores are divided by sqrt(tokens), not by sqrt(d_head)",
    .pytorch = "attn_scores / keys.shape[-1]**0.5, not keys.shape[-2]**0.5",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # not k.shape[-2]",
    .c = "s[i][j] /= sqrt(d), not sqrt(T)",
    .unseen = "a head has as many columns as there are tokens")
ROW(SCALE_HEADS, SCALE, .name = "scale-heads", .any_seed = true,
    .sentence = "the scores are divided by sqrt(heads), not by sqrt(d_head)",
    .pytorch = "attn_scores / head_dim**0.5, not num_heads**0.5",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # not k.shape[0]",
    .c = "s[i][j] /= sqrt(d), not sqrt(H)",
    .unseen = "a head has as many columns as there are heads")
ROW(SCALE_FOURTH_ROOT, SCALE, .name = "scale-fourth-root", .any_seed = true, .unseen = "the scale is 1",
    .sentence = "the scores are divided by the fourth root of d_head, not the square root",
    .pytorch = "attn_scores / head_dim**0.5; or both queries and keys / head_dim**0.25",
    .numpy = "s = (q / d**0.25) @ (k / d**0.25).swapaxes(-1, -2)  # both, not q alone",
    .c = "s[i][j] /= sqrt(d); or both q[i] and k[j] are divided by sqrt(sqrt(d))")
ROW(SCALE_AFTER_SOFTMAX, SCALE, .name = "scale-after-softmax", .unseen = "the scale is 1",
    .sentence = "the weights are divided by sqrt(d_head) after softmax, not the scores before",
    .pytorch = "torch.softmax(attn_scores / keys.shape[-1]**0.5, dim=-1): inside the brackets",
    .numpy = "e = np.exp((s - s.max(-1, keepdims=True)) / np.sqrt(d))  # inside exp",
    .c = "w[i][j] = exp((s[i][j] - max) / sqrt(d)) / sum")
ROW(SCALE_NEGATIVE, SCALE, .name = "scale-negative", .any_seed = true,
    .sentence = "the scores have the wrong sign, so the least similar keys get most weight",
    .pytorch = "attn_scores / keys.shape[-1]**0.5, without a minus",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # not -q",
    .c = "s[i][j] = dot(q[i], k[j], d) / sqrt(d), not -dot(...)")
ROW(SCALE_ZERO, SCALE, .name = "scale-zero", .any_seed = true, .section = "attn-lessons: Softmax",
    .sentence = "no score counts: each row is the plain mean of its allowed values",
    .pytorch = "attn_scores = queries @ keys.transpose(-2, -1), not torch.zeros(T, T)",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(d)  # not np.zeros((T, T))",
    .c = "s[i][j] = dot(q[i], k[j], d) / sqrt(d), not 0", .unseen = "all scores of a row are equal")
ROW(SCALE_ROUNDED, SCALE, .name = "scale-rounded", .alone = true, .section = "attn: The mechanism",
    .sentence = "the scores are rounded to a few digits before softmax",
    .pytorch = "torch.softmax(scaled, dim=-1), not of torch.round(scaled, decimals=2)",
    .numpy = "w = softmax(s)  # not softmax(np.round(s, 2))",
    .c = "keep s[i][j] in full; round what you print", .number = "digits after the point", .to = 9, .usual = 2,
    .whole = true, .unseen = "no score has more digits")
#define SOFTMAX_NUMPY .numpy = "e = np.exp(s - s.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True)"
ROW(SOFTMAX_QUERIES, SOFTMAX, .name = "softmax-queries",
    .sentence = "softmax runs over the queries, not over the keys of a row",
    .pytorch = "torch.softmax(scaled, dim=-1), not dim=0, dim=1 of (b, T, T), or dim=-2",
    .c = "for each i, max and sum run over j of s[i][j]", SOFTMAX_NUMPY)
ROW(SOFTMAX_HEADS, SOFTMAX, .name = "softmax-heads",
    .sentence = "softmax runs over the heads, not over the keys of a row",
    .pytorch = "torch.softmax(scaled, dim=-1), not dim=1 of (b, num_heads, T, T)",
    .c = "for each h and i, max and sum run over j of s[h][i][j]", SOFTMAX_NUMPY)
ROW(SOFTMAX_ITEMS, SOFTMAX, .name = "softmax-items",
    .sentence = "softmax runs over the items of the batch, not over the keys of a row",
    .pytorch = "torch.softmax(scaled, dim=-1), not dim=0 of (b, num_heads, T, T)",
    .c = "for each item b and each i, max and sum run over j of s[b][i][j]", SOFTMAX_NUMPY)
ROW(SOFTMAX_ALL, SOFTMAX, .name = "softmax-all", .unseen = "each table has one row",
    .sentence = "one softmax runs over the full table of scores, not one per row",
    .pytorch = "torch.softmax(scaled, dim=-1), not of scaled.flatten()",
    .c = "max and sum restart for each i", SOFTMAX_NUMPY)
ROW(SOFTMAX_BASE_2, SOFTMAX, .name = "softmax-base-2", .any_seed = true, .section = "attn-lessons: Softmax",
    .sentence = "softmax takes powers of 2, not of e",
    .pytorch = "torch.exp(x), or torch.exp2(x * math.log2(math.e)), not torch.exp2(x)",
    .numpy = "e = np.exp2((s - s.max(-1, keepdims=True)) * np.log2(np.e))  # or np.exp",
    .c = "expf(x), or exp2f(x * 1.44269504f), not exp2f(x)")
ROW(SOFTMAX_OVERFLOW, SOFTMAX, .name = "softmax-overflow", .section = "attn-lessons: Softmax",
    .sentence = "softmax does not subtract the row maximum, so exp overflows",
    .pytorch = "torch.softmax(attn_scores, dim=-1) subtracts it; torch.exp alone does not",
    .c = "w[i][j] = exp(s[i][j] - max), where max is the maximum of row i", SOFTMAX_NUMPY,
    .unseen = "no score is above 88")
ROW(SOFTMAX_MISSING, SOFTMAX, .name = "softmax-missing", .section = "attn-lessons: Softmax",
    .sentence = "there is no softmax: the scores are used as the weights",
    .pytorch = "torch.softmax(attn_scores / keys.shape[-1]**0.5, dim=-1) @ values",
    .c = "w[i][j] = exp(s[i][j] - max) / sum", SOFTMAX_NUMPY)
ROW(SOFTMAX_SUM_OF_SCORES, SOFTMAX, .name = "softmax-sum-of-scores", .section = "attn-lessons: Softmax",
    .sentence = "each score is divided by the sum of its row, without exp",
    .pytorch = "torch.softmax(scaled, dim=-1), not scaled / its sum",
    .c = "w[i][j] = exp(s[i][j] - max) / sum, where sum adds up exp, not scores", SOFTMAX_NUMPY)
ROW(SOFTMAX_TWICE, SOFTMAX, .name = "softmax-twice", .any_seed = true, .section = "attn-lessons: Softmax",
    .sentence = "softmax runs twice: the weights go through it again, masked ones too",
    .pytorch = "attn_weights = torch.softmax(scaled, dim=-1), once; then @ values",
    .numpy = "w = softmax(s); context = w @ v  # not softmax(w) @ v",
    .c = "w[i][j] = exp(s[i][j] - max) / sum, once")
ROW(SOFTMAX_LOG, SOFTMAX, .name = "softmax-log", .section = "attn-lessons: Softmax",
    .sentence = "the weights are logarithms: log_softmax in place of softmax",
    .pytorch = "F.softmax(scaled, dim=-1), not F.log_softmax",
    .numpy = "w = np.exp(s - lse)  # not s - lse",
    .c = "w[i][j] = exp(s[i][j] - lse), not s[i][j] - lse")
ROW(SOFTMAX_SIGMOID, SOFTMAX, .name = "softmax-sigmoid", .section = "attn-lessons: Softmax",
    .sentence = "each weight is the sigmoid of its score, so the rows do not sum to 1",
    .pytorch = "torch.softmax(scaled, dim=-1), not torch.sigmoid(scaled)",
    .c = "w[i][j] = exp(s[i][j] - max) / sum, not 1 / (1 + exp(-s[i][j]))", SOFTMAX_NUMPY)
ROW(SOFTMAX_NO_KEEPDIM, SOFTMAX, .name = "softmax-no-keepdim",
    .sentence = "without keepdim, column j of softmax uses the sum or maximum of row j",
    .pytorch = "e = torch.exp(scaled); e / e.sum(dim=-1, keepdim=True)",
    .c = "w[i][j] = exp(s[i][j] - max[i]) / sum[i], not sum[j]", SOFTMAX_NUMPY,
    .unseen = "each row has the same sum and maximum", .forms = MISTAKE_FORMS("sum", "sum-shifted", "maximum", "both"))
ROW(SOFTMAX_MAXIMUM_FROM_0, SOFTMAX, .name = "softmax-maximum-from-0", .unseen = "some score of each row is above -88",
    .sentence = "the row maximum starts at 0, so exp underflows where all scores are low",
    .pytorch = "row_max = torch.full(shape, float('-inf')), not torch.zeros(shape)",
    .numpy = "m = np.full(T, -np.inf)  # not np.zeros(T)",
    .c = "float max = -INFINITY, not 0")
ROW(MASK_MISSING, MASK, .name = "mask-missing", .any_seed = true, .unseen = "no query has a later key to attend to",
    .sentence = "there is no causal mask: queries attend to later keys",
    .pytorch = "attn_scores.masked_fill_(mask.bool(), -torch.inf), with its last underscore",
    .numpy = "s = np.where(np.tri(T, dtype=bool), s, -np.inf)",
    .c = "for query i, j runs from 0 to i: no key after it is read")
ROW(MASK_ONE_AHEAD, MASK, .name = "mask-one-ahead", .any_seed = true, .unseen = "no query has a later key to attend to",
    .sentence = "each query also attends to the key after its own",
    .pytorch = "mask out torch.triu(torch.ones(T, T), diagonal=1), not diagonal=2",
    .numpy = "s = np.where(np.tri(T, dtype=bool), s, -np.inf)  # not k=1",
    .c = "key j is allowed if j <= i, not j <= i + 1")
ROW(MASK_HIDES_OWN, MASK, .name = "mask-hides-own", .any_seed = true,
    .sentence = "each query attends only to the keys before it, not to its own",
    .pytorch = "mask out torch.triu(torch.ones(T, T), diagonal=1), not diagonal=0",
    .numpy = "s = np.where(np.tri(T, dtype=bool), s, -np.inf)  # not k=-1",
    .c = "key j is allowed if j <= i, not j < i")
ROW(MASK_INVERTED, MASK, .name = "mask-inverted", .any_seed = true,
    .sentence = "the causal mask is inverted: queries attend only to later keys",
    .pytorch = "masked_fill_ fills where mask is True: torch.triu(..., diagonal=1), not tril",
    .numpy = "s = np.where(np.tri(T, dtype=bool), s, -np.inf)  # True allows",
    .c = "key j is allowed if j <= i, not j > i")
ROW(MASK_INVERTED_OWN_SEEN, MASK, .name = "mask-inverted-own-seen", .any_seed = true,
    .sentence = "the causal mask is inverted: queries attend to their own key and later ones",
    .pytorch = "attn_mask=torch.ones(T, T).tril().bool(): True allows, so not .triu()",
    .numpy = "s = np.where(np.tri(T, dtype=bool), s, -np.inf)  # not np.tri(T).T",
    .c = "key j is allowed if j <= i, not j >= i")
ROW(MASK_MIRRORED, MASK, .name = "mask-mirrored", .any_seed = true,
    .sentence = "the mask is upside down: the first query gets all keys, the last only one",
    .pytorch = "mask out torch.triu(torch.ones(T, T), diagonal=1), without .flip(0)",
    .numpy = "s = np.where(np.tri(T, dtype=bool), s, -np.inf)  # not [::-1]",
    .c = "key j is allowed if j <= i, not j <= T - 1 - i")
ROW(MASK_CORNER, MASK, .name = "mask-corner", .any_seed = true, .section = "attn-sdpa: Allowed keys",
    .sentence = "with fewer queries than keys, the mask starts in the wrong corner",
    .pytorch = "queries first: torch.ones(Tq, Tk).tril().bool(); queries last: .tril(Tk - Tq)",
    .numpy = "allowed = np.tri(Tq, Tk, Tk - Tq, dtype=bool)  # 0 where queries come first",
    .c = "queries first: j <= i is allowed; queries last: j <= i + Tk - Tq",
    .unseen = "there are as many queries as keys")
ROW(MASK_OFFSET_MISSING, MASK, .name = "mask-offset-missing", .any_seed = true,
    .sentence = "query positions do not count the keys that come before the queries",
    .pytorch = "torch.ones(Tq, Tk).tril(past).bool(): key j is allowed if j <= past + i",
    .numpy = "allowed = np.arange(Tk) <= past + np.arange(Tq)[:, None]",
    .c = "key j is allowed if j <= past + i; with lengths, past is length - Tq",
    .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "no key comes before the queries")
ROW(MASK_OFFSET_PLUS_1, MASK, .name = "mask-offset-plus-1", .any_seed = true,
    .sentence = "each query's position is one too high, so it attends to one key too many",
    .pytorch = "torch.ones(Tq, Tk).tril(past).bool(), not .tril(past + 1)",
    .numpy = "allowed = np.arange(Tk) <= past + np.arange(Tq)[:, None]  # not past + 1",
    .c = "key j is allowed if j <= past + i; with lengths, past is length - Tq",
    .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "nothing depends on a query's position")
ROW(MASK_OFFSET_MINUS_1, MASK, .name = "mask-offset-minus-1", .any_seed = true,
    .sentence = "each query's position is one too low, so its own key is masked",
    .pytorch = "torch.ones(Tq, Tk).tril(past).bool(), not .tril(past - 1)",
    .numpy = "allowed = np.arange(Tk) <= past + np.arange(Tq)[:, None]  # not past - 1",
    .c = "key j is allowed if j <= past + i; with lengths, past is length - Tq",
    .section = "attn-sdpa: QUERY, KEY AND VALUE", .unseen = "nothing depends on a query's position")
ROW(MASK_CAUSAL, MASK, .name = "mask-causal", .any_seed = true, .section = "attn: The mechanism",
    .sentence = "a causal mask is applied, though none was asked for",
    .pytorch = "no masked_fill_; F.scaled_dot_product_attention(..., is_causal=False)",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])  # and no np.tri",
    .c = "j runs over all keys, from 0 to Tk - 1, not only up to i")
ROW(MASK_PACKED_GROUPS, MASK, .name = "mask-packed-groups", .any_seed = true, .section = "attn-sdpa: HEADS THAT SHARE",
    .sentence = "heads of a group are rows, and the mask takes the row for the position",
    .pytorch = "position = row // (num_heads // kv_heads), where row = i * group + head",
    .numpy = "i = np.arange(T * group)[:, None] // group  # for (T, group) rows",
    .c = "position = row / group, for row = i * group + h % group",
    .unseen = "the mask allows those keys, too")
ROW(MASK_DIAGONAL, MASK, .name = "mask-diagonal", .any_seed = true,
    .sentence = "the own key of each query is masked, but for a first query with no other",
    .pytorch = "attn_scores without fill_diagonal_(-torch.inf)",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(d)  # no np.fill_diagonal(s, -np.inf)",
    .c = "key i is allowed for query i, too")
ROW(FILL_ZERO, FILL, .name = "fill-zero", .unseen = "no score is masked",
    .sentence = "masked scores become about 0, not minus infinity, so their keys get weight",
    .pytorch = "attn_scores.masked_fill_(mask.bool(), -torch.inf), not 0, nor -1e-9",
    .numpy = "s = np.where(allowed, s, -np.inf)  # not 0, not s * allowed",
    .c = "s[i][j] = -INFINITY where key j is masked, not 0")
ROW(FILL_SMALL, FILL, .name = "fill-small",
    .sentence = "masked scores become a number such as -9, not minus infinity",
    .pytorch = "attn_scores.masked_fill_(mask.bool(), -torch.inf), not a number",
    .numpy = "s = np.where(allowed, s, -np.inf)  # not a number",
    .c = "s[i][j] = -INFINITY where key j is masked, not a number",
    .unseen = "no score is masked", .number = "the number that replaces minus infinity", .from = -10000, .to = 10000,
    .usual = -9)
ROW(FILL_AFTER_SOFTMAX, FILL, .name = "fill-after-softmax", .unseen = "no score is masked",
    .sentence = "masked weights become 0 only after softmax, so the rows no longer sum to 1",
    .pytorch = "attn_weights / attn_weights.sum(dim=-1, keepdim=True), after masking them",
    .numpy = "w = w * allowed; w = w / w.sum(-1, keepdims=True)",
    .c = "sum exp over the allowed keys only, and divide by that sum")
ROW(FILL_LARGE, FILL, .name = "fill-large", .only_nan = true,
    .sentence = "masked scores become +1e9 or +inf, so masked keys get all the weight",
    .pytorch = "attn_scores.masked_fill_(mask.bool(), -torch.inf), with the minus",
    .numpy = "s = np.where(allowed, s, -np.inf)  # not +1e9",
    .c = "s[i][j] = -INFINITY where key j is masked, not INFINITY",
    .unseen = "no score is masked", .forms = MISTAKE_FORMS("finite", "infinite"))
ROW(FILL_NO_KEEPDIM, FILL, .name = "fill-no-keepdim", .unseen = "no score is masked",
    .sentence = "weights masked after softmax are divided by other rows' sums: no keepdim",
    .pytorch = "masked / masked.sum(dim=-1, keepdim=True)",
    .numpy = "w = w * allowed; w = w / w.sum(-1, keepdims=True)",
    .c = "w[i][j] /= sum[i], not sum[j]")
ROW(FILL_ADDED, FILL, .name = "fill-added",
    .sentence = "a number is added to masked scores, such as 1 or -1, not minus infinity",
    .pytorch = "attn_scores.masked_fill(mask.bool(), -torch.inf), not attn_scores + mask",
    .numpy = "s = np.where(masked, -np.inf, s)  # not s + masked",
    .c = "if (masked(i, j)) s[i][j] = -INFINITY, not s[i][j] += masked(i, j)",
    .number = "the number that is added", .from = -10000, .to = 10000, .usual = 1)
ROW(FILL_ACROSS, FILL, .name = "fill-across", .only_nan = true,
    .sentence = "softmax runs over heads or items, so masked keys share weight, or are NaN",
    .pytorch = "torch.softmax(scaled, dim=-1), not dim=1 or dim=0; masked_fill with -torch.inf",
    .c = "for each h and i, max and sum run over j of s[h][i][j], -INFINITY where masked", SOFTMAX_NUMPY,
    .section = "attn-lessons: Softmax goes along the rows", .unseen = "no score is masked",
    .forms = MISTAKE_FORMS("heads", "items", "heads-nan", "items-nan"))
ROW(WINDOW_LEFT_PLUS_1, WINDOW, .name = "window-left-plus-1", .any_seed = true,
    .sentence = "the window reaches back by one key too many",
    .pytorch = "i - j <= L, with i = torch.arange(T)[:, None] and j = torch.arange(T)",
    .numpy = "allowed = np.arange(T)[:, None] - np.arange(T) <= L  # not L + 1",
    .c = "the first j is max(0, i - L), not i - L - 1",
    .unseen = "no query has an allowed key at that edge")
ROW(WINDOW_LEFT_MINUS_1, WINDOW, .name = "window-left-minus-1", .any_seed = true,
    .sentence = "the window reaches back by one key too few",
    .pytorch = "i - j <= L, not < L: L keys before the query's own, L + 1 with it",
    .numpy = "allowed = np.arange(T)[:, None] - np.arange(T) <= L  # not < L",
    .c = "the first j is max(0, i - L), not i - L + 1",
    .unseen = "no query has an allowed key at that edge")
ROW(WINDOW_RIGHT_PLUS_1, WINDOW, .name = "window-right-plus-1", .any_seed = true,
    .sentence = "the window reaches ahead by one key too many",
    .pytorch = "j - i <= R, with i = torch.arange(T)[:, None] and j = torch.arange(T)",
    .numpy = "allowed = np.arange(T) - np.arange(T)[:, None] <= R  # not R + 1",
    .c = "the last j is min(i + R, T - 1), not i + R + 1",
    .unseen = "no query has an allowed key at that edge")
ROW(WINDOW_RIGHT_MINUS_1, WINDOW, .name = "window-right-minus-1", .any_seed = true,
    .sentence = "the window reaches ahead by one key too few",
    .pytorch = "j - i <= R, not < R: R keys after the query's own",
    .numpy = "allowed = np.arange(T) - np.arange(T)[:, None] <= R  # not < R",
    .c = "the last j is min(i + R, T - 1), not i + R - 1",
    .unseen = "no query has an allowed key at that edge")
ROW(WINDOW_MISSING, WINDOW, .name = "window-missing", .any_seed = true, .unseen = "the window holds every allowed key",
    .sentence = "the window is left out: queries attend to keys that are too far away",
    .pytorch = "allowed = (i - j <= L) & (j - i <= R), i = torch.arange(T)[:, None], j = i.T",
    .numpy = "i = np.arange(T)[:, None]; allowed = (i - i.T <= L) & (i.T - i <= R)",
    .c = "j runs from i - L to i + R, within the keys; -1 sets no limit on that side")
ROW(WINDOW_LEFT_MISSING, WINDOW, .name = "window-left-missing", .any_seed = true,
    .sentence = "the left side of the window is left out",
    .pytorch = "allowed = (i - j <= L) & (j - i <= R), both sides",
    .numpy = "allowed = (i - j <= L) & (j - i <= R)  # i a column, j a row of numbers",
    .c = "the first j is max(0, i - L), not 0")
ROW(WINDOW_RIGHT_MISSING, WINDOW, .name = "window-right-missing", .any_seed = true,
    .sentence = "the right side of the window is left out",
    .pytorch = "allowed = (i - j <= L) & (j - i <= R), both sides",
    .numpy = "allowed = (i - j <= L) & (j - i <= R)  # i a column, j a row of numbers",
    .c = "the last j is min(T - 1, i + R), not T - 1")
ROW(LENGTHS_PLUS_1, LENGTHS, .name = "lengths-plus-1", .unseen = "every item already uses all keys",
    .sentence = "kv_lengths are one too large, and so are the positions of the queries",
    .pytorch = "allowed = j < lengths, not <=; causal: & (j <= lengths - Tq + i)",
    .numpy = "allowed = j < lengths  # not <=; causal: & (j <= lengths - Tq + i)",
    .c = "j < length, and query i has position length - Tq + i; not length + 1")
ROW(LENGTHS_MINUS_1, LENGTHS, .name = "lengths-minus-1",
    .sentence = "kv_lengths are one too small, and so are the positions of the queries",
    .pytorch = "allowed = j < lengths, not lengths - 1; causal: & (j <= lengths - Tq + i)",
    .numpy = "allowed = j < lengths  # not lengths - 1; causal: & (j <= lengths - Tq + i)",
    .c = "j < length, and query i has position length - Tq + i; not length - 1")
ROW(LENGTHS_PLUS_1_PLACE_KEPT, LENGTHS, .name = "lengths-plus-1-place-kept",
    .sentence = "kv_lengths are one too large, but the positions of the queries are right",
    .pytorch = "allowed = torch.arange(Tk) < lengths[:, None, None, None], not <=",
    .numpy = "allowed = np.arange(Tk) < lengths[:, None, None, None]  # not <=",
    .c = "j < length, not j <= length",
    .unseen = "no query could attend to a key after its item's length")
ROW(LENGTHS_MINUS_1_PLACE_KEPT, LENGTHS, .name = "lengths-minus-1-place-kept",
    .sentence = "kv_lengths are one too small, but the positions of the queries are right",
    .pytorch = "allowed = torch.arange(Tk) < lengths[:, None, None, None], not lengths - 1",
    .numpy = "allowed = np.arange(Tk) < lengths[:, None, None, None]  # not lengths - 1",
    .c = "j < length, not j < length - 1")
ROW(LENGTHS_MISSING, LENGTHS, .name = "lengths-missing",
    .sentence = "kv_lengths are ignored: keys after an item's length get weight",
    .pytorch = "allowed = torch.arange(Tk) < lengths[:, None, None, None]; mask the others",
    .numpy = "s = np.where(np.arange(Tk) < lengths[:, None, None, None], s, -np.inf)",
    .c = "j < length of the item, not j < Tk",
    .unseen = "no query could attend to a key after its item's length",
    .forms = MISTAKE_FORMS("place-kept", "queries-last", "queries-first"))
ROW(PAST_NOT_COUNTED, LENGTHS, .name = "past-not-counted",
    .sentence = "the number of keys leaves out the past, so the last keys are not read",
    .pytorch = "keys = torch.cat([past_keys, keys], dim=-2); the length is keys.shape[-2]",
    .numpy = "k = np.concatenate([past_k, k], -2); length = k.shape[-2]",
    .c = "j < past + T, not j < T, with T new keys",
    .unseen = "no query attends to the last keys", .forms = MISTAKE_FORMS("queries-moved", "place-kept"))
ROW(SEQUENCES_MISSING, SEQUENCES, .name = "sequences-missing",
    .sentence = "packed sequences are treated as one sequence",
    .pytorch = "flash_attn_varlen_func with cu_seqlens, or a block diagonal attn_mask",
    .numpy = "masked = sequence[:, None] != sequence[None, :]",
    .c = "for (j = cu[s]; j < cu[s + 1]; j++), not from 0 to the total")
ROW(SEQUENCES_BEFORE_SEEN, SEQUENCES, .name = "sequences-before-seen",
    .sentence = "a query also attends to all packed sequences before its own",
    .pytorch = "flash_attn_varlen_func with cu_seqlens, or a block diagonal attn_mask",
    .numpy = "masked = sequence[:, None] != sequence[None, :]  # not only <",
    .c = "for (j = cu[s]; j < cu[s + 1]; j++), not from 0 on")
ROW(SEQUENCES_LEAK_BEFORE, SEQUENCES, .name = "sequences-leak-before",
    .sentence = "a query also attends to the last keys of the sequence before its own",
    .pytorch = "keys[cu[s]:cu[s + 1]]",
    .numpy = "k[cu[s]:cu[s + 1]]  # not from cu[s] - 1",
    .c = "for (j = cu[s]; j < cu[s + 1]; j++), not from cu[s] - 1",
    .number = "how many of these keys", .from = 1, .to = 1048576, .usual = 1, .whole = true)
#define CU_SEQLENS                                                \
    .pytorch = "keys[cu[s]:cu[s + 1]]",                           \
    .numpy = "k[cu[s]:cu[s + 1]]  # not up to cu[s + 1] + 1",     \
    .c = "for (j = cu[s]; j < cu[s + 1]; j++), not <= cu[s + 1]", \
    .number = "how many of these keys", .to = 1048576, .whole = true
ROW(SEQUENCES_LEAK_BEHIND, SEQUENCES, .name = "sequences-leak-behind",
    .sentence = "a query also attends to the first keys of the sequence after its own", CU_SEQLENS,
    .from = 1, .usual = 1, .unseen = "the mask is causal")
ROW(SEQUENCES_START_PLUS_1, SEQUENCES, .name = "sequences-start-plus-1",
    .sentence = "a sequence begins one token too late: a cumulative length is one too large", CU_SEQLENS)
ROW(SEQUENCES_START_MINUS_1, SEQUENCES, .name = "sequences-start-minus-1",
    .sentence = "a sequence begins one token too early: a cumulative length is one too small", CU_SEQLENS)
ROW(SEQUENCES_KEYS_PLUS_1, SEQUENCES, .name = "sequences-keys-plus-1",
    .sentence = "the keys of a sequence begin one too late: cu_seqlens_k is one too large", CU_SEQLENS)
ROW(SEQUENCES_KEYS_MINUS_1, SEQUENCES, .name = "sequences-keys-minus-1",
    .sentence = "the keys of a sequence begin one too early: cu_seqlens_k is one too small", CU_SEQLENS)
ROW(SEQUENCES_QUERIES_PLUS_1, SEQUENCES, .name = "sequences-queries-plus-1",
    .sentence = "the queries of a sequence begin one too late: cu_seqlens_q is too large", CU_SEQLENS)
ROW(SEQUENCES_QUERIES_MINUS_1, SEQUENCES, .name = "sequences-queries-minus-1",
    .sentence = "the queries of a sequence begin one too early: cu_seqlens_q is too small", CU_SEQLENS)
ROW(PAGES_STALE, PAGES, .name = "pages-stale",
    .sentence = "a stale entry of block_table names another page",
    .pytorch = "update block_table whenever a page is reassigned",
    .numpy = "key_cache[block_table[b, token // size], token % size]",
    .c = "page = table[b * per_item + token / size], after the table is updated",
    .number = "the entry, from 0, times the pages of the caches, plus the page it names", .to = 9007199254740991.0,
    .whole = true)
ROW(PAGES_TAIL_COUNTED, PAGES, .name = "pages-tail-counted",
    .sentence = "the unused tail of the last page counts: the length is rounded up to pages",
    .pytorch = "cache_seqlens is the number of tokens, not page size x pages",
    .numpy = "k = k[:kv_length]  # not pages * size",
    .c = "for (j = 0; j < kv_length[b]; j++), not up to pages * size",
    .unseen = "every page is full, or the tail comes after the queries",
    .forms = MISTAKE_FORMS("queries-last", "place-kept"))
ROW(PAGES_LAST_MISSING, PAGES, .name = "pages-last-missing", .unseen = "every page is full",
    .sentence = "the last page is left out when it is not full",
    .pytorch = "(kv_length + size - 1) // size pages, not kv_length // size",
    .numpy = "pages = -(-kv_length // size)  # rounded up",
    .c = "pages = (kv_length + size - 1) / size")
ROW(PAGES_IN_ORDER, PAGES, .name = "pages-in-order",
    .sentence = "pages are read in the order of the batch, not of block_table",
    .pytorch = "key_cache[block_table[b]], not key_cache.view(b, -1, heads, d)",
    .numpy = "key_cache[block_table[b]]  # not key_cache.reshape(b, -1, heads, d)",
    .c = "page = table[b * per_item + token / size], not b * per_item + token / size",
    .unseen = "the pages already lie in that order", .forms = MISTAKE_FORMS("as-many-each", "as-used"))
ROW(PAGES_SORTED, PAGES, .name = "pages-sorted", .unseen = "the pages already lie in that order",
    .sentence = "an item's pages are read in memory order, not in the order of block_table",
    .pytorch = "key_cache[block_table[b]], not key_cache[block_table[b].sort()[0]]",
    .numpy = "key_cache[block_table[b]]  # not np.sort, nor a boolean index",
    .c = "page = table[b * per_item + token / size], in the order of the table")
ROW(PAGES_OTHER_ITEM, PAGES, .name = "pages-other-item",
    .sentence = "an item reads the pages of another item in the batch",
    .pytorch = "reorder block_table together with the batch: block_table[order]",
    .numpy = "block_table = block_table[order]  # as query and kv_lengths",
    .c = "page = table[b * per_item + token / size], with b the item's row in this batch",
    .number = "how many rows of block_table too far, wrapping around", .from = 1, .to = 1048576, .usual = 1,
    .whole = true)
ROW(ATTN_MASK_MISSING, ATTN_MASK, .name = "attn-mask-missing", .unseen = "attn_mask changes nothing",
    .sentence = "attn_mask is not used",
    .pytorch = "attn_scores.masked_fill_(~attn_mask, -torch.inf); a float mask: + attn_mask",
    .numpy = "s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask",
    .c = "if (!mask[i][j]) s[i][j] = -INFINITY; a float mask: s[i][j] += mask[i][j]")
ROW(ATTN_MASK_INVERTED, ATTN_MASK, .name = "attn-mask-inverted", .section = "attn-sdpa: Allowed keys",
    .sentence = "attn_mask is inverted: True and False are swapped",
    .pytorch = "F.scaled_dot_product_attention: True allows; nn.MultiheadAttention: True masks",
    .numpy = "s = np.where(mask, s, -np.inf)  # True allows; ~mask if True masks",
    .c = "if (!mask[i][j]) s[i][j] = -INFINITY, where true allows a key")
ROW(ATTN_MASK_TRANSPOSED, ATTN_MASK, .name = "attn-mask-transposed", .unseen = "attn_mask is symmetric",
    .sentence = "attn_mask is read with queries and keys swapped",
    .pytorch = "attn_mask is (..., queries, keys): use it without .transpose(-2, -1)",
    .numpy = "s = np.where(mask, s, -np.inf)  # mask is (Tq, Tk), not mask.T",
    .c = "mask[i][j], not mask[j][i], for query i and key j")
ROW(ATTN_MASK_ALONG_QUERIES, ATTN_MASK, .name = "attn-mask-along-queries",
    .sentence = "a padding mask masks queries (rows), not keys (columns)",
    .pytorch = "padding[:, None, None, :] of (b, num_tokens), not padding[:, None, :, None]",
    .numpy = "s = np.where(mask[:, None, None, :], s, -np.inf)  # mask of (B, T)",
    .c = "mask[b][j] masks key j for every query i, not mask[b][i]")
ROW(ATTN_MASK_ADDED, ATTN_MASK, .name = "attn-mask-added",
    .sentence = "a boolean attn_mask is added to the scores, as 1 and 0",
    .pytorch = "attn_scores.masked_fill_(~attn_mask, -torch.inf), not += attn_mask",
    .numpy = "s = np.where(mask, s, -np.inf)  # not s + mask",
    .c = "if (!mask[i][j]) s[i][j] = -INFINITY, not s[i][j] += mask[i][j]")
ROW(ATTN_MASK_ITEMS_FOR_HEADS, ATTN_MASK, .name = "attn-mask-items-for-heads", .unseen = "all items have the same mask",
    .sentence = "item 1's mask goes to head 1 of every item, item 2's to head 2, and so on",
    .pytorch = "attn_mask[:, None], so that (b, T, T) becomes (b, 1, T, T)",
    .numpy = "s = np.where(mask[:, None], s, -np.inf)  # (B, T, T) to (B, 1, T, T)",
    .c = "mask[b][i][j] for all heads of item b, not mask[h][i][j]")
ROW(ATTN_MASK_FIRST_ITEM, ATTN_MASK, .name = "attn-mask-first-item", .unseen = "all items have the same mask",
    .sentence = "every item of the batch has the attn_mask of the first one",
    .pytorch = "attn_mask[b], not attn_mask[0], for item b",
    .numpy = "s = np.where(mask, s, -np.inf)  # mask (B, ...), not mask[0]",
    .c = "mask + b * stride_of_item, where that stride is not 0")
ROW(ATTN_MASK_FIRST_HEAD, ATTN_MASK, .name = "attn-mask-first-head", .unseen = "all heads have the same mask",
    .sentence = "every head has the attn_mask of the first one",
    .pytorch = "attn_mask[:, h], not attn_mask[:, 0], for head h",
    .numpy = "s = np.where(mask, s, -np.inf)  # mask (B, H, ...), not mask[:, :1]",
    .c = "mask + h * stride_of_head, where that stride is not 0")
ROW(EMPTY_ZERO, EMPTY, .name = "empty-zero", .unseen = "no row is empty",
    .sentence = "a query with no allowed key gets zeros, but you asked for NaN or the mean",
    .pytorch = "torch.softmax of a row of -torch.inf is NaN: leave it, or fill in 1 / Tk",
    .numpy = "w = np.where(allowed.any(-1, keepdims=True), w, np.nan)  # the mean: 1 / Tk",
    .c = "where no key is allowed, w[i][j] = NAN; for the mean, 1.0 / Tk")
ROW(EMPTY_NAN, EMPTY, .name = "empty-nan", .unseen = "no row is empty",
    .sentence = "a query with no allowed key gets NaN, but you asked for zeros or the mean",
    .pytorch = "attn_weights.masked_fill_(~allowed.any(dim=-1, keepdim=True), 0.0)",
    .numpy = "w = np.where(allowed.any(-1, keepdims=True), w, 0)  # the mean: 1 / Tk",
    .c = "where no key is allowed, w[i][j] = 0; -INFINITY - -INFINITY is NaN")
ROW(EMPTY_MEAN, EMPTY, .name = "empty-mean", .unseen = "no row is empty",
    .sentence = "a query with no allowed key gets the mean, but you asked for zeros or NaN",
    .pytorch = "mask with -torch.inf, not -1e9: then such a row is NaN; set it to 0 for zeros",
    .numpy = "w = np.where(allowed.any(-1, keepdims=True), w, 0)  # -np.inf, not -1e9",
    .c = "mask with -INFINITY, not -1e9; where no key is allowed, w[i][j] = 0")
ROW(KEYS_LAST_MISSING, KEYS, .name = "keys-last-missing", .unseen = "no query attends to the last key",
    .sentence = "the last key is left out",
    .pytorch = "queries @ keys.transpose(-2, -1), not keys[..., :-1, :]",
    .numpy = "s = q @ k.swapaxes(-1, -2)  # not k[..., :-1, :]",
    .c = "for (j = 0; j < T; j++), not j < T - 1")
ROW(KEYS_FIRST_MISSING, KEYS, .name = "keys-first-missing", .unseen = "no query attends to the first key",
    .sentence = "the first key is left out",
    .pytorch = "queries @ keys.transpose(-2, -1), not keys[..., 1:, :]",
    .numpy = "s = q @ k.swapaxes(-1, -2)  # not k[..., 1:, :]",
    .c = "for (j = 0; j < T; j++), not j = 1")
ROW(KEYS_AS_QUERIES, KEYS, .name = "keys-as-queries", .section = "attn-sdpa: QUERY, KEY AND VALUE",
    .sentence = "the loop over keys stops at the number of queries",
    .pytorch = "attn_scores has keys.shape[-2] columns, not queries.shape[-2]",
    .numpy = "s = q @ k.swapaxes(-1, -2)  # not k[..., :q.shape[-2], :]",
    .c = "for (j = 0; j < Tk; j++), not j < Tq",
    .unseen = "no query attends to a key beyond the number of queries")
ROW(KEYS_PADDING_COUNTED, KEYS, .name = "keys-padding-counted", .section = "attn-sdpa: QUERY, KEY AND VALUE",
    .sentence = "zeros that pad the last tile of keys take a share of the softmax",
    .pytorch = "attn_scores[..., num_tokens:] = -torch.inf, before softmax",
    .numpy = "s[..., T:] = -np.inf  # before softmax",
    .c = "s[i][j] = -INFINITY for each j >= T of the last tile, not 0",
    .unseen = "no query could attend to a padded key", .number = "keys per tile", .from = 2, .to = 4096, .usual = 64,
    .whole = true)
ROW(VALUES_SHIFTED, KEYS, .name = "values-shifted", .section = "attn-lessons: The context",
    .sentence = "each weight multiplies a value next to its own",
    .pytorch = "context_vec = attn_weights @ values, not values.roll(-1, dims=-2)",
    .numpy = "context = w @ v  # not np.roll(v, -1, axis=-2)",
    .c = "context[i] += w[i][j] * v[j], not v[j + 1] or v[j - 1]",
    .forms = MISTAKE_FORMS("next", "previous", "next-round", "previous-round"))
ROW(KEYS_STRIDES, KEYS, .name = "keys-strides", .section = "attn-sdpa: HEADS THAT SHARE",
    .sentence = "strides of key or value count the query's heads, not their own",
    .pytorch = "keys.stride(), from the tensor itself, not from num_heads * head_dim",
    .numpy = "k = k.reshape(B, T, H_kv, d)  # not H",
    .c = "k[((b * T + j) * H_kv + h / group) * d + c], not * H",
    .forms = MISTAKE_FORMS("both-rows", "key-rows", "value-rows", "both-items", "key-items", "value-items"))
#define KEYS_PER_TILE .number = "keys per tile", .from = 1, .to = 4096, .usual = 2, .whole = true
#define PER_TILE .unseen = "one tile holds all keys", KEYS_PER_TILE, .of_kernels = true
ROW(KEYS_STALE, KEYS, .name = "keys-stale",
    .sentence = "each tile after the first uses the keys of the tile before it",
    .pytorch = "k_tile = keys[..., tile, :], loaded before its scores",
    .numpy = "k_tile = k[..., tile, :]  # of this tile",
    .c = "wait for the copy of this tile's keys before the product with the query", PER_TILE)
ROW(VALUES_STALE, KEYS, .name = "values-stale",
    .sentence = "each tile after the first uses the values of the tile before it",
    .pytorch = "v_tile = values[..., tile, :], loaded before its product",
    .numpy = "v_tile = v[..., tile, :]  # of this tile",
    .c = "wait for the copy of this tile's values before the product with the weights", PER_TILE)
ROW(SCORES_COSINE, SCORES, .name = "scores-cosine",
    .sentence = "the scores are cosine similarities: divided by the lengths of query and key",
    .pytorch = "queries @ keys.transpose(-2, -1), not F.cosine_similarity or F.normalize",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(d)  # q, k not divided by their norms",
    .c = "s[i][j] = dot(q[i], k[j], d) / sqrt(d), not / (norm(q[i]) * norm(k[j]))",
    .forms = MISTAKE_FORMS("unscaled", "scaled"))
ROW(SCORES_KEY_VIEW, SCORES, .name = "scores-key-view",
    .sentence = "keys are reshaped to (d_head, tokens), not transposed, which mixes tokens",
    .pytorch = "queries @ keys.transpose(-2, -1), not keys.reshape(d, num_tokens)",
    .numpy = "s = q @ k.swapaxes(-1, -2)  # not k.reshape(d, T)",
    .c = "column c of key j is k[j * d + c], not k[c * T + j]")
ROW(SCORES_OF_SUMS, SCORES, .name = "scores-of-sums", .unseen = "a head has one column",
    .sentence = "each score is the sum of the query times the sum of the key, no dot product",
    .pytorch = "torch.einsum('id,jd->ij', queries, keys), not 'id,je->ij'",
    .numpy = "s = np.einsum('id,jd->ij', q, k)  # not 'id,je->ij'",
    .c = "s[i][j] += q[i][c] * k[j][c]: one loop over c, not one for each")
ROW(ROLES_QUERY_KEY_SWAPPED, ROLES, .name = "roles-query-key-swapped",
    .sentence = "queries and keys are swapped",
    .pytorch = "queries @ keys.transpose(-2, -1), not keys @ queries.transpose(-2, -1)",
    .numpy = "s = q @ k.swapaxes(-1, -2)  # not k @ q.swapaxes(-1, -2)",
    .c = "s[i][j] = dot(q[i], k[j], d), not dot(k[i], q[j], d)")
ROW(ROLES_KEY_VALUE_SWAPPED, ROLES, .name = "roles-key-value-swapped",
    .sentence = "keys and values are swapped",
    .pytorch = "keys = self.W_key(x); values = self.W_value(x); attn_weights @ values",
    .numpy = "k = x @ W_key; v = x @ W_value  # then w @ v, with w from q and k",
    .c = "s[i][j] = dot(q[i], k[j], d); then context[i] += w[i][j] * v[j]")
ROW(ROLES_QUERY_VALUE_SWAPPED, ROLES, .name = "roles-query-value-swapped",
    .sentence = "queries and values are swapped",
    .pytorch = "queries = self.W_query(x); values = self.W_value(x); attn_weights @ values",
    .numpy = "q = x @ W_query; v = x @ W_value  # then w @ v, with w from q and k",
    .c = "s[i][j] = dot(q[i], k[j], d); then context[i] += w[i][j] * v[j]")
ROW(ROLES_KEY_FOR_VALUE, ROLES, .name = "roles-key-for-value", .section = "attn-lessons: The context",
    .sentence = "the context is a weighted sum of keys, not of values",
    .pytorch = "attn_weights @ values, with values = self.W_value(x), not self.W_key(x)",
    .numpy = "context = w @ v  # v = x @ W_value, not x @ W_key",
    .c = "context[i] += w[i][j] * v[j], not k[j]")
ROW(ROLES_QUERY_FOR_KEY, ROLES, .name = "roles-query-for-key", .section = "attn-lessons: The scores of one token",
    .sentence = "the scores multiply queries by queries, not by keys",
    .pytorch = "queries @ keys.transpose(-2, -1), with keys = self.W_key(x)",
    .numpy = "s = q @ k.swapaxes(-1, -2)  # not q @ q.swapaxes(-1, -2)",
    .c = "s[i][j] = dot(q[i], k[j], d), not dot(q[i], q[j], d)")
ROW(ROLES_KEY_FOR_QUERY, ROLES, .name = "roles-key-for-query", .section = "attn-lessons: The scores of one token",
    .sentence = "the scores multiply keys by keys, not queries by keys",
    .pytorch = "queries @ keys.transpose(-2, -1), with queries = self.W_query(x)",
    .numpy = "s = q @ k.swapaxes(-1, -2)  # not k @ k.swapaxes(-1, -2)",
    .c = "s[i][j] = dot(q[i], k[j], d), not dot(k[i], k[j], d)")
ROW(ROLES_QUERY_FOR_VALUE, ROLES, .name = "roles-query-for-value", .section = "attn-lessons: The context",
    .sentence = "the context is a weighted sum of queries, not of values",
    .pytorch = "attn_weights @ values, with values = self.W_value(x), not self.W_query(x)",
    .numpy = "context = w @ v  # v = x @ W_value, not x @ W_query",
    .c = "context[i] += w[i][j] * v[j], not q[j]")
ROW(ROLES_INPUTS_FOR_VALUE, ROLES, .name = "roles-inputs-for-value", .section = "attn-lessons: The context",
    .sentence = "the context is a weighted sum of inputs, not of values",
    .pytorch = "attn_weights @ values, with values = self.W_value(x), not x",
    .numpy = "context = w @ v  # v = x @ W_value, not x",
    .c = "context[i] += w[i][j] * v[j], not x[j]")
ROW(ROLES_ONE_FOR_ALL, ROLES, .name = "roles-one-for-all",
    .sentence = "one matrix serves as query, key and value, or the inputs do without any",
    .pytorch = "queries = W_query(x); keys = W_key(x); values = W_value(x)",
    .numpy = "q, k, v = x @ W_query, x @ W_key, x @ W_value",
    .c = "q, k and v are three arrays, each from its own matrix",
    .forms = MISTAKE_FORMS("query", "key", "value", "inputs"))
ROW(WEIGHTS_TRANSPOSED, WEIGHTS, .name = "weights-transposed",
    .sentence = "the weights are transposed before they multiply the values",
    .pytorch = "attn_weights @ values, not attn_weights.transpose(-2, -1) @ values",
    .numpy = "context = w @ v  # not w.swapaxes(-1, -2) @ v",
    .c = "context[i] += w[i][j] * v[j], not w[j][i] * v[j]")
#define NOT_TRANSPOSED(W, q, i)                                                                           \
    .pytorch = "x @ " W " for (d_in, d_out); x @ " W ".weight.T for an nn.Linear",                        \
    .numpy = q " = x @ " W "  # " W " is (d_in, d_out); nn.Linear stores its .T",                         \
    .c = q "[" i "][c] sums x[" i "][r] * W[r][c] over r; with an nn.Linear's weight, W[c][r]",           \
    .unseen = "the matrix is symmetric"
ROW(MATRIX_TRANSPOSED, MATRIX, .name = "matrix-transposed",
    .sentence = "W_query, W_key and W_value are all used transposed", NOT_TRANSPOSED("W_query", "q", "i"))
ROW(MATRIX_QUERY_TRANSPOSED, MATRIX, .name = "matrix-query-transposed",
    .sentence = "W_query is used transposed", NOT_TRANSPOSED("W_query", "q", "i"))
ROW(MATRIX_KEY_TRANSPOSED, MATRIX, .name = "matrix-key-transposed",
    .sentence = "W_key is used transposed", NOT_TRANSPOSED("W_key", "k", "j"))
ROW(MATRIX_VALUE_TRANSPOSED, MATRIX, .name = "matrix-value-transposed",
    .sentence = "W_value is used transposed", NOT_TRANSPOSED("W_value", "v", "j"))
ROW(MATRIX_KEY_VALUE_SWAPPED, MATRIX, .name = "matrix-key-value-swapped",
    .sentence = "W_key makes the values and W_value the keys: the weights are swapped",
    .pytorch = "keys = self.k_proj(x), from k_proj.weight; values = self.v_proj(x)",
    .numpy = "k, v = x @ W_key, x @ W_value",
    .c = "k is made with W_key and rotated, v with W_value")
ROW(MATRIX_QUERY_KEY_SWAPPED, MATRIX, .name = "matrix-query-key-swapped",
    .sentence = "W_query makes the keys and W_key the queries: the weights are swapped",
    .pytorch = "queries = self.q_proj(x), from q_proj.weight; keys = self.k_proj(x)",
    .numpy = "q, k = x @ W_query, x @ W_key",
    .c = "q is made with W_query, k with W_key")
ROW(BIAS_MISSING, BIAS, .name = "bias-missing", .unseen = "the biases of queries and values are 0",
    .sentence = "the biases of queries, keys and values are not added",
    .pytorch = "x @ W_query.weight.T + W_query.bias, as self.W_query(x); same for key, value",
    .numpy = "q, k, v = x @ W_query + b_query, x @ W_key + b_key, x @ W_value + b_value",
    .c = "q[i][c] starts at b_query[c], not at 0; same for k and v")
#define BIAS_OF(queries, query, q, i) \
    .pytorch = queries " = x @ W_" query ".weight.T + W_" query ".bias, as self.W_" query "(x) does", \
    .numpy = q " = x @ W_" query " + b_" query, .c = q "[" i "][c] starts at b_" query "[c], not at 0"
ROW(BIAS_QUERY_MISSING, BIAS, .name = "bias-query-missing", .unseen = "the bias of the queries is 0",
    .sentence = "the bias of the queries is not added", BIAS_OF("queries", "query", "q", "i"))
ROW(BIAS_KEY_MISSING, BIAS, .name = "bias-key-missing",
    .sentence = "the bias of the keys is not added", BIAS_OF("keys", "key", "k", "j"),
    .unseen = "it adds the same number to every score of a row, so no weight changes")
ROW(BIAS_VALUE_MISSING, BIAS, .name = "bias-value-missing", .unseen = "the bias of the values is 0",
    .sentence = "the bias of the values is not added", BIAS_OF("values", "value", "v", "j"))
#define OWN_BIAS                                                                                \
    .pytorch = "x @ W_query.weight.T + W_query.bias, as self.W_query(x); same for key, value",  \
    .numpy = "q, k, v = x @ W_query + b_query, x @ W_key + b_key, x @ W_value + b_value",       \
    .c = "q[i][c] starts at b_query[c], k[j][c] at b_key[c], v[j][c] at b_value[c]"
ROW(BIAS_TWICE, BIAS, .name = "bias-twice", .alone = true,
    .sentence = "biases of queries, keys or values are added twice", OWN_BIAS,
    .unseen = "these biases are 0", .forms = MISTAKE_FORMS("all", "query", "key", "value"))
ROW(BIAS_SWAPPED, BIAS, .name = "bias-swapped", .alone = true,
    .sentence = "two of query, key and value have each other's bias", OWN_BIAS,
    .unseen = "these biases are the same", .forms = MISTAKE_FORMS("key-value", "query-key", "query-value"))
#undef OWN_BIAS
ROW(CLIP_MISSING, CLIP, .name = "clip-missing", .unseen = "no number in query, key or value exceeds the limit",
    .sentence = "query, key and value are not clipped, though the model clips them",
    .pytorch = "qkv.clamp_(min=-clip_qkv, max=clip_qkv), right after the projection",
    .numpy = "q, k, v = (np.clip(x, -C, C) for x in (q, k, v))",
    .c = "q[i][c] = fmax(-C, fmin(C, q[i][c])); same for k and v")
ROW(GROWTH_MISSING, GROWTH, .name = "growth-missing",
    .sentence = "queries do not grow with their position, though those of the model do",
    .pytorch = "q = q * (1 + A * torch.log1p(torch.floor(positions / N)))[:, None]",
    .numpy = "q = q * (1 + A * np.log1p(np.floor(positions / N)))[:, None]",
    .c = "q[i][c] *= 1 + A * log1p(floor(position[i] / N));", .unseen = "no query has a position from which it grows")
ROW(SPLIT_VIEW, SPLIT, .name = "split-view",
    .sentence = "heads are split by .view(b, num_heads, num_tokens, d_head), mixing tokens",
    .pytorch = "keys.view(b, num_tokens, num_heads, head_dim).transpose(1, 2)",
    .numpy = "k = k.reshape(T, H, d).swapaxes(0, 1)  # not k.reshape(H, T, d)",
    .c = "column c of key j in head h is k[j * H * d + h * d + c]")
ROW(SPLIT_INTERLEAVED, SPLIT, .name = "split-interleaved", .unseen = "a head has one column",
    .sentence = "heads take columns in turn, not d_head neighbouring columns each",
    .pytorch = "keys.view(b, num_tokens, num_heads, head_dim), not (..., head_dim, num_heads)",
    .numpy = "k = k.reshape(T, H, d).swapaxes(0, 1)  # not k.reshape(T, d, H)",
    .c = "column c of head h is column h * d + c, not c * H + h")
ROW(SPLIT_PACKED_BY_HEAD, SPLIT, .name = "split-packed-by-head", .section = "attn-files: THE INPUT",
    .sentence = "packed query, key, value are read as heads x 3 x d, not as 3 x heads x d",
    .pytorch = "qkv.view(b, T, 3, num_heads, head_dim), not (b, T, num_heads, 3, head_dim)",
    .numpy = "q, k, v = np.moveaxis(qkv.reshape(T, 3, H, d), 1, 0)  # not (T, H, 3, d)",
    .c = "the key of head h has columns (H + h) * d + c, not (3 * h + 1) * d + c")
ROW(SPLIT_PACKED_BY_COLUMN, SPLIT, .name = "split-packed-by-column", .section = "attn-files: THE INPUT",
    .sentence = "packed query, key, value are read as heads x d x 3, not as 3 x heads x d",
    .pytorch = "qkv.view(b, T, 3, num_heads, head_dim), not (b, T, num_heads, head_dim, 3)",
    .numpy = "q, k, v = np.moveaxis(qkv.reshape(T, 3, H, d), 1, 0)  # not (T, H, d, 3)",
    .c = "the key of head h has columns (H + h) * d + c, not (h * d + c) * 3 + 1")
ROW(SPLIT_MISSING, SPLIT, .name = "split-missing",
    .sentence = "the heads are never split: one large head, scaled by its d_out or by d_head",
    .pytorch = "keys.view(b, num_tokens, num_heads, head_dim).transpose(1, 2), before scores",
    .numpy = "k = k.reshape(T, H, d).swapaxes(0, 1)  # same for q and v, before the scores",
    .c = "for each h, the dot product runs over d columns from h * d on, not all H * d",
    .forms = MISTAKE_FORMS("by-d-out", "by-d-head"))
ROW(SPLIT_NOT_TRANSPOSED, SPLIT, .name = "split-not-transposed",
    .sentence = "transpose(1, 2) is left out: each token's heads attend to each other",
    .pytorch = "keys.view(b, num_tokens, num_heads, head_dim).transpose(1, 2)",
    .numpy = "k = k.reshape(T, H, d).swapaxes(0, 1)  # (H, T, d), then q @ k^T",
    .c = "for each head h, scores of q[i][h] with k[j][h]: j runs over tokens")
ROW(MERGE_VIEW, MERGE, .name = "merge-view",
    .sentence = "heads are joined by .view without .transpose, mixing tokens",
    .pytorch = "context_vec.transpose(1, 2).contiguous().view(b, num_tokens, d_out)",
    .numpy = "context = context.swapaxes(0, 1).reshape(T, H * d)  # from (H, T, d)",
    .c = "out[i][h * d + c] = context[h][i][c]")
ROW(MERGE_INTERLEAVED, MERGE, .name = "merge-interleaved", .unseen = "a head has one column",
    .sentence = "the output alternates the heads' columns instead of joining whole heads",
    .pytorch = "context_vec.transpose(1, 2), then view; not context_vec.permute(0, 2, 3, 1)",
    .numpy = "context = context.swapaxes(0, 1).reshape(T, H * d)  # not transpose(1, 2, 0)",
    .c = "out[i][h * d + c] = context[h][i][c], not out[i][c * H + h]")
ROW(MERGE_REVERSED, MERGE, .name = "merge-reversed",
    .sentence = "the heads are joined in reverse order, the last one first",
    .pytorch = "torch.cat([head(x) for head in self.heads], dim=-1), in that order",
    .numpy = "context = context.swapaxes(0, 1).reshape(T, H * d)  # not context[::-1]",
    .c = "out[i][h * d + c] = context[h][i][c], not context[H - 1 - h][i][c]")
ROW(MERGE_ADDED, MERGE, .name = "merge-added", .unseen = "there is one head",
    .sentence = "the heads are added or averaged, not joined, and each gets the result",
    .pytorch = "torch.cat([head(x) for head in self.heads], dim=-1), not their mean",
    .numpy = "context = context.swapaxes(0, 1).reshape(T, H * d)  # not context.mean(0)",
    .c = "out[i][h * d + c] = context[h][i][c], not the mean over h",
    .forms = MISTAKE_FORMS("mean", "sum"))
ROW(OUT_MISSING, OUT, .name = "out-missing",
    .sentence = "out_proj is left out: the joined heads are the output",
    .pytorch = "context_vec = self.out_proj(context_vec)",
    .numpy = "output = context @ W_out.T + b_out",
    .c = "output[i][r] = b_out[r] + the sum of context[i][c] * W_out[r][c] over c")
ROW(OUT_TRANSPOSED, OUT, .name = "out-transposed", .unseen = "out_proj.weight is symmetric",
    .sentence = "the weight of out_proj is used transposed",
    .pytorch = "context_vec @ out_proj.weight.T + out_proj.bias, as out_proj(context_vec) does",
    .numpy = "output = context @ W_out.T + b_out  # W_out as nn.Linear stores it",
    .c = "output[i][r] sums context[i][c] * W_out[r][c] over c, not W_out[c][r]")
ROW(OUT_BIAS_MISSING, OUT, .name = "out-bias-missing", .unseen = "out_proj.bias is 0",
    .sentence = "the bias of out_proj is not added",
    .pytorch = "context_vec @ out_proj.weight.T + out_proj.bias, as out_proj(context_vec) does",
    .numpy = "output = context @ W_out.T + b_out",
    .c = "output[i][r] starts at b_out[r], not at 0")
ROW(OUT_BIAS_TWICE, OUT, .name = "out-bias-twice", .alone = true, .unseen = "out_proj.bias is 0",
    .sentence = "the bias of out_proj is added twice",
    .pytorch = "output = out_proj(context_vec), which adds it; of many devices one adds it",
    .numpy = "output = context @ W_out.T + b_out  # once",
    .c = "output[i][r] starts at b_out[r], and nothing more is added")
ROW(OUT_TWICE, OUT, .name = "out-twice",
    .sentence = "out_proj is applied twice",
    .pytorch = "self.out_proj(context_vec) once: in forward, not again in its caller",
    .numpy = "output = context @ W_out.T + b_out  # once",
    .c = "multiply by W_out once, from context into output")
ROW(OUT_RESIDUAL, OUT, .name = "out-residual", .section = "attn-layer: Positions and norms",
    .sentence = "the inputs are added to the result, as a block does after attention",
    .pytorch = "return context_vec; the block does x + attention(norm(x))",
    .numpy = "return w @ v  # not x + w @ v",
    .c = "out[i][c] = sum, not x[i][c] + sum")
ROW(OUT_NORMED_ADDED, OUT, .name = "out-normed-added", .section = "attn-layer: Positions and norms",
    .sentence = "the normed inputs are added to the result, not the inputs before the norm",
    .pytorch = "residual = hidden_states, before self.input_layernorm(hidden_states)",
    .numpy = "x = x + attention(norm(x))  # not norm(x) + attention(norm(x))",
    .c = "out[i][c] += x[i][c], as it was before the norm")
ROW(OUT_NORMED, OUT, .name = "out-normed",
    .sentence = "the result is normed, as a block does after attention",
    .pytorch = "compare self.attention(x), without self.norm or x +",
    .numpy = "out = ctx @ w_out.T + b  # no norm after it",
    .c = "out[i][c] is not normed here",
    .forms = MISTAKE_FORMS("layer", "layer-of-sum", "rms", "rms-of-sum"))
ROW(POSITIONS_MISSING, POSITIONS, .name = "positions-missing",
    .sentence = "the positions are not added to the inputs",
    .pytorch = "x = tok_emb(ids) + pos_emb(torch.arange(T))",
    .numpy = "x = embedding[ids] + positions[:T]",
    .c = "x[t][c] = embedding[id[t]][c] + positions[t][c]")
ROW(POSITIONS_TWICE, POSITIONS, .name = "positions-twice",
    .sentence = "the positions are added twice",
    .pytorch = "x = tok_emb(ids) + pos_emb(torch.arange(T)), not again in the block",
    .numpy = "x = embedding[ids] + positions[:T]  # once",
    .c = "add positions[t][c] once, where the embedding is read")
ROW(POSITIONS_OTHER, POSITIONS, .name = "positions-other",
    .sentence = "each token gets the position next to its own, or all get the first",
    .pytorch = "pos_emb(torch.arange(T)), from 0; with a cache from the length of the past on",
    .numpy = "x = embedding[ids] + positions[:T]  # not positions[1 : T + 1]",
    .c = "x[t][c] = embedding[id[t]][c] + positions[t][c], with t from 0",
    .forms = MISTAKE_FORMS("next", "previous", "first"))
ROW(RESIDUAL_MISSING, RESIDUAL, .name = "residual-missing",
    .sentence = "the output is not added to the inputs: it alone makes the logits",
    .pytorch = "x = x + self.attn(x)",
    .numpy = "residual = x + output",
    .c = "residual[t][c] = x[t][c] + output[t][c]")
ROW(RESIDUAL_WITHOUT_POSITIONS, RESIDUAL, .name = "residual-without-positions",
    .sentence = "the residual adds the words' embeddings without their positions",
    .pytorch = "x = tok_emb(ids) + pos_emb(torch.arange(T)); x = x + self.attn(x)",
    .numpy = "residual = embedded + output  # not embedding[ids] + output",
    .c = "residual[t][c] = embedded[t][c] + output[t][c]")
ROW(UNEMBEDDING_TRANSPOSED, UNEMBEDDING, .name = "unembedding-transposed", .unseen = "the unembedding is symmetric",
    .sentence = "the unembedding is used transposed",
    .pytorch = "residual @ unembedding; nn.Linear stores the transpose, its weight",
    .numpy = "logits = residual @ unembedding",
    .c = "logits[t][v] sums residual[t][c] * unembedding[c][v] over c")
ROW(UNEMBEDDING_BIAS_MISSING, UNEMBEDDING, .name = "unembedding-bias-missing", .unseen = "unembedding_bias is 0",
    .sentence = "the bias of the logits is not added",
    .pytorch = "logits = residual @ unembedding + bias, as an nn.Linear with a bias does",
    .numpy = "logits = residual @ unembedding + bias",
    .c = "logits[t][v] starts at bias[v], not at 0")
ROW(GROUPS_TILED, GROUPS, .name = "groups-tiled", .unseen = "there is one head of key and value",
    .sentence = "query head h reads key head h mod kv_heads, not its group's",
    .pytorch = "keys.repeat_interleave(num_heads // kv_heads, 1), not .repeat; same for values",
    .numpy = "k, v = (np.repeat(x, H // H_kv, axis=0) for x in (k, v))  # not np.tile",
    .c = "head h reads k[h / (H / H_kv)], not k[h % H_kv]; same for v")
#define REPEATED_ALIKE                                                                               \
    .pytorch = "x.repeat_interleave(num_heads // kv_heads, 1), of keys as of values",                \
    .numpy = "k, v = (np.repeat(x, H // H_kv, axis=0) for x in (k, v))  # not np.tile",              \
    .c = "head h reads k[h / (H / H_kv)] and v[h / (H / H_kv)]",                                     \
    .unseen = "there is one head of key and value"
ROW(GROUPS_KEY_TILED, GROUPS, .name = "groups-key-tiled", .alone = true,
    .sentence = "keys are repeated as h mod kv_heads, values in groups", REPEATED_ALIKE)
ROW(GROUPS_VALUE_TILED, GROUPS, .name = "groups-value-tiled", .alone = true,
    .sentence = "values are repeated as h mod kv_heads, keys in groups", REPEATED_ALIKE)
#undef REPEATED_ALIKE
ROW(GROUPS_FIRST, GROUPS, .name = "groups-first", .unseen = "there is one head of key and value",
    .sentence = "all query heads read the first head of key and value",
    .pytorch = "keys.repeat_interleave(num_heads // kv_heads, 1), not [:, :1]; same for values",
    .numpy = "k, v = (np.repeat(x, H // H_kv, axis=0) for x in (k, v))  # not k[:1]",
    .c = "head h reads k[h / (H / H_kv)], not k[0]; same for v")
ROW(GROUPS_VALUE_FIRST, GROUPS, .name = "groups-value-first", .alone = true, .unseen = "there is one head of value",
    .sentence = "all query heads read the values of the first head, but their own keys",
    .pytorch = "attn_weights @ values, not values[:, :1]",
    .numpy = "context = w @ v  # not v[:1]",
    .c = "head h reads v[h / (H / H_kv)], not v[0]")
ROW(PACKING_GROUPS, PACKING, .name = "packing-groups",
    .sentence = "a packed weight is read in groups, but it stores all queries, then all keys",
    .pytorch = "q, k, v = qkv.split([H * d, H_kv * d, H_kv * d], dim=-1), then .view",
    .numpy = "q, k, v = np.split(qkv, [H * d, (H + H_kv) * d], axis=-1)  # blocks",
    .c = "key head h begins at row (H + h) * d, value head h at (H + H_kv + h) * d")
ROW(PACKING_BLOCKS, PACKING, .name = "packing-blocks", .unseen = "there is one group",
    .sentence = "a packed weight is read as three blocks, but it is stored in groups",
    .pytorch = "qkv.view(b, T, H_kv, H // H_kv + 2, d): [..., :-2, :] is q, [..., -2, :] is k",
    .numpy = "x = qkv.reshape(T, H_kv, -1, d); k, v = x[:, :, -2], x[:, :, -1]",
    .c = "key head h begins at row (h * (G + 2) + G) * d, where G is H / H_kv")
ROW(PACKING_ORDER, PACKING, .name = "packing-order",
    .sentence = "the blocks of a packed weight are read in another order",
    .pytorch = "q, k, v = qkv.split([H * d, H_kv * d, H_kv * d], dim=-1), in that order",
    .numpy = "q, k, v = np.split(qkv, [H * d, (H + H_kv) * d], axis=-1)",
    .c = "queries begin at row 0, keys at H * d, values at (H + H_kv) * d",
    .forms = MISTAKE_FORMS("kqv", "vkq", "vqk", "kvq", "qvk"))
ROW(PACKING_GATE, PACKING, .name = "packing-gate",
    .sentence = "query and gate are split from one weight in another way",
    .pytorch = "q, gate = q_proj(x).view(B, T, H, 2 * d).chunk(2, dim=-1), by head",
    .numpy = "q, gate = np.split((x @ w_q.T).reshape(T, H, 2 * d), 2, axis=-1)",
    .c = "head h has its query in rows 2 * h * d to (2 * h + 1) * d, then its gate",
    .forms = MISTAKE_FORMS("blocks", "gate-first"))
ROW(PACKING_LATENT, PACKING, .name = "packing-latent",
    .sentence = "a weight of the latents, as in MLA, is split in another order",
    .pytorch = "kv_b_proj: k_nope, v of each head; kv_a_proj: latent, k_pe; q: q_nope, q_pe",
    .numpy = "k_nope, v = np.split((c @ w_kv_b.T).reshape(T, H, -1), [d_nope], axis=-1)",
    .c = "row h * (d_nope + d_v) of kv_b begins d_nope rows of key, then d_v of value",
    .forms = MISTAKE_FORMS("blocks", "value-first", "rope-first", "query-rope-first"))
ROW(NORM_MISSING, NORM, .name = "norm-missing",
    .sentence = "the layer's norm is missing: attention gets the residual stream",
    .pytorch = "self.self_attn(self.input_layernorm(hidden_states)), not (hidden_states)",
    .numpy = "x = norm(x)  # before q = x @ W_query",
    .c = "normed[i] = norm(x[i]) first; q, k and v come from normed")
ROW(NORM_TWICE, NORM, .name = "norm-twice",
    .sentence = "the layer's norm is applied to states that are already normed",
    .pytorch = "q_proj(hidden_states), without the norm; or run attn with --residual",
    .numpy = "q = x @ W_query  # not norm(x) @ W_query, where x is normed",
    .c = "q comes from x as it is; only the residual stream needs the norm")
ROW(NORM_WEIGHT_MISSING, NORM, .name = "norm-weight-missing", .unseen = "the norm's weight is 1",
    .sentence = "the norm does not multiply by its weight",
    .pytorch = "hidden_states * torch.rsqrt(variance + eps) * self.weight",
    .numpy = "x = x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * weight",
    .c = "y[c] = x[c] / sqrt(mean_square + eps) * weight[c]")
ROW(NORM_BIAS_MISSING, NORM, .name = "norm-bias-missing", .unseen = "the norm's bias is 0",
    .sentence = "the norm does not add its bias",
    .pytorch = "(x - mean) / torch.sqrt(variance + eps) * self.weight + self.bias",
    .numpy = "x = (x - mean) / np.sqrt(variance + eps) * weight + bias",
    .c = "y[c] = (x[c] - mean) / sqrt(variance + eps) * weight[c] + bias[c]")
ROW(NORM_PLUS_1, NORM, .name = "norm-plus-1",
    .sentence = "the norm multiplies by 1 + weight, not by weight",
    .pytorch = "hidden_states * self.weight; 1 + weight is for Gemma",
    .numpy = "y = normed * weight  # not (1 + weight)",
    .c = "y[c] = normed[c] * weight[c], not * (1 + weight[c])")
ROW(NORM_PLUS_1_MISSING, NORM, .name = "norm-plus-1-missing",
    .sentence = "the norm multiplies by weight, not by 1 + weight",
    .pytorch = "output * (1.0 + self.weight.float()), as in Gemma",
    .numpy = "y = normed * (1 + weight)",
    .c = "y[c] = normed[c] * (1 + weight[c])")
ROW(NORM_MEAN_KEPT, NORM, .name = "norm-mean-kept", .unseen = "the mean of each row is 0",
    .sentence = "the norm does not subtract the mean: RMSNorm instead of LayerNorm",
    .pytorch = "nn.LayerNorm(d_model), not nn.RMSNorm(d_model)",
    .numpy = "x = x - x.mean(-1, keepdims=True)  # before the division",
    .c = "y[c] = (x[c] - mean) / sqrt(variance + eps) * weight[c]")
ROW(NORM_MEAN_SUBTRACTED, NORM, .name = "norm-mean-subtracted", .unseen = "the mean of each row is 0",
    .sentence = "the norm subtracts the mean: LayerNorm instead of RMSNorm",
    .pytorch = "nn.RMSNorm(d_model), not nn.LayerNorm(d_model)",
    .numpy = "x = x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)  # no mean",
    .c = "y[c] = x[c] / sqrt(mean_square + eps) * weight[c]")
ROW(NORM_EPS, NORM, .name = "norm-eps",
    .sentence = "the norm uses a different eps",
    .pytorch = "nn.RMSNorm(d_model, eps=config.rms_norm_eps), from the model's config",
    .numpy = "x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)  # eps from the config",
    .c = "sqrt(mean_square + eps), with eps from the config",
    .unseen = "eps is tiny compared to the rows", .number = "the eps", .from = 0, .to = 1, .usual = 1e-5)
ROW(NORM_UNBIASED, NORM, .name = "norm-unbiased", .alone = true,
    .sentence = "the norm's variance is divided by d - 1, as torch.var does, not by d",
    .pytorch = "x.var(-1, unbiased=False, keepdim=True), as nn.LayerNorm has it",
    .numpy = "variance = x.var(-1, keepdims=True)  # without ddof=1",
    .c = "variance = squares / d, not / (d - 1)")
ROW(NORM_OF_SUM, NORM, .name = "norm-of-sum", .alone = true,
    .sentence = "the norm divides by the root of the sum of squares, not of their mean",
    .pytorch = "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps), not F.normalize(x)",
    .numpy = "x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)  # not np.linalg.norm(x)",
    .c = "sqrt(squares / d + eps), not sqrt(squares + eps)")
ROW(NORM_ROOT_MISSING, NORM, .name = "norm-root-missing", .alone = true,
    .sentence = "the norm divides by the mean of squares, not by its root",
    .pytorch = "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps), not x / (... + eps)",
    .numpy = "x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)  # not without np.sqrt",
    .c = "x[c] / sqrt(squares / d + eps), not x[c] / (squares / d + eps)")
ROW(NORM_ADDED, NORM, .name = "norm-added",
    .sentence = "the inputs are normed, though no norm was asked for",
    .pytorch = "self.attention(x), not self.attention(self.norm(x))",
    .numpy = "q, k, v = x @ w_q, x @ w_k, x @ w_v  # x is not normed",
    .c = "q[i] = dot(x[i], w_q, d_in), with x as given",
    .forms = MISTAKE_FORMS("layer", "rms", "unit"))
ROW(QK_NORM_MISSING, QK_NORM, .name = "qk-norm-missing",
    .sentence = "query and key are not normed",
    .pytorch = "query_states = self.q_norm(query_states); key_states = self.k_norm(key_states)",
    .numpy = "q, k = norm(q, q_weight), norm(k, k_weight)  # per head, before the rotation",
    .c = "q[h][i] = norm(q[h][i]), k[h][i] = norm(k[h][i]), before the rotation")
ROW(QK_NORM_QUERY_MISSING, QK_NORM, .name = "qk-norm-query-missing",
    .sentence = "the query is not normed, only the key is",
    .pytorch = "query_states = self.q_norm(query_states), as key_states",
    .numpy = "q = norm(q, q_weight)  # per head, before the rotation",
    .c = "q[h][i] = norm(q[h][i]), before the rotation")
ROW(QK_NORM_KEY_MISSING, QK_NORM, .name = "qk-norm-key-missing",
    .sentence = "the key is not normed, only the query is",
    .pytorch = "key_states = self.k_norm(key_states), as query_states",
    .numpy = "k = norm(k, k_weight)  # per head, before the rotation",
    .c = "k[h][j] = norm(k[h][j]), before the rotation")
ROW(QK_NORM_SWAPPED, QK_NORM, .name = "qk-norm-swapped", .unseen = "both norms have the same weights",
    .sentence = "the query has the norm of the key, and the key that of the query",
    .pytorch = "query_states = self.q_norm(query_states); key_states = self.k_norm(key_states)",
    .numpy = "q, k = norm(q, q_weight), norm(k, k_weight)  # not the other way round",
    .c = "q_norm.weight is the query's, k_norm.weight the key's")
ROW(QK_NORM_AFTER_ROPE, QK_NORM, .name = "qk-norm-after-rope", .unseen = "all weights of the norm are equal",
    .sentence = "query and key are rotated first, then normed",
    .pytorch = "q_norm and k_norm first, apply_rotary_pos_emb after them",
    .numpy = "q, k = rotate(norm(q)), rotate(norm(k))  # not norm(rotate(q))",
    .c = "rotate(norm(q[h][i])), not norm(rotate(q[h][i])); same for k")
ROW(QK_NORM_BEFORE_ROPE, QK_NORM, .name = "qk-norm-before-rope", .unseen = "all weights of the norm are equal",
    .sentence = "query and key are normed first, then rotated; this model rotates first",
    .pytorch = "apply_rotary_pos_emb first, query_layernorm and key_layernorm after it",
    .numpy = "q, k = norm(rotate(q)), norm(rotate(k))  # not rotate(norm(q))",
    .c = "norm(rotate(q[h][i])), not rotate(norm(q[h][i])); same for k")
ROW(QK_NORM_ALL_HEADS, QK_NORM, .name = "qk-norm-all-heads",
    .sentence = "one norm covers all heads of a token, not one norm per head",
    .pytorch = "q_norm(q.view(b, T, num_heads, head_dim)): split first, then norm",
    .numpy = "q = norm(q.reshape(T, H, d))  # over d, not over H * d",
    .c = "mean_square of head h is over its own d columns, not over H * d")
ROW(QK_NORM_EACH_HEAD, QK_NORM, .name = "qk-norm-each-head",
    .sentence = "each head has its own norm, not one norm for all heads of a token",
    .pytorch = "q_norm(self.q_proj(x)).view(b, T, num_heads, head_dim): norm first, then split",
    .numpy = "q = norm(x @ W_query).reshape(T, H, d)  # over H * d",
    .c = "mean_square of a token is over all H * d columns")
ROW(QK_NORM_WEIGHT_MISSING, QK_NORM, .name = "qk-norm-weight-missing", .unseen = "the weights are 1",
    .sentence = "the norms of query and key do not multiply by their weights",
    .pytorch = "query_states * torch.rsqrt(variance + eps) * self.q_norm.weight; same for key",
    .numpy = "q = q / np.sqrt((q**2).mean(-1, keepdims=True) + eps) * q_weight",
    .c = "q[c] = q[c] / sqrt(mean_square + eps) * weight[c]")
ROW(QK_NORM_ONE_FOR_BOTH, QK_NORM, .name = "qk-norm-one-for-both", .alone = true,
    .sentence = "query and key have the same norm: that of the query, or of the key",
    .pytorch = "query_states = self.q_norm(query_states); key_states = self.k_norm(key_states)",
    .numpy = "q, k = norm(q, q_weight), norm(k, k_weight)  # two weights",
    .c = "q_norm.weight is the query's, k_norm.weight the key's",
    .unseen = "both norms have the same weights", .forms = MISTAKE_FORMS("query", "key"))
ROW(QK_NORM_PLUS_1, QK_NORM, .name = "qk-norm-plus-1",
    .sentence = "the norms of query and key multiply by 1 + weight, not by weight",
    .pytorch = "query_states * self.q_norm.weight; 1 + weight is for Gemma",
    .numpy = "q = normed * q_weight  # not (1 + q_weight)",
    .c = "q[c] = normed[c] * weight[c], not * (1 + weight[c])")
ROW(QK_NORM_PLUS_1_MISSING, QK_NORM, .name = "qk-norm-plus-1-missing",
    .sentence = "the norms of query and key multiply by weight, not by 1 + weight",
    .pytorch = "output * (1.0 + self.q_norm.weight.float()), as in Gemma",
    .numpy = "q = normed * (1 + q_weight)",
    .c = "q[c] = normed[c] * (1 + weight[c])")
ROW(QK_NORM_MEAN_KEPT, QK_NORM, .name = "qk-norm-mean-kept", .unseen = "the mean of each row is 0",
    .sentence = "the norms of query and key do not subtract the mean: RMSNorm for LayerNorm",
    .pytorch = "self.q_norm = nn.LayerNorm(head_dim), not nn.RMSNorm(head_dim); same for key",
    .numpy = "q = q - q.mean(-1, keepdims=True)  # before the division; same for k",
    .c = "q[c] = (q[c] - mean) / sqrt(variance + eps) * weight[c]")
ROW(QK_NORM_MEAN_SUBTRACTED, QK_NORM, .name = "qk-norm-mean-subtracted", .unseen = "the mean of each row is 0",
    .sentence = "the norms of query and key subtract the mean: LayerNorm for RMSNorm",
    .pytorch = "self.q_norm = nn.RMSNorm(head_dim), not nn.LayerNorm(head_dim); same for key",
    .numpy = "q = q / np.sqrt((q**2).mean(-1, keepdims=True) + eps)  # no mean",
    .c = "q[c] = q[c] / sqrt(mean_square + eps) * weight[c]")
ROW(QK_NORM_EPS, QK_NORM, .name = "qk-norm-eps",
    .sentence = "the norms of query and key use a different eps",
    .pytorch = "RMSNorm(head_dim, eps=config.rms_norm_eps), from the model's config",
    .numpy = "q / np.sqrt((q**2).mean(-1, keepdims=True) + eps)  # eps from the config",
    .c = "sqrt(mean_square + eps), with eps from the config",
    .unseen = "eps is tiny compared to query and key", .number = "the eps", .from = 0, .to = 1, .usual = 1e-5)
ROW(QK_NORM_UNBIASED, QK_NORM, .name = "qk-norm-unbiased", .alone = true,
    .sentence = "variances of query and key are divided by d - 1, as torch.var does, not by d",
    .pytorch = "x.var(-1, unbiased=False, keepdim=True), as nn.LayerNorm has it",
    .numpy = "variance = q.var(-1, keepdims=True)  # without ddof=1; same for k",
    .c = "variance = squares / d, not / (d - 1)")
ROW(QK_NORM_OF_SUM, QK_NORM, .name = "qk-norm-of-sum", .alone = true,
    .sentence = "the norms of query and key divide by the root of the sum of squares",
    .pytorch = "self.q_norm(query_states), an RMSNorm, not F.normalize(query_states)",
    .numpy = "q / np.sqrt((q**2).mean(-1, keepdims=True) + eps)  # not np.linalg.norm(q)",
    .c = "sqrt(squares / d + eps), not sqrt(squares + eps)")
ROW(QK_NORM_ROOT_MISSING, QK_NORM, .name = "qk-norm-root-missing", .alone = true,
    .sentence = "the norms of query and key divide by the mean of squares, not by its root",
    .pytorch = "q * torch.rsqrt(q.pow(2).mean(-1, keepdim=True) + eps), not q / (... + eps)",
    .numpy = "q / np.sqrt((q**2).mean(-1, keepdims=True) + eps)  # not without np.sqrt",
    .c = "q[c] / sqrt(squares / d + eps), not q[c] / (squares / d + eps)")
ROW(QK_NORM_LATENT_MISSING, QK_NORM, .name = "qk-norm-latent-missing",
    .sentence = "the latent rows behind query, key and value are not normed",
    .pytorch = "self.kv_b_proj(self.kv_a_layernorm(compressed_kv)); same for the query",
    .numpy = "k_v = norm(latent) @ W_b.T  # not latent @ W_b.T",
    .c = "norm(latent[i]) first, then W_key_value_b", .forms = MISTAKE_FORMS("all", "query", "key-value"))
ROW(VALUE_NORM_MISSING, VALUE_NORM, .name = "value-norm-missing",
    .sentence = "value is not normed",
    .pytorch = "value_states = self.v_norm(value_states), as in Gemma 3n and 4",
    .numpy = "v = v / np.sqrt((v**2).mean(-1, keepdims=True) + eps)  # per head",
    .c = "v[h][j] = rms_norm(v[h][j], d), which has no weight")
ROW(VALUE_NORM_OF_KEY, VALUE_NORM, .name = "value-norm-of-key",
    .sentence = "value is normed with the key's weight",
    .pytorch = "self.v_norm(value_states), with_scale=False; not self.k_norm(value_states)",
    .numpy = "v = norm(v, 1)  # not norm(v, k_weight)",
    .c = "v[h][j] = rms_norm(v[h][j], d), without a weight", .unseen = "all its weights are 1")
ROW(GATE_MISSING, GATE, .name = "gate-missing",
    .sentence = "the gate does not multiply the contexts",
    .pytorch = "self.o_proj(attn_output * torch.sigmoid(gate)), not self.o_proj(attn_output)",
    .numpy = "output = (context / (1 + np.exp(-gate))) @ W_out.T",
    .c = "context[i][c] /= 1 + exp(-gate[i][c]), before out_proj")
ROW(GATE_FUNCTION, GATE, .name = "gate-function",
    .sentence = "the gate is made by another function than one sigmoid",
    .pytorch = "attn_output * torch.sigmoid(gate), not * gate, F.silu(gate) or gate.tanh()",
    .numpy = "context = context / (1 + np.exp(-gate))",
    .c = "context[i][c] /= 1 + exp(-gate[i][c])", .forms = MISTAKE_FORMS("none", "silu", "tanh", "twice"))
ROW(GATE_VIEW, GATE, .name = "gate-view",
    .sentence = "the gate's rows are read on from head to head, without a transpose",
    .pytorch = "gate.view(B, T, H, d).transpose(1, 2), not gate.view(B, H, T, d)",
    .numpy = "gate = gate.reshape(T, H, d).swapaxes(0, 1)  # not reshape(H, T, d)",
    .c = "head h of token i has the gate gate[(i * H + h) * d + c]", .unseen = "there is one token")
ROW(ROPE_THETA, ROPE_THETA, .name = "rope-theta",
    .sentence = "the rotation uses a different theta",
    .pytorch = "1.0 / config.rope_theta ** (torch.arange(0, n, 2) / n), not 10000.0",
    .numpy = "frequencies = theta ** (-np.arange(0, n, 2) / n)  # theta from the config",
    .c = "pow(theta, -2.0 * i / n), with theta from the config",
    .unseen = "there is one pair, or every position is 0", .number = "the theta", .from = 1, .to = 1e12, .usual = 10000)
ROW(ROPE_SCALING_MISSING, ROPE_SCALING, .name = "rope-scaling-missing", .unseen = "it changes no frequency here",
    .sentence = "the frequencies of the rotation are not scaled for long texts",
    .pytorch = "inv_freq as config.rope_scaling says: ROPE_INIT_FUNCTIONS[rope_type]",
    .numpy = "frequencies = scaled(theta ** (-np.arange(0, n, 2) / n))",
    .c = "change each frequency as the config's rope_scaling says")
ROW(ROPE_SCALING_LINEAR, ROPE_SCALING, .name = "rope-scaling-linear", .unseen = "all frequencies are divided anyway",
    .sentence = "all frequencies are divided by the factor, as in linear scaling",
    .pytorch = "rope_type of the config: llama3 and yarn leave the fast pairs as they are",
    .numpy = "divide the slow pairs, keep the fast ones, mix those between them",
    .c = "the factor divides only slow pairs, those with few turns")
ROW(ROPE_ATTENTION_MISSING, ROPE_SCALING, .name = "rope-attention-missing",
    .sentence = "cosines and sines lack the attention factor of the scaling",
    .pytorch = "cos = emb.cos() * self.attention_scaling; sin = emb.sin() * attention_scaling",
    .numpy = "cos, sin = np.cos(angle) * factor, np.sin(angle) * factor",
    .c = "cosine *= factor and sine *= factor: 0.1 * log(s) + 1 for yarn")
ROW(ROPE_SCALING_ATTENTION_ALONE, ROPE_SCALING, .name = "rope-scaling-attention-alone", .alone = true,
    .sentence = "the scaling changes no frequency, only its attention factor is there",
    .pytorch = "inv_freq, attention_scaling = rope_init_fn(config, device): both of them",
    .numpy = "cos, sin = factor * np.cos(angle), factor * np.sin(angle)  # angle scaled",
    .c = "change each frequency as rope_scaling says, besides the factor of cos and sin",
    .unseen = "it changes no frequency here")
ROW(ROPE_SCALING_TRUNCATE, ROPE_SCALING, .name = "rope-scaling-truncate",
    .sentence = "the ramp of yarn begins and ends at other pairs: rounded, or not",
    .pytorch = "low, high = floor(low), ceil(high) if rope_scaling.get('truncate', True)",
    .numpy = "low, high = np.floor(low), np.ceil(high)  # unless truncate is false",
    .c = "low = floor(low) and high = ceil(high), unless truncate is false")
ROW(ROPE_SCALING_OLD, ROPE_SCALING, .name = "rope-scaling-old", .unseen = "it changes no frequency here",
    .sentence = "the scaling takes the model's new length for the one it was trained with",
    .pytorch = "rope_scaling['original_max_position_embeddings'], not max_position_embeddings",
    .numpy = "old = scaling['original_max_position_embeddings']",
    .c = "old is the length of the training, not old * factor")
ROW(ROPE_SCALING_USUAL, ROPE_SCALING, .name = "rope-scaling-usual",
    .sentence = "the scaling uses usual numbers, not those of the config",
    .pytorch = "low_freq_factor, high_freq_factor, beta_fast, beta_slow: from the config",
    .numpy = "low, high = scaling['low_freq_factor'], scaling['high_freq_factor']",
    .c = "low and high, or beta_fast and beta_slow, come from the config")
ROW(ROPE_SCALING_SWAPPED, ROPE_SCALING, .name = "rope-scaling-swapped", .alone = true,
    .sentence = "the scaling's two bounds are swapped: low and high, or fast and slow",
    .pytorch = "low_freq_wavelen = old / low_freq_factor; yarn: low = find(beta_fast)",
    .numpy = "low, high = find(beta_fast), find(beta_slow)  # llama3: old / low, old / high",
    .c = "above old / low a wavelength is slow; below old / high it is fast",
    .unseen = "it changes no frequency here")
ROW(ROPE_SCALING_LISTS, ROPE_SCALING, .name = "rope-scaling-lists",
    .sentence = "longrope divides by short_factor in place of long_factor, or the reverse",
    .pytorch = "short_factor up to original_max_position_embeddings, long_factor beyond",
    .numpy = "factors = long if T > old else short",
    .c = "use long_factor where T is above the old length, else short_factor")
ROW(ROPE_HALVES, ROPE, .name = "rope-halves", .unseen = "there is one pair",
    .sentence = "columns rotate in halves, i and i + n/2, not in pairs, 2i and 2i + 1",
    .pytorch = "x1, x2 = x[..., ::2], x[..., 1::2]; not rotate_half, which takes the halves",
    .numpy = "a, b = x[..., ::2], x[..., 1::2]  # not x[..., :n//2], x[..., n//2:]",
    .c = "pair i is x[2 * i] and x[2 * i + 1], not x[i] and x[i + n / 2]")
ROW(ROPE_PAIRS, ROPE, .name = "rope-pairs", .unseen = "there is one pair",
    .sentence = "columns rotate in pairs, 2i and 2i + 1, not in halves, i and i + n/2",
    .pytorch = "x * cos + rotate_half(x) * sin; or permute the rows of q_proj and k_proj",
    .numpy = "a, b = x[..., :n//2], x[..., n//2:]  # not x[..., ::2], x[..., 1::2]",
    .c = "pair i is x[i] and x[i + n / 2], not x[2 * i] and x[2 * i + 1]")
ROW(ROPE_MISSING, ROPE, .name = "rope-missing", .unseen = "query and key are at position 0",
    .sentence = "query and key are not rotated by position",
    .pytorch = "q, k = apply_rotary_pos_emb(q, k, cos, sin), before the scores",
    .numpy = "q, k = rotate(q, positions), rotate(k, positions)  # before q @ k.T",
    .c = "rotate(q[h][i], i) and rotate(k[h][j], j), before their product")
ROW(ROPE_QUERY_MISSING, ROPE, .name = "rope-query-missing", .unseen = "the queries are at position 0",
    .sentence = "the query is not rotated by position, only the key is",
    .pytorch = "q, k = apply_rotary_pos_emb(q, k, cos, sin): both",
    .numpy = "q = rotate(q, positions)  # as k",
    .c = "rotate(q[h][i], i), as rotate(k[h][j], j)")
ROW(ROPE_KEY_MISSING, ROPE, .name = "rope-key-missing", .unseen = "the keys are at position 0",
    .sentence = "the key is not rotated by position, only the query is",
    .pytorch = "q, k = apply_rotary_pos_emb(q, k, cos, sin): both; a cache holds rotated keys",
    .numpy = "k = rotate(k, positions)  # as q",
    .c = "rotate(k[h][j], j), as rotate(q[h][i], i)")
ROW(ROPE_ALL_COLUMNS, ROPE, .name = "rope-all-columns", .unseen = "all columns are rotated",
    .sentence = "all columns of a head are rotated, not only some of them",
    .pytorch = "q_rot, q_pass = q[..., :n], q[..., n:]; rotate q_rot, then torch.cat both",
    .numpy = "q[..., :n] = rotate(q[..., :n])  # n of d columns",
    .c = "rotate x[0] to x[n - 1]; leave the other d - n as they are")
ROW(ROPE_OTHER_END, ROPE, .name = "rope-other-end", .unseen = "all columns are rotated",
    .sentence = "the columns at the wrong end of a head are rotated",
    .pytorch = "q_nope, q_pe = q.split([d - n, n], -1) for MLA; others rotate q[..., :n]",
    .numpy = "q[..., :n] = rotate(q[..., :n])  # or the last n, as in MLA",
    .c = "rotate x[0] to x[n - 1]; in MLA, the last n")
ROW(ROPE_COLUMNS, ROPE, .name = "rope-columns", .alone = true,
    .sentence = "twice as many columns are rotated, or half as many",
    .pytorch = "rotary_ndims = int(head_dim * rotary_pct): columns, two for each pair",
    .numpy = "q[..., :n] = rotate(q[..., :n])  # n columns, n // 2 pairs",
    .c = "rotate x[0] to x[n - 1]: n / 2 pairs",
    .forms = MISTAKE_FORMS("double", "half"))
ROW(ROPE_EXPONENT_OF_HEAD, ROPE, .name = "rope-exponent-of-head", .unseen = "all columns are rotated",
    .sentence = "the frequencies use the width of the head, not of its rotated columns",
    .pytorch = "torch.arange(0, n, 2) / n: n is rotary_dim, not head_dim",
    .numpy = "frequencies = theta ** (-np.arange(0, n, 2) / n)  # n, not d",
    .c = "pow(theta, -2.0 * i / n), not / d")
ROW(ROPE_EXPONENT, ROPE, .name = "rope-exponent", .alone = true,
    .sentence = "the exponent of theta is not -2 i / n for pair i, from 0 on",
    .pytorch = "1.0 / theta ** (torch.arange(0, n, 2).float() / n): 0, 2, 4, ... over n",
    .numpy = "frequencies = theta ** (-np.arange(0, n, 2) / n)",
    .c = "pow(theta, -2.0 * i / n), i from 0 to n / 2 - 1",
    .unseen = "there is one pair", .forms = MISTAKE_FORMS("i", "4i", "from-1", "d-in"))
ROW(ROPE_MIXED, ROPE, .name = "rope-mixed", .unseen = "there is one pair",
    .sentence = "cosines are laid out for halves and columns rotated in pairs, or the reverse",
    .pytorch = "halves: cat((freqs, freqs), -1); pairs: freqs.repeat_interleave(2, -1)",
    .numpy = "np.concatenate([cos, cos], -1) for halves, np.repeat(cos, 2, -1) for pairs",
    .c = "x[i] and x[i + n / 2] have angle i, or x[2 * i] and x[2 * i + 1]",
    .forms = MISTAKE_FORMS("cosines", "columns"))
ROW(ROPE_MINUS_MISSING, ROPE, .name = "rope-minus-missing", .unseen = "every position is 0",
    .sentence = "rotate_half has no minus: cat((x2, x1)), not cat((-x2, x1))",
    .pytorch = "torch.cat((-x2, x1), dim=-1), not torch.cat((x2, x1), dim=-1)",
    .numpy = "a, b = a * cos - b * sin, b * cos + a * sin  # one minus",
    .c = "y[0] = a * cosine - b * sine; y[1] = b * cosine + a * sine")
ROW(ROPE_BY_HEADS, ROPE, .name = "rope-by-heads", .alone = true,
    .sentence = "each head is rotated by its own number, as if heads were tokens",
    .pytorch = "q.view(b, T, H, d).transpose(1, 2) first; or cos[:, :, None] for (b, T, H, d)",
    .numpy = "q = rotate(q.swapaxes(0, 1))  # (H, T, d): T before d, as cos (T, d)",
    .c = "rotate(q[h][i], i), by the token i, not the head h")
ROW(ROPE_BEFORE_SPLIT, ROPE, .name = "rope-before-split", .alone = true,
    .sentence = "all columns of a token are rotated as if they were one head",
    .pytorch = "q.view(b, T, H, d) first, then apply_rotary_pos_emb over d columns",
    .numpy = "q = rotate(q.reshape(T, H, d))  # not rotate(q) of H * d columns",
    .c = "pair i of each head has frequency i, from pow(theta, -2.0 * i / d)")
ROW(ROPE_BF16, ROPE, .name = "rope-bf16", .alone = true,
    .sentence = "cosines, frequencies or angles of the rotation are bfloat16",
    .pytorch = "inv_freq.float() and position_ids.float(); only cos and sin .to(x.dtype)",
    .numpy = "angle = positions[:, None] * frequencies  # float32 or wider",
    .c = "float angle = position * frequency; cosf(angle), sinf(angle)",
    .forms = MISTAKE_FORMS("cosines", "frequencies", "angles"))
ROW(ROPE_DEGREES, ROPE, .name = "rope-degrees", .alone = true,
    .sentence = "angles of the rotation are taken as degrees, but are radians",
    .pytorch = "freqs.cos(), freqs.sin(), without torch.deg2rad",
    .numpy = "cos, sin = np.cos(angle), np.sin(angle)  # without np.deg2rad",
    .c = "cosf(angle), sinf(angle): no pi / 180")
ROW(ROPE_BACKWARDS, ROPE, .name = "rope-backwards",
    .sentence = "query and key are rotated the wrong way: the sine has the wrong sign",
    .pytorch = "rotate_half(x) is cat((-x2, x1)), not cat((x2, -x1))",
    .numpy = "a, b = a * cos - b * sin, b * cos + a * sin  # not a * cos + b * sin",
    .c = "y[0] = a * cosine - b * sine; y[1] = b * cosine + a * sine")
ROW(ROPE_TWICE, ROPE, .name = "rope-twice",
    .sentence = "query and key are rotated by position twice",
    .pytorch = "apply_rotary_pos_emb once: a cache holds keys that are already rotated",
    .numpy = "q, k = rotate(q, positions), rotate(k, positions)  # once",
    .c = "rotate(q[h][i], i) and rotate(k[h][j], j), once")
ROW(ROPE_QUERY_PLUS_1, ROPE, .name = "rope-query-plus-1",
    .sentence = "queries are rotated by a position that is one too high",
    .pytorch = "position_ids[i] = past + i for query i, not past + i + 1",
    .numpy = "q = rotate(q, past + np.arange(Tq))  # not + 1",
    .c = "rotate(q[h][i], past + i), not past + i + 1")
ROW(ROPE_QUERY_MINUS_1, ROPE, .name = "rope-query-minus-1",
    .sentence = "queries are rotated by a position that is one too low",
    .pytorch = "position_ids[i] = past + i for query i, not past + i - 1",
    .numpy = "q = rotate(q, past + np.arange(Tq))  # not - 1",
    .c = "rotate(q[h][i], past + i), not past + i - 1")
ROW(ROPE_KEY_PLUS_1, ROPE, .name = "rope-key-plus-1",
    .sentence = "keys are rotated by a position that is one too high",
    .pytorch = "key j has position j, from 0 on, as query j does",
    .numpy = "k = rotate(k, np.arange(Tk))  # from 0 on",
    .c = "rotate(k[h][j], j), not j + 1")
ROW(ROPE_KEY_MINUS_1, ROPE, .name = "rope-key-minus-1",
    .sentence = "keys are rotated by a position that is one too low",
    .pytorch = "key j has position j, as query j does; new keys of a cache have past + j",
    .numpy = "k = rotate(k, past + np.arange(T))  # not - 1",
    .c = "rotate(k[h][past + j], past + j), not - 1")
ROW(ROPE_POSITIONS_FROM, ROPE, .name = "rope-positions-from",
    .sentence = "positions do not start at 0",
    .pytorch = "position_ids = torch.arange(T)[None], from 0 on",
    .numpy = "positions = np.arange(T)  # from 0 on",
    .c = "rotate(q[h][i], i), where i starts at 0",
    .unseen = "the scores depend only on distances", .number = "the number added to each position", .from = 1,
    .to = 1000000, .usual = 1, .whole = true)
ROW(ROPE_PAST_MISSING, ROPE, .name = "rope-past-missing",
    .sentence = "positions of new tokens start at 0, though there is a past",
    .pytorch = "position_ids = torch.arange(past, past + T)[None]",
    .numpy = "positions = past + np.arange(T)",
    .c = "rotate(q[h][i], past + i); same for k")
ROW(ROPE_ON_VALUES, ROPE, .name = "rope-on-values", .unseen = "the keys are at position 0",
    .sentence = "values are rotated by position, too",
    .pytorch = "q, k = apply_rotary_pos_emb(q, k, cos, sin): value_states stay as they are",
    .numpy = "context = w @ v  # not w @ rotate(v, positions)",
    .c = "v[h][j] is not rotated")
ROW(ROPE_AXES_ROWS, ROPE, .name = "rope-axes-rows",
    .sentence = "pairs rotate by other rows of positions than those of their axes",
    .pytorch = "position_ids[0] is time, [1] height, [2] width, as get_rope_index stacks them",
    .numpy = "positions = np.stack([time, height, width])",
    .c = "angle = position[axis of pair i] * frequency[i]; time is 0, height 1, width 2",
    .unseen = "all axes have the same positions",
    .forms = MISTAKE_FORMS("twh", "htw", "wht", "hwt", "wth", "ttt", "hhh", "www", "tokens", "from-0"))
ROW(ROPE_AXES_PAIRS, ROPE, .name = "rope-axes-pairs",
    .sentence = "pairs of columns take other axes than the sections of the model say",
    .pytorch = "mrope_section counts pairs: in blocks, or in turn if mrope_interleaved",
    .numpy = "axis_of_pair = np.repeat([0, 1, 2], mrope_section)  # in blocks",
    .c = "in blocks: the first pairs are of time, then height, then width",
    .unseen = "all axes have the same positions",
    .forms = MISTAKE_FORMS("in-turn", "in-turn-all", "blocks", "reversed", "counts-reversed", "restarted"))
#define BOTH_WAYS                                                                                          \
    MISTAKE_FORMS("query-key", "query", "key", "value", "query-key-value", "query-key-weights",            \
                  "query-weights", "key-weights", "value-weights", "query-key-value-weights")
ROW(ROWS_TO_PAIRS, ROWS, .name = "rows-to-pairs",
    .sentence = "rows of a projection are permuted from halves to pairs, as for GGUF",
    .pytorch = "w.view(h, d // 2, 2, -1).transpose(1, 2).reshape(w.shape) undoes it",
    .numpy = "w = w.reshape(h, d // 2, 2, -1).swapaxes(1, 2).reshape(w.shape)  # undoes it",
    .c = "row i + r * d / 2 of a head is row 2 * i + r of the permuted one",
    .unseen = "there is one pair", .forms = BOTH_WAYS)
ROW(ROWS_TO_HALVES, ROWS, .name = "rows-to-halves",
    .sentence = "rows of a projection are permuted from pairs to halves, but are no pairs",
    .pytorch = "w.view(h, 2, d // 2, -1).transpose(1, 2).reshape(w.shape) undoes it",
    .numpy = "w = w.reshape(h, 2, d // 2, -1).swapaxes(1, 2).reshape(w.shape)  # undoes it",
    .c = "row 2 * i + r of a head is row i + r * d / 2 of the permuted one",
    .unseen = "there is one pair", .forms = BOTH_WAYS)
#undef BOTH_WAYS
ROW(SOFTCAP_AFTER_MASK, SOFTCAP, .name = "softcap-after-mask", .any_seed = true, .unseen = "no score is masked",
    .sentence = "the softcap comes after the mask, so masked keys get a finite score",
    .pytorch = "softcap * torch.tanh(attn_scores / softcap) first, masked_fill after it",
    .numpy = "s = np.where(allowed, softcap * np.tanh(s / softcap), -np.inf)",
    .c = "s = softcap * tanh(s / softcap), then -INFINITY where key j is masked")
ROW(SOFTCAP_BEFORE_SCALE, SOFTCAP, .name = "softcap-before-scale", .any_seed = true, .unseen = "the scale is 1",
    .sentence = "the softcap comes before the scale, not after it",
    .pytorch = "softcap * torch.tanh(attn_scores / head_dim**0.5 / softcap)",
    .numpy = "s = softcap * np.tanh(q @ k.swapaxes(-1, -2) / np.sqrt(d) / softcap)",
    .c = "s[i][j] = softcap * tanh(dot(q[i], k[j], d) / sqrt(d) / softcap)")
ROW(SOFTCAP_MISSING, SOFTCAP, .name = "softcap-missing", .any_seed = true,
    .sentence = "the softcap is left out",
    .pytorch = "softcap * torch.tanh(attn_scores / softcap), after the scale",
    .numpy = "s = softcap * np.tanh(s / softcap)",
    .c = "s[i][j] = softcap * tanh(s[i][j] / softcap)",
    .unseen = "all scores are small compared to the softcap")
ROW(SOFTCAP_NOT_MULTIPLIED, SOFTCAP, .name = "softcap-not-multiplied", .any_seed = true, .unseen = "the softcap is 1",
    .sentence = "tanh(score / softcap) is not multiplied by the softcap",
    .pytorch = "softcap * torch.tanh(attn_scores / softcap), not torch.tanh alone",
    .numpy = "s = softcap * np.tanh(s / softcap)",
    .c = "s[i][j] = softcap * tanh(s[i][j] / softcap)")
#define ALIBI_NUMPY .numpy = "i = np.arange(T); s = s - slopes[:, None, None] * abs(i[:, None] - i)"
ROW(ALIBI_SIGN, ALIBI, .name = "alibi-sign", .any_seed = true,
    .sentence = "ALiBi raises the scores of distant keys instead of lowering them",
    .pytorch = "attn_scores - slopes[:, None, None] * (i - j).abs(), not +",
    .c = "s[h][i][j] -= slope[h] * abs(i - j), not +=", ALIBI_NUMPY)
ROW(ALIBI_MISSING, ALIBI, .name = "alibi-missing", .any_seed = true,
    .sentence = "the ALiBi bias is left out",
    .pytorch = "attn_scores - slopes[:, None, None] * (i - j).abs(), of query i and key j",
    .c = "s[h][i][j] -= slope[h] * abs(i - j)", ALIBI_NUMPY)
ROW(ALIBI_DOUBLED, ALIBI, .name = "alibi-doubled", .any_seed = true,
    .sentence = "the ALiBi bias is twice as large as it should be",
    .pytorch = "attn_scores - slopes[:, None, None] * (i - j).abs(), once",
    .c = "s[h][i][j] -= slope[h] * abs(i - j), once", ALIBI_NUMPY)
ROW(ALIBI_HALVED, ALIBI, .name = "alibi-halved", .any_seed = true,
    .sentence = "the ALiBi bias is half as large as it should be",
    .pytorch = "attn_scores - slopes[:, None, None] * (i - j).abs(), not half of that",
    .c = "s[h][i][j] -= slope[h] * abs(i - j), not half of that", ALIBI_NUMPY)
ROW(ALIBI_REVERSED, ALIBI, .name = "alibi-reversed", .any_seed = true,
    .sentence = "the heads use the ALiBi slopes in reverse order",
    .pytorch = "slopes[h] for head h, not slopes.flip(0)",
    .numpy = "s = s - slopes[:, None, None] * distance  # not slopes[::-1]",
    .c = "slope[h] for head h, not slope[H - 1 - h]",
    .unseen = "the slopes are the same in reverse order")
ROW(ALIBI_ONE_HEAD_OFF, ALIBI, .name = "alibi-one-head-off", .any_seed = true,
    .sentence = "each head uses the ALiBi slope of the head after or before it",
    .pytorch = "slopes[h] for head h; 2.0 ** (-8 * h / num_heads) counts heads from 1",
    .numpy = "s = s - slopes[:, None, None] * distance  # 2.0 ** (-8 * h / H): h from 1",
    .c = "slope[h], not slope[h + 1]; pow(2, -8.0 * (h + 1) / H) if h starts at 0",
    .forms = MISTAKE_FORMS("later", "earlier"))
ROW(ALIBI_SCALED, ALIBI, .name = "alibi-scaled", .any_seed = true, .unseen = "the scale is 1",
    .sentence = "the ALiBi bias is added before the scale, so it is scaled, too",
    .pytorch = "attn_scores / head_dim**0.5 + bias, not (attn_scores + bias) / head_dim**0.5",
    .numpy = "s = q @ k.swapaxes(-1, -2) / np.sqrt(d) + bias  # bias is not divided",
    .c = "s[h][i][j] = dot(q[i], k[j], d) / sqrt(d) - slope[h] * abs(i - j)")
ROW(ALIBI_ONE_SERIES, ALIBI, .name = "alibi-one-series", .any_seed = true, .section = "attn-layer: Positions and norms",
    .sentence = "the ALiBi slopes are 2^(-8 h / H), though H is not a power of two",
    .pytorch = "slopes = r[1::2] + r[::2], r of the next power of two of heads; then [:H]",
    .numpy = "r = 2.0 ** (-8 * np.arange(1, P + 1) / P); np.r_[r[1::2], r[::2]][:H]",
    .c = "pow(2, -8.0 * i / P), P the next power of two: even i first, then odd",
    .unseen = "the number of heads is a power of two")
ROW(ALIBI_NOT_SCALED, ALIBI, .name = "alibi-not-scaled", .any_seed = true, .section = "attn-layer: Positions and norms",
    .sentence = "the ALiBi slopes are not divided by sqrt(d_head), though this model does so",
    .pytorch = "(attn_scores + alibi) * inv_norm_factor, as in Falcon",
    .numpy = "s = (q @ k.swapaxes(-1, -2) + bias) / np.sqrt(d)  # both are divided",
    .c = "s[h][i][j] = (dot(q[i], k[j], d) + bias[h][j]) / sqrt(d)")
ROW(ALIBI_PER_KEY_HEAD, ALIBI, .name = "alibi-per-key-head", .any_seed = true, .section = "attn-sdpa: HEADS THAT SHARE",
    .sentence = "each query head takes the slope of its key head",
    .pytorch = "slopes[h] of the query's head h, not slopes[h // (num_heads // kv_heads)]",
    .numpy = "s = s - slopes[:, None, None] * distance  # (H,) slopes, one per query head",
    .c = "slope[h], not slope[h / group]",
    .unseen = "heads do not share keys")
ROW(RELATIVE_MISSING, RELATIVE, .name = "relative-missing",
    .sentence = "the relative bias is left out",
    .pytorch = "scores += position_bias, from the first layer on",
    .numpy = "s = s + table[bucket(j - i)].transpose(2, 0, 1)  # table (buckets, H)",
    .c = "s[h][i][j] += table[bucket(j - i)][h]")
ROW(RELATIVE_ONE_WAY, RELATIVE, .name = "relative-one-way", .unseen = "no query attends to a later key",
    .sentence = "later keys have no buckets of their own, as in a decoder",
    .pytorch = "bidirectional=(not self.is_decoder): True in an encoder",
    .numpy = "bucket(j - i, both_ways=True)  # half of the buckets for each side",
    .c = "keys after the query use the second half of the buckets")
ROW(RELATIVE_BOTH_WAYS, RELATIVE, .name = "relative-both-ways", .unseen = "all keys are near",
    .sentence = "half of the buckets are for later keys, as in an encoder",
    .pytorch = "bidirectional=(not self.is_decoder): False in a decoder",
    .numpy = "bucket(j - i, both_ways=False)  # all buckets for keys up to the query",
    .c = "keys up to the query use all buckets")
ROW(RELATIVE_TURNED, RELATIVE, .name = "relative-turned", .unseen = "the table is the same for both sides",
    .sentence = "the relative bias swaps the keys before a query with those after it",
    .pytorch = "memory_position - context_position: key minus query",
    .numpy = "bucket(j - i)  # key minus query, not i - j",
    .c = "bucket(j - i), not bucket(i - j)")
ROW(SINKS_MISSING, SINKS, .name = "sinks-missing", .unseen = "the sinks are too low to take any weight",
    .sentence = "softmax leaves the sinks out of its sum",
    .pytorch = "torch.softmax(torch.cat([scaled, sinks_as_column], dim=-1), dim=-1)[..., :-1]",
    .numpy = "s = np.concatenate([s, sinks], -1)  # sinks (H, T, 1); then w[..., :-1]",
    .c = "sum += exp(sink[h] - max), where max counts sink[h], too")
#define SINK_FIXES                                                                     \
    .pytorch = "torch.cat([scaled, sinks_as_column], dim=-1), once per row, unscaled", \
    .numpy = "total = e.sum(-1, keepdims=True) + np.exp(sinks - m)  # once per row",   \
    .c = "sum += exp(sink[h] - max), once per row"
ROW(SINKS_REPEATED, SINKS, .name = "sinks-repeated",
    .sentence = "each sink is counted more than once", SINK_FIXES, .number = "how often", .from = 2, .to = 4096,
    .usual = 2, .whole = true)
ROW(SINKS_BASE_2, SINKS, .name = "sinks-base-2", .unseen = "the sinks are 0",
    .sentence = "scores are in base 2, but the sinks are not multiplied by log2(e)",
    .pytorch = "exp2(sinks * log2e - row_max), where scores are multiplied by log2e",
    .numpy = "np.exp2(sinks * np.log2(np.e) - m)",
    .c = "sum += exp2f(sink[h] * LOG2E - max)")
ROW(SINKS_SCALED, SINKS, .name = "sinks-scaled",
    .sentence = "the sinks are multiplied by the scale, like scores", SINK_FIXES, .unseen = "the sinks are 0")
ROW(SINKS_NEGATIVE, SINKS, .name = "sinks-negative", .alone = true,
    .sentence = "the sinks have the wrong sign", SINK_FIXES, .unseen = "the sinks are 0")
ROW(SINKS_ZERO, SINKS, .name = "sinks-zero", .alone = true, .unseen = "the sinks are 0",
    .sentence = "each row has a sink of 0, which adds 1 to its sum, not the sink of its head", SINK_FIXES)
ROW(SINKS_PER_KEY_HEAD, SINKS, .name = "sinks-per-key-head", .section = "attn-sdpa: HEADS THAT SHARE",
    .sentence = "each query head takes the sink of its key head",
    .pytorch = "sinks[h] of the query's head h, not sinks[h // (num_heads // kv_heads)]",
    .numpy = "sinks[:, None]  # (H,), one per query head",
    .c = "sink[h], not sink[h / group]",
    .unseen = "heads do not share keys")
ROW(SINKS_OTHER_HEAD, SINKS, .name = "sinks-other-head", .alone = true, .unseen = "all sinks are equal",
    .sentence = "each head takes the sink of another head", SINK_FIXES, .forms = MISTAKE_FORMS("first", "reversed"))
ROW(SINKS_MAXIMUM_MISSING, SINKS, .name = "sinks-maximum-missing",
    .sentence = "the row maximum is not subtracted from the sinks", SINK_FIXES, .unseen = "the row maximum is 0")
ROW(SINKS_PER_TILE, SINKS, .name = "sinks-per-tile",
    .sentence = "each tile adds the sink again", SINK_FIXES, PER_TILE)
#undef SINK_FIXES
ROW(LSE_BASE_2, LSE, .name = "lse-base-2", .unseen = "lse is not among the stages",
    .sentence = "lse uses a logarithm to base 2, not to base e",
    .pytorch = "torch.logsumexp(scaled, dim=-1), not torch.log2",
    .numpy = "m = s.max(-1); lse = m + np.log(np.exp(s - m[..., None]).sum(-1))",
    .c = "lse[i] = max + log(sum), not log2")
ROW(LSE_MAXIMUM_MISSING, LSE, .name = "lse-maximum-missing", .unseen = "lse is not among the stages",
    .sentence = "lse does not add back the row maximum that softmax subtracts",
    .pytorch = "torch.logsumexp(scaled, dim=-1) adds it itself",
    .numpy = "m = s.max(-1); lse = m + np.log(np.exp(s - m[..., None]).sum(-1))",
    .c = "lse[i] = max + log(sum), not log(sum)")
ROW(LSE_BEFORE_SCALE, LSE, .name = "lse-before-scale", .unseen = "lse is not among the stages, or the scale is 1",
    .sentence = "lse uses the scores before they are scaled",
    .pytorch = "torch.logsumexp(attn_scores / head_dim**0.5, dim=-1)",
    .numpy = "lse = np.logaddexp.reduce(s / np.sqrt(d), axis=-1)",
    .c = "max and sum run over dot(q[i], k[j], d) / sqrt(d)")
ROW(DROPOUT_NOT_RESCALED, DROPOUT, .name = "dropout-not-rescaled",
    .sentence = "the weights that dropout keeps are not divided by 1 - p",
    .pytorch = "nn.Dropout(p) divides; by hand: attn_weights * kept / (1 - p)",
    .numpy = "w = w * (rng.random(w.shape) >= p) / (1 - p)",
    .c = "w[i][j] = kept ? w[i][j] / (1 - p) : 0")
ROW(DROPOUT_DIVIDED_BY_P, DROPOUT, .name = "dropout-divided-by-p", .unseen = "p and 1 - p are both 0.5",
    .sentence = "the weights that dropout keeps are divided by p, not by 1 - p",
    .pytorch = "nn.Dropout(p) divides; by hand: attn_weights * kept / (1 - p)",
    .numpy = "w = w * kept / (1 - p)  # p is the share that is dropped",
    .c = "w[i][j] = kept ? w[i][j] / (1 - p) : 0, where p is the share that is dropped")
ROW(DROPOUT_BEFORE_SOFTMAX, DROPOUT, .name = "dropout-before-softmax",
    .sentence = "dropout sets scores to 0 before softmax, not weights after it",
    .pytorch = "attn_weights = self.dropout(torch.softmax(scaled, dim=-1))",
    .numpy = "w = w * kept / (1 - p)  # w after softmax, not s before it",
    .c = "drop w[i][j], after the division by the sum, not s[i][j]")
ROW(DROPOUT_MISSING, DROPOUT, .name = "dropout-missing",
    .sentence = "dropout is left out, though you asked for it",
    .pytorch = "attn_weights = self.dropout(attn_weights), and model.train(), not model.eval()",
    .numpy = "w = w * kept / (1 - p)",
    .c = "w[i][j] = kept ? w[i][j] / (1 - p) : 0")
ROW(DROPOUT_ON, DROPOUT, .name = "dropout-on",
    .sentence = "dropout is on, though you did not ask for it",
    .pytorch = "model.eval(); F.scaled_dot_product_attention also needs dropout_p=0.0",
    .numpy = "context = w @ v  # w straight from softmax",
    .c = "p = 0, unless the model is in training",
    .number = "the share that is dropped", .from = 0.001, .to = 0.999, .usual = 0.1)
#define OWN_LAYER                                                             \
    .pytorch = "f'model.layers.{layer}.self_attn', with one layer for all of it", \
    .numpy = "w = tensors[f'model.layers.{layer}.self_attn.q_proj.weight']",      \
    .c = "every tensor and setting of a block comes from the same layer",         \
    .number = "the other layer", .from = 0, .to = 10000, .usual = 0, .whole = true
ROW(LAYER_QUERY, LAYER, .name = "layer-query",
    .sentence = "the query's projection is that of another layer", OWN_LAYER)
ROW(LAYER_KEY, LAYER, .name = "layer-key", .sentence = "the key's projection is that of another layer", OWN_LAYER)
ROW(LAYER_VALUE, LAYER, .name = "layer-value",
    .sentence = "the value's projection is that of another layer", OWN_LAYER)
ROW(LAYER_KEY_VALUE, LAYER, .name = "layer-key-value",
    .sentence = "the projections of key and value are those of another layer", OWN_LAYER)
ROW(LAYER_OUT, LAYER, .name = "layer-out", .sentence = "the output projection is that of another layer", OWN_LAYER)
ROW(LAYER_BIAS, LAYER, .name = "layer-bias",
    .sentence = "the biases of queries, keys and values are those of another layer", OWN_LAYER)
ROW(LAYER_NORM, LAYER, .name = "layer-norm",
    .sentence = "the norm of the inputs is that of another layer", OWN_LAYER)
#define NORMS_AFTER                                                                                               \
    MISTAKE_FORMS("post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm", "ln_2", \
                  "ln2", "norm2", "norm_2", "layernorm_after", "layer_norm2", "final_layer_norm", "ffn_norm",     \
                  "mlp_norm", "mlp_ln", "ln_mlp", "pre_mlp_layernorm", "pre_ff_layernorm")
ROW(LAYER_NORM_AFTER, LAYER, .name = "layer-norm-after", .section = "attn-layer: Positions and norms",
    .sentence = "the norm of the inputs is the one after attention",
    .pytorch = "self.self_attn(self.input_layernorm(x)), not self.post_attention_layernorm",
    .numpy = "x = norm(x, tensors['input_layernorm.weight'])",
    .c = "attention uses input_layernorm, the MLP post_attention_layernorm", .forms = NORMS_AFTER)
ROW(LAYER_NORM_AFTER_WEIGHT, LAYER, .name = "layer-norm-after-weight", .section = "attn-layer: Positions and norms",
    .sentence = "the norm of the inputs has its own bias, but the weight of a later norm",
    .pytorch = "F.layer_norm(x, (d,), input_layernorm.weight, input_layernorm.bias)",
    .numpy = "x = norm(x, tensors['ln_1.weight'], tensors['ln_1.bias'])",
    .c = "weight and bias both of input_layernorm", .forms = NORMS_AFTER)
ROW(LAYER_OUT_NORMED, LAYER, .name = "layer-out-normed", .section = "attn-layer: Positions and norms",
    .sentence = "the output is normed by a norm after attention",
    .pytorch = "a hook on layer.self_attn, not one on layer.post_attention_layernorm",
    .numpy = "output = context @ o_proj.T  # without post_attention_layernorm",
    .c = "compare the product with o_proj, before the norm after attention", .forms = NORMS_AFTER)
#undef NORMS_AFTER
ROW(LAYER_QK_NORM, LAYER, .name = "layer-qk-norm",
    .sentence = "the norms of query and key are those of another layer", OWN_LAYER)
ROW(LAYER_SINKS, LAYER, .name = "layer-sinks", .sentence = "the sinks are those of another layer", OWN_LAYER)
ROW(LAYER_WINDOW, LAYER, .name = "layer-window",
    .sentence = "the window, or its absence, is that of another layer", OWN_LAYER)
ROW(LAYER_ROPE, LAYER, .name = "layer-rope",
    .sentence = "the rotation, or its absence, is that of another layer", OWN_LAYER)
ROW(LAYER_KIND, LAYER, .name = "layer-kind",
    .sentence = "window and rotation are those of another layer, of another kind", OWN_LAYER)
#undef OWN_LAYER
ROW(LAYER_ADAPTER, LAYER, .name = "layer-adapter", .section = "attn-layer: A checkpoint",
    .sentence = "the LoRA adapter is missing, or added with another factor",
    .pytorch = "weight + lora_alpha / r * (lora_B @ lora_A), once; rslora: / r**0.5",
    .numpy = "w = w + alpha / r * b @ a  # rslora: alpha / np.sqrt(r)",
    .c = "w[i][j] += alpha / r * the sum over k of b[i][k] * a[k][j]",
    .forms = MISTAKE_FORMS("missing", "twice", "unscaled", "by-alpha", "other-root"))
ROW(LAYER_QUANTISED, LAYER, .name = "layer-quantised", .section = "attn-layer: Quantised weights",
    .sentence = "the quantised weights are read with another scale or zero point",
    .pytorch = "(codes - zeros) * scales, both of the group; GPTQ v1 stores zeros - 1",
    .numpy = "w = (q - zero[:, g]) * scale[:, g]  # g = np.arange(columns) // group",
    .c = "w[i][j] = (q[i][j] - zero[i][j / group]) * scale[i][j / group]",
   
    .forms = MISTAKE_FORMS("scale-missing", "scale-inverted", "scale-next", "zero-missing", "zero-plus-1", "zero-minus-1"))
ROW(DRAW_RAND, DRAW, .name = "draw-rand", .section = "attn-lessons: torch.rand and nn.Linear",
    .sentence = "torch.rand draws the matrices, but you asked attn for another way",
    .pytorch = "nn.Linear(d_in, d_out, bias=False); or run attn with --init rand",
    .unseen = "you asked for it")
ROW(DRAW_LINEAR, DRAW, .name = "draw-linear", .section = "attn-lessons: torch.rand and nn.Linear",
    .sentence = "nn.Linear draws the matrices, but you asked attn for another way",
    .pytorch = "torch.rand(d_in, d_out); or run attn with --init linear",
    .numpy = "np.random.RandomState(SEED).randint(2**24, size=n) / 2**24  # torch.rand(n)",
    .unseen = "you asked for it")
ROW(DRAW_RANDN, DRAW, .name = "draw-randn", .section = "attn: Parameters", .unseen = "you asked for it",
    .sentence = "torch.randn draws the matrices, but you asked attn for another way",
    .pytorch = "nn.Linear(d_in, d_out, bias=False); or run attn with --init randn")
ROW(DRAW_INIT, DRAW, .name = "draw-init", .alone = true, .section = "attn: Parameters", .unseen = "you asked for it",
    .sentence = "the matrices are initialised in another way than you asked attn for",
    .pytorch = "nn.Linear(d_in, d_out, bias=False); or run attn with --init, and the way",
    .forms = MISTAKE_FORMS("rand-centred", "xavier", "xavier-linear", "mha", "ones", "randn-0.02", "randn-0.01",
    "randn-d-in", "normal-0.02", "normal-0.01", "normal-d-in", "kaiming", "kaiming-linear"))
ROW(DRAW_ORDER, DRAW, .name = "draw-order",
    .sentence = "the matrices are drawn in a different order",
    .pytorch = "in __init__: self.W_query, self.W_key, self.W_value, then self.out_proj",
    .forms = MISTAKE_FORMS("kqv", "vkq", "vqk", "kvq", "qvk", "oqkv"))
ROW(DRAW_SEED, DRAW, .name = "draw-seed",
    .sentence = "the random numbers come from a different seed",
    .pytorch = "torch.manual_seed(SEED), with the seed you gave attn, right before the module",
    .number = "the seed", .to = 4294967295.0, .usual = 42, .whole = true)
ROW(DRAW_SKIP, DRAW, .name = "draw-skip",
    .sentence = "other numbers are drawn between the seed and the module",
    .pytorch = "torch.manual_seed(SEED) right before the module, not once for all modules",
    .number = "how many numbers are drawn before", .to = 4294967295.0, .usual = 18, .whole = true)
ROW(DRAW_D_OUT, DRAW, .name = "draw-d-out", .section = "attn-lessons: Several heads, split",
    .sentence = "the projections have a different number of columns, d_out",
    .pytorch = "nn.Linear(d_in, d_out); or run attn with --d-out",
    .unseen = "d_out is the same", .number = "d_out, the number of columns", .from = 1, .to = 1048576, .usual = 2,
    .whole = true)
ROW(DRAW_BIAS, DRAW, .name = "draw-bias", .section = "attn-lessons: torch.rand and nn.Linear",
    .sentence = "the projections have biases, as nn.Linear draws them by default",
    .pytorch = "nn.Linear(d_in, d_out, bias=False), or bias=qkv_bias; or attn --qkv-bias",
    .unseen = "the projections have biases")
ROW(DRAW_BIAS_MISSING, DRAW, .name = "draw-bias-missing", .section = "attn-lessons: torch.rand and nn.Linear",
    .sentence = "the projections are drawn without the biases that you asked for",
    .pytorch = "nn.Linear(d_in, d_out), or qkv_bias=True; or attn without --qkv-bias",
    .unseen = "the projections have no biases")
ROW(DRAW_HEADS, DRAW, .name = "draw-heads", .section = "attn-lessons: Several heads, split",
    .sentence = "the module has a different number of heads",
    .pytorch = "MultiHeadAttention(d_in, d_out, ..., num_heads), as in attn --heads",
    .unseen = "there are as many heads", .number = "how many heads", .from = 1, .to = 65536, .usual = 1, .whole = true)
ROW(DRAW_LAYER, DRAW, .name = "draw-layer", .section = "attn-layer: A checkpoint",
    .sentence = "the parameters come from another layer",
    .pytorch = "model.model.layers[N].self_attn, N from 0; its inputs are hidden_states[N]",
    .number = "the layer", .from = 0, .to = 10000, .usual = 1, .whole = true)
ROW(DRAW_SPLIT, DRAW, .name = "draw-split", .unseen = "the heads are drawn that way, or there is one",
    .sentence = "the matrices are drawn as for split heads, but you asked for stacked ones",
    .pytorch = "MultiHeadAttentionWrapper, with a module for each head, not MultiHeadAttention")
ROW(DRAW_STACKED, DRAW, .name = "draw-stacked", .unseen = "the heads are drawn that way, or there is one",
    .sentence = "the matrices are drawn as for stacked heads, but you asked for split ones",
    .pytorch = "MultiHeadAttention, with large matrices, not MultiHeadAttentionWrapper")
ROW(DRAW_MKL, DRAW, .name = "draw-mkl", .section = "attn-lessons: Dropout", .unseen = "there is no dropout",
    .sentence = "Intel's MKL draws dropout: not a mistake, but another build of PyTorch",
    .pytorch = "nothing to fix; attn --rng torch-mkl draws as this build of PyTorch does")
ROW(TILES_CONTEXT_NOT_RESCALED, TILES, .name = "tiles-context-not-rescaled",
    .sentence = "the running context is not rescaled when a tile raises the running maximum",
    .pytorch = "context_vec *= torch.exp(old_max - new_max), then += e @ values[..., tile, :]",
    .numpy = "context = context * np.exp(old_max - new_max) + e @ v[..., tile, :]",
    .c = "context[c] *= exp(old_max - new_max), before the tile is added",
    .unseen = "no row has its maximum after the first tile", KEYS_PER_TILE)
ROW(TILES_CONTEXT_DIVIDED, TILES, .name = "tiles-context-divided",
    .sentence = "the context is divided by the running sum per tile, not once at the end",
    .pytorch = "context_vec = context_vec / total, once, after the last tile",
    .numpy = "context = context / total  # once, after the last tile",
    .c = "context[c] /= sum, once, after the last tile",
    .unseen = "one tile holds all keys", KEYS_PER_TILE)
ROW(TILES_SUM_NOT_RESCALED, TILES, .name = "tiles-sum-not-rescaled",
    .sentence = "the running sum is not rescaled when a tile raises the running maximum",
    .pytorch = "total = total * torch.exp(old_max - new_max) + e.sum(dim=-1, keepdim=True)",
    .numpy = "total = total * np.exp(old_max - new_max) + e.sum(-1, keepdims=True)",
    .c = "sum *= exp(old_max - new_max), before the tile is added",
    .unseen = "no row has its maximum after the first tile", KEYS_PER_TILE)
ROW(TILES_LAST_ALONE, TILES, .name = "tiles-last-alone",
    .sentence = "the last tile overwrites the sums of the tiles before it",
    .pytorch = "context_vec and total are 0 before the loop over tiles, not in it; then +=",
    .numpy = "context = total = 0  # before the loop over tiles, not in it; then +=",
    .c = "set context[c] and sum to 0 before the first tile, not before each",
    .unseen = "one tile holds all keys", KEYS_PER_TILE)
ROW(TILES_NOT_RESCALED, TILES, .name = "tiles-not-rescaled",
    .sentence = "neither sum nor context is rescaled when a tile raises the maximum",
    .pytorch = "factor = torch.exp(old_max - new_max); total *= factor; context_vec *= factor",
    .numpy = "total *= f; context *= f  # f = np.exp(old_max - new_max)",
    .c = "sum *= factor and context[c] *= factor, before the tile is added", PER_TILE)
ROW(TILES_MERGED_BY_MEAN, TILES, .name = "tiles-merged-by-mean",
    .sentence = "parts of the keys are merged by the plain mean of their contexts",
    .pytorch = "context_vec = (torch.exp(lse - lse.logsumexp(0))[..., None] * contexts).sum(0)",
    .numpy = "w = np.exp(lse - lse.max(0)); (w[..., None] * o).sum(0) / w.sum(0)",
    .c = "context[c] += exp(lse[s] - lse_all) * part[s][c]", PER_TILE)
ROW(TILES_MERGED_NOT_RESCALED, TILES, .name = "tiles-merged-not-rescaled",
    .sentence = "sums of parts are merged as if all had the same maximum",
    .pytorch = "scale each part's sum and context by torch.exp(part_max - max), then add them",
    .numpy = "f = np.exp(part_max - part_max.max(0))  # times each part's sum and context",
    .c = "sum += exp(max[s] - max_all) * sum[s]; same for the context", PER_TILE)
#define EACH_TILE_ONCE                                                                \
    .pytorch = "for first in range(0, end, tile): each tile once, the last one, too", \
    .numpy = "for first in range(0, end, tile):  # each once, the last one, too",     \
    .c = "tiles = (end + tile - 1) / tile, each of them once"
ROW(TILES_LAST_TWICE, TILES, .name = "tiles-last-twice",
    .sentence = "the last tile of a row is counted twice", EACH_TILE_ONCE, PER_TILE)
ROW(TILES_FIRST_TWICE, TILES, .name = "tiles-first-twice",
    .sentence = "the first tile of a row is counted twice", EACH_TILE_ONCE, PER_TILE)
ROW(TILES_LAST_SKIPPED, TILES, .name = "tiles-last-skipped",
    .sentence = "the last tile of keys is skipped, full or not", EACH_TILE_ONCE, PER_TILE)
ROW(TILES_OWN_SKIPPED, TILES, .name = "tiles-own-skipped",
    .sentence = "the last tile that a row may attend to is skipped", EACH_TILE_ONCE,
    .unseen = "one tile holds all keys", KEYS_PER_TILE)
#undef EACH_TILE_ONCE
ROW(TILES_FIRST_ROW_RESCALES, TILES, .name = "tiles-first-row-rescales",
    .sentence = "each row's context is rescaled by the factor of the first row",
    .pytorch = "context_vec *= torch.exp(old_max - new_max)[..., None], with a factor per row",
    .numpy = "context = context * np.exp(old - new)[:, None]  # one per row",
    .c = "context[i][c] *= factor[i], not factor[0]", PER_TILE)
ROW(TILES_ROW_BEFORE_RESCALES, TILES, .name = "tiles-row-before-rescales",
    .sentence = "each row's context is rescaled by the factor of the row before it",
    .pytorch = "context_vec *= torch.exp(old_max - new_max)[..., None], with a factor per row",
    .numpy = "context = context * np.exp(old - new)[:, None]  # one per row",
    .c = "context[i][c] *= factor[i], not factor[i - 1]", PER_TILE)
#undef PER_TILE
#define BITS_C .c = "float16: 5 bits of exponent, 10 of fraction; bfloat16: 8 bits and 7"
ROW(BITS_BF16, BITS, .name = "bits-bf16", .only_nan = true,
    .sentence = "the bits of float16 query, key and value are read as bfloat16",
    .pytorch = "torch.frombuffer(data, dtype=torch.float16), not torch.bfloat16",
    .numpy = "x = np.frombuffer(data, np.float16)  # NumPy has no bfloat16", BITS_C)
ROW(BITS_QUERY_BF16, BITS, .name = "bits-query-bf16", .only_nan = true,
    .sentence = "the bits of a float16 query are read as bfloat16",
    .pytorch = "queries.to(torch.bfloat16) converts; queries.view(torch.bfloat16) does not",
    .numpy = "q = np.frombuffer(data, np.float16)  # NumPy has no bfloat16", BITS_C)
ROW(BITS_KEY_BF16, BITS, .name = "bits-key-bf16", .only_nan = true,
    .sentence = "the bits of a float16 key are read as bfloat16",
    .pytorch = "keys.to(torch.bfloat16) converts; keys.view(torch.bfloat16) does not",
    .numpy = "k = np.frombuffer(data, np.float16)  # NumPy has no bfloat16", BITS_C)
ROW(BITS_VALUE_BF16, BITS, .name = "bits-value-bf16", .only_nan = true,
    .sentence = "the bits of a float16 value are read as bfloat16",
    .pytorch = "values.to(torch.bfloat16) converts; values.view(torch.bfloat16) does not",
    .numpy = "v = np.frombuffer(data, np.float16)  # NumPy has no bfloat16", BITS_C)
ROW(BITS_SWAPPED, BITS, .name = "bits-swapped", .only_nan = true,
    .sentence = "the bytes of each number are read in the wrong order",
    .pytorch = "torch.from_numpy(x.byteswap()), if x was read in the wrong order",
    .numpy = "x = x.view(x.dtype.newbyteorder())  # '<f4' is little-endian, '>f4' big",
    .c = "little-endian: the lowest byte first; big-endian: the highest")
#define IN_FLOAT                                                    \
    .numpy = "q, k, v = (x.astype(np.float32) for x in (q, k, v))", \
    .c = "float sum = 0; sum += (float)q[i][c] * (float)k[j][c]: sums are float"
ROW(DTYPE_BF16, DTYPE, .name = "dtype-bf16",
    .sentence = "everything is computed in bfloat16: not a mistake, but low precision",
    .pytorch = "queries.float(), keys.float(), values.float(); .bfloat16() at the very end", IN_FLOAT)
ROW(DTYPE_F16, DTYPE, .name = "dtype-f16",
    .sentence = "everything is computed in float16: not a mistake, but low precision",
    .pytorch = "queries.float(), keys.float(), values.float(); .half() at the very end", IN_FLOAT)
ROW(DTYPE_F8E4M3, DTYPE, .name = "dtype-f8e4m3",
    .sentence = "everything is computed in float8_e4m3fn: not a mistake, but low precision",
    .pytorch = ".float() at the start, .to(torch.float8_e4m3fn) at the very end", IN_FLOAT)
ROW(DTYPE_F8E5M2, DTYPE, .name = "dtype-f8e5m2",
    .sentence = "everything is computed in float8_e5m2: not a mistake, but low precision",
    .pytorch = ".float() at the start, .to(torch.float8_e5m2) at the very end", IN_FLOAT)
ROW(OVERFLOW_F16, DTYPE, .name = "overflow-f16", .unseen = "no score is above 65504",
    .sentence = "the scores are float16, where numbers above 65504 become infinite",
    .pytorch = "(queries / head_dim**0.5) @ keys.transpose(-2, -1), or .float() before",
    .numpy = "s = (q / np.sqrt(d)) @ k.swapaxes(-1, -2)  # or .astype(np.float32) before",
    .c = "s[i][j] is a float, or q[i] is divided by sqrt(d) before the product")
ROW(GRAD_DELTA_MISSING, GRAD, .name = "grad-delta-missing", .unseen = "every delta is 0",
    .sentence = "delta, the row's sum of weights x their gradients, is not subtracted",
    .pytorch = "ds = p * (dp - delta), delta = (grad_out * out).sum(-1, keepdim=True)",
    .numpy = "ds = p * (dp - (p * dp).sum(-1, keepdims=True))",
    .c = "ds[j] = p[j] * (dp[j] - delta), delta the sum of p[j] * dp[j] over j")
ROW(GRAD_SCALE_MISSING, GRAD, .name = "grad-scale-missing", .unseen = "the scale is 1",
    .sentence = "the gradient with respect to the scores is not multiplied by the scale",
    .pytorch = "grad_query = (ds @ key) * scale; grad_key = (ds.mT @ query) * scale",
    .numpy = "ds = ds * scale; dq = ds @ k; dk = ds.swapaxes(-1, -2) @ q",
    .c = "dq[i] += scale * ds[i][j] * k[j]; dk[j] += scale * ds[i][j] * q[i]")
ROW(GRAD_SCALE_TWICE, GRAD, .name = "grad-scale-twice", .unseen = "the scale is 1",
    .sentence = "the gradient with respect to the scores is multiplied by the scale twice",
    .pytorch = "grad_query = (ds @ key) * scale, once; ds itself is not scaled",
    .numpy = "ds = ds * scale  # here, or after the products with k and q, not both",
    .c = "dq[i] += scale * ds[i][j] * k[j], where ds is not scaled yet")
ROW(GRAD_KEY_FROM_SCALED_QUERY, GRAD, .name = "grad-key-from-scaled-query", .unseen = "the scale is 1",
    .sentence = "grad_key uses a query that is already multiplied by the scale",
    .pytorch = "grad_key = (ds.mT @ query) * scale, with the query as given",
    .numpy = "dk = ds.swapaxes(-1, -2) @ q * scale  # q, not q * scale",
    .c = "dk[j] += ds[i][j] * q_scaled[i], without another scale")
ROW(GRAD_DROPOUT_MISSING, GRAD, .name = "grad-dropout-missing", .section = "attn-lessons: Dropout",
    .sentence = "the backward pass leaves out dropout",
    .pytorch = "dp = (grad_out @ v.mT) * kept / (1 - p); grad_value = dropped.mT @ grad_out",
    .numpy = "dp = dp * kept / (1 - p); dv = (w * kept / (1 - p)).swapaxes(-1, -2) @ do",
    .c = "dp[j] = kept[j] ? dp[j] / (1 - p) : 0; dv[j] += dropped[i][j] * dout[i]",
    .forms = MISTAKE_FORMS("everywhere", "for-weights", "for-value", "everywhere-delta-kept", "for-weights-delta-kept"))
ROW(GRAD_GROUPS_NOT_SUMMED, GRAD, .name = "grad-groups-not-summed",
    .sentence = "grad_key and grad_value are not summed over the query heads that share them",
    .pytorch = "grad_key.view(b, kv_heads, group, t, d).sum(2); same for grad_value",
    .numpy = "dk = dk.reshape(b, kv_heads, group, t, d).sum(2)",
    .c = "dk[h / group][j] += ..., not = ...; zeros before the first head",
    .forms = MISTAKE_FORMS("last", "first", "mean"))
ROW(GRAD_MASK_MISSING, GRAD, .name = "grad-mask-missing",
    .sentence = "the backward pass recomputes the weights from lse without the mask",
    .pytorch = "p = torch.exp(scaled - lse[..., None]).masked_fill(masked, 0)",
    .numpy = "p = np.where(masked, 0, np.exp(s - lse[..., None]))",
    .c = "p = masked(i, j) ? 0 : exp(s[i][j] - lse[i])",
    .unseen = "nothing is masked", .forms = MISTAKE_FORMS("delta-of-context", "delta-of-weights"))
ROW(GRAD_SOFTCAP_MISSING, GRAD, .name = "grad-softcap-missing",
    .sentence = "the backward pass leaves out the slope of the softcap, 1 - tanh^2",
    .pytorch = "ds = ds * (1 - (capped / softcap)**2)",
    .numpy = "ds = ds * (1 - np.tanh(s / softcap)**2)",
    .c = "ds[j] *= 1 - t * t, where t = tanh(s[j] / softcap)")
ROW(GRAD_SOFTMAX_DIAGONAL, GRAD, .name = "grad-softmax-diagonal", .section = "attn-lessons: What a score learns",
    .sentence = "the softmax gradient keeps only its diagonal, w (1 - w)",
    .pytorch = "ds = p * (dp - (p * dp).sum(-1, keepdim=True)), not p * (1 - p) * dp",
    .numpy = "ds = p * (dp - (p * dp).sum(-1, keepdims=True))  # not p * (1 - p) * dp",
    .c = "ds[j] = p[j] * (dp[j] - delta), not p[j] * (1 - p[j]) * dp[j]")
ROW(GRAD_MAXIMUM_FOR_LSE, GRAD, .name = "grad-maximum-for-lse",
    .sentence = "the backward pass recomputes the weights from the row maximum, not lse",
    .pytorch = "p = torch.exp(scaled - lse[..., None]), where lse = maximum + log(sum)",
    .numpy = "p = np.exp(s - lse[..., None])  # lse = m + np.log(l), not m",
    .c = "p = exp(s[i][j] - lse[i]), where lse[i] = m[i] + log(l[i])",
    .unseen = "each query has one allowed key", .forms = MISTAKE_FORMS("delta-of-context", "delta-of-weights"))
ROW(GRAD_TRANSPOSE_MISSING, GRAD, .name = "grad-transpose-missing",
    .sentence = "the weights are not transposed for grad_value, nor grad_scores for grad_key",
    .pytorch = "grad_value = p.mT @ grad_out; grad_key = ds.mT @ query",
    .numpy = "dv = p.swapaxes(-1, -2) @ do; dk = ds.swapaxes(-1, -2) @ q",
    .c = "dv[j] += p[i][j] * dout[i]; dk[j] += ds[i][j] * q[i]")
ROW(GRAD_QUERY_LAST_TILE, GRAD, .name = "grad-query-last-tile", .section = "attn-numbers: TWO PATHS",
    .sentence = "the last tile of keys overwrites the sum in grad_query",
    .pytorch = "grad_query = 0 before the loop over tiles of keys, not in it; then +=",
    .numpy = "dq = 0  # before the loop over tiles of keys, not in it; then +=",
    .c = "set dq[i] to 0 before the first tile of keys, not before each",
    .unseen = "one tile holds all keys", KEYS_PER_TILE)
#undef KEYS_PER_TILE
ROW(GRAD_KEY_LAST_TILE, GRAD, .name = "grad-key-last-tile", .section = "attn-numbers: TWO PATHS",
    .sentence = "the last tile of queries overwrites the sums in grad_key and grad_value",
    .pytorch = "grad_key = grad_value = 0 before the loop over tiles of queries; then +=",
    .numpy = "dk = dv = 0  # before the loop over tiles of queries, not in it; then +=",
    .c = "set dk[j] and dv[j] to 0 before the first tile of queries, not before each",
    .unseen = "one tile holds all queries", .number = "queries per tile", .from = 1, .to = 4096, .usual = 2,
    .whole = true)
ROW(GRAD_ROPE_MISSING, GRAD, .name = "grad-rope-missing",
    .sentence = "grad_query and grad_key are not rotated back",
    .pytorch = "grad_q = grad_q * cos - rotate_half(grad_q) * sin; same for grad_k",
    .numpy = "dq = dq * cos - rotate_half(dq) * sin; dk = dk * cos - rotate_half(dk) * sin",
    .c = "a = da * cos + db * sin; b = db * cos - da * sin, for each pair")
ROW(GRAD_ROPE_FORWARDS, GRAD, .name = "grad-rope-forwards",
    .sentence = "grad_query and grad_key are rotated forward again, not back",
    .pytorch = "grad_q = grad_q * cos - rotate_half(grad_q) * sin: minus, when backward",
    .numpy = "dq = dq * cos - rotate_half(dq) * sin  # minus, when backward",
    .c = "a = da * cos + db * sin; b = db * cos - da * sin, for each pair")
/* clang-format on */
#undef CU_SEQLENS
#undef ROW
