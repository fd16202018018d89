// SPDX-License-Identifier: MIT
/* A reader changes numbers: drags them to the side, types them, or steps them up and down with keys. */

/* --- one after another, a frame at a time ------------------------------------------------------------------------ */

let waiting = null, gestures = 0;

/* Makes the edit, after those that still wait, and shows the result or the refusal. */
function tryEdit(edit, gesture) {
    finishWaiting();
    try {
        addEdit(edit, gesture);
        tell('');
    } catch (refusal) {
        if (!(refusal instanceof Refusal)) throw refusal;
        tell(refusal.message);
    }
    keepChoice();
    show();
    rememberInLink();
}

/* Of the edits that one gesture asks for within a frame, only the last is made. */
function finishWaiting() {
    if (!waiting) return;
    const { edit, gesture } = waiting;
    waiting = null;
    tryEdit(edit, gesture);
}

function editSoon(edit, gesture) {
    if (waiting && (gesture === null || gesture !== waiting.gesture)) finishWaiting();
    if (!waiting) requestAnimationFrame(finishWaiting);
    waiting = { edit, gesture };
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* Truth values are 0 or 1: a click changes one, and no drag. */
const isTruthTable = (name) => heldTableOf(name) !== null && isTruths(heldTableOf(name));

/* A hundredth of the size of a table's numbers: a drag of one pixel changes that much, a key ten times as much. */
function stepOf(name) {
    const most = largestMagnitude(tableIn(after, name, state.head).numbers);
    return 10 ** Math.max(-6, Math.min(6, Math.round(Math.log10(most || 1)) - 2));
}

/* Drops the digits that come from adding up steps. */
function neat(number, step) {
    const decimals = Math.max(0, Math.min(12, Math.round(-Math.log10(step))));
    return Number(number.toFixed(decimals));
}

const numberAt = (name, { row, column }) => {
    const table = tableIn(after, name, state.head);
    return table.numbers[row * table.columns + column];
};

const numberToType = (number) => (Number.isFinite(number) ? decimalText(number) : String(number));

function changeNumber(name, cell, to, gesture) {
    if (state.mode === 'before') setMode('after');
    const at = indicesOf(name, state.head, cell.row, cell.column);
    editSoon({ do: 'number', table: heldName(model, name, state.head), at, to: to === -Infinity ? null : to }, gesture);
}

function nudge(steps, finer) {
    const { name } = state, cell = lookedAt();
    if (!isEditable(name)) return;
    const step = stepOf(name) * (finer ? 1 : 10);
    finishWaiting();
    const to = isTruthTable(name) ? Number(steps > 0) : neat(numberAt(name, cell) + steps * step, step / 10);
    changeNumber(name, cell, to, `nudge ${name} ${cell.row} ${cell.column}`);
    finishWaiting();
}

/* --- dragging ---------------------------------------------------------------------------------------------------- */

const DRAG_BEGINS = 4;
let drag = null;

function beginDrag(event, name, cell) {
    const value = numberAt(name, cell);
    if (!Number.isFinite(value) || isTruthTable(name)) return;
    const { clientX: x } = event;
    drag = { name, cell, value, step: stepOf(name), x, from: x, moved: false, gesture: `drag ${++gestures}` };
    event.currentTarget.setPointerCapture(event.pointerId);
}

function continueDrag(event) {
    if (!drag) return false;
    if (!drag.moved && Math.abs(event.clientX - drag.from) < DRAG_BEGINS) return true;
    if (!drag.moved) {
        drag.moved = true;
        if (drag.name === state.name) choosePlace(drag.name, drag.cell.row, drag.cell.column);
        document.body.classList.add('dragging');
    }
    const finer = event.shiftKey ? 0.1 : 1;
    drag.value += (event.clientX - drag.x) * drag.step * finer;
    drag.x = event.clientX;
    const number = neat(drag.value, drag.step * finer), tip = byId('drag-tip');
    changeNumber(drag.name, drag.cell, number, drag.gesture);
    tip.hidden = false;
    tip.textContent = numberText(number);
    Object.assign(tip.style, { left: `${event.clientX}px`, top: `${event.clientY}px` });
    return true;
}

/* Whether it was more than a click. */
function endDrag() {
    const moved = drag !== null && drag.moved;
    drag = null;
    document.body.classList.remove('dragging');
    byId('drag-tip').hidden = true;
    finishWaiting();
    return moved;
}

/* --- typing ------------------------------------------------------------------------------------------------------ */

/* Opens a field over a cell. Every number typed counts at once; Escape takes it back. */
function openField(canvas, layout, name, cell) {
    const field = byId('number-field'), box = canvas.getBoundingClientRect(), was = numberAt(name, cell);
    const left = box.left + scrollX + layout.left + cell.column * layout.cell;
    const top = box.top + scrollY + layout.top + cell.row * layout.cellHeight;
    const width = Math.max(layout.cell, 96), height = Math.max(layout.cellHeight, 34);
    field.hidden = false;
    field.value = numberToType(was);
    const rightmost = document.documentElement.clientWidth - width - 4;
    field.style.left = `${Math.max(4, Math.min(left + layout.cell / 2 - width / 2, rightmost))}px`;
    field.style.top = `${top + layout.cellHeight / 2 - height / 2}px`;
    field.style.width = `${width}px`;
    field.style.height = `${height}px`;
    field.setAttribute('aria-label', `${nameText(name)}, row ${cell.row + 1}, column ${cell.column + 1}`);
    Object.assign(field, { editing: { name, cell, canvas, gesture: `type ${++gestures}`, at: past.at } });
    field.focus({ preventScroll: true });
    field.select();
}

function closeField(back) {
    const field = byId('number-field'), { editing } = field;
    if (!editing) return;
    field.editing = null;
    finishWaiting();
    if (back && past.at > editing.at) go(editing.at);
    field.hidden = true;
    if ([document.body, field].includes(document.activeElement)) byId('large').focus({ preventScroll: true });
}

const typedNumber = (text) => (/^[-−](inf(inity)?|∞)$/i.test(text.trim()) ? -Infinity : Number(text.trim().replace(',', '.').replace('−', '-')));

/* Takes the text where it is a number, or the minus infinity of a mask; else marks the field as invalid. */
function typeNumber(field, { name, cell, gesture }) {
    const number = typedNumber(field.value), good = field.value.trim() !== '' && (Number.isFinite(number) || (number === -Infinity && heldTableOf(name).adds === true));
    field.setAttribute('aria-invalid', String(!good));
    if (good && (waiting || number !== numberAt(name, cell))) changeNumber(name, cell, number, gesture);
}

/* Arrow keys in a field: a step, with Shift a finer one. */
function stepField(field, steps, finer, { name, cell }) {
    const step = stepOf(name) * (finer ? 1 : 10), number = typedNumber(field.value);
    field.value = String(isTruthTable(name) ? Number(steps > 0) : neat((Number.isFinite(number) ? number : 0) + steps * step, step / 10));
    field.dispatchEvent(new Event('input', { bubbles: true }));
}

const STEP_KEYS = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

function listenToFields() {
    const field = byId('number-field'), bar = byId('cell-number');
    field.addEventListener('input', () => typeNumber(field, field.editing));
    field.addEventListener('blur', () => closeField(false));
    field.addEventListener('keydown', (event) => {
        if (event.key === 'Enter') closeField(false);
        else if (event.key === 'Escape') closeField(true);
        else if (event.key in STEP_KEYS) stepField(field, STEP_KEYS[event.key], event.shiftKey, field.editing);
        else return;
        event.preventDefault();
        event.stopPropagation();
    });
    const ofBar = () => ({ name: state.name, cell: lookedAt(), gesture: bar.gesture });
    bar.addEventListener('focus', () => { bar.gesture = `type ${++gestures}`; });
    bar.addEventListener('input', () => typeNumber(bar, ofBar()));
    bar.addEventListener('blur', showCellBar);
    bar.addEventListener('keydown', (event) => {
        if (!(event.key in STEP_KEYS)) return;
        stepField(bar, STEP_KEYS[event.key], event.shiftKey, ofBar());
        event.preventDefault();
    });
    byId('cell-less').addEventListener('click', (event) => nudge(-1, event.shiftKey));
    byId('cell-more').addEventListener('click', (event) => nudge(1, event.shiftKey));
}

/* Shows the chosen cell, its number and its number before; a field where the number can be changed. */
function showCellBar() {
    const { name } = state, cell = lookedAt(), shown = shownTable(name), at = cell.row * shown.columns + cell.column;
    const editable = isEditable(name) && shown.mode !== 'before', number = shown.numbers[at], field = byId('cell-number');
    const ends = axesOf(name).map((axis, i) => ([shown.rowLabels, shown.columnLabels][i]?.[[cell.row, cell.column][i]] ? '' : `${axis === 'column' && i === 0 ? 'row' : axis} `));
    byId('cell-name').replaceChildren(`${nameText(name)}: ${ends[0]}`, tokenElement(rowName(shown, cell.row)), `${isSquare(name) ? ' → ' : ', '}${ends[1]}`,
        tokenElement(columnName(shown, cell.column)));
    byId('cell-edit').hidden = !editable;
    byId('cell-value').hidden = editable;
    byId('cell-value').textContent = isHidden(shown, at) && !isShare(name) ? '−∞' : numberText(number);
    if (editable && document.activeElement !== field) field.value = numberToType(numberAt(name, cell));
    const ghost = shown.ghosts && hasGhost(shown, at) ? shown.ghosts[at] : null;
    byId('cell-ghost').textContent = ghost === null ? '' : `before ${numberText(ghost)}`;
}

/* --- tables that are pointed at ---------------------------------------------------------------------------------- */

function pointIn(event) {
    const box = event.currentTarget.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
}

/* A click or a tap that begins and ends in a cell chooses it. In a table that can be edited, a drag changes the number, and a double click
 * opens the field. The pointer over the large table leads until it leaves. */
function listenToTable(canvas, viewOf, follows = false) {
    const cellAt = (event) => {
        const { name, layout } = viewOf();
        return layout ? cellAtPoint(layout, shownTable(name), ...pointIn(event)) : null;
    };
    canvas.addEventListener('pointerdown', (event) => {
        const { name } = viewOf(), cell = cellAt(event);
        canvas.pressed = cell;
        if (cell && isEditable(name) && event.button === 0 && state.mode !== 'before') beginDrag(event, name, cell);
    });
    canvas.addEventListener('pointermove', (event) => {
        if (continueDrag(event) || !follows || event.pointerType === 'touch') return;
        const cell = cellAt(event), was = lookedAt();
        state.pointed = cell ? { name: viewOf().name, ...cell } : null;
        const now = lookedAt();
        if (now.row !== was.row || now.column !== was.column) showPointed();
    });
    canvas.addEventListener('pointerup', (event) => { if (endDrag()) canvas.skipClick = event.timeStamp; });
    canvas.addEventListener('pointercancel', endDrag);
    canvas.addEventListener('pointerleave', () => {
        if (!follows || drag) return;
        state.pointed = null;
        showPointed();
    });
    canvas.addEventListener('click', (event) => {
        const { name } = viewOf(), cell = cellAt(event);
        if (canvas.skipClick && event.timeStamp - canvas.skipClick < 50) return;
        if (!cell || (canvas.pressed && !isAt([cell.row, cell.column], [canvas.pressed.row, canvas.pressed.column]))) return;
        showSheet(true);
        const changes = state.name === name && isTruthTable(name) && isEditable(name) && state.mode !== 'before';
        chooseCell(name, cell.row, cell.column);
        if (changes) changeNumber(name, cell, 1 - numberAt(name, cell), null);
    });
    canvas.addEventListener('dblclick', (event) => {
        const { name, layout } = viewOf(), cell = cellAt(event);
        if (!cell || !isEditable(name) || isTruthTable(name) || state.mode === 'before') return;
        chooseCell(name, cell.row, cell.column);
        openField(canvas, layout, name, cell);
    });
}
