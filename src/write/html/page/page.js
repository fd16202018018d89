// SPDX-License-Identifier: MIT
/* The page: when to draw what, the header, keys of the large table, and the start. */

const layouts = { large: null };

/* --- drawing ----------------------------------------------------------------------------------------------------- */

function showLarge() {
    const shown = shownTable(state.name), canvas = byId('large'), width = roomOf.large;
    const context = canvas.getContext('2d'), cell = lookedAt();
    const layout = { ...largeLayout(context, width, shown), canvasWidth: width };
    layouts.large = layout;
    const byRow = state.byRow && isSquare(state.name);
    drawTable(canvas, shown, layout, { labels: true, place: cell, chosen: true, byRow });
    canvas.classList.toggle('editable', isEditable(state.name) && state.mode !== 'before');
    canvas.setAttribute('aria-label', `${nameText(state.name)}, ${shown.rows} rows, ${shown.columns} columns`);
    drawLegend(shown, byRow);
}

function showLargeText() {
    const stage = stageOf(state.name), name = nameText(state.name);
    byId('large-title').textContent = name[0].toUpperCase() + name.slice(1);
    byId('row-sentence').textContent = isWrong(state.name) ? 'A mistake on purpose.' : rowSentence(state.name);
    const isGradient = state.layer === 'gradients', formula = isGradient ? gradientFormula(model, state.name) : stage ? stage.formula : '';
    byId('formula').textContent = formula && `${isGradient ? 'gradient of ' : ''}${name} = ${formula}`;
    byId('by-row').parentElement.hidden = !isSquare(state.name) || shownTable(state.name).rows < 2;
    const lost = isEdited() && state.mode !== 'after' && shownTable(state.name).mode === 'after';
    byId('large-note').textContent = lost ? 'Before the edits this table had another shape.' : '';
}

/* The colours from least to most, and a masked cell. */
function drawLegend(shown, byRow) {
    const { scale } = shown, table = scaleTable(scale), stops = [];
    for (let i = 0; i < 256; i += 15) stops.push(colourText(table.subarray(i * 3, i * 3 + 3)));
    byId('legend-bar').style.background = `linear-gradient(to right, ${stops.join(', ')})`;
    byId('legend-least').textContent = byRow && scale.signed ? '− the row’s largest' : numberText(scale.least, 2);
    byId('legend-most').textContent = byRow ? 'the row’s largest' : numberText(scale.most, 2);
    byId('legend-masked').hidden = shown.masked === null || !shown.masked.includes(1);
}

function showArithmetic() {
    const { row, column } = lookedAt(), evaluation = shownTable(state.name).mode === 'before' ? before : after;
    const name = heldName(evaluation.model, state.name, state.head);
    byId('arithmetic').replaceChildren(evaluation.explain(name, state.item, state.head, row, column));
}

function showPointed() {
    showLarge();
    showCellBar();
    showArithmetic();
}

/* Pictures first, then the elements: a picture drawn after them would make the browser lay out the page. */
function show() {
    showLarge();
    drawFlow();
    showLargeText();
    showCellBar();
    showArithmetic();
    showHeadChoice();
    drawHeads();
    showContext();
    showTokens();
    paintTokens();
    showSentence();
    showPrediction();
    showSettings();
    showPast();
    showWalk();
    byId('sizes').textContent = sizesText();
    if (!drag) byId('spoken').textContent = spokenNow();
}

/* The chosen cell in a sentence, for screen readers. */
function spokenNow() {
    const shown = shownTable(state.name), { row, column } = lookedAt(), at = row * shown.columns + column;
    const head = isOfHeads(state.name) && headsNow() > 1 ? `head ${state.head + 1}, ` : '';
    const ghost = shown.ghosts && hasGhost(shown, at) ? `, before ${numberText(shown.ghosts[at])}` : '';
    return `${head}${nameText(state.name)}, row ${row + 1} ${rowName(shown, row)}, column ${column + 1} `
        + `${columnName(shown, column)}: ${numberText(shown.numbers[at])}${isHidden(shown, at) ? ', masked' : ''}${ghost}`;
}

function paintSwatches() {
    for (const swatch of document.querySelectorAll('.swatch'))
        swatch.style.background = headColour(Number(swatch.dataset.head));
}

function repaint() {
    measureRoom();
    paintSwatches();
    show();
}

/* --- choosing ---------------------------------------------------------------------------------------------------- */

function chooseTable(name) {
    state.name = name;
    state.pointed = null;
    show();
}

function chooseCell(name, row, column) {
    choosePlace(name, row, column);
    show();
}

function chooseAt(at) {
    Object.assign(state.at, at);
    state.pointed = null;
    show();
}

function chooseHead(head) {
    state.head = (head + headsNow()) % headsNow();
    show();
}

function stepTable(steps) {
    const names = [...flow.cards.keys()];
    chooseTable(names[(names.indexOf(state.name) + steps + names.length) % names.length]);
}

function stepMode() {
    if (!isEdited()) return;
    const modes = ['before', 'after', 'difference'];
    setMode(modes[(modes.indexOf(state.mode) + 1) % modes.length]);
    keepChoice();
    show();
}

/* On a narrow screen the arithmetic is a sheet from below. */
const showSheet = (open) => byId('arithmetic-panel').classList.toggle('open', open);

/* --- keys -------------------------------------------------------------------------------------------------------- */

function cellOfKeyPress(event) {
    const shown = shownTable(state.name), { row, column } = placeIn(state.name, shown);
    const far = event.ctrlKey || event.metaKey;
    const moves = {
        ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-10, 0], PageDown: [10, 0],
        Home: [far ? -row : 0, -column], End: [far ? shown.rows : 0, shown.columns],
    };
    const move = moves[event.key];
    return move ? [row + move[0], column + move[1]] : null;
}

function editFromKeys() {
    if (!isEditable(state.name) || state.mode === 'before') return;
    openField(byId('large'), layouts.large, state.name, placeIn(state.name, shownTable(state.name)));
}

const LETTERS = {
    h: (steps) => chooseHead(state.head + steps), s: stepTable, d: stepMode, enter: editFromKeys, f2: editFromKeys,
    '+': () => nudge(1, false), '-': () => nudge(-1, false), escape: () => showSheet(false),
};

function onKey(event) {
    const cell = event.altKey ? null : cellOfKeyPress(event);
    const step = event.altKey ? { ArrowUp: 1, ArrowDown: -1 }[event.key] : undefined;
    if (step) nudge(step, event.shiftKey);
    else if (cell) chooseCell(state.name, ...cell);
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key.toLowerCase() in LETTERS) LETTERS[event.key.toLowerCase()](event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
}

/* --- heads, items, switches -------------------------------------------------------------------------------------- */

const MOST_BUTTONS = 16;

function addList(group, id, label, count, onChoose) {
    const list = element('select', { id, 'aria-label': label });
    for (let i = 0; i < count; i++) list.append(element('option', { value: String(i) }, String(i + 1)));
    list.addEventListener('change', () => onChoose(Number(list.value)));
    group.append(list);
}

/* Radio buttons: one stop of the Tab key, arrows move among them. */
function addHeadButton(group, head) {
    const input = element('input', { type: 'radio', name: 'head', id: `head-${head}` });
    input.addEventListener('change', () => chooseHead(head));
    const swatch = element('span', { class: 'swatch', 'data-head': String(head) });
    group.append(input, element('label', { for: `head-${head}` }, swatch, headLabel(head).replace('head ', '')));
}

let headButtons = 0;
function showHeadChoice() {
    const group = byId('heads'), count = headsNow();
    group.hidden = count < 2;
    if (headButtons !== count) {
        headButtons = count;
        group.replaceChildren(element('legend', {}, 'Head'));
        if (count > MOST_BUTTONS) addList(group, 'head-list', 'Head', count, chooseHead);
        else for (let head = 0; head < count; head++) addHeadButton(group, head);
        paintSwatches();
    }
    if (byId('head-list')) byId('head-list').value = String(state.head);
    else {
        byId(`head-${state.head}`).checked = true;
        for (let head = 0; head < count; head++) byId(`head-${head}`).classList.toggle('out', model.headsOut.includes(head));
    }
}

function addItems() {
    byId('items').hidden = job.items < 2;
    addList(byId('items'), 'item-list', 'Item', job.items, (item) => {
        state.item = item;
        forgetShown();
        keepChoice();
        show();
    });
}

function addSwitches() {
    byId('by-row').checked = state.byRow;
    byId('by-row').addEventListener('change', () => {
        state.byRow = byId('by-row').checked;
        show();
    });
}

/* --- the header -------------------------------------------------------------------------------------------------- */

function sizesText() {
    const { queries, keys, heads, columns } = sizesOf(after);
    const tokens = `${plural(queries, 'query', 'queries')}, ${plural(keys, 'key')}`;
    const parts = [queries === keys ? plural(keys, 'token') : tokens];
    if (job.items > 1) parts.unshift(plural(job.items, 'item'));
    parts.push(heads > 1 ? `${plural(heads, 'head')} of ${plural(columns, 'column')}` : plural(columns, 'column'));
    return parts.join(' · ');
}

function sizesOf(evaluation) {
    const [query, key] = ['query', 'key'].map((name) => evaluation.table(name, state.item, 0));
    return { queries: query.rows, keys: key.rows, heads: headsNow(), columns: query.columns };
}

function addHeader() {
    const title = job.title[0].toUpperCase() + job.title.slice(1);
    document.title = `${title}: ${sizesText()}`;
    byId('title').textContent = title;
    byId('about').append(...withSentences(job.comment || ''));
    byId('version').textContent = `attn ${job.attn}`;
    byId('flow-help').hidden = !tableNames().some(isEditable);
    byId('starts').textContent = [model.startsBecause, whyFixed()].filter(Boolean).join(' ');
    for (const [name, text] of job.settings)
        byId('settings').append(element('div', {}, element('dt', {}, name), element('dd', {}, tokenElement(text))));
}

/* --- the beginning ----------------------------------------------------------------------------------------------- */

function listenToPage() {
    listenToTable(byId('large'), () => ({ name: state.name, layout: layouts.large }), true);
    byId('large').addEventListener('keydown', onKey);
    listenToLayers();
    byId('sheet-close').addEventListener('click', () => showSheet(false));
    prefersDark.addEventListener('change', repaint);
    addEventListener('resize', repaint);
    matchMedia('print').addEventListener('change', repaint); // Firefox is back from paper after `afterprint`
    for (const [event, value] of [['beforeprint', true], ['afterprint', false]])
        addEventListener(event, () => {
            printing = value;
            document.documentElement.classList.toggle('printing', value);
            repaint();
        });
}

/* Keeps each column beside the flow in view: its top, or its bottom if it is taller than the window. */
function keepInView() {
    for (const column of document.querySelectorAll('.middle, .side'))
        column.style.top = `${Math.min(12, document.documentElement.clientHeight - column.offsetHeight - 12)}px`;
}

function start() {
    const sizes = new ResizeObserver(keepInView);
    for (const column of document.querySelectorAll('.middle, .side')) sizes.observe(column);
    addEventListener('resize', keepInView);
    measureRoom();
    readLink();
    state.name = firstName();
    state.byRow = shownTable('key').rows > 64;
    state.at.query = shownTable('query').rows - 1;
    state.at.key = heaviestKey(state.at.query);
    addHeader();
    addItems();
    addSwitches();
    listenToFields();
    listenToControls();
    listenToSentence();
    listenToWalk();
    listenToPage();
    const { theme: chosen } = document.documentElement.dataset;
    byId(`theme-${chosen in { light: 1, dark: 1 } ? chosen : 'auto'}`).checked = true;
    repaint();
}

start();
