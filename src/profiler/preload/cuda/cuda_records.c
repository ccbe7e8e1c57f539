/* cuda_records.c - reads the buffers that CUPTI has filled.
 *
 * A buffer is mapped when CUPTI requests it and unmapped when it has been read: no memory of the
 * program's heap, and a megabyte holds 5000 kernels. Records come in no order, so the work of a
 * buffer is sorted by its begin (heapsort: in place) before it is written. Copies in one stream are
 * recorded apart from kernels, so that one may still come in a later buffer than its successor; the
 * track then draws it in a second row.
 *
 * Buffers complete in a thread of CUPTI, or in one that flushes: one lock for all of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda_records.h"
#include "cuda_calls.h"
#include "cuda_clock.h"
#include "cuda_memory.h"
#include "cuda_names.h"

#include "profiler/trace/backfill.h"
#include "profiler/trace/result/device_report.h"
#include "profiler/trace/device_track.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { BUFFER_BYTES = 1 << 20, WORKS = 16384, STREAMS = 256 };

/* What a stream executed. */
typedef struct work {
	uint64_t begin_ns, end_ns, bytes;
	uint32_t name, device, context, stream, correlation;
	bool moves; /* it has bytes */
} work;

typedef struct cuda_stream {
	device_track *track; /* NULL: empty */
	uint32_t device, context, number;
} cuda_stream;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cupti_functions cupti;
static cuda_clock clocks;
static bool own_clock;
static work *works;
static size_t nworks;
static cuda_stream streams[STREAMS];
static uint32_t bytes_name, rate_name;
static uint64_t nranges, nunfinished, nunjoined;
static _Atomic uint64_t ndropped;

/* The narrowest of some readings: the thread may lose its processor in between. */
static void clocks_read(void)
{
	uint64_t best = UINT64_MAX, theirs = 0, ours = 0;

	for (int i = 0; own_clock && i < 8; i++) {
		uint64_t read;
		const uint64_t before = cuda_clock_now();
		const bool known = cupti.timestamp(&read) == CUPTI_API_SUCCESS;
		const uint64_t width = cuda_clock_now() - before;

		if (!known || width >= best)
			continue;
		best = width;
		theirs = read;
		ours = before + width / 2;
	}
	if (best != UINT64_MAX)
		cuda_clock_pair(&clocks, theirs, ours);
}

static void *map(size_t bytes)
{
	void *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

bool cuda_records_init(const cupti_functions *f, bool with_own_clock)
{
	cupti = *f;
	own_clock = with_own_clock;
	works = map(WORKS * sizeof *works);
	bytes_name = dck_past_name(NULL, "bytes");
	rate_name = dck_past_name(NULL, "GB/s");
	clocks_read();
	return works != NULL;
}

/* --- writing */

/* Returns the stream's track; NULL: there are too many. */
static device_track *track_of(const work *w)
{
	char name[96];
	bool other = false; /* the device has a track of another context */
	size_t i = 0;

	for (; i < STREAMS && streams[i].track; i++) {
		const cuda_stream *s = &streams[i];

		if (s->device == w->device && s->context == w->context && s->number == w->stream)
			return s->track;
		other = other || (s->device == w->device && s->context != w->context);
	}
	if (i == STREAMS)
		return streams[STREAMS - 1].track;
	if (i == STREAMS - 1)
		snprintf(name, sizeof name, "cuda, stream of many");
	else if (other)
		snprintf(name, sizeof name, "cuda:%u context %u stream %u", w->device, w->context,
			 w->stream);
	else
		snprintf(name, sizeof name, "cuda:%u stream %u", w->device, w->stream);
	streams[i] = (cuda_stream){dck_device_track_open(name), w->device, w->context, w->stream};
	return streams[i].track;
}

static void work_write(const work *w)
{
	device_range r = {.name = w->name, .begin_ns = w->begin_ns, .end_ns = w->end_ns};
	const call_seen seen = cuda_calls_find(w->correlation, &r.flow);

	if (seen == CALL_UNRECORDED)
		return;
	nunjoined += seen == CALL_UNKNOWN;
	device_track *track = track_of(w);
	if (!track)
		return;
	if (w->moves) {
		r.nnumbers = w->end_ns > w->begin_ns ? 2 : 1;
		r.numbers[0].name = bytes_name;
		r.numbers[0].value = (double)w->bytes;
		r.numbers[1].name = rate_name;
		if (r.nnumbers > 1)
			r.numbers[1].value = (double)w->bytes / (double)(w->end_ns - w->begin_ns);
	}
	dck_device_track_range(track, &r);
	nranges++;
}

static void works_sift(work *w, size_t from, size_t n)
{
	const work moved = w[from];
	size_t child;

	for (; (child = 2 * from + 1) < n; from = child) {
		child += child + 1 < n && w[child + 1].begin_ns > w[child].begin_ns;
		if (w[child].begin_ns <= moved.begin_ns)
			break;
		w[from] = w[child];
	}
	w[from] = moved;
}

static void works_write(void)
{
	for (size_t i = nworks / 2; i-- > 0;)
		works_sift(works, i, nworks);
	for (size_t n = nworks; n > 1;) {
		const work last = works[--n];

		works[n] = works[0];
		works[0] = last;
		works_sift(works, 0, n);
	}
	for (size_t i = 0; i < nworks; i++)
		work_write(&works[i]);
	nworks = 0;
}

/* --- reading */

static uint32_t copy_name(uint8_t kind)
{
	switch (kind) {
	case CUPTI_API_HTOD:
	case CUPTI_API_HTOA:
		return dck_past_name("copy", "copy host to device");
	case CUPTI_API_DTOH:
	case CUPTI_API_ATOH:
		return dck_past_name("copy", "copy device to host");
	case CUPTI_API_HTOH:
		return dck_past_name("copy", "copy host to host");
	case CUPTI_API_PTOP:
		return dck_past_name("copy", "copy between devices");
	default:
		return dck_past_name("copy", "copy device to device");
	}
}

/* Adds what a stream executed; start or end 0: it has not ended yet, or its times are lost. */
static void work_add(uint64_t start, uint64_t end, work w)
{
	if (!start || !end) {
		nunfinished++;
		return;
	}
	w.begin_ns = cuda_clock_convert(&clocks, start);
	w.end_ns = cuda_clock_convert(&clocks, end);
	if (nworks == WORKS)
		works_write();
	works[nworks++] = w;
}

/* Adds a record of a kind that has bytes. */
#define MOVED(r, what)                                   \
	work_add((r)->start, (r)->end,                   \
		 (work){.name = (what),                  \
			.bytes = (r)->bytes,             \
			.device = (r)->device,           \
			.context = (r)->context,         \
			.stream = (r)->stream,           \
			.correlation = (r)->correlation, \
			.moves = true})

static void cupti_record_read(const cupti_record *record)
{
	switch (record->kind) {
	case CUPTI_API_KERNEL: {
		const cupti_kernel *k = (const void *)record;

		work_add(k->start, k->end,
			 (work){.name = cuda_kernel_id(k->name ? k->name : "(no name)"),
				.device = k->device,
				.context = k->context,
				.stream = k->stream,
				.correlation = k->correlation});
		break;
	}
	case CUPTI_API_COPY: {
		const cupti_copy *c = (const void *)record;
		MOVED(c, copy_name(c->copy_kind));
		break;
	}
	case CUPTI_API_COPY_PEER: {
		const cupti_copy_peer *c = (const void *)record;
		MOVED(c, copy_name(CUPTI_API_PTOP));
		break;
	}
	case CUPTI_API_SET: {
		const cupti_set *c = (const void *)record;
		MOVED(c, dck_past_name("set", "set memory"));
		break;
	}
	default:
		break;
	}
}

void cuda_records_requested(uint8_t **buffer, size_t *size, size_t *records_max)
{
	*buffer = map(BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*records_max = 0; /* the number that fits */
}

static void counts_report(void)
{
	uint64_t enqueued;
	const uint64_t calls = cuda_calls_count(&enqueued);

	dck_device_report(&(device_report){.calls = calls,
					   .enqueued = enqueued,
					   .memory_peak = cuda_memory_peak(),
					   .ranges = nranges,
					   .dropped = ndropped,
					   .unfinished = nunfinished,
					   .unjoined = nunjoined});
}

void cuda_records_completed(cupti_context context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid)
{
	cupti_record *record = NULL;
	size_t dropped = 0;

	pthread_mutex_lock(&lock);
	clocks_read();
	while (valid && cupti.next_record(buffer, valid, &record) == CUPTI_API_SUCCESS)
		cupti_record_read(record);
	works_write();
	if (cupti.dropped(context, stream, &dropped) == CUPTI_API_SUCCESS)
		ndropped += dropped;
	counts_report();
	pthread_mutex_unlock(&lock);
	if (buffer)
		munmap(buffer, size);
}

void cuda_records_end(void)
{
	pthread_mutex_lock(&lock);
	counts_report();
	pthread_mutex_unlock(&lock);
}
