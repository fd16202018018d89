// SPDX-License-Identifier: MIT
/* Stands behind all else in a page, in place of check.js: edits as a reader does, by events alone; what follows is seen, is
 * undone and done again; and each state is saved, for saved.js to hold it to what attn makes of the file. */
(async () => {
    const expected = JSON.parse(document.getElementById('test-expected').textContent), { name } = document.getElementById('test-expected').dataset;
    const at = (id) => document.getElementById(id);
    let passed = 0;
    const failures = [];
    const check = (what, held) => {
        if (held) passed++;
        else failures.push(what);
    };

    /* --- as a reader ------------------------------------------------------------------------------------------------ */

    const canvasOf = (table) => at(`card-${table}`).querySelector('canvas');
    const middleOf = (table, row, column) => {
        const { layout } = flow.cards.get(table), box = canvasOf(table).getBoundingClientRect();
        return { clientX: box.left + layout.left + (column + 0.5) * layout.cell, clientY: box.top + layout.top + (row + 0.5) * layout.cellHeight };
    };
    const point = (canvas, type, place) => canvas.dispatchEvent(
        new PointerEvent(type, { ...place, bubbles: true, pointerType: 'mouse', pointerId: 1, button: 0 }));
    const press = (target, key, more = {}) => target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));
    const choose = (table) => at(`card-${table}`).querySelector('button').click();

    const enter = (field, text) => {
        field.focus();
        field.value = text;
        field.dispatchEvent(new Event('input', { bubbles: true }));
        finishWaiting();
    };

    const typeInto = (table, row, column, text) => {
        canvasOf(table).dispatchEvent(new MouseEvent('dblclick', { ...middleOf(table, row, column), bubbles: true }));
        enter(at('number-field'), text);
        press(at('number-field'), 'Enter');
    };

    /* Where each element stands, by its path; of formulas only the line. */
    const boxes = () => {
        const pathOf = (one) => (one === document.body ? '' : `${pathOf(one.parentElement)} ${one.id || one.tagName + Array.prototype.indexOf.call(one.parentElement.children, one)}`);
        const seen = Array.from(document.querySelectorAll('body *:not(#drag-tip, .formula *, .bar, .zero, .weight-bar, .guess-bar)')).filter((one) => one.getClientRects().length > 0);
        return new Map(seen.map((one) => {
            const { left, top, width, height } = one.getBoundingClientRect();
            return [pathOf(one), [left + scrollX, top + scrollY, width, height].map((size) => size.toFixed(1)).join()];
        }));
    };

    const drag = (table, row, column, by, shiftKey = false, changes = true) => {
        const canvas = canvasOf(table), place = middleOf(table, row, column);
        canvas.setPointerCapture = () => {}; /* no real pointer is down */
        const before = boxes(), large = state.name;
        point(canvas, 'pointerdown', place);
        for (let step = 1; step <= 5; step++) {
            canvas.dispatchEvent(new PointerEvent('pointermove', { ...place, clientX: place.clientX + by * step / 5, bubbles: true, pointerType: 'mouse', shiftKey }));
            finishWaiting();
            const now = boxes(), moved = Array.from(before.keys()).filter((path) => now.get(path) !== before.get(path));
            check(`nothing moves while a number is dragged: ${moved.slice(0, 3)} of ${moved.length}`, moved.length === 0 && now.size === before.size);
        }
        check('a drag leaves the large table as it is', state.name === large && at('drag-tip').hidden === !changes);
        point(canvas, 'pointerup', { ...place, clientX: place.clientX + by });
    };

    const setTo = (setting, value) => {
        const inputs = document.querySelectorAll(`#setting-${setting}`), input = inputs[0];
        if (input.type === 'checkbox') {
            if (input.checked !== value) input.click();
        } else if (input.tagName === 'SELECT') {
            input.value = String(value);
            input.dispatchEvent(new Event('change'));
        } else {
            enter(input, String(value));
        }
        finishWaiting();
    };

    /* --- what is saved ---------------------------------------------------------------------------------------------- */

    const savedBlobs = [];
    URL.createObjectURL = (blob) => {
        savedBlobs.push(blob);
        return '#';
    };

    const numbersNow = () => {
        const tables = {};
        for (const stage of after.stages.filter(({ name: of }) => of !== 'heads')) {
            tables[stage.name] = [];
            const heads = stage.perHead ? headsNow() : 1;
            for (let item = 0; item < job.items; item++)
                for (let head = 0; head < heads; head++) {
                    const table = after.table(stage.name, item, head);
                    tables[stage.name].push({ item, head, rows: table.rows, numbers: Array.from(table.numbers, String) });
                }
        }
        return tables;
    };

    const base64 = (text) => btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));

    const save = async (what) => {
        at('save').click();
        check(`${what} is saved: ${at('told').textContent}`, savedBlobs.length === 1);
        if (savedBlobs.length === 0) return;
        const command = /attn .*$/.exec(at('told').textContent)[0];
        const found = { what, command, tables: numbersNow(), text: await savedBlobs.pop().text(), keyHeads: model.keyHeads, heads: headsNow() };
        parent.postMessage(`SAVED ${name} ${base64(JSON.stringify(found))}`, '*');
    };

    /* --- numbers ----------------------------------------------------------------------------------------------------- */

    const lastTable = () => after.stages[after.stages.length - 1].name;
    const textOf = (table) => Array.from(tableIn(after, table, state.head).numbers).join();
    const first = tableNames().find(isEditable), original0 = JSON.stringify(numbersNow());

    const changes = (what, work) => {
        const was = textOf(lastTable()), edits = past.at;
        work();
        check(`${what} changes what follows at once`, textOf(lastTable()) !== was);
        check(`${what} is one edit`, past.at === edits + 1);
    };

    const tryNumbers = async () => {
        const parameter = tableNames().find((table) => isEditable(table) && table !== first);
        changes('typing', () => typeInto(first, 1, 0, '0.75'));
        check('what was typed is there', Math.abs(numberAt(first, { row: 1, column: 0 }) - 0.75) < 1e-6);
        choose(first);
        check('the number of before is told', at('cell-ghost').textContent.startsWith('before '));
        changes('dragging', () => drag(parameter, 0, 1, 30));
        changes('dragging finely', () => drag(parameter, 1, 0, -30, true));
        choose(parameter);
        changes('a key', () => press(at('large'), '+'));
        const edits = past.at;
        press(at('large'), '+');
        check('a second one belongs to it', past.at === edits);
        changes('the field beneath the table', () => { at('cell-number').blur(); enter(at('cell-number'), '-0.5'); });
        typeInto(first, 0, 0, 'nothing');
        check('what is no number is not taken', past.at === edits + 1);
        await save('changed numbers');
    };

    /* A click on a truth value of the chosen table changes it, and a drag does not. */
    const tryMask = () => {
        const mask = model.tables.get('attn_mask'), edits = past.at, place = { row: 0, column: 1 };
        if (!mask || mask.adds) return;
        choose('attn_mask');
        const was = numberAt('attn_mask', place);
        drag('attn_mask', 0, 1, 40, false, false);
        check('a drag does not change a truth value', past.at === edits);
        canvasOf('attn_mask').dispatchEvent(new MouseEvent('click', { ...middleOf('attn_mask', 0, 1), bubbles: true }));
        finishWaiting();
        check('a click does', numberAt('attn_mask', place) === 1 - was && past.at === edits + 1);
    };

    /* A pointer that goes down to another row, and is released there, chooses nothing. */
    const tryStray = () => {
        const canvas = canvasOf(first), [from, to] = [0, 1].map((row) => middleOf(first, row, 0)), was = JSON.stringify([state.name, state.at]), edits = past.at;
        canvas.setPointerCapture = () => {};
        point(canvas, 'pointerdown', from);
        for (const type of ['pointermove', 'pointerup', 'click']) point(canvas, type, to);
        check('a drag up or down chooses nothing', JSON.stringify([state.name, state.at]) === was && past.at === edits);
        for (const type of ['pointerdown', 'pointerup', 'click']) point(canvas, type, to);
        check('a click does', state.name === first && state.at.query === 1);
    };

    const tryModes = () => {
        choose(lastTable());
        const now = shownTable(lastTable()).numbers.slice();
        at('mode-before').click();
        const was = shownTable(lastTable()).numbers.slice();
        check('before shows what attn wrote', Object.is(was.join(), tableIn(before, lastTable(), state.head).numbers.join()));
        at('mode-difference').click();
        const difference = shownTable(lastTable()).numbers;
        check('the difference is that of after and before', difference.every((number, i) => Object.is(number, now[i] - was[i]) || now[i] === was[i]));
        check('it has two sides', shownTable(lastTable()).scale.signed);
        at('mode-after').click();
    };

    const tryTokens = async () => {
        const crosses = () => document.querySelectorAll('#tokens-list .cross');
        const tokens = crosses().length;
        if (tokensStay() !== null) return check(`tokens stay: ${at('tokens-because').textContent}`, at('tokens-because').textContent !== '');
        crosses()[1].click();
        check('a token is taken out', crosses().length === tokens - 1 && tokenOrigins[1] === 2);
        if (model.tables.has('inputs')) {
            at('add-open').click();
            at('add-label').value = '<b>new</b>';
            at('add-form').requestSubmit();
            check('a token is added', crosses().length === tokens && tokenOrigins[tokens - 1] === -1);
            check('its label is text', document.querySelector('#tokens-list b') === null);
        }
        check('a token that was there before is matched', shownTable(first).ghosts !== null);
        await save('other tokens');
    };

    /* A slider that is held stays while what follows from it, choices among it, changes. */
    const trySlider = () => {
        const slider = at('setting-left').parentElement.querySelector('input[type="range"]'), edits = past.at;
        slider.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
        for (const value of [1, 2, 3, -1]) enter(slider, String(value));
        check('a slider stays where it is held', slider.isConnected && at('setting-left').parentElement.contains(slider));
        check('what it did is one edit', past.at === edits + 1);
        check('no bound is an empty field', at('setting-left').value === '' && at('setting-left').placeholder === 'all');
        at('undo').click();
    };

    const OTHER = { scale: 0.4, temperature: 2, softcap: 1.5, left: 2, right: 1, dropout: 0.25 };
    const trySettings = async () => {
        for (const setting of settingsOf(model).filter(({ possible }) => possible)) {
            const { value, kind, choices } = settingsOf(model).find((one) => one.name === setting.name) || setting, edits = past.at;
            const list = (choices || []).map((choice) => (Array.isArray(choice) ? choice[0] : choice));
            const to = kind === 'switch' ? !value : kind === 'choice' ? list.find((one) => String(one) !== String(value)) : OTHER[setting.name];
            if (to === undefined || !at(`setting-${setting.name}`) || at(`setting-${setting.name}`).disabled) continue;
            setTo(setting.name, to);
            check(`${setting.name} is changed: ${at('told').textContent}`, past.at === edits + 1 && at('told').textContent === '');
            if (at('told').textContent === '') await save(`with ${setting.name} ${to}`);
            if (setting.name === 'mistake') at('undo').click(); /* the next settings are done right */
        }
    };

    /* Two controls within a frame, a link that is not whole or too long, a key on a switch, a field that is left. */
    const tryLosses = () => {
        const edits = past.at;
        const slider = (name) => at(`setting-${name}`);
        for (const [name, to] of [['temperature', '3'], ['softcap', '4']]) {
            slider(name).gesture = `test ${name}`;
            slider(name).value = to;
            slider(name).dispatchEvent(new Event('input'));
        }
        finishWaiting();
        check('both of two settings are made', model.settings.temperature === 3 && model.settings.softcap === 4);
        slider('temperature').value = '';
        slider('temperature').dispatchEvent(new Event('input'));
        slider('temperature').dispatchEvent(new Event('blur'));
        check('a field that is left shows its setting', slider('temperature').value === '3');
        const [whole, told] = [stateToLink(editsNow()), past.at];
        history.replaceState(null, '', whole.slice(0, -9));
        readLink();
        check('a link that is cut is told', at('told').textContent.startsWith('The link is cut'));
        check('and takes nothing away', past.at === told);
        for (let i = 0; i < 400; i++) addEdit({ do: 'setting', name: 'temperature', to: 1 + i / 400 });
        show();
        at('copy-link').click();
        check('a link that would be too long is told', at('told').textContent.startsWith('These changes are too many'));
        go(edits + 1);
        press(byId('setting-mistake') || document.body, 'z', { ctrlKey: true });
        check('Ctrl Z undoes on a list', past.at === edits);
        history.replaceState(null, '', '#');
        tell('');
    };

    const tryPast = () => {
        const edits = past.at, now = JSON.stringify(numbersNow()), link = stateToLink(editsNow());
        at('undo').click();
        at('undo').click();
        check('undo goes back', past.at === edits - 2);
        at('redo').click();
        press(document.body, 'y', { ctrlKey: true });
        check('redo goes on', past.at === edits && JSON.stringify(numbersNow()) === now);
        at('reset').click();
        check('reset gives the numbers that attn wrote', JSON.stringify(numbersNow()) === original0);
        setEdits(linkToState(link));
        keepChoice();
        show();
        check('the link brings everything back', JSON.stringify(numbersNow()) === now);
    };

    await tryNumbers();
    tryMask();
    tryStray();
    tryModes();
    await tryTokens();
    trySlider();
    await trySettings();
    tryLosses();
    tryPast();
    check('the tokens were not run', document.hacked === undefined);
    check(`nothing is wider than the page: ${document.documentElement.scrollWidth}`, document.documentElement.scrollWidth <= innerWidth);
    for (const complaint of window.complaints) check(complaint, false);
    check('the page is of that job', expected.settings !== undefined);
    for (const failure of failures.slice(0, 10)) parent.postMessage(`FAILED: ${name}: ${failure}`, '*');
    parent.postMessage(`${name}: ${passed} passed, ${failures.length} failed`, '*');
})();
