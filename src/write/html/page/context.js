// SPDX-License-Identifier: MIT
/* How the context of the chosen query is built up: each key's weight times its value, one after another. */

const MOST_SHARES = 6, MOST_BARS = 2;

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

/* Each row's label, weight and share; the sums before and after it. */
function contextRows(line) {
    const shown = shownShares(line), listed = new Set(shown);
    const rest = Array.from(line.dropped.keys())
        .filter((key) => !listed.has(key) && (line.empty || line.bias[key] > -Infinity));
    let sum = new Float64Array(valuesNow().columns);
    return shown.map((key) => {
        const keys = key === null ? rest : [key], share = shareOf(line, keys);
        const next = sum.map((number, column) => number + share[column]);
        const weight = keys.reduce((sum, one) => sum + line.dropped[one], 0);
        const row = { key, others: rest.length, weight, share, from: sum, to: next };
        sum = next;
        return row;
    });
}

/* --- few columns: a number, and a bar from the sum before to the sum after ----------------------------------------- */

function waterfall(from, to, least, most) {
    const share = shareBetween(least, most), place = (number) => 100 * share(number);
    const bar = element('span', { class: to < from ? 'bar minus' : 'bar' });
    bar.style.left = `${Math.min(place(from), place(to))}%`;
    bar.style.width = `${Math.max(Math.abs(place(to) - place(from)), 0.6)}%`;
    const zero = element('span', { class: 'zero' });
    zero.style.left = `${place(0)}%`;
    return element('span', { class: 'waterfall', 'aria-hidden': 'true' }, zero, bar);
}

function barCells(rows, context) {
    const ranges = Array.from(context, (number, column) => {
        const sums = [0, number, ...rows.flatMap((row) => [row.from[column], row.to[column]])].filter(Number.isFinite);
        return [Math.min(...sums), Math.max(...sums)];
    });
    const cell = (number, from, to, column) =>
        element('td', {}, amongText(number, Math.abs(context[column])), waterfall(from, to, ...ranges[column]));
    return {
        ofRow: (row) => Array.from(row.share, (number, column) => cell(number, row.from[column], row.to[column], column)),
        ofTotal: () => Array.from(context, (number, column) => cell(number, 0, number, column)),
    };
}

/* --- many columns: a strip of colours ---------------------------------------------------------------------------- */

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

function stripCells(rows, context) {
    const scale = colourScale([...context, ...rows.flatMap((row) => Array.from(row.share))], true);
    const most = Math.max(...context.map(Math.abs));
    const cell = (numbers) => element('td', { class: 'wide' }, stripCanvas(numbers, scale),
        element('span', { class: 'numbers' }, endsText(numbers, most)));
    return { ofRow: (row) => [cell(row.share)], ofTotal: () => [cell(context)] };
}

/* --- the table --------------------------------------------------------------------------------------------------- */

function weightCell(weight, most) {
    const bar = element('span', { class: 'weight-bar', 'aria-hidden': 'true' });
    bar.style.width = `${100 * Math.min(1, Math.max(0, weight / most || 0))}%`;
    return element('td', { class: 'weight' }, amongText(weight, most), bar);
}

function contextHead(narrow, dropped) {
    const columns = narrow ? Array.from({ length: valuesNow().columns }, (nothing, i) => `× ${valuesNow().name} ${i + 1}`) : [`× ${valuesNow().name}`];
    return element('thead', {}, element('tr', {}, ...['key', dropped ? 'dropped' : 'weight', ...columns].map((text) =>
        element('th', { scope: 'col' }, text))));
}

function contextRow(sides, row, most, cells) {
    const label = row.key === null ? `${row.others} others` : tokenElement(sides.keyName(row.key));
    const attributes = row.key !== null && row.key === sides.place.key ? { class: 'looked' } : {};
    return element('tr', attributes, element('th', { scope: 'row' }, label), weightCell(row.weight, most),
        ...cells.ofRow(row));
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
    const rows = wrong ? [] : contextRows(line), narrow = context.length <= MOST_BARS;
    const cells = (narrow ? barCells : stripCells)(rows, context), most = Math.max(...rows.map((row) => row.weight), 0);
    const total = element('tr', { class: 'total', id: 'context-total' },
        element('th', { scope: 'row', colspan: '2' }, 'context'), ...cells.ofTotal());
    const note = wrong ? [element('p', { class: 'note' }, `A mistake on purpose: ${stageOf('context').formula}.`)] : [];
    byId('context').replaceChildren(...note, element('table', { class: narrow ? 'shares' : 'shares wide', style: `--columns: ${narrow ? context.length : 2}` },
        element('caption', { class: 'unseen' }, 'What each key gives to the context'),
        contextHead(narrow, stageOf('dropped')),
        element('tbody', {}, ...rows.map((row) => contextRow(sides, row, most, cells))),
        element('tfoot', {}, total)));
    byId('context-of').textContent = sides.queryTitle(sides.place.row);
}
