/* The heatmap: queries down, keys across, their tokens at the edges, the chosen cell in a frame. */

const LARGEST_CELL = 88, LEAST_LABELLED = 12, LEAST_NUMBERED = 40, LEAST_HATCHED = 7, GAP = 6;
const LABEL_FAMILY = 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';

/* Labels grow with the text of the page. */
function labelFont(bold = false) {
    const size = 0.78 * parseFloat(getComputedStyle(document.documentElement).fontSize);
    return `${bold ? 'bold ' : ''}${size}px ${LABEL_FAMILY}`;
}

/* A canvas of so many CSS pixels, sharp on any screen; its context draws in CSS pixels. */
function prepareCanvas(canvas, width, height) {
    const ratio = Math.min(devicePixelRatio || 1, 3);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + 'px';
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = labelFont();
    context.direction = 'ltr';
    return context;
}

/* The text, or its beginning and an ellipsis where it is wider than that. */
function clipText(context, text, width) {
    if (context.measureText(text).width <= width) return text;
    const letters = [...text];
    while (letters.length > 1 && context.measureText(letters.join('') + '…').width > width) letters.pop();
    return letters.join('') + '…';
}

function widestLabel(context, count, labelOf, most) {
    let widest = 0;
    for (let i = 0; i < count && widest < most; i++)
        widest = Math.max(widest, context.measureText(labelOf(i)).width);
    return Math.ceil(Math.min(widest, most));
}

/* Where everything lies. Cells are squares where that fits, and whole pixels where they are large. */
function heatmapLayout(context, width, item) {
    const most = Math.max(48, Math.min(120, width * 0.2));
    const left = GAP + Math.max(24, widestLabel(context, job.rows, (row) => queryName(item, row), most));
    let cell = Math.min(LARGEST_CELL, (width - left - 1) / job.keys);
    if (cell >= 4) cell = Math.floor(cell);
    const tallest = Math.max(280, Math.min(820, width)) / job.rows;
    let cellHeight = Math.min(tallest, Math.max(cell, Math.min(28, tallest)));
    if (cellHeight >= 4) cellHeight = Math.floor(cellHeight);
    const columnLabel = widestLabel(context, job.keys, (key) => keyName(item, key), most);
    const upright = columnLabel > cell - GAP;
    const top = GAP + (upright ? Math.max(columnLabel, 24) : 16);
    return { left, top, cell, cellHeight, upright, most, width: cell * job.keys, height: cellHeight * job.rows };
}

/* Of the canvas: a label of the last row may reach below it. */
const heatmapHeight = (layout) => Math.ceil(layout.top + layout.height) + 8;

/* Which cell each place of a smaller picture shows: where several share one, that of the largest magnitude. */
function pooledCells(matrix, shownRows, shownKeys) {
    const cells = new Int32Array(shownRows * shownKeys).fill(-1);
    for (let row = 0, at = 0; row < job.rows; row++) {
        const base = Math.floor(row * shownRows / job.rows) * shownKeys;
        for (let key = 0; key < job.keys; key++, at++) {
            const place = base + Math.floor(key * shownKeys / job.keys), there = cells[place];
            if (there < 0 || matrix.masked[there] ||
                (!matrix.masked[at] && Math.abs(matrix.numbers[at]) > Math.abs(matrix.numbers[there])))
                cells[place] = at;
        }
    }
    return cells;
}

/* A cell's scale: that of its row, or of the whole matrix. */
const scaleAt = (matrix, at, byRow) => (byRow ? matrix.rowScales[Math.floor(at / job.keys)] : matrix.scale);

/* The cells as a picture of one pixel each, or fewer where they are smaller than those of the screen. */
function heatmapPicture(matrix, byRow, across, down) {
    const shownKeys = Math.max(1, Math.min(job.keys, across)), shownRows = Math.max(1, Math.min(job.rows, down));
    const picture = new ImageData(shownKeys, shownRows), pixels = picture.data, table = scaleTable(matrix.scale);
    pooledCells(matrix, shownRows, shownKeys).forEach((at, place) => {
        const from = colourPlace(matrix.numbers[at], matrix.masked[at], scaleAt(matrix, at, byRow)) * 3;
        for (let part = 0; part < 3; part++) pixels[place * 4 + part] = table[from + part];
        pixels[place * 4 + 3] = 255;
    });
    return picture;
}

function drawPicture(context, picture, layout) {
    const small = document.createElement('canvas');
    small.width = picture.width;
    small.height = picture.height;
    small.getContext('2d').putImageData(picture, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, layout.left, layout.top, layout.width, layout.height);
}

/* Masked cells are hatched, so that grey and colour are not all that tells them apart. */
function drawHatch(context, matrix, layout) {
    if (layout.cell < LEAST_HATCHED || layout.cellHeight < LEAST_HATCHED) return;
    context.save();
    context.beginPath();
    for (let at = 0; at < matrix.masked.length; at++)
        if (matrix.masked[at])
            context.rect(layout.left + at % job.keys * layout.cell,
                layout.top + Math.floor(at / job.keys) * layout.cellHeight, layout.cell, layout.cellHeight);
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

function drawGrid(context, layout) {
    if (layout.cell < LEAST_HATCHED || layout.cellHeight < LEAST_HATCHED) return;
    context.fillStyle = colours().paper;
    for (let key = 1; key < job.keys; key++)
        context.fillRect(layout.left + key * layout.cell - 0.5, layout.top, 1, layout.height);
    for (let row = 1; row < job.rows; row++)
        context.fillRect(layout.left, layout.top + row * layout.cellHeight - 0.5, layout.width, 1);
}

function drawNumbers(context, matrix, byRow, layout) {
    if (layout.cell < LEAST_NUMBERED || layout.cellHeight < 18) return;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (let at = 0; at < matrix.numbers.length; at++) {
        const number = matrix.numbers[at], masked = matrix.masked[at] === 1;
        const room = layout.cell - 4, whole = masked && number === 0 ? '' : numberText(number, 2);
        const text = context.measureText(whole).width > room && Math.abs(number) < 1
            ? signed(number, fixedDecimals(Math.abs(number), 2)) : whole;
        if (context.measureText(text).width > room) continue;
        context.fillStyle = masked ? colours().faint : inkOn(cellColour(number, masked, scaleAt(matrix, at, byRow)));
        context.fillText(text, layout.left + (at % job.keys + 0.5) * layout.cell,
            layout.top + (Math.floor(at / job.keys) + 0.5) * layout.cellHeight + 0.5);
    }
}

/* Every how many rows or columns of that size a label has room. */
function labelStep(size) {
    const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
    return size >= LEAST_LABELLED ? 1 : steps.find((step) => step * size >= 28) || 10000;
}

/* Calls back for each label that is shown: all of them, or positions at round numbers, and the marked one. */
function eachLabel(count, size, marked, positionOf, nameOf, draw) {
    const step = labelStep(size), room = step === 1 ? size : LEAST_LABELLED;
    for (let i = 0; i < count; i++) {
        const round = step === 1 || (positionOf(i) + 1) % step === 0;
        const hidden = step > 1 && Math.abs(i - marked) * size < room;
        if (i === marked) draw(i, step > 1 ? `${positionOf(i) + 1} ${nameOf(i)}`.trim() : nameOf(i), true);
        else if (round && !hidden) draw(i, step === 1 ? nameOf(i) : String(positionOf(i) + 1), false);
    }
}

const setLabelInk = (context, marked) => {
    context.fillStyle = marked ? colours().accent : colours().faint;
    context.font = labelFont(marked);
};

function drawQueryLabels(context, layout, item, marked) {
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    const nameOf = (row) => (labelStep(layout.cellHeight) > 1 ? queryLabel(item, row) : queryName(item, row));
    eachLabel(job.rows, layout.cellHeight, marked, (row) => job.positions[row], nameOf, (row, text, isMarked) => {
        setLabelInk(context, isMarked);
        context.fillText(clipText(context, text, layout.left - GAP), layout.left - GAP,
            layout.top + (row + 0.5) * layout.cellHeight + 0.5);
    });
}

function drawKeyLabels(context, layout, item, marked) {
    context.textBaseline = 'middle';
    const nameOf = (key) => (labelStep(layout.cell) > 1 ? keyLabel(item, key) : keyName(item, key));
    eachLabel(job.keys, layout.cell, marked, (key) => key, nameOf, (key, text, isMarked) => {
        setLabelInk(context, isMarked);
        context.save();
        context.translate(layout.left + (key + 0.5) * layout.cell, layout.top - GAP);
        if (layout.upright) context.rotate(-Math.PI / 2);
        else context.translate(0, -6);
        context.textAlign = layout.upright ? 'left' : 'center';
        context.fillText(clipText(context, text, layout.upright ? layout.top - GAP : layout.cell - 2), 0, 0);
        context.restore();
    });
}

/* The chosen row, and the cell that is looked at. */
function drawFrames(context, layout, chosenRow, cell) {
    context.strokeStyle = colours().accent;
    context.lineWidth = 1.5;
    context.strokeRect(layout.left - 0.75, layout.top + chosenRow * layout.cellHeight - 0.75, layout.width + 1.5,
        layout.cellHeight + 1.5);
    const width = Math.max(layout.cell, 5), height = Math.max(layout.cellHeight, 5);
    const x = layout.left + (cell.key + 0.5) * layout.cell - width / 2;
    const y = layout.top + (cell.row + 0.5) * layout.cellHeight - height / 2;
    for (const [colour, line] of [[colours().paper, 5], [colours().ink, 2]]) { // seen on any colour of a cell
        context.strokeStyle = colour;
        context.lineWidth = line;
        context.strokeRect(x, y, width, height);
    }
}

/* All that stays while the pointer moves: the cells, without labels and frames. */
const heatmapCells = remembered((item, head, stage, byRow, width, ratio) => {
    const canvas = document.createElement('canvas'), matrix = matrixOf(item, head, stage);
    const layout = heatmapLayout(prepareCanvas(canvas, width, 1), width, item);
    const context = prepareCanvas(canvas, width, heatmapHeight(layout));
    const across = Math.floor(layout.width * ratio), down = Math.floor(layout.height * ratio);
    drawPicture(context, heatmapPicture(matrix, byRow, across, down), layout);
    drawHatch(context, matrix, layout);
    drawGrid(context, layout);
    drawNumbers(context, matrix, byRow, layout);
    return { canvas, layout };
}, 3);

/* Draws it all into the canvas, and returns the layout, which tells what cell a point belongs to. */
function drawHeatmap(canvas, place, chosen, looked) {
    const width = canvas.parentElement.clientWidth, ratio = devicePixelRatio || 1;
    const { canvas: cells, layout } =
        heatmapCells(place.item, place.head, place.stage, place.byRow, width, ratio, scheme());
    const height = heatmapHeight(layout), context = prepareCanvas(canvas, width, height);
    context.drawImage(cells, 0, 0, width, height);
    drawQueryLabels(context, layout, place.item, looked.row);
    drawKeyLabels(context, layout, place.item, looked.key);
    drawFrames(context, layout, chosen.row, looked);
    return layout;
}

/* The cell at a point of the canvas, or null. */
function heatmapCell(layout, x, y) {
    const key = Math.floor((x - layout.left) / layout.cell), row = Math.floor((y - layout.top) / layout.cellHeight);
    return row >= 0 && row < job.rows && key >= 0 && key < job.keys ? { row, key } : null;
}

/* The colours from the least to the most, and what a masked cell looks like. */
function drawLegend(matrix, byRow) {
    const scale = matrix.scale, table = scaleTable(scale), stops = [];
    for (let i = 0; i < 256; i += 15) stops.push(colourText(table.subarray(i * 3, i * 3 + 3)));
    byId('legend-bar').style.background = `linear-gradient(to right, ${stops.join(', ')})`;
    byId('legend-least').textContent = byRow && scale.signed ? '− row’s most' : numberText(scale.least);
    byId('legend-most').textContent = byRow ? 'row’s most' : numberText(scale.most);
    byId('legend-masked').hidden = !matrix.masked.includes(1);
}
