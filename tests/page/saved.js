// SPDX-License-Identifier: MIT
/* node tests/page/saved.js ATTN FOUND FOLDER: each file that a page has saved (a line "SAVED name base64" of FOUND) is given to
 * attn, in FOLDER, which has to compute what the page showed, to 1e-6. */
'use strict';
const fs = require('fs'), path = require('path'), { spawnSync } = require('child_process');

const [attn, found, folder] = process.argv.slice(2);
const failures = [];
let files = 0, compared = 0, largest = 0;

const readNumber = (number) => (number === null ? -Infinity : Number(number));

/* How far apart, relative to what is larger than 1. */
const apart = (a, b) => (Object.is(a, b) ? 0 : Math.abs(a - b) / Math.max(1, Math.abs(b)));
const isNear = (a, b) => apart(a, b) <= 1e-6;

/* A matrix of a stage in JSON, which has axes for items and heads only where the job has them. */
function matrixOf(stage, { item, head }, depth, { heads, keyHeads, name }) {
    const shared = name === 'key' || name === 'value' ? Math.floor(head * keyHeads / heads) : head;
    const axes = depth === 4 ? [item, shared] : depth === 3 ? [heads > 1 && name !== 'output' ? shared : item] : [];
    return axes.reduce((rows, i) => rows[i], stage);
}

const depthOf = (list) => (Array.isArray(list) ? 1 + depthOf(list[0]) : 0);

function compare(where, saved, json) {
    for (const [name, tables] of Object.entries(saved.tables)) {
        if (json[name] === undefined) {
            failures.push(`${where}: attn has no ${name}`);
            continue;
        }
        for (const table of tables) {
            const numbers = matrixOf(json[name], table, depthOf(json[name]), { ...saved, name }).flat().map(readNumber);
            const shown = table.numbers.map(Number), far = numbers.findIndex((number, i) => !isNear(shown[i], number));
            compared += shown.length;
            numbers.forEach((number, i) => { largest = Math.max(largest, apart(shown[i], number) || 0); });
            if (numbers.length !== shown.length) failures.push(`${where}: ${name} has ${numbers.length} numbers, on the page ${shown.length}`);
            else if (far >= 0) failures.push(`${where}: ${name}, item ${table.item + 1}, head ${table.head + 1}, number ${far}: ${shown[far]}, attn has ${numbers[far]}`);
        }
    }
}

for (const line of fs.readFileSync(found, 'utf8').split('\n').filter((one) => one.startsWith('SAVED '))) {
    const [, page, base64] = line.split(' '), saved = JSON.parse(Buffer.from(base64, 'base64').toString());
    const where = `${page}, ${saved.what}`, words = saved.command.split(' ').slice(1);
    fs.writeFileSync(path.join(folder, 'attention.json'), saved.text);
    const stages = ['--stages', Object.keys(saved.tables).join()];
    const run = spawnSync(path.resolve(attn), [...words, ...stages, '-f', 'json'], { cwd: folder, encoding: 'utf8' });
    files++;
    if (run.status !== 0) failures.push(`${where}: ${saved.command}: ${run.stderr}`);
    else compare(where, saved, JSON.parse(run.stdout));
}
for (const failure of failures.slice(0, 20)) console.log(`FAILED: ${failure}`);
console.log(`${files} files that pages saved, ${compared} numbers, at most ${largest} apart: ${failures.length} failures`);
process.exit(failures.length > 0 || files === 0 ? 1 : 0);
