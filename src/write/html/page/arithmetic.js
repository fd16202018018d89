/* One cell with its arithmetic: from the products of query and key to the weight and the share of the context. */

const SHOWN_COLUMNS = 8, SHOWN_ENDS = 3;

/* Text and elements as one line: "score", " = ", 0.25. */
function formulaLine(...parts) {
    return element('p', { class: 'formula' }, ...parts);
}

/* A number behind a sign: one with a sign of its own in brackets. */
function operandText(number) {
    const text = numberText(number);
    return text.startsWith('−') ? `(${text})` : text;
}

/* What the digits of a number say. */
const shownNumber = (number) => Number(numberText(number).replace('−', '-').replace('∞', 'Infinity'));

/* "=" where what is shown comes to the shown result, to the last digit that a double can tell, else "≈"; the terms of a
 * sum may be larger than the sum. */
function relation(value, number, largest = Math.abs(value)) {
    const shown = shownNumber(number);
    return Object.is(value, shown) || Math.abs(value - shown) <= 1e-14 * largest ? '=' : '≈';
}

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

const sumOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

/* The sum of the products that are not shown. */
const elidedSum = (products) => sumOf(products.slice(SHOWN_ENDS, -SHOWN_ENDS));

function elidedRow(products) {
    return tableRow('…', '', `${products.length - 2 * SHOWN_ENDS} more, together`, elidedSum(products));
}

function dotTable(line, key) {
    const at = queryAt(line.item, line.head, line.row), from = (keysAt(line.item, line.head) + key) * job.d_head;
    const products = Array.from({ length: job.d_head }, (nothing, i) => job.query[at + i] * job.key[from + i]);
    const shown = shownColumns(job.d_head);
    const rows = shown.map((i) => (i === null ? elidedRow(products)
        : tableRow(String(i + 1), job.query[at + i], job.key[from + i], products[i])));
    const terms = shown.map((i) => shownNumber(i === null ? elidedSum(products) : products[i]));
    const sign = relation(sumOf(terms), line.scores[key], sumOf(terms.map(Math.abs)));
    const heads = ['column', 'query', '× key', 'product'].map((text) => element('th', { scope: 'col' }, text));
    return element('table', { class: 'products' },
        element('caption', { class: 'unseen' }, 'The products of query and key'),
        element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows),
        element('tfoot', {}, element('tr', {}, element('th', { scope: 'row', colspan: '3' }, `sum ${sign} score`),
            element('td', {}, result(line.scores[key], 'scores')))));
}

/* --- query and key ------------------------------------------------------------------------------------------------- */

const SHOWN_PAIRS = 3;
const waysOpen = { query: false, key: false };

/* The indices that are shown: all, or the first two and the last with null between them. */
function shownFew(count) {
    return count <= SHOWN_PAIRS ? Array.from({ length: count }, (nothing, i) => i) : [0, 1, null, count - 1];
}

function wayResult(row, column) {
    return element('output', { class: 'result', 'data-operand': row.side, 'data-column': String(column) },
        numberText(job[row.side][row.at + column]));
}

/* "(a × cos − b × sin) × scale ≈ made" */
function turnedLine(row, sign, first, cosine, second, sine, column) {
    const { scale } = row.way, [x, c, y, s] = [first, cosine, second, sine].map(shownNumber);
    const products = sign === '−' ? x * c - y * s : x * c + y * s;
    const text = `${numberText(first)} × ${operandText(cosine)} ${sign} ${operandText(second)} × ${operandText(sine)}`;
    const relationText = relation(products * scale, job[row.side][row.at + column],
        (Math.abs(x * c) + Math.abs(y * s)) * Math.abs(scale));
    return formulaLine(scale === 1 ? text : `(${text}) × ${operandExact(scale)}`, ` ${relationText} `, wayResult(row, column));
}

/* A number of a setting, with all its digits. */
const operandExact = (number) => (number < 0 ? `(−${-number})` : String(number));

function pairLines(row, pair) {
    const { a, b, cosine, sine, frequency, angle, columns, to } = turnedPair(row, pair);
    return [
        element('p', { class: 'note' }, `columns ${columns[0] + 1} and ${columns[1] + 1}, position ${row.position}: `
            + `cosine ${numberText(cosine)}, sine ${numberText(sine)} of the angle`),
        formulaLine(`${row.position} × ${numberText(frequency)} `
            + `${relation(row.position * shownNumber(frequency), angle)} ${numberText(angle)}`),
        turnedLine(row, '−', a, cosine, b, sine, to[0]), turnedLine(row, '+', b, cosine, a, sine, to[1]),
    ];
}

/* A column that is scaled alone. */
function scaledLine(row, column) {
    const before = row.way.before[row.at + column], made = job[row.side][row.at + column];
    return formulaLine(`${numberText(before)} × ${operandExact(row.way.scale)} `
        + `${relation(shownNumber(before) * row.way.scale, made)} `, wayResult(row, column));
}

/* What is not turned: as it was, or times the scale. */
function restLines(row) {
    const turned = new Set(row.position === null ? [] : job.pairs.flatMap((pair) => pair.slice(2, 4)));
    const rest = Array.from({ length: job.d_head }, (nothing, i) => i).filter((i) => !turned.has(i));
    if (rest.length === 0) return [];
    const note = (text) => element('p', { class: 'note' }, text);
    if (row.way.scale !== 1)
        return shownFew(rest.length).map((i) => (i === null ? note('…') : scaledLine(row, rest[i])));
    if (row.way.positions && row.position === null) return [note('A key of the past is turned already.')];
    return [note(`${plural(rest.length, 'column is', 'columns are')} not turned.`)];
}

/* What query or key is made of, and its last step in numbers. */
function wayStep(side, title, line, index) {
    const way = job.ways[side], row = wayRow(side, line.item, line.head, index);
    const made = way.made.map(([name, formula]) => element('p', { class: 'why' }, `${name} = ${formula}`));
    const pairs = row.position === null ? [] : shownFew(job.pairs.length).flatMap((pair) => (pair === null
        ? [element('p', { class: 'note' }, `… ${plural(job.pairs.length - SHOWN_PAIRS, 'more pair')} …`)] : pairLines(row, pair)));
    const details = element('details', waysOpen[side] ? { open: '' } : {},
        element('summary', {}, 'how it is made'), ...made, ...(way.before ? [...pairs, ...restLines(row)] : []));
    details.addEventListener('toggle', () => { waysOpen[side] = details.open; });
    return arithmeticStep(side, `${title} ${(side === 'query' ? line.query : index) + 1}`, details);
}

/* --- the steps --------------------------------------------------------------------------------------------------- */

function scaledStep(line, key) {
    const root = job.scale === 1 / Math.sqrt(job.d_head);
    const by = root ? [' / √', String(job.d_head)] : [' × ', operandText(job.scale)];
    const score = shownNumber(line.scores[key]);
    const sign = relation(root ? score / Math.sqrt(job.d_head) : score * shownNumber(job.scale), line.scaled[key]);
    return arithmeticStep('scaled', 'Scaled',
        formulaLine(numberText(line.scores[key]), ...by, ` ${sign} `, result(line.scaled[key], 'scaled')));
}

function cappedStep(line, key) {
    if (!(job.softcap > 0))
        return arithmeticStep('capped', 'Capped', formulaLine(result(line.capped[key], 'capped')),
            element('p', { class: 'note' }, 'There is no softcap.'));
    const cap = String(job.softcap);
    const sign = relation(job.softcap * Math.tanh(shownNumber(line.scaled[key]) / job.softcap), line.capped[key]);
    return arithmeticStep('capped', 'Capped', formulaLine(
        `${cap} × tanh(${numberText(line.scaled[key])} / ${cap}) ${sign} `, result(line.capped[key], 'capped')));
}

/* Why a key is forbidden, in words. */
function whyMasked(line, key) {
    const span = maskSpan(line.item, line.query), at = span.position + 1, name = `key ${key + 1}`;
    const where = span.position === line.query ? `query ${line.query + 1}` : `position ${at} of query ${line.query + 1}`;
    if (key >= span.length) return `${name} is behind the ${span.length} keys that this item has`;
    if (job.causal && key > span.position) return `${name} comes after ${where}: the causal mask`;
    if (job.right >= 0 && key > span.position + job.right) return `${name} is more than ${job.right} after ${where}: the window`;
    if (job.left >= 0 && key < span.position - job.left) return `${name} is more than ${job.left} before ${where}: the window`;
    return `${job.mask_made ? 'the mask with the mistake' : 'attn_mask'} forbids ${name}`;
}

function maskedStep(line, key) {
    if (line.bias[key] === -Infinity)
        return arithmeticStep('masked', 'Masked',
            formulaLine('masked: ', result(-Infinity, 'masked')), element('p', { class: 'note' }, whyMasked(line, key)));
    const parts = [numberText(line.capped[key])];
    let sum = shownNumber(line.capped[key]), size = Math.abs(sum);
    if (job.attn_mask && job.attn_mask.adds) {
        const added = attnMask(line.item, line.head, line.query, key);
        parts.push(' + attn_mask ', operandText(added));
        sum += shownNumber(added);
        size += Math.abs(added);
    }
    if (job.alibi_penalties) {
        const penalty = alibi(line.item, line.head, line.query, key);
        parts.push(` − ALiBi ${operandText(penalty)}`);
        sum -= shownNumber(penalty);
        size += Math.abs(penalty);
    } else if (job.alibi_slopes) {
        const distance = Math.abs(key - maskSpan(line.item, line.query).position), slope = job.alibi_slopes[line.head];
        parts.push(` − slope ${operandText(slope)} × distance ${distance}`);
        sum -= shownNumber(slope) * distance;
        size += Math.abs(slope) * distance;
    }
    let note = [];
    if (job.relative) {
        const distance = key - maskSpan(line.item, line.query).position;
        const added = relativeBias(line.item, line.head, line.query, key);
        parts.push(' + ', operandText(added));
        sum += shownNumber(added);
        size += Math.abs(added);
        note = [element('p', { class: 'note' }, `Row ${relativeBucket(distance) + 1} of relative_bias: the distance is ${distance}.`)];
    }
    if (parts.length === 1)
        return arithmeticStep('masked', 'Masked', formulaLine(result(line.masked[key], 'masked')),
            element('p', { class: 'note' }, 'The mask lets this key be seen.'));
    return arithmeticStep('masked', 'Masked',
        formulaLine(...parts, ` ${relation(sum, line.masked[key], size)} `, result(line.masked[key], 'masked')), ...note);
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
    const exponential = line.exponentials[key];
    const powerSign = relation(Math.exp(shownNumber(line.cast[key]) - shownNumber(line.maximum)), exponential);
    const quotientSign = relation(shownNumber(exponential) / shownNumber(line.sum), line.weights[key]);
    return arithmeticStep('weights', 'Weight',
        formulaLine(`exp(${numberText(line.cast[key])} − ${operandText(line.maximum)}) ${powerSign} ${numberText(exponential)}`),
        formulaLine(`${numberText(exponential)} / ${numberText(line.sum)} ${quotientSign} `, weight),
        element('p', { class: 'note' }, `${numberText(line.maximum)} is the largest score of this row, `
            + `${numberText(line.sum)} the sum of its exponentials${sink}.`));
}

function droppedStep(line, key) {
    const kept = isKept(line.item, line.head, line.row, key) || line.weights[key] === 0;
    const sign = relation(shownNumber(line.weights[key]) / (1 - job.dropout), line.dropped[key]);
    return arithmeticStep('dropped', 'After dropout',
        formulaLine(kept ? `${numberText(line.weights[key])} / (1 − ${job.dropout}) ${sign} ` : 'dropped: ',
            result(line.dropped[key], 'dropped')));
}

function vectorText(numbers, ends = SHOWN_ENDS) {
    const shown = shownColumns(numbers.length, ends).map((i) => (i === null ? '…' : numberText(numbers[i])));
    return `(${shown.join(', ')})`;
}

function shareStep(line, key) {
    const from = (keysAt(line.item, line.head) + key) * job.d_value;
    const value = Array.from(job.value.subarray(from, from + job.d_value)), weight = line.dropped[key];
    const exact = value.every((number) => relation(shownNumber(weight) * shownNumber(number), weight * number) === '=');
    return arithmeticStep('context', 'Share of the context',
        formulaLine(`${numberText(line.dropped[key])} × ${vectorText(value)}`),
        formulaLine(exact ? '= ' : '≈ ', element('output', { class: 'result' }, vectorText(value.map((number) => number * line.dropped[key])))));
}

function pairHeading(line, key) {
    const query = queryLabel(line.item, line.row), label = keyLabel(line.item, key);
    const end = (what, number, text) => element('span', { class: 'end' },
        element('span', { class: 'what' }, `${what} ${number}`), text ? tokenElement(text) : '');
    return element('p', { class: 'pair' }, end('query', line.query + 1, query),
        element('span', { class: 'arrow', 'aria-label': 'looks at' }, '→'), end('key', key + 1, label));
}

/* A stage that no right arithmetic gives. */
function wrongStep(stage, title, line, key) {
    const parts = !SQUARE_STAGES.includes(stage) ? [] : [formulaLine(result(line[stage][key], stage))];
    return arithmeticStep(stage, title, ...parts, element('p', { class: 'note' }, 'A mistake on purpose.'));
}

const STEPS = {
    query: ['Query', (line) => wayStep('query', 'Query', line, line.row)],
    key: ['Key', (line, key) => wayStep('key', 'Key', line, key)],
    scores: ['Score', (line, key) => arithmeticStep('scores', 'Score', dotTable(line, key))],
    scaled: ['Scaled', scaledStep],
    capped: ['Capped', cappedStep],
    masked: ['Masked', maskedStep],
    weights: ['Weight', weightStep],
    dropped: ['After dropout', droppedStep],
    context: ['Share of the context', shareStep],
};

const OPERANDS = ['query', 'key'];

/* The steps as a list, of those stages that the page has. */
function showArithmetic(place, cell) {
    const line = lineOf(place.item, place.head, cell.row), key = cell.key;
    const steps = Object.entries(STEPS).filter(([stage]) => job.has(stage) && (stage !== 'dropped' || job.kept)
        && (!OPERANDS.includes(stage) || stage in job.ways));
    const make = ([stage, [title, step]]) => (job.isWrong(stage) ? wrongStep(stage, title, line, key) : step(line, key));
    byId('arithmetic').replaceChildren(pairHeading(line, key), element('ol', {}, ...steps.map(make)));
}

/* The same in a sentence, for those who listen. */
function spokenCell(place, cell) {
    const line = lineOf(place.item, place.head, cell.row), number = numberText(line[place.stage][cell.key]);
    const head = job.has_heads ? `head ${place.head + 1}, ` : '';
    const masked = line.bias[cell.key] === -Infinity ? ', masked' : '';
    return `${head}query ${line.query + 1} ${queryLabel(place.item, cell.row)}, key ${cell.key + 1} `
        + `${keyLabel(place.item, cell.key)}: ${place.stage} ${number}${masked}`;
}
