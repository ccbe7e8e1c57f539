/* csv_runs.c - writes the raw samples, one row per timed run, for data frames: warm-up included,
 * each with its phase.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sink.h"
#include "report/csv.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "latency", "latency/process/3", "compare/rounds/NAME": which of them a series is. */
typedef struct source {
	const char *subject;
	unsigned long process; /* 0: there is one, or none is named */
} source;

static const char *runs_after(const char *text, const char *prefix)
{
	const size_t n = strlen(prefix);

	return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

static bool source_of(const dck_record *r, const dck_series *s, source *ret)
{
	const char *process = runs_after(s->tag, "latency/process/");
	const char *subject = runs_after(s->tag, "compare/rounds/");

	*ret = (source){.subject = subject};
	if (s->unit != DCK_UNIT_NS || (!subject && !process && strcmp(s->tag, "latency") != 0))
		return false;
	if (process)
		ret->process = strtoul(process, NULL, 10);
	if (!subject)
		ret->subject = dck_record_name(r);
	return true;
}

static void runs_series_put(dck_sink *out, const dck_record *r, const dck_series *s,
			    const source *from)
{
	for (size_t i = 0; i < s->n; i++) {
		const bool warm = i < s->warmup;

		csv_text_field(out, r->id);
		csv_text_field(out, from->subject);
		if (from->process > 0)
			sink_fmt(out, "%lu", from->process);
		sink_fmt(out, ",%zu,%s,", warm ? i + 1 : i - s->warmup + 1,
			 warm ? "warmup" : "measured");
		if (s->at_ns)
			sink_fmt(out, "%" PRIu64, s->at_ns[i]);
		sink_text(out, ",");
		csv_real(out, s->values[i]);
		sink_text(out, "\r\n");
	}
}

void csv_runs(const dck_record *const *records, size_t n, dck_sink *out)
{
	source from;

	sink_text(out, "id,subject,process,run,phase,start_ns,time_ns\r\n");
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < records[i]->nseries; k++)
			if (source_of(records[i], &records[i]->series[k], &from))
				runs_series_put(out, records[i], &records[i]->series[k], &from);
}
