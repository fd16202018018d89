// SPDX-License-Identifier: MIT
/* Stands behind all else in a page under test, in a frame of 1280 x 800: what a reader sees first, what stands level with what,
 * and what is on the first sheet of paper. */
(() => {
    const { name } = document.getElementById('test-expected').dataset, failures = [];
    let passed = 0;
    const check = (what, held) => {
        if (held) passed++;
        else failures.push(what);
    };
    const boxOf = (id) => document.getElementById(id).getBoundingClientRect();
    const isSeen = (id) => boxOf(id).height > 0;

    const made = job.words ? 'prediction' : 'context'; // what the weights make

    const checkFirst = () => {
        check('the window is that of the test', innerWidth === 1280 && innerHeight === 800);
        for (const id of ['tokens-list', 'large', made, 'flow-help', 'card-inputs'])
            check(`${id} is above the fold: it ends at ${boxOf(id).bottom}`, isSeen(id) && boxOf(id).bottom <= innerHeight);
        check(`the large table is not cut: ${layouts.large.canvasWidth}`, layouts.large.canvasWidth <= document.getElementById('large').parentElement.clientWidth);
        check('settings are not on the page', !isSeen('drawer') && !isSeen('settings-list'));
        const instructions = document.querySelectorAll('#flow-help');
        check('one sentence says what to do', instructions.length === 1 && /^Drag any number/.test(instructions[0].textContent));
    };

    const checkFlow = () => {
        for (const [what, names] of [['matrices', ['W_query', 'W_key', 'W_value']], ['what they make', ['query', 'key', 'value']]]) {
            const boxes = names.map((table) => boxOf(document.getElementById(`card-${table}`) ? `card-${table}` : `card-${table}.weight`));
            check(`${what} are level`, boxes.every(({ top, bottom }) => top === boxes[0].top && bottom === boxes[0].bottom));
            check(`${what} stand side by side`, boxes[0].right <= boxes[1].left && boxes[1].right <= boxes[2].left);
        }
        const steps = Array.from(document.getElementById('flow').children), arrows = document.querySelectorAll('#flow .arrow');
        check('each step is below the one before', steps.every((step, i) => i === 0 || step.getBoundingClientRect().top >= steps[i - 1].getBoundingClientRect().bottom - 0.5));
        check('what compares edits waits for one', getComputedStyle(document.getElementById('modes')).visibility === 'hidden');
        check('no arrow wraps', Array.from(arrows, (arrow) => arrow.scrollHeight - arrow.clientHeight).every((more) => more <= 1) && arrows.length > 5);
        check('all queries have labels', ['inputs', 'query', 'scores', 'weights', 'context'].every((table) => flow.cards.get(table) === undefined || flow.cards.get(table).layout.left > 20));
    };

    const checkDrawer = () => {
        const opener = document.getElementById('drawer-open');
        opener.click();
        check('the drawer opens, and has the focus', isSeen('drawer') && document.getElementById('drawer').contains(document.activeElement));
        document.getElementById('not-here').open = true;
        tryEdit({ do: 'setting', name: 'causal', to: !model.settings.causal }, null);
        check('an edit leaves it open', isSeen('drawer') && document.getElementById('not-here').open && opener.getAttribute('aria-expanded') === 'true');
        go(0);
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
        check('Escape closes it', !isSeen('drawer') && document.activeElement === opener);
    };

    /* A sentence is typed: words are suggested, and the next word follows. */
    const checkSentence = () => {
        const field = document.getElementById('text-field'), firstGuess = () => document.querySelector('.guess .token').textContent;
        const type = (text) => {
            field.focus();
            field.value = text;
            field.dispatchEvent(new Event('input', { bubbles: true }));
        };
        check('the sentence is in its field', field.value === tokenNames().join(' ') && isSeen('text-field'));
        type('the dogs ne');
        check('words are suggested', isSeen('text-words') && document.querySelector('#text-words li').textContent === 'near');
        field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
        check('a suggestion is taken', tokenNames().join(' ') === 'the dogs near');
        type('the dogs near the cat');
        const ofDogs = firstGuess();
        check('another sentence is compared with none', ['inputs', 'weights', 'probabilities'].every((table) => {
            const shown = shownTable(table);
            return shown.numbers.every((nothing, at) => !shown.ghosts || !hasGhost(shown, at)) && largestChange(table) === 0;
        }));
        type('the dog near the cat');
        check(`the next word follows: ${ofDogs}, ${firstGuess()}`, firstGuess() === `${ofDogs}s`);
        type('the dog near the qq');
        check('what is no word is marked', field.getAttribute('aria-invalid') === 'true' && tokenNames().length === 5);
        field.blur();
        const lacks = document.getElementById('text-lacks'), isMarked = () => field.getAttribute('aria-invalid') === 'true';
        check('the text stays in the field that is left', field.value === 'the dog near the qq' && isMarked() && !isSeen('text-words'));
        check(`the known words are listed: ${lacks.textContent}`, lacks.textContent.startsWith('This model does not know “qq”. It knows: today now the old') && lacks.textContent.endsWith(' ) ] .'));
        check('they stand at the sentence', boxOf('text-lacks').top >= boxOf('text-field').bottom && boxOf('text-lacks').bottom <= boxOf('tokens-list').top);
        go(0);
        check('Reset brings the sentence back', field.value === 'anna says ( the dogs near the cat' && !isMarked() && lacks.textContent === '');
        chooseAt({ query: tokenNames().length - 1 });
        document.getElementById('add-open').click();
        check('+ offers the words that may follow', document.activeElement === field && field.value.endsWith(' cat ') && document.querySelector('#text-words li').textContent === firstGuess());
        check('and no form for numbers', !isSeen('add-form'));
        type('the dog near the cat');
        field.blur();
        check('the field left says the sentence shown', field.value === 'the dog near the cat' && !isMarked() && !isSeen('text-words'));
        check(`the reason: ${document.getElementById('prediction-why').textContent}`, document.getElementById('prediction-why').textContent
            .startsWith('Without head 1 (subject), which looks at dog with 1.00, the share of barks falls to '));
        check('heads have their names', document.querySelector('label[for="head-3"]').textContent === '4 previous word'
            && document.getElementById('multiple-1').textContent === '2 name');
        const ready = document.querySelectorAll('#about button');
        ready[1].click();
        check(`a ready sentence is a click away: ${firstGuess()}`, ready.length === 3 && field.value === 'tom says [ the birds sing' && firstGuess() === ']');
        check('its bracket needs the head of brackets', document.getElementById('prediction-why').textContent.startsWith('Without head 3 (bracket), which looks at [ with '));
        type('the dog near the cat');
        check('a saved file has them', String(JSON.parse(saveJSON(model)).head_names) === 'subject,name,bracket,previous word');
        check('a word that is nearly one', (type('the dgo'), field.blur(), lacks.textContent.includes('know “dgo”. Did you mean “dog”? It knows')));
        type('the dog near the cat');
        const falls = /falls to ([^ ]*)\. /.exec(document.getElementById('prediction-why').textContent)[1], barks = Number(document.querySelector('.guess').dataset.word);
        const shares = () => Array.from(document.querySelectorAll('.guess-share'), (one) => one.textContent).join(), before = shares();
        document.getElementById('head-in-0').click();
        check('without a head the next word is another', shares() !== before);
        check(`the share falls as the reason says: ${falls}`, numberText(rowOfShares(4)[barks], 2) === falls);
        check('its button shows it', getComputedStyle(document.querySelector('label[for="head-0"]')).borderStyle === 'dashed'
            && document.getElementById('multiple-0').classList.contains('out') && !document.getElementById('multiple-1').classList.contains('out'));
        chooseTable('probabilities');
        const named = [];
        eachWord(shownTable('probabilities'), layouts.large, { row: 4, column: 0 }, (column, word) => named.push(word));
        check(`columns have words, the likely ones first: ${named}`, named.length > 15 && named[1] === firstGuess() && named.every((word) => VOCABULARY.includes(word)));
        document.querySelector('.guess').click();
        check('a guess leads to its logit', state.name === 'logits');
        chooseTable('weights');
        go(0);
    };

    /* A4 and Letter without margins of a centimetre, at 96 pixels an inch. */
    const checkPaper = () => {
        dispatchEvent(new Event('beforeprint'));
        for (const id of ['sentence-panel', 'large', made, job.words ? 'context' : 'flow-panel'])
            check(`${id} is on the first sheet: it ends at ${boxOf(id).bottom}`, isSeen(id) && boxOf(id).bottom <= 979 && boxOf(id).width <= 715);
        check('no controls are printed', Array.from(document.querySelectorAll('button, input, select')).every((one) => one.closest('.card, .token-chip, .guess, #heads-list') || one.getClientRects().length === 0
            || getComputedStyle(one).opacity === '0'));
        dispatchEvent(new Event('afterprint'));
        check('the page is back', !document.documentElement.classList.contains('printing') && boxOf('large').bottom <= innerHeight);
    };

    /* One rule for the numbers of a table. */
    const checkNumbers = () => {
        const texts = (numbers) => numbers.map((number) => cellText({ mode: 'after', most: largestMagnitude(numbers) }, number));
        check('what is not 0 does not read as 0.00', String(texts([0.5, 0.004, 5.94e-5, -1e-9, 0])) === '0.50,≈0,≈0,≈0,0.00');
        check('a table of small numbers says something', String(texts([0.004, -0.0012, 0])) === '4.0e-3,−1.2e-3,0');
        check('of small numbers all have exponents', texts([5.94e-5, -2e-7]).every((text) => text.includes('e-')));
        const [, ...shades] = [0, 0.25, 0.5, 1].map((number) => [false, true].map((signs) => colourText(cellColour(number, false, colourScale([number, 1, -1], signs, 1)))));
        check('a share has the colour of the same positive number', shades.every(([share, number]) => share.match(/\d+/g).every((part, i) => Math.abs(part - number.match(/\d+/g)[i]) <= 2)));
        check('negative numbers have another hue', colourText(cellColour(-1, false, colourScale([1], true, 1))) === colourText(parseColour(colours().stops[0])));
    };

    /* Of ink on the colours of cells, and of faint texts on theirs: 4.5 at least, as WCAG asks for. */
    const checkContrast = () => {
        const light = (colour) => Array.from(colour, (part) => (part <= 10 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
        const contrast = (...two) => two.map(light).sort((a, b) => b - a).reduce((most, least) => (most + 0.05) / (least + 0.05));
        for (const ground of ['light', 'dark']) {
            const { faint, accent, changed, ink, paper, masked } = MAPS[ground], tables = [true, false].map((signs) => colourTable(ground, signs));
            const cells = tables.flatMap((table) => Array.from({ length: 256 }, (nothing, i) => Array.from(table.subarray(i * 3, i * 3 + 3))));
            const least = Math.min(...cells.map((cell) => contrast(cell, parseColour(inkOn(cell)))));
            check(`ink can be read on each colour of a ${ground} table: ${least}`, least >= 4.5);
            for (const text of [faint, accent, changed, ink]) check(`${text} on ${ground}`, contrast(...[text, paper].map(parseColour)) >= 4.5);
            check(`a masked number on ${ground}`, contrast(...[faint, masked].map(parseColour)) >= 4.5);
        }
    };

    checkFirst();
    checkContrast();
    checkFlow();
    checkDrawer();
    checkNumbers();
    if (job.words) checkSentence();
    checkPaper();
    for (const complaint of window.complaints) check(complaint, false);
    for (const failure of failures.slice(0, 10)) parent.postMessage(`FAILED: ${name}: ${failure}`, '*');
    parent.postMessage(`${name}: ${passed} passed, ${failures.length} failed`, '*');
})();
