// SPDX-License-Identifier: MIT
/* In the page around the pages under test: what each of them found, a line each; also for serve.js. */
addEventListener('message', (event) => {
    document.getElementById('found').append(`${event.data}\n`);
    if (location.protocol === 'http:') fetch('/found', { method: 'POST', body: event.data });
});
