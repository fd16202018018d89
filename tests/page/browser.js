// SPDX-License-Identifier: MIT
/* One way to drive Chromium (its protocol over a pipe) and Firefox (WebDriver BiDi over a socket): pages, keys, the pointer,
 * pictures and paper. Events are those of a user, so Tab moves the focus and a drag is a drag. */
'use strict';
const { spawn } = require('child_process'), crypto = require('crypto'), fs = require('fs'), net = require('net'), path = require('path');

/* Requests and answers by their number; other messages go to `heard`. */
function exchange(write, heard) {
    const waiting = new Map();
    let sent = 0;
    return {
        send: (method, params = {}, more = {}) => new Promise((done, failed) => {
            waiting.set(++sent, { done, failed, method });
            write(JSON.stringify({ id: sent, method, params, ...more }));
        }),
        take: (text) => {
            const { id, error, message, ...rest } = JSON.parse(text), asked = waiting.get(id);
            if (!asked) return heard(rest);
            waiting.delete(id);
            if (error) return asked.failed(new Error(`${asked.method}: ${message || error.message}`));
            return asked.done(rest.result);
        },
    };
}

/* --- Chromium ------------------------------------------------------------------------------------------------------ */

const KEY_CODES = { Tab: 9, Enter: 13, Escape: 27, ' ': 32, PageUp: 33, PageDown: 34, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 };

async function openChromium(program, profile, problems, calm) {
    const child = spawn(program, ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-pipe', `--user-data-dir=${profile}`, ...(calm ? ['--force-prefers-reduced-motion'] : []), 'about:blank'],
        { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    let received = '', loaded = () => {};
    const wire = exchange((text) => child.stdio[3].write(`${text}\0`), ({ method, params }) => {
        if (method === 'Page.loadEventFired') loaded();
        else if (/^Runtime\.(exceptionThrown|consoleAPICalled)$/.test(method)) problems.push(JSON.stringify(params));
    });
    child.stdio[4].on('data', (data) => {
        const messages = (received + data).split('\0');
        received = messages.pop();
        messages.forEach(wire.take);
    });
    const { targetInfos } = await wire.send('Target.getTargets'), { targetId } = targetInfos.find(({ type }) => type === 'page');
    const { sessionId } = await wire.send('Target.attachToTarget', { targetId, flatten: true }), tell = (method, params) => wire.send(method, params, { sessionId });
    await tell('Page.enable');
    await tell('Runtime.enable');
    return {
        resize: (width, height) => tell('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false }),
        open: async (url) => {
            const ready = new Promise((done) => { loaded = done; });
            await tell('Page.navigate', { url });
            await ready;
        },
        run: async (expression) => {
            const { result, exceptionDetails } = await tell('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
            if (exceptionDetails) throw new Error(exceptionDetails.exception.description);
            return result.value;
        },
        press: async (key, shift = false) => {
            const code = KEY_CODES[key] || key.toUpperCase().charCodeAt(0), one = { key, windowsVirtualKeyCode: code, modifiers: shift ? 8 : 0 };
            const text = key === 'Enter' ? '\r' : key.length === 1 ? key : undefined;
            await tell('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', text, ...one });
            await tell('Input.dispatchKeyEvent', { type: 'keyUp', ...one });
        },
        point: (type, x, y) => tell('Input.dispatchMouseEvent', { type: { down: 'mousePressed', move: 'mouseMoved', up: 'mouseReleased' }[type], x, y, button: 'left', buttons: type === 'up' ? 0 : 1, clickCount: type === 'move' ? 0 : 1 }),
        picture: async () => (await tell('Page.captureScreenshot', { format: 'png' })).data,
        paper: async () => (await tell('Page.printToPDF', { printBackground: true, paperWidth: 8.27, paperHeight: 11.69, marginTop: 0.4, marginBottom: 0.4, marginLeft: 0.4, marginRight: 0.4 })).data,
        close: () => Promise.all([new Promise((done) => child.on('exit', done)), wire.send('Browser.close')]),
    };
}

/* --- Firefox ------------------------------------------------------------------------------------------------------- */

/* Texts over a WebSocket, from its handshake on; each is one frame or several. */
function openSocket(port, take) {
    return new Promise((done, failed) => {
        const socket = net.connect(port, '127.0.0.1');
        let received = Buffer.alloc(0), isOpen = false, parts = [];
        const write = (text) => {
            const body = Buffer.from(text), length = body.length, mask = crypto.randomBytes(4);
            const head = length < 126 ? Buffer.from([0x81, 0x80 | length]) : length < 65536 ? Buffer.from([0x81, 0xfe, length >> 8, length & 255]) : Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
            if (length >= 65536) head.writeUInt32BE(length, 6);
            socket.write(Buffer.concat([head, mask, body.map((byte, i) => byte ^ mask[i % 4])]));
        };
        const frames = () => {
            for (;;) {
                if (received.length < 2) return;
                const short = received[1] & 127, start = short < 126 ? 2 : short === 126 ? 4 : 10;
                if (received.length < start) return;
                const length = short < 126 ? short : short === 126 ? received.readUInt16BE(2) : Number(received.readBigUInt64BE(2));
                if (received.length < start + length) return;
                const isLast = received[0] & 0x80, kind = received[0] & 15, body = received.subarray(start, start + length);
                received = received.subarray(start + length);
                if (kind > 1) continue;
                parts.push(body);
                if (isLast) take(Buffer.concat(parts.splice(0)).toString());
            }
        };
        socket.on('error', failed);
        socket.on('connect', () => socket.write(`GET /session HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${crypto.randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\n\r\n`));
        socket.on('data', (data) => {
            received = Buffer.concat([received, data]);
            const end = isOpen ? -1 : received.indexOf('\r\n\r\n');
            if (end >= 0) {
                isOpen = true;
                received = received.subarray(end + 4);
                done(write);
            }
            if (isOpen) frames();
        });
    });
}

const BIDI_KEYS = { Tab: '\uE004', Enter: '\uE007', Escape: '\uE00C', PageUp: '\uE00E', PageDown: '\uE00F', End: '\uE010', Home: '\uE011', ArrowLeft: '\uE012', ArrowUp: '\uE013', ArrowRight: '\uE014', ArrowDown: '\uE015' };

async function openFirefox(program, profile, problems, calm) {
    fs.mkdirSync(profile, { recursive: true });
    fs.writeFileSync(path.join(profile, 'user.js'), `user_pref("ui.prefersReducedMotion", ${Number(calm)});\n`);
    const child = spawn(program, ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'], { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile } });
    const port = await new Promise((done, failed) => {
        let said = '';
        child.stderr.on('data', (data) => {
            said += data;
            const [, number] = /ws:\/\/127\.0\.0\.1:(\d+)/.exec(said) || [];
            if (number) done(Number(number));
        });
        child.on('exit', () => failed(new Error(`${program} has ended: ${said}`)));
        child.on('error', failed);
    });
    let write = null;
    const wire = exchange((text) => write(text), ({ method, params }) => {
        if (method === 'log.entryAdded' && params.level !== 'info') problems.push(params.text);
    });
    write = await openSocket(port, wire.take);
    await wire.send('session.new', { capabilities: {} });
    await wire.send('session.subscribe', { events: ['log.entryAdded'] });
    const { contexts: [{ context }] } = await wire.send('browsingContext.getTree');
    await wire.send('browsingContext.activate', { context });
    const act = (type, id, actions, more = {}) => wire.send('input.performActions', { context, actions: [{ type, id, actions, ...more }] });
    return {
        resize: (width, height) => wire.send('browsingContext.setViewport', { context, viewport: { width, height } }),
        open: (url) => wire.send('browsingContext.navigate', { context, url, wait: 'complete' }),
        run: async (expression) => {
            const { type, result, exceptionDetails } = await wire.send('script.evaluate', { expression: `(async () => JSON.stringify(await (${expression})))()`, target: { context }, awaitPromise: true, userActivation: true });
            if (type === 'exception') throw new Error(exceptionDetails.text);
            return result.value === undefined ? undefined : JSON.parse(result.value);
        },
        press: (key, shift = false) => {
            const [down, up] = ['keyDown', 'keyUp'].map((type) => ({ type, value: BIDI_KEYS[key] || key })), [hold, free] = ['keyDown', 'keyUp'].map((type) => ({ type, value: '\uE008' }));
            return act('key', 'keys', shift ? [hold, down, up, free] : [down, up]);
        },
        point: (type, x, y) => act('pointer', 'mouse', [{ type: 'pointerMove', x: Math.round(x), y: Math.round(y) }, ...(type === 'move' ? [] : [{ type: type === 'down' ? 'pointerDown' : 'pointerUp', button: 0 }])], { parameters: { pointerType: 'mouse' } }),
        picture: async () => (await wire.send('browsingContext.captureScreenshot', { context })).data,
        paper: async () => (await wire.send('browsingContext.print', { context, background: true, page: { width: 21, height: 29.7 }, margin: { top: 1, bottom: 1, left: 1, right: 1 }, shrinkToFit: false })).data,
        close: async () => {
            const ended = new Promise((done) => child.on('exit', done));
            await Promise.all([ended, wire.send('browser.close').catch(() => {})]);
        },
    };
}

/* Opens the browser with that folder as its profile; what a page complains of is added to `problems`. Calm: as where motion is
 * reduced. */
const openBrowser = (program, profile, problems, calm = false) => (/firefox/.test(program) ? openFirefox : openChromium)(program, profile, problems, calm);

module.exports = { openBrowser, fileUrl: (file) => `file://${path.resolve(file)}` };
