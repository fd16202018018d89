// SPDX-License-Identifier: MIT
/* Edits: each makes another model, or refuses with a sentence for the reader. */

class Refusal extends Error {}

const refuse = (sentence) => {
    throw new Refusal(sentence);
};

const MOST_CELLS = 1 << 22; // of one head, as attn has it

/* --- tokens ------------------------------------------------------------------------------------------------------ */

/* Why tokens cannot come and go; null: they can. */
function whyTokensStay(model) {
    if (model.queries !== model.keys || model.ownQueries || model.tables.has('key_inputs') || model.hasLengths
        || model.offsets.some((offset) => offset !== 0) || model.job.past > 0)
        return 'Here queries and keys are not the same tokens.';
    if (model.maskedKeys < model.keys) return 'attn_mask is shorter than the keys.';
    if (model.draw.kind === 'bits' && model.settings.dropout > 0) return 'attn drew the dropout; turn it off first.';
    if (/dynamic|longrope/.test(job.given.rope_scaling)) return 'The rotation depends on the number of tokens here.';
    if (job.given.positions !== undefined) return 'The input gives the tokens their positions.';
    if (model.starts === 'operands' && model.job.pairs.length > 0) return 'Query and key are already rotated by position.';
    if (model.starts === 'operands' && model.rows.length !== model.queries) return 'Only some queries are on this page.';
    return null;
}

const replaced = (list, at, value) => list.map((one, i) => (i === at ? value : one));

/* The numbers without index `index` along an axis. */
function cutAxis(numbers, shape, axis, index) {
    const inner = countOf(shape.slice(axis + 1)), size = shape[axis];
    return { numbers: numbers.filter((nothing, i) => Math.floor(i / inner) % size !== index), shape: replaced(shape, axis, size - 1) };
}

/* The numbers with `made(outer, i)` added at the end of the axis. */
function growAxis(numbers, shape, axis, made) {
    const inner = countOf(shape.slice(axis + 1)), size = shape[axis], grown = replaced(shape, axis, size + 1);
    return {
        numbers: Float64Array.from({ length: countOf(grown) }, (nothing, i) => {
            const outer = Math.floor(i / inner / (size + 1)), at = Math.floor(i / inner) % (size + 1);
            return at < size ? numbers[(outer * size + at) * inner + (i % inner)] : made(outer, i % inner);
        }),
        shape: grown,
    };
}

function changeMask(mask, tokens, change) {
    const axes = [2, 3].filter((axis) => mask.shape[axis] > 1 || tokens === 1);
    return axes.reduce((before, axis) => ({ ...before, ...change(before.numbers, before.shape, axis) }), mask);
}

const ofTokens = ({ what }) => what === 'input' || what === 'operand';

function changeTables(model, change, changeOfMask = change) {
    return namedTables(Array.from(model.tables.values(), (table) => (ofTokens(table)
        ? { ...table, ...change(table.numbers, table.shape, table.shape.length - 2) }
        : table === maskOf(model) ? changeMask(table, model.keys, changeOfMask) : table)));
}

/* Changes the labels as shown and as given: `change(list, isText)`. */
function changeLabels({ keyLabels, keyTexts }, change) {
    if (!keyLabels) return {};
    const shown = keyLabels.map((list) => change(list, false));
    return { keyLabels: shown, keyTexts: keyTexts.map((list) => change(list, true)), tokens: shown[0] };
}

/* After tokens came or went, the others stand at positions 0, 1, ... */
function placed(model) {
    const { items, rows, keys } = model, counted = Array.from({ length: keys }, (nothing, key) => key);
    const repeated = (list) => Array.from({ length: items }, () => list).flat();
    const added = model.tables.get('positions'), tables = added ? new Map(model.tables).set('positions', resizePositions(added, keys)) : model.tables;
    return { ...model, tables, positions: model.positions ? { query: repeated(rows), key: repeated(counted) } : null };
}

function withoutToken(model, { token }) {
    const why = whyTokensStay(model), rows = model.rows.filter((row) => row !== token).map((row) => (row > token ? row - 1 : row));
    if (why) refuse(why);
    if (!(Number.isInteger(token) && token >= 0 && token < model.keys)) refuse('There is no such token.');
    if (model.keys === 1) refuse('The last token stays.');
    if (rows.length === 0) refuse('It is the only query on this page.');
    const cut = (numbers, shape, axis) => cutAxis(numbers, shape, axis, token);
    return placed({
        ...model, queries: model.queries - 1, keys: model.keys - 1, maskedKeys: model.maskedKeys - 1, rows,
        tables: changeTables(model, cut), ...changeLabels(model, (list) => list.filter((nothing, i) => i !== token)),
    });
}

function whyNoMore(model) {
    const { context_length: most } = model.job.given;
    if (model.starts === 'operands') return 'This page starts at query, key and value: there are no inputs to add to.';
    if (model.alibiPenalties) return 'ALiBi counts from the first or the last key here, which only attn does.';
    if (most !== undefined && model.keys >= Number(most)) return `The context length is ${most}.`;
    return (model.rows.length + 1) * (model.keys + 1) > MOST_CELLS ? 'The page has no room for more tokens.' : whyTokensStay(model);
}

/* `numbers` (d_in), for every item; `token` is its label. */
function addToken(model, { token, numbers }) {
    const why = whyNoMore(model);
    if (why) refuse(why);
    const { shape } = model.tables.get('inputs'), columns = shape[shape.length - 1];
    if (!Array.isArray(numbers) || numbers.length !== columns || !numbers.every((number) => Number.isFinite(round(number))))
        refuse(`A token has ${columns} numbers.`);
    if (typeof token !== 'string') refuse('A label is a text.');
    const grow = (made) => (held, shape, axis) => growAxis(held, shape, axis, made);
    const grown = {
        ...model, queries: model.queries + 1, keys: model.keys + 1, maskedKeys: model.maskedKeys + 1,
        rows: model.rows.length === model.queries ? [...model.rows, model.queries] : model.rows,
        tables: changeTables(model, grow((outer, i) => round(numbers[i])), grow(() => (maskOf(model).adds ? 0 : 1))),
    };
    return placed({ ...grown, ...changeLabels(model, (list, isText) => [...list, isText ? token : shownText(token)]) });
}

function labelToken(model, { token, to, item = 0 }) {
    if (typeof to !== 'string') refuse('A label is a text.');
    const own = model.ownQueries, names = own ? ['queryLabels', 'queryTexts'] : ['keyLabels', 'keyTexts'];
    if (!model[names[0]]) refuse('The tokens of this page have no labels.');
    if (!(Number.isInteger(token) && token >= 0 && token < model[names[0]][0].length)) refuse('There is no such token.');
    if (!(Number.isInteger(item) && item >= 0 && item < model.items)) refuse('There is no such item.');
    const list = model[names[0]].length > 1 ? item : 0;
    const changed = (lists, text) => lists.map((labels, i) => (i === list ? replaced(labels, token, text) : labels));
    const labels = { [names[0]]: changed(model[names[0]], shownText(to)), [names[1]]: changed(model[names[1]], to) };
    return withWord({ ...model, ...labels, tokens: labels[names[0]][0] }, token, to, item);
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

const isTruths = ({ name, adds }) => name === 'attn_mask' && !adds;

/* `to` is null for minus infinity, which attn_mask may add. */
function setNumber(model, { table: name, at, to }) {
    const table = model.tables.get(name);
    if (!table || !table.editable) refuse(`You cannot change ${name} here.`);
    if (!Array.isArray(at) || at.length !== table.shape.length
        || !at.every((i, axis) => Number.isInteger(i) && i >= 0 && i < table.shape[axis]))
        refuse(`${name} has no such cell.`);
    if (isTruths(table) && to !== 0 && to !== 1) refuse(`${name} has 1 for a key that it allows, and 0 for one that it masks.`);
    if (to === null ? !table.adds : !Number.isFinite(round(to))) refuse(`${to} is no number that ${job.dtype} holds.`);
    const isPosition = table.what === 'position', numbers = isPosition ? table.numbers.map(round) : table.numbers.slice(); // as attn reads them
    numbers[at.reduce((place, i, axis) => place * table.shape[axis] + i, 0)] = to === null ? -Infinity : round(to);
    return { ...model, tables: new Map(model.tables).set(name, { ...table, numbers, rounded: isPosition }) };
}

/* --- heads ------------------------------------------------------------------------------------------------------- */

const STEMS = ['W_query', 'W_key', 'W_value'];
const weightOf = (tables, stem) => tables.get(`${stem}.weight`) || tables.get(stem);

const columnsOf = ({ shape }) => shape[shape.length - 1];

/* Matrices of as many rows, or lists, side by side. */
function besideEachOther(tables, name) {
    const [first] = tables, rows = first.shape.length > 1 ? first.shape[0] : 1, widths = tables.map((table) => columnsOf(table));
    const width = widths.reduce((sum, one) => sum + one, 0), numbers = new Float64Array(rows * width);
    let column = 0;
    tables.forEach((table, i) => {
        for (let row = 0; row < rows; row++)
            numbers.set(table.numbers.subarray(row * widths[i], (row + 1) * widths[i]), row * width + column);
        column += widths[i];
    });
    return tableOf(name, replaced(first.shape, first.shape.length - 1, width), numbers, 'parameter', first.transposed);
}

function someColumns(table, first, count, name) {
    const width = columnsOf(table);
    const numbers = table.numbers.filter((nothing, i) => i % width >= first && i % width < first + count);
    return tableOf(name, replaced(table.shape, table.shape.length - 1, count), numbers, 'parameter', table.transposed);
}

const endOf = (stem, table) => table.name.slice(table.name.indexOf(stem));

/* Joins the tables of stacked heads into those of one module. */
function joinModules(model) {
    const made = [];
    for (const stem of STEMS)
        for (const first of [weightOf(model.tables, `heads.0.${stem}`), model.tables.get(`heads.0.${stem}.bias`)].filter(Boolean)) {
            const end = endOf(stem, first), heads = Array.from({ length: model.heads }, (nothing, head) => model.tables.get(`heads.${head}.${end}`));
            if (heads.includes(undefined)) refuse('The heads are not stored alike.');
            made.push(besideEachOther(heads, end));
        }
    return made;
}

/* Cuts the tables of one module into those of stacked heads. */
function cutModules(tables, heads) {
    const made = [];
    for (let head = 0; head < heads; head++)
        for (const table of tables)
            made.push(someColumns(table, head * (columnsOf(table) / heads), columnsOf(table) / heads, `heads.${head}.${table.name}`));
    return made;
}

const inputsOf = (model) => Array.from(model.tables.values()).filter((table) => table.what === 'input');
const outOf = (model) => Array.from(model.tables.values()).filter((table) => table.name.startsWith('out_proj'));
const isOfProjection = ({ name }) => STEMS.some((stem) => name === stem || name.startsWith(`${stem}.`) || name.includes(`.${stem}`));
const projectionsOf = (model) => (model.settings.stacked ? joinModules(model) : Array.from(model.tables.values()).filter(isOfProjection));
const othersOf = (model) => Array.from(model.tables.values()).filter((table) => table.what !== 'input' && !isOfProjection(table)
    && !table.name.startsWith('out_proj'));

/* The identity: the output is the heads side by side. */
function identityOut(width) {
    const numbers = Float64Array.from({ length: width * width }, (nothing, i) => (i % (width + 1) === 0 ? 1 : 0));
    return [tableOf('out_proj.weight', [width, width], numbers, 'parameter', true)];
}

/* Why neither the number of heads nor stacking can change; null: they can. */
function whyHeadsStay(model) {
    if (!isSplit(model)) return model.starts === 'operands' ? model.startsBecause : 'There is one head; attn multihead has several.';
    if (isRotated(model) || hasGate(model) || latentOf(model, 'query') || latentOf(model, 'key') || Object.values(NORM_NAMES).some((name) => normOf(model, name)))
        return 'Norms, rotations, gates and latents fit heads of this width only.';
    if (model.tables.has('sinks') || slopesOf(model) || model.relative || maskOf(model)?.shape[1] > 1)
        return 'The input gives a bias or sinks for each head.';
    return model.draw.kind === 'bits' && model.settings.dropout > 0 ? 'attn drew the dropout; turn it off first.' : null;
}

/* The sizes with so many heads; null where the columns do not divide evenly. */
function sizesWith(tables, heads) {
    const [query, key, value] = STEMS.map((stem) => weightOf(tables, stem).shape[1]), dHead = query / heads, keyHeads = key / dHead;
    const whole = [dHead, keyHeads, heads / keyHeads, value / keyHeads].every((size) => Number.isInteger(size) && size > 0);
    return whole ? { heads, keyHeads, dHead, dValue: value / keyHeads } : null;
}

function possibleHeads(model) {
    if (whyHeadsStay(model)) return [model.heads];
    const tables = namedTables(projectionsOf(model)), columns = weightOf(tables, 'W_query').shape[1];
    return Array.from({ length: columns }, (nothing, i) => i + 1).filter((heads) => {
        const sizes = sizesWith(tables, heads);
        return sizes && (!model.settings.stacked || (sizes.keyHeads === heads && sizes.dValue === sizes.dHead));
    });
}

/* Arranges the same columns as other heads. Dropout then draws by its own seed: the generator stood behind other
 * modules. */
function arrangeHeads(model, heads, stacked) {
    const why = whyHeadsStay(model), tables = projectionsOf(model), sizes = sizesWith(namedTables(tables), heads);
    if (heads === model.heads && stacked === model.settings.stacked) return model;
    if (why) refuse(why);
    if (!sizes) refuse(`${heads} heads cannot share the columns evenly.`);
    if (stacked && (sizes.keyHeads !== heads || sizes.dValue !== sizes.dHead))
        refuse('Stacked heads have a key and a value each, of as many columns as their query.');
    const aside = outOf(model).length > 0 ? outOf(model) : model.aside, width = heads * sizes.dValue;
    const out = stacked ? [] : aside || identityOut(width);
    const parameters = stacked ? cutModules(tables, heads) : tables;
    const draw = stacked || model.settings.stacked ? seedOfJob(model.job) : model.draw;
    return {
        ...model, ...sizes, headsOut: [], tables: namedTables([...inputsOf(model), ...parameters, ...out, ...othersOf(model)]), aside, draw,
        settings: { ...model.settings, heads, stacked },
    };
}

/* --- settings ---------------------------------------------------------------------------------------------------- */

const isNumberIn = (least, most = Infinity) => (to) => Number.isFinite(to) && to >= least && to <= most;
const isWholeFrom = (least) => (to) => Number.isInteger(to) && to >= least && to < 2 ** 31;
const isTruth = (to) => typeof to === 'boolean';
const withSetting = (name) => (model, to) => ({ ...model, settings: { ...model.settings, [name]: to } });

function whyCausalStays(model) {
    if (model.relative) return 'A causal mask needs another table of distances.';
    return model.tables.has('key_inputs') && model.job.mechanism === 'self' ? 'attn causal has no inputs for keys alone.' : null;
}

const changeDropout = (model, to) => ({ ...withSetting('dropout')(model, to), draw: model.settings.dropout > 0 ? model.draw : seedOfJob(model.job) });

/* The controls: what each is, what it takes, and why a job does not have it. */
const SETTINGS = [
    { name: 'causal', kind: 'switch', says: 'each token sees itself and the tokens before it', takes: isTruth, why: whyCausalStays },
    { name: 'scale', kind: 'number', says: 'multiplies the scores', least: 0, most: 4, step: 0.01,
        takes: (to) => to === null || Number.isFinite(to), expected: 'a number', now: ({ settings, dHead }) => settings.scale ?? 1 / Math.sqrt(dHead) },
    { name: 'temperature', kind: 'number', says: 'divides the scale', least: 0.1, most: 5, step: 0.1,
        takes: (to) => Number.isFinite(to) && to > 0, expected: 'a number above 0' },
    { name: 'softcap', kind: 'number', says: 'scores stay within this bound; 0 is none', least: 0, most: 10, step: 0.1,
        takes: isNumberIn(0), expected: 'a number from 0 on' },
    { name: 'left', label: 'window: back', kind: 'number', says: 'a query sees so many tokens back; -1 is all', least: -1, most: (model) => model.keys - 1, step: 1,
        takes: isWholeFrom(-1), expected: 'a whole number from -1 on' },
    { name: 'right', label: 'window: ahead', kind: 'number', says: 'a query sees so many tokens ahead; -1 is all', least: -1, most: (model) => model.keys - 1, step: 1,
        takes: isWholeFrom(-1), expected: 'a whole number from -1 on' },
    { name: 'heads', kind: 'choice', says: 'so many heads share the columns', choices: possibleHeads, why: whyHeadsStay,
        takes: Number.isInteger, expected: 'a number of heads', change: (model, to) => arrangeHeads(model, to, model.settings.stacked) },
    { name: 'stacked', kind: 'switch', says: 'each head is a separate module, without an output projection', takes: isTruth, why: whyHeadsStay,
        change: (model, to) => arrangeHeads(model, model.heads, to) },
    { name: 'dropout', kind: 'number', says: 'drops this share of the weights', least: 0, most: 0.9, step: 0.05,
        takes: (to) => isNumberIn(0)(to) && to < 1, expected: 'a share from 0 on, below 1', change: changeDropout },
    { name: 'mistake', kind: 'choice', says: 'does one thing wrong on purpose', choices: possibleMistakes,
        takes: (to) => to === NO_MISTAKE || Object.hasOwn(MISTAKES, to), expected: 'a mistake of this page' },
];

const EXPECTED = { switch: 'true or false' };

function settingOf(model, row) {
    const because = (row.why && row.why(model)) || '', most = typeof row.most === 'function' ? row.most(model) : row.most;
    return {
        name: row.name, label: row.label || row.name, kind: row.kind, says: row.says, least: row.least, most, step: row.step,
        choices: row.choices ? row.choices(model) : undefined, possible: because === '', because,
        value: row.now ? row.now(model) : model.settings[row.name],
    };
}

const settingsOf = (model) => SETTINGS.map((row) => settingOf(model, row));

function changeSetting(model, { name, to }) {
    const row = SETTINGS.find((one) => one.name === name), because = row && row.why && row.why(model);
    if (!row) refuse(`There is no setting ${name}.`);
    if (because) refuse(because);
    if (!row.takes(to)) refuse(`${name} is ${row.expected || EXPECTED[row.kind]}.`);
    const changed = (row.change || withSetting(name))(model, to);
    if (name === 'mistake' && to !== NO_MISTAKE && whyNoMistake(model, to)) refuse(whyNoMistake(model, to));
    return Number.isFinite(scaleOf(changed)) ? changed : refuse('The scale divided by the temperature is no finite number.');
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

const EDITS = { number: setNumber, setting: changeSetting, without: withoutToken, add: addToken, label: labelToken, text: changeText, head: takeHead };

function applyEdit(model, edit) {
    if (!Object.hasOwn(EDITS, edit.do)) refuse('There is no such edit.');
    if (model.job.wrong !== null || model.job.given.mistake !== undefined)
        refuse('attn made these numbers with a mistake; you can only change a page without one.');
    const changed = EDITS[edit.do](model, edit), { mistake } = changed.settings, why = mistake === NO_MISTAKE ? null : whyNoMistake(changed, mistake);
    return why ? refuse(`The mistake ${mistake} does not apply: ${why}`) : changed;
}
