// SPDX-License-Identifier: MIT
/* What a page shows, read as a person reads it, for a page of that dtype and --precision: numbers, and formulas that hold
 * as far as their digits tell. */
const readPage = (dtype, precision, softmaxDtype = dtype) => {
    /* --- numbers ------------------------------------------------------------------------------------------------- */

    const readNumber = (text) => Number(text.replace(/−/g, '-').replace('∞', 'Infinity').replace('≈0', '0'));

    /* JSON has the shortest decimal that reads back to the number in its dtype. */
    const toBrain = (number) => {
        const bits = new DataView(new ArrayBuffer(4));
        bits.setFloat32(0, number);
        const there = bits.getUint32(0);
        bits.setUint32(0, there + 0x7fff + ((there >>> 16) & 1) & 0xffff0000);
        return bits.getFloat32(0);
    };
    const toFew = (digits, least) => (number) => {
        const step = Math.max(least, 2 ** (Math.floor(Math.log2(Math.abs(number))) + 1 - digits)), steps = Math.abs(number) / step;
        const up = steps % 1 > 0.5 || (steps % 1 === 0.5 && Math.floor(steps) % 2 === 1);
        return Math.sign(number) * (Math.floor(steps) + up) * step;
    };
    const readers = { f32: Math.fround, f64: Number, f16: Math.f16round, bf16: toBrain, f8e4m3: toFew(4, 2 ** -9), f8e5m2: toFew(3, 2 ** -16) };
    const reader = readers[dtype];
    const expectedNumber = (number) => (number === null ? -Infinity : typeof number === 'string' ? Number(number) : reader(number));

    /* The shown text is the number rounded to the digits that it has. */
    const agrees = (text, number) => {
        const shown = readNumber(text), exact = expectedNumber(number);
        if (!Number.isFinite(exact)) return Object.is(shown, exact);
        const [digits, exponent] = text.split('e'), point = digits.indexOf('.');
        const unit = 10 ** (Number((exponent || '0').replace('−', '-')) - (point < 0 ? 0 : digits.length - point - 1));
        return Math.abs(shown - exact) <= unit / 2 * (1 + 1e-9);
    };

    /* --- arithmetic ------------------------------------------------------------------------------------------------ */

    /* What a number of the page may be off by: half of its last digit. One with fewer decimals than asked for is exact. */
    const slackOf = (text) => {
        if (text === '≈0') return 1e-4;
        const [digits, exponent] = text.split('e'), decimals = (digits.split('.')[1] || '').length;
        return decimals < precision ? 0 : 10 ** (Number(exponent || 0) - decimals) / 2;
    };

    /* The value of "−0.2 / √2" or "exp(0.2 − (−0.3))", with `shift` of its slack added to the number at that place. */
    const evaluate = (text, place = -1, shift = 0) => {
        const words = text.match(/[\d.]+(e[+-]?\d+)?|∞|NaN|exp|tanh|[-+×/√()^]/g);
        let at = 0, numbers = 0;
        const functions = { exp: Math.exp, tanh: Math.tanh, '√': Math.sqrt, '-': (number) => -number };
        const factor = () => {
            const word = words[at++];
            if (functions[word]) return functions[word](factor());
            if (word !== '(') return readNumber(word) + (numbers++ === place ? shift * slackOf(word) : 0);
            const inner = sum();
            at++;
            return inner;
        };
        const power = () => {
            const value = factor();
            return words[at] === '^' ? at++ && value ** factor() : value;
        };
        const product = () => {
            let value = power();
            while (words[at] === '×' || words[at] === '/') value = words[at++] === '×' ? value * power() : value / power();
            return value;
        };
        const sum = () => {
            let value = product();
            while (words[at] === '+' || words[at] === '-') value = words[at++] === '+' ? value + product() : value - product();
            return value;
        };
        return sum();
    };

    /* By how much a number of a dtype may be off, relative to it, and at least. */
    const LEAST = { f32: 2 ** -149, f64: 0, f16: 2 ** -24, bf16: 2 ** -133, f8e4m3: 2 ** -9, f8e5m2: 2 ** -16 };
    const ROUNDING = { f32: 1e-6, f64: 1e-12, f16: 1e-3, bf16: 8e-3, f8e4m3: 0.125, f8e5m2: 0.25 };
    const rounding = Math.max(ROUNDING[dtype], ROUNDING[softmaxDtype]);
    const least = Math.max(LEAST[dtype], LEAST[softmaxDtype]);

    /* Whether the shown result is what the shown operands come to, as far as their digits tell. */
    const holds = (left, right) => {
        const plain = left.replace(/−/g, '-'), value = evaluate(plain), shown = readNumber(right);
        if (Number.isNaN(value) && !/∞|NaN/.test(plain)) return false;
        if (!Number.isFinite(value) || !Number.isFinite(shown)) return true;
        // float8_e4m3fn ends at 448: what is beyond it becomes that.
        if (dtype === 'f8e4m3' && Math.abs(shown) === 448 && Math.abs(value) > 448 && value * shown > 0) return true;
        let slack = slackOf(right.replace('−', '')) + rounding * Math.abs(shown);
        (plain.match(/\d+(\.\d+)?/g) || []).forEach((number, place) => {
            slack += Math.max(...[-1, 1].map((shift) => Math.abs(evaluate(plain, place, shift) - value)));
        });
        // Where both factors are off, so is their product by that much more: all of it where both are shown as 0.
        for (const [, one, other] of plain.matchAll(/([\d.]+(?:e[+-]?\d+)?) × \(?-?(?=([\d.]+(?:e[+-]?\d+)?))/g))
            slack += slackOf(one) * slackOf(other);
        return !Number.isFinite(slack) || Math.abs(value - shown) <= slack * (1 + 1e-6) + least + 1e-300;
    };

    /* Whether it is, but for the last bits of a double. */
    const isExact = (left, right) => {
        const plain = left.replace(/−/g, '-'), value = evaluate(plain), shown = readNumber(right);
        const numbers = (plain.match(/\d+(\.\d+)?/g) || []).map(Number);
        const adds = / [+-] /.test(plain.replace(/ \/ \(1 - .*\)/, '')) && !plain.includes('exp');
        const largest = Math.max(Math.abs(value), ...(adds ? numbers : []));
        return Object.is(value, shown) || (Math.abs(value - shown) <= 1e-14 * largest && (shown === 0 || Math.abs(shown) > 1e-14 * largest));
    };

    /* Whether a number is shown that was computed here, from numbers of JSON. */
    const shows = (text, number) => (Number.isFinite(number)
        ? Math.abs(readNumber(text) - number) <= slackOf(text.replace('−', '')) * (1 + 1e-6) + rounding * Math.abs(number)
        : Object.is(readNumber(text), number));

    /* "0.2 / √2 ≈ 0.1414", and "0.5 × (1, 2)" above "= (0.5, 1)": each with whether it holds, and whether "=" stands where
     * it does exactly. */
    const judge = (lines) => {
        const judged = [];
        for (const line of lines) {
            const [left, sign, right] = line.split(/ ([=≈]) /);
            if (right === undefined) continue;
            judged.push([line, holds(left, right)], [`${line}, exactly or nearly`, (sign === '=') === isExact(left, right)]);
        }
        const vector = lines.findIndex((line) => /^[=≈] \(/.test(line));
        if (vector < 0) return judged;
        const numbersOf = (text) => text.slice(text.indexOf('(') + 1, -1).split(', ');
        const weight = lines[vector - 1].split(' ')[0], shares = numbersOf(lines[vector]);
        numbersOf(lines[vector - 1]).forEach((value, i) => {
            if (value !== '…')
                judged.push([`${weight} × ${value} = ${shares[i]}`, holds(`${weight} × (${value})`, shares[i])]);
        });
        return judged;
    };

    return { expectedNumber, readNumber, rounding, agrees, slackOf, judge, shows };
};
