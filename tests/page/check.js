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

    /* The numbers that a rotation or a scale makes of query and key; those of keys are of the head's group. */
    const checkOperands = (place, item, head, row, key) => {
        for (const output of document.querySelectorAll('#arithmetic output[data-operand]')) {
            const { operand, column } = output.dataset, ofKeys = operand === 'key';
            const shared = ofKeys ? Math.floor(head * job.key_heads / job.heads) : head;
            const number = stageMatrix(operand, item, shared)[ofKeys ? key : row][column];
            check(`${place}: ${operand} ${Number(column) + 1} is ${output.textContent}, attn has ${number}`,
                agrees(output.textContent, number));
        }
        check(`${place}: the ways of query and key are shown`, Object.keys(job.ways).filter((side) => job.ways[side].before)
            .every((side) => document.querySelector(`#arithmetic output[data-operand="${side}"]`)));
    };

    const checkFormulas = (place) => {
        for (const [text, held] of judge(texts('#arithmetic .formula'))) check(`${place}: ${text}`, held);
    };

    /* The keys that a row of the context's table stands for, in order. */
    const sharesOf = (weights, masked) => {
        const seen = Array.from(weights.keys()).filter((key) => !masked[key]);
        const keys = seen.length > 0 ? seen : Array.from(weights.keys());
        if (keys.length <= 12) return keys.map((key) => [key]);
        const most = keys.slice().sort((a, b) => weights[b] - weights[a] || a - b).slice(0, 10).sort((a, b) => a - b);
        return [...most.map((key) => [key]), keys.filter((key) => !most.includes(key))];
    };

    const valueOf = (item, head, key) => {
        if (expected.value && job.key_heads === job.heads) return stageMatrix('value', item, head)[key].map(expectedNumber);
        const shared = item * job.key_heads + Math.floor(head * job.key_heads / job.heads);
        const from = (shared * job.keys + key) * job.d_value;
        return Array.from(job.value.subarray(from, from + job.d_value));
    };

    /* Each row of the table: the weight, and the weight times the value; together they are the context. */
    const checkShares = (place, item, head, row) => {
        if (!expected.dropped && job.kept) return;
        const weights = stageMatrix(expected.dropped ? 'dropped' : 'weights', item, head)[row].map(expectedNumber);
        const masked = matrixOf(item, head, 'weights').masked.subarray(row * job.keys, (row + 1) * job.keys);
        const rows = document.querySelectorAll('#context tbody tr'), listed = sharesOf(weights, masked);
        if (job.isWrong('context')) { // made by a mistake: no shares add up to it
            check(`${place}: ${rows.length} shares of a mistake`, rows.length === 0);
            return;
        }
        const numbersOf = (line) => Array.from(line.querySelectorAll('td:not(.weight)'), (cell) => cell.textContent)
            .join(', ').replace(/[()]/g, '').split(', ');
        const total = numbersOf(at('context-total')), sums = total.map(() => 0), sizes = total.map(() => 0);
        check(`${place}: ${rows.length} shares, not ${listed.length}`, rows.length === listed.length);
        listed.forEach((keys, i) => {
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
    const checkColours = (place, stage, item, head) => {
        const numbers = stageMatrix(stage, item, head).map((row) => row.map(expectedNumber));
        const { masked } = matrixOf(item, head, stage), layout = layouts.heatmap, canvas = at('heatmap');
        const ratio = canvas.width / canvas.clientWidth, pixels = new Uint8Array(pixelsOf(canvas).buffer);
        const inside = (size) => Math.min(size / 2, 4.5), step = numbers.length > 16 ? 3 : 1;
        const whole = colourScale(numbers.flat(), stage);
        for (let row = 0; row < numbers.length; row += step)
            for (let key = 0; key < job.keys; key += step) {
                const x = layout.left + key * layout.cell + inside(layout.cell);
                const y = layout.top + row * layout.cellHeight + inside(layout.cellHeight);
                const first = (Math.floor(y * ratio) * canvas.width + Math.floor(x * ratio)) * 4;
                const hidden = masked[row * job.keys + key] === 1, seen = pixels.subarray(first, first + 3);
                const scale = state.byRow ? colourScale(numbers[row], stage) : whole;
                const wanted = Array.from(cellColour(numbers[row][key], hidden, scale));
                const other = hidden ? parseColour(colours().hatch) : wanted;
                check(`${place}: ${stage} of query ${row + 1}, key ${key + 1} is ${seen}, not ${wanted}`,
                    wanted.every((part, i) =>
                        seen[i] >= Math.min(part, other[i]) - 4 && seen[i] <= Math.max(part, other[i]) + 4));
            }
    };

    /* Where the lines arrive at the keys, level but for a pixel, each is as opaque as its weight is of the row's largest. */
    const checkLines = (place, item, head, row) => {
        const weights = stageMatrix('weights', item, head)[row].map(expectedNumber);
        const most = Math.max(...weights.filter((weight) => weight > 0), 0);
        const canvas = at('links'), layout = layouts.links, ratio = canvas.width / canvas.clientWidth;
        picture.canvas.width = 1;
        picture.canvas.height = canvas.height;
        const across = Math.floor((layout.width - layout.column - 3) * ratio);
        picture.drawImage(canvas, across, 0, 1, canvas.height, 0, 0, 1, canvas.height);
        const strip = picture.getImageData(0, 0, 1, canvas.height).data;
        weights.forEach((weight, key) => {
            const opacity = weight / (most || 1), wanted = opacity > 0.01 ? 255 * opacity : 0;
            const y = Math.floor(linkKeyY(layout, key) * ratio);
            const seen = Math.max(...[y - 1, y, y + 1].map((place) => strip[place * 4 + 3]));
            check(`${place}: the line to key ${key + 1} has opacity ${seen}, not ${wanted}`, Math.abs(seen - wanted) <= 4);
        });
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
        const hidden = /[\u0000-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
        const blanks = /^ | (?= )|(?<= ) | $/g;
        return token.replace(blanks, '\u2423').replace(hidden, (one) => named[one]
            || (one < '\u0100' ? '\\x' + one.charCodeAt(0).toString(16).padStart(2, '0') : '\\u' + one.charCodeAt(0).toString(16)));
    };

    /* The name at one end of the line between a query (end 0) and a key. */
    const checkToken = (place, end, tokens, item, index) => {
        if (!tokens) return;
        const list = Array.isArray(tokens[0]) ? tokens[item] : tokens;
        const wanted = shownToken(list[index]), ends = document.querySelectorAll('.pair .end');
        const token = ends[end].querySelector('.token'), shown = token ? token.textContent : '';
        const clipped = shown.endsWith('...') && wanted.startsWith(shown.slice(0, -3));
        check(`${place}: the ${end ? 'key' : 'query'} is called '${shown}', not '${wanted}'`, shown === wanted || clipped);
    };

    /* All cells of the first head of a small job, with the keys; of each other head a third, not the same third, set at
     * once; of a long job every tenth row. */
    const walk = (item, head) => {
        const weights = stageMatrix('weights', item, head), step = weights.length > 16 ? 10 : 1;
        const first = item === 0 && head === 0, stride = first ? 1 : 3;
        toFirst();
        for (let row = 0; row < weights.length; row += step) {
            const place = `item ${item + 1}, head ${head + 1}, query ${row + 1}`;
            for (let key = (item + head + row) % Math.min(stride, job.keys); key < job.keys; key += stride) {
                if (!first) choose({ row, key });
                checkCell(`${place}, key ${key + 1}`, item, head, row, key);
                checkOperands(`${place}, key ${key + 1}`, item, head, row, key);
                checkFormulas(`${place}, key ${key + 1}`);
                checkToken(`${place}, key ${key + 1}`, 1, expected.key_tokens || expected.tokens, item, key);
                if (expected.key_tokens) checkToken(place, 0, expected.tokens, item, row);
                if (first) press('ArrowRight');
            }
            checkLines(place, item, head, row);
            if (expected.context) {
                checkContext(place, item, head, row);
                checkShares(place, item, head, row);
            }
            if (!first) continue;
            press('Home');
            press(step === 1 ? 'ArrowDown' : 'PageDown');
        }
    };

    const checkStages = () => {
        for (const stage of stages) {
            at(`stage-${stage}`).click();
            check(`${stage} is chosen`, at('formula').textContent.startsWith(`${stage} = `));
            check(`the heatmap of ${stage} has colours`, colourCount(at('heatmap')) > 3);
            checkColours('the first head', stage, 0, 0);
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
    checkStages();
    if (stages.includes('weights')) at('stage-weights').click();
    checkHeads();
    for (let item = 0; item < items; item++) {
        if (items > 1) chooseOption('item-list', item);
        for (let head = 0; head < Math.max(headInputs.length, 1); head++) {
            if (headInputs.length > 0) headInputs[head].click();
            walk(item, head);
            checkColours(`item ${item + 1}, head ${head + 1}`, 'weights', item, head);
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
