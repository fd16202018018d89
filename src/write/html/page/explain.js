// SPDX-License-Identifier: MIT
/* Explains one cell of any stage, back to the inputs: a list of steps with the numbers as shown, and "=" where these
 * give the shown result to the last digit, else "≈". */

const MOST_TERMS = 4, MOST_LISTED = 8, SHOWN_ENDS = 3;

/* --- lines ------------------------------------------------------------------------------------------------------- */

const formulaLine = (...parts) => element('p', { class: 'formula' }, ...parts);
const noteLine = (text) => element('p', { class: 'note' }, text);

/* A number after a sign: in brackets where it has a sign itself. */
function operandText(number) {
    const text = numberText(number);
    return text.startsWith('−') ? `(${text})` : text;
}

const operandExact = (number) => (number < 0 ? `(−${-number})` : String(number));

/* What the digits of a number say. */
const shownNumber = (number) => Number(numberText(number).replace('−', '-').replace('∞', 'Infinity'));

/* "=" where the shown numbers give the shown result, to the last digit of a double, else "≈". The terms of a sum may
 * be larger than the sum, which is then nothing but their rounding. */
function relation(value, number, largest = Math.abs(value)) {
    const shown = shownNumber(number), rounding = 1e-14 * largest;
    return Object.is(value, shown) || (Math.abs(value - shown) <= rounding && (shown === 0 || Math.abs(shown) > rounding)) ? '=' : '≈';
}

const result = (number, stage) => element('output', { class: 'result', 'data-stage': stage }, numberText(number));

/* The result of a column of query or key. */
const operandResult = (number, operand, column) =>
    element('output', { class: 'result', 'data-operand': operand, 'data-column': String(column) }, numberText(number));

function step(stage, title, formula, ...parts) {
    return element('li', { class: 'step', 'data-step': stage }, element('h3', {}, title, ' ', element('span', { class: 'why' }, formula)), ...parts);
}

const sumOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

/* "a × b + c × d + rest ≈ made": a few products of pairs, and numbers that are added. */
function sumLine(pairs, added, made, shownResult) {
    const shown = pairs.length <= MOST_TERMS ? pairs : pairs.slice(0, MOST_TERMS - 1), rest = pairs.slice(shown.length);
    const more = [...(rest.length > 0 ? [sumOf(rest.map(([a, b]) => a * b))] : []), ...added];
    const texts = [...shown.map(([a, b], i) => `${i > 0 ? operandText(a) : numberText(a)} × ${operandText(b)}`), ...more.map(operandText)];
    const terms = [...shown.map(([a, b]) => shownNumber(a) * shownNumber(b)), ...more.map(shownNumber)];
    const line = formulaLine(`${texts.join(' + ')} ${relation(sumOf(terms), made, sumOf(terms.map(Math.abs)))} `, shownResult);
    return rest.length === 0 ? [line] : [line, noteLine(`${numberText(more[0])} is the sum of ${plural(rest.length, 'more product')}.`)];
}

/* The indices to show: all, or those at both ends with null between them. */
function shownFew(count, most = MOST_LISTED, ends = SHOWN_ENDS) {
    if (count <= most) return Array.from({ length: count }, (nothing, i) => i);
    const first = Array.from({ length: ends }, (nothing, i) => i);
    return [...first, null, ...first.map((i) => count - ends + i)];
}

/* --- a table of products and their sum --------------------------------------------------------------------------- */

function tableRow(head, ...cells) {
    return element('tr', {}, element('th', { scope: 'row' }, head),
        ...cells.map((cell) => element('td', {}, typeof cell === 'number' ? numberText(cell) : cell)));
}

/* `names` of the columns; rows of [label, a, b]; numbers that are added, [label, number]; the sum, as `total` calls it. */
function productTable({ caption, names, rows, added = [], total, made, shownResult }) {
    const products = rows.map(([, a, b]) => a * b), listed = shownFew(rows.length);
    const left = products.filter((nothing, i) => !listed.includes(i)), shown = listed.map((i) => (i === null ? sumOf(left) : products[i]));
    const most = [1, 2].map((side) => largestMagnitude(rows.map((row) => row[side]))), among = largestMagnitude(products);
    const lines = listed.map((i, at) => (i === null ? tableRow(`${left.length} more`, '', '', amongText(shown[at], among))
        : tableRow(rows[i][0], amongText(rows[i][1], most[0]), amongText(rows[i][2], most[1]), amongText(products[i], among))));
    const terms = [...shown, ...added.map(([, number]) => number)].map(shownNumber);
    const sign = relation(sumOf(terms), made, sumOf(terms.map(Math.abs)));
    return element('table', { class: 'products' }, element('caption', { class: 'unseen' }, caption),
        element('thead', {}, element('tr', {}, ...names.map((name) => element('th', { scope: 'col' }, ...name.split(/(?<=_)/).flatMap((part) => [part, element('wbr')]))))),
        element('tbody', {}, ...lines, ...added.map(([label, number]) => tableRow(label, '', '', number))),
        element('tfoot', {}, element('tr', {}, element('th', { scope: 'row', colspan: '3' }, `sum ${sign} ${total}`), element('td', {}, shownResult))));
}

/* --- labels ------------------------------------------------------------------------------------------------------ */

const keyTitle = (model, item, key) => keyLabelOf(model, item, key) || `key ${key + 1}`;

/* --- query, key and value ---------------------------------------------------------------------------------------- */

/* The row of inputs of a token that an operand is computed from: { name, numbers }. */
function sourceRow(evaluation, id, item, token, latent = latentOf(evaluation.model, id)) {
    const { model } = evaluation, source = sourceOf(model, id), columns = columnsOf(source);
    if (latent) return { name: 'latent', numbers: Array.from(evaluation.latent(id, item).numbers.subarray(token * latent.rank, (token + 1) * latent.rank)) };
    return { name: source.name === 'inputs' ? inputsName(model) : source.name, numbers: Array.from(sourceNumbers(evaluation, id, item).subarray(token * columns, (token + 1) * columns)) };
}

/* The terms of a projected column: pairs of input and weight, and the bias. A mistake may read another projection, token
 * and column: `elsewhere` says so. */
function projectionTerms(evaluation, id, item, head, row, column) {
    const { model, mistake } = evaluation, by = projectionOf(model, id, head);
    const usual = [id, id === 'query' ? model.rows[row] : row, by.first + column], [from, token, at] = mistake.shows?.projected?.(evaluation, id, item, head, row, column) || usual;
    const latent = latentOf(model, from);
    if (latent && column >= by.columns) { // the columns that all heads share
        const { first, bias: added, rank } = latent, { name, numbers } = sourceRow(evaluation, from, item, token, null), shared = rank + column - by.columns;
        return { name, weight: first, elsewhere: 'All heads share this column.', pairs: numbers.map((x, k) => [x, first.numbers[k * columnsOf(first) + shared]]), bias: added ? [added.numbers[shared]] : [], biasName: added?.name };
    }
    const { weight, bias, width } = projectionOf(model, from, head), { name, numbers } = sourceRow(evaluation, from, item, token);
    const elsewhere = mistake.shows?.projected ? `It is column ${at + 1} of the ${from} of token ${token + 1}, before the heads are cut.`
        : latent ? `The latent of a token is ${latent.norm ? 'the norm of ' : ''}its row of ${sourceRow(evaluation, from, item, token, null).name} times ${latent.first.title}.` : '';
    return { name, weight, elsewhere, pairs: numbers.map((x, k) => [x, weight.numbers[k * width + at]]), bias: bias ? [bias.numbers[at]] : [], biasName: bias?.name };
}

/* The head of query, or the key and value head that it uses. */
const ownHead = (model, id, head) => (id === 'query' ? head : keyHeadOf(model, head));

/* Says what a clipped number would be. */
function clipNotes(model, pairs, bias, made) {
    const whole = sumOf(pairs.map(([a, b]) => a * b)) + sumOf(bias);
    return job.clip > 0 && Math.abs(whole) > job.clip ? [noteLine(`Clipped to ±${job.clip}; it would be ${numberText(whole)}.`)] : [];
}

function projectedStep(evaluation, id, item, head, row, column) {
    const { model } = evaluation, own = ownHead(model, id, head), { name, weight, elsewhere, pairs, bias, biasName } = projectionTerms(evaluation, id, item, own, row, column);
    const made = evaluation.projected(id, item, own)[row * widthOfHead(model, id) + column], [stage] = [...stagesOnTheWay(model, id), id];
    const clips = clipNotes(model, pairs, bias, made);
    const table = productTable({
        caption: `The products of ${name} and ${weight.name}`, names: ['column', name, `× ${nameText(plainName(weight.name))}`, 'product'],
        rows: pairs.map(([a, b], k) => [String(k + 1), a, b]), added: bias.map((number) => [biasName, number]),
        total: id, made, shownResult: operandResult(made, stage, column),
    });
    return step(stage, `${stage}, column ${column + 1}`, formulaOfStage(evaluation, stage), table, ...(elsewhere ? [noteLine(elsewhere)] : []), ...clips);
}

function normStep(evaluation, id, item, head, row, column) {
    const { model } = evaluation, norm = normOf(model, NORM_NAMES[id]), d = widthOfHead(model, id), together = isOfAll(model, id, norm);
    const count = id === 'query' ? model.heads : model.keyHeads, own = ownHead(model, id, head), way = stagesOnTheWay(model, id);
    const heads = together ? Array.from({ length: count }, (nothing, one) => one) : [own];
    const x = Float64Array.from(heads.flatMap((one) => Array.from(evaluation.projected(id, item, one).subarray(row * d, row * d + d))));
    return normLines(norm, x, together ? own * d + column : column, (together ? 0 : firstWeight(norm, own)), evaluation.normed(id, item, own)[row * d + column],
        way.includes(`normed_${id}`) ? `normed_${id}` : id, `Its norm${together ? ', over all heads' : ''}`);
}

/* (x − mean) × factor × weight + bias of place `i` of a row. */
function normLines(norm, x, i, first, made, stage, title) {
    const { mean, factor } = normTerms(norm, x), weight = normWeight(norm, first + i), bias = norm.bias ? norm.bias.numbers[first + i] : null;
    const shown = [x[i] - mean, factor, weight].map(shownNumber), product = shown[0] * shown[1] * (norm.weight ? shown[2] : 1);
    const text = `${numberText(x[i] - mean)} × ${operandText(factor)}${norm.weight ? ` × ${operandText(weight)}` : ''}${bias === null ? '' : ` + ${operandText(bias)}`}`;
    const sign = relation(product + (bias === null ? 0 : shownNumber(bias)), made, Math.abs(product) + Math.abs(bias || 0));
    const mean0 = norm.kind === 'layer' ? `First subtract the mean of the row, ${numberText(mean)}. ` : '';
    return step(stage, title, '', formulaLine(`${text} ${sign} `, result(made, stage)), noteLine(`${mean0}${numberText(factor)} is one over the root of the `
        + `${norm.kind === 'layer' ? 'variance' : 'mean square'} of ${plural(x.length, 'number')}, with ${norm.eps} added.`));
}

/* "(a × cos − b × sin) × scale ≈ made" */
function rotatedLine(sign, first, cosine, second, sine, scale, made, shownResult) {
    const [x, c, y, s] = [first, cosine, second, sine].map(shownNumber), products = sign === '−' ? x * c - y * s : x * c + y * s;
    const text = `${numberText(first)} × ${operandText(cosine)} ${sign} ${operandText(second)} × ${operandText(sine)}`;
    const told = relation(products * scale, made, (Math.abs(x * c) + Math.abs(y * s)) * Math.abs(scale));
    return formulaLine(scale === 1 ? text : `(${text}) × ${operandExact(scale)}`, ` ${told} `, shownResult);
}

/* The input of the last step of query or key: { before (d), made (d), position, scale } of a row; null where it is
 * unknown, as after its numbers were edited. */
function lastStep(evaluation, id, item, head, row) {
    const { model } = evaluation, { dHead: d } = model, own = ownHead(model, id, head), way = job.ways[id];
    const made = evaluation.operand(id, item, own).subarray(row * d, row * d + d), rowOf = (numbers, first) => numbers.subarray(first + row * d, first + row * d + d);
    if (model.starts === 'inputs')
        return { before: rowOf(evaluation.normed(id, item, own), 0), made, position: positionOf(model, id, item, row), scale: isScaledQuery(model, id) ? queryScaleOf(model) : 1 };
    const table = model.tables.get(id), [, heads, rows] = table.shape;
    if (!way || !way.from || table.numbers.some((number, i) => number !== originalTables.get(id)[i])) return null;
    const positions = job[`${id}_positions`], position = positions ? positions[item * rows + row] : -1;
    return { before: rowOf(decodedBefore(id), (item * heads + own) * rows * d), made, position: position < 0 ? null : position, scale: way.scale };
}

const NOT_ROTATED = job.past > 0 ? 'A key of the past is already rotated.' : 'This token is not rotated.';
const decodedBefore = remembered((id) => decodeNumbers(`before-${id}`), 2);

function pairLines({ before, made, position, scale }, id, pair) {
    const [first, second, toFirst, toSecond] = job.pairs[pair], { frequency, angle, cosine, sine } = rotationOf(position, pair);
    const at = coordinateOf(position, pair), shown = Number.isInteger(at) ? at : shownNumber(at), text = shown === at ? at : numberText(at);
    const [a, b] = [before[first], before[second]];
    return [
        noteLine(`columns ${first + 1} and ${second + 1}, position ${axisText(pair)}${text}: cosine ${numberText(cosine)}, sine ${numberText(sine)} of the angle`),
        formulaLine(`${text} × ${numberText(frequency)} ${relation(shown * shownNumber(frequency), angle)} ${numberText(angle)}`),
        rotatedLine('−', a, cosine, b, sine, scale, made[toFirst], operandResult(made[toFirst], id, toFirst)),
        rotatedLine('+', b, cosine, a, sine, scale, made[toSecond], operandResult(made[toSecond], id, toSecond)),
    ];
}

function scaledLine({ before, made, scale }, id, column) {
    return formulaLine(`${numberText(before[column])} × ${operandExact(scale)} ${relation(shownNumber(before[column]) * scale, made[column])} `,
        operandResult(made[column], id, column));
}

/* One column through the rotation and the scale, with the other column of its pair. */
function lastColumnLines(last, id, column) {
    const pair = job.pairs.findIndex(([, , first, second]) => first === column || second === column);
    if (last.position !== null && pair >= 0) return pairLines(last, id, pair);
    if (last.scale !== 1) return [scaledLine(last, id, column)];
    return [formulaLine(operandResult(last.made[column], id, column)), noteLine(last.position === null && job.pairs.length > 0
        ? NOT_ROTATED : 'This column is not rotated.')];
}

/* A column of query, key or value, from the inputs as far as `stage`. */
function operandSteps(evaluation, stage, id, item, head, row, column) {
    const { model } = evaluation, way = stagesOnTheWay(model, id);
    const last = job.ways[id] && id !== 'value' ? lastStep(evaluation, id, item, head, row) : null, title = `${id}, its last step`;
    const lastParts = last && stage === id && (job.pairs.length > 0 || last.scale !== 1) ? [step(id, title, '', ...lastColumnLines(last, id, column))] : [];
    if (model.starts === 'operands') return lastParts.length > 0 ? lastParts : [givenStep(evaluation, id, [item, ownHead(model, id, head), row, column])];
    const steps = [projectedStep(evaluation, id, item, head, row, column)];
    const normed = way.length > 0 && stage !== `projected_${id}` && normOf(model, NORM_NAMES[id]) !== null;
    if (normed) steps.push(normStep(evaluation, id, item, head, row, column));
    return [...steps, ...lastParts];
}

const waysOpen = { query: false, key: false, value: false, weights: false, logits: false }; // what a reader has unfolded stays so

function folded(name, summary, parts) {
    const details = element('details', waysOpen[name] ? { open: '' } : {}, element('summary', {}, summary), ...parts);
    details.addEventListener('toggle', () => { waysOpen[name] = details.open; });
    return details;
}

/* All columns of a row of query or key, a line each, folded. */
function operandRowStep(evaluation, id, item, head, row) {
    const { model } = evaluation, { dHead: d } = model, own = ownHead(model, id, head), number = id === 'query' ? model.rows[row] + 1 : row + 1;
    const parts = [], told = Object.fromEntries(evaluation.stages.map(({ name, formula }) => [name, formula]));
    for (const name of [...stagesOnTheWay(model, id), id]) parts.push(element('p', { class: 'why' }, `${name} = ${told[name]}`));
    if (model.starts === 'operands' && job.ways[id]) parts.push(...job.ways[id].made.map(([name, formula]) => element('p', { class: 'why' }, `${name} = ${formula}`)));
    if (job.isWrong(id)) return [wrongStep(id, `${id === 'query' ? 'Query' : 'Key'} ${number}`, told[id])];
    if (model.starts === 'inputs')
        for (const column of shownFew(d, MOST_TERMS, 2)) {
            if (column === null) { parts.push(noteLine('…')); continue; }
            const { pairs, bias } = projectionTerms(evaluation, id, item, own, row, column), made = evaluation.projected(id, item, own)[row * d + column];
            parts.push(...(clipNotes(model, pairs, bias, made).length > 0 ? [noteLine(`column ${column + 1} is clipped to ${numberText(made)}`)]
                : sumLine(pairs, bias, made, numberText(made))));
        }
    const last = job.ways[id] ? lastStep(evaluation, id, item, head, row) : null;
    if (last) parts.push(...lastRowLines(model, last, id));
    if (parts.length === 0 || !told[id]) return [];
    return [step(id, `${id === 'query' ? 'Query' : 'Key'} ${number}`, '', folded(id, 'how it is computed', parts))];
}

function lastRowLines({ dHead: d }, last, id) {
    const rotated = new Set(last.position === null ? [] : job.pairs.flatMap((pair) => pair.slice(2, 4)));
    const rest = Array.from({ length: d }, (nothing, i) => i).filter((i) => !rotated.has(i));
    const pairs = last.position === null ? [] : shownFew(job.pairs.length, 3, 1).flatMap((pair) => (pair === null
        ? [noteLine(`… ${plural(job.pairs.length - 2, 'more pair')} …`)] : pairLines(last, id, pair)));
    if (last.scale !== 1) return [...pairs, ...shownFew(rest.length, 3, 1).map((i) => (i === null ? noteLine('…') : scaledLine(last, id, rest[i])))];
    if (job.pairs.length > 0 && last.position === null) return [noteLine(NOT_ROTATED)];
    return job.pairs.length > 0 && rest.length > 0 ? [...pairs, noteLine(`${plural(rest.length, 'column is', 'columns are')} not rotated.`)] : pairs;
}

/* --- a query and a key ------------------------------------------------------------------------------------------- */

function scoreStep(evaluation, line, key, formula) {
    const { query, key: of } = meetingRows(evaluation, line, key), role = (id) => evaluation.mistake.taken?.[id] || id;
    return step('scores', 'Score', formula, productTable({
        caption: 'The products of query and key', names: ['column', role('query'), `× ${role('key')}`, 'product'],
        rows: Array.from(query, (number, i) => [String(i + 1), number, of[i]]), total: 'score', made: line.scores[key],
        shownResult: result(line.scores[key], 'scores'),
    }));
}

function scaledStep({ model }, line, key, formula) {
    const scale = scaleOf(model), root = scale === 1 / Math.sqrt(model.dHead), score = shownNumber(line.scores[key]);
    const by = root ? [' / √', String(model.dHead)] : [' × ', operandText(scale)];
    const sign = relation(root ? score / Math.sqrt(model.dHead) : score * shownNumber(scale), line.scaled[key]);
    return step('scaled', 'Scaled', formula, formulaLine(numberText(line.scores[key]), ...by, ` ${sign} `, result(line.scaled[key], 'scaled')));
}

function cappedStep({ model: { settings: { softcap } } }, line, key, formula) {
    if (!(softcap > 0)) return step('capped', 'Capped', formula, formulaLine(result(line.capped[key], 'capped')), noteLine('There is no softcap.'));
    const sign = relation(softcap * Math.tanh(shownNumber(line.scaled[key]) / softcap), line.capped[key]);
    return step('capped', 'Capped', formula,
        formulaLine(`${softcap} × tanh(${numberText(line.scaled[key])} / ${softcap}) ${sign} `, result(line.capped[key], 'capped')));
}

function whyMasked(model, line, key) {
    const span = spanOf(model, line.item, line.query), at = span.position + 1, name = `key ${key + 1}`, { causal, left, right } = model.settings;
    const where = span.position === line.query ? `query ${line.query + 1}` : `position ${at} of query ${line.query + 1}`;
    if (key >= span.length) return `${name} is beyond the ${span.length} keys of this item`;
    if (causal && key > span.position) return `${name} comes after ${where}: the causal mask`;
    if (right >= 0 && key > span.position + right) return `${name} is more than ${right} after ${where}: the window`;
    if (left >= 0 && key < span.position - left) return `${name} is more than ${left} before ${where}: the window`;
    return `${job.mask_made || model.forbids ? 'the mask with the mistake' : 'attn_mask'} masks out ${name}`;
}

/* The terms added to a score: their texts and values. */
function maskTerms(model, { item, head, query }, key) {
    const terms = [], distance = key - spanOf(model, item, query).position;
    if (maskOf(model)?.adds) {
        const added = maskNumber(model, item, head, query, key);
        terms.push({ text: ` + attn_mask ${operandText(added)}`, value: shownNumber(added) });
    }
    if (model.alibiPenalties) {
        const penalty = alibiOf(model, item, head, query, key);
        terms.push({ text: ` − ALiBi ${operandText(penalty)}`, value: -shownNumber(penalty) });
    } else if (slopesOf(model)) {
        const slope = slopesOf(model).numbers[head];
        terms.push({ text: ` − slope ${operandText(slope)} × distance ${Math.abs(distance)}`, value: -shownNumber(slope) * Math.abs(distance) });
    }
    if (model.relative) {
        const added = relativeOf(model, item, head, query, key);
        terms.push({ text: ` + ${operandText(added)}`, value: shownNumber(added), note: `Row ${bucketOf(model.relative, distance) + 1} of relative_bias: the distance is ${distance}.` });
    }
    return terms;
}

function maskedStep({ model }, line, key, formula) {
    if (line.bias[key] === -Infinity)
        return step('masked', 'Masked', formula, formulaLine('masked: ', result(-Infinity, 'masked')), noteLine(whyMasked(model, line, key)));
    const terms = maskTerms(model, line, key), made = line.masked[key], own = shownNumber(line.capped[key]);
    if (terms.length === 0) return step('masked', 'Masked', formula, formulaLine(result(made, 'masked')), noteLine('The mask allows this key.'));
    const values = [own, ...terms.map(({ value }) => value)], sign = relation(sumOf(values), made, sumOf(values.map(Math.abs)));
    return step('masked', 'Masked', formula, formulaLine(numberText(line.capped[key]), ...terms.map(({ text }) => text), ` ${sign} `, result(made, 'masked')),
        ...terms.filter(({ note }) => note).map(({ note }) => noteLine(note)));
}

const EMPTY_REASONS = (keys) => ({ zero: 'its weights are 0', nan: 'its weights are NaN', mean: `each of its weights is 1 / ${keys}` });

function weightStep({ model }, line, key, formula) {
    const weight = result(line.weights[key], 'weights');
    if (line.empty) return step('weights', 'Weight', formula, formulaLine(weight), noteLine(`The mask allows this query no key, so ${EMPTY_REASONS(model.keys)[job.empty_row]}.`));
    if (line.bias[key] === -Infinity) return step('weights', 'Weight', formula, formulaLine(weight), noteLine('A masked key has a weight of exactly 0.'));
    const sink = line.sink === null ? '' : `, including the sink's exp(${numberText(line.sink - line.maximum)})`, exponential = line.exponentials[key];
    const powerSign = relation(Math.exp(shownNumber(line.cast[key]) - shownNumber(line.maximum)), exponential);
    const quotientSign = relation(shownNumber(exponential) / shownNumber(line.sum), line.weights[key]);
    return step('weights', 'Weight', formula,
        formulaLine(`exp(${numberText(line.cast[key])} − ${operandText(line.maximum)}) ${powerSign} ${numberText(exponential)}`),
        formulaLine(`${numberText(exponential)} / ${numberText(line.sum)} ${quotientSign} `, weight),
        noteLine(`${numberText(line.maximum)} is the largest score of this row, ${numberText(line.sum)} the sum of its exponentials${sink}.`));
}

function droppedStep({ model }, line, key, formula) {
    const { dropout } = model.settings, made = result(line.dropped[key], 'dropped');
    const kept = keptRow(model, line.item, line.head, line.row)[key] || line.weights[key] === 0;
    const sign = relation(shownNumber(line.weights[key]) / (1 - dropout), line.dropped[key]);
    return step('dropped', 'After dropout', formula, formulaLine(kept ? `${numberText(line.weights[key])} / (1 − ${dropout}) ${sign} ` : 'dropped: ', made));
}

const ON_PURPOSE = 'A mistake on purpose.';

/* A number that a mistake made: `arises` says how; null: no arithmetic explains it. */
function wrongStep(stage, title, formula, number, arises = null) {
    const left = arises ? `${arises[0]} ${relation(arises[1], number)} ` : '';
    return step(stage, title, formula, ...(number === undefined ? [] : [formulaLine(left, result(number, stage))]), noteLine(ON_PURPOSE));
}

const SQUARE_STEPS = {
    scores: ['Score', scoreStep], scaled: ['Scaled', scaledStep], capped: ['Capped', cappedStep], masked: ['Masked', maskedStep],
    weights: ['Weight', weightStep], dropped: ['After dropout', droppedStep],
};

/* A step of a cell; one that a mistake of the page makes as that mistake says. */
function squareStep(evaluation, { name, formula }, line, key) {
    const [title, make] = SQUARE_STEPS[name], { shows = {} } = evaluation.mistake, number = line[name][key];
    const arises = !job.isWrong(name) && shows[name] ? shows[name](evaluation, line, key) : null;
    if (job.isWrong(name) || arises) return wrongStep(name, title, formula, number, Number.isFinite(number) ? arises : null);
    return make(evaluation, line, key, formula);
}

function squareSteps(evaluation, stage, item, head, row, key) {
    const line = evaluation.line(item, head, row), shown = evaluation.stages.filter(({ name }) => name in SQUARE_STEPS);
    const upTo = shown.findIndex(({ name }) => name === stage), steps = upTo < 0 ? [{ name: stage, formula: '' }] : shown.slice(0, upTo + 1);
    return [...operandRowStep(evaluation, 'query', item, head, row), ...operandRowStep(evaluation, 'key', item, head, key),
        ...steps.map((one) => squareStep(evaluation, one, line, key))];
}

/* --- context and output ------------------------------------------------------------------------------------------ */

const formulaOfStage = (evaluation, stage) => (evaluation.stages.find(({ name }) => name === stage) || { formula: '' }).formula;

function weightLines(evaluation, line, keys) {
    const usual = (key) => line.exponentials && [`exp(${numberText(line.cast[key])} − ${operandText(line.maximum)}) / ${numberText(line.sum)}`,
        Math.exp(shownNumber(line.cast[key]) - shownNumber(line.maximum)) / shownNumber(line.sum)];
    return line.empty ? [] : keys.map((key) => [key, evaluation.mistake.shows?.weights?.(evaluation, line, key) || usual(key)])
        .filter(([, arises]) => arises).map(([key, [text, value]]) => formulaLine(`${text} ${relation(value, line.weights[key])} ${numberText(line.weights[key])}`));
}

function valueLines(evaluation, line, keys, column) {
    const { model } = evaluation, own = keyHeadOf(model, line.head);
    if (model.starts === 'operands' || job.isWrong('value') || evaluation.mistake.taken?.value || normOf(model, NORM_NAMES.value)) return [];
    return keys.flatMap((key) => {
        const { pairs, bias } = projectionTerms(evaluation, 'value', line.item, own, key, column), made = evaluation.operand('value', line.item, own)[key * model.dValue + column];
        return clipNotes(model, pairs, bias, made).length > 0 ? [noteLine(`${keyTitle(model, line.item, key)} is clipped to ${numberText(made)}`)] : sumLine(pairs, bias, made, numberText(made));
    });
}

function contextSteps(evaluation, item, head, row, column) {
    const { model } = evaluation, line = evaluation.line(item, head, row), made = evaluation.context(item, head, row)[column], formula = formulaOfStage(evaluation, 'context');
    if (job.isWrong('context')) return [wrongStep('context', 'Context', formula, made)];
    const value = evaluation.taken('value', item, keyHeadOf(model, head)), ofColumn = evaluation.mistake.shows?.context?.(evaluation, line), dropped = ofColumn || line.dropped;
    const keys = Array.from(dropped.keys()).filter((key) => ofColumn || line.empty || line.bias[key] > -Infinity), few = keys.slice(0, MOST_LISTED);
    const weights = job.isWrong('weights') || ofColumn ? [] : weightLines(evaluation, line, few), values = valueLines(evaluation, line, few, column);
    if (keys.length === 0 || (line.empty && !ofColumn && job.empty_row !== 'mean'))
        return [step('context', 'Context', formula, formulaLine(result(made, 'context')), noteLine(`The mask allows this query no key, so ${EMPTY_REASONS(model.keys)[job.empty_row]}.`))];
    return [
        ...(weights.length > 0 ? [step('weights', 'Its weights', formulaOfStage(evaluation, 'weights'), folded('weights', 'how they are computed', weights))] : []),
        ...(values.length > 0 ? [step('value', `Column ${column + 1} of the values`, formulaOfStage(evaluation, 'value'), folded('value', 'how they are computed', values))] : []),
        step('context', `Context, column ${column + 1}`, formula, productTable({
            caption: 'The weights times the values', names: ['key', model.settings.dropout > 0 ? 'dropped' : 'weight', `× ${evaluation.mistake.taken?.value || 'value'} ${column + 1}`, 'product'],
            rows: keys.map((key) => [tokenElement(keyTitle(model, item, key)), dropped[key], value[key * model.dValue + column]]),
            total: 'context', made, shownResult: result(made, 'context'),
        })),
    ];
}

/* The gate of a column: a product with W_gate, and its sigmoid. */
function gateSteps(evaluation, item, head, row, column) {
    const { model } = evaluation, weight = model.tables.get('W_gate.weight'), bias = model.tables.get('W_gate.bias'), width = columnsOf(weight), columns = gateColumns(model);
    const own = Math.floor(column * columns / model.dValue), at = head * columns + own, sum = gateSums(evaluation, item, head, row)[own], made = evaluation.gate(item, head, row)[column];
    const { name, numbers } = sourceRow(evaluation, 'query', item, model.rows[row], null);
    return [step('gate', `Gate, column ${column + 1}`, formulaOfStage(evaluation, 'gate'), productTable({
        caption: `The products of ${name} and ${weight.name}`, names: ['column', name, `× ${nameText(plainName(weight.name))}`, 'product'],
        rows: numbers.map((x, k) => [String(k + 1), x, weight.numbers[k * width + at]]), added: bias ? [['W_gate.bias', bias.numbers[at]]] : [],
        total: 'before sigmoid', made: sum, shownResult: numberText(sum),
    }), formulaLine(`1 / (1 + exp(${numberText(-sum)})) ${relation(1 / (1 + Math.exp(shownNumber(-sum))), made)} `, result(made, 'gate')))];
}

/* Heads side by side: each column is one of a head's context. */
function headsSteps(evaluation, item, row, column) {
    const { model, mistake } = evaluation, { dValue } = model, made = evaluation.heads(item, row)[column];
    const usual = [Math.floor(column / dValue), row, column % dValue], [head, from, own] = mistake.shows?.heads?.(evaluation, row, column) || usual;
    if (job.isWrong('heads')) return [wrongStep('heads', 'Heads side by side', formulaOfStage(evaluation, 'heads'), made)];
    const gate = hasGate(model) && !isHeadOut(model, column) ? evaluation.gate(item, Math.floor(column / dValue), row)[column % dValue] : null, [context] = [evaluation.context(item, head, from)[own]];
    const left = gate === null ? '' : `${numberText(context)} × ${operandText(gate)} ${relation(shownNumber(context) * shownNumber(gate), made)} `;
    return [...contextSteps(evaluation, item, head, from, own), step('heads', 'Heads side by side', formulaOfStage(evaluation, 'heads'),
        formulaLine(left, result(made, 'heads')), noteLine(`Column ${column + 1} is column ${own + 1} of head ${head + 1}${from === row ? '' : `, query ${model.rows[from] + 1}`}.${isHeadOut(model, column) ? ' This head is taken out.' : ''}`))];
}

function outputSteps(evaluation, item, row, column) {
    const { model } = evaluation, made = evaluation.output(item, row)[column], weight = outProjection(model), formula = formulaOfStage(evaluation, 'output');
    const { shows = {} } = evaluation.mistake, side = shows.output ? shows.output(evaluation, item, row) : evaluation.heads(item, row);
    if (job.isWrong('output')) return [wrongStep('output', 'Output', formula, made)];
    if (!weight || !side || model.settings.stacked) return headsSteps(evaluation, item, row, column);
    const bias = model.tables.get('out_proj.bias'), width = columnsOf(weight), into = shows.output ? 'once' : 'heads';
    const nameOf = (i) => shows.output ? String(i + 1) : `head ${Math.floor(i / model.dValue) + 1}, ${(i % model.dValue) + 1}`;
    return [step('output', `Output, column ${column + 1}`, formula, productTable({
        caption: 'The heads side by side times out_proj', names: ['column', into, `× ${nameText(plainName(weight.name))}`, 'product'],
        rows: Array.from(side, (number, i) => [nameOf(i), number, weight.numbers[i * width + column]]),
        added: bias ? [['out_proj.bias', bias.numbers[column]]] : [], total: 'output', made, shownResult: result(made, 'output'),
    }))];
}

/* --- of a row -------------------------------------------------------------------------------------------------------- */

function entropySteps(evaluation, item, head, row) {
    const { model } = evaluation, line = evaluation.line(item, head, row), [made] = makeStatistic(evaluation, 'entropy', line), formula = formulaOfStage(evaluation, 'entropy');
    if (job.isWrong('entropy')) return [wrongStep('entropy', 'Entropy', formula, made)];
    const keys = Array.from(line.weights.keys()).filter((key) => line.weights[key] !== 0);
    if (keys.length === 0) return [step('entropy', 'Entropy', formula, formulaLine(result(made, 'entropy')), noteLine('Every weight is 0, and 0 log(0) is 0.'))];
    return [step('entropy', 'Entropy', formula, productTable({
        caption: 'The weights times minus their logarithms', names: ['key', 'weight', '× −log(weight)', 'product'],
        rows: keys.map((key) => [tokenElement(keyTitle(model, item, key)), line.weights[key], -Math.log(line.weights[key])]),
        total: 'entropy', made, shownResult: result(made, 'entropy'),
    }), ...(keys.length < line.weights.length ? [noteLine('A weight of 0 adds 0.')] : []))];
}

/* --- words ------------------------------------------------------------------------------------------------------- */

const WORD_STEPS = {
    embedded: addedStep, residual: addedStep, logits: logitSteps,
    probabilities: (evaluation, item, row, column, made) => {
        const logits = evaluation.logits(item, row), largest = Math.max(...logits), powers = logits.map((logit) => Math.exp(logit - largest)), sum = sumOf(powers);
        return [formulaLine(`exp(${numberText(logits[column])} − ${operandText(largest)}) ${relation(Math.exp(shownNumber(logits[column]) - shownNumber(largest)), powers[column])} ${numberText(powers[column])}`),
            formulaLine(`${numberText(powers[column])} / ${numberText(sum)} ${relation(shownNumber(powers[column]) / shownNumber(sum), made)} `, result(made, 'probabilities')),
            noteLine(`${numberText(largest)} is the largest logit of this token, ${numberText(sum)} the sum of the exponentials of all words.`)];
    },
};

/* a + b, of two tables. */
function addedStep(evaluation, item, row, column, made, stage) {
    const names = WORD_STAGES[stage].from(evaluation.model, isSplit(evaluation.model) ? 'output' : 'context');
    const [a, b] = names.map((name) => { const { numbers, columns, rows } = evaluation.table(name, item, 0); return numbers[(rows > row ? row : 0) * columns + column]; });
    return [formulaLine(`${numberText(a)} + ${operandText(b)} ${relation(shownNumber(a) + shownNumber(b), made, Math.abs(a) + Math.abs(b))} `, result(made, stage))];
}

function toWeight(text, head, row, key) {
    const button = element('button', { type: 'button', class: 'plain', title: `the weights of head ${head + 1}` }, text);
    button.addEventListener('click', () => { state.head = head; chooseCell('weights', row, key); });
    return button;
}

/* Why this word: what inputs, positions and each head add to its logit; then what each token adds by way of a head. */
function logitSteps(evaluation, item, row, word, made) {
    const { model } = evaluation, parts = logitParts(evaluation, item, row, word), shown = parts.map(([, number]) => shownNumber(number));
    const heaviest = (shares) => shares.reduce((best, one) => (one[1] > best[1] ? one : best), shares[0] || [0, 0]);
    const nameOf = ([name, , shares]) => (shares ? toWeight(name, parseInt(name.slice(5), 10) - 1, row, heaviest(shares)[0]) : name);
    const sign = relation(sumOf(shown), made, sumOf(shown.map(Math.abs)));
    const table = element('table', { class: 'products' }, element('caption', { class: 'unseen' }, 'What each part of the residual adds to the logit'),
        element('tbody', {}, ...parts.map((part) => element('tr', {}, element('th', { scope: 'row' }, nameOf(part)), element('td', {}, numberText(part[1]))))),
        element('tfoot', {}, element('tr', {}, element('th', { scope: 'row' }, `sum ${sign} logit`), element('td', {}, result(made, 'logits')))));
    const ofHeads = parts.filter(([, , shares]) => shares && shares.length > 0).map(([name, sum, shares]) => {
        const head = parseInt(name.slice(5), 10) - 1, sorted = shares.slice().sort((a, b) => b[1] * b[2] - a[1] * a[2]);
        return [element('p', { class: 'why' }, `${name}: each weight times what the token's value adds`), productTable({
            caption: name, names: ['key', 'weight', '× adds', 'product'], total: name, made: sum, shownResult: numberText(sum),
            rows: sorted.map(([key, weight, each]) => [toWeight(keyTitle(model, item, key), head, row, key), weight, each]),
        })];
    });
    return [table, folded('logits', 'which token, through which head', ofHeads.flat())];
}

function wordSteps(evaluation, stage, item, row, column) {
    const { numbers, columns } = evaluation.table(stage, item, 0), made = numbers[row * columns + column], word = VOCABULARY && ['logits', 'probabilities'].includes(stage) ? `: ${job.words[0][column]}` : '';
    return [step(stage, `${stage[0].toUpperCase()}${stage.slice(1)}${word}`, formulaOfStage(evaluation, stage), ...WORD_STEPS[stage](evaluation, item, row, column, made, stage))];
}

/* --- what is given ----------------------------------------------------------------------------------------------- */

/* Where a number of an input or a parameter comes from. */
function givenStep({ asked: model }, name, at) {
    const table = model.tables.get(name), place = at.slice(-table.shape.length).reduce((sum, i, axis) => sum * table.shape[axis] + Math.min(i, table.shape[axis] - 1), 0), number = table.numbers[place];
    const given = new Map(job.settings).get('parameters from'), { init, seed } = job.given;
    const drawn = name.startsWith('out_proj') || init === 'linear' || init === undefined ? 'nn.Linear' : `torch.${init}`;
    const origin = table.what !== 'parameter' ? 'The input gives it.' : given ? `${given} gives it.` : `Drawn as ${drawn} draws, from seed ${seed}.`;
    const before = originalTables.get(name), was = before && before.length === table.numbers.length ? before[place] : number;
    return step(name, table.title, '', formulaLine(result(number, name)), noteLine(was === number ? origin : `You changed it; it was ${numberText(was)}.`),
        ...(isTruths(table) ? [noteLine('1 allows the key, 0 masks it; a click changes it.')] : []));
}

function normedSteps(evaluation, item, row, column) {
    const { model } = evaluation, columns = columnsOf(model.tables.get('inputs')), at = model.rows[row] * columns;
    const made = evaluation.normedInputs(item)[model.rows[row] * columns + column];
    return [normLines(normOf(model, 'norm'), evaluation.embedded(item).subarray(at, at + columns), column, 0, made, 'normed', 'Normed')];
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

function stepsOf(evaluation, stage, item, head, row, column) {
    const { model } = evaluation, id = stage.replace(/^(projected|normed)_/, '');
    if (SQUARE_STAGES.includes(stage)) return squareSteps(evaluation, stage, item, head, row, column);
    if (id in PROJECTIONS && job.isWrong(stage)) {
        const table = evaluation.table(stage, item, head);
        return [wrongStep(stage, stage, formulaOfStage(evaluation, stage), table.numbers[row * table.columns + column])];
    }
    if (id in PROJECTIONS) return operandSteps(evaluation, stage, id, item, head, row, column);
    if (stage in WORD_STAGES) return wordSteps(evaluation, stage, item, row, column);
    if (stage === 'normed') return normedSteps(evaluation, item, row, column);
    if (stage === 'entropy') return entropySteps(evaluation, item, head, row);
    if (stage === 'context') return contextSteps(evaluation, item, head, row, column);
    if (stage === 'gate') return gateSteps(evaluation, item, head, row, column);
    if (stage === 'heads') return headsSteps(evaluation, item, row, column);
    if (stage === 'output') return outputSteps(evaluation, item, row, column);
    const { shape } = evaluation.asked.tables.get(stage);
    return [givenStep(evaluation, stage, shape.length === 1 ? [column] : shape.length === 4 ? [item, head, row, column] : [item, row, column])];
}

/* `head` counts query heads, also for key and value. */
function explainCell(evaluation, stage, item, head, row, column) {
    const steps = state.layer === 'gradients' ? [gradientStep(evaluation, stage, item, head, row, column)] : stepsOf(evaluation, stage, item, head, row, column);
    if (evaluation.wrong.includes(stage) && !steps.some((one) => one.textContent.includes(ON_PURPOSE))) steps[steps.length - 1].append(noteLine(ON_PURPOSE));
    return element('ol', {}, ...steps);
}
