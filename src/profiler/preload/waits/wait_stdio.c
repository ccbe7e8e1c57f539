/* wait_stdio.c - interposes on stdio. libc reads and writes these files without the functions that
 * wait_file.c interposes, so stdio has separate wrappers; a call for a single byte that the buffer
 * can serve is not timed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Macros in older libcs. */
#undef getc
#undef putc

#define READ(f)	 WAIT_FILE("wait: read", (f)->_fileno)
#define WRITE(f) WAIT_FILE("wait: write", (f)->_fileno)
/* A function that waits only if not is_ready. */
#define UNLESS(is_ready, result, name, parameters, before, arguments) \
	PRELOAD result name parameters                                \
	{                                                             \
		if (is_ready)                                         \
			return REAL(name) arguments;                  \
		before;                                               \
		return REAL(name) arguments;                          \
	}
/* A function with arguments after `form`, as a call of the one that takes them as a list, a. */
#define WITH_LIST(name, parameters, call) \
	PRELOAD int name parameters       \
	{                                 \
		va_list a;                \
		va_start(a, form);        \
		const int n = call;       \
		va_end(a);                \
		return n;                 \
	}

/* Returns whether the buffer contains n items of a size, or has space for them. It is read without
 * a lock: while another thread uses the file, the result may be wrong, and a wait is missed. */
static bool stdio_is_there(const FILE *f, size_t size, size_t n)
{
	const char *at = f->_IO_read_ptr, *end = f->_IO_read_end;

	return at < end && size && n <= (size_t)(end - at) / size;
}

static bool stdio_has_room(const FILE *f, size_t size, size_t n)
{
	const char *at = f->_IO_write_ptr, *end = f->_IO_write_end;

	return at < end && size && n <= (size_t)(end - at) / size;
}

/* --- bytes */

UNLESS(stdio_is_there(f, 1, 1), int, fgetc, (FILE * f), READ(f), (f))

PRELOAD int getc(FILE *f)
{
	return fgetc(f);
}

PRELOAD int getchar(void)
{
	return fgetc(stdin);
}

/* Called by getc_unlocked() and its relatives when the buffer is empty. */
INTERPOSE(int, __uflow, (FILE * f), READ(f), (f))
UNLESS(stdio_has_room(f, 1, 1), int, fputc, (int c, FILE *f), WRITE(f), (c, f))

PRELOAD int putc(int c, FILE *f)
{
	return fputc(c, f);
}

PRELOAD int putchar(int c)
{
	return fputc(c, stdout);
}

INTERPOSE(int, __overflow, (FILE * f, int c), WRITE(f), (f, c))

/* --- reading */

INTERPOSE(char *, fgets, (char *restrict to, int n, FILE *restrict f), READ(f), (to, n, f))
INTERPOSE(char *, __fgets_chk, (char *restrict to, size_t cap, int n, FILE *restrict f), READ(f),
	  (to, cap, n, f))
INTERPOSE(char *, fgets_unlocked, (char *restrict to, int n, FILE *restrict f), READ(f), (to, n, f))
UNLESS(stdio_is_there(f, size, n), size_t, fread,
       (void *restrict to, size_t size, size_t n, FILE *restrict f), READ(f), (to, size, n, f))
INTERPOSE(size_t, __fread_chk,
	  (void *restrict to, size_t cap, size_t size, size_t n, FILE *restrict f), READ(f),
	  (to, cap, size, n, f))
UNLESS(stdio_is_there(f, size, n), size_t, fread_unlocked,
       (void *restrict to, size_t size, size_t n, FILE *restrict f), READ(f), (to, size, n, f))
INTERPOSE_BYTES(ssize_t, getline, (char **restrict line, size_t *restrict cap, FILE *restrict f),
		READ(f), (line, cap, f))
INTERPOSE_BYTES(ssize_t, getdelim,
		(char **restrict line, size_t *restrict cap, int end, FILE *restrict f), READ(f),
		(line, cap, end, f))
INTERPOSE_BYTES(ssize_t, __getdelim,
		(char **restrict line, size_t *restrict cap, int end, FILE *restrict f), READ(f),
		(line, cap, end, f))

/* scanf() and fscanf() since C99: the language standard of a program selects the alias. */
#define SCANS(prefix)                                                                             \
	PRELOAD int prefix##vfscanf(FILE *f, const char *form, va_list a)                         \
	{                                                                                         \
		READ(f);                                                                          \
		return REAL(prefix##vfscanf)(f, form, a);                                         \
	}                                                                                         \
	WITH_LIST(prefix##fscanf, (FILE * f, const char *form, ...), prefix##vfscanf(f, form, a)) \
	WITH_LIST(prefix##scanf, (const char *form, ...), prefix##vfscanf(stdin, form, a))
SCANS(__isoc99_)
SCANS(__isoc23_)

/* --- writing */

UNLESS(stdio_has_room(f, size, n), size_t, fwrite,
       (const void *restrict from, size_t size, size_t n, FILE *restrict f), WRITE(f),
       (from, size, n, f))
UNLESS(stdio_has_room(f, size, n), size_t, fwrite_unlocked,
       (const void *restrict from, size_t size, size_t n, FILE *restrict f), WRITE(f),
       (from, size, n, f))
UNLESS(stdio_has_room(f, 1, strlen(text)), int, fputs,
       (const char *restrict text, FILE *restrict f), WRITE(f), (text, f))
UNLESS(stdio_has_room(f, 1, strlen(text)), int, fputs_unlocked,
       (const char *restrict text, FILE *restrict f), WRITE(f), (text, f))
INTERPOSE(int, puts, (const char *text), WRITE(stdout), (text))

PRELOAD int fflush(FILE *f)
{
	WAIT_FILE("wait: write", f ? f->_fileno : -1);
	return REAL(fflush)(f);
}

INTERPOSE(int, fclose, (FILE * f), WRITE(f), (f))
INTERPOSE(int, vfprintf, (FILE *restrict f, const char *restrict form, va_list a), WRITE(f),
	  (f, form, a))

WITH_LIST(fprintf, (FILE *restrict f, const char *restrict form, ...), vfprintf(f, form, a))

PRELOAD int vprintf(const char *restrict form, va_list a)
{
	return vfprintf(stdout, form, a);
}

WITH_LIST(printf, (const char *restrict form, ...), vfprintf(stdout, form, a))

INTERPOSE(int, __vfprintf_chk, (FILE *restrict f, int flag, const char *restrict form, va_list a),
	  WRITE(f), (f, flag, form, a))

WITH_LIST(__fprintf_chk, (FILE *restrict f, int flag, const char *restrict form, ...),
	  __vfprintf_chk(f, flag, form, a))

PRELOAD int __vprintf_chk(int flag, const char *restrict form, va_list a)
{
	return __vfprintf_chk(stdout, flag, form, a);
}

WITH_LIST(__printf_chk, (int flag, const char *restrict form, ...),
	  __vfprintf_chk(stdout, flag, form, a))
