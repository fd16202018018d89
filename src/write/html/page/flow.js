// SPDX-License-Identifier: MIT
/* From inputs to output: a small table for each step, with the operation between them. A click in one makes it the
 * large table, and chooses its cell. */

/* The steps: the operation on the tables before, and the tables that it makes. A lane has the matrices of a
 * projection, and what they make, one after another. */
const LANES = ['query', 'key', 'value'].map((side) => ({
    matrices: [...['W_*_a.weight', 'W_*_a.bias', '*_a_norm.weight', 'W_*_b.weight', 'W_*_b.bias'].map((name) => name.replace('*', LATENTS[side])).filter(() => side !== 'value'),
        `W_${side}.weight`, `W_${side}`, `W_${side}.bias`, `${side}_norm.weight`, `${side}_norm.bias`], made: [`projected_${side}`, `normed_${side}`, side],
}));
const WAY = [
    { names: ['inputs', 'key_inputs'] },
    { done: '', names: ['positions'] },
    { done: 'inputs plus positions', names: ['embedded'] },
    { done: 'norm', names: ['norm.weight', 'norm.bias', 'normed'] },
    { done: 'times three matrices', lanes: LANES },
    { done: 'each query · each key', names: ['scores'] },
    { done: 'times the scale', names: ['scaled'] },
    { done: 'softcap', names: ['capped'] },
    { done: 'mask', names: ['attn_mask', 'alibi_slopes', 'relative_bias.weight', 'masked'] },
    { done: 'softmax', names: ['sinks', 'weights', 'entropy'] },
    { done: 'dropout', names: ['dropped'] },
    { done: 'times the values, added up', names: ['context'] },
    { done: 'gate: inputs times W_gate, sigmoid', lanes: [{ matrices: ['W_gate.weight', 'W_gate.bias'], made: ['gate'] }] },
    { done: (there) => `${there('gate') ? 'context times gate, ' : ''}side by side`, names: ['heads'] },
    { done: 'times out_proj', lanes: [{ matrices: ['out_proj.weight', 'out_proj', 'out_proj.bias'], made: ['output'] }] },
    { done: 'added to what went in', names: ['residual'] },
    { done: 'times the unembedding', lanes: [{ matrices: ['unembedding', 'unembedding_bias'], made: ['logits'] }] },
    { done: 'softmax', names: ['probabilities'] },
];

const tablesOf = (lanes) => lanes.flatMap(({ matrices, made }) => [...matrices, ...made]);
const NAMED = new Set(WAY.flatMap(({ names = [], lanes = [] }) => [...names, ...tablesOf(lanes)]));

const flow = { names: '', cards: new Map(), labels: [], longest: 1 }; /* name -> { card, canvas, layout }; labelled(); letters of a lane */

/* --- the elements ------------------------------------------------------------------------------------------------ */

/* The lane says of which side it is. */
const laneText = (name) => nameText(name).replace(/^(projected|normed)_.*/, '$1');

function addCard(name, parent) {
    const id = `card-${name}`, canvas = element('canvas', { 'aria-hidden': 'true', width: 1, height: 1 }); // until it is drawn
    const button = element('button', { type: 'button', class: 'card-name', tabindex: '-1' }, laneText(name));
    const card = element('div', { class: 'card', id, 'data-table': name },
        element('div', { class: 'card-head' }, button, element('span', { class: 'card-note' })), canvas);
    button.addEventListener('click', () => chooseTable(name));
    button.addEventListener('keydown', onFlowKey);
    parent.append(card);
    flow.cards.set(name, { card, button, canvas, layout: null });
    listenToTable(canvas, () => ({ name, layout: flow.cards.get(name).layout }));
}

const arrow = (done, row = 'auto') => element('div', { class: 'arrow', 'aria-hidden': 'true', style: `grid-row: ${row}` }, done);

/* Down one lane: its matrices, then what they make, each step level with that of the other lanes. */
function addLane({ matrices, made }, there, parent) {
    const lane = element('div', { class: 'lane' }), held = element('div', {});
    matrices.filter(there).forEach((name) => addCard(name, held));
    lane.append(held);
    made.forEach((name, level) => {
        if (!there(name)) return;
        const row = level + 4 - made.length;
        if (held.childElementCount > 0 || lane.childElementCount > 1) lane.append(arrow('', 2 * row));
        addCard(name, lane);
        lane.lastChild.style.gridRow = 2 * row + 1;
    });
    parent.append(lane);
}

function addStep({ done, names = [], lanes = [] }, there) {
    const here = names.filter(there), parallel = lanes.filter(({ made }) => made.some(there));
    if (here.length === 0 && parallel.length === 0) return;
    const body = element('div', { class: lanes.length > 0 ? 'lanes' : 'flow-tables' });
    const isMade = here.length > 0 || parallel.some(({ matrices }) => matrices.some(there));
    const text = typeof done === 'function' ? done(there) : done;
    const step = element('div', {}, body); // one piece, where paper ends
    if (byId('flow').childElementCount > 0 && text && isMade) step.prepend(arrow(text));
    if (lanes.length > 1) flow.lanes = body;
    here.forEach((name) => addCard(name, body));
    parallel.forEach((lane) => addLane(lane, there, body));
    byId('flow').append(step);
}

/* The cards of all tables; those that no step names follow the first step. */
function buildFlow() {
    const names = tableNames();
    if (flow.names === names.join()) return;
    flow.names = names.join();
    flow.longest = Math.max(...names.filter((name) => tablesOf(LANES).includes(name)).map((name) => laneText(name).length));
    flow.cards.clear();
    byId('flow').replaceChildren();
    const others = names.filter((name) => !NAMED.has(name));
    const [first, ...rest] = WAY;
    for (const step of [first, ...others.map((name) => ({ names: [name] })), ...rest])
        addStep(step, (name) => names.includes(name));
}

/* --- drawing ----------------------------------------------------------------------------------------------------- */

const MOST_LABELLED = 16, SMALL_TEXT = 0.66, TALLEST_SMALL = 11;

/* Room for the labels of few tokens, chosen or not; 0 for more. */
function labelRoom(context, shown) {
    if (shown.rows > MOST_LABELLED) return 0;
    return Math.min(widestLabel(context, shown.rows, (row) => rowName(shown, row), roomOf.flow * 0.25) + 7);
}

/* Room for labels in the lanes of query, key and value. One column of labels serves all three where their tokens are
 * the same. */
function measureLanes() {
    const context = byId('large').getContext('2d'), [query, key] = ['query', 'key'].map((name) => shownTable(name));
    setFont(context, labelFont(true, SMALL_TEXT));
    const same = query.rows === key.rows && String(query.rowLabels) === String(key.rowLabels);
    flow.labels = [labelRoom(context, query), same ? 0 : labelRoom(context, key), 0];
    flow.lane = (roomOf.flow - 0.7 * rootSizeNow - flow.labels.reduce((sum, room) => sum + room, 0)) / LANES.length; // two gaps
    byId('flow').style.setProperty('--lane-name', `${Math.min(0.74 * rootSizeNow, 1.4 * (flow.lane - 0.6 * rootSizeNow) / flow.longest)}px`); // no letter is cut
    const columns = flow.labels.map((room) => `${Math.floor(flow.lane + room)}px`).join(' ');
    if (flow.lanes && flow.lanes.style.gridTemplateColumns !== columns) flow.lanes.style.gridTemplateColumns = columns;
}

/* A matrix also leaves room for row labels, so that it aligns with the columns that it makes. */
function cardLayout(name, shown) {
    const lane = LANES.findIndex((one) => tablesOf([one]).includes(name)), edges = 0.6 * rootSizeNow + 6;
    const [down] = axesOf(name), label = lane >= 0 ? flow.labels[lane] : down === 'key' ? Math.max(...flow.labels) : flow.labels[0];
    const width = lane >= 0 ? flow.lane : roomOf.flow - label;
    return smallLayout(shown, width - edges, (/bias$/.test(name) ? 1.4 : TALLEST_SMALL) * rootSizeNow, label);
}

/* What two decimals do not show has an exponent. */
const changedBy = (change) => (change < 0.005 ? exponentDecimals(change, 0) : numberText(change, 2));

/* Labels a card; touches it only where its label changed. */
function labelCard(held, said) {
    const { card, button } = held, text = JSON.stringify(said);
    if (held.said === text) return;
    held.said = text;
    card.className = ['card', said.chosen && 'chosen', said.editable && 'editable', said.spokenOf && 'spoken-of']
        .filter(Boolean).join(' ');
    card.style.setProperty('--head', said.head);
    card.querySelector('.card-note').title = said.change > 0 ? 'the largest change' : '';
    card.querySelector('.card-note').textContent = said.change > 0 ? `± ${changedBy(said.change)}` : said.size;
    card.querySelector('.card-note').classList.toggle('changed', said.change > 0);
    button.tabIndex = said.chosen ? 0 : -1;
    button.setAttribute('aria-pressed', String(said.chosen));
    button.setAttribute('aria-label', `${nameText(said.name)}, ${said.size.replace('×', 'by')}`
        + (said.change > 0 ? `, changed by up to ${changedBy(said.change)}` : ''));
}

/* Draws the picture, and returns how to label it: after all pictures. */
function drawCard(name, held) {
    const shown = shownTable(name), chosen = name === state.name, dragged = drag !== null && drag.moved && drag.name === name;
    held.layout = cardLayout(name, shown);
    const wide = `${held.layout.left + Math.ceil(held.layout.width) + 12}px`;
    if (held.card.style.getPropertyValue('--wide') !== wide) held.card.style.setProperty('--wide', wide);
    drawTable(held.canvas, shown, held.layout, {
        labels: false, place: dragged ? drag.cell : placeIn(name, shown), chosen: chosen || dragged, byRow: state.byRow && isSquare(name),
    });
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
    byId('flow').classList.toggle('back', state.layer === 'gradients');
    measureLanes();
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
