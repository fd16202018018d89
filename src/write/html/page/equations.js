// SPDX-License-Identifier: MIT
/* The equations of attention over a model, as src/stage/ has them: in double precision, in the same order of sums, each
 * stage rounded to the working dtype. Rows are computed when asked for, and remembered.
 *
 *   B items, H heads, H_kv of key and value, S queries on the page, Tk keys, d and d_v columns of a head */

const SQUARE_STAGES = ['scores', 'scaled', 'capped', 'masked', 'weights', 'dropped'];

/* In four sums, as src/stage/dot_products.h adds them up. */
function dotProduct(a, at, b, from, columns) {
    let sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0, i = 0;
    for (; i + 4 <= columns; i += 4) {
        sum0 += a[at + i] * b[from + i];
        sum1 += a[at + i + 1] * b[from + i + 1];
        sum2 += a[at + i + 2] * b[from + i + 2];
        sum3 += a[at + i + 3] * b[from + i + 3];
    }
    for (; i < columns; i++) sum0 += a[at + i] * b[from + i];
    return sum0 + sum1 + (sum2 + sum3);
}

/* --- query, key and value ---------------------------------------------------------------------------------------- */

const widthOfHead = ({ dHead, dValue }, id) => (id === 'value' ? dValue : dHead);
const PROJECTIONS = { query: 'W_query', key: 'W_key', value: 'W_value' };

/* The two steps of an operand by way of a latent, as src/stage/latent.c has them; null: it has none. */
const LATENTS = { query: 'query', key: 'key_value', value: 'key_value' };
function latentOf(model, id) {
    const stem = LATENTS[id], [first, second] = ['a', 'b'].map((end) => model.tables.get(`W_${stem}_${end}.weight`));
    return first ? { stem, first, second, bias: model.tables.get(`W_${stem}_a.bias`) || null, rank: second.shape[0], norm: normOf(model, `${stem}_a_norm`) } : null;
}

/* Of an item's tokens: what the first step makes, (T, columns), and the normed latent, (T, rank). */
function makeLatent(evaluation, id, item) {
    const { first: weight, bias, rank, norm } = latentOf(evaluation.model, id), x = sourceNumbers(evaluation, id, item), [dIn, width] = weight.shape, rows = x.length / dIn;
    const by = { weight, bias, first: 0, columns: width, width }, sums = new Float64Array(rows * width), numbers = new Float64Array(rows * rank);
    for (let row = 0; row < rows; row++) projectRow(x, row * dIn, dIn, by, sums, row * width);
    const narrow = sums.map(round), latent = (row) => narrow.subarray(row * width, row * width + rank);
    for (let row = 0; row < rows; row++) numbers.set(norm ? normRow(norm, latent(row), 0) : latent(row), row * rank);
    return { narrow, width, numbers, dIn: rank };
}

/* The rows that the last projection reads: of the inputs, or the latent. */
const projectedRows = (evaluation, id, item) => (latentOf(evaluation.model, id) ? evaluation.latent(id, item)
    : { numbers: sourceNumbers(evaluation, id, item), dIn: columnsOf(sourceOf(evaluation.model, id)) });

/* The columns of one head in the weight of its last step: { weight, bias, first, columns, width }. A key by way of a latent
 * has other columns behind these, which all heads share. */
function projectionOf(model, id, head) {
    const latent = latentOf(model, id);
    if (latent) {
        const { stem, first, second: weight, rank } = latent, own = columnsOf(weight) / model.heads, columns = widthOfHead(model, id) - (id === 'key' ? columnsOf(first) - rank : 0);
        return { weight, bias: model.tables.get(`W_${stem}_b.bias`) || null, first: head * own + (id === 'value' ? own - columns : 0), columns, width: columnsOf(weight) };
    }
    const stem = (model.settings.stacked ? `heads.${head}.` : '') + PROJECTIONS[id];
    const weight = model.tables.get(`${stem}.weight`) || model.tables.get(stem), bias = model.tables.get(`${stem}.bias`) || null;
    const columns = widthOfHead(model, id);
    return { weight, bias, first: model.settings.stacked ? 0 : head * columns, columns, width: weight.shape[1] };
}

const sourceOf = (model, id) => (id === 'query' ? null : model.tables.get('key_inputs')) || model.tables.get('inputs');

/* One row y (columns) = x . W + bias, in the order of src/stage/projections.c. */
function projectRow(x, at, dIn, { weight, bias, first, columns, width }, y, to) {
    for (let j = 0; j < columns; j++) y[to + j] = 0;
    for (let k = 0; k < dIn; k++)
        for (let j = 0; j < columns; j++) y[to + j] += x[at + k] * weight.numbers[k * width + first + j];
    for (let j = 0; bias && j < columns; j++) y[to + j] += bias.numbers[first + j];
}

const clipped = (number, clip) => (clip > 0 && Math.abs(number) > clip ? Math.sign(number) * clip : number);

/* The numbers that query, or key and value, are computed from, of an item, (T, d_in). */
function sourceNumbers(evaluation, id, item) {
    const { model } = evaluation, source = sourceOf(model, id), size = countOf(source.shape.slice(-2));
    if (source.name === 'inputs' && normOf(model, 'norm')) return evaluation.normedInputs(item);
    return source.name === 'inputs' ? evaluation.embedded(item) : source.numbers.subarray(item * size, (item + 1) * size);
}

/* A projected head of query (S, d), key (Tk, d) or value (Tk, d_v). */
function projectHead(evaluation, id, item, head) {
    const { model } = evaluation, { numbers: source, dIn, narrow, width } = projectedRows(evaluation, id, item), d = widthOfHead(model, id);
    const rows = id === 'query' ? model.rows : Array.from({ length: model.keys }, (nothing, key) => key);
    const by = projectionOf(model, id, head), made = new Float64Array(rows.length * d);
    rows.forEach((row, i) => {
        projectRow(source, row * dIn, dIn, by, made, i * d);
        if (by.columns < d) made.set(narrow.subarray(row * width + dIn, (row + 1) * width), i * d + by.columns);
    });
    return made.map((number) => round(clipped(number, model.job.clip)));
}

/* The last two of each head, with all that they depend on: an edit elsewhere, and the model before it, reuse them. */
const madeProjections = new Map();

function sharedProjection(evaluation, id, item, head) {
    const { model } = evaluation, { weight, bias, first, columns } = projectionOf(model, id, head), norm = normOf(model, 'norm');
    const tables = [sourceOf(model, id), weight, bias, norm && norm.weight, norm && norm.bias, ...latentNames(model, id).map((name) => model.tables.get(name))].map((table) => table && table.numbers);
    const of = [exact, model.tables.get('positions')?.numbers, ...tables, id === 'query' ? model.rows : null, first, columns], name = [id, item, head].join(), known = madeProjections.get(name) || [];
    const found = known.find((one) => one.of.every((part, i) => part === of[i]));
    if (found) return found.made;
    const made = projectHead(evaluation, id, item, head);
    madeProjections.set(name, [{ of, made }, ...known.slice(0, 1)]);
    return made;
}

function givenHead(model, id, item, head) {
    const { shape: [, heads, rows, columns], numbers } = model.tables.get(id), at = (item * heads + head) * rows * columns;
    return numbers.subarray(at, at + rows * columns);
}

const keyHeadOf = (model, head) => (model.groups ? model.groups(head) : Math.floor(head / (model.heads / model.keyHeads)));

function makeOperand(evaluation, id, item, head) {
    if (evaluation.model.starts === 'operands') return givenHead(evaluation.model, id, item, head);
    return finishHead(evaluation, id, item, head);
}

/* --- the mask ---------------------------------------------------------------------------------------------------- */

/* The span of keys, `first` to `end` - 1, that the causal rule, the window and the length allow; and the query's
 * position. */
function spanOf(model, item, query) {
    const { causal, left, right } = model.settings, position = query + model.offsets[item];
    const length = model.hasLengths ? model.offsets[item] + model.queries : model.keys;
    const limit = Math.min(length, model.maskedKeys);
    const clamp = (key) => Math.min(Math.max(key, 0), limit);
    const first = left >= 0 ? clamp(position - left) : 0;
    let end = right >= 0 ? clamp(position + right + 1) : limit;
    if (causal) end = Math.min(end, clamp(position + 1));
    return { first, end: Math.max(end, first), position, length };
}

/* Where a number of a table with four axes is; those of size 1 are shared. */
const placeIn4 = ({ shape }, ...at) => at.reduce((place, i, axis) => place * shape[axis] + (shape[axis] > 1 ? i : 0), 0);

/* What attn_mask adds to a score within the span; minus infinity masks the key. */
function maskNumber(model, item, head, query, key) {
    const mask = maskOf(model), number = mask ? mask.numbers[placeIn4(mask, item, head, query, key)] : 0;
    return mask && !mask.adds ? (number === 1 ? 0 : -Infinity) : number;
}

function alibiOf(model, item, head, query, key) {
    if (model.alibiPenalties) return model.alibiPenalties[head * model.job.keys + key];
    const slopes = slopesOf(model);
    return slopes ? slopes.numbers[head] * Math.abs(key - (query + model.offsets[item])) : 0;
}

function bucketOf({ far, buckets }, distance) {
    return buckets[Math.min(Math.max(distance, -far), far) + far];
}

function relativeOf(model, item, head, query, key) {
    const { relative, heads } = model, table = model.tables.get('relative_bias.weight');
    return relative ? (table ? table.numbers : relative.table)[bucketOf(relative, key - (query + model.offsets[item])) * heads + head] : 0;
}

/* What is added to a score within the span. An ALiBi penalty may overflow a double, but does not mask the key. */
function biasNumber(model, item, head, query, key) {
    const added = maskNumber(model, item, head, query, key);
    if (added === -Infinity) return added;
    return Math.max(-Number.MAX_VALUE, added - alibiOf(model, item, head, query, key)) + relativeOf(model, item, head, query, key);
}

/* What is added to each score of a row, (Tk); minus infinity masks the key. */
function biasOf(model, item, head, query) {
    const bias = new Float64Array(model.keys).fill(-Infinity), span = spanOf(model, item, query);
    if (!maskOf(model) && !slopesOf(model) && !model.relative && !model.forbids) return bias.fill(0, span.first, span.end);
    for (let key = span.first; key < span.end; key++)
        if (!model.forbids || !model.forbids(span.position, query, key, model.keys)) bias[key] = biasNumber(model, item, head, query, key);
    return bias;
}

/* Minus infinity where the key is masked; a sum that would round to minus infinity stays at the lowest number. */
function addBias(score, bias) {
    if (bias === -Infinity) return -Infinity;
    const sum = score + bias;
    return bias < 0 && score > -Infinity && sum < -MASKED_DTYPE.largest ? -MASKED_DTYPE.largest : roundMasked(sum);
}

/* --- one row through the stages ---------------------------------------------------------------------------------- */

/* Each number through `of`: a loop, since rows are long and many. */
function eachOf(numbers, of) {
    const made = new Float64Array(numbers.length);
    for (let i = 0; i < numbers.length; i++) made[i] = of(numbers[i], i);
    return made;
}

/* The row maximum and the sum of exponentials, over the allowed keys and the sink. */
function softmaxParts(cast, bias, sink) {
    const exponentials = new Float64Array(cast.length);
    let maximum = sink === null ? -Infinity : sink, sum = 0;
    for (let key = 0; key < cast.length; key++)
        if (bias[key] > -Infinity && (cast[key] > maximum || Number.isNaN(cast[key]))) maximum = cast[key];
    for (let key = 0; key < cast.length; key++) {
        exponentials[key] = bias[key] > -Infinity ? Math.exp(cast[key] - maximum) : 0;
        sum += exponentials[key];
    }
    return { maximum, exponentials, sum: sink === null ? sum : sum + Math.exp(sink - maximum) };
}

/* The weights of a row that allows some key, and what they are computed from. */
function softmax(masked, bias, sink) {
    const cast = eachOf(masked, roundSoftmax), parts = softmaxParts(cast, bias, sink), { exponentials, sum } = parts;
    const weights = eachOf(exponentials, (exponential, key) => (bias[key] > -Infinity ? round(roundSoftmax(exponential / sum)) : 0));
    return { ...parts, cast, weights };
}

const emptyWeight = (model) => ({ zero: 0, nan: NaN, mean: 1 / model.keys })[model.job.empty_row];

function dropRow(model, item, head, row, weights) {
    const factor = roundStored(1 / (1 - model.settings.dropout)), kept = keptRow(model, item, head, row);
    return eachOf(weights, (weight, key) => round(weight * (kept[key] ? factor : 0)));
}

function cap(scaled, softcap) {
    return softcap > 0 ? eachOf(scaled, (score) => round(softcap * Math.tanh(score / softcap))) : scaled;
}

/* A row as a mistake of the command line made it, or as `compute` makes it. */
function madeRow({ heads, rows }, stage, { item, head, row }, columns, compute) {
    const made = job.made[stage], first = ((item * heads + head) * rows.length + row) * columns;
    return made ? Float64Array.from(made.subarray(first, first + columns)) : compute();
}

/* The rows of query and key that meet in a score; with a mistake, those of another operand stand in for them. */
function meetingRows(evaluation, { item, head, row, query }, key) {
    const { model: { dHead: d }, model, mistake } = evaluation, at = (mistake.taken?.query ? query : row) * d;
    return {
        query: evaluation.taken('query', item, head).subarray(at, at + d),
        key: evaluation.taken('key', item, keyHeadOf(model, head)).subarray(key * d, key * d + d),
    };
}

/* query . key^T */
function makeScores(evaluation, line) {
    const { dHead: d, keys } = evaluation.model, { query } = meetingRows(evaluation, line, 0), of = evaluation.taken('key', line.item, keyHeadOf(evaluation.model, line.head));
    return eachOf(new Float64Array(keys), (nothing, key) => round(dotProduct(query, 0, of, key * d, d)));
}

function makeWeights({ model }, line) {
    if (line.empty) return new Float64Array(model.keys).fill(round(emptyWeight(model)));
    return Object.assign(line, softmax(line.masked, line.bias, line.sink)).weights;
}

/* How each stage of a line is computed from those before it. */
const STAGE_MAKERS = {
    scores: makeScores,
    scaled: ({ model }, { scores }, scale = scaleOf(model)) => eachOf(scores, (score) => round(score * scale)),
    capped: ({ model }, { scaled }) => cap(scaled, model.settings.softcap),
    masked: (evaluation, { capped, bias }) => eachOf(capped, (score, key) => addBias(score, bias[key])),
    weights: makeWeights,
    dropped: ({ model }, { item, head, row, weights }) => (model.settings.dropout > 0 ? dropRow(model, item, head, row, weights) : weights),
};

/* The mask of a row, and its stages up to `last`, (Tk) each. Where a mistake of the command line made all stages,
 * every key takes part. */
function makeLine(evaluation, item, head, row, last = 'dropped') {
    const { model, made } = evaluation, { keys } = model, query = model.rows[row];
    const bias = job.isWrong('masked') ? new Float64Array(keys) : biasOf(model, item, head, query);
    const line = { item, head, row, query, bias, empty: bias.every((number) => number === -Infinity), sink: model.tables.get('sinks')?.numbers[head] ?? null };
    for (const stage of SQUARE_STAGES.slice(0, SQUARE_STAGES.indexOf(last) + 1))
        line[stage] = madeRow(model, stage, line, keys, () => (made[stage] || STAGE_MAKERS[stage])(evaluation, line));
    if (job.made.weights && line.weights && !line.empty) { /* the page holds them, but not what explains them */
        const { weights, ...parts } = softmax(line.masked, line.bias, line.sink);
        Object.assign(line, parts);
    }
    return line;
}

function computeContext(evaluation, line) {
    const { model } = evaluation, { dValue, keys } = model, { empty, bias, dropped } = line, context = new Float64Array(dValue);
    if (empty && job.empty_row !== 'mean') return context.fill(emptyWeight(model));
    const value = evaluation.taken('value', line.item, keyHeadOf(model, line.head));
    for (let key = 0, at = 0; key < keys; key++, at += dValue) {
        const weight = dropped[key];
        if (!empty && bias[key] === -Infinity) continue;
        for (let column = 0; column < dValue; column++) context[column] += weight * value[at + column];
    }
    return context.map(round);
}

function makeContext(evaluation, line) {
    const { model, made } = evaluation;
    return madeRow(model, 'context', line, model.dValue, () => (made.context || computeContext)(evaluation, line));
}

function makeEntropy(evaluation, { weights }) {
    let entropy = 0;
    for (const weight of weights) entropy -= weight === 0 ? 0 : weight * Math.log(weight);
    return Float64Array.of(round(entropy));
}

/* Row statistics, shown where --stages names them: how to compute one, and the stage that it is computed from. */
const ROW_STATISTICS = { entropy: { make: makeEntropy, from: 'weights' } };

const makeStatistic = (evaluation, stage, line) =>
    madeRow(evaluation.model, stage, line, 1, () => (evaluation.made[stage] || ROW_STATISTICS[stage].make)(evaluation, line));

/* --- heads together ---------------------------------------------------------------------------------------------- */

const hasGate = (model) => model.tables.has('W_gate.weight');

/* The columns of W_gate that a head has: as many as its value, or one for all of them. */
const gateColumns = (model) => columnsOf(model.tables.get('W_gate.weight')) / model.heads;

/* What goes into the sigmoid of a query, (columns). */
function gateSums(evaluation, item, head, row) {
    const { model } = evaluation, weight = model.tables.get('W_gate.weight'), dIn = weight.shape[0], columns = gateColumns(model), sums = new Float64Array(columns);
    const by = { weight, bias: model.tables.get('W_gate.bias') || null, first: head * columns, columns, width: columnsOf(weight) };
    projectRow(sourceNumbers(evaluation, 'query', item), model.rows[row] * dIn, dIn, by, sums, 0);
    return sums.map(round);
}

/* Of one head, (d_v). */
function makeGate(evaluation, item, head, row) {
    const { model } = evaluation, sums = gateSums(evaluation, item, head, row), repeats = model.dValue / sums.length;
    return Float64Array.from({ length: model.dValue }, (nothing, i) => round(1 / (1 + Math.exp(-sums[Math.floor(i / repeats)]))));
}

/* Whether a column of the heads side by side is 0, as that of a head that is taken out. */
const isHeadOut = ({ headsOut, dValue }, column) => headsOut.includes(Math.floor(column / dValue));

function makeHeads(evaluation, item, row) {
    const { heads, dValue } = evaluation.model, side = new Float64Array(heads * dValue);
    for (let head = 0; head < heads; head++) if (!evaluation.model.headsOut.includes(head)) side.set(evaluation.context(item, head, row), head * dValue);
    return side;
}

const gateHeads = (evaluation, side, item, row) => (!hasGate(evaluation.model) ? side : eachOf(side, (number, i) => {
    const { dValue } = evaluation.model;
    return round(number * evaluation.gate(item, Math.floor(i / dValue), row)[i % dValue]);
}));

const outProjection = (model) => model.tables.get('out_proj.weight') || null;

function projectOut(model, side) {
    const weight = outProjection(model), width = columnsOf(weight), output = new Float64Array(width);
    const by = { weight, bias: model.tables.get('out_proj.bias') || null, first: 0, columns: width, width };
    projectRow(side, 0, weight.shape[0], by, output, 0);
    return output.map(round);
}

function makeOutput(evaluation, item, row) {
    const { model } = evaluation, side = evaluation.heads(item, row);
    return outProjection(model) && !model.settings.stacked ? projectOut(model, side) : side;
}

/* --- the evaluation ---------------------------------------------------------------------------------------------- */

const hasHeads = (model) => model.job.has_heads;

const isOfKeys = (stage) => ['projected_key', 'normed_key', 'key', 'projected_value', 'value', 'key_inputs'].includes(stage);

const namesOf = (model, stem) => Array.from(model.tables.keys()).filter((name) => name === stem || name.startsWith(`${stem}.`));

const latentNames = (model, id) => ['W_*_a', '*_a_norm', 'W_*_b'].flatMap((name) => namesOf(model, name.replace('*', LATENTS[id])));

/* The other tables that a stage is made from, besides the stage before. */
const GIVEN_FOR = { masked: ['attn_mask', 'alibi_slopes', 'relative_bias.weight'], weights: ['sinks'] };

/* What the projections of the inputs read. */
const inputsName = (model) => (normOf(model, 'norm') ? 'normed' : embeddedName(model));

/* The tables that a stage is computed from; `names` are the stages before it. */
function sourcesOf(model, stage, names) {
    const before = names[names.length - 1], { stacked } = model.settings;
    if (stage === 'scores') return ['query', 'key'];
    if (stage === 'context') return [before, 'value'];
    if (stage === 'gate') return [inputsName(model), ...namesOf(model, 'W_gate')];
    if (stage === 'heads') return ['context', ...(hasGate(model) ? ['gate'] : [])];
    if (stage === 'output') return ['heads', ...namesOf(model, 'out_proj')];
    if (stage in WORD_STAGES) return WORD_STAGES[stage].from(model, names.filter((name) => !(name in ROW_STATISTICS)).pop());
    if (stage === 'normed') return [embeddedName(model), ...namesOf(model, 'norm')];
    if (stage in ROW_STATISTICS) return [ROW_STATISTICS[stage].from];
    if (stage in GIVEN_FOR) return [before, ...GIVEN_FOR[stage].filter((name) => model.tables.has(name))];
    const id = stage.replace(/^(projected|normed)_/, '');
    if (!(id in PROJECTIONS)) return [before];
    if (model.starts === 'operands') return [];
    const way = [...stagesOnTheWay(model, id), id], at = way.indexOf(stage);
    if (at > 0) return [way[at - 1], ...(stage.startsWith('normed') || !way.includes(`normed_${id}`) ? namesOf(model, NORM_NAMES[id]) : [])];
    const stem = (stacked ? 'heads.0.' : '') + PROJECTIONS[id], source = sourceOf(model, id).name;
    return [source === 'inputs' ? inputsName(model) : source, ...namesOf(model, stem), ...latentNames(model, id)];
}

/* The formula of a stage that a mistake changes. One that begins with a comma continues that of the stage before. */
function toldOtherwise(tells, stage, names) {
    const told = tells[stage] || (/^(projected_)?(query|key|value)$/.test(stage) && !names.includes(`projected_${stage}`) ? tells.projected : undefined);
    return told && told.startsWith(',') ? names.filter((name) => SQUARE_STAGES.includes(name)).pop() + told : told;
}

/* The stages of a model in order: name, formula, sources (of stacked heads those of the first), axes, whether each
 * head has one, and whether it is T x T. */
function stagesOf(model, { tells = {} }) {
    const { settings } = model;
    const there = { capped: settings.softcap > 0, masked: hasMask(model), dropped: settings.dropout > 0, gate: hasGate(model), heads: isSplit(model), output: isSplit(model) };
    const statistics = Object.keys(ROW_STATISTICS).filter((name) => model.job.stages.some(([asked]) => asked === name));
    const ofWords = Object.keys(WORD_STAGES).filter((name) => hasWordStage(model, name)), isBefore = (name) => name === 'embedded';
    const names = [...ofWords.filter(isBefore), ...(normOf(model, 'norm') ? ['normed'] : []), ...stagesOnTheWay(model, 'query'), ...stagesOnTheWay(model, 'key'), ...stagesOnTheWay(model, 'value'), 'query', 'key',
        'value', ...SQUARE_STAGES, 'context', 'gate', 'heads', 'output', ...ofWords.filter((name) => !isBefore(name)), ...statistics].filter((name) => there[name] ?? true);
    return names.map((name, i) => ({
        name, formula: toldOtherwise(tells, name, names.slice(0, i)) || formulaOf(model, name, names.slice(0, i)), square: SQUARE_STAGES.includes(name),
        perHead: hasHeads(model) && !['normed', 'heads', 'output'].includes(name) && !(name in WORD_STAGES),
        from: sourcesOf(model, name, names.slice(0, i)),
        axes: [isOfKeys(name) ? 'key' : 'query', SQUARE_STAGES.includes(name) ? 'key' : 'column'],
    }));
}

/* A table of rows that are computed one by one. */
function tableOfRows(rows, columns, rowOf) {
    const numbers = new Float64Array(rows * columns);
    for (let row = 0; row < rows; row++) numbers.set(rowOf(row), row * columns);
    return { rows, columns, numbers, masked: null };
}

/* One T x T stage of a head, and its masked cells. */
function squareTable(evaluation, stage, item, head) {
    const { model } = evaluation, { keys } = model, rows = model.rows.length;
    const table = tableOfRows(rows, keys, (row) => evaluation.line(item, head, row)[stage]);
    table.masked = new Uint8Array(rows * keys);
    if (SQUARE_STAGES.indexOf(stage) < SQUARE_STAGES.indexOf('masked')) return table;
    for (let row = 0; row < rows; row++) {
        const line = evaluation.line(item, head, row);
        const weighed = line.empty && model.job.empty_row !== 'zero' && stage !== 'masked'; /* its weights are numbers */
        for (let key = 0; key < keys && !weighed; key++) table.masked[row * keys + key] = line.bias[key] === -Infinity ? 1 : 0;
    }
    return table;
}

function heldTable(model, name, item, head) {
    const table = model.tables.get(name), { shape } = table, [rows, columns] = shape.length > 1 ? shape.slice(-2) : [1, shape[0]];
    const first = shape.length === 4 ? placeIn4(table, item, head, 0, 0) : shape.length === 3 ? item * rows * columns : 0;
    const numbers = table.numbers.subarray(first, first + rows * columns), hides = isTruths(table) ? 0 : -Infinity;
    return { rows, columns, numbers, masked: name === 'attn_mask' ? Uint8Array.from(numbers, (number) => number === hides) : null };
}

function makeTable(evaluation, stage, item, head) {
    const { model } = evaluation, rows = model.rows.length;
    const [, way, id] = /^(?:(projected|normed)_)?(query|key|value)$/.exec(stage) || [];
    if (id) {
        const numbers = evaluation[way || 'operand'](id, item, id === 'query' ? head : keyHeadOf(model, head));
        const columns = widthOfHead(model, id);
        return { rows: numbers.length / columns, columns, numbers, masked: null };
    }
    if (stage === 'normed') {
        const columns = columnsOf(model.tables.get('inputs')), first = (row) => model.rows[row] * columns;
        return tableOfRows(rows, columns, (row) => evaluation.normedInputs(item).subarray(first(row), first(row) + columns));
    }
    if (SQUARE_STAGES.includes(stage)) return squareTable(evaluation, stage, item, head);
    if (stage in ROW_STATISTICS) return tableOfRows(rows, 1, (row) => makeStatistic(evaluation, stage, evaluation.line(item, head, row)));
    if (stage === 'context' || stage === 'gate') return tableOfRows(rows, model.dValue, (row) => evaluation[stage](item, head, row));
    if (stage in WORD_STAGES) return tableOfRows(rows, WORD_STAGES[stage].make(evaluation, item, 0).length, (row) => WORD_STAGES[stage].make(evaluation, item, row));
    if (stage === 'heads') return tableOfRows(rows, model.heads * model.dValue, (row) => evaluation.heads(item, row));
    if (stage === 'output') return tableOfRows(rows, evaluation.output(item, 0).length, (row) => evaluation.output(item, row));
    return heldTable(evaluation.asked, stage, item, head);
}

const keyLabelsOf = (model, item) => Array.from({ length: model.keys }, (nothing, key) => keyLabelOf(model, item, key));

/* The labels of a table's rows and columns, or null; '' is a token without one. */
function labelsOfTable(model, stage, item) {
    const held = model.tables.get(stage), named = (labels) => (labels.some((label) => label !== '') ? labels : null);
    const ofMask = held && held.what === 'mask', allQueries = ['inputs', 'positions'].includes(stage) || (ofMask && held.shape[2] > 1);
    const rowLabels = held && (held.what === 'parameter' || (ofMask && !allQueries)) ? []
        : allQueries ? Array.from({ length: model.queries }, (nothing, query) => queryLabelAt(model, item, query))
            : isOfKeys(stage) ? keyLabelsOf(model, item) : model.rows.map((query) => queryLabelAt(model, item, query));
    const columnLabels = SQUARE_STAGES.includes(stage) || (ofMask && held.shape[3] > 1) ? keyLabelsOf(model, item)
        : VOCABULARY && /^(logits|probabilities|unembedding.*)$/.test(stage) ? job.words[0] : ofMask && held.shape.length === 1 ? Array.from(held.numbers, (nothing, head) => `head ${head + 1}`) : [];
    return { rowLabels: named(rowLabels), columnLabels: named(columnLabels) };
}

/* The operand in the place of query, key or value: itself, unless a mistake swaps it. */
function takenOperand(evaluation, id, item, head) {
    const { taken = {} } = evaluation.mistake, role = taken[id] || id;
    return role === 'inputs' ? cutInputs(evaluation, item, head) : evaluation.operand(role, item, head);
}

function wrongStages({ stages = {}, taken = {} }) {
    const ofRoles = [...(taken.query || taken.key ? ['scores'] : []), ...(taken.value ? ['context'] : [])];
    const { projected, ...others } = stages;
    return [...Object.keys(others), ...ofRoles, ...(projected ? ['query', 'key', 'value', 'projected_query', 'projected_key', 'projected_value'] : [])];
}

/* All that is computed of a model, on demand. With a mistake, `model` is the one that is computed instead. */
function evaluate(asked) {
    const mistake = mistakeOf(asked), model = mistake.change ? mistake.change(asked) : asked, made = mistake.stages || {};
    const evaluation = { asked, model, mistake, made, wrong: wrongStages(mistake), stages: stagesOf(model, mistake) };
    const lines = Math.min(4096, 1 + Math.floor(2 ** 20 / model.keys));
    const kept = (name, make, most) => { evaluation[name] = remembered(make, most); };
    kept('embedded', (item) => embeddedOf(model, item), 4);
    kept('residual', (item, row) => makeResidual(evaluation, item, row), 64);
    kept('logits', (item, row) => makeLogits(evaluation, item, row), 64);
    kept('normedInputs', (item) => normInputs(model, item), 4);
    kept('whole', (id, item) => wholeProjection(evaluation, id, item), 6);
    kept('projected', (id, item, head) => (made.projected || sharedProjection)(evaluation, id, item, head), 3 * 64);
    kept('normed', (id, item, head) => normHead(evaluation, id, item, head), 2 * 64);
    kept('operand', (id, item, head) => makeOperand(evaluation, id, item, head), 3 * 64);
    kept('taken', (id, item, head) => takenOperand(evaluation, id, item, head), 3 * 64);
    kept('started', (item, head, row) => makeLine(evaluation, item, head, row, 'masked'), lines);
    kept('line', (item, head, row) => makeLine(evaluation, item, head, row), lines);
    kept('context', (item, head, row) => makeContext(evaluation, evaluation.line(item, head, row)), 1 << 14);
    kept('latent', (id, item) => makeLatent(evaluation, id, item), 6);
    kept('gate', (item, head, row) => makeGate(evaluation, item, head, row), 1 << 14);
    kept('heads', (item, row) => gateHeads(evaluation, (made.heads || makeHeads)(evaluation, item, row), item, row), 1 << 12);
    kept('output', (item, row) => (made.output || makeOutput)(evaluation, item, row), 1 << 12);
    kept('table', (stage, item = 0, head = 0) => ({ ...makeTable(evaluation, stage, item, head), ...labelsOfTable(asked, stage, item) }), 64);
    kept('gradients', () => makeGradients(asked), 1);
    evaluation.explain = (stage, item, head, row, column) => explainCell(evaluation, stage, item, head, row, column);
    return evaluation;
}
