// SPDX-License-Identifier: MIT
/* The gradients of a loss with respect to every table, with --grad: a layer over the same tables. By the equations of
 * src/stage/grad_*.c and src/compute/backward_operands.c, in double throughout, and rounded once.
 *
 *   B items, H heads, T queries, Tk keys, d and d_v columns of a head */

/* The gradient with respect to the page's last stage: logits (B, T, words), output (B, T, columns), or context (B, H, T, d_v), its heads side
 * by side where they are so in the input; null: ones. */
const givenGradient = job.loss && job.loss.given ? decodeNumbers('grad') : null;

/* Why there are none; null: there are. */
function whyNoGradients(model) {
    if (model.settings.mistake !== NO_MISTAKE) return 'With a mistake on purpose the page has no gradients.';
    const words = model.tables.get('unembedding'), width = model.heads * model.dValue;
    const last = words ? columnsOf(words) : isSplit(model) ? outProjection(model)?.shape[1] ?? width : width;
    return givenGradient && givenGradient.length !== model.items * model.queries * last ? 'The given gradient is of other tokens.' : null;
}

function addTimes(sum, to, numbers, from, count, factor) {
    for (let i = 0; i < count && factor !== 0; i++) sum[to + i] += factor * numbers[from + i];
}

/* --- of a row: from its context to its scores -------------------------------------------------------------------- */

function maskBack({ model, tables }, { item, head, query }, masked) {
    const position = query + model.offsets[item], sumOfTable = (name) => tables.get(name)?.numbers;
    const [mask, slopes, relative] = ['attn_mask', 'alibi_slopes', 'relative_bias.weight'].map(sumOfTable);
    for (let key = 0; key < model.keys; key++) {
        if (mask && key < model.maskedKeys) mask[placeIn4(maskOf(model), item, head, query, key)] += masked[key];
        if (slopes) slopes[head] -= masked[key] * Math.abs(key - position);
        if (relative) relative[bucketOf(model.relative, key - position) * model.heads + head] += masked[key];
    }
}

function rowBack(back, item, head, row) {
    const { model, forward, tables } = back, { keys, dHead: d, dValue, settings: { softcap, dropout } } = model, own = keyHeadOf(model, head);
    const line = forward.line(item, head, row), [query, key, value] = ['query', 'key', 'value'].map((id) => forward.operand(id, item, id === 'query' ? head : own));
    const sumOf = (stage, columns, of = head) => back.stage(stage, item, of, stage === 'key' || stage === 'value' ? keys : model.rows.length, columns);
    const above = sumOf('context', dValue).subarray(row * dValue, (row + 1) * dValue), counts = (at) => !line.empty && line.bias[at] > -Infinity;
    const kept = dropout > 0 ? keptRow(model, item, head, row) : null, made = {};
    made.dropped = eachOf(line.weights, (nothing, at) => (counts(at) ? dotProduct(above, 0, value, at * dValue, dValue) : 0));
    made.weights = eachOf(made.dropped, (number, at) => (!kept ? number : kept[at] ? number * (1 / (1 - dropout)) : 0));
    const delta = made.weights.reduce((sum, number, at) => (counts(at) ? sum + line.weights[at] * number : sum), 0);
    made.masked = eachOf(made.weights, (number, at) => (counts(at) ? line.weights[at] * (number - delta) : 0));
    made.capped = made.masked;
    made.scaled = eachOf(made.masked, (number, at) => (softcap > 0 && number !== 0 ? number * (1 - (line.capped[at] / softcap) ** 2) : number));
    made.scores = eachOf(made.scaled, (number) => number * scaleOf(model));
    for (const [stage, numbers] of Object.entries(made)) sumOf(stage, keys).set(numbers, row * keys);
    for (let at = 0; at < keys; at++) {
        addTimes(sumOf('query', d), row * d, key, at * d, d, made.scores[at]);
        addTimes(sumOf('key', d, own), at * d, query, row * d, d, made.scores[at]);
        addTimes(sumOf('value', dValue, own), at * dValue, above, 0, dValue, line.dropped[at]);
    }
    maskBack(back, line, made.masked);
    if (delta !== 0 && line.sink !== null) tables.get('sinks').numbers[head] -= Math.exp(line.sink - line.maximum) / line.sum * delta;
}

/* --- from the last stage to the contexts ------------------------------------------------------------------------- */

/* From the logits to the residual, a row, and from there to the inputs; null where there are no words. */
function residualBack(back, item, row) {
    const { model, forward, tables } = back, weight = model.tables.get('unembedding'), bias = tables.get('unembedding_bias');
    if (!weight) return null;
    const [d, words] = weight.shape, at = item * model.queries + row, logits = Float64Array.from({ length: words }, (nothing, word) => (givenGradient ? givenGradient[at * words + word] : 1));
    const residual = Float64Array.from({ length: d }, (nothing, k) => dotProduct(logits, 0, weight.numbers, k * words, words));
    for (let k = 0; k < d; k++) addTimes(tables.get('unembedding').numbers, k * words, logits, 0, words, forward.residual(item, row)[k]);
    if (bias) addTimes(bias.numbers, 0, logits, 0, words, 1);
    back.stage('logits', item, 0, model.queries, words).set(logits, row * words);
    back.stage('residual', item, 0, model.queries, d).set(residual, row * d);
    inputsBack(back, item, row, residual);
    return residual;
}

/* What comes back to a row of inputs, and of positions. */
function inputsBack({ model, tables, stage }, item, row, share) {
    const d = share.length;
    addTimes(tables.get('inputs').numbers, (item * model.queries + row) * d, share, 0, d, 1);
    if (!tables.has('positions')) return;
    addTimes(tables.get('positions').numbers, row * d, share, 0, d, 1);
    addTimes(stage('embedded', item, 0, model.queries, d), row * d, share, 0, d, 1);
}

function outputBack(back, item, row) {
    const residual = residualBack(back, item, row);
    const { model, forward, tables } = back, { heads, dValue, queries } = model, split = isSplit(model), width = heads * dValue;
    const out = split && !model.settings.stacked ? outProjection(model) : null, columns = out ? columnsOf(out) : width, first = (item * queries + row) * columns;
    const side = back.stage('heads', item, 0, queries, width), at = row * width;
    const lastAt = (c) => (!givenGradient ? 1 : split || job.loss.side_by_side ? givenGradient[first + c]
        : givenGradient[((item * heads + Math.floor(c / dValue)) * queries + row) * dValue + c % dValue]);
    const last = residual || Float64Array.from({ length: columns }, (nothing, c) => lastAt(c));
    back.stage('output', item, 0, queries, columns).set(last, row * columns);
    for (let k = 0; k < width; k++) {
        side[at + k] = out ? dotProduct(last, 0, out.numbers, k * columns, columns) : last[k];
        if (out) addTimes(tables.get(out.name).numbers, k * columns, last, 0, columns, forward.heads(item, row)[k]);
    }
    if (out && tables.has('out_proj.bias')) addTimes(tables.get('out_proj.bias').numbers, 0, last, 0, columns, 1);
    for (let head = 0; head < heads; head++) if (!model.headsOut.includes(head)) {
        const own = side.subarray(at + head * dValue, at + (head + 1) * dValue), gate = hasGate(model) ? forward.gate(item, head, row) : null;
        back.stage('context', item, head, queries, dValue).set(gate ? eachOf(own, (number, i) => number * gate[i]) : own, row * dValue);
        if (gate) back.stage('gate', item, head, queries, dValue).set(eachOf(forward.context(item, head, row), (number, i) => number * own[i]), row * dValue);
    }
    if (hasGate(model)) gateBack(back, item, row);
}

/* --- from query, key and value to inputs and parameters ---------------------------------------------------------- */

/* A row before its norm, and what it adds to the norm's weight and bias from `first` on. */
function normBack({ tables }, norm, x, above, first) {
    const { mean, factor } = normTerms(norm, x), y = eachOf(x, (number) => (number - mean) * factor);
    const scaled = eachOf(above, (number, i) => number * normWeight(norm, first + i)), share = (terms) => sumOf(Array.from(terms)) / x.length;
    const average = norm.kind === 'layer' ? share(scaled) : 0, product = share(eachOf(scaled, (number, i) => number * y[i]));
    for (const [table, by] of [[norm.weight, y], [norm.bias, null]])
        above.forEach((number, i) => { if (table) tables.get(table.name).numbers[first + i] += by ? number * by[i] : number; });
    return eachOf(scaled, (number, i) => factor * (number - average - y[i] * product));
}

/* A row of query or key before scale and rotation. */
function rotateBack(model, id, position, above) {
    const made = eachOf(above, (number) => number * (isScaledQuery(model, id) ? queryScaleOf(model) : 1)), scaled = made.slice();
    for (let pair = 0; pair < job.pairs.length && isRotated(model, id) && position !== null; pair++) {
        const [first, second, toFirst, toSecond] = job.pairs[pair], { cosine, sine } = rotationOf(position, pair);
        made[first] = scaled[toFirst] * cosine + scaled[toSecond] * sine;
        made[second] = scaled[toSecond] * cosine - scaled[toFirst] * sine;
    }
    return made;
}

/* A row of all heads of query, key or value before their norms. */
function normsBack(back, id, item, row, above) {
    const { model, forward } = back, norm = normOf(model, NORM_NAMES[id]), d = widthOfHead(model, id);
    if (!norm) return above;
    const x = above.map((nothing, head) => forward.projected(id, item, head).subarray(row * d, row * d + d));
    if (!isOfAll(model, id, norm)) return above.map((numbers, head) => normBack(back, norm, x[head], numbers, firstWeight(norm, head)));
    const join = (parts) => Float64Array.from(parts.flatMap((part) => Array.from(part))), made = normBack(back, norm, join(x), join(above), 0);
    return above.map((nothing, head) => made.subarray(head * d, head * d + d));
}

/* What comes back to a row of the inputs or key inputs: through their norm. */
function sourceBack(back, source, item, row, rows, share) {
    const { model, forward, tables } = back, dIn = columnsOf(source), norm = source.name === 'inputs' ? normOf(model, 'norm') : null;
    const own = norm ? normBack(back, norm, forward.embedded(item).subarray(row * dIn, (row + 1) * dIn), share, 0) : share;
    if (source.name === 'inputs') inputsBack(back, item, row, own);
    else addTimes(tables.get(source.name).numbers, (item * rows + row) * dIn, own, 0, dIn, 1);
    if (norm) addTimes(back.stage('normed', item, 0, rows, dIn), row * dIn, share, 0, dIn, 1);
}

/* With respect to what goes into the sigmoids of a row's gate, (columns of W_gate). */
function sigmoidBack({ model, forward, stage }, item, row) {
    const { heads, dValue, queries } = model, sums = new Float64Array(columnsOf(model.tables.get('W_gate.weight'))), repeats = heads * dValue / sums.length;
    for (let head = 0; head < heads; head++) forward.gate(item, head, row).forEach((gate, i) => {
        sums[Math.floor((head * dValue + i) / repeats)] += stage('gate', item, head, queries, dValue)[row * dValue + i] * gate * (1 - gate);
    });
    return sums;
}

/* From there to W_gate and the inputs. */
function gateBack(back, item, row) {
    const { model, forward, tables } = back, weight = model.tables.get('W_gate.weight'), [dIn, width] = weight.shape;
    const sums = sigmoidBack(back, item, row), x = sourceNumbers(forward, 'query', item);
    for (let k = 0; k < dIn; k++) addTimes(tables.get('W_gate.weight').numbers, k * width, sums, 0, width, x[row * dIn + k]);
    if (tables.has('W_gate.bias')) addTimes(tables.get('W_gate.bias').numbers, 0, sums, 0, width, 1);
    sourceBack(back, model.tables.get('inputs'), item, row, model.queries, Float64Array.from({ length: dIn }, (nothing, k) => dotProduct(sums, 0, weight.numbers, k * width, width)));
}

/* From the latent of a row, and the columns behind it that all heads share, to the source, (d_in). */
function latentBack({ model, forward, tables }, id, item, row, share, shared) {
    const { first, rank, norm, bias } = latentOf(model, id), { narrow, width } = forward.latent(id, item), above = new Float64Array(width), [dIn] = first.shape;
    const x = sourceNumbers(forward, id, item), latent = narrow.subarray(row * width, row * width + rank);
    above.set(norm ? normBack({ tables }, norm, latent, share, 0) : share);
    above.set(shared, rank);
    for (let k = 0; k < dIn; k++) addTimes(tables.get(first.name).numbers, k * width, above, 0, width, x[row * dIn + k]);
    if (bias) addTimes(tables.get(bias.name).numbers, 0, above, 0, width, 1);
    return Float64Array.from({ length: dIn }, (nothing, k) => dotProduct(above, 0, first.numbers, k * width, width));
}

function projectionBack(back, id, item, row) {
    const { model, forward, tables } = back, heads = id === 'query' ? model.heads : model.keyHeads, source = sourceOf(model, id), latent = latentOf(model, id);
    const { numbers: x, dIn, width: wide } = projectedRows(forward, id, item), columns = widthOfHead(model, id), rows = id === 'query' ? model.queries : model.keys;
    const below = new Float64Array(dIn), shared = new Float64Array(latent ? wide - dIn : 0), keep = (stage, above) => above.forEach((numbers, head) =>
        back.stage(stage, item, head, rows, columns).set(numbers, row * columns));
    let above = Array.from({ length: heads }, (nothing, head) => back.stage(id, item, head, rows, columns).subarray(row * columns, (row + 1) * columns));
    if (id !== 'value') {
        above = above.map((numbers) => rotateBack(model, id, positionOf(model, id, item, row), numbers));
        keep(`normed_${id}`, above);
    }
    above = normsBack(back, id, item, row, above);
    keep(`projected_${id}`, above);
    above.forEach((numbers, head) => {
        const by = projectionOf(model, id, head), { weight, bias, first, width } = by, projected = new Float64Array(columns);
        projectRow(x, row * dIn, dIn, by, projected, 0);
        if (by.columns < columns) projected.set(forward.latent(id, item).narrow.subarray(row * wide + dIn, (row + 1) * wide), by.columns);
        const unclipped = eachOf(numbers, (number, j) => (clipped(projected[j], job.clip) === projected[j] ? number : 0));
        for (let k = 0; k < dIn; k++) {
            addTimes(tables.get(weight.name).numbers, k * width + first, unclipped, 0, by.columns, x[row * dIn + k]);
            below[k] += dotProduct(unclipped, 0, weight.numbers, k * width + first, by.columns);
        }
        if (bias) addTimes(tables.get(bias.name).numbers, first, unclipped, 0, by.columns, 1);
        addTimes(shared, 0, unclipped, by.columns, columns - by.columns, 1);
    });
    sourceBack(back, source, item, row, rows, latent ? latentBack(back, id, item, row, below, shared) : below);
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

/* { tables: like those of the model, stage(name, item, head, rows, columns): a matrix }, each zero until something is added. */
function startBack(model) {
    const stages = new Map(), tables = Array.from(model.tables.values(), (table) => ({ ...table, numbers: new Float64Array(table.numbers.length) }));
    const stage = (name, item, head, rows, columns) => {
        const place = [name, item, head].join();
        if (!stages.has(place)) stages.set(place, new Float64Array(rows * columns));
        return stages.get(place);
    };
    const back = { model, forward: evaluate(model), tables: namedTables(tables), stages, stage };
    back.forward.gradients = () => back;
    return back;
}

/* All gradients of a model, null where there are none. */
const makeGradients = (model) => (whyNoGradients(model) !== null ? { tables: new Map(), stages: new Map() } : withoutRounding(() => {
    const back = startBack(model), each = (count, work) => { for (let i = 0; i < count; i++) work(i); };
    each(model.items, (item) => {
        each(model.queries, (row) => outputBack(back, item, row));
        each(model.heads, (head) => each(model.queries, (row) => rowBack(back, item, head, row)));
        for (const id of model.starts === 'inputs' ? IDS : []) each(id === 'query' ? model.queries : model.keys, (row) => projectionBack(back, id, item, row));
    });
    return back;
}));

/* The gradient with respect to a table; all hatched where there is none. */
function gradientTable(evaluation, name, item, head) {
    const shown = evaluation.table(name, item, head), { tables, stages } = evaluation.gradients(), held = tables.get(name);
    const matrix = stages.get([name, item, isOfKeys(name) ? keyHeadOf(evaluation.model, head) : head].join()) || stages.get([name, item, 0].join());
    const numbers = matrix || (held && !isTruths(held) ? heldTable({ tables }, name, item, head).numbers : null);
    return numbers ? { ...shown, numbers: eachOf(numbers, round) } : { ...shown, numbers: new Float64Array(shown.numbers.length), masked: new Uint8Array(shown.numbers.length).fill(1) };
}

/* --- in words ---------------------------------------------------------------------------------------------------- */

const GRADIENT_FORMULAS = {
    logits: () => (givenGradient ? 'as given' : 'ones: the loss is the sum of the logits'), residual: () => 'grad_logits . unembedding^T',
    unembedding: () => 'residual^T . grad_logits', unembedding_bias: () => 'the sum of grad_logits over the tokens', embedded: () => 'that of the inputs', positions: () => 'the sum of grad_inputs over the items',
    output: (model) => (model.tables.has('unembedding') ? 'grad_residual' : givenGradient ? 'as given' : 'ones: the loss is the sum of the output'),
    heads: (model) => (outProjection(model) && !model.settings.stacked ? 'grad_output . out_proj.weight' : 'grad_output'),
    context: (model) => (model.tables.has('unembedding') && !isSplit(model) ? 'grad_residual' : isSplit(model) ? `that of the heads side by side${hasGate(model) ? ', x gate' : ''}` : givenGradient ? 'as attn gives it' : 'ones: the loss is the sum of the context'),
    gate: () => 'that of the heads side by side, x context', dropped: () => 'grad_context . value^T',
    weights: ({ settings: { dropout } }) => (dropout > 0 ? `grad_dropped / (1 - ${dropout}) where kept, else 0` : 'grad_context . value^T'),
    masked: () => 'weights x (grad_weights - delta), delta = sum(weights x grad_weights)',
    capped: (model) => (hasMask(model) ? 'grad_masked' : GRADIENT_FORMULAS.masked()),
    scaled: (model) => (model.settings.softcap > 0 ? `grad_capped x (1 - (capped / ${model.settings.softcap})^2)` : GRADIENT_FORMULAS.capped(model)),
    scores: (model) => `grad_scaled x ${scaleOf(model)}`,
    query: () => 'grad_scores . key', key: () => 'grad_scores^T . query', value: (model) => `${model.settings.dropout > 0 ? 'dropped' : 'weights'}^T . grad_context`,
    inputs: (model) => `the sum of what comes back by query, key${hasGate(model) ? ', value and gate' : ' and value'}${model.tables.has('unembedding') ? ', and of grad_residual' : ''}`, key_inputs: () => 'the sum of what comes back by key and value',
    attn_mask: () => 'grad_masked, summed where one number serves several scores', sinks: () => '- sum(share of the sink x delta)',
    alibi_slopes: () => '- sum(grad_masked x |key - query|)',
};

function gradientFormula(model, name) {
    const why = whyNoGradients(model), plain = plainName(name), [, side] = /^W_(query|key|value)/.exec(plain) || [];
    if (why !== null) return why;
    if (plain in GRADIENT_FORMULAS) return GRADIENT_FORMULAS[plain](model);
    if (side) return plain.endsWith('bias') ? `the sum of grad_${side} over the tokens` : `${sourcesOf(model, side, [])[0]}^T . grad_${side}`;
    return { 'W_gate.weight': `${inputsName(model)}^T . (grad_gate x gate x (1 - gate))`, 'out_proj.weight': 'heads^T . grad_output', 'out_proj.bias': 'the sum of grad_output over the tokens' }[plain] || '';
}

/* Rows of [label, a, b] that a gradient is the sum of, with the names of a and b; null: it is no such sum. */
function gradientProducts(evaluation, name, item, head, row, column) {
    const { model } = evaluation, { dHead: d, dValue, heads } = model, own = keyHeadOf(model, head), split = isSplit(model);
    const g = (stage, r, c, of = head) => { const { numbers, columns } = gradientTable(evaluation, stage, item, of); return numbers[r * columns + c]; };
    const titles = (count, labelOf) => Array.from({ length: count }, (nothing, i) => labelOf(i));
    const operand = (id, r, c, of = head) => evaluation.operand(id, item, id === 'query' ? of : own)[r * (id === 'value' ? dValue : d) + c];
    const keys = (rowOf) => titles(model.keys, (key) => [tokenElement(keyTitle(model, item, key)), ...rowOf(key)]);
    const sharing = Array.from({ length: heads }, (nothing, one) => one).filter((one) => keyHeadOf(model, one) === own);
    const queries = (rowOf) => sharing.flatMap((of) => titles(model.rows.length, (r) =>
        [`${sharing.length > 1 ? `head ${of + 1}, ` : ''}query ${r + 1}`, ...rowOf(r, of)]));
    const out = split && !model.settings.stacked ? outProjection(model) : null;
    const ofHeads = (stage) => [[String(column + 1), ...(model.headsOut.includes(head) ? [0, 0] : [g('heads', row, head * dValue + column, 0), evaluation[stage](item, head, row)[column]])]];
    const throughOut = (at) => titles(columnsOf(out), (c) => [String(c + 1), g('output', row, c), out.numbers[at * columnsOf(out) + c]]);
    const throughValue = () => titles(dValue, (c) => [String(c + 1), g('context', row, c), operand('value', column, c)]);
    const unembedding = model.tables.get('unembedding'), throughWords = () => titles(columnsOf(unembedding), (c) => [wordText(c), g('logits', row, c), unembedding.numbers[column * columnsOf(unembedding) + c]]);
    const made = {
        ...(unembedding ? { residual: () => ['grad_logits', 'unembedding', throughWords()] } : {}),
        ...(out ? { heads: () => ['grad_output', 'out_proj', throughOut(column)], context: () => ['grad_output', 'out_proj', model.headsOut.includes(head) ? [] : throughOut(head * dValue + column)] } : {}),
        ...(hasGate(model) ? { context: () => ['grad_heads', 'gate', ofHeads('gate')], gate: () => ['grad_heads', 'context', ofHeads('context')] } : {}),
        [model.settings.dropout > 0 ? 'dropped' : 'weights']: () => ['grad_context', 'value', evaluation.line(item, head, row).bias[column] > -Infinity ? throughValue() : []],
        query: () => ['grad_scores', 'key', keys((key) => [g('scores', row, key), operand('key', key, column)])],
        key: () => ['grad_scores', 'query', queries((r, of) => [g('scores', r, row, of), operand('query', r, column, of)])],
        value: () => ['dropped', 'grad_context', queries((r, of) => [evaluation.line(item, of, r).dropped[row], g('context', r, column, of)])],
    };
    return Object.hasOwn(made, name) ? made[name]() : null;
}

const upTo = (count, make) => Array.from({ length: count }, (nothing, i) => make(i));
const firstStage = (model, id) => [...stagesOnTheWay(model, id), id][0]; // what the projection makes
const isStraight = (model, id) => !latentOf(model, id) && !(job.clip > 0);

/* The same of a number of the inputs, by each column of each projection; null: a norm or a latent comes between. */
function inputProducts(evaluation, name, item, row, column) {
    const { model } = evaluation, { tables, heads, keyHeads } = model, ids = IDS.filter((id) => sourceOf(model, id).name === name), own = name === 'inputs';
    if (!ids.every((id) => isStraight(model, id)) || (own && normOf(model, 'norm'))) return null;
    const g = (stage, of, at) => gradientTable(evaluation, stage, item, of).numbers[at], gate = own && tables.get('W_gate.weight');
    const ofHead = (id, count) => (head) => {
        const { weight, first, columns, width } = projectionOf(model, id, head);
        return upTo(columns, (c) => [`${id}${count > 1 ? `, head ${head + 1}` : ''}, ${c + 1}`, g(firstStage(model, id), head * heads / count, row * columns + c), weight.numbers[column * width + first + c]]);
    };
    const rows = ids.flatMap((id) => { const count = id === 'query' ? heads : keyHeads; return upTo(count, ofHead(id, count)).flat(); });
    if (own && tables.has('unembedding')) rows.push(['residual', g('residual', 0, row * columnsOf(tables.get('inputs')) + column), 1]);
    if (gate) sigmoidBack(evaluation.gradients(), item, row).forEach((number, c) => rows.push([`gate, ${c + 1}`, number, gate.numbers[column * columnsOf(gate) + c]]));
    return ['gradient', 'weight', rows];
}

/* Of a number of a matrix or a bias, by each token. */
function parameterProducts(evaluation, name, row, column) {
    const { model } = evaluation, [, module, what, bias] = /^(?:heads\.(\d+)\.)?(W_query|W_key|W_value|W_gate|out_proj)(\.bias)?(?:\.weight)?$/.exec(name) || [];
    const id = what?.slice(2) in PROJECTIONS ? what.slice(2) : 'query', d = widthOfHead(model, id), wide = model.tables.get(name)?.shape.at(-1);
    if (!what || (what === `W_${id}` && !isStraight(model, id))) return null;
    const head = module ?? Math.floor(column / d) * (id === 'query' ? 1 : model.heads / model.keyHeads);
    const above = (item, token) => (what === 'W_gate' ? sigmoidBack(evaluation.gradients(), item, token)[column]
        : what === 'out_proj' ? gradientTable(evaluation, 'output', item, 0).numbers[token * wide + column]
            : gradientTable(evaluation, firstStage(model, id), item, Number(head)).numbers[token * d + column % d]);
    const x = (item, token) => (bias ? 1 : what === 'out_proj' ? evaluation.heads(item, token)[row] : sourceNumbers(evaluation, id, item)[token * columnsOf(sourceOf(model, id)) + row]);
    const label = (item, token) => `${model.items > 1 ? `item ${item + 1}, ` : ''}${(id === 'query' ? queryLabelAt : keyLabelOf)(model, item, token) || `token ${token + 1}`}`;
    const rows = upTo(model.items, (item) => upTo(id === 'query' ? model.queries : model.keys, (token) => [tokenElement(label(item, token)), x(item, token), above(item, token)])).flat();
    return [bias ? '1' : what === 'out_proj' ? 'heads' : sourcesOf(model, id, [])[0], 'gradient', rows];
}

/* weight × (its gradient − delta) */
function softmaxBackLines(evaluation, name, item, head, row, column, made) {
    const { weights } = evaluation.line(item, head, row), of = (at) => gradientTable(evaluation, 'weights', item, head).numbers[row * weights.length + at];
    const delta = weights.reduce((sum, weight, at) => sum + (weight === 0 ? 0 : weight * of(at)), 0);
    const [weight, own, mean] = [weights[column], of(column), delta].map(shownNumber), largest = Math.max(Math.abs(own), Math.abs(mean)), sign = relation(weight * (own - mean), made, largest);
    return [formulaLine(`${numberText(weights[column])} × (${numberText(of(column))} − ${operandText(delta)}) ${sign} `, result(made, name)),
        noteLine(`${numberText(delta)} is delta, the sum of each weight times its gradient.${made !== 0 && Math.abs(made) < 1e-12 * largest ? ' Both are the same but for rounding.' : ''}`)];
}

/* The arithmetic of a gradient, on numbers that nothing rounded. */
function gradientStep(evaluation, name, item, head, row, column) {
    const { asked: model } = evaluation, { numbers, columns, masked } = gradientTable(evaluation, name, item, head), made = numbers[row * columns + column];
    const title = `Gradient of ${nameText(plainName(name))}`, formula = gradientFormula(model, name), { forward } = evaluation.gradients();
    if (!forward || masked?.every(Boolean))
        return step(name, title, '', noteLine(whyNoGradients(model) || 'The loss has no gradient with respect to this table.'));
    const first = ['masked', 'capped', 'scaled'].find((one) => evaluation.stages.some((stage) => stage.name === one));
    const lines = withoutRounding(() => {
        const [left, right, rows] = gradientProducts(forward, name, item, head, row, column)
            || (/^(key_)?inputs$/.test(name) ? inputProducts(forward, name, item, row, column) : parameterProducts(forward, name, row, column)) || [];
        if (rows?.length > 0)
            return [productTable({ caption: formula, names: ['', left, `× ${right}`, 'product'], rows, total: 'gradient', made, shownResult: result(made, name) })];
        return name === first ? softmaxBackLines(forward, name, item, head, row, column, made) : [formulaLine(result(made, name))];
    });
    return step(name, title, formula, ...lines, noteLine(`If this number grows a little, the loss changes ${numberText(made)} times as much.`));
}

function listenToLayers() {
    byId('layers').hidden = !job.loss;
    for (const layer of ['numbers', 'gradients'])
        byId(`layer-${layer}`).addEventListener('change', () => {
            state.layer = layer;
            byId('flow-help').textContent = layer === 'numbers' ? 'Drag any number in a dotted frame sideways.' : 'Upward: what each number does to the loss.';
            forgetShown();
            show();
        });
}
