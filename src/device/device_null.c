/* device_null.c - the null device (device_null.h): queues, marks and memory on a simulated clock.
 *
 * The device has the host's time, under one lock; each queue has the time at which its last command
 * ends. Enqueueing advances the host's time by enqueue_ns, waiting advances it to the queue's end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/device_null.h"

#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MEMORY_BYTES (UINT64_C(1) << 30)

typedef struct null_device {
	device head;
	pthread_mutex_t lock; /* of all below */
	device_null_times times;
	double now_ns;
	uint64_t used_bytes;
	char broken[128]; /* "": it works */
} null_device;

/* A copy that has not been waited for. */
typedef struct null_copy {
	void *to;
	const void *from;
	size_t bytes;
} null_copy;

typedef struct null_queue {
	device_queue head;
	double end_ns; /* of its last command */
	null_copy *copy;
	size_t n, cap;
} null_queue;

typedef struct null_mark {
	device_mark head;
	bool recorded;
	double at_ns, end_ns; /* its time stamp, and when it was taken */
} null_mark;

typedef struct null_memory {
	device_memory head;
	unsigned char *bytes;
} null_memory;

static null_device *null_of(device *d)
{
	return (null_device *)d;
}

static dck_status null_check(device *d, dck_err *err)
{
	null_device *self = null_of(d);
	dck_status status = DCK_OK;

	pthread_mutex_lock(&self->lock);
	if (*self->broken)
		status = ERR_SET(err, E_DEVICE, "null: %s", self->broken);
	pthread_mutex_unlock(&self->lock);
	return status;
}

/* Enqueues a command of this duration; returns when it ends. */
static double null_enqueue(device_queue *q, double ns)
{
	null_device *d = null_of(q->d);
	null_queue *self = (null_queue *)q;

	pthread_mutex_lock(&d->lock);
	d->now_ns += d->times.enqueue_ns;
	self->end_ns = fmax(self->end_ns, d->now_ns + d->times.lag_ns) + ns;
	pthread_mutex_unlock(&d->lock);
	return self->end_ns;
}

static dck_status null_count(unsigned *ret, dck_err *err)
{
	(void)err;
	*ret = 1;
	return DCK_OK;
}

static dck_status null_device_open(unsigned index, device **ret, dck_err *err)
{
	if (index > 0)
		DCK_FAIL(err, E_ABSENT, "there is no null:%u: there is one null device", index);
	null_device *d = mem_zalloc(1, sizeof *d);
	DCK_NEED(d, err, "for the null device");
	pthread_mutex_init(&d->lock, NULL);
	d->times.mark_tick_ns = 1;
	d->head.info = (device_info){.name = "null",
				     .driver = "null",
				     .software = true,
				     .fp64 = true,
				     .units = 4,
				     .group_max = 1024,
				     .clock_hz = (double)NAN,
				     .mark_tick_ns = 1};
	device_null_set_memory(&d->head, MEMORY_BYTES);
	*ret = &d->head;
	return DCK_OK;
}

static void null_device_close(device *d)
{
	pthread_mutex_destroy(&null_of(d)->lock);
	mem_free(d);
}

static dck_status null_queue_open(device *d, device_queue **ret, dck_err *err)
{
	DCK_TRY(null_check(d, err));
	null_queue *q = mem_zalloc(1, sizeof *q);
	DCK_NEED(q, err, "for a queue");
	q->head.d = d;
	*ret = &q->head;
	return DCK_OK;
}

static void null_queue_close(device_queue *q)
{
	mem_free(((null_queue *)q)->copy);
	mem_free(q);
}

static dck_status null_wait(device_queue *q, device_wait_kind how, dck_err *err)
{
	null_device *d = null_of(q->d);
	null_queue *self = (null_queue *)q;

	DCK_TRY(null_check(q->d, err));
	for (size_t i = 0; i < self->n; i++)
		memcpy(self->copy[i].to, self->copy[i].from, self->copy[i].bytes);
	self->n = 0;
	pthread_mutex_lock(&d->lock);
	if (self->end_ns > d->now_ns)
		d->now_ns = self->end_ns + (how == DEVICE_WAIT_BLOCK ? d->times.wake_ns : 0);
	pthread_mutex_unlock(&d->lock);
	return DCK_OK;
}

static dck_status null_mark_open(device *d, device_mark **ret, dck_err *err)
{
	null_mark *m = mem_zalloc(1, sizeof *m);

	DCK_NEED(m, err, "for a mark");
	m->head.d = d;
	*ret = &m->head;
	return DCK_OK;
}

static void null_mark_close(device_mark *m)
{
	mem_free(m);
}

static dck_status null_mark_record(device_queue *q, device_mark *m, dck_err *err)
{
	null_mark *self = (null_mark *)m;
	const double tick = null_of(q->d)->times.mark_tick_ns;

	DCK_TRY(null_check(q->d, err));
	self->end_ns = null_enqueue(q, 0);
	self->at_ns = floor(self->end_ns / tick) * tick;
	self->recorded = true;
	return DCK_OK;
}

static dck_status null_mark_elapsed(const device_mark *from, const device_mark *to, double *ret_ns,
				    dck_err *err)
{
	const null_mark *a = (const null_mark *)from, *b = (const null_mark *)to;
	null_device *d = null_of(from->d);

	DCK_TRY(null_check(from->d, err));
	if (!a->recorded || !b->recorded)
		DCK_FAIL(err, E_ARG, "a mark was not recorded");
	pthread_mutex_lock(&d->lock);
	const double now = d->now_ns;
	pthread_mutex_unlock(&d->lock);
	if (a->end_ns > now || b->end_ns > now)
		DCK_FAIL(err, E_ARG, "a mark was not waited for");
	*ret_ns = b->at_ns - a->at_ns;
	return DCK_OK;
}

static dck_status null_mark_is_done(const device_mark *m, bool *ret, dck_err *err)
{
	const null_mark *self = (const null_mark *)m;
	null_device *d = null_of(m->d);

	DCK_TRY(null_check(m->d, err));
	if (!self->recorded)
		DCK_FAIL(err, E_ARG, "a mark was not recorded");
	pthread_mutex_lock(&d->lock);
	*ret = self->end_ns <= d->now_ns;
	pthread_mutex_unlock(&d->lock);
	return DCK_OK;
}

static dck_status null_memory_open(device *d, uint64_t bytes, device_memory **ret, dck_err *err)
{
	null_device *self = null_of(d);

	DCK_TRY(null_check(d, err));
	pthread_mutex_lock(&self->lock);
	const bool fits = bytes <= d->info.memory_bytes - self->used_bytes;
	if (fits)
		self->used_bytes += bytes;
	pthread_mutex_unlock(&self->lock);
	if (!fits)
		DCK_FAIL(err, E_NOMEM, "null: device memory is exhausted");
	null_memory *m = mem_zalloc(1, sizeof *m);
	unsigned char *data = mem_zalloc(1, (size_t)bytes);
	if (!m || !data) {
		mem_free(m);
		mem_free(data);
		pthread_mutex_lock(&self->lock);
		self->used_bytes -= bytes;
		pthread_mutex_unlock(&self->lock);
		return ERR_NO_MEMORY(err, "for a buffer");
	}
	*m = (null_memory){{d, bytes}, data};
	*ret = &m->head;
	return DCK_OK;
}

static void null_memory_close(device_memory *m)
{
	null_device *d = null_of(m->d);

	pthread_mutex_lock(&d->lock);
	d->used_bytes -= m->bytes;
	pthread_mutex_unlock(&d->lock);
	mem_free(((null_memory *)m)->bytes);
	mem_free(m);
}

static dck_status null_memory_free(device *d, uint64_t *ret_free, uint64_t *ret_total, dck_err *err)
{
	null_device *self = null_of(d);

	DCK_TRY(null_check(d, err));
	pthread_mutex_lock(&self->lock);
	*ret_free = d->info.memory_bytes - self->used_bytes;
	*ret_total = d->info.memory_bytes;
	pthread_mutex_unlock(&self->lock);
	return DCK_OK;
}

static dck_status null_host_alloc(device *d, uint64_t bytes, void **ret, dck_err *err)
{
	DCK_TRY(null_check(d, err));
	*ret = mem_zalloc(1, (size_t)bytes);
	DCK_NEED(*ret, err, "for pinned memory");
	return DCK_OK;
}

static void null_host_free(device *d, void *bytes)
{
	(void)d;
	mem_free(bytes);
}

static dck_status copy_enqueue(device_queue *q, void *to, const void *from, uint64_t bytes,
			       dck_err *err)
{
	null_queue *self = (null_queue *)q;
	const device_null_times *t = &null_of(q->d)->times;

	DCK_TRY(null_check(q->d, err));
	DCK_NEED(mem_reserve(&self->copy, &self->cap, self->n + 1, sizeof *self->copy), err,
		 "for a copy");
	self->copy[self->n++] = (null_copy){to, from, (size_t)bytes};
	null_enqueue(q, t->copy_ns + t->copy_byte_ns * (double)bytes);
	return DCK_OK;
}

static dck_status null_copy_host(device_queue *q, device_direction way, device_memory *m,
				 uint64_t at, void *host, uint64_t bytes, dck_err *err)
{
	unsigned char *own = ((null_memory *)m)->bytes + at;

	return way == DEVICE_FROM_HOST ? copy_enqueue(q, own, host, bytes, err)
				       : copy_enqueue(q, host, own, bytes, err);
}

static dck_status null_copy_within(device_queue *q, device_memory *to, uint64_t to_at,
				   device_memory *from, uint64_t from_at, uint64_t bytes,
				   dck_err *err)
{
	return copy_enqueue(q, ((null_memory *)to)->bytes + to_at,
			    ((null_memory *)from)->bytes + from_at, bytes, err);
}

static dck_status null_kernel_open(device *d, const char *source, const char *name,
				   device_kernel **ret, dck_err *err)
{
	DCK_TRY(null_check(d, err));
	if (strncmp(source, "#error ", 7) == 0)
		DCK_FAIL(err, E_FORMAT, "the kernel does not compile: %.*s",
			 (int)strcspn(source, "\n"), source);
	if (!strstr(source, name))
		DCK_FAIL(err, E_ARG, "null, %s: the source has no kernel of this name", name);
	device_kernel *k = mem_zalloc(1, sizeof *k);
	DCK_NEED(k, err, "for a kernel");
	k->d = d;
	*ret = k;
	return DCK_OK;
}

static void null_kernel_close(device_kernel *k)
{
	mem_free(k);
}

static dck_status null_kernel_run(device_queue *q, device_kernel *k, const device_arg *args,
				  size_t nargs, uint32_t groups, uint32_t group_size, dck_err *err)
{
	const device_null_times *t = &null_of(q->d)->times;
	double work = (double)groups * group_size;

	(void)k;
	DCK_TRY(null_check(q->d, err));
	for (size_t i = nargs; i-- > 0;)
		if (!args[i].memory) {
			work *= args[i].word;
			break;
		}
	null_enqueue(q, t->kernel_ns + t->work_ns * work);
	return DCK_OK;
}

/* --- for tests */

void device_null_advance(device *d, double ns)
{
	pthread_mutex_lock(&null_of(d)->lock);
	null_of(d)->now_ns += ns;
	pthread_mutex_unlock(&null_of(d)->lock);
}

void device_null_set(device *d, const device_null_times *times)
{
	pthread_mutex_lock(&null_of(d)->lock);
	null_of(d)->times = *times;
	if (!(times->mark_tick_ns > 0))
		null_of(d)->times.mark_tick_ns = 1;
	d->info.mark_tick_ns = null_of(d)->times.mark_tick_ns;
	pthread_mutex_unlock(&null_of(d)->lock);
}

void device_null_set_memory(device *d, uint64_t bytes)
{
	d->info.memory_bytes = d->info.allocation_bytes = bytes;
}

void device_null_break(device *d, const char *message)
{
	pthread_mutex_lock(&null_of(d)->lock);
	snprintf(null_of(d)->broken, sizeof null_of(d)->broken, "%s", message);
	pthread_mutex_unlock(&null_of(d)->lock);
}

static uint64_t null_now(void *self)
{
	null_device *d = self;

	pthread_mutex_lock(&d->lock);
	const double now = d->now_ns;
	pthread_mutex_unlock(&d->lock);
	return (uint64_t)now;
}

void device_null_clock(device *d, dck_clock *ret)
{
	*ret = (dck_clock){.name = "null", .now_ns = null_now, .self = null_of(d), .tick_ns = 1};
}

extern const device_driver device_null;
const device_driver device_null = {
    .name = "null",
    .remedy = "it is always there",
    .kernel_language = "null",
    .count = null_count,
    .open = null_device_open,
    .close = null_device_close,
    DEVICE_WORK_MEMBERS(null),
    .copy = null_copy_within,
    .memory_free = null_memory_free,
    .kernel_open = null_kernel_open,
    .kernel_close = null_kernel_close,
    .kernel_run = null_kernel_run,
};
