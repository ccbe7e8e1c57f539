/* base.h - version, status codes, error messages, the allocator.
 *
 * Every function that can fail returns a dck_status and takes a `dck_err *err` as its last
 * argument. 0 (DCK_OK) is success; failures are negative. On failure *err holds the code and a
 * message; on success it is not touched. `err` may be NULL wherever a function takes one.
 * Out-parameters are named `ret_x` and are written on success only. Pointers that a function takes
 * are not NULL unless its comment allows it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_BASE_H
#define DCK_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DCK_VERSION_MAJOR 1
#define DCK_VERSION_MINOR 0
#define DCK_VERSION_PATCH 0
#define DCK_VERSION	  "1.0.0-rc1"

#if defined(__GNUC__)
#define DCK_API		 __attribute__((visibility("default")))
#define DCK_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define DCK_MUST_USE	 __attribute__((warn_unused_result))
#else
#define DCK_API
#define DCK_PRINTF(f, a)
#define DCK_MUST_USE
#endif

/* The enum, the names and the texts are generated from this list. Values are frozen; new ones are
 * added at the end. */
#define DCK_STATUS_MAP(X)                        \
	X(OK, 0, "ok")                           \
	X(E_NOMEM, -1, "out of memory")          \
	X(E_ARG, -2, "invalid argument")         \
	X(E_UNSUP, -3, "not supported here")     \
	X(E_ABSENT, -4, "not found")             \
	X(E_IO, -5, "input or output failed")    \
	X(E_FORMAT, -6, "malformed data")        \
	X(E_VERSION, -7, "incompatible version") \
	X(E_ENGINE, -8, "the engine failed")     \
	X(E_DEVICE, -9, "the device failed")     \
	X(E_LIMIT, -10, "a limit was exceeded")  \
	X(E_CANCEL, -11, "cancelled")

typedef enum dck_status {
#define X(name, value, text) DCK_##name = (value),
	DCK_STATUS_MAP(X)
#undef X
} dck_status;

/* Describes a failure. The struct is on the caller's stack: it needs no free and no heap, and may
 * cross threads and plug-in boundaries. */
typedef struct dck_err {
	dck_status code;
	int line;	     /* source line that raised it */
	const char *file;    /* static string; NULL when raised by a plug-in */
	int64_t native_code; /* code of the engine or the system; 0: none */
	char msg[488];	     /* one sentence without full stop and newline */
} dck_err;

/* Exit statuses of the program, equal in every command; help and manual pages are generated from
 * this list. Scripts rely on the numbers. */
#define DCK_EXIT_MAP(X)                                                         \
	X(OK, 0, "fine")                                                        \
	X(FAILED, 1, "failed; the message on stderr has the reason")            \
	X(USAGE, 2, "the command line is wrong")                                \
	X(BROKEN, 3, "a gate failed: slower, or a limit is violated")           \
	X(UNDECIDED, 4, "a gate could not decide")                              \
	X(INTERRUPTED, 130, "interrupted; the results until then are reported") \
	X(UNREAD, 141, "the reader closed the pipe, as head does")

typedef enum dck_exit {
#define X(name, value, text) DCK_EXIT_##name = (value),
	DCK_EXIT_MAP(X)
#undef X
} dck_exit;

/* Verdict on a limit or on a comparison. The values are the program's exit statuses. */
typedef enum dck_verdict {
	DCK_VERDICT_MET = DCK_EXIT_OK,
	DCK_VERDICT_VIOLATED = DCK_EXIT_BROKEN,
	DCK_VERDICT_INCONCLUSIVE = DCK_EXIT_UNDECIDED /* shown neither met nor violated */
} dck_verdict;

/* Returns the version of the linked library, e.g. "1.0.0-rc1". @since 0.1 */
DCK_API const char *dck_version(void);

/* Return "E_NOMEM" and "out of memory": static, never NULL ("E_?" for an unknown code).
 * @since 0.1 */
DCK_API const char *dck_status_name(dck_status code);
DCK_API const char *dck_status_text(dck_status code);

/* All heap memory of the library goes through these three functions.
 * alloc(self, 0) may return NULL; resize(self, NULL, n) allocates. */
typedef struct dck_allocator {
	void *(*alloc)(void *self, size_t bytes);
	void *(*resize)(void *self, void *old, size_t bytes);
	void (*release)(void *self, void *old);
	void *self;
} dck_allocator;

/* Replaces the allocator (copied; NULL: back to malloc). Call it first, from one thread: memory
 * allocated before the call is released through the allocator in force at the release.
 * @since 0.1 */
DCK_API void dck_set_allocator(const dck_allocator *a);

/* Frees memory that a function of this library returned ("@owned, dck_free"). NULL is allowed.
 * @since 0.1 */
DCK_API void dck_free(void *p);

#ifdef __cplusplus
}
#endif
#endif
