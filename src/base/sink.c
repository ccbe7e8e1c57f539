/* sink.c - buffered output with a sticky error.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sink.h"

#include "base/err.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- where bytes go */

static dck_status buffer_write(void *self, const void *bytes, size_t n, dck_err *err)
{
	dck_buffer *b = self;
	if (n >= SIZE_MAX / 2 - b->n)
		DCK_FAIL(err, E_LIMIT, "the output does not fit into memory");
	DCK_NEED(mem_reserve(&b->data, &b->cap, b->n + n + 1, 1), err, "for %zu bytes of output",
		 b->n + n + 1); /* the NUL */
	memcpy(b->data + b->n, bytes, n);
	b->n += n;
	b->data[b->n] = '\0';
	return DCK_OK;
}

void dck_buffer_done(dck_buffer *b)
{
	if (!b)
		return;
	mem_free(b->data);
	*b = (dck_buffer){0};
}

void dck_sink_custom(dck_sink *s,
		     dck_status (*write)(void *self, const void *bytes, size_t n, dck_err *err),
		     void *self)
{
	/* Not the whole struct: the buffer is large and needs no value. */
	s->write = write;
	s->self = self;
	s->fd = -1;
	s->failed = false;
	s->error = (dck_err){0};
	s->used = 0;
}

void dck_sink_buffer(dck_sink *s, dck_buffer *b)
{
	dck_sink_custom(s, buffer_write, b);
}

/* --- functions for writers */

void sink_fail(dck_sink *out, const dck_err *why)
{
	if (out->failed)
		return;
	out->failed = true;
	out->error = *why;
}

static void deliver(dck_sink *s, const void *bytes, size_t n)
{
	if (s->failed || !n)
		return;
	dck_err e = {0};
	dck_status st = s->write(s->self, bytes, n, &e);
	if (st == DCK_OK)
		return;
	if (e.code == DCK_OK) /* a custom function that gave no message */
		err_set(&e, st, __FILE__, __LINE__, "cannot write the output: %s",
			dck_status_text(st));
	sink_fail(s, &e);
}

static void flush(dck_sink *s)
{
	deliver(s, s->buf, s->used);
	s->used = 0;
}

void sink_put(dck_sink *out, const void *bytes, size_t n)
{
	if (out->failed || !n)
		return;
	if (n > sizeof out->buf - out->used)
		flush(out);
	if (n >= sizeof out->buf) {
		deliver(out, bytes, n);
		return;
	}
	memcpy(out->buf + out->used, bytes, n);
	out->used += n;
}

char *sink_reserve(dck_sink *out, size_t n)
{
	assert(n <= sizeof out->buf);
	if (n > sizeof out->buf - out->used)
		flush(out);
	return out->buf + out->used;
}

void sink_text(dck_sink *out, const char *text)
{
	sink_put(out, text, strlen(text));
}

void sink_fmt(dck_sink *out, const char *fmt, ...)
{
	char small[512];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (out->failed)
		return;
	if (n < 0) {
		out->failed = true;
		ERR_SET(&out->error, E_ARG, "text that cannot be formatted");
		return;
	}
	if ((size_t)n < sizeof(small)) {
		sink_put(out, small, (size_t)n);
		return;
	}
	char *large = mem_alloc((size_t)n + 1);
	if (!large) {
		out->failed = true;
		ERR_NO_MEMORY(&out->error, "for %d bytes of output", n);
		return;
	}
	va_start(ap, fmt);
	vsnprintf(large, (size_t)n + 1, fmt, ap);
	va_end(ap);
	sink_put(out, large, (size_t)n);
	mem_free(large);
}

void sink_repeat(dck_sink *out, char c, size_t n)
{
	while (n && !out->failed) {
		if (out->used == sizeof out->buf)
			flush(out);
		size_t part = sizeof out->buf - out->used;
		if (part > n)
			part = n;
		memset(out->buf + out->used, c, part);
		out->used += part;
		n -= part;
	}
}

dck_status dck_sink_finish(dck_sink *s, dck_err *err)
{
	flush(s);
	return s->failed ? err_pass(s->error.code, &s->error, err) : DCK_OK;
}

bool text_add(char *buf, size_t size, const char *fmt, ...)
{
	const size_t used = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	const int n = vsnprintf(buf + used, size - used, fmt, ap);
	va_end(ap);
	return n >= 0 && (size_t)n < size - used;
}
