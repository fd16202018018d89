/* The links from queries to keys, as BertViz's head view has them: two columns of tokens, and lines whose opacity is the
 * weight. */

const TALLEST_LINKS = 640, LINK_PITCH = 26, MOST_LINES = 1 << 17;

/* The heads whose lines are drawn. */
function linkHeads(place) {
    return place.allHeads ? Array.from({ length: job.heads }, (nothing, head) => head) : [place.head];
}

const stripsWidth = (place) => Math.min(8 * linkHeads(place).length, 40);

function linksLayout(context, width, place) {
    const most = Math.max(job.rows, job.keys), room = width * 0.32;
    const labels = Math.max(widestLabel(context, job.rows, (row) => queryName(place.item, row), room),
        widestLabel(context, job.keys, (key) => keyName(place.item, key), room));
    const column = Math.min(width * 0.36, Math.max(72, labels + 24 + stripsWidth(place)));
    const height = Math.min(TALLEST_LINKS, Math.max(most * LINK_PITCH, 120));
    const pitchOf = (count) => Math.min(height / count, LINK_PITCH * 2);
    return { width, height, column, rowPitch: pitchOf(job.rows), keyPitch: pitchOf(job.keys) };
}

const linkRowY = (layout, row) => 10 + (row + 0.5) * layout.rowPitch;
const linkKeyY = (layout, key) => 10 + (key + 0.5) * layout.keyPitch;

/* The largest weight of a row, over the heads that are drawn: its line is opaque. */
function heaviest(place, row) {
    let most = 0;
    for (const head of linkHeads(place))
        for (const weight of lineOf(place.item, head, row).weights) if (weight > most) most = weight;
    return most;
}

const heaviestKey = (place, row) => {
    const weights = lineOf(place.item, place.head, row).weights;
    return weights.reduce((best, weight, key) => (weight > weights[best] ? key : best), 0);
};

/* The lines of one row; those of several heads run side by side, so that none hides another. */
function drawRowLinks(context, layout, place, row, strength) {
    const heads = linkHeads(place), apart = Math.min(3, layout.keyPitch * 0.7 / heads.length);
    heads.forEach((head, i) => {
        const weights = lineOf(place.item, head, row).weights, shift = (i - (heads.length - 1) / 2) * apart;
        const from = linkRowY(layout, row) + shift;
        context.strokeStyle = headColour(head);
        for (let key = 0; key < job.keys; key++) {
            const opacity = Math.min(1, weights[key] * strength);
            if (!(opacity > 0.01)) continue;
            context.globalAlpha = opacity;
            context.beginPath();
            const to = linkKeyY(layout, key) + shift, middle = layout.width / 2;
            context.moveTo(layout.column, from);
            context.bezierCurveTo(middle, from, middle, to, layout.width - layout.column, to);
            context.stroke();
        }
    });
    context.globalAlpha = 1;
}

/* How much of the row's weight each key has, over the heads that are drawn. */
function meanWeights(place, row) {
    const heads = linkHeads(place), mean = new Float64Array(job.keys);
    for (const head of heads)
        lineOf(place.item, head, row).weights.forEach((weight, key) => (mean[key] += weight / heads.length));
    return mean;
}

/* A block beside each key, one strip a head. */
function drawKeyStrips(context, layout, place, row, most) {
    const heads = linkHeads(place), width = stripsWidth(place) / heads.length;
    const height = Math.max(1, Math.min(layout.keyPitch - 2, LINK_PITCH - 4));
    heads.forEach((head, i) => {
        const weights = lineOf(place.item, head, row).weights;
        context.fillStyle = headColour(head);
        for (let key = 0; key < job.keys; key++) {
            context.globalAlpha = Math.min(1, (weights[key] || 0) / most);
            context.fillRect(layout.width - layout.column + 2 + i * width, linkKeyY(layout, key) - height / 2, width, height);
        }
    });
    context.globalAlpha = 1;
}

/* Labels in order of rank, each where it meets none that is there already. */
function drawRankedLabels(context, ranked, pitch, yOf, textOf, draw) {
    const taken = [], room = Math.min(15, Math.max(pitch, 14));
    for (const i of ranked) {
        if (taken.length > TALLEST_LINKS / 14) return;
        if (taken.some((y) => Math.abs(y - yOf(i)) < room - 0.5)) continue;
        taken.push(yOf(i));
        draw(i, textOf(i), yOf(i));
    }
}

function drawLinkQueries(context, layout, place, row) {
    const others = Array.from({ length: job.rows }, (nothing, i) => i).filter((i) => i !== row);
    const many = layout.rowPitch < 14, step = Math.ceil(others.length / 16);
    const ranked = [row, ...(many ? others.filter((i) => i % step === 0) : others)];
    const textOf = (i) => (many ? `${job.positions[i] + 1} ${queryLabel(place.item, i)}`.trim() : queryName(place.item, i));
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    drawRankedLabels(context, ranked, layout.rowPitch, (i) => linkRowY(layout, i), textOf, (i, text, y) => {
        setLabelInk(context, i === row);
        context.fillText(clipText(context, text, layout.column - 12), layout.column - 8, y);
    });
    context.fillStyle = colours().accent;
    context.fillRect(layout.column - 4, linkRowY(layout, row) - Math.max(layout.rowPitch / 2 - 2, 2), 3,
        Math.max(layout.rowPitch - 4, 4));
}

/* All keys where they have room; else the heaviest. */
function drawLinkKeys(context, layout, place, row, key, indent) {
    const mean = meanWeights(place, row), many = layout.keyPitch < 14;
    const ranked = Array.from(mean.keys()).sort((a, b) => mean[b] - mean[a] || a - b);
    const textOf = (i) => (many ? `${i + 1} ${keyLabel(place.item, i)}`.trim() : keyName(place.item, i));
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    drawRankedLabels(context, [key, ...ranked.filter((i) => i !== key)], layout.keyPitch, (i) => linkKeyY(layout, i),
        textOf, (i, text, y) => {
            setLabelInk(context, i === key);
            if (i !== key) context.fillStyle = mean[i] > 0 ? colours().ink : colours().hatch;
            context.fillText(clipText(context, text, layout.column - indent - 10), layout.width - layout.column + indent + 6, y);
        });
}

const allRowsFit = (place) => job.rows * job.keys * linkHeads(place).length <= MOST_LINES;

function drawLinks(canvas, place, chosen, looked) {
    const width = canvas.parentElement.clientWidth;
    const layout = linksLayout(prepareCanvas(canvas, width, 1), width, place);
    const context = prepareCanvas(canvas, layout.width, layout.height + 20);
    const most = heaviest(place, chosen.row) || 1;
    context.lineWidth = Math.max(1, Math.min(2.5, layout.keyPitch / 6 / Math.sqrt(linkHeads(place).length)));
    if (place.allRows && allRowsFit(place))
        for (let row = 0; row < job.rows; row++)
            if (row !== chosen.row) drawRowLinks(context, layout, place, row, 0.4 / most);
    drawRowLinks(context, layout, place, chosen.row, 1 / most);
    drawKeyStrips(context, layout, place, chosen.row, most);
    drawLinkQueries(context, layout, place, chosen.row);
    drawLinkKeys(context, layout, place, chosen.row, looked.key, stripsWidth(place));
    byId('links-most').textContent = numberText(most);
    return layout;
}

/* What a point belongs to: a query in the left half, a key in the right one. */
function linksToken(layout, x, y) {
    const within = (i, count) => Math.min(Math.max(i, 0), count - 1);
    return x < layout.width / 2
        ? { row: within(Math.floor((y - 10) / layout.rowPitch), job.rows) }
        : { key: within(Math.floor((y - 10) / layout.keyPitch), job.keys) };
}
