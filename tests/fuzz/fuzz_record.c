/* fuzz_record.c - any bytes as a record: refused with a message, or a record that every writer and
 * figure accepts and that survives a save and load. tests/data has more initial inputs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "deepclock/report.h"

#include <stdlib.h>
#include <string.h>

static dck_buffer write_as(const char *writer, const dck_record *r, const dck_style *style)
{
	dck_buffer b = {0};
	dck_sink s;
	dck_sink_buffer(&s, &b);
	if (dck_report(writer, &r, 1, style, &s, NULL) != DCK_OK ||
	    dck_sink_finish(&s, NULL) != DCK_OK || b.n == 0)
		abort();
	return b;
}

static void check_text(const dck_record *r)
{
	static const dck_style styles[] = {{.width = 80}, {.utf8 = true, .width = 40}};
	for (int i = 0; i < 2; i++) {
		dck_buffer b = write_as("text", r, &styles[i]);
		for (size_t k = 0; k < b.n; k++)
			if ((b.data[k] >= 0 && b.data[k] < ' ' && b.data[k] != '\n') ||
			    b.data[k] == 0x7f)
				abort();
		dck_buffer_done(&b);
	}
}

/* Draws each figure of the record; the SVG must be complete, whatever the values. */
static void check_figures(const dck_record *r)
{
	size_t n;
	const dck_figure *const *all = dck_figures(&n);

	for (size_t i = 0; i < n; i++) {
		dck_buffer b = {0};
		dck_sink s;

		if (!all[i]->has(r))
			continue;
		dck_sink_buffer(&s, &b);
		all[i]->draw(r, &s);
		if (dck_sink_finish(&s, NULL) != DCK_OK || b.n < 7 ||
		    strcmp(b.data + b.n - 7, "</svg>\n") != 0)
			abort();
		dck_buffer_done(&b);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	dck_record *r = NULL, *again = NULL;
	dck_err err = {0};

	if (dck_record_parse((const char *)bytes, n, &r, &err) != DCK_OK) {
		if (err.msg[0] == '\0' || r)
			abort();
		return 0;
	}
	check_text(r);
	check_figures(r);
	dck_buffer md = write_as("markdown", r, NULL);
	dck_buffer csv = write_as("csv", r, NULL), first = write_as("json", r, NULL);
	if (dck_record_parse(first.data, first.n, &again, &err) != DCK_OK)
		abort();
	dck_buffer second = write_as("json", again, NULL);
	if (second.n != first.n || memcmp(second.data, first.data, first.n) != 0)
		abort();
	dck_buffer_done(&csv);
	dck_buffer_done(&md);
	dck_buffer_done(&first);
	dck_buffer_done(&second);
	dck_record_free(r);
	dck_record_free(again);
	return 0;
}
