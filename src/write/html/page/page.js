/* What is chosen, the controls that choose it, and the page that follows. */

/* `chosen`: the cell that was clicked or reached with keys; its row is the query that is followed. `pointed`: the cell
 * beneath the pointer, or null. */
const state = {
    item: 0, head: 0, stage: job.squares.includes('weights') ? 'weights' : job.squares[job.squares.length - 1],
    allHeads: false, allRows: false, byRow: job.keys > 64, chosen: { row: job.rows - 1, key: 0 }, pointed: null,
};
const layouts = { heatmap: null, links: null };
const looked = () => state.pointed || state.chosen;

/* --- drawing ----------------------------------------------------------------------------------------------------- */

function showHeatmap() {
    layouts.heatmap = drawHeatmap(byId('heatmap'), state, state.chosen, looked());
    const matrix = matrixOf(state.item, state.head, state.stage);
    drawLegend(matrix, state.byRow);
    byId('formula').textContent = `${state.stage} = ${job.formulas[state.stage]}`;
}

function showLinks() {
    layouts.links = drawLinks(byId('links'), state, state.chosen, looked());
    byId('links-of').textContent = queryTitle(state.item, state.chosen.row);
}

/* What changes while the pointer moves. */
function showPointed() {
    showHeatmap();
    showArithmetic(state, looked());
}

function show() {
    showPointed();
    showLinks();
    if (job.has('context')) showContext(state, state.chosen, looked());
    byId('spoken').textContent = spokenCell(state, state.chosen);
}

/* --- choosing ---------------------------------------------------------------------------------------------------- */

const within = (i, count) => Math.min(Math.max(i, 0), count - 1);

function choose(cell) {
    state.chosen = { row: within(cell.row, job.rows), key: within(cell.key, job.keys) };
    state.pointed = null;
    show();
}

function chooseHead(head) {
    state.head = (head + job.heads) % job.heads;
    const control = byId(`head-${state.head}`);
    if (control) control.checked = true;
    else if (byId('head-list')) byId('head-list').value = String(state.head);
    show();
}

function chooseStage(index) {
    state.stage = job.squares[(index + job.squares.length) % job.squares.length];
    byId(`stage-${state.stage}`).checked = true;
    show();
}

function cellOfKeyPress(event) {
    const { row, key } = state.chosen, far = event.ctrlKey || event.metaKey;
    const moves = {
        ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-10, 0], PageDown: [10, 0],
        Home: [far ? -row : 0, -key], End: [far ? job.rows : 0, job.keys],
    };
    const move = moves[event.key];
    return move ? { row: row + move[0], key: key + move[1] } : null;
}

function onKey(event) {
    const cell = cellOfKeyPress(event);
    if (cell) choose(cell);
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key.toLowerCase() === 'h') chooseHead(state.head + (event.shiftKey ? -1 : 1));
    else if (event.key.toLowerCase() === 's') chooseStage(job.squares.indexOf(state.stage) + (event.shiftKey ? -1 : 1));
    else return;
    event.preventDefault();
}

function pointIn(event) {
    const box = event.currentTarget.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
}

/* The pointer leads until it leaves; a click or a tap stays. */
function listenToHeatmap(canvas) {
    const cellAt = (event) => heatmapCell(layouts.heatmap, ...pointIn(event));
    canvas.addEventListener('pointermove', (event) => {
        const cell = cellAt(event), before = looked();
        if (event.pointerType === 'touch') return;
        state.pointed = cell;
        if (looked().row !== before.row || looked().key !== before.key) showPointed();
    });
    canvas.addEventListener('pointerleave', () => {
        state.pointed = null;
        showPointed();
    });
    canvas.addEventListener('click', (event) => {
        const cell = cellAt(event);
        if (cell) choose(cell);
    });
    canvas.addEventListener('keydown', onKey);
}

function listenToLinks(canvas) {
    canvas.addEventListener('click', (event) => choose({ ...state.chosen, ...linksToken(layouts.links, ...pointIn(event)) }));
    canvas.addEventListener('keydown', onKey);
}

/* --- controls ---------------------------------------------------------------------------------------------------- */

const MOST_BUTTONS = 32;

/* Radio buttons in a row: one stop of the Tab key, arrows move among them. */
function addChoices(group, name, choices, chosen, onChoose) {
    choices.forEach(({ id, text, colour }, i) => {
        const input = element('input', { type: 'radio', name, id });
        input.checked = i === chosen;
        input.addEventListener('change', () => onChoose(i));
        const label = element('label', { for: id }, text);
        if (colour !== undefined) label.prepend(element('span', { class: 'swatch', 'data-head': String(colour) }));
        group.append(input, label);
    });
}

function addList(group, id, label, count, onChoose) {
    const list = element('select', { id, 'aria-label': label });
    for (let i = 0; i < count; i++) list.append(element('option', { value: String(i) }, String(i + 1)));
    list.addEventListener('change', () => onChoose(Number(list.value)));
    group.append(list);
}

function addHeads() {
    byId('heads').hidden = !job.has_heads;
    const heads = Array.from({ length: job.heads }, (nothing, i) => ({ id: `head-${i}`, text: String(i + 1), colour: i }));
    if (job.heads > MOST_BUTTONS) addList(byId('heads'), 'head-list', 'Head', job.heads, chooseHead);
    else addChoices(byId('heads'), 'head', heads, 0, chooseHead);
}

function addItems() {
    byId('items').hidden = !job.has_batch;
    addList(byId('items'), 'item-list', 'Item', job.items, (item) => {
        state.item = item;
        show();
    });
}

function addSwitches() {
    const switches = [
        ['all-heads', 'allHeads', job.heads > 1],
        ['all-rows', 'allRows', job.rows > 1 && allRowsFit(state)],
        ['by-row', 'byRow', job.rows > 1],
    ];
    for (const [id, name, useful] of switches) {
        byId(id).parentElement.hidden = !useful;
        byId(id).checked = state[name];
        byId(id).addEventListener('change', () => {
            state[name] = byId(id).checked;
            show();
        });
    }
}

function paintSwatches() {
    for (const swatch of document.querySelectorAll('.swatch')) swatch.style.background = headColour(Number(swatch.dataset.head));
}

/* --- the header -------------------------------------------------------------------------------------------------- */

function sizesText() {
    const parts = [job.queries === job.keys ? plural(job.keys, 'token')
        : `${plural(job.queries, 'query', 'queries')}, ${plural(job.keys, 'key')}`];
    if (job.rows !== job.queries) parts.push(`${plural(job.rows, 'query', 'queries')} shown`);
    if (job.has_batch) parts.unshift(plural(job.items, 'item'));
    parts.push(job.has_heads ? `${plural(job.heads, 'head')} of ${plural(job.d_head, 'column')}` : plural(job.d_head, 'column'));
    if (job.key_heads !== job.heads) parts.push(`${job.key_heads} of key and value`);
    if (job.d_value !== job.d_head) parts.push(`${plural(job.d_value, 'column')} of value`);
    return parts.join(' · ');
}

function showHeader() {
    const title = job.title[0].toUpperCase() + job.title.slice(1);
    document.title = `${title}: ${sizesText()}`;
    byId('title').textContent = title;
    byId('sizes').textContent = sizesText();
    byId('version').textContent = `attn ${job.attn}`;
    for (const [name, text] of job.settings)
        byId('settings').append(element('div', {}, element('dt', {}, name), element('dd', {}, tokenElement(text))));
}

/* --- the beginning ----------------------------------------------------------------------------------------------- */

function start() {
    showHeader();
    addItems();
    addHeads();
    addChoices(byId('stages'), 'stage', job.squares.map((name) => ({ id: `stage-${name}`, text: name })),
        job.squares.indexOf(state.stage), chooseStage);
    addSwitches();
    byId('context-panel').hidden = !job.has('context');
    listenToHeatmap(byId('heatmap'));
    listenToLinks(byId('links'));
    const repaint = () => {
        paintSwatches();
        show();
    };
    prefersDark.addEventListener('change', repaint);
    addEventListener('resize', show);
    for (const [event, value] of [['beforeprint', true], ['afterprint', false]])
        addEventListener(event, () => {
            printing = value;
            repaint();
        });
    state.chosen.key = heaviestKey(state, state.chosen.row);
    repaint();
}

start();
