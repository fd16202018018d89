// SPDX-License-Identifier: MIT
/* The model: all that the numbers are computed from. It is made of the job that attn wrote, and changed by edits; an
 * edit makes another model, which shares with the one before it what stays.
 *
 *   B items, H heads, H_kv of key and value, Tq queries of which S are on the page, Tk keys, d and d_v columns of a head
 *
 *   tables   Map: name -> { name, title, shape, numbers, editable,
 *            what: 'input' | 'position' | 'parameter' | 'operand' | 'mask' }
 *            inputs (B, Tq, d_in), key_inputs (B, Tk, d_in), without B where there is no batch; weights (d_in, d_out) as
 *            y = x . W has them, biases (d_out); where the page starts at operands: query (B, H, S, d),
 *            key (B, H_kv, Tk, d), value (B, H_kv, Tk, d_v); attn_mask (B, H, Tq, Tk), each axis that size or 1: what it
 *            `adds`, or 1 where it allows a key and 0 where it does not; alibi_slopes and sinks (H)
 *   headsOut the heads that are left out of the output
 *   rows     (S) the positions of the queries on the page, from 0
 *   draw     where dropout draws from: a place of the generator, a seed, or the bits themselves */

const countOf = (shape) => shape.reduce((product, size) => product * size, 1);

/* A table as y = x . W has it; `transposed`: attn stores it the other way round. */
function tableOf(name, shape, numbers, what, transposed = false) {
    return { name, title: transposed ? `${name}^T` : name, transposed, shape, numbers, what, editable: true };
}

function tableOfJob({ name, shape, transposed = false }, what) {
    return { ...tableOf(name, shape, Float64Array.from(decodeNumbers(name)), what, transposed), editable: job.wrong === null };
}

function inputTables() {
    const whats = { inputs: 'input', key_inputs: 'input', positions: 'position' };
    return job.tables.filter(({ name }) => !/embedding$/.test(name) || name === 'unembedding')
        .map((table) => tableOfJob(table, whats[table.name] || 'parameter'));
}

function operandTables() {
    const { items, heads, key_heads: keyHeads, keys, positions } = job;
    return [['query', heads, positions.length, job.d_head], ['key', keyHeads, keys, job.d_head], ['value', keyHeads, keys, job.d_value]]
        .map(([name, ...shape]) => tableOfJob({ name, shape: [items, ...shape] }, 'operand'));
}

const originalTables = new Map(); // the numbers of each table as attn wrote them

const namedTables = (tables) => new Map(tables.map((table) => [table.name, table]));

function maskOfJob() {
    if (!job.attn_mask) return [];
    const { strides, adds } = job.attn_mask, sizes = [job.items, job.heads, job.queries, job.masked_keys];
    const shape = sizes.map((size, axis) => (strides[axis] > 0 ? size : 1));
    const held = adds ? decodeNumbers('attn_mask') : decodeBytes('attn_mask');
    const numberAt = adds ? (i) => held[i] : (i) => (held[i >> 3] >> (i & 7)) & 1;
    return [{ ...tableOf('attn_mask', shape, Float64Array.from({ length: countOf(shape) }, (nothing, i) => numberAt(i)), 'mask'), adds }];
}

/* What masks, or is added for, each head; penalties of ALiBi that attn computed do not follow its slopes. */
function maskTables() {
    const ofHeads = ['alibi_slopes', 'sinks'].filter((name) => job[name]).map((name) => tableOf(name, [job.heads], Float64Array.from(job[name]), 'mask'));
    return [...maskOfJob(), ...ofHeads].map((table) => ({ ...table, editable: job.wrong === null && !(table.name === 'alibi_slopes' && job.alibi_penalties) }));
}

const seedOfJob = ({ given }) => ({ kind: 'seed', seed: given.dropout_seed ?? given.seed ?? 123, build: given.rng ?? 'torch' });

function drawOfJob() {
    if (!(job.dropout > 0)) return seedOfJob(job);
    if (!job.draws) return byId('data-kept') ? { kind: 'bits', bits: decodeBytes('kept') } : seedOfJob(job);
    return { kind: 'words', words: new Uint32Array(decodeBytes('draws').buffer), ...job.draws };
}

/* The scale as given, null for 1 / sqrt(d); with a mistake, or where the query is scaled, as computed. */
function saidScale() {
    const scale = job.scales_query && job.starts === 'inputs' ? job.query_scale : job.scale;
    const usual = 1 / Math.sqrt(job.d_head) / job.temperature === scale;
    if (job.given.scale !== undefined && job.given.scale / job.temperature === scale) return job.given.scale;
    return usual ? null : scale * job.temperature;
}

function settingsOfJob() {
    return {
        causal: job.causal, scale: saidScale(), temperature: job.temperature, softcap: job.softcap, left: job.left,
        right: job.right, heads: job.heads, stacked: job.stacked, dropout: job.dropout, mistake: 'none',
    };
}

/* Lists of labels, one or one for each item, or null: as shown, and as given. */
function labelsOfJob() {
    const own = job.query_tokens !== undefined, shown = own ? job.query_tokens : job.tokens;
    return {
        keyLabels: job.tokens, keyTexts: job.token_texts || job.tokens, ownQueries: own,
        queryLabels: own ? job.query_tokens : null, queryTexts: own ? job.query_texts || job.query_tokens : null,
        firstQuery: job.labelled_queries ? job.first_query : null,
        tokens: shown ? shown[0] : [],
    };
}

/* "2,4-6" counts from 1. */
const listOfHeads = (text) => text.split(',').flatMap((part) => {
    const [first, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (nothing, i) => first - 1 + i);
});

function modelOf() {
    const tables = namedTables([...(job.starts === 'inputs' ? inputTables() : operandTables()), ...maskTables()]);
    for (const { name, numbers } of tables.values()) if (!originalTables.has(name)) originalTables.set(name, numbers);
    return {
        job, starts: job.starts, startsBecause: job.because, items: job.items, queries: job.queries, keys: job.keys,
        rows: job.positions, heads: job.heads, keyHeads: job.key_heads, dHead: job.d_head, dValue: job.d_value,
        tables, aside: null,
        settings: settingsOfJob(), ...labelsOfJob(), offsets: job.offsets, hasLengths: job.has_lengths,
        maskedKeys: job.masked_keys, alibiPenalties: job.alibi_penalties || null,
        positions: job.pairs.length > 0 ? { query: job.query_positions, key: job.key_positions } : null, relative: job.relative, draw: drawOfJob(),
        headsOut: job.given.without_heads ? listOfHeads(job.given.without_heads) : [],
    };
}

/* The factor of the scores, or of the query before them. */
function wholeScaleOf({ settings, dHead }) {
    return (settings.scale === null ? 1 / Math.sqrt(dHead) : settings.scale) / settings.temperature;
}

const queryScaleOf = (model) => (job.scales_query ? wholeScaleOf(model) : 1);
const scaleOf = (model) => (job.scales_query && model.starts === 'inputs' ? 1 : wholeScaleOf(model));

const maskOf = (model) => model.tables.get('attn_mask') || null;
const slopesOf = (model) => model.tables.get('alibi_slopes') || null;

/* Whether the mask may mask a key or add to a score. */
function hasMask(model) {
    const { settings, hasLengths, relative } = model;
    return settings.causal || settings.left >= 0 || settings.right >= 0 || hasLengths || maskOf(model) !== null || slopesOf(model) !== null
        || relative !== null;
}

const isSplit = (model) => model.starts === 'inputs' && model.job.splits;

/* --- labels ------------------------------------------------------------------------------------------------------ */

const labelIn = (lists, item, token) => (lists ? lists[lists.length > 1 ? item : 0][token] : '');

/* The label of a key, or of the query of row `row`, as shown; '' where it has none. */
const keyLabelOf = (model, item, key) => labelIn(model.keyLabels, item, key);

function queryLabelAt(model, item, query) {
    if (model.ownQueries) return labelIn(model.queryLabels, item, query);
    return model.firstQuery === null ? '' : keyLabelOf(model, item, model.firstQuery + query);
}

const queryLabelOf = (model, item, row) => queryLabelAt(model, item, model.rows[row]);

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]/g;
const MOST_COLUMNS = 60;

/* Shows a blank at either end or next to another as an open box. */
const seenBlanks = (text) => text.split('').map((one, i) =>
    (one === ' ' && [undefined, ' '].some((blank) => text[i - 1] === blank || text[i + 1] === blank) ? '\u2423' : one)).join('');

/* As text_shown of attn: shows hidden characters, and cuts long texts. */
function shownText(text) {
    const named = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };
    const code = (one, digits) => one.charCodeAt(0).toString(16).padStart(digits, '0');
    const seen = seenBlanks(text).replace(HIDDEN, (one) => named[one] || (one < '\u0100' ? `\\x${code(one, 2)}` : `\\u${code(one, 4)}`));
    const characters = Array.from(seen);
    return characters.length > MOST_COLUMNS ? `${characters.slice(0, MOST_COLUMNS - 3).join('')}...` : seen;
}
