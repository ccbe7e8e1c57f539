/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/track_ends.h"

/* Counter, its thread, the process; a hostile file may have a circle. */
#define PARENTS_MAX 3

typedef struct track_end {
	uint32_t parent;
	uint64_t last_ns; /* of a track without a parent */
} track_end;

void track_ends_init(track_ends *t)
{
	*t = (track_ends){.rows.row_bytes = sizeof(track_end)};
}

void track_ends_track(track_ends *t, const trace_track *about)
{
	track_end *row = id_table_row(&t->rows, about->id);

	if (row)
		row->parent = about->parent;
}

static uint32_t root_of(const track_ends *t, uint32_t id)
{
	for (int i = 0; i < PARENTS_MAX; i++) {
		const track_end *row = id_table_find(&t->rows, id);

		if (!row || !row->parent)
			break;
		id = row->parent;
	}
	return id;
}

void track_ends_events(track_ends *t, uint32_t id, const trace_event *e, size_t n)
{
	/* Times of a track do not go back; an annotation has none. */
	while (n > 0 && e[n - 1].kind == TRACE_ANNOTATION)
		n--;
	track_end *row = n > 0 ? id_table_row(&t->rows, root_of(t, id)) : NULL;

	if (row && e[n - 1].ns > row->last_ns)
		row->last_ns = e[n - 1].ns;
}

uint64_t track_ends_of(const track_ends *t, uint32_t id)
{
	const track_end *row = id_table_find(&t->rows, root_of(t, id));

	return row ? row->last_ns : 0;
}

void track_ends_done(track_ends *t)
{
	id_table_done(&t->rows);
}
