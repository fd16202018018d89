// SPDX-License-Identifier: MIT
/* node tests/page/serve.js BROWSER PAGE FRAMES: opens the page in a browser that cannot print its page, and prints
 * what the frames found, until all have ended. Five minutes without a word end it, too. */
'use strict';
const fs = require('fs'), http = require('http'), path = require('path'), { spawn } = require('child_process');
const [browser, page, frames] = process.argv.slice(2), folder = path.dirname(page), profile = path.join(folder, 'firefox');
let left = Number(frames), child = null, limit = null;

const end = () => child.kill();
const wait = () => {
    clearTimeout(limit);
    limit = setTimeout(end, 300000);
};

const take = (found) => {
    wait();
    console.log(found);
    if (/: \d+ passed, \d+ failed$/.test(found) && --left === 0) end();
};

const server = http.createServer((request, response) => {
    if (request.method === 'POST') {
        const parts = [];
        request.on('data', (part) => parts.push(part));
        request.on('end', () => { response.end(); take(Buffer.concat(parts).toString()); });
        return;
    }
    const file = path.join(folder, path.basename(request.url));
    if (!fs.existsSync(file)) response.statusCode = 404;
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(fs.existsSync(file) ? fs.readFileSync(file) : '');
});

server.listen(0, '127.0.0.1', () => {
    fs.mkdirSync(profile);
    child = spawn(browser, ['--headless', '--no-remote', '--profile', profile, `http://127.0.0.1:${server.address().port}/${path.basename(page)}`], { stdio: 'ignore' });
    child.on('exit', () => process.exit(left === 0 ? 0 : 1));
    child.on('error', () => process.exit(1));
    wait();
});
