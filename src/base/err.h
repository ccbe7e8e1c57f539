/* err.h - how internal code reports an error and passes it on (see deepclock/base.h).
 *
 *	if (n == 0)
 *		DCK_FAIL(err, E_ARG, "'%s' has no inputs", name);
 *	DCK_TRY(model_open(name, err));
 *
 * A function that fails returns its status and fills *err with one message for the user. The caller
 * passes both on unchanged, or prefixes the message with err_while(). err may be NULL: the caller
 * needs only the status.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "deepclock/base.h"

/* Fills *err (NULL allowed) and returns code. A message that does not fit ends in "...". Control
 * characters are replaced, since the text may come from an engine or a file. */
dck_status err_set(dck_err *err, dck_status code, const char *file, int line, const char *fmt, ...)
    DCK_PRINTF(5, 6);

/* Copies the error of a call that failed with `code` to *err (NULL allowed). Returns code; DCK_OK:
 * does nothing. */
dck_status err_pass(dck_status code, const dck_err *from, dck_err *err);
/* Stores the native code of the error that was just set in *err (NULL allowed); returns code
 * unchanged. */
dck_status err_native(dck_status code, int64_t native_code, dck_err *err);

/* Inserts "while <fmt>: " before the message in *err; returns code unchanged. */
dck_status err_while(dck_err *err, dck_status code, const char *fmt, ...) DCK_PRINTF(3, 4);

/* As err_set(), appends ": " and strerror(errnum), and stores errnum as native_code. The code is
 * E_NOMEM if errnum is ENOMEM. */
dck_status err_set_errno(dck_err *err, dck_status code, const char *file, int line, int errnum,
			 const char *fmt, ...) DCK_PRINTF(6, 7);

/* Passes on an error that was stored: returns its status, and fills *err unless it is DCK_OK. */
static inline dck_status err_forward(const dck_err *stored, dck_err *err)
{
	return err_pass(stored->code, stored, err);
}

/* Sets an error and returns its status: ERR_SET(err, E_ARG, "'%s' is no number", text). */
#define ERR_SET(err, code, ...) err_set((err), DCK_##code, __FILE__, __LINE__, __VA_ARGS__)
/* Sets "no memory for the inputs" and returns the status: ERR_NO_MEMORY(err, "for the inputs"). */
#define ERR_NO_MEMORY(err, ...) ERR_SET(err, E_NOMEM, "no memory " __VA_ARGS__)

/* The only macros that hide a return. DCK_NEED(p, err, "for %zu values", n) fails without p. */
#define DCK_FAIL(err, code, ...) return ERR_SET(err, code, __VA_ARGS__)
#define DCK_FAIL_ERRNO(err, code, errnum, ...) \
	return err_set_errno((err), DCK_##code, __FILE__, __LINE__, (errnum), __VA_ARGS__)
#define DCK_NEED(got, err, ...)                                   \
	do {                                                      \
		if (!(got))                                       \
			return ERR_NO_MEMORY((err), __VA_ARGS__); \
	} while (0)
#define DCK_TRY(expr)                            \
	do {                                     \
		dck_status try_status_ = (expr); \
		if (try_status_ != DCK_OK)       \
			return try_status_;      \
	} while (0)
/* The next of several steps after which there is something to release: it is taken if all before it
 * succeeded. */
#define DCK_NEXT(status, expr)             \
	do {                               \
		if ((status) == DCK_OK)    \
			(status) = (expr); \
	} while (0)

#endif
