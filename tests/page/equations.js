// SPDX-License-Identifier: MIT
/* node tests/page/equations.js PAGE JSON: the equations of a page, run without a browser on the numbers that the page
 * holds, against what attn prints as JSON for the same job. Every stage is the same number in the working dtype; in
 * float64, where exp and tanh are those of another library, but for the last bits. */
'use strict';
const fs = require('fs');
const { loadPage, heldGradients, readNumber, sameNumber } = require('./load.js');

const [page, json] = process.argv.slice(2).map((path) => fs.readFileSync(path, 'utf8'));
const expected = JSON.parse(json);
const failures = [], only = expected.settings.head; // with --head the JSON has one head
let compared = 0;

const { job, modelOf, evaluate, lastStep, rotationOf, round, numberText, colourScale, gradientTable, SQUARE_STAGES, ROW_STATISTICS } =
    loadPage(page, ['job', 'modelOf', 'evaluate', 'lastStep', 'rotationOf', 'round', 'numberText', 'colourScale', 'gradientTable', 'SQUARE_STAGES', 'ROW_STATISTICS']);
const evaluation = evaluate(modelOf(job));

function check(place, held) {
    compared++;
    if (!held) failures.push(place);
}

/* --- what is compared ----------------------------------------------------------------------------------------------- */

const dtypeOf = (stage) => (stage === 'masked' && job.masked_dtype) || job.dtype;

/* Axes for items and heads are there where the job has them; in the context of packed heads these lie side by side. */
function rowOf(stage, item, of, row) {
    const head = only ? 0 : of;
    const rows = job.has_batch ? expected[stage][item] : expected[stage];
    if (stage in ROW_STATISTICS) return [readNumber((job.has_heads ? rows[head] : rows)[row], job.dtype)];
    const packed = job.has_heads && !Array.isArray(rows[0][0]);
    const numbers = packed ? rows[row].slice(head * job.d_value, (head + 1) * job.d_value)
        : job.has_heads ? rows[head][row] : rows[row];
    return numbers.map((number) => readNumber(number, dtypeOf(stage)));
}

function checkRow(stage, numbers, item, head, row) {
    rowOf(stage, item, head, row).forEach((number, i) =>
        check(`${stage} of item ${item + 1}, head ${head + 1}, row ${row + 1}, column ${i + 1}: the page has ${numbers[i]}, attn ${number}`,
            sameNumber(numbers[i], number, dtypeOf(stage))));
}

/* A row of query or key is what its last step makes of the row before it: each pair rotated, the rest as it was, all of it
 * scaled. */
function checkWay(side, item, head, index) {
    const last = lastStep(evaluation, side, item, head, index), name = `${side} of item ${item + 1}, head ${head + 1}, row ${index + 1}`;
    const scaled = (number) => (last.scale === 1 ? round(number) : round(round(number) * last.scale));
    const made = Array.from(last.before, scaled);
    for (let pair = 0; pair < job.pairs.length && last.position !== null; pair++) {
        const { angle, cosine, sine } = rotationOf(last.position, pair), size = Math.hypot(cosine, sine);
        const [first, second, toFirst, toSecond] = job.pairs[pair], [a, b] = [last.before[first], last.before[second]];
        made[toFirst] = scaled(a * cosine - b * sine);
        made[toSecond] = scaled(b * cosine + a * sine);
        for (const [shown, exact] of [[cosine, Math.cos(angle)], [sine, Math.sin(angle)]])
            check(`${name}: the rotation of pair ${pair + 1}`, Math.abs(shown / size - exact) < 1e-2);
    }
    made.forEach((number, column) => check(`${name}, column ${column + 1}: made ${number}, there is ${last.made[column]}`,
        sameNumber(number, last.made[column], job.dtype)));
}

function checkWays() {
    for (const side of Object.keys(job.ways).filter((side) => job.ways[side].from && !(job.wrong || []).includes(side)))
        for (let item = 0; item < job.items; item++)
            for (let head = 0; head < job.heads; head++)
                for (let row = 0; row < (side === 'query' ? job.positions.length : job.keys); row++) checkWay(side, item, head, row);
}

/* The stages of one head, and query, key and value, whose rows of keys are those of the head's group. */
function checkHead(item, head) {
    const there = evaluation.stages.filter(({ name, perHead }) => perHead || !job.has_heads).map(({ name }) => name);
    for (const stage of new Set([...there, ...job.stages.map(([name]) => name).filter((name) => SQUARE_STAGES.includes(name) || name in ROW_STATISTICS), 'context'])) {
        if (!expected[stage]) continue;
        const { rows, columns, numbers } = evaluation.table(stage, item, head), ofKeys = /(key|value)$/.test(stage);
        const of = ofKeys ? Math.floor(head / (job.heads / job.key_heads)) : head;
        for (let row = 0; row < rows; row++)
            checkRow(stage, numbers.slice(row * columns, (row + 1) * columns), item, of, row);
    }
}

/* Tables of all heads together. */
function checkOutput(item, stage) {
    if (!expected[stage] || !evaluation.stages.some(({ name }) => name === stage)) return;
    const { rows, columns, numbers } = evaluation.table(stage, item), lists = job.has_batch ? expected[stage][item] : expected[stage];
    for (let row = 0; row < rows; row++)
        lists[row].forEach((number, i) => check(`${stage} of item ${item + 1}, row ${row + 1}, column ${i + 1}`,
            sameNumber(numbers[row * columns + i], readNumber(number, job.dtype), job.dtype)));
}

/* With --grad, the gradients with respect to all tables: in double on both sides, whose sums may differ in their last bits. */
function checkGradients() {
    const near = (a, b) => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b));
    const compareAll = (name, numbers, lists) => lists.flat(Infinity).forEach((number, i) =>
        check(`${name}, number ${i + 1}: the page has ${numbers[i]}, attn ${number}`, near(numbers[i], readNumber(number, job.dtype))));
    for (const [name, numbers] of heldGradients(evaluation.gradients())) if (expected[name]) compareAll(name, numbers, expected[name]);
    for (const { name, perHead } of evaluation.stages.filter((stage) => expected[`grad_${stage.name}`]))
        for (let item = 0; item < job.items; item++) {
            const all = expected[`grad_${name}`], ofItem = job.has_batch ? all[item] : all;
            const packed = name === 'context' && job.has_heads && !Array.isArray(ofItem[0][0]);
            for (let head = 0; head < (perHead ? job.heads : 1); head++) {
                const of = /(key|value)$/.test(name) ? Math.floor(head / (job.heads / job.key_heads)) : head;
                if (only && perHead && head !== only - 1) continue;
                const lists = packed ? ofItem.map((row) => row.slice(head * job.d_value, (head + 1) * job.d_value)) : perHead && job.has_heads ? ofItem[only ? 0 : of] : ofItem;
                compareAll(`grad_${name} of item ${item + 1}, head ${head + 1}`, gradientTable(evaluation, name, item, head).numbers, lists);
            }
        }
}

/* What stages are made of is told in the same words. */
function checkFormulas() {
    const told = Object.fromEntries(job.stages);
    for (const { name, formula } of job.wrong ? [] : evaluation.stages)
        if (name in told) check(`${name} = ${formula}, attn has ${told[name]}`, formula === told[name]);
}

function checkJob() {
    for (let item = 0; item < job.items; item++) {
        for (let head = 0; head < job.heads; head++) if (!only || head === only - 1) checkHead(item, head);
        for (const stage of ['embedded', 'output', 'residual', 'logits', 'probabilities']) checkOutput(item, stage);
    }
}

/* Which notation a number has is asked as text.c asks it: 0.0001 in float32 lies a little below it. */
function checkTexts() {
    const cases = [[1e6, '1000000.00'], [-1e6, '−1000000.00'], [1000001, '1.00e+6'], [Math.fround(1e-4), '0.00'],
        [9.99e-5, '9.99e-5'], [1125000, '1.12e+6'], [1375000, '1.38e+6'], [0, '0.00'], [-0, '0.00'], [-0.125, '−0.12'], [1e21, '1.00e+21'], [NaN, 'NaN'],
        [-Infinity, '−∞']];
    for (const [number, text] of cases)
        check(`${number} is ${numberText(number, 2)}, not ${text}`, numberText(number, 2) === text);
    for (const [number, text] of [[-0.3, '0'], [-0.5, '0'], [-0.6, '−1'], [-1e-5, '−1e-5'], [-2, '−2']])
        check(`${number} is ${numberText(number, 0)}, not ${text}`, numberText(number, 0) === text);
}

/* The difference of the largest numbers is none that a double holds, nor is the half of the smallest. */
function checkColours() {
    for (const most of [Number.MAX_VALUE, Number.MIN_VALUE, 1]) {
        const scale = colourScale([most, -most, 0, Infinity], true);
        for (const [number, place] of [[most, 255], [-most, 0], [0, 128], [Infinity, 255], [-Infinity, 0]])
            check(`the colour of ${number} is ${scale.place(number)}, not ${place}`, scale.place(number) === place);
    }
}

checkTexts();
checkColours();
const before = compared;
checkJob();
checkWays();
if (job.loss) checkGradients();
checkFormulas();
check('no stage is compared', compared > before);
for (const failure of failures.slice(0, 5)) console.log(`FAILED: ${failure}`);
console.log(`${compared - failures.length} numbers are the same, ${failures.length} are not`);
if (failures.length > 0) process.exitCode = 1;
