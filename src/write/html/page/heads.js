// SPDX-License-Identifier: MIT
/* All heads at a glance: a small picture of the chosen table for each head; a click chooses the head. They are drawn
 * a few at a time, so that nothing waits for them. */

const heads = { canvases: [], name: '' };
const MOST_MULTIPLES = 64, MOST_LARGE = 16, ACROSS = 4;

/* The chosen table where each head has its own; else the last one that did. */
const headsTable = () => (isOfHeads(state.name) ? state.name : heads.name || firstName());

function buildHeads() {
    const count = Math.min(headsNow(), MOST_MULTIPLES);
    if (heads.canvases.length === count) return;
    byId('heads-list').replaceChildren();
    heads.canvases = Array.from({ length: count }, (nothing, head) => {
        const canvas = element('canvas', { 'aria-hidden': 'true' });
        const button = element('button', { type: 'button', class: 'multiple', id: `multiple-${head}` },
            canvas, element('span', {}, headLabel(head)));
        button.addEventListener('click', () => chooseHead(head));
        const input = element('input', { type: 'checkbox', id: `head-in-${head}`, 'aria-label': `${headText(head)} takes part in the output` });
        const taken = element('label', { class: 'switch', title: 'takes part in the output' }, input, 'used');
        input.addEventListener('change', () => tryEdit({ do: 'head', head, out: !input.checked }, null));
        byId('heads-list').append(element('div', { class: 'head-of-all' }, button, taken));
        return { canvas, button, input };
    });
}

/* The room of a picture; few of them stand in even lines of at most four. */
function multipleRoom() {
    const scale = rootSizeNow / 16, list = byId('heads-list'), count = headsNow(), around = 22 * scale, gap = 8 * scale;
    const lines = Math.ceil(count / ACROSS), across = Math.ceil(count / lines);
    list.style.removeProperty('--across');
    if (count > MOST_LARGE) return 72 * scale;
    const room = Math.floor(Math.min(120 * scale, Math.max(52 * scale, (list.clientWidth + gap) / across - gap - around)));
    list.style.setProperty('--across', `${Math.ceil(across * (room + around + gap))}px`);
    return room;
}

function drawMultiple(head, room) {
    const { canvas, button, input } = heads.canvases[head], name = headsTable(), shown = shownTable(name, head);
    const layout = smallLayout(shown, room, room);
    layout.numberSize = 0; // colours alone
    drawTable(canvas, shown, layout,
        { labels: false, place: placeIn(name, shown), chosen: false, byRow: state.byRow && isSquare(name) });
    button.setAttribute('aria-pressed', String(head === state.head));
    button.classList.toggle('out', model.headsOut.includes(head));
    button.style.setProperty('--head', headColour(head));
    input.parentElement.hidden = !isSplit(model) || whyFixed() !== null;
    input.checked = !model.headsOut.includes(head);
}

function drawHeads() {
    byId('heads-panel').hidden = headsNow() < 2;
    if (headsNow() < 2) return;
    heads.name = headsTable();
    buildHeads();
    byId('heads-title').textContent = `All heads: ${nameText(heads.name)}`;
    byId('heads-more').textContent = headsNow() > MOST_MULTIPLES ? `The first ${MOST_MULTIPLES} of ${headsNow()}.` : '';
    const room = multipleRoom();
    inSlices('heads', heads.canvases.map((nothing, head) => () => drawMultiple(head, room)));
}
