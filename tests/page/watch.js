// SPDX-License-Identifier: MIT
/* Stands before all else in a page under test: whatever goes wrong there is told to the page around it. */
window.complaints = [];
addEventListener('error', (event) => window.complaints.push(`error: ${event.message} at line ${event.lineno}`));
addEventListener('unhandledrejection', (event) => window.complaints.push(`rejection: ${event.reason}`));
document.addEventListener('securitypolicyviolation', (event) => window.complaints.push(`forbidden: ${event.blockedURI}`));
for (const method of ['error', 'warn'])
    console[method] = (...words) => window.complaints.push(`console.${method}: ${words.join(' ')}`);
