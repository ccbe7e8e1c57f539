/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/zone_stats.h"

#include "base/mem.h"

static bool batches_reserve(zone_stats *z)
{
	const uint16_t cap = z->batches_cap ? ZONE_BATCHES : ZONE_BATCHES_FIRST;
	double *more;

	if (z->nbatches < z->batches_cap)
		return true;
	more = mem_resize(z->batch_ns, cap * sizeof *more);
	if (!more)
		return false;
	z->batch_ns = more;
	z->batches_cap = cap;
	return true;
}

void zone_stats_done(zone_stats *z)
{
	mem_free(z->batch_ns);
}

void zone_stats_close_batch(zone_stats *z)
{
	const double sum = (double)z->open_ns;

	z->open_calls = 0;
	z->open_ns = 0;
	if (!batches_reserve(z)) {
		z->nbatches = 0;
		return;
	}
	z->batch_ns[z->nbatches++] = sum;
	if (z->nbatches < ZONE_BATCHES)
		return;
	for (unsigned i = 0; i < ZONE_BATCHES / 2; i++)
		z->batch_ns[i] = z->batch_ns[2 * i] + z->batch_ns[2 * i + 1];
	z->nbatches = ZONE_BATCHES / 2;
	z->batch_calls *= 2;
}

void zone_stats_add_pieces(zone_stats *z, const zone_pieces *p, uint64_t ns, uint64_t self_ns,
			   bool outermost, bool finished)
{
	z->total_ns = zone_sum(z->total_ns, p->total_ns + (outermost ? ns : 0));
	(finished ? zone_stats_add : zone_stats_add_unfinished)(z, p->took_ns + ns,
								p->self_ns + self_ns, false);
}
