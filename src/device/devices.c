/* devices.c - the table of drivers, and the functions of device.h.
 *
 * Each function makes the checks that all drivers share: the driver supports the call (a member
 * that is not NULL), the objects belong to one device, ranges are within their buffers, numbers of
 * arguments and work items are within bounds. Then it calls the driver. A
 * close function of NULL does nothing. "gpu" opens each device in turn until one is not the host's
 * processor.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/device.h"

#include "base/err.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Up to this long a wait spins. Waking a blocked thread takes some 10 us to 50 us, which is then at
 * most 5 % of the wait. */
#define SPIN_MAX_NS 1e6
#define INDEX_MAX   9999

extern const device_driver device_cuda, device_hip, device_null, device_opencl;

/* In the order in which "gpu" tries them. */
static const device_driver *const drivers[] = {
    &device_cuda, &device_hip, &device_opencl, &device_null, /* last, not tried */
};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

const device_driver *device_driver_at(size_t i)
{
	return i < DRIVERS ? drivers[i] : NULL;
}

const device_driver *device_driver_find(const char *name, size_t n)
{
	for (size_t i = 0; i < DRIVERS; i++)
		if (strlen(drivers[i]->name) == n && strncmp(drivers[i]->name, name, n) == 0)
			return drivers[i];
	return NULL;
}

/* --- opening */

static dck_status driver_count(const device_driver *r, unsigned *ret, dck_err *err)
{
	dck_err why = {.code = DCK_OK};
	const dck_status status = r->count(ret, &why);

	if (status == DCK_E_ABSENT)
		DCK_FAIL(err, E_ABSENT, "there is no %s device: %s; %s", r->name, why.msg,
			 r->remedy);
	return err_pass(status, &why, err);
}

static dck_status driver_open(const device_driver *r, unsigned index, device **ret, dck_err *err)
{
	DCK_TRY(r->open(index, ret, err));
	(*ret)->driver = r;
	return DCK_OK;
}

/* Opens the first device that is not the host's processor. A device that cannot be opened is passed
 * over; the message names what there is instead. */
static dck_status gpu_open(device **ret, dck_err *err)
{
	char seen[400] = "";
	size_t used = 0;

	for (size_t i = 0; i + 1 < DRIVERS; i++) {
		const device_driver *r = drivers[i];
		dck_err why = {.code = DCK_OK};
		unsigned n = 0;
		if (r->count(&n, &why) != DCK_OK && used < sizeof seen)
			used += (size_t)snprintf(seen + used, sizeof seen - used, "; %s: %.120s",
						 r->name, why.msg);
		for (unsigned k = 0; k < n; k++) {
			device *d = NULL;
			const dck_status status = driver_open(r, k, &d, &why);
			if (status == DCK_OK && !d->info.software) {
				*ret = d;
				return DCK_OK;
			}
			if (used < sizeof seen)
				used += (size_t)snprintf(seen + used, sizeof seen - used,
							 "; %s:%u %s%.120s", r->name, k,
							 status == DCK_OK ? "is a processor: " : "",
							 status == DCK_OK ? d->info.name : why.msg);
			device_close(d);
		}
	}
	DCK_FAIL(err, E_ABSENT, "there is no GPU%s", seen);
}

dck_status device_open(const char *text, device **ret, dck_err *err)
{
	const size_t n = strcspn(text, ":");
	const device_driver *r = device_driver_find(text, n);
	unsigned long index = 0;
	unsigned count = 0;

	if (strcmp(text, "gpu") == 0)
		return gpu_open(ret, err);
	if (text[n] == ':') {
		char *end = NULL;
		if (isdigit((unsigned char)text[n + 1]))
			index = strtoul(text + n + 1, &end, 10);
		if (!end || *end || index > INDEX_MAX)
			DCK_FAIL(err, E_ARG, "'%s' is not a device: write %s or %.*s:N", text,
				 r ? r->name : "DRIVER", (int)n, text);
	}
	if (!r) {
		char known[100] = "gpu";
		for (size_t i = 0, used = 3; i + 1 < DRIVERS && used < sizeof known; i++)
			used += (size_t)snprintf(known + used, sizeof known - used, ", %s, %s:N",
						 drivers[i]->name, drivers[i]->name);
		DCK_FAIL(err, E_ARG, "'%s' is not a device: it is one of %s", text, known);
	}
	DCK_TRY(driver_count(r, &count, err));
	if (index >= count)
		DCK_FAIL(err, E_ABSENT, "there is no %s:%lu: %s has %u device%s, from %s:0",
			 r->name, index, r->name, count, count == 1 ? "" : "s", r->name);
	return driver_open(r, (unsigned)index, ret, err);
}

void device_close(device *d)
{
	if (d)
		d->driver->close(d);
}

/* --- calls of the driver */

/* Fails if the driver does not offer the member. */
#define NEED(d, member, what)                                                                    \
	do {                                                                                     \
		if (!(d)->driver->member)                                                        \
			DCK_FAIL(err, E_UNSUP, "%s does not offer %s", (d)->driver->name, what); \
	} while (0)

dck_status device_queue_open(device *d, device_queue **ret, dck_err *err)
{
	NEED(d, queue_open, "queues");
	return d->driver->queue_open(d, ret, err);
}

void device_queue_close(device_queue *q)
{
	if (q)
		q->d->driver->queue_close(q);
}

dck_status device_queue_wrap(const char *driver, void *native, device **ret_device,
			     device_queue **ret, dck_err *err)
{
	const device_driver *r = device_driver_find(driver, strlen(driver));
	unsigned n = 0;

	if (!r || !r->queue_wrap)
		DCK_FAIL(err, E_ARG,
			 "'%s' has no queues of programs: it is one of cuda, hip, opencl", driver);
	DCK_TRY(driver_count(r, &n, err));
	return r->queue_wrap(native, ret_device, ret, err);
}

dck_status device_flush(device_queue *q, dck_err *err)
{
	return q->d->driver->flush ? q->d->driver->flush(q, err) : DCK_OK;
}

dck_status device_wait(device_queue *q, device_wait_kind how, dck_err *err)
{
	NEED(q->d, wait, "waiting");
	return q->d->driver->wait(q, how, err);
}

device_wait_kind device_wait_choose(double expected_ns)
{
	return expected_ns <= SPIN_MAX_NS ? DEVICE_WAIT_SPIN : DEVICE_WAIT_BLOCK;
}

const char *device_wait_name(device_wait_kind how)
{
	return how == DEVICE_WAIT_SPIN ? "spin" : "block";
}

dck_status device_mark_open(device *d, device_mark **ret, dck_err *err)
{
	NEED(d, mark_open, "marks");
	return d->driver->mark_open(d, ret, err);
}

void device_mark_close(device_mark *m)
{
	if (m)
		m->d->driver->mark_close(m);
}

/* The part of a message that is the same of all functions with several objects. */
static dck_status other_device(dck_err *err)
{
	return ERR_SET(err, E_ARG, "the objects are of different devices");
}

dck_status device_mark_record(device_queue *q, device_mark *m, dck_err *err)
{
	NEED(q->d, mark_record, "marks");
	if (q->d != m->d)
		return other_device(err);
	return q->d->driver->mark_record(q, m, err);
}

dck_status device_mark_is_done(const device_mark *m, bool *ret, dck_err *err)
{
	NEED(m->d, mark_is_done, "marks that are polled");
	return m->d->driver->mark_is_done(m, ret, err);
}

dck_status device_mark_elapsed(const device_mark *from, const device_mark *to, double *ret_ns,
			       dck_err *err)
{
	NEED(from->d, mark_elapsed, "marks");
	if (from->d != to->d)
		return other_device(err);
	return from->d->driver->mark_elapsed(from, to, ret_ns, err);
}

dck_status device_memory_open(device *d, uint64_t bytes, device_memory **ret, dck_err *err)
{
	const uint64_t most = d->info.allocation_bytes;

	NEED(d, memory_open, "memory");
	if (bytes == 0)
		DCK_FAIL(err, E_ARG, "a buffer of no bytes");
	if (bytes > SIZE_MAX || (most > 0 && bytes > most))
		DCK_FAIL(err, E_NOMEM,
			 "%s:%u cannot allocate %llu bytes at once: its largest buffer has %llu",
			 d->driver->name, d->index, (unsigned long long)bytes,
			 (unsigned long long)most);
	return d->driver->memory_open(d, bytes, ret, err);
}

void device_memory_close(device_memory *m)
{
	if (m)
		m->d->driver->memory_close(m);
}

dck_status device_host_alloc(device *d, uint64_t bytes, void **ret, dck_err *err)
{
	NEED(d, host_alloc, "pinned memory");
	if (bytes == 0 || bytes > SIZE_MAX)
		DCK_FAIL(err, E_ARG, "pinned memory of %llu bytes", (unsigned long long)bytes);
	return d->driver->host_alloc(d, bytes, ret, err);
}

void device_host_free(device *d, void *bytes)
{
	if (bytes)
		d->driver->host_free(d, bytes);
}

static dck_status range_check(const device_memory *m, uint64_t at, uint64_t bytes, dck_err *err)
{
	if (bytes == 0 || at > m->bytes || bytes > m->bytes - at)
		DCK_FAIL(err, E_ARG, "a copy of %llu bytes at %llu of a buffer of %llu",
			 (unsigned long long)bytes, (unsigned long long)at,
			 (unsigned long long)m->bytes);
	return DCK_OK;
}

dck_status device_copy_host(device_queue *q, device_direction way, device_memory *m, uint64_t at,
			    void *host, uint64_t bytes, dck_err *err)
{
	NEED(q->d, copy_host, "copies");
	if (q->d != m->d)
		return other_device(err);
	if (way != DEVICE_FROM_HOST && way != DEVICE_TO_HOST)
		DCK_FAIL(err, E_ARG, "a copy with the host is from or to the host");
	DCK_TRY(range_check(m, at, bytes, err));
	return q->d->driver->copy_host(q, way, m, at, host, bytes, err);
}

dck_status device_copy(device_queue *q, device_memory *to, uint64_t to_at, device_memory *from,
		       uint64_t from_at, uint64_t bytes, dck_err *err)
{
	NEED(q->d, copy, "copies between buffers");
	if (q->d != to->d || q->d != from->d)
		return other_device(err);
	DCK_TRY(range_check(to, to_at, bytes, err));
	DCK_TRY(range_check(from, from_at, bytes, err));
	if (to == from && to_at < from_at + bytes && from_at < to_at + bytes)
		DCK_FAIL(err, E_ARG, "a copy within a buffer onto itself");
	return q->d->driver->copy(q, to, to_at, from, from_at, bytes, err);
}

dck_status device_memory_free(device *d, uint64_t *ret_free, uint64_t *ret_total, dck_err *err)
{
	NEED(d, memory_free, "the amount of free memory");
	return d->driver->memory_free(d, ret_free, ret_total, err);
}

dck_status device_kernel_open(device *d, const char *source, const char *name, device_kernel **ret,
			      dck_err *err)
{
	NEED(d, kernel_open, "kernels");
	return d->driver->kernel_open(d, source, name, ret, err);
}

void device_kernel_close(device_kernel *k)
{
	if (k)
		k->d->driver->kernel_close(k);
}

dck_status device_kernel_run(device_queue *q, device_kernel *k, const device_arg *args,
			     size_t nargs, uint32_t groups, uint32_t group_size, dck_err *err)
{
	const unsigned most = q->d->info.group_max;

	NEED(q->d, kernel_run, "kernels");
	if (q->d != k->d)
		return other_device(err);
	if (nargs > DEVICE_KERNEL_ARGS)
		DCK_FAIL(err, E_ARG, "a kernel with %zu arguments: at most %d", nargs,
			 DEVICE_KERNEL_ARGS);
	if (groups == 0 || group_size == 0 || (most > 0 && group_size > most))
		DCK_FAIL(err, E_ARG, "%u groups of %u work items: a group has 1 to %u", groups,
			 group_size, most);
	for (size_t i = 0; i < nargs; i++)
		if (args[i].memory && args[i].memory->d != q->d)
			return other_device(err);
	return q->d->driver->kernel_run(q, k, args, nargs, groups, group_size, err);
}
