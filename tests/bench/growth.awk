# SPDX-License-Identifier: MIT
# Rows of "T seconds MB" -> an SVG with both on logarithmic axes.
function log10(x) { return log(x) / log(10) }
function place_x(tokens) { return 70 + 480 * log(tokens / first) / log(last / first) }
function place_y(value) { return 330 - 280 * (log10(value) - low) / (high - low) }
function line(values, colour, name,    i, points) {
    for (i = 1; i <= NR; i++)
        points = points sprintf("%.1f,%.1f ", place_x(tokens[i]), place_y(values[i]))
    printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", points, colour
    printf "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%s</text>\n", place_x(tokens[NR]) + 8, place_y(values[NR]) + 4, colour, name
}
function least(a, b) { return a < b ? a : b }
function most(a, b) { return a > b ? a : b }
{ tokens[NR] = $1; seconds[NR] = $2; memory[NR] = $3
  small = NR == 1 ? least($2, $3) : least(small, least($2, $3)); large = most(large, most($2, $3)) }
END {
    first = tokens[1]; last = tokens[NR]
    low = int(log10(small) - 1); high = int(log10(large) + 1)
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 380\" font-family=\"sans-serif\" font-size=\"12\">"
    print "<title>attn causal, d 64: time and memory against the number of tokens</title>"
    print "<rect width=\"640\" height=\"380\" fill=\"white\"/>"
    for (i = low; i <= high; i++) {
        printf "<line x1=\"70\" x2=\"550\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", place_y(10 ^ i), place_y(10 ^ i)
        printf "<text x=\"62\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", place_y(10 ^ i) + 4, 10 ^ i
    }
    for (i = 1; i <= NR; i++)
        printf "<text x=\"%.1f\" y=\"350\" text-anchor=\"middle\">%s</text>\n", place_x(tokens[i]), tokens[i] / 1024 "k"
    print "<text x=\"310\" y=\"372\" text-anchor=\"middle\">tokens</text>"
    line(seconds, "#0072b2", "seconds")
    line(memory, "#d55e00", "MB")
    print "</svg>"
}
