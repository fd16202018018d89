// SPDX-License-Identifier: MIT
/* Numbers and tokens as the reader sees them. */

/* `text` is a number above 0 rounded to so many decimals, `exact` has all its digits. Rounds ties to even, as printf
 * does; toFixed and toExponential round them up. */
function halfToEven(text, exact, decimals) {
    const end = exact.indexOf('.') + 1 + decimals, below = exact.slice(0, decimals > 0 ? end : end - 1);
    return /^50*$/.test(exact.slice(end)) && '02468'.includes(below[below.length - 1]) ? below : text;
}

/* Enough decimals to detect a tie. */
const manyDecimals = (decimals) => Math.min(decimals + 60, 100);

/* Whether rounding a number above 0 to so many decimals may be a tie: most are ruled out at once. */
function mayBeHalfway(number, decimals) {
    const units = number * 10 ** decimals;
    return !(Math.abs(units - Math.floor(units) - 0.5) > 1e-6);
}

function fixedDecimals(number, decimals) {
    if (!mayBeHalfway(number, decimals)) return number.toFixed(decimals);
    return halfToEven(number.toFixed(decimals), number.toFixed(manyDecimals(decimals)), decimals);
}

function exponentDecimals(number, decimals) {
    const text = number.toExponential(decimals), [exact, exponent] = number.toExponential(manyDecimals(decimals)).split('e');
    const digits = text.split('e')[0], even = halfToEven(digits, exact, decimals);
    return even === digits ? text : `${even}e${exponent}`;
}

/* As text_wants_exponent: outside 1e-4 .. 1e6. 0.0001 in float32 lies a little below 1e-4. */
const wantsExponent = (magnitude) => magnitude !== 0 && (magnitude < 0.999999e-4 || magnitude > 1e6);

/* No sign on a number that shows as zero. */
const signed = (number, text) => (number < 0 && /[1-9]/.test(text) ? '−' : '') + text;

/* As attn prints it: fixed decimals, or an exponent. */
function numberText(number, decimals = job.precision) {
    if (Number.isNaN(number)) return 'NaN';
    if (!Number.isFinite(number)) return number > 0 ? '∞' : '−∞';
    const magnitude = Math.abs(number);
    const text = (wantsExponent(magnitude) ? exponentDecimals : fixedDecimals)(magnitude, decimals);
    return signed(number, text);
}

/* A number among others, of which `most` is the largest: "≈0" where it would need an exponent, and they do not. */
const amongText = (number, most) => (number !== 0 && Math.abs(number) < 1e-4 && most >= 1e-4 ? '≈0' : numberText(number));

const plural = (count, word, many = word + 's') => `${count} ${count === 1 ? word : many}`;

/* An element with attributes, and with children or text, which is never read as HTML. */
function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    made.append(...children);
    return made;
}

/* A token of the input, isolated: it may run right to left. */
function tokenElement(text) {
    return element('bdi', { class: 'token', title: text }, text);
}
