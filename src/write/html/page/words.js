// SPDX-License-Identifier: MIT
/* A model of words around the heads, as src/stage/words.c has it: positions are added to the inputs; inputs and output
 * together make the logits of the next word. Sentences by its vocabulary. */

const VOCABULARY = job.words ? (job.word_texts || job.words)[0] : null;
const wordText = (word) => (VOCABULARY ? job.words[0][word] : `word ${word + 1}`);
const roundGiven = rounderOf(job.dtype); // also where gradients are computed
const numbersNamed = remembered((name) => decodeNumbers(name), 2);

/* --- before and after the heads ---------------------------------------------------------------------------------- */

/* The inputs of an item with what is added for each position, (T, d_in). */
function embeddedOf(model, item) {
    const { shape, numbers } = model.tables.get('inputs'), size = countOf(shape.slice(-2)), positions = model.tables.get('positions');
    const inputs = numbers.subarray(item * size, (item + 1) * size);
    return positions ? eachOf(inputs, (number, i) => roundGiven(number + positions.numbers[i])) : inputs;
}

const embeddedName = (model) => (model.tables.has('positions') ? 'embedded' : 'inputs');

function embeddedRow(evaluation, item, row) {
    const { model } = evaluation, columns = columnsOf(model.tables.get('inputs')), first = model.rows[row] * columns;
    return evaluation.embedded(item).subarray(first, first + columns);
}

const makeResidual = (evaluation, item, row) => eachOf(evaluation.output(item, row), (number, i) => round(number + embeddedRow(evaluation, item, row)[i]));

function makeLogits(evaluation, item, row) {
    const { model } = evaluation, weight = model.tables.get('unembedding'), width = columnsOf(weight), logits = new Float64Array(width);
    const by = { weight, bias: model.tables.get('unembedding_bias') || null, first: 0, columns: width, width };
    projectRow(evaluation.residual(item, row), 0, weight.shape[0], by, logits, 0);
    return logits.map(round);
}

function makeProbabilities(evaluation, item, row) {
    const logits = evaluation.logits(item, row), largest = Math.max(...logits), powers = eachOf(logits, (logit) => Math.exp(logit - largest));
    const sum = powers.reduce((whole, power) => whole + power, 0);
    return eachOf(powers, (power) => round(power / sum));
}

/* The stages of words: their rows, and what they are computed from. */
const WORD_STAGES = {
    embedded: { make: embeddedRow, from: () => ['inputs', 'positions'], formula: () => 'inputs + positions' },
    residual: { make: makeResidual, from: (model, before) => [embeddedName(model), before], formula: (model) => `${embeddedName(model)} + ${isSplit(model) ? 'output' : 'context'}` },
    logits: { make: makeLogits, from: (model) => ['residual', ...namesOf(model, 'unembedding'), ...namesOf(model, 'unembedding_bias')],
        formula: (model) => `residual . unembedding${model.tables.has('unembedding_bias') ? ' + unembedding_bias' : ''}` },
    probabilities: { make: makeProbabilities, from: () => ['logits'], formula: () => 'softmax(logits)' },
};

const hasWordStage = (model, stage) => model.tables.has(stage === 'embedded' ? 'positions' : 'unembedding');

/* --- sentences --------------------------------------------------------------------------------------------------- */

function wordRow(word) {
    const at = VOCABULARY.indexOf(word), embedding = numbersNamed('embedding'), columns = embedding.length / VOCABULARY.length;
    if (at < 0) refuse(`The vocabulary has no word "${word}".`);
    return embedding.subarray(at * columns, (at + 1) * columns);
}

/* The row that is added at a position: of position_embedding, or sines and cosines. */
function positionRow(position, columns) {
    if (!byId('data-position_embedding'))
        return Float64Array.from({ length: columns }, (nothing, i) => {
            const angle = position / 10000 ** ((i - i % 2) / columns);
            return roundStored(i % 2 ? Math.cos(angle) : Math.sin(angle));
        });
    const table = numbersNamed('position_embedding'), rows = table.length / columns;
    if (position >= rows) refuse(`There are positions for ${rows} tokens.`);
    return table.subarray(position * columns, (position + 1) * columns);
}

function resizePositions(table, tokens) {
    const [had, columns] = table.shape, rows = Array.from({ length: tokens }, (nothing, row) =>
        Array.from(row < had ? table.numbers.subarray(row * columns, (row + 1) * columns) : positionRow(row, columns)));
    return { ...table, shape: [tokens, columns], numbers: Float64Array.from(rows.flat(), table.rounded ? round : Number) };
}

/* Gives a token the numbers of its word, where there is a vocabulary. */
function withWord(model, token, word, item) {
    if (!canType(model)) return model;
    const inputs = model.tables.get('inputs'), columns = columnsOf(inputs), numbers = inputs.numbers.slice();
    numbers.set(wordRow(word), ((inputs.shape.length > 2 ? item * model.queries : 0) + token) * columns);
    return { ...model, tables: new Map(model.tables).set('inputs', { ...inputs, numbers }) };
}

const canType = (model) => VOCABULARY !== null && byId('data-embedding') !== null && model.starts === 'inputs' && !model.tables.has('key_inputs');

/* Another sentence: tokens that stay the same keep their numbers. */
function changeText(model, { words }) {
    if (!canType(model) || model.items > 1) refuse('This page has no vocabulary.');
    if (words.length === 0) refuse('A sentence has at least one word.');
    words.forEach(wordRow);
    let changed = model;
    while (changed.keys > words.length) changed = withoutToken(changed, { token: changed.keys - 1 });
    words.forEach((word, i) => {
        if (i >= changed.keys) changed = addToken(changed, { token: word, numbers: Array.from(wordRow(word)) });
        else if (changed.keyTexts[0][i] !== word) changed = labelToken(changed, { token: i, to: word });
    });
    return changed;
}

/* Takes a head out of the output, or puts it back. */
function takeHead(model, { head, out }) {
    if (!(Number.isInteger(head) && head >= 0 && head < model.heads) || typeof out !== 'boolean') refuse('There is no such head.');
    if (!isSplit(model)) refuse('There is one head.');
    return { ...model, headsOut: [...model.headsOut.filter((one) => one !== head), ...(out ? [head] : [])].sort((a, b) => a - b) };
}

/* --- why this word ----------------------------------------------------------------------------------------------- */

/* What each part of the residual adds to a logit: [name, number, of each token through a head], exactly. */
function logitParts(evaluation, item, row, word) {
    const { model } = evaluation, { tables, dValue, heads } = model, width = columnsOf(tables.get('unembedding')), inputs = tables.get('inputs'), d = columnsOf(inputs);
    const along = (numbers, at) => { let sum = 0; for (let i = 0; i < d; i++) sum += numbers[at + i] * tables.get('unembedding').numbers[i * width + word]; return sum; };
    const out = isSplit(model) && !model.settings.stacked ? outProjection(model) : null, token = model.rows[row], at = (name, i) => tables.get(name).numbers[i];
    const parts = [['inputs', along(inputs.numbers, (item * model.queries + token) * d)]];
    if (tables.has('positions')) parts.push(['positions', along(tables.get('positions').numbers, token * d)]);
    for (let head = 0; head < heads; head++) {
        const line = evaluation.line(item, head, row), value = evaluation.taken('value', item, keyHeadOf(model, head)), shares = [];
        const direction = Float64Array.from({ length: dValue }, (nothing, k) => (hasGate(model) ? evaluation.gate(item, head, row)[k] : 1)
            * (out ? along(out.numbers, (head * dValue + k) * d) : at('unembedding', (head * dValue + k) * width + word)));
        for (let key = 0; key < model.keys && !model.headsOut.includes(head); key++)
            if (line.dropped[key] !== 0) shares.push([key, line.dropped[key], dotProduct(value, key * dValue, direction, 0, dValue)]);
        parts.push([headText(head), shares.reduce((sum, [, weight, each]) => sum + weight * each, 0), shares]);
    }
    if (out && tables.has('out_proj.bias')) parts.push(['out_proj.bias', along(tables.get('out_proj.bias').numbers, 0)]);
    if (tables.has('unembedding_bias')) parts.push(['unembedding_bias', at('unembedding_bias', word)]);
    return parts;
}

/* The share of a word without a head: its columns of the heads side by side are 0. */
function shareWithout(evaluation, head, item, row, word) {
    const { model, embedded } = evaluation, side = evaluation.heads(item, row).slice().fill(0, head * model.dValue, (head + 1) * model.dValue);
    const rest = { model, embedded, heads: () => side, output: () => makeOutput(rest, item, row), residual: () => makeResidual(rest, item, row), logits: () => makeLogits(rest, item, row) };
    return makeProbabilities(rest, item, row)[word];
}

/* The head without which the share of a word falls most: { head, share, key, weight }, with the key at which it looks most;
 * null where it falls without none, or a mistake made the stages. */
function neededHead(evaluation, item, row, word) {
    const { model, wrong } = evaluation;
    if (!isSplit(model) || wrong.length > 0 || job.wrong !== null) return null;
    const shares = Array.from({ length: model.heads }, (nothing, head) => shareWithout(evaluation, head, item, row, word)), share = Math.min(...shares), head = shares.indexOf(share);
    const { dropped } = evaluation.line(item, head, row), key = dropped.indexOf(Math.max(...dropped));
    return share < makeProbabilities(evaluation, item, row)[word] ? { head, share, key, weight: dropped[key] } : null;
}
