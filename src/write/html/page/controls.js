// SPDX-License-Identifier: MIT
/* The controls: settings, tokens, changes, and what a reader can save or copy. settingsOf lists the settings; those
 * that a job does not have are listed separately, each with its reason. */

/* --- settings ---------------------------------------------------------------------------------------------------- */

const controls = { names: '', inputs: new Map() };

function askSetting(setting, to, gesture) {
    if (state.mode === 'before') setMode('after');
    editSoon({ do: 'setting', name: setting.name, to }, gesture);
}

const settingLabel = ({ name, label }) => label || name.replace(/_/g, ' ');

function switchControl(setting, id) {
    const input = element('input', { type: 'checkbox', id });
    input.addEventListener('change', () => askSetting(setting, input.checked, null));
    return [element('label', { class: 'switch', for: id }, input, settingLabel(setting))];
}

function choiceControl(setting, id) {
    const list = element('select', { id });
    for (const choice of setting.choices) {
        const [value, text] = Array.isArray(choice) ? choice : [choice, choice];
        list.append(element('option', { value: String(value) }, String(text)));
    }
    list.addEventListener('change', () => {
        const chosen = setting.choices.map((choice) => [choice].flat()[0])[list.selectedIndex];
        askSetting(setting, chosen, null);
    });
    return [element('label', { for: id }, settingLabel(setting)), list, element('span', { class: 'note chosen-text' })];
}

/* The value for no bound, and what an empty field shows then. */
const UNSET = { left: [-1, 'all'], right: [-1, 'all'], softcap: [0, 'none'], dropout: [0, 'none'] };

/* A slider where the number has two ends, and a field. */
function numberControl(setting, id) {
    const { least, most, step } = setting, ends = Number.isFinite(least) && Number.isFinite(most);
    const limits = { ...(ends ? { min: least, max: most } : {}), step: ends && step ? step : 'any' };
    const field = element('input', { type: 'number', id, ...limits, step: 'any', inputmode: 'decimal' });
    if (setting.name in UNSET) field.placeholder = UNSET[setting.name][1];
    const slider = element('input', { type: 'range', ...limits, 'aria-label': settingLabel(setting), tabindex: '-1' });
    const inputs = ends ? [slider, field] : [field];
    for (const input of inputs) {
        const begin = () => { input.gesture = `setting ${++gestures}`; };
        input.addEventListener('focus', begin);
        input.addEventListener('pointerdown', begin);
        input.addEventListener('blur', () => { finishWaiting(); showSettings(); });
        input.addEventListener('input', () => {
            const [unset] = input.validity.badInput ? [NaN] : UNSET[setting.name] || [NaN];
            const number = input.value === '' ? unset : Number(input.value);
            if (Number.isFinite(number)) askSetting(setting, number, input.gesture);
        });
    }
    return [element('label', { for: id }, settingLabel(setting)), ...inputs];
}

const CONTROLS = { switch: switchControl, choice: choiceControl, number: numberControl };

function settingControl(setting) {
    const control = element('div', { class: `control ${setting.kind}`, title: setting.says || '' },
        ...CONTROLS[setting.kind](setting, `setting-${setting.name}`));
    controls.inputs.set(setting.name, { control, choices: String(setting.choices), inputs: control.querySelectorAll('input, select') });
    return control;
}

/* Builds all controls again where others are possible now; else only those whose choices changed, so that the focus
 * stays. */
function buildSettings(settings) {
    const [possible, others] = [true, false].map((is) => settings.filter((setting) => setting.possible === is));
    const names = settings.map(({ name, possible: is, because }) => `${name} ${is} ${because}`).join();
    for (const setting of controls.names === names ? possible : []) {
        const { control, choices } = controls.inputs.get(setting.name);
        if (choices !== String(setting.choices)) control.replaceWith(settingControl(setting));
    }
    if (controls.names === names) return;
    controls.names = names;
    controls.inputs.clear();
    byId('settings-list').replaceChildren(element('legend', { class: 'unseen' }, 'Settings'), ...possible.map(settingControl));
    byId('not-here').hidden = others.length === 0;
    byId('not-here-count').textContent = `${plural(others.length, 'control')} that this job does not have`;
    byId('not-here-list').replaceChildren(...others.map((setting) => element('li', {},
        element('label', {}, element('input', { type: 'checkbox', disabled: '', id: `setting-${setting.name}` }), ` ${settingLabel(setting)}`), `: ${setting.because}`)));
}

function showSettings() {
    const settings = settingsOf(model);
    buildSettings(settings);
    byId('settings-list').disabled = whyFixed() !== null;
    for (const { name, value, choices } of settings) {
        tellChoice(name, value, choices);
        for (const input of controls.inputs.has(name) ? controls.inputs.get(name).inputs : [])
            if (input.type === 'checkbox') input.checked = value === true;
            else if (document.activeElement !== input || input.type !== 'number')
                input.value = value === null || (input.type === 'number' && UNSET[name]?.[0] === value) ? '' : String(typeof value === 'number' ? Number(value.toPrecision(6)) : value);
    }
}

/* Says what the chosen one means, unless it is the first, which is none. */
function tellChoice(name, value, choices) {
    const control = byId(`setting-${name}`).parentElement, text = control.querySelector('.chosen-text');
    const at = text ? choices.findIndex((choice) => Array.isArray(choice) && choice[0] === value) : -1;
    if (text) text.textContent = at > 0 ? choices[at].join(': ') : '';
}

/* --- tokens ------------------------------------------------------------------------------------------------------ */

/* Why tokens cannot come and go, or null. */
const tokensStay = () => (whyFixed() === null ? whyTokensStay(model) : '');

/* The token of a query, and the query of a token: only some tokens may be queries. */
const tokenOfQuery = (query) => (model.tables.has('inputs') ? model.rows[query] : query);
const queryOfToken = (token) => (model.tables.has('inputs') ? model.rows.indexOf(token) : token);

function tokenChip(text, token) {
    const name = text || String(token + 1), chosen = token === tokenOfQuery(state.at.query);
    const button = element('button', { type: 'button', class: 'token-name', 'aria-pressed': String(chosen), 'aria-keyshortcuts': 'Delete F2' },
        tokenElement(name), element('small', {}));
    const cross = element('button', { type: 'button', class: 'cross', 'aria-label': `Remove ${name}`,
        title: 'remove this token', tabindex: '-1' }, '×'); // Delete removes it, too
    button.addEventListener('click', () => { if (queryOfToken(token) >= 0) chooseAt({ query: queryOfToken(token) }); });
    button.addEventListener('dblclick', () => renameToken(token));
    button.addEventListener('keydown', (event) => {
        if (event.key === 'F2') renameToken(token);
        if (event.key === 'Delete') takeOut(token);
    });
    cross.addEventListener('click', () => takeOut(token));
    cross.disabled = tokenCount() < 2 || tokensStay() !== null;
    return element('li', { class: chosen ? 'token-chip chosen' : 'token-chip' }, button, cross);
}

const MOST_CHIPS = 200, MANY_CHIPS = 24;
const tokensTable = () => after.table(model.tables.has('inputs') ? 'inputs' : 'query', state.item, 0);
const tokenCount = () => tokensTable().rows;
const tokenNames = () => {
    const shown = tokensTable();
    return Array.from({ length: shown.rows }, (nothing, row) => (shown.rowLabels && shown.rowLabels[row]) || '');
};

function takeOut(token) {
    tryEdit({ do: 'without', token }, null);
    byId('tokens-list').querySelectorAll('.token-name')[within(token, tokenCount())].focus();
}

function renameToken(token) {
    const chip = byId('tokens-list').children[token], { item } = state;
    const field = element('input', { type: 'text', class: 'rename', maxlength: '200', 'aria-label': 'Label of the token' });
    field.value = tokenNames()[token];
    let done = false;
    const end = (keep) => {
        if (done) return;
        done = true;
        tokensShown = '';
        if (keep && field.value !== tokenNames()[token]) tryEdit({ do: 'label', token, to: field.value, item }, null);
        else showTokens();
    };
    field.addEventListener('blur', () => end(true));
    field.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' && event.key !== 'Escape') return;
        end(event.key === 'Enter');
        byId('tokens-list').children[token].querySelector('.token-name').focus();
    });
    chip.querySelector('.token-name').replaceWith(field);
    field.select();
    field.focus();
}

/* Built again only where something changed, so that the focus stays while a number is dragged. */
let tokensShown = '';
function showTokens() {
    const names = tokenNames(), because = tokensStay(), text = JSON.stringify([names, because, state.at.query]);
    if (tokensShown === text) return;
    tokensShown = text;
    byId('tokens-list').replaceChildren(...names.slice(0, MOST_CHIPS).map(tokenChip));
    const list = byId('tokens-list'), chosen = list.querySelector('.chosen');
    list.classList.toggle('many', names.length > MANY_CHIPS);
    if (chosen && names.length > MANY_CHIPS) list.scrollTop = chosen.offsetTop - list.offsetTop - list.clientHeight / 2;
    byId('tokens-more').textContent = names.length > MOST_CHIPS ? `and ${names.length - MOST_CHIPS} more` : '';
    byId('tokens-because').textContent = because || '';
    byId('add-open').hidden = because !== null || !model.tables.has('inputs');
    byId('sentence-title').replaceChildren(...(tokensAreKeys() ? [tokenElement(sidesNow().queryTitle(sidesNow().place.row)), ' looks at'] : ['Tokens']));
}

const tokensAreKeys = () => model.keys === tokenCount() && !model.tables.has('key_inputs') && !model.ownQueries;

/* Each token in the colour of its weight for the chosen query, as in the table of weights. */
function paintTokens() {
    const { weights, bias, empty } = lineOf(state.item, state.head, sidesNow().place.row);
    const shown = stageOf('weights') && shownTable('weights'), scale = shown && !shown.signs ? shown.scale : colourScale(weights, false, 1);
    Array.from(tokensAreKeys() ? byId('tokens-list').children : []).forEach((chip, key) => {
        const apart = !empty && bias[key] === -Infinity, colour = cellColour(weights[key], false, scale);
        chip.classList.toggle('apart', apart);
        chip.style.setProperty('--share', colourText(colour));
        chip.style.setProperty('--on-share', inkOn(colour));
        const text = apart ? 'masked' : cellText({ most: 1 }, weights[key]), { firstChild: name } = chip;
        chip.querySelector('small').textContent = text;
        if (name.localName === 'button') name.setAttribute('aria-label', `${name.firstChild.title}, ${apart ? text : `weight ${text}`}`);
    });
}

/* Goes on in the sentence; without one opens the form for one more token, whose numbers begin as those of the chosen token. */
function openAdd() {
    if (!byId('text-form').hidden) return typeOn();
    const inputs = after.table('inputs', state.item, 0), from = within(state.at.query, inputs.rows) * inputs.columns;
    byId('add-numbers').value = Array.from(inputs.numbers.subarray(from, from + inputs.columns), numberToType).join(', ');
    byId('add-label').value = '';
    byId('add-form').hidden = false;
    byId('add-label').focus();
}

function submitToken(event) {
    event.preventDefault();
    const numbers = byId('add-numbers').value.split(/[\s,;]+/).filter(Boolean)
        .map((text) => Number(text.replace('−', '-')));
    const edits = past.at;
    tryEdit({ do: 'add', token: byId('add-label').value, numbers }, null);
    byId('add-form').hidden = past.at > edits;
}

/* --- before, after, undo, and what is taken along ---------------------------------------------------------------- */

function setMode(mode) {
    state.mode = mode;
    forgetShown();
    byId(`mode-${mode}`).checked = true;
}

function go(at) {
    finishWaiting();
    goTo(at);
    if (!isEdited()) setMode('after');
    byId('text-field').setAttribute('aria-invalid', 'false');
    keepChoice();
    show();
    rememberInLink();
}

function showPast() {
    byId('undo').disabled = past.at === 0;
    byId('reset').disabled = past.at === 0;
    byId('redo').disabled = past.at === past.edits.length;
    byId('modes').disabled = !isEdited();
}

function tell(text) {
    if (byId('told').textContent !== text) byId('told').textContent = text;
}

const SAVED_AS = 'attention.json';

function saveFile() {
    finishWaiting();
    const blob = new Blob([saveJSON(model)], { type: 'application/json' }), address = URL.createObjectURL(blob);
    const link = element('a', { download: SAVED_AS, href: address });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    tell(`Saved as ${SAVED_AS}: ${saveCommand(model, SAVED_AS)}`);
}

/* Does it, or says why it cannot. */
function orTell(work) {
    return () => {
        try {
            work();
        } catch (refusal) {
            if (!(refusal instanceof Refusal)) throw refusal;
            tell(refusal.message);
        }
    };
}

/* Copies a text; where the browser refuses, the reader copies it from the field. */
async function copyText(text, what) {
    byId('copied').hidden = false;
    byId('copied-text').value = text;
    byId('copied-text').select();
    try {
        await navigator.clipboard.writeText(text);
        tell(`${what} is copied.`);
    } catch {
        tell(`${what}: copy it from the field.`);
        byId('copied-text').focus();
    }
}

function linkNow() {
    finishWaiting();
    const link = isEdited() ? stateToLink(editsNow()) : '';
    if (isEdited() && link === '') refuse('These changes are too many for a link; Save as JSON keeps them.');
    return location.href.replace(/#.*$/, '') + link;
}

/* Keeps the changes in the address, so that they outlive a reload; not those too long for a link. */
let linkTask = 0;
function rememberInLink() {
    clearTimeout(linkTask);
    linkTask = setTimeout(() => {
        try {
            const link = isEdited() ? stateToLink(editsNow()) : '';
            history.replaceState(null, '', link || location.pathname + location.search);
        } catch { /* a frame, or too often: the page works without */ }
    }, 300);
}

/* A link that this page cannot take changes nothing, and the page says so. */
function readLink() {
    if (location.hash.length < 2) return;
    orTell(() => {
        const edits = linkToState(location.hash);
        if (edits.length === 0) refuse('The link is cut, or belongs to another page; none of its changes were made.');
        setEdits(edits);
        tell('');
    })();
}

/* The drawer of settings leaves the page as it is: what a reader sets there is seen behind it. */
function openDrawer(open) {
    if (byId('drawer').hidden !== open) return;
    byId('drawer').hidden = !open;
    byId('drawer-open').setAttribute('aria-expanded', String(open));
    byId(open ? 'drawer-title' : 'drawer-open').focus();
}

function listenToControls() {
    byId('drawer-open').addEventListener('click', () => openDrawer(byId('drawer').hidden));
    byId('drawer-close').addEventListener('click', () => openDrawer(false));
    byId('drawer').addEventListener('keydown', ({ key }) => { if (key === 'Escape') openDrawer(false); });
    byId('undo').addEventListener('click', () => { finishWaiting(); go(past.at - 1); });
    byId('redo').addEventListener('click', () => go(past.at + 1));
    byId('reset').addEventListener('click', () => go(0));
    for (const mode of ['before', 'after', 'difference'])
        byId(`mode-${mode}`).addEventListener('change', () => { setMode(mode); keepChoice(); show(); });
    byId('save').addEventListener('click', orTell(saveFile));
    byId('copy-link').addEventListener('click', orTell(() => copyText(linkNow(), location.protocol === 'file:' ? 'The link to this file on this computer' : 'The link')));
    byId('copy-command').addEventListener('click', () =>
        copyText(saveCommand(model, SAVED_AS), 'The command for the saved file'));
    byId('copied-close').addEventListener('click', () => { byId('copied').hidden = true; });
    byId('add-open').addEventListener('click', openAdd);
    byId('add-form').addEventListener('submit', submitToken);
    byId('add-close').addEventListener('click', () => { byId('add-form').hidden = true; });
    for (const name of ['auto', 'light', 'dark'])
        byId(`theme-${name}`).addEventListener('change', () => {
            document.documentElement.dataset.theme = name;
            repaint();
        });
    addEventListener('hashchange', () => { readLink(); keepChoice(); show(); });
    addEventListener('keydown', onUndoKey);
}

/* Fields of text have an undo of their own. */
function onUndoKey(event) {
    const isField = /^(text|number)$/.test(event.target.type);
    if (!(event.ctrlKey || event.metaKey) || event.altKey || isField) return;
    const key = event.key.toLowerCase();
    finishWaiting();
    if (key === 'z') go(past.at + (event.shiftKey ? 1 : -1));
    else if (key === 'y') go(past.at + 1);
    else return;
    event.preventDefault();
}
