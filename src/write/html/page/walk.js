// SPDX-License-Identifier: MIT
/* The guided walk: a step at a time, docked next to the tables, in this page's numbers. It moves what it explains, and
 * serves as slides. The sentences of `text` are in attn-lessons(7), `says` makes those with numbers, and `draws` the rows
 * of the figure; tests/page/walk.js compares them with the manual and with attn's numbers. */

const MOST_WALK_CELLS = 7, MOST_PRODUCTS = 3, MOST_MIXED = 5;

const walk = { steps: [], at: -1, from: null, names: [], layout: null }; /* names: the tables of this step */

/* --- numbers of the page ----------------------------------------------------------------------------------------- */

const walkTable = (name) => tableIn(shownEvaluation(), name, state.head);
const isThere = (name) => tableNames().includes(name);

/* A cell is { name, row, column } of a table, or { name, number }: one that is written as those of the table are. */
const cellAt = (name, row, column) => ({ name, row, column });

function walkValue({ name, row, column, number }) {
    if (number !== undefined) return number;
    const { columns, numbers } = walkTable(name);
    return numbers[row * columns + column];
}

/* Two decimals; more where all numbers of the table are small. */
function walkText(cell) {
    const number = walkValue(cell), most = isShare(cell.name) ? 1 : shownTable(cell.name).most;
    if (!Number.isFinite(number) || wantsExponent(most)) return numberText(number, 2);
    const decimals = most >= 0.1 || most === 0 ? 2 : 1 - Math.floor(Math.log10(most));
    return signed(number, fixedDecimals(Math.abs(number), decimals));
}

const writtenNumber = (text) => Number(text.replace('−', '-').replace('∞', 'Infinity'));

/* A number in a sentence; after a sign in brackets where it has a sign itself. */
function said(cell, afterSign = false) {
    const text = walkText(cell), attributes = { class: 'walk-number', 'data-cell': JSON.stringify([cell.name, cell.row, cell.column]) };
    return element('span', attributes, afterSign && text.startsWith('−') ? `(${text})` : text);
}

const listed = (parts, between) => parts.flatMap((part, i) => (i > 0 ? [between, part] : [part]));

/* "(0.31, −1.20, …)" */
function saidRow(name, row) {
    const { columns } = walkTable(name), shown = Array.from({ length: Math.min(columns, 4) }, (nothing, column) => said(cellAt(name, row, column)));
    return ['(', ...listed(columns > 4 ? [...shown.slice(0, 3), '…'] : shown, ', '), ')'];
}

/* All of so many, in order; or those of the largest magnitude, and null for the others. */
function fewOf(count, sizeOf, most = MOST_WALK_CELLS) {
    const all = Array.from({ length: count }, (nothing, i) => i);
    return count <= most ? all : [...heaviestOf(all, all.map((i) => Math.abs(sizeOf(i)))).slice(0, most - 1).sort((a, b) => a - b), null];
}
const heaviestOf = (list, numbers) => list.slice().sort((a, b) => numbers[b] - numbers[a] || a - b);
const productOf = ([a, b]) => walkValue(a) * (b ? walkValue(b) : 1);

/* "a × b + c × d + … ≈ e" of pairs of cells, and cells that are added. */
function saidSum(pairs, added, made, clips = false) {
    const few = fewOf(pairs.length, (i) => productOf(pairs[i]), MOST_PRODUCTS), whole = !few.includes(null);
    const shown = few.filter((i) => i !== null && (whole || productOf(pairs[i]) !== 0)).map((i) => pairs[i]);
    const terms = shown.map(([a, b], i) => (b ? [said(a, i > 0), ' × ', said(b, true)] : [said(a, i > 0)]));
    const sum = sumOf([...shown.map((pair) => pair.reduce((product, cell) => product * writtenNumber(walkText(cell)), 1)),
        ...added.map((cell) => writtenNumber(walkText(cell)))]);
    const exact = whole && Math.abs(sum - writtenNumber(walkText(made))) < 1e-9 * Math.max(1, Math.abs(sum));
    return [...listed([...terms, ...(whole ? [] : [['…']]), ...added.map((cell) => [said(cell, true)])], ' + ').flat(), clips ? ', clipped to ' : exact ? ' = ' : ' ≈ ', said(made)];
}

/* --- what it speaks of ------------------------------------------------------------------------------------------- */

const allowedKeys = ({ bias, empty }) => Array.from(bias.keys()).filter((key) => empty || bias[key] > -Infinity);
/* The keys with shares that two decimals show, at least one, from the largest on. */
const lookedAtKeys = ({ keys, line }) => heaviestOf(keys, line.dropped).filter((key, i) => i === 0 || line.dropped[key] >= 0.005);

/* The chosen query and key; where the query must not look at that key, the one that it looks at most. */
function walkPlace() {
    const sides = sidesNow(), { model } = shownEvaluation(), { row } = sides.place, line = lineOf(state.item, state.head, row);
    const keys = allowedKeys(line), key = keys.includes(sides.place.key) ? sides.place.key : heaviestKey(row);
    return {
        model, row, key, line, keys, token: model.rows[row], head: state.head,
        rowIn: (name) => (walkTable(name).rows === model.rows.length ? row : model.rows[row]),
        query: () => tokenElement(sides.queryTitle(row)), keyName: (one = key) => tokenElement(keyTitle(model, state.item, one)),
    };
}

/* A projection's parts: the row of its source and the first column of this head in its matrix. */
function walkProjection(place, id) {
    const { model, head } = place, by = projectionOf(model, id, head), [made] = [...stagesOnTheWay(model, id), id];
    const { name } = sourceRow(shownEvaluation(), id, state.item, place.row), matrix = plainName(by.weight.name);
    return { source: (i) => cellAt(name, place.rowIn(name), i), by: (i) => cellAt(matrix, i, by.first), count: by.weight.shape[0],
        bias: by.bias ? [cellAt(plainName(by.bias.name), 0, by.first)] : [], made: cellAt(made, place.row, 0), column: by.first + 1, matrix };
}

const pairsOf = ({ count, source, by }) => Array.from({ length: count }, (nothing, i) => [source(i), by(i)]);

const scoreParts = ({ model, row, key }) => ({ count: model.dHead, source: (i) => cellAt('query', row, i), by: (i) => cellAt('key', key, i),
    bias: [], made: cellAt('scores', row, key) });

function outputParts({ row, model }) {
    const weight = outProjection(model), bias = model.tables.get('out_proj.bias');
    return { count: weight.shape[0], source: (i) => cellAt('heads', row, i), by: (i) => cellAt('out_proj.weight', i, 0),
        bias: bias ? [cellAt('out_proj.bias', 0, 0)] : [], made: cellAt('output', row, 0) };
}

/* The words from the likeliest on. */
const likelyWords = ({ row }) => {
    const { columns, numbers } = walkTable('logits'), words = Array.from({ length: columns }, (nothing, word) => word);
    return heaviestOf(words, numbers.subarray(row * columns, (row + 1) * columns));
};
const wordName = (word) => tokenElement(columnName(walkTable('logits'), word));

function logitParts(place) {
    const [word] = likelyWords(place), { shape: [count] } = place.model.tables.get('unembedding');
    return { word, count, source: (i) => cellAt('residual', place.row, i), by: (i) => cellAt('unembedding', i, word),
        bias: place.model.tables.has('unembedding_bias') ? [cellAt('unembedding_bias', 0, word)] : [], made: cellAt('logits', place.row, word) };
}

const weightsName = () => (stageOf('dropped') ? 'dropped' : 'weights');

/* --- sentences --------------------------------------------------------------------------------------------------- */

function sayProjection(place) {
    const parts = walkProjection(place, 'query'), pairs = pairsOf(parts), clips = clipNotes(place.model, pairs.map((pair) => pair.map(walkValue)), parts.bias.map(walkValue), 0).length > 0;
    return [['The row of ', place.query(), ` meets column ${parts.column} of ${nameText(parts.matrix)}: `, ...saidSum(pairs, parts.bias, parts.made, clips),
        '. This is the first number of its query.']];
}

function sayScore(place) {
    const { line: { scores }, keys, key, row } = place, parts = scoreParts(place), [best] = heaviestOf(keys, scores);
    const rank = scores.every((score) => score <= scores[key]) ? ['It is the largest score of the row.']
        : scores[best] === scores[key] ? ['It is the largest score of the keys that the mask allows.']
            : ['The largest score of the keys that the mask allows is ', said(cellAt('scores', row, best)), ', with ', place.keyName(best), '.'];
    return [['The query of ', place.query(), ' meets the key of ', place.keyName(), ': ', ...saidSum(pairsOf(parts), parts.bias, parts.made), '.'], rank];
}

function sayScaled({ model, row, key, keyName }) {
    const scale = scaleOf(model), root = scale === 1 / Math.sqrt(model.dHead);
    const by = element('span', { class: 'walk-setting' }, root ? ` / √${model.dHead}` : ` × ${operandExact(scale)}`);
    return [['With ', keyName(), ': ', said(cellAt('scores', row, key)), by, ' ≈ ', said(cellAt('scaled', row, key)), '.']];
}

function sayCapped({ model: { settings: { softcap } }, row, key, keyName }) {
    const number = () => element('span', { class: 'walk-setting' }, String(softcap));
    return [['With ', keyName(), ': ', number(), ' × tanh(', said(cellAt('scaled', row, key)), ' / ', number(), ') ≈ ', said(cellAt('capped', row, key)), '.'],
        [`No score is beyond ±`, number(), '.']];
}

function sayMasked({ model, query, keyName, keys, line }) {
    if (line.empty) return [['The mask allows ', query(), ' no key.']];
    const hidden = Array.from({ length: model.keys }, (nothing, key) => key).filter((key) => !keys.includes(key));
    const names = hidden.slice(0, 3).map(keyName), others = hidden.length > 3 ? [` and ${hidden.length - 3} more`] : [];
    return [['The mask allows ', query(), ` ${keys.length} of ${model.keys} keys.`],
        ...(hidden.length > 0 ? [['It masks ', ...listed(names, ', '), ...others, '.']] : [])];
}

function sayWeights({ row, key, keys, line, query, keyName, model }) {
    if (line.empty) return [['The mask allows ', query(), ` no key, so ${EMPTY_REASONS(model.keys)[job.empty_row]}.`]];
    const [best, second] = heaviestOf(keys, line.weights), share = (one) => said(cellAt('weights', row, one));
    const others = second !== undefined && line.weights[second] < 0.005 ? ['The others get less than 0.01 each.'] /* no number of a table */
        : ['The next largest share, ', share(second ?? best), ', goes to ', keyName(second ?? best), '.'];
    const rank = key !== best ? [['The largest share, ', share(best), ', goes to ', keyName(best), '.']] : second === undefined ? [] : [others];
    return [['Of the row of ', query(), ', ', share(key), ' goes to ', keyName(), '.'], ...rank, ...(line.sink === null ? [] : [['A sink takes a share, too.']])];
}

function sayDropped({ line, keys, query, model: { settings: { dropout } } }) {
    const kept = keys.filter((key) => line.dropped[key] !== 0).length;
    return [[`Dropout kept ${kept} of ${keys.length} weights of `, query(), ' and divided them by 1 − ', element('span', { class: 'walk-setting' }, String(dropout)), '.']];
}

function sayContext(place) {
    const { row, line, keys, query, keyName } = place, shown = lookedAtKeys(place).slice(0, 2), name = weightsName();
    if (line.empty && job.empty_row !== 'mean') return [['The mask allows ', query(), ' no key, so its context is ', ...saidRow('context', row), '.']];
    const shares = shown.map((key) => [said(cellAt(name, row, key)), ' × the value of ', keyName(key)]);
    return [['The context of ', query(), ' is ', ...listed([...shares, ...(keys.length > shown.length ? [['…']] : [])], [' + ']).flat(), ': ', ...saidRow('context', row), '.']];
}

function sayOutput(place) {
    if (!outProjection(place.model)) return [['The output of ', place.query(), ' is ', ...saidRow('output', place.row), '.']];
    const parts = outputParts(place);
    return [['The row of ', place.query(), ' from all heads meets column 1 of out_proj: ', ...saidSum(pairsOf(parts), parts.bias, parts.made), '.']];
}

const saySum = (before, first, second, made) => ({ rowIn, query }) =>
    [[...before, query(), '. In column 1: ', ...saidSum([[cellAt(first, rowIn(first), 0)], [cellAt(second, rowIn(second), 0)]], [], cellAt(made, rowIn(made), 0)), '.']];

function sayLogits(place) {
    const parts = logitParts(place);
    return [['The row of ', place.query(), ' meets the column of ', wordName(parts.word), ': ', ...saidSum(pairsOf(parts), parts.bias, parts.made), ', the largest of the row.']];
}

function sayProbabilities(place) {
    const words = likelyWords(place).slice(0, 3).map((word) => [wordName(word), ' with ', said(cellAt('probabilities', place.row, word))]);
    return [['After ', place.query(), ' comes ', ...listed(words, [', ']).flat(), '.']];
}

/* --- figures: rows { label, cells, how } ------------------------------------------------------------------------- */

/* How a row arrives: its cells fly from the table, appear one after another, or appear and fly into the table; bars grow. */
const rowOf = (how, label, cells) => ({ how, label: [].concat(label), cells });

const cellsOf = (columns, of) => columns.map((i) => (i === null ? null : of(i)));
const wholeRow = (how, label, name, row) => rowOf(how, label, cellsOf(fewOf(walkTable(name).columns, () => 0), (i) => cellAt(name, row, i)));

/* A row and a column meet in a cell. */
function drawMeeting({ count, source, by, bias, made }, label, other, sum) {
    const product = (i) => ({ name: made.name, number: productOf([source(i), by(i)]) }), columns = fewOf(count, (i) => product(i).number);
    return [rowOf('fly', label, cellsOf(columns, source)), rowOf('fly', ['× ', other].flat(), cellsOf(columns, by)),
        rowOf('make', 'products', cellsOf(columns, product)), ...bias.map((cell) => rowOf('fly', '+ bias', [cell])), rowOf('into', ['sum: ', sum], [made])];
}

/* Stages of one query, a column for each key: all, or the heaviest. */
function drawStages(names) {
    return ({ row, keys, line, model, keyName }) => {
        const few = fewOf(model.keys, (key) => (keys.includes(key) ? line.weights[key] : -1));
        const there = names.filter(isThere), last = there[there.length - 1];
        const rows = there.slice(-2).map((name) => rowOf(name === last ? 'into' : 'fly', nameText(name), cellsOf(few, (key) => cellAt(name, row, key))));
        const bars = last === 'weights' ? [rowOf('bars', '', barsOf(few, (key) => line.masked[key], (key) => line.weights[key]))] : [];
        rows.splice(rows.length - 1, 0, ...bars);
        return [rowOf('still', '', cellsOf(few, (key) => ({ label: keyName(key) }))), ...rows];
    };
}

/* Bars as tall as shares, which grow from scores. */
function barsOf(few, scoreOf, shareOfOne) {
    const scores = few.filter((i) => i !== null).map(scoreOf).filter(Number.isFinite), most = Math.max(...scores), least = Math.min(...scores);
    return cellsOf(few, (i) => ({ bar: shareOfOne(i), from: Math.max(0.05, (scoreOf(i) - least) / (most - least || 1)) || 0 }));
}

/* The values, each times its weight, and their sum. */
function drawMix(place) {
    const { row, line, keys, keyName } = place, shown = lookedAtKeys(place).slice(0, MOST_MIXED).sort((a, b) => a - b);
    const columns = fewOf(walkTable('context').columns, (i) => walkValue(cellAt('context', row, i)));
    const scaled = (key) => (i) => ({ name: 'context', number: line.dropped[key] * walkValue(cellAt('value', key, i)), source: cellAt('value', key, i) });
    const mixed = shown.map((key) => rowOf('fly', [walkText(cellAt(weightsName(), row, key)), ' × ', keyName(key)], cellsOf(columns, scaled(key))));
    const more = keys.length > shown.length ? [rowOf('still', `and ${keys.length - shown.length} more`, [])] : [];
    return [...mixed, ...more, rowOf('into', ['sum: context'], cellsOf(columns, (i) => cellAt('context', row, i)))];
}

const drawSum = (first, second, made) => ({ rowIn }) => [wholeRow('fly', nameText(first), first, rowIn(first)),
    wholeRow('fly', ['+ ', nameText(second)], second, rowIn(second)), wholeRow('into', ['= ', nameText(made)], made, rowIn(made))];

function drawSides({ row, model }) {
    const heads = [...Array(Math.min(model.heads, MOST_MIXED)).keys()], columns = fewOf(model.dValue, () => 0);
    return [...heads.map((head) => rowOf('make', `head ${head + 1}`, cellsOf(columns, (i) => cellAt('heads', row, head * model.dValue + i)))),
        wholeRow('into', 'side by side', 'heads', row)];
}

function drawWords(place) {
    const words = likelyWords(place).slice(0, MOST_MIXED), of = (name) => words.map((word) => cellAt(name, place.row, word));
    return [rowOf('still', '', words.map((word) => ({ label: wordName(word) }))), rowOf('fly', 'logits', of('logits')),
        rowOf('bars', '', barsOf(words, (word) => walkValue(cellAt('logits', place.row, word)), (word) => walkValue(cellAt('probabilities', place.row, word)))),
        rowOf('into', 'shares', of('probabilities'))];
}

/* --- the steps --------------------------------------------------------------------------------------------------- */

const WALK = [
    {
        title: 'What a row is', tables: ['inputs'],
        text: ['A language model does not read words.', 'A word has the same embedding in every sentence.'],
        says: ({ token, query }) => [[query(), ` is a row of ${plural(walkTable('inputs').columns, 'number')}: `, ...saidRow('inputs', token), '.']],
        draws: ({ token, query }) => [wholeRow('fly', [query()], 'inputs', token)],
    },
    {
        title: 'Positions', tables: ['embedded'], also: ['positions'],
        text: [],
        says: saySum(['Each position has a row, too, which is added to that of '], 'inputs', 'positions', 'embedded'),
        draws: drawSum('inputs', 'positions', 'embedded'),
    },
    {
        title: 'Three matrices', tables: ['W_query.weight', 'W_query'],
        also: ['W_key.weight', 'W_key', 'W_value.weight', 'W_value'],
        text: ['Query, key and value are each the embedding times a weight matrix.', 'Training changes their numbers.'],
        says: sayProjection,
        draws: (place) => drawMeeting(walkProjection(place, 'query'), [place.query()], nameText(walkProjection(place, 'query').matrix), 'query'),
    },
    {
        title: 'Three rows of each token', tables: ['query'], also: ['key', 'value'],
        text: ['The query is what a token looks for.', 'The key is what other tokens find it by.', 'The value is what it gives to those that find it.'],
        says: ({ row, key, query, keyName }) => [[query(), ' looks with its query ', ...saidRow('query', row), '.'],
            ['It finds ', keyName(), ' by the key ', ...saidRow('key', key), '.']],
        draws: ({ row, key, query, keyName }) => [wholeRow('fly', ['query of ', query()], 'query', row),
            wholeRow('fly', ['key of ', keyName()], 'key', key), wholeRow('fly', ['value of ', keyName()], 'value', key)],
    },
    {
        title: 'Scores', tables: ['scores'], also: ['query', 'key'],
        text: ['A query asks every key.', 'The answer is a score: the dot product of the query and that key.'],
        says: sayScore,
        draws: (place) => drawMeeting(scoreParts(place), [place.query()], [place.keyName()], 'score'),
    },
    {
        title: 'Scaled', tables: ['scaled'],
        text: ['A score is a sum of products, one for each column.', 'So with more columns, the scores of a row are further apart.'],
        says: sayScaled, draws: drawStages(['scores', 'scaled']),
    },
    { title: 'Capped', tables: ['capped'], text: [], says: sayCapped, draws: drawStages(['scaled', 'capped']) },
    {
        title: 'Masked', tables: ['masked'],
        text: ['A mask says for each query which keys are allowed.', 'The masked scores become minus infinity.',
            'e to the power of minus infinity is 0, so softmax gives them the weight 0.'],
        says: sayMasked, draws: drawStages(['scaled', 'capped', 'masked']),
    },
    {
        title: 'Weights', tables: ['weights'],
        text: ['Softmax turns a row of numbers into shares.', 'Each row of weights adds up to 1.'],
        says: sayWeights, draws: drawStages(['scaled', 'capped', 'masked', 'weights']),
    },
    {
        title: 'Dropped', tables: ['dropped'],
        text: ['While a model learns, dropout sets some weights to 0, at random.'],
        says: sayDropped, draws: drawStages(['weights', 'dropped']),
    },
    {
        title: 'Context', tables: ['context'], also: ['value'],
        text: ['The weights say how much a token takes from each token.', 'The values are what it takes.'],
        says: sayContext, draws: drawMix,
    },
    {
        title: 'Several heads', tables: ['heads'],
        text: ['A head has one table of weights, so each token looks at the others in one way only.',
            'Several heads look in several ways at once, each with matrices of its own.'],
        says: ({ head, model: { dValue: columns }, row }) => [[`Head ${head + 1} fills columns ${head * columns + 1} to ${(head + 1) * columns}: `, ...saidRow('context', row), '.']],
        draws: drawSides,
    },
    {
        title: 'Output', tables: ['output'], also: ['out_proj.weight'],
        text: ['The output has one row for each token, as the inputs had.'],
        says: sayOutput,
        draws: (place) => (outProjection(place.model) ? drawMeeting(outputParts(place), [place.query()], 'out_proj', 'output') : drawSides(place)),
    },
    {
        title: 'Residual', tables: ['residual'], text: [],
        says: saySum(['What the heads found is added to the row of '], 'embedded', 'output', 'residual'), draws: drawSum('embedded', 'output', 'residual'),
    },
    {
        title: 'Logits', tables: ['logits'], also: ['unembedding'], text: [], says: sayLogits,
        draws: (place) => drawMeeting(logitParts(place), [place.query()], [wordName(logitParts(place).word)], 'logit'),
    },
    { title: 'The next word', tables: ['probabilities'], text: [], says: sayProbabilities, draws: drawWords },
];

const stepsHere = () => WALK.map((step) => ({ ...step, table: step.tables.find(isThere) })).filter((step) => step.table);

/* The sentences of a step; of a table that a mistake made, its formula. */
function walkSentences(step, place) {
    const own = isWrong(step.table) ? [[`A mistake on purpose: ${nameText(step.table)} = ${stageOf(step.table).formula}.`]] : step.says(place);
    return [...own.map((parts) => element('p', { class: 'walk-own' }, ...parts)), ...step.text.map((sentence) => element('p', { class: 'walk-lesson' }, sentence))];
}

/* --- the elements ------------------------------------------------------------------------------------------------ */

function figureCell(cell) {
    if (cell === null) return element('span', { class: 'walk-cell walk-more' }, '…');
    if (cell.label) return element('span', { class: 'walk-cell walk-label' }, cell.label);
    if (cell.bar !== undefined) {
        const bar = element('i', {});
        bar.style.height = `${100 * Math.min(1, cell.bar || 0)}%`;
        return element('span', { class: 'walk-cell walk-bars' }, bar);
    }
    const table = walkTable(cell.name), hidden = cell.row !== undefined && isHidden(table, cell.row * table.columns + cell.column);
    const colour = cellColour(walkValue(cell), hidden, shownTable(cell.name).scale), made = element('span', { class: 'walk-cell' }, walkText(cell));
    made.style.background = colourText(colour);
    made.style.color = inkOn(colour);
    return made;
}

function figureRow({ how, label, cells }) {
    const made = element('div', { class: `walk-row walk-${how}` }, element('span', { class: 'walk-name' }, ...label), ...cells.map(figureCell));
    made.row = { how, cells };
    return made;
}

const isSlides = () => document.body.classList.contains('slides');

/* The table of the step as large as the slide has room, with large letters. */
function drawSlideTable(step) {
    const canvas = byId('walk-table'), shown = shownTable(step.table), context = canvas.getContext('2d'), size = rootSizeNow;
    const { clientWidth: width } = canvas.parentElement, place = placeIn(step.table, shown);
    rootSizeNow = size * 1.4;
    setFont(context, labelFont());
    const natural = largeLayout(context, Math.min(width, 800), shown), layout = { ...natural, canvasWidth: width };
    const factor = Math.min(1.6, (width - 4) / (natural.left + natural.width + 2), innerHeight * 0.45 / (natural.top + natural.height + 8));
    for (const part of ['left', 'top', 'cell', 'cellHeight', 'width', 'height']) layout[part] *= factor;
    layout.left += GAP * 2;
    layout.top = Math.max(layout.top, 24 * rootSizeNow * factor / 16);
    rootSizeNow *= factor;
    drawTable(canvas, shown, layout, { labels: true, place, chosen: false, byRow: state.byRow && isSquare(step.table) });
    rootSizeNow = size;
    walk.layout = layout;
}

/* Shows the step in the numbers of now; what moves stops where these changed. */
function showWalk() {
    if (walk.at < 0) return;
    const { title } = walk.steps[walk.at];
    walk.steps = stepsHere();
    walk.at = Math.max(0, walk.steps.findIndex((step) => step.title === title));
    const step = walk.steps[walk.at], place = walkPlace(), rows = isWrong(step.table) ? [] : step.draws(place).map(figureRow);
    const text = walkSentences(step, place), key = [...text, ...rows].map((part) => part.outerHTML).join('');
    if (isSlides()) drawSlideTable(step);
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
    const shown = isSlides() ? { canvas: byId('walk-table'), layout: name === walk.steps[walk.at].table ? walk.layout : null } : flow.cards.get(name);
    if (row === undefined || !shown || !shown.layout) return null;
    const { left, top } = shown.canvas.getBoundingClientRect(), { layout } = shown;
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
        for (const [{ firstElementChild: bar }, { from }] of cells)
            bar.animate([{ height: 0, offset: 0 }, { height: `${100 * from}%`, offset: 0.3 }, { height: `${100 * from}%`, offset: 0.5 }, { height: bar.style.height }],
                { duration: 1600, delay: begins, easing: EASE, fill: 'backwards' });
        return begins + 1300;
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
function playWhenStill(step, last = NaN, still = 0, frames = 0) {
    if (walk.steps[walk.at] !== step) return;
    const { top } = byId(`card-${step.table}`).getBoundingClientRect();
    if (still > 4 || frames > 120) playWalk();
    else requestAnimationFrame(() => playWhenStill(step, top, top === last ? still + 1 : 0, frames + 1));
}

/* --- from step to step ------------------------------------------------------------------------------------------- */

function openWalk() {
    walk.from = document.activeElement;
    walk.steps = stepsHere();
    state.at.key = walkPlace().key;
    byId('walk').hidden = false;
    document.body.classList.add('walking');
    repaint();
    goWalk(0);
}

function closeWalk() {
    stopMoving();
    setSlides(false);
    Object.assign(walk, { at: -1, names: [], shown: '' });
    byId('walk').hidden = true;
    document.body.classList.remove('walking');
    repaint();
    if (walk.from) walk.from.focus();
}

function goWalk(at) {
    walk.at = within(at, walk.steps.length);
    const step = walk.steps[walk.at];
    walk.names = [step.table, ...(step.also || [])];
    chooseTable(step.table);
    byId('walk-back').disabled = walk.at === 0;
    if (!byId('walk').contains(document.activeElement)) byId('walk-next').focus({ preventScroll: true });
    scrollToStep();
    playWhenStill(walk.steps[walk.at]);
}

/* The table is in sight: above the walk where it is a sheet from below, as the style has it. */
function scrollToStep() {
    const block = matchMedia('(max-width: 79.99rem)').matches ? 'start' : 'center';
    byId(`card-${walk.steps[walk.at].table}`).scrollIntoView({ block, behavior: isCalm() ? 'auto' : 'smooth' });
}

function nextWalk() {
    if (walk.at === walk.steps.length - 1) closeWalk();
    else goWalk(walk.at + 1);
}

/* --- slides ------------------------------------------------------------------------------------------------------ */

/* One step fills the window, and the screen where the browser allows it. */
function setSlides(on) {
    if (isSlides() === on) return;
    document.body.classList.toggle('slides', on);
    for (const part of document.body.children) if (part !== byId('walk')) part.inert = on;
    if (on && navigator.userActivation?.isActive !== false) document.documentElement.requestFullscreen?.().catch(() => {});
    if (!on && document.fullscreenElement) document.exitFullscreen();
    byId('walk-slides').setAttribute('aria-pressed', String(on));
    stopMoving();
    repaint();
    scrollToStep();
    playWhenStill(walk.steps[walk.at]);
}

const WALK_KEYS = {
    ArrowRight: () => goWalk(walk.at + 1), PageDown: () => goWalk(walk.at + 1), ArrowLeft: () => goWalk(walk.at - 1), PageUp: () => goWalk(walk.at - 1),
    Home: () => goWalk(0), End: () => goWalk(walk.steps.length - 1), f: () => setSlides(!isSlides()), r: playWalk,
};

function onWalkKey(event) {
    if (walk.at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const press = WALK_KEYS[event.key] || WALK_KEYS[event.key.toLowerCase()];
    if (event.key === 'Escape') (isSlides() ? setSlides(false) : closeWalk());
    else if (press && (isSlides() || byId('walk').contains(event.target))) press();
    else return;
    event.preventDefault();
}

function listenToWalk() {
    byId('walk-open').addEventListener('click', openWalk);
    byId('walk-next').addEventListener('click', nextWalk);
    byId('walk-back').addEventListener('click', () => {
        if (walk.at === 1) byId('walk-next').focus({ preventScroll: true }); /* Back is then disabled */
        goWalk(walk.at - 1);
    });
    byId('walk-replay').addEventListener('click', playWalk);
    byId('walk-slides').addEventListener('click', () => setSlides(!isSlides()));
    byId('walk-close').addEventListener('click', closeWalk);
    addEventListener('keydown', onWalkKey);
    addEventListener('fullscreenchange', () => document.fullscreenElement || setSlides(false));
}
