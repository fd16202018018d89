#ifndef ATTN_VERSION_H
#define ATTN_VERSION_H

#define ATTN_VERSION "0.1.0"

#endif
