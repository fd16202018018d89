// SPDX-License-Identifier: MIT
/* Mistakes on purpose, those of --mistake that are simple: what each changes, or why a job cannot have it, as
 * src/mistake/ has them. A row:
 *
 *   why      (model) -> a sentence where it cannot be made, else null
 *   change   (model) -> another model that is computed in its place
 *   stages   what makes a stage otherwise: (evaluation, line) -> (Tk), of context (d_v), of heads and output
 *            (evaluation, item, row) -> the row, of projected (evaluation, id, item, head) -> (rows, columns)
 *   shows    how a number of such a stage arises; a stage without it arises as usual, from what the mistake left.
 *            T x T: (evaluation, line, key) -> [text, value of the shown numbers], or null: as usual; of context
 *            (evaluation, line) -> its weights; of projected (evaluation, id, item, head, row, column) -> the projection,
 *            token and column that it reads; of heads (evaluation, row, column) -> the head, row and column that it
 *            reads; of output (evaluation, item, row) -> what out_proj gets, or null: there is no out_proj
 *   taken    which operand stands in the place of query, key and value
 *   tells    formulas of stages; one that begins with a comma goes on from the stage before */

/* --- what jobs lack ---------------------------------------------------------------------------------------------- */

const lacks = (held, sentence) => (model) => (held(model) ? null : sentence);
const firstOf = (...whys) => (model) => whys.reduce((found, why) => found || why(model), null);
const isCausal = lacks(({ settings }) => settings.causal, 'The mask is not causal.');
const hasHeadsOfOwn = lacks(({ heads }) => heads > 1, 'There is one head.');
const isCapped = lacks(({ settings }) => settings.softcap > 0, 'There is no softcap.');
const drops = lacks(({ settings }) => settings.dropout > 0, 'There is no dropout.');
const projects = lacks(({ starts }) => starts === 'inputs', 'This page starts at query, key and value.');
const isMasked = lacks(hasMask, 'There is no mask.');
const hasAllRows = lacks(({ rows, queries }) => rows.length === queries, 'Only some queries are on this page.');
const isCut = lacks((model) => isSplit(model) && !latentOf(model, 'key') && !model.settings.stacked && model.heads > 1, 'Nothing is split into heads.');
const rowsAlike = firstOf(hasAllRows, lacks(({ queries, keys, heads, keyHeads }) => queries === keys && heads === keyHeads, 'Query and key have other shapes.'));
const columnsAlike = lacks(({ dHead, dValue }) => dHead === dValue, 'Key and value have other shapes.');
const hasOut = lacks((model) => isSplit(model) && outProjection(model) !== null && !model.settings.stacked, 'There is no out_proj.');
const squareOut = firstOf(hasOut, lacks((model) => outProjection(model).shape[0] === outProjection(model).shape[1], 'out_proj is not square.'));
const isMerged = firstOf(projects, lacks(isSplit, 'Heads are not put side by side.'), hasHeadsOfOwn);
const isGrouped = lacks(({ heads, keyHeads }) => keyHeads > 1 && keyHeads < heads, 'Heads of key and value are not shared in groups.');

/* --- scale, softcap ---------------------------------------------------------------------------------------------- */

const setting = (changed) => (model) => ({ ...model, settings: { ...model.settings, ...changed(model) } });
const saidScaleOf = (model) => wholeScaleOf(model) * model.settings.temperature;
const scaleBy = (scale, more = {}) => ({ change: setting((model) => ({ scale: scale(model) })), ...more });
const widthOf = ({ heads, dHead }) => heads * dHead;
const columnsOfInputs = ({ tables }) => columnsOf(tables.get('inputs'));

const asIs = (number) => [numberText(number), shownNumber(number)];

/* Whether what is rounded on the way has to be shown by itself. */
const isRounded = (own, exact) => Math.abs(own - exact) > 1e-3 * Math.abs(exact);

/* `cap` of these numbers, and the same as a formula of their names. */
const CAP_NAMES = ['softcap', 'scaled', 'scores', 'scale'];
const capNumbers = ({ model }, { scaled, scores }, key) => [model.settings.softcap, scaled[key], scores[key], scaleOf(model)];

const capStage = (cap, formula) => ({
    why: isCapped, tells: { capped: formula },
    shows: {
        capped: (evaluation, line, key) => {
            const numbers = capNumbers(evaluation, line, key), inNumbers = (text, name, i) => text.replaceAll(name, operandText(numbers[i]));
            return [CAP_NAMES.reduce(inNumbers, formula.replaceAll(' x ', ' × ')), cap(...numbers.map(shownNumber))];
        },
    },
    stages: { capped: (evaluation, line) => line.scaled.map((nothing, key) => round(cap(...capNumbers(evaluation, line, key)))) },
});

/* --- softmax ----------------------------------------------------------------------------------------------------- */

const largestOf = (scores) => scores.reduce((most, score) => (score > most || Number.isNaN(score) ? score : most), -Infinity);

/* Weights that share a sum in another way: `power` of each score over the sum of those of `others(evaluation, line, key)`,
 * [line, key] each, or of the row alone. */
const softmaxOf = (formula, { others, power = Math.exp, text = (score) => `exp(${score})`, shifts = true, sums = true, sinks = false, step = Number, why }) => {
    const partsOf = (evaluation, line, key) => {
        const lines = others ? others(evaluation, line, key) : Array.from(line.masked, (score, at) => [line, at]);
        const scores = lines.filter(([one, at]) => one.bias[at] > -Infinity).map(([one, at]) => one.masked[at]);
        if (sinks && line.sink !== null) scores.push(line.sink);
        const largest = shifts ? largestOf(scores) : 0;
        return { largest, sum: sums ? step(scores.reduce((whole, score) => whole + step(power(score - largest)), 0)) : 1 };
    };
    return {
        why, tells: { weights: formula },
        shows: {
            weights: (evaluation, line, key) => {
                if (line.empty || line.bias[key] === -Infinity) return null;
                const { largest, sum } = partsOf(evaluation, line, key), score = line.masked[key], exact = power(score - largest), own = step(exact);
                const inner = shifts ? `${numberText(score)} − ${operandText(largest)}` : numberText(score);
                return [`${isRounded(own, exact) ? numberText(own) : text(inner)}${sums ? ` / ${operandText(sum)}` : ''}`,
                    (isRounded(own, exact) ? shownNumber(own) : power(shownNumber(score) - shownNumber(largest))) / shownNumber(sum)];
            },
        },
        stages: {
            weights: (evaluation, line) => {
                if (others) line.empty = false;
                if (line.empty) return STAGE_MAKERS.weights(evaluation, line);
                const ofRow = others ? null : partsOf(evaluation, line, 0);
                return line.masked.map((score, key) => {
                    if (line.bias[key] === -Infinity) return 0;
                    const { largest, sum } = ofRow || partsOf(evaluation, line, key);
                    return round(step(power(score - largest)) / sum);
                });
            },
        },
    };
};

const softmaxOver = (others, formula, why = hasAllRows) => softmaxOf(formula, { others, why });

const allRows = ({ model: { rows } }) => rows.map((query, row) => row);

/* --- mask -------------------------------------------------------------------------------------------------------- */

/* A rule in place of the causal one: (position, query, key, keys) -> masked. */
const causalRule = (forbids, formula) => ({
    why: isCausal, tells: { masked: formula }, change: (model) => ({ ...setting(() => ({ causal: false }))(model), forbids }),
});

const movedQueries = (by, formula) => ({
    why: firstOf(lacks((model) => !model.hasLengths, 'Its lengths come from a cache.'),
        lacks((model) => model.settings.causal || model.settings.left >= 0 || model.settings.right >= 0 || slopesOf(model), 'Nothing depends on the position of a query.'),
        lacks(({ alibiPenalties }) => !alibiPenalties, 'ALiBi counts from the first or the last key here.')),
    tells: { masked: formula }, change: (model) => ({ ...model, offsets: model.offsets.map((offset) => offset + by) }),
});

const movedWindow = (side, by) => ({
    why: firstOf(lacks(({ settings }) => settings[side] >= 0, 'There is no window on that side.'), lacks(({ settings }) => settings[side] + by >= 0, 'The window is as narrow as can be.')),
    change: setting(({ settings }) => ({ [side]: settings[side] + by })),
});

/* Masked scores become numbers, and take part from there on. */
function filled(evaluation, line, of) {
    const masked = STAGE_MAKERS.masked(evaluation, line).map((score, key) => (line.bias[key] === -Infinity ? round(of(key)) : score));
    line.forbidden = line.bias.map((bias) => (bias === -Infinity ? 1 : 0));
    masked.forEach((score, key) => {
        if (!(score > -Infinity || Number.isNaN(score))) return;
        line.bias[key] = line.bias[key] === -Infinity ? 0 : line.bias[key];
        line.empty = false;
    });
    return masked;
}

const showsFilled = (evaluation, { forbidden, masked }, key) => (forbidden[key] ? asIs(masked[key]) : null);

const filledWith = (number) => ({
    why: isMasked, tells: { masked: `, ${number} where masked` }, shows: { masked: showsFilled },
    stages: { masked: (evaluation, line) => filled(evaluation, line, () => number) },
});

/* --- roles, weights, groups -------------------------------------------------------------------------------------- */

function swapped(taken, why) {
    const of = (id) => taken[id] || id, tells = {};
    if (taken.query || taken.key) tells.scores = `${of('query')} . ${of('key')}^T`;
    if (taken.value) tells.context = `weights . ${of('value')}`;
    return { why, taken, tells };
}

/* The key inputs cut into heads as values are; where they are as wide as one head, each head has all of them. */
function cutInputs({ model }, item, head) {
    const source = sourceOf(model, 'value'), width = columnsOf(source), { keys, dValue: d } = model, step = width === d ? 0 : d;
    const numbers = source.name === 'inputs' ? embeddedOf(model, item) : source.numbers.subarray(item * keys * width);
    return Float64Array.from({ length: keys * d }, (nothing, i) => numbers[Math.floor(i / d) * width + head * step + (i % d)]);
}

const columnOfWeights = (evaluation, { item, head, row }) =>
    Float64Array.from({ length: evaluation.model.keys }, (nothing, key) => evaluation.line(item, head, key).dropped[row]);

/* weights^T . value, a row. */
const contextOfColumn = (evaluation, line) =>
    computeContext(evaluation, { ...line, empty: false, bias: new Float64Array(line.bias.length), dropped: columnOfWeights(evaluation, line) });

/* --- parameters -------------------------------------------------------------------------------------------------- */

/* Changes the tables that `held` accepts by `change`; null removes a table. */
const changedTables = (held, change) => (model) => ({
    ...model, tables: namedTables(Array.from(model.tables.values(), (table) => (held(table) ? change(table) : table)).filter(Boolean)),
});

function transpose(table) {
    const [rows, columns] = table.shape;
    return { ...table, numbers: table.numbers.map((nothing, i) => table.numbers[(i % columns) * rows + Math.floor(i / columns)]) };
}

const isWeight = ({ name, shape }, stems) => shape.length === 2 && stems.some((stem) => [stem, `${stem}.weight`].includes(name.replace(/^heads\.\d+\./, '')));
const isBias = ({ name }, stems) => stems.some((stem) => name.replace(/^heads\.\d+\./, '') === `${stem}.bias`);

const matrixTransposed = (...stems) => ({
    why: firstOf(projects, lacks((model) => stems.every((stem) => Array.from(model.tables.values()).some((table) => isWeight(table, [stem]) && table.shape[0] === table.shape[1])), 'The matrix is not square.')),
    change: changedTables((table) => isWeight(table, stems), transpose),
    tells: Object.fromEntries(stems.map((stem) => [stem.replace('W_', ''), 'inputs . the transpose of the matrix'])),
});

const biasMissing = (...stems) => ({
    why: firstOf(projects, lacks((model) => Array.from(model.tables.values()).some((table) => isBias(table, stems)), 'There is no such bias.')),
    change: changedTables((table) => isBias(table, stems), () => null),
});

/* --- heads ------------------------------------------------------------------------------------------------------- */

/* All columns of a projection of all tokens, (T, H d). */
function wholeProjection(evaluation, id, item) {
    const { model } = evaluation, source = sourceNumbers(evaluation, id, item), dIn = columnsOf(sourceOf(model, id)), by = projectionOf(model, id, 0);
    const rows = source.length / dIn, whole = { ...by, first: 0, columns: by.width }, made = new Float64Array(rows * by.width);
    for (let row = 0; row < rows; row++) projectRow(source, row * dIn, dIn, whole, made, row * by.width);
    return { width: by.width, numbers: made };
}

/* `at(sizes, id, head, token, column)` -> [id, index into the numbers (T, H d) of that projection]. */
const splitOtherwise = (at, formula, why = isCut) => {
    const readAt = ({ model }, id, head, row, column) => at({
        heads: id === 'query' ? model.heads : model.keyHeads, columns: widthOfHead(model, id), tokens: id === 'query' ? model.queries : model.keys,
    }, id, head, id === 'query' ? model.rows[row] : row, column);
    return {
        why, tells: { projected: formula },
        shows: {
            projected: (evaluation, id, item, head, row, column) => {
                const [from, place] = readAt(evaluation, id, head, row, column), { width } = evaluation.whole(from, item);
                return [from, Math.floor(place / width), place % width];
            },
        },
        stages: {
            projected: (evaluation, id, item, head) => {
                const { model } = evaluation, columns = widthOfHead(model, id), rows = id === 'query' ? model.rows.length : model.keys;
                return Float64Array.from({ length: rows * columns }, (nothing, i) => {
                    const [from, place] = readAt(evaluation, id, head, Math.floor(i / columns), i % columns);
                    return round(clipped(evaluation.whole(from, item).numbers[place], job.clip));
                });
            },
        },
    };
};

const IDS = Object.keys(PROJECTIONS);

/* Query, key and value side by side, read in another order. */
const packedAt = (order) => ({ heads, columns }, id, head, token, column) => {
    const width = heads * columns, at = order(head, columns, IDS.indexOf(id), column);
    return [IDS[Math.floor(at / width)], token * width + (at % width)];
};

const splitPacked = (order, words) => splitOtherwise(packedAt(order), `query, key, value side by side, read as ${words}`,
    firstOf(isCut, lacks(({ heads, keyHeads, dHead, dValue, tables }) => heads === keyHeads && dHead === dValue && !tables.has('key_inputs'), 'They have other shapes.')));

/* The scores of one head are the sum of those of all heads. */
const scoresOfHeads = (evaluation, line) => Array.from({ length: evaluation.model.heads }, (nothing, head) => STAGE_MAKERS.scores(evaluation, { ...line, head }));

/* `at(sizes, row, column)` -> [head, row, column] of the contexts. */
const mergedOtherwise = (at, formula, why = isMerged) => {
    const readAt = ({ model: { heads, dValue, rows } }, row, column) => at({ heads, columns: dValue, rows: rows.length }, row, column);
    return {
        why, tells: { output: formula, heads: formula }, shows: { heads: readAt },
        stages: {
            heads: (evaluation, item, row) => Float64Array.from({ length: evaluation.model.heads * evaluation.model.dValue }, (nothing, column) => {
                const [head, from, own] = readAt(evaluation, row, column);
                return isHeadOut(evaluation.model, column) ? 0 : evaluation.context(item, head, from)[own];
            }),
        },
    };
};

/* --- dropout ----------------------------------------------------------------------------------------------------- */

const droppedTimes = (factor, formula) => ({
    why: drops, tells: { dropped: formula },
    shows: {
        dropped: ({ model }, { item, head, row, weights }, key) => {
            const by = keptRow(model, item, head, row)[key] ? factor(model.settings) : 0;
            return [`${numberText(weights[key])} × ${operandText(by)}`, shownNumber(weights[key]) * shownNumber(by)];
        },
    },
    stages: {
        dropped: ({ model }, line) => {
            const kept = keptRow(model, line.item, line.head, line.row);
            return line.weights.map((weight, key) => (kept[key] ? round(weight * factor(model.settings)) : 0));
        },
    },
});

function droppedScores({ model }, line) {
    const kept = keptRow(model, line.item, line.head, line.row), by = 1 - model.settings.dropout;
    const scores = line.masked.map((score, key) => (kept[key] ? score / by : line.bias[key] > -Infinity ? 0 : score));
    return line.empty ? new Float64Array(model.keys).fill(round(emptyWeight(model))) : Object.assign(line, softmax(scores, line.bias, line.sink)).weights;
}

/* --- the table --------------------------------------------------------------------------------------------------- */

const MISTAKES = {
    'scale-missing': scaleBy(() => 1),
    'scale-twice': scaleBy((model) => saidScaleOf(model) * saidScaleOf(model)),
    'scale-inverted': scaleBy((model) => 1 / saidScaleOf(model), { why: lacks((model) => wholeScaleOf(model) !== 0, 'The scale is 0.') }),
    'scale-d-model': scaleBy((model) => 1 / Math.sqrt(widthOf(model)), { why: hasHeadsOfOwn }),
    'scale-1-over-d-model': scaleBy((model) => 1 / widthOf(model)),
    'scale-d-in': scaleBy((model) => 1 / Math.sqrt(columnsOfInputs(model)), { why: projects }),
    'scale-tokens': scaleBy(({ keys }) => 1 / Math.sqrt(keys)),
    'scale-heads': scaleBy(({ heads }) => 1 / Math.sqrt(heads), { why: hasHeadsOfOwn }),
    'scale-fourth-root': scaleBy(({ dHead }) => 1 / Math.sqrt(Math.sqrt(dHead))),
    'scale-after-softmax': {
        change: (model) => ({ ...setting(() => ({ scale: 1 }))(model), weightsFactor: wholeScaleOf(model) }),
        tells: { weights: 'softmax of unscaled scores, then x the scale' },
        shows: {
            weights: ({ model: { weightsFactor: factor } }, { empty, bias, cast, maximum, sum, exponentials }, key) => {
                if (empty || bias[key] === -Infinity) return null;
                const exact = exponentials[key] / sum, own = round(exact), by = operandText(factor), times = shownNumber(factor);
                return isRounded(own, exact) ? [`${numberText(own)} × ${by}`, shownNumber(own) * times]
                    : [`exp(${numberText(cast[key])} − ${operandText(maximum)}) / ${numberText(sum)} × ${by}`,
                        Math.exp(shownNumber(cast[key]) - shownNumber(maximum)) / shownNumber(sum) * times];
            },
        },
        stages: { weights: (evaluation, line) => STAGE_MAKERS.weights(evaluation, line).map((weight) => round(weight * evaluation.model.weightsFactor)) },
    },
    'softmax-queries': softmaxOver((evaluation, line, key) => allRows(evaluation).map((row) => [evaluation.started(line.item, line.head, row), key]),
        'softmax over the queries, down each column'),
    'softmax-heads': softmaxOver((evaluation, line, key) => Array.from({ length: evaluation.model.heads }, (nothing, head) =>
        [evaluation.started(line.item, head, line.row), key]), 'softmax over the heads', hasHeadsOfOwn),
    'softmax-all': softmaxOver((evaluation, line) => allRows(evaluation).flatMap((row) => {
        const other = evaluation.started(line.item, line.head, row);
        return Array.from(other.masked, (nothing, at) => [other, at]);
    }), 'softmax over keys and queries together'),
    'softmax-base-2': softmaxOf('powers of 2 over their sum', { power: (score) => 2 ** score, text: (score) => `2^(${score})`, sinks: true }),
    'softmax-overflow': softmaxOf('exp over the sum, without subtracting the largest', { shifts: false, sinks: true, step: round }),
    'softmax-missing': softmaxOf('the scores themselves, 0 where masked', { power: Number, text: String, shifts: false, sums: false }),
    'softmax-sum-of-scores': softmaxOf('each score over the sum of its row', { power: Number, text: String, shifts: false }),
    'mask-missing': { why: isCausal, change: setting(() => ({ causal: false })) },
    'mask-one-ahead': causalRule((position, query, key) => key > position + 1, ', -inf where key > query + 1'),
    'mask-hides-own': causalRule((position, query, key) => key >= position, ', -inf where key >= query'),
    'mask-inverted': causalRule((position, query, key) => key <= position, ', -inf where key <= query'),
    'mask-inverted-own-seen': causalRule((position, query, key) => key < position, ', -inf where key < query'),
    'mask-mirrored': causalRule((position, query, key, keys) => key + query >= keys, ', -inf where key > keys + 1 - query'),
    'mask-offset-plus-1': movedQueries(1, ', masked as if queries were one position later'),
    'mask-offset-minus-1': movedQueries(-1, ', masked as if queries were one position earlier'),
    'mask-causal': { why: firstOf(lacks(({ settings }) => !settings.causal, 'The mask is already causal.'), lacks(({ relative }) => !relative, 'A causal mask needs another table of distances.')), change: setting(() => ({ causal: true })) },
    'fill-zero': filledWith(0),
    'fill-small': filledWith(-9),
    'fill-after-softmax': {
        why: isMasked, tells: { masked: ', not yet masked', weights: 'softmax of all keys, then 0 where masked' },
        shows: { masked: showsFilled, weights: (evaluation, { forbidden, weights }, key) => (forbidden[key] ? asIs(weights[key]) : null) },
        stages: {
            masked: (evaluation, line) => filled(evaluation, line, (key) => line.capped[key]),
            weights: (evaluation, line) => STAGE_MAKERS.weights(evaluation, line).map((weight, key) => (line.forbidden[key] ? 0 : weight)),
        },
    },
    'window-left-plus-1': movedWindow('left', 1),
    'window-left-minus-1': movedWindow('left', -1),
    'window-right-plus-1': movedWindow('right', 1),
    'window-right-minus-1': movedWindow('right', -1),
    'window-missing': { why: lacks(({ settings }) => settings.left >= 0 || settings.right >= 0, 'There is no window.'), change: setting(() => ({ left: -1, right: -1 })) },
    'roles-query-key-swapped': swapped({ query: 'key', key: 'query' }, rowsAlike),
    'roles-key-value-swapped': swapped({ key: 'value', value: 'key' }, columnsAlike),
    'roles-query-value-swapped': swapped({ query: 'value', value: 'query' }, firstOf(rowsAlike, columnsAlike)),
    'roles-key-for-value': swapped({ value: 'key' }, columnsAlike),
    'roles-query-for-key': swapped({ key: 'query' }, rowsAlike),
    'roles-key-for-query': swapped({ query: 'key' }, rowsAlike),
    'roles-query-for-value': swapped({ value: 'query' }, firstOf(rowsAlike, columnsAlike)),
    'roles-inputs-for-value': swapped({ value: 'inputs' }, firstOf(projects, lacks((model) => {
        const width = columnsOf(sourceOf(model, 'value'));
        return width === columnsOfInputs(model) && (width === model.dValue || width === model.keyHeads * model.dValue);
    }, 'The inputs have other columns than the values.'))),
    'weights-transposed': {
        why: firstOf(hasAllRows, lacks(({ queries, keys }) => queries === keys, 'There are not as many queries as keys.')),
        tells: { context: 'weights^T . value' }, shows: { context: columnOfWeights }, stages: { context: contextOfColumn },
    },
    'matrix-transposed': matrixTransposed('W_query', 'W_key', 'W_value'),
    'matrix-query-transposed': matrixTransposed('W_query'),
    'matrix-key-transposed': matrixTransposed('W_key'),
    'matrix-value-transposed': matrixTransposed('W_value'),
    'bias-missing': biasMissing('W_query', 'W_key', 'W_value'),
    'split-view': splitOtherwise(({ columns, tokens }, id, head, token, column) => [id, (head * tokens + token) * columns + column],
        'the projection, its rows read on from head to head'),
    'split-interleaved': splitOtherwise(({ heads, columns }, id, head, token, column) => [id, token * heads * columns + column * heads + head],
        'the projection, columns given to the heads in turn'),
    'split-packed-by-head': splitPacked((head, columns, id, column) => (head * IDS.length + id) * columns + column, 'heads x 3 x d'),
    'split-packed-by-column': splitPacked((head, columns, id, column) => (head * columns + column) * IDS.length + id, 'heads x d x 3'),
    'split-missing': {
        why: firstOf(isCut, lacks(({ heads, keyHeads }) => heads === keyHeads, 'Heads of key and value are shared.'), lacks(() => !job.scales_query, 'The query is scaled.')),
        change: setting((model) => ({ scale: (wholeScaleOf(model) / Math.sqrt(model.heads)) * model.settings.temperature })),
        tells: { scores: 'query . key^T of all columns, as one head' },
        shows: {
            scores: (evaluation, line, key) => {
                const each = scoresOfHeads(evaluation, line).map((scores) => scores[key]);
                return [[numberText(each[0]), ...each.slice(1).map(operandText)].join(' + '), sumOf(each.map(shownNumber))];
            },
        },
        stages: {
            scores: (evaluation, line) => {
                const each = scoresOfHeads(evaluation, line);
                return each[0].map((nothing, key) => round(each.reduce((sum, scores) => sum + scores[key], 0)));
            },
        },
    },
    'merge-view': mergedOtherwise(({ heads, columns, rows }, row, column) => {
        const at = row * heads * columns + column;
        return [Math.floor(at / columns / rows), Math.floor(at / columns) % rows, at % columns];
    }, 'contexts read on from head to head, as if side by side', firstOf(isMerged, hasAllRows)),
    'merge-interleaved': mergedOtherwise(({ heads }, row, column) => [column % heads, row, Math.floor(column / heads)], 'columns of the heads in turn'),
    'merge-reversed': mergedOtherwise(({ heads, columns }, row, column) => [heads - 1 - Math.floor(column / columns), row, column % columns],
        'heads side by side, the last one first'),
    'out-missing': { why: hasOut, tells: { output: 'heads side by side' }, shows: { output: () => null }, stages: { output: (evaluation, item, row) => evaluation.heads(item, row) } },
    'out-transposed': { why: squareOut, change: changedTables((table) => table.name === 'out_proj.weight', transpose), tells: { output: 'heads . out_proj.weight' } },
    'out-bias-missing': { why: firstOf(hasOut, lacks(({ tables }) => tables.has('out_proj.bias'), 'out_proj has no bias.')), change: changedTables((table) => table.name === 'out_proj.bias', () => null) },
    'out-twice': {
        why: squareOut, tells: { output: 'heads through out_proj twice' },
        shows: { output: (evaluation, item, row) => projectOut(evaluation.model, evaluation.heads(item, row)) },
        stages: { output: (evaluation, item, row) => projectOut(evaluation.model, projectOut(evaluation.model, evaluation.heads(item, row))) },
    },
    'groups-tiled': { why: isGrouped, change: (model) => ({ ...model, groups: (head) => head % model.keyHeads }), tells: { scores: 'query . key^T of head modulo heads of key', context: 'weights . value of head modulo heads of value' } },
    'groups-first': { why: isGrouped, change: (model) => ({ ...model, groups: () => 0 }), tells: { scores: 'query . key^T of the first head of key', context: 'weights . value of the first head of value' } },
    'softcap-missing': { why: isCapped, change: setting(() => ({ softcap: 0 })) },
    'softcap-not-multiplied': capStage((softcap, scaled) => Math.tanh(scaled / softcap), 'tanh(scaled / softcap)'),
    'softcap-before-scale': capStage((softcap, scaled, score, scale) => softcap * Math.tanh(score / softcap) * scale, 'softcap x tanh(scores / softcap) x scale'),
    'sinks-missing': { why: lacks(({ tables }) => tables.has('sinks'), 'There are no sinks.'), change: changedTables(({ name }) => name === 'sinks', () => null) },
    'dropout-not-rescaled': droppedTimes(() => 1, 'weights where kept, else 0'),
    'dropout-divided-by-p': droppedTimes(({ dropout }) => 1 / dropout, 'weights / p where kept, else 0'),
    'dropout-before-softmax': {
        why: drops, tells: { weights: 'softmax of scores, some of them dropped', dropped: 'weights' },
        shows: { dropped: (evaluation, { weights }, key) => asIs(weights[key]) },
        stages: { weights: droppedScores, dropped: (evaluation, line) => line.weights },
    },
    'dropout-missing': { why: drops, change: setting(() => ({ dropout: 0 })) },
};

const NO_MISTAKE = 'none';
const mistakeOf = ({ settings }) => (settings.mistake === NO_MISTAKE ? {} : MISTAKES[settings.mistake]);
const whyNoMistake = (model, name) => (MISTAKES[name].why ? MISTAKES[name].why(model) : null);

/* The mistakes that this job can have: [name, sentence] each. */
function possibleMistakes(model) {
    const sentences = JSON.parse(byId('data-mistakes').textContent);
    const there = Object.keys(MISTAKES).filter((name) => name in sentences && !whyNoMistake(model, name));
    return [[NO_MISTAKE, 'no mistake'], ...there.map((name) => [name, sentences[name]])];
}
