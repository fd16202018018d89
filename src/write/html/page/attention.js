/* The job as attn wrote it, for what shows it as it is. */

const original = modelOf(job), originalEvaluation = evaluate(original);
job.query = wholeOperand(originalEvaluation, 'query'); // (B, H, S, d)
job.key = wholeOperand(originalEvaluation, 'key'); // (B, H_kv, Tk, d)
job.value = wholeOperand(originalEvaluation, 'value'); // (B, H_kv, Tk, d_v)
job.rows = job.positions.length; // S
job.formulas = Object.fromEntries(job.stages);
job.kept = job.dropout > 0;
job.squares = job.stages.map(([name]) => name).filter((name) => SQUARE_STAGES.includes(name));
job.has = (stage) => stage in job.formulas;

/* Query and key before their last step, rotation or scale; by what each pair of a row is turned, (B, S or Tk, n / 2, 2). */
for (const side of Object.keys(job.ways)) {
    const way = job.ways[side];
    const before = (item, head) => originalEvaluation.table(way.from, item, side === 'query' ? head : head * (job.heads / job.key_heads)).numbers;
    way.before = !way.from ? null : job.starts === 'operands' ? decodeNumbers('before-' + side)
        : Float64Array.from(Array.from({ length: job.items }, (a, item) => Array.from({ length: side === 'query' ? job.heads : job.key_heads }, (b, head) => Array.from(before(item, head)))).flat(2));
    way.positions = job[side + '_positions'] || null;
    way.turns = way.positions ? decodeNumbers('turns-' + side) : null;
}

const maskSpan = (item, query) => spanOf(original, item, query);
const attnMask = (item, head, query, key) => maskNumber(original, item, head, query, key);
const alibi = (item, head, query, key) => alibiOf(original, item, head, query, key);
const relativeBucket = (distance) => bucketOf(job.relative, distance);
const relativeBias = (item, head, query, key) => relativeOf(original, item, head, query, key);
const isKept = (item, head, row, key) => keptRow(original, item, head, row)[key];
const attentionRow = (item, head, row) => originalEvaluation.line(item, head, row);
const contextOf = (line) => originalEvaluation.context(line.item, line.head, line.row);

/* Where the numbers of a row of query, or of the first key or value of a head, begin. */
const queryAt = (item, head, row) => ((item * job.heads + head) * job.rows + row) * job.d_head;
const keysAt = (item, head) => (item * job.key_heads + keyHeadOf(original, head)) * job.keys;

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

/* One stage of a head, (S, Tk), where it is masked, and the scales of its colours. */
const matrixOf = remembered((item, head, stage) => {
    const { numbers, masked } = originalEvaluation.table(stage, item, head);
    return { numbers, masked, ...matrixScales(numbers, stage) };
}, 1 + Math.floor(2 ** 22 / (job.rows * job.keys)));
const lineOf = attentionRow;
