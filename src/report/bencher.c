/* bencher.c - metrics in Bencher's JSON: for each benchmark, named by its subject, its measures,
 * each with the ends of its interval, which Bencher draws and compares. A name is there once: of
 * several records of one name the last one that has a measure counts. Values are in the unit of the
 * record.
 *
 * Source: Bencher Metric Format (bencher.dev/docs/reference/bencher-metric-format).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_write.h"
#include "base/sink.h"
#include "report/measured.h"
#include "report/writers.h"

#include <math.h>
#include <string.h>

static const char *bencher_name(const dck_record *r, mem_arena *a)
{
	const char *name = dck_record_name(r);

	(void)a;
	return name ? name : "a measurement";
}

static void measure_put(const dck_metric *m, json_writer *w)
{
	json_flat_object(json_key(w, m->def->tag));
	json_real(json_key(w, "value"), dck_value_number(&m->value));
	if (m->level > 0 && isfinite(m->lo) && isfinite(m->hi)) {
		json_real(json_key(w, "lower_value"), m->lo);
		json_real(json_key(w, "upper_value"), m->hi);
	}
	json_end(w);
}

static void bencher_report(const dck_record *const *records, size_t n, const dck_style *style,
			   dck_sink *out)
{
	json_writer w;
	measured m;
	dck_err err;

	(void)style;
	if (measured_make(records, n, bencher_name, &m, &err) != DCK_OK) {
		sink_fail(out, &err);
		return;
	}
	measured_sort_groups(&m);
	json_init(&w, out, true);
	json_object(&w);
	for (size_t i = 0; i < m.n; i++) {
		if (i == 0 || m.row[i].group != m.row[i - 1].group) {
			json_object(json_key(&w, bencher_name(m.row[i].record, m.arena)));
		}
		measure_put(m.row[i].metric, &w);
		if (i + 1 == m.n || m.row[i + 1].group != m.row[i].group)
			json_end(&w);
	}
	json_end(&w);
	json_done(&w);
	measured_done(&m);
}

const dck_writer report_bencher = {DCK_WRITER_BENCHER(WRITER), .write = bencher_report};
