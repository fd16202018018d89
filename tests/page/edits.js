// SPDX-License-Identifier: MIT
/* node tests/page/edits.js ATTN FOLDER COUNT [SEED]: what is edited on a page against attn. Random jobs are drawn by a
 * seed, a page is made of each, its model goes through random edits, and attn computes the file that the page saves: every
 * stage is the same numbers to 1e-6, and nearly all are the same bits. */
'use strict';
const fs = require('fs'), path = require('path'), { spawnSync } = require('child_process');
const vm = require('vm');
const { loadPage, heldGradients, readNumber, sameNumber } = require('./load.js');

const [attn, folder, count, firstSeed = '1'] = process.argv.slice(2);
const NAMES = ['job', 'modelOf', 'evaluate', 'applyEdit', 'settingsOf', 'Refusal', 'saveJSON', 'saveCommand', 'stateToLink', 'linkToState', 'numberText', 'gradientTable', 'round', 'state'];
const readPage = vm.runInThisContext(`${fs.readFileSync(path.join(__dirname, 'formulas.js'))}; readPage`);
const LAYERS = fs.readFileSync('tests/layers/cases.txt', 'utf8').trim().split('\n').map((line) => line.split(' '));
const TOLERANCE = 1e-6;
const tally = { jobs: 0, edits: 0, refused: 0, notSaved: 0, numbers: 0, same: 0, explained: 0, lines: 0 }, failures = [], reasons = new Map(), mistakes = new Map();

/* --- what is drawn ----------------------------------------------------------------------------------------------- */

/* mulberry32 */
function generatorOf(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let word = Math.imul(state ^ (state >>> 15), state | 1);
        word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
        return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
    };
}

let draw = generatorOf(1);
const upTo = (most) => Math.floor(draw() * (most + 1)), from = (least, most) => least + upTo(most - least);
const chance = (share) => draw() < share, one = (list) => list[upTo(list.length - 1)];
const number = () => Math.round((4 * draw() - 2) * 100) / 100;
const matrix = (...shape) => (shape.length === 0 ? number() : Array.from({ length: shape[0] }, () => matrix(...shape.slice(1))));
const SMALL_WORDS = ['the', 'dogs', 'run', '(', '<b>', 'é'];
const TOKENS = ['Your', 'journey', 'a b', ' the', '<b>', '"q"', '\\', '\u202eturned', 'tab\t', 'é', '</script>', ''];

/* attn_mask with some axes broadcast: truth values or numbers, some rows forbidden whole. */
function drawMask(items, heads, queries, keys, whole) {
    const shape = [items, heads, queries, whole || chance(0.8) ? keys : from(1, keys)].map((size, axis) => (chance(axis < 2 ? 0.5 : 0.2) ? 1 : size));
    const cut = shape.slice(from(0, 2)), truth = chance(0.5);
    const cell = () => (truth ? chance(0.7) : chance(0.2) ? null : number() + 0.125);
    const fill = (sizes) => (sizes.length === 0 ? cell() : Array.from({ length: sizes[0] }, () => fill(sizes.slice(1))));
    return fill(cut);
}

function commonOptions(heads) {
    const options = [];
    if (chance(0.3)) options.push('--scale', String(number()));
    if (chance(0.3)) options.push('--temperature', String(from(1, 30) / 10));
    if (chance(0.2)) options.push('--softcap', String(from(1, 30) / 10));
    if (chance(0.2)) options.push('--window', `${from(-1, 3)},${from(-1, 3)}`);
    if (chance(0.2)) options.push('--empty-row', one(['zero', 'nan', 'mean']));
    if (chance(0.3)) options.push('--dropout', String(from(1, 9) / 10));
    if (chance(0.2)) options.push('--rng', one(['torch-scalar', 'torch-mkl']));
    if (chance(0.1)) options.push('--seed', String(from(0, 99)));
    if (chance(0.1)) options.push('--softmax-dtype', 'f32');
    if (chance(0.1) && heads > 1) options.push('--alibi', 'slopes');
    return [...options, '--dtype', one(['f32', 'f32', 'f32', 'f64', 'f16', 'bf16', 'f8e4m3', 'f8e5m2'])];
}

/* Parameters of split heads, some with norms, a rotation or T5's table. */
function drawParameters(input, options, heads, keyHeads, columns) {
    const d = 2 * from(1, 2), values = from(1, 3), put = (name, rows, width) => {
        const linear = chance(0.5);
        input[linear ? `${name}.weight` : name] = linear ? matrix(width, rows) : matrix(rows, width);
        if (chance(0.3)) input[`${name}.bias`] = matrix(width);
    };
    put('W_query', columns, heads * d);
    put('W_key', columns, keyHeads * d);
    put('W_value', columns, keyHeads * values);
    input['out_proj.weight'] = matrix(from(1, 4), heads * values);
    for (const name of ['query_norm', 'key_norm']) {
        const count = name === 'query_norm' ? heads : keyHeads;
        input[`${name}.weight`] = one([() => matrix(d), () => matrix(count, d), () => matrix(count * d)])();
        if (chance(0.3)) input[`${name}.bias`] = input[`${name}.weight`].map((row) => (Array.isArray(row) ? row.map(number) : number()));
    }
    if (chance(0.5)) for (const name of ['query_norm', 'key_norm']) delete input[`${name}.weight`], delete input[`${name}.bias`];
    else if (chance(0.3)) options.push('--qk-norm', one(['layer', 'rms', 'rms-plus-one']));
    if (chance(0.3)) input['norm.weight'] = matrix(columns), options.push('--residual');
    if (chance(0.3)) {
        const width = chance(0.5) ? heads : heads * values;
        input['W_gate.weight'] = matrix(width, columns);
        if (chance(0.5)) input['W_gate.bias'] = matrix(width);
    }
    if (chance(0.3)) options.push('--value-norm', one(['layer', 'rms']));
    if (chance(0.2)) input['relative_bias.weight'] = matrix(8, heads), options.push('--relative-distance', '5');
}

/* Query, or key and value, by way of a latent. */
function drawLatents(input, heads, columns) {
    const d = 2 * from(1, 2), values = from(1, 3), shared = from(1, d - 1), linear = (name, rows, width) => {
        input[`${name}.weight`] = matrix(rows, width);
        if (chance(0.3)) input[`${name}.bias`] = matrix(rows);
    };
    const steps = (name, width, behind) => {
        const rank = from(1, 3);
        linear(`W_${name}_a`, rank + behind, columns);
        input[`${name}_a_norm.weight`] = matrix(rank);
        linear(`W_${name}_b`, width, rank);
    };
    if (chance(0.5)) steps('query', heads * d, 0);
    else linear('W_query', heads * d, columns);
    steps('key_value', heads * (d - shared + values), shared);
    input['out_proj.weight'] = matrix(from(1, 4), heads * values);
}

function drawProjecting() {
    const mechanism = one(['self', 'causal', 'multihead', 'multihead', 'multihead']), tokens = from(1, 7), columns = from(1, 5);
    const items = chance(0.2) ? from(1, 2) : 0, heads = mechanism === 'multihead' ? from(1, 4) : 1, stacked = mechanism === 'multihead' && chance(0.3);
    const input = { inputs: matrix(...(items ? [items] : []), tokens, columns) }, options = commonOptions(heads);
    if (chance(0.7)) input.tokens = Array.from({ length: tokens }, () => one(TOKENS));
    if (mechanism !== 'causal' && chance(0.2)) input.key_inputs = matrix(...(items ? [items] : []), from(1, 6), columns);
    const keys = input.key_inputs ? (items ? input.key_inputs[0] : input.key_inputs).length : tokens;
    if (chance(0.25)) input.attn_mask = drawMask(items || 1, heads, tokens, keys, false);
    if (chance(0.1)) input.sinks = matrix(heads);
    if (chance(0.1) && !options.includes('--alibi')) input.alibi_slopes = matrix(heads);
    const groups = stacked ? [heads] : [1, 2, 3, 4].filter((one) => heads % one === 0);
    if (mechanism === 'multihead' && !stacked && chance(0.15)) {
        drawLatents(input, heads, columns);
        options.push('--heads', String(heads), ...(chance(0.3) ? ['--qk-norm', one(['layer', 'rms', 'rms-plus-one', 'none'])] : []));
    } else if (mechanism === 'multihead' && !stacked && chance(0.35)) {
        const keyHeads = one(groups);
        drawParameters(input, options, heads, keyHeads, columns);
        options.push('--heads', String(heads), '--kv-heads', String(keyHeads));
    } else if (mechanism === 'multihead') options.push('--heads', String(heads), '-d', String(stacked ? from(1, 4) : heads * from(1, 3)), ...(stacked ? ['--stacked'] : ['--kv-heads', String(one(groups))]));
    else options.push('-d', String(from(1, 5)));
    if (mechanism === 'multihead' && chance(0.4)) options.push(one(['--causal', '--no-causal']));
    if (chance(0.3)) options.push('--init', one(['rand', 'randn']));
    else if (chance(0.4)) options.push('--qkv-bias');
    if (chance(0.1)) options.push('--clip', '0.5');
    if (chance(0.2)) options.push('--rope', one(['half', 'pairs', 'pairs-to-halves']), '--rope-columns', '2', '--rope-theta', '7');
    if (chance(0.1)) options.push('--scale-on', 'query');
    if (chance(0.15)) options.push('--query', String(from(1, tokens)));
    return { mechanism, input, options };
}

/* A model of a few words. */
function drawWords() {
    const mechanism = one(['multihead', 'multihead', 'causal', 'self']), heads = mechanism === 'multihead' ? from(1, 3) : 1, columns = heads * from(1, 2);
    const words = SMALL_WORDS.slice(0, from(2, SMALL_WORDS.length)), options = commonOptions(heads);
    const input = { text: Array.from({ length: from(1, 5) }, () => one(words)).join(' '), vocabulary: { words, embedding: matrix(words.length, columns) } };
    if (chance(0.6)) input.vocabulary.position_embedding = matrix(from(5, 8), columns);
    else if (chance(0.5)) options.push('--add-positions', 'sinusoidal');
    if (chance(0.8)) input.unembedding = matrix(columns, words.length);
    if (input.unembedding && chance(0.5)) input.unembedding_bias = matrix(words.length);
    if (mechanism === 'multihead' && chance(0.3)) {
        for (const name of ['W_query', 'W_key', 'W_value', 'out_proj.weight']) input[name] = matrix(columns, columns);
        input['W_gate.weight'] = matrix(one([heads, columns]), columns);
    }
    if (mechanism === 'multihead') options.push('--heads', String(heads), ...(chance(0.3) ? ['--without-heads', String(from(1, heads))] : []));
    return { mechanism, input, options: [...options, '-d', String(columns)] };
}

function drawGiven() {
    const items = from(1, 2), groups = from(1, 2), keyHeads = from(1, 2), heads = keyHeads * groups, queries = from(1, 5), keys = chance(0.5) ? queries : from(1, 6);
    const columns = from(1, 4), values = from(1, 3), options = commonOptions(heads);
    const input = { query: matrix(items, heads, queries, columns), key: matrix(items, keyHeads, keys, columns), value: matrix(items, keyHeads, keys, values) };
    if (chance(0.3)) input.attn_mask = drawMask(items, heads, queries, keys, false);
    if (chance(0.2)) input.sinks = matrix(heads);
    if (chance(0.2)) input.kv_lengths = Array.from({ length: items }, () => from(1, keys));
    else if (chance(0.2)) Object.assign(input, { past_key: matrix(items, keyHeads, 2, columns), past_value: matrix(items, keyHeads, 2, values) });
    if (input.past_key) delete input.attn_mask;
    if (chance(0.5)) options.push('--causal');
    if (chance(0.2)) options.push('--align', 'bottom-right');
    if (chance(0.2)) options.push('--rope', 'half', ...(columns % 2 ? ['--rope-columns', '2'] : []));
    return { mechanism: 'sdpa', input, options };
}

/* The attention module of a small checkpoint, in one dtype. */
function drawLayer() {
    const [name, , module, kind] = one(LAYERS), folder = path.join('tests/layers', name);
    const residual = chance(0.4) && fs.existsSync(path.join(folder, 'residual.npy')), options = ['-w', folder, '--module', module];
    if (kind === 'cross') options.push('--key-inputs', path.join(folder, 'encoder.npy'));
    if (residual) options.push('--residual');
    if (chance(0.3)) options.push('--query', `1-${from(2, 5)}`);
    if (chance(0.2)) options.push('--softcap', '1.5');
    return { mechanism: 'layer', file: path.join(folder, residual ? 'residual.npy' : 'hidden.npy'), options: [...options, '--dtype', one(['f32', 'f64', 'bf16'])] };
}

const KINDS = [drawWords, drawWords, drawLayer, ...Array(6).fill(drawProjecting), drawGiven];

/* --- edits ------------------------------------------------------------------------------------------------------- */

function drawValue({ name, kind, choices, value }) { // of a setting
    if (kind === 'switch') return !value;
    if (kind === 'choice') return name === 'mistake' ? one(choices)[0] : one(choices);
    return { scale: () => (chance(0.2) ? null : number()), temperature: () => from(1, 40) / 10, softcap: () => from(0, 20) / 10,
        left: () => from(-1, 4), right: () => from(-1, 4), dropout: () => from(0, 9) / 10 }[name]();
}

function drawEdit(page, model) {
    const tables = Array.from(model.tables.values()).filter((table) => table.editable), token = upTo(model.keys - 1);
    const kind = one(['number', 'number', 'number', 'setting', 'setting', 'setting', 'without', 'add', 'label']);
    if (model.job.words && chance(0.4)) return { do: 'text', words: Array.from({ length: from(1, 6) }, () => one(chance(0.9) ? model.job.words[0] : TOKENS)) };
    if (model.headsOut.length > 0 || chance(0.03)) return { do: 'head', head: upTo(model.heads - 1), out: chance(0.5) };
    if (kind === 'number') {
        const table = one(tables);
        const to = table.name === 'attn_mask' ? one(table.adds ? [null, number() + 0.125] : [0, 1]) : chance(0.1) ? one([0, 1e-30, 1e4, -3e4]) : number();
        return { do: 'number', table: table.name, at: table.shape.map((size) => upTo(size - 1)), to };
    }
    if (kind === 'setting') {
        const setting = one(chance(0.3) ? page.settingsOf(model).slice(-1) : page.settingsOf(model));
        return { do: 'setting', name: setting.name, to: drawValue(setting) };
    }
    if (kind === 'without') return { do: 'without', token };
    if (kind === 'label') return { do: 'label', token, to: one(TOKENS), item: upTo(model.items - 1) };
    const inputs = model.tables.get('inputs');
    return { do: 'add', token: one(TOKENS), numbers: matrix(inputs ? inputs.shape[inputs.shape.length - 1] : 2) };
}

function editAtRandom(page, model, most) {
    const edits = [];
    for (let i = 0; i < most; i++) {
        const edit = drawEdit(page, model);
        tally.edits++;
        try {
            model = page.applyEdit(model, edit);
            edits.push(edit);
        } catch (error) {
            if (!(error instanceof page.Refusal)) throw error;
            tally.refused++;
            reasons.set(error.message, (reasons.get(error.message) || 0) + 1);
        }
    }
    return { model, edits };
}

/* --- what is compared -------------------------------------------------------------------------------------------- */

const run = (...words) => spawnSync(attn, words, { encoding: 'utf8', maxBuffer: 1 << 28 });

function compare(place, numbers, lists, dtype) {
    const flat = lists.flat(Infinity);
    if (flat.length !== numbers.length) return failures.push(`${place}: ${numbers.length} numbers, attn has ${flat.length}`);
    flat.forEach((text, i) => {
        const other = readNumber(text, dtype), same = sameNumber(numbers[i], other, dtype);
        tally.numbers++;
        tally.same += same;
        if (!same && !(Math.abs(numbers[i] - other) <= TOLERANCE * Math.max(1, Math.abs(other))))
            failures.push(`${place}: the page has ${numbers[i]} at ${i}, attn ${other}`);
    });
}

/* Of attn's table the matrix of an item and a head, of key and value that of the head's group. */
function listsOf(model, saved, { name, perHead }, item, head) {
    const batch = model.job.has_batch || model.starts === 'operands', heads = model.starts === 'operands' || perHead;
    const group = /(key|value)$/.test(name) ? model.groups ? model.groups(head) : Math.floor(head / (model.heads / model.keyHeads)) : head;
    const ofItem = batch ? saved[name][item] : saved[name];
    return heads ? ofItem[group] : ofItem;
}

function compareAll(page, model, saved, place) {
    const evaluation = page.evaluate(model);
    const shown = evaluation.stages.filter(({ name }) => saved[name] !== undefined);
    if (shown.length < 4) failures.push(`${place}: only ${shown.length} stages are compared`);
    for (const stage of shown)
        for (let item = 0; item < model.items; item++)
            for (let head = 0; head < (stage.perHead ? model.heads : 1); head++)
                compare(`${place}, ${stage.name} of item ${item + 1}, head ${head + 1}`, evaluation.table(stage.name, item, head).numbers,
                    listsOf(evaluation.model, saved, stage, item, head), (stage.name === 'masked' && model.job.masked_dtype) || model.job.dtype);
}

/* The file that a page saves, computed by attn. */
function compareSaved(page, model, place) {
    const file = path.join(folder, 'saved.json');
    let text;
    try {
        text = page.saveJSON(model);
    } catch (error) {
        if (!(error instanceof page.Refusal)) throw error;
        reasons.set(error.message, (reasons.get(error.message) || 0) + 1);
        return tally.notSaved++;
    }
    fs.writeFileSync(file, text);
    mistakes.set(model.settings.mistake, (mistakes.get(model.settings.mistake) || 0) + 1);
    const mechanism = page.saveCommand(model, file).split(' ')[1], names = page.evaluate(model).stages.map(({ name }) => name);
    const stages = names.filter((name) => name !== 'heads' && !(mechanism === 'sdpa' && ['query', 'key', 'value'].includes(name)));
    const result = run(mechanism, file, '-f', 'json', '--stages', stages.join());
    if (result.status !== 0 || result.stderr !== '') return failures.push(`${place}: ${result.stderr.trim()}`);
    compareAll(page, model, JSON.parse(result.stdout), place);
    if (page.job.loss && model.settings.mistake === 'none' && page.saveCommand(model).includes('--grad')) compareGradients(page, model, mechanism, stages, file, place);
}

/* The gradients of the same file. */
function compareGradients(page, model, mechanism, stages, file, place) {
    const evaluation = page.evaluate(model), back = evaluation.gradients(), { dtype } = model.job, sdpa = mechanism === 'sdpa';
    const there = ([name]) => name !== 'grad_alibi_slopes' || JSON.parse(fs.readFileSync(file)).alibi_slopes;
    const held = heldGradients(back, ({ what, name, adds }) => what !== 'operand' && what !== 'position' && (name !== 'attn_mask' || adds)).filter(there);
    const made = evaluation.stages.filter(({ name }) => name === 'output' || !['heads', 'normed', 'entropy', 'output', 'embedded', 'probabilities'].includes(name));
    const wanted = [...made.map(({ name }) => `grad_${name}`), ...held.map(([name]) => (/^grad_(inputs|key_inputs|sinks|alibi_slopes|attn_mask)$/.test(name) ? name : 'grad_parameters'))];
    const loss = page.saveCommand(model).endsWith('ones') ? 'ones' : file;
    const result = run(mechanism, file, '-f', 'json', '--grad', loss, '--stages', [...new Set(wanted)].join());
    if (result.status !== 0 || result.stderr !== '') return failures.push(`${place}: ${result.stderr.trim()}`);
    const saved = JSON.parse(result.stdout);
    for (const [name, numbers] of held) compare(`${place}, ${name}`, Array.from(numbers, page.round), saved[name], dtype);
    for (const stage of made)
        for (let item = 0; item < model.items; item++)
            for (let head = 0; head < (stage.perHead ? model.heads : 1); head++)
                compare(`${place}, grad_${stage.name} of item ${item + 1}, head ${head + 1}`, page.gradientTable(evaluation, stage.name, item, head).numbers,
                    listsOf(evaluation.model, { [stage.name]: saved[`grad_${stage.name}`] }, stage, item, head), dtype);
}

/* The products that a gradient lists come to it, as far as their digits and the dtype of their factors tell. */
function checkSum(page, explained, wanted, at) {
    const read = (text) => Number(text.replace('−', '-').replace('∞', 'Infinity'));
    for (const table of explained.all((one) => one.attributes.class === 'products')) {
        const products = table.all((one) => one.name === 'tr').slice(1, -1).map((line) => read(line.children[line.children.length - 1].textContent));
        const sum = products.reduce((whole, one) => whole + one, 0), size = products.reduce((whole, one) => whole + Math.abs(one), 0);
        const slack = products.length * 10 ** -page.job.precision + (page.job.dtype.startsWith('f8') ? 2 ** -9 : 0) + size * ({ f32: 1e-4, f64: 1e-4 }[page.job.dtype] || 0.3);
        if (!(Math.abs(sum - read(wanted)) <= slack) && Number.isFinite(sum)) failures.push(`${at}: the products come to ${sum}, not ${wanted}`);
    }
}

/* The arithmetic of a random cell of each stage: what is shown comes to what is shown, and to the cell itself. */
function checkExplained(page, model, place) {
    const evaluation = page.evaluate(model), { judge } = readPage(page.job.dtype, page.job.precision, page.job.softmax_dtype);
    for (const { name } of [...evaluation.stages, ...Array.from(model.tables.values(), ({ name }) => ({ name }))]) {
        const item = upTo(model.items - 1), head = upTo(model.heads - 1), layer = page.state.layer;
        const { rows, columns, numbers, masked } = layer === 'gradients' ? page.gradientTable(evaluation, name, item, head) : evaluation.table(name, item, head);
        const row = upTo(rows - 1), column = upTo(columns - 1), explained = evaluation.explain(name, item, head, row, column);
        if (layer === 'gradients' && masked && masked.every(Boolean)) continue; // none
        const lines = explained.all((one) => one.attributes.class === 'formula').map((line) => line.textContent);
        const results = explained.all((one) => one.name === 'output').map((one) => one.textContent), wanted = page.numberText(numbers[row * columns + column]);
        const at = `${place}, ${name} of item ${item + 1}, head ${head + 1}, row ${row + 1}, column ${column + 1}`;
        const isShown = /[=≈]|allows this query no key/.test(explained.textContent) || !Number.isFinite(numbers[row * columns + column]) || name === 'heads';
        tally.explained++;
        if (evaluation.wrong.includes(name) && !isShown) failures.push(`${at}: the mistake ${model.settings.mistake} does not show how it arises`);
        if (layer === 'gradients') checkSum(page, explained, wanted, at);
        if (!results.includes(wanted)) failures.push(`${at}: ${wanted} is not among ${results}`);
        for (const [line, held] of judge(lines)) {
            tally.lines++;
            if (!held) failures.push(`${at}: ${line}`);
        }
    }
}

function checkLink(page, model, edits, place) {
    const again = page.linkToState(page.stateToLink(edits)).reduce((before, edit) => page.applyEdit(before, edit), page.modelOf(page.job));
    const hostile = ['#', '#x', '#[1]', '#%5B', '#[{"do":"number"}]', '#[{"do":"without","token":-1}]', '#[{"do":"without","token":99}]', '#[null]',
        '#[{"do":"constructor"}]', '#[{"do":"number","table":"inputs","at":["0",0],"to":1}]', '#[{"do":"add","token":"a","numbers":[1e999]}]',
        '#[{"do":"setting","name":"mistake","to":"toString"}]', '#[{"do":"setting","name":"scale","to":"1"}]', `#[${'{"do":"x"},'.repeat(2000)}1]`];
    for (const hash of hostile) if (page.linkToState(hash).length > 0) failures.push(`${place}: the link ${hash} is taken`);
    const texts = [model, again].map((one) => JSON.stringify([...one.tables.values()].map(({ name, numbers }) => [name, [...numbers]]).concat([one.settings, one.keyTexts])));
    if (texts[0] !== texts[1]) failures.push(`${place}: the link holds other edits`);
}

/* A file with a gradient, which is the job's own last stage. */
function drawLoss(mechanism, input, file, options) {
    const last = input?.unembedding ? 'logits' : ['multihead', 'layer'].includes(mechanism) ? 'output' : 'context', loss = path.join(folder, 'loss.json');
    const made = run(mechanism, file, ...options, '-f', 'json', '--stages', last);
    fs.writeFileSync(loss, JSON.stringify(made.status === 0 ? { [`grad_${last}`]: JSON.parse(made.stdout)[last] } : {}));
    return loss;
}

function checkJob(seed) {
    draw = generatorOf(seed);
    const make = one(KINDS), { mechanism, input, options, file = path.join(folder, 'input.json') } = make();
    if (input) fs.writeFileSync(file, JSON.stringify(input));
    if (chance(0.3) && !options.includes('--query')) options.push('--grad', chance(0.6) ? 'ones' : drawLoss(mechanism, input, file, options));
    const made = run(mechanism, file, ...options, '-f', 'html');
    if (made.status !== 0) { // options that do not go together
        const reason = made.stderr.split('\n')[0];
        reasons.set(reason, (reasons.get(reason) || 0) + 1);
        return;
    }
    const page = loadPage(made.stdout, NAMES), place = `seed ${seed} (${mechanism} ${options.join(' ')})`, first = page.modelOf(page.job);
    tally.jobs++;
    compareSaved(page, first, `${place}, as it was made`);
    for (let round = 0; round < 2; round++) {
        const { model, edits } = editAtRandom(page, first, from(1, 6));
        compareSaved(page, model, `${place}, ${JSON.stringify(edits)}`);
        checkExplained(page, model, `${place}, ${JSON.stringify(edits)}`);
        if (page.job.loss && model.settings.mistake === 'none') {
            page.state.layer = 'gradients';
            checkExplained(page, model, `${place}, ${JSON.stringify(edits)}, gradients`);
            page.state.layer = 'numbers';
        }
        checkLink(page, model, edits, place);
    }
}

for (let seed = Number(firstSeed), last = seed + Number(count); seed < last; seed++) {
    try {
        checkJob(seed);
    } catch (error) {
        failures.push(`seed ${seed}: ${error.stack}`);
    }
}
if (process.env.ATTN_REASONS) console.log([...mistakes].map(([name, times]) => `${name} ${times}`).join(', '));
if (process.env.ATTN_REASONS) for (const [reason, times] of [...reasons].sort((a, b) => b[1] - a[1])) console.log(`${times}  ${reason}`);
for (const failure of failures.slice(0, 5)) console.log(`FAILED: ${failure}`);
console.log(`${tally.jobs} jobs, ${tally.edits} edits, ${tally.refused} refused, ${tally.notSaved} not saved: ${tally.numbers} numbers, ${tally.same} the same bits; ${tally.explained} cells explained in ${tally.lines} lines; ${failures.length} failures`);
process.exit(failures.length === 0 && tally.jobs > 0 ? 0 : 1);
