/* SPDX-License-Identifier: MIT */
/* The grammar of JSON: what is taken and what is refused, where and in which words; the excerpt; the two rewrites.
 *
 * Every text stands in a block of exactly its size, so that the address sanitizer sees a read past its end. */
#include "base/text.h"
#include "check.h"
#include "read/json_syntax.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE = 0 }; /* a text without a NUL inside */

static const struct row {
    const char *text;
    size_t length; /* where a NUL stands inside, else WHOLE: up to the first NUL */
    const char *place, *message;
} rows[] = {
    /* Values. */
    {"null", WHOLE, NULL, NULL},
    {"true", WHOLE, NULL, NULL},
    {"false", WHOLE, NULL, NULL},
    {"\"\"", WHOLE, NULL, NULL},
    {"[]", WHOLE, NULL, NULL},
    {"{}", WHOLE, NULL, NULL},
    {" \t\r\n{ \t\r\n} \t\r\n", WHOLE, NULL, NULL},
    {"\n\n 1 \n", WHOLE, NULL, NULL},
    {"nul", WHOLE, "1:1", "expected a value, got 'nul'"},
    {"[tru]", WHOLE, "1:2", "expected a value or ']', got 'tru'"},
    {"true1", WHOLE, "1:1", "expected a value, got 'true1'"},
    {"truefalse", WHOLE, "1:1", "expected a value, got 'truefalse'"},
    {"[1, True]", WHOLE, "1:5", "expected a value after ',', got 'True'; JSON writes true"},
    {"FALSE", WHOLE, "1:1", "expected a value, got 'FALSE'; JSON writes false"},
    {"None", WHOLE, "1:1", "expected a value, got 'None'; JSON writes null"},
    {"Null", WHOLE, "1:1", "expected a value, got 'Null'; JSON writes null"},
    {"{\"a\": undefined}", WHOLE, "1:7", "expected a value after ':', got 'undefined'; JSON writes null"},
    {"nan", WHOLE, "1:1", "expected a value, got 'nan'; JSON has no NaN"},
    {"[1, NaN]", WHOLE, "1:5", "expected a value after ',', got 'NaN'; JSON has no NaN"},
    {"[Infinity]", WHOLE, "1:2", "expected a value or ']', got 'Infinity'; JSON has no infinity"},
    {"inf", WHOLE, "1:1", "expected a value, got 'inf'; JSON has no infinity"},
    {"abcdefghijklmnopqrst", WHOLE, "1:1", "expected a value, got 'abcdefghijklmnopqrst'"},
    {"abcdefghijklmnopqrstu", WHOLE, "1:1", "expected a value, got 'abcdefghijklmnopqrst...'"},
    {"_", WHOLE, "1:1", "expected a value, got '_'"},
    {"'a'", WHOLE, "1:1", "expected a value, got \"'\"; a string needs double quotes"},
    {"// a", WHOLE, "1:1", "expected a value, got '/'; JSON has no comments"},
    {"# a", WHOLE, "1:1", "expected a value, got '#'; JSON has no comments"},
    {"@", WHOLE, "1:1", "expected a value, got '@'"},
    {",", WHOLE, "1:1", "expected a value, got ','"},
    {"]", WHOLE, "1:1", "expected a value, got ']'"},
    {"}", WHOLE, "1:1", "expected a value, got '}'"},
    {":", WHOLE, "1:1", "expected a value, got ':'"},
    {"\x01", WHOLE, "1:1", "expected a value, got control character 0x01"},
    {"\x7f", WHOLE, "1:1", "expected a value, got control character 0x7f"},
    {"\x0c", WHOLE, "1:1", "expected a value, got control character 0x0c"},
    {"\x80", WHOLE, "1:1", "expected a value, got byte 0x80"},
    {"\xe2\x80\x9c", WHOLE, "1:1", "expected a value, got byte 0xe2"},
    {"\xc2\xa0"
     "1",
     WHOLE, "1:1", "expected a value, got byte 0xc2"},

    /* Nothing, and too much. */
    {"", WHOLE, "", "the input is empty; expected a JSON object"},
    {" \t\r\n", WHOLE, "", "the input is empty; expected a JSON object"},
    {"1 2", WHOLE, "1:3", "expected end of input, got text after the value: '2'"},
    {"[]\n\n  ]", WHOLE, "3:3", "expected end of input, got text after the value: ']'"},
    {"{}{}", WHOLE, "1:3", "expected end of input, got text after the value: '{'"},
    {"\"\"\"", WHOLE, "1:3", "expected end of input, got text after the value: '\"'"},
    {"0x10", WHOLE, "1:2", "expected end of input, got text after the value: 'x'"},
    {"null,", WHOLE, "1:5", "expected end of input, got text after the value: ','"},
    {"1 // a", WHOLE, "1:3", "expected end of input, got text after the value: '/'"},
    {"[] \xff", WHOLE, "1:4", "expected end of input, got text after the value: byte 0xff"},
    {"[]\x0b", WHOLE, "1:3", "expected end of input, got text after the value: control character 0x0b"},

    /* A NUL is a byte like another, not the end. */
    {"\0", 1, "1:1", "expected a value, got control character 0x00"},
    {"\0{}", 3, "1:1", "expected a value, got control character 0x00"},
    {"{}\0", 3, "1:3", "expected end of input, got text after the value: control character 0x00"},
    {"{}\n\0{}", 6, "2:1", "expected end of input, got text after the value: control character 0x00"},
    {"[1\0]", 4, "1:3", "expected ',' or ']', got control character 0x00"},
    {"[1,\0]", 5, "1:4", "expected a value after ',', got control character 0x00"},
    {"true\0", 5, "1:5", "expected end of input, got text after the value: control character 0x00"},
    {"-\0", 2, "1:2", "expected a digit after '-', got control character 0x00"},
    {"{\"a\"\0:1}", 8, "1:5", "expected ':' after the key, got control character 0x00"},
    {"\"a\0b\"", 5, "1:3", "expected '\"' or an escape like \\n, got control character 0x00"},
    {"\"\\\0\"", 4, "1:3", "expected one of \" \\ / b f n r t u after '\\', got control character 0x00"},
    {"\"\\u00\0\"", 7, "1:6", "expected a hexadecimal digit, got control character 0x00"},

    /* Byte order marks. */
    {"\xef\xbb\xbf{}", WHOLE, "1:1", "expected a value, got a byte order mark; save the text as UTF-8 without it"},
    {"\xef\xbb\xbf", WHOLE, "1:1", "expected a value, got a byte order mark; save the text as UTF-8 without it"},
    {"\xff\xfe{\0}\0", 6, "1:1", "expected a value, got a byte order mark; save the text as UTF-8 without it"},
    {"\xfe\xff\0{\0}", 6, "1:1", "expected a value, got a byte order mark; save the text as UTF-8 without it"},
    {" \xef\xbb\xbf{}", WHOLE, "1:2", "expected a value, got byte 0xef"},
    {"\xef\xbb", WHOLE, "1:1", "expected a value, got byte 0xef"},
    {"{}\xef\xbb\xbf", WHOLE, "1:3", "expected end of input, got text after the value: byte 0xef"},
    {"\"\xef\xbb\xbf\"", WHOLE, NULL, NULL},

    /* Numbers. */
    {"0", WHOLE, NULL, NULL},
    {"-0", WHOLE, NULL, NULL},
    {"7", WHOLE, NULL, NULL},
    {"1234567890", WHOLE, NULL, NULL},
    {"0.5", WHOLE, NULL, NULL},
    {"-0.015625", WHOLE, NULL, NULL},
    {"10.0100", WHOLE, NULL, NULL},
    {"0e0", WHOLE, NULL, NULL},
    {"1e5", WHOLE, NULL, NULL},
    {"1E+05", WHOLE, NULL, NULL},
    {"-12.5e-300", WHOLE, NULL, NULL},
    {"1e999999", WHOLE, NULL, NULL},
    {"[0,-0,1.5,2e1]", WHOLE, NULL, NULL},
    {"-", WHOLE, "1:2", "expected a digit after '-', got end of input"},
    {"[-]", WHOLE, "1:3", "expected a digit after '-', got ']'"},
    {"--1", WHOLE, "1:2", "expected a digit after '-', got '-'"},
    {"- 1", WHOLE, "1:2", "expected a digit after '-', got ' '"},
    {"-.5", WHOLE, "1:2", "expected a digit after '-', got '.'"},
    {"[-Infinity]", WHOLE, "1:3", "expected a digit after '-', got 'I'"},
    {"+1", WHOLE, "1:1", "expected a value, got '+'; a number begins with a digit or '-'"},
    {".5", WHOLE, "1:1", "expected a value, got '.'; a number begins with a digit or '-'"},
    {"01", WHOLE, "1:2", "expected no digit after a leading 0, got '1'"},
    {"-00", WHOLE, "1:3", "expected no digit after a leading 0, got '0'"},
    {"[1,007]", WHOLE, "1:5", "expected no digit after a leading 0, got '0'"},
    {"2.", WHOLE, "1:3", "expected a digit after '.', got end of input"},
    {"[2.]", WHOLE, "1:4", "expected a digit after '.', got ']'"},
    {"2.e1", WHOLE, "1:3", "expected a digit after '.', got 'e'"},
    {"1..2", WHOLE, "1:3", "expected a digit after '.', got '.'"},
    {"1e", WHOLE, "1:3", "expected a digit in the exponent, got end of input"},
    {"1e+", WHOLE, "1:4", "expected a digit in the exponent, got end of input"},
    {"1e+-2", WHOLE, "1:4", "expected a digit in the exponent, got '-'"},
    {"[1E]", WHOLE, "1:4", "expected a digit in the exponent, got ']'"},
    {"1ee2", WHOLE, "1:3", "expected a digit in the exponent, got 'e'"},
    {"1e1.5", WHOLE, "1:4", "expected end of input, got text after the value: '.'"},
    {"[1.5.2]", WHOLE, "1:5", "expected ',' or ']', got '.'"},
    {"[1_000]", WHOLE, "1:3", "expected ',' or ']', got '_'"},
    {"[1 000]", WHOLE, "1:4", "expected ',' or ']', got '0'"},
    {"[1-2]", WHOLE, "1:3", "expected ',' or ']', got '-'"},
    {"[1f]", WHOLE, "1:3", "expected ',' or ']', got 'f'"},
    {"0e00e", WHOLE, "1:5", "expected end of input, got text after the value: 'e'"},
    {"1\xd9\xa1", WHOLE, "1:2", "expected end of input, got text after the value: byte 0xd9"},

    /* Strings and escapes. */
    {"\"a b\"", WHOLE, NULL, NULL},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", WHOLE, NULL, NULL},
    {"\"\\u0041\\u00e9\\uABCD\\uabcd\\uffff\"", WHOLE, NULL, NULL},
    {"\"\\ud83d\\ude00\\uDBFF\\uDFFF\"", WHOLE, NULL, NULL},
    {"\"\\\\ud800\"", WHOLE, NULL, NULL},
    {"\"\\ud7ff\\ue000\"", WHOLE, NULL, NULL},
    {"\"\x7f // [{'\"", WHOLE, NULL, NULL},
    {"\"", WHOLE, "1:2", "expected '\"' at the end of the string, got end of input"},
    {"\"a  ", WHOLE, "1:5", "expected '\"' at the end of the string, got end of input"},
    {"[\"a\n\"]", WHOLE, "1:4", "expected '\"' or an escape like \\n, got control character 0x0a"},
    {"[\"a\r\n\"]", WHOLE, "1:4", "expected '\"' or an escape like \\n, got control character 0x0d"},
    {"\"\t\"", WHOLE, "1:2", "expected '\"' or an escape like \\n, got control character 0x09"},
    {"\"\x1f\"", WHOLE, "1:2", "expected '\"' or an escape like \\n, got control character 0x1f"},
    {"\"\\", WHOLE, "1:3", "expected one of \" \\ / b f n r t u after '\\', got end of input"},
    {"\"\\x41\"", WHOLE, "1:3", "expected one of \" \\ / b f n r t u after '\\', got 'x'"},
    {"\"\\'\"", WHOLE, "1:3", "expected one of \" \\ / b f n r t u after '\\', got \"'\""},
    {"\"\\N\"", WHOLE, "1:3", "expected one of \" \\ / b f n r t u after '\\', got 'N'"},
    {"\"\\\n\"", WHOLE, "1:3", "expected one of \" \\ / b f n r t u after '\\', got control character 0x0a"},
    {"\"\\\xff\"", WHOLE, "1:3", "expected one of \" \\ / b f n r t u after '\\', got byte 0xff"},
    {"\"\\U0041\"", WHOLE, "1:3", "expected one of \" \\ / b f n r t u after '\\', got 'U'"},
    {"\"\\u", WHOLE, "1:4", "expected a hexadecimal digit, got end of input"},
    {"\"\\u00G0\"", WHOLE, "1:6", "expected a hexadecimal digit, got 'G'"},
    {"\"\\u004\"", WHOLE, "1:7", "expected a hexadecimal digit, got '\"'"},
    {"\"\\u 041\"", WHOLE, "1:4", "expected a hexadecimal digit, got ' '"},
    {"\"\\u+041\"", WHOLE, "1:4", "expected a hexadecimal digit, got '+'"},
    {"\"\\u00`0\"", WHOLE, "1:6", "expected a hexadecimal digit, got '`'"},
    {"\"\\u00@0\"", WHOLE, "1:6", "expected a hexadecimal digit, got '@'"},
    {"\"\\u00g0\"", WHOLE, "1:6", "expected a hexadecimal digit, got 'g'"},
    {"\"\\ud800\"", WHOLE, "1:2", "expected a low surrogate, \\udc00 to \\udfff, after \\ud800"},
    {"\"a\\uDBFFb\"", WHOLE, "1:3", "expected a low surrogate, \\udc00 to \\udfff, after \\uDBFF"},
    {"\"\\ud800\\n\"", WHOLE, "1:2", "expected a low surrogate, \\udc00 to \\udfff, after \\ud800"},
    {"\"\\ud800\\u0041\"", WHOLE, "1:2", "expected a low surrogate, \\udc00 to \\udfff, after \\ud800"},
    {"\"\\ud800\\ud800\"", WHOLE, "1:2", "expected a low surrogate, \\udc00 to \\udfff, after \\ud800"},
    {"\"\\ud800\\ue000\"", WHOLE, "1:2", "expected a low surrogate, \\udc00 to \\udfff, after \\ud800"},
    {"\"\\ud800\\udc\"", WHOLE, "1:2", "expected a low surrogate, \\udc00 to \\udfff, after \\ud800"},
    {"\"\\ud800", WHOLE, "1:2", "expected a low surrogate, \\udc00 to \\udfff, after \\ud800"},
    {"\"\\udc00\"", WHOLE, "1:2", "expected a high surrogate, \\ud800 to \\udbff, before \\udc00"},
    {"\"\\ud83d\\ude00\\udfff\"", WHOLE, "1:14", "expected a high surrogate, \\ud800 to \\udbff, before \\udfff"},

    /* UTF-8: the ends of each range of RFC 3629, and what lies beyond them. */
    {"\"\xc2\x80\xdf\xbf\"", WHOLE, NULL, NULL},
    {"\"\xe0\xa0\x80\xe0\xbf\xbf\xe1\x80\x80\xec\xbf\xbf\"", WHOLE, NULL, NULL},
    {"\"\xed\x80\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\"", WHOLE, NULL, NULL},
    {"\"\xf0\x90\x80\x80\xf0\xbf\xbf\xbf\xf1\x80\x80\x80\"", WHOLE, NULL, NULL},
    {"\"\xf3\xbf\xbf\xbf\xf4\x80\x80\x80\xf4\x8f\xbf\xbf\"", WHOLE, NULL, NULL},
    {"{\"\xc3\xa9\":\"\xe6\x97\xa5\xe6\x9c\xac\"}", WHOLE, NULL, NULL},
    {"\"\x80\"", WHOLE, "1:2", "expected UTF-8, got byte 0x80"},
    {"\"a\xbf\"", WHOLE, "1:3", "expected UTF-8, got byte 0xbf"},
    {"\"\xc0\x80\"", WHOLE, "1:2", "expected UTF-8, got byte 0xc0"},
    {"\"\xc1\xbf\"", WHOLE, "1:2", "expected UTF-8, got byte 0xc1"},
    {"\"\xc3\"", WHOLE, "1:2", "expected UTF-8, got byte 0xc3"},
    {"\"\xc3", WHOLE, "1:2", "expected UTF-8, got byte 0xc3"},
    {"\"\xc3\xc3\xa9\"", WHOLE, "1:2", "expected UTF-8, got byte 0xc3"},
    {"\"caf\xe9\"", WHOLE, "1:5", "expected UTF-8, got byte 0xe9"},
    {"\"\xe0\x9f\xbf\"", WHOLE, "1:2", "expected UTF-8, got byte 0xe0"},
    {"\"\xe2\x82\"", WHOLE, "1:2", "expected UTF-8, got byte 0xe2"},
    {"\"\xe2\x82", WHOLE, "1:2", "expected UTF-8, got byte 0xe2"},
    {"\"\xed\xa0\x80\"", WHOLE, "1:2", "expected UTF-8, got byte 0xed"},
    {"\"\xed\xbf\xbf\"", WHOLE, "1:2", "expected UTF-8, got byte 0xed"},
    {"\"\xf0\x8f\xbf\xbf\"", WHOLE, "1:2", "expected UTF-8, got byte 0xf0"},
    {"\"\xf0\x9f\x98\"", WHOLE, "1:2", "expected UTF-8, got byte 0xf0"},
    {"\"\xf4\x90\x80\x80\"", WHOLE, "1:2", "expected UTF-8, got byte 0xf4"},
    {"\"\xf5\x80\x80\x80\"", WHOLE, "1:2", "expected UTF-8, got byte 0xf5"},
    {"\"\xf8\x88\x80\x80\x80\"", WHOLE, "1:2", "expected UTF-8, got byte 0xf8"},
    {"\"\xff\"", WHOLE, "1:2", "expected UTF-8, got byte 0xff"},
    {"\"\xc3\xa9\xf0\x9f\x98\x80\xff\"", WHOLE, "1:4", "expected UTF-8, got byte 0xff"},
    {"[\"\xe6\x97\xa5\" 1]", WHOLE, "1:6", "expected ',' or ']', got '1'"},

    /* Arrays. */
    {"[1]", WHOLE, NULL, NULL},
    {"[ 1 , 2\n,\t3 ]", WHOLE, NULL, NULL},
    {"[[],[[]],{},\"\",null]", WHOLE, NULL, NULL},
    {"[[0.43, 0.15, 0.89],\r\n [0.55, 0.87, 0.66]]\r\n", WHOLE, NULL, NULL},
    {"[", WHOLE, "1:2", "expected a value or ']', got end of input"},
    {"[,1]", WHOLE, "1:2", "expected a value or ']', got ','"},
    {"[}", WHOLE, "1:2", "expected a value or ']', got '}'"},
    {"[1", WHOLE, "1:3", "expected ',' or ']', got end of input"},
    {"[1,", WHOLE, "1:4", "expected a value after ',', got end of input"},
    {"[1,]", WHOLE, "1:4", "expected a value after ',', got ']'"},
    {"[1,,2]", WHOLE, "1:4", "expected a value after ',', got ','"},
    {"[1}", WHOLE, "1:3", "expected ',' or ']', got '}'"},
    {"[1;2]", WHOLE, "1:3", "expected ',' or ']', got ';'"},
    {"[1:2]", WHOLE, "1:3", "expected ',' or ']', got ':'"},
    {"[\"a\" \"b\"]", WHOLE, "1:6", "expected ',' or ']', got '\"'"},
    {"[[1][2]]", WHOLE, "1:5", "expected ',' or ']', got '['"},
    {"[1\x08]", WHOLE, "1:3", "expected ',' or ']', got control character 0x08"},
    {"[1,\n 2,\n 3 4]", WHOLE, "3:4", "expected ',' or ']', got '4'"},
    {"[1,\r\n 2 3]\r\n", WHOLE, "2:4", "expected ',' or ']', got '3'"},
    {"[1,\r 2 3]", WHOLE, "1:8", "expected ',' or ']', got '3'"},
    {"[1, 2\n", WHOLE, "1:6", "expected ',' or ']', got end of input"},
    {"[1,\n2\r\n \n\n", WHOLE, "2:2", "expected ',' or ']', got end of input"},
    {"[1, 2  ", WHOLE, "1:8", "expected ',' or ']', got end of input"},

    /* Objects. */
    {"{\"a\":1}", WHOLE, NULL, NULL},
    {"{ \"a\" : 1 , \"b\" : [ ] }", WHOLE, NULL, NULL},
    {"{\"\":{\"\":{}},\"a\":1,\"a\":2}", WHOLE, NULL, NULL},
    {"{", WHOLE, "1:2", "expected a key in double quotes or '}', got end of input"},
    {"{]", WHOLE, "1:2", "expected a key in double quotes or '}', got ']'"},
    {"{,}", WHOLE, "1:2", "expected a key in double quotes or '}', got ','"},
    {"{1:2}", WHOLE, "1:2", "expected a key in double quotes or '}', got '1'"},
    {"{a:1}", WHOLE, "1:2", "expected a key in double quotes or '}', got 'a'"},
    {"{'a':1}", WHOLE, "1:2", "expected a key in double quotes or '}', got \"'\""},
    {"{\"a\"", WHOLE, "1:5", "expected ':' after the key, got end of input"},
    {"{\"a\"}", WHOLE, "1:5", "expected ':' after the key, got '}'"},
    {"{\"a\" 1}", WHOLE, "1:6", "expected ':' after the key, got '1'"},
    {"{\"a\"=1}", WHOLE, "1:5", "expected ':' after the key, got '='"},
    {"{\"a\":", WHOLE, "1:6", "expected a value after ':', got end of input"},
    {"{\"a\":}", WHOLE, "1:6", "expected a value after ':', got '}'"},
    {"{\"a\"::1}", WHOLE, "1:6", "expected a value after ':', got ':'"},
    {"{\"a\":1", WHOLE, "1:7", "expected ',' or '}', got end of input"},
    {"{\"a\":1]", WHOLE, "1:7", "expected ',' or '}', got ']'"},
    {"{\"a\":1 \"b\":2}", WHOLE, "1:8", "expected ',' or '}', got '\"'"},
    {"{\"a\":1,", WHOLE, "1:8", "expected a key in double quotes after ',', got end of input"},
    {"{\"a\":1,}", WHOLE, "1:8", "expected a key in double quotes after ',', got '}'"},
    {"{\"a\":1,,}", WHOLE, "1:8", "expected a key in double quotes after ',', got ','"},
    {"{\"a\n\":1}", WHOLE, "1:4", "expected '\"' or an escape like \\n, got control character 0x0a"},
    {"{\"a\xff\":1}", WHOLE, "1:4", "expected UTF-8, got byte 0xff"},
    {"{\"a\":[1,{\"b\":2]}}", WHOLE, "1:15", "expected ',' or '}', got ']'"},
    {"{\n\t\"a\": 1\n\t\"b\": 2\n}", WHOLE, "3:2", "expected ',' or '}', got '\"'"},
};

#define TIMES_9(text) text text text text text text text text text
#define TIMES_10(text) TIMES_9(text) text
#define SIXTEEN(text) TIMES_9(text) text text text text text text text
#define TIMES_100(text) TIMES_10(TIMES_10(text))
#define E_ACUTE "\xc3\xa9"
#define EMOJI "\xf0\x9f\x98\x80"
#define TEN "12345678, "
#define FOUR_BLANKS "    "

/* Whole details. A clipped line has 72 columns, the ellipses included, and the caret beneath the 37th of them unless
 * an end of the line is near. */
static const struct {
    const char *name, *text, *detail;
} excerpts[] = {
    {"the first column", "nul", "    nul\n    ^\n"},
    {"the end of a line without newline", "[1", "    [1\n      ^\n"},
    {"the end of a line with newline", "[1\n", "    [1\n      ^\n"},
    {"before blank lines", "[1,\n  2\n\n \n", "      2\n       ^\n"},
    {"trailing blanks", "[1  ", "    [1  \n        ^\n"},
    {"the line in the middle", "[1,\n 2 3,\n 4]\n", "     2 3,\n       ^\n"},
    {"the last line without newline", "[1,\n2 3", "    2 3\n      ^\n"},
    {"CRLF", "[1,\r\n2 3,\r\n4]\r\n", "    2 3,\n      ^\n"},
    {"a string broken by CRLF", "[\"a\r\n\"]", "    [\"a\n       ^\n"},
    {"a carriage return alone", "[1,\r2 3]", "    [1,?2 3]\n          ^\n"},
    {"tabs", "\t[\t1\t2]", "     [ 1 2]\n         ^\n"},
    {"characters of 2 and 4 bytes", "[\"" E_ACUTE EMOJI "\" 1, \"" E_ACUTE "\"]",
     "    [\"" E_ACUTE EMOJI "\" 1, \"" E_ACUTE "\"]\n           ^\n"},
    {"invalid bytes, one column each", "[\"\xff\xe2\x82\"]", "    [\"???\"]\n      ^\n"},
    {"control characters", "[\"\x7f\", \x01 2, \x1b[0m]", "    [\"?\", ? 2, ?[0m]\n          ^\n"},
    {"control characters of two bytes", "[\"\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0\" 1]",
     "    [\"???\xc2\xa0\" 1]\n            ^\n"},
    {"72 columns are whole", "[x" TIMES_10("0123456"), "    [x" TIMES_10("0123456") "\n     ^\n"},
    {"73 columns are clipped", "[x" TIMES_10("0123456") "7", "    [x" TIMES_9("0123456") "0123...\n     ^\n"},
    {"72 columns and the end are clipped", "[1" TIMES_10("0123456"),
     "    ...23456" TIMES_9("0123456") "\n" FOUR_BLANKS TIMES_10("       ") " ^\n"},
    {"clipped left, the place near the end", "[" TIMES_10(TEN) "x]",
     "    ...45678, " TEN TEN TEN TEN TEN TEN "x]\n" FOUR_BLANKS TIMES_10("       ") "^\n"},
    {"clipped left, the place at the end", "[" TIMES_10(TEN),
     "    ...345678, " TEN TEN TEN TEN TEN TEN "\n" FOUR_BLANKS TIMES_10("       ") " ^\n"},
    {"clipped right, the place in column 37", "[" TEN TEN TEN "12345x" TIMES_10(TEN),
     "    [" TEN TEN TEN "12345x" TEN TEN TEN "12...\n" FOUR_BLANKS TIMES_9("    ") "^\n"},
    {"clipped left from column 38 on", "[" TEN TEN TEN "123456x" TIMES_10(TEN),
     "    ...45678, " TEN TEN "123456x" TEN TEN TEN "12...\n" FOUR_BLANKS TIMES_9("    ") "^\n"},
    {"clipped left and right", "[" TIMES_10(TEN) "x, " TIMES_10(TEN) "1]",
     "    ...8, " TEN TEN TEN "x, " TEN TEN TEN "...\n" FOUR_BLANKS TIMES_9("    ") "^\n"},
    {"clipped in the third line", "[\n1,\n" TIMES_10(TEN) "1 x, " TIMES_10(TEN) "\n1]",
     "    ... " TEN TEN TEN "1 x, " TEN TEN TEN "...\n" FOUR_BLANKS TIMES_9("    ") "^\n"},
    {"clipped among characters of 4 bytes", "[\"" TIMES_100(EMOJI) "\xff" TIMES_100(EMOJI) "\"]",
     "    ..." TIMES_10(EMOJI EMOJI EMOJI) EMOJI EMOJI EMOJI "?" TIMES_10(EMOJI EMOJI EMOJI) EMOJI EMOJI
     "...\n" FOUR_BLANKS TIMES_9("    ") TIMES_10("   ") "   ^\n"},
    {"clipped among characters of 2 bytes", "[\"" TIMES_100(E_ACUTE) "\" x]",
     "    ..." TIMES_10(E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE) E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE
     "\" x]\n" FOUR_BLANKS TIMES_10("      ") TIMES_10(" ") "^\n"},
};

/* NULL: stays as it is. The blanks after a number make up for its length and are not written here. */
static const struct {
    const char *name, *before, *after;
} rewrites[] = {
    {"63 characters", "0." TIMES_10("123456") "1", NULL},
    {"64 characters", "0." TIMES_10("123456") "12", "0.12345612345612346"},
    {"a sign is a character", "-0." TIMES_10("123456") "1", "-0.12345612345612346"},
    {"the last digit breaks a tie", "1.00000000000000011102230246251565404236316680908203125000000000001",
     "1.0000000000000002"},
    {"an integer", "1" TIMES_100("0"), "1e+100"},
    {"an exponent", TIMES_10("1234567") "." TIMES_10("1234567") "e-300", "1.2345671234567124e-231"},
    {"the longest double", "-1.7976931348623157" TIMES_10("000000") "e308", "-1.7976931348623157e+308"},
    {"overflow", "1" TIMES_10(TIMES_100("0")), "1e999"},
    {"overflow below", "-1" TIMES_10(TIMES_100("0")), "-1e999"},
    {"underflow", "0." TIMES_10(TIMES_100("0")) "1", "0"},
    {"negative zero", "-0." TIMES_10(TIMES_10("0")), "-0"},
    {"a NUL", "\"\\u0000\"", "\"\\ufffd\""},
    {"NULs among others", "\"a\\u0000\\\\u0000\\u0000\\u0001\"", "\"a\\ufffd\\\\u0000\\ufffd\\u0001\""},
    {"a NUL in a key", "{\"a\\u0000\":1}", "{\"a\\ufffd\":1}"},
    {"a backslash before u0000", "\"\\\\u0000\"", NULL},
    {"a long string", "\"0." TIMES_100("0") "\"", NULL},
    {"16 levels", SIXTEEN("[") SIXTEEN("]"), NULL},
    {"a 17th level that is empty", SIXTEEN("[") "[]" SIXTEEN("]"), NULL},
    {"a 17th level and more", SIXTEEN("[") "[1,{\"a\":[]}],{\"b\":\"\\u0000]\"},3" SIXTEEN("]"),
     SIXTEEN("[") "[          ],{             },3" SIXTEEN("]")},
    {"objects", SIXTEEN("{\"a\":") "{\"b\" : {\"c\":1} }" SIXTEEN("}"),
     SIXTEEN("{\"a\":") "{              }" SIXTEEN("}")},
};

struct outcome {
    enum status status;
    struct error error;
    char *text; /* to be freed */
};

static struct outcome run(const char *text, size_t length)
{
    struct outcome outcome = {.text = malloc(length + 1)};
    if (!outcome.text)
        abort();
    memcpy(outcome.text, text, length);
    outcome.text[length] = '\0';
    outcome.status = json_syntax("t.json", outcome.text, length, NULL, &outcome.error);
    return outcome;
}

static size_t length_of(const struct row *row)
{
    return row->length == WHOLE ? strlen(row->text) : row->length;
}

/* The characters of a line of valid UTF-8 without control characters that ends in '\n', and the columns that they take;
 * -1 where it is none. */
static int characters_of(const char *line, int *columns)
{
    int characters = 0;
    *columns = 0;
    for (; *line != '\n'; characters++) {
        if (text_character(line) == 0 || (unsigned char)*line < 0x20 || *line == 0x7f)
            return -1;
        *columns += (int)text_width(text_next(&line));
    }
    return characters;
}

/* A refusal has a message of one line, and an excerpt of two lines whose caret stands no further than one past it. */
static void check_shape(const struct outcome *outcome)
{
    const char *detail = outcome->error.detail;
    if (!CHECK(strncmp(outcome->error.message, "t.json:", 7) == 0, "message: %s", outcome->error.message))
        return;
    if (strstr(outcome->error.message, "empty"))
        return;
    const char *end = memchr(detail, '\0', sizeof outcome->error.detail);
    const char *caret = strchr(detail, '\n');
    if (!CHECK(end && caret, "detail: %.80s", detail))
        return;
    int columns, characters = characters_of(detail, &columns);
    int blanks = (int)strspn(++caret, " ");
    CHECK(strncmp(detail, "    ", 4) == 0 && characters >= 4 && characters <= 4 + 72, "characters: %d:\n%s", characters,
          detail);
    CHECK(blanks >= 4 && blanks <= columns && strcmp(caret + blanks, "^\n") == 0, "caret: %d:\n%s", blanks, detail);
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        check_begin("row %zu: %s", i + 1, row->text);
        struct outcome outcome = run(row->text, length_of(row));
        if (!row->message) {
            CHECK(outcome.status == STATUS_OK, "refused: %s", outcome.error.message);
        } else {
            char expected[256];
            const char *colon = *row->place ? ":" : "";
            snprintf(expected, sizeof expected, "t.json%s%s: %s", colon, row->place, row->message);
            CHECK(outcome.status == STATUS_USAGE, "status %d", (int)outcome.status);
            CHECK_TEXT(expected, outcome.error.message);
            check_shape(&outcome);
        }
        free(outcome.text);
    }
}

/* A beginning of a valid text is valid where only white space is missing, and where it is a number that ends in a
 * digit. */
static bool is_whole(const char *text, size_t cut)
{
    if (strspn(text + cut, " \t\r\n") == strlen(text + cut))
        return true;
    size_t blanks = strspn(text, " \t\r\n");
    return cut > blanks && (text[blanks] == '-' || (text[blanks] >= '0' && text[blanks] <= '9')) &&
           text[cut - 1] >= '0' && text[cut - 1] <= '9';
}

static void test_truncated(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].message)
            continue;
        check_begin("truncated row %zu: %s", i + 1, rows[i].text);
        for (size_t cut = 0; cut < strlen(rows[i].text); cut++) {
            struct outcome outcome = run(rows[i].text, cut);
            if (is_whole(rows[i].text, cut)) {
                CHECK(outcome.status == STATUS_OK, "at %zu: %s", cut, outcome.error.message);
            } else {
                CHECK(outcome.status == STATUS_USAGE, "taken at %zu", cut);
                check_shape(&outcome);
            }
            free(outcome.text);
        }
    }
}

/* Each byte replaced by each of 256: whatever comes of it, nothing is read out of bounds and a refusal has its shape. */
static void test_replaced(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = length_of(&rows[i]);
        if (rows[i].message || length > 40)
            continue;
        check_begin("row %zu with one byte replaced: %s", i + 1, rows[i].text);
        char text[40];
        for (size_t at = 0; at < length; at++) {
            for (int byte = 0; byte < 256; byte++) {
                memcpy(text, rows[i].text, length);
                text[at] = (char)byte;
                struct outcome outcome = run(text, length);
                if (outcome.status != STATUS_OK)
                    check_shape(&outcome);
                free(outcome.text);
            }
        }
    }
}

/* The text opening x count, middle, closing x count; expected: place and message, or NULL for a valid text. */
static void check_nested(const char *opening, const char *middle, const char *closing, size_t count,
                         const char *expected)
{
    check_begin("%zu times %s", count, opening);
    char *text = malloc(count * (strlen(opening) + strlen(closing)) + strlen(middle) + 1);
    if (!text)
        abort();
    char *end = text;
    for (size_t i = 0; i < count; i++)
        end = stpcpy(end, opening);
    end = stpcpy(end, middle);
    for (size_t i = 0; i < count; i++)
        end = stpcpy(end, closing);
    struct outcome outcome = run(text, (size_t)(end - text));
    CHECK((outcome.status == STATUS_OK) == (expected == NULL), "status %d", (int)outcome.status);
    if (expected) {
        CHECK_TEXT(expected, outcome.error.message);
        check_shape(&outcome);
    }
    free(outcome.text);
    free(text);
}

static void test_depth(void)
{
#define TOO_DEEP ": arrays and objects are nested deeper than 1000"
    check_nested("[", "", "]", 1000, NULL);
    check_nested("[", "1", "]", 1000, NULL);
    check_nested("[", "", "]", 1001, "t.json:1:1001" TOO_DEEP);
    check_nested("[", "", "", 1000, "t.json:1:1001: expected a value or ']', got end of input");
    check_nested("[", "", "", 50000, "t.json:1:1001" TOO_DEEP);
    check_nested("[\n", "", "]", 1001, "t.json:1001:1" TOO_DEEP);
    check_nested("{\"a\":", "1", "}", 1000, NULL);
    check_nested("{\"a\":", "1", "}", 1001, "t.json:1:5001" TOO_DEEP);
    check_nested("{\"a\":", "", "", 50000, "t.json:1:5001" TOO_DEEP);
    check_nested("[{\"a\":", "[]", "}]", 499, NULL);
    check_nested("[{\"a\":", "null", "}]", 500, NULL);
    check_nested("[{\"a\":", "{}", "}]", 500, "t.json:1:3001" TOO_DEEP);
    check_nested("[{\"a\":", "", "}]", 25000, "t.json:1:3001" TOO_DEEP);
    check_nested("[[],{},", "1", "]", 999, NULL);
    check_nested("[[],{},", "1", "]", 1000, "t.json:1:6995" TOO_DEEP);
#undef TOO_DEEP
}

static void test_excerpts(void)
{
    for (size_t i = 0; i < sizeof excerpts / sizeof excerpts[0]; i++) {
        check_begin("excerpt: %s", excerpts[i].name);
        struct outcome outcome = run(excerpts[i].text, strlen(excerpts[i].text));
        CHECK(outcome.status == STATUS_USAGE, "status %d", (int)outcome.status);
        CHECK_TEXT(excerpts[i].detail, outcome.error.detail);
        free(outcome.text);
    }
}

/* The place slides along a line of one long string, whose characters have 1 to 4 bytes in turn. */
static void test_sliding_place(void)
{
    static const char *const characters[] = {"a", E_ACUTE, "\xe6\x97\xa5", EMOJI};
    check_begin("the caret beneath the place in a line of 150 columns");
    for (size_t place = 0; place < 150; place++) {
        char text[4 * 150 + 2];
        char *end = stpcpy(text, "\"");
        for (size_t i = 0; i < 150; i++)
            end = stpcpy(end, i == place ? "\x01" : characters[i % 4]);
        struct outcome outcome = run(text, (size_t)(end - text));
        char expected[64];
        snprintf(expected, sizeof expected, "t.json:1:%zu: ", place + 2);
        CHECK(strncmp(outcome.error.message, expected, strlen(expected)) == 0, "%s", outcome.error.message);
        check_shape(&outcome);
        const char *caret = strchr(outcome.error.detail, '^');
        const char *mark = strchr(outcome.error.detail, '?');
        const char *newline = strchr(outcome.error.detail, '\n');
        int whole, from_mark;
        characters_of(outcome.error.detail, &whole);
        characters_of(mark, &from_mark);
        CHECK(caret - newline - 1 == whole - from_mark, "place %zu:\n%s", place, outcome.error.detail);
        free(outcome.text);
    }
}

static void test_rewrites(void)
{
    for (size_t i = 0; i < sizeof rewrites / sizeof rewrites[0]; i++) {
        const char *before = rewrites[i].before;
        check_begin("rewrite: %s", rewrites[i].name);
        size_t length = strlen(before);
        struct outcome outcome = run(before, length);
        CHECK(outcome.status == STATUS_OK, "refused: %s", outcome.error.message);
        char *expected = malloc(length + 1);
        if (!expected)
            abort();
        snprintf(expected, length + 1, "%-*s", (int)length, rewrites[i].after ? rewrites[i].after : before);
        CHECK_TEXT(expected, outcome.text);
        CHECK(strtod(before, NULL) <= strtod(outcome.text, NULL) && strtod(before, NULL) >= strtod(outcome.text, NULL),
              "%s is another number", outcome.text);
        free(expected);
        free(outcome.text);
    }
}

static void test_rewrites_in_place(void)
{
    check_begin("what stands around a rewritten number stays");
    const char *text = "{\"k\\u0000\":[1,-0." TIMES_100("3") ",{\"a\":2}, \"\\u0000\"]}\n";
    struct outcome outcome = run(text, strlen(text));
    CHECK_TEXT("{\"k\\ufffd\":[1,-0.33333333333333331" TIMES_9("         ") "  ,{\"a\":2}, \"\\ufffd\"]}\n",
               outcome.text);
    struct outcome again = run(outcome.text, strlen(outcome.text));
    CHECK(again.status == STATUS_OK, "refused: %s", again.error.message);
    CHECK_TEXT(outcome.text, again.text);
    free(again.text);
    free(outcome.text);

    check_begin("a refused text stays as it came, in its excerpt too");
    text = "[\"\\u0000\", 0." TIMES_10("123456") "12, x]";
    outcome = run(text, strlen(text));
    CHECK(outcome.status == STATUS_USAGE, "status %d", (int)outcome.status);
    CHECK_TEXT(text, outcome.text);
    CHECK(strstr(outcome.error.detail, "12345612, x]\n"), "%s", outcome.error.detail);
    free(outcome.text);
}

static void test_source(void)
{
    check_begin("a source without end is cut with its message");
    char source[2000], text[] = "[1 2]";
    memset(source, 's', sizeof source - 1);
    source[sizeof source - 1] = '\0';
    struct error error = {0};
    CHECK(json_syntax(source, text, strlen(text), NULL, &error) == STATUS_USAGE, "taken");
    CHECK(strlen(error.message) == sizeof error.message - 1, "%zu", strlen(error.message));
    CHECK_TEXT("    [1 2]\n       ^\n", error.detail);
}

int main(void)
{
    test_rows();
    test_truncated();
    test_replaced();
    test_depth();
    test_excerpts();
    test_sliding_place();
    test_rewrites();
    test_rewrites_in_place();
    test_source();
    return check_end();
}
