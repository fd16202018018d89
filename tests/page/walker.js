// SPDX-License-Identifier: MIT
/* node tests/page/walker.js BROWSER PROFILE PAGE: goes through the guided walk of a page as a reader does, at the
 * widths of a phone, a laptop and a projector. The walk never covers what it explains; what moves comes to rest; where
 * motion is reduced, nothing moves; keys lead; an edit changes the numbers. */
'use strict';
const { openBrowser, fileUrl } = require('./browser.js');
const [program, profile, pagePath] = process.argv.slice(2);

/* --- in the page --------------------------------------------------------------------------------------------------- */

/* Runs there, with its names; returns what failed, and how much was checked. */
async function goThrough() {
    const failures = [], calm = matchMedia('(prefers-reduced-motion: reduce)').matches, box = byId('walk');
    let checked = 0;
    const check = (what, held) => {
        checked++;
        if (!held) failures.push(what);
    };
    const frames = async (count) => {
        for (let frame = 0; frame < count; frame++) await new Promise(requestAnimationFrame);
    };
    const press = (key, target = document.activeElement) => target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    const moves = () => document.getAnimations().filter(({ playState }) => playState === 'running');
    const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
    const text = () => byId('walk-text').textContent;

    const checkStep = async (step) => {
        const place = `step ${step + 1}, ${byId('walk-title').textContent}`, card = byId(`card-${walk.steps[step].table}`);
        for (let frame = 0; frame < 150 && (calm ? frame < 15 : moves().length === 0); frame++) await frames(1);
        check(`${place}: ${moves().length} animations`, (moves().length === 0) === calm);
        const bars = moves().map(({ effect }) => effect).filter(({ target }) => target.matches('.walk-bars i'));
        check(`${place}: a bar stands above its number`, bars.every((bar) => bar.getKeyframes().every(({ height }) => parseFloat(height) <= parseFloat(bar.target.style.height))));
        for (const move of moves()) move.finish();
        await frames(3);
        check(`${place}: it comes to rest`, moves().length === 0 && byId('walk-moving').childElementCount === 0);
        const [own, of] = [box, card].map((one) => one.getBoundingClientRect()), inSight = of.top >= 0 && of.left >= 0 && of.bottom <= innerHeight;
        check(`${place}: it is told`, text() !== '' && byId('walk-figure').childElementCount > 0);
        check(`${place}: the walk covers the table: ${JSON.stringify([own, of])}`, apart(own, of));
        check(`${place}: the table is out of sight: ${JSON.stringify(of)}`, inSight);
        check(`${place}: the focus is in the walk`, box.contains(document.activeElement));
        check(`${place}: it is too wide`, byId('walk-body').scrollWidth <= byId('walk-body').clientWidth && document.documentElement.scrollWidth <= innerWidth);
    };

    press('f', byId('large'));
    check('F starts the walk in the full window', walk.at === 0 && isSlides() && byId('walk-slides').textContent === 'Leave full screen');
    press('Escape');
    press('Escape');
    const table = tableNames().find((name) => name !== state.name);
    chooseTable(table);
    byId('walk-open').focus();
    byId('walk-open').click();
    const { length } = walk.steps, told = new Set();
    for (let step = 0; step < length; step++) {
        await checkStep(step);
        told.add(text());
        press('ArrowRight');
    }
    check('each step says something else', told.size === length && walk.at === length - 1);
    for (const [key, at] of [['Home', 0], ['PageDown', 1], ['End', length - 1], ['PageUp', length - 2], ['ArrowLeft', length - 3]]) {
        press(key);
        check(`${key} goes to step ${at + 1}`, walk.at === at && box.contains(document.activeElement));
    }
    byId('walk-replay').click();
    check('it plays again', calm || moves().length > 0);

    press('f');
    await frames(5);
    const [slide, large] = [box, byId('large-panel')].map((one) => one.getBoundingClientRect());
    check(`F fills the window with the walk and the table: ${JSON.stringify([slide, large])}`, byId('flow').offsetParent === null
        && apart(slide, large) && byId('large').offsetParent !== null && large.right <= innerWidth && slide.left === 0 && slide.bottom === innerHeight);
    press('PageUp', document.body);
    check('and keys lead wherever the focus is', walk.at === length - 4);
    press('Escape');
    check('Escape goes back to the page', byId('flow').offsetParent !== null && walk.at === length - 4);

    goWalk(walk.steps.findIndex(({ table }) => table === 'scores'));
    const was = text(), { row } = placeIn('inputs', shownTable('inputs'));
    check('it is read aloud', byId('walk-text').getAttribute('aria-live') === 'polite');
    tryEdit({ do: 'number', table: 'inputs', at: indicesOf('inputs', 0, row, 0), to: 7.25 }, null);
    check('an edit changes its numbers', text() !== was && text().includes(walkText(cellAt('scores', walkPlace().row, walkPlace().key))));
    check('and it stays where it is', walk.steps[walk.at].table === 'scores' && box.contains(document.activeElement));
    press('Escape');
    check('Escape ends it, and the focus is back', box.hidden && document.activeElement === byId('walk-open'));
    check('the large table is that of before', state.name === table);
    return { checked, failures };
}

/* --- the browser --------------------------------------------------------------------------------------------------- */

async function main() {
    let failed = 0;
    for (const calm of [false, true]) {
        const problems = [], browser = await openBrowser(program, `${profile}-${Number(calm)}`, problems, calm);
        for (const [width, height] of calm ? [[1280, 800]] : [[375, 700], [1280, 800], [1920, 1080]]) {
            const of = `${width} wide${calm ? ', no motion' : ''}`;
            await browser.resize(width, height);
            await browser.open(fileUrl(pagePath));
            const { checked, failures } = await browser.run(`(${goThrough})()`).catch((error) => ({ checked: 0, failures: [error.message] }));
            const found = [...failures, ...problems.splice(0)];
            for (const failure of found.slice(0, 8)) console.log(`FAILED: ${of}: ${failure}`);
            console.log(`${of}: ${checked} checked, ${found.length} failed`);
            failed += found.length;
        }
        await browser.close();
    }
    process.exit(failed > 0 ? 1 : 0);
}

main();
