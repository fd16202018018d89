// SPDX-License-Identifier: MIT
/* The reader's changes: edits, the model that each makes, undo and redo. `model` and `after` are shown now; `before`
 * is the evaluation of the job as attn wrote it. */

const original = modelOf(job), before = evaluate(original);
let model = original, after = before;
const past = { edits: [], models: [original], at: 0, gesture: null };

/* The edits in force, for a link or a file. */
const editsNow = () => past.edits.slice(0, past.at);
const isEdited = () => past.at > 0;

/* For each token its number in the job as attn wrote it; -1: the reader added it. */
let tokenOrigins = [];
function originsNow() {
    const origins = Array.from({ length: original.keys }, (nothing, token) => token);
    for (const edit of editsNow())
        if (edit.do === 'without') origins.splice(edit.token, 1);
        else if (edit.do === 'add') origins.push(-1);
        else if (edit.do === 'text') origins.splice(0, Infinity, ...edit.words.map(() => -1)); /* another sentence: nothing to compare */
    return origins;
}

function renew() {
    model = past.models[past.at];
    tokenOrigins = originsNow();
    after = model === original ? before : evaluate(model);
    forgetShown();
}

function goTo(at) {
    past.at = Math.min(Math.max(at, 0), past.edits.length);
    past.gesture = null;
    renew();
}

/* Adds an edit; edits of one gesture (a drag, typing a number) count as one. A Refusal changes nothing. */
function addEdit(edit, gesture = null) {
    const at = gesture !== null && past.gesture === gesture ? past.at - 1 : past.at;
    const made = applyEdit(past.models[at], edit);
    past.edits.splice(at, Infinity, edit);
    past.models.splice(at + 1, Infinity, made);
    past.at = at + 1;
    past.gesture = gesture;
    renew();
}

/* Replaces all edits by those of a link. */
function setEdits(edits) {
    const models = [original];
    for (const edit of edits) models.push(applyEdit(models[models.length - 1], edit));
    Object.assign(past, { edits: edits.slice(), models, at: edits.length, gesture: null });
    renew();
}
