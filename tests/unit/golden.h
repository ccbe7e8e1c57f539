/* golden.h - writers over the golden records of tests/data, compared with the expected text in the
 * same directory. DCK_UPDATE=1 in the environment rewrites the text: review the difference then.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include "base/mem.h"
#include "deepclock/report.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static inline dck_buffer golden_read(const char *name)
{
	char path[512];
	dck_buffer b = {0};
	snprintf(path, sizeof path, "%s/%s", TESTS_DATA, name);
	FILE *f = fopen(path, "rb");
	if (!f)
		fail_msg("cannot open %s", path);
	b.cap = 1 << 20;
	b.data = mem_alloc(b.cap);
	b.n = fread(b.data, 1, b.cap - 1, f);
	b.data[b.n] = '\0';
	fclose(f);
	return b;
}

static inline dck_record *golden_record(const char *name)
{
	dck_record *r = NULL;
	dck_err err = {0};
	dck_buffer b = golden_read(name);
	if (dck_record_parse(b.data, b.n, &r, &err) != DCK_OK)
		fail_msg("%s: %s", name, err.msg);
	dck_buffer_done(&b);
	return r;
}

static inline dck_buffer golden_styled(const char *writer, const dck_record *const *records,
				       size_t n, const dck_style *style)
{
	dck_buffer b = {0};
	dck_sink s;
	dck_sink_buffer(&s, &b);
	assert_int_equal(dck_report(writer, records, n, style, &s, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&s, NULL), DCK_OK);
	return b;
}

/* Reports the whole record, not only the answer. */
static inline dck_buffer golden_report(const char *writer, const dck_record *const *records,
				       size_t n, const dck_style *style)
{
	dck_style own = style ? *style : (dck_style){.terminal = true};
	own.details = true;
	return golden_styled(writer, records, n, &own);
}

static inline void golden_compare(const dck_buffer *got, const char *name)
{
	if (getenv("DCK_UPDATE")) {
		char path[512];
		snprintf(path, sizeof path, "%s/%s", TESTS_DATA, name);
		FILE *f = fopen(path, "wb");
		assert_non_null(f);
		fwrite(got->data, 1, got->n, f);
		fclose(f);
	}
	dck_buffer want = golden_read(name);
	assert_string_equal(got->data, want.data);
	assert_int_equal(got->n, want.n);
	dck_buffer_done(&want);
}

#endif
