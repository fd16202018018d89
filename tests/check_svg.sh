#!/bin/sh
# SPDX-License-Identifier: MIT
# SVGs of data/ and of hostile tokens are valid XML without external resources, render, and have the same bytes each
# time.
. tests/counts.sh
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/hostile.json" <<'END'
{"tokens": ["<script>alert(1)</script>", "\"quoted\" & 'single'", "\u05e9\u05dc\u05d5\u05dd", "\u65e5\u672c\u8a9e",
            "\ud83d\udc69\u200d\ud83d\udcbb", "a\u0007b\u001b[31m", "\ufffe\uffff\ufffd", "]]>", "\u202eevil", "--><!--",
            "", "&amp;&#0;"],
 "inputs": [[1, 2], [2, 1], [-1, 1], [0, 2], [1, 1], [3, -1], [2, 2], [0, 0], [-2, 1], [1, -1], [4, 1], [-1, -1]]}
END
awk 'BEGIN { srand(2); printf "{\"inputs\": ["
    for (i = 0; i < 300; i++) printf "%s[%.3f, %.3f]", i ? "," : "", 2 * rand() - 1, 2 * rand() - 1
    print "]}" }' >"$scratch/long.json"

[ -n "${ATTN_WHOLE-}" ] || echo 'rsvg-convert draws one picture in eight: ATTN_WHOLE=1, as in .ci/run, has it draw all'
pictures=0

# The checks of an SVG, for each way to draw.
picture() { # NAME ARGUMENTS...
    svg=$scratch/$1.svg
    shift
    check "attn $* -f svg" "$attn" "$@" -o "$svg"
    check "the same bytes on three threads" sh -c '"$@" -t 3 -f svg | cmp - "$0"' "$svg" "$attn" "$@"
    check "nothing but what a picture has" test -z "$(grep -oE '<[a-zA-Z!?]+' "$svg" | sort -u |
        grep -vE '^<(svg|title|desc|style|defs|pattern|path|g|rect|text|tspan)$')"
    check "nothing from outside" test "$(grep -c 'http' "$svg")" -eq 1
    if command -v xmllint >/dev/null; then
        check "valid XML" xmllint --noout --nonet "$svg"
    else
        skip "valid XML" "xmllint is not installed"
    fi
    pictures=$((pictures + 1))
    if [ -z "${ATTN_WHOLE-}" ] && [ $((pictures % 8)) -ne 1 ]; then
        return
    elif command -v rsvg-convert >/dev/null; then
        check "rsvg-convert draws it" rsvg-convert "$svg" -o "$svg.png"
    else
        skip "drawing" "rsvg-convert is not installed"
    fi
}

for file in data/*.json; do
    name=$(basename "$file" .json)
    case $name in
    patterns | module | trained) command=multihead ;;
    grouped | packed | paged | kernel-*) command=sdpa ;;
    *) command=causal ;;
    esac
    picture "$name" $command "$file"
    picture "$name-weights" $command "$file" --stages weights
done
picture heads multihead -H 2 data/inputs.json
picture hostile self "$scratch/hostile.json"
picture hostile-weights causal "$scratch/hostile.json" --stages scores,weights
picture long causal "$scratch/long.json"

# Texts with markup characters of XML: formulas with < and >, the user's names.
cat >"$scratch/rules.json" <<'END'
{"query": [[[[1, 2], [0, 1]]], [[[2, 1], [1, 1]]]], "key": [[[[1, 0], [0, 1], [1, 1]]], [[[1, 1], [0, 2], [1, -1]]]],
 "value": [[[[1], [2], [3]]], [[[5], [6], [7]]]], "kv_lengths": [3, 2], "attn_mask": [[0.5, null, 0.25]],
 "alibi_slopes": [0.5], "sinks": [0.25]}
END
all=query,key,value,scores,scaled,capped,masked,weights,context
"$attn" init causal data/inputs.json -o "$scratch/<W> & \"W'.json"
picture window causal data/inputs.json --window 2,0
picture window-masked causal data/inputs.json --window 2,0 --stages masked
picture rules sdpa "$scratch/rules.json" --causal --window 1,1 --softcap 5 --stages $all
picture rules-masked sdpa "$scratch/rules.json" --window 0,2 --stages masked,weights
picture named causal data/inputs.json -w "$scratch/<W> & \"W'.json"
picture queries self "$scratch/hostile.json" -q '<script>alert(1)</script>,]]>,&amp;&#0;' --stages weights

# A slide: 1280 x 720, with all cells on it.
slide() { # NAME ARGUMENTS...
    name=$1
    picture "$@" --shape wide
    check "$name: 1280 x 720, every cell within" awk '
        function number(name) { return match($0, " " name "=\"[-0-9.]+") ? substr($0, RSTART + length(name) + 3,
            RLENGTH - length(name) - 3) + 0 : 0 }
        /^<svg/ { split($0, part, "\""); split(part[8], box, " ")
            size = part[4] " x " part[6]; wide = box[3]; high = box[4] }
        /^<g class="attn"/ { split($0, part, "[( )]"); left = part[4]; top = part[5] }
        /^<rect/ && !/"page"/ { cells++; x = left + number("x"); y = top + number("y")
            if (x < 0 || y < 0 || x + number("width") > wide || y + number("height") > high) outside++ }
        END { if (size != "1280 x 720" || cells < 4 || outside) { print size, cells, outside; exit 1 } }' "$scratch/$name.svg"
}
slide wide causal data/inputs.json
slide wide-heads multihead -H 4 --d-out 4 data/inputs.json
slide wide-weights multihead -H 4 --d-out 4 data/inputs.json --stages weights
slide wide-signs multihead data/patterns.json --stages scores,weights
slide wide-hostile self "$scratch/hostile.json"
slide wide-long causal "$scratch/long.json"
slide wide-grad causal data/inputs.json --grad ones
# Gradients follow what they are made from, and no wire leaves the picture.
echo '{"vocabulary": {"words": ["a", "b", "c"], "embedding": [[1, 0], [0, 1], [0.5, -0.5]],
    "position_embedding": [[0.1, 0.2], [0.3, -0.1], [0, 0.4]]}, "unembedding": [[1, 2, 3], [-1, 0.5, 0.25]], "text": "a b c"}' \
    >"$scratch/words.json"
for grad in "causal $scratch/words.json" "multihead -H 2 $scratch/words.json" "causal data/inputs.json"; do
    picture grad $grad --grad ones
    check "every wire within" awk '
        /^<svg/ { split($0, part, "\""); wide = part[4] }
        /^<path class="wire"/ { wires++; gsub(/[^-.0-9MHV]/, " "); gsub(/[MHV]/, " & ")
            for (i = 1; i < NF; i++) if ($i ~ /[MH]/ && ($(i + 1) < -20 || $(i + 1) > wide - 24)) outside++ }
        END { if (wires < 8 || outside) { print wires, outside; exit 1 } }' "$scratch/grad.svg"
    check "no wire crosses a cell" awk '
        function number(name) { return match($0, " " name "=\"[-0-9.]+") ? substr($0, RSTART + length(name) + 3,
            RLENGTH - length(name) - 3) + 0 : 0 }
        /^<rect/ && !/"page"/ { cells++; left[cells] = number("x"); top[cells] = number("y")
            right[cells] = left[cells] + number("width"); end[cells] = top[cells] + number("height") }
        /^<path class="wire"/ { wire[++wires] = $0 }
        END { for (i = 1; i <= wires; i++) { gsub(/[^-.0-9MHV ]/, " ", wire[i]); gsub(/[MHV]/, " & ", wire[i]); words = split(wire[i], part, " ")
            for (k = 1; k <= words; k++) { x = newx; y = newy
                if (part[k] == "M") { newx = part[k + 1]; newy = part[k + 2]; continue }
                if (part[k] == "H") newx = part[k + 1]; else if (part[k] == "V") newy = part[k + 1]; else continue
                for (c = 1; c <= cells; c++)
                    if ((x < newx ? x : newx) < right[c] && (x > newx ? x : newx) > left[c] && (y < newy ? y : newy) < end[c] && (y > newy ? y : newy) > top[c])
                        crossed++ } }
            if (crossed || wires < 8 || cells < 50) { print wires, cells, crossed; exit 1 } }' "$scratch/grad.svg"
    check "each gradient of a parameter has an arrow" awk '
        /^<path class="tip"/ { match($0, /M[-0-9.]+ [-0-9.]+/)
            split(substr($0, RSTART + 1, RLENGTH - 1), part, " "); x[++tips] = part[1]; y[tips] = part[2] }
        /^<text class="title/ && />grad_(W_|out_proj|unembedding)/ { names++; split($0, part, "\""); found = 0
            for (i = 1; i <= tips; i++) found += x[i] >= part[4] - 0 && x[i] < part[4] + 250 && y[i] > part[6] - 20 && y[i] < part[6]
            with += found > 0 }
        END { if (names < 3 || with != names) { print names, with; exit 1 } }' "$scratch/grad.svg"
    check "gradients come last" sh -c 'grep -o "<text class=\"title[^<]*" "$0" | sed "s/.*>//" |
        awk "/^grad_/ { back = 1 } !/^grad_/ && back { exit 1 }"' "$scratch/grad.svg"
done
check "four heads leave out what nobody asked for" sh -c 'grep -o "<text class=\"title.*<" "$0" | sed "s/.*\">//" |
    tr -d "\n" | grep -qx "inputs<query<key<value<weights<context<output<"' "$scratch/wide-heads.svg"

# The walk: all of it, small, and still where motion is not wanted.
for walk in "causal data/inputs.json" "multihead data/trained.json -q 5" "sdpa data/kernel-causal.json" "self $scratch/hostile.json"; do
    picture walk $walk --animate
    check "no class without a style" sh -c '! grep -oE "class=\"[a-z]+[0-9]+" "$0" | cut -c 8- | sort -u |
        while read -r class; do grep -qF ".$class{" "$0" || echo "$class"; done | grep .' "$scratch/walk.svg"
    check "every motion ends within its time" sh -c '! grep -oE "[0-9.]+%" "$0" | awk "\$1 + 0 > 100" | grep .' "$scratch/walk.svg"
done
"$attn" causal data/inputs.json --animate -o "$scratch/walk.svg"
awk 'BEGIN { printf "{\"inputs\": ["; for (i = 0; i < 40; i++) printf "%s[%d, %d]", i ? "," : "", i % 3, i % 5; print "]}" }' >"$scratch/forty.json"
echo '{"inputs": [[1, 2], [0, 1], [1, 1]]}' >"$scratch/three.json"
"$attn" causal "$scratch/three.json" --animate -o "$scratch/nameless.svg"
check "a factor with a sign has brackets" grep -q ' = −0.26 × 0.43 + (−0.08) × (−1.64) ≈ 0.02<' "$scratch/nameless.svg"
check "a token without a name is called one" grep -q '>query of token 3<' "$scratch/nameless.svg"
"$attn" causal "$scratch/forty.json" --entropy -o "$scratch/forty.svg"
check "forty rows have their entropy" test "$(grep -c '>entropy<\|>1\.00<' "$scratch/forty.svg")" -ge 10
check "six tokens in less than 100 KB" test "$(wc -c <"$scratch/walk.svg")" -lt 102400
check "still where the reader asks for that" grep -q '^@media (prefers-reduced-motion:reduce){g{animation:none' "$scratch/walk.svg"
check "a score for each key, and for each share a value" test "$(grep -c ' key of .* ≈ ' "$scratch/walk.svg") \
$(grep -c ' value of .*, added ' "$scratch/walk.svg")" = "6 6"

# The manual's commands for other formats.
cp data/inputs.json "$scratch/inputs.json"
"$attn" causal data/inputs.json -o "$scratch/causal.svg"
sed -n '/^rsvg-convert \|^attn causal.*\.png$\|^attn causal.*\.pdf$/p' man/attn.1 >"$scratch/lines"
check "the manual converts pictures" test "$(wc -l <"$scratch/lines")" -eq 3
if command -v rsvg-convert >/dev/null; then
    while read -r line; do
        rm -f "$scratch"/causal.p*
        check "$line" sh -c 'cd "$1" && PATH=$2:$PATH && eval "$3"' - "$scratch" "$(cd "$ATTN_BIN" && pwd)" "$line"
        case $line in
        *.png) check "it is a PNG" test "$(od -A n -t x1 -N 4 "$scratch/causal.png" | tr -d ' ')" = 89504e47 ;;
        *) check "it is a PDF" test "$(head -c 5 "$scratch/causal.pdf")" = %PDF- ;;
        esac
    done <"$scratch/lines"
    "$attn" causal data/inputs.json -f png --shape wide >"$scratch/wide.png"
    check "a slide as PNG has 2560 x 1440 pixels" test "$(od -A n -t x1 -j 16 -N 8 "$scratch/wide.png" | tr -d ' ')" = 00000a00000005a0
else
    skip "PNG and PDF" "rsvg-convert is not installed"
fi

# Whatever happens to the other program: an error, and no file or the old one.
fails() { # MESSAGE WHAT; the program in $scratch/bin
    for file in new old; do
        rm -f "$scratch/new.png"
        echo old >"$scratch/old.png"
        PATH=$scratch/bin "$attn" causal data/inputs.json -o "$scratch/$file.png" 2>"$scratch/said"
        check "$2: exit status 3" test $? -eq 3
        check "$2: the message" grep -qxF "attn: $1" "$scratch/said"
        check "$2: no half of a file" test "$(cd "$scratch" && echo new.pn* .attn* && cat old.png)" = "new.pn* .attn*
old"
    done
}
sh=$(command -v sh)
mkdir "$scratch/bin"
fails "--format png needs rsvg-convert, which is not installed; install librsvg2-bin, or write .svg and convert that" \
    "no rsvg-convert"
for ending in 'kill -9 $$' 'echo half; kill -9 $$' 'exit 4' 'echo half; exit 4' 'exit 0'; do
    printf '#!%s\n[ "$1" = --version ] && echo 1 && exit\n%s\n' "$sh" "$ending" >"$scratch/bin/rsvg-convert"
    chmod +x "$scratch/bin/rsvg-convert"
    case $ending in
    *kill*) said='signal 9 ended rsvg-convert' ;;
    *4) said='rsvg-convert failed with exit status 4' ;;
    *) said='rsvg-convert wrote nothing' ;;
    esac
    fails "$said" "$ending"
done
finish
