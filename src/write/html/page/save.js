// SPDX-License-Identifier: MIT
/* What the page saves: an input of attn that gives the same numbers, and a link with the edits. */

/* The shortest decimal that reads back to the same number of the working dtype. JSON has none for NaN and
 * infinities. */
function decimalText(number) {
    if (number === -Infinity) return 'null';
    if (!Number.isFinite(number)) return JSON.stringify(String(number));
    for (let digits = 1; digits < 17; digits++) {
        const shorter = Number(number.toPrecision(digits));
        if (round(shorter) === number) return String(shorter);
    }
    return String(number);
}

/* Nested lists of numbers, by that shape. */
function listText(numbers, shape, at = 0, textOf = decimalText) {
    const below = countOf(shape.slice(1)), parts = [];
    for (let i = 0; i < shape[0]; i++)
        parts.push(shape.length > 1 ? listText(numbers, shape.slice(1), at + i * below, textOf) : textOf(numbers[at + i]));
    return `[${parts.join(shape.length > 1 ? ',\n  ' : ', ')}]`;
}

/* --- the file ---------------------------------------------------------------------------------------------------- */

function tableText({ shape, numbers, transposed }) {
    if (!transposed) return listText(numbers, shape);
    const [rows, columns] = shape;
    return listText(numbers.map((nothing, i) => numbers[(i % rows) * columns + Math.floor(i / rows)]), [columns, rows]);
}

function mechanismOf({ job, settings, starts }) {
    if (starts === 'operands') return 'sdpa';
    return job.splits ? 'multihead' : settings.causal ? 'causal' : 'self';
}

/* Settings of the result that do not hold for this file, or that the file shows itself. */
const LEFT_OUT = ['without', 'random', 'random_seed', 'query', 'mask_true', 'd_out', 'qkv_bias', 'scale', 'kv_heads', 'stacked',
    'dropout_seed'];

/* Settings that still count in a file that starts at query, key and value. */
const KEPT_OF_OPERANDS = ['dtype', 'seed', 'skip', 'rng', 'softmax_dtype', 'align', 'empty_row'];

function settingsToSave(model) {
    const { settings, job, rows, queries, heads, keyHeads, draw } = model, late = model.starts === 'operands';
    const wanted = (name) => (late ? KEPT_OF_OPERANDS.includes(name) : !LEFT_OUT.includes(name));
    const saved = Object.fromEntries(Object.entries(job.given).filter(([name]) => wanted(name)));
    if (job.softmax_dtype !== job.dtype) saved.softmax_dtype = job.softmax_dtype;
    Object.assign(saved, { temperature: settings.temperature, softcap: settings.softcap, window: `${settings.left},${settings.right}` });
    if (slopesOf(model) && !areSlopesMade(model)) delete saved.alibi;
    if (settings.scale !== null) saved.scale = settings.scale;
    if (settings.dropout > 0 || !late) saved.dropout = settings.dropout;
    if (settings.dropout > 0 && draw.kind === 'seed') saved.dropout_seed = draw.seed;
    else if (job.given.dropout_seed !== undefined && settings.dropout > 0) saved.dropout_seed = job.given.dropout_seed;
    if (mechanismOf(model) === 'multihead') Object.assign(saved, { heads, stacked: settings.stacked });
    if (keyHeads !== heads && !late) saved.kv_heads = keyHeads;
    if (late || job.has_heads) saved.causal = settings.causal;
    if (model.tables.has('positions')) saved.add_positions = arePositionsMade(model) ? 'sinusoidal' : 'learned';
    delete saved.without_heads;
    if (model.headsOut.length > 0) saved.without_heads = model.headsOut.map((head) => head + 1).join();
    if (settings.mistake !== NO_MISTAKE) saved.mistake = settings.mistake;
    if (rows.length !== queries) saved.query = rows.map((row) => row + 1).join(',');
    return saved;
}

/* attn_mask as attn reads it: truth values, or numbers to add. */
function maskText({ adds, shape, numbers }) {
    if (!adds) return listText(numbers, shape, 0, (number) => String(number === 1));
    if (numbers.every((number) => number === 0 || number === 1) && numbers.includes(1))
        refuse('attn_mask adds zeros and ones, which JSON cannot tell from truth values.');
    return listText(numbers, shape);
}

const labelsText = (lists) => JSON.stringify(lists.length > 1 ? lists : lists[0]);

function labelsToSave({ ownQueries, keyTexts, queryTexts, firstQuery, heads }) {
    const names = job.head_names && heads === job.heads ? [['head_names', labelsText(job.head_names)]] : [];
    if (ownQueries) return [...names, ...[['tokens', queryTexts], ['key_tokens', keyTexts]].filter(([, lists]) => lists).map(([name, lists]) => [name, labelsText(lists)])];
    return keyTexts && firstQuery !== undefined ? [...names, ['tokens', labelsText(keyTexts)]] : names;
}

/* Whether a setting makes the slopes of ALiBi, as long as they are not edited. */
function areSlopesMade(model) {
    const { numbers } = slopesOf(model) || {}, made = originalTables.get('alibi_slopes');
    return model.starts === 'inputs' && ['slopes', 'scaled'].includes(model.job.given.alibi) && numbers.every((slope, head) => slope === made[head]);
}

function masksToSave(model) {
    const given = Array.from(model.tables.values()).filter(({ name, what }) => what === 'mask' && !(name === 'alibi_slopes' && areSlopesMade(model)));
    return given.map((table) => [table.name, table.name === 'attn_mask' ? maskText(table) : listText(table.numbers, table.shape)]);
}

/* Key or value in two parts: the past, and the rest. */
function pastToSave({ name, shape, numbers }, past) {
    const [items, heads, keys, columns] = shape, inPast = (i) => Math.floor(i / columns) % keys < past;
    const part = (wanted, rows) => listText(numbers.filter((nothing, i) => inPast(i) === wanted), [items, heads, rows, columns]);
    return [[`past_${name}`, part(true, past)], [name, part(false, keys - past)]];
}

const heldTables = (model) => Array.from(model.tables.values()).filter(({ what }) => what !== 'mask');

function operandsToSave(model) {
    const { past } = model.job, parts = [];
    for (const table of heldTables(model))
        parts.push(...(past > 0 && table.name !== 'query' ? pastToSave(table, past) : [[table.name, tableText(table)]]));
    if (model.hasLengths) parts.push(['kv_lengths', JSON.stringify(model.offsets.map((offset) => offset + model.queries))]);
    return parts;
}

/* Whether the positions are sines and cosines that nobody edited. */
function arePositionsMade(model) {
    const { numbers, shape: [, columns] } = model.tables.get('positions'), before = originalTables.get('positions');
    return !byId('data-position_embedding') && numbers.every((number, i) => number === (before[i] ?? positionRow(Math.floor(i / columns), columns)[i % columns]));
}

/* All rows of position_embedding: the generator draws dropout after them. */
function allPositions(model) {
    const positions = model.tables.get('positions'), [tokens, columns] = positions.shape, rows = byId('data-position_embedding') ? numbersNamed('position_embedding').length / columns : 0;
    return resizePositions(positions, Math.max(tokens, rows));
}

function vocabularyText() {
    const numbers = numbersNamed('embedding');
    return `{"words": ${JSON.stringify(VOCABULARY)}, "embedding": ${listText(numbers, [VOCABULARY.length, numbers.length / VOCABULARY.length])}}`;
}

/* Why no file gives these numbers; null: one does. */
function whyNotSaved(model) {
    const { job, settings, draw } = model;
    if (job.wrong !== null || job.given.mistake !== undefined) return 'attn made these numbers with a mistake, which no file holds.';
    if (draw.kind === 'bits' && settings.dropout > 0) return 'attn drew the dropout; turn it off to save.';
    if (model.tables.has('positions') && !byId('data-position_embedding') && !arePositionsMade(model) && settings.dropout > 0 && draw.kind === 'words')
        return 'With these positions attn would draw another dropout; turn it off to save.';
    if (model.starts === 'inputs') return null;
    if (model.rows.length !== model.queries) return 'Only some queries are on this page, which starts at query, key and value.';
    if (model.relative || model.alibiPenalties) return 'A file with query, key and value cannot hold the bias of these scores.';
    if (settings.dropout > 0 && draw.kind === 'words' && job.mechanism !== 'sdpa' && job.given.dropout_seed === undefined)
        return 'attn drew the dropout after the parameters, which this page does not hold; use --dropout-seed for a page that you can save.';
    return null;
}

/* The gradient that --grad gave, as a result holds it; none where it is ones, or of other tokens. */
function lossToSave(model) {
    if (!givenGradient || whyNoGradients(model) !== null) return [];
    const { items, heads, queries: rows, dValue: d, starts } = model, batch = job.has_batch ? [items] : [], words = model.tables.get('unembedding');
    if (!words && starts === 'inputs' && !isSplit(model)) return [['grad_context', listText(givenGradient, [...batch, rows, d])]];
    if (starts === 'inputs') return [[words ? 'grad_logits' : 'grad_output', listText(givenGradient, [...batch, rows, givenGradient.length / items / rows])]];
    const apart = !job.loss.side_by_side ? givenGradient : givenGradient.map((nothing, i) =>
        givenGradient[((Math.floor(i / d / rows / heads) * rows + Math.floor(i / d) % rows) * heads + Math.floor(i / d / rows) % heads) * d + i % d]);
    return [['grad_context', listText(apart, [items, heads, rows, d])]];
}

/* An input of attn; with a gradient a result, which also is an input of --grad; throws Refusal where none gives these numbers. */
function saveJSON(model) {
    const why = whyNotSaved(model);
    if (why) refuse(why);
    const parts = [['mechanism', JSON.stringify(mechanismOf(model))], ['settings', JSON.stringify(settingsToSave(model))], ...labelsToSave(model),
        ...masksToSave(model)];
    if (model.starts === 'operands') parts.push(...operandsToSave(model));
    else for (const table of heldTables(model).filter(({ what }) => what !== 'position')) parts.push([table.name, tableText(table)]);
    if (model.tables.has('positions') && !arePositionsMade(model)) parts.push(['position_embedding', tableText(allPositions(model))]);
    if (canType(model)) parts.push(['vocabulary', vocabularyText()]);
    const loss = lossToSave(model);
    if (loss.length > 0) parts.unshift(['attn', JSON.stringify(job.attn)], ['format', '1'], ...loss);
    return `{${parts.map(([name, text]) => `${JSON.stringify(name)}: ${text}`).join(',\n')}}\n`;
}

function saveCommand(model, file = 'attention.json') {
    const loss = job.loss && !job.loss.given ? 'ones' : lossToSave(model).length > 0 ? file : null;
    return `attn ${mechanismOf(model)} ${file}${loss === null ? '' : ` --grad ${loss}`}`;
}

/* --- the link ---------------------------------------------------------------------------------------------------- */

const MOST_EDITS = 1000, MOST_LINK = 1 << 14;

/* Of several numbers given to one cell in a row, keeps the last. */
const withoutDrags = (edits) => edits.filter((edit, i) => {
    const next = edits[i + 1];
    return !(next && edit.do === 'number' && next.do === 'number' && next.table === edit.table && String(next.at) === String(edit.at));
});

/* '' where the edits are too long for a link. */
function stateToLink(edits) {
    const link = `#${encodeURIComponent(JSON.stringify(withoutDrags(edits)))}`;
    return link.length > MOST_LINK ? '' : link;
}

const isText = (text) => typeof text === 'string' && text.length <= 1000;

/* Whether it has the form of an edit; applyEdit then checks it. */
function isEdit(edit) {
    const forms = {
        number: ({ table, at, to }) => isText(table) && Array.isArray(at) && at.length <= 4 && (typeof to === 'number' || to === null),
        setting: ({ name, to }) => isText(name) && (to === null || ['boolean', 'number'].includes(typeof to) || isText(to)),
        without: ({ token }) => Number.isInteger(token),
        add: ({ token, numbers }) => isText(token) && Array.isArray(numbers) && numbers.every((number) => typeof number === 'number'),
        text: ({ words }) => Array.isArray(words) && words.length <= 1000 && words.every(isText),
        head: ({ head, out }) => Number.isInteger(head) && typeof out === 'boolean',
        label: ({ token, to, item = 0 }) => Number.isInteger(token) && Number.isInteger(item) && isText(to),
    };
    return edit !== null && typeof edit === 'object' && Object.hasOwn(forms, edit.do) && forms[edit.do](edit);
}

/* The edits of a link, if this page can make all of them; else none: anybody may have typed the link. */
function linkToState(hash) {
    try {
        const edits = JSON.parse(decodeURIComponent(hash.slice(1, MOST_LINK)));
        if (!Array.isArray(edits) || edits.length > MOST_EDITS || !edits.every(isEdit)) return [];
        edits.reduce((model, edit) => applyEdit(model, edit), modelOf(job));
        return edits;
    } catch {
        return [];
    }
}
