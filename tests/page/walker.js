// SPDX-License-Identifier: MIT
/* node tests/page/walker.js BROWSER PROFILE PAGE: goes through the guided walk of a page as a reader does, in Chromium, at the
 * widths of a phone, a laptop and a projector. The walk never covers what it explains; what moves comes to rest; where
 * motion is reduced, nothing moves; keys lead; an edit changes the numbers. */
'use strict';
const { spawn } = require('child_process'), path = require('path');
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
    return { checked, failures };
}

/* --- the browser --------------------------------------------------------------------------------------------------- */

const browser = spawn(program, ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
const waiting = new Map();
let sent = 0, received = '', problems = [], loaded = () => {};

browser.stdio[4].on('data', (data) => {
    received += data;
    const messages = received.split('\0');
    received = messages.pop();
    for (const { id, method, params, result, error } of messages.map((message) => JSON.parse(message))) {
        if (id) waiting.get(id)(error ? Promise.reject(new Error(error.message)) : result);
        else if (method === 'Page.loadEventFired') loaded();
        else if (/^Runtime\.(exceptionThrown|consoleAPICalled)$/.test(method)) problems.push(JSON.stringify(params));
    }
});

const send = (method, params = {}, sessionId = undefined) => new Promise((done) => {
    waiting.set(++sent, done);
    browser.stdio[3].write(`${JSON.stringify({ id: sent, method, params, sessionId })}\0`);
});

async function main() {
    const { targetInfos } = await send('Target.getTargets'), { targetId } = targetInfos.find(({ type }) => type === 'page');
    const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true }), tell = (method, params) => send(method, params, sessionId);
    await tell('Page.enable');
    await tell('Runtime.enable');
    let failed = 0;
    for (const [width, height, motion] of [[375, 700, ''], [1280, 800, ''], [1920, 1080, ''], [1280, 800, 'reduce']]) {
        await tell('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
        await tell('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-reduced-motion', value: motion }] });
        const ready = new Promise((done) => { loaded = done; });
        await tell('Page.navigate', { url: `file://${path.resolve(pagePath)}` });
        await ready;
        const { result, exceptionDetails } = await tell('Runtime.evaluate', { expression: `(${goThrough})()`, awaitPromise: true, returnByValue: true });
        const { checked, failures } = exceptionDetails ? { checked: 0, failures: [exceptionDetails.exception.description] } : result.value;
        for (const failure of [...failures, ...problems].slice(0, 8)) console.log(`FAILED: ${width} wide${motion && ', no motion'}: ${failure}`);
        console.log(`${width} wide${motion && ', no motion'}: ${checked} checked, ${failures.length + problems.length} failed`);
        failed += failures.length + problems.length;
        problems = [];
    }
    await send('Browser.close');
    process.exit(failed > 0 ? 1 : 0);
}

main();
