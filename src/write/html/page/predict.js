// SPDX-License-Identifier: MIT
/* The sentence as it is typed, by the vocabulary; and the next word: its bars, which lead to the reasons. */

/* --- the sentence ------------------------------------------------------------------------------------------------ */

const MOST_SUGGESTED = 8;
const typing = { gesture: '', words: [], at: -1 }; // the suggested words, and the chosen one

const wordsIn = (text) => text.split(/\s+/).filter(Boolean);
const sentenceNow = () => model.keyTexts[0].join(' ');

/* Where the word at the caret begins and ends. */
function wordAtCaret({ value, selectionStart }) {
    const first = value.slice(0, selectionStart).search(/\S*$/);
    return { first, last: selectionStart + value.slice(selectionStart).search(/(\s|$)/) };
}

function suggest(words) {
    const list = byId('text-words'), field = byId('text-field');
    Object.assign(typing, { words, at: -1 });
    list.replaceChildren(...words.map((word, i) => {
        const item = element('li', { role: 'option', id: `text-word-${i}`, 'aria-selected': 'false' }, tokenElement(word));
        item.addEventListener('pointerdown', (event) => { event.preventDefault(); complete(word); });
        return item;
    }));
    list.hidden = words.length === 0;
    field.setAttribute('aria-expanded', String(!list.hidden));
    field.removeAttribute('aria-activedescendant');
}

function suggestAtCaret(field) {
    const { first, last } = wordAtCaret(field), begun = field.value.slice(first, last);
    suggest(VOCABULARY.filter((word) => word.startsWith(begun) && word !== begun).slice(0, MOST_SUGGESTED));
}

function pointSuggestion(steps) {
    typing.at = (typing.at + steps + typing.words.length + (typing.at < 0 && steps < 0 ? 1 : 0)) % typing.words.length;
    [...byId('text-words').children].forEach((item, i) => item.setAttribute('aria-selected', String(i === typing.at)));
    byId('text-field').setAttribute('aria-activedescendant', `text-word-${typing.at}`);
}

function complete(word) {
    const field = byId('text-field'), { first, last } = wordAtCaret(field);
    field.setRangeText(`${word} `, first, last, 'end');
    suggest([]);
    takeSentence(field, true);
}

/* Makes the sentence the tokens where the vocabulary has all its words; says what it lacks once `done`. */
function takeSentence(field, done) {
    const words = wordsIn(field.value), lacks = words.filter((word) => !VOCABULARY.includes(word));
    field.setAttribute('aria-invalid', String(lacks.length > 0));
    if (lacks.length === 0 && words.length > 0 && words.join(' ') !== sentenceNow()) tryEdit({ do: 'text', words }, typing.gesture);
    else if (done) tell(lacks.length > 0 ? `The vocabulary has no word ${lacks.map((word) => `"${shownText(word)}"`).join(', ')}.` : '');
}

function onTextKey(event) {
    const field = event.target, steps = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (steps && typing.words.length > 0) pointSuggestion(steps);
    else if (event.key === 'Escape') suggest([]);
    else if ((event.key === 'Enter' || event.key === 'Tab') && typing.at >= 0) complete(typing.words[typing.at]);
    else if (event.key === 'Enter') takeSentence(field, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
}

function listenToWords() {
    const field = byId('text-field');
    byId('text-form').addEventListener('submit', (event) => event.preventDefault());
    field.addEventListener('focus', () => { typing.gesture = `sentence ${++gestures}`; });
    field.addEventListener('input', () => { suggestAtCaret(field); takeSentence(field, false); });
    field.addEventListener('keydown', onTextKey);
    field.addEventListener('blur', () => { suggest([]); takeSentence(field, true); });
}

function showSentence() {
    const field = byId('text-field'), there = canType(model) && model.items === 1 && whyFixed() === null;
    byId('text-form').hidden = !there;
    if (there && document.activeElement !== field) {
        field.value = sentenceNow();
        field.setAttribute('aria-invalid', 'false');
    }
}

/* --- the next word ----------------------------------------------------------------------------------------------- */

const MOST_GUESSES = 8;
let headSwitches = 0;

/* A switch for each head, which takes it out of the output. */
function showHeadSwitches() {
    const there = isSplit(model) && model.heads <= MOST_MULTIPLES && whyFixed() === null ? model.heads : 0;
    if (headSwitches !== there) {
        headSwitches = there;
        byId('heads-in').replaceChildren(...Array.from({ length: there }, (nothing, head) => {
            const input = element('input', { type: 'checkbox', id: `head-in-${head}` });
            input.addEventListener('change', () => tryEdit({ do: 'head', head, out: !input.checked }, null));
            return element('label', { class: 'switch', for: `head-in-${head}`, title: 'take this head out of the output, or put it back' }, input, ` head ${head + 1}`);
        }));
    }
    for (let head = 0; head < there; head++) byId(`head-in-${head}`).checked = !model.headsOut.includes(head);
}

function guess(row, word, share) {
    const name = VOCABULARY ? job.words[0][word] : `word ${word + 1}`, bar = element('span', { class: 'guess-bar' });
    const button = element('button', { type: 'button', class: 'guess', title: 'why this word' }, tokenElement(name), bar, element('span', { class: 'guess-share' }, numberText(share, 2)));
    bar.style.width = `${100 * Math.max(0, share)}%`;
    button.addEventListener('click', () => chooseCell('logits', row, word));
    return button;
}

/* The most probable words after the chosen token; each leads to the shares of its logit. */
function showWords() {
    showSentence();
    const there = model.tables.has('unembedding'), panel = byId('prediction-panel');
    panel.hidden = !there;
    if (!there) return;
    const evaluation = shownEvaluation(), shown = evaluation.table('probabilities', state.item, 0), row = within(state.at.query, shown.rows);
    const shares = shown.numbers.subarray(row * shown.columns, (row + 1) * shown.columns);
    const best = Array.from(shares.keys()).sort((a, b) => shares[b] - shares[a] || a - b).slice(0, MOST_GUESSES);
    byId('prediction-of').textContent = rowName(shown, row);
    byId('prediction').replaceChildren(...best.map((word) => guess(row, word, shares[word])));
    showHeadSwitches();
}
