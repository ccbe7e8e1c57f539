/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/sample_sums.h"

dck_status sample_sums_init(sample_sums *s, dck_err *err)
{
	*s = (sample_sums){.map.rows.row_bytes = sizeof(uint32_t)};
	return cct_init(&s->paths, cct_sample_weights, CCT_SAMPLE_WEIGHTS, err);
}

void sample_sums_done(sample_sums *s)
{
	cct_done(&s->paths);
	id_table_done(&s->map.rows);
}

void sample_sums_next(sample_sums *s)
{
	id_table_done(&s->map.rows);
	s->map.n = 0;
}

void sample_sums_add(sample_sums *s, const cct *from, const trace_sample *one, size_t n)
{
	cct_extend(&s->paths, from, &s->map);
	for (size_t i = 0; i < n; i++) {
		const uint32_t path = cct_mapped(&s->map, one[i].path);

		cct_add(&s->paths, path, CCT_SAMPLE_COUNT, 1);
		cct_add(&s->paths, path, CCT_SAMPLE_TIME, (double)one[i].weight_ns);
	}
	s->n += n;
}
