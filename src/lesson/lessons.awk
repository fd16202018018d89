# SPDX-License-Identifier: MIT
# Writes the lessons of lessons.h in C. It reads the sections LESSONS, PART 1, PART 2 and so on, and ANSWERS of attn-lessons(7),
# and knows the part of mdoc(7) that they use. It rejects a line against the rules: "man/attn-lessons.7:120: ..."
#
#     awk -f lessons.awk man/attn-lessons.7

function refuse(what, number) {
    printf "%s:%d: %s\n", FILENAME, number ? number : NR, what >"/dev/stderr"
    exit refused = 1
}

# --- texts: lines are added to body ------------------------------------------------------------------------------------

function look(macros, mark,    i, name) {
    for (i = split(macros, name); i > 0; i--)
        style[name[i]] = mark
}

function unescaped(line,    text, at, name) {
    while ((at = index(line, "\\")) > 0) {
        text = text substr(line, 1, at - 1)
        line = substr(line, at)
        name = substr(line, 2, line ~ /^\\\(/ ? 3 : line ~ /^\\\[/ ? index(line, "]") - 1 : 1)
        if (!(name in meaning))
            refuse("unknown escape '" substr(line, 1, 8) "'")
        text = text meaning[name]
        line = substr(line, length(name) + 2)
    }
    return text line
}

function add_blank() {
    if (!glued && body != "")
        body = body " "
    glued = 0
}

# In the style of the macro, which covers all its words; "Xr attn-why 1" is attn-why(1).
function add_word(word,    goes_on) {
    goes_on = words++ > 0 && !glued && style[macro] != "" && substr(body, length(body)) == PLAIN
    if (goes_on)
        body = substr(body, 1, length(body) - 1)
    if (macro == "Xr" && words > 1) {
        body = body "(" unescaped(word) ")"
        return
    }
    add_blank()
    body = body (goes_on ? "" : style[macro]) (macro == "Fl" ? "-" : "") unescaped(word) (style[macro] != "" ? PLAIN : "")
}

function begin_macro(name) {
    macro = name
    words = 0
    if (name in quote) {
        add_blank()
        body = body quote[name]
        glued = 1
        closing = quote[name] closing
    }
}

function take_word(word) {
    if (word in style) {
        begin_macro(word)
    } else if (word !~ /^[].,:;)?![(]$/) {
        add_word(word)
    } else {
        glued = glued || word !~ /[[(]/
        add_blank()
        body = body word
        glued = word ~ /[[(]/
    }
}

# "Fl \-init Cm rand ,": the words of a macro's line, some of them macros; quotes hold several words together.
function add_macro(line,    count, word, closed, i) {
    while (match(line, /^ *("[^"]*"?|[^" ][^ ]*)/)) {
        word[++count] = substr(line, 1, RLENGTH)
        line = substr(line, RLENGTH + 1)
        gsub(/^ *"?|"$/, "", word[count])
    }
    if (!(word[1] in style))
        refuse("unknown macro '." word[1] "'")
    if (word[1] == "Nm" && count == 1)
        refuse("'.Nm' alone is the name of the page; expected '.Nm attn'")
    for (closed = count; closed > 1 && word[closed] ~ /^[].,:;)?!]$/; closed--)
        continue
    glued = 0
    closing = ""
    for (i = 1; i <= count; i++) {
        take_word(word[i])
        if (i == closed)
            body = body closing
    }
}

# --- parts ------------------------------------------------------------------------------------------------------------

function end_paragraph() {
    if (is_open)
        text[parts] = body
    is_open = 0
}

function add_part(name) {
    end_paragraph()
    kind[++parts] = name
    is_close[parts] = close_by
    indented[parts] = indent
    line_of[parts] = NR
    close_by = 1
    body = ""
}

function paragraph() {
    if (!is_open)
        add_part("TEXT")
    is_open = 1
}

function add_line(line) {
    if (line ~ /^\./)
        refuse("a macro in a literal block; expected .Ed")
    body = body unescaped(line) "\n"
}

# A command, with the lines behind a backslash at its end, or up to the word of <<END.
function read_command(line,    word) {
    add_part("COMMAND")
    add_line(line)
    while ((word != "" || match(body, /<<[A-Z]+/) || body ~ /\\\n$/) && !(word != "" && line == word)) {
        if (word == "" && match(body, /<<[A-Z]+/))
            word = substr(body, RSTART + 2, RLENGTH - 2)
        if ((getline line) <= 0)
            refuse("a command without its end")
        add_line(line)
    }
    text[parts] = substr(body, 1, length(body) - 1)
    body = ""
}

function end_block_part(before) {
    if (parts > before && kind[parts] == "COMMAND")
        printed[parts] = body
    else if (parts > before)
        text[parts] = body
}

# A block up to .Ed: lines, then commands with what they print.
function read_block(    before, line) {
    before = parts
    close_by = 0
    while ((getline line) > 0 && line != ".Ed")
        if (line ~ /^\$ /) {
            end_block_part(before)
            read_command(substr(line, 3))
        } else {
            if (parts == before)
                add_part("LITERAL")
            add_line(line)
        }
    if (line != ".Ed")
        refuse("a literal block without its .Ed")
    end_block_part(before)
}

function begin_list(line) {
    end_paragraph()
    if (list != "")
        refuse("a list in a list")
    if (!match(line, /-(tag|bullet|enum)/))
        refuse("expected a list of -tag, -bullet or -enum")
    list = substr(line, RSTART, RLENGTH)
    list_line = NR
    compact = line ~ / -compact/
    item = 0
    indent = 4
    if (match(line, /-width ("[^"]*"|[^ ]*)/)) {
        line = substr(line, RSTART + 7, RLENGTH - 7)
        gsub(/"/, "", line)
        indent += length(line)
    }
}

function begin_item(line) {
    if (list == "")
        refuse("an item without a list")
    end_paragraph()
    body = list == "-bullet" ? "-" : list == "-enum" ? ++item "." : ""
    if (list == "-tag")
        add_macro(line)
    line = body
    close_by = compact
    paragraph()
    tag[parts] = line
}

# "Exercise 5.1 :" and "Predict :", behind .Em
function take_question(line) {
    if (line !~ /^Predict|^Exercise /)
        return
    paragraph()
    if (line ~ /^Predict/ && said !~ /^predict /)
        refuse("a prediction without its comment: expected .\\\" predict NUMBER")
    if (line ~ /^Predict/) {
        is_word[parts] = sub(/^predict word /, "predict ", said)
        predicted[parts] = substr(said, 9)
        said = ""
        return
    }
    if (index(line " ", "Exercise " lessons "." ++exercises " ") != 1)
        refuse("expected the next exercise, " lessons "." exercises)
    exercise[parts] = lessons "." exercises
    if (sub(/^expect /, "", said)) {
        expected[parts] = said
        said = ""
    }
}

# --- sections: 0 is the introduction, then the lessons, one for the text before the answers, and the answers ---------

function begin_section(name) {
    end_paragraph()
    close_by = 0
    title[++sections] = name
    first[sections] = parts + 1
    section_line[sections] = NR
}

function begin_lesson(line) {
    if (index(line, "Lesson " lessons + 1 ":") != 1)
        refuse("expected the heading of the next lesson, \"Lesson " lessons + 1 ": ...\"")
    check_lesson()
    sub(/^[^:]*: */, "", line)
    begin_section(unescaped(line))
    lessons++
    exercises = 0
}

function begin_answer(line) {
    if (line !~ /^Answer [0-9]+\.[0-9]+$/ || substr(line, 8) in answer)
        refuse("expected a new heading of an answer, \"Answer 2.1\"")
    begin_section("")
    answer[substr(line, 8)] = sections
}

function take_macro(line) {
    if (line == "Pp") {
        end_paragraph()
        close_by = 0
    } else if (line ~ /^Bd -literal/) {
        end_paragraph()
        read_block()
    } else if (line ~ /^Bl /) {
        begin_list(line)
    } else if (line ~ /^It( |$)/) {
        begin_item(substr(line, 4))
    } else if (line == "El") {
        end_paragraph()
        list = ""
        indent = 0
    } else {
        if (line ~ /^Em / && !is_open)
            take_question(substr(line, 4))
        paragraph()
        add_macro(line)
    }
}

function take_line(line,    announced) {
    announced = said
    if (line ~ /^\.Ss /) {
        heads_part = 0
        if (state == 1)
            begin_lesson(substr(line, 5))
        else
            begin_answer(substr(line, 5))
    } else if (heads_part) {
        refuse("a text before the first lesson of a part")
    } else if (line ~ /^\./) {
        take_macro(substr(line, 2))
    } else if (line ~ /^( |$)/) {
        refuse("a line that is empty or begins with a blank")
    } else {
        paragraph()
        body = body (body != "" ? " " : "") unescaped(line)
    }
    if (announced != "" && said != "")
        refuse("a comment without its prediction or exercise")
}

# --- rules --------------------------------------------------------------------------------------------------------------

# Whether part p prints it: a number digit by digit, a word between blanks.
function prints(p, what, word,    lines) {
    lines = " " printed[p] " "
    if (word)
        gsub(/\n/, " ", lines)
    else
        gsub(/[^-!#$%*+.\/0-9?@A-Z^_`a-z~]+/, " ", lines)
    return index(lines, " " what " ") > 0
}

function check_number(p, what) {
    if (what !~ /^-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?$/)
        refuse("'" what "' is no number", line_of[p])
}

function check_prediction(p,    command) {
    for (command = p + 1; command <= parts && printed[command] == ""; command++)
        continue
    if (!is_word[p])
        check_number(p, predicted[p])
    if (!prints(command, predicted[p], is_word[p]))
        refuse("the next command does not print '" predicted[p] "'", line_of[p])
}

# The last lesson, as far as it can be without the answers.
function check_lesson(    p, predictions) {
    end_paragraph()
    for (p = first[sections]; p <= parts; p++)
        if (p in predicted) {
            predictions++
            check_prediction(p)
        }
    if (lessons > 0 && (!predictions || exercises != 2))
        refuse("a lesson has a prediction and two exercises; expected them in lesson " lessons, section_line[sections])
}

function check_answer(p,    s, q, commands, is_there) {
    if (!(exercise[p] in answer))
        refuse("exercise " exercise[p] " has no answer", line_of[p])
    s = answer[exercise[p]]
    answered[s] = 1
    for (q = first[s]; q < first[s + 1]; q++) {
        commands += printed[q] != ""
        is_there = is_there || expected[p] == "" || prints(q, expected[p], 0)
    }
    if (!commands)
        refuse("an answer without a command that prints something", section_line[s])
    if (expected[p] != "")
        check_number(p, expected[p])
    if (!is_there)
        refuse("the answer does not print '" expected[p] "'", line_of[p])
}

# --- C ------------------------------------------------------------------------------------------------------------------

function in_c(text) {
    gsub(/["\\?]/, "\\\\&", text)
    gsub(BOLD, "\\001", text)
    gsub(UNDERLINE, "\\002", text)
    gsub(PLAIN, "\\003", text)
    gsub(/\n/, "\\n\"\n        \"", text)
    return "\"" text "\""
}

function field(name, table, p) {
    if (table[p] != "")
        printf ", .%s = %s", name, in_c(table[p])
}

function write_parts(name, from, to,    p) {
    printf "static const struct lesson_part %s[] = {\n", name
    for (p = from; p <= to; p++) {
        printf "    {.kind = LESSON_%s, .close = %d, .indent = %d, .text = %s", kind[p], is_close[p], indented[p], in_c(text[p])
        field("tag", tag, p)
        field("predicted", predicted, p)
        field("expected", expected, p)
        if (kind[p] == "COMMAND")
            printf ", .printed = %s", in_c(printed[p])
        if (p in exercise)
            printf ", .answer = &ANSWERS[%d]", answer[exercise[p]] - lessons - 2
        printf ", .predicts_word = %d},\n", is_word[p]
    }
    printf "};\n\n"
}

function write_sections(type, parts_of, from, to,    s) {
    printf "%s = {\n", type
    for (s = from; s <= to; s++)
        printf "    {%s, %s + %d, %d},\n", in_c(title[s]), parts_of, first[s] - first[from], first[s + 1] - first[s]
    printf "};\n\n"
}

# --- all of it ----------------------------------------------------------------------------------------------------------

BEGIN {
    BOLD = "\001"
    UNDERLINE = "\002"
    PLAIN = "\003"
    look("Nm Fl Cm", BOLD)
    look("Ar Va Pa Sx Em", UNDERLINE)
    look("Xr Ev Li Ql Dq", "")
    quote["Ql"] = "'"
    quote["Dq"] = meaning["(dq"] = "\""
    meaning["(ha"] = "^"
    meaning["(aq"] = "'"
    meaning["(bu"] = "\342\200\242"
    meaning["[u2248]"] = "\342\211\210"
    meaning["-"] = "-"
    meaning["e"] = "\\"
    meaning["&"] = ""
    sections = -1
}

# state: 0 before LESSONS, 1 in it and in the parts, 2 behind them, 3 in ANSWERS, 4 behind it
/^\.Sh / {
    if (state == 1 && /^\.Sh PART /) {
        end_paragraph()
        heads_part = 1
        next
    }
    if (state % 2 == 1) {
        if (list != "")
            refuse("a list without its end", list_line)
        if (state++ == 1)
            check_lesson()
        end_paragraph()
    }
    if ($0 == (state == 0 ? ".Sh LESSONS" : ".Sh ANSWERS") && state % 2 == 0) {
        begin_section("")
        state++
    }
    next
}

state % 2 == 1 && /^\.\\"/ {
    if ($0 ~ /^\.\\" *(predict|expect) /) {
        end_paragraph()
        said = $0
        sub(/^\.\\" */, "", said)
    }
    next
}

state % 2 == 1 { take_line($0) }

END {
    if (refused)
        exit 1
    if (state < 3)
        refuse(state == 0 ? "no section LESSONS" : "no section ANSWERS behind the lessons")
    end_paragraph()
    first[sections + 1] = parts + 1
    for (p = 1; p < first[lessons + 1]; p++)
        if (p in exercise)
            check_answer(p)
    for (s = lessons + 2; s <= sections; s++)
        if (!answered[s])
            refuse("an answer without its exercise", section_line[s])
    print "#include \"lesson/lessons.h\"\n"
    write_parts("ANSWER_PARTS", first[lessons + 2], parts)
    write_sections("static const struct lesson ANSWERS[]", "ANSWER_PARTS", lessons + 2, sections)
    write_parts("PARTS", 1, first[lessons + 1] - 1)
    write_sections("const struct lesson LESSONS[]", "PARTS", 0, lessons)
    printf "const size_t LESSON_COUNT = %d;\n", lessons
}
