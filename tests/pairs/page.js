// SPDX-License-Identifier: MIT
/* Pages of -f html without a browser: the script of each runs over elements that hold what is written into them and draw
 * nothing. Its equations must give the numbers that attn prints as JSON for the same job, and no text that it shows of cells
 * of all tables may have a number that is none, or "−0". A page that does not end within
 * SECONDS is stopped.
 *
 *   node tests/pairs/page.js SECONDS PAGE.html...   beside each lies PAGE.expected, the JSON
 *
 * Prints "PAGE.html: what is wrong" for each page that does not hold, and at the end how many were tried: not all where too
 * many had to be stopped. */
'use strict';
const fs = require('fs');
const vm = require('vm');

const MOST_STOPPED = 4, MOST_COMPLAINTS = 3;
const SHOWN = 64; // cells of a page whose arithmetic is shown, at most

/* --- a document that draws nothing ------------------------------------------------------------------------------- */

const context2d = new Proxy({}, {
    get: (target, name) => (name === 'measureText' ? (text) => ({ width: 7 * text.length })
        : name in target ? target[name] : () => undefined),
});

const noClasses = { toggle: () => undefined, add: () => undefined, remove: () => undefined };

class Element {
    constructor(name = '') {
        Object.assign(this, { name, children: [], attributes: {}, style: { setProperty: () => undefined, removeProperty: () => undefined, getPropertyValue: () => '' }, dataset: {}, classList: noClasses,
            clientWidth: 800, value: '' });
    }
    get parentElement() { return new Element(); }
    get firstChild() { return this.children[0] || null; }
    get firstElementChild() { return this.children.find((child) => child instanceof Element) || null; }
    get lastChild() { return this.children[this.children.length - 1] || null; }
    get childElementCount() { return this.children.filter((child) => child instanceof Element).length; }
    get textContent() { return this.children.map((child) => (typeof child === 'string' ? child : child.textContent)).join(''); }
    textsOf(name) {
        if (this.attributes.class === name) return [this.textContent];
        return this.children.flatMap((child) => (typeof child === 'string' ? [] : child.textsOf(name)));
    }
    set textContent(text) { this.children = [String(text)]; }
    /* Those within it that are called so: ".class", or names of elements with commas between them. */
    querySelectorAll(selector) {
        const isIt = (one) => (selector.startsWith('.') ? (one.attributes.class || '').split(' ').includes(selector.slice(1))
            : selector.split(', ').includes(one.name));
        const inner = this.children.filter((child) => child instanceof Element);
        return inner.flatMap((child) => [...(isIt(child) ? [child] : []), ...child.querySelectorAll(selector)]);
    }
    querySelector(selector) { return this.querySelectorAll(selector)[0] || null; }
    append(...children) { this.children.push(...children.map((child) => (child instanceof Element ? child : String(child)))); }
    prepend(...children) { this.children.unshift(...children); }
    replaceChildren(...children) { this.children = []; this.append(...children); }
    getContext() { return context2d; }
    setAttribute(name, text) { this.attributes[name] = text; }
    addEventListener() {}
}

class ResizeObserver {
    observe() {}
}

class ImageData {
    constructor(width, height) {
        Object.assign(this, { width, height, data: new Uint8ClampedArray(4 * width * height) });
    }
}

/* What the page's script finds around it; `texts`: what the page holds in scripts that are data, by id. */
function makeWindow(texts) {
    const elements = new Map();
    const nothing = () => undefined;
    const document = {
        documentElement: new Element(), body: new Element(),
        createElement: (name) => new Element(name),
        querySelectorAll: () => [],
        getElementById: (id) => {
            if (!elements.has(id)) elements.set(id, new Element());
            if (texts.has(id)) elements.get(id).textContent = texts.get(id);
            return elements.get(id);
        },
    };
    return {
        document, elements, atob, devicePixelRatio: 1,
        matchMedia: () => new Element(), addEventListener: nothing, getComputedStyle: () => ({ fontSize: '16px' }), ImageData, ResizeObserver,
        location: { hash: '', href: '' }, innerWidth: 1000, innerHeight: 700, performance, setTimeout: nothing, requestAnimationFrame: nothing,
    };
}

/* --- what is compared -------------------------------------------------------------------------------------------- */

/* By how much a number may differ: the last digit of its dtype, whose exponential the C library and this machine may round
 * differently, and the least number. */
const DIGITS = { f64: [1e-12, 0], f32: [2 ** -22, 2 ** -149], f16: [2 ** -10, 2 ** -24], bf16: [2 ** -7, 2 ** -133],
    f8e4m3: [2 ** -3, 2 ** -9], f8e5m2: [2 ** -2, 2 ** -16] };

/* Behind the page's own script, with the JSON of the same job: what does not agree, as texts. */
const COMPARE = new vm.Script(`${fs.readFileSync(`${__dirname}/../page/formulas.js`, 'utf8')}
(expected, digits, most) => {
    const wrong = [], real = (item) => (item === null ? -Infinity : Number(item));
    const agree = (a, b) => Object.is(a, b) || Math.abs(a - b) <= digits[0] * Math.abs(b) + digits[1];
    const depth = (rows) => (Array.isArray(rows) ? 1 + depth(rows[0]) : 0);
    /* The heads of a packed context lie side by side. */
    const rowOf = (stage, item, head, row, size) => {
        const rows = job.has_batch ? expected[stage][item] : expected[stage];
        if (job.has_heads && depth(rows) === 2) return rows[row].slice(head * size, (head + 1) * size);
        return job.has_heads ? rows[head][row] : rows[row];
    };
    const compare = (stage, item, head, row, numbers) => {
        if (!(stage in expected) || !job.stages.some(([name]) => name === stage)) return;
        const right = rowOf(stage, item, head, row, numbers.length).map(real);
        const i = right.length === numbers.length ? right.findIndex((number, at) => !agree(numbers[at], number)) : 0;
        if (i >= 0)
            wrong.push(stage + ' of item ' + (item + 1) + ', head ' + (head + 1) + ', row ' + (row + 1) + ', number ' + (i + 1)
                + ' of ' + numbers.length + ' is ' + numbers[i] + ', attn has ' + right[i] + ' of ' + right.length);
    };
    const page = readPage(job.dtype, job.precision, job.softmax_dtype);
    const clean = before.stages.every(({ name, square }) => !square || name in expected) && !/"NaN"/.test(JSON.stringify(expected));
    const names = tableNames(), wrongText = clean ? /undefined|(?<!-)[−-]0(\\.0*)?(?![\\d.])|NaN/ : /undefined|(?<!-)[−-]0(\\.0*)?(?![\\d.])/;
    /* The arithmetic of a cell of a table. */
    const show = (name, row, column) => {
        const table = tableIn(before, name, state.head);
        choosePlace(name, row % table.rows, column % table.columns);
        showCellBar();
        showArithmetic();
        showContext();
        const text = byId('arithmetic').textContent + ' ' + byId('context').textContent, odd = text.match(wrongText);
        if (odd) wrong.push('it shows "' + text.slice(Math.max(odd.index - 40, 0), odd.index + 20) + '"');
        for (const [formula, held] of page.judge(byId('arithmetic').textsOf('formula')))
            if (!held) wrong.push('it shows ' + formula);
    };
    let shown = 0;
    for (let item = 0; item < job.items; item++)
        for (let head = 0; head < job.heads; head++)
            for (let row = 0; row < job.positions.length; row++) {
                const line = before.line(item, head, row);
                for (const stage of SQUARE_STAGES) compare(stage, item, head, row, line[stage]);
                compare('context', item, head, row, before.context(item, head, row));
                for (let key = 0; key < job.keys && shown < most; key++, shown++) {
                    state.item = item;
                    state.head = head;
                    forgetShown();
                    show(OPENS.find(stageOf), row, key);
                    show(names[shown % names.length], row, key);
                }
            }
    return wrong;
}`);

/* --- one page ---------------------------------------------------------------------------------------------------- */

const scripts = new Map(); // compiled, by their text: most pages have the same

function compile(text) {
    if (!scripts.has(text)) scripts.set(text, new vm.Script(text));
    return scripts.get(text);
}

function tryPage(html, expected, seconds) {
    const data = html.matchAll(/<script type="[^"]*" id="([^"]*)">([^<]*)<\/script>/g);
    const texts = new Map(Array.from(data, ([, id, text]) => [id, text]));
    const code = html.slice(html.lastIndexOf('<script>') + 8, html.lastIndexOf('</script>'));
    const room = vm.createContext(makeWindow(texts)), limit = { timeout: 1000 * seconds };
    compile(code).runInContext(room, limit);
    const compare = COMPARE.runInContext(room, limit);
    Object.assign(room, { compare, expected, digits: DIGITS[expected.settings.dtype], most: SHOWN });
    return new vm.Script('compare(expected, digits, most)').runInContext(room, limit);
}

const [seconds, ...pages] = process.argv.slice(2);
let tried = 0, stopped = 0;
for (const page of pages) {
    let wrong;
    if (stopped === MOST_STOPPED) break;
    tried++;
    const expected = fs.readFileSync(page.replace(/html$/, 'expected'), 'utf8');
    try {
        wrong = tryPage(fs.readFileSync(page, 'utf8'), JSON.parse(expected), Number(seconds));
    } catch (error) {
        stopped += error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
        wrong = [String(error.message)];
    }
    for (const text of wrong.slice(0, MOST_COMPLAINTS)) console.log(`${page}: ${text}`);
}
console.log(`${tried} pages`);
