/* queue_marks.c - a ring of marks in the order of the queue, and the offset of the device's clock.
 *
 * The ring has the marks that were recorded and not yet read. Its queue runs in order, so the
 * oldest is the first that the device reaches, and reading stops at one that it has not. A begin is
 * recorded only if a mark remains for the end of each open range. Times are relative to a reference
 * mark, which is exchanged for a recent one each REFERENCE_NS: drivers give differences as float.
 *
 * The offset o between the clocks (host = device + o) is bounded, not measured: a mark whose time
 * is d ran after its enqueueing and before the host saw it, so that o is in [enqueued - d, seen -
 * d]. A bound is widened by DRIFT for each ns since it was valid, and intersected with the next
 * mark's (set-membership estimation with bounded drift; Marzullo's intersection of intervals, for
 * sources that are all correct). The estimate moves only as far as the bounds require. So no range
 * begins before it was enqueued, and the error has a bound without any waiting. Marks around which
 * the host waits on an idle queue, at the opening and in finish(), make the bounds narrow: the
 * narrowest of ANCHORS brackets, and the middle is the estimate. If the bounds contradict each
 * other a clock was set, and the new mark alone counts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/device_zone/queue_marks.h"

#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { ANCHORS = 8, DEPTH_MAX = 64, READ_MAX = 64 };
#define READ_NS	     1e6 /* interval at which begin() and end() poll the oldest mark */
#define REFERENCE_NS 1e9 /* a float of a second has a resolution of 60 ns */
/* Two oscillators of 50 ppm each, as crystals are specified. While NTP slews the host's clock
 * faster (up to 500 ppm, RFC 5905), the bounds contradict each other, as when it is set. */
#define DRIFT 100e-6

typedef struct entry {
	device_mark *mark;
	double enqueued_ns; /* of the host, since `base` */
	uint64_t flow;
	uint32_t name;
	bool is_end, is_lost; /* lost: the mark could not be recorded */
} entry;

struct queue_marks {
	queue_marks_config config;
	entry *ring; /* @owned */
	size_t cap;
	uint64_t next, oldest; /* recorded; read. Modulo cap */
	/* The open ranges: how many of any kind, which of them have a mark, and how many. */
	unsigned depth, kept;
	uint64_t is_kept;
	size_t unended; /* ranges whose end was not read */
	size_t emitted; /* of these, ranges whose first mark was read */
	/* Clocks. Host times are relative to `base`, device times to the first mark. */
	uint64_t base;
	device_mark *reference;
	double reference_ns, tick_ns;
	double low, high, offset, at_ns; /* bounds and estimate; when the bounds were valid, of the
					    device */
	double reported_ns, looked_ns, last_ns; /* last reported error; last reading; last time */
	queue_marks_counts counts;
	dck_err failed; /* code DCK_OK: no error yet */
};

static double host_now(const queue_marks *m)
{
	return (double)(m->config.clock->now_ns(m->config.clock->self) - m->base);
}

/* --- clocks */

/* A mark that was reached `elapsed_ns` after the reference, between two times of the host. */
static void bounds_narrow(queue_marks *m, double elapsed_ns, double after_ns, double before_ns)
{
	const double device_ns = m->reference_ns + elapsed_ns;
	const double error_ns = m->tick_ns + elapsed_ns * 0x1p-24; /* rounded to a float */
	const double drift = fabs(device_ns - m->at_ns) * DRIFT;
	const double low = after_ns - device_ns - error_ns;
	const double high = before_ns - device_ns + error_ns;

	m->low = fmax(m->low - drift, low);
	m->high = fmin(m->high + drift, high);
	m->at_ns = device_ns;
	if (m->low > m->high) {
		m->low = low;
		m->high = high;
		m->counts.steps++;
	}
	m->offset = fmin(fmax(m->offset, m->low), m->high);
	m->counts.error_ns = fmax(m->high - m->offset, m->offset - m->low);
}

/* Compares the clocks by marks on an idle queue. */
static dck_status marks_anchor(queue_marks *m, dck_err *err)
{
	entry *e = &m->ring[m->next % m->cap];
	device_queue *q = m->config.queue;
	double ns;

	for (int i = 0; i < ANCHORS; i++) {
		const double before = host_now(m);
		DCK_TRY(device_mark_record(q, e->mark, err));
		DCK_TRY(device_wait(q, DEVICE_WAIT_SPIN, err));
		const double after = host_now(m);
		DCK_TRY(device_mark_elapsed(m->reference, e->mark, &ns, err));
		bounds_narrow(m, ns, before, after);
	}
	m->offset = (m->low + m->high) / 2;
	m->counts.error_ns = (m->high - m->low) / 2;
	m->reported_ns = 0;
	return DCK_OK;
}

static dck_status marks_begin(queue_marks *m, dck_err *err)
{
	device_queue *q = m->config.queue;

	for (size_t i = 0; i < m->cap; i++)
		DCK_TRY(device_mark_open(q->d, &m->ring[i].mark, err));
	DCK_TRY(device_mark_open(q->d, &m->reference, err));
	DCK_TRY(device_mark_record(q, m->reference, err));
	DCK_TRY(device_wait(q, DEVICE_WAIT_BLOCK, err));
	return marks_anchor(m, err);
}

/* --- opening */

dck_status queue_marks_open(const queue_marks_config *config, queue_marks **ret, dck_err *err)
{
	const double tick_ns = config->queue->d->info.mark_tick_ns;
	queue_marks *m = mem_zalloc(1, sizeof *m);

	DCK_NEED(m, err, "for the marks of a queue");
	m->config = *config;
	m->cap = config->marks;
	m->ring = mem_zalloc(m->cap, sizeof *m->ring);
	m->base = config->clock->now_ns(config->clock->self);
	m->tick_ns = tick_ns > 0 ? tick_ns : 0;
	m->low = -INFINITY;
	m->high = INFINITY;
	dck_status status =
	    m->ring ? marks_begin(m, err) : ERR_NO_MEMORY(err, "for the marks of a queue");
	if (status == DCK_OK)
		*ret = m;
	else
		queue_marks_close(m);
	return status;
}

void queue_marks_close(queue_marks *m)
{
	if (!m)
		return;
	for (size_t i = 0; m->ring && i < m->cap; i++)
		device_mark_close(m->ring[i].mark);
	device_mark_close(m->reference);
	mem_free(m->ring);
	mem_free(m);
}

/* --- reading */

static void marks_fail(queue_marks *m, const dck_err *why)
{
	if (m->failed.code == DCK_OK)
		m->failed = *why;
	for (; m->emitted > 0; m->emitted--)
		m->config.sink.end(m->config.sink.self, m->base + (uint64_t)(m->last_ns + 0.5));
	m->counts.dropped += m->unended;
	queue_marks_forget(m);
}

static void entry_emit(queue_marks *m, const entry *e, double ns)
{
	const queue_marks_sink *to = &m->config.sink;
	double error_ns = NAN;

	/* Order is the queue's, whatever the correction of the offset. */
	m->last_ns = fmax(ns, m->last_ns);
	const uint64_t at = m->base + (uint64_t)(m->last_ns + 0.5);
	if (e->is_end) {
		to->end(to->self, at);
		m->unended--;
		m->emitted--;
		m->counts.ranges++;
		return;
	}
	m->emitted++;
	if (!(m->counts.error_ns < 2 * m->reported_ns && m->counts.error_ns > m->reported_ns / 2))
		error_ns = m->reported_ns = m->counts.error_ns;
	to->begin(to->self, e->name, at, e->flow, error_ns);
}

/* Reads the oldest entry. false: the device has not reached it, or failed. */
static bool entry_read(queue_marks *m)
{
	entry *e = &m->ring[m->oldest % m->cap];
	dck_err why = {.code = DCK_OK};
	double elapsed = 0;
	bool done = e->is_lost;

	if (!done && device_mark_is_done(e->mark, &done, &why) == DCK_OK && done)
		(void)device_mark_elapsed(m->reference, e->mark, &elapsed, &why);
	if (why.code != DCK_OK) {
		marks_fail(m, &why);
		return false;
	}
	if (!done)
		return false;
	m->oldest++;
	if (e->is_lost) {
		entry_emit(m, e, m->last_ns);
		return true;
	}
	const double ns = m->reference_ns + elapsed;
	bounds_narrow(m, elapsed, e->enqueued_ns, host_now(m));
	entry_emit(m, e, fmax(ns + m->offset, e->enqueued_ns));
	if (elapsed >= REFERENCE_NS) {
		device_mark *was = m->reference;
		m->reference = e->mark;
		m->reference_ns = ns;
		e->mark = was;
	}
	return true;
}

size_t queue_marks_read(queue_marks *m)
{
	while (m->oldest != m->next && entry_read(m))
		;
	return (size_t)(m->next - m->oldest);
}

/* Reads a bounded number of marks, if it is time. */
static void read_some(queue_marks *m)
{
	const double now = host_now(m);

	if (now - m->looked_ns < READ_NS && m->next - m->oldest < m->cap / 2)
		return;
	m->looked_ns = now;
	for (int i = 0; i < READ_MAX && m->oldest != m->next && entry_read(m); i++)
		;
}

dck_status queue_marks_finish(queue_marks *m, dck_err *err)
{
	dck_err why = {.code = DCK_OK};

	if (m->failed.code == DCK_OK &&
	    device_wait(m->config.queue, DEVICE_WAIT_BLOCK, &why) != DCK_OK)
		marks_fail(m, &why);
	queue_marks_read(m);
	if (m->failed.code == DCK_OK && m->next == m->oldest && marks_anchor(m, &why) != DCK_OK)
		marks_fail(m, &why);
	return err_forward(&m->failed, err);
}

void queue_marks_forget(queue_marks *m)
{
	m->unended = m->emitted = 0;
	m->oldest = m->next;
	m->depth = m->kept = 0;
	m->is_kept = 0;
}

/* --- recording */

/* Appends an entry. E_UNSUP: a range that began cannot end at a mark. */
static dck_status entry_record(queue_marks *m, entry from)
{
	entry *e = &m->ring[m->next % m->cap];
	dck_err why = {.code = DCK_OK};

	from.mark = e->mark;
	from.enqueued_ns = host_now(m);
	const dck_status status = device_mark_record(m->config.queue, e->mark, &why);
	from.is_lost = status != DCK_OK;
	if (status == DCK_OK || (status == DCK_E_UNSUP && from.is_end)) {
		*e = from;
		m->next++;
	} else if (status != DCK_E_UNSUP) {
		marks_fail(m, &why);
	}
	return status;
}

void queue_marks_begin(queue_marks *m, uint32_t name, uint64_t flow)
{
	bool keeps = false;

	read_some(m);
	if (flow && m->failed.code == DCK_OK && m->depth < DEPTH_MAX &&
	    m->cap - (m->next - m->oldest) >= m->kept + 2)
		keeps = entry_record(m, (entry){.name = name, .flow = flow}) == DCK_OK;
	if (m->depth < DEPTH_MAX)
		m->is_kept = (m->is_kept & ~(UINT64_C(1) << m->depth)) | (uint64_t)keeps
									     << m->depth;
	m->depth++;
	m->kept += keeps;
	m->unended += keeps;
	m->counts.dropped += flow && !keeps;
}

void queue_marks_end(queue_marks *m)
{
	if (m->depth == 0)
		return;
	m->depth--;
	if (m->depth >= DEPTH_MAX || !(m->is_kept >> m->depth & 1))
		return;
	m->kept--;
	if (entry_record(m, (entry){.is_end = true}) == DCK_E_UNSUP)
		m->counts.dropped++;
	read_some(m);
}

queue_marks_counts queue_marks_count(const queue_marks *m)
{
	return m->counts;
}
