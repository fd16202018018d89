// SPDX-License-Identifier: MIT
/* How the context of the chosen query is built up: each key's weight times its value. */

const MOST_SHARES = 6;

function valuesNow() {
    const { model } = shownEvaluation();
    return { columns: model.dValue, numbers: shownEvaluation().taken('value', state.item, keyHeadOf(model, state.head)), name: shownEvaluation().mistake.taken?.value || 'value' };
}

/* The keys to show, in order: all, or those with the largest weights and null for the rest. */
function shownShares(line) {
    const keys = Array.from(line.dropped.keys()).filter((key) => line.empty || line.bias[key] > -Infinity);
    if (keys.length <= MOST_SHARES) return keys;
    const heaviest = keys.slice().sort((a, b) => line.dropped[b] - line.dropped[a] || a - b).slice(0, MOST_SHARES - 2);
    return [...heaviest.sort((a, b) => a - b), null];
}

/* What some keys add to the context together, (d_v). */
function shareOf(line, keys) {
    const { columns, numbers } = valuesNow(), share = new Float64Array(columns);
    for (const key of keys)
        for (let column = 0; column < columns; column++)
            share[column] += line.dropped[key] * numbers[key * columns + column];
    return share;
}

/* Of each row the key, null for the others, its weight and its share. */
function contextRows(line) {
    const shown = shownShares(line), allowed = Array.from(line.dropped.keys()).filter((key) => line.empty || line.bias[key] > -Infinity);
    return shown.map((key) => {
        const keys = key === null ? allowed.filter((one) => !shown.includes(one)) : [key];
        return { key, others: keys.length, weight: sumOf(keys.map((one) => line.dropped[one])), share: shareOf(line, keys) };
    });
}

/* --- the table: strips of colours, and their numbers --------------------------------------------------------------- */

function stripCanvas(numbers, scale) {
    const canvas = element('canvas', { class: 'strip', 'aria-hidden': 'true', width: String(numbers.length), height: '1' });
    const picture = new ImageData(numbers.length, 1);
    numbers.forEach((number, i) => picture.data.set([...cellColour(number, false, scale), 255], i * 4));
    canvas.getContext('2d').putImageData(picture, 0, 0);
    return canvas;
}

function endsText(numbers, most) {
    const texts = Array.from(numbers, (number) => amongText(number, most));
    return `(${(texts.length <= 4 ? texts : [...texts.slice(0, 2), '…', ...texts.slice(-2)]).join(', ')})`;
}

function contextRow(label, numbers, scale, most, ...weight) {
    return [element('th', { scope: 'row' }, label), ...weight, element('td', { class: 'wide' }, stripCanvas(numbers, scale),
        element('span', { class: 'numbers' }, endsText(numbers, most)))];
}

/* The row of the context that the shares add up to, (d_v). */
function contextNow(row) {
    const { columns, numbers } = shownEvaluation().table('context', state.item, state.head);
    return numbers.subarray(row * columns, (row + 1) * columns);
}

function showContext() {
    byId('context-panel').hidden = !stageOf('context');
    if (!stageOf('context')) return;
    const sides = sidesNow(), line = lineOf(state.item, state.head, sides.place.row), context = contextNow(sides.place.row);
    const wrong = job.isWrong('context') || shownEvaluation().made.context; /* the shares do not add up to a context that a mistake made */
    const rows = wrong ? [] : contextRows(line), heaviest = Math.max(...rows.map(({ weight }) => weight), 0);
    const scale = colourScale([...context, ...rows.flatMap(({ share }) => Array.from(share))], true), most = largestMagnitude(context);
    const rowOf = ({ key, others, weight, share }) => element('tr', key !== null && key === sides.place.key ? { class: 'looked' } : {},
        ...contextRow(key === null ? `${others} others` : tokenElement(sides.keyName(key)), share, scale, most, element('td', { class: 'weight' }, amongText(weight, heaviest))));
    const heads = ['key', stageOf('dropped') ? 'dropped' : 'weight', `× ${valuesNow().name}`].map((text) => element('th', { scope: 'col' }, text));
    byId('context').replaceChildren(...(wrong ? [noteLine(`${ON_PURPOSE.slice(0, -1)}: ${stageOf('context').formula}.`)] : []), element('table', { class: 'shares' },
        element('caption', { class: 'unseen' }, 'What each key gives to the context'), element('thead', {}, element('tr', {}, ...heads)),
        element('tbody', {}, ...rows.map(rowOf)),
        element('tfoot', {}, element('tr', { class: 'total', id: 'context-total' }, ...contextRow('context', context, scale, most)))));
    byId('context-of').textContent = sides.queryTitle(sides.place.row);
}
