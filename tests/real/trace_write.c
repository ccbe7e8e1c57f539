/* trace_write.c - writes a timeline in a format, for trace_formats.py, which opens the result with
 * other programs.
 *
 *     trace_write FORMAT <LINES >FILE      lines: track ID PARENT KIND PID TID NAME
 *                                                 name ID TEXT
 *                                                 event TRACK KIND NS NAME NUMBER
 *     trace_write FORMAT TRACE >FILE       the same from a trace of Perfetto
 *
 * Names are in hexadecimal, "-" is not a name; kinds are numbers; the number of an async range is
 * its id.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/write/formats.h"
#include "profiler/read/perfetto/perfetto_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void stop(const char *why)
{
	fprintf(stderr, "trace_write: %s\n", why);
	exit(1);
}

/* Decodes hexadecimal digits. */
static size_t bytes_of(const char *hex, char *to, size_t room)
{
	size_t n = 0;
	unsigned byte;

	if (strcmp(hex, "-") != 0)
		for (; n + 1 < room && sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
			to[n] = (char)byte;
	to[n] = '\0';
	return n;
}

static void tell(const trace_format *f, trace_out *o)
{
	static char line[20000], hex[16000], name[8000];
	unsigned id, track, kind, other;
	int pid, tid;
	uint64_t ns;
	double real;

	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "track %u %u %u %d %d %15999s", &id, &other, &kind, &pid, &tid,
			   hex) == 6) {
			bytes_of(hex, name, sizeof name);
			f->track(o, &(trace_track){.id = id,
						   .parent = other,
						   .kind = (trace_track_kind)kind,
						   .pid = pid,
						   .tid = tid,
						   .name = strcmp(hex, "-") == 0 ? NULL : name});
		} else if (sscanf(line, "name %u %15999s", &id, hex) == 2) {
			f->intern(
			    o, id,
			    &(trace_name){.text = name, .n = bytes_of(hex, name, sizeof name)});
		} else if (sscanf(line, "event %u %u %" SCNu64 " %u %lf", &track, &kind, &ns,
				  &other, &real) == 5) {
			trace_event e = {.ns = ns, .kind = kind, .name = other, .as.real = real};
			if (kind >= TRACE_ASYNC_BEGIN)
				e.as.id = (uint64_t)real;
			f->events(o, track, &e, 1);
		} else {
			stop(line);
		}
	}
}

int main(int argc, char **argv)
{
	static dck_sink sink;
	const trace_format *f = argc > 1 ? trace_format_find(argv[1]) : NULL;
	dck_err err = {0};
	dck_status status;

	if (!f)
		stop("no such format");
	dck_sink_fd(&sink, 1);
	if (argc > 2) {
		trace_read_facts facts;
		wire_source s;
		status = wire_source_open(argv[2], &wire_perfetto, &s, &err);
		if (status == DCK_OK) {
			status = perfetto_read(&s, f, &sink, &facts, &err);
			wire_source_close(&s);
		}
		if (status == DCK_OK)
			fprintf(stderr,
				"%" PRIu64 " packets, %" PRIu64 " events, %" PRIu64
				" skipped, %" PRIu64 " undated, %" PRIu64 " late %s\n",
				facts.packets, facts.events, facts.skipped, facts.undated,
				facts.late, facts.cut);
	} else {
		const trace_header about = {.unix_ns = 1700000000000000000,
					    .monotonic_ns = 5000000000,
					    .boottime_ns = 6000000000,
					    .command = "prog"};
		trace_out *o;
		status = f->open(&o, &sink, &about, &err);
		if (status == DCK_OK) {
			tell(f, o);
			status = f->close(o, &err);
		}
	}
	if (status == DCK_OK)
		status = dck_sink_finish(&sink, &err);
	if (status != DCK_OK)
		stop(err.msg);
	return 0;
}
