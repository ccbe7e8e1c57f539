/* device_limits.c - measures the limits of a device through its queue.
 *
 * Peaks and memory: a kernel is enqueued between two marks, and the time between them is the
 * device's own. Its number of steps is raised until a round takes ROUND_NS, so that starting the
 * kernel and the tick of the marks are a small part; the rounds of all limits alternate in passes,
 * so that a disturbance does not take all rounds of one. Transfers, launches and the cost of marks
 * are what the host waits for, so they are timed by the host's clock.
 *
 * The wait is chosen by the time that an empty kernel takes from being enqueued until a blocked
 * wait returns (device_wait_choose()). A device that is the processor has work groups of one item,
 * which walk memory in the order of their addresses; a GPU has groups of 256, in which adjacent
 * items access adjacent addresses, and a few groups for each unit, so that all of its threads are
 * occupied.
 *
 * A limit that a device refuses (no memory, no such type) is absent with the reason; a device that
 * fails ends the measurement.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/roofline/device_limits.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/observer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	PASSES = 5,
	ROUNDS = 5,
	QUICK_PASSES = 2,
	QUICK_ROUNDS = 3,
	GROUP = 256,
	GROUPS_PEAK = 32, /* for each unit */
	GROUPS_MEMORY = 8,
	GROUPS_SOFTWARE = 4,
	STEPS_MAX = 1 << 30,
	LAUNCHES = 40, /* in each pass */
	MARKS = 64,
};
#define ROUND_NS       20e6
#define QUICK_ROUND_NS 5e6
#define MIB	       (UINT64_C(1) << 20)
/* Arrays of CACHE_RATIO times the last cache; below CACHE_RATIO_MIN a rate may be the cache's. */
#define CACHE_RATIO	4
#define CACHE_RATIO_MIN 2

#define ROW_PEAK(type, id)                                                                         \
	{                                                                                          \
		"device/peak/" type, DCK_UNIT_FLOP_PER_S, DEVICE_LIMIT_PEAK, id, DEVICE_TO_DEVICE, \
		    false                                                                          \
	}
#define ROW_MEMORY(kind, id)                                                         \
	{                                                                            \
		"device/memory/" kind, DCK_UNIT_BYTE_PER_S, DEVICE_LIMIT_MEMORY, id, \
		    DEVICE_TO_DEVICE, false                                          \
	}
#define ROW_TRANSFER(name, way, pinned)                                              \
	{                                                                            \
		"device/transfer/" name, DCK_UNIT_BYTE_PER_S, DEVICE_LIMIT_TRANSFER, \
		    DEVICE_WORK_EMPTY, way, pinned                                   \
	}
#define ROW_TIME(tag, kind)                                                        \
	{                                                                          \
		tag, DCK_UNIT_NS, kind, DEVICE_WORK_EMPTY, DEVICE_TO_DEVICE, false \
	}

const device_limit_row device_limit_rows[DEVICE_LIMITS] = {
    ROW_TIME("device/kernel/enqueue", DEVICE_LIMIT_ENQUEUE),
    ROW_TIME("device/kernel/complete", DEVICE_LIMIT_COMPLETE),
    ROW_TIME("device/mark/record", DEVICE_LIMIT_RECORD),
    ROW_TIME("device/mark/tick", DEVICE_LIMIT_TICK),
    ROW_PEAK("fp64", DEVICE_WORK_FP64),
    ROW_PEAK("fp32", DEVICE_WORK_FP32),
    ROW_PEAK("fp16", DEVICE_WORK_FP16),
    ROW_PEAK("bf16", DEVICE_WORK_BF16),
    ROW_PEAK("int8", DEVICE_WORK_INT8),
    ROW_PEAK("fp16_matrix", DEVICE_WORK_FP16_MATRIX),
    ROW_PEAK("bf16_matrix", DEVICE_WORK_BF16_MATRIX),
    ROW_PEAK("int8_matrix", DEVICE_WORK_INT8_MATRIX),
    ROW_MEMORY("read", DEVICE_WORK_READ),
    ROW_MEMORY("copy", DEVICE_WORK_COPY),
    ROW_MEMORY("triad", DEVICE_WORK_TRIAD),
    ROW_TRANSFER("to_device", DEVICE_FROM_HOST, false),
    ROW_TRANSFER("to_device_pinned", DEVICE_FROM_HOST, true),
    ROW_TRANSFER("from_device", DEVICE_TO_HOST, false),
    ROW_TRANSFER("from_device_pinned", DEVICE_TO_HOST, true),
};

typedef struct limits_run {
	device *d;
	const dck_clock *clock;
	bool quick;
	const dck_observer *watch;
	device_limits *ret;
	uint64_t began_ns;
	device_queue *q;
	device_mark *from, *to, *mark[MARKS];
	device_memory *array[3], *out;
	void *pageable, *pinned;
	device_kernel *kernel[DEVICE_WORKS];
	uint32_t groups_peak, groups_memory, group, steps[DEVICE_WORKS];
} limits_run;

static double host_now_ns(const limits_run *u)
{
	return (double)u->clock->now_ns(u->clock->self);
}

static void value_append(device_limit *i, double v)
{
	if (i->n < DEVICE_ROUNDS_MAX)
		i->value[i->n++] = v;
}

static device_limit *limit_of(limits_run *u, device_limit_kind kind)
{
	size_t i = 0;

	while (device_limit_rows[i].kind != kind)
		i++;
	return &u->ret->item[i];
}

/* Makes a failure the reason why a limit is absent, unless it ends the measurement. */
static dck_status limit_refused(device_limit *i, dck_status status, const dck_err *why,
				dck_err *err)
{
	if (status == DCK_E_NOMEM || status == DCK_E_UNSUP || status == DCK_E_FORMAT) {
		snprintf(i->why, sizeof i->why, "%.190s", why->msg);
		return DCK_OK;
	}
	return err_pass(status, why, err);
}

/* --- preparing */

/* Enqueues steps[work] steps of a kernel. */
static dck_status work_enqueue(limits_run *u, device_work work, dck_err *err)
{
	const device_arg peak[] = {{.memory = u->out}, {.word = u->steps[work]}};
	const device_arg memory[] = {{.memory = u->array[0]},
				     {.memory = u->array[1]},
				     {.memory = u->array[2]},
				     {.word = u->steps[work]}};

	const bool is_peak = work < DEVICE_WORK_READ;

	if (work == DEVICE_WORK_EMPTY)
		return device_kernel_run(u->q, u->kernel[work], NULL, 0, 1, 1, err);
	return device_kernel_run(u->q, u->kernel[work], is_peak ? peak : memory, is_peak ? 2 : 4,
				 is_peak ? u->groups_peak : u->groups_memory, u->group, err);
}

/* Returns the device time of one round of a kernel. */
static dck_status kernel_round_run(limits_run *u, device_work work, double *ret_ns, dck_err *err)
{
	DCK_TRY(device_mark_record(u->q, u->from, err));
	DCK_TRY(work_enqueue(u, work, err));
	DCK_TRY(device_mark_record(u->q, u->to, err));
	DCK_TRY(device_wait(u->q, DEVICE_WAIT_BLOCK, err));
	return device_mark_elapsed(u->from, u->to, ret_ns, err);
}

/* Raises the steps of a peak's kernel until a round is long enough. The first round of a kernel may
 * compile it; and other programs may make a round long, so that the least of three counts. */
static dck_status kernel_steps_find(limits_run *u, device_work work, dck_err *err)
{
	const double long_enough = u->quick ? QUICK_ROUND_NS : ROUND_NS;
	double ns = 0;

	u->steps[work] = 64;
	DCK_TRY(kernel_round_run(u, work, &ns, err));
	for (;; u->steps[work] *= 2) {
		double least = INFINITY;
		for (int i = 0; i < 3; i++) {
			DCK_TRY(kernel_round_run(u, work, &ns, err));
			least = fmin(least, ns);
			if (least < long_enough)
				break;
		}
		if (least >= long_enough || u->steps[work] >= STEPS_MAX)
			return DCK_OK;
	}
}

/* Returns what a device that does not offer a peak's work lacks; NULL: it offers it. */
static const char *work_lacks(const device_info *i, device_work work)
{
	const struct {
		device_work work;
		bool offered;
		const char *what;
	} rows[] = {
	    {DEVICE_WORK_FP64, i->fp64, "FP64"},
	    {DEVICE_WORK_FP16, i->fp16, "FP16"},
	    {DEVICE_WORK_BF16, i->bf16, "BF16"},
	    {DEVICE_WORK_INT8, i->int8, "INT8"},
	    {DEVICE_WORK_FP16_MATRIX, i->matrix, "units for matrices of FP16"},
	    {DEVICE_WORK_BF16_MATRIX, i->matrix, "units for matrices of BF16"},
	    {DEVICE_WORK_INT8_MATRIX, i->matrix, "units for matrices of INT8"},
	};

	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (rows[k].work == work)
			return rows[k].offered ? NULL : rows[k].what;
	return NULL;
}

/* Compiles the kernel of a limit. */
static dck_status kernel_prepare(limits_run *u, device_limit *i, device_work work, dck_err *err)
{
	const char *language = u->d->driver->kernel_language;
	const char *lacks = work_lacks(&u->d->info, work);
	const device_program *p = device_program_find(language, work);
	dck_err why;

	if (!p) {
		snprintf(i->why, sizeof i->why, "deepclock has no kernel for it in %s", language);
		return DCK_OK;
	}
	if (lacks) {
		snprintf(i->why, sizeof i->why, "the device does not offer %s", lacks);
		return DCK_OK;
	}
	const dck_status status =
	    device_kernel_open(u->d, p->source, "work", &u->kernel[work], &why);
	return status == DCK_OK ? DCK_OK : limit_refused(i, status, &why, err);
}

static uint64_t bytes_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns the bytes of each array: CACHE_RATIO times the last cache, at least what exceeds the
 * caches of known devices; at most an eighth of the device's memory. */
static uint64_t arrays_bytes_choose(const limits_run *u)
{
	const device_info *i = &u->d->info;
	const uint64_t least = (i->software ? 64 : 256) * MIB;
	uint64_t bytes =
	    bytes_least(CACHE_RATIO * bytes_least(i->cache_bytes, 1024 * MIB), 1024 * MIB);

	bytes = bytes < least ? least : bytes;
	if (i->memory_bytes > 0)
		bytes = bytes_least(bytes, i->memory_bytes / 8);
	return i->allocation_bytes > 0 ? bytes_least(bytes, i->allocation_bytes) : bytes;
}

/* Allocates the three arrays, smaller ones where these do not fit. */
static dck_status arrays_open(limits_run *u, dck_err *err)
{
	uint64_t bytes = arrays_bytes_choose(u);
	dck_status status = DCK_E_NOMEM;

	for (; status == DCK_E_NOMEM && bytes >= MIB; bytes /= 2) {
		size_t n = 0;
		for (status = DCK_OK; n < 3 && status == DCK_OK; n++)
			status = device_memory_open(u->d, bytes, &u->array[n], err);
		if (status == DCK_OK)
			break;
		for (size_t i = 0; i < 3; i++) {
			device_memory_close(u->array[i]);
			u->array[i] = NULL;
		}
	}
	if (status != DCK_OK && status != DCK_E_NOMEM)
		return status;
	/* Each work item accesses a multiple of four elements. */
	const uint64_t all = (uint64_t)u->groups_memory * u->group * 16;
	if (status != DCK_OK || bytes < 4 * all)
		DCK_FAIL(err, E_NOMEM, "device memory has no place for arrays larger than caches");
	const uint32_t steps = (uint32_t)bytes_least(bytes / all, STEPS_MAX) & ~3u;
	u->ret->array_bytes = (double)all * steps;
	u->ret->cached = u->d->info.cache_bytes > 0 &&
			 u->ret->array_bytes < CACHE_RATIO_MIN * (double)u->d->info.cache_bytes;
	u->steps[DEVICE_WORK_READ] = u->steps[DEVICE_WORK_COPY] = u->steps[DEVICE_WORK_TRIAD] =
	    steps;
	return DCK_OK;
}

/* Writes the arrays that are read: pages of a processor's memory that were never written are all
 * one page of zeros, in its caches. */
static dck_status arrays_write(limits_run *u, dck_err *err)
{
	for (int i = 0; i < 3 && u->kernel[DEVICE_WORK_COPY]; i += 2) {
		const device_arg args[] = {{.memory = u->array[1]},
					   {.memory = u->array[i]},
					   {.memory = u->array[1]},
					   {.word = u->steps[DEVICE_WORK_COPY]}};
		DCK_TRY(device_kernel_run(u->q, u->kernel[DEVICE_WORK_COPY], args, 4,
					  u->groups_memory, u->group, err));
	}
	return device_wait(u->q, DEVICE_WAIT_BLOCK, err);
}

/* The memory of both sides of transfers. Writing it makes its pages. */
static dck_status transfers_open(limits_run *u, dck_err *err)
{
	const uint64_t bytes = bytes_least((u->quick ? 16 : 64) * MIB, arrays_bytes_choose(u));

	if (bytes == 0)
		DCK_FAIL(err, E_NOMEM, "the device has no memory for transfers");
	u->pageable = mem_alloc((size_t)bytes);
	DCK_NEED(u->pageable, err, "for transfers");
	memset(u->pageable, 1, (size_t)bytes);
	if (!u->array[0])
		DCK_TRY(device_memory_open(u->d, bytes, &u->array[0], err));
	u->ret->transfer_bytes = (double)bytes_least(bytes, u->array[0]->bytes);
	return DCK_OK;
}

static dck_status pinned_open(limits_run *u, dck_err *err)
{
	const size_t bytes = (size_t)u->ret->transfer_bytes;

	DCK_TRY(device_host_alloc(u->d, bytes, &u->pinned, err));
	memset(u->pinned, 1, bytes);
	return DCK_OK;
}

static void groups_choose(limits_run *u)
{
	const device_info *i = &u->d->info;
	/* Drivers' numbers: a device has at least one unit and fewer than 65536. */
	const uint32_t units = i->units < 1 ? 1 : i->units > 65535 ? 65535 : i->units;

	u->group = i->software				      ? 1
		   : i->group_max > 0 && i->group_max < GROUP ? i->group_max
							      : GROUP;
	u->groups_peak = units * (i->software ? GROUPS_SOFTWARE : GROUPS_PEAK);
	u->groups_memory = units * (i->software ? GROUPS_SOFTWARE : GROUPS_MEMORY);
}

/* Opens the resources of all limits, then those of each limit. A refused resource makes its limits
 * absent. */
static dck_status limits_open(limits_run *u, dck_err *err)
{
	dck_err memory = {.code = DCK_OK}, transfer = memory, pinned = memory;

	groups_choose(u);
	DCK_TRY(device_queue_open(u->d, &u->q, err));
	DCK_TRY(device_mark_open(u->d, &u->from, err));
	DCK_TRY(device_mark_open(u->d, &u->to, err));
	for (int i = 0; i < MARKS; i++)
		DCK_TRY(device_mark_open(u->d, &u->mark[i], err));
	DCK_TRY(device_memory_open(u->d, (uint64_t)u->groups_peak * u->group * 64, &u->out, err));
	(void)arrays_open(u, &memory);
	(void)transfers_open(u, &transfer);
	if (transfer.code == DCK_OK)
		(void)pinned_open(u, &pinned);
	device_limit *launch = limit_of(u, DEVICE_LIMIT_ENQUEUE);
	DCK_TRY(kernel_prepare(u, launch, DEVICE_WORK_EMPTY, err));
	memcpy(limit_of(u, DEVICE_LIMIT_COMPLETE)->why, launch->why, sizeof launch->why);
	for (size_t k = 0; k < DEVICE_LIMITS; k++) {
		const device_limit_row *row = &device_limit_rows[k];
		device_limit *i = &u->ret->item[k];
		const dck_err *why = row->kind == DEVICE_LIMIT_MEMORY	      ? &memory
				     : row->kind != DEVICE_LIMIT_TRANSFER     ? NULL
				     : row->pinned && transfer.code == DCK_OK ? &pinned
									      : &transfer;
		if (why && why->code != DCK_OK)
			DCK_TRY(limit_refused(i, why->code, why, err));
		else if (row->kind <= DEVICE_LIMIT_MEMORY)
			DCK_TRY(kernel_prepare(u, i, row->work, err));
		if (row->kind == DEVICE_LIMIT_PEAK && u->kernel[row->work])
			DCK_TRY(kernel_steps_find(u, row->work, err));
	}
	return arrays_write(u, err);
}

static void limits_close(limits_run *u)
{
	for (int i = 0; i < DEVICE_WORKS; i++)
		device_kernel_close(u->kernel[i]);
	for (int i = 0; i < 3; i++)
		device_memory_close(u->array[i]);
	device_memory_close(u->out);
	device_host_free(u->d, u->pinned);
	mem_free(u->pageable);
	for (int i = 0; i < MARKS; i++)
		device_mark_close(u->mark[i]);
	device_mark_close(u->from);
	device_mark_close(u->to);
	device_queue_close(u->q);
}

/* --- the rounds */

static dck_status kernel_rounds(limits_run *u, const device_limit_row *row, device_limit *i,
				unsigned rounds, dck_err *err)
{
	const bool peak = row->kind == DEVICE_LIMIT_PEAK;
	const device_program *p = device_program_find(u->d->driver->kernel_language, row->work);
	double ns = 0;

	i->round_amount =
	    p->amount * u->steps[row->work] * u->group * (peak ? u->groups_peak : u->groups_memory);
	for (unsigned k = 0; k < rounds; k++) {
		DCK_TRY(kernel_round_run(u, row->work, &ns, err));
		if (ns > 0)
			value_append(i, 1e9 * i->round_amount / ns);
		else
			snprintf(i->why, sizeof i->why, "the device's marks are too coarse for it");
	}
	return DCK_OK;
}

static dck_status transfer_rounds(limits_run *u, const device_limit_row *row, device_limit *i,
				  unsigned rounds, dck_err *err)
{
	void *host = row->pinned ? u->pinned : u->pageable;

	i->round_amount = u->ret->transfer_bytes;
	for (unsigned k = 0; k < rounds; k++) {
		const double from = host_now_ns(u);
		DCK_TRY(device_copy_host(u->q, row->way, u->array[0], 0, host,
					 (uint64_t)i->round_amount, err));
		DCK_TRY(device_wait(u->q, u->ret->wait, err));
		const double ns = host_now_ns(u) - from;
		if (ns > 0)
			value_append(i, 1e9 * i->round_amount / ns);
		else
			snprintf(i->why, sizeof i->why, "the clock is too coarse for it");
	}
	return DCK_OK;
}

/* One empty kernel on an idle queue: the call that enqueues it, and until the wait returns. */
static dck_status launch_time(limits_run *u, device_wait_kind how, double *ret_enqueue,
			      double *ret_complete, dck_err *err)
{
	const double from = host_now_ns(u);

	DCK_TRY(work_enqueue(u, DEVICE_WORK_EMPTY, err));
	*ret_enqueue = host_now_ns(u) - from;
	DCK_TRY(device_wait(u->q, how, err));
	*ret_complete = host_now_ns(u) - from;
	return DCK_OK;
}

static dck_status launch_rounds(limits_run *u, unsigned n, dck_err *err)
{
	double enqueue = 0, complete = 0;

	for (unsigned k = 0; k < n; k++) {
		DCK_TRY(launch_time(u, u->ret->wait, &enqueue, &complete, err));
		value_append(limit_of(u, DEVICE_LIMIT_ENQUEUE), enqueue);
		value_append(limit_of(u, DEVICE_LIMIT_COMPLETE), complete);
	}
	return DCK_OK;
}

/* The median of a few launches would need a sort; the least is as good for choosing. */
static dck_status wait_choose(limits_run *u, dck_err *err)
{
	double enqueue = 0, complete = 0, least = INFINITY;

	for (int i = 0; i < 10 && u->kernel[DEVICE_WORK_EMPTY]; i++) {
		DCK_TRY(launch_time(u, DEVICE_WAIT_BLOCK, &enqueue, &complete, err));
		least = fmin(least, complete);
	}
	u->ret->wait = device_wait_choose(least);
	return DCK_OK;
}

/* The host's cost of recording a mark, and the least time between two that differ. */
static dck_status mark_rounds(limits_run *u, unsigned rounds, dck_err *err)
{
	device_limit *tick = limit_of(u, DEVICE_LIMIT_TICK);
	double ns = 0;

	for (unsigned k = 0; k < rounds; k++) {
		const double from = host_now_ns(u);
		double least = INFINITY;
		for (int i = 0; i < MARKS; i++)
			DCK_TRY(device_mark_record(u->q, u->mark[i], err));
		value_append(limit_of(u, DEVICE_LIMIT_RECORD), (host_now_ns(u) - from) / MARKS);
		DCK_TRY(device_wait(u->q, DEVICE_WAIT_BLOCK, err));
		for (int i = 1; i < MARKS; i++) {
			DCK_TRY(device_mark_elapsed(u->mark[i - 1], u->mark[i], &ns, err));
			if (ns > 0)
				least = fmin(least, ns);
		}
		if (least < INFINITY)
			value_append(tick, least);
		else
			snprintf(tick->why, sizeof tick->why, "marks in a row have the same time");
	}
	return DCK_OK;
}

static dck_status limit_rounds(limits_run *u, size_t k, unsigned rounds, dck_err *err)
{
	const device_limit_row *row = &device_limit_rows[k];
	device_limit *i = &u->ret->item[k];

	switch (row->kind) {
	case DEVICE_LIMIT_PEAK:
	case DEVICE_LIMIT_MEMORY:
		return *i->why ? DCK_OK : kernel_rounds(u, row, i, rounds, err);
	case DEVICE_LIMIT_TRANSFER:
		return *i->why ? DCK_OK : transfer_rounds(u, row, i, rounds, err);
	case DEVICE_LIMIT_ENQUEUE:
		return *i->why ? DCK_OK : launch_rounds(u, LAUNCHES, err);
	case DEVICE_LIMIT_RECORD:
		return mark_rounds(u, rounds, err);
	default: /* measured with the one before it */
		return DCK_OK;
	}
}

static dck_status limits_run_all(limits_run *u, dck_err *err)
{
	const unsigned passes = u->quick ? QUICK_PASSES : PASSES;
	const unsigned rounds = u->quick ? QUICK_ROUNDS : ROUNDS;
	const unsigned all = passes * DEVICE_LIMITS;

	for (unsigned k = 0; k < all; k++) {
		if (observer_cancelled(u->watch)) {
			u->ret->interrupted = true;
			if (k == 0)
				DCK_FAIL(err, E_CANCEL, "cancelled before the first result");
			return DCK_OK;
		}
		const dck_progress p = progress_fraction(
		    "limits of the device", k, all, u->clock->now_ns(u->clock->self) - u->began_ns);
		observer_show(u->watch, &p);
		DCK_TRY(limit_rounds(u, k % DEVICE_LIMITS, rounds, err));
	}
	return DCK_OK;
}

dck_status device_limits_measure(device *d, const dck_clock *clock, bool quick,
				 const dck_observer *watch, device_limits *ret, dck_err *err)
{
	limits_run u = {.d = d, .clock = clock, .quick = quick, .watch = watch, .ret = ret};

	u.began_ns = clock->now_ns(clock->self);
	dck_status status = limits_open(&u, err);
	DCK_NEXT(status, wait_choose(&u, err));
	DCK_NEXT(status, limits_run_all(&u, err));
	limits_close(&u);
	ret->took_ns = (double)(clock->now_ns(clock->self) - u.began_ns);
	return status;
}
