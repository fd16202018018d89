// SPDX-License-Identifier: MIT
/* The formula of each stage, in attn's words, as src/stage/ has them. */

/* ".weight^T" where all modules store it so; a file may give one head's W as it is and another's transposed. */
function storageText(model, stem) {
    const stems = model.settings.stacked ? Array.from({ length: model.heads }, (nothing, head) => `heads.${head}.${stem}`) : [stem];
    const transposed = stems.filter((one) => model.tables.has(`${one}.weight`)).length;
    return transposed === 0 ? '' : transposed === stems.length ? '.weight^T' : ' or .weight^T';
}

/* attn's own formula, of what the page does not change, but for the scale of a query. */
function toldFormula(model, stage) {
    const ways = Object.values(job.ways).flatMap((way) => way.made), told = Object.fromEntries([...ways, ...job.stages])[stage] || 'given';
    return isScaledQuery(model, stage) ? told.replace(/ x [^ ;]+(?=;|$)/, ` x ${queryScaleOf(model)}`) : told;
}

function projectionFormula(model, stage) {
    const id = stage.replace(/^projected_/, ''), stem = PROJECTIONS[id];
    if (model.starts === 'operands' || latentOf(model, id) || (stage === id && stagesOnTheWay(model, id).length > 0)) return toldFormula(model, stage);
    const { name } = sourceOf(model, id), source = name === 'inputs' ? inputsName(model) : name;
    const bias = model.tables.has(`${model.settings.stacked ? 'heads.0.' : ''}${stem}.bias`) ? ` + ${stem}.bias` : '';
    const heads = model.settings.stacked ? ' of each head' : hasHeads(model) ? ', cut into heads' : '';
    const within = job.clip > 0 ? `, clipped to +-${job.clip}` : '';
    return `${source} . ${stem}${storageText(model, stem)}${bias}${heads}${within}`;
}

function scaledFormula(model) {
    const scale = scaleOf(model);
    return scale === 1 / Math.sqrt(model.dHead) ? `scores / sqrt(${model.dHead})` : `scores x ${scale}`;
}

function maskRules(model) {
    const { settings, hasLengths, job } = model, mask = maskOf(model);
    const { causal, left, right } = settings, query = hasLengths || job.offsets.some((offset) => offset !== 0) ? "query's position" : 'query';
    const rules = [];
    if (mask && !mask.adds) rules.push(`attn_mask is ${job.given.mask_true === 'drop' ? 'true' : 'false'}`);
    if (causal || right === 0) rules.push(`key > ${query}`);
    else if (right > 0) rules.push(`key > ${query} + ${right}`);
    if (left >= 0) rules.push(`key < ${query}${left > 0 ? ` - ${left}` : ''}`);
    if (hasLengths) rules.push('key > length');
    return rules.map((rule, i) => `${i === 0 ? ', -inf where ' : ' or '}${rule}`).join('');
}

function maskedFormula(model, before) {
    const added = maskOf(model)?.adds ? ' + attn_mask' : '';
    const alibi = slopesOf(model) ? Object.fromEntries(model.job.stages).masked?.match(/ [+-] slope [^,]*(?= \+|,|$)/)?.[0] ?? ' - slope |key - query|' : '';
    return `${before}${hasMask(model) ? '' : ', no mask'}${added}${alibi}${model.relative ? ' + relative_bias of the distance' : ''}${maskRules(model)}`;
}

const FORMULAS = {
    scores: () => 'query . key^T', scaled: scaledFormula,
    capped: ({ settings: { softcap } }) => (softcap > 0 ? `${softcap} x tanh(scaled / ${softcap})` : 'scaled, no softcap'),
    masked: maskedFormula,
    weights: (model, before) => `softmax(${before})${model.tables.has('sinks') ? ', a sink in the sum' : ''}`,
    dropped: ({ settings: { dropout } }) => `weights / (1 - ${dropout}) where kept, else 0`,
    context: (model, before) => `${before} . value`,
    gate: (model) => `sigmoid(${inputsName(model)} . W_gate.weight^T${model.tables.has('W_gate.bias') ? ' + W_gate.bias' : ''})${gateColumns(model) === 1 && model.dValue > 1 ? ', one for each head' : ''}`,
    heads: (model) => `context of all heads${hasGate(model) ? ' x gate' : ''}, side by side`,
    output: (model) => (model.settings.stacked ? 'heads side by side' : `heads . out_proj.weight^T${model.tables.has('out_proj.bias') ? ' + out_proj.bias' : ''}`),
};

/* `names` are the stages before it. */
function formulaOf(model, stage, names) {
    const squares = names.filter((name) => SQUARE_STAGES.includes(name));
    if (stage in PROJECTIONS || stage.startsWith('projected_')) return projectionFormula(model, stage);
    if (stage in WORD_STAGES) return WORD_STAGES[stage].formula(model);
    return stage in FORMULAS ? FORMULAS[stage](model, squares[squares.length - 1]) : toldFormula(model, stage);
}
