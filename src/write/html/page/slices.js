// SPDX-License-Identifier: MIT
/* Long work in short pieces, so that nothing but paper waits for it. A newer list replaces an older one of the same name. */

const SLICE_MILLISECONDS = 8;
const lists = new Map();

function runSlice(name, pieces, from) {
    if (lists.get(name) !== pieces) return;
    const end = performance.now() + SLICE_MILLISECONDS;
    do {
        if (from >= pieces.length) return void lists.delete(name);
        pieces[from++]();
    } while (printing || performance.now() < end);
    setTimeout(() => runSlice(name, pieces, from), 0);
}

/* Starts at once. */
function inSlices(name, pieces) {
    lists.set(name, pieces);
    runSlice(name, pieces, 0);
}
