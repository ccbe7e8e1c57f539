/* lrt_lib.h - loads and checks LiteRT's library.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_LITERT_LRT_LIB_H
#define ENGINE_LITERT_LRT_LIB_H

#include "engine/library_find.h"
#include "engine/litert/lrt_api.h"
#include "os/os.h"

typedef struct lrt_lib {
	lrt_api api;
	os_library *library;
	const char *how;     /* source in library_find() */
	const char *version; /* of its Python package, in the search's arena; "": unknown */
	lrt_environment *environment;
} lrt_lib;

/* Opens the library and an environment. asked: a file or directory; NULL: searches. log and
 * log_self receive the files that were skipped. The search allocates in `a`. E_ABSENT, E_VERSION,
 * E_FORMAT, E_ENGINE. */
dck_status lrt_lib_open(const char *asked, mem_arena *a, const dck_open_params *log, lrt_lib *ret,
			dck_err *err);
/* The library stays in the process. */
void lrt_lib_close(lrt_lib *l);

/* Returns DCK_OK for 0, else E_ENGINE with "<fmt>: <what the status means>" and the status as
 * native_code. */
dck_status lrt_check(int status, dck_err *err, const char *fmt, ...) DCK_PRINTF(3, 4);

/* Returns the type of a number of LiteRT; DCK_DTYPE_OTHER: the host has none. */
dck_dtype lrt_dtype_of(int element);
int lrt_dtype_number(dck_dtype t); /* 0: LiteRT has none */

#endif
