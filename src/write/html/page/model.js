/* The model: all that the numbers are computed from. It is made of the job that attn wrote, and changed by edits; an
 * edit makes another model, which shares with the one before it what stays.
 *
 *   B items, H heads, H_kv of key and value, Tq queries of which S are on the page, Tk keys, d and d_v columns of a head
 *
 *   tables   Map: name -> { name, title, shape, numbers, what: 'input' | 'parameter' | 'operand', editable }
 *            inputs (B, Tq, d_in), key_inputs (B, Tk, d_in), weights (d_in, d_out) as y = x . W has them, biases (d_out);
 *            where the page starts at operands: query (B, H, S, d), key (B, H_kv, Tk, d), value (B, H_kv, Tk, d_v) */

/* An edit that cannot be made; its message is a sentence for people. */
class Refusal extends Error {}

const refuse = (sentence) => {
    throw new Refusal(sentence);
};

const countOf = (shape) => shape.reduce((product, size) => product * size, 1);

/* --- of the job -------------------------------------------------------------------------------------------------- */

const PARAMETER_TITLES = (name, transposed) => (transposed ? `${name}^T` : name);

function tableOfJob({ name, shape, transposed }, what) {
    const numbers = Float64Array.from(decodeNumbers(name));
    return { name, title: PARAMETER_TITLES(name, transposed), transposed, shape, numbers, what, editable: true };
}

function tablesOf(job) {
    const isInput = (name) => name === 'inputs' || name === 'key_inputs';
    const operand = (name, heads, rows, columns) => ({ name, shape: [job.items, heads, rows, columns], transposed: false });
    const listed = job.starts === 'inputs'
        ? job.tables.map((table) => tableOfJob(table, isInput(table.name) ? 'input' : 'parameter'))
        : [operand('query', job.heads, job.positions.length, job.d_head), operand('key', job.key_heads, job.keys, job.d_head),
            operand('value', job.key_heads, job.keys, job.d_value)].map((table) => tableOfJob(table, 'operand'));
    for (const table of listed) table.editable = job.wrong === null;
    return new Map(listed.map((table) => [table.name, table]));
}

/* attn_mask as what is added, minus infinity where it forbids: numbers (B, H, Tq, Tk), each axis that size or 1. */
function maskOf(job) {
    if (!job.attn_mask) return null;
    const { strides, adds } = job.attn_mask, sizes = [job.items, job.heads, job.queries, job.masked_keys];
    const shape = sizes.map((size, axis) => (strides[axis] > 0 ? size : 1));
    const held = adds ? decodeNumbers('attn_mask') : decodeBytes('attn_mask');
    const numberAt = adds ? (i) => held[i] : (i) => ((held[i >> 3] >> (i & 7)) & 1 ? 0 : -Infinity);
    return { adds, shape, numbers: Float32Array.from({ length: countOf(shape) }, (nothing, i) => numberAt(i)) };
}

function settingsOfJob(job) {
    const { given } = job;
    return {
        causal: job.causal, scale: given.scale === undefined ? null : given.scale, temperature: job.temperature,
        softcap: job.softcap, left: job.left, right: job.right, heads: job.heads, stacked: job.stacked,
        dropout: job.dropout, mistake: 'none',
    };
}

function modelOf(job) {
    return {
        job, starts: job.starts, startsBecause: job.because, items: job.items, queries: job.queries, keys: job.keys,
        rows: job.positions, heads: job.heads, keyHeads: job.key_heads, dHead: job.d_head, dValue: job.d_value,
        tables: tablesOf(job), settings: settingsOfJob(job),
        tokenLists: job.tokens, queryTokenLists: job.query_tokens || null,
        tokens: job.tokens ? job.tokens[0] : [], keyTokens: job.query_tokens !== undefined && job.tokens ? job.tokens[0] : null,
        offsets: job.offsets, hasLengths: job.has_lengths, maskedKeys: job.masked_keys, mask: maskOf(job),
        alibiSlopes: job.alibi_slopes, alibiPenalties: job.alibi_penalties || null, sinks: job.sinks,
        relative: job.relative, kept: job.dropout > 0 ? decodeBytes('kept') : null,
    };
}

/* The number that scores are multiplied with. */
function scaleOf({ settings, dHead, job }) {
    if (job.wrong !== null || job.starts === 'operands') return settings.scale === job.given.scale ? job.scale : settings.scale;
    return (settings.scale === null ? 1 / Math.sqrt(dHead) : settings.scale) / settings.temperature;
}

/* --- labels ------------------------------------------------------------------------------------------------------ */

const labelIn = (lists, item, token) => (lists ? lists[lists.length > 1 ? item : 0][token] : '');

/* The label of a key, or of the query of row `row`; '' where it has none. */
const keyLabelOf = (model, item, key) => labelIn(model.tokenLists, item, key);

function queryLabelOf(model, item, row) {
    const { job } = model;
    if (model.queryTokenLists) return labelIn(model.queryTokenLists, item, model.rows[row]);
    return job.labelled_queries ? keyLabelOf(model, item, job.first_query + model.rows[row]) : '';
}

const keyLabelsOf = (model, item) => Array.from({ length: model.keys }, (nothing, key) => keyLabelOf(model, item, key));
const queryLabelsOf = (model, item) => model.rows.map((nothing, row) => queryLabelOf(model, item, row));

/* --- edits ------------------------------------------------------------------------------------------------------- */

const EDITS = {
    number: (model, { table: name, at, to }) => {
        const table = model.tables.get(name);
        if (!table || !table.editable) refuse(`${name} cannot be changed here.`);
        if (!Array.isArray(at) || at.length !== table.shape.length || at.some((i, axis) => !(i >= 0 && i < table.shape[axis])))
            refuse(`${name} has no such cell.`);
        if (!Number.isFinite(round(to))) refuse(`${to} is not a number that ${job.dtype} holds.`);
        const numbers = table.numbers.slice();
        numbers[at.reduce((place, i, axis) => place * table.shape[axis] + i, 0)] = round(to);
        return { ...model, tables: new Map(model.tables).set(name, { ...table, numbers }) };
    },
    setting: (model, { name, to }) => {
        const setting = settingsOf(model).find((one) => one.name === name);
        if (!setting) refuse(`There is no setting called ${name}.`);
        if (!setting.possible) refuse(setting.because);
        return setting.change(model, to);
    },
    label: (model, { token, to, item = 0 }) => {
        if (!model.tokenLists) refuse('The tokens of this job have no labels.');
        const lists = model.tokenLists.map((list, i) => (i === (model.tokenLists.length > 1 ? item : 0)
            ? list.map((label, at) => (at === token ? to : label)) : list));
        return { ...model, tokenLists: lists, tokens: lists[0] };
    },
    without: () => refuse('This page cannot take a token out yet.'),
    add: () => refuse('This page cannot add a token yet.'),
};

/* Another model; throws Refusal. */
function applyEdit(model, edit) {
    if (!Object.hasOwn(EDITS, edit.do)) refuse('There is no such edit.');
    if (model.job.wrong !== null) refuse('The numbers of this page were made with a mistake, and cannot be changed.');
    return EDITS[edit.do](model, edit);
}

const withSettings = (model, changed) => ({ ...model, settings: { ...model.settings, ...changed } });

/* The controls of this job. `change` makes another model of a value, or throws Refusal. */
function settingsOf(model) {
    const plain = (name, kind, says, more = {}) => ({
        name, kind, says, value: model.settings[name], possible: true, because: '',
        change: (before, to) => withSettings(before, { [name]: to }), ...more,
    });
    return [
        plain('causal', 'switch', 'Each token sees itself and the tokens before it'),
        plain('scale', 'number', 'The scores are multiplied by it', { least: -4, most: 4, step: 0.01, value: scaleOf(model) }),
        plain('temperature', 'number', 'The scale is divided by it', { least: 0.1, most: 10, step: 0.1 }),
        plain('softcap', 'number', 'Scores stay within this bound; 0: none', { least: 0, most: 50, step: 0.1 }),
        plain('left', 'number', 'How far back a token sees; -1: to the first', { least: -1, most: model.keys, step: 1 }),
        plain('right', 'number', 'How far ahead a token sees; -1: to the last', { least: -1, most: model.keys, step: 1 }),
    ];
}
