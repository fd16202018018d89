// SPDX-License-Identifier: MIT
/* Draws a table: rows down, columns across, labels at the edges, numbers where they fit, a frame around the chosen
 * cell. Small tables and the large one are drawn alike. */

const LABEL_TEXT = 0.74, LARGEST_CELL = 88, LEAST_LABELLED = 12, LEAST_NUMBERED = 26, LEAST_HATCHED = 7, GAP = 6;
const LABEL_FAMILY = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';

/* Labels scale with the text of the page. */
function labelFont(bold = false, size = 0.78) {
    return `${bold ? '600 ' : ''}${size * rootSizeNow}px ${LABEL_FAMILY}`;
}
let rootSizeNow = 16;

/* A canvas of so many CSS pixels, sharp on any screen; its context draws in CSS pixels. Asks the browser for nothing
 * that would make it lay out the page. */
function prepareCanvas(canvas, width, height) {
    const ratio = printing ? 3 : Math.min(devicePixelRatio || 1, 3), size = `${width} ${height} ${ratio}`;
    const context = canvas.getContext('2d');
    if (canvas.size !== size) {
        canvas.size = size;
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.direction = 'ltr';
        context.fontNow = '';
    }
    context.clearRect(0, 0, width, height);
    return context;
}

/* Only where it changes: a browser then looks up the style of the page. */
function setFont(context, font) {
    if (context.fontNow === font) return;
    context.font = font;
    context.fontNow = font;
}

/* The width of the canvases that fill their panel, and of the flow; measured when the window changes. */
const roomOf = { large: 0, flow: 0 };
function measureRoom() {
    rootSizeNow = parseFloat(getComputedStyle(document.documentElement).fontSize);
    for (const name of Object.keys(roomOf)) roomOf[name] = (name === 'flow' ? byId(name).firstElementChild || byId(name) : byId(name).parentElement).clientWidth;
}

/* The width of a text in the font of the context, cached: asked for often, of few texts. */
const widths = new Map();
function textWidth(context, text) {
    const name = context.fontNow + text;
    if (widths.size > 20000) widths.clear();
    if (!widths.has(name)) widths.set(name, context.measureText(text).width);
    return widths.get(name);
}

/* The text, or its beginning and an ellipsis where it is too wide. */
function clipText(context, text, width) {
    if (textWidth(context, text) <= width) return text;
    const letters = [...text];
    while (letters.length > 1 && textWidth(context, letters.join('') + '…') > width) letters.pop();
    return letters.join('') + '…';
}

function widestLabel(context, count, labelOf, most) {
    let widest = 0;
    for (let i = 0; i < count && widest < most; i++)
        widest = Math.max(widest, textWidth(context, labelOf(i)));
    return Math.ceil(Math.min(widest, most));
}

/* --- where everything lies --------------------------------------------------------------------------------------- */

/* The label of a row or column, or its number from 1. */
const rowName = (shown, row) => (shown.rowLabels && shown.rowLabels[row]) || String(row + 1);
const columnName = (shown, column) => (shown.columnLabels && shown.columnLabels[column]) || String(column + 1);

/* Whether each column is a word of a vocabulary. */
const isOfWords = ({ columnLabels }) => job.words !== undefined && columnLabels === job.words[0];

/* Whether the large table shows the sums of its rows: 1 for shares, unless a mistake made them. */
const SUMS = 3, hasSums = (shown) => isShare(shown.name) && !shown.signs;

/* The large table. Large cells are whole pixels. */
function largeLayout(context, width, shown) {
    const most = Math.max(48, Math.min(140, width * 0.22));
    setFont(context, labelFont(true, LABEL_TEXT)); // the chosen label is the widest
    const left = GAP + Math.max(20, widestLabel(context, shown.rows, (row) => rowName(shown, row), most));
    const sums = hasSums(shown) ? SUMS * rootSizeNow : 0;
    let cell = Math.min(LARGEST_CELL * rootSizeNow / 16, (width - left - sums - 1) / shown.columns);
    if (cell >= 4) cell = Math.floor(cell);
    const tallest = Math.max(280, Math.min(720, width)) / shown.rows;
    let cellHeight = Math.min(tallest, Math.max(Math.min(cell, 2.9 * rootSizeNow), Math.min(2.1 * rootSizeNow, tallest)));
    if (cellHeight >= 4) cellHeight = Math.floor(cellHeight);
    const columnLabel = widestLabel(context, shown.columns, (column) => (labelStep(cell) > 1 && !isOfWords(shown) ? `${column + 1} ` : '') + columnName(shown, column), most);
    const upright = columnLabel > cell - 2;
    const top = GAP + (upright ? Math.max(columnLabel, 24) : rootSizeNow);
    const size = { width: cell * shown.columns, height: cellHeight * shown.rows };
    return { left, top, cell, cellHeight, upright, ...size, numberSize: cell < 36 ? 0.7 : 0.78 };
}

/* A small table, within that width and height, without labels but for rows where `label` is their room. */
function smallLayout(shown, across, down, label = 0) {
    const scale = rootSizeNow / 16, fit = (room, count, most) => Math.min(most, room / count);
    let cell = fit(across, shown.columns, 42 * scale), cellHeight = fit(down, shown.rows, 22 * scale);
    if (cell >= 3) cell = Math.floor(cell);
    if (cellHeight >= 3) cellHeight = Math.floor(cellHeight);
    if (cell < LEAST_NUMBERED * scale * 0.9) // colours alone: nearly squares
        cell = Math.min(cell, Math.max(cellHeight * 1.6, 48 / shown.columns));
    cellHeight = Math.min(cellHeight, Math.max(cell * 1.6, 12 / shown.rows, label > 0 && axesOf(shown.name)[0] !== 'column' ? SMALL_TEXT * 1.25 * rootSizeNow : 0));
    const size = { width: cell * shown.columns, height: cellHeight * shown.rows };
    return { left: 2 + label, top: 2, cell, cellHeight, upright: false, ...size, numberSize: SMALL_TEXT };
}

/* The cell at a point of the canvas, or null. */
function cellAtPoint(layout, shown, x, y) {
    const column = Math.floor((x - layout.left) / layout.cell), row = Math.floor((y - layout.top) / layout.cellHeight);
    return row >= 0 && row < shown.rows && column >= 0 && column < shown.columns ? { row, column } : null;
}

/* --- cells ------------------------------------------------------------------------------------------------------- */

const isHidden = (shown, at) => shown.masked !== null && shown.masked[at] === 1;

/* The cell to show in each pixel of a smaller picture: of several the one with the largest magnitude. */
function pooledCells(shown, shownRows, shownColumns) {
    const cells = new Int32Array(shownRows * shownColumns).fill(-1);
    for (let row = 0, at = 0; row < shown.rows; row++) {
        const base = Math.floor(row * shownRows / shown.rows) * shownColumns;
        for (let column = 0; column < shown.columns; column++, at++) {
            const place = base + Math.floor(column * shownColumns / shown.columns), there = cells[place];
            if (there < 0 || isHidden(shown, there) ||
                (!isHidden(shown, at) && Math.abs(shown.numbers[at]) > Math.abs(shown.numbers[there])))
                cells[place] = at;
        }
    }
    return cells;
}

/* The colour scale of each row: its own, or that of the table. */
function scalesOf(shown, byRow) {
    if (!byRow) return () => shown.scale;
    const scales = Array.from({ length: shown.rows }, (nothing, row) => rowScale(shown, row));
    return (at) => scales[Math.floor(at / shown.columns)];
}

/* A picture with one pixel for each cell, or fewer where cells are smaller than pixels of the screen. */
function tablePicture(shown, scaleAt, across, down) {
    const shownColumns = Math.max(1, Math.min(shown.columns, across)), shownRows = Math.max(1, Math.min(shown.rows, down));
    const picture = new ImageData(shownColumns, shownRows), pixels = picture.data, table = scaleTable(shown.scale);
    pooledCells(shown, shownRows, shownColumns).forEach((at, place) => {
        const from = colourPlace(shown.numbers[at], isHidden(shown, at), scaleAt(at)) * 3;
        for (let part = 0; part < 3; part++) pixels[place * 4 + part] = table[from + part];
        pixels[place * 4 + 3] = 255;
    });
    return picture;
}

let scratchCanvas = null;

function drawPicture(context, picture, layout) {
    scratchCanvas = scratchCanvas || document.createElement('canvas');
    scratchCanvas.width = picture.width;
    scratchCanvas.height = picture.height;
    scratchCanvas.getContext('2d').putImageData(picture, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(scratchCanvas, layout.left, layout.top, layout.width, layout.height);
}

/* Hatches masked cells, so that colour is not the only difference. */
function drawHatch(context, shown, layout) {
    if (layout.cell < LEAST_HATCHED || layout.cellHeight < LEAST_HATCHED || shown.masked === null) return;
    context.save();
    context.beginPath();
    for (let at = 0; at < shown.masked.length; at++)
        if (shown.masked[at])
            context.rect(layout.left + at % shown.columns * layout.cell,
                layout.top + Math.floor(at / shown.columns) * layout.cellHeight, layout.cell, layout.cellHeight);
    context.clip();
    context.beginPath();
    for (let x = -layout.height; x < layout.width; x += 6) {
        context.moveTo(layout.left + x, layout.top + layout.height);
        context.lineTo(layout.left + x + layout.height, layout.top);
    }
    context.strokeStyle = colours().hatch;
    context.stroke();
    context.restore();
}

function drawGrid(context, shown, layout) {
    if (layout.cell < LEAST_HATCHED || layout.cellHeight < LEAST_HATCHED) return;
    context.fillStyle = colours().paper;
    for (let column = 1; column < shown.columns; column++)
        context.fillRect(layout.left + column * layout.cell - 0.5, layout.top, 1, layout.height);
    for (let row = 1; row < shown.rows; row++)
        context.fillRect(layout.left, layout.top + row * layout.cellHeight - 0.5, layout.width, 1);
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* Whether two decimals say nothing of any number of a table. */
const isSmall = ({ most }) => most !== 0 && most < 0.01;

/* A number in a cell, by one rule for its table: all with exponents, or all with so many decimals; then "≈0" is a
 * number that is not 0 but rounds to it. */
function cellText(shown, number, decimals = 2) {
    if (!Number.isFinite(number)) return numberText(number);
    const plus = shown.mode === 'difference' && number > 0 ? '+' : '', magnitude = Math.abs(number);
    if (isSmall(shown) || wantsExponent(shown.most)) return number === 0 ? '0' : plus + signed(number, exponentDecimals(magnitude, Math.min(decimals, 1)));
    const text = fixedDecimals(magnitude, decimals);
    return number !== 0 && !/[1-9]/.test(text) ? '≈0' : plus + signed(number, text);
}

/* The ways to write a table's numbers, from the longest to the shortest. */
const WRITINGS = [
    cellText, (shown, number) => cellText(shown, number).replace('0.', '.'), (shown, number) => cellText(shown, number, 1),
    (shown, number) => cellText(shown, number, shown.most >= 10 || isSmall(shown) ? 0 : 1).replace('0.', '.'),
];

/* Whether a number says nothing: a masked weight, a difference of 0. */
function saysNothing(shown, at) {
    const number = shown.numbers[at];
    if (isHidden(shown, at) && number === 0) return true;
    return shown.mode === 'difference' && (Number.isNaN(number) || !(Math.abs(number) >= 0.005));
}

/* The texts of all cells, in the first way in which all fit; none where there is no such way. */
function cellTexts(context, shown, room) {
    const numbers = Array.from(shown.numbers), fits = (text) => textWidth(context, text) <= room;
    const isNew = (at) => shown.mode === 'difference' && shown.isNew[at] === 1;
    for (const writing of WRITINGS) {
        const texts = numbers.map((number, at) =>
            (isNew(at) ? 'new' : saysNothing(shown, at) ? '' : writing(shown, number)));
        if (texts.every(fits)) return texts;
    }
    return [];
}

/* The number before the edits, small and struck through, below the current one. */
function drawGhost(context, shown, at, x, y, size) {
    const was = cellText(shown, shown.ghosts[at]);
    setFont(context, labelFont(false, size * 0.8));
    context.globalAlpha = 0.75;
    context.fillText(was, x, y);
    const width = textWidth(context, was);
    context.fillRect(x - width / 2 - 1, y - 0.5, width + 2, 1);
    context.globalAlpha = 1;
    setFont(context, labelFont(false, size));
}

const hasGhost = (shown, at) => shown.ghosts !== null && !shown.ghosts.isNew[at]
    && !Object.is(shown.ghosts[at], shown.numbers[at])
    && cellText(shown, shown.ghosts[at]) !== cellText(shown, shown.numbers[at]);

function drawNumbers(context, shown, scaleAt, layout) {
    const room = layout.cell - 3, ghostRoom = layout.cellHeight >= 30, ratio = rootSizeNow / 16;
    if (layout.numberSize === 0) return;
    if (layout.cell < LEAST_NUMBERED * ratio * (layout.numberSize / 0.78) || layout.cellHeight < 13 * ratio) return;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    setFont(context, labelFont(false, layout.numberSize));
    cellTexts(context, shown, room).forEach((text, at) => {
        if (text === '') return;
        const x = layout.left + (at % shown.columns + 0.5) * layout.cell;
        const y = layout.top + (Math.floor(at / shown.columns) + 0.5) * layout.cellHeight + 0.5;
        const ghost = ghostRoom && hasGhost(shown, at), lift = ghost ? layout.cellHeight * 0.18 : 0;
        context.fillStyle = isHidden(shown, at) ? colours().faint
            : inkOn(cellColour(shown.numbers[at], false, scaleAt(at)));
        context.fillText(text, x, y - lift);
        if (ghost) drawGhost(context, shown, at, x, y + layout.cellHeight * 0.27, layout.numberSize);
    });
}

const isAt = (a, b) => a.length === b.length && a.every((i, axis) => i === b[axis]);

/* A corner on each cell that the reader changed. */
function drawTouched(context, shown, layout) {
    if (shown.mode === 'before' || layout.cell < 6 || layout.cellHeight < 6 || !isEditable(shown.name)) return;
    const held = heldName(model, shown.name, shown.head);
    context.fillStyle = colours().changed;
    for (const edit of editsNow()) {
        const cell = edit.do === 'number' && edit.table === held ? edit.at.slice(-2) : [];
        const [row, column] = cell.length === 1 ? [0, ...cell] : cell;
        if (cell.length === 0 || !isAt(edit.at, indicesOf(shown.name, shown.head, row, column))) continue;
        const x = layout.left + (column + 1) * layout.cell - 1, y = layout.top + row * layout.cellHeight + 1;
        const size = Math.min(8, layout.cell / 3);
        context.beginPath();
        context.moveTo(x - size, y);
        context.lineTo(x, y);
        context.lineTo(x, y + size);
        context.fill();
    }
}

/* --- labels ------------------------------------------------------------------------------------------------------ */

/* A label for every how many rows or columns of that size fits. */
function labelStep(size) {
    const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
    return size >= LEAST_LABELLED ? 1 : steps.find((step) => step * size >= 28) || 10000;
}

/* Calls back for each label to show: all of them, or positions at round numbers, and the marked one. */
function eachLabel(count, size, marked, nameOf, draw) {
    const step = labelStep(size), room = step === 1 ? size : LEAST_LABELLED;
    for (let i = 0; i < count; i++) {
        const hidden = step > 1 && Math.abs(i - marked) * size < room;
        const name = nameOf(i), number = String(i + 1);
        if (i === marked) draw(i, step > 1 && name !== number ? `${number} ${name}` : name, true);
        else if ((step === 1 || (i + 1) % step === 0) && !hidden) draw(i, step === 1 ? name : number, false);
    }
}

const setLabelInk = (context, marked, size = LABEL_TEXT) => {
    context.fillStyle = marked ? colours().accent : colours().faint;
    setFont(context, labelFont(marked, size));
};

function drawRowLabels(context, shown, layout, marked) {
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    eachLabel(shown.rows, layout.cellHeight, marked, (row) => rowName(shown, row), (row, text, isMarked) => {
        setLabelInk(context, isMarked);
        context.fillText(clipText(context, text, layout.left - GAP), layout.left - GAP,
            layout.top + (row + 0.5) * layout.cellHeight + 0.5);
    });
}

/* Of more words than have room, those with the largest numbers of the row. */
function eachWord(shown, layout, { row, column: marked }, draw) {
    const numbers = shown.numbers.subarray(row * shown.columns, (row + 1) * shown.columns), taken = [];
    for (const column of new Set([marked, ...heaviestOf([...numbers.keys()], numbers)])) {
        if (taken.some((one) => Math.abs(one - column) * layout.cell < LEAST_LABELLED + 2)) continue;
        taken.push(column);
        draw(column, columnName(shown, column), column === marked);
    }
}

function drawColumnLabels(context, shown, layout, place) {
    const isCrowded = isOfWords(shown) && labelStep(layout.cell) > 1;
    const each = isCrowded ? (draw) => eachWord(shown, layout, place, draw) : (draw) => eachLabel(shown.columns, layout.cell, place.column, (column) => columnName(shown, column), draw);
    context.textBaseline = 'middle';
    each((column, text, isMarked) => {
        setLabelInk(context, isMarked, layout.upright ? Math.min(LABEL_TEXT, 0.8 * Math.max(layout.cell, LEAST_LABELLED) / rootSizeNow) : LABEL_TEXT);
        context.save();
        context.translate(layout.left + (column + 0.5) * layout.cell, layout.top - GAP);
        if (layout.upright) context.rotate(-Math.PI / 2);
        else context.translate(0, -6);
        context.textAlign = layout.upright ? 'left' : 'center';
        context.fillText(clipText(context, text, layout.upright ? layout.top - GAP : layout.cell), 0, 0);
        context.restore();
    });
}

function drawSums(context, shown, layout) {
    if (!hasSums(shown) || layout.cellHeight < LEAST_LABELLED) return;
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    setLabelInk(context, false);
    const right = layout.left + layout.width + SUMS * rootSizeNow - GAP;
    context.fillText('sum', right, layout.top - GAP - 6);
    for (let row = 0; row < shown.rows; row++) {
        const sum = shown.numbers.subarray(row * shown.columns, (row + 1) * shown.columns).reduce((all, one) => all + one, 0);
        setLabelInk(context, false);
        if (shown.name === 'weights' && Math.abs(sum - 1) > 0.005) context.fillStyle = colours().changed; // no shares
        context.fillText(cellText(shown, sum), right, layout.top + (row + 0.5) * layout.cellHeight + 0.5);
    }
}

function drawSmallLabels(context, shown, layout, marked) {
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    for (let row = 0; row < shown.rows; row++) {
        setLabelInk(context, row === marked, SMALL_TEXT);
        context.fillText(clipText(context, rowName(shown, row), layout.left - 5), layout.left - 4,
            layout.top + (row + 0.5) * layout.cellHeight + 0.5);
    }
}

/* --- frames ------------------------------------------------------------------------------------------------------ */

function strokeCells(context, layout, row, column, rows, columns) {
    context.strokeRect(layout.left + column * layout.cell, layout.top + row * layout.cellHeight,
        Math.max(columns * layout.cell, 4), Math.max(rows * layout.cellHeight, 4));
}

function drawMarks(context, shown, layout, place) {
    const [down, across] = axesOf(shown.name);
    context.strokeStyle = colours().accent;
    context.lineWidth = 1.5;
    if (down === 'query') strokeCells(context, layout, place.row, 0, 1, shown.columns);
    context.strokeStyle = colours().key;
    if (down === 'key') strokeCells(context, layout, place.row, 0, 1, shown.columns);
    if (across === 'key') strokeCells(context, layout, 0, place.column, shown.rows, 1);
}

/* A dotted frame: these numbers can be changed. */
function drawEditable(context, layout) {
    context.strokeStyle = colours().faint;
    context.lineWidth = 1;
    context.setLineDash([2, 2]);
    context.strokeRect(layout.left - 1, layout.top - 1, layout.width + 2, layout.height + 2);
    context.setLineDash([]);
}

/* Frames the cell, visible on any colour. */
function drawChosen(context, layout, { row, column }) {
    for (const [colour, line] of [[colours().paper, 5], [colours().ink, 2]]) {
        context.strokeStyle = colour;
        context.lineWidth = line;
        strokeCells(context, layout, row, column, 1, 1);
    }
}

/* The columns, or rows, of each head in a matrix of all heads; null: it is no such matrix. */
function headBounds({ name, rows, columns }) {
    if (headsNow() < 2 || hasOwnHeads(model, name)) return null;
    const shared = (count, across) => (count % headsNow() === 0 ? { each: count / headsNow(), count, across } : null);
    if (name === 'out_proj.weight') return shared(rows, false);
    const ofEach = name === 'heads' || (/^W_(query|key|value)\b/.test(name) && model.heads === model.keyHeads);
    return ofEach ? shared(columns, true) : null;
}

/* Draws lines between the columns, or rows, of the heads of a parameter. */
function drawHeadBounds(context, shown, layout) {
    const bounds = headBounds(shown);
    if (!bounds) return;
    context.fillStyle = colours().paper;
    for (let at = bounds.each; at < bounds.count; at += bounds.each)
        if (bounds.across) context.fillRect(layout.left + at * layout.cell - 1.5, layout.top, 3, layout.height);
        else context.fillRect(layout.left, layout.top + at * layout.cellHeight - 1.5, layout.width, 3);
    context.strokeStyle = headColour(state.head);
    context.lineWidth = 2;
    if (bounds.across) strokeCells(context, layout, 0, state.head * bounds.each, shown.rows, bounds.each);
    else strokeCells(context, layout, state.head * bounds.each, 0, bounds.each, shown.columns);
}

function drawTable(canvas, shown, layout, { labels, place, chosen, byRow }) {
    const width = layout.left + layout.width + 2, height = Math.ceil(layout.top + layout.height) + (labels ? 8 : 3);
    const context = prepareCanvas(canvas, labels ? layout.canvasWidth : width, height), ratio = devicePixelRatio || 1;
    const scaleAt = scalesOf(shown, byRow);
    const [across, down] = [layout.width, layout.height].map((size) => Math.floor(size * ratio));
    drawPicture(context, tablePicture(shown, scaleAt, across, down), layout);
    drawHatch(context, shown, layout);
    drawGrid(context, shown, layout);
    drawNumbers(context, shown, scaleAt, layout);
    drawTouched(context, shown, layout);
    drawHeadBounds(context, shown, layout);
    if (labels) {
        drawRowLabels(context, shown, layout, place.row);
        drawColumnLabels(context, shown, layout, place);
        drawSums(context, shown, layout);
    } else if (layout.left > 2 && axesOf(shown.name)[0] !== 'column') {
        drawSmallLabels(context, shown, layout, place.row);
    }
    if (isEditable(shown.name) && state.mode !== 'before') drawEditable(context, layout);
    drawMarks(context, shown, layout, place);
    if (chosen) drawChosen(context, layout, place);
}
