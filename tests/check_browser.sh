#!/bin/sh
# SPDX-License-Identifier: MIT
# The pages of check_page.sh in headless Chromium, in frames of one page: tests/page/check.js clicks through each, and
# compares it with attn's JSON for the same job. tests/page/reader.js edits others as a reader does, and saves files:
# tests/page/saved.js compares their numbers with attn's results. tests/page/fold.js looks at what is seen first. Firefox
# shows a few of them. tests/page/hands.js and tests/page/walker.js use pages as a user does, in both. ATTN_BROWSER and ATTN_FIREFOX name others; empty: none.
. tests/counts.sh
for browser in ${ATTN_BROWSER-chromium chromium-browser google-chrome} ''; do
    [ -z "$browser" ] || ! command -v "$browser" >/dev/null || break
done
[ -n "$browser" ] || { skip "the page in a browser" "chromium is not installed, or not asked for" && finish; }

# framed OPTION...: the page with a watch, that JSON and its test. As in the page itself, no '<' of a token may end a
# script.
in_browser=framed
framed() {
    "$attn" "$@" -f html >"$scratch/page" && "$attn" "$@" -f json >"$scratch/json" || return 1
    {
        sed '/^<head>$/q' "$scratch/page"
        echo '<script id="test-watch">'
        cat tests/page/watch.js
        echo '</script>'
        sed '1,/^<head>$/d' "$scratch/page"
        echo "<script type=\"application/json\" id=\"test-expected\" data-name=\"$label\">"
        sed 's/</\\u003c/g' "$scratch/json"
        echo '</script>'
        echo '<script id="test-check">'
        cat tests/page/formulas.js "tests/page/$script.js"
        echo '</script>'
    } >"$scratch/$label.html"
    echo "<iframe src=\"$label.html\" width=\"$width\" height=\"$height\"></iframe>" >>"$scratch/frames"
}
. tests/check_page.sh

# around FRAMES: one page of them.
around() {
    echo '<!DOCTYPE html><meta charset="utf-8"><pre id="found"></pre><script>'
    cat tests/page/collect.js
    echo '</script>'
    cat "$1"
}
around "$scratch/frames" >"$scratch/all.html"
timeout 3600 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --user-data-dir="$scratch/profile" --virtual-time-budget=60000 --enable-logging=stderr \
    --dump-dom "file://$scratch/all.html" >"$scratch/dom" 2>"$scratch/log"
sed -n '/<pre id="found">/,/<\/pre>/p' "$scratch/dom" | sed 's/.*<pre id="found">//; s/<\/pre>.*//' >"$scratch/found"

# hold BROWSER FILE FRAMES: all pages of the frames passed, by what they found.
hold() {
    grep '^FAILED' "$2"
    for label in $(sed 's/.*src="//; s/\.html".*//' "$3"); do
        check "the page '$label' holds in $1" grep -q "^$label: [1-9][0-9]* passed, 0 failed$" "$2"
    done
}
hold "$browser" "$scratch/found" "$scratch/frames"
# driven BROWSER: with hands, and through the walk.
"$attn" multihead -H 2 -d 6 data/inputs.json --dropout 0.2 -f html >"$scratch/walk.html"
"$attn" page -o "$scratch/words.html" >"$scratch/log-page"
"$attn" page layer tests/layers/qwen3/hidden.npy -w tests/layers/qwen3 --module model.layers.1.self_attn --grad ones -o "$scratch/gradients.html" >"$scratch/log-page"
driven() {
    profile=$scratch/driven-$(basename "$1")
    for walk in walk words; do
        check "the walk of $walk.html moves, and covers nothing, in $1" \
            timeout 1800 "$node" tests/page/walker.js "$1" "$profile-$walk" "$scratch/$walk.html"
    done
    check "a keyboard, a pointer and paper in $1" timeout 1800 "$node" tests/page/hands.js "$1" "$profile" "$scratch/words.html" "$scratch/gradients.html"
}
driven "$browser"
for page in words gradients; do
    check "no page is over 400 KB: $page" test "$(wc -c <"$scratch/$page.html")" -lt 400000
done
check "attn computes what the pages saved" "$node" tests/page/saved.js "$attn" "$scratch/found" "$scratch"
check "the browser's console is empty" test -z "$(grep CONSOLE "$scratch/log")"

for firefox in ${ATTN_FIREFOX-firefox-esr firefox} ''; do
    [ -z "$firefox" ] || ! command -v "$firefox" >/dev/null || break
done
if [ -n "$firefox" ]; then
    grep -E 'src="(hostile|edit-causal|edit-heads|first|first-words)\.' "$scratch/frames" >"$scratch/few"
    around "$scratch/few" >"$scratch/few.html"
    HOME=$scratch timeout 600 "$node" tests/page/serve.js "$firefox" "$scratch/few.html" "$(grep -c . "$scratch/few")" >"$scratch/firefox-found"
    hold "$firefox" "$scratch/firefox-found" "$scratch/few"
    driven "$firefox"
else
    skip "the pages in Firefox" "firefox-esr is not installed, or not asked for"
fi
finish
