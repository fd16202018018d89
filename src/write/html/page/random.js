// SPDX-License-Identifier: MIT
/* Dropout's draws, as in src/model/torch_random.c: mt19937, two words for each uniform; or the generator of a build
 * with MKL, which one word seeds for each call. */

const WORDS = 624, PERIOD_OFFSET = 397, MKL_MODULUS = 0x7fffffff, MKL_MULTIPLIER = 1132489760;

/* As torch.manual_seed: PyTorch uses the low 32 bits. */
function seededWords(seed) {
    const words = new Uint32Array(WORDS);
    words[0] = Number(BigInt(seed) & 0xffffffffn);
    for (let i = 1; i < WORDS; i++) words[i] = Math.imul(1812433253, words[i - 1] ^ (words[i - 1] >>> 30)) + i;
    return words;
}

const twist = (word, neighbour, far) =>
    far ^ (((word & 0x80000000) | (neighbour & 0x7fffffff)) >>> 1) ^ (neighbour & 1 ? 0x9908b0df : 0);

function nextBlock(generator) {
    const { words } = generator;
    for (let i = 0; i < WORDS; i++)
        words[i] = twist(words[i], words[(i + 1) % WORDS], words[(i + PERIOD_OFFSET) % WORDS]);
    generator.next = 0;
}

function nextWord(generator) {
    if (generator.next === WORDS) nextBlock(generator);
    let word = generator.words[generator.next++];
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return (word ^ (word >>> 18)) >>> 0;
}

function nextUniform(generator) {
    const high = nextWord(generator), low = nextWord(generator);
    return ((high & 0x1fffff) * 2 ** 32 + low) * 2 ** -53;
}

/* The product of two numbers below 2^31, modulo 2^31 - 1. */
function multiplyMkl(a, b) {
    return (((a * (b >>> 16)) % MKL_MODULUS) * 65536 + a * (b & 0xffff)) % MKL_MODULUS;
}

function nextMkl(generator) {
    const uniform = generator.mkl / MKL_MODULUS;
    generator.mkl = multiplyMkl(MKL_MULTIPLIER, generator.mkl);
    return uniform;
}

/* --- the draws of a model ---------------------------------------------------------------------------------------- */

/* The heads of one module draw in one call, (B, H, Tq, Tk); stacked heads in a call each, (B, Tq, Tk). */
function startDrawing({ draw, items, heads, queries, keys, settings }) {
    const rows = items * heads * queries;
    const generator = draw.kind === 'seed' ? { words: seededWords(draw.seed), next: WORDS } : { words: draw.words.slice(), next: draw.next };
    return {
        generator: { ...generator, build: draw.build, mkl: 0 }, done: 0, keys, kept: 1 - settings.dropout,
        rowsPerCall: settings.stacked ? rows / heads : rows, bits: new Uint8Array(Math.ceil((rows * keys) / 8)),
    };
}

function drawRow(drawing) {
    const { generator, keys, kept, bits } = drawing, mkl = generator.build === 'torch-mkl';
    if (mkl && drawing.done % drawing.rowsPerCall === 0) generator.mkl = nextWord(generator) % MKL_MODULUS || 1;
    for (let key = 0, at = drawing.done * keys; key < keys; key++, at++)
        if ((mkl ? nextMkl(generator) : nextUniform(generator)) < kept) bits[at >> 3] |= 1 << (at & 7);
    drawing.done++;
}

const drawings = new WeakMap(); // what was drawn from a place of the generator on, by the sizes that it was drawn for

function drawingOf(model) {
    const { draw, items, heads, queries, keys, settings } = model;
    const sizes = [items, heads, queries, keys, settings.stacked, settings.dropout].join();
    const latest = drawings.get(draw);
    if (latest && latest.sizes === sizes) return latest.drawing;
    const drawing = startDrawing(model);
    drawings.set(draw, { sizes, drawing });
    return drawing;
}

/* What dropout keeps of a row, (Tk) truth values. */
function keptRow(model, item, head, row) {
    const { draw, items, heads, queries, keys, rows, settings } = model;
    const truths = (bits, first) => Array.from({ length: keys }, (nothing, key) => ((bits[(first + key) >> 3] >> ((first + key) & 7)) & 1) === 1);
    if (draw.kind === 'bits') return truths(draw.bits, ((item * heads + head) * rows.length + row) * Math.ceil(keys / 8) * 8);
    const drawing = drawingOf(model), matrix = settings.stacked ? head * items + item : item * heads + head;
    const place = matrix * queries + rows[row];
    while (drawing.done <= place) drawRow(drawing);
    return truths(drawing.bits, place * keys);
}
