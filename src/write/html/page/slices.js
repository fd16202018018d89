// SPDX-License-Identifier: MIT
/* Work that may be long, a piece at a time, so that nothing waits for it: the pieces of a newer list take the place of
 * those of an older one of that name. */

const SLICE_MILLISECONDS = 8;
const lists = new Map();

function runSlice(name, pieces, from) {
    if (lists.get(name) !== pieces) return;
    const end = performance.now() + SLICE_MILLISECONDS;
    do {
        if (from >= pieces.length) return void lists.delete(name);
        pieces[from++]();
    } while (performance.now() < end);
    setTimeout(() => runSlice(name, pieces, from), 0);
}

/* The first pieces are done at once. */
function inSlices(name, pieces) {
    lists.set(name, pieces);
    runSlice(name, pieces, 0);
}
