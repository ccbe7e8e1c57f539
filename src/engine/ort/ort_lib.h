/* ort_lib.h - loads and checks ONNX Runtime's library.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ORT_LIB_H
#define ENGINE_ORT_LIB_H

#include "base/mem.h"
#include "deepclock/plugin.h"
#include "engine/library_find.h"
#include "engine/ort/ort_api.h"
#include "os/os.h"

typedef struct ort_lib {
	ort_api api; /* first: run() is one load away from it */
	os_library *library;
	const char *how; /* source in library_find() */
	char version[24];
	unsigned minor;
	ort_env *env;
	ort_allocator *allocator; /* borrowed: the library's own */
	ort_memory *cpu;
} ort_lib;

extern const library_kind ort_library;

/* Opens the library. asked: a file or directory; NULL: searches. log and log_self receive the files
 * that were skipped. The search allocates in `a`. E_ABSENT, E_VERSION, E_FORMAT, E_ENGINE. */
dck_status ort_lib_open(const char *asked, mem_arena *a, const dck_open_params *log, ort_lib *ret,
			dck_err *err);
void ort_lib_close(ort_lib *l);

/* Returns DCK_OK for NULL, else E_ENGINE with "<fmt>: <the library's message>" and its code as
 * native_code; releases s. */
dck_status ort_check(const ort_lib *l, ort_status *s, dck_err *err, const char *fmt, ...)
    DCK_PRINTF(4, 5);

/* Drops every log message. */
void ort_log_drop(void *self, int severity, const char *category, const char *id,
		  const char *location, const char *text);

/* Copies the library's message without source locations and stack traces. */
void ort_sentence(const char *text, char *buf, size_t size);

#endif
