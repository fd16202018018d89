// SPDX-License-Identifier: MIT
/* A page of -f html without a browser: its script, all but the last line, which begins to draw, run on the numbers that
 * the page holds; and numbers as attn prints them in JSON. */
'use strict';
const vm = require('vm');

/* As much of an element as text needs. */
class Element {
    constructor(name) {
        Object.assign(this, { name, attributes: {}, children: [] });
    }

    setAttribute(name, value) {
        this.attributes[name] = value;
    }

    append(...children) {
        this.children.push(...children);
    }

    addEventListener() {}

    get textContent() {
        return this.children.map((child) => (child instanceof Element ? child.textContent : child)).join('');
    }

    /* It and all within it that `held` is true of. */
    all(held) {
        const within = this.children.filter((child) => child instanceof Element).flatMap((child) => child.all(held));
        return held(this) ? [this, ...within] : within;
    }
}

const scripts = {}; /* compiled once: all pages have the same */

/* `names` of the page's script, as an object. */
function loadPage(page, names) {
    const dataOf = (id) => {
        const element = new RegExp(`<script[^>]* id="${id}">([^<]*)</script>`).exec(page);
        return element ? { textContent: element[1] } : null;
    };
    const context = vm.createContext({ document: { getElementById: dataOf, createElement: (name) => new Element(name) }, matchMedia: () => ({ matches: false }), atob });
    const script = page.slice(page.lastIndexOf('<script>') + '<script>'.length, page.lastIndexOf('</script>'));
    scripts[script] = scripts[script] || new vm.Script(script.replace(/\nstart\(\);\s*$/, ''));
    scripts[script].runInContext(context);
    return vm.runInContext(`({ ${names.join(', ')} })`, context);
}

/* All numbers of so many bits, `exponents` of them for the exponent, from the least to the largest that is finite: float8_e4m3fn
 * has finite ones where others have infinity. */
function numbersOfBits(bits, exponents, finite = false) {
    const fractions = bits - 1 - exponents, bias = 2 ** (exponents - 1) - 1, numbers = [];
    for (let exponent = 0; exponent < 2 ** exponents - !finite; exponent++)
        for (let fraction = 0; fraction < 2 ** fractions - (finite && exponent === 2 ** exponents - 1); fraction++)
            numbers.push((fraction + (exponent > 0 ? 2 ** fractions : 0)) * 2 ** (Math.max(exponent, 1) - bias - fractions));
    return numbers;
}

/* The nearest of them, of two as near the even one. JSON has the shortest decimal that reads back to the number. */
function nearest(numbers, number) {
    const magnitude = Math.abs(number);
    let low = 0, high = numbers.length - 1;
    while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (numbers[middle] <= magnitude) low = middle;
        else high = middle;
    }
    const below = magnitude - numbers[low], above = numbers[high] - magnitude;
    return Math.sign(number) * numbers[below < above || (below === above && low % 2 === 0) ? low : high];
}

const readers = { f32: Math.fround, f64: Number };

function readerOf(dtype) {
    if (!readers[dtype]) {
        const numbers = numbersOfBits(...{ f16: [16, 5], bf16: [16, 8], f8e4m3: [8, 4, true], f8e5m2: [8, 5] }[dtype]);
        readers[dtype] = (number) => nearest(numbers, number);
    }
    return readers[dtype];
}

/* A number of JSON in that dtype: null is minus infinity, and a string what is infinite or no number. */
function readNumber(number, dtype) {
    return number === null ? -Infinity : typeof number === 'string' ? Number(number) : readerOf(dtype)(number);
}

/* The same number; in float64, where exp and tanh are those of another library, but for the last bits. */
function sameNumber(number, other, dtype) {
    if (dtype !== 'f64' || !Number.isFinite(number) || !Number.isFinite(other))
        return number === other || (Number.isNaN(number) && Number.isNaN(other));
    return Math.abs(number - other) <= 2 ** -50 * Math.abs(other);
}

/* The gradients of a page with respect to inputs, parameters and masks, [name in attn's JSON, numbers as attn stores them]. */
function heldGradients({ tables }, held = (table) => table.what !== 'operand') {
    const stored = ({ shape: [rows, columns], numbers, transposed }) => (transposed
        ? numbers.map((nothing, i) => numbers[(i % rows) * columns + Math.floor(i / rows)]) : numbers);
    return Array.from(tables.values()).filter(held).map((table) => [`grad_${table.name}`, stored(table)]);
}

module.exports = { loadPage, heldGradients, readNumber, sameNumber };
