// SPDX-License-Identifier: MIT
/* In the page around the pages under test: what each of them found, a line each. */
addEventListener('message', (event) => {
    document.getElementById('found').append(`${event.data}\n`);
});
