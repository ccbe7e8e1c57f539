/* wire_source.c - bytes read through a window.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/wire.h"
#include "base/err.h"

#include <stdio.h>
#include <string.h>

dck_status wire_source_bytes(const void *bytes, size_t n, const wire_kind *kind, wire_source *ret,
			     dck_err *err)
{
	if (n == 0)
		DCK_FAIL(err, E_FORMAT, "the %s in memory is empty, not %s", kind->thing,
			 kind->whole);
	*ret = (wire_source){.size = n, .fd = -1, .window = bytes, .n = n};
	snprintf(ret->label, sizeof ret->label, "the %s in memory", kind->thing);
	return DCK_OK;
}

void wire_source_close(wire_source *s)
{
	if (s->close)
		s->close(s);
	*s = (wire_source){.fd = -1};
}

static dck_status refill(wire_source *s, uint64_t at, dck_err *err)
{
	const bool sequential = at >= s->at && at <= s->at + s->n;
	uint64_t left = s->size - at;
	size_t step = sequential ? s->step : WIRE_STEP_FIRST, n;

	n = left < step ? (size_t)left : step;
	s->n = 0; /* nothing valid if the read fails */
	DCK_TRY(s->read(s, at, n, s->own, err));
	s->at = at;
	s->n = n;
	s->step = step * 2 < WIRE_WINDOW_MAX ? step * 2 : WIRE_WINDOW_MAX;
	return DCK_OK;
}

dck_status wire_source_peek(wire_source *s, uint64_t at, size_t want, const uint8_t **ret,
			    size_t *ret_n, dck_err *err)
{
	uint64_t left = at < s->size ? s->size - at : 0;
	size_t n = left < want ? (size_t)left : want;

	if (at < s->at || at + n > s->at + s->n)
		DCK_TRY(refill(s, at, err));
	*ret = s->window + (at - s->at);
	*ret_n = n;
	return DCK_OK;
}

dck_status wire_source_copy(wire_source *s, uint64_t at, size_t n, void *to, dck_err *err)
{
	if (n == 0)
		return DCK_OK;
	if (n > WIRE_STEP_FIRST && s->own)
		return s->read(s, at, n, to, err);
	if (at < s->at || at + n > s->at + s->n)
		DCK_TRY(refill(s, at, err));
	memcpy(to, s->window + (at - s->at), n);
	return DCK_OK;
}
