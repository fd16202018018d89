#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes data/patterns.json: a sentence and three heads whose matrices are made by hand, each to do one thing.
#
#   sh data/make_patterns.sh >data/patterns.json
#
# An embedding has 16 columns, and says two things:
#
#   columns 1 to 8    which word: 1 in the word's own column, 0 in the others
#   columns 9 to 16   where: the cosine and sine of 1, 2, 3 and 4 turns spread over the 12 places
#
# The place of token p is four hands of a clock. The product of two places, the sum of the cosines of the angles between
# their hands, is 4 where the places are equal, and below 0.9 where they are not. And to turn the hands back by one place
# is to multiply by a matrix. So the scores can be made to order; SHARP times as large, that softmax takes one of them:
#
#   head 1, the previous token   query: my place, turned back by one      key: my place
#   head 2, the first token      query: place 1, whatever the word        key: my place
#   head 3, the same word        query: my word                           key: my word
#
# Every head has the word as its value, so that each row of context says which word was read.
awk '
BEGIN {
    SHARP = 5
    count = split("the dog saw a cat run but the cat saw no dog", token, " ")
    turn = 2 * atan2(0, -1) / count
    for (p = 1; p <= count; p++)
        if (!(token[p] in column))
            column[token[p]] = ++words

    printf "{\"comment\": \"three heads made by hand: the previous token, the first token, the same word; "
    printf "data/make_patterns.sh says how\",\n \"tokens\": ["
    for (p = 1; p <= count; p++)
        printf "%s\"%s\"", (p > 1 ? ", " : ""), token[p]
    print "],"
    for (p = 1; p <= count; p++) {
        matrix[p, column[token[p]]] = 1
        place(p, p, words, 1)
    }
    write("inputs", count, words + 8)

    for (hand = 1; hand <= 4; hand++) { # back by an angle: the cosine and sine of the difference
        cosine = 2 * hand - 1
        sine = cosine + 1
        matrix[words + cosine, cosine] = matrix[words + sine, sine] = SHARP * cos(hand * turn)
        matrix[words + cosine, sine] = -SHARP * sin(hand * turn)
        matrix[words + sine, cosine] = SHARP * sin(hand * turn)
    }
    write("heads.0.W_query", words + 8, 8)
    pick(words, 1)
    write("heads.0.W_key", words + 8, 8)
    pick(0, 1)
    write("heads.0.W_value", words + 8, 8)

    for (word = 1; word <= words; word++) # one of them is 1, so their sum is a constant
        place(word, 1, 0, SHARP)
    write("heads.1.W_query", words + 8, 8)
    pick(words, 1)
    write("heads.1.W_key", words + 8, 8)
    pick(0, 1)
    write("heads.1.W_value", words + 8, 8)

    pick(0, 4 * SHARP)
    write("heads.2.W_query", words + 8, 8)
    pick(0, 1)
    write("heads.2.W_key", words + 8, 8)
    pick(0, 1)
    write("heads.2.W_value", words + 8, 8)
    print " \"settings\": {\"heads\": 3, \"stacked\": true}}"
}

# The hands of place p, `times` as long, into a row from the column after `before` on.
function place(row, p, before, times,    hand) {
    for (hand = 1; hand <= 4; hand++) {
        matrix[row, before + 2 * hand - 1] = times * cos(hand * p * turn)
        matrix[row, before + 2 * hand] = times * sin(hand * p * turn)
    }
}

# A matrix that takes the eight columns after `before`, `times` as large.
function pick(before, times,    i) {
    for (i = 1; i <= 8; i++)
        matrix[before + i, i] = times
}

# Writes the matrix with at most four decimals, a row a line, and clears it.
function write(name, rows, columns,    i, j, text) {
    printf " \"%s\": [", name
    for (i = 1; i <= rows; i++) {
        printf "%s[", (i > 1 ? ",\n    " : "")
        for (j = 1; j <= columns; j++) {
            text = sprintf("%.4f", matrix[i, j])
            sub(/\.?0+$/, "", text)
            printf "%s%s", (j > 1 ? ", " : ""), (text == "-0" ? "0" : text)
        }
        printf "]"
    }
    print "],"
    for (i in matrix)
        delete matrix[i]
}'
