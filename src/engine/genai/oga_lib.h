/* oga_lib.h - loads and checks ONNX Runtime GenAI's library.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_GENAI_OGA_LIB_H
#define ENGINE_GENAI_OGA_LIB_H

#include "engine/genai/oga_api.h"
#include "engine/ort/ort_lib.h"

typedef struct oga_lib {
	oga_api api;
	os_library *library;
	const char *how;     /* source in library_find() */
	const char *version; /* of its Python package, in the search's arena; "": unknown */
	ort_lib ort;	     /* that it calls */
} oga_lib;

/* Opens ONNX Runtime, then the library. asked: a file or directory; NULL: searches. log and
 * log_self receive the files that were skipped. The search allocates in `a`. E_ABSENT, E_VERSION,
 * E_FORMAT, E_ENGINE. */
dck_status oga_lib_open(const char *asked, mem_arena *a, const dck_open_params *log, oga_lib *ret,
			dck_err *err);
/* The library stays in the process. */
void oga_lib_close(oga_lib *l);

/* Returns DCK_OK for NULL, else E_ENGINE with "<what>: <the library's message>"; releases r. */
dck_status oga_check(const oga_lib *l, oga_result *r, const char *what, dck_err *err);

#endif
