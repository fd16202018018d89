// SPDX-License-Identifier: MIT
/* What the reader looks at, and each table as shown: after the edits, before them, or the difference.
 *
 * A table is { rows, columns, numbers, masked, rowLabels, columnLabels }. Its axes say what a row and a column is: a
 * 'query', a 'key', or a 'column' of numbers; so one choice of a query and a key marks its cell in all tables. */

const state = {
    item: 0, head: job.head, name: '', mode: 'after', layer: 'numbers', byRow: false,
    at: { query: 0, key: 0, down: 0, across: 0 }, /* down and across: of columns */
    pointed: null, /* { name, row, column } under the pointer */
};

const stageOf = (name) => after.stages.find((stage) => stage.name === name) || null;
const isSquare = (name) => stageOf(name) !== null && stageOf(name).square;
const isShare = (name) => ['weights', 'dropped', 'probabilities'].includes(name);
const headsNow = () => model.heads;

/* The name of a head, '' where it has none: other heads than those of the job have other jobs. */
const headName = (head) => (job.head_names && headsNow() === job.heads ? job.head_names[0][head] : '');
const headText = (head) => `head ${head + 1}${headName(head) && ` (${headName(head)})`}`;
const headLabel = (head) => (headName(head) ? `${head + 1} ${headName(head)}` : headText(head));

/* A parameter of stacked heads is one table for each head, shown under one name. */
const plainName = (name) => name.replace(/^heads\.\d+\./, '');
const hasOwnHeads = (from, name) => from.tables.has(`heads.0.${name}`);
const heldName = (from, name, head) => (hasOwnHeads(from, name) ? `heads.${head}.${name}` : name);
const heldTableOf = (name, head = 0) => model.tables.get(heldName(model, name, head)) || null;

const isOfHeads = (name) => hasOwnHeads(model, name) || (stageOf(name) !== null && stageOf(name).perHead) || (name === 'attn_mask' && maskOf(model).shape[1] > 1);
const isParameter = (name) => heldTableOf(name) !== null && heldTableOf(name).what === 'parameter';
/* Why nothing of the job can be changed, or null. */
const whyFixed = () => (job.wrong !== null || job.given.mistake !== undefined
    ? 'attn made these numbers with a mistake, so you cannot change them; on a page without one you can choose a mistake.'
    : null);
const isEditable = (name) => whyFixed() === null && state.layer === 'numbers' && heldTableOf(name) !== null && heldTableOf(name).editable;

function tableNames() {
    return [...model.tables.keys(), ...after.stages.map((stage) => stage.name)]
        .map(plainName).filter((name, i, names) => names.indexOf(name) === i);
}

function tableIn(evaluation, name, head) {
    const held = heldName(evaluation.model, name, head);
    return state.layer === 'gradients' ? gradientTable(evaluation, held, state.item, head) : evaluation.table(held, state.item, head);
}

function axesOf(name) {
    const stage = stageOf(name);
    if (stage) return stage.axes;
    const { what, shape } = heldTableOf(name), down = model.rows.length === model.queries ? 'query' : 'column';
    if (what === 'mask') return [shape[2] > 1 ? down : 'column', shape[3] > 1 ? 'key' : 'column'];
    if (what === 'parameter') return ['column', 'column'];
    return [name === 'key_inputs' ? 'key' : down, 'column'];
}

/* The indices of a number in the table that holds it, one for each axis of its shape. */
function indicesOf(name, head, row, column) {
    const { shape } = heldTableOf(name, head);
    if (shape.length === 4) return [Math.min(state.item, shape[0] - 1), Math.floor(head * shape[1] / headsNow()), row, column];
    return shape.length === 3 ? [state.item, row, column] : shape.length === 2 ? [row, column] : [column];
}

/* Whether a mistake makes the stage, so that no arithmetic of the page gives it. */
const isWrong = (name) => job.isWrong(name) || shownEvaluation().wrong.includes(name);

/* --- before and after -------------------------------------------------------------------------------------------- */

const shownTables = new Map();
const forgetShown = () => shownTables.clear();

function tableBefore(name, head) {
    const known = original.tables.has(heldName(original, name, head)) || before.stages.some((stage) => stage.name === name);
    return known && head < original.heads ? tableIn(before, name, head) : null;
}

/* The index before the edits of each row or column, -1 where there was none. Queries may be some of the tokens. */
function matchAxis(axis, count, countBefore) {
    const same = (i) => (i < countBefore ? i : -1);
    const index = axis === 'key' ? (i) => tokenOrigins[i]
        : axis === 'query' ? (i) => original.rows.indexOf(tokenOrigins[model.rows[i]]) : same;
    const taken = tokenOrigins.length === model.keys && model.queries === model.keys;
    return Array.from({ length: count }, (nothing, i) => (taken ? index(i) : same(i)));
}

/* The numbers before the edits, in the cells of now, and `isNew`, 1 where there was none. Null where the columns
 * mean something else now. */
function numbersBefore(name, now, was) {
    const [down, across] = axesOf(name);
    if (was === null || (across === 'column' && was.columns !== now.columns)) return null;
    if (down === 'column' && was.rows !== now.rows) return null;
    const rows = matchAxis(down, now.rows, was.rows), columns = matchAxis(across, now.columns, was.columns);
    const numbers = new Float64Array(now.numbers.length).fill(NaN), isNew = new Uint8Array(now.numbers.length).fill(1);
    for (let row = 0, at = 0; row < now.rows; row++)
        for (let column = 0; column < now.columns; column++, at++)
            if (rows[row] >= 0 && columns[column] >= 0) {
                numbers[at] = was.numbers[rows[row] * was.columns + columns[column]];
                isNew[at] = 0;
            }
    return Object.assign(numbers, { isNew });
}

/* The difference; 0 where both are the same infinity. */
const differenceOf = (now, was) => (Object.is(now, was) ? 0 : now - was);

function makeShown(name, head) {
    const now = tableIn(after, name, head), signs = state.layer === 'gradients' || !(isShare(name) || name === 'gate');
    if (!isEdited()) return { name, head, mode: 'after', ...now, signs, ghosts: null, most: largestMagnitude(now.numbers) };
    const was = tableBefore(name, head), ghosts = numbersBefore(name, now, was);
    const most = Math.max(largestMagnitude(now.numbers), was ? largestMagnitude(was.numbers) : 0);
    if (state.mode === 'before' && was) return { name, head, mode: 'before', ...was, signs, ghosts: null, most };
    if (state.mode !== 'difference') return { name, head, mode: 'after', ...now, signs, ghosts, most };
    const numbers = now.numbers.map((number, at) => (ghosts && !ghosts.isNew[at] ? differenceOf(number, ghosts[at]) : 0));
    const isNew = ghosts ? ghosts.isNew : new Uint8Array(numbers.length).fill(1);
    return { name, head, mode: 'difference', ...now, numbers, isNew, signs: true, ghosts: null, most: largestMagnitude(numbers) };
}

/* The table as shown now, with the scale of its colours. */
function shownTable(name, head = state.head) {
    const key = `${name},${state.item},${head},${state.mode},${state.layer}`;
    if (!shownTables.has(key)) {
        const shown = makeShown(name, head);
        shownTables.set(key, { ...shown, scale: colourScale(shown.numbers, shown.signs, shown.most) });
    }
    return shownTables.get(key);
}

const rowScale = (shown, row) =>
    colourScale(shown.numbers.subarray(row * shown.columns, (row + 1) * shown.columns), shown.signs);

/* The largest change of a table, 0 where nothing is compared. */
function largestChange(name) {
    const now = tableIn(after, name, state.head);
    const ghosts = isEdited() ? numbersBefore(name, now, tableBefore(name, state.head)) : null;
    if (!ghosts) return 0;
    return largestMagnitude(now.numbers.map((number, at) => (ghosts.isNew[at] ? 0 : differenceOf(number, ghosts[at]))));
}

/* The evaluation shown, before or after the edits; its lines, and the names of its queries and keys. */
const shownEvaluation = () => (state.mode === 'before' ? before : after);
const lineOf = (item, head, row) => shownEvaluation().line(item, head, row);
const sidesNow = () => {
    const [query, key] = ['query', 'key'].map((name) => shownEvaluation().table(name, state.item, 0));
    return {
        queryTitle: (row) => (query.rowLabels && query.rowLabels[row]) || `query ${row + 1}`,
        keyName: (row) => rowName(key, row),
        place: { row: within(state.at.query, query.rows), key: within(state.at.key, key.rows) },
    };
};

const heaviestKey = (row) => {
    const weights = lineOf(state.item, state.head, row).weights;
    return weights.reduce((best, weight, key) => (weight > weights[best] ? key : best), 0);
};

/* --- the chosen cell --------------------------------------------------------------------------------------------- */

const within = (i, count) => Math.min(Math.max(i, 0), Math.max(count - 1, 0));

/* The row and column of a table that the choice marks. */
function placeIn(name, shown) {
    const [down, across] = axesOf(name), { at } = state;
    const row = down === 'query' ? at.query : down === 'key' ? at.key : at.down;
    const column = across === 'key' ? at.key : across === 'query' ? at.query : at.across;
    return { row: within(row, shown.rows), column: within(column, shown.columns) };
}

/* The cell of the chosen table under the pointer; else the chosen cell. */
function lookedAt() {
    const shown = shownTable(state.name), { pointed } = state;
    const isThere = pointed && pointed.row < shown.rows && pointed.column < shown.columns;
    if (isThere && pointed.name === state.name) return pointed;
    return { name: state.name, ...placeIn(state.name, shown) };
}

function choosePlace(name, row, column) {
    const [down, across] = axesOf(name), shown = shownTable(name), { at } = state;
    state.name = name;
    state.pointed = null;
    at[down === 'column' ? 'down' : down] = within(row, shown.rows);
    at[across === 'column' ? 'across' : across] = within(column, shown.columns);
}

/* After an edit removed something: choose a cell that is still there. */
function keepChoice() {
    state.head = within(state.head, headsNow());
    if (!tableNames().includes(state.name)) state.name = firstName();
    const shown = shownTable(state.name), { row, column } = placeIn(state.name, shown);
    choosePlace(state.name, row, column);
}

/* The page opens with the weights, or with the last stage that --stages names. */
const OPENS = ['weights', 'dropped', 'masked', 'capped', 'scaled', 'scores', 'query'];
const isAsked = (name) => job.stages.some(([asked]) => asked === name);
const firstName = () => OPENS.find((name) => isAsked(name) && stageOf(name)) || OPENS.find(stageOf) || tableNames()[0];

/* --- in words ---------------------------------------------------------------------------------------------------- */

const NAMES = { heads: 'heads side by side', key_inputs: 'key inputs' };
const nameText = (name) => NAMES[name] || name.replace(/\.weight$/, '');

const ROW_SENTENCES = {
    inputs: 'Each row is one token: the numbers that represent it.',
    positions: 'Each row is one position: the numbers that are added for it.',
    embedded: 'Each row is one token: its numbers and those of its position, added.',
    residual: 'Each row is one token: what went in plus what the heads add.',
    logits: 'Each row is one token, each column a word: how well the word comes next.',
    probabilities: 'Each row is one token, each column a word: how probable the word comes next; a row adds up to 1.',
    attn_mask: 'Each row is one query: what is added to its scores, or 1 for a key that it may see and 0 for one that it may not.',
    alibi_slopes: 'One number for each head: what a score loses for each step between query and key.',
    sinks: 'One number for each head: a score without a key, which takes its share of the weights.',
    key_inputs: 'Each row is one token that queries look at: the numbers that represent it.',
    normed: 'Each row is one token after the norm of the layer.',
    query: 'Each row is the query of one token: what it asks for.',
    key: 'Each row is the key of one token: what it is found by.',
    value: 'Each row is the value of one token: what it gives to the tokens that look at it.',
    scores: 'Each row is one query, each column one key: the sum of their numbers, multiplied pair by pair.',
    scaled: 'Each row is one query: its scores times the scale.',
    capped: 'Each row is one query: its scores, kept within the softcap.',
    masked: 'Each row is one query: a masked key has −∞.',
    weights: 'Each row is a token, the query, and how it looks at the tokens, the keys; a row adds up to 1.',
    entropy: 'Each row is one query: how evenly it looks at the keys: 0 for one key alone, log of their number for all alike.',
    dropped: 'Each row is one query: its weights after dropout.',
    context: 'Each row is one query: the sum of the values, each times its weight.',
    gate: 'Each row is one query: how much of each number of its context passes, from 0 to 1.',
    heads: 'Each row is one query: the contexts of all heads, one after another.',
    output: 'Each row is one query: what the module returns.',
};

function rowSentence(name) {
    if (state.layer === 'gradients') return 'How much the loss changes for a small change of each number of this table.';
    const stem = /^W_(query|key|value)(\.weight)?$/.exec(name);
    if (stem) return `Each column makes one number of every ${stem[1]}: a token times this column, added up.`;
    if (/bias$/.test(name)) return 'One number for each column, added at the end.';
    if (name === 'out_proj.weight') return 'Each column makes one number of the output from the heads side by side.';
    if (name === 'W_gate.weight') return 'Each column makes one number of the gate of every token, before the sigmoid.';
    const before = /^(projected|normed)_(query|key|value)$/.exec(name);
    const how = { projected: 'as its matrix makes it', normed: 'after its norm' };
    if (before) return `Each row is the ${before[2]} of one token, ${how[before[1]]}.`;
    return ROW_SENTENCES[name] || '';
}
