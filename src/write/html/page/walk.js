// SPDX-License-Identifier: MIT
/* The guided walk: a step at a time, its text next to the part that it is about. Every sentence is in attn-lessons(7);
 * tests/page/walk.js compares both. */

const WALK = [
    {
        title: 'What a row is', tables: ['inputs'],
        text: ['A language model does not read words.',
            'Each token has one row: its numbers, from left to right.',
            'A word has the same embedding in every sentence.',
            'Attention makes a new row for each token: one that depends on the other tokens, too.'],
    },
    {
        title: 'Three matrices', tables: ['W_query.weight', 'W_query'],
        also: ['W_key.weight', 'W_key', 'W_value.weight', 'W_value'],
        text: ['Query, key and value are each the embedding times a weight matrix.',
            'The matrices are called W_query, W_key and W_value.',
            'Before training they are random.',
            'Training changes their numbers.'],
    },
    {
        title: 'Three rows of each token', tables: ['query'], also: ['key', 'value'],
        text: ['Attention makes three rows from each embedding: a query, a key and a value.',
            'The query is what a token looks for.',
            'The key is what other tokens find it by.',
            'The value is what it gives to those that find it.'],
    },
    {
        title: 'Scores', tables: ['scores'],
        text: ['A query asks every key.',
            'The answer is a score: the dot product of the query and that key.',
            'In a table of scores, the row is the token that asks, and the column is the token that is asked.'],
    },
    {
        title: 'Scaled', tables: ['scaled'],
        text: ['Before softmax, attention divides each score by a number: the square root of the number of columns of a key.',
            'A score is a sum, and has a product for each column.',
            'With more columns, a score is a sum of more products.',
            'So the scores of a row are further apart.'],
    },
    {
        title: 'Masked', tables: ['masked'],
        text: ['A mask says for each query which keys are allowed.',
            'The masked scores become minus infinity.',
            'e to the power of minus infinity is 0, so softmax gives them the weight 0.',
            'The allowed keys share the 1.'],
    },
    {
        title: 'Weights', tables: ['weights'],
        text: ['Softmax makes shares of a row of numbers.',
            'Each row of weights adds up to 1.',
            'Each row of a weights table says where one token looks.'],
    },
    {
        title: 'Dropped', tables: ['dropped'],
        text: ['While a model learns, dropout sets some weights to 0, at random.'],
    },
    {
        title: 'Context', tables: ['context'],
        text: ['The weights say how much a token takes from each token.',
            'The values are what it takes.',
            'The context of a token is the sum of all values, each multiplied by its weight.'],
    },
    {
        title: 'Several heads', tables: ['heads'],
        text: ['A head has one table of weights, so each token looks at the others in one way only.',
            'Several heads look in several ways at once, each with matrices of its own.',
            'Each head makes its own contexts.',
            'The next step undoes the cut: the contexts of a token from all heads become one row again.'],
    },
    {
        title: 'The output projection', tables: ['out_proj.weight'],
        text: ['Up to here, each column of the output comes from one head.',
            'One more step mixes them: the output projection, out_proj.',
            'Each column of the output is then made of the columns of all heads.'],
    },
    {
        title: 'Output', tables: ['output'],
        text: ['The output has one row for each token, as the inputs had.'],
    },
];

const walk = { steps: [], at: -1, from: null, names: [] }; /* names: of the tables that are spoken of */

/* The steps whose tables this job has. */
function stepsHere() {
    const names = tableNames();
    const withTable = (step) => ({ ...step, table: step.tables.find((name) => names.includes(name)) });
    return WALK.map(withTable).filter((step) => step.table);
}

/* Where the walk and the arithmetic come from below: as the style has it. */
const isNarrow = () => matchMedia('(max-width: 40rem)').matches;

const walkTarget = (step) => byId(`card-${step.table}`);

function openWalk() {
    walk.steps = stepsHere();
    walk.from = document.activeElement;
    goWalk(0);
}

function closeWalk() {
    walk.at = -1;
    byId('walk').hidden = true;
    document.body.classList.remove('walking');
    walk.names = [];
    show();
    if (walk.from) walk.from.focus();
}

function goWalk(at) {
    walk.at = within(at, walk.steps.length);
    const step = walk.steps[walk.at];
    byId('walk').hidden = false;
    document.body.classList.add('walking');
    byId('walk-title').textContent = step.title;
    byId('walk-text').replaceChildren(...step.text.map((sentence) => element('p', {}, sentence)));
    byId('walk-count').textContent = `${walk.at + 1} of ${walk.steps.length}`;
    byId('walk-back').disabled = walk.at === 0;
    byId('walk-next').textContent = walk.at === walk.steps.length - 1 ? 'Done' : 'Next';
    walk.names = [step.table, ...(step.also || [])];
    chooseTable(step.table);
    const target = walkTarget(step);
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches, block = isNarrow() ? 'start' : 'center';
    target.scrollIntoView({ block, behavior: calm ? 'auto' : 'smooth' });
    placeWalk();
    byId('walk-next').focus({ preventScroll: true });
}

const WALK_GAP = 16;

/* Beside its part where there is room, else above or below it; on a narrow screen at the lower edge, by the style. */
function placeWalk() {
    if (walk.at < 0) return;
    const card = byId('walk'), box = walkTarget(walk.steps[walk.at]).getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = card, wide = document.documentElement.clientWidth;
    const rights = box.right + WALK_GAP, lefts = box.left - WALK_GAP - width;
    const beside = rights + width < wide || lefts > 0;
    const left = rights + width < wide ? rights : lefts > 0 ? lefts : Math.max(8, Math.min(box.left, wide - width - 8));
    const below = box.bottom + WALK_GAP, above = box.top - WALK_GAP - height;
    const top = beside ? box.top : below + height < innerHeight || above < 0 ? below : above;
    card.style.left = `${left + scrollX}px`;
    card.style.top = `${Math.max(top, 8 - scrollY) + scrollY}px`;
}

function onWalkKey(event) {
    if (walk.at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') closeWalk();
    else if (!byId('walk').contains(event.target)) return;
    else if (event.key === 'ArrowRight' || event.key === 'PageDown') nextWalk();
    else if (event.key === 'ArrowLeft' || event.key === 'PageUp') goWalk(walk.at - 1);
    else return;
    event.preventDefault();
}

function nextWalk() {
    if (walk.at === walk.steps.length - 1) closeWalk();
    else goWalk(walk.at + 1);
}

function listenToWalk() {
    byId('walk-open').addEventListener('click', openWalk);
    byId('walk-next').addEventListener('click', nextWalk);
    byId('walk-back').addEventListener('click', () => goWalk(walk.at - 1));
    byId('walk-close').addEventListener('click', closeWalk);
    addEventListener('keydown', onWalkKey);
    addEventListener('resize', placeWalk);
}
