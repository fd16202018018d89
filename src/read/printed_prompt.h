/* What stands before a printed table in a session: the prompts of Python and IPython. */
#ifndef ATTN_READ_PRINTED_PROMPT_H
#define ATTN_READ_PRINTED_PROMPT_H

/* Behind the prompt that begins there, ">>> " or "In [3]: ", where a statement NAME = ... or import follows; behind its
 * whole line where what follows only asks for what is printed beneath, such as ">>> print(inputs)"; behind "Out[3]:".
 * NULL where no prompt begins there. */
const char *printed_behind_prompt(const char *at);

#endif
