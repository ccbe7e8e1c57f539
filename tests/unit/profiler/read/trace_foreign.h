/* trace_foreign.h - Perfetto traces that our writer would not write, made packet by packet, and the
 * reader's log of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TRACE_FOREIGN_H
#define TESTS_TRACE_FOREIGN_H

#include "trace_log.h"

#include "profiler/timeline/perfetto.h"
#include "profiler/read/perfetto/perfetto_read.h"

static inline dck_status read_log(const void *bytes, size_t n, trace_log *l,
				  trace_read_facts *facts, dck_err *err)
{
	static dck_sink sink;
	wire_source s;

	trace_log_sink(&sink, l);
	dck_status status = wire_source_bytes(bytes, n, &wire_perfetto, &s, err);
	if (status == DCK_OK) {
		status = perfetto_read(&s, &trace_log_format, &sink, facts, err);
		wire_source_close(&s);
	}
	return status;
}

typedef struct foreign {
	wire_out w;
	size_t packet, event;
} foreign;

static inline void packet(foreign *x, uint32_t sequence)
{
	x->packet = wire_begin(&x->w, PF_TRACE_PACKET);
	wire_put_int(&x->w, PF_PACKET_SEQUENCE, sequence);
}

static inline void packet_end(foreign *x)
{
	wire_end(&x->w, x->packet);
}

static inline void stamp(foreign *x, uint32_t sequence, int64_t ns, int64_t clock)
{
	packet(x, sequence);
	wire_put_int(&x->w, PF_PACKET_TIMESTAMP, ns);
	if (clock)
		wire_put_int(&x->w, PF_PACKET_CLOCK, clock);
}

static inline void clock(foreign *x, int64_t id, int64_t value, int64_t multiplier,
			 bool incremental)
{
	size_t at = wire_begin(&x->w, PF_SNAPSHOT_CLOCK);

	wire_put_int(&x->w, PF_CLOCK_ID, id);
	wire_put_int(&x->w, PF_CLOCK_TIME, value);
	if (incremental)
		wire_put_int(&x->w, PF_CLOCK_INCREMENTAL, 1);
	if (multiplier)
		wire_put_int(&x->w, PF_CLOCK_MULTIPLIER, multiplier);
	wire_end(&x->w, at);
}

/* Starts an event; event_end() closes the event and its packet. */
static inline void event(foreign *x, int64_t type, int64_t track, const char *name)
{
	x->event = wire_begin(&x->w, PF_PACKET_TRACK_EVENT);
	wire_put_int(&x->w, PF_EVENT_TYPE, type);
	if (track)
		wire_put_int(&x->w, PF_EVENT_TRACK, track);
	if (name)
		wire_put_text(&x->w, PF_EVENT_NAME, name);
}

static inline void event_end(foreign *x)
{
	wire_end(&x->w, x->event);
	packet_end(x);
}

static inline void thread(foreign *x, int64_t uuid, int64_t pid, int64_t tid, const char *name)
{
	packet(x, 1);
	size_t track = wire_begin(&x->w, PF_PACKET_TRACK);
	size_t one = wire_begin(&x->w, PF_TRACK_THREAD);
	wire_put_int(&x->w, PF_THREAD_PID, pid);
	wire_put_int(&x->w, PF_THREAD_TID, tid);
	wire_put_text(&x->w, PF_THREAD_NAME, name);
	wire_end(&x->w, one);
	wire_put_int(&x->w, PF_TRACK_UUID, uuid); /* last, because fields may come in any order */
	wire_end(&x->w, track);
	packet_end(x);
}

static inline const char *told(foreign *x, const char *what, trace_read_facts *facts)
{
	static trace_log got;
	static char text[4096];
	dck_err err = {0};

	if (read_log(x->w.data, x->w.n, &got, facts, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	const char *found = trace_log_find(&got, what);
	snprintf(text, sizeof text, "%s", found ? found : "");
	for (size_t i = 0; i < LOG_TRACKS; i++)
		assert_false(got.tracks[i].disorder);
	trace_log_done(&got);
	return text;
}

#endif
