/* json.c - the record itself; several records are a list.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/build.h"
#include "report/writers.h"

static void json_report(const dck_record *const *records, size_t n, const dck_style *style,
			dck_sink *out)
{
	json_writer w;

	(void)style;
	json_init(&w, out, true);
	if (n != 1)
		json_begin_array(&w);
	for (size_t i = 0; i < n; i++)
		record_json_put(records[i], &w);
	if (n != 1)
		json_end(&w);
	json_done(&w);
}

const dck_writer report_json = {DCK_WRITER_JSON(WRITER), .write = json_report};
