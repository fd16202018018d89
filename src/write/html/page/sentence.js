// SPDX-License-Identifier: MIT
/* For an input that has words: the sentence, typed with words suggested, and the words that come next. */

const MOST_GUESSES = 6, MOST_WORDS = 12, MOST_NEAR = 3, MOST_KNOWN = 60;

/* --- the next word ----------------------------------------------------------------------------------------------- */

/* A row of fixed height for each guess, so that nothing moves while a number is dragged. */
function addGuess() {
    const button = element('button', { type: 'button', class: 'guess' }, element('bdi', { class: 'token' }),
        element('span', { class: 'guess-track', 'aria-hidden': 'true' }, element('span', { class: 'guess-bar' })), element('span', { class: 'guess-share' }));
    button.title = 'how it comes about';
    button.addEventListener('click', () => {
        showSheet(true);
        chooseCell('logits', sidesNow().place.row, Number(button.dataset.word));
    });
    byId('prediction').append(button);
}

function showPrediction() {
    const has = stageOf('probabilities') !== null;
    byId('prediction-panel').hidden = !has;
    if (!has) return;
    const { place, queryTitle } = sidesNow(), shares = rowOfShares(place.row);
    const best = Array.from(shares.keys()).sort((a, b) => shares[b] - shares[a] || a - b).slice(0, MOST_GUESSES);
    while (byId('prediction').childElementCount < best.length) addGuess();
    best.forEach((word, i) => {
        const row = byId('prediction').children[i], [name, track, share] = row.children;
        row.dataset.word = String(word);
        if (name.textContent !== wordText(word)) name.textContent = wordText(word);
        track.firstChild.style.width = `${100 * shares[word]}%`;
        share.textContent = numberText(shares[word]);
        row.setAttribute('aria-label', `${wordText(word)}, ${share.textContent}`);
    });
    byId('prediction-of').textContent = queryTitle(place.row);
    showReason(place.row, best[0]);
}

/* The head without which the likeliest word falls most, and where it looks. */
function showReason(row, word) {
    const most = neededHead(shownEvaluation(), state.item, row, word);
    byId('prediction-why').replaceChildren(...(most === null ? [] : [`Without ${headText(most.head)}, which looks at `, tokenElement(sidesNow().keyName(most.key)),
        ` with ${numberText(most.weight, 2)}, the share of `, tokenElement(wordText(word)), ` falls to ${numberText(most.share, 2)}. Click a word to see its sum.`]));
}

/* --- the sentence ------------------------------------------------------------------------------------------------ */

const sentenceOf = (text) => text.trim().split(/\s+/).filter(Boolean);
const suggestions = { words: [], at: -1, from: 0, gesture: null, of: '' }; /* of: the sentence shown when it was typed */

const rowOfShares = (row) => {
    const { columns, numbers } = shownEvaluation().table('probabilities', state.item, 0);
    return numbers.subarray(row * columns, (row + 1) * columns);
};

/* How many letters to change, add, leave out or swap between two words. */
function editsBetween(word, other) {
    const rows = [[...other, ''].map((nothing, i) => i)];
    for (let at = 1; at <= word.length; at++) {
        const [last, before] = [rows[at - 1], rows[at - 2]], row = rows[at] = [at];
        for (let i = 1; i <= other.length; i++) {
            row[i] = Math.min(last[i - 1] + Number(word[at - 1] !== other[i - 1]), last[i] + 1, row[i - 1] + 1);
            if (before && word[at - 1] === other[i - 2] && word[at - 2] === other[i - 1]) row[i] = Math.min(row[i], before[i - 2] + 1);
        }
    }
    return rows[word.length][other.length];
}

/* The words nearest to one that is none, by attn's rule: a change for each three letters, whatever their case. */
function nearWords(word) {
    const most = word.length === 2 ? 1 : Math.floor(word.length / 3), edits = (one) => editsBetween(word.toLowerCase(), one.toLowerCase());
    return VOCABULARY.filter((one) => edits(one) <= most).sort((a, b) => edits(a) - edits(b)).slice(0, MOST_NEAR);
}

/* The words that begin as the word at the caret does, those first that the model expects after the words before; none
 * where that is a word already and no other begins so. Near words where none begins so. */
function suggestWords(field) {
    const before = field.value.slice(0, field.selectionStart), [part] = /\S*$/.exec(before);
    const fitting = VOCABULARY.filter((word) => word.startsWith(part)), first = sentenceOf(before.slice(0, before.length - part.length));
    if (stageOf('probabilities') && first.length > 0 && tokenNames().slice(0, first.length).join() === first.join()) {
        const shares = rowOfShares(first.length - 1), shareOfWord = (word) => shares[VOCABULARY.indexOf(word)];
        fitting.sort((a, b) => shareOfWord(b) - shareOfWord(a));
    }
    suggestions.from = before.length - part.length;
    suggestions.words = fitting.length === 0 ? nearWords(part) : fitting.length === 1 && fitting[0] === part ? [] : fitting.slice(0, MOST_WORDS);
    suggestions.at = part === '' ? -1 : 0;
    showSuggestions(field);
}

function showSuggestions(field) {
    const { words, at } = suggestions, list = byId('text-words');
    const context = byId('large').getContext('2d');
    setFont(context, getComputedStyle(field).font);
    list.style.left = `${Math.min(context.measureText(field.value.slice(0, suggestions.from)).width, field.clientWidth - 160)}px`;
    list.hidden = words.length === 0;
    field.setAttribute('aria-expanded', String(words.length > 0));
    list.replaceChildren(...words.map((word, i) => {
        const option = element('li', { role: 'option', id: `text-word-${i}`, 'aria-selected': String(i === at) }, tokenElement(word));
        option.addEventListener('pointerdown', (event) => {
            event.preventDefault(); // the field keeps the focus
            takeWord(field, word);
        });
        return option;
    }));
    if (at >= 0 && words.length > 0) field.setAttribute('aria-activedescendant', `text-word-${at}`);
    else field.removeAttribute('aria-activedescendant');
}

function takeWord(field, word) {
    const rest = field.value.slice(field.selectionStart).replace(/^\S*\s*/, '');
    field.value = `${field.value.slice(0, suggestions.from)}${word} ${rest}`;
    field.setSelectionRange(suggestions.from + word.length + 1, suggestions.from + word.length + 1);
    typeSentence(field);
}

/* Says which words the vocabulary lacks, and which it has; nothing where it has all. */
function sayLacking(field, lacking) {
    const first = job.words[0].slice(0, MOST_KNOWN).join(' '), more = VOCABULARY.length - MOST_KNOWN;
    field.setAttribute('aria-invalid', String(lacking.length > 0));
    const near = lacking.flatMap(nearWords).map((word) => ` Did you mean “${word}”?`).slice(0, 1).join('');
    byId('text-lacks').textContent = lacking.length === 0 ? ''
        : `This model does not know ${lacking.map((word) => `“${shownText(word)}”`).join(', ')}.${near} It knows: ${first}${more > 0 ? ` and ${more} more` : ''}`;
    suggestions.of = tokenNames().join(' ');
}

/* Takes the sentence as it is typed, once all of it is words. */
function typeSentence(field) {
    const words = sentenceOf(field.value), unknown = words.filter((word) => !VOCABULARY.includes(word));
    const isWhole = words.length > 0 && unknown.length === 0;
    sayLacking(field, unknown.filter((one) => !VOCABULARY.some((word) => word.startsWith(one))));
    if (isWhole && words.join(' ') !== tokenNames().join(' ')) setSentence(words, suggestions.gesture);
    suggestWords(field);
}

/* Shows another sentence, its last word chosen. */
function setSentence(words, gesture) {
    tryEdit({ do: 'text', words }, gesture);
    const query = tokenNames().length - 1;
    chooseAt({ query, key: heaviestKey(query) });
}

/* A text whose quotations are sentences of the vocabulary: each is a button that shows it. */
const withSentences = (text) => text.split(/"([^"]*)"/).map((part, i) => (i % 2 === 0 ? part : sentenceButton(part)));

function sentenceButton(text) {
    const words = sentenceOf(text), button = element('button', { type: 'button', class: 'plain' }, text);
    if (!canType(model) || !words.every((word) => VOCABULARY.includes(word))) return `"${text}"`;
    button.addEventListener('click', () => setSentence(words, null));
    return button;
}

const readySentences = () => withSentences(job.comment || '').filter((part) => typeof part !== 'string');

/* Puts the caret behind the sentence, with the words that may follow. */
function typeOn() {
    const field = byId('text-field');
    field.focus();
    field.value = `${field.value.trim()} `;
    suggestWords(field);
    return null;
}

function onSentenceKey(event) {
    const field = event.currentTarget, { words, at } = suggestions, move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move && words.length > 0) suggestions.at = (at + move + words.length) % words.length;
    else if ((event.key === 'Enter' || event.key === 'Tab') && at >= 0 && words.length > 0) return void (event.preventDefault(), takeWord(field, words[at]));
    else if (event.key === 'Escape') suggestions.words = [];
    else return;
    event.preventDefault();
    showSuggestions(field);
}

/* The field says the sentence that is shown, unless a reader types in it, or typed a word that is none. */
function showSentence() {
    const field = byId('text-field');
    byId('text-form').hidden = !canType(model) || job.items > 1 || whyFixed() !== null;
    const { hidden } = byId('text-form'), isKept = field.getAttribute('aria-invalid') === 'true' && suggestions.of === tokenNames().join(' ');
    if (hidden || document.activeElement === field || isKept) return;
    sayLacking(field, []);
    field.value = tokenNames().join(' ');
}

function listenToSentence() {
    const field = byId('text-field');
    field.addEventListener('focus', () => { suggestions.gesture = `text ${++gestures}`; });
    field.addEventListener('input', () => typeSentence(field));
    field.addEventListener('keydown', onSentenceKey);
    field.addEventListener('blur', () => {
        suggestions.words = [];
        showSuggestions(field);
        sayLacking(field, sentenceOf(field.value).filter((word) => !VOCABULARY.includes(word)));
        finishWaiting();
        showSentence();
    });
    byId('text-form').addEventListener('submit', (event) => event.preventDefault());
}
