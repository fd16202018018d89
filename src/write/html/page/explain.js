/* One cell of any stage with its arithmetic, back to the inputs. */

function explainCell(evaluation, stage, item, head, row, column) {
    const table = evaluation.table(stage, item, head);
    return element('p', { class: 'formula' }, numberText(table.numbers[row * table.columns + column]));
}
