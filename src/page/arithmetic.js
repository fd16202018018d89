/* One cell with its arithmetic: from the products of query and key to the weight and the share of the context. */

const SHOWN_COLUMNS = 8, SHOWN_ENDS = 3;

/* Text and elements as one line: "score", " = ", 0.25. */
function formulaLine(...parts) {
    return element('p', { class: 'formula' }, ...parts);
}

/* A number behind a sign: a negative one in brackets. */
const operandText = (number) => (number < 0 ? `(${numberText(number)})` : numberText(number));

const result = (number, stage) => element('output', { class: 'result', 'data-stage': stage }, numberText(number));

function arithmeticStep(stage, title, ...parts) {
    return element('li', { class: 'step', 'data-step': stage },
        element('h3', {}, title, ' ', element('span', { class: 'why' }, job.formulas[stage] || '')), ...parts);
}

/* --- the dot product --------------------------------------------------------------------------------------------- */

/* The columns that are shown: all, or those at both ends with null between them. */
function shownColumns(columns, ends = SHOWN_ENDS) {
    if (columns <= SHOWN_COLUMNS) return Array.from({ length: columns }, (nothing, i) => i);
    const first = Array.from({ length: ends }, (nothing, i) => i);
    return [...first, null, ...first.map((i) => columns - ends + i)];
}

function tableRow(head, ...numbers) {
    return element('tr', {}, element('th', { scope: 'row' }, head),
        ...numbers.map((number) => element('td', {}, typeof number === 'number' ? numberText(number) : number)));
}

function elidedRow(products) {
    let sum = 0;
    for (const product of products.slice(SHOWN_ENDS, -SHOWN_ENDS)) sum += product;
    return tableRow('…', '', `${products.length - 2 * SHOWN_ENDS} more, together`, sum);
}

function dotTable(line, key) {
    const at = queryAt(line.item, line.head, line.row), from = (keysAt(line.item, line.head) + key) * job.d_head;
    const products = Array.from({ length: job.d_head }, (nothing, i) => job.query[at + i] * job.key[from + i]);
    const rows = shownColumns(job.d_head).map((i) => (i === null ? elidedRow(products)
        : tableRow(String(i + 1), job.query[at + i], job.key[from + i], products[i])));
    const heads = ['column', 'query', '× key', '= product'].map((text) => element('th', { scope: 'col' }, text));
    return element('table', { class: 'products' },
        element('caption', { class: 'unseen' }, 'The products of query and key'),
        element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows),
        element('tfoot', {}, element('tr', {}, element('th', { scope: 'row', colspan: '3' }, 'sum = score'),
            element('td', {}, result(line.scores[key], 'scores')))));
}

/* --- the steps --------------------------------------------------------------------------------------------------- */

function scaledStep(line, key) {
    const root = job.scale === 1 / Math.sqrt(job.d_head);
    const by = root ? [' / √', String(job.d_head)] : [' × ', operandText(job.scale)];
    return arithmeticStep('scaled', 'Scaled',
        formulaLine(numberText(line.scores[key]), ...by, ' = ', result(line.scaled[key], 'scaled')));
}

function cappedStep(line, key) {
    const cap = String(job.softcap);
    return arithmeticStep('capped', 'Capped', formulaLine(
        `${cap} × tanh(${numberText(line.scaled[key])} / ${cap}) = `, result(line.capped[key], 'capped')));
}

/* Why a key is forbidden, in words. */
function whyMasked(line, key) {
    const span = maskSpan(line.item, line.query), at = span.position + 1, name = `key ${key + 1}`;
    const where = span.position === line.query ? `query ${line.query + 1}` : `position ${at} of query ${line.query + 1}`;
    if (key >= span.length) return `${name} is behind the ${span.length} keys that this item has`;
    if (job.causal && key > span.position) return `${name} comes after ${where}: the causal mask`;
    if (job.right >= 0 && key > span.position + job.right) return `${name} is more than ${job.right} after ${where}: the window`;
    if (job.left >= 0 && key < span.position - job.left) return `${name} is more than ${job.left} before ${where}: the window`;
    return `attn_mask forbids ${name}`;
}

function maskedStep(line, key) {
    if (line.bias[key] === -Infinity)
        return arithmeticStep('masked', 'Masked',
            formulaLine('masked: ', result(-Infinity, 'masked')), element('p', { class: 'note' }, whyMasked(line, key)));
    const parts = [numberText(line.capped[key])];
    if (job.attn_mask && job.attn_mask.adds)
        parts.push(' + attn_mask ', operandText(attnMask(line.item, line.head, line.query, key)));
    if (job.alibi_slopes) {
        const distance = Math.abs(key - maskSpan(line.item, line.query).position);
        parts.push(` − slope ${operandText(job.alibi_slopes[line.head])} × distance ${distance}`);
    }
    if (parts.length === 1)
        return arithmeticStep('masked', 'Masked', formulaLine(result(line.masked[key], 'masked')),
            element('p', { class: 'note' }, 'The mask lets this key be seen.'));
    return arithmeticStep('masked', 'Masked', formulaLine(...parts, ' = ', result(line.masked[key], 'masked')));
}

const EMPTY_REASONS = { zero: 'its weights are 0', nan: 'its weights are NaN', mean: `each of its weights is 1 / ${job.keys}` };

function weightStep(line, key) {
    const weight = result(line.weights[key], 'weights');
    if (line.empty)
        return arithmeticStep('weights', 'Weight', formulaLine(weight),
            element('p', { class: 'note' }, `No key is seen by this query, so ${EMPTY_REASONS[job.empty_row]}.`));
    const sink = line.sink === null ? '' : `, the sink's exp(${numberText(line.sink - line.maximum)}) among them`;
    if (line.bias[key] === -Infinity)
        return arithmeticStep('weights', 'Weight', formulaLine(weight),
            element('p', { class: 'note' }, 'A masked key takes no part: its weight is exactly 0.'));
    return arithmeticStep('weights', 'Weight',
        formulaLine(`exp(${numberText(line.cast[key])} − ${operandText(line.maximum)}) = ${numberText(line.exponentials[key])}`),
        formulaLine(`${numberText(line.exponentials[key])} / ${numberText(line.sum)} = `, weight),
        element('p', { class: 'note' }, `${numberText(line.maximum)} is the largest score of this row, `
            + `${numberText(line.sum)} the sum of its exponentials${sink}.`));
}

function droppedStep(line, key) {
    const kept = isKept(line.item, line.head, line.row, key) || line.weights[key] === 0;
    return arithmeticStep('dropped', 'After dropout',
        formulaLine(kept ? `${numberText(line.weights[key])} / (1 − ${job.dropout}) = ` : 'dropped: ',
            result(line.dropped[key], 'dropped')));
}

function vectorText(numbers, ends = SHOWN_ENDS) {
    const shown = shownColumns(numbers.length, ends).map((i) => (i === null ? '…' : numberText(numbers[i])));
    return `(${shown.join(', ')})`;
}

function shareStep(line, key) {
    const from = (keysAt(line.item, line.head) + key) * job.d_value;
    const value = Array.from(job.value.subarray(from, from + job.d_value));
    return arithmeticStep('context', 'Share of the context',
        formulaLine(`${numberText(line.dropped[key])} × ${vectorText(value)}`),
        formulaLine('= ', element('output', { class: 'result' }, vectorText(value.map((number) => number * line.dropped[key])))));
}

function pairHeading(line, key) {
    const query = queryLabel(line.item, line.row), label = keyLabel(line.item, key);
    const end = (what, number, text) => element('span', { class: 'end' },
        element('span', { class: 'what' }, `${what} ${number}`), text ? tokenElement(text) : '');
    return element('p', { class: 'pair' }, end('query', line.query + 1, query),
        element('span', { class: 'arrow', 'aria-label': 'looks at' }, '→'), end('key', key + 1, label));
}

/* The steps as a list, of those stages that the page has. */
function showArithmetic(place, cell) {
    const line = lineOf(place.item, place.head, cell.row), key = cell.key;
    const steps = [
        ['scores', () => arithmeticStep('scores', 'Score', dotTable(line, key))],
        ['scaled', () => scaledStep(line, key)], ['capped', () => cappedStep(line, key)],
        ['masked', () => maskedStep(line, key)], ['weights', () => weightStep(line, key)],
        ['dropped', () => droppedStep(line, key)], ['context', () => shareStep(line, key)],
    ].filter(([stage]) => job.has(stage) && (stage !== 'dropped' || job.kept));
    byId('arithmetic').replaceChildren(pairHeading(line, key), element('ol', {}, ...steps.map(([, make]) => make())));
}

/* The same in a sentence, for those who listen. */
function spokenCell(place, cell) {
    const line = lineOf(place.item, place.head, cell.row), number = numberText(line[place.stage][cell.key]);
    const head = job.has_heads ? `head ${place.head + 1}, ` : '';
    const masked = line.bias[cell.key] === -Infinity ? ', masked' : '';
    return `${head}query ${line.query + 1} ${queryLabel(place.item, cell.row)}, key ${cell.key + 1} `
        + `${keyLabel(place.item, cell.key)}: ${place.stage} ${number}${masked}`;
}
