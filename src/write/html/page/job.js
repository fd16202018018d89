// SPDX-License-Identifier: MIT
/* The job that attn wrote into the page, decoded; and rounding to its dtypes. */

const byId = (id) => document.getElementById(id);

function decodeBytes(id) {
    const letters = atob(byId('data-' + id).textContent);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
    return bytes;
}

const job = JSON.parse(byId('data-job').textContent);
const DTYPE = job.dtypes[job.dtype];

/* Numbers of the page are little-endian, as is every machine that runs a browser. */
function decodeNumbers(id) {
    const bytes = decodeBytes(id);
    return DTYPE.storage === 'f64' ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
}

/* What mistakes of the command line made: (B, H, S, Tk), context (B, H, S, d_v), and row statistics (B, H, S). The
 * page computes the rest. */
job.made = {};
for (const stage of job.wrong ? ['scores', 'scaled', 'capped', 'masked', 'weights', 'dropped', 'context', ...job.stages.map(([name]) => name)] : [])
    if (byId('data-made-' + stage)) job.made[stage] = decodeNumbers('made-' + stage);
job.isWrong = (stage) => job.wrong !== null && job.wrong.includes(stage);

/* --- rounding ---------------------------------------------------------------------------------------------------- */

/* Rounds to `bits` significant binary digits, ties to even, in units no finer than the smallest number. Above the
 * largest number: Infinity, or the largest where the dtype has no infinity. */
function roundTo(number, { bits, smallest, largest, infinite }) {
    const magnitude = Math.abs(number);
    if (!(magnitude > 0 && magnitude < Infinity)) return number;
    let step = Math.max(smallest, 2 ** (Math.floor(Math.log2(magnitude)) - bits + 1));
    while (magnitude >= step * 2 ** bits) step *= 2;
    while (step > smallest && magnitude < step * 2 ** (bits - 1)) step /= 2;
    const rounded = (magnitude / step + 2 ** 52 - 2 ** 52) * step;
    return Math.sign(number) * (rounded <= largest ? rounded : infinite ? Infinity : largest);
}

const NATIVE_ROUNDERS = { f32: Math.fround, f64: (number) => number };
const rounderOf = (dtype) => NATIVE_ROUNDERS[dtype] || ((number) => roundTo(number, job.dtypes[dtype]));

let exact = false; // gradients are computed in double
const unlessExact = (rounder) => (number) => (exact ? number : rounder(number));
const round = unlessExact(rounderOf(job.dtype)), roundStored = unlessExact(NATIVE_ROUNDERS[DTYPE.storage]);
const roundMasked = unlessExact(rounderOf(job.masked_dtype || job.dtype)), MASKED_DTYPE = job.dtypes[job.masked_dtype || job.dtype];
const roundSoftmax = unlessExact(rounderOf(job.softmax_dtype));

function withoutRounding(work) {
    exact = true;
    try {
        return work();
    } finally {
        exact = false;
    }
}

/* Keeps the last results, at most so many. */
function remembered(make, most) {
    const results = new Map();
    return (...place) => {
        const name = place.join();
        const result = results.get(name) || make(...place);
        results.delete(name);
        results.set(name, result);
        if (results.size > most) results.delete(results.keys().next().value);
        return result;
    };
}
