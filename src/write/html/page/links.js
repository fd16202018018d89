// SPDX-License-Identifier: MIT
/* Links from queries to keys, like BertViz's head view: two columns of tokens, and lines as wide as their weights. */

const TALLEST_LINKS = 640, LINK_PITCH = 26;

/* The evaluation shown, before or after the edits; its lines, and the names of its queries and keys. */
const shownEvaluation = () => (state.mode === 'before' ? before : after);
const lineOf = (item, head, row) => shownEvaluation().line(item, head, row);
const sidesNow = () => {
    const [query, key] = ['query', 'key'].map((name) => shownEvaluation().table(name, state.item, 0));
    return {
        rows: query.rows, keys: key.rows, hasNames: hasLabels(query),
        queryTitle: (row) => (query.rowLabels && query.rowLabels[row]) || `query ${row + 1}`,
        queryName: (row) => rowName(query, row), keyName: (row) => rowName(key, row),
        place: { row: within(state.at.query, query.rows), key: within(state.at.key, key.rows) },
    };
};

const STRIP = 8; /* of a key, in the colour of its weight */

function linksLayout(context, width, sides) {
    const most = Math.max(sides.rows, sides.keys), room = width * 0.32;
    const labels = Math.max(widestLabel(context, sides.rows, sides.queryName, room),
        widestLabel(context, sides.keys, sides.keyName, room));
    const column = Math.min(width * 0.36, Math.max(72, labels + 24 + STRIP));
    const height = Math.min(TALLEST_LINKS, Math.max(most * LINK_PITCH, 120));
    const pitchOf = (count) => Math.min(height / count, LINK_PITCH * 2);
    return { width, height, column, rowPitch: pitchOf(sides.rows), keyPitch: pitchOf(sides.keys) };
}

const linkRowY = (layout, row) => 10 + (row + 0.5) * layout.rowPitch;
const linkKeyY = (layout, key) => 10 + (key + 0.5) * layout.keyPitch;

const heaviestKey = (row) => {
    const weights = lineOf(state.item, state.head, row).weights;
    return weights.reduce((best, weight, key) => (weight > weights[best] ? key : best), 0);
};

const widestLine = (layout) => Math.max(2, Math.min(12, layout.keyPitch * 0.45)) * rootSizeNow / 16;

/* The lines of one row, as wide as their share of the largest weight, each with a block at its key. */
function drawRowLinks(context, layout, row, weights, most) {
    const widest = widestLine(layout), middle = layout.width / 2, from = linkRowY(layout, row), to = layout.width - layout.column;
    const height = Math.max(1, Math.min(layout.keyPitch - 2, LINK_PITCH - 4));
    context.strokeStyle = context.fillStyle = headColour(state.head);
    weights.forEach((weight, key) => {
        const share = Math.min(1, Math.max(0, weight || 0) / most), y = linkKeyY(layout, key);
        context.globalAlpha = share;
        context.fillRect(to + 2, y - height / 2, STRIP, height);
        if (!(share > 0.004)) return;
        context.lineWidth = share * widest;
        context.globalAlpha = 0.3 + 0.7 * share;
        context.beginPath();
        context.moveTo(layout.column, from);
        context.bezierCurveTo(middle, from, middle, y, to, y);
        context.stroke();
    });
    context.globalAlpha = 1;
}

/* Labels in order of rank; one that would overlap another is left out. */
function drawRankedLabels(ranked, pitch, yOf, textOf, draw) {
    const taken = [], room = Math.min(15, Math.max(pitch, 14));
    for (const i of ranked) {
        if (taken.length > TALLEST_LINKS / 14) return;
        if (taken.some((y) => Math.abs(y - yOf(i)) < room - 0.5)) continue;
        taken.push(yOf(i));
        draw(i, textOf(i), yOf(i));
    }
}

function drawLinkQueries(context, layout, sides, row) {
    const others = Array.from({ length: sides.rows }, (nothing, i) => i).filter((i) => i !== row);
    const many = layout.rowPitch < 14, step = Math.ceil(others.length / 16);
    const ranked = [row, ...(many ? others.filter((i) => i % step === 0) : others)];
    const textOf = (i) => (many && sides.hasNames ? `${i + 1} ${sides.queryName(i)}` : sides.queryName(i));
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    drawRankedLabels(ranked, layout.rowPitch, (i) => linkRowY(layout, i), textOf, (i, text, y) => {
        setLabelInk(context, i === row);
        context.fillText(clipText(context, text, layout.column - 12), layout.column - 8, y);
    });
    context.fillStyle = colours().accent;
    context.fillRect(layout.column - 4, linkRowY(layout, row) - Math.max(layout.rowPitch / 2 - 2, 2), 3,
        Math.max(layout.rowPitch - 4, 4));
}

/* All keys where they have room; else those with the largest weights. */
function drawLinkKeys(context, layout, sides, weights, key) {
    const many = layout.keyPitch < 14, ranked = Array.from(weights.keys()).sort((a, b) => weights[b] - weights[a] || a - b);
    const textOf = (i) => (many && sides.hasNames ? `${i + 1} ${sides.keyName(i)}` : sides.keyName(i));
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    drawRankedLabels([key, ...ranked.filter((i) => i !== key)], layout.keyPitch, (i) => linkKeyY(layout, i),
        textOf, (i, text, y) => {
            setLabelInk(context, i === key);
            if (i !== key && weights[i] > 0) context.fillStyle = colours().ink;
            const shown = clipText(context, text, layout.column - STRIP - 10);
            context.fillText(shown, layout.width - layout.column + STRIP + 6, y);
        });
}

function drawLinks(canvas) {
    const sides = sidesNow(), { row } = sides.place, measure = canvas.getContext('2d');
    setFont(measure, labelFont());
    const layout = linksLayout(measure, roomOf.links, sides);
    const context = prepareCanvas(canvas, layout.width, layout.height + 20);
    const { weights } = lineOf(state.item, state.head, row), most = Math.max(0, ...weights.filter(Number.isFinite));
    drawRowLinks(context, layout, row, weights, most || 1);
    drawLinkQueries(context, layout, sides, row);
    drawLinkKeys(context, layout, sides, weights, sides.place.key);
    byId('links-most').textContent = numberText(most);
    return { ...layout, sides };
}

/* The token at a point: a query in the left half, a key in the right one. */
function linksToken({ sides, ...layout }, x, y) {
    return x < layout.width / 2
        ? { query: within(Math.floor((y - 10) / layout.rowPitch), sides.rows) }
        : { key: within(Math.floor((y - 10) / layout.keyPitch), sides.keys) };
}
