#include "worksheet/writers.h"

#include <string.h>

static const char MARKS[] =
    SHEET_BLANK SHEET_TIMES SHEET_POWER SHEET_POWER_END SHEET_ROOT SHEET_ROOT_END SHEET_MINUS SHEET_TRANSPOSED;

void marks_write(struct output *output, const char *text, const char *const marks[SHEET_MARKS], escape_function *escape)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, MARKS);
        escape(output, text, length);
        text += length;
        if (*text != '\0')
            output_print(output, "%s", marks[(unsigned char)*text++]);
    }
}

void signs_write(struct output *output, const char *formula, const struct sign *signs, escape_function *escape)
{
    while (*formula != '\0') {
        const struct sign *sign = signs;
        while (sign->plain != NULL && strncmp(formula, sign->plain, strlen(sign->plain)) != 0)
            sign++;
        if (sign->plain != NULL)
            output_print(output, "%s", sign->set);
        else
            escape(output, formula, 1);
        formula += sign->plain != NULL ? strlen(sign->plain) : 1;
    }
}
