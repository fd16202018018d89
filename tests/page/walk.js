// SPDX-License-Identifier: MIT
/* node tests/page/walk.js PAGE MANUAL: every sentence of the page's guided walk stands word for word in the manual: as mandoc
 * prints it; where there is no mandoc, letter by letter in the source without its macros. */
'use strict';
const fs = require('fs'), { spawnSync } = require('child_process');
const { loadPage } = require('./load.js');

const [pagePath, manualPath] = process.argv.slice(2);
const { WALK } = loadPage(fs.readFileSync(pagePath, 'utf8'), ['WALK']);

const printed = spawnSync('mandoc', ['-T', 'utf8', manualPath], { encoding: 'utf8', maxBuffer: 1 << 26 });
const hasMandoc = printed.status === 0 && printed.stdout.length > 1000;

/* Of the source what is text: a line without its macro; and of a macro line no other macros. */
const sourceText = (source) => source.split('\n').map((line) => line.replace(/^\.\\".*/, '').replace(/^\.[A-Z][a-z]\b/, '')
    .replace(/\b(Dq|Ql|Li|Em|Va|Fl|Ar|Cm|Nm|Pa|Sx|Xr|Ev)\b/g, '').replace(/\\&|\\-/g, '')).join(' ');
const plain = hasMandoc ? (text) => text.replace(/.\x08/gu, '').replace(/\s+/g, '') : (text) => text.replace(/[^A-Za-z0-9]/g, '');
const manual = plain(hasMandoc ? printed.stdout : sourceText(fs.readFileSync(manualPath, 'utf8')));

const sentences = WALK.flatMap(({ text }) => text), missing = sentences.filter((sentence) => !manual.includes(plain(sentence)));
for (const sentence of missing) console.log(`FAILED: not in the manual: ${sentence}`);
console.log(`${WALK.length} steps, ${sentences.length} sentences, ${missing.length} not in the manual`);
process.exit(missing.length > 0 || WALK.length < 10 || sentences.length < 30 ? 1 : 0);
