/* SPDX-License-Identifier: MIT */
/* For MemorySanitizer (make check-msan), which has not seen how the system's cJSON writes its trees: the linker puts these
 * wrappers before the functions that return one, and what they return counts as written. */
#include <cjson/cJSON.h>
#include <sanitizer/msan_interface.h>
#include <string.h>

/* Nor is what cJSON itself reads: its calls of strlen and the like are not for this sanitizer to judge. */
#define UNSEEN(type, result, call)              \
    __msan_scoped_disable_interceptor_checks(); \
    type result = call;                         \
    __msan_scoped_enable_interceptor_checks()

/* The item, those beside it and those below. */
static cJSON *written(cJSON *item)
{
    for (cJSON *each = item; each != NULL; each = each->next) {
        __msan_unpoison(each, sizeof *each);
        if (each->string != NULL)
            __msan_unpoison_string(each->string);
        if (each->valuestring != NULL)
            __msan_unpoison_string(each->valuestring);
        written(each->child);
    }
    return item;
}

cJSON *__real_cJSON_ParseWithLengthOpts(const char *text, size_t length, const char **end, cJSON_bool ended);
cJSON *__wrap_cJSON_ParseWithLengthOpts(const char *text, size_t length, const char **end, cJSON_bool ended);
cJSON *__wrap_cJSON_ParseWithLengthOpts(const char *text, size_t length, const char **end, cJSON_bool ended)
{
    UNSEEN(cJSON *, made, __real_cJSON_ParseWithLengthOpts(text, length, end, ended));
    return written(made);
}

cJSON *__real_cJSON_Parse(const char *text);
cJSON *__wrap_cJSON_Parse(const char *text);
cJSON *__wrap_cJSON_Parse(const char *text)
{
    UNSEEN(cJSON *, made, __real_cJSON_Parse(text));
    return written(made);
}

cJSON *__real_cJSON_Duplicate(const cJSON *item, cJSON_bool whole);
cJSON *__wrap_cJSON_Duplicate(const cJSON *item, cJSON_bool whole);
cJSON *__wrap_cJSON_Duplicate(const cJSON *item, cJSON_bool whole)
{
    UNSEEN(cJSON *, made, __real_cJSON_Duplicate(item, whole));
    return written(made);
}

cJSON *__real_cJSON_CreateObject(void);
cJSON *__wrap_cJSON_CreateObject(void);
cJSON *__wrap_cJSON_CreateObject(void)
{
    UNSEEN(cJSON *, made, __real_cJSON_CreateObject());
    return written(made);
}

char *__real_cJSON_PrintUnformatted(const cJSON *item);
char *__wrap_cJSON_PrintUnformatted(const cJSON *item);
char *__wrap_cJSON_PrintUnformatted(const cJSON *item)
{
    UNSEEN(char *, text, __real_cJSON_PrintUnformatted(item));
    if (text != NULL)
        __msan_unpoison_string(text);
    return text;
}
