/* bencher.c - metrics in Bencher's JSON: for each benchmark, named by its subject, its measures,
 * each with the ends of its interval, which Bencher draws and compares. A name is there once: of
 * several records of one name the last one that has a measure counts. Values are in the unit of the
 * record.
 *
 * Source: Bencher Metric Format (bencher.dev/docs/reference/bencher-metric-format).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_write.h"
#include "report/measured.h"
#include "report/writers.h"

#include <math.h>
#include <string.h>

static const char *bencher_name(const dck_record *r)
{
	const char *name = dck_record_name(r);

	return name ? name : "a measurement";
}

static void measure_put(const dck_metric *m, json_writer *w)
{
	json_key(w, m->def->tag);
	json_flat_object(w);
	json_key(w, "value");
	json_real(w, dck_value_number(&m->value));
	if (m->level > 0 && isfinite(m->lo) && isfinite(m->hi)) {
		json_key(w, "lower_value");
		json_real(w, m->lo);
		json_key(w, "upper_value");
		json_real(w, m->hi);
	}
	json_end(w);
}

/* Returns whether a record from `from` to n has the name, and the metric, if that is not NULL. */
static bool named_has(const dck_record *const *records, size_t from, size_t n, const char *name,
		      const char *tag)
{
	for (size_t i = from; i < n; i++)
		if (strcmp(bencher_name(records[i]), name) == 0 &&
		    (!tag || measured_find(records[i], tag)))
			return true;
	return false;
}

static void benchmark_put(const dck_record *const *records, size_t n, const char *name,
			  json_writer *w)
{
	json_key(w, name);
	json_object(w);
	for (size_t i = 0; i < n; i++) {
		const dck_record *r = records[i];

		for (size_t k = 0; strcmp(bencher_name(r), name) == 0 && k < r->nmetrics; k++) {
			const dck_metric *m = &r->metrics[k];

			if (measured_find(r, m->def->tag) == m &&
			    !named_has(records, i + 1, n, name, m->def->tag))
				measure_put(m, w);
		}
	}
	json_end(w);
}

static void bencher_report(const dck_record *const *records, size_t n, const dck_style *style,
			   dck_sink *out)
{
	json_writer w;

	(void)style;
	json_init(&w, out, true);
	json_object(&w);
	for (size_t i = 0; i < n; i++)
		if (!named_has(records, 0, i, bencher_name(records[i]), NULL))
			benchmark_put(records, n, bencher_name(records[i]), &w);
	json_end(&w);
	json_done(&w);
}

const dck_writer report_bencher = {DCK_WRITER_BENCHER(WRITER), .write = bencher_report};
