/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/process_ends.h"

typedef struct ending_track {
	uint32_t parent;
	uint64_t last_ns; /* of a process: of any of its tracks */
} ending_track;

void process_ends_init(process_ends *p)
{
	*p = (process_ends){.tracks.row_bytes = sizeof(ending_track)};
}

void process_ends_done(process_ends *p)
{
	id_table_done(&p->tracks);
}

void process_ends_track(process_ends *p, const trace_track *t)
{
	ending_track *row = id_table_row(&p->tracks, t->id);

	if (row)
		row->parent = t->parent;
}

/* A counter's parent may be a thread; a hostile file may have a circle. */
static ending_track *ending_process_of(const process_ends *p, uint32_t id)
{
	enum { PARENTS_MAX = 3 };
	ending_track *t = id_table_find(&p->tracks, id);

	for (int i = 0; t && t->parent && i < PARENTS_MAX; i++) {
		ending_track *parent = id_table_find(&p->tracks, t->parent);

		if (!parent)
			break;
		t = parent;
	}
	return t;
}

void process_ends_events(process_ends *p, uint32_t track, const trace_event *e, size_t n)
{
	ending_track *process = n ? ending_process_of(p, track) : NULL;

	/* The time of a number is ignored. */
	while (n > 0 && e[n - 1].kind == TRACE_ANNOTATION)
		n--;
	if (process && n > 0 && e[n - 1].ns > process->last_ns)
		process->last_ns = e[n - 1].ns;
}

uint64_t process_ends_of(const process_ends *p, uint32_t track)
{
	const ending_track *process = ending_process_of(p, track);

	return process ? process->last_ns : 0;
}
