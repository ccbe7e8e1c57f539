/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/json_feed.h"
#include "base/err.h"

#include <string.h>

dck_status json_feed_more(void *self, const uint8_t **ret, size_t *ret_n, dck_err *err)
{
	json_feed *f = self;
	wire_source *s = f->source;

	if (f->u) {
		DCK_TRY(inflate_reader_next(f->u, &f->part, err));
		*ret = f->part.window;
		*ret_n = f->part.n;
		return DCK_OK;
	}
	DCK_TRY(wire_source_peek(s, f->at, 1, ret, ret_n, err));
	if (*ret_n) /* all that the window has */
		*ret_n = s->n - (size_t)(f->at - s->at);
	f->at += *ret_n;
	return DCK_OK;
}

dck_status json_feed_open(json_feed *f, wire_source *s, json_reader *r, dck_err *err)
{
	static const uint8_t gzip[] = {0x1f, 0x8b};
	const uint8_t *bytes;
	size_t n;

	*f = (json_feed){.source = s};
	json_read_init(r, json_feed_more, f, s->label);
	DCK_TRY(wire_source_peek(s, 0, sizeof gzip, &bytes, &n, err));
	if (n < sizeof gzip || memcmp(bytes, gzip, n) != 0)
		return DCK_OK;
	f->budget =
	    s->size < UINT64_MAX / INFLATE_RATIO_MAX ? s->size * INFLATE_RATIO_MAX : UINT64_MAX;
	return inflate_reader_open(&f->u, s, 0, s->size, INFLATE_BYTES, &f->budget, err);
}

void json_feed_close(json_feed *f)
{
	inflate_reader_close(f->u);
	f->u = NULL;
}

static const char *feed_first_key(json_reader *r, const char *const *keys)
{
	json_token t;

	if (json_next(r, &t, NULL) != DCK_OK || t != JSON_OBJECT)
		return NULL;
	while (json_next(r, &t, NULL) == DCK_OK && t == JSON_KEY) {
		for (size_t i = 0; keys[i]; i++)
			if (strcmp(r->text, keys[i]) == 0)
				return keys[i];
		if (json_next(r, &t, NULL) != DCK_OK || json_skip(r, t, NULL) != DCK_OK)
			return NULL;
	}
	return NULL;
}

const char *json_feed_first_key(wire_source *s, const char *const *keys)
{
	json_reader r;
	json_feed f;

	if (json_feed_open(&f, s, &r, NULL) != DCK_OK)
		return NULL;
	const char *found = feed_first_key(&r, keys);
	json_feed_close(&f);
	return found;
}
