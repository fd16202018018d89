/* Numbers and tokens as a reader sees them. */

/* Fixed decimals; a decimal that lies halfway goes to the even digit, as printf rounds it and toFixed does not. */
function fixedDecimals(number, decimals) {
    const text = number.toFixed(decimals);
    const exact = number.toFixed(Math.min(decimals + 60, 100));
    const halfway = /^50*$/.test(exact.slice(exact.indexOf('.') + 1 + decimals));
    if (!halfway || '02468'.includes(text[text.length - 1])) return text;
    const unit = 10 ** -decimals;
    return (number - Math.sign(number) * unit / 2).toFixed(decimals);
}

/* As attn prints it: fixed decimals, and an exponent outside 1e-4 .. 1e6. */
function numberText(number, decimals = job.precision) {
    if (Number.isNaN(number)) return 'NaN';
    if (!Number.isFinite(number)) return number > 0 ? '∞' : '−∞';
    const magnitude = Math.abs(number);
    const text = magnitude === 0 || (magnitude >= 1e-4 && magnitude < 1e6)
        ? fixedDecimals(magnitude, decimals) : magnitude.toExponential(decimals);
    return (number < 0 ? '−' : '') + text;
}

/* The label of a key, or of the query of a row; '' where it has none. */
function keyLabel(item, key) {
    return job.tokens ? job.tokens[job.tokens.length > 1 ? item : 0][key] : '';
}

function queryLabel(item, row) {
    return job.labelled_queries ? keyLabel(item, job.first_query + job.positions[row]) : '';
}

/* The label, or the position where there is none, counted from 1. */
const keyName = (item, key) => keyLabel(item, key) || String(key + 1);
const queryName = (item, row) => queryLabel(item, row) || String(job.positions[row] + 1);

const queryTitle = (item, row) => queryLabel(item, row) || `query ${job.positions[row] + 1}`;

/* An element with attributes, and with children or text: text is never read as HTML. */
function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    made.append(...children);
    return made;
}

/* A token from the input: its direction stays its own. */
function tokenElement(text) {
    return element('bdi', { class: 'token', title: text }, text);
}
