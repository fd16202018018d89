/* The job that attn wrote into the page, and the equations of attention over it: those of src/stage/, in double
 * precision and in the same order, each stage rounded to the working dtype as it is stored.
 *
 *   H heads, H_kv heads of key and value, S queries on the page, Tk keys, d and d_v columns of one head. */

/* --- what was written -------------------------------------------------------------------------------------------- */

const original = modelOf(job);
const originalEvaluation = evaluate(original);
job.query = wholeOperand(originalEvaluation, 'query'); // (B, H, S, d)
job.key = wholeOperand(originalEvaluation, 'key'); // (B, H_kv, Tk, d)
job.value = wholeOperand(originalEvaluation, 'value'); // (B, H_kv, Tk, d_v)
job.rows = job.positions.length; // S
job.formulas = Object.fromEntries(job.stages);
job.kept = original.kept; // (B, H, S, Tk) bits, a row from a byte on
if (job.attn_mask)
    job.attn_mask.numbers = job.attn_mask.adds ? decodeNumbers('attn_mask') : decodeBytes('attn_mask');

/* Query and key before their last step, rotation or scale; by what each pair of a row is turned, (B, S or Tk, n / 2, 2). */
for (const side of Object.keys(job.ways)) {
    const way = job.ways[side];
    way.before = way.from ? decodeNumbers('before-' + side) : null;
    way.positions = job[side + '_positions'] || null;
    way.turns = way.positions ? decodeNumbers('turns-' + side) : null;
}

job.made = {}; // (B, H, S, Tk), context (B, H, S, d_v): what mistakes have made; {} where the page computes it
for (const stage of job.wrong ? [...SQUARE_STAGES, 'context'] : [])
    if (byId('data-made-' + stage)) job.made[stage] = decodeNumbers('made-' + stage);
job.isWrong = (stage) => job.wrong !== null && job.wrong.includes(stage);
job.squares = job.stages.map(([name]) => name).filter((name) => SQUARE_STAGES.includes(name));
job.has = (stage) => stage in job.formulas;

/* --- the mask ---------------------------------------------------------------------------------------------------- */

/* Keys `first` to `end` - 1, which rules of position leave to a query, and the position of the query among them. */
function maskSpan(item, query) {
    const position = query + job.offsets[item];
    const length = job.has_lengths ? job.offsets[item] + job.queries : job.keys;
    const limit = Math.min(length, job.masked_keys);
    const clamp = (key) => Math.min(Math.max(key, 0), limit);
    const first = job.left >= 0 ? clamp(position - job.left) : 0;
    let end = job.right >= 0 ? clamp(position + job.right + 1) : limit;
    if (job.causal) end = Math.min(end, clamp(position + 1));
    return { first, end: Math.max(end, first), position, length };
}

/* What attn_mask adds to the score of a key within the span: minus infinity where it forbids the key. */
function attnMask(item, head, query, key) {
    const mask = job.attn_mask;
    if (!mask) return 0;
    const [items, heads, queries, keys] = mask.strides;
    const at = item * items + head * heads + query * queries + key * keys;
    if (mask.adds) return mask.numbers[at];
    return (mask.numbers[at >> 3] >> (at & 7)) & 1 ? 0 : -Infinity;
}

function alibi(item, head, query, key) {
    if (job.alibi_penalties) return job.alibi_penalties[head * job.keys + key];
    return job.alibi_slopes ? job.alibi_slopes[head] * Math.abs(key - (query + job.offsets[item])) : 0;
}

/* What T5's table adds at a distance of key and query. */
function relativeBucket(distance) {
    const { far, buckets } = job.relative;
    return buckets[Math.min(Math.max(distance, -far), far) + far];
}

function relativeBias(item, head, query, key) {
    return job.relative ? job.relative.table[relativeBucket(key - (query + job.offsets[item])) * job.heads + head] : 0;
}

/* What is added to each score of a row, (Tk); minus infinity: the key is forbidden. What ALiBi takes away may be too large
 * for a double, but does not forbid a key. */
function maskRow(item, head, query) {
    const bias = new Float64Array(job.keys).fill(-Infinity);
    const span = maskSpan(item, query);
    for (let key = span.first; key < span.end; key++) {
        const added = attnMask(item, head, query, key);
        bias[key] = added === -Infinity ? added
            : Math.max(-Number.MAX_VALUE, added - alibi(item, head, query, key)) + relativeBias(item, head, query, key);
    }
    return bias;
}

/* --- query and key ------------------------------------------------------------------------------------------------- */

/* One row of query or key on its last step: where its columns begin, and its position, null where it is not turned. */
function wayRow(side, item, head, row) {
    const rows = side === 'query' ? job.rows : job.keys, way = job.ways[side];
    const at = side === 'query' ? queryAt(item, head, row) : (keysAt(item, head) + row) * job.d_head;
    const position = way.positions ? way.positions[item * rows + row] : -1;
    return { side, way, at, turnsAt: (item * rows + row) * job.pairs.length * 2, position: position < 0 ? null : position };
}

/* A pair (a, b) of it, its angle, and what is made of it: (a cos - b sin, b cos + a sin), times the scale. */
function turnedPair({ way, at, turnsAt, position }, pair) {
    const [first, second, toFirst, toSecond, frequency] = job.pairs[pair];
    const a = way.before[at + first], b = way.before[at + second];
    const cosine = way.turns[turnsAt + 2 * pair], sine = way.turns[turnsAt + 2 * pair + 1];
    const scaled = (number) => (way.scale === 1 ? round(number) : round(round(number) * way.scale));
    return {
        a, b, cosine, sine, frequency, angle: Math.fround(position * frequency), columns: [first, second],
        to: [toFirst, toSecond], made: [scaled(a * cosine - b * sine), scaled(b * cosine + a * sine)],
    };
}

/* --- one row through the stages ---------------------------------------------------------------------------------- */

/* Where the numbers of a row of query, or of the first key or value of a head, begin. */
const queryAt = (item, head, row) => ((item * job.heads + head) * job.rows + row) * job.d_head;
const keyHead = (head) => Math.floor(head / (job.heads / job.key_heads));
const keysAt = (item, head) => (item * job.key_heads + keyHead(head)) * job.keys;

/* The largest masked score and the sum of exponentials, of the keys that are seen and of the sink. */
function softmaxParts(cast, bias, sink) {
    let maximum = sink === null ? -Infinity : sink;
    for (let key = 0; key < cast.length; key++)
        if (bias[key] > -Infinity && (cast[key] > maximum || Number.isNaN(cast[key]))) maximum = cast[key];
    const exponentials = cast.map((score, key) => (bias[key] > -Infinity ? Math.exp(score - maximum) : 0));
    let sum = 0;
    for (const exponential of exponentials) sum += exponential;
    if (sink !== null) sum += Math.exp(sink - maximum);
    return { maximum, exponentials, sum };
}

/* The weights of a row that sees some key, and what they are made of. */
function softmax(masked, bias, sink) {
    const cast = masked.map(roundSoftmax);
    const parts = softmaxParts(cast, bias, sink);
    const weights = parts.exponentials.map((exponential, key) =>
        bias[key] > -Infinity ? round(roundSoftmax(exponential / parts.sum)) : 0);
    return { ...parts, cast, weights };
}

const EMPTY_WEIGHTS = { zero: 0, nan: NaN, mean: 1 / job.keys };
const dropoutFactor = NATIVE_ROUNDERS[DTYPE.storage](1 / (1 - job.dropout));

function isKept(item, head, row, key) {
    const bytes = Math.ceil(job.keys / 8);
    return ((job.kept[((item * job.heads + head) * job.rows + row) * bytes + (key >> 3)] >> (key & 7)) & 1) === 1;
}

/* Minus infinity where the key is forbidden; a sum that would round to it stays at the lowest number. */
function addBias(score, bias) {
    if (bias === -Infinity) return -Infinity;
    const sum = score + bias;
    return bias < 0 && score > -Infinity && sum < -DTYPE.largest ? -DTYPE.largest : round(sum);
}

/* A row of a stage as mistakes have made it, or what `compute` makes. */
function madeRow(stage, { item, head, row }, columns, compute) {
    const first = ((item * job.heads + head) * job.rows + row) * columns;
    return stage in job.made ? Float64Array.from(job.made[stage].subarray(first, first + columns)) : compute();
}

/* Every stage of a row, (Tk) each, from the scores to what is weighed with the values. */
function attentionRow(item, head, row) {
    const query = job.positions[row], place = { item, head, row };
    const made = (stage, compute) => madeRow(stage, place, job.keys, compute);
    const bias = job.isWrong('masked') ? new Float64Array(job.keys) : maskRow(item, head, query); /* then all keys take part */
    const at = queryAt(item, head, row), from = keysAt(item, head) * job.d_head;
    const scores = made('scores', () => Float64Array.from({ length: job.keys }, (nothing, key) =>
        round(dotProduct(job.query, at, job.key, from + key * job.d_head, job.d_head))));
    const scaled = made('scaled', () => scores.map((score) => round(score * job.scale)));
    const capped = made('capped', () => (job.softcap > 0
        ? scaled.map((score) => round(job.softcap * Math.tanh(score / job.softcap))) : scaled));
    const masked = made('masked', () => capped.map((score, key) => addBias(score, bias[key])));
    const empty = bias.every((number) => number === -Infinity);
    const sink = job.sinks ? job.sinks[head] : null;
    const softened = empty
        ? { weights: new Float64Array(job.keys).fill(round(EMPTY_WEIGHTS[job.empty_row])) }
        : softmax(masked, bias, sink);
    const weights = made('weights', () => softened.weights);
    const dropped = made('dropped', () => (job.kept
        ? weights.map((weight, key) => round(weight * (isKept(item, head, row, key) ? dropoutFactor : 0)))
        : weights));
    return { item, head, row, query, bias, empty, sink, scores, scaled, capped, masked, ...softened, weights, dropped };
}

/* context = weights . value, (d_v). */
function contextOf(line) {
    return madeRow('context', line, job.d_value, () => computeContext(line));
}

function computeContext(line) {
    const from = keysAt(line.item, line.head) * job.d_value;
    const context = new Float64Array(job.d_value);
    if (line.empty && job.empty_row !== 'mean') return context.fill(EMPTY_WEIGHTS[job.empty_row]);
    for (let key = 0; key < job.keys; key++) {
        if (!line.empty && line.bias[key] === -Infinity) continue;
        for (let column = 0; column < job.d_value; column++)
            context[column] += line.dropped[key] * job.value[from + key * job.d_value + column];
    }
    return context.map(round);
}

/* One stage of a head, (S, Tk), where it is masked, and the scales of its colours. */
function attentionMatrix(item, head, stage) {
    const numbers = new Float64Array(job.rows * job.keys), masked = new Uint8Array(job.rows * job.keys);
    const masks = SQUARE_STAGES.indexOf(stage) >= SQUARE_STAGES.indexOf('masked');
    for (let row = 0; row < job.rows; row++) {
        const line = attentionRow(item, head, row);
        numbers.set(line[stage], row * job.keys);
        const weighed = line.empty && job.empty_row !== 'zero' && stage !== 'masked'; /* its weights are numbers */
        if (masks && !weighed) masked.set(line.bias.map((bias) => (bias === -Infinity ? 1 : 0)), row * job.keys);
    }
    return { numbers, masked, ...matrixScales(numbers, stage) };
}

const lineOf = remembered(attentionRow, Math.min(256, 1 + Math.floor(2 ** 20 / job.keys)));
const matrixOf = remembered(attentionMatrix, 1 + Math.floor(2 ** 22 / (job.rows * job.keys)));
