// SPDX-License-Identifier: MIT
/* Norms and rotations of inputs, query and key, as src/stage/operand_steps.c has them, each rounded as it is stored. */

/* --- norms ------------------------------------------------------------------------------------------------------- */

const NORM_NAMES = { query: 'query_norm', key: 'key_norm', value: 'value_norm' };

/* A norm of the job, { kind, eps, weight, bias }, the last two tables or null; null: there is no such norm. */
function normOf(model, name) {
    const norm = model.starts === 'inputs' ? job.norms[name] : undefined;
    return norm ? { ...norm, weight: model.tables.get(`${name}.weight`) || null, bias: model.tables.get(`${name}.bias`) || null } : null;
}

/* The mean to subtract, and the factor. */
function normTerms({ kind, eps }, x) {
    let mean = 0, squares = 0;
    for (let i = 0; i < x.length && kind === 'layer'; i++) mean += x[i] / x.length;
    for (let i = 0; i < x.length; i++) squares += (x[i] - mean) * (x[i] - mean);
    return { mean, factor: 1 / Math.sqrt(squares / x.length + eps) };
}

const normWeight = ({ kind, weight }, i) => (weight ? (kind === 'rms-plus-one' ? 1 + weight.numbers[i] : weight.numbers[i]) : 1);

/* Norms a row; its weights begin at `first`. */
function normRow(norm, x, first) {
    const { mean, factor } = normTerms(norm, x);
    return x.map((number, i) => round((number - mean) * factor * normWeight(norm, first + i) + (norm.bias ? norm.bias.numbers[first + i] : 0)));
}

/* Whether the norm takes all heads of a token together; else where the weights of a head begin. */
const isOfAll = (model, id, { weight }) => weight !== null && weight.shape.length === 1 && weight.shape[0] !== widthOfHead(model, id);
const firstWeight = ({ weight }, head) => (weight && weight.shape.length === 2 ? head * weight.shape[1] : 0);

/* The normed inputs of an item, (T, d_in). */
function normInputs(model, item) {
    const [tokens, columns] = model.tables.get('inputs').shape.slice(-2), numbers = embeddedOf(model, item), norm = normOf(model, 'norm');
    const made = new Float64Array(tokens * columns);
    for (let row = 0; row < tokens; row++) {
        const at = row * columns;
        made.set(normRow(norm, numbers.subarray(at, at + columns), 0), row * columns);
    }
    return made;
}

/* A normed head of query, key or value, (rows, d): together with all heads of a token, or alone. */
function normHead(evaluation, id, item, head) {
    const { model } = evaluation, d = widthOfHead(model, id), norm = normOf(model, NORM_NAMES[id]), own = evaluation.projected(id, item, head);
    if (!norm) return own;
    const count = id === 'query' ? model.heads : model.keyHeads, made = new Float64Array(own.length), together = isOfAll(model, id, norm);
    const heads = together ? Array.from({ length: count }, (nothing, one) => evaluation.projected(id, item, one)) : [own];
    for (let at = 0; at < own.length; at += d) {
        const row = new Float64Array(heads.length * d);
        heads.forEach((numbers, i) => row.set(numbers.subarray(at, at + d), i * d));
        const normed = normRow(norm, row, firstWeight(norm, head));
        made.set(together ? normed.subarray(head * d, head * d + d) : normed, at);
    }
    return made;
}

/* --- rotation ---------------------------------------------------------------------------------------------------- */

const isRotated = (model, id) => model.starts === 'inputs' && job.pairs.length > 0 && id !== 'value';
const isScaledQuery = (model, id) => model.starts === 'inputs' && job.scales_query && id === 'query';

/* Cosine and sine of every pair at each position that attn used, by position: (n / 2, 2). */
function readRotations() {
    const known = new Map(), size = job.pairs.length * 2;
    for (const side of ['query', 'key']) {
        const positions = job[`${side}_positions`] || [], turns = positions.length > 0 ? decodeNumbers(`turns-${side}`) : null;
        positions.forEach((position, i) => position >= 0 && known.set(position, turns.subarray(i * size, (i + 1) * size)));
    }
    return known;
}

const knownRotations = readRotations();

const roundRotation = rounderOf(job.rope_dtype); /* angles, cosines and sines */

/* The coordinate by which a pair turns: the position, or one of its axes, whose letter goes before it. */
const coordinateOf = (position, pair) => (job.coordinates.length > 0 ? job.coordinates[3 * position + job.pairs[pair][5]] : position);
const axisText = (pair) => (job.coordinates.length > 0 ? `${'thw'[job.pairs[pair][5]]} ` : '');

/* The rotation of a pair at a position: attn's own numbers, or, for a token that was added, computed as attn would. */
function rotationOf(position, pair) {
    const frequency = job.pairs[pair][4], angle = roundRotation(coordinateOf(position, pair) * frequency), known = knownRotations.get(position);
    const scaled = (side) => roundRotation(roundRotation(side) * job.rope_attention);
    if (known) return { angle, frequency, cosine: known[2 * pair], sine: known[2 * pair + 1] };
    return { angle, frequency, cosine: scaled(Math.cos(angle)), sine: scaled(Math.sin(angle)) };
}

/* The rotary position of row `row` of query or key; null: it is not rotated. */
function positionOf(model, id, item, row) {
    if (!model.positions) return null;
    const positions = model.positions[id], rows = id === 'query' ? model.rows.length : model.keys;
    return positions[item * rows + row] < 0 ? null : positions[item * rows + row];
}

/* Rotates and scales a row of query or key: x (d) -> y (d). */
function rotateRow(model, id, position, x, y) {
    y.set(x);
    for (let pair = 0; pair < job.pairs.length && isRotated(model, id) && position !== null; pair++) {
        const [first, second, toFirst, toSecond] = job.pairs[pair], { cosine, sine } = rotationOf(position, pair);
        y[toFirst] = round(x[first] * cosine - x[second] * sine);
        y[toSecond] = round(x[second] * cosine + x[first] * sine);
    }
    const scale = queryScaleOf(model);
    for (let i = 0; i < y.length && isScaledQuery(model, id); i++) y[i] = round(y[i] * scale);
}

/* A head of query, key or value after its norm, rotation and scale. */
function finishHead(evaluation, id, item, head) {
    const { model } = evaluation, { dHead: d } = model, normed = evaluation.normed(id, item, head);
    if (!isRotated(model, id) && !isScaledQuery(model, id)) return normed;
    const made = new Float64Array(normed.length);
    for (let row = 0; row < normed.length / d; row++)
        rotateRow(model, id, positionOf(model, id, item, row), normed.subarray(row * d, row * d + d), made.subarray(row * d, row * d + d));
    return made;
}

/* The stages before query, key or value that this job has. */
function stagesOnTheWay(model, id) {
    const last = isRotated(model, id) || isScaledQuery(model, id), normed = normOf(model, NORM_NAMES[id]) !== null;
    return [...(last || normed ? [`projected_${id}`] : []), ...(last && normed ? [`normed_${id}`] : [])];
}
