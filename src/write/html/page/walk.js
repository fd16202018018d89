// SPDX-License-Identifier: MIT
/* The guided walk: a step at a time, docked next to the tables, in this page's numbers. It moves what it explains, and
 * serves as slides. The sentences of `text` are in attn-lessons(7), `says` makes those with numbers, and `draws` the rows
 * of the figure; tests/page/walk.js compares them with the manual and with attn's numbers. */

const MOST_WALK_CELLS = 8, MOST_PRODUCTS = 3, MOST_MIXED = 5;

const walk = { steps: [], at: -1, from: null, table: '', row: null, names: [] }; /* table, row: those before; names: the tables of this step */

/* --- numbers of the page ----------------------------------------------------------------------------------------- */

const walkTable = (name, head = state.head) => tableIn(shownEvaluation(), name, head);
const isThere = (name) => tableNames().includes(name);

/* A cell is { name, row, column } of a table, with a `head` if not that of the page; or { name, number }: written as those of
 * the table are. */
const cellAt = (name, row, column) => ({ name, row, column });

function walkValue({ name, row, column, number, head }) {
    if (number !== undefined) return number;
    const { columns, numbers } = walkTable(name, head);
    return numbers[row * columns + column];
}

/* Two decimals; more where all numbers of the table are small. */
function walkText(cell) {
    const number = walkValue(cell), most = isShare(cell.name) ? 1 : shownTable(cell.name).most;
    if (!Number.isFinite(number) || wantsExponent(most)) return numberText(number, 2);
    const decimals = most >= 0.1 || most === 0 ? 2 : 1 - Math.floor(Math.log10(most));
    return signed(number, fixedDecimals(Math.abs(number), decimals));
}

/* A number in a sentence; after a sign in brackets where it has a sign itself. */
function said(cell, afterSign = false) {
    const text = walkText(cell), attributes = { class: 'walk-number', 'data-cell': JSON.stringify([cell.name, cell.row, cell.column, cell.head ?? state.head]) };
    return element('span', attributes, afterSign && text.startsWith('−') ? `(${text})` : text);
}

const listed = (parts, between) => parts.flatMap((part, i) => (i > 0 ? [between, part] : [part]));

/* A sentence as a list of texts and elements. */
const say = (texts, ...parts) => texts.flatMap((text, i) => [text, parts[i] ?? []].flat(Infinity)).filter((part) => part !== '');

/* "(0.31, −1.20, …)" */
function saidRow(name, row) {
    const { columns } = walkTable(name), shown = Array.from({ length: Math.min(columns, 4) }, (nothing, column) => said(cellAt(name, row, column)));
    return ['(', listed(columns > 4 ? [...shown.slice(0, 3), '…'] : shown, ', '), ')'];
}

const heaviestOf = (list, numbers) => list.slice().sort((a, b) => numbers[b] - numbers[a] || a - b);

/* All of so many, in order; or those of the largest magnitude, and null for the others. */
function fewOf(count, sizeOf, most = MOST_WALK_CELLS) {
    const all = [...Array(count).keys()];
    return count <= most ? all : [...heaviestOf(all, all.map((i) => Math.abs(sizeOf(i)))).slice(0, most - 1).sort((a, b) => a - b), null];
}

const productOf = (pair) => pair.reduce((product, cell) => product * walkValue(cell), 1);

/* "a × b + c × d + … ≈ e" of a sum: pairs of cells, or single ones; cells that are added, as a bias; and the cell that it makes. */
function saidSum({ pairs, added = [], made }) {
    const few = fewOf(pairs.length, (i) => productOf(pairs[i]), MOST_PRODUCTS), whole = !few.includes(null);
    const shown = [...few.filter((i) => i !== null && (whole || productOf(pairs[i]) !== 0)).map((i) => pairs[i]), ...(whole ? [] : ['…']), ...added.map((cell) => [cell])];
    const written = (cell) => Number(walkText(cell).replace('−', '-').replace('∞', 'Infinity')), terms = shown.filter((pair) => pair !== '…');
    const sum = sumOf(terms.map((pair) => pair.reduce((product, cell) => product * written(cell), 1)));
    const clips = job.clip > 0 && Math.abs(walkValue(made)) >= job.clip && Math.abs(sumOf([...pairs, ...added.map((cell) => [cell])].map(productOf))) > job.clip;
    const sign = clips ? ', clipped to ' : whole && Math.abs(sum - written(made)) < 1e-9 * Math.max(1, Math.abs(sum)) ? ' = ' : ' ≈ ';
    const term = (pair, i) => (pair === '…' ? pair : listed(pair.map((cell, side) => said(cell, i + side > 0)), ' × '));
    return [listed(shown.map(term), ' + '), sign, said(made)];
}

/* --- what it speaks of ------------------------------------------------------------------------------------------- */

/* The chosen query and key; where the query must not look at that key, the one that it looks at most. `looked`: the keys with
 * shares that two decimals show, at least one, from the largest on. */
function walkPlace() {
    const sides = sidesNow(), { model } = shownEvaluation(), { row } = sides.place, line = lineOf(state.item, state.head, row);
    const keys = [...line.bias.keys()].filter((key) => line.empty || line.bias[key] > -Infinity), key = keys.includes(sides.place.key) ? sides.place.key : heaviestKey(row);
    return {
        model, row, key, line, keys, words: isThere('logits') ? wordsOf(row) : [],
        looked: heaviestOf(keys, line.dropped).filter((one, i) => i === 0 || line.dropped[one] >= 0.005),
        at: (name, column, of = walkTable(name).rows === model.rows.length ? row : model.rows[row]) => cellAt(name, of, column),
        query: () => tokenElement(queryLabelOf(model, state.item, row) || `token ${model.rows[row] + 1}`),
        keyName: (one = key) => tokenElement(keyLabelOf(model, state.item, one) || `token ${one + 1}`),
    };
}

/* A row and a column meet: so many pairs of cells, the bias, and the cell that they make. */
function meeting(count, first, second, bias, column, made) {
    const added = isThere(bias) ? [cellAt(bias, 0, column)] : [];
    return { pairs: Array.from({ length: count }, (nothing, i) => [first(i), second(i)]), added, made };
}

function projectionMeeting({ model, at, row }) {
    const { weight, first } = projectionOf(model, 'query', state.head), matrix = plainName(weight.name), [made] = [...stagesOnTheWay(model, 'query'), 'query'];
    const { name } = sourceRow(shownEvaluation(), 'query', state.item, model.rows[row]);
    return { matrix, column: first + 1, ...meeting(weight.shape[0], (i) => at(name, i), (i) => cellAt(matrix, i, first), 'W_query.bias', first, at(made, 0)) };
}

const scoreMeeting = ({ model, row, key }) =>
    meeting(model.dHead, (i) => cellAt('query', row, i), (i) => cellAt('key', key, i), '', 0, cellAt('scores', row, key));

const outputMeeting = ({ at }) =>
    meeting(walkTable('out_proj.weight').rows, (i) => at('heads', i), (i) => cellAt('out_proj.weight', i, 0), 'out_proj.bias', 0, at('output', 0));

function logitMeeting({ at, words: [word] }) {
    return meeting(walkTable('unembedding').rows, (i) => at('residual', i), (i) => cellAt('unembedding', i, word), 'unembedding_bias', word, at('logits', word));
}

/* Two rows are added; of each name the first that is there. */
const firstThere = (...names) => names.find(isThere);
const ADDED = { embedded: () => ['inputs', 'positions'], residual: () => [firstThere('embedded', 'inputs'), firstThere('output', 'context')] };
const saidAdded = ({ at }, made) => saidSum({ pairs: ADDED[made]().map((name) => [at(name, 0)]), made: at(made, 0) });

function wordsOf(row) {
    const { columns, numbers } = walkTable('logits');
    return heaviestOf([...Array(columns).keys()], numbers.subarray(row * columns, (row + 1) * columns));
}
const wordName = (word) => tokenElement(columnName(walkTable('logits'), word));

const weightsName = () => (stageOf('dropped') ? 'dropped' : 'weights');
const walkSetting = (text) => element('span', { class: 'walk-setting' }, text);

/* --- sentences --------------------------------------------------------------------------------------------------- */

function sayScore(place) {
    const { line: { scores }, keys, key, at, query, keyName } = place, [best] = heaviestOf(keys, scores);
    const rank = scores.every((score) => score <= scores[key]) ? say`It is the largest score of the row.`
        : scores[best] === scores[key] ? say`It is the largest score of the keys that the mask allows.`
            : say`The largest score of the keys that the mask allows is ${said(at('scores', best))}, with ${keyName(best)}.`;
    return [say`The query of ${query()} meets the key of ${keyName()}: ${saidSum(scoreMeeting(place))}.`, rank];
}

function sayScaled({ model, key, at, keyName }) {
    const scale = scaleOf(model), by = scale === 1 / Math.sqrt(model.dHead) ? ` / √${model.dHead}` : ` × ${operandExact(scale)}`;
    return [say`With ${keyName()}: ${said(at('scores', key))}${walkSetting(by)} ≈ ${said(at('scaled', key))}.`];
}

function sayMasked({ model, query, keyName, keys, line }) {
    if (line.empty) return [say`The mask allows ${query()} no key.`];
    const hidden = [...line.bias.keys()].filter((key) => !keys.includes(key)), more = hidden.length > 3 ? ` and ${hidden.length - 3} more` : '';
    return [say`The mask allows ${query()} ${String(keys.length)} of ${plural(model.keys, 'key')}.`,
        ...(hidden.length > 0 ? [say`It masks ${listed(hidden.slice(0, 3).map(keyName), ', ')}${more}.`] : [])];
}

/* The two largest exponentials, and the sum that all are divided by. */
function sayExponentials({ line: { cast, maximum, exponentials, sum, weights }, keyName }, keys) {
    const text = (number) => walkSetting(numberText(number)), each = (key) => ['e^(', text(cast[key]), ' − ', text(maximum), ') = ', text(exponentials[key]), ' for ', keyName(key)];
    return [say`Softmax takes e to the power of each number, less the largest: ${listed(keys.map(each), ', ')}. All add up to ${text(sum)}.`,
        say`Each is divided by this sum: ${text(exponentials[keys[0]])} / ${text(sum)} ≈ ${text(weights[keys[0]])}.`];
}

function sayWeights({ at, key, keys, line, query, keyName, model }) {
    if (line.empty) return [say`The mask allows ${query()} no key, so ${EMPTY_REASONS(model.keys)[job.empty_row]}.`];
    const [best, second] = heaviestOf(keys, line.weights), share = (one) => said(at('weights', one));
    const rank = key !== best ? [say`The largest share, ${share(best)}, goes to ${keyName(best)}.`] : second === undefined ? []
        : line.weights[second] < 0.005 ? [say`The others get less than 0.01 each.`] : [say`The next largest share, ${share(second)}, goes to ${keyName(second)}.`];
    return [...sayExponentials({ line, keyName }, second === undefined ? [best] : [best, second]), say`Of the row of ${query()}, ${share(key)} goes to ${keyName()}.`, ...rank, ...(line.sink === null ? [] : [say`A sink takes a share, too.`])];
}

function sayDropped({ line, keys, query, model: { settings: { dropout } } }) {
    const kept = keys.filter((key) => line.dropped[key] !== 0).length;
    return [say`Dropout kept ${String(kept)} of ${plural(keys.length, 'weight')} of ${query()} and divided them by 1 − ${walkSetting(String(dropout))}.`];
}

function sayContext({ row, at, line, keys, looked, query, keyName }) {
    if (line.empty && job.empty_row !== 'mean') return [say`The mask allows ${query()} no key, so its context is ${saidRow('context', row)}.`];
    const shown = looked.slice(0, 2), shares = shown.map((key) => [said(at(weightsName(), key)), ' × the value of ', keyName(key)]);
    return [say`The context of ${query()} is ${listed([...shares, ...(keys.length > shown.length ? ['…'] : [])], ' + ')}: ${saidRow('context', row)}.`];
}

/* What each of the first heads looks at most. */
function sayHeads({ at, row, keys, keyName, query, model }) {
    const parts = [...Array(Math.min(model.heads, MOST_MIXED)).keys()].map((head) => {
        const [key] = heaviestOf(keys, lineOf(state.item, head, row).weights);
        return [`${headText(head)}${head === 0 ? ' looks most' : ''} at `, keyName(key), ' with ', said({ ...at('weights', key), head })];
    });
    return [say`For ${query()}, ${listed(parts, ', ')}.`];
}

/* The logit of the likeliest word as a sum of its parts, and what becomes of its share without the head that it needs. */
function sayWhy({ at, row, words: [word], keyName }) {
    const parts = logitParts(shownEvaluation(), state.item, row, word).filter(([, number]) => number !== 0), needed = neededHead(shownEvaluation(), state.item, row, word);
    const sum = parts.map(([name, number]) => [said({ name: 'logits', number }, true), ` from ${name}`]);
    return [say`The logit of ${wordName(word)} is a sum, too: ${listed(sum, ' + ')} ≈ ${said(at('logits', word))}.`,
        ...(needed === null ? [] : [say`Without ${headText(needed.head)}, which looks at ${keyName(needed.key)}, its share falls to ${said({ name: 'probabilities', number: needed.share })}.`])];
}

/* What a reader may do at the end, on the spot. */
function sayTry({ model, row, words: [word] }) {
    const needed = neededHead(shownEvaluation(), state.item, row, word), [head = needed && needed.head] = model.headsOut, out = model.headsOut.length === 0;
    const button = element('button', { type: 'button' }, `${out ? 'Take' : 'Put'} ${headText(head)} ${out ? 'out' : 'back'}`), [sentence] = readySentences();
    button.addEventListener('click', () => tryEdit({ do: 'head', head, out }, null));
    const tries = [...(head === null || whyFixed() !== null ? [] : [button]), ...(sentence ? [['see what comes after ', sentence]] : [])];
    return tries.length > 0 ? [say`Try it: ${listed(tries, ' or ')}.`] : [];
}

/* --- figures: rows { label, cells, how } ------------------------------------------------------------------------- */

/* How a row arrives: its cells fly from the table, appear one after another, or appear and fly into the table; bars grow. */
const rowOf = (how, label, cells) => ({ how, label: [label].flat(), cells });

const cellsOf = (columns, of) => columns.map((i) => (i === null ? null : of(i)));
const wholeRow = (how, label, { name, row }) => rowOf(how, label, cellsOf(fewOf(walkTable(name).columns, () => 0), (i) => cellAt(name, row, i)));

/* A row and a column meet in a cell. */
function drawMeeting({ pairs, added, made }, label, other, sum) {
    const product = (i) => ({ name: made.name, number: productOf(pairs[i]) }), columns = fewOf(pairs.length, (i) => productOf(pairs[i]));
    return [rowOf('fly', label, cellsOf(columns, (i) => pairs[i][0])), rowOf('fly', ['× ', other], cellsOf(columns, (i) => pairs[i][1])),
        rowOf('make', 'products', cellsOf(columns, product)), ...added.map((cell) => rowOf('fly', '+ bias', [cell])), rowOf('into', `sum: ${sum}`, [made])];
}

const keyRow = (model, few) => rowOf('still', '', cellsOf(few, (key) => ({ label: tokenElement(keyLabelOf(model, state.item, key) || String(key + 1)) })));

/* Stages of one query, a column for each key: all, or the heaviest. */
const drawStages = (...names) => ({ row, keys, line, model }) => {
    const few = fewOf(model.keys, (key) => (keys.includes(key) ? line.weights[key] : -1)), there = names.filter(isThere).slice(-2), last = there[there.length - 1];
    const rows = there.map((name) => rowOf(name === last ? 'into' : 'fly', nameText(name), cellsOf(few, (key) => cellAt(name, row, key))));
    const bars = last === 'weights' ? [barsOf(few, (key) => line.weights[key])] : [];
    return [keyRow(model, few), ...rows.slice(0, -1), ...bars, ...rows.slice(-1)];
};

/* Bars as tall as shares. */
const barsOf = (few, shareOfOne) => rowOf('bars', '', cellsOf(few, (i) => ({ bar: shareOfOne(i) })));

function drawMix({ at, line, keys, keyName, looked }) {
    const shown = looked.slice(0, MOST_MIXED).sort((a, b) => a - b), columns = fewOf(walkTable('context').columns, (i) => walkValue(at('context', i)));
    const scaled = (key) => (i) => ({ name: 'context', number: line.dropped[key] * walkValue(cellAt('value', key, i)), source: cellAt('value', key, i) });
    const mixed = shown.map((key) => rowOf('fly', [walkText(at(weightsName(), key)), ' × ', keyName(key)], cellsOf(columns, scaled(key))));
    const more = keys.length > shown.length ? [rowOf('still', `and ${keys.length - shown.length} more`, [])] : [];
    return [...mixed, ...more, rowOf('into', 'context', cellsOf(columns, (i) => at('context', i)))];
}

const drawAdded = (made) => ({ at }) => {
    const [first, second] = ADDED[made]();
    return [wholeRow('fly', nameText(first), at(first, 0)), wholeRow('fly', ['+ ', nameText(second)], at(second, 0)), wholeRow('into', ['= ', nameText(made)], at(made, 0))];
};

/* The row of weights of each head, and what the heads give, side by side. */
function drawSides({ at, model, line }) {
    const heads = [...Array(Math.min(model.heads, MOST_MIXED)).keys()], few = fewOf(model.keys, (key) => line.weights[key]);
    return [keyRow(model, few), ...heads.map((head) => rowOf('make', headLabel(head), cellsOf(few, (key) => ({ ...at('weights', key), head })))),
        wholeRow('into', 'side by side', at('heads', 0))];
}

function drawWords({ at, words }) {
    const shown = words.slice(0, MOST_MIXED), of = (name) => shown.map((word) => at(name, word));
    return [rowOf('still', '', shown.map((word) => ({ label: wordName(word) }))), rowOf('fly', 'logits', of('logits')),
        barsOf(shown, (word) => walkValue(at('probabilities', word))), rowOf('into', 'shares', of('probabilities'))];
}

/* --- the steps --------------------------------------------------------------------------------------------------- */

const sayNext = ({ at, words, query }) =>
    [say`After ${query()} comes ${listed(words.slice(0, 3).map((word) => [wordName(word), ' with ', said(at('probabilities', word))]), ', ')}.`];

const WALK = [
    {
        title: 'Where a token looks', tables: ['weights'], text: ['Each row of a weights table says where one token looks.'],
        says: (place) => [place.line.empty ? sayMasked(place)[0] : say`${place.query()} looks at ${listed(place.looked.slice(0, 3).map((key) => [place.keyName(key), ' with ', said(place.at('weights', key))]), ', ')}.`,
            ...(isThere('probabilities') ? sayNext(place) : []), say`The next steps show how these numbers are made.`],
        draws: drawStages('weights'),
    },
    {
        title: 'What a row is', tables: ['inputs'],
        text: ['A language model does not read words.', 'A word has the same embedding in every sentence.'],
        says: ({ at, query }) => [say`${query()} is a row of ${plural(walkTable('inputs').columns, 'number')}: ${saidRow('inputs', at('inputs', 0).row)}.`],
        draws: ({ at, query }) => [wholeRow('fly', query(), at('inputs', 0))],
    },
    {
        title: 'Positions', tables: ['embedded'], also: ['positions'], text: [],
        says: (place) => [say`Each position has a row, too, which is added to that of ${place.query()}.`,
            say`In column 1: ${saidAdded(place, 'embedded')}.`],
        draws: drawAdded('embedded'),
    },
    {
        title: 'Three matrices', tables: ['W_query.weight', 'W_query'], also: ['W_key.weight', 'W_key', 'W_value.weight', 'W_value'],
        text: ['Query, key and value are each the embedding times a weight matrix.', 'Training changes their numbers.'],
        column: (place) => projectionMeeting(place).column - 1,
        says: (place) => {
            const met = projectionMeeting(place);
            return [say`The row of ${place.query()} meets column ${String(met.column)} of ${nameText(met.matrix)}: ${saidSum(met)}.`, say`This is the first number of its query.`];
        },
        draws: (place) => drawMeeting(projectionMeeting(place), place.query(), nameText(projectionMeeting(place).matrix), 'query'),
    },
    {
        title: 'Three rows of each token', tables: ['query'], also: ['key', 'value'],
        text: ['The query is what a token looks for.', 'The key is what other tokens find it by.', 'The value is what it gives to those that find it.'],
        says: ({ row, key, query, keyName }) => [say`${query()} looks with its query ${saidRow('query', row)}.`, say`It finds ${keyName()} by the key ${saidRow('key', key)}.`],
        draws: ({ row, key, query, keyName }) => [wholeRow('fly', ['query of ', query()], cellAt('query', row)),
            ...['key', 'value'].map((name) => wholeRow('fly', [`${name} of `, keyName()], cellAt(name, key)))],
    },
    {
        title: 'Scores', tables: ['scores'], also: ['query', 'key'],
        text: ['A query asks every key.', 'The answer is a score: the dot product of the query and that key.'],
        says: sayScore, draws: (place) => drawMeeting(scoreMeeting(place), place.query(), place.keyName(), 'score'),
    },
    {
        title: 'Scaled', tables: ['scaled'],
        text: ['A score is a sum of products, one for each column.', 'So with more columns, the scores of a row are further apart.'],
        says: sayScaled, draws: drawStages('scores', 'scaled'),
    },
    {
        title: 'Masked', tables: ['masked'], row: maskedRow,
        text: ['A mask says for each query which keys are allowed.', 'The masked scores become minus infinity.',
            'e to the power of minus infinity is 0, so softmax gives them the weight 0.'],
        says: sayMasked, draws: drawStages('scaled', 'capped', 'masked'),
    },
    {
        title: 'Weights', tables: ['weights'], text: ['Softmax turns a row of numbers into shares.', 'Each row of weights adds up to 1.'],
        says: sayWeights, draws: drawStages('scaled', 'capped', 'masked', 'weights'),
    },
    {
        title: 'Dropped', tables: ['dropped'], text: ['While a model learns, dropout sets some weights to 0, at random.'],
        says: sayDropped, draws: drawStages('weights', 'dropped'),
    },
    {
        title: 'Context', tables: ['context'], also: ['value'],
        text: ['The weights say how much a token takes from each token.', 'The values are what it takes.'],
        says: sayContext, draws: drawMix,
    },
    {
        title: 'Gate', tables: ['gate'], also: ['context'], text: [],
        says: ({ model, at, query }) => [say`The gate of ${query()} says how much of each number of its context passes: 0 is nothing, 1 is all of it.`,
            say`In column 1: ${saidSum({ pairs: [[at('context', 0), at('gate', 0)]], made: at('heads', state.head * model.dValue) })}.`],
        draws: ({ model, row, at }) => [wholeRow('fly', 'context', cellAt('context', row)), wholeRow('fly', '× gate', cellAt('gate', row)),
            rowOf('into', 'passes', cellsOf(fewOf(model.dValue, () => 0), (i) => at('heads', state.head * model.dValue + i)))],
    },
    {
        title: 'Several heads', tables: ['heads'],
        text: ['A head has one table of weights, so each token looks at the others in one way only.',
            'Several heads look in several ways at once, each with matrices of its own.'],
        says: sayHeads, draws: drawSides,
    },
    {
        title: 'Output', tables: ['output'], also: ['out_proj.weight'], text: ['The output has one row for each token, as the inputs had.'],
        says: (place) => (isThere('out_proj.weight') ? [say`The row of ${place.query()} from all heads meets column 1 of out_proj: ${saidSum(outputMeeting(place))}.`]
            : [say`The output of ${place.query()} is ${saidRow('output', place.row)}.`]),
        draws: (place) => (isThere('out_proj.weight') ? drawMeeting(outputMeeting(place), place.query(), 'out_proj', 'output') : drawSides(place)),
    },
    {
        title: 'Residual', tables: ['residual'], text: ['The heads add what they found; this sum is the residual.'],
        says: (place) => [say`What the heads found is added to the row of ${place.query()}.`, say`In column 1: ${saidAdded(place, 'residual')}.`],
        draws: drawAdded('residual'),
    },
    {
        title: 'Logits', tables: ['logits'], also: ['unembedding'],
        text: ['A logit is a number of points for a word.', 'Each word of the vocabulary has a column of the unembedding.'], column: ({ words }) => words[0],
        says: (place) => [say`The row of ${place.query()} meets the column of ${wordName(place.words[0])}: ${saidSum(logitMeeting(place))}.`, say`It is the largest logit of the row.`],
        draws: (place) => drawMeeting(logitMeeting(place), place.query(), wordName(place.words[0]), 'logit'),
    },
    {
        title: 'The next word', tables: ['probabilities'],
        text: ['Softmax turns the points into probabilities: the more points, the more probable.'], column: ({ words }) => words[0],
        says: (place) => [...sayNext(place), ...sayWhy(place), ...sayTry(place)], draws: drawWords,
    },
];

/* A row in which the mask hides a key: the chosen one, or one in the middle of those that there are. */
function maskedRow({ row, model }) {
    const hides = (one) => lineOf(state.item, state.head, one).bias.includes(-Infinity), rows = [...model.rows.keys()].filter(hides);
    return rows.includes(row) ? row : rows[Math.ceil(rows.length / 2)] ?? rows[0] ?? row;
}

const stepsHere = () => WALK.map((step) => ({ ...step, table: step.tables.find(isThere) })).filter((step) => step.table);

/* Whether a mistake makes the table, or computes with another one. */
const isStepWrong = ({ table }) => isWrong(table) || (isParameter(table) && shownEvaluation().model !== shownEvaluation().asked);

/* The sentences of a step; of a table that a mistake made, its formula. */
function walkSentences(step, place) {
    const formula = stageOf(step.table) ? `: ${nameText(step.table)} = ${stageOf(step.table).formula}` : ' changes this table';
    const own = isStepWrong(step) ? [[`A mistake on purpose${formula}.`]] : step.says(place);
    return [...own.map((parts) => element('p', { class: 'walk-own' }, ...parts)), ...step.text.map((sentence) => element('p', { class: 'walk-lesson' }, sentence))];
}

/* --- the elements ------------------------------------------------------------------------------------------------ */

function figureCell(cell) {
    if (cell === null) return element('span', { class: 'walk-cell walk-more' }, '…');
    if (cell.label) return element('span', { class: 'walk-cell walk-label' }, cell.label);
    if (cell.bar !== undefined) return element('span', { class: 'walk-cell walk-bars' }, element('i', { style: `height: ${100 * Math.min(1, cell.bar || 0)}%` }));
    const table = walkTable(cell.name), hidden = cell.row !== undefined && isHidden(table, cell.row * table.columns + cell.column);
    const number = walkValue(cell), colour = cellColour(number, hidden, shownTable(cell.name).scale), text = walkText(cell);
    const short = number !== 0 && /0/.test(text) && !/[1-9]/.test(text) ? '≈0' : text.length > 5 && /\.\d\d$/.test(text) ? signed(number, fixedDecimals(Math.abs(number), 1)) : text;
    return element('span', { class: 'walk-cell', style: `background: ${colourText(colour)}; color: ${inkOn(colour)}` }, short);
}

function figureRow({ how, label, cells }) {
    const made = element('div', { class: `walk-row walk-${how}` }, element('span', { class: 'walk-name' }, ...label), ...cells.map(figureCell));
    made.row = { how, cells };
    return made;
}

/* Shows the step in the numbers of now; what moves stops where these changed. */
function showWalk() {
    if (walk.at < 0) return;
    const { title } = walk.steps[walk.at];
    walk.steps = stepsHere();
    walk.at = Math.max(0, walk.steps.findIndex((step) => step.title === title));
    const step = walk.steps[walk.at], place = walkPlace(), rows = isStepWrong(step) ? [] : step.draws(place).map(figureRow);
    const text = walkSentences(step, place), key = [...text, ...rows].map((part) => part.outerHTML).join('');
    if (walk.shown === key) return;
    stopMoving();
    walk.shown = key;
    byId('walk-text').setAttribute('aria-live', drag ? 'off' : 'polite');
    byId('walk-text').replaceChildren(...text);
    byId('walk-figure').replaceChildren(...rows);
    byId('walk-figure').style.setProperty('--count', Math.max(1, ...rows.map(({ row }) => row.cells.length)));
    byId('walk-title').textContent = step.title;
    byId('walk-count').textContent = `${walk.at + 1} of ${walk.steps.length}${headsNow() > 1 && isOfHeads(step.table) ? `, head ${state.head + 1}` : ''}`;
    byId('walk-next').textContent = walk.at === walk.steps.length - 1 ? 'Done' : 'Next';
}

/* --- what moves -------------------------------------------------------------------------------------------------- */

const isCalm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
const EASE = 'cubic-bezier(0.3, 0, 0.2, 1)';

function stopMoving() {
    for (const animation of byId('walk').getAnimations({ subtree: true })) animation.cancel();
    byId('walk-moving').replaceChildren();
}

/* Where a cell of a table is on the screen; null where it cannot be seen. */
function boxOfCell({ name, row, column }) {
    const { canvas, layout } = isSlides() && name === state.name ? { canvas: byId('large'), layout: layouts.large } : flow.cards.get(name) || {};
    if (row === undefined || !layout || canvas.offsetParent === null) return null;
    const { left, top } = canvas.getBoundingClientRect();
    const box = { left: left + layout.left + column * layout.cell, top: top + layout.top + row * layout.cellHeight, width: layout.cell, height: layout.cellHeight };
    return box.top > 0 && box.top < innerHeight && box.left > 0 && box.left < innerWidth ? box : null;
}

const appear = (made, delay, from) =>
    made.animate([{ opacity: 0, transform: from }, { opacity: 1, transform: 'none' }], { duration: 400, delay, easing: EASE, fill: 'backwards' });

/* A copy of the cell moves from its place in the table to its place in the figure, or back into the table. */
function fly(made, cell, delay, into) {
    const source = cell.source || cell, box = boxOfCell(source), own = made.getBoundingClientRect();
    if (!box) return void (into || appear(made, delay, 'translateX(-3rem)'));
    const copy = made.cloneNode(true), away = `translate(${box.left - own.left}px, ${box.top - own.top}px) scale(${box.width / own.width}, ${box.height / own.height})`;
    if (cell.source) copy.textContent = walkText(source);
    Object.assign(copy.style, { left: `${own.left}px`, top: `${own.top}px`, width: `${own.width}px`, height: `${own.height}px` });
    byId('walk-moving').append(copy);
    const frames = [{ transform: away, opacity: into ? 0.3 : 1 }, { transform: 'none', opacity: 1 }];
    copy.animate(into ? frames.reverse() : frames, { duration: 700, delay, easing: EASE }).onfinish = () => copy.remove();
    if (!into) made.animate([{ opacity: 0 }, { opacity: 0, offset: 0.9 }, { opacity: 1 }], { duration: 750, delay, fill: 'backwards' });
}

/* How each kind of row moves, from a time on; returns when the next row begins. */
const MOVES = {
    still: (cells, begins) => begins,
    fly: (cells, begins) => {
        cells.forEach(([made, cell], i) => fly(made, cell, begins + 30 * i, false));
        return begins + 650;
    },
    make: (cells, begins) => {
        cells.forEach(([made], i) => appear(made, begins + 150 * i, 'translateY(-100%)'));
        return begins + 150 * cells.length + 250;
    },
    bars: (cells, begins) => {
        for (const [{ firstElementChild: bar }] of cells)
            bar.animate([{ height: 0 }, { height: bar.style.height }], { duration: 700, delay: begins, easing: EASE, fill: 'backwards' });
        return begins + 600;
    },
    into: (cells, begins) => {
        const ends = MOVES.make(cells, begins);
        cells.forEach(([made, cell]) => fly(made, cell, ends + 200, true));
        return ends + 900;
    },
};

function playWalk() {
    stopMoving();
    if (isCalm() || walk.at < 0) return;
    let begins = 100;
    for (const { row, children } of byId('walk-figure').children) {
        const pairs = row.cells.map((cell, i) => [children[i + 1], cell]).filter(([, cell]) => cell !== null);
        begins = MOVES[row.how](pairs, begins);
    }
}

/* Plays as soon as the page no longer scrolls. */
function playWhenStill(table, last = NaN, still = 0, frames = 0) {
    if (walk.at < 0 || walk.steps[walk.at].table !== table) return;
    const { top } = byId(`card-${table}`).getBoundingClientRect();
    if (still > 4 || frames > 120) playWalk();
    else requestAnimationFrame(() => playWhenStill(table, top, top === last ? still + 1 : 0, frames + 1));
}

/* --- from step to step ------------------------------------------------------------------------------------------- */

/* Of keys with about as much weight, one that is not the token itself says more. */
function telltaleKey() {
    const { row, key, looked, line, model } = walkPlace();
    const other = looked.find((one) => one !== model.rows[row] && line.dropped[one] > line.dropped[looked[0]] / 2);
    return key === looked[0] ? other ?? key : key;
}

function openWalk() {
    Object.assign(walk, { from: document.activeElement, table: state.name });
    walk.steps = stepsHere();
    state.at.key = telltaleKey();
    byId('walk').hidden = false;
    document.body.classList.add('walking');
    repaint();
    goWalk(0);
}

/* A step that showed another row gives the reader's row back. */
function returnRow() {
    state.at.query = walk.row ?? state.at.query;
    walk.row = null;
}

function closeWalk() {
    stopMoving();
    returnRow();
    setSlides(false);
    Object.assign(walk, { at: -1, names: [], shown: '' });
    byId('walk').hidden = true;
    document.body.classList.remove('walking');
    state.name = walk.table;
    keepChoice();
    repaint();
    if (walk.from) walk.from.focus();
}

function goWalk(at) {
    walk.at = within(at, walk.steps.length);
    const step = walk.steps[walk.at];
    returnRow();
    if (step.row) [walk.row, state.at.query] = [state.at.query, step.row(walkPlace())];
    walk.names = [step.table, ...(step.also || [])];
    Object.assign(state.at, { down: 0, across: step.column ? step.column(walkPlace()) : 0 });
    chooseTable(step.table);
    byId('walk-back').disabled = walk.at === 0;
    if (!byId('walk').contains(document.activeElement)) byId('walk-next').focus({ preventScroll: true });
    const block = matchMedia('(max-width: 79.99rem)').matches ? 'start' : 'center'; /* above the sheet, as the style has it */
    byId(`card-${step.table}`).scrollIntoView({ block, behavior: isCalm() ? 'auto' : 'smooth' });
    playWhenStill(step.table);
}

/* --- slides ------------------------------------------------------------------------------------------------------ */

const isSlides = () => document.documentElement.classList.contains('slides');

/* One step and its table fill the window, and the screen where the browser allows it. */
function setSlides(on) {
    if (isSlides() === on) return;
    document.documentElement.classList.toggle('slides', on);
    if (on && navigator.userActivation?.isActive !== false) document.documentElement.requestFullscreen?.().catch(() => {});
    if (!on && document.fullscreenElement) document.exitFullscreen();
    byId('walk-slides').textContent = on ? 'Leave full screen' : 'Full screen';
    repaint();
    goWalk(walk.at);
}

const stepBy = (steps) => () => goWalk(walk.at + steps);
const WALK_KEYS = {
    ArrowRight: stepBy(1), PageDown: stepBy(1), ArrowLeft: stepBy(-1), PageUp: stepBy(-1), Home: stepBy(-Infinity), End: stepBy(Infinity),
    f: () => setSlides(!isSlides()), r: playWalk, Escape: () => (isSlides() ? setSlides(false) : closeWalk()),
};

function onWalkKey(event) {
    const isOwn = isSlides() || byId('walk').contains(event.target), hasModifier = event.ctrlKey || event.metaKey || event.altKey, press = WALK_KEYS[event.key] || WALK_KEYS[event.key.toLowerCase()];
    if (walk.at < 0 && event.key.toLowerCase() === 'f' && !hasModifier && !event.target.matches('input, select')) openWalk();
    else if (walk.at < 0 || hasModifier || !press || !isOwn) return;
    press();
    event.preventDefault();
}

function listenToWalk() {
    byId('walk-open').addEventListener('click', openWalk);
    byId('walk-next').addEventListener('click', () => (walk.at === walk.steps.length - 1 ? closeWalk() : goWalk(walk.at + 1)));
    byId('walk-back').addEventListener('click', () => {
        if (walk.at === 1) byId('walk-next').focus({ preventScroll: true }); /* Back is then disabled */
        goWalk(walk.at - 1);
    });
    byId('walk-replay').addEventListener('click', playWalk);
    byId('walk-slides').addEventListener('click', WALK_KEYS.f);
    byId('walk-close').addEventListener('click', closeWalk);
    addEventListener('keydown', onWalkKey);
    addEventListener('fullscreenchange', () => document.fullscreenElement || setSlides(false));
}
