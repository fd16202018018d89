/* SPDX-License-Identifier: MIT */
/* JSON, written piece by piece: commas, nesting, escapes.
 *
 * A member of an object has a key, an element of a list the key NULL. Two of them have ", " between them. */
#pragma once

#include "base/output.h"

struct json {
    struct output *output;
    bool compact;   /* no blanks */
    bool lines;     /* a line for each member of the outermost object */
    bool script;    /* it goes into a script of a page: '<', '>' and '&' are escaped */
    bool begun;     /* the innermost list or object is not empty */
    size_t depth;   /* lists and objects that are open, at most 64, */
    uint64_t lists; /* and which of them are lists: a bit each, the innermost lowest */
};

/* Writes the comma and the key before a value, which the caller writes next; the functions below write both. */
void json_key(struct json *json, const char *key);

/* Opens a list or an object, by '[' or '{'; closes the innermost; closes all, and ends the line. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json);
void json_end(struct json *json);

/* Opens a document: the object with "attn" (the version) and "format". */
void json_begin(struct json *json);

/* Starts an indented line for the next piece; json_break does only where another piece precedes it. */
void json_line(struct json *json, int indent);
void json_break(struct json *json, int indent);

/* A text of valid UTF-8, or null for NULL; characters that act on a terminal or are invisible are escaped. */
void json_text(struct json *json, const char *key, const char *text);

/* A text of any bytes, such as a file name, as text_shown shows it. */
void json_shown(struct json *json, const char *key, const char *text);

void json_truth(struct json *json, const char *key, bool truth);
void json_size(struct json *json, const char *key, size_t size);
void json_sizes(struct json *json, const char *key, const size_t *sizes, size_t count);

/* The shortest decimal that reads back to the same double; null, "NaN" or "Infinity" for what is not finite. */
void json_real(struct json *json, const char *key, double number);

/* A list of such numbers, or null for NULL. */
void json_reals(struct json *json, const char *key, const double *numbers, size_t count);
