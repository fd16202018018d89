// SPDX-License-Identifier: MIT
/* node tests/page/walk.js MANUAL FOLDER: the guided walk. Its general sentences stand word for word in the manual: as
 * mandoc prints it; where there is no mandoc, letter by letter in the source without its macros. Its other sentences speak of
 * a page's own numbers: for every FOLDER/NAME.page each of these is the number that attn prints in NAME.json, rounded, their sums
 * hold, and what is called the largest is. Without ATTN_WHOLE it takes one cell in five of a page. */
'use strict';
const fs = require('fs'), path = require('path'), { spawnSync } = require('child_process');
const { loadPage, readNumber } = require('./load.js');

const [manualPath, folder] = process.argv.slice(2);
const failures = [], seen = new Set();
const apart = process.env.ATTN_WHOLE ? 1 : 5;
let compared = 0, sentencesRead = 0, steps = [];

const check = (what, held) => {
    compared++;
    if (!held) failures.push(what);
};

/* --- in the manual ------------------------------------------------------------------------------------------------- */

const printed = spawnSync('mandoc', ['-T', 'utf8', manualPath], { encoding: 'utf8', maxBuffer: 1 << 26 });
const hasMandoc = printed.status === 0 && printed.stdout.length > 1000;

/* Of the source what is text: a line without its macro; and of a macro line no other macros. */
const sourceText = (source) => source.split('\n').map((line) => line.replace(/^\.\\".*/, '').replace(/^\.[A-Z][a-z]\b/, '')
    .replace(/\b(Dq|Ql|Li|Em|Va|Fl|Ar|Cm|Nm|Pa|Sx|Xr|Ev)\b/g, '').replace(/\\&|\\-/g, '')).join(' ');
const plain = hasMandoc ? (text) => text.replace(/.\x08/gu, '').replace(/\s+/g, '') : (text) => text.replace(/[^A-Za-z0-9]/g, '');
const manual = plain(hasMandoc ? printed.stdout : sourceText(fs.readFileSync(manualPath, 'utf8')));

/* --- a page -------------------------------------------------------------------------------------------------------- */

const digitsOf = (text) => text.replace(/[()]/g, '').replace('−', '-').replace('∞', 'Infinity');

/* Whether the text is the number, rounded to the decimals that it has. */
function isRounded(text, number) {
    const shown = Number(digitsOf(text)), [, decimals = '', exponent = '0'] = /^-?\d+(?:\.(\d+))?(?:e(.*))?$/.exec(digitsOf(text)) || [];
    if (!Number.isFinite(number)) return Object.is(shown, number);
    return Math.abs(shown - number) <= 0.5000001 * 10 ** (Number(exponent) - decimals.length);
}

/* "a × b + c = d", of the numbers as shown: exact after "=", else as close as these allow. */
function checkSum(place, text) {
    const found = /([^:;]*) ([=≈]) ([^ ]*)\.( |$)/.exec(text.split(': ').pop());
    if (!found || /[…√/t]/.test(found[1])) return;
    const factors = found[1].split(' + ').map((term) => term.split(' × ').map((one) => Number(digitsOf(one))));
    const sum = factors.reduce((whole, term) => whole + term.reduce((product, one) => product * one, 1), 0);
    const slack = found[2] === '=' ? 1e-9 : factors.reduce((whole, term) => whole + 0.02 + term.reduce((size, one) => size + 0.0051 * Math.abs(one), 0), 0.0051);
    check(`${place}: ${text}`, Math.abs(sum - Number(digitsOf(found[3]))) <= slack * Math.max(1, Math.abs(sum)));
}

function checkPage(name, page, expected) {
    const { job, state, WALK, stepsHere, walkPlace, walkSentences, walkValue, isStepWrong, shownEvaluation } =
        loadPage(page, ['job', 'state', 'WALK', 'stepsHere', 'walkPlace', 'walkSentences', 'walkValue', 'isStepWrong', 'shownEvaluation']);
    steps = WALK;
    const tables = shownEvaluation().model.tables;

    /* The number that attn prints for a cell of a table; undefined where it prints none. */
    const printedNumber = (table, row, column, head = state.head) => {
        const read = (number) => (number === undefined ? number : readNumber(number, (table === 'masked' && job.masked_dtype) || job.dtype));
        if (table === 'heads' && job.given.without_heads) return undefined;
        if (table === 'heads') {
            const [context, gate = 1] = ['context', 'gate'].map((of) => printedStage(of, Math.floor(column / job.d_value), row, column % job.d_value));
            return context === undefined ? context : context * gate;
        }
        const held = tables.get(table) || tables.get(`heads.${state.head}.${table}`);
        if (!held || held.what !== 'parameter') return printedStage(table, head, row, column);
        const numbers = expected[held.name];
        return numbers && read(held.shape.length === 1 ? numbers[column] : held.transposed ? numbers[column][row] : numbers[row][column]);
    };
    const printedStage = (table, head, row, column) => {
        let rows = expected[table];
        if (!rows) return undefined;
        if (job.has_batch) rows = rows[state.item];
        const perHead = job.has_heads && !['inputs', 'key_inputs', 'normed', 'output', 'positions', 'embedded', 'residual', 'logits', 'probabilities'].includes(table), only = expected.settings.head;
        if (perHead && only && head !== only - 1) return undefined;
        const packed = perHead && !Array.isArray(rows[0][0]);
        const own = only ? 0 : /(key|value)$/.test(table) ? Math.floor(head * job.key_heads / job.heads) : head;
        const number = packed ? rows[row][own * job.d_value + column] : perHead ? rows[own][row][column] : rows[row][column];
        return readNumber(number, (table === 'masked' && job.masked_dtype) || job.dtype);
    };

    /* What a head adds to a word's logit: its context through its rows of out_proj. */
    const partOf = (head, row, word) => {
        const context = Array.from({ length: job.d_value }, (nothing, i) => printedStage('context', head, row, i));
        return expected['out_proj.weight'].reduce((sum, weights, out) =>
            sum + expected.unembedding[out][word] * context.reduce((part, number, i) => part + number * weights[head * job.d_value + i], 0), 0);
    };

    const headsIn = () => [...Array(job.heads).keys()].filter((head) => String(head + 1) !== job.given.without_heads);

    /* The share of a word without one of the heads, the least. */
    const leastShare = (row, word) => Math.min(...headsIn().map((head) => {
        const powers = expected.logits[row].map((logit, one) => Math.exp(readNumber(logit, job.dtype) - partOf(head, row, one)));
        return powers[word] / powers.reduce((sum, power) => sum + power, 0);
    }));

    /* What a head, the inputs or the positions add to the logit of the likeliest word; or its share without a head. */
    const checkPart = (place, table, text) => {
        const { row, words: [word] } = walkPlace(), along = (numbers) => numbers.reduce((sum, number, i) => sum + number * expected.unembedding[i][word], 0);
        const parts = table === 'probabilities' ? [leastShare(row, word)]
            : [...headsIn().map((head) => partOf(head, row, word)), along(expected.inputs[row]), along(expected.positions[row])];
        check(`${place}: ${text} is no part of ${parts}`, parts.some((part) => isRounded(text, part)));
    };

    const checkNumber = (place, cell, text) => {
        const [table, row, column, head] = JSON.parse(cell);
        if (row === null) return checkPart(place, table, text);
        const number = printedNumber(table, row, column, head);
        if (number !== undefined) check(`${place}: ${table}, row ${row + 1}, column ${column + 1} is ${text}, attn has ${number}`, isRounded(text, number));
    };

    const checkSentence = (place, sentence) => {
        const text = sentence.textContent, numbers = sentence.all(({ attributes }) => attributes.class === 'walk-number');
        sentencesRead++;
        for (const { attributes, textContent } of numbers) checkNumber(place, attributes['data-cell'], textContent);
        const others = sentence.all(({ attributes }) => attributes.class === 'walk-setting' || attributes.class === 'token' || attributes.class === 'walk-number')
            .reduce((rest, { textContent }) => rest.replace(textContent, ''), text);
        check(`${place}: a number that is of no table: ${text}`, !/\d\.\d|undefined|null/.test(others.replace('less than 0.01', '')));
        checkSum(place, text);
    };

    /* Its exponentials and their sum give the weight. */
    const checkSoftmax = (place, said, { line }) => {
        if (line.empty) return;
        const [, one, sum, share] = /: (\S+) \/ (\S+) ≈ (\S+)\.Of/.exec(said) || [], [, first, largest, power] = /e\^\((\S+) − (\S+)\) = (\S+) for/.exec(said) || [];
        const [a, b, c, x, y, z] = [one, sum, share, first, largest, power].map((text) => Number(digitsOf(text || 'NaN')));
        check(`${place}: ${one} / ${sum} is ${share}`, Math.abs(a / b - c) < 0.01 * Math.max(1, c) && Math.abs(Math.exp(x - y) - z) < 0.001 && z === a);
    };

    /* What is called the largest. */
    const checkRanks = (place, said, { row, key, keys }) => {
        const of = (table) => (expected[table] ? Array.from({ length: job.keys }, (nothing, one) => printedNumber(table, row, one)) : null);
        const scores = of('scores'), weights = of('weights'), largest = (list) => list.slice().sort((a, b) => b - a);
        if (scores && said.includes('largest score of the row')) check(`${place}: the largest score`, scores[key] === largest(scores)[0]);
        if (scores && said.includes('It is the largest score of the keys')) check(`${place}: the largest allowed score`, scores[key] === largest(keys.map((one) => scores[one]))[0]);
        const [first, second] = weights ? largest(keys.map((one) => weights[one])) : [];
        if (weights && said.includes('The others get less')) check(`${place}: the others`, second < 0.01 && weights[key] === first);
        const next = /The (next )?largest share, ([^ ]*),/.exec(said);
        if (weights && next) check(`${place}: the ${next[1] || ''}largest share`, isRounded(next[2], next[1] ? second : first));
    };

    const hidesKey = (row) => shownEvaluation().line(state.item, state.head, row).bias.includes(-Infinity);

    const checkPlace = () => {
        const place = walkPlace();
        for (const step of stepsHere()) {
            const where = `${name}, item ${state.item + 1}, head ${state.head + 1}, query ${place.row + 1}, key ${place.key + 1}: ${step.title}`;
            const sentences = walkSentences(step, place);
            check(`${where} says nothing`, sentences.length > 0);
            if (isStepWrong(step)) continue;
            seen.add(step.title);
            for (const sentence of sentences.slice(0, sentences.length - step.text.length)) checkSentence(where, sentence);
            if (step.table === 'scores' || step.table === 'weights') checkRanks(where, sentences.map(({ textContent }) => textContent).join(' '), place);
            if (step.table === 'weights' && step.title === 'Weights') checkSoftmax(where, sentences.map(({ textContent }) => textContent).join(''), place);
            if (step.row) check(`${where}: a row in which a key is masked`, place.model.rows.every((nothing, row) => !hidesKey(row)) || hidesKey(step.row(place)));
            const rows = step.draws(place);
            check(`${where}: its figure`, rows.length > 0 && rows.every(({ cells }) => cells.every((cell) => cell === null || !cell.name || walkValue(cell) !== undefined)));
        }
    };

    let cells = 0;
    for (state.item = 0; state.item < job.items; state.item++)
        for (state.head = 0; state.head < Math.min(job.heads, 3); state.head++)
            for (state.at.query = 0; state.at.query < Math.min(job.positions.length, 7); state.at.query += 2)
                for (state.at.key = state.at.query % 3; state.at.key < Math.min(job.keys, 7); state.at.key += 3)
                    if ((!expected.settings.head || state.head === expected.settings.head - 1) && cells++ % apart === 0) checkPlace();
}

for (const file of fs.readdirSync(folder).filter((one) => one.endsWith('.page'))) {
    const base = path.join(folder, path.basename(file, '.page'));
    try {
        checkPage(fs.readFileSync(`${base}.name`, 'utf8').trim(), fs.readFileSync(`${base}.page`, 'utf8'), JSON.parse(fs.readFileSync(`${base}.json`, 'utf8')));
    } catch (error) {
        failures.push(`${file}: ${error.stack}`);
    }
}

const lessons = steps.flatMap(({ text }) => text), missing = lessons.filter((sentence) => !manual.includes(plain(sentence)));
const unseen = steps.filter(({ title, tables: [table] }) => !seen.has(title) && !/^(embedded|residual|logits|probabilities)$/.test(table));
for (const sentence of missing) console.log(`FAILED: not in the manual: ${sentence}`);
for (const { title } of unseen) console.log(`FAILED: no page has the step ${title}`);
for (const failure of failures.slice(0, 8)) console.log(`FAILED: ${failure}`);
console.log(`${steps.length} steps, ${lessons.length} sentences of the manual, ${sentencesRead} sentences of pages, ${compared} comparisons, ${failures.length} failed`);
process.exit(missing.length + unseen.length + failures.length > 0 || steps.length < 10 || lessons.length < 20 || compared < 1000 ? 1 : 0);
