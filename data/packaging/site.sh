#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual as a folder of web pages that need no network: every page by mandoc, a page of attention and pictures by
# attn, and an index of them.
#
#     sh data/packaging/site.sh ATTN FOLDER
set -eu
attn=${1:?usage: data/packaging/site.sh ATTN FOLDER} site=${2:?usage: data/packaging/site.sh ATTN FOLDER}
command -v mandoc >/dev/null || { echo "data/packaging/site.sh: mandoc is missing" >&2; exit 1; }
mkdir -p "$site"
cp data/packaging/site.css "$site"

# A page of another program is a name, not a link; the way back to the index is above the page.
for page in man/*.[157]; do
    mandoc -T html -O 'man=%N.%S.html,toc,style=site.css' "$page" | tr '\n' '\001' |
        sed 's|<a class="Xr" href="\(attn[-a-z]*\.[157]\.html\)">\([^<]*\)</a>|<A href="\1">\2</A>|g
            s|<a class="Xr"[^>]*>\([^<]*\)</a>|\1|g; s|<A |<a |g; s|</A>|</a>|g
            s|<body>|<body><a href="index.html">attn</a>|' | tr '\001' '\n' >"$site/${page##*/}.html"
done

"$attn" page -o "$site/page.html" >/dev/null
"$attn" causal data/inputs.json -o "$site/causal.svg"
"$attn" multihead data/patterns.json --stages weights -o "$site/heads.svg"
"$attn" causal data/inputs.json --steps -o "$site/steps.svg"

name_of() { # PAGE, as in man/attn.1
    echo "$1" | sed 's,.*/,,; s,\.\([157]\)$,(\1),'
}
{
    echo '<!DOCTYPE html>'
    echo '<html lang="en"><head><meta charset="utf-8"/><meta name="viewport" content="width=device-width"/>'
    echo '<link rel="stylesheet" href="site.css"/><title>attn</title></head><body>'
    echo "<h1>attn $("$attn" --version | sed -n '1s/^attn //p')</h1>"
    echo "<p>$(sed -n 's/^\.Nd //p' man/attn.1 | sed 's/^e/E/').</p>"
    echo '<p><a href="page.html">A page of attention</a>: every number of three heads made by hand, to point at and edit.</p>'
    echo '<table>'
    for page in man/attn.1 man/attn-lessons.7 $(ls man/*.[157] | grep -v 'attn\.1$\|attn-lessons'); do
        echo "<tr><td><a href=\"${page##*/}.html\">$(name_of "$page")</a></td><td>$(sed -n 's/^\.Nd //p' "$page")</td></tr>"
    done
    echo '</table>'
    while read -r picture words; do
        echo "<figure><img src=\"$picture.svg\" alt=\"$words\"/><figcaption>$words</figcaption></figure>"
    done <<END
causal Six tokens through causal attention: attn causal data/inputs.json
heads The weights of three heads made by hand: attn multihead data/patterns.json --stages weights
steps The same tokens one by one, with a cache: attn causal data/inputs.json --steps
END
    echo '</body></html>'
} >"$site/index.html"
