// SPDX-License-Identifier: MIT
/* What a reader changed: edits one after another, the model that each of them makes, undone and done again. `model` and
 * `after` are what is shown now; `before` is the evaluation of the job as attn wrote it. */

const original = modelOf(job), before = evaluate(original);
let model = original, after = before;
const past = { edits: [], models: [original], at: 0, gesture: null };

/* The edits that are done now, for a link or a file. */
const editsNow = () => past.edits.slice(0, past.at);
const isEdited = () => past.at > 0;

/* For each token now its number in the job as attn wrote it; -1: it was added. */
let tokenOrigins = [];
function originsNow() {
    const origins = Array.from({ length: original.keys }, (nothing, token) => token);
    for (const edit of editsNow())
        if (edit.do === 'without') origins.splice(edit.token, 1);
        else if (edit.do === 'add') origins.push(-1);
    return origins;
}

function renew() {
    model = past.models[past.at];
    tokenOrigins = originsNow();
    after = model === original ? before : evaluate(model);
    forgetShown();
}

/* Goes to the model after so many edits. */
function goTo(at) {
    past.at = Math.min(Math.max(at, 0), past.edits.length);
    past.gesture = null;
    renew();
}

/* One edit more; those of one gesture (a drag, a number that is typed) are one edit. A Refusal leaves all as it was. */
function addEdit(edit, gesture = null) {
    const at = gesture !== null && past.gesture === gesture ? past.at - 1 : past.at;
    const made = applyEdit(past.models[at], edit);
    past.edits.splice(at, Infinity, edit);
    past.models.splice(at + 1, Infinity, made);
    past.at = at + 1;
    past.gesture = gesture;
    renew();
}

/* All edits of a link, in place of those that are there. */
function setEdits(edits) {
    const models = [original];
    for (const edit of edits) models.push(applyEdit(models[models.length - 1], edit));
    Object.assign(past, { edits: edits.slice(), models, at: edits.length, gesture: null });
    renew();
}
