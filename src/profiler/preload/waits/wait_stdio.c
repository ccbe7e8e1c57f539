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

PRELOAD int fgetc(FILE *f)
{
	if (stdio_is_there(f, 1, 1))
		return REAL(fgetc)(f);
	READ(f);
	return REAL(fgetc)(f);
}

PRELOAD int getc(FILE *f)
{
	return fgetc(f);
}

PRELOAD int getchar(void)
{
	return fgetc(stdin);
}

/* Called by getc_unlocked() and its relatives when the buffer is empty. */
PRELOAD int __uflow(FILE *f)
{
	READ(f);
	return REAL(__uflow)(f);
}

PRELOAD int fputc(int c, FILE *f)
{
	if (stdio_has_room(f, 1, 1))
		return REAL(fputc)(c, f);
	WRITE(f);
	return REAL(fputc)(c, f);
}

PRELOAD int putc(int c, FILE *f)
{
	return fputc(c, f);
}

PRELOAD int putchar(int c)
{
	return fputc(c, stdout);
}

PRELOAD int __overflow(FILE *f, int c)
{
	WRITE(f);
	return REAL(__overflow)(f, c);
}

/* --- reading */

PRELOAD char *fgets(char *restrict to, int n, FILE *restrict f)
{
	READ(f);
	return REAL(fgets)(to, n, f);
}

PRELOAD char *__fgets_chk(char *restrict to, size_t cap, int n, FILE *restrict f)
{
	READ(f);
	return REAL(__fgets_chk)(to, cap, n, f);
}

PRELOAD char *fgets_unlocked(char *restrict to, int n, FILE *restrict f)
{
	READ(f);
	return REAL(fgets_unlocked)(to, n, f);
}

PRELOAD size_t fread(void *restrict to, size_t size, size_t n, FILE *restrict f)
{
	if (stdio_is_there(f, size, n))
		return REAL(fread)(to, size, n, f);
	READ(f);
	return REAL(fread)(to, size, n, f);
}

PRELOAD size_t __fread_chk(void *restrict to, size_t cap, size_t size, size_t n, FILE *restrict f)
{
	READ(f);
	return REAL(__fread_chk)(to, cap, size, n, f);
}

PRELOAD size_t fread_unlocked(void *restrict to, size_t size, size_t n, FILE *restrict f)
{
	if (stdio_is_there(f, size, n))
		return REAL(fread_unlocked)(to, size, n, f);
	READ(f);
	return REAL(fread_unlocked)(to, size, n, f);
}

PRELOAD ssize_t getline(char **restrict line, size_t *restrict cap, FILE *restrict f)
{
	READ(f);
	return w.bytes = REAL(getline)(line, cap, f);
}

PRELOAD ssize_t getdelim(char **restrict line, size_t *restrict cap, int end, FILE *restrict f)
{
	READ(f);
	return w.bytes = REAL(getdelim)(line, cap, end, f);
}

PRELOAD ssize_t __getdelim(char **restrict line, size_t *restrict cap, int end, FILE *restrict f)
{
	READ(f);
	return w.bytes = REAL(__getdelim)(line, cap, end, f);
}

/* scanf() and fscanf() since C99: the language standard of a program selects the alias. */
#define SCANS(prefix)                                                     \
	PRELOAD int prefix##vfscanf(FILE *f, const char *form, va_list a) \
	{                                                                 \
		READ(f);                                                  \
		return REAL(prefix##vfscanf)(f, form, a);                 \
	}                                                                 \
	PRELOAD int prefix##fscanf(FILE *f, const char *form, ...)        \
	{                                                                 \
		va_list a;                                                \
		va_start(a, form);                                        \
		const int n = prefix##vfscanf(f, form, a);                \
		va_end(a);                                                \
		return n;                                                 \
	}                                                                 \
	PRELOAD int prefix##scanf(const char *form, ...)                  \
	{                                                                 \
		va_list a;                                                \
		va_start(a, form);                                        \
		const int n = prefix##vfscanf(stdin, form, a);            \
		va_end(a);                                                \
		return n;                                                 \
	}
SCANS(__isoc99_)
SCANS(__isoc23_)

/* --- writing */

PRELOAD size_t fwrite(const void *restrict from, size_t size, size_t n, FILE *restrict f)
{
	if (stdio_has_room(f, size, n))
		return REAL(fwrite)(from, size, n, f);
	WRITE(f);
	return REAL(fwrite)(from, size, n, f);
}

PRELOAD size_t fwrite_unlocked(const void *restrict from, size_t size, size_t n, FILE *restrict f)
{
	if (stdio_has_room(f, size, n))
		return REAL(fwrite_unlocked)(from, size, n, f);
	WRITE(f);
	return REAL(fwrite_unlocked)(from, size, n, f);
}

PRELOAD int fputs(const char *restrict text, FILE *restrict f)
{
	if (stdio_has_room(f, 1, strlen(text)))
		return REAL(fputs)(text, f);
	WRITE(f);
	return REAL(fputs)(text, f);
}

PRELOAD int fputs_unlocked(const char *restrict text, FILE *restrict f)
{
	if (stdio_has_room(f, 1, strlen(text)))
		return REAL(fputs_unlocked)(text, f);
	WRITE(f);
	return REAL(fputs_unlocked)(text, f);
}

PRELOAD int puts(const char *text)
{
	WRITE(stdout);
	return REAL(puts)(text);
}

PRELOAD int fflush(FILE *f)
{
	WAIT_FILE("wait: write", f ? f->_fileno : -1);
	return REAL(fflush)(f);
}

PRELOAD int fclose(FILE *f)
{
	WRITE(f);
	return REAL(fclose)(f);
}

PRELOAD int vfprintf(FILE *restrict f, const char *restrict form, va_list a)
{
	WRITE(f);
	return REAL(vfprintf)(f, form, a);
}

PRELOAD int fprintf(FILE *restrict f, const char *restrict form, ...)
{
	va_list a;
	va_start(a, form);
	const int n = vfprintf(f, form, a);
	va_end(a);
	return n;
}

PRELOAD int vprintf(const char *restrict form, va_list a)
{
	return vfprintf(stdout, form, a);
}

PRELOAD int printf(const char *restrict form, ...)
{
	va_list a;
	va_start(a, form);
	const int n = vfprintf(stdout, form, a);
	va_end(a);
	return n;
}

PRELOAD int __vfprintf_chk(FILE *restrict f, int flag, const char *restrict form, va_list a)
{
	WRITE(f);
	return REAL(__vfprintf_chk)(f, flag, form, a);
}

PRELOAD int __fprintf_chk(FILE *restrict f, int flag, const char *restrict form, ...)
{
	va_list a;
	va_start(a, form);
	const int n = __vfprintf_chk(f, flag, form, a);
	va_end(a);
	return n;
}

PRELOAD int __vprintf_chk(int flag, const char *restrict form, va_list a)
{
	return __vfprintf_chk(stdout, flag, form, a);
}

PRELOAD int __printf_chk(int flag, const char *restrict form, ...)
{
	va_list a;
	va_start(a, form);
	const int n = __vfprintf_chk(stdout, flag, form, a);
	va_end(a);
	return n;
}
