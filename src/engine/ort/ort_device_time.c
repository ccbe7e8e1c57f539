/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "device/cuda_work.h"
#include "engine/ort/ort_trace.h"
#include "engine/ort/ort_watch.h"

#include <stdlib.h>

static int op_begins(const void *a, const void *b)
{
	const ort_trace_op *x = *(ort_trace_op *const *)a, *y = *(ort_trace_op *const *)b;

	if (x->begin_us != y->begin_us)
		return x->begin_us < y->begin_us ? -1 : 1;
	return (x->duration_us < y->duration_us) - (x->duration_us > y->duration_us);
}

static uint64_t op_end_us(const ort_trace_op *op)
{
	return op->begin_us + op->duration_us; /* both are rounded down, and so are calls */
}

/* Adds a work to the innermost open operator and to those around it. One that ends before it ran
 * before it. */
static void device_work_add(ort_trace_op *const *open, size_t n, uint64_t begin_ns, uint64_t ns)
{
	const uint64_t end = op_end_us(open[n - 1]);

	while (n--) {
		if (op_end_us(open[n]) < end)
			continue;
		open[n]->has_device = true;
		open[n]->device_ns += ns;
		if (!open[n]->device_end_ns || begin_ns < open[n]->device_begin_ns)
			open[n]->device_begin_ns = begin_ns;
		if (begin_ns + ns > open[n]->device_end_ns)
			open[n]->device_end_ns = begin_ns + ns;
	}
}

/* Operators in the order of their beginnings, of which `open` holds those around the current time:
 * one that ended is dropped when it is on top, so that an operator with a body outlasts those
 * inside it. */
dck_status ort_device_time_add(ort_trace *t, uint64_t start_ns, const cuda_work *w, size_t n,
			       double *ret_share, dck_err *err)
{
	ort_trace_op **ops = mem_zalloc(2 * t->nops + 1, sizeof *ops), **open = ops + t->nops;
	double all_ns = 0, owned_ns = 0;
	size_t next = 0, nopen = 0;

	DCK_NEED(ops, err, "for the device time of %zu operators", t->nops);
	for (size_t i = 0; i < t->nops; i++)
		ops[i] = &t->ops[i];
	qsort(ops, t->nops, sizeof(ort_trace_op *), op_begins);
	for (size_t i = 0; i < n; i++) {
		if (w[i].called_ns < start_ns)
			continue;
		const uint64_t us = (w[i].called_ns - start_ns) / 1000;

		for (; next < t->nops && ops[next]->begin_us <= us; next++) {
			while (nopen && op_end_us(open[nopen - 1]) < ops[next]->begin_us)
				nopen--;
			open[nopen++] = ops[next];
		}
		while (nopen && op_end_us(open[nopen - 1]) < us)
			nopen--;
		all_ns += (double)w[i].took_ns;
		if (!nopen)
			continue;
		owned_ns += (double)w[i].took_ns;
		device_work_add(open, nopen, w[i].began_ns - start_ns, w[i].took_ns);
	}
	mem_free(ops);
	*ret_share = all_ns > 0 ? owned_ns / all_ns : 0;
	return DCK_OK;
}

dck_status ort_device_time(ort_trace *t, uint64_t start_ns, dck_err *err)
{
	cuda_work *works;
	const size_t n = cuda_work_end(&works);
	double share = 0;
	const dck_status status = ort_device_time_add(t, start_ns, works, n, &share, err);

	mem_free(works);
	for (size_t i = 0; i < t->nops && share < 0.5; i++)
		t->ops[i].has_device = false;
	return status;
}
