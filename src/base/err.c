/* err.c - error messages: formatted on the caller's stack, never allocated.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Maximum lengths of the two parts of a message: the operation, and the failure. */
enum { ERR_MSG = sizeof(((dck_err *)0)->msg), ERR_TMP = 2 * ERR_MSG };

static const struct {
	dck_status code;
	const char *name, *text;
} statuses[] = {
#define X(name, value, text) {DCK_##name, #name, text},
    DCK_STATUS_MAP(X)
#undef X
};

const char *dck_version(void)
{
	return DCK_VERSION;
}

const char *dck_status_name(dck_status code)
{
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
		if (statuses[i].code == code)
			return statuses[i].name;
	return "E_?";
}

const char *dck_status_text(dck_status code)
{
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
		if (statuses[i].code == code)
			return statuses[i].text;
	return "unknown status";
}

/* Copies text into err->msg; text that does not fit is cut between characters and ends in "...". */
static void store(dck_err *err, const char *text)
{
	size_t n = strlen(text);
	if (n >= ERR_MSG) {
		n = utf8_cut(text, ERR_MSG - 1 - 3);
		memcpy(err->msg, text, n);
		memcpy(err->msg + n, "...", 4);
	} else {
		memcpy(err->msg, text, n + 1);
	}
	/* Engines and files put anything into their messages; a line of a log stays one line. */
	utf8_sanitize(err->msg);
}

/* Through a second buffer, so that the arguments may point into err->msg. */
static void format(char *tmp, const char *fmt, va_list ap)
{
	if (mem_vprint(tmp, ERR_TMP, fmt, ap) < 0)
		snprintf(tmp, ERR_TMP, "%s", "a message that cannot be formatted");
}

static void err_fill(dck_err *err, dck_status code, const char *file, int line, int64_t native,
		     const char *text)
{
	store(err, text);
	err->code = code;
	err->file = file;
	err->line = line;
	err->native_code = native;
}

dck_status err_set(dck_err *err, dck_status code, const char *file, int line, const char *fmt, ...)
{
	char tmp[ERR_TMP];
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	format(tmp, fmt, ap);
	va_end(ap);
	err_fill(err, code, file, line, 0, tmp);
	return code;
}

dck_status err_set_errno(dck_err *err, dck_status code, const char *file, int line, int errnum,
			 const char *fmt, ...)
{
	char tmp[ERR_TMP], reason[128], whole[ERR_TMP + sizeof reason + 2];
	va_list ap;

	if (errnum == ENOMEM)
		code = DCK_E_NOMEM;
	if (!err)
		return code;
	va_start(ap, fmt);
	format(tmp, fmt, ap);
	va_end(ap);
	/* GNU's strerror_r returns the text, which need not be in the buffer. */
	snprintf(whole, sizeof(whole), "%s: %s", tmp, strerror_r(errnum, reason, sizeof reason));
	err_fill(err, code, file, line, errnum, whole);
	return code;
}

dck_status err_pass(dck_status code, const dck_err *from, dck_err *err)
{
	if (code != DCK_OK && err)
		*err = *from;
	return code;
}

dck_status err_native(dck_status code, int64_t native_code, dck_err *err)
{
	if (err)
		err->native_code = native_code;
	return code;
}

dck_status err_while(dck_err *err, dck_status code, const char *fmt, ...)
{
	char tmp[ERR_TMP], whole[ERR_TMP + ERR_MSG + 16];
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	format(tmp, fmt, ap);
	va_end(ap);
	snprintf(whole, sizeof(whole), "while %s: %s", tmp, err->msg);
	store(err, whole);
	return code;
}
