/* The arithmetic panel. */

function vectorText(numbers, ends = SHOWN_ENDS) {
    const shown = shownFew(numbers.length, MOST_LISTED, ends).map((i) => (i === null ? '…' : numberText(numbers[i])));
    return `(${shown.join(', ')})`;
}

function shareStep(line, key) {
    const from = (keysAt(line.item, line.head) + key) * job.d_value;
    const value = Array.from(job.value.subarray(from, from + job.d_value)), weight = line.dropped[key];
    const exact = value.every((number) => relation(shownNumber(weight) * shownNumber(number), weight * number) === '=');
    return step('context', 'Share of the context', '',
        formulaLine(`${numberText(line.dropped[key])} × ${vectorText(value)}`),
        formulaLine(exact ? '= ' : '≈ ', element('output', { class: 'result' }, vectorText(value.map((number) => number * line.dropped[key])))));
}

/* The steps as a list, of those stages that the page has. */
function showArithmetic(place, cell) {
    const line = lineOf(place.item, place.head, cell.row), last = job.kept && job.has('dropped') ? 'dropped' : 'weights';
    const steps = squareSteps(originalEvaluation, last, place.item, place.head, cell.row, cell.key);
    const context = job.has('context') ? [job.isWrong('context') ? wrongStep('context', 'Share of the context', job.formulas.context) : shareStep(line, cell.key)] : [];
    byId('arithmetic').replaceChildren(headingOf(original, 'scores', place.item, cell.row, cell.key), element('ol', {},
        ...steps.filter((one) => job.has(one.dataset.step) || one.dataset.step === 'query' || one.dataset.step === 'key'), ...context));
}

/* The same in a sentence, for those who listen. */
function spokenCell(place, cell) {
    const line = lineOf(place.item, place.head, cell.row), number = numberText(line[place.stage][cell.key]);
    const head = job.has_heads ? `head ${place.head + 1}, ` : '';
    const masked = line.bias[cell.key] === -Infinity ? ', masked' : '';
    return `${head}query ${line.query + 1} ${queryLabel(place.item, cell.row)}, key ${cell.key + 1} `
        + `${keyLabel(place.item, cell.key)}: ${place.stage} ${number}${masked}`;
}
