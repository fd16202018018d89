/* What the page saves: an input of attn that gives the same numbers, and a link that holds the edits. */

/* The shortest decimal that reads back to the same number of the working dtype; JSON has none for what is not finite. */
function decimalText(number) {
    if (number === -Infinity) return 'null';
    if (!Number.isFinite(number)) return JSON.stringify(String(number));
    for (let digits = 1; digits < 17; digits++) {
        const shorter = Number(number.toPrecision(digits));
        if (round(shorter) === number) return String(shorter);
    }
    return String(number);
}

/* Numbers as lists within lists, by that shape. */
function listText(numbers, shape, at = 0) {
    const below = countOf(shape.slice(1)), parts = [];
    for (let i = 0; i < shape[0]; i++)
        parts.push(shape.length > 1 ? listText(numbers, shape.slice(1), at + i * below) : decimalText(numbers[at + i]));
    return `[${parts.join(shape.length > 1 ? ',\n  ' : ', ')}]`;
}

/* A table as attn stores it. */
function tableText(model, { shape, numbers, transposed, what }) {
    if (what !== 'parameter' && !model.job.has_batch) return listText(numbers, shape.slice(shape.length === 3 ? 1 : model.job.has_heads ? 1 : 2));
    if (!transposed) return listText(numbers, shape);
    const [rows, columns] = shape;
    return listText(numbers.map((nothing, i) => numbers[(i % rows) * columns + Math.floor(i / rows)]), [columns, rows]);
}

function mechanismOf({ job, settings, starts }) {
    if (starts === 'operands') return 'sdpa';
    return ['self', 'causal'].includes(job.mechanism) ? (settings.causal ? 'causal' : 'self') : job.mechanism;
}

function settingsToSave(model) {
    const { settings, job } = model, { mistake, without, random, random_seed: randomSeed, ...saved } = job.given;
    saved.softcap = settings.softcap;
    saved.temperature = settings.temperature;
    saved.window = `${settings.left},${settings.right}`;
    if (settings.scale !== null) saved.scale = settings.scale;
    if (job.mechanism === 'multihead') saved.causal = settings.causal;
    return saved;
}

/* An input of attn. Throws Refusal where there is none that gives these numbers. */
function saveJSON(model) {
    if (model.starts === 'operands') refuse('This page cannot be saved yet.');
    const parts = [['settings', JSON.stringify(settingsToSave(model))]];
    if (model.tokenLists) parts.push(['tokens', JSON.stringify(model.tokenLists.length > 1 ? model.tokenLists : model.tokenLists[0])]);
    for (const table of model.tables.values()) parts.push([table.name, tableText(model, table)]);
    return `{${parts.map(([name, text]) => `${JSON.stringify(name)}: ${text}`).join(',\n')}}\n`;
}

const saveCommand = (model) => `attn ${mechanismOf(model)} saved.json`;

const stateToLink = (edits) => `#${encodeURIComponent(JSON.stringify(edits))}`;

function linkToState(hash) {
    try {
        const edits = JSON.parse(decodeURIComponent(hash.slice(1)));
        return Array.isArray(edits) ? edits.slice(0, 1000) : [];
    } catch {
        return [];
    }
}
