/* SPDX-License-Identifier: MIT */
/* The part of a table that is wrong. */
#include "observe/observing.h"

enum status observe_parts(struct observing *observing)
{
    return observing->error->status;
}
