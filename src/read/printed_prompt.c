#include "read/printed_prompt.h"

#include "read/printed_table.h"

#include <string.h>

/* "NAME [3]:", where there may be no blank before the bracket; or NULL. */
static const char *behind_numbered(const char *at, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(at, name, length) != 0)
        return NULL;
    at += length + strspn(at + length, " ");
    if (*at != '[')
        return NULL;
    at += 1 + strspn(at + 1, "0123456789 ");
    return at[0] == ']' && at[1] == ':' ? at + 2 : NULL;
}

const char *printed_behind_prompt(const char *at)
{
    const char *printed = behind_numbered(at, "Out");
    if (printed != NULL)
        return printed;
    const char *asked = strncmp(at, ">>>", 3) == 0 ? at + 3 : behind_numbered(at, "In");
    if (asked == NULL)
        return NULL;
    asked += strspn(asked, " \t");
    return printed_find_equals(asked) != NULL || printed_is_import(asked) ? asked : asked + strcspn(asked, "\n");
}
