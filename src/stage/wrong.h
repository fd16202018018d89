/* A stage that --mistake makes otherwise than its file says. */
#ifndef ATTN_STAGE_WRONG_H
#define ATTN_STAGE_WRONG_H

#include "explain/terms.h"

/* What the row of the stage before it has become: no line of the right arithmetic would give these numbers. */
void explain_wrong(struct explanation *e, enum stage stage, struct explain_place place);

#endif
