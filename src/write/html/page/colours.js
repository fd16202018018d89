// SPDX-License-Identifier: MIT
/* Colours for any kind of colour vision, on light and on dark ground, by the one rule of all of attn's pictures: 0 is
 * neutral, a positive number orange, a negative one blue, and the stronger the larger its magnitude. Shares have the
 * orange half. The stops are the anchors of src/write/picture/colormap.c. */

const MAPS = {
    light: {
        stops: ['#275da5', '#579bd8', '#9ccef4', '#f5f5f5', '#f4ba80', '#d67b34', '#914417'],
        heads: ['#008a6b', '#5a52c4', '#7a6000', '#b3263a', '#4b6470', '#b0439a', '#1f6fb5', '#c85200'],
        masked: '#e4e3df', hatch: '#c6c4bd', unknown: '#d14b8f', ink: '#1c1e22', faint: '#5c6067', accent: '#1554c0',
        key: '#b0439a', changed: '#c85200', paper: '#ffffff',
    },
    dark: {
        stops: ['#a9dcfd', '#599bd5', '#2e5c94', '#2a2a2a', '#854827', '#d17d3e', '#fbcb8e'],
        heads: ['#3ec9a3', '#a29bff', '#d0b54a', '#ff7f8c', '#9fb6c2', '#e58ad0', '#5aa9ee', '#ff9a4d'],
        masked: '#1f2126', hatch: '#3d4047', unknown: '#ff7cc0', ink: '#e9eaec', faint: '#9a9ea6', accent: '#8ab6ff',
        key: '#e58ad0', changed: '#ff9a4d', paper: '#1a1d23',
    },
};
const NEUTRAL = 3;

/* 'light', 'dark' or 'auto', as --theme and the switch of the page say; paper is light. */
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
let printing = false;
const theme = () => document.documentElement.dataset.theme;
const scheme = () => ((theme() === 'dark' || (theme() !== 'light' && prefersDark.matches)) && !printing ? 'dark' : 'light');
const colours = () => MAPS[scheme()];

function parseColour(text) {
    return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

/* A map as 256 colours, three bytes each, and behind them those of cells that are masked and that hold NaN. */
const MASKED = 256, UNKNOWN = 257;

const colourTable = remembered((ground, ofSigns) => {
    const stops = MAPS[ground].stops.slice(ofSigns ? 0 : NEUTRAL).map(parseColour), table = new Uint8Array(258 * 3);
    table.set(parseColour(MAPS[ground].masked), MASKED * 3);
    table.set(parseColour(MAPS[ground].unknown), UNKNOWN * 3);
    for (let i = 0; i < 256; i++) {
        const place = i / 255 * (stops.length - 1), below = Math.min(Math.floor(place), stops.length - 2);
        for (let part = 0; part < 3; part++)
            table[i * 3 + part] = stops[below][part] + (place - below) * (stops[below + 1][part] - stops[below][part]);
    }
    return table;
}, 4);

/* The position of a number between the least and the most, 0 .. 1. Halves, where the difference overflows. */
function shareBetween(least, most) {
    const part = most - least < Infinity ? 1 : 0.5, width = most * part - least * part || 1;
    return (number) => (number * part - least * part) / width;
}

function largestMagnitude(numbers) {
    let most = 0;
    for (const number of numbers) {
        const magnitude = Math.abs(number);
        if (magnitude > most && magnitude < Infinity) most = magnitude;
    }
    return most;
}

/* Maps numbers to colours: shares from 0, numbers with a sign around 0. `most` where it is known. */
function colourScale(numbers, signed, most = largestMagnitude(numbers)) {
    const least = signed ? -most : 0, share = shareBetween(signed ? -(most || 1) : 0, most || 1);
    return { signed, least, most, place: (number) => Math.round(255 * Math.min(1, Math.max(0, share(number)))) };
}

const scaleTable = (scale) => colourTable(scheme(), scale.signed);

const colourPlace = (number, masked, scale) => (masked ? MASKED : Number.isNaN(number) ? UNKNOWN : scale.place(number));

function cellColour(number, masked, scale) {
    const at = colourPlace(number, masked, scale) * 3;
    return scaleTable(scale).subarray(at, at + 3);
}

const colourText = ([red, green, blue]) => `rgb(${red}, ${green}, ${blue})`;

/* Ink that can be read on that colour: black or white, whichever has more contrast by its luminance. */
function inkOn(colour) {
    const [red, green, blue] = Array.from(colour, (part) => (part / 255) ** 2.2);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? '#000000' : '#ffffff';
}

/* Of a head among others; one alone has the colour of its weights. The colours of the two signs come last. */
const headColour = (head) => (headsNow() < 2 ? colours().stops[NEUTRAL + 2] : colours().heads[head % colours().heads.length]);
