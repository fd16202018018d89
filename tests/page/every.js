// SPDX-License-Identifier: MIT
/* node tests/page/every.js FOLDER: equations.js for every FOLDER/NAME.page and NAME.json, in one process; a line "NAME: "
 * before what it says of each. */
'use strict';
const fs = require('fs');
const path = require('path');
const folder = process.argv[2], equations = require.resolve('./equations.js');

for (const file of fs.readdirSync(folder).filter((name) => name.endsWith('.page'))) {
    const name = path.join(folder, path.basename(file, '.page'));
    process.argv = [process.argv[0], equations, `${name}.page`, `${name}.json`];
    delete require.cache[equations];
    process.stdout.write(`${path.basename(name)}: `);
    try {
        require(equations);
    } catch (error) {
        console.log(`FAILED: ${error.stack}`);
        process.exitCode = 1;
    }
}
