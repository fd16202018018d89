// SPDX-License-Identifier: MIT
/* Stands behind all else in a page under test, formulas.js before it: clicks through it, compares what it shows with what
 * attn prints as JSON for the same job (in the element test-expected), and tells the page around it. */
(() => {
    const expected = JSON.parse(document.getElementById('test-expected').textContent);
    const at = (id) => document.getElementById(id);
    let passed = 0;
    const failures = [];

    const check = (what, held) => {
        if (held) passed++;
        else failures.push(what);
    };

    const { expectedNumber, readNumber, rounding, agrees, slackOf, judge, shows } =
        readPage(expected.settings.dtype, job.precision, job.softmax_dtype);

    /* --- what attn prints ------------------------------------------------------------------------------------------- */

    /* A stage in JSON has axes for items and heads only where the job has them. */
    const stageMatrix = (stage, item, head) =>
        [job.has_batch && item, job.has_heads && head].filter((axis) => axis !== false).reduce((rows, i) => rows[i], expected[stage]);

    /* A table of the page, as rows of numbers; heads of query share those of key and value, and are joined in the output. */
    const tableOf = (name, item, head) => {
        if (name === 'output') return job.has_batch ? expected.output[item] : expected.output;
        const shared = ['key', 'value'].includes(name) ? Math.floor(head * job.key_heads / job.heads) : head;
        return stageMatrix(name, item, shared);
    };

    const listed = tableNames().filter((name) => stageOf(name) && expected[name] !== undefined);
    const squares = listed.filter(isSquare);

    /* --- acting as a reader ---------------------------------------------------------------------------------------- */

    const press = (key, options = {}, id = 'large') =>
        at(id).dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...options }));
    const toFirst = () => press('Home', { ctrlKey: true });
    const texts = (selector) => Array.from(document.querySelectorAll(selector), (one) => one.textContent);
    const chooseByName = (name) => at(`card-${name}`).querySelector('button').click();

    const chooseOption = (list, index) => {
        at(list).value = String(index);
        at(list).dispatchEvent(new Event('change'));
    };

    /* A cell of the chosen table: its bar and its arithmetic, without the pictures. */
    const lookAt = (row, column) => {
        choosePlace(state.name, row, column);
        showCellBar();
        showArithmetic();
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

    const checkCell = (place, name, item, head, row, column) => {
        const number = tableOf(name, item, head)[row][column], text = at('cell-edit').hidden ? at('cell-value').textContent
            : numberText(Number(at('cell-number').value));
        check(`${place}: ${name} is ${text}, attn has ${number}`, agrees(text, number));
        for (const output of document.querySelectorAll('#arithmetic output[data-stage]')) {
            const { stage } = output.dataset;
            if (!squares.includes(stage) || !squares.includes(name)) continue;
            const made = tableOf(stage, item, head)[row][column];
            check(`${place}: ${stage} is ${output.textContent}, attn has ${made}`, agrees(output.textContent, made));
        }
        const ofColumn = texts(`#arithmetic output[data-operand="${name}"][data-column="${column}"]`);
        const results = ofColumn.length > 0 ? ofColumn : texts('#arithmetic output.result').slice(-1);
        check(`${place}: the arithmetic of ${name} comes to ${results}, not ${number}`,
            results.length > 0 && results.every((result) => agrees(result, number)));
    };

    const checkFormulas = (place) => {
        for (const [text, held] of judge(texts('#arithmetic .formula'))) check(`${place}: ${text}`, held);
    };

    /* The keys that a row of the context's table stands for, in order. */
    const sharesOf = (weights, masked) => {
        const seen = Array.from(weights.keys()).filter((key) => !masked[key]);
        const keys = seen.length > 0 ? seen : Array.from(weights.keys());
        if (keys.length <= 6) return keys.map((key) => [key]);
        const most = keys.slice().sort((a, b) => weights[b] - weights[a] || a - b).slice(0, 4).sort((a, b) => a - b);
        return [...most.map((key) => [key]), keys.filter((key) => !most.includes(key))];
    };

    const valueOf = (item, head, key) => {
        if (expected.value) return tableOf('value', item, head)[key].map(expectedNumber);
        const { columns, numbers } = after.table('value', item, head);
        return Array.from(numbers.subarray(key * columns, (key + 1) * columns));
    };

    /* Each row of the table: the weight, and the weight times the value; together they are the context. */
    const checkShares = (place, item, head, row) => {
        if (!expected.dropped && job.dropout > 0) return;
        const weights = tableOf(expected.dropped ? 'dropped' : 'weights', item, head)[row].map(expectedNumber);
        const masked = after.table('weights', item, head).masked.subarray(row * job.keys, (row + 1) * job.keys);
        const rows = document.querySelectorAll('#context tbody tr'), wanted = sharesOf(weights, masked);
        if (isWrong('context')) { // made by a mistake: no shares add up to it
            check(`${place}: ${rows.length} shares of a mistake`, rows.length === 0);
            return;
        }
        const numbersOf = (line) => Array.from(line.querySelectorAll('td:not(.weight)'), (cell) => cell.textContent)
            .join(', ').replace(/[()]/g, '').split(', ');
        const total = numbersOf(at('context-total')), sums = total.map(() => 0), sizes = total.map(() => 0);
        check(`${place}: ${rows.length} shares, not ${wanted.length}`, rows.length === wanted.length);
        wanted.forEach((keys, i) => {
            const shown = numbersOf(rows[i]), weight = keys.reduce((sum, key) => sum + weights[key], 0);
            const share = Array.from({ length: job.d_value }, (nothing, column) =>
                keys.reduce((sum, key) => sum + weights[key] * valueOf(item, head, key)[column], 0));
            const ends = shown.includes('…') ? [...share.slice(0, 2), NaN, ...share.slice(-2)] : share;
            const heavy = rows[i].querySelector('.weight').textContent;
            check(`${place}: the weight of keys ${keys} is ${heavy}, not ${weight}`, shows(heavy, weight));
            check(`${place}: the share of keys ${keys} is ${shown}, not ${ends}`, shown.length === ends.length
                && shown.every((text, column) => text === '…' || shows(text, ends[column])));
            shown.forEach((text, column) => {
                sums[column] += readNumber(text);
                sizes[column] += slackOf(text.replace('−', '')) + rounding * Math.abs(readNumber(text));
            });
        });
        check(`${place}: the shares come to ${sums}, the context is ${total}`, total.every((text, i) =>
            text === '…' || !Number.isFinite(sums[i])
            || Math.abs(sums[i] - readNumber(text)) <= (sizes[i] + slackOf(text.replace('−', ''))) * 1.001));
    };

    /* Near a corner, where neither a number nor a frame is, a cell has the colour of its number. */
    const checkColours = (place, name, item, head) => {
        const numbers = tableOf(name, item, head).map((row) => row.map(expectedNumber)), { masked } = after.table(name, item, head);
        const layout = layouts.large, canvas = at('large'), columns = numbers[0].length;
        const ratio = canvas.width / canvas.clientWidth, pixels = new Uint8Array(pixelsOf(canvas).buffer);
        const inside = (size) => Math.min(size / 2, 4.5), step = numbers.length > 16 ? 3 : 1, signs = !['weights', 'dropped'].includes(name);
        const whole = colourScale(numbers.flat(), signs), byRow = state.byRow && isSquare(name);
        for (let row = 0; row < numbers.length; row += step)
            for (let column = 0; column < columns; column += step) {
                const x = layout.left + column * layout.cell + inside(layout.cell);
                const y = layout.top + row * layout.cellHeight + inside(layout.cellHeight);
                const first = (Math.floor(y * ratio) * canvas.width + Math.floor(x * ratio)) * 4;
                const hidden = masked !== null && masked[row * columns + column] === 1, seen = pixels.subarray(first, first + 3);
                const wanted = Array.from(cellColour(numbers[row][column], hidden, byRow ? colourScale(numbers[row], signs) : whole));
                const other = hidden ? parseColour(colours().hatch) : wanted;
                check(`${place}: ${name}, row ${row + 1}, column ${column + 1} is ${seen}, not ${wanted}`,
                    wanted.every((part, i) =>
                        seen[i] >= Math.min(part, other[i]) - 4 && seen[i] <= Math.max(part, other[i]) + 4));
            }
    };

    const checkContext = (place, item, head, row) => {
        const numbers = tableOf('context', item, head)[row];
        const shown = texts('#context-total td').join(' ').match(/[−\d.e∞NaN+-]+/g) || [];
        const ends = numbers.length <= 4 ? numbers : [...numbers.slice(0, 2), ...numbers.slice(-2)];
        check(`${place}: the context is ${shown}, attn has ${ends}`,
            shown.length === ends.length && shown.every((text, i) => agrees(text, ends[i])));
    };

    const shownToken = (token) => {
        const named = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };
        const hidden = /[\u0000-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
        const blanks = /^ | (?= )|(?<= ) | $/g;
        return token.replace(blanks, '\u2423').replace(hidden, (one) => named[one]
            || (one < '\u0100' ? '\\x' + one.charCodeAt(0).toString(16).padStart(2, '0') : '\\u' + one.charCodeAt(0).toString(16)));
    };

    /* What the bar beneath the table calls the row (end 0) and the column (end 1). */
    const checkToken = (place, end, tokens, item, index) => {
        if (!tokens) return;
        const list = Array.isArray(tokens[0]) ? tokens[item] : tokens;
        const wanted = shownToken(list[index]) || String(index + 1), shown = texts('#cell-name .token')[end];
        const clipped = shown.endsWith('...') && wanted.startsWith(shown.slice(0, -3));
        check(`${place}: the ${end ? 'key' : 'query'} is called '${shown}', not '${wanted}'`, shown === wanted || clipped);
    };

    /* All cells of the first head of a small job, with the keys; of each other head a third, not the same third, set at
     * once; of a long job every tenth row. */
    const walkCells = (item, head) => {
        const weights = tableOf('weights', item, head), step = weights.length > 16 ? 10 : 1;
        const first = item === 0 && head === 0, stride = first ? 1 : 3;
        toFirst();
        for (let row = 0; row < weights.length; row += step) {
            const place = `item ${item + 1}, head ${head + 1}, query ${row + 1}`;
            for (let key = (item + head + row) % Math.min(stride, job.keys); key < job.keys; key += stride) {
                lookAt(row, key);
                checkCell(`${place}, key ${key + 1}`, 'weights', item, head, row, key);
                checkFormulas(`${place}, key ${key + 1}`);
                checkToken(`${place}, key ${key + 1}`, 1, expected.key_tokens || expected.tokens, item, key);
                if (expected.key_tokens) checkToken(place, 0, expected.tokens, item, row);
            }
            if (expected.context) {
                showContext();
                checkContext(place, item, head, row);
                checkShares(place, item, head, row);
            }
        }
    };

    /* Every table is there, is chosen by its card, has its colours, and each fifth cell of it explains itself. */
    const checkTables = () => {
        for (const { button } of flow.cards.values()) check(`the name ${button.textContent} is not cut`, button.scrollWidth <= button.closest('.card-head').clientWidth);
        check(`there is a card for each of ${tableNames()}`, tableNames().every((name) => at(`card-${name}`)));
        for (const name of listed) {
            chooseByName(name);
            const rows = tableOf(name, 0, 0), columns = rows[0].length;
            check(`${name} is chosen`, at('large-title').textContent.toLowerCase() === nameText(name).toLowerCase());
            check(`${name} has its formula`, at('formula').textContent.startsWith(`${nameText(name)} = `));
            check(`a row of ${name} is explained`, at('row-sentence').textContent !== '');
            check(`the picture of ${name} has colours`, rows.length * columns < 6 || colourCount(at('large')) > 3);
            check(`the small picture of ${name} has colours`, rows.length * columns < 6 || colourCount(at(`card-${name}`).querySelector('canvas')) > 3);
            checkColours('the first head', name, 0, 0);
            check(`${name} is spoken`, at('spoken').textContent.includes(`${nameText(name)}, row `));
            if (isWrong(name)) continue;
            for (let cell = 0; cell < Math.min(rows.length * columns, 100); cell += 5) {
                lookAt(Math.floor(cell / columns), cell % columns);
                checkCell(`${name}, cell ${cell}`, name, 0, 0, Math.floor(cell / columns), cell % columns);
                checkFormulas(`${name}, cell ${cell}`);
            }
        }
        const names = [...flow.cards.keys()];
        chooseByName(names[names.length - 1]);
        press('s');
        check('S goes from the last table to the first', state.name === names[0]);
        press('S', { shiftKey: true });
        check('and with Shift back', state.name === names[names.length - 1]);
    };

    const checkPointer = () => {
        const canvas = at('large'), box = canvas.getBoundingClientRect(), names = () => texts('#cell-name').join();
        toFirst();
        const layout = layouts.large, right = layout.left + layout.width - 2, low = layout.top + layout.height - 2;
        const before = names(), send = (name, x, y) => canvas.dispatchEvent(
            new PointerEvent(name, { clientX: box.left + x, clientY: box.top + y, bubbles: true, pointerType: 'mouse' }));
        send('pointermove', right, low);
        const pointed = names();
        check('pointing at a cell shows it', pointed !== before);
        send('pointerleave', 0, 0);
        check('and the chosen one is back when the pointer leaves', names() === before);
        canvas.dispatchEvent(new MouseEvent('click', { clientX: box.left + right, clientY: box.top + low }));
        check('a click stays', names() === pointed);
        press('ArrowUp');
        press('ArrowLeft');
        const { row, column } = placeIn(state.name, shownTable(state.name)), shown = shownTable(state.name);
        check('arrows go from cell to cell', row === Math.max(shown.rows - 2, 0) && column === Math.max(shown.columns - 2, 0));
    };

    const checkHeads = () => {
        if (job.heads < 2) return check('no heads are shown where there is one', at('heads').hidden && at('heads-panel').hidden);
        press('h');
        check('H goes to the next head', state.head === 1);
        press('H', { shiftKey: true });
        check('and with Shift back', state.head === 0);
        check('all heads are there at a glance', document.querySelectorAll('#heads-list button').length === Math.min(job.heads, 64));
        at('multiple-1').click();
        check('a click on one chooses it', state.head === 1);
        at('multiple-0').click();
    };

    const checkWalk = () => {
        at('walk-open').click();
        const steps = walk.steps.length;
        check(`the walk has ${steps} steps`, steps >= Math.min(5, listed.length));
        for (let step = 0; step < steps; step++) {
            check(`step ${step + 1} of the walk is told`, !at('walk').hidden && at('walk-text').textContent !== '');
            check(`step ${step + 1} stands out`, document.querySelector('.card.spoken-of') !== null);
            at('walk-next').click();
        }
        check('the walk ends', at('walk').hidden && document.querySelector('.spoken-of') === null);
        at('walk-open').click();
        at('walk-next').dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
        check('Escape ends it, too', at('walk').hidden);
    };

    const checkForm = () => {
        for (const canvas of document.querySelectorAll('#large')) {
            check(`${canvas.id} is reached with Tab`, canvas.tabIndex === 0);
            check(`${canvas.id} has a label`, Boolean(canvas.getAttribute('aria-label')));
        }
        check('one card is reached with Tab', document.querySelectorAll('.card-name[tabindex="0"]').length === 1);
        for (const control of document.querySelectorAll('input, select'))
            check(`${control.id || control.className} has a label`, control.labels.length > 0 || Boolean(control.getAttribute('aria-label'))
                || control.id === 'number-field');
        for (const button of document.querySelectorAll('button'))
            check(`the button ${button.id} has a name`, button.textContent.trim() !== '' || Boolean(button.getAttribute('aria-label')));
        for (const setting of settingsOf(model))
            check(`${setting.name} is there, or why it is not`, at(`setting-${setting.name}`) !== null
                && (setting.possible || at('not-here-list').textContent.includes(setting.because)));
        check(`nothing is wider than the page: ${document.documentElement.scrollWidth}`, document.documentElement.scrollWidth <= innerWidth);
        check('the tokens were not run', document.hacked === undefined);
        const scripts = Array.from(document.scripts, (script) => script.id || script.type || 'code').join();
        check(`the scripts are those of the page: ${scripts}`,
            /^test-watch,(data-[\w.-]+,)+code,test-expected,test-check$/.test(scripts));
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
    checkTables();
    if (squares.includes('weights')) {
        chooseByName('weights');
        checkHeads();
        for (let item = 0; item < job.items; item++) {
            if (job.items > 1) chooseOption('item-list', item);
            for (let head = 0; head < Math.min(job.heads, 16); head += job.heads > 16 ? 15 : 1) {
                chooseHead(head);
                walkCells(item, head);
                checkColours(`item ${item + 1}, head ${head + 1}`, 'weights', item, head);
            }
        }
        if (job.items > 1) chooseOption('item-list', 0);
        chooseHead(0);
        checkPointer();
        }
    checkWalk();
    for (const complaint of window.complaints) check(complaint, false);
    const name = document.getElementById('test-expected').dataset.name;
    for (const failure of failures.slice(0, 10)) parent.postMessage(`FAILED: ${name}: ${failure}`, '*');
    parent.postMessage(`${name}: ${passed} passed, ${failures.length} failed`, '*');
})();
