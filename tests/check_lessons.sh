#!/bin/sh
# SPDX-License-Identifier: MIT
# The table of lessons that lessons.awk makes in the build: every element of a source, in C; and the line at which it
# rejects a source that breaks the rules.
. tests/counts.sh
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
LC_ALL=C
export LC_ALL


# Completes the text of a lesson, from line 4 on, to a source that keeps the rules.
before='.Dd today
.Sh LESSONS
Hello.
.Ss Lesson 1: One'
question='.\" predict word one
.Em Predict :
which?'
command='.Bd -literal
$ attn a
one 0.5
.Ed'
exercises='.Em Exercise 1.1 :
do it.
.Pp
.\" expect 0.5
.Em Exercise 1.2 :
do it.'
between='.Sh OTHER
.Xx not read
.Sh ANSWERS
Not shown.'
answers=".Ss Answer 1.1
$command
.Ss Answer 1.2
$command
.Sh OTHER
.Xx not read"

parts() { # PART...
    for part; do [ -z "$part" ] || printf '%s\n' "$part"; done >"$scratch/a"
    (cd "$scratch" && awk -f "$OLDPWD/src/lesson/lessons.awk" a 2>&1)
}

refused() { # MESSAGE PART...
    expected=$1
    shift
    got=$(parts "$@")
    check "refused: $expected, got: $(echo "$got" | head -n 1)" [ "$got" = "$expected" ]
}

of_lesson() { # MESSAGE TEXT
    refused "$1" "$before" "$2" "$question" "$command" "$exercises" "$between" "$answers"
}

says() { # NAME LINE: the table has it
    case $table in *"$2"*) check "$1" true ;; *) check "$1: expected $2" false ;; esac
}

# --- lines that are not written as lessons are -------------------------------------------------------------------------

of_lesson "a:5: unknown macro '.Bq'" '.Bq what'
of_lesson "a:6: unknown macro '.Fn'" 'Text.
.Fn f'
of_lesson "a:5: unknown escape '\\(lq b'" 'a \(lq b'
of_lesson "a:6: unknown escape '\\fBself'" '.Bd -literal
$ attn \fBself
.Ed'
of_lesson 'a:6: a macro in a literal block; expected .Ed' '.Bd -literal
.Va a
.Ed'
of_lesson 'a:5: expected the heading of the next lesson, "Lesson 2: ..."' '.Ss Lesson 3: Three'
of_lesson 'a:5: expected the heading of the next lesson, "Lesson 2: ..."' '.Ss Two'
of_lesson 'a:5: a prediction without its comment: expected .\" predict NUMBER' '.Em Predict :
what?'
late='a comment without its prediction or exercise'
of_lesson "a:6: $late" '.\" expect 1
.Va a'
of_lesson "a:6: $late" '.\" expect 1
Text'
of_lesson "a:6: $late" '.\" expect 1
.Pp'
of_lesson "a:6: $late" '.\" predict 1
.Em Exercise 1.1 :'
of_lesson 'a:5: expected the next exercise, 1.1' '.Em Exercise one :'
of_lesson 'a:5: expected the next exercise, 1.1' '.Em Exercise 1.2 :'
of_lesson "a:5: '.Nm' alone is the name of the page; expected '.Nm attn'" '.Nm'
of_lesson 'a:6: a text before the first lesson of a part' '.Sh PART 1: ONE
Text'
of_lesson 'a:5: an item without a list' '.It a'
of_lesson 'a:5: expected a list of -tag, -bullet or -enum' '.Bl -hang'
of_lesson 'a:7: a list in a list' '.Bl -bullet
.It
.Bl -enum'
of_lesson 'a:5: a list without its end' '.Bl -bullet
.It
a'
of_lesson 'a:6: a line that is empty or begins with a blank' 'a

b'
of_lesson 'a:5: a line that is empty or begins with a blank' ' a'
refused 'a:1: no section LESSONS' '.Sh NAME'
refused 'a:17: no section ANSWERS behind the lessons' "$before" "$question" "$command" "$exercises"
refused 'a:7: a literal block without its .Ed' "$before" '.Bd -literal
$ a
b'
refused 'a:6: a command without its end' "$before" '.Bd -literal
$ a \e'

# --- rules that a lesson keeps ------------------------------------------------------------------------------------------

few='a:4: a lesson has a prediction and two exercises; expected them in lesson 1'
refused "$few" "$before" "$command" "$exercises" "$between" "$answers"
refused "$few" "$before" "$question" "$command" '.Em Exercise 1.1 :' "$between" "$answers"
refused "$few" "$before" 'Text.' '.Ss Lesson 2: Two' "$question" "$command" "$exercises" "$between" "$answers"
refused "a:6: the next command does not print 'one'" "$before" "$question" .Pp "$exercises" "$between" "$answers"
refused "a:6: the next command does not print 'on'" "$before" '.\" predict word on
.Em Predict :' "$command" "$exercises" "$between" "$answers"
refused "a:6: the next command does not print '0.50'" "$before" '.\" predict 0.50
.Em Predict :' "$command" "$exercises" "$between" "$answers"
refused "a:6: 'one' is no number" "$before" '.\" predict one
.Em Predict :' "$command" "$exercises" "$between" "$answers"
refused 'a:12: exercise 1.1 has no answer' "$before" "$question" "$command" "$exercises" "$between" ".Ss Answer 1.2
$command"
refused "a:16: the answer does not print '0.5'" "$before" "$question" "$command" "$exercises" "$between" ".Ss Answer 1.1
$command" '.Ss Answer 1.2
.Bd -literal
$ attn a
0.55
.Ed'
refused 'a:22: an answer without a command that prints something' "$before" "$question" "$command" "$exercises" "$between" \
    '.Ss Answer 1.1
.Bd -literal
$ attn a >b
.Ed' ".Ss Answer 1.2
$command"
refused 'a:32: an answer without its exercise' "$before" "$question" "$command" "$exercises" "$between" "${answers%%.Sh*}.Ss Answer 1.3
Yes."
heading='expected a new heading of an answer, "Answer 2.1"'
refused "a:27: $heading" "$before" "$question" "$command" "$exercises" "$between" ".Ss Answer 1.1
$command" '.Ss Answer 1.1'
refused "a:22: $heading" "$before" "$question" "$command" "$exercises" "$between" '.Ss Answers'

# --- all that a lesson may hold -----------------------------------------------------------------------------------------

table=$(parts "${before%.Ss*}.Sh PART 1: ONE" '.Ss Lesson 1: One
Text of
.Nm attn .
.Pp
.\" predict word one
.Em Predict :
which?
.Bd -literal -offset 2n
$ cat >a <<END
$ no command
END
$ attn self \e
    a
one x\(ha2?

end
.Ed
right behind it
.Bl -tag -width abc -compact
.It Va a
first
.It Va b
second
.El
.Pp' "$exercises" "$between" "$answers")
says 'the introduction' '.text = "Hello."'
says 'a macro in a text' '.close = 0, .indent = 0, .text = "Text of \001attn\003.",'
says 'a prediction' '.text = "\002Predict\003: which\?", .predicted = "one", .predicts_word = 1}'
says 'a command of several lines' '{.kind = LESSON_COMMAND, .close = 0, .indent = 0, .text = "cat >a <<END\n"
        "$ no command\n"
        "END", .printed = "", .predicts_word = 0}'
says 'a command that goes on, and what it prints' '{.kind = LESSON_COMMAND, .close = 1, .indent = 0, .text = "attn self \\\n"
        "    a", .printed = "one x^2\?\n"
        "\n"
        "end\n"
        "", .predicts_word = 0}'
says 'a text right behind a block' '{.kind = LESSON_TEXT, .close = 1, .indent = 0, .text = "right behind it"'
says 'an item' '{.kind = LESSON_TEXT, .close = 1, .indent = 7, .text = "first", .tag = "\002a\003"'
says 'an exercise' '.close = 0, .indent = 0, .text = "\002Exercise 1.1\003: do it.", .answer = &ANSWERS[0]'
says 'an exercise that asks for a number' '.text = "\002Exercise 1.2\003: do it.", .expected = "0.5", .answer = &ANSWERS[1]'
says 'a lesson' '{"One", PARTS + 1, 9},'
says 'answers' '{"", ANSWER_PARTS + 1, 1},'
says 'how many' 'const size_t LESSON_COUNT = 1;'
case $table in *Not\ shown*) check 'the text before the answers is not a lesson' false ;; *) check 'answers alone' true ;; esac

# A line of macros, and its text.
shown() { # LINE TEXT
    table=$(parts "$before" ".Pp
.$1
.Pp" "$question" "$command" "$exercises" "$between" "$answers")
    says ".$1" ".text = \"$2\","
}

shown 'Nm attn' '\001attn\003'
shown 'Nm attn ,' '\001attn\003,'
shown 'Fl \-init Cm rand' '\001--init\003 \001rand\003'
shown 'Fl d Ar N ,' '\001-d\003 \002N\003,'
shown 'Va W_query , W_key' '\002W_query\003, \002W_key\003'
shown 'Em two words' '\002two words\003'
shown 'Dq one ,' '\"one\",'
shown 'Dq Va one two )' '\"\002one two\003\")'
shown 'Ql "6 x 3"' "'6 x 3'"
shown 'Xr attn\-why 1 .' 'attn-why(1).'
shown 'Li ( a )' '(a)'
shown 'Sx LESSONS ;' '\002LESSONS\003;'

check 'a source that is refused leaves no table' [ "$(awk -f src/lesson/lessons.awk /dev/null 2>/dev/null)" = '' ]
check 'and fails the build' [ "$(awk -f src/lesson/lessons.awk /dev/null >/dev/null 2>&1; echo $?)" = 1 ]
finish
