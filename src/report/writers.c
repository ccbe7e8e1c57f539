/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/opt_text.h"
#include "deepclock/opt.h"
#include "deepclock/unstable.h"
#include "report/writers.h"
#include <string.h>

static const dck_writer *const writers[] = {
#define X(id, NAME, ending, text) &report_##id,
    DCK_WRITER_MAP(X)
#undef X
};
#define WRITERS (sizeof writers / sizeof writers[0])

const dck_writer *const *dck_writers(size_t *ret_n)
{
	*ret_n = WRITERS;
	return writers;
}

static dck_status not_found(const char *name, dck_err *err)
{
	const char *names[WRITERS];
	for (size_t i = 0; i < WRITERS; i++)
		names[i] = writers[i]->name;
	const char *nearest = dck_nearest(name, names, WRITERS);
	if (nearest)
		DCK_FAIL(err, E_ABSENT, "there is no report format '%s'; did you mean '%s'?", name,
			 nearest);
#define X(id, NAME, ending, text) ", " #id
	DCK_FAIL(err, E_ABSENT, "there is no report format '%s'; the formats are %s", name,
		 &(DCK_WRITER_MAP(X))[2]);
#undef X
}

dck_status dck_print(const dck_record *r, int fd, dck_err *err)
{
	dck_sink out;

	dck_sink_fd(&out, fd);
	DCK_TRY(dck_report("text", &r, 1, NULL, &out, err));
	return dck_sink_finish(&out, err);
}

dck_status dck_report(const char *writer, const dck_record *const *records, size_t n,
		      const dck_style *style, dck_sink *out, dck_err *err)
{
	for (size_t i = 0; i < WRITERS; i++) {
		if (strcmp(writers[i]->name, writer) == 0) {
			const char *why = writers[i]->missing ? writers[i]->missing() : NULL;
			if (why)
				DCK_FAIL(err, E_ABSENT, "%s", why);
			if (style)
				DCK_TRY(opt_fields_check(dck_op_options, &style->ops, err));
			writers[i]->write(records, n, style, out);
			return DCK_OK;
		}
	}
	return not_found(writer, err);
}
