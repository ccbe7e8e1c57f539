/* lazy_zlib.h - lazy loading of zlib, at the first compression or decompression.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROCESS_LAZY_ZLIB_H
#define PROCESS_LAZY_ZLIB_H

#include "os/process/lazy_library.h"

#include <zlib.h>

#define ZLIB_FUNCTIONS(X)  \
	X(, deflate)       \
	X(, deflateEnd)    \
	X(, deflateInit2_) \
	X(, inflate)       \
	X(, inflateEnd)    \
	X(, inflateInit2_) \
	X(, inflateReset)

struct zlib_functions {
	ZLIB_FUNCTIONS(OS_LAZY_MEMBER)
};

/* Written once, by the first zlib_load(). */
extern struct zlib_functions os_zlib;
static const struct zlib_functions *const zlib = &os_zlib;

/* Loads zlib. E_ABSENT: it is not installed. */
dck_status zlib_load(dck_err *err);

#endif
