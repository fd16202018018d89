// SPDX-License-Identifier: MIT
/* From inputs to output: a small table for each step, with the operation between them. A click in one makes it the
 * large table, and chooses its cell. */

/* The steps: the operation on the tables before, and the tables that it makes. A lane has the matrices of a
 * projection, and what they make, one after another. */
const LANES = ['query', 'key', 'value'].map((side) => ({
    matrices: [`W_${side}.weight`, `W_${side}`, `W_${side}.bias`], made: [`projected_${side}`, `normed_${side}`, side],
}));
const WAY = [
    { names: ['inputs', 'key_inputs'] },
    { done: 'norm', names: ['normed'] },
    { done: '× W', lanes: LANES },
    { done: 'query · key', names: ['scores'] },
    { done: '× scale', names: ['scaled'] },
    { done: 'softcap', names: ['capped'] },
    { done: 'mask', names: ['masked'] },
    { done: 'softmax', names: ['weights', 'entropy'] },
    { done: 'dropout', names: ['dropped'] },
    { done: '· value', names: ['context'] },
    { done: 'side by side', names: ['heads'] },
    { done: '× W', lanes: [{ matrices: ['out_proj.weight', 'out_proj', 'out_proj.bias'], made: ['output'] }] },
];

const LANE_NAMES = new Set(WAY.flatMap(({ lanes = [] }) => lanes.flatMap(({ matrices, made }) => [...matrices, ...made])));

const flow = { names: '', cards: new Map() }; /* name -> { card, canvas, layout } */

/* The room of a small table, in CSS pixels. */
function smallRoom(name) {
    const scale = rootSizeNow / 16, narrow = innerWidth < 600, inLane = LANE_NAMES.has(name);
    const wide = !narrow ? 190 : inLane ? (innerWidth - 172) / 2 : Math.min(230, innerWidth - 130);
    return [wide * scale, (/bias$/.test(name) ? 22 : /^W_|^query$|^key$|^value$/.test(name) ? 112 : 172) * scale];
}

/* --- the elements ------------------------------------------------------------------------------------------------ */

function addCard(name, parent) {
    const id = `card-${name}`, canvas = element('canvas', { 'aria-hidden': 'true', width: 1, height: 1 }); // until it is drawn
    const button = element('button', { type: 'button', class: 'card-name', tabindex: '-1' }, nameText(name));
    const card = element('div', { class: 'card', id, 'data-table': name },
        element('div', { class: 'card-head' }, button, element('span', { class: 'card-note' })), canvas);
    button.addEventListener('click', () => chooseTable(name));
    button.addEventListener('keydown', onFlowKey);
    parent.append(card);
    flow.cards.set(name, { card, button, canvas, layout: null });
    listenToTable(canvas, () => ({ name, layout: flow.cards.get(name).layout }));
}

const arrow = (...done) => element('span', { class: 'arrow', 'aria-hidden': 'true' }, ...done, '→');

function addLane({ matrices, made }, parent) {
    const line = element('div', { class: 'lane' }), held = element('div', { class: 'lane-matrices' });
    matrices.forEach((name) => addCard(name, held));
    if (matrices.length > 0) line.append(held);
    made.forEach((name) => {
        if (line.childElementCount > 0) line.append(arrow());
        addCard(name, line);
    });
    parent.append(line);
}

function addStep({ done, names = [], lanes = [] }, there) {
    const here = names.filter(there);
    const rows = lanes.map(({ matrices, made }) => ({ matrices: matrices.filter(there), made: made.filter(there) }))
        .filter(({ made }) => made.length > 0);
    if (here.length === 0 && rows.length === 0) return;
    const step = element('div', { class: 'flow-step' }), body = element('div', { class: 'flow-tables' });
    const follows = byId('flow').childElementCount > 0, isMade = here.length > 0 || rows.some(({ matrices }) => matrices.length > 0);
    if (follows && done && isMade) step.append(arrow(element('small', {}, done)));
    here.forEach((name) => addCard(name, body));
    rows.forEach((lane) => addLane(lane, body));
    step.append(body);
    byId('flow').append(step);
}

/* The cards of all tables; those that no step names follow the first step. */
function buildFlow() {
    const names = tableNames();
    if (flow.names === names.join()) return;
    flow.names = names.join();
    flow.cards.clear();
    byId('flow').replaceChildren();
    const known = new Set([...WAY.flatMap((step) => step.names || []), ...LANE_NAMES]);
    const others = names.filter((name) => !known.has(name));
    const [first, ...rest] = WAY;
    for (const step of [first, ...others.map((name) => ({ names: [name] })), ...rest])
        addStep(step, (name) => names.includes(name));
}

/* --- drawing ----------------------------------------------------------------------------------------------------- */

/* Room for the tokens next to the inputs, where there are few. */
const LABELLED = ['inputs', 'key_inputs'], MOST_LABELLED = 16;
const hasLabels = ({ rowLabels }) => Boolean(rowLabels && rowLabels.some(Boolean));
const labelRoom = (name, shown) =>
    (LABELLED.includes(name) && shown.rows <= MOST_LABELLED && hasLabels(shown) ? 52 * rootSizeNow / 16 : 0);

/* Labels a card; touches it only where its label changed. */
function labelCard(held, said) {
    const { card, button } = held, text = JSON.stringify(said);
    if (held.said === text) return;
    held.said = text;
    card.className = ['card', said.chosen && 'chosen', said.editable && 'editable', said.spokenOf && 'spoken-of']
        .filter(Boolean).join(' ');
    card.style.setProperty('--head', said.head);
    card.querySelector('.card-note').textContent = said.change > 0 ? `± ${numberText(said.change, 2)}` : said.size;
    card.querySelector('.card-note').classList.toggle('changed', said.change > 0);
    button.tabIndex = said.chosen ? 0 : -1;
    button.setAttribute('aria-pressed', String(said.chosen));
    button.setAttribute('aria-label', `${nameText(said.name)}, ${said.size.replace('×', 'by')}`
        + (said.change > 0 ? `, changed by up to ${numberText(said.change, 2)}` : ''));
}

/* Draws the picture, and returns how to label it: after all pictures. */
function drawCard(name, held) {
    const shown = shownTable(name), chosen = name === state.name;
    held.layout = smallLayout(shown, ...smallRoom(name), labelRoom(name, shown));
    drawTable(held.canvas, shown, held.layout,
        { labels: false, place: placeIn(name, shown), chosen, byRow: state.byRow && isSquare(name) });
    return () => labelCard(held, {
        name, chosen, size: `${shown.rows} × ${shown.columns}`, change: isEdited() ? largestChange(name) : 0,
        editable: isEditable(name) && state.mode !== 'before', spokenOf: walk.names.includes(name),
        head: isOfHeads(name) && headsNow() > 1 ? headColour(state.head) : 'transparent',
    });
}

/* Above so many numbers of T x T tables, over all heads, the flow is drawn in slices: the chosen table first, and
 * each head on its own before the tables that join all heads. */
const MOST_AT_ONCE = 1 << 16, JOINED = ['heads', 'output', 'out_proj.weight'];

function drawFlow() {
    buildFlow();
    const { queries, keys } = sizesOf(after), cards = [...flow.cards];
    if (queries * keys * headsNow() <= MOST_AT_ONCE)
        return cards.map((card) => drawCard(...card)).forEach((label) => label());
    const draw = (card) => () => drawCard(...card)();
    const rank = ([name]) => (name === state.name ? 0 : JOINED.includes(name) ? 2 : 1);
    const at = (wanted) => cards.filter((card) => rank(card) === wanted).map(draw);
    const { item } = state, evaluation = after;
    const each = Array.from({ length: headsNow() }, (nothing, head) => () => evaluation.table('context', item, head));
    return inSlices('flow', [...at(0), ...at(1), ...each, ...at(2)]);
}

/* --- keys -------------------------------------------------------------------------------------------------------- */

function onFlowKey(event) {
    const names = [...flow.cards.keys()], i = names.indexOf(state.name);
    const places = { ArrowRight: i + 1, ArrowDown: i + 1, ArrowLeft: i - 1, ArrowUp: i - 1, Home: 0, End: names.length - 1 };
    const to = places[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    chooseTable(names[within(to, names.length)]);
    flow.cards.get(state.name).button.focus();
    event.preventDefault();
}
