/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_arrivals.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"

#include <stdio.h>

enum { READ_ROWS = 256 };

dck_status rank_arrivals_open(const char *directory, size_t units, rank_arrivals *ret, dck_err *err)
{
	*ret = (rank_arrivals){.fd = -1, .units = units};
	snprintf(ret->path, sizeof ret->path, "%s/arrivals", directory);
	os_file_remove(ret->path);
	DCK_TRY(os_open_append(ret->path, &ret->fd, err));
	dck_sink_fd(&ret->out, ret->fd);
	ret->unit = mem_zalloc(units + 1, sizeof *ret->unit);
	if (!ret->unit) {
		rank_arrivals_done(ret);
		return ERR_NO_MEMORY(err, "for the arrivals of %zu ranks", units);
	}
	return DCK_OK;
}

void rank_arrivals_append(rank_arrivals *a, const rank_arrival *arrival)
{
	struct arrival_span *of = &a->unit[arrival->unit];

	if (of->end == 0)
		of->next = a->n;
	of->end = ++a->n;
	sink_put(&a->out, arrival, sizeof *arrival);
}

dck_status rank_arrivals_flush(rank_arrivals *a, dck_err *err)
{
	const dck_status status = dck_sink_finish(&a->out, err);

	if (status != DCK_OK)
		return err_while(err, status, "storing what the ranks sent in '%.200s'", a->path);
	os_close(a->fd);
	a->fd = os_open_read(a->path);
	if (a->fd < 0)
		DCK_FAIL(err, E_IO, "cannot read '%.200s'", a->path);
	return DCK_OK;
}

/* Reads those of a unit below `until`, to the end of the n rows. */
static dck_status unit_read(rank_arrivals *a, struct arrival_span *of, size_t until, size_t *n,
			    dck_err *err)
{
	const size_t bytes = sizeof *a->row;

	while (of->next < of->end) {
		const uint64_t left = of->end - of->next;
		const size_t most = left < READ_ROWS ? (size_t)left : READ_ROWS;
		size_t used = 0;

		DCK_NEED(mem_reserve(&a->row, &a->cap, *n + READ_ROWS, sizeof *a->row), err,
			 "for the arrivals of %zu ranks", a->units);
		rank_arrival *to = a->row + *n;
		if (os_read_at(a->fd, to, most * bytes, of->next * bytes) !=
		    (ptrdiff_t)(most * bytes))
			DCK_FAIL(err, E_IO, "cannot read '%.200s'", a->path);
		while (used < most && to[used].step < until)
			used++;
		of->next += used;
		*n += used;
		if (used < most)
			break;
	}
	return DCK_OK;
}

dck_status rank_arrivals_read(rank_arrivals *a, size_t until, rank_arrival **ret, size_t *ret_n,
			      dck_err *err)
{
	size_t n = 0;

	for (size_t u = 0; u < a->units; u++)
		DCK_TRY(unit_read(a, &a->unit[u], until, &n, err));
	*ret = a->row;
	*ret_n = n;
	return DCK_OK;
}

void rank_arrivals_done(rank_arrivals *a)
{
	if (a->fd >= 0)
		os_close(a->fd);
	os_file_remove(a->path);
	mem_free(a->unit);
	mem_free(a->row);
	*a = (rank_arrivals){.fd = -1};
}
