// SPDX-License-Identifier: MIT
/* node tests/page/hands.js BROWSER PROFILE WORDS GRADIENTS: with a keyboard and a pointer as a user has them, on the page of a
 * sentence, and on one of gradients. Tab reaches everything in order, and each stop has a name; a number is dragged, and
 * nothing else moves; a misspelt word; the link; what is too long to be read; the paper. */
'use strict';
const { execFileSync } = require('child_process'), fs = require('fs'), path = require('path');
const { openBrowser, fileUrl } = require('./browser.js');
const [program, profile, words, gradients] = process.argv.slice(2);
const problems = [];
let checked = 0, failed = 0, browser = null, place = '';

function check(what, held) {
    checked++;
    if (held) return;
    failed++;
    console.log(`FAILED: ${place}: ${what}`);
}

const run = (work, ...given) => browser.run(`(${work})(${given.map((one) => JSON.stringify(one)).join()})`);
const idOfFocus = () => document.activeElement.id || document.activeElement.className;
const until = (condition) => new Promise((done) => { const look = () => (condition() ? done() : requestAnimationFrame(look)); look(); });

async function open(page, width, height) {
    place = `${path.basename(page)}, ${width} wide`;
    await browser.resize(width, height);
    await browser.open(fileUrl(page));
}

/* --- in the page --------------------------------------------------------------------------------------------------- */

const middleOf = async (id) => {
    const one = document.getElementById(id);
    one.scrollIntoView({ block: 'nearest' });
    for (let frame = 0; ; frame++) { // what moves away has gone
        await new Promise(requestAnimationFrame);
        const { left, top, width, height } = one.getBoundingClientRect(), at = [left + width / 2, top + height / 2];
        if (frame > 200 || (frame > 1 && one.contains(document.elementFromPoint(...at)))) return at;
    }
};

const middleOfCell = (name, row, column) => {
    const { card, canvas, layout } = flow.cards.get(name);
    card.scrollIntoView({ block: 'center' });
    const { left, top } = canvas.getBoundingClientRect();
    return [left + layout.left + (column + 0.5) * layout.cell, top + layout.top + (row + 0.5) * layout.cellHeight];
};

/* Where each element stands that is seen, but those that grow with a number. */
const boxes = () => Array.from(document.querySelectorAll('body *:not(#drag-tip, .formula *, .bar, .zero, .weight-bar, .guess-bar)'), (one) => {
    const { left, top, width, height } = one.getBoundingClientRect(), isSeen = width > 0 && getComputedStyle(one).visibility === 'visible';
    return isSeen ? `${one.id || one.tagName}: ${[left + scrollX, top + scrollY, width, height].map((size) => size.toFixed(1))}` : null;
});

/* The stop of the Tab key: its name, and whether it is seen. */
const stop = () => {
    const one = document.activeElement, [label] = one.labels || [], { width, height } = one.getBoundingClientRect();
    const name = one.getAttribute('aria-label') || (label || one).textContent.trim();
    return { id: one.id || one.className, name: one === document.body ? '' : name, seen: width * height > 0 };
};

/* What is narrower than its text: fields, buttons and labels. */
const cut = (within) => {
    const context = document.createElement('canvas').getContext('2d');
    const room = (one) => one.clientWidth - parseFloat(getComputedStyle(one).paddingLeft) - parseFloat(getComputedStyle(one).paddingRight);
    const isCut = (one) => {
        context.font = getComputedStyle(one).font;
        return one.localName === 'input' ? context.measureText(one.value).width > room(one) : one.scrollWidth > one.clientWidth + 1;
    };
    return Array.from(document.querySelectorAll(`${within} :is(input[type="number"], input[type="text"], button, label, dd, .walk-label)`))
        .filter((one) => one.getClientRects().length > 0 && !one.matches('.unseen') && isCut(one)).map((one) => one.id || one.textContent);
};

/* --- with hands ---------------------------------------------------------------------------------------------------- */

async function click(id) {
    const at = await run(middleOf, id);
    for (const type of ['move', 'down', 'up']) await browser.point(type, ...at);
}

async function type(text) {
    for (const letter of text) await browser.press(letter);
}

async function tryTab() {
    const stops = [];
    do {
        await browser.press('Tab');
        stops.push(await run(stop));
    } while (stops.length < 80 && stops[stops.length - 1].name !== '');
    stops.pop();
    const ids = stops.map(({ id }) => id), wanted = ['walk-open', 'drawer-open', 'text-field', 'token-name', 'add-open', 'head-0', 'large', 'by-row', 'multiple-0', 'head-in-0', 'guess', 'card-name'];
    check(`Tab goes from the first to the last control, in order: ${ids}`, String(wanted.filter((id) => ids.includes(id)).sort((a, b) => ids.indexOf(a) - ids.indexOf(b))) === String(wanted));
    check('a token is one stop', !ids.includes('cross') && ids.filter((id) => id === 'token-name').length === 8);
    check('each stop is seen', stops.every(({ seen, id }) => seen || id.startsWith('head-')));
    check('and says what it is', stops.some(({ name }) => name === 'dogs, weight 1.00') && stops.some(({ name }) => name === 'bark, 0.6755'));
    await browser.press('Tab', true);
    check('and back', (await run(idOfFocus)) === 'card-name');
}

async function tryKeys() {
    await run(() => { scrollTo(0, 0); }); // its column follows the window
    await click('large');
    const first = await run(() => JSON.stringify(lookedAt()));
    await browser.press('ArrowUp');
    await browser.press('ArrowLeft');
    const now = await run(() => JSON.stringify(lookedAt()));
    check(`arrows choose a cell: ${first}, ${now}`, now !== first);
    check('which is read aloud', (await run(() => byId('spoken').textContent)).includes('weights, row'));
    await run(() => { chooseTable('inputs'); byId('large').focus(); });
    const was = await run(() => cellAt && byId('cell-number').value);
    await browser.press('Enter');
    await type('9');
    await run(until.toString().replace('condition()', "byId('cell-number').value === '9'"));
    check('Enter opens a field, where a number counts as it is typed', (await run(() => byId('cell-number').value)) === '9');
    await browser.press('Escape');
    check('Escape takes it back', (await run(() => byId('cell-number').value)) === was && !(await run(() => isEdited())) && (await run(idOfFocus)) === 'large');
    await click('drawer-open');
    check('a click opens the drawer', (await run(idOfFocus)) === 'drawer-title');
    check(`nothing in the drawer is cut: ${await run(cut, '#drawer')}`, (await run(cut, '#drawer')).length === 0);
    check('and it has no second scroll bar', await run(() => byId('drawer').scrollWidth <= byId('drawer').clientWidth));
    check('it is in the window', await run(() => byId('drawer').getBoundingClientRect().left >= 0));
    await browser.press('Escape');
    check('Escape closes it', (await run(idOfFocus)) === 'drawer-open');
}

async function tryDrag(name) {
    const at = await run(middleOfCell, name, 1, 1), before = await run(boxes), was = await run((of) => numberAt(of, { row: 1, column: 1 }), name);
    await browser.point('move', ...at);
    await browser.point('down', ...at);
    for (const by of [6, 14, 25, 40]) {
        await browser.point('move', at[0] + by, at[1]);
        await run(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        const now = await run(boxes), moved = now.filter((box, i) => before[i] !== null && box !== before[i]);
        check(`nothing moves while a number is dragged: ${moved.slice(0, 3)} of ${moved.length}`, moved.length === 0 && now.length === before.length);
    }
    await browser.point('up', at[0] + 40, at[1]);
    check('and it is another number', (await run((of) => numberAt(of, { row: 1, column: 1 }), name)) > was);
    await run(() => go(0));
}

async function tryWords() {
    await click('text-field');
    await browser.press('End');
    await type(' dosg');
    check('near words are suggested for one that is none', (await run(() => Array.from(byId('text-words').children, (one) => one.textContent))).includes('dogs'));
    check('which the page says', /^This model does not know “dosg”\. Did you mean “dogs?”\? It knows: today/.test(await run(() => byId('text-lacks').textContent)));
    await browser.press('Enter');
    check('Enter takes the nearest', (await run(() => tokenNames().slice(-2).join(' '))).startsWith('cat do'));
    await run(() => { go(0); });
}

async function tryLink() {
    await run(() => { tryEdit({ do: 'text', words: ['the', 'dog', 'near', 'the', 'cats'] }, null); });
    const why = await run(() => byId('prediction-why').textContent);
    check(`why this word: ${why}`, /^Without head 1 \(subject\), which looks at dog with 1\.00, the share of barks falls to 0/.test(why));
    await click('drawer-open');
    await click('copy-link');
    await run(until.toString().replace('condition()', "byId('told').textContent !== ''"));
    check('the link says that it is of this computer', /^The link to this file on this computer/.test(await run(() => byId('told').textContent)));
    const link = await run(() => byId('copied-text').value);
    await browser.open('about:blank');
    await browser.open(link);
    check('and brings the sentence back', (await run(() => tokenNames().join(' '))) === 'the dog near the cats');
}

async function tryPaper(name) {
    const file = `${profile}-${name}.pdf`;
    fs.writeFileSync(file, Buffer.from(await browser.paper(), 'base64'));
    await run(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    check('the page is back from paper', await run(() => layouts.large.canvasWidth === byId('large').parentElement.clientWidth));
    let text = '';
    try {
        text = execFileSync('pdftotext', ['-layout', file, '-'], { encoding: 'utf8' });
    } catch {
        return console.log('pdftotext is not installed: what is on which sheet is not checked');
    }
    const sheets = text.split('\f').slice(0, -1);
    check(`three sheets at most: ${sheets.length}`, sheets.length <= 3);
    check('the first has the sentence and what follows from it', /looks at/.test(sheets[0]) && /next word/.test(sheets[0]) && /The context of/.test(sheets[0]));
    return check('the flow is not torn', !/From inputs to output/.test(sheets[0]) && /From inputs to output/.test(sheets[1]));
}

async function main() {
    browser = await openBrowser(program, profile, problems);
    for (const [width, height] of [[375, 700], [1280, 800], [1920, 1080]]) {
        await open(words, width, height);
        check(`nothing is cut: ${await run(cut, 'body')}`, (await run(cut, 'body')).length === 0);
        await tryDrag('inputs');
        await tryDrag('W_key');
        await tryPaper(width);
        await tryKeys();
    }
    await open(words, 1280, 800);
    await tryTab();
    await tryWords();
    await tryLink();
    await open(gradients, 1280, 800);
    await click('layer-gradients');
    check('gradients are a layer over the tables', await run(() => state.layer === 'gradients' && byId('flow').classList.contains('back')));
    await run(() => { byId('walk-open').click(); });
    check(`no label of the walk is cut: ${await run(cut, '#walk')}`, (await run(cut, '#walk')).length === 0);
    for (const problem of problems) check(problem, false);
    await browser.close();
    console.log(`${path.basename(program)}: ${checked} checked, ${failed} failed`);
    process.exit(failed > 0 ? 1 : 0);
}

main().catch((error) => {
    console.log(`FAILED: ${place}: ${error.stack}`);
    process.exit(1);
});
