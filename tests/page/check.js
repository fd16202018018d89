/* Stands behind all else in a page under test: clicks through it, compares what it shows with what attn prints as JSON
 * for the same job (in the element test-expected), and tells the page around it. */
(() => {
    const expected = JSON.parse(document.getElementById('test-expected').textContent);
    const at = (id) => document.getElementById(id);
    let passed = 0;
    const failures = [];

    const check = (what, held) => {
        if (held) passed++;
        else failures.push(what);
    };

    /* --- numbers ------------------------------------------------------------------------------------------------- */

    const readNumber = (text) => Number(text.replace(/−/g, '-').replace('∞', 'Infinity'));

    /* JSON has the shortest decimal that reads back to the number in its dtype. */
    const toBrain = (number) => {
        const bits = new DataView(new ArrayBuffer(4));
        bits.setFloat32(0, number);
        const there = bits.getUint32(0);
        bits.setUint32(0, there + 0x7fff + ((there >>> 16) & 1) & 0xffff0000);
        return bits.getFloat32(0);
    };
    const readers = { f32: Math.fround, f64: Number, f16: Math.f16round, bf16: toBrain };
    const reader = readers[expected.settings.dtype];
    const expectedNumber = (number) => (number === null ? -Infinity : typeof number === 'string' ? Number(number) : reader(number));

    /* The shown text is the number rounded to the digits that it has. */
    const agrees = (text, number) => {
        const shown = readNumber(text), exact = expectedNumber(number);
        if (!Number.isFinite(exact)) return Object.is(shown, exact);
        const [digits, exponent] = text.split('e'), point = digits.indexOf('.');
        const unit = 10 ** (Number((exponent || '0').replace('−', '-')) - (point < 0 ? 0 : digits.length - point - 1));
        return Math.abs(shown - exact) <= unit / 2 * (1 + 1e-9);
    };

    /* A stage in JSON has axes for items and heads only where the job has them. */
    const has = { batch: !at('items').hidden, heads: !at('heads').hidden };
    const stageMatrix = (stage, item, head) =>
        [has.batch && item, has.heads && head].filter((axis) => axis !== false).reduce((rows, i) => rows[i], expected[stage]);

    /* --- acting as a reader ---------------------------------------------------------------------------------------- */

    const press = (key, options = {}) =>
        at('heatmap').dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...options }));
    const toFirst = () => press('Home', { ctrlKey: true });
    const texts = (selector) => Array.from(document.querySelectorAll(selector), (one) => one.textContent);
    const stages = Array.from(document.querySelectorAll('#stages input'), (input) => input.id.replace('stage-', ''));
    const headInputs = Array.from(document.querySelectorAll('#heads input'));
    const items = at('item-list') ? at('item-list').options.length : 1;

    const chooseOption = (list, index) => {
        at(list).value = String(index);
        at(list).dispatchEvent(new Event('change'));
    };

    /* --- what is checked ------------------------------------------------------------------------------------------- */

    const picture = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const pixelsOf = (canvas) => {
        picture.canvas.width = canvas.width;
        picture.canvas.height = canvas.height;
        picture.drawImage(canvas, 0, 0);
        return new Uint32Array(picture.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    };
    const colourCount = (canvas) => new Set(pixelsOf(canvas)).size;

    const checkCell = (place, item, head, row, key) => {
        for (const output of document.querySelectorAll('#arithmetic output[data-stage]')) {
            const stage = output.dataset.stage, number = stageMatrix(stage, item, head)[row][key];
            check(`${place}: ${stage} is ${output.textContent}, attn has ${number}`, agrees(output.textContent, number));
        }
    };

    const checkContext = (place, item, head, row) => {
        const numbers = stageMatrix('context', item, head)[row];
        const shown = texts('#context-total td').join(' ').match(/[−\d.e∞NaN+-]+/g) || [];
        const ends = numbers.length <= 8 ? numbers : [...numbers.slice(0, 2), ...numbers.slice(-2)];
        check(`${place}: the context is ${shown}, attn has ${ends}`,
            shown.length === ends.length && shown.every((text, i) => agrees(text, ends[i])));
    };

    const shownToken = (token) => {
        const named = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };
        const hidden = /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
        return token.replace(hidden, (one) => named[one]
            || (one < '\u0100' ? '\\x' + one.charCodeAt(0).toString(16).padStart(2, '0') : '\\u' + one.charCodeAt(0).toString(16)));
    };

    const checkTokens = (place, item, key) => {
        if (!expected.tokens) return;
        const list = Array.isArray(expected.tokens[0]) ? expected.tokens[item] : expected.tokens;
        const wanted = shownToken(list[key]), ends = document.querySelectorAll('.pair .end');
        const token = ends[1].querySelector('.token'), shown = token ? token.textContent : '';
        const clipped = shown.endsWith('...') && wanted.startsWith(shown.slice(0, -3));
        check(`${place}: the key is called '${shown}', not '${wanted}'`, shown === wanted || clipped);
    };

    /* All cells of a small job; of a long one every tenth row. */
    const walk = (item, head) => {
        const weights = stageMatrix('weights', item, head), step = weights.length > 16 ? 10 : 1;
        toFirst();
        for (let row = 0; row < weights.length; row += step) {
            const place = `item ${item + 1}, head ${head + 1}, query ${row + 1}`;
            for (let key = 0; key < weights[row].length; key++) {
                checkCell(`${place}, key ${key + 1}`, item, head, row, key);
                checkTokens(`${place}, key ${key + 1}`, item, key);
                press('ArrowRight');
            }
            if (expected.context) checkContext(place, item, head, row);
            press('Home');
            press(step === 1 ? 'ArrowDown' : 'PageDown');
        }
    };

    const checkStages = () => {
        for (const stage of stages) {
            at(`stage-${stage}`).click();
            check(`${stage} is chosen`, at('formula').textContent.startsWith(`${stage} = `));
            check(`the heatmap of ${stage} has colours`, colourCount(at('heatmap')) > 3);
            check(`${stage} is spoken`, at('spoken').textContent.includes(`: ${stage} `));
        }
        press('s');
        check('S goes from the last stage to the first', at(`stage-${stages[0]}`).checked);
        press('S', { shiftKey: true });
        check('and with Shift back', at(`stage-${stages[stages.length - 1]}`).checked);
    };

    const checkPointer = () => {
        const canvas = at('heatmap'), box = canvas.getBoundingClientRect();
        toFirst();
        const before = texts('.pair').join(), send = (name, x, y) => canvas.dispatchEvent(
            new PointerEvent(name, { clientX: box.left + x, clientY: box.top + y, bubbles: true, pointerType: 'mouse' }));
        send('pointermove', box.width * 0.7, box.height - 14);
        const pointed = texts('.pair').join();
        check('pointing at a cell shows it', pointed !== before);
        send('pointerleave', 0, 0);
        check('and the chosen one is back when the pointer leaves', texts('.pair').join() === before);
        canvas.dispatchEvent(new MouseEvent('click', { clientX: box.left + box.width * 0.7, clientY: box.top + box.height - 14 }));
        check('a click stays', texts('.pair').join() === pointed);
    };

    const checkLinks = () => {
        const canvas = at('links'), box = canvas.getBoundingClientRect();
        check('links are drawn', colourCount(canvas) > 8);
        canvas.dispatchEvent(new MouseEvent('click', { clientX: box.left + 4, clientY: box.top + 12 }));
        const clicked = texts('.pair .what')[0];
        toFirst();
        check('a click on the first query follows it', clicked === texts('.pair .what')[0]);
        if (!at('all-heads').parentElement.hidden) {
            const before = pixelsOf(canvas);
            at('all-heads').click();
            check('the lines of all heads are drawn', pixelsOf(canvas).some((pixel, i) => pixel !== before[i]));
            at('all-heads').click();
        }
    };

    const checkHeads = () => {
        if (headInputs.length < 2) return;
        press('h');
        check('H goes to the next head', headInputs[1].checked);
        press('H', { shiftKey: true });
        check('and with Shift back', headInputs[0].checked);
    };

    const checkForm = () => {
        for (const canvas of document.querySelectorAll('main .canvas canvas')) {
            check(`${canvas.id} is reached with Tab`, canvas.tabIndex === 0);
            check(`${canvas.id} has a label`, Boolean(canvas.getAttribute('aria-label')));
        }
        check('every control has a label', Array.from(document.querySelectorAll('input, select'))
            .every((control) => control.labels.length > 0 || control.getAttribute('aria-label')));
        check('nothing is wider than the page', document.documentElement.scrollWidth <= innerWidth);
        check('the tokens were not run', document.hacked === undefined);
        const scripts = Array.from(document.scripts, (script) => script.id || script.type || 'code').join();
        check(`the scripts are those of the page: ${scripts}`,
            /^test-watch,(data-\w+,)+code,test-expected,test-check$/.test(scripts));
        const remote = document.querySelectorAll('[src], [href], iframe, object, embed');
        check('nothing comes from elsewhere', remote.length === 0);
    };

    const checkDecimals = () => {
        const cases = [[0.03125, 4, '0.0312'], [0.09375, 4, '0.0938'], [0.5, 0, '0'], [1.5, 0, '2'], [2.5, 0, '2'],
            [0.125, 2, '0.12'], [0.375, 2, '0.38'], [1 / 3, 4, '0.3333'], [1.005, 2, '1.00'], [0.00005, 4, '0.0001']];
        for (const [number, decimals, text] of cases)
            check(`${number} with ${decimals} decimals is ${fixedDecimals(number, decimals)}`, fixedDecimals(number, decimals) === text);
    };

    checkForm();
    checkDecimals();
    checkStages();
    if (stages.includes('weights')) at('stage-weights').click();
    checkHeads();
    for (let item = 0; item < items; item++) {
        if (items > 1) chooseOption('item-list', item);
        for (let head = 0; head < Math.max(headInputs.length, 1); head++) {
            if (headInputs.length > 0) headInputs[head].click();
            walk(item, head);
        }
    }
    if (at('head-list')) { // too many heads for buttons
        chooseOption('head-list', 1);
        walk(0, 1);
        press('h');
        check('H goes on in the list', at('head-list').value === '2');
    }
    if (items > 1) chooseOption('item-list', 0);
    if (headInputs.length > 0) headInputs[0].click();
    checkPointer();
    checkLinks();
    for (const complaint of window.complaints) check(complaint, false);
    const name = document.getElementById('test-expected').dataset.name;
    for (const failure of failures.slice(0, 10)) parent.postMessage(`FAILED: ${name}: ${failure}`, '*');
    parent.postMessage(`${name}: ${passed} passed, ${failures.length} failed`, '*');
})();
